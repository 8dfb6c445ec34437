"""Weighted sums of elements at given positions, and their derivatives: C against the meaning in NumPy."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

LENGTHS = [(2, 3, 50, 4, 130), (1, 2, 2, 1, 64), (1, 1, 1, 2, 5), (3, 2, 7, 3, 65), (0, 2, 3, 2, 3), (2, 2, 9, 0, 3)]
"""Images, channels, elements of a plane, positions of a place, places."""


def values(lengths, dtype):
    n, c, s, k, p = lengths
    rng = np.random.default_rng(sum(lengths))
    at = rng.integers(-1, s, (n, k, p)).astype("int32")
    if k > 1 and s > 1:  # many positions are neighbours, as those of interpolation
        at[:, :2, ::3] = rng.integers(0, s - 1, at[:, :1, ::3].shape) + np.array([[0], [1]])
    x, w, g = (rng.normal(size=size).astype(dtype) for size in ((n, c, s), (n, k, p), (n, c, p)))
    return x, at, w, g, s


@pytest.fixture(scope="module", params=["float32", "float64"])
def functions(request):
    x, w, g = (T.tensor(name, request.param, (None,) * 3) for name in "xwg")
    at, s = T.tensor("at", "int32", (None,) * 3), T.lscalar("s")
    outputs = [T.WeightedGather()(x, at, w), T.WeightedScatter()(g, at, w, s), T.GatherProducts()(x, at, g)]
    return request.param, *(ag.function([x, at, w, g, s], outputs, mode=mode) for mode in (None, "NUMPY"))


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_c_and_meaning(functions, lengths):
    dtype, compiled, meaning = functions
    given = values(lengths, dtype)
    for found, expected in zip(compiled(*given), meaning(*given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 if dtype == "float32" else 1e-12)


def test_an_infinite_element_that_no_position_chooses(functions):
    dtype, compiled, meaning = functions
    x, at, w, g, s = values(LENGTHS[0], dtype)
    x[:, :, 0], at[at == 0] = np.inf, -1
    for function in (compiled, meaning):
        gathered, _, products = function(x, at, w, g, s)
        assert np.isfinite(gathered).all()
        assert np.isfinite(products).all()


def test_positions_out_of_bounds_and_other_lengths(functions):
    dtype, compiled, meaning = functions
    x, at, w, g, s = values(LENGTHS[0], dtype)
    for function in (compiled, meaning):
        for wrong in (-2, s):
            bad = at.copy()
            bad[-1, -1, -1] = wrong
            with pytest.raises(IndexError, match="a position is out of the bounds of a plane"):
                function(x, bad, w, g, s)
        with pytest.raises(ValueError, match="length"):
            function(x, at, w[:, :, 1:], g, s)


def test_threads_and_longer_operands_do_not_change_a_bit(functions):
    dtype, compiled, _ = functions
    x, at, w, g, s = values((2, 40, 900, 4, 900), dtype)
    gathered, _, products = compiled(x, at, w, g, s)
    at_most, _, some = compiled(x, at[:, :, :70], w[:, :, :70], g[:, :, :70], s)
    np.testing.assert_array_equal(at_most, gathered[:, :, :70])
    np.testing.assert_array_equal(some, products[:, :, :70])
