"""Deep, wide and shared graphs: everything that can be done with one, under a low recursion limit on a small stack."""

from __future__ import annotations

import copy
import gc
import pickle
import resource
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

import arignote as ag
from arignote import ops as T

from ..scorecard import Row, Trials

RECURSION_LIMIT = 200
STACK_BYTES = 256 << 10
_BAR_SECONDS = 60.0
_LINEAR = 12.0  # t(10 n) / t(n)


def chain(x: T.TensorVariable, nodes: int) -> T.TensorVariable:
    """Operation after operation, none of which can be dropped."""
    y = x
    for k in range(nodes):
        y = T.sqrt(T.abs(y)) if k % 7 == 3 else y + x if k % 2 else y * 0.5
    return y


def ladder(x: T.TensorVariable, nodes: int) -> T.TensorVariable:
    """Each rung uses the one below twice: twice as many paths with each, but as many nodes."""
    y = x
    for _ in range(nodes // 2):
        y = T.tanh(y) - y * 0.5
    return y


def fan(x: T.TensorVariable, nodes: int) -> T.TensorVariable:
    """One node with many operands."""
    return T.add(*(x * float(k % 13 + 1) for k in range(nodes)))


def everything(shape: Callable[[T.TensorVariable, int], T.TensorVariable], nodes: int) -> float:
    """Build, differentiate, rewrite, compile, run, print, pickle, copy, free; the seconds of processor time it took."""
    begun = _cpu_seconds()
    x = T.vector("x")
    y = shape(x, nodes)
    gradient = ag.grad(T.sum(y), x)
    f = ag.function([x], [y, gradient])
    given = np.linspace(0.5, 1.5, 3)
    values, slopes = f(given)
    step = 1e-6
    difference = (f(given + step)[0] - f(given - step)[0]) / (2 * step)
    if not (np.isfinite(values).all() and np.allclose(slopes, difference, rtol=1e-5, atol=1e-7)):
        raise AssertionError(f"the gradient is {slopes}, the difference {difference}")
    assert len(str(ag.FunctionGraph([x], [y]))) > nodes
    kept = pickle.loads(pickle.dumps(y))
    copied = copy.deepcopy(y)
    del y, gradient, f, kept, copied
    gc.collect()
    return _cpu_seconds() - begun


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def on_a_small_stack(work: Callable[[], float]) -> float | str:
    """Result of `work` in a thread of STACK_BYTES with RECURSION_LIMIT, or its exception."""
    results: list[float | str] = []

    def guarded() -> None:
        sys.setrecursionlimit(RECURSION_LIMIT)
        try:
            results.append(work())
        except BaseException as error:
            results.append(f"{type(error).__name__}: {error}"[:300])

    before = threading.stack_size(STACK_BYTES), sys.getrecursionlimit()
    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    threading.stack_size(before[0])
    sys.setrecursionlimit(before[1])
    return results[0]


def run(full: bool) -> list[Row]:
    trials = Trials("G21", f"graphs, all that is done with them, recursion limit {RECURSION_LIMIT}, 256 KiB stack")
    figures = []
    for shape, nodes in ((chain, 100_000), (ladder, 100_000), (fan, 100_000)):
        sizes = (nodes // 10, nodes) if full else (nodes // 200,)
        seconds = [on_a_small_stack(lambda n=n, s=shape: everything(s, n)) for n in sizes]
        name = shape.__name__
        for count, took in zip(sizes, seconds):
            trials.check(not isinstance(took, str), f"{name} of {count:,} nodes: {took}")
        if full and not any(isinstance(took, str) for took in seconds):
            few, many = map(float, seconds)
            trials.check(many <= _LINEAR * few, f"{name}: {many:.1f} s for {nodes:,}, {few:.1f} s for a tenth", 0)
            trials.check(many <= _BAR_SECONDS, f"{name} of {nodes:,} nodes: {many:.1f} s of processor time", 0)
            figures.append(f"{name} {nodes:,}: {many:.0f} s")
    return [trials.row("; ".join(figures))]
