"""Top-down traversal: one walk of rules over a graph that visits each node before its operands.

The walk offers a replacement to the rules at once, root first.  It builds the new graph at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..graph import Apply, FunctionGraph, Variable, inheriting, match_key_of, rebuild
from ..graph.fgraph import Use
from .applier import Applier, Divergence, Outputs, fresh_nodes, node_key
from .sweep import excerpt, limit_reached

Chain = tuple[tuple[object, str], ...]
"""History of a node: keys of the nodes it replaced, each with the rule."""


class TopDownWalk:
    """A walk from the outputs to the inputs; it tries no more rules after `max_nodes` new nodes."""

    def __init__(self, applier: Applier, max_nodes: int | None = None) -> None:
        self.applier = applier
        self.max_nodes = max_nodes
        self.stop: str | None = None
        self._made = 0

    def walk(self, graph: FunctionGraph) -> FunctionGraph:
        """The graph after one walk; the graph itself if no rule applied."""
        self._graph = graph
        self._replaced: dict[Variable, Variable] = {}
        self._live = {o.owner for o in graph.outputs}
        self.applier.known.update(graph.nodes)
        self.applier.inputs = frozenset(graph.inputs)
        self._kept: set[Apply] = set()
        with inheriting() as self._lines:
            for node in reversed(graph.order):
                self._visit(node)
        if not self._replaced:
            return graph
        return FunctionGraph(graph.inputs, rebuilt(graph.outputs, self._replaced), graph.updates)

    def _visit(self, start: Apply) -> None:
        """Offer a node of the graph and its replacements to the rules, unless it is dead."""
        work: list[tuple[Apply, Chain]] = [(start, ())]
        while work:
            node, chain = work.pop()
            if node in self._live:
                work.extend(self._offer(node, chain))

    def _offer(self, node: Apply, chain: Chain) -> Iterable[tuple[Apply, Chain]]:
        """Try the rules on a node; return the nodes to offer next, the first one last."""
        key = node_key(node)
        firing = None
        if any(key == earlier for earlier, _ in chain):
            self._diverged(node, [name for _, name in chain])
        elif self.stop is None and node not in self._kept:
            plain, by_users = self.applier.offers_to(match_key_of(node))
            self._lines.origin = node.origin
            firing = self.applier.fire(node, (*plain, *by_users), self._users)
        if firing is None:
            self._live.update(i.owner for i in node.inputs)
            return ()
        tally, after, fresh = firing
        after, fresh = self._over_copy(node, after, fresh)
        self._made += len(fresh)
        if self.max_nodes is not None and self._made > self.max_nodes:
            self.stop = limit_reached(self.max_nodes, tally.name)
        for old, new in zip(node.outputs, after, strict=True):
            if new is None:
                self._live.update(i.owner for i in node.inputs)
            else:
                self._replaced[old] = new
                self._live.add(new.owner)
        roots = {a.owner for a in after if a is not None}
        return [(new, (*chain, (key, tally.name)) if new in roots else ()) for new in fresh]

    def _over_copy(self, node: Apply, after: Outputs, fresh: list[Apply]) -> tuple[Outputs, list[Apply]]:
        """Rebuild a replacement that reads `node` itself on a copy of it; otherwise the walk would never end."""
        key = node_key(node)
        roots = [a.owner for a in after if a is not None]
        self._kept.update(new for new in fresh if new not in roots and node_key(new) == key)
        if not any(i.owner is node for new in fresh for i in new.inputs):
            return after, fresh
        copy = Apply(node.op, node.inputs, node.origin)
        self._kept.add(copy)
        images = dict(zip(node.outputs, copy.outputs, strict=True))
        found = iter(rebuild([a for a in after if a is not None], images))
        renewed = tuple(a if a is None else next(found) for a in after)
        fresh = fresh_nodes(renewed, self.applier.known)
        self.applier.known.update(fresh)
        return renewed, fresh

    def _users(self, variable: Variable) -> Sequence[Use]:
        """The readers of the value in the graph that the walk began with."""
        return self._graph.uses.get(variable, ())

    def _diverged(self, node: Apply, rules: Sequence[str]) -> None:
        names = tuple(dict.fromkeys(rules))
        text = f"{' and '.join(names)} undo one another on\n{excerpt(node)}"
        self.applier.failures.record(", ".join(names), repr(node), Divergence(text, names))


def rebuilt(outputs: Sequence[Variable], replaced: Mapping[Variable, Variable]) -> list[Variable]:
    """`outputs` with every replacement made, nested ones included."""
    image: dict[Variable, Variable] = {}
    done: set[Apply] = set()
    for output in outputs:
        top = _last(output, replaced)
        stack = [top.owner] if top.owner is not None else []
        while stack:
            node = stack[-1]
            inputs = [_last(i, replaced) for i in node.inputs]
            waiting = [i.owner for i in inputs if i.owner is not None and i.owner not in done]
            if waiting and node not in done:
                stack.extend(waiting)
                continue
            stack.pop()
            if node not in done:
                done.add(node)
                new = node.with_inputs([image.get(i, i) for i in inputs])
                image.update(zip(node.outputs, new.outputs, strict=True))
    return [image.get(last, last) for last in (_last(o, replaced) for o in outputs)]


def _last(variable: Variable, replaced: Mapping[Variable, Variable]) -> Variable:
    """The variable at the end of its chain of replacements."""
    while variable in replaced:
        variable = replaced[variable]
    return variable
