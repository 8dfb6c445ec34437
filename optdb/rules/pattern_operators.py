"""The ops of Python's operators between patterns, the same as between variables."""

from __future__ import annotations

from ...ops.elementwise import records as e
from ..operators import OPERATORS

PATTERN_OPERATORS = {
    "add": e.add, "sub": e.sub, "mul": e.mul, "truediv": e.true_div, "floordiv": e.floor_div, "mod": e.mod,
    "pow": e.pow, "and": e.bitwise_and, "or": e.bitwise_or, "xor": e.bitwise_xor, "lshift": e.left_shift,
    "rshift": e.right_shift, "lt": e.lt, "le": e.le, "gt": e.gt, "ge": e.ge, "neg": e.neg, "abs": e.abs,
    "invert": e.bitwise_not,
}  # fmt: skip

OPERATORS.update(PATTERN_OPERATORS)
