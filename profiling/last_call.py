"""The last call of a profiled function: when each node ran, the work of each thread, and the bytes of each buffer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..record import record

Moment = tuple[float, float]
"""Begin and end, in seconds from the begin of the call."""


@record
class LastCall:
    """One call."""

    seconds: float
    nodes: tuple[Moment | None, ...]
    """For each node when it ran last in the call; None if it did not."""
    sizes: tuple[int, ...]
    """Bytes of each buffer of the program."""
    work: tuple[tuple[int, float, float], ...]
    """Thread, begin and end of each share of parallel work during the call; 0 is the thread of a caller."""

    def to_dict(self) -> dict[str, Any]:
        """The call as plain data."""
        return {
            "seconds": self.seconds, "nodes": [list(m) if m else None for m in self.nodes], "sizes": list(self.sizes),
            "work": [list(share) for share in self.work],
        }  # fmt: skip


class CallReader:
    """Reads the last call out of counters: `at` is where its moments begin, `buffers` how many sizes follow them.

    `team` holds thread, begin and end of shares of work of all calls, in a row.
    """

    def __init__(self, at: int, buffers: int, team: np.ndarray) -> None:
        self._at, self._buffers, self._team = at, buffers, team.reshape(-1, 3)

    def snapshot(self) -> CallReader:
        """A copy that later calls do not change."""
        return CallReader(self._at, self._buffers, self._team.copy())

    def __call__(self, counters: Sequence[np.ndarray], tick: Callable[[], float]) -> LastCall | None:
        """The newest call of these sets of counters; None before the first call."""
        tails = [each[self._at :].copy() for each in counters]
        moments = [tail[: len(tail) - self._buffers].reshape(-1, 2) for tail in tails]
        ended = [(rows[-1, 1], n) for n, rows in enumerate(moments) if rows[-1, 1]]
        if not ended:
            return None
        chosen, unit = max(ended)[1], tick()
        rows, sizes = moments[chosen], tails[chosen][len(tails[chosen]) - self._buffers :]
        begun, end = rows[-1].tolist()
        nodes = [
            ((first - begun) * unit, (last - begun) * unit) if begun <= first <= last <= end else None
            for first, last in rows[:-1].tolist()
        ]
        return LastCall((end - begun) * unit, tuple(nodes), tuple(sizes.tolist()), self._shares(begun, end, unit))

    def _shares(self, begun: int, end: int, unit: float) -> tuple[tuple[int, float, float], ...]:
        team = self._team.copy()
        during = team[(team[:, 1] >= begun) & (team[:, 2] <= end) & (team[:, 2] > 0)].tolist()
        return tuple(sorted((thread, (first - begun) * unit, (last - begun) * unit) for thread, first, last in during))
