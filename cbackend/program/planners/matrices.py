"""Diagonals, triangles and promises about matrices: views where possible, else one kernel over positions."""

from __future__ import annotations

from ....graph import Apply, FunctionGraph, TensorType, Variable
from ....ops.core.tensor import TensorVariable, constant
from ....ops.elementwise.records import eq, ge, le, sub, switch
from ....ops.linalg.assumptions import Assume
from ....ops.lowered.fused import Fused
from ....ops.networks.phases import ByPhase
from ....ops.shapes.diagonals import Diagonal, DiagonalMatrix, Triangle
from ....ops.shapes.shape import DimShuffle
from ...kernels.memory.spec import IOTA
from ..planner import Planner
from ..program import Quantity
from .views import slice_of


def plan_assume(p: Planner, node: Apply) -> None:
    """Plan the first operand itself: promises are for rules, and the value of the other phase is for `ag.freeze`."""
    x = p.arrays[node.inputs[0]]
    p.put(node.out, p.view(x, x.lengths, x.strides, dense=x.dense))


def plan_diagonal(p: Planner, node: Apply) -> None:
    """Plan a view whose last axis steps along rows and columns at once; its length is the smaller of theirs."""
    x = p.arrays[node.inputs[0]]
    n, m = x.lengths[-2:]
    length = n if n == m else slice_of(p, n, None, m, None, len(x.lengths) - 2)[1]
    lengths = (*x.lengths[:-2], length)
    p.keep_promises(node.out, lengths)
    p.put(node.out, p.view(x, lengths, (*x.strides[:-2], p.sum(x.strides[-2:]))))


def plan_diagonal_matrix(p: Planner, node: Apply) -> None:
    """Plan v where row and column are equal, else 0."""
    (v,) = node.inputs
    inner = TensorVariable(v.type)
    rank = v.ndim - 1
    row, column = _positions(2)
    here = eq(DimShuffle((0, "x"))(row), DimShuffle(("x", 0))(column))
    columns = DimShuffle((*range(rank), "x", rank))(inner)
    group = FunctionGraph([inner, row, column], [switch(here, columns, constant(0, v.dtype))])
    along = _counted(p, p.arrays[v].lengths[-1])
    p.expand(node, [Fused(group)(v, along, along)])


def plan_triangle(p: Planner, node: Apply) -> None:
    """Plan x where the column is at most k right of the row (for the upper triangle: at least k), else 0."""
    x, k = node.inputs
    inner, offset = TensorVariable(x.type), TensorVariable(k.type)
    row, column = _positions(2)
    distance = sub(DimShuffle(("x", 0))(column), DimShuffle((0, "x"))(row))
    inside = (le if node.op.lower else ge)(distance, offset)  # type: ignore[attr-defined]
    group = FunctionGraph([inner, offset, row, column], [switch(inside, inner, constant(0, x.dtype))])
    rows, columns = (_counted(p, n) for n in p.arrays[x].lengths[-2:])
    p.expand(node, [Fused(group)(x, k, rows, columns)])


def _positions(count: int) -> list[Variable]:
    return [TensorVariable(TensorType("int64", (None,))) for _ in range(count)]


def _counted(p: Planner, length: Quantity) -> Variable:
    """Return the vector 0, 1, 2, ... of a length."""
    (numbers,) = _positions(1)
    array = p.put(numbers, p.fresh("int64", (length,)))
    p.run(IOTA, n=length, y=array)
    return numbers


PLANNERS = {
    Assume: plan_assume,
    ByPhase: plan_assume,
    Diagonal: plan_diagonal,
    DiagonalMatrix: plan_diagonal_matrix,
    Triangle: plan_triangle,
}
