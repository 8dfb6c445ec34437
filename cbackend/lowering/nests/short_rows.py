"""Kernels of short rows: a tile of rows is transposed, so that vectors run across rows.

    for tiles of rows:
        for j, for i in tile: x_tile[j][i] = x[i][j]
        for i in tile: total[i] = 0; for j, for i in tile: total[i] += x_tile[j][i]               pass 0
        for i in tile: scale[i] = 1 / total[i]
        for j, for i in tile: y_tile[j][i] = x_tile[j][i] * scale[i]                              pass 1
        for j, for i in tile: y[i][j] = y_tile[j][i]

The passes are those of `lower_rows`, whose kernels take this way where rows are short and many.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ....graph import Variable
from ....graph.types import numpy_dtype
from ....ops.shapes.shape import DimShuffle
from ....targets.current import current
from ...ir import loops as ir
from ...ir.loops import loop, number
from ...ir.operands import Operand
from ...ir.walk import substitute, substituted
from ..accumulate import cast
from ..blocks import Slot, start
from ..group import Group, Result, operands_at
from ..lanes import is_rounded, lanes_of
from ..nest import Key, Nest, Operands
from .position import ORDER_OF, POSITIONS, is_better, start_of
from .reduce import Reducing, accumulators
from .rows import Rows, slot_of

VECTORS = 128
"""Bytes of a row from which on vectors along it are full, but for its last elements."""
REUSED = 4 * VECTORS
"""The same where a transposed tile serves all steps of an outer loop, as in distances of all pairs."""
SEARCHED = 2 * VECTORS
"""The same for argmax and argmin, which run two loops along a row."""


def loops_across(rows: Rows, operands: Operands) -> Iterator[int]:
    """Yield the loops that vectors may run along instead of along a row, the best one last.

    That is the loop before the rows', and where a tile of it serves each of its steps also the one before that.
    """
    along = rows.group.rank - 1
    fewest = current().limits.short_rows.rows
    lengths = {n for r in rows.reductions for loop_, n in zip(r.place, r.value.type.shape) if loop_ == along - 1 and n}
    if not any(n >= fewest for n in lengths) and is_reused(rows.reductions, operands, along, along - 2):
        yield along - 2
    if not any(n < fewest for n in lengths):
        yield along - 1


def short_rows(rows: Rows, operands: Operands, across: int) -> ir.Body | None:
    """Return the loops over tiles of rows, with vectors along the loop `across`; None if rows or operands forbid it."""
    along = rows.group.rank - 1
    length = _length(rows.reductions, is_reused(rows.reductions, operands, along, across))
    known = max(r.value.type.shape[-1] or 0 for r in rows.reductions)
    if across < 0 or known >= length or not all(across in o.loops for o in operands.outputs):
        return None
    tiles = _Tiles(operands, across, along, length)
    return _Passes(rows, operands, tiles).body() if tiles.is_worth_it else None


def short_positions(group: Group, operands: Operands) -> ir.Body | None:
    """Return the statements for argmax and argmin of short rows, and for the extrema; None if rows are longer."""
    length = _length(group.results)
    if group.rank < 2 or (group.results[0].value.type.shape[-1] or 0) >= length:
        return None
    tiles = _Tiles(operands, group.rank - 2, group.rank - 1, length)
    return _Positions(group.results, operands, tiles).body() if tiles.is_worth_it else None


def is_reused(results: Sequence[Result], operands: Operands, along: int, across: int) -> bool:
    """Return whether each transposed tile may serve all steps of another loop, so that copying it costs little."""
    row = {across, along}
    if along < 2 or any(r.fold in POSITIONS for r in results):
        return False
    same = all({*o.loops} == row for o in operands.inputs if row <= {*o.loops})
    return same and _Tiles(operands, across, along, _length(results, reused=True)).is_worth_it


def are_short(
    results: Sequence[Result], operands: Operands, along: int, across: int, unfilled: ir.Expr | None = None
) -> ir.Expr:
    """Whether the rows along the last loop, which these outputs reduce, are short, and many along the loop `across`.

    `unfilled`: whether vectors along a row are not full, or are made of strided elements.
    """
    limits, length = current().limits.short_rows, ir.index(f"n{along}")
    many = ir.less(number(limits.rows - 1), ir.index(f"n{across}"))
    short = ir.less(length, number(_length(results)))
    found = ir.every([short, many] if unfilled is None else [short, many, unfilled])
    if not is_reused(results, operands, along, across):
        return found
    often = ir.less(number(limits.reuses - 1), ir.index(f"n{2 * along - 3 - across}"))  # the other one of the last two
    return ir.some([found, ir.every([ir.less(length, number(_length(results, reused=True))), many, often])])


def unfilled_vectors(results: Sequence[Result], operands: Operands, along: int) -> ir.Expr | None:
    """Whether rows do not fill the lanes of their sums, or are strided; None if elements have several sizes.

    Lanes are joined in a few operations, so the sum of one vector takes less time than a copy of it.
    """
    moving = [k for k, o in enumerate(operands.inputs, start=len(operands.outputs)) if along in o.loops]
    dtypes = [*(r.dtype for r in results), *(operands[k].dtype for k in moving)]
    size, *others = {numpy_dtype(dtype).itemsize for dtype in dtypes}
    if others or not all(r.fold in ("sum", "prod") and is_rounded("+", r.dtype) for r in results):
        return None
    too_few = ir.less(ir.index(f"n{along}"), number(current().vector // size))
    return ir.some([too_few, *(ir.ScalarOp("ne", "bool", (operands.stride(k, along), ir.ONE)) for k in moving)])


def _length(results: Sequence[Result], reused: bool = False) -> int:
    """Return the length of the shortest row that is not short."""
    size = SEARCHED if any(r.fold in POSITIONS for r in results) else REUSED if reused else VECTORS
    return size // max(4, *(numpy_dtype(r.value.dtype).itemsize for r in results))


class _Tiles(Operands):
    """Operands of a tile: those that move from row to row lie in a buffer, [element][row] or [row]."""

    def __init__(self, operands: Operands, across: int, along: int, length: int) -> None:
        every_one = (*operands.outputs, *operands.inputs)
        self._names = [operands.array(k) for k in range(len(every_one))]
        self.buffered = tuple(k for k, o in enumerate(every_one) if across in o.loops)
        inside = tuple(self._inside(k, o, (across, along)) for k, o in enumerate(every_one))
        count = len(operands.outputs)
        self.outputs, self.inputs, self.number = inside[:count], inside[count:], operands.number
        self.across, self.along, self._length = across, along, length
        bytes_of_row = sum(numpy_dtype(self[k].dtype).itemsize * self._elements(k) for k in self.buffered)
        limits = current().limits.short_rows
        least, most = limits.tile_rows
        self.size = min(most, 1 << (limits.tile_bytes // bytes_of_row).bit_length() >> 1)
        self.is_worth_it = self.size >= least

    def _inside(self, k: int, operand: Operand, loops: Sequence[int]) -> Operand:
        """Return the operand with its strides within a tile."""
        if k not in self.buffered:
            return operand
        return replace(operand, axes=tuple(loop if loop in loops else None for loop in operand.axes))

    def _elements(self, k: int) -> int:
        return self._length if self.along in self[k].loops else 1

    def array(self, number: int) -> str:
        return f"{self._names[number]}_tile" if number in self.buffered else self._names[number]

    def declared(self) -> Iterator[ir.Declare]:
        for k in self.buffered:
            dtype = self[k].dtype
            yield ir.Declare(self.array(k), "uint8" if dtype == "bool" else dtype, self.size * self._elements(k))

    def strides(self) -> dict[str, ir.Expr]:
        """Return the strides of the buffers by name."""
        found: dict[str, ir.Expr] = {}
        for k in self.buffered:
            for moves in self[k].loops:
                found[self.stride(k, moves).name] = number(self.size) if moves == self.along else ir.ONE
        return found


class _Transposed:
    """The statements for a tile under construction."""

    def __init__(self, operands: Operands, tiles: _Tiles) -> None:
        self.operands, self.tiles = operands, tiles
        self.along, self.across = tiles.along, tiles.across
        self.outer = tuple(n for n in range(self.along) if n != self.across)
        self._names = (f"v{n}" for n in itertools.count())
        self._numbers = itertools.count()
        self._singles_made = itertools.count()
        self._known: dict[Key, ir.Expr] = {}
        """Locals that hold values of each row of the tile: elements of arrays, and results of them."""
        self._at: list[list[ir.Statement]] = [[] for _ in range(len(self.outer) + 1)]
        self._pointers: set[str] = set()
        self._inside: list[ir.Statement] = []

    def body(self) -> ir.Body:
        """Return all statements of the kernel.

        The loop over tiles is the innermost one.  If an operand is the same along the last outer loops, it is the
        outermost one, and the operand is copied outside those loops.
        """
        count, last = len(self.operands.outputs), len(self.outer)
        copies: list[list[ir.Statement]] = [[] for _ in self._at]
        for k in (k for k in self.tiles.buffered if k >= count):
            depth = max((d for d, n in enumerate(self.outer, 1) if n in self.operands[k].loops), default=0)
            copies[depth].append(self._copy(k, into_tile=True))
        self.compute()
        body = (*copies[last], *self._inside, *(self._copy(k, into_tile=False) for k in range(count)))
        tiles_outside = any(copies[:last])
        if not tiles_outside:
            body = (self._over_tiles(body),)
        for depth in reversed(range(last)):
            body = (*copies[depth], loop(self.outer[depth], (*self._at[depth + 1], *body)))
        return (*self._at[0], *((self._over_tiles(body),) if tiles_outside else body))

    def _over_tiles(self, inside: ir.Body) -> ir.For:
        """Return the loop over tiles, with their buffers."""
        extent, tile, size = ir.index(f"n{self.across}"), ir.index("tile"), number(self.tiles.size)
        rows = (
            ir.Let("rows", ir.smaller(ir.minus(extent, tile), size)),
            ir.Let("last", ir.minus(ir.index("rows"), ir.ONE)),
        )
        body = (*rows, *self.tiles.declared(), *substituted(inside, self.tiles.strides()))
        return ir.For(tile.name, ir.ZERO, extent, body, step=self.tiles.size)

    def compute(self) -> None:
        """Add the statements of a tile."""
        raise NotImplementedError

    # --- loops

    def _over_rows(self, body: Iterable[ir.Statement]) -> ir.For:
        """Return a loop over all rows of a tile: its known length leaves no remainder for vectors."""
        return replace(loop(self.across, body, simd=True), stop=number(self.tiles.size))

    def _emit(self, nest: Nest) -> None:
        """Add the statements of the nest outside the tile."""
        for depth in range(len(self.outer) + 1):
            for s in nest.at[depth]:
                if not isinstance(s, ir.ElementPointer) or s.name not in self._pointers:
                    self._at[depth].append(s)
                if isinstance(s, ir.ElementPointer):
                    self._pointers.add(s.name)

    @property
    def _row(self) -> ir.Expr:
        return ir.index(f"i{self.across}")

    def _element(self, array: str, dtype: str) -> ir.Load:
        """Return the element of an array for the current row."""
        return ir.Load(dtype, array, self._row)

    # --- copies

    def _copy(self, k: int, into_tile: bool) -> ir.For:
        """Return the copy of an operand into its buffer, where copies of the last row fill the rest, or back."""
        along = (self.along,) if self.along in self.operands[k].loops else ()
        order = (*self.outer, *along, self.across)
        whole, tile = Nest(order, self.operands, self._names), Nest(order, self.tiles, self._names)
        array, offset, _ = whole.address(k)
        row = ir.smaller(self._row, ir.index("last")) if into_tile else self._row
        offset = substitute(offset, {f"i{self.across}": ir.plus(ir.index("tile"), row)})
        place, dtype = tile.address(k), self.operands[k].dtype
        if into_tile:
            copied: ir.Statement = ir.Store(place[0], place[1], ir.Load(dtype, array, offset))
        else:
            copied = ir.Store(array, offset, ir.Load(dtype, place[0], place[1]))
        self._emit(whole)
        stop = number(self.tiles.size) if into_tile else ir.index("rows")
        inside = replace(loop(self.across, (copied,)), stop=stop)
        if along:
            pointers = (replace(s, const=not into_tile) for s in tile.at[-2] if isinstance(s, ir.ElementPointer))
            inside = loop(self.along, (*whole.at[-2], *pointers, inside))
        return inside

    def _nest(self, *along: int) -> Nest:
        nest = Nest((*self.outer, *along, self.across), self.tiles, self._names)
        for key, value in self._known.items():
            nest.know_inside(key, value)
        return nest


class _Passes(_Transposed):
    """Passes over rows."""

    def __init__(self, rows: Rows, operands: Operands, tiles: _Tiles) -> None:
        super().__init__(operands, tiles)
        self.rows = rows

    def compute(self) -> None:
        for number_ in range(self.rows.plan.passes):
            self._pass(number_)
        self._finish()

    def _pass(self, number: int) -> None:
        plan, group, folds = self.rows.plan, self.rows.group, self.rows.folds[number]
        place = self.rows.folds[0][0].place
        here = [w for w in plan.waiting if w.slot is not None]
        stored = {(w.value, place): slot_of(w) for w in here if w.since < number <= w.until}
        kept = [w for w in here if w.since == number and plan.graph.outputs[slot_of(w)] is not w.value]
        written = [(k, group.results[k]) for k in plan.written[number]]
        roots = [(r.value, r.place) for r in (*folds, *(r for _, r in written))] + [(w.value, place) for w in kept]
        self._know_singles(roots, stored)
        nest = self._nest(self.along)
        for key, slot in stored.items():
            nest.know_stored(key, slot)
        folding = accumulators(nest, list(enumerate(folds)), self._numbers)
        stores = [nest.store(k, nest.cast(nest.value(r.value, r.place), r.dtype)) for k, r in written]
        stores += [nest.store(slot_of(w), nest.value(w.value, place)) for w in kept]
        if folding or stores:
            self._emit(nest)
            self._inside.extend(self._accumulated(nest, folding, stores))
        for reduction, result, fold in zip(plan.folded[number], folds, folding, strict=True):
            totals = tuple(self._element(s.total, s.total_dtype) for s in fold.slots)
            self._known[reduction, result.place[:-1]] = fold.recipe.result(totals)

    def _accumulated(
        self, nest: Nest, folding: Sequence[Reducing], stores: Sequence[ir.Statement]
    ) -> Iterator[ir.Statement]:
        """Yield the loops over the elements of the tile."""
        slots = [s for r in folding for s in r.slots]
        rounded = [s for s in slots if is_rounded(s.lane.sign, s.lane.dtype)]
        counts = dict.fromkeys(lanes_of(s.lane.dtype) for s in rounded)
        updates = [self._added(s, s.total, s.total_dtype, s.fed) for s in slots if s not in rounded]
        updates += [self._added(s, _lanes(s), s.lane.dtype, s.fed, _lane(lanes_of(s.lane.dtype))) for s in rounded]
        placed = [s for n in counts for s in self._placed(n)]
        yield from self._started([(s.total, s) for s in slots])
        for s in rounded:
            count = lanes_of(s.lane.dtype)
            yield ir.Declare(_lanes(s), s.lane.dtype, self.tiles.size * (count + 1))
            yield self._over_lanes(count, count, partial(self._emptied, s))
            yield self._over_rows((self._emptied(s, number(count)),))
        yield loop(
            self.along,
            (*nest.at[len(self.outer) + 1], *placed, self._over_rows((*nest.at[-1], *updates, *stores))),
        )
        for s in rounded:
            yield from self._combined(s)

    def _started(self, arrays: Sequence[tuple[str, Slot]]) -> Iterator[ir.Statement]:
        """Yield arrays of accumulators with their initial values."""
        yield from (ir.Declare(name, slot.total_dtype, self.tiles.size) for name, slot in arrays)
        if arrays:
            starts = [ir.Store(name, self._row, start(slot)) for name, slot in arrays]
            yield self._over_rows(starts)

    def _added(self, slot: Slot, array: str, dtype: str, value: ir.Expr, lane: ir.Expr | None = None) -> ir.Store:
        """Return the accumulator of a row, or one of its lanes, after one more value."""
        where = self._row if lane is None else self._in_lane(lane)
        return ir.Store(array, where, slot.lane.step(ir.Load(dtype, array, where), cast(value, dtype)))

    # --- sums and products in lanes, as in lanes.py: a row has the bits that it has where rows are long or few

    def _in_lane(self, lane: ir.Expr) -> ir.Expr:
        return self._row if lane == ir.ZERO else ir.plus(ir.times(lane, number(self.tiles.size)), self._row)

    def _placed(self, count: int) -> Iterator[ir.Let]:
        """Yield the lane of the current element: those behind the last full set of lanes go behind them."""
        along, bulk = ir.index(f"i{self.along}"), ir.index(f"bulk{count}")
        yield ir.Let(bulk.name, _masked(ir.index(f"n{self.along}"), -count))
        place = ir.ScalarOp("switch", "int64", (ir.less(along, bulk), _masked(along, count - 1), number(count)))
        yield ir.Let(_lane(count).name, place)

    def _over_lanes(self, count: int, stop: int, statement: Callable[[ir.Expr], ir.Statement]) -> ir.Statement:
        """Return the loop over the first lanes of `count`, if a row fills them."""
        filled = ir.less(number(count - 1), ir.index(f"n{self.along}"))
        lane = ir.index("lane")
        body = (self._over_rows((statement(lane),)),)
        return ir.For(lane.name, ir.ZERO, ir.ScalarOp("switch", "int64", (filled, number(stop), ir.ZERO)), body)

    def _emptied(self, slot: Slot, lane: ir.Expr) -> ir.Statement:
        return ir.Store(_lanes(slot), self._in_lane(lane), slot.lane.start)

    def _combined(self, slot: Slot) -> Iterator[ir.Statement]:
        """Yield the loops that add the lanes of a row as a tree, then their sum to the total."""
        dtype, name, count = slot.lane.dtype, _lanes(slot), lanes_of(slot.lane.dtype)

        def joined(distance: int, lane: ir.Expr) -> ir.Statement:
            other = ir.Load(dtype, name, self._in_lane(ir.plus(lane, number(distance))))
            return self._added(slot, name, dtype, other, lane)

        half = count
        while half > 1:
            half //= 2
            yield self._over_lanes(count, half, partial(joined, half))
        yield self._over_lanes(count, 1, partial(self._behind, slot, name))
        part = slot.lane.step(slot.lane.start, ir.Load(dtype, name, self._in_lane(number(count))))
        yield self._over_rows((self._added(slot, slot.total, slot.total_dtype, part),))

    def _behind(self, slot: Slot, name: str, lane: ir.Expr) -> ir.Statement:
        """Return the addition of one lane to the elements behind the last full set of lanes."""
        dtype = slot.lane.dtype
        return self._added(slot, name, dtype, ir.Load(dtype, name, self._in_lane(lane)), number(lanes_of(dtype)))

    # --- what has one element a row

    def _know_singles(self, roots: Iterable[Key], stored: Iterable[Key]) -> None:
        """Compute the values with one element per row that the expressions `roots` depend on."""
        keys = list(self._singles(roots, set(stored)))
        if keys:
            nest = self._nest()
            values = [nest.value(*key) for key in keys]
            names = [f"s{next(self._singles_made)}" for _ in keys]
            self._emit(nest)
            self._inside.extend(ir.Declare(n, v.dtype, self.tiles.size) for n, v in zip(names, values, strict=True))
            stores = [ir.Store(n, self._row, v) for n, v in zip(names, values, strict=True)]
            self._inside.append(self._over_rows((*nest.at[-1], *stores)))
            self._known.update((k, self._element(n, v.dtype)) for k, n, v in zip(keys, names, values, strict=True))

    def _singles(self, roots: Iterable[Key], seen: set[Key]) -> Iterator[Key]:
        stack = list(roots)
        while stack:
            key = stack.pop()
            variable, place = key
            known = self._known.get(key)
            if key in seen or isinstance(known, ir.Load) or key in self.operands.number or variable.owner is None:
                continue
            seen.add(key)
            if known is None and (self.along in place or isinstance(variable.owner.op, DimShuffle)):
                stack.extend(operands_at(variable.owner, place))
            elif self.across in place:
                yield key

    def _finish(self) -> None:
        """Write the results with one element per row."""
        nest = self._nest()
        stores: list[ir.Store] = []
        outputs: Sequence[Variable] = self.rows.plan.graph.outputs
        for k, (output, result) in enumerate(zip(outputs, self.rows.group.results, strict=True)):
            if result.fold is not None:
                stores.append(nest.store(k, nest.value(output, result.kept)))
            elif k in self.rows.plan.single:
                stores.append(nest.store(k, nest.cast(nest.value(result.value, result.place), result.dtype)))
        if stores:
            self._emit(nest)
            self._inside.append(self._over_rows((*nest.at[-1], *stores)))


def _lanes(slot: Slot) -> str:
    """Return the array of the lanes of a sum or product, for all rows of a tile."""
    return f"{slot.part}_lanes"


def _lane(count: int) -> ir.Local:
    """Return the lane of the current element in sums of so many lanes."""
    return ir.index(f"lane{count}")


def _masked(value: ir.Expr, mask: int) -> ir.Expr:
    return ir.ScalarOp("bitwise_and", "int64", (value, number(mask)))


class _Positions(_Transposed):
    """argmax and argmin: for each row of a tile the best element so far, and its position."""

    def __init__(self, results: Sequence[Result], operands: Operands, tiles: _Tiles) -> None:
        super().__init__(operands, tiles)
        self.results = results

    def compute(self) -> None:
        nest, result = self._nest(self.along), self.results[0]
        element = nest.value(result.value, result.place)
        if element.dtype == "float16":
            element = nest.cast(element, "float32")
        name = ORDER_OF[result.fold or ""]
        # As wide as the elements, so that both fill vectors alike.
        wide = "int64" if numpy_dtype(element.dtype).itemsize > 4 else "int32"
        best, position = self._element("best", element.dtype), self._element("position", wide)
        better = ir.Local("bool", "better")
        update = (
            ir.Let(better.name, is_better(element, best, name)),
            ir.Store("best", self._row, ir.ScalarOp("switch", element.dtype, (better, element, best))),
            ir.Store(
                "position",
                self._row,
                ir.ScalarOp("switch", wide, (better, cast(ir.index(f"i{self.along}"), wide), position)),
            ),
        )
        beginning = (
            ir.Store("best", self._row, start_of(name, element.dtype)),
            ir.Store("position", self._row, ir.Const(wide, 0)),
        )
        inner = self._over_rows((*nest.at[-1], *update))
        finish = self._nest()
        stores = [
            finish.store(k, cast(position, "int64") if r.fold in POSITIONS else cast(best, r.dtype))
            for k, r in enumerate(self.results)
        ]
        self._emit(nest)
        self._inside += (
            ir.Declare("best", element.dtype, self.tiles.size),
            ir.Declare("position", wide, self.tiles.size),
            self._over_rows(beginning),
            loop(self.along, (*nest.at[len(self.outer) + 1], inner)),
            self._over_rows(stores),
        )
