"""Ops along the split axis by a value of each block, which few rows of all blocks complete.

    cumsum(x)  -->  cumsum(own) + (sums of the blocks before)
    argmax(x)  -->  the argmax of each block's own maximum, and the position that this block found
    topk(x)    -->  the topk of each block's own topk
    max(x)     -->  the maximum of each block's own, of those that have rows
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import ops as T
from ..graph import Apply, TensorType, Variable
from ..graph.dims import Dim
from ..ops.elementwise.records import maximum, minimum
from ..ops.reductions.cumulative import Cumulative
from ..ops.reductions.reduce import ArgReduce, Reduce
from ..ops.reductions.topk import TopK
from ..ops.shapes.indexing import Subtensor
from ..ops.shapes.lengths import ShapeI
from ..record import record
from .states import Collect, Mark, Split, State, opened


@record
class Own(Mark):
    """The rows of one block of a split value, as an array of its own."""

    axis: int
    name = "own"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (opened(inputs[0].type, self.axis),)


@record
class AsSlice(Mark):
    """The first operand, an array of each block, as the slices of a value that is split as the second one."""

    name = "as_slice"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (inputs[0].type.with_shape(inputs[1].type.shape),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[1],)


@record
class OfBlock(Mark):
    """The row of a block, of a whole value with one row for each; the second operand gives the order of blocks."""

    axis: int
    name = "of_block"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        shape = inputs[0].type.shape
        return (inputs[0].type.with_shape((*shape[: self.axis], 1, *shape[self.axis + 1 :])),)


@record
class Begin(Mark):
    """The position of a block's first row among those of the second operand; the first one is 0."""

    name = "begin"


def as_local(
    node: Apply, states: Mapping[Variable, State], is_reversed: bool
) -> Variable | tuple[Variable, ...] | None:
    """Return the output of a node along the split axis by values of blocks; None for other nodes."""
    state = states.get(node.inputs[0]) if node.inputs else None
    if not isinstance(state, Split):
        return None
    op, collect = node.op, Collect(state.axis, is_reversed, is_local=True)
    if isinstance(op, Cumulative) and op.axis == state.axis:
        return _running(op, node.inputs[0], collect)
    if isinstance(op, ArgReduce) and (op.axis == state.axis or (op.axis is None and state.axis == 0)):
        return _position(op, node.inputs[0], collect, state)
    if isinstance(op, TopK) and state.axis == node.inputs[0].ndim - 1:
        return _greatest(op, node.inputs[0], node.inputs[1], collect)
    is_extreme = isinstance(op, Reduce) and op.scalar in (maximum, minimum)
    if is_extreme and state.rows is not None and state.axis in op.axis:  # type: ignore[attr-defined]
        return _extreme(op, node.inputs[0], collect)  # type: ignore[arg-type]
    return None


def _running(op: Cumulative, x: Variable, collect: Collect) -> Variable:
    own = Own(op.axis)(x)
    totals = collect(T.expand_dims(Reduce(op.scalar, (op.axis,))(own), op.axis))
    until = Subtensor((*("s000",) * op.axis, "s010"))(op(totals), T.constant(-1, dtype="int64"))
    first = Subtensor((*("s000",) * op.axis, "s010"))(totals, T.constant(1, dtype="int64"))
    unit = T.full_like(first, op.unit(first.dtype))
    before = T.concatenate([unit, until], axis=op.axis)
    return AsSlice()(op.scalar(op(own), OfBlock(op.axis)(before, x)), x)


def _position(op: ArgReduce, x: Variable, collect: Collect, state: Split) -> Variable:
    own = Own(state.axis)(x)
    full, axis = _never_empty(own, state), state.axis
    axes = tuple(range(x.ndim)) if op.axis is None else (axis,)
    fold = maximum if op.name == "argmax" else minimum
    begin = Begin()(T.constant(0, dtype="int64"), x)
    if op.axis is None:  # of the flat array: a block begins after the elements of all rows before
        for a in range(1, x.ndim):
            begin = T.mul(begin, ShapeI(a)(own))
    tops, places = (
        collect(_if_any(T.expand_dims(found, axis), own, axis))
        for found in (Reduce(fold, axes)(full), T.add(op(full), begin))
    )
    best = ArgReduce(op.name, axis)(tops)
    return T.squeeze(T.take_along_axis(places, T.expand_dims(best, axis), axis=axis), axis)


def _greatest(op: TopK, x: Variable, k: Variable, collect: Collect) -> tuple[Variable, ...]:
    own = Own(collect.axis)(x)
    values, places = op(own, T.minimum(k, ShapeI(collect.axis)(own)))
    places = T.add(places, Begin()(T.constant(0, dtype="int64"), x))
    best, order = op(collect(values), k)
    return best, T.take_along_axis(collect(places), order, axis=-1)


def _extreme(op: Reduce, x: Variable, collect: Collect) -> Variable:
    axis = collect.axis
    own = Own(axis)(x)
    full = _never_empty(own, Split(axis))
    tops = collect(_if_any(T.expand_dims(Reduce(op.scalar, (axis,))(full), axis), own, axis))
    return Reduce(op.scalar, op.axis)(tops)


def _never_empty(own: Variable, state: Split) -> Variable:
    """Return an array of a block with a row of zeros added if it has none."""
    axis, one = state.axis, T.constant(1, dtype="int64")
    lengths = [T.sub(one, T.minimum(ShapeI(a)(own), one)) if a == axis else ShapeI(a)(own) for a in range(own.ndim)]
    return T.concatenate([own, T.zeros(lengths, dtype=own.dtype)], axis=axis)


def _if_any(row: Variable, own: Variable, axis: int) -> Variable:
    """Return the row of a block; nothing if the block has no rows."""
    count = T.minimum(ShapeI(axis)(own), T.constant(1, dtype="int64"))
    return Subtensor((*("s000",) * axis, "s010"))(row, count)
