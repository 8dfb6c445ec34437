"""Products made one with what follows them: which do, and values against NumPy whatever lengths turn out to be."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph, parse
from arignote.ops.core.vocabulary import vocabulary
from arignote.ops.lowered.fused_product import FusedProduct

A, B, D = (T.matrix(name, "float32") for name in "abd")
C, E = T.vector("c", "float32"), T.matrix("e", "float64")
X, Y = (T.tensor(name, "float32", (None, None, None)) for name in "xy")
IMAGE_KERNELS = T.tensor("kernels", "float32", (None, None, 2, 2))
ONE_ROW = T.tensor("r", "float32", (1, None))


def products(*outputs, inputs=(A, B, C, D, E, X, Y, IMAGE_KERNELS, ONE_ROW), **options):
    """The names of the products inside the fused ones of the optimized graph."""
    graph = ag.rewrite(FunctionGraph(inputs, outputs, **options), "fast_run")
    return [node.op.product.name for node in graph.order if isinstance(node.op, FusedProduct)]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (T.maximum(T.dot(A, B) + C, 0), ["dot22"]),
        (T.tanh(T.dot(A, B)), ["dot22"]),
        (T.dot(A, B) + C, ["dot22"]),
        (T.exp(2.0 * T.dot(A, B)) * D, ["dot22scalar"]),
        (T.tanh(T.dot(A.T, B) + T.dot(A, D)), ["dot22"]),  # a gemm becomes a product and an addend
        (T.cast(T.dot(A, B), "float64"), ["dot22"]),
        (T.cast(T.dot(A, B), "float64") + E, ["dot22"]),
        (T.tanh(T.matmul(X, Y) + C), ["matmul"]),
        (T.sum(T.tanh(T.dot(A, B))), []),  # a reduction has loops of its own
        (T.tanh(T.dot(A, B).T), ["dot22"]),  # of the transposed operands
        (T.tanh(T.dot(X, B) + C), ["dot22"]),  # of all rows
        (T.dot(T.tanh(T.dot(X, B) + C), D), ["dot22"]),  # from layer to layer without a pass of its own
        (T.exp(T.dot(X, B) * 2.0).reshape((-1, 3)), ["dot22"]),
        (T.tanh(T.dot(X, B)) + Y, ["dot22"]),  # a stack that may have other lengths is added behind
        (T.tanh(T.nn.conv2d(X[None], IMAGE_KERNELS).reshape((6, -1))), ["convolution"]),
        (T.tanh(T.dot(A, C)), []),
        (T.tanh(T.dot(ONE_ROW, B)), []),  # a vector in truth
        (T.dot(A, B), []),
        (T.tanh(T.dot(T.cast(A, "int32"), T.cast(B, "int32"))), []),
    ],
)
def test_products_with_one_elementwise_reader_are_made_one_with_it(output, expected):
    assert products(output) == expected


@pytest.mark.parametrize(
    "lengths", [(2, 3, 4, 5, 5), (1, 1, 1, 1, 7), (2, 3, 4, 1, 5), (3, 2, 0, 4, 1), (0, 3, 4, 5, 5)]
)
def test_stacks_of_rows_at_all_lengths(lengths):
    """The bias may be longer than the rows of the product, if these have one column."""
    m, n, k, columns, bias = lengths
    outputs = [T.tanh(T.dot(X, B) + C), T.maximum(T.dot(X, B), 0) * Y]
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((m, n, k)), rng.standard_normal((m, 1, columns))
    values = [v.astype("float32") for v in (rng.standard_normal((k, columns)), rng.standard_normal(bias), x, y)]
    found = ag.function([B, C, X, Y], outputs)(*values)
    expected = ag.function([B, C, X, Y], outputs, mode="NUMPY")(*values)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_product_that_is_read_elsewhere_stays_separate():
    p = T.dot(A, B)
    assert products(T.tanh(p), p) == []
    assert products(T.tanh(p), T.sum(p)) == []
    assert products(T.tanh(p), T.exp(p)) == ["dot22"]  # one group, of two outputs


def test_the_new_value_of_an_input_is_written_over_the_old_one_instead():
    assert products(D - 0.1 * T.tanh(T.dot(A, B)), inputs=(A, B, D)) == ["dot22"]
    assert products(D - 0.1 * T.tanh(T.dot(A, B)), inputs=(A, B, D), updates=[(2, 0)]) == []


def test_the_mode_may_leave_it_out():
    graph = FunctionGraph((A, B), (T.tanh(T.dot(A, B)),))
    for query in ("fast_run -fusion", "fast_run -product_epilogue_fusion", "fast_compile"):
        assert not any(isinstance(n.op, FusedProduct) for n in ag.rewrite(graph, query).order)


def test_text_and_derivative():
    fused = FusedProduct(T.Dot22(), FunctionGraph((D, C), (T.tanh(D + C),)))(A, B, C)
    text = str(FunctionGraph((A, B, C), (fused,)))
    assert str(parse(text, vocabulary())) == text
    plain = T.tanh(T.dot(A, B) + C)
    a, b, c = values((3, 4), (4, 5), (5,))
    for wrt in (A, B, C):
        found, expected = (ag.grad(T.sum(y), wrt).eval({A: a, B: b, C: c}) for y in (fused, plain))
        np.testing.assert_allclose(found, expected, rtol=1e-5)


# ---- values ----------------------------------------------------------------------------------------------------------


def values(*shapes, dtype="float32"):
    random = np.random.default_rng(sum(map(sum, shapes)))
    return [random.uniform(-1, 1, shape).astype(dtype) for shape in shapes]


def near(found, expected, depth):
    """Within the a-priori bound of sums of `depth` products of numbers below 1; no function here enlarges it."""
    bound = 4 * (depth + 8) * np.finfo(np.float32).eps * (depth + 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound, strict=True)


@pytest.fixture(scope="module")
def several():
    """Functions of a, b, c, d, e with a fused product each, and their meaning in NumPy."""
    relu = ag.function([A, B, C], T.maximum(T.dot(A, B) + C, 0))
    residual = ag.function([A, B, D], T.tanh(D + T.dot(A, B)))
    two = ag.function([A, B, D], [T.dot(A, B) + D, T.cast(T.dot(A, B) > D, "int8")])
    wide = ag.function([A, B, E], T.cast(T.dot(A, B), "float64") * E)
    for f in (relu, residual, two, wide):
        assert any(isinstance(n.op, FusedProduct) for n in f.graph.order) or f is two
    return relu, residual, two, wide


LENGTHS = st.sampled_from([0, 1, 2, 7, 8, 9, 16, 17, 31, 33, 64, 70])


@settings(max_examples=60)
@given(LENGTHS, LENGTHS, st.sampled_from([0, 1, 5, 16, 40, 400]), st.integers(0, 2), st.booleans())
def test_values_at_all_lengths(several, m, n, k, form, transposed):
    """`form`: the other operands have the shape of the product; are broadcast; broadcast the product."""
    relu, residual, two, wide = several
    rows, columns = (m, n) if form == 0 else (1, n) if form == 1 else (9 if m == 1 else m, 5 if n == 1 else n)
    a, b, c, d, e = values((m, k), (k, n), (columns,), (rows, columns), (rows, columns))
    if transposed:
        a, b, d = np.asfortranarray(a), np.asfortranarray(b), np.asfortranarray(d)
    exact = a.astype("float64") @ b.astype("float64")
    near(relu(a, b, c), np.maximum(exact + c, 0).astype("float32"), k)
    near(residual(a, b, d), np.tanh(exact + d).astype("float32"), k)
    near(two(a, b, d)[0], (exact + d).astype("float32"), k)
    near(wide(a, b, e.astype("float64")), exact * e, k)


def test_lengths_that_do_not_agree_are_named(several):
    a, b, c = values((3, 4), (4, 5), (6,))
    with pytest.raises(ValueError, match=r"lengths 5 and 6 do not agree on axis 1"):
        several[0](a, b, c)
    with pytest.raises(ValueError, match=r"lengths 4 and 3 of the axes that are summed over do not agree"):
        several[0](a, b[:3], c)


@pytest.mark.parametrize("shape", [(300, 500, 260), (1000, 70, 900), (9, 3000, 400)])
def test_blocks_and_threads_give_one_result(shape):
    m, n, k = shape
    a, b, c = values((m, k), (k, n), (n,))
    f = [ag.function([A, B, C], T.maximum(T.dot(A, B) + C, 0), threads=t) for t in (1, 2, 3)]
    first = f[0](a, b, c)
    near(first, np.maximum(a.astype("float64") @ b + c, 0).astype("float32"), k)
    for other in f[1:]:
        np.testing.assert_array_equal(other(a, b, c), first)


def test_batches():
    f = ag.function([X, Y, C], T.tanh(T.matmul(X, Y) + C))
    for batch, other, m, n, k in [(5, 5, 7, 9, 4), (1, 3, 8, 16, 5), (200, 1, 16, 16, 16), (0, 0, 2, 2, 2)]:
        x, y, c = values((batch, m, k), (other, k, n), (n,))
        near(f(x, y, c), np.tanh(np.matmul(x.astype("float64"), y) + c).astype("float32"), k)


def test_special_values_go_through(several):
    a, b, c = values((20, 20), (20, 20), (20,))
    a[3, 4], b[7, 8] = np.nan, np.inf
    found = several[0](a, b, c)
    expected = np.maximum(a.astype("float64") @ b + c, 0)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isposinf(found), np.isposinf(expected))


def test_other_backends_profiles_and_pickles_agree(several):
    a, b, c = values((30, 20), (20, 25), (25,))
    expected = several[0](a, b, c)
    output = T.maximum(T.dot(A, B) + C, 0)
    near(ag.function([A, B, C], output, mode=ag.Mode("fast_run fusion", backend="numpy"))(a, b, c), expected, 20)
    profiled = ag.function([A, B, C], output, profile=True)
    np.testing.assert_array_equal(profiled(a, b, c), expected)
    assert [step.kernel for step in profiled.profile.steps if step.kernel] == ["ag_product"]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(several[0]))(a, b, c), expected)


def test_the_kernel_runs_on_blocks_in_the_memory_of_the_output(several, golden):
    """The bias may broadcast the product at run time: only then has the product memory of its own."""
    text = several[0].c_source()
    start = text.index("    /* 0: ")
    golden("epilogue.c", text[start : text.index("    /* 1: outputs */", start)])


@pytest.mark.long
def test_work_in_place_goes_on_beside_a_product_with_an_epilogue():
    """Its further inputs are none of the factors whose lengths must agree."""
    w, v = (ag.shared(np.ones(shape)) for shape in ((4, 3), (3, 2)))
    x = T.matrix("x", dtype="float64")
    loss = T.sum(T.tanh(T.tanh(T.dot(x, w) + 1.5) @ v + x[:, :2]))
    updates = ag.optim.sgd([w, v], ag.grad(loss, [w, v]), 0.1)
    for query in ("fast_run", "fast_run -fusion", "fast_run -BlasOpt", "fast_run -fusion -BlasOpt"):
        f = ag.function([x], loss, updates=updates, mode=ag.Mode(query))  # its warnings are errors
        fused = [node for node in f.graph.order if isinstance(node.op, T.FusedProduct)]
        assert all(len(list(node.op.demands(node))) == 1 for node in fused)
