"""Elements by their place in sorted order, without sorting all: a sample brackets the element, one pass collects those
inside of the bracket.

Source: R. W. Floyd and R. L. Rivest, "Expected time bounds for selection", 1975.
"""

from __future__ import annotations

import numpy as np

_SAMPLE = 1 << 13
LONG = 4 * _SAMPLE
"""Length up to which rows are partitioned as a whole, as their sample would be a large part of them."""
_DEVIATIONS = 4.0
"""Half width of a bracket, in standard deviations of an element's rank in the sample."""
_NEAR = 1 << 10
"""Elements within the row's length divided by this share a bracket."""


def select(x: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the elements at `places` of the sorted last axis, in their order; NaNs are last."""
    n = x.shape[-1]
    wanted = np.unique(places % n)
    if n < LONG or x.dtype.kind not in "iuf":
        return _partitioned(x, wanted)[..., places]
    found = np.empty((*x.shape[:-1], wanted.size), x.dtype)
    for row in np.ndindex(x.shape[:-1]):
        found[row] = _of_row(x[row], wanted)
    return found[..., np.searchsorted(wanted, places % n)]


def _partitioned(x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return `x` partitioned: sorted elements at the ascending places `wanted` of the last axis.

    One place after the other, the middle one first: NumPy has vector instructions for one place, not for several.
    """
    result = x.copy()
    todo = [(0, x.shape[-1], wanted)]
    while todo:
        start, stop, places = todo.pop()
        if not places.size:
            continue
        middle = places.size // 2
        place = int(places[middle])
        result[..., start:stop].partition(place - start, axis=-1)
        todo += [(start, place, places[:middle]), (place + 1, stop, places[middle + 1 :])]
    return result


def _of_row(x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    sample = np.sort(x[:: x.size // _SAMPLE])
    groups = np.split(wanted, np.flatnonzero(np.diff(wanted) > x.size // _NEAR) + 1)
    return np.concatenate([_of_group(x, sample, group) for group in groups])


def _of_group(x: np.ndarray, sample: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the elements at neighbouring places; if the bracket misses them, all of `x` is partitioned."""
    share, margin = sample.size / x.size, _DEVIATIONS * np.sqrt(sample.size) / 2
    low = sample[max(int(places[0] * share - margin), 0)]
    high = sample[min(int(places[-1] * share + margin), sample.size - 1)]
    below = int(np.count_nonzero(x < low))
    inside = x[(x >= low) & (x <= high)]
    within = places - below
    if within[0] < 0 or within[-1] >= inside.size:
        return np.take(_partitioned(x, places), places)
    return np.take(inside if low == high else _partitioned(inside, within), within)
