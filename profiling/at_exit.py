"""The profiles that a process prints when it ends, if `ARIGNOTE_PROFILE` or `THEANO_FLAGS` asks for them."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterator
from functools import lru_cache

from ..record.forks import ProcessLock
from ..record.spelling import counted
from .headline import duration
from .not_profiled import NotProfiled
from .run import RunProfile

MOST = 5
"""Functions of which a table is printed: those that ran longest."""


class AtExit:
    """The profiles to print; a forked child prints those of its own functions."""

    def __init__(self) -> None:
        self._lock = ProcessLock()
        self._profiles: list[tuple[int, RunProfile]] = []
        atexit.register(self._print)

    def add(self, profile: RunProfile | NotProfiled) -> None:
        """Print the profile of a function on standard error when this process ends, if it was called."""
        if isinstance(profile, RunProfile):
            profile.measure_early()
            with self._lock:
                self._profiles.append((os.getpid(), profile))

    def _print(self) -> None:
        with self._lock:
            own = [profile for process, profile in self._profiles if process == os.getpid() and profile.calls]
        if own:
            print("\n".join(report(sorted(own, key=lambda p: -p.seconds))), file=sys.stderr)


@lru_cache(maxsize=1)
def at_exit() -> AtExit:
    """Return the profiles that this process prints."""
    return AtExit()


def report(profiles: list[RunProfile]) -> Iterator[str]:
    """The lines for called functions, the slowest first: a total, tables of the first, a line for each other one."""
    total = sum(p.seconds for p in profiles)
    count = counted(len(profiles), "function")
    yield ""
    compiling = duration(sum(p.compile_seconds for p in profiles))
    yield f"Profile of {count}: {duration(total)} in calls, {compiling} of C compiling"
    for p in profiles[:MOST]:
        yield ""
        yield p.summary()
    if len(profiles) > MOST:
        yield ""
    for p in profiles[MOST:]:
        yield f"{p.name}: {counted(p.calls, 'call')}, {duration(p.seconds)}"
