"""Memory of a graph with ops that write in place: no value is read after it was overwritten.

The order is that of the run.  Two values may share memory if one is a view of the other; of basic slices of one axis
after the other, with bounds that are only known at run time, Z3 decides whether a common element exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import z3

from ..graph import Apply, Constant, FunctionGraph, Variable, execution_order
from ..graph.ordering import name
from ..ops.shapes.indexing import Subtensor, entries
from .terms import limit

Slices = list[tuple[Any, Any]]
"""(first, count) of the positions of each axis of a view, in the value that it looks at."""


def violations(graph: FunctionGraph, private: bool = False, order: Sequence[Apply] | None = None) -> Iterator[str]:
    """Yield each read of memory after its overwriting, in words.

    `private`: the inputs with updates are the caller's own, as the states of a loop.  `order`: that of the run; by
    default the one that is compiled.  Raises InconsistencyError if no order is safe.
    """
    order = execution_order(graph, private=private) if order is None else order
    memory = _Memory(graph)
    written: list[tuple[Apply, Variable]] = []
    replaced = {graph.inputs[i] for i, _ in graph.updates}
    for node in order:
        looked_at = set(node.op.views().values()) - set(node.op.destroys().values())  # a view reads no element
        for k, value in enumerate(node.inputs):
            yield from () if k in looked_at else _late(node, value, written, memory)
        for position in node.op.destroys().values():
            victim = node.inputs[position]
            for k, other in enumerate(node.inputs):
                shared = memory.root(other) is memory.root(victim) and memory.may_overlap(other, victim)
                if k != position and shared:
                    yield f"{node!r} reads {name(other)} while it overwrites {name(victim)}"
            root = memory.root(victim)
            if isinstance(root, Constant) or (root.owner is None and root not in replaced):
                yield f"{node!r} overwrites {name(root)}, which belongs to the caller"
            written.append((node, victim))
        memory.enter(node)
    for output in graph.outputs:
        yield from _late(None, output, written, memory)


def _late(node: Apply | None, value: Variable, written: list[tuple[Apply, Variable]], memory: _Memory) -> Iterator[str]:
    for writer, victim in written:
        if memory.root(value) is memory.root(victim) and memory.may_overlap(value, victim):
            who = repr(node) if node is not None else "the caller"
            yield f"{who} reads {name(value)} after {writer!r} has overwritten {name(victim)}"


class _Memory:
    """The memory that values look at: the value at the root of each family of views, and the slices of a view."""

    def __init__(self, graph: FunctionGraph) -> None:
        self._root: dict[Variable, Variable] = {}
        self._slices: dict[Variable, Slices | None] = {}
        self._numbers: dict[Any, Any] = {}

    def root(self, value: Variable) -> Variable:
        return self._root.get(value, value)

    def enter(self, node: Apply) -> None:
        """Note the views that a node makes, or may make."""
        for output, source in node.op.may_view().items():
            made, base = node.outputs[output], node.inputs[source]
            self._root[made] = self.root(base)
            known = self._slices.get(base, [] if base is self.root(base) else None)
            self._slices[made] = self._sliced(node, base) if known == [] else None

    def _sliced(self, node: Apply, base: Variable) -> Slices | None:
        """The slices of a view of a whole value; None if the op is no basic slice with steps of 1."""
        if not isinstance(node.op, Subtensor):
            return None
        spec, lengths = node.op.spec, [self._length(base, axis) for axis in range(base.ndim)]
        made: Slices = []
        for n, index in zip(lengths, entries(spec, node.inputs[1:]), strict=False):
            if not isinstance(index, slice):
                k = self.number(index)
                made.append((z3.If(k < 0, k + n, k), z3.IntVal(1)))
                continue
            if index.step is not None and not (isinstance(index.step, Constant) and int(index.step.data) == 1):
                return None
            start = z3.IntVal(0) if index.start is None else _bound(self.number(index.start), n)
            stop = n if index.stop is None else _bound(self.number(index.stop), n)
            made.append((start, stop - start))
        return [*made, *((z3.IntVal(0), n) for n in lengths[len(spec) :])]

    def _length(self, value: Variable, axis: int) -> Any:
        known = value.type.shape[axis]
        return self.number((value, axis)) if known is None else z3.IntVal(known)

    def number(self, key: Any) -> Any:
        """The integer of a variable, or of a length (value, axis)."""
        if isinstance(key, Constant):
            return z3.IntVal(int(key.data))
        if key not in self._numbers:
            self._numbers[key] = z3.Int(f"n{len(self._numbers)}")
        return self._numbers[key]

    def may_overlap(self, a: Variable, b: Variable) -> bool:
        """Whether two views of one memory may have an element in common."""
        one, other = self._slices.get(a), self._slices.get(b)
        if a is b or one is None or other is None or len(one) != len(other):
            return True
        solver = z3.Solver()
        limit(solver, 500)
        solver.add(*(n >= 0 for key, n in self._numbers.items() if isinstance(key, tuple)))
        for (start, length), (other_start, other_length) in zip(one, other, strict=True):
            i = z3.FreshInt("i")
            solver.add(i >= start, i < start + length, i >= other_start, i < other_start + other_length)
        return bool(solver.check() != z3.unsat)


def _bound(bound: Any, length: Any) -> Any:
    """The position that a bound of a slice means."""
    return z3.If(bound < 0, z3.If(bound + length < 0, 0, bound + length), z3.If(bound > length, length, bound))
