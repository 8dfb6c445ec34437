"""The gain from threads: the cases, and sizes around the threshold, with one thread against two.

    python -m benchmarks.threads             sizes around the threshold, then the cases
    python -m benchmarks.threads softmax     the cases whose names have this in them

The two take turns, call by call, in one process; the best of each counts.  On a machine with other work a second thread
waits for a processor, which says nothing about ours: `chrt -f 1 python -m benchmarks.threads` goes before other work.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

from .cases import CASES
from .peers.arignote import build

ROUNDS = 9
ROUND_SECONDS = 2e-4
THRESHOLD = {
    "x+1": lambda x: x + 1,
    "exp(x)": T.exp,
    "(x*x).sum()": lambda x: T.sum(x * x),
    "(x*x).sum(0)": lambda x: T.sum(x * x, axis=0),
    "softmax": lambda x: T.softmax(x, axis=1),
    "x.T+1": lambda x: x.T + 1,
}
SHAPES = ((200, 250), (400, 250), (800, 250), (900, 400), (1000, 700), (1000, 2000), (2000, 4000))


def best_of_each(one: Callable[..., Any], two: Callable[..., Any], arrays: tuple[Any, ...]) -> tuple[float, float]:
    """Seconds of a call of each."""
    start = time.perf_counter()
    one(*arrays), two(*arrays)
    calls = max(1, int(2 * ROUND_SECONDS / (time.perf_counter() - start)))
    times: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for function, found in zip((one, two), times, strict=True):
            start = time.perf_counter()
            for _ in range(calls):
                function(*arrays)
            found.append((time.perf_counter() - start) / calls)
    return min(times[0]), min(times[1])


def threshold() -> None:
    """Times and ratios of elementary operations at sizes from 50,000 to 8,000,000."""
    print("microseconds with one thread, with two, ratio;", *(f"{m}x{n}" for m, n in SHAPES), sep=" | ")
    for dtype in ("float64", "float32"):
        x = T.matrix("x", dtype)
        for name, expression in THRESHOLD.items():
            one, two = (ag.function([x], expression(x), threads=n) for n in (1, 2))
            cells = []
            for shape in SHAPES:
                a, b = best_of_each(one, two, (np.random.default_rng(0).random(shape).astype(dtype),))
                cells.append(f"{a * 1e6:.0f} {b * 1e6:.0f} {b / a:.2f}")
            print(f"{name}, {dtype}", *cells, sep=" | ", flush=True)


def cases(part: str) -> None:
    """Times and ratios of the cases whose names contain `part`."""
    print("case | one thread | two | ratio")
    for case in CASES.values():
        if part in case.name:
            (one, arrays), (two, _) = build(case, 1), build(case, 2)
            a, b = best_of_each(one, two, arrays)
            print(f"{case.name} | {a * 1e6:.1f} us | {b * 1e6:.1f} us | {b / a:.2f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        threshold()
    cases(sys.argv[1] if len(sys.argv) > 1 else "")
