"""Short vectors of a step: arrays of a few elements, which a loop over elements keeps in memory of its own.

    k = np.array([y[1], -sin(y[0])]);  y = y + h * k        k and the new y have two elements each

A vector is kept if its type has its length.  A vector is short as well if it can only be as long as a short one: a
state that becomes one, or an elementwise result of one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...graph import FunctionGraph, Variable
from ..elementwise.records import Pointwise
from ..lowered.assumed import AssumeEqual
from ..lowered.fused import Fused, unmarked
from ..shapes.specify import CheckLengths
from .cond import Cond

LONGEST = 16


def is_kept(v: Variable) -> bool:
    """Whether an array is a vector of a few elements, as its type says."""
    return v.ndim == 1 and v.type.shape[0] is not None and v.type.shape[0] <= LONGEST


def short_vectors(graph: FunctionGraph, states: Sequence[Variable]) -> set[Variable]:
    """Return the vectors of a body that have few elements in every step that raises no error."""
    found = {v for v in graph.inputs if is_kept(v)}
    while True:
        for node in graph.order:
            found.update(v for v in node.outputs if is_kept(v))
            op = unmarked(node.op)
            same = isinstance(op, (Pointwise, Fused, AssumeEqual, CheckLengths)) and not found.isdisjoint(node.inputs)
            if same or (isinstance(op, Cond) and _gives_one(op)):
                found.update(v for v in node.outputs if v.ndim == 1)
        new = {s for s, o in zip(states, graph.outputs, strict=False) if o in found} - found
        if not new:
            return found
        found |= new


def _gives_one(op: Cond) -> bool:
    return any(is_kept(o) for graph in op.branches for o in graph.outputs)
