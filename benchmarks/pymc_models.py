"""Thirteen models of PyMC on data made here, with the shapes of the textbook examples they stand for.

Each function returns a model; `MODELS` has them by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt


def _random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def eight_schools() -> Any:
    """Effects of coaching in eight schools, non-centred."""
    effects, errors = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        theta = pm.Normal("theta", 0, 1, shape=8)
        pm.Normal("y", mu + tau * theta, errors, observed=effects)
    return model


def radon() -> Any:
    """Radon in houses of 85 counties: varying intercepts and slopes."""
    r = _random(1)
    county = r.integers(0, 85, 919)
    floor = r.integers(0, 2, 919).astype(float)
    y = 1.5 - 0.7 * floor + r.normal(size=85)[county] * 0.3 + r.normal(size=919) * 0.7
    with pm.Model() as model:
        mu_a, mu_b = pm.Normal("mu_a", 0, 10), pm.Normal("mu_b", 0, 10)
        sigma_a, sigma_b = pm.HalfCauchy("sigma_a", 5), pm.HalfCauchy("sigma_b", 5)
        a, b = pm.Normal("a", 0, 1, shape=85), pm.Normal("b", 0, 1, shape=85)
        mean = mu_a + sigma_a * a[county] + (mu_b + sigma_b * b[county]) * floor
        pm.Normal("y", mean, pm.HalfCauchy("eps", 5), observed=y)
    return model


def mixture() -> Any:
    """Mixture of three normal distributions, 1,000 points."""
    r = _random(2)
    y = r.normal(np.array([-3.0, 0, 4])[r.integers(0, 3, 1000)], 1)
    with pm.Model() as model:
        w = pm.Dirichlet("w", np.ones(3))
        mu = pm.Normal("mu", 0, 10, shape=3)
        pm.NormalMixture("y", w, mu, sigma=pm.HalfNormal("sigma", 2, shape=3), observed=y)
    return model


def ordinal() -> Any:
    """Ordered logistic regression of 1,000 answers in five grades."""
    r = _random(3)
    x = r.normal(size=(1000, 3))
    y = np.digitize(x @ [0.5, -1, 0.3] + r.logistic(size=1000), [-2, -0.5, 0.5, 2])
    with pm.Model() as model:
        cuts = pm.Normal(
            "cuts", 0, 3, shape=4, transform=pm.distributions.transforms.ordered, initval=np.array([-2.0, -1, 1, 2])
        )
        beta = pm.Normal("beta", 0, 1, shape=3)
        pm.OrderedLogistic("y", eta=pt.dot(x, beta), cutpoints=cuts, observed=y, compute_p=False)
    return model


def hidden_markov() -> Any:
    """Hidden Markov model with three states and 200 steps, by a forward pass."""
    y = _random(4).normal(size=200)
    with pm.Model() as model:
        moves = pm.Dirichlet("moves", np.ones((3, 3)))
        mu = pm.Normal("mu", 0, 3, shape=3)
        logs = pm.logp(pm.Normal.dist(mu, 1.0), y[:, None])
        log_moves = pt.log(moves)

        def step(row: Any, alpha: Any, log_moves: Any) -> Any:
            return pm.math.logsumexp(alpha[:, None] + log_moves, axis=0)[0] + row

        alphas, _ = pytensor.scan(step, [logs[1:]], [logs[0] - np.log(3)], [log_moves])
        pm.Potential("likelihood", pm.math.logsumexp(alphas[-1]))
    return model


def autoregression() -> Any:
    """Autoregression of order 2, 100 steps, by a loop."""
    y = _random(5).normal(size=100).cumsum() * 0.3
    with pm.Model() as model:
        rho, sigma = pm.Normal("rho", 0, 0.5, shape=2), pm.HalfNormal("sigma", 1)
        means, _ = pytensor.scan(
            lambda before, last, rho: rho[0] * last + rho[1] * before,
            sequences=[{"input": pt.as_tensor(y), "taps": [-2, -1]}], non_sequences=[rho],
        )  # fmt: skip
        pm.Normal("y", means, sigma, observed=y[2:])
    return model


def lkj() -> Any:
    """Correlated effects of 40 groups with an LKJ prior."""
    r = _random(6)
    group, x = r.integers(0, 40, 400), r.normal(size=400)
    y = 1 + 0.5 * x + r.normal(size=40)[group] + r.normal(size=400)
    with pm.Model() as model:
        factor, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=2))
        z = pm.Normal("z", 0, 1, shape=(40, 2))
        effects = pt.dot(z, factor.T)
        mean = pm.Normal("alpha", 0, 5) + effects[group, 0] + (pm.Normal("beta", 0, 5) + effects[group, 1]) * x
        pm.Normal("y", mean, pm.HalfNormal("sigma", 2), observed=y)
    return model


def garch() -> Any:
    """GARCH(1, 1) of 500 returns, by a loop."""
    y = _random(7).normal(size=500) * 0.5
    with pm.Model() as model:
        omega, a, b = pm.HalfNormal("omega", 1), pm.Beta("a", 2, 5), pm.Beta("b", 5, 2)
        variances, _ = pytensor.scan(
            lambda last, variance, omega, a, b: omega + a * last**2 + b * variance,
            sequences=[pt.as_tensor(y[:-1])], outputs_info=[omega / (1 - 0.5 * b)], non_sequences=[omega, a, b],
        )  # fmt: skip
        pm.Normal("y", 0, pt.sqrt(variances), observed=y[1:])
    return model


def gaussian_process() -> Any:
    """Marginal likelihood of a Gaussian process on 200 points."""
    r = _random(8)
    x = np.sort(r.uniform(0, 10, 200))[:, None]
    y = np.sin(x[:, 0]) + r.normal(size=200) * 0.2
    with pm.Model() as model:
        length, eta = pm.Gamma("length", 2, 1), pm.HalfCauchy("eta", 5)
        process = pm.gp.Marginal(cov_func=eta**2 * pm.gp.cov.Matern52(1, length))
        process.marginal_likelihood("y", X=x, y=y, sigma=pm.HalfCauchy("sigma", 5))
    return model


def volatility() -> Any:
    """Stochastic volatility of 400 returns."""
    y = _random(9).normal(size=400) * 0.02
    with pm.Model() as model:
        size = pm.Exponential("size", 10)
        level = pm.GaussianRandomWalk("level", sigma=size, shape=400, init_dist=pm.Normal.dist(0, 1))
        pm.StudentT("y", nu=pm.Exponential("nu", 0.1), sigma=pt.exp(-level), observed=y)
    return model


def weibull() -> Any:
    """Censored Weibull regression of 1,000 times."""
    r = _random(10)
    x = r.normal(size=(1000, 3))
    times = r.weibull(1.5, 1000) * np.exp(x @ [0.3, -0.2, 0.1])
    with pm.Model() as model:
        alpha, beta = pm.HalfNormal("alpha", 2), pm.Normal("beta", 0, 1, shape=3)
        latent = pm.Weibull.dist(alpha=alpha, beta=pt.exp(pt.dot(x, beta)))
        pm.Censored("y", latent, lower=None, upper=2.0, observed=np.minimum(times, 2.0))
    return model


def logistic() -> Any:
    """Logistic regression of 10,000 rows on 50 columns."""
    r = _random(11)
    x = r.normal(size=(10_000, 50))
    y = (r.random(10_000) < 1 / (1 + np.exp(-x @ r.normal(size=50) * 0.3))).astype(int)
    with pm.Model() as model:
        beta = pm.Normal("beta", 0, 1, shape=50)
        pm.Bernoulli("y", logit_p=pm.Normal("alpha", 0, 1) + pt.dot(x, beta), observed=y)
    return model


def poisson() -> Any:
    """Poisson regression of 2,000 counts with effects of 20 groups."""
    r = _random(12)
    x, group = r.normal(size=(2000, 5)), r.integers(0, 20, 2000)
    y = r.poisson(np.exp(x @ [0.1, 0.2, -0.1, 0, 0.3] + r.normal(size=20)[group] * 0.2))
    with pm.Model() as model:
        beta, effect = pm.Normal("beta", 0, 1, shape=5), pm.Normal("effect", 0, pm.HalfNormal("sigma", 1), shape=20)
        pm.Poisson("y", pt.exp(pt.dot(x, beta) + effect[group]), observed=y)
    return model


MODELS: dict[str, Callable[[], Any]] = {
    "eight schools": eight_schools, "radon, 85 counties": radon, "Gaussian mixture": mixture,
    "ordinal regression": ordinal, "HMM by scan": hidden_markov, "AR by scan": autoregression,
    "LKJ random effects": lkj, "GARCH by scan": garch, "Gaussian process, n=200": gaussian_process,
    "stochastic volatility": volatility, "censored Weibull": weibull, "logistic, 10^4 x 50": logistic,
    "Poisson GLM": poisson,
}  # fmt: skip
