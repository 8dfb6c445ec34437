"""Means and variances: compositions of reductions, in the dtypes that NumPy computes them in."""

from __future__ import annotations

import functools
import math
from typing import Any

from .. import ops as T  # the namespace; read when a function is called
from .checks import describe, normalize_axes, require_keepdims
from .elementwise import cast
from .tensor import as_tensor

_ACCUMULATOR = {"float16": "float32"}
"""Where sums are divided in a wider dtype, and means are summed in it."""


def mean(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The mean along `axis`: float64 for bools and integers, else x's dtype.

    float16 is summed in float32, as in NumPy.  NaN where there are no elements.
    """
    require_keepdims(keepdims, "mean")
    x = as_tensor(x)
    if dtype is not None:
        x = cast(x, dtype)
    result = x.dtype if x.type.kind in "fc" else "float64"
    x = cast(x, _ACCUMULATOR.get(result, result))
    return cast(_divided(T.sum(x, axis, keepdims=keepdims), count(x, axis, "mean")), result)


def var(x: Any, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The mean of |x - mean(x)|**2 along `axis`, where the sum is divided by the count less `ddof`.

    float64 for bools and integers; real for complex numbers.  NaN where count - ddof is not positive, and no error.
    """
    require_keepdims(keepdims, "var")
    x = as_tensor(x)
    if dtype is not None or x.type.kind not in "fc":
        x = cast(x, dtype or "float64")
    n = count(x, axis, "var")
    deviation = x - _divided(T.sum(x, axis, keepdims=True), n)
    squares = T.sum(_squared_modulus(deviation), axis, keepdims=keepdims)
    return _divided(squares, T.maximum(n - ddof, 0) if ddof else n)


def _divided(total: Any, n: Any) -> Any:
    """total / n in the dtype of the total; in float32 where float16 could not hold n."""
    wide = _ACCUMULATOR.get(total.dtype, total.dtype)
    return cast(cast(total, wide) / cast(n, wide), total.dtype)


def _squared_modulus(x: Any) -> Any:
    return T.square(T.real(x)) + T.square(T.imag(x)) if x.type.kind == "c" else T.square(x)


def std(x: Any, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The square root of `var`."""
    require_keepdims(keepdims, "std")
    return T.sqrt(var(x, axis, dtype, ddof, keepdims))


def size(x: Any) -> Any:
    """The number of elements of `x` as an int64 scalar."""
    return count(as_tensor(x), None, "size")


def count(x: Any, axis: Any, what: str) -> Any:
    """The number of elements along `axis` as an int64 scalar: a constant where the lengths are known."""
    axes = range(x.ndim) if axis is None else normalize_axes(axis, x.ndim, f"{what} of {describe(x)}")
    shape: tuple[int | None, ...] = x.type.shape
    known = [shape[a] for a in axes if shape[a] is not None]
    if len(known) == len(axes):
        return T.constant(math.prod(known), "int64")
    lengths = [T.ShapeI(a)(x) if shape[a] is None else T.constant(shape[a], "int64") for a in axes]
    return functools.reduce(T.mul, lengths)
