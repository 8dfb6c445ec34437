"""Rules whose weight decay stands apart from the gradient: `adamw`, `lion`, `lamb`, `adafactor`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops as T
from ..ops.core.shared import SharedVariable, shared
from .common import Gradients, Parameters, Updates, decayed, moments_of, pairs_of, state_of, steps_of


def adamw(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
    epsilon: Any = 1e-8, weight_decay: Any = 0.01, amsgrad: bool = False,
) -> Updates:  # fmt: skip
    """Adam on p (1 - rate * weight_decay): the decay is no part of the gradient  (Loshchilov, Hutter 2019)

    `amsgrad`: whether the largest v so far takes the place of v (Reddi et al. 2018).  Steps are those of PyTorch.
    """
    updates: Updates = []
    rates = {
        "learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon,
        "weight_decay": weight_decay,
    }  # fmt: skip
    for p, g, (rate, b1, b2, e, decay) in pairs_of(parameters, gradients, "adamw", **rates):
        m, v, t, states = moments_of(p, g, b1, b2)
        updates += states
        if amsgrad:
            largest = state_of(p, "largest")
            v = T.maximum(largest, v)
            updates.append((largest, v))
        spread = T.sqrt(v) / T.sqrt(1 - b2**t) + e
        updates.append((p, p * (1 - rate * decay) - rate / (1 - b1**t) * m / spread))
    return updates


def lion(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 1e-4, beta1: Any = 0.9, beta2: Any = 0.99,
    weight_decay: Any = 0.0,
) -> Updates:  # fmt: skip
    """p (1 - rate * weight_decay) - rate * sign(beta1 m + (1 - beta1) g); m = beta2 m + (1 - beta2) g

    Source: X. Chen and others, "Symbolic discovery of optimization algorithms", 2023.
    """
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "weight_decay": weight_decay}
    for p, g, (rate, b1, b2, decay) in pairs_of(parameters, gradients, "lion", **rates):
        mean = state_of(p, "mean")
        step = T.sign(decayed(mean, b1, g))
        updates += [(mean, decayed(mean, b2, g)), (p, p * (1 - rate * decay) - rate * step)]
    return updates


def lamb(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
    epsilon: Any = 1e-6, weight_decay: Any = 0.0,
) -> Updates:  # fmt: skip
    """Adam's step plus weight_decay * p, times |p| / |step| for each parameter (1 where one of them is 0)

    Source: Y. You and others, "Large batch optimization for deep learning", 2020, algorithm 2 with phi(x) = x.
    """
    updates: Updates = []
    rates = {
        "learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon,
        "weight_decay": weight_decay,
    }  # fmt: skip
    for p, g, (rate, b1, b2, e, decay) in pairs_of(parameters, gradients, "lamb", **rates):
        m, v, t, states = moments_of(p, g, b1, b2)
        step = m / (1 - b1**t) / (T.sqrt(v / (1 - b2**t)) + e) + decay * p
        own, length = (T.sqrt(T.sum(T.square(x))) for x in (p, step))
        usable = T.logical_and(T.gt(own, 0), T.gt(length, 0))
        trust = T.switch(usable, own / T.switch(usable, length, T.ones_like(length)), T.ones_like(own))
        updates += [*states, (p, p - rate * trust * step)]
    return updates


def adafactor(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.01, beta2_decay: Any = -0.8,
    epsilon1: Any = None, epsilon2: Any = 1e-3, clip: Any = 1.0, weight_decay: Any = 0.0,
) -> Updates:  # fmt: skip
    """Adam without m, whose v of matrices is the product of a column and a row of means  (Shazeer, Stern 2018)

    The share of a new g^2 is t^beta2_decay at step t; the rate is min(learning_rate, 1 / sqrt(t)) times the root mean
    square of p (`epsilon2` at least); the root mean square of a step is `clip` at most.  `epsilon1`: the least row
    mean, and the root of the least v; by default the distance of 1 to the next number.  A parameter of rank 2 or more
    has accumulators for its last two axes.  Steps are those of PyTorch, which takes less memory than Adam as well.
    """
    updates: Updates = []
    rates = {
        "learning_rate": learning_rate, "beta2_decay": beta2_decay, "epsilon2": epsilon2, "clip": clip,
        "weight_decay": weight_decay, **({} if epsilon1 is None else {"epsilon1": epsilon1}),
    }  # fmt: skip
    for p, g, (rate, power, e2, most, decay, *given) in pairs_of(parameters, gradients, "adafactor", **rates):
        e1 = given[0] if given else float(np.finfo(p.dtype).eps)
        count, t = steps_of(p)
        share = t**power
        size = T.maximum(e2, _root_mean_square(p)) * T.minimum(rate, 1 / T.sqrt(t))
        kept, estimate = _second_moments(p, g, share, e1)
        step = g / T.sqrt(T.maximum(estimate, e1 * e1))
        step = step / T.maximum(1, _root_mean_square(step) / most)
        updates += [*kept, (count, t), (p, p * (1 - rate * decay) - size * step)]
    return updates


def _root_mean_square(x: Any) -> Any:
    return T.sqrt(T.mean(T.square(x)))


def _second_moments(p: SharedVariable, g: Any, share: Any, least: Any) -> tuple[Updates, Any]:
    """The accumulators of g^2, and the estimate of its mean."""
    squares = T.square(g)
    if p.ndim < 2:
        whole = state_of(p, "squares")
        new = whole + share * (squares - whole)
        return [(whole, new)], new
    shape = np.shape(p.get_value(borrow=True))
    row, column = (
        shared(np.zeros(s, p.dtype), shape=s) for s in ((*shape[:-1], 1), (*shape[:-2], 1, shape[-1]))
    )  # fmt: skip
    means = [T.mean(squares, axis=axis, keepdims=True) for axis in (-1, -2)]
    rows, columns = (old + share * (new - old) for old, new in zip((row, column), means, strict=True))
    across = T.maximum(T.mean(rows, axis=-2, keepdims=True), least)
    return [(row, rows), (column, columns)], rows * columns / across
