"""Calls of many threads with one example each: one by one beside `ag.batched`.

    python -m benchmarks.models.serving
    python -m benchmarks.models.serving --callers 64 --seconds 5

The network has three layers of 2048, whose weights a single row must read from memory.  Each caller calls again as soon
as it has its result.  p50 and p99 are times of a call as the caller sees it.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

WIDTH = 2048


def network() -> Any:
    """A function of one row."""
    rng = np.random.default_rng(0)
    x = T.vector("x", dtype="float32")
    y: Any = x
    for _ in range(3):
        y = T.tanh(T.dot(y, (rng.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5).astype("float32")))
    return ag.function([x], y, name="network")


def measured(call: Callable[[np.ndarray], Any], callers: int, seconds: float) -> tuple[float, float, float]:
    """Calls a second, and the median and 99th percentile of their times in ms."""
    row = np.ones(WIDTH, "float32")
    took: list[list[float]] = [[] for _ in range(callers)]
    end = time.perf_counter() + seconds

    def work(mine: list[float]) -> None:
        while (begun := time.perf_counter()) < end:
            call(row)
            mine.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=work, args=(mine,)) for mine in took]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = np.concatenate([np.array(mine) for mine in took])
    return len(times) / seconds, 1e3 * float(np.median(times)), 1e3 * float(np.quantile(times, 0.99))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models.serving", description=__doc__.split("\n")[0])
    parser.add_argument("--callers", type=int, nargs="*", default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=3.0)
    arguments = parser.parse_args()
    f = network()
    print(f"{'callers':>8} {'way':>12} {'calls/s':>9} {'p50 ms':>8} {'p99 ms':>8} {'ratio':>6}")
    for callers in arguments.callers:
        with ag.batched(f, max_batch=max(1, callers)) as serve:
            base = 0.0
            for way, call in (("one by one", f), ("batched", serve)):
                measured(call, callers, 0.3)
                rate, middle, most = measured(call, callers, arguments.seconds)
                base = base or rate
                ratio = f"{rate / base:6.2f}"
                print(f"{callers:8} {way:>12} {rate:9.0f} {middle:8.2f} {most:8.2f} {ratio}", flush=True)


if __name__ == "__main__":
    main()
