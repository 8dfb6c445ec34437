"""Discrete distributions of one number; names and parameters are those of PyMC."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..core.namespace import T
from ..core.tensor import as_tensor
from .distribution import Distribution, NoClosedForm, inside

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
        k = T.floor(1.0 * as_tensor(x))
        ok = T.logical_and(k >= 0, k < self.n)
        safe = T.switch(ok, k, 0)
        return T.switch(ok, S.betaincc(safe + 1, T.maximum(self.n - safe, 1), self.p), T.switch(k < 0, 0.0, 1.0))

    def mean(self) -> Any:
        return self.n * self.p

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.binomial(self.n, self.p, size)


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


class Poisson(Distribution):
    """The Poisson distribution of mean mu."""

    parameters: ClassVar[tuple[str, ...]] = ("mu",)
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        ok = whole(x, 0)
        k = T.switch(ok, x, 0)
        return inside(ok, T.xlogy(k, self.mu) - self.mu - T.gammaln(k + 1.0), -math.inf)

    def cdf(self, x: Any) -> Any:
        k = T.floor(1.0 * as_tensor(x))
        return inside(k >= 0, S.gammaincc(T.maximum(k, 0) + 1, self.mu), 0.0)

    def mean(self) -> Any:
        return 1.0 * self.mu

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.poisson(self.mu, size)


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


class Geometric(Distribution):
    """The number of the first of several trials that succeeds, from 1 on."""

    parameters: ClassVar[tuple[str, ...]] = ("p",)
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        ok = whole(x, 1)
        return inside(ok, T.log(self.p) + S.xlog1py(T.switch(ok, x, 1) - 1.0, -self.p), -math.inf)

    def cdf(self, x: Any) -> Any:
        return -T.expm1(S.xlog1py(T.maximum(T.floor(1.0 * as_tensor(x)), 0), -self.p))

    def mean(self) -> Any:
        return 1 / self.p

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.geometric(self.p, size)


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
        k = T.floor(1.0 * as_tensor(x))
        return inside(k >= 0, S.betainc(self.n, T.maximum(k, 0) + 1, self.p), 0.0)

    def mean(self) -> Any:
        return self.n * (1 - self.p) / self.p

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.negative_binomial(self.n, self.p, size)


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


class DiscreteUniform(Distribution):
    """Whole numbers from lower to upper, all equally likely."""

    parameters: ClassVar[tuple[str, ...]] = ("lower", "upper")
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        return inside(whole(x, self.lower, self.upper), -T.log(self.upper - self.lower + 1.0), -math.inf)

    def cdf(self, x: Any) -> Any:
        k = T.clip(T.floor(1.0 * as_tensor(x)), self.lower - 1, self.upper)
        return (k - self.lower + 1) / (self.upper - self.lower + 1)

    def mean(self) -> Any:
        return (self.lower + self.upper) / 2

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.integers(self.lower, self.upper + 1, size)


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
        k = T.maximum(T.floor(1.0 * as_tensor(x)), 0)
        rest = self.p ** (k + 1) / (k + 1) * S.hyp2f1(k + 1, 1.0, k + 2, self.p)
        return inside(k >= 1, 1 + rest / T.log1p(-self.p), 0.0)

    def mean(self) -> Any:
        return -self.p / ((1 - self.p) * T.log1p(-self.p))

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.logseries(self.p, size)


class Zipf(Distribution):
    """Numbers from 1 on of probability k**-a / zeta(a)."""

    parameters: ClassVar[tuple[str, ...]] = ("a",)
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        ok = whole(x, 1)
        return inside(ok, -self.a * T.log(1.0 * T.switch(ok, x, 1)) - T.log(S.zeta(self.a)), -math.inf)

    def cdf(self, x: Any) -> Any:
        k = T.maximum(T.floor(1.0 * as_tensor(x)), 0)
        return 1 - S.zeta(self.a, k + 1) / S.zeta(self.a)

    def mean(self) -> Any:
        return T.switch(self.a > 2, S.zeta(T.maximum(self.a - 1, 1.0)) / S.zeta(self.a), math.inf)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.zipf(self.a, size)


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
