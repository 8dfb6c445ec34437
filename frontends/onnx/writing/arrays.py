"""Shapes, products, reductions, windows and sorting as ONNX."""

from __future__ import annotations

import math
from typing import Any

from .... import ops as T
from ....control.scan import scan
from ....graph import Apply, Constant, Variable
from ....ops.linalg.assumptions import Assume
from ....ops.linalg.blas import BlasOp, Dot, MatMul
from ....ops.linalg.determinants import Det
from ....ops.lowered.fused import GraphOp, InPlace
from ....ops.lowered.row_passes import Top
from ....ops.networks.convolution import Convolution, KernelGradient
from ....ops.networks.functions import LogSoftmax, LogSumExp, Softmax
from ....ops.networks.phases import ByPhase
from ....ops.networks.pooling import MaxPool, MaxPoolGradient, SumPool
from ....ops.reductions.cumulative import Cumulative
from ....ops.reductions.reduce import ArgReduce, Reduce
from ....ops.reductions.sorting import ArgSort, Nonzero, SearchSorted, Sort, Unique
from ....ops.reductions.unbroadcasting import SumTo
from ....ops.shapes.conditions import Check
from ....ops.shapes.creation import Alloc, Arange, Eye
from ....ops.shapes.diagonals import Diagonal, DiagonalMatrix, Triangle
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import MakeVector, Shape, ShapeI
from ....ops.shapes.shape import BroadcastTo, DimShuffle, Reshape
from ....ops.shapes.sliding import Strided, places
from ....ops.shapes.specify import CheckLengths, MaskedShape, SpecifyShape
from ..reading.values import NUMBER_OF
from ..same_ops import written_names
from .elementwise import WIDE
from .writer import CannotWrite, Writer, means, writes

LAST = 1 << 62
"""Stands for the end of an axis."""

# --- shapes


@writes(DimShuffle)
def dimshuffle(w: Writer, node: Apply) -> str:
    (x,), order = node.inputs, node.op.order  # type: ignore[attr-defined]
    name, dropped = w.value(x), node.op.dropped(x.ndim)  # type: ignore[attr-defined]
    kept = [o for o in order if o != "x"]
    if dropped:
        name = w.op("Squeeze", name, w.const(list(dropped)))
        kept = [o - sum(d < o for d in dropped) for o in kept]
    if kept != sorted(kept):
        name = w.op("Transpose", name, perm=kept)
    added = [k for k, o in enumerate(order) if o == "x"]
    return w.op("Unsqueeze", name, w.const(added)) if added else name


@writes(Reshape)
def reshape(w: Writer, node: Apply) -> str:
    x, *lengths = node.inputs
    return w.op("Reshape", w.value(x), w.vector(lengths), allowzero=1)


@writes(BroadcastTo, Alloc)
def broadcast(w: Writer, node: Apply) -> str:
    x, *lengths = node.inputs
    return w.op("Expand", w.value(x), w.vector(lengths))


@writes(ShapeI)
def length(w: Writer, node: Apply) -> str:
    axis = node.op.axis  # type: ignore[attr-defined]
    return w.op("Squeeze", w.op("Shape", w.value(node.inputs[0]), start=axis, end=axis + 1), w.const([0]))


@writes(MakeVector)
def make_vector(w: Writer, node: Apply) -> str:
    if node.out.dtype == "int64":
        return w.vector(node.inputs)
    return w.op("Concat", *(w.op("Reshape", v, w.const([1])) for v in w.values(node.inputs)), axis=0)


@writes(Join)
def join(w: Writer, node: Apply) -> str:
    return w.op("Concat", *w.values(node.inputs), axis=node.op.axis)  # type: ignore[attr-defined]


@writes(Arange)
def arange(w: Writer, node: Apply) -> str:
    dtype = node.out.dtype
    work = dtype if dtype in ("float32", "float64", "int16", "int32", "int64") else "int64"
    ends = [w.cast(w.value(i), i.dtype, work) for i in node.inputs]
    return w.cast(w.op("Range", *ends), work, dtype)


@writes(Eye)
def eye(w: Writer, node: Apply) -> str:
    n, m, k = node.inputs
    if not isinstance(k, Constant):
        raise CannotWrite("eye with a diagonal that is computed")
    dtype = node.op.dtype  # type: ignore[attr-defined]
    like = w.op("Expand", w.const(0, "float32"), w.vector([n, m]))
    work = dtype if dtype in ("float32", "float64", "int64") else "int32"
    return w.cast(w.op("EyeLike", like, dtype=NUMBER_OF[work], k=int(k.data)), work, dtype)


writes(Shape)(lambda w, node: w.op("Shape", w.value(node.inputs[0])))
writes(SpecifyShape, MaskedShape, CheckLengths, Check, Assume, ByPhase)(lambda w, node: w.value(node.inputs[0]))


# --- products


@writes(Dot, MatMul)
def matmul(w: Writer, node: Apply) -> str:
    dtype = node.out.dtype
    if dtype == "bool":
        raise CannotWrite("dot of bool")
    work = WIDE.get(dtype, dtype)
    a, b = (w.cast(w.value(i), i.dtype, work) for i in node.inputs)
    return w.cast(w.op("MatMul", a, b), work, dtype)


means(BlasOp)(lambda op, *operands: op.meaning(*operands))
means(GraphOp)(lambda op, *operands: op.expand(operands))
means(InPlace)(lambda op, *operands: list(Apply(op.op, operands).outputs))
writes(Det)(lambda w, node: w.op("Det", w.value(node.inputs[0])))


# --- reductions


@writes(Reduce)
def reduce(w: Writer, node: Apply) -> str:
    (x,), op, result = node.inputs, node.op, node.out.dtype
    name, axes = w.value(x), list(op.axis)  # type: ignore[attr-defined]
    if not axes:
        return w.cast(name, x.dtype, result)
    if op.name in ("any", "all"):
        return _counted(w, w.cast(name, x.dtype, "bool"), axes, op.name == "all")
    work = WIDE.get(result, result)
    found = w.op(written_names()[op.name], w.cast(name, x.dtype, work), w.const(axes), keepdims=0)
    return w.cast(found, work, result)


def _counted(w: Writer, name: str, axes: list[int], of_all: bool) -> str:
    """`any` by counting the true elements; `all` by counting the false ones."""
    flags = w.cast(w.op("Not", name) if of_all else name, "bool", "int64")
    found = w.cast(w.op("ReduceSum", flags, w.const(axes), keepdims=0), "int64", "bool")
    return w.op("Not", found) if of_all else found


@writes(ArgReduce)
def arg_reduce(w: Writer, node: Apply) -> str:
    (x,), axis = node.inputs, node.op.axis  # type: ignore[attr-defined]
    work = WIDE.get(x.dtype, x.dtype)
    name = w.cast(w.value(x), x.dtype, work)
    if axis is None:
        name, axis = w.op("Reshape", name, w.const([-1])), 0
    return w.op(written_names()[node.op.name], name, axis=axis, keepdims=0)


@writes(SumTo)
def sum_to(w: Writer, node: Apply) -> str:
    """Sum the axes of length 1 in the target; the run computes which axes those are."""
    x, like = node.inputs
    target = w.shape(w.value(like))
    added = x.ndim - like.ndim
    padded = w.op("Concat", w.const([1] * added), target, axis=0) if added else target
    axes = w.op("Reshape", w.op("NonZero", w.op("Equal", padded, w.const(1))), w.const([-1]))
    total = w.op("ReduceSum", w.value(x), axes, keepdims=1, noop_with_empty_axes=1)
    return w.op("Reshape", total, target, allowzero=1)


@writes(Softmax, LogSoftmax)
def softmax(w: Writer, node: Apply) -> str:
    op: Any = node.op
    return w.op(written_names()[op.name], w.value(node.inputs[0]), axis=op.axis)


@writes(LogSumExp)
def logsumexp(w: Writer, node: Apply) -> str:
    axis = w.const([node.op.axis])  # type: ignore[attr-defined]
    return w.op("ReduceLogSumExp", w.value(node.inputs[0]), axis, keepdims=0)


@means(Cumulative)
def running_fold(op: Any, x: Variable) -> Any:
    """A loop along the axis; ONNX has running sums alone."""
    if op.name == "cumsum":
        return None
    rows = T.moveaxis(T.cast(x, op.infer((x,))[0].dtype), op.axis, 0)
    unit = T.constant(op.unit(rows.dtype), rows.dtype)
    first = T.full(T.shape(rows)[1:], unit) if rows.ndim > 1 else unit
    found = scan(lambda row, total: op.scalar(total, row), sequences=[rows], outputs_info=[first], return_list=True)
    return T.moveaxis(found.outputs[0], 0, op.axis)


@means(Top)
def top(op: Any, x: Variable) -> Any:
    """The maximum, ignoring NaN."""
    return T.max(T.switch(T.isnan(x), T.constant(-math.inf, x.dtype), x), axis=op.axis)


@writes(Cumulative)
def cumulative(w: Writer, node: Apply) -> str:
    (x,), dtype, op = node.inputs, node.out.dtype, node.op
    return w.op(written_names()[op.name], w.cast(w.value(x), x.dtype, dtype), w.const(op.axis))  # type: ignore[attr-defined]


# --- windows


@writes(Convolution)
def convolution(w: Writer, node: Apply) -> str:
    x, kernels = node.inputs
    if x.type.kind != "f":
        raise CannotWrite(f"convolution of {x.dtype}")
    op: Any = node.op
    return w.op(
        "Conv", w.value(x), w.value(kernels), strides=list(op.stride), dilations=list(op.dilation), group=op.groups
    )


@writes(KernelGradient)
def kernel_gradient(w: Writer, node: Apply) -> str:
    """Images and channels change places, and so do strides and dilations."""
    x, g, *lengths = node.inputs
    op: Any = node.op
    if op.groups != 1 or x.type.kind != "f":
        raise CannotWrite("kernel_gradient of several groups")
    order = [1, 0, *range(2, x.ndim)]
    images, kernels = (w.op("Transpose", w.value(v), perm=order) for v in (x, g))
    found = w.op("Conv", images, kernels, strides=list(op.dilation), dilations=list(op.stride))
    axes = list(range(2, x.ndim))
    found = w.op("Slice", found, w.const([0] * len(axes)), w.vector(lengths), w.const(axes))
    return w.op("Transpose", found, perm=order)


@means(MaxPoolGradient)
def pool_gradient(op: Any, x: Any, y: Any, g: Any) -> Any:
    return op.meaning(x, y, g)


@writes(MaxPool, SumPool)
def pool(w: Writer, node: Apply) -> str:
    (x,), op = node.inputs, node.op
    rank = len(op.kernel)  # type: ignore[attr-defined]
    if x.type.kind != "f" or x.ndim < rank:
        raise CannotWrite(f"{op.name} of {x.dtype}")
    name, whole = w.value(x), w.shape(w.value(x))
    front = w.op("Slice", whole, w.const([0]), w.const([x.ndim - rank]))
    back = w.op("Slice", whole, w.const([x.ndim - rank]), w.const([x.ndim]))
    image = w.op("Reshape", name, w.op("Concat", w.const([-1, 1]), back, axis=0))
    kind = "MaxPool" if isinstance(op, MaxPool) else "AveragePool"
    how = {"kernel_shape": op.kernel, "strides": op.stride, "dilations": op.dilation}  # type: ignore[attr-defined]
    found = w.op(kind, image, **{key: list(numbers) for key, numbers in how.items()})
    if isinstance(op, SumPool):
        count = 1
        for k in op.kernel:
            count *= k
        found = w.op("Mul", found, w.const(count, x.dtype))
    counts = w.op("Slice", w.shape(found), w.const([2]), w.const([2 + rank]))
    return w.op("Reshape", found, w.op("Concat", front, counts, axis=0))


# --- sorting and searching


@writes(Sort, ArgSort)
def sort(w: Writer, node: Apply) -> str:
    """TopK puts the lower index first among equal elements, so the order is stable."""
    (x,), axis = node.inputs, node.op.axis  # type: ignore[attr-defined]
    work = WIDE.get(x.dtype, x.dtype)
    name = w.cast(w.value(x), x.dtype, work)
    count = w.op("Shape", name, start=axis, end=axis + 1)
    values, places = w.several("TopK", [name, count], 2, axis=axis, largest=0, sorted=1)
    return places if isinstance(node.op, ArgSort) else w.cast(values, work, x.dtype)


@writes(Nonzero)
def nonzero(w: Writer, node: Apply) -> list[str]:
    x = node.inputs[0]
    found = w.op("NonZero", w.cast(w.value(x), x.dtype, "bool"))
    return [w.op("Gather", found, w.const(k), axis=0) for k in range(x.ndim)]


@means(SearchSorted)
def searchsorted(op: Any, a: Variable, v: Variable) -> Any:
    """The number of elements that are less, or not greater; NaN stands last."""
    wide = T.expand_dims(v, -1)
    if op.examples:  # each of them has a vector of its own
        a = T.dimshuffle(a, *range(op.examples), *"x" * (v.ndim - op.examples), op.examples)
    before = T.lt(a, wide) if op.side == "left" else T.le(a, wide)
    if v.type.kind == "f":
        of_nan = T.logical_and(T.isnan(wide), T.ones_like(a, "bool") if op.side == "right" else ~T.isnan(a))
        before = T.logical_or(before, of_nan)
    return T.sum(before, axis=-1)


@writes(Unique)
def unique(w: Writer, node: Apply) -> list[str]:
    op: Any = node.op
    values, index, inverse, counts = w.several("Unique", w.values(node.inputs), 4, sorted=1)
    wanted = ((index, op.index), (inverse, op.inverse), (counts, op.counts))
    return [values, *(name for name, asked in wanted if asked)]


# --- diagonals


@writes(Triangle)
def triangle(w: Writer, node: Apply) -> str:
    x, k = node.inputs
    return w.op("Trilu", w.value(x), w.value(k), upper=int(not node.op.lower))  # type: ignore[attr-defined]


@means(Diagonal)
def diagonal(op: Any, x: Any) -> Any:
    """Every (columns + 1)th element of the rows laid one after the other."""
    n, m = T.shape(x)[-2], T.shape(x)[-1]
    flat = T.reshape(x, (*T.shape(x)[: x.ndim - 2], n * m)) if x.ndim > 2 else T.reshape(x, (n * m,))
    return T.take(flat, T.arange(T.minimum(n, m)) * (m + 1), axis=-1)


@means(Strided)
def strided(op: Any, x: Any, *numbers: Any) -> Any:
    """The elements at their places along the last axis."""
    return T.take(x, places(numbers), axis=-1)


@means(DiagonalMatrix)
def diagonal_matrix(op: Any, v: Any) -> Any:
    own = T.eye(T.shape(v)[-1], dtype="bool")
    return T.switch(own, T.expand_dims(v, -1), T.constant(0, v.dtype))
