"""Quotients and remainders of integers in vector loops, which divide no integers: NumPy's in all bits."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def numbers(dtype, rng, count):
    """Numbers of all sizes, near powers of two and at the ends of the range."""
    info = np.iinfo(dtype)
    powers = [2**k + d for k in range(info.bits + 1) for d in (-2, -1, 0, 1, 2)]
    ends = [n for p in powers for n in (p, -p) if info.min <= n <= info.max]
    wide = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    narrow = wide >> rng.integers(0, info.bits, count).astype(dtype)
    return np.concatenate([np.array(ends, dtype), wide, narrow])


def compiled(dtype):
    x, y, d = T.vector("x", dtype=dtype), T.vector("y", dtype=dtype), T.scalar("d", dtype=dtype)
    return ag.function([x, y], [x // y, x % y]), ag.function([x, d], [x // d, x % d])


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", DTYPES)
def test_quotients_and_remainders(dtype):
    rng = np.random.default_rng(0)
    by_each, by_one = compiled(dtype)
    x = numbers(dtype, rng, 2000)
    multiples = x.copy()
    with np.errstate(all="ignore"):
        for shift in (0, 1, 7, 100, 999):
            y = np.roll(x, shift)
            multiples = x // np.where(y == 0, 1, y) * y  # and one less, and one more
            for a in (x, multiples, multiples - multiples.dtype.type(1), multiples + multiples.dtype.type(1)):
                for found, wanted in zip(by_each(a, y), (a // y, a % y), strict=True):
                    np.testing.assert_array_equal(found, wanted)
        for d in numbers(dtype, rng, 20)[:: 3 if "64" in dtype else 1]:
            for found, wanted in zip(by_one(x, d), (x // d, x % d), strict=True):
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_all_pairs_of_bytes(dtype):
    by_each, _ = compiled(dtype)
    all_bytes = np.arange(256).astype(dtype)
    x, y = np.repeat(all_bytes, 256), np.tile(all_bytes, 256)
    with np.errstate(all="ignore"):
        for found, wanted in zip(by_each(x, y), (x // y, x % y), strict=True):
            np.testing.assert_array_equal(found, wanted)
