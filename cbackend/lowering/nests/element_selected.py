"""Writes of elements that a selection makes: one side writes an element, the other one what stands at the front.

    v = c ? 3.0 : x[0];  i = c ? k : 0;  x[i] = v
    -->
    if (c) x[k] = 3.0

The element at the front is known from a read, or follows from the write before:

    x[i] = v;  w = d ? 4.0 : (0 == i ? v : x[0]);  j = d ? m : 0;  x[j] = w
    -->
    if (c) x[k] = 3.0;  if (d) x[m] = 4.0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....ops.shapes.indexing import IncSubtensor
from ....record import record
from ...ir import loops as ir
from .element_small import SmallArrays
from .element_statements import View


@record
class _Write:
    """A selected write: the count of writes to the array behind it, and what the graph knows of it."""

    epoch: int
    value: ir.Expr
    index: tuple[ir.Expr, ...]
    front: ir.Expr
    """The element at the front before it."""


class SelectedWrites(SmallArrays):
    """Statements that write selected elements in a branch."""

    def __init__(self) -> None:
        super().__init__()
        self._selected: dict[str, _Write] = {}
        """The last selected write to each array."""

    def write_selected(self, op: IncSubtensor, x: View, value: Any, index: Sequence[ir.Expr]) -> bool:
        """Write an element where a selection chose it; return whether the value and the index are such selections."""
        if not op.set or op.spec != ("i",) * len(x.lengths) or not isinstance(value, ir.Local):
            return False
        chosen = self._selection(value)
        places = [self._selection(i) for i in index]
        if chosen is None or not places or any(p is None or p[0] != chosen[0] or p[2] != ir.ZERO for p in places):
            return False
        condition, new, front = chosen
        if not self._stands_at_front(front, x):
            return False
        self.open()
        at = self.part(x, op.spec, [p[1] for p in places if p is not None]).first
        self._store(op, x, at, new)
        self.add(ir.If(condition, self.close()))
        self._epochs[x.array] += 1
        self._selected[x.array] = _Write(self._epochs[x.array], value, tuple(index), front)
        return True

    def _made(self, value: ir.Expr, name: str) -> tuple[ir.Expr, ...] | None:
        """Return the operands of the operation that made a value; None for another one."""
        made = self._defined.get(value.name, (0, None))[1] if isinstance(value, ir.Local) else None
        return made.args if isinstance(made, ir.ScalarOp) and made.name == name else None

    def _selection(self, value: ir.Expr) -> Any:
        return self._made(value, "switch")

    def _stands_at_front(self, value: ir.Expr, x: View) -> bool:
        """Whether a value certainly stands at the front of an array."""
        key = (x.array, self._epochs[x.array], x.first)
        if any(block.known.get(key) == value for block in self._blocks):
            return True
        last, chosen = self._selected.get(x.array), self._selection(value)
        if last is None or chosen is None or last.epoch != self._epochs[x.array]:
            return False
        is_front, new, old = chosen
        return bool(new == last.value and old == last.front and self._is_front(is_front, last.index))

    def _is_front(self, value: ir.Expr, index: Sequence[ir.Expr]) -> bool:
        """Whether a value says that an index means the front of an array."""
        if len(index) > 1:
            both = self._made(value, "logical_and") or self._made(value, "bitwise_and")
            return both is not None and len(both) == 2 and self._is_front(both[0], index[:1]) and self._is_front(
                both[1], index[1:]
            )  # fmt: skip
        pair = self._made(value, "eq")
        if pair is None or ir.ZERO not in pair:
            return False
        place = pair[1] if pair[0] == ir.ZERO else pair[0]
        if place == index[0]:
            return True
        around = self._selection(place)  # an index that may count from the end
        if around is None or around[2] != index[0]:
            return False
        return self._made(around[0], "lt") == (index[0], ir.ZERO) and index[0] in (self._made(around[1], "add") or ())
