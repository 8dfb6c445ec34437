"""The room that lists of Python have in arrays, while a statement appends to them.

A statement runs with room for as many items as its loops can append, if their numbers of steps tell, else with some
room.  It counts what it needs.  If that was more, it runs again: with what it needed if it reads no item, else with
eight times as much until it is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import ops as T
from ...graph import Constant, Older, TensorType, Variable, rebuild, toposort
from ...ops.control.cond import chosen
from ...ops.control.scan_ops import ENDLESS, Scan, looped
from ...ops.control.while_ops import While
from ...ops.core.tensor import TensorVariable, as_tensor
from ...ops.core.traced import adopt
from ...ops.core.tracing import Trace, current
from ...ops.shapes.stored import own
from .kinds import Kind

FIRST = 4_096
"""Items that lists have room for at first, if nothing tells how many they get."""
BOUND = 1 << 16
"""Most items that a list gets room for by the numbers of steps alone."""
FACTOR = 8


class Room:
    """The room that the lists of one statement have, and what it needs."""

    def __init__(self, trace: Trace, least: Any) -> None:
        self.least = least
        """The most items of a list before the statement."""
        self.size: Any = TensorVariable(TensorType("int64", ()), name="room")
        adopt(trace, self.size)
        self.needed: Any = own(T.constant(0, "int64"))
        """The variable in `Trace.stored` for the most items that a list has had."""
        self.appended: Any = 0
        """Most items that the step of a loop, or a branch, has appended so far; None if nothing tells."""
        self.open = True
        self.read: bool = False
        """Whether the statement reads items, so that it ends early without room for all."""
        self.ready: list[tuple[tuple[Kind, ...], tuple[Any, ...], list[Any]]] = []
        """Arrays for lists that begin inside of the statement: the kinds and the lengths of items, and the arrays."""
        self.taken: frozenset[int] = frozenset()
        self.drawn: list[Any] = []
        """The states of random numbers that loops inside move."""

    def add(self, count: Any) -> None:
        """Count items that are appended."""
        self.appended = None if count is None or self.appended is None else _sum(self.appended, count)

    def fits(self, trace: Trace) -> Any:
        """Return whether the lists have had room for all items so far."""
        return T.le(trace.stored.get(self.needed, self.needed), self.size)

    def take(self, kinds: Sequence[Kind], lengths: Sequence[Any]) -> list[Any] | None:
        """Return arrays for another list that begins inside of the statement; None if none are ready."""
        for k, (of_kinds, of_lengths, arrays) in enumerate(self.ready):
            if k not in self.taken and of_kinds == tuple(kinds) and of_lengths == tuple(lengths):
                self.taken = self.taken | {k}
                return arrays
        return None

    def given(self, values: list[Variable], needed: Any) -> list[Variable]:
        """Return values behind the statement with room for all items; `needed`: that of `self.needed`.

        The statement runs with some room; if it needed more, it runs again.
        """
        bound = None if self.appended is None else _sum(self.least, self.appended)
        if type(bound) is int and bound <= BOUND:
            return rebuild(values, {self.size: T.constant(max(bound, 1), "int64")})
        least = self.least
        first = T.constant(max(least, FIRST), "int64") if type(least) is int else T.maximum(as_tensor(least), FIRST)
        if bound is not None:
            first = T.maximum(T.minimum(as_tensor(bound), BOUND), 1)
        order = toposort([*values, needed], stop_at=Older.than({self.size: first}))
        inside = {self.size}
        for node in order:
            if not inside.isdisjoint(node.inputs):
                inside.update(node.outputs)
        read = (i for node in order if node.outputs[0] in inside for i in node.inputs)
        outer = [v for v in dict.fromkeys(read) if v not in inside and not isinstance(v, Constant)]
        chosen_ones = [v for v in dict.fromkeys(values) if v in inside]
        *tried, need = rebuild([*chosen_ones, needed], {self.size: first})
        given = list(dict.fromkeys([*outer, *tried, need, first]))
        leaves = {v: TensorVariable(v.type, name=v.name) for v in given}
        known: dict[Variable, Variable] = {v: leaves[v] for v in outer}

        def run(size: Variable) -> list[Variable]:
            return rebuild([*chosen_ones, needed], {**known, self.size: size})

        more = leaves[need] if not self.read else self._searched(run, T.mul(leaves[first], FACTOR))
        results = chosen(T.le(need, first), list(leaves.values()), given, [leaves[v] for v in tried], run(more)[:-1])
        found = dict(zip(chosen_ones, results, strict=True))
        return [found.get(v, v) for v in values]

    def _searched(self, run: Callable[[Variable], list[Variable]], first: Variable) -> Variable:
        """Return a size that is enough: the first one, or `FACTOR` times one that was not."""
        size = TensorVariable(TensorType("int64", ()), name="room")
        found = run(size)[-1]
        enough = T.le(found, size)
        larger = T.switch(enough, size, T.maximum(T.mul(size, FACTOR), found))
        (last,) = looped(While, T.constant(ENDLESS, "int64"), (), (), [first], [size], [larger], (), enough, (False,))
        return last


def _sum(a: Any, b: Any) -> Any:
    return a + b if type(a) is int and type(b) is int else T.add(as_tensor(a), as_tensor(b))


def in_steps(rooms: Sequence[Room], before: Sequence[Any], steps: Any, index: Any, first: int) -> None:
    """Count what all steps of a loop append.

    `before`: what the rooms had counted before it.  `steps`: None if it is not known; `index`, `first`: the number of
    the step and that of the first variable inside.
    """
    for room, old in zip(rooms, before, strict=True):
        each, room.appended = room.appended, old
        room.add(0 if type(each) is int and each == 0 else _all_steps(each, steps, index, first))


def _all_steps(each: Any, steps: Any, index: Any, first: int) -> Any:
    if each is None or steps is None:
        return None
    if type(each) is int:
        return T.mul(as_tensor(steps), each)
    inside = [v for node in toposort([each]) for v in node.inputs if v.owner is None and v.number >= first]
    if any(v is not index and not hasattr(v, "data") for v in inside):
        return None
    total = TensorVariable(TensorType("int64", ()), name="items")
    order, zero = T.arange(as_tensor(steps)), T.constant(0, "int64")
    new = [T.add(total, each)]
    return looped(Scan, as_tensor(steps), [order], [index], [zero], [total], new, (), None, (False,))[0]


def rooms_now() -> list[Room]:
    """Return the rooms of the statements around the one that is traced."""
    trace: Any = current()
    return [r for r in trace.rooms if r.open]
