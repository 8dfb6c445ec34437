"""Derivatives of losses as people write them, where exponentials overflow and probabilities underflow.

The expected values are the true derivatives, each by a formula that is stable itself.
"""

import numpy as np
import pytest
import rule_rows

import arignote as ag
from arignote import ops as T
from arignote.calculus.stable import stable_forms
from arignote.graph import graph_of, toposort
from arignote.optdb import relaxes, rule, wilds

Z = np.array([-800.0, 800.0, 0.3, -40.0, 39.0])
LABELS = np.array([1.0, 0.0, 1.0, 0.0, 1.0])
X = np.array([[1000.0, 0, -3], [0, -1000, 2], [1, 2, 3], [-500, -800, -700], [40, 0, -40]])
PICKED = np.array([0, 1, 2, 0, 1])
ROWS = np.arange(5)
ONE_HOT = np.eye(3)[PICKED]


def logistic(v):
    e = np.exp(-np.abs(v))
    return np.where(v > 0, 1 / (1 + e), e / (1 + e))


def shares(v):
    e = np.exp(v - v.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def naive(x):
    return T.exp(x) / T.exp(x).sum(axis=1, keepdims=True)


def gauss(z, mean, scale):
    return T.exp(-0.5 * ((z - mean) / scale) ** 2) / (scale * np.sqrt(2 * np.pi))


VECTORS = {
    "binary cross-entropy": (
        lambda z: -(LABELS * T.log(T.sigmoid(z)) + (1 - LABELS) * T.log(1 - T.sigmoid(z))),
        lambda z: logistic(z) - LABELS,
    ),
    "binary cross-entropy by exp": (
        lambda z: -(LABELS * T.log(1 / (1 + T.exp(-z))) + (1 - LABELS) * T.log(1 - 1 / (1 + T.exp(-z)))),
        lambda z: logistic(z) - LABELS,
    ),
    "softplus": (lambda z: T.log(1 + T.exp(z)), logistic),
    "square of softplus": (
        lambda z: T.log(1 + T.exp(z)) ** 2,
        lambda z: 2 * logistic(z) * np.logaddexp(0, z),
    ),
    "margins": (
        lambda z: T.log(1 + T.exp(-(2 * LABELS - 1) * z)),
        lambda z: (1 - 2 * LABELS) * logistic((1 - 2 * LABELS) * z),
    ),
    "focal loss": (
        lambda z: -((1 - T.sigmoid(z)) ** 2) * T.log(T.sigmoid(z)),
        lambda z: -2 * logistic(z) * logistic(-z) ** 2 * np.logaddexp(0, -z) - logistic(-z) ** 3,
    ),
    "powers of probabilities": (lambda z: T.log(T.sigmoid(z) ** 2 / 3), lambda z: 2 * logistic(-z)),
    "decadic logarithm": (lambda z: T.log10(T.sigmoid(z)), lambda z: logistic(-z) / np.log(10)),
    "log cosh": (lambda z: T.log(T.cosh(z)), np.tanh),
    "log sech squared": (lambda z: T.log(1 - T.tanh(z) ** 2), lambda z: -2 * np.tanh(z)),
    "tanh by exp": (
        lambda z: (T.exp(z) - T.exp(-z)) / (T.exp(z) + T.exp(-z)),
        lambda z: 4 * logistic(2 * z) * logistic(-2 * z),
    ),
    "tanh by one exp": (
        lambda z: (1 - T.exp(-2 * z)) / (1 + T.exp(-2 * z)),
        lambda z: 4 * logistic(2 * z) * logistic(-2 * z),
    ),
    "swish": (
        lambda z: z / (1 + T.exp(-z)),
        lambda z: logistic(z) + z * logistic(z) * logistic(-z),
    ),
    "two exponentials": (
        lambda z: T.log(T.exp(z) + T.exp(2 * z + 1)),
        lambda z: 2 - logistic(-z - 1),
    ),
    "odds": (
        lambda z: T.exp(z) / (T.exp(z) + T.exp(0.5 * z)),
        lambda z: 0.5 * logistic(0.5 * z) * logistic(-0.5 * z),
    ),
    "normal density": (lambda z: T.log(gauss(z, 1.0, 2.0)), lambda z: -(z - 1) / 4),
    "mixture": (
        lambda z: T.log(0.3 * T.exp(-0.5 * z**2) + 0.7 * T.exp(-0.5 * (z - 2) ** 2)),
        lambda z: -z + 2 * logistic(2 * z - 2 + np.log(7 / 3)),
    ),
    "logistic density": (
        lambda z: T.log(T.exp(-z) / (1 + T.exp(-z)) ** 2),
        lambda z: logistic(-z) - logistic(z),
    ),
    "Gumbel density": (lambda z: T.log(T.exp(-(z / 100 + T.exp(-z / 100)))), lambda z: (np.exp(-z / 100) - 1) / 100),
    "Laplace density": (lambda z: T.log(0.5 * T.exp(-abs(z))), lambda z: -np.sign(z)),
    "reciprocal": (lambda z: 1 / T.exp(z / 1.2), lambda z: -np.exp(-z / 1.2) / 1.2),
    "hyperbolic secant": (
        lambda z: 1 / T.cosh(z),
        lambda z: -np.tanh(z) * 2 * np.exp(-abs(z)) / (1 + np.exp(-2 * abs(z))),
    ),
    "square of a secant": (
        lambda z: 3 / T.cosh(z) ** 2,
        lambda z: -24 * np.tanh(z) * logistic(2 * z) * logistic(-2 * z),
    ),
    "hyperbolic cosecant": (
        lambda z: 1 / T.sinh(z),
        lambda z: 2 * np.exp(-abs(z)) / np.expm1(-2 * abs(z)) / np.tanh(abs(z)),
    ),
    "cotangent": (lambda z: T.cosh(z) / T.sinh(z), lambda z: -4 * np.exp(-2 * abs(z)) / np.expm1(-2 * abs(z)) ** 2),
    "Fermi": (lambda z: 1 / (T.exp((z - 1) / 2) + 1), lambda z: -0.5 * logistic(z / 2 - 0.5) * logistic(0.5 - z / 2)),
    "square of a share": (lambda z: 1 / (1 + T.exp(z)) ** 2, lambda z: -2 * logistic(z) * logistic(-z) ** 2),
    "Hill": (
        lambda z: T.exp(3 * z) / (2.5 + T.exp(3 * z)),
        lambda z: 3 * logistic(3 * z - np.log(2.5)) * logistic(np.log(2.5) - 3 * z),
    ),
    "growth": (
        lambda z: 5 / (1 + T.exp(-z)) ** 0.5,
        lambda z: 2.5 * np.exp(-0.5 * np.logaddexp(0, -z)) * logistic(-z),
    ),
    "Gompertz": (lambda z: T.exp(-T.exp(z)), lambda z: -np.exp(np.minimum(z, 50) - np.exp(np.minimum(z, 50)))),
    "Bose": (
        lambda z: z / (T.exp(z) - 1),
        lambda z: (
            (np.expm1(-abs(z)) * np.where(z > 0, -np.exp(-abs(z)), 1) - z * np.exp(-abs(z))) / np.expm1(-abs(z)) ** 2
        ),
    ),
    "inverse of softplus": (lambda z: T.log(T.exp(abs(z)) - 1), lambda z: -np.sign(z) / np.expm1(-np.abs(z))),
}

MATRICES = {
    "logarithm of a softmax": (lambda x: -T.log(naive(x))[ROWS, PICKED], lambda x: shares(x) - ONE_HOT),
    "picked first": (lambda x: -T.log(naive(x)[ROWS, PICKED]), lambda x: shares(x) - ONE_HOT),
    "shifted": (
        lambda x: -T.log(naive(x - x.max(axis=1, keepdims=True)))[ROWS, PICKED],
        lambda x: shares(x) - ONE_HOT,
    ),
    "softmax of nn": (lambda x: -T.log(T.nn.softmax(x))[ROWS, PICKED], lambda x: shares(x) - ONE_HOT),
    "temperature": (lambda x: -T.log(naive(x / 0.1))[ROWS, PICKED], lambda x: 10 * (shares(10 * x) - ONE_HOT)),
    "log of sum": (lambda x: T.log(T.exp(x).sum(axis=1)), shares),
    "log of mean": (lambda x: T.log(T.exp(x).mean(axis=1)), shares),
    "sum of columns": (
        lambda x: -T.log(T.exp(x[:, 0]) / (T.exp(x[:, 0]) + T.exp(x[:, 1]) + T.exp(x[:, 2]))),
        lambda x: shares(x) - np.eye(3)[0],
    ),
    "weights": (
        lambda x: T.log(T.sum(np.array([0.2, 0.3, 0.5]) * T.exp(-0.5 * x**2), axis=1)),
        lambda x: -x * shares(-0.5 * x**2 + np.log([0.2, 0.3, 0.5])),
    ),
    "squares of shares": (
        lambda x: (naive(x) ** 2).sum(axis=1),
        lambda x: 2 * shares(x) * (shares(x) - (shares(x) ** 2).sum(axis=1, keepdims=True)),
    ),
}


@pytest.mark.few(10)
@pytest.mark.parametrize("name", [*VECTORS, *MATRICES])
def test_the_derivative_is_the_true_one_where_exponentials_overflow(name):
    loss, derivative = (VECTORS | MATRICES)[name]
    v = T.vector("v") if name in VECTORS else T.matrix("v")
    values = Z if name in VECTORS else X
    value, slope = ag.function([v], [loss(v).sum(), ag.grad(loss(v).sum(), v)])(values)
    assert np.isfinite(value)
    np.testing.assert_allclose(slope, derivative(values), rtol=1e-12, atol=1e-15)


@pytest.mark.long
def test_weights_that_are_not_known():
    x, w = T.matrix("x"), T.vector("w")
    loss = T.log(T.sum(w * T.exp(-0.5 * x**2), axis=1)).sum()
    slopes = ag.function([x, w], ag.grad(loss, [x, w]))(X, np.array([0.2, 0.3, 0.5]))
    expected = shares(-0.5 * X**2 + np.log([0.2, 0.3, 0.5]))
    np.testing.assert_allclose(slopes[0], -X * expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(slopes[1], (expected / [0.2, 0.3, 0.5]).sum(axis=0), rtol=1e-12)
    assert ag.function([x, w], T.log(T.sum(w * T.exp(x), axis=1)))(X[:1], [1.0, 0.0, -1.0]) == 1000


def test_near_zero_the_derivative_of_log_cosh_keeps_all_digits():
    small = np.array([-0.0, 1e-300, 1e-9, -1e-5, 0.99, 1.0, 1.01])
    x = T.vector("x")
    value, slope = ag.function([x], [T.log(T.cosh(x)), ag.grad(T.log(T.cosh(x)).sum(), x)])(small)
    np.testing.assert_allclose(slope, np.tanh(small), rtol=1e-15)
    np.testing.assert_allclose(value[2:4], small[2:4] ** 2 / 2, rtol=1e-10)


def test_second_derivatives():
    z, direction = T.vector("z"), T.vector("direction")
    loss = T.log(1 + T.exp(z)).sum()
    bent = np.diag(logistic(Z) * logistic(-Z))
    np.testing.assert_allclose(ag.function([z], ag.hessian(loss, z))(Z), bent, rtol=1e-12, atol=1e-300)
    along = ag.function([z, direction], ag.hvp(loss, z, direction))
    np.testing.assert_allclose(along(Z, np.ones(5)), bent.sum(axis=0), rtol=1e-12, atol=1e-300)


def test_jacobians_products_and_linear_functions():
    z, t = T.vector("z"), T.vector("t")
    value = T.log(T.sigmoid(z))
    results = [T.diag(ag.jacobian(value, z)), ag.jvp(value, z, t), ag.vjp(value, z, t), ag.linearize(
        lambda z: T.log(T.sigmoid(z)), z)[1](t)]  # fmt: skip
    for found in ag.function([z, t], results, on_unused_input="ignore")(Z, np.ones(5)):
        np.testing.assert_allclose(found, logistic(-Z), rtol=1e-12)


def test_inside_of_loops_and_branches():
    z, c = T.vector("z"), T.scalar("c", dtype="bool")
    sums, _ = ag.scan(lambda zi, total: total + T.log(1 + T.exp(zi)), sequences=[z], outputs_info=[T.constant(0.0)])
    np.testing.assert_allclose(ag.function([z], ag.grad(sums[-1], z))(Z), logistic(Z), rtol=1e-12)
    chosen = ag.cond(c, lambda: T.log(T.sigmoid(z)).sum(), lambda: T.log(1 - T.sigmoid(z)).sum())
    slope = ag.function([c, z], ag.grad(chosen, z))
    np.testing.assert_allclose(slope(True, Z), logistic(-Z), rtol=1e-12)
    np.testing.assert_allclose(slope(False, Z), -logistic(Z), rtol=1e-12)


def test_python_functions():
    def loss(z):
        total = 0.0
        for k in range(len(z)):
            total += np.log(1 + np.exp(z[k]))
        return total

    np.testing.assert_allclose(ag.grad(loss)(Z), logistic(Z), rtol=1e-12)
    np.testing.assert_allclose(ag.grad(lambda x: -np.log(np.exp(x) / np.exp(x).sum())[1])(X[0]), [1, -1, 0])


def test_the_derivative_by_a_computed_value_is_that_of_the_expression_as_it_reads_it():
    x = T.vector("x")
    p = T.sigmoid(x)
    slope = ag.function([x], ag.grad(-T.log(p).sum(), p))
    np.testing.assert_allclose(slope(np.array([1.0, -2.0])), -1 / logistic(np.array([1.0, -2.0])), rtol=1e-14)
    held = ag.grad(-T.log(p).sum(), x, consider_constant=[p], disconnected="zero")
    assert not ag.function([x], held)(np.array([1.0, -2.0])).any()


def test_what_is_held_constant_stays_so():
    x = T.vector("x")
    held = T.stop_gradient(x)
    loss = (T.log(T.sigmoid(x)) * held + T.log(T.sigmoid(held)) * 2 + held * x * 1 + T.clip(x * 1, -1, 1)).sum()
    at = np.array([0.5, -3.0])
    expected = logistic(-at) * at + at + (np.abs(at) < 1)
    np.testing.assert_allclose(ag.function([x], ag.grad(loss, x))(at), expected, rtol=1e-14)
    own = ag.custom_vjp(lambda x: T.log(T.sigmoid(x)))
    own.defvjp(lambda x: (T.log(T.sigmoid(x)), x), lambda x, g: (7 * g,))
    slope = ag.grad((own(x) * 1 + T.log(1 + T.exp(x)) * 0).sum(), x)
    np.testing.assert_array_equal(ag.function([x], slope)(at), [7, 7])


def test_an_expression_without_such_a_part_stays_what_it_is():
    x = T.vector("x")
    value = (T.tanh(x) * T.exp(x)).sum()
    assert stable_forms([value]) == [value]
    before = set(toposort([value]))
    (changed,) = stable_forms([value + T.log(T.sigmoid(x)).sum()])
    assert before <= set(toposort([changed]))  # only what changes is built again


def test_rules_of_users_count():
    x, (v,) = T.vector("x"), wilds("v")
    same = rule("users_arctan_of_tan", T.arctan(T.tan(v)), v, contract=relaxes("inf"))
    ag.optdb["stabilize"].register("users_arctan_of_tan", same, "stabilize")
    try:
        slope = ag.grad(T.arctan(T.tan(x)).sum(), x)
    finally:
        ag.optdb["stabilize"].unregister("users_arctan_of_tan")
    assert "tan" not in ag.pprint(slope)


@pytest.mark.parametrize("k", range(len(rule_rows.STABLE)))
def test_what_a_rule_makes_of_an_expression_has_a_derivative(k):
    _, before, after = rule_rows.STABLE[k]
    numbers = [v for v in graph_of(before, "test").inputs if v.type.kind == "f"]
    for slope in ag.grad(after.sum(), numbers, disconnected="zero"):
        assert slope.type.kind == "f"


def flow(n, x, p):
    for _ in range(n):
        d = x[2:] - x[0:-2]
        for _ in range(n):
            p[1:-1] = 0.5 * (p[2:] + p[0:-2]) - (x[2:] - x[0:-2]) * d
        x[1:-1] -= d * (p[2:] - p[0:-2]) + 0.1 * (x[2:] - x[:-2])
    return np.sum(x * x) + np.sum(p)


@pytest.mark.long
def test_repeats_alone_change_no_expression():
    """The derivative then shares the loop of the value, which no rule has changed."""
    x, p = np.linspace(0, 1, 7), np.linspace(1, 2, 7) ** 2
    made = ag.value_and_grad(flow, (1, 2))
    loops = [node for node in made.compiled(3, x, p).graph.order if "scan" in str(node.op)]
    assert len(loops) == 2
    value, slopes = made(3, x, p)
    assert np.isclose(value, flow(3, x.copy(), p.copy()))
    for k, slope in enumerate(slopes):
        for i in range(7):
            ends = []
            for step in (1e-6, -1e-6):
                given = [x.copy(), p.copy()]
                given[k][i] += step
                ends.append(flow(3, *given))
            assert np.isclose(slope[i], (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-7)
