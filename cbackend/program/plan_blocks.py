"""Convolutions on channels in blocks: each is one call, which needs no copy of x or of the weights."""

from __future__ import annotations

from ...graph import Apply, Constant, Variable
from ...ops.blocked import BlockedConvolution, FromBlocks, ToBlocks
from ...ops.blocked_gradient import BlockedKernelGradient
from ...ops.blocked_pool import BlockedPool
from ...ops.channel_sums import ChannelSums
from ...ops.convolution_pair import ConvolutionPair, bounds_of
from ...ops.fused_product import FusedProduct
from ...record import record
from ..abi.kinds import ConvolutionKind as Kind
from .outcome import Outcome
from .plan_blas import Multiplication, plan_multiplication
from .plan_block_layout import counts_in_blocks, with_dense_lanes
from .plan_block_pools import are_few_neighbours, input_and_lengths, pooled_blocks
from .plan_views import slice_of
from .planner import Planner
from .program import Array, Lengths, Table, Vector

PLAIN_DEPTH = 8
"""Channels per task where x is not in blocks: the number of that name in gemm/kernel_gradient.c."""


def plan_blocked_convolution(p: Planner, node: Apply) -> None:
    plan_multiplication(p, convolved_blocks(p, node), node.out)


def plan_cut_off(p: Planner, node: Apply) -> bool:
    """Plan a convolution or pool and a clip of its result as one call; return whether the node has this form."""
    found = cut_off(node)
    if found is None:
        return False
    plan_multiplication(p, _with_bounds(p, *found), node.out)
    return True


Bound = Constant | None


def cut_off(node: Apply) -> tuple[Apply, Bound, Bound] | None:
    """Return the convolution or pool of a node and the bounds that clip its result; None for other nodes."""
    if isinstance(node.op, (BlockedConvolution, BlockedPool)):
        return node, None, None
    if not isinstance(node.op, FusedProduct):
        return None
    product, others = node.op.split(node.inputs)
    bounds = bounds_of(node.op.graph)
    if bounds is None or product.owner is None or node.out.type != product.type:
        return None
    low, high = (None if k is None else others[k - 1] for k in bounds)
    if not all(v is None or (isinstance(v, Constant) and v.data == v.data) for v in (low, high)):
        return None  # a bound that is NaN makes every number NaN
    return product.owner, low, high  # type: ignore[return-value]


def _with_bounds(p: Planner, made: Apply, low: Bound, high: Bound) -> Multiplication:
    numbers = (None if v is None else p.arrays[v] for v in (low, high))
    return (pooled_blocks if isinstance(made.op, BlockedPool) else convolved_blocks)(p, made, *numbers)


def plan_pair(p: Planner, node: Apply) -> None:
    """Plan two convolutions as one call, which reuses a part of the buffer for the result of the first one."""
    assert isinstance(node.op, ConvolutionPair)
    amid, out = node.op.split(node.inputs)
    found = [v.owner and cut_off(v.owner) for v in (amid, out)]
    if not all(f and has_call(f[0]) for f in found):
        p.expand(node, node.op.expand(node.inputs))
        return
    first = _with_bounds(p, *found[0])  # type: ignore[misc]
    room = p.fresh(amid.dtype, first.lengths)
    p.arrays[amid] = room
    second = _with_bounds(p, *found[1])  # type: ignore[misc]
    _, numbers, _, _, *operands = second.arguments
    arguments = (*first.arguments, numbers, *operands, room)
    reads = (*first.reads, *(a for a in operands if isinstance(a, Array)))
    function = "convolve_pool" if second.function == "pool_blocks" else "convolve_pair"
    plan_multiplication(p, Multiplication(function, second.lengths, arguments, reads, writes=(room,)), node.out)


def has_call(node: Apply) -> bool:
    """Whether C has a function for this change of layout, convolution or pool."""
    op = node.op
    if isinstance(op, BlockedConvolution):
        return bool(op.weights) or is_packed_in_calls(op, node.inputs[1])
    if isinstance(op, ChannelSums):
        return are_few_neighbours(op, node.inputs[0])
    if isinstance(op, BlockedPool):
        return bool(node.inputs[0].type.shape[4])
    if isinstance(op, FromBlocks) and op.shuffle > 1:
        return False
    size: int | None = op.size if isinstance(op, ToBlocks) else node.inputs[0].type.shape[4]
    channels = node.inputs[0].type.shape[1]
    return bool(size) and (isinstance(op, FromBlocks) or (channels is not None and channels % (size or 1) == 0))


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


def blocked_lengths(p: Planner, node: Apply) -> Lengths:
    """Return the lengths of the result of a convolution or a pool in blocks."""
    if isinstance(node.op, BlockedPool):
        return input_and_lengths(p, node)[1]
    return _found(p, node).lengths


def convolved_blocks(p: Planner, node: Apply, low: Array | None = None, high: Array | None = None) -> Multiplication:
    """Return the call of a convolution, clipped to the range from `low` to `high` where these are given."""
    op, found, (_, w, bias) = node.op, _found(p, node), p.inputs_of(node)
    assert isinstance(op, BlockedConvolution)
    weights = _kernels(node)
    x, channels = found.x, weights[0] if op.own else weights[1]
    block = op.size if len(x.lengths) == 5 else 1
    before = tuple(pair[0] for pair in op.padding)
    if op.tile:
        return _in_tiles(p, node, found, low, high)
    kind = Kind.DEPTHWISE if op.own else Kind.LISTED if op.is_listed(weights, len(x.lengths) == 5) else Kind.DENSE
    numbers = (
        x.lengths[0], channels, block, found.lengths[1], op.size, op.panel, int(kind), op.groups,
        weights[0] // op.groups, op.shuffle, *x.lengths[2:4], *weights[2:], *op.stride, *op.dilation, *before,
        *found.counts,
    )  # fmt: skip
    steps = () if op.weights else (Vector(w.strides),)
    arguments = (Table(x.dtype), Vector(numbers), x, Vector(x.strides[:4]), w, *steps, bias, low or 0, high or 0)
    reads = tuple(a for a in arguments if isinstance(a, Array))
    if not op.weights:
        laid = p.fresh(x.dtype, weights)
        return Multiplication("convolve_packing", found.lengths, (*arguments, laid), reads, writes=(laid,))
    return Multiplication("convolve_blocks", found.lengths, arguments, reads)


def _in_tiles(p: Planner, node: Apply, found: _Found, low: Array | None, high: Array | None) -> Multiplication:
    """Return the call of a convolution by Winograd's algorithm."""
    op, x, (_, w, bias) = node.op, found.x, p.inputs_of(node)
    assert isinstance(op, BlockedConvolution)
    before = (pair[0] for pair in op.padding)
    channels, room = _kernels(node)[1], _room(p, found, op.tile)
    numbers = (
        x.lengths[0], channels, op.size, found.lengths[1], op.size, op.panel, op.tile, *x.lengths[2:4], *before,
        *found.counts,
    )  # fmt: skip
    arguments = (Table(x.dtype), Vector(numbers), x, Vector(x.strides[:4]), w, bias, low or 0, high or 0)
    reads = tuple(a for a in arguments if isinstance(a, Array))
    return Multiplication("convolve_tiles", found.lengths, (*arguments, room), reads, writes=(room,))


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
    portions = op.portions(block if block > 1 else PLAIN_DEPTH, size)
    numbers = (
        x.lengths[0], channels, block, blocks, size, outputs, portions, *x.lengths[2:4], *kernel, *op.stride,
        *op.dilation, *(pair[0] for pair in op.padding), *counts,
    )  # fmt: skip
    room = p.fresh(x.dtype, (portions, channels, *kernel, blocks * size))
    result = p.result(node.out, op.weights)
    p.products[result.dtype] = None
    arguments = (Table(x.dtype), Vector(numbers), x, Vector(x.strides[:4]), g, room, result)
    p.call("convolve_gradient", arguments, (room, result), (x, g))


def _room(p: Planner, found: _Found, tile: int) -> Array:
    """Return a buffer for the tiles of x."""
    tiles = (slice_of(p, n, None, n, tile, 2 + axis)[1] for axis, n in enumerate(found.counts))
    return p.fresh(found.x.dtype, (found.x.lengths[0], *tiles, (tile + 2) ** 2, found.x.lengths[1], found.x.lengths[4]))


PLANNERS = {
    BlockedConvolution: plan_blocked_convolution,
    BlockedKernelGradient: plan_kernel_gradient,
    ConvolutionPair: plan_pair,
}
CONDITIONS = dict.fromkeys((BlockedConvolution, BlockedPool, ChannelSums, FromBlocks, ToBlocks), has_call)
