"""Loop nests of reductions: along the inner loop into registers, or along outer loops into a row of accumulators.

Reduced loops go inside of kept ones.  If the last axis is reduced, it is the innermost loop and accumulates in
registers:

    for kept:
        total = 0
        for reduced:
            for blocks of the innermost: part = 0; for element in block: part += element; total += part

else the last axis is kept and stays innermost, cut into tiles whose accumulators fit the first-level cache:

    for kept, for tiles:
        total[tile] = 0
        for reduced, in blocks of rows: part[tile] = 0; for row in block: part[j] += row[j]; total[j] += part[j]

Only sums of floats need the two levels (blocks.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....graph.types import numpy_dtype
from ....record import record
from ....targets.current import current
from ...ir import loops as ir
from ...ir.loops import number
from ...ir.schedule import DEFAULT, Schedule
from ..accumulate import Recipe, cast, recipe
from ..arrange import unrolled
from ..blocks import BLOCK, Slot, in_blocks, register, start, started, total
from ..column_tiles import ColumnTiles
from ..group import Group, Result
from ..nest import Nest, Operands, specialized
from ..strips import is_costly
from .few_columns import few_columns
from .held_columns import array_of, held_columns, with_held
from .planes import Planes
from .position import POSITIONS, position_nest

ROWS = 128
"""Rows per partial sum, on every target: the bits of results depend on it."""


@record
class Reducing:
    """One reduced output: its number, its recipe, and a slot per accumulator."""

    number: int
    recipe: Recipe
    slots: tuple[Slot, ...]


def reduction_nest(nest: Nest, results: Sequence[tuple[int, Result]], schedule: Schedule = DEFAULT) -> ir.Body:
    """Return the statements of a nest for reduced and elementwise outputs (number, result) over its loops."""
    if any(r.fold in POSITIONS for _, r in results):
        return position_nest(nest, results)
    elementwise = [(k, r) for k, r in results if not r.reduced]
    reducing = accumulators(nest, [(k, r) for k, r in results if r.reduced], itertools.count())
    stores = [nest.store(k, nest.value(r.value, r.place)) for k, r in elementwise]
    reduced = next(r.reduced for _, r in results if r.reduced)
    kept = len(list(itertools.takewhile(lambda l: l not in reduced, nest.order)))
    inner = len(nest.order) - len(reduced) - kept
    if inner > 1:
        return _along_planes(nest, reducing, stores, kept, inner, schedule)
    if inner == 1:
        return _along_outer(nest, reducing, stores, kept, schedule)
    return _along_inner(nest, reducing, stores, kept, schedule)


def nest_order(loops: Sequence[int], reduced: frozenset[int]) -> tuple[int, ...]:
    """Return the loops, outermost first: kept ones, then reduced ones; but a kept last loop stays last."""
    inner = loops[-1:] if loops and loops[-1] not in reduced else ()
    return (*(l for l in loops if l not in reduced and l not in inner), *(l for l in loops if l in reduced), *inner)


def nest_along(group: Group, axis: int, operands: Operands) -> tuple[Nest, frozenset[int], ir.Expr]:
    """Return the nest of a group along one axis of its operand, the loop of that axis, and the operand's element."""
    (result,) = group.results
    place = result.place[axis]
    assert place is not None
    along = frozenset((place,))
    nest = Nest(nest_order(tuple(range(group.rank)), along), operands, (f"v{n}" for n in itertools.count()))
    return nest, along, nest.value(result.value, result.place)


def accumulators(nest: Nest, results: Sequence[tuple[int, Result]], count: Iterator[int]) -> list[Reducing]:
    """Return the accumulators of each reduced output; `count` numbers the names."""
    found = []
    for k, r in results:
        assert r.fold is not None
        how = recipe(r.fold, r.dtype)
        element = nest.value(r.value, r.place)
        if r.fold not in ("any", "all"):
            element = nest.cast(element, "float32" if r.dtype == "float16" else r.dtype)
        # Each has a name: where an operand of `?:` in a reduction has branches itself, gcc 12 -O3 makes wrong code.
        feeds = [nest.let(f) if isinstance(f, ir.ScalarOp) else f for f in how.feed(element)]
        numbers = [next(count) for _ in how.lanes]
        slots = tuple(Slot(l, f"part{n}", f"total{n}", f) for l, n, f in zip(how.lanes, numbers, feeds, strict=True))
        found.append(Reducing(k, how, slots))
    return found


# --- the innermost loop is reduced


def _along_inner(
    nest: Nest, reducing: Sequence[Reducing], stores: Sequence[ir.Statement], kept: int, schedule: Schedule
) -> ir.Body:
    slots = [s for r in reducing for s in r.slots]
    finish = [nest.store(r.number, r.recipe.result(tuple(total(s) for s in r.slots))) for r in reducing]
    updates = [ir.Assign(register(s), s.lane.step(ir.Local(s.lane.dtype, register(s)), s.fed)) for s in slots]
    signs = [(s.lane.sign, register(s)) for s in slots if s.lane.sign is not None]
    general = nest.inner_loop((*updates, *stores), signs, simd=len(signs) == len(slots))
    inner = in_blocks(general, slots, schedule.block or BLOCK)
    body = (*(s for slot in slots for s in started(slot)), *nest.looped(inner, len(nest.order) - 1, kept), *finish)
    return (*nest.at[0], *nest.looped(body, kept))


# --- the innermost loop is kept


def _along_outer(
    nest: Nest, reducing: Sequence[Reducing], stores: Sequence[ir.Statement], kept: int, schedule: Schedule
) -> ir.Body:
    slots = [s for r in reducing for s in r.slots]
    held = held_columns(nest, kept)
    most = _tile_length(slots, held)
    tiles = ColumnTiles(nest.order[-1], min(schedule.tile(nest.order[-1]) or most, most))
    finish = [
        nest.store(r.number, r.recipe.result(tuple(tiles.element(s.total, s.total_dtype) for s in r.slots)))
        for r in reducing
    ]
    tiled = tiles.within(nest.inner_loop((*(_added(s, tiles) for s in slots), *stores), simd=True))
    computing, tiled = with_held(tiled, held, nest, tiles)
    blocked = [s for s in slots if s.lane.blocked]
    rows: ir.Body = (_in_row_blocks(nest, specialized(tiled), blocked, tiles, schedule.block or ROWS),)
    limits = current().limits.columns
    if not (schedule.rearranges or stores) and len(tiled.body) <= limits.unrolled_body and not is_costly(tiled):
        rows = unrolled(rows, f"i{nest.order[-2]}", limits.unrolled_rows)
    body = (
        *(d for s in slots for d in _declared(s, tiles)),
        *(tiles.declared(array_of(s), s.value.dtype) for s in held),
        tiles.along(*(tiles.set(s.total, start(s)) for s in slots)),
        *((specialized(computing),) if held else ()),
        *nest.looped(rows, len(nest.order) - 2, kept),
        specialized(tiles.along(*finish)),
    )
    whole: ir.Body = (tiles.whole(body),)
    few = few_columns(nest, slots, tiles.along(*finish)) if len(nest.order) == kept + 2 and not stores else None
    if few is not None:
        condition, of_few = few
        whole = (ir.If(condition, of_few, whole),)
    return (*nest.at[0], *nest.looped(whole, kept))


def _along_planes(
    nest: Nest, reducing: Sequence[Reducing], stores: Sequence[ir.Statement], kept: int, inner: int, schedule: Schedule
) -> ir.Body:
    planes = Planes(nest, [s for r in reducing for s in r.slots], kept, inner, schedule)
    finish = Nest((*nest.order[:kept], *nest.order[-inner:]), nest.operands, (f"r{n}" for n in itertools.count()))
    results = [
        finish.store(r.number, r.recipe.result(tuple(planes.element(s.total, s.total_dtype) for s in r.slots)))
        for r in reducing
    ]
    return planes.body(stores, finish, results)


def _in_row_blocks(
    nest: Nest, tiled: ir.Statement, blocked: Sequence[Slot], tiles: ColumnTiles, steps: int
) -> ir.Statement:
    """Return the innermost reduced loop around the tile; in blocks of rows for sums of floats."""
    row_loop = ir.loop(nest.order[-2], (*nest.at[-2], tiled))
    if not blocked:
        return row_loop
    begin, end = ir.index("rows"), ir.index("rows_end")
    combine = [
        tiles.set(
            s.total,
            s.lane.step(tiles.element(s.total, "float64"), cast(tiles.element(s.part, s.lane.dtype), "float64")),
        )
        for s in blocked
    ]
    body = (
        ir.Let(end.name, ir.smaller(ir.plus(begin, number(steps)), row_loop.stop)),
        tiles.along(*(tiles.set(s.part, s.lane.start) for s in blocked)),
        replace(row_loop, start=begin, stop=end),
        tiles.along(*combine),
    )
    return ir.For(begin.name, ir.ZERO, row_loop.stop, body, step=steps)


def _tile_length(slots: Sequence[Slot], held: Sequence[ir.Let]) -> int:
    """Return the number of columns of a tile: the largest power of 2 whose accumulators and held values fit."""
    dtypes = [d for s in slots for d in (s.total_dtype, *((s.lane.dtype,) if s.lane.blocked else ()))]
    dtypes += [s.value.dtype for s in held]
    size = sum(numpy_dtype(d).itemsize for d in dtypes)
    return 1 << (current().limits.columns.accumulator_bytes // size).bit_length() - 1


def _declared(slot: Slot, tiles: ColumnTiles) -> ir.Body:
    part = (tiles.declared(slot.part, slot.lane.dtype),) if slot.lane.blocked else ()
    return (tiles.declared(slot.total, slot.total_dtype), *part)


def _added(slot: Slot, tiles: ColumnTiles) -> ir.Store:
    array = register(slot)
    return tiles.set(array, slot.lane.step(tiles.element(array, slot.lane.dtype), slot.fed))
