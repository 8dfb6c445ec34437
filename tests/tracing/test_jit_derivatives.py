"""Derivatives of functions with loops and assignments: `checkpoint=`, forward mode, and functions over examples."""

import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

X = np.random.default_rng(0).normal(size=(3, 5))


def damped(x, rate, n=21):
    y = x.copy()
    for i in range(1, n):
        y[i % 5] = y[i % 5] * rate + np.sin(y[(i - 1) % 5])
    return y


def cost(x, rate, n=21):
    return (damped(x, rate, n) ** 2).sum()


def nested(x, n):
    total = 0.0
    for i in range(n):
        for j in range(3 * n):
            x[j % 5] = np.cos(x[j % 5]) + i
        total += x.sum()
    while total > 5.0:
        total *= 0.5
    return total


@pytest.mark.long
def test_checkpoints_leave_the_derivative_as_it_is():
    plain = ag.value_and_grad(ag.jit(cost, mode="NUMPY"), (0, 1))
    counts = (0, 10, 50, 51, 120)
    expected = {n: plain(X[0], 0.7, n) for n in counts}
    for k in (50, "sqrt"):
        f = ag.value_and_grad(ag.jit(cost, mode="NUMPY"), (0, 1), checkpoint=k)
        for n in counts:
            value, slopes = f(X[0], 0.7, n)
            np.testing.assert_allclose(value, expected[n][0])
            for found, wanted in zip(slopes, expected[n][1], strict=True):
                np.testing.assert_allclose(found, wanted)
    for k in (7, 100):  # a number of steps that the trace knows
        np.testing.assert_allclose(ag.grad(cost, checkpoint=k)(X[0], 0.7), ag.grad(cost)(X[0], 0.7))
    np.testing.assert_allclose(ag.grad(nested, checkpoint=4)(X[0], 6), ag.grad(nested)(X[0], 6))
    x = T.vector("x")
    y, _ = ag.scan(lambda s: s * 0.5, outputs_info=[x], n_steps=3, checkpoint_every=10)
    assert ag.function([x], ag.grad(y[-1].sum(), x))(np.ones(2)).tolist() == [0.125, 0.125]


LONG = r"""
import re, sys
import numpy as np
import arignote as ag
def long(x, n):
    y = x
    for i in range(n):
        y = y + 0.001 * np.sin(y)
    return (y * y).sum()
def peak():  # of this program: `ru_maxrss` begins with that of the process that started it
    return int(re.search(r"VmHWM:\s*(\d+) kB", open("/proc/self/status").read())[1])
f = ag.grad(long, checkpoint=eval(sys.argv[1]))
f(np.ones(20000), 20)
before = peak()
f(np.ones(20000), 1000)
print(peak() - before)
"""


@pytest.mark.long
def test_checkpoints_keep_few_states(tmp_path):
    program = tmp_path / "long.py"
    program.write_text(LONG)

    def kilobytes(checkpoint):
        run = subprocess.run(
            [sys.executable, str(program), checkpoint], capture_output=True, text=True, check=True, timeout=120
        )
        return int(run.stdout)

    assert kilobytes("None") > 140_000  # 1,000 states of 160 kB
    assert kilobytes("'sqrt'") < 40_000


def test_checkpoints_that_are_refused():
    with pytest.raises(ValueError, match="grad: checkpoint is 0; expected"):
        ag.grad(cost, checkpoint=0)(X[0], 0.7)
    x = T.vector("x")
    with pytest.raises(TypeError, match="checkpoint is for Python functions"):
        ag.grad(x.sum(), x, checkpoint=3)


@pytest.mark.long
def test_forward_mode():
    for f in (cost, damped, ag.jit(damped), lambda x, rate: {"y": damped(x, rate), "n": 3}):
        for _ in range(2):
            value, change = ag.jvp(f, (X[0], 0.7), (X[1], 0.3))
        low, high = (f(X[0] + h * X[1], 0.7 + h * 0.3) for h in (-1e-6, 1e-6))
        at = f(X[0], 0.7)
        if isinstance(value, dict):
            assert value["n"] == 3 and change["n"] == 0
            value, change, low, high, at = (d["y"] for d in (value, change, low, high, at))
        np.testing.assert_allclose(value, at)
        np.testing.assert_allclose(change, (high - low) / 2e-6, rtol=1e-5, atol=1e-7)
    _, along = ag.jvp(ag.grad(cost), (X[0], 0.7), (X[1], 0.0))
    step = [ag.grad(cost)(X[0] + h * X[1], 0.7) for h in (-1e-6, 1e-6)]
    np.testing.assert_allclose(along, (step[1] - step[0]) / 2e-6, rtol=1e-4, atol=1e-6)
    with pytest.raises(TypeError, match=r"jvp: primals: expected a tuple .*jvp\(f, \(x,\), \(v,\)\); got array"):
        ag.jvp(cost, X[0], X[1])
    with pytest.raises(TypeError, match=r"jvp: tangents are .*expected the form of the primals"):
        ag.jvp(cost, (X[0], 0.7), (X[1], [0.7]))


def writes(x):
    for i in range(x.shape[0]):
        if x[i] > 0:
            x[i] = -x[i]
        else:
            x[i] *= 2
    return x.sum(), x


def halved(x):
    n = 0
    while x.sum() > 0.1:
        x = x * 0.5
        n += 1
    return x, n


@pytest.mark.long
def test_functions_over_examples():
    kept = X.copy()
    cases = [
        (damped, (X, 0.7), (0, None), 0), (damped, (X.T, 0.7), (1, None), 1), (writes, (X,), 0, 0),
        (halved, (X,), 0, 0),
    ]  # fmt: skip
    for f, arguments, axes, out in cases:
        found = ag.vmap(ag.jit(f), axes, out)(*arguments)
        each = [f(x.copy(), *arguments[1:]) for x in X]
        several = isinstance(each[0], tuple)
        for k, one in enumerate(found if several else (found,)):
            np.testing.assert_allclose(one, np.stack([e[k] if several else e for e in each], out))
    np.testing.assert_array_equal(X, kept)
    slopes = ag.vmap(ag.grad(cost), (0, None))(X, 0.7)
    np.testing.assert_allclose(slopes, [ag.grad(cost)(x, 0.7) for x in X])

    @ag.jit
    def inside(a):
        return ag.vmap(ag.jit(damped), (0, None))(a, 0.7).sum() + ag.jvp(damped, (a[0], 0.7), (a[1], 0.1))[1].sum()

    expected = sum(damped(x, 0.7).sum() for x in X) + ag.jvp(damped, (X[0], 0.7), (X[1], 0.1))[1].sum()
    np.testing.assert_allclose(inside(X), expected)

    def positive(x):
        if x.sum() > 100:
            raise ValueError("too large")
        return x

    with pytest.raises(TypeError, match="vmap: the function raises by the values of one example"):
        ag.vmap(ag.jit(positive))(X)


def solved(a, b, tolerance):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    old = r @ r
    for _ in range(len(b)):
        step = old / (p @ (a @ p))
        x += step * p
        r -= step * (a @ p)
        new = r @ r
        if np.sqrt(new) < tolerance:
            break
        p = r + new / old * p
        old = new
    return np.sum(x * x)


@pytest.mark.long
def test_gradient_of_conjugate_gradients_agrees_along_symmetric_matrices():
    """Along others the last steps follow differences as small as the residual, where no finite difference is."""
    rng = np.random.default_rng(0)
    m, direction = rng.random((6, 6)), rng.random((6, 6))
    a, b, direction = m @ m.T + 6 * np.eye(6), rng.random(6), direction + direction.T
    slope = np.sum(ag.grad(solved)(a, b, 1e-9) * direction)
    h = 1e-5
    expected = (solved(a + h * direction, b, 1e-9) - solved(a - h * direction, b, 1e-9)) / (2 * h)
    np.testing.assert_allclose(slope, expected, rtol=1e-6)


def quadratic(m, w):
    return ((m @ w) ** 2).sum()


def with_residuals(m, w):
    residuals = m @ w
    return (residuals**2).sum(), {"residuals": residuals}


M, W = np.random.default_rng(1).normal(size=(4, 3)), np.arange(3.0)


@pytest.mark.long
def test_positions_may_be_called_argnums_and_more_goes_along():
    wanted = 2 * M.T @ (M @ W)
    np.testing.assert_allclose(ag.grad(quadratic, argnums=1)(M, W), wanted)
    _, slopes = ag.value_and_grad(quadratic, argnums=(1,))(M, W)
    np.testing.assert_allclose(slopes[0], wanted)
    (_, more), slope = ag.value_and_grad(with_residuals, 1, has_aux=True)(M, W)
    np.testing.assert_allclose(slope, wanted)
    np.testing.assert_allclose(more["residuals"], M @ W)
    slope, more = ag.grad(with_residuals, argnums=1, has_aux=True)(M, W)
    np.testing.assert_allclose(slope, wanted)


@pytest.mark.long
def test_jacobians_hessians_and_products_with_them_of_functions():
    def f(x):
        return np.stack([x[0] * x[1], np.sin(x[1]), x[0] ** 2])

    x = np.array([0.5, 2.0, 3.0])
    wanted = np.array([[2.0, 0.5, 0.0], [0.0, np.cos(2.0), 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(ag.jacobian(f)(x), wanted)
    np.testing.assert_allclose(ag.jit(ag.jacobian(ag.jit(f)))(x), wanted)
    pair = ag.jacobian(lambda x: {"y": f(x), "z": x.sum()})(x)
    np.testing.assert_allclose(pair["y"], wanted)
    np.testing.assert_allclose(pair["z"], np.ones(3))
    value, (product,) = ag.vjp(f, (x,), np.arange(3.0))
    np.testing.assert_allclose(product, np.arange(3.0) @ wanted)
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(ag.hessian(quadratic, argnums=1)(M, W), 2 * M.T @ M)
    np.testing.assert_allclose(ag.hessian(quadratic, (0, 1))(M, W)[1][1], 2 * M.T @ M)
    np.testing.assert_allclose(ag.jacobian(ag.grad(quadratic, 1), 1)(M, W), 2 * M.T @ M)
    _, (_, product) = ag.hvp(quadratic, (M, W), (np.zeros_like(M), W))
    np.testing.assert_allclose(product, 2 * M.T @ M @ W)
    assert ag.hessian(lambda x: x**3)(2.0) == 12.0
    tree = ag.hessian(lambda p: (p["a"] ** 2 * p["b"]).sum())({"a": W, "b": W})
    np.testing.assert_allclose(tree["a"]["b"], np.diag(2 * W))


@pytest.mark.parametrize("call, message", [
    (lambda: ag.value_and_grad(quadratic, nonsense=1), "value_and_grad: no argument is called 'nonsense'"),
    (lambda: ag.value_and_grad(quadratic, disconnected="zero"), "value_and_grad: disconnected is for expressions"),
    (lambda: ag.grad(quadratic, consider_constant=[1]), "grad: consider_constant is for expressions"),
    (lambda: ag.grad(quadratic, 0, argnums=1), "grad: wrt and argnums are the same"),
    (lambda: ag.grad(T.dscalar("x"), argnums=1), "grad: argnums is for Python functions"),
    (lambda: ag.jacobian(quadratic, disconnected="zero"), "jacobian: disconnected is for expressions"),
    (lambda: ag.grad(quadratic, has_aux=True)(M, W), "grad: with has_aux, expected a pair of a scalar and more"),
    (lambda: ag.vjp(with_residuals, (M, W), (1.0, 2.0)), "vjp: cotangents are .* expected the form of the result"),
])  # fmt: skip
def test_arguments_that_do_not_fit_a_function_are_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("constant", [lambda x: 1.0, lambda x: np.finfo(x.dtype).eps, lambda x: float(len(x))])
def test_derivatives_of_constants_are_zeros(constant):
    for function in (constant, ag.jit(constant, engine="numpy")):
        value, gradient = ag.value_and_grad(function)(np.ones(3))
        assert value == constant(np.ones(3))
        np.testing.assert_array_equal(gradient, np.zeros(3))
    with pytest.raises(TypeError, match="cost must be"):
        ag.grad(lambda x: 1)(np.ones(3))
