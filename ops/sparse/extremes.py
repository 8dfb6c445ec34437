"""The greatest or least number of each row of a sparse matrix, or of all elements, by one C kernel each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable, dims
from ...record import record
from ..control.batching import Examples, Flags, carried, require_shared
from ..core.backward import pull_back_to
from ..core.checks import describe, require_count, require_index_scalar
from ..core.namespace import T
from ..core.tensor import TensorOp, TensorVariable
from ..elementwise import costs
from .patterns import SparseOrder, SparsePlaces, SparseUnion
from .rows import rows_of

DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")


@record(repr=False)
class SparseExtremes(TensorOp):
    """`sparse_extremes(data, indices, indptr, n)`: the greatest or least number of each row, of n columns.

    `whole`: that of all rows, of which there are some.
    Elements of one place are summed; a row with fewer places than columns has a zero as well.  A NaN stays.
    """

    which: str  # "max" or "min"
    whole: bool = False
    name = "sparse_extremes"
    picture: ClassVar[Kind] = Kind.REDUCTION
    fallible = True
    error: ClassVar[type[Exception]] = IndexError
    operations = costs.sorting

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 4)
        data, indices, indptr, columns = inputs
        got = ", ".join(map(describe, inputs))
        if data.dtype not in DTYPES or {indices.dtype, indptr.dtype} != {"int32"}:
            raise TypeError(f"{self.name} takes real numbers and int32 positions, got {got}")
        if {data.ndim, indices.ndim, indptr.ndim} != {1}:
            raise TypeError(f"{self.name} takes three vectors, got {got}")
        require_index_scalar(self.name, columns, "the number of columns")
        if self.whole:
            return (TensorType(data.dtype, ()),)
        ends = indptr.type.shape[0]
        return (TensorType(data.dtype, (None if ends is None else max(ends - 1, 0),)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        data, indices, indptr, columns = values
        rows = SparsePlaces().rows(indices, indptr, int(columns))
        if len(data) != len(indices):
            raise IndexError(self.broken())
        found, fold = np.zeros(len(rows), data.dtype), np.maximum if self.which == "max" else np.minimum
        for i, (row, start) in enumerate(zip(rows, indptr, strict=False)):
            known, places = np.unique(row, return_inverse=True)
            sums = np.zeros(len(known), data.dtype)
            with np.errstate(all="ignore"):
                np.add.at(sums, places, data[start : start + len(row)])
            if len(known):
                found[i] = fold.reduce(sums)
            if len(known) < columns:
                found[i] = fold(found[i], data.dtype.type(0))
        if self.whole and not rows:
            raise IndexError(self.broken())
        return (fold.reduce(found) if self.whole else found,)

    def broken(self, *_: int) -> str:
        """The message for positions outside of the matrix."""
        return SparsePlaces().broken()

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (() if self.whole else (dims.sub(inputs[2][0], 1),),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        data, *pattern = node.inputs
        return [*pull_back_to([data], [self.steps(data, *pattern)], cotangents), None, None, None]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared(flags[1:], "the pattern of a sparse matrix")
        data = TensorVariable(node.inputs[0].type)
        return carried([self.steps(data, *inputs[1:])], {data: inputs[0]})[0]

    def steps(self, data: Any, indices: Any, indptr: Any, columns: Any) -> Any:
        """Return the result by other ops, which have derivatives and take many examples."""
        nothing = T.zeros(0, "int32"), T.zeros_like(indptr)
        known, ends, places, _ = SparseUnion()(indices, indptr, *nothing, columns)
        summed = T.inc_subtensor(T.zeros(T.lengths_of(known), data.dtype)[places], data)
        length = T.lengths_of(ends)[0] - 1
        found: Any = T.full(length, identity(data.dtype, self.which), dtype=data.dtype).at[rows_of(ends)]
        found = getattr(found, self.which)(summed)
        zero = (T.maximum if self.which == "max" else T.minimum)(found, T.constant(0, data.dtype))
        found = T.where(ends[1:] - ends[:-1] < columns, zero, found)
        return getattr(T, self.which)(found) if self.whole else found


@record(repr=False)
class SparseExtreme(TensorOp):
    """`sparse_extreme(data, rows, columns, m, n)`: the greatest or least number of a matrix of m rows and n columns.

    It has elements at these coordinates, in any order; elements of one place are summed.  Another place has a zero.  A
    NaN stays.
    """

    which: str  # "max" or "min"
    name = "sparse_extreme"
    picture: ClassVar[Kind] = Kind.REDUCTION
    fallible = True
    error: ClassVar[type[Exception]] = IndexError
    operations = costs.sorting

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 5)
        data, rows, columns, *lengths = inputs
        got = ", ".join(map(describe, inputs))
        if data.dtype not in DTYPES or {rows.dtype, columns.dtype} != {"int32"}:
            raise TypeError(f"{self.name} takes real numbers and int32 positions, got {got}")
        if {data.ndim, rows.ndim, columns.ndim} != {1}:
            raise TypeError(f"{self.name} takes three vectors, got {got}")
        for length, subject in zip(lengths, ("rows", "columns"), strict=True):
            require_index_scalar(self.name, length, f"the number of {subject}")
        return (TensorType(data.dtype, ()),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        data, rows, columns, m, n = values
        if len(data) != len(columns) or len(rows) != len(columns):
            raise IndexError(self.broken())
        order, indptr = SparseOrder().evaluate(rows, m)
        return SparseExtremes(self.which, True).evaluate(data[order], columns[order], indptr, n)

    def broken(self, *_: int) -> str:
        """The message for positions outside of the matrix."""
        return SparsePlaces().broken()

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        data, *pattern = node.inputs
        return [*pull_back_to([data], [self.steps(data, *pattern)], cotangents), *[None] * 4]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared(flags[1:], "the pattern of a sparse matrix")
        data = TensorVariable(node.inputs[0].type)
        return carried([self.steps(data, *inputs[1:])], {data: inputs[0]})[0]

    def steps(self, data: Any, rows: Any, columns: Any, m: Any, n: Any) -> Any:
        """Return the result by other ops, which have derivatives and take many examples."""
        order, indptr = SparseOrder()(rows, m)
        return SparseExtremes(self.which, True).steps(data[order], columns[order], indptr, n)


def identity(dtype: str, which: str) -> Any:
    """Return the number that changes no maximum, or minimum."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return -np.inf if which == "max" else np.inf
    info = np.iinfo(kind)
    return info.min if which == "max" else info.max
