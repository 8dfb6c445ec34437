"""Batches of square matrices of 2 to 4 rows: the values of NumPy, and equal bits wherever a product stands."""

import numpy as np
import pytest

import arignote as ag


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_little_squares(dtype, size):
    multiply = ag.jit(lambda a, b: a @ b)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    for count in (0, 1, 7, 100):
        a, b = np.random.default_rng(0).standard_normal((2, count, size, size)).astype(dtype)
        expected = np.matmul(a.astype("float64"), b.astype("float64"))
        for left in (a, np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2)):
            np.testing.assert_allclose(multiply(left, b), expected, rtol=tolerance, atol=tolerance)
        found = multiply(a, b)
        np.testing.assert_array_equal(multiply(a[:1], b[:1]), found[:1])
        np.testing.assert_array_equal(multiply(a[::-1].copy(), b[::-1].copy())[::-1], found)


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("m, n, k", [(2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 7, 3), (9, 16, 2), (4, 5, 0), (2, 15, 40)])
def test_little_complex_products_have_one_result_in_any_layout_and_batch(dtype, m, n, k):
    multiply = ag.jit(lambda a, b: a @ b)
    rng = np.random.default_rng(1)
    tolerance = 1e-12 if dtype == "complex128" else 2e-5

    def of(*shape):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)

    for count in (1, 7):
        a, b = of(count, m, k), of(count, k, n)
        found = multiply(a, b)
        np.testing.assert_allclose(found, np.matmul(a, b), rtol=tolerance, atol=10 * tolerance)
        transposed = a.swapaxes(1, 2).copy().swapaxes(1, 2), b.swapaxes(1, 2).copy().swapaxes(1, 2)
        for left, right in ((transposed[0], b), (a, transposed[1]), transposed, (a[:, ::-1].copy()[:, ::-1], b)):
            assert multiply(left, right).tobytes() == found.tobytes()
        assert multiply(a[-1], b[-1]).tobytes() == found[-1].tobytes()


def test_not_a_number_and_infinities_of_little_complex_products():
    """An element that no product with them reaches stays finite."""
    a, b = np.ones((2, 3, 3), complex)
    a[0, 1], b[2, 2] = complex("nan"), complex("inf")
    with np.errstate(all="ignore"):
        found, expected = ag.jit(lambda a, b: a @ b)(a, b), a @ b
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
