"""Convolutions on channels in blocks: each is one call, which needs no copy of x or of the weights."""

from __future__ import annotations

from functools import partial

from ....graph import Apply, Variable
from ....ops.lowered.bfloat_convolution import BfloatConvolution
from ....ops.lowered.blocked import BlockedConvolution
from ....ops.lowered.blocked_gradient import BlockedKernelGradient
from ....ops.lowered.blocked_pool import BlockedPool
from ....ops.lowered.convolution_pair import ConvolutionPair
from ....record import record
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.planners.block_layout import counts_in_blocks, with_dense_lanes
from ...program.planners.views import slice_of
from ...program.prepared import Prepared, clipped, run_into
from ...program.program import Array, Lengths
from .spec import (
    CONVOLUTION,
    CONVOLUTION_PAIR,
    CONVOLUTION_POOL,
    KERNEL_GRADIENT,
    TILED_CONVOLUTION,
    WORD_CONVOLUTION,
    WORD_PAIR,
    WORD_POOL,
    Kind,
    Size,
)


def plan_convolution(p: Planner, node: Apply) -> None:
    run_into(p, convolved(p, node), node.out)


def plan_pair(p: Planner, node: Apply) -> None:
    """Plan two kernels as one call, which reuses a part of the buffer for the result of the first one."""
    assert isinstance(node.op, ConvolutionPair)
    amid, out = node.op.split(node.inputs)
    first, second = (v.owner and clipped(v.owner) for v in (amid, out))
    if not (first and second and first.takes and second.takes and _is_direct(first.made)):
        p.expand(node, node.op.expand(node.inputs))
        return
    call, room = first.complete(p, partial(p.fresh, amid.dtype))
    p.arrays[amid] = call.fields.get("rounded", room)
    then, result = second.complete(p, partial(p.result, node.out))
    of_words, of_floats = WORD_PAIR, CONVOLUTION_PAIR
    if isinstance(second.made.op, BlockedPool):
        of_words, of_floats = WORD_POOL, CONVOLUTION_POOL
    spec = of_words if call.spec is WORD_CONVOLUTION else of_floats
    p.run(spec, call.dtype, first=call.inside(room), second=then.inside(result))


def _is_direct(node: Apply) -> bool:
    """Whether a convolution reads weights that are packed ahead, and needs no Winograd tiles."""
    op = node.op
    if isinstance(op, BfloatConvolution):
        return True
    return isinstance(op, BlockedConvolution) and bool(op.weights) and not op.tile


def has_call(node: Apply) -> bool:
    """Whether C has a function for this convolution."""
    op = node.op
    assert isinstance(op, BlockedConvolution)
    return bool(op.weights) or is_packed_in_calls(op, node.inputs[1])


def is_packed_in_calls(op: BlockedConvolution, w: Variable) -> bool:
    """Whether each call can pack the kernels: of known shape, in one group, with outputs that fill their blocks."""
    shape = w.type.shape
    return not op.own and op.groups == 1 and None not in shape and shape[0] % op.size == 0  # type: ignore[operator]


@record
class _Found:
    """Input of a convolution with adjacent lanes, numbers of windows along rows and columns, lengths of the result."""

    x: Array
    counts: Lengths
    lengths: Lengths


def _found(p: Planner, node: Apply) -> _Found:
    op, x = node.op, p.arrays[node.inputs[0]]
    assert isinstance(op, BlockedConvolution)
    weights = _kernels(node)
    channels = weights[0] if op.own else weights[1] * op.groups
    in_blocks = len(x.lengths) == 5
    if in_blocks:
        x = with_dense_lanes(p, x)
    p.guard("equal", x.lengths[1], -(-channels // op.size) if in_blocks else channels, failure=Outcome.LENGTHS, axis=1)
    counts = counts_in_blocks(p, op, x, weights[2:])
    return _Found(x, counts, (x.lengths[0], -(-weights[0] // op.size), *counts, op.size))


def _kernels(node: Apply) -> tuple[int, ...]:
    """Return the shape of the kernels of a convolution, whose lengths are all known."""
    op = node.op
    assert isinstance(op, BlockedConvolution)
    return op.kernels(node.inputs[1])  # type: ignore[return-value]


def lengths_of(p: Planner, node: Apply) -> Lengths:
    """Return the lengths of the result of a convolution in blocks."""
    return _found(p, node).lengths


def convolved(p: Planner, node: Apply, low: Array | None = None, high: Array | None = None) -> Prepared:
    """Return the call of a convolution, clipped to the range from `low` to `high` where these are given."""
    op, found, (_, w, bias) = node.op, _found(p, node), p.inputs_of(node)
    assert isinstance(op, BlockedConvolution)
    weights, x, in_blocks = _kernels(node), found.x, len(found.x.lengths) == 5
    fields = {
        "images": x.lengths[0], "channels": weights[0] if op.own else weights[1], "block": op.size if in_blocks else 1,
        "blocks": found.lengths[1], "out_block": op.size, "panel": op.panel, "lengths": x.lengths[2:4],
        "before": tuple(pair[0] for pair in op.padding), "counts": found.counts, "x": x, "x_strides": x.strides[:4],
        "w": w, "bias": bias, "low": low, "high": high,
    }  # fmt: skip
    if op.tile:
        fields |= {"tile": op.tile, "room": _room(p, found, op.tile)}
        return Prepared(TILED_CONVOLUTION, x.dtype, found.lengths, fields)
    kind = Kind.DEPTHWISE if op.own else Kind.LISTED if op.is_listed(weights, in_blocks) else Kind.DENSE
    kind = Kind.WITHIN if op.is_within(weights, in_blocks) else kind
    fields |= {
        "kind": int(kind), "tile_words": 0, "groups": op.groups, "outputs": weights[0] // op.groups,
        "shuffle": op.shuffle, "kernel": weights[2:], "stride": op.stride, "dilation": op.dilation,
    }  # fmt: skip
    if not op.weights:
        fields |= {"w_strides": w.strides, "room": p.fresh(x.dtype, weights)}
    return Prepared(CONVOLUTION, x.dtype, found.lengths, fields)


def of_words(p: Planner, node: Apply, low: Array | None = None, high: Array | None = None) -> Prepared:
    """Return the call of a convolution of bfloat16 numbers, clipped as in `convolved`."""
    op, (x, w, bias) = node.op, p.inputs_of(node)
    assert isinstance(op, BfloatConvolution)
    in_blocks = len(x.lengths) == 5
    x = with_dense_lanes(p, x) if in_blocks else x
    outputs, channels, *kernel = op.weights
    kind = Kind.DEPTHWISE if op.own else Kind.LISTED if op.is_listed else Kind.DENSE
    mixes = op.tile_words == Size.GROUP_WORDS  # each block is a group of its own, with zeros between those of it
    kind = Kind.WITHIN if op.is_within and not mixes else kind
    channels = outputs if op.own else channels
    blocks_of_x = -(-channels * op.groups // op.size) if in_blocks else channels
    p.guard("equal", x.lengths[1], blocks_of_x, failure=Outcome.LENGTHS, axis=1)
    counts, blocks = counts_in_blocks(p, op, x, kernel), -(-outputs // op.size)
    fields = {
        "images": x.lengths[0], "channels": op.size if mixes else channels, "block": op.size if in_blocks else 1,
        "blocks": blocks, "out_block": op.size, "panel": op.panel, "lengths": x.lengths[2:4],
        "before": tuple(pair[0] for pair in op.padding), "counts": counts, "x": x, "x_strides": x.strides[:4], "w": w,
        "bias": bias, "kind": int(kind), "tile_words": op.tile_words, "groups": blocks if mixes else op.groups,
        "outputs": outputs // op.groups, "shuffle": 1, "kernel": tuple(kernel), "stride": op.stride,
        "dilation": op.dilation, "low": low, "high": high,
    }  # fmt: skip
    return Prepared(WORD_CONVOLUTION, "float32", (x.lengths[0], blocks, *counts, op.size), fields)


def can_round(node: Apply) -> bool:
    """Whether the call of a convolution of bfloat16 numbers adds such numbers and rounds its result."""
    op = node.op
    assert isinstance(op, BfloatConvolution)
    return op.is_within or not op.is_listed


def plan_of_words(p: Planner, node: Apply) -> None:
    run_into(p, of_words(p, node), node.out)


def plan_kernel_gradient(p: Planner, node: Apply) -> None:
    """Plan one call, with a buffer for the partial sums of portions of the images."""
    op, x, g = node.op, p.arrays[node.inputs[0]], p.packed(p.arrays[node.inputs[1]])
    assert isinstance(op, BlockedKernelGradient)
    (outputs, channels, *kernel), size = op.weights, node.inputs[1].type.shape[4] or 1
    block = (node.inputs[0].type.shape[4] or 1) if len(x.lengths) == 5 else 1
    x = x if len(x.lengths) == 4 else with_dense_lanes(p, x)
    counts, blocks = counts_in_blocks(p, op, x, op.weights[2:]), -(-outputs // size)
    p.guard("equal", x.lengths[1], -(-channels // block), failure=Outcome.LENGTHS, axis=1)
    for axis, (have, want) in enumerate(zip(g.lengths, (x.lengths[0], blocks, *counts, size), strict=True)):
        p.guard("equal", have, want, failure=Outcome.LENGTHS, axis=axis)
    portions = op.portions(block if block > 1 else int(Size.PLAIN_DEPTH), size)
    room = p.fresh(x.dtype, (portions, channels, *kernel, blocks * size))
    result = p.result(node.out, op.weights)
    p.run(
        KERNEL_GRADIENT, x.dtype, images=x.lengths[0], channels=channels, block=block, blocks=blocks, out_block=size,
        outputs=outputs, portions=portions, lengths=x.lengths[2:4], kernel=tuple(kernel), stride=op.stride,
        dilation=op.dilation, before=tuple(pair[0] for pair in op.padding), counts=counts, x=x, x_strides=x.strides[:4],
        g=g, room=room, y=result,
    )  # fmt: skip


def _room(p: Planner, found: _Found, tile: int) -> Array:
    """Return a buffer for the tiles of x."""
    tiles = (slice_of(p, n, None, n, tile, 2 + axis)[1] for axis, n in enumerate(found.counts))
    return p.fresh(found.x.dtype, (found.x.lengths[0], *tiles, (tile + 2) ** 2, found.x.lengths[1], found.x.lengths[4]))
