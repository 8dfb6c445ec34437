"""The roofline of this machine: memory bandwidth and peak arithmetic, measured once and kept in the cache.

Best of several short runs, one thread a processor that this process may use, all at once: what the bars of a run
profile are held against (S. Williams, A. Waterman, D. Patterson: Roofline, CACM 52(4), 2009).
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...profiling import Roofline
from ...record.ending import interpreter_ends
from ...targets.processors import processors
from ..abi._abi import ffi
from ..abi.amalgamation import self_contained
from ..build.build import Library, build
from ..build.toolchain import Toolchain
from ..cache import machine
from ..cache.entry import Kind
from ..cache.store import Cache

RUNS = 5
ELEMENTS = 1 << 21
"""Elements of each array of the triad (float64): 48 MB for all three, more than the caches of one core."""
ROUNDS = 1000
"""Rounds of the peak loops: about 5 ms."""
TRIAD, FLOAT32, FLOAT64 = 1, 2, 3


def roofline(toolchain: Toolchain, cache: Cache) -> Roofline | None:
    """Return the roofline of this machine: from the cache, or measured, which takes 0.2 s.

    None if it is not in the cache and the interpreter is shutting down.

    Raises:
        CompileError: the toolchain fails.
    """
    threads = processors()
    text = self_contained(_SOURCE)
    parts = ("roofline", text, toolchain.fingerprint, machine.identity().hex(), str(threads))
    key = hashlib.sha256("\0".join(parts).encode()).digest()
    found = cache.load(Kind.RECORD, key)
    if found is not None:
        return Roofline(**json.loads(bytes(found)))
    if interpreter_ends():
        return None
    measured = measure(build(text, toolchain, cache), threads)
    cache.store(Kind.RECORD, key, json.dumps(measured.to_dict()).encode())
    return measured


_SOURCE = Path(__file__).parent.parent / "runtime" / "roofline.c"


def measure(library: Library, threads: int) -> Roofline:
    """Measure the roofline by `library` on this many threads."""
    rates = [_best_rate(_work(library, mode), threads) for mode in (TRIAD, FLOAT32, FLOAT64)]
    bandwidth, float32, float64 = (round(rate / 1e9, 3) for rate in rates)
    return Roofline(threads, bandwidth, float32, float64)


def _work(library: Library, mode: int) -> Callable[[], Callable[[], int]]:
    """Return a factory of the call that does a piece of work for a thread and returns its amount."""

    def prepared() -> Callable[[], int]:
        arrays = [np.ones(ELEMENTS if mode == TRIAD else 1) for _ in range(3)]
        call, lengths = ffi.new("ag_call *"), ffi.new("i64[]", [len(arrays[0])] * 3)
        data = ffi.new("void *[]", [ffi.from_buffer(a) for a in arrays])
        call.data, call.lengths, call.step, call.operand = data, lengths, mode, ROUNDS

        def run() -> int:
            assert data, arrays  # held as long as the call
            library.lib.ag_entry(call)
            return int(call.detail[0])

        return run

    return prepared


def _best_rate(prepared: Callable[[], Callable[[], int]], threads: int) -> float:
    """Return the work per second of all threads at once, in the best of several runs over the same arrays."""
    ready, rates = threading.Barrier(threads), [[0.0] * RUNS for _ in range(threads)]

    def one(rates: list[float]) -> None:
        run = prepared()
        run()
        for k in range(RUNS):
            ready.wait()
            begun = time.thread_time()  # of this thread alone: what else runs on the machine does not count
            done = run()
            rates[k] = done / max(time.thread_time() - begun, 1e-9)

    workers = [threading.Thread(target=one, args=(row,)) for row in rates]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return max(map(sum, zip(*rates, strict=True)))
