"""Fuzzing: programs over the whole vocabulary, under sixteen queries, engines and targets.

    python -m tests.campaign fuzz --hours 8 --resume fuzz-state.json    go on for a time; causes go to text files
    python -m tests.campaign fuzz --seed 1234         the program of a seed, and what is wrong with it

Children draw and try programs, a group in each function.  A group that ends its child, or takes too long, is tried
again program by program: one that dies alone is a difference as well.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from random_programs import Program, with_own_names
from toy_engine import Toy

import arignote as ag
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.cache.upkeep import trim

from ..children import ROOT, ending, environment
from ..scorecard import Row, Trials
from .fuzz_trials import SETTINGS, Cover, is_compiled, reports, settings_of
from .vocabulary_programs import vocabulary_program

PROGRAMS = 2000
SMALL = 16
MEMORY = 8 << 30
"""Bytes of a process: NumPy refuses lengths that need more, and no other process has to end."""
GROUP = 32
"""Programs that share a function."""
BATCH = 16 * GROUP
"""Programs of a child."""
CACHED = 512 << 20
"""Bytes of compiled code that the children share."""
_TIMEOUT = 3600.0
PATIENCE = 900.0
"""Seconds that a child may be silent."""
DATA = Path(__file__).with_name("fuzz.json")


# --- children


def try_seeds(first: int, count: int, size: int = GROUP) -> None:
    """Print a line of JSON before and after each group: its first seed; then seeds, steps, ops, pairs and reports."""
    if "toy" not in ag.engines.names():
        ag.engines.register(Toy())
    for seed in range(first, first + count, size):
        seeds = range(seed, min(seed + size, first + count))
        print(json.dumps([seed]), flush=True)
        first_of_group = seed - seed % GROUP
        parts, cover = _group(range(first_of_group, seeds.stop))[seed - first_of_group :], Cover()
        texts = []
        for report in reports(parts, first_of_group, settings_of(seed // GROUP), cover):
            texts.append(report)
            print(json.dumps([seed]), flush=True)
        steps = sum(len(part.steps) for part in parts)
        print(json.dumps([seed, len(seeds), steps, sorted(cover.ops), sorted(cover.pairs), texts]), flush=True)


def _group(seeds: range) -> list[Program]:
    """The programs of these seeds, with names of their own."""
    return with_own_names([vocabulary_program(seed) for seed in seeds])


def batch(first: int, count: int, cache: Path, size: int = GROUP) -> Iterator[list[Any]]:
    """The lines of each group of seeds.  One that ends its child is tried again in groups of one program."""
    while count > 0:
        begun, done = first, first
        with tempfile.TemporaryFile("w+") as errors:
            child = _child(first, count, size, cache, errors)
            try:
                for line in _lines(child):
                    begun = line[0]
                    if len(line) > 1:
                        done = begun + line[1]
                        yield line
            finally:  # the reader may have stopped
                child.kill()
                code = child.wait()
            errors.seek(0)
            err = errors.read()
        if done >= first + count:
            return
        if size > 1:
            lines = list(batch(begun, min(size, first + count - begun), cache, 1))
            yield from lines
            if not any(line[5] for line in lines):
                yield [begun, 0, 0, [], [], [_death(begun, code, err)]]
        else:
            yield [begun, 1, 0, [], [], [_death(begun, code, err)]]
        first, count = begun + size, first + count - begun - size


def _child(first: int, count: int, size: int, cache: Path, errors: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"{__package__}.fuzz", *map(str, (first, count, size))]
    settings = environment(ARIGNOTE_CACHE=str(cache), ARIGNOTE_STRICT="1")
    return subprocess.Popen(command, cwd=ROOT, env=settings, text=True, stdout=subprocess.PIPE, stderr=errors)


def _lines(child: subprocess.Popen[str]) -> Iterator[list[Any]]:
    """The lines of a child, which is killed if it is silent for too long."""
    assert child.stdout is not None
    while True:
        watch = threading.Timer(PATIENCE, child.kill)
        watch.start()
        line = child.stdout.readline()
        watch.cancel()
        if not line.endswith("\n"):
            return
        yield json.loads(line)


def _death(seed: int, code: int, err: str) -> dict[str, str]:
    """The report of a child that ended before its work was done."""
    how = ending(code)
    last = re.sub("[^a-zA-Z ]", "", (err.strip().splitlines() or [""])[-1])
    text = f"# python -m tests.campaign fuzz --seed {seed}\n# {how}\n{err[-2000:]}"
    return {"cause": f"{how} {last[:60]}", "text": text, "wrong": how}


# --- all children


@dataclass
class Total:
    """Figures of one run or several: `causes` has a report for each cause, `seconds` is processor time.

    `compiled` counts the programs that ran as C as well.
    """

    first: int
    next: int = 0
    programs: int = 0
    compiled: int = 0
    steps: int = 0
    differences: int = 0
    seconds: float = 0.0
    cover: Cover = field(default_factory=Cover)
    causes: dict[str, str] = field(default_factory=dict)

    def add(self, line: list[Any]) -> dict[str, str]:
        """Count a group; return the reports of new causes."""
        seed, programs, steps, ops, pairs, found = line
        self.programs += programs
        self.compiled += programs * is_compiled(seed // GROUP)
        self.steps += steps
        self.cover.ops.update(ops)
        self.cover.pairs.update(pairs)
        self.differences += len(found)
        new = {r["cause"]: f"# seeds from {seed}\n{r['text']}\n" for r in found if r["cause"] not in self.causes}
        self.causes.update(new)
        return new

    def figures(self) -> dict[str, int]:
        """The figures that are kept."""
        return {
            "first": self.first, "next": self.next, "programs": self.programs, "compiled": self.compiled,
            "steps": self.steps, "settings": len(SETTINGS), "ops": len(self.cover.ops), "pairs": len(self.cover.pairs),
            "differences": self.differences, "causes": len(self.causes), "seconds": round(self.seconds),
        }  # fmt: skip

    def save(self, path: Path) -> None:
        """Write all that the next run adds to."""
        kept = {
            **self.figures(),
            "ops": sorted(self.cover.ops),
            "pairs": sorted(self.cover.pairs),
            "causes": self.causes,
        }
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(kept), encoding="utf-8")
        beside.replace(path)

    @classmethod
    def load(cls, path: Path) -> Total:
        """The total of the runs before, from their file."""
        kept = json.loads(path.read_text(encoding="utf-8"))
        del kept["settings"]
        cover = Cover(set(kept.pop("ops")), set(kept.pop("pairs")))
        return cls(cover=cover, **kept)


def tried(
    total: Total, programs: int, seconds: float, jobs: int, folder: Path | None = None, file: Path | None = None
) -> Total:
    """The total with so many more programs, or those that the time allows.

    A file in the folder has the report of each cause; `file` has the total after each group.
    """
    first, end = total.next, time.monotonic() + seconds
    before, begun = total.seconds, _spent()
    starts = iter(range(first, first + programs, BATCH))
    lines: SimpleQueue[list[Any] | None] = SimpleQueue()
    lock = threading.Lock()

    def work(cache: Path) -> None:
        try:
            while time.monotonic() < end:
                with lock:
                    start = next(starts, None)
                    if start is None:
                        return
                    count = min(BATCH, first + programs - start)
                    total.next = start + count
                for line in batch(start, count, cache):
                    lines.put(line)
                    if time.monotonic() >= end:
                        return
                with lock:
                    trim(Cache.open(cache), CACHED)
        finally:
            lines.put(None)

    with tempfile.TemporaryDirectory() as home, ThreadPoolExecutor(jobs) as pool:
        tasks = [pool.submit(work, Path(home, "cache")) for _ in range(jobs)]
        for _ in range(jobs):
            while (line := lines.get()) is not None:
                _write(total.add(line), folder)
                total.seconds = before + _spent() - begun
                if file is not None:
                    total.save(file)
                print(json.dumps(total.figures()), file=sys.stderr, flush=True)
        for task in tasks:
            task.result()
    total.seconds = before + _spent() - begun
    if file is not None:
        total.save(file)
    return total


def _spent() -> float:
    """Seconds of processor time of the children that have ended, with theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _write(texts: dict[str, str], folder: Path | None) -> None:
    """Write a file for each cause."""
    for cause, text in texts.items() if folder is not None else ():
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"\W+", "-", cause).strip("-").lower()[:80]
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def rows_of(total: Total) -> list[Row]:
    """The line of the scorecard."""
    trials = Trials("G45", f"programs over the whole vocabulary, under {len(SETTINGS)} queries, engines and targets")
    trials.check(True, "", total.programs - total.differences)
    for cause in total.causes:
        trials.check(False, cause)
    cover = total.cover
    ran = f"{total.compiled:,} in C, {total.steps:,} operations"
    return [trials.row(f"{ran}, {len(cover.ops)} ops, {len(cover.pairs):,} pairs")]


def run(full: bool) -> list[Row]:
    """At full size other programs than the small ones, too."""
    return rows_of(tried(Total(0), PROGRAMS if full else SMALL, _TIMEOUT, (os.cpu_count() or 1) if full else 1))


def run_for(hours: float, first: int | None, jobs: int, folder: Path, file: Path | None, save: bool) -> list[Row]:
    """Programs until the time is over, from those on that were not tried; the figures are kept if `save`."""
    total = Total.load(file) if file is not None and file.exists() else Total(0)
    total.next = -(-(total.next if first is None else first) // BATCH) * BATCH  # batches begin at their multiples
    total.first = total.first if total.programs else total.next
    tried(total, 10**9, hours * 3600, jobs, folder, file)
    if save:
        DATA.write_text(json.dumps(total.figures(), indent=1) + "\n", encoding="utf-8")
    return rows_of(total)


def explain(seed: int) -> int:
    """Print what is wrong with the program of a seed, or the program if nothing is; return how much is wrong."""
    _limit()
    ag.engines.register(Toy())
    first = seed - seed % GROUP
    part = _group(range(first, first + GROUP))[seed - first]
    texts = [report["text"] for report in reports([part], first, SETTINGS, Cover())]
    print("\n".join(texts or [part.code()]))
    return len(texts)


def _limit() -> None:
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    _limit()
    try_seeds(*map(int, sys.argv[1:]))
