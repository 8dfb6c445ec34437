"""Sorting, counting and stacking beside NumPy: our least time over NumPy's.  python -m benchmarks.kernels.searching

A million normal float64 numbers, and stacks of matrices beside their reshaped form.  Names after the command choose
cases.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

ROUNDS = 15
EDGES = np.linspace(-3, 3, 101)
Work = Callable[[], Any]

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "histogram, 100 bins": lambda n, x: n.histogram(x, bins=100),
    "histogram, bins of a range": lambda n, x: n.histogram(x, bins=100, range=(-3, 3)),
    "histogram, edges": lambda n, x: n.histogram(x, bins=EDGES),
    "median": lambda n, x: n.median(x),
    "percentile": lambda n, x: n.percentile(x, 90),
    "three percentiles": lambda n, x: n.percentile(x, [10, 50, 90]),
    "median, rows of 1000": lambda n, x: n.median(n.reshape(x, (1000, 1000)), axis=1),
    "unique": lambda n, x: n.unique(x),
    "unique with counts": lambda n, x: n.unique(x, return_counts=True),
    "unique with positions": lambda n, x: n.unique(x, return_inverse=True),
    "sort": lambda n, x: n.sort(x),
}
STACKS = [("float32", (64, 32, 256, 256)), ("float64", (16, 64, 128, 128)), ("float32", (512, 8, 64, 64))]


def searches() -> Iterator[tuple[str, Work, Work]]:
    """(name, ours, NumPy's) of each function."""
    x, values = T.vector("x"), np.random.default_rng(0).normal(size=10**6)
    for name, function in FUNCTIONS.items():
        found = function(T, x)
        compiled = ag.function([x], list(found) if isinstance(found, tuple) else found)
        yield name, (lambda f=compiled: f(values)), (lambda f=function: f(np, values))


def stacks() -> Iterator[tuple[str, Work, Work]]:
    """(name, of the stack, of its rows) of products and of their gradients; both are ours."""
    rng = np.random.default_rng(0)
    for dtype, (b, m, k, n) in STACKS:
        values = rng.normal(size=(b, m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
        x, w = T.tensor("x", dtype, (None,) * 3), T.tensor("w", dtype, (None,) * 2)
        stack, rows = x @ w, T.reshape(T.dot(T.reshape(x, (-1, k)), w), (x.shape[0], x.shape[1], n))
        for what in ("product", "gradients"):
            made = [y if what == "product" else ag.grad(T.sum(T.sin(y)), [x, w]) for y in (stack, rows)]
            ours, reshaped = (ag.function([x, w], y) for y in made)
            name = f"{what} of {b}x{m}x{k} and {k}x{n}, {dtype}"
            yield name, (lambda f=ours, v=values: f(*v)), (lambda f=reshaped, v=values: f(*v))


def least(works: tuple[Work, Work]) -> tuple[float, float]:
    """The least time of each, called in turn, in milliseconds."""
    times = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for k, work in enumerate(works):
            begun = time.perf_counter()
            work()
            times[k] = min(times[k], 1e3 * (time.perf_counter() - begun))
    return times[0], times[1]


def main() -> None:
    chosen = sys.argv[1:]
    print(f"{'case':46} {'ours':>9} {'other':>9} {'ratio':>6}   (ms)")
    for name, ours, other in (*searches(), *stacks()):
        if not chosen or any(word in name for word in chosen):
            a, b = least((ours, other))
            print(f"{name:46} {a:9.2f} {b:9.2f} {a / b:6.2f}", flush=True)


if __name__ == "__main__":
    main()
