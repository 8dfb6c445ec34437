"""Loop splitting: the loops of a kernel that may be split into parallel chunks, and an estimate of its work.

Cut at a free loop, parts write different elements.  Cut at a reduced loop, each has results of its own, in the dtype of
the output: a float16 would lose too much that way and stays whole.  A position means nothing without its element: one
among all elements is compared by its extremum, another output (with_extremum, optdb/rules/fusion/positions.py).

The estimate is that of the cost model (targets/costs.py), of one thread, for contiguous operands.  It decides how many
threads share free loops.  A reduced loop is cut by lengths alone, since the bits of a sum depend on where it is cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...graph import Apply, Variable
from ...graph.types import numpy_dtype
from ...ops.elementwise.costs import element
from ...ops.elementwise.records import Pointwise
from ...ops.networks.pooling import Pool
from ...targets.current import current
from ..ir.operands import Splits
from ..ir.schedule import DEFAULT, Schedule
from .group import Group, Result
from .nest import Operands
from .nests.position import ORDER_OF

FOLDS = ("sum", "prod", "max", "min", "any", "all")
ELEMENTS_OF_PART = 65536
"""Elements of each part of a long reduction, on every target (runtime/costs.h)."""
ROWS_OF_PART = 2048
"""The same for a reduction of rows into one row: sums of columns."""


def splits_of(group: Group, operands: Operands, whole: Collection[int] = (), schedule: Schedule = DEFAULT) -> Splits:
    """Return the possible splits of the kernel of `group`.  `whole`: loops that it runs more than once."""
    free = tuple(l for l in range(group.rank) if l not in whole and all(l in r.kept for r in group.results))
    others = [l for l in range(group.rank) if l not in whole and l not in free]
    reduced = tuple(l for l in others if all(_adds_up(r, l) for r in group.results) or _is_searched(group.results))
    folds = tuple(r.fold if set(reduced) & set(r.reduced) else None for r in group.results)
    work = _picoseconds(group, operands, bool(whole)) * DEFAULT.grain // schedule.grain
    return Splits(free, reduced, folds, max(work, 1) if schedule.parallel else 1)


def _adds_up(result: Result, loop: int) -> bool:
    """Whether chunks of the loop can be combined: they write other elements, or results that can be merged."""
    foldable = loop in result.reduced and result.fold in FOLDS and result.dtype != "float16"
    return loop in result.kept or foldable


def _is_searched(results: Sequence[Result]) -> bool:
    """Whether these outputs are an argmax or argmin over all elements and the extremum itself."""
    if len(results) != 2 or results[0].fold == results[1].fold or "float16" in (r.dtype for r in results):
        return False
    one, other = results
    orders = {ORDER_OF.get(r.fold or "") for r in results}
    return one.value is other.value and len(orders) == 1 and None not in orders and not (one.kept or other.kept)


def _picoseconds(group: Group, operands: Operands, in_rows: bool) -> int:
    arrays = (*operands.outputs, *operands.inputs)
    moved = sum(numpy_dtype(o.dtype).itemsize for o in arrays if len(o.loops) == group.rank)
    costs = current().costs
    computed = sum(element(node) for node in _nodes(group) if isinstance(node.op, (Pointwise, Pool)))
    computed += sum(costs.gathered(numpy_dtype(node.out.dtype).itemsize, False) for node in group.lookups)
    if in_rows:
        computed += sum(costs.row_byte * numpy_dtype(r.dtype).itemsize for r in group.results)
    return costs.step(moved, computed)


def _nodes(group: Group) -> Iterator[Apply]:
    """Yield the nodes of the group, each once."""
    seen: set[Variable] = set(group.leaves)
    stack = [r.value for r in group.results]
    while stack:
        variable = stack.pop()
        if variable in seen or variable.owner is None:
            continue
        seen.add(variable)
        yield variable.owner
        stack.extend(variable.owner.inputs)
