"""Dense weights in panels: `packed_dot{rows, columns, lanes, vectors}(x, panels)`.

A matrix product reads its right operand in panels, and else copies it into panels in every call.
optdb/rules/linalg/packed.py makes the product, perhaps with an epilogue.
"""

from __future__ import annotations

import numpy as np

from ....graph import TensorType, Variable
from ....record import record
from ...core.namespace import T
from ...core.tensor import TensorVariable
from ...networks.weights import blocks_of_panels, pack_panels, unpack_panels
from . import REAL, Format, Stored


@record
class Panels(Format):
    """A matrix of `rows` by `columns`, whose panels are `vectors` vectors of `lanes` numbers wide."""

    rows: int
    columns: int
    lanes: int
    vectors: int
    name = "packed_dot"
    kernel = "dense_panels"
    dtypes = REAL
    strided = True
    fallible = False

    def storage(self) -> tuple[Stored, ...]:
        """All panels, with zeros behind the last column."""
        return (Stored("panels", length=self.rows * -(-self.columns // self.lanes) * self.lanes),)

    def type_of_panels(self, dtype: str) -> TensorType:
        """Return the type of all panels as a vector."""
        return TensorType(dtype, (self.storage()[0].length,))

    def packing(self, w: TensorVariable) -> Variable:
        """Return the panels of a matrix as an expression, for a program that packs it once and reads it often."""
        wide = self.vectors * self.lanes
        whole = self.columns // wide * wide
        rest = self.columns - whole
        missing = -rest % self.lanes
        found: list[Variable] = []
        for rows in blocks_of_panels(self.rows):
            depth = rows.stop - rows.start
            if whole:
                panels = T.reshape(w[rows, :whole], (depth, whole // wide, wide))
                found.append(T.reshape(T.transpose(panels, (1, 0, 2)), (depth * whole,)))
            if rest:
                last = w[rows, whole:]
                last = T.join(1, last, T.zeros((depth, missing), w.dtype)) if missing else last
                found.append(T.reshape(last, (depth * (rest + missing),)))
        return T.join(0, *found) if len(found) > 1 else found[0]

    def packed(self, w: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
        return (pack_panels(w, self.lanes, self.vectors),)

    def dense(self, *stored: np.ndarray) -> np.ndarray:
        return unpack_panels(stored[0], self.rows, self.columns, self.lanes, self.vectors)
