"""Hypergeometric functions of real numbers: 1F1 and 2F1, by series, Kummer's and Euler's transformations.

DLMF 13.2, 13.7, 15.2, 15.8.  They are not exact in general: terms of a series may cancel.
"""

from __future__ import annotations

from .scalars import exp, fabs, floor, inf, log, log_gamma, nan, power, rint, scalar


@scalar
def sign_of_gamma(x: float) -> float:
    """The sign of gamma(x), 0 at its poles."""
    if x > 0.0:
        return 1.0
    if x == floor(x):
        return 0.0
    return 1.0 if floor(x) - 2.0 * floor(0.5 * floor(x)) == 0.0 else -1.0


@scalar
def kummer_series(a: float, b: float, x: float) -> float:
    """The sum of (a)_k x**k / ((b)_k k!)."""
    term = 1.0
    total = 1.0
    for k in range(20000):
        n = float(k)
        term = term * ((a + n) / (b + n) * (x / (n + 1.0)))
        total = total + term
        if fabs(term) <= 1e-17 * fabs(total) and (n > fabs(a) or term == 0.0):
            break
        if fabs(total) > 1e307:
            break
    return total


@scalar
def hyp1f1(a: float, b: float, x: float) -> float:
    """Kummer's function 1F1(a; b; x); infinite where b is 0, -1, ... and the series does not end before.

    Within 64 ulp for 0 < a, b <= 20 and 0 <= x <= 30; else as its terms cancel, with an absolute error of 1e-16 times
    the largest of them.
    """
    if a != a or b != b or x != x:
        return nan
    if b <= 0.0 and b == floor(b) and not (a == floor(a) and a <= 0.0 and a >= b):
        return inf
    if a == 0.0 or x == 0.0:
        return 1.0
    if a == b:
        return exp(x)
    ends = a < 0.0 and a == floor(a)
    if x < 0.0 and not ends:
        if x < -60.0 and -x > 2.0 * fabs(a * (a - b + 1.0)):
            return kummer_tail(b - a, b, -x, 1)
        if x < -600.0:
            half = exp(0.5 * x)
            return half * kummer_series(b - a, b, -x) * half
        return exp(x) * kummer_series(b - a, b, -x)
    if x > 60.0 and x > 2.0 * fabs((1.0 - a) * (b - a)) and not ends:
        return kummer_tail(a, b, x, 0)
    return kummer_series(a, b, x)


@scalar
def kummer_tail(a: float, b: float, x: float, is_decayed: int) -> float:
    """gamma(b) / gamma(a) exp(x) x**(a - b) times the expansion (DLMF 13.7.2), or the same without exp(x)."""
    term = 1.0
    total = 1.0
    for k in range(100):
        n = float(k)
        better = term * ((1.0 - a + n) * (b - a + n) / ((n + 1.0) * x))
        if fabs(better) > fabs(term) and k > 2:
            break
        term = better
        total = total + term
        if fabs(term) < 1e-17 * fabs(total):
            break
    e = log_gamma(b) - log_gamma(a) + (a - b) * log(x) + (0.0 if is_decayed else x)
    half = exp(0.5 * e)
    return sign_of_gamma(a) * sign_of_gamma(b) * (half * total) * half


@scalar
def gauss_series(a: float, b: float, c: float, x: float) -> float:
    """The sum of (a)_k (b)_k x**k / ((c)_k k!)."""
    term = 1.0
    total = 1.0
    for k in range(200000):
        n = float(k)
        term = term * ((a + n) / (c + n) * ((b + n) / (n + 1.0)) * x)
        total = total + term
        if fabs(term) <= 1e-17 * fabs(total) * (1.0 - fabs(x)) or term == 0.0:
            break
    return total


@scalar
def hyp2f1(a: float, b: float, c: float, x: float) -> float:
    """Gauss' function 2F1(a, b; c; x) for x <= 1; NaN beyond, infinite where c is 0, -1, ...

    Within 512 ulp for 0 < a, b <= 10, 0 < c <= 20 and 0 <= x <= 0.9; else as its terms cancel, with an absolute error
    of 1e-16 times the largest of them.
    """
    if a != a or b != b or c != c or x != x:
        return nan
    ends = (a <= 0.0 and a == floor(a)) or (b <= 0.0 and b == floor(b))
    if c <= 0.0 and c == floor(c) and not (ends and ((a == floor(a) and a >= c) or (b == floor(b) and b >= c))):
        return inf
    if x == 0.0 or a == 0.0 or b == 0.0:
        return 1.0
    if ends:
        return gauss_series(a, b, c, x)
    if x > 1.0:
        return nan
    d = c - a - b
    if x == 1.0:
        if d <= 0.0:
            return inf
        size = exp(log_gamma(c) + log_gamma(d) - log_gamma(c - a) - log_gamma(c - b))
        return size * sign_of_gamma(c) * sign_of_gamma(d) * sign_of_gamma(c - a) * sign_of_gamma(c - b)
    if x < -0.5:
        # Pfaff's transformation (DLMF 15.8.1), by the parameter that leaves the smaller one
        y = x / (x - 1.0)
        if fabs(b) < fabs(a):
            return power(1.0 - x, -b) * gauss_of_unit(c - a, b, c, y)
        return power(1.0 - x, -a) * gauss_of_unit(a, c - b, c, y)
    return gauss_of_unit(a, b, c, x)


@scalar
def gauss_of_unit(a: float, b: float, c: float, x: float) -> float:
    """2F1 for -1/2 <= x < 1: the series, or for x > 0.9 the transformation to 1 - x (DLMF 15.8.4)."""
    d = c - a - b
    if x < 0.9 or fabs(d - rint(d)) < 1e-3:
        if d < 0.0 and x > 0.5:
            return power(1.0 - x, d) * gauss_series(c - a, c - b, c, x)
        return gauss_series(a, b, c, x)
    y = 1.0 - x
    first = exp(log_gamma(c) + log_gamma(d) - log_gamma(c - a) - log_gamma(c - b))
    first = first * sign_of_gamma(c) * sign_of_gamma(d) * sign_of_gamma(c - a) * sign_of_gamma(c - b)
    second = exp(log_gamma(c) + log_gamma(-d) - log_gamma(a) - log_gamma(b))
    second = second * sign_of_gamma(c) * sign_of_gamma(-d) * sign_of_gamma(a) * sign_of_gamma(b)
    return first * gauss_series(a, b, 1.0 - d, y) + second * power(y, d) * gauss_series(c - a, c - b, 1.0 + d, y)
