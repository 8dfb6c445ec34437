"""Exponentials and powers of complex numbers: NumPy's values, also where parts are zero, infinite, NaN or large."""

import itertools

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

PARTS = [0.0, -0.0, 1.0, -1.0, 0.3, np.inf, -np.inf, np.nan, 88.8, 170.0, -103.0, 710.0, -745.0, 1400.0]
DTYPES = pytest.mark.parametrize("dtype", ["complex64", "complex128"])


def at_special_parts(dtype):
    return np.array([complex(a, b) for a, b in itertools.product(PARTS, PARTS)]).astype(dtype)


def agree(found, wanted, ulps):
    """Whether two real arrays have the same special values, zeros of one sign, and are a few ulp apart."""
    with np.errstate(all="ignore"):
        near = np.abs(found - wanted) <= ulps * np.spacing(np.abs(wanted))
    same = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
    return np.all(same | (np.isnan(found) & np.isnan(wanted)) | (near & (wanted != 0)))


@DTYPES
def test_exponentials(dtype):
    z = T.vector("z", dtype=dtype)
    f = ag.function([z], T.exp(z))
    rng = np.random.default_rng(0)
    ordinary = (rng.normal(size=1000) * 20 + 1j * rng.normal(size=1000) * 30).astype(dtype)
    for values in (at_special_parts(dtype), ordinary):
        with np.errstate(all="ignore"):
            wanted, found = np.exp(values), f(values)
        # Zeros and infinities of an infinite part without an angle have no sign of their own.
        lost = np.isinf(values.real) & ~np.isfinite(values.imag)
        assert agree(found.real[~lost], wanted.real[~lost], 4) and agree(found.imag[~lost], wanted.imag[~lost], 4)
        assert agree(np.abs(found.real[lost]), np.abs(wanted.real[lost]), 0)
        assert agree(np.abs(found.imag[lost]), np.abs(wanted.imag[lost]), 0)
        assert f(values[::-3]).tobytes() == f(values)[::-3].tobytes()


@DTYPES
@pytest.mark.parametrize("exponent", [2, -1, 0.5, 3, 4, -2])
def test_powers(dtype, exponent):
    """NumPy's operator multiplies for 2 and 3, divides for -1 and takes the root for 0.5."""
    z = T.vector("z", dtype=dtype)
    f = ag.function([z], z**exponent)
    rng = np.random.default_rng(1)
    values = (rng.normal(size=300) + 1j * rng.normal(size=300)).astype(dtype)
    for given in (values, np.zeros(3, dtype), -np.zeros(3, dtype)):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(f(given), given**exponent, rtol=40 * np.finfo(dtype).eps)
    if exponent == 2:
        assert "square(z)" in ag.pprint(z**exponent)
