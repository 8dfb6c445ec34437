"""Hypergeometric functions of real numbers: 1F1 and 2F1, by series, Kummer's and Euler's transformations.

DLMF 13.2, 13.7, 15.2, 15.8, 15.10.  They are not exact in general: terms of a series may cancel.
"""

from __future__ import annotations

from .parts import divided_parts, plus_parts, times_parts, two_sum
from .scalars import exp, fabs, floor, fma, inf, log, log_gamma, nan, power, rint, scalar

MOST_TERMS = 1e7
"""Terms of a polynomial of a degree far above; its value is NaN."""
MOST_PARAMETER = 1000.0
"""Parameters up to which the Taylor series of a step has few terms, and the most terms of one."""
NEAR_INTEGER = 0.05


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
    if x == 1.0:
        d = c - a - b
        if d <= 0.0:
            return inf
        size = exp(log_gamma(c) + log_gamma(d) - log_gamma(c - a) - log_gamma(c - b))
        return size * sign_of_gamma(c) * sign_of_gamma(d) * sign_of_gamma(c - a) * sign_of_gamma(c - b)
    if x < -0.5:
        # Pfaff's transformation (DLMF 15.8.1), to the shorter polynomial, which is not 0 at 1, or by the parameter that
        # leaves the smaller one; 1 - y is 1 / (1 - x)
        under, under_low = two_sum(1.0, -x)
        rest, rest_low = divided_parts(1.0, 0.0, under, under_low)
        y = x / (x - 1.0)
        p, p_low = two_sum(c, -a)
        q, q_low = two_sum(c, -b)
        p_ends = p <= 0.0 and p == floor(p) and p_low == 0.0
        q_ends = q <= 0.0 and q == floor(q) and q_low == 0.0
        if p_ends and (p >= q or not q_ends):
            return power(1.0 - x, -b) * gauss_series(p, 0.0, b, 0.0, c, 0.0, y)
        if q_ends:
            return power(1.0 - x, -a) * gauss_series(a, 0.0, q, 0.0, c, 0.0, y)
        if fabs(b) < fabs(a):
            return power(1.0 - x, -b) * gauss_of_unit(p, p_low, b, 0.0, c, y, rest, rest_low)
        return power(1.0 - x, -a) * gauss_of_unit(a, 0.0, q, q_low, c, y, rest, rest_low)
    rest, rest_low = two_sum(1.0, -x)
    return gauss_of_unit(a, 0.0, b, 0.0, c, x, rest, rest_low)


@scalar
def gauss_of_unit(
    a: float, a_low: float, b: float, b_low: float, c: float, x: float, y: float, y_low: float
) -> float:
    """2F1 for -1/2 <= x <= 1, y = 1 - x > 0: the series; for x > 0.9 the transformation to y (DLMF 15.8.4).

    That one cancels where d = c - a - b is nearly an integer: there steps lead from 7/8 to x.
    """
    p, p_low = two_sum(c, -a)
    p_low = p_low - a_low
    q, q_low = two_sum(c, -b)
    q_low = q_low - b_low
    d, d_low = plus_parts(p, p_low, -b, -b_low)
    if x < 0.9 or fabs(d - rint(d)) < NEAR_INTEGER:
        in_steps = x >= 0.9 and fabs(a) < MOST_PARAMETER and fabs(b) < MOST_PARAMETER and fabs(c) < MOST_PARAMETER
        if d < 0.0 and x > 0.5:
            # (1 - x)**d, with the rest of both
            size = power(y, d) * (1.0 + (d * (y_low / y) + d_low * log(y)))
            if in_steps:
                return size * gauss_in_steps(p, q, c, -d, y)
            return size * gauss_series(p, p_low, q, q_low, c, 0.0, x)
        if in_steps:
            return gauss_in_steps(a, b, c, d, y)
        return gauss_series(a, a_low, b, b_low, c, 0.0, x)
    first = exp(log_gamma(c) + log_gamma(d) - log_gamma(p) - log_gamma(q))
    first = first * sign_of_gamma(c) * sign_of_gamma(d) * sign_of_gamma(p) * sign_of_gamma(q)
    second = exp(log_gamma(c) + log_gamma(-d) - log_gamma(a) - log_gamma(b))
    second = second * sign_of_gamma(c) * sign_of_gamma(-d) * sign_of_gamma(a) * sign_of_gamma(b)
    e, e_low = plus_parts(-d, -d_low, 1.0, 0.0)
    first = first * gauss_series(a, a_low, b, b_low, e, e_low, y)
    e, e_low = plus_parts(d, d_low, 1.0, 0.0)
    return first + second * power(y, d) * gauss_series(p, p_low, q, q_low, e, e_low, y)


@scalar
def gauss_in_steps(a: float, b: float, c: float, d: float, y: float) -> float:
    """2F1 at 1 - y, 0 < y <= 1/8, for d = c - a - b >= 0: the equation (DLMF 15.10.1), solved by Taylor series.

    Each series halves the distance to 1, which is half of its radius of convergence, so 60 terms suffice.
    """
    distance = 0.125
    value = gauss_series(a, 0.0, b, 0.0, c, 0.0, 0.875)
    low = 0.0
    slope = a * b / c * gauss_series(a + 1.0, 0.0, b + 1.0, 0.0, c + 1.0, 0.0, 0.875)
    while distance > y:
        nearer = 0.5 * distance if 0.5 * distance > y else y
        step = distance - nearer
        scale = step / ((1.0 - distance) * distance)
        by_order = 2.0 * distance - 1.0
        at_0 = d - 1.0 + (a + b + 1.0) * distance
        before = value
        term = slope * step
        rise = term
        slopes = term
        n = 0.0
        while n < MOST_PARAMETER:
            after = (n + a) * ((n + b) * (step * before)) / (n + 1.0) - (by_order * n + at_0) * term
            after = after * scale / (n + 2.0)
            n = n + 1.0
            rise = rise + after
            slopes = slopes + (n + 1.0) * after
            before = term
            term = after
            if fabs(before) + fabs(term) <= 1e-18 * fabs(rise) and n > 8.0:
                break
        value, error = two_sum(value, rise)
        low = low + error
        slope = slopes / step
        distance = nearer
    return value + low
