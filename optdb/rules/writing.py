"""Writing parts: `set_subtensor` and `inc_subtensor` of zeros, of parts that are read again, and of the whole.

Positions that an array names twice are why most of these are for integers and slices alone, or for arrays that count up.
"""

from __future__ import annotations

from typing import Any

from ...graph import Apply, Constant, Variable, same_shape
from ...ops.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ...ops.creation import Alloc, Arange
from ...ops.elementwise import add, fill
from ...ops.indexing import IncSubtensor, Subtensor
from ...ops.shape import BroadcastTo
from ..contract import relaxes
from ..patterns import Users, same_value
from ..rule import Rule, node_rule
from .facts import constant_int, made_by, number_of, same_dtype
from .indexing import indices_of
from .slicing import is_whole

WRITES = (IncSubtensor, AdvancedIncSubtensor)
READS = (Subtensor, AdvancedSubtensor)


def number_everywhere(x: Variable) -> Any:
    """The one number that every element of `x` is known to be; None if there is none."""
    if made_by(x, fill):
        return number_of(x.owner.inputs[1])  # type: ignore[union-attr]
    if made_by(x, Alloc) or made_by(x, BroadcastTo):
        return number_of(x.owner.inputs[0])  # type: ignore[union-attr]
    return number_of(x)


def is_zero(x: Variable) -> bool:
    number = number_everywhere(x)
    return number is not None and bool(number == 0)


def _written(node: Apply) -> tuple[Apply, Variable, Variable] | None:
    """(the write, what is written to, what is written) where the first operand of the node is a write at the same positions."""
    write = node.inputs[0].owner
    if write is None or not isinstance(write.op, WRITES) or write.op.spec != node.op.spec:  # type: ignore[attr-defined]
        return None
    own = node.inputs[2:] if isinstance(node.op, WRITES) else node.inputs[1:]
    if not all(same_value(a, b) for a, b in zip(write.inputs[2:], own, strict=True)):
        return None
    return write, write.inputs[0], write.inputs[1]


def names_each_once(node: Apply, after: int) -> bool:
    """Whether no position is named twice, by the indices that follow the first `after` inputs: an array that counts up is enough."""
    if not isinstance(node.op, (AdvancedSubtensor, AdvancedIncSubtensor)):
        return True
    arrays = [i for i in node.inputs[after:] if i.ndim]
    return any(_counts(i) and all(same_shape(i, other) for other in arrays) for i in arrays)


def _counts(index: Variable) -> bool:
    if made_by(index, Arange):
        return constant_int(index.owner.inputs[2]) not in (None, 0)  # type: ignore[union-attr]
    return isinstance(index, Constant) and len(set(index.data.ravel().tolist())) == index.data.size


def _spread(part: Variable, y: Variable) -> Variable:
    """y in the shape of the part that it is written to."""
    return y if same_shape(part, y) else fill(part, y)  # type: ignore[no-any-return]


# --- writes that do nothing, or everything


def useless_write(node: Apply) -> Variable | None:
    """What is written to the whole of x: y, or x + y."""
    x, y = node.inputs[:2]
    if not all(map(is_whole, _brackets(node))):
        return None
    return _spread(x, y) if node.op.set else add(x, y)  # type: ignore[attr-defined, no-any-return]


def _brackets(node: Apply) -> list[Any]:
    return indices_of(_as_read(node))


def _as_read(node: Apply) -> Apply:
    """The read of the positions that the node writes."""
    read = Subtensor if isinstance(node.op, IncSubtensor) else AdvancedSubtensor
    return Apply(read(node.op.spec), (node.inputs[0], *node.inputs[2:]), node.origin)  # type: ignore[attr-defined]


def inc_by_zero(node: Apply) -> Variable | None:
    """x, to which zeros are added."""
    x, y = node.inputs[:2]
    return x if not node.op.set and is_zero(y) else None  # type: ignore[attr-defined]


def inc_of_zeros(node: Apply) -> Variable | None:
    """Adding to zeros is setting, where no position is named twice."""
    op, x = node.op, node.inputs[0]
    if op.set or not is_zero(x) or not names_each_once(node, 2):  # type: ignore[attr-defined]
        return None
    return type(op)(op.spec, set=True)(*node.inputs)  # type: ignore[attr-defined, call-arg, no-any-return]


def set_of_same_number(node: Apply) -> Variable | None:
    """x, whose every element is the number that is set."""
    x, y = map(number_everywhere, node.inputs[:2])
    same = node.op.set and x is not None and y is not None and x.tobytes() == y.tobytes()  # type: ignore[attr-defined]
    return node.inputs[0] if same else None


# --- a write and a read at the same positions


def read_of_write(node: Apply) -> Variable | None:
    """What was set, or what was there plus what was added."""
    found = _written(node)
    if found is None or not names_each_once(node, 1):
        return None
    write, x, y = found
    if write.op.set:  # type: ignore[attr-defined]
        return _spread(node.out, y) if same_shape(node.out, y) else fill(node.op(x, *node.inputs[1:]), y)  # type: ignore[no-any-return]
    return add(node.op(x, *node.inputs[1:]), y)  # type: ignore[no-any-return]


def set_of_sum(node: Apply) -> Variable | None:
    """x[i] = x[i] + y as x[i] += y."""
    x, total = node.inputs[:2]
    if not node.op.set or not made_by(total, add) or not names_each_once(node, 2):  # type: ignore[attr-defined]
        return None
    terms = list(total.owner.inputs)  # type: ignore[union-attr]
    part = next((t for t in terms if _reads(t, x, node)), None)
    if part is None or len(terms) != 2 or not same_dtype(*terms) or x.dtype == "bool":
        return None
    (rest,) = [t for t in terms if t is not part] or [part]
    return type(node.op)(node.op.spec, set=False)(x, rest, *node.inputs[2:])  # type: ignore[attr-defined, call-arg, no-any-return]


def _reads(term: Variable, x: Variable, write: Apply) -> bool:
    read = term.owner
    return (
        read is not None
        and isinstance(read.op, READS)
        and read.op.spec == write.op.spec  # type: ignore[attr-defined]
        and read.inputs[0] is x
        and all(same_value(a, b) for a, b in zip(read.inputs[1:], write.inputs[2:], strict=True))
    )


def write_of_write(node: Apply) -> Variable | None:
    """The last of two values set at the same positions."""
    found = _written(node)
    if found is None or not node.op.set:  # type: ignore[attr-defined]
        return None
    _, x, _ = found
    return node.op(x, *node.inputs[1:])  # type: ignore[no-any-return]


def add_of_sparse_write(node: Apply, users: Users) -> Variable | None:
    """x + (zeros but for some positions) as a write to x."""
    for position, term in enumerate(node.inputs):
        write = term.owner
        if write is None or not isinstance(write.op, WRITES) or not is_zero(write.inputs[0]) or len(users(term)) != 1:
            continue
        rest = [i for k, i in enumerate(node.inputs) if k != position]
        x = rest[0] if len(rest) == 1 else add(*rest)
        if not same_shape(x, term) or x.dtype != term.dtype or (write.op.set and not names_each_once(write, 2)):  # type: ignore[attr-defined]
            continue
        return type(write.op)(write.op.spec, set=False)(x, *write.inputs[1:])  # type: ignore[attr-defined, call-arg, no-any-return]
    return None


WRITING: list[Rule] = [
    node_rule("local_useless_inc_subtensor", IncSubtensor, useless_write, formula="set_subtensor(x[:], y) -> y"),
    node_rule("local_incsubtensor_of_zeros", WRITES, inc_by_zero, contract=relaxes("signed zero", "errors"),
              formula="inc_subtensor(x[i], 0) -> x"),
    node_rule("local_incsubtensor_of_zeros_to_setsubtensor", WRITES, inc_of_zeros, contract=relaxes("signed zero"),
              formula="inc_subtensor(zeros[i], y) -> set_subtensor(zeros[i], y)"),
    node_rule("local_setsubtensor_of_constants", WRITES, set_of_same_number, contract=relaxes("errors"),
              formula="set_subtensor(alloc(c)[i], c) -> alloc(c)"),
    node_rule("local_subtensor_inc_subtensor", READS, read_of_write, having=WRITES, contract=relaxes("errors"),
              formula="set_subtensor(x[i], y)[i] -> y"),
    node_rule("local_set_to_inc_subtensor", WRITES, set_of_sum, formula="set_subtensor(x[i], x[i] + y) -> inc_subtensor(x[i], y)"),
    node_rule("local_write_of_write_same_indices", WRITES, write_of_write, having=WRITES,
              formula="set_subtensor(set_subtensor(x[i], y)[i], z) -> set_subtensor(x[i], z)"),
    node_rule("local_add_of_sparse_write", add, add_of_sparse_write, having=WRITES, uses=True,
              contract=relaxes("rounding", "signed zero"), formula="x + inc_subtensor(zeros[i], y) -> inc_subtensor(x[i], y)"),
]  # fmt: skip
