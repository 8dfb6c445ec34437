"""Functions of 8-bit integers as tables of 256 numbers.

    look_up(q, table)                   table[q as a byte without a sign]
    byte_softmax{...}(q, exponents)     softmax along the last axis, in 8 bits:

        d = max(q) - q,   e = exponents[d],   total = the sum of floor(e 2^39), in int64
        rint(clip(e * float32(2^39 / (total * scale)), low - zero, high - zero)) + zero

Sums are integers, so their order does not matter.  The ops come from the rules of optdb/rules/quantized/byte_tables.py;
kernels/quantized/tables.c computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import record
from ..core.checks import describe, require_count
from ..core.tensor import Lowered
from ..elementwise import costs
from .byte_sums import BYTES

ENTRIES = 256
"""Number of values of 8 bits."""
FRACTION = 39
"""Fractional bits of the summands; 1 and these fill five bytes."""


class _ByTable(Lowered):
    """Base of both ops: bytes, and a table with a number for each value of them."""

    tables: ClassVar[tuple[str, ...]]

    def _checked(self, inputs: tuple[Variable, ...]) -> tuple[Variable, Variable]:
        require_count(self.name, inputs, 2)
        q, table = inputs
        fits = table.ndim == 1 and table.type.shape[0] in (None, ENTRIES) and table.dtype in self.tables
        if q.dtype not in BYTES or not fits:
            message = f"{describe(q)} and {describe(table)}"
            raise TypeError(f"{self.name} takes int8 or uint8 and {ENTRIES} numbers of {self.tables}, got {message}")
        return q, table

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)


@record(repr=False)
class LookUp(_ByTable):
    """`look_up(q, table)`: the entry of each byte; negative numbers have the last 128 entries."""

    name = "look_up"
    tables = BYTES
    picture: ClassVar[Kind] = Kind.ELEMENTWISE
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        q, table = self._checked(inputs)
        return (TensorType(table.dtype, q.type.shape),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        q, table = values
        return (np.take(table, q.astype("uint8")),)


@record(repr=False)
class ByteSoftmax(_ByTable):
    """`byte_softmax(q, exponents)`: see the module.  exponents: exp(-k * scale) for k from 0 to 255, in float32."""

    out: str
    scale: float
    zero: int
    low: int
    high: int
    name = "byte_softmax"
    tables = ("float32",)
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        q, _ = self._checked(inputs)
        if q.ndim < 1:
            raise TypeError(f"{self.name} takes rows, got {describe(q)}")
        return (TensorType(self.out, q.type.shape),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        q, exponents = values
        if not q.size:
            return (q.astype(self.out),)
        below = q.max(axis=-1, keepdims=True).astype("int64") - q
        parts = np.floor(exponents.astype("float64") * 2.0**FRACTION).astype("int64")
        total = parts[below].sum(axis=-1, keepdims=True)
        factor = (2.0**FRACTION / (total.astype("float64") * self.scale)).astype("float32")
        low, high = np.float32(self.low - self.zero), np.float32(self.high - self.zero)
        held = np.clip(exponents[below] * factor, low, high)
        return ((np.rint(held).astype("int32") + self.zero).astype(self.out),)
