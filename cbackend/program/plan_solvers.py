"""Systems of equations, inverses, Cholesky factors and determinants: calls of the runtime's LAPACK over a batch."""

from __future__ import annotations

from ...graph import Apply
from ...graph.types import numpy_dtype
from ...ops.elementwise.records import Cast, exp, mul
from ...ops.linalg.determinants import Det, SlogDet
from ...ops.linalg.factorizations import Cholesky
from ...ops.linalg.matrix_ops import adjoint
from ...ops.linalg.solving import Inverse, Solve, SolveTriangular
from .outcome import Outcome
from .plan_blas import batch_strides
from .planner import Planner
from .program import Argument, Array, Lengths, Number, Solvers, Vector


def plan_solve(p: Planner, node: Apply) -> None:
    a, b = node.inputs
    if node.op.assume == "positive_definite":  # type: ignore[attr-defined]
        factor = Cholesky()(a)
        upper = SolveTriangular(lower=False)
        p.expand(node, [upper(adjoint(factor), SolveTriangular(lower=True)(factor, b))])
        return
    batch, n, k = _system(p, node)
    left, right = p.arrays[a], p.arrays[b]
    result = p.result(node.out, (*batch, n, k))
    strides = [Vector(batch_strides(p, x, batch)) for x in (left, right)]
    arguments = (*_batch(batch), n, k, left, strides[0], right, strides[1], Number(result.dtype, 1), result)
    _call(p, "solve", (result,), arguments, (left, right))


def plan_solve_triangular(p: Planner, node: Apply) -> None:
    batch, n, k = _system(p, node)
    left, right = p.inputs_of(node)
    result = p.result(node.out, (*batch, n, k))
    strides = [Vector(batch_strides(p, x, batch)) for x in (left, right)]
    kind = (int(not node.op.lower), int(node.op.unit))  # type: ignore[attr-defined]
    arguments = (*kind, *_batch(batch), n, k, left, strides[0], right, strides[1], result)
    _call(p, "solve_triangular", (result,), arguments, (left, right))


def plan_inverse(p: Planner, node: Apply) -> None:
    batch, n = _square(p, node)
    (a,) = p.inputs_of(node)
    result = p.result(node.out, a.lengths)
    strides, one = Vector(a.strides), Number(result.dtype, 1)
    _call(p, "solve", (result,), (*_batch(batch), n, n, a, strides, 0, strides, one, result), (a,))


def plan_cholesky(p: Planner, node: Apply) -> None:
    batch, n = _square(p, node)
    (a,) = p.inputs_of(node)
    result = p.result(node.out, a.lengths)
    _call(p, "cholesky", (result,), (*_batch(batch), n, a, Vector(a.strides), result), (a,))


def plan_slogdet(p: Planner, node: Apply) -> None:
    batch, n = _square(p, node)
    (a,) = p.inputs_of(node)
    p.needed.update(node.outputs)  # both are written, whichever is read
    sign, logarithm = (p.result(o, batch) for o in node.outputs)
    part = numpy_dtype(logarithm.dtype).itemsize
    arguments = (part, *_batch(batch), n, a, Vector(a.strides), sign, logarithm)
    _call(p, "slogdet", (sign, logarithm), arguments, (a,))


def plan_det(p: Planner, node: Apply) -> None:
    """Plan sign * exp(logarithm), as NumPy computes it."""
    sign, logarithm = SlogDet()(*node.inputs)
    p.expand(node, [mul(sign, Cast(node.out.dtype)(exp(logarithm)))])


def _system(p: Planner, node: Apply) -> tuple[Lengths, int | str, int | str]:
    """Return the joint batch, the number of unknowns and the number of right sides."""
    _, n = _square(p, node)
    a, b = p.inputs_of(node)
    p.guard("equal", n, b.lengths[-2], failure=Outcome.LENGTHS, axis=len(b.lengths) - 2)
    rank = node.out.ndim - 2
    joint = tuple(
        p.join([x.lengths[k - rank - 2] for x in (a, b) if rank - k <= len(x.lengths) - 2], k) for k in range(rank)
    )
    return joint, n, b.lengths[-1]


def _square(p: Planner, node: Apply) -> tuple[Lengths, int | str]:
    """Return the batch and the size of the matrices of the first input, which must be square."""
    a = p.arrays[node.inputs[0]]
    p.guard("equal", a.lengths[-2], a.lengths[-1], failure=Outcome.LENGTHS, axis=len(a.lengths) - 1)
    return a.lengths[:-2], a.lengths[-1]


def _batch(batch: Lengths) -> tuple[Argument, ...]:
    return len(batch), Vector(batch)


def _call(
    p: Planner, function: str, results: tuple[Array, ...], arguments: tuple[Argument, ...], reads: tuple[Array, ...]
) -> None:
    dtype = results[0].dtype
    p.solvers[dtype] = None
    p.call(function, (Solvers(dtype), numpy_dtype(dtype).itemsize, *arguments), results, reads, fallible=True)


PLANNERS = {
    Solve: plan_solve,
    SolveTriangular: plan_solve_triangular,
    Inverse: plan_inverse,
    Cholesky: plan_cholesky,
    SlogDet: plan_slogdet,
    Det: plan_det,
}
