"""How many: elements that are not zero, equal integers, elements between edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops as T  # the namespace; read when a function is called
from .checks import describe
from .elementwise import cast
from .promotion import result_type
from .tensor import as_tensor


def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements along `axis` are not zero (int64)."""
    return T.sum(T.ne(as_tensor(x), 0), axis, keepdims=keepdims)


def bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """How often each integer from 0 to the largest one is in the vector `x`, at least `minlength` of them.

    int64; with `weights` of the shape of x, their sums in float64.  A run raises IndexError for a negative integer.
    """
    x = as_tensor(x)
    if x.ndim != 1 or x.type.kind not in "iub":
        raise TypeError(f"bincount takes a vector of integers, got {describe(x)}")
    x = cast(x, "int64")
    length = T.max(T.stack([T.max(T.concatenate([x, [-1]])) + 1, cast(as_tensor(minlength), "int64")]))
    each = T.constant(1, "int64") if weights is None else cast(as_tensor(weights), "float64")
    return T.inc_subtensor(T.zeros((length,), each.dtype)[T.switch(T.lt(x, 0), length, x)], each)


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """In which of the intervals between the ascending `bins` each element is: i where bins[i-1] <= x < bins[i].

    `right`: i where bins[i-1] < x <= bins[i].
    """
    return T.searchsorted(bins, x, side="left" if right else "right")


def histogram(x: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> Any:
    """(counts, edges): how many elements are between neighbouring edges; the last interval holds its right end.

    `bins`: how many of equal width, an integer, between the ends in `range` (by default the smallest and the largest
    element); or the ascending edges.  `weights`: what is summed instead of ones.  `density`: as shares of all, divided
    by the widths.
    """
    x = T.ravel(as_tensor(x))
    edges = as_tensor(bins) if not isinstance(bins, (int, np.integer)) else _equal_bins(x, int(bins), range)
    order = T.argsort(x)
    ordered = x[order]
    places = T.concatenate([T.searchsorted(ordered, edges[:-1]), T.searchsorted(ordered, edges[-1:], side="right")])
    if weights is None:
        below = places
    else:
        w = T.ravel(as_tensor(weights))[order]
        below = T.concatenate([T.zeros(1, w.dtype), T.cumsum(w)])[places]
    counts = below[1:] - below[:-1]
    if density:
        counts = counts / (edges[1:] - edges[:-1]) / T.sum(counts)
    return counts, edges


def _equal_bins(x: Any, bins: int, ends: Any) -> Any:
    if bins < 1:
        raise ValueError(f"histogram: bins is positive, got {bins}")
    low, high = (T.min(x), T.max(x)) if ends is None else map(as_tensor, ends)
    low, high = (cast(v, result_type([v.dtype, "float64"])) for v in (low, high))
    half = T.switch(T.eq(low, high), 0.5, 0.0)
    return T.linspace(low - half, high + half, bins + 1)
