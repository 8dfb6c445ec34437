"""Piecewise polynomials of `scipy.interpolate` under `ag.jit`."""

import numpy as np
import pytest

import arignote as ag

interpolate = pytest.importorskip("scipy.interpolate")
X = np.array([0.0, 0.5, 1.2, 2.0, 3.1, 3.5])
Y = np.sin(X)
Q = np.array([0.1, 1.2, 2.9, 3.5, -1.0, 5.0, np.nan])
KNOWN = [
    interpolate.CubicSpline(X, Y), interpolate.PchipInterpolator(X, Y), interpolate.Akima1DInterpolator(X, Y),
    interpolate.CubicSpline(X, Y, extrapolate=False), interpolate.CubicSpline(X, np.stack([Y, Y**2], 1)),
]  # fmt: skip


@pytest.mark.parametrize("spline", KNOWN)
def test_values_of_a_spline_of_the_environment(spline):
    def values(q):
        return spline(q)

    np.testing.assert_allclose(ag.jit(values)(Q), spline(Q), rtol=1e-12, atol=1e-13)
    derived = spline.derivative()
    slopes = ag.jit(lambda q: (spline(q, 1), derived(q)))(Q)
    for got in slopes:
        np.testing.assert_allclose(got, derived(Q), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("ends", ["not-a-knot", "natural", "clamped", ("natural", "clamped")])
@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_splines_of_symbolic_points(count, ends):
    def f(x, y, q):
        return interpolate.CubicSpline(x, y, bc_type=ends)(q)

    compiled = ag.jit(f)
    for y in (Y, np.stack([Y, Y**2], 1)):
        given = X[:count], y[:count], Q
        np.testing.assert_allclose(compiled(*given), f(*given), rtol=1e-11, atol=1e-12)


def test_derivatives_of_splines():
    def f(y):
        return interpolate.CubicSpline(X, y)(1.0) ** 2

    found = ag.grad(f)(Y)
    for k in range(len(Y)):
        step = 1e-6 * (np.arange(len(Y)) == k)
        assert found[k] == pytest.approx((f(Y + step) - f(Y - step)) / 2e-6, abs=1e-7)


def test_other_ends_are_refused():
    with pytest.raises(TypeError, match="bc_type= one of"):
        ag.jit(lambda y: interpolate.CubicSpline(X, y, bc_type="periodic")(1.0))(Y - Y)
