"""Systems of equations, inverses, Cholesky factors and determinants: calls of the runtime's LAPACK over a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....graph import Apply
from ....ops.elementwise.records import Cast, exp, mul
from ....ops.linalg.determinants import Det, SlogDet
from ....ops.linalg.factorizations import Cholesky, CholeskyGradient
from ....ops.linalg.matrix_ops import adjoint
from ....ops.linalg.solving import Inverse, Solve, SolveTriangular
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.planners.batches import batch_of, batch_strides
from ...program.program import Array
from .spec import CHOLESKY, CHOLESKY_GRADIENT, SLOGDET, SOLVE, SOLVE_TRIANGULAR


def plan_solve(p: Planner, node: Apply) -> None:
    a, b = node.inputs
    if node.op.assume == "positive_definite":  # type: ignore[attr-defined]
        factor = Cholesky()(a)
        upper = SolveTriangular(lower=False)
        p.expand(node, [upper(adjoint(factor), SolveTriangular(lower=True)(factor, b))])
        return
    system = _system(p, node)
    p.run(SOLVE, node.out.dtype, **system, x=_solution(p, node, system))


def plan_solve_triangular(p: Planner, node: Apply) -> None:
    op, system = node.op, _system(p, node)
    assert isinstance(op, SolveTriangular)
    x = _solution(p, node, system)
    p.run(SOLVE_TRIANGULAR, node.out.dtype, upper=int(not op.lower), unit=int(op.unit), **system, x=x)


def plan_inverse(p: Planner, node: Apply) -> None:
    matrices = _square(p, node)
    p.run(SOLVE, node.out.dtype, **matrices, k=matrices["n"], x=_like_a(p, node))


def plan_cholesky(p: Planner, node: Apply) -> None:
    p.run(CHOLESKY, node.out.dtype, **_square(p, node), l=_like_a(p, node))


def plan_cholesky_gradient(p: Planner, node: Apply) -> None:
    n = _square(p, node)["n"]
    factor, g = p.inputs_of(node)
    for axis, (mine, theirs) in enumerate(zip(factor.lengths, g.lengths, strict=True)):
        p.guard("equal", mine, theirs, failure=Outcome.LENGTHS, axis=axis)
    p.run(
        CHOLESKY_GRADIENT, node.out.dtype, batch=factor.lengths[:-2], n=n, l=factor, l_strides=factor.strides, g=g,
        g_strides=g.strides, x=_like_a(p, node),
    )  # fmt: skip


def plan_slogdet(p: Planner, node: Apply) -> None:
    matrices = _square(p, node)
    p.needed.update(node.outputs)  # both are written, whichever is read
    sign, logarithm = (p.result(o, matrices["batch"]) for o in node.outputs)
    p.run(SLOGDET, sign.dtype, **matrices, sign=sign, logarithm=logarithm)


def plan_det(p: Planner, node: Apply) -> None:
    """Plan sign * exp(logarithm), as NumPy computes it."""
    sign, logarithm = SlogDet()(*node.inputs)
    p.expand(node, [mul(sign, Cast(node.out.dtype)(exp(logarithm)))])


def _system(p: Planner, node: Apply) -> dict[str, Any]:
    """Return the fields of matrices and right sides, over their joint batch."""
    n = _square(p, node)["n"]
    a, b = p.inputs_of(node)
    p.guard("equal", n, b.lengths[-2], failure=Outcome.LENGTHS, axis=len(b.lengths) - 2)
    batch = batch_of(p, node, a, b)
    strides = {"a_strides": batch_strides(p, a, batch), "b_strides": batch_strides(p, b, batch)}
    return {"batch": batch, "n": n, "k": b.lengths[-1], "a": a, "b": b, **strides}


def _solution(p: Planner, node: Apply, system: Mapping[str, Any]) -> Array:
    return p.result(node.out, (*system["batch"], system["n"], system["k"]))


def _square(p: Planner, node: Apply) -> dict[str, Any]:
    """Return the fields of the matrices of the first input, which must be square."""
    a = p.arrays[node.inputs[0]]
    p.guard("equal", a.lengths[-2], a.lengths[-1], failure=Outcome.LENGTHS, axis=len(a.lengths) - 1)
    return {"batch": a.lengths[:-2], "n": a.lengths[-1], "a": a, "a_strides": a.strides}


def _like_a(p: Planner, node: Apply) -> Array:
    return p.result(node.out, p.arrays[node.inputs[0]].lengths)


PLANNERS = {
    Solve: plan_solve,
    SolveTriangular: plan_solve_triangular,
    Inverse: plan_inverse,
    Cholesky: plan_cholesky,
    CholeskyGradient: plan_cholesky_gradient,
    SlogDet: plan_slogdet,
    Det: plan_det,
}
