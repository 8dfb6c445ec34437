"""The pass `egraph`: equality saturation by the rules of the database and the widening ones, off by default.

    mode="fast_run +egraph"      with it
    f.explain("egraph")          what it found, by which rules, and where it stopped

The graph is taken as the greedy passes left it.  It stays so unless a cheaper one is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ....graph import FunctionGraph, GraphEditor
from ....record import lazy, record
from ....record.clock import processor_clock
from ...conform import Conform
from ...contract import Contract, relaxes
from ...optimizers import Optimizer, Result
from ...rule import Rule

if TYPE_CHECKING:
    from .egraph import EGraph, ENode
    from .extraction import Choice

egraphs: Any = lazy.module(".egraph", __package__)
extraction: Any = lazy.module(".extraction", __package__)
prices: Any = lazy.module(".prices", __package__)
profiles: Any = lazy.module("....profiling.saturation", __package__)
widening: Any = lazy.module(".widening", __package__)

BETTER = 0.999
"""A graph is taken if its price is below this share of the greedy one."""


@record(kw_only=True)
class EGraphOptimizer(Optimizer):
    """Equality saturation within budgets of nodes, seconds and rounds; keeps the graph if none is cheaper.

    Raises ValueError for a budget that is not positive.
    """

    contract: ClassVar[Contract | None] = relaxes(
        "rounding", "signed zero", "nan", "inf", "overflow", "underflow", "errors", "domain"
    )
    groups: tuple[tuple[Rule, ...], ...] = ()
    """The rules beside the widening ones, by subject."""
    conform: Conform | None = None
    nodes: int = 4000
    """Nodes of the e-graph."""
    seconds: float = 2.0
    """Processor time, a third of it for the choice among forms."""
    rounds: int = 12

    def __post_init__(self) -> None:
        for name in ("nodes", "seconds", "rounds"):
            if not getattr(self, name) > 0:
                raise ValueError(f"egraph: the budget of {name} is {getattr(self, name)!r}; expected a positive number")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        before = prices.of_graph(graph.order, graph.outputs)
        if len(graph) > self.nodes:
            return graph, profiles.EGraphProfile(
                stop=f"the graph has {len(graph)} nodes", price_before=before, price_after=before
            )
        egraph, clock = egraphs.EGraph(graph), processor_clock()
        start = clock.read()

        def late(share: float = 1.0) -> str:
            return f"{self.seconds:g} seconds" if clock.read() - start > share * self.seconds else ""

        def spent() -> str:
            return f"{self.nodes} nodes" if len(egraph.nodes) > self.nodes else late(2 / 3)

        rules = tuple(dict.fromkeys(rule for group in (*self.groups, widening.WIDENING) for rule in group))
        search = egraphs.Saturation(egraph, rules, self.conform, prices.alone, spent)
        stop = search.run(self.rounds)
        outputs, _, after, choice = extraction.Extraction(egraph, late).best([graph])
        steps: tuple[str, ...] = ()
        if after < BETTER * before:
            steps = derivation(egraph, choice)
            pairs = list(zip(graph.outputs, outputs, strict=True))
            fits = all(new.type == old.type or new.type.refines(old.type) for old, new in pairs)
            found = graph.replace(pairs, self.name, editor) if fits else graph
        else:
            found, after = graph, before
        if found is graph:
            after, steps = before, ()
        return found, profiles.EGraphProfile(
            stop=stop, classes=len(egraph.members()), forms=len(egraph.nodes), rounds=search.rounds,
            refused=search.failures.count, price_before=before, price_after=after, derivation=steps,
            table=search.applier.rows(),
        )  # fmt: skip


def derivation(egraph: EGraph, choice: Choice) -> tuple[str, ...]:
    """The rules that made the nodes of the result, in the order in which they did: `rule: before -> after`."""
    used: dict[ENode, None] = {}
    todo = [egraph.find(r) for r in egraph.roots]
    met: set[int] = set()
    while todo:
        c = todo.pop()
        if c in met or c not in choice:
            continue
        met.add(c)
        used[choice[c][0]] = None
        todo += [egraph.find(o) for o in choice[c][0].operands]
    made = [node for node in egraph.nodes.values() if node in used and node.by]
    return tuple(f"{node.by}: {node.before} -> {node.like!r}" for node in made)
