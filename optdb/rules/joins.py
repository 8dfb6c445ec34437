"""Values laid one after the other."""

from __future__ import annotations

from ...graph import Apply, Variable
from ...ops.indexing import Subtensor
from ...ops.join import Join
from ...ops.lengths import MakeVector, tensor_to_dim
from ...ops.slices import at_most, not_negative
from ..rule import Rule, node_rule
from .facts import made_by
from .indexing import indices_of
from .slicing import WHOLE, read


def only_operand(node: Apply) -> Variable | None:
    """What is joined with nothing."""
    return node.inputs[0] if len(node.inputs) == 1 else None


def without_empty(node: Apply) -> Variable | None:
    """The join without what has no elements along its axis."""
    axis = node.op.axis  # type: ignore[attr-defined]
    left = [i for i in node.inputs if i.type.shape[axis] != 0]
    if not left or len(left) == len(node.inputs):
        return None
    return node.op(*left)  # type: ignore[no-any-return]


def flat_join(node: Apply) -> Variable | None:
    """One join of what was joined along the same axis before."""
    if not any(i.owner is not None and i.owner.op == node.op for i in node.inputs):
        return None
    parts = [p for i in node.inputs for p in (i.owner.inputs if i.owner is not None and i.owner.op == node.op else (i,))]
    return node.op(*parts) if len(parts) <= MOST_PARTS else None  # type: ignore[no-any-return]


MOST_PARTS = 64
"""A join does not grow beyond this, so that a chain of joins stays linear."""


def joined_vectors(node: Apply) -> Variable | None:
    """Vectors made of scalars, next to one another, made one."""
    parts: list[Variable] = []
    for i in node.inputs:
        last = parts[-1] if parts else None
        if last is not None and made_by(i, MakeVector) and made_by(last, MakeVector):
            parts[-1] = MakeVector()(*last.owner.inputs, *i.owner.inputs)  # type: ignore[union-attr]
        else:
            parts.append(i)
    if len(parts) == len(node.inputs):
        return None
    return parts[0] if len(parts) == 1 else node.op(*parts)  # type: ignore[no-any-return]


def joined_parts(node: Apply) -> Variable | None:
    """Neighbouring parts of one value, read as one part."""
    parts: list[Variable] = []
    axis = node.op.axis  # type: ignore[attr-defined]
    for i in node.inputs:
        both = _as_one(parts[-1], i, axis) if parts else None
        if both is None:
            parts.append(i)
        else:
            parts[-1] = both
    if len(parts) == len(node.inputs):
        return None
    return parts[0] if len(parts) == 1 else node.op(*parts)  # type: ignore[no-any-return]


def _as_one(a: Variable, b: Variable, axis: int) -> Variable | None:
    """x[:n:] and x[n:] along `axis` as x; None for what does not meet."""
    if not (made_by(a, Subtensor) and made_by(b, Subtensor)) or a.owner.inputs[0] is not b.owner.inputs[0]:  # type: ignore[union-attr]
        return None
    left, right = indices_of(a.owner), indices_of(b.owner)  # type: ignore[arg-type]
    if len(left) != axis + 1 or len(right) != axis + 1 or left[:axis] != [WHOLE] * axis or right[:axis] != [WHOLE] * axis:
        return None
    first, second = left[axis], right[axis]
    if not (isinstance(first, slice) and isinstance(second, slice)) or first.step is not None or second.step is not None:
        return None
    if first.stop is None or second.start is None or not _surely_meet(first, second):
        return None
    return read(a.owner.inputs[0], [*[WHOLE] * axis, slice(first.start, second.stop)])  # type: ignore[union-attr]


def _surely_meet(first: slice, second: slice) -> bool:
    """Whether one slice begins where the other ends, and ends no earlier: no bound counts from the end."""
    begin = 0 if first.start is None else tensor_to_dim(first.start)
    middle = tensor_to_dim(first.stop)
    if middle is not tensor_to_dim(second.start) and middle != tensor_to_dim(second.start):
        return False
    if not not_negative(begin) or not at_most(begin, middle):
        return False
    return second.stop is None or at_most(middle, tensor_to_dim(second.stop))


JOINS: list[Rule] = [
    node_rule("local_join_1", Join, only_operand, formula="join(x) -> x"),
    node_rule("local_join_empty", Join, without_empty, formula="join(x, empty, y) -> join(x, y)"),
    node_rule("local_join_of_join", Join, flat_join, having=Join, formula="join(join(x, y), z) -> join(x, y, z)"),
    node_rule("local_join_make_vector", Join, joined_vectors, having=MakeVector, formula="join([a, b], [c]) -> [a, b, c]"),
    node_rule("local_join_subtensors", Join, joined_parts, having=Subtensor, formula="join(x[:n], x[n:]) -> x[:]"),
]
