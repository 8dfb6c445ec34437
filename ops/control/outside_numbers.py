"""Numbers of a loop's body as values from outside: C is then the same for all of these numbers.

    scan{x -> 0.5 * x}(n, x)   -->   scan{x, c -> c * x}(n, x, 0.5)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...graph import Apply, Constant, FunctionGraph, Op, Variable, rebuild
from ..core.tensor import TensorVariable
from ..lowered.fused import unmarked
from .cond import Cond
from .element_bodies import in_place_order
from .scan_ops import Scan


def with_numbers_outside(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph with arrays and floats of the bodies of loops over elements as inputs of the loops."""
    loops = {op for op in graph.ops if isinstance(unmarked(op), Scan) and in_place_order(unmarked(op)) is not None}
    if not loops:
        return graph

    def visit(node: Apply) -> Sequence[Variable]:
        return _opened(node).outputs if node.op in loops else node.outputs

    return graph.rebuilt(visit)


def _opened(node: Apply) -> Apply:
    """Return a loop or a choice with the arrays and floats of its bodies as further operands."""
    op = unmarked(node.op)
    found: dict[Constant, Variable] = {}
    if isinstance(op, Scan):
        body = _body_opened(op.graph, found)
        new: Op = replace(op, graph=FunctionGraph([*op.graph.inputs, *found.values()], body))
    else:
        outputs = [_body_opened(graph, found) for graph in op.branches]
        new = Cond(*(
            _over_own_leaves(FunctionGraph([*graph.inputs, *found.values()], o))
            for graph, o in zip(op.branches, outputs, strict=True)
        ))  # fmt: skip
    if node.op is not op:
        new = replace(node.op, op=new)  # type: ignore[type-var]
    opened = Apply(new, (*node.inputs, *found), node.origin)
    for mine, old in zip(opened.outputs, node.outputs, strict=True):
        mine.name = old.name
    return opened


def _over_own_leaves(graph: FunctionGraph) -> FunctionGraph:
    """Return an equal graph that shares no leaf with another one."""
    leaves = [TensorVariable(i.type, name=i.name) for i in graph.inputs]
    return FunctionGraph(leaves, rebuild(graph.outputs, dict(zip(graph.inputs, leaves, strict=True))))


def _body_opened(graph: FunctionGraph, found: dict[Constant, Variable]) -> list[Variable]:
    """Return the outputs of a body over leaves for its arrays and floats, which `found` learns."""
    known: dict[Variable, Variable] = {}

    def leaf(v: Variable) -> Variable:
        if isinstance(v, Constant) and (v.ndim or v.type.kind in "fc") and v not in known:
            known[v] = found.setdefault(v, TensorVariable(v.type))
        return known.get(v, v)

    for node in graph.order:
        new = _opened(node) if isinstance(unmarked(node.op), (Scan, Cond)) else node
        for i in new.inputs:
            leaf(i)
        new = new.over(known)
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
            for mine, old in zip(new.outputs, node.outputs, strict=True):
                mine.name = old.name
    return [leaf(o) for o in graph.outputs]
