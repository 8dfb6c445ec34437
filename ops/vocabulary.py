"""The ops by their printed names, by which `parse` reads a graph back."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Union

from ..graph import FunctionGraph, Op, Vocabulary
from .advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from .assembled import Assembled
from .assumptions import Assume
from .attention import Attention
from .bfloats import BfloatDot, PackedBfloatDot
from .blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from .blocked import BlockedConvolution, FromBlocks, ToBlocks
from .blocked_gradient import BlockedKernelGradient
from .blocked_pool import BlockedPool
from .byte_sums import ByteConvolution, ByteProduct
from .byte_tables import ByteSoftmax, LookUp
from .channel_sums import ChannelSums
from .cond import Cond
from .conditions import Check
from .convolution import Convolution, KernelGradient
from .convolution_pair import ConvolutionPair
from .creation import Alloc, Arange, Eye
from .cumulative import CUMULATIVE, Cumulative
from .determinants import Cofactors, Det, SlogDet
from .diagonals import Diagonal, DiagonalMatrix, Triangle
from .elementwise import ELEMENTWISE, Cast, user_ops
from .factorizations import QR, SVD, Cholesky, Eig, Eigh, Eigvals, Eigvalsh, SingularValues
from .fixed_point import Requantize
from .fourier import Fourier
from .fused import Fused, InPlace
from .fused_product import FusedProduct
from .indexing import IncSubtensor, Subtensor
from .joining import Join, RepeatedPositions
from .lengths import MakeVector, Shape, ShapeI
from .nibbles import NibbleProduct
from .nn import LogSoftmax, LogSumExp, Softmax
from .packed_dot import PackedDot
from .phases import ByPhase
from .pipeline import Pipeline
from .pooling import MaxPool, MaxPoolGradient, SumPool
from .quantized import Dequantize, Quantize
from .quantized_blocks import QuantizeInBlocks
from .reduce import REDUCTIONS, ArgReduce, Reduce
from .region import Region
from .row_passes import Top
from .scan_ops import Scan, While
from .shape import BroadcastTo, DimShuffle, Reshape
from .solving import Inverse, PseudoInverse, Solve, SolveTriangular
from .sorting import ArgSort, Nonzero, OrderStatistics, SearchSorted, Sort, Unique, UniqueParts
from .sparse_columns import SparseColumns
from .sparse_dot import SparseDot
from .specify import CheckLengths, MaskedShape, SpecifyShape
from .tensor import TensorConstant, TensorVariable
from .trees import TreeFold
from .two_of_four import TwoOfFour
from .unbroadcasting import SumTo

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
