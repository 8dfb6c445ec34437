"""The run profile of a function on a device: one row per node, with its engine and copies, and two for all copies.

A profiled function waits for each node, so that each time is that of one node.  A loop waits for those of a few steps,
from which the rows of its body are estimated (profiling/bodies.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...cbackend.calls.profile_rows import word_of
from ...cbackend.program.program import Call, Host, Loop
from ...graph import FunctionGraph, Names
from ...graph.provenance import modules_of
from ...profiling import RunProfile, StepProfile
from ...profiling.bodies import BodyProfile, counters_of
from ...profiling.copies import Copies
from ...profiling.run import COLUMNS
from .memory import Traffic
from .schedule import LAUNCH, LOOP, SCALAR, VIEW, Schedule, Section
from .values import Values

_MEMORY = 5
"""Counters of memory after those of the rows; see RunProfile.attach."""
DIRECTIONS = ("to device", "to host")


class Rows:
    """The counters of the nodes of a function."""

    def __init__(self, profile: RunProfile, schedule: Schedule, engine: str, seconds: float) -> None:
        """`seconds`: the time of the compilation."""
        self._copies = [Copies() for _ in (*schedule.sections, *DIRECTIONS)]
        steps = _rows_of_nodes(schedule, engine, self._copies, COLUMNS * (len(self._copies) + 1))
        self._totals = self._copies[len(schedule.sections) :]
        steps += [
            StepProfile(text, "copy", op="copies", engine=engine, copies=copies)
            for text, copies in zip(DIRECTIONS, self._totals)
        ]
        counters = np.zeros(counters_of(steps) + _MEMORY, np.int64)
        self._counters = counters[: COLUMNS * len(steps)].reshape(-1, COLUMNS)
        self._profile = profile
        self.bodies: dict[int, BodyRows] = _bodies_of(steps, counters, profile)
        """The rows of the body of each loop, by the number of its node."""
        profile.begin(steps, seconds)
        profile.attach(counters)

    def measure(self, number: int, section: Section, values: Values, run: Callable[[], None]) -> None:
        """Run the steps of a node, wait for them, and add them to its row."""
        traffic = values.call.traffic
        before, start = traffic.now(), time.perf_counter()
        run()
        values.call.memory.finish()
        seconds = time.perf_counter() - start
        moved = _bytes(section, values)
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


class BodyRows:
    """The counters of the nodes of a loop's body: those of some steps, and the number of all."""

    def __init__(self, body: BodyProfile, counters: np.ndarray, profile: RunProfile) -> None:
        size = COLUMNS * (len(body.nodes) + 1)
        self._counters, self._profile = counters[body.at : body.at + size].reshape(-1, COLUMNS), profile
        self.bodies: dict[int, BodyRows] = _bodies_of(body.nodes, counters, profile)

    def measure(self, number: int, section: Section, values: Values, run: Callable[[], None]) -> None:
        """Run the steps of a node, wait for them, and add them to its row."""
        start = time.perf_counter()
        run()
        values.call.memory.finish()
        seconds = time.perf_counter() - start
        self._add(number, 1, int(1e9 * seconds), _bytes(section, values), 0)

    def measure_step(self, call: Any, run: Callable[[], None]) -> None:
        """Run a step of the loop whose nodes are measured."""
        call.memory.finish()
        call.rows, start = self, time.perf_counter()
        run()
        self._add(-1, 1, int(1e9 * (time.perf_counter() - start)), 0, 0)

    def count(self, steps: int) -> None:
        """Add the number of steps of a run of the loop."""
        self._add(-1, 0, 0, steps, 0)

    def _add(self, number: int, *row: int) -> None:
        if self._profile.warm_up[0] <= 0:
            self._counters[number] += row


def _bodies_of(steps: Sequence[StepProfile], counters: np.ndarray, profile: RunProfile) -> dict[int, BodyRows]:
    return {k: BodyRows(body, counters, profile) for k, step in enumerate(steps) for body in step.bodies}


def _rows_of_nodes(
    schedule: Schedule, engine: str, copies: Sequence[Copies | None], at: int
) -> list[StepProfile]:  # fmt: skip
    """Return the rows of the nodes; `at`: where the counters of their bodies begin."""
    names, found = Names(), []
    for section, own in zip(schedule.sections, copies):
        node, kind = section.placement.node, section.placement.kind
        text = f"{word_of(node.op)}({', '.join(names[i] for i in node.inputs)})"
        loops = [step for step in section.steps if isinstance(step, Loop)]
        bodies = tuple(_body(schedule.bodies[step.body], engine, at) for step in loops)
        at += sum(counters_of(body.nodes) for body in bodies)
        found.append(StepProfile(
            text, _kernel(section, schedule), tuple(map(str, node.origin)), op=type(node.op).__name__,
            dtype=node.outputs[0].dtype, reads=_inputs(section, schedule.program.graph, names), has_body=kind == LOOP,
            engine=engine if kind in (LAUNCH, LOOP, VIEW) else "numpy", copies=own, bodies=bodies,
            modules=modules_of(node.origin),
        ))  # fmt: skip
    return found


def _body(schedule: Schedule, engine: str, at: int) -> BodyProfile:
    count = len(schedule.sections)
    nodes = _rows_of_nodes(schedule, engine, [None] * count, at + COLUMNS * (count + 1))
    return BodyProfile("step", tuple(nodes), at)


def _inputs(section: Section, graph: FunctionGraph, names: Names) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names[v] for v in section.placement.node.inputs if v in graph.inputs))


def _kernel(section: Section, schedule: Schedule) -> str:
    """Return the kernels that run a node; for a loop those of its body."""
    placement = section.placement
    if placement.kind == LOOP:
        bodies = [schedule.bodies[step.body] for step in section.steps if isinstance(step, Loop)]
        kernels = (p.kernel.name for body in bodies for p in body.placements() if p.kernel is not None)
        return ", ".join(dict.fromkeys(kernels))
    return placement.kind if placement.kernel is None else placement.kernel.name


def _bytes(section: Section, values: Values) -> int:
    """Return the bytes that a node reads and writes, each array once; for a loop those of operands and results."""
    if section.placement.kind == SCALAR or not any(isinstance(step, (Call, Host, Loop)) for step in section.steps):
        return 0
    return sum(map(values.nbytes, dict.fromkeys((*section.operands, *section.results))))
