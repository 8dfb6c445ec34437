"""Pooling over windows at random places: B. Graham, "Fractional max-pooling", 2014."""

from __future__ import annotations

from typing import Any

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.tensor import TensorVariable
from ..core.typing import TensorLike
from ..shapes.lengths import known_length, lengths_of
from .functions import _as_float

__all__ = ["fractional_max_pool2d"]


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
    name = "fractional_max_pool2d"
    x = _as_float(x)
    if x.ndim != 4:
        raise TypeError(f"{name}: x must be of rank 4, got {describe(x)}")
    if (output_size is None) == (output_ratio is None):
        raise ValueError(
            f"{name}: give either output_size or output_ratio, got {shown(output_size)}, {shown(output_ratio)}"
        )
    images, channels, *lengths = lengths_of(x)
    windows = _pair(name, "kernel", kernel)
    known = [known_length(n) for n in lengths]
    if output_size is None:
        if None in known:
            raise ValueError(f"{name}: output_ratio needs known lengths, got {describe(x)}; give output_size")
        counts = [int(n * ratio) for n, ratio in zip(known, _pair(name, "output_ratio", output_ratio))]  # type: ignore[operator]
    else:
        counts = [int(n) for n in _pair(name, "output_size", output_size)]
    for n, window, count in zip(known, windows, counts, strict=True):
        if count < 1 or window < 1 or (n is not None and window + count - 1 > n):
            raise ValueError(f"{name}: {count} windows of length {window} do not fit in {describe(x)}")
    if samples is None:
        if not isinstance(rng, T.random.RandomStream):
            raise TypeError(f"{name}: rng is {shown(rng)}; expected a stream, as T.random.RandomStream(seed)")
        samples = rng.uniform(size=(images, channels, 2))
    drawn = _as_float(samples)
    down, across = (
        T.expand_dims(_begins(drawn[:, :, 1 - k], lengths[k], windows[k], counts[k]), -1) + T.arange(windows[k])
        for k in range(2)
    )
    image, channel = T.arange(images), T.arange(channels)
    taken = x[
        T.expand_dims(image, (1, 2, 3, 4, 5)),
        T.expand_dims(channel, (0, 2, 3, 4, 5)),
        T.expand_dims(down, (3, 5)),
        T.expand_dims(across, (2, 4)),
    ]
    return T.max(taken, axis=(4, 5))


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


def _pair(name: str, argument: str, given: Any) -> tuple[Any, Any]:
    found = tuple(given) if isinstance(given, (list, tuple)) else (given, given)
    if len(found) != 2 or any(isinstance(n, bool) or not isinstance(n, (int, float)) for n in found):
        raise TypeError(f"{name}: {argument} must be a number or two, got {shown(given)}")
    return found
