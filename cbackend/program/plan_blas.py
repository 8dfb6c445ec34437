"""Matrix products: calls of the runtime's BLAS, which takes transposed operands by their strides.

Integers, bools and float16 have no BLAS: they are a fused product and sum, which is a kernel like any other.  Sums of
small integers are kept in 64 bits and cut off at the end, which gives the same bits as NumPy's wrapping sums.
"""

from __future__ import annotations

from ...graph import Apply, FunctionGraph, Variable
from ...graph.types import numpy_dtype
from ...ops.core.tensor import TensorVariable
from ...ops.elementwise.records import Cast, logical_and, logical_or, mul
from ...ops.elementwise.records import add as plus
from ...ops.linalg.blas import BLAS_DTYPES, Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from ...ops.lowered.fused import Fused
from ...ops.lowered.packed_dot import PackedDot
from ...ops.reductions.reduce import Reduce
from ...ops.shapes.shape import DimShuffle
from ...record import record
from .outcome import Outcome
from .planner import Planner
from .program import Argument, Array, Lengths, Number, Quantity, Table, Vector

SUMMED = -1
"""Axis number in error messages about summed axes of unequal lengths."""


@record(slots=True)
class Multiplication:
    """Call of a product of matrices without its last arguments: the result and the epilogue.

    `writes` holds the arrays that the call writes besides the result.
    """

    function: str
    lengths: Lengths
    arguments: tuple[Argument, ...]
    reads: tuple[Array, ...]
    fallible: bool = False
    writes: tuple[Array, ...] = ()


def multiplication(p: Planner, node: Apply) -> Multiplication:
    """Return the call of `Dot` or `Dot22` of matrices, of `Dot22Scalar` or of `MatMul`."""
    a, b, *scalar = p.inputs_of(node)
    p.guard("equal", a.lengths[-1], b.lengths[-2], failure=Outcome.LENGTHS, axis=SUMMED)
    batch = batch_of(p, node, a, b)
    left, right = (Vector(batch_strides(p, x, batch)) for x in (a, b))
    m, k, n = a.lengths[-2], a.lengths[-1], b.lengths[-1]
    dtype = node.out.dtype
    factor: Argument = scalar[0] if scalar else Number(dtype, 1)
    arguments = (Table(dtype), len(batch), Vector(batch), m, n, k, factor, a, left, b, right, Number(dtype, 0))
    return Multiplication("product_then", (*batch, m, n), arguments, (a, b, *scalar))


def of_panels(p: Planner, node: Apply) -> Multiplication:
    """Return the call of `PackedDot`."""
    x, panels = p.inputs_of(node)
    op = node.op
    assert isinstance(op, PackedDot)
    p.guard("equal", x.lengths[1], op.rows, failure=Outcome.LENGTHS, axis=SUMMED)
    one, zero = Number(x.dtype, 1), Number(x.dtype, 0)
    arguments = (Table(x.dtype), x.lengths[0], op.columns, op.rows, one, x, Vector(x.strides), panels, zero)
    return Multiplication("panels_then", (x.lengths[0], op.columns), arguments, (x, panels))


def plan_multiplication(p: Planner, product: Multiplication, out: Variable) -> None:
    """Plan one call that computes `out` and has no epilogue."""
    result = p.result(out, product.lengths)
    p.products[result.dtype] = None
    epilogue = (0, 0, 0, 0)
    arguments, writes = (*product.arguments, result, *epilogue), (*product.writes, result)
    p.call(product.function, arguments, writes, product.reads, product.fallible)


def plan_packed_dot(p: Planner, node: Apply) -> None:
    plan_multiplication(p, of_panels(p, node), node.out)


def plan_dot(p: Planner, node: Apply) -> None:
    """Plan `Dot` or `Dot22`: dot, gemv or gemm by the ranks of the operands."""
    a, b = p.inputs_of(node)
    p.guard("equal", a.lengths[-1], b.lengths[0], failure=Outcome.LENGTHS, axis=SUMMED)
    if node.out.dtype not in BLAS_DTYPES:
        p.expand(node, [sum_of_products(node, *_loops_of_dot(*node.inputs))])
        return
    result = p.result(node.out, a.lengths[:-1] + b.lengths[1:])
    if len(a.lengths) == len(b.lengths) == 1:
        _call(p, "dot", result, (a.lengths[0], a, *a.strides, b, *b.strides, result), (a, b))
    elif len(a.lengths) == 2 and len(b.lengths) == 2:
        gemm(p, Number(result.dtype, 1), a, b, Number(result.dtype, 0), result)
    elif len(a.lengths) == 2:
        gemv(p, Number(result.dtype, 1), a, b, Number(result.dtype, 0), result)
    else:
        gemv(p, Number(result.dtype, 1), transposed(b), a, Number(result.dtype, 0), result)


def plan_matmul(p: Planner, node: Apply) -> None:
    """Plan `MatMul`: one gemm for each index of the joint leading axes."""
    a, b = p.inputs_of(node)
    p.guard("equal", a.lengths[-1], b.lengths[-2], failure=Outcome.LENGTHS, axis=SUMMED)
    if node.out.dtype not in BLAS_DTYPES:
        p.expand(node, [sum_of_products(node, *_loops_of_matmul(*node.inputs))])
        return
    batch = batch_of(p, node, a, b)
    m, k, n = a.lengths[-2], a.lengths[-1], b.lengths[-1]
    result = p.result(node.out, (*batch, m, n))
    one, zero = Number(result.dtype, 1), Number(result.dtype, 0)
    left, right = (Vector(batch_strides(p, x, batch)) for x in (a, b))
    arguments = (len(batch), Vector(batch), m, n, k, one, a, left, b, right, zero, result)
    _product(p, "matmul", result, arguments, (a, b))


def batch_of(p: Planner, node: Apply, a: Array, b: Array) -> Lengths:
    """Return the joint lengths of the axes before the matrices."""
    rank = node.out.ndim - 2
    return tuple(
        p.join([x.lengths[k - rank - 2] for x in (a, b) if rank - k <= len(x.lengths) - 2], k) for k in range(rank)
    )


def batch_strides(p: Planner, x: Array, batch: Lengths) -> Lengths:
    """Return the strides of `x` along all axes of the product: 0 along axes that it lacks or is broadcast along."""
    own = len(x.lengths) - 2
    added = len(batch) - own
    along = (p.along(n, m, s) for n, m, s in zip(x.lengths[:own], batch[added:], x.strides[:own], strict=True))
    return ((0,) * added) + tuple(along) + x.strides[own:]


def plan_dot22_scalar(p: Planner, node: Apply) -> None:
    a, b, scalar = p.inputs_of(node)
    p.guard("equal", a.lengths[1], b.lengths[0], failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (a.lengths[0], b.lengths[1]))
    gemm(p, scalar, a, b, Number(result.dtype, 0), result)


def plan_gemm(p: Planner, node: Apply) -> None:
    z, alpha, x, y, beta = p.inputs_of(node)
    p.guard("equal", x.lengths[1], y.lengths[0], failure=Outcome.LENGTHS, axis=SUMMED)
    gemm(p, alpha, x, y, beta, _target(p, node, z, (x.lengths[0], y.lengths[1])))


def plan_gemv(p: Planner, node: Apply) -> None:
    y, alpha, a, x, beta = p.inputs_of(node)
    p.guard("equal", a.lengths[1], x.lengths[0], failure=Outcome.LENGTHS, axis=SUMMED)
    gemv(p, alpha, a, x, beta, _target(p, node, y, a.lengths[:1]))


def plan_ger(p: Planner, node: Apply) -> None:
    a, alpha, x, y = p.inputs_of(node)
    target = _target(p, node, a, x.lengths + y.lengths)
    arguments = (*target.lengths, alpha, x, *x.strides, y, *y.strides, target)
    _call(p, "ger", target, arguments, (alpha, x, y))


def _target(p: Planner, node: Apply, z: Array, product: Lengths) -> Array:
    """Return the matrix to add to, of the product's shape: `z` itself if it may be overwritten, else a copy."""
    for axis, (have, want) in enumerate(zip(z.lengths, product, strict=True)):
        p.guard("equal", have, want, failure=Outcome.LENGTHS, axis=axis)
    return p.modifiable(node, 0)


def gemm(p: Planner, alpha: Argument, a: Array, b: Array, beta: Argument, c: Array) -> None:
    m, n, k = a.lengths[0], b.lengths[1], a.lengths[1]
    arguments = (m, n, k, alpha, a, *a.strides, b, *b.strides, beta, c)
    _product(p, "gemm", c, arguments, _arrays(alpha, a, b, beta))


def gemv(p: Planner, alpha: Argument, a: Array, x: Array, beta: Argument, y: Array) -> None:
    _call(p, "gemv", y, (*a.lengths, alpha, a, *a.strides, x, *x.strides, beta, y), _arrays(alpha, a, x, beta))


def _product(
    p: Planner, function: str, result: Array, arguments: tuple[Argument, ...], reads: tuple[Array, ...]
) -> None:
    p.products[result.dtype] = None
    p.call(function, (Table(result.dtype), *arguments), (result,), reads)


def _call(p: Planner, function: str, result: Array, arguments: tuple[Argument, ...], reads: tuple[Array, ...]) -> None:
    item: Quantity = numpy_dtype(result.dtype).itemsize
    p.products[result.dtype] = None
    fallible = not all(p.is_blas_ready(a) for a in reads)  # else nothing has to be copied, so memory cannot run out
    p.call(function, (Table(result.dtype), item, *arguments), (result,), reads, fallible)


def _arrays(*arguments: Argument) -> tuple[Array, ...]:
    return tuple(a for a in arguments if isinstance(a, Array))


def transposed(a: Array) -> Array:
    return Array(a.base, a.dtype, a.lengths[::-1], a.strides[::-1], False, a.memory)


# --- dtypes without BLAS

Loops = tuple[tuple[int | str, ...], tuple[int | str, ...], int]
"""The axes of both operands in the nest of the product, and the summed axis."""


def _loops_of_dot(a: Variable, b: Variable) -> Loops:
    before, after = a.ndim - 1, b.ndim - 1
    return (*range(a.ndim), *("x",) * after), (*("x",) * before, *range(b.ndim)), before


def _loops_of_matmul(a: Variable, b: Variable) -> Loops:
    rank = max(a.ndim, b.ndim)
    left = (*("x",) * (rank - a.ndim), *range(a.ndim), "x")
    right = (*("x",) * (rank - b.ndim), *range(b.ndim - 2), "x", b.ndim - 2, b.ndim - 1)
    return left, right, rank - 1


def sum_of_products(node: Apply, left: tuple[int | str, ...], right: tuple[int | str, ...], axis: int) -> Variable:
    """Return sum(a * b, axis) of the node's operands with transposed axes, as one fused node in their dtype."""
    a, b = node.inputs
    times, total = (logical_and, logical_or) if a.dtype == "bool" else (mul, plus)
    inner = [TensorVariable(v.type) for v in (a, b)]
    x, y = (Cast("float32")(v) if v.dtype == "float16" else v for v in inner)
    summed = Reduce(total, (axis,))(times(DimShuffle(left)(x), DimShuffle(right)(y)))
    fused: Variable = Fused(FunctionGraph(inner, [summed]))(a, b)
    return fused if fused.dtype == a.dtype else Cast(a.dtype)(fused)


PLANNERS = {
    Dot: plan_dot,
    MatMul: plan_matmul,
    Dot22: plan_dot,
    Dot22Scalar: plan_dot22_scalar,
    PackedDot: plan_packed_dot,
    Gemm: plan_gemm,
    Gemv: plan_gemv,
    Ger: plan_ger,
}
