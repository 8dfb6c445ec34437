"""Row passes for devices: one kernel, in which a group runs all passes over its rows.

    softmax     pass 0: the maximum; pass 1: exponentials and their sum; pass 2: the quotients

Each pass reads the row again, from a cache, and computes again what an earlier pass has computed.  If a row has few
elements an item, the items hold their elements and costly values in registers instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ....graph import Apply, Variable
from ....ops.lowered.fused import Fused
from ....ops.lowered.row_passes import Waiting, is_row_graph
from ....ops.networks.functions import AlongAxis
from ...ir.loops import Assign, ElementPointer, Let, Load, Local, Statement, Store, index
from ...ir.work_items import Pass, WorkItems
from ..group import Place
from ..nest import Nest
from ..nests.rows import Rows, rows_of
from .work_items import fold_of, grouped, require_dtypes

HELD = index("k")
"""The number of an element among those of an item."""


def is_over_rows(node: Apply) -> bool:
    """Whether a node reads rows along the last axis more than once."""
    op = node.op
    if isinstance(op, Fused):
        return is_row_graph(op.graph)
    return isinstance(op, AlongAxis) and op.name != "top" and op.axis == node.inputs[0].ndim - 1


def row_items(node: Apply, held: bool = False) -> WorkItems:
    """Return the device kernel of a node that reads rows more than once.

    `held`: each item holds elements that several passes read in arrays of registers.  Raises TypeError or ValueError,
    with the reason, for a node without a kernel.
    """
    require_dtypes(node)
    rows = rows_of(node)
    if rows.along == 0:
        raise TypeError("a single row would keep one group busy")
    made = _Passes(rows, held)
    found = made.items()
    return _with_registers(found, made.waiting) if held else found


class _Passes:
    """The passes of a kernel under construction."""

    def __init__(self, rows: Rows, held: bool) -> None:
        self._rows, self._operands = rows, rows.operands()
        self._depth = rows.along
        self._names = (f"v{n}" for n in itertools.count())
        self._numbers = itertools.count()
        self._totals: dict[tuple[Variable, Place], Local] = {}
        self._pointers: set[str] = set()
        self.waiting: list[Waiting] = list(rows.plan.waiting) if held else []

    def items(self) -> WorkItems:
        passes = [self._pass(number) for number in range(self._rows.plan.passes)]
        kept = tuple(range(self._depth))
        return grouped(self._rows.group, self._operands, kept, (self._depth,), passes, self._ending())

    def _nest(self) -> Nest:
        nest = Nest(range(self._depth + 1), self._operands, self._names)
        for key, local in self._totals.items():
            nest.know(key, local, self._depth)
        return nest

    def _pass(self, number: int) -> Pass:
        plan, group, nest = self._rows.plan, self._rows.group, self._nest()
        whole = self._rows.folds[0][0].place
        for k, w in enumerate(self.waiting):
            if w.since < number <= w.until:
                nest.know_inside((w.value, whole), Load(w.value.dtype, f"waiting{k}", HELD))
        folds, assigned = [], list[Statement]()
        for reduction, result in zip(plan.folded[number], self._rows.folds[number], strict=True):
            fold = fold_of(next(self._numbers), str(result.fold), result.dtype)
            value = nest.cast(nest.value(result.value, result.place), result.dtype)
            assigned.append(Assign(fold.value, fold.with_value(value)))
            folds.append(fold)
            self._totals[reduction, result.place[:-1]] = Local(fold.dtype, fold.result)
        results = ((k, group.results[k]) for k in plan.written[number])
        stores = [nest.store(k, nest.cast(nest.value(r.value, r.place), r.dtype)) for k, r in results]
        stores += [
            Store(f"waiting{k}", HELD, nest.value(w.value, whole))
            for k, w in enumerate(self.waiting)
            if w.since == number
        ]
        _require_infallible(nest)
        return Pass(self._once(nest), (*nest.at[-1], *assigned, *stores), tuple(folds))

    def _once(self, nest: Nest) -> tuple[Statement, ...]:
        """Return the statements before the loop along the row, each pointer once in the kernel."""
        found = [s for s in itertools.chain(*nest.at[:-1]) if getattr(s, "name", "") not in self._pointers]
        self._pointers.update(s.name for s in found if isinstance(s, ElementPointer))
        return tuple(found)

    def _ending(self) -> tuple[Statement, ...]:
        """Return the statements that write the results with one element per row."""
        nest, plan, stores = self._nest(), self._rows.plan, list[Statement]()
        for k, (output, result) in enumerate(zip(plan.graph.outputs, self._rows.group.results, strict=True)):
            if result.fold is not None:
                stores.append(nest.store(k, self._totals[output, result.kept]))
            elif k in plan.single:
                stores.append(nest.store(k, nest.cast(nest.value(result.value, result.place), result.dtype)))
        _require_infallible(nest)
        return (*self._once(nest), *stores)


def _require_infallible(nest: Nest) -> None:
    if nest.fallible:
        raise TypeError("a kernel on a device cannot refuse an element")


def _with_registers(found: WorkItems, waiting: Sequence[Waiting]) -> WorkItems:
    """Return the kernel with elements in registers that a later pass reads again.

    const f32 v0 = x0_0[i1 * x0_s1];      -->  pass 0: the same, and held0[k] = v0;
                                               pass 1: const f32 v3 = held0[k];
    """
    reads = [[s.value for s in p.body if isinstance(s, Let) and isinstance(s.value, Load)] for p in found.passes]
    first: dict[Load, int] = {}
    again: dict[Load, str] = {}
    for number, loads in enumerate(reads):
        for load in loads:
            if first.setdefault(load, number) < number and load.index != HELD:
                again.setdefault(load, f"held{len(again)}")

    def body(number: int) -> Iterator[Statement]:
        for s in found.passes[number].body:
            if not isinstance(s, Let) or s.value not in again:
                yield s
                continue
            assert isinstance(s.value, Load)
            array = again[s.value]
            if first[s.value] < number:
                yield replace(s, value=Load(s.value.dtype, array, HELD))
            else:
                yield s
                yield Store(array, HELD, Local(s.value.dtype, s.name))

    passes = tuple(replace(p, body=tuple(body(number))) for number, p in enumerate(found.passes))
    held = (
        *((a, load.dtype) for load, a in again.items()),
        *((f"waiting{k}", w.value.dtype) for k, w in enumerate(waiting)),
    )
    kernel = replace(found.kernel, body=tuple(itertools.chain(*((*p.once, *p.body) for p in passes), found.ending)))
    return replace(found, kernel=kernel, passes=passes, held=held)
