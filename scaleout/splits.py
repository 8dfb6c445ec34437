"""The states of all values of a graph whose inputs are split, by the rules of its ops."""

from __future__ import annotations

from collections.abc import Mapping

from ..graph import Apply, FunctionGraph, Variable
from .rules import rule_of
from .states import WHOLE, Placed, Split, State, refused, resolved, shown


class Propagation:
    """`states` of values that are not whole, and `placed`: the nodes with such an input or output."""

    def __init__(self, splits: Mapping[Variable, Split]) -> None:
        self.states: dict[Variable, State] = dict(splits)
        self.placed: dict[Apply, Placed] = {}

    def place(self, node: Apply) -> None:
        """Find the states of a node's outputs.  Raises Unsplittable."""
        found = [resolved(self.states.get(i)) for i in node.inputs]
        if all(s is WHOLE for s in found):
            return
        rule = rule_of(node.op)
        if rule is None:
            raise refused(node, f"cannot run on {shown(found)}; give its operands in one chunk")
        placed = self.placed[node] = rule(node, found)
        self.states.update(zip(node.outputs, placed.states, strict=True))


def propagated(graph: FunctionGraph, splits: Mapping[Variable, Split]) -> Propagation:
    """The states of all values.  Raises Unsplittable, naming op, axis and line."""
    found = Propagation(splits)
    for node in graph.order:
        found.place(node)
    return found
