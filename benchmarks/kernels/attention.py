"""Attention of one example as one kernel and as two products with a softmax between: time and memory of a call.

`python -m benchmarks.kernels.attention`: 4 heads, 64 wide, float32; plain and with a causal mask.  Both run
alternately in one process.  Memory is how much the first call of a process adds to its peak, the result included.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

HEADS, WIDTH = 4, 64
MODES = {"attention": "fast_run", "unfused": "fast_run -attention"}


def made(causal: bool, mode: str, threads: int) -> Any:
    q, k, v = (T.tensor(name, "float32", (1, HEADS, None, WIDTH)) for name in "qkv")
    mask = T.tensor("mask", "bool", (None, None))
    scores = T.matmul(q, T.transpose(k, (0, 1, 3, 2))) * np.float32(WIDTH**-0.5)
    scores = T.where(mask, scores, np.float32(-np.inf)) if causal else scores
    inputs = [q, k, v, mask] if causal else [q, k, v]
    return ag.function(inputs, T.matmul(T.softmax(scores), v), mode=mode, threads=threads)


def values_of(length: int, causal: bool) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    heads = [rng.standard_normal((1, HEADS, length, WIDTH)).astype("float32") for _ in range(3)]
    return [*heads, *[np.tri(length, dtype=bool)] * causal]


def highest() -> int:
    """KiB that this process has held at most (Linux)."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1])


def peak(name: str, length: int, causal: bool, threads: int) -> float:
    """MiB that a call adds to the peak of this process, which has made a short one."""
    f, values = made(causal, MODES[name], threads), values_of(length, causal)
    f(*values_of(16, causal))
    before = highest()
    f(*values)
    return (highest() - before) / 1024


def peak_of(name: str, length: int, causal: bool, threads: int) -> float:
    """The same of another process."""
    arguments = ["--peak", name, "--lengths", str(length), "--threads", str(threads), *["--causal"] * causal]
    command = [sys.executable, "-m", "benchmarks.kernels.attention", *arguments]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def compared(length: int, causal: bool, threads: int, rounds: int) -> str:
    """The line of one length."""
    values = values_of(length, causal)
    calls = {name: made(causal, mode, threads) for name, mode in MODES.items()}
    results = [f(*values) for f in calls.values()]
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, f in calls.items():
            for _ in range(5):
                begun = time.perf_counter()
                f(*values)
                best[name] = min(best[name], time.perf_counter() - begun)
    times = " ".join(f"{1e6 * best[name]:10.0f}" for name in calls)
    error = np.abs(results[0] - results[1]).max()
    peaks = " ".join(f"{peak_of(name, length, causal, threads):6.1f}" for name in calls)
    return f"{times} {best['attention'] / best['unfused']:6.2f} {peaks} {error:8.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels.attention", description=__doc__.split("\n")[0])
    parser.add_argument("--lengths", nargs="*", type=int, default=[128, 512, 2048])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peak", choices=MODES, help=argparse.SUPPRESS)
    parser.add_argument("--causal", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak:
        print(peak(arguments.peak, arguments.lengths[0], arguments.causal, arguments.threads))
        return
    print(f"times in us, {arguments.threads} threads; peaks in MiB")
    heads = " ".join(f"{name:>10}" for name in MODES)
    print(f"length mask   {heads} {'ratio':>6} {'peak':>6} {'peak':>6} {'error':>8}")
    for length in arguments.lengths:
        for causal in (False, True):
            name = "causal" if causal else "-"
            print(f"{length:6} {name:6} {compared(length, causal, arguments.threads, arguments.rounds)}", flush=True)


if __name__ == "__main__":
    main()
