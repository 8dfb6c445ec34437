"""Shapes, filled arrays, joins, and ops that only pass a value on."""

from __future__ import annotations

from typing import Any

from pytensor import gradient
from pytensor.compile import ops as compile_ops
from pytensor.tensor import basic as pt
from pytensor.tensor.reshape import JoinDims, SplitDims
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape

from .... import ops as T
from ....ops.shapes.conditions import Check
from ....ops.shapes.specify import SpecifyShape as SpecifyLengths
from ....ops.shapes.specify import with_length
from ..forms import SparseTerm
from ..table import Call, converter
from ..versions import classes
from .scalars import as_dtype

FIXED = "whose pattern does not broadcast"
"""Words of the error for a length that may not broadcast."""


@converter(
    compile_ops.DeepCopyOp, compile_ops.ViewOp, compile_ops.TypeCastingOp, *classes(compile_ops, "OutputGuard"),
    pt.TensorFromScalar, pt.ScalarFromTensor, gradient.DisconnectedGrad, gradient.ZeroGrad, gradient.GradClip,
    gradient.GradScale, gradient.UndefinedGrad,
)  # fmt: skip
def same(call: Call, x: Any) -> Any:
    return x


@converter(Shape)
def shape(call: Call, x: Any) -> Any:
    return T.stack([x.rows, x.columns]) if isinstance(x, SparseTerm) else T.shape(x)


@converter(Shape_i)
def shape_i(call: Call, x: Any) -> Any:
    lengths = (x.rows, x.columns) if isinstance(x, SparseTerm) else T.lengths_of(x)
    return lengths[call.op.i]


@converter(SpecifyShape)
def specify_shape(call: Call, x: Any, *lengths: Any) -> Any:
    own = T.lengths_of(x)
    wanted = [have if n is None else as_dtype(n, "int64") for n, have in zip(lengths, own, strict=True)]
    return SpecifyLengths("SpecifyShape")(x, *wanted)


@converter(JoinDims)
def join_dims(call: Call, x: Any) -> Any:
    own, first, count = T.lengths_of(x), call.op.start_axis, call.op.n_axes
    product = T.prod(T.stack(own[first : first + count])) if count else T.constant(1, "int64")
    return T.reshape(x, (*own[:first], product, *own[first + count :]), ndim=x.ndim - count + 1)


@converter(SplitDims)
def split_dims(call: Call, x: Any, lengths: Any) -> Any:
    own, axis = T.lengths_of(x), call.op.axis
    (count,) = lengths.type.shape
    if count is None:
        return NotImplemented
    parts = [as_dtype(lengths[k], "int64") for k in range(count)]
    return T.reshape(x, (*own[:axis], *parts, *own[axis + 1 :]), ndim=x.ndim + count - 1)


@converter(pt.MakeVector)
def make_vector(call: Call, *xs: Any) -> Any:
    dtype = call.dtypes[0]
    return T.stack([as_dtype(x, dtype) for x in xs]) if xs else T.zeros((0,), dtype)


@converter(pt.Alloc)
def alloc(call: Call, value: Any, *lengths: Any) -> Any:
    wanted = [as_dtype(n, "int64") for n in lengths]
    first = len(wanted) - value.ndim
    for axis, n in enumerate(value.type.shape):
        if n is None:
            value = with_length(value, axis, wanted[first + axis], f"operand 0 in Alloc, {FIXED}")
    return T.broadcast_to(value, wanted)


@converter(pt.ARange)
def arange(call: Call, start: Any, stop: Any, step: Any) -> Any:
    return as_dtype(T.arange(start, stop, step), call.dtypes[0])


@converter(pt.Eye)
def eye(call: Call, n: Any, m: Any, k: Any) -> Any:
    n, m, k = (as_dtype(v, "int64") for v in (n, m, k))
    return T.eye(n, m, k, call.dtypes[0])


@converter(pt.Join)
def join(call: Call, *operands: Any) -> Any:
    axis = call.op.axis if hasattr(call.op, "axis") else None
    if axis is None:
        axis, operands = _number(operands[0]), operands[1:]
        if axis is None:
            return NotImplemented
    dtype = call.dtypes[0]
    return T.join(int(axis), *(as_dtype(x, dtype) for x in operands)) if len(operands) > 1 else operands[0]


@converter(pt.Split)
def split(call: Call, x: Any, *rest: Any) -> Any:
    axis = call.op.axis if hasattr(call.op, "axis") else _number(rest[0])
    sizes = rest[-1]
    if axis is None:
        return NotImplemented
    sizes = as_dtype(sizes, "int64")
    (count,) = T.lengths_of(sizes)
    sizes = Check("Length of splits is not equal to n_splits")(sizes, T.eq(count, call.op.len_splits))
    axis, ends = int(axis) % x.ndim, T.cumsum(sizes)
    x = Check("Split sizes cannot be negative")(x, T.all(T.ge(sizes, 0)))
    total, length = T.sum(sizes), T.lengths_of(x)[axis]
    x = Check("Split sizes sum to {0}; expected {1}")(x, T.eq(total, length), total, length)
    before = (slice(None),) * axis
    starts = [0, *(ends[k] for k in range(call.op.len_splits - 1))]
    stops = [ends[k] for k in range(call.op.len_splits)]
    return tuple(x[(*before, slice(a, b))] for a, b in zip(starts, stops, strict=True))


def _number(x: Any) -> int | None:
    return int(x.data) if hasattr(x, "data") else None


@converter(pt.AllocDiag)
def alloc_diagonal(call: Call, x: Any) -> Any:
    if x.ndim == 1:
        return T.diag(x, call.op.offset)
    return tuple(call.conversion.inner(call.op.fgraph, (x,)))


converter(Reshape)(lambda call, x, lengths: T.reshape(x, as_dtype(lengths, "int64"), ndim=call.op.ndim))
converter(pt.AllocEmpty)(lambda call, *lengths: T.zeros(tuple(as_dtype(n, "int64") for n in lengths), call.dtypes[0]))
converter(pt.ExtractDiag)(lambda call, x: T.diagonal(x, call.op.offset, call.op.axis1, call.op.axis2))
converter(pt.Nonzero)(lambda call, x: tuple(T.nonzero(x)))
converter(*classes(pt, "Default"))(lambda call, x, other: other if x is None else x)
