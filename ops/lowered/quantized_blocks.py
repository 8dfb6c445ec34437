"""Images of floats as integers of 8 bits in blocks of four channels, in one pass over them.

    quantize_in_blocks{dtype}(x, scale, zero_point)     to_blocks{4}(quantize{dtype}(x, scale, zero_point))

`optdb/rules/quantized/byte_blocks.py` makes it before a first byte convolution; `kernels/quantized/words.c` computes
it.
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
from ..networks.quantized import Quantize
from .blocked import ToBlocks
from .byte_sums import BYTES, WORD


@record(repr=False)
class QuantizeInBlocks(Lowered):
    """`quantize_in_blocks(x, scale, zero_point)`: images (n, c, h, w) as bytes (n, ceil(c / 4), h, w, 4).

    x: float32 with a known number of channels; scale: a float32 scalar; zero_point: a scalar of `dtype`, int8 or uint8.
    Zeros stand in for missing channels.
    """

    dtype: str
    name: ClassVar[str] = "quantize_in_blocks"  # type: ignore[misc]
    picture: ClassVar[Kind] = Kind.ELEMENTWISE
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 3)
        x, scale, zero = inputs
        fits = x.dtype == scale.dtype == "float32" and zero.dtype == self.dtype and self.dtype in BYTES
        channels = x.type.shape[1] if x.ndim == 4 else None
        if not fits or scale.ndim or zero.ndim or channels is None:
            message = ", ".join(map(describe, inputs))
            wanted = f"float32 images of a known number of channels, and scalars of float32 and {self.dtype}"
            raise TypeError(f"{self.name} takes {wanted}; got {message}")
        n, _, *positions = x.type.shape
        return (TensorType(self.dtype, (n, -(-channels // WORD), *positions, WORD)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return ToBlocks(WORD).evaluate(*Quantize(self.dtype).evaluate(*values))

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ToBlocks(WORD).dims(node, inputs)
