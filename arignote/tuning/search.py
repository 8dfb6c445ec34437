"""Search among the schedules of one kernel: a model ranks candidates, the best are measured, and the model learns.

Each round draws candidates near the best schedules and far from them, ranks them, and measures a few: most by rank,
some by chance.  A model that ranks worse than chance, or predicts what is no number, is left out for this kernel; the
search goes on without it.  The default schedule is measured first, so that the result is never a slower one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..cbackend.calls.trials import Trial
from ..cbackend.ir.kernel import Kernel
from ..cbackend.ir.schedule import DEFAULT, Schedule
from .alone import Alone
from .model import CostModel, rank_correlation, row_of
from .space import Space

ROUND = 6
"""Measurements of a round."""
POOL = 32
"""Candidates that are ranked in a round."""
CHANCE = 1
"""Measurements of a round that are drawn and not ranked."""
PATIENCE = 3
"""Rounds without a better schedule after which the search ends."""
BETTER = 0.99
"""Time over the best one below which a schedule counts as better."""
PARENTS = 4
"""Best schedules whose neighbours are candidates."""
_JUDGED = 4
"""Rounds by which a model is judged."""

Watch = Callable[[Schedule, Kernel], "tuple[float, float] | None"]
"""Measures a schedule: seconds of a call, and over those of the default form; None if it is impossible or wrong."""


class Search:
    """The state of one search.  `trials` grows; `notes` names what was skipped."""

    def __init__(
        self, alone: Alone, watch: Watch, model: CostModel | None, known: Sequence[Trial] = (),
        first: Iterable[Schedule] = (), seed: int = 0,
    ) -> None:  # fmt: skip
        """`known`: trials of other kernels that the model learns from.  `first`: schedules to measure before others."""
        self.trials: list[Trial] = []
        self.failed: int = 0
        self.notes: list[str] = []
        self._alone, self._watch, self._model = alone, watch, model
        self._known, self._rng = list(known), random.Random(f"{alone.kernel} {seed}")
        self._space: Space = alone.space()
        self._base = alone.row(alone.own)
        self._met: set[object] = set()
        self._waiting = [*first]
        self._since = 0
        self._ranked: list[tuple[float, float]] = []
        self._is_fitted = False
        self._fit()

    @property
    def best(self) -> Trial:
        """The fastest trial."""
        return min(self.trials, key=lambda trial: trial.ratio)

    @property
    def ended(self) -> bool:
        """Whether nothing better is expected."""
        return self._since >= PATIENCE

    def begin(self) -> None:
        """Measure the default schedule."""
        self._measure(DEFAULT, self._alone.own)

    def round(self, until: Callable[[], bool]) -> None:
        """Measure some schedules; stop between two if `until` says so."""
        if not self.trials:
            self.begin()
        best, chosen = self.best.ratio, self._candidates()
        measured: list[tuple[float, float]] = []
        for schedule, kernel, guess in chosen:
            if len(self.trials) + self.failed > 1 and until():  # one candidate is measured in any case
                return
            trial = self._measure(schedule, kernel)
            if trial is not None and guess is not None:
                measured.append((guess, trial.ratio))
        self._judge(measured)
        self._since = 0 if self.best.ratio < BETTER * best else self._since + 1
        self._since = PATIENCE if not chosen else self._since
        self._fit()

    def _measure(self, schedule: Schedule, kernel: Kernel) -> Trial | None:
        row = row_of(self._alone.row(kernel), self._base)
        found = self._watch(schedule, kernel)
        if found is None or not (math.isfinite(found[0]) and math.isfinite(found[1]) and found[1] > 0):
            self.failed += 1
            return None
        ratio = 1.0 if schedule == DEFAULT else found[1]
        sizes = self._alone.sizes
        trial = Trial(schedule, sizes.extents, sizes.threads, tuple(float(v) for v in row), found[0], ratio)
        self.trials.append(trial)
        self._met.add(_form_of(kernel))
        return trial

    def _candidates(self) -> list[tuple[Schedule, Kernel, float | None]]:
        """Return the schedules to measure, with the model's guess for those that it chose."""
        first = self._new(self._waiting)
        self._waiting = []
        if first:
            return [(s, k, None) for s, k in first]
        parents = [t.schedule for t in sorted(self.trials, key=lambda t: t.ratio)[:PARENTS]]
        near = [self._space.neighbour(self._rng.choice(parents), self._rng) for _ in range(POOL // 2)]
        pool = self._new([*near, *(self._space.sample(self._rng) for _ in range(POOL - len(near)))])
        guesses = self._guesses(pool)
        if guesses is None:
            return [(s, k, None) for s, k in pool[:ROUND]]
        ranked = [(*pool[at], float(guesses[at])) for at in np.argsort(guesses, kind="stable")]
        rest = ranked[ROUND - CHANCE :]
        drawn = self._rng.sample(rest, min(CHANCE, len(rest)))
        return [*ranked[: ROUND - CHANCE], *drawn]

    def _new(self, schedules: Iterable[Schedule]) -> list[tuple[Schedule, Kernel]]:
        """Return the schedules that fit and give a form that was not measured, each form once."""
        found, met = [], set(self._met)
        for schedule in dict.fromkeys(schedules):
            kernel = self._alone.lowered(schedule)
            if kernel is not None and _form_of(kernel) not in met:
                met.add(_form_of(kernel))
                found.append((schedule, kernel))
        return found

    # --- the model
    def _fit(self) -> None:
        """Train the model on the trials of other kernels and of this one."""
        if self._model is None:
            return
        every = [*self._known, *self.trials]
        if every:
            rows = np.array([t.row for t in every])
            self._model.fit(rows, np.log2([t.ratio for t in every]))
            self._is_fitted = True

    def _guesses(self, pool: Sequence[tuple[Schedule, Kernel]]) -> np.ndarray | None:
        """Return the model's guesses; None without a model, or one whose guesses are worth nothing."""
        if self._model is None or not pool or not self._is_fitted:
            return None
        rows = np.array([row_of(self._alone.row(kernel), self._base) for _, kernel in pool])
        guesses = np.asarray(self._model.predict(rows), np.float64)
        if guesses.shape != (len(pool),) or not np.isfinite(guesses).all():
            self._leave_out("the model predicts what is no number")
            return None
        return None if np.ptp(guesses) == 0 else guesses

    def _judge(self, measured: Sequence[tuple[float, float]]) -> None:
        """Leave the model out if it ranks the measurements of several rounds worse than by chance.

        Those of one round are too few, and nearly all of them among the best guesses.  Chance is what orders in no
        relation have: a standard error of 1 / sqrt(n).
        """
        if self._model is None:
            return
        self._ranked = [*self._ranked, *measured][-_JUDGED * ROUND :]
        if len(self._ranked) < 2 * ROUND - 2:
            return
        correlation = rank_correlation(*zip(*self._ranked, strict=True))
        if correlation < -1 / math.sqrt(len(self._ranked)):
            self._leave_out(f"the model ranks worse than chance ({correlation:.2f})")

    def _leave_out(self, why: str) -> None:
        self._model = None
        self.notes.append(f"{why}; the search goes on without it")


def _form_of(kernel: Kernel) -> object:
    """Return what of a kernel its schedule decides: loops and the estimate that decides on threads."""
    return kernel.body, kernel.splits
