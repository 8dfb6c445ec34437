"""Normalization by means and variances."""

from __future__ import annotations

from typing import Any

from .... import ops as T
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
    axes = tuple(range(2, x.ndim))
    mean, var = T.mean(x, axis=axes, keepdims=True), T.var(x, axis=axes, keepdims=True)
    return _by_channel(scale, x) * (x - mean) / T.sqrt(var + like(node.attr("epsilon", 1e-5), x)) + _by_channel(bias, x)


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
    groups, own = node.need("num_groups"), own_lengths(x)
    y = T.reshape(x, (own[0], groups, -1))
    mean, var = T.mean(y, axis=2, keepdims=True), T.var(y, axis=2, keepdims=True)
    y = (y - mean) / T.sqrt(var + like(node.attr("epsilon", 1e-5), x))
    if node.version >= 21:
        return _by_channel(scale, x) * T.reshape(y, own) + _by_channel(bias, x)
    parts = T.reshape(y, (own[0], groups, own[1] // groups, *own[2:]))
    form = (1, groups, *(1,) * (x.ndim - 1))
    return T.reshape(T.reshape(scale, form) * parts + T.reshape(bias, form), own)


MOST_NEIGHBOURS = 1 << 10
"""Channels in a window of LRN where the number of all is not known."""


@converter("LRN")
def lrn(node: Node, x: Any) -> Any:
    """Local response normalization: divide each element by a power of its channel neighbours' square sum."""
    size, channels = node.need("size"), x.type.shape[1]
    if not 1 <= size <= (MOST_NEIGHBOURS if channels is None else 1 << 62):
        raise node.error(f"the size is {size}, expected 1 to {MOST_NEIGHBOURS}")
    far = size if channels is None else channels  # there is nothing beyond the channels
    before, after = min((size - 1) // 2, far), min(size - 1 - (size - 1) // 2, far)
    squares = T.pad(x * x, ((0, 0), (before, after), *((0, 0),) * (x.ndim - 2)))
    count = own_lengths(x)[1]
    total = sum((squares[:, k : count + k] for k in range(1, before + after + 1)), squares[:, :count])
    alpha, beta, bias = node.attr("alpha", 1e-4), node.attr("beta", 0.75), node.attr("bias", 1.0)
    return x / T.pow(like(bias, x) + like(alpha / size, x) * total, like(beta, x))


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

