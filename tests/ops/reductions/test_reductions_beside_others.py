"""A reduction has the same bits alone and beside others, of each width, in any layout, on one thread and on two."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.core.tensor import TensorVariable

REDUCTIONS: dict[str, Callable[[TensorVariable, int | None], TensorVariable]] = {
    "sum": lambda x, axis: T.sum(x, axis=axis),
    "product": lambda x, axis: T.prod(x, axis=axis),
    "mean": lambda x, axis: T.mean(x, axis=axis),
    "variance": lambda x, axis: T.var(x, axis=axis),
    "norm": lambda x, axis: T.sqrt(T.sum(x * x, axis=axis)),
    "exponentials": lambda x, axis: T.sum(T.exp(x), axis=axis),
    "logsumexp": lambda x, axis: T.logsumexp(x, axis=axis),
    "maximum": lambda x, axis: T.max(x, axis=axis),
    "argmax": lambda x, axis: T.argmax(x, axis=axis),
    "cumsum": lambda x, axis: T.cumsum(x, axis=axis),
}
OF_COMPLEX = ("sum", "product", "mean", "cumsum")
WIDTHS = ("int8", "float32", "float64", "complex128")
SHAPES = [
    (3, 1), (40, 1), (3, 7), (40, 7), (3, 21), (40, 21), (50, 31), (3, 100), (17, 129), (3, 1001), (4, 20_000),
    (30_011, 3),
]  # fmt: skip
"""Rows that are short and few, short and many, shorter than vectors, with a remainder and without; parts of columns."""


def names_of(dtype: str) -> tuple[str, ...]:
    return OF_COMPLEX if dtype.startswith("complex") else tuple(REDUCTIONS)


def beside(x: TensorVariable, axis: int | None, width: str) -> list[TensorVariable]:
    """Other work over the same elements: a sum of another width, a sum, and a sum that is no vector loop."""
    other = T.cast(x, width)
    real = T.cast(T.real(x), "float64")
    return [T.sum(other * other, axis=axis), other + other, T.sum(T.gammaln(T.abs(real) + 1), axis=axis)]


def layouts(x: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "contiguous": x,
        "transposed": np.asfortranarray(x),
        "every other": np.repeat(x, 2, axis=1)[:, ::2],
        "reversed": np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
        "off by one": np.concatenate([x.ravel()[:1], x.ravel()])[1:].reshape(x.shape),
    }


def check(dtype: str, axis: int | None, widths: tuple[str, ...], names: tuple[str, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = T.matrix("x", dtype)
    alone = {n: ag.function([x], REDUCTIONS[n](x, axis), threads=1) for n in names}
    ways = {}
    for width in widths:
        for n in names:
            ways[n, width] = ag.function([x], [REDUCTIONS[n](x, axis), *beside(x, axis, width)], threads=2)
    for shape in SHAPES:
        value = rng.normal(size=shape) * 2
        value = (value * 20 if np.dtype(dtype).kind in "iu" else value).astype(dtype)
        expected = {n: alone[n](value) for n in names}
        for layout, argument in layouts(value).items():
            if axis is None and layout != "contiguous":
                continue  # several axes of another layout: an exception that the guarantees name
            for n in names:
                assert alone[n](argument).tobytes() == expected[n].tobytes(), (n, layout, shape, seed)
            for (n, width), f in ways.items():
                assert f(argument)[0].tobytes() == expected[n].tobytes(), (n, width, layout, shape, seed)
        if axis == 1:
            for n in names:
                rows = shape[0] // 2
                assert alone[n](value[:rows]).tobytes() == expected[n][:rows].tobytes(), (n, "fewer rows", shape, seed)


@pytest.mark.long
@pytest.mark.parametrize("dtype, width", [("float32", "float64"), ("float64", "float32")])
def test_rows_beside_a_cast(dtype, width):
    check(dtype, 1, (width,), ("sum", "product", "exponentials", "logsumexp"), seed=0)


@pytest.mark.long
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int8", "int32"])
def test_all_reductions_beside_each_width(dtype, axis):
    widths = tuple(w for w in WIDTHS if w.startswith("complex") or not dtype.startswith("complex"))
    check(dtype, axis, widths, names_of(dtype), seed=np.dtype(dtype).num)


@pytest.mark.long
def test_long_rows_of_float64_that_are_read_again():
    """Blocks are summed in pairs, so a row in one part has the bits of one in parts of 65,536 elements."""
    x = T.matrix("x")
    squares = T.sum(x * x, axis=1)
    one, other = T.sum(x, axis=1), T.sum(x, axis=0)
    alone = ag.function([x], one), ag.function([x], T.mean(x, axis=1)), ag.function([x], squares)
    again = (
        ag.function([x], [one, x - T.sum(x, axis=1, keepdims=True), other]),
        ag.function([x], [T.mean(x, axis=1), T.var(x, axis=1)]),
        ag.function([x], [squares, x / T.sqrt(T.sum(x * x, axis=1, keepdims=True))]),
    )
    for length in (65_537, 131_072, 300_001):
        value = 1 + np.random.default_rng(length).normal(size=(3, length)) / 1000
        for f, g in zip(alone, again, strict=True):
            assert f(value).tobytes() == g(value)[0].tobytes()
