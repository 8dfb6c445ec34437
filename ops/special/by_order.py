"""Derivatives of modified Bessel functions by the order: moments of the integral for K; for I the series term by term,
and the derivatives of Hankel's and Debye's expansions (DLMF 10.38, 10.40.1, 10.41.3).
"""

from __future__ import annotations

from .bessel import (
    DEBYE_1,
    DEBYE_2,
    DEBYE_3,
    DEBYE_4,
    DEBYE_5,
    DEBYE_6,
    DEBYE_7,
    DEBYE_8,
    DEBYE_9,
    DEBYE_10,
    DEBYE_11,
    PI,
    TWO_OVER_PI,
    i_scaled,
    integral_of_k,
    kv,
    sine_of_turns,
    top_of_integral,
)
from .parts import exp_times, log_gamma_parts, log_in_parts, plus_parts, times_parts, two_sum
from .scalars import digamma_of, exp, fabs, inf, log, log1p, nan, polynomial, scalar, sinh, sqrt

DEBYE_SLOPE_1 = (
    -0.20833333333333334,
)  # fmt: skip
DEBYE_SLOPE_2 = (
    -0.4010416666666667, 0.6684027777777778,
)  # fmt: skip
DEBYE_SLOPE_3 = (
    -0.8912109375, 3.6929253472222223, -3.077437789351852,
)  # fmt: skip
DEBYE_SLOPE_4 = (
    -2.3640869140625, 17.5782470703125, -33.62100784866898, 18.67833769370499,
)  # fmt: skip
DEBYE_SLOPE_5 = (
    -7.368794359479632, 85.06999749077691, -275.4547246297201, 338.5448706984029, -141.0603627910012,
)  # fmt: skip
DEBYE_SLOPE_6 = (
    -26.491430486951554, 436.3810234884232, -2098.7388821283976, 4239.9618101119995, -3826.262340705908,
    1275.4207802353028,
)  # fmt: skip
DEBYE_SLOPE_7 = (
    -108.09091978839466, 2401.805826432705, -15916.940935840208, 46621.573347458136, -67932.75003217069,
    48370.333090423854, -13436.203636228849,
)  # fmt: skip
DEBYE_SLOPE_8 = (
    -493.915304773088, 14219.028604978728, -123577.96490669265, 488801.85993206984, -1017000.8864020777,
    1155282.0073951893, -678864.1887204626, 161634.3306477292,
)  # fmt: skip
DEBYE_SLOPE_9 = (
    -2499.8304818112097, 90437.53796272546, -994935.5174536908, 5073461.093286499, -14067816.13293267,
    22579627.785938423, -20986111.429766744, 10494108.917303817, -2186272.691104962,
)  # fmt: skip
DEBYE_SLOPE_10 = (
    -13886.08975371704, 616372.8092253248, -8356854.384259364, 53155068.66568727, -187835883.30381677,
    398067073.6483742, -518736037.48072857, 407620819.94131714, -177361372.06589004, 32844698.53072038,
)  # fmt: skip
DEBYE_SLOPE_11 = (
    -84005.43360302408, 4487536.355844899, -73422188.17721619, 568251631.1901324, -2479448921.3751516,
    6641056900.938087, -11347563864.75836, 12428775196.56464, -8455161237.134206, 3255730741.8576574,
    -542621790.3096095,
)  # fmt: skip
"""Derivatives of the polynomials of Debye's expansion."""


@scalar
def integral_by_order(v: float, x: float) -> float:
    """The integral of exp(-x (cosh(t) - 1)) t sinh(v t) over t > 0, of positive terms."""
    step = 0.24 / sqrt(1.0 + x / 6.0)
    total = 0.0
    low = 0.0
    for k in range(1, 4000):
        t = step * float(k)
        half = sinh(0.5 * t)
        value = exp(-x * (2.0 * half * half)) * (t * sinh(v * t))
        total, error = two_sum(total, value)
        low = low + error
        if value < 1e-18 * total and x * half > v:
            break
    return step * (total + low)


@scalar
def k_by_order(v: float, x: float, shift: float) -> float:
    """The derivative by v of K_v(x), times exp(x - shift): moments of the integral (DLMF 10.32.9)."""
    if v != v or x != x or x < 0.0:
        return nan
    if x == 0.0:
        return nan if v == 0.0 else inf if v > 0.0 else -inf
    if x == inf or v == 0.0:
        return 0.0
    a = fabs(v)
    if a < 1.0:
        size = exp(-shift) * integral_by_order(a, x)
        return size if v > 0.0 else -size
    e, e_low = top_of_integral(a, x)
    e, e_low = plus_parts(e, e_low, -shift, 0.0)
    place = log1p((a + a * a / (sqrt(a * a + x * x) + x)) / x)
    integral = place * integral_of_k(a, x, 0) + integral_of_k(a, x, 1)
    size = exp_times(e, e_low, 0.5 * integral)
    return size if v > 0.0 else -size


@scalar
def kv_by_order(v: float, x: float) -> float:
    """The derivative of `kv` by the order, within 8 ulp."""
    return k_by_order(v, x, x)


@scalar
def kve_by_order(v: float, x: float) -> float:
    """The derivative of `kve` by the order, within 8 ulp."""
    return k_by_order(v, x, 0.0)


@scalar
def i_log_slope(v: float, x: float) -> float:
    """The derivative by v of log(I_v(x)) for v >= 0 and hypot(v, x) > 30, by that of Debye's expansion (DLMF 10.41.3).

    The sum's own share is below 1e-4 of the first term.
    """
    s = sqrt(v * v + x * x)
    r = 1.0 / s
    q = v * r * (v * r)
    d11 = polynomial(DEBYE_11, q)
    d10 = polynomial(DEBYE_10, q)
    d9 = polynomial(DEBYE_9, q)
    d8 = polynomial(DEBYE_8, q)
    d7 = polynomial(DEBYE_7, q)
    d6 = polynomial(DEBYE_6, q)
    d5 = polynomial(DEBYE_5, q)
    d4 = polynomial(DEBYE_4, q)
    d3 = polynomial(DEBYE_3, q)
    d2 = polynomial(DEBYE_2, q)
    d1 = polynomial(DEBYE_1, q)
    s11 = polynomial(DEBYE_SLOPE_11, q)
    s10 = polynomial(DEBYE_SLOPE_10, q)
    s9 = polynomial(DEBYE_SLOPE_9, q)
    s8 = polynomial(DEBYE_SLOPE_8, q)
    s7 = polynomial(DEBYE_SLOPE_7, q)
    s6 = polynomial(DEBYE_SLOPE_6, q)
    s5 = polynomial(DEBYE_SLOPE_5, q)
    s4 = polynomial(DEBYE_SLOPE_4, q)
    s3 = polynomial(DEBYE_SLOPE_3, q)
    s2 = polynomial(DEBYE_SLOPE_2, q)
    s1 = polynomial(DEBYE_SLOPE_1, q)
    high = d7 + r * (d8 + r * (d9 + r * (d10 + r * d11)))
    total = 1.0 + r * (d1 + r * (d2 + r * (d3 + r * (d4 + r * (d5 + r * (d6 + r * high))))))
    high = s7 + r * (s8 + r * (s9 + r * (s10 + r * s11)))
    by_q = r * (s1 + r * (s2 + r * (s3 + r * (s4 + r * (s5 + r * (s6 + r * high))))))
    high = 7.0 * d7 + r * (8.0 * d8 + r * (9.0 * d9 + r * (10.0 * d10 + r * (11.0 * d11))))
    by_r = d1 + r * (2.0 * d2 + r * (3.0 * d3 + r * (4.0 * d4 + r * (5.0 * d5 + r * (6.0 * d6 + r * high)))))
    of_sum = v * r * r * (2.0 * (1.0 - q) * by_q - r * by_r) / total
    place = log1p((v + v * v / (s + x)) / x)
    return of_sum - 0.5 * v * r * r - place


@scalar
def hankel_slope(v: float, x: float) -> float:
    """The derivative by v of `hankel_sum`."""
    mu = 4.0 * v * v
    term = 1.0
    slope = 0.0
    total = 0.0
    for k in range(1, 60):
        n = float(2 * k - 1)
        below = 8.0 * float(k) * x
        slope = (slope * (n * n - mu) - term) / below
        term = term * (n * n - mu) / below
        total = total + slope
        if fabs(slope) < 1e-17 * fabs(total):
            break
    return 8.0 * v * total


@scalar
def i_slope(v: float, x: float) -> float:
    """The derivative of I_v(x) by v for v >= 0 and x > 0."""
    half = exp(0.5 * x)
    if x > 30.0 and x > 0.9 * v * v:
        return half * (hankel_slope(v, x) / sqrt(2.0 * PI * x)) * half
    if x * x + v * v > 900.0:
        return half * (i_scaled(v, x, x) * i_log_slope(v, x)) * half
    logarithm = log(0.5 * x)
    q = 0.25 * x * x
    term = 1.0
    total = 1.0
    slope = 0.0
    weighted = 0.0
    for k in range(1, 4000):
        n = float(k)
        slope = slope + 1.0 / (v + n)
        term = term * (q / (n * (v + n)))
        total = total + term
        weighted = weighted + term * slope
        if term * (1.0 + slope) < 1e-17 * total and n * (v + n) > q:
            break
    e, e_low = log_in_parts(0.5 * x, 0.0)
    e, e_low = times_parts(e, e_low, v, 0.0)
    g, g_low = two_sum(v, 1.0)
    g, g_low = log_gamma_parts(g, g_low)
    e, e_low = plus_parts(e, e_low, -g, -g_low)
    return exp_times(e, e_low, (logarithm - digamma_of(v + 1.0)) * total - weighted)


@scalar
def iv_by_order(v: float, x: float) -> float:
    """The derivative of `iv` by the order within 16 ulp of its larger term; NaN for x < 0.

    The series, term by term (DLMF 10.38.1), or the derivative of Debye's expansion; a negative order by DLMF 10.27.2.
    """
    if v != v or x != x or x <= 0.0 or v == inf or v == -inf:
        return 0.0 if x == 0.0 and v > 0.0 else nan
    if v >= 0.0:
        return i_slope(v, x)
    cosine = sine_of_turns(v + 0.5)
    slope = TWO_OVER_PI * sine_of_turns(v) * k_by_order(v, x, x)
    return -i_slope(-v, x) - 2.0 * cosine * kv(v, x) - slope
