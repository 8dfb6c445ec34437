"""Logits, relative exponentials, terms of entropies and losses, with full relative accuracy."""

from __future__ import annotations

from .scalars import expm1, fabs, fma, inf, log, log1p, nan, polynomial, scalar, sqrt

ARTANH_REST = (
    0.33333333333333154, 0.20000000000078605, 0.14285714273928837, 0.11111111984765097, 0.09090871965493967,
    0.0769327990597132, 0.0665048742448776, 0.060530387755760154, 0.041700674279106016, 0.08509260377281676,
)  # fmt: skip
"""(artanh(s) / s - 1) / s**2 in powers of s**2 on [0, 1/9], minimax in the relative error."""


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
    ratio = y / x
    d = y - x
    m = d / x
    # m - log(1 + m) = m s - 2 (artanh(s) - s), in which less than a ninth is lost
    s = m / (2.0 + m)
    q = s * s
    rest = polynomial(ARTANH_REST, q)
    near = x * (s * (m - 2.0 * q * rest))
    is_far = ratio < 1e-300 or ratio > 1e300
    logarithm = log(y if is_far else ratio) - log(x if is_far else 1.0)
    size = near if ratio > 0.5 and ratio < 2.0 else fma(-x, logarithm, d)
    inner = size if x > 0.0 and y > 0.0 else y if x == 0.0 and y >= 0.0 else inf
    return nan if x != x or y != y else inner


@scalar
def huber(delta: float, r: float) -> float:
    """Huber's loss: r**2 / 2 up to |r| = delta, and straight lines beyond; inf for a negative delta."""
    a = fabs(r)
    loss = 0.5 * r * r if a <= delta else delta * (a - 0.5 * delta)
    return delta + r if delta != delta or r != r else inf if delta < 0.0 else loss


@scalar
def pseudo_huber(delta: float, r: float) -> float:
    """delta**2 (sqrt(1 + (r / delta)**2) - 1), without cancellation; inf for a negative delta, within 8 ulp."""
    a = fabs(r)
    u = a / delta
    size = delta * (a - delta) if u > 1e8 else a * (a / (1.0 + sqrt(1.0 + u * u)))
    return delta + r if delta != delta or r != r else inf if delta < 0.0 else 0.0 if delta == 0.0 or r == 0.0 else size
