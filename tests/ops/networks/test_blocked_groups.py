"""Convolutions by groups, shuffles and joins of channels, on channels in blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.blocked import SPREAD, BlockedConvolution, FromBlocks, in_blocks
from arignote.ops.networks.weights import (
    pack_groups,
    pack_listed,
    pack_within,
    shuffled,
    unpack_groups,
    unpack_listed,
    unpack_within,
)
from arignote.targets.current import current

RNG = np.random.default_rng(16)
conv = T.nn.conv2d


def numbers(*shape, dtype="float32"):
    return RNG.uniform(-1, 1, shape).astype(dtype)


def names(f):
    return [getattr(node.op, "product", node.op).name for node in f.graph.order]


def shuffle(x, groups):
    """A channel shuffle as networks write it."""
    n, c, *positions = (x.shape[k] for k in range(4))
    c = x.type.shape[1]
    separate = T.reshape(x, (n, groups, c // groups, *positions))
    return T.reshape(T.transpose(separate, (0, 2, 1, 3, 4)), (n, c, *positions))


def check(build, shape, dtype="float32", without=("convolution",), known=True, **options):
    x = T.tensor("x", dtype, shape if known else (None, shape[1], None, None))
    y = build(x)
    f, plain = ag.function([x], y, **options), ag.function([x], y, mode="NUMPY")
    assert not set(without) & set(names(f)), names(f)
    value = numbers(*shape, dtype=dtype)
    got, expected = f(value), plain(value)
    scale = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(got, expected, rtol=0, atol=scale * (2e-6 if dtype == "float32" else 1e-14))
    return f


CASES = [
    # channels, outputs, groups, kernel, stride, groups of the shuffle before
    (136, 136, 4, (1, 1), 1, 1),
    (24, 112, 4, (1, 1), 1, 1),
    (64, 96, 2, (3, 3), 1, 1),  # whole blocks
    (40, 48, 2, (3, 2), 2, 1),
    (136, 136, 4, (1, 1), 1, 4),
    (64, 64, 2, (3, 3), 1, 2),
    (60, 100, 5, (2, 3), 1, 3),
    (48, 72, 1, (3, 3), 1, 6),  # no groups: weights take in the shuffle
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("channels", "outputs", "groups", "kernel", "stride", "mixed"), CASES)
def test_groups_of_any_width(channels, outputs, groups, kernel, stride, mixed):
    dtype = "float64" if kernel == (3, 2) else "float32"
    first, w = numbers(channels, 3, 1, 1, dtype=dtype), numbers(outputs, channels // groups, *kernel, dtype=dtype)
    b, own, shift = (numbers(*s, dtype=dtype) for s in ((outputs,), (channels, 1, 3, 3), (channels,)))

    def build(x):
        y = T.nn.relu(conv(x, first))
        if mixed > 1:
            y = conv(T.clip(shuffle(y, mixed), 0, 0.5), own, shift, padding=1, groups=channels)
        return T.nn.relu(conv(y, w, b, stride=stride, padding=1, groups=groups))

    f = check(build, (2, 3, 13, 11), dtype, without=("convolution", "reshape"), known=mixed == 1)
    assert names(f).count("from_blocks") == 1 and names(f).count("to_blocks") == 0


def test_channels_that_have_a_stride_are_read_by_groups():
    w, v = numbers(40, 3, 3, 3), numbers(64, 8, 1, 1)
    check(lambda x: conv(x, w, padding=1, groups=2), (1, 6, 9, 8))
    check(lambda x: conv(shuffle(x, 2), v, groups=2), (1, 16, 9, 8))


def test_narrow_groups_stay_as_they_are():
    w = numbers(48, 3, 3, 3)
    f = check(lambda x: conv(x, w, groups=16), (1, 48, 9, 8), without=())
    assert "convolution" in names(f)


WITHIN = [
    # channels, width of a group, kernel, stride, dilation, padding
    (48, 8, (3, 3), 1, 1, 1),
    (40, 8, (3, 3), 2, 1, 1),  # half a block is left
    (36, 4, (3, 3), (2, 1), 1, 2),
    (32, 2, (3, 3), 1, (2, 1), (1, 2)),
    (16, 8, (2, 3), 1, (1, 2), 1),
    (32, 4, (3, 5), (1, 2), 1, (0, 1)),
    (24, 8, (1, 1), 1, 1, 0),
]


@pytest.mark.skipif(current().vector // 4 != SPREAD, reason="a block holds no groups")
@pytest.mark.parametrize(("channels", "each", "kernel", "stride", "dilation", "padding"), WITHIN)
def test_groups_within_blocks(channels, each, kernel, stride, dilation, padding):
    """Rows of one tile, of several, and of fewer columns than the kernel has."""
    w, b = numbers(channels, each, *kernel), numbers(channels)
    options = {"stride": stride, "dilation": dilation, "padding": padding, "groups": channels // each}
    x = T.tensor("x", "float32", (None, channels, None, None))
    y = T.nn.relu(conv(x, w, b, **options))
    f, two, plain = ag.function([x], y), ag.function([x], y, threads=2), ag.function([x], y, mode="NUMPY")
    assert "to_blocks" in names(f) and "convolution" not in names(f)
    for shape in ((2, channels, 13, 20), (1, channels, 7, 7), (1, channels, 4, 5)):
        value = numbers(*shape)
        np.testing.assert_allclose(f(value), plain(value), rtol=0, atol=1e-5)
        assert f(value).tobytes() == two(value).tobytes()
        assert f(value[:, :, 1:, 2:]).tobytes() == f(value[:, :, 1:, 2:].copy()).tobytes()


@pytest.mark.few(1)
@pytest.mark.parametrize("laid", [False, True])
def test_a_convolution_within_blocks_as_other_ops(laid):
    """The definition, and the C of any machine: number by number where a vector is no block."""
    w = numbers(40, 8, 3, 2)
    op = BlockedConvolution((2, 1), (1, 2), ((1, 0), (2, 1)), SPREAD, 1, groups=5, weights=w.shape if laid else ())
    x = T.tensor("x", "float32", (2, 3, 6, 7, SPREAD))
    operands = [x, T.constant(op.packed(w, True) if laid else w), T.constant(numbers(48))]
    value = numbers(*x.type.shape)
    got, expected = ag.function([x], [op(*operands), op.expand(operands)], mode="NUMPY")(value)
    real = np.s_[:, :-1], np.s_[:, -1, :, :, :8]
    for part in real:
        np.testing.assert_allclose(got[part], expected[part], atol=1e-5)
        if laid:
            for options in ({}, {"target": "x86_64-linux-v3"}) if current().arch == "x86_64" else ({},):
                f = ag.function([x], op(*operands), **options)
                np.testing.assert_allclose(f(value)[part], got[part], atol=1e-5)


W = [numbers(*s) for s in ((24, 3, 3, 3), (112, 6, 1, 1), (112, 1, 3, 3), (112, 28, 1, 1), (136, 34, 1, 1),
    (136, 1, 3, 3), (136, 34, 1, 1), (9, 136, 1, 1))]  # fmt: skip


def unit(x, small, own, large, stride):
    """A unit of ShuffleNet (Zhang et al. 2017)."""
    y = shuffle(T.nn.relu(conv(x, small, groups=4)), 4)
    y = conv(y, own, stride=stride, padding=1, groups=own.shape[0])
    y = conv(y, large, groups=4)
    return T.nn.relu(x + y if stride == 1 else T.concatenate([T.nn.avg_pool2d(x, 3, stride=2, padding=1), y], axis=1))


@pytest.mark.long
def test_units_with_shuffles_and_joins_stay_in_blocks():
    def build(x):
        y = unit(T.nn.relu(conv(x, W[0], padding=1)), W[1], W[2], W[3], 2)
        return conv(unit(y, W[4], W[5], W[6], 1), W[7])

    f = check(build, (1, 3, 17, 14), without=("convolution", "to_blocks", "join", "reshape"))
    assert names(f).count("from_blocks") == 1
    check(build, (2, 3, 12, 14), known=False, without=())  # lengths behind a stride are not proved equal


def test_a_shuffle_that_nothing_takes_in():
    w = numbers(48, 3, 1, 1)
    check(lambda x: shuffle(conv(x, w), 3), (2, 3, 5, 4), without=("convolution",))
    check(lambda x: shuffle(conv(x, w), 3) + conv(x, w), (2, 3, 5, 4), without=("convolution",))
    check(lambda x: T.nn.max_pool2d(shuffle(conv(x, w), 3), 2).sum(axis=(2, 3)), (2, 3, 6, 4))


def test_bits_do_not_depend_on_threads_or_places():
    w, v = numbers(136, 3, 1, 1), numbers(136, 34, 3, 3)
    x = T.tensor("x", "float32", (None, 3, None, None))
    y = T.nn.relu(conv(shuffle(conv(x, w), 4), v, groups=4))
    one, two = (ag.function([x], y, threads=n) for n in (1, 2))
    value = numbers(2, 3, 45, 39)
    got = one(value)
    assert got.tobytes() == two(value).tobytes()
    assert one(value[1:2]).tobytes() == got[1:2].tobytes()
    assert two(value[:, :, 8:, 10:]).tobytes() == got[:, :, 8:, 10:].tobytes()


def test_numbers_that_are_not_finite_stay_in_their_group():
    w, v = numbers(68, 68, 1, 1), numbers(68, 17, 3, 3)
    w[:] = np.eye(68, dtype="float32")[:, :, None, None]
    x = T.tensor("x", "float32", (1, 68, 5, 5))
    f = ag.function([x], conv(T.nn.relu(x), v, padding=1, groups=4))
    value = np.abs(numbers(1, 68, 5, 5))
    value[0, 20], value[0, 40, 2, 2] = np.nan, np.inf  # in groups 1 and 2
    got = f(value)
    assert "blocked_convolution" in names(f)
    assert np.isfinite(got[0, :17]).all() and np.isfinite(got[0, 51:]).all() and np.isnan(got[0, 17:34]).all()
    f = ag.function([x], conv(T.nn.relu(x), numbers(68, 4, 3, 3), padding=1, groups=17))
    got = f(value)
    assert np.isnan(got[0, 20:24]).all() and np.isfinite(np.delete(got[0], np.r_[20:24, 40:44], 0)).all()


TARGETS = [("x86_64-linux-v3", 8), pytest.param("x86_64-linux", 4, marks=pytest.mark.long)]


@pytest.mark.skipif(current().arch != "x86_64", reason="the targets are x86-64 processors")
@pytest.mark.parametrize(("target", "size"), TARGETS)
def test_targets_with_narrower_vectors(target, size):
    w, v = numbers(60, 3, 1, 1), numbers(60, 30, 3, 2)
    f = check(lambda x: T.nn.relu(conv(shuffle(conv(x, w), 5), v, padding=1, groups=2)), (1, 3, 9, 8), target=target)
    products = [getattr(n.op, "product", n.op) for n in f.graph.order]
    assert {op.size for op in products if op.name == "blocked_convolution"} == {size}


@pytest.mark.parametrize("mode", ["fast_run -layout", "fast_compile"])
def test_the_tag_leaves_it_out(mode):
    x = T.tensor("x", "float32", (1, 64, 8, 8))
    assert "blocked_convolution" not in names(ag.function([x], conv(x, numbers(64, 32, 1, 1), groups=2), mode=mode))


# --- the ops


@settings(max_examples=40)
@given(*(st.integers(1, n) for n in (5, 40, 9, 3, 3, 4)), st.sampled_from([4, 8, 16]), st.booleans())
def test_packing_has_a_way_back(groups, outputs, channels, rows, columns, panel, size, blocks):
    shape = (groups * outputs, channels, rows, columns)
    w = RNG.standard_normal(shape)
    assert (unpack_listed(pack_listed(w, groups, size, panel), shape, groups, size, panel) == w).all()
    assert (unpack_within(pack_within(w, size), shape, size) == w).all()
    whole = RNG.standard_normal((groups * size * 2, *shape[1:]))
    laid = pack_groups(whole, groups, size, panel, blocks)
    assert (unpack_groups(laid, whole.shape, groups, size, panel, blocks) == whole).all()


def test_a_shuffle_and_the_one_that_undoes_it():
    assert (shuffled(12, 3)[shuffled(12, 4)] == np.arange(12)).all() and list(shuffled(6, 2)) == [0, 3, 1, 4, 2, 5]
    x = T.tensor("x", "float64", (2, 3, 5, 4, 4))
    value = numbers(2, 3, 5, 4, 4, dtype="float64")
    op = FromBlocks(12, 3)
    for mode in ("NUMPY", "fast_run"):
        plain, mixed, expanded = ag.function([x], [FromBlocks(12)(x), op(x), op.expand([x])], mode=mode)(value)
        assert (mixed == plain[:, shuffled(12, 3)]).all() and (expanded == mixed).all()
    with pytest.raises(ValueError, match="from_blocks: 12 channels do not form 5 groups"):
        FromBlocks(12, 5)(x)


@pytest.mark.parametrize(("channels", "mixed", "size"), [(116, 2, 16), (60, 3, 16), (6, 2, 16), (40, 5, 4), (27, 9, 8)])
def test_shuffled_channels_are_copied_by_groups(channels, mixed, size):
    """Groups that begin and end inside of blocks; more than eight are gathered."""
    op, shape = FromBlocks(channels, mixed), (2, -(-channels // size), 5, 7, size)
    known, unknown = T.tensor("x", "float32", shape), T.tensor("y", "float32", (None, shape[1], None, None, size))
    f = ag.function([known, unknown], [op(known), op(unknown)])
    value = numbers(*shape)
    (expected,) = op.evaluate(value)
    for found in f(value, value):
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("channels", "padding", "stride"), [(58, 0, 1), (7, 1, 2), (200, 0, 2)])
def test_pointwise_convolutions_read_channels_as_they_are(channels, padding, stride):
    """Of channels that are not in blocks: the same sums, in the same order, as from blocks."""
    w = numbers(40, channels, 1, 1)
    x = T.tensor("x", "float32", (2, channels, 11, 9))
    y = conv(x, w, padding=padding, stride=stride)
    f = ag.function([x], y)
    op = BlockedConvolution((stride, stride), (1, 1), ((padding, padding),) * 2, 8, 2)
    blocks = T.tensor("b", "float32", (2, -(-channels // 8), 11, 9, 8))
    g = ag.function([blocks], FromBlocks(40)(op(blocks, T.constant(w), T.constant(numbers(40) * 0))))
    value = numbers(*x.type.shape)
    assert "to_blocks" not in names(f) and "convolution" not in names(f)
    np.testing.assert_allclose(f(value), g(in_blocks(value, 8)), rtol=0, atol=2e-5)
    np.testing.assert_allclose(f(value), ag.function([x], y, mode="NUMPY")(value), rtol=0, atol=2e-5)


@pytest.mark.parametrize(("outputs", "channels", "mixed"), [(18, 9, 1), (18, 9, 3), (16, 8, 1)])
@pytest.mark.parametrize("laid", [False, True])
def test_a_convolution_as_other_ops(outputs, channels, mixed, laid):
    w, b = numbers(outputs, channels, 3, 2, dtype="float64"), np.zeros(-(-outputs // 4) * 4)
    b[:outputs] = numbers(outputs, dtype="float64")
    fields = {"weights": w.shape} if laid else {}
    op = BlockedConvolution((2, 1), (1, 2), ((1, 0), (2, 1)), 4, 2, groups=2, shuffle=mixed, **fields)
    x = T.tensor("x", "float64", (2, -(-2 * channels // 4), 6, 5, 4))
    operands = [x, T.constant(op.packed(w, True) if laid else w), T.constant(b)]
    value = numbers(*x.type.shape, dtype="float64")
    f = ag.function([x], [op(*operands), op.expand(operands)], mode="NUMPY")
    got, expected = f(value)
    np.testing.assert_allclose(got, expected, atol=1e-12)
    if laid:
        compiled = ag.function([x], op(*operands))(value)
        last = outputs % 4 or 4
        np.testing.assert_allclose(compiled[:, :-1], got[:, :-1], atol=1e-12)
        np.testing.assert_allclose(compiled[:, -1, :, :, :last], got[:, -1, :, :, :last], atol=1e-12)
    g = ag.function([x], ag.grad(T.square(op(*operands)).sum(), x), mode="NUMPY")
    assert g(value).shape == value.shape
