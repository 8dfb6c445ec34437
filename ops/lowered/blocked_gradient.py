"""The gradient of the kernels of a convolution on channels in blocks.

    blocked_kernel_gradient{stride, dilation, padding, weights}(x, g)    kernel_gradient(pad(x), g) of g in blocks

The op comes from optdb/rules/blocks/layout.py; kernel_gradient.c computes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import record
from ..core.backward import ByExpansion
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import Lowered, TensorVariable, constant
from ..elementwise import costs
from ..networks.convolution import KernelGradient
from ..shapes.windows import Numbers, Windowed
from .blocked import FromBlocks, Pads, of_blocks

PORTIONED = 16
"""Number of tasks that is worth sharing: images are divided if channels and outputs make fewer."""
PANEL = 3
"""Blocks of outputs per task."""


@record(repr=False)
class BlockedKernelGradient(Windowed, ByExpansion, Lowered):
    """The cotangent of the kernels of `blocked_convolution(x, w, b)` for the cotangent g of its result.

    x: images, channels, rows, columns, or in blocks.  g: in blocks.  `padding`: zeros around x.  `weights`: the shape
    of the result: outputs, channels, rows, columns.
    """

    stride: Numbers
    dilation: Numbers
    padding: Pads
    weights: Numbers
    name = "blocked_kernel_gradient"
    picture: ClassVar[Kind] = Kind.PRODUCT

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        x, g = inputs
        if x.ndim not in (4, 5) or g.ndim != 5 or x.dtype != g.dtype or x.dtype not in ("float32", "float64"):
            raise TypeError(f"{self.name} takes images and blocks of floats, got {describe(x)}, {describe(g)}")
        if None in (g.type.shape[4], x.type.shape[-1] if x.ndim == 5 else 0):
            raise TypeError(f"{self.name} takes blocks of a known size, got {describe(x)}, {describe(g)}")
        FromBlocks(self.weights[0]).infer((g,))
        if x.ndim == 5:
            FromBlocks(self.weights[1]).infer((x,))
        around = [None if n is None else n + sum(p) for n, p in zip(x.type.shape[2:4], self.padding, strict=True)]
        counts = self.positions((None, None, *around), self.weights[2:])
        for have, want in zip(g.type.shape[2:4], counts, strict=True):
            if None not in (have, want) and have != want:
                raise ValueError(f"{self.name}: {describe(g)} does not have the windows of {describe(x)}, {counts}")
        return (TensorType(x.dtype, self.weights),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (self.weights,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, g = values
        x = of_blocks(x, self.weights[1]) if x.ndim == 5 else x
        plain = KernelGradient(self.stride, self.dilation, 1)
        lengths = map(np.asarray, self.weights[2:])
        return plain.evaluate(np.pad(x, ((0, 0), (0, 0), *self.padding)), of_blocks(g, self.weights[0]), *lengths)

    def expand(self, inputs: Sequence[Variable]) -> TensorVariable:
        """Return the same in the layout NCHW."""
        x, g = inputs
        x = FromBlocks(self.weights[1])(x) if x.ndim == 5 else x
        around, lengths = T.pad(x, ((0, 0), (0, 0), *self.padding)), (constant(n, "int64") for n in self.weights[2:])
        plain = KernelGradient(self.stride, self.dilation, 1)
        return plain(around, FromBlocks(self.weights[0])(g), *lengths)  # type: ignore[no-any-return]

    def portions(self, block: int, size: int) -> int:
        """Return the number of portions of images with partial sums; x has blocks of `block` channels, g of `size`."""
        outputs, channels = self.weights[:2]
        tasks = -(-channels // block) * -(-outputs // size // PANEL)
        return -(-PORTIONED // tasks) if tasks else 1

    def operations(self, node: Apply) -> costs.Operations:
        images, _, rows, columns, _ = costs.lengths(node.inputs[1])
        count = 2.0 * math.prod(self.weights) * images * rows * columns
        return costs.Operations("window", count, node.out.dtype)
