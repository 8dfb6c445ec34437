"""Attention of bfloat16 numbers as one op: `bfloat_attention(q, k, v, scale[, mask, fill][, added])`.

q, k and v are bits of such numbers in uint16.  Scores, their softmax and all sums are float32; exponentials of scores,
relative to the greatest one of a row, are rounded to bfloat16, and a row is divided by their sum.  The rule of
optdb/rules/quantized/bfloats.py makes the op of attention; its C is kernels/attention/words.c.
"""

from __future__ import annotations

import numpy as np

from ...graph import TensorType, Variable
from ...record import record
from ..core.checks import describe
from ..elementwise.records import from_bfloat16
from ..elementwise.special import from_bfloat16 as widened
from ..elementwise.special import to_bfloat16
from .attention import Attention


@record(repr=False)
class BfloatAttention(Attention):
    """`bfloat_attention(q, k, v, scale[, mask, fill][, added])`: attention whose products have operands of 16 bits."""

    name = "bfloat_attention"
    tiled_format = "bfloat16"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        if any(v.dtype != "uint16" for v in inputs[:3]):
            found = ", ".join(map(describe, inputs))
            raise TypeError(f"{self.name} takes q, k and v of uint16, bits of bfloat16 numbers; got {found}")
        return Attention(self.mask, self.added).infer((*map(from_bfloat16, inputs[:3]), *inputs[3:]))

    def meaning(self, *inputs: Variable) -> Variable:
        """Return the same value, but for the rounding of exponentials, in ops that users write."""
        return Attention(self.mask, self.added).meaning(*map(from_bfloat16, inputs[:3]), *inputs[3:])

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (q, k, v, scale), masks, added = self.parts(values)
        with np.errstate(all="ignore"):
            scores = self.scores(widened(q), widened(k), scale, masks, added)
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
            shares = widened(to_bfloat16(shares))
            return (np.matmul(shares, widened(v)) / shares.sum(axis=-1, keepdims=True),)
