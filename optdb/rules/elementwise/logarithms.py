"""Logarithms of products, powers and sums that underflow or overflow though the logarithm is tame.

    log(exp(-x * x / 2) / c)              -->   -x * x / 2 - log(c)
    log(p * exp(x) + q * exp(y))          -->   logaddexp(x + log(p), y + log(q))   for positive p and q
    log(sum(w * exp(x)))                  -->   log(sum(w * exp(x - m))) + m,       for other weights w,
                                                m = logsumexp(x + log(maximum(abs(w), 1)))

A density is a product of such factors, and people write its logarithm as they read it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import (
    Cast,
    abs,
    add,
    cast,
    clip,
    cosh,
    erfc,
    exp,
    expm1,
    isfinite,
    log,
    log1mexp,
    log1p,
    log2,
    log10,
    logaddexp,
    lt,
    maximum,
    minimum,
    mul,
    neg,
    pow,
    sigmoid,
    sinh,
    softplus,
    sqrt,
    square,
    stop_gradient,
    sub,
    switch,
    tanh,
    true_div,
)  # fmt: skip
from ....ops.networks.functions import Softmax
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.shape import DimShuffle
from ...contract import relaxes, stabilizes, ulp
from ...patterns import wilds
from ...rule import Rule, node_rule, rule
from ..facts import (
    Node,
    Value,
    is_float,
    is_number,
    is_scalar_constant,
    made_by,
    number_of,
    producer,
    uniform_x,
    uniform_xy,
)
from ..networks.softmax import logsumexp_along, sum_below
from .canonizer import terms_of
from .products import Product

x, y = wilds("x y", is_float)

POSITIVE = (exp, sigmoid, cosh, erfc, Softmax)
"""Functions whose true values are positive, of which some are too small or too large for a number."""


# --- factors


def has_tame_logarithm(v: Variable) -> bool:
    """Whether `v` is positive and its logarithm has a form that neither underflows nor overflows."""
    if not is_float(v):
        return False
    while (power := producer(v, sqrt, square, pow)) is not None:
        if power.op is pow and not is_scalar_constant(power.inputs[1]):
            return False
        v = power.inputs[0]
    if producer(v, *POSITIVE) is not None:
        return True
    found = sum_below(v)
    terms, minus = terms_of(v) if found is None else ([found[0].inputs[0]], [])
    if minus or (found is None and len(terms) < 2):
        return False
    return any(map(_has_exponential, terms)) and all(is_positive(t) or _has_exponential(t) for t in terms)


def is_positive(v: Variable) -> bool:
    """Whether `v` is a constant of finite positive numbers."""
    return isinstance(v, Constant) and v.data.size > 0 and bool(np.all(np.isfinite(v.data) & (v.data > 0)))


def _has_exponential(v: Variable) -> bool:
    """Whether an exponential is a factor of `v`."""
    return any(producer(f, exp) is not None for f in Product.of(v).above)


def _logarithm(factor: Variable) -> Value:
    """Return the logarithm of a positive factor."""
    power = producer(factor, exp)
    if power is not None and power.inputs[0].dtype == factor.dtype:
        return power.inputs[0]
    if isinstance(factor, Constant):
        return constant(np.log(factor.data).astype(factor.dtype))
    return log(factor)


def exponent_of(v: Variable) -> Value | None:
    """Return a of v = exp(a), if all factors of `v` are known to be positive, and one is an exponential."""
    product = Product.of(v)
    factors = (*product.above, *product.below)
    if product.negative or not all(is_positive(f) or has_tame_logarithm(f) for f in factors):
        return None
    if not any(producer(f, exp) is not None for f in product.above):
        return None
    return _summed(map(_logarithm, product.above), map(_logarithm, product.below))


def _summed(added: Iterable[Value], subtracted: Iterable[Value] = ()) -> Value:
    result = None
    for term in added:
        result = term if result is None else add(result, term)
    for term in subtracted:
        result = neg(term) if result is None else sub(result, term)
    return result


# --- logarithms of products and powers


def log_of_product(node: Node) -> Value | None:
    """Rewrite the logarithm of a product that has factors whose logarithms are tame."""
    product = Product.of(node.inputs[0])
    factors = (*product.above, *product.below)
    if product.negative or len(factors) < 2 or product.dtype != node.out.dtype:
        return None
    tame = set(filter(has_tame_logarithm, factors))
    if not tame:
        return None
    known = tame.union(filter(is_positive, factors))
    sides: list[list[Value]] = []
    for side in (product.above, product.below):
        terms = [_logarithm(f) for f in side if f in known and not _is_one(f)]
        rest = tuple(f for f in side if f not in known)
        sides.append([*terms, *([log(Product(rest, (), False, product.dtype).build())] if rest else [])])
    return _summed(*sides)


def _is_one(factor: Variable) -> bool:
    return is_scalar_constant(factor) and is_number(factor, 1)


def log_of_power(node: Node) -> Value | None:
    """Rewrite the logarithm of a constant power of a factor whose logarithm is tame."""
    power = producer(node.inputs[0], square, pow)
    if power is None or not has_tame_logarithm(power.out) or power.inputs[0].dtype != node.out.dtype:
        return None
    base = power.inputs[0]
    return mul(number_of(power.inputs[1]).astype(node.out.dtype) if power.op is pow else 2, _logarithm(base))


def by_natural_logarithm(node: Node) -> Value | None:
    """Rewrite log2 or log10 of a product that has factors whose logarithms are tame."""
    v = node.inputs[0]
    product = Product.of(v)
    tame = any(map(has_tame_logarithm, (*product.above, *product.below)))
    if product.negative or not tame or v.dtype != node.out.dtype:
        return None
    return mul(_logarithm(v), 1 / math.log(2 if node.op is log2 else 10))


# --- logarithms of sums of exponentials


def log_of_sum_of_terms(node: Node) -> Value | None:
    """Rewrite the logarithm of a sum of exponentials with factors, and of positive constants."""
    plus, minus = terms_of(node.inputs[0])
    if minus or len(plus) < 2 or not is_float(node.out) or any(t.dtype != node.out.dtype for t in plus):
        return None
    constants = [t for t in plus if is_positive(t)]
    powers = [t for t in plus if not is_positive(t)]
    if len(constants) > 1 or not powers or not all(map(_has_exponential, powers)):
        return None
    exponents: list[Value] = [exponent_of(t) for t in powers]
    if None in exponents:
        return None
    result = exponents[0]
    for e in exponents[1:]:
        result = logaddexp(result, e)
    if not constants:
        return result
    level = _logarithm(constants[0])
    return softplus(result) if is_number(constants[0], 1) else add(softplus(sub(result, level)), level)


def log_of_weighted_sum(node: Node) -> Value | None:
    """Rewrite the logarithm of a sum along axes of exponentials with positive factors."""
    total, keep = _weighted_sum_below(node)
    exponent = None if total is None else exponent_of(total.inputs[0])
    if total is None or exponent is None:
        return None
    result = logsumexp_along(exponent, total.op.axis)
    return result if keep is None else keep.op(result)


def _weighted_sum_below(node: Node) -> tuple[Node | None, Node | None]:
    """Return the sum along axes, of exponentials with other factors, whose logarithm a node is, as `sum_below`."""
    found = sum_below(node.inputs[0])
    if found is None:
        return None, None
    (terms,) = found[0].inputs
    fits = terms.dtype == node.out.dtype and not made_by(terms, exp) and _has_exponential(terms)
    return found if fits else (None, None)


# --- weights of unknown sign


def log_of_shifted_sum(node: Node) -> Value | None:
    """Rewrite the logarithm of a sum of exponentials with factors of unknown sign: exponents shifted by their top."""
    if producer(node.inputs[0], add) is not None:
        return _of_shifted_terms(node)
    total, keep = _weighted_sum_below(node)
    if total is None or exponent_of(total.inputs[0]) is not None:
        return None
    e, rest = _exponential_and_rest(total.inputs[0])
    if is_shifted(e):
        return None
    level = _finite(logsumexp_along(_size(e, rest), total.op.axis))
    kept = iter(range(level.ndim))
    along = DimShuffle(tuple("x" if k in total.op.axis else next(kept) for k in range(e.ndim)))
    result = add(log(total.op(_scaled(rest, sub(e, along(level))))), level)
    return result if keep is None else keep.op(result)


def _of_shifted_terms(node: Node) -> Value | None:
    terms, minus = terms_of(node.inputs[0])
    if minus or not is_float(node.out) or any(t.dtype != node.out.dtype for t in terms):
        return None
    if not all(map(_has_exponential, terms)):
        return None
    divided = [_exponential_and_rest(t) for t in terms]
    if any(is_shifted(e) for e, _ in divided) or all(exponent_of(t) is not None for t in terms):
        return None
    largest = _size(*divided[0])
    for e, rest in divided[1:]:
        largest = maximum(largest, _size(e, rest))
    top = _finite(largest)
    return add(log(_summed([_scaled(rest, sub(e, top)) for e, rest in divided])), top)


def _exponential_and_rest(term: Variable) -> tuple[Value, Value | None]:
    """Return (a, r) of a term exp(a) * r; r is None if there is no other factor."""
    product = Product.of(term)
    powers = [f for f in product.above if producer(f, exp) is not None]
    others = tuple(f for f in product.above if producer(f, exp) is None)
    has_rest = others or product.below or product.negative
    rest = Product(others, product.below, product.negative, product.dtype).build() if has_rest else None
    return _summed([_logarithm(f) for f in powers]), rest


def _size(e: Value, rest: Value | None) -> Value:
    """Return a bound of the logarithm of the absolute value of a term, and of its exponential alone."""
    return e if rest is None else add(e, log(maximum(abs(rest), 1)))


def _scaled(rest: Value | None, e: Value) -> Value:
    return exp(e) if rest is None else mul(rest, exp(e))


def _finite(v: Value) -> Value:
    """Return `v`, 0 where it is infinite; the result does not depend on it, so it is a constant to derivatives."""
    ends = np.finfo(v.dtype)
    cut = clip(v, constant(ends.min, v.dtype), constant(ends.max, v.dtype))
    return stop_gradient(mul(cut, cast(isfinite(v), v.dtype)))


def is_shifted(e: Variable) -> bool:
    """Whether the exponent is one that these rules made."""
    difference = producer(e, sub)
    level = None if difference is None else difference.inputs[1]
    while level is not None and (outer := producer(level, DimShuffle, stop_gradient)) is not None:
        level = outer.inputs[0]
    cut = None if level is None else producer(level, mul)
    return cut is not None and made_by(cut.inputs[0], clip) and made_by(cut.inputs[1], Cast)


def softplus_of_product(node: Node) -> Value | None:
    """Rewrite log1p of an exponential with positive factors."""
    product = Product.of(node.inputs[0])
    if len(product.above) + len(product.below) < 2 or node.inputs[0].dtype != node.out.dtype:
        return None
    found = exponent_of(node.inputs[0])
    return None if found is None else softplus(found)


# --- hyperbolic functions


def log_cosh(x: Variable) -> Value:
    """Return log(cosh(x)), exact to rounding near 0 as well; so is its derivative, tanh(x)."""
    size = abs(x)
    near = log1p(mul(2, square(sinh(mul(0.5, minimum(size, 1))))))
    far = add(sub(size, math.log(2)), softplus(mul(-2, size)))
    return switch(lt(size, 1), near, far)


def log_of_sech_squared(node: Node) -> Value | None:
    """Rewrite log(1 - tanh(x)**2)."""
    negative = producer(node.inputs[0], neg)
    squared = None if negative is None else producer(negative.inputs[0], square, pow, mul)
    if squared is None or node.inputs[0].dtype != node.out.dtype:
        return None
    first, *others = squared.inputs
    twice = squared.op is square or (others == [first] if squared.op is mul else is_number(others[0], 2))
    inside = producer(first, tanh) if twice and is_float(node.out) else None
    if inside is None or inside.inputs[0].dtype != node.out.dtype:
        return None
    return mul(-2, log_cosh(inside.inputs[0]))


ROUNDING = stabilizes | relaxes("rounding")

LOGARITHMS: list[Rule] = [
    node_rule("local_log_of_product", log, log_of_product, having=(mul, true_div),
              contract=ROUNDING | relaxes("signed zero"),
              formula="log(y * exp(x)) -> x + log(y)"),
    node_rule("local_log_of_power", log, log_of_power, having=(square, pow), contract=ROUNDING,
              formula="log(sigmoid(x)**2) -> 2 * log(sigmoid(x))"),
    *(node_rule(f"local_{op.name}_of_tame", op, by_natural_logarithm, having=(*POSITIVE, mul, true_div, pow, add),
                contract=ulp(3), formula=f"{op.name}(sigmoid(x)) -> log(sigmoid(x)) / log({base})")
      for op, base in ((log2, 2), (log10, 10))),
    node_rule("local_log_add_exp", log, log_of_sum_of_terms, having=add, contract=ROUNDING,
              formula="log(p * exp(x) + q * exp(y)) -> logaddexp(x + log(p), y + log(q))"),
    node_rule("local_log_of_weighted_sum", log, log_of_weighted_sum, having=(Reduce, DimShuffle), contract=ROUNDING,
              formula="log(sum(p * exp(x))) -> logsumexp(x + log(p))"),
    node_rule("local_log_of_shifted_sum", log, log_of_shifted_sum, having=(add, Reduce, DimShuffle), contract=ROUNDING,
              formula="log(sum(w * exp(x))) -> log(sum(w * exp(x - m))) + m"),
    node_rule("local_log1p_of_scaled_exp", log1p, softplus_of_product, having=(mul, true_div), contract=ROUNDING,
              formula="log1p(2 * exp(x)) -> softplus(x + log(2))"),
    rule("local_log_of_expm1", log(expm1(x)), add(x, log1mexp(neg(x))), contract=ROUNDING),
    rule("local_log_of_cosh", log(cosh(x)), log_cosh, contract=stabilizes),
    node_rule("local_log_of_sech_squared", log1p, log_of_sech_squared, having=neg, contract=stabilizes,
              formula="log1p(-(tanh(x)**2)) -> -2 * log(cosh(x))"),
]  # fmt: skip

RATIOS: list[Rule] = [
    rule("local_exp_over_two_exp", true_div(exp(x), add(exp(x), exp(y))), sigmoid(sub(x, y)), contract=ROUNDING,
         when=uniform_xy),
    rule("local_sinh_over_cosh", true_div(sub(exp(x), exp(neg(x))), add(exp(x), exp(neg(x)))), tanh(x),
         contract=stabilizes, when=uniform_x),
    rule("local_expm1_times_sigmoid", mul(expm1(x), sigmoid(neg(x))), tanh(mul(0.5, x)), contract=stabilizes),
    rule("local_neg_expm1_times_sigmoid", mul(neg(expm1(x)), sigmoid(neg(x))), tanh(mul(-0.5, x)), contract=stabilizes),
]  # fmt: skip
