"""Compositions: their graphs take their places, or become bodies that are compiled once.

    composed{fn(x) -> exp(x) + 1}(y)    -->   exp(y) + 1
    composed{body}(y), composed{body}(z)   -->   cond{body, body}(True, y), cond{body, body}(True, z)

A graph that occurs several times and has many nodes stays a body, which all its calls share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from ....graph import Apply, FunctionGraph, GraphEditor, Variable
from ....ops.control.composed import Composed
from ....ops.control.cond import Cond
from ....ops.control.laziness import with_bodies
from ....ops.core.tensor import constant
from ....profiling import OptimizerProfile
from ....record import record
from ....targets.current import current
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result
from .inner_graphs import admitted


@record(kw_only=True)
class InlineCompositions(Optimizer):
    """Puts the graphs of compositions in their places, in bodies too; large ones used several times become bodies."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return admitted(graph, inlined(graph), self.name, editor), OptimizerProfile()


def inlined(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph without compositions; itself if there are none."""
    found = with_bodies(graph, inlined)
    while any(isinstance(op, Composed) for op in found.ops):
        uses = Counter(node.op for node in found.order if isinstance(node.op, Composed))
        shared = {op for op, count in uses.items() if _stays(op, count)}
        found = found.rebuilt(lambda node: _replaced(node, shared))  # noqa: B023  (called at once)
    return found


def _stays(op: Composed, uses: int) -> bool:
    """Whether a composition becomes a body; None as its wish: if it is used several times and has many nodes."""
    if op.inline is not None:
        return not op.inline
    return uses > 1 and len(op.graph.order) > current().limits.programs.inlined_nodes


def _replaced(node: Apply, shared: set[Composed]) -> Sequence[Variable]:
    op = node.op
    if not isinstance(op, Composed):
        return node.outputs
    if op not in shared:
        return op.expand(node.inputs)
    body = inlined(op.graph)
    return Apply(Cond(body, body), (constant(True), *node.inputs), node.origin).outputs
