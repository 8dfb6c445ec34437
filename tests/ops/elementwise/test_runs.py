"""Costly functions along strided operands, which pass through runs: values, in place, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.targets.named import host

LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": np.asfortranarray,
    "every other": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "backwards": lambda a: np.ascontiguousarray(a[:, ::-1])[:, ::-1],
    "broadcast": lambda a: np.broadcast_to(a[:, :1], a.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [0, 1, 7, 3000])
def test_values_of_any_stride(layout, dtype, columns):
    a = np.random.default_rng(0).uniform(0.1, 1, (3, columns)).astype(dtype)
    x, y = T.matrix("x", dtype), T.matrix("y", dtype)
    f = ag.function([x, y], [T.exp(x) * y, T.tanh(y)])
    strided = LAYOUTS[layout](a)
    for left, right in ((strided, a), (a, strided), (strided, strided)):
        for found, expected in zip(f(left, right), (np.exp(left) * right, np.tanh(right)), strict=True):
            np.testing.assert_allclose(found, expected, rtol=5e-6 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_strips_of_long_vectors(dtype):
    x, y = T.vector("x", dtype), T.vector("y", dtype)
    read, written = ag.function([x], T.exp(x)), ag.function([x, y], T.set_subtensor(y[::2], T.exp(x)))
    rtol = 5e-6 if dtype == "float32" else 1e-14
    for n in (0, 1, 1023, 1024, 1025, 5000):
        a = np.random.default_rng(n).uniform(-1, 1, 3 * n).astype(dtype)
        for strided in (a[:n], a[::3], a[::-3]):
            np.testing.assert_allclose(read(strided), np.exp(strided), rtol=rtol)
            found = written(strided, np.zeros(2 * n, dtype))
            np.testing.assert_allclose(found[::2], np.exp(strided), rtol=rtol)
            assert not found[1::2].any()


def test_a_view_is_overwritten_with_what_was_computed_from_it():
    value = np.random.default_rng(0).uniform(-1, 1, (40, 1500))
    w = ag.shared(np.asfortranarray(value), name="w", shape=value.shape)
    ag.function([], [], updates={w: T.sin(w)})()
    np.testing.assert_allclose(w.get_value(), np.sin(value), rtol=1e-14)


@pytest.mark.parametrize(
    "dtype, result, costly",
    [
        ("float32", T.exp, True),
        ("float64", lambda x: T.logsumexp(x, axis=-1), True),
        ("float64", T.exp, True),
        ("float32", lambda x: 2 * x, False),
    ],
)
def test_costly_loops_ask_for_wide_vectors(dtype, result, costly):
    x = T.vector("x", dtype)
    text = ag.function([x], result(x)).c_source()
    lanes = host().vector // np.dtype(dtype).itemsize
    assert f"simdlen({lanes})" in text if costly else "simdlen" not in text
