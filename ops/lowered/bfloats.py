"""Products of numbers of 16 bits, the upper halves of float32 (bfloat16), summed in float32.

    bfloat_dot(a, b)                                         a @ b
    packed_bfloat_dot{rows, columns, lanes, panel}(a, w)     the same by a constant b, in the order of
    kernels/products/bfloats.c

An operand of uint16 holds the bits of bfloat16 numbers; one of float32 is rounded to the nearest of them, ties to even.
Products of two such numbers are exact in float32.  Sums are float32: the second product of each pair along the sum is
added, then the first one, with a rounding each, as the instruction vdpbf16ps does.

The ops come from the rules of optdb/rules/quantized/bfloats.py.  The derivative of the rounding is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import record
from ..core.backward import pull_back_to
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import Lowered
from ..elementwise import costs
from ..elementwise.records import from_bfloat16
from ..elementwise.special import from_bfloat16 as widened
from ..elementwise.special import to_bfloat16
from ..linalg.blas import require_inner

DTYPES = ("float32", "uint16")
ALL_ZERO = 255
"""Least exponent of a matrix of zeros."""


@record
class BfloatDot(Lowered):
    """`bfloat_dot(a, b)`: rows of bfloat16 numbers by a matrix of them, as float32."""

    name = "bfloat_dot"
    picture: ClassVar[Kind] = Kind.PRODUCT
    operations: ClassVar[Callable[..., Any]] = costs.product

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        a, b = inputs
        if a.dtype not in DTYPES or b.dtype not in DTYPES or a.ndim < 1 or b.ndim != 2:
            found = f"{describe(a)} and {describe(b)}"
            raise TypeError(f"{self.name} takes rows and a matrix, each of float32 or of bits in uint16, got {found}")
        require_inner(self.name, a, b, -1, 0)
        return (TensorType("float32", (*a.type.shape[:-1], b.type.shape[1])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (np.matmul(*map(as_bfloat16, values)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:-1], inputs[1][1]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        wide = [i if i.dtype == "float32" else from_bfloat16(i) for i in node.inputs]
        found = pull_back_to(wide, [T.dot(*wide)], cotangents)
        return [g if i.dtype == "float32" else None for g, i in zip(found, node.inputs, strict=True)]


@record(repr=False)
class PackedBfloatDot(Lowered):
    """`packed_bfloat_dot(a, w)`: the product with a matrix of `rows` by `columns`, in panels of `panel` vectors."""

    rows: int
    columns: int
    lanes: int
    panel: int
    name = "packed_bfloat_dot"
    picture: ClassVar[Kind] = Kind.PRODUCT
    operations: ClassVar[Callable[..., Any]] = costs.product

    @property
    def words(self) -> int:
        return -(-self.rows // 2)

    @property
    def width(self) -> int:
        return -(-self.columns // self.lanes) * self.lanes

    @property
    def size(self) -> int:
        """Number of elements of all panels, plus one for the least exponent."""
        return self.width * self.words * 2 + 1

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        a, w = inputs
        found = f"{describe(a)} and {describe(w)}"
        if a.dtype not in DTYPES or w.dtype != "uint16" or a.ndim < 1 or w.ndim != 1:
            raise TypeError(f"{self.name} takes rows of float32 or of bits, and a vector of uint16, got {found}")
        if a.type.shape[-1] not in (None, self.rows) or w.type.shape[0] not in (None, self.size):
            raise ValueError(f"{self.name}: {found} do not fit weights of {self.rows} rows, {self.columns} columns")
        return (TensorType("float32", (*a.type.shape[:-1], self.columns)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        a, w = values
        with np.errstate(all="ignore"):
            return (np.matmul(as_bfloat16(a), widened(self.dense(w))),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:-1], self.columns),)

    # --- the order of kernels/products/bfloats.c
    def packed(self, w: np.ndarray) -> np.ndarray:
        """Return the bits of a matrix in panels, zeros after the last row and column, and the least exponent."""
        filled = np.zeros((2 * self.words, self.width), "uint16")
        filled[: self.rows, : self.columns] = w
        pairs = filled.reshape(self.words, 2, self.width).swapaxes(1, 2)
        panels = [pairs[:, columns].reshape(-1) for columns in self._panels()]
        return np.concatenate([*panels, [least_exponent(w)]]).astype("uint16")

    def dense(self, w: np.ndarray) -> np.ndarray:
        """Return the matrix of `packed`."""
        found, at = np.zeros((self.words, self.width, 2), "uint16"), 0
        for columns in self._panels():
            part = found[:, columns]
            part[...] = w[at : at + part.size].reshape(part.shape)
            at += part.size
        return found.swapaxes(1, 2).reshape(2 * self.words, self.width)[: self.rows, : self.columns]

    def _panels(self) -> list[slice]:
        width = self.panel * self.lanes
        return [slice(first, first + width) for first in range(0, self.columns, width)]


def as_bfloat16(x: np.ndarray) -> np.ndarray:
    """Return float32 numbers rounded to bfloat16, or the numbers of given bits."""
    return widened(x if x.dtype == np.uint16 else to_bfloat16(x))


def least_exponent(bits: np.ndarray) -> int:
    """Return the least biased exponent of nonzero numbers; 0 if one is subnormal."""
    magnitudes = bits & 0x7FFF
    return int(magnitudes[magnitudes != 0].min(initial=ALL_ZERO << 7)) >> 7
