"""`theano.sparse`: functions of sparse matrices, which are those of `T.sparse` in Theano's dtypes.

Gradients are those of the parts, so the derivative by a sparse variable has its pattern.
"""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ....ops.sparse import blocks as stacks
from ....ops.sparse import elementwise, making, sums
from ....ops.sparse.sparse_matrix import SparseMatrix
from ..tensors.dtypes import DISCRETE, upcast
from ..tensors.elementwise import FUNCTIONS, cast
from ..tensors.variables import as_tensor_variable, wrap
from .types import SparseType, SparseVariable, as_sparse_variable, is_sparse, of_matrix


def as_sparse_or_tensor_variable(x: Any, name: str | None = None) -> Any:
    """`x` as a sparse variable if it is sparse, else as a tensor."""
    return as_sparse_variable(x, name) if is_sparse(x) else as_tensor_variable(x, name)


def matrix(format: str, name: str | None = None, dtype: Any = None) -> SparseVariable:
    """A new sparse matrix of a format, "csr" or "csc"."""
    return SparseType(format, dtype or "floatX")(name)  # type: ignore[no-any-return]


def csr_matrix(name: str | None = None, dtype: Any = None) -> SparseVariable:
    """A new sparse matrix in compressed rows."""
    return matrix("csr", name, dtype)


def csc_matrix(name: str | None = None, dtype: Any = None) -> SparseVariable:
    """A new sparse matrix in compressed columns."""
    return matrix("csc", name, dtype)


# --- the parts of a matrix


def csm_properties(csm: Any) -> tuple[Any, Any, Any, Any]:
    """Elements, indices, beginnings and lengths."""
    return csm_data(csm), csm_indices(csm), csm_indptr(csm), csm_shape(csm)


def csm_data(csm: Any) -> Any:
    """The elements."""
    return as_sparse_variable(csm).parts[0]


def csm_indices(csm: Any) -> Any:
    """The column of each element, for csc the row."""
    return as_sparse_variable(csm).parts[1]


def csm_indptr(csm: Any) -> Any:
    """The place among the elements where each row begins, for csc each column, and the end."""
    return as_sparse_variable(csm).parts[2]


def csm_shape(csm: Any) -> Any:
    """The lengths as an int32 vector."""
    return cast(as_sparse_variable(csm).shape, "int32")


def _made(format: str, data: Any, indices: Any, indptr: Any, shape: Any) -> SparseVariable:
    rows, columns = as_tensor_variable(shape)[0], as_tensor_variable(shape)[1]
    data = as_tensor_variable(data)
    places = [cast(v, "int32") for v in (indices, indptr)]
    for role, v in (("data", data), ("indices", places[0]), ("indptr", places[1])):
        if v.ndim != 1:
            raise TypeError(f"{format.upper()}: {role} must be a vector, got {v} of type {v.type}")
    return SparseVariable(SparseType(format, data.dtype), (data, *places, cast(rows, "int64"), cast(columns, "int64")))


def CSR(data: Any, indices: Any, indptr: Any, shape: Any) -> SparseVariable:
    """The matrix in compressed rows of these parts."""
    return _made("csr", data, indices, indptr, shape)


def CSC(data: Any, indices: Any, indptr: Any, shape: Any) -> SparseVariable:
    """The matrix in compressed columns of these parts."""
    return _made("csc", data, indices, indptr, shape)


# --- dense and sparse


def dense_from_sparse(x: Any) -> Any:
    """The matrix with all its zeros."""
    x = as_sparse_variable(x)
    return wrap(x.matrix.toarray(), *x.parts)


def csr_from_dense(x: Any) -> SparseVariable:
    """The elements of a dense matrix that are not zero, row by row."""
    return _from_dense("csr", x)


def csc_from_dense(x: Any) -> SparseVariable:
    """The elements of a dense matrix that are not zero, column by column."""
    return _from_dense("csc", x)


def _from_dense(format: str, x: Any) -> SparseVariable:
    given = as_tensor_variable(x)
    if given.ndim != 2:
        raise TypeError(f"{format}_from_dense takes a matrix, got {given} of type {given.type}")
    return of_matrix(making.matrix(format, given.core))


def transpose(x: Any) -> SparseVariable:
    """Rows as columns: the same parts in the other format."""
    return of_matrix(as_sparse_variable(x).matrix.transpose())


def ensure_sorted_indices(x: Any) -> SparseVariable:
    """The matrix with its elements in order."""
    return of_matrix(as_sparse_variable(x).matrix.sorted_indices())


def remove0(x: Any) -> SparseVariable:
    """The matrix without elements that are zero."""
    return of_matrix(as_sparse_variable(x).matrix.eliminate_zeros())


def clean(x: Any) -> SparseVariable:
    """The matrix with its elements in order and without zeros."""
    return ensure_sorted_indices(remove0(x))


# --- elementwise


def neg(x: Any) -> SparseVariable:
    """The negative."""
    return _mapped("neg", x)


def sp_ones_like(x: Any) -> Any:
    """Ones in the places of the elements."""
    x = as_sparse_variable(x)
    return x.with_data(wrap(T.ones_like(x.data.core)))


def sp_zeros_like(x: Any) -> SparseVariable:
    """A matrix of the same shape without elements."""
    x = as_sparse_variable(x)
    nothing = [wrap(p.core[:0]) for p in x.parts[:2]]
    return SparseVariable(x.type, (*nothing, wrap(T.zeros_like(x.parts[2].core)), *x.parts[3:]))


def _mapped(name: str, x: Any, *others: Any) -> SparseVariable:
    matrix = as_sparse_variable(x)
    return matrix.with_data(FUNCTIONS[name](matrix.data, *others))


def add(x: Any, y: Any) -> Any:
    """The sum: sparse for two sparse matrices, dense with a dense one."""
    if not is_sparse(x):
        x, y = y, x
    x, y = as_sparse_variable(x), as_sparse_or_tensor_variable(y)
    if not isinstance(y, SparseVariable):
        return dense_from_sparse(x) + y
    return of_matrix(elementwise.add(*in_one_dtype(x, y)))


def in_one_dtype(*matrices: SparseVariable) -> list[SparseMatrix]:
    """The matrices for the core, in the dtype that Theano computes in."""
    dtype = upcast(*(x.dtype for x in matrices))
    return [x.matrix.with_data(cast(x.data, dtype).core) for x in matrices]


def sub(x: Any, y: Any) -> Any:
    """The difference."""
    return add(x, neg(y) if is_sparse(y) else -as_tensor_variable(y))


def mul(x: Any, y: Any) -> Any:
    """The product of elements, sparse; the other operand is a number, a dense or a sparse matrix."""
    if not is_sparse(x):
        x, y = y, x
    x, y = as_sparse_variable(x), as_sparse_or_tensor_variable(y)
    if isinstance(y, SparseVariable):
        return of_matrix(elementwise.multiply(*in_one_dtype(x, y)))
    if y.ndim not in (0, 2):
        raise NotImplementedError(f"mul takes a number or a matrix, got {y} of type {y.type}; use mul_s_v(x, y)")
    if y.ndim == 0 or all(y.broadcastable):
        return x.with_data(x.data * y.flatten()[0])
    whole = T.broadcast_to(y.core, x.lengths) if any(y.broadcastable) else T.specify_shape(y.core, x.lengths)
    return x.with_data(x.data * wrap(whole[x.places], y, *x.parts))


def mul_s_v(x: Any, y: Any) -> SparseVariable:
    """Each row times a vector."""
    return _by_vector("mul", x, y, 1)


def structured_add_s_v(x: Any, y: Any) -> SparseVariable:
    """Each row plus a vector, in the places of the elements."""
    return _by_vector("add", x, y, 1)


def col_scale(x: Any, s: Any) -> SparseVariable:
    """Each column times its element of a vector."""
    return _by_vector("mul", x, s, 1)


def row_scale(x: Any, s: Any) -> SparseVariable:
    """Each row times its element of a vector."""
    return _by_vector("mul", x, s, 0)


def _by_vector(name: str, x: Any, y: Any, axis: int) -> SparseVariable:
    matrix, vector = as_sparse_variable(x), as_tensor_variable(y)
    if vector.ndim != 1:
        raise TypeError(f"expected a vector, got {vector} of type {vector.type}")
    return matrix.with_data(FUNCTIONS[name](matrix.data, wrap(vector.core[matrix.places[axis]], vector)))


def structured_add(x: Any, y: Any) -> SparseVariable:
    """A number added to each element."""
    return _mapped("add", x, y)


def structured_pow(x: Any, y: Any) -> SparseVariable:
    """A power of each element."""
    return _mapped("pow", x, y)


def structured_minimum(x: Any, y: Any) -> SparseVariable:
    """The smaller of each element and a number."""
    return _mapped("minimum", x, y)


def structured_maximum(x: Any, y: Any) -> SparseVariable:
    """The larger of each element and a number."""
    return _mapped("maximum", x, y)


# --- sums


def sp_sum(x: Any, axis: int | None = None, sparse_grad: bool = False) -> Any:
    """The sum of the elements, dense: of all, or along an axis.

    Raises ValueError for an axis that a matrix does not have.
    """
    x = as_sparse_variable(x)
    if axis is None:
        return x.data.sum(dtype=x.dtype) if x.dtype in DISCRETE else x.data.sum()
    if axis not in (0, 1, -1, -2):
        raise ValueError(f"sp_sum: axis is {axis}; a matrix has the axes 0 and 1")
    return wrap(sums.total(x.matrix, axis, x.dtype), *x.parts)


def diag(x: Any) -> Any:
    """The diagonal, dense."""
    x = as_sparse_variable(x)
    return wrap(x.matrix.diagonal(), *x.parts)


def square_diagonal(diag: Any) -> SparseVariable:
    """The square matrix with a vector on its diagonal."""
    return of_matrix(making.diags(as_tensor_variable(diag).core, format="csc"))


def hstack(blocks: Any, format: str | None = None, dtype: Any = None) -> SparseVariable:
    """Matrices side by side."""
    return of_matrix(stacks.hstack(_blocks(blocks, dtype), format or "csc"))


def vstack(blocks: Any, format: str | None = None, dtype: Any = None) -> SparseVariable:
    """Matrices one below the other."""
    return of_matrix(stacks.vstack(_blocks(blocks, dtype), format or "csc"))


def _blocks(blocks: Any, dtype: Any) -> list[SparseMatrix]:
    found = in_one_dtype(*map(as_sparse_variable, blocks))
    return [b.astype(dtype) for b in found] if dtype else found
