"""Requantization of byte sums: scales, bounds, residuals and pools after them.

    quantize(maximum(byte_convolution(...) + b, 0), s, z)    -->   byte_convolution{zero, low}(..., scale / s, b / s)

A residual is added to sums in float32, or to the integers of rounded sums if the model quantizes every value.  In the
second case the kernel does both roundings in registers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import add, clip, maximum, minimum
from ....ops.lowered.byte_sums import BYTES, ByteConvolution
from ....ops.networks.pooling import MaxPool
from ....ops.networks.quantized import Quantize
from ....record import record
from ...patterns import Users
from ...rule import Rule, node_rule
from ..blocks.parts import without_filling
from ..facts import Node, number_of, producer
from .byte_sums import ROUNDED, Dequantized, numbers_of

MOST_SCALE = 2.0**20
"""Largest scale of numbers below 2^9; products are then below 2^31."""


def narrowed(node: Node, users: Users) -> Variable | None:
    """Fuse quantization to 8 bits into float32 byte sums, with a clip and added dequantized numbers."""
    to = _rounding(node, users)
    found = None if to is None else _sum_with_more(to.value, users)
    if to is None or found is None:
        return None
    made, more = found
    op, (q, w, start, totals, factor, bias) = made.op, made.inputs
    step = to.scale
    shift = bias.data if more is None else bias.data - np.float32(more.zero * more.scale)
    beside = () if more is None else (more.q,)
    narrow = replace(op, out=node.op.dtype, zero=to.zero, low=to.low, high=to.high,
                     more_scale=0.0 if more is None else float(np.float32(more.scale) / step))  # fmt: skip
    return narrow(  # type: ignore[no-any-return]
        q, w, start, totals, constant(factor.data / step), constant((shift / step).astype("float32")), *beside
    )


def residual(node: Node, users: Users) -> Variable | None:
    """Fuse a dequantized residual, a clip and a second quantization into byte sums; both roundings stay."""
    to = _rounding(node, users)
    operands = [] if to is None or producer(to.value, add) is None else list(to.value.owner.inputs)  # type: ignore[union-attr]
    if to is None or len(operands) != 2 or len(users(to.value)) > 1:
        return None
    for v, other in (operands, operands[::-1]):
        sums, more = numbers_of(v), numbers_of(other)
        made = None if sums is None else producer(sums.q, ByteConvolution)
        if sums is None or more is None or made is None or made.op.fixed or made.op.size or made.op.zero != sums.zero:
            continue
        scales = [float(np.float32(n.scale) / to.scale) for n in (sums, more)]
        alone = len(made.inputs) == 6 and len(users(sums.q)) == len(users(v)) == 1
        fits = more.q.type.shape == made.out.type.shape and None not in more.q.type.shape[1:]
        if alone and fits and all(0 < n <= MOST_SCALE for n in scales):
            op = replace(
                made.op, out=node.op.dtype, zero=to.zero, low=to.low, high=to.high, sum_scale=scales[0],
                lower=made.op.low - sums.zero, upper=made.op.high - sums.zero, more_scale=scales[1],
                more_zero=more.zero,
            )  # fmt: skip
            return op(*made.inputs, more.q)  # type: ignore[no-any-return]
    return None


@record(slots=True)
class _Rounding:
    """Quantization of a value to 8 bits: round(value / scale) + zero, clipped to low and high."""

    value: Variable
    scale: Any
    zero: int
    low: int
    high: int


def _rounding(node: Node, users: Users) -> _Rounding | None:
    """Return the quantization by one finite scale and one zero point; constant clips narrow its bounds."""
    value, scale, zero = node.inputs
    s, z = number_of(scale), number_of(zero)
    if node.op.dtype not in BYTES or s is None or z is None or not (s > 0 and np.isfinite(s)):
        return None
    ends = np.iinfo(node.op.dtype)
    low, high = ends.min, ends.max
    while (cut := _cut_off(value, users)) is not None:
        value, least, largest = cut
        low = max(low, _unit(least, s, z, ends))
        high = max(low, min(high, _unit(largest, s, z, ends)))
    return _Rounding(value, np.float32(s), int(z), low, high)


def _unit(number: float, scale: Any, zero: Any, ends: Any) -> int:
    with np.errstate(all="ignore"):
        unit = np.clip(np.rint(np.float32(number) / np.float32(scale)) + np.float32(zero), ends.min, ends.max)
    return int(unit)


def _cut_off(v: Variable, users: Users) -> tuple[Variable, float, float] | None:
    """Return the operand and the bounds of a clip by constants whose result has one user; None for other values."""
    made = producer(v, maximum, minimum, clip)
    if made is None or len(users(v)) > 1:
        return None
    value, *bounds = sorted(made.inputs, key=lambda i: isinstance(i, Constant)) if made.op != clip else made.inputs
    numbers = [number_of(b) for b in bounds]
    if value.type != v.type or any(n is None or n != n for n in numbers):
        return None
    found = [float(n) for n in numbers]
    if made.op == clip:
        return value, found[0], found[1]
    return (value, max(found), np.inf) if made.op == maximum else (value, -np.inf, min(found))


def _sum_with_more(v: Variable, users: Users) -> tuple[Node, Dequantized | None] | None:
    """Return float32 byte sums with one user, and the dequantized numbers or other sums of this shape added to them."""
    operands = [v] if producer(v, add) is None or len(users(v)) > 1 else list(v.owner.inputs)  # type: ignore[union-attr]
    sums = [m for i in operands if (m := producer(i, ByteConvolution)) is not None]
    if len(operands) > 2 or not sums:
        return None
    for made in sums:
        rest = [i for i in operands if i is not made.out]
        more = (numbers_of(rest[0]) or _other_sums(rest[0])) if rest else None
        plain = made.op.out == "float32" and not made.op.size and len(users(made.out)) == 1
        constants = all(isinstance(i, Constant) for i in made.inputs[1:])
        fits = more is None or (more.q.type.shape == made.out.type.shape and None not in more.q.type.shape[1:])
        if plain and constants and fits and len(rest) == len(operands) - 1 and bool(rest) == (more is not None):
            return made, more
    return None


def _other_sums(v: Variable) -> Dequantized | None:
    """Return float32 byte sums, which are finite, with scale 1 and zero point 0."""
    made = producer(v, ByteConvolution)
    return None if made is None or made.op.out != "float32" else Dequantized(v, 1.0, 0)


def quantized_pool(node: Node, users: Users) -> Variable | None:
    """Quantize before a max pool of finite numbers: rounding is monotonic."""
    x, scale, zero = node.inputs
    made = producer(x, MaxPool)
    if made is None or len(users(x)) > 1 or scale.ndim or zero.ndim or node.op.dtype not in BYTES:
        return None
    value = without_filling(made.inputs[0], -np.inf)[0]
    while (cut := _cut_off(value, users)) is not None:
        value = cut[0]
    if _sum_with_more(value, users) is None:
        return None
    return made.op(node.op(made.inputs[0], scale, zero))  # type: ignore[no-any-return]


BYTE_ENDINGS: list[Rule] = [
    node_rule("local_quantize_bytes", Quantize, narrowed, having=(), uses=True, contract=ROUNDED,
              formula="quantize(byte_convolution(..., scale, b), s, z) -> "
                      "byte_convolution{zero}(..., scale / s, b / s)"),
    node_rule("local_quantize_residual", Quantize, residual, having=(), uses=True, contract=ROUNDED,
              formula="quantize(dequantize(byte_convolution{zero}(...), t, zero) + dequantize(q, u, y), s, z) -> "
                      "byte_convolution{z, t / s, u / s}(..., q)"),
    node_rule("local_quantize_pool", Quantize, quantized_pool, having=MaxPool, uses=True,
              formula="quantize(max_pool(x), s, z) -> max_pool(quantize(x, s, z))  for x of byte_convolution"),
]  # fmt: skip
