"""Exact points, ranges, symmetry and monotony of the elementary functions of floats.

Exact points are those where the true value is a number of the dtype: 0, 1, powers of the base, factorials, roots of
powers.  The rest is tried on all float32 values and on 10^8 chosen float64 values: near 0, multiples of pi / 2, powers
of two, whole numbers, subnormal numbers and the ends of the ranges in which a function is computed in one way.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.targets.current import current
from arignote.targets.target import Target

from ..scorecard import Row, Trials

Array = np.ndarray
Slope = Callable[[Array], Array]
INF, RIGHT = math.inf, math.pi / 2
BLOCK = 1 << 20
NEAR = 1e-3
"""Numbers closer than this lie in one period of a tangent, if its cosine is larger at both."""


def _up(x: Array) -> Array:
    return np.ones_like(x)


def _down(x: Array) -> Array:
    return -np.ones_like(x)


@dataclass(frozen=True)
class Function:
    """Facts about a function: its least and greatest value, its parity (0: none), and the sign of its slope.

    `fused`: whether neighbours are in order only where multiply-adds are rounded once.
    """

    low: float = -INF
    high: float = INF
    parity: int = 0
    slope: Slope = _up
    periodic: bool = False
    fused: bool = False


FUNCTIONS = {
    "exp": Function(0),
    "exp2": Function(0),
    "expm1": Function(-1),
    "log": Function(),
    "log2": Function(),
    "log10": Function(),
    "log1p": Function(),
    "log1mexp": Function(high=0, slope=_down),
    "sin": Function(-1, 1, -1, np.cos, periodic=True),
    "cos": Function(-1, 1, 1, lambda x: -np.sin(x), periodic=True),
    "tan": Function(parity=-1, slope=lambda x: np.where(np.abs(np.cos(x)) > NEAR, 1.0, 0.0), periodic=True),
    "arcsin": Function(-RIGHT, RIGHT, -1, _up),
    "arccos": Function(0, math.pi, slope=_down),
    "arctan": Function(-RIGHT, RIGHT, -1, _up),
    "sinh": Function(parity=-1),
    "cosh": Function(1, parity=1, slope=np.sign),
    "tanh": Function(-1, 1, -1, _up),
    "arcsinh": Function(parity=-1),
    "arccosh": Function(0),
    "arctanh": Function(parity=-1),
    "sigmoid": Function(0, 1),
    "softplus": Function(0),
    "erf": Function(-1, 1, -1, _up),
    "erfc": Function(0, 2, slope=_down),
    "cbrt": Function(parity=-1, fused=True),
    "sqrt": Function(0),
}
"""Functions of one number."""

_WHOLE = [float(n) for n in range(-40, 41)]


def exact_points() -> Iterator[tuple[str, float, float]]:
    """Function, argument and true value, all of them numbers of float64."""
    odd = [name for name, of in FUNCTIONS.items() if of.parity == -1]
    for name in (*odd, "expm1", "log1p"):
        yield from ((name, zero, zero) for zero in (0.0, -0.0))
    for name, value in (("exp", 1), ("exp2", 1), ("cos", 1), ("cosh", 1), ("erfc", 1), ("sigmoid", 0.5)):
        yield from ((name, x, float(value)) for x in (0.0, -0.0, 5e-324, -1e-20))
    yield from ((n, 1.0, 0.0) for n in ("log", "log2", "log10", "arccos", "arccosh", "gammaln"))
    yield from (("exp2", float(k), math.ldexp(1, k)) for k in range(-1074, 1024))
    yield from (("log2", math.ldexp(1, k), float(k)) for k in range(-1074, 1024))
    yield from (("log10", float(10**k), float(k)) for k in range(23))
    yield from (("gamma", float(n), float(math.factorial(n - 1))) for n in range(1, 24))
    yield from (("cbrt", n**3, n) for n in _WHOLE)
    yield from (("cbrt", math.ldexp(n**3, 3 * k), math.ldexp(n, k)) for n in (1, 2, 3) for k in (-300, 300))
    yield from (("sqrt", n * n, abs(n)) for n in _WHOLE)
    yield "gammaln", 2.0, 0.0
    for name, limits in {
        "exp": (0, INF), "exp2": (0, INF), "expm1": (-1, INF), "tanh": (-1, 1), "erf": (-1, 1), "erfc": (2, 0),
        "sigmoid": (0, 1), "softplus": (0, INF), "arctan": (-RIGHT, RIGHT), "cosh": (INF, INF), "sinh": (-INF, INF),
        "cbrt": (-INF, INF), "arcsinh": (-INF, INF),
    }.items():  # fmt: skip
        yield from ((name, x, float(y)) for x, y in zip((-INF, INF), limits))
    yield from ((name, s, s * y) for s in (1.0, -1.0) for name, y in (("arcsin", RIGHT), ("arctan", math.pi / 4)))
    yield from ((n, x, y) for n, x, y in (("arccos", -1.0, math.pi), ("arctanh", 1.0, INF), ("log", 0.0, -INF)))


def exact_pairs() -> Iterator[tuple[str, float, float, float]]:
    """The same for functions of two numbers."""
    for b, e in itertools.product((2, 3, 5, 7, 10, -3, 0.5, 1.5), range(40)):
        if abs(b) ** e * 2.0 ** (e if b % 1 else 0) < 2**53 and float(b) ** e == (power := _power(b, e)):
            yield "pow", float(b), float(e), power
    yield from (("pow", n * n, 0.5, abs(n)) for n in _WHOLE)
    yield from (("pow", math.ldexp(1, k), -1.0, math.ldexp(1, -k)) for k in range(-1000, 1001, 50))
    yield from (("pow", x, 0.0, 1.0) for x in (0.0, -2.5, INF, math.nan))
    for a, b, c in ((3, 4, 5), (5, 12, 13), (8, 15, 17), (20, 21, 29), (0, 7, 7)):
        for k, s, t in itertools.product((-300, 0, 300), (1, -1), (1, -1)):
            yield "hypot", math.ldexp(s * a, k), math.ldexp(t * b, k), math.ldexp(c, k)
    for y, x, angle in ((0, 1, 0), (1, 0, RIGHT), (0, -1, math.pi), (1, 1, math.pi / 4), (2, -2, 3 * math.pi / 4)):
        yield from (("arctan2", s * float(y), float(x), s * float(angle)) for s in (1, -1))
    yield from (("logaddexp", a, -INF, a) for a in (0.0, 3.5, -700.0, -INF, INF))


def _power(b: float, e: int) -> float:
    """Return b**e by exact products."""
    whole = round(b * 2) if b % 1 else round(b)
    return float(whole**e) / 2.0 ** (e if b % 1 else 0)


def compiled(names: list[str], dtype: str, **options: object) -> dict[str, Callable[..., Array]]:
    """The functions as compiled functions of vectors."""
    made = {}
    for name in names:
        op = T.ELEMENTWISE[name]
        inputs = [T.vector(n, dtype) for n in "xy"[: op.arity]]
        made[name] = ag.function(inputs, op(*inputs), **options)
    return made


def points_of(dtype: str, names: list[str]) -> dict[str, tuple[list[Array], Array]]:
    """Arguments and true values by function: those that are numbers of the dtype."""
    found: dict[str, list[tuple[float, ...]]] = {}
    with np.errstate(all="ignore"):
        for name, *row in (*exact_points(), *exact_pairs()):
            rounded = [float(np.dtype(dtype).type(v)) for v in row]
            angle = name.startswith("arc") and rounded[:-1] == row[:-1]
            if name in names and (angle or all(a == b or a != a for a, b in zip(rounded, row))):
                found.setdefault(name, []).append(tuple(rounded))
    tables = {name: np.array(rows).T.astype(dtype) for name, rows in found.items()}
    return {name: (list(table[:-1]), table[-1]) for name, table in tables.items()}


def wrong_points(f: Callable[..., Array], arguments: list[Array], values: Array) -> str:
    """The first exact point that a function misses; zeros have their sign.  Empty if there is none."""
    got = f(*arguments)
    same = (got == values) & (np.signbit(got) == np.signbit(values))
    at = np.flatnonzero(~same)
    return "" if not at.size else f"{[a[at[0]] for a in arguments]}: {got[at[0]]!r}, not {values[at[0]]!r}"


def fuses(target: Target) -> bool:
    """Whether the target rounds a multiply-add once."""
    return target.arch == "aarch64" or "fma" in target.features


def faults(of: Function, f: Callable[[Array], Array], x: Array, fused: bool) -> Iterator[str]:
    """Yield the faults of a function at numbers x in ascending order, of which none is NaN.

    `fused`: whether multiply-adds are rounded once.
    """
    y = f(x)
    number = ~np.isnan(y)
    bound = np.dtype(x.dtype).type
    outside = number & ~((y >= bound(of.low)) & (y <= bound(of.high)))
    if outside.any():
        yield f"{x[outside][0]!r}: {y[outside][0]!r} is out of range"
    if of.parity:
        other = f(-x)
        differ = number & ((other != of.parity * y) | (np.signbit(other) != (np.signbit(y) != (of.parity < 0))))
        if differ.any():
            yield f"{x[differ][0]!r}: {y[differ][0]!r}, {other[differ][0]!r} at the other sign"
    if fused or not of.fused:
        with np.errstate(all="ignore"):
            slope = np.sign(of.slope(x.astype("float64")))
            step = np.sign(y[1:] - y[:-1])
        both = (slope[1:] == slope[:-1]) & number[1:] & number[:-1]
        if of.periodic:
            both &= x[1:] - x[:-1] < NEAR
        falls = both & (step * slope[1:] < 0)
        if falls.any():
            at = np.flatnonzero(falls)[0]
            yield f"{x[at]!r} and {x[at + 1]!r}: {y[at]!r} and {y[at + 1]!r} in the wrong order"


def all_float32(first: int, count: int) -> Array:
    """Positive float32 numbers by their bits, in ascending order, and no NaN."""
    return np.arange(first, min(first + count, 0x7F800001), dtype=np.uint32).view("float32")


_ENDS = (
    0.0, 0.25, 0.5, 0.375, 0.8125, 1.0, 1.5, 2.0, 3.0, 4.0, 5.95, 6.0, 19.06, 20.0, 22.0, 26.5, 27.3, 36.7, 40.0,
    708.4, 709.78, 710.47, 744.44, 745.13, 1022.0, 1024.0, 1074.0, 2.0**-55, 2.0**-54, 2.0**-28, 2.0**-27, 2.0**28,
    2.0**30, math.log(2), math.log(2) / 2, math.sqrt(0.5), math.sqrt(2), math.pi / 4, math.sqrt(2) - 1,
    math.sqrt(0.125), 5e-324, 2.0**-1022,
)  # fmt: skip


def chosen_float64(rng: np.random.Generator, kind: int, count: int) -> Array:
    """Positive float64 numbers, each beside its neighbour, in ascending order."""
    n = count // 2
    if kind == 0:
        x = np.ldexp(rng.random(n), -rng.integers(0, 60, n))
    elif kind == 1:
        x = np.floor(np.ldexp(rng.random(n), rng.integers(0, 30, n))) * RIGHT
    elif kind == 2:
        x = np.ldexp(1.0, rng.integers(-1074, 1024, n))
    elif kind == 3:
        x = np.floor(np.ldexp(rng.random(n), rng.integers(0, 54, n)))
    elif kind == 4:
        x = rng.integers(0, 1 << 52, n).view("float64")
    elif kind == 5:
        x = rng.choice(_ENDS, n)
    elif kind == 6:
        x = rng.uniform(0, 40, n)
    elif kind == 7:
        x = (0.25 + rng.integers(0, 200, n)) * math.log(2) * rng.choice([0.5, 1.0], n)
    else:
        x = rng.integers(0, 0x7FF0 << 48, n).view("float64")
    if kind in (1, 2, 3, 5, 7):  # around them, near and less near
        moved = x.view("int64") + (rng.integers(-2000, 2001, n) << rng.integers(0, 30, n))
        x = moved.clip(0, (0x7FF0 << 48) - 2).view("float64")
    return np.sort(np.concatenate([x, (x.view("int64") + 1).view("float64")]))


KINDS = 9


def run(full: bool) -> list[Row]:
    """Exact points of all functions; the rest on a sample, or at full size on all float32 and 10^8 float64 numbers."""
    points = Trials("G42", "exact points: float16, float32, float64; NumPy and compiled")
    for dtype, mode in itertools.product(("float16", "float32", "float64"), ("FAST_RUN", "NUMPY")):
        table = points_of(dtype, [*FUNCTIONS, "gamma", "gammaln", "pow", "hypot", "arctan2", "logaddexp"])
        for name, f in compiled(list(table), dtype, mode=mode).items():
            arguments, values = table[name]
            if mode == "NUMPY" and hasattr(np, name):  # NumPy's own: some ulp off in float64 cbrt, more with AVX-512
                values = getattr(np, name)(*arguments)
            wrong = wrong_points(f, arguments, values)
            points.check(not wrong, f"{mode}, {dtype}: {name} of {wrong}", values.size)
    narrow = Trials("G42", "range, symmetry, order: " + ("all float32" if full else "every 97th block of float32"))
    wide = Trials("G42", "range, symmetry, order: chosen float64")
    rng = np.random.default_rng(0)
    for name, f in compiled(list(FUNCTIONS), "float32").items():
        for first in range(0, 0x7F800001, BLOCK * (1 if full else 97)):
            _note(narrow, name, f, all_float32(first, BLOCK))
    for name, f in compiled(list(FUNCTIONS), "float64").items():
        for kind in range(KINDS):
            for _ in range(12 if full else 1):
                _note(wide, name, f, chosen_float64(rng, kind, BLOCK if full else BLOCK // 16))
    return [points.row(), narrow.row(), wide.row()]


def _note(trials: Trials, name: str, f: Callable[[Array], Array], x: Array) -> None:
    for numbers in (x, -x[::-1]):
        wrong = next(faults(FUNCTIONS[name], f, numbers, fuses(current())), "")
        trials.check(not wrong, f"{x.dtype}: {name} at {wrong}", numbers.size)
