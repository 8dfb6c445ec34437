"""Compares this checkout with another one, for example one of an older commit: cold, warm and steady times.

    git worktree add ../before COMMIT
    (cd ../before && python -m venv .venv && .venv/bin/pip install -e .)
    python -m benchmarks.versions ../before
    python -m benchmarks.versions ../before --cases softmax MLP --rounds 9

Cold, warm and steady are those of `python -m benchmarks`.  The two checkouts take turns in each round, and the least
time of each counts.  `ratio` is the time of this checkout over that of the other.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from .__main__ import OURS, Process, calls_a_round, seconds_text
from .cases import CASES

KINDS = ("cold", "warm", "steady")
Times = dict[str, float]


def starts(case: str, checkout: Path, python: str) -> tuple[Times, Process]:
    """Seconds of a cold and a warm start, and the process of the latter."""
    found: Times = {}
    with tempfile.TemporaryDirectory() as cache:
        for kind in ("cold", "warm"):
            process = Process(OURS, cache, checkout=checkout, python=python)
            answer = process.ask(f"build {case}")
            if answer.get("error"):
                raise SystemExit(f"{checkout}: {case}: {answer['error']}")
            found[kind] = answer["compile"]
            if kind == "cold":
                process.close()
    return found, process


def compared(case: str, checkouts: dict[Path, str], rounds: int) -> list[Times]:
    """The least seconds of each checkout."""
    best: list[Times] = [{} for _ in checkouts]
    for _ in range(rounds):
        processes = []
        for times, (checkout, python) in zip(best, checkouts.items(), strict=True):
            found, process = starts(case, checkout, python)
            processes.append(process)
            _keep_least(times, found)
        calls = calls_a_round(processes[0])
        for _ in range(3):
            for times, process in zip(best, processes, strict=True):
                _keep_least(times, {"steady": process.ask(f"time {calls}")["seconds"]})
        for process in processes:
            process.close()
    return best


def _keep_least(times: Times, found: Times) -> None:
    for kind, seconds in found.items():
        times[kind] = min(seconds, times.get(kind, seconds))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions", description=__doc__.split("\n")[0])
    parser.add_argument("other", type=Path, help="the other checkout, with its environment in .venv")
    parser.add_argument("--cases", nargs="*", default=[""], help="cases whose name starts with one of these")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    other = arguments.other.resolve()
    checkouts = {
        Path(__file__).resolve().parent.parent: sys.executable,
        other: str(other / ".venv" / "bin" / "python"),
    }
    ratios: dict[str, list[float]] = {kind: [] for kind in KINDS}
    print(f"{'case':36}" + "".join(f"{kind:>12} {'before':>9} {'ratio':>6}" for kind in KINDS))
    for case in (name for name in CASES if name.startswith(tuple(arguments.cases))):
        ours, theirs = compared(case, checkouts, arguments.rounds)
        line = f"{case:36}"
        for kind in KINDS:
            ratios[kind].append(ours[kind] / theirs[kind])
            line += f"{seconds_text(ours[kind]):>12} {seconds_text(theirs[kind]):>9} {ratios[kind][-1]:6.2f}"
        print(line, flush=True)
    for kind in KINDS:
        print(f"{kind}: geometric mean {statistics.geometric_mean(ratios[kind]):.3f}, most {max(ratios[kind]):.2f}")


if __name__ == "__main__":
    main()
