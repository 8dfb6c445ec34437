"""Indexing: indices move towards the inputs, so that only elements read are computed, and merge with others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....graph import Dim, Variable, dims_of, same_shape
from ....ops.elementwise.records import Cast, Elementwise, fill
from ....ops.linalg.blas import Dot
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.creation import Alloc, Arange
from ....ops.shapes.indexing import Subtensor, entries
from ....ops.shapes.lengths import MakeVector, dim_to_tensor, tensor_to_dim
from ....ops.shapes.shape import BroadcastTo, DimShuffle
from ....ops.shapes.slices import at_most, not_negative
from ...contract import relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, Value, constant_int, is_constant, producer
from .lifting import lifted_over_elementwise
from .slicing import composed, counts_through, is_whole, read, simplified

Index = Any
"""An int64 scalar, an int64 array, or a slice of scalars."""


def indices_of(node: Node) -> list[Index]:
    """Return the entries of an index, one per axis that it touches."""
    return entries(node.op.spec, node.inputs[1:])


def per_axis(node: Node) -> list[Index]:
    """Return one entry for every axis of the operand."""
    within = indices_of(node)
    return [*within, *[slice(None)] * (node.inputs[0].ndim - len(within))]


# --- useless


def useless_subtensor(node: Node) -> Value | None:
    """Return x if all of it is read."""
    return node.inputs[0] if all(is_whole(index) for index in indices_of(node)) else None


def useless_slice(node: Node) -> Value | None:
    """Return the same slice without bounds that cut nothing and without whole axes at the end."""
    x, within = node.inputs[0], indices_of(node)
    lengths = dims_of(x)
    shorter = [simplified(index, lengths[axis]) for axis, index in enumerate(within)]
    while shorter and is_whole(shorter[-1]):
        shorter.pop()
    if len(shorter) == len(within) and all(new is old for new, old in zip(shorter, within, strict=True)):
        return None
    return read(x, shorter)


def arange_index(node: Node) -> Value | None:
    """Return a slice in place of an index that counts up, if every position certainly exists."""
    x, within = node.inputs[0], indices_of(node)
    pointed = [axis for axis, index in enumerate(within) if not isinstance(index, slice)]
    made = producer(within[pointed[0]], Arange) if len(pointed) == 1 else None
    if made is None:
        return None
    start, stop, step = made.inputs
    bounds = (tensor_to_dim(start), tensor_to_dim(stop))
    if (constant_int(step) or 0) < 1 or not all(map(not_negative, bounds)):
        return None
    if not at_most(bounds[1], dims_of(x)[pointed[0]]):
        return None
    within[pointed[0]] = slice(start, stop, step)
    return read(x, within)


def read_of_all_positions(node: Node) -> Value | None:
    """Return a whole vector, broadcast, in place of an index by each position in turn."""
    x, within = node.inputs[0], indices_of(node)
    like = counts_through(within[0], dims_of(x)[0]) if x.ndim == len(within) == 1 else None
    return None if like is None else fill(like, x)


# --- two indices


def subtensor_of_subtensor(node: Node) -> Value | None:
    """Rewrite x[a][b] to one index."""
    made = producer(node.inputs[0], Subtensor)
    if made is None:
        return None
    inner, outer = per_axis(made), iter(per_axis(node))
    joint = [composed(index, next(outer)) if isinstance(index, slice) else index for index in inner]
    return None if None in joint else read(made.inputs[0], joint)


def element_of_make_vector(node: Node) -> Value | None:
    """Return elements of a vector made of scalars as these scalars."""
    made = producer(node.inputs[0], MakeVector)
    if made is None or len(node.inputs) == 1 or not all(map(is_constant, node.inputs[1:])):
        return None
    (index,), elements = indices_of(node), made.inputs
    if not isinstance(index, slice):
        return elements[int(index.data)]
    chosen = elements[slice(*(None if b is None else int(b.data) for b in (index.start, index.stop, index.step)))]
    return MakeVector()(*chosen) if chosen else None


# --- an index on what is computed


def subtensor_of_elementwise(node: Node, users: Users) -> Value | None:
    """Index the operands of elementwise ops, if their results have no other readers and no operand is broadcast."""
    whole, *indices = node.inputs
    return lifted_over_elementwise(
        whole, True, users, _none_is_broadcast, lambda v, is_cut: node.op(v, *indices) if is_cut else v
    )


def _none_is_broadcast(made: Node, is_cut: bool) -> list[tuple[Variable, bool]] | None:
    """Return which operands of an op are cut with its result: all but scalars; None if one may be broadcast."""
    if not is_cut or not all(i.ndim == 0 or same_shape(i, made.out) for i in made.inputs):
        return None
    return [(i, i.ndim > 0) for i in made.inputs]


def subtensor_of_dimshuffle(node: Node) -> Value | None:
    """Index a value before its axes are moved."""
    made = producer(node.inputs[0], DimShuffle)
    if made is None:
        return None
    (x,), order = made.inputs, made.op.order
    own: list[Index] = [slice(None)] * x.ndim
    kept: list[Any] = []
    for place, index in zip(order, per_axis(node), strict=True):
        if place == "x" and not is_whole(index) and isinstance(index, slice):
            return None
        if isinstance(place, int):
            own[place] = index
        if isinstance(index, slice):
            kept.append(place)
    left = [axis for axis, index in enumerate(own) if isinstance(index, slice)]
    part, placed = read(x, own), tuple("x" if p == "x" else left.index(p) for p in kept)
    return part if placed == tuple(range(part.ndim)) else DimShuffle(placed)(part)


def subtensor_of_alloc(node: Node) -> Value | None:
    """Index a value before it is broadcast to the lengths of the result."""
    whole = node.inputs[0]
    made = producer(whole, Alloc, BroadcastTo)
    lengths = dims_of(node.out)
    if made is None or any(_is_of(dim, node.out) for dim in lengths):
        return None
    value = made.inputs[0]
    missing = whole.ndim - value.ndim
    own = [_on_value(i, n, m) for i, n, m in zip(per_axis(node)[missing:], dims_of(value), dims_of(whole)[missing:])]
    return None if None in own else made.op(read(value, own), *map(dim_to_tensor, lengths))


def _on_value(index: Index, own: Dim, broadcast: Dim) -> Index | None:
    """Return the index for an axis before it was broadcast; None if it is unknown whether it was."""
    if own == 1:
        return slice(None) if isinstance(index, slice) else dim_to_tensor(0)
    return index if own == broadcast else None


def _is_of(dim: Dim, variable: Variable) -> bool:
    """Whether the length can only be read from the variable itself."""
    return not isinstance(dim, int) and dim.kind == "extent" and dim.args[0] is variable


def subtensor_of_dot(node: Node, users: Users) -> Value | None:
    """Index rows and columns of the operands of a product without other readers."""
    made = producer(node.inputs[0], Dot)
    if made is None or len(users(made.out)) != 1:
        return None
    a, b = made.inputs
    within = per_axis(node)
    rows, columns = within[: a.ndim - 1], within[a.ndim - 1 :]
    return Dot()(read(a, rows), read(b, [slice(None), *columns]))


def subtensor_of_reduce(node: Node, users: Users) -> Value | None:
    """Index the operand of a reduction without other readers."""
    made = producer(node.inputs[0], Reduce)
    if made is None or len(users(made.out)) != 1:
        return None
    (x,), op = made.inputs, made.op
    outer = iter(per_axis(node))
    own = [slice(None) if axis in op.axis else next(outer) for axis in range(x.ndim)]
    left = [axis for axis, index in enumerate(own) if isinstance(index, slice)]
    axes = tuple(k for k, axis in enumerate(left) if axis in op.axis)
    return replace(op, axis=axes)(read(x, own))


USELESS: list[Rule] = [
    node_rule("local_useless_subtensor", Subtensor, useless_subtensor, formula="x[:] -> x"),
    node_rule("local_useless_slice", Subtensor, useless_slice, formula="x[0:n:1] -> x[:]  for x of length n"),
]

MERGED: list[Rule] = [
    node_rule("local_subtensor_merge", Subtensor, subtensor_of_subtensor, having=Subtensor,
              formula="x[a:][b:] -> x[a + b:]"),
    node_rule("local_subtensor_make_vector", Subtensor, element_of_make_vector, having=MakeVector,
              contract=relaxes("errors"),
              formula="make_vector(a, b, c)[1] -> b"),
    node_rule("local_adv_idx_to_slice", AdvancedSubtensor, arange_index, having=Arange,
              formula="x[arange(a, b)] -> x[a:b]  within x"),
    node_rule("local_adv_idx_of_all_positions", AdvancedSubtensor, read_of_all_positions,
              formula="x[fill(y, arange(n))] -> fill(y, x)  for x of length n"),
]

LIFTED: list[Rule] = [
    node_rule("local_subtensor_lift", Subtensor, subtensor_of_elementwise, having=(Elementwise, Cast), uses=True,
              formula="f(x, y)[i] -> f(x[i], y[i])"),
    node_rule("local_subtensor_of_dimshuffle", Subtensor, subtensor_of_dimshuffle, having=DimShuffle,
              contract=relaxes("errors"),
              formula="dimshuffle(x)[i] -> dimshuffle(x[i])"),
    node_rule("local_subtensor_of_alloc", Subtensor, subtensor_of_alloc, having=(Alloc, BroadcastTo),
              contract=relaxes("errors"),
              formula="alloc(x, n)[i:j] -> alloc(x, j - i)"),
    node_rule("local_subtensor_of_dot", Subtensor, subtensor_of_dot, having=Dot, uses=True,
              contract=relaxes("rounding"),
              formula="dot(a, b)[i, j] -> dot(a[i], b[:, j])"),
    node_rule("local_subtensor_of_reduce", Subtensor, subtensor_of_reduce, having=Reduce, uses=True,
              contract=relaxes("rounding"),
              formula="sum(x, axis=1)[i] -> sum(x[i], axis=0)"),
]
