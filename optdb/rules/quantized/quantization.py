"""Quantization: cancel pairs of dequantize and quantize, and expand the rest to elementwise ops that fuse."""

from __future__ import annotations

import numpy as np

from ....graph import Constant, Variable
from ....ops.networks.fixed_point import Requantize
from ....ops.networks.quantized import Dequantize, Quantize
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, producer
from .byte_blocks import is_read_in_words

SAFE = (1e-30, 1e30)
"""Range of scales s for which n * s and n / s are normal float32 numbers for all 8-bit n except 0."""


def back_again(node: Node) -> Variable | None:
    """Cancel a dequantize and a quantize with equal scales and zero points."""
    made = producer(node.inputs[0], Dequantize)
    if made is None or not node.op.dtype.endswith("int8") or node.inputs[0].dtype == "float16":
        return None
    (q, *before), (_, *after) = made.inputs, node.inputs
    scale = before[0]
    same = q.dtype == node.op.dtype and all(_equal(v, w) for v, w in zip(before, after, strict=True))
    if not same or q.type.shape != node.out.type.shape or not isinstance(scale, Constant):
        return None
    safe = bool(((scale.data > SAFE[0]) & (scale.data < SAFE[1])).all())
    return q if safe else None


def _equal(v: Variable, w: Variable) -> bool:
    if v is w:
        return True
    if not (isinstance(v, Constant) and isinstance(w, Constant)):
        return False
    return v.type == w.type and bool(np.array_equal(v.data, w.data))


def quantized_elementwise(node: Node, users: Users) -> Variable | None:
    """Expand a quantize, unless convolutions of bytes alone read it in words: it is part of them then."""
    return None if is_read_in_words(node, users) else elementwise(node)


def elementwise(node: Node) -> Variable:
    """Expand a node to the arithmetic of its scales and zero points."""
    return node.op.expand(node.inputs)  # type: ignore[no-any-return]


CANCELLED: list[Rule] = [
    node_rule("local_quantize_of_dequantize", Quantize, back_again, having=Dequantize,
              formula="quantize(dequantize(q, s, z), s, z) -> q  for constant s and q of 8 bits"),
]  # fmt: skip
EXPANDED: list[Rule] = [
    node_rule("local_quantize_elementwise", Quantize, quantized_elementwise, having=(), uses=True,
              formula="quantize(x, s, z) -> cast(minimum(maximum(rint(x / s) + z, least), largest))"),
    node_rule("local_dequantize_elementwise", Dequantize, elementwise, having=(),
              formula="dequantize(q, s, z) -> (q - z) * s"),
    node_rule("local_requantize_elementwise", Requantize, elementwise, having=(),
              formula="requantize(x, m, k, z) -> cast(clip(round(round(x 2^max(k, 0) m / 2^31) / 2^max(-k, 0)) + z))"),
]  # fmt: skip
