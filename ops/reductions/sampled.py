"""Functions given by samples, and polynomials: differences, integrals, interpolation, convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import Constant
from ..core.checks import describe, normalize_axes, normalize_axis, shown
from ..core.namespace import T
from ..core.operands import in_joint_dtype, weak_kind, with_dtype
from ..core.promotion import result_type
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import Axis, LengthLike, TensorLike
from ..shapes.conditions import at_least, checked
from ..shapes.lengths import as_length, lengths_of
from ..shapes.specify import with_length

__all__ = [
    "convolve", "correlate", "cross", "diff", "ediff1d", "gradient", "interp", "polyval", "trapezoid", "unwrap",
    "vander",
]  # fmt: skip


def _as_float(x: Any) -> TensorVariable:
    x = as_tensor(x)
    return x if x.type.kind in "fc" else T.cast(x, "float64")


# --- differences and integrals


def diff(
    x: TensorLike, n: int = 1, axis: int = -1, prepend: TensorLike | None = None, append: TensorLike | None = None
) -> TensorVariable:
    """Each element along `axis` less the one before it, `n` times; for bools, whether they differ.

    `prepend` and `append` are put before and behind `x` first.
    """
    x = as_tensor(x)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"diff: n must be an integer known when the graph is built, got {shown(n)}")
    if n < 0:
        raise ValueError(f"diff: n must be 0 or more, got {n}")
    place = normalize_axis(axis, x.ndim, f"diff of {describe(x)}")
    ends = [None if v is None else _as_end(as_tensor(v), x, place) for v in (prepend, append)]
    if n and (ends[0] is not None or ends[1] is not None):
        x = T.concatenate([v for v in (ends[0], x, ends[1]) if v is not None], place)
    before = (slice(None),) * place
    for _ in range(n):
        x = (T.ne if x.dtype == "bool" else T.sub)(x[(*before, slice(1, None))], x[(*before, slice(None, -1))])
    return x


def _as_end(end: Any, x: Any, axis: int) -> TensorVariable:
    """Return a scalar `end` broadcast to the shape of `x` with length 1 along `axis`; others unchanged."""
    lengths = [1 if k == axis else n for k, n in enumerate(lengths_of(x))]
    return end if end.ndim else T.broadcast_to(end, lengths)


def ediff1d(
    ary: TensorLike, to_end: TensorLike | None = None, to_begin: TensorLike | None = None
) -> TensorVariable:
    """Each element of the flattened `ary` less the one before it, between `to_begin` and `to_end`."""
    x = T.ravel(as_tensor(ary))
    for end in (to_begin, to_end):
        if end is not None and not np.can_cast(as_tensor(end).dtype, x.dtype, "same_kind"):
            raise TypeError(f"ediff1d: {describe(as_tensor(end))} is not cast to {x.dtype}; cast it")
    ends = [None if v is None else T.ravel(T.cast(v, x.dtype)) for v in (to_begin, to_end)]
    parts = [v for v in (ends[0], x[1:] - x[:-1], ends[1]) if v is not None]
    return T.concatenate(parts) if len(parts) > 1 else parts[0]  # type: ignore[no-any-return]


def unwrap(p: TensorLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi) -> TensorVariable:
    """Phases without jumps: whole periods are added where neighbours along `axis` differ by half of one or more.

    `discont`: the least difference that counts as a jump, half a period or more.
    """
    x = as_tensor(p)
    place = normalize_axis(axis, x.ndim, f"unwrap of {describe(x)}")
    front = (slice(None),) * place
    step: Any = diff(x, axis=place)
    dtype = result_type([step.dtype, weak_kind(period) or as_tensor(period).dtype])
    whole = with_dtype(as_tensor(period), dtype)
    if whole.type.kind == "i":
        half, ambiguous = T.floor_div(whole, 2), T.eq(T.mod(whole, 2), 0)
    else:
        half, ambiguous = T.cast(as_tensor(period) / 2, dtype), T.constant(True)
    wrapped = T.mod(step + half, whole) - half
    at_end = T.and_(T.and_(ambiguous, T.eq(wrapped, -half)), T.gt(step, 0))
    wrapped = T.switch(at_end, half, wrapped)
    correction = wrapped - step
    smallest = period / 2 if discont is None else discont
    correction = T.switch(T.lt(T.abs(step), smallest), T.zeros_like(correction), correction)
    x = T.cast(x, dtype)
    moved = x[(*front, slice(1, None))] + T.cumsum(correction, place)
    return T.concatenate([x[(*front, slice(None, 1))], T.cast(moved, dtype)], axis=place)


def gradient(
    f: TensorLike, *spacing: Any, axis: Axis = None, edge_order: int = 1
) -> TensorVariable | list[TensorVariable]:
    """The slopes of samples `f` along `axis` (a list of them for several axes; all for None).

    Inside by differences of second order, at the ends by those of `edge_order`, 1 or 2.  `spacing`: the distance of
    the samples, 1 unless given, or their coordinates, a vector; one for all axes or one an axis.  Raises ValueError for
    less than edge_order + 1 samples along an axis and for coordinates of another length, at run time where these are
    known only then.
    """
    f = as_tensor(f)
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order must be 1 or 2, got {shown(edge_order)}")
    if f.dtype == "bool":
        raise TypeError(f"gradient takes numbers, got {describe(f)}")
    f = _as_float(f)
    axes = normalize_axes(tuple(range(f.ndim)) if axis is None else axis, f.ndim, f"gradient of {describe(f)}")
    steps = [as_tensor(s) for s in spacing] or [as_tensor(1.0)]
    if len(steps) not in (1, len(axes)) or any(s.ndim > 1 for s in steps):
        raise TypeError(f"gradient: expected one spacing, a number or a vector, or one for each of {len(axes)} axes")
    every = steps * len(axes) if len(steps) == 1 else steps
    found = [_slopes(f, with_dtype(s, f.dtype), k, int(edge_order)) for k, s in zip(axes, every, strict=True)]
    return found[0] if len(found) == 1 and (axis is None or np.ndim(axis) == 0) else found


def _slopes(f: Any, step: Any, axis: int, edge_order: int) -> TensorVariable:
    """Return the slopes along `axis`."""
    length, least = lengths_of(f)[axis], edge_order + 1
    f = checked(f, T.ge(length, least), f"gradient: an axis must have {least} samples or more, got {{0}}", length)
    step = with_length(step, 0, length, "gradient: the coordinates of an axis") if step.ndim else step
    before, behind = (slice(None),) * axis, ["x"] * (f.ndim - axis - 1)
    if edge_order == 1 and not step.ndim:
        return _central_slopes(f, step, before, T.dimshuffle(_is_end(length), 0, *behind))

    def part(start: int | None, stop: int | None) -> Any:
        return f[(*before, slice(start, stop))]

    h: Any = step[1:] - step[:-1] if step.ndim else None
    if edge_order == 2:
        ends = [(part(0, 1), part(1, 2), part(2, 3)), (part(-1, None), part(-2, -1), part(-3, -2))]
        widths = [(step, step), (-step, -step)] if h is None else [(h[0], h[1]), (-h[-1], -h[-2])]
        first, last = (_slope_at_end(*f, *w) for f, w in zip(ends, widths, strict=True))
    else:
        first, last = (part(1, 2) - part(None, 1)) / h[0], (part(-1, None) - part(-2, -1)) / h[-1]
    if h is not None:
        a, b = (T.dimshuffle(d, 0, *behind) for d in (h[:-1], h[1:]))
        left, middle, right = part(None, -2), part(1, -1), part(2, None)
        inside = -b / (a * (a + b)) * left + (b - a) / (a * b) * middle + a / (b * (a + b)) * right
    else:
        inside = (part(2, None) - part(None, -2)) / (2 * step)
    return T.concatenate([first, inside, last], axis)


def _central_slopes(f: Any, step: Any, before: tuple[slice, ...], is_end: Any) -> TensorVariable:
    """Return the differences of the neighbours of each sample over their distance; an end is its own neighbour."""
    around = T.pad(f, [(0, 0)] * len(before) + [(1, 1)] + [(0, 0)] * (f.ndim - len(before) - 1), "edge")
    rise = around[(*before, slice(2, None))] - around[(*before, slice(None, -2))]
    if isinstance(step, Constant) and step.data == 1:
        return T.switch(is_end, rise, rise / 2)
    return rise / T.switch(is_end, step, 2 * step)


def _is_end(length: Any) -> TensorVariable:
    """Whether each position of an axis is the first or the last one."""
    position = T.arange(length)
    return T.or_(T.eq(position, 0), T.eq(position, length - 1))


def _slope_at_end(f0: Any, f1: Any, f2: Any, a: Any, b: Any) -> Any:
    """Return the slope at the first of three samples, the others `a` and then `b` further on, by a parabola."""
    return -(2 * a + b) / (a * (a + b)) * f0 + (a + b) / (a * b) * f1 - a / (b * (a + b)) * f2


def trapezoid(y: TensorLike, x: TensorLike | None = None, dx: Any = 1.0, axis: int = -1) -> TensorVariable:
    """The integral along `axis` of the linear interpolation of the samples `y`, which are at `x` or `dx` apart."""
    y = as_tensor(y)
    before = (slice(None),) * normalize_axis(axis, y.ndim, f"trapezoid of {describe(y)}")
    width = dx
    if x is not None:
        x = as_tensor(x)
        width = diff(x, axis=axis if x.ndim > 1 else -1)
        if x.ndim == 1:
            width = T.reshape(width, [-1 if k == len(before) else 1 for k in range(y.ndim)])
    return T.sum(width * (y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]) / 2.0, axis)


# --- values between samples, values of polynomials


def interp(
    x: TensorLike, xp: TensorLike, fp: TensorLike, left: Any = None, right: Any = None, period: Any = None
) -> TensorVariable:
    """The values at `x` of the linear interpolation of the points (xp, fp); `xp` ascends.

    Before the first point it is `left`, behind the last `right`: the values there unless given.  With a `period` the
    points repeat, `xp` may have any order, and `left` and `right` have no effect.  float64, or complex128 for complex
    fp.  Beside infinities the values are NumPy's: those of a point at the point, else along the line from the nearer
    end that is finite.  Raises ValueError for no points, for xp and fp of different lengths and for a period of 0, at
    run time where these are known only then.
    """
    x, xp, fp = as_tensor(x), T.cast(as_tensor(xp), "float64"), as_tensor(fp)
    x, fp = T.cast(x, "float64"), T.cast(fp, "complex128" if fp.type.kind == "c" else "float64")
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError(f"interp: xp and fp must be vectors, got {describe(xp)} and {describe(fp)}")
    count = lengths_of(xp)[0]
    fp = with_length(fp, 0, count, "interp: fp, one value for each of xp")
    xp, fp = (checked(v, T.gt(count, 0), "interp: xp must have elements") for v in (xp, fp))
    if period is not None:
        x, xp, fp = _in_one_period(x, xp, fp, period)
        count, left, right = T.add(count, 2), None, None
    last = T.sub(count, 1)
    k = T.clip(T.searchsorted(xp, x, side="right") - 1, 0, T.maximum(last - 1, 0))
    after = T.minimum(k + 1, last)
    if fp.type.kind == "c":
        parts = [_on_line(x, xp[k], xp[after], part[k], part[after]) for part in (T.real(fp), T.imag(fp))]
        inside = T.add(parts[0], T.mul(T.constant(1j), parts[1]))
    else:
        inside = _on_line(x, xp[k], xp[after], fp[k], fp[after])
    y = T.switch(T.lt(x, xp[0]), with_dtype(as_tensor(fp[0] if left is None else left), fp.dtype), inside)
    y = T.switch(T.eq(x, xp[-1]), fp[-1], y)
    y = T.switch(T.gt(x, xp[-1]), with_dtype(as_tensor(fp[-1] if right is None else right), fp.dtype), y)
    undefined = T.switch(T.eq(count, 1), fp[0], with_dtype(as_tensor(np.nan), fp.dtype))
    return T.switch(T.isnan(x), undefined, y)


def _in_one_period(x: Any, xp: Any, fp: Any, period: Any) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
    """Return x and the points within one period, in order, with the last before the first and the first at the end."""
    period = T.cast(as_tensor(period), "float64")
    if period.ndim:
        raise TypeError(f"interp: period must be a number, got {describe(period)}")
    period = checked(T.abs(period), T.ne(period, 0), "interp: period must not be 0")
    x, xp = T.mod(x, period), T.mod(xp, period)
    order = T.argsort(xp)
    xp, fp = xp[order], fp[order]
    return x, T.concatenate([xp[-1:] - period, xp, xp[:1] + period]), T.concatenate([fp[-1:], fp, fp[:1]])


def _on_line(x: Any, a: Any, b: Any, at_a: Any, at_b: Any) -> TensorVariable:
    """The value at `x` of the line through (a, at_a) and (b, at_b), by NumPy's steps where something is infinite."""
    width = b - a
    slope = (at_b - at_a) / T.switch(T.eq(width, 0), 1.0, width)
    first, second = slope * (x - a) + at_a, slope * (x - b) + at_b
    found = T.switch(T.isnan(first), second, first)
    found = T.switch(T.and_(T.isnan(found), T.eq(at_a, at_b)), at_a, found)
    return T.switch(T.and_(T.eq(x, a), T.isnan(first)), at_a, found)


def polyval(p: TensorLike, x: TensorLike) -> TensorVariable:
    """The values at `x` of the polynomial whose coefficients are the vector `p`, that of the highest power first.

    By Horner's rule where the length of `p` is known, else by powers.
    """
    p, x = as_tensor(p), as_tensor(x)
    count = p.type.shape[0] if p.ndim == 1 else None
    if p.ndim != 1:
        raise ValueError(f"polyval: the coefficients must be a vector, got {describe(p)}")
    if count is None:
        p, x = in_joint_dtype((p, x))
        powers = T.arange(lengths_of(p)[0])[::-1]
        powers = with_dtype(powers, x.dtype) if x.type.kind in "fc" else powers
        found = T.sum(p * T.pow(T.expand_dims(x, -1), powers), -1, dtype=x.dtype)
        if x.type.kind not in "fc":
            return found
        return found + T.switch(T.gt(lengths_of(p)[0], 0), 0 * x, T.zeros_like(x))  # NaN as by Horner's rule
    y = T.zeros_like(x)
    for k in range(count):
        y = y * x + p[k]
    return y


def vander(x: TensorLike, N: LengthLike | None = None, increasing: bool = False) -> TensorVariable:
    """The matrix of the powers of the elements of the vector `x`: `N` columns, from N - 1 down to 0 or `increasing`."""
    x = as_tensor(x)
    if x.ndim != 1:
        raise ValueError(f"vander takes a vector, got {describe(x)}")
    powers = T.arange(lengths_of(x)[0] if N is None else at_least(as_length(N, "vander: N"), 0, "vander: N"))
    x = with_dtype(x, result_type([x.dtype, "int64"]))
    return T.pow(x[:, None], with_dtype(powers if increasing else powers[::-1], "int64"))


# --- sums of products


def convolve(a: TensorLike, v: TensorLike, mode: str = "full") -> TensorVariable:
    """The convolution of two vectors: sums of a[k - n] * v[n], where both have elements.

    `mode`: "full", "same" (as many as the longer one has, from the middle) or "valid" (where the shorter one lies
    within the longer).  Beyond the ends of `a` are zeros, which a NaN or an infinity in `v` meets.
    """
    return _convolved("convolve", *_vectors("convolve", a, v), mode)


def correlate(a: TensorLike, v: TensorLike, mode: str = "valid") -> TensorVariable:
    """The correlation of two vectors: sums of a[n + k] * conj(v[n]); see `convolve`."""
    a, v = _vectors("correlate", a, v)
    return _convolved("correlate", a, T.conj(v)[::-1], mode)


def _vectors(what: str, a: Any, v: Any) -> tuple[TensorVariable, TensorVariable]:
    a, v = in_joint_dtype((a, v))
    if what == "convolve":
        a, v = T.atleast_1d(a, v)
    for x in (a, v):
        if x.ndim != 1:
            raise ValueError(f"{what} takes vectors, got {describe(x)}")
    least = T.minimum(lengths_of(a)[0], lengths_of(v)[0])
    return checked(a, T.gt(least, 0), f"{what}: both vectors must have elements"), v


def _convolved(what: str, a: Any, v: Any, mode: str) -> TensorVariable:
    if mode not in ("full", "same", "valid"):
        raise ValueError(f'{what}: mode must be "full", "same" or "valid", got {mode!r}')
    if a.dtype == "bool":  # sums of bools are `or`
        return T.ne(_convolved(what, T.cast(a, "int64"), T.cast(v, "int64"), mode), 0)
    n: Any = lengths_of(a)[0]
    m: Any = lengths_of(v)[0]
    before, behind, length = _layout(what, n, m, mode)
    found = T.nn.conv1d(T.pad(a, (before, behind))[None, None], v[None, None, ::-1])[0, 0]
    return T.specify_shape(found, (length,))


def _layout(what: str, n: Any, m: Any, mode: str) -> tuple[Any, Any, Any]:
    """Return the zeros before and behind n numbers, whose windows of m numbers give the result, and its length."""
    if mode == "full":
        return m - 1, m - 1, n + m - 1
    short, long = T.minimum(n, m), T.maximum(n, m)
    if mode == "valid":
        return long - n, long - n, long - short + 1
    first = (short - 1) // 2
    if what == "correlate":  # NumPy interchanges the two for a shorter first one, and turns the result around
        first = T.switch(T.lt(n, m), short // 2, first)
    return m - 1 - first, first + long - n, long


def cross(
    a: TensorLike, b: TensorLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> TensorVariable:
    """The vector products of vectors of three elements, which lie along `axis`.

    Or along `axisa` of a, `axisb` of b and `axisc` of the result, where `axis` is None.  Raises ValueError for another
    length, at run time where it is known only then.
    """
    a, b = in_joint_dtype((a, b))
    parts = []
    if axis is not None:
        axisa = axisb = axisc = axis
    for x, along in ((a, axisa), (b, axisb)):
        place = normalize_axis(along, x.ndim, f"cross of {describe(x)}")
        x = with_length(x, place, T.constant(3, "int64"), f"cross: {describe(x)}")
        parts.append([T.moveaxis(x, place, -1)[..., k] for k in range(3)])
    (a0, a1, a2), (b0, b1, b2) = parts
    return T.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=axisc)


