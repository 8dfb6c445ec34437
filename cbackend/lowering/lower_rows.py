"""Kernels of the softmax family: rows, or tiles of columns, read two or three times while they lie in the cache.

    top = max(row)
    total = sum(exp(row - top))
    result = exp(row - top) / total   or   row - top - log(total)   or   log(total) + top

float16 is computed in float32 and rounded once.  Infinities and NaN come out as in the NumPy meaning of the ops
(ops/nn.py).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from ...graph import Apply
from ...ops.nn import AlongAxis, LogSoftmax, LogSumExp, Softmax
from ..ir.loops import (
    ZERO,
    Assign,
    Body,
    Const,
    Declare,
    Expr,
    For,
    Let,
    Load,
    Local,
    Op,
    Statement,
    Store,
    Var,
    index,
    loop,
    minus,
    number,
    plus,
    smaller,
)
from .accumulate import cast, choose, recipe
from .blocks import Slot, in_blocks, started, total
from .group import Group, Result
from .lower_reduce import nest_order
from .nest import Nest, Operands, specialized

TILE = 1024
"""Columns that are worked on together."""


def row_group(node: Apply) -> Group:
    """The group of a softmax, whose axis has a loop even if its length is known to be 1."""
    (x,) = node.inputs
    assert isinstance(node.op, AlongAxis)
    axis = node.op.axis
    moving = [a for a in range(x.ndim) if a == axis or x.type.shape[a] != 1]
    place = tuple(moving.index(a) if a in moving else None for a in range(x.ndim))
    axes = (axis,) if isinstance(node.op, LogSumExp) else ()
    return Group(node.inputs, (Result(x, place, node.op.name, axes, x.dtype),), len(moving))


def row_nest(node: Apply, group: Group, operands: Operands) -> tuple[Nest, frozenset[int], Body]:
    """The nest of a softmax, the loop that it goes along, and its statements."""
    (result,) = group.results
    assert isinstance(node.op, AlongAxis)
    along = result.place[node.op.axis]
    assert along is not None
    nest = Nest(
        nest_order(tuple(range(group.rank)), frozenset((along,))), operands, (f"v{n}" for n in itertools.count())
    )
    value = nest.value(result.value, result.place)
    x = nest.cast(value, "float32" if value.dtype == "float16" else value.dtype)
    if nest.order[-1] == along:
        body = nest.looped(_row(nest, node, x), len(nest.order) - 1)
    else:
        body = nest.looped(_columns(nest, node, x), len(nest.order) - 2)
    return nest, frozenset((along,)), (*nest.at[0], *body)


# --- along the innermost loop


def _row(nest: Nest, node: Apply, x: Expr) -> Body:
    """What is done for one row."""
    top, shift, term, scale = (Local(x.dtype, name) for name in ("top", "shift", "term", "scale"))
    (lane,) = recipe("sum", x.dtype).lanes
    slot = Slot(lane, "part", "total", term)
    output = nest.store(0, term)
    exponential = _exponential(x, shift)
    adding: Body = (Let(term.name, exponential), Assign(slot.part, lane.step(Local(x.dtype, slot.part), term)))
    if _keeps_terms(node, x):
        adding = (*adding, output)
        exponential = Load(x.dtype, output.array, output.index)
    total_of_row = total(slot)
    body: Body = (
        Var(top.name, Const(x.dtype, -math.inf)),
        specialized(nest.inner_loop((Assign(top.name, choose("gt", x.dtype)(top, x)),), [("max", top.name)])),
        Let(shift.name, _shift(node, top)),
        *started(slot),
        in_blocks(nest.inner_loop(adding, [("+", slot.part)]), [slot]),
    )
    if isinstance(node.op, LogSumExp):
        return (*body, nest.store(0, cast(_logsumexp(total_of_row, shift), node.out.dtype)))
    store = nest.store(0, cast(_scaled(node, x, shift, exponential, scale), node.out.dtype))
    return (*body, Let(scale.name, _scale(node, total_of_row, x.dtype)), specialized(nest.inner_loop((store,))))


def _keeps_terms(node: Apply, x: Expr) -> bool:
    """Whether the exponentials wait in the output for the sum: those of float16 would be rounded twice."""
    return isinstance(node.op, Softmax) and node.out.dtype == x.dtype


def _exponential(x: Expr, shift: Expr) -> Expr:
    return Op("exp", x.dtype, (Op("sub", x.dtype, (x, shift)),))


def _shift(node: Apply, top: Expr) -> Expr:
    """What is subtracted before the exponential; for a sum that may be infinite, a finite number."""
    if not isinstance(node.op, LogSumExp):
        return top
    return Op("switch", top.dtype, (Op("isfinite", "bool", (top,)), top, Const(top.dtype, 0)))


def _logsumexp(total: Expr, shift: Expr) -> Expr:
    return Op("add", shift.dtype, (cast(Op("log", total.dtype, (total,)), shift.dtype), shift))


def _scale(node: Apply, total: Expr, dtype: str) -> Expr:
    """What every element of a row is multiplied by, or what is subtracted from it."""
    return cast(Op("log" if isinstance(node.op, LogSoftmax) else "reciprocal", total.dtype, (total,)), dtype)


def _scaled(node: Apply, x: Expr, shift: Expr, exponential: Expr, scale: Expr) -> Expr:
    if isinstance(node.op, LogSoftmax):
        return Op("sub", x.dtype, (Op("sub", x.dtype, (x, shift)), scale))
    return Op("mul", x.dtype, (exponential, scale))


# --- along the loop outside of it, for a tile of columns


def _columns(nest: Nest, node: Apply, x: Expr) -> Body:
    """What is done for all tiles; sums are float64."""
    inner, row = nest.order[-1], nest.order[-2]
    begin, end = index("tile"), index("tile_end")
    column = minus(index(f"i{inner}"), begin)
    top, total = Load(x.dtype, "top", column), Load("float64", "total", column)
    term = Local(x.dtype, "term")
    output = nest.store(0, term)
    exponential = _exponential(x, top)

    def along_tile(body: Body) -> Statement:
        return specialized(replace(loop(inner, body, simd=True), start=begin, stop=end))

    def along_rows(body: Body) -> Statement:
        return loop(row, (*nest.at[-2], along_tile((*nest.at[-1], *body))))

    adding: Body = (
        Let(term.name, exponential),
        Store("total", column, Op("add", "float64", (total, cast(term, "float64")))),
    )
    if _keeps_terms(node, x):
        adding = (*adding, output)
        exponential = Load(x.dtype, output.array, output.index)
    body: Body = (
        Let(end.name, smaller(plus(begin, number(TILE)), index(f"n{inner}"))),
        Declare("top", x.dtype, TILE),
        Declare("total", "float64", TILE),
        along_tile((Store("top", column, Const(x.dtype, -math.inf)), Store("total", column, Const("float64", 0)))),
        along_rows((Store("top", column, choose("gt", x.dtype)(top, x)),)),
    )
    if isinstance(node.op, LogSumExp):
        finish = cast(_logsumexp(total, top), node.out.dtype)
        body = (
            *body,
            along_tile((Store("top", column, _shift(node, top)),)),
            along_rows(adding),
            along_tile((nest.store(0, finish),)),
        )
    else:
        scale = Load(x.dtype, "scale", column)
        known = Store("scale", column, _scale(node, total, x.dtype))
        store = nest.store(0, cast(_scaled(node, x, top, exponential, scale), node.out.dtype))
        body = (*body, Declare("scale", x.dtype, TILE), along_rows(adding), along_tile((known,)), along_rows((store,)))
    return (For(begin.name, ZERO, index(f"n{inner}"), body, step=TILE),)
