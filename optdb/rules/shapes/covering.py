"""Writes to all parts of an axis become a join, as the derivatives of a roll and of a split have them.

    inc_subtensor(inc_subtensor(x[:k], y)[k:], z)   -->   x + join(y, z)

The parts are slices along one axis that have each element once.
"""

from __future__ import annotations

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


def writes_of_all(node: Node, users: Users) -> Value | None:
    """Rewrite writes to all parts of an axis to a join of what is written, or of the sums."""
    writes, whole = [node], node.inputs[0]
    if whole.dtype == "bool" or _cut(node, whole) is None:
        return None
    while len(writes) < MOST_PARTS and len(users(whole)) == 1:
        write = producer(whole, IncSubtensor)
        if write is None:
            return None
        writes.append(write)
        whole = write.inputs[0]
        found = _in_order([(_cut(w, whole), w) for w in writes])
        if found and all(fits(w, whole) for w in found):
            return _joined(found, whole)
    return None


def _joined(writes: Sequence[Node], whole: Variable) -> Value:
    """Return the array after writes to its parts, which are given in their order."""
    join = Join(len(writes[0].op.spec) - 1)
    if any(w.op.set for w in writes):
        return join(*(_written(w, whole) for w in writes))
    return add(whole, join(*(w.inputs[1] for w in writes)))


def _in_order(parts: Sequence[tuple[_Cut | None, Node]]) -> list[Node]:
    """Return the writes in the order of their parts; empty unless these have each element of one axis once."""
    rest = [(cut, w) for cut, w in parts if cut is not None]
    if len(rest) < len(parts) or len({cut.axis for cut, _ in rest}) > 1:
        return []
    if len(rest) > 2 and not all(_is_certain(cut) for cut, _ in rest):
        return []  # parts may overlap
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


def _is_certain(cut: _Cut) -> bool:
    """Return whether the bounds of a part are constants in ascending order, none of them counted from the end."""
    bounds = [constant_int(b) for b in (cut.start, cut.stop) if b is not None]
    return all(b is not None and b >= 0 for b in bounds) and bounds == sorted(bounds)  # type: ignore[type-var]


def _cut(write: Node, whole: Variable) -> _Cut | None:
    """Return the part of an axis that a write changes; None for other parts."""
    *before, cut = entries(write.op.spec, write.inputs[2:]) or [None]
    if not isinstance(cut, slice) or cut.step is not None or not all(map(is_whole, before)):
        return None
    length = dims_of(whole)[len(before)]
    start = None if cut.start is None or constant_int(cut.start) == 0 else cut.start
    stop = None if cut.stop is None or constant_int(cut.stop) == length else cut.stop
    return None if start is None and stop is None else _Cut(len(before), start, stop)


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
