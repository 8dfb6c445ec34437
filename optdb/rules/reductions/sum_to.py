"""Sums over broadcast axes that matrix products prove unnecessary.

    h = tanh(x @ w);  grad: sum_to(g * (1 - h * h), h) with g = d @ v.T
    h @ v is computed as well, so v has as many rows as h has columns: the sum is its operand

A rule on the node alone cannot know that; the lengths are independent symbols.
"""

from __future__ import annotations

from typing import ClassVar

from ....graph import Apply, FunctionGraph, GraphEditor, Variable
from ....ops.reductions.unbroadcasting import SumTo
from ....profiling import OptimizerProfile
from ....record import record
from ...contract import Contract, relaxes
from ...optimizers import Optimizer, Result
from ..shapes.agreement import Agreement


@record(kw_only=True)
class SumToOptimizer(Optimizer):
    """Replaces `sum_to(x, like)` by `x` if both have the same shape in every run without an error."""

    contract: ClassVar[Contract | None] = relaxes("errors")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        useless = _useless(graph)
        known: dict[Variable, Variable] = {}
        for node in graph.order if useless else ():
            images = node.over(known)
            if node in useless and editor.admit(self.name, node.out, images.inputs[0]):
                known[node.out] = images.inputs[0]
            elif images is not node:
                known.update(zip(node.outputs, images.outputs, strict=True))
        return graph.with_images(known), OptimizerProfile()


def _useless(graph: FunctionGraph) -> set[Apply]:
    """Return the sums that certainly sum over no axis."""
    sums = [node for node in graph.order if isinstance(node.op, SumTo) and node.inputs[0].type.refines(node.out.type)]
    if not sums:
        return set()
    agreement = Agreement(graph)
    return {node for node in sums if agreement.same_shape(*node.inputs)}
