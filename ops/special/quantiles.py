"""Quantiles of discrete distributions and of von Mises', by which random numbers are drawn from uniform ones."""

from __future__ import annotations

import math

from .betas import incomplete_beta
from .complete_betas import log_beta_parts
from .errors import ndtr, ndtri
from .gammas import hurwitz_zeta, incomplete_gamma
from .orders01 import i0e
from .scalars import atan, cos, exp, fabs, floor, inf, log, nan, scalar, sin, sqrt

PI, PI_LOW = math.pi, 1.2246467991473532e-16
LEGENDRE_NODES = (
    0.0020571494271915355, 0.010807277021764504, 0.026420466669142877, 0.04868106900784646, 0.07727702860575099,
    0.11180702558966057, 0.15178636979002136, 0.19665385349119097, 0.24577964258774715, 0.29847412243825683,
    0.35399758025702155, 0.4115705898215549, 0.4703849532853434, 0.5296150467146566, 0.5884294101784451,
    0.6460024197429785, 0.7015258775617431, 0.7542203574122529, 0.803346146508809, 0.8482136302099786,
    0.8881929744103394, 0.922722971394249, 0.9513189309921536, 0.9735795333308571, 0.9891927229782355,
    0.9979428505728085,
)  # fmt: skip
LEGENDRE_WEIGHTS = (
    0.005275686308671503, 0.012208925546315955, 0.018981191647181383, 0.025487912648573904, 0.03163702316478742,
    0.037342074882829875, 0.04252294715674262, 0.04710690017795707, 0.05102958054721271, 0.05423592026428829,
    0.05668090827315983, 0.05833022174264829, 0.05916070763963114, 0.05916070763963114, 0.05833022174264829,
    0.05668090827315983, 0.05423592026428829, 0.05102958054721271, 0.04710690017795707, 0.04252294715674262,
    0.037342074882829875, 0.03163702316478742, 0.025487912648573904, 0.018981191647181383, 0.012208925546315955,
    0.005275686308671503,
)  # fmt: skip
"""Gauss and Legendre's rule on [0, 1]."""


@scalar
def poisson_cdf(rate: float, k: float) -> float:
    """The probability of at most k, for a whole number k."""
    if k < 0.0:
        return 0.0
    if rate <= 0.0:
        return 1.0
    _p, q = incomplete_gamma(k + 1.0, rate)
    return q


@scalar
def poisson_quantile(rate: float, u: float) -> float:
    """The least k such that at most k has the probability u or more: a search, then halving."""
    if rate != rate or u != u or rate < 0.0 or u < 0.0 or u > 1.0:
        return nan
    if rate == 0.0 or u == 0.0:
        return 0.0
    if u == 1.0 or rate == inf:
        return inf
    z = ndtri(u)
    start = floor(rate + z * sqrt(rate) + (z * z - 1.0) / 6.0)
    high = start if start > 0.0 else 0.0
    step = 1.0
    while poisson_cdf(rate, high) < u and step < 1e15:
        high = high + step
        step = 2.0 * step
    step = 1.0
    low = high - 1.0
    while low >= 0.0 and poisson_cdf(rate, low) >= u:
        high = low
        low = low - step
        step = 2.0 * step
    low = low if low > -1.0 else -1.0
    while high - low > 1.0:
        middle = floor(0.5 * (low + high))
        if middle <= low or middle >= high:  # beyond 2**53 there is no number between
            break
        if poisson_cdf(rate, middle) < u:
            low = middle
        else:
            high = middle
    return high


@scalar
def binomial_cdf(n: float, p: float, k: float) -> float:
    """The probability of at most k of n, for a whole number k."""
    if k < 0.0:
        return 0.0
    if k >= n:
        return 1.0
    _below, above = incomplete_beta(k + 1.0, n - k, p, 1.0 - p)
    return above


@scalar
def binomial_quantile(n: float, p: float, u: float) -> float:
    """The least k such that at most k of n has the probability u or more."""
    if n != n or p != p or u != u or n < 0.0 or p < 0.0 or p > 1.0 or u < 0.0 or u > 1.0:
        return nan
    if n == 0.0 or p == 0.0 or u == 0.0:
        return 0.0
    if p == 1.0 or u == 1.0:
        return n
    z = ndtri(u)
    start = floor(n * p + z * sqrt(n * p * (1.0 - p)) + (z * z - 1.0) * (1.0 - 2.0 * p) / 6.0)
    high = start if start > 0.0 else 0.0
    high = high if high < n else n
    step = 1.0
    while high < n and binomial_cdf(n, p, high) < u:
        high = high + step
        high = high if high < n else n
        step = 2.0 * step
    step = 1.0
    low = high - 1.0
    while low >= 0.0 and binomial_cdf(n, p, low) >= u:
        high = low
        low = low - step
        step = 2.0 * step
    low = low if low > -1.0 else -1.0
    while high - low > 1.0:
        middle = floor(0.5 * (low + high))
        if middle <= low or middle >= high:  # beyond 2**53 there is no number between
            break
        if binomial_cdf(n, p, middle) < u:
            low = middle
        else:
            high = middle
    return high


@scalar
def log_binomial(n: float, k: float) -> float:
    """The logarithm of the binomial coefficient."""
    if k <= 0.0 or k >= n:
        return 0.0
    p, _p_low = log_beta_parts(n - k + 1.0, k + 1.0)
    return -(p + log(n + 1.0))


@scalar
def hypergeometric_draw(good: float, bad: float, sample: float, u: float) -> float:
    """How many of `sample` are good, by inversion of u outwards from the mode.

    Source: V. Kachitvichyanukul and B. Schmeiser, "Computer generation of hypergeometric random variates", 1985.
    Numbers are visited in the order mode, mode + 1, mode - 1, ..., so it is no quantile but has the distribution.
    The search ends where probabilities are too small to count.
    """
    total = good + bad
    if good != good or bad != bad or sample != sample or good < 0.0 or bad < 0.0 or sample < 0.0 or sample > total:
        return nan
    if not (u >= 0.0 and u <= 1.0) or total == inf:
        return nan
    least = sample - bad if sample > bad else 0.0
    most = sample if sample < good else good
    mode = floor((sample + 1.0) * (good + 1.0) / (total + 2.0))
    mode = mode if mode > least else least
    mode = mode if mode < most else most
    p = exp(log_binomial(good, mode) + log_binomial(bad, sample - mode) - log_binomial(total, sample))
    rest = u - p
    up = mode
    down = mode
    p_up = p
    p_down = p
    before = inf
    while rest > 0.0 and rest < before:
        before = rest
        if up < most:
            p_up = p_up * ((good - up) / (up + 1.0) * ((sample - up) / (bad - sample + up + 1.0)))
            up = up + 1.0
            rest = rest - p_up
            if rest <= 0.0:
                return up
        if down > least:
            p_down = p_down * (down / (good - down + 1.0) * ((bad - sample + down) / (sample - down + 1.0)))
            down = down - 1.0
            rest = rest - p_down
            if rest <= 0.0:
                return down
    return mode


@scalar
def zipf_quantile(a: float, u: float) -> float:
    """The least k such that at most k has the probability u or more, for k**-a / zeta(a): by halving."""
    if a != a or u != u or a <= 1.0 or u < 0.0 or u > 1.0:
        return nan
    whole = hurwitz_zeta(a, 1.0)
    rest = (1.0 - u) * whole
    high = 1.0
    while hurwitz_zeta(a, high + 1.0) > rest and high < 9e15:
        high = 2.0 * high
    low = 0.0 if high == 1.0 else 0.5 * high
    while high - low > 1.0:
        middle = floor(0.5 * (low + high))
        if middle <= low or middle >= high:  # beyond 2**53 there is no number between
            break
        if hurwitz_zeta(a, middle + 1.0) > rest:
            low = middle
        else:
            high = middle
    return high


@scalar
def vonmises_density(kappa: float, x: float) -> float:
    """The density at an angle."""
    s = sin(0.5 * x)
    return exp(-2.0 * kappa * s * s) / (2.0 * PI * i0e(kappa))


@scalar
def vonmises_tail(kappa: float, x: float) -> float:
    """The probability of angles above x > 0, kappa up to 1e6, within few ulp where it is above 1e-10.

    Gauss and Legendre's rule, from x to where the density has fallen by 1e-16.
    """
    width = (PI - x) + PI_LOW
    last = cos(x) - 37.0 / kappa if kappa > 0.0 else -1.0
    if last > -1.0:
        reach = 2.0 * atan(sqrt((1.0 - last) / (1.0 + last))) - x
        width = reach if reach < width else width
    total = 0.0
    for node, weight in zip(LEGENDRE_NODES, LEGENDRE_WEIGHTS, strict=True):
        half = 0.5 * width * node
        total = total + weight * exp(-2.0 * kappa * sin(x + half) * sin(half))
    return vonmises_density(kappa, x) * (width * total)


@scalar
def vonmises_center(kappa: float, x: float) -> float:
    """The probability of angles from 0 to x: Fourier's series, its ratios of Bessel functions backwards.

    G. W. Hill, "Incomplete Bessel function I0: the von Mises distribution", 1977.
    """
    ratio = 0.0
    total = 0.0
    for k in range(int(12.0 * sqrt(kappa) + 24.0), 0, -1):
        n = float(k)
        ratio = 1.0 / (2.0 * n / kappa + ratio) if kappa > 0.0 else 0.0
        total = ratio * (sin(n * x) / n + total)
    return x * (0.5 / PI) + total / PI


@scalar
def vonmises_excess(kappa: float, x: float, u: float) -> float:
    """The probability of an angle from -pi to x, less u: beyond a standard deviation or so counted from the end."""
    if kappa > 1e6:
        return ndtr(2.0 * sqrt(kappa) * sin(0.5 * x)) - u
    if x * x * (1.0 + kappa) < 1.7:
        return (0.5 - u) + vonmises_center(kappa, x)
    if x < 0.0:
        return vonmises_tail(kappa, -x) - u
    return (1.0 - u) - vonmises_tail(kappa, x)


@scalar
def vonmises_cdf(kappa: float, x: float) -> float:
    """The probability of an angle from -pi to x, for |x| <= pi."""
    if kappa != kappa or x != x or kappa < 0.0:
        return nan
    if x <= -PI:
        return 0.0
    if x >= PI:
        return 1.0
    p = vonmises_excess(kappa, x, 0.0)
    return 0.0 if p < 0.0 else 1.0 if p > 1.0 else p


@scalar
def vonmises_quantile(kappa: float, u: float) -> float:
    """The angle below which the probability is u: at most 60 of Newton's steps, kept between bounds."""
    if kappa != kappa or u != u or kappa < 0.0 or u < 0.0 or u > 1.0:
        return nan
    low = -PI
    high = PI
    x = PI * (2.0 * u - 1.0)
    if kappa > 1.0 and u > 0.0 and u < 1.0:
        x = ndtri(u) / sqrt(kappa)
        x = x if fabs(x) < PI else 0.0
    for _ in range(60):
        excess = vonmises_excess(kappa, x, u)
        if excess > 0.0:
            high = x
        else:
            low = x
        density = vonmises_density(kappa, x)
        better = x - excess / density if density > 0.0 else 2.0 * PI
        if not (better >= low and better <= high):
            better = 0.5 * (low + high)
        moved = fabs(better - x)
        x = better
        if moved <= 1e-15:
            break
    return x
