"""Products with weights of which blocks are zero, or two of each four, beside the dense product of the same numbers.

    python -m benchmarks.kernels.sparse                               1, 16, 128 and 512 rows, one thread and two
    python -m benchmarks.kernels.sparse --structure along             blocks along the sum
    python -m benchmarks.kernels.sparse --structure 2:4 --sizes 256 1024 4096 --rows 1 4 8 128

Both functions take turns; the best round of each counts.  `speedup` is the dense time over the sparse one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.networks.pruning import BLOCK

ROWS, SHARES, ROUNDS = (1, 16, 128, 512), (0.3, 0.4, 0.5, 0.7, 0.8, 0.9), 15
OPS = ("sparse_dot", "sparse_columns", "two_of_four")


def weights(rng: np.random.Generator, size: int, zeros: float) -> np.ndarray:
    """A square matrix whose blocks are zero with this probability."""
    kept = np.repeat(rng.random((size, -(-size // BLOCK))) >= zeros, BLOCK, axis=1)[:, :size]
    return (rng.standard_normal((size, size)) * kept).astype("float32")


def along_the_sum(rng: np.random.Generator, size: int, zeros: float) -> np.ndarray:
    """The same with blocks of one column."""
    return np.ascontiguousarray(weights(rng, size, zeros).T)


def two_of_four(rng: np.random.Generator, size: int) -> np.ndarray:
    """A square matrix of which the two smallest of each four numbers along the sum are zero."""
    w = rng.standard_normal((size // 4, 4, size)).astype("float32")
    np.put_along_axis(w, np.argsort(np.abs(w), axis=1)[:, :2], 0, axis=1)
    return w.reshape(-1, size)


MAKES = {"block": weights, "along": along_the_sum, "2:4": lambda rng, size, zeros: two_of_four(rng, size)}


def best_times(functions: list[Callable[[np.ndarray], Any]], x: np.ndarray) -> list[float]:
    """The least time of a call of each function, in seconds; functions take turns."""
    best = [float("inf")] * len(functions)
    for f in functions:
        f(x)
    start = time.perf_counter()
    functions[0](x)
    calls = max(1, int(2e-3 / (time.perf_counter() - start + 1e-7)))
    for _ in range(ROUNDS):
        for k, f in enumerate(functions):
            start = time.perf_counter()
            for _ in range(calls):
                f(x)
            best[k] = min(best[k], (time.perf_counter() - start) / calls)
    return best


def row(rng: np.random.Generator, made: np.ndarray, rows: int, zeros: float, threads: int) -> str:
    size = len(made)
    x, w = T.tensor("x", "float32", (rows, size)), T.constant(made)
    modes = "fast_run", "fast_run -sparse"
    sparse, dense = (ag.function([x], T.dot(x, w), mode=mode, threads=threads) for mode in modes)
    fired = any(n.op.name in OPS for n in sparse.graph.order)
    value = rng.standard_normal((rows, size)).astype("float32")
    assert np.allclose(sparse(value), dense(value), atol=1e-3)
    times = best_times([sparse, dense], value)
    ours, theirs = (f"{t * 1e6:9.1f}" for t in times)
    return f"{threads:7} {size:5} {rows:5} {zeros:6.0%} {theirs} {ours} {times[1] / times[0]:8.2f}  {fired}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--structure", choices=("block", "along", "2:4"), default="block")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1024])
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    print("threads  size  rows  zeros  dense us sparse us  speedup  rewritten")
    for threads in given.threads:
        for size in given.sizes:
            for rows in given.rows:
                for zeros in (0.5,) if given.structure == "2:4" else SHARES:
                    made = MAKES[given.structure](rng, size, zeros)
                    print(row(rng, made, rows, zeros, threads), flush=True)


if __name__ == "__main__":
    main()
