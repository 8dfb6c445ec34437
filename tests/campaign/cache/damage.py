"""Damaged entries: every one is found before the loader sees it, and healed at the first use."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

from arignote.cbackend.build.build import build
from arignote.cbackend.build.compilation import library_key
from arignote.cbackend.build.toolchain import Toolchain, search
from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.cache.store import Cache, CacheWarning
from arignote.cbackend.cache.upkeep import entries

from ..sandbox import answer, cache_and_toolchain, ended, forked, returning
from ..scorecard import Row, Trials

KINDS = ("cut", "zero tail", "bit", "page")
_BATCH = 100  # damages a child goes through: one that dies is one failure
_NUMBER = 42


def damaged(whole: bytes, kind: str, chance: random.Random) -> bytes:
    """`whole` with a random damage that changes it."""
    while True:
        at = chance.randrange(len(whole))
        if kind == "cut":
            return whole[:at]
        if kind == "zero tail":
            bad = whole[:at] + bytes(len(whole) - at)
        elif kind == "bit":
            bad = whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :]
        else:
            bad = whole[: at & -4096] + bytes(4096) + whole[(at & -4096) + 4096 :]
        if bad != whole:
            return bad


def heals_library(bad: bytes, path: Path, toolchain: Toolchain, cache: Cache) -> bool:
    """One warning, a new compilation, the right answer, and the entry as good as before."""
    whole = path.read_bytes()
    path.write_bytes(bad)
    with warnings.catch_warnings(record=True) as message:
        warnings.simplefilter("always")
        library = build(returning(_NUMBER), toolchain, cache)
        found = answer(library)
    healed = not library.from_cache and path.read_bytes() == whole
    return found == _NUMBER and healed and [w.category for w in message] == [CacheWarning]


def heals_record(bad: bytes, path: Path, cache: Cache) -> bool:
    """The compiler is probed anew, with the same outcome."""
    path.write_bytes(bad)
    with warnings.catch_warnings(record=True) as message:
        warnings.simplefilter("always")
        found = search(cache).toolchain
    return found is not None and search(cache).toolchain == found and len(message) <= 1


def batch(kind: str, count: int, seed: int, toolchain: Toolchain, cache: Cache) -> bool:
    chance = random.Random(f"{kind}{seed}")
    path = cache.path(Kind.LIBRARY, library_key(returning(_NUMBER), toolchain))
    assert path is not None
    records = [info.path for info in entries(cache) if info.kind is Kind.RECORD]
    for turn in range(count):
        if turn % 10 == 9:  # the records of the toolchain
            record = records[turn // 10 % len(records)]
            passed = heals_record(damaged(record.read_bytes(), kind, chance), record, cache)
        else:
            passed = heals_library(damaged(path.read_bytes(), kind, chance), path, toolchain, cache)
        if not passed:
            raise AssertionError(f"{kind}, damage {turn} of batch {seed}")
    return True


def run(full: bool) -> list[Row]:
    trials = Trials("G11", "damaged entries: found, healed at first use, right answer, nobody dies")
    count, batches = (_BATCH, 13) if full else (20, 1)
    with cache_and_toolchain() as (cache, toolchain):
        build(returning(_NUMBER), toolchain, cache)  # not held: each build loads it again
        for kind in KINDS:
            for seed in range(batches):
                how, _ = ended(forked(lambda k=kind, s=seed: batch(k, count, s, toolchain, cache)), 900.0)
                trials.check(not how, f"{kind}, batch {seed}: {how}", count)
    return [trials.row()]
