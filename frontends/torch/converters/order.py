"""Sorting, the greatest elements, searching, running extrema."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops as T
from ....ops.core.tensor import constant
from ..dtypes import as_dtype
from ..symbols import lengths
from ..symbols import number as known
from ..table import Call, converter
from .elementwise import number


@converter("aten.sort.default", "aten.sort.stable")
def sort(call: Call, x: Any, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """NaN is the greatest number.  Equal elements keep their order, also where PyTorch does not promise it."""
    if call.node.target._schema.overload_name == "stable":
        dim, descending = call.node.kwargs.get("dim", -1), call.node.kwargs.get("descending", False)
    if x.ndim == 0:
        return x, T.zeros((), "int64")
    axis = dim % x.ndim
    order = T.argsort(x, axis, descending=descending)
    return T.take_along_axis(x, order, axis), order


@converter("aten.topk")
def topk(call: Call, x: Any, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if x.ndim == 0:
        return x, T.zeros((), "int64")
    return T.topk(x, known(k), axis=dim % x.ndim, largest=largest)


@converter("aten.kthvalue")
def kth_value(call: Call, x: Any, k: Any, dim: int = -1, keepdim: bool = False) -> Any:
    if x.ndim == 0:
        return x, T.zeros((), "int64")
    return _at_rank(x, known(k) - 1, dim % x.ndim, keepdim)


@converter("aten.median.dim", "aten.median.default")
def median(call: Call, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower of two middle elements; NaN if there is one."""
    whole = dim is None
    x = T.reshape(x, (-1,)) if whole or x.ndim == 0 else x
    axis = 0 if whole or dim is None else dim % x.ndim
    value, at = _at_rank(x, (lengths(x)[axis] - 1) // 2, axis, True)
    if x.type.kind == "f":
        unknown = T.isnan(x)
        some = T.any(unknown, axis=axis, keepdims=True)
        value = T.where(some, number(math.nan, x), value)
        at = T.where(some, T.argmax(unknown, axis=axis, keepdims=True), at)
    shape = [int(n) if type(n) is int else None for n in (call.value if whole else call.value[0]).shape]
    found = [v if keepdim and len(shape) == v.ndim else _without(v, axis) for v in (value, at)]
    return found[0] if whole else tuple(found)


@converter("aten.nanmedian.dim", "aten.nanmedian.default")
def nanmedian(call: Call, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower of the two middle elements that are no NaN; NaN where there are none."""
    whole = dim is None
    shape = call.value.shape if whole else call.value[0].shape
    x = T.reshape(x, (-1,)) if whole or x.ndim == 0 else x
    axis = 0 if whole or dim is None else dim % x.ndim
    count = T.sum(T.eq(x, x), axis=axis, keepdims=True)
    at = T.take_along_axis(T.argsort(x, axis), T.maximum(count - 1, 0) // 2, axis)
    found = [T.take_along_axis(x, at, axis), at]
    found = [v if keepdim and len(shape) == v.ndim else _without(v, axis) for v in found]
    return found[0] if whole else tuple(found)


def _running(extremum: Any, x: Any, dim: int) -> Any:
    """Return the running extremum, and the last place where it was met; from the first NaN on the place of the last."""
    if x.ndim == 0:
        return x, T.zeros((), "int64")
    axis = dim % x.ndim
    if x.dtype == "bool":
        values = as_dtype(T.accumulate(extremum, as_dtype(x, "uint8"), axis), "bool")
    else:
        values = T.accumulate(extremum, x, axis)
    met = T.eq(x, values)
    met = T.logical_or(met, T.isnan(x)) if x.type.kind == "f" else met
    place = T.reshape(T.arange(lengths(x)[axis]), [-1 if k == axis else 1 for k in range(x.ndim)])
    return values, T.accumulate(T.maximum, T.where(met, place, as_dtype(0, "int64")), axis)


@converter("aten.logcumsumexp")
def logcumsumexp(call: Call, x: Any, dim: int) -> Any:
    if x.type.kind == "c":
        return NotImplemented
    return x if x.ndim == 0 else as_dtype(T.accumulate(T.logaddexp, x, dim % x.ndim), call.dtype)


def _at_rank(x: Any, rank: Any, axis: int, keepdim: bool) -> tuple[Any, Any]:
    """Return the element of this rank in ascending order, and its place."""
    order = T.argsort(x, axis)
    at = order[(*(slice(None),) * axis, slice(rank, rank + 1))]
    found = T.take_along_axis(x, at, axis), at
    return found if keepdim else (_without(found[0], axis), _without(found[1], axis))


def _without(x: Any, axis: int) -> Any:
    return x[(*(slice(None),) * axis, 0)]


@converter("aten.searchsorted.Tensor")
def searchsorted(
    call: Call,
    x: Any,
    v: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    if x.ndim != 1:
        return NotImplemented
    x = x if sorter is None else x[as_dtype(sorter, "int64")]
    return as_dtype(T.searchsorted(x, v, side or ("right" if right else "left")), call.dtype)


@converter("aten.bucketize.Tensor")
def bucketize(call: Call, v: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    return as_dtype(T.searchsorted(boundaries, v, "right" if right else "left"), call.dtype)


@converter("aten.histc")
def histc(call: Call, x: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """Elements beyond the ends, and NaN, are not counted.  PyTorch looks for ends that are equal among the elements."""
    if x.dtype not in ("float32", "float64"):
        return NotImplemented
    low, high = np.asarray([min, max], x.dtype)
    if not (low < high and np.isfinite(high - low)):
        return NotImplemented
    x = T.ravel(x)
    place = T.searchsorted(constant(_least_of_bins(low, high, bins)), x, "right")
    counted = T.logical_and(T.ge(x, constant(low)), T.le(x, constant(high)))
    return as_dtype(T.bincount(T.where(counted, place, bins), length=bins), x.dtype)


def _least_of_bins(low: Any, high: Any, bins: int) -> np.ndarray:
    """Return the least element of each bin but the first, as PyTorch rounds: `(x - low) * bins / (high - low)`.

    An order of roundings is no part of an expression's meaning, so the ends are found by bisection, once.
    """
    kind = np.dtype(f"i{low.itemsize}")

    def ranked(words: np.ndarray) -> np.ndarray:
        """Return bits of floats as integers in the order of the floats, and such integers as bits."""
        return np.where(words < 0, np.iinfo(kind).min - words, words)

    first, last = (np.full(bins - 1, ranked(end.view(kind)), kind) for end in (low, high))
    for _ in range(8 * low.itemsize):
        middle = (first >> 1) + (last >> 1) + (first & last & 1)
        x = ranked(middle).view(low.dtype)
        inside = np.trunc((x - low) * low.dtype.type(bins) / (high - low)) >= np.arange(1, bins)
        first, last = np.where(inside, first, middle + 1), np.where(inside, middle, last)
    return ranked(last).view(low.dtype)


converter("aten.cummax")(lambda call, x, dim: _running(T.maximum, x, dim))
converter("aten.cummin")(lambda call, x, dim: _running(T.minimum, x, dim))


# --- distinct elements
@converter("aten._unique2", "aten._unique")
def unique(call: Call, x: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """In ascending order, as PyTorch gives them also where it promises none; each NaN is distinct."""
    found = T.unique(x, return_inverse=True, return_counts=True, equal_nan=x.type.kind != "f")
    return _asked(found, return_inverse, return_counts)[: len(call.value)]


@converter("aten.unique_dim")
def unique_dim(call: Call, x: Any, dim: int, sorted: bool = True, inverse: bool = False, counts: bool = False) -> Any:
    found = T.unique(x, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    return _asked(found, inverse, counts)


@converter("aten.unique_consecutive", "aten.unique_dim_consecutive")
def unique_consecutive(call: Call, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Of equal neighbours, or of equal slices along an axis that is given, the first one is kept."""
    names = [a.name for a in call.node.target._schema.arguments[1:]]
    given = dict(zip(names, args, strict=False)) | kwargs
    dim = given.get("dim")
    rows = T.reshape(x, (-1,)) if dim is None else T.moveaxis(x, dim, 0)
    count = lengths(rows)[0]
    unlike = T.ne(rows[1:], rows[:-1])
    unlike = T.any(unlike, axis=tuple(range(1, rows.ndim))) if rows.ndim > 1 else unlike
    begins = T.concatenate([T.ones((T.minimum(count, 1),), "bool"), unlike])
    at = T.nonzero(begins)[0]
    values = rows[at] if dim is None else T.moveaxis(rows[at], 0, dim)
    inverse = T.cumsum(as_dtype(begins, "int64"), 0) - 1
    inverse = T.reshape(inverse, lengths(x)) if dim is None else inverse
    ends = T.concatenate([at, T.reshape(T.cast(count, "int64"), (1,))])[1:]
    return _asked((values, inverse, ends - at), given.get("return_inverse"), given.get("return_counts"))


def _asked(found: Any, inverse: Any, counts: Any) -> tuple[Any, Any, Any]:
    """Return values, positions and counts, with empty vectors in the place of those that nobody asked for."""
    none = T.zeros((0,), "int64")
    return found[0], found[1] if inverse else none, found[2] if counts else none


@converter("aten.bincount")
def bincount(call: Call, x: Any, weights: Any = None, minlength: int = 0) -> Any:
    return as_dtype(T.bincount(x, weights, known(minlength)), call.dtype)
