"""Distributions of vectors, along the last axis; none has a distribution function here."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..core.namespace import T
from ..core.tensor import as_tensor
from .continuous import HALF_LOG_2PI, NORMAL_ENTROPY
from .distribution import Distribution, NoClosedForm, inside

__all__ = ["Dirichlet", "Multinomial", "MultivariateNormal"]

S: Any = T.special


class _OfVectors(Distribution):
    def log_cdf(self, x: Any) -> Any:
        raise NoClosedForm(f"{type(self).__name__}: the distribution function of vectors has no formula; average draws")

    cdf = log_cdf


class MultivariateNormal(_OfVectors):
    """Normal vectors of mean mu and covariance cov."""

    parameters: ClassVar[tuple[str, ...]] = ("mu", "cov")

    def log_density(self, x: Any) -> Any:
        root = T.linalg.cholesky(self.cov)
        z = T.linalg.solve_triangular(root, T.expand_dims(x - self.mu, -1), lower=True)[..., 0]
        size = T.sum(T.log(T.diagonal(root, axis1=-2, axis2=-1)), axis=-1)
        n = T.cast(T.lengths_of(self.mu)[-1], "float64")
        return -T.sum(T.square(z), axis=-1) / 2 - size - n * HALF_LOG_2PI

    def mean(self) -> Any:
        return 1.0 * self.mu

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.multivariate_normal(self.mu, self.cov, size)

    def _variance(self) -> Any: return T.diagonal(self.cov, axis1=-2, axis2=-1) + 0 * self.mu

    def _entropy(self) -> Any:
        root = T.linalg.cholesky(self.cov)
        n = T.cast(T.lengths_of(self.mu)[-1], "float64")
        return T.sum(T.log(T.diagonal(root, axis1=-2, axis2=-1)), axis=-1) + n * NORMAL_ENTROPY


class Dirichlet(_OfVectors):
    """Vectors of positive numbers of sum 1."""

    parameters: ClassVar[tuple[str, ...]] = ("a",)

    def log_density(self, x: Any) -> Any:
        x = as_tensor(x)
        ok = T.logical_and(T.all(x >= 0, axis=-1), T.abs(T.sum(x, axis=-1) - 1) < 1e-6)
        size = T.gammaln(T.sum(self.a, axis=-1)) - T.sum(T.gammaln(self.a), axis=-1)
        return inside(ok, size + T.sum(T.xlogy(self.a - 1, T.maximum(x, 0)), axis=-1), -math.inf)

    def mean(self) -> Any:
        return self.a / T.sum(self.a, axis=-1, keepdims=True)

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.dirichlet(self.a, size)

    def _variance(self) -> Any: return self.mean() * (1 - self.mean()) / (T.sum(self.a, axis=-1, keepdims=True) + 1)

    def _entropy(self) -> Any:
        total, n = T.sum(self.a, axis=-1), T.lengths_of(self.a)[-1]
        size = T.sum(T.gammaln(self.a), axis=-1) - T.gammaln(total)
        return size + (total - n) * S.digamma(total) - T.sum((self.a - 1) * S.digamma(self.a), axis=-1)


class Multinomial(_OfVectors):
    """How often each of several outcomes occurs in n trials."""

    parameters: ClassVar[tuple[str, ...]] = ("n", "p")
    is_discrete: ClassVar[bool] = True

    def log_density(self, x: Any) -> Any:
        x = as_tensor(x)
        ok = T.logical_and(T.all(T.logical_and(x >= 0, T.eq(x, T.floor(x))), axis=-1), T.eq(T.sum(x, axis=-1), self.n))
        terms = T.xlogy(1.0 * x, self.p) - T.gammaln(x + 1.0)
        return inside(ok, T.gammaln(self.n + 1.0) + T.sum(terms, axis=-1), -math.inf)

    def mean(self) -> Any:
        return T.expand_dims(self.n, -1) * self.p if self.n.ndim else self.n * self.p

    def sample(self, rng: Any, size: Any = None) -> Any:
        return rng.multinomial(self.n, self.p, size)

    def _variance(self) -> Any: return self.mean() * (1 - self.p)
