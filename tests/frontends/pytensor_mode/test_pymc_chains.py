"""Chains of samplers side by side: in threads by one compiled function, and in processes by `pm.sample`."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402

import arignote.frontends.pytensor  # noqa: E402, F401

pytestmark = pytest.mark.filterwarnings("ignore")
PYTHON = Mode("py", "fast_compile")
"""PyTensor's graph by the `perform` of each op."""


def schools():
    """Effects of coaching in eight schools, non-centred."""
    effects, errors = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    with pm.Model() as model:
        mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
        pm.Normal("y", mu + tau * pm.Normal("theta", 0, 1, shape=8), errors, observed=effects)
    return model


def compiled(model, mode):
    """Return the function of one vector that gives the log-density and its gradient."""
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode, initial_point=model.initial_point(1))
    function.set_extra_values({})
    function._pytensor_function.trust_input = True
    return function._pytensor_function


def chain(function, dim, steps, seed):
    """Return the positions of a Hamiltonian chain of five leaps a step."""
    random, x = np.random.default_rng(seed), np.zeros(dim)
    value, slope = function(x)
    positions = np.empty((steps, dim))
    for k in range(steps):
        p = random.normal(size=dim)
        at, there, force, before = x, value, slope, value - p @ p / 2
        for _ in range(5):
            half = p + 0.1 * force
            at = at + 0.2 * half
            there, force = function(at)
            p = half + 0.1 * force
        if np.log(random.uniform()) < there - p @ p / 2 - before:
            x, value, slope = at, there, force
        positions[k] = x
    return positions


def test_chains_in_threads_are_those_of_one_thread():
    model = schools()
    function, python = compiled(model, "ARIGNOTE"), compiled(model, PYTHON)
    alone = [chain(function, 10, 150, seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: chain(function, 10, 150, seed), range(4)))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.std(axis=0).min() > 0.1
    np.testing.assert_allclose(alone[0][:20], chain(python, 10, 20, 0), rtol=1e-9, atol=1e-12)


def test_chains_in_forked_processes():
    with schools():
        trace = pm.sample(
            40, tune=60, chains=4, cores=2, random_seed=1, progressbar=False, mp_ctx="fork",
            compile_kwargs={"mode": "ARIGNOTE"}, compute_convergence_checks=False,
        )  # fmt: skip
    found = trace.posterior["theta"].values
    assert found.shape == (4, 40, 8)
    assert len({one.tobytes() for one in found}) == 4


@pytest.mark.long
@pytest.mark.parametrize("name", ["eight_schools", "poisson", "weibull"])
def test_the_posterior_is_that_of_pytensors_mode(name):
    """Means by two modes agree within five standard errors of the Monte Carlo."""
    import arviz

    from benchmarks import pymc_models

    traces = []
    for mode in ("ARIGNOTE", pytensor.config.mode):
        with getattr(pymc_models, name)():
            traces.append(pm.sample(
                400, tune=400, chains=4, cores=1, random_seed=1, progressbar=False, compile_kwargs={"mode": mode}
            ))  # fmt: skip
    ours, theirs = (arviz.summary(trace, kind="all", round_to="none") for trace in traces)
    errors = np.hypot(ours["mcse_mean"], theirs["mcse_mean"])
    assert (abs(ours["mean"] - theirs["mean"]) < 5 * errors).all()
    assert (ours["r_hat"] < 1.05).all()
