"""Random programs: what is compiled gives what NumPy makes of the unoptimized graph, bit for bit the same each time.

    python -m tests.campaign.values.programs 1234    the program of a seed as code, reduced if it fails

Programs are made and tried in children, each of a batch: one that dies is one failure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from program_trials import shrunk, trouble
from random_programs import Program, random_program

from ..children import ROOT, ending, environment
from ..scorecard import Row, Trials

PROGRAMS = 3000
SMALL = 24
BATCH = 12
_TIMEOUT = 900.0


def wrong(program: Program, seed: int) -> str | None:
    """Fault of a program, an exception included."""
    try:
        return trouble(program, seed)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def try_seeds(first: int, count: int) -> None:
    """Print a line of JSON before and after each program: its seed, what is wrong, how many steps it has."""
    for seed in range(first, first + count):
        print(json.dumps([seed]), flush=True)
        program = random_program(seed)
        print(json.dumps([seed, wrong(program, seed), len(program.steps)]), flush=True)


def batch(first: int, count: int, cache: str) -> Iterator[tuple[int, str | None, int]]:
    """(seed, what is wrong, steps) of each program; one that ends its process is followed by a new one."""
    while count > 0:
        command = [sys.executable, "-m", f"{__package__}.programs", str(first), str(count)]
        done = subprocess.run(
            command, cwd=ROOT, env=environment(ARIGNOTE_CACHE=cache, ARIGNOTE_STRICT="1"), capture_output=True,
            text=True, timeout=_TIMEOUT, check=False,
        )  # fmt: skip
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        yield from ((seed, wrong_, steps) for seed, wrong_, steps in (line for line in lines if len(line) == 3))
        if done.returncode == 0:
            return
        seed = lines[-1][0] if lines else first
        yield seed, f"{ending(done.returncode)}: {done.stderr[-300:]}", 0
        first, count = seed + 1, first + count - seed - 1


def run(full: bool) -> list[Row]:
    """At full size other programs than the small ones, too."""
    trials = Trials("G33", "random programs, on three sets of lengths: as NumPy, the same bits each time")
    steps = 0
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(os.cpu_count() if full else 1) as pool:
        firsts = range(0, PROGRAMS if full else SMALL, BATCH)
        for found in chain.from_iterable(pool.map(lambda first: list(batch(first, BATCH, cache)), firsts)):
            seed, wrong_, count = found
            steps += count
            trials.check(not wrong_, f"python -m tests.campaign.values.programs {seed}: {wrong_}")
    return [trials.row(f"{steps:,} operations")]


def explain(seed: int) -> None:
    """Print what is wrong with the program of a seed, and a small one with which the same is wrong."""
    program = random_program(seed)
    wrong_ = wrong(program, seed)
    print("#", wrong_)
    kind = (wrong_ or "").split()[0] if wrong_ else ""
    print(shrunk(program, lambda p: (wrong(p, seed) or " ").split(" ")[0] == kind).code() if wrong_ else program.code())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) > 2:
        try_seeds(*map(int, sys.argv[1:]))
    else:
        explain(int(sys.argv[1]))
