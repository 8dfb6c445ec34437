"""Matrix products: kernels of the runtime, which take operands of any strides.

Integers, bools and float16 have none: they are a fused product and sum, which is a kernel like any other.  Sums of
small integers are kept in 64 bits and cut off at the end, which gives the same bits as NumPy's wrapping sums.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Apply, FunctionGraph, Variable
from ....ops.core.tensor import TensorVariable
from ....ops.elementwise.records import Cast, logical_and, logical_or, mul
from ....ops.elementwise.records import add as plus
from ....ops.linalg.blas import BLAS_DTYPES, Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from ....ops.lowered.fused import Fused
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.shape import DimShuffle
from ...program.accounts import Term, of_calls
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.planners.batches import SUMMED, batch_of, batch_strides
from ...program.prepared import Followed, Prepared, run_into
from ...program.program import Array, Lengths, Number, Program, Site, Step
from .spec import DOT, GEMV, GER, PRODUCT

Scalar = Array | Number


def multiplication(p: Planner, node: Apply) -> Prepared:
    """Return the call of `Dot` or `Dot22` of matrices, of `Dot22Scalar` or of `MatMul`."""
    a, b, *scalar = p.inputs_of(node)
    p.guard("equal", a.lengths[-1], b.lengths[-2], failure=Outcome.LENGTHS, axis=SUMMED)
    batch = batch_of(p, node, a, b)
    dtype = node.out.dtype
    return _product(dtype, a, b, batch, scalar[0] if scalar else Number(dtype, 1), Number(dtype, 0), [
        batch_strides(p, x, batch) for x in (a, b)
    ])  # fmt: skip


def _product(
    dtype: str, a: Array, b: Array, batch: Lengths, alpha: Scalar, beta: Scalar, strides: Sequence[Lengths]
) -> Prepared:
    """Return the call of alpha * a @ b + beta * the result."""
    m, k, n = a.lengths[-2], a.lengths[-1], b.lengths[-1]
    fields = {
        "batch": batch, "m": m, "n": n, "k": k, "alpha": alpha, "a": a, "a_strides": strides[0], "b": b,
        "b_strides": strides[1], "beta": beta,
    }  # fmt: skip
    return Prepared(PRODUCT, dtype, (*batch, m, n), fields)


def plan_dot(p: Planner, node: Apply) -> None:
    """Plan `Dot` or `Dot22` by the ranks of the operands: of vectors, of a matrix and a vector, of matrices."""
    a, b = p.inputs_of(node)
    p.guard("equal", a.lengths[-1], b.lengths[0], failure=Outcome.LENGTHS, axis=SUMMED)
    if node.out.dtype not in BLAS_DTYPES:
        p.expand(node, [sum_of_products(node, *_loops_of_dot(*node.inputs))])
        return
    result = p.result(node.out, a.lengths[:-1] + b.lengths[1:])
    one, zero = Number(result.dtype, 1), Number(result.dtype, 0)
    if len(a.lengths) == len(b.lengths) == 1:
        p.run(
            DOT, result.dtype, n=a.lengths[0], x=a, x_step=a.strides[0], y=b, y_step=b.strides[0], result=result,
            fallible=_copies(p, a, b),
        )  # fmt: skip
    elif len(a.lengths) == 2 and len(b.lengths) == 2:
        _gemm(p, one, a, b, zero, result)
    elif len(a.lengths) == 2:
        _gemv(p, one, a, b, zero, result)
    else:
        _gemv(p, one, transposed(b), a, zero, result)


def plan_matmul(p: Planner, node: Apply) -> None:
    """Plan `MatMul`: one call for all matrices."""
    a, b = p.inputs_of(node)
    p.guard("equal", a.lengths[-1], b.lengths[-2], failure=Outcome.LENGTHS, axis=SUMMED)
    if node.out.dtype not in BLAS_DTYPES:
        p.expand(node, [sum_of_products(node, *_loops_of_matmul(*node.inputs))])
        return
    run_into(p, multiplication(p, node), node.out)


def plan_dot22_scalar(p: Planner, node: Apply) -> None:
    run_into(p, multiplication(p, node), node.out)


def plan_gemm(p: Planner, node: Apply) -> None:
    z, alpha, x, y, beta = p.inputs_of(node)
    p.guard("equal", x.lengths[1], y.lengths[0], failure=Outcome.LENGTHS, axis=SUMMED)
    _gemm(p, alpha, x, y, beta, _target(p, node, z, (x.lengths[0], y.lengths[1])))


def plan_gemv(p: Planner, node: Apply) -> None:
    y, alpha, a, x, beta = p.inputs_of(node)
    p.guard("equal", a.lengths[1], x.lengths[0], failure=Outcome.LENGTHS, axis=SUMMED)
    _gemv(p, alpha, a, x, beta, _target(p, node, y, a.lengths[:1]))


def plan_ger(p: Planner, node: Apply) -> None:
    a, alpha, x, y = p.inputs_of(node)
    target = _target(p, node, a, x.lengths + y.lengths)
    m, n = target.lengths
    p.run(
        GER, target.dtype, m=m, n=n, alpha=alpha, x=x, x_step=x.strides[0], y=y, y_step=y.strides[0], a=target,
        fallible=_copies(p, alpha, x, y),
    )  # fmt: skip


def _target(p: Planner, node: Apply, z: Array, product: Lengths) -> Array:
    """Return the matrix to add to, of the product's shape: `z` itself if it may be overwritten, else a copy."""
    for axis, (have, want) in enumerate(zip(z.lengths, product, strict=True)):
        p.guard("equal", have, want, failure=Outcome.LENGTHS, axis=axis)
    return p.modifiable(node)


def _gemm(p: Planner, alpha: Scalar, a: Array, b: Array, beta: Scalar, y: Array) -> None:
    _product(y.dtype, a, b, (), alpha, beta, (a.strides, b.strides)).run(p, y)


def _gemv(p: Planner, alpha: Scalar, a: Array, x: Array, beta: Scalar, y: Array) -> None:
    m, n = a.lengths
    p.run(
        GEMV, y.dtype, m=m, n=n, alpha=alpha, a=a, a_strides=a.strides, x=x, x_step=x.strides[0], beta=beta, y=y,
        fallible=_copies(p, alpha, a, x, beta),
    )  # fmt: skip


def _copies(p: Planner, *operands: Scalar) -> bool:
    """Whether an operand may have to be copied, so that memory may run out."""
    return not all(p.is_blas_ready(x) for x in operands if isinstance(x, Array))


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
    Gemm: plan_gemm,
    Gemv: plan_gemv,
    Ger: plan_ger,
}
FOLLOWED = dict.fromkeys((Dot, Dot22, Dot22Scalar, MatMul), Followed(multiplication, any_lengths=False))


def _work(program: Program, site: Site, steps: Sequence[Step]) -> list[Term]:
    """Return the operations of a product: of a call, or of a kernel for a dtype that has none."""
    a, b = (array.lengths for array in site.operands[:2])
    batch = max(a[:-2], b[:-2], key=len)
    return of_calls(program, site, steps) or [(2, (*batch, *a[-2:], *(b[-1:] if len(b) > 1 else ())), 1)]


WORK = {Dot: _work, MatMul: _work}
