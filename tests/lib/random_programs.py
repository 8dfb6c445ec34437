"""Random programs as data: inputs, steps, outputs and updates that print as the code that builds them.

A program is made by trying steps on small arrays and keeping those that NumPy's meaning accepts and whose values stay
moderate.  Lengths have names, so that it can be run on other lengths than those that it was made with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from string import ascii_letters
from typing import Any, ClassVar

import numpy as np

import arignote as ag
from arignote import ops as T

DTYPES = (
    "bool",
    "int8",
    "int32",
    "int64",
    "uint8",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
LIKELY = ("float64", "float64", "float32", "float32", "int64", "float16", "int8", "bool")
LAYOUTS = {
    "": "{0}",
    "by columns": "np.asfortranarray({0})",
    "apart": "np.repeat({0}, 2, axis=-1)[..., ::2]",
    "backwards": "{0}[::-1].copy()[::-1]",
    "broadcast": "np.broadcast_to({0}[:1], {0}.shape)",
    "read-only": "np.broadcast_to({0}, {0}.shape)",
}
MODES = (None, None, None, None, None, "FAST_COMPILE", "fast_run -fusion", "fast_run -inplace")
LETTERS = "nmk"
ALL_LETTERS = ascii_letters.replace("T", "") + "".join(map(chr, (*range(0x3B1, 0x3CA), *range(0x430, 0x450))))
"""Letters that may stand for lengths, Greek and Cyrillic ones among them; T is the module of functions."""
LARGEST = {"float16": 500.0, "complex64": 1e4, "float32": 1e4}


@dataclass(frozen=True)
class Input:
    """An argument or a shared value: an array whose axes have lengths by name, of some numbers again and again."""

    name: str
    dtype: str
    axes: str
    known: tuple[bool, ...]
    layout: str
    numbers: tuple[Any, ...]
    shared: bool = False

    def array(self) -> str:
        """The expression of its array."""
        plain = f'np.resize(np.array({list(self.numbers)}, "{self.dtype}"), ({"".join(f"{a}, " for a in self.axes)}))'
        return LAYOUTS[self.layout].format(plain)

    def variable(self) -> str:
        """The expression of its variable."""
        shape = "".join(f"{axis if known else None}, " for axis, known in zip(self.axes, self.known, strict=True))
        if self.shared:
            return f'ag.shared(np.array({self.array()}), name="{self.name}", shape=({shape}))'
        return f'T.tensor("{self.name}", "{self.dtype}", ({shape}))'


@dataclass(frozen=True)
class Program:
    """`steps`: a name, the form of an expression and the names of its operands each."""

    lengths: tuple[int, ...]
    inputs: tuple[Input, ...]
    steps: tuple[tuple[str, str, tuple[str, ...]], ...]
    outputs: tuple[str, ...]
    updates: tuple[tuple[str, str], ...] = ()
    mode: str | None = None
    letters: str = LETTERS
    imports: ClassVar[tuple[str, ...]] = ()
    """Lines of its code that import what forms use besides."""

    def build_lines(self) -> Iterator[str]:
        """Code that makes the variables, the list of outputs and the updates."""
        yield f"{', '.join(self.letters)} = {', '.join(map(str, self.lengths))}"
        yield from (f"{i.name} = {i.variable()}" for i in self.inputs)
        yield from (f"{name} = {form.format(*operands)}" for name, form, operands in self.steps)
        yield f"outputs = [{', '.join(self.outputs)}]"
        yield f"updates = [{', '.join(f'({shared}, {new})' for shared, new in self.updates)}]"

    def code(self) -> str:
        """Script that shows the results of both backends."""
        arguments = [i for i in self.inputs if not i.shared]
        names = ", ".join(i.name for i in arguments)
        lines = ["import numpy as np, arignote as ag", "from arignote import ops as T", *self.imports]
        lines += self.build_lines()
        lines += [f"given = [{', '.join(i.array() for i in arguments)}]"]
        lines += [f"print(T.evaluate(outputs + [new for _, new in updates], dict(zip([{names}], given))))"]
        options = f'on_unused_input="ignore", mode={self.mode!r}'
        lines += [f"print(ag.function([{names}], outputs, updates=updates, {options})(*given))"]
        return "\n".join(lines)

    def made(self) -> dict[str, Any]:
        """The names that the code gives values to."""
        names = self.scope()
        exec("\n".join(self.build_lines()), names)
        return names

    def scope(self) -> dict[str, Any]:
        """The names that the forms of its steps use besides their operands."""
        return {"np": np, "ag": ag, "T": T}

    def arrays(self, lengths: tuple[int, ...]) -> dict[str, np.ndarray]:
        """The array of each input for other lengths."""
        names = {"np": np, **dict(zip(self.letters, lengths, strict=True))}
        return {i.name: eval(i.array(), names) for i in self.inputs}

    def fixed(self) -> set[str]:
        """The lengths that it knows: they are part of the types."""
        return {axis for i in self.inputs for axis, known in zip(i.axes, i.known, strict=True) if known or i.shared}


# --- steps: forms of expressions by what they need


UNARY = (
    "-{0}", "T.abs({0})", "T.sign({0})", "T.square({0})", "T.exp({0} * 0.5)", "T.exp({0})", "T.log({0})",
    "T.log1p(T.abs({0}))", "T.sqrt(T.abs({0}))", "T.sin({0})", "T.cos({0})", "T.tanh({0})", "T.sigmoid({0})",
    "T.softplus({0})", "T.log(1 + T.exp({0}))", "T.expm1({0} * 0.25)", "T.floor({0})", "T.ceil({0} * 0.3)",
    "T.rint({0})", "T.trunc({0})", "T.erf({0})", "T.reciprocal(T.abs({0}) + 1)", "{0} ** 2", "{0} ** 3", "1 / {0}",
    "T.isnan({0})", "~{0}", "T.conj({0})", "T.real({0})", "T.imag({0})", "{0} * 2", "{0} + 1", "2 - {0}", "{0} / 2",
    "T.clip({0}, -1, 2)", "T.zeros_like({0})", "T.ones_like({0})", "T.logical_not({0})", "T.relu({0})", "0 * {0}",
    "T.exp(T.log(T.abs({0}) + 1))", "{0} // 3", "{0} % 3", "T.arctan({0})", "T.cbrt({0})", "T.round({0} / 3)",
)  # fmt: skip
BINARY = (
    "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / (T.abs({1}) + 1)", "{0} / {1}", "T.maximum({0}, {1})",
    "T.minimum({0}, {1})", "{0} // {1}", "{0} % {1}", "{0} < {1}", "{0} >= {1}", "T.eq({0}, {1})", "T.ne({0}, {1})",
    "{0} & {1}", "{0} | {1}", "{0} ^ {1}", "{0} << ({1} % 5)", "{0} >> {1}", "T.logical_and({0}, {1})",
    "T.where({0} > 0, {0}, {1})", "T.where(T.eq({0}, {1}), {1}, 0)", "T.hypot({0}, {1})", "T.logaddexp({0}, {1})",
    "{0} ** T.abs({1} % 4)", "T.fill({0}, {1})", "T.arctan2({0}, {1})", "T.fmod({0}, {1})", "T.logical_xor({0}, {1})",
    "{0} * {1} + {0}", "({0} - {1}) * ({0} + {1})", "{0} * T.sigmoid({1})", "T.copysign({0}, {1})",
)  # fmt: skip
AXIS = (
    "T.sum({0}, axis={a})", "T.mean({0}, axis={a})", "T.max({0}, axis={a})", "T.min({0}, axis={a})",
    "T.prod({0}, axis={a})", "T.any({0}, axis={a})", "T.all({0}, axis={a})", "T.argmax({0}, axis={a})",
    "T.argmin({0}, axis={a})", "T.cumsum({0}, axis={a})", "T.cumprod({0}, axis={a})", "T.var({0}, axis={a})",
    "T.sum({0}, axis={a}, keepdims=True)", "T.max({0}, axis={a}, keepdims=True)", "T.softmax({0}, axis={a})",
    "T.logsumexp({0}, axis={a})", "T.log_softmax({0}, axis={a})", "T.sort({0}, axis={a})",
    "T.take_along_axis({0}, T.argsort({0}, axis={a}), {a})",  # rounding may exchange positions of near numbers
    "T.flip({0}, {a})", "T.expand_dims({0}, {a})", "T.concatenate([{0}, {0}], axis={a})", "T.roll({0}, 1, axis={a})",
    "{0} - T.mean({0}, axis={a}, keepdims=True)", "T.sum(T.square({0}), axis={a})", "T.repeat({0}, 2, axis={a})",
    "T.stack([{0}, {0} + 1], axis={a})", "T.take({0}, T.constant([0, -1, 0]), axis={a})",
    "{0} / T.sum(T.abs({0}) + 1, axis={a}, keepdims=True)", "T.exp({0} - T.max({0}, axis={a}, keepdims=True))",
)  # fmt: skip
WHOLE = (
    "T.sum({0})", "T.mean({0})", "T.max({0})", "T.any({0})", "T.transpose({0})", "{0}.T", "T.reshape({0}, (-1,))",
    "T.flatten({0})", "{0}[::-1]", "{0}[1:]", "{0}[::2]", "{0}[..., ::-1]", "{0}[..., 1:]", "{0}[..., :-1]",
    "{0}[None]", "{0}[..., None]", "{0}[0]", "{0}[-1]", "{0}[..., 0]", "{0}[-2:]", "{0}[3:1:-1]",
    "T.set_subtensor({0}[1:], 2)", "T.set_subtensor({0}[..., ::2], 0)", "T.inc_subtensor({0}[:1], 3)",
    "T.inc_subtensor({0}[T.constant([0, 0, -1])], 1)", "T.set_subtensor({0}[T.constant([0, -1])], 1)",
    "{0}[T.constant([-1, 0, 0])]", "T.eye({0}.shape[0])", "T.arange({0}.shape[-1])", "T.zeros(({0}.shape[-1], 2))",
    "T.tril({0})", "T.triu({0}, 1)", "T.diagonal({0})", "T.trace({0})", "T.diag({0})", "T.shape({0})",
    "T.broadcast_to({0}, (2, *{0}.shape))", "T.tile({0}, (2,))", "T.pad({0}, 1)", "T.moveaxis({0}, 0, -1)",
    "T.arange({0}.shape[0])[:, None] * {0}", "T.nonzero({0})[0]", "T.unique({0})", "{0}[{0} > 0]", "T.flatnonzero({0})",
    "T.dot({0}, {0}.T)", "T.ones({0}.shape) * {0}", "T.reshape({0}, ({0}.shape[-1], -1))", "T.outer({0}, {0})",
)  # fmt: skip
PAIR = (
    "T.dot({0}, {1})", "T.matmul({0}, {1})", "T.concatenate([{0}, {1}])", "T.stack([{0}, {1}])",
    "T.dot({0}, {1}) + {0}", "T.dot({0}.T, {1})", "{0} - 2 * T.dot({1}, {0})", "T.inc_subtensor({0}[:1], {1})",
    "T.set_subtensor({0}[::-1], {1})", "T.tensordot({0}, {1}, axes=1)", "T.set_subtensor({0}[1:], {1}[1:])",
    "T.linalg.solve({0} @ {0}.T + 3 * T.eye({0}.shape[0]), {1})", "T.relu(T.dot({0}, {1}) + 1)",
    "T.inc_subtensor({0}[T.constant([0, -1, 0])], {1})", "T.take({0}, T.abs(T.cast({1}, 'int64')) % {0}.shape[0])",
    "T.inc_subtensor({0}[T.abs(T.cast({1}, 'int64')) % {0}.shape[0]], 1)", "T.searchsorted(T.sort({0}), {1})",
    "T.einsum('ij,kj->ik', {0}, {1})", "T.einsum('ij,ij->i', {0}, {1})", "T.outer({0}, {1})", "T.kron({0}, {1})",
)  # fmt: skip
GRADIENT = ("ag.grad(T.sum({0}), {1})", "ag.grad(T.mean({0} * {0}), {1})", "ag.grad(T.sum(T.tanh({0})), {1})")


@dataclass
class Maker:
    """A program on its way, with the variable and the array of each name."""

    random: Random
    program: Program
    variable: dict[str, Any] = field(default_factory=dict)
    array: dict[str, np.ndarray] = field(default_factory=dict)

    def size(self) -> int:
        """The number of steps."""
        return self.random.randint(2, 20)

    def pick(self, fits: Callable[[np.ndarray], bool] = lambda _: True) -> str | None:
        """A name whose array `fits`, newer ones more often."""
        found = [name for name, a in self.array.items() if fits(a)]
        if not found:
            return None
        return self.random.choice(found[-4:] if self.random.random() < 0.6 else found)

    def step(self) -> tuple[str, tuple[str, ...]] | None:
        """A form and its operands."""
        kind = self.random.choice(KINDS)
        first = self.pick(lambda a: a.ndim > 0 if kind is AXIS else True)
        if first is None:
            return None
        form, x = self.random.choice(kind), self.array[first]
        if kind is AXIS:
            axis = self.random.randrange(-x.ndim, x.ndim)
            if x.ndim > 1 and "{0}, axis" in form and self.random.random() < 0.2:
                axis = (0, -1)
            return form.replace("{a}", str(axis)), (first,)
        if kind is CASTS:
            return f'T.cast({{0}}, "{self.random.choice(DTYPES)}")', (first,)
        if kind is GRADIENT:
            names = [i.name for i in self.program.inputs if i.dtype.startswith("float")]
            return (form, (first, self.random.choice(names))) if names and x.dtype.kind == "f" else None
        if kind in (UNARY, WHOLE):
            return form, (first,)
        broadcasting = kind is BINARY
        second = self.pick(lambda a: not broadcasting or broadcasts(a.shape, x.shape))
        return None if second is None else (form, (first, second))

    def add(self, form: str, operands: tuple[str, ...]) -> None:
        """One more step, if it can be built and its values are moderate."""
        names = {**self.program.scope(), **self.variable}
        try:
            with np.errstate(all="ignore"):
                made = eval(form.format(*operands), names)
                value = T.evaluate([made], {self.variable[n]: a for n, a in self.array.items()})[0]
        except (TypeError, ValueError, IndexError, np.linalg.LinAlgError):
            return
        if value.ndim > 4 or value.size > 200_000 or not is_moderate(value):
            return
        name = f"v{len(self.program.steps)}"
        self.variable[name], self.array[name] = made, value
        self.program = replace(self.program, steps=(*self.program.steps, (name, form, operands)))


CASTS = ("cast",)
KINDS = (*[UNARY] * 5, *[BINARY] * 6, *[AXIS] * 4, *[WHOLE] * 4, *[PAIR] * 3, CASTS, GRADIENT)


def broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False))


def is_moderate(value: np.ndarray) -> bool:
    """Whether an array has no NaN, no infinity and nothing that a few more operations could make overflow."""
    if value.dtype.kind not in "fc" or not value.size:
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(value).all() and np.abs(value).max() < LARGEST.get(value.dtype.name, 1e6))


def random_input(random: Random, name: str, axes: str, dtype: str) -> Input:
    """An input of small whole numbers and halves, extremes of integers among them."""
    kind = np.dtype(dtype).kind
    count = random.randint(1, 13)
    numbers: list[Any] = [random.randint(0, 3) if kind in "bu" else random.randint(-3, 3) for _ in range(count)]
    if kind == "f":
        numbers = [n / random.choice([1, 1, 2]) for n in numbers]
    elif kind == "c":
        numbers = [complex(n, random.randint(-2, 2)) for n in numbers]
    elif kind in "iu" and random.random() < 0.2:
        info = np.iinfo(dtype)
        numbers[0] = random.choice([info.min, info.max])
    layout = random.choice([*LAYOUTS, "", "", ""]) if axes else ""
    return Input(name, dtype, axes, tuple(random.random() < 0.25 for _ in axes), layout, tuple(numbers))


def random_lengths(random: Random, large: bool = False) -> tuple[int, ...]:
    return tuple(
        random.choice((150, 300, 5000) if large and k == 0 else (0, 1, 1, 2, 3, 4, 5, 7, 17)) for k in range(3)
    )


def random_program(seed: int) -> Program:
    """A program of up to 20 steps; one of ten is large enough for several threads."""
    return drawn(seed, Maker, Program)


def drawn(seed: int, maker_of: type[Maker], program_of: type[Program]) -> Program:
    """The program of a seed, by a maker of its steps."""
    random = Random(seed)
    lengths = random_lengths(random, seed % 10 == 0)
    shapes = ["", "n", "n", "m", "k", "nm", "nm", "nm", "mn", "nk", "km", "nn", "knm", "knmn"]
    dtype = random.choice(LIKELY)
    inputs = tuple(
        random_input(random, f"x{k}", axes, dtype if random.random() < 0.7 else random.choice(DTYPES))
        for k, axes in enumerate(random.choices(shapes, k=random.randint(2, 5)))
        if np.prod([lengths[LETTERS.index(a)] for a in axes]) <= 50_000
    ) or (random_input(random, "x0", "n", dtype),)
    shared = random.randint(1, 2) if random.random() < 0.3 else 0
    inputs = tuple(replace(i, shared=True, layout="") if k < shared else i for k, i in enumerate(inputs))
    maker = maker_of(random, program_of(lengths, inputs, (), (), (), random.choice(MODES)))
    names, arrays = maker.program.made(), maker.program.arrays(lengths)
    maker.variable = {i.name: names[i.name] for i in inputs}
    maker.array = {i.name: arrays[i.name] for i in inputs}
    wanted = maker.size()
    for _ in range(3 * wanted):
        step = maker.step()
        if step is not None and len(maker.program.steps) < wanted:
            maker.add(*step)
    return _with_ends(maker)


def _with_ends(maker: Maker) -> Program:
    """The program with outputs, and updates of shared values that have the type of what is computed."""
    random, program = maker.random, maker.program
    found = [name for name, _, _ in program.steps] or [i.name for i in program.inputs]
    outputs = tuple({*random.choices(found, k=random.randint(1, 4)), found[-1]})
    updates = []
    for i in program.inputs:
        own = maker.array[i.name]
        fits = [n for n in found if (maker.array[n].shape, maker.array[n].dtype) == (own.shape, own.dtype)]
        if i.shared and fits:
            updates.append((i.name, random.choice(fits)))
    return replace(program, outputs=tuple(sorted(outputs)), updates=tuple(updates))


MOST_ELEMENTS = 2_000_000
"""Elements of an array at other lengths; one of more gets at most `FEWER` along an axis, or the program's lengths."""
FEWER = 20


def other_lengths(program: Program, random: Random) -> tuple[int, ...]:
    """Lengths that differ from those of the program where it does not know them."""
    letters, lengths = program.letters, program.lengths
    known = program.fixed()
    fixed: Mapping[str, int] = {a: n for a, n in zip(letters, lengths, strict=True) if a in known}
    drawn_lengths = [n for _ in range(0, len(letters), len(LETTERS)) for n in random_lengths(random)]
    drawn_for = {letter: fixed.get(letter, n) for letter, n in zip(letters, drawn_lengths, strict=True)}
    fewer = {letter: n if letter in fixed else min(n, FEWER) for letter, n in drawn_for.items()}
    for found in (drawn_for, fewer):  # a long length may stand twice in an array
        if max((math.prod(found[axis] for axis in i.axes) for i in program.inputs), default=0) <= MOST_ELEMENTS:
            return tuple(found.values())
    return lengths  # long ones are known, beside a length of 0


# --- several programs as one


def with_own_names(programs: Sequence[Program]) -> list[Program]:
    """Return the programs with names and letters that no other one uses."""
    return [_with_suffix(program, k) for k, program in enumerate(programs)]


def _with_suffix(program: Program, number: int) -> Program:
    """Return a program whose names end in a number, with the letters of that number."""
    width = len(program.letters)
    letters = ALL_LETTERS[number * width : (number + 1) * width]
    as_letter = str.maketrans(program.letters, letters)

    def new(name: str) -> str:
        return f"{name}_{number}"

    return replace(
        program,
        letters=letters,
        inputs=tuple(replace(i, name=new(i.name), axes=i.axes.translate(as_letter)) for i in program.inputs),
        steps=tuple((new(name), form, tuple(map(new, operands))) for name, form, operands in program.steps),
        outputs=tuple(map(new, program.outputs)),
        updates=tuple((new(shared), new(value)) for shared, value in program.updates),
    )


def joined(parts: Sequence[Program]) -> Program:
    """Return one program of all parts, which have names of their own."""

    def all_of(name: str) -> tuple[Any, ...]:
        return tuple(each for part in parts for each in getattr(part, name))

    names = ("lengths", "inputs", "steps", "outputs", "updates")
    return replace(parts[0], letters="".join(all_of("letters")), **{name: all_of(name) for name in names})
