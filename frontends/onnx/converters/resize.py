"""Images resized axis by axis, with lengths and scales that the model names or the run computes.

    y[i] = sum of weight(at[i] - j) * x[j] over the taps j around at[i], the source coordinate of position i

Coordinates and weights are NumPy arrays where lengths and scales are known, else expressions; both come from the same
formulas, of `np` or of `T`.  Values are interpolated in floats and become integers once, after the last axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, Variable
from ....ops.core.tensor import as_tensor, constant
from ....ops.networks.resizing import Axis, Resampling, column, coordinates, float_of, resampled
from ....ops.shapes.lengths import tensor_to_dim
from ....record.spelling import counted
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import known_array, lengths, own_lengths, rounded_into, wide_dtype


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
        raise node.error(f"expected {count} {what} for {counted(len(axes), 'axis')}, got {v.type}")
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


def _is_new(node: Node) -> bool:
    """Whether the op set has coordinate modes (version 11 on)."""
    return node.op == "Resize" and node.version >= 11


def _resampling(node: Node) -> Resampling:
    """The attributes of the node."""
    new = _is_new(node)
    places = node.attr("coordinate_transformation_mode", "half_pixel" if new else "asymmetric")
    return Resampling(
        node.attr("mode", "nearest"), places,
        node.attr("nearest_mode", "round_prefer_floor" if new else "floor"), node.attr("cubic_coeff_a", -0.75),
        bool(node.attr("antialias", 0)), bool(node.attr("exclude_outside", 0)), node.version >= 19,
    )  # fmt: skip


def _resized(node: Node, x: Any, a: Axis) -> Any:
    by = _resampling(node)
    y = resampled(x, a, by)
    if not _cuts(node):
        return y
    at, lib = coordinates(a, by), np if a.is_known else T
    outside = as_tensor(lib.logical_or(lib.less(at, 0), lib.greater(at, float_of(a.own) - 1)))
    value = constant(np.array(node.attr("extrapolation_value", 0.0), y.dtype))
    return T.where(column(outside, y, a), value, y)
