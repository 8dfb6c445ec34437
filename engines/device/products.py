"""Matrix products, convolutions and gradients of convolutions on a device: one kernel over tables of offsets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...cbackend.ctext import device_products as texts
from ...cbackend.ctext.device_products import DTYPES, ROWS, columns
from ...cbackend.ctext.device_tiles import (
    BY_INNER,
    BY_OUTER,
    INNER,
    OUTER,
    RESIDENT,
    Tile,
    tiled_source,
    tiles,
)
from ...graph import Apply, Op
from ...ops.linalg.blas import Dot, MatMul
from ...ops.networks.convolution import Convolution, KernelGradient
from ...record import record
from .base import Device
from .call import At, Call, Places
from .launches import item_grid
from .memory import offsets

_PICOSECONDS = 20
"""Estimated picoseconds of a multiplication and an addition."""
_PART = 256
"""Fewest values of k in a part."""
_PARTS = 64
"""Most parts of k."""
_LAUNCH, _MOVED = 600_000, 40
"""Costs of a second launch and of a partial result that a processor moves, in multiplications and additions."""
_LONGEST = 1 << 30
"""Most values of k in a part."""
_AHEAD = 64
"""Entries behind the end of a table of offsets along k: items read it ahead."""
Shapes = Sequence[tuple[int, ...]]


@record(eq=False)
class Layout:
    """A node as a matrix product c = a @ b: shape of the result, and tables of offsets into each matrix.

    a: (batch, rows, inner), b: (batch, inner, columns), c: (batch, rows).
    """

    shape: tuple[int, ...]
    a: tuple[np.ndarray, np.ndarray, np.ndarray]
    b: tuple[np.ndarray, np.ndarray, np.ndarray]
    c: tuple[np.ndarray, np.ndarray]
    order: tuple[int, int] = (0, 1)
    """Indices of the operands that are a and b."""


class ProductKernel:
    """The kernel of a matrix product, a convolution or a kernel gradient."""

    def __init__(self, node: Apply, device: Device) -> None:
        made = _LAYOUTS.get(type(node.op))
        dtype = node.outputs[0].dtype
        if made is None:
            raise TypeError(f"{node.op.name} has no kernel on devices")
        if dtype not in DTYPES:
            raise TypeError(f"products on devices have no {dtype}")
        self._layout: Callable[[Any, Shapes, Shapes], Layout | None] = made
        self.numbers: range = range(2, len(node.inputs))
        self._op, self._device, self._dtype = node.op, device, np.dtype(dtype)
        self._tables: dict[Any, tuple[Layout, list[Any]]] = {}
        self.name: str = f"product_{dtype}"
        if device.shares:
            self.text: str = texts.packed_source(dtype, device.dialect)
            self._pack, self._start = (
                device.item_kernel(item, self.text) for item in texts.packed_items(dtype, device.dialect)
            )
        elif device.items < tiles(dtype)[-1].items:
            raise TypeError(f"products take groups of {tiles(dtype)[-1].items} work items")
        else:
            self._starts: dict[Any, Any] = {}
            self.text = tiled_source(dtype, device.dialect, tiles(dtype)[0], (INNER, OUTER))

    def run(self, arrays: Sequence[Any], call: Call, into: Places = None) -> list[Any] | None:
        memory = call.memory
        shapes, strides = [a.shape for a in arrays[:2]], [memory.strides(a) for a in arrays[:2]]
        numbers = tuple(map(int, arrays[2:]))
        key = (*shapes, *strides, numbers)
        if key not in self._tables:
            layout = self._layout(self._op, [*shapes, *([numbers] if numbers else [])], strides)
            if layout is None or 0 in (*layout.shape, *(t.size for t in (*layout.a, *layout.b))):
                return None
            if len(self._tables) > 64:
                self._tables.clear()
            found = (*layout.a, *layout.b, *layout.c) if self._device.shares else ()
            tables = [memory.put(t, call.traffic) for t in found] or self._planned(layout, call)
            self._tables[key] = layout, tables
        layout, tables = self._tables[key]
        (made,) = call.results((self._dtype,), (layout.shape,), into)
        a, b = (arrays[k] for k in layout.order)
        (self._packed if self._device.shares else self._tiled)(layout, tables, a, b, made, call)
        return [made]

    def work(self, arrays: Sequence[Any]) -> int:
        """Return an estimate in picoseconds."""
        a, b = (math.prod(x.shape) for x in arrays[:2])
        steps: int = a * b // max(*arrays[0].shape[-1:], 1)
        return steps * _PICOSECONDS

    def _packed(self, layout: Layout, tables: list[Any], a: Any, b: Any, made: Any, call: Call) -> None:
        (batch, rows, inner), wide = (t.size for t in layout.a), columns(self._dtype.name)
        across = layout.b[2].size
        panels = -(-across // wide)
        packed = call.empty(self._dtype, (batch, panels, inner, wide))
        given = (inner, across, panels, At(b), *tables[3:6], packed)
        call.launch(self._pack, (panels, batch), (1, 1), given, packed, 1000 * batch * inner * across)
        given = (rows, across, inner, panels, At(a), *tables[:3], packed, At(made), *tables[6:])
        work = _PICOSECONDS * batch * inner * across * rows
        call.launch(self._start, (-(-rows // ROWS), panels, batch), (1, 1, 1), given, made, work)

    def _planned(self, layout: Layout, call: Call) -> list[Any]:
        """Return the kernels, the arguments of each operand and the plan of a product in tiles."""
        (batch, rows, inner), across = (t.size for t in layout.a), layout.b[2].size
        plan = _plan(self._dtype.name, self._device, batch, rows, across, inner)
        readers, given = [], []
        for where, outer, along in (layout.a, (layout.b[0], layout.b[2], layout.b[1])):
            reader, stride = _reader(outer, along)
            tables = {INNER: [outer], OUTER: [], BY_OUTER: [outer, along], BY_INNER: [outer, along]}[reader]
            padded = [where, *(np.pad(t, (0, _AHEAD), mode="edge") for t in tables)]
            readers.append(reader)
            given.append([call.memory.put(t, call.traffic) for t in padded] + ([stride] if reader == OUTER else []))
        return [self._kernels(plan[0], (readers[0], readers[1])), *given, plan]

    def _kernels(self, tile: Tile, readers: tuple[str, str]) -> tuple[Any, Any]:
        """Return the compiled kernels of products and of sums of parts."""
        key = tile, readers
        if key not in self._starts:
            text = tiled_source(self._dtype.name, self._device.dialect, tile, readers)
            operands = [[True, False, True, *([False] if r == OUTER else [True] * (1 + (r != INNER)))] for r in readers]
            pointers = [False] * 5 + operands[0] + operands[1] + [True, False]
            self._starts[key] = (
                self._device.kernel(text, self.name, pointers),
                self._device.kernel(text, f"{self.name}_sum", [False, False, True, True, False]),
            )
        found: tuple[Any, Any] = self._starts[key]
        return found

    def _tiled(self, layout: Layout, tables: list[Any], a: Any, b: Any, made: Any, call: Call) -> None:
        (batch, rows, inner), across = (t.size for t in layout.a), layout.b[2].size
        (product, add), of_a, of_b, (tile, parts, share) = tables
        whole = made if parts == 1 else call.empty(self._dtype, (parts, batch, rows, across))
        given = (rows, across, inner, batch, share, At(a), *of_a, At(b), *of_b, At(whole))
        high, wide = tile.sides(self._dtype.name)
        grid = (-(-across // wide) * tile.items, -(-rows // high), batch * parts)
        call.launch(product, grid, (tile.items, 1, 1), given, whole)
        if parts > 1:
            count = batch * rows * across
            call.launch(add, *item_grid([count], self._device), (count, parts, whole, At(made)), made)


def _reader(outer: np.ndarray, inner: np.ndarray) -> tuple[str, int]:
    """Return the reader of an operand with these offsets, and the stride along k if it is constant."""
    across, along = np.diff(outer), np.diff(inner)
    stride = int(along[0]) if along.size else 0
    is_constant = bool((along == stride).all())
    if along.size and is_constant and stride == 1:
        return INNER, 1
    if is_constant and bool((across == 1).all()):
        return OUTER, stride
    share = [float((steps == 1).mean()) if steps.size else 0.0 for steps in (across, along)]
    return (BY_OUTER if share[0] >= share[1] else BY_INNER), stride


def _plan(dtype: str, device: Device, batch: int, rows: int, across: int, inner: int) -> tuple[Tile, int, int]:
    """Return the tile, the number of parts of k and the length of a part that take the least time, by an estimate.

    The time is that of the processor with most tiles.  It depends on lengths alone, and so do the bits.
    """
    least = -(-inner // _LONGEST)
    found: list[tuple[float, int, Tile, int, int]] = []
    for tile in (t for t in tiles(dtype) if t.items <= device.items):
        high, wide = tile.sides(dtype)
        groups = -(-rows // high) * -(-across // wide) * batch
        for doubled in range(_PARTS.bit_length()):
            wanted = max(least, 1 << doubled)
            share = -(-inner // wanted // tile.depth) * tile.depth
            parts = -(-inner // share)
            if parts > least and share < _PART:
                break
            busiest = -(-groups * parts // device.units)
            busy = min(1.0, busiest * tile.items / RESIDENT) ** 0.5
            cost = busiest * high * wide * share / (tile.rate * busy)
            if parts > 1:
                cost += _LAUNCH + _MOVED * (parts + 1) * batch * rows * across / device.units
            found.append((cost, len(found), tile, parts, share))
    _, _, tile, parts, share = min(found)
    return tile, parts, share


# --- layouts


def _matrices(op: Op, shapes: Shapes, strides: Shapes) -> Layout | None:
    """Return the layout of `dot` and `matmul`; a vector is a row or a column."""
    (n, m), (s, t) = shapes, strides
    rows, across = n[:-1][-1:], m[1:][-1:] if len(m) < 3 else m[-1:]
    inner = m[0] if len(m) == 1 else m[-2]
    if n[-1] != inner:
        return None
    try:
        batch = np.broadcast_shapes(n[:-2], m[:-2])
    except ValueError:
        return None
    shape, along = (*batch, *rows, *across), offsets(n[-1:], s[-1:])
    if math.prod(m[:-2]) == 1:  # all matrices of the batch meet the same one: their rows become those of one matrix
        batch, a = (), (offsets((), ()), offsets(n[:-1], s[:-1]), along)
    else:
        a = (_batch(n, s, batch), offsets(rows, s[:-1][-1:]), along)
    b_inner = t[0] if len(m) == 1 else t[-2]
    b = (_batch(m, t, batch), offsets((inner,), (b_inner,)), offsets(across, t[-1:] if across else ()))
    high, wide = a[1].size, math.prod(across)
    c = (np.arange(math.prod(batch), dtype=np.int64) * (high * wide), np.arange(high, dtype=np.int64) * wide)
    return Layout(shape, a, b, c)


def _batch(shape: Sequence[int], strides: Sequence[int], batch: tuple[int, ...]) -> np.ndarray:
    """Return the offset of each matrix of a batch; 0 along axes that are broadcast."""
    own = len(shape) - 2
    if own <= 0:
        return np.zeros(math.prod(batch), np.int64)
    steps = [0 if n == 1 else s for n, s in zip(shape[:own], strides[:own])]
    return offsets(batch, [0] * (len(batch) - own) + steps)


def _convolution(op: Any, shapes: Shapes, strides: Shapes) -> Layout | None:
    """Return the layout of a convolution: outputs are rows, positions columns; channels and offsets are summed."""
    (x, w), (xs, ws) = shapes, strides
    kernel, positions, groups = w[2:], _positions(op, x[2:], w[2:]), op.groups
    if positions is None or x[1] != w[1] * groups or w[0] % groups:
        return None
    high, wide = w[0] // groups, math.prod(positions)
    a = (offsets((x[0], groups), (0, high * ws[0])), offsets((high,), ws[:1]), offsets(w[1:], ws[1:]))
    along = [s * d for s, d in zip(xs[2:], op.dilation)]
    steps = [s * d for s, d in zip(xs[2:], op.stride)]
    b = (
        offsets((x[0], groups), (xs[0], w[1] * xs[1])),
        offsets((w[1], *kernel), (xs[1], *along)),
        offsets(positions, steps),
    )
    c = (offsets((x[0], groups), (w[0] * wide, high * wide)), offsets((high,), (wide,)))
    return Layout((x[0], w[0], *positions), a, b, c, (1, 0))


def _positions(op: Any, lengths: Sequence[int], kernel: Sequence[int]) -> tuple[int, ...] | None:
    """Return the number of windows along each axis; None if a kernel does not fit."""
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, op.dilation)]
    if any(k < 1 or span > n for k, span, n in zip(kernel, spans, lengths)):
        return None
    return tuple((n - span) // s + 1 for n, span, s in zip(lengths, spans, op.stride))


def _kernel_gradient(op: Any, shapes: Shapes, strides: Shapes) -> Layout | None:
    """Return the layout of a kernel gradient: outputs are rows, channels and offsets columns; the rest is summed."""
    (x, g, kernel), (xs, gs), groups = shapes, strides, op.groups
    positions = _positions(op, x[2:], kernel)
    if positions is None or (x[0], positions) != (g[0], g[2:]) or x[1] % groups or g[1] % groups:
        return None
    high, channels = g[1] // groups, x[1] // groups
    wide = channels * math.prod(kernel)
    a = (
        offsets((groups,), (high * gs[1],)),
        offsets((high,), gs[1:2]),
        offsets((g[0], *positions), (gs[0], *gs[2:])),
    )
    along = [s * d for s, d in zip(xs[2:], op.dilation)]
    steps = [s * d for s, d in zip(xs[2:], op.stride)]
    b = (
        offsets((groups,), (channels * xs[1],)),
        offsets((x[0], *positions), (xs[0], *steps)),
        offsets((channels, *kernel), (xs[1], *along)),
    )
    c = (offsets((groups,), (high * wide,)), offsets((high,), (wide,)))
    return Layout((g[1], channels, *kernel), a, b, c, (1, 0))


_LAYOUTS: dict[type[Op], Callable[[Any, Shapes, Shapes], Layout | None]] = {
    Dot: _matrices,
    MatMul: _matrices,
    Convolution: _convolution,
    KernelGradient: _kernel_gradient,
}
KINDS = tuple(_LAYOUTS)
"""Ops with such a kernel; other products are expanded to them."""
