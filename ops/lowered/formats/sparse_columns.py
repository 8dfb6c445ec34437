"""A matrix of many zeros along the summed axis: `sparse_columns{rows, columns, lanes}(x, w, starts, places)`.

A block is `lanes` rows of one column.  Blocks that are all zero are not stored.  Parts are DEPTH rows, and the blocks
of column c in part p have the numbers starts[p * n + c] to starts[p * n + c + 1]; places has the number of each block
along the sum.  The order is that of cbackend/kernels/packed/single/sparse_columns.c.  An infinity or NaN of x is
multiplied by the zeros that are not stored as well, so the result is NaN where that of the dense product is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....graph import TensorType, Variable
from ....record import record
from ....targets.costs import ITEMS
from ....targets.current import current
from . import SINGLE, Format, Packed, Stored, has_more_nonzeros, require_indices, require_vectors

DEPTH = 1024
"""Rows of a part: COLUMN_DEPTH of sparse_columns.c."""


@record
class SparseColumns(Format):
    """A matrix of `rows` by `columns`, of which some blocks of `lanes` rows are stored."""

    rows: int
    columns: int
    lanes: int
    name = "sparse_columns"
    kernel = "sparse_columns"
    dtypes = SINGLE
    multiplies_stored = True
    relaxes = ("rounding", "signed zero")
    rule = "local_sparse_columns"
    formula = "dot(x, w) -> sparse_columns(x, blocks of w, starts, places)  for constant w of many zeros"
    order = 2

    @property
    def parts(self) -> int:
        return max(1, -(-self.rows // DEPTH))

    @property
    def blocks(self) -> int:
        return -(-self.rows // self.lanes)

    @classmethod
    def of(cls, x: TensorType, w: np.ndarray) -> Packed | None:
        """Take a matrix with few nonzero blocks; one row may have more of them."""
        target = current()
        limits, lanes = target.limits.products, target.vector // ITEMS[x.dtype]
        if not target.picks_in_registers or w.shape[0] < limits.column_rows or w.size < limits.sparse_numbers:
            return None
        share = limits.column_shares[any(n != 1 for n in x.shape[:-1])]
        if has_more_nonzeros(w, share * w.size):
            return None
        rows, columns = w.shape
        own = cls(rows, columns, lanes)
        vectors, starts, places = own.packed(w)
        return (own, (vectors, starts, places)) if len(places) <= share * own.blocks * own.columns else None

    def storage(self) -> tuple[Stored, ...]:
        return Stored("w"), Stored("starts", "int32", self.parts * self.columns + 1), Stored("places", "int32")

    def require_fitting(self, stored: Sequence[Variable]) -> None:
        w, starts, places = stored
        require_vectors(self.name, w, places, self.lanes)
        require_indices(self.name, starts, places, self.blocks)

    def blocked(self, w: np.ndarray) -> np.ndarray:
        """Return the blocks of a matrix: (blocks along the sum, columns, lanes), zeros after the last row."""
        filled = np.zeros((self.blocks * self.lanes, self.columns), w.dtype)
        filled[: self.rows] = w
        return filled.reshape(self.blocks, self.lanes, self.columns).swapaxes(1, 2)

    def packed(self, w: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
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

    def dense(self, *stored: np.ndarray) -> np.ndarray:
        w, starts, places = stored
        found = np.zeros((self.blocks, self.columns, self.lanes), w.dtype)
        columns = np.repeat(np.arange(self.parts * self.columns) % max(1, self.columns), np.diff(starts))
        found[places, columns] = w.reshape(-1, self.lanes)
        return found.swapaxes(1, 2).reshape(self.blocks * self.lanes, self.columns)[: self.rows]

    def count(self, *places: np.ndarray) -> int:
        return len(places[1]) * self.lanes
