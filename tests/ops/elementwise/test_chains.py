"""Long chains of dependent operations, of which several steps stand side by side (lowering/chains.py)."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

RNG = np.random.default_rng(11)
STEPS = [lambda xp, z, s, k: 0.9 * xp.sqrt(z * s + (0.5 + 0.01 * k)), lambda xp, z, s, k: (z * s + 0.25) * s - k]
"""Steps whose results NumPy rounds as C does."""


def chain(xp, x, y, step, count):
    z, s = xp.abs(x), xp.abs(y) / 2
    for k in range(count):
        z = step(xp, z, s, k)
    return z


def compiled(step, count, dtype, axes=1, **options):
    x, y = (T.tensor(n, dtype, (None,) * axes) for n in "xy")
    return ag.function([x, y], chain(T, x, y, step, count), **options)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("number", range(len(STEPS)))
def test_lengths_and_strides(number, dtype):
    f = compiled(STEPS[number], 20, dtype)
    assert "_u2" in f.c_source()
    for n in (0, 1, 2, 15, 16, 47, 48, 49, 97, 1024, 1025, 3333):
        x, y = RNG.normal(size=(2, n)).astype(dtype)
        np.testing.assert_array_equal(f(x, y), chain(np, x, y, STEPS[number], 20))
    x, y = RNG.normal(size=(2, 3000)).astype(dtype)
    np.testing.assert_array_equal(f(x[::3], y[2::3][::-1]), chain(np, x[::3], y[2::3][::-1], STEPS[number], 20))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rows_and_threads(threads):
    f = compiled(STEPS[0], 30, "float32", 2, threads=threads)
    for shape in ((300, 1000), (1000, 3), (3, 1000), (0, 5), (1, 100_000)):
        x, y = RNG.normal(size=(2, *shape)).astype("float32")
        expected = chain(np, x, y, STEPS[0], 30)
        np.testing.assert_array_equal(f(x, y), expected)
        np.testing.assert_array_equal(f(np.asfortranarray(x), y), expected)


def test_special_numbers():
    x = np.array([np.nan, np.inf, -0.0, 0.0, 1e-310, 1e308] * 20)
    with np.errstate(all="ignore"):
        expected = chain(np, x, x[::-1], STEPS[0], 20)
    np.testing.assert_array_equal(compiled(STEPS[0], 20, "float64")(x, x[::-1]), expected)


def test_in_place():
    """A result that takes the memory of an operand has the elements that it would have elsewhere."""
    state, y = ag.shared(RNG.normal(size=1000), shape=(None,)), T.vector("y")
    given, factors = state.get_value(), RNG.normal(size=1000)
    ag.function([y], [], updates={state: chain(T, state, y, STEPS[0], 20)})(factors)
    np.testing.assert_array_equal(state.get_value(), chain(np, given, factors, STEPS[0], 20))


@pytest.mark.parametrize("count", [3, 200])
def test_short_chains_and_wide_bodies_are_one_step(count):
    """Neither a short chain nor many independent operations gain anything."""
    x = T.vector("x", "float32")
    wide = sum((T.sqrt(T.abs(x) + k) for k in range(count)), T.zeros((), "float32"))
    for y in (wide, T.sqrt(x * x + 1)) if count == 3 else (wide,):
        assert "_u1" not in ag.function([x], y).c_source()
