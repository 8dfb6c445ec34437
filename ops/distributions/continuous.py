"""Continuous distributions of real numbers and of intervals; names and parameters are those of PyMC."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..core.namespace import T
from ..core.tensor import as_tensor
from .distribution import Distribution, NoClosedForm, inside

__all__ = [
    "AsymmetricLaplace", "Beta", "Cauchy", "ExGaussian", "Gumbel", "Kumaraswamy", "Laplace", "Logistic",
    "LogitNormal", "Normal", "SkewNormal", "StudentT", "Triangular", "TruncatedNormal", "Uniform", "VonMises",
]  # fmt: skip

HALF_LOG_2PI, LOG_PI = 0.5 * math.log(2 * math.pi), math.log(math.pi)
S: Any = T.special


class Normal(Distribution):
    """The normal distribution of mean mu and deviation sigma."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "sigma")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "sigma": 1.0}

    def log_density(self, x: Any) -> Any:
        z = (x - self.mu) / self.sigma
        return inside(self.sigma > 0, -T.square(z) / 2 - T.log(self.sigma) - HALF_LOG_2PI, math.nan)

    def log_cdf(self, x: Any) -> Any:
        return S.log_ndtr((x - self.mu) / self.sigma)

    def cdf(self, x: Any) -> Any:
        return S.ndtr((x - self.mu) / self.sigma)

    def mean(self) -> Any:
        return self.mu + 0 * self.sigma

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.normal(self.mu, self.sigma, size)


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


class SkewNormal(Distribution):
    """The skew normal distribution of location mu, scale sigma and shape alpha (A. Azzalini, 1985)."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "sigma", "alpha")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "sigma": 1.0, "alpha": 1.0}

    def log_density(self, x: Any) -> Any:
        z = (x - self.mu) / self.sigma
        return Normal(self.mu, self.sigma).log_density(x) + math.log(2) + S.log_ndtr(self.alpha * z)

    def cdf(self, x: Any) -> Any:
        z = (x - self.mu) / self.sigma
        return S.ndtr(z) - 2 * S.owens_t(z, self.alpha)

    def _delta(self) -> Any:
        return self.alpha / T.sqrt(1 + T.square(self.alpha))

    def mean(self) -> Any:
        return self.mu + self.sigma * self._delta() * math.sqrt(2 / math.pi)

    def sample(self, rng: Any, size: Any = None) -> Any:
        shape, delta = self._size(size, self.mu, self.sigma, self.alpha), self._delta()
        a, b = rng.normal(size=shape), rng.normal(size=shape)
        return self.mu + self.sigma * (delta * T.abs(a) + T.sqrt(1 - T.square(delta)) * b)


class ExGaussian(Distribution):
    """The sum of a normal number and an exponential one of mean nu."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "sigma", "nu")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "sigma": 1.0, "nu": 1.0}

    def log_density(self, x: Any) -> Any:
        z, r = (x - self.mu) / self.sigma, self.sigma / self.nu
        return -T.log(self.nu) + T.square(r) / 2 - z * r + S.log_ndtr(z - r)

    def cdf(self, x: Any) -> Any:
        z = (x - self.mu) / self.sigma
        return S.ndtr(z) - self._of_exponential(z)

    def _of_exponential(self, z: Any) -> Any:
        """The share of numbers below z that the exponential number lifts above it."""
        r, safe = self.sigma / self.nu, T.switch(T.isinf(z), 0.0, z)
        return T.switch(T.isinf(z), 0.0, T.exp(T.square(r) / 2 - safe * r + S.log_ndtr(safe - r)))

    def mean(self) -> Any:
        return self.mu + self.nu + 0 * self.sigma

    def sample(self, rng: Any, size: Any = None) -> Any:
        shape = self._size(size, self.mu, self.sigma, self.nu)
        return rng.normal(self.mu, self.sigma, shape) + rng.exponential(self.nu, shape)


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


class StudentT(Distribution):
    """Student's distribution of nu degrees of freedom, location mu and scale sigma."""

    parameters: ClassVar[tuple[str, ...]] = ("nu", "mu", "sigma")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "sigma": 1.0}

    def log_density(self, x: Any) -> Any:
        z = (x - self.mu) / self.sigma
        size = -S.betaln(self.nu / 2, 0.5) - T.log(self.nu) / 2 - T.log(self.sigma)
        return size - (self.nu + 1) / 2 * T.log1p(T.square(z) / self.nu)

    def cdf(self, x: Any) -> Any:
        z = (x - self.mu) / self.sigma
        tail = 0.5 * S.betainc(self.nu / 2, 0.5, self.nu / (self.nu + T.square(z)))
        return T.switch(z > 0, 1 - tail, tail)

    def mean(self) -> Any:
        return T.switch(self.nu > 1, self.mu + 0 * self.sigma, math.nan)

    def sample(self, rng: Any, size: Any = None) -> Any:
        shape = self._size(size, self.nu, self.mu, self.sigma)
        return self.mu + self.sigma * rng.standard_t(self.nu, shape)


class Cauchy(Distribution):
    """Cauchy's distribution of median alpha and half width beta; it has no mean."""

    parameters: ClassVar[tuple[str, ...]] = ("alpha", "beta")
    defaults: ClassVar[dict[str, float]] = {"alpha": 0.0, "beta": 1.0}

    def log_density(self, x: Any) -> Any:
        return -LOG_PI - T.log(self.beta) - T.log1p(T.square((x - self.alpha) / self.beta))

    def cdf(self, x: Any) -> Any:
        return T.arctan2(1.0, -(x - self.alpha) / self.beta) / math.pi

    def mean(self) -> Any:
        return math.nan * (self.alpha + self.beta)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return self.alpha + self.beta * rng.standard_cauchy(self._size(size, self.alpha, self.beta))


class Laplace(Distribution):
    """Two exponential tails of scale b around mu."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "b")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "b": 1.0}

    def log_density(self, x: Any) -> Any:
        return -T.log(2 * self.b) - T.abs(x - self.mu) / self.b

    def log_cdf(self, x: Any) -> Any:
        z = (x - self.mu) / self.b
        return T.switch(z < 0, z - math.log(2), T.log1p(-0.5 * T.exp(-T.abs(z))))

    def mean(self) -> Any:
        return self.mu + 0 * self.b

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.laplace(self.mu, self.b, size)


class AsymmetricLaplace(Distribution):
    """Exponential tails of rates b kappa above mu and b / kappa below it."""

    parameters: ClassVar[tuple[str, ...]] = ("kappa", "mu", "b")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "b": 1.0}

    def log_density(self, x: Any) -> Any:
        d = x - self.mu
        tail = T.switch(d >= 0, -d * self.b * self.kappa, d * self.b / self.kappa)
        return T.log(self.b) - T.log(self.kappa + 1 / self.kappa) + tail

    def cdf(self, x: Any) -> Any:
        d, square = x - self.mu, T.square(self.kappa)
        low = square / (1 + square) * T.exp(T.minimum(d, 0) * self.b / self.kappa)
        return T.switch(d < 0, low, 1 - T.exp(-T.maximum(d, 0) * self.b * self.kappa) / (1 + square))

    def mean(self) -> Any:
        return self.mu + (1 / self.kappa - self.kappa) / self.b

    def sample(self, rng: Any, size: Any = None) -> Any:
        shape = self._size(size, self.kappa, self.mu, self.b)
        up, down = rng.exponential(size=shape), rng.exponential(size=shape)
        return self.mu + (up / self.kappa - down * self.kappa) / self.b


class Logistic(Distribution):
    """The logistic distribution of mean mu and scale s."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "s")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "s": 1.0}

    def log_density(self, x: Any) -> Any:
        z = T.abs((x - self.mu) / self.s)
        return -z - T.log(self.s) - 2 * T.softplus(-z)

    def log_cdf(self, x: Any) -> Any:
        return -T.softplus(-(x - self.mu) / self.s)

    def mean(self) -> Any:
        return self.mu + 0 * self.s

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.logistic(self.mu, self.s, size)


class Gumbel(Distribution):
    """Gumbel's distribution of the maximum of many numbers, of mode mu and scale beta."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "beta")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "beta": 1.0}

    def log_density(self, x: Any) -> Any:
        z = (x - self.mu) / self.beta
        return -z - T.exp(-z) - T.log(self.beta)

    def log_cdf(self, x: Any) -> Any:
        return -T.exp(-(x - self.mu) / self.beta)

    def mean(self) -> Any:
        return self.mu + np.euler_gamma * self.beta

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.gumbel(self.mu, self.beta, size)


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
