"""Elementwise ops of arithmetic and rounding, one record each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.derivatives import cosine, is_flat, of_add, of_extremum, of_mul, slope_of_power
from ..core.namespace import T
from ..writing import latex
from .c_forms import BITS, ITSELF, PRODUCT, SUM, Binding, Form, helper, library, prefix, template
from .pointwise import fold_op, symmetric_op, ufunc_op

if TYPE_CHECKING:
    from ..core.signatures import Binary, Fold, Unary

__all__ = [
    "abs", "add", "cbrt", "ceil", "floor", "floor_div", "fmod", "gcd", "hypot", "lcm", "maximum", "minimum", "mod",
    "mul",
    "neg", "pow", "reciprocal", "rint", "sign", "sqrt", "square", "sub", "true_div", "trunc",
]  # fmt: skip

add: Fold = fold_op(
    "add", np.add, meaning="x + y + ...: the sum of two or more operands.",
    unit=0, real_slopes=True,
    sign="+", latex=latex.infix("+", latex.SUM, flat=True),
    derivative=of_add,
    c={"b": BITS["|"], "iufc": SUM["+"]},
)
mul: Fold = fold_op(
    "mul", np.multiply, meaning="x * y * ...: the product of two or more operands.",
    unit=1, zero=0,
    sign="*", latex=latex.times,
    derivative=of_mul,
    c={"b": BITS["&"], "iuf": PRODUCT["*"], "c": helper("mul", 2)},
)
sub: Binary = ufunc_op(
    "sub", np.subtract, meaning="x - y.",
    real_slopes=True, advice="for bools use T.logical_xor(a, b), a ^ b",
    sign="-", latex=latex.infix("-", latex.SUM),
    derivative=(lambda g, y, a, b: g, lambda g, y, a, b: -g),
    c={"iufc": SUM["-"]},
)
true_div: Binary = ufunc_op(
    "true_div", np.true_divide, meaning="x / y, a float for integers too.",
    cost=4,
    sign="/", latex=latex.quotient,
    derivative=(lambda g, y, a, b: g / b, lambda g, y, a, b: -(g * y) / b),
    c={"f": PRODUCT["/"], "c": helper("div", 2)},
)
floor_div: Binary = ufunc_op(
    "floor_div", np.floor_divide, meaning="x // y: the quotient rounded towards minus infinity.",
    cost=12,
    sign="//", latex=latex.form(r"\left\lfloor\frac{{{0}}}{{{1}}}\right\rfloor"),
    derivative=(None, None),
    c={"iuf": helper("floor_div", 2)},
)
mod: Binary = ufunc_op(
    "mod", np.remainder, meaning="x % y: the remainder of `floor_div`; it has the sign of y.",
    cost=12,
    sign="%", latex=latex.infix(r"\bmod", latex.PRODUCT),
    derivative=(lambda g, y, a, b: g, lambda g, y, a, b: -g * T.floor_div(a, b)),
    c={"iuf": helper("mod", 2)},
)
fmod: Binary = ufunc_op(
    "fmod", np.fmod, meaning="The remainder of the division truncated towards zero, as in C; it has the sign of x.",
    cost=12,
    derivative=(lambda g, y, a, b: g, lambda g, y, a, b: -g * T.trunc(a / b)),
    c={"i": helper("fmod", 2), "u": helper("mod", 2), "f": helper("fmod", 2)},
)
gcd: Binary = symmetric_op(
    "gcd", np.gcd, meaning="The greatest common divisor of two integers; 0 for two zeros.",
    cost=100,
    derivative=(None, None),
    c={"iu": helper("gcd", 2)},
)
lcm: Binary = symmetric_op(
    "lcm", np.lcm, meaning="The least common multiple of two integers, without sign; 0 where one of them is 0.",
    cost=120,
    derivative=(None, None),
    c={"iu": helper("lcm", 2)},
)
pow: Binary = ufunc_op(
    "pow", np.power, meaning="x ** y.  Raises ValueError at run time for an integer to a negative integer power.",
    cost=40, fallible=True,
    sign="**", latex=latex.power,
    derivative=(
        lambda g, y, a, b: g * slope_of_power(a, b),
        lambda g, y, a, b: g * y * T.log(T.switch(is_flat(a, b), 1, a)),
    ),
    c={"iufc": helper("pow", 2)},
)
neg: Unary = ufunc_op(
    "neg", np.negative, meaning="-x.",
    involution=True, real_slopes=True, advice="for bools use T.logical_not(a), ~a",
    sign="-", latex=latex.form("-{0}", latex.SUM, latex.PRODUCT),
    derivative=(lambda g, y, x: -g,),
    c={"iufc": prefix("-")},
)
abs: Unary = ufunc_op(
    "abs", np.absolute, meaning="|x|; the modulus, a real number, of a complex number.",
    idempotent=True, even=True,
    latex=latex.form(r"\left|{0}\right|"),
    derivative=(lambda g, y, x: g * T.sign(x),),
    complex_derivative=(lambda g, y, z: g * T.sign(z),),
    c={
        "bu": ITSELF, "i": template("{0} < 0 ? -{0} : {0}", Binding.CHOICE), "f": library("fabs"),
        "c": helper("abs"),
    },
)
sign: Unary = ufunc_op(
    "sign", np.sign,
    meaning="-1, 0 or 1 as x is negative, zero or positive, NaN for NaN; x / |x| for a complex number.",
    idempotent=True,
    derivative=(None,),
    not_holomorphic="z / |z| is not holomorphic",
    c={
        "u": template("{0} != 0", Binding.EQUALITY), "i": template("({0} > 0) - ({0} < 0)", Binding.SUM),
        "fc": helper("sign"),
    },
)
square: Unary = ufunc_op(
    "square", np.square, meaning="x * x.",
    even=True,
    latex=latex.form("{0}^{{2}}", latex.POWER, latex.ATOM),
    derivative=(lambda g, y, x: 2 * g * x,),
    c={"b": ITSELF, "iuf": template("{0} * {0}", Binding.PRODUCT), "c": Form("ag_mul_{T}({0}, {0})")},
)
sqrt: Unary = ufunc_op(
    "sqrt", np.sqrt, meaning="The square root; NaN for negative real numbers.",
    cost=6,
    latex=latex.form(r"\sqrt{{{0}}}"),
    derivative=(lambda g, y, x: 0.5 * g / y,),
    c={"f": library("sqrt"), "c": library("csqrt")},
)
cbrt: Unary = ufunc_op(
    "cbrt", np.cbrt, meaning="The real cube root.",
    cost=20,
    derivative=(lambda g, y, x: g / 3 / y / y,),  # of 1 / y**2 the derivative at 0 would be inf * 0
    c={"f": helper("cbrt")},
)
reciprocal: Unary = ufunc_op(
    "reciprocal", np.reciprocal, meaning="1 / x, in the dtype of x: for integers the quotient is truncated.",
    cost=4, involution=True,
    latex=latex.form(r"\frac{{1}}{{{0}}}", latex.PREFIX),
    derivative=(lambda g, y, x: -g * T.square(y),),
    c={"f": template("1 / {0}", Binding.PRODUCT), "c": helper("reciprocal")},
)
maximum: Fold = fold_op(
    "maximum", np.maximum, meaning="The larger of two or more operands; NaN if one of them is.",
    idempotent=True, latex=r"\max",
    derivative=of_extremum,
    not_holomorphic="complex numbers are ordered by their parts, which is not differentiable",
    c={"b": BITS["|"], "iu": template("{0} > {1} ? {0} : {1}", Binding.CHOICE), "fc": helper("maximum", 2)},
)
minimum: Fold = fold_op(
    "minimum", np.minimum, meaning="The smaller of two or more operands; NaN if one of them is.",
    idempotent=True, latex=r"\min",
    derivative=of_extremum,
    not_holomorphic="complex numbers are ordered by their parts, which is not differentiable",
    c={"b": BITS["&"], "iu": template("{0} < {1} ? {0} : {1}", Binding.CHOICE), "fc": helper("minimum", 2)},
)
hypot: Binary = symmetric_op(
    "hypot", np.hypot, meaning="sqrt(x * x + y * y) without overflow.",
    cost=12,
    derivative=(lambda g, y, a, b: g * cosine(a, b, y), lambda g, y, a, b: g * cosine(b, a, y)),
    c={"f": helper("hypot", 2)},
)
floor: Unary = ufunc_op(
    "floor", np.floor, meaning="The largest whole number that is not above x.",
    idempotent=True, whole=True,
    derivative=(None,),
    c={"biu": ITSELF, "f": library("floor")},
)
ceil: Unary = ufunc_op(
    "ceil", np.ceil, meaning="The smallest whole number that is not below x.",
    idempotent=True, whole=True,
    derivative=(None,),
    c={"biu": ITSELF, "f": library("ceil")},
)
trunc: Unary = ufunc_op(
    "trunc", np.trunc, meaning="The whole number next to x on the side of zero.",
    idempotent=True, whole=True,
    derivative=(None,),
    c={"biu": ITSELF, "f": library("trunc")},
)
rint: Unary = ufunc_op(
    "rint", np.rint, meaning="The nearest whole number; the even one of two that are as near.",
    idempotent=True, whole=True,
    derivative=(None,),
    c={"f": library("rint"), "c": helper("rint")},
)
