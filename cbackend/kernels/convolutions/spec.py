"""The calls of convolutions."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
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
    batch,
    inner,
    length,
    lengths,
    positions,
    scalar,
    strided,
    vector,
    windows,
)


class Kind(IntEnum):
    """Channels that an output of a convolution in blocks sums.

    DENSE: all of its group, which is made of whole blocks.  DEPTHWISE: its own.  LISTED: those of a group by a table.
    WITHIN: those of its group, of which a block has several.
    """

    DENSE = 0
    DEPTHWISE = 1
    LISTED = 2
    WITHIN = 3


class Size(IntEnum):
    """Sizes that the planner and the C share.

    PLAIN_DEPTH: channels of a task of the gradient of kernels, if x is not in blocks.  IMAGE_WORDS, GROUP_WORDS: words
    of channels that tiles sum, of an image of few channels, and of a block that holds several groups.
    """

    PLAIN_DEPTH = 8
    IMAGE_WORDS = 2
    GROUP_WORDS = 8


ENUMS = (Kind, Size)


def _of_windows(c: Any) -> tuple[Work, ...]:
    return (Work(2, (*c.batch, c.m, *c.columns, *c.rows)),)


def _in_blocks(c: Any) -> tuple[Work, ...]:
    channels = () if c.kind == Kind.DEPTHWISE else (c.outputs if c.tile_words == Size.GROUP_WORDS else c.channels,)
    return (Work(2, (c.images, c.blocks, *c.counts, c.out_block, *channels, *c.kernel)),)


def _in_tiles(c: Any) -> tuple[Work, ...]:
    return (Work(2, (c.images, c.blocks, *c.counts, c.out_block, c.channels, 3, 3)),)


def _of_gradient(c: Any) -> tuple[Work, ...]:
    return (Work(2, (c.outputs, c.channels, *c.kernel, c.images, *c.counts)),)


WINDOW_PRODUCT = KernelSpec(
    "window_product",
    "y[batch, m, columns] = a[batch, m, rows] @ windows of b: the rows of what b is seen as are the places along some "
    "axes, its columns those along others.",
    (
        batch(),
        length("m", "rows of a"),
        *strided("a", READ),
        array("b", READ),
        vector("b_strides", "of the axes of the batch"),
        vector("rows", "lengths of the axes along rows", counted="row_rank"),
        vector("row_steps", "their strides"),
        vector("columns", "lengths of the axes along columns", counted="column_rank"),
        vector("column_steps", "their strides"),
        array("y", WRITE, "contiguous"),
        after("the kernel that reads y, along images, outputs and positions"),
    ),
    table=PRODUCTS,
    function="multiply_windows",
    fails=("MEMORY",),
    work=_of_windows,
)

_SIZES = (
    length("images"),
    length("channels", "of x; of a group, where there are several"),
    length("block", "adjacent channels of x"),
    length("blocks", "of y"),
    length("out_block", "adjacent outputs of y"),
    length("panel", "the most blocks of outputs whose weights are adjacent"),
)
_OPERANDS = (array("x", READ), lengths("x_strides", 4, "from an image, a block, a row, a column to the next"))
_CLIPPED = (
    scalar("low", "NULL, or the number that y is clipped to from below; NaN stays", optional=True),
    scalar("high", "NULL, or the number that y is clipped to from above", optional=True),
)

CONVOLUTION = KernelSpec(
    "convolution",
    "A convolution in blocks of channels: y = bias + the sums of windows of x times weights, without rounding between "
    "them.  x: images, blocks, rows, columns, `block` adjacent channels; y, contiguous: images, `blocks`, rows, "
    "columns, `out_block` adjacent outputs.  Beyond the borders of x are zeros.",
    (
        *_SIZES,
        length("kind", "AG_DENSE, AG_DEPTHWISE, AG_LISTED or AG_WITHIN"),
        length("tile_words", "0, or words of channels that weights are filled up to with zeros: see tiles.c"),
        length("groups"),
        length("outputs", "of a group"),
        length("shuffle", "1, or the number of groups before a channel shuffle"),
        *windows(),
        *_OPERANDS,
        array("w", READ),
        vector("w_strides", "NULL, or w are kernels, which each call packs in `room`", optional=True),
        array("bias", READ),
        array("added", READ, "NULL, or bfloat16 numbers, in the places of y, added before the clip", optional=True),
        *_CLIPPED,
        array("room", WRITE, "room for the packed kernels", optional=True),
        array("rounded", WRITE, "NULL, or the result: y rounded to bfloat16; y is then room for sums", optional=True),
        array("y", WRITE),
        after("the kernel that reads y, whose loops are the axes of y"),
    ),
    table=PRODUCTS,
    function="convolve",
    work=_in_blocks,
    only=WITH_CONVOLUTIONS,
)

WORD_CONVOLUTION = replace(
    CONVOLUTION, name="word_convolution", about="The same of bfloat16 numbers; sums and y are float.",
    table=NARROW, function="convolve_words", only="", struct=CONVOLUTION.c_struct, fails=("MEMORY",),
)  # fmt: skip

TILED_CONVOLUTION = KernelSpec(
    "tiled_convolution",
    "The same by Winograd's algorithm, for kernels of 3 x 3 that move by one.",
    (
        *_SIZES,
        length("tile", "numbers of y along a tile"),
        *positions("lengths", "before", "counts"),
        *_OPERANDS,
        array("w", READ),
        array("bias", READ),
        *_CLIPPED,
        array("room", WRITE, "room for the tiles of x"),
        array("y", WRITE),
        after("as for a convolution"),
    ),
    table=PRODUCTS,
    function="convolve_tiles",
    work=_in_tiles,
    only=WITH_CONVOLUTIONS,
)

CONVOLUTION_PAIR = KernelSpec(
    "convolution_pair",
    "A convolution and one by a kernel for each channel that reads y of the first, which is a buffer.",
    (inner("first", "ag_convolution"), inner("second", "ag_convolution")),
    table=PRODUCTS,
    function="convolve_pair",
    only=WITH_CONVOLUTIONS,
)

WORD_PAIR = replace(
    CONVOLUTION_PAIR, name="word_pair", about="The same of bfloat16 numbers, the first one by tiles and rounded.",
    table=NARROW, function="convolve_word_pair", only="", struct=CONVOLUTION_PAIR.c_struct, fails=("MEMORY",),
)  # fmt: skip

CONVOLUTION_POOL = KernelSpec(
    "convolution_pool",
    "A convolution and a pool that reads y of it, which is a buffer.",
    (inner("first", "ag_convolution"), inner("second", "ag_pooling")),
    table=PRODUCTS,
    function="convolve_pool",
    only=WITH_CONVOLUTIONS,
)

WORD_POOL = replace(
    CONVOLUTION_POOL, name="word_pool", about="The same of bfloat16 numbers, the first one by tiles and rounded.",
    table=NARROW, function="convolve_word_pool", only="", struct=CONVOLUTION_POOL.c_struct, fails=("MEMORY",),
)  # fmt: skip

KERNEL_GRADIENT = KernelSpec(
    "kernel_gradient",
    "The gradient of the kernels of a convolution in blocks: y = sums of windows of x, as there, times g.  y, "
    "contiguous: outputs, channels, rows, columns.  g, contiguous: images, `blocks`, `counts`, `out_block` adjacent "
    "outputs.",
    (
        length("images"),
        length("channels"),
        length("block", "adjacent channels of x"),
        length("blocks", "of g"),
        length("out_block", "adjacent outputs of g"),
        length("outputs", "of y; lanes of g behind these are not read"),
        length("portions", "of the images; each has sums of its own in `room`"),
        *windows(),
        *_OPERANDS,
        array("g", READ),
        array("room", WRITE, "`portions` times the numbers of all blocks of y"),
        array("y", WRITE),
    ),
    table=PRODUCTS,
    function="find_kernel_gradient",
    work=_of_gradient,
    only=WITH_CONVOLUTIONS,
)

SPECS = (
    WINDOW_PRODUCT, WORD_CONVOLUTION, CONVOLUTION, TILED_CONVOLUTION, CONVOLUTION_PAIR, WORD_PAIR,
    CONVOLUTION_POOL, WORD_POOL, KERNEL_GRADIENT,
)  # fmt: skip
