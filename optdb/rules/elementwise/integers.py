"""Integers and bits: arithmetic modulo a power of two, where the algebra of a ring holds exactly."""

from __future__ import annotations

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import (
    Elementwise,
    abs,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    floor_div,
    left_shift,
    mod,
    mul,
    neg,
    right_shift,
    sub,
)  # fmt: skip
from ...patterns import Number, Wild, op_like, wilds
from ...rule import Rule, rule
from ..facts import (
    Node,
    Value,
    constant_int,
    is_bool,
    is_constant,
    is_discrete,
    is_integer,
    is_unsigned,
    same_dtype,
    uniform_x,
    uniform_xy,
)

x, y = wilds("x y")
c: Wild = Wild("c", is_constant)
integer_x: Wild = Wild("x", is_integer)
bits_x: Wild = Wild("x", is_discrete)
zero: Number = Number(0)

whole_number = op_like(Elementwise, "rounding", lambda op: op.whole)
shift = op_like(Elementwise, "shift", lambda op: op in (left_shift, right_shift))
selects = op_like(Elementwise, "f", lambda op: op.idempotent and op.arity is None)


def _exponent(number: Variable) -> int | None:
    """Return k if the constant is 2**k and k >= 1."""
    value = constant_int(number)
    return value.bit_length() - 1 if value is not None and value > 1 and value & (value - 1) == 0 else None


def shifted(node: Node, x: Variable, c: Constant) -> Value | None:
    """Rewrite x // 2**k to an arithmetic shift, which rounds down as well."""
    k = _exponent(c)
    return None if k is None or not _one_dtype(node, x, c) else right_shift(x, _like(k, c))


def masked(node: Node, x: Variable, c: Constant) -> Value | None:
    """Rewrite x % 2**k to a mask: in two's complement the result is never negative, as in Python."""
    k = _exponent(c)
    return None if k is None or not _one_dtype(node, x, c) else bitwise_and(x, _like((1 << k) - 1, c))


def _one_dtype(node: Node, x: Variable, c: Variable) -> bool:
    return same_dtype(x, c, node.out)


def _like(value: int, c: Constant) -> Value:
    """The constant `value` with the dtype and the shape of the constant `c`."""
    return constant(np.full_like(c.data, value))


RING: list[Rule] = [
    rule("local_integer_mul_zero", mul(bits_x, zero), 0, when=uniform_x),
    rule("local_integer_sub_self", sub(integer_x, x), 0),
    rule("local_intdiv_by_one", floor_div(integer_x, 1), x, when=uniform_x),
    rule("local_mod_by_one", mod(integer_x, 1), 0, when=uniform_x),
    rule("local_zero_intdiv", floor_div(zero, integer_x), 0, when=uniform_x),
    rule("local_zero_mod", mod(zero, integer_x), 0, when=uniform_x),
    rule("local_abs_of_unsigned", abs(Wild("x", is_unsigned)), x),
    rule("local_integer_neg_mul", mul(neg(integer_x), neg(Wild("y", is_integer))), mul(x, y), when=uniform_xy),
    rule("local_useless_rounding", whole_number(bits_x), x, when=uniform_x),
]

BITS: list[Rule] = [
    rule("local_idempotent", selects(x, x), x),
    rule("local_xor_self", bitwise_xor(x, x), 0),
    rule("local_not_not", bitwise_not(bitwise_not(x)), x),
    rule("local_and_zero", bitwise_and(bits_x, zero), 0),
    rule("local_or_zero", bitwise_or(bits_x, zero), x, when=uniform_x),
    rule("local_xor_zero", bitwise_xor(bits_x, zero), x, when=uniform_x),
    rule("local_and_true", bitwise_and(Wild("x", is_bool), True), x, when=uniform_x),
    rule("local_or_true", bitwise_or(Wild("x", is_bool), True), True, when=uniform_x),
    rule("local_and_ones", bitwise_and(integer_x, -1), x, when=uniform_x),
    rule("local_or_ones", bitwise_or(integer_x, -1), -1, when=uniform_x),
    rule("local_shift_by_zero", shift(integer_x, zero), x, when=uniform_x),
]  # fmt: skip

SPECIAL: list[Rule] = [
    rule("local_intdiv_by_power_of_two", floor_div(integer_x, c), shifted,
         formula="floor_div(x, 2**k) -> right_shift(x, k)"),
    rule("local_mod_by_power_of_two", mod(integer_x, c), masked, formula="mod(x, 2**k) -> bitwise_and(x, 2**k - 1)"),
]
