"""Slices along the split axis: each block takes its own rows.

    x[3:]      -->   the rows of a block from 3 on, which may be none
    x[5]       -->   collect(x[5:6])[0]
    x[::-1]    -->   the rows of a block reversed; the blocks stand in the reverse order

    x[1:] - x[:-1]   -->   x[1:] - aligned(x[:-1]): each block gets the rows that it lacks from others

A `Part` is a slice along the split axis alone, and a `WrittenPart` its counterpart that writes.  Their bounds are known
at the call, so the caller knows the rows of each block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import ops as T
from ..graph import Apply, Dim, Variable
from ..ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ..record import record
from .facts import Facts
from .states import Collect, Mark, Rows, Split, State, refused, shown


@record(repr=False)
class Part(Subtensor):
    """A slice along the split axis.  `rows`: those of the result, of the rows `of`."""

    axis: int = 0
    rows: Rows | None = None
    of: Rows | None = None
    name = "part"


@record(repr=False)
class WrittenPart(IncSubtensor):
    """A write to a slice along the split axis."""

    axis: int = 0
    rows: Rows | None = None
    of: Rows | None = None
    name = "written_part"


@record
class Aligned(Mark):
    """A split value over other rows: element k of the rows `of` goes to the block that has element k of the rows."""

    axis: int
    rows: Rows | None
    of: Rows | None
    name = "aligned"

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)


def as_aligned(node: Apply, states: Mapping[Variable, State], facts: Facts) -> list[Variable] | None:
    """Return the outputs of a node whose split operands have the same rows; None if they have them already."""
    if isinstance(node.op, Mark):
        return None
    found = {k: s for k, i in enumerate(node.inputs) if isinstance(s := states.get(i), Split)}
    rows = [s.rows for s in found.values()]
    if isinstance(node.op, WrittenPart):
        found.pop(0, None)
        rows.append(node.op.rows)
        to = node.op.rows
    elif len(set(rows)) < 2:
        return None
    else:
        to = None if None in rows else rows[0]
    moved = {k: s for k, s in found.items() if s.rows is not to}
    if not moved:
        return None
    if not all(facts.ask("is_as_many", s.rows, to) for s in moved.values()):
        text = shown(list(found.values()))
        raise refused(node, f"operands are parts of different lengths of the chunked axis; {text}")
    operands = [Aligned(s.axis, to, s.rows)(i) if (s := moved.get(k)) else i for k, i in enumerate(node.inputs)]
    return list(Apply(node.op, operands, node.origin).outputs)


def as_parts(node: Apply, states: Mapping[Variable, State], facts: Facts) -> Variable | None:
    """Return the output of a node that reads or writes a part of the split axis by parts; None for other nodes."""
    op: Any = node.op
    if type(op) not in (Subtensor, IncSubtensor) or not isinstance(state := states.get(node.inputs[0]), Split):
        return None
    spec, axis = op.spec, state.axis
    if axis >= len(spec) or spec[axis] == "s000":
        return None
    x, *rest = node.inputs
    is_read = type(op) is Subtensor
    indices = rest if is_read else rest[1:]
    if any(isinstance(states.get(i), Split) for i in indices):
        raise refused(node, "a bound or an index is chunked")
    given = entries(spec, indices)
    is_one = spec[axis] == "i"
    start, stop, step = _one(node, given[axis], facts, state.rows) if is_one else _bounds(given[axis])
    part = _Slicing(node, axis, state.rows, start, stop, step, facts)
    others = (*spec[:axis], "s000", *spec[axis + 1 :])
    if is_read:
        found = part.read(x, is_one or bool(facts.ask("is_single", part.rows)))
        if is_one:
            others, given[axis] = spec, T.constant(0, dtype="int64")
        return Subtensor(others)(found, *_flat(others, given))
    y, dropped = rest[0], sum(entry[0] != "s" for entry in spec)
    if is_one and y.ndim > (behind := x.ndim - dropped - sum(entry[0] == "s" for entry in spec[:axis])):
        y = T.expand_dims(y, y.ndim - behind)
    is_set = op.set
    if any(entry != "s000" for entry in others):
        y = IncSubtensor(others, set=is_set)(part.read(x, False), y, *_flat(others, given))
        is_set = True
    return part.written(x, y, is_set)


class _Slicing:
    def __init__(
        self, node: Apply, axis: int, of: Rows | None, start: Any, stop: Any, step: Any, facts: Facts
    ) -> None:  # fmt: skip
        first = facts.ask("first", Rows(of, start, stop, step))
        if first is None:
            raise refused(node, f"takes a part of axis {axis}, which is chunked, between bounds that the call computes")
        self.axis, self.of, (self.rows,) = axis, of, first
        given = [start, stop, step]
        self.spec = (*("s000",) * axis, "s" + "".join(str(int(b is not None)) for b in given))
        self.bounds = [b for b in given if b is not None]
        self.is_reversed = facts.ask("is_reversed", self.rows, None)

    def read(self, x: Variable, is_whole: bool) -> Variable:
        """Return the part of x, or its whole value."""
        found = Part(self.spec, axis=self.axis, rows=self.rows, of=self.of)(x, *self.bounds)
        return Collect(self.axis, self.is_reversed)(found) if is_whole else found

    def written(self, x: Variable, y: Variable, is_set: bool) -> Variable:
        """Return x with y in the part, or added to it."""
        return WrittenPart(self.spec, is_set, axis=self.axis, rows=self.rows, of=self.of)(x, y, *self.bounds)


def _bounds(given: slice) -> tuple[Any, Any, Any]:
    return given.start, given.stop, given.step


def _flat(spec: tuple[str, ...], given: list[Any]) -> list[Variable]:
    """Return the inputs of the entries of an index."""
    found: list[Variable] = []
    for entry, index in zip(spec, given, strict=True):
        if entry[0] != "s":
            found.append(index)
        elif isinstance(index, slice) and entry != "s000":
            found += [b for b in _bounds(index) if b is not None]
    return found


def _one(node: Apply, index: Variable, facts: Facts, rows: Rows | None) -> tuple[Any, Any, Any]:
    """Return the bounds of one row.  Raises IndexError, as NumPy does."""
    place = facts.ask("place", index, rows)
    if place is None:
        raise refused(node, "takes a row of the chunked axis at a place that the call computes")
    if place == "outside":
        where = f", built at {node.origin[-1]}" if node.origin else ""
        length = facts.count(rows)
        k = facts.number(index)
        raise IndexError(f"{node.op.name}: index {k} is out of bounds for axis of length {length}{where}")
    return index, None if place == "last" else T.add(index, T.constant(1, dtype="int64")), None
