"""`ag.from_sympy`: values against SymPy's own evaluation, shared subexpressions, errors."""

import random

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import toposort

sympy = pytest.importorskip("sympy")

x, y, z = sympy.symbols("x y z")
k, j = sympy.symbols("k j", integer=True)
POINT = {x: 0.7, y: 1.3, z: 2.2}

UNARY = [
    "exp", "log", "Abs", "sign", "floor", "ceiling", "sin", "cos", "tan", "atan", "sec", "csc", "cot", "acot",
    "sinh", "cosh", "tanh", "asinh", "sech", "csch", "coth", "sinc", "gamma", "loggamma", "digamma", "trigamma",
    "factorial", "erf", "erfc", "erfi", "fresnels", "fresnelc", "Ei", "E1", "li", "Li", "Shi", "Chi", "airyai",
    "airybi", "airyaiprime", "airybiprime", "LambertW", "elliptic_k", "elliptic_e", "erfinv", "asin", "acos",
    "atanh", "asech", "re", "im", "conjugate", "arg", "frac", "sqrt", "cbrt",
]  # fmt: skip
"""Functions of one argument, at 0.7 or where they are defined."""
SPECIAL = [
    sympy.atan2(x, y), sympy.polygamma(2, y), sympy.binomial(z, x), sympy.beta(x, y), sympy.lowergamma(x, y),
    sympy.uppergamma(x, y), sympy.erf2(x, y), sympy.erf2inv(x, 0.1), sympy.expint(3, x), sympy.besselj(1, x),
    sympy.bessely(x, y), sympy.besseli(2, x), sympy.besselk(x, y), sympy.zeta(z), sympy.zeta(z, y), sympy.Mod(z, x),
    sympy.rf(x, y), sympy.ff(z, x), sympy.Heaviside(x - 1), sympy.Max(x, y, z, 2), sympy.Min(x, y), sympy.erfcinv(x),
    sympy.multigamma(z, 2), x ** sympy.Rational(1, 3), x ** sympy.Rational(-3, 2), x**-2, x**y, 2**x, sympy.root(x, 4),
    x / (y * z), -x * y / 3, sympy.pi * x + sympy.E - sympy.EulerGamma * sympy.GoldenRatio, x * sympy.Float("0.1"),
    sympy.Piecewise((x, x > 1), (x**2, x > 0), (0, True)), sympy.Piecewise((1, y < 1), (z, True)),
    sympy.ITE(x > y, x < z, y < z), (x > y) | ~(x < z), sympy.Xor(x > y, x < z), sympy.Eq(x, y), sympy.Ne(x, y), x <= y,
    sympy.Nand(x > y, x < z), sympy.Implies(x > y, x < z), sympy.Equivalent(x > y, x < z), sympy.legendre(3, x),
    sympy.chebyshevt(5, x), sympy.hermite(3, x), sympy.Derivative(sympy.sin(x) * x, x), 2**100 * x, x + sympy.oo,
    sympy.Sum(x**k / sympy.factorial(k), (k, 0, 12)), sympy.Product(x + k, (k, 1, 4)), sympy.Sum(y, (k, 1, 5)),
    sympy.Sum(k * j * x**j, (k, 1, 3), (j, 1, 2)), sympy.Product(1 / (k + x), (k, 2, 3)), sympy.Sum(x, (k, 1, 0)),
    sympy.Sum(sympy.Sum(x**k + j, (k, 1, 3)) * j, (j, 0, 3)), sympy.Sum((-1) ** k / k, (k, 1, 6)) * x,
    sympy.cos(x) ** 2 + sympy.cos(x) * y, sympy.hyper([1, y], [3], x / 2), sympy.hyper([y], [3], x), sympy.yn(1, x),
    sympy.hyper([y], [], x / 2), sympy.harmonic(x), sympy.harmonic(4 + x, 3), sympy.dirichlet_eta(y), sympy.jn(2, x),
    sympy.hyper([], [], x),
]  # fmt: skip
MATRICES = [
    sympy.Matrix([[x, 1], [y, x * y]]), sympy.Matrix([x, y, z]), sympy.Matrix([[x, 1], [y, 3]]).inv(),
    sympy.Matrix([[x, 1], [y, 3]]) * sympy.Matrix([y, z]), sympy.zeros(2, 3),
]  # fmt: skip


WRITTEN = {
    sympy.erf2(x, y): sympy.erf(y) - sympy.erf(x), sympy.erfcinv(x): sympy.erfinv(1 - x),
    sympy.erf2inv(x, 0.1): sympy.erfinv(sympy.erf(x) + 0.1),
}  # fmt: skip
"""Functions that SymPy does not evaluate by themselves."""


def evaluated(expression):
    """SymPy's value as a float or a bool."""
    expression = WRITTEN.get(expression, expression)
    found = expression.doit().subs(POINT).doit()
    if found in (sympy.true, sympy.false):
        return bool(found)
    return float(sympy.N(found, 30))


def test_values_are_sympys():
    expressions = [getattr(sympy, n)(x) for n in UNARY] + SPECIAL
    f = ag.function([], ag.from_sympy(expressions, {str(s): v for s, v in POINT.items()}), mode="NUMPY")
    for expression, found in zip(expressions, f(), strict=True):
        np.testing.assert_allclose(found, evaluated(expression), rtol=1e-12, atol=1e-15, err_msg=str(expression))
    for matrix, found in zip(MATRICES, ag.from_sympy(MATRICES, POINT), strict=True):
        expected = np.array(matrix.subs(POINT).evalf(20).tolist(), dtype=float)
        np.testing.assert_allclose(found.eval(), expected, rtol=1e-12)


def random_expression(rng, depth):
    """A random real expression of x, y and z."""
    if depth == 0:
        return rng.choice([x, y, z, sympy.Integer(rng.randint(-3, 3)), sympy.Rational(rng.randint(1, 5), 3)])
    inner = [random_expression(rng, depth - 1) for _ in range(2)]
    functions = ("sin", "cos", "exp", "atan", "tanh", "Abs", "erf", "floor", "sinc")
    choice = rng.randrange(8)
    if choice < 2:
        return getattr(sympy, rng.choice(functions))(inner[0] if choice else sympy.sin(inner[0]))
    if choice == 2:
        return inner[0] / (1 + inner[1] ** 2)
    if choice == 3:
        return sympy.Piecewise((inner[0], inner[1] > 0), (inner[1], True))
    if choice == 4:
        return sympy.sqrt(1 + inner[0] ** 2) ** rng.choice([1, -1, 3])
    return inner[0] * inner[1] if choice == 5 else inner[0] + inner[1] if choice == 6 else inner[0] - 2 * inner[1]


def compare_random(count, seed):
    rng = random.Random(seed)
    expressions = [random_expression(rng, rng.randint(1, 4)) for _ in range(count)]
    results = ag.function([], ag.from_sympy(expressions, POINT), mode="NUMPY")()
    compared = 0
    for expression, found in zip(expressions, results, strict=True):
        expected = evaluated(expression)
        if abs(expected) < 1e100:
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=str(expression))
            compared += 1
    assert compared > 0.9 * count


def test_random_expressions():
    compare_random(60, 1)


@pytest.mark.long
def test_many_random_expressions():
    for seed in range(20):
        compare_random(100, 100 + seed)


def test_functions_of_arrays_and_expressions():
    f = ag.from_sympy(sympy.sin(x) * y + sympy.sin(x) ** 2, [x, y])
    arrays = np.array([0.5, 1.0]), np.array([[2.0], [3.0]])
    np.testing.assert_allclose(f(*arrays), np.sin(arrays[0]) * arrays[1] + np.sin(arrays[0]) ** 2)
    v = ag.from_sympy(sympy.exp(sympy.sin(x) * y) + sympy.sin(x) * y, {x: T.vector("x"), "y": T.vector("y")})
    names = [node.op.name for node in toposort([v])]
    assert names.count("sin") == 1 and names.count("mul") == 1
    A = sympy.MatrixSymbol("A", 2, 2)
    B = sympy.IndexedBase("B")
    a = np.array([[1.0, 2.0], [3.0, 5.0]])
    found, traced, summed, elements = ag.function([], ag.from_sympy(
        [2 * A * A.T + A.I, sympy.Trace(A) + A[0, 1], sympy.Sum(B[k] * x, (k, 0, 2)), sympy.Matrix([x, 2])],
        {A: a, B: np.arange(3.0), x: arrays[0]},
    ), mode="NUMPY")()  # fmt: skip
    np.testing.assert_allclose(found, 2 * a @ a.T + np.linalg.inv(a))
    assert traced == 8 and summed.tolist() == [1.5, 3.0] and elements.tolist() == [[[0.5], [2]], [[1], [2]]]
    named = ag.from_sympy(sympy.Function("g")(x) + 1, {x: arrays[0]}, functions={"g": T.exp})
    np.testing.assert_allclose(named.eval(), np.exp(arrays[0]) + 1)
    assert np.isnan(ag.from_sympy(sympy.sqrt(x), {x: -1.0}).eval())


@pytest.mark.parametrize("wrong, kind, message", [
    (lambda: ag.from_sympy(x + y, [x]), ValueError, "symbol y has no value; add it to symbols"),
    (lambda: ag.from_sympy(x + y, {x: 1.0}), ValueError, "symbol y has no value"),
    (lambda: ag.from_sympy(x, [x, x]), ValueError, "symbols are x, x; expected distinct names"),
    (lambda: ag.from_sympy(x, [3]), TypeError, "symbols has 3; expected symbols of SymPy"),
    (lambda: ag.from_sympy(x, {x: "text"}), TypeError, "the value of x is 'text'; expected a variable or numbers"),
    (lambda: ag.from_sympy(sympy.Function("g")(x), {x: 1.0}), TypeError, "no meaning of g, .* functions={'g'"),
    (lambda: ag.from_sympy(sympy.Integral(x, x), {x: 1.0}), TypeError, "no meaning of Integral"),
    (lambda: ag.from_sympy(sympy.Sum(k * x, (k, 1, y)), {x: 1.0, y: 2}), ValueError, "bounds 1 and y of k"),
    (lambda: ag.from_sympy("x", {x: 1.0}), TypeError, "got 'x'; expected an expression of SymPy"),
    (ag.from_sympy(x, [x]), TypeError, r"takes 1 argument \(x\), got 0"),
])  # fmt: skip
def test_errors(wrong, kind, message):
    with pytest.raises(kind, match=message):
        wrong()
