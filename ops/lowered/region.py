"""`region`: a part of a graph that another engine runs, made by the pass `partition`.

Its meaning is that of the graph inside.  The layer above the engines compiles it and attaches the result; a region
without one is evaluated by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Lacks
from ...graph.fgraph import FunctionGraph
from ...record import record
from ...record.cached import cached_property
from .fused import GraphOp

Run = Callable[..., Sequence[np.ndarray]]


@record(repr=False)
class Region(GraphOp):
    """`graph` run by `engine`, with at most `threads` threads (None: as many as the process has processors)."""

    graph: FunctionGraph
    engine: str
    threads: int | None = None
    name = "region"
    lacks: ClassVar[Lacks] = Lacks(
        picture="it has the colour of its engine",
        planner="another engine runs it, as a host step",
        work="another engine runs it, as a host step",
    )

    @property
    def fallible(self) -> bool:  # type: ignore[override]
        """True: an engine can run out of memory or lose its device."""
        return True

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        run = self.run
        return super().evaluate(*values) if run is None else tuple(run(*values))

    @cached_property
    def run(self) -> Run | None:
        """The compiled region; None before `attach`, and in copies."""
        return None

    def attach(self, run: Run) -> None:
        """Let `run` compute this region as long as this op lives."""
        self.__dict__["run"] = run

    def __reduce__(self) -> Any:
        return Region, (self.graph, self.engine, self.threads)


def regions_of(graph: FunctionGraph) -> list[Region]:
    """The regions of a graph, in order."""
    return [node.op for node in graph.order if isinstance(node.op, Region)]
