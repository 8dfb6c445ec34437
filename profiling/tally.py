"""Counts and costs of each rule in this process, over all optimized graphs; summed on demand."""

from __future__ import annotations

from ..record.forks import ProcessLock
from .optimizer import OptimizerProfile, RuleProfile

MOST_WAITING = 32
"""Profiles that wait to be summed."""


class Tally:
    """Sums by name of rule or optimizer: times tried, times applied, seconds, nodes made."""

    def __init__(self) -> None:
        self._lock = ProcessLock()
        self._waiting: list[OptimizerProfile] = []
        self._totals: dict[str, list[float]] = {}

    def note(self, profile: OptimizerProfile) -> None:
        """Count an optimization."""
        with self._lock:
            self._waiting.append(profile)
            if len(self._waiting) >= MOST_WAITING:
                self._sum()

    def totals(self) -> dict[str, RuleProfile]:
        """The sums so far."""
        with self._lock:
            self._sum()
            return {name: RuleProfile(name, int(a), int(b), c, int(d)) for name, (a, b, c, d) in self._totals.items()}

    def _sum(self) -> None:
        for profile in self._waiting:
            for part in profile.walk():
                for row in part.table or (() if part.children else (part.own_row(),)):
                    if row.tried:
                        sums = self._totals.setdefault(row.name, [0, 0, 0.0, 0])
                        sums[0] += row.tried
                        sums[1] += row.fired
                        sums[2] += row.time
                        sums[3] += row.nodes_created
        self._waiting.clear()


TALLY = Tally()
"""That of this process."""
