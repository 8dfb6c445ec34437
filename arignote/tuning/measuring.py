"""The measurements of `ag.tune`: schedules that are faster on this processor.

The kernels that take the most time come first.  One choice after the other is tried: a form of the function is
compiled with it and called in turns with the best form so far, on the inputs that were given.  A form that wins
has to win again in a second measurement, so that noise is not taken for speed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import pages
from ..cbackend import CompileError, compile_graph
from ..cbackend.calls.measured import Measured
from ..cbackend.ir.kernel import Kernel
from ..cbackend.ir.schedule import Schedule, ScheduleError
from ..engines.compiler import find_toolchain, process_cache
from ..engines.registry import title
from ..explain.assumptions import for_lengths_of
from ..function.compile_progress import Progress, Silence, progress
from ..function.compiled import Function
from ..function.function import recompiled
from ..graph import FunctionGraph
from ..graph.types import numpy_dtype
from ..ops.core.shared import Container
from ..profiling import RunProfile
from ..record import record
from .schedules import schedules_of

SHARE = 0.03
"""Least share of a function's time for which a kernel is tuned."""
GAIN = 1.03
"""Least speed-up over the best schedule so far, in the minimum and in the median of all rounds."""
SURE = 0.75
"""Share of rounds that a faster schedule must win."""
_FEWEST_ROUNDS, _ROUNDS, _FINAL_ROUNDS = 3, 7, 21
_ROUND_SECONDS = 2e-3
"""Minimum duration of one round of calls for a form of the function."""


@record
class Tuned:
    """The finding for one kernel: the schedule to use, and the speed-up of the function."""

    kernel: str
    computes: str
    schedule: Schedule
    gain: float
    tried: int


class Tuning:
    """The findings of `tune`.  `function` uses the best schedules; later compilations use them as well."""

    function: Function
    found: tuple[Tuned, ...]
    before: float
    after: float
    kept: bool

    def __init__(self, function: Function, found: Sequence[Tuned], before: float, after: float, kept: bool) -> None:
        self.function, self.found, self.before, self.after, self.kept = function, tuple(found), before, after, kept
        """`before` and `after` are seconds a call; `kept`: whether the cache took the winners."""

    @property
    def gain(self) -> float:
        """The speed-up of the function."""
        return self.before / self.after

    def _rows(self) -> list[tuple[str, str]]:
        return [
            (t.kernel, f"{t.schedule}, {t.gain:.2f} times as fast; {t.tried} tried: {t.computes}") for t in self.found
        ]

    def __str__(self) -> str:
        name = self.function.name
        times = f"{self.before * 1e6:.1f} us before, {self.after * 1e6:.1f} us after"
        total = f"{name}: {times}, {self.gain:.2f} times as fast"
        return "\n".join([total, *(f"  {kernel}  {what}" for kernel, what in self._rows())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return pages.notebook.facts(str(self).splitlines()[0], self._rows())


def tuned(function: Function, inputs: Sequence[Any], seconds: float, keep: bool) -> Tuning:
    """See `tune`."""
    function = for_lengths_of(function, function.arrays(list(inputs)))
    kernels = function.program.kernels if function.program is not None else ()
    toolchain = find_toolchain()
    if function.backend != "c" or toolchain is None:
        raise ValueError(
            f"{function.name} is run by {title(function.backend)}: there is no C whose schedule could be changed"
        )
    with progress(function.name, "tuning") as shown:
        race, chosen = _Race(function, inputs, time.perf_counter() + seconds), dict(schedules_of(kernels))
        first, found = dict(chosen), []
        shown.stage = "measuring its kernels"
        worth = list(_by_time(race.kernel_seconds(chosen), kernels))
        for number, (kernel, share) in enumerate(worth, start=1):
            now = time.perf_counter()
            if now > race.end:
                break
            shown.stage = f"kernel {number} of {len(worth)}, {kernel.title},"
            tuned = _best_of(race, chosen, kernel, now + share * (race.end - now), shown)
            chosen[tuned.kernel] = tuned.schedule
            found.append(tuned)
    before, after = race.seconds(first, chosen)
    if not any(t.gain > 1.0 for t in found) or after > before:
        return Tuning(function, [_without_gain(t, first) for t in found], before, before, False)
    measured = Measured(toolchain, process_cache())
    kept = [measured.keep(t.kernel, t.schedule, t.gain) for t in found if t.gain > 1.0 and keep]
    return Tuning(recompiled(function, chosen), found, before, after, bool(kept) and all(kept))


def _without_gain(tuned: Tuned, first: Mapping[str, Schedule]) -> Tuned:
    """Return the finding for a kernel that keeps its first schedule, as the winners make the function no faster."""
    return Tuned(tuned.kernel, tuned.computes, first[tuned.kernel], 1.0, tuned.tried)


def _by_time(seconds: Mapping[str, float], kernels: Sequence[Kernel]) -> Iterator[tuple[Kernel, float]]:
    """Yield the kernels worth tuning, the most costly first, with the share of the remaining time for each."""
    total = sum(seconds.values())
    worth = [k for k in kernels if k.takes_schedule and seconds.get(k.name, 0.0) > SHARE * total]
    worth.sort(key=lambda k: -seconds[k.name])
    for at, kernel in enumerate(worth):
        yield kernel, seconds[kernel.name] / sum(seconds[k.name] for k in worth[at:])


def _best_of(
    race: _Race, chosen: Mapping[str, Schedule], kernel: Kernel, end: float, shown: Progress | Silence
) -> Tuned:
    """Return the best schedule of a kernel that is found in time."""
    stage = shown.stage
    name = kernel.default or kernel.name
    first = best = chosen[name]
    tried = {first}
    for choices in alternatives(kernel, race.strided):
        if time.perf_counter() > end:
            break
        candidate = best.changed(**choices)
        if candidate in tried:
            continue
        tried.add(candidate)
        shown.stage = f"{stage} form {len(tried) - 1}: {candidate};"
        forms = {**chosen, name: best}, {**chosen, name: candidate}
        if race.equal(*forms, exact=candidate.exact_as(best)) and race.gain(*forms, _ROUNDS) > GAIN:
            best = candidate
    forms = {**chosen, name: first}, {**chosen, name: best}
    gain = 1.0 if best == first else race.gain(*forms, _FINAL_ROUNDS)
    if gain > GAIN:
        return Tuned(name, kernel.title, best, gain, len(tried) - 1)
    return Tuned(name, kernel.title, first, 1.0, len(tried) - 1)


def alternatives(kernel: Kernel, strided: bool = False) -> Iterator[dict[str, Any]]:
    """Yield choices that may be faster for a kernel, the most promising first.  Some may not fit it.

    `strided`: it may read what is not C-contiguous, so that another order of loops is the first thought.
    """
    rank = kernel.rank
    loops = {frozenset(o.loops) for o in kernel.outputs}
    reduced = [l for l in range(rank) if any(l not in some for some in loops)]
    kept = [l for l in range(rank) if l not in reduced]
    if rank >= 2:
        unrolled: list[dict[str, Any]] = [{"unroll": 4}, {"unroll": 2}, {"unroll": 8}]
        innermost = [(*(k for k in kept if k != l), *reduced, l) for l in kept]
        orders = [(*kept, *reduced), *innermost, (*reduced, *kept)] if reduced else innermost[:-1]
        ordered: list[dict[str, Any]] = [{"order": order} for order in dict.fromkeys(orders)]
        yield from (*ordered, *unrolled) if strided else (*unrolled, *ordered)
        tiled = kept[-2:]
        for sizes in ((64, 64), (16, 256), (32, 1024), (256, 512)):
            yield {"tiles": dict(zip(tiled, sizes[2 - len(tiled) :], strict=True))}
        yield {"tiles": {}}
    yield {"grain": 80}
    yield {"grain": 20}
    yield {"grain": 160}
    yield {"parallel": False}
    if reduced:
        yield {"block": 512}
        yield {"block": 64}
    yield {"vector": 4}
    yield {"vector": 8}
    yield {"vector": 16}


class Form:
    """A function under some schedules, with containers of its own for shared variables.

    `graph`: another optimized graph than that of the function.
    """

    def __init__(
        self, function: Function, schedules: Mapping[str, Schedule], profile: RunProfile | None = None,
        graph: FunctionGraph | None = None,
    ) -> None:  # fmt: skip
        toolchain = find_toolchain()
        assert toolchain is not None
        self._first = [np.array(s.container.value) for s in function.shared]
        self._containers = [Container(value) for value in self._first]
        shared = [None] * len(function.inputs) + self._containers
        self._run = compile_graph(
            function.graph if graph is None else graph, name=function.name, shared=shared, toolchain=toolchain,
            cache=process_cache(), profile=profile, threads=function.threads, schedule=schedules,
            target=function.target,
        )  # fmt: skip

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


def in_turns(
    first: Form, second: Form, arrays: Sequence[np.ndarray], rounds: int
) -> Iterator[tuple[float, float]]:
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


class _Race:
    """Forms of one function under several schedules, called on the same inputs."""

    def __init__(self, function: Function, inputs: Sequence[Any], end: float) -> None:
        self._function, self.end = function, end
        """`end`: the moment from which races are cut to their fewest rounds."""
        self._arrays = function.arrays(list(inputs))[: len(function.inputs)]
        self.strided = any(not a.flags.c_contiguous for a in self._arrays)
        self._forms: dict[tuple[tuple[str, Schedule], ...], Form | None] = {}

    def _form(self, schedules: Mapping[str, Schedule]) -> Form:
        """Return the function under these schedules, which name all its kernels.  Raises if that is impossible."""
        key = tuple(schedules.items())
        if key not in self._forms:
            self._forms[key] = None
            self._forms[key] = Form(self._function, schedules)
        form = self._forms[key]
        if form is None:
            raise ScheduleError("tried before")
        return form

    def equal(self, one: Mapping[str, Schedule], other: Mapping[str, Schedule], exact: bool) -> bool:
        """Whether the other form is possible and gives the same results: the same bits if they are `exact`."""
        try:
            form = self._form(other)
        except (ScheduleError, CompileError):
            return False
        results = self._form(one).results(self._arrays), form.results(self._arrays)
        return all(_same(a, b, exact) for a, b in zip(*results, strict=True))

    def gain(self, one: Mapping[str, Schedule], other: Mapping[str, Schedule], rounds: int) -> float:
        """The speed-up of the other form over `one`; 1.0 if it is not significant."""
        times = []
        for k, pair in enumerate(self._times(one, other, rounds), start=1):
            times.append(pair)
            if k >= _FEWEST_ROUNDS and not any(b < a for a, b in times):
                return 1.0
        return speed_up(times)

    def seconds(self, one: Mapping[str, Schedule], other: Mapping[str, Schedule]) -> tuple[float, float]:
        """Seconds a call of both forms."""
        times = list(self._times(one, other, _FINAL_ROUNDS))
        return min(a for a, _ in times), min(b for _, b in times)

    def _times(
        self, one: Mapping[str, Schedule], other: Mapping[str, Schedule], rounds: int
    ) -> Iterator[tuple[float, float]]:
        """Yield seconds per call of both, of few rounds after the end."""
        rounds = rounds if time.perf_counter() < self.end else min(rounds, _FEWEST_ROUNDS)
        yield from in_turns(self._form(one), self._form(other), self._arrays, rounds)

    def kernel_seconds(self, schedules: Mapping[str, Schedule]) -> dict[str, float]:
        """Return seconds of each kernel, by its name under these schedules."""
        profile = RunProfile("tune")
        form = Form(self._function, schedules, profile)
        form.seconds(self._arrays, 5)
        found: dict[str, float] = {}
        for step in profile.steps:
            for name in step.kernel.split(", "):
                found[name] = found.get(name, 0.0) + step.seconds
        return found


def _same(a: np.ndarray, b: np.ndarray, exact: bool) -> bool:
    if exact or a.dtype.kind not in "fc":
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    tolerance = 64 * float(np.finfo(numpy_dtype(a.dtype.name)).eps)
    scale = float(np.nanmax(np.abs(b[np.isfinite(b)]), initial=0.0))
    return a.shape == b.shape and np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)

