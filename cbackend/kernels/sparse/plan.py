"""Products with a matrix in compressed rows: one call of the runtime."""

from __future__ import annotations

from ....graph import Apply
from ....ops.sparse.rows import SparseAcross, SparseRows
from ...program.outcome import Outcome
from ...program.planner import Planner
from .spec import SPARSE_ACROSS, SPARSE_ROWS


def plan_sparse_rows(p: Planner, node: Apply) -> None:
    data, indices, indptr, x = (p.packed(array) for array in p.inputs_of(node))
    p.guard("equal", data.lengths[0], indices.lengths[0], failure=Outcome.LENGTHS)
    m = p.sum((indptr.lengths[0], -1))
    columns = x.lengths[1:]
    result = p.result(node.out, (m, *columns))
    p.run(
        SPARSE_ROWS, result.dtype, m=m, k=x.lengths[0], n=columns[0] if columns else 1, elements=data.lengths[0],
        data=data, indices=indices, indptr=indptr, x=x, y=result,
    )  # fmt: skip


def plan_sparse_across(p: Planner, node: Apply) -> None:
    data, indices, indptr, x = (p.packed(p.arrays[v]) for v in node.inputs[:4])
    p.guard("equal", data.lengths[0], indices.lengths[0], failure=Outcome.LENGTHS)
    (k,) = p.lengths(node.inputs[4:])
    m, columns = x.lengths[0], x.lengths[1:]
    p.guard("equal", m, p.sum((indptr.lengths[0], -1)), failure=Outcome.LENGTHS)
    result = p.result(node.out, (k, *columns))
    p.run(
        SPARSE_ACROSS, result.dtype, m=m, k=k, n=columns[0] if columns else 1, elements=data.lengths[0], data=data,
        indices=indices, indptr=indptr, x=x, y=result,
    )  # fmt: skip


PLANNERS = {SparseRows: plan_sparse_rows, SparseAcross: plan_sparse_across}
