"""Convolutions of pairs of bfloat16 numbers, and their values by definition."""

import itertools

import numpy as np

from arignote.ops.elementwise.special import from_bfloat16
from arignote.ops.lowered.bfloat_convolution import BfloatConvolution
from arignote.targets.current import current


def by_definition(op, x, w, b):
    """The convolution of words, one rounding an addition: blocks, rows, columns, pairs; the second of a pair first.

    Groups that do not consist of whole blocks add rows, columns, pairs; those within a block pairs, rows,
    columns; kernels of one channel, which are float32, rows and columns.  See by_tiles for tiles.
    """
    if op.tile_words:
        return by_tiles(op, x, w, b)
    n, *_, size = x.shape
    outputs, channels, height, width = op.weights
    images = from_bfloat16(x)
    around = np.pad(images, ((0, 0), (0, 0), *op.padding, (0, 0)))
    counts = [(around.shape[k + 2] - op.dilation[k] * (op.weights[k + 2] - 1) - 1) // op.stride[k] + 1 for k in (0, 1)]
    groups = outputs if op.own else op.groups
    kernels, each = w if op.own else from_bfloat16(w), outputs // groups
    at_once = 2 if op.is_within else channels if op.is_listed else size
    y = np.zeros((n, outputs, *counts), "float32")
    for group in range(groups):
        part = slice(group * each, (group + 1) * each)
        sums = np.broadcast_to(b[part][None, :, None, None], (n, each, *counts)).astype("float32")
        for c in range(0, channels, at_once):
            for i in range(height):
                for j in range(width):
                    for k in range(c, min(c + at_once, channels), 2):
                        for m in (k,) if op.own else (k + 1, k):
                            channel = group * channels + m
                            block = around[:, channel // size, :, :, channel % size]
                            top, left = i * op.dilation[0], j * op.dilation[1]
                            seen = block[
                                :, top : top + op.stride[0] * (counts[0] - 1) + 1 : op.stride[0],
                                left : left + op.stride[1] * (counts[1] - 1) + 1 : op.stride[1],
                            ]  # fmt: skip
                            factor = kernels[part, m, i, j]
                            sums = (sums + seen[:, None] * factor[None, :, None, None]).astype("float32")
        y[:, part] = sums
    return y


def by_tiles(op, x, w, b):
    """The convolution in the order of tiles: the first ones of pairs and the second ones are summed separately."""
    (outputs, channels, height, width), is_image = op.weights, op.tile_words == 2
    images, kernels = from_bfloat16(x), from_bfloat16(w)
    if not is_image:
        images = np.moveaxis(images, 4, 2).reshape(len(x), -1, *x.shape[2:4])
    around = np.pad(images, ((0, 0), (0, 0), *op.padding))
    counts = [(around.shape[k + 2] - op.dilation[k] * (op.weights[k + 2] - 1) - 1) // op.stride[k] + 1 for k in (0, 1)]
    each, y = outputs // op.groups, np.zeros((len(x), outputs, *counts), "float32")
    if is_image:
        columns = [range(j, min(j + 8, width)) for j in range(0, width, 8)]
        chunks = [(range(channels), i, js) for i in range(height) for js in columns]
    else:
        blocks = [range(c, min(c + 2 * op.tile_words, channels)) for c in range(0, channels, 2 * op.tile_words)]
        chunks = [(cs, i, range(j, j + 1)) for cs in blocks for i in range(height) for j in range(width)]
    for group in range(op.groups):
        part = slice(group * each, (group + 1) * each)
        sums = np.broadcast_to(b[part][None, :, None, None], (len(x), each, *counts)).astype("float32")
        for cs, i, js in chunks:
            halves = [np.zeros(1, "float32"), np.zeros(1, "float32")]
            for j, c in itertools.product(js, cs):
                rows = slice(i * op.dilation[0], i * op.dilation[0] + op.stride[0] * (counts[0] - 1) + 1, op.stride[0])
                seen = slice(j * op.dilation[1], j * op.dilation[1] + op.stride[1] * (counts[1] - 1) + 1, op.stride[1])
                numbers = around[:, group * channels + c, rows, seen][:, None]
                halves[c % 2] = halves[c % 2] + numbers * kernels[part, c, i, j][None, :, None, None]
            sums = sums + (halves[0] + halves[1])
        y[:, part] = sums
    return y


def pairs_case(
    size, outputs, channels, kernel, groups=1, padding=((0, 0), (0, 0)), stride=(1, 1), dilation=(1, 1), panel=0,
    own=False, tile_words=0,
):  # fmt: skip
    """A convolution of pairs; by default with the panels of this machine."""
    panel = panel or current().panel or 2
    weights = (outputs, channels, *kernel)
    return BfloatConvolution(stride, dilation, padding, size, panel, weights, groups, own, tile_words)


def own_case(size, channels, kernel, around=0, **given):
    """A depthwise convolution of images with so many zeros at each border."""
    return pairs_case(size, channels, 1, kernel, padding=((around, around), (around, around)), own=True, **given)
