"""`partition`: divide the nodes of a graph among engines; parts of other engines become `region` nodes.

The division comes from the function that is compiled (`optdb/dividing.py`).  Without one the graph stays as it is.
"""

from __future__ import annotations

from typing import ClassVar

from ....graph import FunctionGraph
from ....graph.editor import GraphEditor
from ....profiling import OptimizerProfile
from ....record import record
from ...applier import RuleError
from ...contract import Contract, ulp
from ...dividing import current
from ...optimizers import Optimizer, Result


class PartitionError(RuleError, ValueError):
    """No engine of the function runs a node; the text names it."""


@record(kw_only=True)
class PartitionOptimizer(Optimizer):
    """Divides the nodes among the engines of the function.  Raises PartitionError if none of them runs a node."""

    contract: ClassVar[Contract | None] = ulp(4)

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        divide = current()
        found = divide(graph) if divide is not None and graph.order else None
        if isinstance(found, str):
            raise PartitionError(found)
        if found is None:
            return graph, OptimizerProfile()
        outputs, profile = found
        if not profile.regions:
            return graph, profile
        return graph.replace(zip(graph.outputs, outputs, strict=True), self.name, editor), profile
