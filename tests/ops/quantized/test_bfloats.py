"""Products of bfloat16 numbers, bit for bit: the order and the roundings of vdpbf16ps, on every processor."""

import numpy as np
import pytest
from campaign.values.packed_floats import by_definition, numbers
from compiled import product_names
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.records import from_bfloat16
from arignote.ops.elementwise.special import to_bfloat16
from arignote.ops.lowered.bfloat_dot import BfloatDot, as_bfloat16
from arignote.ops.lowered.formats import PackedProduct
from arignote.ops.lowered.formats.bfloats import Bfloats, least_exponent
from arignote.optdb.rules.quantized.bfloats import multiplies_bfloats
from arignote.targets.current import current
from arignote.targets.named import by_name

LANES, PANEL = current().vector // 4, current().registers // 8
MODE = ag.Mode().including("bfloat16")
WITH_INSTRUCTION = pytest.mark.skipif(not multiplies_bfloats(current()), reason="this processor lacks vdpbf16ps")


def packed(b):
    form = Bfloats(*b.shape, LANES, PANEL)
    return PackedProduct(form), *map(T.constant, form.packed(to_bfloat16(b)))


@settings(max_examples=30)
@given(*map(st.integers, 3 * [0], [20, 70, 150]), st.booleans(), st.booleans(), st.integers(0, 1 << 30))
def test_all_sizes_have_the_bits_of_the_definition(m, k, n, a_bits, b_bits, seed):
    rng = np.random.default_rng(seed)
    a, b = numbers(rng, (m, k), -8, 8), numbers(rng, (k, n), -8, 8)
    wanted = by_definition(a, b)
    left, right = (to_bfloat16(v) if bits else v for v, bits in ((a, a_bits), (b, b_bits)))
    x, y = (T.matrix(name, str(v.dtype)) for name, v in (("x", left), ("y", right)))
    op, panels = packed(b)
    f, g = (ag.function([x, y], [BfloatDot()(x, y), op(x, panels)], threads=t) for t in (1, 2))
    for found in (*f(left, right), *g(left, right)):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("low, high", [(-70, -56), (-140, -120), (-133, -126), (-20, 120), (-149, 100)])
def test_small_products_are_not_flushed(low, high):
    """Where the instruction would take a number or a sum below 2^-126 for zero, floats are multiplied."""
    rng = np.random.default_rng(abs(low))
    a, b = numbers(rng, (9, 51), low, high), numbers(rng, (51, 40), low, high)
    x, y = T.fmatrix("x"), T.fmatrix("y")
    op, panels = packed(b)
    f = ag.function([x, y], [BfloatDot()(x, y), op(x, panels)])
    wanted = by_definition(a, b)
    for found in f(a, b):
        np.testing.assert_array_equal(found, wanted)


def test_a_row_depends_on_no_other():
    rng, x, y = np.random.default_rng(1), T.fmatrix("x"), T.fmatrix("y")
    a, b = numbers(rng, (33, 80), -4, 4), numbers(rng, (80, 70), -4, 4)
    f = ag.function([x, y], BfloatDot()(x, y))
    alone = f(a[:7], b)
    a[9] = 1e-39
    np.testing.assert_array_equal(f(a, b)[:7], alone)


def test_infinities_and_nans_are_those_of_numpy():
    rng, x, y = np.random.default_rng(2), T.fmatrix("x"), T.fmatrix("y")
    a, b = numbers(rng, (30, 33), -4, 4), numbers(rng, (33, 37), -4, 4)
    a[2, 5], a[4, 32], a[6, 0], b[8, 36], b[0, 3] = np.inf, np.nan, -np.inf, np.inf, np.nan
    a[8], a[9] = np.finfo("float32").max, 0
    a[10, :2] = np.array([0x7F800001, 0xFFFFFFFF], "uint32").view("float32")
    op, panels = packed(b)
    with np.errstate(all="ignore"):
        wanted = as_bfloat16(a) @ as_bfloat16(b)
        for found in ag.function([x, y], [BfloatDot()(x, y), op(x, panels)])(a, b):
            np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
            np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-2)


def test_long_sums_go_through_the_cache_in_parts():
    rng, x, y = np.random.default_rng(3), T.fmatrix("x"), T.fmatrix("y")
    a, b = numbers(rng, (7, 2501), -4, 4), numbers(rng, (2501, 21), -4, 4)
    np.testing.assert_array_equal(ag.function([x, y], BfloatDot()(x, y))(a, b), by_definition(a, b))


@pytest.mark.few(2)
@pytest.mark.parametrize("target", ["x86_64-linux-v2", "x86_64-linux-v3", "x86_64-linux-v4"])
@pytest.mark.parametrize("low, high", [(-8, 8), (-63, -55)])
def test_processors_without_the_instruction_have_the_same_bits(target, low, high):
    rng, found = np.random.default_rng(4), by_name(target)
    if not current().runs(found):
        pytest.skip("this processor lacks its instructions")
    a, b = numbers(rng, (13, 45), low, high), numbers(rng, (45, 70), low, high)
    x, y = T.fmatrix("x"), T.fmatrix("y")
    form = Bfloats(45, 70, found.vector // 4, found.registers // 8)
    panels = T.constant(*form.packed(to_bfloat16(b)))
    f = ag.function([x, y], [BfloatDot()(x, y), PackedProduct(form)(x, panels)], target=found)
    for value in f(a, b):
        np.testing.assert_array_equal(value, by_definition(a, b, tiled=False))


def test_operands_of_any_strides_and_axes():
    rng = np.random.default_rng(5)
    a, b = numbers(rng, (3, 22, 8), -4, 4).swapaxes(1, 2)[::-1, ::3], numbers(rng, (40, 22), -4, 4).T[:, ::-2]
    x, y = T.tensor("x", "float32", (None, None, None)), T.fmatrix("y")
    wanted = by_definition(a.reshape(-1, 22), b).reshape(3, 3, 20)
    np.testing.assert_array_equal(ag.function([x, y], BfloatDot()(x, y))(a, b), wanted)
    v = T.fvector("v")
    op, panels = packed(b)
    np.testing.assert_array_equal(ag.function([v], op(v, panels))(a[1, 1]), wanted[1, 1])
    np.testing.assert_array_equal(ag.function([x], op(x, panels))(a), wanted)
    t, u = T.fmatrix("t"), T.matrix("u", "uint16")
    f = ag.function([t, u], BfloatDot()(T.transpose(t), u))
    bits = to_bfloat16(b)
    np.testing.assert_array_equal(f(a[0].T, bits[:, ::2]), wanted[0][:, ::2])
    with pytest.raises(ValueError, match=r"8.*22|22.*8|3.*22"):
        f(a[0], bits)


@settings(max_examples=20)
@given(st.integers(0, 40), st.integers(0, 70), st.sampled_from([(4, 2), (16, 4), (1, 1)]))
def test_panels_come_back(rows, columns, form):
    bits = to_bfloat16(numbers(np.random.default_rng(rows), (rows, columns), -9, 9))
    op = Bfloats(rows, columns, *form)
    (found,), (stored,) = op.packed(bits), op.storage()
    assert len(found) == stored.length and found[-1] == least_exponent(bits)
    np.testing.assert_array_equal(op.dense(found), bits)


@pytest.mark.parametrize("value, exponent", [(0.0, 255), (1.0, 127), (-0.25, 125), (np.inf, 255), (1e-39, 0)])
def test_least_exponents(value, exponent):
    bits = to_bfloat16(np.array([4, value, 0], "float32"))
    assert least_exponent(bits) == min(exponent, 129)


# --- rules


def test_only_queries_with_the_tag_round():
    rng, x = np.random.default_rng(6), T.fmatrix("x")
    w, value = rng.standard_normal((64, 48)).astype("float32"), rng.standard_normal((40, 64)).astype("float32")
    y = T.relu(x @ T.constant(w))
    f = ag.function([x], y, mode=MODE)
    assert "packed_bfloat_dot" in product_names(f)
    assert not any("bfloat_dot" in n for n in product_names(ag.function([x], y)))
    np.testing.assert_array_equal(f(value), np.maximum(by_definition(value, w), 0))
    exact = np.maximum(value @ w, 0)
    np.testing.assert_allclose(f(value), exact, atol=2**-8 * (np.abs(value) @ np.abs(w)).max())
    assert (f(value) != exact).any()


def test_few_rows_by_a_matrix_that_is_packed_in_each_call_stay_float():
    x, y, v = T.tensor("x", "float32", (16, None)), T.fmatrix("y"), T.fvector("v")
    f = ag.function([x, y, v], [x @ y, v @ y, y @ v], mode=MODE)
    assert not any("bfloat_dot" in n for n in product_names(f))
    g = ag.function([y], y @ T.transpose(y), mode=MODE)
    assert "bfloat_dot" in product_names(g)


@WITH_INSTRUCTION
def test_products_of_stored_numbers_lose_nothing():
    """Both operands widened from 16 bits, perhaps one of them folded: the default mode multiplies the bits."""
    rng, p, q = np.random.default_rng(7), T.matrix("p", "uint16"), T.matrix("q", "uint16")
    a, b = (to_bfloat16(rng.standard_normal(s).astype("float32")) for s in ((40, 64), (64, 48)))
    f = ag.function([p, q], from_bfloat16(p) @ from_bfloat16(q))
    g = ag.function([p], T.matmul(from_bfloat16(p), from_bfloat16(T.constant(b))))
    assert "bfloat_dot" in product_names(f) and "packed_bfloat_dot" in product_names(g)
    wanted = by_definition(a, b)
    np.testing.assert_array_equal(f(a, b), wanted)
    np.testing.assert_array_equal(g(a), wanted)
    np.testing.assert_allclose(wanted, as_bfloat16(a) @ as_bfloat16(b), rtol=1e-4, atol=1e-4)
    x = T.fmatrix("x")
    h = ag.function([p, x], [from_bfloat16(p) @ x, from_bfloat16(p) @ T.constant(np.full((64, 48), 0.1, "float32"))])
    assert not any("bfloat_dot" in n for n in product_names(h))


def test_a_step_of_training_in_bfloat16_learns():
    rng = np.random.default_rng(8)
    w = ag.shared(np.zeros((32, 4), "float32"), shape=(32, 4))
    x, y = T.fmatrix("x"), T.fmatrix("y")
    loss = T.mean(T.sqr(x @ w - y))
    step = ag.function([x, y], loss, updates=[(w, w - 0.1 * ag.grad(loss, w))], mode=MODE)
    assert "bfloat_dot" in product_names(step)
    value, truth = rng.standard_normal((64, 32)).astype("float32"), rng.standard_normal((32, 4)).astype("float32")
    losses = [float(step(value, value @ truth)) for _ in range(200)]
    assert losses[-1] < 0.01 * losses[0]


def test_the_derivative_of_rounding_is_one():
    rng, x, y = np.random.default_rng(9), T.fmatrix("x"), T.fmatrix("y")
    a, b = rng.standard_normal((3, 5)).astype("float32"), rng.standard_normal((5, 4)).astype("float32")
    gx, gy = ag.function([x, y], ag.grad(T.sum(BfloatDot()(x, y)), [x, y]), mode="NUMPY")(a, b)
    ones = np.ones((3, 4), "float32")
    np.testing.assert_allclose(gx, ones @ b.T, rtol=1e-5)
    np.testing.assert_allclose(gy, a.T @ ones, rtol=1e-5)
    p = T.matrix("p", "uint16")
    (g,) = ag.function([p, y], [ag.grad(T.sum(BfloatDot()(p, y)), y)], mode="NUMPY")(to_bfloat16(a), b)
    np.testing.assert_allclose(g, as_bfloat16(a).T @ ones, rtol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: BfloatDot()(T.dmatrix("x"), T.fmatrix("y")),
        lambda: BfloatDot()(T.fmatrix("x"), T.fvector("y")),
        lambda: BfloatDot()(T.tensor("x", "float32", (2, 3)), T.tensor("y", "float32", (4, 5))),
        lambda: PackedProduct(Bfloats(3, 5, 4, 2))(T.fmatrix("x"), T.fvector("w")),
        lambda: PackedProduct(Bfloats(3, 5, 4, 2))(T.fmatrix("x"), T.tensor("w", "uint16", (7,))),
        lambda: PackedProduct(Bfloats(3, 5, 4, 2))(T.tensor("x", "float32", (2, 4)), T.vector("w", "uint16")),
    ],
)
def test_operands_that_do_not_fit(make):
    with pytest.raises((TypeError, ValueError), match="bfloat_dot"):
        make()


def test_profiles_count_the_operations_of_products():
    x, y = T.fmatrix("x"), T.fmatrix("y")
    op, panels = packed(np.ones((64, 48), "float32"))
    f = ag.function([x, y], [BfloatDot()(x, y), op(x, panels)], profile=True)
    f(np.ones((40, 64), "float32"), np.ones((64, 32), "float32"))
    assert sorted(s.flops for s in f.profile.steps) == [2 * 40 * 64 * 32, 2 * 40 * 64 * 48]
