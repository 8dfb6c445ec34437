"""The calls of pools on channels in blocks."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from math import prod
from typing import Any

from .. import (
    NARROW,
    PRODUCTS,
    READ,
    WITH_CONVOLUTIONS,
    WRITE,
    KernelSpec,
    Work,
    after,
    array,
    length,
    lengths,
    positions,
    scalar,
    windows,
)


class Kind(IntEnum):
    """Result of a pool for each window: its largest number, or its sum."""

    LARGEST = 0
    SUM = 1


ENUMS = (Kind,)
_OPERANDS = (array("x", READ), lengths("x_strides", 4, "from an image, a block, a row, a column to the next"))


def _of_pool(c: Any) -> tuple[Work, ...]:
    """Return the additions of a pool; comparisons count none."""
    each = prod(n for n in c.kernel if isinstance(n, int)) - 1
    return (Work(each, (c.images, c.blocks, *c.counts, c.block)),) if c.kind == Kind.SUM else ()


POOLING = KernelSpec(
    "pooling",
    "A pool of channels in blocks: y = the largest number or the sum of what lies within x of each window.  x: images, "
    "blocks, rows, columns, `block` adjacent channels; y, contiguous: the same axes.",
    (
        length("images"),
        length("blocks"),
        length("block"),
        length("kind", "AG_LARGEST or AG_SUM"),
        *windows(),
        *_OPERANDS,
        scalar("low", "NULL, or the number that y is clipped to from below; NaN stays", optional=True),
        scalar("high", "NULL, or the number that y is clipped to from above", optional=True),
        array("y", WRITE),
        after("the kernel that reads y, whose loops are the axes of y"),
    ),
    table=PRODUCTS,
    function="pool",
    work=_of_pool,
    only=WITH_CONVOLUTIONS,
)

WORD_POOLING = replace(
    POOLING, name="word_pooling", about="The same of the largest bfloat16 numbers, an even number of which is a block.",
    table=NARROW, function="pool_words", only="", struct=POOLING.c_struct,
)  # fmt: skip

CHANNEL_SUMS = KernelSpec(
    "channel_sums",
    "Sums of each channel, `before` channels before it and `behind` behind it.  x and y, contiguous: images, blocks, "
    "rows, columns, `block` adjacent channels.  Lanes behind the last channel are not read.",
    (
        length("images"),
        length("channels"),
        length("block"),
        length("blocks"),
        length("before"),
        length("behind"),
        *positions("lengths"),
        *_OPERANDS,
        array("y", WRITE),
        after("the kernel that reads y, whose loops are the axes of y"),
    ),
    table=PRODUCTS,
    function="sum_channels",
    work=lambda c: (Work(c.before + c.behind, (c.images, c.blocks, *c.lengths, c.block)),),
    only=WITH_CONVOLUTIONS,
)

SPECS = (POOLING, WORD_POOLING, CHANNEL_SUMS)
