"""Entropies of the distributions: a row for each that has a formula.

Source of the formulas: A. V. Lazo, P. Rathie, "On the entropy of continuous probability distributions" (1978).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.namespace import T

S: Any = T.special
PI, EULER = math.pi, 0.57721566490153286061
H = 0.5 * math.log(2 * PI * math.e)


def _truncated_entropy(d: Any) -> Any:
    low, high, _ = d._bounds()
    mass = d._log_mass()
    ends = [T.switch(T.isinf(z), 0.0, z) * T.exp(-T.square(z) / 2 - 0.5 * math.log(2 * PI) - mass) for z in (low, high)]
    return H + T.log(d.sigma) + mass + (ends[0] - ends[1]) / 2


def _gamma_entropy(alpha: Any) -> Any:
    return alpha + T.gammaln(alpha) + (1 - alpha) * S.digamma(alpha)


def _beta_entropy(d: Any) -> Any:
    a, b = d.alpha, d.beta
    return (
        S.betaln(a, b) - (a - 1) * S.digamma(a) - (b - 1) * S.digamma(b) + (a + b - 2) * S.digamma(a + b)
    )  # fmt: skip


def _student_entropy(d: Any) -> Any:
    half = d.nu / 2
    return (
        (half + 0.5) * (S.digamma(half + 0.5) - S.digamma(half))
        + T.log(d.nu) / 2 + S.betaln(half, 0.5) + T.log(d.sigma)
    )  # fmt: skip


def _f_entropy(d: Any) -> Any:
    m, n = d.m / 2, d.n / 2
    return (
        S.betaln(m, n) + (1 - m) * S.digamma(m) - (1 + n) * S.digamma(n) + (m + n) * S.digamma(m + n) + T.log(n / m)
    )  # fmt: skip


def _wald_entropy(d: Any) -> Any:
    twice = 2 * d.lam / d.mu
    mean_of_log = T.log(d.mu) - T.exp(twice + T.log(S.exp1(twice)))
    return 0.5 * (1 + math.log(2 * PI) - T.log(d.lam)) + 1.5 * mean_of_log


def _vonmises_entropy(d: Any) -> Any:
    size = S.i0e(d.kappa)
    return T.log(2 * PI * size) + d.kappa * (1 - S.i1e(d.kappa) / size) + 0 * d.mu


def _dirichlet_entropy(d: Any) -> Any:
    total, n = T.sum(d.a, axis=-1), T.lengths_of(d.a)[-1]
    size = T.sum(T.gammaln(d.a), axis=-1) - T.gammaln(total)
    return size + (total - n) * S.digamma(total) - T.sum((d.a - 1) * S.digamma(d.a), axis=-1)


def _normal_vector_entropy(d: Any) -> Any:
    root = T.linalg.cholesky(d.cov)
    n = T.cast(T.lengths_of(d.mu)[-1], "float64")
    return T.sum(T.log(T.diagonal(root, axis1=-2, axis2=-1)), axis=-1) + n * H


ENTROPIES: dict[str, Callable[[Any], Any]] = {
    "Normal": lambda d: H + T.log(d.sigma) + 0 * d.mu,
    "LogNormal": lambda d: H + T.log(d.sigma) + d.mu,
    "HalfNormal": lambda d: H - math.log(2) + T.log(d.sigma),
    "TruncatedNormal": _truncated_entropy,
    "Uniform": lambda d: T.log(d.upper - d.lower),
    "Triangular": lambda d: 0.5 + T.log((d.upper - d.lower) / 2) + 0 * d.c,
    "Exponential": lambda d: 1 - T.log(d.lam),
    "Gamma": lambda d: _gamma_entropy(d.alpha) - T.log(d.beta),
    "InverseGamma": lambda d: d.alpha + T.log(d.beta) + T.gammaln(d.alpha) - (1 + d.alpha) * S.digamma(d.alpha),
    "ChiSquared": lambda d: _gamma_entropy(d.nu / 2) + math.log(2),
    "Beta": _beta_entropy,
    "Kumaraswamy": lambda d: (
        1 - 1 / d.b + (1 - 1 / d.a) * (S.digamma(d.b + 1) + EULER) - T.log(d.a) - T.log(d.b)
    ),
    "StudentT": lambda d: _student_entropy(d) + 0 * d.mu,
    "HalfStudentT": lambda d: _student_entropy(d) - math.log(2),
    "Cauchy": lambda d: T.log(4 * PI * d.beta) + 0 * d.alpha,
    "HalfCauchy": lambda d: T.log(2 * PI * d.beta),
    "Laplace": lambda d: 1 + T.log(2 * d.b) + 0 * d.mu,
    "AsymmetricLaplace": lambda d: 1 + T.log((d.kappa + 1 / d.kappa) / d.b) + 0 * d.mu,
    "Logistic": lambda d: T.log(d.s) + 2 + 0 * d.mu,
    "Gumbel": lambda d: T.log(d.beta) + (EULER + 1) + 0 * d.mu,
    "Weibull": lambda d: EULER * (1 - 1 / d.alpha) + T.log(d.beta / d.alpha) + 1,
    "Pareto": lambda d: T.log(d.m / d.alpha) + 1 / d.alpha + 1,
    "Rayleigh": lambda d: T.log(d.sigma) + (1 + EULER / 2 - math.log(2) / 2),
    "Maxwell": lambda d: T.log(d.sigma) + (0.5 * math.log(2 * PI) + EULER - 0.5),
    "Levy": lambda d: T.log(d.c) + 0.5 * (1 + 3 * EULER + math.log(16 * PI)) + 0 * d.mu,
    "FDistribution": _f_entropy,
    "Wald": _wald_entropy,
    "VonMises": _vonmises_entropy,
    "Bernoulli": lambda d: S.entr(d.p) + S.entr(1 - d.p),
    "Geometric": lambda d: (S.entr(d.p) + S.entr(1 - d.p)) / d.p,
    "DiscreteUniform": lambda d: T.log(d.upper - d.lower + 1.0),
    "Categorical": lambda d: T.sum(S.entr(d.p), axis=-1),
    "MultivariateNormal": _normal_vector_entropy,
    "Dirichlet": _dirichlet_entropy,
}  # fmt: skip
"""The entropy in nats, differential if the distribution is continuous."""
