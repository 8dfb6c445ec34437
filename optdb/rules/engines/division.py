"""Division of a graph among engines: the assignment problem of its nodes, and costs of assignments with regions.

    division = Division.of(graph, engines)
    division.cheapest()        the name of an engine for each node
    division.estimate(labels)  picoseconds: nodes, launches of regions, and values that cross their borders
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from ....graph import Constant, FunctionGraph
from ....ops.elementwise.costs import bytes_of
from ....record import record
from ...applier import RuleError
from ...assignment import FORBIDDEN, HOST, Problem, Value, assigned
from ...placing import Placing
from .regions import levels_of

_SHARED_LAUNCHES = (1, 8)
"""Number of values that share the cost of a region's launch, in the cuts that are compared."""
Place = tuple[str, int]
"""An engine and the level of one of its regions; the host is on level 0."""


class PartitionError(RuleError, ValueError):
    """No engine of the function runs a node; the text names it."""


@record(eq=False)
class Division:
    """The problem of dividing `graph`; labels of `problem` are positions in `names`."""

    graph: FunctionGraph
    engines: Placing
    names: tuple[str, ...]
    supported: Sequence[tuple[str, ...]]
    problem: Problem

    @classmethod
    def of(cls, graph: FunctionGraph, engines: Placing) -> Division:
        """Raises PartitionError if no engine runs a node."""
        names = tuple(dict.fromkeys((*engines.engines, engines.host)))
        supported = supports(graph, engines)
        costs = [
            [engines.cost(name, n) if name in s else FORBIDDEN for n, s in zip(graph.order, supported, strict=True)]
            for name in names
        ]
        problem = Problem(costs, values_of(graph), copies(engines, names, 1), names.index(engines.host))
        return cls(graph, engines, names, supported, problem)

    def cheapest(self) -> list[str]:
        """Return the cheapest by `estimate` of some assignments: minimum cuts, and each engine alone."""
        cuts = [replace(self.problem, copy=copies(self.engines, self.names, n)) for n in _SHARED_LAUNCHES]
        found = [self.alone(name) for name in (self.engines.host, *self.engines.engines) if name in self.names]
        found += [[self.names[label] for label in assigned(cut)] for cut in cuts]
        return min(found, key=self.estimate)

    def alone(self, name: str) -> list[str]:
        """Return the assignment of all nodes to one engine, except for those that it does not run."""
        return [name if name in s else s[0] for s in self.supported]

    def unsupported(self, name: str) -> int:
        """Return how many nodes an engine does not run."""
        return sum(name not in s for s in self.supported)

    def price(self, name: str, position: int) -> int:
        """Return the estimate of the node at a position, on an engine that runs it."""
        return self.problem.costs[self.names.index(name)][position]

    def estimate(self, labels: Sequence[str]) -> int:
        """Return the cost of an assignment."""
        place = self._places(labels)
        launched = sum(self.engines.launch(name) for name, _ in set(place) if name != self.engines.host)
        crossed = sum(self.engines.copy(name, count) for (name, _), count in self.copied(labels).items())
        return sum(self.price(name, k) for k, name in enumerate(labels)) + launched + crossed

    def copied(self, labels: Sequence[str]) -> Counter[Place]:
        """Return the bytes of arguments and results of each region."""
        place, outside = self._places(labels), (self.engines.host, 0)
        found: Counter[Place] = Counter()
        for value in self.problem.values:
            at = outside if value.producer == HOST else place[value.producer]
            readers = {outside if r == HOST else place[r] for r in value.readers} - {at}
            for region in {*readers, *([at] if readers else [])} - {outside}:
                found[region] += value.bytes
        return found

    def _places(self, labels: Sequence[str]) -> list[Place]:
        host = self.engines.host
        levels = levels_of(self.graph, labels, host)
        return [(name, level if name != host else 0) for name, level in zip(labels, levels, strict=True)]


def supports(graph: FunctionGraph, engines: Placing) -> list[tuple[str, ...]]:
    """Return for each node the engines that run it.  Raises PartitionError for a node that none runs."""
    found = []
    for node in graph.order:
        refusals = {name: engines.refusal(name, node) for name in engines.engines}
        mine = tuple(name for name, refusal in refusals.items() if not refusal)
        if not mine:
            where = f"\n  at {node.origin[0]}" if node.origin else ""
            said = "; ".join(f"{name}: {refusal}" for name, refusal in refusals.items())
            raise PartitionError(f"none of the engines runs {node.op.name}: {said}; add 'c' to them{where}")
        found.append(mine)
    return found


def copies(engines: Placing, names: Sequence[str], share: int) -> Callable[[int, int, int], int]:
    """Return the costs of copies, which go through the host: at each end a part of half a launch, and the bytes."""
    launch = [0 if name == engines.host else engines.launch(name) // (2 * share) for name in names]

    def copy(at: int, to: int, count: int) -> int:
        if at == to:
            return 0
        ends = [e for e in (at, to) if names[e] != engines.host]
        return sum(launch[e] + engines.copy(names[e], count) for e in ends)

    return copy


def values_of(graph: FunctionGraph) -> list[Value]:
    """Return the values that are not constants, with the positions of their producers and readers."""
    at = {node: k for k, node in enumerate(graph.order)}
    found = []
    for variable, uses in graph.uses.items():
        if isinstance(variable, Constant):
            continue
        producer = HOST if variable.owner is None else at[variable.owner]
        readers = dict.fromkeys(HOST if user is None else at[user] for user, _ in uses)
        found.append(Value(producer, tuple(readers), bytes_of([variable])))
    return found
