"""Values laid one after the other."""

from __future__ import annotations

from ...graph import Variable
from ...ops.indexing import Subtensor
from ...ops.join import Join
from ...ops.lengths import MakeVector, tensor_to_dim
from ...ops.slices import at_most, not_negative
from ..rule import Rule, node_rule
from .facts import Node, Value, producer
from .indexing import indices_of
from .slicing import WHOLE, is_whole, read

MOST_PARTS = 64
"""A join does not grow beyond this, so that a chain of joins stays linear."""


def only_operand(node: Node) -> Value | None:
    """What is joined with nothing."""
    return node.inputs[0] if len(node.inputs) == 1 else None


def without_empty(node: Node) -> Value | None:
    """The join without what has no elements along its axis."""
    axis = node.op.axis
    left = [i for i in node.inputs if i.type.shape[axis] != 0]
    if not left or len(left) == len(node.inputs):
        return None
    return node.op(*left)


def flat_join(node: Node) -> Value | None:
    """One join of what was joined along the same axis before."""
    inner = [producer(i, node.op) for i in node.inputs]
    parts = [p for i, made in zip(node.inputs, inner, strict=True) for p in ([i] if made is None else made.inputs)]
    return node.op(*parts) if any(inner) and len(parts) <= MOST_PARTS else None


def joined_vectors(node: Node) -> Value | None:
    """Vectors made of scalars, next to one another, made one."""
    parts: list[Variable] = []
    for i in node.inputs:
        last, this = producer(parts[-1], MakeVector) if parts else None, producer(i, MakeVector)
        if last is not None and this is not None:
            parts[-1] = MakeVector()(*last.inputs, *this.inputs)
        else:
            parts.append(i)
    return _joined(node, parts)


def _joined(node: Node, parts: list[Variable]) -> Value | None:
    """The join of the parts, if they are fewer than before."""
    if len(parts) == len(node.inputs):
        return None
    return parts[0] if len(parts) == 1 else node.op(*parts)


def joined_parts(node: Node) -> Value | None:
    """Neighbouring parts of one value, read as one part."""
    parts: list[Variable] = []
    for i in node.inputs:
        both = _as_one(parts[-1], i, node.op.axis) if parts else None
        if both is None:
            parts.append(i)
        else:
            parts[-1] = both
    return _joined(node, parts)


def _as_one(a: Variable, b: Variable, axis: int) -> Value | None:
    """x[m:n] and x[n:k] along `axis` as x[m:k]; None for what does not surely meet."""
    left, right = producer(a, Subtensor), producer(b, Subtensor)
    if left is None or right is None or left.inputs[0] is not right.inputs[0]:
        return None
    first, second = _only_slice(left, axis), _only_slice(right, axis)
    if first is None or second is None or not _surely_meet(first, second):
        return None
    return read(left.inputs[0], [*[WHOLE] * axis, slice(first.start, second.stop)])


def _only_slice(node: Node, axis: int) -> slice | None:
    """The slice along `axis`, without step, where nothing else is cut."""
    within = indices_of(node)
    cut = within[axis] if len(within) == axis + 1 and all(map(is_whole, within[:axis])) else None
    return cut if isinstance(cut, slice) and cut.step is None else None


def _surely_meet(first: slice, second: slice) -> bool:
    """Whether one slice begins where the other ends, and ends no earlier: no bound counts from the end."""
    if first.stop is None or second.start is None:
        return False
    begin = 0 if first.start is None else tensor_to_dim(first.start)
    middle = tensor_to_dim(first.stop)
    if middle != tensor_to_dim(second.start) or not not_negative(begin) or not at_most(begin, middle):
        return False
    return second.stop is None or at_most(middle, tensor_to_dim(second.stop))


JOINS: list[Rule] = [
    node_rule("local_join_1", Join, only_operand, formula="join(x) -> x"),
    node_rule("local_join_empty", Join, without_empty, formula="join(x, empty, y) -> join(x, y)"),
    node_rule("local_join_of_join", Join, flat_join, having=Join, formula="join(join(x, y), z) -> join(x, y, z)"),
    node_rule("local_join_make_vector", Join, joined_vectors, having=MakeVector,
              formula="join([a, b], [c]) -> [a, b, c]"),
    node_rule("local_join_subtensors", Join, joined_parts, having=Subtensor, formula="join(x[:n], x[n:]) -> x[:]"),
]
