"""Vectorization (vmap): turn an expression of one example into one of many, with a new first axis.

    carried(outputs, {x: xs})      xs has one more axis in front than x, and so have the results

Nothing is looped over: each op is applied once, to operands that have the axis (the facet `batching` of its class).
Values that depend on no example are computed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ... import ops as T
from ...graph import Apply, Op, Variable, gc_paused
from ...graph.facets import register
from ..elementwise.pointwise import Broadcasting
from ..linalg.assumptions import Assume
from ..linalg.blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from ..linalg.fourier import Fourier
from ..linalg.matrix_ops import MatrixOp
from ..linalg.solving import System
from ..lowered.assembled import Assembled
from ..lowered.attention import Attention
from ..lowered.bfloats import BfloatDot, PackedBfloatDot
from ..lowered.blocked import BlockedConvolution, FromBlocks, ToBlocks
from ..lowered.blocked_gradient import BlockedKernelGradient
from ..lowered.blocked_pool import BlockedPool
from ..lowered.byte_sums import ByteConvolution, ByteProduct
from ..lowered.byte_tables import ByteSoftmax, LookUp
from ..lowered.channel_sums import ChannelSums
from ..lowered.convolution_pair import ConvolutionPair
from ..lowered.fused import Fused, InPlace
from ..lowered.fused_product import FusedProduct
from ..lowered.nibbles import NibbleProduct
from ..lowered.packed_dot import PackedDot
from ..lowered.pipeline import Pipeline
from ..lowered.quantized_blocks import QuantizeInBlocks
from ..lowered.region import Region
from ..lowered.row_passes import Top
from ..lowered.sparse_columns import SparseColumns
from ..lowered.sparse_dot import SparseDot
from ..lowered.two_of_four import TwoOfFour
from ..networks.convolution import Convolution, KernelGradient
from ..networks.functions import AlongAxis
from ..networks.phases import ByPhase
from ..networks.pooling import MaxPoolGradient, Pool
from ..reductions.cumulative import Cumulative
from ..reductions.reduce import ArgReduce, Reduce
from ..reductions.sorting import Nonzero, OrderStatistics, SearchSorted, Sorting, Unique, UniqueParts
from ..reductions.trees import TreeFold
from ..reductions.unbroadcasting import SumTo
from ..shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor, joint_position
from ..shapes.conditions import Check
from ..shapes.creation import Alloc, Arange, Eye
from ..shapes.diagonals import Diagonal, DiagonalMatrix, Triangle
from ..shapes.indexing import IncSubtensor, Subtensor, entries
from ..shapes.joining import Join, RepeatedPositions
from ..shapes.lengths import MakeVector, Shape, ShapeI, lengths_of
from ..shapes.shape import BroadcastTo, DimShuffle, Reshape
from ..shapes.specify import CheckLengths, SpecifyShape
from .batching_convolutions import convolution, kernel_gradient
from .batching_loops import cond, scan
from .cond import Cond
from .examples import Examples, Flags, Rule, aligned, all_broadcast, carried_by, moved, require_shared
from .scan_ops import Scan


@gc_paused
def carried(outputs: Sequence[Variable], given: Mapping[Variable, Variable]) -> list[Variable]:
    """Return the outputs for all the examples that `given` has in place of its keys, along a new first axis.

    Raises NoBatch, naming the op and its line, where an op has no form for many examples: where the lengths of a
    result would differ from one to the next.
    """
    return carried_by(outputs, given)


# --- rules: the results for all examples, from inputs of which those that are flagged have the new axis


def _pointwise(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    ndim = node.out.ndim
    return node.op(*(aligned(i, f, old.ndim, ndim) for i, f, old in zip(inputs, flags, node.inputs, strict=True)))


def _batched_op(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Apply an op on the last axes of its first input; its other inputs are the same for all examples."""
    require_shared(flags[1:], "its second operand")
    return node.op(*inputs)


def _broadcast_op(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Apply an op on the last axes of its inputs, whose leading axes are equal."""
    return node.op(*all_broadcast(inputs, flags, examples))


def _by_phase(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    require_shared(flags[2:], "a running average")
    return node.op(*all_broadcast(inputs[:2], flags[:2], examples), *inputs[2:])


def _aligned_op(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Apply an op on the last two axes of its inputs, whose leading axes broadcast."""
    ndim = max(i.ndim for i in node.inputs)
    return node.op(*(aligned(i, f, old.ndim, ndim) for i, f, old in zip(inputs, flags, node.inputs, strict=True)))


def _along_axis(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    return replace(node.op, axis=node.op.axis + 1)(inputs[0])  # type: ignore[type-var,attr-defined]


def _reduce(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    op = node.op
    assert isinstance(op, Reduce)
    return Reduce(op.scalar, tuple(axis + 1 for axis in op.axis))(inputs[0])


def _arg_reduce(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    op = node.op
    assert isinstance(op, ArgReduce)
    x = inputs[0] if op.axis is not None else T.reshape(inputs[0], (examples.length, -1))
    return replace(op, axis=1 if op.axis is None else op.axis + 1)(x)


def _sum_to(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    x, like = all_broadcast(inputs, flags, examples)
    ndim, own = (i.ndim for i in node.inputs)
    summed = SumTo()(x, aligned(like, True, own, ndim))
    return DimShuffle((0, *range(1 + ndim - own, 1 + ndim)))(summed)


def _dimshuffle(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    op = node.op
    assert isinstance(op, DimShuffle)
    return DimShuffle((0, *(o + 1 if isinstance(o, int) else o for o in op.order)))(inputs[0])


def _reshape(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    require_shared(flags[1:], "the lengths of its result")
    return Reshape()(inputs[0], examples.length, *inputs[1:])


def _stretch(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    require_shared(flags[1:], "the lengths of its result")
    x = aligned(inputs[0], True, node.inputs[0].ndim, node.out.ndim)
    return node.op(x, examples.length, *inputs[1:])


def _specify_shape(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    require_shared(flags[1:], "the lengths that are promised")
    return node.op(inputs[0], examples.length, *inputs[1:])


def _check(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Check the condition of all examples; the message has the numbers of the first example that breaks it."""
    (x,), (ok, *got) = all_broadcast(inputs[:1], flags[:1], examples), all_broadcast(inputs[1:], flags[1:], examples)
    first = T.argmin(T.append(ok, True))  # there may be no example
    return node.op(x, T.all(ok), *(T.append(n, T.zeros((1,), n.dtype))[first] for n in got))


def _make_vector(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    return T.stack(all_broadcast(inputs, flags, examples), axis=1)


def _join(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    return Join(node.op.axis + 1)(*all_broadcast(inputs, flags, examples))  # type: ignore[attr-defined]


def _dot(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    (a, b), (rows, columns) = inputs, (i.ndim == 2 for i in node.inputs)
    if flags == [True, False]:
        return T.dot(a, b)
    if flags == [False, True] and not columns:
        return T.dot(b, DimShuffle((1, 0))(a) if rows else a)
    if not rows:
        a = DimShuffle(("x", 0) if not flags[0] else (0, "x", 1))(a)
    if not columns:
        b = DimShuffle((0, 1, "x"))(b)
    product = MatMul()(a, b)
    dropped = {1} if not rows else set()
    dropped |= {2} if not columns else set()
    return DimShuffle(tuple(k for k in range(3) if k not in dropped))(product) if dropped else product


def _search_sorted(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    a, v = inputs
    if not flags[0]:
        return node.op(a, v)
    if a.type.kind == "c":
        require_shared(flags[:1], "what is searched in")
    rank = node.inputs[1].ndim
    among = DimShuffle((0, *"x" * rank, 1))(a)
    sought = DimShuffle((*range(v.ndim), "x"))(v)  # aligned at the end without the examples' axis
    before = _ordered(among, sought) if node.op.side == "left" else T.logical_not(_ordered(sought, among))  # type: ignore[attr-defined]
    return T.sum(before, axis=-1, dtype="int64")


def _ordered(a: Any, b: Any) -> Any:
    """Whether `a` stands before `b` in NumPy's order of numbers, in which NaN is last."""
    if a.type.kind != "f":
        return T.lt(a, b)
    return T.logical_or(T.lt(a, b), T.logical_and(T.isnan(b), T.logical_not(T.isnan(a))))


def _tree_fold(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """The rows of all examples go down the trees together."""
    require_shared(flags[1:], "the trees")
    x: Any = inputs[0]
    count, rows, columns = lengths_of(x)
    flat = node.op(T.reshape(x, (count * rows, columns)), *inputs[1:])
    return T.reshape(flat, (count, rows, lengths_of(flat)[1]))


# --- indexing


class _Indexed:
    """The index that reads or writes the elements of all examples, and the position of the examples' axis in it."""

    def __init__(
        self, op: Any, x: Variable, old: Sequence[Variable], indices: Sequence[Variable], flags: Flags
    ) -> None:
        pointers = [k for k in entries(op.spec, range(len(old))) if not isinstance(k, slice)]
        require_shared([f for k, f in enumerate(flags) if k not in pointers], "a bound of a slice")
        self.spec, self.indices, self.flags = op.spec, list(indices), flags
        self.joint = max((old[k].ndim for k in pointers), default=0)
        """The number of joint axes of arrays and integers."""
        self.place = joint_position(op.spec) if pointers else 0
        self.part = x.ndim - len(pointers) + self.joint
        """The number of axes of the part that is read or written."""
        self.own = [i.ndim for i in old]
        self.pointers = pointers

    @property
    def by_examples(self) -> bool:
        """Whether the positions differ between examples."""
        return any(self.flags)

    def with_arrays(self) -> tuple[tuple[str, ...], list[Variable]]:
        """Return the spec with integers as arrays, and the indices, those of examples aligned."""
        spec = tuple("a" if entry == "i" else entry for entry in self.spec)
        return spec, [
            aligned(i, f, own, self.joint) if k in self.pointers else i
            for k, (i, f, own) in enumerate(zip(self.indices, self.flags, self.own, strict=True))
        ]

    def whole(self) -> tuple[tuple[str, ...], list[Variable]]:
        """Return spec and indices if all examples have the same index: their axis is taken whole."""
        return ("s000", *self.spec), self.indices

    def one_by_one(self, examples: Examples) -> tuple[tuple[str, ...], list[Variable]]:
        """Return spec and indices if each example, along its axis of a tensor, has an index of its own."""
        spec, indices = self.with_arrays()
        return ("a", *spec), [examples.numbers(self.joint), *indices]

    def behind_joint(self) -> bool:
        """Whether NumPy puts the joint axes before that of the examples, if this is taken whole."""
        return len(self.pointers) > 0 and joint_position(("s000", *self.spec)) == 0

    def order(self) -> tuple[int, ...]:
        """Axes (examples, joint, the others) in their order in one example."""
        joint, others = range(1, 1 + self.joint), range(1 + self.joint, 1 + self.part)
        return (0, *others[: self.place], *joint, *others[self.place :])


def _read(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    x, *indices = inputs
    at = _Indexed(node.op, node.inputs[0], node.inputs[1:], indices, flags[1:])
    if not at.by_examples:
        spec, indices = at.whole()
        found = type(node.op)(spec)(x, *indices)  # type: ignore[call-arg]
        return moved(found, at.joint) if at.behind_joint() else found
    if flags[0]:
        spec, indices = at.one_by_one(examples)
        return DimShuffle(at.order())(AdvancedSubtensor(spec)(x, *indices))
    spec, indices = at.with_arrays()
    return moved(AdvancedSubtensor(spec)(x, *indices), at.place)


def _write(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    x, y, *indices = inputs
    at = _Indexed(node.op, node.inputs[0], node.inputs[2:], indices, flags[2:])
    own = node.inputs[1].ndim
    x = x if flags[0] else examples.broadcast(x)
    y = aligned(y, True, own, at.part) if flags[1] else DimShuffle((*"x" * (1 + at.part - own), *range(own)))(y)
    is_set: bool = node.op.set  # type: ignore[attr-defined]
    if at.by_examples:
        spec, indices = at.one_by_one(examples)
        back = sorted(range(1 + at.part), key=at.order().__getitem__)
        return AdvancedIncSubtensor(spec, set=is_set)(x, DimShuffle(tuple(back))(y), *indices)
    spec, indices = at.whole()
    if at.behind_joint():
        y = DimShuffle((*range(1, 1 + at.joint), 0, *range(1 + at.joint, 1 + at.part)))(y)
    return type(node.op)(spec, set=is_set)(x, y, *indices)  # type: ignore[call-arg]


_RULES: dict[type[Op], Rule] = {
    Broadcasting: _pointwise,
    Reduce: _reduce,
    ArgReduce: _arg_reduce,
    SumTo: _sum_to,
    Cumulative: _along_axis,
    AlongAxis: _along_axis,
    Sorting: _along_axis,
    SearchSorted: _search_sorted,
    TreeFold: _tree_fold,
    OrderStatistics: _batched_op,
    DimShuffle: _dimshuffle,
    Reshape: _reshape,
    BroadcastTo: _stretch,
    Alloc: _stretch,
    SpecifyShape: _specify_shape,
    CheckLengths: _batched_op,
    Check: _check,
    MakeVector: _make_vector,
    Join: _join,
    Scan: scan,
    Cond: cond,
    Subtensor: _read,
    AdvancedSubtensor: _read,
    IncSubtensor: _write,
    AdvancedIncSubtensor: _write,
    Dot: _dot,
    MatMul: _aligned_op,
    System: _aligned_op,
    MatrixOp: _batched_op,
    Fourier: _batched_op,
    Assume: _batched_op,
    ByPhase: _by_phase,
    Convolution: convolution,
    KernelGradient: kernel_gradient,
    Pool: _batched_op,
    MaxPoolGradient: _broadcast_op,
    Diagonal: _batched_op,
    DiagonalMatrix: _batched_op,
    Triangle: _batched_op,
}
for _kind, _rule in _RULES.items():
    register(_kind, batching=_rule)

_LACKS: dict[str, tuple[type[Op], ...]] = {
    "its lengths would differ from one example to the next": (
        Arange, Eye, Nonzero, RepeatedPositions, Unique, UniqueParts,
    ),
    "rewrites make it, after examples are batched": (
        Assembled, Attention, BfloatDot, BlockedConvolution, BlockedKernelGradient, BlockedPool, ByteConvolution,
        ByteProduct, ByteSoftmax, ChannelSums, ConvolutionPair, Dot22, Dot22Scalar, FromBlocks, Fused, FusedProduct,
        Gemm, Gemv, Ger, InPlace, LookUp, NibbleProduct, PackedBfloatDot, PackedDot, Pipeline, QuantizeInBlocks,
        Region, SparseColumns, SparseDot, ToBlocks, TwoOfFour,
    ),
    "lengths are the same for all examples, so none is batched": (Shape, ShapeI),
}  # fmt: skip
for _why, _kinds in _LACKS.items():
    for _kind in _kinds:
        register(_kind, lacks={"batching": _why})
for _kind in (RepeatedPositions, Unique, UniqueParts):
    register(_kind, lacks={"lengths": "the values decide them"})
for _kind in (MakeVector, Shape, ShapeI):
    register(_kind, lacks={"lengths": "its type has them"})
for _kind in (ByteSoftmax, LookUp, PackedBfloatDot, PackedDot, QuantizeInBlocks, Top):
    register(_kind, lacks={"derivative": "rewrites make it, after derivatives are taken"})
