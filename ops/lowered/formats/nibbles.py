"""Weights of 4 bits, two per byte of memory: `nibble_product{outputs, depth, block, lanes}(x, w, scale[, zero])`.

    y[..., n] = sum over blocks b of scale[n, b] * (sum over k in b of x[..., k] * (w[n, k] - zero[n, b]))

Sums are float32, in the order of k, and each block of weights is scaled once.  The order of the numbers in w, scale and
zero is that of cbackend/kernels/packed/single/nibbles.c, where they are described.  optdb/rules/quantized/nibbles.py
makes the product.  Frantar et al., "GPTQ" (2023), have such weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....graph import Variable
from ....record import record
from ...core.namespace import T
from ...core.tensor import constant
from ...elementwise.records import cast
from ...shapes.shape import DimShuffle
from . import SINGLE, Format, Stored

TILE = 8
"""Vectors of outputs per panel."""
OCTET = 8
"""Weights per word."""
LEAST, MOST = -8, 7


@record
class Nibbles(Format):
    """A matrix of 4-bit numbers, `outputs` by `depth`, with a scale for each `block`, for vectors of `lanes`."""

    outputs: int
    depth: int
    block: int
    lanes: int
    name = "nibble_product"
    kernel = "nibbles"
    dtypes = SINGLE
    relaxes = ("rounding", "signed zero")

    @property
    def matrix(self) -> tuple[int, int]:
        return self.depth, self.outputs

    @property
    def block_length(self) -> int:
        return self.block

    @property
    def blocks(self) -> int:
        return -(-self.depth // self.block)

    @property
    def lanes_in_all(self) -> int:
        return -(-self.outputs // self.lanes) * self.lanes

    def storage(self) -> tuple[Stored, ...]:
        scales = self.lanes_in_all * self.blocks
        return (
            Stored("w", "uint8", scales * self.block // 2), Stored("scale", "float32", scales),
            Stored("zero", "int8", scales, optional=True),
        )  # fmt: skip

    def require_fitting(self, stored: Sequence[Variable]) -> None:
        if self.block % OCTET or self.block <= 0:
            raise ValueError(f"{self.name}: block must be a multiple of {OCTET}, got {self.block}")

    def product(self, x: np.ndarray, *stored: np.ndarray) -> np.ndarray:
        w, scale, *zero = stored
        numbers = self.unpacked(w).astype("float32")
        steps, zeros = self.in_order(scale), self.in_order(zero[0]).astype("float32") if zero else None
        y = np.zeros((*x.shape[:-1], self.outputs), "float32")
        for b in range(self.blocks):
            along = slice(b * self.block, min((b + 1) * self.block, self.depth))
            part = numbers[:, along] if zeros is None else numbers[:, along] - zeros[:, b, None]
            y = y + (x[..., along] @ part.T) * steps[:, b]
        return y

    def expand(self, x: Variable, *stored: Variable) -> Variable:
        """Return the same by a product with float32 weights."""
        w, scale, *zero = stored
        shape = (self.outputs, self.depth)
        nibbles = self.unpacked_from(np.arange(self.lanes_in_all * self.blocks * self.block))
        pair = T.take(w, constant(nibbles >> 1))
        number = cast(T.bitwise_and(T.right_shift(pair, constant(((nibbles & 1) << 2).astype("uint8"))), 15), "float32")
        places = self.in_order(np.arange(self.lanes_in_all * self.blocks))
        wide = constant(np.repeat(places, self.block, axis=1)[:, : shape[1]])
        start = T.add(cast(T.take(zero[0], wide), "float32"), 8) if zero else constant(8, "float32")
        weights = T.mul(T.sub(number, start), T.take(scale, wide))
        return T.dot(x, DimShuffle((1, 0))(weights))

    # --- the order of the C
    def packed(self, w: np.ndarray, *more: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the arrays of weights, outputs by depth, of scales, and of zero points unless all are 0 or left out.

        Scales and zero points: outputs by blocks.
        """
        scale, *zero = more
        return self.laid(w), self.along(scale), *(self.along(points) for points in zero if points.any())

    def dense(self, *stored: np.ndarray) -> np.ndarray:
        """Return the floats that the weights stand for, depth by outputs."""
        w, scale, *zero = stored
        numbers = self.unpacked(w).astype("float32")
        steps, *starts = (np.repeat(self.in_order(a), self.block, axis=1)[:, : self.depth] for a in (scale, *zero))
        found: np.ndarray = ((numbers - starts[0] if starts else numbers) * steps).T.astype("float32")
        return found

    def laid(self, w: np.ndarray) -> np.ndarray:
        """Return weights, outputs by depth, from -8 to 7, as bytes; zeros fill the last block and the last vector."""
        filled = np.zeros((self.lanes_in_all, self.blocks * self.block), "uint8")
        filled[: self.outputs, : self.depth] = w.astype("int16") - LEAST
        nibbles = self._tiles(filled.reshape(self.lanes_in_all, -1, OCTET))
        return nibbles[0::2] | nibbles[1::2] << 4  # type: ignore[no-any-return]

    def along(self, scales: np.ndarray) -> np.ndarray:
        """Return numbers, outputs by blocks, in the packed order."""
        filled = np.zeros((self.lanes_in_all, self.blocks), scales.dtype)
        filled[: self.outputs] = scales
        return self._tiles(filled[:, :, None])

    def unpacked(self, w: np.ndarray) -> np.ndarray:
        """Return the weights of `laid`."""
        nibbles = np.stack([w & 15, w >> 4], axis=1).reshape(-1).astype("int8") + LEAST
        return self.unpacked_from(nibbles)

    def unpacked_from(self, nibbles: np.ndarray) -> np.ndarray:
        return self._rows(nibbles, self.blocks * self.block // OCTET, OCTET)[: self.outputs, : self.depth]

    def in_order(self, scales: np.ndarray) -> np.ndarray:
        """Return the numbers of `along`."""
        return self._rows(scales, self.blocks, 1)[: self.outputs]

    def _tiles(self, a: np.ndarray) -> np.ndarray:
        """Return (outputs, groups, each) as tiles of outputs, and within a tile groups, outputs, each."""
        tiles = range(0, self.lanes_in_all, TILE * self.lanes)
        return np.concatenate([a[t : t + TILE * self.lanes].swapaxes(0, 1).reshape(-1) for t in tiles])

    def _rows(self, a: np.ndarray, groups: int, each: int) -> np.ndarray:
        """Return the inverse of `_tiles`: outputs by numbers."""
        found, first = [], 0
        for t in range(0, self.lanes_in_all, TILE * self.lanes):
            width = min(TILE * self.lanes, self.lanes_in_all - t)
            part = a[first : first + width * groups * each].reshape(groups, width, each)
            first += part.size
            found.append(part.swapaxes(0, 1).reshape(width, -1))
        return np.concatenate(found)
