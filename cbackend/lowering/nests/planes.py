"""Loop nests of reductions with several kept loops inside the reduced ones: sums of outer products.

    for kept, for tiles of the inner kept loops:
        total[tile] = 0
        for reduced, in blocks of the innermost: part[tile] = 0; for element in block: part[tile] += ...; total += part
        y[tile] = total

No lowering chooses this by itself; a schedule does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ....graph.types import numpy_dtype
from ....targets.current import current
from ...ir import loops as ir
from ...ir.schedule import Schedule, ScheduleError
from ..accumulate import cast
from ..arrange import in_tiles
from ..blocks import Slot, register, start
from ..nest import Nest, specialized

ROWS = 128
"""Rows per partial sum, on every target: the bits of results depend on it."""


class Planes:
    """The nest of a reduction with loops in the order kept, reduced, kept."""

    def __init__(self, nest: Nest, slots: Sequence[Slot], kept: int, inner: int, schedule: Schedule) -> None:
        """`kept`: how many kept loops come first; `inner`: how many come last."""
        self.nest: Nest = nest
        self.slots: Sequence[Slot] = slots
        self.kept: int = kept
        self.schedule: Schedule = schedule
        self.inner: tuple[int, ...] = nest.order[-inner:]
        limits = current().limits.columns
        columns, others = limits.plane_tile  # unless the schedule says otherwise
        sizes = [schedule.tile(l) or (columns if l == self.inner[-1] else others) for l in self.inner]
        self.tiles: dict[int, int] = dict(zip(self.inner, sizes, strict=True))
        dtypes = [d for s in slots for d in (s.total_dtype, *((s.lane.dtype,) if s.lane.blocked else ()))]
        held = math.prod(sizes) * sum(numpy_dtype(d).itemsize for d in dtypes)
        if held > limits.plane_bytes:
            fit = limits.plane_bytes
            raise ScheduleError(f"tiles of {sizes} take {held} bytes of accumulators; {fit} fit the stack")

    def place(self) -> ir.Expr:
        """Return the index of the current element's accumulator in the tile."""
        found: ir.Expr = ir.ZERO
        for l, size in self.tiles.items():
            here = ir.minus(ir.index(f"i{l}"), ir.index(f"tile{l}"))
            found = here if found == ir.ZERO else ir.plus(ir.times(found, ir.number(size)), here)
        return found

    def element(self, array: str, dtype: str) -> ir.Load:
        return ir.Load(dtype, array, self.place())

    def added(self, slot: Slot) -> ir.Store:
        """Return the statement that adds the current element to its accumulator."""
        array = register(slot)
        return ir.Store(array, self.place(), slot.lane.step(self.element(array, slot.lane.dtype), slot.fed))

    def body(self, stores: Sequence[ir.Statement], finish: Nest, results: Sequence[ir.Statement]) -> ir.Body:
        """Return the nest: `stores` in its innermost loop, then `results` in the nest `finish` of the kept loops."""
        nest, order = self.nest, self.nest.order
        size = math.prod(self.tiles.values())
        inner = specialized(nest.inner_loop((*map(self.added, self.slots), *stores)))
        depth = len(order) - len(self.inner)
        row_loop = ir.loop(order[depth - 1], (*nest.at[depth], *nest.looped((inner,), len(order) - 1, depth)))
        sums = nest.looped((self._in_blocks(row_loop),), depth - 1, self.kept)
        last = specialized(finish.inner_loop(results))
        whole: ir.Body = (
            *(d for s in self.slots for d in _declared(s, size)),
            *self.along(tuple(ir.Store(s.total, self.place(), start(s)) for s in self.slots)),
            *sums,
            *finish.looped((last,), len(finish.order) - 1, self.kept),
        )
        for d in range(self.kept, -1, -1):
            whole = (*dict.fromkeys((*nest.at[d], *finish.at[d])), *whole)
            whole = (ir.loop(order[d - 1], whole),) if d else whole
        return in_tiles(whole, self.tiles.items())

    def along(self, body: ir.Body) -> ir.Body:
        """Return loops over the tile around `body`."""
        for l in reversed(self.inner):
            body = (ir.loop(l, body, simd=l == self.inner[-1]),)
        return body

    def _in_blocks(self, row_loop: ir.For) -> ir.Statement:
        """Return the innermost reduced loop; in blocks, if sums of floats are among the accumulators."""
        blocked = [s for s in self.slots if s.lane.blocked]
        if not blocked:
            return row_loop
        begin, end = ir.index("rows"), ir.index("rows_end")
        steps = self.schedule.block or ROWS
        combined = tuple(ir.Store(s.total, self.place(), self._combined(s)) for s in blocked)
        body = (
            ir.Let(end.name, ir.smaller(ir.plus(begin, ir.number(steps)), row_loop.stop)),
            *self.along(tuple(ir.Store(s.part, self.place(), s.lane.start) for s in blocked)),
            replace(row_loop, start=begin, stop=end),
            *self.along(combined),
        )
        return ir.For(begin.name, ir.ZERO, row_loop.stop, body, step=steps)

    def _combined(self, slot: Slot) -> ir.Expr:
        part = cast(self.element(slot.part, slot.lane.dtype), "float64")
        return slot.lane.step(self.element(slot.total, "float64"), part)


def _declared(slot: Slot, size: int) -> ir.Body:
    part = (ir.Declare(slot.part, slot.lane.dtype, size),) if slot.lane.blocked else ()
    return (ir.Declare(slot.total, slot.total_dtype, size), *part)
