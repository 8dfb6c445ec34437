"""Convolutions on channels in blocks: values, bits, borders, epilogues, targets; and what stays as it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.lowered.blocked import BlockedConvolution, FromBlocks, ToBlocks, in_blocks, of_blocks
from arignote.ops.networks.weights import pack, unpack
from arignote.targets.current import current, using
from arignote.targets.named import by_name

RNG = np.random.default_rng(8)
conv = T.nn.conv2d


def numbers(*shape, dtype="float32"):
    return RNG.uniform(-1, 1, shape).astype(dtype)


def names(f):
    found = [node.op for node in f.graph.order]
    return [getattr(op, "product", op).name for op in found]


def check(build, shape, dtype="float32", known=True, ops=("blocked_convolution",), without=(), values=None, **options):
    """Whether a function of an image has the values of the unoptimized graph, computed by NumPy, and these ops."""
    x = T.tensor("x", dtype, shape if known else (None, shape[1], None, None))
    y = build(x)
    f, plain = ag.function([x], y, **options), ag.function([x], y, mode="NUMPY")
    assert set(ops) <= set(names(f)) and not set(without) & set(names(f)), names(f)
    fixed = np.random.default_rng(8)  # the data of a test must not depend on those that ran before it
    value = fixed.uniform(-1, 1, shape).astype(dtype) if values is None else values
    got, expected = f(value), plain(value)
    scale = np.abs(np.where(np.isfinite(expected), expected, 0)).max(initial=1.0)
    np.testing.assert_allclose(got, expected, rtol=0, atol=scale * (2e-6 if dtype == "float32" else 1e-14))
    return f


@pytest.mark.long
@settings(max_examples=25)
@given(st.data())
def test_any_convolution(data):
    draw = lambda *a: data.draw(st.integers(*a))  # noqa: E731
    c, o, k = draw(1, 40), draw(1, 70), (draw(1, 4), draw(1, 4))
    stride, dilation = (draw(1, 3), draw(1, 3)), (draw(1, 2), draw(1, 2))
    padding = [(draw(0, 3), draw(0, 3)) for _ in range(2)]
    least = [max(1, (n - 1) * d + 1 - sum(p)) for n, d, p in zip(k, dilation, padding, strict=True)]
    shape = (draw(0, 2), c, *(n + draw(0, 13) for n in least))
    dtype = data.draw(st.sampled_from(["float32", "float64"]))
    w, b, again = numbers(o, c, *k, dtype=dtype), numbers(o, dtype=dtype), numbers(33, o, 1, 1, dtype=dtype)

    def build(x):
        y = conv(x, w, b, stride=stride, padding=padding, dilation=dilation)
        return conv(T.nn.relu(y), again) if data.draw(st.booleans()) else y

    check(build, shape, dtype, ops=(), known=data.draw(st.booleans()))


@pytest.mark.few(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("stride", [(2, 2), (1, 3), (3, 1)])
@pytest.mark.parametrize("outputs", [24, 160])
def test_kernels_of_one_position_that_skip_some_of_x(outputs, stride, dtype):
    """Windows of a tile are in several rows of x; every number of threads gives the same bits."""
    w, v = numbers(outputs, 40, 1, 1, dtype=dtype), numbers(40, 3, 3, 3, dtype=dtype)

    def build(x):
        return T.nn.relu(conv(T.nn.relu(conv(x, v, padding=1)), w, stride=stride))

    value = numbers(2, 3, 23, 25, dtype=dtype)
    found = [check(build, value.shape, dtype, values=value, threads=threads)(value) for threads in (1, 2, 3)]
    assert all(map(np.array_equal, found, found[1:]))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("channels", [32, 40])
def test_a_kernel_a_channel_between_two_products(known, stride, channels):
    w, own, v = numbers(channels, 3, 3, 3), numbers(channels, 1, 3, 3), numbers(24, channels, 1, 1)

    def build(x):
        y = T.clip(conv(x, w, padding=1), 0, 1)
        return conv(T.clip(conv(y, own, stride=stride, padding=1, groups=channels), 0, 1), v)

    f = check(build, (2, 3, 9, 11), known=known, ops=("convolution_pair",), without=("convolution", "assembled"))
    assert names(f) == ["convolution_pair", "blocked_convolution", "from_blocks"]


def network(x):
    """Residuals, a join, pooling with a border of -inf, channels scaled by a function of their means."""
    y = T.nn.relu(conv(x, W[0], B, stride=2, padding=1))
    y = T.nn.max_pool2d(y, 3, stride=2, padding=1)
    left, right = T.nn.relu(conv(y, W[1])), T.nn.relu(conv(y, W[2], padding=1))
    y = T.concatenate([left, right], axis=1)
    gate = T.nn.sigmoid(conv(y.mean(axis=(2, 3), keepdims=True), W[3]))
    y = T.nn.avg_pool2d(y * gate, 2)
    y = T.nn.relu(conv(y, W[4], padding=2, dilation=2) + y)
    return T.dot(y.mean(axis=(2, 3)), W[5])


W = [numbers(*s) for s in ((32, 3, 3, 3), (48, 32, 1, 1), (64, 32, 3, 3), (112, 112, 1, 1), (112, 112, 3, 3), (112, 9),
    (16, 144, 3, 3))]
B = numbers(32)


@pytest.mark.long
def test_a_network_changes_its_layout_at_its_ends():
    f = check(network, (2, 3, 37, 40), ops=("blocked_convolution", "join"), without=("convolution",))
    assert names(f).count("to_blocks") + names(f).count("from_blocks") <= 2, names(f)
    check(network, (1, 3, 37, 40), known=False)


@pytest.mark.long
def test_networks_of_any_length_run_in_one_function():
    x = T.tensor("x", "float32", (None, 3, None, None))
    f, plain = ag.function([x], network(x)), ag.function([x], network(x), mode="NUMPY")
    for shape in ((1, 3, 16, 19), (3, 3, 50, 21), (0, 3, 16, 16)):
        value = numbers(*shape)
        np.testing.assert_allclose(f(value), plain(value), rtol=1e-5, atol=1e-3)


def test_convolutions_of_one_image_are_computed_in_their_join():
    def build(x):
        y = T.nn.relu(conv(x, W[0], B))
        return conv(T.concatenate([T.nn.relu(conv(y, W[1])), conv(y, W[2], padding=1), y], axis=1), W[6])

    f = check(build, (1, 3, 9, 8), ops=("assembled",), without=("join",))
    copies = [step for step in f.program.steps if getattr(step, "function", "") == "copy"]
    assert len(copies) == 2  # y, which another node reads, and the result with channels side by side
    check(build, (2, 3, 9, 8), ops=("join",), without=("assembled",))


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", ["fast_run -layout", "fast_compile", "NUMPY"])
def test_the_tag_leaves_it_out(mode):
    x = T.tensor("x", "float32", (1, 3, 16, 16))
    assert "blocked_convolution" not in names(ag.function([x], network(x), mode=mode))


@pytest.mark.parametrize(
    "after",
    [
        lambda y: y + np.arange(8, dtype="float32"),  # another number a column: no single loop
        lambda y: y + np.arange(8, dtype="float32")[:, None],  # another number a row
        lambda y: y * T.exp(y),
        lambda y: T.nn.relu(y + numbers(40, 1, 1)),
        lambda y: y > 0,
        lambda y: [y, T.exp(y)],
        lambda y: y + numbers(3, 1, 1, 1),  # more images than the convolution has
    ],
)
def test_what_follows(after):
    w = numbers(40, 5, 3, 3)
    x = T.tensor("x", "float32", (1, 5, 8, 8))
    y = after(conv(x, w, padding=1))
    f, plain = ag.function([x], y), ag.function([x], y, mode="NUMPY")
    value = numbers(1, 5, 8, 8)
    for got, expected in zip(np.atleast_1d(f(value)), np.atleast_1d(plain(value)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_numbers_that_are_not_finite_reach_what_they_do_in_numpy():
    w, v = numbers(20, 18, 3, 3), numbers(9, 20, 1, 1)
    value = numbers(1, 18, 7, 7)
    value[0, 17, 3, 3], value[0, 0, 0, 0], value[0, 5, 6, 6] = np.inf, np.nan, -np.inf
    check(lambda x: conv(T.nn.relu(conv(x, w, padding=1)), v), value.shape, values=value)


@pytest.mark.parametrize(
    ("cut", "calls"),
    [
        (lambda y: T.clip(y, -0.25, 0.5), 1),
        (lambda y: T.maximum(y, 0), 1),
        (lambda y: T.minimum(0.25, y), 1),
        (lambda y: T.maximum(T.minimum(y, -0.25), 0.5), 2),  # from above first: a kernel follows
        (lambda y: T.maximum(y, y * 0.5), 2),
        (lambda y: T.maximum(y, np.float32(np.nan)), 2),
    ],
)
def test_bounds_are_met_in_registers(cut, calls):
    w = numbers(37, 20, 3, 2)
    value = numbers(2, 20, 5, 19)
    value[0, 3, 2, 2], value[1, 19, 0, 18] = np.nan, -np.inf
    f = check(lambda x: cut(conv(x, w, padding=1)), value.shape, values=value)
    kernels = [k for k in f.program.kernels if "imum" in k.title or "clip" in k.title]
    assert len(kernels) == calls - 1, [k.title for k in kernels]


def test_weights_that_are_not_finite_meet_the_zeros_around_an_image():
    w = numbers(20, 3, 3, 3)
    w[4, 1, 0, 0] = np.inf
    check(lambda x: conv(x, w, padding=1), (1, 3, 5, 5), ops=("convolution",), without=("blocked_convolution",))


def test_weights_in_training_stay_as_they_are():
    w = ag.shared(numbers(32, 3, 3, 3))
    x = T.tensor("x", "float32", (1, 3, 8, 8))
    loss = T.square(conv(x, w)).sum()
    f = ag.function([x], loss, updates=[(w, w - 0.01 * ag.grad(loss, w))])
    assert "blocked_convolution" not in names(f)


def test_derivatives_by_images_of_constant_weights():
    w, v = numbers(32, 3, 3, 3), numbers(17, 32, 1, 1)
    check(lambda x: ag.grad(T.square(conv(T.nn.relu(conv(x, w, padding=1)), v)).sum(), x), (2, 3, 8, 9), ops=())


def test_bits_do_not_depend_on_threads_or_places():
    x = T.tensor("x", "float32", (None, 20, None, None))
    y = T.nn.relu(conv(T.nn.relu(conv(x, numbers(70, 20, 3, 3), padding=1)), numbers(33, 70, 3, 3), stride=2))
    one, two = (ag.function([x], y, threads=n) for n in (1, 2))
    value = numbers(3, 20, 45, 39)
    got = one(value)
    assert got.tobytes() == two(value).tobytes()
    assert one(value[1:2]).tobytes() == got[1:2].tobytes()
    assert one(value[:, :, 8:, 10:])[:, :, 4:, 4:].tobytes() == got[:, :, 8:, 9:].tobytes()
    by_columns = np.asfortranarray(value)
    assert one(by_columns).tobytes() == got.tobytes() and one(value[::-1, :, ::1])[::-1].tobytes() == got.tobytes()


TARGETS = [("x86_64-linux-v3", 8), pytest.param("x86_64-linux", 4, marks=pytest.mark.long)]


@pytest.mark.long
@pytest.mark.skipif(current().arch != "x86_64", reason="the targets are x86-64 processors")
@pytest.mark.parametrize(("target", "size"), TARGETS)
def test_targets_with_narrower_vectors(target, size):
    f = check(network, (1, 3, 20, 18), target=target)
    products = [getattr(n.op, "product", n.op) for n in f.graph.order]
    assert {op.size for op in products if op.name == "blocked_convolution"} == {size}


PANELS = [(7, 3, 3), (14, 3, 3), (28, 3, 4), (56, 3, 4), (7, 1, 4), (1, 3, 2)]


@pytest.mark.parametrize(("columns", "kernel", "panel"), PANELS)
def test_rows_that_divide_into_short_tiles_have_narrower_panels(columns, kernel, panel):
    """512 outputs of 64 channels, with 32 registers of 16 numbers; the rows of 1x1 kernels follow one another."""
    x = T.tensor("x", "float32", (1, 64, columns, columns))
    y = conv(x, numbers(512, 64, kernel, kernel, dtype="float32"), padding=kernel // 2)
    with using(by_name("x86_64-linux-v4")):
        graph = ag.optdb.query("fast_run")(FunctionGraph([x], [y]))[0]
    ops = [getattr(node.op, "product", node.op) for node in graph.order]
    assert [op.panel for op in ops if op.name == "blocked_convolution"] == [panel]


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_of_few_channels_have_the_bits_of_their_rows(channels):
    """Windows within x are one loop over a table, others are not: a row of y has the same bits in a larger image."""
    w, b = numbers(48, channels, 5, 3, dtype="float32"), numbers(48, dtype="float32")
    x = T.tensor("x", "float32", (None, channels, None, None))
    functions = [ag.function([x], conv(x, w, b, stride=(2, 1), padding=2), threads=n) for n in (1, 2)]
    value = numbers(2, channels, 61, 57, dtype="float32")
    whole, part = functions[0](value), functions[0](np.ascontiguousarray(value[:, :, 20:33]))
    assert whole.tobytes() == functions[1](value).tobytes()
    assert (part[:, :, 1:6] == whole[:, :, 11:16]).all()


# --- the ops


@settings(max_examples=40)
@given(*(st.integers(1, n) for n in (70, 40, 3, 3, 4)), st.sampled_from([4, 8, 16]), st.booleans(), st.booleans())
def test_packing_has_a_way_back(outputs, channels, rows, columns, panel, size, blocks, own):
    shape = (outputs, 1 if own else channels, rows, columns)
    w = RNG.standard_normal(shape)
    laid = pack(w, size, panel, blocks, own)
    assert laid.shape == (-(-outputs // size) * size * w[0].size,)
    assert (unpack(laid, shape, size, panel, blocks, own) == w).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("channels", [8, 11, 1])
def test_changes_of_layout(channels):
    x = T.tensor("x", "float32", (None, channels, None, None))
    value = numbers(2, channels, 3, 5)
    blocks = ToBlocks(4)(x)
    for mode in ("fast_run", "NUMPY"):
        f = ag.function([x], [blocks, FromBlocks(channels)(blocks)], mode=mode)
        there, back = f(value)
        assert there.shape == (2, -(-channels // 4), 3, 5, 4) and (there == in_blocks(value, 4)).all()
        assert (back == value).all() and (of_blocks(there, channels) == value).all()
        expanded = ag.function([x], ToBlocks(4).expand([x]), mode=mode)(value)
        assert (expanded == there).all()
    loss = T.square(FromBlocks(channels)(ToBlocks(4)(x) * 3)).sum()
    np.testing.assert_allclose(ag.function([x], ag.grad(loss, x))(value), 18 * value, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize(("channels", "size"), [(58, 16), (3, 16), (32, 16), (17, 16), (9, 8), (5, 3), (0, 4)])
def test_channels_that_do_not_fill_blocks(dtype, channels, size):
    """One copy for whole blocks; zeros behind the last channel, of strided images too."""
    shape = (2, channels, 7, 18)
    x, value = T.tensor("x", dtype, shape), RNG.integers(1, 200, shape).astype(dtype)
    f = ag.function([x], [ToBlocks(size)(x), ToBlocks(size)(x[:, :, ::-2, 1::3])])
    assert names(f).count("to_blocks") == 2 or channels == 0
    for found, images in zip(f(value), (value, value[:, :, ::-2, 1::3]), strict=True):
        np.testing.assert_array_equal(found, in_blocks(images, size))


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("laid", [False, True])
def test_a_convolution_as_other_ops(own, laid):
    c, o = (9, 9) if own else (9, 13)
    w, b = numbers(o, 1 if own else c, 3, 2, dtype="float64"), numbers(o, dtype="float64")
    x = T.tensor("x", "float64", (2, -(-c // 4), 6, 5, 4))
    op = BlockedConvolution((2, 1), (1, 2), ((1, 0), (2, 1)), 4, 2, own, w.shape if laid else ())
    weights = T.constant(pack(w, 4, 2, True, own) if laid else w)
    bias = np.zeros(-(-o // 4) * 4)
    bias[:o] = b
    y = op(x, weights, T.constant(bias))
    value = numbers(*x.type.shape, dtype="float64")
    value[:, -1, :, :, 1:] = 0
    f = ag.function([x], [y, op.expand([x, weights, T.constant(bias)])], mode="NUMPY")
    np.testing.assert_allclose(*f(value), atol=1e-12)
    assert f(value)[0].shape == y.type.shape
    g = ag.function([x], ag.grad(T.square(y).sum(), x), mode="NUMPY")
    assert g(value).shape == value.shape


def test_wrong_operands():
    x, w, b = T.tensor("x", "float32", (1, 2, 3, 3, 8)), T.tensor("w", "float32", (4, 9, 2, 2)), T.fvector("b")
    op = BlockedConvolution((1, 1), (1, 1), ((0, 0), (0, 0)), 4, 2)
    for operands in ((x, w, b), (w, x, b), (w, w), (T.tensor("i", "int64", (1, 9, 3, 3)), w, b)):
        with pytest.raises(TypeError, match=r"blocked_convolution takes"):
            op(*operands)
    with pytest.raises(TypeError, match="to_blocks takes a tensor of rank 4"):
        ToBlocks(4)(x)
    with pytest.raises(TypeError, match="from_blocks takes a tensor of rank 5"):
        FromBlocks(4)(w)
    with pytest.raises(ValueError, match="from_blocks: 4 channels do not fill 2 blocks of 8"):
        FromBlocks(4)(x)
    open_ended = T.tensor("x", "float32", (None,) * 5)
    for mode, error in (("NUMPY", ValueError), ("fast_run", ValueError)):
        with pytest.raises(error, match="from_blocks"):
            ag.function([open_ended], FromBlocks(4)(open_ended), mode=mode)(numbers(1, 2, 3, 3, 8))


def test_the_profile_counts_operations():
    x = T.tensor("x", "float32", (1, 16, 10, 10))
    f = ag.function([x], T.nn.relu(conv(x, numbers(64, 16, 3, 3))), profile=True)
    f(numbers(1, 16, 10, 10))
    (step,) = [s for s in f.profile.steps if "blocked" in s.text]
    blocks = -(-64 // (current().vector // 4)) * (current().vector // 4)
    assert step.flops == pytest.approx(8 * 8 * blocks * 2 * 16 * 9, rel=0.02)


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_images_of_unknown_size_stay_in_blocks_through_strides_and_pooling(kind):
    """Lengths are halved and padded again and again; what is computed of an image is computed once."""
    pool = T.nn.max_pool2d if kind == "max" else T.nn.avg_pool2d
    w, v, u = numbers(16, 3, 7, 7) / 8, numbers(32, 16, 3, 3) / 8, numbers(32, 32, 3, 3) / 16
    x = T.tensor("x", "float32", (None, 3, None, None))
    y = pool(T.nn.relu(conv(x, w, stride=2, padding=3)), 3, 2, 1)
    y = T.nn.relu(conv(y, v, stride=2, padding=1))
    y = conv(pool(y, 2, 2), u, padding=1)
    f, plain = ag.function([x], y), ag.function([x], y, mode="NUMPY")
    found = names(f)
    assert found.count("from_blocks") == 1 and found.count("blocked_convolution") == 3, found
    assert not {"convolution", "max_pool", "sum_pool"} & set(found), found
    for shape in ((1, 3, 32, 40), (2, 3, 33, 47)):
        value = numbers(*shape)
        np.testing.assert_allclose(f(value), plain(value), rtol=0, atol=2e-6 * np.abs(plain(value)).max())
