"""States of values: the distribution of a value over blocks.

    WHOLE               replicated: every block sees all of it
    Count(rows)         whole: the length of the chunked axis, or of some of its rows
    Split(axis, rows)   each block has a slice along the axis, in the order of blocks; `rows`: those that it has
    Partial(op)         each block has a value of the full shape; `op` combines them, or `Collect` concatenates slices
    LOCAL               each block has a value of its own, of which others know nothing
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Union

import numpy as np

from ..graph import Apply, Dim, Kind, Lacks, TensorType, Variable
from ..graph.dims import opaque_dims
from ..ops.core.tensor import TensorOp
from ..ops.elementwise import costs
from ..ops.elementwise.records import Elementwise, add, logical_and, logical_or, maximum, minimum, mul
from ..record import record
from .facts import Facts


@record(eq=False)
class Rows:
    """Some rows of the chunked axis: a slice of those of `of` (None: of all rows)."""

    of: Rows | None
    start: Variable | None
    stop: Variable | None
    step: Variable | None


@record
class Split:
    """Slices along an axis, one per block, of all rows (None) or of some."""

    axis: int
    rows: Rows | None = None

    def __str__(self) -> str:
        return f"split({self.axis})"


@record
class Count:
    """The number of all rows of the chunked axis (None) or of some, equal for all blocks."""

    rows: Rows | None = None


@record
class Local:
    """A value of each block."""


class Mark(TensorOp):
    """An op that changes the state of its first operand; for NumPy and in a block it is the identity."""

    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(
        derivative="chunking makes it, after derivatives are taken",
        batching="chunking makes it, after examples are batched",
        planner="a block is planned without it",
        work="a block is planned without it",
    )

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (inputs[0].type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return values[:1]

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (opaque_dims(node.out),)


@record
class Collect(Mark):
    """The whole value of a split or local one: the concatenation of the values of blocks along the axis.

    `is_reversed`: in the reverse order of blocks.  `is_local`: of local values, which have any number of rows.
    """

    axis: int
    is_reversed: bool = False
    is_local: bool = False
    name = "collect"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (opened(inputs[0].type, self.axis) if self.is_local else inputs[0].type,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (opaque_dims(node.out) if self.is_local else inputs[0],)


@record
class Partial:
    """Partial values that an elementwise op or a `Collect` combines; FIRST: equal in all blocks."""

    op: Elementwise | Collect | None

    def __str__(self) -> str:
        return f"partial({self.op.name if self.op is not None else 'first'})"


State = Union[Split, Partial, Count, Local, None]
WHOLE = None
FIRST = Partial(None)
LOCAL = Local()
PARTIAL = frozenset({add, mul, maximum, minimum, logical_and, logical_or})
"""Reductions whose partial results combine in any grouping."""


class Unsplittable(TypeError):
    """An op cannot run on blocks; the message names it, its line and the axis, and the fix."""

    def __init__(self, what: str, line: str = "", fix: str = "") -> None:
        super().__init__(f"{what}{fix}{line}")
        self.what: str = what
        self.line: str = line

    def with_fix(self, arguments: Sequence[str]) -> Unsplittable:
        """Return the error with the arguments to rechunk."""
        return Unsplittable(self.what, self.line, f"; give {', '.join(arguments)}" if arguments else "")


@record
class Placed:
    """States of a node's outputs, and changes to its inputs when it runs on a block.

    `rows`: those that its split values have.  `cuts`: whole inputs that a block slices, with the axis.  `known`: the
    output is a length that the caller knows.  `own_length`: index of the input that gives the length of the split axis;
    a block passes its own length.  `span`: indices of the inputs that a block replaces by its start and stop.
    `relative`: index of the input from which a block subtracts its start.  `has_rank`: cuts take the row with the
    number of the block.
    """

    states: tuple[State, ...]
    cuts: Mapping[int, int]
    own_length: int | None = None
    known: bool = False
    span: tuple[int, ...] = ()
    relative: int | None = None
    rows: Rows | None = None
    has_rank: bool = False


Rule = Callable[[Apply, Sequence[State], Facts], Placed]


def refused(node: Apply, why: str) -> Unsplittable:
    return Unsplittable(f"{node.op.name}: {why}", f", built at {node.origin[-1]}" if node.origin else "")


def opened(kind: TensorType, axis: int) -> TensorType:
    """Return a type without the length of an axis."""
    return kind.with_shape((*kind.shape[:axis], None, *kind.shape[axis + 1 :]))


def resolved(state: State) -> Split | None:
    """Return the state after partial values are combined."""
    return state if isinstance(state, Split) else WHOLE


def shown(states: Sequence[State]) -> str:
    """Return text about the split operands of a node."""
    found = split_of(states)
    return ", ".join(f"operand {k} is chunked along axis {axis}" for k, axis in found)


def split_of(states: Sequence[State]) -> list[tuple[int, int]]:
    """Return indices and axes of the split values."""
    return [(k, s.axis) for k, s in enumerate(states) if isinstance(s, Split)]


def rows_of(states: Sequence[State]) -> Rows | None:
    """Return the rows of the first split value."""
    return next((s.rows for s in states if isinstance(s, Split)), None)


def is_split(state: State, axis: int) -> bool:
    """Whether a value is split along an axis."""
    return isinstance(state, Split) and state.axis == axis
