"""The cost of elementwise nodes on the current target; the model is `targets/costs.py`."""

from __future__ import annotations

from ..graph import Apply
from ..targets.costs import ITEMS
from ..targets.current import current


def element(node: Apply) -> float:
    """Picoseconds an element of the result of an elementwise node; other nodes count as one addition."""
    op = node.op
    return current().costs.elementwise(op.name, float(getattr(op, "cost", 1)), node.outputs[0].type.dtype)


def additions(node: Apply) -> int:
    """The additions that take as long as an element of the result of an elementwise node."""
    op = node.op
    return current().costs.additions(op.name, float(getattr(op, "cost", 1)), node.outputs[0].type.dtype)


def work(node: Apply) -> float:
    """The same for each byte of the result."""
    return element(node) / ITEMS[node.outputs[0].type.dtype]
