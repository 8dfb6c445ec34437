"""Continuous distributions of positive numbers; names and parameters are those of PyMC."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..core.namespace import T
from ..core.tensor import as_tensor
from .continuous import HALF_LOG_2PI, Cauchy, Normal, StudentT
from .distribution import Distribution, inside

__all__ = [
    "ChiSquared", "Exponential", "FDistribution", "Gamma", "HalfCauchy", "HalfNormal", "HalfStudentT", "InverseGamma",
    "Levy", "LogNormal", "Maxwell", "Pareto", "Rayleigh", "Wald", "Weibull",
]  # fmt: skip

S: Any = T.special


class HalfNormal(Distribution):
    """|x| of a normal number of mean 0 and deviation sigma."""

    parameters: ClassVar[tuple[str, ...]] = ("sigma",)
    defaults: ClassVar[dict[str, float]] = {"sigma": 1.0}

    def log_density(self, x: Any) -> Any:
        return inside(as_tensor(x) >= 0, Normal(0.0, self.sigma).log_density(x) + math.log(2), -math.inf)

    def cdf(self, x: Any) -> Any:
        return T.erf(T.maximum(x, 0) / (self.sigma * math.sqrt(2)))

    def mean(self) -> Any:
        return self.sigma * math.sqrt(2 / math.pi)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return T.abs(rng.normal(0.0, self.sigma, size))


class LogNormal(Distribution):
    """exp of a normal number of mean mu and deviation sigma."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "sigma")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "sigma": 1.0}

    def log_density(self, x: Any) -> Any:
        y = T.log(T.switch(as_tensor(x) > 0, x, 1))
        return inside(as_tensor(x) > 0, Normal(self.mu, self.sigma).log_density(y) - y, -math.inf)

    def log_cdf(self, x: Any) -> Any:
        return Normal(self.mu, self.sigma).log_cdf(T.log(T.maximum(x, 0)))

    def mean(self) -> Any:
        return T.exp(self.mu + T.square(self.sigma) / 2)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.lognormal(self.mu, self.sigma, size)


class Exponential(Distribution):
    """The exponential distribution of rate lam, of mean 1 / lam."""

    parameters: ClassVar[tuple[str, ...]] = ("lam",)
    defaults: ClassVar[dict[str, float]] = {"lam": 1.0}

    def log_density(self, x: Any) -> Any:
        return inside(as_tensor(x) >= 0, T.log(self.lam) - self.lam * x, -math.inf)

    def log_cdf(self, x: Any) -> Any:
        return T.log1mexp(-self.lam * T.maximum(x, 0))

    def mean(self) -> Any:
        return 1 / self.lam

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.exponential(1 / self.lam, size)


class Gamma(Distribution):
    """The gamma distribution of shape alpha and rate beta."""

    parameters: ClassVar[tuple[str, ...]] = ("alpha", "beta")
    defaults: ClassVar[dict[str, float]] = {"beta": 1.0}

    def log_density(self, x: Any) -> Any:
        safe = T.maximum(x, 0)
        found = self.alpha * T.log(self.beta) + T.xlogy(self.alpha - 1, safe) - self.beta * safe - T.gammaln(self.alpha)
        return inside(as_tensor(x) >= 0, found, -math.inf)

    def cdf(self, x: Any) -> Any:
        return S.gammainc(self.alpha, self.beta * T.maximum(x, 0))

    def mean(self) -> Any:
        return self.alpha / self.beta

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.gamma(self.alpha, 1 / self.beta, size)


class InverseGamma(Distribution):
    """1 / x of a gamma number of shape alpha and rate beta."""

    parameters: ClassVar[tuple[str, ...]] = ("alpha", "beta")
    defaults: ClassVar[dict[str, float]] = {"beta": 1.0}

    def log_density(self, x: Any) -> Any:
        ok = as_tensor(x) > 0
        safe = T.switch(ok, x, 1)
        size = self.alpha * T.log(self.beta) - T.gammaln(self.alpha)
        return inside(ok, size - (self.alpha + 1) * T.log(safe) - self.beta / safe, -math.inf)

    def cdf(self, x: Any) -> Any:
        ok = as_tensor(x) > 0
        return inside(ok, S.gammaincc(self.alpha, self.beta / T.switch(ok, x, 1)), 0.0)

    def mean(self) -> Any:
        return T.switch(self.alpha > 1, self.beta / (self.alpha - 1), math.inf)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return 1 / rng.gamma(self.alpha, 1 / self.beta, size)


class ChiSquared(Distribution):
    """The sum of nu squares of standard normal numbers."""

    parameters: ClassVar[tuple[str, ...]] = ("nu",)

    def _gamma(self) -> Gamma:
        return Gamma(self.nu / 2, 0.5)

    def log_density(self, x: Any) -> Any:
        return self._gamma().log_density(x)

    def cdf(self, x: Any) -> Any:
        return self._gamma().cdf(x)

    def mean(self) -> Any:
        return 1.0 * self.nu

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.chisquare(self.nu, size)


class HalfStudentT(Distribution):
    """|x| of a number of Student's distribution around 0."""

    parameters: ClassVar[tuple[str, ...]] = ("nu", "sigma")
    defaults: ClassVar[dict[str, float]] = {"sigma": 1.0}

    def _whole(self) -> StudentT:
        return StudentT(self.nu, 0.0, self.sigma)

    def log_density(self, x: Any) -> Any:
        return inside(as_tensor(x) >= 0, self._whole().log_density(x) + math.log(2), -math.inf)

    def cdf(self, x: Any) -> Any:
        z = T.square(T.maximum(x, 0) / self.sigma)
        return S.betainc(0.5, self.nu / 2, z / (self.nu + z))

    def mean(self) -> Any:
        size = T.exp(T.log(self.nu) / 2 - S.betaln(self.nu / 2, 0.5)) * 2 / (self.nu - 1)
        return T.switch(self.nu > 1, self.sigma * size, math.inf)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return T.abs(self._whole().sample(rng, self._size(size, self.nu, self.sigma)))


class HalfCauchy(Distribution):
    """|x| of a number of Cauchy's distribution around 0; its mean is infinite."""

    parameters: ClassVar[tuple[str, ...]] = ("beta",)
    defaults: ClassVar[dict[str, float]] = {"beta": 1.0}

    def log_density(self, x: Any) -> Any:
        return inside(as_tensor(x) >= 0, Cauchy(0.0, self.beta).log_density(x) + math.log(2), -math.inf)

    def cdf(self, x: Any) -> Any:
        return 2 / math.pi * T.arctan(T.maximum(x, 0) / self.beta)

    def mean(self) -> Any:
        return math.inf * self.beta

    def sample(self, rng: Any, size: Any = None) -> Any:
        return T.abs(self.beta * rng.standard_cauchy(self._size(size, self.beta)))


class Weibull(Distribution):
    """Weibull's distribution of shape alpha and scale beta."""

    parameters: ClassVar[tuple[str, ...]] = ("alpha", "beta")
    defaults: ClassVar[dict[str, float]] = {"beta": 1.0}

    def log_density(self, x: Any) -> Any:
        z = T.maximum(x, 0) / self.beta
        found = T.log(self.alpha / self.beta) + T.xlogy(self.alpha - 1, z) - z**self.alpha
        return inside(as_tensor(x) >= 0, found, -math.inf)

    def log_cdf(self, x: Any) -> Any:
        return T.log1mexp(-((T.maximum(x, 0) / self.beta) ** self.alpha))

    def mean(self) -> Any:
        return self.beta * T.gamma(1 + 1 / self.alpha)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return self.beta * rng.weibull(self.alpha, self._size(size, self.alpha, self.beta))


class Pareto(Distribution):
    """Pareto's distribution of shape alpha, from m on."""

    parameters: ClassVar[tuple[str, ...]] = ("alpha", "m")
    defaults: ClassVar[dict[str, float]] = {"m": 1.0}

    def log_density(self, x: Any) -> Any:
        ok = as_tensor(x) >= self.m
        y = T.switch(ok, x, self.m)
        return inside(ok, T.log(self.alpha) + self.alpha * T.log(self.m) - (self.alpha + 1) * T.log(y), -math.inf)

    def log_cdf(self, x: Any) -> Any:
        return T.log1mexp(self.alpha * T.log(self.m / T.maximum(x, self.m)))

    def mean(self) -> Any:
        return T.switch(self.alpha > 1, self.alpha * self.m / (self.alpha - 1), math.inf)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return self.m * (1 + rng.pareto(self.alpha, self._size(size, self.alpha, self.m)))


class Rayleigh(Distribution):
    """The length of a vector of two normal numbers of deviation sigma."""

    parameters: ClassVar[tuple[str, ...]] = ("sigma",)
    defaults: ClassVar[dict[str, float]] = {"sigma": 1.0}

    def log_density(self, x: Any) -> Any:
        y = T.maximum(x, 0)
        return inside(as_tensor(x) >= 0, T.log(y) - 2 * T.log(self.sigma) - T.square(y / self.sigma) / 2, -math.inf)

    def log_cdf(self, x: Any) -> Any:
        return T.log1mexp(-T.square(T.maximum(x, 0) / self.sigma) / 2)

    def mean(self) -> Any:
        return self.sigma * math.sqrt(math.pi / 2)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.rayleigh(self.sigma, size)


class Maxwell(Distribution):
    """The length of a vector of three normal numbers of deviation sigma."""

    parameters: ClassVar[tuple[str, ...]] = ("sigma",)
    defaults: ClassVar[dict[str, float]] = {"sigma": 1.0}

    def log_density(self, x: Any) -> Any:
        y = T.maximum(x, 0)
        found = 2 * T.log(y) - 3 * T.log(self.sigma) - T.square(y / self.sigma) / 2 + 0.5 * math.log(2 / math.pi)
        return inside(as_tensor(x) >= 0, found, -math.inf)

    def cdf(self, x: Any) -> Any:
        return S.gammainc(1.5, T.square(T.maximum(x, 0) / self.sigma) / 2)

    def mean(self) -> Any:
        return self.sigma * (2 * math.sqrt(2 / math.pi))

    def sample(self, rng: Any, size: Any = None) -> Any:
        return self.sigma * T.sqrt(rng.chisquare(3.0, self._size(size, self.sigma)))


class Levy(Distribution):
    """Lévy's distribution from mu on, of scale c: mu + c / z**2 of a standard normal z; its mean is infinite."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "c")
    defaults: ClassVar[dict[str, float]] = {"mu": 0.0, "c": 1.0}

    def log_density(self, x: Any) -> Any:
        d = x - self.mu
        ok = d > 0
        y = T.switch(ok, d, 1)
        return inside(ok, T.log(self.c) / 2 - HALF_LOG_2PI - self.c / (2 * y) - 1.5 * T.log(y), -math.inf)

    def cdf(self, x: Any) -> Any:
        d = x - self.mu
        return inside(d > 0, T.erfc(T.sqrt(self.c / (2 * T.switch(d > 0, d, 1)))), 0.0)

    def mean(self) -> Any:
        return math.inf * (1 + 0 * self.mu + 0 * self.c)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return self.mu + self.c / T.square(rng.normal(size=self._size(size, self.mu, self.c)))


class FDistribution(Distribution):
    """Fisher's distribution of m and n degrees of freedom."""

    parameters: ClassVar[tuple[str, ...]] = ("m", "n")

    def log_density(self, x: Any) -> Any:
        y, m, n = T.maximum(x, 0), self.m / 2, self.n / 2
        found = m * T.log(m / n) + T.xlogy(m - 1, y) - (m + n) * T.log1p(m / n * y) - S.betaln(m, n)
        return inside(as_tensor(x) >= 0, found, -math.inf)

    def cdf(self, x: Any) -> Any:
        y = self.m * T.maximum(x, 0)
        return S.betainc(self.m / 2, self.n / 2, y / (y + self.n))

    def mean(self) -> Any:
        return T.switch(self.n > 2, self.n / (self.n - 2) + 0 * self.m, math.inf)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.f(self.m, self.n, size)


class Wald(Distribution):
    """The inverse Gaussian distribution of mean mu and shape lam."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "lam")
    defaults: ClassVar[dict[str, float]] = {"lam": 1.0}

    def log_density(self, x: Any) -> Any:
        ok = as_tensor(x) > 0
        y = T.switch(ok, x, 1)
        found = (T.log(self.lam) - 3 * T.log(y)) / 2 - HALF_LOG_2PI
        return inside(ok, found - self.lam * T.square(y - self.mu) / (2 * T.square(self.mu) * y), -math.inf)

    def cdf(self, x: Any) -> Any:
        is_within = T.logical_and(as_tensor(x) > 0, as_tensor(x) < math.inf)
        z, second = self._terms(T.switch(is_within, x, 1))
        return inside(is_within, S.ndtr(z) + T.exp(second), 0.0) + (as_tensor(x) >= math.inf)

    def _terms(self, x: Any) -> tuple[Any, Any]:
        """The number whose normal distribution function is the first term at x > 0, and the second's logarithm."""
        root = T.sqrt(self.lam / x)
        return root * (x / self.mu - 1), 2 * self.lam / self.mu + S.log_ndtr(-root * (x / self.mu + 1))

    def mean(self) -> Any:
        return self.mu + 0 * self.lam

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.wald(self.mu, self.lam, size)
