"""Products of sparse matrices, and parts of them.

A product gathers the rows of the dense operand that elements need, multiplies, and adds them up by row.
"""

from __future__ import annotations

from typing import Any

from ... import ops as T
from .dtypes import upcast
from .sparse_ops import csc_from_dense, csr_from_dense, dense_from_sparse, transpose
from .sparse_types import SparseVariable, as_sparse_variable, is_sparse
from .variables import as_tensor_variable, wrap


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
        raise TypeError(f"structured_dot: the dense operand is a matrix or a vector, got {y} of type {y.type}")
    dtype = upcast(x.dtype, y.dtype)
    rows, columns = x.places
    data = T.cast(x.data.core, dtype)
    dense = T.cast(y.core, dtype)
    dense = T.CheckLengths((("the dense operand of a sparse product", 0),), declared=False)(
        dense, T.shape(dense)[0], x.lengths[1]
    )
    shape = (x.lengths[0],) if y.ndim == 1 else (x.lengths[0], T.shape(dense)[1])
    terms = T.mul(data if y.ndim == 1 else T.dimshuffle(data, 0, "x"), dense[columns])
    return wrap(T.inc_subtensor(T.zeros(shape, dtype)[rows], terms), y, *x.parts)


def dot(x: Any, y: Any) -> Any:
    """The product of two matrices of which one is sparse or both are, dense."""
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
    """The elements of dot(x, y.T) in the places of `p`, times those of `p`."""
    x, y, p = as_tensor_variable(x), as_tensor_variable(y), as_sparse_variable(p)
    rows, columns = p.places
    products = (wrap(x.core[rows], x) * wrap(y.core[columns], y)).sum(axis=1)
    return p.with_data(products * p.data)


def usmm(alpha: Any, x: Any, y: Any, z: Any) -> Any:
    """alpha times the product of `x` and `y`, plus `z`."""
    return as_tensor_variable(alpha) * dot(x, y) + as_tensor_variable(z)


def rows_of(x: SparseVariable, key: Any) -> SparseVariable:
    """Some consecutive rows of a csr matrix, or columns of a csc one.

    Raises NotImplementedError for other indices.
    """
    key = key if isinstance(key, tuple) else (key,)
    own = key[0] if x.format == "csr" else key[-1]
    others = key[1:] if x.format == "csr" else key[:-1]
    whole = all(k == slice(None) for k in others) and (x.format == "csr" or len(key) == 2)
    if not (whole and isinstance(own, slice) and own.step is None):
        what = "rows x[a:b]" if x.format == "csr" else "columns x[:, a:b]"
        raise NotImplementedError(f"an index of a sparse {x.format} matrix takes consecutive {what}; use x.toarray()")
    axis = 0 if x.format == "csr" else 1
    starts = wrap(x.parts[2].core[:-1])[own]
    ends = wrap(x.parts[2].core[1:])[own]
    count = T.shape(starts.core)[0]
    edge = T.concatenate([starts.core, ends.core[-1:]])
    first, last = (T.sum(e) for e in (edge[:1], edge[-1:]))
    indptr = T.concatenate([T.zeros(1, "int32"), ends.core - T.cast(first, "int32")])
    parts = [wrap(p.core[first:last]) for p in x.parts[:2]]
    lengths = list(x.parts[3:])
    lengths[axis] = wrap(count)
    return SparseVariable(x.type, (*parts, wrap(indptr), *lengths))
