"""Networks of PyTorch under Arignote, eager mode, inductor, ONNX Runtime and OpenVINO.

    python -m benchmarks.pytorch [--networks resnet18 bert] [--backends eager inductor] [--rounds 7] [--one-core]

Parameters are frozen.  `from_torch` is `ag.freeze(ag.from_torch(...))`, without Dynamo.  Each network and backend is a
process of its own with empty caches.  The processes of a network alternate round by round, and the quickest round
counts.  A line has the milliseconds of a call, and the processor seconds of the first call: ours and inductor's with
PyTorch's capture, the others' with the export to ONNX.
With `--one-core` the processes run on one core, and their processor time counts: for a machine with other work.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .pytorch_networks import BACKENDS, NETWORKS

OURS = "arignote", "from_torch"
"""Ours: by `torch.compile`, and as a frozen graph without Dynamo."""
PAUSE = 0.25
"""Seconds before a turn: threads of other systems keep their processors busy for a while."""


class Worker:
    """A process that runs one network by one backend.  `error`: why it does not."""

    def __init__(self, network: str, backend: str, folder: str, options: list[str]) -> None:
        environment = {**os.environ, "ARIGNOTE_CACHE": folder, "TORCHINDUCTOR_CACHE_DIR": folder}
        self._errors = Path(folder, "errors")
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.pytorch_networks", network, backend, *options],
                env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                cwd=Path(__file__).parents[1],
            )  # fmt: skip
        line = self._line()
        self.error = "" if line else (self._errors.read_text().strip().splitlines() or ["it died"])[-1][:120]
        self.figures: dict[str, float] = json.loads(line) if line else {}
        self.seconds = math.inf

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline()

    def time(self, calls: int) -> None:
        """Run one round and keep the quickest."""
        time.sleep(PAUSE)
        assert self._process.stdin
        self._process.stdin.write(f"{calls}\n")
        self._process.stdin.flush()
        self.seconds = min(self.seconds, float(self._line()))

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def measure(network: str, backends: list[str], rounds: int, calls: int, options: list[str]) -> dict[str, Worker]:
    """Return the workers of one network, ended.  Raises ValueError for results that differ."""
    found: dict[str, Worker] = {}
    with tempfile.TemporaryDirectory() as folder:
        for backend in backends:
            os.mkdir(f"{folder}/{backend}")
            found[backend] = Worker(network, backend, f"{folder}/{backend}", options)
        running = [w for w in found.values() if not w.error]
        for _ in range(rounds):
            for worker in running:
                worker.time(calls)
        for worker in found.values():
            worker.close()
    sums = {name: w.figures["sum"] for name, w in found.items() if not w.error}
    if sums and max(sums.values()) - min(sums.values()) > 1e-3 * max(sums.values()):
        raise ValueError(f"{network}: the backends differ: {sums}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=list(NETWORKS), metavar="NETWORK")
    parser.add_argument("--backends", nargs="*", default=list(BACKENDS), choices=list(BACKENDS), metavar="BACKEND")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=5, help="calls of a round")
    parser.add_argument("--one-core", action="store_true", help="processor time on one core")
    chosen = parser.parse_args()
    options = ["--one-core"] if chosen.one_core else []
    backends = [OURS[0], *(b for b in chosen.backends if b != OURS[0])]
    ratios: dict[str, list[float]] = {}
    for network in chosen.networks:
        found = measure(network, backends, chosen.rounds, chosen.calls, options)
        print(f"{network} (load {os.getloadavg()[0]:.1f})")
        for backend, worker in found.items():
            print(f"  {backend:12} {_described(worker)}", flush=True)
        _compare(found, ratios)
    for name, values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"{name}, geometric mean of {len(values)}: {mean:.2f}, worst {max(values):.2f}")


def _described(worker: Worker) -> str:
    if worker.error:
        return f"failed: {worker.error}"
    return f"{worker.seconds * 1e3:9.3f} ms  first call {worker.figures['first']:6.1f} s of processors"


def _compare(found: dict[str, Any], ratios: dict[str, list[float]]) -> None:
    """Add our ratios of times and first calls to each other backend, and to the quickest of them."""
    working = {n: w for n, w in found.items() if not w.error}
    others = {n: w for n, w in working.items() if n not in OURS}
    if not others:
        return
    best = min(w.seconds for w in others.values())
    for ours in (n for n in OURS if n in working):
        worker = working[ours]
        for name, other in others.items():
            ratios.setdefault(f"{ours} / {name}", []).append(worker.seconds / other.seconds)
        ratios.setdefault(f"{ours} / best", []).append(worker.seconds / best)
        if "inductor" in others:
            first = worker.figures["first"] / others["inductor"].figures["first"]
            ratios.setdefault(f"first call of {ours} / inductor", []).append(first)


if __name__ == "__main__":
    main()
