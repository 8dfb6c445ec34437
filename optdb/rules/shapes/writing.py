"""Writes to parts of arrays: `set_subtensor` and `inc_subtensor` of zeros, of parts that are read again, of the whole.

Most of these rules need positions that are known to be distinct: see `ops/shapes/distinct.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ....graph import Dim, Variable, dims_of, same_shape
from ....ops.core.tensor import constant
from ....ops.elementwise.records import add, eq, fill, logical_and, lt, neg, sub, switch
from ....ops.reductions.reduce import Reduce
from ....ops.reductions.unbroadcasting import SumTo
from ....ops.shapes import distinct
from ....ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor, pointers_of
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.lengths import dim_to_tensor
from ....ops.shapes.shape import BroadcastTo
from ...contract import relaxes
from ...patterns import Users, same_value
from ...rule import Rule, node_rule
from ..facts import Node, Value, constant_int, is_integer, number_of, producer
from .covering import COVERED
from .slicing import counts_through, is_whole

WRITES = (IncSubtensor, AdvancedIncSubtensor)
READS = (Subtensor, AdvancedSubtensor)
BROADCASTING = (Alloc, BroadcastTo)


def number_everywhere(x: Variable) -> Any:
    """Return the one number that every element of `x` is known to be; None if there is none."""
    made = producer(x, fill)
    if made is not None:
        return number_of(made.inputs[1])
    made = producer(x, *BROADCASTING)
    return number_of(x if made is None else made.inputs[0])


def is_zero(x: Variable) -> bool:
    """Whether every element is known to be zero."""
    number = number_everywhere(x)
    return number is not None and bool(number == 0)


# --- positions


def positions(node: Node) -> Sequence[Variable]:
    """Return the index inputs of a read or a write."""
    inputs: Sequence[Variable] = node.inputs[2:] if isinstance(node.op, WRITES) else node.inputs[1:]
    return inputs


def same_positions(a: Node, b: Node) -> bool:
    """Whether two reads or writes access the same part."""
    return bool(a.op.spec == b.op.spec) and all(map(same_value, positions(a), positions(b)))


def names_each_once(node: Node) -> bool:
    """Whether no position occurs twice."""
    basic = isinstance(node.op, (Subtensor, IncSubtensor))
    return basic or distinct.names_each_once(node.inputs[0], pointers_of(node.op.spec, positions(node)))


def _earlier_write(node: Node) -> Node | None:
    """Return the write to the part that the node reads or writes again."""
    write = producer(node.inputs[0], *WRITES)
    return write if write is not None and same_positions(write, node) else None


# --- writes that do nothing, or everything


def useless_write(node: Node) -> Value | None:
    """Rewrite a write to the whole of x to y, or x + y; from the end on, to those of y reversed."""
    x, y = node.inputs[:2]
    index = entries(node.op.spec, positions(node))
    if not all(_is_all_of(*pair) or _is_reversed(pair[0]) for pair in zip(index, dims_of(x), strict=False)):
        return None
    if any(map(_is_reversed, index)):
        y = y if same_shape(x, y) else fill(x, y)
        y = Subtensor(node.op.spec)(y, *positions(node))
    if not node.op.set:
        return add(x, y)
    return y if same_shape(x, y) else fill(x, y)


def _is_all_of(place: Any, length: Dim) -> bool:
    """Whether an index takes all positions of an axis in order; its ends may be numbers, as those of no padding."""
    if not isinstance(place, slice) or place.step is not None:
        return is_whole(place)
    if place.start is not None and constant_int(place.start) != 0:
        return False
    stop = None if place.stop is None else constant_int(place.stop)
    return place.stop is None or (stop is not None and isinstance(length, int) and stop >= length)


def _is_reversed(place: Any) -> bool:
    """Whether an index takes all positions of an axis from the last one on."""
    if not isinstance(place, slice) or place.start is not None or place.stop is not None or place.step is None:
        return False
    return constant_int(place.step) == -1


def inc_by_zero(node: Node) -> Value | None:
    """Return x, to which zeros are added."""
    x, y = node.inputs[:2]
    return x if not node.op.set and is_zero(y) else None


def inc_by_broadcast(node: Node) -> Value | None:
    """Add a value before it is broadcast: the addition broadcasts it to the part anyway."""
    x, y, *within = node.inputs
    made = producer(y, *BROADCASTING)
    value = None if made is None else made.inputs[0]
    return node.op(x, value, *within) if value is not None and value.dtype == y.dtype else None


def inc_of_zeros(node: Node) -> Value | None:
    """Rewrite an addition to zeros to a write, if no position occurs twice."""
    if node.op.set or not is_zero(node.inputs[0]) or not names_each_once(node):
        return None
    return replace(node.op, set=True)(*node.inputs)


def inc_at_all_positions(node: Node) -> Value | None:
    """Rewrite an addition at each position of a vector of zeros, in turn, to a sum along a broadcast axis."""
    zeros, value, *indices = node.inputs
    if node.op.set or not zeros.ndim == len(indices) == 1 or zeros.type.kind not in "fc" or not is_zero(zeros):
        return None
    if counts_through(indices[0], dims_of(zeros)[0]) is None:
        return None
    return SumTo()(value if same_shape(value, indices[0]) else fill(indices[0], value), zeros)


def set_of_same_number(node: Node) -> Value | None:
    """Return x, if every element already is the number that is written."""
    if not node.op.set:
        return None
    x, y = map(number_everywhere, node.inputs[:2])
    same = x is not None and y is not None and x.tobytes() == y.tobytes()
    return node.inputs[0] if same else None


# --- a write, and a read or another write at the same positions


def read_of_write(node: Node) -> Value | None:
    """Read a written part as the value that was set, or the old value plus the added one."""
    write = _earlier_write(node)
    if write is None or not names_each_once(node):
        return None
    x, y = write.inputs[:2]
    part = node.op(x, *positions(node))
    if not write.op.set:
        return add(part, y)
    return y if same_shape(node.out, y) else fill(part, y)


def element_of_write(node: Node, users: Users) -> Value | None:
    """Choose between a written element and the one before, if elements alone are read of the array between."""
    write = producer(node.inputs[0], IncSubtensor)
    if write is None or node.out.ndim or "".join(write.op.spec) != "i" * len(node.op.spec):
        return None
    mine, theirs = positions(node), positions(write)
    readers = users(node.inputs[0])
    if not readers or same_positions(node, write) or any(i.dtype != "int64" for i in (*mine, *theirs)):
        return None
    if not all(user is not None and needs_no_array(user, write) for user, _ in readers):
        return None
    (x, y), lengths = write.inputs[:2], map(dim_to_tensor, dims_of(write.inputs[0]))
    same = [eq(_from_front(i, n), _from_front(j, n)) for i, j, n in zip(mine, theirs, lengths) if not same_value(i, j)]
    old = node.op(x, *mine)
    return switch(logical_and(*same) if len(same) > 1 else same[0], y if write.op.set else add(old, y), old)


def needs_no_array(node: Node, write: Node) -> bool:
    """Whether a node needs no array after a write: it reads one element or the written part, or writes that anew."""
    if isinstance(node.op, Subtensor):
        return not node.out.ndim or same_positions(node, write)
    resets = isinstance(node.op, IncSubtensor) and node.op.set and node.inputs[0] is write.out
    return resets and same_positions(node, write)


def _from_front(position: Variable, length: Variable) -> Value:
    """Return a position as it counts from the front."""
    number = constant_int(position)
    if number is not None and number >= 0:
        return position
    return add(position, length) if number is not None else switch(lt(position, 0), add(position, length), position)


def set_of_sum(node: Node) -> Value | None:
    """Rewrite x[i] = x[i] + y to x[i] += y."""
    x, total = node.inputs[0], producer(node.inputs[1], add)
    if not node.op.set or total is None or len(total.inputs) != 2 or x.dtype == "bool" or not names_each_once(node):
        return None
    for part, y in (total.inputs, total.inputs[::-1]):
        read = producer(part, *READS)
        if read is not None and read.inputs[0] is x and same_positions(read, node) and y.dtype == x.dtype:
            return replace(node.op, set=False)(x, y, *positions(node))
    return None


def write_of_write(node: Node, users: Users) -> Value | None:
    """Return the last of two writes to the same positions, if nothing reads the array between them."""
    write = _earlier_write(node)
    if write is None or not node.op.set or len(users(node.inputs[0])) > 1:
        return None
    return node.op(write.inputs[0], *node.inputs[1:])


def inc_of_set(node: Node, users: Users) -> Value | None:
    """Write a sum to a part that is set and then added to, if nothing reads the array between."""
    write = _earlier_write(node)
    if write is None or node.op.set or not write.op.set or len(users(node.inputs[0])) > 1 or node.out.dtype == "bool":
        return None
    (x, y), z = write.inputs[:2], node.inputs[1]
    return write.op(x, z if is_zero(y) else add(y, z), *positions(node)) if names_each_once(node) else None


def set_of_read(node: Node) -> Value | None:
    """Return x, of which a part is set to what it is."""
    x, read = node.inputs[0], producer(node.inputs[1], *READS)
    same = node.op.set and read is not None and read.inputs[0] is x and same_positions(read, node)
    return x if same else None


# --- zeros but for some positions


def sparse_write(v: Variable) -> Node | None:
    """Return the write to zeros that makes v, if it could be an addition: no position occurs twice."""
    write = producer(v, *WRITES)
    if write is None or not is_zero(write.inputs[0]) or (write.op.set and not names_each_once(write)):
        return None
    return write


def add_of_sparse_write(node: Node, users: Users) -> Value | None:
    """Rewrite x + (zeros except for some positions) to a write to x."""
    for k, term in enumerate(node.inputs):
        rest = [i for n, i in enumerate(node.inputs) if n != k]
        x = rest[0] if len(rest) == 1 else add(*rest)
        write = sparse_write(term) if len(users(term)) == 1 else None
        if write is not None and same_shape(x, term) and x.dtype == term.dtype:
            return replace(write.op, set=False)(x, *write.inputs[1:])
    return None


def add_of_write(node: Node, users: Users) -> Value | None:
    """Rewrite a sum with a term that adds to a part, to that addition to the sum of the other terms."""
    for k, term in enumerate(node.inputs):
        write = producer(term, *WRITES) if len(users(term)) == 1 else None
        rest = [write.inputs[0] if n == k else i for n, i in enumerate(node.inputs)] if write is not None else []
        if write is None or write.op.set or any(not same_shape(i, term) or i.dtype != term.dtype for i in rest):
            continue
        return write.op(add(*rest), *write.inputs[1:])
    return None


def integer_add_of_write(node: Node, users: Users) -> Value | None:
    """Return `add_of_write` for integers, where the order of a sum does not matter."""
    return add_of_write(node, users) if is_integer(node.out) else None


def float_add_of_write(node: Node, users: Users) -> Value | None:
    """Return `add_of_write` for floats, where rounding changes."""
    return None if is_integer(node.out) else add_of_write(node, users)


def sub_from_sparse_write(node: Node, users: Users) -> Value | None:
    """Rewrite (zeros except for some positions) - x to a write to -x."""
    term, x = node.inputs
    write = sparse_write(term) if len(users(term)) == 1 else None
    if write is None or not same_shape(x, term) or x.dtype != term.dtype:
        return None
    return replace(write.op, set=False)(neg(x), *write.inputs[1:])


def sum_of_sparse_write(node: Node) -> Value | None:
    """Rewrite row sums of zeros with values at x[i, j], for arrays i and j, to a write at positions i."""
    write = producer(node.inputs[0], AdvancedIncSubtensor) if node.op.scalar is add else None
    if write is None or write.op.spec != ("a", "a") or node.op.axis != (1,) or sparse_write(node.inputs[0]) is None:
        return None
    y, (rows, columns) = write.inputs[1], positions(write)
    zeros = Alloc()(constant(0, y.dtype), dim_to_tensor(dims_of(node.out)[0]))
    return AdvancedIncSubtensor(("a",), set=False)(zeros, y, fill(columns, rows)) if y.dtype == node.out.dtype else None


WRITING: list[Rule] = [
    node_rule("local_useless_inc_subtensor", IncSubtensor, useless_write, contract=relaxes("errors"),
              formula="set_subtensor(x[:], y) -> y"),
    node_rule("local_incsubtensor_of_zeros", WRITES, inc_by_zero, contract=relaxes("signed zero", "errors"),
              formula="inc_subtensor(x[i], 0) -> x"),
    node_rule("local_useless_inc_subtensor_alloc", WRITES, inc_by_broadcast, having=BROADCASTING,
              contract=relaxes("errors"), formula="inc_subtensor(x[i], alloc(y, n)) -> inc_subtensor(x[i], y)"),
    node_rule("local_incsubtensor_of_zeros_to_setsubtensor", WRITES, inc_of_zeros, contract=relaxes("signed zero"),
              formula="inc_subtensor(zeros[i], y) -> set_subtensor(zeros[i], y)"),
    node_rule("local_inc_at_all_positions", AdvancedIncSubtensor, inc_at_all_positions,
              contract=relaxes("signed zero", "rounding"),
              formula="inc_subtensor(zeros[fill(y, arange(n))], v) -> sum_to(v, zeros)  for zeros of length n"),
    node_rule("local_setsubtensor_of_constants", WRITES, set_of_same_number, contract=relaxes("errors"),
              formula="set_subtensor(alloc(c)[i], c) -> alloc(c)"),
    node_rule("local_subtensor_inc_subtensor", READS, read_of_write, having=WRITES, contract=relaxes("errors"),
              formula="set_subtensor(x[i], y)[i] -> y"),
    node_rule("local_element_of_write", Subtensor, element_of_write, having=IncSubtensor, uses=True,
              contract=relaxes("errors"), formula="set_subtensor(x[i], y)[j] -> where(i == j, y, x[j])  for elements"),
    node_rule("local_set_to_inc_subtensor", WRITES, set_of_sum, having=add,
              formula="set_subtensor(x[i], x[i] + y) -> inc_subtensor(x[i], y)"),
    node_rule("local_write_of_write_same_indices", WRITES, write_of_write, having=WRITES, uses=True,
              contract=relaxes("errors"),
              formula="set_subtensor(set_subtensor(x[i], y)[i], z) -> set_subtensor(x[i], z)"),
    COVERED,
    node_rule("local_inc_of_set_same_indices", WRITES, inc_of_set, having=WRITES, uses=True,
              contract=relaxes("signed zero", "errors"),
              formula="inc_subtensor(set_subtensor(x[i], y)[i], z) -> set_subtensor(x[i], y + z)"),
    node_rule("local_set_of_read_same_indices", WRITES, set_of_read, having=READS, contract=relaxes("errors"),
              formula="set_subtensor(x[i], x[i]) -> x"),
    node_rule("local_add_of_sparse_write", add, add_of_sparse_write, having=WRITES, uses=True,
              contract=relaxes("rounding", "signed zero", "errors"),
              formula="x + inc_subtensor(zeros[i], y) -> inc_subtensor(x[i], y)"),
    node_rule("local_integer_add_of_write", add, integer_add_of_write, having=WRITES, uses=True,
              contract=relaxes("errors"),
              formula="x + inc_subtensor(y[i], z) -> inc_subtensor((x + y)[i], z)  for integers"),
    node_rule("local_sub_from_sparse_write", sub, sub_from_sparse_write, having=WRITES, uses=True,
              contract=relaxes("rounding", "signed zero", "errors"),
              formula="inc_subtensor(zeros[i], y) - x -> inc_subtensor((-x)[i], y)"),
    node_rule("local_sum_of_sparse_write", Reduce, sum_of_sparse_write, having=AdvancedIncSubtensor,
              contract=relaxes("rounding", "signed zero", "errors"),
              formula="sum(inc_subtensor(zeros[i, j], y), axis=1) -> inc_subtensor(zeros[i], y)"),
]  # fmt: skip

UNSAFE: list[Rule] = [
    node_rule("local_add_of_write", add, float_add_of_write, having=WRITES, uses=True,
              contract=relaxes("nan", "inf", "overflow", "rounding", "signed zero", "errors"),
              formula="x + inc_subtensor(y[i], z) -> inc_subtensor((x + y)[i], z)"),
]
"""(x + y) + z is not x + (y + z) for floating-point numbers."""
