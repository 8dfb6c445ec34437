"""`theano.sparse`: functions of sparse matrices, built of the core's gathers, scatters and sums.

An element of a matrix is its row, its column and a number.  Sums of two matrices merge their elements in order.
Gradients are those of the parts, so the derivative by a sparse variable has its pattern.
"""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ....ops.shapes.specify import CheckLengths
from ..tensors.dtypes import DISCRETE, upcast
from ..tensors.elementwise import FUNCTIONS, cast
from ..tensors.variables import as_tensor_variable, wrap
from .types import SparseType, SparseVariable, as_sparse_variable, is_sparse


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


def _of_sorted(format: str, data: Any, rows: Any, columns: Any, lengths: tuple[Any, Any]) -> SparseVariable:
    """The matrix of elements in the order of the format, for the core."""
    majors, minors = (rows, columns) if format == "csr" else (columns, rows)
    count = lengths[0] if format == "csr" else lengths[1]
    indptr = T.cast(T.searchsorted(majors, T.arange(count + 1, dtype=majors.dtype)), "int32")
    parts = (data, T.cast(minors, "int32"), indptr, *lengths)
    return SparseVariable(SparseType(format, data.dtype), tuple(wrap(p) for p in parts))


def _keys(x: SparseVariable, format: str, lengths: tuple[Any, Any]) -> Any:
    """One number for the place of each element, in the order of a format."""
    rows, columns = (T.cast(p, "int64") for p in x.places)
    return rows * lengths[1] + columns if format == "csr" else columns * lengths[0] + rows


def _of_keys(format: str, data: Any, keys: Any, lengths: tuple[Any, Any]) -> SparseVariable:
    """The matrix of elements with these sorted keys."""
    minor = lengths[1] if format == "csr" else lengths[0]
    majors, minors = keys // minor, keys % minor
    rows, columns = (majors, minors) if format == "csr" else (minors, majors)
    return _of_sorted(format, data, rows, columns, lengths)


# --- dense and sparse


def dense_from_sparse(x: Any) -> Any:
    """The matrix with all its zeros."""
    x = as_sparse_variable(x)
    zeros = T.zeros(x.lengths, x.dtype)
    return wrap(T.inc_subtensor(zeros[x.places], x.data.core), *x.parts)


def csr_from_dense(x: Any) -> SparseVariable:
    """The elements of a dense matrix that are not zero, row by row."""
    given = as_tensor_variable(x)
    if given.ndim != 2:
        raise TypeError(f"csr_from_dense takes a matrix, got {given} of type {given.type}")
    x = given.core
    rows, columns = T.nonzero(x)
    lengths = (T.shape(x)[0], T.shape(x)[1])
    return _of_sorted("csr", x[rows, columns], rows, columns, lengths)


def csc_from_dense(x: Any) -> SparseVariable:
    """The elements of a dense matrix that are not zero, column by column."""
    return transpose(csr_from_dense(as_tensor_variable(x).T))


def transpose(x: Any) -> SparseVariable:
    """Rows as columns: the same parts in the other format."""
    x = as_sparse_variable(x)
    kind = SparseType("csc" if x.format == "csr" else "csr", x.dtype)
    return SparseVariable(kind, (*x.parts[:3], x.parts[4], x.parts[3]))


def ensure_sorted_indices(x: Any) -> SparseVariable:
    """The matrix with its elements in order."""
    x = as_sparse_variable(x)
    keys = _keys(x, x.format, x.lengths)
    order = T.argsort(keys)
    return _of_keys(x.format, x.data.core[order], keys[order], x.lengths)


def remove0(x: Any) -> SparseVariable:
    """The matrix without elements that are zero."""
    x = as_sparse_variable(x)
    (kept,) = T.nonzero(x.data.core)
    rows, columns = x.places
    return _of_sorted(x.format, x.data.core[kept], rows[kept], columns[kept], x.lengths)


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
    lengths = _joint(x, y)
    keys, places = T.unique(
        T.concatenate([_keys(v, x.format, lengths) for v in (x, y)]), return_inverse=True
    )
    dtype = upcast(x.dtype, y.dtype)
    data = T.concatenate([T.cast(v.data.core, dtype) for v in (x, y)])
    total = T.inc_subtensor(T.zeros(T.shape(keys)[0], dtype)[places], data)
    return _of_keys(x.format, total, keys, lengths)


def sub(x: Any, y: Any) -> Any:
    """The difference."""
    return add(x, neg(y) if is_sparse(y) else -as_tensor_variable(y))


def mul(x: Any, y: Any) -> Any:
    """The product of elements, sparse; the other operand is a number, a dense or a sparse matrix."""
    if not is_sparse(x):
        x, y = y, x
    x, y = as_sparse_variable(x), as_sparse_or_tensor_variable(y)
    if isinstance(y, SparseVariable):
        return _common(x, y)
    if y.ndim not in (0, 2):
        raise NotImplementedError(f"mul takes a number or a matrix, got {y} of type {y.type}; use mul_s_v(x, y)")
    if y.ndim == 0 or all(y.broadcastable):
        return x.with_data(x.data * y.flatten()[0])
    whole = T.broadcast_to(y.core, x.lengths) if any(y.broadcastable) else T.specify_shape(y.core, x.lengths)
    return x.with_data(x.data * wrap(whole[x.places], y, *x.parts))


def _common(x: SparseVariable, y: SparseVariable) -> SparseVariable:
    """The products of the elements that both matrices have."""
    lengths = _joint(x, y)
    ours, theirs = _keys(x, x.format, lengths), _keys(y, x.format, lengths)
    order = T.argsort(theirs)
    theirs = theirs[order]
    last = T.maximum(T.shape(theirs)[0] - 1, 0)
    (pairs,) = T.nonzero(T.lt(T.searchsorted(theirs, ours), T.searchsorted(theirs, ours, "right")))
    found = T.minimum(T.searchsorted(theirs, ours[pairs]), last)
    data = cast(x.data, upcast(x.dtype, y.dtype))
    rows, columns = x.places
    products = T.mul(data.core[pairs], y.data.core[order][found])
    return _of_sorted(x.format, products, rows[pairs], columns[pairs], lengths)


def _joint(x: SparseVariable, y: SparseVariable) -> tuple[Any, Any]:
    """The lengths of both matrices, which must be equal."""
    pairs = [n.core for k in (3, 4) for n in (y.parts[k], x.parts[k])]
    subjects = tuple(("the length of the second sparse matrix", axis) for axis in (0, 1))
    checked = CheckLengths(subjects, declared=False)(x.parts[3].core, *pairs)
    return checked, x.parts[4].core


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
    kept = 1 - axis % 2
    zeros = T.zeros(x.lengths[kept], x.dtype)
    return wrap(T.inc_subtensor(zeros[x.places[kept]], x.data.core), *x.parts)


def diag(x: Any) -> Any:
    """The diagonal, dense."""
    x = as_sparse_variable(x)
    rows, columns = x.places
    (on,) = T.nonzero(T.eq(rows, columns))
    zeros = T.zeros(T.minimum(*x.lengths), x.dtype)
    return wrap(T.inc_subtensor(zeros[rows[on]], x.data.core[on]), *x.parts)


def square_diagonal(diag: Any) -> SparseVariable:
    """The square matrix with a vector on its diagonal."""
    d = as_tensor_variable(diag)
    n = T.shape(d.core)[0]
    places = T.arange(n)
    return _of_sorted("csc", d.core, places, places, (n, n))


def hstack(blocks: Any, format: str | None = None, dtype: Any = None) -> SparseVariable:
    """Matrices side by side."""
    return transpose(vstack([transpose(b) for b in blocks], {"csr": "csc"}.get(format or "csc", "csr"), dtype))


def vstack(blocks: Any, format: str | None = None, dtype: Any = None) -> SparseVariable:
    """Matrices one below the other."""
    given, kind = [as_sparse_variable(b) for b in blocks], format or "csc"
    dtype = dtype or upcast(*(b.dtype for b in given))
    above: Any = T.constant(0, "int64")
    rows, columns = [], []
    for b in given:
        own = [T.cast(p, "int64") for p in b.places]
        rows.append(own[0] + above)
        columns.append(own[1])
        above = above + b.lengths[0]
    lengths = (above, given[0].lengths[1])
    down, across = T.concatenate(rows), T.concatenate(columns)
    order = T.argsort(down * lengths[1] + across if kind == "csr" else across * lengths[0] + down)
    data = T.concatenate([T.cast(b.data.core, dtype) for b in given])
    return _of_sorted(kind, data[order], down[order], across[order], lengths)
