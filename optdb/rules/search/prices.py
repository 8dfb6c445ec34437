"""Prices of nodes in picoseconds on the target, and the price of a graph: shared values once, fused ones in place.

A node that fuses with its readers writes nothing to memory and reads nothing from it; so the price of a graph depends
on which nodes stand together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....graph import Apply, Constant, Variable
from ....ops.elementwise.costs import bytes_of, size
from ....ops.elementwise.records import Cast, Elementwise
from ....ops.reductions.reduce import Reduce
from ....targets.costs import ITEMS
from ....targets.current import current

VIEW = 1.0
"""The price of a view, so that a shorter chain of views is cheaper."""


def arithmetic(node: Apply) -> float:
    """The time of the arithmetic of a node."""
    op: Any = node.op
    costs = current().costs
    if isinstance(op, Reduce):
        return float(costs.addition_byte * bytes_of(node.inputs[:1]))
    work = op.operations(node) if getattr(op, "operations", None) is not None else None
    if work is None or work.kind == "moving":
        return 0.0
    if work.kind == "elementwise":
        return float(work.count)
    item = ITEMS[work.dtype] / 4
    return float(work.count * item * (costs.cubic if work.kind in ("cubic", "sorting") else costs.product))


def fuses(node: Apply) -> bool:
    """Whether a node is computed in the loops of its readers."""
    return isinstance(node.op, (Elementwise, Cast))


def is_view(node: Apply) -> bool:
    """Whether a node moves no byte."""
    return bool(node.op.views())


def moved(variables: Iterable[Variable]) -> float:
    """The time to read or write some values."""
    large = [v for v in variables if not (isinstance(v, Constant) and v.ndim == 0)]
    return float(current().costs.moved_byte * bytes_of(large))


def alone(node: Apply) -> float:
    """The price of a node whose operands and results are in the cache: what decides between forms at first."""
    return VIEW if is_view(node) else arithmetic(node) + 0.25 * moved(node.outputs) + VIEW


def of_graph(nodes: Iterable[Apply], outputs: Iterable[Variable]) -> float:
    """The price of a graph: each node once, and memory only where values leave a group that fuses."""
    nodes = list(nodes)
    readers: dict[Variable, list[Apply]] = {}
    for node in nodes:
        for i in dict.fromkeys(node.inputs):
            readers.setdefault(i, []).append(node)
    kept = set(outputs)
    total, launch = 0.0, float(current().costs.launch)
    for node in nodes:
        if is_view(node):
            total += VIEW
            continue
        inside = fuses(node) and node.outputs[0] not in kept and _read_in_loops(node.outputs[0], readers)
        total += arithmetic(node) + VIEW
        total += moved(i for i in dict.fromkeys(node.inputs) if not _is_inside(i, kept, readers))
        total += 0.0 if inside else moved(node.outputs) + launch
    return total


def _read_in_loops(variable: Variable, readers: Mapping[Variable, list[Apply]]) -> bool:
    """Whether all readers of a value can compute it in their own loops."""
    found = readers.get(variable, [])
    return bool(found) and all(
        (fuses(node) and size(node.outputs[0]) == size(variable)) or isinstance(node.op, Reduce) for node in found
    )


def _is_inside(variable: Variable, kept: set[Variable], readers: Mapping[Variable, list[Apply]]) -> bool:
    """Whether a value is computed in the loops that read it."""
    made = variable.owner
    return made is not None and fuses(made) and variable not in kept and _read_in_loops(variable, readers)
