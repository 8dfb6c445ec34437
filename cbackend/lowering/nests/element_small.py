"""Small arrays in a loop over elements: each element is a number with a name.

    R = [[c, -s], [s, c]];  v = R @ v
    -->
    v0 = c * v[0] + -s * v[1];  v1 = s * v[0] + c * v[1];  the memory of v is v0, v1
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....graph import Apply, Constant, TensorType, Variable
from ....graph.types import numpy_dtype
from ....ops.control.small_arrays import graph_of
from ....ops.elementwise.records import Pointwise
from ....ops.linalg.blas import Dot
from ....ops.lowered.fused import unmarked
from ....ops.reductions.reduce import ArgReduce, Reduce
from ....ops.shapes.indexing import IncSubtensor
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import MakeVector
from ....record import record
from ...ir import loops as ir
from ...ir.kernel import Status
from ..accumulate import recipe
from .element_vectors import Value, Vectors, positions

Position = tuple[int, ...]


@record
class Grid:
    """The elements of a small array by their positions; a number is the element at ()."""

    kind: TensorType
    items: dict[Position, ir.Expr]

    def at(self, position: Position) -> ir.Expr:
        """Return an element of the array broadcast to more axes."""
        own = position[len(position) - len(self.kind.shape) :]
        return self.items[tuple(0 if n == 1 else k for k, n in zip(own, self.kind.shape, strict=True))]


class SmallArrays(Vectors):
    """Statements that compute small arrays element by element."""

    def small(self, node: Apply, given: Sequence[Value]) -> list[Value]:
        """Return the results of a node of small arrays; arrays are stored in memory of their own."""
        grids = [
            Grid(v.type, dict(zip(positions(v.type), self.elements_of(value, v.type), strict=True)))
            for v, value in zip(node.inputs, given, strict=True)
        ]
        found: list[Value] = []
        for grid in self._small(node, grids):
            if not grid.kind.shape:
                found.append(grid.items[()])
                continue
            view = self.memory(grid.kind)
            self.store_elements(view, grid.kind, [*grid.items.values()])
            found.append(view)
        return found

    def _small(self, node: Apply, given: Sequence[Grid]) -> list[Grid]:
        op = unmarked(node.op)
        whole = graph_of(op, tuple(v.type for v in node.inputs))
        if whole is not None:
            known: dict[Variable, Grid] = dict(zip(whole.inputs, given, strict=True))
            for inner in whole.order:
                found = self._small(inner, [_grid(v, known) for v in inner.inputs])
                known.update(zip(inner.outputs, found, strict=True))
            return [_grid(v, known) for v in whole.outputs]
        kind = node.outputs[0].type
        at = self._element(node.with_op(op), given)
        items: dict[Position, ir.Expr] = {}
        for place in positions(kind):
            element = at(place)
            items[place] = self._computed(element) if isinstance(element, ir.ScalarOp) else element
        return [Grid(kind, items)]

    def _element(self, node: Apply, given: Sequence[Grid]) -> Callable[[Position], ir.Expr]:
        """Return the function from a position in the result to its element."""
        op, first = node.op, given[0]
        if isinstance(op, Dot):
            return lambda place: self._product(node, first, given[1], place)
        if isinstance(op, (Reduce, ArgReduce)):
            return lambda place: self._fold(node, first, place)
        if isinstance(op, Pointwise):
            return lambda place: self.applied(node, [grid.at(place) for grid in given])
        found = _moved(node, given)
        return lambda place: self._moved_to(node, found[place])

    def _moved_to(self, node: Apply, found: Sequence[ir.Expr]) -> ir.Expr:
        """Return an element that stands in another place, or the sum of it and what is added there."""
        element, *added = found
        for e in added:
            element = self.op("either" if node.out.dtype == "bool" else "add", node.out.dtype, element, e)
        return element

    def _product(self, node: Apply, a: Grid, b: Grid, place: Position) -> ir.Expr:
        rows = len(a.kind.shape) - 1
        dtype = node.out.dtype
        pairs = [(a.items[(*place[:rows], k)], b.items[(k, *place[rows:])]) for k in range(a.kind.shape[-1] or 0)]
        return self._folded_by("sum", dtype, [self.op("mul", dtype, *pair) for pair in pairs])

    def _fold(self, node: Apply, x: Grid, place: Position) -> ir.Expr:
        op: Any = node.op
        rank = len(x.kind.shape)
        axes = op.axis if isinstance(op, Reduce) else tuple(range(rank)) if op.axis is None else (op.axis,)
        kept = iter(place)
        ranges = [range(n or 0) if axis in axes else (next(kept),) for axis, n in enumerate(x.kind.shape)]
        some = [x.items[position] for position in itertools.product(*ranges)]
        if isinstance(op, ArgReduce):
            return self._position_of(op.name, some)
        if op.fallible and not some:
            self._fail_if(ir.equal(ir.ZERO, ir.ZERO), Status.EMPTY_REDUCTION)
        return self._folded_by(op.name, node.out.dtype, [self.cast(e, node.out.dtype) for e in some])

    def _folded_by(self, name: str, dtype: str, elements: Sequence[ir.Expr]) -> ir.Expr:
        how = recipe(name, dtype)
        totals: list[ir.Expr] = [lane.start for lane in how.lanes]
        for element in elements:
            fed = [self._let_all(e) for e in how.feed(element)]
            totals = [self._let_all(lane.step(a, b)) for lane, a, b in zip(how.lanes, totals, fed, strict=True)]
        return self._let_all(how.result(tuple(totals)))

    def _position_of(self, name: str, elements: Sequence[ir.Expr]) -> ir.Expr:
        """Return the position of the first extremum; a NaN counts as one."""
        place: ir.Expr = ir.ZERO
        best = self.cast(elements[0], "uint8") if elements[0].dtype == "bool" else elements[0]
        for k, element in enumerate(elements[1:], 1):
            element = self.cast(element, best.dtype)
            better = self.op("gt" if name == "argmax" else "lt", "bool", element, best)
            if numpy_dtype(best.dtype).kind == "f":
                is_number = self.op("logical_not", "bool", self.op("isnan", "bool", best))
                first = self.op("logical_and", "bool", self.op("isnan", "bool", element), is_number)
                better = self.op("logical_or", "bool", better, first)
            place = self.let(ir.ScalarOp("switch", "int64", (better, ir.number(k), place)))
            best = self.let(ir.ScalarOp("switch", best.dtype, (better, element, best)))
        return place


def _grid(v: Variable, known: dict[Variable, Grid]) -> Grid:
    """Return the elements of a variable of an inner graph."""
    if v in known:
        return known[v]
    assert isinstance(v, Constant)
    flat = (ir.Const(v.dtype, e) for e in np.asarray(v.data).ravel().tolist())
    return Grid(v.type, dict(zip(positions(v.type), flat, strict=True)))


def _moved(node: Apply, given: Sequence[Grid]) -> dict[Position, list[ir.Expr]]:
    """Return the elements that an op of moves brings to each position: it moves the numbers of the elements alike."""
    op: Any = node.op
    count = len(given) if isinstance(op, (Join, MakeVector)) else 2 if isinstance(op, IncSubtensor) else 1
    moved, others = given[:count], given[count:]
    elements = [e for grid in moved for e in grid.items.values()]
    ends = list(itertools.accumulate((len(grid.items) for grid in moved), initial=0))
    numbers = [
        np.arange(start, stop).reshape([n or 0 for n in grid.kind.shape])
        for grid, start, stop in zip(moved, ends, ends[1:], strict=False)
    ]
    rest: list[Any] = []
    for grid in others:
        values: list[Any] = [*grid.items.values()]
        rest.append(np.array([e.value for e in values]).reshape([n or 0 for n in grid.kind.shape]))
    adds = isinstance(op, IncSubtensor) and not op.set
    (found,) = (replace(op, set=True) if adds else op).evaluate(*numbers, *rest)
    result = {place: [elements[found[place]]] for place in positions(node.out.type)}
    for place, own in result.items():
        if adds and found[place] >= ends[1]:
            own.insert(0, given[0].items[place])
    return result
