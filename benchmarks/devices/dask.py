"""Functions over Dask arrays: cost of a block, speed of two workers, and `dask.array` with NumPy beside them.

    python -m benchmarks.devices.dask
    python -m benchmarks.devices.dask --gigabytes 8 --persisted 2 --dtype float32

The first table has the time of a task of a tiny block, beside Dask's own task.  The second has one step of logistic
regression (mean loss and its gradient) over chunks that lie on the workers, and over chunks that are generated when
they are read and never all there: random numbers, or 1,000 random rows again and again, which cost less than the
step.  `generation` reads one element of each chunk; `a loop` is the compiled function in
one task a worker, so that its row has the speed of the machine.  All ways are timed in turn, and the table has the best
of each.  `share` is the speed of both workers as a part of the sum of their single speeds.  `CPU share` is the same by
processor time, that of client and scheduler included: the share on processors that nobody else uses.  `peak` is the
most memory that a worker has in a step by both.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, futures_of, wait

import arignote as ag
from arignote import ops as T

COLUMNS = 20


def step(dtype: str, **options: Any) -> Any:
    """Mean loss and gradient of logistic regression."""
    x, y, w = T.matrix("x", dtype=dtype), T.vector("y", dtype=dtype), T.vector("w", dtype=dtype)
    p = T.sigmoid(x @ w)
    loss = -(y * T.log(p) + (1 - y) * T.log(1 - p)).mean()
    return ag.function([x, y, w], [loss, ag.grad(loss, w)], name="step", **options)


def step_of_dask(x: Any, y: Any, w: np.ndarray) -> list[Any]:
    """The same as `step`, in dask.array."""
    p = 1 / (1 + da.exp(-(x @ w)))
    return [-(y * da.log(p) + (1 - y) * da.log(1 - p)).mean(), x.T @ (p - y) / len(x)]


def rows(rows: int, distinct: int, dtype: str, block_id: Any = None) -> np.ndarray:
    """A chunk of `distinct` rows of uniform random numbers, repeated; those of the second class are shifted."""
    drawn = np.random.default_rng(block_id[0]).random((distinct, COLUMNS), dtype)
    drawn[1::2, 0] += 0.5
    return drawn if distinct == rows else np.tile(drawn, (rows // distinct, 1))


def labels(rows: int, dtype: str) -> np.ndarray:
    """A chunk of classes: 0, 1, 0, 1, and so on."""
    found = np.zeros(rows, dtype)
    found[1::2] = 1
    return found


def generated(blocks: int, length: int, distinct: int, dtype: str) -> tuple[Any, Any]:
    """Rows and labels that tasks generate."""
    chunks, empty = (length,) * blocks, np.empty((0, 0), dtype)
    x = da.map_blocks(rows, length, distinct, dtype, chunks=(chunks, (COLUMNS,)), dtype=dtype, meta=empty)
    return x, da.map_blocks(labels, length, dtype, chunks=(chunks,), dtype=dtype, meta=np.empty(0, dtype))


def one_each(x: Any) -> Any:
    """One element of each chunk, by one task a chunk."""
    return x.map_blocks(_first, chunks=(1, 1), dtype=x.dtype, meta=np.empty((0, 0), x.dtype))


def _first(block: np.ndarray) -> np.ndarray:
    return block[:1, :1].copy()


def timed(ways: Mapping[Hashable, Callable[[], Any]], repeats: int) -> dict[Any, float]:
    """The best seconds of each way, called in turn."""
    best = dict.fromkeys(ways, float("inf"))
    for turn in range(repeats + 1):
        for name, way in ways.items():
            begun = time.perf_counter()
            way()
            if turn:
                best[name] = min(best[name], time.perf_counter() - begun)
    return best


def overhead(client: Any, blocks: int, repeats: int) -> None:
    """Print the cost of a task on a worker."""
    (worker,) = list(client.scheduler_info()["workers"])[:1]
    x = da.ones((blocks, 1), chunks=(1, 1)).persist(workers=[worker])
    wait(x)
    v = T.matrix("v")
    f = ag.function([v], v + 1, engine="dask", name="increment")

    def run(made: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: wait(client.persist(made(), workers=[worker]))

    ways = {"dask": run(lambda: x.map_blocks(_first, dtype="float64")), "arignote": run(lambda: f(x))}
    best = timed(ways, repeats)
    print(f"{blocks} tiny blocks on one worker, ms a block")
    for name, seconds in best.items():
        print(f"  {name:12} {1e3 * seconds / blocks:6.3f}")
    print(f"  {'difference':12} {1e3 * (best['arignote'] - best['dask']) / blocks:6.3f}\n", flush=True)


def looped(f: Any, w: np.ndarray, chunks: list[Any]) -> list[Any]:
    """The step over chunks, or over those that are made of (rows, distinct rows, dtype, number), without Dask."""
    total = [0.0, np.zeros_like(w)]
    for chunk in chunks:
        x, y = (rows(*chunk[:3], chunk[3:]), labels(chunk[0], chunk[2])) if isinstance(chunk[0], int) else chunk
        total = [t + part for t, part in zip(total, f(x, y, w), strict=True)]
    return [t / len(chunks) for t in total]


def forget_peak() -> None:
    """Let the peak of this process's memory begin anew (Linux)."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def peak() -> float:
    """The most memory that this process has had, in GB."""
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e9


def chunks_of(x: Any, y: Any) -> list[Any]:
    """The futures of the chunks of persisted rows and labels."""
    blocks = zip(futures_of(x), futures_of(y), strict=True)
    return [list(pair) for pair in blocks]


class Regression:
    """Steps by worker 0, by worker 1, and by both, each on its rows and labels."""

    def __init__(self, client: Any, arrays: Mapping[str, Any], chunks: Mapping[str, list[Any]]) -> None:
        self.client, self.arrays, self.chunks = client, arrays, chunks
        first, second = client.scheduler_info()["workers"]
        self.workers: dict[str, Any] = {"0": [first], "1": [second], "both": None}
        """For each way the only worker, or None: the scheduler distributes root tasks only where it is free to."""
        self.dtype = arrays["0"][0].dtype.name
        self.w = np.full(COLUMNS, 0.1, self.dtype)
        self.plain = client.scatter(step(self.dtype, threads=1), broadcast=True)
        on_dask = step(self.dtype, engine="dask")
        self.ways = {"generation": lambda x, y, w: [one_each(x)], "arignote": on_dask, "dask.array": step_of_dask}

    def run(self, way: str, on: str) -> Any:
        """The results of one step; "a loop" makes one task a worker, so its speed is that of the machine."""
        client = self.client
        if way != "a loop":
            return client.gather(client.compute(self.ways[way](*self.arrays[on], self.w), workers=self.workers[on]))
        parts = ["0", "1"] if on == "both" else [on]
        made = [(self.plain, self.w, self.chunks[part]) for part in parts]
        found = [
            client.submit(looped, *given, workers=self.workers[part], pure=False)
            for given, part in zip(made, parts, strict=True)
        ]
        return client.gather(found)[0]

    def processor_time(self, way: str, on: str) -> float:
        """Seconds of processors that a step takes: of the worker alone, or of both, the client and the scheduler."""
        before, mine = self.client.run(time.process_time, workers=self.workers[on]), time.process_time()
        self.run(way, on)
        mine = time.process_time() - mine
        after = self.client.run(time.process_time, workers=self.workers[on])
        return sum(after.values()) - sum(before.values()) + (mine if on == "both" else 0)

    def peak(self, way: str) -> float:
        """The most memory of a worker in a step by both, in GB."""
        self.client.run(forget_peak)
        self.run(way, "both")
        return max(self.client.run(peak).values())

    def show(self, gigabytes: float, repeats: int) -> None:
        """Print the times of all ways."""
        for mine, other in zip(self.run("arignote", "both"), self.run("dask.array", "both"), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-5)
        ways = ("generation", "a loop", "arignote", "dask.array")
        best = timed({(way, on): partial(self.run, way, on) for way in ways for on in self.workers}, repeats)
        heads = ("worker 0", "worker 1", "both", "GB/s", "share", "CPU share", "faster", "peak")
        print(f"  {'way':12}" + "".join(f"{head:>10}" for head in heads))
        for way in ways:
            one, two, both = (best[way, on] for on in self.workers)
            cpu = {on: min(self.processor_time(way, on) for _ in range(repeats)) for on in self.workers}
            share, of_cpu = (1 / both) / (0.5 / one + 0.5 / two), (cpu["0"] + cpu["1"]) / cpu["both"]
            faster = best["dask.array", "both"] / both
            print(
                f"  {way:12}{one:9.3f}s{two:9.3f}s{both:9.3f}s{gigabytes / both:10.2f}{share:10.2f}{of_cpu:10.2f}"
                f"{faster:9.2f}x{self.peak(way):8.2f}GB"
            )
        print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.devices.dask", description=__doc__.split("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=8, help="size of the data that is generated")
    parser.add_argument("--persisted", type=float, default=1, help="size of the data that lies on workers")
    parser.add_argument("--rows", type=int, default=500_000, help="rows of a block, a multiple of 1000")
    parser.add_argument("--dtype", nargs="*", default=["float64"])
    parser.add_argument("--blocks", type=int, default=500, help="number of tiny blocks")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "memory_limit": "8GB"}
    with (
        dask.config.set({"logging.distributed": "error"}),
        LocalCluster(**options) as cluster,
        Client(cluster) as client,
    ):
        overhead(client, arguments.blocks, arguments.repeats)
        for dtype in arguments.dtype:
            block = arguments.rows * COLUMNS * np.dtype(dtype).itemsize / 1e9
            workers = list(client.scheduler_info()["workers"])
            for where, size, distinct in (
                ("on the workers", arguments.persisted, arguments.rows),
                ("generated", arguments.gigabytes, arguments.rows),
                ("repeated", arguments.gigabytes, 1000),
            ):
                count = max(1, round(size / 2 / block))
                counts = {"0": count, "1": count, "both": 2 * count}
                arrays = {on: generated(n, arguments.rows, distinct, dtype) for on, n in counts.items()}
                chunks: Any = [(arguments.rows, distinct, dtype, k) for k in range(count)]
                chunks = {"0": chunks, "1": chunks}
                if where == "on the workers":
                    places = {"0": workers[:1], "1": workers[1:], "both": workers}
                    arrays = {on: client.persist(list(a), workers=places[on]) for on, a in arrays.items()}
                    wait(list(arrays.values()))
                    chunks = {on: chunks_of(*arrays[on]) for on in "01"}
                made = 2 * count * block
                print(f"{made:.1f} GB {where}, {dtype}, {2 * count} blocks of {arguments.rows} rows")
                Regression(client, arrays, chunks).show(made, arguments.repeats)
                del arrays, chunks


if __name__ == "__main__":
    main()
