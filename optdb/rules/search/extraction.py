"""Extraction: the cheapest graph in an e-graph, with shared values counted once and groups that fuse.

The cheapest tree of each class is the first choice.  Then each class in use tries its other nodes, one exchange at a
time, by the price of the whole graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....graph import Apply, FunctionGraph, Variable
from . import prices
from .egraph import EGraph, ENode, cheapest

Choice = dict[int, tuple[ENode, int]]


class Extraction:
    """The search for the cheapest graph; `over` ends it."""

    def __init__(self, egraph: EGraph, over: Callable[[], str]) -> None:
        self.egraph, self.over = egraph, over
        self.members: dict[int, list[tuple[ENode, int]]] = egraph.members()
        self.roots: list[int] = [egraph.find(r) for r in egraph.roots]
        self._prices: dict[ENode, float] = {}
        self._applied: dict[tuple[ENode, tuple[Variable, ...]], Apply | None] = {}
        self._trees: Choice = cheapest(egraph, self.price)[1]

    def price(self, node: ENode) -> float:
        if node not in self._prices:
            self._prices[node] = prices.alone(node.like)
        return self._prices[node]

    def best(self, starts: Sequence[FunctionGraph]) -> tuple[list[Variable], list[Apply], float, Choice]:
        """The outputs, the nodes, the price and the choice of the cheapest graph found, from several first choices."""
        found = None
        for choice in (self._trees, *map(self.choice_of, starts)):
            improved = self._improved(choice)
            if improved is not None and (found is None or improved[2] < found[2]):
                found = improved
        assert found is not None
        return found

    def choice_of(self, graph: FunctionGraph) -> Choice:
        """The choice that gives a graph whose nodes are in the e-graph; for other classes the cheapest trees."""
        choice = dict(self._trees)
        for node in graph.order:
            key = (node.op, tuple(self.egraph.class_of(i) for i in node.inputs))
            known = self.egraph.nodes.get(key)
            if known is not None:
                for k, output in enumerate(known.outputs):
                    choice[self.egraph.find(output)] = (known, k)
        return choice

    def _improved(self, choice: Choice) -> tuple[list[Variable], list[Apply], float, Choice] | None:
        now = self.written(choice)
        if now is None:
            return None
        outputs, nodes, used = now
        price = prices.of_graph(nodes, outputs)
        newest, better = used, True
        while better and not self.over():
            better = False
            for c in used:
                for other in self.members.get(c, []):
                    if other[0] is choice[c][0] or other[0].worse:
                        continue
                    trial = {**choice, c: other}
                    made = self.written(trial)
                    if made is None:
                        continue
                    cost = prices.of_graph(made[1], made[0])
                    if cost < price * (1 - 1e-9):
                        choice, (outputs, nodes, newest), price, better = trial, made, cost, True
                if self.over():
                    break
            used = newest
        return outputs, nodes, price, choice

    def written(self, choice: Mapping[int, tuple[ENode, int]]) -> tuple[list[Variable], list[Apply], list[int]] | None:
        """The outputs, the nodes and the classes in use of a choice; None if it goes in a circle."""
        made: dict[int, Variable] = {}
        nodes: list[Apply] = []
        used: list[int] = []
        open_: set[int] = set()
        leaves = self.egraph.leaves
        stack = [(r, False) for r in reversed(self.roots)]
        while stack:
            c, ready = stack.pop()
            if c in made:
                continue
            if c in leaves:
                made[c] = leaves[c]
                continue
            if c not in choice:
                return None
            node, _ = choice[c]
            operands = [self.egraph.find(o) for o in node.operands]
            if ready:
                applied = self._over(node, tuple(made[o] for o in operands))
                if applied is None:
                    return None
                open_.discard(c)
                nodes.append(applied)
                used.append(c)
                for output, variable in zip(node.outputs, applied.outputs, strict=True):
                    number = self.egraph.find(output)
                    if choice.get(number, (None, 0))[0] is node:
                        made[number] = variable
                continue
            if c in open_:
                return None
            open_.add(c)
            stack.append((c, True))
            stack += [(o, False) for o in reversed(operands) if o not in made]
        return [made[r] for r in self.roots], list(dict.fromkeys(nodes)), used

    def _over(self, node: ENode, operands: tuple[Variable, ...]) -> Apply | None:
        """The node over these operands; None if the op refuses them."""
        key = (node, operands)
        if key not in self._applied:
            try:
                is_same = tuple(node.like.inputs) == operands
                self._applied[key] = node.like if is_same else Apply(node.op, operands, node.like.origin)
            except (TypeError, ValueError, IndexError):
                self._applied[key] = None
        return self._applied[key]
