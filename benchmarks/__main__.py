"""Runs named cases for us and for the installed peers in one run and prints times and ratios.

    python -m benchmarks                         every case, every installed peer
    python -m benchmarks --cases "softmax" "MLP" --peers numpy jax --rounds 7
    python -m benchmarks --list

Each peer lives in a process of its own.  Cold: an empty cache folder, compile and first call; of ours, parts of the
runtime were built when it was installed (`python -m benchmarks.starts` tells what they save).  Warm: a second process
on the same folder.  Steady: the peers take turns, round by round, so that a drift of the machine meets all of them
alike; the median round counts.  Before a turn there is a pause: threads of NumPy's BLAS keep their processors busy for
0.1 s after a product, in which the next peer would have one processor less.  `ratio` is our time over that of the best
peer.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .cases import CASES, Case
from .peers import MORE, PEERS

OURS = "arignote"
HERE = Path(__file__).resolve().parent.parent
ROUND_SECONDS = 0.15
PAUSE = 0.25
"""Seconds before a turn."""


class Process:
    """A worker process of one peer; its commands are those of worker.py."""

    def __init__(
        self, peer: str, cache: str, checkout: Path = HERE, python: str = sys.executable, **settings: str
    ) -> None:
        environment = {**os.environ, "BENCH_CACHE": cache, "ARIGNOTE_CACHE": cache, **settings}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # pip compiled the peers' modules; ours are as in a checkout
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", peer],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
            cwd=checkout,
        )  # fmt: skip

    def ask(self, command: str) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else {"error": "the process died"}

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@dataclass
class Result:
    """The times of one peer for one case, in seconds."""

    peer: str
    cold: float = 0.0
    warm: float = 0.0
    rounds: list[float] = field(default_factory=list)
    error: str = ""
    version: str = ""

    @property
    def steady(self) -> float:
        return statistics.median(self.rounds) if self.rounds else float("nan")

    @property
    def best(self) -> float:
        """The quickest round, which other work on the machine disturbs least."""
        return min(self.rounds, default=float("nan"))


def measure(case: Case, peers: list[str], rounds: int) -> list[Result]:
    """All peers on one case; steady times are taken in turns."""
    results, processes = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for peer in peers:
            cache = f"{folder}/{peer}"
            os.mkdir(cache)
            result = Result(peer)
            results.append(result)
            first = Process(peer, cache)
            answer = first.ask(f"build {case.name}")
            result.error, result.version = answer.get("error") or "", answer.get("version", "")
            if result.error:
                first.close()
                continue
            result.cold = answer["compile"]
            first.close()
            processes[peer] = Process(peer, cache)
            result.warm = processes[peer].ask(f"build {case.name}").get("compile", float("nan"))
        running = [r for r in results if r.peer in processes]
        calls = {r.peer: calls_a_round(processes[r.peer]) for r in running}
        for _ in range(rounds):
            for r in running:
                time.sleep(PAUSE)
                answer = processes[r.peer].ask(f"time {calls[r.peer]}")
                r.rounds.append(answer.get("seconds", float("nan")))
        for process in processes.values():
            process.close()
    return results


def calls_a_round(process: Process) -> int:
    """The number of calls in a round of about ROUND_SECONDS."""
    seconds = process.ask("time 3").get("seconds", 1.0)
    return max(1, min(200_000, int(ROUND_SECONDS / max(seconds, 1e-7))))


def seconds_text(s: float) -> str:
    """A time in the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if s >= scale:
            return f"{s / scale:.3g} {unit}"
    return f"{s / 1e-9:.3g} ns"


def report(case: Case, results: list[Result]) -> dict[str, Any]:
    """Prints one case; returns its figures."""
    print(f"\n{case.name}")
    best = min((r.steady for r in results if r.rounds and r.peer != OURS), default=float("nan"))
    ours = next((r.steady for r in results if r.peer == OURS and r.rounds), float("nan"))
    for r in results:
        if r.error:
            print(f"  {r.peer:16s} {r.error}")
            continue
        rate = f"{case.bytes / r.steady / 1e9:7.1f} GB/s" if case.bytes else ""
        rate = f"{case.flops / r.steady / 1e9:7.1f} GFLOP/s" if case.flops else rate
        print(
            f"  {r.peer:16s} cold {seconds_text(r.cold):>9s}  warm {seconds_text(r.warm):>9s}  "
            f"steady {seconds_text(r.steady):>9s}  best {seconds_text(r.best):>9s}  "
            f"{r.steady / ours:6.2f} x ours {rate}"
        )
    print(f"  ratio to the best peer: {ours / best:.2f}", flush=True)
    return {
        "case": case.name,
        "ratio": ours / best,
        "peers": {
            r.peer: {"cold": r.cold, "warm": r.warm, "steady": r.steady, "best": r.best, "error": r.error}
            for r in results
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("--cases", nargs="*", default=[""], help="cases whose name starts with one of these")
    known = ", ".join([*PEERS, *MORE])
    of = f"of {known}"
    parser.add_argument("--peers", nargs="*", default=PEERS, choices=[*PEERS, *MORE], metavar="PEER", help=of)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    arguments = parser.parse_args()
    chosen = [case for name, case in CASES.items() if name.startswith(tuple(arguments.cases))]
    if arguments.list:
        print("\n".join(CASES))
        return
    peers = [OURS, *(p for p in arguments.peers if p != OURS)]
    figures = [report(case, measure(case, peers, arguments.rounds)) for case in chosen]
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
