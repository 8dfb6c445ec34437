"""Sparse matrices as new variables, of SciPy's values, of dense matrices and of their parts."""

from __future__ import annotations

from typing import Any

from ...graph import Variable
from ..core.checks import describe, shown
from ..core.namespace import T
from .entries import of_sorted
from .sparse_matrix import LABELS, SparseMatrix, is_sparse, sparse

__all__ = ["coo_matrix", "csc_matrix", "csr_matrix", "diags", "eye", "matrix"]


def matrix(
    format: str, value: Any = None, dtype: Any = None, shape: Any = None, name: str | None = None
) -> SparseMatrix:  # fmt: skip
    """A sparse matrix in a format, "csr", "csc" or "coo".

    Args:
        value: None or a name for a new variable, an argument of functions; a sparse matrix of SciPy's, a constant; a
            sparse or a dense matrix of variables, which is converted; a tuple of parts as SciPy takes it,
            `(data, indices, indptr)` or `(data, (row, col))`.
        dtype: that of the elements; by default that of the value, of a variable the default of `T.vector`.
        shape: the lengths, for a tuple of parts.
        name: the name of a new variable.

    Raises ValueError for another format, TypeError for other values and for parts without a shape.
    """
    if format not in LABELS:
        raise ValueError(f"matrix: the format is {format!r}; expected 'csr', 'csc' or 'coo'")
    if value is None or isinstance(value, str):
        return _variable(format, value or name, dtype)
    found = _of_value(format, value, shape)
    return found if dtype is None else found.astype(dtype)


def csr_matrix(value: Any = None, dtype: Any = None, shape: Any = None, name: str | None = None) -> SparseMatrix:
    """A sparse matrix in compressed rows; see `matrix`."""
    return matrix("csr", value, dtype, shape, name)


def csc_matrix(value: Any = None, dtype: Any = None, shape: Any = None, name: str | None = None) -> SparseMatrix:
    """A sparse matrix in compressed columns; see `matrix`."""
    return matrix("csc", value, dtype, shape, name)


def coo_matrix(value: Any = None, dtype: Any = None, shape: Any = None, name: str | None = None) -> SparseMatrix:
    """A sparse matrix as coordinates, where places may repeat; see `matrix`."""
    return matrix("coo", value, dtype, shape, name)


def _variable(format: str, name: str | None, dtype: Any) -> SparseMatrix:
    data, first, second, rows, columns = (None if name is None else f"{name}.{label}" for label in LABELS[format])
    places = [T.vector(own, dtype="int32") for own in (first, second)]
    lengths = [T.scalar(own, dtype="int64") for own in (rows, columns)]
    return SparseMatrix(format, (T.vector(data) if dtype is None else T.vector(data, dtype=dtype), *places, *lengths))


def _of_value(format: str, value: Any, shape: Any) -> SparseMatrix:
    if is_sparse(value):
        return sparse(value if isinstance(value, SparseMatrix) else value.asformat(format), "matrix").asformat(format)
    if isinstance(value, tuple) and len(value) == (2 if format == "coo" else 3):
        return _of_parts(format, value, shape)
    x = T.as_tensor(value)
    if x.ndim != 2:
        raise TypeError(f"{format}_matrix: expected a matrix, got {describe(x)}")
    transposed = format == "csc"
    x = x.T if transposed else x
    rows, columns = T.nonzero(x)
    lengths = (T.lengths_of(x)[0], T.lengths_of(x)[1])
    found = of_sorted("csr" if transposed else format, x[rows, columns], rows, columns, lengths)
    return found.transpose() if transposed else found


def _of_parts(format: str, value: Any, shape: Any) -> SparseMatrix:
    if (isinstance(shape, (tuple, list)) and len(shape) != 2) or not isinstance(shape, (Variable, tuple, list)):
        raise TypeError(f"{format}_matrix: shape is {shown(shape)}; expected two lengths beside the parts")
    data, *places = (value[0], *value[1]) if format == "coo" else value
    found = [T.as_tensor(v) for v in (data, *places)]
    for label, v in zip(LABELS[format], found, strict=False):
        if v.ndim != 1 or (label != "data" and v.type.kind not in "iu"):
            kind = "a vector" if label == "data" else "a vector of integers"
            raise TypeError(f"{format}_matrix: {label} is {describe(v)}; expected {kind}")
    both: Any = shape
    lengths = [T.cast(T.as_tensor(both[k]), "int64") for k in (0, 1)]
    return SparseMatrix(format, (found[0], *(T.cast(v, "int32") for v in found[1:]), *lengths))


def diags(diagonal: Any, format: str = "csr") -> SparseMatrix:
    """The square matrix with a vector on its diagonal."""
    d = T.as_tensor(diagonal)
    if d.ndim != 1:
        raise ValueError(f"diags: expected a vector, got {describe(d)}")
    (n,) = T.lengths_of(d)
    places = T.arange(n)
    return of_sorted(format, d, places, places, (n, n))


def eye(n: Any, format: str = "csr", dtype: Any = "float64") -> SparseMatrix:
    """The identity matrix of `n` rows."""
    return diags(T.ones(n, dtype=dtype), format)
