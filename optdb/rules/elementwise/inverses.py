"""A function applied to the result of its inverse.

Where the inner function is not defined the result stays NaN; where the pair would overflow or lose digits the argument
itself is the true value.  Even functions give the absolute value: arccosh(cosh(x)) is |x|.
"""

from __future__ import annotations

from collections.abc import Callable

from ....graph import Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import (
    Elementwise,
    abs,
    add,
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    conj,
    cos,
    cosh,
    deg2rad,
    exp,
    exp2,
    expm1,
    ge,
    imag,
    le,
    log,
    log1mexp,
    log1p,
    log2,
    neg,
    rad2deg,
    real,
    reciprocal,
    sin,
    sinh,
    softplus,
    switch,
    tan,
    tanh,
)  # fmt: skip
from ...contract import relaxes, stabilizes
from ...patterns import Wild, wilds
from ...rule import Rule, rule
from ..facts import Value, is_constant, is_float, not_complex, same_dtype

x: Wild = Wild("x", is_float)
(any_x,) = wilds("x")
real_x: Wild = Wild("x", not_complex)
c: Wild = Wild("c")
end: Wild = Wild("end", is_constant)


def _nan_unless(holds: Callable[[Variable], Variable], x: Variable, result: Variable | None = None) -> Value:
    return switch(holds(x), x if result is None else result, constant(float("nan"), x.dtype))


def from_zero(x: Variable) -> Value:
    """x where x >= 0, else NaN."""
    return _nan_unless(lambda v: ge(v, 0), x)


def from_minus_one(x: Variable) -> Value:
    """x where x >= -1, else NaN."""
    return _nan_unless(lambda v: ge(v, -1), x)


def from_one(x: Variable) -> Value:
    """x where x >= 1, else NaN."""
    return _nan_unless(lambda v: ge(v, 1), x)


def up_to_zero(x: Variable) -> Value:
    """x where x <= 0, else NaN."""
    return _nan_unless(lambda v: le(v, 0), x)


def odds_up_to_zero(x: Variable) -> Value:
    """exp(x) / (1 - exp(x)) where x <= 0, else NaN: `expm1(-y)` of y = log(1 - exp(x))."""
    return _nan_unless(lambda v: le(v, 0), x, reciprocal(abs(expm1(neg(x)))))  # abs: of 0 of either sign it is inf


def within_one(x: Variable) -> Value:
    """x where |x| <= 1, else NaN."""
    return _nan_unless(lambda v: le(abs(v), 1), x)


def _everywhere(outer: Elementwise, inner: Elementwise) -> Rule:
    """outer(inner(x)) is x for all x."""
    return rule(f"local_{outer.name}_of_{inner.name}", outer(inner(x)), x, contract=stabilizes)


def _partly(outer: Elementwise, inner: Elementwise, domain: Callable[..., Variable]) -> Rule:
    """outer(inner(x)) is x where inner is defined, else NaN."""
    return rule(f"local_{outer.name}_of_{inner.name}", outer(inner(x)), domain,
                contract=stabilizes | relaxes("signed zero"),
                formula=f"{outer.name}({inner.name}(x)) -> x where {domain.__name__}, else nan")


def log1mexp_of_choice(c: Variable, x: Variable, end: Variable) -> Value | None:
    """Let the outer `log1mexp` meet the inner one, beyond a choice that has a constant where x is not valid."""
    return switch(c, log1mexp(log1mexp(x)), log1mexp(end)) if same_dtype(x, end) else None


def expm1_of_choice(c: Variable, x: Variable, end: Variable) -> Value | None:
    """Let `expm1` meet `log1mexp`, as `log1mexp_of_choice`."""
    return switch(c, expm1(neg(log1mexp(x))), expm1(neg(end))) if same_dtype(x, end) else None


INVERSES: list[Rule] = [
    _everywhere(log, exp), _everywhere(log2, exp2), _everywhere(log1p, expm1),
    _everywhere(sinh, arcsinh), _everywhere(arcsinh, sinh), _everywhere(arctanh, tanh), _everywhere(tan, arctan),
    _everywhere(deg2rad, rad2deg), _everywhere(rad2deg, deg2rad),
    _partly(exp, log, from_zero), _partly(exp2, log2, from_zero), _partly(expm1, log1p, from_minus_one),
    _partly(cosh, arccosh, from_one), _partly(tanh, arctanh, within_one),
    _partly(sin, arcsin, within_one), _partly(cos, arccos, within_one),
    _partly(log1mexp, log1mexp, up_to_zero),
    rule("local_expm1_of_log1mexp", expm1(neg(log1mexp(x))), odds_up_to_zero,
         contract=stabilizes | relaxes("underflow"),
         formula="expm1(-log1mexp(x)) -> 1 / expm1(-x) where up_to_zero, else nan"),
    rule("local_log1mexp_of_choice", log1mexp(switch(c, log1mexp(x), end)), log1mexp_of_choice,
         formula="log1mexp(switch(c, log1mexp(x), end)) -> switch(c, log1mexp(log1mexp(x)), log1mexp(end))"),
    rule("local_expm1_of_choice", expm1(neg(switch(c, log1mexp(x), end))), expm1_of_choice,
         formula="expm1(-switch(c, log1mexp(x), end)) -> switch(c, expm1(-log1mexp(x)), expm1(-end))"),
    rule("local_arccosh_of_cosh", arccosh(cosh(x)), abs(x), contract=stabilizes),
    rule("local_exp_of_softplus", exp(softplus(x)), add(1, exp(x)), contract=stabilizes),
    rule("local_expm1_of_softplus", expm1(softplus(x)), exp(x), contract=stabilizes),
]  # fmt: skip

COMPLEX_PARTS: list[Rule] = [
    rule("local_conj_of_conj", conj(conj(any_x)), any_x),
    rule("local_useless_conj", conj(real_x), real_x),
    rule("local_real_of_real", real(real_x), real_x),
    rule("local_imag_of_real", imag(real_x), 0),
    rule("local_real_of_conj", real(conj(any_x)), real(any_x)),
]
