"""Images sampled at computed places: `grid_sample`, and the grids of affine maps."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable
from ..core.typing import TensorLike
from ..shapes.lengths import as_length, lengths_of
from ..shapes.weighted import WeightedGather
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
    images, channels, *own = lengths_of(x)
    places = [_place(grid[..., len(own) - 1 - k], n, corners) for k, n in enumerate(own)]
    reach = {"nearest": (0,), "bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}[mode]
    firsts = [T.round(p) if mode == "nearest" else T.floor(p) for p in places]
    along = [_positions(f, n, reach, border, corners) for f, n in zip(firsts, own, strict=True)]
    weights = [_weights(T.sub(p, f), reach, mode) for p, f in zip(places, firsts, strict=True)]
    choices = list(itertools.product(range(len(reach)), repeat=len(own)))
    at = T.stack([_in_plane([a[c] for a, c in zip(along, choice, strict=True)], own) for choice in choices], axis=1)
    chosen = ([w[c] for w, c in zip(weights, choice, strict=True)] for choice in choices)
    w = with_dtype(T.stack([functools.reduce(T.mul, factors) for factors in chosen], axis=1), x.dtype)
    spots = lengths_of(grid)[1:-1]
    size, count = (n[0] if len(n) == 1 else T.mul(*n) for n in (own, spots))
    flat = [T.reshape(v, (lengths_of(v)[0], len(choices), count)) for v in (at, w)]
    result = WeightedGather()(T.reshape(x, (images, channels, size)), *flat)
    return T.reshape(result, (images, channels, *spots))


def _place(g: Any, length: Any, corners: bool) -> Any:
    """Return the coordinate of a place from -1 to 1."""
    n = with_dtype(length, g.dtype)
    if corners:
        return T.mul(T.true_div(T.add(g, 1), 2), T.sub(n, 1))
    return T.true_div(T.sub(T.mul(T.add(g, 1), n), 1), 2)


def _weights(share: Any, reach: Sequence[int], mode: str) -> list[Any]:
    """Return the weights of the elements around a place, `share` behind the first: linear, or Keys' cubic."""
    if mode == "nearest":
        return [T.ones_like(share)]
    if mode == "bilinear":
        return [T.sub(1, share), share]
    distances, a = [T.abs(T.sub(share, s)) for s in reach], CUBIC
    near = [((a + 2) * d - (a + 3)) * d * d + 1 for d in distances[1:3]]
    far = [((a * d - 5 * a) * d + 8 * a) * d - 4 * a for d in distances[::3]]
    return [far[0], *near, far[1]]


def _positions(first: Any, length: Any, reach: Sequence[int], border: str, corners: bool) -> list[tuple[Any, Any]]:
    """Return (position along an axis, whether it lies inside) of the elements around a place; NaN counts as below 0.

    Positions outside follow the padding mode, and then lie inside: None.  `first`: an integer as a float.
    """
    n = T.cast(length, "int32")
    if border == "reflection":
        places = [_reflected(T.add(first, s), with_dtype(length, first.dtype), corners) for s in reach]
        return [(T.clip(_integer(p, length, 1), 0, T.sub(n, 1)), None) for p in places]
    middle = _integer(first, length, 4)
    around = [T.add(middle, s) if s else middle for s in reach]
    if border == "border":
        return [(T.clip(i, 0, T.sub(n, 1)), None) for i in around]
    return [(i, T.logical_and(T.ge(i, 0), T.lt(i, n))) for i in around]


def _integer(p: Any, length: Any, more: int) -> Any:
    """Return an integral place as int32, which need not be exact further than `more` outside of the axis."""
    low, high = T.constant(-more, p.dtype), T.add(with_dtype(length, p.dtype), more)
    return T.cast(T.minimum(T.switch(T.gt(p, low), p, low), high), "int32")


def _in_plane(places: Sequence[tuple[Any, Any]], lengths: Sequence[Any]) -> Any:
    """Return the position in a plane of one position along each axis, -1 if one of them lies outside."""
    at = functools.reduce(
        lambda total, part: T.add(T.mul(total, T.cast(part[1], "int32")), part[0]),
        zip([i for i, _ in places[1:]], lengths[1:], strict=True), places[0][0],
    )  # fmt: skip
    inside = [found for _, found in places if found is not None]
    return T.switch(functools.reduce(T.logical_and, inside), at, T.constant(-1, "int32")) if inside else at


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
