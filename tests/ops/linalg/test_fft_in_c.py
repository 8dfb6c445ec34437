"""Fourier transforms as C computes them: errors against sums in long doubles, forms, layouts, threads."""

from functools import cache

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, 20, 26, 36, 48, 64, 97, 100, 127, 128, 210, 254]
"""Powers of each radix, products of several, odd primes with passes of their own and without."""
SINGLE = {"float64": "complex128", "float32": "complex64"}


@cache
def compiled(dtype: str) -> ag.Function:
    """Return the function of complex and real rows, of half spectra and their length; no step calls NumPy."""
    z, x, h = (T.tensor(d, (None, None)) for d in (SINGLE[dtype], dtype, SINGLE[dtype]))
    n = T.lscalar()
    results = [T.fft.fft(z), T.fft.ifft(z, norm="ortho"), T.fft.fft(z, axis=0, norm="forward"), T.fft.rfft(x)]
    results += [T.fft.rfft(x, axis=0), T.fft.irfft(h, n), T.fft.ifft(z)]
    function = ag.function([z, x, h, n], results)
    assert not function.program.calls_back
    return function


def exact(z: np.ndarray, sign: int) -> np.ndarray:
    """Return the transforms of rows, as sums in long doubles."""
    n = z.shape[-1]
    turns = np.arange(n)[:, None] * np.arange(n)[None] % n
    angles = turns.astype(np.longdouble) * (8 * np.arctan(np.longdouble(1)) / n)
    return z.astype(np.clongdouble) @ (np.cos(angles) + sign * 1j * np.sin(angles))


def expected(z: np.ndarray, x: np.ndarray, h: np.ndarray, n: int) -> list[np.ndarray]:
    """Return the results of `compiled` in long doubles."""
    rest = h[:, 1 : (n + 1) // 2][:, ::-1].conj()
    whole = np.concatenate([h, rest], axis=1)
    whole[:, 0] = whole[:, 0].real
    if n % 2 == 0:
        whole[:, n // 2] = whole[:, n // 2].real
    half, rows = n // 2 + 1, len(z)
    return [
        exact(z, -1), exact(z, 1) / np.sqrt(np.longdouble(n)), exact(z.T, -1).T / rows, exact(x, -1)[:, :half],
        exact(x.T, -1).T[: rows // 2 + 1], exact(whole, 1).real / n, exact(z, 1) / n,
    ]  # fmt: skip


def given(rng: np.random.Generator, dtype: str, rows: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    def complex_rows(length: int) -> np.ndarray:
        pairs = rng.standard_normal((2, rows, length))
        return (pairs[0] + 1j * pairs[1]).astype(SINGLE[dtype])

    z, x = complex_rows(n), rng.standard_normal((rows, n)).astype(dtype)
    if rng.random() < 0.5:
        z, x = np.asfortranarray(z), np.repeat(x, 2, 1)[:, ::2]
    return z, x, complex_rows(n // 2 + 1), n


def error(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the root of the mean square of errors, relative to that of the numbers."""
    size = np.sqrt(np.mean(np.abs(wanted) ** 2))
    return float(np.sqrt(np.mean(np.abs(found - wanted) ** 2)) / size) if size else 0.0


def bound(dtype: str, n: int) -> float:
    """Return the error that a transform may have: that of random roundings in each of log2(n) passes.

    Lengths with a prime above 113 are convolutions, of three transforms.
    """
    passes = np.sqrt(np.log2(n)) * (np.sqrt(3) if max(prime_factors(n), default=1) > 113 else 1)
    return float((0.4 + 0.6 * passes) * np.finfo(dtype).eps)


def prime_factors(n: int) -> list[int]:
    return [p for p in range(2, n + 1) if n % p == 0 and all(p % q for q in range(2, p))]


@pytest.mark.parametrize("dtype", SINGLE)
def test_errors_are_rounding(dtype):
    rng = np.random.default_rng(5)
    for n in LENGTHS:
        for rows in (1, 9):
            values = given(rng, dtype, rows, n)
            for k, (found, wanted) in enumerate(zip(compiled(dtype)(*values), expected(*values), strict=True)):
                assert found.shape == wanted.shape
                assert error(found, wanted) <= bound(dtype, rows if k in (2, 4) else n), (n, rows, k)


@pytest.mark.long
def test_errors_are_no_larger_than_those_of_numpy():
    rng = np.random.default_rng(6)
    for n in (64, 100, 243, 256, 509):
        z, x, h, _ = given(rng, "float64", 4, n)
        results, wanted = compiled("float64")(z, x, h, n), expected(z, x, h, n)
        for k, numpys in ((0, np.fft.fft(z)), (3, np.fft.rfft(x)), (5, np.fft.irfft(h, n))):
            assert error(results[k], wanted[k]) <= 1.1 * error(numpys, wanted[k]), (n, k)


def test_threads_and_special_numbers():
    rng = np.random.default_rng(7)
    z, x = T.tensor("complex128", (None, None)), T.dmatrix()
    results = [T.fft.fft(z), T.fft.rfft(x), T.fft.ifft(z, axis=0)]
    one, several = (ag.function([z, x], results, threads=threads) for threads in (1, 2))
    values, *_ = given(rng, "float64", 300, 250)
    others = rng.standard_normal((301, 243))
    for a, b in zip(one(values, others), several(values, others), strict=True):
        assert a.tobytes() == b.tobytes()
    others[3, 5], others[4, 0] = np.nan, np.inf
    found = one(values, others)[1]
    assert np.isnan(found[3]).all() and not np.isfinite(found[4]).any() and np.isfinite(found[[2, 5]]).all()
    for k in (0, 2, 300):  # a row has the bits that it has among others
        assert one(values[:1], others[k : k + 1])[1].tobytes() == found[k].tobytes()
    with pytest.raises(ValueError, match="takes 1 number or more, got 0"):
        one(np.zeros((2, 0), complex), others)


@pytest.mark.long
@pytest.mark.parametrize("dtype", SINGLE)
def test_campaign(dtype):
    rng = np.random.default_rng(8)
    for n in map(int, [*range(1, 140), *rng.integers(140, 600, 12)]):
        rows = int(rng.integers(1, 20))
        values = given(rng, dtype, rows, n)
        for k, (found, wanted) in enumerate(zip(compiled(dtype)(*values), expected(*values), strict=True)):
            assert error(found, wanted) <= bound(dtype, rows if k in (2, 4) else n), (n, k)
