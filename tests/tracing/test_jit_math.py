"""Python's `math` and `cmath`, and parts of complex numbers, under `ag.jit`: Python numbers with Python's values."""

import cmath
import math

import numpy as np
import pytest

import arignote as ag

X = np.linspace(-2, 2, 5)


def parts(values):
    return [p for v in values for p in (parts(v) if isinstance(v, tuple) else [v])]


@pytest.mark.parametrize("function", [
    lambda a: (math.dist(a, a[::-1]), math.dist((a[0], 1), (0, a[1])), math.fsum(a), math.fsum([a[0], 2])),
    lambda a: (math.hypot(a[0], a[1]), math.hypot(a[0], a[1], a[3]), math.hypot(*a), math.hypot(a[0])),
    lambda a: (math.erfc(a[1]), math.ldexp(a[1], 2), math.frexp(a[1]), math.modf(a[1] + 0.5), math.log(a[3], 3)),
    lambda a: (math.remainder(a[3] * 5, 3), math.remainder(-a[3], 2), math.remainder(a[3] * 3, 2)),
    lambda a: (math.remainder(a[3] * 7, -4), math.remainder(a[3], math.inf), math.remainder(a[2], 3)),
    lambda a: (math.isclose(a[0], a[1]), math.isclose(a[0], a[0] + 1e-12), math.isclose(a[0], a[1], abs_tol=2)),
    lambda a: (cmath.exp(1j * a[0]), cmath.sqrt(a[0]), cmath.log(a[0]), cmath.log(a[0], 2), cmath.log10(a[0])),
    lambda a: (cmath.phase(a[0]), cmath.polar(a[0] + 1j), cmath.rect(a[4], a[3]), cmath.isclose(a[0], a[0])),
    lambda a: (cmath.cos(a[0]), cmath.atan(a[0] + 1j), cmath.isnan(a[0]), cmath.acos(a[0] * 1j), cmath.isinf(1 / a[0])),
    lambda a: (complex(a[0], 1).real, complex(a[0], 1).imag, complex(a[0], 1).conjugate(), float(a[0]).imag),
])  # fmt: skip
def test_functions_give_numbers_of_python(function):
    for got, expected in zip(parts(ag.jit(function, engine="numpy")(X)), parts(function(X)), strict=True):
        assert type(got) is type(expected)
        np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("count", [1, 5, 8])
def test_lengths_with_complex_numbers(count):
    def spectrum(a):
        n = len(a)
        factors = [cmath.exp(-2j * math.pi * k / n) for k in range(3)]
        return (*factors, n * 2j, 1j / n, n - 1j, (0.5 + 1j) ** n, n == 5 + 0j, sum(a[k] * 1j / n for k in range(n)))

    x = np.arange(1.0, count + 1)
    jitted = ag.jit(spectrum, engine="numpy")
    for values in (x, np.append(x, 3.0)):
        for got, expected in zip(jitted(values), spectrum(values), strict=True):
            assert type(got) is type(expected)
            np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_steps_to_escape():
    def steps(c, most):
        z = 0j
        for i in range(most):
            if z.real * z.real + z.imag * z.imag > 4:
                return i
            z = z * z + c
        return most

    jitted = ag.jit(steps)
    for c in (0.3 + 0.5j, 1 + 0.5j, -2.5 + 0j):
        assert jitted(c, 50) == steps(c, 50)


def test_derivatives_of_distances():
    gradient = ag.grad(ag.jit(lambda a: math.dist(a, a[::-1] * 3)))(X + 3)
    step = 1e-6
    f = lambda v: math.dist(v, v[::-1] * 3)  # noqa: E731
    expected = [(f(X + 3 + e) - f(X + 3 - e)) / (2 * step) for e in step * np.eye(5)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


VALUES = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 1000.0, math.inf, -math.inf, math.nan, -3.0]
OF_ONE = [
    "sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "fabs", "erf", "erfc", "degrees", "gamma",
    "lgamma", "asinh", "acosh", "atanh", "cbrt", "exp2",
]  # fmt: skip


def outcome(function, *given):
    try:
        return function(*given)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        return type(error), str(error)


def require_same(got, expected):
    if isinstance(expected, tuple):
        assert got == expected
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in OF_ONE if hasattr(math, n)])
def test_errors_of_functions_of_one_number_are_those_of_python(name):
    function = lambda a: getattr(math, name)(a[0] * 1.0)  # noqa: E731
    compiled = ag.jit(function, engine="numpy")
    for v in VALUES:
        require_same(outcome(compiled, np.array([v])), outcome(function, np.array([v])))


@pytest.mark.parametrize("name", ["pow", "fmod", "copysign", "atan2", "remainder", "hypot", "log"])
def test_errors_of_functions_of_two_numbers_are_those_of_python(name):
    function = lambda a: getattr(math, name)(a[0] * 1.0, a[1] * 1.0)  # noqa: E731
    compiled = ag.jit(function, engine="numpy")
    for v in VALUES:
        for u in VALUES:
            require_same(outcome(compiled, np.array([v, u])), outcome(function, np.array([v, u])))


@pytest.mark.parametrize("name", ["sqrt", "exp", "log", "log10", "atanh", "cosh", "tan"])
def test_errors_of_complex_functions_are_those_of_python(name):
    function = lambda a: getattr(cmath, name)(a[0] * 1.0)  # noqa: E731
    compiled = ag.jit(function, engine="numpy")
    for v in (0, 1, -1, 1j, -1j, 1000, 1000j, 2 + 3j):
        require_same(outcome(compiled, np.array([v]) + 0j), outcome(function, np.array([v]) + 0j))


def roots(x):
    found = np.zeros(len(x))
    for i in range(len(x)):
        found[i] = math.sqrt(x[i])
    return found


def logarithms(x):
    total, v = 0.0, x[0]
    while v > -3:
        total += math.log(v)
        v -= 1
    return total


def guarded(x):
    return math.sqrt(x[0]) if x[0] > 0 else 0.0


def caught(x):
    try:
        return math.sqrt(x[0])
    except ValueError:
        return -1.0


@pytest.mark.filterwarnings("ignore:.*the call ran in Python")
@pytest.mark.parametrize("function", [roots, logarithms, guarded, caught])
def test_errors_in_loops_and_branches(function):
    compiled = ag.jit(function)
    for x in (np.ones(5), -np.ones(5), np.array([4.0, -1.0]), np.array([4.5, 1.0])):
        require_same(outcome(compiled, x), outcome(function, x))


def test_errors_under_maps_and_derivatives():
    mapped = ag.vmap(ag.jit(roots))
    np.testing.assert_array_equal(mapped(np.ones((2, 3))), np.ones((2, 3)))
    with pytest.raises(ValueError, match="math domain error"):
        mapped(np.array([[1.0, 1.0], [1.0, -1.0]]))
    gradient = ag.grad(lambda x: math.sqrt(x) * 2)
    assert gradient(4.0) == 0.5
    with pytest.raises(ValueError, match="math domain error"):
        gradient(-4.0)
    with pytest.raises(OverflowError):
        ag.vmap(ag.jit(lambda n: int(n) * int(n) * int(n)))(np.array([3, 2**40]))


def test_a_root_of_squares_needs_no_check():
    found = ag.jit(lambda x, y: math.sqrt(x * x + y * y) + math.sqrt(abs(x)))
    graph = found.compiled(1.0, 2.0).unoptimized_graph
    assert [node for node in graph.order if node.op.name == "check"] == []
    read = ag.jit(lambda x, i: math.sqrt(x[i] * x[i] + x[i - 1] * x[i - 1]))
    graph = read.compiled(np.array([3.0, 4.0]), 1).unoptimized_graph
    assert [node for node in graph.order if node.op.name == "check"] == []
