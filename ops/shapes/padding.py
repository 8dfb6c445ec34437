"""NumPy's `pad`: more elements around a tensor, computed from its outer elements.

A padded axis is a `join` of two borders and the tensor, so gradients, C and batching are those of the ops that it is
made of.  Borders that repeat elements are read from the tensor, corners from its borders: nothing is copied but once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...graph import Constant, Variable
from ..core.checks import describe, normalize_axis, shown
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import TensorLike
from .creation import Alloc, positions
from .joining import Join, part_along
from .lengths import as_length, lengths_of, minus, plus

__all__ = ["pad"]

_OPTIONS = {
    "constant": "constant_values", "edge": "", "linear_ramp": "end_values", "maximum": "stat_length",
    "mean": "stat_length", "median": "stat_length", "minimum": "stat_length", "reflect": "reflect_type",
    "symmetric": "reflect_type", "wrap": "", "empty": "",
}  # fmt: skip
"""The modes, and the option that each of them takes."""

Pair = tuple[Any, Any]
Width = tuple[Variable, Variable]


def pad(x: TensorLike, pad_width: Any, mode: str = "constant", **options: Any) -> TensorVariable:
    """`x` with more elements around it: `pad_width` is n, (before, after), one such pair an axis, or {axis: pair}.

    `mode`, with the option that it takes (a number, a pair, or a pair an axis, as the widths):
        "constant": `constant_values`, by default 0; "empty": elements that are yet to be set, here zeros;
        "edge": the elements at the ends; "wrap": those from the other end;
        "linear_ramp": even steps from the ends to `end_values`, by default 0;
        "maximum", "mean", "median", "minimum": that of the `stat_length` elements at the end, by default of all;
        "reflect", "symmetric": those within in reverse order, without the end or with it; for the `reflect_type` "odd"
        (by default "even") twice the end less these.

    Widths may be integer scalars.  Raises ValueError for another mode, an option of another one and negative widths,
    TypeError for widths that are no integers.
    """
    x = as_tensor(x)
    option = _option_of(mode, options)
    pairs = _pairs("pad_width", _by_axis(pad_width, x.ndim), max(x.ndim, 1))  # NumPy checks those of a scalar too
    widths = [(_width(a), _width(b)) for a, b in pairs][: x.ndim]
    if mode in ("constant", "empty"):
        return _with_numbers(x, widths, options.get("constant_values", 0))
    reflect_type = options.get("reflect_type", "even")
    if mode in _SOURCES and reflect_type == "even":
        return _with_repeated(x, widths, mode)
    values = None if option == "reflect_type" or option not in options else _pairs(option, options[option], x.ndim)
    for axis, width in _padded_axes(x, widths):
        if mode == "linear_ramp":
            x = _with_ramps(x, axis, width, (constant(0), constant(0)) if values is None else values[axis])
        elif option == "stat_length":
            x = _with_statistics(x, axis, width, mode, (None, None) if values is None else values[axis])
        else:
            x = _with_odd_reflections(x, axis, width, int(mode == "symmetric"))
    return x


def _padded_axes(x: TensorVariable, widths: Sequence[Width]) -> list[tuple[int, Width]]:
    """Return the axes with borders, and their widths.  Raises ValueError for one without elements to repeat."""
    found = [(axis, width) for axis, width in enumerate(widths) if not all(map(_is_zero, width))]
    for axis, _ in found:
        if x.type.shape[axis] == 0:
            raise ValueError(f'pad: axis {axis} of {describe(x)} has no elements to pad with; use mode "constant"')
    return found


def _option_of(mode: Any, options: Mapping[str, Any]) -> str:
    """Return the option of the mode.  Raises TypeError or ValueError for unknown modes and options."""
    modes = ", ".join(map(repr, _OPTIONS))
    if callable(mode):
        raise TypeError(
            f"pad: mode must be one of {modes}, got the function {getattr(mode, '__name__', mode)!s}, which writes "
            "in place; T.concatenate of parts makes any border"
        )
    if not isinstance(mode, str) or mode not in _OPTIONS:
        raise ValueError(f"pad: mode must be one of {modes}, got {mode!r}")
    option = _OPTIONS[mode]
    for name in options:
        if name != option:
            takes = f"takes {option}" if option else "takes no option"
            raise (ValueError if name in _OPTIONS.values() else TypeError)(f"pad: mode {mode!r} {takes}, got {name}")
    if options.get("reflect_type", "even") not in ("even", "odd"):
        raise ValueError(f'pad: reflect_type must be "even" or "odd", got {options["reflect_type"]!r}')
    return option


# --- widths and options


def _by_axis(widths: Any, ndim: int) -> Any:
    """Return the widths as one pair per axis if they are given as {axis: width}."""
    if not isinstance(widths, Mapping):
        return widths
    pairs: list[Any] = [(0, 0)] * ndim
    for axis, width in widths.items():
        pairs[normalize_axis(axis, ndim, "pad")] = width if isinstance(width, (tuple, list)) else (width, width)
    return pairs


def _pairs(name: str, given: Any, ndim: int) -> list[Pair]:
    """Return one (before, after) per axis: `given` broadcast to (ndim, 2).  Raises ValueError if it does not broadcast.
    """
    rows = _unpacked(given)
    if not isinstance(rows, list):
        rows = [rows]
    if not any(isinstance(row, list) for row in rows):
        rows = [rows]
    if name == "end_values" and len(rows) == 1:
        rows = [[as_tensor(v) for v in rows[0]]]  # numbers of their own dtype; those of each axis are weak
    pairs = [tuple(row) * (2 if len(row) == 1 else 1) if isinstance(row, list) else (row, row) for row in rows]
    if len(pairs) not in (1, ndim) or any(len(pair) != 2 or isinstance(pair[0], list) for pair in pairs):
        raise ValueError(
            f"pad: {name} must be a number, a pair (before, after) or {ndim} such pairs, got {shown(given)}"
        )
    return pairs * ndim if len(pairs) == 1 else pairs


def _unpacked(given: Any) -> Any:
    """Return sequences, arrays and tensors of known lengths as nested lists; scalars as they are."""
    if isinstance(given, (Constant, np.ndarray)):
        return (given.data if isinstance(given, Constant) else given).tolist()
    if isinstance(given, Variable) and given.ndim and None not in given.type.shape:
        return [_unpacked(part) for part in given]  # type: ignore[attr-defined]
    return [_unpacked(part) for part in given] if isinstance(given, (tuple, list)) else given


def _width(n: Any) -> Variable:
    width = as_length(n, "pad")
    if isinstance(width, Constant) and width.data < 0:
        raise ValueError(f"pad: pad_width must not be negative, got {int(width.data)}")
    return width


def _is_zero(width: Variable) -> bool:
    return isinstance(width, Constant) and not width.data


# --- what the borders are


def _with_numbers(x: Any, widths: Sequence[Width], values: Any) -> TensorVariable:
    """Return `x` padded with numbers: one for all sides, or one per side."""
    if not isinstance(_unpacked(values), list):
        number = with_dtype(as_tensor(values), x.dtype)
        own = lengths_of(x)
        outer = [plus(plus(before, n), after) for n, (before, after) in zip(own, widths, strict=True)]
        inside = tuple(slice(before, plus(before, n)) for n, (before, _) in zip(own, widths, strict=True))
        return T.set_subtensor(Alloc()(number, *outer)[inside], x)
    for axis, (width, numbers) in enumerate(zip(widths, _pairs("constant_values", values, x.ndim), strict=True)):
        x = _joined(x, axis, width, [with_dtype(as_tensor(v), x.dtype) for v in numbers])
    return as_tensor(x)


def _joined(x: Any, axis: int, width: Width, values: Sequence[Any]) -> TensorVariable:
    """Return `x` between two borders along `axis`, each filled with a value that broadcasts to it."""
    own = lengths_of(x)
    before, after = (
        None if _is_zero(n) else Alloc()(value, *own[:axis], n, *own[axis + 1 :])
        for n, value in zip(width, values, strict=True)
    )
    return _between(before, x, after, axis)


def _between(before: Any, x: Any, after: Any, axis: int) -> TensorVariable:
    return Join(axis)(*(part for part in (before, x, after) if part is not None))


def _with_ramps(x: Any, axis: int, width: Width, ends: Pair) -> TensorVariable:
    """Return `x` between two linear ramps from the given ends to its own."""
    edges = T.take(x, 0, axis), T.take(x, minus(lengths_of(x)[axis], constant(1, "int64")), axis)
    before, after = (
        None if _is_zero(n) else T.linspace(end, edge, n, endpoint=False, dtype=x.dtype, axis=axis)
        for end, edge, n in zip(ends, edges, width, strict=True)
    )
    return _between(before, x, None if after is None else T.flip(after, axis), axis)


_STATISTICS = {"maximum": "max", "mean": "mean", "median": "median", "minimum": "min"}


def _with_statistics(x: Any, axis: int, width: Width, mode: str, counts: Pair) -> TensorVariable:
    """Return `x` between two borders filled with a statistic of its outer elements."""
    n, chunks = lengths_of(x)[axis], [x, x]
    for side, count in enumerate(counts):
        if count is None:
            continue
        length = as_length(count, "pad")
        if isinstance(length, Constant) and length.data < (mode in ("maximum", "minimum")):
            raise ValueError(f"pad: stat_length must be positive for mode {mode!r}, got {shown(count)}")
        ends = (T.maximum(T.sub(n, length), 0), None) if side else (None, length)
        chunks[side] = part_along(x, axis, *ends)
    found = [getattr(T, _STATISTICS[mode])(chunk, axis=axis, keepdims=True) for chunk in chunks]
    if x.type.kind in "iu":
        found = [T.rint(v) if v.type.kind == "f" else v for v in found]
    return _joined(x, axis, width, [with_dtype(v, x.dtype) for v in found])


# --- borders of repeated elements


def _with_repeated(x: Any, widths: Sequence[Width], mode: str) -> TensorVariable:
    """Return `x` between borders of its own elements: joins of joins, whose parts are read from `x`."""
    axes = _padded_axes(x, widths)
    for first in range(0, len(axes), 3):  # three axes at once are 27 parts
        group = axes[first : first + 3]
        parts = [x]
        for axis, width in group:
            parts = [piece for part in parts for piece in _bordered(part, axis, width, mode)]
        for axis, width in reversed(group):
            count = 3 - sum(map(_is_zero, width))
            parts = [Join(axis)(*parts[k : k + count]) for k in range(0, len(parts), count)]
        (x,) = parts
    return as_tensor(x)


def _bordered(x: Any, axis: int, width: Width, mode: str) -> list[TensorVariable]:
    """Return the border before `x`, `x` itself, and the border behind it; no border of width 0."""
    before, after = (None if _is_zero(n) else _border(x, axis, n, side, mode) for side, n in enumerate(width))
    return [part for part in (before, x, after) if part is not None]


def _border(x: Any, axis: int, width: Variable, side: int, mode: str) -> Any:
    """Return the border before `x` (side 0) or behind it (side 1): a view if it is known to repeat no element."""
    n = lengths_of(x)[axis]
    if mode == "edge":
        outer = T.expand_dims(T.take(x, -side, axis), axis)
        own = lengths_of(x)
        return T.broadcast_to(outer, (*own[:axis], width, *own[axis + 1 :]))
    inner = int(mode == "reflect")
    if isinstance(n, Constant) and isinstance(width, Constant) and width.data + inner <= n.data:
        start = int(n.data - width.data) - inner if side == (mode != "wrap") else inner
        part = part_along(x, axis, start, start + int(width.data))
        return part if mode == "wrap" else T.flip(part, axis)
    places = T.add(positions(width), n) if side else T.sub(positions(width), width)
    return T.take(x, _SOURCES[mode](places, n), axis)


def _reflected(k: Any, n: Any) -> TensorVariable:
    period = T.maximum(2 * n - 2, 1)
    k = T.mod(k, period)
    return T.minimum(k, period - k)


def _symmetric(k: Any, n: Any) -> TensorVariable:
    k = T.mod(k, 2 * n)
    return T.minimum(k, 2 * n - 1 - k)


def _wrapped(k: Any, n: Any) -> TensorVariable:
    return T.mod(k, n)


_SOURCES: dict[str, Callable[[Any, Any], Any]] = {
    "edge": lambda k, n: T.clip(k, 0, n - 1), "reflect": _reflected, "symmetric": _symmetric, "wrap": _wrapped,
}  # fmt: skip
"""For each mode, the source index along an axis of length n of the element at index k; 0 is the first of `x`."""


def _with_odd_reflections(x: Any, axis: int, width: Width, with_end: int) -> TensorVariable:
    """`x` between its point reflections about its ends; an axis of one element is broadcast, as in NumPy."""
    before, after = (
        None if _is_zero(n) else _odd_reflection(end, axis, n, with_end)
        for end, n in zip((x, T.flip(x, axis)), width, strict=True)
    )
    return _between(None if before is None else T.flip(before, axis), x, after, axis)


def _odd_reflection(x: Any, axis: int, width: Variable, with_end: int) -> TensorVariable:
    """Return the `width` elements before `x` along `axis`, the nearest first: twice the first element minus later ones.

    Positions beyond the last element reflect about it in turn: each period of two lengths adds twice the difference of
    the ends.
    """
    n: Any = lengths_of(x)[axis]
    first, last = part_along(x, axis, None, 1), part_along(x, axis, T.sub(n, 1), None)
    behind = T.add(positions(width), 1 - with_end)
    period: Any = T.maximum(2 * n if with_end else 2 * n - 2, 1)
    place, rounds = T.mod(behind, period), T.floor_div(behind, period)
    is_within = T.lt(place, n)
    found = T.take(x, T.switch(is_within, place, T.sub(period - with_end, place)), axis)
    along = ["x"] * axis + [0] + ["x"] * (x.ndim - axis - 1)
    is_within, rounds = T.dimshuffle(is_within, *along), T.dimshuffle(rounds, *along)
    two: Any = constant(2, "int8" if x.dtype == "bool" else x.dtype)
    found, first, last = (T.cast(v, two.dtype) for v in (found, first, last))
    found = T.switch(is_within, found, two * last - found)
    rise = T.switch(T.gt(rounds, 0), with_dtype(rounds, two.dtype) * (two * (last - first)), T.zeros_like(first))
    reflected = T.switch(T.eq(n, 1), first, two * first - (found + rise))
    return with_dtype(reflected, x.dtype)
