"""The vocabulary: everything that builds an expression, under NumPy's names.

Users write `from arignote import ops as T`.
"""

# ruff: noqa: I001  (lines filled by hand, by subject)

# Tensors, elementwise ops, reductions
from .tensor import TensorConstant, TensorOp, TensorVariable, as_tensor, constant
from .elementwise import (
    ELEMENTWISE, Cast, Elementwise, Pointwise, abs, add, angle, arccos, arccosh, arcsin, arcsinh, arctan, arctan2,
    arctanh, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, cast, cbrt, ceil, clip, conj, copysign, cos, cosh,
    deg2rad, digamma, eq, erf, erfc, exp, exp2, expm1, fill, floor, floor_div, fmod, gamma, gammaln, ge, gt, hypot,
    identity, imag, isfinite, isinf, isnan, le, left_shift, log, log10, log1mexp, log1p, log2, logaddexp,
    logical_and, logical_not, logical_or, logical_xor, lt, maximum, minimum, mod, mul, ne, neg, polygamma, pow, rad2deg,
    real, reciprocal, right_shift, rint, sigmoid, sign, signbit, sin, sinh, softplus, sqrt, square, stop_gradient, sub,
    switch, tan, tanh, true_div, trunc,
)  # fmt: skip
from .cumulative import CUMULATIVE, Cumulative, cumprod, cumsum
from .functions import (
    absolute, acos, acosh, and_, around, asin, asinh, astype, atan, atan2, atanh, bitwise_invert,
    bitwise_left_shift, bitwise_right_shift, conjugate, degrees, div, divide, divmod, equal, expit, fabs,
    floor_divide, greater, greater_equal, inv, invert, less, less_equal, lgamma, multiply, negative, not_equal, or_,
    positive, power, psi, radians, relu, remainder, round, sgn, sqr, subtract, true_divide, where, xor,
)  # fmt: skip
from .interpret import evaluate, interpret
from .reduce import (
    REDUCTIONS, ArgReduce, Reduce, SumTo, all, any, argmax, argmin, max, min, prod, ptp, sum, unbroadcast,
)  # fmt: skip
from .shared import Container, SharedVariable, shared
from .statistics import mean, size, std, var
from .variables import col, matrix, row, scalar, tensor, tensor3, tensor4, tensor5, vector
from . import typed
from .typed import *  # noqa: F403  (the typed forms, all of them: fvector, dmatrix, lscalar, ...)

# Shapes, indexing, products, networks
from . import linalg, nn, random
from .assembled import Assembled
from .assumptions import Assume, assume
from .advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from .blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from .cond import Cond
from .convolution import Convolution, KernelGradient
from .creation import (
    Alloc, Arange, Eye, alloc, arange, empty, eye, full, full_like, linspace, ones, ones_like, zeros, zeros_like,
)  # fmt: skip
from .determinants import Det, SlogDet
from .diagonals import Diagonal, DiagonalMatrix, Triangle, diag, diagonal, kron, trace, tri, tril, triu
from .einsum import einsum
from .factorizations import QR, SVD, Cholesky, Eigh, Eigvalsh, SingularValues
from .fused import Fused, InPlace
from .fused_product import FusedProduct
from .getitem import getitem, inc_subtensor, scatter_add, set_subtensor, take, take_along_axis
from .indexing import IncSubtensor, Subtensor
from .join import Join, concatenate, flip, hstack, pad, repeat, roll, split, stack, tile, vstack
from .lengths import lengths_of
from .loops import Scan, While
from .nn import (
    LogSoftmax, LogSumExp, Softmax, binary_crossentropy, categorical_crossentropy, gelu, log_softmax, logsumexp,
    one_hot, sigmoid_crossentropy, silu, softmax, softmax_crossentropy,
)  # fmt: skip
from .pipeline import Pipeline
from .pooling import MaxPool, SumPool
from .products import dot, inner, matmul, outer, tensordot, vdot
from .shape import (
    BroadcastTo, DimShuffle, MakeVector, Reshape, Shape, ShapeI, broadcast_to, dim_to_tensor, dimshuffle,
    expand_dims, flatten, moveaxis, ravel, reshape, shape, squeeze, swapaxes, tensor_to_dim, transpose,
)  # fmt: skip
from .rows import Top
from .solving import Inverse, PseudoInverse, Solve, SolveTriangular
from .sorting import (
    ArgSort, Nonzero, SearchSorted, Sort, Unique, argsort, flatnonzero, nonzero, searchsorted, sort, unique,
)  # fmt: skip

__all__ = [
    "CUMULATIVE", "ELEMENTWISE", "QR", "REDUCTIONS", "SVD", "AdvancedIncSubtensor", "AdvancedSubtensor", "Alloc",
    "Arange", "ArgReduce", "ArgSort", "Assembled", "Assume", "BroadcastTo", "Cast", "Cholesky", "Cond", "Container",
    "Convolution", "Cumulative", "Det", "Diagonal", "DiagonalMatrix", "DimShuffle", "Dot", "Dot22", "Dot22Scalar",
    "Eigh", "Eigvalsh", "Elementwise", "Eye", "Fused", "FusedProduct", "Gemm", "Gemv", "Ger", "InPlace", "IncSubtensor",
    "Inverse", "Join", "KernelGradient", "LogSoftmax", "LogSumExp", "MakeVector", "MatMul", "MaxPool", "Nonzero",
    "Pipeline", "Pointwise", "PseudoInverse", "Reduce", "Reshape", "Scan", "SearchSorted", "Shape", "ShapeI",
    "SharedVariable", "SingularValues", "SlogDet", "Softmax", "Solve", "SolveTriangular", "Sort", "Subtensor",
    "SumPool", "SumTo", "TensorConstant", "TensorOp", "TensorVariable", "Top", "Triangle", "Unique", "While", "abs",
    "absolute", "acos", "acosh", "add", "all", "alloc", "and_", "angle", "any", "arange", "arccos", "arccosh", "arcsin",
    "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argsort", "around", "as_tensor", "asin", "asinh",
    "assume", "astype", "atan", "atan2", "atanh", "binary_crossentropy", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "broadcast_to", "cast",
    "categorical_crossentropy", "cbrt", "ceil", "clip", "col", "concatenate", "conj", "conjugate", "constant",
    "copysign", "cos", "cosh", "cumprod", "cumsum", "deg2rad", "degrees", "diag", "diagonal", "digamma",
    "dim_to_tensor", "dimshuffle", "div", "divide", "divmod", "dot", "einsum", "empty", "eq", "equal", "erf", "erfc",
    "evaluate", "exp", "exp2", "expand_dims", "expit", "expm1", "eye", "fabs", "fill", "flatnonzero", "flatten", "flip",
    "floor", "floor_div", "floor_divide", "fmod", "full", "full_like", "gamma", "gammaln", "ge", "gelu", "getitem",
    "greater", "greater_equal", "gt", "hstack", "hypot", "identity", "imag", "inc_subtensor", "inner", "interpret",
    "inv", "invert", "isfinite", "isinf", "isnan", "kron", "le", "left_shift", "lengths_of", "less", "less_equal",
    "lgamma", "linalg", "linspace", "log", "log1mexp", "log1p", "log2", "log10", "log_softmax", "logaddexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "lt", "matmul", "matrix", "max", "maximum",
    "mean", "min", "minimum", "mod", "moveaxis", "mul", "multiply", "ne", "neg", "negative", "nn", "nonzero",
    "not_equal", "one_hot", "ones", "ones_like", "or_", "outer", "pad", "polygamma", "positive", "pow", "power", "prod",
    "psi", "ptp", "rad2deg", "radians", "random", "ravel", "real", "reciprocal", "relu", "remainder", "repeat",
    "reshape", "right_shift", "rint", "roll", "round", "row", "scalar", "scatter_add", "searchsorted", "set_subtensor",
    "sgn", "shape", "shared", "sigmoid", "sigmoid_crossentropy", "sign", "signbit", "silu", "sin", "sinh", "size",
    "softmax", "softmax_crossentropy", "softplus", "sort", "split", "sqr", "sqrt", "square", "squeeze", "stack", "std",
    "stop_gradient", "sub", "subtract", "sum", "swapaxes", "switch", "take", "take_along_axis", "tan", "tanh", "tensor",
    "tensor3", "tensor4", "tensor5", "tensor_to_dim", "tensordot", "tile", "trace", "transpose", "tri", "tril", "triu",
    "true_div", "true_divide", "trunc", "unbroadcast", "unique", "var", "vdot", "vector", "vstack", "where", "xor",
    "zeros", "zeros_like",
]  # fmt: skip
__all__ += typed.__all__
