"""T.distributions and the draws of T.random: against SciPy's densities, by moments, with implicit derivatives."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

D = T.distributions
CASES = {
    "Normal": ((0.3, 2.0), lambda s: s.norm(0.3, 2)),
    "LogNormal": ((0.1, 0.7), lambda s: s.lognorm(0.7, scale=np.exp(0.1))),
    "HalfNormal": ((1.5,), lambda s: s.halfnorm(scale=1.5)),
    "TruncatedNormal": ((0.2, 1.3, -1.0, 2.5), lambda s: s.truncnorm(-1.2 / 1.3, 2.3 / 1.3, 0.2, 1.3)),
    "SkewNormal": ((0.2, 1.1, 2.5), lambda s: s.skewnorm(2.5, 0.2, 1.1)),
    "ExGaussian": ((0.2, 0.8, 1.7), lambda s: s.exponnorm(1.7 / 0.8, 0.2, 0.8)),
    "LogitNormal": ((0.2, 0.9), None),
    "Uniform": ((-1.0, 2.0), lambda s: s.uniform(-1, 3)),
    "Triangular": ((-1.0, 0.5, 2.0), lambda s: s.triang(0.5, -1, 3)),
    "Exponential": ((2.5,), lambda s: s.expon(scale=0.4)),
    "Gamma": ((2.3, 1.7), lambda s: s.gamma(2.3, scale=1 / 1.7)),
    "InverseGamma": ((3.1, 1.2), lambda s: s.invgamma(3.1, scale=1.2)),
    "ChiSquared": ((3.5,), lambda s: s.chi2(3.5)),
    "Beta": ((2.1, 0.8), lambda s: s.beta(2.1, 0.8)),
    "Kumaraswamy": ((2.0, 3.0), None),
    "StudentT": ((4.5, 0.2, 1.3), lambda s: s.t(4.5, 0.2, 1.3)),
    "HalfStudentT": ((4.5, 1.3), None),
    "Cauchy": ((0.2, 1.3), lambda s: s.cauchy(0.2, 1.3)),
    "HalfCauchy": ((1.3,), lambda s: s.halfcauchy(scale=1.3)),
    "Laplace": ((0.2, 1.3), lambda s: s.laplace(0.2, 1.3)),
    "AsymmetricLaplace": ((1.4, 0.2, 0.7), lambda s: s.laplace_asymmetric(1.4, 0.2, 1 / 0.7)),
    "Logistic": ((0.2, 1.3), lambda s: s.logistic(0.2, 1.3)),
    "Gumbel": ((0.2, 1.3), lambda s: s.gumbel_r(0.2, 1.3)),
    "Weibull": ((1.4, 2.1), lambda s: s.weibull_min(1.4, scale=2.1)),
    "Pareto": ((3.4, 0.5), lambda s: s.pareto(3.4, scale=0.5)),
    "Rayleigh": ((1.2,), lambda s: s.rayleigh(scale=1.2)),
    "Maxwell": ((1.2,), lambda s: s.maxwell(scale=1.2)),
    "Levy": ((0.1, 0.8), lambda s: s.levy(0.1, 0.8)),
    "FDistribution": ((5.0, 7.0), lambda s: s.f(5, 7)),
    "Wald": ((1.4, 2.2), lambda s: s.invgauss(1.4 / 2.2, scale=2.2)),
    "VonMises": ((0.4, 2.2), None),
    "Bernoulli": ((0.3,), lambda s: s.bernoulli(0.3)),
    "Binomial": ((12, 0.3), lambda s: s.binom(12, 0.3)),
    "BetaBinomial": ((12, 2.0, 3.0), lambda s: s.betabinom(12, 2, 3)),
    "Poisson": ((4.2,), lambda s: s.poisson(4.2)),
    "ZeroInflatedPoisson": ((0.7, 3.0), None),
    "Geometric": ((0.3,), lambda s: s.geom(0.3)),
    "NegativeBinomial": ((3.5, 0.4), lambda s: s.nbinom(3.5, 0.4)),
    "Hypergeometric": ((30, 12, 9), lambda s: s.hypergeom(30, 12, 9)),
    "DiscreteUniform": ((-2, 5), lambda s: s.randint(-2, 6)),
    "LogSeries": ((0.7,), lambda s: s.logser(0.7)),
    "Zipf": ((3.3,), lambda s: s.zipf(3.3)),
    "Categorical": (([0.2, 0.5, 0.3],), None),
}
POINTS = np.array([-1, -0.5, 0, 0.1, 0.25, 0.5, 0.9, 1, 2, 2.4, 3, 5, 7, 30.0])
VECTORS = {"Dirichlet", "Multinomial", "MultivariateNormal"}
HEAVY = {"Cauchy", "HalfCauchy", "Levy", "LogitNormal", "VonMises", "Zipf", "FDistribution"}
"""Without a mean or a variance to compare with, or a mean of angles."""


def made(name):
    return getattr(D, name)(*CASES[name][0])


def test_every_distribution_has_a_case():
    assert set(CASES) | VECTORS == set(D.__all__) - {"Distribution"}


def test_densities_and_distribution_functions_are_scipys():
    stats = pytest.importorskip("scipy.stats")
    x = T.vector("x")
    wanted, outputs = [], []
    for name, (_, judge) in CASES.items():
        if judge is None:
            continue
        ours, theirs = made(name), judge(stats)
        wanted += [(name, theirs.logpmf if ours.is_discrete else theirs.logpdf), (name, lambda _, t=theirs: t.mean())]
        outputs += [ours.log_density(x), ours.mean()]
        if name not in ("BetaBinomial", "Hypergeometric"):
            wanted.append((name, theirs.logcdf))
            outputs.append(ours.log_cdf(x))
    wrong = []
    for (name, judge), got in zip(wanted, ag.function([x], outputs, mode="NUMPY")(POINTS)):
        with np.errstate(all="ignore"):
            expected = judge(POINTS)
        if not np.allclose(got, expected, rtol=1e-9, atol=1e-12, equal_nan=True):
            wrong.append((name, got, expected))
    assert not wrong


def test_densities_add_up_to_the_distribution_function():
    """The distributions that SciPy does not have."""
    x = np.linspace(0, 1, 2001)
    for name, low, high in (("LogitNormal", 1e-6, 1 - 1e-6), ("Kumaraswamy", 0, 1), ("HalfStudentT", 0, 9)):
        ours, points = made(name), low + (high - low) * x
        density, below = ag.function([], [ours.density(points), ours.cdf(points)], mode="NUMPY")()
        np.testing.assert_allclose(np.trapezoid(density, points), below[-1] - below[0], rtol=1e-5)
    ours, points = made("VonMises"), np.pi * (2 * x - 1)
    density, below = ag.function([], [ours.density(points), ours.cdf(points)], mode="NUMPY")()
    np.testing.assert_allclose([np.trapezoid(density, points), below[-1]], 1, rtol=1e-6)
    for name in ("ZeroInflatedPoisson", "Categorical"):
        ours, k = made(name), np.arange(8.0)
        density, below = ag.function([], [ours.density(k), ours.cdf(k)], mode="NUMPY")()
        np.testing.assert_allclose(np.cumsum(density), below, rtol=1e-12)


def test_draws_have_the_mean_and_follow_the_distribution_function():
    rng = T.random.RandomStream(11)
    draws = {name: made(name).sample(rng, size=(200,)) for name in CASES}
    f = ag.function([], list(draws.values()), mode="NUMPY")
    u = T.vector("u")
    for name, got in zip(draws, f()):
        ours = made(name)
        assert got.shape == (200,) and (got.dtype == np.int64) == ours.is_discrete, name
        if name not in HEAVY:
            error = got.std() / np.sqrt(len(got))
            assert abs(got.mean() - ours.mean().eval()) < 5 * error, name
        if not ours.is_discrete:
            below = np.sort(ag.function([u], ours.cdf(u), mode="NUMPY")(got))
            assert np.abs(below - np.linspace(0, 1, len(got))).max() < 1.95 / np.sqrt(len(got)), name


def test_draws_of_vectors():
    rng = T.random.RandomStream(3)
    cov = np.array([[2.0, 0.6], [0.6, 1.0]])
    normal = D.MultivariateNormal([1.0, -2.0], cov)
    simplex, counts = D.Dirichlet([2.0, 3.0, 5.0]), D.Multinomial(10, [0.2, 0.3, 0.5])
    colors = rng.multivariate_hypergeometric(np.array([5, 7, 8]), 6, size=(300,))
    wide = rng.multivariate_normal([0.0, 0.0], cov, size=(2000,), method="eigh")
    outputs = [normal.sample(rng, (2000,)), simplex.sample(rng, (300,)), counts.sample(rng, (300,)), colors, wide]
    a, b, c, d, e = ag.function([], outputs, mode="NUMPY")()
    for drawn, mean in ((a, [1, -2]), (e, [0, 0])):
        np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.15)
        np.testing.assert_allclose(np.cov(drawn.T), cov, atol=0.25)
    np.testing.assert_allclose(b.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(b.mean(axis=0), [0.2, 0.3, 0.5], atol=0.04)
    assert (c.sum(axis=1) == 10).all() and (d.sum(axis=1) == 6).all() and (d <= [5, 7, 8]).all()
    np.testing.assert_allclose(c.mean(axis=0), [2, 3, 5], atol=0.4)
    np.testing.assert_allclose(d.mean(axis=0), 6 * np.array([5, 7, 8]) / 20, atol=0.3)
    stats = pytest.importorskip("scipy.stats")
    x, p = np.array([0.3, -1.0]), np.array([0.2, 0.3, 0.5])
    densities = [normal.log_density(x), simplex.log_density(p), counts.log_density([2, 3, 5])]
    got = ag.function([], densities, mode="NUMPY")()
    expected = [stats.multivariate_normal([1, -2], cov).logpdf(x), stats.dirichlet([2, 3, 5]).logpdf(p),
                stats.multinomial(10, p).logpmf([2, 3, 5])]  # fmt: skip
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    with pytest.raises(NotImplementedError, match="Dirichlet: the distribution function of vectors has no formula"):
        simplex.log_cdf(p)


def test_draws_are_differentiable_by_parameters():
    """The mean of x by a parameter is the derivative of the mean; numbers are those of the same uniform ones."""
    a, b = T.scalar("a"), T.scalar("b")
    for build, values in (
        (lambda rng: rng.gamma(a, b, size=(40,)), (2.5, 1.3)),
        (lambda rng: rng.beta(a, b, size=(40,)), (2.5, 1.3)),
        (lambda rng: rng.dirichlet(T.stack([a, b, a + b]), size=(20,))[:, 0], (2.5, 1.3)),
        (lambda rng: rng.standard_t(a, size=(40,)) * b, (4.5, 1.3)),
    ):
        def cost(at, build=build):
            rng = T.random.RandomStream(5)
            return ag.function([a, b], T.sum(T.square(build(rng))), mode="NUMPY", on_unused_input="ignore")(*at)

        rng = T.random.RandomStream(5)
        total = T.sum(T.square(build(rng)))
        got = ag.function([a, b], ag.grad(total, [a, b]), mode="NUMPY", on_unused_input="ignore")(*values)
        h = 1e-5
        expected = [
            (cost((values[0] + h, values[1])) - cost((values[0] - h, values[1]))) / (2 * h),
            (cost((values[0], values[1] + h)) - cost((values[0], values[1] - h))) / (2 * h),
        ]
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_streams_have_the_methods_of_numpys_generator():
    theirs = {n for n in dir(np.random.Generator) if not n.startswith("_")} - {"bit_generator", "spawn"}
    assert not [name for name in theirs if not hasattr(T.random.RandomStream, name)]
    rng = T.random.RandomStream(2)
    x = np.arange(12.0).reshape(3, 4)
    rows, columns, each, some = ag.function(
        [], [rng.shuffle(x), rng.shuffle(x, axis=1), rng.permuted(x, axis=1), rng.bytes(9)], mode="NUMPY"
    )()
    np.testing.assert_array_equal(np.sort(rows[:, 0]), x[:, 0])
    np.testing.assert_array_equal(np.sort(columns, axis=1), x)
    np.testing.assert_array_equal(np.sort(each, axis=1), x)
    assert some.dtype == np.uint8 and some.shape == (9,)


def test_bad_parameters_are_refused():
    rng = T.random.RandomStream(1)
    for draw, text in (
        (lambda: rng.gamma(-1.0), "gamma: shape must be positive"),
        (lambda: rng.beta(1.0, 0.0), "beta: b must be positive"),
        (lambda: rng.poisson(-1.0), "poisson: lam must not be negative"),
        (lambda: rng.binomial(-2, 0.5), "binomial: n must not be negative"),
        (lambda: rng.zipf(1.0), "zipf: a must be above 1"),
        (lambda: rng.triangular(0.0, 3.0, 2.0), "left <= mode <= right"),
        (lambda: rng.hypergeometric(2, 2, 5), "nsample must be at most ngood"),
        (lambda: rng.hypergeometric(10**9, 5, 3), "ngood must be less than 1000000000"),
        (lambda: rng.hypergeometric(5, 10**9, 3), "nbad must be less than 1000000000"),
        (lambda: rng.multivariate_hypergeometric(np.array([10**9 - 1, 1]), 3), "the sum of colors must be less"),
        (lambda: rng.multinomial(3, T.vector("p")), "a last axis of known length"),
        (lambda: rng.multivariate_normal([0.0], [[1.0]], method="qr"), 'method is "cholesky" or "eigh", got \'qr\''),
        (lambda: rng.dirichlet(1.0), "alpha must have an axis"),
    ):
        with pytest.raises(ValueError, match=text):
            draw()
    with pytest.raises(TypeError, match="binomial: n must be an integer"):
        rng.binomial(2.5, 0.5)
    with pytest.raises(TypeError, match="Gamma takes alpha, beta: alpha is missing"):
        D.Gamma(beta=1.0)
    with pytest.raises(TypeError, match="Gamma takes alpha, beta, got gamma=2"):
        D.Gamma(1.0, gamma=2)
