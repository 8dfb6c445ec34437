"""Kinds of nodes that a loop over elements takes: reads and writes of parts, and operations on vectors."""

from __future__ import annotations

from collections.abc import Sequence

from ...graph import Apply, Constant, Variable
from ..elementwise.records import Pointwise
from ..linalg.blas import Dot
from ..lowered.fused import Fused, unmarked
from ..reductions.reduce import Reduce
from ..reductions.unbroadcasting import SumTo
from ..shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ..shapes.creation import Alloc
from ..shapes.indexing import IncSubtensor, entries
from ..shapes.shape import DimShuffle


def is_gather(node: Apply) -> bool:
    """Whether elements of an array are read at a vector of positions along one axis, and at one along the others."""
    op = unmarked(node.op)
    x, *indices = node.inputs
    vectors = [i for i in indices if i.ndim]
    return (
        isinstance(op, AdvancedSubtensor)
        and sorted(op.spec) == ["a", *["i"] * (x.ndim - 1)]
        and len(vectors) == node.out.ndim == 1
        and vectors[0].type.kind in "iu"
    )


def is_scatter(node: Apply) -> bool:
    """Whether a vector, or a number, is written to an array at a vector of positions along one axis."""
    op = unmarked(node.op)
    x, y, *indices = node.inputs
    vectors = [i for i in indices if i.ndim]
    return (
        isinstance(op, AdvancedIncSubtensor)
        and sorted(op.spec) == ["a", *["i"] * (x.ndim - 1)]
        and len(vectors) == vectors[0].ndim == 1
        and vectors[0].type.kind in "iu"
        and y.ndim <= 1
    )


def is_one_write(node: Apply) -> bool:
    """Whether one element of a vector is written, or added to."""
    op = unmarked(node.op)
    return isinstance(op, IncSubtensor) and op.spec == ("i",) and node.out.ndim == 1


def moves(indices: Sequence[Variable]) -> bool:
    """Whether a part may be another one in each step."""
    return not all(isinstance(i, Constant) for i in indices)


def is_part(spec: tuple[str, ...], indices: Sequence[Variable]) -> bool:
    """Whether an index has integers, and slices that go on by one position."""
    places = entries(spec, indices)
    steps = [place.step for place in places if isinstance(place, slice) and place.step is not None]
    return "a" not in spec and all(isinstance(step, Constant) and step.data in (1, -1) for step in steps)


def is_group_of_vectors(node: Apply) -> bool:
    """Whether a node is a group of nodes that compute scalars or vectors."""
    op = unmarked(node.op)
    return isinstance(op, Fused) and all(map(is_of_vectors, op.graph.order))


def is_of_vectors(node: Apply) -> bool:
    """Whether a node computes scalars, or vectors element by element, or folds a vector to a scalar."""
    op = unmarked(node.op)
    ranks = {i.ndim for i in node.inputs}
    match op:
        case Alloc() | DimShuffle(): return ranks == {0} and node.out.ndim <= 1
        case Dot(): return ranks == {1} and node.out.dtype in _ADDED
        case SumTo(): return ranks == {1} and node.out.dtype in _ADDED
        case Reduce(): return ranks == {1} and op.axis == (0,) and op.name in _FOLDS and node.out.dtype in _ADDED
    return isinstance(op, Pointwise) and node.out.ndim <= 1


_FOLDS = ("sum", "prod", "max", "min")
_ADDED = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
"""dtypes whose vectors are folded in a loop over elements."""
