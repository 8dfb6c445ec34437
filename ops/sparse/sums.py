"""Reductions of sparse matrices, which are dense: sums, means, extrema, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.checks import normalize_axis
from ..core.namespace import T
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
    """Return the greatest or least of all elements, zeros too, or along an axis."""
    fold = T.maximum if which == "max" else T.minimum
    x, start = x.sum_duplicates(), _identity(x.dtype, which)
    if axis is None:
        rows, columns = x.lengths
        whole = getattr(T, which)(T.concatenate([x.data, T.full(1, start, dtype=x.dtype)]))
        return T.where(x.nnz < rows * columns, fold(whole, T.constant(0, x.dtype)), whole)
    reduced = normalize_axis(axis, 2, which)
    places, count = x.places[1 - reduced], x.lengths[1 - reduced]
    found = getattr(T.full(count, start, dtype=x.dtype).at[places], which)(x.data)
    if x.format == ("csr", "csc")[1 - reduced]:
        stored = x.parts[2][1:] - x.parts[2][:-1]
    else:
        stored = T.inc_subtensor(T.zeros(count, "int64")[places], T.constant(1, "int64"))
    return T.where(stored < x.lengths[reduced], fold(found, T.constant(0, x.dtype)), found)


def _identity(dtype: str, which: str) -> Any:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return -np.inf if which == "max" else np.inf
    info = np.iinfo(kind)
    return info.min if which == "max" else info.max


def diagonal(x: SparseMatrix, k: int) -> Any:
    """Return a diagonal `k` above the main one, a vector."""
    rows, columns = x.places
    (on,) = T.nonzero(T.eq(columns - rows, k))
    length = T.maximum(T.minimum(x.lengths[0] + min(k, 0), x.lengths[1] - max(k, 0)), 0)
    return T.inc_subtensor(T.zeros(length, x.dtype)[rows[on] + min(k, 0)], x.data[on])
