"""The beta function and its logarithm: quotients of gamma functions in two parts, and reflections below 0."""

from __future__ import annotations

import math

from .parts import (
    LOG_GAMMA_START,
    TWELFTH,
    divided_parts,
    exp_parts,
    exp_times,
    log1p_parts,
    log_gamma_parts,
    log_in_parts,
    plus_parts,
    stirling_parts,
    times_parts,
    two_sum,
)
from .ratios import beta_by_powers, beta_of_moderate, short_log_beta
from .scalars import fabs, floor, gamma_of, inf, log, log1p, nan, rint, scalar, sin

PI = math.pi


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
def log_beta_of_positive(a: float, b: float) -> float:
    """log(B(a, b)) for positive operands."""
    small = a if a < b else b
    large = b if a < b else a
    if large == inf:
        return -inf
    if small < 1e-290:
        return log1p(small / large) - log(small)
    if small == 1.0 or large == 1.0:
        return -log(large if small == 1.0 else small)
    quick = short_log_beta(small, large)
    if quick != 0.0:
        return quick
    p, p_low = log_beta_parts(a, b)
    return p + p_low


@scalar
def beta_of_positive(a: float, b: float) -> float:
    """B(a, b) for positive operands."""
    if a == inf or b == inf:
        return 0.0
    small = a if a < b else b
    if small < 1e-290:
        return 1.0 / a + 1.0 / b
    if a < LOG_GAMMA_START and b < LOG_GAMMA_START:
        p, p_low = beta_of_moderate(a, b)
        return p + p_low
    quick = beta_by_powers(small, b if a < b else a)
    if quick > 0.0:
        return quick
    p, p_low = log_beta_parts(a, b)
    return exp_parts(p, p_low)


@scalar
def is_pole(a: float) -> bool:
    """Whether a is an integer below 0, or -inf."""
    return a < 0.0 and a == floor(a)


@scalar
def beta_at_pole(a: float, b: float) -> float:
    """The finite limit of B(a, b) or an infinity, as SciPy's, where an operand is an integer below 0."""
    n = a if is_pole(a) else b
    m = b if is_pole(a) else a
    sign = 1.0 if m != floor(m) or 2.0 * floor(0.5 * m) == m else -1.0
    if m == floor(m) and m > 0.0 and n > -inf and 1.0 - n - m > 0.0:
        return sign * beta_of_positive(1.0 - n - m, m)
    return sign * inf if m > -inf and n > -inf and m < 0.0 else inf


@scalar
def sine_of_parts(v: float, low: float) -> float:
    """sin(pi (v + low)), accurate near its zeros."""
    nearest = rint(v)
    sine = sin(PI * ((v - nearest) + low))
    return -sine if nearest - 2.0 * floor(0.5 * nearest) == 1.0 else sine


@scalar
def log_sine_parts(v: float, low: float) -> tuple[float, float]:
    """log(|sin(pi (v + low)) / pi|) in two parts, of 1 / (gamma(d) gamma(1 - d)) with the distance d to an integer."""
    d, d_low = two_sum(v - rint(v), low)
    d_low = -d_low if d < 0.0 else d_low
    d = fabs(d)
    e, e_low = log_gamma_parts(d, d_low)
    p, p_low = plus_parts(1.0, 0.0, -d, -d_low)
    p, p_low = log_gamma_parts(p, p_low)
    e, e_low = plus_parts(e, e_low, p, p_low)
    return -e, -e_low


@scalar
def rough_digamma(a: float) -> float:
    """The logarithmic derivative of gamma for a > 0, to 0.006 and so few terms of DLMF 5.11.2."""
    inverse = 1.0 / (a + 1.0)
    return log(a + 1.0) - inverse * (0.5 + TWELFTH * inverse) - 1.0 / a


@scalar
def beta_slope(a: float, a_low: float, b: float, b_low: float) -> float:
    """log(B(a + a_low, b + b_low)) less log(B(a, b)), to the first order."""
    if a_low == 0.0 and b_low == 0.0:
        return 0.0
    joint = rough_digamma(a + b)
    return a_low * (rough_digamma(a) - joint) + b_low * (rough_digamma(b) - joint)


@scalar
def mirrored_beta(a: float, b: float) -> float:
    """B(a, b) for a < 0, no pole, and finite operands: by the reflection of each gamma of a negative (DLMF 5.5.3)."""
    s, s_low = two_sum(a, b)
    p, p_low = two_sum(1.0, -a)
    sine = sine_of_parts(a, 0.0)
    if b < 0.0:
        q, q_low = two_sum(1.0, -b)
        ratio = PI * sine_of_parts(s, s_low) / (sine * sine_of_parts(b, 0.0))
        return ratio / ((1.0 - s) * beta_of_positive(p, q) * (1.0 + beta_slope(p, p_low, q, q_low)))
    if s > 0.0:
        return PI / (sine * b * beta_of_positive(p, s) * (1.0 + beta_slope(p, p_low, s, s_low)))
    q, q_low = plus_parts(1.0, 0.0, -s, -s_low)
    return sine_of_parts(s, s_low) / sine * (beta_of_positive(b, q) * (1.0 + beta_slope(b, 0.0, q, q_low)))


@scalar
def log_mirrored_beta(a: float, b: float) -> tuple[float, float]:
    """log(|B(a, b)|) for such operands, in two parts."""
    s, s_low = two_sum(a, b)
    p, p_low = two_sum(1.0, -a)
    e, e_low = log_sine_parts(a, 0.0)
    if s > 0.0:
        t, t_low = log_in_parts(b, 0.0)
        e, e_low = plus_parts(e, e_low, t, t_low)
        t, t_low = log_beta_parts(p, s)
        e, e_low = plus_parts(e, e_low, t, t_low + beta_slope(p, p_low, s, s_low))
        return -e, -e_low
    t, t_low = log_sine_parts(s, s_low)
    e, e_low = plus_parts(t, t_low, -e, -e_low)
    q, q_low = plus_parts(1.0, 0.0, -s, -s_low)
    if b > 0.0:
        t, t_low = log_beta_parts(b, q)
        return plus_parts(e, e_low, t, t_low + beta_slope(b, 0.0, q, q_low))
    t, t_low = log_in_parts(q, q_low)
    e, e_low = plus_parts(e, e_low, -t, -t_low)
    t, t_low = log_sine_parts(b, 0.0)
    e, e_low = plus_parts(e, e_low, -t, -t_low)
    q, q_low = two_sum(1.0, -b)
    t, t_low = log_beta_parts(p, q)
    return plus_parts(e, e_low, -t, -(t_low + beta_slope(p, p_low, q, q_low)))


@scalar
def betaln(a: float, b: float) -> float:
    """log(|B(a, b)|), within 8 ulp; infinite at its poles."""
    if a != a or b != b:
        return nan
    if a == 0.0 or b == 0.0:
        return inf
    if a > 0.0 and b > 0.0:
        return log_beta_of_positive(a, b)
    if is_pole(a) or is_pole(b):
        return log(fabs(beta_at_pole(a, b)))
    if a == inf or b == inf:
        return inf
    s, s_low = two_sum(a, b)
    if s <= 0.0 and s == floor(s) and s_low == 0.0:
        return -inf
    least = a if a < b else b
    other = a if b == least else b
    quick = log(fabs(mirrored_beta(least, other)))
    if fabs(quick) > 1.5 and fabs(quick) < inf:
        return quick
    e, e_low = log_mirrored_beta(least, other)
    return e + e_low


@scalar
def beta(a: float, b: float) -> float:
    """B(a, b) = gamma(a) gamma(b) / gamma(a + b), within 8 ulp for positive operands, and 12 ulp for others."""
    if a != a or b != b:
        return nan
    if a == 0.0 or b == 0.0:
        return inf
    if a > 0.0 and b > 0.0:
        return beta_of_positive(a, b)
    if is_pole(a) or is_pole(b):
        return beta_at_pole(a, b)
    if a == inf or b == inf:
        return inf * gamma_of(b if a == inf else a)
    s, s_low = two_sum(a, b)
    if s <= 0.0 and s == floor(s) and s_low == 0.0:
        return 0.0
    least = a if a < b else b
    other = a if b == least else b
    found = mirrored_beta(least, other)
    if found != 0.0 and fabs(found) < inf:
        return found
    e, e_low = log_mirrored_beta(least, other)
    sign = sine_of_parts(least, 0.0) * (sine_of_parts(other, 0.0) if other < 0.0 else 1.0)
    sign = sign * (sine_of_parts(s, s_low) if s < 0.0 else 1.0)
    return exp_times(e, e_low, -1.0 if sign < 0.0 else 1.0)
