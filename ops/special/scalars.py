"""Scalar functions: the meaning of special functions for one number, in the part of Python that has C.

`@scalar` marks one; `cbackend/ctext/translated.py` writes its C.  A function has floats as parameters (`int` where
annotated), and gives one float, or two as a tuple.  It calls other ones, and those of this module, which never raise:
what C gives as an infinity or NaN is one here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from ..elementwise import special as _special

MODULES = (
    "parts", "errors", "entropies", "ratios", "gammas", "complete_betas", "betas", "beta_quantiles", "orders01",
    "second_kind", "bessel", "by_order", "waves01", "oscillating", "airys", "integrals", "hypergeometric", "quantiles",
)  # fmt: skip
"""The families, each of which uses earlier ones only."""
FEW = 16
"""Elements of an array that are computed one by one; of a longer one, equal elements are computed once."""
inf, nan, EULER = math.inf, math.nan, np.euler_gamma
F = TypeVar("F", bound=Callable[..., Any])


def scalar(function: F) -> F:
    """Mark a function that has C."""
    function.is_scalar = True  # type: ignore[attr-defined]
    return function


def calls_of(module: ModuleType) -> list[Callable[..., Any]]:
    """Return the scalar functions that a module defines, in order."""
    return [f for f in vars(module).values() if getattr(f, "is_scalar", False) and f.__module__ == module.__name__]


def meaning(function: Callable[..., float]) -> Callable[..., np.ndarray]:
    """Return a scalar function for arrays: computed in float64 for each element."""

    def of_one(*values: float) -> float:
        try:
            return function(*values)
        except (ZeroDivisionError, OverflowError):  # NumPy's numbers divide by zero as C does
            return float(function(*map(np.float64, values)))

    every = np.frompyfunc(of_one, function.__code__.co_argcount, 1)

    def of_arrays(*values: np.ndarray) -> np.ndarray:
        dtype = np.result_type(*values)
        operands, places = _distinct(np.broadcast_arrays(*(v.astype(float) for v in values)))
        with np.errstate(all="ignore"):
            found = np.asarray(every(*operands), dtype=float).astype(dtype)
        return found if places is None else found[places]

    of_arrays.__doc__ = function.__doc__
    return of_arrays


def _distinct(operands: Sequence[np.ndarray]) -> tuple[Sequence[np.ndarray], np.ndarray | None]:
    """Return the operands without repeated elements, and the position of each element; None if there are few."""
    if operands[0].size <= FEW:
        return operands, None
    bits = np.stack([np.ascontiguousarray(x).view("u8").reshape(-1) for x in operands], axis=1)
    rows, places = np.unique(bits, axis=0, return_inverse=True)
    return [np.ascontiguousarray(column).view(float) for column in rows.T], places.reshape(operands[0].shape)


# --- functions of the C library, and of other headers


def _kept(function: Callable[..., float]) -> Callable[..., float]:
    """Return a function that gives a NumPy number for one."""

    @wraps(function)
    def kept(x: float, *others: float) -> float:
        result = function(x, *others)
        return np.float64(result) if isinstance(x, np.float64) else result

    return kept


@_kept
def exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return inf


@_kept
def log(x: float) -> float:
    return math.log(x) if x > 0 else -inf if x == 0 else nan


@_kept
def log1p(x: float) -> float:
    return math.log1p(x) if x > -1 else -inf if x == -1 else nan


@_kept
def expm1(x: float) -> float:
    try:
        return math.expm1(x)
    except OverflowError:
        return inf


@_kept
def power(x: float, y: float) -> float:
    return float(np.float64(x) ** np.float64(y))


@_kept
def sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0 else nan


@_kept
def sin(x: float) -> float:
    return math.sin(x) if math.isfinite(x) else nan


@_kept
def cos(x: float) -> float:
    return math.cos(x) if math.isfinite(x) else nan


@_kept
def tan(x: float) -> float:
    return math.tan(x) if math.isfinite(x) else nan


@_kept
def cosh(x: float) -> float:
    try:
        return math.cosh(x)
    except OverflowError:
        return inf


@_kept
def sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(inf, x)


@_kept
def floor(x: float) -> float:
    return float(math.floor(x)) if math.isfinite(x) else x


@_kept
def rint(x: float) -> float:
    return float(round(x)) if math.isfinite(x) else x


def fabs(x: float) -> float:
    return abs(x)


copysign, erf, erfc, atan = (_kept(f) for f in (math.copysign, math.erf, math.erfc, math.atan))


@_kept
def scaled(x: float, k: float) -> float:
    """x * 2**k for a whole number k."""
    return math.ldexp(x, int(k)) if math.isfinite(k) else nan


def is_negative(x: float) -> bool:
    """Whether the sign bit is set."""
    return math.copysign(1.0, x) < 0


def gamma_of(x: float) -> float:
    return float(_special._gamma(float(x)))


def log_gamma(x: float) -> float:
    return float(_special._gammaln(float(x)))


def digamma_of(x: float) -> float:
    return float(_special.digamma(np.asarray(x, float)))


def fma(a: float, b: float, c: float) -> float:
    """a * b + c, with the product exact (T. J. Dekker, 1971); only sums that cancel it are rounded once."""
    product = a * b
    if not math.isfinite(product) or abs(product) < 1e-280:
        return product + c
    a1 = math.ldexp(1.0, 27) * a + a
    a1 = a1 - (a1 - a)
    b1 = math.ldexp(1.0, 27) * b + b
    b1 = b1 - (b1 - b)
    error = ((a1 * b1 - product) + a1 * (b - b1) + (a - a1) * b1) + (a - a1) * (b - b1)
    return (product + c) + error


def polynomial(series: Sequence[float], x: float) -> float:
    """The polynomial with these coefficients, the lowest power first."""
    result = 0.0
    for c in reversed(series):
        result = result * x + c
    return result
