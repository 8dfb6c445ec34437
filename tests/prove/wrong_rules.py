"""Planted wrong rules, which no proof may cover: dropped conditions, swapped operands, wrong constants, blindness to NaN.

Each is a rule of the database or close to one, with one thing wrong.
"""

from __future__ import annotations

from arignote.ops.core.tensor import constant
from arignote.ops.elementwise.records import (
    Elementwise,
    abs,
    add,
    bitwise_and,
    ceil,
    cos,
    eq,
    exp,
    expm1,
    floor,
    floor_div,
    ge,
    le,
    log,
    log1p,
    logical_and,
    logical_not,
    lt,
    maximum,
    minimum,
    mod,
    mul,
    ne,
    neg,
    pow,
    reciprocal,
    right_shift,
    sigmoid,
    sin,
    softplus,
    sqrt,
    square,
    sub,
    switch,
    tanh,
    true_div,
)  # fmt: skip
from arignote.ops.reductions.reduce import Reduce
from arignote.ops.shapes.shape import DimShuffle
from arignote.optdb import Rule, relaxes, rule, stabilizes
from arignote.optdb.patterns import Number, Wild, op_like, wilds
from arignote.optdb.rules.facts import is_bool, is_float, is_integer, is_signed, uniform_x, uniform_xy

x, y, c, a, b = wilds("x y c a b")
float_x, float_y = wilds("x y", is_float)
whole_x, whole_y = wilds("x y", is_integer)
signed_x: Wild = Wild("x", is_signed)
truth: Wild = Wild("c", is_bool)
zero: Number = Number(0, any_sign=True)
total = op_like(Reduce, "r", lambda op: op.scalar is add)
anything = op_like(Reduce, "r")
turn = op_like(DimShuffle, "d", lambda op: op.order == (1, 0))
rounding = op_like(Elementwise, "f", lambda op: op in (floor, ceil))
rounds = relaxes("rounding", "signed zero")

WRONG: list[Rule] = [
    # a condition is dropped
    rule("wrong_add_zero", add(x, zero), x),  # -0.0 + 0.0 is 0.0
    rule("wrong_mul_zero", mul(float_x, zero), 0, contract=relaxes("signed zero")),  # NaN, infinity
    rule("wrong_sub_self", sub(float_x, x), 0),
    rule("wrong_div_self", true_div(float_x, x), 1, contract=relaxes("inf")),  # of zero
    rule("wrong_le_itself", le(x, x), True),
    rule("wrong_eq_itself", eq(float_x, x), True),
    rule("wrong_not_lt", logical_not(lt(x, y)), ge(x, y)),
    rule("wrong_abs_merge_add", add(abs(float_x), abs(float_y)), abs(add(x, y)), when=uniform_xy),
    rule("wrong_sqrt_square", sqrt(square(float_x)), x, contract=stabilizes),
    rule("wrong_exp_log", exp(log(float_x)), x, contract=stabilizes),
    rule("wrong_log_exp_product", log(mul(float_x, float_y)), add(log(x), log(y)), when=uniform_xy, contract=rounds),
    rule("wrong_neg_sub", neg(sub(x, y)), sub(y, x), when=uniform_xy),  # the sign of zero
    # operands are swapped
    rule("wrong_sub_swapped", neg(sub(x, y)), sub(x, y), when=uniform_xy, contract=relaxes("signed zero")),
    rule("wrong_div_swapped", reciprocal(true_div(float_x, float_y)), true_div(x, y), when=uniform_xy, contract=rounds),
    rule("wrong_switch_swapped", switch(logical_not(truth), a, b), switch(truth, a, b)),
    rule("wrong_mod_swapped", mod(whole_x, 8), mod(8, x), when=uniform_x, contract=relaxes("errors")),
    rule("wrong_not_eq", logical_not(eq(x, y)), eq(x, y)),
    rule("wrong_extremum", minimum(maximum(x, y), y), x),
    # a constant is wrong
    rule("wrong_shift", floor_div(whole_x, 8), right_shift(x, 2), when=uniform_x),
    rule("wrong_mask", mod(whole_x, 8), bitwise_and(x, 8), when=uniform_x),
    rule("wrong_power", pow(float_x, 0.5), square(x), when=uniform_x, contract=relaxes("rounding", "domain")),
    rule("wrong_log1p", log(add(2, float_x)), log1p(x), when=uniform_x, contract=stabilizes),
    rule("wrong_expm1", sub(exp(float_x), 2), expm1(x), when=uniform_x, contract=stabilizes),
    rule("wrong_sigmoid", sub(1, sigmoid(float_x)), sigmoid(x), when=uniform_x, contract=stabilizes),
    rule("wrong_tanh", tanh(float_x), lambda x: sub(mul(2, sigmoid(x)), 1), contract=rounds),
    rule("wrong_softplus", log(add(1, exp(float_x))), lambda x: softplus(neg(x)), contract=stabilizes),
    # odd is not even, signed is not unsigned
    rule("wrong_even_sin", sin(neg(float_x)), sin(x)),
    rule("wrong_abs_signed", abs(signed_x), x),
    rule("wrong_truncation", floor_div(neg(whole_x), whole_y), neg(floor_div(x, y)), when=uniform_xy),
    rule("wrong_idempotent", rounding(neg(float_x)), neg(rounding(x)), contract=relaxes("signed zero")),
    rule("wrong_integer_division", mul(floor_div(whole_x, whole_y), y), x, when=uniform_xy),
    rule("wrong_widening", add(neg(whole_x), abs(whole_x)), 0, when=lambda node, x: True),
    rule("wrong_associative", sub(add(float_x, float_y), y), x, when=uniform_xy),
    # arrays
    rule("wrong_sum_of_neg", total(neg(signed_x)), total(x), contract=rounds),
    rule("wrong_reduce_of_neg", anything(neg(signed_x)), neg(anything(x)), contract=rounds),  # of a maximum
    rule("wrong_sum_of_product", total(mul(float_x, float_y)), mul(total(x), total(y)), contract=rounds,
         when=lambda x, y: x.ndim == y.ndim),
    rule("wrong_transposed", turn(sub(turn(x), y)), sub(x, y), when=uniform_xy),
    rule("wrong_truth", logical_and(truth, y), truth, when=lambda node, y: y.dtype == "bool"),
    rule("wrong_ne", ne(x, x), False),
    rule("wrong_cos", cos(add(float_x, float_y)), lambda x, y: add(cos(x), cos(y)), contract=rounds),
    rule("wrong_number", add(float_x, 1), lambda x: add(x, constant(1.5, x.dtype)), when=uniform_x, contract=rounds),
]  # fmt: skip
