"""Several engines in one graph: a float16 network with a recurrence and a sort, divided and on each engine alone.

    python -m benchmarks.engines

ONNX Runtime multiplies float16 matrices faster than our C; it has no loop that keeps NumPy's lengths, and computes
elementwise chains, sums over rows and sorts more slowly.
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


def network() -> tuple[Any, Any, Any, np.ndarray]:
    """Input, output of the products and activations, output of all, and a value of the input."""
    rng = np.random.default_rng(0)
    x = T.tensor("x", "float16", (None, 256))
    z: Any = x
    for number, (rows, columns) in enumerate(((256, 512), (512, 512), (512, 64)), start=1):
        weights = (rng.standard_normal((rows, columns)) * 0.05).astype("float16")
        z = T.dot(z, ag.shared(weights, name=f"w{number}", shape=weights.shape))
        z = T.nn.gelu(z) if number < 3 else T.cast(z, "float32")
    zeros = T.zeros(64, dtype="float32")
    smooth, _ = ag.scan(lambda row, state: 0.9 * state + 0.1 * T.tanh(row), sequences=[z], outputs_info=[zeros])
    return x, z, T.sort(smooth, axis=1), rng.standard_normal((128, 256)).astype("float16")


def functions() -> Iterator[tuple[str, Any]]:
    """Each way to run the whole network, and ONNX Runtime on the part that it runs."""
    x, z, y, _ = network()
    yield "C alone", ag.function([x], y)
    yield "C and ONNX Runtime", ag.function([x], y, engines=ENGINES)
    yield "ONNX Runtime alone, without recurrence and sort", ag.function([x], z, engines=ENGINES[1:])
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
    print(made["C and ONNX Runtime"].explain("partition"))
    print("| engines | time | beside the mixed plan |\n|---|---|---|")
    for name, seconds in best.items():
        print(f"| {name} | {seconds * 1e3:.2f} ms | {seconds / best['C and ONNX Runtime']:.1f} |")


if __name__ == "__main__":
    main()
