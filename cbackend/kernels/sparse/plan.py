"""Products with a matrix in compressed rows: one call of the runtime."""

from __future__ import annotations

from ....graph import Apply
from ....ops.sparse.rows import SparseRows
from ...program.outcome import Outcome
from ...program.planner import Planner
from .spec import SPARSE_ROWS


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


PLANNERS = {SparseRows: plan_sparse_rows}
