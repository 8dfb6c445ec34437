"""Weights of 16 bits by rows of floats: `widened_dot{rows, columns, lanes, exponent}(x, w)`.

    y[..., n] = sum over k of x[..., k] * float32(w[k, n])

Weights are float16 numbers (an exponent of 5 bits) or the bits of bfloat16 ones (8 bits).  C widens them in registers,
so a product reads two bytes a weight.  The order of w is that of cbackend/kernels/packed/single/widened.c.
optdb/rules/quantized/storage.py makes the product.
"""

from __future__ import annotations

import numpy as np

from ....graph import Variable
from ....record import record
from ...core.namespace import T
from ...core.tensor import constant
from ...elementwise.records import cast, from_bfloat16
from ...elementwise.special import from_bfloat16 as widened_bits
from . import SINGLE, Format, Stored

TILE = 8
"""Vectors of outputs per panel."""
BFLOAT16, FLOAT16 = 8, 5
"""Bits of the exponent of a number."""


@record
class Widened(Format):
    """A matrix of `rows` by `columns` for vectors of `lanes`, of numbers whose exponent has so many bits."""

    rows: int
    columns: int
    lanes: int
    exponent: int
    name = "widened_dot"
    kernel = "widened"
    dtypes = SINGLE
    fallible = False

    @property
    def pairs(self) -> int:
        return -(-self.rows // 2)

    @property
    def width(self) -> int:
        return -(-self.columns // self.lanes) * self.lanes

    def storage(self) -> tuple[Stored, ...]:
        return (Stored("w", "uint16" if self.exponent == BFLOAT16 else "float16", self.pairs * 2 * self.width),)

    def product(self, x: np.ndarray, *stored: np.ndarray) -> np.ndarray:
        w = self.dense(*stored)
        wide = widened_bits(w) if self.exponent == BFLOAT16 else w.astype("float32")
        found: np.ndarray = np.matmul(x, wide)
        return found

    def expand(self, x: Variable, *stored: Variable) -> Variable:
        """Return the product with widened weights."""
        w = T.take(stored[0], constant(self.dense(np.arange(self.pairs * 2 * self.width))))
        return T.dot(x, from_bfloat16(w) if self.exponent == BFLOAT16 else cast(w, "float32"))

    def packed(self, w: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return a matrix in panels, with zeros after the last row and column."""
        filled = np.zeros((2 * self.pairs, self.width), w.dtype)
        filled[: self.rows, : self.columns] = w
        pairs = self._in_panels(filled.reshape(self.pairs, 2, self.width))
        return (np.concatenate([panel.reshape(-1) for panel in pairs]),)

    def dense(self, *stored: np.ndarray) -> np.ndarray:
        """Return the matrix, not widened."""
        (w,) = stored
        found, at = np.zeros((self.pairs, 2, self.width), w.dtype), 0
        for panel in self._in_panels(found):
            panel[...] = w[at : at + panel.size].reshape(panel.shape)
            at += panel.size
        return found.reshape(2 * self.pairs, self.width)[: self.rows, : self.columns]

    def _in_panels(self, pairs: np.ndarray) -> list[np.ndarray]:
        """Return views of (pairs, 2, width), one a panel, in the order of their numbers."""
        wide = TILE * self.lanes
        panels = [pairs[..., first : first + wide] for first in range(0, self.width, wide)]
        return [panel.swapaxes(1, 2) for panel in panels] if self.exponent == BFLOAT16 else panels
