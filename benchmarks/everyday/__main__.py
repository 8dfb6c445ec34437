"""Time everyday programs beside JAX, NumPy and loops under numba: `python -m benchmarks.everyday [NAME ...]`.

One thread on one processor, processor time, the least of many calls in turn.  A first call compiles; Arignote's cache
is empty.
`--markdown` prints rows for docs/benchmarks.md.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", ARIGNOTE_THREADS="1", JAX_ENABLE_X64="1")
os.environ.update(XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import arignote as ag

try:
    import numba
except ImportError:
    numba = None

from . import images, learning, linear, physics, points, signals, statistics  # noqa: F401  (enter their programs)
from .program import PROGRAMS, Program

jax.config.update("jax_cpu_enable_async_dispatch", False)

ROUNDS = 6
SECONDS = 0.15
"""Time of each peer in a round."""


def least(call: Callable[[], object], seconds: float) -> float:
    """Return the least processor time of a call among the calls of some seconds."""
    begin = time.process_time()
    call()
    once = max(time.process_time() - begin, 1e-7)
    count, best, end = max(1, int(0.002 / once)), math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.process_time()
        for _ in range(count):
            call()
        best = min(best, (time.process_time() - begin) / count)
    return min(best, once)


def differs(found: Any, expected: Any) -> str:
    """Return how results differ from those expected; "" if they agree in dtype, shape and value."""
    pairs = [jax.tree.leaves(found), jax.tree.leaves(expected)]
    for k, (a, b) in enumerate(zip(*pairs, strict=True)):
        x, y = np.asarray(a), np.asarray(b)
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"result {k} is {x.dtype}{x.shape}; expected {y.dtype}{y.shape}"
        tolerance = {"float16": 1e-2, "float32": 2e-3, "complex64": 2e-3}.get(y.dtype.name, 1e-8)
        if not np.allclose(x, y, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(y).max(initial=0.0)))):
            return f"result {k} differs by {np.abs(x - y).max()}"
    return ""


def race(program: Program) -> tuple[dict[str, float], dict[str, float]]:
    """Return the processor times and the first calls' times by peer, in seconds."""
    given = program.arguments()
    theirs = [jnp.asarray(a) for a in given]
    of_numpy, of_jax = partial(program.function, np), partial(program.function, jnp)
    calls: dict[str, Callable[[], Any]] = {}
    if program.by is None:
        ours, jitted = ag.jit(of_numpy, threads=1), jax.jit(of_jax)
        calls["numpy"] = lambda: of_numpy(*given)
    else:
        ours = ag.jit(ag.value_and_grad(of_numpy, program.by), threads=1)
        jitted = jax.jit(jax.value_and_grad(of_jax, program.by))
    calls["arignote"] = lambda: ours(*given)
    calls["jax"] = lambda: jax.block_until_ready(jitted(*theirs))
    if program.loops is not None and numba is not None:
        loops = numba.njit(program.loops)
        calls["numba"] = lambda: loops(*given)
    first, results = {}, {}
    for peer, call in calls.items():
        begin = time.perf_counter()
        results[peer] = call()
        first[peer] = time.perf_counter() - begin
    if wrong := differs(results["arignote"], results["numpy" if program.by is None else "jax"]):
        raise ValueError(wrong)
    times = dict.fromkeys(calls, math.inf)
    for _ in range(ROUNDS):
        for peer, call in calls.items():
            times[peer] = min(times[peer], least(call, SECONDS))
    return times, first


def stay_on_one_processor() -> None:
    """Pin this process to a processor.

    The clock misses what a thread on another one computed since it was last switched out, so peers with threads of
    their own would look faster than they are.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / max(len(values), 1))


def main(arguments: Sequence[str]) -> None:
    """Print a line for each program, and the geometric means."""
    parser = argparse.ArgumentParser("python -m benchmarks.everyday", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--markdown", action="store_true", help="print a table for docs/benchmarks.md")
    options = parser.parse_args(arguments)
    if unknown := sorted({*options.names} - {*PROGRAMS}):
        parser.error(f"no program is named {', '.join(unknown)}")
    ratios, starts = [], []
    row = "| {:18} | {:>8} | {:>8} | {:>8} | {:>8} | {:>5} | {:>6} | {:>6} |" if options.markdown else (
        "{:18} {:>9} {:>9} {:>9} {:>9} {:>6} {:>8} {:>8}")  # fmt: skip
    print(row.format("program", "ours, us", "JAX", "numba", "NumPy", "ratio", "first", "JAX's"))
    if options.markdown:
        print("|---|" + "---|" * 7)
    stay_on_one_processor()
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        os.environ["ARIGNOTE_CACHE"] = folder
        for name in options.names or PROGRAMS:
            try:
                times, first = race(PROGRAMS[name])
            except Exception as error:  # the other programs still run
                print(f"{name:18} {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
                continue
            ratios.append(times["arignote"] / min(time for peer, time in times.items() if peer != "arignote"))
            starts.append(first["arignote"] / first["jax"])
            micro = [f"{times[p] * 1e6:.4g}" if p in times else "-" for p in ("arignote", "jax", "numba", "numpy")]
            milli = [f"{first[p] * 1e3:.0f} ms" for p in ("arignote", "jax")]
            print(row.format(name, *micro, f"{ratios[-1]:.2f}", *milli), flush=True)
    below = sum(r <= 1 for r in ratios)
    print(f"{below} of {len(ratios)} at or below the best peer; geometric mean {mean(ratios):.2f}, ", end="")
    print(f"of first calls beside JAX's {mean(starts):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
