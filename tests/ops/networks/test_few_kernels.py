"""Convolutions by few kernels, whose windows are summed along lines (kernels/convolutions/lines.c)."""

import itertools

import numpy as np
import pytest
from draws import mostly_long
from test_convolution import assert_near

import arignote as ag
from arignote import ops as T

RNG = np.random.default_rng(7)


def drawn(seed):
    """A random (axes, shape of x, shape of w, keywords) of one to four kernels, with lines of up to many vectors."""
    rng = np.random.default_rng(seed)
    axes = int(rng.choice([1, 1, 2, 3]))
    most = {1: 1200, 2: 40, 3: 5}[axes]
    kernel = [int(rng.choice([1, 2, 3, 8, 15, 16, 17, 33, 63, 64, 65, 449, most])) % most + 1 for _ in range(axes)]
    stride = [int(n) for n in rng.choice([1, 1, 2], axes)]
    dilation = [int(n) for n in rng.choice([1, 1, 2], axes)]
    groups, channels, each = (int(rng.choice(n)) for n in ([1, 1, 2], [1, 2], [1, 2, 3, 4]))
    lengths = [d * (k - 1) + int(rng.choice([1, 7, 16, 31, 100, 300][: 6 if axes == 1 else 4]))
               for k, d in zip(kernel, dilation)]  # fmt: skip
    shape = (int(rng.choice([1, 2])), groups * channels, *lengths)
    keywords = {"stride": tuple(stride), "dilation": tuple(dilation), "groups": groups}
    return axes, shape, (groups * each, channels, *kernel), keywords


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("first", mostly_long(range(6), {0, 1}))
def test_random_parameters(first, dtype):
    """Draws with an epilogue, in one function of lengths that only the call knows."""
    draws = [drawn(seed) for seed in range(first, 60, 6)]
    inputs, outputs, values = [], [], []
    for axes, *shapes, keywords in draws:
        pair = [T.tensor(None, dtype, (None,) * (axes + 2)) for _ in shapes]
        y = (T.nn.conv1d, T.nn.conv2d, T.nn.conv3d)[axes - 1](*pair, **keywords)
        inputs += pair
        outputs += [y, T.maximum(y, 0)]
        values += [RNG.normal(size=s).astype(dtype) for s in shapes]
    results = ag.function(inputs, outputs)(*values)
    for k, (*_, keywords) in enumerate(draws):
        x, w = values[2 * k : 2 * k + 2]
        assert_near(results[2 * k], x, w, **keywords)
        np.testing.assert_array_equal(results[2 * k + 1], np.maximum(results[2 * k], 0))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("taps", [1, 3, 16, 40, 64, 1000])
def test_bits_do_not_depend_on_the_place(taps, dtype):
    """Equal windows have equal sums, in whole tiles and at the end of a line; a task is as good as any other."""
    part = RNG.normal(size=taps + 4).astype(dtype)
    x, w = np.tile(part, 3 + 70_000 // taps), RNG.normal(size=taps).astype(dtype)
    a, b = (T.vector(n, dtype) for n in "ab")
    found = [ag.function([a, b], T.correlate(a, b), threads=n)(x, w) for n in (1, 2, 5)]
    for y in found:
        np.testing.assert_array_equal(y, found[0])
        np.testing.assert_array_equal(y[: len(part)], y[len(part) : 2 * len(part)])
        np.testing.assert_array_equal(y[len(part) :], y[: -len(part)])


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_vectors_of_all_lengths(name, mode):
    """Both orders of a long and a short vector, as NumPy has them."""
    f = ag.jit(lambda x, w: getattr(np, name)(x, w, mode))
    for n, m in itertools.product((1, 2, 3, 8, 17, 64, 129), repeat=2):
        x, w = RNG.normal(size=n), RNG.normal(size=m)
        expected = getattr(np, name)(x, w, mode)
        found = f(x, w)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
