"""Variances, skewness and excess kurtosis of the distributions: a row for each that has a formula.

Source of the formulas: N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous univariate distributions" (1994), and
N. L. Johnson, A. W. Kemp, S. Kotz, "Univariate discrete distributions" (2005).  Where a moment does not exist the value
is SciPy's, inf or NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.namespace import T

S: Any = T.special
INF, NAN, PI = math.inf, math.nan, math.pi


def _truncated_normal(d: Any) -> Any:
    low, high, _ = d._bounds()
    mass = d._log_mass()
    first, last = (T.exp(-T.square(z) / 2 - 0.5 * math.log(2 * PI) - mass) for z in (low, high))
    ends = (T.switch(T.isinf(z), 0.0, z) * density for z, density in ((low, first), (high, last)))
    return T.square(d.sigma) * (1 + next(ends) - next(ends) - T.square(first - last))


def _hypergeometric(d: Any) -> Any:
    share = d.k / d.N
    return d.n * share * (1 - share) * (d.N - d.n) / (d.N - 1)


def _variance_of_beta(d: Any) -> Any:
    total = d.alpha + d.beta
    return d.alpha * d.beta / (T.square(total) * (total + 1))


def _log_series(d: Any) -> Any:
    size = T.log1p(-d.p)
    return -d.p * (d.p + size) / T.square((1 - d.p) * size)


def _zipf(d: Any) -> Any:
    first, second = (S.zeta(T.maximum(d.a - k, 1.0)) / S.zeta(d.a) for k in (1, 2))
    return T.switch(d.a > 3, second - T.square(first), INF)


def _categorical(d: Any) -> Any:
    outcomes = T.arange(T.lengths_of(d.p)[-1])
    return T.sum(d.p * T.square(outcomes - T.expand_dims(d.mean(), -1)), axis=-1)


VARIANCES: dict[str, Callable[[Any], Any]] = {
    "Normal": lambda d: T.square(d.sigma) + 0 * d.mu,
    "LogNormal": lambda d: T.expm1(T.square(d.sigma)) * T.exp(2 * d.mu + T.square(d.sigma)),
    "HalfNormal": lambda d: T.square(d.sigma) * (1 - 2 / PI),
    "TruncatedNormal": _truncated_normal,
    "SkewNormal": lambda d: T.square(d.sigma) * (1 - T.square(d._delta()) * (2 / PI)) + 0 * d.mu,
    "ExGaussian": lambda d: T.square(d.sigma) + T.square(d.nu) + 0 * d.mu,
    "Uniform": lambda d: T.square(d.upper - d.lower) / 12,
    "Triangular": lambda d: (
        T.square(d.c - d.lower) + T.square(d.upper - d.c) + (d.c - d.lower) * (d.upper - d.c)
    ) / 18,
    "Exponential": lambda d: 1 / T.square(d.lam),
    "Gamma": lambda d: d.alpha / T.square(d.beta),
    "InverseGamma": lambda d: T.switch(d.alpha > 2, T.square(d.beta / (d.alpha - 1)) / (d.alpha - 2), INF),
    "ChiSquared": lambda d: 2.0 * d.nu,
    "Beta": _variance_of_beta,
    "Kumaraswamy": lambda d: d.b * S.beta(1 + 2 / d.a, d.b) - T.square(d.mean()),
    "StudentT": lambda d: T.switch(d.nu > 2, T.square(d.sigma) * (d.nu / (d.nu - 2)), T.switch(d.nu > 1, INF, NAN))
    + 0 * d.mu,
    "HalfStudentT": lambda d: T.switch(
        d.nu > 2, T.square(d.sigma) * (d.nu / (d.nu - 2)) - T.square(T.switch(d.nu > 2, d.mean(), 0)), INF
    ),
    "Cauchy": lambda d: NAN * (d.alpha + d.beta),
    "HalfCauchy": lambda d: INF * d.beta,
    "Laplace": lambda d: 2 * T.square(d.b) + 0 * d.mu,
    "AsymmetricLaplace": lambda d: (T.square(d.kappa) + 1 / T.square(d.kappa)) / T.square(d.b) + 0 * d.mu,
    "Logistic": lambda d: T.square(d.s) * (PI * PI / 3) + 0 * d.mu,
    "Gumbel": lambda d: T.square(d.beta) * (PI * PI / 6) + 0 * d.mu,
    "Weibull": lambda d: T.square(d.beta) * (T.gamma(1 + 2 / d.alpha) - T.square(T.gamma(1 + 1 / d.alpha))),
    "Pareto": lambda d: T.switch(d.alpha > 2, T.square(d.m / (d.alpha - 1)) * (d.alpha / (d.alpha - 2)), INF),
    "Rayleigh": lambda d: T.square(d.sigma) * (2 - PI / 2),
    "Maxwell": lambda d: T.square(d.sigma) * (3 - 8 / PI),
    "Levy": lambda d: INF * (1 + 0 * d.mu + 0 * d.c),
    "FDistribution": lambda d: T.switch(
        d.n > 4, 2 * T.square(d.n / (d.n - 2)) * (d.m + d.n - 2) / (d.m * (d.n - 4)), INF
    ),
    "Wald": lambda d: d.mu**3 / d.lam,
    "Bernoulli": lambda d: d.p * (1 - d.p),
    "Binomial": lambda d: d.n * d.p * (1 - d.p),
    "BetaBinomial": lambda d: _variance_of_beta(d) * d.n * (d.alpha + d.beta + d.n),
    "Poisson": lambda d: 1.0 * d.mu,
    "ZeroInflatedPoisson": lambda d: d.psi * d.mu * (1 + (1 - d.psi) * d.mu),
    "Geometric": lambda d: (1 - d.p) / T.square(d.p),
    "NegativeBinomial": lambda d: d.n * (1 - d.p) / T.square(d.p),
    "Hypergeometric": _hypergeometric,
    "DiscreteUniform": lambda d: (d.upper - d.lower) * (d.upper - d.lower + 2.0) / 12,
    "LogSeries": _log_series,
    "Zipf": _zipf,
    "Categorical": _categorical,
    "MultivariateNormal": lambda d: T.diagonal(d.cov, axis1=-2, axis2=-1) + 0 * d.mu,
    "Dirichlet": lambda d: d.mean() * (1 - d.mean()) / (T.sum(d.a, axis=-1, keepdims=True) + 1),
    "Multinomial": lambda d: d.mean() * (1 - d.p),
}  # fmt: skip
"""The variance, of each element of vectors; VonMises and LogitNormal have no formula."""


def _log_normal(d: Any) -> Any:
    w = T.exp(T.square(d.sigma))
    return (w + 2) * T.sqrt(w - 1), w**4 + 2 * w**3 + 3 * T.square(w) - 6


def _skew_normal(d: Any) -> Any:
    mean = d._delta() * math.sqrt(2 / PI)
    rest = 1 - T.square(mean)
    return (4 - PI) / 2 * mean**3 / rest**1.5, 2 * (PI - 3) * mean**4 / T.square(rest)


def _ex_gaussian(d: Any) -> Any:
    ratio = T.square(d.nu) / (T.square(d.sigma) + T.square(d.nu))
    return 2 * ratio**1.5, 6 * T.square(ratio)


def _triangular(d: Any) -> Any:
    c = (d.c - d.lower) / (d.upper - d.lower)
    return math.sqrt(2) * (1 - 2 * c) * (c + 1) * (2 - c) / (5 * (1 - c + T.square(c)) ** 1.5), -0.6 + 0 * c


def _inverse_gamma(d: Any) -> Any:
    a = d.alpha
    skewness = T.switch(a > 3, 4 * T.sqrt(T.maximum(a - 2, 0)) / (a - 3), NAN)
    return skewness, T.switch(a > 4, 6 * (5 * a - 11) / ((a - 3) * (a - 4)), NAN)


def _beta(d: Any) -> Any:
    a, b = d.alpha, d.beta
    total = a + b
    even = T.square(a - b) * (total + 1) - a * b * (total + 2)
    return (
        2 * (b - a) * T.sqrt(total + 1) / ((total + 2) * T.sqrt(a * b)),
        6 * even / (a * b * (total + 2) * (total + 3)),
    )


def _pareto(d: Any) -> Any:
    a = d.alpha
    skewness = T.switch(a > 3, 2 * (1 + a) / (a - 3) * T.sqrt(T.maximum(1 - 2 / a, 0)), NAN)
    return skewness, T.switch(a > 4, 6 * (a**3 + T.square(a) - 6 * a - 2) / (a * (a - 3) * (a - 4)), NAN)


def _bernoulli(p: Any, trials: Any) -> Any:
    share = T.switch(p * (1 - p) > 0, p, NAN)
    variance = share * (1 - share)
    return (1 - 2 * p) / T.sqrt(trials * variance), (1 - 6 * variance) / (trials * variance)


def _discrete_uniform(d: Any) -> Any:
    square = T.square(d.upper - d.lower + 1.0)
    return 0 * square, -1.2 * (square + 1) / (square - 1)


SHAPES: dict[str, Callable[[Any], Any]] = {
    "Normal": lambda d: (0 * d.sigma, 0 * d.sigma),
    "LogNormal": _log_normal,
    "HalfNormal": lambda d: (
        math.sqrt(2) * (4 - PI) / (PI - 2) ** 1.5 + 0 * d.sigma, 8 * (PI - 3) / (PI - 2) ** 2 + 0 * d.sigma
    ),
    "SkewNormal": _skew_normal,
    "ExGaussian": _ex_gaussian,
    "Uniform": lambda d: (0 * (d.upper - d.lower), -1.2 + 0 * (d.upper - d.lower)),
    "Triangular": _triangular,
    "Exponential": lambda d: (2 + 0 * d.lam, 6 + 0 * d.lam),
    "Gamma": lambda d: (2 / T.sqrt(d.alpha), 6 / d.alpha),
    "InverseGamma": _inverse_gamma,
    "ChiSquared": lambda d: (T.sqrt(8 / d.nu), 12 / d.nu),
    "Beta": _beta,
    "StudentT": lambda d: (
        T.switch(d.nu > 3, 0.0, NAN), T.switch(d.nu > 4, 6 / (d.nu - 4), T.switch(d.nu > 2, INF, NAN))
    ),
    "Cauchy": lambda d: (NAN * d.beta, NAN * d.beta),
    "HalfCauchy": lambda d: (NAN * d.beta, NAN * d.beta),
    "Levy": lambda d: (NAN * d.c, NAN * d.c),
    "Laplace": lambda d: (0 * d.b, 3 + 0 * d.b),
    "Logistic": lambda d: (0 * d.s, 1.2 + 0 * d.s),
    "Gumbel": lambda d: (12 * math.sqrt(6) * 1.20205690315959428540 / PI**3 + 0 * d.beta, 2.4 + 0 * d.beta),
    "Pareto": _pareto,
    "Rayleigh": lambda d: (
        2 * (PI - 3) * math.sqrt(PI) / (4 - PI) ** 1.5 + 0 * d.sigma,
        6 * PI / (4 - PI) - 16 / (4 - PI) ** 2 + 0 * d.sigma,
    ),
    "Maxwell": lambda d: (
        math.sqrt(2) * (32 - 10 * PI) / (3 * PI - 8) ** 1.5 + 0 * d.sigma,
        (-12 * PI * PI + 160 * PI - 384) / (3 * PI - 8) ** 2 + 0 * d.sigma,
    ),
    "Wald": lambda d: (3 * T.sqrt(d.mu / d.lam), 15 * d.mu / d.lam),
    "Bernoulli": lambda d: _bernoulli(d.p, 1),
    "Binomial": lambda d: _bernoulli(d.p, d.n),
    "Poisson": lambda d: (1 / T.sqrt(d.mu), 1 / d.mu),
    "Geometric": lambda d: ((2 - d.p) / T.sqrt(1 - d.p), 6 + T.square(d.p) / (1 - d.p)),
    "NegativeBinomial": lambda d: (
        (2 - d.p) / T.sqrt(d.n * (1 - d.p)), (6 + T.square(d.p) / (1 - d.p)) / d.n
    ),
    "DiscreteUniform": _discrete_uniform,
}  # fmt: skip
"""Skewness and excess kurtosis."""
