"""Matrix products on one thread, as a share of the peak of the core's multipliers: python -m benchmarks.products

Each round measures the peak, ours, ours with an epilogue and NumPy's in turn, in CPU time of the process, so that other
work on the machine and its clock touch all of them alike.  The table has the best of the rounds and the median share.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", ARIGNOTE_THREADS="1")  # before NumPy is imported

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np

import arignote as ag
from arignote import ops as T

SIZES = (32, 64, 256, 1024, 2048)
DTYPES = ("float32", "float64")
ROUNDS = 9
SECONDS = 0.02
"""CPU time of one measurement, at least one call."""

Work = Callable[[], object]


def peak_loops() -> ctypes.CDLL:
    """`peak.c`, compiled for this processor."""
    folder = tempfile.mkdtemp()
    library = f"{folder}/peak.so"
    flags = ["-O2", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC"]
    subprocess.run([os.environ.get("CC", "gcc"), *flags, "-o", library, Path(__file__).with_name("peak.c")], check=True)
    return ctypes.CDLL(library)


def seconds(work: Work, repeat: int) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    for _ in range(repeat):
        work()
    return (time.process_time() - start) / repeat


def repeats(work: Work) -> int:
    work()
    once = seconds(work, 1)
    return max(1, int(SECONDS / max(once, 2e-7)))


def peak_work(loops: ctypes.CDLL, dtype: str) -> tuple[Work, float]:
    rounds = 200_000
    loop, flops = getattr(loops, f"peak_{dtype}"), getattr(loops, f"peak_{dtype}_flops")
    return lambda: loop(ctypes.c_long(rounds)), float(rounds * flops())


def cases(dtype: str) -> Iterator[tuple[str, float, dict[str, Work]]]:
    """(name, floating-point operations, what computes it)."""
    random = np.random.default_rng(0)
    a, b, c = T.matrix("a", dtype), T.matrix("b", dtype), T.vector("c", dtype)
    x, y = T.tensor("x", dtype, (None, None, None)), T.tensor("y", dtype, (None, None, None))
    dot = ag.function([a, b], T.dot(a, b))
    relu = ag.function([a, b, c], T.maximum(T.dot(a, b) + c, 0))
    batch, gemv = ag.function([x, y], T.matmul(x, y)), ag.function([a, c], T.dot(a, c))
    ger = ag.function([a, c], a + T.outer(c, c))
    for n in SIZES:
        p, q, r = (random.random(shape).astype(dtype) for shape in ((n, n), (n, n), (n,)))
        works = {"plain": lambda p=p, q=q: dot(p, q), "relu": lambda p=p, q=q, r=r: relu(p, q, r),
                 "NumPy": lambda p=p, q=q: p @ q}  # fmt: skip
        yield f"{n}", 2.0 * n**3, works
    p, q = (random.random((1000, 16, 16)).astype(dtype) for _ in range(2))
    yield "1000 of 16", 2.0 * 1000 * 16**3, {"plain": lambda: batch(p, q), "NumPy": lambda: p @ q}
    m, v = random.random((1000, 1000)).astype(dtype), random.random(1000).astype(dtype)
    yield "gemv 1000", 2e6, {"plain": lambda: gemv(m, v), "NumPy": lambda: m @ v}
    yield "ger 1000", 2e6, {"plain": lambda: ger(m, v), "NumPy": lambda: m + np.outer(v, v)}


def main() -> None:
    loops = peak_loops()
    print("GFLOP/s, best of the rounds, and median share of the peak measured beside it; one thread")
    for dtype in DTYPES:
        peak, peak_flops = peak_work(loops, dtype)
        for name, flops, works in cases(dtype):
            timed = {"peak": (peak, peak_flops), **{k: (w, flops) for k, w in works.items()}}
            counts = {key: repeats(work) for key, (work, _) in timed.items()}
            rates: dict[str, list[float]] = {key: [] for key in timed}
            for _ in range(ROUNDS):
                for key, (work, operations) in timed.items():
                    rates[key].append(operations / seconds(work, counts[key]) / 1e9)
            shares = {k: median(r / p for r, p in zip(rates[k], rates["peak"], strict=True)) for k in works}
            line = "  ".join(f"{k} {max(rates[k]):6.1f} {100 * shares[k]:4.0f} %" for k in works)
            print(f"{dtype}  {name:>10}  peak {max(rates['peak']):6.1f}  {line}", flush=True)


if __name__ == "__main__":
    main()
