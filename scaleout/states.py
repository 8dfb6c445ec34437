"""How a value of a graph lies over blocks.

    WHOLE          every block sees all of it
    COUNT          whole: the length of the chunked axis
    Split(axis)    each block has a slice along the axis, in the order of blocks
    Partial(op)    each block has a value of the full shape, and the value is their combination by `op`; of a
                   `Collect`, blocks are laid one after the other
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
    """Slices along an axis, one a block."""

    axis: int

    def __str__(self) -> str:
        return f"split({self.axis})"


@record
class Count:
    """The length of the chunked axis, equal for all blocks."""


@record
class Collect(TensorOp):
    """The identity of a split value, as a whole one: its blocks laid one after the other along the axis."""

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
    """Values to combine by an elementwise op, or to collect; FIRST: equal in all blocks."""

    op: Elementwise | Collect | None

    def __str__(self) -> str:
        return f"partial({self.op.name if self.op is not None else 'first'})"


State = Union[Split, Partial, Count, None]
WHOLE = None
COUNT = Count()
FIRST = Partial(None)
PARTIAL = frozenset({add, mul, maximum, minimum, logical_and, logical_or})
"""Reductions whose parts combine in any grouping."""


class Unsplittable(TypeError):
    """An op that cannot be applied to blocks; the text names it, its line and the axis."""


@record
class Placed:
    """States of the outputs of a node, and for whole inputs the axis along which a block takes its slice.

    `known`: a length that the caller knows, of the chunked axis or of an argument.  `own_length`: number of the input
    that gives the length of the split axis, in whose place a block has its own.  `span`: numbers of the inputs in whose
    place a block has its start and stop.  `relative`: number of the input from which a block subtracts its start.
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
    """The state after partial values are combined."""
    return state if isinstance(state, Split) else WHOLE


def shown(states: Sequence[State]) -> str:
    """The split operands of a node and the fix."""
    found = split_of(states)
    axes = ", ".join(f"operand {k} is chunked along axis {axis}" for k, axis in found)
    return f"{axes}; rechunk({{{found[0][1]}: -1}})"


def split_of(states: Sequence[State]) -> list[tuple[int, int]]:
    """Numbers and axes of the values that are split."""
    return [(k, s.axis) for k, s in enumerate(states) if isinstance(s, Split)]
