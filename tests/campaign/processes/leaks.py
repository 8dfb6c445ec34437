"""Functions that come and go: compiled, loaded, called and dropped, many times over."""

from __future__ import annotations

import gc
import os

import numpy as np

import arignote as ag
from arignote import ops as T

from ..scorecard import Row, Trials
from .memory import resident

KINDS = 10
_MIB = 1 << 20


def cycle(number: int) -> None:
    """One of KINDS functions, from expression to result; their libraries come from the cache after the first round."""
    x, w = T.matrix("x"), ag.shared(np.ones((3, 3)), name="w")
    y = T.exp(x @ w)
    for _ in range(number % KINDS):
        y = T.sqrt(y) + x
    f = ag.function([x], T.sum(y), updates=[(w, w + 1)])
    f(np.ones((3, 3)))


def mapped_libraries() -> int:
    """Ours among the maps of the process: they live in sealed memory."""
    with open("/proc/self/maps") as maps:
        return len({line.split()[4] for line in maps if "memfd" in line or "ag_" in line})


def run(full: bool) -> list[Row]:
    rounds, warm = (10_000, 200) if full else (100, 50)
    trials = Trials("G10", "functions compiled, called and dropped: descriptors, libraries, memory kept")
    for number in range(warm):
        cycle(number)
    gc.collect()
    before = resident(), len(os.listdir("/proc/self/fd")), mapped_libraries()
    for number in range(rounds):
        cycle(number)
    gc.collect()
    grown, descriptors, libraries = (
        now - then
        for now, then in zip((resident(), len(os.listdir("/proc/self/fd")), mapped_libraries()), before, strict=True)
    )
    # 20 MiB in 10,000 cycles is 2 KiB a cycle; the allocator itself rounds to a few MiB in a short run.
    allowed = max(4 * _MIB, rounds * 2048)
    trials.check(grown <= allowed, f"{grown / _MIB:.1f} MiB more after {rounds} cycles", rounds)
    trials.check(descriptors == 0, f"{descriptors} descriptors more")
    trials.check(libraries <= 0, f"{libraries} libraries more are mapped")
    return [trials.row(f"{grown / _MIB:+.1f} MiB, {descriptors:+d} descriptors, {libraries:+d} libraries")]
