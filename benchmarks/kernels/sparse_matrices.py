"""Functions of `T.sparse` beside SciPy's, which runs on one thread.

    python -m benchmarks.kernels.sparse_matrices                         every function, one thread and two
    python -m benchmarks.kernels.sparse_matrices --only sparse --rows 20000

Both functions take turns; the best round of each counts.  `ratio` is our time over SciPy's: 1.2 at most on one thread,
below 1 on two.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

import arignote as ag
from arignote import ops as T

Function = Callable[..., Any]
S: Any = T.sparse
ROUNDS, LEAST = 15, 4e-3


def cases(rng: np.random.Generator, rows: int, density: float) -> Iterator[tuple[str, Function, list[Any]]]:
    """Yield a name, a function of matrices and arrays, which are ours or SciPy's, and their values."""

    def random(format: str) -> Any:
        found = sp.coo_array(sp.random(rows, rows, density, format="coo", random_state=rng))  # in any order
        return found if format == "coo" else found.asformat(format)

    cut = slice(rows // 4, rows // 2)
    vector, dense, wide = rng.standard_normal(rows), rng.standard_normal((rows, 32)), rng.standard_normal((8, rows))
    for format in ("csr", "csc", "coo"):
        a, b = random(format), random(format)
        for name, function, *values in (
            ("@ vector", lambda A, x: A @ x, vector),
            ("@ matrix", lambda A, x: A @ x, dense),
            ("matrix @", lambda A, x: x @ A, wide),
            ("@ sparse", lambda A, B: A @ B, b),
            ("+ sparse", lambda A, B: A + B, b),
            ("* sparse", lambda A, B: A.multiply(B), b),
            ("* vector", lambda A, x: A.multiply(x), vector),
            ("* number", lambda A: A * 2.0),
            ("sqrt", lambda A: A.sqrt()),
            ("sum", lambda A: A.sum()),
            ("sum 0", lambda A: A.sum(axis=0)),
            ("sum 1", lambda A: A.sum(axis=1)),
            ("max", lambda A: A.max()),
            ("max 1", lambda A: A.max(axis=1)),
            (".T", lambda A: A.T),
            ("toarray", lambda A: A.toarray()),
            ("diagonal", lambda A: A.diagonal()),
        ):
            yield f"{format} {name}", function, [a, *values]
        for other in {"csr", "csc", "coo"} - {format}:
            yield f"{format} to {other}", lambda A, other=other: A.asformat(other), [a]
        if format != "coo":
            major = (lambda A: A[cut]) if format == "csr" else (lambda A: A[:, cut])
            yield f"{format} slice", major, [a]
            at = rng.integers(0, rows, rows // 4)
            yield f"{format} rows", (lambda A, p: A[p]) if format == "csr" else (lambda A, p: A[:, p]), [a, at]
    a = random("csr")
    yield "usmm", lambda A, x, z: 2.0 * (A @ x) + z, [a, dense, rng.standard_normal(dense.shape)]


def compiled(function: Function, values: list[Any], threads: int) -> Function:
    """Return our function of values like these."""
    inputs = [
        S.matrix(v.format, f"v{k}", dtype=str(v.dtype))
        if sp.issparse(v)
        else T.tensor(f"v{k}", str(v.dtype), (None,) * v.ndim)
        for k, v in enumerate(values)
    ]
    return ag.function(inputs, function(*inputs), threads=threads)


def best_times(functions: list[Function], values: list[Any]) -> list[float]:
    """Return the least time of a call of each function, in seconds; functions take turns."""
    best, calls = [float("inf")] * len(functions), []
    for f in functions:
        f(*values)
        start = time.perf_counter()
        f(*values)
        calls.append(max(1, int(LEAST / (time.perf_counter() - start + 1e-7))))
    for _ in range(ROUNDS):
        for k, f in enumerate(functions):
            forget(values)
            start = time.perf_counter()
            for _ in range(calls[k]):
                f(*values)
            best[k] = min(best[k], (time.perf_counter() - start) / calls[k])
    return best


def forget(values: list[Any]) -> None:
    """Have SciPy sort matrices in the format coo again."""
    for v in values:
        if getattr(v, "format", None) == "coo":
            v.has_canonical_format = False


def as_array(value: Any) -> np.ndarray:
    return value.toarray() if sp.issparse(value) else np.asarray(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--density", type=float, default=0.01)
    parser.add_argument("--only", default="", help="part of the names of the cases to run")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    print(f"{'case':16} {'SciPy us':>10} " + " ".join(f"{f'{n} thr. us':>11} {'ratio':>6}" for n in given.threads))
    for name, function, values in cases(rng, given.rows, given.density):
        if given.only not in name:
            continue
        ours = [compiled(function, values, threads) for threads in given.threads]
        theirs = function(*values)
        assert all(np.allclose(as_array(f(*values)), as_array(theirs)) for f in ours), name
        first, *times = best_times([function, *ours], values)
        shown = " ".join(f"{t * 1e6:11.1f} {t / first:6.2f}" for t in times)
        print(f"{name:16} {first * 1e6:10.1f} {shown}", flush=True)


if __name__ == "__main__":
    main()
