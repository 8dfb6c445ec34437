"""Products with constant matrices of many zeros: only vectors that are not all zero are stored and multiplied."""

import numpy as np
import pytest
from compiled import product_names
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.formats import REAL, PackedProduct
from arignote.ops.lowered.formats.sparse_vectors import SparseVectors
from arignote.targets.current import current


def matrix(rng, rows, columns, kept, dtype, width=16):
    """A matrix whose blocks of one row stay with the probability `kept`."""
    mask = np.repeat(rng.random((rows, -(-columns // width))) < kept, width, axis=1)[:, :columns]
    return (rng.standard_normal((rows, columns)) * mask).astype(dtype)


def dot_of(op, x, w):
    return PackedProduct(op)(x, *map(T.constant, op.packed(w)))


@settings(max_examples=12)
@given(st.integers(0, 40), st.integers(0, 70), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from(REAL))
def test_packed_matrices_come_back(rows, columns, kept, dtype):
    w = matrix(np.random.default_rng(rows), rows, columns, kept, dtype, 4)
    op = SparseVectors(rows, columns, 4)
    vectors, starts, places = op.packed(w)
    assert starts[-1] == len(places) == len(vectors) // 4
    np.testing.assert_array_equal(op.dense(vectors, starts, places), w)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_c_agrees_with_the_dense_product(dtype):
    """Odd sizes, no rows, empty panels, special values; a row depends neither on others nor on threads."""
    rng, lanes = np.random.default_rng(3), current().vector // np.dtype(dtype).itemsize
    cases = (1, 1, 1.0), (0, 5, 1.0), (37, 3 * lanes + 1, 0.5), (70, 2 * lanes, 0.0), (201, 90, 0.2)
    for rows, columns, kept in cases:
        w, x = matrix(rng, rows, columns, kept, dtype), T.matrix("x", dtype)
        value = rng.standard_normal((13, rows)).astype(dtype)
        if rows > 30:
            value[3, 5], value[7, 2], value[12, 30] = np.inf, np.nan, -np.inf
            w[5, 0] = 2
        f = ag.function([x], dot_of(SparseVectors(rows, columns, lanes), x, w))
        with np.errstate(all="ignore"):
            exact, found = value @ w, f(value)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(exact))
        np.testing.assert_allclose(found, exact, rtol=1e-4, atol=rows * np.finfo(dtype).eps * 20)
        for n in range(0, 13, 3):
            np.testing.assert_array_equal(f(value[:n]), found[:n])
        g = ag.function([x], dot_of(SparseVectors(rows, columns, lanes), x, w), threads=2)
        np.testing.assert_array_equal(g(value), found)


def test_the_rule_takes_pruned_weights_alone():
    rng = np.random.default_rng(1)
    shares = (0.2, 0.9)
    few, many = (ag.shared(matrix(rng, 96, 80, k, "float32", 16), shape=(96, 80)) for k in shares)
    x, v = T.tensor("x", "float32", (None, 96)), T.fvector("v")
    f = ag.freeze([x @ few + 1, x @ many, v @ few], inputs=[x, v])
    assert product_names(f).count("sparse_dot") == 2
    values = rng.standard_normal((5, 96)).astype("float32"), rng.standard_normal(96).astype("float32")
    dense = ag.function([x, v], [x @ few + 1, x @ many, v @ few], mode="fast_run -sparse")
    assert "sparse_dot" not in product_names(dense)
    for a, b in zip(f(*values), dense(*values), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    numbers = [T.constant(np.array(a, "int32")) for a in ([0, 1], [2])]
    with pytest.raises(ValueError, match="places"):
        PackedProduct(SparseVectors(2, 4, 4))(T.fmatrix(), T.constant(np.ones(4, "float32")), *numbers)


def test_gradients_pass_through_the_stored_vectors():
    rng = np.random.default_rng(2)
    w, x = matrix(rng, 9, 10, 0.5, "float64", 4), T.dmatrix("x")
    made = dot_of(SparseVectors(9, 10, 4), x, w)
    g = ag.function([x], ag.grad(T.sum(made * made), x), mode="NUMPY")
    value = rng.standard_normal((3, 9))
    np.testing.assert_allclose(g(value), 2 * (value @ w) @ w.T)


def test_graphs_that_c_does_not_run_stay_dense():
    w = T.constant(matrix(np.random.default_rng(4), 80, 64, 0.2, "float32"))
    x = T.matrix("x", "float32")
    f = ag.function([x], x @ w)
    assert product_names(f) == ["sparse_dot"]
    assert [n.op.name for n in ag.function([x], x @ w, mode="NUMPY").graph.order] == ["dot"]
    pytest.importorskip("onnx")
    assert [n.op_type for n in ag.to_onnx(f, optimized=True).graph.node if n.op_type != "Identity"] == ["MatMul"]
