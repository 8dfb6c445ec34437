"""Permuted, added and dropped axes: moved towards the inputs, where they cancel or become flags."""

from __future__ import annotations

from ....graph import Variable
from ....ops.elementwise.records import Cast, Elementwise, to_bfloat16
from ....ops.shapes.shape import DimShuffle
from ...patterns import Users, op_like, wilds
from ...rule import Rule, node_rule, rule
from ..facts import Node, Value, producer
from .lifting import lifted_over_elementwise

Order = tuple["int | str", ...]

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
    return lifted_over_elementwise(node.inputs[0], node.op.order, users, _orders, _shuffled)


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


def _shuffled(operand: Variable, order: Order) -> Variable:
    return operand if order == tuple(range(operand.ndim)) else DimShuffle(order)(operand)


COMPOSED: list[Rule] = [
    rule("local_dimshuffle_of_dimshuffle", outer(inner(x)), composed,
         formula="dimshuffle(dimshuffle(x)) -> dimshuffle(x)"),
    rule("local_useless_dimshuffle", in_order(x), x, when=has_all_axes),
]  # fmt: skip
DIMSHUFFLES: list[Rule] = [
    *COMPOSED,
    rule("local_dimshuffle_of_ones", outer(with_ones), with_ones, when=moves_only_ones),
    node_rule("local_dimshuffle_lift", DimShuffle, lifted, having=(Elementwise, Cast), uses=True,
              formula="dimshuffle(f(x, y)) -> f(dimshuffle(x), dimshuffle(y))"),
]  # fmt: skip
