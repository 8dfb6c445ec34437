"""Columns of arrays whose number a trace holds for: coordinates of points, channels of images.

    def f(p): return p[:, 0] * p[:, 1]        called with 2 columns: p is float64[?, 2], with a guard

A program that takes columns one by one, or sums the coordinates of pairs, is written for so many.  What is known of
them lets the optimizer compute columns instead of short rows.  Other lengths stay open, so that one trace serves all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..graph import Apply, Constant, Variable, rebuild, toposort
from ..graph.dims import atoms, dims_of
from ..ops.core.tracing import Known, Trace
from ..ops.core.variables import tensor
from ..ops.reductions.reduce import Reduce
from ..ops.shapes.indexing import Subtensor, entries

SHORT = 4
"""Most columns that a trace holds for."""


def with_columns(trace: Trace, arguments: Sequence[Any], outputs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return arguments and results of a trace with the numbers of columns that it takes; guards require them."""
    found = {dim.args[0] for node in toposort(outputs) for value in _in_columns(node) for dim in _lengths(value)}
    typed: dict[Variable, Variable] = {}
    guards = []
    for v in arguments:
        length = trace.lengths[v][-1] if v in found and v.ndim > 1 and v in trace.lengths else None
        if isinstance(length, Known) and 1 < length.value <= SHORT:
            typed[v] = tensor(v.name, dtype=v.dtype, shape=(*v.type.shape[:-1], length.value))
            guards.append(f"{length.text} == {length.value}")
    if not typed:
        return list(arguments), list(outputs)
    try:
        images = rebuild(outputs, dict(typed))
    except (TypeError, ValueError, IndexError):  # lengths that contradict one another: the call says which
        return list(arguments), list(outputs)
    for guard in guards:
        trace.require(guard)
    return [typed.get(v, v) for v in arguments], images


def _in_columns(node: Apply) -> Iterator[Variable]:
    """Yield the operand of which a node takes columns by number, or sums the columns of a table of rows."""
    if isinstance(node.op, Subtensor):
        x, *indices = node.inputs
        bounds = entries(node.op.spec, indices)
        if len(bounds) == x.ndim > 1 and _is_constant(bounds[-1]):
            yield x
    elif isinstance(node.op, Reduce) and node.op.axis == (node.inputs[0].ndim - 1,) and node.inputs[0].ndim > 2:
        yield node.inputs[0]


def _is_constant(bound: Any) -> bool:
    """Whether an index along an axis is a number, or a slice between numbers."""
    if not isinstance(bound, slice):
        return isinstance(bound, Constant)
    given = [b for b in (bound.start, bound.stop, bound.step) if b is not None]
    return bool(given) and all(isinstance(b, Constant) for b in given)


def _lengths(value: Variable) -> Iterator[Any]:
    """Yield the lengths of arguments of which the last one of a value is made."""
    dim = dims_of(value)[-1]
    return (atom for atom in (() if isinstance(dim, int) else atoms(dim)) if atom.kind == "extent")
