"""Costs of elementwise nodes on the current target; the model is in `targets/costs.py`."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ...graph import Apply, Variable, dims_of
from ...targets.costs import ITEMS, UNKNOWN_LENGTH
from ...targets.current import current


def element(node: Apply) -> float:
    """Return picoseconds per element of the result of an elementwise node; other nodes count as one addition."""
    op = node.op
    return current().costs.elementwise(op.name, float(getattr(op, "cost", 1)), node.outputs[0].type.dtype)


def additions(node: Apply) -> int:
    """Return the additions that take as long as an element of the result of an elementwise node."""
    op = node.op
    return current().costs.additions(op.name, float(getattr(op, "cost", 1)), node.outputs[0].type.dtype)


def work(node: Apply) -> float:
    """Return the same per byte of the result."""
    return element(node) / ITEMS[node.outputs[0].type.dtype]


def lengths(variable: Variable) -> list[int]:
    """Return the lengths of a value, with estimates for unknown ones."""
    return [d if isinstance(d, int) else UNKNOWN_LENGTH for d in dims_of(variable)]


def size(variable: Variable) -> int:
    """Return the estimated number of elements."""
    return math.prod(lengths(variable))


def bytes_of(variables: Iterable[Variable]) -> int:
    """Return the estimated bytes of several values."""
    return sum(size(v) * ITEMS[v.dtype] for v in variables)
