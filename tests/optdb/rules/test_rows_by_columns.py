"""Rows of 2 to 4 numbers by columns: which graphs, and the values of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.optdb.rules.shapes.short_rows import ShortRowsOptimizer

ROWS = ShortRowsOptimizer(name="short_rows")
P = T.tensor("p", "float64", (None, 3))
C = T.tensor("c", "float64", (None, None, 4))
B = T.tensor("b", "float64", (None, 4))


def forces(x):
    d = x[:, None] - x[None]
    w = 1 / (T.sum(d * d, axis=-1) + 1)
    return T.sum(w[:, :, None] * d, axis=1)


def blended(c):
    return T.concatenate([c[..., :3] * c[..., 3:], 1 - c[..., 3:]], axis=-1)


def overlaps(b):
    sides = T.clip(T.minimum(b[:, None, 2:], b[None, :, 2:]) - T.maximum(b[:, None, :2], b[None, :, :2]), 0, 9)
    return sides[..., 0] * sides[..., 1]


def spread(x):
    d = x[:, None] - x[None]
    return T.max(d, axis=-1) + T.min(d, axis=(0, 1))[0] + d[..., 1]


DIVIDED = {"forces": (P, forces), "blended": (C, blended), "overlaps": (B, overlaps), "spread": (P, spread)}


@pytest.mark.parametrize("name", DIVIDED)
def test_no_value_of_short_rows_is_left(name):
    x, f = DIVIDED[name]
    graph, _ = ROWS(FunctionGraph([x], [f(x)]))
    computed = [n for n in graph.order if n.op.name not in ("subtensor", "dimshuffle", "join", "shape_i")]
    assert not [n for n in computed if n.out.ndim == x.ndim + (name != "blended") and n.out.type.shape[-1] in (2, 3, 4)]


@pytest.mark.few(3)
@pytest.mark.parametrize("name", DIVIDED)
@pytest.mark.parametrize("n", [1, 2, 9])
def test_values_are_those_of_numpy(name, n):
    x, f = DIVIDED[name]
    value = np.random.default_rng(0).random((*[n] * (x.ndim - 1), x.type.shape[-1]))
    expected = ag.function([x], f(x), mode="fast_run -short_rows")(value)
    np.testing.assert_allclose(ag.function([x], f(x))(value), expected, rtol=1e-13)


@pytest.mark.long
def test_gradients_by_columns():
    energy = T.sum(forces(P) ** 2)
    value = np.random.default_rng(0).random((6, 3))
    gradient = ag.grad(energy, P)
    expected = ag.function([P], gradient, mode="fast_run -short_rows")(value)
    np.testing.assert_allclose(ag.function([P], gradient)(value), expected, rtol=1e-10)


@pytest.mark.parametrize("y", [P * 2, T.sum(P * P, axis=0), T.sum((P[:, None] - P) ** 2, axis=-1), (P + 1)[0]])
def test_rows_that_are_read_as_such_stay(y):
    graph = FunctionGraph([P], [y])
    assert ROWS(graph)[0] == graph


def test_a_value_that_is_an_output_as_well_stays_whole():
    d = P[:, None] - P
    graph, _ = ROWS(FunctionGraph([P], [d, d[..., 0] * d[..., 1]]))
    assert any(n.op.name == "sub" and n.out.ndim == 3 for n in graph.order)


def test_traces_hold_for_few_columns():
    f = ag.jit(lambda x: x[:, 0] * x[:, 1])
    for width in (2, 3, 4, 5, 6, 2, 3, 7):
        x = np.random.default_rng(0).random((5, width))
        np.testing.assert_array_equal(f(x), x[:, 0] * x[:, 1])
    assert len(f.traces) == 4  # of 2, 3 and 4 columns, and of any number


def test_a_function_of_many_kinds_of_rows_has_few_traces():
    f = ag.jit(lambda x, y: x[:, :1] + y[:, :1])
    for width in (2, 3, 4):
        for other in (2, 3, 4):
            np.testing.assert_array_equal(f(np.ones((2, width)), np.ones((2, other))), np.full((2, 1), 2.0))
    assert len(f.traces) == 4
