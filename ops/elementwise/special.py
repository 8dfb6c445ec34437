"""The NumPy meaning of functions that NumPy lacks: erf, the gamma family, stable logistic functions.

Each takes one array of float16, float32 or float64 and gives one of the same dtype; specials are those of C99 (gamma
family) or the limits of the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]


def _computed_in(narrowest: str) -> Callable[[Function], Function]:
    """Return a decorator: the function is computed in `narrowest` or a wider dtype, and rounded once at the end."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def rounded(x: np.ndarray) -> np.ndarray:
            wide = x.astype(np.result_type(x.dtype, np.dtype(narrowest)), copy=False)
            return np.asarray(function(wide)).astype(x.dtype)

        return rounded

    return decorate


def _of_each(scalar: Callable[[float], float]) -> Function:
    """A function of one float made a function of float64 arrays."""
    return np.vectorize(scalar, otypes=[np.float64])


def xlogy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x * log(y), where 0 * log(y) is 0 for every number y."""
    wide = np.result_type(x.dtype, np.float32)
    logarithm = np.log(np.where((x == 0) & ~np.isnan(y), 1, y.astype(wide, copy=False)))
    return (x.astype(wide, copy=False) * logarithm).astype(x.dtype)


# --- libm, one element at a time


def _gamma(x: float) -> float:
    if x == 0.0:
        return math.copysign(math.inf, x)
    if x == -math.inf:
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf
    except ValueError:  # the poles at the negative integers
        return math.nan


def _gammaln(x: float) -> float:
    try:
        return x if x == -math.inf else math.lgamma(x)
    except OverflowError:
        return math.inf
    except ValueError:  # the poles at 0 and the negative integers
        return math.inf


def expm1(x: np.ndarray) -> np.ndarray:
    """exp(x) - 1; of complex numbers that are not finite or have no imaginary part as C99 defines exp (annex G)."""
    found: np.ndarray = np.expm1(x)
    if x.dtype.kind != "c":
        return found
    found = np.where(np.isfinite(x), found, np.exp(x) - 1)
    is_real = x.imag == 0
    infinite = is_real & ~np.isfinite(x.real)
    found.real[infinite] = np.expm1(x.real[infinite])
    found.real[is_real] += 0.0  # no negative zero
    found.imag[is_real] = x.imag[is_real]
    return found


@_computed_in("float64")
def erf(x: np.ndarray) -> np.ndarray:
    """The error function, 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
    return _of_each(math.erf)(x)


@_computed_in("float64")
def erfc(x: np.ndarray) -> np.ndarray:
    """1 - erf(x) without cancellation."""
    return _of_each(math.erfc)(x)


@_computed_in("float64")
def normal_tails(x: np.ndarray) -> np.ndarray:
    """erfc(x / sqrt(2))."""
    return _of_each(math.erfc)(x / math.sqrt(2))


@_computed_in("float64")
def gamma(x: np.ndarray) -> np.ndarray:
    """The gamma function; inf with the sign of x at 0, NaN at the negative integers."""
    return _of_each(_gamma)(x)


@_computed_in("float64")
def gammaln(x: np.ndarray) -> np.ndarray:
    """The logarithm of the absolute value of the gamma function; inf at its poles, -inf at -inf."""
    return _of_each(_gammaln)(x)


# --- digamma

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
"""B(2), B(4), ..., B(20)."""
_ASYMPTOTIC = tuple(b / (2 * k) for k, b in enumerate(_BERNOULLI[:7], start=1))
"""B(2k) / 2k: digamma(x) ~ log x - 1/(2x) - sum B(2k) / (2k x**2k)  (DLMF 5.11.2)."""
_LARGE = 10.0

# On [1, 2]: (x - root) * (Y + P(x - 1) / Q(x - 1)) with the only positive root split in three parts, so that the result
# keeps its relative accuracy where it vanishes.  J. Maddock, Boost.Math, digamma.hpp (53 bits).
_ROOT = (1569415565 / 2**30, 381566830 / 2**60, 9.016312093258695e-20)
_Y = 0.99558162689208984375
_P = (
    0.25479851061131551, -0.32555031186804491, -0.65031853770896507, -0.28919126444774784, -0.045251321448739056,
    -0.0020713321167745952,
)  # fmt: skip
_Q = (
    1.0, 2.0767117023730469, 1.4606242909763515, 0.43593529692665969, 0.054151797245674225, 0.0021284987017821144,
    -0.55789841321675513e-6,
)  # fmt: skip


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    result = np.zeros_like(x)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def _digamma_positive(x: np.ndarray) -> np.ndarray:
    """For x > 0: moved to [1, 2] by digamma(x + 1) = digamma(x) + 1/x, or expanded in 1/x where x is large."""
    t = np.minimum(x, _LARGE)
    shift = np.zeros_like(x)
    for _ in range(int(_LARGE)):
        above = t > 2
        t = np.where(above, t - 1, t)
        shift = np.where(above, shift + 1 / t, shift)
    below = t < 1
    shift = np.where(below, -1 / t, shift)
    t = np.where(below, t + 1, t)
    distance = ((t - _ROOT[0]) - _ROOT[1]) - _ROOT[2]
    near = shift + (distance * _Y + distance * (_polynomial(_P, t - 1) / _polynomial(_Q, t - 1)))
    inverse = 1 / np.maximum(x, _LARGE)
    square = inverse * inverse
    far = np.log(np.maximum(x, _LARGE)) - inverse / 2 - square * _polynomial(_ASYMPTOTIC, square)
    result: np.ndarray = np.where(x >= _LARGE, far, near)
    return result


@_computed_in("float64")
def digamma(x: np.ndarray) -> np.ndarray:
    """The logarithmic derivative of gamma; -inf at +0, inf at -0, NaN at the negative integers and -inf.

    For x < 0 by reflection: digamma(x) = digamma(1 - x) - pi / tan(pi x).
    """
    fraction = x - np.rint(x)  # exact; tan has period pi
    reflected = _digamma_positive(np.where(x < 0, 1 - x, 1.0)) - np.pi / np.tan(np.pi * fraction)
    positive = _digamma_positive(np.where(x > 0, x, 1.0))
    result = np.where(x > 0, positive, np.where(fraction == 0, np.nan, reflected))
    return np.where(x == 0, -np.copysign(np.inf, x), np.where(np.isnan(x), x, result))


# --- polygamma

_TAIL = tuple(b / math.factorial(2 * k) for k, b in enumerate(_BERNOULLI, start=1))
"""B(2k) / (2k)!, for sums over all integers from one on by Euler and Maclaurin's formula (DLMF 2.10.1)."""
_TERMS = 12


def _sum_of_powers(s: np.ndarray, x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The sum of ((x + k) / scale)**-s for k = 0, 1, ..., x > 0: Hurwitz' zeta(s, x) times scale**s."""
    total = np.zeros_like(x)
    for k in range(_TERMS):
        total += ((x + k) / scale) ** -s
    end = x + _TERMS
    power = (end / scale) ** (1 - s)
    series, factor = np.full_like(x, 0.5), s / end
    for k, c in enumerate(_TAIL):
        series += c * factor
        factor = factor * ((s + (2 * k + 1)) / end) * ((s + (2 * k + 2)) / end)
    result: np.ndarray = total + power * (scale / (s - 1)) + power * (scale / end) * series
    return result


def _polygamma_of_negative(s: np.ndarray, x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The same sum for a negative non-integer x: over all integers, less the terms on the other side."""
    above = -x - np.floor(-x)
    even = np.where(s % 2 == 0, 1.0, -1.0)
    everywhere = _sum_of_powers(s, 1 - above, scale) + even * _sum_of_powers(s, above, scale)
    result: np.ndarray = everywhere - even * _sum_of_powers(s, 1 - x, scale)
    return result


_FACTORIALS = np.array([float(math.factorial(n)) for n in range(171)])


def polygamma(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The n-th derivative of digamma at x; NaN where n is no integer from 0 on; infinite at 0, -1, -2, ... and -inf.

    At -0 it is +inf for every n, as from below.

    polygamma(n, x) = (-1)**(n + 1) n! sum over k of (x + k)**-(n + 1)  (DLMF 5.15.1).
    """
    dtype = np.result_type(n, x)
    n, x = (np.asarray(v, np.float64) for v in np.broadcast_arrays(n, x))
    with np.errstate(all="ignore"):
        counts = np.isfinite(n) & (n >= 1) & (n == np.floor(n))
        s = np.where(counts, n, 1.0) + 1
        sign = np.where(s % 2 == 0, 1.0, -1.0)
        size = np.rint(gammaln(s) / (s * math.log(2)))  # n! is about 2**(size * s), which is shared out: none overflows
        factorial = _FACTORIALS[np.minimum(s, 171).astype(np.intp) - 1]
        factor = np.where(s <= 171, factorial * 2.0 ** (-size * s), np.exp(gammaln(s) - size * s * math.log(2)))
        ordinary = np.isfinite(x) & (x != np.floor(x))
        above = _sum_of_powers(s, np.where((x > 0) & np.isfinite(x), x, 1.0), 2.0**size)
        below = _polygamma_of_negative(s, np.where(ordinary & (x < 0), x, -0.5), 2.0**size)
        result = sign * factor * np.where(x > 0, above, below)
        pole = np.where((x == 0) & np.signbit(x), np.inf, sign * np.inf)  # at -0 from below
        result = np.where((x <= 0) & (x == np.floor(x)), pole, result)
        result = np.where(x == np.inf, sign * 0.0, result)
        result = np.where(n == 0, digamma(x), np.where(counts, result, np.nan))
    return np.asarray(np.where(np.isnan(x) | np.isnan(n), x + n, result)).astype(dtype)


# --- the logistic family


@_computed_in("float32")
def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), with full relative accuracy for all x."""
    e = np.exp(-np.abs(x))
    result: np.ndarray = np.where(x >= 0, 1, e) / (1 + e)
    return result


@_computed_in("float32")
def softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + exp(x)), with full relative accuracy for all x."""
    result: np.ndarray = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
    return result


@_computed_in("float32")
def log1mexp(x: np.ndarray) -> np.ndarray:
    """log(1 - exp(x)), with full relative accuracy for all x < 0; NaN for x > 0.

    The switch at -log 2 is due to M. Maechler, "Accurately computing log(1 - exp(-|a|))".
    """
    result: np.ndarray = np.where(x < -math.log(2), np.log1p(-np.exp(x)), np.log(-np.expm1(x)))
    return result


# --- random bits

_TURNS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(key: np.ndarray, counter: np.ndarray) -> np.ndarray:
    """64 bits for each key and counter of 64 bits: two words of 32 bits encrypted in 20 rounds.

    J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
    """
    with np.errstate(over="ignore"):
        return _encrypted(key, counter)


def _encrypted(key: np.ndarray, counter: np.ndarray) -> np.ndarray:
    words = [(key >> np.uint64(32)).astype(np.uint32), key.astype(np.uint32)]
    words.append(words[0] ^ words[1] ^ np.uint32(0x1BD11BDA))
    a = (counter >> np.uint64(32)).astype(np.uint32) + words[0]
    b = counter.astype(np.uint32) + words[1]
    for n in range(5):
        for turn in _TURNS[n % 2]:
            a = a + b
            b = (b << np.uint32(turn) | b >> np.uint32(32 - turn)) ^ a
        a = a + words[(n + 1) % 3]
        b = b + words[(n + 2) % 3] + np.uint32(n + 1)
    bits: np.ndarray = a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
    return bits


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    """The float32 numbers whose upper halves are `bits` (uint16) and whose lower halves are 0."""
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_bfloat16(x: np.ndarray) -> np.ndarray:
    """The bits (uint16) of the bfloat16 numbers nearest to float32 numbers, ties to even; a NaN stays one."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(x), np.uint32(0x7FC0), rounded).astype(np.uint16)
