"""Quotients and remainders: integers by zero, rounding towards zero and down, float16."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .... import ops as T
from ....graph import Constant
from ....ops.shapes.conditions import Check
from ..dtypes import HALVES, as_dtype, in_dtype, promoted
from ..table import Call, converter
from .elementwise import elementwise, number


@converter("aten.div", "aten.true_divide")
def div(call: Call, a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    kind = "INT_TO_FLOAT" if rounding_mode is None else "DEFAULT"
    (a, b), _, _ = promoted(kind, (a, b), call.metas[:2], wide_scalars=True)
    if rounding_mode is None:
        return as_dtype(T.true_div(a, b), call.dtype)
    if a.type.kind in "iub":
        b = _no_zero(a, b)
    by_tensor = isinstance(call.meta(1), torch.Tensor) and call.meta(1).ndim
    half = call.value.dtype if call.value.dtype in HALVES and by_tensor else None  # by a number: in float32
    if rounding_mode == "floor":
        whole = _floor_of_half(a, b, half) if half is not None else T.floor_div(a, b)
        return as_dtype(whole, call.dtype)
    if half is not None:  # PyTorch rounds the quotient before it drops the fraction
        return T.trunc(as_dtype(in_dtype(T.true_div(a, b), half), call.dtype))
    return as_dtype(_towards_zero(a, b), call.dtype)


def _floor_of_half(a: Any, b: Any, dtype: torch.dtype) -> Any:
    """Return the floor of a quotient of 16 bits: PyTorch rounds each step of `div_floor_floating`."""
    a, b = in_dtype(a, dtype), in_dtype(b, dtype)
    rest, plain = in_dtype(T.fmod(a, b), dtype), in_dtype(T.true_div(a, b), dtype)
    quotient = in_dtype(T.true_div(in_dtype(a - rest, dtype), b), dtype)
    lower = T.logical_and(T.ne(rest, number(0, a)), T.ne(T.lt(b, number(0, b)), T.lt(rest, number(0, a))))
    quotient = T.where(lower, in_dtype(quotient - number(1, a), dtype), quotient)
    whole = T.floor(quotient)
    upper = T.gt(in_dtype(quotient - whole, dtype), number(0.5, a))
    whole = T.where(upper, in_dtype(whole + number(1, a), dtype), whole)
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


converter("aten.floor_divide")(lambda call, a, b: div(call, a, b, "floor"))
elementwise("remainder")(lambda a, b: T.mod(a, _no_zero(a, b) if a.type.kind in "iub" else b))
elementwise("fmod")(lambda a, b: T.fmod(a, _no_zero(a, b) if a.type.kind in "iub" else b))
