"""Dense weights in panels: `packed_dot{rows, columns, lanes}(x, panels)`.

A matrix product reads its right operand in panels two vectors wide, and else copies it into panels in every call.
optdb/rules/linalg/packed.py makes the product, perhaps with an epilogue.
"""

from __future__ import annotations

import numpy as np

from ....record import record
from ...networks.weights import pack_panels, unpack_panels
from . import REAL, Format, Stored


@record
class Panels(Format):
    """A matrix of `rows` by `columns`, whose panels are vectors of `lanes` numbers wide."""

    rows: int
    columns: int
    lanes: int
    name = "packed_dot"
    kernel = "dense_panels"
    dtypes = REAL
    strided = True
    fallible = False

    def storage(self) -> tuple[Stored, ...]:
        """All panels, with zeros behind the last column."""
        return (Stored("panels", length=self.rows * -(-self.columns // self.lanes) * self.lanes),)

    def packed(self, w: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
        return (pack_panels(w, self.lanes),)

    def dense(self, *stored: np.ndarray) -> np.ndarray:
        return unpack_panels(stored[0], self.rows, self.columns, self.lanes)
