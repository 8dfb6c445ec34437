"""Elementwise work that reads joins through their parts: rolls, padded stencils, their derivatives."""

import itertools

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.lowered.assembled import Assembled
from arignote.ops.shapes.indexing import IncSubtensor
from arignote.ops.shapes.joining import Join

U = T.matrix("u")
ROW = T.vector("row")
K, M = T.iscalar("k"), T.iscalar("m")
SHAPES = [(8, 7), (1, 1), (2, 5), (1, 7), (2, 2), (3, 1)]
MODES = ("edge", "wrap", "symmetric", "reflect")


def five_points(p):
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * p[1:-1, 1:-1]


def rolled(lib, u):
    return lib.roll(u, 1, 0) + lib.roll(u, -1, 0) + lib.roll(u, 1, 1) + lib.roll(u, -1, 1) - 4 * u


def optimized(inputs, *outputs):
    return ag.rewrite(FunctionGraph(inputs, list(outputs)), "fast_run")


def ops(graph):
    return [type(node.op) for node in graph.order]


def test_shifts_that_the_call_knows():
    """Boundaries in any order, rolls by more than the length, empty axes; a row that broadcasts; two results."""

    def meaning(lib, u, row, k, m):
        a, b, c = lib.roll(u, k, 0), lib.roll(u, m, 0), lib.roll(u, m, 1)
        return [a * 2 + b + c * lib.roll(u, k, 1) * row, (a - c).T * 3]

    f = ag.function([U, ROW, K, M], meaning(T, U, ROW, K, M))
    rng = np.random.default_rng(1)
    for shape, k, m in itertools.product([*SHAPES, (0, 3), (3, 0)], (-9, -1, 0, 2), (-4, 1, 7)):
        u, row = rng.normal(size=shape), rng.normal(size=shape[1:])
        for found, wanted in zip(f(u, row, k, m), meaning(np, u, row, k, m), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_rolls_are_not_joined():
    graph = optimized([U], rolled(T, U))
    assert Join not in ops(graph)
    assert ops(graph).count(Assembled) == 1
    f = ag.function([U], rolled(T, U))
    for shape in SHAPES:
        u = np.random.default_rng(2).normal(size=shape)
        np.testing.assert_array_equal(f(u), rolled(np, u))


def test_the_derivative_of_rolls_are_rolls():
    value = T.sum(rolled(T, U) ** 2)
    slope = ag.grad(value, U)
    graph = optimized([U], slope)
    assert {Join, IncSubtensor}.isdisjoint(ops(graph))
    f = ag.function([U], slope)
    for shape in SHAPES:
        u = np.random.default_rng(3).normal(size=shape)
        np.testing.assert_allclose(f(u), 2 * rolled(np, rolled(np, u)), atol=1e-12)


@pytest.mark.long
def test_stencils_of_padded_arrays():
    graph = optimized([U], five_points(T.pad(U, 1, mode="edge")))
    assert Join not in ops(graph)
    outputs = [five_points(T.pad(U, 1, mode=mode)) for mode in MODES]
    f = ag.function([U], outputs)
    slopes = ag.function([U], [ag.grad(T.sum(o**2), U) for o in outputs])
    for shape in SHAPES:
        u, du = np.random.default_rng(4).normal(size=(2, *shape))
        for mode, found, slope in zip(MODES, f(u), slopes(u), strict=True):
            of_u, of_du = (five_points(np.pad(v, 1, mode=mode)) for v in (u, du))
            np.testing.assert_array_equal(found, of_u)
            np.testing.assert_allclose(np.sum(slope * du), 2 * np.sum(of_u * of_du), atol=1e-9)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "int16", "bool"])
def test_pads_of_three_axes(dtype):
    """Borders wider than the array; axes without a border; widths on one side only."""
    x, width = T.tensor("x", dtype, (None, 3, None)), ((2, 5), (0, 4), (3, 0))
    f = ag.function([x], [T.pad(x, width, mode=mode) for mode in MODES])
    for n, m in ((1, 1), (2, 4), (9, 3)):
        value = np.random.default_rng(5).integers(0, 2 if dtype == "bool" else 99, (n, 3, m)).astype(dtype)
        for mode, found in zip(MODES, f(value), strict=True):
            np.testing.assert_array_equal(found, np.pad(value, width, mode=mode))
    with pytest.raises(IndexError):
        f(np.ones((0, 3, 2), dtype))


def test_a_join_with_another_reader_is_joined():
    whole = T.roll(U, 1, 0)
    assert Join in ops(optimized([U], whole, T.exp(whole) + U))


def test_many_parts_are_joined():
    whole = T.concatenate([U[:, k : k + 1] for k in reversed(range(65))], 1)
    assert Join in ops(optimized([U], T.exp(whole) + T.roll(whole, 1, 0)))
