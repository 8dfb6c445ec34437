"""Extrema with an initial value: no elements, masks, every dtype; nothing is copied."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

SHAPES = [(0, 3), (3, 0), (0, 0), (1, 1), (5, 7), (40, 70)]


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8", "bool", "complex128"])
def test_extrema_are_numpys_where_lengths_are_not_known(dtype):
    x, initial = T.matrix("x", dtype=dtype), dtype == "bool" or 1
    f = ag.function([x], [
        T.max(x, axis=1, initial=initial), T.min(x, axis=0, initial=initial, keepdims=True), T.max(x, initial=initial),
        T.max(T.max(x, axis=1, initial=initial), initial=initial), T.min(x, axis=(), initial=initial),
    ])  # fmt: skip
    for shape in SHAPES:
        v = (np.random.default_rng(1).standard_normal(shape) * 5).astype(dtype)
        wanted = [
            v.max(1, initial=initial), v.min(0, initial=initial, keepdims=True), v.max(initial=initial),
            v.max(1, initial=initial).max(initial=initial), v.min((), initial=initial),
        ]  # fmt: skip
        for got, want in zip(f(v), wanted, strict=True):
            np.testing.assert_array_equal(got, want, strict=True)


def test_inner_extrema_without_an_initial_value_still_fail():
    x = T.matrix("x")
    f = ag.function([x], T.max(T.max(x, axis=1), initial=0.0))
    assert f(np.zeros((0, 3))) == 0
    with pytest.raises(ValueError, match="not defined"):
        f(np.zeros((3, 0)))


def test_nan_and_masks_count_as_in_numpy():
    x = T.matrix("x")
    f = ag.function([x], T.max(x, axis=0, initial=-1.0, where=x < 2))
    v = np.array([[np.nan, 3.0, 1.0], [0.0, 5.0, np.nan]])
    np.testing.assert_array_equal(f(v), np.max(v, axis=0, initial=-1.0, where=v < 2))


def test_nothing_is_copied():
    for x in (T.matrix("x"), T.tensor("x", "float64", (30, 40))):
        f = ag.function([x], T.max(x, axis=1, initial=0.0))
        assert not any(n.op.name == "join" for n in f.graph.order)
