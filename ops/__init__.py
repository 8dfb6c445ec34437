"""The vocabulary: all functions that build expressions, under NumPy's names.

Users write `from arignote import ops as T`.

Foundations:

    tensor, variables, typed, shared, assigned   variables, inputs, shared variables, names by assignment
    typing, signatures, keywords, checks         types of arguments, signatures, NumPy's keywords, checks and messages
    promotion, operands, compared, at            dtypes as in NumPy 2, operands, `==`, `x.at[...]`
    operators, tracing, traced, call_lengths     operators, and what `ag.jit` asks of variables while it traces
    numpy_calls                                  NumPy's functions called on variables
    interpret, vocabulary, latex, code_digest    NumPy's meaning of a graph, ops by name, formulas, digests of functions

Elementwise ops:

    pointwise, casting, c_forms                  the base classes, casts, C as plain data
    elementwise, elementwise_arithmetic, elementwise_exponential, elementwise_angles, elementwise_logic,
    elementwise_parts                            all ops, one record each
    functions, special, user_ops                 aliases and compositions, functions that NumPy lacks, ops of users
    derivatives, backward, costs                 derivatives, reverse accumulation, costs on a target

Shapes and parts:

    lengths, shape, specify, slices              lengths as values, axes and reshapes, promised lengths, slices
    conditions                                   conditions on values, checked at run time
    creation, joining, padding, arranging        new arrays, concatenation, borders, NumPy's further layouts
    editing                                      parts put in and left out, blocks
    indexing, advanced_indexing, getitem         slices and integers, arrays of integers, `x[...]`
    distinct                                     indices that name each element once
    diagonals, windows                           diagonals and triangles, windows over axes

Computation:

    reduce, unbroadcasting, statistics, cumulative, counting, quantiles, not_a_number, sampled    reductions
    sorting, selection, sets, trees              order and search, sets of numbers, decision trees
    polynomials, signal_windows                  polynomials by coefficients, windows of signals
    blas, packed_dot, sparse_dot, products, einsum, linalg   products of matrices, NumPy's names for them
    attention                                    a softmax of products times values, as one op
    matrix_ops, solving, factorizations, determinants, limits, assumptions    linear algebra, promises about matrices
    fourier, fft                                 Fourier transforms, NumPy's names for them
    convolution, pooling, weights, nn, convolution_pair, channel_sums   networks
    blocked, blocked_gradient, blocked_pool      networks with channels in blocks
    phases, quantized, byte_sums, byte_tables, nibbles    values that differ in training and inference; few bits
    quantized_blocks                             images as bytes in blocks of channels
    random, draws, draw_parameters               streams of random numbers, their states, conditions on parameters
    sparse_columns, two_of_four, bfloats         products with zeros along the sum, and of bfloat16

Ops made of ops:

    fused, fused_product, pipeline, assembled, row_passes    groups for one kernel, and passes over rows
    region                                                   a part of a graph that another engine runs
    fixed_point                                              sums of integers scaled without floats
    scan_ops, cond, laziness                                 loops, branches, work moved into branches
    batching, batching_loops, batching_convolutions, examples    rules of `ag.vmap`
"""

# ruff: noqa: I001  (lines filled by hand, by subject)

from typing import TYPE_CHECKING as _TYPE_CHECKING

# Tensors, elementwise ops, reductions
from .core.tensor import TensorConstant, TensorOp, TensorVariable, as_tensor, constant
from .core.tensor import TracedVariable as TracedVariable
from .elementwise import (
    angles as elementwise_angles,
    arithmetic as elementwise_arithmetic,
    exponential as elementwise_exponential,
    logic as elementwise_logic,
    parts as elementwise_parts,
)
from .elementwise.records import ELEMENTWISE, Cast, Elementwise, Pointwise, cast
from .elementwise.angles import *  # noqa: F403  (the elementwise ops, by subject)
from .elementwise.arithmetic import *  # noqa: F403
from .elementwise.exponential import *  # noqa: F403
from .elementwise.logic import *  # noqa: F403
from .elementwise.parts import *  # noqa: F403
from .reductions.cumulative import (
    CUMULATIVE, Cumulative, cumprod, cumsum, cumulative_prod, cumulative_sum,
)  # fmt: skip
from .elementwise.functions import (
    absolute, acos, acosh, allclose, and_, around, asin, asinh, astype, atan, atan2, atanh, bitwise_invert,
    bitwise_left_shift, bitwise_right_shift, choose, conjugate, copy, degrees, div, divide, divmod, equal, expit,
    fabs, fix, float_power, floor_divide, fmax, fmin, greater, greater_equal, heaviside, inv, invert, isclose,
    iscomplex, isin, isneginf, isposinf, isreal, less, less_equal, lgamma, logaddexp2, modf, multiply, ndim,
    negative, not_equal, or_, packbits, piecewise, positive, power, psi, radians, relu, remainder, round, select,
    sgn, sinc, sqr, subtract, true_divide, unpackbits, where, xor,
)  # fmt: skip
from .core.interpret import evaluate, interpret
from .reductions.reduce import REDUCTIONS, ArgReduce, Reduce, all, amax, amin, any, argmax, argmin, max, min, prod, ptp, sum
from .reductions.unbroadcasting import SumTo, unbroadcast
from .core.shared import Container, SharedVariable, shared
from .reductions.statistics import average, corrcoef, cov, mean, size, std, var
from .reductions.quantiles import median, percentile, quantile
from .lowered.byte_sums import ByteConvolution, ByteProduct
from .lowered.byte_tables import ByteSoftmax, LookUp
from .lowered.attention import Attention
from .lowered.nibbles import NibbleProduct
from .networks.quantized import Dequantize, Quantize, dequantize, dynamic_quantize, quantize
from .lowered.quantized_blocks import QuantizeInBlocks
from .networks.fixed_point import Requantize, requantize
from .reductions.not_a_number import (
    nan_to_num, nanargmax, nanargmin, nancumprod, nancumsum, nanmax, nanmean, nanmedian, nanmin, nanpercentile,
    nanprod, nanquantile, nanstd, nansum, nanvar,
)  # fmt: skip
from .core.variables import col, matrix, row, scalar, tensor, tensor3, tensor4, tensor5, vector
from .core import typed
from .core.typed import *  # noqa: F403  (the typed forms, all of them: fvector, dmatrix, lscalar, ...)

# Shapes, indexing, products, networks
from .linalg import transforms as fft, functions as linalg
from .networks import functions as nn
from .random import streams as random
from .shapes.arranging import (
    append, argwhere, atleast_1d, atleast_2d, atleast_3d, broadcast_arrays, column_stack, compress, concat,
    diag_indices, dstack, extract, fliplr, flipud, hsplit, indices, ix_, matrix_transpose, meshgrid, permute_dims,
    ravel_multi_index, rollaxis, rot90, tril_indices, tril_indices_from, triu_indices, triu_indices_from,
    unravel_index, unstack, vsplit,
)  # fmt: skip
from .lowered.assembled import Assembled
from .linalg.assumptions import Assume, assume
from .shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from .lowered.bfloats import BfloatDot, PackedBfloatDot
from .linalg.blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from .control.cond import Cond
from .lowered.blocked_pool import BlockedPool
from .lowered.blocked import BlockedConvolution, FromBlocks, ToBlocks
from .lowered.blocked_gradient import BlockedKernelGradient
from .networks.convolution import Convolution, KernelGradient
from .reductions.counting import (
    bincount, count_nonzero, digitize, histogram, histogram2d, histogram_bin_edges, histogramdd,
)  # fmt: skip
from .shapes.creation import (
    Alloc, Arange, Eye, alloc, arange, empty, empty_like, eye, full, full_like, geomspace, identity, linspace, logspace,
    ones, ones_like, zeros, zeros_like,
)  # fmt: skip
from .linalg.determinants import Cofactors, Det, SlogDet
from .shapes.diagonals import (
    Diagonal, DiagonalMatrix, Triangle, diag, diagflat, diagonal, kron, trace, tri, tril, triu,
)  # fmt: skip
from .shapes.editing import array_split, block, delete, dsplit, insert, resize
from .linalg.einsum import einsum
from .linalg.factorizations import QR, SVD, Cholesky, Eig, Eigh, Eigvals, Eigvalsh, SingularValues
from .linalg.fourier import Fourier
from .lowered.fused import Fused, InPlace
from .lowered.channel_sums import ChannelSums
from .lowered.convolution_pair import ConvolutionPair
from .lowered.fused_product import FusedProduct
from .shapes.getitem import getitem, inc_subtensor, scatter_add, set_subtensor, take, take_along_axis
from .shapes.indexing import IncSubtensor, Subtensor
from .shapes.joining import (
    Join, RepeatedPositions, concatenate, flip, hstack, join, repeat, roll, split, stack, tile, vstack,
)  # fmt: skip
from .shapes.lengths import lengths_of
from .control.scan_ops import Scan, While
from .networks.functions import (
    LogSoftmax, LogSumExp, Softmax, binary_crossentropy, categorical_crossentropy, gelu, log_softmax, logsumexp,
    one_hot, sigmoid_crossentropy, silu, softmax, softmax_crossentropy,
)  # fmt: skip
from .shapes.padding import pad
from .reductions.polynomials import polyadd, polyder, polyfit, polyint, polysub
from .networks.phases import ByPhase
from .lowered.packed_dot import PackedDot
from .lowered.pipeline import Pipeline
from .networks.pooling import MaxPool, MaxPoolGradient, SumPool
from .linalg.products import dot, inner, matmul, matvec, outer, tensordot, vdot, vecdot, vecmat
from .reductions.sets import (
    intersect1d, setdiff1d, setxor1d, union1d, unique_all, unique_counts, unique_inverse, unique_values,
)  # fmt: skip
from .shapes.shape import (
    BroadcastTo, DimShuffle, MakeVector, Reshape, Shape, ShapeI, broadcast_to, dim_to_tensor, dimshuffle,
    expand_dims, flatten, moveaxis, ravel, reshape, shape, squeeze, swapaxes, tensor_to_dim, transpose,
)  # fmt: skip
from .lowered.row_passes import Top
from .reductions.sampled import (
    convolve, correlate, cross, diff, ediff1d, gradient, interp, polyval, trapezoid, unwrap, vander,
)  # fmt: skip
from .reductions.signal_windows import bartlett, blackman, hamming, hanning, kaiser
from .linalg.solving import Inverse, PseudoInverse, Solve, SolveTriangular
from .lowered.sparse_columns import SparseColumns
from .lowered.sparse_dot import SparseDot
from .shapes.conditions import Check
from .shapes.specify import CheckLengths, MaskedShape, SpecifyShape, specify_shape
from .reductions.sorting import (
    ArgSort, Nonzero, OrderStatistics, SearchSorted, Sort, Unique, UniqueParts, argpartition, argsort, flatnonzero,
    lexsort, nonzero, partition, searchsorted, sort, sort_complex, unique,
)  # fmt: skip
from .reductions.trees import TreeFold
from .lowered.two_of_four import TwoOfFour

# NumPy's keywords for all of these functions
from .core.keywords import with_numpys_keywords

with_numpys_keywords(globals(), "")

if not _TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        owner = next((m for m in (nn, linalg, fft, random) if name in m.__all__), None)
        if owner is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        said = f"module {__name__!r} has no attribute {name!r}; it is T.{owner.__name__.rpartition('.')[2]}.{name}"
        raise AttributeError(said, name=name, obj=None)  # without a guess by Python


__all__ = [
    "CUMULATIVE", "ELEMENTWISE", "QR", "REDUCTIONS", "SVD", "AdvancedIncSubtensor", "AdvancedSubtensor", "Alloc",
    "Arange", "ArgReduce", "ArgSort", "Assembled", "Assume", "Attention", "BfloatDot", "BlockedConvolution",
    "BlockedKernelGradient", "BlockedPool", "BroadcastTo", "ByPhase", "ByteConvolution", "ByteProduct", "ByteSoftmax",
    "Cast", "ChannelSums", "Check", "CheckLengths", "Cholesky", "Cofactors", "Cond", "Container", "Convolution",
    "ConvolutionPair", "Cumulative", "Dequantize", "Det", "Diagonal", "DiagonalMatrix", "DimShuffle", "Dot", "Dot22",
    "Dot22Scalar", "Eig", "Eigh", "Eigvals", "Eigvalsh", "Elementwise", "Eye", "Fourier", "FromBlocks", "Fused",
    "FusedProduct", "Gemm", "Gemv", "Ger",
    "InPlace", "IncSubtensor", "Inverse", "Join", "KernelGradient", "LogSoftmax", "LogSumExp", "LookUp", "MakeVector",
    "MaskedShape", "MatMul", "MaxPool", "MaxPoolGradient", "NibbleProduct", "Nonzero", "OrderStatistics",
    "PackedBfloatDot", "PackedDot", "Pipeline", "Pointwise", "PseudoInverse", "Quantize", "QuantizeInBlocks", "Reduce",
    "RepeatedPositions", "Requantize", "Reshape", "Scan", "SearchSorted", "Shape", "ShapeI", "SharedVariable",
    "SingularValues", "SlogDet", "Softmax", "Solve", "SolveTriangular", "Sort", "SparseColumns", "SparseDot",
    "SpecifyShape", "Subtensor", "SumPool", "SumTo", "TensorConstant", "TensorOp", "TensorVariable", "ToBlocks",
    "Top", "TreeFold", "Triangle", "TwoOfFour", "Unique", "UniqueParts", "While",
    "absolute", "acos", "acosh", "all", "allclose",
    "alloc", "amax", "amin", "and_", "any", "append", "arange", "argmax", "argmin", "argpartition", "argsort",
    "argwhere", "around", "array_split", "as_tensor", "asin", "asinh", "assume", "astype", "atan", "atan2", "atanh",
    "atleast_1d", "atleast_2d", "atleast_3d", "average", "bartlett", "binary_crossentropy", "bincount",
    "bitwise_invert", "bitwise_left_shift", "bitwise_right_shift", "blackman", "block", "broadcast_arrays",
    "broadcast_to", "cast", "categorical_crossentropy", "choose", "col", "column_stack", "compress", "concat",
    "concatenate", "conjugate", "constant", "convolve", "copy", "corrcoef", "correlate", "count_nonzero", "cov",
    "cross", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "degrees", "delete", "dequantize", "diag",
    "diag_indices", "diagflat", "diagonal", "diff", "digitize", "dim_to_tensor", "dimshuffle", "div", "divide",
    "divmod", "dot", "dsplit", "dstack", "dynamic_quantize", "ediff1d", "einsum", "empty", "empty_like", "equal",
    "evaluate", "expand_dims", "expit", "extract", "eye", "fabs", "fft", "fix", "flatnonzero", "flatten", "flip",
    "fliplr", "flipud", "float_power", "floor_divide", "fmax", "fmin", "full", "full_like", "gelu", "geomspace",
    "getitem", "gradient", "greater", "greater_equal", "hamming", "hanning", "heaviside", "histogram", "histogram2d",
    "histogram_bin_edges", "histogramdd", "hsplit", "hstack", "identity", "inc_subtensor", "indices", "inner",
    "insert", "interp", "interpret", "intersect1d", "inv", "invert", "isclose", "iscomplex", "isin", "isneginf",
    "isposinf", "isreal", "ix_", "join", "kaiser", "kron", "lengths_of", "less", "less_equal", "lexsort", "lgamma",
    "linalg", "linspace", "log_softmax", "logaddexp2", "logspace", "logsumexp", "matmul", "matrix",
    "matrix_transpose", "matvec", "max", "mean", "median", "meshgrid", "min", "modf", "moveaxis", "multiply",
    "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "ndim", "negative", "nn", "nonzero",
    "not_equal", "one_hot", "ones", "ones_like", "or_", "outer", "packbits", "pad", "partition", "percentile",
    "permute_dims", "piecewise", "polyadd", "polyder", "polyfit", "polyint", "polysub", "polyval", "positive",
    "power", "prod", "psi", "ptp", "quantile", "quantize", "radians", "random", "ravel", "ravel_multi_index", "relu",
    "remainder", "repeat", "requantize", "reshape", "resize", "roll", "rollaxis", "rot90", "round", "row", "scalar",
    "scatter_add", "searchsorted", "select", "set_subtensor", "setdiff1d", "setxor1d", "sgn", "shape", "shared",
    "sigmoid_crossentropy", "silu", "sinc", "size", "softmax", "softmax_crossentropy", "sort", "sort_complex",
    "specify_shape", "split", "sqr", "squeeze", "stack", "std", "subtract", "sum", "swapaxes", "take",
    "take_along_axis", "tensor", "tensor3", "tensor4", "tensor5", "tensor_to_dim", "tensordot", "tile", "trace",
    "transpose", "trapezoid", "tri", "tril", "tril_indices", "tril_indices_from", "triu", "triu_indices",
    "triu_indices_from", "true_divide", "unbroadcast", "union1d", "unique", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "unpackbits", "unravel_index", "unstack", "unwrap", "vander", "var", "vdot",
    "vecdot", "vecmat", "vector", "vsplit", "vstack", "where", "xor", "zeros", "zeros_like",
]  # fmt: skip
__all__ += typed.__all__
__all__ += elementwise_angles.__all__
__all__ += elementwise_arithmetic.__all__
__all__ += elementwise_exponential.__all__
__all__ += elementwise_logic.__all__
__all__ += elementwise_parts.__all__
