"""Models of PyMC's example gallery, rebuilt from their descriptions on data made here: `GALLERY`, functions by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.graph import Apply, Op

GALLERY: dict[str, Callable[[], None]] = {}
R = np.random.default_rng(20)
N = 60
X = R.normal(size=(N, 3))
GROUP = R.integers(0, 6, N)
T = np.linspace(0, 1, N)
Y = X @ [1.0, -0.5, 0.2] + R.normal(size=N) * 0.3
COUNTS = R.poisson(np.exp(0.5 + 0.4 * X[:, 0]))
BINARY = (R.random(N) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)


def example(build: Callable[[], None]) -> Callable[[], None]:
    """Add a function that builds a model within the context of one."""
    GALLERY[build.__name__] = build
    return build


@example
def linear_regression() -> None:
    a, b = pm.Normal("a", 0, 10), pm.Normal("b", 0, 10, shape=3)
    pm.Normal("y", a + pm.math.dot(X, b), pm.HalfCauchy("sigma", 5), observed=Y)


@example
def robust_regression() -> None:
    mu = pm.Normal("a", 0, 10) + pm.Normal("b", 0, 10) * X[:, 0]
    pm.StudentT("y", nu=pm.Gamma("nu", 2, 0.1), mu=mu, sigma=pm.HalfCauchy("sigma", 5), observed=Y)


@example
def logistic_regression_out_of_sample() -> None:
    x = pm.Data("x", X)
    pm.Bernoulli("y", p=pm.math.sigmoid(pm.math.dot(x, pm.Normal("b", 0, 1, shape=3))), observed=pm.Data("z", BINARY))


@example
def poisson_regression() -> None:
    pm.Poisson("y", pm.math.exp(pm.Normal("a", 0, 1) + pm.Normal("b", 0, 1) * X[:, 0]), observed=COUNTS)


@example
def negative_binomial_regression() -> None:
    mu = pm.math.exp(pm.Normal("a", 0, 1) + pm.Normal("b", 0, 1) * X[:, 0])
    pm.NegativeBinomial("y", mu=mu, alpha=pm.Exponential("alpha", 0.5), observed=COUNTS)


@example
def rat_tumors() -> None:
    deaths, rats = R.integers(0, 5, 20), np.full(20, 20)
    ab = pm.HalfFlat("ab", shape=2)
    pm.Potential("prior", -2.5 * pt.log(ab.sum()))
    pm.Binomial("y", n=rats, p=pm.Beta("theta", ab[0], ab[1], shape=20), observed=deaths)


@example
def two_groups() -> None:
    means, sds = pm.Normal("m", 0, 2, shape=2), pm.Uniform("s", 0.1, 5, shape=2)
    nu = pm.Exponential("nu", 1 / 29.0) + 1
    for k in range(2):
        pm.StudentT(f"y{k}", nu=nu, mu=means[k], lam=sds[k] ** -2, observed=Y[k::2])
    pm.Deterministic("effect", (means[0] - means[1]) / pt.sqrt((sds**2).sum() / 2))


@example
def coal_mining() -> None:
    point = pm.Uniform("point", 0, 1)
    early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
    pm.Poisson("y", pm.math.switch(point >= T, early, late), observed=COUNTS)


@example
def stochastic_volatility() -> None:
    steps = pm.GaussianRandomWalk("s", sigma=pm.Exponential("sigma", 10), shape=N, init_dist=pm.Normal.dist(0, 1))
    pm.StudentT("y", nu=pm.Exponential("nu", 0.1) + 2, lam=pm.math.exp(-2 * steps), observed=Y)


@example
def rugby() -> None:
    away = (GROUP + 1) % 6
    scales = [pm.HalfStudentT(f"s_{n}", nu=3, sigma=2.5) for n in ("attack", "defence")]
    attack, defence = pm.Normal("attack", 0, scales[0], shape=6), pm.Normal("defence", 0, scales[1], shape=6)
    attack, defence = attack - pt.mean(attack), defence - pt.mean(defence)
    home, level = pm.Normal("home", 0, 1), pm.Normal("level", 1, 1)
    pm.Poisson("points_home", pt.exp(level + home + attack[GROUP] + defence[away]), observed=COUNTS)
    pm.Poisson("points_away", pt.exp(level + attack[away] + defence[GROUP]), observed=COUNTS[::-1])


@example
def multilevel() -> None:
    chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=2))
    z = pm.Normal("z", 0, 1, shape=(2, 6))
    ab = pm.Normal("mu", 0, 5, shape=2)[:, None] + pt.dot(chol, z)
    pm.Normal("y", ab[0, GROUP] + ab[1, GROUP] * X[:, 0], pm.Exponential("sigma", 1), observed=Y)


@example
def survival() -> None:
    hazard = pm.Gamma("hazard", 0.01, 0.01, shape=5) + 0.1
    exposure, died = R.uniform(0.1, 1, (N, 5)), (R.random((N, 5)) < 0.1).astype(int)
    pm.Poisson("y", exposure * pt.outer(pt.exp(X[:, 0] * pm.Normal("beta", 0, 10)), hazard), observed=died)


@example
def weibull_censored() -> None:
    alpha, beta = pm.Gamma("alpha", 1, 0.1), pm.Exponential("beta", 1)
    pm.Censored("y", pm.Weibull.dist(alpha, beta), None, 1.2, observed=np.minimum(abs(Y) + 0.01, 1.2))


@example
def marginal_process() -> None:
    cov = pm.HalfCauchy("eta", 2) ** 2 * pm.gp.cov.Matern52(1, pm.Gamma("ell", 2, 2))
    pm.gp.Marginal(cov_func=cov).marginal_likelihood("y", X=T[:, None], y=Y, sigma=pm.HalfCauchy("sigma", 1))


@example
def process_classification() -> None:
    cov = pm.HalfCauchy("eta", 2) ** 2 * pm.gp.cov.ExpQuad(1, pm.Gamma("ell", 2, 2))
    f = pm.gp.Latent(cov_func=cov).prior("f", X=T[:, None], jitter=1e-5)
    pm.Bernoulli("y", p=pm.math.invprobit(f), observed=BINARY)


@example
def hilbert_space_process() -> None:
    cov = pm.Exponential("eta", 1) ** 2 * pm.gp.cov.Matern52(1, ls=pm.InverseGamma("ell", 5, 2))
    f = pm.gp.HSGP(m=[12], c=1.5, cov_func=cov).prior("f", X=T[:, None])
    pm.Normal("y", f, pm.Exponential("sigma", 1), observed=Y)


@example
def gaussian_mixture() -> None:
    w = pm.Dirichlet("w", np.ones(3))
    mu = pm.Normal("mu", [-1, 0, 1], 2, shape=3, transform=pm.distributions.transforms.ordered, initval=[-1, 0, 1])
    pm.NormalMixture("y", w=w, mu=mu, sigma=pm.HalfNormal("sigma", 1, shape=3), observed=Y)


@example
def dirichlet_process() -> None:
    beta = pm.Beta("beta", 1, pm.Gamma("alpha", 1, 1), shape=8)
    w = beta * pt.concatenate([[1.0], pt.cumprod(1 - beta)[:-1]])
    tau = pm.Gamma("tau", 1, 1, shape=8)
    pm.NormalMixture("y", w / w.sum(), pm.Normal("mu", 0, tau=1, shape=8), tau=tau, observed=Y)


@example
def zero_inflated() -> None:
    pm.ZeroInflatedPoisson("y", psi=pm.Beta("psi", 1, 1), mu=pm.Exponential("mu", 0.5), observed=COUNTS)


@example
def ordered_outcomes() -> None:
    cuts = pm.Normal("cuts", 0, 3, shape=3, transform=pm.distributions.transforms.ordered, initval=[-1, 0, 1])
    eta = pm.math.dot(X, pm.Normal("b", 0, 1, shape=3))
    pm.OrderedLogistic("y", eta=eta, cutpoints=cuts, observed=np.digitize(Y, [-1, 0, 1]))


@example
def softmax_regression() -> None:
    p = pm.math.softmax(pm.math.dot(X, pm.Normal("b", 0, 2, shape=(3, 3))) + pm.Normal("a", 0, 2, shape=3), axis=1)
    pm.Categorical("y", p=p, observed=R.integers(0, 3, N))


@example
def dirichlet_multinomial() -> None:
    counts = R.multinomial(30, [0.2, 0.3, 0.5], size=12)
    a = pm.Lognormal("conc", 1, 1) * pm.Dirichlet("frac", np.ones(3))
    pm.DirichletMultinomial("y", n=30, a=a, observed=counts)


@example
def autoregressive() -> None:
    rho = pm.Normal("rho", 0, 0.5, shape=3)
    pm.AR("y", rho=rho, sigma=pm.HalfNormal("s", 1), constant=True, init_dist=pm.Normal.dist(0, 1), observed=Y)


@example
def random_walk_coefficients() -> None:
    walk = pm.GaussianRandomWalk("w", sigma=pm.HalfNormal("s", 0.3), init_dist=pm.Normal.dist(0, 1), shape=N)
    pm.Normal("y", walk * X[:, 0], pm.HalfNormal("sigma", 1), observed=Y)


@example
def correlated_normals() -> None:
    chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.HalfNormal.dist(1, shape=3))
    pm.MvNormal("y", mu=pm.Normal("mu", 0, 1, shape=3), chol=chol, observed=X)


@example
def matrix_factorization() -> None:
    ratings, holes = R.normal(size=(12, 9)), R.random((12, 9)) < 0.3
    u, v = pm.Normal("u", 0, 1, shape=(12, 2)), pm.Normal("v", 0, 1, shape=(9, 2))
    pm.Normal("y", pt.dot(u, v.T)[~holes], 0.5, observed=ratings[~holes])


@example
def factor_analysis() -> None:
    rows, columns = np.tril_indices(4, k=0, m=2)
    w = pt.set_subtensor(pt.zeros((4, 2))[rows, columns], pm.Normal("w", 0, 1, shape=len(rows)))
    f = pm.Normal("f", 0, 1, shape=(2, 15))
    pm.Normal("y", pt.dot(w, f), pm.HalfNormal("s", 1, shape=4)[:, None], observed=R.normal(size=(4, 15)))


@example
def item_response() -> None:
    ability, hardness = pm.Normal("ability", 0, 1, shape=10), pm.Normal("hardness", 0, 1, shape=6)
    scale = pm.HalfNormal("scale", 1, shape=6)
    logit = scale * (ability[:, None] - hardness)
    pm.Bernoulli("y", logit_p=logit, observed=R.integers(0, 2, (10, 6)))


@example
def splines() -> None:
    basis = np.maximum(0, 1 - abs(T[:, None] * 8 - np.arange(9))) ** 2
    w = pm.Normal("w", 0, 3, shape=9)
    pm.Normal("y", pm.Normal("a", 0, 3) + pm.math.dot(basis, w), pm.Exponential("sigma", 1), observed=Y)


@example
def neighbours() -> None:
    w = np.zeros((10, 10))
    w[np.arange(9), np.arange(1, 10)] = 1
    phi = pm.CAR("phi", mu=np.zeros(10), W=w + w.T, alpha=pm.Beta("alpha", 2, 2), tau=pm.Gamma("tau", 2, 2))
    pm.Poisson("y", pt.exp(phi), observed=COUNTS[:10])


@example
def intrinsic_neighbours() -> None:
    w = np.zeros((10, 10))
    w[np.arange(9), np.arange(1, 10)] = 1
    phi = pm.ICAR("phi", W=w + w.T, sigma=1)
    pm.Poisson("y", pt.exp(pm.HalfNormal("s", 1) * phi), observed=COUNTS[:10])


@example
def truncated_regression() -> None:
    mu = pm.Normal("a", 0, 1) + pm.Normal("b", 0, 1) * X[:, 0]
    y = pm.Normal.dist(mu, pm.HalfNormal("s", 1))
    pm.Truncated("y", y, lower=-2, upper=2, observed=np.clip(Y, -1.9, 1.9))


@example
def moderation() -> None:
    b = pm.Normal("b", 0, 1, shape=4)
    x, m = X[:, 0], X[:, 1]
    pm.Normal("y", b[0] + b[1] * x + b[2] * x * m + b[3] * m, pm.HalfCauchy("s", 1), observed=Y)


@example
def horseshoe() -> None:
    tau, lam = pm.HalfStudentT("tau", 2, 0.1), pm.HalfStudentT("lam", 5, shape=3)
    c2 = pm.InverseGamma("c2", 1, 1)
    scale = tau * lam * pt.sqrt(c2 / (c2 + tau**2 * lam**2))
    pm.Normal("y", pm.math.dot(X, pm.Normal("z", 0, 1, shape=3) * scale), pm.HalfNormal("s", 1), observed=Y)


@example
def vector_autoregression() -> None:
    lags, data = pm.Normal("lags", 0, 0.3, shape=(3, 3)), X.cumsum(0) / 5
    mean = pm.Normal("a", 0, 1, shape=3) + pt.dot(data[:-1], lags.T)
    pm.Normal("y", mean, pm.HalfNormal("s", 1, shape=3), observed=data[1:])


@example
def stochastic_differential_equation() -> None:
    lam = pm.Flat("lam")
    x = pm.EulerMaruyama("x", dt=0.1, sde_fn=lambda x, lam: (lam * x, 0.5), sde_pars=(lam,), shape=N, initval=Y)
    pm.Normal("y", x, 0.1, observed=Y)


@example
def bayesian_network() -> None:
    hidden = pm.math.tanh(pm.math.dot(X, pm.Normal("w1", 0, 1, shape=(3, 5))))
    hidden = pm.math.tanh(pm.math.dot(hidden, pm.Normal("w2", 0, 1, shape=(5, 5))))
    pm.Bernoulli("y", p=pm.math.sigmoid(pm.math.dot(hidden, pm.Normal("w3", 0, 1, shape=5))), observed=BINARY)


class _BlackBox(Op):
    """A log-likelihood that PyTensor knows only by its `perform`, with its gradient."""

    itypes, otypes = [pt.dvector], [pt.dscalar, pt.dvector]

    def make_node(self, theta: Any) -> Any:
        return Apply(self, [pt.as_tensor(theta)], [pt.dscalar(), pt.dvector()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        (theta,) = inputs
        rest = Y - theta[0] - theta[1] * X[:, 0]
        outputs[0][0] = np.asarray(-0.5 * (rest**2).sum())
        outputs[1][0] = np.array([rest.sum(), (rest * X[:, 0]).sum()])

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [cotangents[0] * outputs[1]]

    def grad(self, inputs: Any, cotangents: Any) -> Any:
        return [cotangents[0] * self(*inputs)[1]]


@example
def black_box() -> None:
    pm.Potential("y", _BlackBox()(pm.Normal("theta", 0, 1, shape=2))[0])


@example
def missing_values() -> None:
    y = np.where(np.arange(N) % 7, Y, np.nan)
    latent = pm.Normal("y", pm.Normal("mu", 0, 1), pm.HalfNormal("sigma", 1), observed=y)
    pm.MvNormal("z", np.zeros(3), cov=np.eye(3), observed=np.where(X > 1.5, np.nan, X))
    pm.Poisson("n", pm.math.exp(latent), observed=COUNTS)


@example
def mixture_of_families() -> None:
    ordered = pm.distributions.transforms.ordered
    mu = pm.Normal("mu", 0, 5, shape=3, transform=ordered, initval=[-1, 0, 1])
    parts = [pm.Normal.dist(mu[0], 1), pm.StudentT.dist(nu=4, mu=mu[1], sigma=2), pm.Laplace.dist(mu[2], 1)]
    pm.Mixture("y", pm.Dirichlet("w", np.ones(3)), parts, observed=Y)


@example
def hurdles() -> None:
    share, mu, alpha = pm.Beta("share", 2, 2), pm.Gamma("mu", 2, 1), pm.Exponential("alpha", 1)
    pm.HurdlePoisson("counts", share, mu, observed=COUNTS)
    pm.HurdleGamma("amounts", share, mu, alpha, observed=np.abs(Y) * BINARY)


@example
def distribution_by_steps() -> None:
    def steps(rho: Any, sigma: Any, size: Any) -> Any:
        def step(before: Any, rho: Any, sigma: Any) -> Any:
            after = pm.Normal.dist(before * rho, sigma)
            return after, pm.pytensorf.collect_default_updates([after])

        parameters = {"non_sequences": [rho, sigma], "outputs_info": [pt.zeros(())], "strict": True}
        return pytensor.scan(step, n_steps=25, **parameters)[0]

    rho, sigma = pm.Normal("rho", 0, 0.5), pm.HalfNormal("sigma", 1)
    pm.CustomDist("latent", rho, sigma, dist=steps)
    pm.CustomDist("y", rho, sigma, dist=steps, observed=Y[:25])


@example
def filtered_signal() -> None:
    noise, theta = pm.Normal("noise", 0, 1, shape=20), pm.Normal("theta", 0, 0.3)
    x = pt.signal.convolve1d(noise, pt.stack([pt.ones(()), theta]), mode="full")[:20]
    walk = pt.cumsum(x)
    smooth = pt.diff(walk) + pt.sort(walk)[1:] * 0.01 + pt.set_subtensor(walk[2:5], 0.0)[1:]
    pm.Normal("y", smooth + pt.repeat(x[:1], 19), 1.0, observed=Y[:19])
    pm.Normal("spectrum", pt.fft.rfft(x[None])[0, :, 0] / 10, 1.0, observed=np.ones(11))
