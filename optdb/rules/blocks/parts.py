"""Padding, slices and writes along rows and columns, of channels in blocks.

    pad(from_blocks(x))                                     -->   from_blocks(pad(x))
    from_blocks(x)[:, :, a:b]                               -->   from_blocks(x[:, :, a:b])
    set_subtensor(x[:, :, a:b], from_blocks(y))             -->   from_blocks(set_subtensor(x[:, :, a:b], y))
    blocked_convolution{padding=p}(x, w, b)[:, :, a:-a]     -->   blocked_convolution{padding=p - a}(x, w, b)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .... import ops as T
from ....graph import Apply, Dim, Variable, dims, dims_of
from ....ops.lowered.blocked import POSITIONS, BlockedConvolution
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor, entries
from ....ops.shapes.lengths import lengths_of, tensor_to_dim
from ....ops.shapes.slices import difference
from ...patterns import Users
from ..facts import Node, is_number, number_of, producer
from ..shapes.indexing import per_axis
from ..shapes.slicing import is_whole, read
from .channels import in_any_order


def without_padding(x: Variable) -> tuple[Variable, tuple[tuple[int, int], ...]]:
    """Return the value that x pads with zeros along rows and columns, and the amounts; else x and no padding."""
    return without_filling(x, 0)


def without_filling(x: Variable, number: float) -> tuple[Variable, tuple[tuple[int, int], ...]]:
    """Return the value that x pads with `number` along rows and columns, and the amounts; else x and no padding."""
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
    """Whether a node writes a value into an array filled with one number, as padding along rows and columns."""
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


def without_zeros(x: Variable) -> Variable:
    """Return the value that x pads with zeros along rows and columns, or x itself."""
    write = producer(x, IncSubtensor)
    if write is None or not is_padding(write) or not is_number(write.inputs[0].owner.inputs[0], 0):
        return x
    return write.inputs[1]  # type: ignore[no-any-return]


def amid(write: Node | None, value: Variable) -> Variable:
    """Return another value padded as `write` does."""
    assert write is not None
    return Apply(write.op, [write.inputs[0], value, *write.inputs[2:]], write.origin).out


def padding_in_blocks(node: Node) -> Variable | None:
    """Pad blocks along rows and columns with a number."""
    made = in_any_order(node.inputs[1])
    if made is None or not is_padding(node):
        return None
    (blocks,), number = made.inputs, node.inputs[0].owner.inputs[0]
    lengths = [*lengths_of(blocks)[:2], *lengths_of(node.out)[2:], lengths_of(blocks)[4]]
    places = (slice(None),) * 2 + tuple(entries(node.op.spec, node.inputs[2:])[2:])
    return made.op(T.set_subtensor(Alloc()(number, *lengths)[places], blocks))  # type: ignore[no-any-return]


def part_in_blocks(node: Node) -> Variable | None:
    """Slice rows and columns of blocks."""
    made, within = in_any_order(node.inputs[0]), per_axis(node)
    if made is None or node.out.ndim != 4 or not all(map(is_whole, within[:2])):
        return None
    return made.op(read(made.inputs[0], within))  # type: ignore[no-any-return]


def cropped_convolution(node: Node, users: Users) -> Variable | None:
    """Crop the result of a convolution with stride 1 by less padding, if the slice is its only reader."""
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
    """Return how many positions a slice of step 1 drops before and after it; None if that is not known."""
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
    """Write blocks into rows and columns of an array in blocks, or of an array filled with one number."""
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
        return None  # a value that is broadcast
    return made.op(node.op(target, blocks, *node.inputs[2:]))  # type: ignore[no-any-return]
