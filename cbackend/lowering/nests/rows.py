"""Kernels that read rows more than once: all passes over one row run while it is in the cache.

    for rows:
        total0 = 0; for element in row: total0 += x[j]                            pass 0
        const mean = total0 / n
        total1 = 0; for element in row: d = x[j] - mean; total1 += d * d          pass 1
        const scale = 1 / sqrt(total1 / n)
        for element in row: y[j] = (x[j] - mean) * scale * w[j]                   pass 2

Which value belongs to which pass, and which ones wait in the memory of an output, says `row_plan`
(ops/lowered/row_passes.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from ....graph import Apply, FunctionGraph, Variable
from ....ops.lowered.fused import Fused
from ....ops.lowered.row_passes import RowPlan, Waiting, opened, reduced_axes_of, row_plan
from ....ops.reductions.reduce import Reduce
from ....record import record
from ...ir.loops import Assign, Body, ElementPointer, Let, Local, Statement, Store
from ..blocks import in_blocks, register, started, total
from ..group import Group, Place, Result
from ..nest import Nest, Operands
from ..strips import costly_in_strips
from .reduce import Reducing, accumulators


@record
class Rows:
    """A row graph over loops; the last loop runs along the row.

    `shown` is the group of the node's results, for comments; `group` the same with nested ops expanded; `plan` the
    work of each pass.
    """

    shown: Group
    group: Group
    plan: RowPlan
    folds: tuple[tuple[Result, ...], ...]
    """The reductions of each pass, in the order of `plan.folded`."""

    @property
    def along(self) -> int:
        return self.group.rank - 1

    @property
    def reductions(self) -> list[Result]:
        """The reductions of all passes."""
        return [r for results in self.folds for r in results]

    def operands(self) -> Operands:
        """The arrays that all passes read and write."""
        roots = self.reductions + [r for r in self.group.results if r.fold is None]
        known = frozenset(itertools.chain(*self.plan.folded))
        return Operands(self.group, [(r.value, r.place) for r in roots], known)


def rows_of(node: Apply) -> Rows:
    """Return the rows of a fused row graph, or of a softmax along the last axis."""
    graph = node.op.graph if isinstance(node.op, Fused) else _alone(node)
    plan = row_plan(opened(graph))
    operands = [r.owner.inputs[0] for results in plan.folded for r in results if r.owner is not None]
    moving = [a for a in range(plan.rank) if a == plan.rank - 1 or all(v.type.shape[a] != 1 for v in operands)]
    place = tuple(moving.index(a) if a in moving else None for a in range(plan.rank))
    folds = tuple(tuple(_fold(r, place) for r in results) for results in plan.folded)
    shown, group = (
        Group(g.inputs, tuple(_result(o, place) for o in g.outputs), len(moving)) for g in (graph, plan.graph)
    )
    return Rows(shown, group, plan, folds)


def _alone(node: Apply) -> FunctionGraph:
    """Return the graph of one softmax or reduction, whose axis has a loop even if its length is known to be 1."""
    (x,) = node.inputs
    *rest, length = x.type.shape
    leaf = type(node.op).variable_class(x.type.with_shape((*rest, None if length == 1 else length)))
    return FunctionGraph([leaf], node.op(leaf).owner.outputs)


def _fold(reduction: Variable, place: Place) -> Result:
    assert reduction.owner is not None
    node = reduction.owner
    empty = isinstance(node.op, Reduce) and node.op.empty
    return Result(node.inputs[0], place, node.op.name, (len(place) - 1,), reduction.dtype, empty)


def _result(output: Variable, place: Place) -> Result:
    if reduced_axes_of(output) is not None:
        return _fold(output, place)
    if output.ndim < len(place):
        return Result(output, place[:-1], None, (), output.dtype)
    kept = place if output.type.shape[-1] != 1 else (*place[:-1], None)
    return Result(output, kept, None, (), output.dtype)


# --- the passes


class _Passes:
    """The body of the loop over rows under construction, and the statements around it by depth."""

    def __init__(self, rows: Rows, operands: Operands) -> None:
        self.rows = rows
        self.operands = operands
        self.fallible = False
        self._names = (f"v{n}" for n in itertools.count())
        self._numbers = itertools.count()
        self._totals: dict[tuple[Variable, Place], Local] = {}
        self._depth = rows.group.rank - 1
        self._at: list[list[Statement]] = [[] for _ in range(rows.group.rank)]
        self._pointers: set[str] = set()

    def body(self) -> Body:
        """All statements of the kernel."""
        for number in range(self.rows.plan.passes):
            self._pass(number)
        self._finish()
        nest = self._nest(self.rows.plan.passes)
        nest.at = [*self._at, []]
        return (*nest.at[0], *nest.looped((), self._depth))

    def _nest(self, number: int) -> Nest:
        """Return the nest of a pass, with the results of earlier passes known."""
        nest = Nest(range(self._depth + 1), self.operands, self._names)
        for key, local in self._totals.items():
            nest.know(key, local, self._depth)
        return nest

    def _emit(self, nest: Nest, inside: Iterable[Statement]) -> None:
        """Add the statements of the nest outside its inner loop, then `inside`."""
        for depth in range(self._depth + 1):
            for s in nest.at[depth]:
                if isinstance(s, ElementPointer):
                    if s.name in self._pointers:
                        continue
                    self._pointers.add(s.name)
                self._at[depth].append(s)
        self._at[self._depth].extend(inside)

    def _pass(self, number: int) -> None:
        plan, group = self.rows.plan, self.rows.group
        nest = self._nest(number)
        here = [w for w in plan.waiting if w.slot is not None]
        for w in here:
            if w.since < number <= w.until:
                nest.know_stored((w.value, self._whole()), slot_of(w))
        folding = accumulators(nest, list(enumerate(self.rows.folds[number])), self._numbers)
        stores = [
            nest.store(k, nest.cast(nest.value(r.value, r.place), r.dtype))
            for k, r in ((k, group.results[k]) for k in plan.written[number])
        ]
        stores += [
            nest.store(slot_of(w), nest.value(w.value, self._whole()))
            for w in here
            if w.since == number and plan.graph.outputs[slot_of(w)] is not w.value
        ]
        if folding or stores:
            self._emit(nest, _inner(nest, folding, stores))
        self.fallible |= nest.fallible
        for reduction, result, fold in zip(plan.folded[number], self.rows.folds[number], folding, strict=True):
            local = Local(reduction.dtype, f"r{len(self._totals)}")
            value = fold.recipe.result(tuple(total(s) for s in fold.slots))
            self._at[self._depth].append(Let(local.name, value))
            self._totals[reduction, result.place[:-1]] = local

    def _whole(self) -> Place:
        return self.rows.folds[0][0].place

    def _finish(self) -> None:
        """Write the results with one element per row."""
        nest = self._nest(self.rows.plan.passes)
        stores: list[Store] = []
        for k, (output, result) in enumerate(zip(self.rows.plan.graph.outputs, self.rows.group.results, strict=True)):
            if result.fold is not None:
                stores.append(nest.store(k, self._totals[output, result.kept]))
            elif k in self.rows.plan.single:
                stores.append(nest.store(k, nest.cast(nest.value(result.value, result.place), result.dtype)))
        self._emit(nest, stores)


def slot_of(waiting: Waiting) -> int:
    """Return the output whose memory holds a value for a later pass."""
    assert waiting.slot is not None
    return waiting.slot


def _inner(nest: Nest, folding: Sequence[Reducing], stores: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the loop along the row."""
    slots = [s for r in folding for s in r.slots]
    updates = [Assign(register(s), s.lane.step(Local(s.lane.dtype, register(s)), s.fed)) for s in slots]
    signs = [(s.lane.sign, register(s)) for s in slots if s.lane.sign is not None]
    general = nest.inner_loop((*updates, *stores), signs, simd=len(signs) == len(slots))
    yield from (s for slot in slots for s in started(slot))
    if slots:
        yield from in_blocks(general, slots)
    else:
        yield from costly_in_strips(general)


def row_body(rows: Rows, operands: Operands) -> tuple[Body, bool]:
    """Return the statements of the kernel, and whether it may refuse an element."""
    passes = _Passes(rows, operands)
    return passes.body(), passes.fallible
