"""Quantized numbers as `QuantizeLinear` and `DequantizeLinear` where ONNX has their types, else by arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....graph import Apply, Constant, Variable
from ....ops.networks.fixed_point import Requantize
from ....ops.networks.quantized import NIBBLES, Dequantize, Quantize
from .writer import Writer, means, writes

BYTES = ("int8", "uint8", "int16", "uint16")
NUMBERS = ("float16", "float32")
UNCLEAR = -1


def _axis(scale: Variable) -> int | None:
    """The axis along which a scale stands; None for a scalar, UNCLEAR where several axes may be long."""
    axes = [axis for axis, n in enumerate(scale.type.shape) if n != 1]
    return (None if not axes else axes[0]) if len(axes) < 2 else UNCLEAR


def _blocks(q: Variable, scale: Variable, zero: Variable) -> tuple[int, int] | None:
    """The axis along which constants share scales and zero points in blocks, and the length of a block; or None."""
    beside = [v.data for v in (scale, zero) if isinstance(v, Constant)]
    if not isinstance(q, Constant) or len(beside) < 2 or scale.type.shape != q.type.shape or q.dtype not in BYTES[:2]:
        return None
    beside = [np.broadcast_to(a, q.data.shape) for a in beside]
    axes = []
    for axis, length in enumerate(q.data.shape):
        moved = [np.moveaxis(a, axis, 0) for a in beside]
        ends = [np.flatnonzero((a[1:] != a[:-1]).reshape(length - 1, -1).any(1)) + 1 for a in moved]
        axes.append((axis, int(np.gcd.reduce(np.concatenate([*ends, [0]]).astype("int64"))) or length))
    axis, block = max(axes, key=lambda found: found[1])
    return (axis, block) if block > 1 else None


def _is_taken(x: Variable, scale: Variable, zero: Variable) -> bool:
    separate = zero.ndim and _axis(zero) != _axis(scale)
    return _blocks(x, scale, zero) is not None or (_axis(scale) != UNCLEAR and not separate)


@means(Quantize, Dequantize)
def by_arithmetic(op: Any, x: Variable, scale: Variable, zero: Variable) -> Any:
    integer = op.dtype if isinstance(op, Quantize) else x.dtype
    taken = integer in BYTES and scale.dtype in NUMBERS and _is_taken(x, scale, zero)
    return None if taken else op.expand((x, scale, zero))


@means(Requantize)
def in_integers(op: Any, *inputs: Variable) -> Any:
    return op.expand(inputs)


@writes(Quantize, Dequantize)
def linear(w: Writer, node: Apply) -> str:
    x, scale, zero = node.inputs
    found = _blocks(x, scale, zero)
    if found is not None:
        return _in_blocks(w, node, *found)
    axis = _axis(scale)
    form = w.const([] if axis is None else [-1])
    kind = "QuantizeLinear" if isinstance(node.op, Quantize) else "DequantizeLinear"
    steps, points = (w.op("Reshape", w.value(v), form) for v in (scale, zero))
    if axis is not None and not zero.ndim:
        points = w.op("Expand", points, w.shape(steps))
    return w.op(kind, w.value(x), steps, points, axis=1 if axis is None else axis)


def _in_blocks(w: Writer, node: Apply, axis: int, block: int) -> str:
    """Constants with a scale for each block along an axis; in 4 bits if all of them fit."""
    q, scale, zero = (i.data for i in node.inputs)  # type: ignore[attr-defined]
    along = (*(slice(None),) * axis, slice(0, None, block))
    zero = np.broadcast_to(zero, q.shape)[along]
    fits = (name for name, (held, low, high) in NIBBLES.items()
            if held == q.dtype and all(low <= a.min() and a.max() <= high for a in (q, zero)))  # fmt: skip
    form = next(fits, q.dtype.name)
    points = w.narrow(zero, form), w.narrow(q, form)
    return w.op("DequantizeLinear", points[1], w.const(scale[along]), points[0], axis=axis, block_size=block)
