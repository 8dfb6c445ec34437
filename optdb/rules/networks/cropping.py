"""Slices of convolutions and of padded arrays: only the needed outputs and padding are computed.

The cotangent of a padded image is a full convolution, padded by all of the kernel, of which the padding is cut off.
"""

from __future__ import annotations

from typing import Any

from ....ops.networks.convolution import Convolution
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.lengths import dim_to_tensor
from ...contract import relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, Value, constant_int, producer
from ..shapes.indexing import per_axis
from ..shapes.slicing import is_whole, read, spec_of

Span = tuple[int, int]
"""Positions from the first up to the second, exclusive."""


def span_of(index: Any, length: int | None) -> Span | None:
    """Return the positions of a slice of step 1 with known bounds; None for an empty one and other indices."""
    if length is None or not isinstance(index, slice):
        return None
    bounds = [None if b is None else constant_int(b) for b in (index.start, index.stop, index.step)]
    if any(n is None and b is not None for n, b in zip(bounds, (index.start, index.stop, index.step), strict=True)):
        return None
    start, stop, step = slice(*bounds).indices(length)
    return (start, stop) if step == 1 and start < stop else None


def slice_of(start: int, stop: int) -> slice:
    """The slice of these positions, as int64 scalars."""
    return slice(dim_to_tensor(start), dim_to_tensor(stop))


def part_of_convolution(node: Node, users: Users) -> Value | None:
    """Return the convolution of the positions that the slice needs, if the whole has no other reader."""
    made = producer(node.inputs[0], Convolution)
    within = per_axis(node)
    if made is None or len(users(made.out)) != 1 or not all(map(is_whole, within[:2])):
        return None
    (x, w), op = made.inputs, made.op
    own = [slice(None), slice(None)]
    for axis, index in enumerate(within[2:]):
        span, positions = span_of(index, made.out.type.shape[axis + 2]), w.type.shape[axis + 2]
        if is_whole(index):
            own.append(index)
        elif span is None or positions is None:
            return None
        else:
            stride, extent = op.stride[axis], op.dilation[axis] * (positions - 1) + 1
            own.append(slice_of(span[0] * stride, (span[1] - 1) * stride + extent))
    return op(read(x, own), w)


def part_of_padded(node: Node, users: Users) -> Value | None:
    """Return the slice of the values with less padding, if the whole has no other reader."""
    write = producer(node.inputs[0], IncSubtensor)
    made = None if write is None or not write.op.set else producer(write.inputs[0], Alloc)
    if made is None or len(users(write.out)) != 1:  # type: ignore[union-attr]
        return None
    (number, *lengths), (y, *bounds) = made.inputs, write.inputs[1:]  # type: ignore[union-attr]
    places = entries(write.op.spec, bounds)  # type: ignore[union-attr]
    places += [slice(None)] * (len(lengths) - len(places))
    if number.ndim or y.ndim != len(lengths):
        return None
    kept: list[Any] = [slice(None)] * y.ndim
    for axis, index in enumerate(per_axis(node)):
        if is_whole(index):
            continue
        length = write.out.type.shape[axis]  # type: ignore[union-attr]
        part, place = span_of(index, length), span_of(places[axis], length)
        if part is None or place is None or y.type.shape[axis] != place[1] - place[0]:
            return None
        first, last = max(part[0], place[0]), min(part[1], place[1])
        if first >= last:
            return None
        lengths[axis] = dim_to_tensor(part[1] - part[0])
        kept[axis] = slice_of(first - place[0], last - place[0])
        places[axis] = slice_of(first - part[0], last - part[0])
    spec, inputs = spec_of(places)
    return IncSubtensor(spec, set=True)(Alloc()(number, *lengths), read(y, kept), *inputs)


CROPPED: list[Rule] = [
    node_rule("local_subtensor_of_convolution", Subtensor, part_of_convolution, having=Convolution, uses=True,
              contract=relaxes("rounding"),
              formula="convolution(x, w)[:, :, a:b] -> convolution(x[:, :, a:b + k - 1], w)  for w of length k"),
    node_rule("local_subtensor_of_padding", Subtensor, part_of_padded, having=IncSubtensor, uses=True,
              formula="set_subtensor(alloc(c, n)[p:q], y)[a:b] -> set_subtensor(alloc(c, b - a)[p - a:q - a], y)"),
]  # fmt: skip
