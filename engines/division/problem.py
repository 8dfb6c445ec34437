"""Division of a graph among engines: the assignment problem of its nodes, and costs of assignments with regions.

    division = Division.of(graph, prices)
    division.cheapest()        the name of an engine for each node
    division.estimate(labels)  picoseconds: nodes, launches of regions, and values that cross their borders
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...graph import Constant, FunctionGraph
from ...ops.elementwise.costs import bytes_of
from ...record import record
from .assignment import FORBIDDEN, HOST, Problem, Value, assigned
from .prices import Prices
from .regions import levels_of

_SHARED_LAUNCHES = (1, 8)
"""Number of values that share the cost of a region's launch, in the cuts that are compared."""
Place = tuple[str, int]
"""An engine and the level of one of its regions; the host is on level 0."""


@record(eq=False)
class Division:
    """The problem of dividing `graph`; labels of `problem` are positions in `names`."""

    graph: FunctionGraph
    prices: Prices
    names: tuple[str, ...]
    supported: Sequence[tuple[str, ...]]
    problem: Problem

    @classmethod
    def of(cls, graph: FunctionGraph, prices: Prices) -> Division | str:
        """Return the problem; text that names a node which no engine runs."""
        names = tuple(dict.fromkeys((*prices.engines, prices.host)))
        supported = supports(graph, prices)
        if isinstance(supported, str):
            return supported
        costs = [
            [prices.cost(name, n) if name in s else FORBIDDEN for n, s in zip(graph.order, supported, strict=True)]
            for name in names
        ]
        problem = Problem(costs, values_of(graph), copies(prices, names, 1), names.index(prices.host))
        return cls(graph, prices, names, supported, problem)

    def cheapest(self) -> list[str]:
        """Return the cheapest by `estimate` of some assignments: minimum cuts, and each engine alone."""
        cuts = [replace(self.problem, copy=copies(self.prices, self.names, n)) for n in _SHARED_LAUNCHES]
        found = [self.alone(name) for name in (self.prices.host, *self.prices.engines) if name in self.names]
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
        launched = sum(self.prices.launch(name) for name, _ in set(place) if name != self.prices.host)
        crossed = sum(self.prices.copy(name, count) for (name, _), count in self.copied(labels).items())
        return sum(self.price(name, k) for k, name in enumerate(labels)) + launched + crossed

    def copied(self, labels: Sequence[str]) -> Counter[Place]:
        """Return the bytes of arguments and results of each region."""
        place, outside = self._places(labels), (self.prices.host, 0)
        found: Counter[Place] = Counter()
        for value in self.problem.values:
            at = outside if value.producer == HOST else place[value.producer]
            readers = {outside if r == HOST else place[r] for r in value.readers} - {at}
            for region in {*readers, *([at] if readers else [])} - {outside}:
                found[region] += value.bytes
        return found

    def _places(self, labels: Sequence[str]) -> list[Place]:
        host = self.prices.host
        levels = levels_of(self.graph, labels, host)
        return [(name, level if name != host else 0) for name, level in zip(labels, levels, strict=True)]


def supports(graph: FunctionGraph, prices: Prices) -> list[tuple[str, ...]] | str:
    """Return for each node the engines that run it; text that names a node which none runs."""
    found = []
    for node in graph.order:
        refusals = {name: prices.refusal(name, node) for name in prices.engines}
        mine = tuple(name for name, refusal in refusals.items() if not refusal)
        if not mine:
            where = f"\n  at {node.origin[0]}" if node.origin else ""
            said = "; ".join(f"{name}: {refusal}" for name, refusal in refusals.items())
            return f"none of the engines runs {node.op.name}: {said}; add 'c' to them{where}"
        found.append(mine)
    return found


def copies(prices: Prices, names: Sequence[str], share: int) -> Callable[[int, int, int], int]:
    """Return the costs of copies, which go through the host: at each end a part of half a launch, and the bytes."""
    launch = [0 if name == prices.host else prices.launch(name) // (2 * share) for name in names]

    def copy(at: int, to: int, count: int) -> int:
        if at == to:
            return 0
        ends = [e for e in (at, to) if names[e] != prices.host]
        return sum(launch[e] + prices.copy(names[e], count) for e in ends)

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
