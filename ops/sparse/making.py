"""Sparse matrices as new variables, of SciPy's values, of dense matrices and of their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import Variable
from ..core.checks import describe, shown
from ..core.namespace import T
from .entries import of_sorted
from .sparse_matrix import LABELS, SparseMatrix, issparse, sparse

__all__ = [
    "coo_array", "coo_matrix", "csc_array", "csc_matrix", "csr_array", "csr_matrix", "diags", "diags_array", "eye",
    "eye_array", "matrix",
]  # fmt: skip


def matrix(
    format: str, value: Any = None, dtype: Any = None, shape: Any = None, name: str | None = None
) -> SparseMatrix:  # fmt: skip
    """A sparse matrix in a format, "csr", "csc" or "coo".

    Args:
        value: None or a name for a new variable, an argument of functions; a sparse matrix of SciPy's, a constant; a
            sparse or a dense matrix of variables, which is converted; a tuple of parts as SciPy takes it,
            `(data, (row, col))`, or `(data, indices, indptr)` of csr and csc; two lengths, for a matrix of zeros.
        dtype: that of the elements; by default that of the value, of a variable the default of `T.vector`.
        shape: the lengths, for a tuple of parts; by default the least that hold all elements.
        name: the name of a new variable.

    Raises ValueError for another format, TypeError for other values.
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
    if issparse(value):
        return sparse(value if isinstance(value, SparseMatrix) else value.asformat(format), "matrix").asformat(format)
    if isinstance(value, tuple) and len(value) == 2 and not isinstance(value[1], (tuple, list)):
        nothing = T.zeros(0, "int64"), T.zeros(0, "int64")
        return _of_parts(format, (T.zeros(0), nothing), value)
    if isinstance(value, tuple) and len(value) in ((2,) if format == "coo" else (2, 3)):
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
    own = "coo" if len(value) == 2 else format
    data, *places = (value[0], *value[1]) if own == "coo" else value
    found = [T.as_tensor(v) for v in (data, *places)]
    for label, v in zip(LABELS[own], found, strict=False):
        if v.ndim != 1 or (label != "data" and v.type.kind not in "iu"):
            kind = "a vector" if label == "data" else "a vector of integers"
            raise TypeError(f"{format}_matrix: {label} is {describe(v)}; expected {kind}")
    lengths = _lengths(format, shape) if shape is not None else _least_lengths(own, *found[1:])
    made = SparseMatrix(own, (found[0], *(T.cast(v, "int32") for v in found[1:]), *lengths))
    return made.asformat(format)


def _lengths(format: str, shape: Any) -> list[Any]:
    """Return the two lengths.  Raises TypeError for anything else."""
    if (isinstance(shape, (tuple, list)) and len(shape) != 2) or not isinstance(shape, (Variable, tuple, list)):
        raise TypeError(f"{format}_matrix: shape is {shown(shape)}; expected two lengths")
    both: Any = shape
    found = [T.as_tensor(both[k]) for k in (0, 1)]
    if any(n.ndim or n.type.kind not in "iu" for n in found):
        raise TypeError(f"{format}_matrix: shape is {shown(shape)}; expected two lengths")
    return [T.cast(n, "int64") for n in found]


def _least_lengths(format: str, first: Any, second: Any) -> list[Any]:
    """Return the least lengths that hold all elements, which SciPy takes where none are given."""
    beyond = [T.max(T.concatenate([T.cast(p, "int64") + 1, T.zeros(1, "int64")])) for p in (first, second)]
    if format == "coo":
        return beyond
    majors = T.lengths_of(second)[0] - 1
    return [majors, beyond[0]] if format == "csr" else [beyond[0], majors]


def diags(
    diagonals: Any, offsets: Any = 0, shape: Any = None, *, format: str = "csr", dtype: Any = None
) -> SparseMatrix:
    """The matrix with vectors on its diagonals.

    Args:
        diagonals: a vector, for an integer `offsets`; or one for each offset.  A number, or a vector of one element,
            fills its diagonal.
        offsets: how far each diagonal stands above the main one.
        shape: the two lengths; by default a square matrix that the first diagonal fills.
        dtype: that of the elements; by default the joint one of the diagonals.

    Raises ValueError for offsets that repeat or are not as many as the diagonals, TypeError for diagonals of higher
    rank; a call raises ValueError for a diagonal of another length.
    """
    single = isinstance(offsets, (int, np.integer))
    above = [int(offsets)] if single else [int(k) for k in offsets]
    given = [T.as_tensor(d) for d in ([diagonals] if single else diagonals)]
    if not given or len(given) != len(above) or len(set(above)) != len(above):
        raise ValueError(f"diags: expected an offset of its own for each of {len(given)} diagonals, got {above}")
    for d in given:
        if d.ndim > 1:
            raise TypeError(f"diags: expected a number or a vector, got {describe(d)}")
    lengths: tuple[Any, ...]
    if shape is None:
        side = (T.lengths_of(given[0])[0] if given[0].ndim else T.constant(1, "int64")) + abs(above[0])
        lengths = (side, side)
    else:
        lengths = tuple(T.cast(T.as_tensor(shape[k]), "int64") for k in (0, 1))
    parts = []
    for d, k in zip(given, above, strict=True):
        rows, columns = _on_diagonal(lengths, k)
        parts.append((T.broadcast_to(d, T.lengths_of(rows)), rows, columns))
    data, rows, columns = parts[0] if len(parts) == 1 else map(T.concatenate, zip(*parts, strict=True))
    data = data if dtype is None else T.cast(data, dtype)
    if len(parts) == 1:
        return of_sorted(format, data, rows, columns, lengths)
    return SparseMatrix("coo", (data, *(T.cast(p, "int32") for p in (rows, columns)), *lengths)).asformat(format)


def eye(n: Any, m: Any = None, k: int = 0, dtype: Any = "float64", *, format: str = "csr") -> SparseMatrix:
    """The matrix of `n` rows and `m` columns, by default `n`, with ones on the diagonal `k` above the main one."""
    lengths = T.cast(T.as_tensor(n), "int64"), T.cast(T.as_tensor(n if m is None else m), "int64")
    rows, columns = _on_diagonal(lengths, k)
    return of_sorted(format, T.ones(T.lengths_of(rows), dtype=dtype), rows, columns, lengths)


def _on_diagonal(lengths: Any, k: int) -> tuple[Any, Any]:
    """Return the places of the diagonal `k` above the main one: rows, and columns."""
    count = T.maximum(T.minimum(lengths[0] + min(k, 0), lengths[1] - max(k, 0)), 0)
    along = T.arange(count)
    return along - min(k, 0), along + max(k, 0)


csr_array, csc_array, coo_array = csr_matrix, csc_matrix, coo_matrix
diags_array, eye_array = diags, eye
