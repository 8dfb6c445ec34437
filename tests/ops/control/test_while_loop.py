"""`ag.while_loop`: values against loops of Python in every mode, forms of states, errors, Ctrl-C."""

import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

MODES = ["FAST_RUN", "FAST_COMPILE", "NUMPY"]


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


def collatz(n):
    steps = 0
    while n != 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    return steps


def test_a_dict(mode):
    n = T.lscalar("n")
    last = ag.while_loop(
        lambda s: T.ne(s["n"], 1),
        lambda s: {"steps": s["steps"] + 1, "n": T.where(T.eq(s["n"] % 2, 1), 3 * s["n"] + 1, s["n"] // 2)},
        {"n": n, "steps": 0},
    )  # fmt: skip
    f = ag.function([n], last["steps"], mode=mode)
    assert [f(k) for k in (1, 2, 27)] == [collatz(1), collatz(2), collatz(27)]


def test_a_variable_a_list_a_tuple(mode):
    x = T.vector("x")
    halved = ag.while_loop(lambda x: x.sum() > 1, lambda x: x / 2, x)
    a, (b, c) = ag.while_loop(lambda s: s[0] < 5, lambda s: [s[0] + 1, (s[1][1], s[1][0])], [0, (x, x * 2)])
    f = ag.function([x], [halved, a, b, c], mode=mode)
    found = f([4.0, 4.0])
    np.testing.assert_array_equal(found[0], [0.5, 0.5])
    assert found[1] == 5
    np.testing.assert_array_equal(found[2], [8, 8])
    np.testing.assert_array_equal(found[3], [4, 4])
    np.testing.assert_array_equal(f([0.1, 0.1])[0], [0.1, 0.1])


def test_newton_in_a_scan(mode):
    x = T.vector("x")

    def root(a):
        return ag.while_loop(lambda r: T.abs(r * r - a) > 1e-12 * a, lambda r: (r + a / r) / 2, a)

    f = ag.function([x], ag.scan(root, x)[0], mode=mode)
    np.testing.assert_allclose(f([2.0, 3.0, 1e4]), np.sqrt([2.0, 3.0, 1e4]), rtol=1e-12)


def test_a_state_that_changes_its_shape(mode):
    x = T.vector("x")
    f = ag.function([x], ag.while_loop(lambda x: x.sum() > 1, lambda x: x[1:], x), mode=mode)
    with pytest.raises(ValueError, match=r"the state (state|x) of shape \(3,\) becomes one of shape \(2,\)"):
        f([1.0, 2.0, 3.0])


def test_what_is_refused():
    n = T.lscalar("n")
    with pytest.raises(TypeError, match=r'while_loop: the state state\["n"\] is int64, and becomes float64 in a step'):
        ag.while_loop(lambda s: s["n"] > 0, lambda s: {"n": s["n"] / 2}, {"n": n})
    with pytest.raises(TypeError, match="another form"):
        ag.while_loop(lambda s: s[0] > 0, lambda s: s[0], [n])
    with pytest.raises(TypeError, match="condition: expected a scalar"):
        ag.while_loop(lambda s: s > 0, lambda s: s, T.vector("x"))
    with pytest.raises(TypeError, match=r"while_loop: body takes one argument, .*; this one \(a, n\)"):
        ag.while_loop(lambda s: s[1] < 3, lambda a, n: (a, n + 1), (T.constant(1.0), T.constant(0)))
    with pytest.raises(TypeError, match="body must be a function of the state, got 3"):
        ag.while_loop(lambda s: s > 0, 3, n)
    with pytest.raises(ValueError, match="while_loop: max_steps is -1; expected 0 or more"):
        ag.while_loop(lambda s: s > 0, lambda s: s, n, max_steps=-1)


def loop_of(a):
    return ag.while_loop(lambda s: s[0] < 20, lambda s: (s[0] * a + 1, T.sin(s[1]) * a), (a, a))[1]


def loop_in_python(a):
    s, t = a, a
    while s < 20:
        s, t = s * a + 1, np.sin(t) * a
    return t


@pytest.mark.long
def test_derivatives_against_differences_and_examples_against_calls(mode):
    a, x = T.scalar("a"), T.vector("x")

    def slope(a):
        return ag.grad(loop_of(a), a)

    y = loop_of(a)
    f = ag.function([a], [y, slope(a), ag.jvp(y, a, 1.0), ag.grad(slope(a), a)], mode=mode)
    points = np.array([1.3, 2.0, 25.0, 1.1])  # 8, 4, 0 and 16 steps
    found = np.array([f(p) for p in points])
    np.testing.assert_allclose(found[:, 0], [loop_in_python(p) for p in points], rtol=1e-14)
    differences = [(loop_in_python(p + 1e-6) - loop_in_python(p - 1e-6)) / 2e-6 for p in points]
    np.testing.assert_allclose(found[:, 1], differences, rtol=1e-6)
    np.testing.assert_allclose(found[:, 2], found[:, 1], rtol=1e-13)
    np.testing.assert_allclose(found[:, 3], [(f(p + 1e-5)[1] - f(p - 1e-5)[1]) / 2e-5 for p in points], rtol=1e-5)
    values = ag.vmap(loop_of)(x)
    many = [values, ag.vmap(slope)(x), ag.grad(values.sum(), x), ag.vmap(lambda a: ag.grad(slope(a), a))(x)]
    g = ag.function([x], many, mode=mode)
    for k, row in zip((0, 1, 1, 3), g(points), strict=True):
        np.testing.assert_allclose(row, found[:, k], rtol=1e-13)


@pytest.mark.long
def test_examples_within_examples_and_sums_over_what_they_share():
    m, w = T.matrix("m"), T.scalar("w")

    def one(a):
        return ag.while_loop(lambda s: s < 30, lambda s: s * w + a, a)

    many = ag.vmap(ag.vmap(one))(m)
    g = ag.function([m, w], [many, *ag.grad(many.sum(), [m, w])])
    f = ag.function([a := T.scalar("a"), w], [one(a), *ag.grad(one(a), [a, w])])
    data = np.array([[1.0, 2.0, 40.0], [0.5, 29.0, 3.0]])
    ones = np.array([[f(v, 1.5) for v in row] for row in data])
    values, by_m, by_w = g(data, 1.5)
    np.testing.assert_allclose(values, ones[..., 0])
    np.testing.assert_allclose(by_m, ones[..., 1])
    np.testing.assert_allclose(by_w, ones[..., 2].sum())


def test_a_bound_on_the_steps():
    a, k = T.scalar("a"), T.lscalar("k")
    end = ag.while_loop(lambda s: s < 100, lambda s: s * 2, a, max_steps=k)
    f = ag.function([a, k], [end, ag.grad(end, a)])
    assert [list(map(float, f(1.0, n))) for n in (0, 3, 9)] == [[1, 1], [8, 8], [128, 128]]


INTERRUPT = """
import os, signal, threading
import arignote as ag
from arignote import ops as T
n = T.lscalar("n")
f = ag.function([n], ag.while_loop(lambda k: k < n, lambda k: k + 1, 0), mode={mode!r})
assert f(10) == 10
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    f(2**62)
except KeyboardInterrupt:
    print("stopped")
print(f(5))
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("how", ["FAST_RUN", "NUMPY"])
def test_ctrl_c_ends_a_long_loop(how):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT.format(mode=how)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout.split() == ["stopped", "5"], done.stderr
