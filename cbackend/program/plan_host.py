"""Ops without C: one call back into Python, which runs their NumPy meaning."""

from __future__ import annotations

from ...graph import Apply
from .planner import Planner
from .program import INTEGER, POINTER, Host


def plan_host(p: Planner, node: Apply) -> None:
    """Run the NumPy meaning of the op: one call back into Python."""
    results = tuple(p.name("h", POINTER) for _ in node.outputs)
    lengths = [tuple(p.name("n", INTEGER) for _ in range(o.ndim)) for o in node.outputs]
    p.steps.append(Host(p.site, results, tuple(n for row in lengths for n in row), tuple(p.inputs_of(node))))
    for output, name, row in zip(node.outputs, results, lengths, strict=True):
        p.keep_promises(output, row)
        p.put(output, p.dense(name, output.dtype, row))
