"""Choices that write to an array in place: each branch that writes becomes a loop of one step or none.

    cond{fn(x, y) -> set_subtensor(x[i], f(y)), fn(x, y) -> x}(c, x, y)
    -->
    scan{fn(x, y) -> set_subtensor(x[i], f(y))}(int64(c), x, y)

A loop keeps a state in one array, and a loop of no step leaves it as it is.  A choice copies it in both branches.
Choices that loops over elements hold stay: these run in place already.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....graph import FunctionGraph, TensorType, Variable, rebuild
from ....ops.control.cond import Cond
from ....ops.control.element_bodies import in_place_branch
from ....ops.control.scan_ops import Scan
from ....ops.core.tensor import TensorVariable, constant
from ....ops.elementwise.records import cast, logical_not
from ....ops.lowered.assumed import bare
from ....ops.shapes.advanced_indexing import AdvancedIncSubtensor
from ....ops.shapes.indexing import IncSubtensor
from ...rule import Rule, node_rule
from ..facts import Node, Value


def conditional_write(node: Node) -> Sequence[Value] | None:
    """Rewrite a choice whose branches leave arrays as they are, or write to them, to loops of one step or none."""
    op: Cond = node.op
    condition, *operands = node.inputs
    bases = [[_written(o, graph) for o in graph.outputs] for graph in op.branches]
    pairs = list(zip(op.then.outputs, *bases, strict=True))
    if any(a != b or (a is None and o.ndim) for o, a, b in pairs) or all(in_place_branch(g) for g in op.branches):
        return None
    first = [constant(np.zeros((), o.dtype)) if a is None else operands[a] for o, a, _ in pairs]
    states: Sequence[Variable] = first
    for graph, holds in zip(op.branches, (condition, logical_not(condition)), strict=True):
        if not _leaves_all(graph, bases[0]):
            states = _loop(graph, bases[0], cast(holds, "int64"), states, operands)
    return states if states is not first else None


def _written(v: Variable, graph: FunctionGraph) -> int | None:
    """Return the number of the input that a value is, after writes to its parts and loops that have it as a state."""
    while (node := v.owner) is not None:
        if isinstance(node.op, Scan):
            place = node.op.replaced.get(v.index)
            if place is None:
                return None
            v = node.inputs[place]
        elif isinstance(node.op, (IncSubtensor, AdvancedIncSubtensor)):
            v = node.inputs[0]
        elif v is bare(v):
            return None
        else:
            v = bare(v)
    return graph.inputs.index(v) if v in graph.inputs else None


def _leaves_all(graph: FunctionGraph, bases: Sequence[int | None]) -> bool:
    """Whether a branch gives its inputs of these numbers."""
    return all(k is not None and o is graph.inputs[k] for k, o in zip(bases, graph.outputs, strict=True))


def _loop(
    graph: FunctionGraph, bases: Sequence[int | None], steps: Variable, first: Sequence[Variable],
    operands: Sequence[Variable],
) -> Sequence[Variable]:  # fmt: skip
    """Return the results of a branch as the states of a loop, of the types that states and results have in common."""
    kinds = [v.type for v in first]
    while True:
        states = [TensorVariable(t) for t in kinds]
        pairs = [(graph.inputs[k], s) for k, s in zip(bases, states, strict=True) if k is not None]
        images: dict[Variable, Variable] = dict(pairs)
        outputs = rebuild(graph.outputs, images)
        common = [_joint(s.type, o.type) for s, o in zip(states, outputs, strict=True)]
        if common == kinds:
            break
        kinds = common
    others = [k for k, i in enumerate(graph.inputs) if i not in images]
    body = FunctionGraph([*states, *(graph.inputs[k] for k in others)], outputs)
    made = Scan(body, traced=(False,) * len(states))(steps, *first, *(operands[k] for k in others))
    return made if isinstance(made, tuple) else (made,)


def _joint(a: TensorType, b: TensorType) -> TensorType:
    """Return the first type without the lengths that the second one, of the same rank, does not have."""
    return a.with_shape(tuple(n if n == m else None for n, m in zip(a.shape, b.shape, strict=True)))


CONDITIONAL: list[Rule] = [
    node_rule("local_conditional_write", Cond, conditional_write,
              formula="cond{set_subtensor(x[i], y), x}(c, x, y) -> scan{set_subtensor(x[i], y)}(int64(c), x, y)"),
]  # fmt: skip
