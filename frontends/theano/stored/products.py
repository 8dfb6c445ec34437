"""Products of sparse matrices, and parts of them: those of `T.sparse`, in Theano's dtypes."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ....ops.sparse import parts
from ....ops.sparse import products as core
from ..tensors.dtypes import upcast
from ..tensors.elementwise import cast
from ..tensors.variables import as_tensor_variable, lower, wrap
from .ops import dense_from_sparse, in_one_dtype, transpose
from .types import SparseVariable, as_sparse_variable, is_sparse, of_matrix


def structured_dot(x: Any, y: Any) -> Any:
    """The product of a sparse and a dense matrix, dense; of two sparse matrices, sparse.

    The derivative by the sparse one has its pattern.
    """
    if is_sparse(x) and is_sparse(y):
        return true_dot(x, y)
    if not is_sparse(x):
        return structured_dot(transpose(y), as_tensor_variable(x).T).T
    x, y = as_sparse_variable(x), as_tensor_variable(y)
    if y.ndim not in (1, 2):
        raise TypeError(f"structured_dot: the dense operand must be a matrix or a vector, got {y} of type {y.type}")
    dtype = upcast(x.dtype, y.dtype)
    matrix = x.matrix.with_data(cast(x.data, dtype).core)
    return wrap(core.dot(matrix, cast(y, dtype).core), y, *x.parts)


def dot(x: Any, y: Any) -> Any:
    """The dense product of two matrices, at least one of them sparse."""
    if not (is_sparse(x) or is_sparse(y)):
        raise TypeError("theano.sparse.dot: one operand is sparse or both are; use T.dot(x, y)")
    return structured_dot(x, dense_from_sparse(y)) if is_sparse(x) and is_sparse(y) else structured_dot(x, y)


def true_dot(x: Any, y: Any, grad_preserves_dense: bool = True) -> Any:
    """The product of two sparse matrices, sparse in the format of the first."""
    if not (is_sparse(x) and is_sparse(y)):
        return structured_dot(x, y)
    return of_matrix(core.dot(*in_one_dtype(as_sparse_variable(x), as_sparse_variable(y))))


def sampling_dot(x: Any, y: Any, p: Any) -> Any:
    """The elements of dot(x, y.T) at the nonzero positions of `p`, times the elements of `p`."""
    x, y, p = as_tensor_variable(x), as_tensor_variable(y), as_sparse_variable(p)
    dtype = upcast(x.dtype, y.dtype, p.dtype)
    matrix = p.matrix.with_data(cast(p.data, dtype).core)
    return of_matrix(core.sampling_dot(cast(x, dtype).core, cast(y, dtype).core, matrix))


def usmm(alpha: Any, x: Any, y: Any, z: Any) -> Any:
    """alpha times the product of `x` and `y`, plus `z`."""
    return as_tensor_variable(alpha) * dot(x, y) + as_tensor_variable(z)


def part_of(x: SparseVariable, key: Any) -> Any:
    """Rows of a csr matrix or columns of a csc one, as a slice or a vector of positions; one element, as a scalar.

    Raises NotImplementedError for other indices.
    """
    key = key if isinstance(key, tuple) else (key,)
    if len(key) == 2 and not any(isinstance(k, slice) for k in key):
        row, column = (as_tensor_variable(k) for k in key)
        if row.ndim == column.ndim == 0:
            return wrap(parts.element(x.matrix, row.core, column.core), *x.parts)
    own = key[0] if x.format == "csr" else key[-1]
    others = key[1:] if x.format == "csr" else key[:-1]
    if any(k != slice(None) for k in others) or (x.format == "csc" and len(key) != 2):
        what = "rows x[...]" if x.format == "csr" else "columns x[:, ...]"
        raise NotImplementedError(f"a sparse {x.format} matrix takes {what} or one element as index; use x.toarray()")
    if isinstance(own, slice):
        count = T.shape(x.parts[2].core)[0] - 1
        return of_matrix(parts.chosen(x.matrix, T.arange(count)[lower(own)]))
    places = as_tensor_variable(own)
    if places.ndim != 1 or not places.dtype.startswith(("int", "uint")):
        raise NotImplementedError(f"a sparse matrix is indexed by slices and vectors of integers, got {places.type}")
    return of_matrix(parts.chosen(x.matrix, places.core))
