"""Threads: many that call one function at a time, and many that compile the same functions and different ones."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

import arignote as ag
from arignote import ops as T

from ..scorecard import Row, Trials

CALLERS, COMPILERS = 8, 16
_SWITCH_SECONDS = 1e-6  # Python hands the lock on as often as it can

_fresh = itertools.count(time.time_ns())


def in_threads(count: int, work: Callable[[int], None]) -> list[str]:
    """Faults in `count` threads that start at the same time."""
    errors: list[str] = []
    start = threading.Barrier(count)

    def guarded(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(f"thread {number}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def calls(rounds: int) -> Row:
    """Each thread has its own numbers, and lengths that change, so that guesses of one are wrong for the next."""
    trials = Trials("G3", f"calls of one function from {CALLERS} threads at a time: right answers")
    x, y = T.vector("x"), T.matrix("y")
    f = ag.function([x, y], [x * 2 + 1, T.sum(y, axis=0), T.concatenate([x, x[x.shape[0] // 2 :]]), y @ y.T])

    def work(number: int) -> None:
        for turn in range(rounds):
            n = 1 + (turn + number) % 9
            a, b = np.full(n, float(number)), np.full((n, 3), float(number))
            doubled, summed, joined, product = f(a, b)
            right = (
                np.array_equal(doubled, 2 * a + 1) and np.array_equal(summed, b.sum(0))
                and np.array_equal(joined, np.full(n + n - n // 2, float(number)))
                and np.array_equal(product, b @ b.T)
            )  # fmt: skip
            if not right:
                raise AssertionError(f"wrong answer in round {turn}")

    errors = in_threads(CALLERS, work)
    trials.check(not errors, "; ".join(errors[:3]), CALLERS * rounds)
    return trials.row()


def updates(rounds: int, mode: str) -> Row:
    """A counter, a vector and what depends on both, overwritten in place or, in mode FAST_COMPILE, replaced."""
    trials = Trials("G3", f"updates from {CALLERS} threads at a time, {mode}: none lost or torn")
    count, total = ag.shared(np.zeros(5), name="count"), ag.shared(np.zeros(5), name="total")
    x = T.vector("x")
    f = ag.function([x], None, updates=[(count, count + 1), (total, total + x * 2)], mode=mode)
    ones = np.ones(5)
    errors = in_threads(CALLERS, lambda _: [f(ones) for _ in range(rounds)] and None)
    right = CALLERS * rounds
    trials.check(not errors, "; ".join(errors[:3]), right)
    counted, summed = count.get_value(), total.get_value()
    trials.check(np.array_equal(counted, np.full(5, float(right))), f"counted {counted}, not {right}")
    trials.check(np.array_equal(summed, np.full(5, 2.0 * right)), f"total {summed}, not {2 * right}")
    return trials.row()


def compilations(rounds: int) -> Row:
    """In each round every thread compiles one function that all compile and one of its own, neither seen before."""
    trials = Trials("G4", f"compilations by {COMPILERS} threads at a time, of equal and different graphs")
    for _ in range(rounds):
        base = next(_fresh)

        def work(number: int, base: int = base) -> None:
            x = T.vector("x")
            for kind in (0, 1 + number):
                f = ag.function([x], _chain(x, base, kind))
                (wanted,) = T.evaluate([_chain(x, base, kind)], {x: np.arange(4.0)})
                if not np.allclose(f(np.arange(4.0)), wanted, rtol=1e-13):
                    raise AssertionError(f"wrong answer of graph {kind}")

        errors = in_threads(COMPILERS, work)
        trials.check(not errors, "; ".join(errors[:3]), 2 * COMPILERS)
    return trials.row()


def _chain(x: T.TensorVariable, base: int, kind: int) -> T.TensorVariable:
    """An expression whose text is another for every `base` and `kind`: their bits choose the operations."""
    for bit in f"{base & 0xFFF:b}{kind:05b}":
        x = T.sqrt(T.abs(x)) if bit == "1" else T.abs(x) + x
    return x


def run(full: bool) -> list[Row]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        rows = [calls(1_000_000 if full else 1_000)]
        rows += [updates(125_000 if full else 1_000, mode) for mode in ("FAST_RUN", "FAST_COMPILE")]
    finally:
        sys.setswitchinterval(before)
    return [*rows, compilations(10 if full else 1)]
