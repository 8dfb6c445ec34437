"""A product as lists of factors in numerator and denominator, for rules that look for pairs of factors."""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Apply, Op, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import mul, neg, reciprocal, true_div
from ....record import record
from ..facts import Value, is_scalar_constant, made_by

MOST_FACTORS = 16
"""Most factors of a product that are listed, so that long chains take linear time."""


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
        """Return the product without one factor on each side."""
        return Product(_removed(self.above, above), _removed(self.below, below), self.negative, self.dtype)

    def times(self, factor: Variable) -> Product:
        return Product((*self.above, factor), self.below, self.negative, self.dtype)

    def build(self) -> Value:
        """Return the product as a graph of few nodes: the numerator over the denominator."""
        above = _multiplied(self.above)
        below = _multiplied(self.below)
        if above is None:
            above = constant(1, self.dtype)
        result = above if below is None else true_div(above, below)
        return neg(result) if self.negative else result


def may_be_one_number_times(variable: Variable) -> bool:
    """Whether a product may have at most one factor that is no number, by a look at the nearest factors."""
    others, factors, dtype = 0, [variable], variable.type.dtype
    for factor in factors:  # grows on the way
        node = _product(factor, dtype)
        if node is not None:
            factors += node.inputs
        elif not is_scalar_constant(factor):
            others += 1
        if others > 1 or len(factors) > 2 * MOST_FACTORS:
            break
    return others <= 1


def _product(factor: Variable, dtype: str) -> Apply | None:
    """Return the node that computes `factor` as a product or quotient of values of this dtype."""
    node = factor.owner
    if node is None or node.op not in _SIDES:
        return None
    for i in node.inputs:
        if i.type.dtype != dtype:
            return None
    return node


def _parts(factor: Variable, dtype: str) -> list[tuple[Variable, bool]] | None:
    """Return (operand, whether it stays on its side of the fraction) for each operand; None if it is no product."""
    node = _product(factor, dtype)
    if node is None:
        return None
    first, others = _SIDES[node.op]
    return [(i, others if n else first) for n, i in enumerate(node.inputs)]


_SIDES: dict[Op, tuple[bool, bool]] = {
    mul: (True, True), neg: (True, True), true_div: (True, False), reciprocal: (False, False),
}  # fmt: skip
"""Whether the first operand stays on its side of the fraction, and whether the others do."""


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
