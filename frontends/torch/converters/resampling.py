"""Images resized with antialiasing: each element of the result is a weighted sum of a window of each axis.

PyTorch's own op resizes unit vectors, which gives its weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from .... import ops as T
from ....calculus.calculus import grad
from ....graph import rebuild
from ....ops.core.tensor import TensorVariable, constant
from ..symbols import lengths
from ..table import Call, converter
from .shapes import numbers


@converter("aten._upsample_bilinear2d_aa", "aten._upsample_bicubic2d_aa", "aten._upsample_lanczos2d_aa")
def antialiased(call: Call, x: Any, output_size: Any, align_corners: bool, *scales: Any) -> Any:
    return _resized(call.node.target, x, lengths(x), numbers(output_size), align_corners, scales)


@converter(
    "aten._upsample_bilinear2d_aa_backward", "aten._upsample_bicubic2d_aa_backward",
    "aten._upsample_lanczos2d_aa_backward",
)  # fmt: skip
def antialiased_backward(
    call: Call, g: Any, output_size: Any, input_size: Any, align_corners: bool, *scales: Any
) -> Any:  # fmt: skip
    own, wide = numbers(input_size), numbers(output_size)
    if not all(isinstance(n, int) for n in own):
        return NotImplemented
    name = call.node.target._schema.name.partition("::")[2].removesuffix("_backward")
    x = TensorVariable(g.type.with_shape(tuple(own)))
    y = _resized(getattr(torch.ops.aten, name).default, x, own, wide, align_corners, scales)
    if y is NotImplemented:
        return NotImplemented
    (found,) = rebuild([grad(T.sum(y * g), x)], {x: T.zeros(tuple(own), x.dtype)})
    return found


def _resized(
    op: Any, x: Any, own: Sequence[Any], wide: Sequence[Any], align_corners: bool, scales: Sequence[Any]
) -> Any:  # fmt: skip
    """Return resized images, columns first; NotImplemented for open lengths, and for bytes, which PyTorch rounds."""
    if x.dtype not in ("float32", "float64") or not all(isinstance(n, int) for n in (*own[2:], *wide)):
        return NotImplemented
    for axis in (3, 2):
        scale = scales[axis - 2] if scales else None
        x = _weighted(x, axis, *_windows(op, own[axis], wide[axis - 2], align_corners, scale, x.dtype))
    return x


def _windows(op: Any, n: int, m: int, align_corners: bool, scale: Any, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight of each of `n` elements in each of `m`, and whether it is in the window: a NaN then passes."""

    def found(value: float) -> np.ndarray:
        units = torch.diag(torch.full((n,), value, dtype=getattr(torch, dtype)))
        images = units[:, None, :, None].repeat(1, 1, 1, 2)  # the rows of images of width 1 come out wrong
        rows: np.ndarray = op(images, [m, 2], align_corners, scale, None)[:, 0, :, 0].numpy()
        return rows.T

    return found(1.0), np.isnan(found(math.nan))


def _weighted(x: Any, axis: int, weights: np.ndarray, inside: np.ndarray) -> Any:
    """Return weighted sums of windows along an axis; elements outside of a window are not read."""
    taps = max(int(inside.sum(1).max()), 1)
    index = np.argsort(~inside, axis=1, kind="stable")[:, :taps]
    after = (..., *(None,) * (3 - axis))
    own, read = (np.take_along_axis(v, index, 1)[after] for v in (weights, inside))
    found = x[(slice(None),) * axis + (constant(index),)]
    return T.sum(T.switch(constant(read), found * constant(own), 0), axis=axis + 1)
