"""Values of columns that take long: each is computed once a tile of columns, not once a row.

    for rows, for (i1 in tile): total[i1] += square(x[i0][i1] - s[i1] / n);
    -->
    for (i1 in tile): v3_held[i1] = s[i1] / n;
    for rows, for (i1 in tile): total[i1] += square(x[i0][i1] - v3_held[i1]);
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....ops.elementwise.records import by_symbol
from ....targets.current import current
from ...ir import loops as ir
from ...ir.walk import names_read, pruned
from ..column_tiles import ColumnTiles
from ..nest import Nest


def held_columns(nest: Nest, kept: int) -> list[ir.Let]:
    """Return the statements whose values no row changes, that rows read, and that take longer than to read a value."""
    by_row = {f"i{loop}" for loop in nest.order[kept:-1]}
    by_row.update(name for depth in nest.at[kept + 1 : -1] for s in depth if (name := getattr(s, "name", "")))
    long: set[str] = set()
    constant: dict[str, ir.Let] = {}
    for s in nest.at[-1]:
        read = names_read(s)
        if not isinstance(s, ir.Let) or not by_row.isdisjoint(read):
            by_row.add(getattr(s, "name", ""))
            continue
        constant[s.name] = s
        if _takes_long(s.value) or not long.isdisjoint(read):
            long.add(s.name)
    ends = {name for s in nest.at[-1] if getattr(s, "name", "") in by_row for name in names_read(s)}
    return [s for name, s in constant.items() if name in long and name in ends]


def with_held(tiled: ir.For, held: Sequence[ir.Let], nest: Nest, tiles: ColumnTiles) -> tuple[ir.For, ir.For]:
    """Return the loop that computes the values, and `tiled`, a loop over a tile of one row, that reads them."""
    stores = [tiles.set(array_of(s), ir.Local(s.value.dtype, s.name)) for s in held]
    names = {s.name for s in held}
    reading = tuple(
        ir.Let(s.name, tiles.element(array_of(s), s.value.dtype)) if isinstance(s, ir.Let) and s.name in names else s
        for s in tiled.body
    )
    computing, rest = pruned((replace(tiled, body=(*nest.at[-1], *stores)), replace(tiled, body=reading)))
    assert isinstance(computing, ir.For) and isinstance(rest, ir.For)
    return computing, rest


def array_of(held: ir.Let) -> str:
    """Return the name of the array that holds a value of each column."""
    return f"{held.name}_held"


def _takes_long(value: ir.Expr) -> bool:
    """Whether a float takes longer to compute than two additions."""
    if not isinstance(value, ir.ScalarOp) or value.dtype not in ("float32", "float64"):
        return False
    op = by_symbol(value.name)
    return op is not None and current().costs.additions(value.name, op.cost, value.dtype) > 1
