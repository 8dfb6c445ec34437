"""Kernels of the softmax family along an axis other than the last: tiles of columns, read two or three times.

    top = max(column), cut to finite numbers in logsumexp and where a softmax is `literal`
    total = sum(exp(column - top))
    result = exp(column - top) / total   or   column - top - log(total)   or   log(total) + top

All columns of a tile go down the rows together, so that memory is read in long runs.  float16 is computed in float32
and rounded once. Infinities and NaN come out as in the NumPy meaning of the ops (ops/networks/functions.py).
"""

from __future__ import annotations

import numpy as np

from ....graph import Apply
from ....ops.lowered.row_passes import has_finite_top
from ....ops.networks.functions import AlongAxis, LogSoftmax, LogSumExp, Softmax
from ....targets.current import current
from ...ir import loops as ir
from ..accumulate import cast, choose
from ..column_tiles import ColumnTiles
from ..group import Group, group_along
from ..nest import Nest, Operands, specialized
from .reduce import nest_along


def column_group(node: Apply) -> Group:
    """Return the group of a softmax along an axis other than the last, with loops for that axis and the columns."""
    assert isinstance(node.op, AlongAxis)
    axis = node.op.axis
    axes = (axis,) if isinstance(node.op, LogSumExp) else ()
    return group_along(node, (axis, axis + 1), node.op.name, axes, node.inputs[0].dtype)


def column_nest(node: Apply, group: Group, operands: Operands) -> tuple[Nest, frozenset[int], ir.Body]:
    """Return the nest of a softmax, the loop of its axis, and its statements."""
    assert isinstance(node.op, AlongAxis)
    nest, along, value = nest_along(group, node.op.axis, operands)
    x = nest.cast(value, "float32" if value.dtype == "float16" else value.dtype)
    body = nest.looped(_columns(nest, node, x), len(nest.order) - 2)
    return nest, along, (*nest.at[0], *body)


def _keeps_terms(node: Apply, x: ir.Expr) -> bool:
    """Whether the output holds the exponentials until the sum is known; in float16 they would be rounded twice."""
    return isinstance(node.op, Softmax) and node.out.dtype == x.dtype


def _exponential(x: ir.Expr, shift: ir.Expr) -> ir.Expr:
    return ir.ScalarOp("exp", x.dtype, (ir.ScalarOp("sub", x.dtype, (x, shift)),))


def _logsumexp(total: ir.Expr, shift: ir.Expr) -> ir.Expr:
    return ir.ScalarOp("add", shift.dtype, (cast(ir.ScalarOp("log", total.dtype, (total,)), shift.dtype), shift))


def _scale(node: Apply, total: ir.Expr, dtype: str) -> ir.Expr:
    """Return the factor of every element of a row, or the value that is subtracted from it."""
    return cast(ir.ScalarOp("log" if isinstance(node.op, LogSoftmax) else "reciprocal", total.dtype, (total,)), dtype)


def _scaled(node: Apply, x: ir.Expr, shift: ir.Expr, exponential: ir.Expr, scale: ir.Expr) -> ir.Expr:
    if isinstance(node.op, LogSoftmax):
        return ir.ScalarOp("sub", x.dtype, (ir.ScalarOp("sub", x.dtype, (x, shift)), scale))
    return ir.ScalarOp("mul", x.dtype, (exponential, scale))


def _columns(nest: Nest, node: Apply, x: ir.Expr) -> ir.Body:
    """Return the statements for all tiles; sums are float64."""
    row, tiles = nest.order[-2], ColumnTiles(nest.order[-1], current().limits.columns.elements)
    largest = float(np.finfo(x.dtype).max)
    top, total = tiles.element("top", x.dtype), tiles.element("total", "float64")
    term = ir.Local(x.dtype, "term")
    output = nest.store(0, term)
    exponential = _exponential(x, top)

    def along_tile(*body: ir.Statement) -> ir.Statement:
        return specialized(tiles.along(*body))

    def along_rows(*body: ir.Statement) -> ir.Statement:
        return ir.loop(row, (*nest.at[-2], along_tile(*nest.at[-1], *body)))

    adding: ir.Body = (
        ir.Let(term.name, exponential),
        tiles.set("total", ir.ScalarOp("add", "float64", (total, cast(term, "float64")))),
    )
    if _keeps_terms(node, x):
        adding = (*adding, output)
        exponential = ir.Load(x.dtype, output.array, output.index)
    body: ir.Body = (
        tiles.declared("top", x.dtype),
        tiles.declared("total", "float64"),
        along_tile(tiles.set("top", ir.Const(x.dtype, -largest)), tiles.set("total", ir.Const("float64", 0))),
        along_rows(tiles.set("top", choose("gt", x.dtype)(top, x))),
    )
    if has_finite_top(node.op):
        body = (*body, along_tile(tiles.set("top", choose("lt", x.dtype)(top, ir.Const(x.dtype, largest)))))
    if isinstance(node.op, LogSumExp):
        finish = cast(_logsumexp(total, top), node.out.dtype)
        body = (*body, along_rows(*adding), along_tile(nest.store(0, finish)))
    else:
        scale = tiles.element("scale", x.dtype)
        known = tiles.set("scale", _scale(node, total, x.dtype))
        store = nest.store(0, cast(_scaled(node, x, top, exponential, scale), node.out.dtype))
        last = (along_rows(*adding), along_tile(known), along_rows(store))
        body = (*body, tiles.declared("scale", x.dtype), *last)
    return (tiles.whole(body),)
