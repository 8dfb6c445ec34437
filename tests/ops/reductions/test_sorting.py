"""Sorting and searching against NumPy."""

from functools import partial

import numpy as np
import pytest
from against_numpy import DTYPES, assert_like_numpy, assert_same_call, sample
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T
from arignote.ops.reductions.selection import LONG, select

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
        for options in ({"stable": True}, {"kind": "mergesort"}, {}):
            order = np.argsort(x, axis, stable=True)  # ours is always stable
            assert_like_numpy(lambda v, k=axis, o=options: T.argsort(v, k, **o), lambda _, order=order: order, x)


@pytest.mark.few(13)
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


LONG_ROWS = {
    "normal": lambda rng, n: rng.normal(size=n), "few values": lambda rng, n: rng.integers(0, 5, n),
    "descending": lambda rng, n: np.arange(n)[::-1].copy(), "equal": lambda rng, n: np.zeros(n),
    "NaNs": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "nothing else": lambda rng, n: np.full(n, np.nan),
    "float32 rows": lambda rng, n: rng.normal(size=(2, n)).astype("f4"),
    "periodic, with infinities": lambda rng, n: np.tile([1.0, 2.0, 3.0, np.inf], n // 4 + 1)[:n],
    "bytes": lambda rng, n: rng.integers(0, 255, n).astype("u1"), "waves": lambda rng, n: np.sin(np.arange(n)),
}  # fmt: skip


@pytest.mark.parametrize("kind", LONG_ROWS)
def test_elements_of_long_rows_by_their_place(kind):
    x = LONG_ROWS[kind](np.random.default_rng(1), 3 * LONG // 2)
    n = x.shape[-1]
    for places in ([0], [n - 1], [n // 2, n // 2 + 1], [5, n // 3, n - 2, 5], [-1, -n], list(range(0, n, n // 7))):
        np.testing.assert_array_equal(select(x, np.array(places)), np.sort(x, axis=-1)[..., places])


@pytest.mark.parametrize("dtype", DTYPES)
def test_order_statistics(dtype):
    x, places = sample((3, 6), dtype), np.array([4, 0, 4, -1])
    assert_like_numpy(lambda v: T.OrderStatistics()(v, places), lambda a: np.sort(a, axis=-1)[:, places], x)
    assert_like_numpy(lambda v: T.OrderStatistics()(v, places[:0]), lambda a: a[:, :0], x)
    with pytest.raises(IndexError, match="out of range"):
        T.OrderStatistics()(T.as_tensor(x), [6]).eval()
    if dtype == "float64":
        assert_gradient(lambda v: T.OrderStatistics()(v, places) ** 2, x)
        assert_gradient(lambda v: T.median(v, axis=1) ** 2 + T.quantile(v, 0.3, axis=1), x)


@pytest.mark.parametrize("values", [[], [np.nan], [1.0, np.nan, 1.0, np.nan], [0.0, -0.0, 2.0], [3.0, 1.0, 2.0]])
def test_distinct_values_alone(values):
    for dtype in ("float32", "float64", "complex128"):
        x = np.array(values, dtype)
        found, wanted = T.unique(x).eval(), np.unique(x)
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype


@pytest.mark.long
def test_quantiles_without_nan_of_nothing_are_nan():
    x = T.matrix("x")
    functions = (T.nanmedian, ()), (T.nanquantile, (0.5,)), (T.nanpercentile, (30,))
    found = [f(x, *q, axis) for f, q in functions for axis in (0, 1)]
    for mode in ("FAST_RUN", "NUMPY"):
        rows = ag.function([x], found, mode=mode)
        for shape in ((0, 3), (3, 0), (2, 3)):
            for result, axis in zip(rows(np.ones(shape)), (0, 1) * 3, strict=True):
                np.testing.assert_array_equal(result, np.full(shape[1 - axis], np.nan if shape[axis] == 0 else 1.0))
