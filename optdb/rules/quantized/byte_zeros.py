"""Products and convolutions in int32 of bytes minus zero points, as byte sums with equal bits.

    (a - z) @ (b - y)    =    a @ b  -  z sum(b)  -  sum(a) y  +  k z y

holds modulo 2^32.  Sums of constants are computed at compile time.  Constants that do not fit in int8 are shifted by
another y, one per output.  Later nodes, up to the rounding to 8 bits, are fused into the sums; see byte_sums.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import Cast, add, cast, clip, maximum, minimum, sub
from ....ops.linalg.blas import Dot, MatMul
from ....ops.lowered.byte_sums import BYTES, ByteConvolution, ByteProduct
from ....ops.networks.convolution import Convolution
from ....ops.networks.fixed_point import Requantize
from ....ops.shapes.indexing import IncSubtensor
from ....ops.shapes.lengths import lengths_of
from ....ops.shapes.shape import reshape
from ....record import record
from ...patterns import Users
from ...rule import Rule, node_rule
from ..blocks.parts import without_filling
from ..facts import Node, number_of, producer
from .byte_sums import rows_as_images

NO_PADDING = ((0, 0), (0, 0))


@record(slots=True)
class _Less:
    """Bytes minus an int32 zero point; None for 0."""

    q: Variable
    zero: Variable | None


def less_zero(v: Variable) -> _Less | None:
    """Match int32 values that are cast from bytes, perhaps minus a zero point; None if `v` does not match."""
    made = producer(v, Cast)
    if made is not None and v.dtype == "int32":
        return _Less(made.inputs[0], None) if made.inputs[0].dtype in BYTES else None
    made = producer(v, sub)
    inner = None if made is None else producer(made.inputs[0], Cast)
    if made is None or inner is None or v.dtype != "int32" or inner.inputs[0].dtype not in BYTES:
        return None
    zero = made.inputs[1]
    return _Less(inner.inputs[0], zero) if zero.dtype == "int32" and inner.out.type == v.type else None


@record(slots=True)
class _Kernels:
    """Constants w + shift, outputs along the first axis: w is int8, and shift has one number per output."""

    w: np.ndarray
    shift: np.ndarray
    totals: np.ndarray
    """Sum of w for each output, in int64."""


def kernels_of(v: Variable, axis: int) -> _Kernels | None:
    """Return int32 constants as int8 plus shifts; None unless each output along `axis` spans at most 255."""
    if not isinstance(v, Constant) or v.dtype != "int32" or 0 in v.data.shape:
        return None
    w = np.moveaxis(v.data.astype("int64"), axis, 0)
    low, high = (f(w.reshape(len(w), -1), axis=1) for f in (np.min, np.max))
    if (high - low > 255).any():
        return None
    shift = np.where((low >= -128) & (high <= 127), 0, low + 128)
    narrow = w - shift.reshape(-1, *(1,) * (w.ndim - 1))
    return _Kernels(narrow.astype("int8"), shift, narrow.reshape(len(w), -1).sum(1))


def _sums(op: ByteConvolution, q: Variable, w: np.ndarray, start: Any) -> Variable:
    """Return the int32 convolution of bytes with constants."""
    outputs = len(w)
    totals = w.reshape(outputs, -1).sum(1, dtype="int64").astype("int32")
    arrays = (w, start.astype("int32"), totals, np.ones(outputs, "float32"), np.zeros(outputs, "float32"))
    return op(q, *(constant(np.ascontiguousarray(a)) for a in arrays))  # type: ignore[no-any-return]


def _wrapped(a: np.ndarray) -> Any:
    return constant(a.astype("int64").astype("int32"))


def constant_product(x: _Less, w: _Kernels, lengths: Any) -> Variable | None:
    """Return the product of rows of bytes and constants as a convolution of 1x1 images with packed weights."""
    if x.zero is not None and x.zero.ndim and any(n != 1 for n in x.zero.type.shape[-1:]):
        return None
    outputs, depth = w.w.shape
    point = 0 if x.zero is None else number_of(x.zero)
    start = -(0 if point is None else int(point)) * w.totals
    op = ByteConvolution((1, 1), (1, 1), NO_PADDING, out="int32")
    sums = _sums(op, rows_as_images(x.q, depth), w.w.reshape(outputs, depth, 1, 1), start)
    y = reshape(sums, (*lengths[:-1], outputs))
    if x.zero is not None and point is None:
        y = T.sub(y, T.mul(x.zero, _wrapped(w.totals)))
    if w.shift.any():
        sums = T.sum(cast(x.q, "int32"), axis=-1, keepdims=True)
        sums = sums if x.zero is None else T.sub(sums, T.mul(x.zero, constant(depth, "int32")))
        y = T.add(y, T.mul(cast(sums, "int32"), _wrapped(w.shift)))
    return y


def product_less_zeros(node: Node) -> Variable | None:
    """Replace an int32 product of bytes minus zero points, which are scalars, per row of a or per column of b."""
    a, b = node.inputs
    if node.out.dtype != "int32" or a.dtype != "int32" or b.dtype != "int32" or min(a.ndim, b.ndim) < 2:
        return None
    left = less_zero(a)
    if left is None or left.q.ndim < 2:
        return None
    w = kernels_of(b, 1) if b.ndim == 2 else None
    if w is not None:
        return constant_product(left, w, (*lengths_of(a)[:-1], None))
    right = less_zero(b)
    if right is None or right.q.ndim < 2 or (left.zero is None and right.zero is None):
        return None
    return _with_zeros(left, right)


def _with_zeros(a: _Less, b: _Less) -> Variable | None:
    fits_a = a.zero is None or a.zero.ndim == 0 or a.zero.type.shape[-1] == 1
    fits_b = b.zero is None or b.zero.ndim < 2 or b.zero.type.shape[-2] == 1
    if not (fits_a and fits_b):
        return None
    y: Any = ByteProduct()(a.q, b.q)
    if a.zero is not None:
        y = T.sub(y, T.mul(a.zero, _sum_along(b.q, -2)))
    if b.zero is not None:
        sums = _sum_along(a.q, -1)
        if a.zero is not None:
            sums = T.sub(sums, T.mul(a.zero, cast(T.shape(a.q)[-1], "int32")))
        y = T.sub(y, T.mul(sums, b.zero))
    return y  # type: ignore[no-any-return]


def _sum_along(q: Variable, axis: int) -> Variable:
    return cast(T.sum(cast(q, "int32"), axis=axis, keepdims=True), "int32")


def convolution_less_zeros(node: Node) -> Variable | None:
    """Replace an int32 convolution of perhaps padded bytes minus one zero point with constants."""
    op, (x, v) = node.op, node.inputs
    if len(op.stride) != 2 or node.out.dtype != "int32":
        return None
    inner, padding = without_filling(x, 0)
    found, w = less_zero(inner), kernels_of(v, 0)
    point = None if found is None else 0 if found.zero is None else number_of(found.zero)
    if found is None or w is None or point is None:
        return None
    ends = np.iinfo(found.q.dtype)
    own = w.w.shape[1] == 1 and op.groups == len(w.w) > 1
    if not (own or op.groups == 1) or not ends.min <= point <= ends.max:
        return None
    if inner is x:
        q, padding = without_filling(found.q, int(point))
    else:
        q = found.q
    made = ByteConvolution(op.stride, op.dilation, padding, int(point), own, out="int32")
    y = _sums(made, q, w.w, -int(point) * w.totals)
    if w.shift.any():
        ones = np.ones_like(w.w if own else w.w[:1])
        windows = _sums(made, q, ones, -int(point) * ones.reshape(len(ones), -1).sum(1, dtype="int64"))
        y = T.add(y, T.mul(windows, _wrapped(w.shift.reshape(1, -1, 1, 1))))
    return y


def _plain_sums(v: Variable, users: Users) -> Any:
    made = producer(v, ByteConvolution)
    if made is None or made.op.out != "int32" or made.op.size or len(users(v)) > 1:
        return None
    return made if all(isinstance(i, Constant) for i in made.inputs[1:]) else None


def started(node: Node, users: Users) -> Variable | None:
    """Fuse the addition of one constant per output into the initial values of int32 byte sums."""
    if len(node.inputs) != 2 or node.out.dtype != "int32":
        return None
    for k, v in enumerate(node.inputs):
        made, other = _plain_sums(v, users), node.inputs[1 - k]
        if made is None or not isinstance(other, Constant) or other.dtype != "int32" or made.out.type != node.out.type:
            continue
        outputs, shape = made.inputs[2].data.size, (1,) * (4 - other.data.ndim) + other.data.shape
        if any(shape[axis] != 1 for axis in (0, 2, 3)) or shape[1] not in (1, outputs):
            return None
        start = made.inputs[2].data.astype("int64") + other.data.reshape(-1).astype("int64")
        return made.op(*made.inputs[:2], _wrapped(start), *made.inputs[3:])  # type: ignore[no-any-return]
    return None


def in_floats(node: Node, users: Users) -> Variable | None:
    """Fuse the cast of int32 byte sums to float32; float32 sums take scales."""
    made = _plain_sums(node.inputs[0], users)
    if made is None or node.out.dtype != "float32":
        return None
    return replace(made.op, out="float32")(*made.inputs)  # type: ignore[no-any-return]


def requantized(node: Node, users: Users) -> Variable | None:
    """Fuse requantization to bytes, by constant multipliers and shifts, into int32 byte sums."""
    made, dtype = _plain_sums(node.inputs[0], users), node.op.dtype
    zero = number_of(node.inputs[3])
    if made is None or dtype not in BYTES or zero is None or node.out.type.shape != made.out.type.shape:
        return None
    scales = [_an_output(v, made.inputs[2].data.size) for v in node.inputs[1:3]]
    if any(v is None for v in scales):
        return None
    ends = np.iinfo(dtype)
    op = replace(made.op, out=dtype, fixed=True, zero=int(zero), low=int(ends.min), high=int(ends.max))
    return op(*made.inputs[:4], *map(_wrapped, scales))  # type: ignore[no-any-return, arg-type]


def _an_output(v: Variable, outputs: int) -> np.ndarray | None:
    """Return constant integers as one per output; None if they vary along another axis."""
    if not isinstance(v, Constant):
        return None
    shape = (1,) * (4 - v.data.ndim) + v.data.shape
    if any(shape[axis] != 1 for axis in (0, 2, 3)) or shape[1] not in (1, outputs):
        return None
    return np.broadcast_to(v.data.reshape(-1), (outputs,))


def cut_off(node: Node, users: Users) -> Variable | None:
    """Fuse a clip by constants into the bounds of requantized bytes."""
    value, *bounds = sorted(node.inputs, key=lambda i: isinstance(i, Constant)) if node.op != clip else node.inputs
    made = producer(value, ByteConvolution)
    numbers = [number_of(b) for b in bounds]
    if made is None or not made.op.fixed or made.op.size or len(users(value)) > 1 or None in numbers:
        return None
    if value.type != node.out.type:
        return None
    found = [int(n) for n in numbers]  # type: ignore[arg-type]
    low, high = found if node.op == clip else (max(found), 255) if node.op == maximum else (-128, min(found))
    ends = (min(max(n, low), high) for n in (made.op.low, made.op.high))
    return replace(made.op, **dict(zip(("low", "high"), ends, strict=True)))(*made.inputs)  # type: ignore[no-any-return]


BYTE_ZEROS: list[Rule] = [
    node_rule("local_product_of_bytes", (Dot, MatMul), product_less_zeros, having=(sub, Cast),
              formula="dot(cast{int32}(a) - z, cast{int32}(b) - y) -> byte_product(a, b) - z sum(b) - y sum(a) + kzy"),
    node_rule("local_convolution_of_bytes", Convolution, convolution_less_zeros, having=(sub, Cast, IncSubtensor),
              formula="convolution(cast{int32}(x) - z, w) -> byte_convolution(x, w, -z sum(w))  for constant z, w"),
    node_rule("local_start_of_bytes", add, started, having=ByteConvolution, uses=True,
              formula="byte_convolution{int32}(x, w, s) + c -> byte_convolution{int32}(x, w, s + c)  for constant c"),
    node_rule("local_floats_of_bytes", Cast, in_floats, having=ByteConvolution, uses=True,
              formula="cast{float32}(byte_convolution{int32}(...)) -> byte_convolution{float32}(...)"),
    node_rule("local_requantize_bytes", Requantize, requantized, having=ByteConvolution, uses=True,
              formula="requantize(byte_convolution{int32}(...), m, k, z) -> byte_convolution{fixed, zero}(..., m, k)"),
    node_rule("local_clip_of_bytes", (clip, maximum, minimum), cut_off, having=ByteConvolution, uses=True,
              formula="clip(byte_convolution{fixed, low, high}(...), a, b) -> byte_convolution{fixed, a, b}(...)"),
]  # fmt: skip
