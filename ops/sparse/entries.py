"""Orders and conversions of the elements of sparse matrices, and merging of equal places.

An element has a key, one number for its row and column in the order of a format; sorted keys are a matrix.
"""

from __future__ import annotations

from typing import Any

from ..core.namespace import T
from ..shapes.specify import CheckLengths
from .sparse_matrix import LABELS, SparseMatrix

Lengths = tuple[Any, Any]


def of_sorted(format: str, data: Any, rows: Any, columns: Any, lengths: Lengths) -> SparseMatrix:
    """Return the matrix of elements in the order of the format."""
    rows, columns = T.cast(rows, "int32"), T.cast(columns, "int32")
    if format == "coo":
        return SparseMatrix("coo", (data, rows, columns, *lengths))
    majors, minors, count = (rows, columns, lengths[0]) if format == "csr" else (columns, rows, lengths[1])
    indptr = T.cast(T.searchsorted(majors, T.arange(count + 1, dtype="int32")), "int32")
    return SparseMatrix(format, (data, minors, indptr, *lengths))


def keys_of(x: SparseMatrix, format: str, lengths: Lengths) -> Any:
    """Return one number for the place of each element, in the order of a format; coo is in that of csr."""
    rows, columns = (T.cast(p, "int64") for p in x.places)
    return columns * lengths[0] + rows if format == "csc" else rows * lengths[1] + columns


def of_keys(format: str, data: Any, keys: Any, lengths: Lengths) -> SparseMatrix:
    """Return the matrix of elements with these sorted keys."""
    minor = T.maximum(lengths[0] if format == "csc" else lengths[1], 1)
    majors, minors = keys // minor, keys % minor
    rows, columns = (minors, majors) if format == "csc" else (majors, minors)
    return of_sorted(format, data, rows, columns, lengths)


def merge(format: str, data: Any, keys: Any, lengths: Lengths) -> SparseMatrix:
    """Return the matrix of elements in any order; those of equal keys are summed."""
    known, places = T.unique(keys, return_inverse=True)
    return of_keys(format, T.inc_subtensor(T.zeros(T.lengths_of(known), data.dtype)[places], data), known, lengths)


def merged(x: SparseMatrix, format: str | None = None) -> SparseMatrix:
    """Return the matrix with its elements in order, and one for each place."""
    format = format or x.format
    return merge(format, x.data, keys_of(x, format, x.lengths), x.lengths)


def single(x: SparseMatrix) -> SparseMatrix:
    """Return a matrix in the format coo with one element for each place; another one as it is."""
    return merged(x) if x.format == "coo" else x


def in_order(x: SparseMatrix, format: str | None = None) -> SparseMatrix:
    """Return the matrix with its elements in order."""
    format = format or x.format
    keys = keys_of(x, format, x.lengths)
    order = T.argsort(keys)
    return of_keys(format, x.data[order], keys[order], x.lengths)


def converted(x: SparseMatrix, format: str) -> SparseMatrix:
    """Return the matrix in a format.  Raises ValueError for one that is not known."""
    if format not in LABELS:
        raise ValueError(f"asformat: the format is {format!r}; expected 'csr', 'csc' or 'coo'")
    if format == x.format:
        return x
    if format == "coo":
        return SparseMatrix("coo", (x.data, *x.places, *x.lengths))
    return merged(x, format) if x.format == "coo" else in_order(x, format)


def without_zeros(x: SparseMatrix) -> SparseMatrix:
    """Return the matrix without stored elements that are zero."""
    (kept,) = T.nonzero(x.data)
    rows, columns = x.places
    return of_sorted(x.format, x.data[kept], rows[kept], columns[kept], x.lengths)


def joint_lengths(x: SparseMatrix, y: SparseMatrix) -> Lengths:
    """Return the lengths of both matrices; a call raises ValueError if they differ."""
    pairs = [n for own, other in zip(x.lengths, y.lengths, strict=True) for n in (other, own)]
    checked = CheckLengths(tuple(("the length of the second sparse matrix", axis) for axis in (0, 1)), declared=False)
    return checked(x.lengths[0], *pairs), x.lengths[1]
