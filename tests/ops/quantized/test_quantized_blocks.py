"""Images of floats as bytes in blocks of four channels, in one pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.quantized_blocks import QuantizeInBlocks

BYTES = ("int8", "uint8")
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 3e38, -3e38, 1e-45], "float32")


def made(channels, dtype, threads=1):
    x, scale = T.tensor("x", "float32", (None, channels, None, None)), T.scalar("scale", "float32")
    zero = T.scalar("zero", dtype)
    y = QuantizeInBlocks(dtype)(x, scale, zero)
    return ag.function([x, scale, zero], y, threads=threads), y.owner.op


@pytest.mark.long
@given(
    st.integers(0, 3), st.integers(1, 9), st.integers(0, 13), st.integers(0, 13), st.sampled_from(BYTES),
    st.floats(2**-20, 2**20, width=32), st.integers(0, 2**32),
)  # fmt: skip
@settings(max_examples=80)
def test_values_are_those_of_quantize(images, channels, rows, columns, dtype, scale, seed):
    rng = np.random.default_rng(seed)
    f, op = made(channels, dtype)
    x = (rng.standard_normal((images, channels, rows, columns)) * scale * 100).astype("float32")
    places = rng.random(x.shape) < 0.1
    x[places] = rng.choice(SPECIAL, int(places.sum()))
    zero = rng.integers(0, 255, (), "uint8", endpoint=True).view(dtype)
    arguments = x, np.float32(scale), zero
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(f(*arguments), op.evaluate(*arguments)[0])


@pytest.mark.parametrize("scale", [0.0, np.inf, np.nan, -0.5])
def test_scales_that_are_not_positive_are_numpys(scale):
    f, op = made(3, "uint8")
    x = np.concatenate([SPECIAL, np.linspace(-900, 900, 97, dtype="float32")])
    arguments = np.broadcast_to(x, (1, 3, 1, x.size)), np.float32(scale), np.uint8(7)
    np.testing.assert_array_equal(f(*arguments), op.evaluate(*arguments)[0])


def test_strides_and_threads_change_nothing():
    f, op = made(3, "int8", threads=2)
    x = np.random.default_rng(0).standard_normal((2, 211, 150, 3)).astype("float32").transpose(0, 3, 1, 2)
    arguments = x, np.float32(0.02), np.int8(-3)
    np.testing.assert_array_equal(f(*arguments), op.evaluate(*arguments)[0])


def test_a_first_convolution_reads_the_words():
    x = T.tensor("x", "float32", (None, 3, None, None))
    w = T.dequantize(np.random.default_rng(0).integers(-9, 9, (5, 3, 3, 3)).astype("int8"), 0.5)
    y = T.quantize(T.nn.conv2d(T.dequantize(T.quantize(x, 0.125, 3), 0.125, 3), w, padding=1), 2.0, 7)
    f = ag.function([x], y)
    assert next(n.op.name for n in f.graph.order) == "quantize_in_blocks"
    a = np.random.default_rng(1).standard_normal((2, 3, 9, 8)).astype("float32")
    np.testing.assert_array_equal(f(a), T.evaluate([y], {x: a})[0])


def test_refused_operands():
    x, scale, zero = T.tensor("x", "float32", (1, 3, 4, 4)), T.scalar("s", "float32"), T.constant(np.uint8(3))
    with pytest.raises(TypeError, match="known number of channels"):
        QuantizeInBlocks("uint8")(T.tensor("x", "float32", (1, None, 4, 4)), scale, zero)
    with pytest.raises(TypeError, match="scalars of float32 and int8"):
        QuantizeInBlocks("int8")(x, scale, zero)
