"""Products with sparse matrices.

A product with a dense operand is one op (rows.py).  For integers the rows that elements need are gathered, multiplied,
and added up by row.  One of two sparse matrices is a pattern (patterns.py), then its elements (values.py).
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import Variable
from ...record.spelling import counted
from ..core.checks import describe
from ..core.namespace import T
from ..shapes.lengths import known_length
from ..shapes.specify import CheckLengths
from . import rows
from .patterns import SparsePattern
from .sparse_matrix import SparseMatrix, issparse, sparse
from .values import SparseValues, summed_pairs

__all__ = ["dot", "sampling_dot", "structured_dot", "usmm"]


def dot(x: Any, y: Any) -> Any:
    """Return the product: dense with a dense vector or matrix on one side, sparse for two sparse matrices.

    Raises TypeError if no operand is sparse, ValueError for a dense one of another rank, and when a call gives lengths
    that do not fit.
    """
    if issparse(x) and issparse(y):
        return _sparse_product(sparse(x, "dot"), sparse(y, "dot"))
    if issparse(x):
        return _times_dense(sparse(x, "dot"), T.as_tensor(y))
    if not issparse(y):
        raise TypeError("sparse.dot: no operand is sparse; use T.dot(x, y)")
    found = _times_dense(sparse(y, "dot").transpose(), _transposed(T.as_tensor(x)))
    return _transposed(found)


structured_dot = dot
"""Theano's name of `dot`: the derivative by a sparse operand has its pattern, as everywhere here."""


def _transposed(x: Any) -> Any:
    return x.T if x.ndim == 2 else x


def _times_dense(x: SparseMatrix, y: Any) -> Any:
    if y.ndim not in (1, 2):
        if y.ndim == 0:
            raise ValueError(f"dot: {describe(y)} is a scalar; use A * s")
        raise ValueError(
            f"dot: {describe(y)} has {counted(y.ndim, 'axis')}; expected a vector or a matrix beside {x!r}"
        )
    dense = fitting(y, 0, x.lengths[1], "the dense operand of a sparse product")
    dtype = T.result_type(x.data, dense)
    data = T.cast(x.data, np.dtype(dtype).name)
    if data.dtype in rows.DTYPES:
        dense = T.cast(dense, data.dtype)
        if x.format == "coo":
            return rows.SparseEntries()(data, *x.parts[1:3], dense, x.lengths[0])
        indices, indptr = x.parts[1:3]
        majors = x.lengths[0] if x.format == "csr" else x.lengths[1]
        checked = CheckLengths((("indptr of the sparse matrix", 0),), declared=False)
        indptr = checked(indptr, T.lengths_of(indptr)[0], majors + 1)
        if x.format == "csr":
            return rows.SparseRows()(data, indices, indptr, dense)
        return rows.SparseAcross()(data, indices, indptr, dense, x.lengths[0])
    row, column = x.places
    terms = (x.data if y.ndim == 1 else T.dimshuffle(x.data, 0, "x")) * dense[column]
    shape = (x.lengths[0], *T.lengths_of(dense)[1:])
    return T.inc_subtensor(T.zeros(shape, terms.dtype)[row], terms)


def fitting(value: Any, axis: int, length: Any, subject: str) -> Any:
    """Return `value`.  Raises ValueError, naming it, if its `axis` has another length, if need be in a call."""
    known, own = known_length(T.as_tensor(length)), value.type.shape[axis]
    if None not in (known, own) and known != own:
        raise ValueError(f"{subject}: expected length {known} on axis {axis}, got {describe(value)}")
    return CheckLengths(((subject, axis),), declared=False)(value, T.lengths_of(value)[axis], length)


def _sparse_product(x: SparseMatrix, y: SparseMatrix) -> SparseMatrix:
    if x.format == "csc":
        return _of_rows(y.tocsc().transpose(), x.transpose(), y.lengths[0], x.lengths[1]).transpose()
    return _of_rows(x.tocsr(), y.tocsr(), y.lengths[0], x.lengths[1])


def _of_rows(x: SparseMatrix, y: SparseMatrix, have: Any, want: Any) -> SparseMatrix:
    """Return the product of two matrices in the format csr; a call raises ValueError if `have` is not `want`."""
    subject = (("the rows of the second sparse matrix", 0),)
    data, second = y.parts[:2]
    ends = CheckLengths(subject, declared=False)(y.parts[2], have, want)
    n = y.lengths[1]
    known, found = SparsePattern()(*x.parts[1:3], second, ends, n)
    dtype = np.dtype(T.result_type(x.data, data)).name
    ours, theirs = ((T.cast(v, dtype), *places) for v, places in ((x.data, x.parts[1:3]), (data, (second, ends))))
    if dtype in rows.DTYPES:
        values = SparseValues()(*ours, *theirs, known, found, n)
    else:
        values = summed_pairs(ours, theirs, known, found, n)
    return SparseMatrix("csr", (values, known, found, x.lengths[0], n))


def sampling_dot(x: Any, y: Any, p: Any) -> SparseMatrix:
    """Return the elements of `dot(x, y.T)` at the stored places of `p`, times the elements of `p`, as sparse as p.

    `x`, `y`: dense matrices of as many columns.  Source: Theano's `sampling_dot`.
    """
    p = sparse(p, "sampling_dot")
    a, b = (_matrix(v, "sampling_dot") for v in (x, y))
    a = fitting(a, 0, p.lengths[0], "the first operand of sampling_dot")
    b = fitting(b, 0, p.lengths[1], "the second operand of sampling_dot")
    row, column = p.places
    return p.with_data(T.sum(a[row] * b[column], axis=1) * p.data)


def _matrix(value: Any, what: str) -> Variable:
    found = T.as_tensor(value)
    if found.ndim != 2:
        raise ValueError(f"{what}: {describe(found)} has {counted(found.ndim, 'axis')}; expected a matrix")
    return found


def usmm(alpha: Any, x: Any, y: Any, z: Any) -> Any:
    """Return `alpha * dot(x, y) + z`, dense; one of `x` and `y` is sparse.  Source: Theano's `usmm`."""
    return T.as_tensor(alpha) * dot(x, y) + T.as_tensor(z)
