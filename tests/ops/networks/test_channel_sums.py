"""Sums of channels and those beside them in blocks, and local response normalization, which is made of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.blocked import FromBlocks, ToBlocks, of_blocks
from arignote.ops.lowered.channel_sums import ChannelSums
from arignote.targets.current import current

RNG = np.random.default_rng(3)


def normalized(x, size, channels, beta=0.75):
    """Local response normalization (Krizhevsky et al. 2012) of any window, as users write it."""
    before, behind = (size - 1) // 2, size - 1 - (size - 1) // 2
    squares = T.pad(x * x, ((0, 0), (before, behind), (0, 0), (0, 0)))
    total = sum((squares[:, k : k + channels] for k in range(1, size)), squares[:, :channels])
    return x / (1 + 0.02 * total) ** beta


def ops_of(f):
    return [getattr(node.op, "product", node.op) for node in f.graph.order]


def names(f):
    return [op.name for op in ops_of(f)]


@pytest.mark.long
@settings(max_examples=6)
@given(st.data())
def test_any_sums(data):
    """Five sums in one function, on one to three threads."""
    drawn = [any_sums(data) for _ in range(5)]
    inputs, values = [x for x, *_ in drawn], [value for _, value, *_ in drawn]
    outputs = [y for _, _, several, _ in drawn for y in several]
    for threads in (1, 2, 3):
        results = ag.function(inputs, outputs, threads=threads)(*values)
        for k, (_, value, _, (channels, before, behind)) in enumerate(drawn):
            plain = of_blocks(value, channels)
            around = np.pad(plain, ((0, 0), (before, behind), (0, 0), (0, 0)))
            expected = np.zeros_like(plain)
            for first in range(before + behind + 1):
                expected += around[:, first : first + channels]
            np.testing.assert_array_equal(results[2 * k], expected)
            np.testing.assert_allclose(results[2 * k + 1], np.exp(expected) + plain, rtol=1e-5, atol=1e-6)


def any_sums(data):
    """An input, a value for it, sums that are drawn of it, and what they sum."""
    draw = lambda *a: data.draw(st.integers(*a))  # noqa: E731
    dtype = data.draw(st.sampled_from(["float32", "float64"]))
    size = data.draw(st.sampled_from([current().vector // np.dtype(dtype).itemsize, 4]))
    channels, before, behind = draw(1, 70), draw(0, size), draw(0, size)
    fixed = np.random.default_rng(4)
    value = fixed.uniform(-1, 1, (draw(0, 3), -(-channels // size), draw(0, 9), draw(0, 9), size)).astype(dtype)
    value[:, -1, ..., (channels - 1) % size + 1 :] = np.nan  # lanes behind the last channel
    x = T.tensor("x", dtype, value.shape if data.draw(st.booleans()) else (None, *value.shape[1:2], None, None, size))
    y = ChannelSums(channels, before, behind)(x)
    return x, value, [FromBlocks(channels)(y), FromBlocks(channels)(T.exp(y) + x)], (channels, before, behind)


@pytest.mark.few(1)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("channels", [32, 37, 192])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_normalization_stays_in_blocks(size, channels, known):
    w, v = (RNG.uniform(-0.2, 0.2, shape).astype("float32") for shape in ((channels, 3, 3, 3), (24, channels, 1, 1)))
    x = T.tensor("x", "float32", (2, 3, 11, 9) if known else (None, 3, None, None))
    y = normalized(T.nn.relu(T.nn.conv2d(x, w, padding=1)), size, channels)
    y = T.nn.conv2d(T.nn.max_pool2d(y, 3, 2, 1), v)
    f, plain = ag.function([x], y), ag.function([x], y, mode="NUMPY")
    assert names(f).count("channel_sums") == names(f).count("from_blocks") == 1
    assert "max_pool" not in names(f)
    value = RNG.uniform(-1, 1, (2, 3, 11, 9)).astype("float32")
    np.testing.assert_allclose(f(value), plain(value), rtol=0, atol=2e-6 * np.abs(plain(value)).max())
    assert np.array_equal(f(value), ag.function([x], y, threads=3)(value))


@pytest.mark.long
def test_windows_that_reach_beyond_the_next_block_stay_slices():
    w = RNG.uniform(-0.2, 0.2, (96, 3, 3, 3)).astype("float32")
    x = T.tensor("x", "float32", (1, 3, 6, 6))
    size = 2 * (current().vector // 4) + 3
    y = normalized(T.nn.conv2d(x, w), size, 96)
    f, plain = ag.function([x], y), ag.function([x], y, mode="NUMPY")
    assert "channel_sums" not in names(f)
    value = RNG.uniform(-1, 1, (1, 3, 6, 6)).astype("float32")
    np.testing.assert_allclose(f(value), plain(value), rtol=2e-5)


def test_sums_as_other_ops_and_their_gradient():
    x = T.tensor("x", "float64", (2, 3, 4, 5, 4))
    op = ChannelSums(10, 2, 1)
    value = RNG.uniform(-1, 1, x.type.shape)
    value[:, -1, ..., 2:] = 0
    in_ops, itself = ag.function([x], [op.expand([x]), op(x)], mode="NUMPY")(value)
    np.testing.assert_allclose(of_blocks(in_ops, 10), of_blocks(itself, 10), rtol=1e-14)
    loss = T.square(FromBlocks(10)(op(ToBlocks(4)(FromBlocks(10)(x))))).sum()
    for mode in ("NUMPY", "fast_run"):
        got = ag.function([x], ag.grad(loss, x), mode=mode)(value)
        moved = value.copy()
        moved[1, 1, 2, 3, 2] += 1e-6
        f = ag.function([x], loss, mode="NUMPY")
        assert got[1, 1, 2, 3, 2] == pytest.approx((f(moved) - f(value)) / 1e-6, rel=1e-4)


def test_wrong_operands():
    with pytest.raises(TypeError, match="channel_sums takes float32 or float64 of rank 5"):
        ChannelSums(8, 1, 1)(T.matrix("m"))
    with pytest.raises(ValueError, match="10 channels do not fill 2 blocks of 4"):
        ChannelSums(10, 1, 1)(T.tensor("x", "float32", (1, 2, 3, 3, 4)))
    with pytest.raises(ValueError, match="channel_sums: counts of channels must not be negative"):
        ChannelSums(8, -1, 1)
    open_ended = T.tensor("x", "float32", (None, None, None, None, 4))
    with pytest.raises(ValueError, match=r"channel_sums|from_blocks|axis 1"):
        ag.function([open_ended], ChannelSums(8, 1, 1)(open_ended))(np.ones((1, 3, 2, 2, 4), "float32"))
