"""Profiles inside loops and branches: the nodes of a body, from counters that hold a sample of its steps.

A clock takes as long as a small kernel, so the C times some steps of a body and counts all of them.  The figures here
are those of all steps: counts grow by the part that was timed, and times share what the node around the body took.
The time of the clocks shows as the difference between steps with and without them, and is subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..record import record

if TYPE_CHECKING:
    from .run import StepProfile

COLUMNS = 4
"""Numbers of each node: runs, ticks, bytes, operations; of a body: timed steps, ticks, steps, wait."""


Bodies = tuple["BodyProfile", ...]
CLOCK_SECONDS = 20e-9
"""The most that reading a clock and counting may take."""
AROUND = "around the nodes of its body"
"""The kernel of a loop that is shown beside the nodes of its body."""


@record
class BodyProfile:
    """One body of a loop or a choice: `title` is "step" for a loop, "then" or "otherwise" for a branch.

    `nodes` are those that ran, the slowest first; their figures are estimates from `timed` of the `steps`.
    """

    title: str
    nodes: tuple[StepProfile, ...] = ()
    at: int = 0
    """Position of its counters."""
    steps: int = 0
    timed: int = 0
    seconds: float = 0.0
    """Time of all steps, the work around the nodes included."""

    @property
    def node_seconds(self) -> float:
        """The time of its nodes; the rest of `seconds` goes by around them."""
        return sum(node.seconds for node in self.nodes)

    def to_dict(self) -> dict[str, Any]:
        """The body as plain data, its nodes by `StepProfile.to_dict`."""
        return {
            "title": self.title, "steps": self.steps, "timed": self.timed, "seconds": self.seconds,
            "nodes": [node.to_dict() for node in self.nodes],
        }  # fmt: skip


def measured(step: StepProfile, counters: np.ndarray, ticks: float, tick: float, weight: float = 1.0) -> Bodies:
    """Return the bodies of a node that took `ticks` altogether, of `tick` seconds each.

    `weight`: how many runs of the node one counted run stands for.
    """
    samples = [_Sample(body, counters, weight) for body in step.bodies]
    total = sum(sample.ticks for sample in samples)
    scale = ticks / total if total else 0.0
    return tuple(sample.body_profile(counters, scale * sample.ticks, tick) for sample in samples)


class _Sample:
    """Counters of a body.  `factor`: the runs that one timed run stands for; `ticks`: the estimate for all steps."""

    def __init__(self, body: BodyProfile, counters: np.ndarray, weight: float) -> None:
        rows = counters[body.at : body.at + COLUMNS * (len(body.nodes) + 1)].reshape(-1, COLUMNS)
        timed, ticks, steps, _ = rows[-1].tolist()
        self.body, self.rows = body, rows[:-1]
        self.steps, self.timed = round(steps * weight), timed
        self.factor = weight * steps / timed if timed else 0.0
        self.ticks = ticks * self.factor

    def body_profile(self, counters: np.ndarray, expected: float, tick: float) -> BodyProfile:
        """Return the profile of all steps, which took `expected` ticks in fact."""
        found = []
        took = self._without_clocks(expected, CLOCK_SECONDS / tick)
        for node, (runs, _, moved, flops), ticks in zip(self.body.nodes, self.rows.tolist(), took, strict=True):
            if runs:
                f = self.factor
                found.append(replace(
                    node, calls=round(runs * f), seconds=ticks * tick, bytes=round(moved * f), flops=round(flops * f),
                    bodies=measured(node, counters, ticks, tick, f),
                ))  # fmt: skip
        nodes = tuple(sorted(found, key=lambda node: -node.seconds))
        return replace(self.body, nodes=nodes, steps=self.steps, timed=self.timed, seconds=expected * tick)

    def _without_clocks(self, expected: float, most: float) -> list[float]:
        """Return the ticks of each node in all steps.

        Clocks took what steps with them took beyond `expected`, at most `most` ticks a reading.  What all steps took
        beyond those with clocks, such as interruptions, hit each node in proportion to its time.
        """
        runs, ticks = self.rows[:, 0] * self.factor, self.rows[:, 1] * self.factor
        each = min((self.ticks - expected) / max(runs.sum() + self.steps, 1), most)
        ticks = np.maximum(ticks - runs * max(each, 0.0), ticks / 4)
        if 0 < self.ticks < expected:
            ticks *= expected / self.ticks
        total = float(ticks.sum())
        return (ticks * min(1.0, expected / total) if total else ticks).tolist()  # type: ignore[no-any-return]


def entered(steps: Iterable[StepProfile]) -> Iterator[StepProfile]:
    """Yield the nodes with those of bodies in the place of loops and choices.

    What goes by around the nodes of a body is left to the loop, so seconds add up.
    """
    stack = list(steps)[::-1]
    while stack:
        step = stack.pop()
        inner = [node for body in step.bodies for node in body.nodes]
        if inner:
            rest = max(step.seconds - sum(node.seconds for node in inner), 0.0)
            yield replace(step, kernel=AROUND, seconds=rest, bytes=0, flops=0, bodies=())
            stack += inner[::-1]
        else:
            yield step


def counters_of(steps: Sequence[StepProfile]) -> int:
    """Return how many numbers are kept for nodes, for the whole that they belong to, and for their bodies."""
    bodies = [body for step in steps for body in step.bodies]
    return COLUMNS * (len(steps) + 1) + sum(counters_of(body.nodes) for body in bodies)
