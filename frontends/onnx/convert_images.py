"""Images sampled at computed places, Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ... import ops as T
from ...ops.tensor import constant
from .convert_elementwise import like
from .node import Node
from .table import converter
from .values import dtype_of, known_array, known_ints, own_lengths, rounded_into, wide_dtype

# --- samples at computed places


@converter("GridSample")
def grid_sample(node: Node, x: Any, grid: Any) -> Any:
    """x at the places of a grid, whose last axis counts from the last axis of x."""
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(node.attr("mode", "linear"), node.attr("mode", "linear"))
    border, corners = node.attr("padding_mode", "zeros"), bool(node.attr("align_corners", 0))
    axes = x.ndim - 2
    own = own_lengths(x)[2:]
    places = []
    for k in range(axes):
        n = T.cast(own[k], grid.dtype)
        g = grid[..., axes - 1 - k]
        one, two = like(1, g), like(2, g)
        places.append((g + one) / two * (n - one) if corners else ((g + one) * n - one) / two)
    if mode == "nearest":
        return _gathered(x, [T.round(p) for p in places], border, corners)
    reach = (0, 1) if mode == "linear" else (-1, 0, 1, 2)
    firsts = [T.floor(p) for p in places]
    dtype, x = x.dtype, T.cast(x, wide_dtype(x))
    total: Any = None
    for offsets in np.ndindex(*(len(reach),) * axes):
        steps = [reach[o] for o in offsets]
        weight: Any = None
        for p, first, s in zip(places, firsts, steps, strict=True):
            w = _sample_weight(p - (first + like(s, p)), mode)
            weight = w if weight is None else weight * w
        part = _gathered(x, [f + like(s, f) for f, s in zip(firsts, steps, strict=True)], border, corners)
        part = part * T.expand_dims(weight, 1)
        total = part if total is None else total + part
    return rounded_into(total, dtype, node.format(0))


def _sample_weight(d: Any, mode: str) -> Any:
    d = T.abs(d)
    if mode == "linear":
        return like(1, d) - d
    a = -0.75
    near = (like(a + 2, d) * d - like(a + 3, d)) * d * d + like(1, d)
    far = ((like(a, d) * d - like(5 * a, d)) * d + like(8 * a, d)) * d - like(4 * a, d)
    return T.where(T.le(d, like(1, d)), near, far)


def _gathered(x: Any, places: Sequence[Any], border: str, corners: bool) -> Any:
    """The elements of x at integer coordinates; coordinates outside follow the padding mode."""
    own = own_lengths(x)[2:]
    inside: Any = None
    found = []
    for p, length in zip(places, own, strict=True):
        n = T.cast(length, p.dtype)
        if border == "zeros":
            here = T.logical_and(T.ge(p, like(0, p)), T.le(p, n - like(1, p)))
            inside = here if inside is None else T.logical_and(inside, here)
        elif border == "reflection":
            p = _reflected(p, n, corners)
        found.append(T.cast(T.minimum(T.maximum(p, like(0, p)), n - like(1, p)), "int64"))
    rows = T.reshape(T.arange(own_lengths(x)[0]), (-1, *(1,) * (found[0].ndim - 1)))
    y = T.moveaxis(T.moveaxis(x, 1, -1)[(rows, *found)], -1, 1)
    return y if inside is None else T.where(T.expand_dims(inside, 1), y, like(0, y))


def _reflected(p: Any, n: Any, corners: bool) -> Any:
    low = like(0 if corners else -0.5, p)
    high = n - like(1 if corners else 0.5, p)
    span = high - low
    away = T.abs(p - low)
    turns = T.floor(away / T.maximum(span, like(1e-30, p)))
    rest = away - turns * span
    even = T.eq(T.mod(turns, like(2, p)), like(0, p))
    return T.where(T.le(span, like(0, p)), like(0, p), T.where(even, rest + low, high - rest))


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
    along = (along if axis is None else known_ints(axis, node.error, "the axis")[0]) % x.ndim
    inverse, onesided = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    own = x.type.shape[along]
    known = None if length is None else known_ints(length, node.error, "the length")[0]
    if own is None:
        raise node.error(f"the length of axis {along} must be known")
    if inverse and onesided:
        return _real_inverse(x, along, own, known or 2 * (own - 1))
    count = known or own
    if own > count:
        x = x[(*(slice(None),) * along, slice(0, count))]
    elif own < count:
        x = T.pad(x, tuple((0, count - own) if k == along else (0, 0) for k in range(x.ndim)))
    return transformed(x, along, count, inverse, onesided)


def _real_inverse(x: Any, along: int, own: int, count: int) -> Any:
    """The real signal of a half spectrum: its other half is the conjugate."""
    x = x[(*(slice(None),) * along, slice(0, min(own, count // 2 + 1)))]
    have = min(own, count // 2 + 1)
    k, j = np.arange(have)[:, None], np.arange(count)[None, :]
    angle = 2 * np.pi * k * j / count
    twice = np.where((k == 0) | (2 * k == count), 1.0, 2.0) / count
    cosine, sine = (constant((f(angle) * twice).astype(x.dtype)) for f in (np.cos, np.sin))
    real, imaginary = T.moveaxis(x[..., 0], along, -1), T.moveaxis(x[..., 1], along, -1)
    y = T.dot(real, cosine) - T.dot(imaginary, sine)
    return T.expand_dims(T.moveaxis(y, -1, along), -1)


def transformed(x: Any, along: int, count: int, inverse: bool, onesided: bool) -> Any:
    """The transform along an axis of `count` elements; the last axis holds real and imaginary parts."""
    real = x[..., 0]
    imaginary = x[..., 1] if x.type.shape[-1] == 2 else T.zeros_like(real)
    angle = 2 * np.pi * np.outer(np.arange(count), np.arange(count)) / count * (1 if inverse else -1)
    cosine, sine = (constant(f(angle).astype(x.dtype) / (count if inverse else 1)) for f in (np.cos, np.sin))
    real, imaginary = T.moveaxis(real, along, -1), T.moveaxis(imaginary, along, -1)
    a = T.dot(real, cosine) - T.dot(imaginary, sine)
    b = T.dot(real, sine) + T.dot(imaginary, cosine)
    y = T.moveaxis(T.stack([a, b], axis=-1), -2, along)
    return y[(*(slice(None),) * along, slice(0, count // 2 + 1))] if onesided else y


@converter("STFT")
def stft(node: Node, x: Any, step: Any, window: Any = None, length: Any = None) -> Any:
    """Frames of a signal, each times a window, by their Fourier transforms."""
    by = known_ints(step, node.error, "the step between frames")[0]
    size = None if length is None else known_ints(length, node.error, "the length of frames")[0]
    size = size or (window.type.shape[0] if window is not None else x.type.shape[1])
    total = x.type.shape[1]
    if size is None or total is None:
        raise node.error("the lengths of the signal and of its frames must be known")
    places = np.arange((total - size) // by + 1)[:, None] * by + np.arange(size)
    frames = (x if x.ndim == 3 else T.expand_dims(x, 2))[:, constant(places)]
    frames = frames if window is None else frames * T.reshape(window, (1, 1, -1, 1))
    return transformed(frames, 2, size, False, bool(node.attr("onesided", 1)))


@converter("MelWeightMatrix")
def mel_weight_matrix(node: Node, *operands: Any) -> Any:
    known = [known_array(o) for o in operands]
    if any(k is None for k in known):
        raise node.error("all operands must be constants")
    bands, size, rate, low, high = (k.item() for k in known)  # type: ignore[union-attr]
    dtype = dtype_of(node.attr("output_datatype", 1), node.error)
    spectrum = np.arange(bands + 2, dtype=np.float64)
    low_mel, high_mel = 2595 * np.log10(1 + low / 700), 2595 * np.log10(1 + high / 700)
    hertz = 700 * (10 ** ((spectrum * (high_mel - low_mel) / (bands + 2) + low_mel) / 2595) - 1)
    bins = ((size + 1) * hertz // rate).astype(int)
    matrix = np.zeros((size // 2 + 1, bands))
    for k in range(bands):
        lower, centre, higher = bins[k : k + 3]
        if centre == lower:
            matrix[centre, k] = 1
        for j in range(lower, centre + 1):
            matrix[j, k] = (j - lower) / (centre - lower) if centre != lower else matrix[j, k]
        for j in range(centre, higher):
            matrix[j, k] = (higher - j) / (higher - centre)
    return constant(matrix.astype(dtype))
