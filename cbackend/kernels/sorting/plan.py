"""Sorts, selections, searches, nonzero and distinct elements: calls of the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....graph import Apply, Variable
from ....ops.networks.suppression import NonMaxSuppression
from ....ops.reductions.sorting import (
    ArgSort,
    Nonzero,
    OrderStatistics,
    SearchSorted,
    Sort,
    Sorting,
    Unique,
    UniqueParts,
)
from ....ops.reductions.topk import TopK
from ....ops.shapes.joining import JoinedRanges, RepeatedPositions
from ....ops.shapes.scalar_masks import WholeIf
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.program import Array, Lengths, Quantity
from .. import kind_of
from ..memory.spec import IN_BOUNDS
from .spec import (
    ARGSORT,
    COUNT_DISTINCT,
    COUNT_NONZERO,
    COUNT_REPEATED,
    DISTINCT,
    NONZERO,
    REPEATED,
    SEARCHSORTED,
    SELECT,
    SORT,
    SUPPRESS,
    TOPK,
)


def _last(values: Lengths, axis: int) -> Lengths:
    """Return lengths or strides with that of an axis behind the others."""
    return (*values[:axis], *values[axis + 1 :], values[axis])


def _along(x: Array, axis: int) -> dict[str, Any]:
    """Return the fields of an array that is read along an axis."""
    *others, n = _last(x.lengths, axis)
    return {"kind": kind_of(x), "batch": tuple(others), "n": n, "x": x, "x_strides": _last(x.strides, axis)}


def plan_sort(p: Planner, node: Apply) -> None:
    op, x = node.op, p.arrays[node.inputs[0]]
    assert isinstance(op, Sorting)
    y = p.result(node.out, x.lengths)
    p.run(SORT if isinstance(op, Sort) else ARGSORT, **_along(x, op.axis), y=y, y_strides=_last(y.strides, op.axis))


def plan_select(p: Planner, node: Apply) -> None:
    x, places = p.inputs_of(node)
    places, count = p.packed(places), places.lengths[0]
    last = len(x.lengths) - 1
    p.run(IN_BOUNDS, others=0, n=(count,), indices=places, s=(1,), length=x.lengths[-1], axis=last)
    y = p.result(node.out, (*x.lengths[:-1], count))
    p.run(SELECT, **_along(x, last), count=count, places=places, y=y)


def plan_topk(p: Planner, node: Apply) -> None:
    op, x, k = node.op, p.arrays[node.inputs[0]], p.read(node.inputs[1])
    assert isinstance(op, TopK)
    n = x.lengths[-1]
    p.guard("not_negative", k, failure=Outcome.PROMISED)
    p.guard("reaches", n, k, failure=Outcome.PROMISED)
    p.needed.update(node.outputs)  # both are written, whichever is read
    values, positions = (p.result(output, (*x.lengths[:-1], k)) for output in node.outputs)
    p.run(TOPK, **_along(x, len(x.lengths) - 1), k=k, largest=int(op.largest), values=values, positions=positions)


def plan_searchsorted(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, SearchSorted)
    a, v = (p.packed(x) for x in p.inputs_of(node))
    for axis in range(op.examples):
        p.guard("equal", a.lengths[axis], v.lengths[axis], failure=Outcome.LENGTHS, axis=axis)
    y = p.result(node.out, v.lengths)
    p.run(
        SEARCHSORTED, kind=kind_of(a), examples=p.product(v.lengths[: op.examples]), n=a.lengths[-1],
        m=p.product(v.lengths[op.examples :]), right=int(op.side == "right"), a=a, v=v, y=y,
    )  # fmt: skip


def plan_nonzero(p: Planner, node: Apply) -> None:
    x = p.packed(p.arrays[node.inputs[0]])
    for axis, wanted in enumerate(node.inputs[1:]):
        _check_mask(p, x.lengths[axis], p.read(wanted), axis)
    found = p.on_stack("int64", ())
    p.run(COUNT_NONZERO, kind=kind_of(x), n=p.product(x.lengths), x=x, count=found)
    count = p.load(found)
    for axis, output in enumerate(node.outputs):
        inner, own = p.product(x.lengths[axis + 1 :]), x.lengths[axis] if axis else 0
        y = p.result(output, (count,))
        p.run(NONZERO, kind=kind_of(x), inner=inner, axis=own, x=x, count=count, y=y)


def _check_mask(p: Planner, have: Quantity, want: Quantity, axis: int) -> None:
    """Plan the check that a mask is as long as the axis that it selects from, or empty."""
    wrong = p.let("differ", p.product((have, p.let("differ", have, want))), 0)
    p.guard("holds", p.let("differ", wrong, 1), have, want, failure=Outcome.PROMISED, axis=axis)


def plan_unique(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, Unique)
    _, *more = node.outputs
    asked = [op.index, op.inverse, op.counts]
    outputs = iter(more)
    _plan_distinct(p, node, [next(outputs) if wanted else None for wanted in asked], equal_nan=True)


def plan_unique_parts(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, UniqueParts)
    _plan_distinct(p, node, node.outputs[1:], op.equal_nan)


def _plan_distinct(p: Planner, node: Apply, more: Sequence[Variable | None], equal_nan: bool) -> None:
    """Plan the distinct elements of a vector; `more`: the index, the inverse and the counts, None if not wanted."""
    x = p.packed(p.arrays[node.inputs[0]])
    (n,) = x.lengths
    wanted = [output is not None for output in more]
    ordered = p.fresh("int64" if any(wanted) else x.dtype, (n,))
    p.run(ARGSORT if any(wanted) else SORT, **_along(x, 0), y=ordered, y_strides=(1,))
    order = ordered if any(wanted) else None
    read = x if order is not None else ordered
    among: dict[str, Any] = {"kind": kind_of(x), "n": n, "equal_nan": int(equal_nan), "x": read}
    found = p.on_stack("int64", ())
    p.run(COUNT_DISTINCT, **among, order=order, count=found)
    count = p.load(found)
    p.needed.update(node.outputs)
    values = p.result(node.outputs[0], (count,))
    lengths: list[Quantity] = [count, n, count]
    index, inverse, counts = (
        None if output is None else p.result(output, (length,)) for output, length in zip(more, lengths, strict=True)
    )
    p.run(DISTINCT, **among, order=order, values=values, index=index, inverse=inverse, counts=counts)


def plan_suppression(p: Planner, node: Apply) -> None:
    op, most = node.op, p.read(node.inputs[2])
    assert isinstance(op, NonMaxSuppression)
    boxes, scores, overlap, least = (p.packed(p.arrays[node.inputs[k]]) for k in (0, 1, 3, 4))
    batches, classes, n = scores.lengths
    for axis, want in enumerate((batches, n, 4)):
        p.guard("equal", boxes.lengths[axis], want, failure=Outcome.PROMISED, axis=axis)
    limit = p.let("minimum", p.let("maximum", most, 0), n)
    found, count = p.fresh("int64", (batches, classes, limit, 3)), p.on_stack("int64", ())
    p.run(
        SUPPRESS, wide=int(boxes.dtype == "float64"), centred=int(op.centred), batches=batches, classes=classes, n=n,
        limit=limit, boxes=boxes, scores=scores, overlap=overlap, least=least, found=found, count=count,
    )  # fmt: skip
    rows: Lengths = (p.load(count), 3)
    p.copy(p.result(node.out, rows), p.view(found, rows, (3, 1), dense=True))


def plan_repeated_positions(p: Planner, node: Apply) -> None:
    counts, found = p.packed(p.arrays[node.inputs[0]]), p.on_stack("int64", ())
    (n,) = counts.lengths
    narrow, starts = int(counts.dtype == "int32"), None
    if len(node.inputs) == 2:
        starts = p.packed(p.arrays[node.inputs[1]])
        p.guard("equal", n, starts.lengths[0], failure=Outcome.LENGTHS)
    p.run(COUNT_REPEATED, narrow=narrow, n=n, counts=counts, total=found)
    total = p.load(found)
    p.guard("not_negative", total, failure=Outcome.PROMISED)
    p.run(REPEATED, narrow=narrow, n=n, counts=counts, starts=starts, y=p.result(node.out, (total,)))


def plan_whole_if(p: Planner, node: Apply) -> None:
    x, times = p.arrays[node.inputs[0]], p.read(node.inputs[1])
    lengths: Lengths = (times, *x.lengths)
    p.copy(p.result(node.out, lengths), p.view(x, lengths, (0, *x.strides)))


PLANNERS = {
    RepeatedPositions: plan_repeated_positions,
    JoinedRanges: plan_repeated_positions,
    WholeIf: plan_whole_if,
    NonMaxSuppression: plan_suppression,
    Sort: plan_sort,
    ArgSort: plan_sort,
    OrderStatistics: plan_select,
    TopK: plan_topk,
    SearchSorted: plan_searchsorted,
    Nonzero: plan_nonzero,
    Unique: plan_unique,
    UniqueParts: plan_unique_parts,
}
CONDITIONS = {UniqueParts: lambda node: node.inputs[0].ndim == 1}
"""Parts of several elements are compared by NumPy."""
