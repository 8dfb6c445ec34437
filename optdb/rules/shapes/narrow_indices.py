"""Integer arrays of few bits that index as they are.

    advanced_subtensor{spec=('a',)}(x, cast{dtype='int64'}(i))   -->   advanced_subtensor{spec=('a',)}(x, i)

Indices are of int64 when a graph is built.  The kernels of gathers and scatters read any integers, so bytes need not be
written as numbers of eight bytes and read again.
"""

from __future__ import annotations

from typing import ClassVar

from ....graph import Apply, FunctionGraph, GraphEditor, Variable
from ....ops.elementwise.casting import Cast
from ....ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ....ops.shapes.indexing import INDEX_DTYPES, joint_position
from ....profiling import OptimizerProfile
from ....record import record
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result
from ..control.counting import changed_nodes
from ..control.inner_graphs import admitted


@record(kw_only=True)
class NarrowIndices(Optimizer):
    """Lets gathers and scatters read arrays of indices in their own dtype; not in the bodies of loops."""

    contract: ClassVar[Contract | None] = exact
    in_bodies: ClassVar[bool] = False

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        if not any(isinstance(op, (AdvancedSubtensor, AdvancedIncSubtensor)) for op in graph.ops):
            return graph, OptimizerProfile()
        return admitted(graph, changed_nodes(graph, _with_narrow_indices), self.name, editor), OptimizerProfile()


def _with_narrow_indices(node: Apply) -> Apply:
    op = node.op
    if not isinstance(op, (AdvancedSubtensor, AdvancedIncSubtensor)) or joint_position(op.spec) > 0:
        return node  # loops outside those of the indices: these are checked by another kernel
    first = 1 if isinstance(op, AdvancedSubtensor) else 2
    return node.with_inputs((*node.inputs[:first], *map(_narrow, node.inputs[first:])))


def _narrow(index: Variable) -> Variable:
    """Return the array of which `index` is a cast, if it is one of integers that int64 holds."""
    made = index.owner
    if made is None or not isinstance(made.op, Cast) or not index.ndim or index.dtype != "int64":
        return index
    return made.inputs[0] if made.inputs[0].dtype in INDEX_DTYPES else index
