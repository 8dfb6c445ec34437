"""States of values: the distribution of a value over blocks.

    WHOLE          replicated: every block sees all of it
    COUNT          whole: the length of the chunked axis
    Split(axis)    each block has a slice along the axis, in the order of blocks
    Partial(op)    each block has a value of the full shape, and `op` combines them; a `Collect` concatenates slices
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Union

import numpy as np

from ..graph import Apply, Dim, TensorType, Variable
from ..ops.elementwise import Elementwise, add, logical_and, logical_or, maximum, minimum, mul
from ..ops.tensor import TensorOp
from ..record import record


@record
class Split:
    """Slices along an axis, one per block."""

    axis: int

    def __str__(self) -> str:
        return f"split({self.axis})"


@record
class Count:
    """The total length of the chunked axis, equal for all blocks."""


@record
class Collect(TensorOp):
    """The whole value of a split one: the concatenation of its slices along the axis.  For NumPy the identity."""

    axis: int
    name = "collect"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (inputs[0].type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return values

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)


@record
class Partial:
    """Partial values that an elementwise op or a `Collect` combines; FIRST: equal in all blocks."""

    op: Elementwise | Collect | None

    def __str__(self) -> str:
        return f"partial({self.op.name if self.op is not None else 'first'})"


State = Union[Split, Partial, Count, None]
WHOLE = None
COUNT = Count()
FIRST = Partial(None)
PARTIAL = frozenset({add, mul, maximum, minimum, logical_and, logical_or})
"""Reductions whose partial results combine in any grouping."""


class Unsplittable(TypeError):
    """An op cannot run on blocks; the message names it, its line and the axis."""


@record
class Placed:
    """States of a node's outputs, and changes to its inputs when it runs on a block.

    `cuts`: whole inputs that a block slices, with the axis.  `known`: the output is a length that the caller knows.
    `own_length`: index of the input that gives the length of the split axis; a block passes its own length.  `span`:
    indices of the inputs that a block replaces by its start and stop.  `relative`: index of the input from which a
    block subtracts its start.
    """

    states: tuple[State, ...]
    cuts: Mapping[int, int]
    own_length: int | None = None
    known: bool = False
    span: tuple[int, ...] = ()
    relative: int | None = None


Rule = Callable[[Apply, Sequence[State]], Placed]


def refused(node: Apply, why: str) -> Unsplittable:
    line = f", built at {node.origin[-1]}" if node.origin else ""
    return Unsplittable(f"{node.op.name}: {why}{line}")


def resolved(state: State) -> Split | None:
    """Return the state after partial values are combined."""
    return state if isinstance(state, Split) else WHOLE


def shown(states: Sequence[State]) -> str:
    """Return text about the split operands of a node, with the fix."""
    found = split_of(states)
    axes = ", ".join(f"operand {k} is chunked along axis {axis}" for k, axis in found)
    return f"{axes}; rechunk({{{found[0][1]}: -1}})"


def split_of(states: Sequence[State]) -> list[tuple[int, int]]:
    """Return indices and axes of the split values."""
    return [(k, s.axis) for k, s in enumerate(states) if isinstance(s, Split)]
