"""Products of weights of 4 bits, of bfloat16 and of sparse matrices: one call each, for all rows."""

from __future__ import annotations

from typing import Any

from ....graph import Apply, Variable
from ....ops.lowered.bfloats import BfloatDot, PackedBfloatDot
from ....ops.lowered.nibbles import NibbleProduct
from ....ops.lowered.sparse_columns import SparseColumns
from ....ops.lowered.sparse_dot import SparseDot
from ....ops.lowered.two_of_four import TwoOfFour
from ....targets.costs import ITEMS
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.planners.batches import SUMMED
from ...program.program import Array
from .spec import BFLOAT_PRODUCT, NIBBLE_PRODUCT, SPARSE_COLUMNS, SPARSE_PRODUCT, TWO_OF_FOUR

TABLE = "int8"
"""The dtype under which the runtime has them."""


def _sizes(p: Planner, out: Variable, x: Array, depth: int, outputs: int) -> dict[str, Any]:
    """Return the fields that all these products share: sizes and the result."""
    p.guard("equal", x.lengths[-1], depth, failure=Outcome.LENGTHS, axis=SUMMED)
    rows = x.lengths[:-1]
    return {"rows": p.product(rows), "outputs": outputs, "depth": depth, "y": p.result(out, (*rows, outputs))}


def plan_nibble_product(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, NibbleProduct)
    x, w, scale, *zero = map(p.packed, p.inputs_of(node))
    sizes = _sizes(p, node.out, x, op.depth, op.outputs)
    zero_points = zero[0] if zero else None
    p.run(NIBBLE_PRODUCT, TABLE, **sizes, block=op.block, blocks=op.blocks, x=x, w=w, scale=scale, zero=zero_points)


def plan_sparse_dot(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, (SparseDot, SparseColumns))
    x, w, starts, places = map(p.packed, p.inputs_of(node))
    spec = SPARSE_PRODUCT if isinstance(op, SparseDot) else SPARSE_COLUMNS
    sizes = _sizes(p, node.out, x, op.rows, op.columns)
    p.run(spec, TABLE, **sizes, item=ITEMS[node.out.dtype], x=x, w=w, starts=starts, places=places)


def plan_two_of_four(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, TwoOfFour)
    x, w, places = map(p.packed, p.inputs_of(node))
    p.run(TWO_OF_FOUR, TABLE, **_sizes(p, node.out, x, op.rows, op.columns), x=x, w=w, places=places)


def plan_bfloat_dot(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, (BfloatDot, PackedBfloatDot))
    a, b = p.inputs_of(node)
    in_panels = isinstance(op, PackedBfloatDot)
    depth, outputs = (op.rows, op.columns) if isinstance(op, PackedBfloatDot) else b.lengths
    p.guard("equal", a.lengths[-1], depth, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*a.lengths[:-1], outputs))
    a = a if len(a.lengths) == 2 else p.packed(a)
    b = p.packed(b) if in_panels else b
    p.run(
        BFLOAT_PRODUCT, TABLE, rows=p.product(a.lengths[:-1]), outputs=outputs, depth=depth,
        a_bits=int(a.dtype == "uint16"), b_bits=int(b.dtype == "uint16"), in_panels=int(in_panels), a=a,
        a_strides=a.strides if len(a.lengths) == 2 else (depth, 1), b=b, b_strides=None if in_panels else b.strides,
        y=result,
    )  # fmt: skip


PLANNERS = {
    NibbleProduct: plan_nibble_product,
    SparseDot: plan_sparse_dot,
    SparseColumns: plan_sparse_dot,
    TwoOfFour: plan_two_of_four,
    BfloatDot: plan_bfloat_dot,
    PackedBfloatDot: plan_bfloat_dot,
}
