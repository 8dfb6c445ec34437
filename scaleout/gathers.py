"""Rules of indices with integer arrays: gathers, and their counterparts that write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph import Apply, Constant, Variable
from ..graph.dims import dims_of
from ..ops.elementwise.records import add
from ..ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor, joint_position
from ..ops.shapes.creation import Arange
from ..ops.shapes.indexing import entries
from .cuts import varying
from .facts import Facts
from .states import WHOLE, Partial, Placed, Split, State, refused, rows_of


def gather(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """Rows of a whole array by split indices, elements of each row of a split array, or columns of all of its rows."""
    spec = node.op.spec  # type: ignore[attr-defined]
    if isinstance(axis := _untouched(node, states, spec, 1), int):
        return Placed((Split(_moved(spec, axis, node, 1)),), {})
    cuts, relative = _indices(node, states, 1, facts)
    return Placed((Split(joint_position(spec)),), cuts, relative=relative)


def _untouched(node: Apply, states: Sequence[State], spec: Any, first: int) -> int | None:
    """Return the split axis of an array that is indexed along other axes only, by whole indices."""
    if not isinstance(states[0], Split) or any(isinstance(s, Split) for s in states[first:]):
        return None
    axis = states[0].axis
    return axis if axis >= len(spec) or spec[axis] == "s000" else None


def _moved(spec: Any, axis: int, node: Apply, first: int) -> int:
    """Return the position in the result of an axis that is kept whole by an index with arrays."""
    kept = sum(entry[0] == "s" for entry in spec[:axis]) + max(0, axis - len(spec))
    pointers = [k for k in entries(spec, range(first, len(node.inputs))) if not isinstance(k, slice)]
    return int(kept + max(node.inputs[k].ndim for k in pointers)) if kept >= joint_position(spec) else kept


def scatter(node: Apply, states: Sequence[State], facts: Facts) -> Placed:
    """The counterpart of `_gather`.  If blocks add to zeros, each has an array of its own, which is a partial sum."""
    x, y, op = *node.inputs[:2], node.op
    assert isinstance(op, AdvancedIncSubtensor)
    part = AdvancedSubtensor(op.spec).infer((x, *node.inputs[2:]))[0]
    shift = len(part.shape) - y.ndim
    if isinstance(axis := _untouched(node, states, op.spec, 2), int):
        cuts: dict[int, int] = {}
        relative, length = None, dims_of(x)[axis]
        at = _moved(op.spec, axis, node, 2) - shift
    else:
        cuts, relative = _indices(node, states, 2, facts)
        at = joint_position(op.spec) - shift
        length = next(dims_of(node.inputs[k])[0] for k in range(2, len(states)) if isinstance(states[k], Split))
    if isinstance(states[1], Split) and states[1].axis != at:
        raise refused(node, f"the source is chunked along axis {states[1].axis}, the target along another")
    if states[1] is WHOLE:
        cuts |= varying(node, {1: at}, length, rows_of(states), facts)
    if states[0] is not WHOLE:
        return Placed((states[0],), cuts, relative=relative)
    if op.set or not _is_zeros(x):
        raise refused(node, "changes a whole array by chunked indices")
    return Placed((Partial(add),), cuts)


def _is_zeros(v: Variable) -> bool:
    """Whether the form of a value shows that it is zero."""
    if v.owner is None:
        return _is(v, 0)
    position = {"fill": 1, "alloc": 0}.get(v.owner.op.name)
    return position is not None and _is(v.owner.inputs[position], 0)


def _indices(
    node: Apply, states: Sequence[State], first: int, facts: Facts
) -> tuple[dict[int, int], int | None]:  # fmt: skip
    """Return the whole index arrays that blocks slice, and the index of the array with positions of rows, or None."""
    spec = node.op.spec  # type: ignore[attr-defined]
    at = entries(spec, range(first, len(node.inputs)))
    arrays = [k for k, entry in zip(at, spec, strict=True) if entry == "a"]
    if any(node.inputs[k].ndim > 1 for k in arrays) and len(arrays) > 1:
        raise refused(node, "gathers by several index arrays, one of them with several axes")
    if any(isinstance(s, Split) and s.axis != 0 for s in states[first:]):
        raise refused(node, "an index array is chunked along an axis other than its first")
    relative = None
    if isinstance(states[0], Split):
        axis = states[0].axis
        relative = at[axis] if axis < len(spec) and spec[axis] == "a" else None
        if relative is None or states[relative] is WHOLE or not _are_positions(node.inputs[relative]):
            raise refused(node, f"gathers along axis {axis}, which is chunked")
    elif not any(isinstance(states[k], Split) for k in arrays):
        raise refused(node, "no index array is chunked, but another operand is")
    rows = next(node.inputs[k] for k in arrays if isinstance(states[k], Split))
    places = {k: 0 for k in arrays if states[k] is WHOLE and node.inputs[k].ndim}
    return varying(node, places, dims_of(rows)[0], rows_of(states), facts), relative


def _are_positions(v: Variable) -> bool:
    """Whether a split vector is `arange(n)` of the chunked length, or a `fill` with it."""
    if v.owner is None or v.ndim != 1:
        return False
    if v.owner.op.name == "fill":
        return _are_positions(v.owner.inputs[1])
    return is_range(v.owner)


def is_range(node: Apply) -> bool:
    """Whether a node is `arange(0, n, 1)`."""
    return isinstance(node.op, Arange) and _is(node.inputs[0], 0) and _is(node.inputs[2], 1)


def _is(v: Variable, number: int) -> bool:
    return isinstance(v, Constant) and bool(np.all(v.data == number))
