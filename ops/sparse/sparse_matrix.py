"""`SparseMatrix`: a matrix of variables for its elements that are stored, and for their places.

    A = T.sparse.csr_matrix("A")
    x = T.vector("x")
    f = ag.function([A, x], A @ x)          # f(scipy_matrix, vector)

The parts are those of SciPy, `data`, `indices` and `indptr`, or `data`, `row` and `col` of the format coo, then the
two lengths as int64 scalars.  It is a tree of its parts, so every function of trees takes it.  Positions have no
derivatives.
Source of the conventions: the sparse arrays of SciPy, where `*` works element by element.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...graph import Variable
from ...record import lazy
from ...record.containers import Registered, registered, with_operators
from ..core.checks import is_sparse, shown
from ..core.namespace import T, no_attribute
from ..core.tensor import TensorVariable

__all__ = ["SparseMatrix", "issparse"]

COMPRESSED = ("data", "indices", "indptr", "rows", "columns")
LABELS = {"csr": COMPRESSED, "csc": COMPRESSED, "coo": ("data", "row", "col", "rows", "columns")}
"""The names of the parts, by format."""

_LINEAR = frozenset(("neg", "conj", "real", "imag", "deg2rad", "rad2deg"))
"""Functions of a sum that are the sums of the function, so that repeated elements stay."""
_blocks, _elementwise, _parts, _products, _rows, _sums, _entries, _scipys = (
    lazy.module(f".{name}", __package__)
    for name in ("blocks", "elementwise", "parts", "products", "rows", "sums", "entries", "scipys")
)


class Format(str):
    """The format of a matrix; errors show it by this text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"the format {self} (A.to{self}() converts)"


class SparseMatrix:
    """A sparse matrix of variables; see `T.sparse.csr_matrix`, `csc_matrix` and `coo_matrix`, which make one.

    Operators are those of SciPy's sparse arrays: `@` is the product, `*` works element by element.  The order of
    elements is as the value has it; results that merge two matrices are sorted.  Places may repeat, and their elements
    are summed: functions such as `sqrt` sum them first in the format coo, in csr and csc call `sum_duplicates`.
    Matrices are values, so SciPy's argument `copy` has no effect.
    """

    __slots__ = ("format", "parts")
    __array_ufunc__ = None
    __hash__: Callable[..., int] = object.__hash__  # type: ignore[assignment]

    def __init__(self, format: str, parts: Sequence[Any]) -> None:
        self.format: str = format
        """"csr", "csc" or "coo"."""
        self.parts: tuple[Any, ...] = tuple(parts)
        """The elements, the two parts of their places, and the lengths."""

    # --- properties
    def __getattr__(self, name: str) -> Any:
        raise no_attribute(self, name, "SPARSE_MATRIX")

    @property
    def data(self) -> TensorVariable:
        """The elements that are stored, a vector; derivatives by it have the pattern of the matrix."""
        return self.parts[0]  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """2, the number of axes."""
        return 2

    @property
    def lengths(self) -> tuple[Any, Any]:
        """The numbers of rows and columns: int64 scalars."""
        return self.parts[3], self.parts[4]

    @property
    def shape(self) -> TensorVariable:
        """The numbers of rows and columns, an int64 vector."""
        return T.stack(list(self.lengths))

    @property
    def nnz(self) -> TensorVariable:
        """The number of elements that are stored, an int64 scalar."""
        return T.lengths_of(self.data)[0]

    @property
    def size(self) -> TensorVariable:
        """The number of elements that are stored, an int64 scalar, as in SciPy."""
        return self.nnz

    @property
    def places(self) -> tuple[Any, Any]:
        """The row and the column of each element: two vectors of integers."""
        _, first, second = self.parts[:3]
        if self.format == "coo":
            return first, second
        majors = _rows.rows_of(second)
        return (majors, first) if self.format == "csr" else (first, majors)

    def __repr__(self) -> str:
        name = getattr(self.data, "name", None)
        return f"sparse({name + ', ' if name else ''}{self.format}, {getattr(self.data, 'dtype', '?')})"

    def with_data(self, data: Any) -> SparseMatrix:
        """Return the matrix with other elements in the same places, as `A.with_data(T.exp(A.data))`."""
        return SparseMatrix(self.format, (T.as_tensor(data), *self.parts[1:]))

    def axes(self, **axes: int) -> SparseMatrix:
        """Return axes for `ag.vmap`, None for all parts that are left out: `in_axes=(A.axes(data=0), None)`.

        Raises TypeError for a part that the format lacks.
        """
        known = LABELS[self.format]
        for label in axes:
            if label not in known:
                raise TypeError(f"axes: the format {self.format} has no {label}; expected {', '.join(known)}")
        return SparseMatrix(self.format, tuple(axes.get(label) for label in known))

    # --- values of shared matrices
    def get_value(self) -> Any:
        """A copy of the value of a shared matrix, of SciPy's.  Raises TypeError if the matrix is not shared."""
        return _scipys.value_of(self)

    def set_value(self, value: Any) -> None:
        """Give a shared matrix another value of its format and dtype.  Raises TypeError for another one."""
        _scipys.set_value(self, value)

    # --- forms
    @property
    def T(self) -> SparseMatrix:
        """The transposed matrix: the same parts in the other format."""
        return self.transpose()

    def transpose(self) -> SparseMatrix:
        """Return the transposed matrix: the same parts in the other format."""
        data, first, second, rows, columns = self.parts
        if self.format == "coo":
            return SparseMatrix("coo", (data, second, first, columns, rows))
        return SparseMatrix("csc" if self.format == "csr" else "csr", (data, first, second, columns, rows))

    def toarray(self) -> TensorVariable:
        """Return the dense matrix."""
        zeros = T.zeros(self.lengths, self.dtype)
        return T.inc_subtensor(zeros[self.places], self.data)

    def tocsr(self, copy: bool = False) -> SparseMatrix:
        """Return the matrix in compressed rows; repeated elements of the format coo are summed."""
        return _entries.converted(self, "csr")

    def tocsc(self, copy: bool = False) -> SparseMatrix:
        """Return the matrix in compressed columns; repeated elements of the format coo are summed."""
        return _entries.converted(self, "csc")

    def tocoo(self, copy: bool = False) -> SparseMatrix:
        """Return the matrix as coordinates, in the order of its elements."""
        return _entries.converted(self, "coo")

    def asformat(self, format: str, copy: bool = False) -> SparseMatrix:
        """Return the matrix in a format: "csr", "csc" or "coo".  Raises ValueError for another one."""
        return _entries.converted(self, format)

    def astype(self, dtype: Any, copy: bool = True) -> SparseMatrix:
        """Return the elements in another dtype."""
        return self.with_data(self.data.astype(dtype))

    def sorted_indices(self) -> SparseMatrix:
        """Return the matrix with its elements in order."""
        return _entries.in_order(self)

    def sum_duplicates(self) -> SparseMatrix:
        """Return the matrix with its elements in order, and one for each place."""
        return _entries.merged(self)

    def eliminate_zeros(self) -> SparseMatrix:
        """Return the matrix without stored elements that are zero."""
        return _entries.without_zeros(self)

    def __getitem__(self, index: Any) -> Any:
        """Return rows and columns by slices and vectors of integers, or one element by two integers."""
        return _parts.part_of(self, index)

    # --- products
    def dot(self, other: Any) -> Any:
        """Return the product with a vector or a matrix (dense), or with a sparse matrix (sparse)."""
        return _products.dot(self, other)

    def __matmul__(self, other: Any) -> Any: return _products.dot(self, other)
    def __rmatmul__(self, other: Any) -> Any: return _products.dot(other, self)

    # --- element by element
    def multiply(self, other: Any) -> SparseMatrix:
        """Return the products of elements, sparse, with a number, a sparse matrix, or a dense array, broadcast."""
        return _elementwise.multiply(self, other)

    def power(self, n: Any) -> SparseMatrix:
        """Return a power of each element that is stored; `n`: a number above zero."""
        return _elementwise.power(self, n)

    def maximum(self, other: Any) -> Any:
        """Return the greater of each two elements, with a sparse matrix (sparse), a dense array or a number.

        See `T.sparse.maximum`.
        """
        return _elementwise.maximum(self, other)

    def minimum(self, other: Any) -> Any:
        """Return the lesser of each two elements; see `T.sparse.minimum`."""
        return _elementwise.minimum(self, other)

    def __add__(self, other: Any) -> Any: return _elementwise.add(self, other)
    def __radd__(self, other: Any) -> Any: return _elementwise.add(self, other)
    def __sub__(self, other: Any) -> Any: return _elementwise.subtract(self, other)
    def __rsub__(self, other: Any) -> Any: return _elementwise.subtract(other, self)
    def __mul__(self, other: Any) -> SparseMatrix: return _elementwise.multiply(self, other)
    def __rmul__(self, other: Any) -> SparseMatrix: return _elementwise.multiply(self, other)
    def __truediv__(self, other: Any) -> SparseMatrix: return _elementwise.divide(self, other)
    def __pow__(self, n: Any) -> SparseMatrix: return _elementwise.power(self, n)
    def __neg__(self) -> SparseMatrix: return self._each("neg")
    def __abs__(self) -> SparseMatrix: return self._each("abs")
    def conj(self) -> SparseMatrix: return self._each("conj")
    def conjugate(self) -> SparseMatrix: return self._each("conj")
    def sqrt(self) -> SparseMatrix: return self._each("sqrt")
    def square(self) -> SparseMatrix: return self._each("square")
    def sign(self) -> SparseMatrix: return self._each("sign")
    def sin(self) -> SparseMatrix: return self._each("sin")
    def tan(self) -> SparseMatrix: return self._each("tan")
    def arcsin(self) -> SparseMatrix: return self._each("arcsin")
    def arctan(self) -> SparseMatrix: return self._each("arctan")
    def sinh(self) -> SparseMatrix: return self._each("sinh")
    def tanh(self) -> SparseMatrix: return self._each("tanh")
    def arcsinh(self) -> SparseMatrix: return self._each("arcsinh")
    def arctanh(self) -> SparseMatrix: return self._each("arctanh")
    def expm1(self) -> SparseMatrix: return self._each("expm1")
    def log1p(self) -> SparseMatrix: return self._each("log1p")
    def ceil(self) -> SparseMatrix: return self._each("ceil")
    def floor(self) -> SparseMatrix: return self._each("floor")
    def trunc(self) -> SparseMatrix: return self._each("trunc")
    def rint(self) -> SparseMatrix: return self._each("rint")
    def deg2rad(self) -> SparseMatrix: return self._each("deg2rad")
    def rad2deg(self) -> SparseMatrix: return self._each("rad2deg")

    @property
    def real(self) -> SparseMatrix:
        """The real parts of the elements."""
        return self._each("real")

    @property
    def imag(self) -> SparseMatrix:
        """The imaginary parts of the elements."""
        return self._each("imag")

    # --- reductions, dense
    def sum(self, axis: int | None = None, dtype: Any = None) -> TensorVariable:
        """Return the sum of all elements, or along an axis, a vector."""
        return _sums.total(self, axis, dtype)

    def mean(self, axis: int | None = None, dtype: Any = None) -> TensorVariable:
        """Return the mean of all elements, zeros too, or along an axis, a vector."""
        return _sums.mean(self, axis, dtype)

    def max(self, axis: int | None = None) -> TensorVariable:
        """Return the greatest of all elements, zeros too, or along an axis, a vector."""
        return _sums.extremum(self, axis, "max")

    def min(self, axis: int | None = None) -> TensorVariable:
        """Return the least of all elements, zeros too, or along an axis, a vector."""
        return _sums.extremum(self, axis, "min")

    def diagonal(self, k: int = 0) -> TensorVariable:
        """Return a diagonal, a vector; `k`: how far it stands above the main one."""
        return _sums.diagonal(self, k)

    def trace(self, offset: int = 0) -> TensorVariable:
        """Return the sum of the diagonal `offset` above the main one."""
        return T.sum(self.diagonal(offset))

    def count_nonzero(self, axis: int | None = None) -> TensorVariable:
        """Return the number of stored elements that are not zero, or the numbers along an axis."""
        return _sums.total(self.with_data(T.cast(T.ne(self.data, 0), "int64")), axis, None)

    def nonzero(self) -> tuple[Any, Any]:
        """Return the rows and the columns of the elements that are not zero, in the order of their rows."""
        return _blocks.find(self)[:2]

    def _each(self, word: str) -> SparseMatrix:
        single = self if word in _LINEAR else _entries.single(self)
        return single.with_data(getattr(T, word)(single.data))

    # --- errors
    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} is symbolic and has no truth value; compare elements, as in A.data > 0")

    def __iter__(self) -> Any:
        raise TypeError(f"{self!r} is not iterated over; take rows by A[k], or A.toarray()")

    def __len__(self) -> int:
        raise TypeError(f"{self!r} has no length; use A.lengths or A.nnz")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self!r} is symbolic; use A.toarray()")


def _flattened(matrix: SparseMatrix) -> tuple[dict[str, Any], Format]:
    return dict(zip(LABELS[matrix.format], matrix.parts, strict=True)), Format(matrix.format)


def of_parts(format: str, parts: Any) -> Any:
    """Return the matrix of these parts by name: of SciPy's if they are arrays, else one of variables."""
    values = [parts[label] for label in LABELS[format]]
    found = _scipys.of_arrays(format, values) if not isinstance(values[0], Variable) else None
    return SparseMatrix(format, values) if found is None else found


registered[SparseMatrix] = Registered(
    SparseMatrix, _flattened, of_parts, frozenset((*COMPRESSED[1:], "row", "col")), "scipy.sparse.csr_matrix(value)"
)
with_operators.add(SparseMatrix)


def sparse(value: Any, what: str) -> SparseMatrix:
    """Return a sparse matrix as it is, and one of SciPy's as a constant.  Raises TypeError for anything else."""
    if isinstance(value, SparseMatrix):
        return value
    if is_sparse(type(value)):
        return _scipys.constant(value)  # type: ignore[no-any-return]
    raise TypeError(f"{what}: expected a sparse matrix, got {shown(value)}; make one by T.sparse.csr_matrix(x)")


def issparse(x: Any) -> bool:
    """Whether `x` is a sparse matrix, of variables or of SciPy's."""
    return isinstance(x, SparseMatrix) or is_sparse(type(x))
