"""Inner graphs of loops and choices: work of one branch moves into it, and bodies are optimized themselves.

    cond{a, b}(c, exp(x), log(x))      -->   cond{exp(x), log(x)}(c, x)
    scan{body}(n, x)                   -->   scan{the body after all passes that the query takes}(n, x)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from ....graph import FunctionGraph, GraphEditor
from ....graph.editor import Budget, InnerRun
from ....ops.control.laziness import made_lazy, moved_into_branches, titles_of, with_bodies
from ....profiling import OptimizerProfile, SeqProfile
from ....profiling.passes import InnerProfile
from ....record import record
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result
from ..memory.destroy import MemoryPass
from ..memory.inplace import InplaceOptimizer


@record(kw_only=True)
class LazyBranches(Optimizer):
    """Moves work that only one branch of a choice needs into that branch; linear, except for nested choices.

    `nests`: it goes through all bodies, and choices may move as well.  Otherwise the work of one body alone moves, and
    no choice or loop: it runs again in each body, whose rules leave readers of fewer branches.
    """

    contract: ClassVar[Contract | None] = exact

    nests: bool = True

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        moved = made_lazy(graph) if self.nests else moved_into_branches(graph)
        return admitted(graph, moved, self.name, editor), OptimizerProfile()


@record(kw_only=True)
class InnerGraphs(Optimizer):
    """Optimizes the inner graphs of loops and choices by all other passes of the query that apply to bodies."""

    before: tuple[Optimizer, ...] = ()
    after: tuple[Optimizer, ...] = ()

    def among(self, members: tuple[Optimizer, ...]) -> InnerGraphs:
        at = next(k for k, member in enumerate(members) if member is self)
        ahead = (member for member in members[:at] if member.in_bodies)
        before = tuple(replace(m, nests=False) if isinstance(m, LazyBranches) else m for m in ahead)
        return replace(self, before=before, after=members[at + 1 :])

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        runs = _Runs(self, titles_of(graph), None)
        found = runs.put_in_place(graph, editor)
        return found, InnerProfile(children=tuple(run.profile for run in runs.done))


class _Runs:
    """The optimizations of the bodies of one graph; `done` are those so far."""

    def __init__(self, by: InnerGraphs, titles: Mapping[FunctionGraph, str], budget: Budget | None) -> None:
        self.by, self.titles, self.budget = by, titles, budget
        self.done: list[InnerRun] = []
        self.in_place: bool = any(isinstance(member, InplaceOptimizer) for member in by.after)
        """Whether bodies may write in place."""

    def put_in_place(self, graph: FunctionGraph, editor: GraphEditor) -> FunctionGraph:
        """Return the graph with optimized bodies; the editor notes how they came about."""
        first, budget = len(editor.journal), editor.budget
        after = with_bodies(graph, self.optimized, self.in_place)
        editor.budget = None  # the changes inside count, and putting them in place is none
        found = admitted(graph, after, self.by.name, editor)
        editor.budget = budget
        editor.note_inside(first, self.done)
        return found

    def optimized(self, graph: FunctionGraph) -> FunctionGraph:
        """Return a body after all passes; the bodies inside it are optimized halfway, as here.

        The states of a loop are updates of its body, which the passes may write in place.
        """
        found, editor, profiles = graph, GraphEditor(budget=self.budget), []
        for member in self.by.before:
            found, profile = member(found, editor)
            profiles.append(profile)
        found = _Runs(self.by, titles_of(found), self.budget).put_in_place(found, editor)
        for member in self.by.after:
            inside = member.within_loops() if isinstance(member, MemoryPass) else member
            found, profile = inside(found, editor)
            profiles.append(profile)
        before, found = (FunctionGraph(g.inputs, g.outputs) if g.updates else g for g in (graph, found))
        title = self.titles.get(before, "body")
        total = SeqProfile(
            name=title, optimizer="SeqOptimizer", time=sum(p.time for p in profiles), nodes_before=len(before),
            nodes_after=len(found), replacements=len(editor.journal), children=tuple(profiles),
        )  # fmt: skip
        again = partial(_again, self.by, graph)
        self.done.append(InnerRun(title, before, found, tuple(editor.journal), total, again))
        return found


def _again(by: InnerGraphs, graph: FunctionGraph, budget: Budget) -> FunctionGraph:
    """Return a body after as many changes as the budget has."""
    return _Runs(by, {}, budget).optimized(graph)


def admitted(graph: FunctionGraph, after: FunctionGraph, by: str, editor: GraphEditor) -> FunctionGraph:
    """Return `graph` with its outputs replaced by those of `after`, as far as the editor accepts them."""
    return graph if after is graph else graph.replace(zip(graph.outputs, after.outputs, strict=True), by, editor)
