"""Loops and choices on symbolic arrays: steps one after the other for a known count, and both branches of a choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..graph import Apply, FunctionGraph
from ..ops.control.cond import Cond
from ..ops.control.scan_ops import Scan
from .terms import NotTranslated, Vacuous
from .values import Array, Known, lifted, objects

if TYPE_CHECKING:
    from .arrays import Translation

MOST_STEPS = 6
"""Steps of a loop that are followed."""


def _inner(t: Translation, graph: FunctionGraph, values: Sequence[Known]) -> list[Known]:
    """The values of a body."""
    return t.outputs(graph.order, graph.outputs, dict(zip(graph.inputs, values, strict=True)))


def scanned(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    """The results of a loop whose count of steps is known."""
    op: Any = node.op
    if type(op) is not Scan or op.until:
        raise NotTranslated(f"{op.name}, which ends by a condition")
    n, *rest = inputs
    if isinstance(n, Array) or not 0 <= int(n) <= MOST_STEPS:
        raise NotTranslated(f"{op.name} of an unknown or large number of steps")
    sequences, states, others = rest[: op.sequences], list(rest[op.states]), rest[op.states.stop :]
    if any(s.shape[0] < int(n) for s in sequences):
        raise Vacuous("a sequence shorter than the loop")
    rows: list[list[Array]] = [[] for _ in op.graph.outputs]
    for step in range(int(n)):
        slices = [Array(s.items[step, ...], s.dtype) if isinstance(s, Array) else s[step, ...] for s in sequences]
        found = _inner(t, op.graph, [*slices, *states, *others])
        states = found[: len(states)]
        for row, value, variable in zip(rows, found, op.graph.outputs, strict=True):
            row.append(lifted(t.theory, value, variable.dtype))
    made: list[Known] = []
    for k, variable in enumerate(op.graph.outputs):
        if k < len(states) and not op.traced[k]:
            made.append(states[k])
        elif not rows[k]:
            raise Vacuous("a loop without a step, whose values have no lengths")
        else:
            items = [term for row in rows[k] for term in row.items.flat]
            made.append(Array(objects((len(rows[k]), *rows[k][0].shape), items), variable.dtype))
    return made


def chosen(t: Translation, node: Apply, inputs: Sequence[Known]) -> Sequence[Known]:
    """The results of a choice: by its condition if that is known, else element by element."""
    op: Any = node.op
    condition, *operands = inputs
    if not isinstance(condition, Array):
        return _inner(t, op.then if condition else op.otherwise, operands)
    raises = len(t.theory.raises)
    one, other = (_inner(t, branch, operands) for branch in op.branches)
    if len(t.theory.raises) > raises:
        raise NotTranslated("a choice between computations that may fail")
    test = t.theory.cast(condition.items.flat[0], "bool")
    made: list[Known] = []
    for a, b, variable in zip(one, other, node.outputs, strict=True):
        a, b = (lifted(t.theory, v, variable.dtype) for v in (a, b))
        if a.shape != b.shape:
            raise NotTranslated("a choice between arrays of different lengths")
        pairs = zip(a.items.flat, b.items.flat, strict=True)
        made.append(Array(objects(a.shape, [t.theory.choose(test, x, y) for x, y in pairs]), variable.dtype))
    return made


LOOPS: dict[type, Callable[..., Sequence[Known]]] = {Scan: scanned, Cond: chosen}
