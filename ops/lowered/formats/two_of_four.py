"""A matrix with two zeros in each four numbers along the sum: `two_of_four{rows, columns, lanes}(x, w, places)`.

A block is 16 numbers along the sum, of which eight are stored, two of each four.  Their places in the block are four
bits each, so the matrix takes 9/16 of its bytes.  A place is that of a number that is not zero, or else of some zero.
The order is that of cbackend/kernels/packed/single/two_of_four.c.  An infinity or NaN of x is multiplied by the zeros
that are not stored as well, so the result is NaN where that of the dense product is.  Mishra et al., "Accelerating
Sparse Deep Neural Networks" (2021), have such weights.
"""

from __future__ import annotations

import numpy as np

from ....graph import TensorType
from ....record import record
from ....targets.costs import ITEMS
from ....targets.current import current
from . import SINGLE, Format, Packed, Stored, has_more_nonzeros

GROUP, KEPT, BLOCK = 4, 2, 16
"""Numbers per group, stored numbers per group, and numbers per block, whose places fill one word."""
STORED = BLOCK // GROUP * KEPT
SHIFTS = BLOCK // GROUP * np.arange(STORED, dtype="uint32").reshape(1, 1, -1, 1)
"""Bit offset of each place in a word."""


@record
class TwoOfFour(Format):
    """A matrix of `rows` by `columns`, two of each four numbers stored."""

    rows: int
    columns: int
    lanes: int
    name = "two_of_four"
    kernel = "two_of_four"
    dtypes = SINGLE
    multiplies_stored = True
    relaxes = ("rounding", "signed zero")
    rule = "local_two_of_four"
    formula = "dot(x, w) -> two_of_four(x, w, places)  for constant w with two zeros in each four"
    order = 3

    @property
    def panels(self) -> int:
        return -(-self.columns // self.lanes)

    @property
    def blocks(self) -> int:
        return -(-self.rows // BLOCK)

    @classmethod
    def of(cls, x: TensorType, w: np.ndarray) -> Packed | None:
        """Take a matrix with two zeros in each four numbers."""
        target = current()
        lanes, least = target.vector // ITEMS[x.dtype], target.limits.products.two_of_four
        if not target.picks_in_registers or w.shape[0] < least[0] or w.size < least[1] or w.shape[1] < lanes:
            return None
        rows, columns = w.shape
        own = cls(rows, columns, lanes)
        return (own, own.packed(w)) if has_two_of_four(w) else None

    def storage(self) -> tuple[Stored, ...]:
        size = self.blocks * self.panels * self.lanes
        return Stored("w", length=STORED * size), Stored("places", "int32", size)

    def packed(self, w: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return two of each four numbers of a matrix, and their places."""
        filled = np.zeros((self.blocks * BLOCK, self.panels * self.lanes), w.dtype)
        filled[: self.rows, : self.columns] = w
        groups = filled.reshape(self.blocks, BLOCK // GROUP, GROUP, self.panels, self.lanes)
        found = np.sort(np.argsort(groups == 0, axis=2, kind="stable")[:, :, :KEPT], axis=2)
        stored = np.take_along_axis(groups, found, axis=2)
        places = (found + GROUP * np.arange(BLOCK // GROUP).reshape(1, -1, 1, 1, 1)).astype("uint32")
        words = np.bitwise_or.reduce(self._by_number(places) << SHIFTS, axis=2)
        return self._by_number(stored).reshape(-1), words.reshape(-1).view("int32")

    def dense(self, *stored: np.ndarray) -> np.ndarray:
        w, places = stored
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


def has_two_of_four(w: np.ndarray) -> bool:
    """Whether at most two of each four numbers of a column, counted from its first, are not zero."""
    rows, columns = w.shape
    whole = rows // GROUP
    if has_more_nonzeros(w, KEPT * (whole + 1) * columns):  # far faster than to look at each four
        return False
    counts = np.count_nonzero(w[: whole * GROUP].reshape(whole, GROUP, columns), axis=1)
    return bool((counts <= KEPT).all() and (np.count_nonzero(w[whole * GROUP :], axis=0) <= KEPT).all())
