"""Products with weights of 4 bits, two per byte of memory: `nibble_product(x, w, scale[, zero])`.

    y[..., n] = sum over blocks b of scale[n, b] * (sum over k in b of x[..., k] * (w[n, k] - zero[n, b]))

Sums are float32, in the order of k, and each block of weights is scaled once.  The order of the numbers in w, scale and
zero is that of kernels/products/nibbles.c, where they are described.  Frantar et al., "GPTQ" (2023), have such weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import record
from ..core.backward import pull_back_to
from ..core.checks import describe
from ..core.namespace import T
from ..core.tensor import Lowered, constant
from ..elementwise import costs
from ..elementwise.records import cast
from ..shapes.shape import DimShuffle

TILE = 8
"""Vectors of outputs per tile."""
OCTET = 8
"""Weights per word."""
LEAST, MOST = -8, 7


@record(repr=False)
class NibbleProduct(Lowered):
    """`nibble_product(x, w, scale[, zero])`: rows of float32 times a 4-bit matrix, packed for vectors of `lanes`."""

    outputs: int
    depth: int
    block: int
    lanes: int
    name = "nibble_product"
    picture: ClassVar[Kind] = Kind.PRODUCT
    operations: ClassVar[Callable[..., Any]] = costs.product

    @property
    def blocks(self) -> int:
        return -(-self.depth // self.block)

    @property
    def lanes_in_all(self) -> int:
        return -(-self.outputs // self.lanes) * self.lanes

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        if len(inputs) not in (3, 4):
            raise TypeError(f"{self.name} takes 3 inputs, or 4 with zero points, got {len(inputs)}")
        dtypes, wanted = [v.dtype for v in inputs], ["float32", "uint8", "float32", "int8"][: len(inputs)]
        if dtypes != wanted or inputs[0].ndim < 1 or any(v.ndim != 1 for v in inputs[1:]):
            raise TypeError(f"{self.name} takes rows and vectors of weights, got {', '.join(map(describe, inputs))}")
        if self.block % OCTET or self.block <= 0:
            raise ValueError(f"{self.name}: block must be a multiple of {OCTET}, got {self.block}")
        scales = self.lanes_in_all * self.blocks
        for v, length in zip(inputs[1:], (scales * self.block // 2, scales, scales), strict=False):
            if v.type.shape[0] not in (None, length):
                raise ValueError(f"{self.name}: {describe(v)} must have {length} elements")
        if inputs[0].type.shape[-1] not in (None, self.depth):
            raise ValueError(f"{self.name}: {describe(inputs[0])} must have rows of {self.depth} numbers")
        return (TensorType("float32", (*inputs[0].type.shape[:-1], self.outputs)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:-1], self.outputs),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, w, scale, *zero = values
        numbers = self.unpacked(w).astype("float32")
        steps, zeros = self.in_order(scale), self.in_order(zero[0]).astype("float32") if zero else None
        y = np.zeros((*x.shape[:-1], self.outputs), "float32")
        with np.errstate(all="ignore"):
            for b in range(self.blocks):
                along = slice(b * self.block, min((b + 1) * self.block, self.depth))
                part = numbers[:, along] if zeros is None else numbers[:, along] - zeros[:, b, None]
                y = y + (x[..., along] @ part.T) * steps[:, b]
        return (y,)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by a product with float32 weights."""
        x, w, scale, *zero = inputs
        shape = (self.outputs, self.depth)
        nibbles = self.unpacked_from(np.arange(self.lanes_in_all * self.blocks * self.block))
        pair = T.take(w, constant(nibbles >> 1))
        number = cast(T.bitwise_and(T.right_shift(pair, constant(((nibbles & 1) << 2).astype("uint8"))), 15), "float32")
        places = self.in_order(np.arange(self.lanes_in_all * self.blocks))
        wide = constant(np.repeat(places, self.block, axis=1)[:, : shape[1]])
        start = T.add(cast(T.take(zero[0], wide), "float32"), 8) if zero else constant(8, "float32")
        weights = T.mul(T.sub(number, start), T.take(scale, wide))
        return T.dot(x, DimShuffle((1, 0))(weights))

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return pull_back_to(node.inputs, [self.expand(node.inputs)], cotangents)

    # --- the order of kernels/products/nibbles.c
    def packed(self, w: np.ndarray) -> np.ndarray:
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
        """Return the weights of `packed`."""
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
