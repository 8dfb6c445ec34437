"""Orders and conversions of the elements of sparse matrices, and merging of equal places."""

from __future__ import annotations

from typing import Any

from ..core.namespace import T
from ..shapes.specify import CheckLengths
from .patterns import SparseOrder, SparseUnion
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


def grouped(x: SparseMatrix, format: str) -> SparseMatrix:
    """Return the matrix in compressed rows or columns; the elements of each keep their order, repeated ones stay."""
    majors, minors = x.places if format == "csr" else x.places[::-1]
    order, indptr = SparseOrder()(majors, x.lengths[0 if format == "csr" else 1])
    return SparseMatrix(format, (x.data[order], minors[order], indptr, *x.lengths))


def in_order(x: SparseMatrix, format: str | None = None) -> SparseMatrix:
    """Return the matrix with its elements in order; repeated ones stay."""
    format = format or x.format
    if format == "coo":
        return converted(in_order(x, "csr"), "coo")
    if x.format in (format, "coo"):
        x = grouped(x, "csc" if format == "csr" else "csr")
    return grouped(x, format)


def minors_of(x: SparseMatrix) -> Any:
    """Return the number of columns of a matrix in the format csr, of rows of one in csc."""
    return x.lengths[1 if x.format == "csr" else 0]


def merged(x: SparseMatrix, format: str | None = None) -> SparseMatrix:
    """Return the matrix with its elements in order, and one for each place."""
    format = format or x.format
    if format == "coo":
        return converted(merged(x, "csr"), "coo")
    data, indices, indptr = (x if x.format == format else grouped(x, format)).parts[:3]
    nothing = T.zeros(0, "int32"), T.zeros_like(indptr)
    known, ends, places, _ = SparseUnion()(indices, indptr, *nothing, x.lengths[1 if format == "csr" else 0])
    summed = T.inc_subtensor(T.zeros(T.lengths_of(known), data.dtype)[places], data)
    return SparseMatrix(format, (summed, known, ends, *x.lengths))


def single(x: SparseMatrix) -> SparseMatrix:
    """Return a matrix in the format coo with one element for each place; another one as it is."""
    return merged(x) if x.format == "coo" else x


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
    return kept(x, x.data)


def kept(x: SparseMatrix, condition: Any) -> SparseMatrix:
    """Return the matrix of the elements for which a vector is not zero."""
    (places,) = T.nonzero(condition)
    rows, columns = x.places
    return of_sorted(x.format, x.data[places], rows[places], columns[places], x.lengths)


def joint_lengths(x: SparseMatrix, y: SparseMatrix) -> Lengths:
    """Return the lengths of both matrices; a call raises ValueError if they differ."""
    pairs = [n for own, other in zip(x.lengths, y.lengths, strict=True) for n in (other, own)]
    checked = CheckLengths(tuple(("the length of the second sparse matrix", axis) for axis in (0, 1)), declared=False)
    return checked(x.lengths[0], *pairs), checked(x.lengths[1], *pairs)  # ops on the places read either of them
