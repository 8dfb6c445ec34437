"""Loop nests of argmax and argmin: the position of the first extremum; a NaN counts as one.

Along the inner loop in blocks: the extremum of each, which vectorizes, and then the least position at which the best
one stands in the first block that has it.
Along an outer loop in one: the best element so far of each column of a tile, and its position.
Either way the extremum itself is known, too, and is stored where it is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...graph.types import numpy_dtype
from ...targets.current import current
from ..ir.loops import (
    ONE,
    ZERO,
    Assign,
    Body,
    Const,
    Expr,
    For,
    If,
    Let,
    Local,
    ScalarOp,
    Store,
    Var,
    index,
    less,
    loop,
    minus,
    number,
    plus,
    smaller,
    times,
)
from .accumulate import cast, choose, identity_element, recipe
from .column_tiles import ColumnTiles
from .group import Result
from .multiple_accumulators import with_accumulators
from .nest import Nest, specialized

POSITIONS = ("argmax", "argmin")
ORDER_OF = {"argmax": "max", "argmin": "min", "max": "max", "min": "min"}
"""Comparison of each fold: elements by `>` for "max", by `<` for "min"."""


def position_nest(nest: Nest, results: Sequence[tuple[int, Result]]) -> Body:
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


def _stored(nest: Nest, results: Sequence[tuple[int, Result]], extremum: Expr, position: Expr) -> Iterator[Store]:
    for k, r in results:
        yield nest.store(k, position if r.fold in POSITIONS else cast(extremum, r.dtype))


def _along_inner(nest: Nest, results: Sequence[tuple[int, Result]], element: Expr, name: str) -> Body:
    kept = len(nest.order) - len(results[0][1].reduced)
    inner, others = nest.order[-1], nest.order[kept:-1]
    extremum, block = Local(element.dtype, "extremum"), index("where")
    # As wide as the elements, so that both fill vectors alike.
    wide = "int64" if numpy_dtype(element.dtype).itemsize > 4 else "int32"
    position, here = Local(wide, "position"), Local(wide, "here")
    nowhere = Const(wide, current().limits.searches.longer[1] * _block(element))
    search = (
        Let(here.name, cast(minus(index(f"i{inner}"), block), wide)),
        Let("found", ScalarOp("switch", wide, (_is(extremum, element), here, nowhere))),
        Assign(position.name, choose("lt", wide)(position, Local(wide, "found"))),
    )
    stop = index("where_end")
    second = replace(nest.inner_loop(search, [("min", position.name)]), start=block, stop=stop)
    found: Body = (specialized(second),)
    for depth in range(len(nest.order) - 1, kept, -1):
        row = nest.order[depth - 1]
        only = loop(row, (*nest.at[depth], *found))
        found = (replace(only, start=index(f"where{row}"), stop=plus(index(f"where{row}"), ONE)),)
    body = (
        Let("size", _block_size(element, index(f"n{inner}"))),
        Var(extremum.name, start_of(name, element.dtype)),
        *(Var(f"where{l}", ZERO) for l in others),
        Var(block.name, ZERO),
        *nest.looped((_best_block(nest, element, name, others),), len(nest.order) - 1, kept),
        Let(stop.name, smaller(plus(block, index("size")), index(f"n{inner}"))),
        Var(position.name, nowhere),
        *found,
        *_stored(nest, results, extremum, plus(_linear(others, inner), cast(position, "int64"))),
    )
    return (*nest.at[0], *nest.looped(body, kept))


def _best_block(nest: Nest, element: Expr, name: str, others: Sequence[int]) -> For:
    """Return the innermost loop in blocks, which records the first block with the best element."""
    inner = nest.order[-1]
    begin, end = index("block"), index("block_end")
    how = recipe(name, element.dtype)
    totals = [Local(lane.dtype, f"best{k}") for k, lane in enumerate(how.lanes)]
    accumulators = list(zip(how.lanes, (t.name for t in totals), how.feed(element), strict=True))
    updates = [Assign(name, l.step(Local(l.dtype, name), fed)) for l, name, fed in accumulators]
    signs = [(l.sign, t.name) for t, l in zip(totals, how.lanes, strict=True) if l.sign is not None]
    general = replace(nest.inner_loop(updates, signs, simd=len(signs) == len(totals)), start=begin, stop=end)
    found = Local(element.dtype, "found")
    remember = (
        Assign("extremum", found),
        *(Assign(f"where{l}", index(f"i{l}")) for l in others),
        Assign("where", begin),
    )
    body = (
        Let(end.name, smaller(plus(begin, index("size")), index(f"n{inner}"))),
        *(Var(t.name, l.start) for t, l in zip(totals, how.lanes, strict=True)),
        *with_accumulators(general, accumulators),
        Let(found.name, how.result(tuple(totals))),
        If(is_better(found, Local(element.dtype, "extremum"), name), remember),
    )
    return For(begin.name, ZERO, index(f"n{inner}"), body, step=index("size"))


def _block(element: Expr) -> int:
    size, least = current().limits.searches.block
    return max(least, size // numpy_dtype(element.dtype).itemsize)


def _block_size(element: Expr, extent: Expr) -> Expr:
    """Return the number of elements of a block of a loop over `extent`."""
    small, (long, times) = _block(element), current().limits.searches.longer
    return ScalarOp("switch", "int64", (less(extent, number(long * small)), number(small), number(times * small)))


def _linear(others: Sequence[int], inner: int) -> Expr:
    """Return the position, among the reduced elements, of the recorded block."""
    position: Expr = ZERO
    for l in others:
        position = plus(times(position, index(f"n{l}")) if position != ZERO else ZERO, index(f"where{l}"))
    return plus(times(position, index(f"n{inner}")) if others else ZERO, index("where"))


def _is(extremum: Expr, element: Expr) -> Expr:
    """Return the test whether an element is the extremum; a NaN is, if there is one."""
    same = ScalarOp("eq", "bool", (element, extremum))
    if numpy_dtype(element.dtype).kind not in "fc":
        return same
    return ScalarOp("logical_or", "bool", (same, ScalarOp("isnan", "bool", (element,))))


def _along_outer(nest: Nest, results: Sequence[tuple[int, Result]], element: Expr, name: str) -> Body:
    row, tiles = nest.order[-2], ColumnTiles(nest.order[-1], current().limits.searches.columns)
    best, position = tiles.element("best", element.dtype), tiles.element("position", "int64")
    better = Local("bool", "better")
    update = (
        Let(better.name, is_better(element, best, name)),
        tiles.set("best", ScalarOp("switch", element.dtype, (better, element, best))),
        tiles.set("position", ScalarOp("switch", "int64", (better, index(f"i{row}"), position))),
    )
    tile = (
        tiles.declared("best", element.dtype),
        tiles.declared("position", "int64"),
        tiles.along(tiles.set("best", start_of(name, element.dtype)), tiles.set("position", ZERO)),
        loop(row, (*nest.at[-2], specialized(tiles.within(nest.inner_loop(update))))),
        specialized(tiles.along(*_stored(nest, results, best, position))),
    )
    return (*nest.at[0], *nest.looped((tiles.whole(tile),), len(nest.order) - 2))


def start_of(name: str, dtype: str) -> Const:
    """Return the initial extremum: no element is better unless it must be found; else position 0 is right."""
    kind = numpy_dtype(dtype).kind
    if kind == "b":
        return Const(dtype, name == "min")
    if kind == "c":
        end = identity_element(name, "float64").value.real
        return Const(dtype, complex(end, end))
    return identity_element(name, dtype)


def is_better(element: Expr, best: Expr, name: str) -> Expr:
    """Return the test whether an element replaces the best one so far; a NaN does, if that is none."""
    better = ScalarOp("gt" if name == "max" else "lt", "bool", (element, best))
    if numpy_dtype(element.dtype).kind not in "fc":
        return better
    number_before = ScalarOp("logical_not", "bool", (ScalarOp("isnan", "bool", (best,)),))
    first_nan = ScalarOp("logical_and", "bool", (ScalarOp("isnan", "bool", (element,)), number_before))
    return ScalarOp("logical_or", "bool", (better, first_nan))
