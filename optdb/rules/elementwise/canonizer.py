"""Canonical forms of sums and products: terms and factors are collected, cancelled and rebuilt (Theano's canonizers).

Integers obey the algebra exactly, so all of it is on for them.  For floating-point numbers the constants of a product
are folded, which costs a rounding and saves one; cancelling equal terms or factors is not part of the default mode,
because (x + y) - x is not y where x is large, and x * y / x is NaN where x is zero.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import Elementwise, add, mul, neg, sub, true_div
from ...contract import relaxes, stabilizes, ulp
from ...patterns import wilds
from ...rule import Rule, node_rule, rule
from ..facts import Node, Value, is_float, is_integer, is_scalar_constant, uniform_xyz
from ..shapes.fills import broadcast_by
from .products import MOST_FACTORS, Product, may_be_one_number_times

Terms = tuple[list[Variable], list[Variable]]
"""Terms that are added, and terms that are subtracted."""

x, y, z = wilds("x y z", is_float)
CANCELLING = relaxes("nan", "inf", "overflow", "rounding", "signed zero", "underflow")


# --- sums


def terms_of(variable: Variable) -> Terms:
    """The terms of a sum, through add, sub and neg of its own dtype."""
    plus: list[Variable] = []
    minus: list[Variable] = []
    todo = [(variable, True)]
    while todo:
        term, positive = todo.pop()
        parts = _summands(term, variable.dtype) if len(plus) + len(minus) + len(todo) < MOST_FACTORS else None
        if parts is None:
            (plus if positive else minus).append(term)
        else:
            todo.extend((part, positive == same_sign) for part, same_sign in reversed(parts))
    return plus, minus


def _summands(term: Variable, dtype: str) -> list[tuple[Variable, bool]] | None:
    """(operand, whether it keeps its sign) for each operand; None if the node is no sum."""
    node = term.owner
    if node is None or not isinstance(node.op, Elementwise) or any(i.dtype != dtype for i in node.inputs):
        return None
    if node.op is add:
        return [(i, True) for i in node.inputs]
    if node.op is sub:
        return [(node.inputs[0], True), (node.inputs[1], False)]
    return [(node.inputs[0], False)] if node.op is neg else None


def cancelled(above: Sequence[Variable], below: Sequence[Variable]) -> Terms:
    """Return both sides without the common terms."""
    common = Counter(above) & Counter(below)
    return _less(above, common), _less(below, common)


def _less(variables: Sequence[Variable], gone: Counter[Variable]) -> list[Variable]:
    left = Counter(gone)
    kept = []
    for variable in variables:
        if left[variable] > 0:
            left[variable] -= 1
        else:
            kept.append(variable)
    return kept


def simpler_sum(node: Node) -> Value | None:
    """Return the sum with equal terms cancelled and integer constants added."""
    before = terms_of(node.out)
    plus, minus = cancelled(*before)
    if is_integer(node.out):
        plus, minus = _one_constant(plus, minus, node.out.dtype)
    if len(plus) + len(minus) == len(before[0]) + len(before[1]):
        return None
    return broadcast_by([*before[0], *before[1]], _summed(plus, minus, node.out.dtype), node.out)


def _one_constant(plus: list[Variable], minus: list[Variable], dtype: str) -> Terms:
    """Return both sides with one scalar constant in place of several; with none for 0."""
    added, subtracted = scalars(plus), scalars(minus)
    if len(added) + len(subtracted) < 2:
        return plus, minus
    folded = wrapped(sum(added) - sum(subtracted), dtype)
    rest = [[t for t in side if not is_scalar_constant(t)] for side in (plus, minus)]
    return ([constant(folded)] if folded else []) + rest[0], rest[1]


def scalars(variables: Sequence[Variable]) -> list[Any]:
    """Return the Python numbers of constants with one element."""
    return [v.data.item() for v in variables if isinstance(v, Constant) and v.data.size == 1]


def wrapped(number: int, dtype: str) -> np.ndarray:
    """The integer modulo the power of two that `dtype` computes by."""
    return np.array(number % (1 << 64), dtype=np.uint64).astype(dtype)


def _summed(plus: Sequence[Variable], minus: Sequence[Variable], dtype: str) -> Value:
    if not plus and not minus:
        return constant(0, dtype)
    if not plus:
        return neg(_folded(add, minus))
    return sub(_folded(add, plus), _folded(add, minus)) if minus else _folded(add, plus)


def _folded(op: Elementwise, operands: Sequence[Variable]) -> Value:
    result = operands[0]
    for operand in operands[1:]:
        result = op(result, operand)
    return result


def simpler_integer_sum(node: Node) -> Value | None:
    """Return `simpler_sum` for integers, where it is exact."""
    return simpler_sum(node) if is_integer(node.out) else None


def simpler_float_sum(node: Node) -> Value | None:
    """Return `simpler_sum` for floats, where rounding changes."""
    return simpler_sum(node) if is_float(node.out) else None


# --- products


def one_constant_factor(node: Node) -> Value | None:
    """Return the product with one constant for several: integers in any order, of floats only constants."""
    if not is_integer(node.out) and not may_be_one_number_times(node.out):
        return None
    product = Product.of(node.out)
    constants = [f for f in (*product.above, *product.below) if is_scalar_constant(f)]
    others = len(product.above) + len(product.below) - len(constants)
    if len(constants) < 2 or others == 0 or not (is_integer(node.out) or is_float(node.out)):
        return None
    factor = _factor(product)
    if factor is None:
        return None
    above = tuple(f for f in product.above if not is_scalar_constant(f))
    below = tuple(f for f in product.below if not is_scalar_constant(f))
    return Product((factor, *above), below, False, product.dtype).build()


def _factor(product: Product) -> Value | None:
    """Return all constants and the sign as one constant; None if that is not a normal number."""
    above, below = scalars(product.above), scalars(product.below)
    sign = -1 if product.negative else 1
    kind = np.dtype(product.dtype)
    if kind.kind in "iu":
        return constant(wrapped(sign * math.prod(above), product.dtype))
    with np.errstate(all="ignore"):
        value = (sign * _wide_product(above) / _wide_product(below)).astype(kind)
    limits = np.finfo(kind)
    return constant(value) if limits.smallest_normal <= abs(value) <= limits.max else None


def _wide_product(numbers: Sequence[float]) -> Any:
    """Return the product in the widest floating-point dtype."""
    return np.prod(np.array(numbers, dtype=np.longdouble))


def simpler_product(node: Node) -> Value | None:
    """Return the product with equal factors cancelled."""
    if not is_float(node.out):
        return None
    product = Product.of(node.out)
    above, below = cancelled(product.above, product.below)
    if len(above) == len(product.above):
        return None
    rest = Product(tuple(above), tuple(below), product.negative, product.dtype).build()
    return broadcast_by(product.above, rest, node.out)


CANONICAL: list[Rule] = [
    node_rule("local_add_canonizer", (add, sub, neg), simpler_integer_sum, having=(add, sub, neg),
              contract=relaxes("errors"),
              formula="(x + a) - (y + a) -> x - y  for integers"),
    node_rule("local_mul_canonizer", (mul, true_div), one_constant_factor, having=(mul, true_div, neg),
              contract=ulp(3) | stabilizes,
              formula="2 * (3 * x) -> 6 * x"),
]  # fmt: skip

UNSAFE: list[Rule] = [
    node_rule("local_add_canonizer_float", (add, sub), simpler_float_sum, having=(add, sub, neg),
              contract=CANCELLING | relaxes("errors"),
              formula="(x + y) - x -> y"),
    node_rule("local_mul_canonizer_float", (mul, true_div), simpler_product, contract=CANCELLING | relaxes("errors"),
              formula="x * y / x -> y"),
    rule("local_greedy_distributor", mul(add(true_div(y, x), z), x), add(y, mul(z, x)), when=uniform_xyz,
         contract=CANCELLING),
]  # fmt: skip
