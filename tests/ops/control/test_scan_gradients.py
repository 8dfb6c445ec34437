"""Derivatives through scans against differences, to a relative error of 1e-6, and those that are cut short."""

import numpy as np
import pytest
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T

RNG = np.random.default_rng(8)
MODES = ["FAST_RUN", "FAST_COMPILE", "NUMPY"]


def uniform(*shape):
    return RNG.uniform(0.5, 1.5, shape)


CASES = {
    "a sum": (lambda x: ag.scan(lambda x, s: s + x**2, x, T.constant(0.0))[0], [uniform(5)]),
    "a network": (
        lambda x, h, w, u: ag.scan(lambda x, h: T.tanh(x @ w + h @ u), x, h)[0],
        [uniform(4, 3), uniform(2), uniform(3, 2), uniform(2, 2)],
    ),
    "products that are kept": (
        lambda x, h, w: ag.scan(lambda x, h: T.sin(x + h @ w - 1.0), x, h)[0][-1],
        [uniform(3, 2), uniform(2), uniform(2, 2) * np.eye(2)],
    ),
    "a product that is a value": (
        lambda x, h, w: T.sum(T.sin(ag.scan(lambda x, h: [T.tanh(h @ w + x), T.exp(h @ w)], x, [h, None])[0][1])),
        [uniform(3, 2), uniform(2), uniform(2, 2)],
    ),
    "products of more and more rows": (
        lambda x: ag.scan(lambda i, s: s + T.sum(T.tanh(x[:i] @ x[:i].T)), T.constant([1, 3, 2]), T.constant(0.0))[0],
        [uniform(3, 2)],
    ),
    "the last of it": (
        lambda x, h: ag.scan(lambda x, h: T.sin(x * h), x, h)[0][-1], [uniform(4, 3), uniform(3)],
    ),
    "taps": (
        lambda x, first: ag.scan(
            lambda past, now, two, one: past * now + two * one, {"input": x, "taps": [-1, 0]},
            {"initial": first, "taps": [-2, -1]},
        )[0],
        [uniform(6), uniform(2)],
    ),
    "several outputs": (
        lambda x, a: T.add(*ag.scan(lambda x, a: [a * x, x**3], x, [a, None])[0]), [uniform(4), np.array(1.2)],
    ),
    "backwards": (
        lambda x, s: ag.scan(lambda x, s: s * x + x, x, s, go_backwards=True, n_steps=3)[0],
        [uniform(5), np.array(0.3)],
    ),
    "no sequence": (lambda x: ag.scan(lambda b: b * x, outputs_info=T.ones_like(x), n_steps=4)[0], [uniform(3)]),
    "sequences of two lengths": (lambda x, y: ag.scan(lambda x, y: x * y, [x, y])[0], [uniform(4), uniform(6)]),
    "a loop in a loop": (
        lambda x: ag.scan(lambda row: ag.scan(lambda v, s: s * v, row, T.constant(1.0))[0][-1], x)[0], [uniform(3, 4)],
    ),
    "until": (
        lambda x: ag.scan(lambda s: (s * x, ag.until(s * x > 5)), outputs_info=x, n_steps=100)[0],
        [np.array(1.3)],
    ),
    "a choice": (
        lambda x: ag.scan(lambda v, s: ag.cond(v > 1, lambda: s * v, lambda: s + v**2), x, T.constant(1.0))[0],
        [uniform(6)],
    ),
    "an index": (
        lambda x: ag.scan(lambda i, s: s + x[i] ** 2, T.constant([2, 0, 2]), T.constant(0.0))[0], [uniform(3)],
    ),
    "complex": (
        lambda x: ag.scan(lambda x, s: s * x, x, T.constant(1j))[0], [uniform(3) + 1j * uniform(3)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("static", [True, False], ids=["known lengths", "unknown lengths"])
@pytest.mark.parametrize("case", CASES)
def test_against_differences(case, static):
    function, values = CASES[case]
    assert_gradient(function, *values, static=static)


@pytest.mark.parametrize("case", ["a sum", "taps", "a network", "no sequence", "a choice"])
def test_second_derivatives(case):
    function, values = CASES[case]

    def first(*inputs):
        return ag.grad(function(*inputs).sum(), inputs[0])

    assert_gradient(first, *values)


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_compiled(mode):
    """One function for all cases, each of which has inputs of its own."""
    inputs, outputs, arrays = [], [], []
    for function, values in CASES.values():
        own = [T.tensor(f"x{n}", v.dtype, (None,) * v.ndim) for n, v in enumerate(values)]
        found = function(*own)
        cost = (found.real**2).sum() if found.type.kind == "c" else (found**2).sum()
        inputs += own
        arrays += values
        outputs += [cost, *ag.grad(cost, own)]
    compiled = ag.function(inputs, outputs, mode=mode)(*arrays)
    given = dict(zip(inputs, arrays))
    for result, variable in zip(compiled, outputs, strict=True):
        np.testing.assert_allclose(result, variable.eval(given), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_no_steps(mode):
    x, s, k = T.matrix("x"), T.vector("s"), T.lscalar("k")
    found, _ = ag.scan(lambda x, s: s * x, x, s, n_steps=k)
    f = ag.function([x, s, k], ag.grad(found.sum(), [x, s], disconnected="zero"), mode=mode)
    for gradient, shape in zip(f(uniform(4, 3), uniform(3), 0), [(4, 3), (3,)]):
        np.testing.assert_array_equal(gradient, np.zeros(shape))


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", MODES)
def test_truncated(mode):
    x, s = T.vector("x"), T.scalar("s")
    value = uniform(6)

    def gradient(steps):
        found, _ = ag.scan(lambda x, s: s * x, x, s, truncate_gradient=steps)
        return ag.function([x, s], ag.grad(found[-1], [x, s]), mode=mode)(value, 2.0)

    whole, of_first = gradient(-1)
    np.testing.assert_allclose(whole, 2 * value.prod() / value)
    cut, none = gradient(2)
    np.testing.assert_allclose(cut, [0, 0, 0, 0, *whole[4:]])
    assert none == 0
    np.testing.assert_allclose(gradient(6)[1], of_first)
    np.testing.assert_allclose(gradient(99)[0], whole)


def test_forward_mode():
    x, t = T.vector("x"), T.vector("t")
    found, _ = ag.scan(lambda x, s: T.sin(s) * x, x, T.constant(1.0))
    value, direction = uniform(4), uniform(4)
    tangent = ag.function([x, t], ag.jvp(found, x, t))(value, direction)
    ahead, behind = (found.eval({x: value + h * direction}) for h in (1e-5, -1e-5))
    np.testing.assert_allclose(tangent, (ahead - behind) / 2e-5, rtol=1e-6)


def test_a_thousand_steps():
    x = T.scalar("x")
    found, _ = ag.scan(lambda s: T.cos(s) * x, outputs_info=T.constant(0.0), n_steps=1000)
    cost = found.mean()
    f = ag.function([x], [cost, ag.grad(cost, x)])
    difference = (f(0.9 + 1e-5)[0] - f(0.9 - 1e-5)[0]) / 2e-5
    np.testing.assert_allclose(f(0.9)[1], difference, rtol=1e-6)


def gates(z, size, count):
    return [z[:, k * size : (k + 1) * size] for k in range(count)]


def lstm(x, w, u, b, v, size):
    """An LSTM as written in a first week: unshaped parameters, sliced gates, states of zeros."""

    def step(x, h, c):
        i, f, o, g = gates(x @ w + h @ u + b, size, 4)
        c = T.sigmoid(f) * c + T.sigmoid(i) * T.tanh(g)
        return T.sigmoid(o) * T.tanh(c), c

    (h, c), _ = ag.scan(step, x, [T.zeros((2, size)), T.zeros((2, size))])
    return T.sum(T.square(h @ v), axis=(1, 2)) + T.sum(c[-1])


def gru(x, w, u, b, v, size):
    def step(x, h):
        z, r = gates(T.sigmoid(x @ w[:, : 2 * size] + h @ u[:, : 2 * size] + b[: 2 * size]), size, 2)
        new = T.tanh(x @ w[:, 2 * size :] + (r * h) @ u[:, 2 * size :] + b[2 * size :])
        return z * h + (1 - z) * new

    h, _ = ag.scan(step, x, T.zeros((2, size)))
    return T.sum(h @ v, axis=(1, 2))


@pytest.mark.long
@pytest.mark.parametrize("network, count", [(lstm, 4), (gru, 3)])
def test_recurrent_networks_with_states_of_known_lengths(network, count):
    size = 3
    values = [RNG.normal(size=s) for s in ((3, 2, 2), (2, count * size), (size, count * size), count * size, (size, 1))]
    assert_gradient(lambda *inputs: network(*inputs, size), *values, static=False)
    inputs = [T.tensor3("x"), T.matrix("w"), T.matrix("u"), T.vector("b"), T.matrix("v")]
    cost = network(*inputs, size).sum()
    gradient = ag.grad(cost, inputs)
    f = ag.function(inputs, [cost, *gradient])
    np.testing.assert_allclose(f(*values)[0], expected(network, *values), rtol=1e-12)
    for found, g in zip(f(*values)[1:], gradient):
        np.testing.assert_allclose(found, g.eval(dict(zip(inputs, values))), rtol=1e-9, atol=1e-12)


def expected(network, x, w, u, b, v):
    """The sum of the network's results, by NumPy."""
    size = len(u)
    h = c = np.zeros((2, size))
    total = 0.0
    for row in x:
        if network is lstm:
            i, f, o, g = gates(row @ w + h @ u + b, size, 4)
            c = logistic(f) * c + logistic(i) * np.tanh(g)
            h = logistic(o) * np.tanh(c)
        else:
            part = 2 * size
            z, r = gates(logistic(row @ w[:, :part] + h @ u[:, :part] + b[:part]), size, 2)
            h = z * h + (1 - z) * np.tanh(row @ w[:, part:] + (r * h) @ u[:, part:] + b[part:])
        total += np.sum((h @ v) ** 2) if network is lstm else np.sum(h @ v)
    return total + (len(x) * np.sum(c) if network is lstm else 0.0)


def logistic(x):
    return 1 / (1 + np.exp(-x))


def test_a_cotangent_may_know_less_than_the_state():
    s, u, x = T.matrix("s"), T.matrix("u"), T.vector("x")

    def product(s, u):
        return ag.scan(lambda z, h: T.tanh(z + h), s, T.zeros(4))[0] @ u

    assert_gradient(product, uniform(3, 4), uniform(4, 2))
    twice = ag.grad(T.sum(T.square(ag.grad(T.sum(product(s, u)), s))), s)
    assert ag.function([s, u], twice, mode="NUMPY")(uniform(3, 4), uniform(4, 2)).shape == (3, 4)
    w = ag.shared(np.ones(4), name="w", shape=(4,))
    _, updates = ag.scan(lambda a: {w: T.tanh(w + a)}, x)
    by_x = ag.function([x, u], ag.grad(T.sum(updates[w] @ u), x), mode="NUMPY")
    assert by_x(uniform(3), uniform(4, 2)).shape == (3,)


@pytest.mark.long
def test_checkpoints_of_a_thousand_steps_take_a_tenth_of_the_memory():
    start, w = T.matrix("start"), T.matrix("w")
    values, slopes, peaks = RNG.normal(size=(8, 4)), [], []
    for every in (None, 25):
        states, _ = ag.scan(
            lambda h, w: T.tanh(h @ w), outputs_info=start, non_sequences=[w], n_steps=1000, checkpoint_every=every
        )
        mode = ag.Mode("fast_run", backend="c")  # other engines do not count bytes
        f = ag.function([start, w], ag.grad((states[-1] ** 2).sum(), [start, w]), mode=mode, profile=True)
        slopes.append(f(values, np.eye(4)))
        peaks.append(f.profile.memory.peak)
    for found, expected in zip(*slopes, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    least = (1000 // 25 + 25) * values.nbytes  # states that are kept, and those between two of them
    assert least <= peaks[1] <= 0.1 * peaks[0]
