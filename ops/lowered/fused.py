"""Ops made of ops: a fused group, which becomes one kernel, and an op that may overwrite its inputs.

`Fused` comes from the fusion optimizers, `InPlace` from the in-place optimizers; both mean exactly what is inside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, FunctionGraph, Kind, Lacks, Op, TensorType, Variable, rebuild, toposort
from ...graph.dims import atoms, opaque_dims
from ...record import record
from ...record.spelling import counted
from ..core.backward import ByExpansion, pull_back_to
from ..core.interpret import interpret
from ..core.tensor import Lowered, TensorOp
from ..shapes.lengths import outer_lengths


@record(repr=False)
class GraphOp(ByExpansion, Lowered):
    """The function `graph` as one op: as many inputs and outputs, in the same order.  Equal graphs are equal ops."""

    graph: FunctionGraph
    picture: ClassVar[Kind] = Kind.FUSED
    lacks: ClassVar[Lacks] = Lacks(operations="the nodes of its graph count")

    def over(self, node: Apply) -> list[Apply]:
        """Return the nodes of the graph built over the inputs of `node`, in order."""
        return toposort(self.expand(node.inputs), stop_at=node.inputs)

    def expand(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Return the outputs of the graph built over `inputs`, node by node."""
        return rebuild(self.graph.outputs, dict(zip(self.graph.inputs, inputs, strict=True)))

    def body(self, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
        return self.expand(inputs)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        if len(inputs) != len(self.graph.inputs):
            raise TypeError(f"{self.name} takes {counted(len(self.graph.inputs), 'input')}, got {len(inputs)}")
        types = [i.type for i in inputs]
        if types == [i.type for i in self.graph.inputs]:
            return tuple(o.type for o in self.graph.outputs)
        # Other lengths, or lengths known better than when the group was made.
        return tuple(o.type for o in self.expand([TensorOp.variable_class(t) for t in types]))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(interpret(self.graph, values))

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return self.lengths(node.inputs, inputs, node.outputs)

    def lengths(
        self, operands: Sequence[Variable], inputs: Sequence[tuple[Dim, ...]], results: Sequence[Variable]
    ) -> tuple[tuple[Dim, ...], ...]:
        """The lengths of the results of the group on operands of the lengths `inputs`."""
        known = dict(zip(self.graph.inputs, inputs, strict=True))
        for inner in self.graph.order:
            lengths = inner.op.dims(inner, [known[i] if i in known else opaque_dims(i) for i in inner.inputs])
            for output, row in zip(inner.outputs, lengths, strict=True):
                known[output] = tuple(d if n is None else n for d, n in zip(row, output.type.shape, strict=True))
        inside = {o for inner in self.graph.order for o in inner.outputs}.union(self.graph.inputs)
        rows = [known.get(o) or opaque_dims(o) for o in self.graph.outputs]
        found: list[tuple[Dim | None, ...]] = [
            tuple(None if any(a.args[0] in inside for a in atoms(dim)) else dim for dim in row) for row in rows
        ]
        if any(None in row for row in found):
            found = outer_lengths(self.graph, operands, inputs)
        return tuple(
            tuple(mine if dim is None else dim for dim, mine in zip(row, opaque_dims(result), strict=True))
            for row, result in zip(found, results, strict=True)
        )

    @property
    def fallible(self) -> bool:  # type: ignore[override]
        return any(inner.op.fallible for inner in self.graph.order)


@record(repr=False)
class Fused(GraphOp):
    """A group of elementwise nodes and reductions that share a nest of loops."""

    name = "fused"


@record(repr=False)
class InPlace(Lowered):
    """`op`, which may write output a over input b for each (a, b) of `pairs`.  Its meaning is that of `op`."""

    op: Op
    pairs: tuple[tuple[int, int], ...]
    name = "inplace"
    lacks: ClassVar[Lacks] = Lacks(
        picture="it is drawn as the op that it marks",
        operations="the op that it marks has them",
        planner="it is planned as the op that it marks",
        work="the op that it marks has it",
    )

    def body(self, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
        return Apply(self.op, inputs).outputs

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        types = self.op.infer(inputs)
        for output, i in self.pairs:
            if types[output].dtype != inputs[i].dtype or types[output].ndim != inputs[i].ndim:
                raise TypeError(
                    f"{self}: output {output} ({types[output]}) cannot overwrite input {i} ({inputs[i].type})"
                )
        return types

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return self.op.evaluate(*values)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return self.op.dims(node, inputs)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return pull_back_to(node.inputs, node.with_op(self.op).outputs, cotangents)

    def views(self) -> dict[int, int]:
        return self.op.views()

    def may_view(self) -> dict[int, int]:
        return self.op.may_view()

    def destroys(self) -> dict[int, int]:
        """Return the inputs that are overwritten: output index -> input index."""
        return dict(self.pairs)

    @property
    def fallible(self) -> bool:  # type: ignore[override]
        return self.op.fallible

    @property
    def restorable(self) -> bool:  # type: ignore[override]
        return self.op.restorable


def unmarked(op: Op) -> Any:
    """Return the op itself, without the right to write in place."""
    return op.op if isinstance(op, InPlace) else op
