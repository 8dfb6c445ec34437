"""Many processes on one cold cache: all get right libraries, and hardly any is compiled twice."""

from __future__ import annotations

import os
import random

from arignote.cbackend.build.build import build
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.cache.upkeep import clear

from ..sandbox import answer, cache_and_toolchain, ended, forked, returning
from ..scorecard import Row, Trials

_PATIENCE = 600.0


def racer(keys: list[int], start: int, compiled: int, toolchain: Toolchain, cache: Cache) -> bool:
    """Builds all keys; writes a byte to `compiled` for each that it had to compile."""
    os.read(start, 1)
    for key in keys:
        library = build(returning(key), toolchain, cache)
        if answer(library) != key:
            return False
        if not library.from_cache:
            os.write(compiled, b"c")
    return True


def a_round(trials: Trials, processes: int, keys: range, toolchain: Toolchain, cache: Cache) -> int:
    """How many compilations `processes` needed for `keys`, each in an order of its own."""
    start, go = os.pipe()
    compilations, compiled = os.pipe()
    children = []
    for number in range(processes):
        order = random.Random(number).sample(keys, len(keys))
        children.append(forked(lambda o=order: racer(o, start, compiled, toolchain, cache)))
    os.write(go, bytes(processes))
    for number, child in enumerate(children):
        how, _ = ended(child, _PATIENCE)
        trials.check(not how, f"process {number} of the round of {keys.start}: {how}", len(keys))
    os.close(compiled)
    count = 0
    while found := os.read(compilations, 65536):
        count += len(found)
    for descriptor in (start, go, compilations):
        os.close(descriptor)
    return count


def run(full: bool) -> list[Row]:
    processes, keys, rounds = (32, 50, 20) if full else (8, 6, 1)
    trials = Trials("G7", f"{processes} processes build {keys} keys at a time in a cold cache: all right")
    compilations = 0
    with cache_and_toolchain() as (cache, toolchain):
        for number in range(rounds):
            compilations += a_round(trials, processes, range(1000 * number, 1000 * number + keys), toolchain, cache)
            clear(cache)
    per_key = compilations / (keys * rounds)
    trials.check(per_key <= 1.2 or not full, f"{per_key:.2f} compilations a key", 0)
    return [trials.row(f"{per_key:.2f} compilations a key")]
