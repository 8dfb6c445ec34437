"""Convolutions of pairs of bfloat16 numbers, and their values by definition."""

import numpy as np

from arignote.ops.elementwise.special import from_bfloat16
from arignote.ops.lowered.bfloat_convolution import BfloatConvolution
from arignote.targets.current import current


def by_definition(op, x, w, b):
    """The convolution of words, one rounding an addition: blocks, rows, columns, pairs; the second of a pair first."""
    n, *_, size = x.shape
    outputs, channels, height, width = op.weights
    images = from_bfloat16(x)
    around = np.pad(images, ((0, 0), (0, 0), *op.padding, (0, 0)))
    counts = [(around.shape[k + 2] - op.dilation[k] * (op.weights[k + 2] - 1) - 1) // op.stride[k] + 1 for k in (0, 1)]
    kernels, each, of_group = from_bfloat16(w), outputs // op.groups, channels // size or 1
    y = np.zeros((n, outputs, *counts), "float32")
    for group in range(op.groups):
        part = slice(group * each, (group + 1) * each)
        sums = np.broadcast_to(b[part][None, :, None, None], (n, each, *counts)).astype("float32")
        for c in range(0, channels, size):
            for i in range(height):
                for j in range(width):
                    for k in range(c, min(c + size, channels), 2):
                        for m in (k + 1, k):
                            block = around[:, group * of_group + m // size, :, :, m % size]
                            top, left = i * op.dilation[0], j * op.dilation[1]
                            seen = block[
                                :, top : top + op.stride[0] * (counts[0] - 1) + 1 : op.stride[0],
                                left : left + op.stride[1] * (counts[1] - 1) + 1 : op.stride[1],
                            ]  # fmt: skip
                            factor = kernels[part, m, i, j]
                            sums = (sums + seen[:, None] * factor[None, :, None, None]).astype("float32")
        y[:, part] = sums
    return y


def pairs_case(
    size, outputs, channels, kernel, groups=1, padding=((0, 0), (0, 0)), stride=(1, 1), dilation=(1, 1), panel=0
):
    """A convolution of pairs; by default with the panels of this machine."""
    panel = panel or current().panel or 2
    return BfloatConvolution(stride, dilation, padding, size, panel, (outputs, channels, *kernel), groups)
