"""Products with constants of 4 bits: the weights stay packed, two per byte, until they are multiplied.

    dot(x, dequantize(w, s, z))    -->   nibble_product(x, packed w, s[, z])

Scales and zero points may differ by output and by block along the sum.  Each block is scaled once after it is summed,
which rounds in other places than the floats that the integers stand for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.linalg.blas import Dot, MatMul
from ....ops.lowered.byte_sums import BYTES
from ....ops.lowered.formats import PackedProduct
from ....ops.lowered.formats.nibbles import LEAST, MOST, OCTET, Nibbles
from ....ops.networks.quantized import Dequantize
from ....ops.shapes.shape import DimShuffle, Reshape
from ....record import record
from ....targets.costs import ITEMS
from ....targets.current import current
from ...contract import relaxes
from ...rule import Rule, node_rule
from ..facts import Node, producer


@record(slots=True)
class _Weights:
    """Weights, outputs by depth, with scales and zero points, outputs by blocks."""

    w: np.ndarray
    scale: np.ndarray
    zero: np.ndarray
    block: int


def weights_of(v: Variable, transposed: bool) -> _Weights | None:
    """Return the 4-bit constants that dequantize to a matrix, perhaps transposed; `transposed`: depth by outputs."""
    moves: list[Any] = []
    while (made := producer(v, Reshape, DimShuffle)) is not None and made.out.dtype == "float32":
        if not all(isinstance(i, Constant) for i in made.inputs[1:]):
            return None
        moves.insert(0, made)
        v = made.inputs[0]
    made = producer(v, Dequantize)
    if made is None or v.dtype != "float32" or made.inputs[0].dtype not in BYTES:
        return None
    if not all(isinstance(i, Constant) for i in made.inputs) or 0 in made.inputs[0].type.shape:
        return None
    arrays = [np.broadcast_to(i.data, made.inputs[0].data.shape) for i in made.inputs]
    for move in moves:
        arrays = [move.op.evaluate(a, *(i.data for i in move.inputs[1:]))[0] for a in arrays]
    w, scale, zero = (a.T if transposed else a for a in arrays)
    return _in_blocks(w, scale, zero)


def _in_blocks(w: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> _Weights | None:
    low, high = int(w.min()), int(w.max())
    shift = 0 if low >= LEAST and high <= MOST else -LEAST
    if low - shift < LEAST or high - shift > MOST or not np.isfinite(scale).all():
        return None
    changes = [np.flatnonzero((a[:, 1:] != a[:, :-1]).any(0)) + 1 for a in (scale, zero)]
    block = int(np.gcd.reduce(np.concatenate(changes))) if any(c.size for c in changes) else 0
    block = block or -(-w.shape[1] // OCTET) * OCTET
    start = zero[:, ::block].astype("int64") - shift
    if block % OCTET or start.min() < -128 or start.max() > 127:
        return None
    return _Weights(w.astype("int16") - shift, scale[:, ::block].astype("float32"), start.astype("int8"), block)


def packed(x: Variable, found: _Weights) -> Variable:
    """Return the product of rows and weights, which are packed as the C reads them."""
    outputs, depth = found.w.shape
    form = Nibbles(outputs, depth, found.block, current().vector // ITEMS["float32"])
    return PackedProduct(form)(x, *map(constant, form.packed(found.w, found.scale, found.zero)))


def nibble_product(node: Node) -> Variable | None:
    """Rewrite rows of floats times a matrix of 4 bits, or such a matrix times a vector."""
    a, b = node.inputs
    if node.out.dtype != "float32" or a.dtype != b.dtype:
        return None
    if b.ndim == 2 and a.ndim and (found := weights_of(b, True)) is not None:
        return packed(a, found)
    if a.ndim == 2 and b.ndim == 1 and (found := weights_of(a, False)) is not None:
        return packed(b, found)
    return None


NIBBLES: list[Rule] = [
    node_rule("local_nibble_product", (Dot, MatMul), nibble_product, having=(Dequantize, Reshape, DimShuffle),
              contract=relaxes(*Nibbles.relaxes),
              formula="dot(x, dequantize(w, s, z)) -> nibble_product(x, packed w, s, z)  for constants of 4 bits"),
]  # fmt: skip
