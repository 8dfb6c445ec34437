"""The C compiler of this process: its search, which starts early and runs once, and the cache of its output."""

from __future__ import annotations

import shlex
from functools import lru_cache

from ..cbackend import PREBUILT, Attempt, Cache, HeadStart, Toolchain, core_source
from ..notices import notice
from ..options import process_options
from ..record.forks import fork_safe_lock


@lru_cache(maxsize=1)
def process_cache() -> Cache:
    """Return the cache of compiled code of this process."""
    options = process_options()
    return Cache.open(options.cache, key_file=options.cache_key, prebuilt=PREBUILT if options.prebuilt else None)


@lru_cache(maxsize=1)
def head_start() -> HeadStart:
    """Return the search for the compiler, which is started but not awaited."""
    start = HeadStart(process_cache(), process_options().cc, core_source)
    _tell_of(start.refused_cc, start.known)
    return start


def _tell_of(refused: Attempt | None, toolchain: Toolchain | None) -> None:
    """Warn of a compiler in the variable CC that does not work."""
    if refused is not None:
        problem = str(refused.problem).splitlines()[0]
        instead = f" {shlex.join(toolchain.command)} compiles instead." if toolchain else ""
        notice(f"CC names {shlex.join(refused.command)}: {problem}.{instead} Unset CC, or correct it.")


_finding = fork_safe_lock()


@lru_cache(maxsize=1)
def find_toolchain() -> Toolchain | None:
    """Return the compiler of this process, or None, with one notice, if none works."""
    with _finding:
        known, result = head_start().known, head_start().search()
    found = result.toolchain
    if known is None:
        _tell_of(result.refused_cc, found)
    if found is None:
        named = f" (ARIGNOTE_CC names {process_options().cc})" if process_options().cc else ""
        notice(
            f"no working C compiler{named}; functions are run by NumPy, with the same results. "
            "`python -m arignote doctor` says what was tried and what helps."
        )
    return found
