"""Loops that only a condition ends: their derivatives, and many examples that end after different steps.

    while_loop{graph}(n, *states, *others)                the states after the last step
    recorded_loop{graph}(n, *states, ended, *others)      the same with a state `ended` and a value `alive` of each step

A derivative needs the states of all steps, so the loop runs again as a `recorded_loop` with traces, which share the
loop with the value.  Examples of `ag.vmap` that have ended keep their states while others go on; such steps are not
alive, and the derivative passes them by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph import Apply, Variable, rebuild
from ...record import record
from ..core.namespace import T
from ..core.tensor import TensorVariable
from .batching import Examples, Flags, aligned, carried
from .scan_ops import Scan, looped


@record(repr=False)
class While(Scan):
    """A scan that only its condition ends, and whose results are the last states."""

    name = "while_loop"

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return the cotangents by a second loop, backward along the states of all steps, which memory must hold."""
        count = len(self.traced)
        mine = last_states(node)
        n, *found = mine.op.vjp(mine, [*cotangents, None, None])
        return [n, *found[:count], *found[count + 1 :]]

    def vjp_onto(
        self, node: Apply, cotangents: Sequence[Variable | None], totals: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        count = 1 + len(self.traced)
        mine = last_states(node)
        found = mine.op.vjp_onto(mine, [*cotangents, None, None], [*totals[:count], None, *totals[count:]])
        return [*found[:count], *found[count + 1 :]]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        if not flags[0] and self.graph.outputs[-1] not in self._varied(flags[1:]):
            return super().batching(node, inputs, flags, examples)
        count = len(self.traced)
        mine = last_states(node)
        ended = T.le(inputs[0], 0)
        values = [*inputs[: 1 + count], ended, *inputs[1 + count :]]
        marks = [*flags[: 1 + count], flags[0], *flags[1 + count :]]
        return list(mine.op.batching(mine, values, marks, examples))[:count]


def last_states(node: Apply) -> Apply:
    """Return a while_loop with the state `ended` behind its states, and the value `alive` of each step."""
    op = node.op
    assert isinstance(op, While)
    n, _, firsts, others = op.parts(node)
    leaves = [TensorVariable(i.type, name=i.name) for i in op.graph.inputs[op.states]]
    inside = rebuild(op.graph.outputs, dict(zip(op.graph.inputs, [*leaves, *others], strict=True)))
    ended = TensorVariable(T.le(n, 0).type, name="ended")
    results = looped(
        Recorded, n, (), (), [*firsts, T.le(n, 0)], [*leaves, ended], inside, [T.logical_not(ended)], inside[-1],
        (False,) * (len(leaves) + 1),
    )  # fmt: skip
    found = results[0].owner
    assert found is not None
    return found


@record(repr=False)
class Recorded(Scan):
    """A loop whose last state says whether it has ended, and whose last value whether the step counts."""

    name = "recorded_loop"

    def alive(self, node: Apply) -> Variable | None:
        return node.outputs[-1]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        """Return one loop for all examples, which goes on until all have ended."""
        varied = self._varied(flags[1:])
        body, states = self.graph, self.states
        if not flags[0] and body.outputs[-1] not in varied and body.inputs[states][-1] not in varied:
            return super().batching(node, inputs, flags, examples)
        steps, *rest = inputs
        if flags[0]:
            steps = T.max(T.concatenate([steps, T.zeros((1,), "int64")]))
        firsts = [v if f else examples.broadcast(v) for v, f in zip(rest[states], flags[1:], strict=False)]
        olds = [TensorVariable(v.type, name=i.name) for v, i in zip(firsts, body.inputs, strict=False)]
        others = list(zip(body.inputs[states.stop :], rest[states.stop :], flags[1 + states.stop :], strict=True))
        outputs = rebuild(body.outputs, {inner: outer for inner, outer, f in others if not f})
        given: dict[Variable, Variable] = {inner: outer for inner, outer, f in others if f}
        given.update(zip(body.inputs[states], olds, strict=True))
        many = carried(outputs, given)
        new, values, ended = many[: len(olds)], many[len(olds) : -1], olds[-1]
        new = [T.switch(aligned(ended, True, 0, old.ndim - 1), old, v) for old, v in zip(olds, new, strict=True)]
        end = T.all(new[-1])
        all_ended = TensorVariable(end.type, name="ended")
        found = looped(
            Recorded, steps, (), (), [*firsts, T.le(steps, 0)], [*olds, all_ended], [*new, end],
            [*values, T.logical_not(all_ended)], end, (*self.traced, False),
        )  # fmt: skip
        kept = [*found[: len(olds)], *found[len(olds) + 1 : -1]]
        stacked = (*self.traced, *(True for _ in values))
        return [T.swapaxes(o, 0, 1) if s else o for o, s in zip(kept, stacked, strict=True)]
