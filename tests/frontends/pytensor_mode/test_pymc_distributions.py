"""Draws from each distribution of PyMC under `mode="ARIGNOTE"`, beside those of PyTensor's default mode."""

import warnings

import numpy as np
import pytest

pytest.importorskip("pytensor")
pytest.importorskip("pymc")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pymc as pm

import arignote.frontends.pytensor  # noqa: F401

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]
ROW = np.array([0.5, 1.0, 2.0])
SQUARE = np.eye(3) + 0.2
DISTRIBUTIONS = {
    "AsymmetricLaplace": {"b": 2.0, "kappa": 1.5, "mu": ROW}, "Bernoulli": {"p": ROW / 3},
    "Beta": {"alpha": ROW, "beta": 2.0}, "BetaBinomial": {"n": 7, "alpha": ROW, "beta": 2.0},
    "Binomial": {"n": 7, "p": ROW / 3}, "Categorical": {"p": [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]]},
    "Cauchy": {"alpha": ROW, "beta": 2.0}, "ChiSquared": {"nu": ROW}, "Dirichlet": {"a": ROW},
    "DirichletMultinomial": {"n": 9, "a": ROW}, "DiracDelta": {"c": ROW},
    "DiscreteUniform": {"lower": [0, 1], "upper": 9}, "DiscreteWeibull": {"q": 0.6, "beta": ROW},
    "ExGaussian": {"mu": ROW, "sigma": 1.0, "nu": 2.0}, "Exponential": {"lam": ROW},
    "Gamma": {"alpha": ROW, "beta": 2.0}, "Geometric": {"p": ROW / 3}, "Gumbel": {"mu": ROW, "beta": 2.0},
    "HalfCauchy": {"beta": ROW}, "HalfNormal": {"sigma": ROW}, "HalfStudentT": {"nu": 3.0, "sigma": ROW},
    "HyperGeometric": {"N": 20, "k": 7, "n": [3, 5]}, "InverseGamma": {"alpha": ROW, "beta": 2.0},
    "Kumaraswamy": {"a": ROW, "b": 2.0}, "Laplace": {"mu": ROW, "b": 2.0}, "Logistic": {"mu": ROW, "s": 2.0},
    "LogitNormal": {"mu": ROW, "sigma": 1.0}, "LogNormal": {"mu": ROW, "sigma": 1.0},
    "Moyal": {"mu": ROW, "sigma": 1.0}, "Multinomial": {"n": 9, "p": ROW / 3.5},
    "MvNormal": {"mu": ROW, "cov": SQUARE}, "MvStudentT": {"nu": 4.0, "mu": ROW, "scale": SQUARE},
    "NegativeBinomial": {"mu": ROW, "alpha": 2.0}, "Normal": {"mu": ROW, "sigma": 2.0},
    "OrderedLogistic": {"eta": 0.3, "cutpoints": ROW}, "OrderedProbit": {"eta": 0.3, "cutpoints": ROW},
    "Pareto": {"alpha": ROW, "m": 2.0}, "Poisson": {"mu": ROW}, "Rice": {"nu": ROW, "sigma": 1.0},
    "SkewNormal": {"mu": ROW, "sigma": 1.0, "alpha": 2.0},
    "SkewStudentT": {"a": 3.0, "b": 4.0, "mu": ROW, "sigma": 1.0}, "StickBreakingWeights": {"alpha": 2.0, "K": 4},
    "StudentT": {"nu": 4.0, "mu": ROW, "sigma": 1.0}, "Triangular": {"lower": 0, "upper": 4.0, "c": ROW},
    "TruncatedNormal": {"mu": ROW, "sigma": 1.0, "lower": 0.0, "upper": 3.0}, "Uniform": {"lower": ROW, "upper": 4.0},
    "VonMises": {"mu": ROW, "kappa": 2.0}, "Wald": {"mu": ROW, "lam": 2.0}, "Weibull": {"alpha": ROW, "beta": 2.0},
    "Wishart": {"nu": 5, "V": SQUARE}, "ZeroInflatedPoisson": {"psi": 0.6, "mu": ROW},
    "ZeroInflatedBinomial": {"psi": 0.6, "n": 7, "p": ROW / 3},
    "ZeroInflatedNegativeBinomial": {"psi": 0.6, "mu": ROW, "alpha": 2.0}, "HurdlePoisson": {"psi": 0.6, "mu": ROW},
    "HurdleGamma": {"psi": 0.6, "alpha": ROW, "beta": 2.0}, "HurdleLogNormal": {"psi": 0.6, "mu": ROW, "sigma": 1.0},
    "HurdleNegativeBinomial": {"psi": 0.6, "mu": ROW, "alpha": 2.0}, "LKJCorr": {"n": 3, "eta": 2.0},
    "ZeroSumNormal": {"sigma": 1.0, "shape": (4,)},
    "KroneckerNormal": {"mu": np.zeros(4), "covs": [SQUARE[:2, :2], np.eye(2)], "sigma": 0.5},
    "MatrixNormal": {"mu": np.zeros((2, 3)), "rowcov": SQUARE[:2, :2], "colcov": SQUARE},
    "CAR": {"mu": np.zeros(3), "W": np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0.0]]), "alpha": 0.5, "tau": 1.0},
    "Interpolated": {"x_points": np.linspace(0, 1, 9), "pdf_points": np.linspace(0, 1, 9)},
    "NormalMixture": {"w": [0.4, 0.6], "mu": [0, 3.0], "sigma": [1, 2.0]},
}  # fmt: skip
COMPOUND = {
    "AR": lambda: {"rho": [0.3, 0.2], "sigma": 1.0, "init_dist": pm.Normal.dist(0, 1, shape=2), "steps": 5},
    "Censored": lambda: {"dist": pm.Normal.dist(ROW, 1), "lower": 0, "upper": 1.5},
    "GaussianRandomWalk": lambda: {"mu": 0.1, "sigma": 1.0, "init_dist": pm.Normal.dist(0, 1), "steps": 5},
    "Mixture": lambda: {"w": [0.4, 0.6], "comp_dists": [pm.Normal.dist(0, 1), pm.Laplace.dist(0, 1)], "shape": 3},
    "RandomWalk": lambda: {"innovation_dist": pm.Normal.dist(0, 1), "init_dist": pm.Normal.dist(0, 1), "steps": 4},
    "Truncated": lambda: {"dist": pm.Gamma.dist(ROW, 1), "lower": 0.1, "upper": 1.5},
}  # fmt: skip
BY_FUNCTIONS = {"AsymmetricLaplace", "Kumaraswamy", "LogitNormal", "Truncated"}
"""Distributions whose draws are functions of others, such as logarithms: these are not NumPy's bit for bit."""


@pytest.mark.parametrize("name", [*DISTRIBUTIONS, *COMPOUND])
def test_draws_are_those_of_the_default_mode(name):
    found = []
    for mode in ("ARIGNOTE", "FAST_COMPILE"):
        parameters = COMPOUND[name]() if name in COMPOUND else DISTRIBUTIONS[name]
        found.append(pm.draw(getattr(pm, name).dist(**parameters), draws=4, random_seed=1, mode=mode))
    if name in BY_FUNCTIONS:
        assert found[0].dtype == found[1].dtype
        np.testing.assert_allclose(found[0], found[1], rtol=1e-14)
    else:
        np.testing.assert_array_equal(found[0], found[1], strict=True)
