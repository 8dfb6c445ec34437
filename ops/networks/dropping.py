"""Linear maps, and functions of networks that draw: dropout of channels, noisy activations.  PyTorch's names.

Each function that draws takes `rng`, a `T.random.RandomStream`; in the function that `ag.freeze` makes, dropout is its
input.
"""

from __future__ import annotations

from typing import Any

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import in_joint_dtype, with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..random.draw_parameters import probability
from ..shapes.lengths import lengths_of
from .activations import SELU_ALPHA, SELU_SCALE
from .functions import _as_float, softmax
from .phases import by_phase

__all__ = [
    "alpha_dropout", "bilinear", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout", "gumbel_softmax",
    "linear", "rrelu",
]  # fmt: skip


def linear(x: TensorLike, w: TensorLike, bias: TensorLike | None = None) -> TensorVariable:
    """x w^T + bias along the last axis of `x` (..., features); `w` is (outputs, features), or a vector.

    Raises TypeError for weights of another rank.
    """
    x, w, *biases = in_joint_dtype((x, w) if bias is None else (x, w, bias))
    if w.ndim not in (1, 2):
        raise TypeError(f"linear: w must be (outputs, features) or a vector, got {describe(w)}")
    y = T.dot(x, w if w.ndim == 1 else T.transpose(w))
    return T.add(y, biases[0]) if biases else y


def bilinear(x1: TensorLike, x2: TensorLike, w: TensorLike, bias: TensorLike | None = None) -> TensorVariable:
    """x1^T w[k] x2 + bias[k] for each output k, along the last axes; `w` is (outputs, features of x1, features of x2).

    Raises TypeError for weights of another rank.
    """
    a, b, w, *biases = in_joint_dtype((x1, x2, w) if bias is None else (x1, x2, w, bias))
    if w.ndim != 3:
        raise TypeError(f"bilinear: w must be (outputs, features of x1, features of x2), got {describe(w)}")
    outputs, first, second = lengths_of(w)
    left = T.dot(a, T.reshape(T.swapaxes(w, 0, 1), (first, T.mul(outputs, second))))
    parts = T.reshape(left, (*lengths_of(a)[:-1], outputs, second))
    y = T.sum(T.mul(parts, T.expand_dims(b, -2)), axis=-1)
    return T.add(y, biases[0]) if biases else y


# --- dropout of whole channels


def dropout1d(x: TensorLike, p: TensorLike, rng: Any) -> TensorVariable:
    """`x` (images, channels, length) with each channel set to 0 with probability `p`, others divided by 1 - p."""
    return _channel_dropout("dropout1d", 1, x, p, rng)


def dropout2d(x: TensorLike, p: TensorLike, rng: Any) -> TensorVariable:
    """`x` (images, channels, height, width) with each channel set to 0 with probability `p`; see `dropout1d`.

    Source: J. Tompson and others, "Efficient object localization using convolutional networks", 2015.
    """
    return _channel_dropout("dropout2d", 2, x, p, rng)


def dropout3d(x: TensorLike, p: TensorLike, rng: Any) -> TensorVariable:
    """`x` (images, channels, depth, height, width) with whole channels set to 0; see `dropout1d`."""
    return _channel_dropout("dropout3d", 3, x, p, rng)


def _channel_dropout(name: str, axes: int, x: Any, p: TensorLike, rng: Any) -> TensorVariable:
    x = _as_float(x)
    if x.ndim not in (axes + 1, axes + 2):
        raise TypeError(f"{name}: x must be of rank {axes + 2}, (images, channels, ...), got {describe(x)}")
    keep = _kept_share(name, p, rng, x)
    return by_phase(T.switch(_flags(rng, keep, x, x.ndim - axes), x / keep, T.constant(0, x.dtype)), x)


def _kept_share(name: str, p: TensorLike, rng: Any, x: Any) -> Any:
    """Return 1 - p in the dtype of x.  Raises TypeError for what is no stream."""
    if not isinstance(rng, T.random.RandomStream):
        raise TypeError(f"{name}: rng is {shown(rng)}; expected a stream, as T.random.RandomStream(seed)")
    return with_dtype(T.sub(1, probability(name, p)), x.dtype)


def _flags(rng: Any, keep: Any, x: Any, front: int) -> Any:
    """Return a draw for each index of the first axes of x, broadcast along the others."""
    drawn = rng.bernoulli(keep, size=lengths_of(x)[:front])
    return T.expand_dims(drawn, tuple(range(front, x.ndim))) if front < x.ndim else drawn


def alpha_dropout(x: TensorLike, p: TensorLike, rng: Any) -> TensorVariable:
    """Dropout that keeps means 0 and variances 1: elements become SELU's least value, and all are scaled and moved.

    Source: G. Klambauer and others, "Self-normalizing neural networks", 2017.
    """
    x = _as_float(x)
    return _alpha_dropout("alpha_dropout", x, p, rng, x.ndim)


def feature_alpha_dropout(x: TensorLike, p: TensorLike, rng: Any) -> TensorVariable:
    """`alpha_dropout` of whole channels of `x` (images, channels, ...).  Raises TypeError for a rank below 2."""
    x = _as_float(x)
    if x.ndim < 2:
        raise TypeError(f"feature_alpha_dropout: x must be (images, channels, ...), got {describe(x)}")
    return _alpha_dropout("feature_alpha_dropout", x, p, rng, 2)


def _alpha_dropout(name: str, x: Any, p: TensorLike, rng: Any, front: int) -> TensorVariable:
    keep = _kept_share(name, p, rng, x)
    least = -SELU_ALPHA * SELU_SCALE
    scale = T.true_div(1, T.sqrt(T.mul(keep, T.add(1, T.mul(least * least, T.sub(1, keep))))))
    shift = T.mul(T.neg(scale), T.mul(least, T.sub(1, keep)))
    chosen = T.switch(_flags(rng, keep, x, front), x, T.constant(least, x.dtype))
    return by_phase(T.add(T.mul(scale, chosen), shift), x)


# --- activations that draw


def rrelu(x: TensorLike, lower: float = 1 / 8, upper: float = 1 / 3, rng: Any = None) -> TensorVariable:
    """x where it is positive, else x times a slope, drawn uniformly from `lower` to `upper` for each element.

    Without `rng`, and in the function that `ag.freeze` makes, the slope is the mean of both.  Source: B. Xu and others,
    "Empirical evaluation of rectified activations", 2015.
    """
    x = _as_float(x)
    fixed = T.switch(T.gt(x, 0), x, T.mul((lower + upper) / 2, x))
    if rng is None:
        return fixed
    _kept_share("rrelu", 0.5, rng, x)
    slopes = with_dtype(as_tensor(rng.uniform(lower, upper, size=lengths_of(x))), x.dtype)
    return by_phase(T.switch(T.gt(x, 0), x, T.mul(slopes, x)), fixed)


def gumbel_softmax(
    x: TensorLike, tau: TensorLike = 1.0, hard: bool = False, axis: int = -1, *, rng: Any
) -> TensorVariable:
    """softmax((x + g) / tau) along `axis`, g drawn from Gumbel's distribution: a differentiable draw of a class.

    `hard`: whether the value is 1 at the maximum, else 0, with the derivative of the softmax.  Source: E. Jang, S. Gu
    and B. Poole, "Categorical reparameterization with Gumbel-softmax", 2017.
    """
    x = _as_float(x)
    _kept_share("gumbel_softmax", 0.5, rng, x)
    noise = with_dtype(as_tensor(rng.gumbel(size=lengths_of(x))), x.dtype)
    soft = softmax(T.true_div(T.add(x, noise), tau), axis)
    if not hard:
        return soft
    best = T.expand_dims(T.argmax(soft, axis=axis), axis)
    places = T.reshape(T.arange(lengths_of(x)[axis]), [-1 if k == axis % x.ndim else 1 for k in range(x.ndim)])
    one = T.cast(T.eq(best, places), x.dtype)
    return T.add(T.stop_gradient(T.sub(one, soft)), soft)
