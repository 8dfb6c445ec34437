"""Weights of bfloat16 numbers in panels: `packed_bfloat_dot{rows, columns, lanes, panel}(x, w)`.

Rows are bits of such numbers in uint16, or float32, which are rounded; sums are float32, as bfloat_dot.py says.  The
order is that of cbackend/kernels/packed/single/bfloats.c.  optdb/rules/quantized/bfloats.py makes the product.
"""

from __future__ import annotations

import numpy as np

from ....graph import Variable
from ....record import record
from ...core.namespace import T
from ...core.tensor import constant
from ...elementwise.records import from_bfloat16
from ...elementwise.special import from_bfloat16 as widened
from ..bfloat_dot import DTYPES, as_bfloat16
from . import Format, Stored

ALL_ZERO = 255
"""Least exponent of a matrix of zeros."""


@record
class Bfloats(Format):
    """The bits of a matrix of `rows` by `columns`, in panels of `panel` vectors of `lanes`; then the least exponent."""

    rows: int
    columns: int
    lanes: int
    panel: int
    name = "packed_bfloat_dot"
    kernel = "bfloats"
    dtypes = DTYPES
    result = "float32"
    tiled_format = "bfloat16"
    strided = True
    relaxes = ("rounding", "signed zero", "overflow", "underflow")

    @property
    def words(self) -> int:
        return -(-self.rows // 2)

    @property
    def width(self) -> int:
        return -(-self.columns // self.lanes) * self.lanes

    def storage(self) -> tuple[Stored, ...]:
        return (Stored("w", "uint16", self.width * self.words * 2 + 1),)

    def product(self, x: np.ndarray, *stored: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.matmul(as_bfloat16(x), widened(self.dense(*stored)))
        return found

    def expand(self, x: Variable, *stored: Variable) -> Variable:
        """Return the product of the same numbers in float32; the derivative of the rounding is 1."""
        (w,) = stored
        at = self.dense(np.arange(self.width * self.words * 2 + 1))
        wide = x if x.dtype == "float32" else from_bfloat16(x)
        return T.dot(wide, from_bfloat16(T.take(w, constant(at))))

    def packed(self, w: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the bits of a matrix in panels, zeros after the last row and column, and the least exponent."""
        filled = np.zeros((2 * self.words, self.width), "uint16")
        filled[: self.rows, : self.columns] = w
        pairs = filled.reshape(self.words, 2, self.width).swapaxes(1, 2)
        panels = [pairs[:, columns].reshape(-1) for columns in self._panels()]
        return (np.concatenate([*panels, [least_exponent(w)]]).astype("uint16"),)

    def dense(self, *stored: np.ndarray) -> np.ndarray:
        """Return the bits of the matrix."""
        (w,) = stored
        found, at = np.zeros((self.words, self.width, 2), w.dtype), 0
        for columns in self._panels():
            part = found[:, columns]
            part[...] = w[at : at + part.size].reshape(part.shape)
            at += part.size
        return found.swapaxes(1, 2).reshape(2 * self.words, self.width)[: self.rows, : self.columns]

    def _panels(self) -> list[slice]:
        width = self.panel * self.lanes
        return [slice(first, first + width) for first in range(0, self.columns, width)]


def least_exponent(bits: np.ndarray) -> int:
    """Return the least biased exponent of nonzero numbers; 0 if one is subnormal."""
    magnitudes = bits & 0x7FFF
    return int(magnitudes[magnitudes != 0].min(initial=ALL_ZERO << 7)) >> 7
