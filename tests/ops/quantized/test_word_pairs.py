"""Pairs of convolutions of bfloat16 numbers, by tiles and by a kernel for each channel."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pairs_cases import own_case, pairs_case

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.records import from_bfloat16 as widened
from arignote.ops.elementwise.special import to_bfloat16
from arignote.ops.lowered.convolution_pair import ConvolutionPair

RNG = np.random.default_rng(23)
UNFUSED = "fast_run -convolution_pairs"
AWKWARD = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-40, 3e38], "float32")


def numbers(*shape):
    return RNG.standard_normal(shape).astype("float32")


def applied(op, x):
    """A convolution with drawn kernels and biases."""
    w = numbers(*op.weights)
    bias = np.zeros(-(-op.weights[0] // op.size) * op.size, "float32")
    bias[: op.weights[0]] = numbers(op.weights[0])
    return op(x, T.constant(op.packed(w if op.own else to_bfloat16(w))), T.constant(bias))


def pairs_of(f):
    return sum(isinstance(node.op, ConvolutionPair) for node in f.graph.order)


def pointwise(channels, outputs, **given):
    return pairs_case(16, outputs, channels, (1, 1), tile_words=16, panel=2, **given)


BESIDE = ((1, 1), (1, 1))
CASES = [
    (pointwise(16, 96), own_case(16, 96, (3, 3), 1), (2, 1, 40, 43, 16)),
    (pointwise(24, 80), own_case(16, 80, (3, 3), 1, stride=(2, 2)), (1, 2, 9, 7, 16)),
    (pointwise(70, 24), own_case(16, 24, (5, 5), 2), (3, 5, 6, 5, 16)),
    (pointwise(16, 16), own_case(16, 16, (4, 3), 1, dilation=(2, 1)), (1, 1, 12, 5, 16)),
    (pairs_case(16, 48, 32, (3, 3), padding=BESIDE, stride=(2, 1), tile_words=16, panel=2),
     own_case(16, 48, (3, 3), 0, stride=(1, 2)), (1, 2, 30, 20, 16)),
    (pairs_case(16, 32, 3, (3, 3), padding=BESIDE, stride=(2, 2), tile_words=2, panel=2),
     own_case(16, 32, (3, 3), 1), (2, 3, 33, 38)),
    (pairs_case(16, 16, 16, (1, 1), padding=((3, 2), (1, 0)), tile_words=16),
     own_case(16, 16, (7, 7), 3), (1, 1, 2, 3, 16)),
    (pairs_case(32, 64, 32, (1, 1), tile_words=16), own_case(32, 64, (3, 3), 1), (1, 1, 20, 17, 32)),
    (pointwise(32, 32), own_case(16, 32, (3, 3), 1), (1, 2, 700, 34, 16)),
]  # fmt: skip


def build(first, second, x):
    """Return the result of a pair with each ending."""
    low, high = np.float32(0), np.float32(6)
    firsts = [lambda y: y, lambda y: T.minimum(T.maximum(y, low), high), lambda y: T.maximum(y, low)]
    seconds = [lambda y: y, lambda y: T.to_bfloat16(T.minimum(y, high)), lambda y: T.maximum(y, low)]
    return [
        after(applied(second, T.to_bfloat16(between(applied(first, x)))))
        for between, after in zip(firsts, seconds, strict=True)
    ]


@pytest.mark.long
def test_pairs_have_the_bits_of_separate_convolutions():
    """Strips of some rows and of all, borders, strides, blocks that panels do not fill, one to three threads."""
    inputs, outputs, given = [], [], []
    for first, second, shape in CASES:
        bits = to_bfloat16(numbers(*shape))
        x = T.tensor("x", "uint16", shape)
        inputs.append(x), given.append(bits)
        outputs += build(first, second, x)
    plain = ag.function(inputs, outputs, mode=UNFUSED, threads=1)(*given)
    for threads in (1, 2, 3):
        f = ag.function(inputs, outputs, threads=threads)
        assert pairs_of(f) == len(outputs)
        for found, expected in zip(f(*given), plain, strict=True):
            assert_array_equal(found, expected)


def test_awkward_numbers_reach_the_windows_that_meet_them():
    """NaN, infinities, -0.0, numbers below 2^-126, sums that overflow."""
    first, second = pointwise(16, 32), own_case(16, 32, (3, 3), 1)
    bits = to_bfloat16(numbers(1, 1, 30, 20, 16))
    bits[0, 0, 3, 5] = np.resize(to_bfloat16(AWKWARD), 16)
    bits[0, 0, 29, 19] = to_bfloat16(np.full(16, 1e-39, "float32"))
    x = T.tensor("x", "uint16", bits.shape)
    outputs = build(first, second, x)
    found, plain = (ag.function([x], outputs, mode=m)(bits) for m in (None, UNFUSED))
    for got, expected in zip(found, plain, strict=True):
        assert_array_equal(got, expected)
    assert np.isnan(found[0][0, :, 2:5, 4:7]).all() and np.isfinite(found[0][0, :, 6:]).all()


@pytest.mark.parametrize("lengths", [(0, 5, 5), (1, 1, 1), (2, 1, 70), (1, 90, 1)])
def test_lengths_of_calls(lengths):
    images, rows, columns = lengths
    x = T.tensor("x", "uint16", (None, 1, None, None, 16))
    outputs = build(pointwise(16, 32), own_case(16, 32, (3, 3), 1), x)
    f, plain = (ag.function([x], outputs, mode=m) for m in (None, UNFUSED))
    bits = to_bfloat16(numbers(images, 1, rows, columns, 16))
    for found, expected in zip(f(bits), plain(bits), strict=True):
        assert_array_equal(found, expected)


def test_residuals_behind_the_second_one_are_added():
    first, second = pointwise(16, 32), own_case(16, 32, (3, 3), 1)
    x, z = T.tensor("x", "uint16", (1, 1, 9, 8, 16)), T.tensor("z", "uint16", (1, 2, 9, 8, 16))
    y = T.to_bfloat16(T.maximum(applied(second, T.to_bfloat16(applied(first, x))) + widened(z), np.float32(0)))
    given = to_bfloat16(numbers(1, 1, 9, 8, 16)), to_bfloat16(numbers(1, 2, 9, 8, 16))
    f = ag.function([x, z], y)
    assert pairs_of(f) == 1
    assert_array_equal(f(*given), ag.function([x, z], y, mode=UNFUSED)(*given))


def test_what_is_no_pair_of_16_bits():
    """Images with other readers, groups, additions and functions before the rounding, convolutions without tiles."""
    x, z = T.tensor("x", "uint16", (1, 2, 9, 8, 16)), T.tensor("z", "uint16", (1, 2, 9, 8, 16))
    own = own_case(16, 32, (3, 3), 1)
    read = T.to_bfloat16(applied(pointwise(32, 32), x))
    grouped = pairs_case(16, 32, 16, (1, 1), groups=2, tile_words=16)
    vectors = pairs_case(16, 32, 32, (1, 1))
    added = T.to_bfloat16(applied(pointwise(32, 32), x) + widened(z))
    wide = applied(pointwise(32, 32), x)
    outputs = [read, *(applied(own, y) for y in (
        read, T.to_bfloat16(applied(grouped, x)), T.to_bfloat16(applied(vectors, x)), added, T.to_bfloat16(T.tanh(wide))
    ))]  # fmt: skip
    f = ag.function([x, z], outputs)
    assert not pairs_of(f)
    given = [to_bfloat16(numbers(1, 2, 9, 8, 16)) for _ in range(2)]
    for found, plain in zip(f(*given), ag.function([x, z], outputs, mode=UNFUSED)(*given), strict=True):
        assert_array_equal(found, plain)


def test_a_network_has_the_bits_of_its_layers():
    """Frozen networks: the same bits by any number of threads."""
    x = T.tensor("x", "float32", (1, 16, 24, 24))
    w = [ag.shared(numbers(*s), shape=s) for s in ((96, 16, 1, 1), (96, 1, 3, 3), (16, 96, 1, 1))]
    h = T.nn.conv2d(x, w[0])
    for k, groups in ((1, 96), (2, 1)):
        h = T.nn.conv2d(T.clip(h, 0, 6), w[k], padding=k % 2, groups=groups)
    value = numbers(1, 16, 24, 24)
    results = [ag.freeze(h, compute="bfloat16", threads=n, mode=m)(value)
               for n, m in itertools.product((1, 2), (None, UNFUSED))]  # fmt: skip
    for other in results[1:]:
        assert_array_equal(other, results[0])
