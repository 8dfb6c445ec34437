"""Normalization by means and variances: of layers, batches, groups, instances; by channel neighbours; by norms.

All are compositions: a mean, a variance, and one pass over `x`, which the fusion of elementwise ops makes of the rest.
float16 is averaged in float32, as reductions are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.checks import describe, normalize_axes, normalize_axis
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import lengths_of
from ..shapes.shape import DimShuffle, reshape
from ..shapes.windows import numbers_an_axis
from .activations import _require_channels
from .functions import _as_float
from .phases import averages, by_phase, running_pair
from .pooling import SumPool

__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize", "rms_norm",
]  # fmt: skip


def layer_norm(
    x: TensorLike, gamma: TensorLike | None = None, beta: TensorLike | None = None, axis: int | Sequence[int] = -1,
    eps: TensorLike = 1e-5,
) -> TensorVariable:  # fmt: skip
    """`gamma * (x - mean) / sqrt(variance + eps) + beta`, mean and variance taken along `axis`.

    `gamma` and `beta`, by default 1 and 0, broadcast to `x`.  Source: J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer
    normalization", 2016.
    """
    _refuse_lengths("layer_norm", "gamma", gamma)
    x = _as_float(x)
    mean, variance = T.mean(x, axis=axis, keepdims=True), T.var(x, axis=axis, keepdims=True)
    return _normalized(x, gamma, beta, mean, variance, eps)


def batch_norm(
    x: TensorLike, gamma: TensorLike, beta: TensorLike, mean: TensorLike | None = None,
    variance: TensorLike | None = None, axis: int = 1, eps: TensorLike = 1e-5, running: Any = None,
    momentum: TensorLike = 0.1,
) -> TensorVariable:  # fmt: skip
    """`gamma * (x - mean) / sqrt(variance + eps) + beta` for each channel, a position on `axis`.

    `gamma`, `beta`, `mean` and `variance` are vectors with an element a channel.  Where `mean` and `variance` are left
    out they are those of `x` over all other axes (training); else they are given (running averages, for inference).

    `running`: two shared vectors for the running mean and variance.  A training function normalizes by the batch, and
    `T.nn.running_updates(loss)` gives the updates that move them by the share `momentum` towards the mean and the
    population variance of the batch; the function that `ag.freeze` makes normalizes by them.

    Raises TypeError if only one of mean and variance is given, or `running` beside them.  Source: S. Ioffe and
    C. Szegedy, "Batch normalization", 2015.
    """
    x = _as_float(x)
    if (mean is None) != (variance is None):
        raise TypeError("batch_norm: mean and variance are given together or both left out")
    if running is not None and mean is not None:
        raise TypeError("batch_norm: running is given beside mean and variance; leave these out")
    axis = normalize_axis(axis, x.ndim, "batch_norm")
    others = tuple(k for k in range(x.ndim) if k != axis)
    mean = T.mean(x, axis=others) if mean is None else mean
    variance = T.var(x, axis=others) if variance is None else variance
    y = _by_channel(x, gamma, beta, mean, variance, axis, eps)
    if running is None:
        return y
    pair = running_pair("batch_norm", running, x)
    updates = averages(pair, (mean, variance), momentum)
    return by_phase(y, _by_channel(x, gamma, beta, *pair, axis, eps), updates)


def _by_channel(
    x: TensorVariable, gamma: TensorLike, beta: TensorLike, mean: TensorLike, variance: TensorLike, axis: int,
    eps: TensorLike,
) -> TensorVariable:  # fmt: skip
    """`x` normalized by vectors with an element for each position on `axis`."""
    order = tuple(0 if k == axis else "x" for k in range(x.ndim))
    given = {"gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    for name, v in given.items():
        if as_tensor(v).ndim != 1:
            raise TypeError(f"batch_norm: {name} must be a vector, an element a channel, got {describe(as_tensor(v))}")
    scale, shift, centre, spread = (DimShuffle(order)(as_tensor(v)) for v in given.values())
    return _normalized(x, scale, shift, centre, spread, eps)


def _normalized(
    x: TensorVariable, gamma: TensorLike | None, beta: TensorLike | None, mean: TensorVariable,
    variance: TensorVariable, eps: TensorLike,
) -> TensorVariable:  # fmt: skip
    y = (x - mean) / T.sqrt(variance + eps)
    y = y if gamma is None else y * gamma
    return y if beta is None else y + beta


def _refuse_lengths(function: str, name: str, given: object) -> None:
    """Raise TypeError for a tuple in the place of a factor: PyTorch has the lengths of the last axes there."""
    if isinstance(given, tuple):
        raise TypeError(f"{function}: {name} must be an array, got {given!r}; the axes, whose lengths PyTorch takes "
                        "here, are axis=")  # fmt: skip


def rms_norm(
    x: TensorLike, weight: TensorLike | None = None, axis: int | Sequence[int] = -1, eps: TensorLike | None = None
) -> TensorVariable:
    """`weight * x / sqrt(mean(x^2) + eps)`, the mean taken along `axis`.

    `weight`, by default 1, broadcasts to `x`; `eps` None is the distance of 1 to the next number of the dtype.
    PyTorch's `rms_norm` names the lengths of the last axes, this one the axes, as `layer_norm` does.  Source: B. Zhang
    and R. Sennrich, "Root mean square layer normalization", 2019.  Raises TypeError for a `weight` that is a tuple.
    """
    _refuse_lengths("rms_norm", "weight", weight)
    x = _as_float(x)
    eps = T.finfo(x.dtype).eps if eps is None else eps
    y = x / T.sqrt(T.mean(T.square(x), axis=axis, keepdims=True) + eps)
    return y if weight is None else y * weight


def group_norm(
    x: TensorLike, num_groups: int, weight: TensorLike | None = None, bias: TensorLike | None = None,
    eps: TensorLike = 1e-5,
) -> TensorVariable:  # fmt: skip
    """`x` (images, channels, ...) normalized in each group of channels: `weight * (x - mean) / sqrt(var + eps) + bias`.

    `weight` and `bias`, by default 1 and 0, are vectors with an element a channel.  Raises TypeError for another rank,
    ValueError for channels that are no multiple of `num_groups`.  Source: Y. Wu and K. He, "Group normalization", 2018.
    """
    x = _with_channels("group_norm", x)
    groups = numbers_an_axis(num_groups, 1, "group_norm", "num_groups")[0]
    channels = x.type.shape[1]
    if channels is not None and channels % groups:
        raise ValueError(f"group_norm: num_groups is {groups}, and the {channels} channels of x are no multiple")
    own = lengths_of(x)
    parts = reshape(x, (own[0], groups, -1))
    mean, variance = T.mean(parts, axis=2, keepdims=True), T.var(parts, axis=2, keepdims=True)
    y = reshape(_normalized(parts, None, None, mean, variance, eps), own)
    return _scaled("group_norm", y, weight, bias)


def instance_norm(
    x: TensorLike, running_mean: TensorLike | None = None, running_var: TensorLike | None = None,
    weight: TensorLike | None = None, bias: TensorLike | None = None, use_input_stats: bool = True,
    momentum: TensorLike = 0.1, eps: TensorLike = 1e-5,
) -> TensorVariable:  # fmt: skip
    """Each channel of each image of `x` (images, channels, ...) normalized by its own mean and variance.

    `weight`, `bias`, `running_mean` and `running_var` are vectors with an element a channel.  Without `use_input_stats`
    the running mean and variance normalize `x`.

    With it they are shared variables.  A training function normalizes by the images, and
    `T.nn.running_updates(loss)` gives the updates, which move them by the share `momentum` towards the averages over
    the images of the mean and of the variance (divided by one less than the number of elements, as in PyTorch).  The
    function that `ag.freeze` makes normalizes by them.

    Raises TypeError for only one running statistic, and for one that is not shared beside `use_input_stats`;
    ValueError for images of one element a channel, which have no such variance.  Source: D. Ulyanov and others,
    "Instance normalization", 2016.
    """
    name = "instance_norm"
    x = _with_channels(name, x, 3)
    given = (running_mean, running_var)
    if (running_mean is None) != (running_var is None) or (running_mean is None and not use_input_stats):
        raise TypeError(f"{name}: running_mean and running_var are given together, and with use_input_stats=False")

    def by(mean: Any, variance: Any) -> TensorVariable:
        return _scaled(name, _normalized(x, None, None, mean, variance, eps), weight, bias)

    def by_running() -> TensorVariable:
        roles = ("running_mean", "running_var")
        return by(*(_channel_vector(name, role, v, x) for role, v in zip(roles, given)))  # type: ignore[arg-type]

    if not use_input_stats:
        return by_running()
    axes = tuple(range(2, x.ndim))
    mean, variance = T.mean(x, axis=axes, keepdims=True), T.var(x, axis=axes, keepdims=True)
    if running_mean is None:
        return by(mean, variance)
    if math.prod(2 if n is None else n for n in x.type.shape[2:]) < 2:
        raise ValueError(f"{name}: running_var needs two elements a channel of an image or more, got {describe(x)}")
    pair = running_pair(name, given, x)
    batch = T.mean(mean, axis=(0, *axes)), T.mean(T.var(x, axis=axes, ddof=1), axis=0)
    return by_phase(by(mean, variance), by_running(), averages(pair, batch, momentum))


def _with_channels(name: str, x: Any, least: int = 2) -> TensorVariable:
    """Return x as floats.  Raises TypeError for a rank below `least`."""
    found = _as_float(x)
    if found.ndim < least:
        raise TypeError(f"{name}: x must be of rank {least} or more, (images, channels, ...), got {describe(found)}")
    return found


def _channel_vector(name: str, role: str, v: TensorLike, x: Any) -> TensorVariable:
    """Return a vector with an element a channel, broadcast along the other axes of x."""
    v = as_tensor(v)
    if v.ndim != 1:
        raise TypeError(f"{name}: {role} must be a vector, an element a channel, got {describe(v)}")
    _require_channels(name, role, v, x)
    return DimShuffle((0, *"x" * (x.ndim - 2)))(v)


def _scaled(name: str, y: TensorVariable, weight: TensorLike | None, bias: TensorLike | None) -> TensorVariable:
    y = y if weight is None else y * _channel_vector(name, "weight", weight, y)
    return y if bias is None else y + _channel_vector(name, "bias", bias, y)


def local_response_norm(
    x: TensorLike, size: int, alpha: TensorLike = 1e-4, beta: TensorLike = 0.75, k: TensorLike = 1.0
) -> TensorVariable:
    """`x / (k + alpha * s / size) ** beta`, s the sum of squares of `size` channels around each channel.

    Channels beyond the first and last count as 0; for an even size the window reaches one further back, as in PyTorch.
    Raises TypeError for a rank below 3, ValueError for a size below 1.  Source: A. Krizhevsky and others, "ImageNet
    classification with deep convolutional neural networks", 2012.
    """
    x = _with_channels("local_response_norm", x, 3)
    size = numbers_an_axis(size, 1, "local_response_norm", "size")[0]
    return response_normalized(x, size // 2, size, alpha, beta, k)


def response_normalized(
    x: Any, before: int, size: int, alpha: Any, beta: TensorLike, k: TensorLike
) -> TensorVariable:
    """Return `local_response_norm` whose windows of `size` channels begin `before` channels back."""
    after, channels = size - 1 - before, x.type.shape[1]
    if channels is not None:  # beyond the channels there is nothing
        before, after = min(before, channels), min(after, channels)
    around = ((0, 0), (before, after), *((0, 0),) * (x.ndim - 2))
    own, window = lengths_of(x), before + after + 1
    squares = T.pad(T.square(x), around)
    flat = reshape(squares, (own[0], T.add(own[1], before + after), -1))
    total = reshape(SumPool((window, 1), (1, 1), (1, 1))(flat), own)
    spread = T.add(k, T.mul(alpha / size, total))
    return T.true_div(x, T.pow(spread, beta))


def normalize(
    x: TensorLike, p: float = 2.0, axis: int | Sequence[int] = 1, eps: TensorLike = 1e-12
) -> TensorVariable:
    """`x / max(norm, eps)`, the `p`-norm taken along `axis` (PyTorch's `dim`)."""
    x = _as_float(x)
    axes = tuple(sorted(normalize_axes(axis, x.ndim, "normalize")))
    return T.true_div(x, T.maximum(norm_along(x, float(p), axes), eps))


def norm_along(x: Any, p: float, axes: int | tuple[int, ...], keepdims: bool = True) -> TensorVariable:
    """Return the p-norm of vectors along axes."""
    size = T.abs(x)
    if p == math.inf:
        return T.max(size, axis=axes, keepdims=keepdims)
    if p == 1:
        return T.sum(size, axis=axes, keepdims=keepdims)
    if p == 2:
        return T.sqrt(T.sum(T.square(x), axis=axes, keepdims=keepdims))
    return T.pow(T.sum(T.pow(size, p), axis=axes, keepdims=keepdims), 1 / p)
