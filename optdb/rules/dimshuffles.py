"""Permuted, added and dropped axes: moved towards the inputs, where they cancel or become flags."""

from __future__ import annotations

from ...graph import Variable
from ...ops.elementwise import Cast, Elementwise
from ...ops.shape import DimShuffle
from ..patterns import Users, op_like, wilds
from ..rule import Rule, node_rule, rule
from .facts import Node, Value

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
    """Move a dimshuffle of an elementwise result without other readers to its operands."""
    (result,) = node.inputs
    below = result.owner
    order = node.op.order
    if below is None or not isinstance(below.op, (Elementwise, Cast)) or order.count("x") == len(order):
        return None
    if len(users(result)) != 1:
        return None
    operands = [_shuffled(i, order, result.ndim) for i in below.inputs]
    return below.op(*operands)


def _shuffled(operand: Variable, order: Order, ndim: int) -> Value:
    """Return an operand of a result of rank `ndim`, with its axes moved like the result's; scalars fit as they are."""
    if operand.ndim == 0:
        return operand
    missing = ndim - operand.ndim
    own = tuple(o - missing if isinstance(o, int) and o >= missing else "x" for o in order)
    return operand if own == tuple(range(operand.ndim)) else DimShuffle(own)(operand)


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
