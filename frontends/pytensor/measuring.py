"""Times of one model under one backend: compilation, and a call of value and gradient as samplers make it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import grad

from .building import origin_of

MODES = ("ARIGNOTE", "CVM", "NUMBA", "JAX")
"""Modes of PyTensor that are compared."""


class Times(NamedTuple):
    """Seconds to compile, processor seconds of that with the compilers it started, seconds of a call, and results."""

    compile: float
    processor: float
    call: float
    value: float
    gradient: list[float]


def times_of(model: Any, mode: str, seconds: float = 0.5) -> Times:
    """Return the times of the log-density of a PyMC model with its gradient.

    The time to compile includes the first call, since some backends compile then.
    """
    from pymc.blocking import DictToArrayBijection

    point = model.initial_point(random_seed=1)
    start, processor = time.perf_counter(), _processor_seconds()
    function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    function.set_extra_values({})
    x = DictToArrayBijection.map({v.name: point[v.name] for v in model.value_vars}).data
    x = x + 0.01 * np.random.default_rng(0).normal(size=x.shape)
    compiled = function._pytensor_function
    compiled.trust_input = True
    value, gradient = (np.asarray(v) for v in compiled(x))
    taken, used = time.perf_counter() - start, _processor_seconds() - processor

    def call() -> np.ndarray:
        """Call and wait for the gradient: JAX returns before it has computed."""
        return np.asarray(compiled(x)[1])

    return Times(taken, used, seconds_of(call, seconds), float(value), gradient.tolist())


class TermCost(NamedTuple):
    """A random variable or potential of a model, seconds of its value and gradient, and the line that made it."""

    name: str
    seconds: float
    line: str


def term_costs(model: Any, seconds: float = 0.1) -> list[TermCost]:
    """Return what each term of the log-density of a PyMC model costs alone, the most costly first.

    A term is compiled alone, with its gradient by all variables, so work that terms share counts for each of them.
    """
    from pymc.pytensorf import compile as compiled

    point = model.initial_point(random_seed=1)
    values = list(model.value_vars)
    floats = [v for v in values if v.dtype.startswith("float")]
    rows = []
    for variable in (*model.basic_RVs, *model.potentials):
        term = model.logp(vars=[variable], sum=False)[0].sum()
        slopes = grad(term, floats, disconnected_inputs="ignore")
        outputs = [term, *(pt.as_tensor(s) for s in slopes)]
        function = compiled(values, outputs, mode="ARIGNOTE", on_unused_input="ignore")
        function.trust_input = True
        given = [np.asarray(point[v.name], v.dtype) for v in values]
        origin = origin_of(variable.owner) if variable.owner is not None else ()
        line = f"{origin[0].file}:{origin[0].line}" if origin else ""
        rows.append(TermCost(variable.name, seconds_of(partial(function, *given), seconds), line))
    return sorted(rows, key=lambda row: -row.seconds)


def _processor_seconds() -> float:
    """Return the processor seconds of this process and of those that it started and that ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def seconds_of(call: Callable[[], Any], seconds: float) -> float:
    """Return the least mean seconds of a call among short rounds, which other work on the machine disturbs least."""
    for _ in range(100):
        call()
    start = time.perf_counter()
    call()
    count = max(int(0.0005 / max(time.perf_counter() - start, 1e-7)), 1)
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - start) / count)
    return best
