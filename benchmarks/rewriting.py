"""The cost of rewriting as graphs grow, ours and PyTensor's side by side in one run.

    python -m benchmarks.rewriting                               every case and size, and PyTensor if it is installed
    python -m benchmarks.rewriting --peers --sizes 1000 4000     ours alone

Each figure is taken in a process of its own, in processor time; libraries take turns, the best round counts.  The
exponent is the slope of log(time) over log(nodes).  `x ours`: the peer's time for the same expression over ours.  A
peer that needs more than `--patience` seconds of processor time is not asked for larger graphs.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

from .growing import CASES, LIBRARIES
from .step import step_figures

OURS = "arignote"
SIZES = (1_000, 4_000, 16_000, 50_000)

Figures = dict[str, float]


def asked(library: str, case: str, nodes: int, patience: int, *how: str) -> Figures | None:
    """The result that a new process measured; None if it failed or took too long."""
    command = [sys.executable, "-m", "benchmarks.growing", library, case, str(nodes), str(patience), *how]
    folder = Path(__file__).resolve().parent.parent
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def best(library: str, case: str, nodes: int, rounds: int, patience: int) -> Figures | None:
    """The round with the quickest rewriting."""
    found = [asked(library, case, nodes, patience) for _ in range(rounds)]
    return min((f for f in found if f is not None), key=lambda f: f["rewrite"], default=None)


def exponent(points: list[tuple[float, float]]) -> float:
    """The slope of log(seconds) over log(nodes)."""
    if len(points) < 2:
        return math.nan
    return statistics.linear_regression([math.log(n) for n, _ in points], [math.log(s) for _, s in points]).slope


def compare(case: str, sizes: list[int], peers: list[str], rounds: int, patience: int) -> None:
    """Prints the rows of one case."""
    points: list[tuple[float, float]] = []
    going = list(peers)
    for size in sizes:
        ours = best(OURS, case, size, rounds, patience)
        memory = asked(OURS, case, size, patience, "memory")
        if ours is None or memory is None:
            print(f"| {case} | {size} | failed |", flush=True)
            continue
        nodes = ours["nodes"]
        points.append((nodes, ours["rewrite"]))
        cells = [f"{ours['build'] / nodes * 1e6:.1f}", f"{ours['rewrite'] / nodes * 1e6:.1f}"]
        cells.append(f"{memory['bytes'] / nodes / 1024:.1f}")
        for peer in peers:
            theirs = asked(peer, case, size, patience) if peer in going else None
            if theirs is None:
                cells.append(f"> {patience} s")
                going = [p for p in going if p != peer]
                continue
            cells.append(f"{theirs['rewrite']:.2f} s, {theirs['rewrite'] / ours['rewrite']:.0f} x ours")
        print(f"| {case} | {nodes:.0f} | {' | '.join(cells)} |", flush=True)
    print(f"| {case} | exponent {exponent(points):.2f} |{' |' * (3 + len(peers))}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rewriting", description=__doc__.split("\n")[0])
    known = [name for name in LIBRARIES if name != OURS]
    parser.add_argument("--peers", nargs="*", default=known, choices=known)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=int, default=120)
    arguments = parser.parse_args()
    heads = ["case", "nodes", "build, us a node", "rewrite, us a node", "memory, KiB a node", *arguments.peers]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for case in arguments.cases:
        compare(case, arguments.sizes, arguments.peers, arguments.rounds, arguments.patience)
    print()
    for what, figure in step_figures().items():
        print(f"{what}: {figure}")


if __name__ == "__main__":
    main()
