"""Small arrays of a step: loops of vectors and little matrices are one kernel, with Python's values and errors."""

import copy
import math

import numpy as np
import pytest

import arignote as ag
from arignote.cbackend.program.planners import loops as planners

ROWS = np.sin(np.arange(23.0))


def swapped(n):
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for _ in range(n):
        a, b = b, 0.5 * a + b
    return a, b


def reordered(n):
    a = np.array([1.0, 2.0, 3.0])
    b = np.array([0, 1, 2])
    for i in range(n):
        a = a[::-1]
        b = np.array([b[2], b[0], b[1] + i])
    return a, b


def written(x, n):
    s = x.copy()
    for i in range(n):
        k = np.array([s[1], -s[0]])
        k[0] = k[0] * 2
        k[i % 2] += 1.0
        s = s + 0.1 * k
        s[i % 2] -= 0.5
    return s


def perturbed(x, n):
    """A copy of the state is written, and the state is read behind it; columns of a matrix are written."""
    x, jacobian = x.copy(), np.zeros((2, 2))
    for _ in range(n):
        here = np.array([x[0] ** 2 + x[1] - 3, x[0] - x[1] ** 2])
        for j in range(2):
            there = x.copy()
            there[j] += 1e-3
            jacobian[:, j] = (np.array([there[0] ** 2 + there[1] - 3, there[0] - there[1] ** 2]) - here) / 1e-3
        x = x - 0.1 * (jacobian.T @ here)
    return x, jacobian


def chosen(x, n):
    """States that become another vector in some branches, in others not, and written ones."""
    y, best, count = x.copy(), x.copy(), 0
    for _ in range(n):
        z = np.array([y[0] * 1.1 - 0.3, y[1] * 0.9 + 0.1])
        if z[0] > z[1]:
            best = z
            count += 1
        elif z[0] > 0.2:
            y = z
        else:
            y = np.array([z[1], z[0]])
        if count > 3:
            best = best - np.array([1.0, 0.0])
    return y, best, count


def chosen_values(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            d = np.array([1.0, x[i], 2.0])
        else:
            d = np.array([x[i], -1.0, 0.0])
        s += d[0] * d[1] + d.sum() + d.max() - d.min() + d.prod()
    return s


def inner(x, n, m):
    s = np.zeros(3)
    for i in range(n):
        total = np.zeros(3)
        for j in range(m):
            total = total + np.array([x[j], x[j] * i, 1.0])
            total[j % 3] *= 0.5
        s = s * 0.9 + total
    return s


def rows(x):
    out, v = np.zeros((len(x), 2)), np.array([0.0, 1.0])
    for i in range(len(x)):
        v = np.array([v[1], 0.5 * v[0] + x[i]])
        out[i] = v
        out[i, 0] += v.dot(v)
    return out


def bits(x):
    m, count = np.array([True, False]), 0
    for i in range(len(x)):
        m = np.array([m[1] ^ (x[i] > 0), m[0]])
        count += 1 if m.any() else 0
        count += 10 if m.all() else 0
    return m, count


def halves(x, n):
    v = x[:2].copy()
    for _ in range(n):
        v = v * np.float32(0.5) + np.array([v[1], v[0]], dtype=np.float32)
    return v


def shrunk(x, least):
    v, n = x.copy(), 0
    while np.abs(v).max() > least:
        v = np.array([0.5 * v[1], -0.6 * v[0]])
        n += 1
        if n > 100:
            break
    return v, n


def weighed(x):
    total, w, n = 0, np.ones(3), len(x)
    for i in range(n):
        p = np.array([x[i], x[(i + 3) % n], x[(i + 7) % n]]) * w
        k = np.argmax(p)
        w[k] *= 0.9
        total += k - 2 * np.argmin(p)
    return total, w


def assembled(n):
    v = np.array([1.0, 2.0, 3.0])
    for _ in range(n):
        v = np.concatenate((v[1:], np.array([v[0] + v[1]]))) * 0.7
        v = np.roll(v, 1) + 0.5
    return v


def crossed(x, n):
    v = x.copy()
    for _ in range(n):
        v = v + np.cross(v, np.array([0.0, 0.0, 1.0])) * 0.1
        v = v / np.linalg.norm(v)
    return v


def rotated(x):
    v = np.array([1.0, 2.0])
    for i in range(len(x)):
        c, s = math.cos(x[i]), math.sin(x[i])
        v = np.array([[c, -s], [s, c]]) @ v
    return v


def filtered(z):
    """A Kalman filter of two states."""
    F, Q = np.array([[1.0, 0.1], [0.0, 1.0]]), 1e-3 * np.eye(2)
    x, P = np.zeros(2), np.eye(2)
    for i in range(len(z)):
        x, P = F @ x, F @ P @ F.T + Q
        K = P[:, 0] / (P[0, 0] + 0.5)
        x = x + K * (z[i] - x[0])
        P = P - np.outer(K, P[0])
    return x, P


def pushed(p, n):
    q, speed = p.copy(), np.zeros_like(p)
    for _ in range(n):
        for i in range(len(q)):
            force = np.zeros(3)
            for j in range(len(q)):
                if i != j:
                    d = q[j] - q[i]
                    force += d / (d @ d + 0.01) ** 1.5
            speed[i] += 0.01 * force
        q += 0.01 * speed
    return q


PAIR = np.array([1.0, 2.0])
PROGRAMS = [
    (swapped, 9), (reordered, 8), (written, PAIR, 9), (perturbed, PAIR, 6), (chosen, PAIR, 40), (chosen_values, ROWS),
    (inner, ROWS, 11, 20), (rows, ROWS), (bits, ROWS), (halves, np.array([1.0, 2.0, 3.0], np.float32), 5),
    (shrunk, PAIR, 1e-3), (weighed, ROWS), (assembled, 9), (crossed, np.array([1.0, 2.0, 3.0]), 9), (rotated, ROWS),
    (filtered, ROWS), (swapped, 0), (written, PAIR, 0), (filtered, ROWS[:0]),
]  # fmt: skip


@pytest.fixture
def kinds(monkeypatch):
    """For each loop that the driver would run whether it is one kernel."""
    found, plain = [], planners.plan_scan

    def plan(p, node):
        found.append(planners.is_elementary(node))
        plain(p, node)

    for op, planner in list(planners.PLANNERS.items()):
        if planner is plain:
            monkeypatch.setitem(planners.PLANNERS, op, plan)
    return found


def require_same(ours, theirs):
    pairs = zip(ours, theirs, strict=True) if isinstance(theirs, tuple) else [(ours, theirs)]
    for a, b in pairs:
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-14)


@pytest.mark.few(4)
@pytest.mark.parametrize(("f", "args"), [(f, args) for f, *args in PROGRAMS])
def test_a_loop_of_small_arrays_is_one_kernel(f, args, kinds):
    require_same(ag.jit(f)(*copy.deepcopy(args)), f(*copy.deepcopy(args)))
    assert all(kinds)


def test_bodies_move():
    p = np.random.default_rng(0).normal(size=(6, 3))
    require_same(ag.jit(pushed)(p, 5), pushed(p, 5))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.0])
def test_extrema_and_their_positions_of_special_values(value):
    def f(x):
        total, places = 0.0, 0
        for i in range(len(x) - 2):
            v = np.array([x[i], x[i + 1], x[i + 2]])
            total = v.max() - v.min()
            places += 9 * np.argmax(v) + np.argmin(v)
        return total, places

    for place in range(5):
        x = np.array([0.0, -1.0, 2.0, 0.0, 1.0])
        x[place] = value
        ours, theirs = ag.jit(f)(x), f(x)
        np.testing.assert_array_equal(ours, theirs)


def grown(x, n):
    for _ in range(n):
        x = x + np.array([1.0, 2.0]) * x[0]
    return x


@pytest.mark.parametrize(("x", "n", "error"), [
    (np.ones(1), 3, "the state x of shape (1,) becomes one of shape (2,) in step 0"),
    (np.ones(3), 3, "lengths 3 and 2 do not agree on axis 0"),
    (np.ones(0), 3, "index 0 is out of bounds for axis 0 of x with size 0"),
    (np.ones(3), 0, None),
    (np.ones(2), 3, None),
])  # fmt: skip
def test_a_state_of_another_length_is_an_error_of_its_line(x, n, error):
    if error is None:
        require_same(ag.jit(grown)(x, n), grown(x, n))
        return
    with pytest.raises((ValueError, IndexError)) as raised:
        ag.jit(grown)(x, n)
    assert error in str(raised.value)
    assert "x = x + np.array" in str(raised.value)


def test_an_inner_state_of_another_length_is_named():
    def f(x, n):
        s = 0.0
        for _ in range(n):
            inside = x.copy()
            for j in range(n):
                inside = inside * 0.5 + np.array([1.0, j])
            s += inside[0]
        return s

    require_same(ag.jit(f)(PAIR, 5), f(PAIR, 5))
    with pytest.raises(ValueError, match=r"the state inside of shape \(1,\) becomes one of shape \(2,\) in step 0"):
        ag.jit(f)(np.ones(1), 20)


@pytest.mark.few(1)
@pytest.mark.parametrize(("f", "args"), [
    (lambda x: np.sum(rotated(x)), (ROWS,)), (lambda x: np.sum(filtered(x)[0]), (ROWS,)),
    (lambda x: np.sum(written(x, 9)), (PAIR,)), (lambda x: np.sum(crossed(x, 9)), (np.array([1.0, 2.0, 3.0]),)),
    (lambda x: np.sum(rows(x)), (ROWS,)),
])  # fmt: skip
def test_derivatives_are_loops_of_small_arrays(f, args, kinds):
    (x,) = args
    value, gradient = ag.jit(ag.value_and_grad(f))(x)
    assert all(kinds)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    for k in range(0, len(x), 5):
        step = np.zeros_like(x)
        step[k] = 1e-6
        np.testing.assert_allclose(gradient[k], (f(x + step) - f(x - step)) / 2e-6, rtol=1e-6, atol=1e-8)
