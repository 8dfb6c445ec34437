"""Sorting and searching against NumPy."""

from functools import partial

import numpy as np
import pytest
from against_numpy import DTYPES, assert_like_numpy, assert_same_call, sample
from gradients import assert_gradient

from arignote import ops as T

SHAPES = [(7,), (0,), (1,), (3, 4), (2, 0, 3), (2, 3, 4)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_sort(shape, dtype):
    x = sample(shape, dtype)
    if x.dtype.kind in "fc" and x.size > 3:
        x.flat[:3] = [np.nan, np.inf, -np.inf]
    for axis in (-1, 0, None):
        for options in ({}, {"stable": True}, {"kind": "mergesort"}):
            assert_same_call("sort", x, axis, **options)
        assert_same_call("argsort", x, axis, stable=True)
        assert_same_call("argsort", x, axis)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_nonzero_and_unique(shape, dtype):
    x = sample(shape, dtype)
    x = np.where(np.arange(x.size).reshape(shape) % 3, x, x.dtype.type(0))
    for axis in range(x.ndim):
        assert_like_numpy(part(T.nonzero, axis), part(np.nonzero, axis), x)
    assert_like_numpy(lambda v: v[T.nonzero(v)], lambda a: a[np.nonzero(a)], x)
    assert_like_numpy(T.flatnonzero, np.flatnonzero, x)
    assert_like_numpy(T.unique, np.unique, x)
    ask = partial(np.unique, return_index=True, return_inverse=True, return_counts=True)
    for k, shape_of in enumerate([(-1,), (-1,), x.shape, (-1,)]):
        ours = part(partial(T.unique, **ask.keywords), k)
        assert_like_numpy(ours, lambda a, k=k, n=shape_of: ask(a.ravel())[k].reshape(n), x)


def part(function, k):
    """The result number `k` of a function."""
    return lambda v: function(v)[k]


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side):
    a, v = np.sort(sample((9,))), sample((3, 4), seed=2)
    v[0, 0] = a[4]
    assert_like_numpy(lambda x, y: T.searchsorted(x, y, side), lambda x, y: np.searchsorted(x, y, side), a, v)
    b, n = np.array([5, 1, 3], "int32"), np.array(2.5)
    assert_like_numpy(
        lambda x, y: T.searchsorted(x, y, side, T.argsort(x)),
        lambda x, y: np.searchsorted(x, y, side, np.argsort(x)), b, n,
    )  # fmt: skip


def test_gradients():
    x = sample((3, 4))
    for axis in (0, 1, None):
        assert_gradient(partial(T.sort, axis=axis), x)
        assert_gradient(partial(T.sort, axis=axis), x, static=False)
    repeated = np.array([3.0, 1.0, 2.0, 7.0])
    assert_gradient(lambda v: T.unique(v) ** 2, repeated)


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: T.sort(T.matrix("x"), 2), np.exceptions.AxisError, "axis 2"),
        (lambda: T.sort(T.matrix("x"), kind="bogo"), ValueError, "kind"),
        (lambda: T.sort(T.matrix("x"), kind="stable", stable=True), ValueError, "same thing"),
        (lambda: T.searchsorted(T.matrix("x"), 1.0), ValueError, "vector"),
        (lambda: T.searchsorted(T.vector("x"), 1.0, "middle"), ValueError, "side"),
        (lambda: T.nonzero(T.scalar("x")), ValueError, "scalar"),
    ],
)
def test_mistakes(build, kind, message):
    with pytest.raises(kind, match=message):
        build()
