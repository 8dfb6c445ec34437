"""Products as BLAS calls: before and after by structure, and values on random graphs of whole numbers, bit for bit."""

import sys
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import PRODUCTS, random_graph

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph, GraphEditor
from arignote.ops.core.interpret import interpret
from arignote.ops.linalg.blas import Dot22, Dot22Scalar, Gemm, Gemv, Ger
from arignote.optdb.optimizers import SeqOptimizer, TopoOptimizer
from arignote.optdb.rules.conforming import TensorConform
from arignote.optdb.rules.linalg.blas import GEMM_TO_GEMV, local_dot22_to_dot22scalar, local_dot_to_dot22
from arignote.optdb.rules.linalg.gemm import GemmOptimizer
from arignote.optdb.rules.reductions.sum_to import SumToOptimizer
from arignote.optdb.rules.shapes.agreement import Agreement

GRAPHS = settings(max_examples=300)
GEMM = GemmOptimizer(name="gemm_optimizer")


def walk(*rules):
    return TopoOptimizer(name="rules", rules=rules, conform=TensorConform(), strict=True)


BLAS = SeqOptimizer(
    name="BlasOpt",
    strict=True,
    optimizers=(walk(local_dot_to_dot22), GEMM, walk(local_dot22_to_dot22scalar), walk(*GEMM_TO_GEMV)),
)

X, Y = T.tensor("X", "float64", (3, 5)), T.tensor("Y", "float64", (5, 4))
Z, Q = T.tensor("Z", "float64", (3, 4)), T.tensor("Q", "float64", (3, 4))
M, U, V = T.tensor("M", "float64", (3, 5)), T.tensor("U", "float64", (3,)), T.tensor("V", "float64", (5,))
S, BIAS = T.scalar("S"), T.vector("BIAS")
IX, IY = T.tensor("IX", "int64", (3, 5)), T.tensor("IY", "int64", (5, 4))
A, B = T.matrix("A"), T.matrix("B")
INPUTS = [X, Y, Z, Q, M, U, V, S, BIAS, IX, IY, A, B]
P = Dot22()(X, Y)


def gemm(z, alpha, x, y, beta):
    return Gemm()(z, T.as_tensor(alpha), x, y, T.as_tensor(beta))


def graph_of(*outputs):
    return FunctionGraph(INPUTS, outputs)


# --- sums of products


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Z + P, gemm(Z, 1.0, X, Y, 1.0)),
        (P + Z, gemm(Z, 1.0, X, Y, 1.0)),
        (Z - P, gemm(Z, -1.0, X, Y, 1.0)),
        (P - Z, gemm(Z, 1.0, X, Y, -1.0)),
        (-P - Z, gemm(Z, -1.0, X, Y, -1.0)),
        (0.5 * Z - 2.0 * P, gemm(Z, -2.0, X, Y, 0.5)),
        (Z - (Q - 3.0 * P), gemm(Z - Q, 3.0, X, Y, 1.0)),
        (T.mul(P, T.as_tensor(2.0), T.as_tensor(4.0)) + Z, gemm(Z, 8.0, X, Y, 1.0)),
        (T.dimshuffle(S, "x", "x") * P + Z, gemm(Z, S, X, Y, 1.0)),
        (Z - S * P, gemm(Z, T.mul(-1.0, S), X, Y, 1.0)),
        (S * Z + P, gemm(S * Z, 1.0, X, Y, 1.0)),  # a beta that turns out to be 0 would hide NaN in Z
        (P + Dot22()(M, Y), gemm(P, 1.0, M, Y, 1.0)),
        (2.0 * P - Dot22()(M, Y), gemm(Dot22Scalar()(X, Y, T.as_tensor(2.0)), -1.0, M, Y, 1.0)),
        (T.tanh(P + Z + BIAS), T.tanh(gemm(Z, 1.0, X, Y, 1.0) + BIAS)),
        (P - BIAS + Z, gemm(Z, 1.0, X, Y, 1.0) - BIAS),
        (U + T.dot(M, V), Gemv()(U, T.as_tensor(1.0), M, V, T.as_tensor(1.0))),
        (2.0 * U - T.dot(V, M.T), Gemv()(U, T.as_tensor(-1.0), M.T.T, V, T.as_tensor(2.0))),
        (IX.dot(IY) + T.cast(Z, "int64"), IX.dot(IY) + T.cast(Z, "int64")),
        (P + BIAS, P + BIAS),
        (Dot22()(A, B) + A, Dot22()(A, B) + A),  # lengths of A and B may differ
        (0.0 * P + Z, 0.0 * P + Z),
        (np.inf * P + Z, np.inf * P + Z),
        (P + P, P + P),
        (T.exp(P) + P + Z, T.exp(P) + P + Z),
    ],
)
def test_gemm(before, after):
    assert str(GEMM(graph_of(before))[0]) == str(graph_of(after))


def test_a_product_that_is_read_elsewhere_stays():
    graph = graph_of(Z + P, T.exp(P))
    after, profile = GEMM(graph)
    assert after == graph
    assert profile.nb_replacement == 0
    assert profile.nb_replacement_didn_t_remove == 1


def test_operands_of_a_sum_are_sums_themselves():
    inner = Z - 2.0 * P
    outer = Q + Dot22()(inner, inner.T)[:, :1] * 1.0 + Dot22()(M, Y)
    after, profile = GEMM(graph_of(outer))
    assert profile.nb_replacement == 2
    values = arrays_for(INPUTS)
    for a, b in zip(interpret(graph_of(outer), values), interpret(after, values)):
        np.testing.assert_array_equal(a, b)


def arrays_for(inputs, seed=0):
    rng = np.random.default_rng(seed)
    shapes = {BIAS: (4,), A: (3, 3), B: (3, 3)}
    return [rng.integers(-4, 5, shapes.get(i, i.type.shape)).astype(i.dtype) for i in inputs]


def test_the_update_of_a_layer_is_one_call():
    """The rows of X.T and of W agree since X @ W is computed as well, though neither length is known."""
    x, w = T.matrix("x"), T.matrix("w")
    product = Dot22()(x, w)
    step = w - 0.125 * Dot22()(x.T, T.fill(product, 2.0 * product))
    after, _ = GEMM(FunctionGraph([x, w], [step], [(1, 0)]))
    assert [n.op.name for n in after.order].count("gemm") == 1
    assert after.updates == ((1, 0),)
    without, _ = GEMM(FunctionGraph([x, w, A], [w - Dot22()(x.T, A)]))
    assert "gemm" not in [n.op.name for n in without.order]


def test_the_watcher_may_refuse():
    graph = graph_of(Z + P)
    assert GEMM(graph, GraphEditor(lambda entry: False))[0] == graph


@pytest.mark.long
def test_a_long_sum_takes_linear_time():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        total = Z
        for k in range(20_000):
            total = total - Q if k % 2 else total + Q
        after, _ = GEMM(graph_of(total + P))
        count = len(after)
        del after, total
    finally:
        sys.setrecursionlimit(limit)
    assert count == 20_001


# --- rules on single nodes


COLUMN, ROW = T.tensor("column", "float64", (5, 1)), T.tensor("row", "float64", (1, 3))
X1, Y1 = T.tensor("x1", "float64", (3, 1)), T.tensor("y1", "float64", (1, 4))
ONE = T.as_tensor(1.0)


@pytest.mark.parametrize(
    ("rules", "before", "after"),
    [
        ([local_dot_to_dot22], T.dot(X, Y), P),
        ([local_dot_to_dot22], T.dot(X, V), T.dot(X, V)),
        ([local_dot_to_dot22], T.dot(IX, IY), T.dot(IX, IY)),
        ([local_dot22_to_dot22scalar], S * P, Dot22Scalar()(X, Y, S)),
        ([local_dot22_to_dot22scalar], 2 * P, Dot22Scalar()(X, Y, T.as_tensor(2.0))),
        ([local_dot22_to_dot22scalar], T.mul(S, P, Z), T.mul(S, P, Z)),
        (GEMM_TO_GEMV, Dot22()(X, COLUMN), T.dimshuffle(T.dot(X, T.dimshuffle(COLUMN, 0)), 0, "x")),
        (GEMM_TO_GEMV, Dot22()(ROW, X), T.dimshuffle(T.dot(T.dimshuffle(ROW, 1), X), "x", 0)),
        (GEMM_TO_GEMV, Dot22()(X1, Y1), X1 * Y1),
        (GEMM_TO_GEMV, gemm(Z, S, X1, Y1, 1.0), Ger()(Z, S, T.dimshuffle(X1, 0), T.dimshuffle(Y1, 1))),
        (
            GEMM_TO_GEMV,
            gemm(X1, S, X, COLUMN, 2.0),
            T.dimshuffle(Gemv()(T.dimshuffle(X1, 0), S, X, T.dimshuffle(COLUMN, 0), T.as_tensor(2.0)), 0, "x"),
        ),
        (
            GEMM_TO_GEMV,
            gemm(Y1, S, ROW, Z, 2.0),
            T.dimshuffle(Gemv()(T.dimshuffle(Y1, 1), S, Z.T, T.dimshuffle(ROW, 1), T.as_tensor(2.0)), "x", 0),
        ),
    ],
)
def test_rules(rules, before, after):
    inputs = [*INPUTS, COLUMN, ROW, X1, Y1]
    rewritten, _ = walk(*rules)(FunctionGraph(inputs, [before]))
    assert str(rewritten) == str(FunctionGraph(inputs, [after]))
    values = arrays_for(inputs)
    (a,), (b,) = interpret(FunctionGraph(inputs, [before]), values), interpret(rewritten, values)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    np.testing.assert_array_equal(a, b)


def test_dot22scalar_leaves_a_product_that_is_read_elsewhere():
    graph = graph_of(S * P, P)
    assert walk(local_dot22_to_dot22scalar)(graph)[0] == graph


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_scalars_of_other_dtypes_are_converted(dtype):
    x, z = T.tensor("x", dtype, (3, 3)), T.tensor("z", dtype, (3, 3))
    k = T.tensor("k", "int8", ())
    graph = FunctionGraph([x, z, k], [k * Dot22()(x, x) + 2 * z, k * Dot22()(x, z)])
    after, _ = BLAS(graph)
    assert [n.op.name for n in after.order if n.op.name != "cast"] == ["gemm", "dot22scalar"]
    values = [np.arange(9).reshape(3, 3).astype(dtype), np.eye(3).astype(dtype), np.int8(3) * np.ones((), "int8")]
    for a, b in zip(interpret(graph, values), interpret(after, values)):
        assert a.dtype == b.dtype == dtype
        np.testing.assert_array_equal(a, b)


def test_a_scalar_of_a_wider_dtype_is_not_absorbed():
    x = T.tensor("x", "float32", (3, 3))
    graph = FunctionGraph([x, S], [S * Dot22()(x, x) + T.cast(x, "float64")])
    assert BLAS(graph)[0] == graph


WIDENED = [("float32", "float64"), ("complex64", "complex128"), ("int64", "float64")]


@pytest.mark.parametrize(("narrow", "wide"), WIDENED)
def test_a_product_that_is_widened_to_be_added_stays(narrow, wide):
    x, z = T.tensor("x", narrow, (3, 3)), T.tensor("z", wide, (3, 3))
    u, v = T.tensor("u", narrow, (3,)), T.tensor("v", wide, (3,))
    graph = FunctionGraph([x, z, u, v], [Dot22()(x, x) + z if narrow != "int64" else T.dot(x, x) + z, T.dot(x, u) + v])
    assert GEMM(graph)[0] == graph
    graph = FunctionGraph([x, z], [Dot22()(z, z) - x + 2 * z])  # and so does what is widened to be added to a product
    (called,) = GEMM(graph)[0].outputs
    assert [node.op.name for node in GEMM(graph)[0].order] == ["gemm", "sub"]
    values = [np.arange(9).reshape(3, 3).astype(narrow), np.eye(3).astype(wide)]
    (found,), (wanted,) = interpret(FunctionGraph([x, z], [called]), values), interpret(graph, values)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("size", [3, 70])
def test_a_scalar_that_turns_out_to_be_zero_does_not_hide_what_is_not_finite(size):
    x, z = T.tensor("x", "float64", (size, size)), T.tensor("z", "float64", (size, size))
    v, w = T.tensor("v", "float64", (size,)), T.tensor("w", "float64", (size,))
    outputs = [z + S * T.dot(x, x), S * T.dot(x, z), v + S * T.dot(x, w), z - S * T.outer(v, w)]
    f = ag.function([x, z, v, w, S], outputs)
    values = [np.ones(i.type.shape) for i in (x, z, v, w)]
    values[0][1, 2] = values[3][1] = np.inf
    with np.errstate(invalid="ignore"):
        expected = interpret(FunctionGraph([x, z, v, w, S], outputs), [*values, np.zeros(())])
    assert np.isnan(expected[0]).any()
    for a, b in zip(expected, f(*values, 0.0)):
        np.testing.assert_array_equal(a, b)


# --- lengths that agree


def test_products_say_which_lengths_agree():
    x, w, b, v = T.matrix("x"), T.matrix("w"), T.vector("b"), T.matrix("v")
    hidden = T.dot(x, w) + b
    graph = FunctionGraph([x, w, b, v], [T.dot(hidden, v)])
    agreement = Agreement(graph)
    assert agreement.same_shape(T.dot(x.T, T.fill(T.dot(x, w), 1.0)), w)
    assert not agreement.same_shape(T.dot(hidden.T, x), w.T)
    assert agreement.same_shape(T.dot(hidden.T, T.dot(hidden, v)), v)
    assert not agreement.same_shape(b, w[0])  # b may have length 1
    nothing = Agreement(graph, besides=graph.order)
    assert not nothing.same_shape(T.dot(x.T, T.fill(T.dot(x, w), 1.0)), w)


def test_a_sum_over_no_axis_is_its_operand():
    x, w, v = T.matrix("x"), T.matrix("w"), T.matrix("v")
    hidden = T.tanh(T.dot(x, w))
    result = T.dot(hidden, v)
    back = T.SumTo()(T.dot(result, v.T) * (1 - hidden * hidden), hidden)
    twice = T.SumTo()(back * 2.0, hidden)
    after, profile = SumToOptimizer(name="useless_sum_to")(FunctionGraph([x, w, v], [T.dot(x.T, twice)]))
    assert profile.replacements == 2
    assert "sum_to" not in [node.op.name for node in after.order]
    alone = FunctionGraph([x, v], [T.SumTo()(x * v, x)])
    assert SumToOptimizer()(alone)[0] is alone


# --- random graphs


@GRAPHS
@pytest.mark.parametrize("known", [0.0, 1.0], ids=["unknown lengths", "known lengths"])
@given(random=st.randoms(use_true_random=True))
def test_random_graphs_keep_their_values(random, known):
    graph, arrays = random_graph(random, steps=PRODUCTS, known=known)
    after, profile = BLAS(graph)
    assert not profile.all_failures()
    for a, b in zip(interpret(graph, arrays), interpret(after, arrays)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_array_equal(a, b)  # the sign of a zero may differ


def test_random_graphs_have_what_is_tested():
    found = Counter()
    for seed in range(100):
        graph, _ = random_graph(Random(seed), steps=PRODUCTS, known=1.0)
        found.update(node.op.name for node in BLAS(graph)[0].order)
    assert min(found[name] for name in ("dot22", "dot22scalar", "gemm", "gemv", "ger")) >= 5


# --- stacks of matrices


@pytest.mark.few(2)
@pytest.mark.parametrize("static", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize(
    "shapes",
    [((4, 3, 5), (5, 2)), ((2, 3, 2, 5), (5, 4)), ((3, 0, 2), (2, 3)), ((0, 2, 3), (3, 2)), ((2, 1, 3), (3, 1))],
)
def test_a_stack_times_one_matrix_is_one_product_as_are_its_gradients(shapes, static):
    x, w = (T.tensor(n, shape=s if static else (None,) * len(s)) for n, s in zip("xw", shapes, strict=True))
    outputs = [x @ w, *ag.grad(T.sum(T.sin(x @ w)), [x, w])]
    f = ag.function([x, w], outputs)
    assert "matmul" not in {n.op.name for n in f.graph.order}
    rng = np.random.default_rng(2)
    values = [rng.normal(size=s) for s in shapes]
    for a in (values[0], np.asfortranarray(values[0]), values[0][::-1]):
        y, dx, dw = f(a, values[1])
        g = np.cos(a @ values[1])
        rows, columns = a.reshape(-1, a.shape[-1]), g.reshape(-1, g.shape[-1])
        for found, wanted in ((y, a @ values[1]), (dx, g @ values[1].T), (dw, rows.T @ columns)):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_rows_of_a_stack_have_the_bits_of_the_matrix_of_all_rows():
    x, w = T.tensor("x", "float32", (None,) * 3), T.tensor("w", "float32", (None,) * 2)
    rows = T.reshape(T.dot(T.reshape(x, (-1, w.shape[0])), w), (x.shape[0], x.shape[1], w.shape[1]))
    f = ag.function([x, w], [x @ w, rows])
    rng = np.random.default_rng(3)
    for b, m, k, n in ((8, 16, 64, 32), (5, 7, 33, 9), (3, 1, 20, 40)):
        found = f(rng.normal(size=(b, m, k)).astype("f4"), rng.normal(size=(k, n)).astype("f4"))
        assert found[0].tobytes() == found[1].tobytes()
