"""Joins and padded arrays whose parts are computed where they belong: nothing in between, values as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph, parse
from arignote.ops.core.interpret import interpret
from arignote.ops.core.vocabulary import vocabulary
from arignote.ops.elementwise.costs import additions
from arignote.ops.lowered.assembled import Assembled

X, Y, V = T.matrix("x"), T.matrix("y"), T.vector("v")
SEPARATE = "fast_run -assembly_fusion"
ROW = T.tensor("r", "float64", (1, None))

WHOLE = {
    "rows": ([X, Y], T.concatenate([T.exp(X) + 1, 2 * Y])),
    "columns": ([X, Y], T.concatenate([T.exp(X), Y, X * Y], axis=1)),
    "transposed parts": ([X, Y], T.concatenate([X.T * 2, T.exp(Y)])),
    "stack": ([X, Y], T.stack([X + Y, X * Y], axis=1)),
    "vectors": ([V], T.concatenate([V * 2, V, [1.0], V[::-1] + 1])),
    "joins of joins": ([X, Y], T.vstack([T.hstack([X * 2, T.exp(Y)]), T.zeros((2, X.shape[1] + Y.shape[1]))])),
    "zeros": ([X], T.concatenate([T.zeros_like(X), X + 1])),
    "mixed dtypes": ([X], T.concatenate([X > 0, X])),
    "integers": ([X], T.concatenate([X > 0, X < 1], axis=1)),
    "padded": ([X], T.pad(2 * X, 1)),
    "padded unevenly": ([X], T.pad(T.exp(X), ((1, 2), (0, 3)), constant_values=7)),
    "one row": ([ROW, X], T.concatenate([ROW * 2, X * 3])),
    "every other column": ([X], T.set_subtensor(T.zeros((40, 80))[: X.shape[0], : 2 * X.shape[1] : 2], X * 2)),
}


def assembled(*outputs, inputs):
    """The names of what each assembled node of the optimized graph is made of."""
    graph = ag.rewrite(FunctionGraph(inputs, outputs), "fast_run")
    return [[n.op.name for n in node.op.graph.order] for node in graph.order if isinstance(node.op, Assembled)]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", WHOLE)
def test_parts_are_computed_where_they_belong(name):
    inputs, y = WHOLE[name]
    f, separate = ag.function(inputs, y), ag.function(inputs, y, mode=SEPARATE)
    assert len(assembled(y, inputs=inputs)) == 1
    assert not f.program.slots
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 7, 40):
        arrays = [rng.standard_normal((1, n) if i is ROW else (n,) * i.ndim) for i in inputs]
        meant = interpret(FunctionGraph(inputs, [y]), arrays)[0]
        for given in (arrays, [np.asfortranarray(a) for a in arrays], [np.flip(np.flip(a).copy()) for a in arrays]):
            got = f(*given)
            assert got.dtype == meant.dtype
            np.testing.assert_array_equal(got, separate(*given))
            np.testing.assert_allclose(got, meant, rtol=1e-13, atol=1e-13)


READ = {
    "an elementwise op of a join": ([X, Y], T.tanh(2 * T.concatenate([X, Y]))),
    "an elementwise op of a padded array": ([X], T.exp(T.pad(X, 1)) * 3.0),
    "a sum of a join": ([X, Y], (T.concatenate([X, Y]) ** 2).sum()),
    "columns of a join": ([X, Y], (T.concatenate([X, Y]) ** 2).sum(0)),
}


@pytest.mark.parametrize("name", READ)
def test_work_on_what_was_put_together_is_done_on_its_parts(name):
    inputs, y = READ[name]
    f = ag.function(inputs, y)
    assert all(b.output is not None or len(f.graph.outputs[0].type.shape) < 2 for b in f.program.slots)
    rng = np.random.default_rng(0)
    for n in (0, 1, 7, 300):
        given = [rng.standard_normal((n, n)) for _ in inputs]
        meant = interpret(FunctionGraph(inputs, [y]), given)[0]
        np.testing.assert_allclose(f(*given), meant, rtol=1e-12, atol=1e-13)


def test_on_many_threads_and_rows():
    inputs, y = WHOLE["columns"]
    x, z = np.random.default_rng(0).standard_normal((2, 1200, 700))
    got = ag.function(inputs, y, threads=2)(x, z)
    np.testing.assert_allclose(got, np.concatenate([np.exp(x), z, x * z], axis=1), rtol=1e-13)


@pytest.mark.parametrize(
    "outputs",
    [
        (T.concatenate([X, Y]),),
        (b := T.exp(X), T.concatenate([b, b])),
        (T.concatenate([T.exp(X).sum(0), V]),),
        (T.set_subtensor(X[1:], 2 * Y),),  # X is the caller's
        (T.concatenate([T.dot(X, Y), X]),),
    ],
)
def test_what_stays_separate(outputs):
    assert assembled(*outputs, inputs=[X, Y, V]) == []


def test_a_value_that_is_broadcast_to_its_part():
    n = T.lscalar("n")
    y = T.set_subtensor(T.zeros((n, 5))[1:4, 1:], X * 2)
    f = ag.function([X, n], y)
    assert len(assembled(y, inputs=[X, n])) == 1
    for shape in [(3, 4), (1, 4), (3, 1), (1, 1)]:
        x, whole = np.random.default_rng(0).standard_normal(shape), np.zeros((6, 5))
        whole[1:4, 1:] = x * 2
        np.testing.assert_array_equal(f(x, 6), whole)
    with pytest.raises(ValueError, match="lengths 2 and 3"):
        f(np.ones((2, 4)), 6)


def test_parts_whose_lengths_broadcast_at_run_time():
    f = ag.function([X, Y], T.concatenate([X + Y, Y]))
    rng = np.random.default_rng(0)
    for rows in (1, 3):
        x, y = rng.standard_normal((3, 4)), rng.standard_normal((rows, 4))
        np.testing.assert_array_equal(f(x, y), np.concatenate([x + y, y]))


def test_lengths_that_do_not_agree():
    f = ag.function([X, Y], T.concatenate([X * 2, Y * 2]))
    with pytest.raises(ValueError, match="lengths 3 and 4 do not agree on axis 1"):
        f(np.ones((2, 3)), np.ones((2, 4)))


def test_the_text_parses_back():
    graph = ag.rewrite(FunctionGraph(*[list(part) for part in ([X, Y], [WHOLE["rows"][1]])]), "fast_run")
    assert "assembled" in str(graph)
    assert str(parse(str(graph), vocabulary())) == str(graph)


def test_the_profile_counts_each_part():
    f = ag.function([X, Y], T.concatenate([T.exp(X), 3 * Y, T.zeros_like(X)]), profile=True)
    f(np.ones((10, 8)), np.ones((20, 8)))
    (row,) = (r for r in f.profile.steps if r.op == "Assembled")
    assert row.flops == additions(T.exp(X).owner) * 10 * 8 + 20 * 8
    assert row.text.startswith("v")


@pytest.mark.parametrize("start", [-9, -2, 0, 1, 3, 5, 9])
@pytest.mark.parametrize("stop", [-9, -1, 0, 2, 5, 9])
def test_all_around_a_part_is_filled(start, stop):
    """Bounds that are known in the call, beyond the ends or the wrong way round."""
    i, j, number, x = T.iscalar("i"), T.iscalar("j"), T.scalar("number"), T.tensor3("x")
    whole = T.set_subtensor(T.alloc(number, 3, 5, 4)[:, i:j, 1:3], T.exp(x))
    f = ag.function([x, i, j, number], whole)
    count = len(range(*slice(start, stop).indices(5)))
    value = np.random.default_rng(5).normal(size=(3, count, 2))
    expected = np.full((3, 5, 4), np.nan)
    expected[:, start:stop, 1:3] = np.exp(value)
    np.testing.assert_allclose(f(value, start, stop, np.nan), expected, rtol=1e-14)
