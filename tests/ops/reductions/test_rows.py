"""Rows that are read in several passes by one kernel: what goes together, what waits, values, and the C text."""

import random
import re

import numpy as np
import pytest
from ckernel import Library
from draws import mostly_long

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext.emit import kernel_c
from arignote.cbackend.lowering.lower import lower
from arignote.graph import FunctionGraph, TensorType
from arignote.ops.core.interpret import interpret
from arignote.ops.core.tensor import TensorVariable
from arignote.ops.lowered.fused import Fused
from arignote.ops.lowered.row_passes import Top, is_row_graph, opened, row_plan
from arignote.optdb.rules.fusion.elementwise import FusionOptimizer

FUSE = FusionOptimizer(name="composite_elemwise_fusion")
X, Z, W, R = T.matrix("X"), T.matrix("Z"), T.vector("W"), T.vector("R")
F32 = TensorVariable(TensorType("float32", (None, None)), name="F32")


def names(graph):
    return [names(n.op.graph) if isinstance(n.op, Fused) else n.op.name for n in graph.order]


def kinds(*outputs):
    """The optimized nodes, those of a group in a list, without the leaves' order."""
    inputs = [v for v in (X, Z, W, R) if any(v in FunctionGraph([X, Z, W, R], [o]).uses for o in outputs)]
    return names(FUSE(FunctionGraph(inputs, outputs))[0])


def normalized(x):
    centred = x - T.mean(x, 1, keepdims=True)
    return centred / T.sqrt(T.mean(centred * centred, 1, keepdims=True) + 1e-5)


# --- what goes together


def test_a_row_is_reduced_and_read_again_by_one_group():
    s = T.sum(T.exp(X), axis=1, keepdims=True)
    assert kinds(T.exp(X - s) * 2.0) == [["exp", "sum", "dimshuffle", "sub", "exp", "mul"]]


def test_producers_and_epilogues_of_the_softmax_family_share_its_kernel():
    assert kinds(T.softmax(X * 2.0 + W) + 1.0) == [["mul", "add", "softmax", "add"]]
    assert kinds(T.logsumexp(X * 2.0, 1) * 3.0) == [["mul", "logsumexp", "mul"]]
    assert kinds(T.log_softmax(X), T.max(X, axis=1)) == [["log_softmax", "max"]]


@pytest.mark.parametrize("shape", [(2048, 768), (4, 5, 768)])
def test_layer_norm_is_one_kernel(shape):
    x, w = T.tensor("float64", shape=shape), T.tensor("float64", shape=shape[-1:])
    centred = x - T.mean(x, -1, keepdims=True)
    y = centred / T.sqrt(T.mean(centred * centred, -1, keepdims=True) + 1e-5) * w + w
    f = ag.function([x, w], y)
    assert sum(isinstance(n.op, Fused) for n in f.graph.order) == 1


def test_mean_and_variance_are_one_kernel():
    f = ag.function([X], [T.mean(X, 1), T.var(X, 1)])
    assert sum(isinstance(n.op, Fused) for n in f.graph.order) == 1
    x = np.random.default_rng(0).normal(1e4, 1, (50, 999)).astype("float32")
    mean, var = ag.function([F32], [T.mean(F32, 1), T.var(F32, 1)])(x)
    np.testing.assert_allclose(mean, x.astype("float64").mean(1), rtol=1e-6)
    np.testing.assert_allclose(var, x.astype("float64").var(1), rtol=1e-5)


def test_what_stands_between_keeps_groups_separate():
    total = T.sum(X, axis=1)
    late = T.dot(X, total)  # one element a row, but all rows must be summed first
    assert kinds(X - T.expand_dims(late, 1)) == ["sum", "dot", "dimshuffle", "sub"]


def test_elements_that_stand_for_other_rows_are_not_read_in_the_row():
    square = T.tensor("float64", shape=(40, 40))
    total = T.sum(square, axis=1)
    graph = FUSE(FunctionGraph([square], [square - total]))[0]  # along the columns
    assert names(graph) == ["sum", "sub"]
    assert names(FUSE(FunctionGraph([square], [square - T.expand_dims(total, 1)]))[0]) == [["sum", "dimshuffle", "sub"]]


def test_a_transposed_row_is_not_a_row():
    y = T.softmax(X)
    assert kinds(y.T + Z) == ["softmax", "dimshuffle", "add"]


def test_few_long_rows_stay_separate_for_the_threads():
    x = T.tensor("float64", shape=(2, 1 << 20))
    assert len(names(FUSE(FunctionGraph([x], [x - T.sum(x, axis=1, keepdims=True)]))[0])) == 3


def test_nothing_is_overwritten_that_is_read_again():
    x = ag.shared(np.random.default_rng(0).normal(size=(40, 30)), name="x")
    before = x.get_value()
    f = ag.function([], [], updates=[(x, T.exp(x - T.max(x, 1, keepdims=True)))])
    f()
    np.testing.assert_allclose(x.get_value(), np.exp(before - before.max(1, keepdims=True)), rtol=1e-15)


# --- passes


def plan_of(inputs, *outputs):
    graph = FunctionGraph(inputs, outputs)
    assert is_row_graph(graph)
    return row_plan(opened(graph))


def test_passes_of_a_softmax():
    plan = plan_of([X], T.softmax(X))
    assert [[r.owner.op.name for r in p] for p in plan.folded] == [["top"], ["sum"], []]
    assert plan.written == ((), (), (0,))
    assert [(w.value.owner.op.name, w.since, w.until, w.slot) for w in plan.waiting] == [("exp", 1, 2, 0)]


def test_cheap_values_are_computed_again():
    assert plan_of([X], normalized(X)).waiting == ()


def test_costly_values_that_fit_no_output_get_one():
    t = T.tanh(X)
    (w,) = plan_of([X], T.sum(t * T.max(t, axis=1, keepdims=True), axis=1)).waiting
    assert (w.value.owner.op.name, w.slot) == ("tanh", None)
    (node,) = FUSE(FunctionGraph([X], [T.sum(t * T.max(t, axis=1, keepdims=True), axis=1)]))[0].order
    assert len(node.outputs) == 2
    assert len(re.findall(r"= ag_tanh_f64\(", kernel_c(lower(node)))) == 3  # contiguous rows, others, short ones


def test_other_reductions_are_refused():
    with pytest.raises(ValueError, match="last axis"):
        row_plan(FunctionGraph([X], [X - T.sum(X, axis=0)]))


def test_the_top_of_a_row_passes_over_nan():
    x = np.array([[np.nan, 1, 2], [np.nan, np.nan, np.nan], [-np.inf, np.inf, 0]])
    np.testing.assert_array_equal(Top(1).evaluate(x)[0], [2, -np.inf, np.inf])
    assert Top(1).evaluate(x[:, :0])[0].tolist() == [-np.inf] * 3
    with pytest.raises(TypeError, match="floating-point"):
        Top(1)(T.lmatrix())


# --- values


def random_rows(rng, dtype):
    """Outputs made of whole rows and of single elements a row, over `inputs`."""
    x, z = (TensorVariable(TensorType(dtype, (None, None))) for _ in range(2))
    w, r = (TensorVariable(TensorType(dtype, (None,))) for _ in range(2))
    whole, single = [x, z, x + z, x * w], [r]
    for _ in range(rng.randint(3, 7)):
        f, s = rng.choice(whole), rng.choice(single)
        make = rng.choice([
            lambda f, s: (T.softmax(f), None), lambda f, s: (T.log_softmax(f), None),
            lambda f, s: (f - s[:, None], None), lambda f, s: (T.tanh(f) * x, None),
            lambda f, s: (f + T.sqrt(abs(s[:, None]) + 1), None), lambda f, s: (None, T.logsumexp(f, 1)),
            lambda f, s: (None, T.mean(f, 1)), lambda f, s: (None, T.exp(-abs(s)) + s),
            lambda f, s: (None, getattr(T, rng.choice(["max", "min", "var"]))(f, 1)),
        ])  # fmt: skip
        a, b = make(f, s)
        whole += [] if a is None else [a]
        single += [] if b is None else [b]
    return [x, z, w, r], [whole[-1], rng.choice(single), rng.choice(whole), whole[-1].T * 2, T.sum(whole[-1], 0)]


@pytest.mark.parametrize("seed", mostly_long(range(9), range(3)))
def test_values_of_random_rows(seed):
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    dtype = ["float32", "float64", "float16"][seed % 3]
    inputs, outputs = random_rows(rng, dtype)
    f, g = ag.function(inputs, outputs, on_unused_input="ignore"), FunctionGraph(inputs, outputs)
    tolerance = {"float16": 6e-2, "float32": 2e-3, "float64": 1e-10}[dtype]
    for rows, columns in [(5, 7), (3, 300), (1, 1), (0, 4), (4, 1)]:
        values = [numbers.normal(size=s).astype(dtype) for s in ((rows, columns), (rows, columns), columns, rows)]
        values[1] = np.asfortranarray(values[1])
        for got, expected in zip(f(*values), interpret(g, values), strict=True):
            np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def test_a_producer_that_is_computed_twice_never_makes_an_infinity():
    x, s, b = F32, T.fscalar("s"), T.fvector("b")
    f = ag.function([x, s, b], T.softmax(x * s + b))
    assert sum(isinstance(n.op, Fused) for n in f.graph.order) == 1
    numbers = np.random.default_rng(0)
    values = numbers.normal(size=(100_000, 9)).astype("float32")
    for scale in (1.0, 1e10, 3e37):
        y = f(values, np.float32(scale), numbers.normal(size=9).astype("float32"))
        assert np.isfinite(y).all()
        np.testing.assert_allclose(y.sum(1), 1, atol=1e-6)


def test_an_extremum_of_no_elements_is_refused():
    f = ag.function([X], X - T.max(X, 1, keepdims=True))
    with pytest.raises(ValueError, match="max"):
        f(np.zeros((3, 0)))


def test_operands_inside_a_row_kernel_that_do_not_agree_are_named():
    f = ag.function([X, W], T.softmax(X * W) + 1.0)
    with pytest.raises(ValueError, match=r"lengths 4 and 3"):
        f(np.zeros((2, 4)), np.zeros(3))


# --- text


def test_golden_layer_norm(golden):
    n = TensorVariable(TensorType("float32", ()))
    centred = F32 - T.sum(F32, 1, keepdims=True) / n
    y = centred / T.sqrt(T.sum(T.square(centred), 1, keepdims=True) / n)
    kernel = lower(Fused(FunctionGraph([F32, n], [y]))(F32, n).owner)
    golden("layer_norm.c", kernel_c(kernel))
    x = np.random.default_rng(0).normal(size=(7, 301)).astype("float32")
    (got,) = Library([kernel]).run(kernel, [x, np.float32(301)])
    np.testing.assert_allclose(got, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), rtol=1e-4, atol=1e-6)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_masks_stored_beside_sums(dtype):
    """A step keeps the bools that it stores as wide numbers; those behind the last full step are stored themselves."""
    x, s = T.matrix("x", dtype=dtype), T.vector("s", dtype=dtype)
    top = x.max(1, keepdims=True)
    mask, e = T.eq(x, top), T.exp(x - top)
    f = ag.function([x, s], [mask, e * s[:, None], e.sum(1), mask.sum(1), T.where(mask, s[:, None], 0).sum(0)])
    for n in (1, 15, 16, 35, 100, 130, 259):
        values = np.random.default_rng(n).integers(-5, 5, (20, n)).astype(dtype)
        scale = np.arange(20).astype(dtype)
        for rows in (values, np.asfortranarray(values)):
            equal, scaled, total, count, columns = f(rows, scale)
            want = values == values.max(1, keepdims=True)
            terms = np.exp(values - values.max(1, keepdims=True))
            np.testing.assert_array_equal(equal, want)
            np.testing.assert_array_equal(count, want.sum(1))
            np.testing.assert_allclose(columns, np.where(want, scale[:, None], 0).sum(0), rtol=1e-6)
            np.testing.assert_allclose(scaled, terms * scale[:, None], rtol=1e-6)
            np.testing.assert_allclose(total, terms.sum(1), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int64"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extrema_of_masked_rows(name, dtype):
    """Bools are as wide as the numbers in such loops, strip by strip, whatever the strides are."""
    mask, x = T.matrix("mask", dtype="bool"), T.matrix("x", dtype=dtype)
    f = ag.function([mask, x], getattr(T, name)(T.where(mask, x, T.constant(np.array(3, dtype))), 1))
    draws = np.random.default_rng(0)
    for length in (1, 2, 15, 16, 17, 31, 32, 33, 63, 65, 100, 5000):
        numbers = (draws.standard_normal((6, 2 * length)) * 100).astype(dtype)
        if dtype[0] == "f":
            numbers[1, 0], numbers[2, -2], numbers[3, 0] = np.nan, np.nan, -np.inf
        chosen = draws.random((6, 2 * length)) < 0.7
        for m, v in ((chosen[:, :length].copy(), numbers[:, :length].copy()), (chosen[:, ::2], numbers[:, ::2])):
            assert np.array_equal(f(m, v), getattr(np, name)(np.where(m, v, np.array(3, dtype)), 1), equal_nan=True)
