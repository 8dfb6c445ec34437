"""Products with packed weights: one call for all formats, perhaps with an epilogue."""

from __future__ import annotations

from typing import Any

from ....graph import Apply
from ....ops.lowered.bfloat_dot import BfloatDot
from ....ops.lowered.formats import Format, PackedProduct
from ....ops.lowered.formats.bfloats import Bfloats
from ....targets.costs import ITEMS
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.planners.batches import SUMMED
from ...program.prepared import Followed, Prepared, run_into
from ...program.program import Array, Quantity
from .spec import of_format


def packed_product(p: Planner, node: Apply) -> Prepared:
    """Return the call of a product with packed weights."""
    assert isinstance(node.op, PackedProduct)
    form, (x, w, *others) = node.op.format, p.inputs_of(node)
    depth, outputs = form.matrix
    second, third = (*map(p.packed, others), None, None)[:2]
    fields = _rows(p, form, x, depth) | {
        "outputs": outputs, "each": p.product(w.lengths) if form.multiplies_stored else depth * outputs,
        "block": form.block_length, "w": p.packed(w), "second": second, "third": third, "w_item": ITEMS[w.dtype],
        "w_half": int(w.dtype == "float16"),
    }  # fmt: skip
    dtype = form.result or x.dtype
    return Prepared(of_format(form.kernel), dtype, (*x.lengths[:-1], outputs), fields, form.fallible)


def bfloat_dot(p: Planner, node: Apply) -> Prepared:
    """Return the call of `BfloatDot`, whose C packs the matrix."""
    x, w = p.inputs_of(node)
    depth, outputs = w.lengths
    fields = _rows(p, Bfloats, x, depth) | {
        "outputs": outputs, "each": p.product(w.lengths), "block": 0, "w": w, "w_item": ITEMS[w.dtype],
        "w_half": 0, "w_strides": w.strides,
    }  # fmt: skip
    return Prepared(of_format(Bfloats.kernel), Bfloats.result, (*x.lengths[:-1], outputs), fields)


def _rows(p: Planner, form: Format | type[Format], x: Array, depth: Quantity) -> dict[str, Any]:
    """Return the fields of rows: a matrix, or C-contiguous arrays of more axes."""
    p.guard("equal", x.lengths[-1], depth, failure=Outcome.LENGTHS, axis=SUMMED)
    is_matrix = len(x.lengths) == 2
    rows = x if is_matrix and form.strided else p.packed(x)
    return {
        "rows": p.product(x.lengths[:-1]), "depth": depth, "x": rows, "x_item": ITEMS[x.dtype],
        "x_strides": rows.strides if is_matrix else (depth, 1), "spare": 0,
    }  # fmt: skip


def plan_packed_product(p: Planner, node: Apply) -> None:
    run_into(p, packed_product(p, node), node.out)


def plan_bfloat_dot(p: Planner, node: Apply) -> None:
    run_into(p, bfloat_dot(p, node), node.out)


def _has_matrix(node: Apply) -> bool:
    """Whether the result is a matrix, whose rows and columns the C hands to an epilogue."""
    return node.out.ndim == 2


PLANNERS = {PackedProduct: plan_packed_product, BfloatDot: plan_bfloat_dot}
FOLLOWED = {
    PackedProduct: Followed(packed_product, takes=_has_matrix, any_lengths=False),
    BfloatDot: Followed(bfloat_dot, takes=_has_matrix, any_lengths=False),
}
