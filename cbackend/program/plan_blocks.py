"""Convolutions on channels in blocks: one call each, which reads x and its weights where they lie."""

from __future__ import annotations

from typing import Any

from ...graph import Apply, Constant, Variable
from ...ops.blocked import BlockedConvolution, FromBlocks, ToBlocks
from ...ops.blocked_gradient import BlockedKernelGradient
from ...ops.blocked_pool import BlockedPool
from ...ops.channel_sums import ChannelSums
from ...ops.convolution_pair import ConvolutionPair, bounds_of
from ...ops.fused_product import FusedProduct
from ...record import record
from .outcome import Outcome
from .plan_blas import Multiplication
from .plan_views import slice_of
from .plan_windows import window_counts
from .planner import Planner
from .program import Array, Lengths, Table, Vector

PLAIN_DEPTH = 8
"""Channels of a task that are no block: the number of that name in gemm/kernel_gradient.c."""


def plan_blocked_convolution(p: Planner, node: Apply) -> None:
    """One call."""
    _call(p, convolved_blocks(p, node), node.out)


def _call(p: Planner, product: Multiplication, out: Variable) -> None:
    result = p.result(out, product.lengths)
    p.products[result.dtype] = None
    nothing = (0, 0, 0, 0)  # follows
    arguments, writes = (*product.arguments, result, *nothing), (*product.writes, result)
    p.call(product.function, arguments, writes, product.reads, product.fallible)


def plan_cut_off(p: Planner, node: Apply) -> bool:
    """Plan a convolution whose numbers are cut off at one or two others as one call; whether the node is such a one."""
    found = cut_off(node)
    if found is None:
        return False
    _call(p, _with_bounds(p, *found), node.out)
    return True


Bound = Constant | None


def cut_off(node: Apply) -> tuple[Apply, Bound, Bound] | None:
    """The convolution or pool of a node, and the numbers that its results are cut off at; None for other nodes."""
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
    """One call for two convolutions; the result of the first one has room, of which a part is used again and again."""
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
    _call(p, Multiplication("convolve_pair", second.lengths, arguments, reads, writes=(room,)), node.out)


def has_call(node: Apply) -> bool:
    """Whether C computes a change of layout, or a convolution: of whole blocks, and with weights in its order."""
    op = node.op
    if isinstance(op, BlockedConvolution):
        return bool(op.weights) or is_packed_in_calls(op, node.inputs[1])
    if isinstance(op, ChannelSums):
        return _has_lines(op, node.inputs[0])
    if isinstance(op, BlockedPool):
        return bool(node.inputs[0].type.shape[4])
    if isinstance(op, FromBlocks) and op.shuffle > 1:
        return False
    size: int | None = op.size if isinstance(op, ToBlocks) else node.inputs[0].type.shape[4]
    channels = node.inputs[0].type.shape[1]
    return bool(size) and (isinstance(op, FromBlocks) or (channels is not None and channels % (size or 1) == 0))


def is_packed_in_calls(op: BlockedConvolution, w: Variable) -> bool:
    """Whether C lays kernels of a known shape in its order: those of all channels, whose outputs fill their blocks."""
    shape = w.type.shape
    return not op.own and op.groups == 1 and None not in shape and shape[0] % op.size == 0  # type: ignore[operator]


def _has_lines(op: ChannelSums, x: Variable) -> bool:
    """Whether windows of channels are more than one, and reach no farther than the blocks beside them."""
    size = x.type.shape[4] or 0
    return op.before + op.behind > 0 and max(op.before, op.behind) <= size


def plan_channel_sums(p: Planner, node: Apply) -> None:
    """One call."""
    _call(p, summed_channels(p, node), node.out)


def summed_channels(p: Planner, node: Apply) -> Multiplication:
    """The call of sums of channels and those beside them, but for its result and what follows."""
    op, x, size = node.op, p.packed(p.arrays[node.inputs[0]]), node.inputs[0].type.shape[4] or 1
    assert isinstance(op, ChannelSums)
    n, count, *positions, lanes = x.lengths
    p.guard("equal", count, -(-op.channels // size), failure=Outcome.LENGTHS, axis=1)
    p.guard("equal", lanes, size, failure=Outcome.LENGTHS, axis=4)
    counts = (op.channels, size, count, size, 1, 1, 0, 1, op.channels, 1, 0, op.before, op.behind)
    numbers = (n, *counts, *positions, *(1, 1) * 3, 0, 0, *positions)
    arguments = (Table(x.dtype), Vector(numbers), x, Vector(x.strides[:4]), x, x, 0, 0)  # it reads no weights
    return Multiplication("convolve_blocks", (n, count, *positions, size), arguments, (x,))


LARGEST, SUMS = 2, 3
"""The numbers of that name in gemm/pools.c."""


def plan_blocked_pool(p: Planner, node: Apply) -> None:
    """One call."""
    _call(p, pooled_blocks(p, node), node.out)


def pooled_blocks(p: Planner, node: Apply, low: Array | None = None, high: Array | None = None) -> Multiplication:
    """The call of a pool in blocks, perhaps cut off at `low` and `high`, but for its result and what follows."""
    op, size = node.op, node.inputs[0].type.shape[4] or 1
    assert isinstance(op, BlockedPool)
    x, lengths = _pooled(p, node)
    count = lengths[1]
    p.guard("equal", x.lengths[4], size, failure=Outcome.LENGTHS, axis=4)
    numbers = (
        x.lengths[0], 1, size, count, size, 1, SUMS if op.sums else LARGEST, 0, 1, 1, 1, 0, 0, 0, *x.lengths[2:4],
        *op.kernel, *op.stride, *op.dilation, *(pair[0] for pair in op.padding), *lengths[2:4],
    )  # fmt: skip
    arguments = (Table(x.dtype), Vector(numbers), x, Vector(x.strides[:4]), x, x, low or 0, high or 0)  # no weights
    return Multiplication("convolve_blocks", lengths, arguments, tuple(a for a in arguments if isinstance(a, Array)))


def _pooled(p: Planner, node: Apply) -> tuple[Array, Lengths]:
    """The input of a pool, channels of a block side by side, and the lengths of its result."""
    op, x = node.op, side_by_side(p, p.arrays[node.inputs[0]])
    assert isinstance(op, BlockedPool)
    return x, (*x.lengths[:2], *_counts(p, op, x, op.kernel), x.lengths[4])


def _counts(p: Planner, op: Any, x: Array, kernel: Any) -> Lengths:
    """The numbers of windows along rows and columns of x with the padding of the op."""
    around = tuple(p.sum((n, *pair)) for n, pair in zip(x.lengths[2:4], op.padding, strict=True))
    return window_counts(p, op, around, kernel)


def plan_to_blocks(p: Planner, node: Apply) -> None:
    """A copy of the channels of each position side by side."""
    (x,), size = p.inputs_of(node), node.op.size  # type: ignore[attr-defined]
    (n, channels, *positions), (image, channel, *along) = x.lengths, x.strides
    count = node.out.type.shape[1]
    p.guard("equal", channels, count * size, failure=Outcome.LENGTHS, axis=1)
    lengths = (n, count, *positions, size)
    result = p.result(node.out, lengths)
    p.copy(result, p.view(x, lengths, (image, p.product((size, channel)), *along, channel)))


def plan_from_blocks(p: Planner, node: Apply) -> None:
    """A copy of the positions of each channel side by side; of a last block that is not full, its first channels."""
    (x,), channels = p.inputs_of(node), node.op.channels  # type: ignore[attr-defined]
    size = node.inputs[0].type.shape[4] or 1
    (n, count, *positions, _), (image, block, *along, lane) = x.lengths, x.strides
    p.guard("equal", count, -(-channels // size), failure=Outcome.LENGTHS, axis=1)
    result = p.result(node.out, (n, channels, *positions))
    first, next_channel, *steps = p.strides(result.lengths)
    for start, width in ((0, size), (channels // size * size, channels % size)):
        blocks = channels // size if width == size else 1
        if not blocks or not width:
            continue
        lengths = (n, blocks, width, *positions)
        to = (first, p.product((size, next_channel)), next_channel, *steps)
        target = p.view(result, lengths, to, p.product((start, next_channel)))
        source = p.view(x, lengths, (image, block, lane, *along), p.product((start // size, block)))
        p.copy(target, source)


@record
class _Found:
    """The input of a convolution, channels of a block side by side; its windows along rows and columns; its result."""

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
        x = side_by_side(p, x)
    p.guard("equal", x.lengths[1], -(-channels // op.size) if in_blocks else channels, failure=Outcome.LENGTHS, axis=1)
    counts = _counts(p, op, x, weights[2:])
    return _Found(x, counts, (x.lengths[0], -(-weights[0] // op.size), *counts, op.size))


def _kernels(node: Apply) -> tuple[int, ...]:
    """The shape of the kernels of a convolution, all of which is known."""
    op = node.op
    assert isinstance(op, BlockedConvolution)
    return op.kernels(node.inputs[1])  # type: ignore[return-value]


def blocked_lengths(p: Planner, node: Apply) -> Lengths:
    """The lengths of the result of a convolution or a pool in blocks."""
    if isinstance(node.op, BlockedPool):
        return _pooled(p, node)[1]
    return _found(p, node).lengths


def convolved_blocks(
    p: Planner, node: Apply, low: Array | None = None, high: Array | None = None
) -> Multiplication:
    """The call of a convolution in blocks, perhaps cut off at `low` and `high`, but for its result and what follows."""
    op, found, (_, w, bias) = node.op, _found(p, node), p.inputs_of(node)
    assert isinstance(op, BlockedConvolution)
    weights = _kernels(node)
    x, channels = found.x, weights[0] if op.own else weights[1]
    listed = op.is_listed(weights, len(x.lengths) == 5)
    numbers = (
        x.lengths[0], channels, op.size if len(x.lengths) == 5 else 1, found.lengths[1], op.size, op.panel, int(op.own),
        op.tile, op.groups, weights[0] // op.groups, op.shuffle, int(listed), 0, 0, *x.lengths[2:4], *weights[2:],
        *op.stride, *op.dilation, *(pair[0] for pair in op.padding), *found.counts,
    )  # fmt: skip
    steps = () if op.weights else (Vector(w.strides),)
    arguments = (Table(x.dtype), Vector(numbers), x, Vector(x.strides[:4]), w, *steps, bias, low or 0, high or 0)
    reads = tuple(a for a in arguments if isinstance(a, Array))
    if not op.weights:
        laid = p.fresh(x.dtype, weights)
        return Multiplication("convolve_packing", found.lengths, (*arguments, laid), reads, writes=(laid,))
    if not op.tile:
        return Multiplication("convolve_blocks", found.lengths, arguments, reads)
    room = _room(p, found, op.tile)
    return Multiplication("convolve_tiles", found.lengths, (*arguments, room), reads, writes=(room,))


def plan_kernel_gradient(p: Planner, node: Apply) -> None:
    """One call; sums of portions of the images have room."""
    op, x, g = node.op, p.arrays[node.inputs[0]], p.packed(p.arrays[node.inputs[1]])
    assert isinstance(op, BlockedKernelGradient)
    (outputs, channels, *kernel), size = op.weights, node.inputs[1].type.shape[4] or 1
    block = (node.inputs[0].type.shape[4] or 1) if len(x.lengths) == 5 else 1
    x = x if len(x.lengths) == 4 else side_by_side(p, x)
    counts, blocks = _counts(p, op, x, op.weights[2:]), -(-outputs // size)
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
    """Memory for the tiles of x."""
    tiles = (slice_of(p, n, None, n, tile, 2 + axis)[1] for axis, n in enumerate(found.counts))
    return p.fresh(found.x.dtype, (found.x.lengths[0], *tiles, (tile + 2) ** 2, found.x.lengths[1], found.x.lengths[4]))


def side_by_side(p: Planner, x: Array) -> Array:
    """x, or a copy, whose channels of a block are neighbours."""
    return x if x.strides[4] == 1 else p.packed(x)
