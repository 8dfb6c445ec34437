"""Compositions: a graph as one op, which may have a derivative of its own.

    composed{graph, called="f"}(*inputs, *captured)

`ag.OpFromGraph`, `ag.custom_vjp`, `ag.custom_jvp`, `ag.checkpoint`, `ag.fixed_point` and `ag.root` make them.  Their
derivative is taken while the op stands in the graph; then the pass `compositions` puts the graph in its place, so the
ops inside fuse with those around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ...graph import Apply, Constant, FunctionGraph, Lacks, TensorType, Variable, rebuild
from ...record import record
from ..core.backward import pull_back_to
from ..core.namespace import T
from ..core.tensor import TensorVariable
from ..elementwise import costs
from ..lowered.fused import GraphOp
from ..shapes.specify import FirstOperand, with_lengths_of
from .batching import Examples, Flags, SameForAll, carried
from .scan_ops import closed


class Derivative:
    """The derivative of a composition in the place of that of its graph."""

    def pull(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        """Return the cotangents of the inputs, given those of the outputs; None stands for zero."""
        raise NotImplementedError


@record(repr=False)
class Composed(GraphOp):
    """`graph` as one op.  `derivative`: in the place of that of the graph; `inline`: None decides by cost."""

    called: str = ""
    derivative: Any = None
    inline: bool | None = None
    name = "composed"
    lacks: ClassVar[Lacks] = Lacks(operations="the nodes of its graph count")

    def parameters(self) -> dict[str, Any]:
        return {"graph": self.graph, "called": self.called, "inline": self.inline}

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        if self.derivative is not None:
            found: Sequence[Variable | None] = self.derivative.pull(node.inputs, node.outputs, cotangents)
            return found
        if self.inline is not False:
            return pull_back_to(node.inputs, self.expand(node.inputs), cotangents)
        leaves = [TensorVariable(i.type, name=i.name) for i in node.inputs]
        outputs = self.expand(leaves)
        sent = [None if g is None else TensorVariable(g.type) for g in cotangents]
        fitting = [None if s is None else with_lengths_of(s, o) for s, o in zip(sent, outputs, strict=True)]
        pulled = pull_back_to(leaves, outputs, fitting)
        inputs = [*leaves, *(s for s in sent if s is not None)]
        results = iter(composed(inputs, [g for g in pulled if g is not None], f"{self.called} (vjp)", inline=False)(
            [*node.inputs, *(g for g in cotangents if g is not None)]))  # fmt: skip
        return [None if g is None else next(results) for g in pulled]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        leaves = [TensorVariable(i.type, name=i.name) for i in inputs]
        pairs = list(zip(self.graph.inputs, leaves, flags, strict=True))
        outputs = rebuild(self.graph.outputs, {inner: leaf for inner, leaf, f in pairs if not f})
        many = carried(outputs, {inner: leaf for inner, leaf, f in pairs if f})
        rule = self.derivative
        if rule is not None:
            ins, outs = (tuple(v.type for v in some) for some in (node.inputs, node.outputs))
            rule = OfExamples(rule, ins, outs, tuple(flags))
        return composed(leaves, many, self.called, rule, self.inline)(inputs)


@record
class OfExamples(Derivative):
    """The derivative of a composition that was applied to many examples: that of each one.

    `inputs`, `outputs`: the types of one example; `flags`: which inputs have the axis of the examples.
    """

    rule: Derivative
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    flags: tuple[bool, ...]

    def pull(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        own = list(zip(self.inputs, inputs, self.flags, strict=True))
        ones = [TensorVariable(kind) if f else many for kind, many, f in own]
        results = [TensorVariable(kind) for kind in self.outputs]
        sent = [None if g is None else TensorVariable(r.type) for r, g in zip(results, cotangents, strict=True)]
        given: dict[Variable, Variable] = {one: many for one, (_, many, f) in zip(ones, own, strict=True) if f}
        given.update(zip(results, outputs, strict=True))
        given.update((one, g) for one, g in zip(sent, cotangents, strict=True) if one is not None and g is not None)
        pulled = self.rule.pull(ones, results, sent)
        rows = iter(carried([g for g in pulled if g is not None], given))
        summed = [None if g is None else next(rows) for g in pulled]
        return [g if g is None or f else T.sum(g, axis=0) for g, f in zip(summed, self.flags, strict=True)]


def composed(
    inputs: Sequence[Variable], outputs: Sequence[Variable], called: str, derivative: Derivative | None = None,
    inline: bool | None = None, may_capture: Callable[[Sequence[Variable]], None] | None = None,
) -> Callable[[Sequence[Variable]], tuple[TensorVariable, ...]]:  # fmt: skip
    """Return a function of values of `inputs`, leaves, that applies the op of `outputs`.

    Outer values that the outputs read become further inputs; `may_capture` may refuse them.
    """
    graph, taken = closed(inputs, outputs)
    if may_capture is not None:
        may_capture(taken)
    op = Composed(graph, called, derivative, inline)
    return lambda values: Apply(op, (*values, *taken)).outputs  # type: ignore[return-value]  # see as_tensor


@record(repr=False)
class WithLast(Composed):
    """`with_last(rows, last)`: rows, of which `last` is the last one, so that `rows[-1]` needs no others."""

    name = "with_last"


def with_last(rows: TensorVariable, last: TensorVariable) -> TensorVariable:
    """Return `rows`; `T.getitem` takes `last` for the last of them."""
    leaves = [TensorVariable(rows.type), TensorVariable(last.type)]
    return Apply(WithLast(FunctionGraph(leaves, leaves[:1]), "with_last", None, True), (rows, last)).outputs[0]  # type: ignore[return-value]


# --- values that are computed again


@record
class After(FirstOperand):
    """`after(x, *others)`: x as a view, read only when the others are known.  No rewrite looks through it.

    What is computed from the result is not merged with what is computed from x, so it is computed again.
    """

    name = "after"
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[Any, ...]:
        return (inputs[0].type,)

    def evaluate(self, *values: Any) -> tuple[Any, ...]:
        return (values[0],)

    def body(self, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
        return [inputs[0]]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        found: Any = self(*inputs)
        return found if flags[0] else SameForAll(found)


@record
class Recomputed(Derivative):
    """The derivative of a composition by values that are computed again once the cotangents are known.

    `keeps`: a function of an op and its operands that says which results are kept and not computed again.
    """

    graph: FunctionGraph
    keeps: Callable[..., Any] | None = None

    def pull(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        received = [g for g in cotangents if g is not None]
        after = [i if isinstance(i, Constant) else After()(i, *received) for i in inputs]
        known: dict[Variable, Variable] = dict(zip(self.graph.inputs, after, strict=True))
        again = rebuild(self.graph.outputs, known)
        pulled = pull_back_to(after, again, cotangents)
        if self.keeps is None:
            return _together(inputs, pulled)
        kept = [o for node in self.graph.order if self.keeps(node.op, *node.inputs) for o in node.outputs]
        first = rebuild(kept, dict(zip(self.graph.inputs, inputs, strict=True)))
        values: dict[Variable, Variable] = {known[o]: v for o, v in zip(kept, first, strict=True)}
        found = iter(rebuild([g for g in pulled if g is not None], values, stop_at=set(values)))
        return _together(inputs, [None if g is None else next(found) for g in pulled])


def _together(inputs: Sequence[Variable], pulled: Sequence[Variable | None]) -> list[Variable | None]:
    """Return the cotangents, of which those that go on are known when all are: nothing waits for the values between."""
    return [
        g if g is None or i.owner is None else After()(g, *(o for o in pulled if o is not None and o is not g))
        for i, g in zip(inputs, pulled, strict=True)
    ]
