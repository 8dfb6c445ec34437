"""Axes of length 1 around matrix products: added behind the elementwise nodes that read a product, not before.

    dimshuffle(dot22(x, w)) + b   -->   dimshuffle(dot22(x, w) + b)

A batch of one example makes such axes.  The elementwise nodes then run along the axes of the product, and become its
epilogue.
"""

from __future__ import annotations

from ...graph import Constant, Variable
from ...ops.blas import Dot22
from ...ops.elementwise import Pointwise
from ...ops.shape import DimShuffle
from ...ops.tensor import constant
from ..rule import Rule, node_rule
from .facts import Node, producer

DEEPEST = 4
"""Elementwise nodes between a product and the axes that are looked at."""


def added_later(node: Node) -> Variable | None:
    """An elementwise node of a product without the axes that a dimshuffle adds; these are added to the result."""
    rank = node.out.ndim
    made = next((m for i in node.inputs if (m := _with_axes(i, rank)) is not None), None)
    if made is None:
        return None
    operands = [_without(i, made.op, rank) for i in node.inputs]
    if any(o is None for o in operands):
        return None
    return DimShuffle(made.op.order)(node.op(*operands))


def _with_axes(value: Variable, rank: int) -> Node | None:
    """The dimshuffle that only adds axes to what is computed of a product."""
    made = producer(value, DimShuffle)
    if made is None or value.ndim != rank:
        return None
    kept = [o for o in made.op.order if o != "x"]
    below = made.inputs[0]
    if len(kept) == rank or kept != list(range(below.ndim)):
        return None
    for _ in range(DEEPEST):
        if producer(below, Dot22) is not None:
            return made
        reader = producer(below, Pointwise)
        if reader is None:
            return None
        below = reader.inputs[0]
    return None


def _without(value: Variable, adds: DimShuffle, rank: int) -> Variable | None:
    """A value without the axes that are added to one of `rank`; None if their length may differ from 1."""
    made = producer(value, adds)
    if made is not None:
        value = made.inputs[0]
        return value
    axes = [a - rank + value.ndim for a, o in enumerate(adds.order) if o == "x"]
    own = [a for a in axes if a >= 0]
    if any(value.type.shape[a] != 1 for a in own):
        return None
    if not own:
        return value
    if isinstance(value, Constant):
        return constant(value.data.squeeze(tuple(own)))
    return DimShuffle(tuple([a for a in range(value.ndim) if a not in own]))(value)


LATER: list[Rule] = [
    node_rule("local_axes_after_product", Pointwise, added_later, having=DimShuffle, needs=(Dot22(),),
              formula="f(dimshuffle(dot22(x, w)), y) -> dimshuffle(f(dot22(x, w), dimshuffle(y)))  for added axes"),
]  # fmt: skip
