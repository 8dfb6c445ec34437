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


@pytest.mark.few(4)
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
    with pytest.raises(ValueError, match="sgd: 1 parameter, 2 gradients"):
        optim.sgd([p], [p, p])
    with pytest.raises(TypeError, match=r"adam: parameter 0 is .*expected a variable made by ag\.shared"):
        optim.adam([p * 2], [p])


def scaled_steps(rule, mode, *, scaled, factor=1e-9):
    """Losses of 30 steps on sum(factor * (x @ w - 1)^2): gradients far below the least number of float16."""
    x = ag.ops.matrix("x", "float32")
    w = ag.shared(np.zeros((8, 2), "float32"), name="w")
    loss = (((x @ w - 1) ** 2) * np.float32(factor)).sum()
    options = {"learning_rate": 1e-3 / factor}
    if scaled:
        updates = optim.with_loss_scale(rule, loss, [w], **options)
    else:
        updates = rule([w], ag.grad(loss, [w]), **options)
    step = ag.function([x], loss, updates=updates, mode=mode)
    data = np.random.default_rng(0).random((20, 8), "float32")
    return [float(step(data)) / factor for _ in range(30)], w.get_value()


@pytest.mark.long
def test_a_loss_scale_keeps_small_gradients_of_float16():
    exact, w = scaled_steps(optim.sgd, "FAST_RUN", scaled=False)
    lost, _ = scaled_steps(optim.sgd, ag.Mode().including("float16"), scaled=False)
    kept, near = scaled_steps(optim.sgd, ag.Mode().including("float16"), scaled=True)
    assert lost[-1] == lost[0]
    assert exact[-1] < 0.5 * exact[0]
    np.testing.assert_allclose(kept, exact, rtol=2e-2)
    np.testing.assert_allclose(near, w, atol=2e-2)
    same, equal = scaled_steps(optim.sgd, "FAST_RUN", scaled=True)
    np.testing.assert_allclose(same, exact, rtol=1e-5)
    np.testing.assert_allclose(equal, w, rtol=1e-5)


@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY"])
def test_a_loss_scale_falls_at_an_overflow_and_grows_after_good_steps(mode):
    x = ag.ops.scalar("x", "float32")
    p = {"a": ag.shared(np.float32(1), name="a"), "b": ag.shared(np.ones(3, "float32"), name="b")}
    loss = x * (p["a"] ** 2 + p["b"].sum())
    updates = optim.with_loss_scale(optim.momentum, loss, p, initial=2.0, interval=2, learning_rate=0.1)
    step = ag.function([x], [], updates=updates, mode=mode)
    scale, moments = updates[0][0], updates[-1][0]
    states = lambda: [v.get_value().tolist() for v, _ in updates[2:]]  # noqa: E731
    assert scale.name == "loss_scale"
    start = states()
    for bad, expected in [(np.inf, 1.0), (np.nan, 1.0)]:
        step(bad)
        assert float(scale.get_value()) == expected
        assert states() == start
    found = []
    for _ in range(5):
        step(1.0)
        found.append(float(scale.get_value()))
    assert found == [1.0, 2.0, 2.0, 4.0, 4.0]
    assert states() != start
    assert moments.get_value().any()
    scale.set_value(np.float32(2.0**24))
    step(1.0)
    assert float(scale.get_value()) == 2.0**24


def test_arguments_of_a_loss_scale_are_named():
    w = ag.shared(np.ones(2, "float32"), name="w")
    for options, words in [({"initial": 3.0}, "power of two"), ({"interval": 0}, "positive number of steps")]:
        with pytest.raises(ValueError, match=words):
            optim.with_loss_scale(optim.sgd, (w * w).sum(), [w], learning_rate=0.1, **options)
    with pytest.raises(TypeError, match="floating-point scalar"):
        optim.with_loss_scale(optim.sgd, w * w, [w], learning_rate=0.1)
