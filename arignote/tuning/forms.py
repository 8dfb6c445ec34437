"""Compiled forms of a function or a kernel, and their times in alternating rounds.

A form that wins has to win again in a second measurement, so that noise is not taken for speed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..cbackend import compile_graph
from ..cbackend.ir.schedule import Schedule
from ..engines.compiler import find_toolchain, process_cache
from ..function.compiled import Function
from ..graph import FunctionGraph
from ..graph.types import numpy_dtype
from ..ops.core.shared import Container
from ..profiling import RunProfile

GAIN = 1.03
"""Least speed-up over the best schedule so far, in the minimum and in the median of all rounds."""
SURE = 0.75
"""Share of rounds that a faster schedule must win."""
FEWEST_ROUNDS = 3
"""Rounds after which a form that was never faster is given up."""
_ROUND_SECONDS = 2e-3
"""Minimum duration of one round of calls for a form of the function."""


class Form:
    """An executable, with containers of its own for shared variables."""

    def __init__(self, run: Any, containers: Sequence[Container] = ()) -> None:
        self._run, self._containers = run, containers
        self._first = [np.array(c.value) for c in containers]

    def seconds(self, arrays: Sequence[np.ndarray], calls: int) -> float:
        """The seconds of a call."""
        self._begin_anew()
        run = self._run.entry
        begun = time.perf_counter()
        for _ in range(calls):
            run(*arrays)
        return (time.perf_counter() - begun) / calls

    def results(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of the first call, and the values of shared variables after it."""
        self._begin_anew()
        return [r.copy() for r in (*self._run(*arrays), *(c.value for c in self._containers))]

    def _begin_anew(self) -> None:
        for container, value in zip(self._containers, self._first, strict=True):
            container.value = value.copy()


def form_of(
    function: Function, schedules: Mapping[str, Schedule], profile: RunProfile | None = None,
    graph: FunctionGraph | None = None,
) -> Form:  # fmt: skip
    """Return the function under some schedules.  `graph`: another optimized graph than that of the function.

    Raises ScheduleError or CompileError if that is impossible.
    """
    containers = [Container(np.array(s.container.value)) for s in function.shared]
    shared = [None] * len(function.inputs) + containers
    return compiled_form(function, function.graph if graph is None else graph, shared, schedules, profile)


def compiled_form(
    function: Function, graph: FunctionGraph, shared: Sequence[Container | None], schedules: Mapping[str, Schedule],
    profile: RunProfile | None = None,
) -> Form:  # fmt: skip
    """Return a graph compiled as the function is: its threads and its target."""
    toolchain = find_toolchain()
    assert toolchain is not None
    run = compile_graph(
        graph, name=function.name, shared=list(shared), toolchain=toolchain, cache=process_cache(), profile=profile,
        threads=function.threads, schedule=schedules, target=function.target,
    )  # fmt: skip
    return Form(run, [container for container in shared if container is not None])


def in_turns(first: Form, second: Form, arrays: Sequence[np.ndarray], rounds: int) -> Iterator[tuple[float, float]]:
    """Yield seconds per call of both, round by round, in alternating order: the second one finds warmer caches."""
    calls = max(1, int(_ROUND_SECONDS / max(first.seconds(arrays, 1), second.seconds(arrays, 1), 1e-7)))
    for k in range(rounds):
        pair = (first, second) if k % 2 else (second, first)
        a, b = (form.seconds(arrays, calls) for form in pair)
        yield (a, b) if k % 2 else (b, a)


def speed_up(times: Sequence[tuple[float, float]]) -> float:
    """Return the time of the first form over that of the second; 1.0 if the second is not certainly faster."""
    best = min(a for a, _ in times) / min(b for _, b in times)
    typical = statistics.median(a / b for a, b in times)
    return min(best, typical) if sum(b < a for a, b in times) >= SURE * len(times) else 1.0


def all_same(first: Sequence[np.ndarray], second: Sequence[np.ndarray], exact: bool) -> bool:
    """Whether results agree: to the bit if they are `exact`, else but for the rounding of sums."""
    return all(_same(a, b, exact) for a, b in zip(first, second, strict=True))


def _same(a: np.ndarray, b: np.ndarray, exact: bool) -> bool:
    if exact or a.dtype.kind not in "fc":
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    tolerance = 64 * float(np.finfo(numpy_dtype(a.dtype.name)).eps)
    scale = float(np.nanmax(np.abs(b[np.isfinite(b)]), initial=0.0))
    return a.shape == b.shape and np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
