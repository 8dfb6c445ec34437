"""Joins (concatenation): nested joins, empty parts, and functions of joined values."""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Variable, same_shape
from ....ops.elementwise.records import Pointwise, add, mul
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor, Subtensor
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import MakeVector, tensor_to_dim
from ....ops.shapes.slices import at_most, not_negative
from ....targets.current import current
from ...contract import relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, Value, producer
from .indexing import indices_of
from .slicing import WHOLE, is_whole, read

MOST_PARTS = 64
"""Most parts of a join that is flattened, so that a chain of joins takes linear time."""


def only_operand(node: Node) -> Value | None:
    """Return the only operand of a join."""
    return node.inputs[0] if len(node.inputs) == 1 else None


def without_empty(node: Node) -> Value | None:
    """Return the join without parts that are empty along its axis."""
    axis = node.op.axis
    left = [i for i in node.inputs if i.type.shape[axis] != 0]
    if not left or len(left) == len(node.inputs):
        return None
    return node.op(*left)


def flat_join(node: Node) -> Value | None:
    """Flatten nested joins along the same axis."""
    inner = [producer(i, node.op) for i in node.inputs]
    parts = [p for i, made in zip(node.inputs, inner, strict=True) for p in ([i] if made is None else made.inputs)]
    return node.op(*parts) if any(inner) and len(parts) <= MOST_PARTS else None


def joined_vectors(node: Node) -> Value | None:
    """Combine adjacent vectors made of scalars."""
    parts: list[Variable] = []
    for i in node.inputs:
        last, this = producer(parts[-1], MakeVector) if parts else None, producer(i, MakeVector)
        if last is not None and this is not None:
            parts[-1] = MakeVector()(*last.inputs, *this.inputs)
        else:
            parts.append(i)
    return _joined(node, parts)


def _joined(node: Node, parts: list[Variable]) -> Value | None:
    """Return the join of the parts, if they are fewer than before."""
    if len(parts) == len(node.inputs):
        return None
    return parts[0] if len(parts) == 1 else node.op(*parts)


def joined_parts(node: Node) -> Value | None:
    """Combine adjacent slices of one value."""
    parts: list[Variable] = []
    for i in node.inputs:
        both = _as_one(parts[-1], i, node.op.axis) if parts else None
        if both is None:
            parts.append(i)
        else:
            parts[-1] = both
    return _joined(node, parts)


def _as_one(a: Variable, b: Variable, axis: int) -> Value | None:
    """Return x[m:n] and x[n:k] along `axis` as x[m:k]; None unless they certainly meet."""
    left, right = producer(a, Subtensor), producer(b, Subtensor)
    if left is None or right is None or left.inputs[0] is not right.inputs[0]:
        return None
    first, second = _only_slice(left, axis), _only_slice(right, axis)
    if first is None or second is None or not _surely_meet(first, second):
        return None
    return read(left.inputs[0], [*[WHOLE] * axis, slice(first.start, second.stop)])


def _only_slice(node: Node, axis: int) -> slice | None:
    """Return the slice along `axis`, without step, if no other axis is cut."""
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


# --- work on what was joined, done on its parts


def elementwise_of_join(node: Node, users: Users) -> Value | None:
    """Apply an op to each part of a join without other readers, if no operand is broadcast."""
    joins = [made for i in node.inputs if (made := producer(i, Join)) is not None and len(users(i)) == 1]
    if not joins or len(joins[0].inputs) > current().limits.joins.few or any(map(_is_rearranged, joins)):
        return None
    first = joins[0]
    operands = [_in_parts(i, first) for i in node.inputs]
    if None in operands:
        return None
    return first.op(*(node.op(*each) for each in zip(*operands, strict=True)))


def _is_rearranged(join: Node) -> bool:
    """Whether all parts are slices of one value, as those of a roll are: fused work reads these through the join."""
    slices = [producer(part, Subtensor) for part in join.inputs]
    return all(made is not None and made.inputs[0] is join.inputs[0].owner.inputs[0] for made in slices)  # type: ignore[union-attr]


def _in_parts(operand: Variable, join: Node) -> Sequence[Variable] | None:
    """Return an operand of an elementwise op for each part of a join: a scalar, or a slice of a value as long."""
    if operand.ndim == 0:
        return [operand] * len(join.inputs)
    made = producer(operand, join.op)
    if made is not None and len(made.inputs) == len(join.inputs) and all(map(same_shape, made.inputs, join.inputs)):
        return tuple(made.inputs)
    if not same_shape(operand, join.out):
        return None
    parts: Sequence[Variable] = join.op.vjp(join, [operand])  # the cotangent of each part is a part
    return parts


def elementwise_of_padded(node: Node, users: Users) -> Value | None:
    """Apply an op to the number and to the value of a padded array without other readers."""
    wide = [i for i in node.inputs if i.ndim]
    padded = _padded(wide[0]) if len(wide) == 1 and len(users(wide[0])) == 1 else None
    if padded is None:
        return None
    made, write = padded
    if _paddings(write.inputs[1]) > _MOST_PADDINGS:
        return None
    number, y = (node.op(*(v if i.ndim else i for i in node.inputs)) for v in (made.inputs[0], write.inputs[1]))
    return write.op(Alloc()(number, *made.inputs[1:]), y, *write.inputs[2:])


_MOST_PADDINGS = 4
"""Most paddings of paddings that an op passes, so that a chain of paddings and ops takes linear time."""


def _padded(value: Variable) -> tuple[Node, Node] | None:
    """Return the array of one number and the write into it that make `value`; None if it is made otherwise."""
    write = producer(value, IncSubtensor)
    made = None if write is None or not write.op.set else producer(write.inputs[0], Alloc)
    return None if write is None or made is None or made.inputs[0].ndim else (made, write)


def _paddings(value: Variable) -> int:
    """Return how many paddings, with ops of one operand between them, make `value`, not counted further than needed."""
    count = passed = 0
    while count <= _MOST_PADDINGS and passed < 8:
        padded, made = _padded(value), producer(value, Pointwise)
        wide = [i for i in made.inputs if i.ndim] if made is not None else []
        if padded is None and len(wide) != 1:
            break
        value, count, passed = (wide[0], count, passed + 1) if padded is None else (padded[1].inputs[1], count + 1, 0)
    return count


def sum_of_join(node: Node, users: Users) -> Value | None:
    """Reduce the parts of a join without other readers, and join or combine the results."""
    (x,), op = node.inputs, node.op
    made = producer(x, Join)
    if made is None or len(users(x)) != 1 or op.scalar not in (add, mul):
        return None
    if len(made.inputs) > current().limits.joins.few:
        return None
    parts = [op(part) for part in made.inputs]
    if made.op.axis in op.axis:
        return op.scalar(*parts)
    return Join(made.op.axis - sum(axis < made.op.axis for axis in op.axis))(*parts)


BY_PARTS: list[Rule] = [
    node_rule("local_elemwise_of_join", Pointwise, elementwise_of_join, having=Join, uses=True,
              formula="f(join(x, y), s) -> join(f(x, s), f(y, s))"),
    node_rule("local_elemwise_of_padded", Pointwise, elementwise_of_padded, having=IncSubtensor, uses=True,
              formula="f(set_subtensor(alloc(c, n)[i:j], y)) -> set_subtensor(alloc(f(c), n)[i:j], f(y))"),
    node_rule("local_sum_of_join", Reduce, sum_of_join, having=Join, uses=True, contract=relaxes("rounding"),
              formula="sum(join(x, y)) -> sum(x) + sum(y)"),
]  # fmt: skip
"""Rules after which no join is built only to be read once."""

JOINS: list[Rule] = [
    node_rule("local_join_1", Join, only_operand, formula="join(x) -> x"),
    node_rule("local_join_empty", Join, without_empty, formula="join(x, empty, y) -> join(x, y)"),
    node_rule("local_join_of_join", Join, flat_join, having=Join, formula="join(join(x, y), z) -> join(x, y, z)"),
    node_rule("local_join_make_vector", Join, joined_vectors, having=MakeVector,
              formula="join([a, b], [c]) -> [a, b, c]"),
    node_rule("local_join_subtensors", Join, joined_parts, having=Subtensor, formula="join(x[:n], x[n:]) -> x[:]"),
]  # fmt: skip
