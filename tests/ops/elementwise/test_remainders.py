"""Remainders of floats: NumPy's bits for every quotient, in vectors and alone, and vectors where the C is read."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

WORDS = {"float32": "uint32", "float64": "uint64"}


def remainders(dtype):
    x, y = T.vector("x", dtype=dtype), T.vector("y", dtype=dtype)
    return ag.function([x, y], [x % y, x // y, T.fmod(x, y)])


def agree(f, a, b):
    """Compare with NumPy by bits, and the first elements alone; one NaN is as good as another."""
    with np.errstate(all="ignore"):
        expected = a % b, a // b, np.fmod(a, b)
    for count in (len(a), 9, 1):
        for found, want in zip(f(a[:count], b[:count]), expected, strict=True):
            nan, word = np.isnan(want[:count]), WORDS[a.dtype.name]
            np.testing.assert_array_equal(np.isnan(found), nan)
            np.testing.assert_array_equal(found.view(word)[~nan], want[:count].view(word)[~nan])


@pytest.mark.parametrize("dtype", WORDS)
def test_special_values(dtype):
    info = np.finfo(dtype)
    sizes = [0, 0.1, 1, 2, 3, 7, 1e10, np.inf, info.max, info.tiny, info.smallest_subnormal]
    values = np.array([np.nan, *sizes, *(-size for size in sizes), -0.0], dtype)
    a, b = (side.ravel() for side in np.meshgrid(values, values))
    agree(remainders(dtype), a, b)


@pytest.mark.parametrize("dtype", WORDS)
def test_quotients_of_every_size(dtype):
    random, n, f = np.random.default_rng(0), 20_000, remainders(dtype)
    bits = random.integers(0, np.iinfo(WORDS[dtype]).max, (2, n), WORDS[dtype], endpoint=True).view(dtype)
    agree(f, *bits)
    a, b = random.standard_normal((2, n)).astype(dtype)
    for size in (1, 1e3, 2**22, 2**25):
        agree(f, a * np.asarray(size, dtype), b)
    small = np.finfo(dtype).smallest_subnormal
    agree(f, a * small * 1000, b * small * 100)


@pytest.mark.parametrize("dtype", WORDS)
def test_quotients_beside_whole_numbers(dtype):
    random, n, f = np.random.default_rng(1), 20_000, remainders(dtype)
    b, whole = random.standard_normal(n).astype(dtype), random.integers(-1000, 1000, n).astype(dtype)
    product = whole * b
    for a in (product, *(np.nextafter(product, np.asarray(side, dtype)) for side in (np.inf, -np.inf))):
        agree(f, a, b)
    agree(f, whole, random.integers(-9, 9, n).astype(dtype))


@pytest.mark.parametrize("dtype", WORDS)
def test_an_operand_that_stays(dtype):
    x, s = T.vector("x", dtype=dtype), T.scalar("s", dtype=dtype)
    f = ag.function([x, s], [x % s, x // s, s % x, s // x])
    values = np.array([0.5, -0.5, 3, -3, 0, -0.0, np.inf, -np.inf, np.nan] * 5, dtype)
    for number in np.array([1, -1, 0.3, 0, -0.0, np.inf, np.nan], dtype):
        with np.errstate(all="ignore"):
            expected = values % number, values // number, number % values, number // values
        for found, want in zip(f(values, number), expected, strict=True):
            np.testing.assert_array_equal(found, want)
            np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(want[want == 0]))
