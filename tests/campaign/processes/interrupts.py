"""Ctrl-C at random moments of a compilation: KeyboardInterrupt soon, nothing left behind, the next call works."""

from __future__ import annotations

import os
import random
import signal
import time

from arignote.cbackend.build.build import build
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.folder import WORK
from arignote.cbackend.cache.store import Cache

from ..sandbox import answer, cache_and_toolchain, descendants, ended, forked, returning, right
from ..scorecard import Row, Trials

_BAR_SECONDS = 0.2
_BARRED = 0.99  # the share of interrupts that must meet the bar
_PATIENCE = 30.0
_DONE, _STOPPED = b"d", b"s"


def interrupted(number: int, ready: int, toolchain: Toolchain, cache: Cache) -> bool:
    """Builds until Ctrl-C; says how that ended, then whether all is as before."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    message = _DONE
    try:
        os.write(ready, b"r")
        built = build(returning(number), toolchain, cache)
        assert answer(built) == number
    except KeyboardInterrupt:
        message = _STOPPED
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.write(ready, message)
    if descendants(os.getpid()):
        return False
    return number % 5 != 0 or right(number, toolchain, cache)


def press(number: int, seconds: float, toolchain: Toolchain, cache: Cache) -> tuple[str, bytes, float]:
    """How a builder that was interrupted after `seconds` ended, what it said, and the seconds until it did."""
    heard, ready = os.pipe()
    child = forked(lambda: interrupted(number, ready, toolchain, cache))
    os.close(ready)
    os.read(heard, 1)
    time.sleep(seconds)
    begun = time.monotonic()
    os.kill(child, signal.SIGINT)
    message = os.read(heard, 1)
    latency = time.monotonic() - begun
    os.close(heard)
    return ended(child, _PATIENCE)[0], message, latency


def run(full: bool) -> list[Row]:
    trials = Trials("G19", "Ctrl-C while compiling: KeyboardInterrupt, no compiler and no folder left")
    chance, latencies = random.Random(13), []
    with cache_and_toolchain() as (cache, toolchain):
        assert cache.folder.root is not None
        begun = time.monotonic()
        right(1, toolchain, cache)
        usual = time.monotonic() - begun
        for number in range(1000, 1000 + (500 if full else 20)):
            how, message, latency = press(number, chance.uniform(0, usual), toolchain, cache)
            trials.check(not how and bool(message), f"interrupt {number}: {how or 'said nothing'}")
            latencies += [latency] if message == _STOPPED else []
        left = [path.name for path in (cache.folder.root / WORK).iterdir()]
        trials.check(not left, f"{len(left)} things left in the working folder: {left[:3]}", 0)
    trials.check(bool(latencies), "none came in time to stop a compiler", 0)
    latencies.sort()
    at_bar = latencies[int(_BARRED * (len(latencies) - 1))] if latencies else 0.0
    if full:
        trials.check(at_bar <= _BAR_SECONDS, f"{at_bar * 1e3:.0f} ms for {_BARRED:.0%} of them", 0)
    return [trials.row(f"{len(latencies)} stopped it, {_BARRED:.0%} of them within {at_bar * 1e3:.0f} ms")]
