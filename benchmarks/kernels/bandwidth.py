"""Memory bandwidth: memory-bound functions beside a plain triad in C, compiled and run in the same process.

    python -m benchmarks.kernels.bandwidth             one thread and two
    python -m benchmarks.kernels.bandwidth stencil     the rows whose names have this in them

A row tells the bytes that must move at the least, divided by the time of a call, and what share this is of the rate of
`a[i] = b[i] + 3 * c[i]` over as many bytes on as many threads.  Both take turns; the best round of each counts.  On a
machine with other work: `chrt -f 1 python -m benchmarks.kernels.bandwidth`.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

from .. import formulas
from ..peers.arignote import NAMES

ROUNDS = 15
TRIAD = """\
void triad(long n, double *restrict a, const double *restrict b, const double *restrict c)
{
    for (long i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
}
"""


@dataclass(frozen=True)
class Row:
    """One function to measure; `moved` counts the elements that are read and written."""

    name: str
    formula: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    moved: int
    dtype: str = "float64"
    order: str = "C"


ROWS = (
    Row("2.5*x+y, 1e7", lambda x, y: 2.5 * x + y, ((10**7,),) * 2, 3 * 10**7),
    Row("2.5*x+y, 1e6", lambda x, y: 2.5 * x + y, ((10**6,),) * 2, 3 * 10**6),
    Row("2.5*x+y, 3000x3000 by columns", lambda x, y: 2.5 * x + y, ((3000, 3000),) * 2, 27 * 10**6, order="F"),
    Row("x.T+y, 3000x3000", lambda x, y: x.T + y, ((3000, 3000),) * 2, 27 * 10**6),
    Row("(x*x).sum(0), 3000x3000", lambda x: (x * x).sum(0), ((3000, 3000),), 9 * 10**6),
    Row("(x*x).sum(1), 3000x3000", lambda x: (x * x).sum(1), ((3000, 3000),), 9 * 10**6),
    Row("stencil, 1500x1500", lambda x: formulas.stencil(NAMES, x), ((1500, 1500),), 2 * 1500**2),
    Row("stencil, 5000x5000", lambda x: formulas.stencil(NAMES, x), ((5000, 5000),), 2 * 5000**2),
    Row("Adam, 1e6", lambda *s: formulas.adam(NAMES, *s), ((10**6,),) * 4, 7 * 10**6, "float32"),
    Row("Adam, 1e7", lambda *s: formulas.adam(NAMES, *s), ((10**7,),) * 4, 7 * 10**7, "float32"),
    Row("concatenate((x, 2*y)), 5e6", lambda x, y: T.concatenate([x, 2 * y]), ((5 * 10**6,),) * 2, 2 * 10**7),
    Row("softmax, 2048x1000", T.nn.softmax, ((2048, 1000),), 2 * 2_048_000, "float32"),
)


def compiled_triad(folder: str) -> Any:
    """The triad, as good as gcc makes it for this machine."""
    source, library = Path(folder, "triad.c"), Path(folder, "triad.so")
    source.write_text(TRIAD)
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).triad
    function.argtypes = [ctypes.c_long] + 3 * [ctypes.c_void_p]
    return function


class Triad:
    """Runs of the triad over `size` bytes in all, a share of them on each thread."""

    def __init__(self, function: Any, size: int, threads: int) -> None:
        self.function, self.threads, self.n = function, threads, size // 24 // threads
        self.arrays = [np.random.default_rng(0).random((3, self.n)) for _ in range(threads)]
        self.calls = 1 + 10**8 // size

    def seconds(self) -> float:
        """Of one pass, over the bytes that were asked for."""
        ready, ended = threading.Barrier(self.threads + 1), threading.Barrier(self.threads + 1)

        def work(arrays: np.ndarray) -> None:
            pointers = [a.ctypes.data for a in arrays]
            ready.wait()
            for _ in range(self.calls):
                self.function(self.n, *pointers)
            ended.wait()

        for arrays in self.arrays:
            threading.Thread(target=work, args=(arrays,)).start()
        ready.wait()
        start = time.perf_counter()
        ended.wait()
        return (time.perf_counter() - start) / self.calls


def measured(row: Row, threads: int, function: Any) -> tuple[float, float]:
    """Gigabytes a second of the row and of the triad."""
    size = row.moved * np.dtype(row.dtype).itemsize
    rng = np.random.default_rng(0)
    arrays = [np.array(rng.uniform(0.5, 1, shape), row.dtype, order=row.order) for shape in row.shapes]  # type: ignore[call-overload]
    variables = [T.tensor(dtype=row.dtype, shape=(None,) * a.ndim) for a in arrays]
    outputs = row.formula(*variables)
    call = ag.function(variables, list(outputs) if isinstance(outputs, tuple) else outputs, threads=threads)
    triad = Triad(function, size, threads)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(triad.calls):
            call(*arrays)
        times[0].append((time.perf_counter() - start) / triad.calls)
        times[1].append(triad.seconds())
    return size / min(times[0]) / 1e9, size / min(times[1]) / 1e9


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory() as folder:
        function = compiled_triad(folder)
        print("| | one thread | triad | share | two threads | triad | share |\n|---|---|---|---|---|---|---|")
        for row in ROWS:
            if part in row.name:
                cells = []
                for threads in (1, 2):
                    ours, triad = measured(row, threads, function)
                    cells.append(f"{ours:.1f} | {triad:.1f} | {ours / triad:.0%}")
                print(f"| {row.name}, {row.dtype} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
