"""Rows of the scalar table for complex64 and complex128: NumPy's formulas by helpers, the rest by the C library."""

from __future__ import annotations

from collections.abc import Mapping

from .forms import EQUALITY, SUM, Binding, Form, call, prefix, template

_LIBRARY = {
    "exp": "cexp", "log": "clog", "sqrt": "csqrt", "sin": "csin", "cos": "ccos", "tan": "ctan",
    "arcsin": "casin", "arccos": "cacos", "arctan": "catan", "sinh": "csinh", "cosh": "ccosh", "tanh": "ctanh",
    "arcsinh": "casinh", "arccosh": "cacosh", "arctanh": "catanh",
}  # fmt: skip
_UNARY_HELPERS = ("reciprocal", "conj", "abs", "angle", "isnan", "isinf", "isfinite", "sign", "rint", "log1p", "expm1")
_BINARY_HELPERS = ("mul", "lt", "le", "gt", "ge", "maximum", "minimum", "pow")

COMPLEX_FORMS: Mapping[str, Form] = {
    **{ours: call(f"{theirs}{{f}}") for ours, theirs in _LIBRARY.items()},
    **{name: call(f"ag_{name}_{{T}}") for name in _UNARY_HELPERS},
    **{name: call(f"ag_{name}_{{T}}", 2) for name in _BINARY_HELPERS},
    "clip": call("ag_clip_{T}", 3),
    "true_div": call("ag_div_{T}", 2),
    "add": SUM["+"],
    "sub": SUM["-"],
    "neg": prefix("-"),
    "square": Form("ag_mul_{T}({0}, {0})"),
    "exp2": Form("cexp{f}(ag_scale_{T}({0}, 0x1.62e42fefa39efp-1{f}))"),
    "log2": Form("ag_scale_{T}(clog{f}({0}), 0x1.71547652b82fep+0{f})"),
    "log10": Form("ag_scale_{T}(clog{f}({0}), 0x1.bcb7b1526e50ep-2{f})"),
    "eq": EQUALITY["=="],
    "ne": EQUALITY["!="],
    "real": template("__real__ {0}", Binding.UNARY),
    "imag": template("__imag__ {0}", Binding.UNARY),
}
"""Our name of the op and its C; `{T}` is c64 or c128, `{f}` the suffix of library names."""
