"""Means, variances and covariances: compositions of reductions, in the dtypes that NumPy computes them in."""

from __future__ import annotations

import functools
import math
from typing import Any

from ...graph import Variable, dtype_name
from ..core.checks import describe, normalize_axes, require_keepdims, shown
from ..core.namespace import T, classes
from ..core.promotion import result_type
from ..core.tensor import TensorVariable, as_tensor
from ..core.traced import axes_of_one
from ..core.typing import Axis, DTypeLike, LengthLike, TensorLike
from ..elementwise.records import cast
from ..shapes.conditions import checked
from ..shapes.specify import with_length, with_shape_of
from .reduce import mask_of

__all__ = ["average", "corrcoef", "cov", "mean", "size", "std", "var"]

_ACCUMULATOR = {"float16": "float32"}
"""Accumulator dtypes: sums are divided, and means summed, in a wider dtype."""


def mean(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False, *,
    where: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """The mean along `axis`: float64 for bools and integers, else x's dtype.

    `dtype`: what is summed in, and that of the result; `where`: a mask of the elements that count.  float16 is summed
    in float32, as in NumPy.  NaN where there are no elements.
    """
    require_keepdims(keepdims, "mean")
    x = as_tensor(x)
    if dtype is not None:
        x = cast(x, dtype)
    result = x.dtype if dtype is not None or x.type.kind in "fc" else "float64"
    x = cast(x, _ACCUMULATOR.get(result, result))
    if where is None:
        n = count(x, axis, "mean")
    else:
        n = T.sum(T.fill(x, mask_of("mean", x, where)), axis, keepdims=keepdims)
    total = T.sum(x, axis, dtype=x.dtype, keepdims=keepdims, where=where)
    return cast(divided(total, n) if total.type.kind in "fc" else total / n, result)


def var(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, ddof: float = 0, keepdims: bool = False, *,
    where: TensorLike | None = None, mean: TensorLike | None = None, correction: float | None = None,
) -> TensorVariable:
    """The mean of |x - mean(x)|**2 along `axis`, where the sum is divided by the count less `ddof`.

    `where`: a mask of the elements that count; `mean`: that of x, its axes kept, if it is known; `correction`: another
    name of `ddof`.  float64 for bools and integers; real for complex numbers.  NaN where count - ddof is not positive,
    and no error.
    """
    ddof = degrees("var", ddof, correction)
    require_inexact("var", dtype)
    require_keepdims(keepdims, "var")
    x = as_tensor(x)
    if dtype is not None or x.type.kind not in "fc":
        x = cast(x, dtype or "float64")
    if where is None:
        n = kept = count(x, axis, "var")
    else:
        kept, n = (T.sum(T.fill(x, mask_of("var", x, where)), axis, keepdims=keep) for keep in (True, keepdims))
    total = T.sum(x, axis, keepdims=True, where=where)
    center = divided(total, kept) if mean is None else within_shape(cast(as_tensor(mean), x.dtype), x)
    squares = T.sum(squared_modulus(x - center), axis, keepdims=keepdims, where=where)
    return divided(squares, T.maximum(n - ddof, 0) if ddof else n)


def within_shape(value: TensorVariable, x: TensorVariable) -> TensorVariable:
    """`value` broadcast to the shape of `x`.  Raises ValueError if it is longer, at run time else."""
    return T.broadcast_to(value, T.lengths_of(x)) if value.ndim else value


def degrees(what: str, ddof: float, correction: float | None) -> float:
    """`ddof` by either of its names.  Raises ValueError where both are given."""
    if ddof is None:
        raise TypeError(f"{what}: ddof must be a number, got None")
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError(f"{what}: ddof and correction say the same thing; give one of them")
    return correction


def divided(total: Any, n: LengthLike) -> TensorVariable:
    """total / n in the dtype of the total; in float32 where float16 could not hold n."""
    wide = _ACCUMULATOR.get(total.dtype, total.dtype)
    return cast(cast(total, wide) / cast(n, wide), total.dtype)


def squared_modulus(x: Variable) -> TensorVariable:
    """|x|**2, a real number."""
    return T.square(T.real(x)) + T.square(T.imag(x)) if x.type.kind == "c" else T.square(x)


def root_of_powers(total: Variable, power: float = 2) -> TensorVariable:
    """The root of a sum of powers; its derivative is 0 where the sum is 0, the least subgradient of a norm."""
    none = T.eq(total, 0)
    some = T.switch(none, T.constant(1, total.dtype), total)
    return T.switch(none, T.constant(0, total.dtype), T.sqrt(some) if power == 2 else T.pow(some, 1 / power))


def require_inexact(what: str, dtype: DTypeLike) -> None:
    """Raises TypeError for a dtype, if one is given, of bools or integers, which deviations are not."""
    if dtype is not None and dtype_name(dtype).startswith(("bool", "int", "uint")):
        raise TypeError(f"{what}: dtype must be one of floats or complex numbers, got {dtype_name(dtype)}")


def std(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, ddof: float = 0, keepdims: bool = False, *,
    where: TensorLike | None = None, mean: TensorLike | None = None, correction: float | None = None,
) -> TensorVariable:
    """The square root of `var`; its derivative is 0 where all elements are equal, as that of `abs` is at 0."""
    require_keepdims(keepdims, "std")
    return root_of_powers(var(x, axis, dtype, ddof, keepdims, where=where, mean=mean, correction=correction))


def size(x: TensorLike, axis: Axis = None) -> TensorVariable:
    """The number of elements of `x` along `axis` (of all for None) as an int64 scalar."""
    return count(as_tensor(x), axis, "size")


def count(x: Variable, axis: Axis, what: str) -> TensorVariable:
    """The number of elements along `axis` as an int64 scalar: a constant where the lengths are known."""
    axes = range(x.ndim) if axis is None else normalize_axes(axis, x.ndim, f"{what} of {describe(x)}")
    shape: tuple[int | None, ...] = x.type.shape
    known = [n for n in (shape[a] for a in axes) if n is not None]
    if len(known) == len(axes):
        return T.constant(math.prod(known), "int64")
    lengths = [classes.ShapeI(a)(x) if (n := shape[a]) is None else T.constant(n, "int64") for a in axes]
    return functools.reduce(T.mul, lengths)


def average(
    x: TensorLike, axis: Axis = None, weights: TensorLike | None = None, returned: bool = False, *,
    keepdims: bool = False,
) -> TensorVariable | tuple[TensorVariable, TensorVariable]:  # fmt: skip
    """The mean along `axis`, weighted by `weights`: of the shape of `x`, or of its lengths along `axis`.

    `returned`: a pair, of it and the sum of the weights.  Raises TypeError for weights of another rank, ValueError for
    other lengths, and ZeroDivisionError where weights add up to 0; at run time where these are known only then.
    """
    x = as_tensor(x)
    if weights is None:
        found = mean(x, axis, keepdims=keepdims)
        return (found, T.fill(found, cast(count(x, axis, "average"), found.dtype))) if returned else found
    w = as_tensor(weights)
    axes = normalize_axes(tuple(range(x.ndim)) if axis is None else axis, x.ndim, f"average of {describe(x)}")
    if w.ndim != x.ndim:
        if axis is None or w.ndim != len(axes):
            raise TypeError(
                f"average: the weights must have the shape of {describe(x)} or of its lengths along the axes, got "
                f"{describe(w)}"
            )
        for k, place in enumerate(axes):
            w = with_length(w, k, T.lengths_of(x)[place], "average: weights")
        w = T.dimshuffle(w, *(axes.index(k) if k in axes else "x" for k in range(x.ndim)))
    else:
        w = with_shape_of(w, x, "average: weights")
    dtype = result_type([x.dtype, w.dtype, *(["float64"] if x.type.kind not in "fc" else [])])
    x, w = cast(x, dtype), T.fill(x, cast(w, dtype))
    total = T.sum(w, axis, keepdims=keepdims)
    found = T.sum(x * w, axis, keepdims=keepdims) / total
    found = checked(found, T.ne(total, 0), "average: the weights must not add up to 0", error=ZeroDivisionError)
    return (found, total) if returned else found


# --- several quantities


def cov(
    m: TensorLike, y: TensorLike | None = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: TensorLike | None = None, aweights: TensorLike | None = None, *, dtype: DTypeLike = None,
) -> TensorVariable:  # fmt: skip
    """The covariances of the rows of `m` (of its columns without `rowvar`) and of `y`; a scalar for one row.

    A matrix whose number of rows is known only at run time has a matrix of covariances, though it may have one row.

    Sums of products are divided by the number of observations less `ddof`: 1, or 0 with `bias`.  `fweights`: how often
    each observation counts, integers; `aweights`: the weight of each, numbers.  Neither may be negative.  `dtype`: what
    is computed in, at least float64 unless given.
    """
    require_inexact("cov", dtype)
    parts = [T.reshape(p, (1, -1)) if p.ndim < 2 else p if rowvar else p.T for p in map(as_tensor, (m, *_given(y)))]
    if any(p.ndim > 2 for p in parts):
        raise ValueError(f"cov takes vectors and matrices, got {describe(as_tensor(m))}")
    x = T.concatenate(parts, axis=0) if y is not None else parts[0]
    x = cast(x, result_type([x.dtype, "float64"]) if dtype is None else dtype)
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"cov: ddof must be an integer, got {shown(ddof)}")
    ddof = int(not bias) if ddof is None else int(ddof)
    n = T.lengths_of(x)[1]
    given = [_weights(w, n, x, name) for w, name in ((fweights, "fweights"), (aweights, "aweights")) if w is not None]
    if given:
        weights = math.prod(given[1:], start=given[0])
        total = checked(T.sum(weights), T.ne(T.sum(weights), 0), "cov: the weights must not add up to 0",
                        error=ZeroDivisionError)  # fmt: skip
        deviation = x - T.sum(x * weights, axis=1, keepdims=True) / total
        n = total - ddof * (1 if aweights is None else T.sum(weights * given[-1]) / total)
        found = T.dot(deviation, T.conj(deviation * weights).T)
    else:
        deviation = x - mean(x, axis=1, keepdims=True)
        n = T.sub(n, ddof)
        found = T.dot(deviation, T.conj(deviation).T)
    found = divided(found, T.maximum(n, 0))
    return T.reshape(found, ()) if axes_of_one(found) == [0, 1] else found


def _weights(weights: Any, n: Any, x: TensorVariable, name: str) -> TensorVariable:
    """Return the weights of `n` observations in the real dtype of `x`, checked."""
    w = as_tensor(weights)
    if w.ndim != 1:
        raise ValueError(f"cov: {name} must be a vector, got {describe(w)}")
    whole, w = w.type.kind in "biu", cast(w, T.real(x).dtype)
    if name == "fweights" and not whole:
        w = checked(w, T.all(T.eq(w, T.round(w))), "cov: fweights must be integers", error=TypeError)
    w = checked(w, T.all(T.ge(w, 0)), f"cov: {name} must not be negative")
    return with_length(w, 0, n, f"cov: {name}, one for each observation")


def _given(y: Any) -> tuple[TensorVariable, ...]:
    return () if y is None else (y,)


def corrcoef(
    x: TensorLike, y: TensorLike | None = None, rowvar: bool = True, *, dtype: DTypeLike = None
) -> TensorVariable:
    """The correlation coefficients of the rows of `x` (of its columns without `rowvar`) and of `y`; see `cov`."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = T.sqrt(T.real(T.diag(c)))
    found = c / spread[:, None] / spread[None, :]
    return T.clip(found, -1, 1) if found.type.kind == "f" else found
