"""The measurements of `ag.tune`: schedules that are faster on this processor.

The kernels that take the most time come first.  Each is run alone, on the values that it gets in a call, and a search
measures the schedules that a learned cost model ranks best (search.py).  The winner of a kernel has to win again in a
longer comparison, and all winners together in the whole function, so that noise is not taken for speed.

A kernel inside a loop is not run alone: one choice after the other is tried in the whole function.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import pages
from ..cbackend import CompileError
from ..cbackend.calls.measured import Measured
from ..cbackend.calls.trials import Group, Trial, Trials
from ..cbackend.ir.kernel import Kernel
from ..cbackend.ir.schedule import DEFAULT, Schedule, ScheduleError
from ..engines.compiler import find_toolchain, process_cache
from ..engines.registry import title
from ..explain.assumptions import for_lengths_of
from ..function.compiled import Function
from ..function.function import recompiled
from ..profiling import RunProfile
from ..record import record
from ..record.spelling import counted
from .alone import Alone, Stopwatch, kernels_alone
from .forms import FEWEST_ROUNDS, GAIN, Form, all_same, form_of, in_turns, speed_up
from .model import CostModel, Network
from .records import FEATURES, target_name
from .schedules import schedules_of
from .search import Search
from .space import reduced_loops
from .table import LiveTable, Row

SHARE = 0.03
"""Least share of a function's time for which a kernel is tuned."""
MOST_ROUNDS = 40
"""Rounds of a search for one kernel."""
_ROUNDS, _FINAL_ROUNDS = 7, 21
_HINTS = 3
"""Schedules of other processors or lengths that are measured first."""


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
    notes: tuple[str, ...]

    def __init__(
        self, function: Function, found: Sequence[Tuned], before: float, after: float, kept: bool,
        notes: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.function, self.found, self.before, self.after, self.kept = function, tuple(found), before, after, kept
        """`before` and `after` are seconds a call; `kept`: whether the cache took the winners."""
        self.notes = tuple(dict.fromkeys(notes))
        """Notes on all that was skipped, with reasons."""

    @property
    def gain(self) -> float:
        """The speed-up of the function."""
        return self.before / self.after if self.after else 1.0

    def _rows(self) -> list[tuple[str, str]]:
        return [
            (t.kernel, f"{t.schedule}, {t.gain:.2f} times as fast; {t.tried} tried: {t.computes}") for t in self.found
        ]

    def __str__(self) -> str:
        name = self.function.name
        times = f"{self.before * 1e6:.1f} us before, {self.after * 1e6:.1f} us after"
        total = f"{name}: {times}, {self.gain:.2f} times as fast"
        rows = [f"  {kernel}  {what}" for kernel, what in self._rows()]
        return "\n".join([total, *rows, *(f"  note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return pages.notebook.facts(str(self).splitlines()[0], self._rows())


def tuned(function: Function, inputs: Sequence[Any], seconds: float, keep: bool) -> Tuning:
    """See `tune`."""
    function = for_lengths_of(function, function.arrays(list(inputs)))
    if function.backend != "c" or find_toolchain() is None:
        raise ValueError(
            f"{function.name} is run by {title(function.backend)}: there is no C whose schedule could be changed"
        )
    if seconds == 0:
        return Tuning(function, (), 0.0, 0.0, False, ["the budget is zero: nothing was measured"])
    return _Tuner(function, inputs, seconds).result(keep)


class _Tuner:
    """One tuning in the making."""

    def __init__(self, function: Function, inputs: Sequence[Any], seconds: float) -> None:
        toolchain = find_toolchain()
        assert toolchain is not None
        self.function, self.end = function, time.perf_counter() + seconds
        self.notes: list[str] = []
        self._trials = Trials(toolchain, process_cache())
        self._measured = Measured(toolchain, process_cache())
        self._kernels = function.program.kernels if function.program is not None else ()
        self._chosen = dict(schedules_of(self._kernels))
        self._first = dict(self._chosen)
        self._race = _Race(function, inputs, self.end)
        self._arrays = function.arrays(list(inputs))
        self._groups = self._known_groups()
        self._model: CostModel = Network()
        self._interrupted = False
        self._rows: dict[str, Row] = {}
        self._table = LiveTable(f"arignote: tuning {function.name}, {seconds:g} s")

    def result(self, keep: bool) -> Tuning:
        """Measure until the time is over or a person presses Ctrl-C, and return what was found."""
        found: list[Tuned] = []
        try:
            for kernel, alone, end in self._worth():
                found.append(self._alone(alone, end) if alone is not None else self._inside(kernel, end))
                self._chosen[found[-1].kernel] = found[-1].schedule
                if self._interrupted:
                    break
        except KeyboardInterrupt:  # between two kernels, or in one inside a loop
            self._interrupted = True
        self.notes += ["interrupted: the best so far is kept"] * self._interrupted
        return self._accepted(found, keep)

    def _worth(self) -> Iterator[tuple[Kernel, Alone | None, float]]:
        """Yield the kernels worth tuning, the most costly first, each alone if it can be, with the end of its time."""
        worth = list(_by_time(self._race.kernel_seconds(self._chosen), self._kernels))
        alone = {a.kernel: a for a in kernels_alone(self.function, self._arrays, [kernel for kernel, _ in worth])}
        for kernel, share in worth:
            now = time.perf_counter()
            if now > self.end:
                self.notes.append("the time ended before all kernels were tried")
                return
            yield kernel, alone.get(kernel.default or kernel.name), now + share * (self.end - now)

    # --- a kernel alone
    def _alone(self, alone: Alone, end: float) -> Tuned:
        """Return the best schedule of a kernel that is run alone."""
        try:
            watch = Stopwatch(self.function, alone)
        except (CompileError, ScheduleError) as error:
            self.notes.append(f"{alone.kernel} was left out, as it does not compile alone: {error}")
            return Tuned(alone.kernel, alone.own.title, self._first[alone.kernel], 1.0, 0)
        search = Search(alone, watch, self._model, self._known_trials(), self._hints(alone), 0)
        try:
            for _ in range(MOST_ROUNDS):
                search.round(lambda: time.perf_counter() > end)
                self._show(alone, search)
                if search.ended or time.perf_counter() > end:
                    break
        except KeyboardInterrupt:
            self._interrupted = True
        self.notes += search.notes
        found = self._confirmed(alone, watch, search)
        self._note_group(alone, search.trials, found)
        return found

    def _confirmed(self, alone: Alone, watch: Stopwatch, search: Search) -> Tuned:
        """Return the fastest trial if it beats the schedule so far beyond doubt, else the schedule so far."""
        now, tried = self._first[alone.kernel], max(len(search.trials) - 1, 0) + search.failed
        if search.trials and search.best.schedule != now:
            gain = watch.gain(now, search.best.schedule)
            if gain > GAIN:
                return Tuned(alone.kernel, alone.own.title, search.best.schedule, gain, tried)
        return Tuned(alone.kernel, alone.own.title, now, 1.0, tried)

    def _show(self, alone: Alone, search: Search) -> None:
        best, default = search.best, search.trials[0]
        seconds = default.seconds, default.seconds * best.ratio
        self._rows[alone.kernel] = Row(
            alone.kernel, alone.own.title, *seconds, len(search.trials) - 1, str(best.schedule)
        )
        self._table.show(list(self._rows.values()))

    # --- records
    def _known_groups(self) -> list[Group]:
        """Return the groups of trials for this target; others are named and skipped."""
        found, other = [], 0
        for group in self._trials.every():
            fits = (group.target, group.features) == (target_name(), FEATURES)
            found += [group] if fits else []
            other += not fits
        if other:
            self.notes.append(f"skipped the records of {counted(other, 'kernel')}: of another target or version")
        return found

    def _known_trials(self) -> list[Trial]:
        return [trial for group in self._groups for trial in group.trials]

    def _hints(self, alone: Alone) -> list[Schedule]:
        """Return the schedules to measure first: the one in use, the best of records, then single choices."""
        dtypes, found = _dtypes(alone.own), [self._first[alone.kernel]]
        for group in self._groups:
            if group.kernel != alone.kernel:
                continue
            if group.dtypes != dtypes:
                self.notes.append(f"skipped records of {alone.kernel}: of {group.dtypes}, the kernel has {dtypes}")
                continue
            found += [group.schedule] if group.schedule is not None else []
            found += [t.schedule for t in sorted(group.trials, key=lambda t: t.ratio)[:_HINTS]]
        fitting = [s for s in dict.fromkeys(found) if alone.lowered(s) is not None]
        if len(fitting) < len(dict.fromkeys(found)):
            self.notes.append(f"skipped schedules of {alone.kernel} that no longer fit it")
        known = [] if self._groups else [alone.own.schedule.changed(**c) for c in alternatives(alone.own)][:_ROUNDS]
        return [s for s in (*fitting, *known) if s != DEFAULT]

    def _note_group(self, alone: Alone, trials: Sequence[Trial], found: Tuned) -> None:
        """Add the trials to the records, in this process and in the cache."""
        if not trials:
            return
        winner = found.schedule if found.gain > 1.0 else None
        group = Group(
            alone.kernel, alone.own.title, _dtypes(alone.own), target_name(), self._trials.machine,
            self._trials.compiler, FEATURES, tuple(trials), winner, found.gain,
        )  # fmt: skip
        self._groups.append(group)
        self._trials.add(group)

    # --- a kernel inside a loop
    def _inside(self, kernel: Kernel, end: float) -> Tuned:
        """Return the best schedule of a kernel, tried in the whole function."""
        race, name = self._race, kernel.default or kernel.name
        first = best = self._chosen[name]
        tried = {first}
        for choices in alternatives(kernel, race.strided):
            if time.perf_counter() > end:
                break
            candidate = best.changed(**choices)
            if candidate in tried:
                continue
            tried.add(candidate)
            forms = {**self._chosen, name: best}, {**self._chosen, name: candidate}
            if race.equal(*forms, exact=candidate.exact_as(best)) and race.gain(*forms, _ROUNDS) > GAIN:
                best = candidate
        forms = {**self._chosen, name: first}, {**self._chosen, name: best}
        gain = 1.0 if best == first else race.gain(*forms, _FINAL_ROUNDS)
        if gain > GAIN:
            return Tuned(name, kernel.title, best, gain, len(tried) - 1)
        return Tuned(name, kernel.title, first, 1.0, len(tried) - 1)

    # --- the function
    def _accepted(self, found: Sequence[Tuned], keep: bool) -> Tuning:
        """Return the winners if the whole function is as correct and faster with them, else the function as it was."""
        winners = [t for t in found if t.gain > 1.0 and self._fits(t)]
        self._chosen = {**self._first, **{t.kernel: t.schedule for t in winners}}
        before, after = self._race.seconds(self._first, self._chosen)
        if not winners or after > before:
            unchanged = [_without_gain(t, self._first) for t in found]
            return Tuning(self.function, unchanged, before, before, False, self.notes)
        kept = [self._measured.keep(t.kernel, t.schedule, t.gain) for t in winners if keep]
        made = recompiled(self.function, self._chosen)
        found = [t if t in winners else _without_gain(t, self._first) for t in found]
        return Tuning(made, found, before, after, bool(kept) and all(kept), self.notes)

    def _fits(self, tuned: Tuned) -> bool:
        """Whether the whole function has the same results with a winner: in it, arrays may share memory."""
        forms = self._first, {**self._first, tuned.kernel: tuned.schedule}
        if self._race.equal(*forms, exact=tuned.schedule.exact_as(self._first[tuned.kernel])):
            return True
        self.notes.append(f"the winner of {tuned.kernel} was dropped: it does not fit into the whole function")
        return False


def _dtypes(kernel: Kernel) -> tuple[str, ...]:
    return tuple(operand.dtype for operand in kernel.operands)


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


def alternatives(kernel: Kernel, strided: bool = False) -> Iterator[dict[str, Any]]:
    """Yield choices that may be faster for a kernel, the most promising first.  Some may not fit it.

    `strided`: it may read what is not C-contiguous, so that another order of loops is the first thought.
    """
    rank = kernel.rank
    reduced = reduced_loops(kernel)
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
            self._forms[key] = form_of(self._function, schedules)
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
        return all_same(*results, exact)

    def gain(self, one: Mapping[str, Schedule], other: Mapping[str, Schedule], rounds: int) -> float:
        """The speed-up of the other form over `one`; 1.0 if it is not significant."""
        times = []
        for k, pair in enumerate(self._times(one, other, rounds), start=1):
            times.append(pair)
            if k >= FEWEST_ROUNDS and not any(b < a for a, b in times):
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
        rounds = rounds if time.perf_counter() < self.end else min(rounds, FEWEST_ROUNDS)
        yield from in_turns(self._form(one), self._form(other), self._arrays, rounds)

    def kernel_seconds(self, schedules: Mapping[str, Schedule]) -> dict[str, float]:
        """Return seconds of each kernel, by its name under these schedules."""
        profile = RunProfile("tune")
        form = form_of(self._function, schedules, profile)
        form.seconds(self._arrays, 5)
        found: dict[str, float] = {}
        for step in profile.steps:
            for name in step.kernel.split(", "):
                found[name] = found.get(name, 0.0) + step.seconds
        return found
