"""Rules by class of op: the placement of a node whose inputs lie over blocks in a given way.

A rule gets the states of a node's inputs, none of them partial, and says what state the outputs have when the node is
applied to the blocks.  It raises `Unsplittable` where no application to blocks gives the values.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import Apply, Op
from ..graph.dims import dims_of
from ..ops.advanced_indexing import AdvancedSubtensor
from ..ops.blas import Dot, MatMul
from ..ops.elementwise import add
from ..ops.indexing import Subtensor
from ..ops.joining import Join
from ..ops.lengths import ShapeI
from ..ops.nn import AlongAxis, LogSumExp
from ..ops.pointwise import Pointwise
from ..ops.reduce import ArgReduce, Reduce
from ..ops.shape import DimShuffle, Reshape
from ..ops.unbroadcasting import SumTo
from .states import FIRST, PARTIAL, WHOLE, Partial, Placed, Rule, Split, State, refused, split_of


def rule_of(op: Op) -> Rule | None:
    """The rule for an op; None: it cannot run on blocks."""
    return next((RULES[kind] for kind in type(op).__mro__ if kind in RULES), None)


def _pointwise(node: Apply, states: Sequence[State]) -> Placed:
    """Operands broadcast; whole ones that vary along the split axis are cut."""
    rank = node.outputs[0].ndim
    axes = {axis + rank - node.inputs[k].ndim for k, axis in split_of(states)}
    if len(axes) > 1:
        raise refused(node, f"operands are split along axes {sorted(axes)} of the result; rechunk them along one axis")
    (axis,) = axes
    first, own = split_of(states)[0]
    return Placed((Split(axis),) * len(node.outputs), _cuts(node, states, axis, rank, dims_of(node.inputs[first])[own]))


def _cuts(node: Apply, states: Sequence[State], axis: int, rank: int, length: object) -> dict[int, int]:
    """The axis of each whole operand that has the length of the split axis.  Others must have length 1 there."""
    found: dict[int, int] = {}
    for k, i in enumerate(node.inputs):
        at = axis - rank + i.ndim
        if states[k] is not WHOLE or at < 0 or i.type.shape[at] == 1:
            continue
        if dims_of(i)[at] != length and i.type.shape[at] is None:
            raise refused(node, f"operand {k} is whole; its length on axis {at} may be 1 or that of the chunks")
        found[k] = at
    return found


def _dimshuffle(node: Apply, states: Sequence[State]) -> Placed:
    ((_, axis),) = split_of(states)
    if axis not in node.op.order:  # type: ignore[attr-defined]
        raise refused(node, f"drops axis {axis}, which is chunked")
    return Placed((Split(node.op.order.index(axis)),), {})  # type: ignore[attr-defined]


def _reduce(node: Apply, states: Sequence[State]) -> Placed:
    ((_, axis),), op = split_of(states), node.op
    assert isinstance(op, Reduce)
    if axis in op.axis:
        if op.scalar not in PARTIAL:
            raise refused(node, f"the reduction by {op.scalar.name} along axis {axis} has no combination of parts")
        return Placed((Partial(op.scalar),), {})
    return Placed((Split(axis - sum(a < axis for a in op.axis)),), {})


def _argreduce(node: Apply, states: Sequence[State]) -> Placed:
    ((_, axis),), along = split_of(states), node.op.axis  # type: ignore[attr-defined]
    if along is None or along == axis:
        raise refused(node, f"needs axis {axis} in one chunk; rechunk({{{axis}: -1}})")
    return Placed((Split(axis - (along < axis)),), {})


def _product(node: Apply, states: Sequence[State]) -> Placed:
    """`Dot` and `MatMul`: rows or columns stay split; a split sum is partial."""
    (a, b), (s, t) = node.inputs, states
    last, row = a.ndim - 1, max(b.ndim - 2, 0)
    rank = node.out.ndim
    along = [isinstance(s, Split) and s.axis == last, isinstance(t, Split) and t.axis == row]
    if any(along):
        if (isinstance(s, Split) and not along[0]) or (isinstance(t, Split) and not along[1]):
            raise refused(node, "one operand is split along the summed axis, the other along another; rechunk one")
        cuts = {k: axis for k, axis, is_along in ((0, last, along[0]), (1, row, along[1])) if not is_along}
        return Placed((Partial(add),), cuts)
    if isinstance(s, Split) and isinstance(t, Split):
        left, right = s.axis + rank - a.ndim, t.axis + rank - b.ndim
        if left != right or left >= rank - 2:
            raise refused(node, "both operands are split along axes of the result; rechunk one of them")
        return Placed((Split(left),), {})
    if isinstance(s, Split):
        axis = s.axis + (rank - a.ndim if b.ndim > 1 else 0)
        whole, operand = 1, b
    else:
        assert isinstance(t, Split)
        axis = t.axis + rank - b.ndim if b.ndim > 1 else 0
        whole, operand = 0, a
    at = axis - rank + operand.ndim
    is_batch = isinstance(node.op, MatMul) and axis < rank - 2 and at >= 0 and operand.type.shape[at] != 1
    return Placed((Split(axis),), {whole: at} if is_batch else {})


def _along_axis(node: Apply, states: Sequence[State]) -> Placed:
    ((_, axis),), op = split_of(states), node.op
    assert isinstance(op, AlongAxis)
    if op.axis % node.inputs[0].ndim == axis:
        raise refused(node, f"runs along axis {axis}, which is chunked; rechunk({{{axis}: -1}})")
    dropped = isinstance(op, LogSumExp) and node.out.ndim < node.inputs[0].ndim and op.axis % node.inputs[0].ndim < axis
    return Placed((Split(axis - dropped),), {})


def _length(node: Apply, states: Sequence[State]) -> Placed:
    ((_, axis),) = split_of(states)
    known = node.inputs[0].owner is None or node.op.axis == axis  # type: ignore[attr-defined]
    return Placed((WHOLE,), {}, known=True) if known else Placed((FIRST,), {})


def _subtensor(node: Apply, states: Sequence[State]) -> Placed:
    if states[0] is WHOLE:
        raise refused(node, "an index is split")
    ((_, axis),), spec = split_of(states), node.op.spec  # type: ignore[attr-defined]
    if axis < len(spec) and spec[axis] != "s000":
        raise refused(node, f"takes a part of axis {axis}, which is chunked; rechunk({{{axis}: -1}})")
    return Placed((Split(axis - sum(entry[0] != "s" for entry in spec[:axis])),), {})


def _gather(node: Apply, states: Sequence[State]) -> Placed:
    """Rows of a whole array by a split array of indices."""
    spec = node.op.spec  # type: ignore[attr-defined]
    if states[0] is not WHOLE or spec != ("a",) or node.inputs[1].type.kind == "b":
        raise refused(node, "gathers from a chunked array, or by several indices; give the array in one chunk")
    return Placed((states[1],), {})


def _join(node: Apply, states: Sequence[State]) -> Placed:
    axes, along = {axis for _, axis in split_of(states)}, node.op.axis  # type: ignore[attr-defined]
    if len(axes) > 1 or along in axes:
        raise refused(node, f"joins along axis {along} what is chunked along {sorted(axes)}; rechunk the arrays")
    (axis,) = axes
    return Placed((Split(axis),), {k: axis for k, s in enumerate(states) if s is WHOLE})


def _reshape(node: Apply, states: Sequence[State]) -> Placed:
    """The axes up to the split one stay as they are."""
    if states[0] is WHOLE:
        raise refused(node, "a length is split")
    ((_, axis),) = split_of(states)
    have, want = dims_of(node.inputs[0])[: axis + 1], dims_of(node.out)[: axis + 1]
    if have != want:
        raise refused(node, f"changes axis {axis}, which is chunked, or an axis before it; rechunk({{{axis}: -1}})")
    return Placed((Split(axis),), {}, own_length=1 + axis)


def _sum_to(node: Apply, states: Sequence[State]) -> Placed:
    """Both operands split in the same way, or the split axis summed."""
    x, like = node.inputs
    rank = x.ndim - like.ndim
    if isinstance(states[0], Split) and isinstance(states[1], Split) and states[0].axis == states[1].axis + rank:
        return Placed((states[1],), {})
    axis = states[0].axis - rank if isinstance(states[0], Split) else None
    if axis is not None and states[1] is WHOLE and (axis < 0 or like.type.shape[axis] == 1):
        return Placed((Partial(add),), {})
    raise refused(node, "the lengths that are summed to are not those of the blocks")


RULES: dict[type[Op], Rule] = {
    Pointwise: _pointwise, DimShuffle: _dimshuffle, Reduce: _reduce, ArgReduce: _argreduce, Dot: _product,
    MatMul: _product, AlongAxis: _along_axis, ShapeI: _length, Subtensor: _subtensor, AdvancedSubtensor: _gather,
    Join: _join, Reshape: _reshape, SumTo: _sum_to,
}  # fmt: skip
