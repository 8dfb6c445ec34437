"""Types and variables of `theano.sparse`: matrices in compressed rows (csr) or columns (csc).

A sparse variable is a bundle of five tensors: `data` and `indices` of the elements, row by row (csr) or by column
(csc), `indptr` with the place where each of these begins, and the two lengths.  Values are SciPy's matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from .... import ops as T
from ....ops.core import checks
from ....ops.sparse.sparse_matrix import SparseMatrix
from ..running.shared_values import shared, shared_constructor
from ..tensors.dtypes import float_x
from ..tensors.types import TensorType
from ..tensors.variables import Constant, Variable, as_tensor_variable, constant, wrap
from .bundles import BundleType, BundleVariable, SharedBundle

FORMATS = ("csr", "csc")
enable_sparse: bool = find_spec("scipy") is not None


class SparseType(BundleType):
    """The type of a sparse matrix: its format and dtype."""

    ndim = 2
    broadcastable: ClassVar[tuple[bool, bool]] = (False, False)
    dtypes = ("int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128")
    labels = ("data", "indices", "indptr", "rows", "columns")

    def __init__(self, format: str, dtype: Any) -> None:
        if format not in FORMATS:
            raise NotImplementedError(f"SparseType: the format is {format!r}; expected 'csr' or 'csc', use x.tocsr()")
        self.format, self.dtype = format, float_x(dtype)

    def kinds(self) -> Sequence[TensorType]:
        """The type of each part."""
        return [TensorType(self.dtype, [False]), *[TensorType("int32", [False])] * 2, *[TensorType("int64", [])] * 2]

    def pack(self, value: Any) -> list[np.ndarray]:
        """The arrays of a matrix of SciPy's.  Raises TypeError for another format or dtype."""
        if not checks.is_sparse(type(value)):
            raise TypeError(f"{self} takes a sparse matrix of SciPy's, got {type(value).__name__} {value!r}"[:200])
        if value.format != self.format:
            raise TypeError(f"{self} takes the format {self.format}, got {value.format}; use x.to{self.format}()")
        if value.dtype.name != self.dtype:
            raise TypeError(f"{self} takes {self.dtype}, got {value.dtype}; use x.astype({self.dtype!r})")
        lengths = [np.array(n, "int64") for n in value.shape]
        return [value.data, value.indices.astype("int32"), value.indptr.astype("int32"), *lengths]

    def unpack(self, arrays: Sequence[np.ndarray]) -> Any:
        """The matrix of arrays."""
        import scipy.sparse

        data, indices, indptr, rows, columns = arrays
        kind = getattr(scipy.sparse, f"{self.format}_matrix")
        return kind((data, indices, indptr), shape=(int(rows), int(columns)))

    def clone(self, format: str | None = None, dtype: Any = None) -> SparseType:
        """The same type with another format or dtype."""
        return SparseType(format or self.format, dtype or self.dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseType) and (other.format, other.dtype) == (self.format, self.dtype)

    def __hash__(self) -> int:
        return hash((SparseType, self.format, self.dtype))

    def __str__(self) -> str:
        return f"Sparse[{self.dtype}, {self.format}]"

    __repr__ = __str__


class SparseVariable(BundleVariable):
    """A symbolic sparse matrix.  Its operators are functions of `theano.sparse` (`sparse_names.py` adds them)."""

    ndim = 2
    broadcastable: ClassVar[tuple[bool, bool]] = (False, False)

    @property
    def format(self) -> str:
        return self.type.format  # type: ignore[no-any-return]

    @property
    def data(self) -> Any:
        """The elements."""
        return self.parts[0]

    @property
    def shape(self) -> Any:
        """The lengths as an int64 vector."""
        return wrap(T.stack([self.parts[3].core, self.parts[4].core]), *self.parts)

    @property
    def matrix(self) -> SparseMatrix:
        """The matrix of the core."""
        return SparseMatrix(self.format, [part.core for part in self.parts])

    @property
    def lengths(self) -> tuple[Any, Any]:
        """The numbers of rows and columns, for the core."""
        return self.matrix.lengths

    @property
    def places(self) -> tuple[Any, Any]:
        """For each element its row and its column, for the core."""
        return self.matrix.places

    def with_data(self, data: Any) -> SparseVariable:
        """The matrix with other elements in the same places."""
        data = as_tensor_variable(data)
        return SparseVariable(self.type.clone(dtype=data.dtype), (data, *self.parts[1:]))


def of_matrix(matrix: SparseMatrix) -> SparseVariable:
    """The variable of a matrix of the core."""
    kind = SparseType(matrix.format, matrix.dtype)
    return SparseVariable(kind, tuple(wrap(part) for part in matrix.parts))


class SparseSharedVariable(SparseVariable, SharedBundle):
    """A shared sparse matrix."""

    get_value, set_value = SharedBundle.get_value, SharedBundle.set_value


class SparseConstant(SparseVariable, Constant):
    """A constant sparse matrix."""


SparseType.Variable, SparseType.Constant, SparseType.SharedVariable = (
    SparseVariable, SparseConstant, SparseSharedVariable,
)  # fmt: skip


def sparse_constant(value: Any, name: str | None = None) -> SparseConstant:
    """A constant for a matrix of SciPy's."""
    kind = SparseType(value.format, value.dtype)
    return SparseConstant(kind, [constant(a, dtype=a.dtype) for a in kind.pack(value)], name)


@shared_constructor
def sparse_shared(
    value: Any, name: str | None = None, strict: bool = False, allow_downcast: bool | None = None,
    borrow: bool = False, format: str | None = None, **options: Any,
) -> Any:  # fmt: skip
    """A shared sparse matrix.  Raises TypeError for other values."""
    if not checks.is_sparse(type(value)):
        raise TypeError(f"expected a sparse matrix of SciPy's, got {type(value).__name__}")
    kind = SparseType(format or value.format, value.dtype)
    return SparseSharedVariable(kind, [shared(a) for a in kind.pack(value)], name)


def as_sparse_variable(x: Any, name: str | None = None) -> SparseVariable:
    """`x` as a sparse variable: itself, or a constant for a matrix of SciPy's.  Raises TypeError for others."""
    if isinstance(x, SparseVariable):
        return x
    if checks.is_sparse(type(x)):
        return sparse_constant(x, name)
    message = f"{x} of type {x.type}" if isinstance(x, Variable) else f"{type(x).__name__} {x!r}"
    raise TypeError(f"as_sparse_variable: expected a sparse matrix, got {message}; use csr_from_dense(x)"[:300])


def is_sparse(x: Any) -> bool:
    """Whether `x` is a sparse variable or a matrix of SciPy's."""
    return isinstance(x, SparseVariable) or checks.is_sparse(type(x))
