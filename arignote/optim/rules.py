"""Rules of gradient descent: updates from parameters and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops as T
from ..ops.core.shared import shared
from .common import Gradients, Parameters, Updates, decayed, moments_of, pairs_of, state_of, steps_of

__all__ = ["adadelta", "adagrad", "adam", "adamax", "momentum", "nadam", "nesterov", "rmsprop", "sgd"]


def sgd(parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.01) -> Updates:
    """p - rate * g"""
    pairs = pairs_of(parameters, gradients, "sgd", learning_rate=learning_rate)
    return [(p, p - rate * g) for p, g, (rate,) in pairs]


def momentum(parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.01, momentum: Any = 0.9) -> Updates:
    """v = momentum * v - rate * g; p + v  (Polyak 1964)"""
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "momentum": momentum}
    for p, g, (rate, mu) in pairs_of(parameters, gradients, "momentum", **rates):
        velocity = state_of(p, "velocity")
        new = mu * velocity - rate * g
        updates += [(velocity, new), (p, p + new)]
    return updates


def nesterov(parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.01, momentum: Any = 0.9) -> Updates:
    """v = momentum * v - rate * g; p + momentum * v - rate * g  (Sutskever et al. 2013, in Bengio's form)"""
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "momentum": momentum}
    for p, g, (rate, mu) in pairs_of(parameters, gradients, "nesterov", **rates):
        velocity = state_of(p, "velocity")
        step = rate * g
        new = mu * velocity - step
        updates += [(velocity, new), (p, p + mu * new - step)]
    return updates


def adagrad(parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.01, epsilon: Any = 1e-7) -> Updates:
    """s = s + g^2; p - rate * g / (sqrt(s) + epsilon)  (Duchi, Hazan, Singer 2011)"""
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "epsilon": epsilon}
    for p, g, (rate, e) in pairs_of(parameters, gradients, "adagrad", **rates):
        squares = state_of(p, "squares")
        new = squares + T.square(g)
        updates += [(squares, new), (p, p - rate * g / (T.sqrt(new) + e))]
    return updates


def rmsprop(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.001, rho: Any = 0.9, epsilon: Any = 1e-7,
    momentum: Any = None, centered: bool = False,
) -> Updates:  # fmt: skip
    """s = rho * s + (1 - rho) * g^2; p - rate * g / (sqrt(s) + epsilon)  (Tieleman, Hinton 2012)

    `momentum`: b = momentum * b + g / (sqrt(s) + epsilon) takes the place of the quotient.  `centered`: s is less the
    square of a like mean of g (Graves 2013).  Defaults are those of Keras.  The steps of `torch.optim.RMSprop(lr)` are
    those of learning_rate=lr, rho=0.99, epsilon=1e-8: its `alpha` is rho, and its lr 0.01 by default.
    """
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "rho": rho, "epsilon": epsilon}
    rates |= {} if momentum is None else {"momentum": momentum}
    for p, g, (rate, r, e, *given) in pairs_of(parameters, gradients, "rmsprop", **rates):
        squares = state_of(p, "squares")
        new = decayed(squares, r, T.square(g))
        updates.append((squares, new))
        if centered:
            mean = state_of(p, "mean")
            m = decayed(mean, r, g)
            updates.append((mean, m))
            new = new - T.square(m)
        step = g / (T.sqrt(new) + e)
        for mu in given:
            velocity = state_of(p, "velocity")
            step = mu * velocity + step
            updates.append((velocity, step))
        updates.append((p, p - rate * step))
    return updates


def adadelta(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 1.0, rho: Any = 0.95, epsilon: Any = 1e-6
) -> Updates:
    """s = rho * s + (1 - rho) * g^2; d = g * sqrt(t + epsilon) / sqrt(s + epsilon); p - rate * d  (Zeiler 2012)

    t is to the steps d what s is to the gradients g.  rho is that of the paper's experiments.  The steps of
    `torch.optim.Adadelta(lr)` are those of learning_rate=lr, rho=0.9.
    """
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "rho": rho, "epsilon": epsilon}
    for p, g, (rate, r, e) in pairs_of(parameters, gradients, "adadelta", **rates):
        squares, steps = state_of(p, "squares"), state_of(p, "steps")
        new = decayed(squares, r, T.square(g))
        step = g * T.sqrt(steps + e) / T.sqrt(new + e)
        updates += [(squares, new), (steps, decayed(steps, r, T.square(step))), (p, p - rate * step)]
    return updates


def adam(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
    epsilon: Any = 1e-8,
) -> Updates:  # fmt: skip
    """Means m of g and v of g^2, corrected for a start at zero; p - rate * m / (sqrt(v) + epsilon)  (Kingma 2015)"""
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
    for p, g, (step, b1, b2, e) in pairs_of(parameters, gradients, "adam", **rates):
        m, v, t, states = moments_of(p, g, b1, b2)
        scaled = step * T.sqrt(1 - b2**t) / (1 - b1**t)
        # The paper's epsilon is added to the corrected sqrt(v): here the correction is in the rate.
        new = p - scaled * m / (T.sqrt(v) + e * T.sqrt(1 - b2**t))
        updates += [*states, (p, new)]
    return updates


def adamax(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.002, beta1: Any = 0.9, beta2: Any = 0.999,
    epsilon: Any = 1e-8,
) -> Updates:  # fmt: skip
    """Adam with the largest decayed |g| in place of sqrt(v)  (Kingma, Ba 2015, section 7.1)"""
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
    for p, g, (step, b1, b2, e) in pairs_of(parameters, gradients, "adamax", **rates):
        mean, largest, (count, t) = state_of(p, "mean"), state_of(p, "largest"), steps_of(p)
        m, u = decayed(mean, b1, g), T.maximum(b2 * largest, T.abs(g))
        updates += [(mean, m), (largest, u), (count, t), (p, p - step / (1 - b1**t) * m / (u + e))]
    return updates


def nadam(
    parameters: Parameters, gradients: Gradients, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999,
    epsilon: Any = 1e-8, momentum_decay: Any = None,
) -> Updates:  # fmt: skip
    """Adam with Nesterov momentum  (Dozat 2016, by default without the schedule of beta1)

    `momentum_decay`: beta1 is beta1 (1 - 0.96**(t momentum_decay) / 2) at step t, and products of these take the place
    of its powers.  The steps of `torch.optim.NAdam(lr)` are those of learning_rate=lr, momentum_decay=0.004: its lr is
    0.002 by default.  The paper's own m, too, decays by beta1 at step t; torch's by beta1 itself, as here.
    """
    updates: Updates = []
    rates = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
    rates |= {} if momentum_decay is None else {"momentum_decay": momentum_decay}
    for p, g, (rate, b1, b2, e, *given) in pairs_of(parameters, gradients, "nadam", **rates):
        m, v, t, states = moments_of(p, g, b1, b2)
        here, ahead, product = b1, b1, b1**t
        for decay in given:
            kept = shared(np.ones((), p.dtype), name="product")
            here, ahead = (b1 * (1 - 0.5 * 0.96 ** (k * decay)) for k in (t, t + 1))
            product = kept * here
            updates.append((kept, product))
        step = ahead * m / (1 - product * ahead) + (1 - here) * g / (1 - product)
        updates += [*states, (p, p - rate * step / (T.sqrt(v / (1 - b2**t)) + e))]
    return updates
