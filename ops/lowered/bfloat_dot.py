"""Products of numbers of 16 bits, the upper halves of float32 (bfloat16), summed in float32.

    bfloat_dot(a, b)     a @ b

An operand of uint16 holds the bits of bfloat16 numbers; one of float32 is rounded to the nearest of them, ties to
even.  Products of two such numbers are exact in float32.  Sums are float32: the second product of each pair along the
sum is added, then the first one, with a rounding each, as the instruction vdpbf16ps does.

The op comes from the rules of optdb/rules/quantized/bfloats.py.  The derivative of the rounding is 1.  A constant b
is in the format of formats/bfloats.py; the same C packs any other one in each call.
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


@record
class BfloatDot(Lowered):
    """`bfloat_dot(a, b)`: rows of bfloat16 numbers by a matrix of them, as float32."""

    name = "bfloat_dot"
    picture: ClassVar[Kind] = Kind.PRODUCT
    tiled_format = "bfloat16"
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


def as_bfloat16(x: np.ndarray) -> np.ndarray:
    """Return float32 numbers rounded to bfloat16, or the numbers of given bits."""
    return widened(x if x.dtype == np.uint16 else to_bfloat16(x))
