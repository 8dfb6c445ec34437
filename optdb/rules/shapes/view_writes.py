"""Writes through views, as `row = x[i]; row[j] = y` makes them, become writes to the array: a loop keeps it in place.

    set_subtensor(x[i], set_subtensor(x[i][j], y))    -->    set_subtensor(x[i, j], y)
    set_subtensor(x.T[i, j], y).T                     -->    set_subtensor(x[j, i], y)
    set_subtensor(ravel(x)[k], y).reshape(m, n)       -->    set_subtensor(x[k // n, k % n], y)
    ravel(set_subtensor(x.reshape(m, n)[k], y))       -->    set_subtensor(x[k * n + arange(n)], y)

An index that is out of bounds of the view becomes one that is out of bounds of the array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....graph import Dim, Variable, dims_of
from ....ops.core.tensor import constant
from ....ops.elementwise.records import add, floor_div, ge, logical_and, lt, mod, mul, sub, switch
from ....ops.shapes.advanced_indexing import AdvancedIncSubtensor
from ....ops.shapes.creation import Arange
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.lengths import dim_to_tensor, tensor_to_dim
from ....ops.shapes.shape import DimShuffle, Reshape
from ....ops.shapes.slices import cut_off, not_negative, slice_dim
from ...contract import relaxes
from ...rule import Rule, node_rule
from ..facts import Node, Value, constant_int, producer
from .indexing import per_axis
from .slicing import WHOLE, composed, is_whole, spec_of
from .writing import same_positions


def write_of_part(node: Node) -> Value | None:
    """Rewrite a part of x, written to and put back, to a write to the part of the part."""
    write = producer(node.inputs[1], IncSubtensor) if node.op.set else None
    part = None if write is None else producer(write.inputs[0], Subtensor)
    if write is None or part is None or part.inputs[0] is not node.inputs[0] or not same_positions(part, node):
        return None
    return _of_joint(part, write)


def write_of_reversed(node: Node) -> Value | None:
    """Rewrite x in reverse, written to and reversed again, to a write to x."""
    write = producer(node.inputs[0], IncSubtensor)
    part = None if write is None else producer(write.inputs[0], Subtensor)
    if write is None or part is None or not same_positions(part, node):
        return None
    if not all(is_whole(index) or _is_reversal(index) for index in per_axis(part)):
        return None
    return _of_joint(part, write)


def write_of_transposed(node: Node) -> Value | None:
    """Rewrite x with its axes in another order, written to and put back, to a write to x."""
    write = producer(node.inputs[0], IncSubtensor)
    view = None if write is None else producer(write.inputs[0], DimShuffle)
    if write is None or view is None or sorted(map(str, view.op.order)) != sorted(map(str, range(view.inputs[0].ndim))):
        return None
    x, y, order = view.inputs[0], write.inputs[1], view.op.order
    places = [order.index(axis) for axis in range(x.ndim)]
    index = _within(write)
    kept = [axis for axis in order if isinstance(index[order.index(axis)], slice)]
    if node.op.order != tuple(places) or y.ndim != len(kept):
        return None
    if kept != sorted(kept):
        y = DimShuffle(tuple(kept.index(axis) for axis in sorted(kept)))(y)
    return _write(write, x, y, [index[k] for k in places])


def write_of_reshaped(node: Node) -> Value | None:
    """Rewrite x under other lengths, with an element or a row written and put back, to a write to x."""
    write = producer(node.inputs[0], IncSubtensor)
    view = None if write is None else _first_view(write)
    if write is None or view is None or dims_of(view.inputs[0]) != dims_of(node.out):
        return None
    x, index = view.inputs[0], _within(write)
    if view.out is not write.inputs[0]:  # an earlier write through the view, which comes first
        x = node.op(write.inputs[0], *node.inputs[1:])
    lengths, of_view = list(dims_of(x)), list(dims_of(view.out))
    kept = []
    while index and len(lengths) > 1 and is_whole(index[-1]) and of_view[-1] == lengths[-1]:
        kept.append(index.pop())
        lengths.pop()
        of_view.pop()
    if len(index) > 1 and len(lengths) == x.ndim == 1 and is_whole(index[-1]):
        return _row(write, x, index[:-1], of_view)
    if not lengths or not index or any(isinstance(i, slice) for i in index):
        return None
    first, *others = lengths
    place, exists = _flat(index, of_view)
    found: list[Value] = []
    for length in map(dim_to_tensor, others[::-1]):
        found.append(mod(place, length))
        place = floor_div(place, length)
    found.append(_or_beyond(place, exists, first))
    return _write(write, x, write.inputs[1], [*found[::-1], *kept])


def _first_view(write: Node) -> Node | None:
    """Return the reshape that the first of several writes goes through."""
    first = producer(write.inputs[0], IncSubtensor)
    while first is not None:
        write, first = first, producer(first.inputs[0], IncSubtensor)
    return producer(write.inputs[0], Reshape)


def _row(write: Node, x: Variable, index: Sequence[Any], of_view: Sequence[Dim]) -> Value | None:
    """Return a write to a row of a vector under other lengths as one to the elements of the row."""
    if any(isinstance(i, slice) for i in index):
        return None
    place, exists = _flat(index, of_view[:-1])
    length = dim_to_tensor(of_view[-1])
    start = _or_beyond(mul(place, length), exists, dims_of(x)[0])
    places = add(DimShuffle(("x",))(start), Arange()(constant(0, "int64"), length, constant(1, "int64")))
    return AdvancedIncSubtensor(("a",), set=write.op.set)(x, write.inputs[1], places)


# --- positions


def _within(write: Node) -> list[Any]:
    """Return one entry for every axis of the array that is written to."""
    index = entries(write.op.spec, write.inputs[2:])
    return [*index, *[WHOLE] * (write.inputs[0].ndim - len(index))]


def _write(write: Node, x: Variable, y: Variable, within: Sequence[Any]) -> Value:
    """Return the same write to another array."""
    touched = list(within)
    while touched and is_whole(touched[-1]):
        touched.pop()
    spec, inputs = spec_of(touched)
    return IncSubtensor(spec, set=write.op.set)(x, y, *inputs)


def _of_joint(part: Node, write: Node) -> Value | None:
    """Return a write to a part of x as one to x."""
    inner, x = iter(_within(write)), part.inputs[0]
    joint = [
        _joint(index, next(inner), length) if isinstance(index, slice) else index
        for index, length in zip(per_axis(part), dims_of(x), strict=True)
    ]
    return None if None in joint else _write(write, x, write.inputs[1], joint)


def _joint(outer: slice, inner: Any, length: Dim) -> Any:
    """Return the index equal to `outer` and then `inner`, of an axis; None if it is not known."""
    found = composed(outer, inner)
    if found is not None or isinstance(inner, slice):
        return found
    start, stop, step = (None if b is None else tensor_to_dim(b) for b in (outer.start, outer.stop, outer.step))
    by = 1 if outer.step is None else constant_int(outer.step)
    count = slice_dim(length, start, stop, step)
    if by is None or count is None or (by < 0 and start is not None):
        return None
    place, exists = _flat([inner], [count])
    place = place if by == 1 else mul(place, constant(by, "int64"))
    first = 0 if start is None else cut_off(start, length)
    if by < 0:
        place = add(sub(dim_to_tensor(length), constant(1, "int64")), place)
    elif first is None:
        return None
    elif first != 0:
        place = add(dim_to_tensor(first), place)
    return _or_beyond(place, exists, length)


def _flat(index: Sequence[Variable], lengths: Sequence[Dim]) -> tuple[Value, Value]:
    """Return the position of an element in C order, and whether it exists; each index may count from the end."""
    place: Any = None
    exists: Any = None
    for i, length in zip(index, lengths, strict=True):
        n = dim_to_tensor(length)
        if not_negative(tensor_to_dim(i)):
            fits = lt(i, n)
        else:
            i = switch(lt(i, constant(0, "int64")), add(i, n), i)
            fits = logical_and(ge(i, constant(0, "int64")), lt(i, n))
        exists = fits if exists is None else logical_and(exists, fits)
        place = i if place is None else add(mul(place, n), i)
    return place, exists


def _or_beyond(place: Value, exists: Value, length: Dim) -> Value:
    """Return a position of an axis of `length`, or one beyond its end if it does not exist in the view."""
    return switch(exists, place, dim_to_tensor(length))


def _is_reversal(index: Any) -> bool:
    return index.start is index.stop is None and index.step is not None and constant_int(index.step) == -1


THROUGH_VIEWS: list[Rule] = [
    node_rule("local_write_of_part", IncSubtensor, write_of_part, having=IncSubtensor,
              formula="set_subtensor(x[i], set_subtensor(x[i][j], y)) -> set_subtensor(x[i, j], y)"),
    node_rule("local_write_of_reversed", Subtensor, write_of_reversed, having=IncSubtensor,
              formula="set_subtensor(x[::-1][i], y)[::-1] -> set_subtensor(x[n - 1 - i], y)"),
    node_rule("local_write_of_transposed", DimShuffle, write_of_transposed, having=IncSubtensor,
              formula="set_subtensor(x.T[i, j], y).T -> set_subtensor(x[j, i], y)"),
    node_rule("local_write_of_reshaped", Reshape, write_of_reshaped, having=IncSubtensor, contract=relaxes("errors"),
              formula="reshape(set_subtensor(reshape(x, m)[k], y), m // n, n) -> set_subtensor(x[k // n, k % n], y)"),
]  # fmt: skip
