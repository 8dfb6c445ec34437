"""Reads that need not look at elements: of axes of length 1, of joined values, of rows of a softmax.

An axis of length 1 is dropped as a rearrangement while rules look for one another, and as an index in the end, where
that saves a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....graph import Apply, Variable
from ....graph.fgraph import Use
from ....ops.core.tensor import constant
from ....ops.elementwise.records import ELEMENTWISE
from ....ops.networks.functions import LogSoftmax, Softmax
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import MakeVector
from ....ops.shapes.shape import DimShuffle
from ...contract import relaxes
from ...patterns import Users, same_value
from ...rule import Rule, node_rule
from ..facts import Node, Value, constant_int, producer
from .indexing import indices_of, per_axis
from .slicing import is_whole, read


def without_index(node: Node) -> Value | None:
    """Return the value without the axes of length 1 that are indexed, if the index selects all else."""
    (x, *_), within = node.inputs, per_axis(node)
    dropped = [axis for axis, index in enumerate(within) if _is_only_position(index, x.type.shape[axis])]
    if not dropped or not all(axis in dropped or is_whole(index) for axis, index in enumerate(within)):
        return None
    return DimShuffle(tuple(axis for axis in range(x.ndim) if axis not in dropped))(x)


def _is_only_position(index: Any, length: int | None) -> bool:
    return length == 1 and not isinstance(index, slice) and constant_int(index) in (0, -1)


def index_for_dropped_axes(node: Node) -> Value | None:
    """Return an index with integers in place of slices of length 1 whose axes are dropped afterwards."""
    made = producer(node.inputs[0], Subtensor)
    if made is None or "x" in node.op.order or len(node.op.order) == made.out.ndim:
        return None
    within, order = per_axis(made), node.op.order
    sliced = [axis for axis, index in enumerate(within) if isinstance(index, slice)]
    for place, axis in enumerate(sliced):
        if place not in order:
            position = _first_position(within[axis])
            if position is None:
                return None
            within[axis] = position
    part = read(made.inputs[0], within)
    left = sorted(order)
    moved = tuple(left.index(o) for o in order)
    return part if moved == tuple(range(len(moved))) else DimShuffle(moved)(part)


def _first_position(cut: slice) -> Variable | None:
    """Return the position of the only element of a slice; None if it counts from the end or is unknown."""
    if cut.step is not None and (constant_int(cut.step) or 0) < 1:
        return None
    if cut.start is None:
        return constant(0, "int64")
    position = constant_int(cut.start)
    return cut.start if position is not None and position >= 0 else None


_WITHOUT_AXES = tuple(DimShuffle(("x",) * ndim) for ndim in range(5))
"""Rearrangements of one element, to the ranks that are usual."""
_UNARY = tuple(op for op in ELEMENTWISE.values() if op.arity == 1)


def index_that_is_read(node: Node, users: Users) -> Value | None:
    """Return the only element of a slice as the index that something else reads already."""
    made = producer(node.inputs[0], Subtensor)
    indices = [] if made is None else per_axis(made)
    within = [_first_position(index) if isinstance(index, slice) else index for index in indices]
    if made is None or any(index is None for index in within) or all(map(_is_same, within, indices)):
        return None
    element = read(made.inputs[0], within)
    twin = _twin(element, users(made.inputs[0]))
    return None if twin is None else _expanded(twin, node.out.ndim)


def function_of_scalar(node: Node, users: Users) -> Value | None:
    """Return a function of one scalar with axes of length 1, from that of the scalar, which something else reads."""
    made = producer(node.inputs[0], DimShuffle)
    if made is None or made.inputs[0].ndim:
        return None
    twin = _twin(node.op(*made.inputs), users(made.inputs[0]))
    return None if twin is None else _expanded(twin, node.out.ndim)


def _twin(value: Value, uses: Sequence[Use]) -> Variable | None:
    """Return the result of the same op with the same operands among the readers of one of them."""
    made = value.owner
    for other, _ in uses:
        if isinstance(other, Apply) and other.op == made.op and all(map(same_value, other.inputs, made.inputs)):
            return other.outputs[0]
    return None


def _expanded(element: Variable, ndim: int) -> Value:
    """Return a scalar as a value with axes of length 1."""
    return DimShuffle(("x",) * ndim)(element) if ndim else element


def index_from_the_start(node: Node) -> Value | None:
    """Return the same positions counted from the start, where lengths are known."""
    x, within = node.inputs[0], indices_of(node)
    counted = [_from_the_start(index, x.type.shape[axis]) for axis, index in enumerate(within)]
    return None if all(map(_is_same, counted, within)) else read(x, counted)


def _from_the_start(index: Any, length: int | None) -> Any:
    if isinstance(index, slice) or length is None:
        return index
    position = constant_int(index)
    return index if position is None or position >= 0 else constant(position + length, "int64")


def _is_same(a: Any, b: Any) -> bool:
    return a is b


def element_as_dimshuffle(node: Node) -> Value | None:
    """Return the only element of a vector as a value with other axes of length 1."""
    made = producer(node.inputs[0], MakeVector)
    if made is None or len(made.inputs) != 1:
        return None
    return _expanded(made.inputs[0], node.out.ndim)


def element_of_join(node: Node) -> Value | None:
    """Return an element along the axis of a join from the value that holds it."""
    made, within = producer(node.inputs[0], Join), per_axis(node)
    index = None if made is None else within[made.op.axis]
    position = None if index is None or isinstance(index, slice) else constant_int(index)
    if made is None or position is None or position < 0:
        return None
    for part in made.inputs:
        length = part.type.shape[made.op.axis]
        if length is None:
            return None
        if position < length:
            within[made.op.axis] = constant(position, "int64")
            return read(part, within)
        position -= length
    return None


def rows_of_softmax(node: Node, users: Users) -> Value | None:
    """Return the softmax of the rows that are read, if the other rows have no reader."""
    made = producer(node.inputs[0], Softmax, LogSoftmax)
    within = per_axis(node)
    if made is None or len(users(made.out)) != 1 or not is_whole(within[made.op.axis]):
        return None
    axis = made.op.axis - sum(not isinstance(index, slice) for index in within[: made.op.axis])
    return type(made.op)(axis)(read(made.inputs[0], within))


DROPPED: list[Rule] = [
    node_rule("local_subtensor_remove_broadcastable_index", Subtensor, without_index,
              formula="x[:, 0] -> dimshuffle(x)  for an axis of length 1"),
    node_rule("local_convert_negative_indices", Subtensor, index_from_the_start,
              formula="x[-1] -> x[n - 1]  for x of length n"),
    node_rule("local_useless_dimshuffle_makevector", DimShuffle, element_as_dimshuffle, having=MakeVector,
              formula="dimshuffle(make_vector(a)) -> a"),
    node_rule("local_index_that_is_read", _WITHOUT_AXES, index_that_is_read, having=Subtensor, uses=True,
              formula="dimshuffle(x[k:k + 1]) -> dimshuffle(x[k])  where x[k] is read"),
    node_rule("local_function_of_scalar_that_is_read", _UNARY, function_of_scalar, having=_WITHOUT_AXES[1:], uses=True,
              formula="f(dimshuffle(s)) -> dimshuffle(f(s))  for a scalar s of which f(s) is read"),
    node_rule("local_subtensor_of_join", Subtensor, element_of_join, having=Join, contract=relaxes("errors"),
              formula="join(x, y)[k] -> y[k - n]  for x of length n"),
    node_rule("local_subtensor_of_softmax", Subtensor, rows_of_softmax, having=(Softmax, LogSoftmax), uses=True,
              contract=relaxes("rounding"),
              formula="softmax(x)[i] -> softmax(x[i])"),
]  # fmt: skip

AS_INDEX: list[Rule] = [
    node_rule("local_dimshuffle_subtensor", DimShuffle, index_for_dropped_axes, having=Subtensor,
              formula="dimshuffle(x[i:j, k:k + 1]) -> x[i:j, k]"),
]
"""Rules of the end: before, axes are dropped by dimshuffles, so that equal ones meet."""
