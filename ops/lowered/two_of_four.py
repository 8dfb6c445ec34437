"""A product with a constant matrix of which each four numbers along the sum have two zeros or more.

    dot(x, w)   -->   two_of_four{k, n, lanes}(x, two numbers of each four of w, their places)

A block is 16 numbers along the sum, of which eight are stored, two of each four.  Their places in the block are four
bits each, so the matrix takes 9/16 of its bytes.  A place is that of a number that is not zero, or else of some zero.
The order is that of kernels/products/two_of_four.c.  An infinity or NaN of x is multiplied by the zeros that are not
stored as well, so the result is NaN where that of the dense product is.

The op comes from the rule of optdb/rules/linalg/sparse.py.  Mishra et al., "Accelerating Sparse Deep Neural Networks"
(2021), have such weights.
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

GROUP, KEPT, BLOCK = 4, 2, 16
"""Numbers per group, stored numbers per group, and numbers per block, whose places fill one word."""
STORED = BLOCK // GROUP * KEPT
SHIFTS = BLOCK // GROUP * np.arange(STORED, dtype="uint32").reshape(1, 1, -1, 1)
"""Bit offset of each place in a word."""


@record(repr=False)
class TwoOfFour(Lowered):
    """`two_of_four(x, w, places)`: x @ a matrix of `rows` by `columns`, two of each four numbers stored."""

    rows: int
    columns: int
    lanes: int
    name = "two_of_four"
    picture: ClassVar[Kind] = Kind.PRODUCT

    @property
    def panels(self) -> int:
        return -(-self.columns // self.lanes)

    @property
    def blocks(self) -> int:
        return -(-self.rows // BLOCK)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 3)
        x, w, places = inputs
        found, dtypes = ", ".join(map(describe, inputs)), [v.dtype for v in inputs]
        if dtypes != ["float32", "float32", "int32"] or x.ndim < 1 or w.ndim != 1 or places.ndim != 1:
            raise TypeError(f"{self.name} takes rows and a vector of float32 and a vector of int32, got {found}")
        size = self.panels * self.lanes
        wanted = self.rows, self.blocks * STORED * size, self.blocks * size
        lengths = x.type.shape[-1], w.type.shape[0], places.type.shape[0]
        if any(n not in (None, m) for n, m in zip(lengths, wanted, strict=True)):
            raise ValueError(f"{self.name}: {found} do not fit a matrix of {self.rows} rows, {self.columns} columns")
        return (TensorType("float32", (*x.type.shape[:-1], self.columns)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w, places = values
        with np.errstate(all="ignore"):
            return (np.matmul(x, self.dense(w, places)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:-1], self.columns),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return pull_back_to(node.inputs, [self.expand(node.inputs)], cotangents)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by a dense product; places are constant."""
        x, w, places = inputs
        if not isinstance(places, Constant):
            raise TypeError(f"{self.name} has a derivative only for constant places")
        matrix = T.zeros((self.blocks * BLOCK, self.panels * self.lanes), x.dtype)
        rows, columns = self._where(places.data)
        numbers = T.reshape(w, rows.shape)
        matrix = T.set_subtensor(matrix[constant(rows), constant(columns)], numbers)
        return T.dot(x, matrix[: self.rows, : self.columns])

    # --- the order of kernels/products/two_of_four.c
    def packed(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return two of each four numbers of a matrix, and their places."""
        filled = np.zeros((self.blocks * BLOCK, self.panels * self.lanes), w.dtype)
        filled[: self.rows, : self.columns] = w
        groups = filled.reshape(self.blocks, BLOCK // GROUP, GROUP, self.panels, self.lanes)
        found = np.sort(np.argsort(groups == 0, axis=2, kind="stable")[:, :, :KEPT], axis=2)
        stored = np.take_along_axis(groups, found, axis=2)
        places = (found + GROUP * np.arange(BLOCK // GROUP).reshape(1, -1, 1, 1, 1)).astype("uint32")
        words = np.bitwise_or.reduce(self._by_number(places) << SHIFTS, axis=2)
        return self._by_number(stored).reshape(-1), words.reshape(-1).view("int32")

    def dense(self, w: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the dense matrix of `packed`."""
        found = np.zeros((self.blocks * BLOCK, self.panels * self.lanes), w.dtype)
        rows, columns = self._where(places)
        found[rows, columns] = w.reshape(rows.shape)
        return found[: self.rows, : self.columns]

    def _by_number(self, a: np.ndarray) -> np.ndarray:
        """Blocks, groups, two, panels, lanes: panels, blocks, the eight of a block, lanes."""
        return np.ascontiguousarray(a.reshape(self.blocks, STORED, self.panels, self.lanes).transpose(2, 0, 1, 3))

    def _where(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row and the column of each stored number: panels, blocks, eight, lanes."""
        words = places.view("uint32").reshape(self.panels, self.blocks, 1, self.lanes)
        each = ((words >> SHIFTS) & (BLOCK - 1)).astype("int64")
        rows = each + BLOCK * np.arange(self.blocks).reshape(1, -1, 1, 1)
        columns = np.arange(self.panels * self.lanes).reshape(self.panels, 1, 1, self.lanes)
        return rows, np.broadcast_to(columns, rows.shape)

    def operations(self, node: Apply) -> costs.Operations:
        return costs.stored_product(node.inputs[1], node)


def has_two_of_four(w: np.ndarray) -> bool:
    """Whether at most two of each four numbers of a column, counted from its first, are not zero."""
    rows, columns = w.shape
    whole = rows // GROUP
    if np.count_nonzero(w) > KEPT * (whole + 1) * columns:  # far faster than to look at each four
        return False
    counts = np.count_nonzero(w[: whole * GROUP].reshape(whole, GROUP, columns), axis=1)
    return bool((counts <= KEPT).all() and (np.count_nonzero(w[whole * GROUP :], axis=0) <= KEPT).all())
