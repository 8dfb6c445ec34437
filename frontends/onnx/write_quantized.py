"""Quantized numbers as `QuantizeLinear` and `DequantizeLinear` where ONNX has their types, else by arithmetic."""

from __future__ import annotations

from typing import Any

from ...graph import Apply, Variable
from ...ops.quantized import Dequantize, Quantize
from .writing import Writer, means, writes

BYTES = ("int8", "uint8", "int16", "uint16")
NUMBERS = ("float16", "float32")
UNCLEAR = -1


def _axis(scale: Variable) -> int | None:
    """The axis along which a scale stands; None for a scalar, UNCLEAR where several axes may be long."""
    axes = [axis for axis, n in enumerate(scale.type.shape) if n != 1]
    return (None if not axes else axes[0]) if len(axes) < 2 else UNCLEAR


@means(Quantize, Dequantize)
def by_arithmetic(op: Any, x: Variable, scale: Variable, zero: Variable) -> Any:
    integer = op.dtype if isinstance(op, Quantize) else x.dtype
    apart = zero.ndim and _axis(zero) != _axis(scale)
    taken = integer in BYTES and scale.dtype in NUMBERS and _axis(scale) != UNCLEAR and not apart
    return None if taken else op.expand((x, scale, zero))


@writes(Quantize, Dequantize)
def linear(w: Writer, node: Apply) -> str:
    x, scale, zero = node.inputs
    axis = _axis(scale)
    form = w.const([] if axis is None else [-1])
    kind = "QuantizeLinear" if isinstance(node.op, Quantize) else "DequantizeLinear"
    steps, points = (w.op("Reshape", w.value(v), form) for v in (scale, zero))
    if axis is not None and not zero.ndim:
        points = w.op("Expand", points, w.shape(steps))
    return w.op(kind, w.value(x), steps, points, axis=1 if axis is None else axis)
