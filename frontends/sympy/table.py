"""Meanings of SymPy's functions by the names of their classes.

Each entry takes the values of the arguments, which are Python numbers, arrays or variables, and returns the value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ... import ops as T

S: Any = T.special


def _polygamma(n: Any, x: Any) -> Any:
    return S.psi(x) if n == 0 else S.polygamma(n, x)


def _lower_gamma(a: Any, x: Any) -> Any:
    return S.gammainc(a, x) * S.gamma(a)


def _upper_gamma(a: Any, x: Any) -> Any:
    return S.gammaincc(a, x) * S.gamma(a)


def _binomial(n: Any, k: Any) -> Any:
    return 1 / ((n + 1) * S.beta(n - k + 1, k + 1))


def _lambert(x: Any, k: Any = 0) -> Any:
    return S.lambertw(x, k)


def _exponential_integral(n: Any, x: Any) -> Any:
    """E_n by its recurrence from E_1; orders above 1 are integers."""
    if not isinstance(n, int) or not 1 <= n <= 20:
        raise ValueError(f"from_sympy: expint of order {n}; expected an integer from 1 to 20")
    found = S.exp1(x)
    for k in range(1, n):
        found = (T.exp(-T.as_tensor(x)) - x * found) / k
    return found


def _hypergeometric(a: Any, b: Any, x: Any) -> Any:
    known = {(2, 1): S.hyp2f1, (1, 1): S.hyp1f1, (1, 0): lambda a, x: (1 - x) ** -a, (0, 0): T.exp}
    if (len(a), len(b)) not in known:
        raise ValueError(f"from_sympy: hyper of {len(a)} and {len(b)} parameters; expected 2 and 1, 1 and 1, 1 and 0")
    return known[len(a), len(b)](*a, *b, T.as_tensor(x))


def _harmonic(n: Any, power: Any = 1) -> Any:
    if isinstance(power, int) and power == 1:
        return S.psi(T.as_tensor(n) + 1.0) + np.euler_gamma
    return S.zeta(power, 1.0) - S.zeta(power, T.as_tensor(n) + 1.0)


def _spherical(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda n, x: T.sqrt(math.pi / 2 / T.as_tensor(x)) * function(n + 0.5, x)


def _nested(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda *values: reduce(function, values)


def _negated(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: T.logical_not(function(*values))


_and, _or, _xor = _nested(T.logical_and), _nested(T.logical_or), _nested(T.logical_xor)


def _by_reciprocal(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(1 / T.as_tensor(x))


def _reciprocal(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: 1 / function(x)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": T.exp, "log": T.log, "Abs": T.abs, "sign": T.sign, "floor": T.floor, "ceiling": T.ceil,
    "frac": lambda x: x - T.floor(x),
    "sin": T.sin, "cos": T.cos, "tan": T.tan, "asin": T.arcsin, "acos": T.arccos, "atan": T.arctan, "atan2": T.arctan2,
    "sec": _reciprocal(T.cos), "csc": _reciprocal(T.sin), "cot": _reciprocal(T.tan),
    "asec": _by_reciprocal(T.arccos), "acsc": _by_reciprocal(T.arcsin), "acot": _by_reciprocal(T.arctan),
    "sinh": T.sinh, "cosh": T.cosh, "tanh": T.tanh, "asinh": T.arcsinh, "acosh": T.arccosh, "atanh": T.arctanh,
    "sech": _reciprocal(T.cosh), "csch": _reciprocal(T.sinh), "coth": _reciprocal(T.tanh),
    "asech": _by_reciprocal(T.arccosh), "acsch": _by_reciprocal(T.arcsinh), "acoth": _by_reciprocal(T.arctanh),
    "sinc": lambda x: T.sinc(x / math.pi), "Heaviside": T.heaviside, "Mod": T.mod,
    "Max": _nested(T.maximum), "Min": _nested(T.minimum),
    "re": T.real, "im": T.imag, "conjugate": T.conj, "arg": T.angle,
    "gamma": S.gamma, "loggamma": S.gammaln, "polygamma": _polygamma, "digamma": S.psi,
    "trigamma": lambda x: S.polygamma(1, x), "factorial": lambda n: S.gamma(n + 1),
    "binomial": _binomial, "beta": S.beta,
    "RisingFactorial": lambda x, n: S.gamma(x + n) / S.gamma(x),
    "FallingFactorial": lambda x, n: S.gamma(x + 1) / S.gamma(x - n + 1),
    "lowergamma": _lower_gamma, "uppergamma": _upper_gamma, "multigamma": lambda x, p: T.exp(S.multigammaln(x, p)),
    "erf": S.erf, "erfc": S.erfc, "erf2": lambda a, b: S.erf(b) - S.erf(a), "erfinv": S.erfinv, "erfcinv": S.erfcinv,
    "erf2inv": lambda a, b: S.erfinv(b + S.erf(a)),
    "erfi": lambda x: 2 / math.sqrt(math.pi) * T.exp(x * x) * S.dawsn(x),
    "fresnels": S.fresnel_s, "fresnelc": S.fresnel_c, "Ei": S.expi, "E1": S.exp1, "expint": _exponential_integral,
    "li": lambda x: S.expi(T.log(x)), "Li": lambda x: S.expi(T.log(x)) - 1.0451637801174927848,
    "Shi": lambda x: (S.expi(x) + S.exp1(x)) / 2, "Chi": lambda x: (S.expi(x) - S.exp1(x)) / 2,
    "besselj": S.jv, "bessely": S.yv, "besseli": S.iv, "besselk": S.kv,
    "jn": _spherical(S.jv), "yn": _spherical(S.yv), "hyper": _hypergeometric, "harmonic": _harmonic,
    "hankel1": lambda n, x: S.jv(n, x) + 1j * S.yv(n, x), "hankel2": lambda n, x: S.jv(n, x) - 1j * S.yv(n, x),
    "dirichlet_eta": lambda s: -T.expm1(math.log(2) * (1 - T.as_tensor(s))) * S.zeta(s, 1),
    "airyai": S.airyai, "airybi": S.airybi, "airyaiprime": S.airyaip, "airybiprime": S.airybip,
    "zeta": lambda s, a=1: S.zeta(s, a), "LambertW": _lambert, "elliptic_k": S.ellipk, "elliptic_e": S.ellipe,
    "Not": T.logical_not, "And": _and, "Or": _or, "Xor": _xor, "Nand": _negated(_and), "Nor": _negated(_or),
    "Xnor": _negated(_xor), "Implies": lambda a, b: T.logical_or(T.logical_not(a), b), "ITE": T.where,
    "Equivalent": lambda *values: T.logical_not(_or(*(_xor(values[0], v) for v in values[1:]))),
    "Equality": T.eq, "Unequality": T.ne, "StrictLessThan": T.lt, "LessThan": T.le, "StrictGreaterThan": T.gt,
    "GreaterThan": T.ge,
    "MatMul": _nested(lambda a, b: a @ b if getattr(a, "ndim", 0) and getattr(b, "ndim", 0) else a * b),
    "MatAdd": _nested(operator.add), "HadamardProduct": _nested(operator.mul),
    "Transpose": T.matrix_transpose, "Adjoint": lambda x: T.conj(T.matrix_transpose(x)),
    "Inverse": lambda x, _: T.linalg.inv(x),
    "Trace": T.trace, "Determinant": T.linalg.det, "MatPow": T.linalg.matrix_power,
    "DotProduct": lambda a, b: T.sum(T.ravel(a) * T.ravel(b)),
}  # fmt: skip
"""Name of a class of SymPy -> its meaning."""
