"""The cost of the run profile: the same function with and without it, in turns within one process.

    python -m benchmarks.overhead
    python -m benchmarks.overhead --rounds 41

Times are of the process's processor, one thread; the best round of each counts.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import arignote as ag
from arignote import ops as T

SIZES = (3, 10_000, 1_000_000)
CASES = ("x+y", "exp(x)*y+sin(x)-y/3", "softmax(x)*y, then its sum", "w += x*y, a shared w")
ROUND_SECONDS = 0.05


def built(case: str, profile: bool, size: int) -> ag.Function:
    """A function of two vectors of this size, on one thread."""
    x, y = T.vector("x"), T.vector("y")
    if case == CASES[-1]:
        w = ag.shared(np.zeros(size), shape=(size,))
        x, y = (T.tensor(name, shape=(size,)) for name in "xy")
        return ag.function([x, y], None, updates=[(w, w + x * y)], profile=profile, threads=1, mode="fast_run")
    outputs = (x + y, T.exp(x) * y + T.sin(x) - y / 3, (T.nn.softmax(x) * y).sum())
    return ag.function([x, y], outputs[CASES.index(case)], profile=profile, threads=1, mode="fast_run")


def seconds(f: ag.Function, arguments: tuple[np.ndarray, np.ndarray], calls: int) -> float:
    """Processor time of one call, the mean of `calls`."""
    start = time.process_time()
    for _ in range(calls):
        f(*arguments)
    return (time.process_time() - start) / calls


def compared(case: str, size: int, rounds: int) -> tuple[float, float]:
    """The best time of a call without the profile, and with it."""
    off, on = built(case, False, size), built(case, True, size)
    values = np.random.default_rng(1)
    arguments = values.random(size), values.random(size)
    for f in (off, on):  # past the number of calls after which the entry for small arrays is taken
        seconds(f, arguments, 100)
    calls = max(1, round(ROUND_SECONDS / seconds(off, arguments, 20)))
    best = {off: float("inf"), on: float("inf")}
    for turn in range(rounds):
        for f in (off, on) if turn % 2 else (on, off):
            best[f] = min(best[f], seconds(f, arguments, calls))
    return best[off], best[on]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=31)
    rounds = parser.parse_args().rounds
    print("| case | elements | off | on | on a call | share |\n|---|---|---|---|---|---|")
    for case in CASES:
        for size in SIZES:
            off, on = compared(case, size, rounds)
            cells = (
                f"{size:,} | {off * 1e6:.2f} us | {on * 1e6:.2f} us | {(on - off) * 1e6:+.2f} us | {on / off - 1:+.1%}"
            )
            print(f"| {case.replace('*', chr(92) + '*')} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
