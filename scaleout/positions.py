"""Positions along the split axis, as ranges that a block computes for its own rows.

    arange(n) of another integer type                  -->  cast(arange(n))
    reshape(arange(n * m), (n, m)), n: chunked length   -->  arange(n)[:, None] * m + arange(m)

The second is the counter of random draws (`T.random`): a block draws the same numbers for its rows as the whole
function does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import ops as T
from ..graph import Apply, Variable
from ..graph.dims import product
from ..ops.elementwise.casting import Cast
from ..ops.shapes.creation import Arange
from ..ops.shapes.lengths import tensor_to_dim
from ..ops.shapes.shape import Reshape
from .gathers import is_range
from .states import Count, State


def as_positions(node: Apply, states: Mapping[Variable, State]) -> Variable | None:
    """Return the output of a range, or of a reshaped range, by ranges of int64; None for other nodes."""
    if isinstance(node.op, Arange):
        length = _uncast(node.inputs[1])
        found = is_range(node) and length is not node.inputs[1] and isinstance(states.get(length), Count)
        return T.cast(T.arange(length), node.out.dtype) if found else None
    if not isinstance(node.op, Reshape) or not any(isinstance(states.get(n), Count) for n in node.inputs[1:]):
        return None
    places, *lengths = node.inputs
    if places.owner is None or not is_range(places.owner):
        return None
    total = tensor_to_dim(_uncast(places.owner.inputs[1]))
    return T.cast(_counted(lengths), node.out.dtype) if total == product(map(tensor_to_dim, lengths)) else None


def _counted(lengths: Sequence[Variable]) -> Variable:
    """Return the flat index of each element of an array of these lengths, in C order."""
    found, later = T.arange(lengths[-1]), lengths[-1]
    for n in reversed(lengths[:-1]):
        found = T.add(T.expand_dims(T.mul(T.arange(n), later), tuple(range(1, found.ndim + 1))), found)
        later = T.mul(n, later)
    return found


def _uncast(v: Variable) -> Variable:
    """Return the operand of a cast, or the value itself."""
    return v.owner.inputs[0] if v.owner is not None and isinstance(v.owner.op, Cast) else v
