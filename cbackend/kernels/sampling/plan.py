"""Sums of elements at given positions, and their derivatives: one call of the runtime each."""

from __future__ import annotations

from ....graph import Apply
from ....ops.shapes.weighted import GatherProducts, Sampling, WeightedGather, WeightedScatter
from ...program.outcome import Outcome
from ...program.planner import Planner
from .spec import GATHER_PRODUCTS, WEIGHTED_GATHER, WEIGHTED_SCATTER


def plan_sampling(p: Planner, node: Apply) -> None:
    """Plan a call on contiguous arrays; the lengths that must agree are checked."""
    op = node.op
    assert isinstance(op, Sampling)
    first, at, second = found = [p.packed(p.arrays[v]) for v in node.inputs[:3]]
    for (i, a), (j, b) in op.pairs:
        p.guard("equal", found[i].lengths[a], found[j].lengths[b], failure=Outcome.LENGTHS)
    if isinstance(op, WeightedGather):
        spec, result = WEIGHTED_GATHER, p.result(node.out, (*first.lengths[:2], at.lengths[2]))
        x, w, y = first, second, result
    elif isinstance(op, WeightedScatter):
        spec, result = WEIGHTED_SCATTER, p.result(node.out, (*first.lengths[:2], *p.lengths(node.inputs[3:])))
        x, w, y = result, second, first
    else:
        spec, result = GATHER_PRODUCTS, p.result(node.out, at.lengths)
        x, w, y = first, result, second
    images, channels, plane = x.lengths
    p.run(
        spec, x.dtype, images=images, channels=channels, taps=at.lengths[1], places=at.lengths[2], plane=plane, at=at,
        x=x, w=w, y=y,
    )  # fmt: skip


PLANNERS = dict.fromkeys((WeightedGather, WeightedScatter, GatherProducts), plan_sampling)
