"""Modified Bessel functions of real orders: by series, an integral, and expansions.

DLMF chapter 10: the power series (10.25.2), Hankel's and Debye's expansions (10.40.1, 10.41.3), and for K the integral
10.32.9, moved to the top of its integrand, by the trapezoidal rule, which converges like exp(-pi**2 / step).
"""

from __future__ import annotations

import math

from .parts import (
    divided_parts,
    exp_times,
    log1p_parts,
    log_gamma_parts,
    log_in_parts,
    plus_parts,
    times_parts,
    two_product,
    two_sum,
)
from .scalars import (
    cosh,
    exp,
    fabs,
    floor,
    fma,
    gamma_of,
    inf,
    log,
    nan,
    polynomial,
    power,
    rint,
    scalar,
    sin,
    sinh,
    sqrt,
)
from .second_kind import HALF_PI, k_scaled_pair, k_upwards

PI = math.pi
TWO_OVER_PI = 2 / math.pi
DEBYE_1 = (
    0.125, -0.20833333333333334,
)  # fmt: skip
DEBYE_2 = (
    0.0703125, -0.4010416666666667, 0.3342013888888889,
)  # fmt: skip
DEBYE_3 = (
    0.0732421875, -0.8912109375, 1.8464626736111112, -1.0258125964506173,
)  # fmt: skip
DEBYE_4 = (
    0.112152099609375, -2.3640869140625, 8.78912353515625, -11.207002616222994, 4.669584423426247,
)  # fmt: skip
DEBYE_5 = (
    0.22710800170898438, -7.368794359479632, 42.53499874538846, -91.81824154324002, 84.63621767460073,
    -28.212072558200244,
)  # fmt: skip
DEBYE_6 = (
    0.5725014209747314, -26.491430486951554, 218.1905117442116, -699.5796273761325, 1059.9904525279999,
    -765.2524681411817, 212.57013003921713,
)  # fmt: skip
DEBYE_7 = (
    1.7277275025844574, -108.09091978839466, 1200.9029132163525, -5305.646978613403, 11655.393336864534,
    -13586.550006434138, 8061.722181737309, -1919.457662318407,
)  # fmt: skip
DEBYE_8 = (
    6.074042001273483, -493.915304773088, 7109.514302489364, -41192.65496889755, 122200.46498301746,
    -203400.17728041555, 192547.00123253153, -96980.59838863752, 20204.29133096615,
)  # fmt: skip
DEBYE_9 = (
    24.380529699556064, -2499.8304818112097, 45218.76898136273, -331645.1724845636, 1268365.2733216248,
    -2813563.226586534, 3763271.297656404, -2998015.9185381066, 1311763.6146629772, -242919.18790055133,
)  # fmt: skip
DEBYE_10 = (
    110.01714026924674, -13886.08975371704, 308186.4046126624, -2785618.1280864547, 13288767.166421818,
    -37567176.66076335, 66344512.27472903, -74105148.21153265, 50952602.49266464, -19706819.118432228,
    3284469.853072038,
)  # fmt: skip
DEBYE_11 = (
    551.3358961220206, -84005.43360302408, 2243768.1779224495, -24474062.72573873, 142062907.7975331,
    -495889784.2750303, 1106842816.8230145, -1621080552.1083372, 1553596899.57058, -939462359.6815784,
    325573074.18576574, -49329253.66450996,
)  # fmt: skip


@scalar
def top_of_integral(v: float, x: float) -> tuple[float, float]:
    """v asinh(v / x) - (hypot(v, x) - x) in two parts: the greatest exponent of the integral for K, with exp(x)."""
    a, a_low = two_product(v, v)
    b, b_low = two_product(x, x)
    s, s_low = plus_parts(a, a_low, b, b_low)
    root = sqrt(s)
    root_low = (fma(-root, root, s) + s_low) / (2.0 * root)
    # hypot - x = v**2 / (hypot + x), log((v + hypot) / x) = log1p((v + hypot - x) / x)
    d, d_low = plus_parts(root, root_low, x, 0.0)
    d, d_low = divided_parts(a, a_low, d, d_low)
    e, e_low = plus_parts(v, 0.0, d, d_low)
    q, q_low = divided_parts(e, e_low, x, 0.0)
    if q < 0.4:
        e, e_low = log1p_parts(q, q_low)
    else:
        e, e_low = plus_parts(q, q_low, 1.0, 0.0)
        e, e_low = log_in_parts(e, e_low)
    e, e_low = times_parts(e, e_low, v, 0.0)
    return plus_parts(e, e_low, -d, -d_low)


@scalar
def integral_of_k(v: float, x: float, moment: int) -> float:
    """The integral of exp(-(r (cosh(s) - 1) + v (sinh(s) - s))) s**moment over all s, r = hypot(v, x)."""
    r = sqrt(v * v + x * x)
    step = 0.24 / sqrt(1.0 + r / 6.0)
    total = 0.0 if moment else 1.0
    low = 0.0
    for side in range(2):
        sign = 1.0 if side == 0 else -1.0
        for k in range(1, 4000):
            s = sign * step * float(k)
            # both differences without cancellation
            half = sinh(0.5 * s)
            sine = 2.0 * half * sqrt(1.0 + half * half)
            rest = sine - s if fabs(s) > 0.5 else small_sinh(s)
            e = r * (2.0 * half * half) + v * rest
            value = exp(-e) * (s if moment else 1.0)
            total, error = two_sum(total, value)
            low = low + error
            if e > 40.0:
                break
    return step * (total + low)


@scalar
def small_sinh(s: float) -> float:
    """sinh(s) - s for |s| <= 1/2."""
    q = s * s
    series = polynomial(SINH_SERIES, q)
    return s * q * series


SINH_SERIES = (
    0.16666666666666666, 0.008333333333333333, 0.0001984126984126984, 2.7557319223985893e-06, 2.505210838544172e-08,
    1.6059043836821613e-10, 7.647163731819816e-13,
)  # fmt: skip


@scalar
def gamma_differences(m: float) -> tuple[float, float]:
    """(g1, g2) of Temme: (1 / gamma(1 - m) - 1 / gamma(1 + m)) / (2 m) and half the sum of both, |m| <= 1/2."""
    q = m * m
    g1 = polynomial(TEMME_ODD, q)
    g2 = polynomial(TEMME_EVEN, q)
    return -g1, g2


TEMME_ODD = (
    0.5772156649015329, -0.042002635034095515, -0.04219773455552084, 0.007218943245911072, -0.00021524166229467653,
    -2.01349556850396e-05, 1.1335045480626792e-06, 4.939580133523849e-09,
)  # fmt: skip
TEMME_EVEN = (
    1.0, -0.6558780715202527, 0.16653861138218928, -0.009621971524607897, -0.0011651676431973738,
    0.00012805072001014693, -1.2525583573659133e-06, -2.0057089361510917e-07,
)  # fmt: skip


SHAPE_SERIES = (
    0.16666666666666666, 0.008333333333333333, 0.0001984126984126984, 2.7557319223985893e-06, 2.505210838544172e-08,
    1.6059043836821613e-10, 7.647163731819816e-13, 2.8114572543455206e-15,
)  # fmt: skip


@scalar
def k_pair_of_small(m: float, x: float) -> tuple[float, float]:
    """(K_m(x), K_(m + 1)(x)) for |m| <= 1/2 and x <= 2, by N. M. Temme's series (1975)."""
    g1, g2 = gamma_differences(m)
    plus = g2 - m * g1
    minus = g2 + m * g1
    factor = 1.0 if fabs(m) < 1e-8 else PI * m / sin(PI * m)
    d = -log(0.5 * x)
    e = m * d
    e_square = e * e
    series = polynomial(SHAPE_SERIES, e_square)
    shape = e_square * series if e_square < 1.0 else sinh(e) / e - 1.0  # sinh(e) / e - 1
    f = factor * (d + (g1 * cosh(e) + d * ((g2 - 1.0) * (1.0 + shape) + shape)))
    total = f
    grown = exp(e)
    p = 0.5 * grown / plus
    q = 0.5 / (grown * minus)
    c = 1.0
    square = 0.25 * x * x
    rest = 0.0
    for k in range(1, 100):
        n = float(k)
        f = (n * f + p + q) / (n * n - m * m)
        c = c * (square / n)
        p = p / (n - m)
        q = q / (n + m)
        step = c * f
        total = total + step
        rest = rest + c * (p - n * f)
        if fabs(step) < 1e-17 * fabs(total):
            break
    return total, 0.5 * power(0.5 * x, -1.0 - m) / plus + rest / (0.5 * x)


@scalar
def k_series(v: float, x: float, factor: float) -> float:
    """factor K_v(x) for v > 10 and x <= 1/2: the sum of DLMF 10.31.1 up to the term with a pole at k = v."""
    q = 0.25 * x * x
    term = 1.0
    total = 1.0
    for k in range(1, 10):
        n = float(k)
        term = term * (q / (n * (n - v)))
        total = total + term
    if x < 1e-300:
        return inf
    e, e_low = log_in_parts(0.5 * x, 0.0)
    e, e_low = times_parts(e, e_low, v, 0.0)
    g, g_low = log_gamma_parts(v, 0.0)
    e, e_low = plus_parts(g, g_low, -e, -e_low)
    return exp_times(e, e_low, 0.5 * factor * total)


@scalar
def k_of_small(v: float, x: float) -> float:
    """K_v(x) for v <= 10 and x <= 1/2: from orders about 0 by the recurrence (DLMF 10.29.1)."""
    a, b = k_pair_of_small(v - floor(v + 0.5), x)
    return k_upwards(v, x, a, b)


@scalar
def k_times(v: float, x: float, shift: float, factor: float) -> float:
    """factor K_v(x) exp(x - shift) for v >= 0 and x > 0, where K_v(x) may overflow and the product does not."""
    if x <= 0.5:
        k = k_series(v, x, factor) if v > 10.0 else factor * k_of_small(v, x)
        return k * exp(x - shift)
    r = sqrt(v * v + x * x)
    if v > 12.0 and r > 45.0:
        e, e_low = top_of_integral(v, x)
        e, e_low = plus_parts(e, e_low, -shift, 0.0)
        return exp_times(e, e_low, factor * sqrt(HALF_PI / r) * debye_sum(v / r, -r))
    a, b = k_scaled_pair(v - floor(v + 0.5), x)
    k = factor * k_upwards(v, x, a, b)
    if shift < 700.0:
        return k * exp(-shift)
    half = exp(-0.5 * shift)
    return half * k * half


@scalar
def kve(v: float, x: float) -> float:
    """exp(x) times the modified Bessel function of the second kind and real order v, within 8 ulp; NaN for x < 0."""
    if v != v or x != x or x < 0.0 or (fabs(v) == inf and x > 0.0):
        return nan
    return inf if x == 0.0 else 0.0 if x == inf else k_times(fabs(v), x, 0.0, 1.0)


@scalar
def kv(v: float, x: float) -> float:
    """The modified Bessel function of the second kind and real order v, within 8 ulp; NaN for x < 0."""
    if v != v or x != x or x < 0.0 or (fabs(v) == inf and x > 0.0):
        return nan
    return inf if x == 0.0 else 0.0 if x == inf else k_times(fabs(v), x, x, 1.0)


# --- I of a real order


@scalar
def i_series_sum(v: float, x: float) -> float:
    """The sum of (x**2 / 4)**k / (k! (v + 1)_k), of positive terms for v >= 0, times exp(-x) of a large x."""
    q, q_low = two_product(0.5 * x, 0.5 * x)
    term = exp(-x) if x > 500.0 else 1.0
    term_low = 0.0
    total = term
    total_low = 0.0
    for k in range(1, 4000):
        n = float(k)
        # factor q / (n (v + n)), and the rest of it
        d, d_low = two_sum(v, n)
        d, d_low = times_parts(d, d_low, n, 0.0)
        inverse = 1.0 / d
        f = q * inverse
        f_low = (fma(-f, d, q) + (q_low - f * d_low)) * inverse
        product = term * f
        term_low = fma(term, f, -product) + (term * f_low + term_low * f)
        term = product
        total, error = two_sum(total, term)
        total_low = total_low + (error + term_low)
        if term < 1e-17 * total and n * (v + n) > q:
            break
    return total + total_low


@scalar
def debye_sum(p: float, s: float) -> float:
    """The sum of U_k(p) v**-k, k = 0 ... 11 (DLMF 10.41.9), s = v / p."""
    q = p * p
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
    r = 1.0 / s
    high = d6 + r * (d7 + r * (d8 + r * (d9 + r * (d10 + r * d11))))
    return 1.0 + r * (d1 + r * (d2 + r * (d3 + r * (d4 + r * (d5 + r * high)))))


@scalar
def hankel_sum(v: float, x: float) -> float:
    """The sum of (-1)**k a_k(v) x**-k (DLMF 10.40.1)."""
    mu = 4.0 * v * v
    term = 1.0
    total = 1.0
    for k in range(1, 60):
        n = float(2 * k - 1)
        better = term * (n * n - mu) / (8.0 * float(k) * x)
        if fabs(better) > fabs(term) and n * n > mu:
            break
        term = better
        total = total + term
        if fabs(term) < 1e-17 * fabs(total):
            break
    return total


@scalar
def i_scaled(v: float, x: float, shift: float) -> float:
    """I_v(x) exp(-shift) for v >= 0, x > 0, shift either 0 or x."""
    if x > 30.0 and x > 0.9 * v * v:
        e = x - shift
        half = exp(0.5 * e)
        return half * (hankel_sum(v, x) / sqrt(2.0 * PI * x)) * half
    if v > 1e100:  # squares overflow; the exponent is 0 at x = 0.66 v
        return inf if shift == 0.0 and x > 0.6627434193491816 * v else 0.0
    s = sqrt(v * v + x * x)
    if s > 45.0:
        e, e_low = top_of_integral(v, x)
        e, e_low = plus_parts(-e, -e_low, x - shift, 0.0)
        sum_ = debye_sum(v / s, s) / sqrt(2.0 * PI * s)
        return exp_times(e, e_low, sum_)
    if x < 1e-300:
        return 1.0 if v == 0.0 else power(0.5 * x, v) / gamma_of(v + 1.0)
    if v < 1.5 and x > 1e-30:
        return power(0.5 * x, v) / gamma_of(v + 1.0) * (i_series_sum(v, x) * exp(-shift))
    e, e_low = log_in_parts(0.5 * x, 0.0)
    e, e_low = times_parts(e, e_low, v, 0.0)
    if v > 0.0:
        g, g_low = log_gamma_parts(v, 0.0)
        e, e_low = plus_parts(e, e_low, -g, -g_low)
    moved = 0.0 if x <= 500.0 else x
    e, e_low = plus_parts(e, e_low, moved - shift, 0.0)
    total = i_series_sum(v, x)
    total = total / v if v > 0.0 else total
    return exp_times(e, e_low, total)


@scalar
def i_of_order(v: float, x: float, shift: float) -> float:
    """I_v(x) exp(-shift) for every v and x > 0: a negative order by DLMF 10.27.2."""
    if v >= 0.0:
        return i_scaled(v, x, shift)
    if v == floor(v):
        return i_scaled(-v, x, shift)
    return i_scaled(-v, x, shift) - k_times(-v, x, x + shift, TWO_OVER_PI * sine_of_turns(v))


@scalar
def sine_of_turns(v: float) -> float:
    """sin(pi v)."""
    nearest = rint(v)
    sine = sin(PI * (v - nearest))
    return -sine if nearest - 2.0 * floor(0.5 * nearest) == 1.0 else sine


@scalar
def iv(v: float, x: float) -> float:
    """The modified Bessel function of the first kind and real order v; NaN for x < 0 unless v is an integer.

    Within 8 ulp for v >= 0.
    """
    return i_any(v, x, 0)


@scalar
def ive(v: float, x: float) -> float:
    """exp(-|x|) times the modified Bessel function of the first kind and real order v, as exact as `iv`."""
    return i_any(v, x, 1)


@scalar
def i_any(v: float, x: float, is_scaled: int) -> float:
    """I_v(x), or that times exp(-|x|), with the special values."""
    if v != v or x != x or (x < 0.0 and v != floor(v)):
        return nan
    a = fabs(x)
    if fabs(v) == inf:
        return 0.0 if a < inf and not is_scaled else nan
    if a == 0.0:
        if v == 0.0:
            return 1.0
        return 0.0 if v > 0.0 or v == floor(v) else inf if floor(-0.5 * v) == floor(-0.5 * v) else nan
    if a == inf:
        return 0.0 if is_scaled else nan
    size = i_of_order(v, a, a if is_scaled else 0.0)
    odd = v == floor(v) and v - 2.0 * floor(0.5 * v) == 1.0
    return -size if x < 0.0 and odd else size
