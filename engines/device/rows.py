"""The run profile of a function on a device: one row per step, with its engine and copies, and two for all copies.

A profiled function waits for each step, so that each time is that of one step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph import FunctionGraph, Names
from ...profiling import RunProfile, StepProfile
from ...profiling.copies import Copies
from ...profiling.run import COLUMNS
from .memory import Traffic
from .program import Body, Launch, Length, Loop, Results, Scalar, Step, View, inner_steps, reads
from .values import Values

_MEMORY = 5
"""Counters of memory after those of the rows; see RunProfile.attach."""
DIRECTIONS = ("to device", "to host")


class Rows:
    """The counters of the steps of a function."""

    def __init__(self, profile: RunProfile, body: Body, engine: str, seconds: float) -> None:
        """`seconds`: the time of the compilation."""
        self._copies = [Copies() for _ in (*body.steps, *DIRECTIONS)]
        steps = _rows_of_steps(body, engine, self._copies)
        self._totals = self._copies[len(body.steps) :]
        steps += [
            StepProfile(text, "copy", op="copies", engine=engine, copies=copies)
            for text, copies in zip(DIRECTIONS, self._totals)
        ]
        counters = np.zeros(COLUMNS * (len(steps) + 1) + _MEMORY, np.int64)
        self._counters = counters[: COLUMNS * len(steps)].reshape(-1, COLUMNS)
        self._profile = profile
        profile.begin(steps, seconds)
        profile.attach(counters)

    def measure(self, number: int, step: Step, values: Values, run: Callable[[], None]) -> None:
        """Run a step, wait for it, and add it to its row."""
        traffic = values.call.traffic
        before, start = traffic.now(), time.perf_counter()
        run()
        values.call.memory.finish()
        seconds = time.perf_counter() - start
        moved = _bytes(step, values)
        self._add(number, before, traffic, seconds, moved)

    def add_rest(self, before: Any, traffic: Traffic) -> None:
        """Add copies outside steps, such as those of results."""
        self._add(None, before, traffic, 0.0, 0)

    def _add(self, number: int | None, before: Any, traffic: Traffic, seconds: float, moved: int) -> None:
        if self._profile.warm_up[0] > 0:
            return
        copied, spent = 0, 0.0
        for k, (then, now) in enumerate(zip(before, traffic.now())):
            count, size, duration = (b - a for a, b in zip(then, now))
            if count:
                self._totals[k].add(int(size), duration)
                self._counters[k - len(DIRECTIONS)] += int(count), int(1e9 * duration), int(size), 0
            copied, spent = copied + int(size), spent + duration
        if number is not None:
            self._counters[number] += 1, int(1e9 * max(seconds - spent, 0.0)), moved, 0
            self._copies[number].add(copied, spent)


def _rows_of_steps(body: Body, engine: str, copies: list[Copies]) -> list[StepProfile]:
    names = Names()
    return [
        StepProfile(
            f"{step.node.op.name}({', '.join(names[i] for i in step.node.inputs)})", _kernel(step),
            tuple(map(str, step.node.origin)), op=type(step.node.op).__name__, dtype=step.node.outputs[0].dtype,
            reads=_inputs(step, body.graph, names), has_body=isinstance(step, Loop),
            engine=engine if isinstance(step, (Launch, Loop, View)) else "numpy", copies=own,
        )
        for step, own in zip(body.steps, copies)
    ]  # fmt: skip


def _inputs(step: Step, graph: FunctionGraph, names: Names) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names[v] for v in reads(step) if v in graph.inputs))


def _kernel(step: Step) -> str:
    """Return the kernels that run a step; for a loop those of its body."""
    if isinstance(step, Loop):
        return ", ".join(dict.fromkeys(_kernel(s) for s in inner_steps(step.body.steps) if isinstance(s, Launch)))
    return step.kernel.name if isinstance(step, Launch) else type(step).__name__.lower()


def _bytes(step: Step, values: Values) -> int:
    """Return the bytes that a step reads and writes, each array once; for a loop those of operands and results."""
    if isinstance(step, (View, Length, Scalar, Results)):
        return 0
    arrays = [values.anywhere(v) for v in dict.fromkeys((*step.node.inputs, *step.node.outputs))]
    return sum(math.prod(a.shape) * a.dtype.itemsize for a in arrays)
