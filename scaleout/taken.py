"""Whole indices into the split axis: each block takes the rows that it has, in the order of the index.

    x[i]            -->   rows = collect(own[i[hits] - begin]), places = collect(hits); rows at the inverse of `places`
    x.at[i].add(y)  -->   own.at[i[hits] - begin].add(y[hits])

`hits` are the places in the index that point to rows of the block.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import ops as T
from ..graph import Apply, Variable
from ..ops.core.tensor import TensorVariable
from ..ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ..ops.shapes.conditions import checked
from ..ops.shapes.lengths import ShapeI
from .local import AsSlice, Begin, Own
from .states import Collect, Split, State


def as_taken(node: Apply, states: Mapping[Variable, State], is_reversed: bool) -> Variable | None:
    """Return the output of a node that indexes the split axis alone, by a whole array; None for other nodes."""
    op, state = node.op, states.get(node.inputs[0]) if node.inputs else None
    if not isinstance(op, (AdvancedSubtensor, AdvancedIncSubtensor)) or not isinstance(state, Split):
        return None
    x, *others = node.inputs
    index, axis = others[-1], state.axis
    is_alone = axis < len(op.spec) and all(e == ("a" if k == axis else "s000") for k, e in enumerate(op.spec))
    if not is_alone or any(isinstance(states.get(i), Split) for i in others):
        return None
    of = _Rows(x, T.ravel(index), axis)
    if isinstance(op, AdvancedSubtensor):
        return _unraveled(of.read(is_reversed), x, index, axis)
    part = AdvancedSubtensor(op.spec).infer((x, index))[0]
    y = T.expand_dims(others[0], tuple(range(len(part.shape) - others[0].ndim)))
    return of.written(_raveled(y, index, axis), op.set)


class _Rows:
    """The rows of x at the positions `index`, a whole vector: those of a block, and their places in the index."""

    def __init__(self, x: Variable, index: Variable, axis: int) -> None:
        self.x, self.axis, self.own = x, axis, Own(axis)(x)
        length = ShapeI(axis)(x)
        inside = T.logical_and(T.ge(index, T.neg(length)), T.lt(index, length))
        first = T.append(index, 0)[T.argmin(T.append(inside, False))]  # of those outside
        text = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
        index = checked(index, inside, text, first, length, error=IndexError)
        begin = Begin()(T.constant(0, dtype="int64"), x)
        at = T.sub(T.switch(T.lt(index, 0), T.add(index, length), index), begin)
        self.count = ShapeI(0)(index)
        (self.hits,) = T.nonzero(T.logical_and(T.ge(at, 0), T.lt(at, ShapeI(axis)(self.own))))
        self.at = at[self.hits]
        self.spec = (*("s000",) * axis, "a")

    def read(self, is_reversed: bool) -> TensorVariable:
        """Return the rows, a whole value."""
        rows = Collect(self.axis, is_reversed, is_local=True)(AdvancedSubtensor(self.spec)(self.own, self.at))
        places = Collect(0, is_reversed, is_local=True)(self.hits)
        order = T.set_subtensor(T.zeros(self.count, dtype="int64")[places], T.arange(self.count))
        return AdvancedSubtensor(self.spec)(rows, order)

    def written(self, y: Variable, is_set: bool) -> Variable:
        """Return x with y in the rows, or added to them."""
        own = AdvancedIncSubtensor(self.spec, is_set)(self.own, AdvancedSubtensor(self.spec)(y, self.hits), self.at)
        return AsSlice()(own, self.x)


def _unraveled(rows: Variable, x: Variable, index: Variable, axis: int) -> Variable:
    """Return rows along an axis as the axes of the index."""
    if index.ndim == 1:
        return rows
    lengths = [ShapeI(a)(index) for a in range(index.ndim)]
    return T.reshape(rows, (*(ShapeI(a)(x) for a in range(axis)), *lengths, *(
        ShapeI(a)(x) for a in range(axis + 1, x.ndim))), ndim=x.ndim - 1 + index.ndim)  # fmt: skip


def _raveled(y: Variable, index: Variable, axis: int) -> Variable:
    """Return a source with one axis, as long as the index has elements, in place of those of the index."""
    behind = y.ndim - axis - index.ndim
    y = T.broadcast_arrays(y, T.expand_dims(T.zeros_like(index), tuple(range(index.ndim, index.ndim + behind))))[0]
    if index.ndim == 1:
        return y
    return T.reshape(y, (*(ShapeI(a)(y) for a in range(axis)), -1, *(
        ShapeI(a)(y) for a in range(axis + index.ndim, y.ndim))), ndim=y.ndim - index.ndim + 1)  # fmt: skip
