"""Quantized networks in integers: matrix products and convolutions of 8-bit operands.

    convolution(dequantize(q, s, z), dequantize(w, t, 0))    -->   byte_convolution(q, w, -z sum(w), sum(w), s t, 0)

Sums of integers are exact, and one float32 scaling follows.  So a result may differ by rounding from that of the
dequantized floats, and by one unit after `quantize` if it lies between two integers.  Constant folding leaves
dequantized constants alone until these rules have run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import Cast, add, mul
from ....ops.linalg.blas import Dot, Dot22, MatMul
from ....ops.lowered.byte_sums import BYTES, ByteConvolution, ByteProduct
from ....ops.networks.convolution import Convolution
from ....ops.networks.pooling import MaxPool
from ....ops.networks.quantized import Dequantize, Quantize
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor
from ....ops.shapes.lengths import lengths_of
from ....ops.shapes.shape import Reshape, reshape
from ....record import record
from ...contract import relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..blocks.parts import is_padding, without_filling
from ..facts import Node, is_number, number_of, producer

ROUNDED = relaxes("rounding", "signed zero")
MOST = 2**31 - 1


@record(slots=True)
class Dequantized:
    """Quantized values: (q - zero) * scale with one constant scale and one constant zero point."""

    q: Variable
    scale: float
    zero: int


def numbers_of(v: Variable) -> Dequantized | None:
    """Return the 8-bit integers, scale and zero point that dequantize to `v`; None for other values."""
    view = producer(v, Reshape)
    made = producer(v if view is None else view.inputs[0], Dequantize)
    if made is None or v.dtype != "float32" or made.inputs[0].dtype not in BYTES:
        return None
    q, scale, zero = made.inputs
    q = q if view is None else view.op(q, *view.inputs[1:])
    s, z = number_of(scale), number_of(zero)
    if s is None or z is None or not (s > 0 and np.isfinite(s)) or q.type.shape != v.type.shape:
        return None
    return Dequantized(q, float(s), int(z))


class _Weights:
    """Constant int8 weights with outputs along the first axis, and a scale per output."""

    def __init__(self, w: np.ndarray, scale: np.ndarray) -> None:
        self.w, self.scale = w, scale
        self.totals: Any = w.reshape(len(w), -1).sum(1, dtype="int64")
        self.largest: int = int(np.abs(w.reshape(len(w), -1).astype("int64")).sum(1).max(initial=0))


def weights_of(v: Variable, axis: int) -> _Weights | None:
    """Return the weights that dequantize to `v`, with scales and zero points along `axis`, which becomes the first."""
    made = producer(v, Dequantize)
    if made is None or v.dtype != "float32" or not all(isinstance(i, Constant) for i in made.inputs):
        return None
    q, scale, zero = (i.data for i in made.inputs)
    along = tuple(n if k == axis else 1 for k, n in enumerate(q.shape))
    if made.inputs[0].dtype not in BYTES or 0 in q.shape:
        return None
    if any(v.ndim and any(n not in (1, m) for n, m in zip(v.shape, along, strict=True)) for v in (scale, zero)):
        return None
    w = np.moveaxis(q.astype("int64") - zero.astype("int64"), axis, 0)
    if (np.abs(w).max() > 127 and w.min() < -128) or w.max() > 127 or not np.isfinite(scale).all():
        return None
    scales = np.broadcast_to(scale, along).reshape(-1).astype("float32")
    return _Weights(w.astype("int8"), scales)


def _starting(x: Dequantized, w: _Weights) -> np.ndarray | None:
    """Return the initial value of each sum, for the zero point of x; None if a sum may overflow int32."""
    if w.largest * 255 + abs(x.zero) * w.largest > MOST:
        return None
    return (-x.zero * w.totals).astype("int32")  # type: ignore[no-any-return]


def integer_convolution(node: Node) -> Variable | None:
    """Replace a convolution of dequantized, perhaps padded numbers with constants by scaled integer sums."""
    op, (x, kernels) = node.op, node.inputs
    if len(op.stride) != 2 or node.out.dtype != "float32":
        return None
    w = weights_of(kernels, 0)
    if w is None:
        return None
    numbers = numbers_of(x)
    own = w.w.shape[1] == 1 and op.groups == len(w.w) > 1
    if numbers is None or not (own or op.groups == 1):
        return None
    start = _starting(numbers, w)
    if start is None:
        return None
    q, padding = without_filling(numbers.q, numbers.zero)
    made = ByteConvolution(op.stride, op.dilation, padding, numbers.zero, own)
    return made(q, *_operands(w, start, numbers.scale))  # type: ignore[no-any-return]


def _operands(w: _Weights, start: np.ndarray, scale: float) -> list[Variable]:
    scales = w.scale * np.float32(scale)
    arrays = (w.w, start, w.totals.astype("int32"), scales.astype("float32"), np.zeros(len(start), "float32"))
    return [constant(np.ascontiguousarray(a)) for a in arrays]


def integer_product(node: Node) -> Variable | None:
    """Replace a product of dequantized rows and a dequantized constant matrix by a convolution of 1x1 images."""
    x, matrix = node.inputs
    if matrix.ndim != 2 or x.ndim < 2 or node.out.dtype != "float32":
        return None
    numbers, w = numbers_of(x), weights_of(matrix, 1)
    if numbers is None or w is None:
        return None
    start = _starting(numbers, w)
    if start is None:
        return None
    outputs, depth = w.w.shape
    w.w = w.w.reshape(outputs, depth, 1, 1)
    made = ByteConvolution((1, 1), (1, 1), ((0, 0), (0, 0)), numbers.zero)
    y = made(rows_as_images(numbers.q, depth), *_operands(w, start, numbers.scale))
    return reshape(y, (*lengths_of(x)[:-1], outputs))


def rows_as_images(q: Variable, depth: int) -> Variable:
    """Return rows of `depth` bytes as 1x1 images."""
    if q.type.shape[-1] is None:
        q = T.specify_shape(q, [*q.type.shape[:-1], depth])
    count = lengths_of(q)[:-1]
    return reshape(q, (count[0] if len(count) == 1 else T.mul(*count), depth, 1, 1))


def scaled(node: Node, users: Users) -> Variable | None:
    """Fuse a factor or a summand, one constant per output, into float32 byte sums."""
    found = _with_constant(node, users)
    if found is None:
        return None
    made, (x, w, start, totals, scale, bias) = found
    numbers = _an_output(next(i for i in node.inputs if isinstance(i, Constant)), len(scale.data))
    if numbers is None:
        return None
    if node.op == add:
        bias = constant(bias.data + numbers)
    else:
        scale, bias = constant(scale.data * numbers), constant(bias.data * numbers)
    return made(x, w, start, totals, scale, bias)  # type: ignore[no-any-return]


def _with_constant(node: Node, users: Users) -> tuple[ByteConvolution, list[Any]] | None:
    made = next((m for i in node.inputs if (m := producer(i, ByteConvolution)) is not None), None)
    if made is None or len(node.inputs) != 2 or not any(isinstance(i, Constant) for i in node.inputs):
        return None
    if made.op.out != "float32" or made.op.size or len(users(made.out)) > 1 or node.out.dtype != "float32":
        return None
    if not all(isinstance(i, Constant) for i in made.inputs[1:]) or node.out.type.shape != made.out.type.shape:
        return None
    return made.op, made.inputs


def _an_output(v: Constant, outputs: int) -> np.ndarray | None:
    """Return a finite constant as one number per output; None if it varies along another axis."""
    shape = (1,) * (4 - v.data.ndim) + v.data.shape
    if len(shape) != 4 or any(shape[k] != 1 for k in (0, 2, 3)) or shape[1] not in (1, outputs):
        return None
    if not np.isfinite(v.data).all():
        return None
    return np.broadcast_to(v.data.astype("float32").reshape(-1), (outputs,))


def quantized_amid(node: Node) -> Variable | None:
    """Quantize before padding: pad the integers with the quantized number."""
    x, scale, zero = node.inputs
    write = producer(x, IncSubtensor)
    if write is None or not is_padding(write) or node.op.dtype not in BYTES or scale.ndim or zero.ndim:
        return None
    around, value = Quantize(node.op.dtype)(write.inputs[0].owner.inputs[0], scale, zero), write.inputs[1]
    lengths = write.inputs[0].owner.inputs[1:]
    return write.op(Alloc()(around, *lengths), node.op(value, scale, zero), *write.inputs[2:])  # type: ignore[no-any-return]


def dequantized_amid(node: Node) -> Variable | None:
    """Dequantize after padding with 0: pad the integers with the zero point."""
    value = node.inputs[1]
    numbers = numbers_of(value)
    if numbers is None or not is_padding(node) or not is_number(node.inputs[0].owner.inputs[0], 0):
        return None
    q, scale, zero = value.owner.inputs
    around = Alloc()(constant(numbers.zero, q.dtype), *node.inputs[0].owner.inputs[1:])
    return Dequantize()(node.op(around, q, *node.inputs[2:]), scale, zero)


def pooled_integers(node: Node) -> Variable | None:
    """Dequantize after a max pool; the padding is the smallest integer."""
    op, (x,) = node.op, node.inputs
    inner, padding = without_filling(x, -np.inf)
    numbers = numbers_of(inner)
    reaches = [d * (k - 1) + 1 for d, k in zip(op.dilation, op.kernel, strict=True)]
    if numbers is None or any(max(p) >= r for p, r in zip(padding, reaches, strict=False) if any(p)):
        return None
    if any(map(any, padding)) and (len(op.kernel) != 2 or max(op.dilation) > 1):
        return None
    q = _around(numbers.q, padding, np.iinfo(numbers.q.dtype).min)
    scale, zero = inner.owner.inputs[1:]  # type: ignore[union-attr]
    return Dequantize()(op(q), scale, zero)


def _around(q: Variable, padding: Any, number: int) -> Variable:
    if not any(map(any, padding)):
        return q
    return T.pad(q, ((0, 0), (0, 0), *padding), constant_values=constant(number, q.dtype))


def byte_product(node: Node) -> Variable | None:
    """Replace an int32 product of operands cast from 8 bits by a byte product."""
    narrow = [_before_cast(i) for i in node.inputs]
    if node.out.dtype != "int32" or any(v is None or v.ndim < 2 for v in narrow):
        return None
    return ByteProduct()(*narrow)


def _before_cast(v: Variable) -> Variable | None:
    if isinstance(v, Constant) and v.dtype == "int32" and v.data.size:
        fits = (t for t in BYTES if v.data.min() >= np.iinfo(t).min and v.data.max() <= np.iinfo(t).max)
        found = next(fits, None)
        return None if found is None else constant(v.data.astype(found))
    made = producer(v, Cast)
    return made.inputs[0] if made is not None and made.inputs[0].dtype in BYTES else None


def byte_convolution(node: Node) -> Variable | None:
    """Replace an int32 convolution of a cast from 8 bits with constants that fit in int8."""
    op, (x, w) = node.op, node.inputs
    if len(op.stride) != 2 or node.out.dtype != "int32" or not isinstance(w, Constant) or isinstance(x, Constant):
        return None
    inner, padding = without_filling(x, 0)
    narrow = _before_cast(inner)
    if narrow is None:
        return None
    if inner is x:
        narrow, padding = without_filling(narrow, 0)
    own = w.data.shape[1] == 1 and op.groups == len(w.data) > 1
    if not (own or op.groups == 1) or 0 in w.data.shape or w.data.min() < -128 or w.data.max() > 127:
        return None
    found = _Weights(w.data.astype("int8"), np.ones(len(w.data), "float32"))
    made = ByteConvolution(op.stride, op.dilation, padding, 0, own, out="int32")
    return made(narrow, *_operands(found, np.zeros(len(w.data), "int32"), 1.0))  # type: ignore[no-any-return]


def _rule(name: str, ops: Any, function: Any, formula: str, having: Any = (), **options: Any) -> Rule:
    return node_rule(name, ops, function, formula=formula, having=having, **options)


BYTE_SUMS: list[Rule] = [
    _rule("local_integer_convolution", Convolution, integer_convolution, contract=ROUNDED,
          formula="convolution(dequantize(q, s, z), dequantize(w, t, 0)) -> byte_convolution(q, w, -z sum(w), ...)"),
    _rule("local_integer_product", (Dot, Dot22, MatMul), integer_product, having=(Dequantize, Reshape),
          contract=ROUNDED,
          formula="dot(dequantize(q, s, z), dequantize(w, t, 0)) -> byte_convolution(q, w, -z sum(w), ...)"),
    _rule("local_scale_of_bytes", (add, mul), scaled, having=ByteConvolution, uses=True, contract=ROUNDED,
          formula="byte_convolution(..., scale, b) * c -> byte_convolution(..., scale * c, b * c)  for constant c"),
    _rule("local_quantize_padding", Quantize, quantized_amid, having=IncSubtensor,
          formula="quantize(pad(x, c), s, z) -> pad(quantize(x, s, z), quantize(c, s, z))"),
    _rule("local_dequantize_padding", IncSubtensor, dequantized_amid, having=(Dequantize, Alloc),
          formula="pad(dequantize(q, s, z), 0) -> dequantize(pad(q, z), s, z)"),
    _rule("local_pool_integers", MaxPool, pooled_integers, having=(Dequantize, IncSubtensor),
          formula="max_pool(dequantize(q, s, z)) -> dequantize(max_pool(q), s, z)"),
]  # fmt: skip
FROM_CASTS: list[Rule] = [
    _rule("local_byte_product", (Dot, Dot22, MatMul), byte_product, having=(Cast, Alloc),
          formula="dot(cast{int32}(a), cast{int32}(b)) -> byte_product(a, b)  for a, b of int8, uint8"),
    _rule("local_byte_convolution", Convolution, byte_convolution, having=(Cast, IncSubtensor),
          formula="convolution(cast{int32}(x), w) -> byte_convolution(x, w, ...)  for constant w of int8"),
]  # fmt: skip
