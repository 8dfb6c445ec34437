"""Images resized axis by axis, with lengths and scales that the model names or the run computes.

    y[i] = sum of weight(at[i] - j) * x[j] over the taps j around at[i], the source coordinate of position i

Coordinates and weights are NumPy arrays where lengths and scales are known, else expressions; both come from the same
formulas, of `np` or of `T`.  Values are interpolated in floats and become integers once, after the last axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, Variable
from ....ops.core.tensor import as_tensor, constant
from ....ops.shapes.lengths import tensor_to_dim
from ....record import record
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import float_of, known_array, lengths, own_lengths, rounded_into, wide_dtype


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


@converter("Resize", "Upsample")
def resize(node: Node, x: Any, *operands: Any) -> Any:
    """Resize each axis separately: a gather for the nearest element, else a weighted sum."""
    if node.op == "Upsample" or node.version < 11:
        scales = operands[0] if operands else constant(np.array(node.need("scales"), "float32"))
        roi = sizes = None
    else:
        roi, scales, sizes = (*operands, None, None, None)[:3]
    axes = [a % x.ndim for a in node.attr("axes") or range(x.ndim)]
    moved = [a for a in _axes(node, x, axes, roi, scales, sizes) if not _stays(a)]
    chosen = node.attr("mode", "nearest") == "nearest" and not _cuts(node)
    y = x if chosen else T.cast(x, wide_dtype(x))
    for axis in moved:
        y = _resized(node, y, axis)
    return y if chosen or not moved else rounded_into(y, x.dtype, node.format(0))


def _cuts(node: Node) -> bool:
    """Whether the op reads a part of x, which may reach beyond it."""
    return bool(node.attr("coordinate_transformation_mode") == "tf_crop_and_resize")


# --- lengths and scales


def _axes(node: Node, x: Any, axes: Sequence[int], roi: Any, scales: Any, sizes: Any) -> list[Axis]:
    every = own_lengths(x)
    own = [int(n.data) if isinstance(n, Constant) else n for n in (every[a] for a in axes)]
    scales, sizes = (None if v is None or v.type.shape == (0,) else v for v in (scales, sizes))
    if scales is not None:
        ratios = _numbers(node, scales, "scales", axes)
        pairs = [(_scaled(n, s), s) for n, s in zip(own, ratios, strict=True)]
    elif sizes is not None:
        pairs = _fitted(node, own, lengths(sizes, node.error, "the vector of sizes"))
    else:
        raise node.error("has neither scales nor sizes")
    if scales is not None and all(isinstance(s, float) for _, s in pairs):
        pairs = [(n, float(np.float64(s))) for n, s in pairs]
    corners = [None] * len(axes) if roi is None or roi.type.shape == (0,) else _corners(node, roi, axes)
    return [Axis(a, n, *pair, c) for a, n, pair, c in zip(axes, own, pairs, corners, strict=True)]


def _numbers(node: Node, v: Any, what: str, axes: Sequence[int], times: int = 1) -> list[Any]:
    """The elements of a vector of floats, `times` for each axis: floats or scalars of float64."""
    count, known = len(axes) * times, known_array(v)
    if v.ndim != 1 or v.type.shape[0] not in (count, None):
        raise node.error(f"expected {count} {what} for {len(axes)} axes, got {v.type}")
    if known is not None:
        return [float(n) for n in known]
    return [T.cast(v[k], "float64") for k in range(count)]


def _corners(node: Node, roi: Any, axes: Sequence[int]) -> list[Any]:
    if not _cuts(node):
        return [None] * len(axes)
    found = _numbers(node, roi, "corners", axes, 2)
    return list(zip(found[: len(axes)], found[len(axes) :], strict=True))


def _scaled(own: Any, scale: Any) -> Any:
    """floor(own * scale) in float32, as the format's own shape inference computes it."""
    if isinstance(own, int) and isinstance(scale, float):
        return math.floor(np.float32(own) * np.float32(scale))
    if isinstance(scale, float) and scale == 1.0:
        return own
    if isinstance(scale, float) and scale.is_integer():
        return own * int(scale)
    return T.cast(T.floor(T.cast(own, "float32") * T.cast(as_tensor(scale), "float32")), "int64")


def _fitted(node: Node, own: Sequence[Any], wanted: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The new length and the scale of each axis for wanted sizes, under the policy for the aspect ratio."""
    if len(own) != len(wanted):
        raise node.error(f"expected {len(own)} sizes for as many axes, got {len(wanted)}")
    ratios = [_ratio(w, n) for w, n in zip(wanted, own, strict=True)]
    policy = node.attr("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return list(zip(wanted, ratios, strict=True))
    known = all(isinstance(r, float) for r in ratios)
    smaller, larger = (min, max) if known else (T.minimum, T.maximum)
    best: Any = reduce(smaller if policy == "not_larger" else larger, ratios)
    if known:
        return [(math.floor(n * best + 0.5), best) for n in own]
    return [(T.cast(T.floor(float_of(n) * best + 0.5), "int64"), best) for n in own]


def _ratio(wanted: Any, own: Any) -> Any:
    if isinstance(wanted, int) and isinstance(own, int):
        return wanted / own
    return 1.0 if _equal(wanted, own) else float_of(wanted) / float_of(own)


def _equal(a: Any, b: Any) -> bool:
    """Whether two lengths are known to be equal."""
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and isinstance(b, int) and a == b
    return tensor_to_dim(T.cast(a, "int64")) == tensor_to_dim(T.cast(b, "int64"))


def _stays(axis: Axis) -> bool:
    return not isinstance(axis.scale, Variable) and axis.scale == 1.0 and _equal(axis.own, axis.length)


# --- coordinates


def _is_new(node: Node) -> bool:
    """Whether the op set has coordinate modes (version 11 on)."""
    return node.op == "Resize" and node.version >= 11


def _coordinates(node: Node, a: Axis) -> Any:
    """The source coordinate of each output position."""
    how = node.attr("coordinate_transformation_mode", "half_pixel" if _is_new(node) else "asymmetric")
    k = T.cast(T.arange(a.length), "float64") if isinstance(a.length, Variable) else np.arange(float(a.length))
    own, length, scale = float_of(a.own), float_of(a.length), a.scale
    lib: Any = np if a.is_known else T
    if how == "asymmetric":
        return k / scale
    if how == "align_corners":
        last = (own * scale if node.version >= 19 else length) - 1
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


def _nearest(node: Node, at: Any, lib: Any) -> Any:
    how = node.attr("nearest_mode", "round_prefer_floor" if _is_new(node) else "floor")
    if how == "floor":
        return lib.floor(at)
    if how == "ceil":
        return lib.ceil(at)
    return lib.ceil(at - 0.5) if how == "round_prefer_floor" else lib.floor(at + 0.5)


# --- one axis


def _resized(node: Node, x: Any, a: Axis) -> Any:
    at, lib, mode = _coordinates(node, a), np if a.is_known else T, node.attr("mode", "nearest")
    if mode == "nearest":
        y = _taken(x, a, _nearest(node, at, lib))
    elif a.is_known:
        y = _times_weights(x, a, _matrix(node, at, a, mode))
    elif node.attr("antialias", 0):
        y = _times_weights(x, a, _computed_matrix(node, at, a, mode))
    else:
        y = _tapped(node, x, at, a, mode)
    if not _cuts(node):
        return y
    outside = as_tensor(lib.logical_or(lib.less(at, 0), lib.greater(at, float_of(a.own) - 1)))
    value = constant(np.array(node.attr("extrapolation_value", 0.0), y.dtype))
    return T.where(_column(outside, y, a), value, y)


def _column(v: Any, y: Any, a: Axis) -> Any:
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


def _tapped(node: Node, x: Any, at: Any, a: Axis, mode: str) -> Any:
    """The weighted sum of the taps around each coordinate, one gather a tap."""
    kernel, reach = _kernel(node, mode, T), _reach(mode)
    first = T.floor(at)
    taps = [first + float(k) for k in range(1 - reach, reach + 1)]
    weights = [kernel(at - tap) for tap in taps]
    if node.attr("exclude_outside", 0):
        inside = [T.logical_and(T.ge(tap, 0.0), T.lt(tap, float_of(a.own))) for tap in taps]
        weights = [T.where(i, w, 0.0) for i, w in zip(inside, weights, strict=True)]
        total = reduce(T.add, weights)
        weights = [w / total for w in weights]
    parts = [_taken(x, a, tap) * _column(T.cast(w, x.dtype), x, a) for tap, w in zip(taps, weights, strict=True)]
    return reduce(T.add, parts)


# --- weights


def _reach(mode: str) -> int:
    """How many taps lie on each side of a coordinate."""
    return 2 if mode == "cubic" else 1


def _kernel(node: Node, mode: str, lib: Any) -> Callable[[Any], Any]:
    """The weight of a tap by its distance: Keys' cubic, or a triangle.

    Source: R. Keys, "Cubic convolution interpolation for digital image processing", 1981.
    """
    if mode != "cubic":
        return lambda d: lib.maximum(1 - lib.abs(d), 0.0)
    a = node.attr("cubic_coeff_a", -0.75)

    def weight(d: Any) -> Any:
        d = lib.abs(d)
        near = (a + 2) * d**3 - (a + 3) * d**2 + 1
        far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
        return lib.where(lib.less_equal(d, 1), near, lib.where(lib.less(d, 2), far, 0.0))

    return weight


def _matrix(node: Node, at: np.ndarray, a: Axis, mode: str) -> np.ndarray:
    """The matrix of weights, a row for each new position."""
    shrink = min(a.scale, 1.0) if node.attr("antialias", 0) else 1.0
    kernel, excludes = _kernel(node, mode, np), node.attr("exclude_outside", 0)
    reach = math.ceil(_reach(mode) / shrink)
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


def _computed_matrix(node: Node, at: Any, a: Axis, mode: str) -> Any:
    """The matrix of weights of an axis whose length or scale the run computes; weights beyond go to the borders."""
    kernel, own = _kernel(node, mode, T), float_of(a.own)
    shrink = T.minimum(as_tensor(a.scale), 1.0)
    reach = T.ceil(_reach(mode) / shrink)
    places = T.cast(T.arange(T.cast(own + 2 * reach, "int64")), "float64") - reach
    weights = kernel((T.expand_dims(at, 1) - places) * shrink)
    if node.attr("exclude_outside", 0):
        weights = T.where(T.logical_and(T.ge(places, 0.0), T.lt(places, own)), weights, 0.0)
    weights = weights / T.sum(weights, axis=1, keepdims=True)
    before, count = T.cast(reach, "int64"), a.own
    inside = weights[:, before : before + count]
    left, right = (T.sum(v, axis=1, keepdims=True) for v in (weights[:, :before], weights[:, before + count :]))
    k = T.arange(count)
    return inside + T.where(T.eq(k, 0), left, 0.0) + T.where(T.eq(k, count - 1), right, 0.0)
