"""Images resized axis by axis: `interpolate`, and what ONNX's and NNEF's ops of the kind share with it.

    y[i] = sum of weight(at[i] - j) * x[j] over the taps j around at[i], the source coordinate of position i

Coordinates and weights are NumPy arrays where lengths and scales are known, else expressions; both come from the same
formulas, of `np` or of `T`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ...graph import Variable
from ...record import record
from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import TensorLike
from ..shapes.lengths import as_length, int_or_scalar, lengths_of
from .windows import adaptive_means

__all__ = ["interpolate"]

@record(eq=False)
class Axis:
    """One resized axis: its number, its length and its new one, their ratio, and the part that is cut out of it.

    Numbers are int and float where they are known, else scalars of int64 and float64.
    """

    axis: int
    own: Any
    length: Any
    scale: Any
    corner: tuple[Any, Any] | None

    @property
    def is_known(self) -> bool:
        return not any(isinstance(v, Variable) for v in (self.own, self.length, self.scale, *(self.corner or ())))


@record(eq=False)
class Resampling:
    """How an axis is resized.

    mode         "nearest", "linear" or "cubic"
    coordinates  where a position lies in x, by ONNX's names
    nearest      the rounding of a coordinate: "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"
    cubic        Keys' coefficient
    antialias    whether windows widen as x shrinks
    excludes     whether taps outside of x count nothing, else as the border
    scaled_end   whether the last position is own * scale - 1 with "align_corners", else length - 1
    """

    mode: str = "nearest"
    coordinates: str = "half_pixel"
    nearest: str = "floor"
    cubic: float = -0.75
    antialias: bool = False
    excludes: bool = False
    scaled_end: bool = False


def float_of(length: Any) -> Any:
    """A length as a number of float64: a float, or a scalar."""
    return T.cast(length, "float64") if isinstance(length, Variable) else float(length)


# --- what users call

MODES = {
    "nearest": 0, "nearest-exact": 0, "linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2, "area": 0,
}  # fmt: skip
"""The modes of `interpolate`, with the axes of positions they take; 0: any."""


def interpolate(
    x: TensorLike, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> TensorVariable:  # fmt: skip
    """`x` (images, channels, positions ...) resized along its axes of positions.

    Args:
        size: the new length of each axis, or one for all: integers or integer scalars.
        scale_factor: the ratio of new and old lengths, a number or one an axis; the new length is rounded down.
            Exactly one of `size` and `scale_factor` is given.
        mode: "nearest" (PyTorch's, which rounds coordinates down), "nearest-exact", "linear", "bilinear", "trilinear",
            "bicubic" or "area" (`adaptive_avg_pool2d` and its like, of known sizes).
        align_corners: whether the centres of the first and last elements stay in place; for linear and cubic modes.
        recompute_scale_factor: whether coordinates follow from the lengths instead of the given `scale_factor`.
        antialias: whether windows widen as x shrinks; for "bilinear" and "bicubic".

    Integers are taken by the nearest modes only.  Raises TypeError for other ranks and dtypes, ValueError for names and
    numbers that do not fit.  Source of the cubic: R. Keys, "Cubic convolution interpolation", 1981.
    """
    x = as_tensor(x)
    axes = x.ndim - 2
    _require_mode(x, axes, mode, align_corners, antialias)
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: exactly one of size and scale_factor is given")
    pairs = _new_lengths(x, axes, size, scale_factor, bool(recompute_scale_factor))
    if mode == "area":
        if not all(isinstance(n, int) for n, _ in pairs):
            raise ValueError('interpolate: mode "area" takes a size that is known')
        return adaptive_means(x, [n for n, _ in pairs])
    by = _resampling(mode, bool(align_corners), antialias)
    dtype = x.dtype
    y: Any = with_dtype(x, "float32") if dtype == "float16" and by.mode != "nearest" else x
    for k, (length, scale) in enumerate(pairs):
        own = int_or_scalar(lengths_of(x)[2 + k])
        if length is own or (isinstance(own, int) and length == own and scale == 1.0):
            continue
        y = resampled(y, Axis(2 + k, own, length, scale, None), by)
    return with_dtype(y, dtype)


def _require_mode(x: Any, axes: int, mode: str, align_corners: bool | None, antialias: bool) -> None:
    if mode not in MODES:
        raise ValueError(f"interpolate: mode must be one of {', '.join(map(repr, MODES))}, got {shown(mode)}")
    wanted, nearest = MODES[mode], mode.startswith("nearest")
    if axes < 1 or (wanted and axes != wanted):
        axes_of = f"rank {wanted + 2}" if wanted else "rank 3 or more"
        raise TypeError(f'interpolate: mode "{mode}" takes x of {axes_of}, (images, channels, ...), got {describe(x)}')
    if x.type.kind not in ("iuf" if nearest else "f"):
        numbers = "real numbers" if nearest else "floats"
        raise TypeError(f'interpolate: mode "{mode}" takes {numbers}, got {describe(x)}')
    if align_corners is not None and (nearest or mode == "area"):
        raise ValueError(f'interpolate: align_corners goes with linear and cubic modes, got "{mode}"')
    if antialias and align_corners:
        raise ValueError("interpolate: antialias goes with align_corners=False")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(f'interpolate: antialias goes with "bilinear" and "bicubic", got "{mode}"')


def _resampling(mode: str, corners: bool, antialias: bool) -> Resampling:
    if mode.startswith("nearest"):
        exact = mode == "nearest-exact"
        return Resampling("nearest", "half_pixel" if exact else "asymmetric", "round_prefer_ceil" if exact else "floor")
    kind = "cubic" if mode == "bicubic" else "linear"
    how = "align_corners" if corners else "half_pixel"
    return Resampling(kind, how, cubic=-0.5 if antialias else -0.75, antialias=antialias, excludes=antialias)


def _new_lengths(x: Any, axes: int, size: Any, factor: Any, recomputed: bool) -> list[tuple[Any, Any]]:
    """Return the new length and the scale of each axis: int and float where they are known."""
    given = factor if size is None else size
    several = list(given) if isinstance(given, (tuple, list)) else [given] * axes
    role = "scale_factor" if size is None else "size"
    if len(several) != axes:
        raise ValueError(f"interpolate: {role} has one number for each of {axes} axes, got {shown(given)}")
    found: list[tuple[Any, Any]] = []
    for length, n in zip(lengths_of(x)[2:], several, strict=True):
        own = int_or_scalar(length)
        if size is not None:
            new = int_or_scalar(as_length(n, "interpolate: size", 1))
            found.append((new, _ratio(new, own)))
            continue
        if isinstance(n, bool) or not isinstance(n, (int, float, np.integer, np.floating)) or n <= 0:
            raise ValueError(f"interpolate: scale_factor must be positive numbers, got {shown(given)}")
        product = float_of(own) * float(n)
        new = math.floor(product) if isinstance(own, int) else T.cast(T.floor(product), "int64")
        found.append((new, _ratio(new, own) if recomputed else float(n)))
    return found


def _ratio(new: Any, own: Any) -> Any:
    return new / own if isinstance(new, int) and isinstance(own, int) else T.true_div(float_of(new), float_of(own))


# --- coordinates


def coordinates(a: Axis, by: Resampling) -> Any:
    """The source coordinate of each output position."""
    how = by.coordinates
    k = T.cast(T.arange(a.length), "float64") if isinstance(a.length, Variable) else np.arange(float(a.length))
    own, length, scale = float_of(a.own), float_of(a.length), a.scale
    lib: Any = np if a.is_known else T
    if how == "asymmetric":
        return k / scale
    if how == "align_corners":
        last = (own * scale if by.scaled_end else length) - 1
        return k * (own - 1) / lib.where(lib.abs(last) > 0, last, math.inf)
    if how == "tf_crop_and_resize":
        start, end = a.corner or (0.0, 1.0)
        middle = 0.5 * (start + end) * (own - 1)
        along = start * (own - 1) + k * (end - start) * (own - 1) / lib.maximum(length - 1, 1.0)
        return lib.where(lib.less(1, length), along, middle)
    centred = (k + 0.5) / scale
    if how == "pytorch_half_pixel":
        return lib.where(lib.less(1, length), centred - 0.5, 0.0)
    if how == "half_pixel_symmetric":
        return own / 2 * (1 - length / (own * scale)) + centred - 0.5
    return centred if how == "tf_half_pixel_for_nn" else centred - 0.5


def _nearest(how: str, at: Any, lib: Any) -> Any:
    if how == "floor":
        return lib.floor(at)
    if how == "ceil":
        return lib.ceil(at)
    return lib.ceil(at - 0.5) if how == "round_prefer_floor" else lib.floor(at + 0.5)


# --- one axis


def resampled(x: Any, a: Axis, by: Resampling) -> Any:
    """`x`, floats unless the nearest element is taken, resized along one axis."""
    at, lib = coordinates(a, by), np if a.is_known else T
    if by.mode == "nearest":
        return _taken(x, a, _nearest(by.nearest, at, lib))
    if a.is_known:
        return _times_weights(x, a, _matrix(at, a, by))
    return _times_weights(x, a, _computed_matrix(at, a, by)) if by.antialias else _tapped(x, at, a, by)


def column(v: Any, y: Any, a: Axis) -> Any:
    """A vector along the axis, broadcast to y."""
    return T.reshape(v, tuple(-1 if k == a.axis else 1 for k in range(y.ndim)))


def _taken(x: Any, a: Axis, places: Any) -> Any:
    """The elements of x at places along the axis; places outside mean the element at the border."""
    if isinstance(places, np.ndarray):
        at: Any = constant(np.clip(places, 0, a.own - 1).astype(np.int64))
    else:
        at = T.cast(T.minimum(T.maximum(places, 0.0), float_of(a.own) - 1), "int64")
    return x[(*(slice(None),) * a.axis, at)]


def _times_weights(x: Any, a: Axis, weights: Any) -> Any:
    """x times a matrix of weights, a row for each new position."""
    right = T.cast(T.transpose(as_tensor(weights)), x.dtype)
    if isinstance(weights, np.ndarray):
        right = constant(weights.T.astype(x.dtype))
    return T.moveaxis(T.tensordot(T.moveaxis(x, a.axis, -1), right, axes=1), -1, a.axis)


def _tapped(x: Any, at: Any, a: Axis, by: Resampling) -> Any:
    """The weighted sum of the taps around each coordinate, one gather a tap."""
    kernel, reach = _kernel(by, T), _reach(by.mode)
    first = T.floor(at)
    taps = [first + float(k) for k in range(1 - reach, reach + 1)]
    weights = [kernel(at - tap) for tap in taps]
    if by.excludes:
        inside = [T.logical_and(T.ge(tap, 0.0), T.lt(tap, float_of(a.own))) for tap in taps]
        weights = [T.where(i, w, 0.0) for i, w in zip(inside, weights, strict=True)]
        total = reduce(T.add, weights)
        weights = [w / total for w in weights]
    parts = [_taken(x, a, tap) * column(T.cast(w, x.dtype), x, a) for tap, w in zip(taps, weights, strict=True)]
    return reduce(T.add, parts)


# --- weights


def _reach(mode: str) -> int:
    """How many taps lie on each side of a coordinate."""
    return 2 if mode == "cubic" else 1


def _kernel(by: Resampling, lib: Any) -> Callable[[Any], Any]:
    """The weight of a tap by its distance: Keys' cubic, or a triangle.

    Source: R. Keys, "Cubic convolution interpolation for digital image processing", 1981.
    """
    if by.mode != "cubic":
        return lambda d: lib.maximum(1 - lib.abs(d), 0.0)
    a = by.cubic

    def weight(d: Any) -> Any:
        d = lib.abs(d)
        near = (a + 2) * d**3 - (a + 3) * d**2 + 1
        far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
        return lib.where(lib.less_equal(d, 1), near, lib.where(lib.less(d, 2), far, 0.0))

    return weight


def _matrix(at: np.ndarray, a: Axis, by: Resampling) -> np.ndarray:
    """The matrix of weights, a row for each new position."""
    shrink = min(a.scale, 1.0) if by.antialias else 1.0
    kernel, excludes = _kernel(by, np), by.excludes
    reach = math.ceil(_reach(by.mode) / shrink)
    matrix = np.zeros((len(at), a.own))
    for row, place in enumerate(at):
        first = math.floor(place)
        around = np.arange(first - reach + 1, first + reach + 1)
        w = kernel((place - around) * shrink)
        if excludes or shrink < 1.0:
            w = np.where((around >= 0) & (around < a.own), w, 0.0) if excludes else w
            w = w / w.sum()
        np.add.at(matrix[row], np.clip(around, 0, a.own - 1), w)
    return matrix


def _computed_matrix(at: Any, a: Axis, by: Resampling) -> Any:
    """The matrix of weights of an axis whose length or scale the run computes; weights beyond go to the borders."""
    kernel, own = _kernel(by, T), float_of(a.own)
    shrink = T.minimum(as_tensor(a.scale), 1.0)
    reach = T.ceil(_reach(by.mode) / shrink)
    places = T.cast(T.arange(T.cast(own + 2 * reach, "int64")), "float64") - reach
    weights = kernel((T.expand_dims(at, 1) - places) * shrink)
    if by.excludes:
        weights = T.where(T.logical_and(T.ge(places, 0.0), T.lt(places, own)), weights, 0.0)
    weights = weights / T.sum(weights, axis=1, keepdims=True)
    before, count = T.cast(reach, "int64"), a.own
    inside = weights[:, before : before + count]
    left, right = (T.sum(v, axis=1, keepdims=True) for v in (weights[:, :before], weights[:, before + count :]))
    k = T.arange(count)
    return inside + T.where(T.eq(k, 0), left, 0.0) + T.where(T.eq(k, count - 1), right, 0.0)
