"""Places of the elements of sparse matrices: patterns of products, positions in a pattern, order by row.

A pattern is `indices` and `indptr` of compressed rows, int32.  These ops compute integers alone, so numbers of any
dtype, and their derivatives, follow by indexing.
Source: Gustavson, "Two fast algorithms for sparse matrices" (1978).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, Lacks, TensorType, Variable, dims
from ...graph.dims import opaque_dims
from ...record import record
from ..core.checks import describe, require_count, require_index_scalar
from ..core.tensor import TensorOp
from ..elementwise import costs
from ..shapes.lengths import known_length, tensor_to_dim

_SHARED = "the pattern of a sparse matrix would differ from one example to the next"


class Places(TensorOp):
    """Base of the ops: int32 vectors, then the number of columns."""

    lacks: ClassVar[Lacks] = Lacks(batching=_SHARED)
    picture: ClassVar[Kind] = Kind.INDEX
    operations: ClassVar[Callable[..., Any]] = costs.sorting
    fallible = True
    error: ClassVar[type[Exception]] = IndexError
    count: ClassVar[int] = 5

    def require(self, inputs: tuple[Variable, ...]) -> None:
        """Raise TypeError for other operands."""
        require_count(self.name, inputs, self.count)
        *vectors, columns = inputs
        if any(v.ndim != 1 or v.dtype != "int32" for v in vectors):
            raise TypeError(f"{self.name} takes int32 vectors, got {', '.join(map(describe, vectors))}")
        require_index_scalar(self.name, columns, "the number of columns")

    def broken(self, *_: int) -> str:
        """The message for positions outside of the matrix."""
        return "sparse matrix: indices or indptr are out of bounds, or the result has 2**31 elements or more"

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None] * len(node.inputs)

    def rows(self, indices: Any, indptr: Any, columns: int) -> list[np.ndarray]:
        """Return the columns of each row.  Raises IndexError for positions out of bounds."""
        is_wrong = (np.diff(indptr) < 0).any() or not len(indptr) or indptr[0] < 0 or indptr[-1] > len(indices)
        if is_wrong or ((indices < 0) | (indices >= columns)).any():
            raise IndexError(self.broken())
        return [indices[a:b] for a, b in pairwise(indptr)]


@record(repr=False)
class SparsePattern(Places):
    """`sparse_pattern(indices, indptr, indices, indptr, n)`: the pattern of the product of two matrices.

    Row i has each column, in order, that any row of the second matrix has which row i of the first names; n columns.
    """

    name = "sparse_pattern"
    lacks: ClassVar[Lacks] = Lacks(batching=_SHARED)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.require(inputs)
        return TensorType("int32", (None,)), TensorType("int32", inputs[1].type.shape)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        first, starts, second, ends, columns = values
        rows = self.rows(second, ends, int(columns))
        found = [
            np.unique(np.concatenate([np.zeros(0, "int32"), *(rows[k] for k in row)]))
            for row in self.rows(first, starts, len(rows))
        ]
        lengths = np.cumsum([0, *map(len, found)], dtype=np.int32)
        return np.concatenate([np.zeros(0, "int32"), *found]), lengths

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return opaque_dims(node.outputs[0]), inputs[1]


@record(repr=False)
class SparseUnion(Places):
    """`sparse_union(indices, indptr, indices, indptr, n)`: the pattern that has the places of two matrices.

    Its `indices`, in order in each row, and `indptr`; where it has each element of the first, and of the second matrix.
    Both have as many rows and n columns.  Elements before the first row or behind the last one have the place 0.
    """

    name = "sparse_union"
    lacks: ClassVar[Lacks] = Lacks(batching=_SHARED)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.require(inputs)
        pattern = TensorType("int32", (None,)), TensorType("int32", inputs[1].type.shape)
        return *pattern, *(TensorType("int64", inputs[k].type.shape) for k in (0, 2))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        first, starts, second, ends, columns = values
        ours, theirs = self.rows(first, starts, int(columns)), self.rows(second, ends, int(columns))
        if len(ours) != len(theirs):
            raise IndexError(self.broken())
        found = [np.union1d(a, b).astype("int32") for a, b in zip(ours, theirs, strict=True)]
        indptr = np.cumsum([0, *map(len, found)], dtype=np.int32)
        places = []
        for own, begins, rows in ((first, starts, ours), (second, ends, theirs)):
            at = np.zeros(len(own), np.int64)
            for start, row, known, begin in zip(begins, rows, found, indptr, strict=False):
                at[start : start + len(row)] = begin + np.searchsorted(known, row)
            places.append(at)
        return np.concatenate([np.zeros(0, "int32"), *found]), indptr, *places

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return opaque_dims(node.outputs[0]), inputs[1], inputs[0], inputs[2]


@record(repr=False)
class SparsePlaces(Places):
    """`sparse_places(indices, indptr, indices, indptr, n)`: where the second matrix has each element of the first.

    -1 if its row does not have the column, the last place if it has several.  Both have as many rows and n columns.
    """

    name = "sparse_places"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.require(inputs)
        return (TensorType("int64", inputs[0].type.shape),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        first, starts, second, ends, columns = values
        ours, theirs = self.rows(first, starts, int(columns)), self.rows(second, ends, int(columns))
        if len(ours) != len(theirs):
            raise IndexError(self.broken())
        found = np.full(len(first), -1, np.int64)
        for start, own, begin, other in zip(starts, ours, ends, theirs, strict=False):
            known = {column: begin + k for k, column in enumerate(other)}
            found[start : start + len(own)] = [known.get(column, -1) for column in own]
        return (found,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)


@record(repr=False)
class SparseOrder(Places):
    """`sparse_order(rows, n)`: the positions of elements in the order of their rows, and where each row begins.

    Elements of a row keep their order.  The second result has n + 1 numbers: `indptr`.
    """

    name = "sparse_order"
    count: ClassVar[int] = 2

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.require(inputs)
        rows = known_length(inputs[1])
        return TensorType("int32", inputs[0].type.shape), TensorType("int32", (None if rows is None else rows + 1,))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        rows, n = values
        if ((rows < 0) | (rows >= n)).any():
            raise IndexError(self.broken())
        counts = np.bincount(rows, minlength=int(n))
        return np.argsort(rows, kind="stable").astype(np.int32), np.cumsum([0, *counts], dtype=np.int32)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return inputs[0], (dims.add(tensor_to_dim(node.inputs[1]), 1),)
