"""Layered drawing of an acyclic graph: rows from the inputs down, few crossings, long edges straight.

The steps are those of Sugiyama, Tagawa and Toda (1981): rows by longest path; a place in every row that a long edge
passes; orders by the mean place of the neighbours, swept down and up; then abscissas.  These are, row by row, the
nearest to the neighbours' mean that keep the distances: an isotonic regression, solved exactly by pooling neighbours
that violate the order (Ayer et al., 1955).  Everything is deterministic; ties keep the order of the graph.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from ..record import record
from .boxes import layers_of

GAP_X, GAP_Y = 18.0, 34.0
"""Between neighbours of a row, and between rows, in pixels."""
_SWEEPS = 8
_PATIENCE = 2
"""Sweeps, one down and one up, after which the order stays if neither has fewer crossings."""
_SETTLING = 4
_STRAIGHTENING = 12
_SETTLED = 2.0
"""Pixels; where no vertex moves farther, edges are as straight as they get."""
_STRAIGHT = 0.6
_MOST_BENDS = 8000
"""Places of long edges; where there would be more, long edges go straight through."""

Point = tuple[float, float]


@record
class Layout:
    """Centres of the boxes, a route for each edge (from the lower side of a box to the upper side of another), size."""

    centres: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float


def layout(
    sizes: Sequence[tuple[float, float]], inputs: Sequence[Sequence[int]], rows: Sequence[int] | None = None
) -> Layout:
    """The layout of boxes of these sizes.

    Args:
        inputs: for each box the boxes before it that it reads, one for each operand.
        rows: the row of each box, below those that it reads; by default the highest there is.
    """
    if not sizes:
        return Layout((), (), 0.0, 0.0)
    drawing = _Drawing(sizes, inputs, layers_of(inputs) if rows is None else list(rows))
    drawing.order()
    drawing.place()
    return drawing.finished()


class _Drawing:
    """The state of one drawing: vertices are the boxes and, behind them, the bends of long edges."""

    def __init__(self, sizes: Sequence[tuple[float, float]], inputs: Sequence[Sequence[int]], rows: list[int]) -> None:
        self.sizes, self.inputs, self.row = sizes, inputs, rows
        self.widths = [width for width, _ in sizes]
        self.above: list[list[int]] = [[] for _ in sizes]
        self.below: list[list[int]] = [[] for _ in sizes]
        self.bends: dict[tuple[int, int], list[int]] = {}
        pairs = list(dict.fromkeys((i, k) for k, reads in enumerate(inputs) for i in reads))
        bending = sum(self.row[k] - self.row[i] - 1 for i, k in pairs) <= _MOST_BENDS
        for i, k in pairs:
            self._connect(i, k, bending)
        self.rows: list[list[int]] = [[] for _ in range(max(self.row) + 1)]
        for vertex, row in enumerate(self.row):
            self.rows[row].append(vertex)
        self.x = [0.0] * len(self.row)

    def _connect(self, start: int, end: int, bending: bool) -> None:
        chain = [start]
        for row in range(self.row[start] + 1, self.row[end] if bending else 0):
            chain.append(len(self.row))
            self.row.append(row)
            self.widths.append(4.0)
            self.above.append([])
            self.below.append([])
        self.bends[start, end] = chain[1:]
        chain.append(end)
        for upper, lower in pairwise(chain):
            self.below[upper].append(lower)
            self.above[lower].append(upper)

    # --- orders
    def order(self) -> None:
        """Sort each row into the order with the fewest crossings that the sweeps find."""
        best, least, since = [list(row) for row in self.rows], self._crossings(), 0
        for sweep in range(_SWEEPS):
            if not least or since == _PATIENCE:
                break
            down = sweep % 2 == 0
            rows = self.rows if down else self.rows[::-1]
            place = self._places()
            for row in rows:
                near = self.above if down else self.below
                if len(row) == 1:
                    continue
                means = {v: _mean([place[n] for n in near[v]], place[v]) for v in row}
                row.sort(key=lambda v, means=means: (means[v], v))  # type: ignore[misc]
                for n, v in enumerate(row):
                    place[v] = float(n)
            crossings = self._crossings()
            since += 1
            if crossings < least:
                best, least, since = [list(row) for row in self.rows], crossings, 0
        self.rows = best

    def _places(self) -> list[float]:
        place = [0.0] * len(self.row)
        for row in self.rows:
            for n, v in enumerate(row):
                place[v] = float(n)
        return place

    def _crossings(self) -> int:
        place = self._places()
        return sum(
            _inversions([int(place[b]) for v in row for b in sorted(self.below[v], key=place.__getitem__)])
            for row in self.rows
        )

    # --- abscissas
    def place(self) -> None:
        """Give each vertex its abscissa."""
        offsets = [self._offsets(row) for row in self.rows]
        weights = [[1.0 if v < len(self.sizes) else 8.0 for v in row] for row in self.rows]

        def spread(k: int, wished: Sequence[float]) -> None:
            """Take the abscissas of row k nearest to the wanted ones that keep order and distances."""
            nearest = isotonic([w - o for w, o in zip(wished, offsets[k])], weights[k])
            for v, offset, x in zip(self.rows[k], offsets[k], nearest):
                self.x[v] = x + offset

        count = len(self.rows)
        for k in range(count):
            spread(k, [0.0] * len(self.rows[k]))
        for sweep in range(_SETTLING):
            down = sweep % 2 == 0
            near = self.above if down else self.below
            for k in range(count) if down else reversed(range(count)):
                spread(k, [_mean([self.x[n] for n in near[v]], self.x[v]) for v in self.rows[k]])
        around = [[*above, *below] for above, below in zip(self.above, self.below)]
        chains = [chain for chain in self.bends.values() if chain]
        alone = [any(not around[v] for v in row) for row in self.rows]
        for _ in range(_STRAIGHTENING):
            before = list(self.x)
            wished = [_mean([self.x[n] for n in near], x) for near, x in zip(around, self.x)]
            for chain in chains:  # a bend wishes to be where its whole edge is
                mean = _mean([self.x[v] for v in chain], 0.0)
                wished[chain[0] : chain[-1] + 1] = [mean] * len(chain)
            for k, row in enumerate(self.rows):
                if alone[k]:
                    middle = _mean([wished[v] for v in row if around[v]], 0.0)
                    spread(k, [wished[v] if around[v] else middle for v in row])
                else:
                    spread(k, [wished[v] for v in row])
            if all(abs(x - old) <= _SETTLED for x, old in zip(self.x, before)):
                break

    def _offsets(self, row: Sequence[int]) -> list[float]:
        """The least distances of the vertices of a row from its first one."""
        offsets, offset = [], 0.0
        for n, v in enumerate(row):
            offset += (self.widths[row[n - 1]] + self.widths[v]) / 2 + GAP_X if n else 0.0
            offsets.append(offset)
        return offsets

    # --- the result
    def finished(self) -> Layout:
        boxes = range(len(self.sizes))
        heights = [max((self.sizes[v][1] for v in row if v < len(self.sizes)), default=0.0) for row in self.rows]
        middles, top = [], 0.0
        for height in heights:
            middles.append(top + height / 2)
            top += height + GAP_Y
        left = min(self.x[v] - self.widths[v] / 2 for v in range(len(self.x)))
        right = max(self.x[v] + self.widths[v] / 2 for v in range(len(self.x)))
        centres = [(self.x[v] - left, middles[self.row[v]]) for v in range(len(self.x))]
        routes = [self._route(centres, i, k, n) for k in boxes for n, i in enumerate(self.inputs[k])]
        return Layout(tuple(centres[: len(self.sizes)]), tuple(routes), right - left, top - GAP_Y)

    def _route(self, centres: Sequence[Point], start: int, end: int, operand: int) -> tuple[Point, ...]:
        """Down from `start` over the bends to the place of the operand on the upper side of `end`."""
        (x0, y0), (x1, y1) = centres[start], centres[end]
        count, (width, height) = len(self.inputs[end]), self.sizes[end]
        port = x1 + (operand - (count - 1) / 2) * min(14.0, (width - 12) / count)
        bends = _without_straight([centres[b] for b in self.bends[start, end]])
        return ((x0, y0 + self.sizes[start][1] / 2), *bends, (port, y1 - height / 2))


def _without_straight(points: Sequence[Point]) -> list[Point]:
    """The points without those inside a vertical segment."""
    kept = [
        here
        for before, here, after in zip(points, points[1:], points[2:])
        if abs(before[0] - here[0]) > _STRAIGHT or abs(here[0] - after[0]) > _STRAIGHT
    ]
    return [points[0], *kept, points[-1]] if len(points) > 1 else list(points)


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _inversions(values: Sequence[int]) -> int:
    """The number of inversions, by insertion: a row has few enough that no tree of counts is faster."""
    ordered: list[int] = []
    found = 0
    for seen, value in enumerate(values):
        place = bisect_right(ordered, value)
        found += seen - place
        ordered.insert(place, value)
    return found


def isotonic(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The non-decreasing sequence nearest to `values` in weighted squares."""
    pools: list[tuple[float, float, int]] = []  # mean, weight, length
    for value, weight in zip(values, weights):
        mean, total, length = value, weight, 1
        while pools and pools[-1][0] > mean:
            before, mass, count = pools.pop()
            mean = (before * mass + mean * total) / (mass + total)
            total, length = mass + total, length + count
        pools.append((mean, total, length))
    return [mean for mean, _, length in pools for _ in range(length)]
