"""Pools and sums of neighbouring channels, on channels in blocks."""

from __future__ import annotations

from ...graph import Apply, Variable
from ...ops.blocked_pool import BlockedPool
from ...ops.channel_sums import ChannelSums
from ..abi.kinds import PoolKind
from .outcome import Outcome
from .plan_blas import Multiplication, plan_multiplication
from .plan_block_layout import counts_in_blocks, with_dense_lanes
from .planner import Planner
from .program import Array, Lengths, Table, Vector


def plan_channel_sums(p: Planner, node: Apply) -> None:
    plan_multiplication(p, summed_channels(p, node), node.out)


def summed_channels(p: Planner, node: Apply) -> Multiplication:
    """Return the call that sums each channel and its neighbours."""
    op, x, size = node.op, p.packed(p.arrays[node.inputs[0]]), node.inputs[0].type.shape[4] or 1
    assert isinstance(op, ChannelSums)
    n, count, *positions, lanes = x.lengths
    p.guard("equal", count, -(-op.channels // size), failure=Outcome.LENGTHS, axis=1)
    p.guard("equal", lanes, size, failure=Outcome.LENGTHS, axis=4)
    numbers = (n, op.channels, size, count, op.before, op.behind, *positions)
    arguments = (Table(x.dtype), Vector(numbers), x, Vector(x.strides[:4]))
    return Multiplication("sum_channels", (n, count, *positions, size), arguments, (x,))


def plan_blocked_pool(p: Planner, node: Apply) -> None:
    plan_multiplication(p, pooled_blocks(p, node), node.out)


def pooled_blocks(p: Planner, node: Apply, low: Array | None = None, high: Array | None = None) -> Multiplication:
    """Return the call of a pool, clipped to the range from `low` to `high` where these are given."""
    op, size = node.op, node.inputs[0].type.shape[4] or 1
    assert isinstance(op, BlockedPool)
    x, lengths = input_and_lengths(p, node)
    p.guard("equal", x.lengths[4], size, failure=Outcome.LENGTHS, axis=4)
    kind = PoolKind.SUM if op.sums else PoolKind.LARGEST
    numbers = (
        x.lengths[0], lengths[1], size, int(kind), *x.lengths[2:4], *op.kernel, *op.stride, *op.dilation,
        *(pair[0] for pair in op.padding), *lengths[2:4],
    )  # fmt: skip
    arguments = (Table(x.dtype), Vector(numbers), x, Vector(x.strides[:4]), low or 0, high or 0)
    return Multiplication("pool_blocks", lengths, arguments, tuple(a for a in arguments if isinstance(a, Array)))


def input_and_lengths(p: Planner, node: Apply) -> tuple[Array, Lengths]:
    """Return the input of a pool with adjacent lanes, and the lengths of the result."""
    op, x = node.op, with_dense_lanes(p, p.arrays[node.inputs[0]])
    assert isinstance(op, BlockedPool)
    return x, (*x.lengths[:2], *counts_in_blocks(p, op, x, op.kernel), x.lengths[4])


def are_few_neighbours(op: ChannelSums, x: Variable) -> bool:
    """Whether a sum has several channels, all within a block and the two beside it."""
    size = x.type.shape[4] or 0
    return op.before + op.behind > 0 and max(op.before, op.behind) <= size


PLANNERS = {
    BlockedPool: plan_blocked_pool,
    ChannelSums: plan_channel_sums,
}
