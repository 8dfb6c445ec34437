"""The losses of `torch.nn.functional`, under its names and with its meaning, but for `ctc_loss` (ctc.py).

`reduction`: "mean" over all losses, "sum", or "none" for one loss an element or example.  The targets come in the dtype
of `x` where they are numbers.  The older losses of functions.py give one value an example.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import in_joint_dtype, with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import lengths_of
from .distances import pairwise_distance
from .functions import _as_float, _target, log_softmax

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy",
    "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "poisson_nll_loss",
    "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip

REDUCTIONS = ("mean", "sum", "none")


def reduced(name: str, loss: Any, reduction: str) -> TensorVariable:
    """Return the mean or sum of losses, or the losses.  Raises ValueError for another name."""
    if reduction not in REDUCTIONS:
        raise ValueError(f'{name}: reduction must be "mean", "sum" or "none", got {shown(reduction)}')
    if reduction == "none":
        return loss  # type: ignore[no-any-return]
    return T.mean(loss) if reduction == "mean" else T.sum(loss)


def _pair(name: str, x: TensorLike, target: TensorLike) -> tuple[Any, Any]:
    """Return both operands as floats of one rank.  Raises TypeError for ranks, ValueError for lengths that differ."""
    a = _as_float(x)
    b = _target(target, a)
    if a.ndim != b.ndim:
        raise TypeError(f"{name}: x and target must be of one rank, got {describe(a)} and {describe(b)}")
    for axis, (n, m) in enumerate(zip(a.type.shape, b.type.shape, strict=True)):
        if None not in (n, m) and n != m:
            raise ValueError(f"{name}: lengths of axis {axis} differ, {n} and {m}: {describe(a)}, {describe(b)}")
    return a, b


def _weighted(loss: Any, weight: TensorLike | None) -> Any:
    return loss if weight is None else T.mul(loss, with_dtype(as_tensor(weight), loss.dtype))


# --- regression


def mse_loss(
    x: TensorLike, target: TensorLike, reduction: str = "mean", weight: TensorLike | None = None
) -> TensorVariable:
    """(x - target)^2; with a `weight` for each element its mean is over the sum of weights."""
    return _elementwise("mse_loss", T.square, x, target, reduction, weight)


def l1_loss(
    x: TensorLike, target: TensorLike, reduction: str = "mean", weight: TensorLike | None = None
) -> TensorVariable:
    """|x - target|; with a `weight` for each element its mean is over the sum of weights."""
    return _elementwise("l1_loss", T.abs, x, target, reduction, weight)


def smooth_l1_loss(
    x: TensorLike, target: TensorLike, reduction: str = "mean", beta: float = 1.0
) -> TensorVariable:
    """d^2 / (2 beta) where d = |x - target| < `beta`, else d - beta / 2.

    Raises ValueError for a negative beta.
    """
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta must be 0 or more, got {beta}")
    if beta == 0:
        return l1_loss(x, target, reduction)
    return _elementwise(
        "smooth_l1_loss", lambda d: T.true_div(_huber(d, beta), beta), x, target, reduction, None
    )  # fmt: skip


def huber_loss(
    x: TensorLike, target: TensorLike, reduction: str = "mean", delta: float = 1.0, weight: TensorLike | None = None
) -> TensorVariable:
    """d^2 / 2 where d = |x - target| < `delta`, else delta (d - delta / 2).

    Raises ValueError unless delta is positive.  Source: P. J. Huber, "Robust estimation of a location parameter", 1964.
    """
    if delta <= 0:
        raise ValueError(f"huber_loss: delta must be positive, got {delta}")
    return _elementwise("huber_loss", lambda d: _huber(d, delta), x, target, reduction, weight)


def _huber(d: Any, delta: float) -> TensorVariable:
    size = T.abs(d)
    outer = T.mul(delta, T.sub(size, 0.5 * delta))
    return T.switch(T.lt(size, delta), T.mul(0.5, T.square(d)), outer)


def _elementwise(
    name: str, of: Callable[[Any], Any], x: TensorLike, target: TensorLike, reduction: str, weight: TensorLike | None
) -> TensorVariable:
    a, b = _pair(name, x, target)
    loss = _weighted(of(T.sub(a, b)), weight)
    if weight is None or reduction != "mean":
        return reduced(name, loss, reduction)
    return T.true_div(T.sum(loss), T.sum(T.broadcast_to(with_dtype(as_tensor(weight), a.dtype), lengths_of(a))))


def poisson_nll_loss(
    x: TensorLike, target: TensorLike, log_input: bool = True, full: bool = False, eps: TensorLike = 1e-8,
    reduction: str = "mean",
) -> TensorVariable:  # fmt: skip
    """exp(x) - target x, or, for an x that is no logarithm, x - target log(x + `eps`).

    `full`: whether Stirling's approximation of log(target!) is added for targets above 1.
    """
    a, t = _pair("poisson_nll_loss", x, target)
    loss = T.sub(T.exp(a), T.mul(t, a)) if log_input else T.sub(a, T.mul(t, T.log(T.add(a, eps))))
    if full:
        safe = T.maximum(t, T.constant(1, t.dtype))
        stirling = safe * T.log(safe) - safe + 0.5 * T.log(2 * math.pi * safe)
        loss = loss + T.switch(T.gt(t, 1), stirling, T.constant(0, loss.dtype))
    return reduced("poisson_nll_loss", loss, reduction)


def gaussian_nll_loss(
    x: TensorLike, target: TensorLike, var: TensorLike, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> TensorVariable:
    """(log(v) + (x - target)^2 / v) / 2 for variances v = max(`var`, `eps`), which get no derivative from the maximum.

    `var` broadcasts; without its last axis it is the same for all of it.  `full`: whether log(2 pi) / 2 is added.
    Raises ValueError for an `eps` that is not positive; a negative variance counts as `eps`, which PyTorch refuses.
    """
    if eps <= 0:
        raise ValueError(f"gaussian_nll_loss: eps must be positive, got {eps}")
    a, t = _pair("gaussian_nll_loss", x, target)
    v = _target(var, a)
    v = T.expand_dims(v, v.ndim) if v.ndim == a.ndim - 1 and v.ndim else v
    v = v + T.stop_gradient(T.maximum(v, eps) - v)
    loss = 0.5 * (T.log(v) + T.square(a - t) / v)
    return reduced("gaussian_nll_loss", loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


# --- probabilities


def binary_cross_entropy(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = "mean"
) -> TensorVariable:
    """-(t log(x) + (1 - t) log(1 - x)) for probabilities x and targets t; logarithms count as -100 at least."""
    p, t = _pair("binary_cross_entropy", x, target)
    low = T.constant(-100, p.dtype)
    logs = T.maximum(T.log(p), low), T.maximum(T.log1p(T.neg(p)), low)
    loss = T.neg(T.add(T.mul(t, logs[0]), T.mul(T.sub(1, t), logs[1])))
    return reduced("binary_cross_entropy", _weighted(loss, weight), reduction)


def binary_cross_entropy_with_logits(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = "mean",
    pos_weight: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """`binary_cross_entropy(sigmoid(x), target)`, exact for all x; `pos_weight` multiplies the loss of positives."""
    a, t = _pair("binary_cross_entropy_with_logits", x, target)
    if pos_weight is None:
        loss = T.sub(T.softplus(a), T.mul(t, a))
    else:
        positive = T.mul(_target(pos_weight, a), T.mul(t, T.softplus(T.neg(a))))
        loss = T.add(positive, T.mul(T.sub(1, t), T.softplus(a)))
    return reduced("binary_cross_entropy_with_logits", _weighted(loss, weight), reduction)


def kl_div(x: TensorLike, target: TensorLike, reduction: str = "mean", log_target: bool = False) -> TensorVariable:
    """t (log(t) - x) for log-probabilities x and probabilities t, 0 where t is 0.

    `log_target`: whether the target holds logarithms.  `reduction="batchmean"` is the sum by the number of examples.
    """
    a, t = _pair("kl_div", x, target)
    loss = T.mul(T.exp(t), T.sub(t, a)) if log_target else T.sub(T.xlogy(t, t), T.mul(t, a))
    if reduction == "batchmean":
        return T.true_div(T.sum(loss), with_dtype(lengths_of(a)[0], a.dtype) if a.ndim else 1)
    return reduced("kl_div", loss, reduction)


# --- classes


def cross_entropy(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> TensorVariable:  # fmt: skip
    """`nll_loss(log_softmax(x))` of logits `x` (images, classes, ...), or (classes,).

    `target`: integer labels, without the axis of classes, or a distribution over the classes, of x's rank.
    `label_smoothing`: the share of the targets that is spread over all classes equally; ValueError unless it is from 0
    to 1.  See `nll_loss`.
    """
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"cross_entropy: label_smoothing must be from 0 to 1, got {label_smoothing}")
    x, target = _as_float(x), as_tensor(target)
    axis = _class_axis("cross_entropy", x)
    logs = log_softmax(x, axis)
    if target.ndim == x.ndim:
        return _soft_cross_entropy(logs, _target(target, x), axis, weight, reduction, label_smoothing)
    hard, total = _nll("cross_entropy", logs, target, weight, ignore_index)
    if label_smoothing:
        each = logs if weight is None else T.mul(logs, _along_classes("cross_entropy", weight, logs, axis))
        kept = T.ne(target, ignore_index)
        count = with_dtype(lengths_of(x)[axis], x.dtype)
        smooth = T.switch(kept, T.true_div(T.neg(T.sum(each, axis=axis)), count), T.constant(0, x.dtype))
        hard = (1 - label_smoothing) * hard + label_smoothing * smooth
    return T.true_div(T.sum(hard), total) if reduction == "mean" else reduced("cross_entropy", hard, reduction)


def _soft_cross_entropy(
    logs: Any, target: Any, axis: int, weight: TensorLike | None, reduction: str, smoothing: float
) -> TensorVariable:
    """Cross entropy with distributions; its mean is over the examples."""
    count = with_dtype(lengths_of(logs)[axis], logs.dtype)
    target = target if not smoothing else T.mul(target, 1 - smoothing) + T.true_div(smoothing, count)
    weighted = target if weight is None else T.mul(target, _along_classes("cross_entropy", weight, logs, axis))
    return reduced("cross_entropy", T.neg(T.sum(T.mul(weighted, logs), axis=axis)), reduction)


def nll_loss(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, ignore_index: int = -100,
    reduction: str = "mean",
) -> TensorVariable:  # fmt: skip
    """-weight[t] x[t] for log-probabilities `x` (images, classes, ...) and integer labels t (images, ...).

    Labels equal to `ignore_index` give 0; the mean is over the weights of the others (NaN without any).  `weight`: a
    vector with an element a class.  Raises TypeError for other ranks and dtypes, IndexError at run time for a label
    out of range.
    """
    loss, total = _nll("nll_loss", _as_float(x), as_tensor(target), weight, ignore_index)
    return T.true_div(T.sum(loss), total) if reduction == "mean" else reduced("nll_loss", loss, reduction)


def _class_axis(name: str, x: Any) -> int:
    if not x.ndim:
        raise TypeError(f"{name}: x needs an axis of classes, got {describe(x)}")
    return 0 if x.ndim == 1 else 1


def _along_classes(name: str, weight: TensorLike, x: Any, axis: int) -> Any:
    """Return the weights of classes, broadcast along the other axes of x."""
    w = with_dtype(as_tensor(weight), x.dtype)
    n, classes = w.type.shape[0] if w.ndim == 1 else None, x.type.shape[axis]
    if w.ndim != 1 or (None not in (n, classes) and n != classes):
        raise TypeError(f"{name}: weight must be a vector with an element for each class of {describe(x)}, "
                        f"got {describe(w)}")  # fmt: skip
    return T.reshape(w, tuple(-1 if k == axis else 1 for k in range(x.ndim)))


def _nll(name: str, logs: Any, target: Any, weight: TensorLike | None, ignored: int) -> tuple[Any, Any]:
    """Return the loss of each label, and the sum of the weights."""
    axis = _class_axis(name, logs)
    if target.ndim != logs.ndim - 1 or target.type.kind not in "iu":
        raise TypeError(
            f"{name}: target must be integer labels of rank {logs.ndim - 1}, x without its axis of classes, "
            f"got {describe(target)} for {describe(logs)}"
        )
    kept = T.ne(target, ignored)
    labels = T.switch(kept, target, T.constant(0, target.dtype))
    picked = T.squeeze(T.take_along_axis(logs, T.expand_dims(labels, axis), axis), axis)
    if weight is None:
        factor = T.cast(kept, logs.dtype)
    else:
        row = T.ravel(_along_classes(name, weight, logs, axis))
        factor = T.switch(kept, row[labels], T.constant(0, logs.dtype))
    loss = T.switch(kept, T.neg(T.mul(factor, picked)), T.constant(0, logs.dtype))
    return loss, T.sum(factor)


def multi_margin_loss(
    x: TensorLike, target: TensorLike, p: int = 1, margin: TensorLike = 1.0, weight: TensorLike | None = None,
    reduction: str = "mean",
) -> TensorVariable:  # fmt: skip
    """The mean over classes c other than the label t of max(0, `margin` - x[t] + x[c])^`p`.

    `x` is (images, classes) or (classes,); `weight` multiplies the loss by an element for its label.
    """
    x, target = _as_float(x), as_tensor(target)
    logs, axis = _labelled("multi_margin_loss", x, target)
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: p must be 1 or 2, got {p}")
    labels = T.expand_dims(target, axis)
    gap = T.maximum(T.add(T.sub(margin, T.take_along_axis(logs, labels, axis)), logs), T.constant(0, x.dtype))
    gap = T.square(gap) if p == 2 else gap
    if weight is not None:
        row = T.ravel(_along_classes("multi_margin_loss", weight, logs, axis))
        gap = T.mul(gap, T.expand_dims(row[target], axis))
    others = T.ne(T.arange(lengths_of(x)[axis]), labels)
    total = T.sum(T.switch(others, gap, T.constant(0, x.dtype)), axis=axis)
    return reduced("multi_margin_loss", T.true_div(total, with_dtype(lengths_of(x)[axis], x.dtype)), reduction)


def _labelled(name: str, x: Any, target: Any) -> tuple[Any, int]:
    """Return x and its axis of classes, the last.  Raises TypeError for ranks that do not fit."""
    if x.ndim not in (1, 2) or target.ndim != x.ndim - 1 or target.type.kind not in "iu":
        raise TypeError(f"{name}: expected x (images, classes) and integer labels (images,), got {describe(x)} and "
                        f"{describe(target)}")  # fmt: skip
    return x, x.ndim - 1


def multilabel_margin_loss(x: TensorLike, target: TensorLike, reduction: str = "mean") -> TensorVariable:
    """The sum over labels t and classes c that are no label of max(0, 1 - x[t] + x[c]), by the number of classes.

    `x` and `target` are (images, classes) or (classes,); the labels of an image stand before its first -1.
    """
    x, target = _as_float(x), as_tensor(target)
    if x.ndim not in (1, 2) or target.ndim != x.ndim or target.type.kind != "i":
        raise TypeError(f"multilabel_margin_loss: expected x and integer labels of one shape, (images, classes), got "
                        f"{describe(x)} and {describe(target)}")  # fmt: skip
    valid = T.eq(T.cumsum(T.cast(T.lt(target, 0), "int64"), axis=-1), 0)
    labels = T.switch(valid, target, T.constant(0, target.dtype))
    classes = lengths_of(x)[-1]
    is_label = T.any(
        T.logical_and(T.expand_dims(valid, -1), T.eq(T.expand_dims(labels, -1), T.arange(classes))), axis=-2
    )
    gap = 1 - T.expand_dims(T.take_along_axis(x, labels, -1), -1) + T.expand_dims(x, -2)
    counts = T.logical_and(T.expand_dims(valid, -1), T.expand_dims(T.logical_not(is_label), -2))
    zero = T.constant(0, x.dtype)
    total = T.sum(T.switch(counts, T.maximum(gap, zero), zero), axis=(-2, -1))
    return reduced("multilabel_margin_loss", T.true_div(total, with_dtype(classes, x.dtype)), reduction)


def multilabel_soft_margin_loss(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = "mean"
) -> TensorVariable:
    """The mean over classes, the last axis, of `binary_cross_entropy_with_logits`."""
    each = binary_cross_entropy_with_logits(x, target, weight, "none")
    if not each.ndim:
        raise TypeError("multilabel_soft_margin_loss: x needs an axis of classes, the last one")
    return reduced("multilabel_soft_margin_loss", T.mean(each, axis=-1), reduction)


# --- margins


def soft_margin_loss(x: TensorLike, target: TensorLike, reduction: str = "mean") -> TensorVariable:
    """log(1 + exp(-target x)) for targets of -1 and 1."""
    a, t = _pair("soft_margin_loss", x, target)
    return reduced("soft_margin_loss", T.softplus(T.neg(T.mul(t, a))), reduction)


def hinge_embedding_loss(
    x: TensorLike, target: TensorLike, margin: TensorLike = 1.0, reduction: str = "mean"
) -> TensorVariable:
    """x where the target is 1, max(0, `margin` - x) where it is -1."""
    a, t = _pair("hinge_embedding_loss", x, target)
    zero = T.constant(0, a.dtype)
    far = T.switch(T.eq(t, 1), zero, T.maximum(T.sub(margin, a), zero))
    return reduced("hinge_embedding_loss", T.add(far, T.switch(T.eq(t, -1), zero, a)), reduction)


def margin_ranking_loss(
    x1: TensorLike, x2: TensorLike, target: TensorLike, margin: TensorLike = 0.0, reduction: str = "mean"
) -> TensorVariable:
    """max(0, -target (x1 - x2) + `margin`): the target is 1 where x1 should be greater, else -1."""
    a, b = _pair("margin_ranking_loss", x1, x2)
    _, t = _pair("margin_ranking_loss", a, target)
    inner = T.add(T.neg(T.mul(t, T.sub(a, b))), margin)
    return reduced("margin_ranking_loss", T.maximum(inner, T.constant(0, a.dtype)), reduction)


def cosine_embedding_loss(
    x1: TensorLike, x2: TensorLike, target: TensorLike, margin: TensorLike = 0.0, reduction: str = "mean"
) -> TensorVariable:
    """1 - cos(x1, x2) where the target is 1, max(0, cos(x1, x2) - `margin`) where it is -1.

    `x1` and `x2` are (images, features) or (features,), `target` is (images,) or a number.
    """
    a, b = in_joint_dtype([_as_float(x1), _as_float(x2)])
    t = as_tensor(target)
    if a.ndim != b.ndim or a.ndim not in (1, 2) or t.ndim != a.ndim - 1:
        got = ", ".join(map(describe, (a, b, t)))
        raise TypeError(f"cosine_embedding_loss: expected two (images, features) and targets (images,), got {got}")
    # PyTorch adds its epsilon to the squared norms.
    dot = T.sum(T.mul(a, b), axis=-1)
    squares = T.mul(*(T.add(T.sum(T.square(v), axis=-1), 1e-12) for v in (a, b)))
    cosine = T.true_div(dot, T.sqrt(squares))
    zero = T.constant(0, a.dtype)
    opposed = T.switch(T.eq(t, -1), T.maximum(T.sub(cosine, margin), zero), zero)
    return reduced("cosine_embedding_loss", T.switch(T.eq(t, 1), T.sub(1, cosine), opposed), reduction)


def triplet_margin_loss(
    anchor: TensorLike, positive: TensorLike, negative: TensorLike, margin: TensorLike = 1.0, p: float = 2.0,
    eps: TensorLike = 1e-6, swap: bool = False, reduction: str = "mean",
) -> TensorVariable:  # fmt: skip
    """max(0, d(anchor, positive) - d(anchor, negative) + `margin`), d the `pairwise_distance`.

    `swap`: whether d(positive, negative) counts instead where it is the less.  Source: V. Balntas and others, "Learning
    local feature descriptors with triplets", 2016.
    """

    def distance(a: Any, b: Any) -> TensorVariable:
        return pairwise_distance(a, b, p, eps)

    return _triplets("triplet_margin_loss", distance, anchor, positive, negative, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: TensorLike, positive: TensorLike, negative: TensorLike, *,
    distance_function: Callable[[Any, Any], Any] | None = None, margin: TensorLike = 1.0, swap: bool = False,
    reduction: str = "mean",
) -> TensorVariable:  # fmt: skip
    """`triplet_margin_loss` with a function of two expressions as the distance, by default `pairwise_distance`."""
    distance = pairwise_distance if distance_function is None else distance_function
    if not callable(distance):
        raise TypeError(f"triplet_margin_with_distance_loss: distance_function must be a function, got "
                        f"{shown(distance)}")  # fmt: skip
    name = "triplet_margin_with_distance_loss"
    return _triplets(name, distance, anchor, positive, negative, margin, swap, reduction)


def _triplets(
    name: str, distance: Callable[[Any, Any], Any], anchor: Any, positive: Any, negative: Any, margin: Any, swap: bool,
    reduction: str,
) -> TensorVariable:  # fmt: skip
    anchor, positive, negative = in_joint_dtype([_as_float(v) for v in (anchor, positive, negative)])
    near, far = distance(anchor, positive), distance(anchor, negative)
    far = T.minimum(far, distance(positive, negative)) if swap else far
    gap = T.add(T.sub(near, far), margin)
    return reduced(name, T.maximum(gap, T.constant(0, gap.dtype)), reduction)
