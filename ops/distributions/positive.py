"""Continuous distributions of positive numbers; names and parameters are those of PyMC."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..core.namespace import T
from ..core.tensor import as_tensor
from .continuous import EULER, HALF_LOG_2PI, NORMAL_ENTROPY, Cauchy, Normal, StudentT, student_size
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

    def _domain(self) -> Any: return self.sigma > 0
    def _variance(self) -> Any: return T.square(self.sigma) * (1 - 2 / math.pi)
    def _entropy(self) -> Any: return NORMAL_ENTROPY - math.log(2) + T.log(self.sigma)
    def _tail(self, x: Any) -> Any: return T.erfc(T.maximum(x, 0) / (self.sigma * math.sqrt(2)))
    def _quantile(self, q: Any) -> Any: return self.sigma * (math.sqrt(2) * S.erfinv(q))

    def _skewness_and_kurtosis(self) -> Any:
        skewness, kurtosis = math.sqrt(2) * (4 - math.pi) / (math.pi - 2) ** 1.5, 8 * (math.pi - 3) / (math.pi - 2) ** 2
        return skewness + 0 * self.sigma, kurtosis + 0 * self.sigma


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

    def _domain(self) -> Any: return self.sigma > 0
    def _variance(self) -> Any: return T.expm1(T.square(self.sigma)) * T.exp(2 * self.mu + T.square(self.sigma))
    def _entropy(self) -> Any: return NORMAL_ENTROPY + T.log(self.sigma) + self.mu
    def _tail(self, x: Any) -> Any: return S.ndtr(-((T.log(T.maximum(x, 0)) - self.mu) / self.sigma))
    def _log_tail(self, x: Any) -> Any: return S.log_ndtr(-((T.log(T.maximum(x, 0)) - self.mu) / self.sigma))
    def _quantile(self, q: Any) -> Any: return T.exp(self.mu + self.sigma * S.ndtri(q))

    def _skewness_and_kurtosis(self) -> Any:
        w = T.exp(T.square(self.sigma))
        return (w + 2) * T.sqrt(w - 1), w**4 + 2 * w**3 + 3 * T.square(w) - 6


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

    def _domain(self) -> Any: return self.lam > 0
    def _variance(self) -> Any: return 1 / T.square(self.lam)
    def _skewness_and_kurtosis(self) -> Any: return 2 + 0 * self.lam, 6 + 0 * self.lam
    def _entropy(self) -> Any: return 1 - T.log(self.lam)
    def _log_tail(self, x: Any) -> Any: return -self.lam * T.maximum(x, 0)
    def _quantile(self, q: Any) -> Any: return -T.log1p(-q) / self.lam


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

    def _domain(self) -> Any: return T.logical_and(self.alpha > 0, self.beta > 0)
    def _variance(self) -> Any: return self.alpha / T.square(self.beta)
    def _skewness_and_kurtosis(self) -> Any: return 2 / T.sqrt(self.alpha), 6 / self.alpha
    def _entropy(self) -> Any: return _gamma_entropy(self.alpha) - T.log(self.beta)
    def _tail(self, x: Any) -> Any: return S.gammaincc(self.alpha, self.beta * T.maximum(x, 0))
    def _quantile(self, q: Any) -> Any: return S.gammaincinv(self.alpha, q) / self.beta


def _gamma_entropy(alpha: Any) -> Any:
    return alpha + T.gammaln(alpha) + (1 - alpha) * S.digamma(alpha)


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

    def _domain(self) -> Any: return T.logical_and(self.alpha > 0, self.beta > 0)
    def _quantile(self, q: Any) -> Any: return self.beta / S.gammainccinv(self.alpha, q)

    def _variance(self) -> Any:
        return T.switch(self.alpha > 2, T.square(self.beta / (self.alpha - 1)) / (self.alpha - 2), math.inf)

    def _skewness_and_kurtosis(self) -> Any:
        a = self.alpha
        skewness = T.switch(a > 3, 4 * T.sqrt(T.maximum(a - 2, 0)) / (a - 3), math.nan)
        return skewness, T.switch(a > 4, 6 * (5 * a - 11) / ((a - 3) * (a - 4)), math.nan)

    def _entropy(self) -> Any:
        return self.alpha + T.log(self.beta) + T.gammaln(self.alpha) - (1 + self.alpha) * S.digamma(self.alpha)

    def _tail(self, x: Any) -> Any:
        ok = as_tensor(x) > 0
        return T.switch(ok, S.gammainc(self.alpha, self.beta / T.switch(ok, x, 1)), 1.0)


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

    def _domain(self) -> Any: return self.nu > 0
    def _variance(self) -> Any: return 2.0 * self.nu
    def _skewness_and_kurtosis(self) -> Any: return T.sqrt(8 / self.nu), 12 / self.nu
    def _entropy(self) -> Any: return _gamma_entropy(self.nu / 2) + math.log(2)
    def _tail(self, x: Any) -> Any: return S.gammaincc(self.nu / 2, T.maximum(x, 0) / 2)
    def _quantile(self, q: Any) -> Any: return 2 * S.gammaincinv(self.nu / 2, q)


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

    def _domain(self) -> Any: return T.logical_and(self.nu > 0, self.sigma > 0)
    def _entropy(self) -> Any: return self._whole()._entropy() - math.log(2)
    def _quantile(self, q: Any) -> Any: return self.sigma * student_size(self.nu, 1 - q, q)

    def _variance(self) -> Any:
        ok = self.nu > 2
        square = T.square(self.sigma) * (self.nu / (self.nu - 2))
        return T.switch(ok, square - T.square(T.switch(ok, self.mean(), 0)), math.inf)

    def _tail(self, x: Any) -> Any:
        z = T.square(T.maximum(x, 0) / self.sigma)
        return S.betainc(self.nu / 2, 0.5, self.nu / (self.nu + z))


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

    def _domain(self) -> Any: return self.beta > 0
    def _variance(self) -> Any: return math.inf * self.beta
    def _skewness_and_kurtosis(self) -> Any: return math.nan * self.beta, math.nan * self.beta
    def _entropy(self) -> Any: return T.log(2 * math.pi * self.beta)
    def _tail(self, x: Any) -> Any: return 2 / math.pi * T.arctan2(1.0, T.maximum(x, 0) / self.beta)

    def _quantile(self, q: Any) -> Any:
        return self.beta * T.switch(q < 0.5, T.tan(math.pi / 2 * q), 1 / T.tan(math.pi / 2 * (1 - q)))


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

    def _domain(self) -> Any: return T.logical_and(self.alpha > 0, self.beta > 0)
    def _entropy(self) -> Any: return EULER * (1 - 1 / self.alpha) + T.log(self.beta / self.alpha) + 1
    def _log_tail(self, x: Any) -> Any: return -((T.maximum(x, 0) / self.beta) ** self.alpha)
    def _quantile(self, q: Any) -> Any: return self.beta * (-T.log1p(-q)) ** (1 / self.alpha)

    def _variance(self) -> Any:
        return T.square(self.beta) * (T.gamma(1 + 2 / self.alpha) - T.square(T.gamma(1 + 1 / self.alpha)))


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

    def _domain(self) -> Any: return T.logical_and(self.alpha > 0, self.m > 0)
    def _entropy(self) -> Any: return T.log(self.m / self.alpha) + 1 / self.alpha + 1
    def _log_tail(self, x: Any) -> Any: return self.alpha * T.log(self.m / T.maximum(x, self.m))
    def _quantile(self, q: Any) -> Any: return self.m * T.exp(-T.log1p(-q) / self.alpha)

    def _variance(self) -> Any:
        return T.switch(self.alpha > 2, T.square(self.m / (self.alpha - 1)) * (self.alpha / (self.alpha - 2)), math.inf)

    def _skewness_and_kurtosis(self) -> Any:
        a = self.alpha
        skewness = T.switch(a > 3, 2 * (1 + a) / (a - 3) * T.sqrt(T.maximum(1 - 2 / a, 0)), math.nan)
        return skewness, T.switch(a > 4, 6 * (a**3 + T.square(a) - 6 * a - 2) / (a * (a - 3) * (a - 4)), math.nan)


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

    def _domain(self) -> Any: return self.sigma > 0
    def _variance(self) -> Any: return T.square(self.sigma) * (2 - math.pi / 2)
    def _entropy(self) -> Any: return T.log(self.sigma) + (1 + EULER / 2 - math.log(2) / 2)
    def _log_tail(self, x: Any) -> Any: return -T.square(T.maximum(x, 0) / self.sigma) / 2
    def _quantile(self, q: Any) -> Any: return self.sigma * T.sqrt(-2 * T.log1p(-q))

    def _skewness_and_kurtosis(self) -> Any:
        skewness = 2 * (math.pi - 3) * math.sqrt(math.pi) / (4 - math.pi) ** 1.5
        return skewness + 0 * self.sigma, 6 * math.pi / (4 - math.pi) - 16 / (4 - math.pi) ** 2 + 0 * self.sigma


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

    def _domain(self) -> Any: return self.sigma > 0
    def _variance(self) -> Any: return T.square(self.sigma) * (3 - 8 / math.pi)
    def _entropy(self) -> Any: return T.log(self.sigma) + (HALF_LOG_2PI + EULER - 0.5)
    def _tail(self, x: Any) -> Any: return S.gammaincc(1.5, T.square(T.maximum(x, 0) / self.sigma) / 2)
    def _quantile(self, q: Any) -> Any: return self.sigma * T.sqrt(2 * S.gammaincinv(1.5, q))

    def _skewness_and_kurtosis(self) -> Any:
        skewness = math.sqrt(2) * (32 - 10 * math.pi) / (3 * math.pi - 8) ** 1.5
        kurtosis = (-12 * math.pi * math.pi + 160 * math.pi - 384) / (3 * math.pi - 8) ** 2
        return skewness + 0 * self.sigma, kurtosis + 0 * self.sigma


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

    def _domain(self) -> Any: return self.c > 0
    def _variance(self) -> Any: return math.inf * (1 + 0 * self.mu + 0 * self.c)
    def _skewness_and_kurtosis(self) -> Any: return math.nan * self.c, math.nan * self.c
    def _entropy(self) -> Any: return T.log(self.c) + 0.5 * (1 + 3 * EULER + math.log(16 * math.pi)) + 0 * self.mu
    def _quantile(self, q: Any) -> Any: return self.mu + self.c / T.square(S.ndtri(q / 2))

    def _tail(self, x: Any) -> Any:
        y = x - self.mu
        return T.switch(y > 0, T.erf(T.sqrt(self.c / (2 * T.switch(y > 0, y, 1)))), 1.0)


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

    def _domain(self) -> Any: return T.logical_and(self.m > 0, self.n > 0)

    def _variance(self) -> Any:
        found = 2 * T.square(self.n / (self.n - 2)) * (self.m + self.n - 2) / (self.m * (self.n - 4))
        return T.switch(self.n > 4, found, math.inf)

    def _entropy(self) -> Any:
        m, n = self.m / 2, self.n / 2
        found = S.betaln(m, n) + (1 - m) * S.digamma(m) - (1 + n) * S.digamma(n)
        return found + (m + n) * S.digamma(m + n) + T.log(n / m)

    def _tail(self, x: Any) -> Any:
        y = self.m * T.maximum(x, 0)
        return S.betainc(self.n / 2, self.m / 2, self.n / (y + self.n))

    def _quantile(self, q: Any) -> Any:
        m, n = self.m / 2, self.n / 2
        return n * S.betaincinv(m, n, q) / (m * S.betainccinv(n, m, q))


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

    def _domain(self) -> Any: return T.logical_and(self.mu > 0, self.lam > 0)
    def _variance(self) -> Any: return self.mu**3 / self.lam
    def _skewness_and_kurtosis(self) -> Any: return 3 * T.sqrt(self.mu / self.lam), 15 * self.mu / self.lam

    def _entropy(self) -> Any:
        twice = 2 * self.lam / self.mu
        mean_of_log = T.log(self.mu) - T.exp(twice + T.log(S.exp1(twice)))
        return 0.5 * (1 + math.log(2 * math.pi) - T.log(self.lam)) + 1.5 * mean_of_log

    def _log_tail(self, x: Any) -> Any:
        is_within = T.logical_and(as_tensor(x) > 0, as_tensor(x) < math.inf)
        z, second = self._terms(T.switch(is_within, x, 1))
        first = S.log_ndtr(-z)
        return T.switch(is_within, first + T.log1mexp(second - first), T.switch(as_tensor(x) <= 0, 0.0, -math.inf))
