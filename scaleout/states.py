"""How a value of a graph lies over blocks.

    WHOLE          every block sees all of it
    Split(axis)    each block has a slice along the axis, in the order of blocks
    Partial(op)    each block has a value of the full shape, and the value is their combination by `op`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Union

from ..graph import Apply
from ..ops.elementwise import Elementwise, add, logical_and, logical_or, maximum, minimum, mul
from ..record import record


@record
class Split:
    """Slices along an axis, one a block."""

    axis: int

    def __str__(self) -> str:
        return f"split({self.axis})"


@record
class Partial:
    """Values to combine by an elementwise op; FIRST: equal in all blocks."""

    op: Elementwise | None

    def __str__(self) -> str:
        return f"partial({self.op.name if self.op is not None else 'first'})"


State = Union[Split, Partial, None]
WHOLE = None
FIRST = Partial(None)
PARTIAL = frozenset({add, mul, maximum, minimum, logical_and, logical_or})
"""Reductions whose parts combine in any grouping."""


class Unsplittable(TypeError):
    """An op that cannot be applied to blocks; the text names it, its line and the axis."""


@record
class Placed:
    """States of the outputs of a node, and for whole inputs the axis along which a block takes its slice.

    `known`: a length that the caller knows, of the chunked axis or of an argument.  `own_length`: number of the input
    that gives the length of the split axis, for which a block has its own.
    """

    states: tuple[State, ...]
    cuts: Mapping[int, int]
    own_length: int | None = None
    known: bool = False


Rule = Callable[[Apply, Sequence[State]], Placed]


def refused(node: Apply, why: str) -> Unsplittable:
    line = f", built at {node.origin[-1]}" if node.origin else ""
    return Unsplittable(f"{node.op.name}: {why}{line}")


def resolved(state: State) -> State:
    """The state after partial values are combined."""
    return WHOLE if isinstance(state, Partial) else state


def shown(states: Sequence[State]) -> str:
    return ", ".join("a whole value" if s is WHOLE else str(s) for s in states)


def split_of(states: Sequence[State]) -> list[tuple[int, int]]:
    """Numbers and axes of the values that are split."""
    return [(k, s.axis) for k, s in enumerate(states) if isinstance(s, Split)]
