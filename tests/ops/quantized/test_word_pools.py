"""Pools of the largest bfloat16 numbers in blocks: values and bits, borders, threads, what stays in float32."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.records import from_bfloat16 as widened
from arignote.ops.elementwise.special import from_bfloat16, to_bfloat16
from arignote.ops.lowered.blocked_pool import BlockedPool
from arignote.ops.lowered.convolution_pair import ConvolutionPair
from arignote.targets.named import host
from arignote.targets.units import has_tiles

RNG = np.random.default_rng(29)
AWKWARD = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-40, 3e38], "float32")
CASES = [
    ((3, 3), (2, 2), (1, 1), ((1, 1), (1, 1)), (2, 3, 13, 19, 16)),
    ((3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)), (1, 2, 9, 33, 16)),
    ((2, 4), (3, 1), (2, 1), ((0, 1), (2, 0)), (2, 1, 11, 8, 16)),
    ((1, 1), (1, 1), (1, 1), ((2, 0), (0, 1)), (1, 1, 3, 4, 16)),
    ((2, 2), (2, 2), (1, 1), ((0, 0), (0, 0)), (1, 2, 7, 10, 6)),
    ((3, 3), (2, 2), (1, 1), ((1, 1), (1, 1)), (1, 1, 6, 5, 3)),
    ((3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)), (0, 2, 6, 5, 16)),
]  # fmt: skip


def numbers(*shape):
    return RNG.standard_normal(shape).astype("float32")


def test_pools_have_the_bits_of_float32():
    """Whole vectors and others, odd blocks, borders, no images; NaN and infinities; one to three threads."""
    inputs, outputs, given, wide = [], [], [], []
    for *sizes, shape in CASES:
        op = BlockedPool(*sizes, halves=True)
        bits = to_bfloat16(numbers(*shape))
        if bits.size:
            bits[..., 2, 1:4, :] = np.resize(to_bfloat16(AWKWARD), bits[..., 2, 1:4, :].shape)
        x = T.tensor("x", "uint16", shape)
        inputs.append(x), given.append(bits), outputs.append(op(x))
        wide.append(BlockedPool(*sizes)(widened(x)))
    expected = [to_bfloat16(v) for v in ag.function(inputs, wide, threads=1)(*given)]
    by_numpy = ag.function(inputs, outputs, mode="NUMPY")(*given)
    for threads in (1, 2, 3):
        for found, plain, exact in zip(ag.function(inputs, outputs, threads=threads)(*given), expected, by_numpy,
                                       strict=True):  # fmt: skip
            assert_array_equal(found, plain)
            assert_array_equal(from_bfloat16(found), from_bfloat16(exact))


LINES = [
    ((3, 3), (2, 2), (1, 1), ((1, 1), (1, 1)), (1, 1, 5, 300, 16)),
    ((2, 3), (1, 1), (1, 2), ((0, 0), (1, 2)), (1, 2, 4, 600, 16)),
    ((1, 5), (1, 3), (1, 1), ((0, 0), (4, 4)), (1, 1, 2, 9, 16)),
    ((2, 2), (1, 1), (3, 3), ((2, 3), (3, 2)), (1, 1, 4, 4, 16)),
    ((1, 3), (1, 1), (1, 9), ((0, 0), (9, 9)), (1, 1, 2, 8, 16)),
    ((1, 2), (1, 1), (1, 1), ((1, 1), (5, 3)), (1, 1, 2, 4, 16)),
    ((1, 2), (1, 1), (1, 300), ((0, 0), (0, 0)), (1, 1, 2, 310, 16)),
]  # fmt: skip
"""Pools of long rows, of dilated windows, and of windows that lie beyond a border."""


@pytest.mark.parametrize("sizes", LINES, ids=str)
def test_numbers_without_signs(sizes):
    """Their bits are compared; a number with a sign, -0 and NaN among them, has the result of float32."""
    *sizes, shape = sizes
    op, x = BlockedPool(*sizes, halves=True), T.tensor("x", "uint16", shape)
    f, wide = ag.function([x], op(x)), ag.function([x], BlockedPool(*sizes)(widened(x)), mode="NUMPY")
    bits = to_bfloat16(np.abs(numbers(*shape)))
    bits[RNG.random(shape) < 0.05] = 0
    bits[..., 1, 3] = to_bfloat16(np.float32(np.inf))
    for awkward in (0x7FC0, 0x7F81, 0x0001, 0x8000, 0xFFC0, 0xBF80, 0xFF80):
        given = bits.copy()
        given[..., -1, 2 * shape[3] // 3, ::5] = awkward
        assert_array_equal(from_bfloat16(f(given)), wide(given))
    assert_array_equal(f(bits), to_bfloat16(wide(bits)))


def test_strided_images():
    """Views of blocks, rows and columns."""
    op = BlockedPool((3, 2), (1, 2), (1, 1), ((1, 0), (0, 1)), halves=True)
    x = T.tensor("x", "uint16", (2, 4, 14, 18, 16))
    bits = to_bfloat16(numbers(2, 4, 14, 18, 16))
    y = op(x[:, ::2, ::-1, 1::3])
    assert_array_equal(ag.function([x], y)(bits), ag.function([x], y, mode="NUMPY")(bits))


def pools_of(f):
    return [node.op for node in f.graph.order if isinstance(node.op, BlockedPool)]


@pytest.mark.long
@pytest.mark.skipif(not has_tiles(host(), "bfloat16"), reason="needs convolutions of pairs by tiles")
def test_networks_pool_rounded_numbers():
    """A pool behind a convolution, behind a join, and behind another pool; one whose result is an output stays."""
    x = T.tensor("x", "float32", (2, 16, 20, 22))
    w = [ag.shared(numbers(*s) / 8, shape=s) for s in ((16, 16, 3, 3), (16, 16, 1, 1), (32, 32, 1, 1), (8, 32, 1, 1))]
    conv, pool = T.nn.conv2d, T.nn.max_pool2d
    first, second = (T.relu(conv(x, w[k], padding=1 - k)) for k in (0, 1))
    h = pool(T.concatenate([first, second], axis=1), 3, stride=2, padding=1)
    y = conv(T.relu(conv(h, w[2])), w[3]) + conv(pool(h, 3, stride=1, padding=1), w[3])
    value = numbers(2, 16, 20, 22)
    f = ag.freeze(y, compute="bfloat16")
    assert [op.halves for op in pools_of(f)] == [True, True]
    plain = ag.freeze(y, compute="bfloat16", mode=ag.Mode().excluding("local_bfloat16_pool"))
    assert not any(op.halves for op in pools_of(plain))
    assert_array_equal(f(value), plain(value))
    for threads in (1, 2):
        assert_array_equal(ag.freeze(y, compute="bfloat16", threads=threads)(value), f(value))
    both = ag.freeze([h, conv(h, w[2])], compute="bfloat16")
    assert not any(op.halves for op in pools_of(both))


def test_sums_and_floats_are_refused():
    sizes = (2, 2), (1, 1), (1, 1), ((0, 0), (0, 0))
    bits = T.tensor("x", "uint16", (1, 1, 4, 4, 16))
    with pytest.raises(ValueError, match="sums of bfloat16 numbers"):
        BlockedPool(*sizes, True, True)(bits)
    with pytest.raises(TypeError, match="takes uint16 of rank 5, got the result of from_bfloat16"):
        BlockedPool(*sizes, halves=True)(widened(bits))
    with pytest.raises(TypeError, match="takes float32 or float64 of rank 5, got "):
        BlockedPool(*sizes)(bits)


@pytest.mark.few(2)
@pytest.mark.skipif(not has_tiles(host(), "bfloat16"), reason="needs convolutions of pairs by tiles")
@pytest.mark.parametrize(("kernel", "stride", "padding"), [(3, 2, 1), (2, 2, 0), (3, 1, 1), ((1, 4), (1, 3), (0, 2))])
@pytest.mark.parametrize("channels", [3, 48])
def test_pairs_with_convolutions(kernel, stride, padding, channels):
    """A pool is one call with its convolution, and has the bits of two calls, whatever the number of threads."""
    shapes = (channels, 3, 1, 1), (70, channels, 3, 3), (8, 70, 1, 1)
    first, w, v = (ag.shared(numbers(*s) / 4, shape=s) for s in shapes)
    x = T.tensor("x", "float32", (2, 3, 41, 150))
    h = x if channels == 3 else T.relu(T.nn.conv2d(x, first))
    y = T.nn.max_pool2d(T.relu(T.nn.conv2d(h, w, stride=(1, 2), padding=1)), kernel, stride, padding)
    y = T.nn.conv2d(y, v)
    f = ag.freeze(y, compute="bfloat16", threads=1)
    assert any(isinstance(node.op, ConvolutionPair) for node in f.graph.order)
    separate = ag.freeze(y, compute="bfloat16", mode=ag.Mode().excluding("local_convolution_pair"))
    assert pools_of(separate) and not pools_of(f)
    value = numbers(2, 3, 41, 150)
    value[0, 1, 5, 7], value[1, 0, 40, 149], value[1, 2, 20, 3:9] = np.nan, np.inf, -3e38
    for threads in (1, 2, 3):
        assert_array_equal(ag.freeze(y, compute="bfloat16", threads=threads)(value), separate(value))
