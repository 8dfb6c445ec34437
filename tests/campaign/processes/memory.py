"""Exhausted memory: the right answer or MemoryError, the function as good as before, nothing kept."""

from __future__ import annotations

import os
import resource
import tempfile
from pathlib import Path

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.cbackend.calls.outputs import BLOCKS

from ..scorecard import Row, Trials

_MIB = 1 << 20
_STATM = Path("/proc/self/statm")


def mapped() -> int:
    """The bytes of address space in use."""
    return int(_STATM.read_text().split()[0]) * resource.getpagesize()


def resident() -> int:
    """The bytes of memory in use."""
    return int(_STATM.read_text().split()[1]) * resource.getpagesize()


def sweep(steps: int) -> Row:
    """A call that needs about 60 MiB, with room for more and more."""
    trials = Trials("G9", "calls under limits of address space: the right answer or MemoryError")
    x, y = T.matrix("x"), T.matrix("y")
    products = x @ y
    f = ag.function([x, y], [T.exp(products) @ y, T.concatenate([x, y]), T.cumsum(products, axis=0)], name="hungry")
    a = np.eye(1200)
    wanted = f(a, a)
    refused = 0
    for step in range(steps):
        found = wanted
        BLOCKS.release()  # no memory of earlier results to lie in
        limit = mapped() + 100 * _MIB * step // steps
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        try:
            found = f(a, a)
        except MemoryError:
            refused, found = refused + 1, wanted
        except BaseException as error:
            trials.check(False, f"step {step}: {type(error).__name__}: {error}")
            continue
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        trials.check(all(map(np.array_equal, found, wanted)), f"step {step}: wrong answer")
        trials.check(all(map(np.array_equal, f(a, a), wanted)), f"after step {step}: wrong answer")
    trials.check(refused > 0, "no limit was low enough to refuse a call")
    return trials.row(f"{refused} of {steps} refused")


def failing_calls(rounds: int) -> Row:
    """Calls that end in an error after they have allocated: what they took is given back."""
    trials = Trials("G9", "failing calls: growth of memory, at most 1 MiB in all")
    x, y, i = T.vector("x"), T.vector("y"), T.lscalar("i")
    lengths = ag.function([x, y], T.sum(T.exp(x)) + T.exp(x) + y)
    index = ag.function([x, i], T.cumsum(x)[i])
    a, b = np.ones(1000), np.ones(7)

    def fail() -> None:
        for f, arguments in ((lengths, (a, b)), (index, (a, 2000)), (lengths, ("no", b))):
            try:
                f(*arguments)
            except (ValueError, IndexError, TypeError):
                continue
            trials.check(False, "no error")

    for _ in range(500):
        fail()
    before = resident()
    for _ in range(rounds):
        fail()
    grown = resident() - before
    trials.check(grown <= _MIB, f"{grown / _MIB:.2f} MiB after {3 * rounds} calls", 3 * rounds)
    return trials.row(f"{grown / _MIB:.2f} MiB")


def run(full: bool) -> list[Row]:
    os.chdir(tempfile.gettempdir())
    return [sweep(40 if full else 10), failing_calls(10_000 if full else 500)]
