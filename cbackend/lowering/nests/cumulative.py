"""Loop nests of running folds: element by element, in the dtype of the result, as in NumPy.

Along the last loop each row has one accumulator, which no vector can hold; along another one all columns of a tile have
theirs, side by side.
"""

from __future__ import annotations

from ....graph import Apply
from ....graph.types import numpy_dtype
from ....ops.reductions.cumulative import Cumulative
from ....targets.current import current
from ...ir import loops as ir
from ..column_tiles import ColumnTiles
from ..group import Group, group_along
from ..nest import Nest, Operands, specialized
from .reduce import nest_along


def cumulative_group(node: Apply) -> Group:
    """Return the group of a running fold, whose axis has a loop even if its length is known to be 1."""
    assert isinstance(node.op, Cumulative)
    return group_along(node, (node.op.axis,), None, (), node.out.dtype)


def cumulative_nest(node: Apply, group: Group, operands: Operands) -> tuple[Nest, frozenset[int], ir.Body]:
    """Return the nest of a running fold, the loop of its axis, and its statements."""
    assert isinstance(node.op, Cumulative)
    nest, along, value = nest_along(group, node.op.axis, operands)
    element = nest.cast(value, node.out.dtype)
    if nest.order[-1] in along:
        body = nest.looped(_row(nest, node.op, element), len(nest.order) - 1)
    else:
        body = nest.looped(_columns(nest, node.op, element), len(nest.order) - 2)
    return nest, along, (*nest.at[0], *body)


def _row(nest: Nest, op: Cumulative, element: ir.Expr) -> ir.Body:
    total = ir.Local(element.dtype, "total")
    added = _added(nest, op, total, element, nest.order[-1])
    stored = nest.store(0, total)
    general = nest.inner_loop((ir.Assign(total.name, added), stored), simd=False)
    return ir.Var(total.name, ir.Const(element.dtype, op.unit(element.dtype))), specialized(general)


def _columns(nest: Nest, op: Cumulative, element: ir.Expr) -> ir.Body:
    row, tiles = nest.order[-2], ColumnTiles(nest.order[-1], current().limits.columns.elements)
    added = _added(nest, op, tiles.element("total", element.dtype), element, row)
    sums = (tiles.set("total", added), nest.store(0, added))
    tile = (
        tiles.declared("total", element.dtype),
        tiles.along(tiles.set("total", ir.Const(element.dtype, op.unit(element.dtype)))),
        ir.loop(row, (*nest.at[-2], specialized(tiles.within(nest.inner_loop(sums))))),
    )
    return (tiles.whole(tile),)


def _added(nest: Nest, op: Cumulative, total: ir.Expr, element: ir.Expr, along: int) -> ir.Expr:
    """Return the next total.  The first complex total is the number itself, even with infinite parts."""
    here = len(nest.order)
    wide = "float32" if element.dtype == "float16" else element.dtype
    operands = [v if v.dtype == wide else ir.ScalarOp("cast", wide, (v,)) for v in (total, element)]
    named = [nest.let_at(here, v) if isinstance(v, ir.ScalarOp) else v for v in operands]
    value: ir.Expr = nest.let_at(here, _extreme(op, *named) or ir.ScalarOp(op.scalar.name, wide, tuple(named)))
    if wide != element.dtype:
        value = nest.let_at(here, ir.ScalarOp("cast", element.dtype, (value,)))
    if numpy_dtype(element.dtype).kind != "c":
        return value
    return nest.let_at(
        here, ir.ScalarOp("switch", element.dtype, (ir.equal(ir.index(f"i{along}"), ir.ZERO), element, value))
    )


def _extreme(op: Cumulative, total: ir.Expr, element: ir.Expr) -> ir.ScalarOp | None:
    """Return the greater or lesser float, or a NaN: the next total waits for one comparison with the one before."""
    sign = {"maximum": "gt", "minimum": "lt"}.get(op.scalar.name)
    if sign is None or numpy_dtype(element.dtype).kind != "f":
        return None
    further = ir.ScalarOp(sign, "bool", (element, total))
    number = ir.ScalarOp("switch", element.dtype, (further, element, total))
    return ir.ScalarOp("switch", element.dtype, (ir.ScalarOp("ne", "bool", (element, element)), element, number))
