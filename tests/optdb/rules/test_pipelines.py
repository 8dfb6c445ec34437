"""Stencils in a row, and gathers with what reads them: one call over blocks of rows, with the bits of separate ones."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph, parse
from arignote.ops.core.interpret import interpret
from arignote.ops.core.vocabulary import vocabulary
from arignote.ops.lowered.pipeline import Pipeline

X, Y, W = T.matrix("x"), T.matrix("y"), T.matrix("w")
V, I = T.vector("v"), T.vector("i", "int64")
CUBE, FLOATS = T.tensor("c", "float64", (None, None, None)), T.matrix("f", "float32")
KNOWN = T.tensor("k", "float64", (40, 30))
UNFUSED = "fast_run -pipeline_fusion"


def blur(x):
    """The mean of nine neighbours."""
    n, m = x.shape
    return sum(x[i : n - 2 + i, j : m - 2 + j] for i in range(3) for j in range(3)) / 9.0


def sharpen(b):
    return 2 * b[1:-1, 1:-1] - 0.25 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def along(x):
    """Three neighbours of a row, or of a vector."""
    return x[..., :-2] + 2 * x[..., 1:-1] + x[..., 2:]


def down(x):
    """Three neighbours of a column."""
    return x[:-2] + 2 * x[1:-1] + x[2:]


STENCILS = {
    "blur then sharpen": (X, sharpen(blur(X))),
    "known lengths": (KNOWN, sharpen(blur(KNOWN))),
    "float32": (FLOATS, sharpen(blur(FLOATS))),
    "rows then columns": (X, down(along(X))),
    "columns then rows": (X, along(down(X))),
    "three in a row": (X, down(T.tanh(down(along(X))))),
    "two of a vector": (V, along(T.exp(along(V)))),
    "two of a cube": (CUBE, down(along(CUBE))),
    "every other column of the first": (X, down(along(X)[:, ::2])),
    "sums of rows of the second": (X, down(along(X)).sum(1)),
    "a softmax of the second": (X, T.nn.softmax(down(along(X)))),
    "rows far unfused": (X, along(X)[5:] - along(X)[:-5]),
}
GATHERS = {
    "rows": ([W, I, X], W[I] * X),
    "a softmax of rows": ([W, I], T.nn.softmax(W[I])),
    "sums of rows": ([W, I, X], (W[I] * X).sum(1)),
    "elements": ([V, I, X], T.exp(V[I])[:, None] * X),
    "columns": ([W, I], T.take(W, I, axis=1) * 2),
    "two gathers": ([W, V, I], W[I] * V[I][:, None] + W[I + 0]),
}

B = T.vector("b")
NORMALIZED = (X - X.mean(1, keepdims=True)) / T.sqrt(X.var(1, keepdims=True) + 1e-5)
ROWS = {
    "a softmax, scaled": T.nn.softmax(X) * B,
    "a layer norm": NORMALIZED * V + B,
    "a layer norm and its exponential": T.exp(NORMALIZED * V + B),
    "a softmax, scaled, of which sums": (T.nn.softmax(X) * B).sum(1),
    "rows that are broadcast, and columns": T.nn.softmax(X) * Y,
    "twice": T.nn.softmax(T.nn.softmax(X) * V) * B,
}
"""Rows that are reduced, and what reads them beside a row or matrix of unknown length."""


def pipelines(*outputs, inputs):
    """The stages of each pipeline of the optimized graph, by name."""
    graph = ag.rewrite(FunctionGraph(inputs, outputs), "fast_run")
    found = [node for node in graph.order if isinstance(node.op, Pipeline)]
    return [[stage.op.name for stage in node.op.stages(node)] for node in found]


def arrays(variable, shape, rng):
    """C-contiguous, by columns, reversed, every other element."""
    x = rng.standard_normal(shape).astype(variable.dtype)
    wide = np.repeat(x, 2, axis=-1)
    return [x, np.asfortranarray(x), np.flip(x).copy()[(slice(None, None, -1),) * x.ndim], wide[..., ::2]]


# --- which nodes


@pytest.mark.parametrize("name", STENCILS)
def test_stencils_in_a_row_are_one_node(name):
    x, y = STENCILS[name]
    (stages,) = pipelines(y, inputs=[x])
    assert len(stages) == (3 if name == "three in a row" else 2)


def test_a_gather_goes_with_the_elementwise_group_that_reads_it():
    for name in ("rows", "sums of rows", "elements", "columns"):
        inputs, y = GATHERS[name]
        assert [stages[0] for stages in pipelines(y, inputs=inputs)] == ["advanced_subtensor"]


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_are_reduced_go_with_what_reads_them(name):
    (stages,) = pipelines(ROWS[name], inputs=[X, Y, V, B])
    assert len(stages) >= 2


def test_a_layer_norm_of_float32_is_one_node():
    """Its cheap quotients stay with the reader, which takes sums of rows through a view of one column."""
    x, v, b = T.fmatrix("x"), T.fvector("v"), T.fvector("b")
    inputs, y = [x, v, b], T.nn.layer_norm(x, v, b)
    (stages,) = pipelines(y, inputs=inputs)
    assert stages == ["fused", "fused"]
    graph = ag.rewrite(FunctionGraph(inputs, [y]), "fast_run")
    assert "dimshuffle" in [node.op.name for node in graph.order[-1].op.graph.order]
    f, unfused = (ag.function(inputs, y, mode=mode) for mode in ("fast_run", UNFUSED))
    rng = np.random.default_rng(0)
    for rows, columns in [(3000, 768), (500, 300), (2000, 7), (3, 100_000), (1, 1), (0, 5), (4, 0)]:
        values = [rng.standard_normal(shape).astype("float32") for shape in ((rows, columns), columns, columns)]
        np.testing.assert_array_equal(f(*values), unfused(*values))
    broadcasts_of = [rng.standard_normal(n).astype("float32") for n in ((2000, 1), (9,), (1,))]
    np.testing.assert_array_equal(f(*broadcasts_of), unfused(*broadcasts_of))
    with pytest.raises(ValueError, match="lengths 300 and 7"):
        f(np.ones((500, 300), "float32"), np.ones(7, "float32"), np.ones(300, "float32"))


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("rows, columns", [(500, 300), (3, 100_000), (700, 1), (1, 1), (0, 5), (4, 0), (2000, 7)])
def test_rows_mean_what_they_do_in_numpy(name, rows, columns):
    y, rng = ROWS[name], np.random.default_rng(0)
    graph = FunctionGraph([X, Y, V, B], [y])
    f, unfused = (ag.function([X, Y, V, B], y, mode=q, on_unused_input="ignore")
                for q in ("fast_run", UNFUSED))  # fmt: skip
    for wide in {columns, 1, 9 if columns == 1 else columns}:
        x, v, b = rng.standard_normal((rows, columns)), rng.standard_normal(wide), rng.standard_normal(wide)
        for other in ((rows, wide), (1, wide), *([(6, wide)] if rows == 1 else [])):
            w = rng.standard_normal(other)
            np.testing.assert_array_equal(f(x, w, v, b), unfused(x, w, v, b))
            if x.size:
                np.testing.assert_allclose(f(x, w, v, b), interpret(graph, [x, w, v, b])[0], rtol=1e-9, atol=1e-12)
        for odd in arrays(X, (rows, columns), rng):
            np.testing.assert_allclose(f(odd, w, v, b), f(np.ascontiguousarray(odd), w, v, b), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "outputs",
    [
        (T.nn.softmax(X).sum(0),),  # columns end with the last row
        (s := T.nn.softmax(X), s * Y),  # an output is kept whole
        (X.sum(1) * Y,),  # there are no rows between
        (along(X),),
        (b := along(X), down(b)),  # an output is kept whole
        (down(b), T.exp(b).sum()),  # as is what somebody else reads
        (T.dot(b[1:], Y),),
        (T.exp(b)[::2] + T.exp(b)[1::2],),  # rows that do not follow one another
        (down(b).sum(0),),  # columns end with the last row
        (W[I],),
        (T.dot(W[I], Y),),
    ],
)
def test_what_stays_separate(outputs):
    assert pipelines(*outputs, inputs=[X, Y, W, I]) == []


def test_the_new_value_of_an_input_stays_separate():
    graph = FunctionGraph([X, W, I], [X - 0.1 * W[I]], updates=[(0, 0)])
    assert not any(isinstance(node.op, Pipeline) for node in ag.rewrite(graph, "fast_run").order)


def test_the_text_of_a_pipeline_parses_back():
    graph = ag.rewrite(FunctionGraph([X], [down(along(X))]), "fast_run")
    assert str(parse(str(graph), vocabulary())) == str(graph)
    assert "pipeline" in str(graph)


def test_the_gradient_of_a_pipeline_is_that_of_its_stages():
    graph = ag.rewrite(FunctionGraph([X], [down(along(X))]), "fast_run")
    (through,) = ag.grad(graph.outputs[0].sum(), [graph.inputs[0]])
    (expected,) = ag.grad(down(along(X)).sum(), [X])
    x = np.random.default_rng(0).standard_normal((7, 6))
    meant = interpret(FunctionGraph([X], [expected]), [x])[0]
    np.testing.assert_allclose(interpret(FunctionGraph(graph.inputs, [through]), [x])[0], meant, rtol=1e-12)


# --- values


@pytest.mark.few(1)
@pytest.mark.parametrize("name", STENCILS)
def test_stencils_have_the_bits_of_separate_kernels(name):
    x, y = STENCILS[name]
    rng = np.random.default_rng(0)
    together, unfused = ag.function([x], y), ag.function([x], y, mode=UNFUSED)
    alone = ag.function([x], y, threads=1)
    assert "rt->pipeline(" in together.c_source()
    long = {1: [(5,), (6,), (70_001,), (300_000,)], 3: [(5, 4, 4), (200, 41, 37)]}
    shapes = long.get(x.ndim, [(7, 7), (9, 40), (300, 517), (2500, 67), (70, 5003)])
    for shape in [x.type.shape] if None not in x.type.shape else shapes:
        for given in arrays(x, shape, rng):
            expected, got = unfused(given), together(given)
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got, expected)
            np.testing.assert_array_equal(alone(given), got)
        meant = interpret(FunctionGraph([x], [y]), [given])[0]
        np.testing.assert_allclose(got, meant, rtol=1e-4 if x.dtype == "float32" else 1e-9, atol=1e-5)


@pytest.mark.parametrize("shape", [(0, 0), (0, 9), (9, 0), (1, 1), (3, 3), (4, 4), (5, 1), (1, 5), (2, 2)])
def test_nothing_and_little(shape):
    x = np.ones(shape)
    for name in ("rows then columns", "blur then sharpen", "sums of rows of the second"):
        f, unfused = ag.function([X], STENCILS[name][1]), ag.function([X], STENCILS[name][1], mode=UNFUSED)
        np.testing.assert_array_equal(f(x), unfused(x))


@pytest.mark.few(7)
@pytest.mark.parametrize("name", GATHERS)
@pytest.mark.parametrize("rows", [0, 1, 7, 1000, 100_003])
def test_gathers_mean_what_they_do_in_numpy(name, rows):
    inputs, y = GATHERS[name]
    rng = np.random.default_rng(rows)
    made = {
        W: rng.standard_normal((50, 9)), V: rng.standard_normal(50), X: rng.standard_normal((rows, 9)),
        I: rng.integers(-9 if name == "columns" else -50, 9 if name == "columns" else 50, rows),
    }  # fmt: skip
    given = [made[i] for i in inputs]
    f = ag.function(inputs, y)
    np.testing.assert_allclose(f(*given), interpret(FunctionGraph(inputs, [y]), given)[0], rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(f(*given), ag.function(inputs, y, threads=1)(*given))


def test_lengths_that_broadcast_at_run_time():
    """One row is broadcast over all: rows of the line buffer are not adjacent, so the stages run whole."""
    y = X[1:] * down(along(Y))
    f, unfused = ag.function([X, Y], y), ag.function([X, Y], y, mode=UNFUSED)
    rng = np.random.default_rng(0)
    x, given = rng.standard_normal((397, 900)), rng.standard_normal((398, 3))
    np.testing.assert_array_equal(f(x[:397], given[:398]), unfused(x[:397], given[:398]))
    x, one = rng.standard_normal((1000, 700)), rng.standard_normal((3, 702))
    np.testing.assert_array_equal(f(x, one), unfused(x, one))
    gathered = ag.function([W, I, X], W[I] * X)
    w, many = rng.standard_normal((5, 300)), rng.standard_normal((2000, 300))
    np.testing.assert_array_equal(gathered(w, np.array([3]), many), w[[3]] * many)
    np.testing.assert_array_equal(gathered(w, rng.integers(0, 5, 2000), many[:1]).shape, (2000, 300))


def test_lengths_that_do_not_agree():
    f = ag.function([W, I, X], W[I] * X)
    with pytest.raises(ValueError, match="lengths 3 and 4 do not agree on axis 0"):
        f(np.ones((5, 2)), np.zeros(3, "int64"), np.ones((4, 2)))


@pytest.mark.parametrize("rows", [3, 200_000])
@pytest.mark.parametrize("bad", [-6, 5, 2**62])
def test_an_index_out_of_range_is_reported_as_without_the_pipeline(rows, bad):
    at = np.zeros(rows, "int64")
    at[rows // 2] = bad
    given = np.ones((5, 4)), at, np.ones((rows, 4))
    message = []
    for mode in ("fast_run", UNFUSED):
        with pytest.raises(IndexError) as caught:
            ag.function([W, I, X], (W[I] * X).sum(1), mode=mode)(*given)
        message.append(str(caught.value).partition("\n")[0])
    assert message[0] == message[1] == f"function: index {bad} is out of bounds for axis 0 of w with size 5"


def test_the_second_of_two_gathers_is_named():
    f = ag.function([W, I, V], W[I] * V[I][:, None])
    with pytest.raises(IndexError, match="axis 0 of v with size 3"):
        f(np.ones((5, 4)), np.array([4]), np.ones(3))


# --- memory and profile


WITHIN = """
import numpy as np
import arignote as ag
from arignote import ops as T
from arignote.cbackend.runtime.runtime import load_runtime
x = T.matrix("x")
b = x[:, :-2] + 2 * x[:, 1:-1] + x[:, 2:]
f = ag.function([x], (b[{0}:-2] + 2 * b[{0} + 1 : -1] + b[{0} + 2 :]).sum(1), threads=1)
assert (f(np.ones((2048, 2048))) == 16 * 2046).all()
assert not f.program.slots
print(load_runtime(None, None).pool().peak)  # the one that f has loaded
"""


@pytest.mark.parametrize("first", [0, 500])
def test_what_stands_between_is_four_rows_in_a_block_of_the_pool(first):
    """Whichever row is the first that a later stage reads."""
    command = [sys.executable, "-c", WITHIN.format(first)]
    peak = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert 4 * 2046 * 8 <= peak <= 5 * 2048 * 8


def test_the_profile_counts_each_stage():
    f = ag.function([X], down(along(X)), profile=True)
    f(np.ones((1002, 1002)))
    (row,) = (r for r in f.profile.steps if r.op == "Pipeline")
    assert row.flops == 3 * 1002 * 1000 + 3 * 1000 * 1000
    assert "add+mul" in row.text.replace("mul+add", "add+mul")
