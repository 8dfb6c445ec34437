"""Alias analysis: values that share memory, nodes that overwrite values, and a safe order of execution.

An op says by `may_view()` which outputs may be windows on the memory of an input and by `destroys()` which outputs are
written over an input.  The values that are windows on one another are a *family*, named by its *root*, the value that
all of them look at. A node that overwrites one member overwrites all, so

    - a family is overwritten at most once, never if its root is a constant or a member is an output of the graph;
    - every other reader of the family runs before its destroyer;
    - an input of the graph is overwritten only on the way to the output that replaces it (`FunctionGraph.updates`).

The nodes that overwrite inputs, and what depends on them, come last: all that may still fail has run by then.
(The analysis is that of Theano's DestroyHandler; here it is a value and not a listener.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush

from .fgraph import FunctionGraph
from .node import Apply, Constant, Variable
from .op import Op


class InconsistencyError(ValueError):
    """The graph overwrites a value that is still needed; the message names the value and its reader."""


def says_of_memory(kind: type[Op]) -> bool:
    """Return whether ops of this class may return views or overwrite operands."""
    return kind.views is not Op.views or kind.may_view is not Op.may_view or kind.destroys is not Op.destroys


class Destroyers:
    """The alias analysis of `graph`: families, their readers, their destroyers, and a legal order.

    `private`: the inputs with updates belong to the caller alone, such as the states of a loop: they may be overwritten
    at any time, by what becomes their update or not.
    Raises InconsistencyError if no order of the nodes keeps every value intact until its last reader has run.
    """

    def __init__(self, graph: FunctionGraph, private: bool = False) -> None:
        self.graph = graph
        self.private = private
        self.root: dict[Variable, Variable] = {}
        """The family of each value that is a view of another; a value that is missing is its own root."""
        self.storage: dict[Variable, Variable] = {}
        """The first value in the memory of each value that is a view of another or overwrites it."""
        self.destroyer: dict[Variable, Apply] = {}
        """The node that overwrites a family, by root."""
        kinds = {kind for kind in {type(node.op) for node in graph.order} if says_of_memory(kind)}
        for node in graph.order:
            if type(node.op) in kinds:
                self._follow_views(node)
                self._follow_destruction(node)
        self.readers: dict[Variable, list[Apply]] = self._readers()
        """The nodes that read a family which is overwritten, by root."""
        self._check_inputs_and_outputs()
        self.order: tuple[Apply, ...] = tuple(self._scheduled()) if self.destroyer else graph.order
        """The nodes in an order that is safe; it depends on structure alone."""

    def root_of(self, variable: Variable) -> Variable:
        """The value whose memory `variable` shows."""
        return self.root.get(variable, variable)

    def storage_of(self, variable: Variable) -> Variable:
        """The first value in the memory of `variable`."""
        return self.storage.get(variable, variable)

    # --- what is said by the ops
    def _follow_views(self, node: Apply) -> None:
        for output, source in node.op.may_view().items():
            self.root[node.outputs[output]] = self.root_of(node.inputs[source])
            self.storage[node.outputs[output]] = self.storage_of(node.inputs[source])

    def _follow_destruction(self, node: Apply) -> None:
        destroyed = node.op.destroys()
        for output, target in destroyed.items():
            victim = node.inputs[target]
            root = self.root_of(victim)
            if isinstance(root, Constant):
                raise InconsistencyError(f"{node!r} would overwrite a constant")
            if root in self.destroyer:
                raise InconsistencyError(
                    f"{node!r} would overwrite {name(root)}, which {self.destroyer[root]!r} overwrites"
                )
            if any(self.root_of(i) is root and i is not victim for i in node.inputs):
                raise InconsistencyError(f"{node!r} would overwrite {name(root)}, which it reads through another view")
            self.destroyer[root] = node
            self.storage[node.outputs[output]] = self.storage_of(victim)

    def _readers(self) -> dict[Variable, list[Apply]]:
        readers: dict[Variable, list[Apply]] = {root: [] for root in self.destroyer}
        for node in self.graph.order if readers else ():
            for root in {self.root_of(i): None for i in node.inputs}:
                if root in readers:
                    readers[root].append(node)
        return readers

    # --- what is forbidden
    def _check_inputs_and_outputs(self) -> None:
        kept = {self.root_of(o) for o in self.graph.outputs}
        replaced_by = {self.graph.inputs[i]: self.graph.outputs[o] for i, o in self.graph.updates}
        for root, node in self.destroyer.items():
            if root in kept:
                raise InconsistencyError(f"{node!r} would overwrite {name(root)}, which is an output")
            first = self.storage_of(root)
            if first.owner is not None:
                continue
            if first not in replaced_by:
                raise InconsistencyError(f"{node!r} would overwrite the input {name(first)}, which has no update")
            lies_elsewhere = self.storage_of(replaced_by[first]) is not first
            if lies_elsewhere and not node.op.restorable and not self.private:
                raise InconsistencyError(
                    f"{node!r} would overwrite the input {name(first)}, whose update lies elsewhere"
                )

    # --- the order
    def before(self, node: Apply) -> list[Apply]:
        """The nodes that must run before `node` because it overwrites what they read."""
        victims = {self.root_of(node.inputs[i]): None for i in node.op.destroys().values()}
        return [reader for root in victims for reader in self.readers[root] if reader is not node]

    def overwrites_input(self, node: Apply) -> bool:
        """Return whether `node` overwrites an input of the graph that a failing call does not restore."""
        victims = (node.inputs[i] for i in node.op.destroys().values())
        lasting = not node.op.restorable and not self.private
        return lasting and any(self.storage_of(victim).owner is None for victim in victims)

    def starting_with(self, first: Sequence[Apply]) -> tuple[Apply, ...]:
        """The order in which these nodes run as soon as they can."""
        return tuple(self._scheduled(first))

    def _scheduled(self, first: Sequence[Apply] = ()) -> list[Apply]:
        before = {node: self.before(node) for node in dict.fromkeys(self.destroyer.values())}
        order = ordered((*first, *self.graph.order), before)
        return overwriters_last(order, before, {node for node in before if self.overwrites_input(node)})


def execution_order(graph: FunctionGraph, first: Sequence[Apply] = (), private: bool = False) -> tuple[Apply, ...]:
    """The nodes of `graph` in an order in which every value is read before it is overwritten (see Destroyers).

    Those that are named `first` run as soon as they can.
    """
    found = Destroyers(graph, private)
    return found.starting_with(first) if first else found.order


def ordered(nodes: Iterable[Apply], before: Mapping[Apply, list[Apply]]) -> list[Apply]:
    """The nodes in depth-first order, each after its inputs and after the nodes that `before` names for it.

    Raises InconsistencyError where that is a circle.
    """
    order: list[Apply] = []
    open_nodes: dict[Apply, Iterator[Apply]] = {}  # the path from the node of the outer loop, in order
    done: set[Apply] = set()
    for start in nodes:
        current: Apply | None = None if start in done else start
        while current is not None:
            if current not in open_nodes:
                open_nodes[current] = predecessors(current, before)
            for above in open_nodes[current]:
                if above in open_nodes:
                    raise InconsistencyError(
                        f"{above!r} must run before {current!r}, which overwrites its input, and after it"
                    )
                if above not in done:
                    current = above
                    break
            else:
                done.add(current)
                order.append(current)
                open_nodes.popitem()
                current = next(reversed(open_nodes), None)
    return order


def with_readers_first(
    order: Sequence[Apply], before: Mapping[Apply, list[Apply]], wished: Mapping[Apply, Sequence[Apply]]
) -> list[Apply]:
    """Return the order with the nodes that `wished` names for a node before it, as far as other nodes allow it.

    Nodes stay in their order otherwise.  Source: Kahn, Topological sorting of large networks.
    """
    place = {node: k for k, node in enumerate(order)}
    needs = {node: set(predecessors(node, before)) for node in order}
    missing = {node: len(needs[node]) for node in order}
    wishes = {node: len(set(wished.get(node, ()))) for node in order}
    followers: dict[Apply, list[tuple[Apply, dict[Apply, int]]]] = {node: [] for node in order}
    for node in order:
        for counts, earlier in ((missing, needs[node]), (wishes, set(wished.get(node, ())))):
            for above in earlier:
                followers[above].append((node, counts))
    ready = [k for k, node in enumerate(order) if not missing[node] and not wishes[node]]
    held = [k for k, node in enumerate(order) if not missing[node] and wishes[node]]
    found: dict[Apply, None] = {}
    while ready or held:
        node = order[heappop(ready or held)]
        if node in found:
            continue
        found[node] = None
        for later, counts in followers[node]:
            counts[later] -= 1
            if not missing[later] and later not in found:
                heappush(held if wishes[later] else ready, place[later])
    return list(found)


def overwriters_last(order: list[Apply], before: Mapping[Apply, list[Apply]], overwriters: set[Apply]) -> list[Apply]:
    """Move `overwriters` and the nodes that must follow them to the end of `order`."""
    late: set[Apply] = set()
    for node in order if overwriters else ():
        if node in overwriters or any(above in late for above in predecessors(node, before)):
            late.add(node)
    return [node for node in order if node not in late] + [node for node in order if node in late]


def predecessors(node: Apply, before: Mapping[Apply, list[Apply]]) -> Iterator[Apply]:
    """The nodes that must have run before `node`: those that compute its inputs, and those that `before` names."""
    for i in node.inputs:
        if i.owner is not None:
            yield i.owner
    yield from before.get(node, ())


def name(variable: Variable) -> str:
    """The name of a value in a message."""
    return variable.name or (repr(variable.owner) if variable.owner is not None else str(variable.type))
