"""Sums, products, quotients and signs.

Most of these keep every bit, because negation is exact and rounding is symmetric in sign.  Rules for integers
alone (computed modulo a power of two) are in integers.py, rules that reorder sums or products in canonizer.py.
"""

from __future__ import annotations

import math

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import Elementwise, abs, add, mul, neg, reciprocal, square, sub, true_div
from ...contract import relaxes
from ...patterns import Number, Wild, op_like, wilds
from ...rule import Rule, rule
from ..facts import Node, Value, is_constant, is_float, is_real, is_signed, not_complex, producer, uniform_x, uniform_xy

x, y = wilds("x y")
real_x: Wild = Wild("x", not_complex)
signed_x: Wild = Wild("x", is_signed)
float_x, float_y = wilds("x y", is_float)
zero: Number = Number(0, any_sign=True)
c: Wild = Wild("c", is_constant)

even = op_like(Elementwise, "even", lambda op: op.even)


def real_result(node: Node) -> bool:
    """Whether the result is real: for complex z, 1 * z is not z, as NumPy multiplies all parts and inf * 0 is NaN."""
    return not_complex(node.out)


def same_float(node: Node, x: Variable, y: Variable) -> bool:
    """Whether x and y are two values of the dtype of the result; x * x is a square instead."""
    return x is not y and uniform_xy(node, x, y)


def _inverse_of_power_of_two(number: Constant) -> Value | None:
    """The constant 1/number if that is exact and normal, else None."""
    data = number.data
    if data.size == 1 and math.frexp(data.item())[0] not in (0.5, -0.5):  # most numbers, by far
        return None
    with np.errstate(all="ignore"):
        mantissa, _ = np.frexp(data)
        inverse = np.asarray(1 / data, dtype=data.dtype)
    limits = np.finfo(data.dtype)
    normal = (np.abs(inverse) >= limits.smallest_normal) & (np.abs(inverse) <= limits.max)
    return constant(inverse) if data.size and bool(np.all((np.abs(mantissa) == 0.5) & normal)) else None


def divided(x: Variable, c: Constant) -> Value | None:
    """Return x / c as a product if that is exact: then both round the same real number."""
    inverse = _inverse_of_power_of_two(c)
    return None if inverse is None else mul(x, inverse)


def negated(x: Variable, c: Constant) -> Value:
    """-(c * x) with the sign in the constant."""
    return mul(constant(-c.data), x)


def negative_product(node: Node, x: Variable, y: Variable) -> Value:
    """Return -(x * y) with the operands in their order, which no other rule then changes."""
    first = producer(node.inputs[0], neg)
    return neg(mul(x, y) if first is not None and first.inputs[0] is x else mul(y, x))


SIGNS: list[Rule] = [
    rule("local_neg_neg", neg(neg(x)), x),
    rule("local_sub_neg_to_add", sub(x, neg(y)), add(x, y), when=uniform_xy),
    rule("local_add_neg_to_sub", add(x, neg(y)), sub(x, y), when=uniform_xy),
    rule("local_neg_of_sub", neg(sub(x, y)), sub(y, x), when=uniform_xy, contract=relaxes("signed zero")),
    rule("local_mul_neg_neg", mul(neg(float_x), neg(float_y)), mul(x, y), when=uniform_xy),
    rule("local_mul_of_neg", mul(neg(real_x), y), negative_product, when=uniform_xy,
         formula="mul(neg(x), y) -> neg(mul(x, y))"),
    rule("local_neg_of_mul", neg(mul(c, signed_x)), negated, when=lambda node, x, c: x.dtype == c.dtype,
         formula="neg(mul(constant, x)) -> mul(-constant, x)"),
    rule("local_neg_div_neg", true_div(neg(float_x), neg(float_y)), true_div(x, y), when=uniform_xy),
    rule("local_div_of_neg", true_div(neg(float_x), float_y), neg(true_div(x, y)), when=uniform_xy),
    rule("local_div_by_neg", true_div(float_x, neg(float_y)), neg(true_div(x, y)), when=uniform_xy),
    rule("local_abs_of_neg", even(neg(signed_x)), even(x)),
    rule("local_abs_of_abs", even(abs(signed_x)), even(x)),
]  # fmt: skip

LIFTED: list[Rule] = [
    rule("local_abs_lift", abs(mul(float_x, float_y)), mul(abs(x), abs(y)), when=same_float),
    rule("local_abs_lift_div", abs(true_div(float_x, float_y)), true_div(abs(x), abs(y)), when=same_float),
]
"""Rules of the beginning, which let absolute values meet; `local_abs_merge` undoes them at the end."""

UNITS: list[Rule] = [
    rule("local_mul_by_one", mul(real_x, 1), x, when=real_result),
    rule("local_mul_by_minus_one", mul(signed_x, -1), neg(x), when=uniform_x),
    rule("local_add_specialize", add(x, zero), x, contract=relaxes("signed zero")),
    rule("local_sub_zero", sub(x, 0), x),
    rule("local_sub_from_zero", sub(zero, x), neg(x), when=uniform_x, contract=relaxes("signed zero")),
    rule("local_div_by_one", true_div(float_x, 1), x, when=real_result),
    rule("local_div_by_minus_one", true_div(float_x, -1), neg(x), when=uniform_x),
]

SPECIAL: list[Rule] = [
    rule("local_mul_to_sqr", mul(x, x), square(x), when=lambda node, x: is_real(x)),
    rule("local_div_to_inv", true_div(1, float_x), reciprocal(x), when=uniform_x),
    rule("local_div_by_power_of_two", true_div(float_x, c), divided,
         when=lambda node, x, c: x.dtype == c.dtype == node.out.dtype,
         formula="true_div(x, 2**k) -> mul(x, 2**-k)"),
    rule("local_abs_merge", mul(abs(float_x), abs(float_y)), abs(mul(x, y)), when=uniform_xy),
    rule("local_abs_merge_div", true_div(abs(float_x), abs(float_y)), abs(true_div(x, y)), when=uniform_xy),
]  # fmt: skip

UNSAFE: list[Rule] = [
    rule("local_mul_zero", mul(x, zero), 0, contract=relaxes("nan", "inf", "signed zero")),
    rule("local_elemwise_sub_zeros", sub(x, x), 0, contract=relaxes("nan", "inf")),
    rule("local_zero_div", true_div(zero, float_x), 0, contract=relaxes("nan", "signed zero")),
    rule("local_div_self", true_div(float_x, x), 1, contract=relaxes("nan", "inf")),
    rule("local_reciprocal_reciprocal", reciprocal(reciprocal(float_x)), x, contract=relaxes("overflow", "rounding")),
]
"""Algebra that holds for real numbers, but not for NaN, infinities and overflow."""
