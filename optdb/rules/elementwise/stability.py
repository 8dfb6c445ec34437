"""Expressions that overflow or cancel, rewritten to stable ones: logarithms, logistic and error functions.

Each result is the nearer one to the true value; where the original is finite and accurate the two agree to rounding.
"""

from __future__ import annotations

import math

import numpy as np

from ....graph import Apply, Variable, same_shape
from ....ops.core.namespace import T
from ....ops.core.tensor import constant
from ....ops.elementwise.records import (
    add,
    eq,
    erf,
    erfc,
    exp,
    expm1,
    log,
    log1mexp,
    log1p,
    logaddexp,
    lt,
    minimum,
    mul,
    neg,
    normal_tails,
    reciprocal,
    sigmoid,
    softplus,
    sqrt,
    square,
    sub,
    switch,
    true_div,
)  # fmt: skip
from ....ops.special.function import SpecialFunction
from ...contract import relaxes, stabilizes
from ...patterns import Wild, wilds
from ...rule import Rule, node_rule, rule
from ..facts import Value, is_float, is_number, is_scalar_constant, producer, uniform_x, uniform_xy
from .products import Product

x, y = wilds("x y", is_float)


def share_by_sigmoid(x: Variable, y: Variable) -> Value:
    """Rewrite y / (1 + exp(x))."""
    return sigmoid(neg(x)) if is_number(y, 1) and not y.ndim else mul(y, sigmoid(neg(x)))


def log_of_difference(x: Variable, y: Variable) -> Value:
    """Rewrite log(exp(x) - exp(y)); x itself where exp(y) is 0, so that it is -inf where both are."""
    return switch(eq(y, constant(-math.inf, y.dtype)), x, add(x, log1mexp(sub(y, x))))


LOG: list[Rule] = [
    rule("local_log1p", log(add(1, x)), log1p(x), contract=stabilizes, when=uniform_x),
    rule("local_log1p_of_minus", log(sub(1, x)), log1p(neg(x)), contract=stabilizes, when=uniform_x),
    rule("local_expm1", sub(exp(x), 1), expm1(x), contract=stabilizes, when=uniform_x),
    rule("local_expm1_of_sum", add(exp(x), -1), expm1(x), contract=stabilizes, when=uniform_x),
    rule("local_one_minus_exp", sub(1, exp(x)), neg(expm1(x)), contract=stabilizes, when=uniform_x),
    rule("local_log_add", log(add(exp(x), exp(y))), logaddexp(x, y), when=uniform_xy,
         contract=stabilizes | relaxes("rounding")),
    rule("logdiffexp_to_log1mexpdiff", log(sub(exp(x), exp(y))), log_of_difference, when=uniform_xy,
         contract=stabilizes | relaxes("rounding"),
         formula="log(exp(x) - exp(y)) -> x + log1mexp(y - x)"),
    rule("local_log_sqrt", log(sqrt(x)), mul(0.5, log(x)), contract=stabilizes),
    rule("local_log1p_minus_exp", log1p(neg(exp(x))), log1mexp(x), contract=stabilizes),
    rule("logmexpm1_to_log1mexp", log(neg(expm1(x))), log1mexp(x), contract=stabilizes),
]

LOGISTIC: list[Rule] = [
    rule("logsigm_to_softplus", log(sigmoid(x)), neg(softplus(neg(x))), contract=stabilizes),
    rule("log1msigm_to_softplus", log(sub(1, sigmoid(x))), neg(softplus(x)), contract=stabilizes, when=uniform_x),
    rule("log1p_neg_sigmoid", log1p(neg(sigmoid(x))), neg(softplus(x)), contract=stabilizes),
    rule("log1pexp_to_softplus", log1p(exp(x)), softplus(x), contract=stabilizes),
    rule("local_exp_over_1_plus_exp", true_div(exp(x), add(1, exp(x))), sigmoid(x), contract=stabilizes,
         when=uniform_x),
    rule("local_inv_1_plus_exp", reciprocal(add(1, exp(x))), sigmoid(neg(x)), contract=stabilizes, when=uniform_x),
    rule("local_one_over_1_plus_exp", true_div(y, add(1, exp(x))), share_by_sigmoid, contract=stabilizes,
         when=uniform_xy, formula="y / (1 + exp(x)) -> y * sigmoid(-x)"),
    rule("local_sigm_times_exp", mul(exp(x), sigmoid(neg(x))), sigmoid(x), contract=stabilizes),
    rule("local_sigm_times_exp_neg", mul(exp(neg(x)), sigmoid(x)), sigmoid(neg(x)), contract=stabilizes),
    rule("local_1msigmoid", sub(1, sigmoid(x)), sigmoid(neg(x)), contract=stabilizes, when=uniform_x),
    rule("local_odds_sigmoid", true_div(sigmoid(x), sigmoid(neg(x))), exp(x), contract=stabilizes),
    rule("local_inv_odds_sigmoid", true_div(sigmoid(neg(x)), sigmoid(x)), exp(neg(x)), contract=stabilizes),
]  # fmt: skip

ERROR_FUNCTION: list[Rule] = [
    rule("local_one_minus_erf", sub(1, erf(x)), erfc(x), contract=stabilizes, when=uniform_x),
    rule("local_one_plus_erf", add(1, erf(x)), erfc(neg(x)), contract=stabilizes, when=uniform_x),
    rule("local_erf_minus_one", sub(erf(x), 1), neg(erfc(x)), contract=stabilizes, when=uniform_x),
    rule("local_minus_one_plus_erf", add(-1, erf(x)), neg(erfc(x)), contract=stabilizes, when=uniform_x),
    rule("local_one_minus_erfc", sub(1, erfc(x)), erf(x), contract=stabilizes, when=uniform_x),
    rule("local_erfc_minus_one", sub(erfc(x), 1), neg(erf(x)), contract=stabilizes, when=uniform_x),
    rule("local_minus_one_plus_erfc", add(-1, erfc(x)), neg(erf(x)), contract=stabilizes, when=uniform_x),
]


def dividend_by_root(node: Apply) -> Value | None:
    """Return x of erfc(x / sqrt(2)), as in GELU, of float32; None of another one."""
    inside, sign = node.inputs[0], 1.0
    if (negative := producer(inside, neg)) is not None:
        inside, sign = negative.inputs[0], -1.0
    made = producer(inside, true_div, mul)
    if made is None or len(made.inputs) != 2 or node.out.dtype != "float32":
        return None
    by_root = made.op is true_div
    number, other = made.inputs[::-1] if by_root or is_scalar_constant(made.inputs[1]) else made.inputs
    if not is_scalar_constant(number) or other.dtype != "float32" or not same_shape(other, node.out):
        return None
    factor = sign * float(number.data.item())  # type: ignore[attr-defined]
    root = np.float32(math.sqrt(2 if by_root else 0.5))
    if abs(abs(factor) - root) > np.spacing(root):
        return None
    return other if factor > 0 else neg(other)


def tails_of_quotient(node: Apply) -> Value | None:
    """Rewrite erfc of a number that is divided by the root of 2."""
    x = dividend_by_root(node)
    return None if x is None else normal_tails(x)


QUOTIENTS: list[Rule] = [
    node_rule("local_erfc_of_quotient", erfc, tails_of_quotient, having=(true_div, mul, neg),
              contract=stabilizes | relaxes("rounding"),
              formula="erfc(x / sqrt(2)) -> normal_tails(x)  for float32"),
]  # fmt: skip
"""GELU without a division, at the end: other rules know erfc."""

# --- the tail of erfc, which underflows though its logarithm is tame

_SERIES_FROM = {"float16": 2.75, "float32": 9.0, "float64": 26.0}
"""Least argument of the asymptotic series: erfc is still normal, the next term is below the precision."""


_COEFFICIENTS = (-1 / 2, 3 / 4, -15 / 8, 105 / 16, -945 / 32, 10395 / 64, -135135 / 128)
"""(-1)**k (2k - 1)!! / 2**k.  At 26 the next term is 1e-19."""


def _series(x: Variable) -> Value:
    """Return erfc(x) * sqrt(pi) * x * exp(x**2) for large x: 1 - 1/(2x**2) + 3/(4x**4) - ... (DLMF 7.12.1)."""
    t = reciprocal(square(x))
    *rest, last = _COEFFICIENTS
    result = mul(t, last)
    for coefficient in reversed(rest):
        result = mul(t, add(coefficient, result))
    return add(1, result)


def is_unbounded(x: Variable) -> bool:
    """Whether erfc(x) may underflow: x is a float, and not clipped to where the series begins."""
    if not is_float(x):
        return False
    cut = producer(x, minimum)
    bounds = () if cut is None else cut.inputs
    return not any(is_number(b, _SERIES_FROM[x.dtype]) for b in bounds)


def log_erfc(x: Variable) -> Value:
    """Rewrite log(erfc(x)), by the series where erfc(x) is about to underflow."""
    start = _SERIES_FROM[x.dtype]
    tail = add(sub(neg(square(x)), add(log(x), 0.5 * math.log(math.pi))), log(_series(x)))
    return switch(lt(x, start), log(erfc(minimum(x, start))), tail)


def gauss_over_erfc(x: Variable) -> Value:
    """Rewrite exp(-x**2) / erfc(x), which grows like sqrt(pi) x."""
    start = _SERIES_FROM[x.dtype]
    near = true_div(exp(neg(square(minimum(x, start)))), erfc(minimum(x, start)))
    return switch(lt(x, start), near, true_div(mul(math.sqrt(math.pi), x), _series(x)))


def grad_log_erfc(node: Apply) -> Value | None:
    """Combine the factors exp(-x**2) and 1/erfc(x) of a product."""
    product = Product.of(node.out)
    for tail in [t for t in (producer(f, erfc) for f in product.below) if t is not None]:
        (x,) = tail.inputs
        bells = [f for f in product.above if _is_gauss_of(f, x)]
        if bells and is_unbounded(x) and x.dtype == node.out.dtype:
            return product.without(bells[0], tail.out).times(gauss_over_erfc(x)).build()
    return None


def _is_gauss_of(factor: Variable, x: Variable) -> bool:
    """Whether the factor is exp(-(x**2))."""
    for op in (exp, neg, square):
        made = producer(factor, op)
        if made is None:
            return False
        factor = made.inputs[0]
    return factor is x


unbounded_x: Wild = Wild("x", is_unbounded)
TAILS: list[Rule] = [
    rule("local_log_erfc", log(erfc(unbounded_x)), log_erfc, contract=stabilizes),
    # exp(-x**2) may be subnormal for x < 0; which of y and erfc(x) it meets first then decides its last digits.
    node_rule("local_grad_log_erfc_neg", (mul, true_div), grad_log_erfc,
              needs=(erfc, exp), contract=stabilizes | relaxes("rounding"),
              formula="y * exp(-x**2) / erfc(x) -> y * (sqrt(pi) x / series where x is large)"),
]  # fmt: skip

UNSAFE: list[Rule] = [
    rule("local_div_exp_to_mul_exp", true_div(y, exp(x)), mul(y, exp(neg(x))), when=uniform_xy,
         contract=relaxes("nan", "overflow", "underflow", "rounding")),
    rule("local_log_of_inverse", log(true_div(1, x)), neg(log(x)), when=uniform_x,
         contract=relaxes("nan", "inf", "overflow", "rounding")),
    rule("local_log_of_reciprocal", log(reciprocal(x)), neg(log(x)),
         contract=relaxes("nan", "inf", "overflow", "rounding")),
]  # fmt: skip
"""1/x and exp(-x) overflow on one side, x and exp(x) on the other."""


# --- the normal distribution function


def log_of_ndtr(node: Apply) -> Value | None:
    """Rewrite the logarithm of the normal distribution function."""
    inner = node.inputs[0].owner
    return T.special.log_ndtr(inner.inputs[0]) if inner is not None and inner.op.name == "ndtr" else None


def one_minus_ndtr(node: Apply) -> Value | None:
    """Rewrite 1 less the normal distribution function."""
    one, y = node.inputs
    inner = y.owner
    if inner is None or inner.op.name != "ndtr" or not is_number(one, 1):
        return None
    if not is_float(inner.inputs[0]) or not same_shape(y, node.out):
        return None
    return T.special.ndtr(neg(inner.inputs[0])) if y.dtype == node.out.dtype else None


NORMAL: list[Rule] = [
    node_rule("local_log_ndtr", log, log_of_ndtr, having=SpecialFunction, contract=stabilizes,
              formula="log(ndtr(x)) -> log_ndtr(x)"),
    node_rule("local_one_minus_ndtr", sub, one_minus_ndtr, having=SpecialFunction, contract=stabilizes,
              formula="1 - ndtr(x) -> ndtr(-x)"),
]  # fmt: skip
