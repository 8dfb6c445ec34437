"""The ops by their printed names, by which `parse` reads a graph back."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Union

from ...graph import FunctionGraph, Op, Vocabulary
from ..control.cond import Cond
from ..control.scan_ops import Scan, While
from ..elementwise.records import ELEMENTWISE, Cast, user_ops
from ..linalg.assumptions import Assume
from ..linalg.blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from ..linalg.determinants import Cofactors, Det, SlogDet
from ..linalg.factorizations import QR, SVD, Cholesky, Eig, Eigh, Eigvals, Eigvalsh, SingularValues
from ..linalg.fourier import Fourier
from ..linalg.solving import Inverse, PseudoInverse, Solve, SolveTriangular
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
from ..networks.fixed_point import Requantize
from ..networks.functions import LogSoftmax, LogSumExp, Softmax
from ..networks.phases import ByPhase
from ..networks.pooling import MaxPool, MaxPoolGradient, SumPool
from ..networks.quantized import Dequantize, Quantize
from ..reductions.cumulative import CUMULATIVE, Cumulative
from ..reductions.reduce import REDUCTIONS, ArgReduce, Reduce
from ..reductions.sorting import ArgSort, Nonzero, OrderStatistics, SearchSorted, Sort, Unique, UniqueParts
from ..reductions.trees import TreeFold
from ..reductions.unbroadcasting import SumTo
from ..shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ..shapes.conditions import Check
from ..shapes.creation import Alloc, Arange, Eye
from ..shapes.diagonals import Diagonal, DiagonalMatrix, Triangle
from ..shapes.indexing import IncSubtensor, Subtensor
from ..shapes.joining import Join, RepeatedPositions
from ..shapes.lengths import MakeVector, Shape, ShapeI
from ..shapes.shape import BroadcastTo, DimShuffle, Reshape
from ..shapes.specify import CheckLengths, MaskedShape, SpecifyShape
from .tensor import TensorConstant, TensorVariable

Entry = Union[Op, Callable[..., Op]]
"""An op without fields, or what makes an op of its fields."""

_WITHOUT_FIELDS = (
    Alloc(), Arange(), BfloatDot(), BroadcastTo(), ByPhase(), ByteProduct(), Cholesky(), Cofactors(), Det(),
    Diagonal(),
    DiagonalMatrix(), Dot(), Dequantize(), Dot22(), Dot22Scalar(), Eig(), Eigh(), Eigvals(), Eigvalsh(), Gemm(),
    Gemv(), Ger(), Inverse(),
    LookUp(), MakeVector(), MatMul(), Nonzero(), PseudoInverse(),
    RepeatedPositions(), Reshape(), Shape(), SingularValues(), SlogDet(), SumTo(), OrderStatistics(),
)  # fmt: skip
_WITH_FIELDS = (
    QR, SVD, AdvancedIncSubtensor, AdvancedSubtensor, ArgSort, Assembled, Assume, Attention, BlockedConvolution,
    BlockedKernelGradient, BlockedPool, ByteConvolution, ByteSoftmax, Cast, ChannelSums, Check, CheckLengths, Cond,
    Convolution, ConvolutionPair, DimShuffle, Eye, Fourier, FromBlocks, Fused, FusedProduct, InPlace, IncSubtensor,
    Join, KernelGradient, LogSoftmax, LogSumExp, MaskedShape, MaxPool, MaxPoolGradient, NibbleProduct, PackedBfloatDot,
    PackedDot, Pipeline, Quantize, QuantizeInBlocks, Region, Requantize, Scan, SearchSorted, ShapeI, Softmax, Solve,
    SolveTriangular, Sort, SparseColumns, SparseDot, SpecifyShape, Subtensor, SumPool, ToBlocks, Top, TreeFold,
    Triangle, TwoOfFour, Unique, UniqueParts, While,
)  # fmt: skip


def vocabulary() -> Vocabulary:
    """Every op by its printed name, and how variables, constants and graphs are made."""
    ours = _vocabulary()
    theirs = user_ops()
    return Vocabulary({**ours.ops, **theirs}, TensorVariable, TensorConstant, FunctionGraph) if theirs else ours


@lru_cache(maxsize=1)
def _vocabulary() -> Vocabulary:
    ops: dict[str, Any] = dict(ELEMENTWISE)
    ops.update((name, partial(Reduce, scalar)) for name, scalar in REDUCTIONS.items())
    ops.update((name, partial(Cumulative, scalar)) for name, scalar in CUMULATIVE.items())
    ops.update((name, partial(ArgReduce, name)) for name in ("argmax", "argmin"))
    ops.update((op.name, op) for op in _WITHOUT_FIELDS)
    ops.update((kind.name, kind) for kind in _WITH_FIELDS)
    return Vocabulary(ops, TensorVariable, TensorConstant, FunctionGraph)
