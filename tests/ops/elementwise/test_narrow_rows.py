"""Elementwise loops over narrow rows, as those of three channels: tiles are packed, and values stay NumPy's."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

DTYPES = ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64"]


def formula(x, y, v, dtype):
    return (x | y) & v if dtype == "bool" else x * v + y


def sample(random, dtype, *shape):
    values = random.random(shape)
    return values > 0.5 if dtype == "bool" else (8 * values).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ndim", [2, 3])
def test_rows_of_every_stride(dtype, ndim):
    x, y, v = (T.tensor(name, dtype=dtype, shape=(None,) * n) for name, n in (("x", ndim), ("y", ndim), ("v", 1)))
    f, random = ag.function([x, y, v], formula(x, y, v, dtype)), np.random.default_rng(0)
    for columns in (0, 1, 2, 3, 4, 7, 15, 16, 17):
        for rows in (0, 15, 16, 700):
            shape = (*(2,) * (ndim - 2), rows, columns)
            a, b, c = (sample(random, dtype, *s) for s in (shape, shape, (columns,)))
            gaps = sample(random, dtype, *shape[:-1], columns + 2)
            for one, two, three in [
                (a, b, c), (gaps[..., :columns], b, c), (a, gaps[..., 1 : 1 + columns], c[::-1]),
                (np.broadcast_to(gaps[..., :1], shape), b, c), (np.asfortranarray(a), b, c),
                (a[..., ::-1], b[..., ::-1], np.repeat(c, 2)[::2]), (a, np.broadcast_to(c, shape), c),
            ]:  # fmt: skip
                np.testing.assert_array_equal(f(one, two, three), formula(one, two, three, dtype))


@pytest.mark.parametrize("width", [3, 31, 32, 48, 63, 64, 100, 224])
def test_bytes_and_floats(width):
    """Loops that convert bytes take the longest vectors, for rows of any width."""
    image, scale = T.tensor("image", dtype="uint8", shape=(None, None)), T.vector("scale", dtype="float32")
    f = ag.function([image, scale], T.cast(T.clip(image * scale, 0, 255), "uint8"))
    pixels = np.random.default_rng(1).integers(0, 256, (40, 300)).astype("uint8")
    scales = np.linspace(0.1, 2, width, dtype="float32")
    part = pixels[:, 5 : 5 + width]
    np.testing.assert_array_equal(f(part, scales), np.clip(part * scales, 0, 255).astype("uint8"))
