"""Rows of the rules on layouts, in blocks as wide as the vectors of one target: (name, before, after)."""

from dataclasses import replace

import numpy as np
from wide_target import WIDE

from arignote import ops as T
from arignote.ops.elementwise.records import from_bfloat16
from arignote.ops.elementwise.special import to_bfloat16
from arignote.ops.linalg.blas import Dot22
from arignote.ops.lowered.attention import Attention
from arignote.ops.lowered.bfloat_convolution import BfloatConvolution
from arignote.ops.lowered.bfloat_dot import BfloatDot
from arignote.ops.lowered.blocked import BlockedConvolution, FromBlocks, ToBlocks
from arignote.ops.lowered.blocked_gradient import BlockedKernelGradient
from arignote.ops.lowered.blocked_pool import BlockedPool
from arignote.ops.lowered.channel_sums import ChannelSums
from arignote.ops.lowered.convolution_pair import ConvolutionPair
from arignote.ops.lowered.formats import PackedProduct
from arignote.ops.lowered.formats.bfloats import Bfloats
from arignote.ops.lowered.formats.panels import Panels
from arignote.ops.lowered.formats.sparse_columns import SparseColumns
from arignote.ops.lowered.formats.sparse_vectors import SparseVectors
from arignote.ops.lowered.formats.two_of_four import TwoOfFour
from arignote.ops.networks.convolution import Convolution, KernelGradient
from arignote.ops.networks.pooling import MaxPool, MaxPoolGradient, SumPool
from arignote.ops.networks.weights import pack, pack_tiles, shuffled
from arignote.ops.shapes.creation import Alloc
from arignote.ops.shapes.lengths import lengths_of
from arignote.optdb.rules.linalg.packed import lanes_of, panel_vectors
from arignote.optdb.rules.quantized.narrow import FORMATS
from arignote.targets.current import using

SIZE = WIDE.vector // 8
PANEL = WIDE.panel
NONE = ((0, 0), (0, 0))
N = 2 * SIZE

image = T.tensor("image", "float64", (2, 3, 6, 5))
blocks = T.tensor("blocks", "float64", (2, 2, 6, 5, SIZE))
other = T.tensor("other", "float64", (2, 1, 6, 5, SIZE))
x = FromBlocks(N)(blocks)
each = T.tensor("each", "float64", (2, N, 1, 1))
vector = T.constant(np.arange(1.0, N + 1))
kernels = T.constant(np.arange(float(N * 3 * 2 * 2)).reshape(N, 3, 2, 2))
square = T.constant(np.arange(float(N * N)).reshape(N, N, 1, 1))
halves = T.constant(np.arange(float(N * N // 2)).reshape(N, N // 2, 1, 1))
row = T.tensor("row", "float64", (5,))
learnt = T.tensor("learnt", "float64", (N, N, 1, 1))
wide, half = T.tensor("wide", "float64", (2, 2, 9, 5, SIZE)), T.tensor("half", "float64", (2, 2, 3, 5, SIZE))
pooled, pooled_gradient = FromBlocks(N)(half), T.tensor("pooled_gradient", "float64", (2, N, 3, 5))
own = T.constant(np.arange(N * 6.0).reshape(N, 1, 3, 2))
zeros = T.constant(np.zeros(N))
tall, broad = T.tensor("tall", "float64", (2, N, 9, 8)), T.constant(np.arange(N * 49.0).reshape(N, 1, 7, 7))
long = T.tensor("long", "float64", (2, 2, None, None, SIZE))
by_three = T.constant(np.arange(float(N * N * 9)).reshape(N, N, 3, 3))
plain = Convolution((1, 1), (1, 1))
a, b, c = T.matrix("a"), T.matrix("b"), T.tensor("c", shape=(1, None, None))
twelve, seven = T.matrix("twelve", shape=(12, None)), T.matrix("seven", shape=(None, 7))
last, even = T.tensor("last", "float64", (2, 6, 5, N)), T.tensor("even", "float64", (2, 1, 6, 5))
FIRST, LAST = T.DimShuffle((0, 3, 1, 2)), T.DimShuffle((0, 2, 3, 1))
rows_of_blocks = T.reshape(T.DimShuffle((0, 2, 3, 1, 4))(blocks), (2, 6, 5, N))
eight = T.tensor("eight", "float64", (2, 8, 3, 5, SIZE))
product = Dot22()(twelve, seven)
read_twice = T.reshape(product, (3, 4, 7))
rows = T.matrix("rows", shape=(None, 500))
heads, choice = T.tensor("heads", "float64", (2, None, 4)), T.matrix("choice") > 0
transposed = T.transpose(heads, (0, 2, 1))
few = T.constant(np.arange(500.0 * 20).reshape(500, 20) * (np.arange(500) % 4 == 0)[:, None])
SPARSE = SparseVectors(500, 20, WIDE.vector // 8)
two = T.constant((np.arange(500.0 * 80).reshape(500, 80) * (np.arange(500) % 4 < 2)[:, None]).astype("float32"))
full, turning = T.constant(np.arange(500.0 * 20).reshape(500, 20).astype("float32")), T.fmatrix("turning")
stored = T.matrix("stored", "uint16")
BITS = Bfloats(500, 20, WIDE.vector // 4, PANEL)
columns = np.arange(1000 * 24.0).reshape(1000, 24) * (np.arange(1000)[:, None] // 16 % 4 == np.arange(24) % 4)
columns = T.constant(columns.astype("float32"))
COLUMNS, longer = SparseColumns(1000, 24, WIDE.vector // 4), T.tensor("longer", "float32", (None, 1000))
TWO, singles = TwoOfFour(500, 80, WIDE.vector // 4), T.tensor("singles", "float32", (None, 500))
weights = T.constant(np.arange(500.0 * 20).reshape(500, 20))
POINTS, stack = Convolution((1, 1), (1, 1)), T.tensor("stack", "float32", (2, 5, 5))
singular, WORD = T.tensor("singular", "float32", (2, 3, 4, 4)), WIDE.vector // 4
KERNELS, EIGHTH = (T.constant(np.full((2, 3, 1, 1), v, "float32")) for v in (1 + 2**-8 + 2**-10, 1 + 2**-7))
EVEN, words = T.constant(np.ones((2, 4, 1, 1), "float32")), T.tensor("words", "uint16", (1, 1, 3, 3, WORD))
single_blocks = T.tensor("single_blocks", "float32", (1, 1, 3, 3, WORD))
PAIRED = BfloatConvolution((1, 1), (1, 1), NONE, WORD, PANEL, (2, 4, 1, 1))
SEVERAL_BITS, HALF = T.tensor("bits", "uint16", (2, 3, 4)), T.constant(np.float32(0.5))
ROOT, ROOT_OF_HALF = (T.constant(np.float32(number**0.5)) for number in (2, 0.5))
INVERSE = T.constant(1 / ROOT.data)
PAIRED_GROUPS = replace(PAIRED, weights=(2, 2, 1, 1), groups=2)
PAIRED_OWN = replace(PAIRED, weights=(2, 1, 1, 1), own=True)
BIAS = np.r_[1, 1, np.zeros(WORD - 2)].astype("float32")
NEAR = {name: form.rounded for name, form in FORMATS.items()}
with using(WIDE):
    LANES = lanes_of("float64")


def packed_product(form, v, w):
    """Rows times a matrix in a format."""
    return PackedProduct(form)(v, *map(T.constant, form.packed(w)))


def blocked(padding=NONE, stride=(1, 1), **fields):
    return BlockedConvolution(stride, (1, 1), padding, SIZE, PANEL, **fields)


def packed(w, own=False):
    """A convolution with packed weights, and these."""
    op = blocked(own=own, weights=w.data.shape)
    return lambda v: op(v, T.constant(pack(w.data, SIZE, PANEL, True, own)), zeros)


SQUARE = T.constant(np.ones((WORD, WORD, 1, 1), "float32"))
SQUARE_PAIRED, ONES = replace(PAIRED, weights=(WORD, WORD, 1, 1)), T.constant(np.ones(WORD, "float32"))
bits_of_images = T.tensor("bits_of_images", "uint16", (1, WORD, 3, 3))
NARROW_W, TWICE = (T.constant(np.ones((3 * WORD, n * WORD, 1, 1), "float32")) for n in (1, 2))
few_words = T.tensor("few_words", "uint16", (1, 1, 1, 2, WORD))


def along(v, w, stride=(1, 1), bias=1):
    """A product along channels of bfloat16 numbers, or of float32."""
    wide = from_bfloat16(v) if v.dtype == "uint16" else v
    numbers = T.constant(np.full(w.data.shape[0], bias, "float32"))
    return BlockedConvolution(stride, (1, 1), NONE, WORD, PANEL)(wide, w, numbers)


def in_pair(v):
    """A kernel for each channel behind a product along channels."""
    first, second = packed(square)(v), packed(own, True)(blocks)
    op = ConvolutionPair(first.owner.op, second.owner.op, 3)
    return op(v, *first.owner.inputs[1:], *second.owner.inputs[1:])


POOL = BlockedPool((3, 3), (2, 2), (1, 1), ((1, 1), (0, 1)))
HALVES_POOL = replace(POOL, halves=True)


def pooled_pair(v):
    """A pool behind a product along channels."""
    first = packed(square)(v).owner
    return ConvolutionPair(first.op, POOL, 3)(*first.inputs)


def in_blocks(v):
    return ToBlocks(SIZE)(v)


def padded(v, number=0.0):
    return T.pad(v, ((0, 0), (0, 0), (1, 2), (0, 1)), constant_values=number)


def padded_blocks(v, number):
    n, count, *_, size = lengths_of(v)
    whole = Alloc()(T.constant(number), n, count, T.constant(9, "int64"), T.constant(6, "int64"), size)
    return T.set_subtensor(whole[:, :, 1:7, 0:5], v)


def beside(v, before, behind, number=0.0):
    """x with a number before and behind its channels."""
    return T.pad(v, ((0, 0), (before, behind), (0, 0), (0, 0)), constant_values=number)


def slices(v, *starts, count=N):
    """Nested sums of slices of channels."""
    first, *rest = (v[:, k : k + count] for k in starts)
    return sum(rest, first)


def in_positions(v, down, across, each, swapped=False):
    """Parts of channels next to rows and columns."""
    n, _, rows, columns = v.type.shape
    moved = T.transpose(T.reshape(v, (n, down, across, each, rows, columns)), (0, 3, 4, 1, 5, 2))
    lengths = (rows * down, columns * across)
    return T.reshape(moved, (n, each, *(lengths[::-1] if swapped else lengths)))


def shuffle(v, groups):
    return T.reshape(T.transpose(T.reshape(v, (2, groups, N // groups, 6, 5)), SWAPPED), (2, N, 6, 5))


def lane_by_lane(v, w):
    """Two blocks less 3 lanes, and 2 channels behind them."""
    return T.set_subtensor(v[:, 1:, :, :, SIZE - 3 :], w[:, :, :, :, :3])


SWAPPED = (0, 2, 1, 3, 4)
AROUND = ((1, 2), (0, 1))
ROWS = [
    ("local_convolution_in_blocks", plain(image, kernels), FromBlocks(N)(blocked()(image, kernels, zeros))),
    (
        "local_convolution_in_blocks",
        Convolution((2, 1), (1, 1))(padded(image), kernels),
        FromBlocks(N)(blocked(AROUND, (2, 1))(image, kernels, zeros)),
    ),
    (
        "local_convolution_in_blocks",
        Convolution((1, 1), (1, 1), N)(x, own),
        FromBlocks(N)(blocked(own=True)(blocks, own, zeros)),
    ),
    ("local_convolution_in_blocks", plain(x, square), FromBlocks(N)(blocked()(blocks, square, zeros))),
    ("local_elementwise_in_blocks", T.exp(x), FromBlocks(N)(T.exp(blocks))),
    ("local_elementwise_in_blocks", x * each, FromBlocks(N)(blocks * in_blocks(each))),
    ("local_elementwise_in_blocks", T.maximum(x, 0.0), FromBlocks(N)(T.maximum(blocks, 0.0))),
    ("local_elementwise_in_blocks", x + T.exp(x), FromBlocks(N)(blocks + T.exp(blocks))),
    (
        "local_bias_in_blocks",
        blocked()(blocks, square, zeros) + T.constant(np.arange(1.0, N + 1).reshape(1, 2, 1, 1, SIZE)),
        blocked()(blocks, square, vector),
    ),
    ("local_bias_in_blocks", T.constant(2.0) + blocked()(image, kernels, vector),
     blocked()(image, kernels, T.constant(vector.data + 2))),
    ("local_padding_in_blocks", padded(x, -1.5), FromBlocks(N)(padded_blocks(blocks, -1.5))),
    ("local_pool_in_blocks", MaxPool((1, 2), (1, 2), (1, 3))(x),
     FromBlocks(N)(MaxPool((1, 2, 1), (1, 2, 1), (1, 3, 1))(blocks))),
    ("local_pool_in_blocks", SumPool((2, 1), (1, 1), (3, 1))(x),
     FromBlocks(N)(SumPool((2, 1, 1), (1, 1, 1), (3, 1, 1))(blocks))),
    (
        "local_pool_of_blocks",
        MaxPool((3, 2, 1), (2, 1, 1), (1, 2, 1))(padded_blocks(blocks, -np.inf)),
        BlockedPool((3, 2), (2, 1), (1, 2), AROUND)(blocks),
    ),
    (
        "local_pool_of_blocks",
        SumPool((3, 2, 1), (2, 1, 1), (1, 2, 1))(padded_blocks(blocks, 0.0)),
        BlockedPool((3, 2), (2, 1), (1, 2), AROUND, sums=True)(blocks),
    ),
    (
        "local_pool_of_blocks",
        MaxPool((3, 2, 1), (2, 1, 1), (1, 2, 1))(padded_blocks(blocks, 0.0)),
        BlockedPool((3, 2), (2, 1), (1, 2), NONE)(padded_blocks(blocks, 0.0)),
    ),
    (
        "local_pool_of_blocks",  # rows, then columns
        MaxPool((1, 2, 1), (1, 3, 1), (1, 2, 1))(BlockedPool((3, 1), (2, 1), (1, 1), AROUND)(blocks)),
        BlockedPool((3, 2), (2, 3), (1, 2), AROUND)(blocks),
    ),
    ("local_pool_by_parts", MaxPool((1, 2, 1), (1, 2, 1), (1, 1, 1))(blocks),
     T.maximum(blocks[:, :, :, :3:2], blocks[:, :, :, 1:4:2])),
    ("local_pool_by_parts", SumPool((2, 1, 1), (1, 1, 1), (3, 1, 1))(blocks),
     T.add(blocks[:, :, :3], blocks[:, :, 3:])),
    ("local_pool_by_parts", MaxPool((1, 1, 1), (1, 1, 1), (1, 1, 1))(blocks), blocks),
    (
        "local_join_in_blocks",
        T.join(1, x, FromBlocks(SIZE - 1)(other)),
        FromBlocks(N + SIZE - 1)(T.join(1, blocks, other)),
    ),
    (
        "local_convolution_in_blocks",
        Convolution((1, 1), (1, 1), 2)(FromBlocks(N, 4)(blocks), halves),
        FromBlocks(N)(blocked(groups=2, shuffle=4)(blocks, halves, zeros)),
    ),
    (
        "local_convolution_in_blocks",
        plain(FromBlocks(N, 2)(blocks), square),
        FromBlocks(N)(blocked()(blocks, T.constant(square.data[:, shuffled(N, N // 2)]), zeros)),
    ),
    (
        "local_elementwise_in_blocks",
        FromBlocks(N, 2)(blocks) + T.constant(np.arange(N * 1.0).reshape(1, N, 1, 1)),
        FromBlocks(N, 2)(blocks + in_blocks(T.constant(shuffled(N, N // 2).reshape(1, N, 1, 1) * 1.0))),
    ),
    ("local_elementwise_in_blocks", x + row, FromBlocks(N)(blocks + T.DimShuffle(("x", "x", "x", 0, "x"))(row))),
    (
        "local_join_in_blocks",
        T.join(1, FromBlocks(N - 3)(blocks), FromBlocks(2)(other)),
        FromBlocks(N - 1)(lane_by_lane(blocks, other)),
    ),
    (
        "local_join_in_blocks",  # all channels fit into one block
        T.join(1, FromBlocks(1)(other), FromBlocks(2)(other)),
        FromBlocks(3)(T.set_subtensor(other[:, :, :, :, 1:], other[:, :, :, :, : SIZE - 1])),
    ),
    ("local_channel_sums_in_blocks", slices(beside(x, 1, 2), 0, 1), FromBlocks(N)(ChannelSums(N, 1, 0)(blocks))),
    ("local_channel_sums_in_blocks", slices(beside(x, 2, 1), 0, 1, 3, 2), FromBlocks(N)(ChannelSums(N, 2, 1)(blocks))),
    ("local_channel_sums_in_blocks", FromBlocks(N)(ChannelSums(N, 1, 0)(blocks)) + beside(x, 2, 1)[:, 3:],
     FromBlocks(N)(ChannelSums(N, 1, 1)(blocks))),
    (
        "local_convolution_in_blocks",  # a kernel of many positions for each channel
        Convolution((1, 1), (1, 1), N)(tall, broad),
        FromBlocks(N)(blocked(own=True)(ToBlocks(SIZE)(tall), broad, zeros)),
    ),
    ("local_elementwise_on_channels_last", T.tanh(FIRST(last)), FIRST(T.tanh(last))),
    (
        "local_elementwise_on_channels_last",
        FIRST(last) * T.constant(np.arange(1.0, N + 1).reshape(N, 1, 1)) + 2.0,
        FIRST(last * T.constant(np.arange(1.0, N + 1).reshape(1, 1, 1, N)) + 2.0),
    ),
    ("local_elementwise_on_channels_last", FIRST(last) / even, FIRST(last / T.reshape(even, (2, 6, 5, 1)))),
    (
        "local_blocks_of_channels_last",
        ToBlocks(SIZE)(FIRST(last)),
        T.DimShuffle((0, 3, 1, 2, 4))(T.reshape(last, (2, 6, 5, 2, SIZE))),
    ),
    ("local_channels_last_of_blocks", LAST(x), rows_of_blocks),
    ("local_channels_of_blocks_reduced", T.sum(x, axis=1), T.sum(rows_of_blocks, axis=3)),
    ("local_channels_reduced", T.max(FIRST(last), axis=1), T.max(last, axis=3)),
    ("local_shuffle_in_blocks", shuffle(x, 4), FromBlocks(N, 4)(blocks)),
    (
        "local_positions_in_blocks",
        in_positions(FromBlocks(8 * SIZE)(eight), 2, 2, N),
        FromBlocks(N)(T.reshape(T.transpose(T.reshape(eight, (2, 2, 2, 2, 3, 5, SIZE)), (0, 3, 4, 1, 5, 2, 6)),
                                (2, 2, 6, 10, SIZE))),
    ),
    (
        "local_weights_in_panels",
        Dot22()(rows, weights),
        packed_product(Panels(500, 20, LANES, panel_vectors()), rows, weights.data),
    ),
    ("local_sparse_dot", T.dot(rows, few), packed_product(SPARSE, rows, few.data)),
    ("local_sparse_columns", T.dot(longer, columns), packed_product(COLUMNS, longer, columns.data)),
    ("local_two_of_four", T.dot(singles, two), packed_product(TWO, singles, two.data)),
    ("local_bfloat16_dot", T.dot(singles, turning), BfloatDot()(singles, turning)),
    ("local_bfloat16_dot", T.dot(singles, full), packed_product(BITS, singles, to_bfloat16(full.data))),
    (
        "local_stored_bfloat16_dot",
        T.dot(from_bfloat16(stored), from_bfloat16(T.transpose(stored))),
        BfloatDot()(stored, T.transpose(stored)),
    ),
    (
        "local_bfloat16_erfc",
        T.to_bfloat16(T.mul(HALF, singles, T.erfc(singles))),
        T.to_bfloat16(T.mul(HALF, singles, T.coarse_erfc(singles))),
    ),
    (
        "local_bfloat16_erfc",
        T.to_bfloat16(T.mul(HALF, singles, T.erfc(-singles / ROOT))),
        T.to_bfloat16(T.mul(HALF, singles, T.coarse_erfc(-singles * ROOT_OF_HALF))),
    ),
    ("local_bfloat16_quotient", T.to_bfloat16(singles / ROOT), T.to_bfloat16(T.mul(singles, INVERSE))),
    (
        "local_bfloat16_quotient",
        T.to_bfloat16(T.minimum(T.maximum(singles / ROOT, HALF), ROOT)),
        T.to_bfloat16(T.minimum(T.maximum(T.mul(singles, INVERSE), HALF), ROOT)),
    ),
    ("local_bfloat16_operands", POINTS(singular, KERNELS), POINTS(NEAR["bfloat16"](singular), EIGHTH)),
    ("local_float16_operands", POINTS(singular, KERNELS), POINTS(NEAR["float16"](singular), KERNELS)),
    ("local_bfloat16_operands", T.matmul(stack, stack), T.matmul(NEAR["bfloat16"](stack), NEAR["bfloat16"](stack))),
    ("local_float16_operands", T.dot(singles, turning), T.dot(NEAR["float16"](singles), NEAR["float16"](turning))),
    ("local_bfloat16_pool", NEAR["bfloat16"](POOL(single_blocks)),
     from_bfloat16(HALVES_POOL(T.to_bfloat16(single_blocks)))),
    ("local_bfloat16_pool", NEAR["bfloat16"](POOL(T.join(1, single_blocks, from_bfloat16(words)))),
     from_bfloat16(HALVES_POOL(T.join(1, T.to_bfloat16(single_blocks), words)))),
    (
        "local_bfloat16_pairs",
        along(bits_of_images, SQUARE),
        SQUARE_PAIRED(
            ToBlocks(WORD)(bits_of_images), T.constant(SQUARE_PAIRED.packed(to_bfloat16(SQUARE.data))), ONES
        ),
    ),
    ("local_bfloat16_sum", along(words, NARROW_W) + along(words, NARROW_W, (1, 1)),
     along(T.join(1, from_bfloat16(words), from_bfloat16(words)), TWICE, bias=2)),
    ("local_bfloat16_sum", along(words, NARROW_W, (3, 2)) + along(few_words, NARROW_W),
     along(T.join(1, from_bfloat16(words[:, :, ::3, ::2]), from_bfloat16(few_words)), TWICE, bias=2)),
    ("local_bfloat16_join", T.to_bfloat16(T.join(1, single_blocks, from_bfloat16(words))),
     T.join(1, T.to_bfloat16(single_blocks), words)),
    ("local_bfloat16_join", T.to_bfloat16(T.join(1, NEAR["bfloat16"](single_blocks), NEAR["bfloat16"](single_blocks))),
     T.join(1, T.to_bfloat16(single_blocks), T.to_bfloat16(single_blocks))),
    (
        "local_bfloat16_pairs",
        BlockedConvolution((1, 1), (1, 1), NONE, WORD, PANEL)(from_bfloat16(words), EVEN, T.constant(BIAS[:2])),
        PAIRED(words, T.constant(PAIRED.packed(to_bfloat16(EVEN.data))), T.constant(BIAS)),
    ),
    (
        "local_bfloat16_pairs",
        BlockedConvolution((1, 1), (1, 1), NONE, WORD, PANEL)(
            T.join(0, from_bfloat16(words), from_bfloat16(words)), EVEN, T.constant(BIAS[:2])),
        PAIRED(T.join(0, words, words), T.constant(PAIRED.packed(to_bfloat16(EVEN.data))), T.constant(BIAS)),
    ),
    (
        "local_bfloat16_pairs",
        PAIRED_GROUPS.plain(from_bfloat16(words), T.constant(EVEN.data[:, :2]), T.constant(BIAS[:2])),
        PAIRED_GROUPS(words, T.constant(PAIRED_GROUPS.packed(to_bfloat16(EVEN.data[:, :2]))), T.constant(BIAS)),
    ),
    (
        "local_bfloat16_pairs",
        PAIRED_OWN.plain(from_bfloat16(words), T.constant(EVEN.data[:, :1]), T.constant(BIAS[:2])),
        PAIRED_OWN(words, T.constant(PAIRED_OWN.packed(EVEN.data[:, :1])), T.constant(BIAS)),
    ),
    (
        "local_bfloat16_attention",
        Attention()(from_bfloat16(SEVERAL_BITS), T.swapaxes(from_bfloat16(SEVERAL_BITS), 1, 2),
                    from_bfloat16(SEVERAL_BITS), HALF),
        T.BfloatAttention()(SEVERAL_BITS, T.swapaxes(SEVERAL_BITS, 1, 2), SEVERAL_BITS, HALF),
    ),
    (
        "local_axes_after_product",
        T.DimShuffle(("x", 0, 1))(Dot22()(a, b)) + c,
        T.DimShuffle(("x", 0, 1))(Dot22()(a, b) + T.DimShuffle((1, 2))(c)),
    ),
    (
        "local_axes_after_product",
        T.tanh(T.DimShuffle((0, "x", 1))(T.exp(Dot22()(a, b)))),
        T.DimShuffle((0, "x", 1))(T.tanh(T.exp(Dot22()(a, b)))),
    ),
    (
        "local_reshape_after_product",
        T.reshape(Dot22()(twelve, seven), (3, 4, 7)) + T.constant(np.arange(7.0)),
        T.reshape(Dot22()(twelve, seven) + T.constant(np.arange(7.0).reshape(1, 7)), (3, 4, 7)),
    ),
    (
        "local_reshape_after_product",
        T.exp(T.reshape(Dot22()(twelve, b), (3, 4, 7))) * np.array([[[2.0]]]),
        T.reshape(T.exp(Dot22()(twelve, b)) * 2.0, (3, 4, 7)),
    ),
    (
        "local_reshape_after_product",
        read_twice * T.tanh(read_twice),
        T.reshape(product * T.tanh(product), (3, 4, 7)),
    ),
    (
        "local_reshape_after_convolution",
        T.tanh(T.reshape(plain(image, kernels), (2, -1))),
        T.reshape(T.tanh(plain(image, kernels)), (2, -1)),
    ),
    (
        "local_attention",
        T.matmul(T.softmax(T.where(choice, T.matmul(heads, transposed) * 0.5, -1e9)), heads),
        Attention("keep")(heads, transposed, heads, T.constant(0.5), choice, T.constant(-1e9)),
    ),
    (
        "local_attention",
        T.matmul(T.softmax(T.matmul(heads, transposed) / 4.0), heads),
        Attention()(heads, transposed, heads, T.true_div(T.constant(1.0), T.constant(4.0))),
    ),
    (
        "local_attention",
        T.matmul(T.softmax(T.matmul(heads, transposed) + c), heads),
        Attention("", True)(heads, transposed, heads, T.constant(1.0), c),
    ),
    ("local_reduction_in_blocks", T.sum(x, axis=(2, 3)), T.reshape(T.sum(blocks, axis=(2, 3)), (2, N))),
    (
        "local_reduction_in_blocks",
        T.max(FromBlocks(N - 1)(blocks), axis=(2, 3)),
        T.reshape(T.max(blocks, axis=(2, 3)), (2, N))[:, : N - 1],
    ),
    ("local_input_in_blocks", blocked()(x, square, zeros), blocked()(blocks, square, zeros)),
    ("local_input_in_blocks", blocked()(padded(x), square, zeros), blocked(AROUND)(blocks, square, zeros)),
    ("local_input_in_blocks", blocked()(padded_blocks(blocks, 0.0), square, zeros),
     blocked(AROUND)(blocks, square, zeros)),
    ("local_convolution_in_blocks", plain(x, learnt), FromBlocks(N)(blocked()(blocks, learnt, zeros))),
    ("local_reduction_in_blocks", T.sum(x, axis=(0, 2, 3)), T.reshape(T.sum(blocks, axis=(0, 2, 3)), (N,))),
    ("local_reduction_in_blocks", T.sum(FromBlocks(N - 1)(blocks), axis=(0, 2, 3)),
     T.reshape(T.sum(blocks, axis=(0, 2, 3)), (N,))[: N - 1]),
    ("local_part_in_blocks", x[:, :, 1:, ::2], FromBlocks(N)(blocks[:, :, 1:, ::2])),
    ("local_crop_in_blocks", blocked(AROUND)(blocks, learnt, zeros)[:, :, 1:, :5],
     blocked(((0, 2), (0, 0)))(blocks, learnt, zeros)),
    ("local_write_in_blocks", T.set_subtensor(T.zeros((2, N, 12, 10))[:, :, ::2, 1::2], x),
     FromBlocks(N)(T.set_subtensor(T.zeros((2, 2, 12, 10, SIZE))[:, :, ::2, 1::2], blocks))),
    ("local_write_in_blocks", T.inc_subtensor(FromBlocks(N)(wide)[:, :, 1:7], x),
     FromBlocks(N)(T.inc_subtensor(wide[:, :, 1:7], blocks))),
    ("local_pool_gradient_in_blocks", MaxPoolGradient((2, 1), (2, 1), (1, 1))(x, pooled, pooled_gradient),
     FromBlocks(N)(MaxPoolGradient((2, 1, 1), (2, 1, 1), (1, 1, 1))(blocks, half, in_blocks(pooled_gradient)))),
    ("local_pool_gradient_in_blocks", MaxPoolGradient((2, 1), (2, 1), (1, 1))(x, pooled, pooled),
     FromBlocks(N)(MaxPoolGradient((2, 1, 1), (2, 1, 1), (1, 1, 1))(blocks, half, half))),
    ("local_kernel_gradient_in_blocks", KernelGradient((1, 1), (1, 1), 1)(padded(image), x, 4, 2),
     BlockedKernelGradient((1, 1), (1, 1), AROUND, (N, 3, 4, 2))(image, blocks)),
    ("local_kernel_gradient_in_blocks", KernelGradient((1, 1), (1, 1), 1)(x, x, 1, 1),
     BlockedKernelGradient((1, 1), (1, 1), NONE, (N, N, 1, 1))(blocks, blocks)),
    ("local_gradient_input_in_blocks", BlockedKernelGradient((1, 1), (1, 1), NONE, (N, N, 4, 2))(padded(x), blocks),
     BlockedKernelGradient((1, 1), (1, 1), AROUND, (N, N, 4, 2))(blocks, blocks)),
    ("local_gradient_input_in_blocks", BlockedKernelGradient((1, 1), (1, 1), NONE, (N, N, 1, 1))(x, blocks),
     BlockedKernelGradient((1, 1), (1, 1), NONE, (N, N, 1, 1))(blocks, blocks)),
    ("local_blocks_of_blocks", in_blocks(x), blocks),
    (
        "local_winograd",
        blocked(AROUND)(long, by_three, vector),
        blocked(AROUND, tile=4, weights=(N, N, 3, 3))(
            long, T.constant(pack_tiles(by_three.data, SIZE, PANEL, 4)), vector
        ),
    ),
    ("local_convolution_pair", packed(own, True)(packed(square)(blocks)), in_pair(blocks)),
    ("local_convolution_pair", POOL(packed(square)(blocks)), pooled_pair(blocks)),
    (
        "local_pack_weights",
        blocked()(image, kernels, vector),
        blocked(weights=(N, 3, 2, 2))(image, T.constant(pack(kernels.data, SIZE, PANEL, False, False)), vector),
    ),
    (
        "local_pack_weights",
        blocked(own=True)(blocks, own, zeros),
        blocked(own=True, weights=(N, 1, 3, 2))(
            blocks, T.constant(pack(own.data, SIZE, PANEL, True, True)), zeros
        ),
    ),
]  # fmt: skip

UNCHANGED = [
    ("local_attention", T.matmul(T.softmax(T.tanh(T.matmul(heads, transposed))), heads)),
    ("local_attention", T.dot(T.softmax(T.dot(a, b), axis=0), b)),
    ("local_weights_in_panels", Dot22()(a, T.constant(np.ones((60, 60))))),  # read where they lie
    ("local_weights_in_panels", Dot22()(a, b)),
    ("local_weights_in_panels", Dot22()(a, T.constant(np.ones((5000, 1))))),
    ("local_weights_in_panels", Dot22()(T.matrix("few", shape=(1, 500)), weights)),
    ("local_axes_after_product", T.DimShuffle(("x", 0, 1))(Dot22()(a, b)) + T.tensor3("several")),
    ("local_axes_after_product", T.DimShuffle(("x", 1, 0))(Dot22()(a, b)) + c),
    ("local_axes_after_product", T.DimShuffle(("x", 0, 1))(a) + c),
    ("local_reshape_after_product", T.reshape(Dot22()(twelve, seven), (3, 4, 7)) + T.tensor3("several")),
    ("local_reshape_after_product", T.tanh(read_twice) + T.sum(read_twice)),
    ("local_reshape_after_product", T.reshape(Dot22()(twelve, seven), (2, 6, 7)) + np.ones((6, 1))),
    ("local_reshape_after_product", T.exp(T.reshape(a, (3, 4, 7)))),
    ("local_reshape_after_convolution", T.reshape(plain(image, kernels), (2, N, -1)) + np.ones((N, 1))),
    ("local_convolution_in_blocks", plain(image, T.tensor("w", "float64", (N - 1, 3, 2, 2)))),  # blocks are not full
    ("local_convolution_in_blocks", plain(image, T.tensor("w", "float64", (N, 3, None, 2)))),
    ("local_convolution_in_blocks", Convolution((1, 1), (1, 1), 2)(x, T.tensor("w", "float64", (N, SIZE, 1, 1)))),
    ("local_part_in_blocks", x[:1, :, 1:]),
    ("local_part_in_blocks", x[:, 1:, 1:]),
    ("local_crop_in_blocks", blocked(AROUND)(blocks, learnt, zeros)[:, :, 2:]),  # more than there is of padding
    ("local_crop_in_blocks", blocked(AROUND, (2, 1))(blocks, learnt, zeros)[:, :, 1:]),
    ("local_write_in_blocks", T.set_subtensor(T.zeros((2, N, 12, 10))[:, :, ::2, 1::2], x[:, :, :1])),
    ("local_write_in_blocks", T.set_subtensor(T.tensor("y", "float64", (2, N, 12, 10))[:, :, ::2, 1::2], x)),
    ("local_pool_gradient_in_blocks", MaxPoolGradient((2, 1), (2, 1), (1, 1))(x, pooled_gradient, pooled_gradient)),
    ("local_kernel_gradient_in_blocks", KernelGradient((1, 1), (1, 1), 1)(x, image[:, :1], 1, 1)),
    ("local_kernel_gradient_in_blocks", KernelGradient((1, 1), (1, 1), 2)(x, x, 1, 1)),
    ("local_kernel_gradient_in_blocks", KernelGradient((1, 1), (1, 1), 1)(image, FromBlocks(N - 1)(blocks), 1, 1)),
    ("local_convolution_in_blocks", plain(image, T.constant(np.full(kernels.data.shape, np.inf)))),  # 0 * inf is NaN
    ("local_convolution_in_blocks", Convolution((1, 1), (1, 1), N)(T.tensor("y", "float64", (2, N, 6, 5)), own)),
    ("local_convolution_in_blocks", Convolution((1, 1), (1, 1), SIZE)(x, T.constant(np.ones((N, 2, 1, 1))))),  # narrow
    ("local_convolution_in_blocks", Convolution((1,), (1,))(image[0], T.constant(np.ones((N, 6, 2))))),
    ("local_elementwise_in_blocks", x + T.tensor("y", "float64", (2, N, 6, 5))),
    ("local_elementwise_in_blocks", FromBlocks(N, 2)(blocks) + x),
    ("local_elementwise_in_blocks", FromBlocks(N, 2)(blocks) + each),
    ("local_bias_in_blocks", blocked()(blocks, square, zeros) + T.constant(np.ones((6, 1, 1)))),  # of each row
    ("local_padding_in_blocks", T.set_subtensor(T.zeros((2, N, 9, 6))[:, :, 1:7, 0:5], x[:, :, :1])),  # stretched
    ("local_pool_in_blocks", MaxPool((2,), (1,), (1,))(x)),
    ("local_pool_of_blocks", MaxPool((1, 2, 2), (1, 1, 1), (1, 1, 1))(blocks)),  # along lanes as well
    ("local_pool_of_blocks", MaxPool((2, 1), (1, 1), (1, 1))(blocks)),
    ("local_pool_of_blocks", MaxPool((1, 1, 1), (1, 1, 1), (1, 1, 1))(blocks)),
    ("local_pool_by_parts", MaxPool((1, 2, 2), (1, 1, 1), (1, 1, 1))(blocks)),  # along lanes as well
    ("local_pool_by_parts", MaxPool((2, 1), (1, 1), (1, 1))(blocks)),
    ("local_join_in_blocks", T.join(2, x, x)),
    ("local_join_in_blocks", T.join(1, FromBlocks(N, 2)(blocks), x)),
    ("local_join_in_blocks", T.join(1, FromBlocks(N - 1)(blocks), FromBlocks(N)(long))),  # perhaps of other lengths
    ("local_channel_sums_in_blocks", slices(beside(x, 1, 1, -1.5), 0, 1, 2)),
    ("local_channel_sums_in_blocks", slices(beside(x, 2, 2), 0, 1, 3)),
    ("local_channel_sums_in_blocks", slices(beside(x, 2, 2), 0, 1)),  # without the channel itself
    ("local_channel_sums_in_blocks", slices(beside(x, 1, 1), 1, 1)),
    ("local_channel_sums_in_blocks", slices(beside(x, 1, 1), 0, 1, count=N - 1)),
    ("local_channel_sums_in_blocks", slices(beside(x, 1, 1), 1) + T.exp(x)),
    ("local_shuffle_in_blocks", shuffle(FromBlocks(N, 2)(blocks), 4)),
    ("local_elementwise_on_channels_last", FIRST(last) + T.tensor("full", "float64", (2, N, 6, 5))),
    ("local_elementwise_on_channels_last", T.tanh(LAST(x))),
    ("local_blocks_of_channels_last", ToBlocks(SIZE)(FIRST(last[..., 1:]))),  # the last block is filled up
    ("local_channels_last_of_blocks", LAST(FromBlocks(N - 1)(blocks))),
    ("local_channels_last_of_blocks", LAST(FromBlocks(N, 2)(blocks))),
    ("local_channels_reduced", T.sum(FIRST(last), axis=2)),
    ("local_channels_of_blocks_reduced", T.sum(x, axis=2)),
    ("local_channels_of_blocks_reduced", T.sum(FromBlocks(N - 1)(blocks), axis=1)),
    ("local_positions_in_blocks", in_positions(x, 2, 2, SIZE // 2)),  # half of a block for each position
    ("local_positions_in_blocks", in_positions(FromBlocks(N, 2)(blocks), 2, 1, SIZE)),
    ("local_positions_in_blocks", in_positions(x, 2, 1, SIZE, swapped=True)),
    ("local_shuffle_in_blocks", T.reshape(T.transpose(T.reshape(x, (2, 4, N // 4, 5, 6)), SWAPPED), (2, N, 5, 6))),
    ("local_reduction_in_blocks", T.sum(FromBlocks(N, 2)(blocks), axis=(2, 3))),
    ("local_reduction_in_blocks", T.sum(x, axis=(1, 2))),
    ("local_blocks_of_blocks", in_blocks(FromBlocks(N - 1)(blocks))),  # whose last block is filled up
    ("local_winograd", blocked(AROUND, (2, 1))(long, by_three, vector)),
    ("local_winograd", blocked()(long, square, vector)),
    ("local_winograd", blocked()(blocks, by_three, vector)),  # so few tiles cost more than they save
    ("local_convolution_pair", packed(square)(packed(own, True)(blocks))),
    ("local_convolution_pair", POOL(POOL(blocks))),
    ("local_bfloat16_pool", NEAR["bfloat16"](replace(POOL, sums=True)(single_blocks))),
    ("local_bfloat16_join", T.to_bfloat16(T.exp(single_blocks))),
    *[("local_bfloat16_quotient", T.to_bfloat16(singles / T.constant(np.float32(v)))) for v in (0, 2e38, 1e-40)],
    ("local_bfloat16_quotient", T.to_bfloat16(T.maximum(ROOT / singles, HALF))),
    ("local_bfloat16_sum", along(words, SQUARE) + along(words, SQUARE)),  # a join has as many bytes as a sum
    ("local_bfloat16_sum", along(words, NARROW_W) + along(single_blocks, NARROW_W)),  # not stored in 16 bits
    ("local_bfloat16_sum", along(words, NARROW_W) + along(words, NARROW_W, (3, 3))),  # broadcast
    ("local_convolution_pair", POOL(packed(T.constant(np.ones((N, N, 3, 2))))(blocks))),  # of many products
    ("local_convolution_pair", packed(own, True)(packed(own, True)(blocks))),
    ("local_convolution_pair", packed(own, True)(T.exp(packed(square)(blocks)))),
    ("local_convolution_pair", packed(own, True)(blocked()(blocks, square, zeros))),  # not packed
    ("local_pack_weights", blocked()(image, T.tensor("w", "float64", kernels.type.shape), vector)),
]
