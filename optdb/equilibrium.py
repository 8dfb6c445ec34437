"""Rules and optimizers applied in passes until nothing changes.

A pass: the optimizers in order of registration, the sweep of the rules, the final optimizers; the cleanup optimizers
after each of them that changed something.  A MergeOptimizer among these is done by the sweep itself, node by node.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from ..graph import FunctionGraph, GraphEditor
from ..profiling import EquilibriumProfile, OptimizerProfile, PassProfile
from ..record import record
from ..record.clock import processor_clock
from ..record.spelling import counted
from .applier import Applier, Divergence, Failures, endless
from .conform import Conform
from .optimizers import MergeOptimizer, Optimizer, Result, attempted, node_limit
from .rule import Rule
from .sweep import MERGE, Sweep, excerpt

PASSES_WITHOUT_SUSPICION = 3
"""Number of passes with changes after which graphs are compared to detect a cycle of passes."""


@record(kw_only=True, repr=False)
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
    """Limit of new nodes; None: 10,000 plus twenty times the size of the graph."""
    max_seconds: float | None = None

    def __repr__(self) -> str:
        """The name and the number of rules: a query such as canonicalize has hundreds."""
        return f"<{type(self).__name__} {self.name!r}: {counted(len(self.rules), 'rule')} to a fixed point>"

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        entries, run, result = len(editor.journal), _Run(self, graph, editor), graph
        while run.stop is None:
            result = run.round(result)
        endless = run.endless() if self.max_nodes is None else None
        if endless is None:
            return result, run.profile(result)
        del editor.journal[entries:]
        result, profile = replace(self, rules=tuple(r for r in self.rules if r is not endless)).optimize(graph, editor)
        return result, replace(profile, failures=(*run.failures.all(), *profile.failures))


class _Run:
    """One run of an equilibrium: its sweep, its passes so far, and why it stopped."""

    def __init__(self, options: EquilibriumOptimizer, graph: FunctionGraph, editor: GraphEditor) -> None:
        self.options = options
        self.editor = editor
        self.failures = Failures(options.strict)
        self.sweep = Sweep(
            Applier(options.rules, editor, options.conform, self.failures),
            merging=any(isinstance(c, MergeOptimizer) for c in options.cleanup),
            max_nodes=node_limit(len(graph)) if options.max_nodes is None else options.max_nodes,
            deadline=None if options.max_seconds is None else time.perf_counter() + options.max_seconds,
        )
        self.cleanup = [c for c in options.cleanup if not isinstance(c, MergeOptimizer)]
        self.passes: list[PassProfile] = []
        self.stop: str | None = None
        self.spent = {"global": 0.0, "final": 0.0, "cleanup": 0.0}
        self.largest = len(graph)
        self.began_with: list[FunctionGraph] = []
        """The first graph of each pass, to detect a cycle."""
        self.began_at: list[int] = []
        """The length of the journal at the start of each pass."""

    def round(self, began: FunctionGraph) -> FunctionGraph:
        """Run one more pass; set `stop` if it was the last."""
        clock = processor_clock()
        start, waited = clock.read(), clock.waited
        self.began_at.append(len(self.editor.journal))
        fired = self._fired()
        children: list[OptimizerProfile] = []
        graph = self._members("global", self.options.optimizers, began, children)
        size = len(graph)
        self.largest = max(self.largest, size)
        swept = self.sweep.walk(graph)
        if swept is not graph:
            swept = self._members("cleanup", self.cleanup, swept, children)
        graph = self._members("final", self.options.final, swept, children)
        counts = {name: count - fired.get(name, 0) for name, count in self._fired().items()}
        for child in children:
            counts[child.name] = counts.get(child.name, 0) + child.replacements
        around = sum(child.time for child in children)
        self.passes.append(
            PassProfile(
                time=clock.read() - start,
                waiting=clock.waited - waited,
                global_time=around,
                toposort_time=0.0,
                nodes=size,
                fired=tuple(sorted(filter(itemgetter(1), counts.items()), key=itemgetter(1), reverse=True)),
                children=tuple(children),
            )
        )
        self._decide(began, graph)
        return graph

    def _fired(self) -> dict[str, int]:
        """The rules that have fired, merging among them, with their counts."""
        merge = self.sweep.merge
        return {**self.sweep.applier.fired(), **({merge.name: merge.fired} if merge.fired else {})}

    def _members(
        self, role: str, members: Sequence[Optimizer], graph: FunctionGraph, children: list[OptimizerProfile]
    ) -> FunctionGraph:
        for member in members:
            result, profile = attempted(member, graph, self.editor, self.failures)
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
        """Return whether the last pass only merged equal constants, so that the graphs are equal."""
        return all(name == MERGE for name, _ in self.passes[-1].fired) and graph == began

    def _met_before(self, began: FunctionGraph, graph: FunctionGraph) -> bool:
        """Return whether an earlier pass began with this graph.

        Most graphs need two or three passes, so only then is it worth the while to compare graphs by structure.
        """
        self.began_with.append(began)
        return len(self.passes) > PASSES_WITHOUT_SUSPICION and graph in self.began_with

    def _diverged(self, graph: FunctionGraph) -> None:
        since = max(n for n, earlier in enumerate(self.began_with) if earlier == graph)
        circle = self.passes[since:]
        names = tuple(dict.fromkeys(name for p in circle for name, _ in p.fired if name != MERGE))
        changed = {(e.rule, e.before.owner.op): e.before.owner for e in self.editor.journal[self.began_at[since] :]
                   if e.rule in names and e.before.owner is not None}  # fmt: skip
        smallest = min(map(excerpt, changed.values()), key=len, default=str(graph))
        text = f"{' and '.join(names)} undo one another on\n{smallest}"
        self.stop = "rules that undo one another: " + ", ".join(names)
        self.failures.record(", ".join(names), repr(graph), Divergence(text, names))

    def endless(self) -> Rule | None:
        """The rule that made most nodes when their number reached the limit; the next attempt omits it."""
        limited = self.sweep.stop is not None and self.sweep.deadline is None
        return endless(self.sweep.applier.tallies, self.failures) if limited else None

    def profile(self, graph: FunctionGraph) -> EquilibriumProfile:
        rows = self.sweep.applier.rows()
        return EquilibriumProfile(
            time=sum(p.time for p in self.passes),
            table=(*rows, *([self.sweep.merge.row()] if self.sweep.merging else ())),
            failures=self.failures.all(),
            children=tuple(child for p in self.passes for child in p.children),
            passes=tuple(self.passes),
            max_nodes=max(self.largest, len(graph)),
            local_time=0.0 if rows is self.sweep.applier.index.untried else sum(row.time for row in rows),
            global_time=self.spent["global"],
            final_time=self.spent["final"],
            cleanup_time=self.spent["cleanup"] + (self.sweep.merge.time if self.sweep.merging else 0.0),
            stop=self.stop or "",
        )
