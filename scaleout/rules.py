"""Rules by class of op: the placement of a node whose inputs have given states.

A rule gets the states of a node's inputs, none of them partial.  It returns the states of the outputs if the node runs
on each block.  It raises `Unsplittable` if the results of blocks do not give the value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..graph import Apply, Constant, Dim, Op, Variable
from ..graph.dims import dims_of
from ..ops.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor, joint_position
from ..ops.blas import Dot, MatMul
from ..ops.conditions import Check
from ..ops.convolution import Convolution, KernelGradient
from ..ops.creation import Alloc, Arange
from ..ops.cumulative import Cumulative
from ..ops.elementwise import add
from ..ops.indexing import IncSubtensor, Subtensor, entries
from ..ops.joining import Join
from ..ops.lengths import ShapeI
from ..ops.nn import AlongAxis
from ..ops.pointwise import Pointwise
from ..ops.pooling import Pool
from ..ops.reduce import ArgReduce, Reduce
from ..ops.shape import BroadcastTo, DimShuffle, Reshape
from ..ops.sorting import OrderStatistics, SearchSorted, Sorting
from ..ops.specify import CheckLengths, SpecifyShape
from ..ops.unbroadcasting import SumTo
from .states import COUNT, FIRST, PARTIAL, WHOLE, Collect, Partial, Placed, Rule, Split, State, refused, split_of


def rule_of(op: Op) -> Rule | None:
    """Return the rule for an op; None if it cannot run on blocks."""
    return next((RULES[kind] for kind in type(op).__mro__ if kind in RULES), None)


def _pointwise(node: Apply, states: Sequence[State]) -> Placed:
    """Elementwise ops: whole operands that vary along the split axis are sliced."""
    rank = node.outputs[0].ndim
    axes = {axis + rank - node.inputs[k].ndim for k, axis in split_of(states)}
    if len(axes) > 1:
        raise refused(node, f"operands are split along axes {sorted(axes)} of the result; rechunk them along one axis")
    (axis,) = axes
    first, own = split_of(states)[0]
    return Placed((Split(axis),) * len(node.outputs), _cuts(node, states, axis, rank, dims_of(node.inputs[first])[own]))


def _cuts(node: Apply, states: Sequence[State], axis: int, rank: int, length: object) -> dict[int, int]:
    """Return the axis of each whole operand that has the length of the split axis.  Other operands have length 1."""
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
            why = f"partial results of {op.scalar.name} along axis {axis} do not combine"
            raise refused(node, f"{why}; rechunk({{{axis}: -1}})")
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
    """Ops along one axis, which must not be the split one."""
    ((_, axis),), along = split_of(states), along_axis(node)
    if along == axis:
        raise refused(node, f"runs along axis {axis}, which is chunked; rechunk({{{axis}: -1}})")
    return Placed((Split(axis - (node.out.ndim < node.inputs[0].ndim and along < axis)),), {})


def along_axis(node: Apply) -> int:
    """Return the axis that an op works along."""
    return int(node.op.axis) % node.inputs[0].ndim  # type: ignore[attr-defined]


def _length(node: Apply, states: Sequence[State]) -> Placed:
    ((_, axis),) = split_of(states)
    if node.op.axis == axis:  # type: ignore[attr-defined]
        return Placed((COUNT,), {}, known=True)
    return Placed((WHOLE,), {}, known=True) if node.inputs[0].owner is None else Placed((FIRST,), {})


def created(node: Apply, states: Sequence[State]) -> Placed | None:
    """Return the placement of a value of the chunked length n that each block computes for its own rows, or None.

    These are `arange(n)`, `alloc(row, n, ...)`, `broadcast_to(row, n, ...)`, and `specify_shape` that promises n.
    """
    if is_range(node) and states[1] is COUNT:
        return Placed((Split(0),), {}, span=(0, 1))
    axes = [k for k, s in enumerate(states[1:]) if s is COUNT]
    if isinstance(node.op, SpecifyShape) and isinstance(states[0], Split) and axes == [states[0].axis]:
        return Placed((states[0],), {}, own_length=1 + axes[0])
    if not isinstance(node.op, (Alloc, BroadcastTo)) or len(axes) != 1 or isinstance(states[0], Split):
        return None
    if not _is_constant_along(node, axes[0]):
        return None
    return Placed((Split(axes[0]),), {}, own_length=1 + axes[0])


def _is_constant_along(node: Apply, axis: int) -> bool:
    """Whether the operand of an `alloc` has one element along an axis of the result."""
    value = node.inputs[0]
    at = axis - (node.out.ndim - value.ndim)
    return at < 0 or value.type.shape[at] == 1


def _alloc(node: Apply, states: Sequence[State]) -> Placed:
    """A split value broadcast along other axes."""
    if not isinstance(states[0], Split):
        raise refused(node, "a length is split")
    axis = states[0].axis + node.out.ndim - node.inputs[0].ndim
    return Placed((Split(axis),), {}, own_length=1 + axis)


def _is(v: Variable, number: int) -> bool:
    return isinstance(v, Constant) and bool(np.all(v.data == number))


def _collect(node: Apply, states: Sequence[State]) -> Placed:
    return Placed((Partial(node.op),), {})  # type: ignore[arg-type]


def _subtensor(node: Apply, states: Sequence[State]) -> Placed:
    if states[0] is WHOLE:
        raise refused(node, "an index is split")
    ((_, axis),), spec = split_of(states), node.op.spec  # type: ignore[attr-defined]
    if axis < len(spec) and spec[axis] != "s000":
        raise refused(node, f"takes a part of axis {axis}, which is chunked; rechunk({{{axis}: -1}})")
    return Placed((Split(axis - sum(entry[0] != "s" for entry in spec[:axis])),), {})


def _inc_subtensor(node: Apply, states: Sequence[State]) -> Placed:
    """The counterpart of `_subtensor`: writes along other axes, from a source that is split in the same way."""
    x, y, *_ = node.inputs
    spec = node.op.spec  # type: ignore[attr-defined]
    if not isinstance(states[0], Split) or any(isinstance(s, Split) for s in states[2:]):
        raise refused(node, "writes chunked values to a whole array, or at chunked positions")
    axis = states[0].axis
    if axis < len(spec) and spec[axis] != "s000":
        raise refused(node, f"changes a part of axis {axis}, which is chunked; rechunk({{{axis}: -1}})")
    dropped = [entry[0] != "s" for entry in spec]
    at = axis - sum(dropped[:axis]) - (x.ndim - sum(dropped) - y.ndim)
    if isinstance(states[1], Split) and states[1].axis != at:
        raise refused(node, f"the source is chunked along axis {states[1].axis}, the target along axis {axis}")
    return Placed((states[0],), {1: at} if states[1] is WHOLE and at >= 0 and y.type.shape[at] != 1 else {})


def _gather(node: Apply, states: Sequence[State]) -> Placed:
    """Rows of a whole array by split indices, or elements of each row of a split array: `p[arange(n), labels]`."""
    cuts, relative = _indices(node, states, 1)
    return Placed((Split(joint_position(node.op.spec)),), cuts, relative=relative)  # type: ignore[attr-defined]


def _scatter(node: Apply, states: Sequence[State]) -> Placed:
    """The counterpart of `_gather`.  If blocks add to zeros, each has an array of its own, which is a partial sum."""
    x, y, op = *node.inputs[:2], node.op
    assert isinstance(op, AdvancedIncSubtensor)
    cuts, relative = _indices(node, states, 2)
    part = AdvancedSubtensor(op.spec).infer((x, *node.inputs[2:]))[0]
    at = joint_position(op.spec) - (len(part.shape) - y.ndim)
    if isinstance(states[1], Split) and states[1].axis != at:
        raise refused(node, f"the source is split along axis {states[1].axis}, the indices are not")
    if states[1] is WHOLE and at >= 0 and y.type.shape[at] != 1:
        cuts[1] = at
    if states[0] is not WHOLE:
        return Placed((states[0],), cuts, relative=relative)
    if op.set or not _is_zeros(x):
        raise refused(node, "changes a whole array by split indices; give it in as many chunks, or the indices in one")
    return Placed((Partial(add),), cuts)


def _is_zeros(v: Variable) -> bool:
    """Whether the form of a value shows that it is zero."""
    if v.owner is None:
        return _is(v, 0)
    position = {"fill": 1, "alloc": 0}.get(v.owner.op.name)
    return position is not None and _is(v.owner.inputs[position], 0)


def _indices(node: Apply, states: Sequence[State], first: int) -> tuple[dict[int, int], int | None]:
    """Return the whole index arrays that blocks slice, and the index of the array with positions of rows, or None."""
    spec = node.op.spec  # type: ignore[attr-defined]
    at = entries(spec, range(first, len(node.inputs)))
    arrays = [k for k, entry in zip(at, spec, strict=True) if entry == "a"]
    if any(node.inputs[k].ndim > 1 for k in arrays) and len(arrays) > 1:
        raise refused(node, "gathers by several index arrays, one of them with several axes; flatten them")
    if any(isinstance(states[k], Split) and states[k] != Split(0) for k in range(first, len(states))):
        raise refused(node, "an index array is split along an axis other than its first; rechunk it")
    relative = None
    if isinstance(states[0], Split):
        axis = states[0].axis
        relative = at[axis] if axis < len(spec) and spec[axis] == "a" else None
        if relative is None or states[relative] is WHOLE or not _are_positions(node.inputs[relative]):
            raise refused(node, f"gathers along axis {axis}, which is chunked; give the array in one chunk")
    elif not any(isinstance(states[k], Split) for k in arrays):
        raise refused(node, "no index array is chunked, but another operand is; give that operand in one chunk")
    rows = next(node.inputs[k] for k in arrays if isinstance(states[k], Split))
    cuts = {k: 0 for k in arrays if states[k] is WHOLE and node.inputs[k].ndim and node.inputs[k].type.shape[0] != 1}
    for k in cuts:
        if node.inputs[k].type.shape[0] is None and dims_of(node.inputs[k])[0] != dims_of(rows)[0]:
            raise refused(node, f"index array {k - first} is whole; its length may be 1 or that of the chunks")
    return cuts, relative


def _are_positions(v: Variable) -> bool:
    """Whether a split vector is `arange(n)` of the chunked length, or a `fill` with it."""
    if v.owner is None or v.ndim != 1:
        return False
    if v.owner.op.name == "fill":
        return _are_positions(v.owner.inputs[1])
    return is_range(v.owner)


def is_range(node: Apply) -> bool:
    """Whether a node is `arange(0, n, 1)`."""
    return isinstance(node.op, Arange) and _is(node.inputs[0], 0) and _is(node.inputs[2], 1)


def _join(node: Apply, states: Sequence[State]) -> Placed:
    axes, along = {axis for _, axis in split_of(states)}, node.op.axis  # type: ignore[attr-defined]
    if len(axes) > 1 or along in axes:
        raise refused(node, f"joins arrays along axis {along} that are chunked along {sorted(axes)}; rechunk them")
    (axis,) = axes
    return Placed((Split(axis),), {k: axis for k, s in enumerate(states) if s is WHOLE})


def _specify_shape(node: Apply, states: Sequence[State]) -> Placed:
    ((_, axis),) = split_of(states)
    raise refused(node, f"promises a length of axis {axis}, which is chunked; give None there")


def _check_lengths(node: Apply, states: Sequence[State]) -> Placed:
    return Placed((states[0],), {})


def _order_statistics(node: Apply, states: Sequence[State]) -> Placed:
    """Ranks are whole; the op selects elements along the last axis, which must not be split."""
    last = node.inputs[0].ndim - 1
    if states[0] == Split(last) or states[0] is WHOLE:
        raise refused(node, f"selects along axis {last}, which is chunked; give its operand in one chunk there")
    return Placed((states[0],), {})


def _searchsorted(node: Apply, states: Sequence[State]) -> Placed:
    if states[0] is not WHOLE:
        raise refused(node, "the sorted vector is chunked; rechunk({0: -1})")
    return Placed((states[1],), {})


def _reshape(node: Apply, states: Sequence[State]) -> Placed:
    """A reshape that keeps the axes up to the split one, except axes of length 1."""
    if states[0] is WHOLE:
        raise refused(node, "a length is split")
    ((_, axis),) = split_of(states)
    have, want = dims_of(node.inputs[0])[: axis + 1], dims_of(node.out)
    ends = [k for k in range(len(want)) if want[k] == have[-1] and _longer(want[:k]) == _longer(have[:-1])]
    if not ends:
        raise refused(node, f"changes axis {axis}, which is chunked, or an axis before it; rechunk({{{axis}: -1}})")
    return Placed((Split(ends[0]),), {}, own_length=1 + ends[0])


def _longer(dims: Sequence[Dim]) -> list[Dim]:
    return [d for d in dims if d != 1]


def _sum_to(node: Apply, states: Sequence[State]) -> Placed:
    """Both operands are split in the same way, or the split axis is summed."""
    x, like = node.inputs
    rank = x.ndim - like.ndim
    if isinstance(states[0], Split) and isinstance(states[1], Split) and states[0].axis == states[1].axis + rank:
        return Placed((states[1],), {})
    axis = states[0].axis - rank if isinstance(states[0], Split) else None
    if axis is not None and states[1] is WHOLE and (axis < 0 or like.type.shape[axis] == 1):
        return Placed((Partial(add),), {})
    raise refused(node, "the target lengths of the sum differ from those of the blocks; chunk both operands alike")


def _windows(node: Apply, states: Sequence[State]) -> Placed:
    """Pools and their gradients: all operands are split along the same axis outside the windows."""
    axes = {s.axis if isinstance(s, Split) else None for s in states}
    axis = next(iter(axes))
    if len(axes) > 1 or axis is None or axis >= node.inputs[0].ndim - len(node.op.kernel):  # type: ignore[attr-defined]
        raise refused(node, "is chunked along an axis of its windows; chunk all operands along the examples")
    return Placed((Split(axis),), {})


def _convolution(node: Apply, states: Sequence[State]) -> Placed:
    if states[0] != Split(0) or states[1] is not WHOLE:
        raise refused(node, "is chunked along channels or windows; chunk x along its examples, axis 0")
    return Placed((Split(0),), {})


def _kernel_gradient(node: Apply, states: Sequence[State]) -> Placed:
    """A kernel gradient as a partial sum over examples."""
    if states[0] != Split(0) or states[1] != Split(0):
        raise refused(node, "is chunked along channels or windows; chunk x along its examples, axis 0")
    return Placed((Partial(add),), {})


RULES: dict[type[Op], Rule] = {
    Pointwise: _pointwise, DimShuffle: _dimshuffle, Reduce: _reduce, ArgReduce: _argreduce, Dot: _product,
    MatMul: _product, AlongAxis: _along_axis, ShapeI: _length, Subtensor: _subtensor, AdvancedSubtensor: _gather,
    AdvancedIncSubtensor: _scatter, Collect: _collect, Join: _join, Reshape: _reshape, SumTo: _sum_to,
    Cumulative: _along_axis, Sorting: _along_axis, Alloc: _alloc, IncSubtensor: _inc_subtensor, Pool: _windows,
    Convolution: _convolution, KernelGradient: _kernel_gradient, BroadcastTo: _alloc, SpecifyShape: _specify_shape,
    CheckLengths: _check_lengths, Check: _check_lengths, OrderStatistics: _order_statistics,
    SearchSorted: _searchsorted,
}  # fmt: skip
