"""Products of sparse matrices, and parts of them.

A product gathers the rows of the dense operand that elements need, multiplies, and adds them up by row.
"""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ....ops.shapes.specify import CheckLengths
from ..tensors.dtypes import upcast
from ..tensors.variables import as_tensor_variable, lower, wrap
from .ops import csc_from_dense, csr_from_dense, dense_from_sparse, transpose
from .types import SparseVariable, as_sparse_variable, is_sparse


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
    rows, columns = x.places
    data = T.cast(x.data.core, dtype)
    dense = T.cast(y.core, dtype)
    dense = CheckLengths((("the dense operand of a sparse product", 0),), declared=False)(
        dense, T.shape(dense)[0], x.lengths[1]
    )
    shape = (x.lengths[0],) if y.ndim == 1 else (x.lengths[0], T.shape(dense)[1])
    terms = T.mul(data if y.ndim == 1 else T.dimshuffle(data, 0, "x"), dense[columns])
    return wrap(T.inc_subtensor(T.zeros(shape, dtype)[rows], terms), y, *x.parts)


def dot(x: Any, y: Any) -> Any:
    """The dense product of two matrices, at least one of them sparse."""
    if not (is_sparse(x) or is_sparse(y)):
        raise TypeError("theano.sparse.dot: one operand is sparse or both are; use T.dot(x, y)")
    return structured_dot(x, dense_from_sparse(y)) if is_sparse(x) and is_sparse(y) else structured_dot(x, y)


def true_dot(x: Any, y: Any, grad_preserves_dense: bool = True) -> Any:
    """The product of two sparse matrices, sparse in the format of the first; it is dense in between."""
    if not (is_sparse(x) and is_sparse(y)):
        return structured_dot(x, y)
    x = as_sparse_variable(x)
    found = structured_dot(x, dense_from_sparse(y))
    return csr_from_dense(found) if x.format == "csr" else csc_from_dense(found)


def sampling_dot(x: Any, y: Any, p: Any) -> Any:
    """The elements of dot(x, y.T) at the nonzero positions of `p`, times the elements of `p`."""
    x, y, p = as_tensor_variable(x), as_tensor_variable(y), as_sparse_variable(p)
    rows, columns = p.places
    products = (wrap(x.core[rows], x) * wrap(y.core[columns], y)).sum(axis=1)
    return p.with_data(products * p.data)


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
            return _element(x, row.core, column.core)
    own = key[0] if x.format == "csr" else key[-1]
    others = key[1:] if x.format == "csr" else key[:-1]
    if any(k != slice(None) for k in others) or (x.format == "csc" and len(key) != 2):
        what = "rows x[...]" if x.format == "csr" else "columns x[:, ...]"
        raise NotImplementedError(f"a sparse {x.format} matrix takes {what} or one element as index; use x.toarray()")
    if isinstance(own, slice):
        count = T.shape(x.parts[2].core)[0] - 1
        return _chosen(x, T.arange(count)[lower(own)])
    places = as_tensor_variable(own)
    if places.ndim != 1 or not places.dtype.startswith(("int", "uint")):
        raise NotImplementedError(f"a sparse matrix is indexed by slices and vectors of integers, got {places.type}")
    return _chosen(x, places.core)


def _chosen(x: SparseVariable, order: Any) -> SparseVariable:
    """The rows of a csr matrix at these positions, or the columns of a csc one."""
    indptr = T.cast(x.parts[2].core, "int64")
    starts = indptr[:-1][order]
    sizes = T.sub(indptr[1:][order], starts)
    ends = T.cumsum(sizes)
    places = T.add(T.arange(T.sum(sizes)), T.repeat(T.sub(starts, T.sub(ends, sizes)), sizes))
    parts = [wrap(p.core[places]) for p in x.parts[:2]]
    begins = T.cast(T.concatenate([T.zeros(1, "int64"), ends]), "int32")
    lengths = list(x.parts[3:])
    lengths[0 if x.format == "csr" else 1] = wrap(T.shape(ends)[0])
    return SparseVariable(x.type, (*parts, wrap(begins), *lengths))


def _element(x: SparseVariable, row: Any, column: Any) -> Any:
    """One element; a negative position counts from the end.  A call raises IndexError for one that is not there."""
    wanted = [T.arange(n)[k] for k, n in zip((row, column), x.lengths, strict=True)]
    there = T.and_(*(T.eq(own, k) for own, k in zip(x.places, wanted, strict=True)))
    return wrap(T.sum(T.switch(there, x.data.core, T.constant(0, x.dtype))), *x.parts)
