"""Numbers in two parts, a sum of floats that holds 106 bits, for the exponents of special functions.

A relative error of an exponential is the absolute one of its exponent, so exponents of hundreds need more than 53 bits.
Sources: T. J. Dekker, "A floating-point technique for extending the available precision", 1971; Stirling's series of
DLMF 5.11.1.
"""

from __future__ import annotations

from .scalars import exp, fabs, fma, log, polynomial, rint, scalar, scaled

LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
PER_LN2 = 1.4426950408889634
TWO_THIRDS, TWO_THIRDS_LOW = 0.6666666666666666, 3.700743415417188e-17
HALF_LOG_2PI, HALF_LOG_2PI_LOW = 0.9189385332046728, -3.878294158067242e-17
TWO_FIFTHS, TWO_FIFTHS_LOW = 0.4, -2.2204460492503132e-17
TWELFTH, TWELFTH_LOW = 0.08333333333333333, 4.625929269271485e-18
ARTANH_SERIES = (
    0.2857142857142857, 0.2222222222222222, 0.18181818181818182, 0.15384615384615385, 0.13333333333333333,
    0.11764705882352941, 0.10526315789473684, 0.09523809523809523, 0.08695652173913043, 0.08, 0.07407407407407407,
)  # fmt: skip
"""2 / (2 k + 7): the logarithm's series in s = f / (2 + f) from s**7 on (DLMF 4.6.4)."""
STIRLING_SERIES = (
    -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953, 0.0008417508417508417,
    -0.0019175269175269176, 0.00641025641025641, -0.029550653594771242, 0.17964437236883057, -1.3924322169059011,
    13.402864044168393, -156.84828462600203, 2193.1033333333335,
)  # fmt: skip
"""B(2k) / (2k (2k - 1)) from k = 2 on."""
SHORT_STIRLING_SERIES = STIRLING_SERIES[:7]
"""Enough for an absolute error of 1e-17 from 10 on."""
DIGAMMA_SERIES = (
    0.008333333333333333, -0.003968253968253968, 0.004166666666666667, -0.007575757575757576, 0.021092796092796094,
    -0.08333333333333333, 0.4432598039215686, -3.0539543302701198, 26.456212121212122, -281.46014492753625,
)  # fmt: skip
"""-B(2k) / 2k from k = 2 on."""
LOG_GAMMA_START = 10.0
DIGAMMA_START = 20.0


@scalar
def two_sum(a: float, b: float) -> tuple[float, float]:
    """a + b and its rounding error (D. E. Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@scalar
def two_product(a: float, b: float) -> tuple[float, float]:
    """a * b and its rounding error."""
    product = a * b
    return product, fma(a, b, -product)


@scalar
def times_parts(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """The product of two numbers in two parts."""
    product = a * b
    return product, fma(a, b, -product) + (a * b_low + a_low * b)


@scalar
def plus_parts(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """The sum of two numbers in two parts."""
    high, low = two_sum(a, b)
    rest = low + (a_low + b_low)
    total = high + rest
    return total, rest - (total - high)


@scalar
def divided_parts(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """The quotient of two numbers in two parts."""
    quotient = a / b
    rest = fma(-quotient, b, a) + a_low - quotient * b_low
    return quotient, rest / b


@scalar
def log1p_parts(f: float, f_low: float) -> tuple[float, float]:
    """log(1 + f) for f between -0.3 and 0.42, with an error of about 1e-22 times f."""
    d, d_low = two_sum(2.0, f)
    s, s_low = divided_parts(f, f_low, d, d_low + f_low)
    q, q_low = times_parts(s, s_low, s, s_low)
    tail = polynomial(ARTANH_SERIES, q)
    u, u_low = times_parts(q, q_low, TWO_FIFTHS, TWO_FIFTHS_LOW)
    u, u_low = plus_parts(TWO_THIRDS, TWO_THIRDS_LOW, u, u_low + tail * (q * q))
    t, t_low = times_parts(q, q_low, s, s_low)
    u, u_low = times_parts(t, t_low, u, u_low)
    return plus_parts(2.0 * s, 2.0 * s_low, u, u_low)


@scalar
def log_in_parts(x: float, x_low: float) -> tuple[float, float]:
    """log(x) for normal numbers x > 0."""
    k = rint(log(x) * PER_LN2)
    f, f_low = log1p_parts(scaled(x, -k) - 1.0, scaled(x_low, -k))
    return plus_parts(k * LN2_HIGH, k * LN2_LOW, f, f_low)


@scalar
def exp_parts(high: float, low: float) -> float:
    """exp(high + low)."""
    return exp(high) * (1.0 + low)


@scalar
def exp_times(high: float, low: float, size: float) -> float:
    """exp(high + low) * size, where the exponential alone may overflow or underflow."""
    if fabs(high) < 700.0:
        return exp_parts(high, low) * size
    half = exp_parts(0.5 * high, 0.5 * low)
    return half * size * half


@scalar
def stirling_parts(a: float, a_low: float) -> tuple[float, float]:
    """log(gamma(a)) - (a - 1/2) log(a) + a - log(2 pi) / 2 for a >= 10, with an error of about 1e-22."""
    inverse, inverse_low = divided_parts(1.0, 0.0, a, a_low)
    square = inverse * inverse
    series = polynomial(STIRLING_SERIES, square)
    first, first_low = times_parts(inverse, inverse_low, TWELFTH, TWELFTH_LOW)
    return plus_parts(first, first_low, inverse * square * series, 0.0)


@scalar
def stirling_of(inverse: float) -> float:
    """The same in one number, of 1 / a."""
    square = inverse * inverse
    series = polynomial(SHORT_STIRLING_SERIES, square)
    return inverse * (TWELFTH + square * series)


@scalar
def stirling(a: float) -> float:
    """The same in one number."""
    return stirling_of(1.0 / a)


@scalar
def log_gamma_parts(a: float, a_low: float) -> tuple[float, float]:
    """log(gamma(a)) for a > 0 in two parts, with an absolute error of about 1e-21, or 1e-22 of its terms.

    Below 10 by the product a (a + 1) ... (a + n - 1) = gamma(a + n) / gamma(a).
    """
    product = 1.0
    product_low = 0.0
    x = a
    x_low = a_low
    while x < LOG_GAMMA_START:
        product, product_low = times_parts(product, product_low, x, x_low)
        x, x_low = plus_parts(x, x_low, 1.0, 0.0)
    logarithm, logarithm_low = log_in_parts(x, x_low)
    high, low = times_parts(logarithm, logarithm_low, x - 0.5, x_low)
    high, low = plus_parts(high, low, -x, -x_low)
    high, low = plus_parts(high, low, HALF_LOG_2PI, HALF_LOG_2PI_LOW + 0.0)
    rest, rest_low = stirling_parts(x, x_low)
    high, low = plus_parts(high, low, rest, rest_low)
    if a < LOG_GAMMA_START:
        if product < 1e-290:
            return -log(a), 0.0
        logarithm, logarithm_low = log_in_parts(product, product_low)
        return plus_parts(high, low, -logarithm, -logarithm_low)
    return high, low


@scalar
def digamma_parts(a: float, a_low: float) -> tuple[float, float]:
    """The logarithmic derivative of gamma at a > 0 in two parts, with an absolute error of about 1e-23 (DLMF 5.11.2).

    Below 20 by digamma(a + 1) = digamma(a) + 1 / a.
    """
    total = 0.0
    total_low = 0.0
    while a < DIGAMMA_START:
        p, p_low = divided_parts(1.0, 0.0, a, a_low)
        total, total_low = plus_parts(total, total_low, p, p_low)
        a, a_low = plus_parts(a, a_low, 1.0, 0.0)
    p, p_low = log_in_parts(a, a_low)
    p, p_low = plus_parts(p, p_low, -total, -total_low)
    inverse, inverse_low = divided_parts(1.0, 0.0, a, a_low)
    p, p_low = plus_parts(p, p_low, -0.5 * inverse, -0.5 * inverse_low)
    q, q_low = times_parts(inverse, inverse_low, inverse, inverse_low)
    rest = polynomial(DIGAMMA_SERIES, q)
    rest = rest * (q * q)
    q, q_low = times_parts(q, q_low, TWELFTH, TWELFTH_LOW)
    return plus_parts(p, p_low, -q, rest - q_low)
