"""Processor time of a thread, read cheaply; waits for the processor or the GIL are counted separately.

    clock = processor_clock()
    start, waited = clock.read(), clock.waited
    ...                     clock.read() - start: seconds of work; clock.waited - waited: seconds of waiting

`time.thread_time` is a system call of 0.5 us, too much for two readings a rule.  A reading therefore asks the wall
clock, and the system only if it has not been asked for `_FRESH` seconds.  A long wait makes the next reading ask at
once, so it is charged to the right interval; short ones are charged to an interval within `_FRESH` seconds.
"""

from __future__ import annotations

import os
import threading
import time
from time import perf_counter

_FRESH = 4e-4
_IS_FINE = time.get_clock_info("thread_time").resolution < 1e-5
"""Whether the system clock is fine enough; that of Windows has steps of 16 ms."""


class ProcessorClock:
    """Clock of one thread.  Readings never decrease, so that the times of nested intervals add up."""

    __slots__ = ("_due", "_last", "_start", "waited")

    def __init__(self) -> None:
        self._last = perf_counter()
        self._start = self._last - time.thread_time()
        self._due = self._last + _FRESH if _IS_FINE else float("inf")
        self.waited: float = 0.0
        """Seconds that the thread did not run since the clock was created."""

    def read(self) -> float:
        """Seconds from an arbitrary start, without waits of the thread."""
        now = perf_counter()
        if now > self._due:
            self._ask(now)
        self._last = now
        return now - self.waited

    def _ask(self, now: float) -> None:
        """Charge the wait to the interval since the last reading."""
        waited = now - self._start - time.thread_time()
        self.waited = max(self.waited, min(waited, self.waited + now - self._last))
        self._due = now + _FRESH


_clocks = threading.local()


def processor_clock() -> ProcessorClock:
    """The clock of the calling thread."""
    try:
        clock: ProcessorClock = _clocks.clock
    except AttributeError:
        clock = _clocks.clock = ProcessorClock()
    return clock


def _in_child() -> None:
    """Reset the clock after a fork: the thread's time starts again."""
    _clocks.clock = ProcessorClock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
