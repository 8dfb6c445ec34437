"""Moments, entropies, tails and quantiles of T.distributions against SciPy, at ordinary and at special points."""

import numpy as np
import pytest
from test_distributions import CASES, made

import arignote as ag
from arignote import ops as T
from arignote.graph import NoGradient

D = T.distributions
stats = pytest.importorskip("scipy.stats")
Q = np.array([0, 1e-12, 0.001, 0.1, 0.25, 0.5, 0.6, 0.9, 0.999, 1, -0.1, 1.1, np.nan])
X = np.array([-np.inf, -30, -1, -0.5, 0, 0.1, 0.5, 1, 2, 2.4, 3, 5, 7, 30, 200, np.inf])
JUDGED = [name for name, (_, judge) in CASES.items() if judge is not None]
MORE = {
    "InverseGamma": [((a, 2.0), lambda s, a=a: s.invgamma(a, scale=2)) for a in (1.5, 2.5)],
    "StudentT": [((nu,), lambda s, nu=nu: s.t(nu)) for nu in (1.0, 1.5, 2.0, 2.5, 3.5, 30.0, 1e4)],
    "Pareto": [((a,), lambda s, a=a: s.pareto(a)) for a in (0.5, 1.5, 2.5, 3.5, 5.0)],
    "FDistribution": [((3.0, n), lambda s, n=n: s.f(3, n)) for n in (1.0, 2.5, 4.5, 60.0)],
    "Zipf": [((a,), lambda s, a=a: s.zipf(a)) for a in (2.5, 3.5, 5.0)],
    "Beta": [((0.5, 0.5), lambda s: s.beta(0.5, 0.5)), ((1.0, 1.0), lambda s: s.beta(1, 1))],
    "Triangular": [((0.0, 0.0, 2.0), lambda s: s.triang(0, 0, 2)), ((0.0, 2.0, 2.0), lambda s: s.triang(1, 0, 2))],
    "TruncatedNormal": [((0.0, 1.0, 5.0, np.inf), lambda s: s.truncnorm(5, np.inf)),
                        ((0.0, 1.0, -np.inf, -3.0), lambda s: s.truncnorm(-np.inf, -3))],
    "Bernoulli": [((p,), lambda s, p=p: s.bernoulli(p)) for p in (0.0, 1.0)],
    "Poisson": [((200.0,), lambda s: s.poisson(200))],
    "Geometric": [((0.01,), lambda s: s.geom(0.01))],
    "Wald": [((0.3, 9.0), lambda s: s.invgauss(0.3 / 9, scale=9))],
}  # fmt: skip
EVERY = [(name, values, judge) for name in JUDGED for values, judge in (CASES[name], *MORE.get(name, ()))]

WITHOUT_CDF = ("BetaBinomial", "Hypergeometric")
FORMULAS = {"var": "_variance", "entropy": "_entropy", "median": "_quantile"}


def gives(name, formula):
    return getattr(D, name)._gives(formula)


def computed(outputs, *values):
    """The values of expressions of x, if there is one value."""
    inputs = [T.vector("x") for _ in values]
    found = outputs(*inputs)
    return ag.function(inputs, list(found.values()), mode="NUMPY", on_unused_input="ignore")(*values)


def check(wanted, got, rtol):
    wrong = []
    for (name, expected), found in zip(wanted.items(), got, strict=True):
        if not np.allclose(found, expected, rtol=rtol, atol=1e-13, equal_nan=True):
            wrong.append((name, found, expected))
    assert not wrong, wrong


def test_moments_are_scipys():
    outputs, wanted = {}, {}
    with np.errstate(all="ignore"):
        for name, values, judge in EVERY:
            ours, theirs = getattr(D, name)(*values), judge(stats)
            letters = "vsk" if gives(name, "_skewness_and_kurtosis") else "v"
            for letter, expected in zip(letters, np.atleast_1d(theirs.stats(letters)), strict=True):
                outputs[name, values, letter] = ours.stats(letter)[0]
                wanted[name, values, letter] = expected
            outputs[name, values, "std"], wanted[name, values, "std"] = ours.std(), theirs.std()
    check(wanted, computed(lambda: outputs), 1e-8)


def test_entropies_are_scipys():
    cases = [case for case in EVERY if gives(case[0], "_entropy")]
    cases = [case for case in cases if np.inf not in np.abs(case[1])]  # NaN in SciPy
    outputs = {case[:2]: getattr(D, case[0])(*case[1]).entropy() for case in cases}
    wanted = {case[:2]: case[2](stats).entropy() for case in cases}
    check(wanted, computed(lambda: outputs), 1e-7)


def test_tails_are_scipys():
    for name, values, judge in EVERY:
        ours, theirs = getattr(D, name)(*values), judge(stats)
        if name in WITHOUT_CDF:
            continue
        given = np.floor(X) if name == "LogSeries" else X  # SciPy's takes no whole part of 2.4,
        given = X[X != 200] if name == "Zipf" else given  # and subtracts from 1, which leaves few digits
        with np.errstate(all="ignore"):
            wanted = {name: theirs.sf(given), f"log {name}": theirs.logsf(given)}
        check(wanted, computed(lambda x, d=ours: {"sf": d.sf(x), "log": d.log_sf(x)}, given), 1e-7)


def test_quantiles_are_scipys():
    for name, values, judge in EVERY:
        if not gives(name, "_quantile"):
            continue
        ours, theirs = getattr(D, name)(*values), judge(stats)
        given = np.append(Q, 0.2500001)
        with np.errstate(all="ignore"):
            wanted = {name: theirs.ppf(given), "median": theirs.median(), "interval": theirs.interval(0.8)}

        def outputs(q, d=ours):
            return {"ppf": d.quantile(q), "median": d.median(), "interval": T.stack(list(d.interval(0.8)))}

        check(wanted, computed(outputs, given), 1e-9)


@pytest.mark.parametrize("name", [name for name in CASES if name not in JUDGED])
def test_quantiles_invert_the_distribution_function(name):
    """The distributions that SciPy does not have."""
    ours, q = made(name), np.array([0.01, 0.2, 0.35, 0.5, 0.7, 0.95, 0.99])
    x = T.vector("x")
    below, before, above, log_above = ag.function(
        [x], [ours.cdf(ours.quantile(x)), ours.cdf(ours.quantile(x) - 1), ours.sf(x), ours.log_sf(x)], mode="NUMPY"
    )(q)
    if ours.is_discrete:
        assert (below >= q).all() and (before < q).all()
    else:
        np.testing.assert_allclose(below, q, rtol=1e-9)
    np.testing.assert_allclose(above, 1 - ours.cdf(q).eval(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(np.exp(log_above), above, rtol=1e-12)


@pytest.mark.long
def test_moments_are_those_of_densities():
    """The distributions that SciPy does not have, by sums over a fine grid."""
    for name, low, high in (("Kumaraswamy", 0, 1), ("HalfStudentT", 0, 400), ("VonMises", -np.pi, np.pi)):
        ours, x = made(name), np.linspace(low, high, 400_001)
        p = np.nan_to_num(ours.density(x).eval())
        entropy = ours.entropy().eval()
        logarithms = np.log(np.where(p > 0, p, 1))
        np.testing.assert_allclose(-np.trapezoid(p * logarithms, x), entropy, rtol=1e-4)
        if gives(name, "_variance"):
            mean = np.trapezoid(p * x, x)
            np.testing.assert_allclose(np.trapezoid(p * (x - mean) ** 2, x), ours.var().eval(), rtol=2e-3)
    for name in ("ZeroInflatedPoisson", "Categorical"):
        ours, k = made(name), np.arange(60.0)
        p = ours.density(k).eval()
        mean = (p * k).sum()
        np.testing.assert_allclose((p * (k - mean) ** 2).sum(), ours.var().eval(), rtol=1e-12)
    np.testing.assert_allclose(made("Categorical").entropy().eval(), stats.entropy([0.2, 0.5, 0.3]), rtol=1e-12)


def test_moments_of_vectors_are_scipys():
    cov, a, p = np.array([[2.0, 0.6], [0.6, 1.0]]), np.array([2.0, 3.0, 5.0]), np.array([0.2, 0.3, 0.5])
    normal, simplex, counts = D.MultivariateNormal([1.0, -2.0], cov), D.Dirichlet(a), D.Multinomial(10, p)
    ours = [normal.var(), normal.entropy(), simplex.var(), simplex.entropy(), counts.var()]
    got = ag.function([], ours, mode="NUMPY")()
    theirs = stats.multivariate_normal([1, -2], cov), stats.dirichlet(a), stats.multinomial(10, p)
    wanted = [np.diag(cov), theirs[0].entropy(), theirs[1].var(), theirs[1].entropy(), np.diag(theirs[2].cov())]
    for found, expected in zip(got, wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_every_distribution_has_moments_or_says_why_not():
    for name in CASES:
        d = made(name)
        for method, formula in FORMULAS.items():
            if gives(name, formula):
                getattr(d, method)()
            else:
                with pytest.raises(NotImplementedError, match=f"{name}: its .* has no formula"):
                    getattr(d, method)()
    with pytest.raises(ValueError, match="moments are letters of \"mvsk\", got 'mx'"):
        D.Normal().stats("mx")


def test_parameters_outside_of_their_domain_give_nan():
    wrong = {
        "Bernoulli": (1.5,), "Binomial": (5, -0.1), "BetaBinomial": (5, -1.0, 2.0), "Geometric": (1.5,),
        "DiscreteUniform": (3, 1), "Hypergeometric": (5, 9, 3), "LogSeries": (1.5,), "NegativeBinomial": (2.0, 1.5),
        "ZeroInflatedPoisson": (1.5, 2.0), "Uniform": (2.0, 1.0), "Triangular": (0.0, 3.0, 2.0), "Zipf": (0.5,),
        "TruncatedNormal": (0.0, -1.0, 0.0, 1.0), "SkewNormal": (0.0, -1.0, 2.0),
    }  # fmt: skip
    outputs = {}
    for name in CASES:
        if name == "Categorical":
            continue
        values = CASES[name][0]
        d = getattr(D, name)(*wrong.get(name, (*values[:-1], -1.0)))
        for method, formula in FORMULAS.items():
            if gives(name, formula):
                outputs[name, method] = getattr(d, method)()
        if name not in WITHOUT_CDF:
            outputs[name, "sf"] = d.sf(0.5)
    with np.errstate(all="ignore"):
        got = ag.function([], list(outputs.values()), mode="NUMPY")()
    wrong = [name for name, value in zip(outputs, got, strict=True) if not np.isnan(value).all()]
    assert not wrong, wrong


@pytest.mark.parametrize("name", [name for name in CASES if name != "Categorical"])
def test_derivatives_by_parameters_are_those_of_differences(name):
    values = CASES[name][0]
    places = [k for k, v in enumerate(values) if isinstance(v, float)]
    if not places:
        return
    variables = [T.scalar(f"p{k}") for k in places]
    d = getattr(D, name)(*(variables[places.index(k)] if k in places else v for k, v in enumerate(values)))
    parts = [getattr(d, method)() for method in ("_variance", "_entropy") if gives(name, method)]
    if gives(name, "_quantile") and not d.is_discrete:
        parts.append(d.quantile(0.3))
    total = sum(p for p in parts if p is not None)
    if isinstance(total, int) or not np.isfinite(total.eval({v: values[k] for v, k in zip(variables, places)})):
        return
    if name in ("VonMises", "Zipf"):
        with pytest.raises(NoGradient, match="has no closed form"):
            ag.grad(total, variables)
        return
    both = ag.function(variables, [total, *ag.grad(total, variables)], mode="NUMPY")
    point = np.array([values[k] for k in places])
    _, *slopes = both(*point)
    for k, slope in enumerate(slopes):
        step = 1e-5 * np.eye(len(point))[k]
        difference = (both(*(point + step))[0] - both(*(point - step))[0]) / 2e-5
        np.testing.assert_allclose(slope, difference, rtol=2e-5, atol=2e-7, err_msg=name)
