"""Medians and quantiles: elements by position in sorted order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...graph import Variable
from ..core.checks import describe, normalize_axes, require_keepdims
from ..core.namespace import T
from ..core.operands import weak_kind, with_dtype
from ..core.promotion import result_type
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import Axis, TensorLike
from ..elementwise.records import cast
from ..shapes.conditions import between
from ..shapes.shape import axes_made_one
from .sorting import OrderStatistics

__all__ = ["median", "percentile", "quantile"]


def as_lines(
    what: str, x: Variable, axis: Axis, keepdims: bool
) -> tuple[Variable, Callable[[TensorVariable], TensorVariable]]:
    """Return `x` with `axis` merged into the last axis, and the function that restores dropped axes for `keepdims`."""
    everything = tuple(range(x.ndim))
    axes = everything if axis is None else tuple(sorted(normalize_axes(axis, x.ndim, f"{what} of {describe(x)}")))
    kept = [k for k in everything if k not in axes]
    lines = axes_made_one(x, axes)
    if not keepdims:
        return lines, lambda y: y
    return lines, lambda y: T.expand_dims(y, tuple(k + y.ndim - len(kept) for k in axes))


def median(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """The middle element along `axis`, or the mean of the two in the middle; NaN if there is one.

    float64 for bools and integers, else x's dtype.
    """
    require_keepdims(keepdims, "median")
    lines, restored = as_lines("median", as_tensor(x), axis, keepdims)
    n: Any = T.lengths_of(lines)[-1]
    places = T.arange(T.maximum(n - 1, 0) // 2, T.minimum(n // 2 + 1, n))
    found = T.mean(OrderStatistics()(lines, places), axis=-1)
    if lines.type.kind in "fc":
        found = T.switch(T.any(T.isnan(lines), axis=-1), with_dtype(as_tensor(math.nan), found.dtype), found)
    return restored(found)


def middle(low: TensorLike, high: TensorLike) -> TensorVariable:
    """The mean of two."""
    return T.mean(T.stack([low, high]), axis=0)


def _elements_at(lines: Any, places: Any) -> TensorVariable:
    """Return the elements at `places` of the sorted last axis: the axes of `places`, then the others."""
    found = T.moveaxis(OrderStatistics()(lines, T.ravel(places)), -1, 0)
    return T.reshape(found, (*T.lengths_of(places), *T.lengths_of(found)[1:]))


_DISCRETE = ("inverted_cdf", "closest_observation")
_CORRECTED = {
    "interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0), "normal_unbiased": (3 / 8.0, 3 / 8.0),
}  # fmt: skip
"""The corrections alpha and beta of Hyndman and Fan, Sample Quantiles in Statistical Packages (1996)."""
_METHODS = ("linear", "lower", "higher", "nearest", "midpoint", *_DISCRETE, "averaged_inverted_cdf", *_CORRECTED)


def quantile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> TensorVariable:
    """The numbers below which the shares `q` of the elements along `axis` lie; NaN if there is one.

    `q`: a number from 0 to 1 or an array of them, whose axes come first in the result.  `method`, where that is between
    two elements: "linear", "lower", "higher", "nearest" or "midpoint"; or, as Hyndman and Fan define them,
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "median_unbiased" or "normal_unbiased".  Raises ValueError for other q, at run time where these are known only then,
    and IndexError where there are no elements.
    """
    return _quantile("quantile", as_tensor(x), q, axis, method, keepdims, 1)


def percentile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> TensorVariable:
    """`quantile` of q / 100."""
    return _quantile("percentile", as_tensor(x), q, axis, method, keepdims, 100)


def _quantile(what: str, x: Any, q: Any, axis: Any, method: str, keepdims: bool, whole: int) -> TensorVariable:
    share, dtype = _checked(what, x, q, method, keepdims, whole)
    lines, restored = as_lines(what, x, axis, keepdims)
    last = T.sub(T.lengths_of(lines)[-1], 1)
    place = _place(cast(share, "float64") / whole, last, method)
    count = share.ndim

    def at(places: Any) -> Any:
        return _elements_at(lines, places)

    def beside(between: Any, elements: Any) -> Any:
        return T.reshape(between, (*T.lengths_of(share), *(1,) * (elements.ndim - count)))

    found = _between(place, last, at, beside, method, x.type.kind, dtype)
    if found.type.kind == "f":
        found = T.switch(T.any(T.isnan(lines), axis=-1), with_dtype(as_tensor(math.nan), found.dtype), found)
    return restored(found)


def quantile_without_nan(
    what: str, x: Any, q: Any, axis: Any, method: str, keepdims: bool, whole: int
) -> TensorVariable:
    """`quantile`, or `percentile` for the whole 100, of the elements that are not NaN; NaN where there are none."""
    share, dtype = _checked(what, x, q, method, keepdims, whole)
    if x.type.kind != "f":
        return _quantile(what, x, q, axis, method, keepdims, whole)
    lines, restored = as_lines(what, x, axis, keepdims)
    ordered: Any = sorted_with_nan(lines)
    last = T.sum(T.logical_not(T.isnan(lines)), axis=-1) - 1
    shares = T.reshape(cast(share, "float64"), (-1,)) / whole
    last = T.maximum(T.expand_dims(last, -1), 0)
    place = _place(shares, last, method)  # an element for each share, along the last axis
    found = _between(place, last, lambda p: T.take_along_axis(ordered, p, -1), lambda b, _: b, method, "f", dtype)
    found = T.moveaxis(found, -1, 0)
    return restored(T.reshape(found, (*T.lengths_of(share), *T.lengths_of(found)[1:])))


def sorted_with_nan(lines: Variable) -> Variable:
    """Return sorted lines, which end in a NaN if they may be empty: an element to take for none."""
    ordered = T.sort(lines, axis=-1)
    if lines.type.shape[-1]:
        return ordered
    end = T.full((*T.lengths_of(lines)[:-1], 1), math.nan, dtype=lines.dtype)
    return T.concatenate([ordered, end], axis=-1)


def _checked(what: str, x: Any, q: Any, method: str, keepdims: bool, whole: int) -> tuple[Any, str]:
    """The shares as a tensor, and the dtype of the result."""
    require_keepdims(keepdims, what)
    if method not in _METHODS:
        raise ValueError(f"{what}: method must be one of {', '.join(_METHODS)}, got {method!r}")
    weak = weak_kind(q) is not None
    share = as_tensor(q)
    if x.type.kind not in "iuf" or share.type.kind == "c":
        raise TypeError(f"{what} takes real numbers, got {describe(x)} and {describe(share)}")
    share = between(share, 0, whole, f"{what}: q")
    return share, x.dtype if weak and x.type.kind == "f" else result_type([x.dtype, share.dtype, "float64"])


def _place(share: Any, last: Any, method: str) -> Any:
    """The place of a share of the elements among the sorted ones, of which `last` is the last; often a fraction."""
    if method in ("linear", "lower", "higher", "nearest", "midpoint"):
        return cast(share * last, "float64")
    n = cast(last + 1, "float64")
    if method in _CORRECTED:
        alpha, beta = _CORRECTED[method]
        return n * share + (alpha + share * (1 - alpha - beta)) - 1
    return n * share - (1.5 if method == "closest_observation" else 1)


def _between(
    place: Any, last: Any, at: Callable[[Any], Any], beside: Callable[[Any, Any], Any], method: str, kind: str,
    dtype: str,
) -> Any:  # fmt: skip
    """The quantile at `place` among the sorted elements: between two of them where that is a fraction.

    `last`: the last place.  `at`: the elements at some places.  `beside`: numbers laid out as the elements are.
    """
    below, above = cast(T.floor(place), "int64"), cast(T.ceil(place), "int64")
    if method in ("lower", "higher", "nearest"):
        return at({"lower": below, "higher": above, "nearest": cast(T.rint(place), "int64")}[method])
    fraction = place - T.floor(place)
    if method in _DISCRETE:
        stays = T.eq(fraction, 0)
        if method == "closest_observation":
            stays = T.logical_and(stays, T.eq(T.mod(below, 2), 1))
        return at(T.clip(T.switch(stays, below, below + 1), 0, last))
    if method == "averaged_inverted_cdf":
        fraction = T.switch(T.gt(fraction, 0), 1.0, 0.5)
    if method == "averaged_inverted_cdf" or method in _CORRECTED:
        below, above = T.clip(below, 0, last), T.clip(below + 1, 0, last)
    low, high = (v if kind == "f" else cast(v, dtype) for v in (at(below), at(above)))
    between = beside(fraction, low)
    if method == "midpoint":
        between = T.switch(T.gt(between, 0), 0.5, between)
    t, rise = cast(between, dtype), cast(high - low, dtype)
    return T.switch(T.lt(t, 0.5), cast(low, dtype) + rise * t, cast(high, dtype) - rise * (1 - t))
