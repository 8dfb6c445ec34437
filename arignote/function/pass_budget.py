"""Passes that are worth their time: the choice of `ag.function(compile_budget=)` for large graphs.

All passes run first on a sample of the graph.  That gives the processor time of each pass for a node, and what the cost
model says that it saves in a call.  If all passes would take longer than the budget, those of the least saving for
their time are left out.  The passes of FAST_COMPILE and fusion stay: without fusion the C compiler would take longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..database import optdb
from ..engines.division.regions import inner_graph
from ..engines.registry import engine as engine_of
from ..graph import Apply, FunctionGraph, GraphEditor
from ..optdb import Query
from ..optdb.applier import Failures
from ..optdb.optimizers import attempted
from ..record import record
from ..targets.current import using
from ..targets.named import host
from ..targets.target import Target
from .mode import Mode

_INTERVALS, _INTERVAL = 2, 100
"""The sample: so many intervals of the order of the graph, of so many nodes each."""
_FLOOR = ("fast_compile", "fusion")
"""Tags of passes that always run."""
_NOTHING = 0.002
"""Share of the time of all passes below which a pass is not worth a decision."""


@record
class PassEstimate:
    """Estimates for one pass on the whole graph: seconds of rewriting, and picoseconds that a call becomes faster."""

    name: str
    seconds: float
    saving: float


def within_budget(mode: Mode, graph: FunctionGraph, seconds: float, target: Target | None = None) -> Mode:
    """Return the mode without the passes that are not worth their time, if all would take longer than `seconds`."""
    query = mode.optimizer
    if not isinstance(query, Query) or mode.divides:
        return mode
    left_out = chosen_to_leave(estimates(mode, graph, target), seconds, _floor())
    return replace(mode, optimizer=query.excluding(*left_out), name=mode.name) if left_out else mode


def chosen_to_leave(found: Sequence[PassEstimate], seconds: float, floor: frozenset[str]) -> list[str]:
    """Return the passes to leave out so that the others take at most `seconds`, the least worth first."""
    total = sum(p.seconds for p in found)
    optional = [p for p in found if p.name not in floor and p.seconds > _NOTHING * total]
    left: list[str] = []
    for each in sorted(optional, key=lambda p: (p.saving / p.seconds, -p.seconds)):
        if total <= seconds:
            break
        total -= each.seconds
        left.append(each.name)
    return left


def estimates(mode: Mode, graph: FunctionGraph, target: Target | None = None) -> list[PassEstimate]:
    """Return an estimate for each pass of a mode, from a sample of the graph."""
    sample = _sample(graph)
    scale = len(graph) / max(len(sample), 1)
    with using(target or host()):
        _rehearsed(mode, sample)  # the first time loads what the passes need
        return [replace(p, seconds=p.seconds * scale, saving=p.saving * scale) for p in _rehearsed(mode, sample)]


def _rehearsed(mode: Mode, graph: FunctionGraph) -> list[PassEstimate]:
    editor, failures = GraphEditor(), Failures(False)
    found: list[PassEstimate] = []
    assert mode.optimizer is not None
    price = price_of(graph)
    for member in optdb.query(mode.optimizer).optimizers:
        made, profile = attempted(member, graph, editor, failures)
        after = price if made is graph else price_of(made)
        found.append(PassEstimate(member.name, profile.time, max(price - after, 0.0)))
        graph, price = made, after
    return found


def price_of(graph: FunctionGraph) -> float:
    """Return picoseconds of a call, by the cost model of C."""
    host_engine: Any = engine_of("c")
    return float(sum(host_engine.cost(node) + host_engine.launch for node in graph.order))


def _sample(graph: FunctionGraph) -> FunctionGraph:
    """Return some intervals of the order of a graph, as one graph."""
    order = graph.order
    nodes: list[Apply] = []
    for k in range(_INTERVALS):
        at = (2 * k + 1) * len(order) // (2 * _INTERVALS)
        nodes += order[at : at + _INTERVAL]
    return inner_graph(graph, list(dict.fromkeys(nodes)))[0]


def _floor() -> frozenset[str]:
    names = {entry.name for entry in optdb.entries() if set(_FLOOR) & {*entry.tags}}
    return frozenset(names)
