"""The functions of `T.special`, under SciPy's names: a table of ops, and what is composed of elementwise ops.

Each op says in its docstring how exact it is: within so many units in the last place (ulp) of the true value.  Integers
promote as SciPy's do: to float64, those of up to 16 bits in some functions to float32.  float16 stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph import NoGradient
from ..core.checks import describe, shown
from ..core.derivatives import _counts, finite
from ..core.namespace import T, missing
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..elementwise.exponential import digamma as digamma
from ..elementwise.exponential import erf as erf
from ..elementwise.exponential import erfc as erfc
from ..elementwise.exponential import expm1 as expm1
from ..elementwise.exponential import gamma as gamma
from ..elementwise.exponential import gammaln as gammaln
from ..elementwise.exponential import log1p as log1p
from ..elementwise.exponential import polygamma as polygamma
from ..elementwise.exponential import sigmoid as expit
from ..elementwise.exponential import xlogy as xlogy
from . import (
    airys,
    bessel,
    beta_quantiles,
    betas,
    by_order,
    complete_betas,
    entropies,
    errors,
    gammas,
    hypergeometric,
    integrals,
    lambert,
    orders01,
    oscillating,
    quantiles,
    waves01,
)
from .function import SPECIAL, SpecialFunction
from .table import special_op

if TYPE_CHECKING:
    from ..core.signatures import Binary, Unary

psi = digamma
TWO_OVER_ROOT_PI, ROOT_2PI = 2 / math.sqrt(math.pi), math.sqrt(2 * math.pi)


def function_named(name: str) -> SpecialFunction:
    """The special function of this name, for copies and pickles."""
    return SPECIAL[name]


def __getattr__(name: str) -> Any:
    return missing(name, {}, "special")


def _refused(name: str, reason: str) -> Callable[..., Any]:
    """Return the entry of an operand by which there is no derivative; a constant asks for none."""

    def refuse(g: Any, y: Any, *operands: Any) -> Any:
        first = operands[0]
        if _counts(first):
            return None
        raise NoGradient(f"{name} has no derivative by {describe(first)}: {reason}; make it a constant")

    return refuse


def _no_slope(name: str, reason: str, place: int = 0) -> Callable[..., Any]:
    refuse = _refused(name, reason)
    return lambda g, y, *operands: refuse(g, y, operands[place])


# --- logits, entropies, losses
xlog1py: Binary = special_op(
    entropies.xlog1py,
    lambda g, y, a, b: g * T.log1p(b),
    lambda g, y, a, b: g * (a / T.switch(T.logical_and(T.eq(a, 0), T.eq(b, -1)), 1, 1 + b)), cost=20,
)  # fmt: skip
logit: Unary = special_op(entropies.logit, lambda g, y, p: g / (p * (1 - p)), cost=40, increasing=True)
exprel: Unary = special_op(entropies.exprel, lambda g, y, x: g * _slope_of_exprel(x), cost=25, increasing=True)
entr: Unary = special_op(entropies.entr, lambda g, y, x: g * (-T.log(x) - 1), cost=20)
rel_entr: Binary = special_op(
    entropies.rel_entr, lambda g, y, a, b: g * (T.log(a / b) + 1), lambda g, y, a, b: -g * (a / b), cost=40
)
kl_div: Binary = special_op(
    entropies.kl_div, lambda g, y, a, b: g * T.log(a / b), lambda g, y, a, b: g * (1 - a / b), cost=80
)
huber: Binary = special_op(
    entropies.huber,
    lambda g, y, d, r: g * T.maximum(T.abs(r) - d, 0),
    lambda g, y, d, r: g * T.clip(r, -d, d), cost=5,
)  # fmt: skip
pseudo_huber: Binary = special_op(
    entropies.pseudo_huber,
    lambda g, y, d, r: g * ((2 * y - T.square(r) / T.sqrt(1 + T.square(r / d))) / d),
    lambda g, y, d, r: g * (r / T.sqrt(1 + T.square(r / d))), cost=12,
)  # fmt: skip


def _slope_of_exprel(x: Any) -> Any:
    """(exp(x) (x - 1) + 1) / x**2, by its series near 0, where it cancels."""
    near = T.abs(x) < 0.1
    series = 0.5 + x * (1 / 3 + x * (1 / 8 + x * (1 / 30 + x * (1 / 144 + x * (1 / 840 + x * (1 / 5760 + x / 45360))))))
    safe = T.switch(near, 1, x)
    return T.switch(near, series, (T.exp(x) - exprel(x)) / safe)


def log_expit(x: TensorLike) -> TensorVariable:
    """log(1 / (1 + exp(-x))), without overflow."""
    v = as_tensor(x)
    return -T.softplus(-(T.cast(v, "float64") if v.type.kind in "biu" else v))


# --- error functions, the normal distribution
erfcx: Unary = special_op(errors.erfcx, lambda g, y, x: g * (2 * x * y - TWO_OVER_ROOT_PI), cost=40)
ndtr: Unary = special_op(
    errors.ndtr, lambda g, y, x: g * (T.exp(-T.square(finite(x)) / 2) / ROOT_2PI), cost=40, increasing=True
)
log_ndtr: Unary = special_op(errors.log_ndtr, lambda g, y, x: g * _mills(x), cost=60, increasing=True)
erfinv: Unary = special_op(errors.erfinv, lambda g, y, x: g * (T.exp(T.square(y)) / TWO_OVER_ROOT_PI), cost=80)
erfcinv: Unary = special_op(errors.erfcinv, lambda g, y, x: -g * (T.exp(T.square(y)) / TWO_OVER_ROOT_PI), cost=80)
ndtri: Unary = special_op(errors.ndtri, lambda g, y, x: g * (T.exp(T.square(y) / 2) * ROOT_2PI), cost=80)
ndtri_exp: Unary = special_op(errors.ndtri_exp, lambda g, y, x: g / _mills(y), cost=300)
dawsn: Unary = special_op(errors.dawsn, lambda g, y, x: g * (1 - 2 * x * y), cost=200)
voigt_real: Binary = special_op(
    errors.voigt_real,
    lambda g, y, a, b: 2 * g * (b * voigt_imag(a, b) - a * y),
    lambda g, y, a, b: 2 * g * (a * voigt_imag(a, b) + b * y - 0.5 * TWO_OVER_ROOT_PI), cost=600,
)  # fmt: skip
voigt_imag: Binary = special_op(
    errors.voigt_imag,
    lambda g, y, a, b: g * (TWO_OVER_ROOT_PI - 2 * (a * y + b * voigt_real(a, b))),
    lambda g, y, a, b: 2 * g * (b * y - a * voigt_real(a, b)), cost=600,
)  # fmt: skip


def _mills(x: Any) -> Any:
    """The derivative of log_ndtr: the normal density over the distribution function."""
    return math.sqrt(2 / math.pi) / erfcx(-math.sqrt(0.5) * x)


def voigt_profile(x: TensorLike, sigma: TensorLike, gamma: TensorLike) -> TensorVariable:
    """The density of the sum of a normal number of deviation `sigma` and one of Cauchy's of half width `gamma`.

    Raises nothing: a sigma or gamma of 0 gives the other density.
    """
    x, sigma, gamma = as_tensor(x), as_tensor(sigma), as_tensor(gamma)
    scale = T.switch(T.eq(sigma, 0), 1, sigma)
    wide = voigt_real(x / (scale * math.sqrt(2)), gamma / (scale * math.sqrt(2))) / (scale * ROOT_2PI)
    cauchy = gamma / (math.pi * (T.square(x) + T.square(gamma)))
    cauchy = T.switch(T.eq(x, 0) & T.eq(gamma, 0), math.inf, cauchy)
    return T.switch(T.eq(sigma, 0), cauchy, wide)  # type: ignore[no-any-return]


# --- gamma functions


def _gamma_density(a: Any, x: Any) -> Any:
    return T.exp(xlogy(a - 1, x) - x - gammaln(a))


_SECOND = "its second derivative by a parameter has no closed form"
gammainc: Binary = special_op(
    gammas.gammainc, lambda g, y, a, x: g * gammainc_by_a(a, x), lambda g, y, a, x: g * _gamma_density(a, x), cost=500
)
gammaincc: Binary = special_op(
    gammas.gammaincc,
    lambda g, y, a, x: -g * gammainc_by_a(a, x),
    lambda g, y, a, x: -g * _gamma_density(a, x), cost=500,
)  # fmt: skip
gammaincinv: Binary = special_op(
    gammas.gammaincinv,
    lambda g, y, a, p: -g * gammainc_by_a(a, y) / _gamma_density(a, y),
    lambda g, y, a, p: g / _gamma_density(a, y), cost=3000,
)  # fmt: skip
gammainccinv: Binary = special_op(
    gammas.gammainccinv,
    lambda g, y, a, q: -g * gammainc_by_a(a, y) / _gamma_density(a, y),
    lambda g, y, a, q: -g / _gamma_density(a, y), cost=3000,
)  # fmt: skip
gammainc_by_a: Binary = special_op(
    gammas.gammainc_by_a,
    _no_slope("gammainc_by_a", _SECOND),
    lambda g, y, a, x: g * _gamma_density(a, x) * (T.log(x) - digamma(a)), cost=900,
)  # fmt: skip
_zeta: Binary = special_op(
    gammas.zeta,
    _no_slope("zeta", "that by s has no closed form"),
    lambda g, y, s, q: -g * s * _zeta(s + 1, q), cost=400,
)  # fmt: skip


def zeta(s: TensorLike, q: TensorLike = 1.0) -> TensorVariable:
    """Hurwitz' zeta function of s and q, Riemann's for q = 1; infinite at s = 1, NaN for s < 1."""
    return _zeta(s, q)


def multigammaln(a: TensorLike, d: int) -> TensorVariable:
    """The logarithm of the multivariate gamma function of dimension `d`, an integer above 0; NaN for a <= (d - 1) / 2.

    d (d - 1) / 4 log(pi) + sum of gammaln(a - j / 2), j = 0 ... d - 1 (DLMF 35.3.4).
    """
    if not isinstance(d, int) or isinstance(d, bool) or d < 1:
        raise ValueError(f"multigammaln: d must be an integer of at least 1, got {shown(d)}")
    a = as_tensor(a)
    total = gammaln(a)
    for j in range(1, d):
        total = total + gammaln(a - j / 2)
    found = total + d * (d - 1) / 4 * math.log(math.pi)
    return T.switch(a > (d - 1) / 2, found, math.nan)  # type: ignore[no-any-return]


# --- beta functions


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    return T.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b))


betaln: Binary = special_op(
    complete_betas.betaln,
    lambda g, y, a, b: g * (digamma(a) - digamma(a + b)),
    lambda g, y, a, b: g * (digamma(b) - digamma(a + b)), cost=400, commutative=True,
)  # fmt: skip
beta: Binary = special_op(
    complete_betas.beta,
    lambda g, y, a, b: g * y * (digamma(a) - digamma(a + b)),
    lambda g, y, a, b: g * y * (digamma(b) - digamma(a + b)), cost=400, commutative=True,
)  # fmt: skip
betainc: Any = special_op(
    betas.betainc,
    lambda g, y, a, b, x: g * betainc_by_a(a, b, x),
    lambda g, y, a, b, x: g * betainc_by_b(a, b, x),
    lambda g, y, a, b, x: g * _beta_density(a, b, x), cost=1500,
)  # fmt: skip
betaincc: Any = special_op(
    betas.betaincc,
    lambda g, y, a, b, x: -g * betainc_by_a(a, b, x),
    lambda g, y, a, b, x: -g * betainc_by_b(a, b, x),
    lambda g, y, a, b, x: -g * _beta_density(a, b, x), cost=1500,
)  # fmt: skip
betaincinv: Any = special_op(
    beta_quantiles.betaincinv,
    lambda g, y, a, b, p: -g * betainc_by_a(a, b, y) / _beta_density(a, b, y),
    lambda g, y, a, b, p: -g * betainc_by_b(a, b, y) / _beta_density(a, b, y),
    lambda g, y, a, b, p: g / _beta_density(a, b, y), cost=10000,
)  # fmt: skip
betainccinv: Any = special_op(
    beta_quantiles.betainccinv,
    lambda g, y, a, b, q: -g * betainc_by_a(a, b, y) / _beta_density(a, b, y),
    lambda g, y, a, b, q: -g * betainc_by_b(a, b, y) / _beta_density(a, b, y),
    lambda g, y, a, b, q: -g / _beta_density(a, b, y), cost=10000,
)  # fmt: skip
betainc_by_a: Any = special_op(
    betas.betainc_by_a,
    _no_slope("betainc_by_a", _SECOND, 0),
    _no_slope("betainc_by_a", _SECOND, 1),
    lambda g, y, a, b, x: g * _beta_density(a, b, x) * (T.log(x) - digamma(a) + digamma(a + b)), cost=2500,
)  # fmt: skip
betainc_by_b: Any = special_op(
    betas.betainc_by_b,
    _no_slope("betainc_by_b", _SECOND, 0),
    _no_slope("betainc_by_b", _SECOND, 1),
    lambda g, y, a, b, x: g * _beta_density(a, b, x) * (T.log1p(-x) - digamma(b) + digamma(a + b)), cost=2500,
)  # fmt: skip


# --- modified Bessel functions


def _over(y: Any, x: Any, at_0: float) -> Any:
    """y / x, and its limit at 0."""
    zero = T.eq(x, 0)
    return T.switch(zero, at_0, y / T.switch(zero, 1, x))


i0: Unary = special_op(orders01.i0, lambda g, y, x: g * i1(x), cost=40, even=True)
i1: Unary = special_op(orders01.i1, lambda g, y, x: g * (i0(x) - _over(y, x, 0.5)), cost=40, increasing=True)
i0e: Unary = special_op(orders01.i0e, lambda g, y, x: g * (i1e(x) - T.sign(x) * y), cost=40, even=True)
i1e: Unary = special_op(orders01.i1e, lambda g, y, x: g * (i0e(x) - T.sign(x) * y - _over(y, x, 0.5)), cost=40)
k0: Unary = special_op(orders01.k0, lambda g, y, x: -g * k1(x), cost=45)
k1: Unary = special_op(orders01.k1, lambda g, y, x: -g * (k0(x) + y / x), cost=45)
k0e: Unary = special_op(orders01.k0e, lambda g, y, x: g * (y - k1e(x)), cost=45)
k1e: Unary = special_op(orders01.k1e, lambda g, y, x: g * (y - k0e(x) - y / x), cost=45)
kv: Binary = special_op(
    bessel.kv,
    lambda g, y, v, x: g * kv_by_order(v, x),
    lambda g, y, v, x: -0.5 * g * (kv(v - 1, x) + kv(v + 1, x)), cost=1600,
)  # fmt: skip
kve: Binary = special_op(
    bessel.kve,
    lambda g, y, v, x: g * kve_by_order(v, x),
    lambda g, y, v, x: g * (y - 0.5 * (kve(v - 1, x) + kve(v + 1, x))), cost=1600,
)  # fmt: skip
kv_by_order: Binary = special_op(
    by_order.kv_by_order,
    _no_slope("kv_by_order", _SECOND),
    lambda g, y, v, x: -0.5 * g * (kv_by_order(v - 1, x) + kv_by_order(v + 1, x)), cost=3000,
)  # fmt: skip
kve_by_order: Binary = special_op(
    by_order.kve_by_order,
    _no_slope("kve_by_order", _SECOND),
    lambda g, y, v, x: g * (y - 0.5 * (kve_by_order(v - 1, x) + kve_by_order(v + 1, x))), cost=3000,
)  # fmt: skip
iv: Binary = special_op(
    bessel.iv,
    lambda g, y, v, x: g * iv_by_order(v, x),
    lambda g, y, v, x: 0.5 * g * (iv(v - 1, x) + iv(v + 1, x)), cost=500,
)  # fmt: skip
ive: Binary = special_op(
    bessel.ive,
    lambda g, y, v, x: g * (iv_by_order(v, x) * T.exp(-T.abs(x))),
    lambda g, y, v, x: g * (0.5 * (ive(v - 1, x) + ive(v + 1, x)) - T.sign(x) * y), cost=500,
)  # fmt: skip
iv_by_order: Binary = special_op(
    by_order.iv_by_order,
    _no_slope("iv_by_order", _SECOND),
    lambda g, y, v, x: g * (iv_by_order(v + 1, x) + (iv(v, x) + v * y) / x), cost=1000,
)  # fmt: skip

# --- Bessel functions
_ORDER = "that by the order has no closed form (DLMF 10.15)"
j0: Unary = special_op(waves01.j0, lambda g, y, x: -g * j1(x), cost=60, even=True)
j1: Unary = special_op(waves01.j1, lambda g, y, x: 0.5 * g * (j0(x) - jv(2.0, x)), cost=60)
y0: Unary = special_op(waves01.y0, lambda g, y, x: -g * y1(x), cost=60)
y1: Unary = special_op(waves01.y1, lambda g, y, x: 0.5 * g * (y0(x) - yv(2.0, x)), cost=60)
jv: Binary = special_op(
    oscillating.jv, _no_slope("jv", _ORDER), lambda g, y, v, x: 0.5 * g * (jv(v - 1, x) - jv(v + 1, x)), cost=1200
)
yv: Binary = special_op(
    oscillating.yv, _no_slope("yv", _ORDER), lambda g, y, v, x: 0.5 * g * (yv(v - 1, x) - yv(v + 1, x)), cost=1200
)
airyai: Unary = special_op(airys.airyai, lambda g, y, x: g * airyaip(x), cost=100)
airyaip: Unary = special_op(airys.airyaip, lambda g, y, x: g * x * airyai(x), cost=100)
airybi: Unary = special_op(airys.airybi, lambda g, y, x: g * airybip(x), cost=100)
airybip: Unary = special_op(airys.airybip, lambda g, y, x: g * x * airybi(x), cost=100)


def airy(x: TensorLike) -> tuple[TensorVariable, TensorVariable, TensorVariable, TensorVariable]:
    """(Ai, Ai', Bi, Bi') of real numbers, as SciPy's `airy`."""
    return airyai(x), airyaip(x), airybi(x), airybip(x)


# --- integrals


def _elliptic_series(m: Any, first: tuple[float, ...]) -> Any:
    total: Any = 0.0
    for c in reversed(first):
        total = total * m + c
    return math.pi / 2 * total


_SQUARES = (0.25, 0.140625, 0.09765625, 0.07476806640625, 0.060562133789062, 0.050889015197754)
"""Squares of (1 3 5 ... (2 n - 1)) / (2 4 6 ... 2 n), n = 1, 2, ... (DLMF 19.5.1)."""


def _slope_of_k(y: Any, m: Any, p: Any) -> Any:
    near = T.abs(m) < 0.005
    series = _elliptic_series(m, tuple((n + 1) * c for n, c in enumerate(_SQUARES)))
    return T.switch(near, series, (ellipe(m) / p - y) / (2 * T.switch(near, 1, m)))


def _slope_of_e(y: Any, m: Any) -> Any:
    near = T.abs(m) < 0.005
    series = _elliptic_series(m, tuple(-(n + 1) * c / (2 * n + 1) for n, c in enumerate(_SQUARES)))
    return T.switch(near, series, (y - ellipk(m)) / (2 * T.switch(near, 1, m)))


exp1: Unary = special_op(integrals.exp1, lambda g, y, x: -g * (T.exp(-x) / x), cost=50)
expi: Unary = special_op(integrals.expi, lambda g, y, x: g * (T.exp(x) / x), cost=200)
ellipk: Unary = special_op(integrals.ellipk, lambda g, y, m: g * _slope_of_k(y, m, 1 - m), cost=150)
ellipkm1: Unary = special_op(integrals.ellipkm1, lambda g, y, p: -g * _slope_of_k(y, 1 - p, p), cost=150)
ellipe: Unary = special_op(integrals.ellipe, lambda g, y, m: g * _slope_of_e(y, m), cost=250)
fresnel_s: Unary = special_op(integrals.fresnel_s, lambda g, y, x: g * T.sin(math.pi / 2 * T.square(x)), cost=40)
fresnel_c: Unary = special_op(integrals.fresnel_c, lambda g, y, x: g * T.cos(math.pi / 2 * T.square(x)), cost=40)
spence: Unary = special_op(integrals.spence, lambda g, y, x: -g * _over(T.log(x), x - 1, 1.0), cost=100)
lambertw_0: Unary = special_op(integrals.lambertw_0, lambda g, y, x: g * (T.exp(-y) / (1 + y)), cost=300)
lambertw_1: Unary = special_op(integrals.lambertw_1, lambda g, y, x: g * (T.exp(-y) / (1 + y)), cost=300)
struve: Binary = special_op(
    integrals.struve,
    _no_slope("struve", "that by the order has no closed form"),
    lambda g, y, v, x: g * (
        T.exp(xlogy(v, x / 2) - gammaln(v + 1.5)) / math.sqrt(math.pi) + v * _over(y, x, 0.0) - struve(v + 1, x)
    ), cost=3000,
)  # fmt: skip
owens_t: Binary = special_op(
    integrals.owens_t,
    lambda g, y, h, a: -0.5 * g * T.erf(a * h * math.sqrt(0.5)) * T.exp(-T.square(h) / 2) / ROOT_2PI,
    lambda g, y, h, a: g * T.exp(-T.square(h) * (1 + T.square(a)) / 2) / (2 * math.pi * (1 + T.square(a))), cost=350,
)  # fmt: skip


def fresnel(x: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """(S, C), the integrals of sin(pi t**2 / 2) and cos(pi t**2 / 2) from 0 to x, as SciPy's `fresnel`."""
    return fresnel_s(x), fresnel_c(x)


def lambertw(x: TensorLike, k: int = 0) -> TensorVariable:
    """The branch k of Lambert's W, the inverse of w exp(w).

    Complex numbers give complex ones, real numbers as well unless k is 0 (W >= -1, for x >= -1/e) or -1 (W <= -1, for
    -1/e <= x < 0): these are real and NaN elsewhere, where SciPy's are complex.  Raises TypeError if k is no integer.
    """
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"lambertw: the branch k is a Python integer, got {shown(k)}")
    v = as_tensor(x)
    if v.type.kind != "c" and k in (0, -1):
        return lambertw_0(v) if k == 0 else lambertw_1(v)
    dtype = v.dtype if v.type.kind == "c" else "complex64" if v.dtype in ("float16", "float32") else "complex128"
    return lambert.lambertw_of_complex(T.cast(v, dtype), int(k))  # type: ignore[no-any-return]


# --- hypergeometric functions
_PARAMETER = "that by a parameter has no closed form (DLMF 16.3)"
hyp1f1: Any = special_op(
    hypergeometric.hyp1f1,
    _no_slope("hyp1f1", _PARAMETER, 0),
    _no_slope("hyp1f1", _PARAMETER, 1),
    lambda g, y, a, b, x: g * (a / b) * hyp1f1(a + 1, b + 1, x), cost=600,
)  # fmt: skip
hyp2f1: Any = special_op(
    hypergeometric.hyp2f1,
    _no_slope("hyp2f1", _PARAMETER, 0),
    _no_slope("hyp2f1", _PARAMETER, 1),
    _no_slope("hyp2f1", _PARAMETER, 2),
    lambda g, y, a, b, c, x: g * (a * b / c) * hyp2f1(a + 1, b + 1, c + 1, x), cost=1000,
)  # fmt: skip

# --- quantiles: no derivative by what is discrete
poisson_quantile: Binary = special_op(quantiles.poisson_quantile, None, None, cost=3000)
binomial_quantile: Any = special_op(quantiles.binomial_quantile, None, None, None, cost=6000)
hypergeometric_draw: Any = special_op(quantiles.hypergeometric_draw, None, None, None, None, cost=1500)
zipf_quantile: Binary = special_op(quantiles.zipf_quantile, None, None, cost=6000)
vonmises_cdf: Binary = special_op(
    quantiles.vonmises_cdf, _no_slope("vonmises_cdf", _SECOND),
    lambda g, y, k, x: g * T.exp(k * (T.cos(x) - 1)) / (2 * math.pi * i0e(k)), cost=1500,
)  # fmt: skip
vonmises_quantile: Binary = special_op(
    quantiles.vonmises_quantile, _no_slope("vonmises_quantile", _SECOND),
    lambda g, y, k, u: g * (2 * math.pi * i0e(k)) / T.exp(k * (T.cos(y) - 1)), cost=10000,
)  # fmt: skip

__all__ = [
    "airy", "airyai", "airyaip", "airybi", "airybip", "beta", "betainc", "betainc_by_a", "betainc_by_b", "betaincc",
    "betainccinv", "betaincinv", "betaln", "binomial_quantile", "dawsn", "digamma", "ellipe", "ellipk", "ellipkm1",
    "entr", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp1", "expi", "expit", "expm1", "exprel", "fresnel",
    "fresnel_c", "fresnel_s", "gamma", "gammainc", "gammainc_by_a", "gammaincc", "gammainccinv", "gammaincinv",
    "gammaln", "huber", "hyp1f1", "hyp2f1", "hypergeometric_draw", "i0", "i0e", "i1", "i1e", "iv", "iv_by_order",
    "ive", "j0", "j1", "jv", "k0", "k0e", "k1", "k1e", "kl_div", "kv", "kv_by_order", "kve", "kve_by_order",
    "lambertw", "lambertw_0", "lambertw_1", "log1p", "log_expit", "log_ndtr", "logit", "multigammaln", "ndtr",
    "ndtri", "ndtri_exp", "owens_t", "poisson_quantile", "polygamma", "pseudo_huber", "psi", "rel_entr", "spence",
    "struve", "voigt_imag", "voigt_profile", "voigt_real", "vonmises_cdf", "vonmises_quantile", "xlog1py", "xlogy",
    "y0", "y1", "yv", "zeta", "zipf_quantile",
]  # fmt: skip
