"""Matrix products as a share of the peak of the cores' multipliers: python -m benchmarks.kernels.products [THREADS]

Each round measures the peak, ours, ours with an epilogue and NumPy's in turn, so that other work on the machine and its
clock touch all of them alike: on one thread, which is the default, in CPU time of the process, on more in wall time,
after a pause in which the threads of NumPy's BLAS stop to look around.  The table has the best of the rounds and the
median share.
"""

from __future__ import annotations

import os
import sys

os.environ["ARIGNOTE_THREADS"] = (sys.argv[1:] or ["1"])[0]
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), os.environ["ARIGNOTE_THREADS"]))

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np

import arignote as ag
from arignote import ops as T

THREADS = int(os.environ["ARIGNOTE_THREADS"])
SIZES = (32, 50, 64, 100, 256, 1024, 2048)
STEP = (("x @ w", (128, 784), (784, 512)), ("x.T @ g", (784, 128), (128, 512)), ("h @ v", (128, 512), (512, 10)))
"""The products of the training step of a small network."""
DTYPES = ("float32", "float64")
ROUNDS = 9
SECONDS = 0.02
"""One measurement, at least one call."""
PAUSE = 0.25

Work = Callable[[], object]


def peak_loops() -> ctypes.CDLL:
    """`peak.c`, compiled for this processor."""
    folder = tempfile.mkdtemp()
    library = f"{folder}/peak.so"
    flags = ["-O2", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC"]
    subprocess.run([os.environ.get("CC", "gcc"), *flags, "-o", library, Path(__file__).with_name("peak.c")], check=True)
    return ctypes.CDLL(library)


def seconds(work: Work, repeat: int) -> float:
    """Seconds of one call."""
    clock = time.process_time if THREADS == 1 else time.perf_counter
    if THREADS > 1:
        time.sleep(PAUSE)
        work()
    start = clock()
    for _ in range(repeat):
        work()
    return (clock() - start) / repeat


def repeats(work: Work) -> int:
    work()
    once = seconds(work, 1)
    return max(1, int(SECONDS / max(once, 2e-7)))


def peak_work(loops: ctypes.CDLL, dtype: str) -> tuple[Work, float]:
    rounds = 200_000
    loop, flops = getattr(loops, f"peak_{dtype}"), getattr(loops, f"peak_{dtype}_flops")
    team = ThreadPoolExecutor(THREADS)
    each = [ctypes.c_long(rounds)] * THREADS
    return lambda: loop(each[0]) if THREADS == 1 else list(team.map(loop, each)), float(rounds * flops() * THREADS)


def cases(dtype: str) -> Iterator[tuple[str, float, dict[str, Work]]]:
    """Return the cases as (name, floating-point operations, function that computes it)."""
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
    for name, left, right in STEP:
        p, q = random.random(left).astype(dtype), random.random(right).astype(dtype)
        if name == "x.T @ g":
            p = np.ascontiguousarray(p.T).T
        yield name, 2.0 * p.size * q.shape[1], {"plain": lambda p=p, q=q: dot(p, q), "NumPy": lambda p=p, q=q: p @ q}
    p, q = (random.random((1000, 16, 16)).astype(dtype) for _ in range(2))
    yield "1000 of 16", 2.0 * 1000 * 16**3, {"plain": lambda: batch(p, q), "NumPy": lambda: p @ q}
    m, v = random.random((1000, 1000)).astype(dtype), random.random(1000).astype(dtype)
    yield "gemv 1000", 2e6, {"plain": lambda: gemv(m, v), "NumPy": lambda: m @ v}
    yield "ger 1000", 2e6, {"plain": lambda: ger(m, v), "NumPy": lambda: m + np.outer(v, v)}


def main() -> None:
    loops = peak_loops()
    print("GFLOP/s, best of the rounds, and median share of the peak measured beside it; threads:", THREADS)
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
