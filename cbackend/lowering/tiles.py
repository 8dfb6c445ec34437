"""Elementwise loops over strided operands: tiles are copied so that the loop vectorizes.

    for (i0) for (i1) y[i0 * s0 + i1] = x[i0 + i1 * s1];
    -->
    rows(n0, n1, y, s0, x, t0):
        for (i0) for (i1) y[i0 * s0 + i1] = x[i0 * t0 + i1];                                   (vectorized)

    once over all if everything has stride 1 along the inner loop, else for tiles of the two loops:
        x_t = x's part of the tile if it has stride 1 along the inner loop, else a copy of it
        rows(rows of the tile, its columns, y_t, s0, x_t, t0)

The loops stand there once, whatever the strides are: a transposed operand, a reversed or a broadcast one, every other
column.  Where an operand is transposed, a tile has 16 rows: each line of memory is used while it is in the cache.
The tile driver is not optimized: that took gcc as long as the loops, which are outlined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...graph.types import numpy_dtype
from ...targets.current import current
from ..ir import loops as ir
from ..ir.walk import arrays_in, pruned, renamed, substituted
from .nest import Nest, sizes_of
from .strips import converts_bytes, with_wide_bools

ROWS_FUNCTION = "rows"
"""The name of the outlined loops over rows."""


def tiled(nest: Nest, general: ir.For, parameters: Sequence[str]) -> ir.Body:
    """Return a nest with the innermost loop `general`, over whole arrays or in tiles of its two innermost loops.

    `parameters`: the names of the kernel's.  A nest that may refuse an element has its loops where the tiles are.
    """
    outer, inner = nest.order[-2:]
    innermost = with_wide_bools(general)
    body = pruned((ir.loop(outer, (*nest.at[-2], *innermost)),))
    reached = [k for k in range(nest.operands.count) if not {inner, outer}.isdisjoint(nest.operands[k].loops)]
    touched = set(arrays_in(body))
    tile = _Tile(nest, inner, outer, [k for k in reached if nest.array_before_tiles(k) in touched])
    lengths: dict[str, ir.Expr] = {f"n{inner}": tile.columns, f"n{outer}": tile.rows}
    inside = [s for k in tile.operands for s in tile.pointed(k, lengths)]
    if nest.fallible:
        arrays = {tile.base(k): f"{nest.operands.array(k)}_t" for k in tile.operands}
        inside += renamed(substituted(body, lengths), arrays)
    else:
        inside.append(ir.Outlined(ROWS_FUNCTION, tuple(tile.argument(name) for name in parameters), ()))
    inside += [tile.put_back(k) for k in tile.moving if k < len(nest.operands.outputs)]
    depth = len(nest.order) - 2
    if nest.fallible:
        return (*nest.at[0], *nest.looped((*tile.opening(), *tile.loops(tuple(inside))), depth))
    unit = {nest.operands.stride(k, inner).name: ir.ONE for k in tile.moving}
    rows = substituted((*nest.at[0], *nest.looped(innermost, depth + 1)), unit)
    whole, *opening = tile.opening()
    in_tiles: ir.Body = (*opening, *nest.at[0], *nest.looped(tile.loops(tuple(inside)), depth))
    at_once = (ir.Outlined(ROWS_FUNCTION, tuple(parameters), pruned(rows)),)
    body = (whole, ir.If(ir.Local("bool", "whole"), at_once, in_tiles))
    if len(tile.moving) < len(tile.operands):
        return body
    narrow = _Packed(nest, inner, outer, tile.operands)
    packed = (*narrow.declared(), *nest.at[0], *nest.looped(narrow.over_tiles(parameters), depth))
    return (ir.If(narrow.is_narrow(general), packed, body),)


class _Tile:
    """Names and statements of the tiles of a nest over `operands`, which move along its two loops."""

    def __init__(self, nest: Nest, inner: int, outer: int, operands: list[int]) -> None:
        self.nest, self.inner, self.outer, self.operands = nest, inner, outer, operands
        self.moving = [k for k in operands if inner in nest.operands[k].loops]
        self.limits = current().limits.tiles
        elements = self.limits.bytes // sum(numpy_dtype(nest.operands[k].dtype).itemsize for k in self.moving)
        fewest, most = self.limits.elements
        self.elements = min(max(fewest, 1 << elements.bit_length() - 1), most)
        self.rows = ir.index("rows")
        self.columns = ir.index("columns")

        self._arguments = {f"n{l}": "1" for l in nest.order} | {f"n{outer}": "rows", f"n{inner}": "columns"}
        for k in range(nest.operands.count):
            self._arguments |= dict(self._arguments_of(k))

    def argument(self, name: str) -> str:
        """Return the argument of a tile's loops for a parameter of the kernel."""
        return self._arguments.get(name, name)

    def declared(self) -> Iterator[ir.Declare]:
        """Yield the copies of operands."""
        for k in self.moving:
            yield ir.Declare(f"{self.nest.operands.array(k)}_copy", self.nest.operands[k].dtype, self.elements)

    def _arguments_of(self, k: int) -> Iterator[tuple[str, str]]:
        """Yield the parameters of an operand, and the arguments of a tile's loops for them."""
        name, loops = self.nest.operands.array(k), self.nest.operands[k].loops
        yield name, f"{name}_t" if k in self.operands else self.base(k)
        for along in self.nest.order:
            stride = self.nest.operands.stride(k, along).name
            if along == self.inner:
                yield stride, "1"
            elif along != self.outer:
                yield stride, "0"
            elif k in self.moving and self.outer in loops:
                yield stride, f"{name}_ts"

    def base(self, k: int) -> str:
        """Return the pointer to an operand where the loops of the tile begin."""
        return self.nest.array_before_tiles(k)

    def _stride(self, k: int, along: int) -> ir.Expr:
        return self.nest.operands.stride(k, along) if along in self.nest.operands[k].loops else ir.ZERO

    def _offset(self, k: int) -> ir.Expr:
        terms = [
            ir.times(ir.index(f"t{l}"), s) for l in (self.outer, self.inner) if (s := self._stride(k, l)) != ir.ZERO
        ]
        return ir.plus(*terms) if len(terms) == 2 else terms[0]

    def _part(self, k: int) -> tuple[ir.Expr, ...]:
        """Return operand, offset, strides, lengths and copy, as the helpers take them."""
        dtype, name = self.nest.operands[k].dtype, self.nest.operands.array(k)
        rows = self.rows if self.outer in self.nest.operands[k].loops else ir.ONE
        strides = self._stride(k, self.outer), self._stride(k, self.inner)
        return (
            ir.Local(dtype, self.base(k)), self._offset(k), *strides, rows, self.columns,
            ir.Local(dtype, f"{name}_copy"),
        )  # fmt: skip

    def opening(self) -> Iterator[ir.Statement]:
        """Yield the statements before the loops: copies, and the size of a tile."""
        operands, n = self.nest.operands, ir.index(f"n{self.inner}")
        yield ir.Let("whole", ir.every([ir.equal(operands.stride(k, self.inner), ir.ONE) for k in self.moving]))
        yield from self.declared()
        transposed = [
            ir.ScalarOp("is_transposed", "bool", (operands.stride(k, self.outer), operands.stride(k, self.inner)))
            for k in self.moving
            if self.outer in operands[k].loops
        ]
        size: ir.Expr = ir.number(self.elements)
        if transposed:
            yield ir.Let("transposed", ir.some(transposed))
            long = ir.number(self.elements // self.limits.rows)
            size = ir.ScalarOp("switch", "int64", (ir.Local("bool", "transposed"), long, size))
        yield ir.Let("wide", self._or_all(n, size))
        size = ir.ScalarOp("tile_rows", "int64", (ir.number(self.elements), ir.smaller(ir.index("wide"), n)))
        yield ir.Let("tall", self._or_all(ir.index(f"n{self.outer}"), size))

    def _or_all(self, extent: ir.Expr, size: ir.Expr) -> ir.Expr:
        """Return the size of a tile; of the whole array where nothing is copied."""
        return ir.ScalarOp("switch", "int64", (ir.Local("bool", "whole"), extent, size)) if self.nest.fallible else size

    def loops(self, inside: ir.Body) -> ir.Body:
        """Return the loops over tiles."""
        n, at = ir.index(f"n{self.inner}"), ir.index(f"t{self.inner}")
        columns = ir.Let("columns", ir.smaller(ir.index("wide"), ir.minus(n, at)))
        body: ir.Body = (ir.For(at.name, ir.ZERO, n, (columns, *inside), step=ir.index("wide")),)
        n, at = ir.index(f"n{self.outer}"), ir.index(f"t{self.outer}")
        rows = ir.Let("rows", ir.smaller(ir.index("tall"), ir.minus(n, at)))
        return (ir.For(at.name, ir.ZERO, n, (rows, *body), step=ir.index("tall")),)

    def pointed(self, k: int, strides: dict[str, ir.Expr]) -> Iterator[ir.Statement]:
        """Yield the pointer to an operand's part of a tile; add its strides to `strides`."""
        operand, name = self.nest.operands[k], self.nest.operands.array(k)
        is_output = k < len(self.nest.operands.outputs)
        if self.inner not in operand.loops:
            yield ir.ElementPointer(f"{name}_t", operand.dtype, self.base(k), self._offset(k), not is_output)
            return
        given = self._part(k)
        how = (
            ir.ScalarOp("tile_out", operand.dtype, (*given[:2], given[3], given[6]))
            if is_output
            else ir.ScalarOp("tile_in", operand.dtype, given)
        )
        yield ir.ElementPointer(f"{name}_t", operand.dtype, how, ir.ZERO, not is_output)
        unit = self.nest.operands.stride(k, self.inner)
        strides[unit.name] = ir.ONE
        if self.outer in operand.loops:
            along = self.nest.operands.stride(k, self.outer)
            yield ir.Let(f"{name}_ts", ir.ScalarOp("switch", "int64", (ir.equal(unit, ir.ONE), along, self.columns)))
            strides[along.name] = ir.index(f"{name}_ts")

    def put_back(self, k: int) -> ir.Statement:
        """Write the copy of an output back to its array."""
        unit = self.nest.operands.stride(k, self.inner)
        put = ir.Do(ir.ScalarOp("tile_back", self.nest.operands[k].dtype, self._part(k)))
        return ir.If(ir.ScalarOp("ne", "bool", (unit, ir.ONE)), (put,))


class _Packed(_Tile):
    """Tiles of narrow rows, as those of three channels: packed without gaps, a tile is one row."""

    def is_narrow(self, loop: ir.For) -> ir.Expr:
        """Return whether rows do not fill a vector, and are many."""
        fewest, vector = current().limits.short_rows.rows, current().vector
        lanes = vector // 2 if converts_bytes(loop) else min(vector // max(sizes_of(loop)), fewest)
        narrow = ir.less(ir.index(f"n{self.inner}"), ir.number(lanes))
        return ir.every([narrow, ir.less(ir.number(fewest - 1), ir.index(f"n{self.outer}"))])

    def _offset(self, k: int) -> ir.Expr:
        down = self._stride(k, self.outer)
        return down if down == ir.ZERO else ir.times(ir.index(f"t{self.outer}"), down)

    def over_tiles(self, parameters: Sequence[str]) -> ir.Body:
        """Return the loop over tiles; rows that are the same in all tiles are copied before it."""
        n, at, columns = ir.index(f"n{self.outer}"), ir.index(f"t{self.outer}"), ir.index(f"n{self.inner}")
        tall = ir.ScalarOp("tile_rows", "int64", (ir.number(self.elements), columns))
        before: list[ir.Statement] = [ir.Let("tall", ir.smaller(tall, n))]
        inside: list[ir.Statement] = [
            ir.Let("rows", ir.smaller(ir.index("tall"), ir.minus(n, at))),
            ir.Let("elements", ir.times(self.rows, columns)),
        ]
        outputs, ends = len(self.nest.operands.outputs), []
        for k in self.operands:
            dtype, moves = self.nest.operands[k].dtype, self.outer in self.nest.operands[k].loops
            *place, down, along, _, _, copy = self._part(k)
            given = (*place, down, along, self.rows if moves else ir.index("tall"), columns, copy)
            packed = ("packed_out", (*place, down, along, columns, copy)) if k < outputs else ("packed_in", given)
            made = ir.ScalarOp(packed[0], dtype, packed[1])
            pointer = ir.ElementPointer(f"{self.nest.operands.array(k)}_t", dtype, made, ir.ZERO, k >= outputs)
            (inside if moves else before).append(pointer)
            if k < outputs:
                gaps = [ir.ScalarOp("ne", "bool", pair) for pair in ((along, ir.ONE), (down, columns))]
                ends.append(ir.If(ir.some(gaps), (ir.Do(ir.ScalarOp("tile_back", dtype, given)),)))
        inside.append(ir.Outlined(ROWS_FUNCTION, tuple(self._packed_argument(name) for name in parameters), ()))
        return *before, ir.For(at.name, ir.ZERO, n, (*inside, *ends), step=ir.index("tall"))

    def _packed_argument(self, name: str) -> str:
        found = {f"n{self.outer}": "1", f"n{self.inner}": "elements"}
        found |= {self.nest.operands.stride(k, self.outer).name: "0" for k in self.moving}
        return found.get(name) or self.argument(name)
