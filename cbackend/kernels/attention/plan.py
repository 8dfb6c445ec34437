"""Attention: one call of the runtime, which never stores all scores."""

from __future__ import annotations

from ....graph import Apply
from ....ops.lowered.attention import Attention
from ...program.outcome import Outcome
from ...program.plan_blas import SUMMED
from ...program.planner import Planner
from ...program.program import Array, Lengths, Quantity, Vector
from .spec import ATTENTION


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
    batch = _batch(p, node, [q, k, v, *like_scores])
    result = p.result(node.out, (*batch, m, e))

    def strides(x: Array, rows: Quantity, columns: Quantity) -> Vector:
        return Vector(_strides(p, x, (*batch, rows, columns)))

    p.run(
        ATTENTION, result.dtype, batch=Vector(batch), m=m, n=n, d=d, e=e, scale=scale, q=q, q_strides=strides(q, m, d),
        k=k, k_strides=strides(k, d, n), v=v, v_strides=strides(v, n, e), mask=masks[0] if masks else None,
        mask_strides=strides(masks[0], m, n) if masks else None, drops=int(op.mask == "drop"),
        fill=masks[1] if masks else None, added=added[0] if added else None,
        added_strides=strides(added[0], m, n) if added else None, y=result,
    )  # fmt: skip


def _batch(p: Planner, node: Apply, operands: list[Array]) -> Lengths:
    """Return the joint lengths of the axes before the matrices."""
    rank = node.out.ndim - 2
    return tuple(
        p.join([x.lengths[k - rank - 2] for x in operands if rank - k <= len(x.lengths) - 2], k) for k in range(rank)
    )


def _strides(p: Planner, x: Array, lengths: Lengths) -> Lengths:
    """Return the strides of `x` along all axes of these lengths: 0 along axes that it lacks or is broadcast along."""
    missing = len(lengths) - len(x.lengths)
    along = (p.along(n, m, s) for n, m, s in zip(x.lengths, lengths[missing:], x.strides, strict=True))
    return ((0,) * missing) + tuple(along)


PLANNERS = {Attention: plan_attention}
