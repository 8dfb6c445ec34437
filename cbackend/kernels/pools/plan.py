"""Pools: kernels over views of the windows, and calls on channels in blocks, also over neighbouring channels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....graph import Apply
from ....ops.elementwise.records import Cast, add, maximum
from ....ops.lowered.blocked_pool import BlockedPool
from ....ops.lowered.channel_sums import ChannelSums
from ....ops.networks.pooling import MaxPool, MaxPoolGradient, Pool, SumPool
from ....targets.current import current
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.planners.block_layout import counts_in_blocks, with_dense_lanes
from ...program.planners.creation import fill_with_zeros
from ...program.planners.windows import plan_as, steps_of, views_of_windows, window_counts
from ...program.prepared import Followed, Prepared, run_into
from ...program.program import Array, Call, Lengths, Program, Site, Step
from .spec import CHANNEL_SUMS, POOLING, WORD_POOLING, Kind


def plan_pool(p: Planner, node: Apply) -> None:
    """Plan the maximum or the sum of each window: one kernel, unless windows are large."""
    op, (x,) = node.op, p.inputs_of(node)
    assert isinstance(op, Pool)
    if node.out.dtype == "float16" and not isinstance(op, MaxPool):
        p.expand(node, [Cast("float16")(op(Cast("float32")(node.inputs[0])))])
        return
    front = len(x.lengths) - len(op.stride)
    counts = window_counts(p, op, x.lengths[front:], op.kernel, front)
    if math.prod(op.kernel) > current().limits.pools.taps:
        _plan_large_pool(p, node, counts)
        return
    lengths = (*x.lengths[:front], *counts)
    result = p.result(node.out, lengths)
    p.launch(p.kernel(node), (*lengths, *op.kernel), [result], [_windows(p, op, x, counts)])


def plan_pool_gradient(p: Planner, node: Apply) -> None:
    """Plan one kernel that writes the positions of each window, after zeros unless windows cover each position once."""
    op, (x, y, g) = node.op, p.inputs_of(node)
    assert isinstance(op, MaxPoolGradient)
    front = len(x.lengths) - len(op.stride)
    lengths = (*x.lengths[:front], *window_counts(p, op, x.lengths[front:], op.kernel, front))
    for given in (y, g):
        for axis, (have, want) in enumerate(zip(given.lengths, lengths, strict=True)):
            p.guard("equal", have, want, failure=Outcome.LENGTHS, axis=axis)
    result = p.result(node.out, x.lengths)
    if not _is_covered(op, node.inputs[0].type.shape[front:]):
        fill_with_zeros(p, result)
    back, read = (_windows(p, op, array, lengths[front:]) for array in (result, x))
    p.launch(p.kernel(node), (*lengths, *op.kernel), [back], [read, y, g])


def _is_covered(op: Pool, lengths: Sequence[int | None]) -> bool:
    """Whether each position certainly belongs to exactly one window."""
    numbers = zip(lengths, op.kernel, op.stride, op.dilation, strict=True)
    return all(n is not None and n % k == 0 and k == s and (d == 1 or k == 1) for n, k, s, d in numbers)


def _windows(p: Planner, op: Pool, x: Array, counts: Lengths) -> Array:
    """Return an array as its windows: first axes over the windows, then axes within one."""
    within, between = steps_of(p, op, x)
    front = len(x.lengths) - len(counts)
    return p.view(x, (*x.lengths[:front], *counts, *op.kernel), (*x.strides[:front], *between, *within))


def _plan_large_pool(p: Planner, node: Apply, counts: Lengths) -> None:
    """Plan views of x, one per position of a window, folded in steps of as many as a kernel takes."""
    op, x = node.op, p.arrays[node.inputs[0]]
    taps = views_of_windows(p, op, x, counts, op.kernel, node.out.type)  # type: ignore[attr-defined]
    fold = maximum if isinstance(op, MaxPool) else add
    while len(taps) > 1:
        most = current().limits.pools.taps
        parts = [taps[k : k + most] for k in range(0, len(taps), most)]
        taps = [fold(*part) if len(part) > 1 else part[0] for part in parts]
    plan_as(p, node, [taps[0]])


# --- channels in blocks


def plan_channel_sums(p: Planner, node: Apply) -> None:
    run_into(p, summed_channels(p, node), node.out)


def summed_channels(p: Planner, node: Apply) -> Prepared:
    """Return the call that sums each channel and its neighbours."""
    op, x, size = node.op, p.packed(p.arrays[node.inputs[0]]), node.inputs[0].type.shape[4] or 1
    assert isinstance(op, ChannelSums)
    n, count, *positions, lanes = x.lengths
    p.guard("equal", count, -(-op.channels // size), failure=Outcome.LENGTHS, axis=1)
    p.guard("equal", lanes, size, failure=Outcome.LENGTHS, axis=4)
    fields = {
        "images": n, "channels": op.channels, "block": size, "blocks": count, "before": op.before, "behind": op.behind,
        "lengths": tuple(positions), "x": x, "x_strides": x.strides[:4],
    }  # fmt: skip
    return Prepared(CHANNEL_SUMS, x.dtype, (n, count, *positions, size), fields)


def are_few_neighbours(node: Apply) -> bool:
    """Whether a sum has several channels, all within a block and the two beside it."""
    op, size = node.op, node.inputs[0].type.shape[4] or 0
    assert isinstance(op, ChannelSums)
    return op.before + op.behind > 0 and max(op.before, op.behind) <= size


def plan_blocked_pool(p: Planner, node: Apply) -> None:
    run_into(p, pooled(p, node), node.out)


def pooled(p: Planner, node: Apply, low: Array | None = None, high: Array | None = None) -> Prepared:
    """Return the call of a pool, clipped to the range from `low` to `high` where these are given."""
    op, size = node.op, node.inputs[0].type.shape[4] or 1
    assert isinstance(op, BlockedPool)
    x, lengths = _input_and_lengths(p, node)
    p.guard("equal", x.lengths[4], size, failure=Outcome.LENGTHS, axis=4)
    fields = {
        "images": x.lengths[0], "blocks": lengths[1], "block": size, "kind": int(Kind.SUM if op.sums else Kind.LARGEST),
        "lengths": x.lengths[2:4], "kernel": op.kernel, "stride": op.stride, "dilation": op.dilation,
        "before": tuple(pair[0] for pair in op.padding), "counts": lengths[2:4], "x": x, "x_strides": x.strides[:4],
        "low": low, "high": high,
    }  # fmt: skip
    return Prepared(WORD_POOLING if op.halves else POOLING, "float32" if op.halves else x.dtype, lengths, fields)


def has_size(node: Apply) -> bool:
    """Whether the blocks of a pool have a known size, an even one of bfloat16 numbers."""
    op, size = node.op, node.inputs[0].type.shape[4]
    assert isinstance(op, BlockedPool)
    return bool(size) and not (op.halves and size % 2)  # type: ignore[operator]


def lengths_of(p: Planner, node: Apply) -> Lengths:
    """Return the lengths of the result of a pool in blocks."""
    return _input_and_lengths(p, node)[1]


def _input_and_lengths(p: Planner, node: Apply) -> tuple[Array, Lengths]:
    """Return the input of a pool with adjacent lanes, and the lengths of the result."""
    op, x = node.op, with_dense_lanes(p, p.arrays[node.inputs[0]])
    assert isinstance(op, BlockedPool)
    return x, (*x.lengths[:2], *counts_in_blocks(p, op, x, op.kernel), x.lengths[4])


def _sums(program: Program, site: Site, steps: Sequence[Step]) -> list[tuple[int, Lengths, int]]:
    """Return the additions of each window of a sum pool; comparisons count none."""
    op, written = site.node.op, [s.writes[0].lengths for s in steps if isinstance(s, Call) and s.kernel and s.writes]
    assert isinstance(op, SumPool)
    return [(math.prod(op.kernel) - 1, written[-1], 1)] if written and site.node.out.type.kind == "f" else []


PLANNERS = {
    MaxPool: plan_pool,
    MaxPoolGradient: plan_pool_gradient,
    SumPool: plan_pool,
    BlockedPool: plan_blocked_pool,
    ChannelSums: plan_channel_sums,
}
CONDITIONS = {BlockedPool: has_size, ChannelSums: are_few_neighbours}
WORK = {SumPool: _sums}
FOLLOWED = {
    BlockedPool: Followed(pooled, True, lengths_of, has_size),
    ChannelSums: Followed(summed_channels, takes=are_few_neighbours),
}
