"""Recipes of reductions: accumulators, the update by an element, and the final result.

    recipe(name, dtype) -> Recipe

A reduction of elements of `dtype` has one accumulator or two: a complex sum has one for each part, a floating maximum
has one for the numbers and one for whether there was a NaN, so that both vectorize.  float16 accumulates in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...graph.types import numpy_dtype
from ...record import record
from ..ir.loops import Const, Expr, ScalarOp

_PART = {"complex64": "float32", "complex128": "float64"}


@record
class Lane:
    """One accumulator.  `sign` is its operator in `reduction(sign:...)`; None: elements must be folded in order.

    `blocked`: rounding errors matter, so that blocks of elements are added up separately and their sums then combined.
    """

    dtype: str
    start: Const
    step: Callable[[Expr, Expr], Expr]
    sign: str | None
    blocked: bool = False


@record
class Recipe:
    """A reduction: its accumulators, their update by an element, and the result from their final values."""

    lanes: tuple[Lane, ...]
    feed: Callable[[Expr], tuple[Expr, ...]]
    result: Callable[[tuple[Expr, ...]], Expr]


def recipe(name: str, dtype: str) -> Recipe:
    """The recipe of a reduction (sum, prod, max, min, top, any, all) with a result, and elements, of `dtype`."""
    kind = numpy_dtype(dtype).kind
    if name in ("any", "all") or (kind == "b" and name in ("max", "min")):
        return _logical(dtype, any_true=name in ("any", "max"))
    if kind == "c" and name == "sum":
        return _complex_sum(dtype)
    if kind == "c":
        return _in_order(name, dtype)
    if name == "top":
        return Recipe((_numbers("max", dtype),), lambda v: (v,), lambda totals: totals[0])
    if name in ("max", "min"):
        return _extremum(name, dtype)
    wide = _wide(dtype)
    start, op, sign = (0, "add", "+") if name == "sum" else (1, "mul", "*")
    lane = Lane(wide, Const(wide, start), _by(op), sign, blocked=kind == "f" and name == "sum")
    return Recipe((lane,), lambda v: (cast(v, wide),), lambda totals: cast(totals[0], dtype))


def cast(value: Expr, dtype: str) -> Expr:
    return value if value.dtype == dtype else ScalarOp("cast", dtype, (value,))


def choose(better: str, dtype: str) -> Callable[[Expr, Expr], Expr]:
    """Return the function (a, b) -> b where `b better a`, else a."""
    return lambda a, b: ScalarOp("switch", dtype, (ScalarOp(better, "bool", (b, a)), b, a))


def identity_element(name: str, dtype: str) -> Const:
    """The identity element of max or min."""
    kind = numpy_dtype(dtype).kind
    if kind == "f":
        return Const(dtype, -math.inf if name == "max" else math.inf)
    limits = np.iinfo(dtype)
    return Const(dtype, int(limits.min if name == "max" else limits.max))


def _wide(dtype: str) -> str:
    return "float32" if dtype == "float16" else dtype


def _by(op: str) -> Callable[[Expr, Expr], Expr]:
    """Return the operation in the dtype of its operands: a total may be wider than the lane."""
    return lambda a, b: ScalarOp(op, a.dtype, (a, b))


def _logical(dtype: str, any_true: bool) -> Recipe:
    op, sign = ("bitwise_or", "|") if any_true else ("bitwise_and", "&")
    lane = Lane("bool", Const("bool", not any_true), _by(op), sign)
    return Recipe((lane,), lambda v: (cast(v, "bool"),), lambda totals: cast(totals[0], dtype))


def _numbers(name: str, dtype: str) -> Lane:
    """Return the comparison of numbers, for which a NaN is never better."""
    return Lane(dtype, identity_element(name, dtype), choose("gt" if name == "max" else "lt", dtype), name)


def _extremum(name: str, dtype: str) -> Recipe:
    wide = _wide(dtype)
    numbers = _numbers(name, wide)
    if numpy_dtype(dtype).kind != "f":
        return Recipe((numbers,), lambda v: (v,), lambda totals: totals[0])
    flag = "int64" if wide == "float64" else "int32"  # as wide as the numbers, so that both fill vectors alike
    nans = Lane(flag, Const(flag, 0), _by("bitwise_or"), "|")

    def feed(v: Expr) -> tuple[Expr, ...]:
        v = cast(v, wide)
        return v, cast(ScalarOp("isnan", "bool", (v,)), flag)

    def result(totals: tuple[Expr, ...]) -> Expr:
        is_nan = ScalarOp("ne", "bool", (totals[1], Const(flag, 0)))
        return cast(ScalarOp("switch", wide, (is_nan, Const(wide, math.nan), totals[0])), dtype)

    return Recipe((numbers, nans), feed, result)


def _complex_sum(dtype: str) -> Recipe:
    part = _PART[dtype]
    lane = Lane(part, Const(part, 0), _by("add"), "+", blocked=True)
    return Recipe(
        (lane, lane),
        lambda v: (ScalarOp("real", part, (v,)), ScalarOp("imag", part, (v,))),
        lambda totals: ScalarOp("complex", dtype, tuple(cast(t, part) for t in totals)),
    )


def _in_order(name: str, dtype: str) -> Recipe:
    """Return the recipe of products and extrema of complex numbers: one accumulator, elements in order."""
    if name == "prod":
        lane = Lane(dtype, Const(dtype, 1), _by("mul"), None)
    else:
        # No number is before the first: NaN would win, so the accumulator starts with an infinity of the other end.
        end = -math.inf if name == "max" else math.inf
        lane = Lane(dtype, Const(dtype, complex(end, end)), _by("maximum" if name == "max" else "minimum"), None)
    return Recipe((lane,), lambda v: (v,), lambda totals: totals[0])
