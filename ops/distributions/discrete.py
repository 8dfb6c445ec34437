"""Discrete distributions of one number; names and parameters are those of PyMC."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..core.namespace import T
from ..core.tensor import as_tensor
from .distribution import Distribution, NoClosedForm, inside
from .intervals import Beta

__all__ = [
    "Bernoulli", "BetaBinomial", "Binomial", "Categorical", "DiscreteUniform", "Geometric", "Hypergeometric",
    "LogSeries", "NegativeBinomial", "Poisson", "ZeroInflatedPoisson", "Zipf",
]  # fmt: skip

S: Any = T.special


def whole(x: Any, low: Any, high: Any = math.inf) -> Any:
    """Whether x is a whole number from low to high."""
    x = as_tensor(x)
    return T.logical_and(T.logical_and(x >= low, x <= high), T.eq(x, T.floor(x)))


def log_binomial(n: Any, k: Any) -> Any:
    """The logarithm of the binomial coefficient."""
    return -T.log1p(n) - S.betaln(n - k + 1, k + 1)


def floor(x: Any) -> Any:
    """x rounded down, as a floating-point number."""
    return T.floor(1.0 * as_tensor(x))


def is_share(p: Any) -> Any:
    """Whether p is a probability."""
    return T.logical_and(p >= 0, p <= 1)


def is_count(n: Any) -> Any:
    """Whether n is a whole number from 0 on."""
    return T.logical_and(n >= 0, T.eq(n, T.floor(1.0 * n)))


def least(d: Distribution, q: Any, found: Any, lowest: Any) -> Any:
    """The least whole number whose distribution function is at least q, `found` or one less."""
    less = T.maximum(found - 1, lowest)
    return T.switch(d.cdf(less) >= q, less, found)


def bernoulli_shape(p: Any, trials: Any) -> Any:
    """The skewness and the excess kurtosis of the number of successes."""
    share = T.switch(p * (1 - p) > 0, p, math.nan)
    variance = share * (1 - share)
    return (1 - 2 * p) / T.sqrt(trials * variance), (1 - 6 * variance) / (trials * variance)


class Bernoulli(Distribution):
    """1 with probability p, else 0."""

    parameters: ClassVar[tuple[str, ...]] = ("p",)
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        x = as_tensor(x)
        found = T.switch(T.eq(x, 1), T.log(self.p), T.log1p(-self.p))
        return inside(T.logical_or(T.eq(x, 0), T.eq(x, 1)), found, -math.inf)

    def cdf(self, x: Any) -> Any:
        x = as_tensor(x)
        return T.switch(x < 0, 0.0, T.switch(x < 1, 1 - self.p, 1.0))

    def mean(self) -> Any:
        return 1.0 * self.p

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.bernoulli(self.p, size, dtype="int64")

    def _domain(self) -> Any: return is_share(self.p)
    def _variance(self) -> Any: return self.p * (1 - self.p)
    def _skewness_and_kurtosis(self) -> Any: return bernoulli_shape(self.p, 1)
    def _entropy(self) -> Any: return S.entr(self.p) + S.entr(1 - self.p)
    def _quantile(self, q: Any) -> Any: return T.switch(T.logical_or(q > 1 - self.p, q >= 1), 1.0, 0.0)


class Binomial(Distribution):
    """How many of n trials succeed, each with probability p."""

    parameters: ClassVar[tuple[str, ...]] = ("n", "p")
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        ok = whole(x, 0, self.n)
        k = T.switch(ok, x, 0)
        found = log_binomial(self.n, k) + T.xlogy(k, self.p) + S.xlog1py(self.n - k, -self.p)
        return inside(ok, found, -math.inf)

    def cdf(self, x: Any) -> Any:
        k = floor(x)
        ok = T.logical_and(k >= 0, k < self.n)
        safe = T.switch(ok, k, 0)
        return T.switch(ok, S.betaincc(safe + 1, T.maximum(self.n - safe, 1), self.p), T.switch(k < 0, 0.0, 1.0))

    def mean(self) -> Any:
        return self.n * self.p

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.binomial(self.n, self.p, size)

    def _domain(self) -> Any: return T.logical_and(is_count(self.n), is_share(self.p))
    def _variance(self) -> Any: return self.n * self.p * (1 - self.p)
    def _skewness_and_kurtosis(self) -> Any: return bernoulli_shape(self.p, self.n)
    def _quantile(self, q: Any) -> Any: return S.binomial_quantile(self.n, self.p, q)

    def _tail(self, x: Any) -> Any:
        k = floor(x)
        ok = T.logical_and(k >= 0, k < self.n)
        safe = T.switch(ok, k, 0)
        return T.switch(ok, S.betainc(safe + 1, T.maximum(self.n - safe, 1), self.p), T.switch(k < 0, 1.0, 0.0))


class BetaBinomial(Distribution):
    """Binomial numbers whose probability is a beta number of shapes alpha and beta."""

    parameters: ClassVar[tuple[str, ...]] = ("n", "alpha", "beta")
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        ok = whole(x, 0, self.n)
        k = T.switch(ok, x, 0)
        shape = S.betaln(k + self.alpha, self.n - k + self.beta) - S.betaln(self.alpha, self.beta)
        return inside(ok, log_binomial(self.n, k) + shape, -math.inf)

    def log_cdf(self, x: Any) -> Any:
        raise NoClosedForm("BetaBinomial: its distribution function has no formula; add probabilities")

    def mean(self) -> Any:
        return self.n * self.alpha / (self.alpha + self.beta)

    def sample(self, rng: Any, size: Any = None) -> Any:
        shape = self._size(size, self.n, self.alpha, self.beta)
        return rng.binomial(self.n, rng.beta(self.alpha, self.beta, shape), shape)

    def _domain(self) -> Any: return T.and_(is_count(self.n), self.alpha > 0, self.beta > 0)

    def _variance(self) -> Any:
        return Beta(self.alpha, self.beta)._variance() * self.n * (self.alpha + self.beta + self.n)


class Poisson(Distribution):
    """The Poisson distribution of mean mu."""

    parameters: ClassVar[tuple[str, ...]] = ("mu",)
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        ok = whole(x, 0)
        k = T.switch(ok, x, 0)
        return inside(ok, T.xlogy(k, self.mu) - self.mu - T.gammaln(k + 1.0), -math.inf)

    def cdf(self, x: Any) -> Any:
        k = floor(x)
        return inside(k >= 0, S.gammaincc(T.maximum(k, 0) + 1, self.mu), 0.0)

    def mean(self) -> Any:
        return 1.0 * self.mu

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.poisson(self.mu, size)

    def _domain(self) -> Any: return self.mu >= 0
    def _variance(self) -> Any: return 1.0 * self.mu
    def _skewness_and_kurtosis(self) -> Any: return 1 / T.sqrt(self.mu), 1 / self.mu
    def _quantile(self, q: Any) -> Any: return S.poisson_quantile(self.mu, q)

    def _tail(self, x: Any) -> Any:
        k = floor(x)
        safe = T.maximum(k, 0)
        return T.switch(k >= 0, S.gammainc(safe + 1, self.mu), 1.0)


class ZeroInflatedPoisson(Distribution):
    """A Poisson number of mean mu with probability psi, else 0."""

    parameters: ClassVar[tuple[str, ...]] = ("psi", "mu")
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        found = T.log(self.psi) + Poisson(self.mu).log_density(x)
        return T.switch(T.eq(as_tensor(x), 0), T.logaddexp(T.log1p(-self.psi), found), found)

    def cdf(self, x: Any) -> Any:
        return inside(as_tensor(x) >= 0, 1 - self.psi + self.psi * Poisson(self.mu).cdf(x), 0.0)

    def mean(self) -> Any:
        return self.psi * self.mu

    def sample(self, rng: Any, size: Any = None) -> Any:
        shape = self._size(size, self.psi, self.mu)
        return rng.poisson(self.mu, shape) * rng.bernoulli(self.psi, shape, dtype="int64")

    def _domain(self) -> Any: return T.logical_and(self.mu >= 0, is_share(self.psi))
    def _variance(self) -> Any: return self.psi * self.mu * (1 + (1 - self.psi) * self.mu)

    def _tail(self, x: Any) -> Any:
        k = floor(x)
        safe = T.maximum(k, 0)
        return T.switch(k >= 0, self.psi * S.gammainc(safe + 1, self.mu), 1.0)

    def _quantile(self, q: Any) -> Any:
        rest = (q - (1 - self.psi)) / self.psi
        return T.switch(rest > 0, S.poisson_quantile(self.mu, T.maximum(rest, 0.5 * (rest <= 0))), 0.0)


class Geometric(Distribution):
    """The number of the first of several trials that succeeds, from 1 on."""

    parameters: ClassVar[tuple[str, ...]] = ("p",)
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        ok = whole(x, 1)
        return inside(ok, T.log(self.p) + S.xlog1py(T.switch(ok, x, 1) - 1.0, -self.p), -math.inf)

    def cdf(self, x: Any) -> Any:
        return -T.expm1(S.xlog1py(T.maximum(floor(x), 0), -self.p))

    def mean(self) -> Any:
        return 1 / self.p

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.geometric(self.p, size)

    def _first(self) -> Any: return 1.0
    def _domain(self) -> Any: return T.logical_and(self.p > 0, self.p <= 1)
    def _variance(self) -> Any: return (1 - self.p) / T.square(self.p)
    def _entropy(self) -> Any: return (S.entr(self.p) + S.entr(1 - self.p)) / self.p
    def _log_tail(self, x: Any) -> Any: return S.xlog1py(T.maximum(floor(x), 0), -self.p)
    def _quantile(self, q: Any) -> Any: return least(self, q, T.maximum(T.ceil(T.log1p(-q) / T.log1p(-self.p)), 1), 1)

    def _skewness_and_kurtosis(self) -> Any:
        return (2 - self.p) / T.sqrt(1 - self.p), 6 + T.square(self.p) / (1 - self.p)


class NegativeBinomial(Distribution):
    """How many trials fail before n succeed, each with probability p; n need not be whole."""

    parameters: ClassVar[tuple[str, ...]] = ("n", "p")
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        ok = whole(x, 0)
        k = T.switch(ok, x, 0)
        size = -S.betaln(self.n, k + 1.0) - T.log(self.n + k)
        return inside(ok, size + self.n * T.log(self.p) + S.xlog1py(k, -self.p), -math.inf)

    def cdf(self, x: Any) -> Any:
        k = floor(x)
        return inside(k >= 0, S.betainc(self.n, T.maximum(k, 0) + 1, self.p), 0.0)

    def mean(self) -> Any:
        return self.n * (1 - self.p) / self.p

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.negative_binomial(self.n, self.p, size)

    def _domain(self) -> Any: return T.and_(self.n > 0, self.p > 0, self.p <= 1)
    def _variance(self) -> Any: return self.n * (1 - self.p) / T.square(self.p)

    def _skewness_and_kurtosis(self) -> Any:
        return ((2 - self.p) / T.sqrt(self.n * (1 - self.p)), (6 + T.square(self.p) / (1 - self.p)) / self.n)

    def _tail(self, x: Any) -> Any:
        k = floor(x)
        safe = T.maximum(k, 0)
        return T.switch(k >= 0, S.betaincc(self.n, safe + 1, self.p), 1.0)


class Hypergeometric(Distribution):
    """How many of n are good, drawn without replacement from N of which k are good."""

    parameters: ClassVar[tuple[str, ...]] = ("N", "k", "n")
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        low = T.maximum(self.n + self.k - self.N, 0)
        ok = whole(x, low, T.minimum(self.k, self.n))
        y = T.switch(ok, x, low)
        found = log_binomial(self.k, y) + log_binomial(self.N - self.k, self.n - y) - log_binomial(self.N, self.n)
        return inside(ok, found, -math.inf)

    def log_cdf(self, x: Any) -> Any:
        raise NoClosedForm("Hypergeometric: its distribution function has no formula; add probabilities")

    def mean(self) -> Any:
        return self.n * self.k / self.N

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.hypergeometric(self.k, self.N - self.k, self.n, size)

    def _domain(self) -> Any: return T.and_(self.N > 0, self.k >= 0, self.n >= 0, self.k <= self.N, self.n <= self.N)

    def _variance(self) -> Any:
        share = self.k / self.N
        return self.n * share * (1 - share) * (self.N - self.n) / (self.N - 1)


class DiscreteUniform(Distribution):
    """Whole numbers from lower to upper, all equally likely."""

    parameters: ClassVar[tuple[str, ...]] = ("lower", "upper")
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        return inside(whole(x, self.lower, self.upper), -T.log(self.upper - self.lower + 1.0), -math.inf)

    def cdf(self, x: Any) -> Any:
        k = T.clip(floor(x), self.lower - 1, self.upper)
        return (k - self.lower + 1) / (self.upper - self.lower + 1)

    def mean(self) -> Any:
        return (self.lower + self.upper) / 2

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.integers(self.lower, self.upper + 1, size)

    def _first(self) -> Any: return self.lower
    def _domain(self) -> Any: return self.lower <= self.upper
    def _variance(self) -> Any: return (self.upper - self.lower) * (self.upper - self.lower + 2.0) / 12
    def _entropy(self) -> Any: return T.log(self.upper - self.lower + 1.0)

    def _skewness_and_kurtosis(self) -> Any:
        square = T.square(self.upper - self.lower + 1.0)
        return 0 * square, -1.2 * (square + 1) / (square - 1)

    def _quantile(self, q: Any) -> Any:
        found = T.ceil(q * (self.upper - self.lower + 1) + self.lower) - 1
        return least(self, q, T.maximum(found, self.lower), self.lower)


class LogSeries(Distribution):
    """Numbers from 1 on of probability -p**k / (k log(1 - p))."""

    parameters: ClassVar[tuple[str, ...]] = ("p",)
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        ok = whole(x, 1)
        k = T.switch(ok, x, 1)
        return inside(ok, k * T.log(self.p) - T.log(1.0 * k) - T.log(-T.log1p(-self.p)), -math.inf)

    def cdf(self, x: Any) -> Any:
        # 1 + B_p(k + 1, 0) / log(1 - p); the sum after k is p**(k + 1) / (k + 1) times 2F1(k + 1, 1; k + 2; p)
        k = T.maximum(floor(x), 0)
        rest = self.p ** (k + 1) / (k + 1) * S.hyp2f1(k + 1, 1.0, k + 2, self.p)
        return inside(k >= 1, 1 + rest / T.log1p(-self.p), 0.0)

    def mean(self) -> Any:
        return -self.p / ((1 - self.p) * T.log1p(-self.p))

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.logseries(self.p, size)

    def _domain(self) -> Any: return T.logical_and(self.p > 0, self.p < 1)

    def _variance(self) -> Any:
        size = T.log1p(-self.p)
        return -self.p * (self.p + size) / T.square((1 - self.p) * size)

    def _tail(self, x: Any) -> Any:
        k = T.maximum(floor(x), 0)
        return self.p ** (k + 1) / (k + 1) * S.hyp2f1(k + 1, 1.0, k + 2, self.p) / -T.log1p(-self.p)


class Zipf(Distribution):
    """Numbers from 1 on of probability k**-a / zeta(a)."""

    parameters: ClassVar[tuple[str, ...]] = ("a",)
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        ok = whole(x, 1)
        return inside(ok, -self.a * T.log(1.0 * T.switch(ok, x, 1)) - T.log(S.zeta(self.a)), -math.inf)

    def cdf(self, x: Any) -> Any:
        k = T.maximum(floor(x), 0)
        return 1 - S.zeta(self.a, k + 1) / S.zeta(self.a)

    def mean(self) -> Any:
        return T.switch(self.a > 2, S.zeta(T.maximum(self.a - 1, 1.0)) / S.zeta(self.a), math.inf)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.zipf(self.a, size)

    def _domain(self) -> Any: return self.a > 1
    def _tail(self, x: Any) -> Any: return S.zeta(self.a, T.maximum(floor(x), 0) + 1) / S.zeta(self.a)

    def _variance(self) -> Any:
        first, second = (S.zeta(T.maximum(self.a - k, 1.0)) / S.zeta(self.a) for k in (1, 2))
        return T.switch(self.a > 3, second - T.square(first), math.inf)


class Categorical(Distribution):
    """One of several outcomes, 0, 1, ...; p, along its last axis, says how likely each is."""

    parameters: ClassVar[tuple[str, ...]] = ("p",)
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        n = T.lengths_of(self.p)[-1]
        ok = whole(x, 0, n - 1)
        place = T.cast(T.switch(ok, x, 0), "int64")
        if self.p.ndim == 1:
            found = self.p[place]
        else:
            place = T.broadcast_to(place, T.lengths_of(self.p)[:-1])
            found = T.take_along_axis(self.p, T.expand_dims(place, -1), axis=-1)[..., 0]
        return inside(ok, T.log(found), -math.inf)

    def cdf(self, x: Any) -> Any:
        counted = T.arange(T.lengths_of(self.p)[-1]) <= T.expand_dims(as_tensor(x), -1)
        return T.sum(T.switch(counted, self.p, 0), axis=-1)

    def mean(self) -> Any:
        return T.sum(self.p * T.arange(T.lengths_of(self.p)[-1]), axis=-1)

    def sample(self, rng: Any, size: Any = None) -> Any:
        shape = size if size is not None else T.lengths_of(self.p)[:-1]
        u = T.expand_dims(rng.uniform(size=shape), -1)
        below = T.cumsum(self.p, axis=-1)
        return T.sum(T.cast(u >= below[..., :-1] / below[..., -1:], "int64"), axis=-1)

    def _entropy(self) -> Any: return T.sum(S.entr(self.p), axis=-1)

    def _variance(self) -> Any:
        outcomes = T.arange(T.lengths_of(self.p)[-1])
        return T.sum(self.p * T.square(outcomes - T.expand_dims(self.mean(), -1)), axis=-1)

    def _quantile(self, q: Any) -> Any:
        below = T.cumsum(self.p, axis=-1)
        return 1.0 * T.sum(T.cast(below[..., :-1] < T.expand_dims(q, -1), "int64"), axis=-1)
