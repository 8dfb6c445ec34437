"""Comparisons, logic and bits: elementwise ops, one record each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core import promotion
from ..writing import latex
from . import special
from .c_forms import BITS, EQUALITY, ORDER, Binding, Form, call, helper, prefix, template
from .pointwise import fold_op, plain_op, symmetric_op, ufunc_op

if TYPE_CHECKING:
    from ..core.signatures import Binary, Fold, Unary

__all__ = [
    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "eq", "ge", "gt", "isfinite", "isinf", "isnan",
    "le", "left_shift", "logical_and", "logical_not", "logical_or", "logical_xor", "lt", "ne", "right_shift",
    "signbit", "threefry",
]  # fmt: skip

eq: Binary = symmetric_op(
    "eq", np.equal, meaning="Whether x == y.",
    sign="==", latex=latex.signed,
    compares=True,
    c={"biufc": EQUALITY["=="]},
)
ne: Binary = symmetric_op(
    "ne", np.not_equal, meaning="Whether x != y.",
    sign="!=", latex=latex.signed,
    compares=True,
    c={"biufc": EQUALITY["!="]},
)
lt: Binary = ufunc_op(
    "lt", np.less, meaning="Whether x < y.",
    sign="<", latex=latex.signed,
    compares=True,
    c={"biuf": ORDER["<"], "c": helper("lt", 2)},
)
le: Binary = ufunc_op(
    "le", np.less_equal, meaning="Whether x <= y.",
    sign="<=", latex=latex.signed,
    compares=True,
    c={"biuf": ORDER["<="], "c": helper("le", 2)},
)
gt: Binary = ufunc_op(
    "gt", np.greater, meaning="Whether x > y.",
    sign=">", latex=latex.signed,
    compares=True,
    c={"biuf": ORDER[">"], "c": helper("gt", 2)},
)
ge: Binary = ufunc_op(
    "ge", np.greater_equal, meaning="Whether x >= y.",
    sign=">=", latex=latex.signed,
    compares=True,
    c={"biuf": ORDER[">="], "c": helper("ge", 2)},
)
logical_and: Binary = symmetric_op(
    "logical_and", np.logical_and, meaning="Whether both are nonzero.",
    associative=True, unit=1, zero=0, of_truth=True,
    latex=latex.infix(r"\wedge", -1),
    c={"b": BITS["&"]},
)
logical_or: Binary = symmetric_op(
    "logical_or", np.logical_or, meaning="Whether at least one is nonzero.",
    associative=True, unit=0, zero=1, of_truth=True,
    latex=latex.infix(r"\vee", -2),
    c={"b": BITS["|"]},
)
logical_xor: Binary = symmetric_op(
    "logical_xor", np.logical_xor, meaning="Whether exactly one is nonzero.",
    associative=True, unit=0, of_truth=True,
    c={"b": BITS["^"]},
)
logical_not: Unary = ufunc_op(
    "logical_not", np.logical_not, meaning="Whether x is zero.",
    of_truth=True,
    latex=latex.form(r"\neg {0}", latex.PREFIX, latex.ATOM),
    c={"b": prefix("!")},
)
isnan: Unary = ufunc_op(
    "isnan", np.isnan, meaning="Whether x is NaN.",
    fixed=("biu", 0),
    c={"f": template("{0} != {0}", Binding.EQUALITY), "c": helper("isnan")},
)
isinf: Unary = ufunc_op(
    "isinf", np.isinf, meaning="Whether x is an infinity.",
    fixed=("biu", 0),
    c={"f": Form("fabs{f}({0}) == ({T})__builtin_inf()", Binding.EQUALITY), "c": helper("isinf")},
)
isfinite: Unary = ufunc_op(
    "isfinite", np.isfinite, meaning="Whether x is neither an infinity nor NaN.",
    fixed=("biu", 1),
    c={"f": Form("fabs{f}({0}) < ({T})__builtin_inf()", Binding.ORDER), "c": helper("isfinite")},
)
signbit: Unary = ufunc_op(
    "signbit", np.signbit, meaning="Whether the sign bit is set: true for -0.0 too.",
    c={"f": Form("copysign{f}(1, {0}) < 0", Binding.ORDER)},
)
bitwise_and: Fold = fold_op(
    "bitwise_and", np.bitwise_and, meaning="x & y & ...: the bits that all operands have.",
    idempotent=True, zero=0,
    sign="&", latex=latex.signed,
    c={"biu": BITS["&"]},
)
bitwise_or: Fold = fold_op(
    "bitwise_or", np.bitwise_or, meaning="x | y | ...: the bits that some operand has.",
    idempotent=True, unit=0,
    sign="|", latex=latex.signed,
    c={"biu": BITS["|"]},
)
bitwise_xor: Fold = fold_op(
    "bitwise_xor", np.bitwise_xor, meaning="x ^ y ^ ...: the bits that an odd number of operands have.",
    unit=0,
    sign="^", latex=latex.signed,
    c={"biu": BITS["^"]},
)
bitwise_not: Unary = ufunc_op(
    "bitwise_not", np.invert, meaning="~x: every bit inverted; `not` for bool.",
    involution=True, sign="~", latex=latex.form(r"\sim {0}", latex.PREFIX, latex.ATOM),
    c={"b": prefix("!"), "iu": prefix("~")},
)
left_shift: Binary = ufunc_op(
    "left_shift", np.left_shift, meaning="x << y, for integers; 0 where y is at least the number of bits.",
    sign="<<", latex=latex.signed,
    c={"iu": helper("left_shift", 2)},
)
right_shift: Binary = ufunc_op(
    "right_shift", np.right_shift, meaning="x >> y, for integers; negative numbers keep their sign.",
    sign=">>", latex=latex.signed,
    c={"iu": helper("right_shift", 2)},
)
threefry: Binary = plain_op(
    "threefry", special.threefry, promotion.unsigned_words,
    meaning="64 random bits that are a function of a key and a counter (Threefry-2x32, 20 rounds); for uint64.",
    arity=2, cost=60,
    c={"u": call("ag_threefry_u64", 2)},
)
