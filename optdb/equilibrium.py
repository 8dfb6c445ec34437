"""Rules and optimizers applied in passes until nothing changes.

A pass: the optimizers in order of registration, the sweep of the rules, the final optimizers; the cleanup optimizers
after each of them that changed something.  A MergeOptimizer among these is done by the sweep itself, node by node.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from ..graph import Door, FunctionGraph
from ..profiling import EquilibriumProfile, OptimizerProfile, PassProfile
from ..record import record
from .applier import Applier, Divergence, Failures
from .conform import Conform
from .optimizers import MergeOptimizer, Optimizer, Result, attempted, node_limit, ordered
from .rule import Rule
from .sweep import MERGE, Sweep


@record(kw_only=True)
class EquilibriumOptimizer(Optimizer):
    """Rules and optimizers until a fixed point, or a limit on passes, new nodes or seconds.

    Rules of one walk that undo one another, and passes that come back to an earlier graph, are a Divergence: an error
    if `strict`, else a warning and the end of it.
    """

    rules: tuple[Rule, ...] = ()
    optimizers: tuple[Optimizer, ...] = ()
    final: tuple[Optimizer, ...] = ()
    cleanup: tuple[Optimizer, ...] = ()
    conform: Conform | None = None
    max_rounds: int = 100
    max_nodes: int | None = None
    """New nodes; None: 10,000 and twenty times the size of the graph."""
    max_seconds: float | None = None

    def optimize(self, graph: FunctionGraph, door: Door) -> Result:
        run = _Run(self, graph, door)
        while run.stop is None:
            graph = run.round(graph)
        return graph, run.profile(graph)


class _Run:
    """One run of an equilibrium: its sweep, its passes so far, and why it stopped."""

    def __init__(self, options: EquilibriumOptimizer, graph: FunctionGraph, door: Door) -> None:
        self.options = options
        self.door = door
        self.failures = Failures(options.strict)
        self.sweep = Sweep(
            Applier(options.rules, door, options.conform, self.failures),
            merging=any(isinstance(c, MergeOptimizer) for c in options.cleanup),
            max_nodes=node_limit(len(graph)) if options.max_nodes is None else options.max_nodes,
            deadline=None if options.max_seconds is None else time.perf_counter() + options.max_seconds,
        )
        merges = [self.sweep.merge] if self.sweep.merging else []
        self.tallies = [*self.sweep.applier.tallies, *merges]
        self.cleanup = [c for c in options.cleanup if not isinstance(c, MergeOptimizer)]
        self.passes: list[PassProfile] = []
        self.stop: str | None = None
        self.spent = {"global": 0.0, "final": 0.0, "cleanup": 0.0}
        self.largest = len(graph)
        self.earlier: dict[FunctionGraph, int] = {}
        """The graphs that passes began with, to see that they come back to one."""

    def round(self, began: FunctionGraph) -> FunctionGraph:
        """The graph after one more pass; `stop` is set if it was the last."""
        start = time.perf_counter()
        fired = [tally.fired for tally in self.tallies]
        children: list[OptimizerProfile] = []
        graph = self._members("global", self.options.optimizers, began, children)
        size, before = ordered(graph)
        self.largest = max(self.largest, size)
        swept = self.sweep.walk(graph)
        if swept is not graph:
            swept = self._members("cleanup", self.cleanup, swept, children)
        graph = self._members("final", self.options.final, swept, children)
        _, after = ordered(graph)
        counts = Counter({t.name: t.fired - f for t, f in zip(self.tallies, fired, strict=True)})
        counts.update({child.name: child.replacements for child in children})
        around = sum(child.time for child in children)
        self.passes.append(
            PassProfile(
                time=time.perf_counter() - start,
                global_time=around,
                toposort_time=before + after,
                nodes=size,
                fired=tuple((name, count) for name, count in counts.most_common() if count),
                children=tuple(children),
            )
        )
        self._decide(began, graph)
        return graph

    def _members(
        self, role: str, members: Sequence[Optimizer], graph: FunctionGraph, children: list[OptimizerProfile]
    ) -> FunctionGraph:
        for member in members:
            result, profile = attempted(member, graph, self.door, self.failures)
            children.append(profile)
            self.spent[role] += profile.time
            if result is not graph and role != "cleanup":
                result = self._members("cleanup", self.cleanup, result, children)
            graph = result
        return graph

    def _decide(self, began: FunctionGraph, graph: FunctionGraph) -> None:
        """Set `stop` if there is no reason for another pass."""
        deadline = self.sweep.deadline
        if self.sweep.stop is not None:
            self.stop = self.sweep.stop
            self.failures.limit(self.options.name or type(self.options).__name__, self.stop)
        elif graph is began or self._only_merged(began, graph):
            self.stop = "fixed point"
        elif self._met_before(began, graph):
            self._diverged(graph)
        elif len(self.passes) >= self.options.max_rounds:
            self.stop = f"limit of {self.options.max_rounds} passes"
            self.failures.limit(self.options.name or type(self.options).__name__, self.stop)
        elif deadline is not None and time.perf_counter() > deadline:
            self.stop = f"limit of {self.options.max_seconds} s"

    def _only_merged(self, began: FunctionGraph, graph: FunctionGraph) -> bool:
        """Whether the last pass did no more than make equal constants one, which leaves equal graphs."""
        return all(name == MERGE for name, _ in self.passes[-1].fired) and graph == began

    def _met_before(self, began: FunctionGraph, graph: FunctionGraph) -> bool:
        """Whether a pass, the last one among them, has begun with this graph already."""
        self.earlier[began] = len(self.passes) - 1
        return graph in self.earlier

    def _diverged(self, graph: FunctionGraph) -> None:
        circle = self.passes[self.earlier[graph] :]
        names = tuple(dict.fromkeys(name for p in circle for name, _ in p.fired))
        text = f"{' and '.join(names)} undo one another on\n{graph}"
        self.stop = "rules that undo one another: " + ", ".join(names)
        self.failures.record(", ".join(names), repr(graph), Divergence(text, names))

    def profile(self, graph: FunctionGraph) -> EquilibriumProfile:
        return EquilibriumProfile(
            time=sum(p.time for p in self.passes),
            table=tuple(tally.row() for tally in self.tallies),
            failures=self.failures.all(),
            children=tuple(child for p in self.passes for child in p.children),
            passes=tuple(self.passes),
            max_nodes=max(self.largest, len(graph)),
            local_time=sum(tally.time for tally in self.sweep.applier.tallies),
            global_time=self.spent["global"],
            final_time=self.spent["final"],
            cleanup_time=self.spent["cleanup"] + (self.sweep.merge.time if self.sweep.merging else 0.0),
            stop=self.stop or "",
        )
