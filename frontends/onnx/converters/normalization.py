"""Normalization by means and variances."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ....ops.networks.normalization import response_normalized
from ....ops.shapes.windows import MOST
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import own_lengths
from .elementwise import like


def _by_channel(v: Any, x: Any) -> Any:
    return T.reshape(v, (1, -1, *(1,) * (x.ndim - 2))) if x.ndim > 1 else v


@converter("BatchNormalization")
def batch_normalization(node: Node, x: Any, scale: Any, bias: Any, mean: Any, var: Any) -> Any:
    training = bool(node.attr("training_mode", 0))
    dtype = scale.dtype if scale.dtype != x.dtype else x.dtype
    epsilon = node.attr("epsilon", 1e-5)
    running: tuple[Any, ...] = ()
    if training:
        axes = (0, *range(2, x.ndim))
        now_mean, now_var = T.mean(x, axis=axes), T.var(x, axis=axes)
        momentum = like(node.attr("momentum", 0.9), mean)
        rest = like(1, mean) - momentum
        running = (mean * momentum + now_mean * rest, var * momentum + now_var * rest)
        mean, var = now_mean, now_var
    spread = T.sqrt(_by_channel(var, x) + like(epsilon, var))
    y = _by_channel(scale, x) * ((x - _by_channel(mean, x)) / spread) + _by_channel(bias, x)
    y = T.cast(y, x.dtype) if y.dtype != x.dtype and dtype else y
    return (y, *running) if training else y


@converter("InstanceNormalization")
def instance_normalization(node: Node, x: Any, scale: Any, bias: Any) -> Any:
    return T.nn.instance_norm(x, weight=scale, bias=bias, eps=node.attr("epsilon", 1e-5))


@converter("LayerNormalization")
def layer_normalization(node: Node, x: Any, scale: Any, bias: Any = None) -> Any:
    axes = tuple(range(node.attr("axis", -1) % x.ndim, x.ndim))
    wide = T.cast(x, "float32") if x.dtype == "float16" else x
    mean = T.mean(wide, axis=axes, keepdims=True)
    centred = wide - mean
    var = T.mean(centred * centred, axis=axes, keepdims=True)
    inverse = like(1, wide) / T.sqrt(var + like(node.attr("epsilon", 1e-5), wide))
    y = T.cast(centred * inverse, x.dtype) * scale
    return (y if bias is None else y + bias), mean, inverse


@converter("RMSNormalization")
def rms_normalization(node: Node, x: Any, scale: Any) -> Any:
    axes = tuple(range(node.attr("axis", -1) % x.ndim, x.ndim))
    wide = T.cast(x, "float32") if x.dtype == "float16" else x
    spread = T.sqrt(T.mean(wide * wide, axis=axes, keepdims=True) + like(node.attr("epsilon", 1e-5), wide))
    return T.cast(wide / spread, x.dtype) * scale


@converter("GroupNormalization")
def group_normalization(node: Node, x: Any, scale: Any, bias: Any) -> Any:
    groups, epsilon = node.need("num_groups"), node.attr("epsilon", 1e-5)
    if node.version < 21:  # a number for each group
        each = own_lengths(x)[1] // groups
        scale, bias = (T.repeat(v, each) for v in (scale, bias))
    return T.nn.group_norm(x, groups, scale, bias, epsilon)


@converter("LRN")
def lrn(node: Node, x: Any) -> Any:
    """Local response normalization: divide each element by a power of its channel neighbours' square sum."""
    size = node.need("size")
    if not 1 <= size <= MOST:
        raise node.error(f"the size is {size}, expected 1 to {MOST}")
    numbers = node.attr("alpha", 1e-4), node.attr("beta", 0.75), node.attr("bias", 1.0)
    return response_normalized(x, (size - 1) // 2, size, *numbers)


@converter("LpNormalization")
def lp_normalization(node: Node, x: Any) -> Any:
    axis, p = node.attr("axis", -1), node.attr("p", 2)
    total = T.sum(T.abs(x), axis=axis, keepdims=True) if p == 1 else T.sqrt(T.sum(x * x, axis=axis, keepdims=True))
    return T.where(T.eq(total, like(0, x)), like(0, x), x / total)


@converter("MeanVarianceNormalization")
def mean_variance_normalization(node: Node, x: Any) -> Any:
    axes = tuple(node.attr("axes") or (0, 2, 3))
    mean = T.mean(x, axis=axes, keepdims=True)
    spread = T.sqrt(T.mean(x * x, axis=axes, keepdims=True) - mean * mean)
    return (x - mean) / (spread + like(1e-9, x))

