"""Pools whose windows follow from lengths: adaptive and global ones; pools of powers; the way back, `max_unpool`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import TensorLike
from ..shapes.lengths import as_length, int_or_scalar, known_length, lengths_of
from ..shapes.windows import numbers_an_axis
from .functions import _as_float
from .patches import _product
from .pooling import POSITIONS, SumPool, Window

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "global_avg_pool", "global_max_pool", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_unpool1d",
    "max_unpool2d", "max_unpool3d",
]  # fmt: skip

# --- global pools


def global_avg_pool(x: TensorLike) -> TensorVariable:
    """The mean of each channel of x (images, channels, positions ...); the axes of positions stay, of length 1."""
    given = _of_positions("global_avg_pool", as_tensor(x))
    return T.mean(given, axis=tuple(range(2, given.ndim)), keepdims=True)


def global_max_pool(x: TensorLike) -> TensorVariable:
    """The greatest number of each channel of x (images, channels, positions ...); axes of length 1 stay."""
    given = _of_positions("global_max_pool", as_tensor(x))
    return T.max(given, axis=tuple(range(2, given.ndim)), keepdims=True)


def _of_positions(name: str, x: Any, axes: int = 0) -> Any:
    """Return x.  Raises TypeError unless it has as many axes of positions, or, for 0, one or more."""
    if x.type.kind not in "iuf" or (x.ndim != axes + 2 if axes else x.ndim < 3):
        form = f"rank {axes + 2}, (images, channels, {', '.join(POSITIONS[axes])})" if axes else "rank 3 or more"
        raise TypeError(f"{name}: x must be real numbers of {form}, got {describe(x)}")
    return x


# --- adaptive pools


def adaptive_avg_pool1d(x: TensorLike, output_size: Any) -> TensorVariable:
    """The means of `output_size` windows of x (images, channels, length); see `adaptive_avg_pool2d`."""
    return _adaptive_avg("adaptive_avg_pool1d", 1, x, output_size)


def adaptive_avg_pool2d(x: TensorLike, output_size: Any) -> TensorVariable:
    """The means of as many windows as `output_size` says along each axis of positions.

    Window i of n is from floor(i length / n) to ceil((i + 1) length / n), as in PyTorch.  `output_size`: one integer or
    one an axis, of which None keeps the length; ValueError for one below 1.
    """
    return _adaptive_avg("adaptive_avg_pool2d", 2, x, output_size)


def adaptive_avg_pool3d(x: TensorLike, output_size: Any) -> TensorVariable:
    """The means of `output_size` windows of x (images, channels, ...); see `adaptive_avg_pool2d`."""
    return _adaptive_avg("adaptive_avg_pool3d", 3, x, output_size)


def _adaptive_avg(name: str, axes: int, x: Any, output_size: Any) -> TensorVariable:
    x = _of_positions(name, _as_float(x), axes)
    sizes = _sizes(name, axes, output_size)
    return adaptive_means(x, sizes)


def adaptive_means(x: Any, sizes: Sequence[int | None]) -> TensorVariable:
    """Return the means of adaptive windows along the last axes."""
    dtype = x.dtype
    x = with_dtype(x, "float32") if dtype == "float16" else x
    lengths = x.type.shape[2:]
    if all(n is not None and (s is None or n % s == 0) for n, s in zip(lengths, sizes, strict=True)):
        kernel = tuple(1 if s is None else n // s for n, s in zip(lengths, sizes, strict=True))
        total = Window("adaptive_avg_pool", len(sizes), x, kernel, None, 0, 1, False).pooled(SumPool, x)
        return with_dtype(T.true_div(total, constant(math.prod(kernel), x.dtype)), dtype)
    for k, size in enumerate(sizes):
        if size is not None:
            moved = T.moveaxis(x, 2 + k, -1)
            x = T.moveaxis(T.tensordot(moved, _mean_weights(lengths_of(moved)[-1], size, x.dtype), axes=1), -1, 2 + k)
    return with_dtype(x, dtype)


def _ends(length: Any, size: int) -> tuple[Any, Any]:
    """Return the first positions of windows, and those behind their last ones: arrays if the length is known."""
    known = known_length(length)
    places: Any = np.arange(size) if known is not None else T.arange(size)
    n = length if known is None else known
    return places * n // size, -(-((places + 1) * n) // size)


def _mean_weights(length: Any, size: int, dtype: str) -> Any:
    """Return the matrix (length, size) whose column is 1 / count in the window, else 0."""
    starts, stops = _ends(length, size)
    known = known_length(length)
    places = (T.arange(length) if known is None else np.arange(known))[:, None]
    lib: Any = T if known is None else np
    inside = lib.logical_and(lib.greater_equal(places, starts), lib.less(places, stops))
    weights = lib.where(inside, 1.0 / (stops - starts), 0.0)
    return with_dtype(weights, dtype) if known is None else constant(weights.astype(dtype))


def adaptive_max_pool1d(x: TensorLike, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest numbers of `output_size` windows of x (images, channels, length); see `adaptive_max_pool2d`."""
    return _adaptive_max("adaptive_max_pool1d", 1, x, output_size, return_indices)


def adaptive_max_pool2d(x: TensorLike, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest numbers of the windows of `adaptive_avg_pool2d`; with `return_indices` (values, indices).

    The indices are int64 positions of first maxima in the flattened image.
    """
    return _adaptive_max("adaptive_max_pool2d", 2, x, output_size, return_indices)


def adaptive_max_pool3d(x: TensorLike, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest numbers of `output_size` windows of x (images, channels, ...); see `adaptive_max_pool2d`."""
    return _adaptive_max("adaptive_max_pool3d", 3, x, output_size, return_indices)


def _adaptive_max(name: str, axes: int, x: Any, output_size: Any, return_indices: bool) -> Any:
    x = _of_positions(name, as_tensor(x), axes)
    sizes = _sizes(name, axes, output_size)
    values: Any = x
    places: list[Any] = []
    for k in reversed(range(axes)):
        size = sizes[k]
        length = lengths_of(x)[2 + k]
        if size is None:
            at = T.broadcast_to(T.reshape(T.arange(length), _column(k, axes)), lengths_of(values))
        else:
            values, at, picked = _axis_maxima(values, 2 + k, length, size, bool(return_indices))
            places = [T.take_along_axis(p, picked, 2 + k) for p in places] if return_indices else places
        places.append(at)
    if not return_indices:
        return values
    number: Any = constant(0, "int64")
    for k, at in enumerate(reversed(places)):
        number = T.add(T.mul(number, lengths_of(x)[2 + k]), at)
    return values, number


def _column(k: int, axes: int) -> list[int]:
    return [1, 1, *(-1 if j == k else 1 for j in range(axes))]


def _axis_maxima(x: Any, axis: int, length: Any, size: int, with_places: bool) -> tuple[Any, Any, Any]:
    """Return the maxima of windows along an axis, and, if wanted, their positions, twice.

    A window that is shorter than the longest one reads its last element again.
    """
    starts, stops = _ends(length, size)
    if isinstance(starts, np.ndarray):
        offsets: Any = np.arange(int((stops - starts).max()))
        at: Any = constant(np.minimum(starts[:, None] + offsets, stops[:, None] - 1))
    else:
        offsets = T.arange(T.max(stops - starts))
        at = T.minimum(T.expand_dims(starts, 1) + offsets, T.expand_dims(stops, 1) - 1)
    windows = x[(*(slice(None),) * axis, at)]  # (..., size, window, ...)
    values = T.max(windows, axis=axis + 1)
    if not with_places:
        return values, None, None
    best = T.argmax(windows, axis=axis + 1)
    form = [-1 if j == axis else 1 for j in range(x.ndim)]
    firsts = T.reshape(as_tensor(starts), form)
    picked = T.add(firsts, best)
    return values, picked, picked


def _sizes(name: str, axes: int, output_size: Any) -> list[int | None]:
    several = list(output_size) if isinstance(output_size, (tuple, list)) else [output_size] * axes
    if len(several) != axes:
        raise ValueError(f"{name}: output_size has one number for each of {axes} axes, got {shown(output_size)}")
    return [None if n is None else numbers_an_axis(n, 1, name, "output_size")[0] for n in several]


# --- pools of powers


def lp_pool1d(
    x: TensorLike, norm_type: float, kernel: Any, stride: Any = None, ceil_mode: bool = False
) -> TensorVariable:
    """The norms of the windows of x (images, channels, length); see `lp_pool2d`."""
    return _lp_pool("lp_pool1d", 1, x, norm_type, kernel, stride, ceil_mode)


def lp_pool2d(
    x: TensorLike, norm_type: float, kernel: Any, stride: Any = None, ceil_mode: bool = False
) -> TensorVariable:
    """(the sum of x^p over each window)^(1 / p), p the `norm_type`; the windows are those of `avg_pool2d`.

    As in PyTorch no absolute value is taken: an odd power keeps the sign, and a negative sum gives NaN.
    """
    return _lp_pool("lp_pool2d", 2, x, norm_type, kernel, stride, ceil_mode)


def lp_pool3d(
    x: TensorLike, norm_type: float, kernel: Any, stride: Any = None, ceil_mode: bool = False
) -> TensorVariable:
    """The norms of the windows of x (images, channels, depth, height, width); see `lp_pool2d`."""
    return _lp_pool("lp_pool3d", 3, x, norm_type, kernel, stride, ceil_mode)


def _lp_pool(
    name: str, axes: int, x: Any, norm_type: float, kernel: Any, stride: Any, ceil_mode: bool
) -> TensorVariable:
    x = _as_float(x)
    power = T.pow(x, constant(norm_type, x.dtype))
    window = Window(name, axes, power, kernel, stride, 0, 1, ceil_mode)
    total = window.pooled(SumPool, window.padded(0))
    if ceil_mode:  # PyTorch sums the means, times the size of a whole window
        total = T.mul(T.true_div(total, window.counted(True)), math.prod(window.kernel))
    return T.pow(total, constant(1 / norm_type, x.dtype))


# --- back to positions


def max_unpool1d(
    x: TensorLike, indices: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> TensorVariable:
    """Zeros with the elements of x at the `indices` of `max_pool1d`; see `max_unpool2d`."""
    return _unpooled("max_unpool1d", 1, x, indices, kernel, stride, padding, output_size)


def max_unpool2d(
    x: TensorLike, indices: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> TensorVariable:
    """Zeros with the elements of x at the `indices` of `max_pool2d`, positions in the flattened image.

    `output_size`: the lengths of the positions; by default (length - 1) stride - 2 padding + kernel.  Raises TypeError
    for other ranks, IndexError at run time for an index out of range.
    """
    return _unpooled("max_unpool2d", 2, x, indices, kernel, stride, padding, output_size)


def max_unpool3d(
    x: TensorLike, indices: TensorLike, kernel: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> TensorVariable:
    """Zeros with the elements of x at the `indices` of `max_pool3d`; see `max_unpool2d`."""
    return _unpooled("max_unpool3d", 3, x, indices, kernel, stride, padding, output_size)


def _unpooled(
    name: str, axes: int, x: Any, indices: Any, kernel: Any, stride: Any, padding: Any, output_size: Any
) -> TensorVariable:
    x, indices = _of_positions(name, as_tensor(x), axes), as_tensor(indices)
    if indices.ndim != x.ndim or indices.type.kind not in "iu":
        raise TypeError(f"{name}: indices must be integers of rank {x.ndim}, one for each element of x, got "
                        f"{describe(indices)}")  # fmt: skip
    sizes = numbers_an_axis(kernel, axes, name, "kernel")
    steps = sizes if stride is None else numbers_an_axis(stride, axes, name, "stride")
    around = numbers_an_axis(padding, axes, name, "padding", least=0)
    if output_size is None:
        each = zip(lengths_of(x)[2:], steps, around, sizes, strict=True)
        wanted = [int_or_scalar(T.sub(T.add(T.mul(T.sub(n, 1), s), k), 2 * p)) for n, s, p, k in each]
    else:
        given = list(output_size)[-axes:] if isinstance(output_size, (tuple, list)) else [output_size] * axes
        if len(given) != axes:
            raise ValueError(f"{name}: output_size has one number for each of {axes} axes, got {shown(output_size)}")
        wanted = [int_or_scalar(as_length(n, f"{name}: output_size", 1)) for n in given]
    return unpooled(x, indices, wanted)


def unpooled(x: Any, indices: Any, lengths: Sequence[Any]) -> TensorVariable:
    """Return zeros of these lengths of positions with the elements of x at flat indices within each channel."""
    images, channels, count = *lengths_of(x)[:2], _product(lengths)
    flat = T.zeros((images, channels, count), x.dtype)
    rows, columns = T.expand_dims(T.arange(images), (1, 2)), T.expand_dims(T.arange(channels), (0, 2))
    at, values = (T.reshape(v, (images, channels, -1)) for v in (indices, x))
    return T.reshape(T.set_subtensor(flat[rows, columns, at], values), (images, channels, *lengths))

