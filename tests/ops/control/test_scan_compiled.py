"""Loops in C: bodies without Python, memory that grows and memory that is not there, steps without C, long drivers."""

import os
import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

X, K, S = T.vector("x"), T.lscalar("k"), T.scalar("s")


def test_no_step_goes_through_python():
    outputs, _ = ag.scan(lambda x, s: [ag.cond(x > 0, lambda: s * x, lambda: s), T.exp(x)], X, [S, None])
    f = ag.function([X, S], [*outputs, ag.grad(outputs[0][-1], X), ag.while_loop(lambda s: s < 9, lambda s: s * 2, S)])
    source = f.c_source()
    assert source.count(", element by element */") >= 3
    assert "call->host(call," not in source and "body_" not in source


def test_the_text_knows_no_lengths_and_no_numbers():
    def source(first, factor):
        loop, _ = ag.scan(lambda x, s: s * factor + x, X, T.constant(first))
        return ag.function([X], loop).c_source().split("/* ag")[0]

    assert source(1.5, 2.5) == source(3.5, 4.5)


@pytest.mark.parametrize("steps", [0, 1, 2, 15, 16, 17, 1000])
def test_traces_that_grow(steps):
    found, _ = ag.scan(
        lambda n, row: ([n + 1, row + 1, T.stack([row.sum(), row[0]])], ag.until(n + 1 >= K)),
        outputs_info=[T.constant(0), T.zeros_like(X), None], n_steps=T.switch(K > 0, 10**9, 0),
    )  # fmt: skip
    f = ag.function([X, K], found)
    count, rows, pairs = f(np.zeros(3), steps)
    np.testing.assert_array_equal(count, np.arange(1, steps + 1))
    np.testing.assert_array_equal(rows, np.repeat(np.arange(1.0, steps + 1)[:, None], 3, 1).reshape(-1, 3))
    np.testing.assert_array_equal(pairs, np.stack([3 * np.arange(steps), np.arange(steps)], 1).astype(float))


@pytest.mark.parametrize("steps", [0, 1, 5, 40])
def test_a_value_whose_length_only_a_run_tells(steps):
    found, _ = ag.scan(lambda k: T.nonzero(X > 0)[0] * k, T.arange(K))
    inside, _ = ag.scan(lambda k, s: [T.unique(X + k - k), s + 1], T.arange(K), [None, S])
    f = ag.function([X, K, S], [found, inside[0]])
    value = np.array([1.0, -1.0, 1.0, 2.0])
    places, unique = f(value, steps, 1.0)
    if steps:
        np.testing.assert_array_equal(places, np.arange(steps)[:, None] * [0, 2, 3])
        np.testing.assert_array_equal(unique, [[-1, 1, 2]] * steps)
    else:
        assert places.shape[0] == unique.shape[0] == 0


def test_matrices_whose_lengths_only_a_run_tells():
    m = T.matrix("m")
    found, _ = ag.scan(lambda k, s: [s + 1, m[:2] * s[:2] + k], T.arange(K), [m, None])
    rows, _ = ag.scan(lambda s: (s * 2, ag.until(s.sum() > 100)), outputs_info=m, n_steps=9)
    part = ag.cond(K > 1, lambda: m[1:], lambda: T.concatenate([m, m]))
    outputs = [found[1] * 2, rows * 2, part * 2, T.tanh(part).T @ part]
    value = np.arange(6.0).reshape(3, 2)
    functions = [ag.function([m, K], outputs, mode=mode) for mode in ("FAST_RUN", "NUMPY")]
    for steps in (1, 3):
        for mine, expected in zip(*(f(value, steps) for f in functions)):
            np.testing.assert_allclose(mine, expected)
    assert "body_" in functions[0].c_source()


@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY"])
def test_a_value_that_changes_its_shape(mode):
    found, _ = ag.scan(lambda k: X[:k] * 2, T.arange(K))
    f = ag.function([X, K], found, mode=mode)
    assert f([1.0], 1).shape == (1, 0)
    with pytest.raises(ValueError, match=r"scan: value 0 of shape \(0,\) becomes one of shape \(1,\) in step 1"):
        f([1.0, 2.0], 2)


@pytest.mark.parametrize("steps", [2**44, 2**62])
def test_no_memory(steps):
    f = ag.function([S, K], ag.scan(lambda s: s + 1, outputs_info=S, n_steps=K)[0])
    with pytest.raises(MemoryError):
        f(1.0, steps)
    np.testing.assert_array_equal(f(1.0, 2), [2, 3])


def test_updates_alone():
    total = ag.shared(np.zeros(2), "total")
    outputs, updates = ag.scan(lambda: {total: total * 2 + 1}, n_steps=K)
    f = ag.function([K], outputs, updates=updates)
    f(3)
    f(1)
    np.testing.assert_array_equal(total.get_value(), [15, 15])


def test_an_update_in_place_after_a_loop():
    w = ag.shared(np.ones(3), "w", shape=(3,))
    loss = ag.scan(lambda x, s: s + (w * x).sum(), X, T.constant(0.0))[0][-1]
    f = ag.function([X], loss, updates={w: w - 0.5 * ag.grad(loss, w)})
    assert f([1.0, 2.0]) == 9
    np.testing.assert_array_equal(w.get_value(), [-0.5] * 3)
    assert f([1.0, 2.0]) == -4.5


def test_errors_of_python_inside_of_a_body():
    m = T.tensor3("m")
    f = ag.function([m], ag.scan(lambda a: T.linalg.eigh(a)[0] + T.linalg.cholesky(a)[0], m)[0])
    good = np.stack([np.eye(2), 2 * np.eye(2)])
    np.testing.assert_allclose(f(good), [[2, 1], [2 + 2**0.5, 2]])
    with pytest.raises(np.linalg.LinAlgError):
        f(-good)
    np.testing.assert_allclose(f(good)[0], [2, 1])


@pytest.mark.long
def test_long_bodies():
    def body(x, s):
        for k in range(500):
            s = T.sort(T.stack([s, x]))[k % 2] + x * k
        return s

    found, _ = ag.scan(body, X, S)
    f, g = (ag.function([X, S], found, mode=m) for m in ("fast_run -fusion", "NUMPY"))
    np.testing.assert_allclose(f([0.1, -0.2], 0.5), g([0.1, -0.2], 0.5))


def test_a_million_steps():
    f = ag.function([S, K], ag.scan(lambda s: 3.7 * s * (1 - s), outputs_info=S, n_steps=K)[0])
    found, state = f(0.3, 10**6), 0.3
    for k in range(1000):
        state = 3.7 * state * (1 - state)
        assert abs(found[k] - state) < 1e-6 or k > 40  # the map is chaotic


INTERRUPT = """
import os, signal, threading, time
import numpy as np
import arignote as ag
from arignote import ops as T
x, k = T.vector("x"), T.lscalar("k")
f = ag.function([x, k], ag.scan(lambda s: T.cos(s) + x, outputs_info=T.zeros_like(x), n_steps=k)[0][-1])
expected = f(np.ones(100), 50)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    f(np.ones(100), 2**40)
except KeyboardInterrupt:
    print("stopped", np.array_equal(f(np.ones(100), 50), expected))
"""


@pytest.mark.long
def test_ctrl_c():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT], capture_output=True, text=True, timeout=100, check=False, env=os.environ
    )
    assert done.stdout.split() == ["stopped", "True"], done.stderr


@pytest.mark.parametrize("rank", [13, 20, 30, 31])
def test_a_state_of_many_axes_that_changes_its_shape(rank):
    x = T.tensor("x", shape=(None,) * rank)
    doubled, _ = ag.scan(lambda h: T.concatenate([h, h], axis=0), outputs_info=x, n_steps=3)
    ones = ", ".join("1" for _ in range(min(rank, 30) - 1))
    with pytest.raises(ValueError, match=rf"of shape \(1, {ones}\) becomes one of shape \(2, {ones}\) in step 0"):
        ag.function([x], doubled)(np.ones((1,) * rank))
