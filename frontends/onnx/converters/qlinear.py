"""Quantized ops of `com.microsoft`, which ONNX Runtime's quantizer writes: floats between one rounding and the next.

    QLinearAdd(a, sa, za, b, sb, zb, sy, zy)  -->  quantize(dequantize(a) + dequantize(b))

Passes over the graph turn these into kernels of integers where they can.
Source: ONNX Runtime, "Contrib operators"; each op computes in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import ops as T
from ....graph import Variable
from ....ops.networks.quantized import Dequantize, Quantize
from ..reading.node import Node
from ..reading.table import CONVERTERS, converter
from .elementwise import like
from .quantized import dequantize_linear, matmul_integer, qlinear_conv, quantize_linear
from .windows import average_pool

MS = "com.microsoft"


def _wide(x: Any, scale: Any, zero: Any = None) -> Any:
    """The floats that integers stand for, by one scale and zero point."""
    return Dequantize()(x, _one(scale), T.constant(0, x.dtype) if zero is None else _one(zero))


def _narrow(y: Any, scale: Any, zero: Any, dtype: str) -> Any:
    return Quantize(dtype)(y, _one(scale), T.constant(0, dtype) if zero is None else _one(zero))


def _one(v: Variable) -> Any:
    return v if v.ndim == 0 else T.reshape(v, ())


@converter("QLinearAdd", "QLinearMul", domain=MS)
def qlinear_arithmetic(
    node: Node, a: Any, sa: Any, za: Any, b: Any, sb: Any, zb: Any, sy: Any, zy: Any = None
) -> Any:
    function = T.add if node.op == "QLinearAdd" else T.mul
    return _narrow(function(_wide(a, sa, za), _wide(b, sb, zb)), sy, zy, a.dtype)


@converter("QLinearWhere", domain=MS)
def qlinear_where(
    node: Node, condition: Any, a: Any, sa: Any, za: Any, b: Any, sb: Any, zb: Any, sy: Any, zy: Any
) -> Any:
    return _narrow(T.where(condition, _wide(a, sa, za), _wide(b, sb, zb)), sy, zy, a.dtype)


@converter("QLinearConcat", domain=MS)
def qlinear_concat(node: Node, sy: Any, zy: Any, *parts: Any) -> Any:
    each = [_wide(*parts[k : k + 3]) for k in range(0, len(parts), 3)]
    return _narrow(T.concatenate(each, axis=node.need("axis")), sy, zy, zy.dtype)


# --- functions of one operand


def _unary(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of the node and of floats as the op from integers to integers."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def convert(node: Node, x: Any, sx: Any, zx: Any, sy: Any, zy: Any = None) -> Any:
            return _narrow(function(node, _wide(x, sx, zx)), sy, zy, x.dtype)

        CONVERTERS[MS, name] = convert
        return function

    return register


@_unary("QLinearSoftmax")
def qlinear_softmax(node: Node, x: Any) -> Any:
    """Before version 13 of the standard ops, which an attribute names, all axes from `axis` on are one."""
    axis = node.attr("axis", -1)
    if node.need("opset") >= 13:
        return T.softmax(x, axis=axis)
    lengths = [T.shape(x)[k] for k in range(x.ndim)]
    rows = T.prod(T.stack(lengths[: axis % x.ndim])) if axis % x.ndim else 1
    return T.reshape(T.softmax(T.reshape(x, (rows, -1)), axis=-1), lengths)


@_unary("QLinearReduceMean")
def qlinear_reduce_mean(node: Node, x: Any) -> Any:
    return T.mean(x, axis=tuple(node.attr("axes") or range(x.ndim)), keepdims=bool(node.attr("keepdims", 1)))


@_unary("QLinearGlobalAveragePool")
def qlinear_global_average_pool(node: Node, x: Any) -> Any:
    return _with_channels_last(node, x, lambda x: T.mean(x, axis=tuple(range(2, x.ndim)), keepdims=True))


def _with_channels_last(node: Node, x: Any, function: Callable[[Any], Any]) -> Any:
    """The function's value on x, whose channels are the last axis if the node says so."""
    return T.moveaxis(function(T.moveaxis(x, -1, 1)), 1, -1) if node.attr("channels_last", 0) else function(x)


_unary("QLinearSigmoid")(lambda node, x: T.sigmoid(x))
_unary("QLinearLeakyRelu")(lambda node, x: T.where(T.lt(x, like(0, x)), like(node.attr("alpha", 0.01), x) * x, x))
_unary("QLinearAveragePool")(lambda node, x: _with_channels_last(node, x, lambda x: average_pool(node, x)))


# --- products


@converter("QLinearConv", domain=MS)
def qlinear_conv_channels(node: Node, x: Any, *operands: Any) -> Any:
    return _with_channels_last(node, x, lambda x: qlinear_conv(node, x, *operands))


@converter("QGemm", domain=MS)
def qgemm(
    node: Node, a: Any, sa: Any, za: Any, b: Any, sb: Any, zb: Any, bias: Any = None, sy: Any = None, zy: Any = None
) -> Any:
    """alpha * (a - za) (b - zb) + bias in integers, times the scales; floats if no scale of the result is given."""
    a = T.transpose(a) if node.attr("transA", 0) else a
    b = T.transpose(b) if node.attr("transB", 0) else b
    y = matmul_integer(node, a, b, None if za is None else _one(za), zb)
    y = T.cast(y if bias is None else y + bias, "float32")
    y = y * (like(node.attr("alpha", 1.0), y) * _one(sa) * sb)
    return y if sy is None else _narrow(y, sy, zy, a.dtype)


@converter("MatMulIntegerToFloat", domain=MS)
def matmul_integer_to_float(
    node: Node, a: Any, b: Any, sa: Any, sb: Any, za: Any = None, zb: Any = None, bias: Any = None
) -> Any:
    y = T.cast(matmul_integer(node, a, b, za, zb), "float32") * (sa * sb)
    return y if bias is None else y + bias


CONVERTERS[MS, "QuantizeLinear"] = quantize_linear
CONVERTERS[MS, "DequantizeLinear"] = dequantize_linear
