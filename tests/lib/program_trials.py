"""Programs tried: what is compiled gives what NumPy makes of the unoptimized graph, the same bits each time.

How near is near enough follows from the program itself: NumPy evaluates it again with every rounded number moved by a
few units in the last place, and what that changes a little may differ a little; what it changes much says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from random import Random
from typing import Any

import numpy as np
from random_programs import Input, Program, other_lengths

import arignote as ag
from arignote.graph import Variable, toposort
from arignote.ops.core.interpret import evaluate_node
from arignote.ops.elementwise.records import Pointwise

REFUSALS = (ValueError, IndexError, np.linalg.LinAlgError)
MOVED = 4.0  # units in the last place by which a rounded number is moved; more where NumPy adds up many
MANY = 100  # a length from which on two threads are tried
SAMPLES = 4  # of each kind of moves
WIDER = 60.0  # how much more than the moved numbers a result may differ
UNITS = 64.0  # units in the last place of the largest number by which any result may differ
Values = list[np.ndarray]


def trouble(program: Program, seed: int = 0) -> str | None:
    """Fault of the compiled `program`, on its own lengths and on two others; None if it is right."""
    random = Random(seed)
    made = program.made()
    arguments = [i for i in program.inputs if not i.shared]
    given = [made[i.name] for i in arguments]
    options = {"updates": made["updates"], "mode": program.mode, "on_unused_input": "ignore"}
    lapack = any("linalg" in form for _, form, _ in program.steps)  # whose bits depend on threads, NumPy's too
    threads = (1, 1, 2) if max(program.lengths) > MANY and not lapack else (1, 1)
    first, *others = [ag.function(given, made["outputs"], threads=n, **options) for n in threads]
    for lengths in (program.lengths, other_lengths(program, random), other_lengths(program, random)):
        arrays = program.arrays(lengths)
        wrong = _on(program, made, [first, first, *others], arrays)
        if wrong:
            return f"{wrong}, with lengths {lengths}"
    return None


def _on(
    program: Program, made: Mapping[str, Any], functions: Sequence[Any], arrays: dict[str, np.ndarray]
) -> str | None:
    values = [arrays[i.name] for i in program.inputs]
    kept = [v.copy() for v in values]
    results = [*made["outputs"], *(new for _, new in made["updates"])]
    samples = samples_of([made[i.name] for i in program.inputs], results, values)
    found = []
    for function in functions:
        try:
            found.append(called(function, program.inputs, made, values))
        except REFUSALS as error:
            return None if samples is None else f"{type(error).__name__}: {error}"
    for k, (before, after) in enumerate(zip(kept, values, strict=True)):
        if before.tobytes() != after.tobytes():
            return f"input {k} was overwritten"
    for again, others in zip(found[1:], ("the second call", "what the cache remembers", "two threads"), strict=False):
        for k, (a, b) in enumerate(zip(found[0], again, strict=True)):
            if not _same(a, b):
                return f"result {k} differs in {others}"
    outputs = found[0][: len(made["outputs"])]
    for k, o in enumerate(outputs):
        if any(np.may_share_memory(o, other) for other in (*values, *outputs[:k])):
            return f"output {k} is no array of its own"
    for k in range(len(results) if samples is not None else 0):
        wrong = differs(found[0][k], [sample[k] for sample in samples])
        if wrong:
            return f"result {k}: {wrong}"
    return None


def called(function: Any, inputs: Sequence[Input], made: Mapping[str, Any], values: Values) -> Values:
    """The outputs and the new values of what is updated, which begins anew each time."""
    for i, value in zip(inputs, values, strict=True):
        if i.shared:
            made[i.name].set_value(np.array(value, order="C"))
    outputs = function(*(v for i, v in zip(inputs, values, strict=True) if not i.shared))
    return [*outputs, *(shared.get_value() for shared, _ in made["updates"])]


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have the same bits in the same order; one NaN is as good as another."""
    alike = (a.dtype, a.shape) == (b.dtype, b.shape) and (a.strides == b.strides or not a.size)
    return alike and (a.tobytes() == b.tobytes() or np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


# --- what NumPy makes of it


def samples_of(inputs: Sequence[Variable], results: Sequence[Variable], values: Values) -> list[Values] | None:
    """The results, and the results with moved numbers; None if NumPy refuses."""
    expected = Expected(inputs, results, values)
    if expected.results is None or expected.moved is None:
        return None
    return [expected.results, *expected.moved]


class Expected:
    """Results of NumPy for some values; those with moved numbers are computed when they are first read."""

    def __init__(self, inputs: Sequence[Variable], results: Sequence[Variable], values: Values) -> None:
        nodes = toposort(results, stop_at=set(inputs))
        self._evaluate = partial(_evaluated, nodes, inputs, results, values)
        alone = self._accepted([None])
        self.results: Any = alone and alone[0]

    @cached_property
    def moved(self) -> list[Values] | None:
        """The results of each sample of moved numbers; None if NumPy refuses one."""
        return self._accepted([_Moves(seed, alike) for alike in (False, True) for seed in range(SAMPLES)])

    def _accepted(self, moves: Sequence[_Moves | None]) -> list[Values] | None:
        try:
            with np.errstate(all="ignore"):
                return [self._evaluate(each) for each in moves]
        except REFUSALS:
            return None

    def difference(self, number: int, got: np.ndarray) -> str | None:
        """How a result differs by more than moved numbers do; they are needed only where it is not near."""
        if differs(got, [self.results[number]]) is None:
            return None
        return differs(got, [values[number] for values in (self.results, *self.moved)]) if self.moved else None


def _evaluated(nodes: Any, inputs: Any, results: Any, values: Values, moves: _Moves | None) -> Values:
    known = dict(zip(inputs, values, strict=True))

    def value(v: Any) -> np.ndarray:
        return known[v] if v in known else v.data  # noqa: SIM401 it is evaluated only where it must be

    for node in nodes:
        operands = [value(i) for i in node.inputs]
        terms = 1 if isinstance(node.op, Pointwise) else max((n for a in operands for n in a.shape), default=1)
        for o, result in zip(node.outputs, evaluate_node(node, operands), strict=True):
            known[o] = np.asarray(result) if moves is None else _moved(np.asarray(result), moves, MOVED + terms / 64)
    return [np.array(value(r)) for r in results]


class _Moves:
    """Numbers from -1 to 1 by which rounded numbers are moved.  `alike`: equal numbers are moved alike."""

    def __init__(self, seed: int, alike: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.table = self.rng.uniform(-1, 1, 1009) if alike else None

    def of(self, a: np.ndarray) -> np.ndarray:
        """Return a number for each element."""
        if self.table is None:
            return self.rng.uniform(-1, 1, a.shape)
        bits = np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}").reshape(a.shape)
        return np.asarray(self.table[(bits % len(self.table)).astype("intp")])


def _moved(a: np.ndarray, moves: _Moves, units: float) -> np.ndarray:
    """`a` with what may be rounded moved by up to `units` in the last place: all but small multiples of 1/64; and zeros
    with any sign.
    """
    if a.dtype.kind == "c":
        return (_moved(a.real, moves, units) + 1j * _moved(a.imag, moves, units)).astype(a.dtype)
    if a.dtype.kind != "f":
        return a
    grid = 64 if a.dtype.itemsize > 2 else 4
    exact = (np.rint(a * grid) == a * grid) & (np.abs(a) < 2 ** (15 if a.dtype.itemsize > 2 else 7))
    moved = a * (1 + units * np.finfo(a.dtype).eps * moves.of(a)).astype(a.dtype)
    signs = np.where(a == 0, moves.rng.choice([-1.0, 1.0], a.shape), 1).astype(a.dtype)
    return np.asarray(np.where(exact, a * signs, moved), a.dtype)


def differs(got: np.ndarray, samples: Sequence[np.ndarray]) -> str | None:
    """How a result differs from the first of `samples` by more than the others do."""
    want, moved = samples[0], samples[1:]
    if got.dtype != want.dtype:
        return f"{got.dtype}, not {want.dtype}"
    if any(m.shape != want.shape for m in moved):
        return None  # how many there are hangs on a rounding
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if want.dtype.kind in "fc":
        parts = ("real", "imag") if want.dtype.kind == "c" else ("real",)
        wrong = np.zeros(want.shape, bool)
        for part in parts:
            wrong |= _far(*(getattr(a, part) for a in (got, want)), [getattr(m, part) for m in moved])
    else:
        wrong = np.asarray(got != want)
        for m in moved:
            wrong = wrong & (m == want)
    if not wrong.any():
        return None
    at = tuple(map(int, np.argwhere(wrong)[0]))
    return f"{got[at]}, not {want[at]} at {at}; {int(wrong.sum())} of {want.size} are wrong"


def _far(got: np.ndarray, want: np.ndarray, moved: Sequence[np.ndarray]) -> np.ndarray:
    finite = np.isfinite(want)
    for m in moved:
        finite &= np.isfinite(m)
    with np.errstate(all="ignore"):
        spread = np.max([np.abs(m.astype("f8") - want) for m in moved], axis=0, initial=0.0)
        largest = np.max(np.abs(want), initial=1.0, where=finite).astype("f8")
        allowed = WIDER * spread + UNITS * np.finfo(want.dtype).eps * largest
        return np.asarray(finite & ~(np.abs(got.astype("f8") - want) <= allowed))


# --- the smallest program that fails alike


def smaller(program: Program) -> Iterator[Program]:
    """Programs that are a little simpler: less of everything, an input where a value was computed."""
    for k in range(len(program.updates)):
        yield replace(program, updates=program.updates[:k] + program.updates[k + 1 :])
    if len(program.outputs) > 1:
        for k in range(len(program.outputs)):
            yield replace(program, outputs=program.outputs[:k] + program.outputs[k + 1 :])
    for name, _, operands in program.steps:  # its readers take its operand instead
        for operand in operands:
            yield _renamed(program, name, operand)
    for k, i in enumerate(program.inputs):
        simpler = (
            replace(i, layout=""), replace(i, shared=False), replace(i, known=(False,) * len(i.axes)),
            replace(i, numbers=i.numbers[:1]), replace(i, numbers=tuple(map(abs, i.numbers))),
        )  # fmt: skip
        for one in simpler:
            if one != i and not (i.shared and not one.shared and any(s == i.name for s, _ in program.updates)):
                yield replace(program, inputs=(*program.inputs[:k], one, *program.inputs[k + 1 :]))
    for k, n in enumerate(program.lengths):
        for fewer in (2, 3):
            if fewer < n:
                yield replace(program, lengths=(*program.lengths[:k], fewer, *program.lengths[k + 1 :]))
    if program.mode is not None:
        yield replace(program, mode=None)


def _renamed(program: Program, name: str, other: str) -> Program:
    """The program without the step `name`, for which `other` stands."""

    def new(n: str) -> str:
        return other if n == name else n

    steps = tuple((n, form, tuple(map(new, operands))) for n, form, operands in program.steps if n != name)
    updates = tuple((s, new(n)) for s, n in program.updates)
    return replace(program, steps=steps, outputs=tuple(dict.fromkeys(map(new, program.outputs))), updates=updates)


def used(program: Program) -> Program:
    """The program without steps and inputs that no result needs."""
    needed = {*program.outputs, *(n for pair in program.updates for n in pair)}
    for name, _, operands in reversed(program.steps):
        if name in needed:
            needed.update(operands)
    steps = tuple(step for step in program.steps if step[0] in needed)
    inputs = tuple(i for i in program.inputs if i.name in needed) or program.inputs[:1]
    return replace(program, steps=steps, inputs=inputs)


def shrunk(program: Program, fails: Any, attempts: int = 300) -> Program:
    """A simpler program for which `fails(program)` is still true."""
    program = used(program)
    found = True
    while found:
        found = False
        for candidate in map(used, smaller(program)):
            attempts -= 1
            if attempts < 0:
                return program
            if fails(candidate):
                program, found = candidate, True
                break
    return program
