"""A product with a constant matrix of many zeros along the summed axis: `sparse_columns(x, w, starts, places)`.

    dot(x, w)   -->   sparse_columns{k, n, lanes}(x, the blocks of w that are not all zero, starts, places)

A block is `lanes` rows of one column.  Parts are DEPTH rows, and the blocks of column c in part p have the numbers
starts[p * n + c] to starts[p * n + c + 1]; places has the number of each block along the sum.  The order is that of
kernels/products/sparse_columns.c.  An infinity or NaN of x is multiplied by the zeros that are not stored as well, so
the result is NaN where that of the dense product is.

The op comes from the rule of optdb/rules/linalg/sparse.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, TensorType, Variable
from ...record import record
from ..core.backward import pull_back_to
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import Lowered, constant
from ..elementwise import costs

DEPTH = 1024
"""Rows of a part: COLUMN_DEPTH of kernels/products/sparse_columns.c."""


@record(repr=False)
class SparseColumns(Lowered):
    """`sparse_columns(x, w, starts, places)`: x @ a matrix of `rows` by `columns`, of which some blocks are stored."""

    rows: int
    columns: int
    lanes: int
    name = "sparse_columns"
    picture: ClassVar[Kind] = Kind.PRODUCT

    @property
    def parts(self) -> int:
        return max(1, -(-self.rows // DEPTH))

    @property
    def blocks(self) -> int:
        return -(-self.rows // self.lanes)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 4)
        x, w, starts, places = inputs
        found, dtypes = ", ".join(map(describe, inputs)), [v.dtype for v in inputs]
        if dtypes != ["float32", "float32", "int32", "int32"] or not x.ndim or any(v.ndim != 1 for v in inputs[1:]):
            raise TypeError(f"{self.name} takes rows and a vector of float32 and two vectors of int32, got {found}")
        stored = places.type.shape[0]
        lengths = x.type.shape[-1], w.type.shape[0], starts.type.shape[0]
        wanted = self.rows, None if stored is None else stored * self.lanes, self.parts * self.columns + 1
        if any(n is not None and m is not None and n != m for n, m in zip(lengths, wanted, strict=True)):
            raise ValueError(f"{self.name}: {found} do not fit a matrix of {self.rows} rows, {self.columns} columns")
        self._require_fitting(starts, places)
        return (TensorType("float32", (*x.type.shape[:-1], self.columns)),)

    def _require_fitting(self, starts: Variable, places: Variable) -> None:
        """Raise ValueError unless the indices are in range: C reads at these positions."""
        if not isinstance(starts, Constant) or not isinstance(places, Constant):
            return
        ends, blocks = starts.data, places.data
        if ends[0] != 0 or ends[-1] != len(blocks) or (ends[1:] < ends[:-1]).any():
            raise ValueError(f"{self.name}: starts must rise from 0 to {len(blocks)}")
        if blocks.size and not 0 <= blocks.min() <= blocks.max() < self.blocks:
            raise ValueError(f"{self.name}: places must lie in [0, {self.blocks})")

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w, starts, places = values
        with np.errstate(all="ignore"):
            return (np.matmul(x, self.dense(w, starts, places)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:-1], self.columns),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return pull_back_to(node.inputs, [self.expand(node.inputs)], cotangents)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by a dense product; starts and places are constants."""
        x, w, starts, places = inputs
        if not isinstance(starts, Constant) or not isinstance(places, Constant):
            raise TypeError(f"{self.name} has a derivative only for constant starts and places")
        at = constant(places.data.astype("int64") * self.columns + self._column_of(starts.data))
        matrix = T.zeros((self.blocks * self.columns, self.lanes), x.dtype)
        matrix = T.reshape(T.set_subtensor(matrix[at], T.reshape(w, (-1, self.lanes))), (self.blocks, self.columns, -1))
        return T.dot(x, T.reshape(T.transpose(matrix, (0, 2, 1)), (-1, self.columns))[: self.rows])

    # --- the order of kernels/products/sparse_columns.c
    def blocked(self, w: np.ndarray) -> np.ndarray:
        """Return the blocks of a matrix: (blocks along the sum, columns, lanes), zeros after the last row."""
        filled = np.zeros((self.blocks * self.lanes, self.columns), w.dtype)
        filled[: self.rows] = w
        return filled.reshape(self.blocks, self.lanes, self.columns).swapaxes(1, 2)

    def packed(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the nonzero blocks of a matrix, their starts and places."""
        blocks, each = self.blocked(w), DEPTH // self.lanes
        stored = (blocks != 0).any(2)
        found, places, counts = [], [], [np.zeros(1, "int64")]
        for first in range(0, self.parts * each, each):
            part = stored[first : first + each].T
            column, block = np.nonzero(part)
            found.append(blocks[first + block, column].reshape(-1))
            places.append(first + block)
            counts.append(part.sum(1))
        starts = np.concatenate(counts).cumsum()
        return np.concatenate(found), starts.astype("int32"), np.concatenate(places).astype("int32")

    def dense(self, w: np.ndarray, starts: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the dense matrix of `packed`."""
        found = np.zeros((self.blocks, self.columns, self.lanes), w.dtype)
        found[places, self._column_of(starts)] = w.reshape(-1, self.lanes)
        return found.swapaxes(1, 2).reshape(self.blocks * self.lanes, self.columns)[: self.rows]

    def _column_of(self, starts: np.ndarray) -> np.ndarray:
        return np.repeat(np.arange(self.parts * self.columns) % max(1, self.columns), np.diff(starts))

    def operations(self, node: Apply) -> costs.Operations:
        return costs.stored_product(node.inputs[1], node)
