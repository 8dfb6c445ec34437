"""Quotients of gamma functions as products of few powers, for arguments where no factor overflows.

The reciprocal of gamma between 1 and 2 is a polynomial; arguments below 10 come there by the product
gamma(x) = (x - 1) (x - 2) ... gamma(u), larger ones have Stirling's series (DLMF 5.5.1, 5.11.1).  A power of a rounded
quotient is corrected by the remainder of the division.
"""

from __future__ import annotations

import math

from .parts import LOG_GAMMA_START, stirling, stirling_of, times_parts, two_product, two_sum
from .scalars import exp, expm1, fabs, floor, fma, log, log1p, polynomial, power, scalar, sqrt

TWO_PI = 2 * math.pi
ROOT_TWO_PI = 2.5066282746310002
HALF_LOG_TWO_PI = 0.9189385332046728
LEAST_POWER, MOST_POWER = 1e-280, 1e280
"""Between these, products of few powers neither overflow nor are subnormal."""
MOST_EXPONENT = 1e8
"""The remainder's share of a power is linear up to here."""
RECIPROCAL_AT_MIDDLE, RECIPROCAL_AT_MIDDLE_LOW = 1.1283791670955126, 1.533545961316588e-17
RECIPROCAL_GAMMA = (
    -0.0411745264452831, -0.5266544355255445, 0.1751020260439345, 0.05096686024771324, -0.042155169368530074,
    0.006612897826513755, 0.002120731442396105, -0.001110730248663719, 0.00015235762354313918, 2.5355146646693958e-05,
    -1.3896829363226459e-05, 2.1565109246938376e-06, 5.8054099915402085e-08, -8.996906608163438e-08,
    1.6830680472891296e-08,
)  # fmt: skip
"""1 / gamma(3/2 + d) = 1 / gamma(3/2) + d p(d) for |d| <= 1/2, by Chebyshev's polynomials."""


@scalar
def reciprocal_gamma(x: float) -> tuple[float, float]:
    """1 / gamma(x) for 1 <= x <= 2 in two parts, with a relative error of about 2**-55."""
    d = x - 1.5
    p = polynomial(RECIPROCAL_GAMMA, d)
    rest = fma(d, p, RECIPROCAL_AT_MIDDLE_LOW)
    total = RECIPROCAL_AT_MIDDLE + rest
    return total, rest - (total - RECIPROCAL_AT_MIDDLE)


@scalar
def falling_product(x: float) -> tuple[float, float]:
    """(x - 1) (x - 2) ... down to the factor between 1 and 2, in two parts; 1 for x < 2."""
    product = 1.0
    low = 0.0
    factor = x
    while factor >= 3.0:
        # two factors a step
        pair, pair_low = two_product(factor - 1.0, factor - 2.0)
        larger = product * pair
        low = fma(low, pair, fma(product, pair, -larger) + product * pair_low)
        product = larger
        factor = factor - 2.0
    factor = factor - 1.0 if factor >= 2.0 else 1.0
    larger = product * factor
    return larger, fma(low, factor, fma(product, factor, -larger))


@scalar
def quick_product(x: float) -> float:
    """The same for 1 <= x < 10, rounded at each factor, without a loop of unknown length."""
    low = (x - 1.0 if x >= 2.0 else 1.0) * (x - 2.0 if x >= 3.0 else 1.0)
    next_ = (x - 3.0 if x >= 4.0 else 1.0) * (x - 4.0 if x >= 5.0 else 1.0)
    high = (x - 5.0 if x >= 6.0 else 1.0) * (x - 6.0 if x >= 7.0 else 1.0)
    last = (x - 7.0 if x >= 8.0 else 1.0) * (x - 8.0 if x >= 9.0 else 1.0)
    return (low * next_) * (high * last)


@scalar
def beta_of_moderate(a: float, b: float) -> tuple[float, float]:
    """B(a, b) for 1e-290 <= a, b < 10 in two parts, with a relative error of about 2**-53."""
    s, s_low = two_sum(a, b)
    p, p_low = falling_product(a)
    q, q_low = falling_product(b)
    p, p_low = times_parts(p, p_low, q, q_low)
    d, d_low = falling_product(s)
    # each 1 / gamma at its argument between 1 and 2, and the factors below 1 themselves
    t, t_low = reciprocal_gamma(s - floor(s) + 1.0)
    p, p_low = times_parts(p, p_low, t, t_low)
    t, t_low = reciprocal_gamma(a - floor(a) + 1.0)
    d, d_low = times_parts(d, d_low, t, t_low)
    t, t_low = reciprocal_gamma(b - floor(b) + 1.0)
    d, d_low = times_parts(d, d_low, t, t_low)
    if s < 1.0:
        p, p_low = times_parts(p, p_low, s, s_low)
        s_low = 0.0
    if a < 1.0:
        d, d_low = times_parts(d, d_low, a, 0.0)
    if b < 1.0:
        d, d_low = times_parts(d, d_low, b, 0.0)
    inverse = 1.0 / d
    result = p * inverse
    low = (fma(-result, d, p) + (p_low - result * d_low)) * inverse
    # gamma(s + s_low) = gamma(s) (1 + s_low psi(s)); psi to 0.007 by a quotient that was fitted from 1 to 20
    slope = ((4.604855 * s + 19.134894) * s - 37.902147) / ((s + 16.522848) * s + 7.312457)
    return result, low - result * (s_low * slope)


@scalar
def quotient_power(n: float, n_low: float, d: float, d_low: float, e: float) -> float:
    """((n + n_low) / (d + d_low))**e, as accurate as the power of a number."""
    r = n / d
    rest = fma(-r, d, n) + (n_low - r * d_low)
    return power(r, e) * (1.0 + e * (rest / n))


@scalar
def short_reciprocal(a: float) -> float:
    """1 / gamma(a) for 0 < a < 10."""
    p, p_low = falling_product(a)
    r, r_low = reciprocal_gamma(a - floor(a) + 1.0)
    if a < 1.0:
        return a * r
    return r / p * (1.0 + (r_low / r - p_low / p))


@scalar
def beta_by_powers(a: float, b: float) -> float:
    """B(a, b) for a <= b, b >= 10, within about 4 ulp; 0 where a power is too small for that."""
    s, s_low = two_sum(a, b)
    if b > MOST_EXPONENT:
        return 0.0
    if a >= LOG_GAMMA_START:
        p = quotient_power(a, 0.0, s, s_low, a - 0.5)
        q = quotient_power(b, 0.0, s, s_low, b)
        rest = stirling(a) + stirling(b) - stirling(s)
        result = ROOT_TWO_PI * p * q / sqrt(b)
        result = result + result * expm1(rest)
        return result if p > LEAST_POWER and q > LEAST_POWER and result > LEAST_POWER else 0.0
    p = power(s, -a) * (1.0 - a * (s_low / s))
    q = quotient_power(b, 0.0, s, s_low, b - 0.5) * exp(a)
    rest = stirling(b) - stirling(s)
    result = (p * q + p * q * expm1(rest)) / short_reciprocal(a)
    return result if p > LEAST_POWER else 0.0


@scalar
def log_beta_of_large(a: float, b: float) -> float:
    """log(B(a, b)) for 10 <= a <= b, of negative terms."""
    s, s_low = two_sum(a, b)
    per_a = 1.0 / a
    per_b = 1.0 / b
    per_s = 1.0 / s
    # logarithms of a / s and b / s, with the rests of the quotients
    p = a * per_s
    p_log = log(p) + (fma(-p, s, a) - p * s_low) * per_a
    q = b * per_s
    q_log = log(q) + (fma(-q, s, b) - q * s_low) * per_b
    rest = stirling_of(per_a) + stirling_of(per_b) - stirling_of(per_s) + HALF_LOG_TWO_PI - 0.5 * log(b)
    return (a - 0.5) * p_log + (b * q_log + rest)


@scalar
def short_gamma_factor(a: float, x: float) -> float:
    """x**a exp(-x) / gamma(a + 1) for a > 0, x > 1e-300; 0 where a power is too small or too large for that."""
    if (x > 690.0 and a < LOG_GAMMA_START) or a > MOST_EXPONENT:
        return 0.0
    if a < LOG_GAMMA_START:
        size = power(x, a) * exp(-x)
        if size < LEAST_POWER:
            return 0.0
        if a < 1.0:
            r, _r_low = reciprocal_gamma(a + 1.0)
            return size * r
        return size * short_reciprocal(a) / a
    d, d_low = two_sum(a, -x)
    size = quotient_power(x, 0.0, a, 0.0, a)
    if d < -690.0 or d > 690.0 or size < LEAST_POWER or size > MOST_POWER:
        return 0.0
    size = size * exp(d) / sqrt(TWO_PI * a)
    return size + size * expm1(d_low - stirling(a))


@scalar
def short_beta_factor(
    a: float, b: float, x: float, x_low: float, y: float, y_low: float, whole: float, whole_low: float
) -> float:
    """x**a y**b / B(a, b) for x + y = 1; 0 where a power is too small or too large for that.

    `whole`: 0, or B(a, b).
    """
    if a > MOST_EXPONENT or b > MOST_EXPONENT:
        return 0.0
    if a >= LOG_GAMMA_START and b >= LOG_GAMMA_START:
        s, s_low = two_sum(a, b)
        n, n_low = times_parts(x, x_low, s, s_low)
        p = quotient_power(n, n_low, a, 0.0, a)
        n, n_low = times_parts(y, y_low, s, s_low)
        q = quotient_power(n, n_low, b, 0.0, b)
        rest = stirling(s) - stirling(a) - stirling(b)
        if not (p > LEAST_POWER and p < MOST_POWER and q > LEAST_POWER and q < MOST_POWER):
            return 0.0
        size = p * q * sqrt(a / TWO_PI * (b / s))
        return size + size * expm1(rest)
    small = a if a < b else b
    large = b if a < b else a
    if large >= LOG_GAMMA_START:
        u = x if a < b else y
        u_low = x_low if a < b else y_low
        v = y if a < b else x
        v_low = y_low if a < b else x_low
        s, s_low = two_sum(large, small)
        n, n_low = times_parts(u, u_low, s, s_low)
        p = power(n, small) * (1.0 + small * (n_low / n))
        n, n_low = times_parts(v, v_low, s, s_low)
        q = quotient_power(n, n_low, large, 0.0, large)
        rest = stirling(s) - stirling(large)
        if not (p > LEAST_POWER and q > LEAST_POWER and q < MOST_POWER):
            return 0.0
        size = p * q * exp(-small) * sqrt(large / s) * short_reciprocal(small)
        return size + size * expm1(rest)
    size = power(x, a) * power(y, b) * (1.0 + (a * (x_low / x) + b * (y_low / y)))
    if size < LEAST_POWER or small < 1e-100:
        return 0.0
    if whole == 0.0:
        whole, whole_low = beta_of_moderate(a, b)
    return size / whole * (1.0 - whole_low / whole)


@scalar
def short_log_beta(a: float, b: float) -> float:
    """log(B(a, b)) for a <= b, 1e-290 <= a, both finite; 0 where its terms cancel, or a power is too small."""
    if b < LOG_GAMMA_START:
        p, p_low = beta_of_moderate(a, b)
        total = log(p) + p_low / p
        return total if fabs(total) > 0.125 else 0.0
    if a >= LOG_GAMMA_START:
        return log_beta_of_large(a, b)
    s = a + b
    r, r_low = reciprocal_gamma(a - floor(a) + 1.0)
    p = a * r if a < 1.0 else r / quick_product(a)
    p_low = fma(a, r, -p) + a * r_low if a < 1.0 else 0.0
    first = log(p) + p_low / p
    rest = (b - 0.5) * log1p(a / b) - a + (stirling(s) - stirling(b))
    total = first + (a * log(s) + rest)
    if fabs(total) < 0.6 * fabs(first):
        return -(log(p * power(s, a)) + (p_low / p + rest)) if fabs(total) > 0.25 * fabs(first) else 0.0
    return -total
