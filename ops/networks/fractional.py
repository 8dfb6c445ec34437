"""Pooling over windows at random places: B. Graham, "Fractional max-pooling", 2014."""

from __future__ import annotations

from typing import Any

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.tensor import TensorVariable
from ..core.typing import TensorLike
from ..shapes.lengths import known_length, lengths_of
from .functions import _as_float

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def fractional_max_pool2d(
    x: TensorLike, kernel: Any, output_size: Any = None, output_ratio: Any = None, rng: Any = None,
    samples: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """The largest numbers of windows of x (images, channels, height, width) whose places are drawn.

    `kernel`: the size of a window; `output_size`: the number of windows along an axis; or `output_ratio`, their share
    of the length, above 0 and below 1.  Each is a number or one an axis.  The places follow from `samples`, numbers
    from 0 on and below 1 of shape (images, channels, 2), the column's first; by default the stream `rng` draws them.

    Raises TypeError for another rank, or without `rng` and `samples`, ValueError for both or neither of size and
    ratio, and for windows that do not fit.  Source: PyTorch's function of this name.
    """
    return _pooled("fractional_max_pool2d", x, (kernel, output_size, output_ratio), rng, samples, (1, 0))


def fractional_max_pool3d(
    x: TensorLike, kernel: Any, output_size: Any = None, output_ratio: Any = None, rng: Any = None,
    samples: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """`fractional_max_pool2d` for x (images, channels, depth, height, width); `samples`: the depth's first."""
    return _pooled("fractional_max_pool3d", x, (kernel, output_size, output_ratio), rng, samples, (0, 1, 2))


def _pooled(
    name: str, x: TensorLike, sizes: tuple[Any, Any, Any], rng: Any, samples: TensorLike | None, order: tuple[int, ...]
) -> TensorVariable:
    """Return the pool; `order[k]` is the column of `samples` for axis k of those behind the channels."""
    x, axes = _as_float(x), len(order)
    kernel, output_size, output_ratio = sizes
    if x.ndim != axes + 2:
        raise TypeError(f"{name}: x must be of rank {axes + 2}, got {describe(x)}")
    if (output_size is None) == (output_ratio is None):
        raise ValueError(
            f"{name}: give either output_size or output_ratio, got {shown(output_size)}, {shown(output_ratio)}"
        )
    images, channels, *lengths = lengths_of(x)
    windows = _an_axis(name, "kernel", kernel, axes)
    known = [known_length(n) for n in lengths]
    if output_size is None:
        if None in known:
            raise ValueError(f"{name}: output_ratio needs known lengths, got {describe(x)}; give output_size")
        ratios = _an_axis(name, "output_ratio", output_ratio, axes)
        counts = [int(n * ratio) for n, ratio in zip(known, ratios)]  # type: ignore[operator]
    else:
        counts = [int(n) for n in _an_axis(name, "output_size", output_size, axes)]
    for n, window, count in zip(known, windows, counts, strict=True):
        if count < 1 or window < 1 or (n is not None and window + count - 1 > n):
            raise ValueError(f"{name}: {count} windows of length {window} do not fit in {describe(x)}")
    if samples is None:
        if not isinstance(rng, T.random.RandomStream):
            raise TypeError(f"{name}: rng is {shown(rng)}; expected a stream, as T.random.RandomStream(seed)")
        samples = rng.uniform(size=(images, channels, axes))
    drawn = _as_float(samples)
    within = tuple(range(2 + axes, 2 + 2 * axes))  # the positions in a window come last
    outer = tuple(range(2, 2 + 2 * axes))
    places = [T.expand_dims(T.arange(images), (1, *outer)), T.expand_dims(T.arange(channels), (0, *outer))]
    for k in range(axes):
        begins = _begins(drawn[:, :, order[k]], lengths[k], windows[k], counts[k])
        own = T.expand_dims(begins, -1) + T.arange(windows[k])
        places.append(T.expand_dims(own, tuple(p for p in outer if p not in (2 + k, within[k]))))
    return T.max(x[tuple(places)], axis=within)


def _begins(sample: Any, length: Any, window: int, count: int) -> Any:
    """Return the first positions of `count` windows: [(i + u) a] - [u a], where a = (length - window) / (count - 1)."""
    last = T.cast(T.as_tensor(length) - window, "int64")
    if count == 1:
        return T.expand_dims(T.zeros_like(sample, dtype="int64") + last, -1)
    step = T.cast(last, "float64") / (count - 1)
    u = T.expand_dims(T.cast(sample, "float64"), -1)
    places = T.cast(T.floor((T.arange(count - 1) + u) * step), "int64") - T.cast(T.floor(u * step), "int64")
    end = T.expand_dims(T.zeros_like(sample, dtype="int64") + last, -1)
    return T.concatenate([places, end], axis=-1)


def _an_axis(name: str, argument: str, given: Any, axes: int) -> tuple[Any, ...]:
    found = tuple(given) if isinstance(given, (list, tuple)) else (given,) * axes
    if len(found) != axes or any(isinstance(n, bool) or not isinstance(n, (int, float)) for n in found):
        raise TypeError(f"{name}: {argument} must be a number or {axes}, got {shown(given)}")
    return found
