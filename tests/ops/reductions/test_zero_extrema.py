"""Signs of extrema that are zero: +0 of a reduction, the first of equal operands of an elementwise op."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

SHAPES = [(1, 1), (3, 7), (2, 33), (17, 40), (40, 17), (5, 300), (300, 5), (64, 1000), (1, 100_001)]


def layouts(x: np.ndarray) -> Iterator[np.ndarray]:
    """The same matrix in C order, Fortran order, with strides, and backwards."""
    yield np.ascontiguousarray(x)
    yield np.asfortranarray(x)
    strided = np.zeros((2 * x.shape[0], 3 * x.shape[1]), x.dtype)[::2, ::3]
    strided[...] = x
    yield strided
    yield np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY"])
def test_extrema_over_zeros_are_positive(dtype, mode):
    x = T.matrix("x", dtype)
    folds = [f(sign * x, axis) for f, sign in ((T.max, 1), (T.min, -1)) for axis in (None, 0, 1)]
    alone = [ag.function([x], fold, mode=mode) for fold in (folds[2], folds[3])]
    together = ag.function([x], [*folds, T.argmax(x, 1), T.argmin(x, 0), T.exp(x).sum()], mode=mode)
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        for value in (-1.0, -0.0):
            x0 = rng.choice([0.0, -0.0, value], shape).astype(dtype)
            for laid in layouts(x0):
                for found in (*(f(laid) for f in alone), *together(laid)[: len(folds)]):
                    assert not np.signbit(found[found == 0]).any(), (shape, laid.strides)


def test_the_first_of_equal_operands():
    x, y = T.matrices("xy")
    f = ag.function([x, y], [T.maximum(x, y), T.minimum(x, y), T.maximum(T.maximum(x, y), -x)])
    alone = ag.function([x, y], T.maximum(x, y))
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        a, b = rng.choice([0.0, -0.0, 1.0, -1.0], (2, *shape))
        greater, lesser = np.where(a >= b, a, b), np.where(a <= b, a, b)
        expected = [greater, lesser, np.where(greater >= -a, greater, -a)]
        for u, v in zip(layouts(a), reversed(list(layouts(b)))):
            for found, right in zip((*f(u, v), alone(u, v)), (*expected, greater)):
                assert np.array_equal(np.signbit(found), np.signbit(right)), (shape, u.strides)


def test_zeros_have_the_same_sign_for_any_number_of_threads():
    x = T.matrix("x", "float32")
    x0 = np.random.default_rng(0).choice([0.0, -0.0], (2000, 3000)).astype("float32")
    for threads in (1, 2):
        f = ag.function([x], [x.max(), x.min(), x.max(0), x.min(1)], target=f"host threads={threads}")
        assert not any(np.signbit(found).any() for found in f(x0))
