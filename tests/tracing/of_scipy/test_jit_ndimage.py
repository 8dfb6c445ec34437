"""Filters of `scipy.ndimage` under `ag.jit`: SciPy's values, dtypes and rounding, in all modes."""

import numpy as np
import pytest

import arignote as ag

ndimage = pytest.importorskip("scipy.ndimage")
RNG = np.random.default_rng(0)
ARRAYS = [
    RNG.standard_normal((5, 7)), RNG.standard_normal(9).astype("f4"), RNG.integers(-50, 50, (6, 5)),
    RNG.integers(0, 255, (4, 6)).astype("u1"), RNG.standard_normal((3, 4, 2)), RNG.standard_normal((1, 3)),
    RNG.standard_normal((4, 4)) + 1j,
]  # fmt: skip
KERNEL = np.array([[1, 2, 0], [-1, 0.5, 3]])
MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-wrap"]
FILTERS = {
    "gaussian": lambda x, m: ndimage.gaussian_filter(x, 1.3, mode=m, cval=1.5),
    "slopes": lambda x, m: ndimage.gaussian_filter(x, 1.0, order=1, mode=m),
    "line": lambda x, m: ndimage.gaussian_filter1d(x, 0.8, 0, mode=m, truncate=3.0),
    "wide": lambda x, m: ndimage.gaussian_filter1d(x, 12.0, mode=m),
    "uniform": lambda x, m: ndimage.uniform_filter(x, 4, mode=m, cval=2),
    "shifted": lambda x, m: ndimage.uniform_filter1d(x, 5, axis=0, mode=m, origin=1),
    "correlate1d": lambda x, m: ndimage.correlate1d(x, [1, 2, -1], axis=0, mode=m),
    "convolve1d": lambda x, m: ndimage.convolve1d(x, [1, 2, -1, 0.5], mode=m, cval=3),
    "complex": lambda x, m: ndimage.correlate1d(x, [1, 2j, 3], mode=m),
    "laplace": lambda x, m: ndimage.laplace(x, mode=m),
    "sobel": lambda x, m: (ndimage.sobel(x, mode=m), ndimage.prewitt(x, 0, mode=m)),
    "gaussians": lambda x, m: (
        ndimage.gaussian_laplace(x, 1.0, mode=m), ndimage.gaussian_gradient_magnitude(x, 1.0, mode=m)
    ),
    "extrema": lambda x, m: (ndimage.maximum_filter(x, 3, mode=m), ndimage.minimum_filter(x, 4, mode=m, cval=-1)),
    "convolve": lambda x, m: ndimage.convolve(x, np.ones((2,) * x.ndim), mode=m),
    "kernel": lambda x, m: ndimage.correlate(x, KERNEL, mode=m, cval=2.0, origin=(0, -1)),
    "output": lambda x, m: ndimage.gaussian_filter(x, 1.0, output=np.float64, mode=m, radius=2),
}  # fmt: skip


def results(value):
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FILTERS)
def test_filters_are_scipys(name, mode):
    compiled = ag.jit(lambda x: FILTERS[name](x, mode), engine="numpy")
    for x in ARRAYS:
        try:
            expected = results(FILTERS[name](x, mode))
        except (RuntimeError, TypeError, ValueError):
            with pytest.raises((RuntimeError, TypeError, ValueError)):
                compiled(x)
            continue
        for got, wanted in zip(results(compiled(x)), expected, strict=True):
            assert got.dtype == wanted.dtype
            if wanted.dtype.kind in "iu":
                np.testing.assert_array_equal(got, wanted)
            else:
                tolerance = 1e-5 if wanted.dtype.name in ("float32", "complex64") else 1e-12
                np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def test_compiled_filters_and_weights_of_the_call():
    x = RNG.standard_normal((30, 20))
    for f in [lambda x: ndimage.gaussian_filter(x, 2), lambda x: ndimage.sobel(x) + 1,
              lambda x: ndimage.laplace(x, mode="wrap")]:  # fmt: skip
        np.testing.assert_allclose(ag.jit(f)(x), f(x), rtol=1e-12, atol=1e-12)
    f = ag.jit(lambda x, w: ndimage.correlate(x, w) * 1)
    for weights in (KERNEL, np.ones((3, 3))):
        np.testing.assert_allclose(f(x, weights), ndimage.correlate(x, weights), rtol=1e-12, atol=1e-12)
    g = ag.jit(lambda x, s: ndimage.gaussian_filter(x, s) * 1)
    for sigma in (1.5, 2.5):
        np.testing.assert_allclose(g(x, sigma), ndimage.gaussian_filter(x, sigma), rtol=1e-12, atol=1e-12)


def test_filters_have_derivatives():
    x = RNG.standard_normal((5, 6))
    found = ag.grad(lambda x: (ndimage.gaussian_filter(x, 1.0) ** 2).sum())(x)
    moved = x.copy()
    moved[1, 2] += 1e-6
    slope = (ndimage.gaussian_filter(moved, 1.0) ** 2).sum() - (ndimage.gaussian_filter(x, 1.0) ** 2).sum()
    assert found[1, 2] == pytest.approx(slope / 1e-6, rel=1e-4)


@pytest.mark.parametrize("function, message", [
    (lambda x: ndimage.gaussian_filter(x, 1, output=x), "takes no array as output="),
    (lambda x: ndimage.maximum_filter(x, footprint=np.eye(2)), "takes size=, no footprint="),
    (lambda x: ndimage.gaussian_filter(x, x.sum()), "sigma depends on values"),
    (lambda x: ndimage.correlate(x, np.ones((20, 20))), "takes up to 256 weights"),
])  # fmt: skip
def test_what_is_refused(function, message):
    with pytest.raises(TypeError, match=message):
        ag.jit(function)(np.ones((4, 4)))
