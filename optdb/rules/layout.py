"""Layouts: convolutions on channels in blocks, and all between them; layout_gradients.py has their gradients.

    convolution(pad(x), w)            -->   from_blocks(blocked_convolution(x, w, 0))
    f(from_blocks(x), from_blocks(y)) -->   from_blocks(f(x, y))     elementwise, pooled, padded, joined, reduced
    blocked_convolution(from_blocks(x), w, b)   -->   blocked_convolution(x, w, b)

What changes the layout so moves to the ends of a network and vanishes between its layers.  Blocks are as wide as the
vectors of the target.  At the end constant weights are laid in the order in which they are read; calls do so with
others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ... import ops as T
from ...graph import Constant, Dim, Variable, dims, dims_of
from ...ops.blocked import MOST_LISTED, POSITIONS, BlockedConvolution, FromBlocks, ToBlocks
from ...ops.blocked_pool import BlockedPool
from ...ops.convolution import Convolution
from ...ops.creation import Alloc
from ...ops.elementwise import Pointwise, add
from ...ops.indexing import IncSubtensor, Subtensor, entries
from ...ops.joining import Join
from ...ops.lengths import lengths_of, tensor_to_dim
from ...ops.pooling import MaxPool, SumPool
from ...ops.reduce import Reduce
from ...ops.shape import DimShuffle, Reshape, reshape
from ...ops.slices import difference
from ...ops.tensor import constant
from ...targets.costs import ITEMS
from ...targets.current import current
from ..contract import relaxes
from ..patterns import Users
from ..rule import Rule, node_rule
from .channels import from_blocks, in_any_order, join_in_blocks, ordered, shuffle_in_blocks
from .facts import Node, is_number, number_of, producer
from .indexing import per_axis
from .pooling import POOLED
from .slicing import is_whole, read

DTYPES = ("float32", "float64")
IMAGE_CHANNELS = 4
"""The most channels of an image: red, green, blue, and how opaque it is."""
ROUNDED = relaxes("rounding", "signed zero")


def convolution_in_blocks(node: Node) -> Variable | None:
    """A convolution along two axes, on vectors: of all channels, of each, or of groups, with finite constant kernels;
    of all channels with kernels that are no constants.
    """
    op, (x, w) = node.op, node.inputs
    if len(op.stride) != 2 or node.out.dtype not in DTYPES or None in w.type.shape or 0 in w.type.shape:
        return None
    outputs, each = w.type.shape[:2]
    size = current().vector // ITEMS[node.out.dtype]
    own = each == 1 and op.groups == outputs > 1
    panel = current().registers // current().limits.panel_registers
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
    return None if own else FromBlocks(outputs)(made(inner, w, zeros))


def fits_blocks(outputs: int, channels: int, size: int) -> bool:
    """Whether kernels that each call packs read whole blocks, or images of few channels, and write whole blocks."""
    return outputs % size == 0 and (channels % size == 0 or channels <= IMAGE_CHANNELS)


def fits_groups(groups: int, outputs: int, each: int, size: int) -> bool:
    """Whether the outputs of a group, sums of `each` channels, are enough lanes of the vectors they touch."""
    return groups == 1 or (2 * (outputs // groups) >= size and groups * each <= MOST_LISTED)


def reading(op: BlockedConvolution, w: Constant, source: FromBlocks) -> tuple[BlockedConvolution, Constant]:
    """A convolution of what `source` makes of blocks, and its kernels: as it reads the blocks themselves."""
    if op.groups > 1:
        return replace(op, shuffle=source.shuffle), w
    return op, ordered(w, 0 if op.own else 1, source)


def without_padding(x: Variable) -> tuple[Variable, tuple[tuple[int, int], ...]]:
    """The value that is written amid zeros along rows and columns, and how many of these stand before and behind it."""
    return without_filling(x, 0)


def without_filling(x: Variable, number: float) -> tuple[Variable, tuple[tuple[int, int], ...]]:
    """The same for a value amid another number."""
    none = ((0, 0), (0, 0))
    write = producer(x, IncSubtensor)
    if write is None or not is_padding(write) or not is_number(write.inputs[0].owner.inputs[0], number):
        return x, none
    value, places = write.inputs[1], entries(write.op.spec, write.inputs[2:])[2:4]
    found = []
    for axis, place in zip(POSITIONS, places, strict=True):
        start, stop = tensor_to_dim(place.start), tensor_to_dim(place.stop)
        behind = dims.sub(dims_of(x)[axis], stop)
        if not isinstance(start, int) or not isinstance(behind, int) or start < 0 or behind < 0:
            return x, none
        found.append((start, behind))
    return value, tuple(found)


def is_padding(write: Node) -> bool:
    """Whether a value is written into one number stretched out, at places along rows and columns that it fills."""
    filled, value = write.inputs[:2]
    if not write.op.set or filled.owner is None or not isinstance(filled.owner.op, Alloc) or value.ndim not in (4, 5):
        return False
    if number_of(filled.owner.inputs[0]) is None or not all(entry in ("s000", "s110") for entry in write.op.spec):
        return False
    lengths, places = dims_of(value), entries(write.op.spec, write.inputs[2:])
    for axis, length in enumerate(dims_of(filled)):
        place = places[axis] if axis < len(places) else slice(None)
        start = 0 if place.start is None else tensor_to_dim(place.start)
        stop = length if place.stop is None else tensor_to_dim(place.stop)
        if dims.sub(stop, start) != lengths[axis] or (axis not in POSITIONS and (start != 0 or stop != length)):
            return False
    return value.ndim == filled.ndim and all(places[axis].start is not None for axis in POSITIONS)


def elementwise_in_blocks(node: Node) -> Variable | None:
    """An elementwise op on blocks, where its other operands are in blocks or the same along rows and columns."""
    made = [in_any_order(i) for i in node.inputs]
    first = next((m for m in made if m is not None), None)
    if first is None:
        return None
    operands = [_operand(i, m, first) for i, m in zip(node.inputs, made, strict=True)]
    return None if any(o is None for o in operands) else first.op(node.op(*operands))  # type: ignore[no-any-return]


def _operand(v: Variable, made: Node | None, first: Node) -> Variable | None:
    """An operand in blocks like those of `first`; None where it is in others, or has none."""
    if v.ndim == 0:
        return v
    if made is None:
        return _in_blocks(v, first.op, first.inputs[0].type.shape[4])
    same = made.op == first.op and made.inputs[0].type.shape[4] == first.inputs[0].type.shape[4]
    return made.inputs[0] if same else None


def _in_blocks(v: Variable, op: FromBlocks, size: int) -> Variable | None:
    """An operand that is the same along channels, or along rows and columns, in blocks; None for others."""
    shape = (1,) * (4 - v.ndim) + v.type.shape
    if len(shape) != 4:
        return None
    form = (*"x" * (4 - v.ndim), *range(v.ndim))
    if shape[1] == 1:
        return DimShuffle((*form, "x"))(v)
    if any(shape[axis] != 1 for axis in POSITIONS) or shape[1] != op.channels:
        return None
    if isinstance(v, Constant):
        v = ordered(v, v.ndim - 3, op)
    elif op.shuffle > 1 or op.channels % size:
        return None
    return ToBlocks(size)(v if v.ndim == 4 else DimShuffle(form)(v))


def bias_in_blocks(node: Node, users: Users) -> Variable | None:
    """A constant number an output added to a convolution: part of it."""
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


def padding_in_blocks(node: Node) -> Variable | None:
    """A number around rows and columns, in blocks."""
    made = in_any_order(node.inputs[1])
    if made is None or not is_padding(node):
        return None
    (blocks,), number = made.inputs, node.inputs[0].owner.inputs[0]
    lengths = [*lengths_of(blocks)[:2], *lengths_of(node.out)[2:], lengths_of(blocks)[4]]
    places = (slice(None),) * 2 + tuple(entries(node.op.spec, node.inputs[2:])[2:])
    return made.op(T.set_subtensor(Alloc()(number, *lengths)[places], blocks))  # type: ignore[no-any-return]


def pool_in_blocks(node: Node) -> Variable | None:
    """Windows of one lane along rows and columns of the blocks."""
    op, made = node.op, in_any_order(node.inputs[0])
    if made is None or len(op.kernel) != 2 or node.out.dtype not in POOLED[type(op)]:
        return None
    of_lanes = type(op)((*op.kernel, 1), (*op.stride, 1), (*op.dilation, 1))
    return made.op(of_lanes(made.inputs[0]))  # type: ignore[no-any-return]


def pool_of_blocks(node: Node, users: Users) -> Variable | None:
    """Windows of one lane, perhaps amid what they never take, which is not written then."""
    op, (x,), sums = node.op, node.inputs, isinstance(node.op, SumPool)
    if len(op.kernel) != 3 or op.kernel[2] != 1 or op.stride[2] != 1 or x.ndim != 5 or node.out.dtype not in DTYPES:
        return None
    if not x.type.shape[4] or op.kernel == (1, 1, 1) or not current().registers // current().limits.panel_registers:
        return None
    before = None if sums else producer(x, BlockedPool)
    if before is not None and _is_first_axis(before.op, op) and len(users(x)) == 1:
        kernel, stride, dilation = ((a[0], b[1]) for a, b in zip(_numbers(before.op), _numbers(op), strict=True))
        return BlockedPool(kernel, stride, dilation, before.op.padding)(*before.inputs)  # type: ignore[no-any-return]
    inner, padding = without_filling(x, 0 if sums else -np.inf)
    return BlockedPool(op.kernel[:2], op.stride[:2], op.dilation[:2], padding, sums)(inner)  # type: ignore[no-any-return]


def _numbers(op: Any) -> tuple[Any, ...]:
    return op.kernel, op.stride, op.dilation


def _is_first_axis(first: BlockedPool, second: MaxPool) -> bool:
    """Whether the largest of rows is taken first, then that of columns, of few positions."""
    apart = not first.sums and first.kernel[1] == first.stride[1] == second.kernel[0] == second.stride[0] == 1
    return apart and first.kernel[0] * second.kernel[1] <= current().limits.pool_positions


def reduction_in_blocks(node: Node) -> Variable | None:
    """A reduction along rows and columns, or images too: what is left has one number a channel."""
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


def part_in_blocks(node: Node) -> Variable | None:
    """Some rows and columns of all channels, in blocks."""
    made, within = in_any_order(node.inputs[0]), per_axis(node)
    if made is None or node.out.ndim != 4 or not all(map(is_whole, within[:2])):
        return None
    return made.op(read(made.inputs[0], within))  # type: ignore[no-any-return]


def cropped_convolution(node: Node, users: Users) -> Variable | None:
    """The rows and columns amid a convolution with stride 1, if nobody reads the others: one with less padding."""
    made = producer(node.inputs[0], BlockedConvolution)
    if made is None or max(made.op.stride) > 1 or len(users(made.out)) > 1:
        return None
    within = per_axis(node)
    if not all(is_whole(index) for axis, index in enumerate(within) if axis not in POSITIONS):
        return None
    left = []
    for axis, pair in zip(POSITIONS, made.op.padding, strict=True):
        cut = _cut_off(within[axis], dims_of(made.out)[axis])
        if cut is None or cut[0] > pair[0] or cut[1] > pair[1]:
            return None
        left.append((pair[0] - cut[0], pair[1] - cut[1]))
    return replace(made.op, padding=tuple(left))(*made.inputs)  # type: ignore[no-any-return]


def _cut_off(index: Any, length: Dim) -> tuple[int, int] | None:
    """How many positions a slice of step 1 leaves out before and behind it; None if that is not known."""
    if is_whole(index):
        return 0, 0
    if not isinstance(index, slice) or index.step is not None:
        return None
    before = 0 if index.start is None else tensor_to_dim(index.start)
    behind = 0 if index.stop is None else difference(length, tensor_to_dim(index.stop))
    if not isinstance(before, int) or not isinstance(behind, int) or min(before, behind) < 0:
        return None
    return before, behind


def written_in_blocks(node: Node) -> Variable | None:
    """Values put or added to rows and columns of all channels, in blocks: of a number, or of what is in blocks."""
    (x, value), within = node.inputs[:2], entries(node.op.spec, node.inputs[2:])
    made, filled, whole = in_any_order(value), producer(x, Alloc), in_any_order(x)
    if made is None or node.out.ndim != 4 or not all(map(is_whole, within[:2])) or is_padding(node):
        return None
    (blocks,) = made.inputs
    if filled is not None and filled.inputs[0].ndim == 0:
        lengths = [*lengths_of(blocks)[:2], *lengths_of(x)[2:], lengths_of(blocks)[4]]
        target = Alloc()(filled.inputs[0], *lengths)
    elif whole is not None and whole.op == made.op and whole.inputs[0].type.shape[4] == blocks.type.shape[4]:
        target = whole.inputs[0]
    else:
        return None
    if dims_of(target)[:2] != dims_of(blocks)[:2]:
        return None  # a value that is stretched
    return made.op(node.op(target, blocks, *node.inputs[2:]))  # type: ignore[no-any-return]


def input_in_blocks(node: Node) -> Variable | None:
    """A convolution of what is in blocks, or amid zeros."""
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
    """Blocks of what came from blocks of the same size."""
    made = from_blocks(node.inputs[0])
    same = made is not None and made.inputs[0].type.shape[4] == node.op.size
    return made.inputs[0] if made is not None and same and made.op.channels % node.op.size == 0 else None


def packed_weights(node: Node) -> Variable | None:
    """A convolution whose kernels, and numbers to add, lie as it reads them."""
    op, (x, w, bias) = node.op, node.inputs
    if op.weights or not isinstance(w, Constant) or not isinstance(bias, Constant):
        return None
    return with_packed(op, x, w, bias)


def with_packed(op: BlockedConvolution, x: Variable, w: Constant, bias: Constant) -> Variable:
    """A convolution of constant kernels that are laid as `op` reads them; zeros fill the last block of numbers."""
    numbers = np.zeros(-(-w.data.shape[0] // op.size) * op.size, bias.dtype)
    numbers[: bias.data.size] = bias.data
    laid = constant(op.packed(w.data, x.ndim == 5))
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
    _rule("local_reduction_in_blocks", Reduce, reduction_in_blocks, contract=ROUNDED,
          formula="sum{axes=(2, 3)}(from_blocks(x)) -> reshape(sum{axes=(2, 3)}(x))"),
    _rule("local_input_in_blocks", BlockedConvolution, input_in_blocks, having=(FromBlocks, IncSubtensor),
          formula="blocked_convolution(pad(from_blocks(x)), w, b) -> blocked_convolution(x, w, b)"),
    _rule("local_blocks_of_blocks", ToBlocks, blocks_cancelled, formula="to_blocks(from_blocks(x)) -> x"),
]  # fmt: skip
POOLS: list[Rule] = [
    _rule("local_pool_of_blocks", (MaxPool, SumPool), pool_of_blocks, having=(), uses=True, contract=ROUNDED,
          formula="max_pool{kernel=(k, l, 1)}(pad(x, -inf)) -> blocked_pool{padding}(x)"),
]  # fmt: skip
PACKED: list[Rule] = [
    _rule("local_pack_weights", BlockedConvolution, packed_weights, having=(), constants=True,
          formula="blocked_convolution(x, w, b) -> blocked_convolution{weights}(x, packed w, b)  for constant w, b"),
]  # fmt: skip
