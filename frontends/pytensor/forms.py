"""Forms: how values of PyTensor's types become arrays at the edge of a function, and variables inside.

A tensor is one array.  A random generator is one vector of uint64, the state of its bit generator, so that draws are
functions of arrays and streams pass through loops and choices.  A sparse matrix is three vectors and two lengths.
None and slices are Python objects inside a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from pytensor.graph.type import Type
from pytensor.scalar import ScalarType
from pytensor.tensor.random.type import RandomGeneratorType
from pytensor.tensor.type import TensorType as PyTensorType
from pytensor.tensor.type_other import NoneTypeT, SliceType

from ... import ops as T
from ...graph import TensorType, Variable
from ...ops.random.generator_states import STATE_DTYPE, StateView, generator_of


class SparseTerm(NamedTuple):
    """A sparse matrix in a graph: elements, positions, beginnings, and the two lengths as int64 scalars."""

    data: Any
    indices: Any
    indptr: Any
    rows: Any
    columns: Any
    format: str


class Form:
    """The form of a tensor, and the base of the others."""

    count = 1
    """Number of arrays."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def types(self) -> list[TensorType]:
        """The types of the arrays."""
        return [TensorType(self.kind.dtype, tuple(self.kind.shape))]

    def arrays(self, value: Any) -> list[Any]:
        """The arrays of a value."""
        return [value]

    def value(self, arrays: Sequence[Any]) -> Any:
        """The value of arrays."""
        return arrays[0]

    def store(self, arrays: Sequence[Any], cell: list[Any]) -> None:
        """Put the value of arrays into the cell of a shared variable."""
        cell[0] = self.value(arrays)

    def term(self, variables: Sequence[Variable]) -> Any:
        """The value inside a graph, of the variables of its arrays."""
        return variables[0]

    def variables(self, term: Any) -> list[Variable]:
        """The variables of the arrays of a value inside a graph."""
        return [term]


class NumberForm(Form):
    """The form of a scalar, which PyTensor keeps apart from tensors of rank 0."""

    def types(self) -> list[TensorType]:
        return [TensorType(self.kind.dtype, ())]

    def arrays(self, value: Any) -> list[Any]:
        return [np.asarray(value, self.kind.dtype)]

    def value(self, arrays: Sequence[Any]) -> Any:
        return arrays[0][()]


class GeneratorForm(Form):
    """The form of a `numpy.random.Generator`."""

    def types(self) -> list[TensorType]:
        return [TensorType(STATE_DTYPE, (None,))]

    _view: StateView | None = None

    def arrays(self, value: Any) -> list[Any]:
        return [self._view_of(value).read()]

    def value(self, arrays: Sequence[Any]) -> Any:
        return generator_of(arrays[0])

    def store(self, arrays: Sequence[Any], cell: list[Any]) -> None:
        """Move the generator in the cell on, as PyTensor does; one of another kind is replaced."""
        if not self._view_of(cell[0]).write(arrays[0]):
            cell[0] = self.value(arrays)

    def _view_of(self, generator: Any) -> StateView:
        view = self._view
        if view is None or view.generator is not generator:
            view = self._view = StateView(generator)
        return view

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_view": None}  # it is memory of this process


class SparseForm(Form):
    """The form of a sparse matrix in compressed rows or columns."""

    count = 5

    def types(self) -> list[TensorType]:
        vectors = [TensorType(dtype, (None,)) for dtype in (self.kind.dtype, "int32", "int32")]
        return [*vectors, TensorType("int64", ()), TensorType("int64", ())]

    def arrays(self, value: Any) -> list[Any]:
        places = [np.asarray(v, np.int32) for v in (value.indices, value.indptr)]
        return [value.data, *places, *(np.asarray(n, np.int64) for n in value.shape)]

    def value(self, arrays: Sequence[Any]) -> Any:
        import scipy.sparse

        kinds = {"csr": scipy.sparse.csr_matrix, "csc": scipy.sparse.csc_matrix}
        data, indices, indptr, rows, columns = arrays
        return kinds[self.kind.format]((data, indices, indptr), shape=(int(rows), int(columns)))

    def term(self, variables: Sequence[Variable]) -> Any:
        data, indices, indptr, rows, columns = variables
        return SparseTerm(data, indices, indptr, rows, columns, self.kind.format)

    def variables(self, term: Any) -> list[Variable]:
        return list(term[:5])


class NoneForm(Form):
    """The form of None: no array."""

    count = 0

    def types(self) -> list[TensorType]:
        return []

    def arrays(self, value: Any) -> list[Any]:
        return []

    def value(self, arrays: Sequence[Any]) -> Any:
        return None

    def term(self, variables: Sequence[Variable]) -> Any:
        return None

    def variables(self, term: Any) -> list[Variable]:
        return []


class SliceForm(Form):
    """The form of a slice: for each of its three parts whether it is there, and its number."""

    def types(self) -> list[TensorType]:
        return [TensorType("int64", (6,))]

    def arrays(self, value: Any) -> list[Any]:
        parts = (value.start, value.stop, value.step)
        return [np.array([n for part in parts for n in (part is not None, part or 0)], np.int64)]

    def value(self, arrays: Sequence[Any]) -> Any:
        given = arrays[0].tolist()
        return slice(*(given[k + 1] if given[k] else None for k in (0, 2, 4)))

    def term(self, variables: Sequence[Variable]) -> Any:
        raise TypeError("a slice is no input of a function; give its three numbers")

    def variables(self, term: Any) -> list[Variable]:
        parts = (term.start, term.stop, term.step)
        numbers = [n for part in parts for n in (int(part is not None), 0 if part is None else part)]
        return [T.stack([T.cast(T.as_tensor(n), "int64") for n in numbers])]


def form_of(kind: Type) -> Form:
    """Return the form of a type.  Raises TypeError for a type that has none."""
    if hasattr(kind, "format"):  # sparse: PyTensor derives its type from that of tensors
        return SparseForm(kind)
    match kind:
        case PyTensorType(): return Form(kind)
        case ScalarType(): return NumberForm(kind)
        case RandomGeneratorType(): return GeneratorForm(kind)
        case NoneTypeT(): return NoneForm(kind)
        case SliceType(): return SliceForm(kind)
    if hasattr(kind, "dims") and hasattr(kind, "shape"):
        return Form(kind)
    raise TypeError(f"values of type {kind} have no form as arrays; expected tensors, generators or sparse matrices")
