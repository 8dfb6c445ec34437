"""Logits, relative exponentials, terms of entropies and losses, with full relative accuracy."""

from __future__ import annotations

from .parts import divided_parts, log1p_parts, log_in_parts, plus_parts, times_parts, two_sum
from .scalars import expm1, fabs, inf, log, log1p, nan, scalar, sqrt


@scalar
def xlog1py(x: float, y: float) -> float:
    """x log(1 + y), and 0 where x is 0; NaN where y is. Within 3 ulp."""
    return x * log1p(0.0 if x == 0.0 and y == y else y)


@scalar
def logit(p: float) -> float:
    """log(p / (1 - p)), within 4 ulp; NaN outside [0, 1]."""
    near = log1p((2.0 * p - 1.0) / (1.0 - p))
    far = log(p / (1.0 - p))
    return near if p > 0.3 and p < 0.65 else far


@scalar
def exprel(x: float) -> float:
    """(exp(x) - 1) / x, and 1 at 0; within 3 ulp."""
    return 1.0 if fabs(x) < 1e-16 else inf if x > 717.0 else expm1(x) / x


@scalar
def entr(x: float) -> float:
    """-x log(x), 0 at 0, -inf for x < 0; within 3 ulp."""
    return x if x != x else -x * log(x) if x > 0.0 else 0.0 if x == 0.0 else -inf


@scalar
def rel_entr(x: float, y: float) -> float:
    """x log(x / y), 0 where x is 0, inf where one is negative; within 8 ulp."""
    ratio = x / y
    d = (x - y) / y
    far = log(x) - log(y) if ratio < 1e-300 or ratio > 1e300 else log(ratio)
    logarithm = log1p(d) if ratio > 0.5 and ratio < 2.0 else far
    inner = x * logarithm if x > 0.0 and y > 0.0 else 0.0 if x == 0.0 and y >= 0.0 else inf
    return x + y if x != x or y != y else inner


@scalar
def kl_div(x: float, y: float) -> float:
    """x log(x / y) - x + y, y where x is 0, inf where one is negative; within 8 ulp."""
    if x != x or y != y:
        return nan
    if x == 0.0 and y >= 0.0:
        return y
    if not (x > 0.0 and y > 0.0):
        return inf
    d, d_low = two_sum(y, -x)
    m, m_low = divided_parts(d, d_low, x, 0.0)
    if fabs(m) < 0.29:
        high, low = log1p_parts(m, m_low)
        return x * ((m - high) + (m_low - low))
    if m > -0.9 and m < 9.0:
        m, m_low = plus_parts(m, m_low, 1.0, 0.0)
        high, low = log_in_parts(m, m_low)
        high, low = times_parts(high, low, -x, 0.0)
        high, low = plus_parts(high, low, d, d_low)
        return high
    return rel_entr(x, y) + d


@scalar
def huber(delta: float, r: float) -> float:
    """Huber's loss: r**2 / 2 up to |r| = delta, and straight lines beyond; inf for a negative delta."""
    a = fabs(r)
    loss = 0.5 * r * r if a <= delta else delta * (a - 0.5 * delta)
    return delta + r if delta != delta or r != r else inf if delta < 0.0 else loss


@scalar
def pseudo_huber(delta: float, r: float) -> float:
    """delta**2 (sqrt(1 + (r / delta)**2) - 1), without cancellation; inf for a negative delta, within 8 ulp."""
    u = r / delta
    q = u * u
    size = delta * delta * (q / (1.0 + sqrt(1.0 + q)))
    return delta + r if delta != delta or r != r else inf if delta < 0.0 else 0.0 if delta == 0.0 or r == 0.0 else size
