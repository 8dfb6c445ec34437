"""Models of PyMC under `mode="ARIGNOTE"`: densities, gradients and streams beside PyTensor's Python linker."""

import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytensor = pytest.importorskip("pytensor")
pytest.importorskip("pymc")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pymc as pm
    from pymc.blocking import DictToArrayBijection
    from pymc_gallery import GALLERY

    from benchmarks.pymc_models import MODELS, eight_schools

from pytensor.compile.mode import Mode  # noqa: E402

import arignote.frontends.pytensor  # noqa: E402, F401

PYTHON = Mode("py", "fast_compile")
"""PyTensor's graph by the `perform` of each op."""

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("name", MODELS)
def test_density_and_gradient(name):
    model = MODELS[name]()
    point = model.initial_point(random_seed=3)
    found = []
    for mode in ("ARIGNOTE", PYTHON):
        function = model.logp_dlogp_function(ravel_inputs=False, mode=mode)
        function.set_extra_values({})
        value, gradient = function([point[v.name] for v in model.value_vars])
        found.append((value, np.concatenate([np.ravel(g) for g in np.atleast_1d(gradient)])))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6, atol=1e-8)


def test_samples_before_and_after_data():
    draws = []
    for mode in ("ARIGNOTE", PYTHON):
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


NUTPIE = """
import arignote.frontends.pytensor.nutpie, nutpie
from arignote.frontends.pytensor.density import PythonCall
from benchmarks.pymc_models import eight_schools

compiled = nutpie.compile_pymc_model(eight_schools(), backend="arignote")
assert not isinstance(compiled.user_data.logp, PythonCall)
trace = nutpie.sample(compiled, draws=400, tune=400, chains=2, progress_bar=False, seed=1)
assert abs(float(trace.posterior["mu"].mean()) - 4.4) < 1.0 and trace.posterior["theta"].shape == (2, 400, 8)

import numpy as np, pymc as pm
with pm.Model() as model:
    height = pm.Data("height", np.zeros(50))
    pm.Normal("y", pm.Normal("a", 0, 10), 1, observed=height)
moved = nutpie.compile_pymc_model(model, backend="arignote").with_data(height=np.full(50, 3.0))
trace = nutpie.sample(moved, draws=100, tune=100, chains=2, progress_bar=False, seed=1)
assert abs(float(trace.posterior["a"].mean()) - 3) < 0.2
for wrong, error in (({"width": np.zeros(50)}, KeyError), ({"height": np.zeros((5, 10))}, ValueError)):
    try:
        moved.with_data(**wrong)
    except error:
        continue
    raise AssertionError(wrong)
"""
BLACKJAX = """
import blackjax, jax, numpy as np
from arignote.frontends.pytensor.density import density
from benchmarks.pymc_models import eight_schools

jax.config.update("jax_enable_x64", True)  # not by a context: callbacks run in another thread
d = density(eight_schools())
at = np.random.default_rng(0).normal(size=(3, d.dim)) * 0.1
logdensity = d.jax()
values, slopes = jax.vmap(jax.value_and_grad(logdensity))(at)
for k in range(3):
    np.testing.assert_allclose(values[k], d(at[k])[0])
    np.testing.assert_allclose(slopes[k], d(at[k])[1])
kernel = blackjax.nuts(logdensity, step_size=0.4, inverse_mass_matrix=np.ones(d.dim))
state, step = kernel.init(at[0]), jax.jit(kernel.step)
for key in jax.random.split(jax.random.key(0), 20):
    state, _ = step(key, state)
np.testing.assert_allclose(state.logdensity, d(np.asarray(state.position))[0])
"""


@pytest.mark.parametrize("package, script", [("nutpie", NUTPIE), ("blackjax", BLACKJAX)])
def test_samplers_of_other_packages(package, script):
    if find_spec(package) is None:
        pytest.skip(f"{package} is missing")
    command = [sys.executable, "-W", "ignore", "-c", "import arignote.frontends.pytensor\n" + script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3])
    assert done.returncode == 0, done.stderr[-2000:]


def test_terms_of_a_model_by_cost(tmp_path, capsys):
    from arignote.__main__ import main

    lines = [
        "import numpy as np, pymc as pm", "with pm.Model() as model:", "    a = pm.Normal('a', shape=3)",
        "    pm.StudentT('y', nu=3, mu=a[0], observed=np.arange(3000.0))",
    ]  # fmt: skip
    (tmp_path / "model.py").write_text("\n".join(lines))
    assert main(["pymc-bench", str(tmp_path / "model.py"), "--terms"]) == 0
    first = capsys.readouterr().out.splitlines()[1]
    assert " y " in first and first.endswith("model.py:4")


@pytest.mark.parametrize("name", GALLERY)
def test_model_of_the_gallery(name):
    with pm.Model() as model:
        GALLERY[name]()
    point = model.initial_point(random_seed=5)
    x = DictToArrayBijection.map({v.name: point[v.name] for v in model.value_vars}).data
    x = x + 0.05 * np.random.default_rng(1).normal(size=x.shape)
    found = []
    for mode in ("ARIGNOTE", PYTHON):
        function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
        function.set_extra_values({})
        found.append(function._pytensor_function(x))
    assert np.isfinite(found[0][0])
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-10)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-10, atol=1e-10 * abs(found[1][1]).max())
    assert found[0][1].any()
