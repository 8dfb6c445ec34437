"""Rules by class of op: the placement of a node whose inputs have given states.

A rule gets the states of a node's inputs, none of them partial.  It returns the states of the outputs if the node runs
on each block.  It raises `Unsplittable` if the results of blocks do not give the value.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import Apply, Dim, Op
from ..graph.dims import dims_of
from ..ops.elementwise.pointwise import Broadcasting
from ..ops.elementwise.records import add
from ..ops.linalg.blas import Dot, MatMul
from ..ops.networks.convolution import Convolution, KernelGradient
from ..ops.networks.functions import AlongAxis
from ..ops.networks.pooling import Pool
from ..ops.reductions.cumulative import Cumulative
from ..ops.reductions.reduce import ArgReduce, Reduce
from ..ops.reductions.sorting import OrderStatistics, SearchSorted, Sorting
from ..ops.reductions.topk import TopK
from ..ops.reductions.unbroadcasting import SumTo
from ..ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ..ops.shapes.conditions import Check
from ..ops.shapes.creation import Alloc
from ..ops.shapes.indexing import IncSubtensor, Subtensor
from ..ops.shapes.joining import Join
from ..ops.shapes.lengths import ShapeI
from ..ops.shapes.shape import BroadcastTo, DimShuffle, Reshape
from ..ops.shapes.specify import CheckLengths, SpecifyShape
from .cuts import varying
from .facts import Facts
from .gathers import gather, is_range, scatter
from .states import (
    FIRST,
    PARTIAL,
    WHOLE,
    Collect,
    Count,
    Partial,
    Placed,
    Rule,
    Split,
    State,
    is_split,
    refused,
    rows_of,
    split_of,
)


def rule_of(op: Op) -> Rule | None:
    """Return the rule for an op; None if it cannot run on blocks."""
    return next((RULES[kind] for kind in type(op).__mro__ if kind in RULES), None)


def _pointwise(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """Elementwise ops: whole operands that vary along the split axis are sliced."""
    rank = node.outputs[0].ndim
    axes = {axis + rank - node.inputs[k].ndim for k, axis in split_of(states)}
    if len(axes) > 1:
        raise refused(node, f"operands are chunked along different axes {sorted(axes)} of the result")
    (axis,) = axes
    first, own = split_of(states)[0]
    places = {k: axis - rank + i.ndim for k, i in enumerate(node.inputs) if states[k] is WHOLE}
    cuts = varying(node, places, dims_of(node.inputs[first])[own], rows_of(states), facts)
    return Placed((Split(axis),) * len(node.outputs), cuts)


def _dimshuffle(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    ((_, axis),) = split_of(states)
    if axis not in node.op.order:  # type: ignore[attr-defined]
        raise refused(node, f"drops axis {axis}, which is chunked")
    return Placed((Split(node.op.order.index(axis)),), {})  # type: ignore[attr-defined]


def _reduce(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    ((_, axis),), op = split_of(states), node.op
    assert isinstance(op, Reduce)
    if axis in op.axis:
        if op.scalar not in PARTIAL:
            raise refused(node, f"partial results of {op.scalar.name} along axis {axis} do not combine")
        return Placed((Partial(op.scalar),), {})
    return Placed((Split(axis - sum(a < axis for a in op.axis)),), {})


def _argreduce(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    ((_, axis),), along = split_of(states), node.op.axis  # type: ignore[attr-defined]
    if along is None or along == axis:
        raise refused(node, f"needs axis {axis} in one chunk")
    return Placed((Split(axis - (along < axis)),), {})


def _product(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """`Dot` and `MatMul`: rows or columns stay split; a split sum is partial."""
    (a, b), (s, t) = node.inputs, states
    last, row = a.ndim - 1, max(b.ndim - 2, 0)
    rank = node.out.ndim
    along = [isinstance(s, Split) and s.axis == last, isinstance(t, Split) and t.axis == row]
    if any(along):
        if (isinstance(s, Split) and not along[0]) or (isinstance(t, Split) and not along[1]):
            raise refused(node, "one operand is split along the summed axis, the other along another")
        cuts = {k: axis for k, axis, is_along in ((0, last, along[0]), (1, row, along[1])) if not is_along}
        return Placed((Partial(add),), cuts)
    if isinstance(s, Split) and isinstance(t, Split):
        left, right = s.axis + rank - a.ndim, t.axis + rank - b.ndim
        if left != right or left >= rank - 2:
            raise refused(node, "both operands are split along axes of the result")
        return Placed((Split(left),), {})
    if isinstance(s, Split):
        axis = s.axis + (rank - a.ndim if b.ndim > 1 else 0)
        whole, operand = 1, b
    else:
        assert isinstance(t, Split)
        axis = t.axis + rank - b.ndim if b.ndim > 1 else 0
        whole, operand = 0, a
    at = axis - rank + operand.ndim
    if not isinstance(node.op, MatMul) or axis >= rank - 2:
        return Placed((Split(axis),), {})
    ((k, own),) = split_of(states)
    length = dims_of(node.inputs[k])[own]
    return Placed((Split(axis),), varying(node, {whole: at}, length, rows_of(states), facts))


def _along_axis(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """Ops along one axis, which must not be the split one."""
    ((_, axis),), along = split_of(states), along_axis(node)
    if along == axis:
        raise refused(node, f"runs along axis {axis}, which is chunked")
    return Placed((Split(axis - (node.out.ndim < node.inputs[0].ndim and along < axis)),), {})


def along_axis(node: Apply) -> int:
    """Return the axis that an op works along."""
    return int(node.op.axis) % node.inputs[0].ndim  # type: ignore[attr-defined]


def _length(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    ((_, axis),) = split_of(states)
    if node.op.axis == axis:  # type: ignore[attr-defined]
        return Placed((Count(),), {}, known=True)
    return Placed((WHOLE,), {}, known=True) if node.inputs[0].owner is None else Placed((FIRST,), {})


def created(node: Apply, states: Sequence[State]) -> Placed | None:
    """Return the placement of a value of the chunked length n that each block computes for its own rows, or None.

    These are `arange(n)`, `alloc(row, n, ...)`, `broadcast_to(row, n, ...)`, and `specify_shape` that promises n.
    """
    if is_range(node) and isinstance(states[1], Count):
        return Placed((Split(0),), {}, span=(0, 1))
    axes = [k for k, s in enumerate(states[1:]) if isinstance(s, Count)]
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


def _alloc(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """A split value broadcast along other axes."""
    if not isinstance(states[0], Split):
        raise refused(node, "a length is split")
    axis = states[0].axis + node.out.ndim - node.inputs[0].ndim
    return Placed((Split(axis),), {}, own_length=1 + axis)


def _collect(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    return Placed((Partial(node.op),), {})  # type: ignore[arg-type]


def _subtensor(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    if states[0] is WHOLE:
        raise refused(node, "an index is split")
    ((_, axis),), spec = split_of(states), node.op.spec  # type: ignore[attr-defined]
    if axis < len(spec) and spec[axis] != "s000":
        raise refused(node, f"takes a part of axis {axis}, which is chunked")
    return Placed((Split(axis - sum(entry[0] != "s" for entry in spec[:axis])),), {})


def _inc_subtensor(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """The counterpart of `_subtensor`: writes along other axes, from a source that is split in the same way."""
    x, y, *_ = node.inputs
    spec = node.op.spec  # type: ignore[attr-defined]
    if not isinstance(states[0], Split) or any(isinstance(s, Split) for s in states[2:]):
        raise refused(node, "writes chunked values to a whole array, or at chunked positions")
    axis = states[0].axis
    if axis < len(spec) and spec[axis] != "s000":
        raise refused(node, f"changes a part of axis {axis}, which is chunked")
    dropped = [entry[0] != "s" for entry in spec]
    at = axis - sum(dropped[:axis]) - (x.ndim - sum(dropped) - y.ndim)
    if isinstance(states[1], Split) and states[1].axis != at:
        raise refused(node, f"the source is chunked along axis {states[1].axis}, the target along axis {axis}")
    if states[1] is not WHOLE:
        return Placed((states[0],), {})
    return Placed((states[0],), varying(node, {1: at}, dims_of(x)[axis], rows_of(states), facts))


def _join(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    axes, along = {axis for _, axis in split_of(states)}, node.op.axis  # type: ignore[attr-defined]
    if len(axes) > 1 or along in axes:
        raise refused(node, f"joins arrays along axis {along} that are chunked along {sorted(axes)}")
    (axis,) = axes
    return Placed((Split(axis),), {k: axis for k, s in enumerate(states) if s is WHOLE})


def _specify_shape(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    ((_, axis),) = split_of(states)
    raise refused(node, f"promises a length of axis {axis}, which is chunked; give None there")


def _check_lengths(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    return Placed((states[0],), {})


def _order_statistics(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """Ranks are whole; the op selects elements along the last axis, which must not be split."""
    last = node.inputs[0].ndim - 1
    if is_split(states[0], last) or states[0] is WHOLE:
        raise refused(node, "selects along an axis that is chunked")
    return Placed((states[0],), {})


def _topk(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """Along the last axis, which is not split."""
    if not isinstance(states[0], Split):
        raise refused(node, "the number of elements is split")
    return Placed((states[0], states[0]), {})


def _searchsorted(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    if states[0] is not WHOLE:
        raise refused(node, "the sorted vector is chunked")
    return Placed((states[1],), {})


def _reshape(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """A reshape that keeps the axes up to the split one, except axes of length 1."""
    if states[0] is WHOLE:
        raise refused(node, "a length is split")
    ((_, axis),) = split_of(states)
    have, want = dims_of(node.inputs[0])[: axis + 1], dims_of(node.out)
    ends = [k for k in range(len(want)) if want[k] == have[-1] and _longer(want[:k]) == _longer(have[:-1])]
    if not ends:
        raise refused(node, f"changes axis {axis}, which is chunked, or an axis before it")
    return Placed((Split(ends[0]),), {}, own_length=1 + ends[0])


def _longer(dims: Sequence[Dim]) -> list[Dim]:
    return [d for d in dims if d != 1]


def _sum_to(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """The split axis is kept if the second operand, of which only lengths matter, has it; otherwise it is summed."""
    (x, like), rows = node.inputs, rows_of(states)
    rank = x.ndim - like.ndim
    if not isinstance(states[0], Split):
        axis = states[1].axis  # type: ignore[union-attr]
        return Placed((Split(axis),), varying(node, {0: axis + rank}, dims_of(like)[axis], rows, facts))
    axis = states[0].axis - rank
    if isinstance(states[1], Split):
        if states[1].axis != axis:
            raise refused(node, "the target of the sum is chunked along another axis")
        return Placed((Split(axis),), {})
    cuts = varying(node, {1: axis}, dims_of(x)[states[0].axis], rows, facts)
    return Placed((Split(axis),), cuts) if cuts else Placed((Partial(add),), {})


def _windows(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """Pools and their gradients: all operands are split along the same axis outside the windows."""
    axes = {s.axis if isinstance(s, Split) else None for s in states}
    axis = next(iter(axes))
    if len(axes) > 1 or axis is None or axis >= node.inputs[0].ndim - len(node.op.kernel):  # type: ignore[attr-defined]
        raise refused(node, "is chunked along an axis of its windows; chunk all operands along the examples")
    return Placed((Split(axis),), {})


def _convolution(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    if not is_split(states[0], 0) or states[1] is not WHOLE:
        raise refused(node, "is chunked along channels or windows; chunk x along its examples, axis 0")
    return Placed((Split(0),), {})


def _kernel_gradient(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """A kernel gradient as a partial sum over examples."""
    if not is_split(states[0], 0) or not is_split(states[1], 0):
        raise refused(node, "is chunked along channels or windows; chunk x along its examples, axis 0")
    return Placed((Partial(add),), {})


RULES: dict[type[Op], Rule] = {
    Broadcasting: _pointwise, DimShuffle: _dimshuffle, Reduce: _reduce, ArgReduce: _argreduce, Dot: _product,
    MatMul: _product, AlongAxis: _along_axis, ShapeI: _length, Subtensor: _subtensor, AdvancedSubtensor: gather,
    AdvancedIncSubtensor: scatter, Collect: _collect, Join: _join, Reshape: _reshape, SumTo: _sum_to,
    Cumulative: _along_axis, Sorting: _along_axis, Alloc: _alloc, IncSubtensor: _inc_subtensor, Pool: _windows,
    Convolution: _convolution, KernelGradient: _kernel_gradient, BroadcastTo: _alloc, SpecifyShape: _specify_shape,
    CheckLengths: _check_lengths, Check: _check_lengths, OrderStatistics: _order_statistics,
    SearchSorted: _searchsorted, TopK: _topk,
}  # fmt: skip
