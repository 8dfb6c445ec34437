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
