"""Elements of the product of two sparse matrices at the places of a third one, in C for floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import record
from ..control.batching import Examples, Flags, require_shared
from ..core.checks import describe, require_count, require_index_scalar
from ..core.namespace import T
from ..core.tensor import TensorOp
from ..elementwise import costs
from ..shapes.joining import JoinedRanges, RepeatedPositions
from .patterns import SparseOrder, SparsePlaces
from .rows import DTYPES, rows_of

Matrix = tuple[Any, Any, Any]
"""The elements, `indices` and `indptr` of a matrix in compressed rows."""


@record(repr=False)
class SparseValues(TensorOp):
    """`sparse_values(*x, *y, indices, indptr, n)`: elements of x @ y where a pattern has a place.

    x and y are matrices in compressed rows, each as elements, `indices` and `indptr`; y and the pattern have n columns.
    Products of a place are summed in the order of the elements of x, then of y.
    """

    name = "sparse_values"
    picture: ClassVar[Kind] = Kind.PRODUCT
    fallible = True
    error: ClassVar[type[Exception]] = IndexError

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 9)
        numbers, positions = (inputs[0], inputs[3]), (*inputs[1:3], *inputs[4:8])
        if any(v.ndim != 1 for v in inputs[:8]) or {v.dtype for v in positions} != {"int32"}:
            raise TypeError(f"{self.name} takes vectors, int32 for positions, got {', '.join(map(describe, inputs))}")
        if inputs[0].dtype not in DTYPES or len({v.dtype for v in numbers}) != 1:
            raise TypeError(f"{self.name} takes floats of one dtype, got {', '.join(map(describe, numbers))}")
        require_index_scalar(self.name, inputs[8], "the number of columns")
        return (TensorType(inputs[0].dtype, inputs[6].type.shape),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        data, first, starts, other, second, ends, indices, indptr, columns = values
        places = SparsePlaces()
        of_y, of_p = (places.rows(v, w, int(columns)) for v, w in ((second, ends), (indices, indptr)))
        of_x = places.rows(first, starts, len(of_y))
        if len(of_x) != len(of_p) or len(data) != len(first) or len(other) != len(second):
            raise IndexError(self.broken())
        found, sums = np.zeros(len(indices), data.dtype), np.zeros(int(columns), data.dtype)
        with np.errstate(all="ignore"):
            for i, row in enumerate(of_x):
                sums[:] = 0
                for e, k in enumerate(row, starts[i]):
                    np.add.at(sums, of_y[k], data[e] * other[ends[k] : ends[k + 1]])
                found[indptr[i] : indptr[i + 1]] = sums[of_p[i]]
        return (found,)

    def broken(self, *_: int) -> str:
        """The message for positions outside of the matrix."""
        return SparsePlaces().broken()

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[6],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        sent: Any = cotangents[0]
        if sent is None:
            return [None] * 9
        data, first, starts, other, second, ends, indices, indptr, n = node.inputs
        x, y, g = (data, first, starts), (other, second, ends), (sent, indices, indptr)
        inner = T.lengths_of(y[2])[0] - 1
        by_x = self(*g, *_adjoint(y, n), *x[1:], inner)
        by_y = self(*_adjoint(x, inner), *g, *y[1:], n)
        return [by_x, None, None, by_y, *[None] * 5]

    def operations(self, node: Apply) -> costs.Operations:
        """A multiplication and an addition for each element of x and each of its row of y, whose lengths are alike."""
        x, y, rows = (costs.size(node.inputs[k]) for k in (0, 3, 5))
        return costs.Operations("product", 2.0 * x * y / max(rows - 1, 1), node.out.dtype)

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared((*flags[1:3], *flags[4:]), "the pattern of a sparse matrix")
        data, first, starts, other, second, ends, *pattern = inputs
        data, other = (
            T.moveaxis(v, 0, -1) if has_axis else T.dimshuffle(v, 0, "x")
            for v, has_axis in ((data, flags[0]), (other, flags[3]))
        )
        found = summed_pairs((data, first, starts), (other, second, ends), *pattern)
        return T.moveaxis(found, -1, 0)


def _adjoint(x: Matrix, columns: Any) -> Matrix:
    """Return the transposed matrix, with conjugated elements, in compressed rows."""
    data, indices, indptr = x
    order, ends = SparseOrder()(indices, columns)
    return (T.conj(data) if data.type.kind == "c" else data)[order], rows_of(indptr)[order], ends


def summed_pairs(x: Matrix, y: Matrix, indices: Any, indptr: Any, columns: Any) -> Any:
    """Return what `SparseValues` does, of elements of any dtype, which may have further axes.

    It lists a product for each element of the first matrix and each of the row of the second.
    """
    data, first, starts = x
    other, second, ends = (y[0], y[1], T.cast(y[2], "int64"))
    counts = (ends[1:] - ends[:-1])[first]
    until = T.cumsum(counts)
    which, places = RepeatedPositions()(counts), JoinedRanges()(counts, ends[:-1][first])
    begins = T.cast(T.concatenate([T.zeros(1, "int64"), until])[starts], "int32")
    at = SparsePlaces()(second[places], begins, indices, indptr, columns)
    products = data[which] * other[places]
    spare = T.lengths_of(indices)[0]  # for products where the pattern has no place
    zeros = T.zeros((spare + 1, *T.lengths_of(products)[1:]), products.dtype)
    sums = T.inc_subtensor(zeros[T.where(at < 0, spare, at)], products)
    each = SparsePlaces()(indices, indptr, indices, indptr, columns)  # a pattern may have a place several times
    return T.set_subtensor(sums[spare], 0)[T.where(each < 0, spare, each)]
