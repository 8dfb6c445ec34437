"""NumPy's functions that ignore NaN, such as `nansum`: the plain function with NaNs replaced."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.checks import require_keepdims
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import Axis, DTypeLike, TensorLike
from ..shapes.conditions import checked
from .quantiles import as_lines, middle, quantile_without_nan, sorted_with_nan
from .statistics import degrees, divided, require_inexact, root_of_powers, squared_modulus, within_shape

__all__ = [
    "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar",
]  # fmt: skip


def nan_to_num(
    x: TensorLike, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> TensorVariable:
    """`x` with `nan` in the place of NaN and the largest and smallest finite numbers, or `posinf` and `neginf`, of inf.

    Integers are left as they are; of complex numbers each part is replaced.
    """
    x = as_tensor(x)
    if x.type.kind == "c":
        real, imaginary = (nan_to_num(part(x), nan, posinf, neginf) for part in (T.real, T.imag))
        return T.cast(real + 1j * imaginary, x.dtype)
    if x.type.kind != "f":
        return x
    finite = np.finfo(x.dtype)
    largest, smallest = (finite.max if posinf is None else posinf), (finite.min if neginf is None else neginf)
    without = _replaced(x, nan)
    return T.switch(T.isposinf(x), with_dtype(as_tensor(largest), x.dtype),
                    T.switch(T.isneginf(x), with_dtype(as_tensor(smallest), x.dtype), without))  # fmt: skip


def _replaced(x: Any, value: float) -> TensorVariable:
    """`x` with `value` for NaN."""
    return T.switch(T.isnan(x), with_dtype(as_tensor(value), x.dtype), x) if x.type.kind in "fc" else x


def nansum(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False, *,
    initial: TensorLike | None = None, where: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """The sum along `axis` of the elements that are not NaN; 0 where there are none."""
    return T.sum(_replaced(as_tensor(x), 0), axis, dtype, keepdims, initial=initial, where=where)


def nanprod(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False, *,
    initial: TensorLike | None = None, where: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """The product along `axis` of the elements that are not NaN; 1 where there are none."""
    return T.prod(_replaced(as_tensor(x), 1), axis, dtype, keepdims, initial=initial, where=where)


def nancumsum(x: TensorLike, axis: int | None = None, dtype: DTypeLike = None) -> TensorVariable:
    """`cumsum` with 0 for NaN."""
    return T.cumsum(_replaced(as_tensor(x), 0), axis, dtype)


def nancumprod(x: TensorLike, axis: int | None = None, dtype: DTypeLike = None) -> TensorVariable:
    """`cumprod` with 1 for NaN."""
    return T.cumprod(_replaced(as_tensor(x), 1), axis, dtype)


def nanmax(
    x: TensorLike, axis: Axis = None, keepdims: bool = False, *, initial: TensorLike | None = None,
    where: TensorLike = True,
) -> TensorVariable:  # fmt: skip
    """The largest element along `axis` that is not NaN; NaN where all are.  Raises ValueError where there are none."""
    return _extreme(T.max, -np.inf, as_tensor(x), axis, keepdims, initial, where)


def nanmin(
    x: TensorLike, axis: Axis = None, keepdims: bool = False, *, initial: TensorLike | None = None,
    where: TensorLike = True,
) -> TensorVariable:  # fmt: skip
    """The smallest element along `axis` that is not NaN; see `nanmax`."""
    return _extreme(T.min, np.inf, as_tensor(x), axis, keepdims, initial, where)


def _extreme(
    reduction: Callable[..., TensorVariable], least: float, x: Any, axis: Any, keepdims: bool, initial: Any, where: Any
) -> TensorVariable:
    if x.type.kind not in "fc":
        return reduction(x, axis, keepdims, initial=initial, where=where)
    initial = None if isinstance(initial, float) and math.isnan(initial) else initial
    found = reduction(_replaced(x, least), axis, keepdims, initial=initial, where=where)
    if initial is not None:
        return found
    return T.switch(T.all(T.isnan(x), axis, keepdims), with_dtype(as_tensor(np.nan), x.dtype), found)


def nanmean(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False, *,
    where: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """The mean along `axis` of the elements that are not NaN; NaN where there are none.  Dtypes are those of `mean`."""
    x = as_tensor(x)
    if x.type.kind not in "fc":
        return T.mean(x, axis, dtype, keepdims, where=where)
    require_inexact("nanmean", dtype)
    x = x if dtype is None else T.cast(x, dtype)
    return divided(nansum(x, axis, keepdims=keepdims, where=where), _count(x, axis, keepdims, where))


def nanvar(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, ddof: float = 0, keepdims: bool = False, *,
    where: TensorLike | None = None, mean: TensorLike | None = None, correction: float | None = None,
) -> TensorVariable:
    """The variance along `axis` of the elements that are not NaN; NaN where there are not more than `ddof`."""
    require_keepdims(keepdims, "nanvar")
    x, ddof = as_tensor(x), degrees("nanvar", ddof, correction)
    require_inexact("nanvar", dtype)
    x = x if dtype is None else T.cast(x, dtype)
    if x.type.kind not in "fc":
        return T.var(x, axis, None, ddof, keepdims, where=where, mean=mean)
    if mean is None:
        center = nanmean(x, axis, keepdims=True, where=where)
    else:
        center = within_shape(with_dtype(as_tensor(mean), x.dtype), x)
    deviation = T.switch(T.isnan(x), with_dtype(as_tensor(0), x.dtype), x - center)
    squares = T.sum(squared_modulus(deviation), axis, keepdims=keepdims, where=where)
    free = _count(x, axis, keepdims, where) - ddof
    return T.switch(T.gt(free, 0), divided(squares, free), with_dtype(as_tensor(np.nan), squares.dtype))


def nanstd(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, ddof: float = 0, keepdims: bool = False, *,
    where: TensorLike | None = None, mean: TensorLike | None = None, correction: float | None = None,
) -> TensorVariable:
    """The square root of `nanvar`."""
    return root_of_powers(nanvar(x, axis, dtype, ddof, keepdims, where=where, mean=mean, correction=correction))


def _count(x: Any, axis: Any, keepdims: bool, where: Any = None) -> TensorVariable:
    return T.sum(T.logical_not(T.isnan(x)), axis, keepdims=keepdims, where=where)


def nanmedian(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """The median along `axis` of the elements that are not NaN; NaN where there are none."""
    require_keepdims(keepdims, "nanmedian")
    lines, restored = as_lines("nanmedian", as_tensor(x), axis, keepdims)
    if lines.type.kind != "f":
        return T.median(x, axis, keepdims)
    ordered, n = sorted_with_nan(lines), _count(lines, -1, keepdims=True)
    low, high = (T.take_along_axis(ordered, T.maximum(k, 0), -1)[..., 0] for k in (T.floor_div(n - 1, 2), n // 2))
    return restored(T.switch(T.eq(n[..., 0] % 2, 1), low, middle(low, high)))


def nanargmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> TensorVariable:
    """The position along `axis` of the first largest element that is not NaN.

    Raises ValueError where all are, at run time unless x is constant.
    """
    return _place_of_extreme(T.argmax, -np.inf, as_tensor(x), axis, keepdims)


def nanargmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> TensorVariable:
    """The position along `axis` of the first smallest element that is not NaN.

    Raises ValueError where all are, at run time unless x is constant.
    """
    return _place_of_extreme(T.argmin, np.inf, as_tensor(x), axis, keepdims)


def _place_of_extreme(
    search: Callable[..., TensorVariable], least: float, x: Any, axis: Any, keepdims: bool
) -> TensorVariable:
    found = search(_replaced(x, least), axis, keepdims)
    if x.type.kind not in "fc":
        return found
    something = T.logical_not(T.all(T.isnan(x), axis, keepdims))
    return checked(found, something, f"nan{search.__name__}: a slice has no element that is not NaN")


def nanquantile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> TensorVariable:
    """`quantile` of the elements along `axis` that are not NaN; NaN where there are none."""
    return quantile_without_nan("nanquantile", as_tensor(x), q, axis, method, keepdims, 1)


def nanpercentile(
    x: TensorLike, q: TensorLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> TensorVariable:
    """`nanquantile` of q / 100."""
    return quantile_without_nan("nanpercentile", as_tensor(x), q, axis, method, keepdims, 100)
