"""Counts: non-zero elements, equal integers, elements between edges."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ...graph import Constant, Variable
from ...record.spelling import counted
from ..core.checks import describe, unpacked
from ..core.interpret import evaluate
from ..core.namespace import T
from ..core.operands import in_joint_dtype, weak_kind
from ..core.promotion import result_type
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import Axis, LengthLike, TensorLike
from ..elementwise.records import cast
from ..shapes.conditions import at_least, checked
from ..shapes.lengths import as_length, int_length, lengths_of
from ..shapes.specify import with_shape_of

__all__ = ["bincount", "count_nonzero", "digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]


def count_nonzero(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """The number of non-zero elements along `axis` (int64)."""
    return T.sum(T.ne(as_tensor(x), 0), axis, keepdims=keepdims)


def bincount(
    x: TensorLike, weights: TensorLike | None = None, minlength: LengthLike = 0, *, length: LengthLike | None = None
) -> TensorVariable:
    """The count of each integer from 0 to the largest one in the vector `x`, at least `minlength` of them.

    int64; with `weights` of the shape of x, their sums in float64.  `length`: how many counts there are, in place of
    both; larger integers are not counted.  With it `ag.vmap` works, as JAX has it.  Raises ValueError for weights of
    another shape, a negative integer or a negative length, at run time where these are known only then.
    """
    x = as_tensor(x)
    if x.ndim != 1 or x.type.kind not in "iub":
        raise TypeError(f"bincount takes a vector of integers, got {describe(x)}")
    least = at_least(as_length(minlength, "bincount: minlength"), 0, "bincount: minlength")
    if length is not None:
        length = at_least(as_length(length, "bincount: length"), 0, "bincount: length")
        return _counted(cast(x, "int64"), weights, length)
    x = cast(x, {"bool": "uint8", "uint64": "int64"}.get(x.dtype, x.dtype))
    largest = cast(T.max(x, initial=0), "int64")
    length = T.maximum(T.switch(x.shape[0] > 0, largest + 1, 0), least)
    if x.type.kind == "i":
        length = checked(length, T.ge(x, 0), "bincount: x must not be negative", of=x)
    each: Any = T.constant(1, "int64")
    if weights is not None:
        each = cast(with_shape_of(weights, x, "bincount: weights"), "float64")
    return T.inc_subtensor(T.zeros((length,), each.dtype)[x], each)


def _counted(x: Any, weights: TensorLike | None, length: Any) -> TensorVariable:
    """The counts of the integers below `length`; the others are counted in one more place, which is cut off."""
    x = checked(x, T.ge(x, 0), "bincount: x must not be negative", of=x)
    each: Any = T.constant(1, "int64")
    if weights is not None:
        each = cast(with_shape_of(weights, x, "bincount: weights"), "float64")
    return T.inc_subtensor(T.zeros((length + 1,), each.dtype)[T.minimum(x, length)], each)[:length]


def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> TensorVariable:
    """The interval between the ordered `bins` of each element: i if bins[i-1] <= x < bins[i].

    `right`: i where bins[i-1] < x <= bins[i].  For descending bins i if bins[i] <= x < bins[i-1], or
    bins[i] < x <= bins[i-1].  Raises ValueError for bins that neither ascend nor descend, at run time where these are
    known only then.
    """
    x, edges = as_tensor(x), as_tensor(bins)
    if x.type.kind == "c":
        raise TypeError(f"digitize takes real numbers, got {describe(x)}")
    if edges.ndim != 1:
        raise ValueError(f"digitize: bins must be a vector, got {describe(edges)}")
    side = "left" if right else "right"
    if isinstance(edges, Constant):
        falls, ordered = (bool(v) for v in evaluate(_order(edges), {}))
        if not ordered:
            raise ValueError("digitize: bins must ascend or descend")
        found = T.searchsorted(edges[::-1] if falls else edges, x, side)
        return T.sub(lengths_of(edges)[0], found) if falls else found
    falls, ordered = _order(edges)
    edges = checked(edges, ordered, "digitize: bins must ascend or descend")
    found = T.searchsorted(T.switch(falls, edges[::-1], edges), x, side)
    return T.switch(falls, T.sub(lengths_of(edges)[0], found), found)


def _order(bins: Any) -> tuple[Any, Any]:
    """Whether the vector descends, and whether it ascends or descends at all; the first two unequal elements decide."""
    before, behind = bins[:-1], bins[1:]
    rise, differ = (T.append(compare(before, behind), True) for compare in (T.lt, T.ne))
    rises = rise[T.argmax(differ)]
    wrong = T.switch(rises, T.any(T.gt(before, behind)), T.any(T.lt(before, behind)))
    return T.logical_not(rises), T.logical_not(wrong)


def histogram(
    x: TensorLike, bins: TensorLike = 10, range: Any = None, weights: TensorLike | None = None,
    density: bool | None = None,
) -> tuple[TensorVariable, TensorVariable]:  # fmt: skip
    """(counts, edges): how many elements are between neighbouring edges; the last interval holds its right end.

    `bins`: how many of equal width, an integer, between the ends in `range` (by default the smallest and the largest
    element); or the ascending edges.  `weights`: what is summed instead of ones.  `density`: as shares of all, divided
    by the widths.  Raises ValueError for edges that descend, ends that are not finite or descend, and weights of
    another shape; at run time where these are known only then.
    """
    x = as_tensor(x)
    w = None if weights is None else T.ravel(with_shape_of(weights, x, "histogram: weights"))
    x = T.ravel(x)
    x = cast(x, "uint8") if x.dtype == "bool" else x
    number = bins if isinstance(bins, Variable) else unpacked(bins)
    if isinstance(number, int):
        counts, edges = _in_equal_bins(x, number, range, w)
    else:
        edges = _ascending("histogram", bins)
        counts = _between(x, edges, w)
    if density:
        counts = counts / T.cast(edges[1:] - edges[:-1], "float64") / T.sum(counts)
    return counts, edges


def histogram_bin_edges(
    x: TensorLike, bins: TensorLike = 10, range: Any = None, weights: TensorLike | None = None
) -> TensorVariable:
    """The edges of the intervals of `histogram`."""
    return histogram(x, bins, range, weights)[1]


def histogram2d(
    x: TensorLike, y: TensorLike, bins: Any = 10, range: Any = None, density: bool | None = None,
    weights: TensorLike | None = None,
) -> tuple[TensorVariable, TensorVariable, TensorVariable]:  # fmt: skip
    """(counts, edges of x, edges of y): `histogramdd` of the vectors `x` and `y`.

    `bins`: a number or a vector of edges, for both, or a list of two such.
    """
    both = bins if isinstance(bins, (list, tuple)) and len(bins) == 2 else [bins, bins]
    counts, (first, second) = histogramdd([as_tensor(x), as_tensor(y)], both, range, density, weights)
    return counts, first, second


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: TensorLike | None = None
) -> tuple[TensorVariable, list[TensorVariable]]:
    """(counts, edges): how many points are in each box of a grid, float64; the last box of an axis holds its end.

    `sample`: a matrix with a row for each point, or a list of vectors, one an axis.  `bins`: a number of equal
    intervals, or a list with, for each axis, such a number or a vector of ascending edges.  `range`: for each axis the
    two ends or None; by default the smallest and the largest coordinate.
    """
    axes = _coordinates(sample)
    axes = [axes[0], *(with_shape_of(x, axes[0], "histogramdd: the coordinates of an axis") for x in axes[1:])]
    each = [bins] * len(axes) if isinstance(unpacked(bins), int) else list(bins)
    ends = [None] * len(axes) if range is None else list(range)
    if len(each) != len(axes) or len(ends) != len(axes):
        raise ValueError(f"histogramdd: {len(each)} bins and {len(ends)} ranges for {counted(len(axes), 'axis')}")
    edges = [_edges(x, b, r) for x, b, r in zip(axes, each, ends, strict=True)]
    box: Any = T.constant(0, "int64")
    inside: Any = T.constant(True)
    counts: list[Any] = []
    for x, edge in zip(axes, edges, strict=True):
        count: Any = T.lengths_of(edge)[0] - 1
        place = T.searchsorted(edge, x, side="right") - 1 - cast(T.eq(x, edge[-1]), "int64")
        inside = T.and_(inside, T.and_(T.ge(place, 0), T.lt(place, count)))
        box, counts = box * count + place, [*counts, count]
    total: Any = counts[0]
    for count in counts[1:]:
        total = total * count
    one: Any = T.constant(1.0)
    if weights is not None:
        one = cast(with_shape_of(weights, axes[0], "histogramdd: weights"), "float64")
    found = T.inc_subtensor(T.zeros((total + 1,))[T.switch(inside, box, total)], one)[:total]
    found = T.reshape(found, counts)
    if density:
        all_of_them = T.sum(found)
        for k, edge in enumerate(edges):
            width = T.reshape(edge[1:] - edge[:-1], [-1 if k == axis else 1 for axis, _ in enumerate(edges)])
            found = found / width
        found = found / all_of_them
    return found, edges


def _coordinates(sample: Any) -> list[Any]:
    """A vector for each axis."""
    if isinstance(sample, (list, tuple)):
        return list(in_joint_dtype(sample))
    points: Any = as_tensor(sample)
    if points.ndim == 1:
        return [points]
    columns = int_length(points, 1) if points.ndim == 2 else None
    if columns is None:
        raise ValueError(
            f"histogramdd takes a matrix whose number of columns is known, or a list of vectors, got {describe(points)}"
        )
    return [points[:, k] for k in builtins.range(columns)]


def _edges(x: Any, bins: Any, ends: Any) -> Any:
    """The ascending edges along an axis."""
    number = bins if isinstance(bins, Variable) else unpacked(bins)
    if not isinstance(number, int):
        return _ascending("histogramdd", bins)
    if number < 1:
        raise ValueError(f"histogramdd: bins is positive, got {number}")
    low, high = (v if v.type.kind == "f" else cast(v, "float64") for v in _ends("histogramdd", x, ends))
    half = cast(T.switch(T.eq(low, high), 0.5, 0.0), low.dtype)
    return T.linspace(low - half, high + half, number + 1)


def _ascending(what: str, bins: TensorLike) -> TensorVariable:
    """The edges of bins.  Raises ValueError unless they are a vector that never descends, at run time else."""
    edges = as_tensor(bins)
    if edges.ndim != 1:
        raise ValueError(f"{what}: the edges of bins must be a vector, got {describe(edges)}")
    falls = T.any(T.gt(edges[:-1], edges[1:]))
    return checked(edges, T.logical_not(falls), f"{what}: the edges of bins must ascend")


def _ends(what: str, x: Any, given: Any) -> tuple[TensorVariable, TensorVariable]:
    """The ends between which bins of equal width lie: those given, else the extrema of `x`.

    Raises ValueError unless they are finite and ascend, at run time else.
    """
    if given is not None:
        low, high = map(as_tensor, given)
        ok, text = T.le(low, high), f"{what}: the ends in range must ascend, got {{0}} and {{1}}"
        low = checked(low, ok, text, low, high)
    else:
        x = cast(x, "uint8") if x.dtype == "bool" else x
        low, high = T.min(x, initial=_end(x, "max")), T.max(x, initial=_end(x, "min"))
        empty = T.eq(T.size(x), 0)
        low, high = T.switch(empty, 0, low), T.switch(empty, 1, high)
    if low.type.kind not in "fc" and high.type.kind not in "fc":
        return low, high
    finite = T.and_(T.isfinite(low), T.isfinite(high))
    return checked(low, finite, f"{what}: the ends of the bins must be finite, got {{0}} and {{1}}", low, high), high


def _end(x: Any, which: str) -> Any:
    """The largest or the smallest number of the dtype of x, from which extrema of no elements start."""
    kind = x.type.kind
    infinity = math.inf if which == "max" else -math.inf
    return infinity if kind in "fc" else getattr(np.iinfo(x.type.numpy), which)


def _between(x: Any, edges: Any, weights: Any) -> TensorVariable:
    """The number of elements, or the sum of their weights, between ascending edges."""
    order = None if weights is None else T.argsort(x)
    ordered = T.sort(x) if order is None else x[order]
    below = T.concatenate([T.searchsorted(ordered, edges[:-1]), T.searchsorted(ordered, edges[-1:], side="right")])
    if order is not None:
        w = weights[order]
        below = T.concatenate([T.zeros(1, w.dtype), T.cumsum(w)])[below]
    return below[1:] - below[:-1]


def _in_equal_bins(x: Any, bins: int, ends: Any, weights: Any) -> tuple[TensorVariable, Any]:
    """(counts, edges) of bins of equal width.

    The bin is computed, and corrected by one where rounding misses what the edges say, as in NumPy.
    """
    if bins < 1:
        raise ValueError(f"histogram: bins must be positive, got {bins}")
    low, high = _ends("histogram", x, ends)
    weak = ends is not None and all(weak_kind(v) is not None for v in ends)
    dtype = result_type([x.dtype, *([float] if weak else [low.dtype, high.dtype])])
    dtype = dtype if dtype.startswith("float") else "float64"
    low, high = (v if v.type.kind == "f" else cast(v, "float64") for v in in_joint_dtype((low, high)))
    half = cast(T.switch(T.eq(low, high), 0.5, 0.0), low.dtype)
    low, high = low - half, high + half
    edges = T.linspace(low, high, bins + 1, dtype=dtype)
    edges = checked(edges, T.lt(edges[:-1], edges[1:]), f"histogram: the range is too narrow for {bins} bins")
    x, low, high = (cast(v, dtype) for v in (x, low, high))
    kept = T.logical_and(T.ge(x, low), T.le(x, high))
    place = cast(T.switch(kept, (x - low) / (high - low) * bins, 0), "int64")
    place = T.minimum(place, bins - 1)
    too_far, too_near = T.lt(x, edges[place]), T.logical_and(T.ge(x, edges[1:][place]), T.ne(place, bins - 1))
    place = place + cast(too_near, "int64") - cast(too_far, "int64")
    each = T.constant(1, "int64") if weights is None else weights
    counts = T.inc_subtensor(T.zeros(bins + 1, each.dtype)[T.switch(kept, place, bins)], each)
    return counts[:bins], edges
