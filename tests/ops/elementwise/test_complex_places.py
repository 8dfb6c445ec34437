"""Complex arithmetic gives a number the same bits wherever it stands in an array, and those of NumPy."""

import operator

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

OPERATIONS = [operator.mul, operator.truediv, lambda x, y: x * y + x, lambda x, y: x / y - y * y]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_bits_do_not_depend_on_the_place(dtype, operation):
    x, y = T.vector("x", dtype), T.vector("y", dtype)
    f = ag.function([x, y], operation(x, y))
    rng = np.random.default_rng(0)
    a, b = ((rng.standard_normal(203) + 1j * rng.standard_normal(203)).astype(dtype) for _ in range(2))
    whole = f(a, b)
    alone = np.concatenate([f(a[k : k + 1], b[k : k + 1]) for k in range(len(a))])
    strided = f(np.repeat(a, 2)[::2], np.repeat(b, 2)[::2])
    assert whole.tobytes() == alone.tobytes() == strided.tobytes()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_of_real_arithmetic(dtype):
    real = "float32" if dtype == "complex64" else "float64"
    x, y, z = (T.vector(name, real) for name in "xyz")
    f = ag.function([x, y, z], (x * y - z) + 1j * (x * z + y))
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(203).astype(real) for _ in range(3))
    whole = f(a, b, c)
    alone = np.concatenate([f(a[k : k + 1], b[k : k + 1], c[k : k + 1]) for k in range(len(a))])
    assert whole.tobytes() == alone.tobytes()
    assert whole.tobytes() == (a * b - c + 1j * (a * c + b)).astype(dtype).tobytes()
