"""Normalizations: batches, layers, groups, instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .... import ops as T
from ..dtypes import as_dtype
from ..symbols import lengths
from ..symbols import number as known
from ..table import Call, converter
from .creation import filled
from .elementwise import number
from .reductions import moments


def _by_channel(v: Any, x: Any) -> Any:
    """Return a number a channel, to be broadcast along the other axes."""
    return T.reshape(v, (1, -1, *(1,) * (x.ndim - 2)))


def _scaled(x: Any, mean: Any, inverse: Any, weight: Any, bias: Any) -> Any:
    y = (x - mean) * inverse
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


@converter("aten._native_batch_norm_legit_no_training")
def batch_norm_inference(
    call: Call, x: Any, weight: Any, bias: Any, mean: Any, var: Any, momentum: float, eps: float
) -> Any:
    y = _with_statistics(x, weight, bias, mean, var, eps)
    empty = filled([0], 0, x.dtype)
    return as_dtype(y, call.dtype), empty, empty


def _with_statistics(x: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    """Normalize by one factor and one addend a channel, which fold into a convolution before."""
    scale = number(1, var) / T.sqrt(var + number(eps, var))
    scale = scale if weight is None else as_dtype(weight, scale.dtype) * scale
    shift = -mean * scale
    shift = shift if bias is None else as_dtype(bias, shift.dtype) + shift
    wide = as_dtype(x, scale.dtype)
    return wide * _by_channel(scale, x) + _by_channel(shift, x)


def _with_batch(x: Any, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any, Any]:
    """Return the normalized batch, mean, 1 / deviation, and variance of each channel."""
    axes = [k for k in range(x.ndim) if k != 1]
    var, mean = moments(x, axes, 0, False)
    inverse = number(1, var) / T.sqrt(var + number(eps, var))
    parts = [None if v is None else _by_channel(as_dtype(v, x.dtype), x) for v in (mean, inverse, weight, bias)]
    return _scaled(x, *parts), mean, inverse, var


@converter("aten._native_batch_norm_legit.no_stats")
def batch_norm_no_stats(call: Call, x: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float) -> Any:
    return _with_batch(x, weight, bias, eps)[:3]


@converter("aten._native_batch_norm_legit_functional", "aten._batch_norm_with_update_functional")
def batch_norm_training(
    call: Call, x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: Any, momentum: Any, eps: Any = None
) -> Any:
    if eps is None:  # the op with update has no argument `training`
        training, momentum, eps = True, training, momentum
    if not training:
        y = _with_statistics(x, weight, bias, mean, var, eps)
        empty = filled([0], 0, x.dtype)
        return y, empty, empty, mean, var
    y, own, inverse, square = _with_batch(x, weight, bias, eps)
    count: Any = 1
    for k, n in enumerate(lengths(x)):
        count = count if k == 1 else count * n
    wider = as_dtype(count, square.dtype) / as_dtype(count - 1, square.dtype)
    kept, taken = number(1 - momentum, mean), number(momentum, mean)
    new_mean = mean * kept + as_dtype(own, mean.dtype) * taken
    new_var = var * kept + as_dtype(square * wider, var.dtype) * taken
    if "with_update" in str(call.node.target):
        return y, own, inverse, filled([0], 0, "uint8"), new_mean, new_var
    return y, own, inverse, new_mean, new_var


@converter("aten.native_layer_norm")
def layer_norm(call: Call, x: Any, shape: Sequence[Any], weight: Any, bias: Any, eps: float) -> Any:
    axes = list(range(x.ndim - len(shape), x.ndim))
    wide = as_dtype(x, "float32") if x.dtype == "float16" else x
    var, mean = moments(wide, axes, 0, True)
    inverse = number(1, var) / T.sqrt(var + number(eps, var))
    y = _scaled(wide, mean, inverse, None if weight is None else as_dtype(weight, wide.dtype),
                None if bias is None else as_dtype(bias, wide.dtype))  # fmt: skip
    return tuple(as_dtype(v, d) for v, d in zip((y, mean, inverse), call.dtypes, strict=True))


@converter("aten.rms_norm", "aten._fused_rms_norm")
def rms_norm(call: Call, x: Any, shape: Sequence[Any], weight: Any = None, eps: float | None = None) -> Any:
    wide = as_dtype(x, "float32") if x.dtype == "float16" else x
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    if x.type.kind != "f":
        return NotImplemented
    eps = torch.finfo(call.meta(0).dtype).eps if eps is None else eps
    square = T.mean(T.square(wide), axis=axes, keepdims=True)
    inverse = number(1, wide) / T.sqrt(square + number(eps, wide))
    y = wide * inverse
    y = as_dtype(y if weight is None else y * as_dtype(weight, wide.dtype), x.dtype)
    return (y, inverse) if "_fused" in str(call.node.target) else y


@converter("aten.native_group_norm")
def group_norm(
    call: Call, x: Any, weight: Any, bias: Any, n: Any, channels: Any, size: Any, groups: int, eps: float
) -> Any:
    own = lengths(x)
    rows = T.reshape(x, (own[0], groups, known(channels) * known(size) // groups))
    wide = as_dtype(rows, "float32") if x.dtype == "float16" else rows
    var, mean = moments(wide, [2], 0, True)
    inverse = number(1, var) / T.sqrt(var + number(eps, var))
    y = T.reshape((wide - mean) * inverse, own)
    if weight is not None:
        y = y * _by_channel(as_dtype(weight, y.dtype), x)
    if bias is not None:
        y = y + _by_channel(as_dtype(bias, y.dtype), x)
    flat = [T.reshape(v, (own[0], groups)) for v in (mean, inverse)]
    return tuple(as_dtype(v, d) for v, d in zip((y, *flat), call.dtypes, strict=True))


@converter("aten._weight_norm_interface_backward")
def weight_norm_backward(call: Call, grad: Any, v: Any, g: Any, norms: Any, dim: int) -> Any:
    """Cotangents of v and g, where the weight is g * v / norms and each norm is that of all axes but one."""
    grad, v, g = (as_dtype(x, norms.dtype) for x in (grad, v, g))
    axes = tuple(k for k in range(v.ndim) if k != dim % v.ndim)
    along = T.sum(grad * v, axis=axes, keepdims=True) / norms
    by_direction = g / norms * (grad - v * (along / norms))
    return tuple(as_dtype(x, d) for x, d in zip((by_direction, along), call.dtypes, strict=True))
