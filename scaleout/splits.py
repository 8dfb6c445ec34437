"""Propagation of states through a graph whose inputs are split, by the rules of its ops."""

from __future__ import annotations

from collections.abc import Mapping

from ..graph import Apply, FunctionGraph, Variable, toposort
from .positions import as_positions
from .rules import created, rule_of
from .stable_sums import as_sums, is_stable_sum
from .states import WHOLE, Collect, Placed, Split, State, Unsplittable, refused, resolved, shown


class Propagation:
    """The states of values that are not whole, and the placement of each node with such an input or output."""

    def __init__(self, splits: Mapping[Variable, Split]) -> None:
        self.states: dict[Variable, State] = dict(splits)
        self.placed: dict[Apply, Placed] = {}

    def place(self, node: Apply) -> None:
        """Compute the states of a node's outputs.  Raises Unsplittable."""
        states = [self.states.get(i) for i in node.inputs]
        found = [resolved(s) for s in states]
        placed = created(node, states)
        if placed is None and any(s is not WHOLE for s in found):
            rule = rule_of(node.op)
            if rule is None:
                raise refused(node, f"has no rule for chunks; {shown(found)}")
            placed = rule(node, found)
        if placed is not None:
            self.placed[node] = placed
            self.states.update(zip(node.outputs, placed.states, strict=True))


def propagated(
    graph: FunctionGraph, splits: Mapping[Variable, Split], gather: bool = False
) -> tuple[FunctionGraph, Propagation, tuple[str, ...]]:
    """Return the graph with nodes adapted to blocks (softmax along the split axis, positions), its states, and remarks.

    `gather`: the split operands of nodes that cannot run on blocks are collected, with a remark.  Otherwise such a
    node raises Unsplittable, which names op, axis and line.
    """
    found, remarks = Propagation(splits), []
    images: dict[Variable, Variable] = {}
    for node in graph.order:
        new = node.over(images)
        made = list(new.outputs)
        try:
            if (other := _adapted(new, found.states)) is not None:
                made = [other]
            else:
                found.place(new)
        except Unsplittable as error:
            if not gather:
                raise
            remarks.append(f"{error}.  Its chunked operands are gathered")
            made = _collected(new, found.states)
        for inner in toposort(made, stop_at=[*new.inputs, *new.outputs]):
            found.place(inner)
        images.update((o, m) for o, m in zip(node.outputs, made, strict=True) if o is not m)
    return FunctionGraph(graph.inputs, [images.get(o, o) for o in graph.outputs]), found, tuple(remarks)


def _adapted(node: Apply, states: Mapping[Variable, State]) -> Variable | None:
    """Return the output of a node by nodes that run on blocks; None if the node itself does."""
    return as_sums(node) if is_stable_sum(node, states) else as_positions(node, states)


def _collected(node: Apply, states: Mapping[Variable, State]) -> list[Variable]:
    """Return the outputs of a node whose split operands are collected."""
    operands = [Collect(s.axis)(i) if isinstance(s := states.get(i), Split) else i for i in node.inputs]
    return list(Apply(node.op, operands, node.origin).outputs)
