"""Values that kernels compute in the part of a state where they will be written, instead of a copy.

    y = fused(x[:-2], x[2:]);  z = set(z[1:-1], y)   -->   the kernel of y writes z[1:-1]

Only in bodies of loops, whose states share no memory.  Nothing may read the state between the two nodes but the kernel
itself, at the positions that it writes; and nothing may overwrite the part before the last reader of y.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...graph import Apply, FunctionGraph, Op, Variable, dims_of
from ...ops.elementwise.records import Pointwise
from ...ops.lowered.fused import Fused, unmarked
from ...ops.reductions.reduce import Reduce
from ...ops.reductions.unbroadcasting import SumTo
from ...ops.shapes.advanced_indexing import AdvancedSubtensor
from ...ops.shapes.indexing import IncSubtensor, Subtensor, part_dims
from ...ops.shapes.lengths import ShapeI
from ...ops.shapes.shape import Reshape
from ...record import record
from .planner import Planner
from .planners.views import window


@record
class Part:
    """A value that is computed in the part of a state that `setter` writes; `read`: the input that is this part."""

    value: Variable
    setter: Apply
    read: int | None


def parts_of(nodes: Sequence[Apply], graph: FunctionGraph) -> dict[Apply, Part]:
    """Return, for the nodes that compute in the part of a state, which one."""
    order = _Order(nodes)
    found: dict[Apply, Part] = {}
    for setter in nodes:
        part = order.part(setter)
        if part is not None and not any(order.root(o) is part.value for o in graph.outputs):
            producer = part.value.owner
            assert producer is not None
            found.setdefault(producer, part)
    return found


def place(p: Planner, part: Part) -> None:
    """Plan the part, before the node that computes the value."""
    x = p.arrays[part.setter.inputs[0]]
    if p.is_overwritable(x):
        p.parts[part.value] = window(p, x, part.setter, part.setter.inputs[2:]), part.read


class _Order:
    """The order in which nodes run, and the memory that values are in."""

    def __init__(self, nodes: Sequence[Apply]) -> None:
        self._nodes = nodes
        self._place = {node: k for k, node in enumerate(nodes)}
        self._root: dict[Variable, Variable] = {}
        """The first value in the same memory."""
        self._readers: dict[Variable, list[int]] = {}
        """The places of the nodes that read elements of some memory."""
        self._writers: dict[Variable, list[int]] = {}
        for k, node in enumerate(nodes):
            views, destroyed = node.op.may_view(), node.op.destroys()
            for output, source in {**views, **destroyed}.items():
                self._root[node.outputs[output]] = self.root(node.inputs[source])
            for source in destroyed.values():
                self._writers.setdefault(self.root(node.inputs[source]), []).append(k)
            reads = not views or isinstance(node.op, (Reshape, SumTo))  # they may copy
            if reads and not isinstance(node.op, ShapeI):
                for i in node.inputs:
                    self._readers.setdefault(self.root(i), []).append(k)

    def root(self, v: Variable) -> Variable:
        return self._root.get(v, v)

    def part(self, setter: Apply) -> Part | None:
        """Return the part that a node writes if the value can be computed there."""
        op = unmarked(setter.op)
        if not isinstance(op, IncSubtensor) or not op.set or setter.op.destroys() != {0: 0}:
            return None
        x, y, *indices = setter.inputs
        producer, at = y.owner, self._place[setter]
        if producer is None or not _is_elementwise(unmarked(producer.op)) or not y.ndim:
            return None
        if dims_of(y) != part_dims(op.spec, x, indices):
            return None
        made, memory = self._place[producer], self.root(x)
        if any(i.owner is not None and self._place[i.owner] >= made for i in (x, *indices)):
            return None
        same = [k for k, i in enumerate(producer.inputs) if self.root(i) is memory]
        if len(same) > 1 or (same and not _is_the_part(producer.inputs[same[0]], setter)):
            return None
        if any(made < k < at for k in self._readers.get(memory, ())) or any(self._within(memory, made, at)):
            return None
        last = max(self._readers.get(y, (at,)))
        if any(self._within(memory, at, last + 1)):
            return None
        return Part(y, setter, same[0] if same else None)

    def _within(self, memory: Variable, first: int, last: int) -> Iterator[int]:
        """Yield the writers of some memory between two places."""
        return (k for k in self._writers.get(memory, ()) if first < k < last)


def _is_elementwise(op: Op) -> bool:
    if isinstance(op, Fused):
        return not any(isinstance(node.op, (Reduce, AdvancedSubtensor)) for node in op.graph.order)
    return isinstance(op, Pointwise)


def _is_the_part(v: Variable, setter: Apply) -> bool:
    """Whether a value is the part that a node writes, before it does so."""
    node = v.owner
    if node is None or not isinstance(node.op, Subtensor):
        return False
    x, _, *indices = setter.inputs
    return node.op.spec == unmarked(setter.op).spec and node.inputs == (x, *indices)
