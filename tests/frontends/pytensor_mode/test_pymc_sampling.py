"""PyMC's functions under `mode="ARIGNOTE"`: samplers, predictive draws, optimization, other data."""

import pickle
from importlib import import_module

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402

import arignote.frontends.pytensor as door  # noqa: E402

OURS = {"mode": "ARIGNOTE"}
QUIET = {"progressbar": False, "random_seed": 3, "compile_kwargs": OURS}
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]


def regression():
    """A regression with data that can be replaced; the posterior is known well."""
    r = np.random.default_rng(1)
    x = r.normal(size=60)
    with pm.Model() as model:
        data = pm.Data("x", x)
        slope, scale = pm.Normal("slope", 0, 2), pm.HalfNormal("scale", 2)
        pm.Normal("y", slope * data, scale, observed=1.5 * x + 0.5 * r.normal(size=60), shape=data.shape)
    return model


@pytest.mark.parametrize("options", [{"cores": 1}, {"cores": 2, "mp_ctx": "fork"}, {"cores": 2, "mp_ctx": "spawn"}])
def test_chains_have_the_posterior(options):
    with regression():
        found = pm.sample(300, tune=300, chains=4, **options, **QUIET)
        drawn = pm.sample_posterior_predictive(found, **QUIET)
    assert found.posterior["slope"].shape == (4, 300)
    assert abs(float(found.posterior["slope"].mean()) - 1.5) < 0.15
    assert abs(float(found.posterior["scale"].mean()) - 0.5) < 0.15
    assert drawn.posterior_predictive["y"].shape == (4, 300, 60)
    assert len({c.tobytes() for c in found.posterior["slope"].values}) == 4


def test_other_steps_and_nutpie():
    with regression():
        found = pm.sample(300, tune=300, chains=2, cores=1, step=pm.Slice(compile_kwargs=OURS), **QUIET)
        assert abs(float(found.posterior["slope"].mean()) - 1.5) < 0.15
        pytest.importorskip("nutpie")
        import_module("arignote.frontends.pytensor.nutpie")
        found = pm.sample(
            300, tune=300, chains=2, nuts_sampler="nutpie", nuts_sampler_kwargs={"backend": "arignote"},
            progressbar=False, random_seed=3,
        )  # fmt: skip
        assert abs(float(found.posterior["slope"].mean()) - 1.5) < 0.15


def test_predictive_draws_are_pytensors():
    with regression():
        ours = pm.sample_prior_predictive(50, random_seed=5, compile_kwargs=OURS)
        theirs = pm.sample_prior_predictive(50, random_seed=5)
    for group in (ours.prior, ours.prior_predictive):
        for name, values in group.items():
            expected = (theirs.prior if name in theirs.prior else theirs.prior_predictive)[name]
            np.testing.assert_allclose(values, expected, rtol=1e-12)


def test_optima_and_variational_fits():
    with regression(), pytensor.config.change_flags(mode="ARIGNOTE"):
        point = pm.find_MAP(progressbar=False)
        assert abs(point["slope"] - 1.5) < 0.15
        fit = pm.fit(4000, progressbar=False, random_seed=1, obj_optimizer=pm.adam(learning_rate=0.02))
        assert abs(float(fit.sample(500, random_seed=1).posterior["slope"].mean()) - 1.5) < 0.3


def test_a_fit_by_the_default_optimizer_is_pytensors():
    fits = []
    for mode in ("ARIGNOTE", "FAST_COMPILE"):
        with regression(), pytensor.config.change_flags(mode=mode):
            fits.append(pm.fit(100, progressbar=False, random_seed=1).hist)
    np.testing.assert_allclose(fits[0], fits[1], rtol=1e-8)


def test_minibatches():
    """Losses are those of PyTensor's mode at each of 500 steps: both draw the same rows and the same noise."""
    fits = [_fitted_to_minibatches(mode, 500) for mode in ("ARIGNOTE", "FAST_COMPILE")]
    np.testing.assert_allclose(fits[0].hist, fits[1].hist, rtol=1e-11)
    fit = _fitted_to_minibatches("ARIGNOTE", 4000)
    assert abs(float(fit.sample(500, random_seed=1).posterior["slope"].mean()) - 0.7) < 0.1


def _fitted_to_minibatches(mode, steps):
    r = np.random.default_rng(2)
    x = r.normal(size=2000)
    y = 0.7 * x + 0.3 * r.normal(size=2000)
    with pm.Model(), pytensor.config.change_flags(mode=mode):
        few_x, few_y = pm.Minibatch(x, y, batch_size=100)
        slope, scale = pm.Normal("slope", 0, 2), pm.HalfNormal("scale", 1)
        pm.Normal("y", slope * few_x, scale, observed=few_y, total_size=2000)
        return pm.fit(steps, progressbar=False, random_seed=1, obj_optimizer=pm.adam(learning_rate=0.02))


def test_other_data_need_no_compilation():
    with regression() as model:
        compiled = model.compile_logp(mode="ARIGNOTE")
        found = pm.sample(100, tune=100, chains=1, cores=1, **QUIET)
        pm.set_data({"x": np.linspace(-1, 1, 7)})
        drawn = pm.sample_posterior_predictive(found, predictions=True, **QUIET)
    assert drawn.predictions["y"].shape == (1, 100, 7)
    assert type(pickle.loads(pickle.dumps(compiled.f))) is door.ArignoteFunction
