"""`T.requantize`: the fixed-point arithmetic of TensorFlow Lite, bit for bit that of its reference in integers."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.networks.fixed_point import fixed_point


def high(a, b):
    """`SaturatingRoundingDoublingHighMul` of gemmlowp, in Python's integers."""
    if a == b == -(2**31):
        return 2**31 - 1
    nudged = a * b + (1 << 30 if a * b >= 0 else 1 - (1 << 30))
    return abs(nudged) // 2**31 * (1 if nudged >= 0 else -1)


def divided(x, exponent):
    """`RoundingDivideByPOT` of gemmlowp."""
    mask = (1 << exponent) - 1
    return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0))


def reference(x, scale, zero, low, most):
    """`MultiplyByQuantizedMultiplier`, the zero point, and the ends."""
    multiplier, shift = fixed_point(scale)
    shifted = (x * 2 ** max(shift, 0) + 2**31) % 2**32 - 2**31
    return min(max(divided(high(shifted, multiplier), max(-shift, 0)) + zero, low), most)


SCALES = [1.0, 0.5, 0.25, 0.1, 1e-3, 0.0117, 2.0**-31, 1e-12, 0.99999999999, 3.7, 1 - 2.0**-40]


@pytest.mark.few(2)
@pytest.mark.parametrize("mode", ["NUMPY", "fast_run", "fast_compile"])
@pytest.mark.parametrize(("dtype", "zero"), [("int8", -3), ("uint8", 128), ("int16", 0)])
def test_it_has_the_bits_of_the_reference(mode, dtype, zero):
    rng = np.random.default_rng(3)
    near = np.arange(-1100, 1100)
    ends = np.array([-(2**31), 2**31 - 1, -(2**30), 2**30, 2**24 + 1])
    value = np.concatenate([near, ends, rng.integers(-(2**31), 2**31, 300), rng.integers(-99999, 99999, 300)])
    x = T.tensor("x", "int32", (None, len(SCALES)))
    f = ag.function([x], T.requantize(x, np.array(SCALES), zero, dtype, axis=1), mode=mode)
    found = f(np.repeat(value.astype("int32")[:, None], len(SCALES), axis=1))
    low, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    expected = [[reference(int(v), s, zero, low, most) for s in SCALES] for v in value]
    np.testing.assert_array_equal(found, np.array(expected, dtype), strict=True)


def test_multipliers_of_tensorflow_lite():
    """From the tests of `QuantizeMultiplier`."""
    assert fixed_point(1.0) == (2**30, 1)
    assert fixed_point(0.25) == (2**30, -1)
    assert fixed_point(1 - 2.0**-40) == (2**30, 1)
    assert fixed_point(2.0**-40) == (0, 0)
    assert fixed_point(2.5) == (1342177280, 2)


def test_a_product_of_bytes_in_integers_alone():
    a, b = T.matrix("a", "uint8"), T.matrix("b", "int8")
    f = ag.function([a, b], T.requantize(T.matmul(a, b, out_dtype="int32"), 0.01, 5, "uint8"))
    rng = np.random.default_rng(4)
    u, v = rng.integers(0, 256, (4, 9)).astype("uint8"), rng.integers(-128, 128, (9, 5)).astype("int8")
    sums = u.astype("int64") @ v
    np.testing.assert_array_equal(f(u, v), [[reference(int(s), 0.01, 5, 0, 255) for s in row] for row in sums])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("along", [False, True])
def test_the_ending_of_a_product_stays_in_registers(along, dtype, threads):
    """A bias at the ends of int32, scales of every shift, bounds: one call, bit for bit the reference."""
    rng = np.random.default_rng(5)
    outputs, low, high = 61, 3, 100
    w = rng.integers(-128, 128, (40, outputs)).astype("int8")
    w[:, ::2] = 0
    bias = np.where(np.arange(outputs) % 4 == 0, rng.choice([-(2**31), 2**31 - 1], outputs), 77).astype("int32")
    scale = 1.7 * 2.0 ** np.arange(-32, 29) if along else np.float64(0.0117)
    a = T.matrix("a", "uint8")
    sums = T.matmul(a, T.constant(w), out_dtype="int32") + bias
    y = T.clip(T.requantize(sums, scale, 5, dtype, axis=1 if along else None), low, high)
    f = ag.function([a], y, threads=threads)
    assert "fused" not in [n.op.name for n in f.graph.order]
    assert [n.op.fixed for n in f.graph.order if n.op.name == "byte_convolution"] == [True]
    value = rng.integers(0, 256, (29, 40)).astype("uint8")
    whole = (value.astype("int64") @ w + bias + 2**31) % 2**32 - 2**31
    scales = np.broadcast_to(scale, outputs)
    expected = [[reference(int(v), float(s), 5, low, high) for v, s in zip(row, scales, strict=True)] for row in whole]
    np.testing.assert_array_equal(f(value), np.array(expected, dtype), strict=True)


def test_the_ending_of_a_convolution_stays_in_registers():
    rng = np.random.default_rng(6)
    w, scale = rng.integers(-128, 128, (20, 8, 3, 3)).astype("int8"), np.geomspace(1e-5, 1e-2, 20)
    bias = rng.integers(-9999, 9999, (20, 1, 1)).astype("int32")
    x = T.tensor("x", "uint8", (None, 8, None, None))
    y = T.requantize(T.nn.conv2d(x, w, out_dtype="int32") + bias, scale, -7, "int8", axis=1)
    f = ag.function([x], T.maximum(y, -7))
    assert [n.op.fixed for n in f.graph.order if n.op.name == "byte_convolution"] == [True]
    assert "fused" not in [n.op.name for n in f.graph.order]
    value = rng.integers(0, 256, (2, 8, 9, 11)).astype("uint8")
    np.testing.assert_array_equal(f(value), ag.function([x], T.maximum(y, -7), mode="NUMPY")(value), strict=True)


def test_bad_input():
    x = T.tensor("x", "int32", (3, 4))
    with pytest.raises(ValueError, match=r"scale must be positive and below 2\^30, got 0.0"):
        T.requantize(x, 0.0)
    with pytest.raises(ValueError, match="scale has 2 numbers, but axis 1 of x"):
        T.requantize(x, [0.5, 0.25], axis=1)
    with pytest.raises(ValueError, match="zero_point must be integers from -128 to 127 for int8, got 200"):
        T.requantize(x, 0.5, 200)
    with pytest.raises(TypeError, match="requantize takes int32 and gives int8, uint8 or int16"):
        T.requantize(x, 0.5, 0, "float32")
