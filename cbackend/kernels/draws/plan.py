"""Draws from the streams of NumPy's generators: one call of the runtime."""

from __future__ import annotations

from ....graph import Apply
from ....ops.random.numpy_draws import NumpyDraw
from ...program.outcome import Outcome
from ...program.planner import Planner
from .. import DRAWS
from .spec import DRAW, Distribution


def plan_draw(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, NumpyDraw)
    state, *parameters = (p.packed(p.arrays[v]) for v in (node.inputs[0], *node.inputs[1 + op.rank :]))
    lengths = p.lengths(node.inputs[1 : 1 + op.rank])
    for array in parameters:
        for axis, (have, want) in enumerate(zip(array.lengths, lengths, strict=False)):
            p.guard("equal", have, want, failure=Outcome.LENGTHS, axis=axis)
    after, sample = p.result(node.outputs[0], state.lengths), p.result(node.outputs[1], lengths)
    (first, *second), steps = parameters, [int(bool(array.lengths)) for array in parameters]
    steps += [0] * (3 - len(steps))
    p.run(
        DRAW, DRAWS, distribution=int(Distribution[op.distribution.upper()]), count=p.product(lengths),
        words=state.lengths[0], state=state, first=first, first_step=steps[0],
        second=second[0] if second else None, second_step=steps[1], third=second[1] if len(second) > 1 else None,
        third_step=steps[2], y=sample, after=after,
    )  # fmt: skip


PLANNERS = {NumpyDraw: plan_draw}
