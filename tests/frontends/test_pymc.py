"""Models of PyMC under `mode="ARIGNOTE"`: densities, gradients and streams beside PyTensor's Python linker."""

import warnings

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")
pytest.importorskip("pymc")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pymc as pm

    from benchmarks.pymc_models import MODELS, eight_schools

import arignote.frontends.pytensor  # noqa: E402, F401

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("name", MODELS)
def test_density_and_gradient(name):
    model = MODELS[name]()
    point = model.initial_point(random_seed=3)
    found = []
    for mode in ("ARIGNOTE", "FAST_COMPILE"):
        function = model.logp_dlogp_function(ravel_inputs=False, mode=mode)
        function.set_extra_values({})
        value, gradient = function([point[v.name] for v in model.value_vars])
        found.append((value, np.concatenate([np.ravel(g) for g in np.atleast_1d(gradient)])))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6, atol=1e-8)


def test_samples_before_and_after_data():
    draws = []
    for mode in ("ARIGNOTE", "FAST_COMPILE"):
        with eight_schools():
            draws.append(pm.sample_prior_predictive(20, random_seed=1, compile_kwargs={"mode": mode}).prior)
    for name in ("mu", "tau", "theta"):
        np.testing.assert_allclose(draws[0][name], draws[1][name], rtol=1e-12)


def test_chains_in_processes():
    with eight_schools():
        trace = pm.sample(
            50, tune=50, chains=2, cores=2, random_seed=1, progressbar=False, compile_kwargs={"mode": "ARIGNOTE"}
        )
    assert trace.posterior["theta"].shape == (2, 50, 8)
