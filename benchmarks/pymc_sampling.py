"""Chains and predictive draws of PyMC models under Arignote and PyTensor's own modes.

    python -m benchmarks.pymc_sampling [--modes ARIGNOTE CVM] [--models radon] [--what sample draws] [--warm]

`sample`: `pm.sample` with four chains of 500 draws after 500 steps of tuning, one after the other.
`draws`: `pm.sample_prior_predictive` and `pm.sample_posterior_predictive`, to compile and for each draw.

Each mode and model is a process of its own, by default with empty caches; `--warm` shows the second of two runs.
Times are processor seconds, those of compilers included, and wall seconds in brackets.  Posterior means are compared
with those of the first mode, in standard errors of the Monte Carlo; predictive draws are compared bit for bit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

MODES = ("ARIGNOTE", "CVM", "NUMBA", "JAX")
MODELS = ("eight_schools", "radon", "poisson")
DRAWS = 1000
"""Predictive draws."""
WORKER = "--worker"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", nargs="*", default=MODES)
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--what", nargs="*", default=("sample", "draws"), choices=("sample", "draws"))
    parser.add_argument("--warm", action="store_true")
    chosen = parser.parse_args()
    for what in chosen.what:
        for name in chosen.models:
            first: dict[str, Any] | None = None
            for mode in chosen.modes:
                found = measured(what, name, mode, chosen.warm)
                line = found if isinstance(found, str) else describe(found, found if first is None else first)
                if first is None and isinstance(found, dict):
                    first = found
                print(f"{what:7} {name:14} {mode:9} {line}", flush=True)


def measured(what: str, name: str, mode: str, warm: bool) -> dict[str, Any] | str:
    """Return what a process of its own measures; the last line of its error if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ, "ARIGNOTE_CACHE": f"{folder}/arignote",
            "PYTENSOR_FLAGS": f"base_compiledir={folder}/pytensor", "NUMBA_CACHE_DIR": f"{folder}/numba",
            "JAX_COMPILATION_CACHE_DIR": f"{folder}/jax",
        }  # fmt: skip
        command = [sys.executable, "-m", "benchmarks.pymc_sampling", WORKER, what, name, mode]
        for _ in range(2 if warm else 1):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                return (done.stderr.strip().splitlines() or ["no message"])[-1]
    return json.loads(done.stdout.strip().splitlines()[-1])  # type: ignore[no-any-return]


def describe(found: dict[str, Any], first: dict[str, Any]) -> str:
    """Return one line for the times, the ratio of the first mode's to these, and how far the results are apart."""
    times = ", ".join(
        f"{key} {used:7.2f} s ({wall:.1f} s), ratio {first['times'][key][0] / used:.2f}"
        for key, (used, wall) in found["times"].items()
    )
    calls = "".join(f", {key} {seconds * 1e6:.0f} us a draw" for key, seconds in found.get("calls", {}).items())
    if "means" not in found:
        return f"{times}{calls}, same bits: {found['bits'] == first['bits']}"
    ours, theirs = np.array(first["means"]), np.array(found["means"])
    errors = np.hypot(ours[1], theirs[1]) + np.finfo(float).tiny
    distance = np.max(abs(ours[0] - theirs[0]) / errors)
    return f"{times}, {distance:.1f} standard errors apart, r_hat {max(theirs[2]):.3f}"


def work(what: str, name: str, mode: str) -> dict[str, Any]:
    """Return the times and results of one mode on one model."""
    import arignote.frontends.pytensor  # noqa: F401

    from . import pymc_models

    warnings.simplefilter("ignore")
    with getattr(pymc_models, name)() as model:
        return sampled(mode) if what == "sample" else predicted(model, mode)


def sampled(mode: str) -> dict[str, Any]:
    """Return the times of `pm.sample`, and the means with their Monte Carlo errors and r_hat."""
    import arviz
    import pymc as pm

    trace, taken = timed(lambda: pm.sample(
        500, tune=500, chains=4, cores=1, random_seed=1, progressbar=False, compile_kwargs={"mode": mode},
        compute_convergence_checks=False,
    ))  # fmt: skip
    rows = arviz.summary(trace, kind="all", round_to="none")
    return {"times": {"sample": taken}, "means": [rows[key].tolist() for key in ("mean", "mcse_mean", "r_hat")]}


def predicted(model: Any, mode: str) -> dict[str, Any]:
    """Return the times of predictive draws, those of one draw, and the draws as text."""
    import arviz
    import pymc as pm

    options = {"random_seed": 5, "compile_kwargs": {"mode": mode}}
    names = [v.name for v in model.free_RVs]
    prior = {v: x[None] for v, x in zip(names, pm.draw(model.free_RVs, DRAWS, random_seed=1), strict=True)}
    trace = arviz.from_dict(posterior=prior)
    few = trace.isel(draw=slice(0, 1))
    compiled, first = timed(lambda: pm.sample_prior_predictive(1, **options))
    many, prior_times = timed(lambda: pm.sample_prior_predictive(DRAWS, **options))
    _, second = timed(lambda: pm.sample_posterior_predictive(few, progressbar=False, **options))
    after, posterior_times = timed(lambda: pm.sample_posterior_predictive(trace, progressbar=False, **options))
    _, again = timed(lambda: pm.sample_prior_predictive(1, **options))
    _, and_again = timed(lambda: pm.sample_posterior_predictive(few, progressbar=False, **options))
    groups = (compiled.prior, many.prior, many.prior_predictive, after.posterior_predictive)
    bits = "".join(group[v].values.tobytes().hex() for group in groups for v in sorted(group))
    return {
        "times": {"prior": first, "posterior": second},
        "calls": {
            "prior": (prior_times[0] - again[0]) / (DRAWS - 1),
            "posterior": (posterior_times[0] - and_again[0]) / (DRAWS - 1),
        },
        "bits": hashlib.sha256(bits.encode()).hexdigest(),
    }


def timed(call: Callable[[], Any]) -> tuple[Any, tuple[float, float]]:
    """Return a result, with the processor seconds of it and of the compilers it started, and wall seconds."""
    start, used = time.perf_counter(), sum(os.times()[:4])
    found = call()
    return found, (sum(os.times()[:4]) - used, time.perf_counter() - start)


if __name__ == "__main__":
    if sys.argv[1:2] == [WORKER]:
        print(json.dumps(work(*sys.argv[2:])))
    else:
        main()
