"""Sibling fusion and columns of joins: groups that touch the same memory share a loop; values and bits stay."""

from __future__ import annotations

import time

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.lowered.assembled import Assembled
from arignote.ops.lowered.fused import Fused
from arignote.optdb.rules.fusion.columns import ColumnsOptimizer
from arignote.optdb.rules.fusion.elementwise import FusionOptimizer

FUSE = FusionOptimizer(name="composite_elemwise_fusion")
COLUMNS = ColumnsOptimizer(name="columns_of_joins")
X, Y, Q = T.matrix("x"), T.matrix("y"), T.matrix("q")
V, W = T.vector("v"), T.vector("w")
PLAIN = "fast_run -fusion"


def groups(inputs, outputs):
    """The number of nodes in each group of a fused graph."""
    graph, _ = FUSE(FunctionGraph(inputs, outputs))
    found = [n for n in graph.order if n.op.name != "subtensor"]
    return sorted(len(n.op.graph.order) if isinstance(n.op, Fused) else 1 for n in found)


SIBLINGS = {
    "one array": ([X], [T.exp(X), X * 2]),
    "of unknown lengths": ([X, Y], [T.exp(X) * Y, X - Y]),
    "columns": ([Q], [Q[:, 0] * Q[:, 1], Q[:, 0] - Q[:, 2]]),
    "shifted rows": ([X], [X[:, 1:] - X[:, :-1], X[:, 1:] + X[:, :-1]]),
    "moved to the end": ([V], [V * 2 + 1, V - T.sum(V)]),
}


@pytest.mark.parametrize("name", SIBLINGS)
def test_siblings_are_one_group(name):
    inputs, outputs = SIBLINGS[name]
    graph = ag.function(inputs, outputs).graph
    fused = [n for n in graph.order if isinstance(n.op, Fused) and len(n.outputs) >= 2]
    assert len(fused) == 1


@pytest.mark.parametrize("name", SIBLINGS)
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (7, 5), (33, 4)])
def test_siblings_have_the_bits_of_separate_loops(name, shape):
    inputs, outputs = SIBLINGS[name]
    fused, plain = (ag.function(inputs, outputs, mode=mode) for mode in ("fast_run", PLAIN))
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(shape[: i.ndim]) for i in inputs]
    for a, b in zip(fused(*values), plain(*values), strict=True):
        np.testing.assert_array_max_ulp(a, b, 0 if name != "moved to the end" else 4)


def test_rows_of_other_lines_are_not_siblings():
    assert groups([X], [T.exp(X[0]) + 1, T.cos(X[1]) + 1]) == [2, 2]


def test_a_group_that_waits_for_its_sibling_is_none():
    m = T.dot(T.exp(X), X)
    graph, _ = FUSE(FunctionGraph([X], [T.exp(X) * 2, (m + X) * 3]))
    assert [n.op.name for n in graph.order].count("fused") == 2  # one waits for the product, which reads the other


def test_two_siblings_with_a_product_between_them_are_one_group():
    graph, _ = FUSE(FunctionGraph([X], [T.cos(X) * 2, (T.dot(X, X) + X) * 3]))
    assert [n.op.name for n in graph.order] == ["dot", "fused"]


def test_circles_of_groups_never_arise():
    # a and d read x, b and c read y; a -> c and b -> d would make a circle of {a, d} and {b, c}
    x, y = X, Y
    a, b = T.exp(x) + 1, T.exp(y) + 1
    c, d = T.dot(a, a) * y, T.dot(b, b) * x
    graph, _ = FUSE(FunctionGraph([x, y], [a, b, c, d]))
    assert len(graph.order) >= 5
    f, plain = ag.function([x, y], [a, b, c, d]), ag.function([x, y], [a, b, c, d], mode=PLAIN)
    values = np.random.default_rng(0).standard_normal((2, 5, 5))
    for mine, other in zip(f(*values), plain(*values), strict=True):
        np.testing.assert_allclose(mine, other)


@pytest.mark.long
def test_siblings_are_found_in_linear_time():
    def seconds(count):
        xs = T.dot(X, X)
        outputs = [T.exp(xs * float(k)) for k in range(count)]
        graph = FunctionGraph([X], outputs)
        begin = time.thread_time()
        FUSE(graph)
        return time.thread_time() - begin

    seconds(1000)
    assert seconds(16000) < 8 * max(seconds(4000), 0.05)


JOINS = {
    "copied": ([V, W], T.stack([V * W, V], axis=1)),
    "filled": ([V], T.stack([T.ones_like(V), V, V * V], axis=1)),
    "all copied": ([V, W], T.stack([V, W], axis=1)),
    "powers": ([V], T.stack([V**k for k in range(6)], axis=1)),
    "other order": ([Q], T.stack([Q[:, 2], Q[:, 0], Q[:, 1]], axis=1)),
    "quaternions": ([Q, X], T.stack([Q[:, 0] * X[:, 1] - Q[:, 2], Q[:, 1] + X[:, 0], Q[:, 2] / X[:, 2]], axis=1)),
    "planes": ([X, Y], T.stack([X + Y, X * 2, Y - 1], axis=2)),
}


@pytest.mark.parametrize("name", JOINS)
def test_columns_of_a_join_are_one_loop(name):
    inputs, y = JOINS[name]
    (node,) = [n for n in ag.function(inputs, y).graph.order if isinstance(n.op, Assembled)]
    assert [n.op.name for n in node.op.graph.order] == ["fused", "join"]


@pytest.mark.parametrize("name", JOINS)
@pytest.mark.parametrize("n", [0, 1, 2, 17, 1000])
def test_columns_of_a_join_are_those_of_numpy(name, n):
    inputs, y = JOINS[name]
    f, plain = ag.function(inputs, y), ag.function(inputs, y, mode=PLAIN)
    rng = np.random.default_rng(0)
    values = [rng.standard_normal((n, 3)[: i.ndim]) for i in inputs]
    np.testing.assert_array_equal(f(*values), plain(*values))


def test_joins_that_are_only_read_stay_unwritten():
    joined = T.stack([V, W], axis=1)
    graph, _ = COLUMNS(FunctionGraph([V, W], [joined * 2]))
    assert [n.op.name for n in graph.order].count("identity") == 0
