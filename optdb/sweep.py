"""One walk of rules over a graph, from the inputs to the outputs: the engine of the optimizers.

Each node is rebuilt on its rewritten inputs, merged with an equal node if there is one, and offered to the rules that
its match key selects.  The walk visits a replacement before anything else.  A node that no rule takes is finished for
good: nodes are immutable, so its operands cannot change.  Rules that look at users are the exception: each walk tries
them on the nodes of its first graph, because users are known only there.

The cost is linear in the nodes ever made, and nothing recurses.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from ..graph import (
    Apply,
    Constant,
    FunctionGraph,
    MatchKey,
    Op,
    Variable,
    inheriting,
    match_key_of,
    rebuild,
    show,
    toposort,
)
from ..graph.fgraph import Use
from .applier import Applier, Divergence, Outputs, Tally, node_key

MERGE = "MergeOptimizer"
"""The name under which merges stand in journals and profiles."""


class Frame:
    """A replacement that is being visited."""

    __slots__ = ("after", "key", "names", "node", "rest", "source")

    def __init__(self, source: Apply, node: Apply, after: Outputs, fresh: list[Apply], name: str) -> None:
        self.source: Apply = source
        """The node as it was met."""
        self.node: Apply = node
        """The node as it was offered: rebuilt, merged."""
        self.key: tuple[Any, ...] = node_key(node)
        self.after: Outputs = after
        self.rest: Iterator[Apply] = iter(fresh)
        """Nodes of the replacement that are yet to be visited."""
        self.names: list[str] = [name]
        """The rule, and those that went on from its result."""


class Sweep:
    """The walks of one optimizer, with their shared memory: finished nodes, and equal ones if `merging`.

    `stop` names the limit that was reached; the walk then tries no more rules and ends with a whole graph.
    """

    def __init__(
        self,
        applier: Applier,
        *,
        merging: bool = False,
        merge_name: str = MERGE,
        max_nodes: int | None = None,
        deadline: float | None = None,
    ) -> None:
        self.applier = applier
        self.merging = merging
        self.max_nodes = max_nodes
        self.deadline = deadline
        self.stop: str | None = None
        self.merge: Tally = Tally(merge_name)
        self.merged_constants: int = 0
        self.refused_merges: int = 0
        self._made = 0
        self._finished: set[Apply] = set()
        self._equal: dict[tuple[Variable, ...], Apply] = {}
        """The first node with these inputs: hashes of ops cost more, and most nodes share their inputs with none."""
        self._equal_ops: dict[tuple[Op, tuple[Variable, ...]], Apply] = {}
        """The first node of another op with the same inputs as one of `_equal`."""
        self._constants: dict[Any, Constant] = {}

    def walk(self, graph: FunctionGraph) -> FunctionGraph:
        """The graph after one walk; the graph itself if nothing changed."""
        busy = self.applier.busy(graph)
        if not busy and not (self.merging and graph.has_repeats):
            return graph
        self._graph = graph
        self._image: dict[Variable, Variable] = {}
        self._stand_ins: dict[Variable, list[Variable]] = {}
        self._frames: list[Frame] = []
        self._open: dict[Any, Frame] = {}
        self.applier.known.update(graph.nodes)
        self.applier.inputs = frozenset(graph.inputs)
        if self.merging:
            self._merge_constants(graph)
        with inheriting() as self._lines:
            self._visit_all(graph, busy)
        outputs = [self._image.get(o, o) for o in graph.outputs]
        if all(new is old for new, old in zip(outputs, graph.outputs, strict=True)):
            return graph
        return FunctionGraph(graph.inputs, outputs, graph.updates)

    # --- one node of the graph
    def _visit_all(self, graph: FunctionGraph, busy: Collection[MatchKey]) -> None:
        """Visit the nodes of the graph; until the first change, nodes that no rule selects cost one set lookup."""
        image, merging = self._image, self.merging
        changed = image.keys()
        quiet = self.stop is None and not (merging and (image or graph.has_repeats))  # no two nodes are equal so far
        for position, (node, key) in enumerate(zip(graph.order, graph.match_keys)):
            if quiet and (not image or (changed.isdisjoint(node.inputs) and node.outputs[0] not in image)):
                frame = self._offered(node, node, True) if key in busy else None
            elif quiet and node.outputs[0] not in image:
                frame = self._visit_changed(node)
            else:
                frame = self._visit(node, True) if self.stop is not None else self._visit_first(node, key in busy)
            if frame is None:
                continue
            if quiet and merging:  # from now on nodes may be equal: to new ones
                self._remember(graph.order[: position + 1])
            quiet = quiet and not merging and self.stop is None
            self._visit_replacement(frame)

    def _visit_changed(self, node: Apply) -> Frame | None:
        """`_visit` for a node of the graph with new inputs; nothing equals it, nor has a rule seen it."""
        image, inputs = self._image, node.inputs
        new = node.with_inputs(tuple(map(image.get, inputs, inputs)))
        if new is not node:
            self.applier.known.add(new)
            if self.applier.looks_at_users:
                self._stands_for(node, new, True)
            else:
                image.update(zip(node.outputs, new.outputs))
        return self._offered(node, new, True)

    def _visit_first(self, node: Apply, is_busy: bool) -> Frame | None:
        """`_visit` for a node of the graph, quick for the common case: unchanged and equal to no other."""
        if not self.merging or not self._image.keys().isdisjoint(node.inputs) or node.outputs[0] in self._image:
            return self._visit(node, True)
        if node not in self._finished and self._first_equal(node) is not node:
            return self._met(node, node, True)
        return self._offered(node, node, True) if is_busy else None

    def _visit_replacement(self, frame: Frame) -> None:
        """Visit the nodes of a replacement, and of the replacements made in it."""
        frames = self._frames
        frames.append(frame)
        while frames:
            fresh = next(frames[-1].rest, None)
            if fresh is None:
                self._close(frames.pop())
                continue
            inner = self._visit(fresh, False)
            if inner is not None:
                frames.append(inner)

    def _visit(self, source: Apply, in_graph: bool) -> Frame | None:
        """Rebuild, merge and offer one node; return the frame of its replacement if a rule fires."""
        node = source.over(self._image)
        if node is not source:
            self.applier.known.add(node)
        return self._met(source, node, in_graph)

    def _met(self, source: Apply, node: Apply, in_graph: bool) -> Frame | None:
        """Merge and offer `node`, which is `source` on its rewritten inputs."""
        if self._frames and (frame := self._open.get(node_key(node))) is not None:
            node = frame.node
            self._finished.add(node)  # it stands inside its own replacement, and there it stays
        elif self.merging:
            node = self._merged(node, in_graph)
        if node is not source:
            self._stands_for(source, node, in_graph)
        if node.outputs[0] in self._image or self.stop is not None:
            return None
        return self._offered(source, node, in_graph)

    def _offered(self, source: Apply, node: Apply, in_graph: bool) -> Frame | None:
        """Offer a node to its rules unless it is finished; return the frame of the replacement if a rule fires."""
        key = node._match_key or match_key_of(node)
        plain, by_users = self.applier.offers.get(key) or self.applier.offers_to(key)
        if plain and node not in self._finished and (frame := self._offer(source, node, plain)) is not None:
            return frame
        if plain or self.merging:
            self._finished.add(node)
        return self._offer(source, node, by_users) if by_users and in_graph else None

    def _stands_for(self, source: Apply, node: Apply, in_graph: bool) -> None:
        """Let the readers of `source` read `node`, or its replacement."""
        image, noted = self._image, in_graph and self.applier.looks_at_users
        for old, new in zip(source.outputs, node.outputs):
            final = image[old] = image.get(new, new)
            if noted:
                self._stand_ins.setdefault(final, []).append(old)

    def _offer(self, source: Apply, node: Apply, tallies: Sequence[Tally]) -> Frame | None:
        """Try rules on a node; return the frame of the replacement if one fires."""
        self._lines.origin = node.origin
        firing = self.applier.fire(node, tallies, self._users)
        if firing is None:
            return None
        tally, after, fresh = firing
        self._count(fresh, tally.name)
        frame = Frame(source, node, after, fresh, tally.name)
        self._open[frame.key] = frame
        read = {i for inner in fresh for i in inner.inputs}
        stays = None in after or not read.isdisjoint(node.outputs)
        (self._finished.add if stays else self._finished.discard)(node)
        return frame

    def _count(self, fresh: Sequence[Apply], rule: str) -> None:
        """Set `stop` if the rules have made too many nodes or taken too long."""
        self._made += len(fresh)
        if self.max_nodes is not None and self._made > self.max_nodes:
            self.stop = limit_reached(self.max_nodes, rule)
        elif self.deadline is not None and time.perf_counter() > self.deadline:
            self.stop = "limit of time"

    def _close(self, frame: Frame) -> None:
        """Put a replacement in place once all its nodes are visited."""
        del self._open[frame.key]
        for old, before, after in zip(frame.source.outputs, frame.node.outputs, frame.after):
            if after is None:
                continue
            final = self._image.get(after, after)
            if final is before:
                self._finished.add(frame.node)
                self._diverged(frame)
                continue
            self._image[old] = self._image[before] = final
            if self.applier.looks_at_users and not self._frames:
                self._stand_ins.setdefault(final, []).append(old)
        if self._frames and any(a is not None and a.owner is frame.source for a in self._frames[-1].after):
            self._frames[-1].names += frame.names

    def _diverged(self, frame: Frame) -> None:
        names = tuple(dict.fromkeys(frame.names))
        text = f"{' and '.join(names)} undo one another on\n{excerpt(frame.node)}"
        self.applier.failures.record(", ".join(names), repr(frame.node), Divergence(text, names))

    def _users(self, variable: Variable) -> Sequence[Use]:
        """The readers of the value, or of the one it replaces, in the first graph of the walk; none if it is new."""
        uses = self._graph.uses
        found = list(uses.get(variable, ()))
        for old in self._stand_ins.get(variable, ()):
            found += uses.get(old, ())
        return found

    # --- merging
    def _merged(self, node: Apply, in_graph: bool) -> Apply:
        """The first node that computes the same, or this one.  The merge is journaled."""
        if not in_graph:  # the constants of the graph itself are merged before the walk
            constants = [i for i in node.inputs if isinstance(i, Constant)]
            if any(self._constants.setdefault(c.key, c) is not c for c in constants):
                inputs = [self._constants.setdefault(i.key, i) if isinstance(i, Constant) else i for i in node.inputs]
                node = node.with_inputs(inputs)
                self.applier.known.add(node)
        first = self._first_equal(node)
        if first is node:
            return node
        clock = self.applier.clock
        start = clock.read()
        images = [self._image.get(o, o) for o in first.outputs]
        known = all(new.type == old.type or new.type.refines(old.type)
                    for old, new in zip(node.outputs, images, strict=True))  # fmt: skip
        merged = known and self._admit_merges(node.outputs, images)  # the first one may know fewer lengths
        self.merge.time += clock.read() - start
        return first if merged else node

    def _first_equal(self, node: Apply) -> Apply:
        """Return the first node met that applies the same op to the same inputs, perhaps this one."""
        first = self._equal.setdefault(node.inputs, node)
        if first is node or first.op == node.op:
            return first
        return self._equal_ops.setdefault((node.op, node.inputs), node)

    def _remember(self, nodes: Iterable[Apply]) -> None:
        """Let each of these nodes be the first one of its kind."""
        for node in nodes:
            if (first := self._equal.setdefault(node.inputs, node)) is node:
                continue
            if first.op == node.op:
                self._equal[node.inputs] = node
            else:
                self._equal_ops[node.op, node.inputs] = node

    def _merge_constants(self, graph: FunctionGraph) -> None:
        clock = self.applier.clock
        start = clock.read()
        for constant in graph.constants:
            first = self._constants.setdefault(constant.key, constant)
            if first is not constant and self._admit_merges((constant,), (first,)):
                self._image[constant] = first
                self.merged_constants += 1
        self.merge.time += clock.read() - start

    def _admit_merges(self, before: Sequence[Variable], after: Sequence[Variable]) -> bool:
        """Return whether the editor accepts all of them."""
        self.merge.tried += 1
        passed = self.applier.editor.admit_together(self.merge.name, tuple(zip(before, after, strict=True)))
        self.merge.fired += len(before) if passed else 0
        self.refused_merges += 0 if passed else len(before)
        return passed


def limit_reached(max_nodes: int, rule: str) -> str:
    """The reason to stop when rules made too many nodes."""
    return f"limit of {max_nodes} new nodes, the last of them made by {rule}"


def excerpt(node: Apply, levels: int = 3) -> str:
    """The text of a node and its ancestors, `levels` deep."""
    near, edge = {node}, [node]
    for _ in range(levels - 1):
        edge = [i.owner for n in edge for i in n.inputs if i.owner is not None]
        near.update(edge)
    cut = {i: i.clone_leaf() for n in near for i in n.inputs if i.owner is not None and i.owner not in near}
    outputs = rebuild(node.outputs, dict(cut))
    inputs = dict.fromkeys(i for n in toposort(outputs) for i in n.inputs if i.owner is None)
    return show([i for i in inputs if not isinstance(i, Constant)], outputs)
