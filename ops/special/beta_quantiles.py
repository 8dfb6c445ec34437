"""The inverse of the incomplete beta function: Halley's steps from an estimate, kept between bounds."""

from __future__ import annotations

from .betas import beta_factor_of, incomplete_beta_of
from .complete_betas import betaln, log_beta_parts
from .errors import ndtri
from .parts import LOG_GAMMA_START, divided_parts, log_in_parts, plus_parts, times_parts, two_sum
from .ratios import beta_by_powers, beta_of_moderate
from .scalars import exp, expm1, fabs, inf, log, log1p, nan, scalar, sqrt


@scalar
def rough_beta_quantile(a: float, b: float, p: float, q: float) -> float:
    """x with I_x(a, b) about p = 1 - q, for a, b > 1: formula 26.5.22 of Abramowitz and Stegun."""
    z = -ndtri(p) if p <= q else ndtri(q)
    r = 1.0 / (2.0 * a - 1.0)
    s = 1.0 / (2.0 * b - 1.0)
    h = 2.0 / (r + s)
    t = (z * z - 3.0) / 6.0
    w = z * sqrt(h + t if h + t > 0.0 else 0.0) / h - (s - r) * (t + 5.0 / 6.0 - 2.0 / (3.0 * h))
    return a / (a + b * exp(2.0 * w)) if w < 300.0 else 0.0


@scalar
def beta_quantile(
    a: float, b: float, p: float, p_low: float, q: float, start: float, whole: float, whole_low: float
) -> float:
    """x with I_x(a, b) = p + p_low = 1 - q, for x up to about a half: at most 80 steps, kept between bounds.

    Halley's steps in the logarithms of x and of the smaller one of p and q, from `start`.  `small_beta_quantile`
    squares the error of its start, so that q may cancel before it.  `whole`: 0, or B(a, b).
    """
    lower = p <= q
    small = p if lower else q
    x = start
    if x < 1e-290:
        return x
    low = 0.0
    high = 1.0
    for _ in range(80):
        factor = beta_factor_of(a, b, x, 1.0 - x, whole, whole_low)
        quick = lower or (a < 0.7 and b * x < 0.7 and p > 1e-300 and q > 1e-5)
        got_p, got_q = incomplete_beta_of(a, b, x, 1.0 - x, factor, 1e-18 if quick else 0.0, whole, whole_low)
        got = got_p if lower else got_q
        above = got > small if lower else got < small
        if above:
            high = x
        else:
            low = x
        density = factor / (1.0 - x)
        # density is x times the derivative
        better = 0.5 * (low + high)
        bend = 1.0
        if got > 0.0 and density > 0.0:
            ratio = got / small
            step = got / density * (log(ratio) if ratio < 0.5 or ratio > 2.0 else log1p((got - small) / small))
            step = step if lower else -step
            bend = 0.5 * step * (a - (b - 1.0) * x / (1.0 - x) + (-density / got if lower else density / got))
            step = step / (1.0 - (0.5 if bend > 0.5 else -0.5 if bend < -0.5 else bend))
            step = 2.0 if step > 2.0 else -2.0 if step < -2.0 else step
            better = x + x * expm1(-step)
        if fabs(better - x) <= 4e-16 * x:
            x = better
            break
        if not (better > low and better < high):
            better = sqrt(low * high) if low > 0.0 and high > 4.0 * low else 0.5 * (low + high)
        moved = fabs(better - x)
        x = better
        if moved <= 2e-16 * x or high - low <= 2.3e-16 * x or (moved < 1e-5 * x and moved * (bend * bend) < 3e-18 * x):
            break
        if a < 0.7 and b * x < 0.7 and p > 1e-300 and moved < 1e-3 * x:
            break
    return small_beta_quantile(a, b, p, p_low, x) if a < 0.7 and b * x < 0.7 else x


@scalar
def small_beta_quantile(a: float, b: float, p: float, p_low: float, x: float) -> float:
    """One of Newton's steps for log(I_x(a, b)) from x by its series, with a sum in two parts for log(x)."""
    if p * a < 1e-300 or x < 1e-300:
        return x
    g, g_low = times_parts(p, p_low, a, 0.0)
    if a > 0.3 and b < LOG_GAMMA_START:  # 2**-53 of the beta function become at most 4 ulp of x
        e, e_low = beta_of_moderate(a, b)
        g, g_low = times_parts(g, g_low, e, e_low)
        e, e_low = log_in_parts(g, g_low)
    else:
        e, e_low = log_in_parts(g, g_low)
        g, g_low = log_beta_parts(a, b)
        e, e_low = plus_parts(e, e_low, g, g_low)
    term = a
    rest = 0.0
    for k in range(1, 100):
        n = float(k)
        term = term * ((n - b) * x / n)
        rest = rest + term / (a + n)
        if fabs(term) < 1e-18 * a:
            break
    e, e_low = plus_parts(e, e_low, -log1p(rest), 0.0)
    e, e_low = divided_parts(e, e_low, a, 0.0)
    g, g_low = log_in_parts(x, 0.0)
    e, e_low = plus_parts(e, e_low, -g, -g_low)
    return x + x * expm1(e * (1.0 + rest) * exp((1.0 - b) * log1p(-x)))


@scalar
def start_of_series(a: float, b: float, p: float, log_beta: float) -> float:
    """x with I_x(a, b) about p, of the first two terms of the series in x; `log_beta` is log(B(a, b))."""
    x = exp((log(p) + (log(a) + log_beta)) / a)
    second = (1.0 - b) / (1.0 + a) * x
    return x / (1.0 + second) if second > -0.5 else x


@scalar
def within(x: float) -> float:
    """The start x, or 0.5 if it is above 0.9."""
    return x if x < 0.9 else 0.5


@scalar
def beta_inverse(a: float, b: float, p: float, p_low: float, q: float, q_low: float) -> float:
    """x with I_x(a, b) = p + p_low = 1 - q - q_low: from the nearer one of 0 and 1."""
    whole = 0.0
    whole_low = 0.0
    least = a if a < b else b
    if a < LOG_GAMMA_START and b < LOG_GAMMA_START and least > 1e-290:
        whole, whole_low = beta_of_moderate(a, b)
    elif least <= 1.0:
        whole = beta_by_powers(least, b if a < b else a)
    x = rough_beta_quantile(a, b, p, q) if a > 1.0 and b > 1.0 else 0.0
    if x > 0.0 and x < 1.0 and p > 1e-3 and q > 1e-3:  # the estimate itself says which end is nearer
        if x <= 0.5:
            return beta_quantile(a, b, p, p_low, q, x, whole, whole_low)
        return 1.0 - beta_quantile(b, a, q, q_low, p, 1.0 - x, whole, whole_low)
    log_beta = log(whole) if whole > 0.0 else betaln(a, b)
    y = 1.0 - x if x < 1.0 else 0.0
    upper = 0.0
    if a > 1.0 and b > 1.0:
        half, _rest = incomplete_beta_of(a, b, 0.5, 0.5, 0.0, 1e-4, whole, whole_low)
        upper = p > half
        x = x if y > 0.0 and x > 0.0 else start_of_series(a, b, p, log_beta)
        y = y if y > 0.0 and y < 1.0 else start_of_series(b, a, q, log_beta)
    elif b <= 1.0:  # terms are positive, so the first is above x, at x = 1/2 at most twice as large
        x = start_of_series(a, b, p, log_beta)
        upper = not (x <= 0.6)
        y = start_of_series(b, a, q, log_beta) if upper else 0.0
    else:
        y = start_of_series(b, a, q, log_beta)
        upper = y < 0.5
        x = 0.0 if upper else start_of_series(a, b, p, log_beta)
    if upper:
        return 1.0 - beta_quantile(b, a, q, q_low, p, within(y), whole, whole_low)
    return beta_quantile(a, b, p, p_low, q, within(x), whole, whole_low)


@scalar
def betaincinv(a: float, b: float, p: float) -> float:
    """The inverse of `betainc` by x, in at most 80 steps; within 8 ulp of the one of p."""
    if a != a or b != b or p != p or a <= 0.0 or b <= 0.0 or p < 0.0 or p > 1.0:
        return nan
    if p == 0.0 or p == 1.0:
        return p
    if a == inf or b == inf:
        return 1.0 if b == 1.0 else 0.0 if a == 1.0 else nan
    q, q_low = two_sum(1.0, -p)
    return beta_inverse(a, b, p, 0.0, q, q_low)


@scalar
def betainccinv(a: float, b: float, q: float) -> float:
    """The inverse of `betaincc` by x, as exact."""
    if a != a or b != b or q != q or a <= 0.0 or b <= 0.0 or q < 0.0 or q > 1.0:
        return nan
    if q == 0.0 or q == 1.0:
        return 1.0 - q
    if a == inf or b == inf:
        return 1.0 if b == 1.0 else 0.0 if a == 1.0 else nan
    p, p_low = two_sum(1.0, -q)
    return beta_inverse(a, b, p, p_low, q, 0.0)
