"""The table `scalar operation, dtypes -> C`, derived from the records of elementwise ops.

A record gives one form for each kind of dtype: b bool, i signed, u unsigned, f float32 and float64, c complex.  In a
form, `{T}` is the C type of the operands and `{f}` the suffix of library names.  Results are NumPy's: bit for bit for
integers and bools, a few ulp for functions of the C library.  Operations without a form are rewritten by lowering
(nest.py) in terms of those that have one: float16 is computed in float32 and rounded after each op, as in NumPy;
logical ops take bools; `clip` is a minimum of a maximum.
"""

from __future__ import annotations

from functools import cache
from itertools import chain

from ...graph.types import numpy_dtype
from ...ops.elementwise.c_forms import BOTH, EITHER, Binding, Form, call, template
from ...ops.elementwise.records import ELEMENTWISE, by_symbol, user_op
from ..ir.loops import ScalarOp
from ..ir.operands import CALLBACK
from .casts import cast_form
from .helper import C_TYPES, suffix
from .user_forms import user_form

_ROWS: dict[str, dict[str, Form]] = {
    # operations that lowering and loop_forms.py alone make: conditions of branches, choices without branches, segments,
    # parts of arrays (functions/tile.h), sums of blocks (functions/reduce.h)
    "complex": {"f": call("ag_make_{C}", 2)},
    "both": {"b": BOTH},
    "either": {"b": EITHER},
    "chosen": {"iuf": call("ag_chosen_{T}", 3)},
    "half": {"f": call("ag_half_{T}")},
    **{f"half_{name}": {"e": call(f"ag_{name}_f16", 2)} for name in ("add", "sub", "mul", "true_div")},
    "max_number": {"f": call("ag_max_number_{T}", 2)},
    "min_number": {"f": call("ag_min_number_{T}", 2)},
    **{f"{name}_lanes": {"iu": call(f"ag_{name}_lanes_{{T}}", 2)} for name in ("floor_div", "mod")},
    **{f"{name}_near": {"f": call(f"ag_{name}_near_{{T}}")} for name in ("sin", "cos", "tan")},
    "segment_length": {"i": Form("({0} + {1}) / {2} * {3}", Binding.PRODUCT, (Binding.SUM, *(Binding.ATOM,) * 3))},
    "is_transposed": {"i": call("ag_is_transposed", 2)},
    "tile_rows": {"i": call("ag_tile_rows", 2)},
    "run_in": {"biufce": call("ag_run_in_{T}", 5)},
    "widened_in": {"b": call("ag_widened_in_{C}", 5)},
    "run_back": {"biufce": call("ag_run_back_{T}", 5)},
    "tile_in": {"biufce": call("ag_tile_in_{T}", 7)},
    "packed_in": {"biufce": call("ag_packed_in_{T}", 7)},
    "packed_out": {"biufce": call("ag_packed_out_{T}", 6)},
    "tile_out": {"biufce": call("ag_tile_out_{T}", 4)},
    "tile_back": {"biufce": call("ag_tile_back_{T}", 7)},
    "is_called": {"k": Form("{0}() != 0", Binding.EQUALITY)},
    **{f"{name}_of_{n}": {"f": call(f"ag_{name}_of_{n}_{{T}}")} for name in ("sum", "product") for n in (2, 4, 8, 16)},
    "pairwise_start": {"p": Form("ag_pairwise_start(&{0})")},
    "pairwise_add": {"p": Form("ag_pairwise_add(&{0}, {1})")},
    "pairwise_total": {"p": Form("ag_pairwise_total(&{0})")},
}

_FORMS: dict[tuple[str, str], Form] = {
    (name, kind): form
    for name, row in chain(_ROWS.items(), ((op.name, op.c or {}) for op in ELEMENTWISE.values()))
    for kinds, form in row.items()
    for kind in kinds
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
_KINDS = {"float16": "e", "pairwise": "p", CALLBACK: "k"}
_NARROW = ("int8", "int16", "uint8", "uint16")


def kind_of(dtype: str) -> str:
    """Return the key of a dtype in the table of C forms: NumPy's kind, or a letter for a dtype that NumPy lacks."""
    return _KINDS.get(dtype) or numpy_dtype(dtype).kind


def form_of(op: ScalarOp) -> Form:
    """Return the C of an operation, with gaps for its operands.  Raises KeyError for an operation without a row."""
    return _form(op.name, op.dtype, tuple(a.dtype for a in op.args))


@cache
def _form(name: str, result: str, dtypes: tuple[str, ...]) -> Form:
    if name in ("cast", "cut"):
        return cast_form(dtypes[0], result, "cut" if name == "cut" else "from")
    own = user_op(name)
    if own is not None:
        return user_form(own, result, dtypes)
    dtype = dtypes[1] if name in ("switch", "chosen") else dtypes[0]
    kinds = "".join(map(kind_of, dtypes))
    if name in _SIGNED_FIRST and kinds in ("iu", "ui"):
        return _mixed(name, kinds)
    if name == "reciprocal" and kinds in "iu":
        return _integer_reciprocal(dtype)
    form = _form_of_kind(name, kind_of(dtype)).filled(T=C_TYPES.get(dtype, dtype), f=suffix(dtype), C=C_TYPES[result])
    return _narrowed(form, result) if result in _NARROW and form.binding > Binding.UNARY else form


def _form_of_kind(name: str, kind: str) -> Form:
    """Return the form of the table, or of a special function.  Raises KeyError if there is none."""
    found = _FORMS.get((name, kind))
    if found is None and kind == "f":
        op = by_symbol(name)
        found = op.c.get(kind) if op is not None and op.c else None
    if found is None:
        raise KeyError((name, kind))
    return found


def _mixed(name: str, kinds: str) -> Form:
    if kinds == "iu":
        return template(*_SIGNED_FIRST[name])
    text, binding = _SIGNED_FIRST[_MIRRORED[name]]
    return template(text.replace("{0}", "{a}").replace("{1}", "{0}").replace("{a}", "{1}"), binding)


def _integer_reciprocal(dtype: str) -> Form:
    """Return the reciprocal as NumPy computes it: 1.0 divided by the integer, converted back."""
    back = cast_form("float64", dtype)
    return Form(back.text.replace("{0}", "1.0 / (f64){0}"), back.binding, (Binding.ATOM,))


def _narrowed(form: Form, dtype: str) -> Form:
    """Return the C with its result truncated to the operands' width: C computes in int."""
    return Form(f"({C_TYPES[dtype]})({form.text})", Binding.UNARY, form.operands)
