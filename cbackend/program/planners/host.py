"""Ops without C: one call back into Python, which runs their NumPy meaning."""

from __future__ import annotations

from ....graph import Apply, Op
from ....graph.facets import how_to_add, reason
from ....graph.text import op_text
from ....ops.elementwise.records import ElementwiseRecord
from ..planned import planned
from ..planner import Planner
from ..program import INTEGER, POINTER, Host


def plan_host(p: Planner, node: Apply) -> None:
    """Plan one call back into Python, which runs the NumPy meaning of the op."""
    results = tuple(p.name("h", POINTER) for _ in node.outputs)
    lengths = [tuple(p.name("n", INTEGER) for _ in range(o.ndim)) for o in node.outputs]
    p.steps.append(Host(p.site, results, tuple(n for row in lengths for n in row), tuple(p.inputs_of(node))))
    for output, name, row in zip(node.outputs, results, lengths, strict=True):
        p.keep_promises(output, row)
        p.put(output, p.dense(name, output.dtype, row))


def no_c(op: Op) -> str:
    """Return why a node of this op is a host step."""
    return f"{op_text(op)} has no C; the call goes back to NumPy for it{how_to_give_c(op)}"


def how_to_give_c(op: Op) -> str:
    """Return the end of a sentence: how to give an op C; empty for an op that lacks it for a reason."""
    if isinstance(op, ElementwiseRecord):
        return f"; pass c= to ag.elementwise_op({op.name!r}, ...)"
    if hasattr(op, "add_c"):
        return f"; {op.add_c}"
    known = planned(type(op)) or reason(type(op), "planner")
    return "" if known else f"; {how_to_add(type(op), 'planner')}"
