"""The table `scalar operation, dtypes -> C` for bools, integers and real floats (scalars_complex.py has the rest).

A row gives one form for each kind of dtype: b bool, i signed, u unsigned, f float32 and float64.  In a form, `{T}` is
the C type of the operands and `{f}` the suffix of library names.  Results are NumPy's: bit for bit for integers and
bools, a few ulp for functions of the C library.  What has no row is rewritten by lowering (nest.py) in terms
of what has: float16 is computed in float32 and rounded after each op, as in NumPy; logical ops take bools; `clip` is a
minimum of a maximum.
"""

from __future__ import annotations

from functools import cache

from ...graph.types import numpy_dtype
from ..ir.loops import Op
from .casts import cast_form
from .forms import (
    BITS,
    BOTH,
    CHOICE,
    EITHER,
    EQUALITY,
    ITSELF,
    ORDER,
    PRODUCT,
    SUM,
    Binding,
    Form,
    call,
    prefix,
    template,
)
from .helper import C_TYPES, suffix
from .scalars_complex import COMPLEX_FORMS


def _helper(name: str, arity: int = 1) -> Form:
    return call(f"ag_{name}_{{T}}", arity)


def _library(name: str, arity: int = 1) -> Form:
    return call(f"{name}{{f}}", arity)


_ELEMENTARY = {
    **{name: name for name in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "log1mexp", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "erf", "erfc", "cbrt", "sigmoid", "softplus",
    )},
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
}  # fmt: skip
"""Functions of one float that are helpers: our name, and that in C."""

_ROWS: dict[str, dict[str, Form]] = {
    **{ours: {"f": _helper(theirs)} for ours, theirs in _ELEMENTARY.items()},
    **{name: {"f": _library(name)} for name in ("sqrt", "rint")},
    **{name: {"biu": ITSELF, "f": _library(name)} for name in ("floor", "ceil", "trunc")},
    # in float64 for float32 too: rare functions, and accurate near their roots
    "gamma": {"f": call("tgamma")},
    "gammaln": {"f": call("ag_gammaln_f64")},
    "digamma": {"f": call("ag_digamma_f64")},
    "polygamma": {"f": call("ag_polygamma_f64", 2)},
    # arithmetic
    "add": {"b": BITS["|"], "iuf": SUM["+"]},
    "sub": {"iuf": SUM["-"]},
    "mul": {"b": BITS["&"], "iuf": PRODUCT["*"]},
    "true_div": {"f": PRODUCT["/"]},
    "floor_div": {"iuf": _helper("floor_div", 2)},
    "mod": {"iuf": _helper("mod", 2)},
    "fmod": {"i": _helper("fmod", 2), "u": _helper("mod", 2), "f": _library("fmod", 2)},
    "pow": {"iuf": _helper("pow", 2)},
    "neg": {"iuf": prefix("-")},
    "abs": {"bu": ITSELF, "i": template("{0} < 0 ? -{0} : {0}", Binding.CHOICE), "f": _library("fabs")},
    "sign": {
        "u": template("{0} != 0", Binding.EQUALITY),
        "i": template("({0} > 0) - ({0} < 0)", Binding.SUM),
        "f": _helper("sign"),
    },
    "square": {"b": ITSELF, "iuf": template("{0} * {0}", Binding.PRODUCT)},
    "reciprocal": {"f": template("1 / {0}", Binding.PRODUCT)},
    "hypot": {"f": _helper("hypot", 2)},
    "arctan2": {"f": _helper("atan2", 2)},
    "logaddexp": {"f": _helper("logaddexp", 2)},
    "copysign": {"f": _library("copysign", 2)},
    "deg2rad": {"f": template("{0} * ({T})0x1.1df46a2529d39p-6", Binding.PRODUCT)},
    "rad2deg": {"f": template("{0} * ({T})0x1.ca5dc1a63c1f8p+5", Binding.PRODUCT)},
    "maximum": {"b": BITS["|"], "iu": template("{0} > {1} ? {0} : {1}", Binding.CHOICE), "f": _helper("maximum", 2)},
    "minimum": {"b": BITS["&"], "iu": template("{0} < {1} ? {0} : {1}", Binding.CHOICE), "f": _helper("minimum", 2)},
    # comparison, logic and choice
    **{name: {"biuf": ORDER[sign]} for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))},
    **{name: {"biuf": EQUALITY[sign]} for name, sign in (("eq", "=="), ("ne", "!="))},
    "logical_and": {"b": BITS["&"]},
    "logical_or": {"b": BITS["|"]},
    "logical_xor": {"b": BITS["^"]},
    "logical_not": {"b": prefix("!")},
    "switch": {"biufce": CHOICE},
    "isnan": {"f": template("{0} != {0}", Binding.EQUALITY)},
    "isinf": {"f": Form("fabs{f}({0}) == ({T})__builtin_inf()", Binding.EQUALITY)},
    "isfinite": {"f": Form("fabs{f}({0}) < ({T})__builtin_inf()", Binding.ORDER)},
    "signbit": {"f": Form("copysign{f}(1, {0}) < 0", Binding.ORDER)},
    # bits
    "bitwise_and": {"biu": BITS["&"]},
    "bitwise_or": {"biu": BITS["|"]},
    "bitwise_xor": {"biu": BITS["^"]},
    "bitwise_not": {"b": prefix("!"), "iu": prefix("~")},
    "left_shift": {"iu": _helper("left_shift", 2)},
    "right_shift": {"iu": _helper("right_shift", 2)},
    "threefry": {"u": call("ag_threefry_u64", 2)},
    # parts
    "conj": {"biuf": ITSELF},
    "real": {"biuf": ITSELF},
    "angle": {"f": Form("ag_atan2_{T}(0, {0})")},
    "complex": {"f": call("ag_make_{C}", 2)},
    # what lowering alone makes: conditions of branches, streams, parts of arrays (helpers_tile.py), sums of blocks
    # (helpers_reduce.py)
    "both": {"b": BOTH},
    "either": {"b": EITHER},
    "stream_length": {"i": Form("({0} + {1}) / {2} * {3}", Binding.PRODUCT, (Binding.SUM, *(Binding.ATOM,) * 3))},
    "is_turned": {"i": call("ag_is_turned", 2)},
    "tile_rows": {"i": call("ag_tile_rows", 2)},
    "run_in": {"biufce": call("ag_run_in_{T}", 5)},
    "run_back": {"biufce": call("ag_run_back_{T}", 5)},
    "tile_in": {"biufce": call("ag_tile_in_{T}", 7)},
    "tile_in_twos": {"biufce": call("ag_tile_in_twos_{T}", 7)},
    "tile_out": {"biufce": call("ag_tile_out_{T}", 4)},
    "tile_back": {"biufce": call("ag_tile_back_{T}", 7)},
    "pairwise_start": {"p": Form("ag_pairwise_start(&{0})")},
    "pairwise_add": {"p": Form("ag_pairwise_add(&{0}, {1})")},
    "pairwise_total": {"p": Form("ag_pairwise_total(&{0})")},
}

_FORMS: dict[tuple[str, str], Form] = {
    **{(name, kind): form for name, row in _ROWS.items() for kinds, form in row.items() for kind in kinds},
    **{(name, "c"): form for name, form in COMPLEX_FORMS.items()},
}

# int64 against uint64 (or narrower ones): the signed number is looked at first, so that no conversion changes a value.
_SIGNED_FIRST = {
    "lt": ("{0} < 0 || (u64){0} < {1}", Binding.LOGIC),
    "le": ("{0} < 0 || (u64){0} <= {1}", Binding.LOGIC),
    "gt": ("{0} >= 0 && (u64){0} > {1}", Binding.LOGIC),
    "ge": ("{0} >= 0 && (u64){0} >= {1}", Binding.LOGIC),
    "eq": ("{0} >= 0 && (u64){0} == {1}", Binding.LOGIC),
    "ne": ("{0} < 0 || (u64){0} != {1}", Binding.LOGIC),
}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_KINDS = {"float16": "e", "pairwise": "p"}
_NARROW = ("int8", "int16", "uint8", "uint16")


def kind_of(dtype: str) -> str:
    """The letter of the table: b, i, u, f or c; e for float16, which has no rows of its own; p for a sum in pairs."""
    return _KINDS.get(dtype) or numpy_dtype(dtype).kind


def form_of(op: Op) -> Form:
    """The C of an operation, with gaps for its operands.  Raises KeyError for what has no row."""
    return _form(op.name, op.dtype, tuple(a.dtype for a in op.args))


@cache
def _form(name: str, result: str, dtypes: tuple[str, ...]) -> Form:
    if name == "cast":
        return cast_form(dtypes[0], result)
    dtype = dtypes[1] if name == "switch" else dtypes[0]
    kinds = "".join(map(kind_of, dtypes))
    if name in _SIGNED_FIRST and kinds in ("iu", "ui"):
        return _mixed(name, kinds)
    if name == "reciprocal" and kinds in "iu":
        return _integer_reciprocal(dtype)
    form = _FORMS[name, kind_of(dtype)].filled(T=C_TYPES.get(dtype, dtype), f=suffix(dtype), C=C_TYPES[result])
    return _narrowed(form, result) if result in _NARROW and form.binding > Binding.UNARY else form


def _mixed(name: str, kinds: str) -> Form:
    if kinds == "iu":
        return template(*_SIGNED_FIRST[name])
    text, binding = _SIGNED_FIRST[_MIRRORED[name]]
    return template(text.replace("{0}", "{a}").replace("{1}", "{0}").replace("{a}", "{1}"), binding)


def _integer_reciprocal(dtype: str) -> Form:
    """NumPy divides 1.0 by the integer and converts back."""
    back = cast_form("float64", dtype)
    return Form(back.text.replace("{0}", "1.0 / (f64){0}"), back.binding, (Binding.ATOM,))


def _narrowed(form: Form, dtype: str) -> Form:
    """C computes in int: the result is cut to its own width."""
    return Form(f"({C_TYPES[dtype]})({form.text})", Binding.UNARY, form.operands)
