"""Channels in blocks (NCHWc): copies into this layout and out of it, and lengths that all calls on blocks share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....graph import Apply
from ....ops.lowered.blocked import FromBlocks, ToBlocks
from ..outcome import Outcome
from ..planner import Planner
from ..program import Array, Lengths
from .creation import fill_with_zeros
from .windows import window_counts

_MOST_SHUFFLED = 8
"""The most groups of a shuffle that are copied one by one."""


def plan_to_blocks(p: Planner, node: Apply) -> None:
    """Plan copies that make the channels of each block adjacent in memory; zeros fill up the last block."""
    (x,), size = p.inputs_of(node), node.op.size  # type: ignore[attr-defined]
    (n, channels, *positions), (image, channel, *along) = x.lengths, x.strides
    known = node.inputs[0].type.shape[1] or 0
    p.guard("equal", channels, known, failure=Outcome.LENGTHS, axis=1)
    result = p.result(node.out, (n, -(-known // size), *positions, size))
    to, block = p.strides(result.lengths), p.product((size, channel))
    for start, blocks, width in _runs(0, known, size):
        place = p.product((start // size, to[1]))
        if width < size:
            fill_with_zeros(p, p.view(result, (n, blocks, *positions, size), to, place))
        lengths = (n, blocks, *positions, width)
        part = p.view(x, lengths, (image, block, *along, channel), p.product((start, channel)))
        p.copy(p.view(result, lengths, to, place), part)


def plan_from_blocks(p: Planner, node: Apply) -> None:
    """Plan copies that make the positions of each channel adjacent; parts of blocks are copied on their own.

    The channels of a group of a shuffle go to every `shuffle`-th place.
    """
    (x,), channels, shuffle = p.inputs_of(node), node.op.channels, node.op.shuffle  # type: ignore[attr-defined]
    size = node.inputs[0].type.shape[4] or 1
    (n, count, *positions, _), (image, block, *along, lane) = x.lengths, x.strides
    p.guard("equal", count, -(-channels // size), failure=Outcome.LENGTHS, axis=1)
    result = p.result(node.out, (n, channels, *positions))
    first, next_channel, *steps = p.strides(result.lengths)
    to = (first, p.product((size * shuffle, next_channel)), p.product((shuffle, next_channel)), *steps)
    for group in range(shuffle):
        begin = group * channels // shuffle
        for start, blocks, width in _runs(begin, (group + 1) * channels // shuffle, size):
            lengths, place = (n, blocks, width, *positions), (start - begin) * shuffle + group
            target = p.view(result, lengths, to, p.product((place, next_channel)))
            begins = p.sum((p.product((start // size, block)), p.product((start % size, lane))))
            p.copy(target, p.view(x, lengths, (image, block, lane, *along), begins))


def _runs(start: int, end: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield the first channel, the number of blocks and the width of each run of equal parts of blocks."""
    while start < end:
        within = start % size
        blocks = 1 if within else max(1, (end - start) // size)
        width = min(size - within, end - start)
        yield start, blocks, width
        start += blocks * width


def has_copy(node: Apply) -> bool:
    """Whether C copies a known number of channels into blocks, or out of blocks of a known size."""
    op = node.op
    if isinstance(op, FromBlocks):
        return op.shuffle <= _MOST_SHUFFLED and bool(node.inputs[0].type.shape[4])
    return bool(op.size) and node.inputs[0].type.shape[1] is not None  # type: ignore[attr-defined]


def with_dense_lanes(p: Planner, x: Array) -> Array:
    """Return x if the channels of a block are adjacent in memory, else a copy where they are."""
    return x if x.strides[4] == 1 else p.packed(x)


def counts_in_blocks(p: Planner, op: Any, x: Array, kernel: Any) -> Lengths:
    """Return the numbers of windows along rows and columns of x, padded as the op says."""
    around = tuple(p.sum((n, *pair)) for n, pair in zip(x.lengths[2:4], op.padding, strict=True))
    return window_counts(p, op, around, kernel)


PLANNERS = {
    ToBlocks: plan_to_blocks,
    FromBlocks: plan_from_blocks,
}
CONDITIONS = dict.fromkeys((FromBlocks, ToBlocks), has_copy)
