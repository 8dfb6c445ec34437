"""Quotients and remainders: integers by zero, rounding towards zero and down, float16."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant
from ....ops.shapes.conditions import Check
from ..dtypes import as_dtype, promoted
from ..table import Call, converter
from .elementwise import elementwise, number


@converter("aten.div", "aten.true_divide")
def div(call: Call, a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    kind = "INT_TO_FLOAT" if rounding_mode is None else "DEFAULT"
    (a, b), _, _ = promoted(kind, (a, b), call.metas[:2])
    if rounding_mode is None:
        return as_dtype(T.true_div(a, b), call.dtype)
    if a.type.kind in "iub":
        b = _no_zero(a, b)
    if rounding_mode == "floor":
        return _floor_of_half(a, b) if call.dtype == "float16" else as_dtype(T.floor_div(a, b), call.dtype)
    if call.dtype == "float16":  # PyTorch rounds the quotient before it drops the fraction
        return T.trunc(as_dtype(T.true_div(a, b), "float16"))
    return as_dtype(_towards_zero(a, b), call.dtype)


def _floor_of_half(a: Any, b: Any) -> Any:
    """Return the floor of a quotient of float16: PyTorch rounds each step of `div_floor_floating` to float16."""
    a, b = as_dtype(a, "float16"), as_dtype(b, "float16")
    rest, plain = T.fmod(a, b), T.true_div(a, b)
    quotient = T.true_div(a - rest, b)
    lower = T.logical_and(T.ne(rest, number(0, a)), T.ne(T.lt(b, number(0, b)), T.lt(rest, number(0, a))))
    quotient = T.where(lower, quotient - number(1, a), quotient)
    whole = T.floor(quotient)
    whole = T.where(T.gt(quotient - whole, number(0.5, a)), whole + number(1, a), whole)
    whole = T.where(T.eq(quotient, number(0, a)), T.copysign(number(0, a), plain), whole)
    return T.where(T.eq(b, number(0, b)), plain, whole)


def _no_zero(a: Any, b: Any) -> Any:
    """Return divisors of integers; the call raises ZeroDivisionError if it divides by a zero."""
    if isinstance(b, Constant) and np.all(b.data):
        return b
    divided = T.ne(b, number(0, b))
    if None in a.type.shape or 0 in a.type.shape:  # without elements nothing is divided
        divided = T.logical_or(divided, T.ne(a, a))
    return Check("integer division by zero", "ZeroDivisionError")(b, T.all(divided))


def _towards_zero(a: Any, b: Any) -> Any:
    """Return the quotient without its fraction."""
    if a.type.kind == "f":
        return T.trunc(T.true_div(a, b))
    quotient = T.floor_div(a, b)
    if a.type.kind != "i":
        return quotient
    inexact = T.ne(T.mul(quotient, b), a)
    return T.where(T.logical_and(inexact, T.lt(quotient, number(0, a))), quotient + number(1, a), quotient)


@converter("aten.floor_divide")
def floor_divide(call: Call, a: Any, b: Any) -> Any:
    return div(call, a, b, "floor")


@elementwise("remainder")
def remainder(a: Any, b: Any) -> Any:
    return T.mod(a, _no_zero(a, b) if a.type.kind in "iub" else b)


@elementwise("fmod")
def fmod(a: Any, b: Any) -> Any:
    return T.fmod(a, _no_zero(a, b) if a.type.kind in "iub" else b)
