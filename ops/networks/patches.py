"""Images as columns of windows and back, and channels moved into positions: `unfold`, `fold`, `pixel_shuffle`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ..core.checks import describe
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import LengthLike, TensorLike
from ..shapes.lengths import as_length, int_or_scalar, lengths_of
from ..shapes.windows import no_window, numbers_an_axis
from .convolution import _padded

__all__ = ["channel_shuffle", "fold", "pixel_shuffle", "pixel_unshuffle", "unfold"]

MOST_SLICES = 32
"""Positions of a window up to which each is a slice; larger windows are read and written by index."""


def unfold(
    x: TensorLike, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> TensorVariable:
    """The windows of `x` (images, channels, positions ...) as columns: (images, channels * kernel, windows).

    `kernel_size`, `dilation`, `padding` and `stride` are one integer or one an axis of positions, known now.  Raises
    TypeError for a rank below 3, ValueError where no window has room.  The rows are in PyTorch's order: channels, then
    positions within the window.
    """
    given = as_tensor(x)
    axes = _axes("unfold", given, 3)
    kernel = numbers_an_axis(kernel_size, axes, "unfold", "kernel_size")
    dilations = numbers_an_axis(dilation, axes, "unfold", "dilation")
    around = numbers_an_axis(padding, axes, "unfold", "padding", least=0)
    steps = numbers_an_axis(stride, axes, "unfold", "stride")
    wide: Any = _padded(given, [(p, p) for p in around])
    images, channels, *lengths = lengths_of(wide)
    counts = _counts("unfold", lengths, kernel, dilations, steps)
    if math.prod(kernel) <= MOST_SLICES:
        columns = T.stack([wide[(..., *place)] for place in _places(kernel, counts, dilations, steps)], axis=2)
    else:
        columns = wide[(slice(None), slice(None), *_indices(kernel, counts, dilations, steps))]
    return T.reshape(columns, (images, T.mul(channels, math.prod(kernel)), _product(counts)))


def fold(
    x: TensorLike, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> TensorVariable:
    """Columns of windows (images, channels * kernel, windows) added up where they overlap: the transposed `unfold`.

    `output_size`: the lengths of the positions of the result, (images, channels, *output_size), integers or scalars.
    Raises TypeError for another rank, ValueError for columns that are no multiple of the window.
    """
    x = as_tensor(x)
    if x.ndim != 3:
        raise TypeError(f"fold: x must be of rank 3, (images, channels * kernel, windows), got {describe(x)}")
    size = _lengths("fold", output_size, kernel_size)
    axes = len(size)
    kernel = numbers_an_axis(kernel_size, axes, "fold", "kernel_size")
    dilations = numbers_an_axis(dilation, axes, "fold", "dilation")
    around = numbers_an_axis(padding, axes, "fold", "padding", least=0)
    steps = numbers_an_axis(stride, axes, "fold", "stride")
    rows = x.type.shape[1]
    if rows is not None and rows % math.prod(kernel):
        raise ValueError(f"fold: axis 1 of {describe(x)} must be a multiple of {math.prod(kernel)}, the window")
    return folded(x, size, kernel, dilations, [(p, p) for p in around], steps)


def folded(
    x: Any, size: Sequence[Any], kernel: Sequence[Any], dilations: Sequence[int], around: Sequence[tuple[int, int]],
    steps: Sequence[int],
) -> TensorVariable:  # fmt: skip
    """Return `fold` for checked arguments; the lengths of `kernel` may be scalars too."""
    images, channels = lengths_of(x)[0], T.floor_div(lengths_of(x)[1], _product(kernel))
    wide = [_plus(n, a + b) for n, (a, b) in zip(size, around, strict=True)]
    counts = _counts("fold", wide, kernel, dilations, steps)
    columns = T.reshape(x, (images, channels, *kernel, *counts))
    total = T.zeros((images, channels, *wide), x.dtype)
    if all(isinstance(k, int) for k in kernel) and math.prod(kernel) <= MOST_SLICES:
        positions = itertools.product(*map(range, kernel))
        for position, place in zip(positions, _places(kernel, counts, dilations, steps), strict=True):
            total = T.inc_subtensor(total[(..., *place)], columns[(slice(None), slice(None), *position)])
    else:
        at = _indices(kernel, counts, dilations, steps)
        total = T.inc_subtensor(total[(slice(None), slice(None), *at)], columns)
    if not any(a or b for a, b in around):
        return total
    return total[(..., *(slice(a, _plus(n, a)) for n, (a, _) in zip(size, around, strict=True)))]


def _axes(name: str, x: Any, least: int) -> int:
    if x.ndim < least:
        raise TypeError(f"{name}: x must be of rank {least} or more, (images, channels, ...), got {describe(x)}")
    return int(x.ndim - 2)


def _lengths(name: str, size: Any, kernel: Any) -> list[Any]:
    """Return the lengths of the result: one for each axis, or for each of the kernel's."""
    several = list(size) if isinstance(size, (tuple, list)) else None
    if several is None:
        several = [size] * (len(kernel) if isinstance(kernel, (tuple, list)) else 2)
    return [int_or_scalar(as_length(n, f"{name}: output_size", 1)) for n in several]


def _plus(a: Any, b: int) -> Any:
    return a + b if isinstance(a, int) else T.add(a, b)


def _product(lengths: Sequence[Any]) -> Any:
    total: Any = 1
    for n in lengths:
        total = total * n if isinstance(n, int) and isinstance(total, int) else T.mul(total, n)
    return total


def _counts(name: str, lengths: Sequence[Any], kernel: Sequence[Any], dilations: Any, steps: Any) -> list[Any]:
    """Return how many windows there are along each axis.  Raises ValueError where there is none."""
    found = []
    for axis, (given, k, d, s) in enumerate(zip(lengths, kernel, dilations, steps, strict=True)):
        n = given if isinstance(given, int) else int_or_scalar(given)
        extent = d * (k - 1) + 1
        if isinstance(n, int) and isinstance(k, int) and extent > n:
            raise ValueError(f"{name}: {no_window(axis + 2, k, extent, n)}")
        found.append((n - extent) // s + 1)
    return found


def _places(kernel: Sequence[int], counts: Sequence[Any], dilations: Any, steps: Any) -> list[tuple[slice, ...]]:
    """Return for each position within a window the slices of its elements."""
    found = []
    for position in itertools.product(*map(range, kernel)):
        firsts = [p * d for p, d in zip(position, dilations, strict=True)]
        found.append(tuple(slice(a, (c - 1) * s + (a + 1), s) for a, c, s in zip(firsts, counts, steps, strict=True)))
    return found


def _indices(kernel: Sequence[Any], counts: Sequence[Any], dilations: Any, steps: Any) -> list[Any]:
    """Return for each axis the index of each element: (*kernel, *counts) together."""
    axes, found = len(kernel), []
    for k, (own, count, d, s) in enumerate(zip(kernel, counts, dilations, steps, strict=True)):
        within = T.reshape(T.arange(own), [-1 if j == k else 1 for j in range(2 * axes)])
        between = T.reshape(T.arange(count), [-1 if j == axes + k else 1 for j in range(2 * axes)])
        found.append(within * d + between * s)
    return found


# --- channels and positions


def pixel_shuffle(x: TensorLike, upscale_factor: int) -> TensorVariable:
    """(..., channels r r, height, width) as (..., channels, height r, width r), r the factor.

    Channel c r r + i r + j becomes rows i and columns j of channel c.  Raises TypeError for a rank below 3, ValueError
    for channels that are no multiple of r r.  Source: W. Shi and others, "Real-time single image and video
    super-resolution", 2016.
    """
    x, r = _with_factor("pixel_shuffle", x, upscale_factor)
    return to_positions(x, r, channels_first=True)


def to_positions(x: Any, r: int, channels_first: bool) -> TensorVariable:
    """Return blocks of channels as positions; `channels_first`: whether a channel's block lies together."""
    *front, channels, height, width = lengths_of(x)
    known = x.type.shape[-3]
    if known is not None and known % (r * r):
        raise ValueError(f"pixel_shuffle: {known} channels are no multiple of {r * r}: {describe(x)}")
    each, n = T.floor_div(channels, r * r), len(front)
    parts = (each, r, r) if channels_first else (r, r, each)
    separate = T.reshape(x, (*front, *parts, height, width))
    c, i, j = (n, n + 1, n + 2) if channels_first else (n + 2, n, n + 1)
    moved = T.transpose(separate, (*range(n), c, n + 3, i, n + 4, j))
    return T.reshape(moved, (*front, each, T.mul(height, r), T.mul(width, r)))


def pixel_unshuffle(x: TensorLike, downscale_factor: int) -> TensorVariable:
    """(..., channels, height r, width r) as (..., channels r r, height, width): the inverse of `pixel_shuffle`.

    Raises ValueError for lengths that are no multiples of r.
    """
    x, r = _with_factor("pixel_unshuffle", x, downscale_factor)
    return to_channels(x, r, channels_first=True)


def to_channels(x: Any, r: int, channels_first: bool) -> TensorVariable:
    """Return blocks of positions as channels; `channels_first`: whether a channel's block lies together."""
    *front, channels, height, width = lengths_of(x)
    for n in x.type.shape[-2:]:
        if n is not None and n % r:
            raise ValueError(f"pixel_unshuffle: the height and width must be multiples of {r}: {describe(x)}")
    down, across, n = T.floor_div(height, r), T.floor_div(width, r), len(front)
    separate = T.reshape(x, (*front, channels, down, r, across, r))
    order = (n, n + 2, n + 4) if channels_first else (n + 2, n + 4, n)
    moved = T.transpose(separate, (*range(n), *order, n + 1, n + 3))
    return T.reshape(moved, (*front, T.mul(channels, r * r), down, across))


def _with_factor(name: str, x: TensorLike, factor: int) -> tuple[TensorVariable, int]:
    x = as_tensor(x)
    if x.ndim < 3:
        raise TypeError(f"{name}: x must be of rank 3 or more, (..., channels, height, width), got {describe(x)}")
    return x, numbers_an_axis(factor, 1, name, "the factor")[0]


def channel_shuffle(x: TensorLike, groups: LengthLike) -> TensorVariable:
    """Channel g n + k of (images, channels, ...) moved to k groups + g, n the channels of a group.

    Raises ValueError for channels that are no multiple of `groups`.  Source: X. Zhang and others, "ShuffleNet", 2017.
    """
    x = as_tensor(x)
    _axes("channel_shuffle", x, 3)
    parts = numbers_an_axis(groups, 1, "channel_shuffle", "groups")[0]
    channels = x.type.shape[1]
    if channels is not None and channels % parts:
        raise ValueError(f"channel_shuffle: {channels} channels are no multiple of groups, {parts}: {describe(x)}")
    own = lengths_of(x)
    separate = T.reshape(x, (own[0], parts, T.floor_div(own[1], parts), *own[2:]))
    return T.reshape(T.swapaxes(separate, 1, 2), own)
