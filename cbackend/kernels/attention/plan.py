"""Attention: one call of the runtime, which never stores all scores."""

from __future__ import annotations

from ....graph import Apply
from ....ops.lowered.attention import Attention
from ....ops.lowered.bfloat_attention import BfloatAttention
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.planners.batches import SUMMED, batch_of, strides_along
from ...program.program import Array, Lengths, Quantity
from .spec import ATTENTION, WORD_ATTENTION


def plan_attention(p: Planner, node: Apply) -> None:
    op = node.op
    assert isinstance(op, Attention)
    (q, k, v, scale), masks, added = op.parts(p.inputs_of(node))
    p.guard("equal", q.lengths[-1], k.lengths[-2], failure=Outcome.LENGTHS, axis=SUMMED)
    like_scores = [*masks[:1], *added]
    m = p.join([q.lengths[-2], *(x.lengths[-2] for x in like_scores)], node.out.ndim - 2)
    n = p.join([k.lengths[-1], *(x.lengths[-1] for x in like_scores)], SUMMED)
    p.guard("equal", n, v.lengths[-2], failure=Outcome.LENGTHS, axis=SUMMED)
    d, e = q.lengths[-1], v.lengths[-1]
    batch = batch_of(p, node, q, k, v, *like_scores)
    result = p.result(node.out, (*batch, m, e))

    def strides(x: Array, rows: Quantity, columns: Quantity) -> Lengths:
        return strides_along(p, x, (*batch, rows, columns))

    spec = WORD_ATTENTION if isinstance(op, BfloatAttention) else ATTENTION
    p.run(
        spec, result.dtype, batch=batch, m=m, n=n, d=d, e=e, scale=scale, q=q, q_strides=strides(q, m, d),
        k=k, k_strides=strides(k, d, n), v=v, v_strides=strides(v, n, e), mask=masks[0] if masks else None,
        mask_strides=strides(masks[0], m, n) if masks else None, drops=int(op.mask == "drop"),
        fill=masks[1] if masks else None, added=added[0] if added else None,
        added_strides=strides(added[0], m, n) if added else None, y=result,
    )  # fmt: skip


PLANNERS = {Attention: plan_attention, BfloatAttention: plan_attention}
