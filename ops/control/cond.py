"""Lazy choice between two computations: `cond{then, otherwise}(condition, *operands)`.

Both branches are graphs over the same operands; the other one is not evaluated, in no mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, FunctionGraph, Kind, Lacks, TensorType, Variable, rebuild
from ...graph.dims import opaque_dims
from ...record import record
from ..core.backward import pull_back
from ..core.checks import describe
from ..core.interpret import interpret
from ..core.namespace import T
from ..core.tensor import TensorOp, TensorVariable
from ..shapes.lengths import outer_lengths
from ..shapes.specify import with_lengths_of
from .batching import Examples, Flags, aligned, carried


@record(repr=False)
class Cond(TensorOp):
    """`then` of the operands where the condition holds, else `otherwise` of them."""

    then: FunctionGraph
    otherwise: FunctionGraph
    name = "cond"
    picture: ClassVar[Kind] = Kind.FUSED
    lacks: ClassVar[Lacks] = Lacks(operations="its branches count")

    @property
    def branches(self) -> tuple[FunctionGraph, FunctionGraph]:
        return self.then, self.otherwise

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        for graph in self.branches:
            if len(inputs) != len(graph.inputs) + 1:
                raise TypeError(f"cond takes {len(graph.inputs) + 1} inputs, got {len(inputs)}")
            for given, inner in zip(inputs[1:], graph.inputs, strict=True):
                if not given.type.refines(inner.type):
                    raise TypeError(f"cond: a branch expects {inner.type}, got {describe(given)}")
        if inputs[0].ndim or inputs[0].dtype != "bool":
            raise TypeError(f"cond: the condition must be a bool scalar, got {describe(inputs[0])}")
        if len(self.then.outputs) != len(self.otherwise.outputs):
            raise TypeError(f"cond: {len(self.then.outputs)} values or {len(self.otherwise.outputs)}")
        return tuple(_joint(a, b) for a, b in zip(self.then.outputs, self.otherwise.outputs, strict=True))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(interpret(self.then if values[0] else self.otherwise, values[1:]))

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        found = self.lengths(node.inputs[1:], inputs[1:])
        return tuple(
            tuple(mine if n is None else n for n, mine in zip(row, opaque_dims(o), strict=True))
            for row, o in zip(found, node.outputs, strict=True)
        )

    def lengths(
        self, operands: Sequence[Variable], shapes: Sequence[Sequence[Dim]]
    ) -> list[tuple[Dim | None, ...]]:
        """Return the lengths that both branches give, in terms of those of the operands; None where they may differ."""
        one, other = (outer_lengths(graph, operands, shapes) for graph in self.branches)
        pairs = [zip(x, y, strict=True) for x, y in zip(one, other, strict=True)]
        return [tuple(a if a == b else None for a, b in row) for row in pairs]

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return self.vjp_onto(node, cotangents, [None] * len(node.inputs))

    def vjp_onto(
        self, node: Apply, cotangents: Sequence[Variable | None], totals: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        """Return a choice between the totals after each branch; a branch that reads part of an operand adds to it."""
        condition, *operands = node.inputs
        given = [k for k, g in enumerate(cotangents) if g is not None]
        leaves = [TensorVariable(i.type, name=i.name) for i in self.then.inputs]
        sent = [TensorVariable(cotangents[k].type) for k in given]  # type: ignore[union-attr]
        wrt = [v for v in leaves if v.type.kind in "fc"]
        before = {v: total for v, total in zip(leaves, totals[1:], strict=True) if v in wrt and total is not None}
        sums: dict[Variable, Variable] = {v: TensorVariable(total.type) for v, total in before.items()}
        pulled = []
        for graph in self.branches:
            outputs = rebuild(graph.outputs, dict(zip(graph.inputs, leaves, strict=True)))
            pulled.append(pull_back([outputs[k] for k in given], sent, wrt, onto=sums or None))
        found = [v for v, a, b in zip(wrt, *pulled, strict=True) if a is not sums.get(v) or b is not sums.get(v)]
        if not found:
            return [None] * len(node.inputs)
        full = [
            [
                T.zeros_like(v) if g is None else g if v in sums else with_lengths_of(g, v)
                for v, g in zip(wrt, branch, strict=True) if v in found
            ]
            for branch in pulled
        ]
        received = [g for g in cotangents if g is not None]
        inside = [*leaves, *sent, *sums.values()]
        results = chosen(condition, inside, [*operands, *received, *before.values()], *full)
        place = dict(zip(found, results, strict=True))
        return [None, *(place.get(v) for v in leaves)]

    @property
    def fallible(self) -> bool:  # type: ignore[override]
        return any(inner.op.fallible for graph in self.branches for inner in graph.order)

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        """Return one choice for all examples; if the condition differs between them, compute both branches."""
        pairs = zip(inputs[1:], self.then.inputs, strict=True)
        leaves: list[Variable] = [TensorVariable(outer.type, name=inner.name) for outer, inner in pairs]
        branches = []
        for graph in self.branches:
            if flags[0]:
                leaves = inputs[1:]
            flagged = list(zip(graph.inputs, leaves, flags[1:], strict=True))
            outputs = rebuild(graph.outputs, {inner: leaf for inner, leaf, f in flagged if not f})
            given = {inner: leaf for inner, leaf, f in flagged if f}
            many = carried(outputs, given) if given else [examples.broadcast(o) for o in outputs]
            branches.append(many)
        if not flags[0]:
            return chosen(inputs[0], leaves, inputs[1:], *branches)
        test = inputs[0]
        return [T.switch(aligned(test, True, 0, a.ndim - 1), a, b) for a, b in zip(*branches, strict=True)]


def _joint(a: Variable, b: Variable) -> TensorType:
    """Return the type of a value from either branch.  Raises TypeError if there is none."""
    if a.dtype != b.dtype or a.ndim != b.ndim:
        raise TypeError(f"cond: {describe(a)} or {describe(b)}: expected one dtype and one rank")
    return a.type.with_shape(tuple(m if m == n else None for m, n in zip(a.type.shape, b.type.shape, strict=True)))


def chosen(
    condition: Variable, inside: Sequence[Variable], operands: Sequence[Variable], then: Sequence[Variable],
    otherwise: Sequence[Variable],
) -> tuple[TensorVariable, ...]:  # fmt: skip
    """The outputs of a choice between values that are written in terms of the leaves `inside`, which stand for
    `operands`.  Operands that no branch needs are left out.
    """
    graphs = [FunctionGraph(inside, branch) for branch in (then, otherwise)]
    read = {i for graph in graphs for node in graph.order for i in node.inputs}.union(then, otherwise)
    kept = [k for k, v in enumerate(inside) if v in read]
    leaves = [inside[k] for k in kept]
    op = Cond(*(FunctionGraph(leaves, graph.outputs) for graph in graphs))
    return Apply(op, (condition, *(operands[k] for k in kept))).outputs  # type: ignore[return-value]  # see as_tensor
