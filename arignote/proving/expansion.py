"""Graphs with all groups opened: equal ops on equal operands, in whatever groups they stand, are the same values."""

from __future__ import annotations

from typing import Any

from ..graph import Apply, Constant, FunctionGraph, Variable, toposort
from .claims import Instance

ROUNDS = 12
"""Depth of groups inside groups that is followed."""


def same_ops(instance: Instance) -> bool:
    """Whether both graphs are the same ops on the same operands once groups are opened.

    A group is an op with a body: a fused one, one that may write in place, a BLAS call.
    """
    table: dict[Any, int] = {}
    one, other = (_numbered(graph, table) for graph in (instance.before, instance.after))
    return one == other


def _numbered(graph: FunctionGraph, table: dict[Any, int]) -> list[int]:
    """The numbers of the outputs; equal numbers are equal values."""
    known: dict[Variable, int] = {v: table.setdefault(("input", n), len(table)) for n, v in enumerate(graph.inputs)}
    outputs = opened_groups(graph)
    for node in toposort(outputs, stop_at=graph.inputs):
        inputs = tuple(_number(i, known, table) for i in node.inputs)
        for k, output in enumerate(node.outputs):
            known[output] = table.setdefault((node.op, inputs, k), len(table))
    return [_number(o, known, table) for o in outputs]


def _number(variable: Variable, known: dict[Variable, int], table: dict[Any, int]) -> int:
    if isinstance(variable, Constant):
        return table.setdefault(variable.key, len(table))
    return known[variable]


def opened_groups(graph: FunctionGraph) -> list[Variable]:
    """The outputs of a graph, computed by ops without a body."""
    outputs = list(graph.outputs)
    for _ in range(ROUNDS):
        made: dict[Variable, Variable] = {}
        found = False
        for node in toposort(outputs, stop_at=graph.inputs):
            inputs = [made.get(i, i) for i in node.inputs]
            body = node.op.body(inputs) if hasattr(node.op, "body") else None
            if body is None:
                body = node.outputs if inputs == list(node.inputs) else Apply(node.op, inputs, node.origin).outputs
            else:
                found = True
            made.update(zip(node.outputs, body, strict=True))
        outputs = [made.get(o, o) for o in outputs]
        if not found:
            break
    return outputs
