"""Choices between two values: `switch(c, a, b)` computes both."""

from __future__ import annotations

from ....graph import Variable
from ....ops.elementwise.records import (
    Elementwise,
    eq,
    logical_and,
    logical_not,
    logical_or,
    mul,
    sqrt,
    switch,
    true_div,
)
from ...contract import relaxes
from ...patterns import Number, Wild, once, op_like, wilds
from ...rule import Rule, rule
from ..facts import Value, is_bool, is_constant, is_float, is_integer, number_of, same_dtype, uniform_xy

a, b, c, d, x, y = wilds("a b c d x y")
truth, old, new = Wild("c", is_bool), Wild("x", is_bool), Wild("y", is_bool)
zero: Number = Number(0, any_sign=True)
whole_x, whole_y = wilds("x y", is_integer)
zero_b: Wild = Wild("b", lambda v: number_of(v) == 0)
real_x: Wild = Wild("x", is_float)
number_x: Wild = Wild("x", lambda v: not is_bool(v))
cheap = op_like(Elementwise, "f", lambda op: op.arity in (None, 2) and op.cost <= 1)


def chosen(a: Variable, b: Variable, c: Variable) -> Value | None:
    """Return the branch that a constant condition selects."""
    number = number_of(c)
    return None if number is None else a if number else b


def joined(a: Variable, b: Variable, c: Variable, x: Variable, y: Variable, f: Elementwise) -> Value | None:
    """Merge two choices by one condition, if constants on both sides make one of the results free."""
    if not same_dtype(a, b, x, y):
        return None
    free = (is_constant(a) and is_constant(x)) or (is_constant(b) and is_constant(y))
    return switch(c, f(a, x), f(b, y)) if free else None


CHOICES: list[Rule] = [
    rule("local_useless_switch", switch(c, a, b), chosen, contract=relaxes("errors"),
         formula="switch(constant, a, b) -> a or b"),
    rule("local_switch_of_equals", switch(c, a, a), a),
    rule("local_switch_of_not", switch(logical_not(truth), a, b), switch(truth, b, a)),
    rule("local_switch_in_then", switch(c, switch(c, a, b), d), switch(c, a, d),
         when=lambda a, b, d: same_dtype(a, b, d)),
    rule("local_switch_in_else", switch(c, a, switch(c, b, d)), switch(c, a, d),
         when=lambda a, b, d: same_dtype(a, b, d)),
    rule("local_switch_of_truths", switch(truth, True, False), truth),
    rule("local_switch_of_or", switch(truth, logical_or(old, new), old), logical_or(old, logical_and(truth, new))),
    rule("local_switch_of_or_else", switch(truth, old, logical_or(old, new)),
         logical_or(old, logical_and(logical_not(truth), new))),
    rule("local_switch_of_untruths", switch(truth, False, True), logical_not(truth)),
    rule("local_merge_switch_same_cond", cheap(once(switch(c, a, b)), once(switch(c, x, y))), joined,
         formula="f(switch(c, a, b), switch(c, x, y)) -> switch(c, f(a, x), f(b, y))  if constants meet"),
    rule("local_guarded_sqrt", switch(eq(real_x, zero), zero_b, once(sqrt(switch(eq(real_x, zero), a, real_x)))),
         sqrt(real_x), when=lambda a, b, x: same_dtype(a, b, x), contract=relaxes("signed zero")),
    rule("local_integer_mul_switch_sink", mul(switch(c, zero, whole_x), whole_y), switch(c, 0, mul(x, y)),
         when=uniform_xy),
    rule("local_integer_mul_switch_sink_else", mul(switch(c, whole_x, zero), whole_y), switch(c, mul(x, y), 0),
         when=uniform_xy),
]  # fmt: skip

UNSAFE: list[Rule] = [
    rule("local_mul_switch_sink", mul(switch(c, zero, number_x), y), switch(c, 0, mul(x, y)), when=uniform_xy,
         contract=relaxes("nan", "signed zero")),
    rule("local_mul_switch_sink_else", mul(switch(c, number_x, zero), y), switch(c, mul(x, y), 0), when=uniform_xy,
         contract=relaxes("nan", "signed zero")),
    rule("local_div_switch_sink", true_div(switch(c, zero, x), y), switch(c, 0, true_div(x, y)), when=uniform_xy,
         contract=relaxes("nan", "signed zero")),
    rule("local_div_switch_sink_else", true_div(switch(c, x, zero), y), switch(c, true_div(x, y), 0), when=uniform_xy,
         contract=relaxes("nan", "signed zero")),
]  # fmt: skip
"""Zeros that stay zeros: true for gradients of masked values, but not for NaN and infinity in y."""
