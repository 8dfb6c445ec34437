"""E-graph: classes of values that rules have shown to be equal, and the nodes that compute each class.

    class 3 = {add(mul(a, b), mul(a, c)), mul(a, add(b, c))}

A node of the e-graph has classes as operands, so that one node stands for all forms of its operands.  Rules read
variables; therefore each class has a representative, its cheapest form, and each node is written over the
representatives of its operands.  A rule is tried on every node with every form of its direct operands.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Op, Variable, toposort
from ....graph.match_key import match_key_of
from ...applier import Applier, Failures
from ...conform import Conform
from ...rule import Rule

MOST_FORMS = 6
"""Forms of an operand on which a rule is tried, the cheapest first."""
MOST_PAIRS = 24
"""Combinations of forms of the operands of a node."""


@dataclass(eq=False)
class ENode:
    """An op applied to classes; `outputs` are the classes of its results."""

    op: Op
    operands: tuple[int, ...]
    outputs: list[int]
    like: Apply
    """A node that was applied so, whose results have the types."""
    by: str = ""
    """The rule that made it; empty for the nodes of the graph."""
    before: str = ""
    """The value in whose place the rule put it."""
    worse: bool = False
    """Whether a rule has replaced it by a more accurate form, so that it may not come back."""


class Quiet(Failures):
    """Failures that are counted: a rule may refuse a form that no user has written."""

    def __init__(self) -> None:
        super().__init__(strict=False)
        self.count: int = 0

    def record(self, rule: str, node: str, error: Exception) -> None:
        self.count += 1


@dataclass
class EGraph:
    """The classes of a graph."""

    graph: FunctionGraph
    parents: list[int] = field(default_factory=list)
    """Union-find: the class that each class was merged into."""
    nodes: dict[tuple[Op, tuple[int, ...]], ENode] = field(default_factory=dict)
    leaves: dict[int, Variable] = field(default_factory=dict)
    of: dict[Any, int] = field(default_factory=dict)
    """The class of each variable; of constants by their bits."""

    def __post_init__(self) -> None:
        for variable in self.graph.inputs:
            self._leaf(variable)
        self.roots: list[int] = [self.add(output) for output in self.graph.outputs]

    # --- classes

    def find(self, number: int) -> int:
        """The class that a class belongs to now."""
        parents = self.parents
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    def _fresh(self) -> int:
        self.parents.append(len(self.parents))
        return self.parents[-1]

    def merge(self, a: int, b: int) -> bool:
        """Make two classes one; whether they were two."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        low, high = min(a, b), max(a, b)
        self.parents[high] = low
        if high in self.leaves:
            self.leaves.setdefault(low, self.leaves[high])
        return True

    def _leaf(self, variable: Variable) -> int:
        key = variable.key if isinstance(variable, Constant) else variable
        if key not in self.of:
            self.of[key] = self._fresh()
            self.leaves[self.of[key]] = variable
        return self.find(self.of[key])

    def class_of(self, variable: Variable) -> int:
        """The class of a variable that is known."""
        return self._leaf(variable) if variable.owner is None else self.find(self.of[variable])

    def add(self, variable: Variable, by: str = "", before: str = "") -> int:
        """The class of a variable, whose nodes are added."""
        for made in toposort([variable], stop_at=self.of):
            operands = tuple(self.class_of(i) for i in made.inputs)
            key = (made.op, operands)
            node = self.nodes.get(key)
            if node is None:
                node = self.nodes[key] = ENode(
                    made.op, operands, [self._fresh() for _ in made.outputs], made, by, before
                )
            self.of.update(zip(made.outputs, node.outputs, strict=True))
        return self.class_of(variable)

    def repair(self) -> None:
        """Make nodes one that are the same op on the same classes, and their results, until no more are."""
        while True:
            merged = False
            nodes: dict[tuple[Op, tuple[int, ...]], ENode] = {}
            for node in self.nodes.values():
                node.operands = tuple(map(self.find, node.operands))
                node.outputs = list(map(self.find, node.outputs))
                known = nodes.setdefault((node.op, node.operands), node)
                if known is not node:
                    known.worse &= node.worse
                    for a, b in zip(known.outputs, node.outputs, strict=True):
                        merged |= self.merge(a, b)
            self.nodes = nodes
            if not merged:
                return

    def members(self) -> dict[int, list[tuple[ENode, int]]]:
        """For each class the nodes that compute it, with the number of the output."""
        found: dict[int, list[tuple[ENode, int]]] = {}
        for node in self.nodes.values():
            for k, output in enumerate(node.outputs):
                found.setdefault(self.find(output), []).append((node, k))
        return found


class Forms:
    """The variables of an e-graph that rules are shown: representatives, and the forms of each class."""

    def __init__(self, price: Callable[[Apply], float]) -> None:
        self._price = price
        self._made: dict[tuple[Op, tuple[Variable, ...]], Apply] = {}
        self._prices: dict[ENode, float] = {}
        self.best: dict[int, Variable] = {}
        self.all: dict[int, list[Variable]] = {}
        self.cost: dict[int, float] = {}

    def price(self, node: ENode) -> float:
        if node not in self._prices:
            self._prices[node] = self._price(node.like)
        return self._prices[node]

    def write(self, egraph: EGraph) -> None:
        """Write the representatives of all classes and their forms, cheapest first."""
        members = egraph.members()
        self.cost, chosen = cheapest(egraph, self.price)
        self.best = {c: egraph.leaves[c] for c in egraph.leaves if egraph.find(c) == c}
        order = sorted(chosen, key=lambda c: self.cost[c])
        self._write_best(egraph, [chosen[c][0] for c in order if c not in self.best])
        self.all = {c: [v] for c, v in self.best.items()}
        for c, nodes in members.items():
            for node, k in sorted(nodes, key=lambda pair: self._total(pair[0]))[:MOST_FORMS]:
                if self._is_ready(node):
                    form = self._written(egraph, node).outputs[k]
                    if not any(form is v for v in self.all.setdefault(c, [])):
                        self.all[c].append(form)

    def _write_best(self, egraph: EGraph, nodes: Sequence[ENode]) -> None:
        """Write the cheapest nodes of classes, each after its operands; those in circles are left out."""
        while nodes:  # costs are positive, so that operands come first; views cost next to nothing
            later = []
            for node in nodes:
                if not self._is_ready(node):
                    later.append(node)
                    continue
                for output, variable in zip(node.outputs, self._written(egraph, node).outputs, strict=True):
                    self.best.setdefault(egraph.find(output), variable)
            if len(later) == len(nodes):
                break
            nodes = later

    def _total(self, node: ENode) -> float:
        return sum(self.cost.get(o, 1e30) for o in node.operands) + self.price(node)

    def _is_ready(self, node: ENode) -> bool:
        return all(o in self.best for o in node.operands)

    def _written(self, egraph: EGraph, node: ENode) -> Apply:
        return self.applied(egraph, node, tuple(self.best[o] for o in node.operands))

    def applied(self, egraph: EGraph, node: ENode, operands: tuple[Variable, ...]) -> Apply:
        """The node over these operands; the same one every time."""
        key = (node.op, operands)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = Apply(node.op, operands, node.like.origin)
            egraph.of.update(zip(made.outputs, node.outputs, strict=True))
        return made

    def trials(self, egraph: EGraph) -> Iterator[tuple[ENode, Apply]]:
        """Yield each node over each combination of forms of its operands, up to a bound."""
        for node in list(egraph.nodes.values()):
            forms = [self.all.get(egraph.find(o), []) for o in node.operands]
            for operands in itertools.islice(itertools.product(*forms), MOST_PAIRS):
                yield node, self.applied(egraph, node, operands)


def cheapest(egraph: EGraph, price: Callable[[ENode], float]) -> tuple[dict[int, float], dict[int, tuple[ENode, int]]]:
    """The cost of each class as a tree, and the node that has it."""
    cost: dict[int, float] = {egraph.find(c): 0.0 for c in egraph.leaves}
    chosen: dict[int, tuple[ENode, int]] = {}
    changed = True
    while changed:
        changed = False
        for node in egraph.nodes.values():
            if node.worse or any(o not in cost for o in node.operands):
                continue
            total = price(node) + sum(cost[o] for o in node.operands)
            for k, output in enumerate(node.outputs):
                c = egraph.find(output)
                if total < cost.get(c, float("inf")):
                    cost[c], chosen[c], changed = total, (node, k), True
    return cost, chosen


class Saturation:
    """Rules applied to an e-graph until nothing new comes, or the budget is spent; `over` says whether it is."""

    def __init__(
        self, egraph: EGraph, rules: Sequence[Rule], conform: Conform | None, price: Callable[[Apply], float],
        over: Callable[[], str],
    ) -> None:  # fmt: skip
        self.egraph, self.forms, self.over = egraph, Forms(price), over
        self.failures: Quiet = Quiet()
        self.applier: Applier = Applier([r for r in rules if not r.uses], GraphEditor(), conform, self.failures)
        self.applier.inputs = egraph.graph.inputs
        self.rounds: int = 0
        self._tried: set[Apply] = set()

    def run(self, rounds: int) -> str:
        """Apply the rules round by round; the reason of the end."""
        while self.rounds < rounds:
            self.rounds += 1
            self.forms.write(self.egraph)
            changed = False
            for node, made in self.forms.trials(self.egraph):
                if made in self._tried:
                    continue
                self._tried.add(made)
                changed |= self._applied(node, made)
                stop = self.over()
                if stop:
                    self.egraph.repair()
                    return stop
            self.egraph.repair()
            if not changed:
                return "saturated"
        return f"{rounds} rounds"

    def _applied(self, node: ENode, made: Apply) -> bool:
        """Whether a rule has shown something new of a node."""
        applier, changed = self.applier, False
        applier.known.update(self._cone(made))
        key = match_key_of(made)
        applier._meet([made.op])
        for tally in applier.offers_to(key)[0]:
            firing = applier.fire(made, (tally,), lambda variable: ())
            if firing is None:
                continue
            count = len(self.egraph.nodes)
            for old, new in zip(made.outputs, firing.outputs, strict=True):
                if new is None:
                    continue
                number = self.egraph.add(new, tally.name, repr(made))
                changed |= self.egraph.merge(self.egraph.class_of(old), number)
            changed |= len(self.egraph.nodes) > count
            rule: Any = tally.rule
            if rule.contract.nearer:
                node.worse = True
        return changed

    def _cone(self, made: Apply) -> list[Apply]:
        """The nodes that a node is computed from, as far as the applier does not know them."""
        found, stack = [], [made]
        known = self.applier.known
        met: set[Apply] = set()
        while stack:
            one = stack.pop()
            if one in known or one in met:
                continue
            met.add(one)
            found.append(one)
            stack += [i.owner for i in one.inputs if i.owner is not None]
        return found
