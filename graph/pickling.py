"""Pickling without recursion: the ancestors of a variable are written as a flat list of nodes, in order.

Leaves are pickled as objects of their own, so one input stays one input across all the expressions of a pickle; nodes
between them are shared within each pickled variable and within each FunctionGraph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .collector import gc_paused
from .walk import toposort

if TYPE_CHECKING:
    from .node import Apply, Variable

Row = tuple[Any, ...]
"""op, the class Apply, input numbers, output names, origin"""


class Rows(tuple[Row, ...]):
    """Nodes as rows.  The items of a row are immutable, so a deep copy shares them; only leaves are copied."""

    __slots__ = ()

    def __deepcopy__(self, _: dict[int, Any]) -> Rows:
        return self


@gc_paused
def flatten(outputs: Sequence[Variable]) -> tuple[list[Variable], Rows, list[int]]:
    """The leaves, the nodes as rows, and the numbers of `outputs`; numbers count leaves first, then outputs of rows."""
    order = toposort(outputs)
    number: dict[Variable, int] = {}
    for node in order:
        for i in node.inputs:
            if i.owner is None:
                number.setdefault(i, len(number))
    for o in outputs:
        if o.owner is None:
            number.setdefault(o, len(number))
    found = list(number)
    rows: list[Row] = []
    for node in order:
        for o in node.outputs:
            number[o] = len(number)
        names = tuple(o.name for o in node.outputs)
        rows.append((node.op, type(node), tuple(number[i] for i in node.inputs), names, node.origin))
    return found, Rows(rows), [number[o] for o in outputs]


@gc_paused
def unflatten(found: Sequence[Variable], rows: Sequence[Row], numbers: Sequence[int]) -> list[Variable]:
    """The outputs that `flatten` was given, built again over the leaves `found`."""
    variables = list(found)
    for op, apply, inputs, names, origin in rows:
        node = apply(op, [variables[i] for i in inputs], origin)
        for output, name in zip(node.outputs, names, strict=True):
            output.name = name
        variables.extend(node.outputs)
    return [variables[n] for n in numbers]


def reduce_variable(variable: Variable) -> Any:
    """`Variable.__reduce__`."""
    if variable.owner is None:
        data = getattr(variable, "data", None)
        arguments = (variable.type, None, 0, variable.name) if data is None else (data, variable.name)
        return type(variable), arguments
    return _restore_output, (*flatten(variable.owner.outputs), variable.index)


def reduce_apply(node: Apply) -> Any:
    """`Apply.__reduce__`."""
    return _restore_apply, flatten(node.outputs)


def _restore_output(found: list[Variable], rows: Sequence[Row], numbers: list[int], index: int) -> Variable:
    return unflatten(found, rows, numbers)[index]


def _restore_apply(found: list[Variable], rows: Sequence[Row], numbers: list[int]) -> Apply:
    owner = unflatten(found, rows, numbers)[0].owner
    assert owner is not None
    return owner
