"""Powers with constant exponents, and their inverses.

NumPy's `pow` is right to about one ulp; products and roots are rounded correctly, so the results differ by no more.
"""

from __future__ import annotations

from ....graph import Apply, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import abs, exp2, ge, mul, pow, reciprocal, sqrt, square, switch
from ...contract import relaxes, stabilizes, ulp
from ...patterns import Wild, wilds
from ...rule import Rule, rule
from ..facts import Value, is_float, is_real, is_scalar_constant, number_of, uniform_x

x, n = wilds("x n")
real_x: Wild = Wild("x", is_real)
float_x: Wild = Wild("x", is_float)

LONGEST_PRODUCT = 8
"""Exponents of floating-point powers up to this become products; each multiplication may cost half an ulp."""
LONGEST_INTEGER_PRODUCT = 64


def as_product(node: Apply, x: Variable, n: Variable) -> Value | None:
    """Rewrite x**n to squarings and products, for whole constant n >= 3.  Source: Knuth, TAOCP 2, section 4.6.3."""
    exponent = _whole(n)
    longest = LONGEST_PRODUCT if is_float(x) else LONGEST_INTEGER_PRODUCT
    if exponent is None or not 3 <= exponent <= longest or x.dtype != node.out.dtype:
        return None
    result = None
    power = x
    while exponent:
        if exponent & 1:
            result = power if result is None else mul(result, power)
        exponent >>= 1
        power = square(power) if exponent else power
    return result


def _whole(n: Variable) -> int | None:
    number = number_of(n) if is_scalar_constant(n) and n.type.kind in "iuf" else None
    return int(number) if number is not None and float(number).is_integer() else None


def absolute_square_root(x: Variable) -> Value:
    """Rewrite square(sqrt(x)) to x, with NaN for negative numbers."""
    return switch(ge(x, 0), abs(x), constant(float("nan"), x.dtype))


UNITS: list[Rule] = [
    rule("local_pow_zero", pow(float_x, 0), 1),
    rule("local_pow_one", pow(float_x, 1), x),
]

CANONICAL: list[Rule] = [
    rule("local_one_pow", pow(1, float_x), 1),
    rule("local_sqrt_sqr", sqrt(square(float_x)), abs(x), contract=stabilizes),
    rule("local_sqr_sqrt", square(sqrt(float_x)), absolute_square_root, contract=stabilizes,
         formula="square(sqrt(x)) -> switch(ge(x, 0), abs(x), nan)"),
]  # fmt: skip

SPECIAL: list[Rule] = [
    rule("local_pow_two", pow(real_x, 2), square(x), when=uniform_x, contract=ulp(1)),
    rule("local_pow_half", pow(float_x, 0.5), sqrt(x), when=uniform_x,
         contract=ulp(1) | relaxes("domain", "signed zero"),
         reason="NumPy's own x ** 0.5 is the square root: NaN at -inf, where pow is inf"),
    rule("local_pow_quarter", pow(float_x, 0.25), sqrt(sqrt(x)), when=uniform_x,
         contract=ulp(2) | relaxes("domain", "signed zero"), reason="NaN at -inf, as x ** 0.5"),
    rule("local_pow_three_quarters", pow(float_x, 0.75), mul(sqrt(x), sqrt(sqrt(x))), when=uniform_x,
         contract=ulp(3) | relaxes("domain"), reason="NaN at -inf, as x ** 0.5"),
    rule("local_pow_minus_one", pow(float_x, -1), reciprocal(x), when=uniform_x, contract=ulp(1)),
    rule("local_pow_minus_two", pow(float_x, -2), square(reciprocal(x)), when=uniform_x, contract=ulp(3)),
    rule("local_pow_to_nested_squaring", pow(real_x, n), as_product, contract=ulp(LONGEST_PRODUCT),
         formula="pow(x, n) -> square(square(x)) * ...  for whole n from 3 on"),
    rule("local_two_pow", pow(2, float_x), exp2(x), when=uniform_x, contract=ulp(2)),
]  # fmt: skip

UNSAFE: list[Rule] = [
    rule("local_pow_minus_half", pow(float_x, -0.5), reciprocal(sqrt(x)), when=uniform_x,
         contract=relaxes("inf", "signed zero", "rounding", "domain")),
]  # fmt: skip
