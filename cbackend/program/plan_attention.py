"""Attention: one call of the runtime, which never stores all scores."""

from __future__ import annotations

from ...graph import Apply
from ...ops.lowered.attention import Attention
from .outcome import Outcome
from .plan_blas import SUMMED
from .planner import Planner
from .program import Array, Lengths, Quantity, Table, Vector


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

    none = Vector((0,) * node.out.ndim)
    mask, kept = (masks[0], strides(masks[0], m, n)) if masks else (0, none)
    sums, over = (added[0], strides(added[0], m, n)) if added else (0, none)
    p.products[result.dtype] = None
    arguments = (
        Table(result.dtype), len(batch), Vector(batch), m, n, d, e, scale, q, strides(q, m, d), k, strides(k, d, n),
        v, strides(v, n, e), mask, kept, int(op.mask == "drop"), masks[1] if masks else 0, sums, over, result,
    )  # fmt: skip
    reads = tuple(a for a in arguments[:-1] if isinstance(a, Array))
    p.call("attend", arguments, (result,), reads, fallible=True)


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
