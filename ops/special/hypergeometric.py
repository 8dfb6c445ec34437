"""Hypergeometric functions of real numbers: 1F1 and 2F1, by series, Kummer's and Euler's transformations.

DLMF 13.2, 13.7, 15.2, 15.8.  They are not exact in general: terms of a series may cancel.
"""

from __future__ import annotations

from .parts import plus_parts, times_parts, two_sum
from .scalars import exp, fabs, floor, fma, inf, log, log_gamma, nan, power, rint, scalar

MOST_TERMS = 1e7
"""Terms of a polynomial of a degree far above; its value is NaN."""


@scalar
def sign_of_gamma(x: float) -> float:
    """The sign of gamma(x), 0 at its poles."""
    if x > 0.0:
        return 1.0
    if x == floor(x):
        return 0.0
    return 1.0 if floor(x) - 2.0 * floor(0.5 * floor(x)) == 0.0 else -1.0


@scalar
def kummer_series(a: float, a_low: float, b: float, x: float) -> float:
    """The sum of (a)_k x**k / ((b)_k k!), a in two parts; terms and sum in two parts, since terms may cancel."""
    term = 1.0
    term_low = 0.0
    total = 1.0
    total_low = 0.0
    n = 0.0
    while n < 20000.0:
        over, over_low = two_sum(a, n)
        p, p_low = times_parts(over, over_low + a_low, x, 0.0)
        if p == 0.0:  # all further terms are 0, also where b + n is
            return total + total_low
        under, under_low = two_sum(b, n)
        n = n + 1.0
        q, q_low = times_parts(under, under_low, n, 0.0)
        inverse = 1.0 / q
        ratio = p * inverse
        rest = (fma(-ratio, q, p) + (p_low - ratio * q_low)) * inverse
        product = term * ratio
        term_low = fma(term, ratio, -product) + (term * rest + term_low * ratio)
        term = product
        total, error = two_sum(total, term)
        total_low = total_low + (error + term_low)
        if fabs(term) <= 1e-17 * fabs(total) and (n > fabs(a) or term == 0.0):
            break
        if fabs(total) > 1e307:
            return total
    return total + total_low


@scalar
def kummer_of_rest(a: float, b: float, x: float) -> float:
    """The series of 1F1(b - a; b; x)."""
    d, d_low = two_sum(b, -a)
    return kummer_series(d, d_low, b, x)


@scalar
def hyp1f1(a: float, b: float, x: float) -> float:
    """Kummer's function 1F1(a; b; x); infinite where b is 0, -1, ... and the series does not end before.

    Within 8 ulp for 0 < a, b <= 20 and 0 <= x <= 30; else as its terms cancel, with an absolute error of 1e-16 times
    the largest of them.
    """
    if a != a or b != b or x != x:
        return nan
    if b <= 0.0 and b == floor(b) and not (a == floor(a) and a <= 0.0 and a >= b):
        return inf
    if a == 0.0 or x == 0.0:
        return 1.0
    ends = a < 0.0 and a == floor(a)
    if a == b and not ends:
        return exp(x)
    if x < 0.0 and not ends:
        if x < -60.0 and -x > 2.0 * fabs(a * (a - b + 1.0)):
            return kummer_tail(b - a, b, -x, 1)
        if x < -600.0:
            half = exp(0.5 * x)
            return half * kummer_of_rest(a, b, -x) * half
        return exp(x) * kummer_of_rest(a, b, -x)
    if x > 60.0 and x > 2.0 * fabs((1.0 - a) * (b - a)) and not ends:
        return kummer_tail(a, b, x, 0)
    return kummer_series(a, 0.0, b, x)


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
def gauss_series(a: float, a_low: float, b: float, b_low: float, c: float, c_low: float, x: float) -> float:
    """The sum of (a)_k (b)_k x**k / ((c)_k k!).

    Parameters, terms and sum are in two parts, since terms may cancel, down to a percent of the sum; the rest is plain.
    """
    term = 1.0
    term_low = 0.0
    total = 1.0
    total_low = 0.0
    n = 0.0
    left = 1.0 - fabs(x) if fabs(x) < 1.0 else 0.0  # a polynomial beyond: its last term is 0
    least = a if a < b else b
    settled = -(least if least < c else c)  # terms have one sign from here on
    while n < 200000.0:
        first, first_low = two_sum(a, n)
        second, second_low = two_sum(b, n)
        p, p_low = times_parts(first, first_low + a_low, second, second_low + b_low)
        p, p_low = times_parts(p, p_low, x, 0.0)
        if p == 0.0:  # all further terms are 0, also where c + n is
            return total + total_low
        under, under_low = two_sum(c, n)
        n = n + 1.0
        q, q_low = times_parts(under, under_low + c_low, n, 0.0)
        inverse = 1.0 / q
        ratio = p * inverse
        rest = (fma(-ratio, q, p) + (p_low - ratio * q_low)) * inverse
        product = term * ratio
        term_low = fma(term, ratio, -product) + (term * rest + term_low * ratio)
        term = product
        total, error = two_sum(total, term)
        total_low = total_low + (error + term_low)
        if fabs(total) > 1e307:
            return total
        if fabs(term) <= 0.01 * left * fabs(total) and (n > settled or term == 0.0):
            break
    tail = 0.0
    least = 3e-17 * left * fabs(total)
    while fabs(term) > least and n < MOST_TERMS:
        under = (c + n) * (n + 1.0)
        term = term * ((a + n) * (b + n) * x / under)
        tail = tail + term
        n = n + 1.0
    return total + (total_low + tail) if n < MOST_TERMS else nan


@scalar
def hyp2f1(a: float, b: float, c: float, x: float) -> float:
    """Gauss' function 2F1(a, b; c; x) for x <= 1; NaN beyond, infinite where c is 0, -1, ...

    Within 8 ulp for 0 < a, b <= 10, 0 < c <= 20 and 0 <= x <= 0.9; else as its terms cancel, with an absolute error
    of 1e-16 times the largest of them.
    """
    if a != a or b != b or c != c or x != x:
        return nan
    ends = (a <= 0.0 and a == floor(a)) or (b <= 0.0 and b == floor(b))
    if c <= 0.0 and c == floor(c) and not (ends and ((a == floor(a) and a >= c) or (b == floor(b) and b >= c))):
        return inf
    if x == 0.0 or a == 0.0 or b == 0.0:
        return 1.0
    if x > 1.0 and not ends:
        return nan
    if (a == c or b == c) and x != 1.0 and not (c <= 0.0 and c == floor(c)):
        # (1 - x)**e, with the rest of the base
        e = -b if a == c else -a
        y, y_low = two_sum(1.0, -x)
        return power(y, e) * (1.0 + e * (y_low / y))
    if ends:
        return gauss_series(a, 0.0, b, 0.0, c, 0.0, x)
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
            d, d_low = two_sum(c, -a)
            return power(1.0 - x, -b) * gauss_of_unit(d, d_low, b, 0.0, c, y)
        d, d_low = two_sum(c, -b)
        return power(1.0 - x, -a) * gauss_of_unit(a, 0.0, d, d_low, c, y)
    return gauss_of_unit(a, 0.0, b, 0.0, c, x)


@scalar
def gauss_of_unit(a: float, a_low: float, b: float, b_low: float, c: float, x: float) -> float:
    """2F1 for -1/2 <= x < 1: the series, or for x > 0.9 the transformation to 1 - x (DLMF 15.8.4)."""
    p, p_low = two_sum(c, -a)
    p_low = p_low - a_low
    q, q_low = two_sum(c, -b)
    q_low = q_low - b_low
    d, d_low = plus_parts(p, p_low, -b, -b_low)
    y, y_low = two_sum(1.0, -x)
    if x < 0.9 or fabs(d - rint(d)) < 1e-3:
        if d < 0.0 and x > 0.5:
            # (1 - x)**d, with the rest of both
            size = power(y, d) * (1.0 + (d * (y_low / y) + d_low * log(y)))
            return size * gauss_series(p, p_low, q, q_low, c, 0.0, x)
        return gauss_series(a, a_low, b, b_low, c, 0.0, x)
    first = exp(log_gamma(c) + log_gamma(d) - log_gamma(p) - log_gamma(q))
    first = first * sign_of_gamma(c) * sign_of_gamma(d) * sign_of_gamma(p) * sign_of_gamma(q)
    second = exp(log_gamma(c) + log_gamma(-d) - log_gamma(a) - log_gamma(b))
    second = second * sign_of_gamma(c) * sign_of_gamma(-d) * sign_of_gamma(a) * sign_of_gamma(b)
    e, e_low = plus_parts(-d, -d_low, 1.0, 0.0)
    first = first * gauss_series(a, a_low, b, b_low, e, e_low, y)
    e, e_low = plus_parts(d, d_low, 1.0, 0.0)
    return first + second * power(y, d) * gauss_series(p, p_low, q, q_low, e, e_low, y)
