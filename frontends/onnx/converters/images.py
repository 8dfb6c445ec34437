"""Images sampled at computed places, Fourier transforms."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Variable
from ....ops.core.tensor import constant
from ....ops.networks.resizing import float_of
from ....ops.networks.sampling import sampled
from ..reading.computed_axes import by_axes
from ..reading.host_ops import MelWeights
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import dtype_of, lengths, own_lengths, rounded_into, wide_dtype
from .elementwise import like

# --- samples at computed places


@converter("GridSample")
def grid_sample(node: Node, x: Any, grid: Any) -> Any:
    """x at the places of a grid, whose last axis counts from the last axis of x."""
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(node.attr("mode", "linear"), node.attr("mode", "linear"))
    wide = x if mode == "nearest" else T.cast(x, wide_dtype(x))
    y = sampled(wide, grid, mode, node.attr("padding_mode", "zeros"), bool(node.attr("align_corners", 0)))
    return y if mode == "nearest" else rounded_into(y, x.dtype, node.format(0))


@converter("RoiAlign")
def roi_align(node: Node, x: Any, rois: Any, batch: Any) -> Any:
    """Means or maxima of bilinear samples in the cells of boxes."""
    rows, columns = node.attr("output_height", 1), node.attr("output_width", 1)
    ratio, scale = node.attr("sampling_ratio", 0), node.attr("spatial_scale", 1.0)
    if ratio == 0:
        raise node.error("with an adaptive sampling ratio is not supported; give sampling_ratio")
    default = "half_pixel" if node.version >= 16 else "output_half_pixel"
    half = node.attr("coordinate_transformation_mode", default) == "half_pixel"
    offset = like(0.5 if half else 0.0, x)
    boxes = rois * like(scale, x) - offset
    x0, y0, x1, y1 = (boxes[:, k] for k in range(4))
    width, height = x1 - x0, y1 - y0
    if not half:
        width, height = T.maximum(width, like(1, x)), T.maximum(height, like(1, x))

    def samples(start: Any, size: Any, count: int) -> Any:
        k = (np.arange(count * ratio) + 0.5) / (count * ratio)
        return T.expand_dims(start, 1) + T.expand_dims(size, 1) * constant(k.astype(x.dtype))

    ys, xs = samples(y0, height, rows), samples(x0, width, columns)
    ys, xs = T.expand_dims(ys, 2), T.expand_dims(xs, 1)
    ys, xs = T.broadcast_arrays(ys, xs)
    picked = _bilinear(x, T.cast(batch, "int64"), ys, xs, node.attr("mode", "avg"))
    count = own_lengths(rois)[0]
    cells = T.reshape(picked, (count, own_lengths(x)[1], rows, ratio, columns, ratio))
    return T.mean(cells, axis=(3, 5)) if node.attr("mode", "avg") == "avg" else T.max(cells, axis=(3, 5))


def _bilinear(x: Any, batch: Any, ys: Any, xs: Any, mode: str) -> Any:
    own = own_lengths(x)
    h, w = T.cast(own[2], x.dtype), T.cast(own[3], x.dtype)
    zero, one = like(0, x), like(1, x)
    beyond = [T.logical_or(T.lt(v, -one), T.gt(v, n)) for v, n in ((ys, h), (xs, w))]
    far = T.logical_or(*beyond)
    ys, xs = T.minimum(T.maximum(ys, zero), h - one), T.minimum(T.maximum(xs, zero), w - one)
    y0, x0 = T.floor(ys), T.floor(xs)
    y1, x1 = T.minimum(y0 + one, h - one), T.minimum(x0 + one, w - one)
    ly, lx = ys - y0, xs - x0
    rows = T.reshape(batch, (-1, 1, 1))
    last = T.moveaxis(x, 1, -1)
    parts = [
        T.expand_dims(wy * wx, -1) * last[rows, T.cast(py, "int64"), T.cast(px, "int64")]
        for py, wy in ((y0, like(1, x) - ly), (y1, ly)) for px, wx in ((x0, like(1, x) - lx), (x1, lx))
    ]  # fmt: skip
    found = reduce(T.add if mode == "avg" else T.maximum, parts)
    return T.moveaxis(T.where(T.expand_dims(far, -1), like(0, x), found), -1, 1)


# --- Fourier transforms


@converter("DFT")
def dft(node: Node, x: Any, length: Any = None, axis: Any = None) -> Any:
    """The discrete Fourier transform as a product with its matrix; the last axis holds real and imaginary parts."""
    along = node.attr("axis", 1 if node.version < 20 else -2)
    wanted = None if length is None else lengths(T.reshape(length, (1,)), node.error, "the length")[0]
    given = constant(np.array(along)) if axis is None else axis
    # The last axis holds real and imaginary parts, so none of the alternatives transforms it.
    return by_axes(node, given, x.ndim, lambda axes: _transform(node, x, axes[0], wanted))


def _transform(node: Node, x: Any, along: int, wanted: Any) -> Any:
    if along == x.ndim - 1:
        raise node.error("the last axis holds real and imaginary parts, and cannot be transformed")
    inverse, onesided = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    own = x.type.shape[along]
    own = own_lengths(x)[along] if own is None else own
    if inverse and onesided:
        return _real_inverse(x, along, own, 2 * (own - 1) if wanted is None else wanted)
    if wanted is None or (isinstance(own, int) and own == wanted):
        return transformed(x, along, own, inverse, onesided)
    x = x[(*(slice(None),) * along, slice(0, wanted))]
    more = max(wanted - own, 0) if isinstance(own, int) and isinstance(wanted, int) else T.maximum(wanted - own, 0)
    x = T.pad(x, tuple((0, more) if k == along else (0, 0) for k in range(x.ndim)))
    return transformed(x, along, wanted, inverse, onesided)


def _counted(count: Any) -> Any:
    """0, 1, ... below count in float64: an array if it is known, else an expression."""
    return T.cast(T.arange(count), "float64") if isinstance(count, Variable) else np.arange(float(count))


def _waves(angle: Any, size: Any, dtype: str) -> tuple[Any, Any]:
    """The cosines and sines of angles, times sizes."""
    if isinstance(angle, Variable) or isinstance(size, Variable):
        return T.cast(T.cos(angle) * size, dtype), T.cast(T.sin(angle) * size, dtype)
    return constant((np.cos(angle) * size).astype(dtype)), constant((np.sin(angle) * size).astype(dtype))


def _real_inverse(x: Any, along: int, own: Any, count: Any) -> Any:
    """The real signal of a half spectrum: its other half is the conjugate."""
    known = isinstance(own, int) and isinstance(count, int)
    have = min(own, count // 2 + 1) if known else T.minimum(own, count // 2 + 1)
    x = x[(*(slice(None),) * along, slice(0, have))]
    k, j, n, lib = _counted(have)[:, None], _counted(count)[None, :], float_of(count), np if known else T
    twice = lib.where(lib.logical_or(lib.equal(k, 0), lib.equal(2 * k, n)), 1.0, 2.0) / n
    cosine, sine = _waves(2 * np.pi * k * j / n, twice, x.dtype)
    real, imaginary = T.moveaxis(x[..., 0], along, -1), T.moveaxis(x[..., 1], along, -1)
    y = T.dot(real, cosine) - T.dot(imaginary, sine)
    return T.expand_dims(T.moveaxis(y, -1, along), -1)


def transformed(x: Any, along: int, count: Any, inverse: bool, onesided: bool) -> Any:
    """The transform along an axis of `count` elements; the last axis holds real and imaginary parts."""
    real = x[..., 0]
    imaginary = x[..., 1] if x.type.shape[-1] == 2 else T.zeros_like(real)
    k, n = _counted(count), float_of(count)
    angle = 2 * np.pi * (k[:, None] * k[None, :]) / n * (1 if inverse else -1)
    cosine, sine = _waves(angle, 1 / n if inverse else 1.0, x.dtype)
    real, imaginary = T.moveaxis(real, along, -1), T.moveaxis(imaginary, along, -1)
    a = T.dot(real, cosine) - T.dot(imaginary, sine)
    b = T.dot(real, sine) + T.dot(imaginary, cosine)
    y = T.moveaxis(T.stack([a, b], axis=-1), -2, along)
    return y[(*(slice(None),) * along, slice(0, count // 2 + 1))] if onesided else y


@converter("STFT")
def stft(node: Node, x: Any, step: Any, window: Any = None, length: Any = None) -> Any:
    """Frames of a signal, each times a window, by their Fourier transforms."""
    by = lengths(T.reshape(step, (1,)), node.error, "the step between frames")[0]
    of = window if window is not None else T.moveaxis(x, 1, 0)
    size = of.type.shape[0] or own_lengths(of)[0]
    if length is not None and window is None:
        size = lengths(T.reshape(length, (1,)), node.error, "the length of frames")[0]
    total = x.type.shape[1] or own_lengths(x)[1]
    count = (total - size) // by + 1
    known = all(isinstance(n, int) for n in (by, size, total))
    firsts, along = (np.arange(n) if known else T.arange(n) for n in (count, size))
    places = firsts[:, None] * by + along
    frames = (x if x.ndim == 3 else T.expand_dims(x, 2))[:, constant(places) if known else places]
    frames = frames if window is None else frames * T.reshape(window, (1, 1, -1, 1))
    return transformed(frames, 2, size, False, bool(node.attr("onesided", 1)))


@converter("MelWeightMatrix")
def mel_weight_matrix(node: Node, *operands: Any) -> Any:
    dtype = dtype_of(node.attr("output_datatype", 1), node.error)
    return MelWeights(dtype)(*(T.reshape(o, ()) for o in operands))
