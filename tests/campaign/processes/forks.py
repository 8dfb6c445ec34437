"""fork and multiprocessing: children of a process that has computed in parallel call its functions, and end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable

import numpy as np

import arignote as ag
from arignote import ops as T

from ..scorecard import Row, Trials

_PATIENCE = 60.0  # seconds after which a child counts as hung; the bar is one second on a quiet machine
_RIGHT, _WRONG = 7, 8


def child_ends(work: Callable[[], bool]) -> tuple[bool, float]:
    """Whether a forked child ran `work` with success, and the seconds that it took."""
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        code = _WRONG
        try:
            code = _RIGHT if work() else _WRONG
        finally:
            os._exit(code)
    while time.monotonic() - begun < _PATIENCE:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status) == _RIGHT, time.monotonic() - begun
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False, time.monotonic() - begun


def calling(expression: Callable[..., T.TensorVariable]) -> Callable[[], bool]:
    """Calls of one function, compared with the first answer of the parent."""
    x, y = T.matrix("x"), T.matrix("y")
    f = ag.function([x, y], [T.exp(x) + y, expression(x, y)])
    a = np.random.default_rng(0).integers(-3, 4, (400, 400)).astype(float)
    wanted = f(a, a)
    return lambda: all(map(np.array_equal, f(a, a), wanted))


def fresh(number: int) -> Callable[[], bool]:
    """A compilation that nobody has done before."""

    def work() -> bool:
        x = T.vector("x")
        y = x
        for bit in f"{(time.time_ns() // 1000 + number) & 0xFFFF:b}":
            y = T.abs(y) + x if bit == "1" else T.sqrt(T.abs(y))
        return np.allclose(ag.function([x], y)(np.ones(3)), T.evaluate([y], {x: np.ones(3)})[0], rtol=1e-13)

    return work


def after_parallel_work(forks: int) -> Row:
    trials, slowest = Trials("G5", "children forked after a parallel product: they call it, and end"), 0.0
    work = calling(lambda x, y: x @ y)  # OpenBLAS shares it among threads
    for number in range(forks):
        passed, seconds = child_ends(work)
        slowest = max(slowest, seconds)
        trials.check(passed, f"fork {number}: hung or wrong after {seconds:.1f} s")
    return trials.row(f"slowest {slowest:.2f} s")


def during_other_threads(forks: int) -> Row:
    """Children forked while other threads call, allocate and compile; from a thread that is not the main one."""
    trials = Trials("G5", "children forked while threads call and compile: they do both, and end")
    work, stop = calling(lambda x, y: T.sum(T.sin(x), axis=0) - y), threading.Event()
    compile_once = fresh(os.getpid())

    def busy(step: Callable[[], bool]) -> None:
        while not stop.is_set():
            step()

    def fork() -> None:
        for number in range(forks):
            for task in (work, fresh(number)):
                passed, seconds = child_ends(task)
                trials.check(passed, f"fork {number}: hung or wrong after {seconds:.1f} s")

    threads = [threading.Thread(target=busy, args=(step,)) for step in (work, compile_once)]
    forking = threading.Thread(target=fork)
    for thread in (*threads, forking):
        thread.start()
    forking.join()
    stop.set()
    for thread in threads:
        thread.join()
    return trials.row()


def during_products(forks: int) -> Row:
    """Children forked while another thread is inside a matrix product that is shared among threads."""
    trials = Trials("G5", "children forked while a thread is inside a parallel product: they call it, and end")
    work, stop = calling(lambda x, y: x @ y), threading.Event()

    def busy() -> None:
        while not stop.is_set():
            work()

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for number in range(forks):
            passed, seconds = child_ends(work)
            trials.check(passed, f"fork {number}: hung or wrong after {seconds:.1f} s")
    finally:
        stop.set()
        thread.join()
    return trials.row()


def _in_worker(task: tuple[ag.Function, float]) -> float:
    function, value = task
    return float(function(np.full((300, 300), value))[0, 0])


def in_pools(tasks: int) -> Row:
    """A compiled function sent to the workers of multiprocessing, each way of starting them."""
    trials = Trials("G5", "multiprocessing by fork, spawn and forkserver, functions sent along")
    x = T.matrix("x")
    f = ag.function([x], x @ x + 1)
    f(np.ones((300, 300)))
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            found = pool.map_async(_in_worker, [(f, float(n)) for n in range(tasks)]).get(timeout=120)
        for n, value in enumerate(found):
            trials.check(value == 300.0 * n * n + 1, f"{method}: {value} for {n}")
    return trials.row()


def run(full: bool) -> list[Row]:
    # Python 3.12 warns of every fork of a process that has threads, which is what is tried here.
    warnings.simplefilter("ignore", DeprecationWarning)
    return [
        after_parallel_work(1000 if full else 30),
        during_products(400 if full else 10),
        during_other_threads(100 if full else 4),
        in_pools(50 if full else 4),
    ]
