"""Continuous distributions of real numbers; names and parameters are those of PyMC."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..core.namespace import T
from ..core.tensor import as_tensor
from .distribution import Distribution, inside

__all__ = [
    "AsymmetricLaplace", "Cauchy", "ExGaussian", "Gumbel", "Laplace", "Logistic", "Normal", "SkewNormal", "StudentT",
]  # fmt: skip

HALF_LOG_2PI, LOG_PI = 0.5 * math.log(2 * math.pi), math.log(math.pi)
NORMAL_ENTROPY = 0.5 * math.log(2 * math.pi * math.e)
"""The entropy of the standard normal distribution."""
EULER = np.euler_gamma
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

    def _domain(self) -> Any: return self.sigma > 0
    def _variance(self) -> Any: return T.square(self.sigma) + 0 * self.mu
    def _skewness_and_kurtosis(self) -> Any: return 0 * self.sigma, 0 * self.sigma
    def _entropy(self) -> Any: return NORMAL_ENTROPY + T.log(self.sigma) + 0 * self.mu
    def _tail(self, x: Any) -> Any: return S.ndtr(-((x - self.mu) / self.sigma))
    def _log_tail(self, x: Any) -> Any: return S.log_ndtr(-((x - self.mu) / self.sigma))
    def _quantile(self, q: Any) -> Any: return self.mu + self.sigma * S.ndtri(q)


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

    def _domain(self) -> Any: return self.sigma > 0
    def _tail(self, x: Any) -> Any: return type(self)(-self.mu, self.sigma, -self.alpha).cdf(-as_tensor(x))

    def _variance(self) -> Any:
        return T.square(self.sigma) * (1 - T.square(self._delta()) * (2 / math.pi)) + 0 * self.mu

    def _skewness_and_kurtosis(self) -> Any:
        mean = self._delta() * math.sqrt(2 / math.pi)
        rest = 1 - T.square(mean)
        return (4 - math.pi) / 2 * mean**3 / rest**1.5, 2 * (math.pi - 3) * mean**4 / T.square(rest)


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

    def _domain(self) -> Any: return T.logical_and(self.sigma > 0, self.nu > 0)
    def _variance(self) -> Any: return T.square(self.sigma) + T.square(self.nu) + 0 * self.mu

    def _skewness_and_kurtosis(self) -> Any:
        ratio = T.square(self.nu) / (T.square(self.sigma) + T.square(self.nu))
        return 2 * ratio**1.5, 6 * T.square(ratio)

    def _tail(self, x: Any) -> Any:
        z = (x - self.mu) / self.sigma
        return S.ndtr(-z) + self._of_exponential(z)


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

    def _domain(self) -> Any: return T.logical_and(self.nu > 0, self.sigma > 0)
    def _tail(self, x: Any) -> Any: return type(self)(self.nu, -self.mu, self.sigma).cdf(-as_tensor(x))

    def _variance(self) -> Any:
        otherwise = T.switch(self.nu > 1, math.inf, math.nan)
        return T.switch(self.nu > 2, T.square(self.sigma) * (self.nu / (self.nu - 2)), otherwise) + 0 * self.mu

    def _skewness_and_kurtosis(self) -> Any:
        otherwise = T.switch(self.nu > 2, math.inf, math.nan)
        return T.switch(self.nu > 3, 0.0, math.nan), T.switch(self.nu > 4, 6 / (self.nu - 4), otherwise)

    def _entropy(self) -> Any:
        half = self.nu / 2
        slope = (half + 0.5) * (S.digamma(half + 0.5) - S.digamma(half))
        return slope + T.log(self.nu) / 2 + S.betaln(half, 0.5) + T.log(self.sigma) + 0 * self.mu

    def _quantile(self, q: Any) -> Any:
        tail = T.minimum(q, 1 - q)
        return self.mu + self.sigma * T.sgn(q - 0.5) * student_size(self.nu, 2 * tail, 1 - 2 * tail)


def student_size(nu: Any, outside: Any, inside: Any) -> Any:
    """The size of a number of Student's distribution: larger with probability `outside`, `inside` is the rest."""
    far = S.betaincinv(nu / 2, 0.5, outside)
    near = S.betaincinv(0.5, nu / 2, inside)
    return T.sqrt(nu * T.switch(outside < 0.5, (1 - far) / far, near / (1 - near)))


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

    def _domain(self) -> Any: return self.beta > 0
    def _variance(self) -> Any: return math.nan * (self.alpha + self.beta)
    def _skewness_and_kurtosis(self) -> Any: return math.nan * self.beta, math.nan * self.beta
    def _entropy(self) -> Any: return T.log(4 * math.pi * self.beta) + 0 * self.alpha
    def _tail(self, x: Any) -> Any: return T.arctan2(1.0, (x - self.alpha) / self.beta) / math.pi

    def _quantile(self, q: Any) -> Any:
        return self.alpha + self.beta * T.sgn(q - 0.5) / T.tan(math.pi * T.minimum(q, 1 - q))


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

    def _domain(self) -> Any: return self.b > 0
    def _variance(self) -> Any: return 2 * T.square(self.b) + 0 * self.mu
    def _skewness_and_kurtosis(self) -> Any: return 0 * self.b, 3 + 0 * self.b
    def _entropy(self) -> Any: return 1 + T.log(2 * self.b) + 0 * self.mu
    def _log_tail(self, x: Any) -> Any: return type(self)(-self.mu, self.b).log_cdf(-as_tensor(x))
    def _quantile(self, q: Any) -> Any: return self.mu + self.b * T.switch(q < 0.5, T.log(2 * q), -T.log(2 * (1 - q)))


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

    def _domain(self) -> Any: return T.logical_and(self.kappa > 0, self.b > 0)
    def _entropy(self) -> Any: return 1 + T.log((self.kappa + 1 / self.kappa) / self.b) + 0 * self.mu
    def _tail(self, x: Any) -> Any: return type(self)(1 / self.kappa, -self.mu, self.b).cdf(-as_tensor(x))

    def _variance(self) -> Any:
        return (T.square(self.kappa) + 1 / T.square(self.kappa)) / T.square(self.b) + 0 * self.mu

    def _quantile(self, q: Any) -> Any:
        square = T.square(self.kappa)
        share = square / (1 + square)
        low = T.log(q / share) * self.kappa
        return self.mu + T.switch(q < share, low, -T.log((1 - q) * (1 + square)) / self.kappa) / self.b


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

    def _domain(self) -> Any: return self.s > 0
    def _variance(self) -> Any: return T.square(self.s) * (math.pi * math.pi / 3) + 0 * self.mu
    def _skewness_and_kurtosis(self) -> Any: return 0 * self.s, 1.2 + 0 * self.s
    def _entropy(self) -> Any: return T.log(self.s) + 2 + 0 * self.mu
    def _log_tail(self, x: Any) -> Any: return -T.softplus((x - self.mu) / self.s)
    def _quantile(self, q: Any) -> Any: return self.mu + self.s * S.logit(q)


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
        return self.mu + EULER * self.beta

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.gumbel(self.mu, self.beta, size)

    def _domain(self) -> Any: return self.beta > 0
    def _variance(self) -> Any: return T.square(self.beta) * (math.pi * math.pi / 6) + 0 * self.mu
    def _entropy(self) -> Any: return T.log(self.beta) + (EULER + 1) + 0 * self.mu
    def _tail(self, x: Any) -> Any: return -T.expm1(-T.exp(-(x - self.mu) / self.beta))
    def _quantile(self, q: Any) -> Any: return self.mu - self.beta * T.log(-T.log(q))

    def _skewness_and_kurtosis(self) -> Any:
        return 12 * math.sqrt(6) * 1.20205690315959428540 / math.pi**3 + 0 * self.beta, 2.4 + 0 * self.beta
