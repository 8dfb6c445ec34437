"""Inner graphs of loops and choices: work of one branch moves into it, and bodies are optimized themselves.

    cond{a, b}(c, exp(x), log(x))      -->   cond{exp(x), log(x)}(c, x)
    scan{body}(n, x)                   -->   scan{the body after all passes that the query takes}(n, x)
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from ....graph import FunctionGraph, GraphEditor
from ....ops.control.laziness import made_lazy, with_bodies
from ....profiling import OptimizerProfile
from ....record import record
from ...contract import Contract, exact
from ...optimizers import Optimizer, Result


@record(kw_only=True)
class LazyBranches(Optimizer):
    """Moves work that only one branch of a choice needs into that branch; linear, except for nested choices."""

    contract: ClassVar[Contract | None] = exact

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return admitted(graph, made_lazy(graph), self.name, editor), OptimizerProfile()


@record(kw_only=True)
class InnerGraphs(Optimizer):
    """Optimizes the inner graphs of loops and choices by all other passes of the query.

    But for `LazyBranches`: it has been in all of them, and again it would nest them without bound.
    """

    before: tuple[Optimizer, ...] = ()
    after: tuple[Optimizer, ...] = ()

    def among(self, members: tuple[Optimizer, ...]) -> InnerGraphs:
        at = next(k for k, member in enumerate(members) if member is self)
        before = tuple(member for member in members[:at] if not isinstance(member, LazyBranches))
        return replace(self, before=before, after=members[at + 1 :])

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return admitted(graph, with_bodies(graph, self._optimized), self.name, editor), OptimizerProfile()

    def _optimized(self, graph: FunctionGraph) -> FunctionGraph:
        """Return a body after all passes; the bodies inside it are optimized halfway, as here."""
        found = graph
        for member in self.before:
            found, _ = member(found)
        found = with_bodies(found, self._optimized)
        for member in self.after:
            found, _ = member(found)
        return found


def admitted(graph: FunctionGraph, after: FunctionGraph, by: str, editor: GraphEditor) -> FunctionGraph:
    """Return `graph` with its outputs replaced by those of `after`, as far as the editor accepts them."""
    return graph if after is graph else graph.replace(zip(graph.outputs, after.outputs, strict=True), by, editor)
