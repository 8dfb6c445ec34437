"""Weights in 16 bits: bytes of the exported weights, times and errors beside float32.

    python -m benchmarks.models.storage
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.demo import cnn as demo_cnn
from arignote.networks.quantized_layers import least_seconds

WIDTH = 2048


def cases() -> Iterator[tuple[str, Any, Any, np.ndarray]]:
    """Name, input, output and a value of the input."""
    rng = np.random.default_rng(0)
    x = T.fmatrix("x")
    yield "digits CNN, 100 images", x, demo_cnn.lenet().logits(x), rng.random((100, 64), "float32")
    weights = [ag.shared((rng.standard_normal((WIDTH, WIDTH)) * WIDTH**-0.5).astype("float32")) for _ in range(3)]
    for rows, known in ((1, 1), (16, None), (128, None)):
        y = x = T.tensor("x", "float32", (known, WIDTH))
        for w in weights:
            y = T.relu(y @ w)
        yield f"three layers of {WIDTH}, {rows} rows", x, y, rng.random((rows, WIDTH), "float32")


def main() -> None:
    print("| network | weights | file | time | largest error |\n|---|---|---|---|---|")
    for name, x, y, value in cases():
        exact: Any = None
        for storage in (None, "float16", "bfloat16"):
            f = ag.freeze(y, inputs=[x], storage=storage)
            exact = f(value) if exact is None else exact
            with tempfile.TemporaryDirectory() as folder:
                f.export(Path(folder) / "f")
                size = sum(file.stat().st_size for file in (Path(folder) / "f").glob("*.weights"))
            error = np.abs(f(value) - exact).max() / np.abs(exact).max()
            took = least_seconds(f, value, calls=20, rounds=9) * 1e3
            print(f"| {name} | {storage or 'float32'} | {size / 1e6:.3f} MB | {took:.3g} ms | {error:.1e} |")


if __name__ == "__main__":
    main()
