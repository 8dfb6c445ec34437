"""Conversions between dtypes in C, equal to NumPy's `astype` on x86-64 bit for bit.

functions/integer.h says how floats that an integer type cannot hold are converted.
"""

from __future__ import annotations

from ...graph.types import numpy_dtype
from ...ops.elementwise.c_forms import ITSELF, Binding, Form, call, template
from .helper import C_TYPES

_PART = {"complex64": "float32", "complex128": "float64"}


def cast_form(source: str, target: str, way: str = "from") -> Form:
    """Return the C that casts from dtype `source` to dtype `target`; a complex number becomes its real part.

    `way`: "cut" where a float becomes an integer of which no float is made in the same loop.
    """
    if source == target:
        return ITSELF
    if target == "bool":
        return _to_bool(source)
    if source == "float16":
        return _after(call("ag_widened_f16"), "float32", target)
    if target == "float16":
        if source in ("float32", "float64"):
            return call("ag_narrowed_f32" if source == "float32" else "ag_f16_from_f64")
        return _after(cast_form(source, "float32"), "float32", "float16")
    if target in _PART:
        return _to_complex(source, target)
    if source in _PART:
        return _after(template("__real__ {0}", Binding.UNARY), _PART[source], target)
    if source in ("float32", "float64") and numpy_dtype(target).kind in "iu":
        return _to_integer(source, target, way)
    if source == "bool" and target in ("float32", "float64"):
        # gcc does not vectorize a cast from bool to a float
        return template(f"({C_TYPES[target]})(i32){{0}}", Binding.UNARY)
    return _plain(target)


def _after(first: Form, middle: str, target: str) -> Form:
    """Return the cast `first`, which gives a `middle`, followed by the cast to `target`."""
    then = cast_form(middle, target)
    inner = f"({first.text})" if first.binding > then.operands[0] else first.text
    return Form(then.text.replace("{0}", inner), then.binding, first.operands)


def _plain(target: str) -> Form:
    return template(f"({C_TYPES[target]}){{0}}", Binding.UNARY)


def _to_bool(source: str) -> Form:
    if source == "float16":
        return template("({0} & 0x7fff) != 0", Binding.EQUALITY)
    return Form("{0} != 0", Binding.EQUALITY, (Binding.SUM,))


def _to_complex(source: str, target: str) -> Form:
    if source in _PART:
        return _plain(target)
    part = cast_form(source, _PART[target])
    return Form(f"ag_make_{C_TYPES[target]}({part.text}, 0)", Binding.ATOM, part.operands)


def _to_integer(source: str, target: str, way: str) -> Form:
    """Return the cast to an integer by way of the integer type that x86-64 converts to."""
    through = {"int64": "i64", "uint32": "i64", "uint64": "u64"}.get(target, "i32")
    converted = call(f"ag_{through}_{'from' if through == 'u64' else way}_{C_TYPES[source]}")
    if through == C_TYPES[target]:
        return converted
    return Form(f"({C_TYPES[target]}){converted.text}", Binding.UNARY, converted.operands)
