"""Activations beside those of functions.py, under PyTorch's names; elementwise, but for `glu` and `softmin`.

Integers give float64.  At a kink the derivative is that of the op at hand: a half for `T.maximum`, that of the second
branch for `T.switch`.
"""

from __future__ import annotations

from typing import Any

from ...record.spelling import counted
from ..core.checks import describe, normalize_axis
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import known_length, lengths_of
from .functions import _as_float, _floats, softmax

__all__ = [
    "celu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "logsigmoid", "mish", "prelu", "relu6",
    "selu", "softmin", "softplus", "softshrink", "softsign", "tanhshrink", "threshold",
]  # fmt: skip

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
"""The fixed point of means 0 and variances 1.  Source: G. Klambauer and others, "Self-normalizing networks", 2017."""


def celu(x: TensorLike, alpha: TensorLike = 1.0) -> TensorVariable:
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0), with a continuous slope.

    Source: J. T. Barron, "Continuously differentiable exponential linear units", 2017.
    """
    x = _floats("celu", x, alpha=alpha)
    return T.switch(T.gt(x, 0), x, T.mul(alpha, T.expm1(T.true_div(T.minimum(x, 0), alpha))))


def selu(x: TensorLike, alpha: TensorLike = SELU_ALPHA, scale: TensorLike = SELU_SCALE) -> TensorVariable:
    """`scale` * (x where it is positive, else `alpha` * (exp(x) - 1))."""
    x = _floats("selu", x, alpha=alpha, scale=scale)
    return T.mul(scale, T.switch(T.gt(x, 0), x, T.mul(alpha, T.expm1(T.minimum(x, 0)))))


def hardtanh(x: TensorLike, min_val: TensorLike = -1.0, max_val: TensorLike = 1.0) -> TensorVariable:
    """x between `min_val` and `max_val`."""
    return T.minimum(T.maximum(_floats("hardtanh", x, min_val=min_val, max_val=max_val), min_val), max_val)


def relu6(x: TensorLike) -> TensorVariable:
    """x between 0 and 6."""
    return hardtanh(x, 0.0, 6.0)


def hardsigmoid(x: TensorLike, slope: TensorLike = 1 / 6, offset: TensorLike = 0.5) -> TensorVariable:
    """`slope` * x + `offset` between 0 and 1; PyTorch's slope of 1/6 is the default."""
    return hardtanh(T.add(T.mul(slope, _floats("hardsigmoid", x, slope=slope, offset=offset)), offset), 0.0, 1.0)


def hardswish(x: TensorLike) -> TensorVariable:
    """x * hardsigmoid(x).  Source: A. Howard and others, "Searching for MobileNetV3", 2019."""
    x = _as_float(x)
    return T.mul(x, hardsigmoid(x))


def mish(x: TensorLike) -> TensorVariable:
    """x * tanh(softplus(x)).  Source: D. Misra, "Mish", 2019."""
    x = _as_float(x)
    return T.mul(x, T.tanh(T.softplus(x)))


def softplus(x: TensorLike, beta: TensorLike = 1.0, threshold: TensorLike | None = None) -> TensorVariable:
    """log(1 + exp(`beta` * x)) / `beta`, without overflow; with a `threshold`, x where `beta` * x is above it.

    PyTorch has a threshold of 20 by default, which differs from the function by 2e-9 at most.
    """
    x = _as_float(x)
    scaled = T.mul(x, beta)
    soft = T.true_div(T.softplus(scaled), beta)
    return soft if threshold is None else T.switch(T.gt(scaled, threshold), x, soft)


def softsign(x: TensorLike) -> TensorVariable:
    """x / (1 + |x|)."""
    x = _as_float(x)
    return T.true_div(x, T.add(1, T.abs(x)))


def tanhshrink(x: TensorLike) -> TensorVariable:
    """x - tanh(x)."""
    x = _as_float(x)
    return T.sub(x, T.tanh(x))


def hardshrink(x: TensorLike, lambd: TensorLike = 0.5) -> TensorVariable:
    """x where |x| > `lambd`, else 0."""
    x = _as_float(x)
    return T.switch(T.le(T.abs(x), lambd), T.constant(0, x.dtype), x)


def softshrink(x: TensorLike, lambd: TensorLike = 0.5, bias: TensorLike | None = None) -> TensorVariable:
    """x moved towards 0 by `bias` (by default `lambd`) where |x| > `lambd`, else 0."""
    x = _as_float(x)
    bias = lambd if bias is None else bias
    inner = T.switch(T.lt(x, T.neg(lambd)), T.add(x, bias), T.constant(0, x.dtype))
    return T.switch(T.gt(x, lambd), T.sub(x, bias), inner)


def threshold(x: TensorLike, threshold: TensorLike, value: TensorLike) -> TensorVariable:
    """x where it is greater than `threshold`, else `value`."""
    x = _as_float(x)
    return T.switch(T.gt(x, threshold), x, T.cast(value, x.dtype))


def logsigmoid(x: TensorLike) -> TensorVariable:
    """log(sigmoid(x)), exact for all x."""
    return T.neg(T.softplus(T.neg(_as_float(x))))


def prelu(x: TensorLike, weight: TensorLike) -> TensorVariable:
    """x where it is positive, else `weight` * x.

    `weight`: a number, or a vector with an element for each channel, a position on axis 1 of `x`.  Raises TypeError for
    a weight of another rank, ValueError for one of another length.
    """
    x, weight = _as_float(x), as_tensor(weight)
    if weight.ndim > 1:
        raise TypeError(f"prelu: weight must be a number or a vector, an element a channel, got {describe(weight)}")
    if weight.ndim == 1 and x.ndim < 2 and weight.type.shape[0] is None:  # without channels there is one
        weight = T.reshape(weight, ())
    elif weight.ndim == 1 and weight.type.shape[0] != 1:
        _require_channels("prelu", "weight", weight, x)
        weight = T.dimshuffle(weight, 0, *"x" * (x.ndim - 2))
    return T.switch(T.gt(x, 0), x, T.mul(weight, x))


def _require_channels(name: str, role: str, v: Any, x: Any) -> None:
    """Raises ValueError if a vector has not an element for each channel of x."""
    if x.ndim < 2:
        raise TypeError(f"{name}: x needs an axis of channels, the second one, got {describe(x)}")
    n, channels = v.type.shape[0], x.type.shape[1]
    if None not in (n, channels) and n != channels:
        raise ValueError(
            f"{name}: {role} has {counted(n, 'element')}, expected {channels}, one a channel of {describe(x)}"
        )


def glu(x: TensorLike, axis: int = -1) -> TensorVariable:
    """a * sigmoid(b) for the halves a, b of `x` along `axis`.

    Raises ValueError for an axis of odd length.  Source: Y. N. Dauphin and others, "Gated convolutional networks",
    2016.
    """
    x = _as_float(x)
    axis = normalize_axis(axis, x.ndim, "glu")
    length = lengths_of(x)[axis]
    known = known_length(length)
    if known is not None and known % 2:
        raise ValueError(f"glu: the length of axis {axis} must be even, got {describe(x)}")
    half: Any = known // 2 if known is not None else T.floor_div(length, 2)
    front = (slice(None),) * axis
    a, b = x[(*front, slice(0, half))], x[(*front, slice(half, None))]
    return T.mul(a, T.sigmoid(b))


def softmin(x: TensorLike, axis: int = -1) -> TensorVariable:
    """softmax(-x) along `axis`."""
    return softmax(T.neg(_as_float(x)), axis)
