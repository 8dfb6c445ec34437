"""Equality saturation: puzzles that greedy passes leave half done, budgets, and the explanation.

A puzzle is never dearer than the greedy result, and its values are those of NumPy.
"""

from dataclasses import replace

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import Constant, FunctionGraph, leaves
from arignote.ops.core.interpret import interpret
from arignote.optdb import node_rule, relaxes
from arignote.optdb.rules import egraph
from arignote.optdb.rules.search import prices


def mat(name, *shape):
    return T.tensor(name, dtype="float64", shape=shape)


A, B, C, D = mat("a", 60, 4), mat("b", 4, 80), mat("c", 80, 3), mat("d", 3, 50)
P, Q, R, S = (mat(n, 40, 40) for n in "pqrs")
U, V, W = (mat(n, 40) for n in "uvw")
X, Y, Z = (mat(n, 100, 30) for n in "xyz")
ROW, ROW2, COL, COL2 = mat("row", 1, 30), mat("row2", 1, 30), mat("col", 100, 1), mat("col2", 100, 1)
K, L = mat("k"), mat("l")
QS, KS, VS = mat("qs", 64, 8), mat("ks", 64, 8), mat("vs", 64, 8)
E, F = mat("e", 30, 30), mat("f", 30, 100)

PUZZLES = {
    # chains of products
    "chain of 3": lambda: (A @ B) @ C,
    "chain of 4": lambda: ((A @ B) @ C) @ D,
    "chain and vector": lambda: (P @ Q) @ U,
    "power and vector": lambda: ((P @ P) @ P) @ U,
    "vector in front": lambda: U @ (P @ Q),
    "turned chain": lambda: ((A @ B) @ C).T,
    "outer product and vector": lambda: (U[:, None] @ V[None, :]) @ W,
    "right to left": lambda: A @ (B @ (C @ D)),
    "quadratic form": lambda: U @ (P @ (Q @ V)),
    "linear attention": lambda: (QS @ KS.T) @ VS,
    "two heads": lambda: (QS @ KS.T) @ VS + (KS @ KS.T) @ VS,
    "gram matrix and vector": lambda: (X.T @ X) @ mat("g", 30),
    "einsum ab,bc,cd": lambda: T.einsum("ab,bc,cd->ad", A, B, C),
    # sums of products
    "common left matrix": lambda: P @ Q + P @ R,
    "common right matrix": lambda: P @ R - Q @ R,
    "common vector": lambda: P @ U + Q @ U,
    "three common": lambda: P @ Q + P @ R + P @ S,
    "sum of a product": lambda: T.sum(P @ Q),
    "row sums of a product": lambda: T.sum(P @ Q, axis=1),
    "column sums of a product": lambda: T.sum(P @ Q, axis=0),
    "sum of a chain": lambda: T.sum((P @ Q) @ R),
    "mean of a product": lambda: T.mean(P @ Q),
    "sum of products": lambda: T.sum(P @ Q + P @ R),
    "product and identity": lambda: P @ (Q + R) - P @ R,
    # scales
    "scaled left": lambda: (K * X) @ E,
    "scaled right": lambda: E @ (K * F),
    "scaled twice": lambda: (K * QS) @ (L * KS).T,
    "scaled result": lambda: K * (QS @ KS.T),
    "scaled columns of a product": lambda: (QS @ KS.T) * mat("m", 1, 64),
    "scaled rows of a product": lambda: (QS @ KS.T) * mat("n", 64, 1),
    "scaled middle": lambda: (X * ROW) @ mat("e8", 30, 2),
    "attention with a scale": lambda: T.nn.softmax(K * (QS @ KS.T), axis=1) @ VS,
    # common factors
    "common factor": lambda: X * Y + X * Z,
    "common factor of differences": lambda: X * Y - X * Z,
    "distributed over one": lambda: X * Y + X,
    "common divisor": lambda: X / Z + Y / Z,
    "factor in three": lambda: X * Y + X * Z + X * COL,
    "exponential factor": lambda: T.exp(X) * Y + T.exp(X) * Z,
    "row and column": lambda: X * ROW * ROW2,
    "columns first": lambda: X * COL * COL2 + Y,
    "sums of rows": lambda: X + ROW + ROW2,
    "division by a row": lambda: X / ROW,
    "division by a column twice": lambda: X / COL + Y / COL,
    "normalized": lambda: (X - T.mean(X, axis=0)) / T.std(X, axis=0),
    "layer norm": lambda: (X - T.mean(X, axis=1, keepdims=True)) / T.sqrt(T.var(X, axis=1, keepdims=True) + 1e-5),
    # exponentials and logarithms
    "product of exponentials": lambda: T.exp(X) * T.exp(Y),
    "product of three exponentials": lambda: T.exp(X) * T.exp(Y) * T.exp(Z),
    "quotient of exponentials": lambda: T.exp(X) / T.exp(Y),
    "sum of logarithms": lambda: T.log(T.abs(X)) + T.log(T.abs(Y)),
    "difference of logarithms": lambda: T.log(T.abs(X)) - T.log(T.abs(Y)),
    "sum of three logarithms": lambda: T.log(T.abs(X)) + T.log(T.abs(Y)) + T.log(T.abs(Z)),
    "product of roots": lambda: T.sqrt(T.abs(X)) * T.sqrt(T.abs(Y)),
    "softmax by hand": lambda: T.exp(X) / T.sum(T.exp(X), axis=1, keepdims=True),
    # choices and extrema
    "choice of exponentials": lambda: T.where(X > 0, T.exp(Y), T.exp(Z)),
    "choice of products": lambda: T.where(X > 0, T.tanh(X) * Y, T.tanh(X) * Z),
    "largest exponential": lambda: T.maximum(T.exp(X), T.exp(Y)),
    "largest hyperbolic tangent": lambda: T.minimum(T.tanh(X), T.tanh(Y)),
    "largest sum": lambda: T.maximum(X + T.exp(Z), Y + T.exp(Z)),
    # transposes
    "turned products": lambda: Q.T @ P.T,
    "variance": lambda: T.mean(X**2, axis=0) - T.mean(X, axis=0) ** 2,
}
FEWEST_BETTER = 25
MOST_FORMS, MOST_TRIALS = 80, 2500
"""The work for the largest puzzle: nodes of its e-graph, and rules tried on them."""


def prepared(expression):
    """The graph as it is written, the greedy one before BLAS, the one of the e-graph, and its profile."""
    found = [v for v in leaves([expression]) if not isinstance(v, Constant)]
    start = FunctionGraph(sorted(found, key=lambda v: v.name), [expression])
    greedy = ag.rewrite(start, "fast_run <1.66")
    return start, greedy, *replace(egraph(), seconds=1e6)(greedy)


def price(graph):
    return prices.of_graph(graph.order, graph.outputs)


@pytest.mark.long
def test_puzzles_are_never_dearer_and_mostly_cheaper_than_greedy():
    better = []
    rng = np.random.default_rng(0)
    for name, puzzle in PUZZLES.items():
        start, greedy, found, profile = prepared(puzzle())
        arrays = [rng.standard_normal(v.type.shape) for v in start.inputs]
        (wanted,), (got,) = interpret(start, arrays), interpret(found, arrays)
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-10 * np.abs(wanted).max(), err_msg=name)
        assert price(found) <= price(greedy), name
        assert profile.price_after == pytest.approx(price(found)), name
        assert profile.stop == "saturated" and profile.forms <= MOST_FORMS, (name, profile.forms)
        assert sum(row.tried for row in profile.table) <= MOST_TRIALS, (name, sum(row.tried for row in profile.table))
        if profile.price_after < profile.price_before:
            assert profile.derivation, name
            better.append(name)
    assert len(PUZZLES) == 60
    assert len(better) >= FEWEST_BETTER, better


def test_a_function_with_the_pass_computes_the_same_and_explains():
    f = ag.function([A, B, C], (A @ B) @ C, mode="fast_run +egraph")
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(v.type.shape) for v in (A, B, C)]
    np.testing.assert_allclose(f(*arrays), arrays[0] @ arrays[1] @ arrays[2], rtol=1e-12)
    text = str(f.explain("egraph"))
    assert "of the greedy graph" in text and "egraph_associated_0: dot(..., c) -> dot(b, c)" in text
    assert "egraph" in {entry.rule for entry in f.journal}
    assert "saturated" in str(f.optimizer_profile)
    plain = ag.function([A, B, C], (A @ B) @ C)
    assert "egraph" not in {p.name for p in plain.optimizer_profile.walk()}
    assert "no equality saturation" in str(plain.explain("egraph"))


def test_budgets_end_the_search_and_keep_a_graph_that_is_no_dearer():
    expression = PUZZLES["sum of products"]()
    _, greedy, _, _ = prepared(expression)
    for options, reason in (
        ({"nodes": 8}, "8 nodes"),
        ({"rounds": 1}, "1 rounds"),
        ({"seconds": 1e-9}, "1e-09 seconds"),
    ):
        found, profile = replace(egraph(), **options)(greedy)
        assert profile.stop.startswith(reason.split()[0]) and price(found) <= price(greedy)
    found, profile = replace(egraph(), nodes=1)(greedy)
    assert found is greedy and profile.stop == f"the graph has {len(greedy)} nodes"


@pytest.mark.parametrize("option", ["nodes", "seconds", "rounds"])
def test_a_budget_of_zero_is_refused(option):
    with pytest.raises(ValueError, match=f"egraph: the budget of {option} is 0; expected a positive number"):
        replace(egraph(), **{option: 0})


def test_rules_that_never_end_are_ended_by_the_budget():
    """A rule that makes a longer form each time."""
    longer = node_rule(
        "longer", T.exp, lambda node: T.exp(node.inputs[0] + 1) * np.exp(-1.0), contract=relaxes("rounding"),
        formula="exp(x) -> exp(x + 1) / e",
    )  # fmt: skip
    graph = FunctionGraph([X], [T.exp(X)])
    found, profile = replace(egraph(), groups=((longer,),), nodes=60, rounds=100)(graph)
    assert found is graph and profile.stop == "60 nodes"


def test_a_rule_that_is_more_accurate_is_not_undone():
    """log(1 + exp(x)) is cheaper to price than log1p; the stable form stays."""
    expression = T.log(1 + T.exp(X))
    graph = FunctionGraph([X], [expression])
    found, _ = egraph()(graph)
    assert found is not graph
    assert np.isfinite(interpret(found, [np.full((100, 30), 800.0)])[0]).all()


@pytest.mark.long
def test_a_training_step_is_no_worse_and_takes_ten_seconds_at_most():
    x, y = T.matrix("x"), T.matrix("y")
    weights = [T.matrix(f"w{k}") for k in range(60)]
    h = x
    for w in weights:
        h = T.tanh(h @ w)
    steps = [w - 0.1 * g for w, g in zip(weights, ag.grad(((h - y) ** 2).sum(), weights), strict=True)]
    graph = FunctionGraph([x, y, *weights], steps)
    greedy = ag.rewrite(graph, "fast_run <1.66")
    found, profile = replace(egraph(), seconds=8.0)(greedy)
    assert len(graph) > 500 and profile.time < 10
    assert price(found) <= price(greedy)
