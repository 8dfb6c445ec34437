"""The clock of run profiles: ticks of the processor if the system's clock uses them, else nanoseconds.

A reading of ticks takes a third of the time that one of nanoseconds does, and a profiled call reads the clock once a
node.  How long a tick is shows when a profile is read: by then the process is old enough to tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...record.cached import cached_property
from ..abi._abi import ffi

SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
"""The clock source of Linux: "tsc" if the ticks of all processors agree and are constant."""
BASELINE_NS = 20_000_000
"""Least time between the two readings that calibrate a tick; each reading is accurate to 100 ns."""


class Clock:
    """`now()` is an int, monotonic; `pointer` is the same for C."""

    def __init__(self, lib: Any, table: Any) -> None:
        self._lib = lib
        self._ticking = _tells_time_by_ticks()
        self.pointer: Any = ffi.addressof(lib, "ag_ticks") if self._ticking else table.clock
        self.now: Callable[[], int] = lib.ag_ticks if self._ticking else table.clock
        self._first = self._both()

    def _both(self) -> tuple[int, int]:
        """Nanoseconds and ticks at one moment."""
        found = ffi.new("i64[2]")
        self._lib.ag_clocks(found)
        return found[0], found[1]

    @cached_property
    def seconds(self) -> float:
        """Return the seconds per unit of `now()`."""
        if not self._ticking:
            return 1e-9
        first, first_tick = self._first
        last, last_tick = self._both()
        if last - first < BASELINE_NS:
            time.sleep(1e-9 * (BASELINE_NS - (last - first)))
            last, last_tick = self._both()
        return 1e-9 * (last - first) / (last_tick - first_tick)


def _tells_time_by_ticks() -> bool:
    try:
        return SOURCE.read_text().strip() == "tsc"
    except OSError:
        return False
