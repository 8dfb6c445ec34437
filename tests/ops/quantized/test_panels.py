"""Constant weights of products in panels: packing, values, and bits that depend on nothing but the numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.formats.panels import Panels
from arignote.ops.networks.weights import DEPTH, pack_panels, unpack_panels
from arignote.optdb.rules.linalg.packed import lanes_of
from arignote.targets.current import using
from arignote.targets.named import by_name

RNG = np.random.default_rng(3)


def products_of(f):
    return [getattr(node.op, "product", node.op) for node in f.graph.order]


@given(st.integers(0, 3 * DEPTH), st.integers(1, 140), st.sampled_from([2, 4, 8, 16]), st.sampled_from([2, 4]))
@settings(max_examples=60)
def test_panels_hold_every_number_once(rows, columns, lanes, vectors):
    w = np.arange(1.0, rows * columns + 1).reshape(rows, columns)
    panels = pack_panels(w, lanes, vectors)
    (stored,) = Panels(rows, columns, lanes, vectors).storage()
    assert panels.size == stored.length
    assert np.array_equal(unpack_panels(panels, rows, columns, lanes, vectors), w)


@pytest.mark.few(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(500, 100), (449, 70), (64, 300), (2000, 17), (100, 115), (90, 64)])
def test_products_have_the_bits_of_products_that_pack_in_each_call(dtype, shape):
    x, w = T.matrix("x", dtype), RNG.normal(size=shape).astype(dtype)
    bias = RNG.normal(size=shape[1]).astype(dtype)
    outputs = [T.dot(x, w), T.maximum(T.dot(x, -w) + bias, 0)]
    f, two = ag.function([x], outputs), ag.function([x], outputs, threads=2)
    if lanes_of(dtype):
        assert all(isinstance(getattr(op, "format", None), Panels) for op in products_of(f))
    plain = ag.function([x], outputs, mode="fast_run -layout")
    for rows in (0, 1, 2, 3, 4, 5, 33, 200):
        value = RNG.normal(size=(rows, shape[0])).astype(dtype)
        got = f(value)
        for each in (np.asfortranarray(value), np.repeat(value, 2, axis=1)[:, ::2]):
            assert all(np.array_equal(p, q) for p, q in zip(f(each), got, strict=True))
        assert all(np.array_equal(p, q) for p, q in zip(two(value), got, strict=True))
        exact = value.astype("longdouble") @ w.astype("longdouble")
        scale = np.abs(value).astype("longdouble") @ np.abs(w).astype("longdouble")
        assert (np.abs(got[0] - exact) <= 4 * np.finfo(dtype).eps * scale).all()
        if rows == 200:  # fewer rows are read along weights as they lie, summed in another order
            assert all(np.array_equal(p, q) for p, q in zip(plain(value), got, strict=True))


def test_a_row_has_the_same_bits_among_any_others():
    x, w = T.matrix("x", "float32"), RNG.normal(size=(700, 90)).astype("float32")
    f = ag.function([x], T.dot(x, w))
    value = RNG.normal(size=(37, 700)).astype("float32")
    if lanes_of("float32"):
        assert np.array_equal(f(value), np.concatenate([f(value[k : k + 1]) for k in range(37)]))


def test_special_values_come_through():
    x, w = T.matrix("x", "float32"), np.ones((300, 40), "float32")
    value = np.zeros((9, 300), "float32")
    value[[2, 4, 6], [0, 7, 299]] = np.nan, np.inf, -np.inf
    expected = np.zeros((9, 40))
    expected[[2, 4, 6]] = [[np.nan], [np.inf], [-np.inf]]
    np.testing.assert_array_equal(ag.function([x], T.dot(x, w))(value), expected)


def test_rows_of_another_length_are_refused():
    x = T.matrix("x", "float32")
    f = ag.function([x], T.dot(x, np.ones((300, 40), "float32")))
    with pytest.raises(ValueError, match="300"):
        f(np.ones((2, 299), "float32"))


@pytest.mark.parametrize("name", ["x86_64-linux-v2", "x86_64-linux-v3", "x86_64-linux-v4", "aarch64-linux"])
def test_panels_are_as_wide_as_the_products_of_a_target(name):
    with using(by_name(name)):
        found = {dtype: lanes_of(dtype) for dtype in ("float32", "float64", "complex64", "int32")}
    lanes = {"x86_64-linux-v2": 0, "x86_64-linux-v3": 8, "x86_64-linux-v4": 16, "aarch64-linux": 4}[name]
    assert found == {"float32": lanes, "float64": lanes // 2, "complex64": 0, "int32": 0}


def test_biases_and_residuals_of_a_batch_of_one_become_epilogues():
    x = T.tensor("x", "float32", (1, None, 96))
    w, bias = RNG.normal(size=(96, 96)).astype("float32"), RNG.normal(size=96).astype("float32")
    y = T.matmul(T.tanh(T.matmul(x, w) + bias), w) + bias + x
    f = ag.function([x], y)
    names = [node.op.name for node in f.graph.order]
    assert names.count("fused_product") == 2
    assert not {"add", "fused", "tanh"} & set(names)
    value = RNG.normal(size=(1, 7, 96)).astype("float32")
    expected = np.tanh(value @ w + bias) @ w + bias + value
    np.testing.assert_allclose(f(value), expected, rtol=2e-5, atol=2e-5)
