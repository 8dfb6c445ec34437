"""Two convolutions in blocks as one op; the second one is a depthwise convolution, one of groups in blocks, or a pool.

    depthwise(relu(pointwise(x, w), v))   -->   convolution_pair{pointwise then relu, depthwise}(x, w, ..., v, ...)

C computes some rows of the first one at a time, for some channels, and stores none of them: pairs.c.  Bounds may
follow either: then it is a `fused_product` with maximum, minimum or clip.  The op comes from
optdb/rules/blocks/pairs.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...graph import Apply, Dim, FunctionGraph, Kind, Op, TensorType, Variable
from ...record import record
from ...record.spelling import counted
from ..core.backward import ByExpansion
from ..core.tensor import Lowered
from ..elementwise import costs
from ..elementwise.records import add, clip, from_bfloat16, maximum, minimum, to_bfloat16


@record(repr=False)
class ConvolutionPair(ByExpansion, Lowered):
    """`second(first(...), ...)` as one op: `first` reads the first `takes` inputs, `second` the others."""

    first: Op
    second: Op
    takes: int
    name = "convolution_pair"
    picture: ClassVar[Kind] = Kind.PRODUCT

    def split(self, inputs: Sequence[Variable]) -> tuple[Variable, Variable]:
        """Return the results of both, node by node.  Raises TypeError for too few inputs."""
        if len(inputs) < self.takes:
            raise TypeError(f"{self.name} takes at least {counted(self.takes, 'input')}, got {len(inputs)}")
        amid = Apply(self.first, inputs[: self.takes]).out
        return amid, Apply(self.second, (amid, *inputs[self.takes :])).out

    def expand(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Return the result as two nodes."""
        return [self.split(inputs)[1]]

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (self.split(inputs)[1].type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return self.second.evaluate(*self.first.evaluate(*values[: self.takes]), *values[self.takes :])

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        amid, out = self.split(node.inputs)
        assert amid.owner is not None and out.owner is not None
        (lengths,) = self.first.dims(amid.owner, inputs[: self.takes])
        return self.second.dims(out.owner, (lengths, *inputs[self.takes :]))

    def operations(self, node: Apply) -> costs.Operations:
        first, second = (made.owner.op.operations(made.owner) for made in self.split(node.inputs) if made.owner)
        return costs.Operations(first.kind, first.count + second.count, first.dtype)


@record
class Ending:
    """The ending of a convolution: inputs of the graph by number, which add to the first one, and clip that, if given.

    `added`: numbers of bfloat16.  `rounded`: whether the result is rounded to such numbers.
    """

    low: int | None
    high: int | None
    added: int | None
    rounded: bool


def bounds_of(graph: FunctionGraph) -> tuple[int | None, int | None] | None:
    """Return the inputs that clip the first one from below and above; None if the graph does anything else."""
    found = ending_of(graph)
    return None if found is None or found.rounded or found.added is not None else (found.low, found.high)


def ending_of(graph: FunctionGraph) -> Ending | None:
    """Return what the graph does: it adds to the first input, clips it and rounds it; None for anything else."""
    found: list[int | None] = [None, None]
    value, added, nodes = graph.inputs[0], None, list(graph.order)
    if len(nodes) > 1 and nodes[0].op == from_bfloat16 and nodes[0].inputs[0] in graph.inputs:
        (wide, total), nodes = nodes[:2], nodes[2:]
        if total.op != add or set(total.inputs) != {value, wide.out}:
            return None
        value, added = total.out, graph.inputs.index(wide.inputs[0])
    rounded = bool(nodes) and nodes[-1].op == to_bfloat16
    for node in nodes[: len(nodes) - rounded]:
        sides = {maximum: (0,), minimum: (1,), clip: (0, 1)}.get(node.op, ())  # type: ignore[call-overload]
        others = [i for i in node.inputs if i is not value]
        in_turn = all(n is None for n in found[min(sides, default=0) :])
        if not sides or not in_turn or len(others) != len(sides) or len(node.inputs) != 1 + len(sides):
            return None
        for side, other in zip(sides, others, strict=True):
            if other not in graph.inputs or other.ndim or other.dtype != value.dtype:
                return None
            found[side] = graph.inputs.index(other)
        value = node.out
    if rounded and nodes[-1].inputs[0] is value:
        value = nodes[-1].out
    return Ending(found[0], found[1], added, rounded) if [value] == list(graph.outputs) and graph.order else None
