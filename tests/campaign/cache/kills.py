"""kill -9 at random moments of compiling and storing: no process, no result and no key is worse for it."""

from __future__ import annotations

import os
import random
import signal
import time

from arignote.cbackend.build.compilation import library_key
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.cache.folder import BAD, WORK
from arignote.cbackend.cache.store import Cache

from ..sandbox import cache_and_toolchain, descendants, ended, forked, returning, right
from ..scorecard import Row, Trials

_PATIENCE = 60.0
_REBUILT = 10  # each so many keys are compiled again: the others are looked at


def usual_seconds(toolchain: Toolchain, cache: Cache) -> float:
    """How long a build takes at the moment."""
    begun = time.monotonic()
    for number in range(3):
        assert ended(forked(lambda n=number: right(n, toolchain, cache)), _PATIENCE)[0] == ""
    return (time.monotonic() - begun) / 3


def kill_one(number: int, seconds: float, toolchain: Toolchain, cache: Cache) -> bool:
    """Whether a builder of `number` was still at work when it was killed after `seconds`; of two, one dies alone and
    one with its compiler, as when the machine runs out of memory.
    """
    child = forked(lambda: right(number, toolchain, cache))
    time.sleep(seconds)
    for process in (*(descendants(child) if number % 2 else ()), child):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def look_at(trials: Trials, number: int, toolchain: Toolchain, cache: Cache) -> None:
    """The key is missing or whole, and where it is tried it builds or loads, and answers."""
    path = cache.path(Kind.LIBRARY, library_key(returning(number), toolchain))
    present = path is not None and path.exists()
    whole = cache.load(Kind.LIBRARY, library_key(returning(number), toolchain)) is not None
    trials.check(present == whole, f"kill {number}: what was published is damaged")
    if number % _REBUILT == 0:
        how, _ = ended(forked(lambda: right(number, toolchain, cache)), _PATIENCE)
        trials.check(not how, f"kill {number}: the next build: {how or 'wrong answer'}", 0)


def run(full: bool) -> list[Row]:
    trials = Trials("G6", "kill -9 while compiling and storing: no bad entry, next build right")
    chance = random.Random(11)
    with cache_and_toolchain() as (cache, toolchain):
        usual, killed = usual_seconds(toolchain, cache), 0
        for number in range(1000, 1000 + (3000 if full else 60)):
            killed += kill_one(number, chance.uniform(0, 1.2 * usual), toolchain, cache)
            look_at(trials, number, toolchain, cache)
        assert cache.folder.root is not None
        trials.check(not list((cache.folder.root / BAD).iterdir()), "entries were moved aside", 0)
        time.sleep(2 * usual)  # compilers that lost their parent end
        for _ in range(300):  # a sweep is bounded; each start of work does one
            cache.work_parents()
        left = [path.name for path in (cache.folder.root / WORK).iterdir() if path.is_dir()]
        trials.check(not left, f"{len(left)} folders of the dead were not swept", 0)
    trials.check(killed > 0, "none was killed at work", 0)
    return [trials.row(f"{killed} killed at work")]
