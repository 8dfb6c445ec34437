"""Copies between engines: calls, bytes and time of one region, counted where the region runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..record.forks import ProcessLock


class Copies:
    """Counters of one region; calls from several threads are added up."""

    def __init__(self) -> None:
        self._counters = np.zeros(3)
        self._lock = ProcessLock()

    def add(self, count: int, seconds: float) -> None:
        """Count a call that moved so many bytes across the border of the region."""
        with self._lock:
            self._counters += 1, count, seconds

    @property
    def bytes(self) -> int:
        """Bytes of arguments and results."""
        return int(self._counters[1])

    @property
    def seconds(self) -> float:
        """Time of the copies, without the region's own work."""
        return float(self._counters[2])

    def snapshot(self) -> Copies:
        """A copy that later calls do not change."""
        made = Copies()
        with self._lock:
            made._counters = self._counters.copy()
        return made

    def __reduce__(self) -> Any:
        return _counted, (self._counters.tolist(),)

    def reset(self) -> None:
        """Forget all calls."""
        with self._lock:
            self._counters[:] = 0


def _counted(counters: list[float]) -> Copies:
    made = Copies()
    made._counters[:] = counters
    return made
