"""Quantization, and products and convolutions of quantized 8-bit numbers by their integer meaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.networks.quantized import FLOATS, INTEGERS, Dequantize, Quantize, spread
from ..reading.narrow import FORMATS, Float, Whole
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import dtype_of, saturated
from .elementwise import like
from .windows import convolved


def _broadcast_parameter(v: Any, x: Variable, node: Node) -> Any:
    """Scales or zero points broadcast to x: one in all, one for each position of an axis, or one for each block."""
    if v is None or v.ndim == 0 or (v.ndim == 1 and v.type.shape[0] == 1):
        return v if v is None or v.ndim == 0 else T.reshape(v, ())
    axis = node.attr("axis", 1) % x.ndim
    block = node.attr("block_size", 0)
    if block or v.ndim == x.ndim:
        size = block or -(-(x.type.shape[axis] or 0) // (v.type.shape[axis] or 1))
        return spread(v, x, axis, size)
    return T.reshape(v, tuple(-1 if k == axis else 1 for k in range(x.ndim)))


@converter("QuantizeLinear")
def quantize_linear(node: Node, x: Any, scale: Any, zero: Any = None) -> Any:
    """round(x / scale) + zero, halves to even, between the least and the largest number."""
    number = node.attr("output_dtype", 0)
    form = node.format(2) if zero is not None else FORMATS.get(number)
    dtype = zero.dtype if zero is not None else dtype_of(number, node.error) if number else "uint8"
    if form is None and dtype in INTEGERS and not node.attr("precision", 0) and x.dtype == scale.dtype in FLOATS:
        zero = T.constant(0, dtype) if zero is None else zero
        return Quantize(dtype)(x, _broadcast_parameter(scale, x, node), _broadcast_parameter(zero, x, node))
    y = _quotient(node, x, scale)
    if isinstance(form, Float):
        return form.rounded(y, bool(node.attr("saturate", 1)))
    y = T.round(y)
    wide = T.cast(y, "float64") if dtype in ("int32", "uint32") else y
    wide = wide if zero is None else wide + T.cast(_broadcast_parameter(zero, x, node), wide.dtype)
    return saturated(wide, dtype) if form is None else form.clipped(wide)


def _quotient(node: Node, x: Any, scale: Any) -> Any:
    """x / scale in the dtype of the scale, or in that of the attribute `precision`."""
    number = node.attr("precision", 0)
    dtype, form = (dtype_of(number, node.error), FORMATS.get(number)) if number else (scale.dtype, node.format(1))
    y = T.cast(x, dtype) / _broadcast_parameter(T.cast(scale, dtype), x, node)
    return y if form is None else form.rounded(y)


@converter("DequantizeLinear")
def dequantize_linear(node: Node, x: Any, scale: Any, zero: Any = None) -> Any:
    number = node.attr("output_dtype", 0)
    dtype = dtype_of(number, node.error) if number else scale.dtype
    whole = node.format(0) is None or isinstance(node.format(0), Whole)
    if x.dtype in INTEGERS and dtype == scale.dtype in FLOATS and node.format(1) is None and whole:
        zero = T.constant(0, x.dtype) if zero is None else zero
        return Dequantize()(x, _broadcast_parameter(scale, x, node), _broadcast_parameter(zero, x, node))
    kind = x.dtype if x.type.kind == "f" else "int32" if x.dtype != "int32" else "int64"
    y = T.cast(x, kind)
    y = y if zero is None else y - T.cast(_broadcast_parameter(zero, x, node), y.dtype)
    return T.cast(T.cast(y, scale.dtype) * _broadcast_parameter(scale, x, node), dtype)


@converter("MatMulNBits", domain="com.microsoft")
def matmul_nbits(
    node: Node, x: Any, w: Any, scale: Any, zero: Any = None, order: Any = None, bias: Any = None
) -> Any:
    """Rows times weights of 4 bits, two to a byte, with a scale for each block along the sum."""
    outputs, depth, block = node.need("N"), node.need("K"), node.need("block_size")
    bits, blocks = node.attr("bits", 4), -(-depth // block)
    if bits != 4 or order is not None or not all(v is None or isinstance(v, Constant) for v in (w, zero)):
        raise node.error(f"takes constant weights of 4 bits in their own order, got {bits} bits")
    nibbles = _nibbles(w.data.reshape(outputs, -1))[:, :depth]
    shape = outputs, blocks
    points: Any = np.full(shape, 8, "uint8")
    if zero is not None and zero.dtype != "uint8":
        raise node.error(f"takes zero points of 4 bits, got {zero.dtype}")
    if zero is not None:
        points = _nibbles(zero.data.reshape(outputs, -1))[:, :blocks]
    steps = constant(scale.data.reshape(shape)) if isinstance(scale, Constant) else T.reshape(scale, shape)
    numbers = T.dequantize(nibbles, steps, points, axis=1, block=block)
    y = T.matmul(x, T.transpose(numbers))
    return y if bias is None else y + bias


def _nibbles(packed: np.ndarray) -> np.ndarray:
    """The halves of bytes, the low one first, along the last axis."""
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(len(packed), -1)


@converter("DynamicQuantizeLinear")
def dynamic_quantize_linear(node: Node, x: Any) -> Any:
    zero, levels = like(0, x), like(255, x)
    low, high = T.minimum(T.min(x), zero), T.maximum(T.max(x), zero)
    scale = (high - low) / levels
    scale = T.where(T.eq(scale, zero), like(1, x), scale)
    point = T.round(T.clip(-low / scale, zero, levels))
    return saturated(T.round(x / scale) + point, "uint8"), scale, T.cast(point, "uint8")


def _minus(x: Any, zero: Any, rows: bool) -> Any:
    """x - zero in int32; zero points by row or by column."""
    x = T.cast(x, "int32")
    if zero is None:
        return x
    zero = T.cast(zero, "int32")
    return x - (T.expand_dims(zero, -1) if rows and zero.ndim == 1 and zero.type.shape[0] != 1 else zero)


@converter("MatMulInteger")
def matmul_integer(node: Node, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    return T.matmul(_minus(a, a_zero, True), _minus(b, b_zero, False))


@converter("QLinearMatMul")
def qlinear_matmul(node: Node, a: Any, sa: Any, za: Any, b: Any, sb: Any, zb: Any, sy: Any, zy: Any) -> Any:
    y = T.matmul(_minus(a, za, True), _minus(b, zb, False))
    return _requantized(y, sa, sb, sy, zy)


def _requantized(y: Any, sa: Any, sb: Any, sy: Any, zy: Any, form: tuple[int, ...] | None = None) -> Any:
    sb = sb if form is None or sb.ndim == 0 else T.reshape(sb, form)
    scale = T.cast(sa, "float32") * T.cast(sb, "float32") / T.cast(sy, "float32")
    return Quantize(zy.dtype)(T.cast(y, "float32") * scale, T.constant(1, "float32"), _scalar(zy))


def _scalar(v: Any) -> Any:
    return T.reshape(v, ()) if v.ndim == 1 and v.type.shape[0] == 1 else v


@converter("QLinearConv")
def qlinear_conv(
    node: Node, x: Any, sx: Any, zx: Any, w: Any, sw: Any, zw: Any, sy: Any, zy: Any, bias: Any = None
) -> Any:
    channels = (-1, *(1,) * (x.ndim - 1))
    zero = T.cast(zw, "int32")
    kernels = T.cast(w, "int32") - (zero if zero.ndim == 0 else T.reshape(zero, channels))
    y = convolved(node, T.cast(x, "int32") - T.cast(zx, "int32"), kernels)
    along = (1, -1, *(1,) * (x.ndim - 2))
    y = y if bias is None else y + T.reshape(bias, along)
    return _requantized(y, sx, sw, sy, zy, along)
