"""Pipeline: ops that read parts of each other's results, as one op: `pipeline{graph}(...)`.

    b = blur(x); y = 2 * b[1:-1] - b[2:]   -->   pipeline{fn(x, ...) -> ...}(x, ...)

It comes from the optimizer of optdb/rules/fusion/pipelines.py.  The backend goes through it a few rows at a time, so
that what stands between two ops need not be kept whole.
"""

from __future__ import annotations

from ...graph import Apply, TensorType, Variable
from ...record import record
from ..shapes.indexing import Subtensor
from ..shapes.shape import DimShuffle
from .fused import GraphOp

VIEWS = (Subtensor, DimShuffle)
"""Ops between stages: slices of a result, and new axes after its own."""


@record(repr=False)
class Pipeline(GraphOp):
    """The function `graph` as one op.  Its nodes are stages, in order, and the views through which others read them."""

    name = "pipeline"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return tuple(o.type for o in self.expand(inputs))  # bounds that are constants say how long a part is

    def stages(self, node: Apply) -> list[Apply]:
        """Return the stages of `node`, an application of this op, over its inputs, without the views between them."""
        return [made for made in self.over(node) if not isinstance(made.op, VIEWS)]
