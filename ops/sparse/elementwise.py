"""Functions of the elements of sparse matrices: sums and products of two, and those that keep zeros zero."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph import Constant
from ...record.spelling import counted
from ..core.checks import describe
from ..core.namespace import T
from ..shapes.specify import SpecifyShape
from .entries import joint_lengths, minors_of, single
from .patterns import SparsePlaces, SparseUnion
from .sparse_matrix import SparseMatrix, issparse, sparse

__all__ = ["add", "divide", "maximum", "minimum", "multiply", "power", "structured", "subtract"]


def structured(function: Callable[..., Any], x: Any, *others: Any) -> SparseMatrix:
    """Return `function` of the stored elements: `structured(T.exp, A)`; zeros that are not stored stay zero.

    `others`: further operands, which are numbers, or dense arrays that broadcast to the shape of the matrix.
    """
    matrix = single(sparse(x, "structured"))
    return matrix.with_data(function(matrix.data, *(_at_places(matrix, o, "structured") for o in others)))


def _at_places(x: SparseMatrix, other: Any, what: str) -> Any:
    """Return the elements of a dense operand, broadcast, where the matrix has elements; a number as it is."""
    if not hasattr(other, "ndim") and not isinstance(other, (list, tuple)):
        return other
    y = T.as_tensor(other)
    if y.ndim > 2:
        raise ValueError(
            f"{what}: {describe(y)} has {counted(y.ndim, 'axis')}; expected a number, a vector or a matrix"
        )
    if y.ndim == 0:
        return y
    rows, columns = x.places
    if y.ndim == 1:
        return y[0] if y.type.shape == (1,) else _checked(y, x.lengths[1:])[columns]
    if y.type.shape[0] == 1:
        return y[0, 0] if y.type.shape[1] == 1 else _checked(y[0], x.lengths[1:])[columns]
    if y.type.shape[1] == 1:
        return _checked(y[:, 0], x.lengths[:1])[rows]
    return T.broadcast_to(y, x.lengths)[rows, columns]


def _checked(y: Any, lengths: Any) -> Any:
    return SpecifyShape("the dense operand beside a sparse matrix")(y, *lengths)


def add(x: Any, y: Any) -> Any:
    """Return the sum: sparse for two sparse matrices, dense with a dense one.

    Raises NotImplementedError for a number that is not zero, as SciPy.
    """
    if not issparse(x):
        x, y = y, x
    x = sparse(x, "add")
    if issparse(y):
        return _merged(x, sparse(y, "add"))
    y = T.as_tensor(y)
    if y.ndim:
        return x.toarray() + y
    if isinstance(y, Constant) and not y.data:
        return x
    raise NotImplementedError(
        f"add: {x!r} and a number: the sum is dense; use A.toarray() + s, or T.sparse.structured(T.add, A, s)"
    )


def _alike(x: SparseMatrix, y: SparseMatrix) -> tuple[SparseMatrix, SparseMatrix, Any]:
    """Return both matrices in a compressed format, and their lengths, which a call checks."""
    format = "csr" if x.format == "coo" else x.format
    x, y = x.asformat(format), y.asformat(format)
    return x, y, joint_lengths(x, y)


def _merged(x: SparseMatrix, y: SparseMatrix) -> SparseMatrix:
    x, y, lengths = _alike(x, y)
    known, indptr, *places = SparseUnion()(*x.parts[1:3], *y.parts[1:3], lengths[1 if x.format == "csr" else 0])
    data = T.zeros(T.lengths_of(known), T.result_type(x.data, y.data))
    for v, at in zip((x, y), places, strict=True):
        data = T.inc_subtensor(data[at], v.data)
    return SparseMatrix(x.format, (data, known, indptr, *lengths))


def maximum(x: Any, y: Any) -> Any:
    """Return the greater of each two elements: sparse for two sparse matrices, dense with a dense one.

    A number that is not above zero keeps the matrix sparse.  Raises NotImplementedError for another number.
    """
    return _extreme("maximum", x, y)


def minimum(x: Any, y: Any) -> Any:
    """Return the lesser of each two elements; see `maximum`.  A number may not be below zero."""
    return _extreme("minimum", x, y)


def _extreme(word: str, x: Any, y: Any) -> Any:
    function = getattr(T, word)
    if not issparse(x):
        x, y = y, x
    x = sparse(x, word)
    if issparse(y):
        x, y, lengths = _alike(x, sparse(y, word))
        known, indptr, *places = SparseUnion()(*x.parts[1:3], *y.parts[1:3], lengths[1 if x.format == "csr" else 0])
        wide = [T.inc_subtensor(T.zeros(T.lengths_of(known), v.dtype)[at], v.data) for v, at in zip((x, y), places)]
        return SparseMatrix(x.format, (function(*wide), known, indptr, *lengths))
    y = T.as_tensor(y)
    if y.ndim:
        return function(x.toarray(), y)
    if isinstance(y, Constant) and getattr(np, word)(0, y.data) == 0:
        return structured(function, x, y)
    raise NotImplementedError(
        f"{word}: {x!r} and a number: where nothing is stored the result is not zero; use T.{word}(A.toarray(), s)"
    )


def subtract(x: Any, y: Any) -> Any:
    """Return the difference: sparse for two sparse matrices, dense with a dense one."""
    return add(x, -sparse(y, "subtract") if issparse(y) else -T.as_tensor(y))


def multiply(x: Any, y: Any) -> SparseMatrix:
    """Return the products of elements, sparse; one operand may be a number or a dense array, which is broadcast."""
    if not issparse(x):
        x, y = y, x
    x = sparse(x, "multiply")
    return _common(x, sparse(y, "multiply")) if issparse(y) else x.with_data(x.data * _at_places(x, y, "multiply"))


def _common(x: SparseMatrix, y: SparseMatrix) -> SparseMatrix:
    """Return the products of the elements that both matrices have."""
    x, y, lengths = _alike(x, y)
    ours, theirs, n = x.parts[1:3], y.parts[1:3], minors_of(x)
    data = T.inc_subtensor(T.zeros_like(y.data)[SparsePlaces()(*theirs, *theirs, n)], y.data)  # repeated places
    at = SparsePlaces()(*ours, *theirs, n)
    (pairs,) = T.nonzero(at >= 0)
    indptr = T.cast(T.searchsorted(pairs, T.cast(ours[1], "int64")), "int32")
    return SparseMatrix(x.format, (x.data[pairs] * data[at[pairs]], ours[0][pairs], indptr, *lengths))


def divide(x: Any, y: Any) -> SparseMatrix:
    """Return each stored element of `x` divided by a number or by its element of a dense array, sparse.

    Raises TypeError for a sparse divisor: the quotient is NaN where both are zero.
    """
    if issparse(y):
        raise TypeError("divide: the divisor is sparse, and 0 / 0 is NaN: use A.toarray() / B.toarray()")
    x = sparse(x, "divide")
    return x.with_data(x.data / _at_places(x, y, "divide"))


def power(x: Any, n: Any) -> SparseMatrix:
    """Return a power of each stored element.

    Raises NotImplementedError for the power 0, and ValueError for one below: those of zeros are not zero.
    """
    if isinstance(n, (int, float)) and n <= 0:
        kind = NotImplementedError if n == 0 else ValueError
        raise kind(f"power: n is {n}, and powers of the zeros would be dense; use A.toarray() ** n")
    x = single(sparse(x, "power"))
    return x.with_data(x.data**n)
