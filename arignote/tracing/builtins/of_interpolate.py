"""Piecewise polynomials of `scipy.interpolate` in a trace: cubic splines of symbolic points, and values of any."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import ops as T
from ...ops.core.checks import shown
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import held_length
from ...ops.core.tracing import current
from ...ops.shapes.stored import now

_ENDS = ("not-a-knot", "natural", "clamped")


class Polynomials:
    """A piecewise polynomial: `c[m, i]` is the coefficient of `(q - x[i])**(k - m)` between `x[i]` and `x[i + 1]`."""

    def __init__(self, c: Any, x: Any, extrapolate: Any = True) -> None:
        self.c, self.x, self.extrapolate = c, x, extrapolate

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        return values_at(self.c, self.x, x, nu, self.extrapolate if extrapolate is None else extrapolate)

    def derivative(self, nu: int = 1) -> Polynomials:
        """Return the polynomial that is a derivative of this one."""
        return Polynomials(_derived(as_tensor(self.c), nu), self.x, self.extrapolate)


def _derived(c: Any, nu: int) -> Any:
    """Return the coefficients of a derivative: at least one row."""
    if nu < 0:
        raise TypeError("scipy.interpolate: a compiled function takes derivatives, no integrals, of a polynomial")
    for _ in range(nu):
        count = _length(c)
        if count == 1:
            return T.zeros_like(c)
        powers = np.arange(count - 1, 0, -1).astype(c.dtype).reshape((-1,) + (1,) * (c.ndim - 1))
        c = c[:-1] * powers
    return c


def _length(x: Any) -> int:
    """Return a length of the call, for which the trace then holds."""
    return held_length(x, 0, "scipy.interpolate: the number of points depends on values")


def values_at(c: Any, knots: Any, q: Any, nu: int = 0, extrapolate: Any = True) -> Any:
    """Return the values of a piecewise polynomial, or of its derivative of order `nu`, at the points `q`."""
    trace: Any = current()
    c, knots, q = (now(trace, as_tensor(v)) for v in (c, knots, q))
    q = T.cast(q, "float64")
    c = _derived(c, nu)
    if extrapolate == "periodic":
        q = knots[0] + T.mod(q - knots[0], knots[-1] - knots[0])
    last = T.lengths_of(knots)[0] - 2
    place = T.clip(T.searchsorted(knots, q, side="right") - 1, 0, last)
    step = q - knots[place]
    step = T.reshape(step, (*T.lengths_of(q), *(1,) * (c.ndim - 2))) if c.ndim > 2 else step
    power: Any = T.ones_like(step)
    found: Any = 0.0
    for row in reversed(range(_length(c))):
        found = found + c[row][place] * power
        power = power * step
    if extrapolate is False:
        outside = T.logical_or(T.lt(q, knots[0]), T.gt(q, knots[-1]))
        outside = T.reshape(outside, (*T.lengths_of(q), *(1,) * (c.ndim - 2))) if c.ndim > 2 else outside
        found = T.switch(outside, math.nan, found)
    return T.switch(T.reshape(T.isnan(q), (*T.lengths_of(q), *(1,) * (c.ndim - 2))), math.nan, found)


def cubic_spline(x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> Polynomials:
    """`scipy.interpolate.CubicSpline`: slopes at the points by a banded system, then a polynomial between each two."""
    ends = list(bc_type) if isinstance(bc_type, (tuple, list)) else [bc_type] * 2
    if any(not isinstance(e, str) or e not in _ENDS for e in ends) or axis != 0:
        raise TypeError(f"scipy.interpolate.CubicSpline: a compiled function takes axis=0 and bc_type= one of "
                        f"{', '.join(_ENDS)}; got {shown(bc_type)}")  # fmt: skip
    x, y = T.cast(as_tensor(x), "float64"), as_tensor(y)
    y = y if y.type.kind == "c" else T.cast(y, "float64")
    count = _length(x)
    if count < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    step = T.diff(x)
    wide = T.reshape(step, (count - 1, *(1,) * (y.ndim - 1)))
    slope = T.diff(y, axis=0) / wide
    if count == 2:
        ends = ["first" if e == "not-a-knot" else e for e in ends]
    parabola = count == 3 and ends == ["not-a-knot"] * 2
    rows: list[Any] = [T.zeros((count,)) for _ in range(3)]
    above, middle, below = rows
    middle = T.set_subtensor(middle[1:-1], 2 * (step[:-1] + step[1:]))
    above = T.set_subtensor(above[2:], step[:-1])
    below = T.set_subtensor(below[:-2], step[1:])
    inner = 3 * (wide[1:] * slope[:-1] + wide[:-1] * slope[1:])
    first = _end(ends[0], x, y, wide, slope, 1, parabola)
    final = _end(ends[1], x, y, wide, slope, -1, parabola)
    middle = T.set_subtensor(T.set_subtensor(middle[0], first[0])[-1], final[0])
    above, below = T.set_subtensor(above[1], first[1]), T.set_subtensor(below[-2], final[1])
    right = T.concatenate([T.expand_dims(first[2], 0), inner, T.expand_dims(final[2], 0)])
    flat = T.reshape(right, (count, -1))
    slopes = T.reshape(T.linalg.solve_banded((1, 1), T.stack([above, middle, below]), flat), T.lengths_of(right))
    t = (slopes[:-1] + slopes[1:] - 2 * slope) / wide
    c = T.stack([t / wide, (slope - slopes[:-1]) / wide - t, slopes[:-1], y[:-1]])
    return Polynomials(c, x, True if extrapolate is None else extrapolate)


def _end(kind: str, x: Any, y: Any, wide: Any, slope: Any, side: int, parabola: bool) -> tuple[Any, Any, Any]:
    """Return the elements of the first or last row: beside the diagonal, on it, and of the right side."""
    a, b = (0, 1) if side > 0 else (-1, -2)
    zero = T.zeros_like(slope[a])
    if kind == "clamped":
        return 1.0, 0.0, zero
    if kind == "first":
        return 1.0, 0.0, slope[a]
    if kind == "natural":
        h = T.reshape(wide[a], ())
        return 2 * h, h, 3 * (slope[a] * wide[a])
    if parabola:
        return 1.0, 1.0, 2 * slope[a]
    h0, h1 = wide[a], wide[b]
    d = h0 + h1
    right = ((h0 + 2 * d) * h1 * slope[a] + h0 * h0 * slope[b]) / d
    return T.reshape(h1, ()), T.reshape(d, ()), right


def of_interpolate(f: Any, name: str) -> Any:
    """Return our function in the place of one of `scipy.interpolate`, or of a piecewise polynomial of it."""
    if name:
        return cubic_spline if name == "CubicSpline" else None
    if hasattr(f, "extrapolate") and hasattr(f, "antiderivative"):
        c, x = (getattr(f, f"_{word}" if hasattr(f, f"_{word}") else word) for word in ("c", "x"))
        return Polynomials(c, x, f.extrapolate)
    return None
