"""Ops of the namespace `prims`, whose operands have one dtype: the converters of ATen's ops."""

from __future__ import annotations

from ..table import CONVERTERS
from . import division, elementwise

__all__ = ["division", "elementwise"]

PRIMITIVES = (
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_not",
    "bitwise_or", "bitwise_xor", "ceil", "conj", "conj_physical", "cos", "cosh", "digamma", "div", "eq", "erf",
    "erfc", "exp", "exp2", "expm1", "floor", "fmax", "fmin", "fmod", "frexp", "gcd", "ge", "gt", "hypot", "igamma",
    "igammac", "imag", "isfinite", "le", "lgamma", "log", "log10", "log1p", "log2", "lt", "maximum", "minimum", "mul",
    "ne", "neg", "nextafter", "pow", "real", "reciprocal", "remainder", "round", "rsqrt", "sign", "signbit", "sin",
    "sinh", "sqrt", "sub", "tan", "tanh", "trunc", "where",
)  # fmt: skip
"""Ops of the namespace `prims` that are those of ATen."""
OTHER_PRIMITIVES = {
    "bessel_i0": "i0", "bessel_i0e": "special_i0e", "bessel_i1": "special_i1", "bessel_i1e": "special_i1e",
    "bessel_j0": "special_bessel_j0", "bessel_j1": "special_bessel_j1", "erf_inv": "erfinv",
    "erfcx": "special_erfcx", "ndtri": "special_ndtri", "zeta": "special_zeta", "shift_left": "bitwise_left_shift",
    "shift_right_arithmetic": "bitwise_right_shift",
}  # fmt: skip
"""Our name of ATen by that of a primitive."""


def _register_primitives() -> None:
    for name, other in (*((n, n) for n in PRIMITIVES), *OTHER_PRIMITIVES.items()):
        names = (f"aten.{other}{overload}" for overload in ("", ".Tensor", ".self"))
        found = next((CONVERTERS[n] for n in names if n in CONVERTERS), None)
        if found is None:
            raise LookupError(f"prims.{name} has no converter under aten.{other}")
        CONVERTERS[f"prims.{name}"] = found


_register_primitives()
