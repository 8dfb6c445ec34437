"""Theano's broadcast patterns at run time: axes that no pattern broadcasts have equal lengths, or the call raises.

The core broadcasts a length of 1 wherever it turns up.  `strict` collects the lengths that elementwise nodes must agree
on, as lengths of the values they come from, and checks them on one result: no check stands between two steps, and
those that the graph proves leave it again.  Gradients gain: a sum back to the shape of an operand is the operand's own
cotangent once the lengths are known to be equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....graph import Apply, Constant, TensorType, Variable, dims_of, rebuild, toposort
from ....ops.control.cond import Cond
from ....ops.control.scan_ops import Scan
from ....ops.elementwise.casting import Cast
from ....ops.elementwise.pointwise import Elementwise
from ....ops.reductions.reduce import Reduce
from ....ops.reductions.unbroadcasting import SumTo
from ....ops.shapes.lengths import lengths_of
from ....ops.shapes.shape import DimShuffle
from ....ops.shapes.specify import CheckLengths

Root = tuple[Variable, int]
"""A value and one of its axes."""
Pair = tuple[Root, Root, str, Apply]
"""Two axes of equal length, the operands in words, and the node that needs it."""


def strict(values: Sequence[Variable]) -> list[Variable]:
    """The values, of which the first checks the lengths that patterns do not let broadcast."""
    equal = _Equal()
    checks: dict[Apply, list[Pair]] = {}
    for pair in _pairs(values):
        if equal.join(pair[0], pair[1]):
            checks.setdefault(pair[3], []).append(pair)
    if not checks:
        return list(values)
    first, *others = rebuild(values, {}, equal.without_sum)
    for node, pairs in checks.items():
        lengths = [lengths_of(v)[axis] for one, other, *_ in pairs for v, axis in (other, one)]
        subjects = tuple((words, other[1]) for _, other, words, _ in pairs)
        first = Apply(CheckLengths(subjects, declared=False), [first, *lengths], node.origin).outputs[0]
    return [first, *others]


def root(value: Variable, axis: int) -> Root:
    """The value that an axis of another has its length from, as far as nodes keep lengths."""
    while value.owner is not None:
        node = value.owner
        op = node.op
        if isinstance(op, Elementwise):
            long = _not_broadcast(node, axis)
            if not long:
                break
            value, axis = long[0]
        elif isinstance(op, (Cast, SumTo)):
            value = node.inputs[-1]
        elif isinstance(op, DimShuffle) and isinstance(op.order[axis], int):
            value, axis = node.inputs[0], int(op.order[axis])
        elif isinstance(op, Reduce):
            value, axis = node.inputs[0], [n for n in range(node.inputs[0].type.ndim) if n not in op.axis][axis]
        else:
            break
    return value, axis


def _pairs(values: Sequence[Variable]) -> Iterator[Pair]:
    """The pairs of lengths that nodes above the values need equal; pairs inside loops in lengths of their operands."""
    certain = _certain(values)
    for node in toposort(values):
        if node not in certain:
            continue
        if isinstance(node.op, Elementwise) and len(node.inputs) > 1:
            yield from _pairs_of(node)
        elif isinstance(node.op, Scan):
            outer = _operands_of_body(node)
            for one, other, words, inner in _pairs(node.op.graph.outputs):
                places = [_outside(end, outer) for end in (one, other)]
                if None not in places:
                    yield places[0], places[1], words, inner  # type: ignore[misc]


def _certain(values: Sequence[Variable]) -> set[Apply]:
    """The nodes that every call runs: not those that one branch of a choice alone needs."""
    found: set[Apply] = set()
    waiting = list(values)
    while waiting:
        node = waiting.pop().owner
        if node is not None and node not in found:
            found.add(node)
            waiting += node.inputs[:1] if isinstance(node.op, Cond) else node.inputs
    return found


def _pairs_of(node: Apply) -> Iterator[Pair]:
    for axis in range(node.outputs[0].type.ndim):
        long = _not_broadcast(node, axis)
        for other, place in long[1:]:
            if None in (long[0][0].type.shape[long[0][1]], other.type.shape[place]):
                yield root(*long[0]), root(other, place), _in_words(node, other), node


def _not_broadcast(node: Apply, axis: int) -> list[Root]:
    """The operands of an elementwise node that are not broadcast along an axis of the result, and their axis there."""
    rank = node.outputs[0].type.ndim
    aligned = [(i, axis - rank + i.type.ndim) for i in node.inputs]
    return [(i, place) for i, place in aligned if place >= 0 and i.type.shape[place] != 1]


def _in_words(node: Apply, operand: Variable) -> str:
    called = [i.name or (str(i.data) if isinstance(i, Constant) and i.type.ndim == 0 else "...") for i in node.inputs]
    which = operand.name or f"operand {node.inputs.index(operand)}"
    return f"{which} in {node.op.name}({', '.join(called)}), whose pattern does not broadcast"  # type: ignore[attr-defined]


def _operands_of_body(node: Apply) -> dict[Variable, tuple[Variable, int]]:
    """For each input of a loop's body the operand of the loop, and by how much its axes are further back."""
    op: Any = node.op
    inner = op.graph.inputs
    return {i: (node.inputs[1 + k], int(k < op.sequences)) for k, i in enumerate(inner)}


def _outside(end: Root, outer: dict[Variable, tuple[Variable, int]]) -> Root | None:
    """The same length outside of a loop; None if the body computes it."""
    value, axis = end
    if value not in outer:
        return end if isinstance(value, Constant) else None
    operand, behind = outer[value]
    return root(operand, axis + behind)


class _Equal:
    """Lengths that are equal: those that the graph proves, and those that are joined."""

    def __init__(self) -> None:
        self._leader: dict[Any, Any] = {}

    def find(self, end: Root) -> Any:
        value, axis = end
        key: Any = dims_of(value)[axis]
        while key in self._leader:
            key = self._leader[key]
        return key

    def join(self, one: Root, other: Root) -> bool:
        """Whether it was not known that both lengths are equal."""
        a, b = self.find(one), self.find(other)
        if a != b:
            self._leader[b] = a
        return bool(a != b)

    def without_sum(self, node: Apply) -> Sequence[Variable]:
        """The cotangent itself for a sum back to a shape that it has."""
        if not isinstance(node.op, SumTo):
            return node.outputs
        g, like = node.inputs
        wanted: TensorType = node.outputs[0].type
        same = g.type == wanted and all(self.find(root(g, n)) == self.find(root(like, n)) for n in range(wanted.ndim))
        return [g] if same else node.outputs
