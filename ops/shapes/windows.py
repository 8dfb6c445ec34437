"""Windows of a tensor: their number along its last axes, and a view of them.

    along one axis: position p of window j is element  j stride + p dilation

Convolutions and pooling are ops on windows.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Dim, dims
from ..core.checks import shown, unpacked
from ..core.tensor import TensorOp

Numbers = tuple[int, ...]
Lengths = tuple["int | None", ...]
MOST = 2**31 - 1
"""Largest stride, dilation, kernel or padding, so that nothing computed from them overflows."""


class Windowed(TensorOp):
    """The base of ops on windows: `stride` and `dilation` have a number for each of the last axes.

    `kernel` is, in its methods, how many positions a window has along each of these.
    """

    stride: Numbers
    dilation: Numbers

    def positions(self, shape: Sequence[int | None], kernel: Sequence[int | None]) -> Lengths:
        """Return the number of windows along each axis, None if unknown.  Raises ValueError where there is none."""
        front = len(shape) - len(self.stride)
        counts: list[int | None] = []
        for axis, (length, k) in enumerate(zip(shape[front:], kernel, strict=True)):
            if length is None or k is None:
                counts.append(None)
                continue
            extent = self.dilation[axis] * (k - 1) + 1
            if k < 1 or extent > length:
                raise ValueError(f"{self.name}: {no_window(front + axis, k, extent, length)}")
            counts.append((length - extent) // self.stride[axis] + 1)
        return tuple(counts)

    def position_dims(self, lengths: Sequence[Dim], kernel: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return the same as symbolic lengths."""
        found = []
        for length, k, stride, dilation in zip(lengths, kernel, self.stride, self.dilation, strict=True):
            extent = dims.add(dims.mul(k, dilation), 1 - dilation)
            found.append(dims.add(dims.floordiv(dims.sub(length, extent), stride), 1))
        return tuple(found)

    def windows(self, x: np.ndarray, kernel: Numbers) -> np.ndarray:
        """Return all windows of x: (*axes in front, *kernel, *positions), a view."""
        front = x.ndim - len(kernel)
        counts = self.positions(x.shape, kernel)
        within = [d * s for d, s in zip(self.dilation, x.strides[front:], strict=True)]
        between = [d * s for d, s in zip(self.stride, x.strides[front:], strict=True)]
        shape, strides = (*x.shape[:front], *kernel, *counts), (*x.strides[:front], *within, *between)
        return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)


def no_window(axis: int, kernel: int, extent: int, length: int) -> str:
    """Return why there is no window along an axis."""
    if kernel < 1:
        return f"the kernel has no positions on axis {axis}"
    return f"the kernel extends over {extent} positions of axis {axis}, the padded input has {length}"


def numbers_an_axis(value: Any, axes: int, name: str, role: str, least: int = 1) -> Numbers:
    """One integer for each axis, given as one for all or as a sequence.  Raises TypeError and ValueError."""
    value = unpacked(value)
    several = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    try:
        found = tuple(map(operator.index, several))
    except TypeError:
        kinds = "an integer" if axes == 1 else f"an integer or {axes} of them"
        raise TypeError(f"{name}: {role} must be {kinds}, known when the graph is built, got {shown(value)}") from None
    if len(found) != axes:
        raise ValueError(f"{name}: {role} has one number for each of {axes} axes, got {shown(value)}")
    if min(found) < least or max(found) > MOST:
        bound = f"{least} or more" if min(found) < least else f"at most {MOST}"
        raise ValueError(f"{name}: {role} must be {bound}, got {shown(value)}")
    return found
