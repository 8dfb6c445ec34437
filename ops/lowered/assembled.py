"""Concatenation or padding fusion as one op, `assembled{graph}(...)`: each part is computed in its place in the array.

    join(exp(x), 2 * y)   -->   assembled{fn(x, y) -> join(exp(x), 2 * y)}(x, y)

It comes from the optimizer of optdb/rules/fusion/assembling.py.
"""

from __future__ import annotations

from ...graph import TensorType, Variable
from ...record import record
from .fused import GraphOp


@record(repr=False)
class Assembled(GraphOp):
    """The function `graph` as one op: joins, writes to filled arrays, and the nodes that compute their parts."""

    name = "assembled"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return tuple(o.type for o in self.expand(inputs))  # lengths that are constants say how long a part is
