"""Writes to all parts of an axis become a join, as the derivatives of a roll and of a split have them.

    inc_subtensor(inc_subtensor(x[:k], y)[k:], z)   -->   x + join(y, z)

The parts are slices along one axis that have each element once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ....graph import Variable, dims_of, same_shape
from ....ops.elementwise.records import add
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.joining import Join
from ...contract import relaxes
from ...patterns import Users, same_value
from ...rule import Rule, node_rule
from ..facts import Node, Value, constant_int, producer
from .slicing import is_whole

MOST_PARTS = 16


class _Cut(NamedTuple):
    """A part of an axis: its bounds, None at an end of the axis."""

    axis: int
    start: Variable | None
    stop: Variable | None
    bounds: tuple[float, float] | None
    """The bounds, if they are constants in ascending order, none of them counted from the end."""


def writes_of_all(node: Node, users: Users) -> Value | None:
    """Rewrite writes to all parts of an axis to a join of what is written, or of the sums."""
    whole, cut = node.inputs[0], _cut(node)
    if whole.dtype == "bool" or cut is None:
        return None
    parts = [(cut, node)]
    while len(parts) < MOST_PARTS and len(users(whole)) == 1:
        write = producer(whole, IncSubtensor)
        cut = None if write is None else _cut(write)
        if write is None or cut is None or not _may_be_parts(cut, [other for other, _ in parts]):
            return None
        parts.append((cut, write))
        whole = write.inputs[0]
        found = _in_order(parts)
        if found and all(fits(w, whole) for w in found):
            return _joined(found, whole)
    return None


def _joined(writes: Sequence[Node], whole: Variable) -> Value:
    """Return the array after writes to its parts, which are given in their order."""
    join = Join(len(writes[0].op.spec) - 1)
    if any(w.op.set for w in writes):
        return join(*(_written(w, whole) for w in writes))
    return add(whole, join(*(w.inputs[1] for w in writes)))


def _may_be_parts(cut: _Cut, others: Sequence[_Cut]) -> bool:
    """Return whether a part may belong to a partition of one axis that has these other parts."""
    if cut.axis != others[0].axis:
        return False
    if len(others) > 1 and None in (cut.bounds, *[other.bounds for other in others[:2]]):
        return False  # parts may overlap
    if cut.bounds is None:
        return True
    start, stop = cut.bounds
    return not any(o.bounds and max(start, o.bounds[0]) < min(stop, o.bounds[1]) for o in others)


def _in_order(parts: Sequence[tuple[_Cut, Node]]) -> list[Node]:
    """Return the writes in the order of their parts; empty unless these have each element of one axis once."""
    if all(cut.start is not None for cut, _ in parts) or all(cut.stop is not None for cut, _ in parts):
        return []
    rest = list(parts)
    found: list[Node] = []
    end: Variable | None = None
    while rest:
        following = [pair for pair in rest if _meet(end, pair[0].start)]
        if len(following) != 1 or (found and end is None):
            return []
        rest.remove(following[0])
        end = following[0][0].stop
        found.append(following[0][1])
    return found if end is None else []


def _meet(stop: Variable | None, start: Variable | None) -> bool:
    """Return whether a part that begins at `start` follows one that ends at `stop`, None for the first one."""
    return start is None if stop is None else start is not None and same_value(stop, start)


def _cut(write: Node) -> _Cut | None:
    """Return the part of an axis that a write changes; None for other parts."""
    *before, cut = entries(write.op.spec, write.inputs[2:]) or [None]
    if not isinstance(cut, slice) or cut.step is not None or not all(map(is_whole, before)):
        return None
    first, last = (None if bound is None else constant_int(bound) for bound in (cut.start, cut.stop))
    start = None if first == 0 else cut.start
    stop = None if last is not None and last == dims_of(write.inputs[0])[len(before)] else cut.stop
    if start is None and stop is None:
        return None
    bounds = 0 if start is None else first, math.inf if stop is None else last
    certain = bounds[0] is not None and bounds[1] is not None and 0 <= bounds[0] <= bounds[1]
    return _Cut(len(before), start, stop, bounds if certain else None)  # type: ignore[arg-type]


def fits(write: Node, whole: Variable) -> bool:
    """Return whether the value of a write is as long as the part of the whole, and of its dtype."""
    value = write.inputs[1]
    return value.dtype == whole.dtype and same_shape(value, Subtensor(write.op.spec)(whole, *write.inputs[2:]))


def _written(write: Node, whole: Variable) -> Value:
    """Return what a part is after a write."""
    value = write.inputs[1]
    return value if write.op.set else add(Subtensor(write.op.spec)(whole, *write.inputs[2:]), value)


COVERED: Rule = node_rule(
    "local_writes_of_all", IncSubtensor, writes_of_all, having=IncSubtensor, uses=True, contract=relaxes("errors"),
    formula="inc_subtensor(inc_subtensor(x[:k], y)[k:], z) -> x + join(y, z)",
)  # fmt: skip
