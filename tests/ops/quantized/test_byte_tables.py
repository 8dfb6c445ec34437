"""Functions of 8 bits as tables of 256 entries, and the softmax of bytes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.byte_tables import ByteSoftmax, LookUp

FUNCTIONS = {
    "sigmoid": T.sigmoid, "tanh": T.tanh, "gelu": T.gelu, "erf": T.erf, "exp": T.exp, "leaky": T.nn.leaky_relu,
    "hard swish": lambda x: x * T.clip(x + 3, 0, 6) / 6, "silu": T.nn.silu, "log": T.log,
}  # fmt: skip
BYTES = ("int8", "uint8")


def names(f):
    return [n.op.name for n in f.graph.order]


def every_byte(dtype):
    return np.arange(256).astype("uint8").view(dtype)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_one_table_with_the_values_of_the_graph(name, dtype):
    q = T.tensor("q", dtype, (None,))
    y = T.quantize(FUNCTIONS[name](T.dequantize(q, 0.05, 3)), 0.02, 5, "int8")
    f = ag.function([q], y)
    assert names(f) == ["look_up"]
    a = every_byte(dtype)
    assert np.array_equal(f(a), T.evaluate([y], {q: a})[0])


@given(st.integers(0, 700), st.sampled_from(BYTES), st.sampled_from(BYTES), st.integers(0, 255), st.integers(0, 2**32))
@settings(max_examples=60)
def test_lookups_of_any_length(count, dtype, out, zero, seed):
    rng = np.random.default_rng(seed)
    q, table = T.tensor("q", dtype, (None,)), T.tensor("table", out, (256,))
    f = ag.function([q, table], LookUp()(q, table))
    a = rng.integers(0, 255, count, "uint8", endpoint=True).view(dtype)
    t = rng.integers(0, 255, 256, "uint8", endpoint=True).view(out)
    assert np.array_equal(f(a, t), t[a.view("uint8")])


def test_long_and_strided_bytes_with_threads():
    q = T.tensor("q", "int8", (None, None))
    f = ag.function([q], T.quantize(T.tanh(T.dequantize(q, 0.05)), 1 / 128, 0, "int8"), threads=2)
    a = np.random.default_rng(0).integers(-128, 127, (700, 1000), "int8", endpoint=True)
    assert np.array_equal(f(a.T), f(a).T)


def test_two_uses_of_one_operand_are_one_table():
    q = T.tensor("q", "uint8", (None,))
    x = T.dequantize(q, 0.05, 100)
    gate = T.dequantize(T.quantize(T.sigmoid(x), 1 / 255), 1 / 255)
    y = T.quantize(x * gate, 0.04, 20)
    f = ag.function([q], y)
    assert names(f) == ["look_up"]
    assert np.array_equal(f(every_byte("uint8")), T.evaluate([y], {q: every_byte("uint8")})[0])


def test_cheap_functions_and_other_operands_stay():
    q, p = T.tensor("q", "uint8", (None,)), T.tensor("p", "uint8", (None,))
    x = T.dequantize(q, 0.05, 100)
    for y in (T.maximum(x, 0), T.sigmoid(x + T.dequantize(p, 0.1)), T.sigmoid(x * T.cast(p, "float32"))):
        f = ag.function([q, p], T.quantize(y, 0.1), on_unused_input="ignore")
        assert "look_up" not in names(f)


@given(
    st.integers(0, 4), st.integers(0, 400), st.sampled_from(BYTES), st.sampled_from(BYTES), st.floats(1e-3, 1.0),
    st.floats(1 / 300, 1 / 20), st.integers(0, 127), st.integers(0, 2**32),
)  # fmt: skip
@settings(max_examples=60)
def test_softmax_is_at_most_one_unit_off(rows, length, dtype, out, scale, step, zero, seed):
    q, s, t = T.tensor("q", dtype, (None, None)), np.float32(scale), np.float32(step)
    y = T.quantize(T.softmax(T.dequantize(q, s, 5)), t, zero, out)
    f = ag.function([q], y)
    assert names(f) == ["byte_softmax"]
    a = np.random.default_rng(seed).integers(0, 255, (rows, length), "uint8", endpoint=True).view(dtype)
    found = f(a)
    (node,) = f.graph.order
    assert np.array_equal(found, node.op.evaluate(a, node.inputs[1].data)[0])
    if a.size:
        exact = T.evaluate([y], {q: a})[0]
        assert found.dtype == exact.dtype
        assert np.abs(found.astype(int) - exact).max() <= 1


def test_softmax_does_not_depend_on_threads():
    q = T.tensor("q", "int8", (None, None))
    y = T.quantize(T.softmax(T.dequantize(q, 0.1)), 1 / 256)
    a = np.random.default_rng(0).integers(-128, 127, (300, 1000), "int8", endpoint=True)
    one, two = (ag.function([q], y, threads=n)(a) for n in (1, 2))
    assert np.array_equal(one, two)


def test_refused_operands():
    x, q, few = T.fvector("x"), T.tensor("q", "int8", (None,)), T.constant(np.zeros(5, "int8"))
    with pytest.raises(TypeError, match="look_up takes int8 or uint8"):
        LookUp()(x, few)
    with pytest.raises(TypeError, match="256 numbers"):
        LookUp()(q, few)
    with pytest.raises(TypeError, match="byte_softmax takes rows"):
        ByteSoftmax("int8", 0.1, 0, -128, 127)(T.constant(np.int8(3)), T.constant(np.zeros(256, "float32")))
