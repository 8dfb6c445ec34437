"""Quotients of factors that overflow or underflow together, though their share is tame: the derivatives of many shares.

    sinh(x) / cosh(x)**3             -->    tanh(x) / cosh(x)**2
    x * exp(x) / expm1(x)**2         -->    -x / (expm1(-x) * expm1(x))
    exp(x) / (p + q * exp(x))**3     -->    sigmoid(x + log(q / p)) / q / (p + q * exp(x))**2    for positive p and q
    exp(x) * exp(-exp(x))            -->    exp(x - exp(x))

A product is listed as powers of such factors first, so that it does not matter how it is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import (
    Elementwise,
    abs,
    add,
    cosh,
    exp,
    expm1,
    mul,
    neg,
    pow,
    reciprocal,
    sigmoid,
    sinh,
    sqrt,
    square,
    sub,
    tanh,
    true_div,
)  # fmt: skip
from ....record import record
from ...contract import relaxes, stabilizes
from ...rule import Rule, node_rule
from ..facts import Node, Value, is_float, is_number, is_scalar_constant, made_by, number_of, producer
from .canonizer import terms_of
from .logarithms import has_tame_logarithm, is_positive
from .products import Product


@record
class Fraction:
    """A product of `rest` and powers of exponentials, hyperbolic functions and positive sums."""

    powers: dict[Variable, float]
    rest: Product
    cancelled: tuple[Variable, ...] = ()
    """Factors whose powers stand both above and below as the product is written."""

    @classmethod
    def of(cls, v: Variable) -> Fraction | None:
        """List the factors of `v`; None if it is complex, or all powers of one cancel: it may be NaN, or have axes."""
        if not is_float(v):
            return None
        product, powers = Product.of(v), dict[Variable, float]()
        rest: list[list[Variable]] = []
        cancelled: list[Variable] = []
        for factors, sign in ((product.above, 1), (product.below, -1)):
            others = set(powers)
            rest.append([])
            for factor in factors:
                base, exponent = _base_of(factor)
                if not _is_power(base, exponent):
                    rest[-1].append(factor)
                    continue
                powers[base] = powers.get(base, 0) + sign * exponent
                cancelled += [base] if base in others else []
        above, below = map(tuple, rest)
        if not all(powers.values()):
            return None
        return cls(powers, Product(above, below, product.negative, v.dtype), tuple(cancelled))

    def exchanged(self, above: Variable, below: Variable, share: Variable, sign: int = 1) -> tuple[Fraction, int]:
        """Return the product with share**sign in the place of above / below, and how often both are factors."""
        times = math.floor(min(self.powers[above], -self.powers[below]))
        return self.with_powers({above: -times, below: times, share: sign * times}), times

    def with_powers(self, changes: dict[Variable, int]) -> Fraction:
        powers = dict(self.powers)
        for factor, change in changes.items():
            powers[factor] = powers.get(factor, 0) + change
        return Fraction(powers, self.rest)

    def build(self, negative: bool = False) -> Value:
        """Return the graph of the product, of the other sign if `negative`."""
        above = (*self.rest.above, *(_power(base, e) for base, e in self.powers.items() if e > 0))
        below = (*self.rest.below, *(_power(base, -e) for base, e in self.powers.items() if e < 0))
        return Product(above, below, self.rest.negative ^ negative, self.rest.dtype).build()


def _base_of(factor: Variable) -> tuple[Variable, float]:
    """Return what a factor is a power of, and the exponent."""
    power = producer(factor, square, sqrt, pow)
    if power is None or power.inputs[0].dtype != factor.dtype:
        return factor, 1
    base = power.inputs[0]
    if power.op is not pow:
        return base, 2 if power.op is square else 0.5
    exponent = power.inputs[1]
    return (base, float(number_of(exponent))) if is_scalar_constant(exponent) else (factor, 1)


def _argument_of(v: Variable) -> Variable:
    """Return the first operand of the node that computes `v`."""
    assert v.owner is not None
    return v.owner.inputs[0]


def _is_power(base: Variable, exponent: float) -> bool:
    """Whether powers of `base` may be joined: it is positive, or its exponent is an integer."""
    if made_by(base, exp, cosh) or (made_by(base, add) and _level_and_exponential(base) is not None):
        return True
    return made_by(base, sinh, expm1) and exponent == math.floor(exponent)


def _power(base: Variable, exponent: float) -> Variable:
    """Return a power of a factor, as people write it."""
    if exponent == 1:
        return base
    return square(base) if exponent == 2 else sqrt(base) if exponent == 0.5 else pow(base, exponent)


# --- functions of one argument


@record
class Share:
    """above(x) / below(x) = factor(x)**sign, of the other sign if `negative`."""

    above: Elementwise
    below: Elementwise
    factor: Callable[[Variable], Variable]
    sign: int
    negative: bool = False

    def __call__(self, node: Node) -> Value | None:
        """Rewrite a product that has both as factors."""
        found = Fraction.of(node.out)
        if found is None:
            return None
        for above in [b for b, e in found.powers.items() if e >= 1 and made_by(b, self.above)]:
            x = _argument_of(above)
            for below in [b for b, e in found.powers.items() if e <= -1 and made_by(b, self.below)]:
                if _argument_of(below) is x and x.dtype == node.out.dtype:
                    result, times = found.exchanged(above, below, self.factor(x), self.sign)
                    return result.build(self.negative and times % 2 == 1)
        return None


def _expm1_of_negative(x: Variable) -> Variable:
    return expm1(neg(x))


def one_side(kind: Elementwise) -> Callable[[Node], Value | None]:
    """Return the rewrite that cancels powers of kind(x), which is never 0, but one: it is NaN where x is."""

    def rewrite(node: Node) -> Value | None:
        found = Fraction.of(node.out)
        return found.build() if found is not None and any(made_by(b, kind) for b in found.cancelled) else None

    return rewrite


# --- exponentials


def one_exponential(node: Node) -> Value | None:
    """Rewrite exp(x) / exp(y) and exp(x) * exp(-y) of a product for y >= 0, so that it overflows no sooner.

    x and y have one shape, so that exponentials are fewer.
    """
    found = Fraction.of(node.out)
    if found is None:
        return None
    factors = [b for b in found.powers if made_by(b, exp) and _argument_of(b).dtype == node.out.dtype]
    for first in [f for f in factors if found.powers[f] >= 1]:
        for other in [f for f in factors if f is not first and f.type.shape == first.type.shape]:
            x, y = _argument_of(first), _argument_of(other)
            if found.powers[other] <= -1 and _sign(y) > 0:
                return found.exchanged(first, other, exp(sub(x, y)))[0].build()
            if found.powers[other] >= 1 and _sign(y) < 0:
                both = exp(sub(x, _argument_of(y)) if made_by(y, neg) else add(x, y))
                return found.with_powers({first: -1, other: -1, both: 1}).build()
    return None


def _sign(v: Variable) -> int:
    """Return 1 where `v` is known to be 0 or more, -1 where it is 0 or less, else 0."""
    product = Product.of(v)
    sign = -1 if product.negative else 1
    for factor in (*product.above, *product.below):
        if is_scalar_constant(factor):
            sign *= 1 if number_of(factor) >= 0 else -1
        elif not has_tame_logarithm(factor) and not made_by(factor, square, abs):
            return 0
    return sign


def share_of_sum(node: Node) -> Value | None:
    """Rewrite exp(x) / (p + q * exp(x)) of a product."""
    found = Fraction.of(node.out)
    if found is None:
        return None
    for below in [b for b, e in found.powers.items() if e <= -1 and made_by(b, add)]:
        terms = _level_and_exponential(below)
        if terms is not None and found.powers.get(terms[2], 0) >= 1:
            level, scale, power = terms
            x = _argument_of(power)
            result, times = found.exchanged(power, below, sigmoid(x if is_number(level, 0) else add(x, level)))
            return (result if is_number(scale, 1) else result.with_powers({scale: -times})).build()
    return None


def _level_and_exponential(v: Variable) -> tuple[Variable, Variable, Variable] | None:
    """Return log(q / p), q and exp(x) of v = p + q * exp(x), for constants p and q of positive numbers."""
    terms, minus = terms_of(v)
    known = [t for t in terms if isinstance(t, Constant) and is_positive(t)]
    if minus or len(terms) != 2 or len(known) != 1:
        return None
    (other,) = (t for t in terms if t is not known[0])
    product = Product.of(other)
    powers = [f for f in product.above if made_by(f, exp)]
    sides = [[f.data for f in side if isinstance(f, Constant) and is_positive(f)]
             for side in (product.above, product.below)]  # fmt: skip
    others = len(product.above) - len(sides[0]), len(product.below) - len(sides[1])
    if len(powers) != 1 or product.negative or others != (1, 0):
        return None
    scale = math.prod(sides[0], start=np.ones((), v.dtype)) / math.prod(sides[1], start=np.ones((), v.dtype))
    return constant(np.log(scale / known[0].data).astype(v.dtype)), constant(scale.astype(v.dtype)), powers[0]


ROUNDING = stabilizes | relaxes("rounding")
WITHIN = (exp, add, mul, true_div, neg, reciprocal, square, pow)
"""Ops that compute an operand of a product with exponentials."""

SHARES: list[Rule] = [
    *(node_rule(name, (mul, true_div), share, needs=(share.above, share.below), contract=ROUNDING, formula=formula)
      for name, share, formula in (
          ("local_sinh_by_cosh", Share(sinh, cosh, tanh, 1), "y * sinh(x) / cosh(x) -> y * tanh(x)"),
          ("local_cosh_by_sinh", Share(cosh, sinh, tanh, -1), "y * cosh(x) / sinh(x) -> y / tanh(x)"),
          ("local_exp_by_expm1", Share(exp, expm1, _expm1_of_negative, -1, negative=True),
           "y * exp(x) / expm1(x) -> -(y / expm1(-x))"),
          ("local_expm1_by_exp", Share(expm1, exp, _expm1_of_negative, 1, negative=True),
           "y * expm1(x) / exp(x) -> -(y * expm1(-x))"),
      )),
    *(node_rule(f"local_{kind.name}_by_powers", (mul, true_div), one_side(kind), having=(kind, *WITHIN),
                needs=(kind,), contract=ROUNDING,
                formula=f"y * {kind.name}(x) / {kind.name}(x)**3 -> y / {kind.name}(x)**2") for kind in (exp, cosh)),
    node_rule("local_exp_by_sum", (mul, true_div), share_of_sum, having=WITHIN, needs=(exp, add), contract=ROUNDING,
              formula="y * exp(x) / (p + q * exp(x)) -> y * sigmoid(x + log(q / p)) / q"),
    node_rule("local_one_exp", (mul, true_div), one_exponential, having=WITHIN, needs=(exp,), contract=ROUNDING,
              formula="exp(x) / exp(y) -> exp(x - y)  for y >= 0"),
]  # fmt: skip
