"""Rows, columns and elements of sparse matrices."""

from __future__ import annotations

from typing import Any

from ...record.spelling import counted
from ..core.checks import shown
from ..core.namespace import T
from ..shapes.joining import JoinedRanges
from .sparse_matrix import SparseMatrix

__all__: list[str] = []


def part_of(x: SparseMatrix, index: Any) -> Any:
    """Return rows and columns by slices and vectors of integers, or one element by two integers, a scalar.

    One integer gives a matrix of one row, as SciPy's matrices do; a vector of bools the rows where it is true.  Raises
    IndexError for too many indices and for other ranks, NotImplementedError for two vectors.
    """
    key = index if isinstance(index, tuple) else (index,)
    if len(key) > 2:
        raise IndexError(f"{x!r} has 2 axes, got {counted(len(key), 'index')}")
    row, column = (*(_index(k) for k in key), slice(None))[:2]
    if all(not isinstance(k, slice) and k.ndim == 0 for k in (row, column)):
        return element(x, row, column)
    if all(not isinstance(k, slice) and k.ndim == 1 for k in (row, column)):
        raise NotImplementedError(f"{x!r} is indexed by two vectors; use A[i][:, j], or A.toarray()[i, j]")
    found = x
    for axis, k in enumerate((row, column)):
        if not isinstance(k, slice) or k != slice(None):
            found = _along(found, axis, k)
    return found


def _index(k: Any) -> Any:
    if isinstance(k, slice):
        return k
    found = T.as_tensor(k)
    if found.ndim == 1 and found.dtype == "bool":
        return T.nonzero(found)[0]
    if found.ndim > 1 or found.type.kind not in "iu":
        raise IndexError(f"a sparse matrix is indexed by integers, slices and vectors of integers, got {shown(k)}")
    return found


def _along(x: SparseMatrix, axis: int, k: Any) -> SparseMatrix:
    """Return the rows (axis 0) or columns at positions, in the format of the matrix."""
    if isinstance(k, slice) and k.step in (None, 1) and x.format == ("csr", "csc")[axis]:
        return _neighbours(x, axis, k)
    places = T.arange(x.lengths[axis])[k]
    order = T.dimshuffle(places, "x") if places.ndim == 0 else places
    return chosen(x.asformat("csc" if axis else "csr"), order).asformat(x.format)


def _neighbours(x: SparseMatrix, axis: int, k: slice) -> SparseMatrix:
    """Return rows of a matrix in the format csr, or columns of one in csc, whose elements lie side by side."""
    data, indices, indptr = x.parts[:3]
    ends = indptr[1:][k]
    first, last = T.sum(indptr[:-1][k][:1]), T.sum(ends[-1:])  # 0 if there is none
    lengths = list(x.lengths)
    lengths[axis] = T.lengths_of(ends)[0]
    begins = T.concatenate([T.zeros(1, "int32"), ends - T.cast(first, "int32")])
    return SparseMatrix(x.format, (data[first:last], indices[first:last], begins, *lengths))


def chosen(x: SparseMatrix, order: Any) -> SparseMatrix:
    """Return the rows of a matrix in the format csr at these positions, or the columns of one in csc."""
    indptr = T.cast(x.parts[2], "int64")
    starts = indptr[:-1][order]
    sizes = indptr[1:][order] - starts
    ends = T.cumsum(sizes)
    places = JoinedRanges()(sizes, starts)
    begins = T.cast(T.concatenate([T.zeros(1, "int64"), ends]), "int32")
    lengths = list(x.lengths)
    lengths[0 if x.format == "csr" else 1] = T.lengths_of(ends)[0]
    return SparseMatrix(x.format, (x.data[places], x.parts[1][places], begins, *lengths))


def element(x: SparseMatrix, row: Any, column: Any) -> Any:
    """Return one element; a negative position counts from the end.  A call raises IndexError if there is none."""
    wanted = [T.arange(n)[k] for k, n in zip((row, column), x.lengths, strict=True)]
    there = T.and_(*(T.eq(own, k) for own, k in zip(x.places, wanted, strict=True)))
    return T.sum(T.switch(there, x.data, T.constant(0, x.dtype)), dtype=x.dtype)
