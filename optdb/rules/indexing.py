"""Reading parts: an index goes towards the inputs, so that only what is read is computed, and meets other indices on the way."""

from __future__ import annotations

from typing import Any

from ...graph import Apply, Constant, Variable, dims_of, same_shape
from ...ops.advanced_indexing import AdvancedSubtensor
from ...ops.blas import Dot
from ...ops.creation import Alloc, Arange
from ...ops.elementwise import Cast, Elementwise
from ...ops.indexing import Subtensor, entries
from ...ops.lengths import MakeVector, dim_to_tensor, tensor_to_dim
from ...ops.reduce import Reduce
from ...ops.shape import BroadcastTo, DimShuffle
from ...ops.slices import at_most, not_negative
from ..contract import relaxes
from ..patterns import Users
from ..rule import Rule, node_rule
from .facts import constant_int, made_by
from .slicing import composed, is_whole, read, simplified

Index = Any
"""An int64 scalar, an int64 array, or a slice of scalars."""


def indices_of(node: Apply) -> list[Index]:
    """What stands in the brackets, one entry an axis that is touched."""
    return entries(node.op.spec, node.inputs[1:])  # type: ignore[attr-defined]


def _per_axis(node: Apply) -> list[Index]:
    """One entry for every axis of the operand."""
    within = indices_of(node)
    return [*within, *[slice(None)] * (node.inputs[0].ndim - len(within))]


# --- useless


def useless_subtensor(node: Apply) -> Variable | None:
    """x, all of which is read."""
    return node.inputs[0] if all(is_whole(index) for index in indices_of(node)) else None


def useless_slice(node: Apply) -> Variable | None:
    """The same part with bounds left out that cut nothing, and without whole axes at the end."""
    x, within = node.inputs[0], indices_of(node)
    lengths = dims_of(x)
    shorter = [simplified(index, lengths[axis]) for axis, index in enumerate(within)]
    while shorter and is_whole(shorter[-1]):
        shorter.pop()
    if len(shorter) == len(within) and all(new is old for new, old in zip(shorter, within, strict=True)):
        return None
    return read(x, shorter)


def arange_index(node: Apply) -> Variable | None:
    """A slice in the place of an index that counts up, where every position is certain to be there."""
    x, within = node.inputs[0], indices_of(node)
    arrays = [axis for axis, index in enumerate(within) if not isinstance(index, slice)]
    if len(arrays) != 1 or not made_by(within[arrays[0]], Arange):
        return None
    start, stop, step = within[arrays[0]].owner.inputs
    by = constant_int(step)
    certain = not_negative(tensor_to_dim(start)) and at_most(tensor_to_dim(stop), dims_of(x)[arrays[0]])
    if by is None or by < 1 or not certain:
        return None
    within[arrays[0]] = slice(start, stop, step)
    return read(x, within)


# --- two indices


def subtensor_of_subtensor(node: Apply) -> Variable | None:
    """x[a][b] as one index."""
    part = node.inputs[0]
    if not made_by(part, Subtensor):
        return None
    inner, outer = _per_axis(part.owner), iter(_per_axis(node))  # type: ignore[arg-type]
    joint = [composed(index, next(outer)) if isinstance(index, slice) else index for index in inner]
    return None if None in joint else read(part.owner.inputs[0], joint)  # type: ignore[union-attr]


def element_of_make_vector(node: Apply) -> Variable | None:
    """An element, or some of the elements, of a vector made of scalars."""
    vector = node.inputs[0]
    if not made_by(vector, MakeVector) or len(node.inputs) == 1:
        return None
    if not all(isinstance(i, Constant) for i in node.inputs[1:]):
        return None
    (index,) = indices_of(node)
    elements = vector.owner.inputs  # type: ignore[union-attr]
    if not isinstance(index, slice):
        return elements[int(index.data)]  # type: ignore[no-any-return]
    chosen = elements[slice(*(None if b is None else int(b.data) for b in (index.start, index.stop, index.step)))]
    return MakeVector()(*chosen) if chosen else None


# --- an index on what is computed


def _is_single(variable: Variable, users: Users) -> bool:
    return len(users(variable)) == 1


def subtensor_of_elementwise(node: Apply, users: Users) -> Variable | None:
    """The elementwise op on the parts, if nobody reads the whole and no operand is stretched."""
    whole = node.inputs[0]
    below = whole.owner
    if below is None or not isinstance(below.op, (Elementwise, Cast)) or not _is_single(whole, users):
        return None
    if not all(i.ndim == 0 or same_shape(i, whole) for i in below.inputs):
        return None
    return below.op(*(i if i.ndim == 0 else node.op(i, *node.inputs[1:]) for i in below.inputs))  # type: ignore[no-any-return]


def subtensor_of_dimshuffle(node: Apply) -> Variable | None:
    """The index on the value before its axes were moved."""
    moved = node.inputs[0]
    if not made_by(moved, DimShuffle):
        return None
    x, order = moved.owner.inputs[0], moved.owner.op.order  # type: ignore[union-attr]
    own: list[Index] = [slice(None)] * x.ndim
    kept: list[Any] = []
    for place, index in zip(order, _per_axis(node), strict=True):
        if place == "x" and not is_whole(index) and isinstance(index, slice):
            return None
        if isinstance(place, int):
            own[place] = index
        if isinstance(index, slice):
            kept.append(place)
    left = [axis for axis, index in enumerate(own) if isinstance(index, slice)]
    part, placed = read(x, own), tuple("x" if p == "x" else left.index(p) for p in kept)
    return part if placed == tuple(range(part.ndim)) else DimShuffle(placed)(part)  # type: ignore[no-any-return]


def subtensor_of_alloc(node: Apply) -> Variable | None:
    """A part of a stretched value: the part of the value, stretched to the lengths of the result."""
    whole = node.inputs[0]
    if not made_by(whole, Alloc) and not made_by(whole, BroadcastTo):
        return None
    value = whole.owner.inputs[0]  # type: ignore[union-attr]
    missing = whole.ndim - value.ndim
    own: list[Index] = []
    for axis, index in enumerate(_per_axis(node)[missing:], start=missing):
        if value.type.shape[axis - missing] != 1:
            if not same_shape(value, whole) and dims_of(value)[axis - missing] != dims_of(whole)[axis]:
                return None
            own.append(index)
        else:
            own.append(slice(None) if isinstance(index, slice) else dim_to_tensor(0))
    lengths = [_readable(dim, node.out) for dim in dims_of(node.out)]
    if None in lengths:
        return None
    return whole.owner.op(read(value, own), *lengths)  # type: ignore[union-attr, no-any-return]


def _readable(dim: Any, of: Variable) -> Variable | None:
    """The length as a scalar; None if it can only be had from the value itself."""
    return None if not isinstance(dim, int) and dim.kind == "extent" and dim.args[0] is of else dim_to_tensor(dim)


def subtensor_of_dot(node: Apply, users: Users) -> Variable | None:
    """Rows and columns of a product that nobody else reads: the product of rows and columns."""
    whole = node.inputs[0]
    if not made_by(whole, Dot) or not _is_single(whole, users):
        return None
    a, b = whole.owner.inputs  # type: ignore[union-attr]
    within = _per_axis(node)
    rows, columns = within[: a.ndim - 1], within[a.ndim - 1 :]
    b_within = [slice(None), *columns]
    return Dot()(read(a, rows), read(b, b_within))  # type: ignore[no-any-return]


def subtensor_of_reduce(node: Apply, users: Users) -> Variable | None:
    """A part of a reduction that nobody else reads: the reduction of the part."""
    whole = node.inputs[0]
    if not made_by(whole, Reduce) or not _is_single(whole, users):
        return None
    x, op = whole.owner.inputs[0], whole.owner.op  # type: ignore[union-attr]
    outer = iter(_per_axis(node))
    own = [slice(None) if axis in op.axis else next(outer) for axis in range(x.ndim)]  # type: ignore[attr-defined]
    left = [axis for axis, index in enumerate(own) if isinstance(index, slice)]
    axes = tuple(k for k, axis in enumerate(left) if axis in op.axis)  # type: ignore[attr-defined]
    return Reduce(op.scalar, axes)(read(x, own))  # type: ignore[attr-defined, no-any-return]


USELESS: list[Rule] = [
    node_rule("local_useless_subtensor", Subtensor, useless_subtensor, formula="x[:] -> x"),
    node_rule("local_useless_slice", Subtensor, useless_slice, formula="x[0:n:1] -> x[:]  for x of length n"),
]

MERGED: list[Rule] = [
    node_rule("local_subtensor_merge", Subtensor, subtensor_of_subtensor, having=Subtensor, formula="x[a:][b:] -> x[a + b:]"),
    node_rule("local_subtensor_make_vector", Subtensor, element_of_make_vector, having=MakeVector, contract=relaxes("errors"),
              formula="make_vector(a, b, c)[1] -> b"),
    node_rule("local_adv_idx_to_slice", AdvancedSubtensor, arange_index, having=Arange, formula="x[arange(a, b)] -> x[a:b]  within x"),
]

LIFTED: list[Rule] = [
    node_rule("local_subtensor_lift", Subtensor, subtensor_of_elementwise, having=(Elementwise, Cast), uses=True,
              formula="f(x, y)[i] -> f(x[i], y[i])"),
    node_rule("local_subtensor_of_dimshuffle", Subtensor, subtensor_of_dimshuffle, having=DimShuffle, contract=relaxes("errors"),
              formula="dimshuffle(x)[i] -> dimshuffle(x[i])"),
    node_rule("local_subtensor_of_alloc", Subtensor, subtensor_of_alloc, having=(Alloc, BroadcastTo), contract=relaxes("errors"),
              formula="alloc(x, n)[i:j] -> alloc(x, j - i)"),
    node_rule("local_subtensor_of_dot", Subtensor, subtensor_of_dot, having=Dot, uses=True, contract=relaxes("rounding"),
              formula="dot(a, b)[i, j] -> dot(a[i], b[:, j])"),
    node_rule("local_subtensor_of_reduce", Subtensor, subtensor_of_reduce, having=Reduce, uses=True, contract=relaxes("rounding"),
              formula="sum(x, axis=1)[i] -> sum(x[i], axis=0)"),
]
