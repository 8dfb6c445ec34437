"""Products with constant matrices of which only some blocks along the sum are stored and multiplied."""

import numpy as np
import pytest
from compiled import product_names
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.formats import PackedProduct
from arignote.ops.lowered.formats.sparse_columns import DEPTH, SparseColumns
from arignote.targets.current import current
from arignote.targets.named import by_name

LANES = current().vector // 4
FASTER = pytest.mark.skipif(not current().picks_in_registers, reason="the rule needs AVX2")


def matrix(rng, rows, columns, kept, height=16):
    """A matrix whose blocks of so many rows of one column stay with the probability `kept`."""
    mask = np.repeat(rng.random((-(-rows // height), columns)) < kept, height, axis=0)[:rows]
    return (rng.standard_normal((rows, columns)) * mask).astype("float32")


def dot_of(op, x, w):
    return PackedProduct(op)(x, *map(T.constant, op.packed(w)))


@settings(max_examples=20)
@given(st.sampled_from([0, 1, 15, 70, DEPTH, 2 * DEPTH + 5]), st.integers(0, 40), st.sampled_from([0.0, 0.3, 1.0]))
def test_packed_matrices_come_back(rows, columns, kept):
    w = matrix(np.random.default_rng(rows), rows, columns, kept, 4)
    op = SparseColumns(rows, columns, 4)
    vectors, starts, places = op.packed(w)
    assert starts[-1] == len(places) == len(vectors) // 4
    np.testing.assert_array_equal(op.dense(vectors, starts, places), w)


@pytest.mark.long
@settings(max_examples=25)
@given(
    st.integers(0, 20), st.one_of(st.integers(0, 100), st.sampled_from([DEPTH, DEPTH + 1, 2 * DEPTH + 37])),
    st.integers(0, 50), st.sampled_from([0.0, 0.4, 1.0]), st.integers(0, 1 << 30),
)  # fmt: skip
def test_c_agrees_with_the_dense_product(count, rows, columns, kept, seed):
    """Any sizes; a row depends neither on others nor on threads."""
    rng, x = np.random.default_rng(seed), T.fmatrix("x")
    w, value = matrix(rng, rows, columns, kept), rng.standard_normal((count, rows)).astype("float32")
    made = dot_of(SparseColumns(rows, columns, LANES), x, w)
    f, g = (ag.function([x], made, threads=n) for n in (1, 2))
    found = f(value)
    np.testing.assert_allclose(found, value @ w, rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(g(value), found)
    for first in range(0, count, 3):
        np.testing.assert_array_equal(f(value[first : first + 2]), found[first : first + 2])


@pytest.mark.parametrize("rows", [64, 77, DEPTH + 30])
def test_special_values_meet_the_zeros_that_are_not_stored(rows):
    rng, x = np.random.default_rng(rows), T.fmatrix("x")
    w, value = matrix(rng, rows, LANES + 5, 0.5), rng.standard_normal((19, rows)).astype("float32")
    value[3, 5], value[7, rows - 1], value[12, 30] = np.inf, np.nan, -np.inf
    value[18, :2] = np.inf, -np.inf
    w[:16, 2] = 1
    f = ag.function([x], dot_of(SparseColumns(rows, LANES + 5, LANES), x, w))
    with np.errstate(all="ignore"):
        exact, found = value @ w, f(value)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(exact))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(exact))
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-3)


def test_rows_of_any_strides_and_axes():
    rng, x = np.random.default_rng(5), T.tensor("x", "float32", (None, None, None))
    w = matrix(rng, 36, 20, 0.5)
    f = ag.function([x], dot_of(SparseColumns(36, 20, LANES), x, w))
    value = rng.standard_normal((5, 36, 8)).astype("float32").swapaxes(1, 2)[::-2, 1::2]
    np.testing.assert_allclose(f(value), value @ w, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match=r"35.*36|36.*35"):
        f(np.zeros((1, 2, 35), "float32"))


@pytest.mark.few(1)
@pytest.mark.parametrize("target", ["x86_64-linux-v2", "x86_64-linux-v3", "x86_64-linux-v4"])
def test_every_width_of_vectors(target):
    rng, x, found = np.random.default_rng(6), T.fmatrix("x"), by_name(target)
    if not current().runs(found):
        pytest.skip("this processor lacks its instructions")
    w, value = matrix(rng, 75, 45, 0.5), rng.standard_normal((7, 75)).astype("float32")
    value[2, 7] = np.inf
    f = ag.function([x], dot_of(SparseColumns(75, 45, found.vector // 4), x, w), target=found)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(f(value), value @ w, rtol=1e-4, atol=1e-4)


@FASTER
def test_the_rule_takes_many_zeros_alone_and_more_by_one_row():
    rng = np.random.default_rng(1)
    few, half = (T.constant(matrix(rng, 1024, 48, kept)) for kept in (0.25, 0.48))
    x, one, v = T.tensor("x", "float32", (None, 1024)), T.tensor("one", "float32", (1, 1024)), T.fvector("v")
    outputs = [x @ few, v @ few, x @ half, one @ half]
    f, dense = (ag.function([x, one, v], outputs, mode=mode) for mode in ("fast_run", "fast_run -sparse"))
    assert product_names(f).count("sparse_columns") == 3
    assert "sparse_columns" not in product_names(dense)
    values = [rng.standard_normal(s).astype("float32") for s in ((5, 1024), (1, 1024), 1024)]
    for a, b in zip(f(*values), dense(*values), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3)


def test_gradients_pass_through_the_stored_blocks():
    rng = np.random.default_rng(2)
    w, x = matrix(rng, 19, 10, 0.5, 4), T.fmatrix("x")
    made = dot_of(SparseColumns(19, 10, 4), x, w)
    g = ag.function([x], ag.grad(T.sum(made * made), x), mode="NUMPY")
    value = rng.standard_normal((3, 19)).astype("float32")
    np.testing.assert_allclose(g(value), 2 * (value @ w) @ w.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("starts", "places", "word"), [([0, 1], [2], "places"), ([1, 1], [0], "starts")])
def test_numbers_that_c_would_read_beyond_the_end(starts, places, word):
    numbers = [T.constant(np.array(a, "int32")) for a in (starts, places)]
    with pytest.raises(ValueError, match=word):
        PackedProduct(SparseColumns(5, 1, 4))(T.fmatrix(), T.constant(np.ones(4, "float32")), *numbers)
    with pytest.raises(TypeError, match="sparse_columns"):
        PackedProduct(SparseColumns(5, 1, 4))(T.fmatrix(), T.dvector(), *numbers)
