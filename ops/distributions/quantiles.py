"""Quantiles, upper tails and domains of the distributions: a row for each.

A quantile is the least number whose distribution function is at least q, and an upper tail the probability of more
than x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.namespace import T
from ..core.tensor import as_tensor

S: Any = T.special
PI = math.pi


def _truncated_normal(d: Any, q: Any) -> Any:
    low, high, mirrored = d._bounds()
    below, above = S.ndtr(low), S.ndtr(high)
    z = T.clip(S.ndtri(below + (above - below) * T.switch(mirrored, 1 - q, q)), low, high)
    return d.mu + d.sigma * T.switch(mirrored, -z, z)


def _triangular(d: Any, q: Any) -> Any:
    width, rise = d.upper - d.lower, d.c - d.lower
    left = d.lower + T.sqrt(T.maximum(q * width * rise, 0))
    right = d.upper - T.sqrt(T.maximum((1 - q) * width * (d.upper - d.c), 0))
    return T.switch(q * width <= rise, left, right)


def _student_size(nu: Any, outside: Any, inside: Any) -> Any:
    """The size of a number of Student's distribution: larger with probability `outside`, `inside` is the rest."""
    far = S.betaincinv(nu / 2, 0.5, outside)
    near = S.betaincinv(0.5, nu / 2, inside)
    return T.sqrt(nu * T.switch(outside < 0.5, (1 - far) / far, near / (1 - near)))


def _student(d: Any, q: Any) -> Any:
    tail = T.minimum(q, 1 - q)
    return d.mu + d.sigma * T.sgn(q - 0.5) * _student_size(d.nu, 2 * tail, 1 - 2 * tail)


def _laplace(d: Any, q: Any) -> Any:
    return d.mu + d.b * T.switch(q < 0.5, T.log(2 * q), -T.log(2 * (1 - q)))


def _asymmetric_laplace(d: Any, q: Any) -> Any:
    square = T.square(d.kappa)
    share = square / (1 + square)
    low = T.log(q / share) * d.kappa
    return d.mu + T.switch(q < share, low, -T.log((1 - q) * (1 + square)) / d.kappa) / d.b


def _f(d: Any, q: Any) -> Any:
    m, n = d.m / 2, d.n / 2
    return n * S.betaincinv(m, n, q) / (m * S.betainccinv(n, m, q))


def _vonmises(d: Any, q: Any) -> Any:
    turns = d._unwrapped(-PI) + q
    whole = T.floor(turns)
    return T.clip(d.mu + 2 * PI * whole + S.vonmises_quantile(d.kappa, turns - whole), -PI, PI)


def _least(d: Any, q: Any, found: Any, lowest: Any) -> Any:
    """The least whole number whose distribution function is at least q, `found` or one less."""
    less = T.maximum(found - 1, lowest)
    return T.switch(d.cdf(less) >= q, less, found)


def _geometric(d: Any, q: Any) -> Any:
    return _least(d, q, T.maximum(T.ceil(T.log1p(-q) / T.log1p(-d.p)), 1), 1)


def _discrete_uniform(d: Any, q: Any) -> Any:
    return _least(d, q, T.maximum(T.ceil(q * (d.upper - d.lower + 1) + d.lower) - 1, d.lower), d.lower)


def _zero_inflated(d: Any, q: Any) -> Any:
    rest = (q - (1 - d.psi)) / d.psi
    return T.switch(rest > 0, S.poisson_quantile(d.mu, T.maximum(rest, 0.5 * (rest <= 0))), 0.0)


def _categorical(d: Any, q: Any) -> Any:
    below = T.cumsum(d.p, axis=-1)
    return 1.0 * T.sum(T.cast(below[..., :-1] < T.expand_dims(q, -1), "int64"), axis=-1)


QUANTILES: dict[str, Callable[[Any, Any], Any]] = {
    "Normal": lambda d, q: d.mu + d.sigma * S.ndtri(q),
    "LogNormal": lambda d, q: T.exp(d.mu + d.sigma * S.ndtri(q)),
    "HalfNormal": lambda d, q: d.sigma * (math.sqrt(2) * S.erfinv(q)),
    "TruncatedNormal": _truncated_normal,
    "LogitNormal": lambda d, q: T.sigmoid(d.mu + d.sigma * S.ndtri(q)),
    "Uniform": lambda d, q: d.lower + q * (d.upper - d.lower),
    "Triangular": _triangular,
    "Exponential": lambda d, q: -T.log1p(-q) / d.lam,
    "Gamma": lambda d, q: S.gammaincinv(d.alpha, q) / d.beta,
    "InverseGamma": lambda d, q: d.beta / S.gammainccinv(d.alpha, q),
    "ChiSquared": lambda d, q: 2 * S.gammaincinv(d.nu / 2, q),
    "Beta": lambda d, q: S.betaincinv(d.alpha, d.beta, q),
    "Kumaraswamy": lambda d, q: (-T.expm1(T.log1p(-q) / d.b)) ** (1 / d.a),
    "StudentT": _student,
    "HalfStudentT": lambda d, q: d.sigma * _student_size(d.nu, 1 - q, q),
    "Cauchy": lambda d, q: d.alpha + d.beta * T.sgn(q - 0.5) / T.tan(PI * T.minimum(q, 1 - q)),
    "HalfCauchy": lambda d, q: d.beta * T.switch(q < 0.5, T.tan(PI / 2 * q), 1 / T.tan(PI / 2 * (1 - q))),
    "Laplace": _laplace,
    "AsymmetricLaplace": _asymmetric_laplace,
    "Logistic": lambda d, q: d.mu + d.s * S.logit(q),
    "Gumbel": lambda d, q: d.mu - d.beta * T.log(-T.log(q)),
    "Weibull": lambda d, q: d.beta * (-T.log1p(-q)) ** (1 / d.alpha),
    "Pareto": lambda d, q: d.m * T.exp(-T.log1p(-q) / d.alpha),
    "Rayleigh": lambda d, q: d.sigma * T.sqrt(-2 * T.log1p(-q)),
    "Maxwell": lambda d, q: d.sigma * T.sqrt(2 * S.gammaincinv(1.5, q)),
    "Levy": lambda d, q: d.mu + d.c / T.square(S.ndtri(q / 2)),
    "FDistribution": _f,
    "VonMises": _vonmises,
    "Bernoulli": lambda d, q: T.switch(T.logical_or(q > 1 - d.p, q >= 1), 1.0, 0.0),
    "Binomial": lambda d, q: S.binomial_quantile(d.n, d.p, q),
    "Poisson": lambda d, q: S.poisson_quantile(d.mu, q),
    "ZeroInflatedPoisson": _zero_inflated,
    "Geometric": _geometric,
    "DiscreteUniform": _discrete_uniform,
    "Categorical": _categorical,
}
"""The quantile of q between 0 and 1."""


def before(d: Any) -> Any:
    """The number before the first of a discrete distribution that has a quantile."""
    return getattr(d, "lower", 1.0 if type(d).__name__ == "Geometric" else 0.0) - 1.0


def _above(log: Callable[[Any, Any], Any]) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The tail and its logarithm by the latter."""
    return (lambda d, x: T.exp(log(d, x))), log


def _tail(of: Callable[[Any, Any], Any]) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The tail and its logarithm by the former."""
    return of, (lambda d, x: T.log(of(d, x)))


def _truncated_tail(d: Any, x: Any) -> Any:
    low, high = (d.lower - d.mu) / d.sigma, (d.upper - d.mu) / d.sigma
    z = (as_tensor(x) - d.mu) / d.sigma
    is_within = T.logical_and(z > low, z < high)
    safe = T.switch(is_within, z, T.switch(T.isinf(low), T.minimum(high, 0) - 1, low))
    is_above = safe > 0  # the tail that is shorter
    first, second = S.log_ndtr(T.switch(is_above, -safe, high)), S.log_ndtr(T.switch(is_above, -high, safe))
    found = first + T.log1mexp(second - first) - d._log_mass()
    return T.switch(is_within, found, T.switch(z <= low, 0.0, T.switch(z >= high, -math.inf, math.nan)))


def _whole_numbers(x: Any) -> Any:
    return T.floor(1.0 * as_tensor(x))


def _binomial_tail(d: Any, x: Any) -> Any:
    k = _whole_numbers(x)
    ok = T.logical_and(k >= 0, k < d.n)
    safe = T.switch(ok, k, 0)
    return T.switch(ok, S.betainc(safe + 1, T.maximum(d.n - safe, 1), d.p), T.switch(k < 0, 1.0, 0.0))


def _from_zero(of: Callable[[Any, Any], Any]) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The tail of a count k, and 1 below 0."""

    def tail(d: Any, x: Any) -> Any:
        k = _whole_numbers(x)
        return T.switch(k >= 0, of(d, T.maximum(k, 0)), 1.0)

    return _tail(tail)


def _student_tail(d: Any, x: Any) -> Any:
    return type(d)(d.nu, -d.mu, d.sigma).cdf(-as_tensor(x))


def _half_student_tail(d: Any, x: Any) -> Any:
    z = T.square(T.maximum(x, 0) / d.sigma)
    return S.betainc(d.nu / 2, 0.5, d.nu / (d.nu + z))


def _f_tail(d: Any, x: Any) -> Any:
    y = d.m * T.maximum(x, 0)
    return S.betainc(d.n / 2, d.m / 2, d.n / (y + d.n))


def _wald_tail(d: Any, x: Any) -> Any:
    is_within = T.logical_and(as_tensor(x) > 0, as_tensor(x) < math.inf)
    z, second = d._terms(T.switch(is_within, x, 1))
    first = S.log_ndtr(-z)
    return T.switch(is_within, first + T.log1mexp(second - first), T.switch(as_tensor(x) <= 0, 0.0, -math.inf))


def _ex_gaussian_tail(d: Any, x: Any) -> Any:
    z = (x - d.mu) / d.sigma
    return S.ndtr(-z) + d._of_exponential(z)


def _asymmetric_tail(d: Any, x: Any) -> Any:
    return type(d)(1 / d.kappa, -d.mu, d.b).cdf(-as_tensor(x))


def _inverse_gamma_tail(d: Any, x: Any) -> Any:
    ok = as_tensor(x) > 0
    return T.switch(ok, S.gammainc(d.alpha, d.beta / T.switch(ok, x, 1)), 1.0)


def _levy_tail(d: Any, x: Any) -> Any:
    y = x - d.mu
    return T.switch(y > 0, T.erf(T.sqrt(d.c / (2 * T.switch(y > 0, y, 1)))), 1.0)


def _log_series_tail(d: Any, x: Any) -> Any:
    k = T.maximum(_whole_numbers(x), 0)
    return d.p ** (k + 1) / (k + 1) * S.hyp2f1(k + 1, 1.0, k + 2, d.p) / -T.log1p(-d.p)


def _standard_normal(z: Callable[[Any, Any], Any]) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    return (lambda d, x: S.ndtr(-z(d, x))), (lambda d, x: S.log_ndtr(-z(d, x)))


TAILS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "Normal": _standard_normal(lambda d, x: (x - d.mu) / d.sigma),
    "LogNormal": _standard_normal(lambda d, x: (T.log(T.maximum(x, 0)) - d.mu) / d.sigma),
    "LogitNormal": _standard_normal(lambda d, x: (S.logit(T.clip(x, 0.0, 1.0)) - d.mu) / d.sigma),
    "HalfNormal": _tail(lambda d, x: T.erfc(T.maximum(x, 0) / (d.sigma * math.sqrt(2)))),
    "TruncatedNormal": _above(_truncated_tail),
    "SkewNormal": _tail(lambda d, x: type(d)(-d.mu, d.sigma, -d.alpha).cdf(-as_tensor(x))),
    "ExGaussian": _tail(_ex_gaussian_tail),
    "Uniform": _tail(lambda d, x: (d.upper - T.clip(x, d.lower, d.upper)) / (d.upper - d.lower)),
    "Triangular": _tail(lambda d, x: type(d)(-d.upper, -d.c, -d.lower).cdf(-as_tensor(x))),
    "Exponential": _above(lambda d, x: -d.lam * T.maximum(x, 0)),
    "Gamma": _tail(lambda d, x: S.gammaincc(d.alpha, d.beta * T.maximum(x, 0))),
    "InverseGamma": _tail(_inverse_gamma_tail),
    "ChiSquared": _tail(lambda d, x: S.gammaincc(d.nu / 2, T.maximum(x, 0) / 2)),
    "Beta": _tail(lambda d, x: S.betaincc(d.alpha, d.beta, T.clip(x, 0.0, 1.0))),
    "Kumaraswamy": _above(lambda d, x: S.xlog1py(d.b, -(T.clip(x, 0.0, 1.0) ** d.a))),
    "StudentT": _tail(_student_tail),
    "HalfStudentT": _tail(_half_student_tail),
    "Cauchy": _tail(lambda d, x: T.arctan2(1.0, (x - d.alpha) / d.beta) / PI),
    "HalfCauchy": _tail(lambda d, x: 2 / PI * T.arctan2(1.0, T.maximum(x, 0) / d.beta)),
    "Laplace": _above(lambda d, x: type(d)(-d.mu, d.b).log_cdf(-as_tensor(x))),
    "AsymmetricLaplace": _tail(_asymmetric_tail),
    "Logistic": _above(lambda d, x: -T.softplus((x - d.mu) / d.s)),
    "Gumbel": _tail(lambda d, x: -T.expm1(-T.exp(-(x - d.mu) / d.beta))),
    "Weibull": _above(lambda d, x: -((T.maximum(x, 0) / d.beta) ** d.alpha)),
    "Pareto": _above(lambda d, x: d.alpha * T.log(d.m / T.maximum(x, d.m))),
    "Rayleigh": _above(lambda d, x: -T.square(T.maximum(x, 0) / d.sigma) / 2),
    "Maxwell": _tail(lambda d, x: S.gammaincc(1.5, T.square(T.maximum(x, 0) / d.sigma) / 2)),
    "Levy": _tail(_levy_tail),
    "FDistribution": _tail(_f_tail),
    "Wald": _above(_wald_tail),
    "Binomial": _tail(_binomial_tail),
    "Poisson": _from_zero(lambda d, k: S.gammainc(k + 1, d.mu)),
    "ZeroInflatedPoisson": _from_zero(lambda d, k: d.psi * S.gammainc(k + 1, d.mu)),
    "Geometric": _above(lambda d, x: S.xlog1py(T.maximum(_whole_numbers(x), 0), -d.p)),
    "NegativeBinomial": _from_zero(lambda d, k: S.betaincc(d.n, k + 1, d.p)),
    "LogSeries": _tail(_log_series_tail),
    "Zipf": _tail(lambda d, x: S.zeta(d.a, T.maximum(_whole_numbers(x), 0) + 1) / S.zeta(d.a)),
}
"""The probability of more than x and its logarithm; that of others is 1 less the distribution function."""


def _share(p: Any) -> Any:
    return T.logical_and(p >= 0, p <= 1)


def _counts(n: Any) -> Any:
    return T.logical_and(n >= 0, T.eq(n, T.floor(1.0 * n)))


DOMAINS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("Normal", "LogNormal", "HalfNormal", "SkewNormal", "LogitNormal", "Rayleigh", "Maxwell"),
                    lambda d: d.sigma > 0),
    **dict.fromkeys(("Gamma", "InverseGamma", "Beta", "Weibull"), lambda d: T.logical_and(d.alpha > 0, d.beta > 0)),
    **dict.fromkeys(("Cauchy", "HalfCauchy", "Gumbel"), lambda d: d.beta > 0),
    **dict.fromkeys(("StudentT", "HalfStudentT"), lambda d: T.logical_and(d.nu > 0, d.sigma > 0)),
    "Bernoulli": lambda d: _share(d.p),
    "TruncatedNormal": lambda d: T.logical_and(d.sigma > 0, d.lower < d.upper),
    "ExGaussian": lambda d: T.logical_and(d.sigma > 0, d.nu > 0),
    "Uniform": lambda d: d.lower < d.upper,
    "Triangular": lambda d: T.and_(d.lower < d.upper, d.lower <= d.c, d.c <= d.upper),
    "Exponential": lambda d: d.lam > 0,
    "ChiSquared": lambda d: d.nu > 0,
    "Kumaraswamy": lambda d: T.logical_and(d.a > 0, d.b > 0),
    "Laplace": lambda d: d.b > 0,
    "AsymmetricLaplace": lambda d: T.logical_and(d.kappa > 0, d.b > 0),
    "Logistic": lambda d: d.s > 0,
    "Pareto": lambda d: T.logical_and(d.alpha > 0, d.m > 0),
    "Levy": lambda d: d.c > 0,
    "FDistribution": lambda d: T.logical_and(d.m > 0, d.n > 0),
    "Wald": lambda d: T.logical_and(d.mu > 0, d.lam > 0),
    "VonMises": lambda d: d.kappa > 0,
    "Binomial": lambda d: T.logical_and(_counts(d.n), _share(d.p)),
    "BetaBinomial": lambda d: T.and_(_counts(d.n), d.alpha > 0, d.beta > 0),
    "Poisson": lambda d: d.mu >= 0,
    "ZeroInflatedPoisson": lambda d: T.logical_and(d.mu >= 0, _share(d.psi)),
    "Geometric": lambda d: T.logical_and(d.p > 0, d.p <= 1),
    "NegativeBinomial": lambda d: T.and_(d.n > 0, d.p > 0, d.p <= 1),
    "Hypergeometric": lambda d: T.and_(d.N > 0, d.k >= 0, d.n >= 0, d.k <= d.N, d.n <= d.N),
    "DiscreteUniform": lambda d: d.lower <= d.upper,
    "LogSeries": lambda d: T.logical_and(d.p > 0, d.p < 1),
    "Zipf": lambda d: d.a > 1,
}  # fmt: skip
"""Where the parameters are in their domain; the others' parameters are vectors."""
