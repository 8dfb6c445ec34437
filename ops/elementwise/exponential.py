"""Exponentials, logarithms, the error and gamma functions: elementwise ops, one record each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core import promotion
from ..core.derivatives import LN2, LN10, TWO_OVER_ROOT_PI, finite, one_more, refuse_order, share, slope_of_log1mexp
from ..core.namespace import T
from ..writing import latex
from . import special
from .c_forms import Binding, Form, call, helper, library, template
from .pointwise import float_op, plain_op, scipys_op, symmetric_op, ufunc_op

if TYPE_CHECKING:
    from ..core.signatures import Binary, Unary

__all__ = [
    "coarse_erfc",
    "digamma",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "gamma",
    "gammaln",
    "log",
    "log1mexp",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "normal_tails",
    "polygamma",
    "sigmoid",
    "softplus", "xlogy",
]  # fmt: skip

exp: Unary = ufunc_op(
    "exp", np.exp, meaning="e ** x.",
    cost=12,
    increasing=True,
    latex=latex.exponential,
    derivative=(lambda g, y, x: g * y,),
    c={"fc": helper("exp")},
)
exp2: Unary = ufunc_op(
    "exp2", np.exp2, meaning="2 ** x.",
    cost=12,
    derivative=(lambda g, y, x: g * y * LN2,),
    c={"f": helper("exp2"), "c": Form("ag_exp_{T}(ag_scale_{T}({0}, 0x1.62e42fefa39efp-1{f}))")},
)
expm1: Unary = plain_op(
    "expm1", special.expm1, promotion.by_ufunc(np.expm1), meaning="exp(x) - 1, accurate near 0.",
    cost=20,
    derivative=(lambda g, y, x: g * T.exp(x),),  # y + 1 would cancel for large negative x
    c={"fc": helper("expm1")},
)
log: Unary = ufunc_op(
    "log", np.log, meaning="The natural logarithm; NaN for negative real numbers, -inf for 0.",
    cost=14,
    latex=r"\log",
    derivative=(lambda g, y, x: g / x,),
    c={"f": helper("log"), "c": library("clog")},
)
log2: Unary = ufunc_op(
    "log2", np.log2, meaning="The logarithm to base 2.",
    cost=14,
    derivative=(lambda g, y, x: g / (x * LN2),),
    c={"f": helper("log2"), "c": Form("ag_scale_{T}(clog{f}({0}), 0x1.71547652b82fep+0{f})")},
)
log10: Unary = ufunc_op(
    "log10", np.log10, meaning="The logarithm to base 10.",
    cost=14,
    derivative=(lambda g, y, x: g / (x * LN10),),
    c={"f": helper("log10"), "c": Form("ag_scale_{T}(clog{f}({0}), 0x1.bcb7b1526e50ep-2{f})")},
)
log1p: Unary = ufunc_op(
    "log1p", np.log1p, meaning="log(1 + x), accurate near 0.",
    cost=20,
    derivative=(lambda g, y, x: g / (1 + x),),
    c={"fc": helper("log1p")},
)
logaddexp: Binary = symmetric_op(
    "logaddexp", np.logaddexp, meaning="log(exp(x) + exp(y)) without overflow.",
    cost=34,
    derivative=(lambda g, y, a, b: g * share(a, b), lambda g, y, a, b: g * share(b, a)),
    c={"f": helper("logaddexp", 2)},
)
erf: Unary = scipys_op(
    "erf", special.erf, meaning="The error function: 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x.",
    cost=25,
    derivative=(lambda g, y, x: g * TWO_OVER_ROOT_PI * T.exp(-T.square(finite(x))),),
    c={"f": helper("erf")},
)
erfc: Unary = scipys_op(
    "erfc", special.erfc, meaning="1 - erf(x), without cancellation.",
    cost=30,
    derivative=(lambda g, y, x: -g * TWO_OVER_ROOT_PI * T.exp(-T.square(finite(x))),),
    c={"f": helper("erfc")},
)
coarse_erfc: Unary = float_op(
    "coarse_erfc", special.erfc, meaning="erfc, of float32 within 2^-15 of it, for results rounded to bfloat16.",
    cost=20,
    derivative=(lambda g, y, x: -g * TWO_OVER_ROOT_PI * T.exp(-T.square(finite(x))),),
    c={"f": helper("coarse_erfc")},
)
normal_tails: Unary = float_op(
    "normal_tails", special.normal_tails,
    meaning="erfc(x / sqrt(2)): for x >= 0 the chance that a standard normal number is farther from 0 than x.",
    cost=22,
    derivative=(lambda g, y, x: -g * TWO_OVER_ROOT_PI * np.sqrt(0.5) * T.exp(-0.5 * T.square(finite(x))),),
    c={"f": helper("normal_tails")},
)
gamma: Unary = scipys_op(
    "gamma", special.gamma, meaning="The gamma function; inf with the sign of x at 0, NaN at the negative integers.",
    cost=60,
    latex=r"\Gamma",
    derivative=(lambda g, y, x: g * y * T.digamma(finite(x)),),
    c={"f": call("ag_gamma_f64")},  # in float64 for float32 too: a rare function, as the next three
)
gammaln: Unary = scipys_op(
    "gammaln", special.gammaln, meaning="log(|gamma(x)|); inf at the poles, -inf at -inf.",
    cost=60,
    derivative=(lambda g, y, x: g * T.digamma(x),),
    c={"f": call("ag_gammaln_f64")},
)
digamma: Unary = scipys_op(
    "digamma", special.digamma, meaning="The derivative of log(gamma(x)); NaN at the negative integers.",
    cost=60,
    derivative=(lambda g, y, x: g * T.polygamma(1, x),),
    c={"f": call("ag_digamma_f64")},
)
polygamma: Binary = plain_op(
    "polygamma", special.polygamma, promotion.by_scipy(np.arctan2),
    meaning="polygamma(n, x): the n-th derivative of digamma, n = 0, 1, ..., else NaN; infinite at 0, -1, ...",
    arity=2, cost=600,
    derivative=(lambda g, y, n, x: refuse_order(n), lambda g, y, n, x: g * T.polygamma(one_more(n), x)),
    c={"f": call("ag_polygamma_f64", 2)},
)
sigmoid: Unary = scipys_op(
    "sigmoid", special.sigmoid, meaning="1 / (1 + exp(-x)), without overflow.",
    cost=18,
    increasing=True,
    latex=r"\sigma",
    derivative=(lambda g, y, x: g * y * T.sigmoid(-x),),  # 1 - y would cancel for large x
    c={"f": helper("sigmoid")},
)
softplus: Unary = float_op(
    "softplus", special.softplus, meaning="log(1 + exp(x)), without overflow.",
    cost=34,
    increasing=True,
    derivative=(lambda g, y, x: g * T.sigmoid(x),),
    c={"f": helper("softplus")},
)
log1mexp: Unary = float_op(
    "log1mexp", special.log1mexp, meaning="log(1 - exp(x)) for x < 0, with full relative accuracy; NaN for x > 0.",
    cost=40,
    derivative=(lambda g, y, x: g * slope_of_log1mexp(x),),
    c={"f": helper("log1mexp")},
)
xlogy: Binary = plain_op(
    "xlogy", special.xlogy, promotion.by_scipy(np.arctan2),
    meaning="x * log(y), and 0 where x is 0: the terms of entropies and log-likelihoods; NaN where y is.",
    arity=2, cost=15,
    derivative=(
        lambda g, y, a, b: g * T.log(b),
        lambda g, y, a, b: g * (a / T.switch(T.logical_and(T.eq(a, 0), T.eq(b, 0)), 1, b)),
    ),
    c={"f": template("{0} * ag_log_{T}({0} == 0 && {1} == {1} ? 1 : {1})", Binding.PRODUCT)},
)
