"""Limits of derivatives at zeros, infinities and edges of the domain, by mpmath: the judge of `special_points`.

A derivative is evaluated on paths towards the point, close by and closer.  A coordinate that is 0, infinite or an edge
moves, at three relative speeds if there are several; others stay.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

PRECISION = 420
"""Bits: the steps of the differences are far shorter than the shortest distance below."""
NEAR = (1e-15, 1e-22, 1e-29)
SPEEDS = ((1, 1), (1, 2), (2, 1))
AGREES = 1e-6


def slope(f: Callable[..., Any], order: Sequence[int], point: Sequence[float]) -> set[float]:
    """The values that the derivative of `f` of this order may have at `point`: one where there is a limit.

    At a zero the side is its sign, if `f` is real there; at a kink all that lies between the two sides will do, and so
    does 0.  Empty where no limit exists: then anything will do.
    """
    order, point = tuple(order), tuple(point)
    own = _limit(f, order, point, tuple(math.copysign(1, -p) if math.isinf(p) else math.copysign(1, p) for p in point))
    edges = [k for k, p in enumerate(point) if math.isfinite(p) and _moves(p, len(point) == 1)]
    sides = [_limit(f, order, point, side) for side in _all_sides(point, edges)]
    real = [s for s in sides if s != "complex"]
    if not real or None in real:
        return set()
    if len({_shown(s) for s in real}) == 1:
        return {real[0]}
    found = {own} if own not in ("complex", None) else set(real)
    return found | ({min(real), max(real), sum(real) / len(real), 0.0} if all(map(math.isfinite, real)) else set())


def _shown(value: float) -> str:
    return f"{value + 0.0:.8g}"


def _moves(p: float, alone: bool) -> bool:
    """Whether a coordinate is special: edges of domains are at 1, but b = 1 is a function of a of its own."""
    return math.isinf(p) or p == 0 or (alone and abs(p) == 1)


def _all_sides(point: Sequence[float], edges: Sequence[int]) -> list[tuple[float, ...]]:
    found = []
    for signs in itertools.product((1.0, -1.0), repeat=len(edges)):
        side = [-math.copysign(1, p) for p in point]
        for k, sign in zip(edges, signs):
            side[k] = sign
        found.append(tuple(side))
    return found


@cache
def _limit(f: Callable[..., Any], order: tuple[int, ...], point: tuple[float, ...], side: tuple[float, ...]) -> Any:
    """The limit from one side; None if there is none, "complex" where `f` is not real.  -0 is 0 here."""
    import mpmath as mp

    moving = [k for k, p in enumerate(point) if _moves(p, len(point) == 1)]
    found = set()
    for speeds in SPEEDS if len(moving) > 1 else SPEEDS[:1]:
        values = []
        for near in NEAR:
            at = [mp.mpf(p) if math.isfinite(p) else mp.mpf(0) for p in point]
            for k, speed in zip(moving, speeds):
                h = mp.mpf(near) ** speed
                at[k] = 1 / h * math.copysign(1, point[k]) if math.isinf(point[k]) else at[k] + side[k] * h
            values.append(_derivative(mp, f, order, at))
        if "complex" in values:
            return "complex"
        found.add(_trend(values))
    if len({None if v is None else _shown(v) for v in found}) > 1:
        return None
    return found.pop()


def _derivative(mp: Any, f: Callable[..., Any], order: Sequence[int], at: Sequence[Any]) -> Any:
    with mp.workprec(PRECISION):
        try:
            if mp.im(f(*at)):
                return "complex"
            value = mp.diff(f, tuple(at), tuple(order)) if len(at) > 1 else mp.diff(f, at[0], order[0])
        except (ZeroDivisionError, ValueError, OverflowError):
            return "complex"
        if isinstance(value, mp.mpc):
            return "complex" if value.imag else value.real
        return value if mp.isfinite(value) else "complex"


def _trend(values: Sequence[Any]) -> float | None:
    """Where a sequence goes: to an infinity, to zero, to a number; None if it does not say."""
    a, b, c = values
    if abs(c) < 1e-60 or (abs(c) < abs(b) / 1.2 and abs(b) < abs(a) / 1.2):
        return 0.0
    if (a > 0) == (b > 0) == (c > 0) and abs(c) > 1.2 * abs(b) > 1.44 * abs(a):
        return math.copysign(math.inf, c)
    if abs(c - b) <= AGREES * abs(c) and abs(b - a) <= AGREES * abs(b):
        return float(c) + 0.0
    return None
