"""Bools from memory beside floats, in rows of several lengths: times of Arignote, NumPy and numexpr on one thread.

    python -m benchmarks.kernels.masks

100,000 elements in rows; y is one row.  A random mask mispredicts every branch.
"""

from __future__ import annotations

import os

os.environ["NUMEXPR_NUM_THREADS"] = "1"

import time
from collections.abc import Callable

import numexpr
import numpy as np

import arignote as ag
from arignote import ops as T

ELEMENTS = 100_000
LENGTHS = (16, 31, 100, 500)
CALLS = 60
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]

CASES: dict[str, tuple[str, Callable[..., np.ndarray]]] = {
    "where(m, x, y)": ("where(m, x, y)", np.where),
    "m * x": ("m * x", lambda m, x, y: m * x),
    "where(m, exp(x), y)": ("where(m, exp(x), y)", lambda m, x, y: np.where(m, np.exp(x), y)),
    "where(m, exp(x), y).sum(1)": ("", lambda m, x, y: np.where(m, np.exp(x), y).sum(1)),
    "softmax(where(m, x, y))": ("", lambda m, x, y: _softmax(np.where(m, x, y))),
}
OURS: dict[str, Callable[..., T.TensorVariable]] = {
    "where(m, x, y)": T.where,
    "m * x": lambda m, x, y: m * x,
    "where(m, exp(x), y)": lambda m, x, y: T.where(m, T.exp(x), y),
    "where(m, exp(x), y).sum(1)": lambda m, x, y: T.where(m, T.exp(x), y).sum(1),
    "softmax(where(m, x, y))": lambda m, x, y: T.softmax(T.where(m, x, y), axis=1),
}


def _softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def arrays(length: int) -> Arrays:
    """The mask, x and y."""
    rng = np.random.default_rng(length)
    shape = ELEMENTS // length, length
    return rng.random(shape) < 0.5, rng.standard_normal(shape, "float32"), rng.standard_normal(length, "float32")


def fastest(call: Callable[..., object], *arguments: object) -> float:
    """The least time of a call in microseconds."""
    best = float("inf")
    for _ in range(CALLS):
        begun = time.perf_counter()
        call(*arguments)
        best = min(best, time.perf_counter() - begun)
    return 1e6 * best


def main() -> None:
    m, x, y = T.tensor("m", "bool", (None, None)), T.matrix("x", "float32"), T.vector("y", "float32")
    for name, (formula, by_numpy) in CASES.items():
        ours = ag.function([m, x, y], OURS[name](m, x, y), threads=1, on_unused_input="ignore")
        cells = []
        for length in LENGTHS:
            values = arrays(length)
            named = dict(zip("mxy", values, strict=True))
            times = [fastest(ours, *values), fastest(by_numpy, *values)]
            if formula:
                times.append(fastest(numexpr.evaluate, formula, named))
            cells.append(" / ".join(f"{t:.0f}" for t in times))
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
