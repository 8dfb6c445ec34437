"""Sums and products of strided, reversed and transposed operands have the bits of those of a contiguous copy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag
from arignote import ops as T

LENGTHS = (1, 2, 3, 7, 8, 9, 16, 31, 127, 128, 129, 255, 257, 1023, 1025, 8193, 16500)
SHAPES = ((1, 1), (3, 5), (17, 33), (50, 3), (3, 50), (129, 7), (7, 129), (130, 260), (5, 520), (40, 1000))


def lines(x: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The vector in other layouts."""
    twice = np.repeat(x, 2)
    back = np.zeros(3 * x.size, x.dtype)
    back[::-3][: x.size] = x
    yield from (("every other", twice[::2]), ("reversed", x[::-1].copy()[::-1]), ("back", back[::-3][: x.size]))


def planes(x: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The matrix in other layouts."""
    wide = np.zeros((2 * x.shape[0], x.shape[1] + 3), x.dtype)
    wide[::2, :-3] = x
    yield "transposed", np.asfortranarray(x)
    yield "every other column", np.repeat(x, 2, 1)[:, ::2]
    yield "turned round", x[::-1, ::-1].copy()[::-1, ::-1]
    yield "columns reversed", x[:, ::-1].copy()[:, ::-1]
    yield "rows of a larger one", wide[::2, :-3]


def bits(x: np.ndarray) -> bytes:
    return np.ascontiguousarray(x).tobytes()


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_vectors(dtype):
    rng = np.random.default_rng(0)
    v, w = T.vector("v", dtype), T.vector("w", dtype)
    folds = [v.sum(), v.mean(), v.var(), (v * v).sum(), T.logsumexp(v), T.softmax(v), T.exp(v).sum()]
    folds.append((1 + v * 1e-3).prod())
    functions = [ag.function([v], [fold]) for fold in folds]
    functions.append(ag.function([v], [v.prod()]))
    dot = ag.function([v, w], [T.dot(v, w), (v * w).sum()])
    for n in LENGTHS:
        x, y = rng.normal(size=n).astype(dtype), rng.normal(size=n).astype(dtype)
        expected = [f(x)[0] for f in functions]
        for (how, seen), (_, other) in zip(lines(x), lines(y), strict=True):
            for k, (f, want) in enumerate(zip(functions, expected, strict=True)):
                assert bits(f(seen)[0]) == bits(want), (n, how, k)
            for got, want in zip(dot(seen, other), dot(x, y), strict=True):
                assert bits(got) == bits(want), (n, how, "dot")


@pytest.mark.long
@pytest.mark.parametrize("dtype", mostly_long(["float32", "float64"], {"float32"}))
def test_matrices(dtype):
    rng = np.random.default_rng(0)
    m, v = T.matrix("m", dtype), T.vector("v", dtype)
    folds = [
        e for a in (0, 1)
        for e in (m.sum(axis=a), (1 + m * 1e-3).prod(axis=a), m.var(axis=a), T.logsumexp(m, axis=a), T.softmax(m, a))
    ]  # fmt: skip
    functions = [ag.function([m], [fold]) for fold in folds]
    whole = [ag.function([m], [fold]) for fold in (m.sum(), (m * m).sum(), m.mean())]
    product = ag.function([m, v], m @ v)
    by_vector = ag.function([m, v], v @ m)
    for shape in SHAPES:
        x = rng.normal(size=shape).astype(dtype)
        a, b = rng.normal(size=shape[1]).astype(dtype), rng.normal(size=shape[0]).astype(dtype)
        for how, seen in planes(x):
            for k, f in enumerate(functions):
                assert bits(f(seen)[0]) == bits(f(x)[0]), (shape, how, k)
            if shape[1] >= 512 or how in ("every other column", "turned round"):  # docs/reliability.md names the others
                assert all(bits(f(seen)[0]) == bits(f(x)[0]) for f in whole), (shape, how)
            if how in ("every other column", "turned round", "columns reversed"):
                assert bits(product(seen, a)) == bits(product(x, a)), (shape, how)
                assert bits(by_vector(seen, b)) == bits(by_vector(x, b)), (shape, how)
        for _, seen in lines(a):
            assert bits(product(x, seen)) == bits(product(x, a)), shape
        for _, seen in lines(b):
            assert bits(by_vector(x, seen)) == bits(by_vector(x, b)), shape
