"""Random programs over the whole vocabulary.

Steps are those of `random_programs`, every elementwise function by its name, and the graph of every op (`every_op`) on
values of the program.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from every_op import ZOO, A, B, K, N, V, X, Y
from random_programs import Maker, Program, broadcasts, drawn

from arignote import ops as T
from arignote.graph import Constant, Variable, leaves, rebuild, toposort
from arignote.ops.core.vocabulary import vocabulary
from arignote.ops.elementwise.records import ELEMENTWISE
from arignote.ops.special.functions import SPECIAL

POINTWISE = (*ELEMENTWISE, *SPECIAL)
POSITIVE = ("T.matmul({0}, T.transpose({0})) + 3 * T.eye({0}.shape[0])", "{0} + 3 * T.eye({0}.shape[0])")
"""Matrices with an inverse, for the ops that need one."""
MADE_BY_RULES = ("arignote.ops.lowered.", "arignote.ops.sparse.", "arignote.ops.reductions.trees")
"""Modules of ops whose operands have a structure that rules or front ends give them: optimized graphs have these."""
DRAWN = [
    k for k, v in enumerate(ZOO)
    if not type(v.owner.op).__module__.startswith(MADE_BY_RULES)
    and v.owner.op.name not in ("inplace", "assume", "searchsorted")
]  # fmt: skip
"""The positions of the graphs that programs draw; `assume` and `searchsorted` ask for values with a property."""
LOOPS = {k for k in DRAWN if any(node.op.name in ("while_loop", "recorded_loop") for node in toposort([ZOO[k]]))}
"""Graphs with a loop; a condition on any numbers might hold for ever."""
PLAIN = 400
"""Elements of operands whose products are small."""
LARGEST_SIZE = 200_000
NARROW = (
    "T.quantize({0}, 0.25)", "T.quantize({0}, 0.5, 3, 'int8')", "T.dequantize({0}, 0.25)", "T.cast({0}, 'float32')",
    "T.cast({0}, 'float32') * T.constant(0.5, 'float32')",
)  # fmt: skip


def grafted(number: int, *values: Any) -> Variable:
    """The graph of an op, with values in the place of its variables."""
    known = {v: _like(v, value) for v, value in zip(variables_of(number), values, strict=True)}
    return rebuild([ZOO[number]], known)[0]


def _like(variable: Variable, value: Any) -> Variable:
    """A value as one of the dtype of a variable."""
    value = T.as_tensor(value)
    return value if value.dtype == variable.dtype else T.cast(value, variable.dtype)


def variables_of(number: int) -> list[Variable]:
    """The variables of the graph of an op, in a fixed order."""
    read = {v for v in leaves([ZOO[number]]) if not isinstance(v, Constant)}
    return [v for v in (X, Y, V, K, A, B, N) if v in read]


def op(name: str, *operands: Any) -> Variable:
    """A function of elements on values."""
    return vocabulary().ops[name](*operands)


@dataclass(frozen=True)
class VocabularyProgram(Program):
    """A program whose steps use `grafted` and `op`."""

    imports: ClassVar[tuple[str, ...]] = ("from tests.campaign.values.vocabulary_programs import grafted, op",)

    def scope(self) -> dict[str, Any]:
        return {**super().scope(), "grafted": grafted, "op": op}


class VocabularyMaker(Maker):
    """A program on its way: half of its steps are ops by name."""

    def size(self) -> int:
        """Seven of eight programs are small: most faults need few steps, and small programs cost least."""
        return self.random.randint(2, 5) if self.random.random() < 0.875 else super().size()

    def add(self, form: str, operands: tuple[str, ...]) -> None:
        if max((self.array[name].size for name in operands), default=0) <= PLAIN or not self.is_large(form, operands):
            super().add(form, operands)

    def is_large(self, form: str, operands: tuple[str, ...]) -> bool:
        """Whether a step makes an array of too many elements on its way, as far as types with known lengths tell."""
        known = {name: T.tensor(name, self.array[name].dtype.name, self.array[name].shape) for name in operands}
        try:
            with np.errstate(all="ignore"):
                made = T.as_tensor(eval(form.format(*operands), {**self.program.scope(), **self.variable, **known}))
        except (TypeError, ValueError, IndexError):
            return True
        lengths = (o.type.shape for node in toposort([made]) for o in node.outputs)
        return any(np.prod([n or 1 for n in shape], dtype=float) > LARGEST_SIZE for shape in lengths)

    def step(self) -> tuple[str, tuple[str, ...]] | None:
        kind = self.random.random()
        if kind < 0.45:
            return super().step()
        if kind < 0.65:
            return self.pointwise()
        if kind < 0.9:
            return self.graft()
        first = self.pick(lambda a: a.ndim == 2)
        return None if first is None else (self.random.choice(POSITIVE if kind < 0.95 else NARROW), (first,))

    def pointwise(self) -> tuple[str, tuple[str, ...]] | None:
        """A function of elements, on operands that broadcast."""
        name = self.random.choice(POINTWISE)
        first = self.pick()
        if first is None:
            return None
        operands, x = [first], self.array[first]
        for _ in range((vocabulary().ops[name].arity or 2) - 1):
            more = self.pick(lambda a: broadcasts(a.shape, x.shape))
            operands.append(more or first)
        words = "".join(f", {{{k}}}" for k in range(len(operands)))
        return f'op("{name}"{words})', tuple(operands)

    def graft(self) -> tuple[str, tuple[str, ...]] | None:
        """The graph of an op on values of the same ranks; numbers and positions are often literals."""
        number = self.random.choice(DRAWN)
        words, operands = [], []
        for v in variables_of(number):
            literal = {K: f"{self.random.randint(0, 4)}", A: "1.5", B: "0.25", N: "[0, -1, 0]"}.get(v)
            name = self.pick(lambda a, rank=v.ndim: a.ndim == rank)
            fixed = name is None or v in (K, N) or (number in LOOPS and v in (A, B))
            if literal is not None and (fixed or self.random.random() < 0.5):
                words.append(literal)
            elif name is None:
                return None
            else:
                words.append(f"{{{len(operands)}}}")
                operands.append(name)
        return f"grafted({', '.join([str(number), *words])})", tuple(operands)


def vocabulary_program(seed: int) -> Program:
    """The program of a seed; one of four has all of its values as outputs."""
    with np.errstate(all="ignore"):
        program = drawn(seed, VocabularyMaker, VocabularyProgram)
    return replace(program, outputs=tuple(name for name, _, _ in program.steps)) if seed % 4 == 1 else program
