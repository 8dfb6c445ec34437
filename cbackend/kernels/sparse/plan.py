"""Products of sparse matrices in compressed rows, and their patterns: calls of the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....graph import Apply
from ....ops.sparse.extremes import SparseExtreme, SparseExtremes
from ....ops.sparse.patterns import SparseOrder, SparsePattern, SparsePlaces, SparseUnion
from ....ops.sparse.rows import SparseAcross, SparseEntries, SparseRows
from ....ops.sparse.values import SparseValues
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.program import Array, Quantity
from .. import kind_of
from .spec import (
    SPARSE_ACROSS,
    SPARSE_ENTRIES,
    SPARSE_EXTREME,
    SPARSE_EXTREMES,
    SPARSE_ORDER,
    SPARSE_PATTERN,
    SPARSE_PLACES,
    SPARSE_ROWS,
    SPARSE_UNION,
    SPARSE_VALUES,
)


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


def plan_sparse_entries(p: Planner, node: Apply) -> None:
    data, rows, columns, x = (p.packed(p.arrays[v]) for v in node.inputs[:4])
    for places in (rows, columns):
        p.guard("equal", data.lengths[0], places.lengths[0], failure=Outcome.LENGTHS)
    (m,) = p.lengths(node.inputs[4:])
    widths = x.lengths[1:]
    result = p.result(node.out, (m, *widths))
    p.run(
        SPARSE_ENTRIES, result.dtype, m=m, k=x.lengths[0], n=widths[0] if widths else 1, elements=data.lengths[0],
        data=data, rows=rows, columns=columns, x=x, y=result,
    )  # fmt: skip


def _two(p: Planner, arrays: Sequence[Array]) -> tuple[Quantity, Quantity, dict[str, Any]]:
    """Return the numbers of rows of two matrices, and the fields of their places: indices and indptr of each."""
    first, starts, second, ends = arrays
    m, k = (p.sum((indptr.lengths[0], -1)) for indptr in (starts, ends))
    for rows in (m, k):
        p.guard("not_negative", rows, failure=Outcome.PROMISED)
    x = {"x_elements": first.lengths[0], "x_indices": first, "x_indptr": starts}
    return m, k, x | {"y_elements": second.lengths[0], "y_indices": second, "y_indptr": ends}


def plan_sparse_pattern(p: Planner, node: Apply) -> None:
    arrays = [p.packed(p.arrays[v]) for v in node.inputs[:4]]
    m, k, places = _two(p, arrays)
    among: dict[str, Any] = {"m": m, "k": k, "n": p.read(node.inputs[4]), **places}
    p.needed.update(node.outputs)  # both are written, whichever is read
    found, indptr = p.on_stack("int64", ()), p.result(node.outputs[1], arrays[1].lengths)
    p.run(SPARSE_PATTERN, **among, indptr=indptr, count=found)
    p.run(SPARSE_PATTERN, **among, indptr=indptr, indices=p.result(node.outputs[0], (p.load(found),)))


def plan_sparse_union(p: Planner, node: Apply) -> None:
    arrays = [p.packed(p.arrays[v]) for v in node.inputs[:4]]
    m, rows, places = _two(p, arrays)
    p.guard("equal", m, rows, failure=Outcome.PROMISED)
    among: dict[str, Any] = {"m": m, "n": p.read(node.inputs[4]), **places}
    p.needed.update(node.outputs)
    found, indptr = p.on_stack("int64", ()), p.result(node.outputs[1], arrays[1].lengths)
    merged = p.fresh("int32", (p.sum((arrays[0].lengths[0], arrays[2].lengths[0])),))
    own, other = (p.result(v, a.lengths) for v, a in zip(node.outputs[2:], arrays[::2], strict=True))
    among |= {"indptr": indptr, "merged": merged, "x_places": own, "y_places": other}
    p.run(SPARSE_UNION, **among, count=found)
    p.run(SPARSE_UNION, **among, indices=p.result(node.outputs[0], (p.load(found),)))


def plan_sparse_places(p: Planner, node: Apply) -> None:
    arrays = [p.packed(p.arrays[v]) for v in node.inputs[:4]]
    m, rows, places = _two(p, arrays)
    p.guard("equal", m, rows, failure=Outcome.PROMISED)
    p.run(SPARSE_PLACES, m=m, n=p.read(node.inputs[4]), **places, places=p.result(node.out, arrays[0].lengths))


def plan_sparse_order(p: Planner, node: Apply) -> None:
    rows, n = p.packed(p.arrays[node.inputs[0]]), p.read(node.inputs[1])
    p.guard("not_negative", n, failure=Outcome.PROMISED)
    p.needed.update(node.outputs)
    order, indptr = p.result(node.outputs[0], rows.lengths), p.result(node.outputs[1], (p.sum((n, 1)),))
    p.run(SPARSE_ORDER, elements=rows.lengths[0], n=n, rows=rows, order=order, indptr=indptr)


def plan_sparse_extremes(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, SparseExtremes)
    data, indices, indptr = (p.packed(p.arrays[v]) for v in node.inputs[:3])
    p.guard("equal", data.lengths[0], indices.lengths[0], failure=Outcome.PROMISED)
    m = p.sum((indptr.lengths[0], -1))
    p.guard("not_negative", m, failure=Outcome.PROMISED)
    p.run(
        SPARSE_EXTREMES, kind=kind_of(data), greatest=int(op.which == "max"), whole=int(op.whole), m=m,
        n=p.read(node.inputs[3]), elements=data.lengths[0], data=data, indices=indices, indptr=indptr,
        y=p.result(node.out, () if op.whole else (m,)),
    )  # fmt: skip


def plan_sparse_extreme(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, SparseExtreme)
    data, rows, columns = (p.packed(p.arrays[v]) for v in node.inputs[:3])
    for positions in (rows, columns):
        p.guard("equal", data.lengths[0], positions.lengths[0], failure=Outcome.PROMISED)
    p.run(
        SPARSE_EXTREME, kind=kind_of(data), greatest=int(op.which == "max"), m=p.read(node.inputs[3]),
        n=p.read(node.inputs[4]), elements=data.lengths[0], data=data, rows=rows, columns=columns,
        y=p.result(node.out, ()),
    )  # fmt: skip


def plan_sparse_values(p: Planner, node: Apply) -> None:
    data, first, starts, other, second, ends, indices, indptr = (p.packed(p.arrays[v]) for v in node.inputs[:8])
    m, k, places = _two(p, (first, starts, second, ends))
    for have, want in ((data, first), (other, second), (indptr, starts)):
        p.guard("equal", have.lengths[0], want.lengths[0], failure=Outcome.PROMISED)
    p.run(
        SPARSE_VALUES, data.dtype, m=m, k=k, n=p.read(node.inputs[8]), x=data, y=other, **places,
        elements=indices.lengths[0], indices=indices, indptr=indptr, values=p.result(node.out, indices.lengths),
    )  # fmt: skip


PLANNERS = {
    SparseRows: plan_sparse_rows,
    SparseAcross: plan_sparse_across,
    SparseEntries: plan_sparse_entries,
    SparsePattern: plan_sparse_pattern,
    SparseUnion: plan_sparse_union,
    SparsePlaces: plan_sparse_places,
    SparseOrder: plan_sparse_order,
    SparseExtremes: plan_sparse_extremes,
    SparseExtreme: plan_sparse_extreme,
    SparseValues: plan_sparse_values,
}
