"""Rows of the rules on sums of products of bytes: (name, before, after)."""

from dataclasses import replace

import numpy as np
from wide_target import WIDE

from arignote import ops as T
from arignote.ops.lowered.blocked import FromBlocks, ToBlocks
from arignote.ops.lowered.byte_sums import ByteConvolution, ByteProduct
from arignote.ops.lowered.byte_tables import ByteSoftmax, LookUp
from arignote.ops.lowered.formats import PackedProduct
from arignote.ops.lowered.formats.nibbles import Nibbles
from arignote.ops.lowered.quantized_blocks import QuantizeInBlocks
from arignote.ops.networks.convolution import Convolution
from arignote.ops.networks.pooling import MaxPool
from arignote.ops.networks.quantized import Dequantize
from arignote.ops.shapes.creation import Alloc

SIZE = WIDE.vector // 4
PANEL = WIDE.panel
NONE, AROUND = ((0, 0), (0, 0)), ((1, 2), (0, 1))
OUTPUTS = 3

q = T.tensor("q", "uint8", (2, 4, 6, 5))
beside = T.tensor("beside", "uint8", (2, OUTPUTS, 5, 4))
image = T.tensor("image", "float32", (2, 4, 6, 5))
rows = T.tensor("rows", "uint8", (7, 4))
a, b = T.matrix("a", "int8"), T.matrix("b", "uint8")
narrow = np.arange(-24, 24).reshape(OUTPUTS, 4, 2, 2).astype("int8")
steps = np.array([0.5, 0.25, 2.0], "float32")
kernels = Dequantize()(*map(T.constant, (narrow, steps.reshape(-1, 1, 1, 1), np.zeros((3, 1, 1, 1), "int8"))))
matrix = Dequantize()(*map(T.constant, (narrow[:, :, 0, 0].T.copy(), steps.reshape(1, -1), np.zeros((1, 3), "int8"))))
wide = T.tensor("wide", "float32", (None, 16))
factor = np.array([1.0, 2.0, 0.5], "float32").reshape(1, -1, 1, 1)


def dequantized(v=q):
    return T.dequantize(v, 0.5, 3)


def written(v, number):
    """`v` amid a number, written as the rule writes it."""
    return T.pad(v, ((0, 0), (0, 0), *AROUND), constant_values=T.constant(number, v.dtype))


def amid(v, value):
    """`v` amid a value that is no constant yet."""
    write = T.pad(v, ((0, 0), (0, 0), *AROUND), constant_values=T.constant(0, v.dtype)).owner
    return write.op(Alloc()(value, *write.inputs[0].owner.inputs[1:]), v, *write.inputs[2:])


def numbers(w=narrow, scale=0.5, by=1.0, plus=0.0, zero=3):
    """Start, totals, scale and bias of kernels."""
    sums = w.reshape(OUTPUTS, -1).sum(1)
    scales = (steps * np.float32(scale) * np.float32(1)) * np.asarray(by, "float32")
    arrays = ((-zero * sums).astype("int32"), sums.astype("int32"), scales, np.full(OUTPUTS, plus, "float32"))
    return [T.constant(v) for v in arrays]


def summed(v=q, padding=NONE, **more):
    return ByteConvolution((1, 1), (1, 1), padding, 3)(v, T.constant(narrow), *numbers(**more))


def narrowed(v, low, others=(), more_scale=0.0, plus=0.0):
    op = ByteConvolution((1, 1), (1, 1), NONE, 3, out="uint8", zero=3, low=low, high=255, more_scale=more_scale)
    return op(v, T.constant(narrow), *numbers(by=2.0, plus=plus), *others)


def plain(x, w):
    return Convolution((1, 1), (1, 1))(x, w)


def laid(inner=None):
    op = ByteConvolution((1, 1), (1, 1), NONE, 3, size=SIZE, panel=PANEL, weights=narrow.shape)
    whole = -(-OUTPUTS // SIZE) * SIZE
    beside = [np.zeros(whole, v.dtype) for v in numbers()]
    for to, v in zip(beside, numbers(), strict=True):
        to[:OUTPUTS] = v.data
    block = SIZE if SIZE <= 4 else 4
    inner = ToBlocks(block)(q) if inner is None else inner
    return FromBlocks(OUTPUTS)(op(inner, T.constant(op.packed(narrow, block)), *map(T.constant, beside)))


def looked_up(function):
    """The table of a function of dequantized numbers, in 8 bits."""
    x = (np.arange(256, dtype="float32") - 3) * np.float32(0.5)
    table = np.clip(np.rint(function(x) / np.float32(0.25)) + 7, 0, 255).astype("uint8")
    return LookUp()(q, T.constant(table))


def softmax_of_bytes():
    exponents = np.exp(np.arange(256) * -0.5).astype("float32")
    return ByteSoftmax("uint8", 0.25, 7, 0, 255)(q, T.constant(exponents))


few = np.arange(48).reshape(OUTPUTS, 16).astype("uint8") % 16
points = np.array([[8, 3], [1, 8], [15, 0]], "uint8")


def four_bits():
    return T.dequantize(few, np.array([[1, 2], [3, 4], [5, 6]], "float32"), points, axis=1, block=8)


def packed_bits(v):
    form = Nibbles(OUTPUTS, 16, 8, SIZE)
    scales = np.array([[1, 2], [3, 4], [5, 6]], "float32")
    zeros = (points.astype("int16") - 8).astype("int8")
    return PackedProduct(form)(v, *map(T.constant, form.packed(few.astype("int16") - 8, scales, zeros)))


def less(v, zero):
    return T.cast(v, "int32") - T.constant(zero, "int32")


def whole(v=q, padding=NONE, around=3, plus=0):
    start, *others = numbers(zero=around)
    start = T.constant(start.data + np.int32(plus))
    beside = T.constant(np.ones(3, "float32")), T.constant(np.zeros(3, "float32"))
    made = ByteConvolution((1, 1), (1, 1), padding, around, out="int32")
    return made(v, T.constant(narrow), start, others[0], *beside)


def fixed(multiplier, shift, low=0, high=255):
    """Sums with the ending of `requantize`."""
    x, w, start, totals, *_ = whole().owner.inputs
    op = ByteConvolution((1, 1), (1, 1), NONE, 3, out="uint8", zero=9, low=low, high=high, fixed=True)
    ending = (np.broadcast_to(np.asarray(v, "int32"), OUTPUTS).copy() for v in (multiplier, shift))
    return op(x, w, start, totals, *map(T.constant, ending))


def words():
    """The image as bytes in blocks of four channels."""
    return QuantizeInBlocks("uint8")(*T.quantize(image, 0.5, 3).owner.inputs)


column = T.tensor("column", "uint8", (7, OUTPUTS, 1, 1))


positions = T.tensor("positions", "uint8", (7, 4, 1, 1))


def one_position(v=positions):
    """The product of rows, as images of one position, and kernels."""
    made = ByteConvolution((1, 1), (1, 1), NONE, 3)
    return made(v, T.constant(narrow[:, :, :1, :1]), *numbers(narrow[:, :, 0, 0]))


TALL = narrow[:, :, 0, 0].astype("int32")
RELU = T.maximum(summed(), np.float32(0))
ROWS = [
    ("local_integer_convolution", plain(dequantized(), kernels), summed()),
    ("local_integer_convolution", plain(T.dequantize(written(q, 3), 0.5, 3), kernels), summed(padding=AROUND)),
    (
        "local_integer_product",
        T.dot(dequantized(rows), matrix),
        T.reshape(one_position(T.reshape(rows, (7, 4, 1, 1))), (7, OUTPUTS)),
    ),
    ("local_scale_of_bytes", summed() * T.constant(factor), summed(by=factor.reshape(-1))),
    ("local_scale_of_bytes", summed() + np.float32(2), summed(plus=2.0)),
    ("local_quantize_bytes", T.quantize(summed(), 0.5, 3), narrowed(q, 0)),
    ("local_quantize_bytes", T.quantize(RELU, 0.5, 3), narrowed(q, 3)),
    (
        "local_quantize_bytes",
        T.quantize(T.maximum(summed() + dequantized(beside), np.float32(0)), 0.5, 3),
        narrowed(q, 3, (beside,), 1.0, -3.0),
    ),
    (
        "local_quantize_residual",
        T.quantize(T.maximum(dequantized(narrowed(q, 0)) + T.dequantize(beside, 0.25, 7), np.float32(0)), 2.0, 5),
        replace(
            narrowed(q, 0).owner.op, zero=5, low=5, more_scale=0.125, sum_scale=0.25, more_zero=7, lower=-3, upper=252
        )(*narrowed(q, 0).owner.inputs, beside),
    ),
    (
        "local_quantize_pool",
        T.quantize(MaxPool((2, 2), (1, 1), (1, 1))(summed()), 0.5, 3),
        MaxPool((2, 2), (1, 1), (1, 1))(T.quantize(summed(), 0.5, 3)),
    ),
    (
        "local_quantize_padding",
        T.quantize(written(image, 0.0), 0.5, 3),
        amid(T.quantize(image, 0.5, 3), T.quantize(T.constant(0.0, "float32"), 0.5, 3)),
    ),
    ("local_dequantize_padding", written(dequantized(), 0.0), T.dequantize(written(q, 3), 0.5, 3)),
    (
        "local_pool_integers",
        MaxPool((2, 2), (1, 1), (1, 1))(dequantized()),
        dequantized(MaxPool((2, 2), (1, 1), (1, 1))(q)),
    ),
    (
        "local_product_of_bytes",
        T.dot(less(rows, 3), T.constant(TALL.T.copy())),
        T.reshape(
            ByteConvolution((1, 1), (1, 1), NONE, out="int32")(
                T.reshape(rows, (7, 4, 1, 1)), T.constant(narrow[:, :, :1, :1]),
                *(T.constant(n) for n in ((-3 * TALL.sum(1)).astype("int32"), TALL.sum(1).astype("int32"))),
                T.constant(np.ones(3, "float32")), T.constant(np.zeros(3, "float32")),
            ),
            (7, OUTPUTS),
        ),
    ),
    (
        "local_product_of_bytes",
        T.dot(less(a, 3), T.cast(b, "int32")),
        ByteProduct()(a, b)
        - T.constant(3, "int32") * T.cast(T.sum(T.cast(b, "int32"), axis=-2, keepdims=True), "int32"),
    ),
    ("local_convolution_of_bytes", plain(less(q, 3), T.constant(narrow.astype("int32"))), whole()),
    (
        "local_convolution_of_bytes",
        plain(written(less(q, 3), 0), T.constant(narrow.astype("int32"))),
        whole(padding=AROUND),
    ),
    ("local_start_of_bytes", whole() + T.constant(np.int32(7)), whole(plus=7)),
    (
        "local_floats_of_bytes",
        T.cast(whole(), "float32"),
        summed(scale=1.0, by=1 / steps),
    ),
    (
        "local_reshape_after_bytes",
        T.maximum(T.reshape(one_position(), (7, OUTPUTS)), np.float32(0)),
        T.reshape(T.maximum(one_position(), np.float32(0)), (7, OUTPUTS)),
    ),
    (
        "local_reshape_after_bytes",
        T.quantize(T.reshape(one_position(), (7, OUTPUTS)), 0.5, 3),
        T.reshape(T.quantize(one_position(), 0.5, 3), (7, OUTPUTS)),
    ),
    (
        "local_reshape_after_bytes",
        T.reshape(one_position(), (7, OUTPUTS)) + T.dequantize(T.reshape(column, (7, OUTPUTS)), 0.5, 3),
        T.reshape(one_position() + T.dequantize(column, 0.5, 3), (7, OUTPUTS)),
    ),
    ("local_byte_table", T.quantize(T.sigmoid(dequantized()), 0.25, 7), looked_up(lambda x: 1 / (1 + np.exp(-x)))),
    ("local_byte_table", T.quantize(dequantized() * T.clip(dequantized() + 3, 0, 6), 0.25, 7),
     looked_up(lambda x: x * np.clip(x + 3, 0, 6))),
    ("local_byte_softmax", T.quantize(T.softmax(dequantized()), 0.25, 7), softmax_of_bytes()),
    ("local_nibble_product", T.dot(wide, four_bits().T), packed_bits(wide)),
    ("local_nibble_product", T.dot(four_bits(), wide[0]), packed_bits(wide[0])),
    ("local_byte_product", T.dot(T.cast(a, "int32"), T.cast(b, "int32")), ByteProduct()(a, b)),
    (
        "local_byte_convolution",
        plain(T.cast(q, "int32"), T.constant(narrow.astype("int32"))),
        ByteConvolution((1, 1), (1, 1), NONE, 0, out="int32")(
            q, T.constant(narrow), *numbers(zero=0)[:2], T.constant(np.ones(3, "float32")),
            T.constant(np.zeros(3, "float32")),
        ),
    ),
    ("local_requantize_bytes", T.requantize(whole(), 0.4, 9, "uint8"), fixed(1717986918, -1)),
    ("local_requantize_bytes", T.requantize(whole(), [0.25, 0.5, 1.0], 9, "uint8", axis=1), fixed(2**30, [-1, 0, 1])),
    ("local_clip_of_bytes", T.clip(fixed(2**30, 0), *map(T.constant, np.array([7, 255], "uint8"))), fixed(2**30, 0, 7)),
    ("local_clip_of_bytes", T.maximum(fixed(2**30, 0), T.constant(np.uint8(7))), fixed(2**30, 0, 7)),
    ("local_clip_of_bytes", T.minimum(fixed(2**30, 0, 7), T.constant(np.uint8(40))), fixed(2**30, 0, 7, 40)),
    ("local_bytes_in_blocks", summed(), laid()),
    ("local_bytes_in_blocks", summed(T.quantize(image, 0.5, 3)), laid(words())),
    ("local_fold_weights", kernels, T.constant(narrow * steps.reshape(-1, 1, 1, 1))),
]  # fmt: skip
UNCHANGED = [
    ("local_quantize_elementwise", summed(T.quantize(image, 0.5, 3))),
    ("local_reshape_after_bytes", T.reshape(one_position(), (7, OUTPUTS)) + T.fmatrix("matrix")),
    ("local_reshape_after_bytes", T.reshape(one_position(), (OUTPUTS, 7)) + np.ones(7, "float32")),
    ("local_integer_convolution", plain(image, kernels)),
    ("local_integer_convolution", plain(T.dequantize(q, 0.5, 3), T.constant(narrow.astype("float32")))),
    ("local_scale_of_bytes", summed() * T.constant(np.ones((1, 1, 5, 4), "float32"))),
    ("local_quantize_bytes", T.quantize(T.exp(summed()), 0.5, 3)),
    ("local_quantize_residual", T.quantize(dequantized(q) + T.dequantize(q, 0.25, 7), 2.0, 5)),
    ("local_quantize_residual", T.quantize(T.dequantize(narrowed(q, 0), 0.5, 4) + dequantized(beside), 2.0, 5)),
    ("local_requantize_bytes", T.requantize(whole(), 0.5, 9, "int16")),
    ("local_requantize_bytes", T.requantize(whole(), [0.5, 0.25, 1, 2], 9, "uint8", axis=3)),
    ("local_clip_of_bytes", T.maximum(narrowed(q, 0), T.constant(np.uint8(7)))),
    ("local_byte_table", T.quantize(T.maximum(dequantized(), 0), 0.25, 7)),
    ("local_byte_table", T.quantize(T.sigmoid(dequantized() + dequantized(q + 1)), 0.25, 7)),
    ("local_byte_table", T.quantize(T.sigmoid(dequantized() + np.arange(5, dtype="float32")), 0.25, 7)),
    ("local_byte_table", T.quantize(T.sigmoid(dequantized()), 0.25, 7, "int16")),
    ("local_byte_softmax", T.quantize(T.softmax(dequantized(), axis=1), 0.25, 7)),
    ("local_byte_softmax", T.quantize(T.softmax(dequantized()), 1e-9, 7)),
    ("local_byte_product", T.dot(T.cast(a, "int32"), T.matrix("wide", "int32"))),
]
