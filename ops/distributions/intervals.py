"""Continuous distributions of intervals; names and parameters are those of PyMC."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..core.namespace import T
from ..core.tensor import as_tensor
from .continuous import EULER, HALF_LOG_2PI, NORMAL_ENTROPY, Normal
from .distribution import Distribution, NoClosedForm, inside

__all__ = ["Beta", "Kumaraswamy", "LogitNormal", "Triangular", "TruncatedNormal", "Uniform", "VonMises"]

S: Any = T.special


class TruncatedNormal(Distribution):
    """The normal distribution between lower and upper."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "sigma", "lower", "upper")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "sigma": 1.0, "lower": -math.inf, "upper": math.inf}

    def _bounds(self) -> Any:
        """Both bounds in deviations, mirrored so that the lower tail is the shorter one, and whether they were."""
        a, b = (self.lower - self.mu) / self.sigma, (self.upper - self.mu) / self.sigma
        mirrored = a > 0
        return T.switch(mirrored, -b, a), T.switch(mirrored, -a, b), mirrored

    def _log_mass(self) -> Any:
        a, b, _ = self._bounds()
        high, low = S.log_ndtr(b), S.log_ndtr(a)
        return high + T.log1mexp(low - high)

    def log_density(self, x: Any) -> Any:
        found = Normal(self.mu, self.sigma).log_density(x) - self._log_mass()
        return inside(T.logical_and(self.lower <= x, self.upper >= x), found, -math.inf)

    def cdf(self, x: Any) -> Any:
        a, b, mirrored = self._bounds()
        z = (T.clip(x, self.lower, self.upper) - self.mu) / self.sigma
        z = T.switch(mirrored, -z, z)
        mass = S.ndtr(b) - S.ndtr(a)
        return T.switch(mirrored, S.ndtr(b) - S.ndtr(z), S.ndtr(z) - S.ndtr(a)) / mass

    def mean(self) -> Any:
        a, b, mirrored = self._bounds()
        mass = self._log_mass()
        slope = T.exp(-T.square(a) / 2 - HALF_LOG_2PI - mass) - T.exp(-T.square(b) / 2 - HALF_LOG_2PI - mass)
        return self.mu + self.sigma * T.switch(mirrored, -slope, slope)

    def sample(self, rng: Any, size: Any = None) -> Any:
        a, b, mirrored = self._bounds()
        u = rng.uniform(size=self._size(size, self.mu, self.sigma, self.lower, self.upper))
        low, high = S.ndtr(a), S.ndtr(b)
        z = T.clip(S.ndtri(low + (high - low) * u), a, b)
        return self.mu + self.sigma * T.switch(mirrored, -z, z)

    def _domain(self) -> Any: return T.logical_and(self.sigma > 0, self.lower < self.upper)

    def _variance(self) -> Any:
        low, high, _ = self._bounds()
        mass = self._log_mass()
        first, last = (T.exp(-T.square(z) / 2 - HALF_LOG_2PI - mass) for z in (low, high))
        ends = (T.switch(T.isinf(z), 0.0, z) * density for z, density in ((low, first), (high, last)))
        return T.square(self.sigma) * (1 + next(ends) - next(ends) - T.square(first - last))

    def _entropy(self) -> Any:
        low, high, _ = self._bounds()
        mass = self._log_mass()
        ends = [T.switch(T.isinf(z), 0.0, z) * T.exp(-T.square(z) / 2 - HALF_LOG_2PI - mass) for z in (low, high)]
        return NORMAL_ENTROPY + T.log(self.sigma) + mass + (ends[0] - ends[1]) / 2

    def _log_tail(self, x: Any) -> Any:
        low, high = (self.lower - self.mu) / self.sigma, (self.upper - self.mu) / self.sigma
        z = (as_tensor(x) - self.mu) / self.sigma
        is_within = T.logical_and(z > low, z < high)
        safe = T.switch(is_within, z, T.switch(T.isinf(low), T.minimum(high, 0) - 1, low))
        is_above = safe > 0  # the tail that is shorter
        first, second = S.log_ndtr(T.switch(is_above, -safe, high)), S.log_ndtr(T.switch(is_above, -high, safe))
        found = first + T.log1mexp(second - first) - self._log_mass()
        return T.switch(is_within, found, T.switch(z <= low, 0.0, T.switch(z >= high, -math.inf, math.nan)))

    def _quantile(self, q: Any) -> Any:
        low, high, mirrored = self._bounds()
        below, above = S.ndtr(low), S.ndtr(high)
        z = T.clip(S.ndtri(below + (above - below) * T.switch(mirrored, 1 - q, q)), low, high)
        return self.mu + self.sigma * T.switch(mirrored, -z, z)


class LogitNormal(Distribution):
    """The logistic function of a normal number."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "sigma")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "sigma": 1.0}

    def log_density(self, x: Any) -> Any:
        ok = T.logical_and(as_tensor(x) > 0, as_tensor(x) < 1)
        safe = T.switch(ok, x, 0.5)
        found = Normal(self.mu, self.sigma).log_density(S.logit(safe)) - T.log(safe) - T.log1p(-safe)
        return inside(ok, found, -math.inf)

    def log_cdf(self, x: Any) -> Any:
        return Normal(self.mu, self.sigma).log_cdf(S.logit(T.clip(x, 0.0, 1.0)))

    def mean(self) -> Any:
        raise NoClosedForm("LogitNormal: its mean has no formula; average draws")

    def sample(self, rng: Any, size: Any = None) -> Any:
        return T.sigmoid(rng.normal(self.mu, self.sigma, size))

    def _domain(self) -> Any: return self.sigma > 0
    def _tail(self, x: Any) -> Any: return S.ndtr(-((S.logit(T.clip(x, 0.0, 1.0)) - self.mu) / self.sigma))
    def _log_tail(self, x: Any) -> Any: return S.log_ndtr(-((S.logit(T.clip(x, 0.0, 1.0)) - self.mu) / self.sigma))
    def _quantile(self, q: Any) -> Any: return T.sigmoid(self.mu + self.sigma * S.ndtri(q))


class Uniform(Distribution):
    """Numbers from lower to upper, all equally likely."""

    parameters: ClassVar[tuple[str, ...]] = ("lower", "upper")
    defaults: ClassVar[dict[str, float]] = {"lower": 0.0, "upper": 1.0}

    def log_density(self, x: Any) -> Any:
        return inside(T.logical_and(self.lower <= x, self.upper >= x), -T.log(self.upper - self.lower), -math.inf)

    def cdf(self, x: Any) -> Any:
        return (T.clip(x, self.lower, self.upper) - self.lower) / (self.upper - self.lower)

    def mean(self) -> Any:
        return (self.lower + self.upper) / 2

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.uniform(self.lower, self.upper, size)

    def _domain(self) -> Any: return self.lower < self.upper
    def _variance(self) -> Any: return T.square(self.upper - self.lower) / 12
    def _entropy(self) -> Any: return T.log(self.upper - self.lower)
    def _tail(self, x: Any) -> Any: return (self.upper - T.clip(x, self.lower, self.upper)) / (self.upper - self.lower)
    def _quantile(self, q: Any) -> Any: return self.lower + q * (self.upper - self.lower)

    def _skewness_and_kurtosis(self) -> Any:
        return 0 * (self.upper - self.lower), -1.2 + 0 * (self.upper - self.lower)


class Triangular(Distribution):
    """A triangle over lower and upper, with its top at c."""

    parameters: ClassVar[tuple[str, ...]] = ("lower", "c", "upper")

    def log_density(self, x: Any) -> Any:
        width = self.upper - self.lower
        left = as_tensor(x) < self.c
        rise = T.switch(left, (x - self.lower) / (self.c - self.lower), (self.upper - x) / (self.upper - self.c))
        rise = T.switch(T.eq(x, self.c), 1, rise)
        ok = T.logical_and(self.lower <= x, self.upper >= x)
        return inside(ok, T.log(T.switch(ok, rise, 1)) + math.log(2) - T.log(width), -math.inf)

    def cdf(self, x: Any) -> Any:
        y, width = T.clip(x, self.lower, self.upper), self.upper - self.lower
        below, above = T.square(y - self.lower), T.square(self.upper - y)
        rise, fall = width * (self.c - self.lower), width * (self.upper - self.c)
        left = y < self.c
        return T.switch(left, below / T.switch(left, rise, 1), 1 - above / T.switch(fall > 0, fall, 1))

    def mean(self) -> Any:
        return (self.lower + self.c + self.upper) / 3

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.triangular(self.lower, self.c, self.upper, size)

    def _domain(self) -> Any: return T.and_(self.lower < self.upper, self.lower <= self.c, self.c <= self.upper)
    def _entropy(self) -> Any: return 0.5 + T.log((self.upper - self.lower) / 2) + 0 * self.c
    def _tail(self, x: Any) -> Any: return type(self)(-self.upper, -self.c, -self.lower).cdf(-as_tensor(x))

    def _variance(self) -> Any:
        left, right = self.c - self.lower, self.upper - self.c
        return (T.square(left) + T.square(right) + left * right) / 18

    def _skewness_and_kurtosis(self) -> Any:
        c = (self.c - self.lower) / (self.upper - self.lower)
        return math.sqrt(2) * (1 - 2 * c) * (c + 1) * (2 - c) / (5 * (1 - c + T.square(c)) ** 1.5), -0.6 + 0 * c

    def _quantile(self, q: Any) -> Any:
        width, rise = self.upper - self.lower, self.c - self.lower
        left = self.lower + T.sqrt(T.maximum(q * width * rise, 0))
        right = self.upper - T.sqrt(T.maximum((1 - q) * width * (self.upper - self.c), 0))
        return T.switch(q * width <= rise, left, right)


class Beta(Distribution):
    """The beta distribution of shapes alpha and beta."""

    parameters: ClassVar[tuple[str, ...]] = ("alpha", "beta")

    def log_density(self, x: Any) -> Any:
        ok = T.logical_and(as_tensor(x) >= 0, as_tensor(x) <= 1)
        y = T.switch(ok, x, 0.5)
        found = T.xlogy(self.alpha - 1, y) + S.xlog1py(self.beta - 1, -y) - S.betaln(self.alpha, self.beta)
        return inside(ok, found, -math.inf)

    def cdf(self, x: Any) -> Any:
        return S.betainc(self.alpha, self.beta, T.clip(x, 0.0, 1.0))

    def mean(self) -> Any:
        return self.alpha / (self.alpha + self.beta)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.beta(self.alpha, self.beta, size)

    def _domain(self) -> Any: return T.logical_and(self.alpha > 0, self.beta > 0)
    def _tail(self, x: Any) -> Any: return S.betaincc(self.alpha, self.beta, T.clip(x, 0.0, 1.0))
    def _quantile(self, q: Any) -> Any: return S.betaincinv(self.alpha, self.beta, q)

    def _variance(self) -> Any:
        total = self.alpha + self.beta
        return self.alpha * self.beta / (T.square(total) * (total + 1))

    def _skewness_and_kurtosis(self) -> Any:
        a, b = self.alpha, self.beta
        total = a + b
        even = T.square(a - b) * (total + 1) - a * b * (total + 2)
        skewness = 2 * (b - a) * T.sqrt(total + 1) / ((total + 2) * T.sqrt(a * b))
        return skewness, 6 * even / (a * b * (total + 2) * (total + 3))

    def _entropy(self) -> Any:
        a, b = self.alpha, self.beta
        return S.betaln(a, b) - (a - 1) * S.digamma(a) - (b - 1) * S.digamma(b) + (a + b - 2) * S.digamma(a + b)


class Kumaraswamy(Distribution):
    """The distribution of CDF 1 - (1 - x**a)**b (P. Kumaraswamy, 1980)."""

    parameters: ClassVar[tuple[str, ...]] = ("a", "b")

    def log_density(self, x: Any) -> Any:
        ok = T.logical_and(as_tensor(x) >= 0, as_tensor(x) <= 1)
        y = T.switch(ok, x, 0.5)
        found = T.log(self.a) + T.log(self.b) + T.xlogy(self.a - 1, y) + S.xlog1py(self.b - 1, -(y**self.a))
        return inside(ok, found, -math.inf)

    def cdf(self, x: Any) -> Any:
        return -T.expm1(S.xlog1py(self.b, -(T.clip(x, 0.0, 1.0) ** self.a)))

    def mean(self) -> Any:
        return self.b * S.beta(1 + 1 / self.a, self.b)

    def sample(self, rng: Any, size: Any = None) -> Any:
        e = rng.exponential(size=self._size(size, self.a, self.b))
        return (-T.expm1(-e / self.b)) ** (1 / self.a)

    def _domain(self) -> Any: return T.logical_and(self.a > 0, self.b > 0)
    def _variance(self) -> Any: return self.b * S.beta(1 + 2 / self.a, self.b) - T.square(self.mean())
    def _log_tail(self, x: Any) -> Any: return S.xlog1py(self.b, -(T.clip(x, 0.0, 1.0) ** self.a))
    def _quantile(self, q: Any) -> Any: return (-T.expm1(T.log1p(-q) / self.b)) ** (1 / self.a)

    def _entropy(self) -> Any:
        return 1 - 1 / self.b + (1 - 1 / self.a) * (S.digamma(self.b + 1) + EULER) - T.log(self.a) - T.log(self.b)


class VonMises(Distribution):
    """Angles from -pi to pi around mu, of concentration kappa; the CDF begins at -pi around mu = 0 alone."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "kappa")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "kappa": 1.0}

    def log_density(self, x: Any) -> Any:
        found = self.kappa * (T.cos(x - self.mu) - 1) - T.log(2 * math.pi * S.i0e(self.kappa))
        return inside(T.abs(x) <= math.pi, found, -math.inf)

    def cdf(self, x: Any) -> Any:
        """The probability of an angle from -pi to x."""
        start, end = self._unwrapped(-math.pi), self._unwrapped(T.clip(x, -math.pi, math.pi))
        return end - start

    def _unwrapped(self, x: Any) -> Any:
        d = x - self.mu
        turns = T.rint(d / (2 * math.pi))
        return turns + S.vonmises_cdf(self.kappa, d - 2 * math.pi * turns)

    def mean(self) -> Any:
        return self.mu + 0 * self.kappa

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.vonmises(self.mu, self.kappa, size)

    def _domain(self) -> Any: return self.kappa > 0

    def _entropy(self) -> Any:
        size = S.i0e(self.kappa)
        return T.log(2 * math.pi * size) + self.kappa * (1 - S.i1e(self.kappa) / size) + 0 * self.mu

    def _quantile(self, q: Any) -> Any:
        turns = self._unwrapped(-math.pi) + q
        whole = T.floor(turns)
        return T.clip(self.mu + 2 * math.pi * whole + S.vonmises_quantile(self.kappa, turns - whole), -math.pi, math.pi)
