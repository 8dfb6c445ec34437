"""Channels in blocks (NCHWc): convolutions, and the ops between them.

    convolution(pad(x), w)            -->   from_blocks(blocked_convolution(x, w, 0))
    f(from_blocks(x), from_blocks(y)) -->   from_blocks(f(x, y))     elementwise, pooled, padded, joined, reduced
    blocked_convolution(from_blocks(x), w, b)   -->   blocked_convolution(x, w, b)

The changes of layout so move to the ends of a network and vanish between its layers.  Blocks are as wide as the vectors
of the target.  The last pass packs constant weights into the order in which the C reads them; each call packs others.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, Variable
from ....ops.core.tensor import constant, own_constant
from ....ops.elementwise.records import Pointwise, add
from ....ops.lowered.blocked import MOST_LISTED, POSITIONS, BlockedConvolution, FromBlocks, ToBlocks, fits_within
from ....ops.networks.convolution import Convolution
from ....ops.networks.pooling import MaxPool, SumPool
from ....ops.networks.weights import panels_of
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.indexing import IncSubtensor, Subtensor
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import lengths_of
from ....ops.shapes.shape import DimShuffle, Reshape, reshape
from ....targets.costs import ITEMS
from ....targets.current import current
from ...contract import relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, producer
from .channels import (
    DTYPES,
    ROUNDED,
    from_blocks,
    in_any_order,
    join_in_blocks,
    ordered,
    positions_in_blocks,
    shuffle_in_blocks,
)
from .channels_last import (
    blocks_of_channels_last,
    channels_last_of_blocks,
    channels_of_blocks_reduced,
    channels_reduced,
    elementwise_on_channels_last,
    fills_blocks,
)
from .parts import cropped_convolution, padding_in_blocks, part_in_blocks, without_padding, written_in_blocks
from .pools import pool_in_blocks

IMAGE_CHANNELS = 4
"""The most channels of an image: red, green, blue and alpha."""


def convolution_in_blocks(node: Node) -> Variable | None:
    """Rewrite a convolution along two axes to one on channels in blocks.

    The kernels are finite constants; in a convolution of one group they may be variables.
    """
    op, (x, w) = node.op, node.inputs
    if len(op.stride) != 2 or node.out.dtype not in DTYPES or None in w.type.shape or 0 in w.type.shape:
        return None
    outputs, each = w.type.shape[:2]
    size = current().vector // ITEMS[node.out.dtype]
    own = each == 1 and op.groups == outputs > 1
    panel = current().panel
    if not panel or not (own or fits_groups(op.groups, outputs, each, size)) or 2 * outputs <= size:
        return None
    if isinstance(w, Constant) and not np.isfinite(w.data).all():
        return None
    if not isinstance(w, Constant) and not (op.groups == 1 and fits_blocks(outputs, each, size)):
        return None
    inner, padding = without_padding(x)
    made = BlockedConvolution(op.stride, op.dilation, padding, size, panel, own, groups=1 if own else op.groups)
    zeros, blocks = constant(np.zeros(outputs, w.dtype)), in_any_order(inner)
    if blocks is not None and blocks.inputs[0].type.shape[4] == size:
        read_by, kernels = reading(made, w, blocks.op)
        return FromBlocks(outputs, blocks.op.shuffle if own else 1)(read_by(blocks.inputs[0], kernels, zeros))
    if fills_blocks(inner, size):
        return FromBlocks(outputs)(made(ToBlocks(size)(inner), w, zeros))
    if not own:
        inner = ToBlocks(size)(inner) if fits_within(op.groups, outputs, each, size) else inner
        return FromBlocks(outputs)(made(inner, w, zeros))
    if math.prod(w.type.shape[2:]) <= current().limits.pools.taps:
        return None  # a group over views of x needs no copies
    return FromBlocks(outputs)(made(ToBlocks(size)(inner), w, zeros))


def fits_blocks(outputs: int, channels: int, size: int) -> bool:
    """Whether outputs fill whole blocks, and so do channels, unless they are the few of an image."""
    return outputs % size == 0 and (channels % size == 0 or channels <= IMAGE_CHANNELS)


def fits_groups(groups: int, outputs: int, each: int, size: int) -> bool:
    """Whether the outputs of a group, sums of `each` channels, fill half of a vector, or those of several a block."""
    is_wide = 2 * (outputs // groups) >= size and groups * each <= MOST_LISTED
    return groups == 1 or is_wide or fits_within(groups, outputs, each, size)


def reading(op: BlockedConvolution, w: Constant, source: FromBlocks) -> tuple[BlockedConvolution, Constant]:
    """Return the convolution and its kernels, changed to read the blocks instead of the result of `source`."""
    if op.groups > 1:
        return replace(op, shuffle=source.shuffle), w
    return op, ordered(w, 0 if op.own else 1, source)


def elementwise_in_blocks(node: Node) -> Variable | None:
    """Apply an elementwise op to blocks, if its other operands are in blocks or constant along rows and columns."""
    made = [in_any_order(i) for i in node.inputs]
    first = next((m for m in made if m is not None), None)
    if first is None:
        return None
    operands = [_operand(i, m, first) for i, m in zip(node.inputs, made, strict=True)]
    return None if any(o is None for o in operands) else first.op(node.op(*operands))  # type: ignore[no-any-return]


def _operand(v: Variable, made: Node | None, first: Node) -> Variable | None:
    """Return an operand in the same blocks as `first`; None if its blocks differ or it cannot be put in blocks."""
    if v.ndim == 0:
        return v
    if made is None:
        return _in_blocks(v, first.op, first.inputs[0].type.shape[4])
    same = made.op == first.op and made.inputs[0].type.shape[4] == first.inputs[0].type.shape[4]
    return made.inputs[0] if same else None


def _in_blocks(v: Variable, op: FromBlocks, size: int) -> Variable | None:
    """Return an operand in blocks if it is broadcast along channels, or along rows and columns; None for others."""
    shape = (1,) * (4 - v.ndim) + v.type.shape
    if len(shape) != 4:
        return None
    form = (*"x" * (4 - v.ndim), *range(v.ndim))
    if shape[1] == 1:
        return DimShuffle((*form, "x"))(v)
    if fills_blocks(v, size) and op.shuffle == 1:
        return ToBlocks(size)(v)
    if any(shape[axis] != 1 for axis in POSITIONS) or shape[1] != op.channels:
        return None
    if isinstance(v, Constant):
        v = ordered(v, v.ndim - 3, op)
    elif op.shuffle > 1 or op.channels % size:
        return None
    return ToBlocks(size)(v if v.ndim == 4 else DimShuffle(form)(v))


def bias_in_blocks(node: Node, users: Users) -> Variable | None:
    """Add a constant per output channel to the bias of a convolution."""
    for product, shift in (node.inputs, node.inputs[::-1]) if len(node.inputs) == 2 else ():
        made = producer(product, BlockedConvolution)
        if made is None or made.op.weights or not isinstance(shift, Constant) or len(users(product)) > 1:
            continue
        shape, (x, w, bias) = (1,) * (5 - shift.ndim) + shift.data.shape, made.inputs
        if shape[0] != 1 or any(shape[axis] != 1 for axis in POSITIONS) or not isinstance(bias, Constant):
            continue
        blocks, size = product.type.shape[1], product.type.shape[4]
        numbers = np.broadcast_to(shift.data, (1, blocks, 1, 1, size)).reshape(-1)[: w.type.shape[0]]
        return made.op(x, w, constant(bias.data + numbers))  # type: ignore[no-any-return]
    return None


def reduction_in_blocks(node: Node) -> Variable | None:
    """Reduce blocks along rows and columns, or images too; the result has one number per channel."""
    made = from_blocks(node.inputs[0])
    if made is None or node.op.axis not in (POSITIONS, (0, *POSITIONS)):
        return None
    (blocks,) = made.inputs
    if node.op.axis != POSITIONS:
        reduced = node.op(blocks)
        channels, whole = made.op.channels, reduced.type.shape[0] * reduced.type.shape[1]
        found = reshape(reduced, (whole,))
        return found if channels == whole else found[:channels]
    reduced = node.op(blocks)
    n, count, size = lengths_of(reduced)
    (_, known, lanes), channels = reduced.type.shape, made.op.channels
    whole = reshape(reduced, (n, T.mul(count, size) if known is None else known * lanes))
    return whole if channels % lanes == 0 else whole[:, :channels]


def input_in_blocks(node: Node) -> Variable | None:
    """Read the blocks of the input of a convolution, and take padding with zeros into the convolution."""
    op, (x, w, bias) = node.op, node.inputs
    inner, padding = without_padding(x)
    made = in_any_order(inner)
    fits = made is not None and made.inputs[0].type.shape[4] == op.size
    if made is not None and fits and (made.op.shuffle == 1 or isinstance(w, Constant)):
        inner = made.inputs[0]
        op, w = reading(op, w, made.op)
    if inner is x or op.weights:
        return None
    both = tuple((a + c, b + d) for (a, b), (c, d) in zip(op.padding, padding, strict=True))
    return replace(op, padding=both)(inner, w, bias)  # type: ignore[no-any-return]


def blocks_cancelled(node: Node) -> Variable | None:
    """Cancel a copy out of blocks and a copy back into blocks of the same size."""
    made = from_blocks(node.inputs[0])
    same = made is not None and made.inputs[0].type.shape[4] == node.op.size
    return made.inputs[0] if made is not None and same and made.op.channels % node.op.size == 0 else None


def packed_weights(node: Node) -> Variable | None:
    """Pack constant kernels and biases into the order in which the convolution reads them."""
    op, (x, w, bias) = node.op, node.inputs
    if op.weights or not isinstance(w, Constant) or not isinstance(bias, Constant):
        return None
    return with_packed(replace(op, panel=_panel(node, w.data.shape)), x, w, bias)


def _panel(node: Node, kernels: tuple[int, ...]) -> int:
    """Return the blocks of outputs whose weights lie side by side.

    A tile, some columns of a row by a panel, reads the weights of the panel once.  Rows that divide into short tiles
    wait for weights, which narrower panels share among more columns.
    """
    op, (rows, columns) = node.op, node.out.type.shape[2:4]
    if op.own or op.groups > 1 or not columns:
        return op.panel  # type: ignore[no-any-return]
    if set(kernels[2:]) == {1}:
        columns *= rows or 1
    blocks = -(-kernels[0] // op.size)
    return min(range(op.panel, 0, -1), key=lambda panel: sum(_time(columns, n) for n in panels_of(blocks, panel)))


def _time(columns: int, panel: int) -> float:
    """Return the time of a row of so many columns by a panel: of products of vectors, or until weights have come."""
    target, limits = current(), current().limits.convolutions
    most = min(limits.tile_columns, target.registers * 3 // 4 // panel)
    return panel * max(columns, -(-columns // most) * target.vector / limits.read_bytes)


def with_packed(op: BlockedConvolution, x: Variable, w: Constant, bias: Constant) -> Variable:
    """Return a convolution with constant kernels packed as `op` reads them; zeros fill the last block of biases."""
    numbers = np.zeros(-(-w.data.shape[0] // op.size) * op.size, bias.dtype)
    numbers[: bias.data.size] = bias.data
    laid = own_constant(op.packed(w.data, x.ndim == 5))
    return replace(op, weights=w.data.shape)(x, laid, constant(numbers))


def _rule(name: str, ops: Any, function: Any, formula: str, having: Any = FromBlocks, **options: Any) -> Rule:
    return node_rule(name, ops, function, formula=formula, having=having, **options)


LAYOUT: list[Rule] = [
    _rule("local_convolution_in_blocks", Convolution, convolution_in_blocks, having=(), contract=ROUNDED,
          formula="convolution(pad(x), w) -> from_blocks(blocked_convolution(x, w, 0))  for constant w, or in blocks"),
    _rule("local_elementwise_in_blocks", Pointwise, elementwise_in_blocks,
          formula="f(from_blocks(x), y) -> from_blocks(f(x, to_blocks(y)))"),
    _rule("local_bias_in_blocks", add, bias_in_blocks, having=BlockedConvolution, uses=True, contract=ROUNDED,
          formula="blocked_convolution(x, w, b) + c -> blocked_convolution(x, w, b + c)  for constant c"),
    _rule("local_padding_in_blocks", IncSubtensor, padding_in_blocks,
          formula="pad(from_blocks(x)) -> from_blocks(pad(x))"),
    _rule("local_write_in_blocks", IncSubtensor, written_in_blocks,
          formula="set_subtensor(x[:, :, a:b], from_blocks(y)) -> from_blocks(set_subtensor(x[:, :, a:b], y))"),
    _rule("local_part_in_blocks", Subtensor, part_in_blocks,
          formula="from_blocks(x)[:, :, a:b] -> from_blocks(x[:, :, a:b])"),
    _rule("local_crop_in_blocks", Subtensor, cropped_convolution, having=BlockedConvolution, uses=True,
          contract=relaxes("rounding", "signed zero", "errors"),
          formula="blocked_convolution{padding=p}(x, w, b)[:, :, a:-a] -> blocked_convolution{padding=p - a}(x, w, b)"),
    _rule("local_pool_in_blocks", (MaxPool, SumPool), pool_in_blocks,
          formula="max_pool(from_blocks(x)) -> from_blocks(max_pool(x))"),
    _rule("local_join_in_blocks", Join, join_in_blocks,
          formula="join(from_blocks(x), from_blocks(y)) -> from_blocks(join(x, y))"),
    _rule("local_shuffle_in_blocks", Reshape, shuffle_in_blocks, having=DimShuffle,
          formula="reshape(dimshuffle{order=(0, 2, 1, 3, 4)}(reshape(from_blocks(x)))) -> from_blocks{shuffle}(x)"),
    _rule("local_positions_in_blocks", Reshape, positions_in_blocks, having=DimShuffle,
          formula="reshape(dimshuffle{order=(0, 3, 4, 1, 5, 2)}(reshape(from_blocks(x))))"
                  " -> from_blocks(reshape(dimshuffle(reshape(x))))"),
    _rule("local_reduction_in_blocks", Reduce, reduction_in_blocks, contract=ROUNDED,
          formula="sum{axes=(2, 3)}(from_blocks(x)) -> reshape(sum{axes=(2, 3)}(x))"),
    _rule("local_input_in_blocks", BlockedConvolution, input_in_blocks, having=(FromBlocks, IncSubtensor),
          formula="blocked_convolution(pad(from_blocks(x)), w, b) -> blocked_convolution(x, w, b)"),
    _rule("local_elementwise_on_channels_last", Pointwise, elementwise_on_channels_last, having=DimShuffle,
          formula="f(dimshuffle{order=(0, 3, 1, 2)}(x), c) -> dimshuffle{order=(0, 3, 1, 2)}(f(x, c))"),
    _rule("local_blocks_of_channels_last", ToBlocks, blocks_of_channels_last, having=DimShuffle,
          formula="to_blocks(dimshuffle{order=(0, 3, 1, 2)}(x)) -> dimshuffle{order=(0, 3, 1, 2, 4)}(reshape(x))"),
    _rule("local_channels_last_of_blocks", DimShuffle, channels_last_of_blocks,
          formula="dimshuffle{order=(0, 2, 3, 1)}(from_blocks(x)) -> reshape(dimshuffle{order=(0, 2, 3, 1, 4)}(x))"),
    _rule("local_channels_reduced", Reduce, channels_reduced, having=DimShuffle, contract=ROUNDED,
          formula="sum{axes=(1,)}(dimshuffle{order=(0, 3, 1, 2)}(x)) -> sum{axes=(3,)}(x)"),
    _rule("local_channels_of_blocks_reduced", Reduce, channels_of_blocks_reduced, contract=ROUNDED,
          formula="sum{axes=(1,)}(from_blocks(x)) -> sum{axes=(3,)}(reshape(dimshuffle(x)))"),
    _rule("local_blocks_of_blocks", ToBlocks, blocks_cancelled, formula="to_blocks(from_blocks(x)) -> x"),
]  # fmt: skip
PACKED: list[Rule] = [
    _rule("local_pack_weights", BlockedConvolution, packed_weights, having=(), constants=True,
          formula="blocked_convolution(x, w, b) -> blocked_convolution{weights}(x, packed w, b)  for constant w, b"),
]  # fmt: skip
