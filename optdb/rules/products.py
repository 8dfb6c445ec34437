"""A product taken apart: factors above and below the line, as rules that look for pairs of them need it."""

from __future__ import annotations

from collections.abc import Sequence

from ...graph import Variable
from ...ops.elementwise import Elementwise, mul, neg, reciprocal, true_div
from ...ops.tensor import constant
from ...record import record
from .facts import Value, made_by

MOST_FACTORS = 16
"""A product is taken apart into no more factors than this, so that long chains stay linear."""


@record
class Product:
    """(-1)**negative * product of `above` / product of `below`, all of one dtype."""

    above: tuple[Variable, ...]
    below: tuple[Variable, ...]
    negative: bool
    dtype: str

    @classmethod
    def of(cls, variable: Variable) -> Product:
        """The factors of `variable`, through mul, true_div, reciprocal and neg of its own dtype."""
        above: list[Variable] = []
        below: list[Variable] = []
        negative = False
        todo = [(variable, True)]
        while todo:
            factor, is_above = todo.pop()
            parts = _parts(factor, variable.dtype) if len(above) + len(below) + len(todo) < MOST_FACTORS else None
            if parts is None:
                (above if is_above else below).append(factor)
                continue
            negative ^= made_by(factor, neg)
            todo.extend((part, is_above == same_side) for part, same_side in reversed(parts))
        return cls(tuple(above), tuple(below), negative, variable.dtype)

    def without(self, above: Variable, below: Variable) -> Product:
        """The product without one factor on each side."""
        return Product(_removed(self.above, above), _removed(self.below, below), self.negative, self.dtype)

    def times(self, factor: Variable) -> Product:
        return Product((*self.above, factor), self.below, self.negative, self.dtype)

    def build(self) -> Value:
        """The product as a graph of few nodes: all that is above, over all that is below."""
        above = _multiplied(self.above)
        below = _multiplied(self.below)
        if above is None:
            above = constant(1, self.dtype)
        result = above if below is None else true_div(above, below)
        return neg(result) if self.negative else result


def _parts(factor: Variable, dtype: str) -> list[tuple[Variable, bool]] | None:
    """(operand, whether it stands on the same side of the line) for each operand; None for what is no product."""
    node = factor.owner
    if node is None or not isinstance(node.op, Elementwise) or any(i.dtype != dtype for i in node.inputs):
        return None
    if node.op in (mul, neg):
        return [(i, True) for i in node.inputs]
    if node.op is true_div:
        return [(node.inputs[0], True), (node.inputs[1], False)]
    return [(node.inputs[0], False)] if node.op is reciprocal else None


def _removed(factors: Sequence[Variable], gone: Variable) -> tuple[Variable, ...]:
    position = next(k for k, f in enumerate(factors) if f is gone)
    return (*factors[:position], *factors[position + 1 :])


def _multiplied(factors: Sequence[Variable]) -> Value | None:
    if not factors:
        return None
    result = factors[0]
    for factor in factors[1:]:
        result = mul(result, factor)
    return result
