"""Rules of gradient descent against their formulas, written in NumPy."""

import numpy as np
import pytest

import arignote as ag
from arignote import optim

START = np.array([1.0, -2.0, 0.5])
CURVES = np.array([1.0, 3.0, 0.1])


def numpy_steps(rule, steps):
    """The parameters after `steps` steps on 0.5 * sum(curve * p^2), by the formulas of the papers."""
    p, s, t_, m = START.copy(), np.zeros(3), np.zeros(3), np.zeros(3)
    for t in range(1, steps + 1):
        g = CURVES * p
        if rule == "sgd":
            p = p - 0.01 * g
        elif rule == "momentum":
            m = 0.9 * m - 0.01 * g
            p = p + m
        elif rule == "nesterov":
            m = 0.9 * m - 0.01 * g
            p = p + 0.9 * m - 0.01 * g
        elif rule == "adagrad":
            s = s + g * g
            p = p - 0.01 * g / (np.sqrt(s) + 1e-7)
        elif rule == "rmsprop":
            s = 0.9 * s + 0.1 * g * g
            p = p - 0.001 * g / (np.sqrt(s) + 1e-7)
        elif rule == "adadelta":
            s = 0.95 * s + 0.05 * g * g
            d = g * np.sqrt(t_ + 1e-6) / np.sqrt(s + 1e-6)
            t_ = 0.95 * t_ + 0.05 * d * d
            p = p - d
        elif rule == "adamax":
            m, s = 0.9 * m + 0.1 * g, np.maximum(0.999 * s, np.abs(g))
            p = p - 0.002 / (1 - 0.9**t) * m / (s + 1e-8)
        else:
            m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
            root = np.sqrt(s / (1 - 0.999**t)) + 1e-8
            ahead = 0.9 * m / (1 - 0.9 ** (t + 1)) + 0.1 * g / (1 - 0.9**t) if rule == "nadam" else m / (1 - 0.9**t)
            p = p - 0.001 * ahead / root
    return p


RULES = ["sgd", "momentum", "nesterov", "adagrad", "adadelta", "rmsprop", "adam", "adamax", "nadam"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY"])
def test_rule_follows_its_formula(rule, mode):
    p = ag.shared(START.copy(), name="p")
    loss = 0.5 * (CURVES * p * p).sum()
    step = ag.function([], loss, updates=getattr(optim, rule)([p], [ag.grad(loss, p)]), mode=mode)
    losses = [step() for _ in range(20)]
    np.testing.assert_allclose(p.get_value(), numpy_steps(rule, 20), rtol=1e-12)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("rule", RULES)
def test_float32_stays_float32(rule):
    p = ag.shared(START.astype("float32"), name="p")
    updates = getattr(optim, rule)([p], [p * 2])
    assert all(old.dtype == new.dtype == "float32" for old, new in updates)


def test_mistakes_are_named():
    p = ag.shared(START)
    with pytest.raises(ValueError, match="sgd: 1 parameters, 2 gradients"):
        optim.sgd([p], [p, p])
    with pytest.raises(TypeError, match=r"adam: parameter 0 is .*expected a variable made by ag\.shared"):
        optim.adam([p * 2], [p])
