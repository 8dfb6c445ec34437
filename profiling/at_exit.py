"""The profiles that a process prints when it ends, if its environment asks for them (`ARIGNOTE_PROFILE`, `THEANO_FLAGS`)."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterator

from ..record.forks import ProcessLock
from .headline import duration
from .run import RunProfile

MOST = 5
"""Functions of which a table is printed: those that ran longest."""

_lock = ProcessLock()
_profiles: list[RunProfile] = []
_process = 0


def print_at_exit(profile: RunProfile) -> None:
    """Print the profile of a function on standard error when this process ends, if it was called."""
    global _process
    profile.measure_early()
    with _lock:
        if _process != os.getpid():  # a forked child prints its own functions
            _process = os.getpid()
            _profiles.clear()
            atexit.register(_print)
        _profiles.append(profile)


def _print() -> None:
    if _process == os.getpid():
        with _lock:
            found = sorted((p for p in _profiles if p.calls), key=lambda p: -p.seconds)
        if found:
            print("\n".join(report(found)), file=sys.stderr)


def report(profiles: list[RunProfile]) -> Iterator[str]:
    """The lines for called functions, the one that ran longest first: a total, tables of the first, a line for others."""
    total = sum(p.seconds for p in profiles)
    count = f"{len(profiles):,} function{'s' * (len(profiles) != 1)}"
    yield ""
    yield f"Profile of {count}: {duration(total)} in calls, {duration(sum(p.compile_seconds for p in profiles))} of C compiling"
    for p in profiles[:MOST]:
        yield ""
        yield p.summary()
    if len(profiles) > MOST:
        yield ""
    for p in profiles[MOST:]:
        yield f"{p.name}: {p.calls:,} call{'s' * (p.calls != 1)}, {duration(p.seconds)}"
