"""Bounds of slices that count from the front: lengths of parts in the gradients of loops are then known.

    scan{fn(i, g, x) -> sum_to(g[:i + 1], x[:i + 1])}(n, arange(n), ...)
    -->
    scan{fn(i, g, x) -> sum_to(g[:maximum(i + 1, 0)], x[:maximum(i + 1, 0)])}(n, arange(n), ...)

A bound below 0 counts from the end, so the length of a part depends on its sign.  Inside a body the sign of a step's
number is unknown; around the loop, where the numbers are made, it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Variable
from ....ops.control.element_bodies import nodes_within
from ....ops.control.scan_ops import Scan
from ....ops.core.tensor import constant
from ....ops.elementwise.records import add, identity, maximum, minimum, mul
from ....ops.reductions.unbroadcasting import SumTo
from ....ops.shapes.creation import Arange
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.lengths import ShapeI, tensor_to_dim
from ....ops.shapes.slices import not_negative
from ....profiling import OptimizerProfile
from ....record import record
from ...contract import Contract, exact
from ...optimizers import MergeOptimizer, Optimizer, Result
from .inner_graphs import admitted
from .scan import without_constants


@record(kw_only=True)
class BoundsFromFront(Optimizer):
    """Clamps bounds of slices in the bodies of gradients, where the loop's numbers show that they are not negative."""

    contract: ClassVar[Contract | None] = exact
    in_bodies: ClassVar[bool] = False

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        loops = [op.graph for op in graph.ops if isinstance(op, Scan)]
        if not any(isinstance(node.op, SumTo) for body in loops for node in nodes_within(body)):
            return graph, OptimizerProfile()
        return admitted(graph, _in_loops(graph, naturals(graph, ())), self.name, editor), OptimizerProfile()


def _in_loops(graph: FunctionGraph, natural: set[Variable]) -> FunctionGraph:
    """Return the graph with clamped bounds in its loops; `natural`: its values that are certainly not negative."""
    return changed_nodes(graph, lambda node: _with_clamped_body(node, natural))


def changed_nodes(graph: FunctionGraph, change: Callable[[Apply], Apply]) -> FunctionGraph:
    """Return the graph with each node changed; `change` gets the nodes of `graph` itself."""
    known: dict[Variable, Variable] = {}
    for node in graph.order:
        new = change(node).over(known)
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
    return graph.with_images(known)


def _with_clamped_body(node: Apply, natural: set[Variable]) -> Apply:
    if not isinstance(node.op, Scan):
        return node
    node = without_constants(node) or node  # an operand that is given twice would have two lengths
    op: Scan = node.op  # type: ignore[assignment]
    body, _ = MergeOptimizer().optimize(op.graph, GraphEditor())
    pairs = zip(body.inputs, node.inputs[1:], strict=True)
    states = set(body.inputs[op.states])
    steady = [leaf for leaf, given in pairs if given in natural and leaf not in states]
    body = _clamped(body, steady)
    return node if body is op.graph else node.with_op(replace(op, graph=body))


def _clamped(body: FunctionGraph, leaves: Iterable[Variable]) -> FunctionGraph:
    """Return a body with clamped bounds, in its inner loops too; `leaves`: inputs that are not negative."""
    natural = naturals(body, leaves)
    return changed_nodes(_in_loops(body, natural), lambda node: _from_front(node, natural))


def _from_front(node: Apply, natural: set[Variable]) -> Apply:
    """Return a read or write of a part with clamped bounds."""
    if not isinstance(node.op, (Subtensor, IncSubtensor)):
        return node
    first = 2 if isinstance(node.op, IncSubtensor) else 1
    bounds: dict[Variable, Variable] = {}
    for index in entries(node.op.spec, node.inputs[first:]):
        for bound in (index.start, index.stop) if isinstance(index, slice) else ():
            if bound in natural and not not_negative(tensor_to_dim(bound)):
                bounds[bound] = maximum(bound, constant(0, "int64"))
    if not bounds:
        return node
    return Apply(node.op, [*node.inputs[:first], *(bounds.get(i, i) for i in node.inputs[first:])], node.origin)


def naturals(graph: FunctionGraph, leaves: Iterable[Variable]) -> set[Variable]:
    """Return the integers of a graph, and vectors of them, that are certainly not negative if `leaves` are not."""
    found = set(leaves)

    def holds(v: Variable) -> bool:
        return v in found or (isinstance(v, Constant) and v.type.kind in "iu" and not (v.data < 0).any())

    for node in graph.order:
        op, inputs = node.op, node.inputs
        if isinstance(op, ShapeI):
            found.add(node.out)
        elif isinstance(op, Arange):
            step = inputs[2].data if isinstance(inputs[2], Constant) else 0
            end = inputs[1].data if isinstance(inputs[1], Constant) else -2
            if (step > 0 and holds(inputs[0])) or (step < 0 and end >= -1):
                found.add(node.out)
        elif node.outputs[0].dtype != "int64":  # sums of fewer bits wrap around
            continue
        elif op is maximum:
            found.update(node.outputs if any(map(holds, inputs)) else ())
        elif op in _KEEPING or isinstance(op, Subtensor):
            found.update(node.outputs if all(map(holds, inputs[: 1 if isinstance(op, Subtensor) else None])) else ())
    return found


_KEEPING = (add, mul, minimum, identity)
"""Operations whose results are not negative if no operand is."""
