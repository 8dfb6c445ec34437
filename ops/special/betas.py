"""The beta function and its logarithm; the incomplete beta function, its derivatives by the parameters, its inverse.

The series of DLMF 8.17.8 and the continued fraction of A. R. DiDonato and A. H. Morris, "Significant digit computation
of the incomplete beta function ratios", 1992; exponents in two parts (parts.py).
"""

from __future__ import annotations

import math

from .errors import ndtri
from .parts import (
    divided_parts,
    exp_parts,
    log1p_parts,
    log_gamma_parts,
    log_in_parts,
    plus_parts,
    stirling,
    stirling_parts,
    times_parts,
    two_sum,
)
from .scalars import digamma_of, exp, fabs, floor, gamma_of, inf, log, log1p, log_gamma, nan, scalar, sqrt

TWO_PI = 2 * math.pi


@scalar
def log_beta_parts(a: float, b: float) -> tuple[float, float]:
    """log(B(a, b)) for positive operands, in two parts.

    gamma(b) / gamma(a + b) of a large b as one quotient (DLMF 5.11.13's idea), which does not cancel.
    """
    small = a if a < b else b
    large = b if a < b else a
    if large < 15.0 or small > 0.4 * large:
        p, p_low = log_gamma_parts(a, 0.0)
        q, q_low = log_gamma_parts(b, 0.0)
        p, p_low = plus_parts(p, p_low, q, q_low)
        s, s_low = two_sum(a, b)
        q, q_low = log_gamma_parts(s, s_low)
        return plus_parts(p, p_low, -q, -q_low)
    p, p_low = log_gamma_parts(small, 0.0)
    q, q_low = log_in_parts(large, 0.0)
    q, q_low = times_parts(q, q_low, small, 0.0)
    p, p_low = plus_parts(p, p_low, -q, -q_low)
    r, r_low = divided_parts(small, 0.0, large, 0.0)
    q, q_low = log1p_parts(r, r_low)
    s, s_low = two_sum(small, large)
    q, q_low = times_parts(q, q_low, s - 0.5, s_low)
    p, p_low = plus_parts(p, p_low, -q, -q_low)
    p, p_low = plus_parts(p, p_low, small, 0.0)
    q, q_low = stirling_parts(large, 0.0)
    p, p_low = plus_parts(p, p_low, q, q_low)
    q, q_low = stirling_parts(s, s_low)
    return plus_parts(p, p_low, -q, -q_low)


@scalar
def betaln(a: float, b: float) -> float:
    """log(|B(a, b)|), within 4 ulp for positive operands but near its zeros; infinite at its poles."""
    if a != a or b != b:
        return nan
    if a == 0.0 or b == 0.0:
        return inf
    if a > 0.0 and b > 0.0 and a + b < inf and (a if a < b else b) > 1e-290:
        p, p_low = log_beta_parts(a, b)
        return p + p_low
    if a == inf or b == inf:
        return -inf if a > 0.0 and b > 0.0 else nan
    total = a + b
    if total <= 0.0 and total == floor(total) and (a != floor(a) or b != floor(b)):
        return -inf
    return log_gamma(a) + log_gamma(b) - log_gamma(total)


@scalar
def beta(a: float, b: float) -> float:
    """B(a, b) = gamma(a) gamma(b) / gamma(a + b), within 4 ulp for positive operands."""
    if a != a or b != b:
        return nan
    if a == 0.0 or b == 0.0:
        return inf
    if a > 0.0 and b > 0.0:
        if a == inf or b == inf:
            return 0.0
        small = a if a < b else b
        if small < 1e-290:
            return 1.0 / small
        p, p_low = log_beta_parts(a, b)
        return exp_parts(p, p_low)
    total = a + b
    if total <= 0.0 and total == floor(total) and (a != floor(a) or b != floor(b)):
        return 0.0
    if fabs(a) < 170.0 and fabs(b) < 170.0 and fabs(total) < 170.0:
        return gamma_of(a) * (gamma_of(b) / gamma_of(total))
    sign = 1.0
    sign = -sign if a < 0.0 and floor(a) - 2.0 * floor(0.5 * floor(a)) == 1.0 else sign
    sign = -sign if b < 0.0 and floor(b) - 2.0 * floor(0.5 * floor(b)) == 1.0 else sign
    sign = -sign if total < 0.0 and floor(total) - 2.0 * floor(0.5 * floor(total)) == 1.0 else sign
    return sign * exp(log_gamma(a) + log_gamma(b) - log_gamma(total))


@scalar
def beta_factor(a: float, b: float, x: float, y: float) -> float:
    """x**a (1 - x)**b / B(a, b); y is 1 - x rounded."""
    one, y_low = two_sum(-x, 1.0)
    y_low = 0.0 if x < 1e-16 else y_low
    x_low = 0.0
    if y < x:
        one, x_low = two_sum(-y, 1.0)
        x_low = x_low + (one - x)
        y_low = 0.0
    if a >= 15.0 and b >= 15.0:
        # x (a + b) / a = 1 + (b x - a y) / a, and y (a + b) / b = 1 - (b x - a y) / b
        p, p_low = times_parts(x, x_low, b, 0.0)
        q, q_low = times_parts(y, y_low, a, 0.0)
        d, d_low = plus_parts(p, p_low, -q, -q_low)
        if fabs(d) < 0.29 * a and fabs(d) < 0.29 * b:
            m, m_low = divided_parts(d, d_low, a, 0.0)
            p, p_low = log1p_parts(m, m_low)
            m, m_low = divided_parts(-d, -d_low, b, 0.0)
            q, q_low = log1p_parts(m, m_low)
        else:
            s, s_low = two_sum(a, b)
            m, m_low = log_in_parts(s, s_low)
            p, p_low = log_in_parts(x, x_low)
            p, p_low = plus_parts(p, p_low, m, m_low)
            q, q_low = log_in_parts(a, 0.0)
            p, p_low = plus_parts(p, p_low, -q, -q_low)
            q, q_low = log_in_parts(y, y_low)
            q, q_low = plus_parts(q, q_low, m, m_low)
            m, m_low = log_in_parts(b, 0.0)
            q, q_low = plus_parts(q, q_low, -m, -m_low)
        p, p_low = times_parts(p, p_low, a, 0.0)
        q, q_low = times_parts(q, q_low, b, 0.0)
        p, p_low = plus_parts(p, p_low, q, q_low)
        rest = stirling(a + b) - stirling(a) - stirling(b)
        return exp_parts(p, p_low) * exp(rest) * sqrt(a / TWO_PI * (b / (a + b)))
    p, p_low = log_in_parts(x, x_low)
    p, p_low = times_parts(p, p_low, a, 0.0)
    q, q_low = log_in_parts(y, y_low)
    q, q_low = times_parts(q, q_low, b, 0.0)
    p, p_low = plus_parts(p, p_low, q, q_low)
    q, q_low = log_beta_parts(a, b)
    p, p_low = plus_parts(p, p_low, -q, -q_low)
    return exp_parts(p, p_low)


@scalar
def beta_series(a: float, b: float, x: float) -> float:
    """I_x(a, b) B(a, b) x**-a (1 - x)**-b, a sum of positive terms (DLMF 8.17.8)."""
    term = 1.0
    total = 1.0
    for k in range(100000):
        n = float(k)
        term = term * (x * (a + b + n) / (a + 1.0 + n))
        total = total + term
        if term < 1e-17 * total:
            break
    return total / a


@scalar
def beta_fraction(a: float, b: float, x: float, y: float) -> float:
    """The same as `beta_series` by the continued fraction, for x below the mean a / (a + b) or little above."""
    mean_part = a - (a + b) * x if a <= b else (a + b) * y - b
    f = a / (a + 1.0) * (mean_part + 1.0)
    c = 1e300
    d = 1.0 / f
    h = d
    for k in range(1, 10000):
        n = float(k)
        w = a + 2.0 * n - 1.0
        t = (a + n - 1.0) / w * ((a + b + n - 1.0) / w) * n * (b - n) * x * x
        f = n + n * (b - n) * x / w + (a + n) / (w + 2.0) * (mean_part + 1.0 + n * (1.0 + y))
        d = 1.0 / (f + t * d)
        c = f + t / c
        step = c * d
        h = h * step
        if fabs(step - 1.0) < 1.2e-16:
            break
    return h


@scalar
def incomplete_beta(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    """(I_x(a, b), 1 - I_x(a, b)) for positive a, b and 0 < x < 1, y = 1 - x: the smaller one is accurate."""
    swapped = x * (a + b) > a if a + b > 2.0 else x > 0.5
    p = b if swapped else a
    q = a if swapped else b
    u = y if swapped else x
    v = x if swapped else y
    factor = beta_factor(p, q, u, v)
    got = 0.0
    if q <= 1.0 or u * (p + q) < 0.5 * (p + 1.0) or (u < 0.02 * v and p < 40.0):
        got = factor * beta_series(p, q, u)
    else:
        got = factor * beta_fraction(p, q, u, v)
    got = 1.0 if got > 1.0 else got
    if swapped:
        return 1.0 - got, got
    return got, 1.0 - got


@scalar
def betainc(a: float, b: float, x: float) -> float:
    """The incomplete beta function, regularized; NaN outside of a, b >= 0 and 0 <= x <= 1.

    Within 8 ulp of the smaller one of it and 1 less it, for a, b <= 1e5; within 32 in the worst cases found.
    """
    if a != a or b != b or x != x or a < 0.0 or b < 0.0 or x < 0.0 or x > 1.0:
        return nan
    if (a == 0.0 and b == 0.0) or (a == inf and b == inf):
        return nan
    if (x == 0.0 and a > 0.0) or (b == 0.0 and x < 1.0) or (a == inf and x < 1.0):
        return 0.0
    if x == 1.0 or a == 0.0 or b == inf:
        return 1.0 if x > 0.0 else 0.0
    p, _q = incomplete_beta(a, b, x, 1.0 - x)
    return p


@scalar
def betaincc(a: float, b: float, x: float) -> float:
    """1 - betainc(a, b, x), without cancellation above the mean."""
    if a != a or b != b or x != x or a < 0.0 or b < 0.0 or x < 0.0 or x > 1.0:
        return nan
    if (a == 0.0 and b == 0.0) or (a == inf and b == inf):
        return nan
    if (x == 0.0 and a > 0.0) or (b == 0.0 and x < 1.0) or (a == inf and x < 1.0):
        return 1.0
    if x == 1.0 or a == 0.0 or b == inf:
        return 0.0 if x > 0.0 else 1.0
    _p, q = incomplete_beta(a, b, x, 1.0 - x)
    return q


@scalar
def beta_slopes(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    """The derivatives of I_x(a, b) by a and b, for x below the mean: the series, term by term."""
    term = 1.0
    total = 1.0
    by_a = 0.0
    by_b = 0.0
    slope_a = 0.0
    slope_b = 0.0
    for k in range(200000):
        n = float(k)
        slope_b = slope_b + 1.0 / (a + b + n)
        slope_a = slope_a + (1.0 - b) / ((a + b + n) * (a + 1.0 + n))
        term = term * (x * (a + b + n) / (a + 1.0 + n))
        total = total + term
        by_a = by_a + term * slope_a
        by_b = by_b + term * slope_b
        if term * (1.0 + slope_b) < 1e-17 * total:
            break
    factor = beta_factor(a, b, x, y) / a
    joint = digamma_of(a + b)
    log_x = log(x) if x < 0.5 else log1p(-y)
    log_y = log(y) if y < 0.5 else log1p(-x)
    return (
        factor * ((log_x - digamma_of(a + 1.0) + joint) * total + by_a),
        factor * ((log_y - digamma_of(b) + joint) * total + by_b),
    )


@scalar
def betainc_by_a(a: float, b: float, x: float) -> float:
    """The derivative of `betainc` by a, within 1e-12 of its larger term."""
    if not (a > 0.0 and b > 0.0 and x >= 0.0 and x <= 1.0) or a == inf or b == inf:
        return nan
    if x == 0.0 or x == 1.0:
        return 0.0
    if x * (a + b) > a:
        _by_b, by_a = beta_slopes(b, a, 1.0 - x, x)
        return -by_a
    by_a, _by_b = beta_slopes(a, b, x, 1.0 - x)
    return by_a


@scalar
def betainc_by_b(a: float, b: float, x: float) -> float:
    """The derivative of `betainc` by b, within 1e-12 of its larger term."""
    if not (a > 0.0 and b > 0.0 and x >= 0.0 and x <= 1.0) or a == inf or b == inf:
        return nan
    if x == 0.0 or x == 1.0:
        return 0.0
    if x * (a + b) > a:
        by_b, _by_a = beta_slopes(b, a, 1.0 - x, x)
        return -by_b
    _by_a, by_b = beta_slopes(a, b, x, 1.0 - x)
    return by_b


@scalar
def beta_quantile(a: float, b: float, p: float, q: float) -> float:
    """x with I_x(a, b) = p = 1 - q, for p at most about a half: at most 80 steps, kept between bounds.

    Newton's steps in the logarithms of x and of the function.  The start is by formula 26.5.22 of Abramowitz and
    Stegun, or by the first term of the series.
    """
    x = 0.0
    if a > 1.0 and b > 1.0:
        z = -ndtri(p)
        r = 1.0 / (2.0 * a - 1.0)
        s = 1.0 / (2.0 * b - 1.0)
        h = 2.0 / (r + s)
        t = (z * z - 3.0) / 6.0
        w = z * sqrt(h + t if h + t > 0.0 else 0.0) / h - (s - r) * (t + 5.0 / 6.0 - 2.0 / (3.0 * h))
        x = a / (a + b * exp(2.0 * w)) if w < 300.0 else 0.0
    if not (x > 0.0 and x < 1.0):
        e, _e_low = log_beta_parts(a, b)
        x = exp((log(p) + log(a) + e) / a)
        x = x if x < 0.9 else 0.5
    if x < 1e-290:
        return x
    low = 0.0
    high = 1.0
    for _ in range(80):
        got_p, got_q = incomplete_beta(a, b, x, 1.0 - x)
        if got_p > p:
            high = x
        else:
            low = x
        density = beta_factor(a, b, x, 1.0 - x) / (1.0 - x)
        # density is x times the derivative; Newton for log(I) in log(x)
        better = 0.5 * (low + high)
        if got_p > 0.0 and density > 0.0:
            ratio = got_p / p
            difference = (got_p - p) / p if p <= q else (q - got_q) / p
            step = got_p / density * (log(ratio) if ratio < 0.5 or ratio > 2.0 else log1p(difference))
            step = 2.0 if step > 2.0 else -2.0 if step < -2.0 else step
            better = x - x * step if fabs(step) < 1e-3 else x * exp(-step)
        if fabs(better - x) <= 4e-16 * x:
            return better
        if not (better > low and better < high):
            better = sqrt(low * high) if low > 0.0 and high > 4.0 * low else 0.5 * (low + high)
        moved = fabs(better - x)
        x = better
        if moved <= 2e-16 * x or high - low <= 2.3e-16 * x:
            break
    return x


@scalar
def betaincinv(a: float, b: float, p: float) -> float:
    """The inverse of `betainc` by x, in at most 80 steps; as accurate as p lets it be, and within 8 ulp of that."""
    if a != a or b != b or p != p or a <= 0.0 or b <= 0.0 or p < 0.0 or p > 1.0 or a == inf or b == inf:
        return nan
    if p == 0.0 or p == 1.0:
        return p
    half = incomplete_beta_at_mean(a, b)
    if p <= half:
        return beta_quantile(a, b, p, 1.0 - p)
    return 1.0 - beta_quantile(b, a, 1.0 - p, p)


@scalar
def betainccinv(a: float, b: float, q: float) -> float:
    """The inverse of `betaincc` by x."""
    if a != a or b != b or q != q or a <= 0.0 or b <= 0.0 or q < 0.0 or q > 1.0 or a == inf or b == inf:
        return nan
    if q == 0.0 or q == 1.0:
        return 1.0 - q
    half = incomplete_beta_at_mean(a, b)
    if 1.0 - q <= half:
        return beta_quantile(a, b, 1.0 - q, q)
    return 1.0 - beta_quantile(b, a, q, 1.0 - q)


@scalar
def incomplete_beta_at_mean(a: float, b: float) -> float:
    """I_x(a, b) at the mean, or at 1/2 where it is nearer to it: the border between both sides of the inverse."""
    x = a / (a + b)
    x = 0.5 if a + b <= 2.0 else x
    p, _q = incomplete_beta(a, b, x, 1.0 - x)
    return p
