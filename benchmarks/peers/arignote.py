"""Ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

from ..cases import Case
from ..formulas import RATE, Names


def version() -> str:
    return ag.__version__


def _like(array: np.ndarray, name: str) -> Any:
    return T.tensor(name, dtype=array.dtype.name, shape=(None,) * array.ndim)


NAMES: Names = SimpleNamespace(
    exp=T.exp, log=T.log, sin=T.sin, tanh=T.tanh, sqrt=T.sqrt, abs=T.abs, erf=T.erf, softplus=T.softplus,
    relu=T.nn.relu,
    softmax=T.nn.softmax,
    log_softmax=T.nn.log_softmax,
    logsumexp=lambda x: T.logsumexp(x, axis=-1),
    pick=lambda x, y: x[T.arange(x.shape[0]), y],
    scatter_add=lambda x, i, v: T.inc_subtensor(x[i], v),
)  # fmt: skip


def build(case: Case, threads: int | None = None, mode: Any = None) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    arrays = case.inputs()
    formula = partial(case.formula, NAMES)
    variables = [_like(a, f"x{n}") for n, a in enumerate(arrays)]
    if not case.trains:
        results = formula(*variables)
        if case.gradients:
            results = [results, *ag.grad(results, variables[: case.gradients])]
        outputs = list(results) if isinstance(results, tuple) else results
        return ag.function(variables, outputs, threads=threads, mode=mode), arrays
    parameters = [ag.shared(a, shape=a.shape) for a in arrays[2:]]
    loss = formula(*variables[:2], *parameters)
    gradients = ag.grad(loss, parameters)
    rate = arrays[0].dtype.type(RATE)
    updates = [(p, p - rate * g) for p, g in zip(parameters, gradients, strict=True)]
    return ag.function(variables[:2], loss, updates=updates, threads=threads, mode=mode), arrays[:2]
