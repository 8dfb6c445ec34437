"""Column tiles: the innermost loop is tiled, and each column of a tile has its own elements of stack arrays.

    for (tile = 0; tile < n1; tile += 1024) {
        tile_end = min(tile + 1024, n1);
        f64 total[1024];
        for (i1 = tile; i1 < tile_end; i1++) total[i1 - tile] = 0;
        for (i0) for (i1 = tile; i1 < tile_end; i1++) total[i1 - tile] += x[i0][i1];
    }

All columns of a tile go down the rows together, so that memory is read in long runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...record import record
from ..ir.loops import ZERO, Declare, Expr, For, Let, Load, Statement, Store, index, loop, minus, number, plus, smaller


@record
class ColumnTiles:
    """Tiles of `size` columns of the loop `inner`."""

    inner: int
    size: int

    def whole(self, body: Iterable[Statement]) -> For:
        """Return the loop over the tiles; in `body` other locals stand for their columns."""
        begin, extent = index("tile"), index(f"n{self.inner}")
        end = Let("tile_end", smaller(plus(begin, number(self.size)), extent))
        return For(begin.name, ZERO, extent, (end, *body), step=self.size)

    def within(self, general: For) -> For:
        """Return a loop over all columns, limited to those of the tile."""
        return replace(general, start=index("tile"), stop=index("tile_end"))

    def along(self, *body: Statement) -> For:
        """Return the loop over the columns of the tile."""
        return self.within(loop(self.inner, body, simd=True))

    def declared(self, array: str, dtype: str) -> Declare:
        """Return the declaration of an array with an element per column."""
        return Declare(array, dtype, self.size)

    def element(self, array: str, dtype: str) -> Load:
        """Return the element of the current column."""
        return Load(dtype, array, self._column)

    def set(self, array: str, value: Expr) -> Store:
        return Store(array, self._column, value)

    @property
    def _column(self) -> Expr:
        return minus(index(f"i{self.inner}"), index("tile"))
