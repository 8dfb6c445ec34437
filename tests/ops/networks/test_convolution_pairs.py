"""A convolution and the kernel for each channel behind it as one op: values, bits, borders, and what stays unfused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.blocked import SPREAD
from arignote.ops.lowered.convolution_pair import ConvolutionPair
from arignote.targets.current import current

RNG = np.random.default_rng(17)
conv = T.nn.conv2d
UNFUSED = "fast_run -convolution_pairs"


def numbers(*shape, dtype="float32"):
    return RNG.uniform(-1, 1, shape).astype(dtype)


def pairs_of(f):
    return sum(isinstance(node.op, ConvolutionPair) for node in f.graph.order)


def check(build, value, known=True):
    """Whether a pair gives the bits of two nodes, with any number of threads, and the values of NumPy.

    `known`: there is one pair.
    """
    check_all([(build, value, known)])


def check_all(cases):
    """Check several (build, value, known) in one function."""
    values = [value for _, value, _ in cases]
    inputs = [T.tensor("x", value.dtype, (None, value.shape[1], None, None)) for value in values]
    outputs = [build(x) for (build, _, _), x in zip(cases, inputs, strict=True)]
    unfused = ag.function(inputs, outputs, mode=UNFUSED, threads=1)(*values)
    for threads in (1, 2, 3):
        f = ag.function(inputs, outputs, threads=threads)
        assert sum(known for _, _, known in cases) <= pairs_of(f) <= len(cases)
        for found, wanted in zip(f(*values), unfused, strict=True):
            np.testing.assert_array_equal(found, wanted)
    for found, plain in zip(unfused, ag.function(inputs, outputs, mode="NUMPY")(*values), strict=True):
        scale = np.abs(plain).max(initial=1.0)
        np.testing.assert_allclose(found, plain, rtol=0, atol=scale * (4e-6 if plain.dtype == "float32" else 1e-14))


@pytest.mark.long
@settings(max_examples=10)
@given(st.data())
def test_any_pair(data):
    check_all([any_pair(data) for _ in range(4)])


def any_pair(data):
    """A drawn pair, as `check` takes it."""
    draw = lambda *a: data.draw(st.integers(*a))  # noqa: E731
    dtype = data.draw(st.sampled_from(["float32", "float64"]))
    c, o, k, side = draw(1, 20), draw(1, 90), draw(1, 3), (draw(1, 4), draw(1, 4))
    stride, dilation, padding = (draw(1, 3), draw(1, 3)), (draw(1, 2), draw(1, 2)), (draw(0, 2), draw(0, 2))
    shape = (draw(0, 2), c, *(k + (s - 1) * d + draw(0, 20) for s, d in zip(side, dilation, strict=True)))
    w, own, v = numbers(o, c, k, k, dtype=dtype), numbers(o, 1, *side, dtype=dtype), numbers(o, dtype=dtype)
    bounded, followed = draw(0, 3), data.draw(st.booleans())

    def build(x):
        y = conv(x, w, v, padding=k // 2)
        y = (y, T.nn.relu(y), T.clip(y, -0.5, 0.5), T.minimum(y, 0.25))[bounded]
        y = conv(y, own, stride=stride, dilation=dilation, padding=padding, groups=o)
        return T.tanh(y) if followed else T.clip(y, 0, 6)

    return build, numbers(*shape, dtype=dtype), not followed and c > 1 and o > 16


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [7, 14, 29, 120])
@pytest.mark.parametrize("stride", [1, 2])
def test_images_of_many_strips(size, stride):
    """Windows that meet rows of two strips."""
    w, own = numbers(72, 8, 1, 1), numbers(72, 1, 3, 3)

    def build(x):
        return T.nn.relu(conv(T.clip(conv(x, w), 0, 6), own, stride=stride, padding=1, groups=72))

    check(build, numbers(3, 8, size, size + 1))


@pytest.mark.parametrize("stride", [1, 2])
def test_groups_within_blocks(stride):
    """The second one has groups of four channels; strips and threads divide rows."""
    w, v = numbers(72, 8, 1, 1), numbers(72, 4, 3, 3)

    def build(x):
        return T.nn.relu(conv(T.nn.relu(conv(x, w)), v, stride=stride, padding=1, groups=18))

    check(build, numbers(2, 8, 61, 40), known=current().vector // 4 == SPREAD)


def test_nan_and_infinity_reach_the_windows_that_meet_them():
    w, own = numbers(16, 4, 1, 1), numbers(16, 1, 3, 3)
    value = numbers(1, 4, 40, 40)
    value[0, 1, 3, 5], value[0, 2, 30, 39] = np.nan, np.inf
    x = T.tensor("x", "float32", value.shape)
    y = T.clip(conv(T.nn.relu(conv(x, w)), own, padding=1, groups=16), 0, 6)
    found, unfused = ag.function([x], y)(value), ag.function([x], y, mode=UNFUSED)(value)
    np.testing.assert_array_equal(found, unfused)
    assert np.isnan(found[0, :, 2:5, 4:7]).all() and np.isfinite(found[0, :, :, 10:30]).all()


def test_what_others_read_is_stored():
    x = T.tensor("x", "float32", (1, 8, 20, 20))
    w, own = numbers(16, 8, 1, 1), numbers(16, 1, 3, 3)
    first = T.nn.relu(conv(x, w))
    second = T.nn.relu(conv(first, own, padding=1, groups=16))
    f = ag.function([x], [first, second])
    assert not pairs_of(f)
    assert not pairs_of(ag.function([x], T.nn.relu(conv(second, own, padding=1, groups=16)), mode=UNFUSED))
    value = numbers(1, 8, 20, 20)
    plain = ag.function([x], [first, second], mode="NUMPY")(value)
    for got, expected in zip(f(value), plain, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-5)


def test_the_run_profile_counts_both():
    x = T.tensor("x", "float32", (1, 16, 28, 28))
    w, own = numbers(32, 16, 1, 1), numbers(32, 1, 3, 3)
    f = ag.function([x], T.nn.relu(conv(T.nn.relu(conv(x, w)), own, padding=1, groups=32)), profile=True)
    f(numbers(1, 16, 28, 28))
    step = next(s for s in f.profile.steps if "convolution" in s.text)
    assert step.cost.flops == 2 * 32 * 28 * 28 * (16 + 9)
