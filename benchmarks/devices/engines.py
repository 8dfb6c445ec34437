"""Several engines in one graph: float16 layers, then sorts and sums, divided and on each engine alone.

    python -m benchmarks.devices.engines

ONNX Runtime multiplies float16 matrices faster than our C.  It sorts, and sums over rows, more slowly.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

ENGINES = ("c", "onnxruntime")
ROUNDS = 30
MIXED = "C and ONNX Runtime"


def network() -> tuple[Any, list[Any], np.ndarray]:
    """Input, outputs, and a value of the input."""
    rng = np.random.default_rng(0)
    x = T.tensor("x", "float16", (None, 256))
    z: Any = x
    for number, (rows, columns) in enumerate(((256, 512), (512, 512)), start=1):
        weights = (rng.standard_normal((rows, columns)) * 0.05).astype("float16")
        z = T.tanh(T.dot(z, ag.shared(weights, name=f"w{number}", shape=weights.shape)))
    z = T.cast(z, "float32")
    return x, [T.sort(z, axis=1), T.logsumexp(z, axis=0)], rng.standard_normal((128, 256)).astype("float16")


def functions() -> Iterator[tuple[str, Any]]:
    """The network on engines together, and on each alone."""
    x, y, _ = network()
    yield MIXED, ag.function([x], y, engines=ENGINES)
    yield "C alone", ag.function([x], y)
    yield "ONNX Runtime alone", ag.function([x], y, engines=ENGINES[1:])
    yield "NumPy alone", ag.function([x], y, mode="NUMPY")


def main() -> None:
    value = network()[-1]
    made = dict(functions())
    best = dict.fromkeys(made, float("inf"))
    for number in range(ROUNDS):
        for name, f in made.items():
            if name.startswith("NumPy") and number > 2:
                continue
            start = time.perf_counter()
            f(value)
            best[name] = min(best[name], time.perf_counter() - start)
    print(made[MIXED].explain("partition"))
    print("| engines | time | beside the mixed plan |\n|---|---|---|")
    for name, seconds in best.items():
        print(f"| {name} | {seconds * 1e3:.2f} ms | {seconds / best[MIXED]:.1f} |")


if __name__ == "__main__":
    main()
