"""Writes that no result reads: NumPy still raises IndexError for a bad index among them.

    y = np.zeros(3); y[i] = 2.; return x    -->    y is one more result, which the call leaves out

Only writes whose index can be out of range count, also those in loops and branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..graph import Apply, Constant, Op, Variable, leaves, toposort
from ..ops.control.cond import Cond
from ..ops.control.scan_ops import Scan
from ..ops.core.tracing import Trace
from ..ops.shapes.advanced_indexing import AdvancedIncSubtensor
from ..ops.shapes.indexing import IncSubtensor


def unread_writes(trace: Trace, inputs: Iterable[Variable], outputs: Iterable[Variable]) -> list[Variable]:
    """Return the arrays that no output needs, and whose writes may fail: each the elements that an array has last.

    Arrays of one example of `ag.vmap`, which depend on other leaves than the inputs, are left out.
    """
    last = [v for base, v in trace.stored.items() if v is not base and base is not trace.overflow]
    last = [v for v in last if isinstance(v, Variable) and v.owner is not None]
    if not last:
        return []
    given = set(inputs)
    needed = {v for node in toposort(outputs) for v in node.outputs}
    found = []
    for v in last:
        nodes = toposort([v], stop_at=needed) if v not in needed else []
        if any(map(_may_fail, nodes)) and all(_is_known(leaf, given) for leaf in leaves([v])):
            found.append(v)
            needed |= {o for node in nodes for o in node.outputs}
    return found


def _is_known(leaf: Variable, given: set[Variable]) -> bool:
    """Whether a leaf has a value in a call: an input, a constant or a shared variable."""
    return leaf in given or isinstance(leaf, Constant) or hasattr(leaf, "get_value")


def _may_fail(node: Apply) -> bool:
    """Whether a node writes by an index that may be out of range."""
    op = node.op
    if isinstance(op, (IncSubtensor, AdvancedIncSubtensor)):
        return op.fallible
    return any(_may_fail(inner) for body in _bodies(op) for inner in body)


def _bodies(op: Op) -> Iterator[Iterable[Apply]]:
    """Yield the nodes of the inner graphs of a loop or choice."""
    if isinstance(op, Scan):
        yield op.graph.order
    elif isinstance(op, Cond):
        yield from (branch.order for branch in op.branches)
