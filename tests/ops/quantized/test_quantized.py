"""Quantized numbers: arithmetic of ONNX at every level, ends, axes, derivatives, what cancels, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.networks.quantized import FLOATS, INTEGERS

X = T.fmatrix("x")
RNG = np.random.default_rng(4)


def quantized(x, scale, zero, dtype):
    """The reference, in Python's integers."""
    ends = np.iinfo(dtype)
    quotient = np.rint(x / np.asarray(scale, x.dtype))
    whole = [ends.max if q == np.inf else ends.min if q == -np.inf else zero if q != q else int(q) + zero
             for q in quotient.reshape(-1).astype("float64")]  # fmt: skip
    return np.array([min(max(n, ends.min), ends.max) for n in whole], dtype).reshape(x.shape)


SCALES = st.floats(2**-10, 50, width=16)
NUMBERS = st.one_of(st.floats(width=16), st.floats(-300, 300, width=16), st.sampled_from([0.5, 1.5, -0.5, 2.5, -0.0]))


@pytest.mark.long
@settings(max_examples=60)
@given(st.data())
def test_arithmetic_is_that_of_integers_at_every_level(data):
    dtype, number = data.draw(st.sampled_from(INTEGERS)), data.draw(st.sampled_from(FLOATS))
    ends = np.iinfo(dtype)
    zero, scale = data.draw(st.integers(ends.min, ends.max)), data.draw(SCALES)
    value = np.array(data.draw(st.lists(NUMBERS, min_size=0, max_size=40)), number)
    x = T.tensor("x", number, (None,))
    q = T.quantize(x, scale, zero, dtype)
    with np.errstate(all="ignore"):
        expected = quantized(value, scale, zero, dtype)
    back = (expected.astype("float64") - zero) * np.float64(np.asarray(scale, number))
    for mode in ("fast_run", "fast_compile", "NUMPY"):
        found, numbers = ag.function([x], [q, T.dequantize(q, T.constant(scale, number), zero)], mode=mode)(value)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == dtype and numbers.dtype == number
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(numbers, back.astype(number), rtol=4 * np.finfo(number).eps)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scales_and_zero_points_along_an_axis(axis):
    value = RNG.normal(size=(3, 3)).astype("float32") * 9
    scales, zeros = np.array([0.1, 0.25, 2], "float32"), np.array([1, 0, 7], "uint8")
    q = T.quantize(X, scales, zeros, axis=axis)
    found, back = ag.function([X], [q, T.dequantize(q, scales, zeros, axis=axis)])(value)
    for k in range(3):
        at = (slice(None), k) if axis else (k,)
        np.testing.assert_array_equal(found[at], quantized(value[at], scales[k], int(zeros[k]), "uint8"))
        np.testing.assert_allclose(back[at], (found[at] - np.float32(zeros[k])) * scales[k])


def test_scales_given_in_a_call():
    s, z = T.fscalar("s"), T.scalar("z", "int8")
    f = ag.function([X, s, z], T.dequantize(T.quantize(X, s, z, "int8"), s, z))
    value = np.linspace(-2, 2, 12, dtype="float32").reshape(3, 4)
    np.testing.assert_allclose(f(value, np.float32(0.03125), np.int8(3)), np.rint(value * 32) / 32)


def test_dynamic_scales_span_the_numbers():
    for dtype in ("uint8", "int8"):
        q, scale, zero = T.dynamic_quantize(X, dtype)
        f = ag.function([X], [q, scale, zero, T.dequantize(q, scale, zero)])
        value = RNG.normal(size=(20, 30)).astype("float32")
        found, step, point, back = f(value)
        assert np.abs(back - value).max() <= 0.51 * step and point.dtype == dtype == found.dtype.name
        zeros, step, point, back = f(np.zeros((2, 2), "float32"))
        assert step == 1 and (zeros == point).all() and not back.any()


def test_it_becomes_one_kernel_with_what_surrounds_it():
    y = T.quantize(T.tanh(X) * 2, 0.02, 128)
    f = ag.function([X], y)
    assert [node.op.name for node in f.graph.order] == ["fused"]
    assert not any(getattr(step, "function", "") == "" for step in f.program.steps if type(step).__name__ == "Host")


def test_what_was_integers_before_is_not_computed_again():
    q = T.tensor("q", "uint8", (None,))
    again = T.quantize(T.dequantize(q, 0.1, 5), 0.1, 5)
    assert ag.function([q], again).graph.order == ()
    others = (T.quantize(T.dequantize(q, 0.1, 5), 0.1, 6), T.quantize(T.dequantize(q, 0.1, 5), 0.2, 5))
    values = np.arange(256, dtype="uint8")
    for other, expected in zip(others, (np.minimum(values + 1.0, 255), None), strict=True):
        found = ag.function([q], other)(values)
        assert expected is None or np.array_equal(found, expected.astype("uint8"))
    np.testing.assert_array_equal(ag.function([q], again, mode="NUMPY")(values), values)


# --- derivatives


def test_derivatives_pass_straight_through_between_the_ends():
    s = T.fscalar("s")
    y = T.dequantize(T.quantize(X, s, 0, "int8"), s)
    f = ag.function([X, s], ag.grad(T.sum(y * X), [X, s]))
    value = np.array([[0.26, -0.4, 30.0, -30.0]], "float32")
    by_x, by_s = f(value, np.float32(0.1))
    rounded = np.clip(np.rint(value / np.float32(0.1)), -128, 127)
    inside = np.abs(value) < 12
    np.testing.assert_allclose(by_x, rounded * np.float32(0.1) + np.where(inside, value, 0), rtol=1e-5)
    slopes = np.where(inside, rounded - value / np.float32(0.1), rounded)  # Esser et al., equation 3
    np.testing.assert_allclose(by_s, (slopes * value).sum(), rtol=1e-4)


def test_a_quantized_model_learns():
    w = ag.shared(np.zeros(3, "float32"), name="w")
    x, t = T.fmatrix("x"), T.fvector("t")
    held = T.dequantize(T.quantize(w, 0.05, 0, "int8"), 0.05)
    loss = T.mean(T.square(x @ held - t))
    step = ag.function([x, t], loss, updates=[(w, w - T.cast(0.1, "float32") * ag.grad(loss, w))])
    value = RNG.normal(size=(200, 3)).astype("float32")
    target = value @ np.array([0.5, -1.25, 2.0], "float32")
    for _ in range(100):
        last = step(value, target)
    assert last < 0.01


# --- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: T.quantize(X, 0.0), "scale must be positive and finite, got 0.0"),
        (lambda: T.quantize(X, -1.0), "scale must be positive and finite, got -1.0"),
        (lambda: T.dequantize(T.quantize(X, 1.0), float("nan")), "scale must be positive and finite, got nan"),
        (lambda: T.quantize(X, [0.1, np.inf], axis=0), "scale must be positive and finite, got inf"),
        (lambda: T.quantize(X, 0.1, 256), "zero_point must be integers from 0 to 255 for uint8, got 256"),
        (lambda: T.quantize(X, 0.1, 0.5), "zero_point must be integers"),
        (lambda: T.quantize(X, [0.1, 0.2]), "scale must be a scalar, or a vector with axis= given"),
        (lambda: T.quantize(T.tensor("y", "float32", (3, 4)), [0.1, 0.2], axis=1), "scale has 2 numbers, but axis 1"),
        (lambda: T.quantize(X, [0.1, 0.2], [1, 2, 3], axis=0), "scale has 2 numbers and zero_point has 3; expected"),
        (lambda: T.quantize(X, 0.1, dtype="int64"), "dtype must be one of int8"),
        (lambda: T.quantize(T.imatrix("i"), 0.1), "x must have floats"),
        (lambda: T.dequantize(X, 0.1), "q must have integers"),
        (lambda: T.quantize(X, 0.1, T.scalar("z", "int8")), "zero_point must have the dtype uint8"),
        (lambda: T.dynamic_quantize(X, "int16"), "dynamic_quantize takes floats and int8 or uint8"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises((TypeError, ValueError), match=message.replace("(", r"\(")):
        call()
