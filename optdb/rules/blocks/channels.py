"""Channels in blocks: joins and shuffles of channels, and operands of ops after a shuffle.

    reshape(dimshuffle{0, 2, 1, 3, 4}(reshape(from_blocks(x))))   -->   from_blocks{shuffle}(x)
    reshape(dimshuffle{0, 3, 4, 1, 5, 2}(reshape(from_blocks(x))))  -->   from_blocks(reshape(dimshuffle(reshape(x))))
    join(from_blocks(x), from_blocks(y))                          -->   from_blocks(join(x, y))

A shuffle is kept at the end of a chain, where the weights of a convolution, or the order in which it reads channels,
take it in.  Channels are joined lane by lane where the first ones do not fill their blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .... import ops as T
from ....graph import Constant, Variable, dims, dims_of
from ....ops.core.tensor import constant
from ....ops.lowered.blocked import SWAP_GROUPS, FromBlocks
from ....ops.networks.transposed import TO_POSITIONS
from ....ops.networks.weights import shuffled
from ....ops.shapes.creation import Alloc
from ....ops.shapes.lengths import lengths_of
from ....ops.shapes.shape import DimShuffle, Reshape
from ...contract import relaxes
from ..facts import Node, producer

DTYPES = ("float32", "float64")
ROUNDED = relaxes("rounding", "signed zero")


def in_any_order(v: Variable) -> Node | None:
    """Return the node that makes v from blocks of known number and size; it may shuffle their channels."""
    made = producer(v, FromBlocks)
    if made is None or None in (made.inputs[0].type.shape[1], made.inputs[0].type.shape[4]):
        return None
    return made


def from_blocks(v: Variable) -> Node | None:
    """Return the node that makes v from blocks of known number and size, with channels in order."""
    made = in_any_order(v)
    return made if made is not None and made.op.shuffle == 1 else None


def ordered(w: Constant, axis: int, op: FromBlocks) -> Constant:
    """Return `w`, which has one part per channel of the result of `op`, in the order of the channels in the blocks."""
    if op.shuffle == 1 or w.data.shape[axis] == 1:
        return w
    return constant(np.take(w.data, shuffled(op.channels, op.channels // op.shuffle), axis))


def shuffle_in_blocks(node: Node) -> Variable | None:
    """Move a shuffle of channels behind the blocks, to the end of a chain."""
    swap = producer(node.inputs[0], DimShuffle)
    groups = None if swap is None or swap.op.order != SWAP_GROUPS else producer(swap.inputs[0], Reshape)
    made = None if groups is None else from_blocks(groups.inputs[0])
    if groups is None or made is None or node.out.ndim != 4:
        return None
    before, between, after = (dims_of(v) for v in (groups.inputs[0], groups.out, node.out))
    count, each = between[1:3]
    if not isinstance(count, int) or not isinstance(each, int) or count * each != made.op.channels or before != after:
        return None
    if (between[0], *between[3:]) != (before[0], *before[2:]):
        return None
    return FromBlocks(made.op.channels, count)(made.inputs[0])


def positions_in_blocks(node: Node) -> Variable | None:
    """Put parts of channels next to rows and columns in blocks, as transposed convolutions without overlap do."""
    moved = producer(node.inputs[0], DimShuffle)
    separate = None if moved is None or moved.op.order != TO_POSITIONS else producer(moved.inputs[0], Reshape)
    made = None if separate is None else from_blocks(separate.inputs[0])
    if separate is None or made is None or node.out.ndim != 4:
        return None
    (blocks,), (images, down, across, each, *spots) = made.inputs, dims_of(separate.out)
    size = blocks.type.shape[4]
    if not (isinstance(down, int) and isinstance(across, int) and isinstance(each, int)) or each % size:
        return None
    before, wanted = dims_of(made.out), (images, each, dims.mul(spots[0], down), dims.mul(spots[1], across))
    if before != (images, down * across * each, *spots) or dims_of(node.out) != wanted:
        return None
    n, _, rows, columns, _ = lengths_of(blocks)
    parts = T.reshape(blocks, (n, down, across, each // size, rows, columns, size))
    whole = T.transpose(parts, (*TO_POSITIONS, 6))
    return FromBlocks(each)(T.reshape(whole, (n, each // size, *node.inputs[3:], size)))  # type: ignore[no-any-return]


def join_in_blocks(node: Node) -> Variable | None:
    """Join blocks; lane by lane after channels that do not fill their last block."""
    made = [m for i in node.inputs if (m := from_blocks(i)) is not None]
    if node.op.axis != 1 or len(made) < len(node.inputs):
        return None
    sizes = {m.inputs[0].type.shape[4] for m in made}
    channels = [m.op.channels for m in made]
    if len(sizes) > 1:
        return None
    if any(n % next(iter(sizes)) for n in channels[:-1]):
        if len({(lengths[0], *lengths[2:]) for lengths in map(dims_of, node.inputs)}) > 1:
            return None  # a join of other lengths is an error, where a write would broadcast them
        return FromBlocks(sum(channels))(_lane_by_lane(made, lengths_of(node.out)))
    return FromBlocks(sum(channels))(node.op(*(m.inputs[0] for m in made)))


def _lane_by_lane(made: list[Node], lengths: Sequence[Variable]) -> Variable:
    """Return blocks that hold the channels of all nodes; the lanes after the last channel hold any numbers."""
    size = made[0].inputs[0].type.shape[4]
    count = -(-sum(m.op.channels for m in made) // size)
    zero = constant(np.zeros((), made[0].out.dtype))
    whole = Alloc()(zero, lengths[0], constant(count, "int64"), *lengths[2:4], constant(size, "int64"))
    at = 0
    for m in made:
        (x,), block, lane = m.inputs, at // size, at % size
        held = x.type.shape[1]
        blocks, beyond = min(held, count - block), min(held, count - block - 1) if lane else 0
        target = whole[:, _part(block, blocks, count), :, :, _part(lane, size - lane, size)]
        first = x if (blocks, lane) == (held, 0) else x[:, _part(0, blocks, held), :, :, _part(0, size - lane, size)]
        whole = first if (blocks, lane) == (count, 0) else T.set_subtensor(target, first)
        if beyond > 0:
            target = whole[:, _part(block + 1, beyond, count), :, :, :lane]
            whole = T.set_subtensor(target, x[:, _part(0, beyond, held), :, :, size - lane :])
        at += m.op.channels
    return whole


def _part(start: int, count: int, length: int) -> slice:
    """Return the slice of `count` positions from `start` on, of an axis of `length`."""
    return slice(None) if count == length else slice(start or None, None if start + count == length else start + count)
