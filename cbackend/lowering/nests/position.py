"""Loop nests of argmax and argmin: the position of the first extremum; a NaN counts as one.

Along the inner loop in blocks: the extremum of each, which vectorizes, and then the least position at which the best
one stands in the first block that has it.
Along an outer loop in one: the best element so far of each column of a tile, and its position.
Either way the extremum itself is known, too, and is stored where it is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....graph.types import numpy_dtype
from ....targets.current import current
from ...ir import loops as ir
from ...ir.loops import times
from ..accumulate import cast, choose, identity_element, recipe
from ..column_tiles import ColumnTiles
from ..group import Result
from ..multiple_accumulators import with_accumulators
from ..nest import Nest, specialized

POSITIONS = ("argmax", "argmin")
ORDER_OF = {"argmax": "max", "argmin": "min", "max": "max", "min": "min"}
"""Comparison of each fold: elements by `>` for "max", by `<` for "min"."""


def position_nest(nest: Nest, results: Sequence[tuple[int, Result]]) -> ir.Body:
    """Return the statements that store the positions of the extrema, in row-major order of the reduced axes.

    `results`: outputs (number, result) of one value and one order: positions, and the extrema themselves.
    """
    _, result = results[0]
    element = nest.value(result.value, result.place)
    if element.dtype == "float16":
        element = nest.cast(element, "float32")
    name = ORDER_OF[result.fold or ""]
    if nest.order[-1] in result.reduced:
        return _along_inner(nest, results, element, name)
    return _along_outer(nest, results, element, name)


def _stored(
    nest: Nest, results: Sequence[tuple[int, Result]], extremum: ir.Expr, position: ir.Expr
) -> Iterator[ir.Store]:
    for k, r in results:
        yield nest.store(k, position if r.fold in POSITIONS else cast(extremum, r.dtype))


def _along_inner(nest: Nest, results: Sequence[tuple[int, Result]], element: ir.Expr, name: str) -> ir.Body:
    kept = len(nest.order) - len(results[0][1].reduced)
    inner, others = nest.order[-1], nest.order[kept:-1]
    extremum, block = ir.Local(element.dtype, "extremum"), ir.index("where")
    # As wide as the elements, so that both fill vectors alike.
    wide = "int64" if numpy_dtype(element.dtype).itemsize > 4 else "int32"
    position, here = ir.Local(wide, "position"), ir.Local(wide, "here")
    nowhere = ir.Const(wide, current().limits.searches.longer[1] * _block(element))
    search = (
        ir.Let(here.name, cast(ir.minus(ir.index(f"i{inner}"), block), wide)),
        ir.Let("found", ir.ScalarOp("switch", wide, (_is(extremum, element), here, nowhere))),
        ir.Assign(position.name, choose("lt", wide)(position, ir.Local(wide, "found"))),
    )
    stop = ir.index("where_end")
    second = replace(nest.inner_loop(search, [("min", position.name)]), start=block, stop=stop)
    found: ir.Body = (specialized(second),)
    for depth in range(len(nest.order) - 1, kept, -1):
        row = nest.order[depth - 1]
        only = ir.loop(row, (*nest.at[depth], *found))
        found = (replace(only, start=ir.index(f"where{row}"), stop=ir.plus(ir.index(f"where{row}"), ir.ONE)),)
    body = (
        ir.Let("size", _block_size(element, ir.index(f"n{inner}"))),
        ir.Var(extremum.name, start_of(name, element.dtype)),
        *(ir.Var(f"where{l}", ir.ZERO) for l in others),
        ir.Var(block.name, ir.ZERO),
        *nest.looped((_best_block(nest, element, name, others),), len(nest.order) - 1, kept),
        ir.Let(stop.name, ir.smaller(ir.plus(block, ir.index("size")), ir.index(f"n{inner}"))),
        ir.Var(position.name, nowhere),
        *found,
        *_stored(nest, results, extremum, ir.plus(_linear(others, inner), cast(position, "int64"))),
    )
    return (*nest.at[0], *nest.looped(body, kept))


def _best_block(nest: Nest, element: ir.Expr, name: str, others: Sequence[int]) -> ir.For:
    """Return the innermost loop in blocks, which records the first block with the best element."""
    inner = nest.order[-1]
    begin, end = ir.index("block"), ir.index("block_end")
    how = recipe(name, element.dtype)
    totals = [ir.Local(lane.dtype, f"best{k}") for k, lane in enumerate(how.lanes)]
    accumulators = list(zip(how.lanes, (t.name for t in totals), how.feed(element), strict=True))
    updates = [ir.Assign(name, l.step(ir.Local(l.dtype, name), fed)) for l, name, fed in accumulators]
    signs = [(l.sign, t.name) for t, l in zip(totals, how.lanes, strict=True) if l.sign is not None]
    general = replace(nest.inner_loop(updates, signs, simd=len(signs) == len(totals)), start=begin, stop=end)
    found = ir.Local(element.dtype, "found")
    remember = (
        ir.Assign("extremum", found),
        *(ir.Assign(f"where{l}", ir.index(f"i{l}")) for l in others),
        ir.Assign("where", begin),
    )
    body = (
        ir.Let(end.name, ir.smaller(ir.plus(begin, ir.index("size")), ir.index(f"n{inner}"))),
        *(ir.Var(t.name, l.start) for t, l in zip(totals, how.lanes, strict=True)),
        *with_accumulators(general, accumulators),
        ir.Let(found.name, how.result(tuple(totals))),
        ir.If(is_better(found, ir.Local(element.dtype, "extremum"), name), remember),
    )
    return ir.For(begin.name, ir.ZERO, ir.index(f"n{inner}"), body, step=ir.index("size"))


def _block(element: ir.Expr) -> int:
    size, least = current().limits.searches.block
    return max(least, size // numpy_dtype(element.dtype).itemsize)


def _block_size(element: ir.Expr, extent: ir.Expr) -> ir.Expr:
    """Return the number of elements of a block of a loop over `extent`."""
    small, (long, times) = _block(element), current().limits.searches.longer
    return ir.ScalarOp(
        "switch", "int64", (ir.less(extent, ir.number(long * small)), ir.number(small), ir.number(times * small))
    )


def _linear(others: Sequence[int], inner: int) -> ir.Expr:
    """Return the position, among the reduced elements, of the recorded block."""
    position: ir.Expr = ir.ZERO
    for l in others:
        position = ir.plus(
            times(position, ir.index(f"n{l}")) if position != ir.ZERO else ir.ZERO, ir.index(f"where{l}")
        )
    return ir.plus(times(position, ir.index(f"n{inner}")) if others else ir.ZERO, ir.index("where"))


def _is(extremum: ir.Expr, element: ir.Expr) -> ir.Expr:
    """Return the test whether an element is the extremum; a NaN is, if there is one."""
    same = ir.ScalarOp("eq", "bool", (element, extremum))
    if numpy_dtype(element.dtype).kind not in "fc":
        return same
    return ir.ScalarOp("logical_or", "bool", (same, ir.ScalarOp("isnan", "bool", (element,))))


def _along_outer(nest: Nest, results: Sequence[tuple[int, Result]], element: ir.Expr, name: str) -> ir.Body:
    row, tiles = nest.order[-2], ColumnTiles(nest.order[-1], current().limits.searches.columns)
    best, position = tiles.element("best", element.dtype), tiles.element("position", "int64")
    better = ir.Local("bool", "better")
    update = (
        ir.Let(better.name, is_better(element, best, name)),
        tiles.set("best", ir.ScalarOp("switch", element.dtype, (better, element, best))),
        tiles.set("position", ir.ScalarOp("switch", "int64", (better, ir.index(f"i{row}"), position))),
    )
    tile = (
        tiles.declared("best", element.dtype),
        tiles.declared("position", "int64"),
        tiles.along(tiles.set("best", start_of(name, element.dtype)), tiles.set("position", ir.ZERO)),
        ir.loop(row, (*nest.at[-2], specialized(tiles.within(nest.inner_loop(update))))),
        specialized(tiles.along(*_stored(nest, results, best, position))),
    )
    return (*nest.at[0], *nest.looped((tiles.whole(tile),), len(nest.order) - 2))


def start_of(name: str, dtype: str) -> ir.Const:
    """Return the initial extremum: no element is better unless it must be found; else position 0 is right."""
    kind = numpy_dtype(dtype).kind
    if kind == "b":
        return ir.Const(dtype, name == "min")
    if kind == "c":
        end = identity_element(name, "float64").value.real
        return ir.Const(dtype, complex(end, end))
    return identity_element(name, dtype)


def is_better(element: ir.Expr, best: ir.Expr, name: str) -> ir.Expr:
    """Return the test whether an element replaces the best one so far; a NaN does, if that is none."""
    better = ir.ScalarOp("gt" if name == "max" else "lt", "bool", (element, best))
    if numpy_dtype(element.dtype).kind not in "fc":
        return better
    number_before = ir.ScalarOp("logical_not", "bool", (ir.ScalarOp("isnan", "bool", (best,)),))
    first_nan = ir.ScalarOp("logical_and", "bool", (ir.ScalarOp("isnan", "bool", (element,)), number_before))
    return ir.ScalarOp("logical_or", "bool", (better, first_nan))
