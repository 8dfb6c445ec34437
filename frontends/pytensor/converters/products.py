"""Products of vectors and matrices, with the forms of BLAS."""

from __future__ import annotations

from typing import Any

from pytensor.tensor import blas
from pytensor.tensor.math import Dot

from .... import ops as T
from ....ops.shapes.specify import with_length
from ..table import Call, converter
from ..versions import classes
from .scalars import as_dtype

BATCHES = "the number of matrices of a BatchedDot"
"""Subject of the error for two batches of other lengths."""


@converter(blas.BatchedDot)
def batched_dot(call: Call, a: Any, b: Any) -> Any:
    a, b = (as_dtype(x, call.dtypes[0]) for x in (a, b))
    return T.matmul(a, with_length(b, 0, T.lengths_of(a)[0], BATCHES))


@converter(Dot, blas.Dot22)
def dot(call: Call, a: Any, b: Any) -> Any:
    a, b = (as_dtype(x, call.dtypes[0]) for x in (a, b))
    return T.dot(a, b)


@converter(blas.Dot22Scalar)
def dot22_scalar(call: Call, a: Any, b: Any, factor: Any) -> Any:
    return T.dot(a, b) * factor


@converter(blas.Gemm, blas.Gemv)
def gemm(call: Call, target: Any, alpha: Any, a: Any, b: Any, beta: Any) -> Any:
    return beta * target + alpha * T.dot(a, b)


@converter(*classes(blas, "Ger"))
def ger(call: Call, target: Any, alpha: Any, x: Any, y: Any) -> Any:
    return target + alpha * T.outer(x, y)
