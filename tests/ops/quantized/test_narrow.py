"""Networks in 16 bits: rounding, values by definition, layers that stay in float32, pairs, the emulated unit of ARM."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pairs_cases import by_definition, own_case, pairs_case
from scipy.special import erfc

import arignote as ag
from arignote import ops as T
from arignote.networks.calibration import relative_error
from arignote.ops.elementwise.records import from_bfloat16 as widened
from arignote.ops.elementwise.special import from_bfloat16, to_bfloat16
from arignote.ops.lowered.attention import Attention
from arignote.ops.lowered.fused_product import FusedProduct
from arignote.optdb.rules.quantized.narrow import FORMATS
from arignote.targets.current import current
from arignote.targets.named import NAMED
from arignote.targets.units import UNITS, lacking, unit_for

RNG = np.random.default_rng(42)
BITS = [0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x10000, 0x17FFF, 0x18000, 0x18001, 0x3F808000, 0x3F818000, 0x3F808001]
BITS += [0x3F807FFF, 0x007FFFFF, 0x00800000, 0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FFFFFFF]
AWKWARD = np.array([*BITS, *(b | 0x80000000 for b in BITS)], "uint32").view("float32")
"""Zeros, subnormals, ties on either side, the largest numbers, infinities and NaNs."""


def numbers(*shape, scale=1.0):
    return (scale * RNG.standard_normal(shape)).astype("float32")


def weights(name, *shape):
    return ag.shared(numbers(*shape, scale=np.prod(shape[1:]) ** -0.5), shape=shape, name=name)


def pairwise(target):
    """A target that multiplies pairs, with a unit or without."""
    limits = target.limits
    return replace(
        target, limits=replace(limits, convolutions=replace(limits.convolutions, pairs_in_float32=1))
    )  # fmt: skip


def network(channels=3, rows=11):
    """A network with plain, strided, dilated, grouped and pointwise convolutions, a residual, and a product."""
    x = T.tensor("x", "float32", (2, channels, rows, rows - 2))
    h = T.relu(T.nn.conv2d(x, weights("first", 16, channels, 3, 3), numbers(16), padding=1))
    h = T.relu(T.nn.conv2d(h, weights("strided", 32, 16, 3, 3), numbers(32), padding=1, stride=2))
    h = T.relu(T.nn.conv2d(h, weights("point", 32, 32, 1, 1)) + h)
    h = T.nn.conv2d(h, weights("grouped", 32, 16, 3, 3), groups=2, padding=2, dilation=2)
    h = T.relu(T.nn.conv2d(h, weights("own", 32, 1, 3, 3), groups=32, padding=1))
    h = T.nn.conv_transpose2d(h, weights("turned", 32, 16, 2, 2), stride=2)
    return x, T.mean(T.nn.gelu(h), axis=(2, 3)) @ weights("last", 16, 10)


@pytest.fixture(scope="module")
def net():
    x, y = network()
    value = numbers(*x.type.shape)
    return x, y, value, ag.freeze(y)(value)


# --- rounding


def test_rounding_to_bfloat16_is_to_nearest_even_and_keeps_nan():
    x = T.fvector("x")
    f = ag.function([x], [T.to_bfloat16(x), T.from_bfloat16(T.to_bfloat16(x)), T.to_bfloat16(x[::-3])])
    given = np.concatenate([AWKWARD, RNG.integers(0, 1 << 32, 3000, "uint64").astype("uint32").view("float32")])
    bits, back, strided = f(given)
    near = from_bfloat16(bits)
    with np.errstate(all="ignore"):
        wide = given.astype("float64")
    assert_array_equal(bits, to_bfloat16(given))
    assert_array_equal(strided, to_bfloat16(given[::-3]))
    assert_array_equal(np.isnan(near), np.isnan(given))
    assert_array_equal(back, near)
    finite = np.isfinite(near) & np.isfinite(given)
    with np.errstate(all="ignore"):
        below, above = (from_bfloat16(bits[finite] + np.uint16(step)).astype("float64") for step in (0xFFFF, 1))
    distance = np.abs(near[finite].astype("float64") - wide[finite])
    for other in (below, above):
        farther = np.abs(other - wide[finite])
        tied = distance == farther
        assert (distance <= np.where(np.isfinite(farther), farther, np.inf)).all()
        assert (bits[finite][tied] % 2 == 0).all()
    assert np.isinf(near[(np.abs(given) >= np.float32(3.3961776e38)) & ~np.isnan(given)]).all()


@pytest.mark.parametrize("name", FORMATS)
def test_formats_round_variables_and_constants_alike(name):
    form, x = FORMATS[name], T.fvector("x")
    f = ag.function([x], form.rounded(x))
    assert_array_equal(f(AWKWARD), form.nearest(AWKWARD))
    assert_array_equal(form.rounded(T.constant(AWKWARD)).data, form.nearest(AWKWARD))
    assert form.is_rounded(form.rounded(x)) and form.rounded(form.rounded(x)).owner.op == form.rounded(x).owner.op
    assert form.overflows(np.array([{"float16": 65520, "bfloat16": 3.397e38}[name]], "float32"))
    assert not form.overflows(np.array([form.largest, np.inf, np.nan], "float32"))


# --- values


@pytest.mark.long
@pytest.mark.parametrize("name", FORMATS)
def test_layers_have_the_value_of_rounded_operands(net, name):
    _, y, value, exact = net
    f = ag.freeze(y, compute=name, samples=[value])
    by_numpy = ag.freeze(y, compute=name, mode="NUMPY")(value)
    assert_allclose(f(value), by_numpy, rtol=1e-4, atol=1e-5)
    error = np.sqrt(np.square(f(value) - exact).mean() / np.square(exact).mean())
    assert 0 < error < 2.0 ** -(FORMATS[name].bits - 2) and abs(error - f.layers.error) < 0.3 * error
    assert len(f.layers) >= 7 and not any(row.kept for row in f.layers)
    assert (np.array([row.error for row in f.layers]) > 0).all()
    assert str(f.layers).startswith(f"{len(f.layers)} of {len(f.layers)} layers in {name}, relative error")
    assert f.layers[0].line and "strided" in str(f.layers)


def test_residuals_of_products_are_not_rounded_but_those_of_images_are():
    form, x, image = FORMATS["bfloat16"], T.tensor("x", "float32", (8, 6)), T.tensor("image", "float32", (1, 4, 3, 3))
    dense, kernels = weights("dense", 6, 6), weights("kernels", 4, 4, 1, 1)
    y = ag.freeze([x + x @ dense, image + T.nn.conv2d(image, kernels)], inputs=[x, image], compute="bfloat16")
    rows, pixels = numbers(8, 6), numbers(1, 4, 3, 3)
    near = [form.nearest(v) for v in (rows, pixels, dense.get_value(), kernels.get_value())]
    found = y(rows, pixels)
    assert_allclose(found[0], rows + near[0] @ near[2], atol=1e-6)
    assert_allclose(found[1], near[1] + np.einsum("oc,nchw->nohw", near[3][:, :, 0, 0], near[1]), atol=1e-6)


@pytest.mark.long
def test_pairs_of_channels_are_multiplied_where_both_sides_have_16_bits(net):
    _, y, value, _ = net
    plain, narrow = (ag.freeze(y, compute="bfloat16", target=t) for t in (None, pairwise(current())))
    found = [n for n in narrow.graph.order if "bfloat_convolution" in str(n.op)]
    assert len(found) >= 3
    if unit_for(current(), "bfloat16") is None:
        assert not any("bfloat_convolution" in str(n.op) for n in plain.graph.order)
    between = [i for n in found for i in n.inputs[:1] if i.owner is not None]
    assert between and all(i.dtype == "uint16" for i in between)
    assert_allclose(narrow(value), plain(value), rtol=1e-4, atol=1e-5)
    two = ag.freeze(y, compute="bfloat16", target=pairwise(current()), threads=2)
    assert_array_equal(two(value), narrow(value))


def test_joins_and_transposed_convolutions_of_16_bits_stay_in_blocks():
    x = T.tensor("x", "float32", (1, 32, 6, 5))
    first = T.relu(T.nn.conv2d(x, weights("before", 32, 32, 1, 1)))
    up = T.nn.conv_transpose2d(first, weights("up", 32, 32, 2, 3), numbers(32), stride=(2, 3))
    y = T.nn.conv2d(T.concatenate([up, T.relu(T.nn.conv2d(up, weights("beside", 32, 32, 1, 1)))], axis=1),
                    weights("after", 16, 64, 3, 3))  # fmt: skip
    value = numbers(1, 32, 6, 5)
    f = ag.freeze(y, compute="bfloat16", target=pairwise(current()))
    names = [str(n.op) for n in f.graph.order]
    assert sum("bfloat_convolution" in name for name in names) == 4  # the first one reads a copy in blocks
    copies = [name.split("{")[0] for name in names if name.startswith(("to_blocks", "from_blocks"))]
    assert copies == ["to_blocks", "from_blocks"]
    assert not any("inc_subtensor" in name for name in names)
    assert_allclose(f(value), ag.freeze(y, compute="bfloat16", mode="NUMPY")(value), rtol=1e-3, atol=1e-4)


@pytest.mark.few(1)
@pytest.mark.parametrize("rows", [1, 40])
def test_epilogues_that_round_have_the_bits_of_separate_nodes(rows):
    """Results of 16 bits hold no sums, so strips of sums pass through slots: few and many rows, one and two threads."""
    x = T.tensor("x", "float32", (2, 32, rows, 33))
    h = T.relu(T.nn.conv2d(x, weights("a", 48, 32, 3, 3), numbers(48), padding=1))
    own = T.relu(T.nn.conv2d(T.nn.gelu(h), weights("own", 48, 1, 3, 3), groups=48, padding=1))
    pooled = T.nn.max_pool2d(own, 3, stride=1, padding=1)
    y = T.to_bfloat16(T.tanh(pooled)), T.to_bfloat16(T.tanh(own) * 2)
    value = numbers(2, 32, rows, 33)
    plain = ag.freeze(list(y), mode=ag.Mode().excluding("fusion"))(value)
    for threads in (1, 2):
        for found, expected in zip(ag.freeze(list(y), threads=threads)(value), plain, strict=True):
            assert_array_equal(found, expected)


@pytest.mark.long
def test_calls_that_add_clip_and_round_have_the_bits_of_separate_nodes():
    """Tiles of all kinds, sums in several passes, blocks that are no vectors, borders without windows; NaN and inf."""
    size = current().vector // 4
    cases = [
        pairs_case(size, 3 * size, 2 * size, (1, 1)), pairs_case(size, 2 * size - 3, size, (3, 3), stride=(2, 1)),
        pairs_case(size, 4 * size, 24 * size, (3, 3)), pairs_case(2, 4, 6, (2, 2)),
        pairs_case(size, size, 2, (1, 1), padding=((2, 2), (1, 1))),
        pairs_case(16, 40, 8, (3, 3), groups=5, padding=((1, 1), (1, 1))), pairs_case(16, 30, 6, (3, 3), groups=5),
        own_case(size, 2 * size, (3, 3), 1), own_case(size, size, (4, 4), 1), own_case(2, 4, (3, 3), 1),
        pairs_case(16, 48, 32, (3, 3), padding=((1, 1), (1, 1)), tile_words=16, panel=2),
    ]  # fmt: skip
    low, high = np.float32(-0.5), np.float32(1.5)
    endings = [
        lambda y, z: T.to_bfloat16(y), lambda y, z: T.to_bfloat16(T.minimum(T.maximum(y + widened(z), low), high)),
        lambda y, z: T.to_bfloat16(T.maximum(y, low)), lambda y, z: T.minimum(widened(z) + y, high),
    ]  # fmt: skip
    inputs, outputs, given = [], [], []
    for op, ending in itertools.product(cases, endings):
        channels = op.weights[0] if op.own else op.weights[1] * op.groups
        bits = to_bfloat16(numbers(2, -(-channels // op.size), 7, 9, op.size))
        bits[:, :, 3, 4:6] = np.resize(to_bfloat16(AWKWARD), bits[:, :, 3, 4:6].shape)
        kernels, bias = numbers(*op.weights), AWKWARD[~np.isnan(AWKWARD)]
        x = T.tensor("x", "uint16", bits.shape)
        y = op(x, T.constant(op.packed(kernels if op.own else to_bfloat16(kernels))),
               T.constant(np.resize(bias, -(-op.weights[0] // op.size) * op.size)))  # fmt: skip
        z = T.tensor("z", "uint16", y.type.shape)
        inputs += [x, z]
        given += [bits, to_bfloat16(numbers(*y.type.shape))]
        outputs.append(ending(y, z))
    options = {"on_unused_input": "ignore"}
    plain = ag.function(inputs, outputs, mode=ag.Mode().excluding("fusion"), **options)(*given)
    for threads in (1, 2):
        f = ag.function(inputs, outputs, threads=threads, **options)
        assert len(f.graph.order) == len(outputs)
        for found, expected in zip(f(*given), plain, strict=True):
            assert_array_equal(found, expected)


def test_pairs_have_the_bits_of_the_definition():
    """Every tile of columns and outputs, borders, strides, few channels, groups, blocks that are no vectors."""
    size = current().vector // 4
    have_the_bits_of_the_definition([
        pairs_case(size, 2 * size, 2 * size, (3, 3), padding=((1, 1), (1, 1))),
        pairs_case(size, size - 1, size + 2, (2, 3), padding=((0, 2), (1, 0))),
        pairs_case(size, 3 * size, size, (1, 1)),
        pairs_case(size, 2 * size, 2 * size, (3, 3), dilation=(2, 2)),
        pairs_case(size, 5 * size, 2, (3, 1), stride=(2, 1)),
        pairs_case(size, 4 * size, size, (3, 3), groups=2, padding=((1, 1), (1, 1))), pairs_case(2, 4, 6, (2, 2)),
        pairs_case(size, size, 4 * size, (1, 1), stride=(2, 2)),
    ])  # fmt: skip


@pytest.mark.long
def test_tiles_have_the_bits_of_the_definition():
    """Half a row of words, several, rests of channels, strides, dilations, groups, images; with and without tiles."""
    beside = ((1, 1), (1, 1))
    have_the_bits_of_the_definition([
        pairs_case(16, 32, 16, (3, 3), padding=beside, tile_words=16), pairs_case(16, 40, 48, (1, 1), tile_words=16),
        pairs_case(16, 64, 30, (2, 3), padding=((0, 2), (1, 0)), stride=(2, 3), tile_words=16, panel=2),
        pairs_case(16, 16, 64, (3, 2), dilation=(2, 2), padding=((2, 1), (0, 3)), stride=(1, 3), tile_words=16),
        pairs_case(16, 96, 64, (3, 3), groups=2, padding=beside, tile_words=16, panel=3),
        pairs_case(32, 48, 40, (3, 3), padding=beside, tile_words=16), pairs_case(16, 16, 32, (1, 1), tile_words=16),
        pairs_case(16, 40, 3, (7, 7), padding=((3, 3), (3, 3)), stride=(2, 2), tile_words=2, panel=2),
        pairs_case(16, 20, 1, (3, 5), padding=((1, 2), (0, 4)), dilation=(2, 1), tile_words=2),
        pairs_case(16, 40, 8, (3, 3), groups=5, padding=beside, tile_words=8, panel=1),
        pairs_case(16, 24, 4, (3, 3), groups=6, padding=((2, 0), (2, 2)), stride=(1, 2), tile_words=8, panel=1),
        pairs_case(16, 16, 2, (3, 2), groups=8, padding=beside, tile_words=8, panel=1),
        pairs_case(16, 16, 2, (1, 1), stride=(2, 3), tile_words=2), pairs_case(16, 32, 4, (9, 8), tile_words=2),
    ])  # fmt: skip


def test_groups_and_kernels_of_a_channel_have_the_bits_of_the_definition():
    """Groups that share blocks; kernels of each channel in tiles, at borders, and those without tiles."""
    size, beside = current().vector // 4, ((1, 1), (1, 1))
    have_the_bits_of_the_definition([
        pairs_case(size, 2 * size, 8, (3, 3), groups=2 * size // 8 or 1, padding=beside),
        pairs_case(size, 48, 2, (3, 2), groups=24, stride=(2, 2)), pairs_case(size, 30, 6, (1, 1), groups=3),
        pairs_case(2, 6, 4, (2, 2), groups=2, padding=beside),
        pairs_case(size, 18, 4, (3, 3), groups=6, dilation=(1, 2)), pairs_case(16, 40, 8, (1, 1), groups=5),
        pairs_case(16, 40, 8, (3, 3), groups=5, padding=beside),
        pairs_case(16, 24, 4, (3, 3), groups=6, padding=((2, 0), (2, 2)), stride=(1, 2)),
        pairs_case(16, 16, 2, (3, 2), groups=8, padding=beside),
        pairs_case(16, 36, 4, (3, 3), groups=9, padding=((2, 2), (3, 0)), stride=(2, 2), dilation=(1, 2)),
        own_case(size, size, (3, 3), 1), own_case(size, 2 * size - 1, (3, 3), stride=(2, 2)),
        own_case(size, size, (5, 5), 2), own_case(size, size, (5, 5), 2, stride=(2, 2)),
        own_case(size, size, (2, 5), 4),
        own_case(size, size, (7, 7), 3), own_case(size, size, (7, 7), 3, stride=(2, 2)), own_case(2, 4, (3, 3), 1),
        own_case(size, size, (3, 3), 2, dilation=(2, 2)), own_case(size, size, (4, 1), 1, stride=(1, 3)),
    ])  # fmt: skip
    narrow = pairs_case(16, 16, 8, (3, 3), groups=2, padding=beside)
    have_the_bits_of_the_definition([narrow, *(own_case(size, size, (k, k), k // 2) for k in (3, 5, 7))], (2, 1))


def test_kernels_of_a_channel_keep_awkward_numbers():
    """Infinities, NaN, numbers below 2^-126: widened, each is the float32 number that it stands for."""
    size = current().vector // 4
    given = np.resize(to_bfloat16(AWKWARD), (1, 1, 5, 6, size))
    for op in (own_case(size, size, (3, 3), 1), own_case(size, size, (4, 4), 1)):
        kernels, bias = numbers(*op.weights), np.zeros(size, "float32")
        x, w, b = T.tensor("x", "uint16", given.shape), T.constant(op.packed(kernels)), T.constant(bias)
        wide = replace(op.plain, weights=op.weights)(widened(x), w, b)
        found, exact = ag.function([x], [op(x, w, b), wide])(given)
        assert_array_equal(found, exact)
        assert np.isnan(found).any() and np.isfinite(found).any()


def have_the_bits_of_the_definition(cases, lengths=(9, 13)):
    inputs, outputs, given, wanted = [], [], [], []
    for op in cases:
        n, channels = op.weights[0], op.weights[0] if op.own else op.weights[1]
        shape = (channels, *lengths) if op.tile_words == 2 else (-(-channels * op.groups // op.size), *lengths, op.size)
        bits = to_bfloat16(numbers(2, *shape))
        kernels, bias = to_bfloat16(numbers(*op.weights)), np.zeros(-(-n // op.size) * op.size, "float32")
        kernels = from_bfloat16(kernels) if op.own else kernels
        bias[:n] = numbers(n)
        assert_array_equal(op.unpacked(op.packed(kernels)), kernels)
        x = T.tensor("x", "uint16", bits.shape)
        inputs.append(x), given.append(bits)
        outputs.append(op(x, T.constant(op.packed(kernels)), T.constant(bias)))
        wanted.append(by_definition(op, bits, kernels, bias))
    found = ag.function(inputs, outputs)(*given)
    by_numpy = ag.function(inputs, outputs, mode="NUMPY")(*given)
    for op, y, wide, exact in zip(cases, found, by_numpy, wanted, strict=True):
        y, wide = (v.transpose(0, 1, 4, 2, 3).reshape(len(v), -1, *v.shape[2:4])[:, : op.weights[0]] for v in (y, wide))
        assert_array_equal(y, exact)
        assert_allclose(wide, exact, rtol=1e-4, atol=1e-4)


def test_gradients_of_pairs_are_those_of_float32():
    op = pairs_case(4, 4, 4, (2, 2))
    x, b, w = T.tensor("x", "uint16", (1, 1, 3, 3, 4)), T.fvector("b"), to_bfloat16(numbers(4, 4, 2, 2))
    found = ag.function([x, b], ag.grad(T.sum(op(x, T.constant(op.packed(w)), b)), b))
    assert_array_equal(found(to_bfloat16(numbers(1, 1, 3, 3, 4)), numbers(4)), np.full(4, 4.0))


@pytest.mark.long
def test_attention_stays_one_op_and_rounds_shares_in_kernels_of_16_bits_alone():
    heads, n, d = 3, 40, 8
    q, k, v = (T.tensor(name, "float32", (heads, n, d)) for name in "qkv")
    y = T.nn.softmax(q @ T.swapaxes(k, 1, 2) / np.float32(d**0.5), axis=-1) @ v
    arrays = [numbers(heads, n, d) for _ in range(3)]
    near = [FORMATS["bfloat16"].nearest(a) for a in arrays]
    f = ag.freeze(y, inputs=[q, k, v], compute="bfloat16", samples=[tuple(arrays)])
    tagged = ag.Mode().including("bfloat16")
    g, h = (ag.function([q, k, v], y, mode=m) for m in (tagged.excluding("attention_of_bfloat16"), tagged))
    assert all(any(isinstance(n.op, Attention) for n in made.graph.order) for made in (f, g, h)) and len(f.layers) == 2
    exact = ag.freeze(y, inputs=[q, k, v])
    assert_allclose(g(*arrays), exact(*near), rtol=1e-4, atol=1e-5)
    assert (f(*arrays) != exact(*arrays)).any()
    assert_array_equal(f(*arrays), h(*arrays))
    assert (unit_for(current(), "bfloat16") is None) == (f(*arrays) == g(*arrays)).all()


def block(rows, width):
    """Two products with GELU between, and a residual, on a stack of rows."""
    x = T.tensor("x", "float32", (2, rows, width))
    wide, back = weights("wide", width, 2 * width + 3), weights("back", 2 * width + 3, width)
    return T.matmul(T.nn.gelu(T.matmul(x, wide) + numbers(2 * width + 3)), back) + numbers(width) + x


@pytest.mark.few(1)
@pytest.mark.skipif(lacking(current(), "bfloat16") != "", reason="this processor multiplies no pairs")
@pytest.mark.parametrize("rows, width", [(3, 40), (125, 70), (61, 520)])
def test_functions_between_products_run_in_the_call_of_the_first(rows, width):
    """With sums of one part and of two, panels that are not full, and strips that are not."""
    y, value = block(rows, width), numbers(2, rows, width)
    f, two = (ag.freeze(y, compute="bfloat16", threads=t) for t in (1, 2))
    separate = ag.freeze(y, compute="bfloat16", mode=ag.Mode().excluding("product_epilogue_fusion"))
    products = [n for n in f.graph.order if isinstance(n.op, FusedProduct)]
    assert [n.out.dtype for n in products][:1] == ["uint16"]
    assert not any(isinstance(n.op, FusedProduct) for n in separate.graph.order)
    assert_array_equal(f(value), separate(value))
    assert_array_equal(f(value), two(value))
    assert_allclose(f(value), ag.freeze(y, compute="bfloat16", mode="NUMPY")(value), rtol=0.02, atol=0.02)


@pytest.mark.long
def test_numbers_are_rounded_before_they_move():
    """As windows that are rolled and cut, as queries, keys and values in one; factors stand behind products."""
    x = T.tensor("x", "float32", (1, 16, 16, 16))
    rolled = T.roll(T.tanh(x), 3, axis=1)
    windows = T.reshape(T.transpose(T.reshape(rolled, (2, 8, 2, 8, 16)), (0, 2, 1, 3, 4)), (4, 64, 16))
    three = T.reshape(T.matmul(windows, weights("all", 16, 48)) + numbers(48), (4, 64, 3, 2, 8))
    q, k, v = (T.transpose(three[:, :, i], (0, 2, 1, 3)) for i in range(3))
    shares = T.nn.softmax(T.matmul(q * np.float32(0.3), T.swapaxes(k, 2, 3)), axis=-1)
    y = T.matmul(shares, v)
    value = numbers(1, 16, 16, 16)
    f = ag.freeze(y, compute="bfloat16", samples=[value])
    by_numpy = ag.freeze(y, compute="bfloat16", mode="NUMPY")(value)
    assert_allclose(f(value), by_numpy, rtol=0.02, atol=0.01)
    assert 0 < f.layers.error < 0.02 and len(f.layers) == 3
    if lacking(current(), "bfloat16") == "":
        moved = [n for n in f.graph.order if n.op.name in ("join", "dimshuffle", "subtensor")]
        assert len(moved) == 10 and all(n.inputs[0].dtype == "uint16" for n in moved)


def test_coarse_erfc_is_within_its_bound():
    x = T.fvector("x")
    given = np.concatenate([np.linspace(-10, 9.18, 20011, dtype="float32"), AWKWARD])
    with np.errstate(all="ignore"):
        exact, found = erfc(given.astype("float64")), ag.function([x], T.coarse_erfc(x))(given)
    normal = (exact > 2.0**-126) & np.isfinite(given)
    assert (np.abs(found[normal] / exact[normal] - 1) < 2.0**-15).all()
    assert_array_equal(found[given > 9.19], 0)
    assert_array_equal(np.isnan(found), np.isnan(given))


@pytest.mark.parametrize("name", FORMATS)
def test_the_tag_rounds_layers_of_any_function(name):
    x, w = T.tensor("x", "float32", (2, 4, 6, 6)), T.tensor("w", "float32", (4, 4, 3, 3))
    a, b = T.tensor("a", "float32", (3, 5, 7)), T.tensor("b", "float32", (3, 7, 4))
    outputs = [ag.grad(T.sum(T.sqr(T.nn.conv2d(x, w, padding=1))), w), a @ b]
    arrays = [numbers(2, 4, 6, 6), numbers(4, 4, 3, 3), numbers(3, 5, 7), numbers(3, 7, 4)]
    f = ag.function([x, w, a, b], outputs, mode=ag.Mode().including(name))
    plain, near = ag.function([x, w, a, b], outputs), [FORMATS[name].nearest(v) for v in arrays]
    assert_allclose(f(*arrays)[1], plain(*near)[1], rtol=1e-5, atol=1e-5)
    exact, found = plain(*arrays)[0], f(*arrays)[0]
    assert 0 < np.abs(found - exact).max() < 2.0 ** -(FORMATS[name].bits - 3) * np.abs(exact).max()


def test_few_rows_read_weights_of_16_bits_where_no_unit_multiplies_them():
    x = T.tensor("x", "float32", (1, 2048))
    y, value = x @ ag.shared(numbers(2048, 1024), shape=(2048, 1024)), numbers(1, 2048)
    f = ag.freeze(y, compute="bfloat16")
    assert "packed_bfloat_dot" in [n.op.name for n in f.graph.order]
    assert_allclose(f(value), ag.freeze(y, compute="bfloat16", mode="NUMPY")(value), rtol=1e-3, atol=1e-3)


# --- layers that stay in float32


@pytest.mark.long
def test_layers_stay_in_float32_by_name_and_for_a_goal(net):
    _, y, value, exact = net
    named = ag.freeze(y, compute="bfloat16", keep=[0, "last"])
    assert [row.name for row in named.layers if row.kept] == ["first", "last"]
    assert {row.why for row in named.layers if row.kept} == {"keep names it"}
    assert "relative error" not in str(named.layers)
    all_of_them = ag.freeze(y, compute="bfloat16", samples=[value])
    near = ag.freeze(y, compute="bfloat16", samples=[value], goal=0.6 * all_of_them.layers.error)
    kept = [row for row in near.layers if row.kept]
    assert 0 < len(kept) < len(near.layers) and near.layers.error <= 0.6 * all_of_them.layers.error
    assert max(near.layers, key=lambda row: row.error).kept and kept[0].why == "the goal is not met otherwise"
    none = ag.freeze(y, compute="bfloat16", keep=range(len(named.layers)))
    assert_array_equal(none(value), exact)
    assert set(near.layers.measure(1, 1).times) == set(range(len(near.layers)))
    assert "goal" in near.layers._repr_html_()


@pytest.mark.long
def test_layers_that_would_overflow_stay_in_float32():
    x, large = T.fmatrix("x"), numbers(4, 4)
    large[1, 2] = 1e5
    y = T.relu(x @ ag.shared(large, name="large")) @ ag.shared(numbers(4, 3), name="fed") @ ag.shared(numbers(3, 3))
    value = numbers(5, 4, scale=10)
    f = ag.freeze(y, compute="float16", samples=[value])
    whys = [row.why for row in f.layers]
    assert whys[0] == "its weights have numbers beyond 65504, the largest of float16"
    assert whys[1] == "sample 0 gives it a number beyond 65504, the largest of float16"
    assert np.isfinite(f(value)).all() and f.layers.error < 1e-2
    assert not any(row.kept for row in ag.freeze(y, compute="bfloat16", samples=[value]).layers)


def test_weights_that_are_not_finite_keep_their_values():
    x, w = T.fmatrix("x"), numbers(6, 5)
    w[0, 0], w[1, 1], w[2, 2], w[3, 3] = np.inf, -np.inf, np.nan, 1e-41
    value = np.abs(numbers(3, 6)) + 1
    for name in FORMATS:
        f = ag.freeze(x @ ag.shared(w), compute=name)
        with np.errstate(all="ignore"):
            wanted = FORMATS[name].nearest(value) @ FORMATS[name].nearest(w)
        assert_allclose(f(value), wanted, rtol=1e-3)
        assert not any(row.kept for row in f.layers)


@pytest.mark.parametrize("name", FORMATS)
def test_awkward_inputs_have_the_value_of_rounded_numbers(name):
    """Beyond the largest number, subnormal, infinite and NaN, without a sample that shows them; a remark says how."""
    form, x, w = FORMATS[name], T.tensor("x", "float32", (9, 33)), weights("w", 33, 20)
    f, value = ag.freeze(T.matmul(x, w), compute=name), numbers(9, 33)
    value[0, 3], value[1, 3], value[2, 3], value[3] = 1e5, np.nan, -np.inf, value[3] * 2.0**-20
    value[4], value[5, 1], value[5, 2] = value[4] * 2.0**-100, np.inf, -np.inf
    with np.errstate(all="ignore"):
        exact = form.nearest(value) @ form.nearest(w.get_value())
        found = f(value)
    assert_array_equal(np.isnan(found), np.isnan(exact))
    assert_array_equal(found[np.isinf(exact)], exact[np.isinf(exact)])
    finite = np.isfinite(exact)
    assert_allclose(found[finite], exact[finite], rtol=1e-4, atol=1e-34 if name == "bfloat16" else 1e-6)
    assert (lacking(current(), name) == "") == (not list(f.remarks.of("in float32")))


def test_samples_with_infinities_and_nans_have_an_error():
    x, value = T.tensor("x", "float32", (6, 8)), numbers(6, 8)
    value[0, 0], value[1, 0] = np.nan, np.inf
    f = ag.freeze(T.matmul(x, weights("w", 8, 8)), compute="bfloat16", samples=[value])
    assert 0 < f.layers.error < 0.02
    same, other = np.array([np.inf, np.nan, 1]), np.array([np.nan, np.nan, 1])
    assert relative_error([same], [same]) == 0 and relative_error([other], [same]) == np.inf


def test_layers_in_8_bits_stay_there():
    x, w = T.fmatrix("x"), ag.shared(numbers(8, 8), name="w")
    h = T.relu(T.dequantize(T.quantize(x, 0.1, 128), 0.1, 128) @ T.dequantize(T.constant(np.eye(8, dtype="int8")), 0.5))
    f = ag.freeze(h @ w, compute="bfloat16")
    assert [row.name for row in f.layers] == ["w"]
    assert any("byte" in n.op.name for n in f.graph.order)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"compute": "int8"}, "compute is 'int8'; expected one of bfloat16, float16, or None"),
        ({"samples": [1]}, "samples, keep and goal need compute"),
        ({"compute": "bfloat16", "goal": 0.1}, "goal needs samples"),
        ({"compute": "bfloat16", "keep": ["x"]}, r"keep has 'x'; expected numbers or names of layers: 0 \(w\)"),
        ({"compute": "bfloat16", "samples": []}, "samples is empty"),
        ({"compute": "bfloat16", "samples": [np.zeros((2, 3), "float32")]}, "sample 0 does not fit"),
    ],
)
def test_errors_name_the_argument(options, message):
    y = T.tensor("x", "float32", (None, 4)) @ ag.shared(numbers(4, 4), shape=(4, 4), name="w")
    with pytest.raises(ValueError, match=message):
        ag.freeze(y, **options)
    with pytest.raises(ValueError, match="no convolution or product"):
        ag.freeze(T.fvector("x") + 1, compute="float16")


# --- units


def test_remarks_and_why_not_name_the_unit_that_the_target_lacks(net):
    _, y, *_ = net
    old = "x86_64-linux-v3"
    assert lacking(NAMED[old], "bfloat16") == "avx512_bf16 (vdpbf16ps)"
    assert lacking(NAMED["riscv64-linux"], "bfloat16") == "an instruction for bfloat16"
    assert "which our kernels do not use" in lacking(NAMED[old], "float16")
    assert unit_for(replace(NAMED["aarch64-linux"], features=("bf16",)), "bfloat16").instruction.startswith("bfmlal")
    assert len({(u.instruction, u.features) for u in UNITS}) == len(UNITS)
    missing = lacking(current(), "bfloat16")
    if not missing:
        pytest.skip("this processor multiplies bfloat16")
    f = ag.freeze(y, compute="bfloat16")
    (remark,) = f.remarks.of("in float32")
    assert "round to bfloat16" in remark.reason and f"the target lacks {missing}" in remark.reason
    assert f"the target lacks {missing}" in str(f.why_not("local_bfloat16_pairs"))
    assert not ag.freeze(y).remarks.of("in float32")
