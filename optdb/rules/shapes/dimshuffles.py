"""Permuted, added and dropped axes: moved towards the inputs, where they cancel or become flags."""

from __future__ import annotations

from dataclasses import replace

from ....graph import Variable
from ....ops.elementwise.costs import additions
from ....ops.elementwise.records import Cast, Elementwise, to_bfloat16
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.shape import DimShuffle
from ...contract import relaxes
from ...patterns import Users, op_like, wilds
from ...rule import Rule, node_rule, rule
from ..facts import Node, Value, not_complex, producer
from .lifting import MOST_PASSED, lifted_over_elementwise

Order = tuple["int | str", ...]

CHEAP = 4
"""Most work on an element, in additions, of a value that is computed for a reduction and for other readers."""

(x,) = wilds("x")
(with_ones,) = wilds("x", lambda v: 1 in v.type.shape)
outer, inner = op_like(DimShuffle, "outer"), op_like(DimShuffle, "inner")
in_order = op_like(DimShuffle, "outer", lambda op: op.order == tuple(range(len(op.order))))


def composed(x: Variable, outer: DimShuffle, inner: DimShuffle) -> Value:
    """Return one dimshuffle in place of two."""
    order = tuple(o if isinstance(o, str) else inner.order[o] for o in outer.order)
    return DimShuffle(order)(x)


def has_all_axes(x: Variable, outer: DimShuffle) -> bool:
    """Whether no axis is dropped or added."""
    return len(outer.order) == x.ndim


def moves_only_ones(node: Node, x: Variable, outer: DimShuffle) -> bool:
    """Whether the rank stays and only axes of length 1 move."""
    if len(outer.order) != x.ndim or None in x.type.shape:
        return False
    kept = [o for o in outer.order if isinstance(o, int) and x.type.shape[o] != 1]
    return node.out.type.shape == x.type.shape and kept == sorted(kept)


def lifted(node: Node, users: Users) -> Value | None:
    """Move a dimshuffle of elementwise results without other readers to their operands."""
    return lifted_over_elementwise(node.inputs[0], node.op.order, users, _orders, shuffled)


def _orders(made: Node, order: Order) -> list[tuple[Variable, Order]] | None:
    """Return each operand and its order for a result of this order.

    None for a scalar, where no axis moves, and for roundings to bfloat16: half as many bytes move after them.
    """
    if made.op == to_bfloat16 or order.count("x") == len(order) or order == tuple(range(made.out.ndim)):
        return None
    return [_order(i, order, made.out.ndim) for i in made.inputs]


def _order(operand: Variable, order: Order, ndim: int) -> tuple[Variable, Order]:
    """Return an operand of a result of rank `ndim` and its order: of the value that it is a dimshuffle of."""
    if operand.ndim == 0:
        return operand, ()  # scalars fit as they are
    missing = ndim - operand.ndim
    own = tuple(o - missing if isinstance(o, int) and o >= missing else "x" for o in order)
    while (inner := producer(operand, DimShuffle)) is not None:
        own = tuple(o if isinstance(o, str) else inner.op.order[o] for o in own)
        (operand,) = inner.inputs
    return operand, own


def shuffled(operand: Variable, order: Order) -> Variable:
    return operand if order == tuple(range(operand.ndim)) else DimShuffle(order)(operand)


def reduce_of_permuted(node: Node, users: Users) -> Value | None:
    """Reduce an elementwise result whose operands are permuted alike before their axes are moved.

    The last axis of the operands must stay: vectors then run along it.
    """
    (x,), op = node.inputs, node.op
    if x.ndim - 1 not in op.axis or (op.selects and not not_complex(x)):
        return None  # of several complex NaNs the first is taken, in the order of the walk
    values = _elementwise_above(x, users)
    order = next((order for v in values if (order := _permutation(v, x.ndim))), None)
    if order is None or order.index(x.ndim - 1) in op.axis:
        return None
    own = tuple(order.index(axis) for axis in range(x.ndim))
    images: dict[Variable, Variable] = {}
    for value in reversed(values):
        made = _made_of_elements(value, x.ndim)
        if made is None:
            source, placed = _order(value, own, x.ndim)
            if not _is_sorted(placed):
                return None
            images[value] = shuffled(source, placed)
        else:
            images[value] = made.op(*[images[i] for i in made.inputs])
    reduced = replace(op, axis=tuple(k for k, axis in enumerate(own) if axis in op.axis))(images[x])
    kept = [axis for axis in own if axis not in op.axis]
    return shuffled(reduced, tuple(kept.index(axis) for axis in sorted(kept)))


def _elementwise_above(x: Variable, users: Users) -> list[Variable]:
    """Return x and the values above it as far as elementwise ops of its rank go, each before its operands.

    Empty where there are too many, or where a costly value would be computed twice, since others read it.
    """
    found: dict[Variable, None] = {}
    waiting = [x]
    while waiting:
        value = waiting.pop()
        found.pop(value, None)
        found[value] = None
        made = _made_of_elements(value, x.ndim)
        if made is not None:
            if len(found) > MOST_PASSED or (len(users(value)) > 1 and additions(made) > CHEAP):
                return []
            waiting += made.inputs
    return list(found)


def _made_of_elements(value: Variable, ndim: int) -> Node | None:
    return producer(value, Elementwise, Cast) if value.ndim == ndim else None


def _permutation(value: Variable, ndim: int) -> Order:
    """Return the order of the axes of a value of this rank that all change places; empty for other values."""
    made = producer(value, DimShuffle)
    if made is None or value.ndim != ndim or "x" in made.op.order or _is_sorted(made.op.order):
        return ()
    return made.op.order  # type: ignore[no-any-return]


def _is_sorted(order: Order) -> bool:
    kept = [o for o in order if isinstance(o, int)]
    return kept == sorted(kept)


COMPOSED: list[Rule] = [
    rule("local_dimshuffle_of_dimshuffle", outer(inner(x)), composed,
         formula="dimshuffle(dimshuffle(x)) -> dimshuffle(x)"),
    rule("local_useless_dimshuffle", in_order(x), x, when=has_all_axes),
]  # fmt: skip
DIMSHUFFLES: list[Rule] = [
    *COMPOSED,
    rule("local_dimshuffle_of_ones", outer(with_ones), with_ones, when=moves_only_ones),
    node_rule("local_reduce_of_permuted", Reduce, reduce_of_permuted, having=(Elementwise, Cast), uses=True,
              contract=relaxes("rounding"), formula="sum(f(dimshuffle(x))) -> sum(f(x) over its own axes)"),
    node_rule("local_dimshuffle_lift", DimShuffle, lifted, having=(Elementwise, Cast), uses=True,
              formula="dimshuffle(f(x, y)) -> f(dimshuffle(x), dimshuffle(y))"),
]  # fmt: skip
