"""Small arrays of a step: vectors and matrices of a few elements, each in memory of its own in a loop over elements.

    k = np.array([y[1], -sin(y[0])]);  y = y + h * k        k and the new y have two elements each

An array is kept if its type says that it is so small.  Operations on such arrays are computed element by element, in
straight code.  A vector is short as well if it can only be as long as a kept one: a state that becomes one, or an
elementwise result of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from ...graph import Apply, Constant, FunctionGraph, Op, TensorType, Variable
from ..core.tensor import TensorVariable
from ..elementwise.records import Pointwise
from ..linalg.blas import BlasOp, Dot
from ..lowered.assembled import Assembled
from ..lowered.assumed import AssumeEqual
from ..lowered.fused import Fused, unmarked
from ..reductions.reduce import ArgReduce, Reduce
from ..shapes.creation import Alloc
from ..shapes.indexing import IncSubtensor, Subtensor
from ..shapes.joining import Join
from ..shapes.lengths import MakeVector
from ..shapes.shape import BroadcastTo, DimShuffle, Reshape
from ..shapes.specify import CheckLengths
from .cond import Cond

LONGEST = 16
"""Elements of a kept array at most."""


def is_kept(v: Variable) -> bool:
    """Whether an array has a few elements, as its type says."""
    return v.ndim > 0 and is_small_type(v.type)


def is_small_type(kind: TensorType) -> bool:
    """Whether the lengths are known, and few elements follow from them."""
    return None not in kind.shape and math.prod(n or 0 for n in kind.shape) <= LONGEST


def is_small(node: Apply) -> bool:
    """Whether a node computes scalars and kept arrays from such values, one element after the other."""
    op, types = unmarked(node.op), tuple(v.type for v in node.inputs)
    if not any(v.ndim for v in (*node.inputs, *node.outputs)) or isinstance(op, (Subtensor, IncSubtensor)):
        return False
    return all(is_small_type(v.type) for v in (*node.inputs, *node.outputs)) and _is_small(op, types)


@lru_cache(maxsize=1024)
def _is_small(op: Op, types: tuple[TensorType, ...]) -> bool:
    whole = graph_of(op, types)
    if whole is None:
        return isinstance(op, _SMALL)
    return all(
        all(is_small_type(v.type) for v in (*node.inputs, *node.outputs)) and _has_known_places(node)
        and _is_small(unmarked(node.op), tuple(v.type for v in node.inputs))
        for node in whole.order
    )  # fmt: skip


def _has_known_places(node: Apply) -> bool:
    """Whether the positions of a part that is read or written are constants."""
    first = 1 if isinstance(node.op, Subtensor) else 2 if isinstance(node.op, IncSubtensor) else len(node.inputs)
    return all(isinstance(i, Constant) for i in node.inputs[first:])


@lru_cache(maxsize=1024)
def graph_of(op: Op, types: tuple[TensorType, ...]) -> FunctionGraph | None:
    """Return what an op of several operations computes, as a graph; None for other ops."""
    if isinstance(op, (Fused, Assembled)):
        return op.graph
    if not isinstance(op, BlasOp):
        return None
    leaves = [TensorVariable(kind) for kind in types]
    return FunctionGraph(leaves, [op.meaning(*leaves)])


_SMALL = (
    Pointwise, Dot, Reduce, ArgReduce, MakeVector, DimShuffle, Join, Reshape, BroadcastTo, Alloc, Subtensor,
    IncSubtensor,
)  # fmt: skip


def short_vectors(graph: FunctionGraph, states: Sequence[Variable]) -> set[Variable]:
    """Return the arrays of a body that have few elements in every step that raises no error."""
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
