"""Products with constant matrices with two zeros in each four numbers along the sum."""

import numpy as np
import pytest
from compiled import product_names
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.formats import PackedProduct
from arignote.ops.lowered.formats.two_of_four import TwoOfFour, has_two_of_four
from arignote.targets.current import current
from arignote.targets.named import by_name as named

LANES = current().vector // 4
FASTER = pytest.mark.skipif(not current().picks_in_registers, reason="two of four are not faster on this processor")


def matrix(rng, rows, columns, kept=2):
    """A matrix of which each four numbers of a column have `kept` at the most that are not zero."""
    w = rng.standard_normal((rows, columns)).astype("float32")
    for first in range(0, rows, 4):
        size = min(4, rows - first)
        order = np.argsort(rng.random((size, columns)), axis=0)
        w[first : first + size][order >= kept] = 0
    return w


def dot_of(op, x, w):
    return PackedProduct(op)(x, *map(T.constant, op.packed(w)))


@settings(max_examples=20)
@given(st.integers(0, 70), st.integers(0, 40), st.integers(0, 2), st.sampled_from([1, 4, 16]))
def test_packed_matrices_come_back(rows, columns, kept, lanes):
    w = matrix(np.random.default_rng(rows), rows, columns, kept)
    op = TwoOfFour(rows, columns, lanes)
    numbers, places = op.packed(w)
    assert numbers.size * 2 == places.size * 16
    np.testing.assert_array_equal(op.dense(numbers, places), w)
    assert has_two_of_four(w)


@pytest.mark.long
@settings(max_examples=25)
@given(st.integers(0, 20), st.integers(0, 100), st.integers(0, 70), st.randoms(use_true_random=True))
def test_c_agrees_with_the_dense_product(count, rows, columns, random):
    """Any sizes; a row depends neither on others nor on threads."""
    rng, x = np.random.default_rng(random.randrange(1 << 30)), T.fmatrix("x")
    w, value = matrix(rng, rows, columns), rng.standard_normal((count, rows)).astype("float32")
    made = dot_of(TwoOfFour(rows, columns, LANES), x, w)
    f, g = (ag.function([x], made, threads=n) for n in (1, 2))
    found = f(value)
    np.testing.assert_allclose(found, value @ w, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(g(value), found)
    for first in range(0, count, 3):
        np.testing.assert_array_equal(f(value[first : first + 2]), found[first : first + 2])


@pytest.mark.parametrize("rows", [64, 77])
def test_special_values_meet_the_zeros_that_are_not_stored(rows):
    rng, x = np.random.default_rng(rows), T.fmatrix("x")
    w, value = matrix(rng, rows, LANES + 5), rng.standard_normal((19, rows)).astype("float32")
    value[3, 5], value[7, rows - 1], value[12, 30] = np.inf, np.nan, -np.inf
    value[18, :2] = np.inf, -np.inf
    f = ag.function([x], dot_of(TwoOfFour(rows, LANES + 5, LANES), x, w))
    with np.errstate(all="ignore"):
        exact, found = value @ w, f(value)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(exact))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(exact))
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-4)


def test_rows_of_any_strides_and_axes():
    rng, x = np.random.default_rng(5), T.tensor("x", "float32", (None, None, None))
    w = matrix(rng, 36, 20)
    f = ag.function([x], dot_of(TwoOfFour(36, 20, LANES), x, w))
    value = rng.standard_normal((5, 36, 8)).astype("float32").swapaxes(1, 2)[::-2, 1::2]
    np.testing.assert_allclose(f(value), value @ w, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match=r"35.*36|36.*35"):
        f(np.zeros((1, 2, 35), "float32"))


@FASTER
def test_the_rule_takes_two_of_four_alone():
    rng = np.random.default_rng(1)
    w = rng.standard_normal((256, 128)).astype("float32")
    weights = ag.shared(w, shape=w.shape)
    ag.prune(weights, structure="2:4")
    third = ag.shared(weights.get_value(), shape=w.shape)
    third.set_value(np.where(np.arange(256)[:, None] % 4 == 3, 1, third.get_value()).astype("float32"))
    x, v = T.tensor("x", "float32", (None, 256)), T.fvector("v")
    f = ag.freeze([x @ weights + 1, v @ weights, x @ third], inputs=[x, v])
    assert product_names(f).count("two_of_four") == 2
    dense = ag.function([x, v], [x @ weights + 1, v @ weights, x @ third], mode="fast_run -sparse")
    values = rng.standard_normal((5, 256)).astype("float32"), rng.standard_normal(256).astype("float32")
    for a, b in zip(f(*values), dense(*values), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@FASTER
@pytest.mark.parametrize("shape, dtype", [((128, 512), "float32"), ((256, 64), "float32"), ((512, 512), "float64")])
def test_small_matrices_and_other_dtypes_stay_dense(shape, dtype):
    w = T.constant(matrix(np.random.default_rng(2), *shape).astype(dtype))
    f = ag.function([x := T.matrix("x", dtype)], x @ w)
    assert "two_of_four" not in product_names(f)


@pytest.mark.long
def test_processors_without_the_instruction_stay_dense():
    w = T.constant(matrix(np.random.default_rng(3), 256, 256))
    f = ag.function([x := T.fmatrix("x")], x @ w, target=named("x86_64-linux-v2"))
    assert "two_of_four" not in product_names(f)


@pytest.mark.long
@pytest.mark.parametrize("target", ["x86_64-linux-v2", "x86_64-linux-v3", "x86_64-linux-v4"])
def test_every_width_of_vectors(target):
    """Without permutations of a whole vector, halves of blocks or single numbers are picked: the same sums."""
    rng, x, found = np.random.default_rng(6), T.fmatrix("x"), named(target)
    if not current().runs(found):
        pytest.skip("this processor lacks its instructions")
    w, value = matrix(rng, 75, 45), rng.standard_normal((7, 75)).astype("float32")
    value[2, 7] = np.inf
    f = ag.function([x], dot_of(TwoOfFour(75, 45, found.vector // 4), x, w), target=found)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(f(value), value @ w, rtol=1e-4, atol=1e-4)


def test_gradients_pass_through_the_stored_numbers():
    rng = np.random.default_rng(2)
    w, x = matrix(rng, 19, 10), T.fmatrix("x")
    made = dot_of(TwoOfFour(19, 10, 4), x, w)
    assert (made.owner.op.name, made.owner.op.class_name) == ("two_of_four", "TwoOfFour")  # as profiles show them
    g = ag.function([x], ag.grad(T.sum(made * made), x), mode="NUMPY")
    value = rng.standard_normal((3, 19)).astype("float32")
    np.testing.assert_allclose(g(value), 2 * (value @ w) @ w.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "shapes, dtypes",
    [(((9,), (8 * 32,), (32,)), "fff"), (((19,), (8, 64), (64,)), "ffi"), (((19,), (8 * 63,), (64,)), "ffi")],
)
def test_operands_that_do_not_fit(shapes, dtypes):
    kinds = {"f": "float32", "i": "int32"}
    inputs = [T.tensor("i", kinds[d], s) for s, d in zip(shapes, dtypes, strict=True)]
    with pytest.raises((TypeError, ValueError), match="two_of_four"):
        PackedProduct(TwoOfFour(19, 20, 16))(*inputs)
