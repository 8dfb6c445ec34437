"""Ranges of values for quantization, from histograms over samples: `ag.quantize(f, samples, scheme=...)`.

    minmax       the smallest and the largest value
    percentile   the values that a share of all lies between
    entropy      the clipped range whose quantized histogram is nearest to the whole one, by Kullback and Leibler
    mse          the clipped range with the least mean square error

Source of entropy: S. Migacz, "8-bit inference with TensorRT", 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..record import record

BINS = 4096
"""Bins of a histogram."""
LEVELS = 256
"""Levels of an 8-bit integer."""
SHARE = 99.99
"""The percentage of values that the percentile scheme keeps."""
CANDIDATES = np.geomspace(0.02, 1.0, 120)
"""The shares of the largest magnitude that the schemes entropy and mse try as a bound."""


@record(eq=False)
class Histogram:
    """Counts of values in bins of equal width from `low` to `high`."""

    low: float
    high: float
    counts: np.ndarray

    @property
    def centres(self) -> np.ndarray:
        width = (self.high - self.low) / len(self.counts)
        return self.low + width * (np.arange(len(self.counts)) + 0.5)


class Observer:
    """Range and histogram of one value over many samples, in two rounds: the bins depend on the range.

    Zeros are not counted: every range gives them back exactly.
    """

    def __init__(self) -> None:
        self.low: float = 0.0
        self.high: float = 0.0
        """The range, with 0, which must be exact."""
        self.counts = np.zeros(BINS, np.int64)

    def see_range(self, values: np.ndarray) -> None:
        if values.size:
            self.low = min(self.low, float(values.min()))
            self.high = max(self.high, float(values.max()))

    def see_values(self, values: np.ndarray) -> None:
        if self.high > self.low:
            self.counts += np.histogram(values[values != 0], BINS, (self.low, self.high))[0]

    @property
    def histogram(self) -> Histogram:
        return Histogram(self.low, self.high, self.counts)


def _minmax(h: Histogram) -> tuple[float, float]:
    return h.low, h.high


def _percentile(h: Histogram) -> tuple[float, float]:
    share = np.cumsum(h.counts) / h.counts.sum()
    cut = (1 - SHARE / 100) / 2 if h.low < 0 < h.high else 1 - SHARE / 100
    edges = np.linspace(h.low, h.high, len(h.counts) + 1)
    low = edges[np.searchsorted(share, cut, side="right")] if h.low < 0 else h.low
    high = edges[np.searchsorted(share, 1 - cut) + 1] if h.high > 0 else h.high
    return min(float(low), 0.0), max(float(high), 0.0)


def _entropy(h: Histogram) -> tuple[float, float]:
    return _best(h, _divergence)


def _mse(h: Histogram) -> tuple[float, float]:
    return _best(h, _square_error)


SCHEMES: dict[str, Callable[[Histogram], tuple[float, float]]] = {
    "minmax": _minmax, "percentile": _percentile, "entropy": _entropy, "mse": _mse,
}  # fmt: skip
"""The range of a value by its histogram, for each scheme."""


def range_of(h: Histogram, scheme: str) -> tuple[float, float]:
    """The range of a value, 0 within it, by one of the schemes."""
    return SCHEMES[scheme](h) if h.counts.any() else (h.low, h.high)


def _best(h: Histogram, loss: Callable[[Histogram, float, float], float]) -> tuple[float, float]:
    """The clipped range of least loss; the widest of equal ones."""
    bounds = max(-h.low, h.high) * CANDIDATES[::-1]
    ranges = [(max(h.low, float(-bound)), min(h.high, float(bound))) for bound in bounds]
    losses = [loss(h, low, high) for low, high in ranges]
    return ranges[int(np.argmin(losses))]


def _square_error(h: Histogram, low: float, high: float) -> float:
    scale, zero = affine(low, high)
    x = h.centres
    levels = np.clip(np.round(x / scale) + zero, 0, LEVELS - 1)
    return float((h.counts * np.square((levels - zero) * scale - x)).sum())


def _divergence(h: Histogram, low: float, high: float) -> float:
    """Return the divergence between the histograms of the values before and after rounding to 8 bits.

    Values beyond the range count in its outermost bins.  Each level spreads its count over its bins that are not empty.
    """
    inside = (h.centres >= low) & (h.centres <= high)
    if not inside.any():
        return np.inf
    first, last = np.flatnonzero(inside)[[0, -1]]
    bins = h.counts[first : last + 1].astype("float64")
    true = bins.copy()
    true[0] += h.counts[:first].sum()
    true[-1] += h.counts[last + 1 :].sum()
    level = np.arange(len(bins)) * LEVELS // len(bins) if len(bins) > LEVELS else np.arange(len(bins))
    total = np.bincount(level, weights=bins, minlength=LEVELS)
    used = np.bincount(level, weights=bins > 0, minlength=LEVELS)
    given = np.where(bins > 0, total[level] / np.maximum(used[level], 1), 0)
    p, q = true / true.sum(), given / max(given.sum(), 1)
    both = p > 0
    return float((p[both] * np.log(p[both] / np.maximum(q[both], 1e-12))).sum())


# --- scales


def affine(low: float, high: float) -> tuple[float, int]:
    """Scale and zero point of uint8 for a range that holds 0; a range of one number has scale 1."""
    scale = float(np.float32((high - low) / (LEVELS - 1)))
    if not scale > 0:
        return 1.0, 0
    return scale, int(np.clip(round(-low / scale), 0, LEVELS - 1))


def weight_scales(w: np.ndarray, axis: int, scheme: str) -> np.ndarray:
    """The scale of each output channel of weights, for symmetric int8; the scheme mse tries smaller ones as well."""
    rows = np.moveaxis(np.abs(w), axis, 0).reshape(w.shape[axis], -1).astype("float64")
    largest = rows.max(axis=1, initial=0)
    largest[largest == 0] = 127.0  # a channel of zeros has scale 1
    if scheme == "mse":
        losses = [np.square(_rounded(rows, share * largest / 127) - rows).sum(axis=1) for share in CANDIDATES]
        largest = largest * CANDIDATES[len(CANDIDATES) - 1 - np.argmin(losses[::-1], axis=0)]
    scales: np.ndarray = (largest / 127).astype("float32")
    return scales


def _rounded(rows: np.ndarray, scales: np.ndarray, most: int = 127) -> np.ndarray:
    across = scales[..., None]
    found: np.ndarray = np.minimum(np.round(rows / across), most) * across
    return found


def nibbles_in_blocks(w: np.ndarray, block: int, scheme: str) -> tuple[np.ndarray, np.ndarray]:
    """Scales, blocks by outputs, and integers from -7 to 7 of a matrix, depth by outputs; mse as for int8."""
    depth, outputs = w.shape
    blocks = -(-depth // block)
    filled = np.zeros((blocks * block, outputs), "float64")
    filled[:depth] = w
    rows = np.abs(filled).reshape(blocks, block, outputs).swapaxes(1, 2)
    largest = rows.max(axis=2)
    largest[largest == 0] = 7.0  # a block of zeros has scale 1
    if scheme == "mse":
        losses = [np.square(_rounded(rows, share * largest / 7, 7) - rows).sum(axis=2) for share in CANDIDATES]
        largest = largest * CANDIDATES[len(CANDIDATES) - 1 - np.argmin(losses[::-1], axis=0)]
    scales = (largest / 7).astype("float32")
    across = np.repeat(scales, block, axis=0)[:depth]
    return scales, np.clip(np.rint(w / across), -7, 7).astype("int8")


def quantized_weights(w: np.ndarray, scales: np.ndarray, axis: int) -> np.ndarray:
    """Weights in int8, from -127 to 127."""
    shape = [-1 if k == axis else 1 for k in range(w.ndim)]
    narrow: np.ndarray = np.clip(np.rint(w / scales.reshape(shape)), -127, 127).astype("int8")
    return narrow


def relative_error(found: Sequence[np.ndarray], exact: Sequence[np.ndarray]) -> float:
    """Return the root mean square difference divided by the root mean square of the exact values.

    Equal infinities and NaNs differ by nothing; other numbers beside an infinity or a NaN give an infinite error.
    """
    difference = size = 0.0
    for f, e in zip(found, exact, strict=True):
        other = (f != e) & ~(np.isnan(f) & np.isnan(e))
        with np.errstate(all="ignore"):
            difference += float(np.square(f[other].astype("float64") - e[other]).sum())
        size += float(np.square(e[np.isfinite(e)].astype("float64")).sum())
    if not np.isfinite(difference):
        return float("inf")
    return float(np.sqrt(difference / size)) if size else float(difference > 0)
