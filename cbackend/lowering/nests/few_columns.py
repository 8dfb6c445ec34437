"""Reductions of few columns: rows that lie side by side are reduced as one long row, and its columns then combined.

    for i0 in n0: for i1 in n1: total[i1] = max(total[i1], x[i0][i1])
    -->
    if n1 <= FEW and x has no gaps:
        wide = LONG // n1 * n1
        for i0 in n0 * n1 / wide: for i1 in wide: total[i1] = max(total[i1], x[i0 * wide + i1])
        for i0 in the rows that are left: for i1 in n1: total[i1] = max(total[i1], x[i0][i1])
        for g in 1 ... wide / n1: for i1 in n1: total[i1] = max(total[i1], total[g * n1 + i1])

For extrema, truth and integers, whose results do not depend on the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....graph.types import numpy_dtype
from ...ir import loops as ir
from ...ir.loops import number
from ...ir.walk import substituted
from ..blocks import Slot, start
from ..column_tiles import ColumnTiles
from ..nest import Nest

FEW = 16
"""Columns from which on vectors along a row are full."""
LONG = 128
"""Elements of a long row."""


def few_columns(nest: Nest, slots: Sequence[Slot], finish: ir.For) -> tuple[ir.Expr, ir.Body] | None:
    """Return when the columns are few, and the statements then; None if the reduction does not allow it.

    `finish`: the loop over the columns that stores the results.
    """
    gapless = _gapless(nest)
    only_pointers = all(isinstance(s, ir.ElementPointer) for s in nest.at[-2])
    if gapless is None or not only_pointers or not all(map(_is_exact, slots)):
        return None
    outer, inner = nest.order[-2:]
    rows, columns = ir.index(f"n{outer}"), ir.index(f"n{inner}")
    few, wide, side, step = ColumnTiles(inner, LONG), ir.index("tile_end"), ir.index("side"), ir.index("g")
    row_loop = ir.loop(outer, (*nest.at[-2], nest.inner_loop([_added(s, few) for s in slots])))
    own = {stride: ir.ONE if stride.endswith(f"_s{inner}") else columns for stride in gapless}
    whole_rows = ir.index("whole_rows")
    long = _with_columns(replace(row_loop, stop=whole_rows, step=side), wide)
    left = _with_columns(replace(row_loop, start=whole_rows), columns)
    behind = ir.plus(ir.index(f"i{inner}"), ir.times(step, columns))
    merged = [
        few.set(s.total, s.lane.step(few.element(s.total, s.lane.dtype), ir.Load(s.lane.dtype, s.total, behind)))
        for s in slots
    ]
    merge = ir.For(step.name, ir.ONE, side, (ir.loop(inner, merged),))
    body = (
        ir.Let("tile", ir.ZERO),
        ir.Let(side.name, ir.ScalarOp("tile_rows", "int64", (number(LONG), columns))),
        ir.Let(wide.name, ir.times(side, columns)),
        ir.Let(whole_rows.name, ir.ScalarOp("segment_length", "int64", (rows, ir.ZERO, side, side))),
        *(few.declared(s.total, s.lane.dtype) for s in slots),
        few.along(*(few.set(s.total, start(s)) for s in slots)),
        *substituted((long, left), own),
        merge,
        replace(finish, start=ir.ZERO, stop=columns),
    )
    conditions = [ir.equal(ir.index(stride), length) for stride, length in own.items()]
    is_few = [ir.less(ir.ZERO, columns), ir.less(columns, number(FEW + 1)), ir.less(number(4 * LONG), rows)]
    return ir.every([*is_few, *conditions]), body


def _gapless(nest: Nest) -> list[str] | None:
    """Return the strides of the operands along both loops; None if one moves along only one of them."""
    outer, inner = nest.order[-2:]
    found = []
    for k, operand in enumerate(nest.operands.inputs, len(nest.operands.outputs)):
        along = [loop for loop in (outer, inner) if loop in operand.loops]
        if len(along) == 1:
            return None
        found += [nest.operands.stride(k, loop).name for loop in along]
    return found


def _is_exact(slot: Slot) -> bool:
    lane = slot.lane
    return lane.sign in ("max", "min", "|", "&") or (lane.sign is not None and numpy_dtype(lane.dtype).kind in "iu")


def _with_columns(row_loop: ir.For, columns: ir.Expr) -> ir.For:
    """Return the loop over rows, each of so many elements."""
    *pointers, inner = row_loop.body
    assert isinstance(inner, ir.For)
    return replace(row_loop, body=(*pointers, replace(inner, stop=columns)))


def _added(slot: Slot, tiles: ColumnTiles) -> ir.Store:
    return tiles.set(slot.total, slot.lane.step(tiles.element(slot.total, slot.lane.dtype), slot.fed))
