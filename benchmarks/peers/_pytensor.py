"""PyTensor, with the linker that the importing module names."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

if os.environ.get("BENCH_CACHE"):
    os.environ["PYTENSOR_FLAGS"] = f"compiledir={os.environ['BENCH_CACHE']}"
    os.environ["NUMBA_CACHE_DIR"] = os.environ["BENCH_CACHE"]

import pytensor
import pytensor.tensor as pt

from ..cases import Case
from ..formulas import RATE, Names

NAMES: Names = SimpleNamespace(
    exp=pt.exp, log=pt.log, sin=pt.sin, tanh=pt.tanh, sqrt=pt.sqrt, abs=pt.abs, erf=pt.erf, softplus=pt.softplus,
    relu=lambda x: pt.maximum(x, 0),
    softmax=lambda x: pt.special.softmax(x, axis=-1),
    log_softmax=lambda x: pt.special.log_softmax(x, axis=-1),
    logsumexp=lambda x: pt.logsumexp(x, axis=-1),
    pick=lambda x, y: x[pt.arange(y.shape[0]), y],
    scatter_add=lambda x, i, v: pt.inc_subtensor(x[i], v),
)  # fmt: skip


def version() -> str:
    return pytensor.__version__


def build_with(mode: str, case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    arrays = case.inputs()
    formula = partial(case.formula, NAMES)
    variables = [pt.tensor(f"x{n}", dtype=a.dtype.name, shape=(None,) * a.ndim) for n, a in enumerate(arrays)]
    if not case.trains:
        results = formula(*variables)
        if case.gradients:
            results = [results, *pytensor.grad(results, variables[: case.gradients])]
        results = list(results) if isinstance(results, tuple) else results
        return pytensor.function(variables, results, mode=mode), arrays
    parameters = [pytensor.shared(a) for a in arrays[2:]]
    loss = formula(*variables[:2], *parameters)
    rate = arrays[0].dtype.type(RATE)
    gradients = pytensor.grad(loss, parameters)
    updates = [(p, p - rate * g) for p, g in zip(parameters, gradients, strict=True)]
    return pytensor.function(variables[:2], loss, updates=updates, mode=mode), arrays[:2]
