"""Products of weights of 4 bits, of bfloat16 and of sparse matrices: runtime calls."""

from __future__ import annotations

from ...graph import Apply
from ...ops.lowered.bfloats import BfloatDot, PackedBfloatDot
from ...ops.lowered.nibbles import NibbleProduct
from ...ops.lowered.sparse_columns import SparseColumns
from ...ops.lowered.sparse_dot import SparseDot
from ...ops.lowered.two_of_four import TwoOfFour
from ...targets.costs import ITEMS
from .outcome import Outcome
from .plan_blas import SUMMED
from .planner import Planner
from .program import Table, Vector

TABLE = "int8"
"""The dtype under which the runtime has them."""


def plan_nibble_product(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, NibbleProduct)
    x, w, scale, *zero = map(p.packed, p.inputs_of(node))
    p.guard("equal", x.lengths[-1], op.depth, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*x.lengths[:-1], op.outputs))
    p.products[TABLE] = None
    arguments = (
        Table(TABLE), p.product(x.lengths[:-1]), op.outputs, op.depth, op.block, op.blocks, x, w, scale,
        zero[0] if zero else 0, result,
    )  # fmt: skip
    p.call("multiply_nibbles", arguments, (result,), (x, w, scale, *zero), fallible=True)


def plan_sparse_dot(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, SparseDot)
    x, w, starts, places = map(p.packed, p.inputs_of(node))
    p.guard("equal", x.lengths[-1], op.rows, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*x.lengths[:-1], op.columns))
    p.products[TABLE] = None
    numbers = (p.product(x.lengths[:-1]), op.columns, op.rows, ITEMS[node.out.dtype])
    arguments = (Table(TABLE), *numbers, x, w, starts, places, result)
    p.call("multiply_sparse", arguments, (result,), (x, w, starts, places), fallible=True)


def plan_sparse_columns(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, SparseColumns)
    x, *others = map(p.packed, p.inputs_of(node))
    p.guard("equal", x.lengths[-1], op.rows, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*x.lengths[:-1], op.columns))
    p.products[TABLE] = None
    arguments = (Table(TABLE), p.product(x.lengths[:-1]), op.columns, op.rows, x, *others, result)
    p.call("multiply_columns", arguments, (result,), (x, *others), fallible=True)


def plan_two_of_four(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, TwoOfFour)
    x, w, places = map(p.packed, p.inputs_of(node))
    p.guard("equal", x.lengths[-1], op.rows, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*x.lengths[:-1], op.columns))
    p.products[TABLE] = None
    arguments = (Table(TABLE), p.product(x.lengths[:-1]), op.columns, op.rows, x, w, places, result)
    p.call("multiply_two", arguments, (result,), (x, w, places), fallible=True)


def plan_bfloat_dot(p: Planner, node: Apply) -> None:
    """One call for all rows."""
    op = node.op
    assert isinstance(op, (BfloatDot, PackedBfloatDot))
    a, b = p.inputs_of(node)
    rows, columns = (op.rows, op.columns) if isinstance(op, PackedBfloatDot) else b.lengths
    p.guard("equal", a.lengths[-1], rows, failure=Outcome.LENGTHS, axis=SUMMED)
    result = p.result(node.out, (*a.lengths[:-1], columns))
    a = a if len(a.lengths) == 2 else p.packed(a)
    in_panels = isinstance(op, PackedBfloatDot)
    b = p.packed(b) if in_panels else b
    steps = Vector(a.strides if len(a.lengths) == 2 else (rows, 1)), Vector((0, 0) if in_panels else b.strides)
    bits = tuple(int(x.dtype == "uint16") for x in (a, b))
    p.products[TABLE] = None
    numbers = (p.product(a.lengths[:-1]), columns, rows, *bits, int(in_panels))
    arguments = (Table(TABLE), *numbers, a, steps[0], b, steps[1], result)
    p.call("multiply_bfloats", arguments, (result,), (a, b), fallible=True)


PLANNERS = {
    NibbleProduct: plan_nibble_product,
    SparseDot: plan_sparse_dot,
    SparseColumns: plan_sparse_columns,
    TwoOfFour: plan_two_of_four,
    BfloatDot: plan_bfloat_dot,
    PackedBfloatDot: plan_bfloat_dot,
}
