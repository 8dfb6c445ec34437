"""Windows and other views with several axes along one: values, derivatives, errors, and programs that read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import arignote as ag
from arignote import ops as T
from arignote.ops.shapes.sliding import MOST_SLICES, Strided

X = np.random.default_rng(1).normal(size=40)
M = np.random.default_rng(2).normal(size=(9, 11))


@pytest.mark.few(6)
@pytest.mark.parametrize("width", [0, 1, 2, 7, 39, 40])
@pytest.mark.parametrize("step", [1, 3, -1, -2])
def test_windows_of_any_length_and_strides(width: int, step: int) -> None:
    x = np.repeat(X, abs(step))[::step]
    v, k = T.vector("x"), T.lscalar("k")
    windows = T.sliding_window_view(v, k)
    got, total = ag.function([v, k], [windows, T.sum(windows, axis=1)])(x, width)
    want = sliding_window_view(x, width)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_allclose(total, want.sum(1), rtol=1e-12, atol=1e-12)


def _spread(x: Any) -> Any:
    return sliding_window_view(x, 5, axis=0).std(axis=-1)


def _box(x: Any) -> Any:
    return sliding_window_view(x, (3, 4)).mean(axis=(-1, -2))


def _range(x: Any) -> Any:
    windows = sliding_window_view(x, (3, 3))[::2, 1::3]
    return windows.max(axis=(2, 3)) - windows.min(axis=(2, 3))


def _medians(x: Any) -> Any:
    return np.median(sliding_window_view(x, 3, axis=0), axis=-1)


def _filtered(x: Any) -> Any:
    return sliding_window_view(x, 4, axis=1)[2] @ np.array([0.5, -1.0, 2.0, 0.25])


def _correlated(x: Any) -> Any:
    return np.tensordot(sliding_window_view(x, (2, 3)), x[:2, :3], ((2, 3), (0, 1)))


def _by_index(x: Any) -> Any:
    return x[np.arange(x.shape[0] - 3)[:, None] + np.arange(4)].sum(axis=1)


def _stacked(x: Any) -> Any:
    return np.stack([x[0, k : x.shape[1] - 5 + k] for k in range(6)]).std(axis=0)


def _blocks(x: Any) -> Any:
    n, m = x.shape
    return as_strided(x, (n // 3, m // 5, 3, 5), (3 * x.strides[0], 5 * x.strides[1], *x.strides)).sum((2, 3))


def _twice_along_one_axis(x: Any) -> Any:
    return sliding_window_view(x, (3, 2), axis=(1, 1)).max(axis=-1)


@pytest.mark.few(10)
@pytest.mark.parametrize(
    "f",
    [_spread, _box, _range, _medians, _filtered, _correlated, _by_index, _stacked, _blocks, _twice_along_one_axis],
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_programs(f: Callable[[Any], Any], dtype: str) -> None:
    for x in (M, M.T.copy().T, M[::-1, ::2].repeat(2, axis=1)):
        value = np.ascontiguousarray(x * 9).astype(dtype) if f is _blocks else (x * 9).astype(dtype)
        got, want = ag.jit(f)(value), f(value)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=2e-4 if dtype == "float32" else 1e-12, atol=1e-4)


@pytest.mark.parametrize("width", [1, 4, MOST_SLICES + 1, 40])
def test_derivative_is_the_sum_over_windows(width: int) -> None:
    def f(x: Any) -> Any:
        return (np.sin(sliding_window_view(x, width)) * np.arange(1.0, width + 1)).sum()

    eye, h = np.eye(len(X)), 1e-6
    slopes = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in eye]
    np.testing.assert_allclose(ag.grad(f)(X), slopes, rtol=1e-4, atol=1e-5)


def test_derivative_of_places_that_repeat() -> None:
    x = T.vector("x")
    view = Strided()(x[2:], 3, 4, 5, 0)
    slope = ag.function([x], ag.grad(T.sum(view * T.arange(12).reshape((3, 4))), x))(np.arange(14.0))
    expected = np.zeros(14)
    expected[2::5] = np.arange(12).reshape(3, 4).sum(1)
    np.testing.assert_array_equal(slope, expected)


def test_many_examples() -> None:
    got = ag.jit(ag.vmap(lambda x: sliding_window_view(x, 3).max(axis=-1)))(M)
    np.testing.assert_array_equal(got, sliding_window_view(M, 3, axis=1).max(axis=-1))


def test_views_are_read_only_and_follow_their_array() -> None:
    def read(x: Any) -> Any:
        windows = sliding_window_view(x, 3)
        x[1] = 7
        return windows * 1

    np.testing.assert_array_equal(ag.jit(read)(X.copy()), read(X.copy()))

    def written(x: Any) -> Any:
        sliding_window_view(x, 3)[0] = 1
        return x

    with pytest.raises(ValueError, match="read-only"):
        ag.jit(written)(X.copy())


@pytest.mark.parametrize("numbers", [(5, 10, 1, 4), (41, 1, 1, 1), (2, 2, 39, 1)])
def test_a_view_beyond_the_end_is_an_error(numbers: tuple[int, ...]) -> None:
    x = T.vector("x")
    given = [T.lscalar(f"n{k}") for k in range(4)]
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        f = ag.function([x, *given], Strided()(x, *given), mode=mode)
        assert f(np.arange(41.0), *numbers).shape == numbers[:2]
        with pytest.raises(IndexError, match=r"index 40 is out of bounds for axis 0 with size 40"):
            f(X, *numbers)
        assert f(X, 0, 50, 1, 1).shape == (0, 50)
        with pytest.raises(ValueError, match="negative"):
            f(X, 2, 2, -1, 1)
