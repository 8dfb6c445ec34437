"""Convolutions on channels in blocks: one call each, which reads x and its weights where they lie."""

from __future__ import annotations

from ...graph import Apply, Constant, FunctionGraph, Variable
from ...ops.blocked import BlockedConvolution, FromBlocks, ToBlocks
from ...ops.elementwise import clip, maximum, minimum
from ...ops.fused_product import FusedProduct
from ...record import record
from .outcome import Outcome
from .plan_blas import Multiplication
from .plan_views import slice_of
from .plan_windows import window_counts
from .planner import Planner
from .program import Array, Lengths, Table, Vector


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
    assert isinstance(node.op, FusedProduct)
    product, others = node.op.split(node.inputs)
    bounds = _bounds(node.op.graph)
    if bounds is None or product.owner is None or node.out.type != product.type:
        return False
    found = [None if k is None else others[k - 1] for k in bounds]
    if any(v is not None and not (isinstance(v, Constant) and v.data == v.data) for v in found):
        return False  # a bound that is NaN makes every number NaN
    low, high = (None if v is None else p.arrays[v] for v in found)
    _call(p, convolved_blocks(p, product.owner, low, high), node.out)
    return True


def _bounds(graph: FunctionGraph) -> tuple[int | None, int | None] | None:
    """The inputs at which a graph cuts the first one off, from below and from above; None if it does something else."""
    found: list[int | None] = [None, None]
    value = graph.inputs[0]
    for node in graph.order:
        sides = {maximum: (0,), minimum: (1,), clip: (0, 1)}.get(node.op, ())  # type: ignore[call-overload]
        others = [i for i in node.inputs if i is not value]
        in_turn = all(n is None for n in found[min(sides, default=0) :])
        if not sides or not in_turn or len(others) != len(sides) or len(node.inputs) != 1 + len(sides):
            return None
        for side, other in zip(sides, others, strict=True):
            if other not in graph.inputs or other.ndim or other.dtype != value.dtype:
                return None
            found[side] = graph.inputs.index(other)
        value = node.out
    return (found[0], found[1]) if [value] == list(graph.outputs) and graph.order else None


def has_call(node: Apply) -> bool:
    """Whether C computes a change of layout, or a convolution: of whole blocks, and with weights in its order."""
    op = node.op
    if isinstance(op, BlockedConvolution):
        return bool(op.weights)
    if isinstance(op, FromBlocks) and op.shuffle > 1:
        return False
    size: int | None = op.size if isinstance(op, ToBlocks) else node.inputs[0].type.shape[4]
    channels = node.inputs[0].type.shape[1]
    return bool(size) and (isinstance(op, FromBlocks) or (channels is not None and channels % (size or 1) == 0))


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
    channels = op.weights[0] if op.own else op.weights[1] * op.groups
    in_blocks = len(x.lengths) == 5
    if in_blocks:
        x = side_by_side(p, x)
    p.guard("equal", x.lengths[1], -(-channels // op.size) if in_blocks else channels, failure=Outcome.LENGTHS, axis=1)
    around = tuple(p.sum((n, *pair)) for n, pair in zip(x.lengths[2:4], op.padding, strict=True))
    counts = window_counts(p, op, around, op.weights[2:])
    return _Found(x, counts, (x.lengths[0], -(-op.weights[0] // op.size), *counts, op.size))


def blocked_lengths(p: Planner, node: Apply) -> Lengths:
    """The lengths of the result of a convolution in blocks."""
    return _found(p, node).lengths


def convolved_blocks(
    p: Planner, node: Apply, low: Array | None = None, high: Array | None = None
) -> Multiplication:
    """The call of a convolution in blocks, perhaps cut off at `low` and `high`, but for its result and what follows."""
    op, found, (_, w, bias) = node.op, _found(p, node), p.inputs_of(node)
    assert isinstance(op, BlockedConvolution)
    x, channels = found.x, op.weights[0] if op.own else op.weights[1]
    listed = op.is_listed(op.weights, len(x.lengths) == 5)
    numbers = (
        x.lengths[0], channels, op.size if len(x.lengths) == 5 else 1, found.lengths[1], op.size, op.panel, int(op.own),
        op.tile, op.groups, op.weights[0] // op.groups, op.shuffle, int(listed), *x.lengths[2:4], *op.weights[2:],
        *op.stride, *op.dilation, *(pair[0] for pair in op.padding), *found.counts,
    )  # fmt: skip
    arguments = (Table(x.dtype), Vector(numbers), x, Vector(x.strides[:4]), w, bias, low or 0, high or 0)
    reads = tuple(a for a in arguments if isinstance(a, Array))
    if not op.tile:
        return Multiplication("convolve_blocks", found.lengths, arguments, reads)
    room = _room(p, found, op.tile)
    return Multiplication("convolve_tiles", found.lengths, (*arguments, room), reads, writes=(room,))


def _room(p: Planner, found: _Found, tile: int) -> Array:
    """Memory for the tiles of x."""
    tiles = (slice_of(p, n, None, n, tile, 2 + axis)[1] for axis, n in enumerate(found.counts))
    return p.fresh(found.x.dtype, (found.x.lengths[0], *tiles, (tile + 2) ** 2, found.x.lengths[1], found.x.lengths[4]))


def side_by_side(p: Planner, x: Array) -> Array:
    """x, or a copy, whose channels of a block are neighbours."""
    return x if x.strides[4] == 1 else p.packed(x)
