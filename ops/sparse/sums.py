"""Reductions of sparse matrices, which are dense: sums, means, extrema, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.checks import normalize_axis
from ..core.namespace import T, classes
from .entries import grouped, minors_of
from .extremes import SparseExtreme, SparseExtremes
from .rows import SparseEntries, SparseRows
from .sparse_matrix import SparseMatrix

__all__: list[str] = []


def total(x: SparseMatrix, axis: int | None, dtype: Any) -> Any:
    """Return the sum of all elements, or along an axis, in the dtype of NumPy's sum."""
    if axis is None:
        return T.sum(x.data, dtype=dtype)
    kept = 1 - normalize_axis(axis, 2, "sum")
    wide = np.zeros(1, x.dtype).sum().dtype if dtype is None else dtype
    data = T.cast(x.data, np.dtype(wide).name)
    ones = T.ones(x.lengths[1 - kept], data.dtype)
    if data.dtype in ("float32", "float64"):  # of complex ones inf * 1 has NaNs
        if x.format == ("csr", "csc")[kept]:
            return SparseRows()(data, *x.parts[1:3], ones)
        if x.format == "coo":
            return SparseEntries()(data, x.places[kept], x.places[1 - kept], ones, x.lengths[kept])
    return T.inc_subtensor(T.zeros(x.lengths[kept], data.dtype)[x.places[kept]], data)


def mean(x: SparseMatrix, axis: int | None, dtype: Any) -> Any:
    """Return the mean of all elements, zeros too, or along an axis."""
    wide = np.zeros(1, x.dtype).mean().dtype if dtype is None else dtype
    rows, columns = x.lengths
    count = rows * columns if axis is None else x.lengths[normalize_axis(axis, 2, "mean")]
    found = total(x, axis, wide)
    return found / T.cast(count, found.dtype)


def extremum(x: SparseMatrix, axis: int | None, which: str) -> Any:
    """Return the greatest or least of all elements, zeros too, or along an axis.

    Raises TypeError for complex numbers; a call raises ValueError if there is no element.
    """
    if np.dtype(x.dtype).kind == "c":
        raise TypeError(f"{which}: {x!r} has complex numbers, which have no order here; use abs(A).{which}() or A.real")
    some = classes.Check("zero-size array to a reduction without an initial value", "ValueError")
    data = T.cast(x.data, "int64") if x.dtype == "bool" else x.data
    if axis is None and x.format == "coo":
        m, n = (some(length, T.gt(T.minimum(*x.lengths), 0)) for length in x.lengths)
        return T.cast(SparseExtreme(which)(data, *x.parts[1:3], m, n), x.dtype)
    kept = (1 if x.format == "csc" else 0) if axis is None else 1 - normalize_axis(axis, 2, which)
    wanted, found = ("csr", "csc")[kept], x.with_data(data)
    rows = found if x.format == wanted else grouped(found, wanted)
    lengths = T.minimum(*x.lengths) if axis is None else minors_of(rows)
    columns = some(minors_of(rows), T.gt(lengths, 0))
    return T.cast(SparseExtremes(which, axis is None)(*rows.parts[:3], columns), x.dtype)


def diagonal(x: SparseMatrix, k: int) -> Any:
    """Return a diagonal `k` above the main one, a vector."""
    rows, columns = x.places
    (on,) = T.nonzero(T.eq(columns - rows, k))
    length = T.maximum(T.minimum(x.lengths[0] + min(k, 0), x.lengths[1] - max(k, 0)), 0)
    return T.inc_subtensor(T.zeros(length, x.dtype)[rows[on] + min(k, 0)], x.data[on])
