"""Cheaper approximations of functions, opt-in by name or by the tag "approximate"."""

from __future__ import annotations

from ....graph import Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import abs, add, copysign, lt, maximum, minimum, mul, sigmoid, switch, true_div
from ...contract import approximates
from ...patterns import Wild
from ...rule import Rule, rule
from ..facts import Value, is_float

x: Wild = Wild("x", is_float)


def hard_sigmoid(x: Variable) -> Value:
    """Return the line through (0, 1/2) with slope 1/5, clipped to 0 and 1."""
    return minimum(maximum(add(mul(x, _like(x, 0.2)), _like(x, 0.5)), _like(x, 0.0)), _like(x, 1.0))


def ultra_fast_sigmoid(x: Variable) -> Value:
    """Return Theano's function of this name: a quotient of lines near 0, then a line, then a constant.

    With h = |x| / 2, twice the distance from 1/2 is 1.5 h / (1 + h) for h < 1.7, 0.9354 + 0.0459 (h - 1.7) for h < 3,
    and 0.99505 from there on.
    """
    h = mul(abs(x), _like(x, 0.5))
    near = true_div(mul(h, _like(x, 1.5)), add(h, _like(x, 1.0)))
    line = add(mul(h, _like(x, 0.0458812946797165)), _like(x, 0.935409070603099 - 1.7 * 0.0458812946797165))
    twice = switch(lt(h, _like(x, 1.7)), near, minimum(line, _like(x, 0.99505475368673)))
    return add(mul(copysign(twice, x), _like(x, 0.5)), _like(x, 0.5))


def _like(x: Variable, number: float) -> Value:
    """The number in the dtype of x."""
    return constant(number, x.dtype)


APPROXIMATE: list[Rule] = [
    rule("local_ultra_fast_sigmoid", sigmoid(x), ultra_fast_sigmoid, contract=approximates(0.03),
         formula="sigmoid(x) -> 1/2 + 3 x / (8 + 4 |x|) near 0, lines elsewhere"),
    rule("local_hard_sigmoid", sigmoid(x), hard_sigmoid, contract=approximates(0.1),
         formula="sigmoid(x) -> minimum(maximum(0.2 x + 0.5, 0), 1)"),
]  # fmt: skip
