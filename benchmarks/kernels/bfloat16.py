"""Products of float32 with both operands rounded to bfloat16, beside those of float32.

    python -m benchmarks.kernels.bfloat16                       one thread
    python -m benchmarks.kernels.bfloat16 --threads 2

The weights are constant, or shared and laid in panels in each call.  Both functions take turns; the best round of each
counts.  The error is the largest one, divided by the largest number.
"""

from __future__ import annotations

import argparse

import numpy as np

import arignote as ag
from arignote import ops as T

from .sparse import best_times

SIZES = ((1, 1024, 1024), (1, 4096, 4096), (8, 4096, 4096), (64, 1024, 1024), (512, 512, 512), (1024, 1024, 1024))


def row(rng: np.random.Generator, size: tuple[int, int, int], threads: int, constant: bool) -> str:
    m, k, n = size
    value, w = (rng.standard_normal(s).astype("float32") for s in ((m, k), (k, n)))
    x = T.tensor("x", "float32", (m, k))
    weights = T.constant(w) if constant else ag.shared(w, shape=w.shape)
    modes = ag.Mode().including("bfloat16"), ag.Mode()
    narrow, wide = (ag.function([x], x @ weights, mode=mode, threads=threads) for mode in modes)
    fired = any("bfloat_dot" in node.op.name for node in narrow.graph.order)
    exact = value @ w
    error = np.abs(narrow(value) - exact).max() / np.abs(exact).max()
    times = best_times([narrow, wide], value)
    ours, theirs = (f"{t * 1e6:9.1f}" for t in times)
    rate = 2 * m * k * n / times[0] / 1e9
    kind = "constant" if constant else "shared"
    return f"{m:5} {k:5} {n:5}  {kind:8} {theirs} {ours} {times[1] / times[0]:8.2f} {rate:8.0f} {error:8.4f}  {fired}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    print(f"{given.threads} threads")
    print(" rows   sum outputs  weights  float32 us  bfloat us  speedup  GFLOP/s    error  rewritten")
    for size in SIZES:
        for constant in (True, False):
            print(row(rng, size, given.threads, constant), flush=True)


if __name__ == "__main__":
    main()
