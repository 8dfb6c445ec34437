"""Images sampled at computed places: `grid_sample`, and the grids of affine maps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable
from ..core.typing import TensorLike
from ..shapes.lengths import as_length, lengths_of
from .functions import _as_float

__all__ = ["affine_grid", "grid_sample"]

CUBIC = -0.75
"""Keys' coefficient for `mode="bicubic"`."""


def grid_sample(
    x: TensorLike, grid: TensorLike, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> TensorVariable:
    """`x` (images, channels, positions ...) at the places of `grid` (images, places ..., axes).

    A place counts from -1 to 1 along each axis of positions, the last axis of `x` first.  `align_corners`: whether -1
    and 1 are the centres of the first and last element, else their outer edges.  `mode`: "bilinear", "nearest" or
    "bicubic" (two axes only).  `padding_mode` says what lies outside: "zeros", "border" or "reflection".  Derivatives
    go to both operands, none to `grid` with "nearest".  Raises TypeError for other ranks, ValueError for other names.
    Source: M. Jaderberg and others, "Spatial transformer networks", 2015.
    """
    x, grid = _as_float(x), _as_float(grid)
    axes = x.ndim - 2
    if axes < 1 or grid.ndim != x.ndim or grid.type.shape[-1] not in (None, axes):
        form = "x (images, channels, positions ...) and grid (images, places ..., axes)"
        raise TypeError(f"grid_sample: expected {form}, got {describe(x)} and {describe(grid)}")
    for role, given, known in (("mode", mode, ("bilinear", "nearest", "bicubic")),
                               ("padding_mode", padding_mode, ("zeros", "border", "reflection"))):  # fmt: skip
        if given not in known:
            raise ValueError(f"grid_sample: {role} must be one of {', '.join(map(repr, known))}, got {shown(given)}")
    if mode == "bicubic" and axes != 2:
        raise ValueError(f'grid_sample: mode "bicubic" takes images of two axes, got {describe(x)}')
    dtype = x.dtype
    x = with_dtype(x, "float32") if dtype == "float16" else x
    return with_dtype(sampled(x, grid, mode, padding_mode, bool(align_corners)), dtype)


def sampled(x: Any, grid: Any, mode: str, border: str, corners: bool) -> Any:
    """Return `grid_sample` for checked arguments and any number of axes; x in the dtype of the result."""
    own = lengths_of(x)[2:]
    places = [_place(grid[..., len(own) - 1 - k], n, corners) for k, n in enumerate(own)]
    if mode == "nearest":
        return _gathered(x, [T.round(p) for p in places], border, corners)
    reach = (-1, 0, 1, 2) if mode == "bicubic" else (0, 1)
    firsts = [T.floor(p) for p in places]
    weights = [[_weight(T.sub(p, T.add(f, s)), mode) for s in reach] for p, f in zip(places, firsts, strict=True)]
    total: Any = None
    for choice in itertools.product(range(len(reach)), repeat=len(own)):
        at = [T.add(f, reach[c]) for f, c in zip(firsts, choice, strict=True)]
        weight: Any = None
        for w, c in zip(weights, choice, strict=True):
            weight = w[c] if weight is None else T.mul(weight, w[c])
        part = T.mul(_gathered(x, at, border, corners), T.expand_dims(with_dtype(weight, x.dtype), 1))
        total = part if total is None else T.add(total, part)
    return total


def _place(g: Any, length: Any, corners: bool) -> Any:
    """Return the coordinate of a place from -1 to 1."""
    n = with_dtype(length, g.dtype)
    if corners:
        return T.mul(T.true_div(T.add(g, 1), 2), T.sub(n, 1))
    return T.true_div(T.sub(T.mul(T.add(g, 1), n), 1), 2)


def _weight(d: Any, mode: str) -> Any:
    """Return the weight of an element by its distance: a triangle, or Keys' cubic."""
    d = T.abs(d)
    if mode != "bicubic":
        return T.sub(1, d)
    a = CUBIC
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return T.switch(T.le(d, 1), near, far)


def _gathered(x: Any, places: Sequence[Any], border: str, corners: bool) -> Any:
    """Return the elements of x at integer coordinates; coordinates outside follow the padding mode.

    Positions count in the flat array, so that one gather reads them and fuses with its reader.  NaN counts as 0.
    """
    images, channels, *own = lengths_of(x)
    inside, at = None, None  # type: Any, Any
    for given, length in zip(places, own, strict=True):
        p, n = given, with_dtype(length, given.dtype)
        if border == "zeros":
            here = T.logical_and(T.ge(p, 0), T.le(p, T.sub(n, 1)))
            inside = here if inside is None else T.logical_and(inside, here)
        elif border == "reflection":
            p = _reflected(p, n, corners)
        index = T.cast(T.minimum(T.switch(T.gt(p, 0), p, T.constant(0, p.dtype)), T.sub(n, 1)), "int64")
        at = index if at is None else T.add(T.mul(at, length), index)
    planes = T.reshape(T.arange(T.mul(images, channels)), (images, channels, *(1,) * len(own)))
    size = own[0] if len(own) == 1 else T.mul(*own)
    y = T.reshape(x, (-1,))[T.add(T.mul(planes, size), T.expand_dims(at, 1))]
    return y if inside is None else T.switch(T.expand_dims(inside, 1), y, T.constant(0, y.dtype))


def _reflected(p: Any, n: Any, corners: bool) -> Any:
    """Return the coordinate reflected at the first and last element, or at their outer edges."""
    low, high = (0, T.sub(n, 1)) if corners else (-0.5, T.sub(n, 0.5))
    span = T.sub(high, low)
    away = T.abs(T.sub(p, low))
    turns = T.floor(T.true_div(away, T.maximum(span, 1e-30)))
    rest = T.sub(away, T.mul(turns, span))
    even = T.eq(T.mod(turns, 2), 0)
    folded = T.switch(even, T.add(rest, low), T.sub(high, rest))
    return T.switch(T.le(span, 0), T.constant(0, folded.dtype), folded)


def affine_grid(theta: TensorLike, size: Sequence[Any], align_corners: bool = False) -> TensorVariable:
    """The grid (images, positions ..., axes) for `grid_sample` that the affine maps `theta` make of a regular one.

    `theta`: (images, 2, 3) for two axes, (images, 3, 4) for three.  `size`: the lengths of the images to be sampled,
    (images, channels, positions ...).  Raises TypeError for other ranks, ValueError for other numbers of lengths.
    """
    theta, axes = _as_float(theta), len(size) - 2
    if axes not in (2, 3):
        raise ValueError(f"affine_grid: size has 4 or 5 lengths, (images, channels, positions ...), got {shown(size)}")
    rows, columns = theta.type.shape[1:] if theta.ndim == 3 else (0, 0)
    if theta.ndim != 3 or rows not in (None, axes) or columns not in (None, axes + 1):
        raise TypeError(f"affine_grid: theta must be (images, {axes}, {axes + 1}), got {describe(theta)}")
    spots = [as_length(n, "affine_grid: size", 1) for n in size[2:]]
    along = [_regular(n, theta.dtype, align_corners) for n in spots]
    lined = [T.reshape(v, [-1 if j == k else 1 for j in range(axes)]) for k, v in enumerate(along)]
    base = T.stack([*(T.broadcast_to(v, spots) for v in reversed(lined)), T.ones(spots, theta.dtype)], axis=-1)
    flat = T.reshape(base, (-1, axes + 1))
    found = T.matmul(flat, T.swapaxes(theta, 1, 2))
    return T.reshape(found, (lengths_of(theta)[0], *spots, axes))


def _regular(length: Any, dtype: str, corners: bool) -> Any:
    """Return the places of the elements of an axis, from -1 to 1."""
    n, k = with_dtype(length, dtype), with_dtype(T.arange(length), dtype)
    if corners:
        return T.switch(T.gt(n, 1), T.sub(T.true_div(T.mul(k, 2), T.maximum(T.sub(n, 1), 1)), 1), T.zeros_like(k))
    return T.sub(T.true_div(T.add(T.mul(k, 2), 1), n), 1)
