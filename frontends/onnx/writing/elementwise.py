"""Elementwise ops and casts as ONNX, with NumPy's meaning for bools, small integers, and division."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .... import ops as T
from ....graph import Apply, Constant
from ....ops.elementwise.records import Cast, Elementwise
from ..reading.values import NUMBER_OF
from ..same_ops import written_names
from .writer import CannotWrite, Writer, Writing, means, writes

OF_BOOLS = {
    "add": "logical_or", "mul": "logical_and", "maximum": "logical_or", "minimum": "logical_and",
    "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor",
    "bitwise_not": "logical_not", "abs": "identity",
    **{name: name for name in ("eq", "identity", "logical_and", "logical_not", "logical_or", "logical_xor")},
}  # fmt: skip
"""The ops that they are where all operands are bool."""
OF_FLOATS_ONLY = {"floor", "ceil", "trunc", "rint"}
"""Ops that leave integers as they are."""
WIDE = dict.fromkeys(("bool", "int8", "int16", "uint8", "uint16"), "int32")
"""The dtype in which small integers are computed; the cast back wraps around as NumPy does."""


@writes(Elementwise)
def elementwise(w: Writer, node: Apply) -> str:
    name = "identity" if node.op.name == "stop_gradient" else node.op.name
    taken, result = node.op.loop(tuple(i.dtype for i in node.inputs))  # type: ignore[attr-defined]
    bools = set(taken) == {"bool"}
    if name.startswith("logical_"):
        taken, bools = ("bool",) * len(taken), True
    kind = written_names().get(OF_BOOLS.get(name, name) if bools else name)
    values = _cast(w, node, taken)
    if name in OF_FLOATS_ONLY and taken[0][0] in "iub":
        return w.op("Identity", values[0])
    whole = name == "reciprocal" and taken[0][0] in "iu"
    if whole or kind is None:
        raise CannotWrite(f"{name} of {', '.join(taken)}")
    if name == "switch":
        return w.where(values[0], values[1], values[2], result)
    work = taken[0] if bools and name in OF_BOOLS else WIDE.get(taken[0], taken[0])
    values = [w.cast(v, taken[0], work) for v in values]
    found = _folded(w, kind, values)
    return w.cast(found, result if result == "bool" else work, result)


def _cast(w: Writer, node: Apply, taken: tuple[str, ...]) -> list[str]:
    """The operands cast to NumPy's computation dtypes."""
    return [w.cast(w.value(i), i.dtype, d) for i, d in zip(node.inputs, taken, strict=True)]


def _folded(w: Writer, kind: str, values: list[str]) -> str:
    if len(values) == 1:
        return w.op(kind, values[0])
    found = values[0]
    for value in values[1:]:
        found = w.op(kind, found, value)
    return found


@writes(Cast)
def cast(w: Writer, node: Apply) -> str:
    return w.op("Cast", w.value(node.inputs[0]), to=NUMBER_OF[node.op.dtype])  # type: ignore[attr-defined]


# --- division and bits of integers


@writes("floor_div", "mod", "fmod")
def divided(w: Writer, node: Apply) -> str:
    """Floor division: floats by the remainder, integers without division by 0 or -1, which can crash."""
    taken, result = node.op.loop(tuple(i.dtype for i in node.inputs))  # type: ignore[attr-defined]
    work = WIDE.get(taken[0], taken[0])
    a, b = (w.cast(v, taken[0], work) for v in _cast(w, node, taken))
    if work.startswith("float"):
        return _of_floats(w, node.op.name, a, b, work)
    return w.cast(_of_integers(w, node.op.name, a, b, work), work, result)


def _of_floats(w: Writer, name: str, a: str, b: str, dtype: str) -> str:
    zero = w.const(0, dtype)
    remainder = w.op("Mod", a, b, fmod=1)
    if name == "fmod":
        return remainder
    signs = w.op("Xor", w.op("Less", remainder, zero), w.op("Less", b, zero))
    exact = w.op("Equal", remainder, zero)
    differs = w.op("And", w.op("Not", exact), signs)
    if name == "mod":
        moved = w.where(differs, w.op("Add", remainder, b), remainder, dtype)
        return w.where(exact, w.op("Mul", zero, w.op("Sign", b)), moved, dtype)
    whole = w.op("Round", w.op("Div", w.op("Sub", a, remainder), b))
    whole = w.where(differs, w.op("Sub", whole, w.const(1, dtype)), whole, dtype)
    return w.where(w.op("Equal", b, zero), w.op("Div", a, b), whole, dtype)


def _of_integers(w: Writer, name: str, a: str, b: str, dtype: str) -> str:
    zero, one, signed = w.const(0, dtype), w.const(1, dtype), not dtype.startswith("u")
    none = w.op("Equal", b, zero)
    minus = w.op("Equal", b, w.const(-1, dtype)) if signed else none
    safe = w.where(w.op("Or", none, minus), one, b, dtype)
    quotient = w.op("Div", a, safe)
    remainder = w.op("Sub", a, w.op("Mul", quotient, safe))
    if name == "fmod":
        return remainder
    if signed:
        signs = w.op("Xor", w.op("Less", remainder, zero), w.op("Less", safe, zero))
        below = w.op("And", w.op("Not", w.op("Equal", remainder, zero)), signs)
        remainder = w.where(below, w.op("Add", remainder, safe), remainder, dtype)
        quotient = w.op("Sub", quotient, w.op("Cast", below, to=NUMBER_OF[dtype]))
        quotient = w.where(minus, w.op("Sub", zero, a), quotient, dtype)
    return remainder if name == "mod" else w.where(none, zero, quotient, dtype)


@writes("left_shift", "right_shift")
def shifted(w: Writer, node: Apply) -> str:
    """Unsigned bit shifts; a right shift of a negative number is the complement of the shifted complement."""
    taken, result = node.op.loop(tuple(i.dtype for i in node.inputs))  # type: ignore[attr-defined]
    work = "uint64" if result.endswith("64") else "uint32"
    right, signed = node.op.name == "right_shift", not result.startswith("u")
    a, b = _cast(w, node, taken)
    wide = WIDE.get(result, result)
    a = w.cast(a, result, wide)
    negative = w.op("Less", a, w.const(0, wide)) if signed and right else ""
    if negative:
        a = w.where(negative, w.op("Sub", w.const(-1, wide), a), a, wide)
    counts = w.cast(w.cast(b, result, wide), wide, work)
    few = w.op("Less", counts, w.const(int(work[4:]), work))
    counts = w.where(few, counts, w.const(0, work), work)
    moved = w.op("BitShift", w.cast(a, wide, work), counts, direction="RIGHT" if right else "LEFT")
    moved = w.cast(w.where(few, moved, w.const(0, work), work), work, wide)
    if negative:
        moved = w.where(negative, w.op("Sub", w.const(-1, wide), moved), moved, wide)
    return w.cast(moved, wide, result)


# --- ops by other ops

LN2, LN10 = math.log(2), math.log(10)


def _wide(op: Any, operands: tuple[Any, ...]) -> list[Any]:
    """The operands cast to NumPy's computation dtypes."""
    taken, _ = op.loop(tuple(i.dtype for i in operands))
    return [T.cast(i, d) for i, d in zip(operands, taken, strict=True)]


def _by(*names: str) -> Callable[[Writing], Writing]:
    """Register the meaning of an elementwise op as a function of its operands, cast as NumPy casts them."""

    def register(function: Writing) -> Writing:
        means(*names)(lambda op, *operands: function(*_wide(op, operands)))
        return function

    return register


_by("square")(lambda x: x * x)
_by("exp2")(lambda x: T.pow(T.constant(2, x.dtype), x))
_by("log2")(lambda x: T.log(x) / LN2)
_by("log10")(lambda x: T.log(x) / LN10)
_by("expm1")(lambda x: T.switch(T.gt(T.abs(x), 1), T.exp(x) - 1, T.tanh(x / 2) * (T.exp(x) + 1)))
_by("cbrt")(lambda x: T.sign(x) * T.pow(T.abs(x), 1 / 3))
_by("deg2rad")(lambda x: x * (math.pi / 180))
_by("rad2deg")(lambda x: x * (180 / math.pi))
_by("log1mexp")(lambda x: T.switch(T.gt(x, -LN2), T.log(-T.expm1(x)), T.log1p(-T.exp(x))))
_by("ne")(lambda a, b: T.logical_not(T.eq(a, b)))
_by("isfinite")(lambda x: T.logical_not(T.logical_or(T.isnan(x), T.isinf(x))))
_by("trunc")(lambda x: x if x.type.kind != "f" else T.switch(T.lt(x, 0), T.ceil(x), T.floor(x)))
_by("clip")(lambda x, low, high: T.minimum(T.maximum(x, low), high))
_by("real")(lambda x: x)
_by("conj")(lambda x: x)


@_by("log1p")
def log1p(x: Any) -> Any:
    """log(1 + x) x / ((1 + x) - 1), in which the rounding of 1 + x cancels.

    Source: W. Kahan, in the HP-15C Advanced Functions Handbook, 1982.
    """
    u = 1 + x
    exact = T.logical_or(T.eq(u, 1), T.isinf(u))
    return T.switch(exact, T.switch(T.isinf(u), T.log(u), x), T.log(u) * (x / T.switch(exact, 1, u - 1)))


@_by("hypot")
def hypot(a: Any, b: Any) -> Any:
    most, least = T.maximum(T.abs(a), T.abs(b)), T.minimum(T.abs(a), T.abs(b))
    endless = T.logical_or(T.isinf(a), T.isinf(b))
    ratio = least / T.switch(T.eq(most, 0), 1, most)
    size = T.switch(T.eq(most, 0), most, most * T.sqrt(1 + ratio * ratio))
    return T.switch(endless, T.constant(math.inf, size.dtype), size)


FACTORS = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
)  # fmt: skip
"""Coefficients of `erfc`, the lowest power first."""


@means("erfc")
def erfc(op: Any, x: Any) -> Any:
    """1 - erf(x) up to a half; beyond it a polynomial with a relative error below 1.2e-7.

    Source: W. H. Press et al., Numerical Recipes in C, 2nd edition, section 6.2.
    """
    if op.loop((x.dtype,))[1] == "float64":
        raise CannotWrite("erfc of float64")
    t = 1 / (1 + 0.5 * T.abs(x))
    total = T.constant(FACTORS[-1], x.dtype)
    for factor in reversed(FACTORS[:-1]):
        total = total * t + factor
    return T.switch(T.lt(x, 0.5), 1 - T.erf(x), t * T.exp(total - x * x))


@_by("signbit")
def signbit(x: Any) -> Any:
    if x.type.kind != "f":
        return T.lt(x, 0)
    return T.logical_or(T.lt(x, 0), T.logical_and(T.eq(x, 0), T.lt(T.reciprocal(x), 0)))


@_by("copysign")
def copysign(x: Any, y: Any) -> Any:
    """A product, since the choice of ONNX Runtime loses the sign of zero."""
    return T.abs(x) * T.switch(T.signbit(y), T.constant(-1, x.dtype), T.constant(1, x.dtype))


@_by("arctan2")
def arctan2(y: Any, x: Any) -> Any:
    high, low = T.maximum(T.abs(x), T.abs(y)), T.minimum(T.abs(x), T.abs(y))
    one, zero = T.constant(1, x.dtype), T.constant(0, x.dtype)
    ratio = T.switch(T.eq(high, low), T.switch(T.eq(high, 0), zero, one), low / T.switch(T.eq(high, 0), one, high))
    angle = T.arctan(ratio)
    angle = T.switch(T.gt(T.abs(y), T.abs(x)), math.pi / 2 - angle, angle)
    return T.copysign(T.switch(T.signbit(x), math.pi - angle, angle), y)


@means("eq", "lt", "le", "gt", "ge")
def compared(op: Any, a: Any, b: Any) -> Any:
    """int64 beside uint64: a negative number is less, all others are compared as uint64."""
    taken, _ = op.loop((a.dtype, b.dtype))
    if taken[0] == taken[1]:
        return None
    signed = a if taken[0][0] == "i" else b
    negative = T.lt(signed, 0)
    plain = op(T.cast(a, "uint64"), T.cast(b, "uint64"))
    holds = op.name in (("lt", "le") if signed is a else ("gt", "ge"))
    return T.logical_or(negative, plain) if holds else T.logical_and(T.logical_not(negative), plain)


@means("isnan", "isinf")
def never(op: Any, x: Any) -> Any:
    """False: integers are never NaN or infinite."""
    return None if x.type.kind == "f" else T.zeros_like(x, dtype="bool")


@means("neg")
def negative(op: Any, x: Any) -> Any:
    return T.sub(T.constant(0, x.dtype), x) if x.type.kind == "u" else None


@means("pow")
def power(op: Any, x: Any, exponent: Any) -> Any:
    """Integers to a small known power as a product: runtimes raise them in floats, which lack digits."""
    joint = op.loop((x.dtype, exponent.dtype))[1]
    if joint.startswith("float"):
        return None
    if not isinstance(exponent, Constant) or exponent.data.ndim or not 0 <= int(exponent.data) <= 64:
        raise CannotWrite(f"pow of {joint} with an exponent that is computed")
    wide, count = T.cast(x, joint), int(exponent.data)
    return T.ones_like(wide) if not count else wide if count == 1 else T.mul(*[wide] * count)


@means("fill")
def fill(op: Any, like: Any, value: Any) -> Any:
    if not value.ndim:
        return T.broadcast_to(value, T.shape(like))
    return T.switch(T.constant(True), value, T.zeros_like(like, dtype=value.dtype))


_by("logaddexp")(lambda a, b: T.switch(T.eq(a, b), a + LN2, T.maximum(a, b) + T.log1p(T.exp(-T.abs(a - b)))))
means("normal_tails")(lambda op, x: erfc(op, x * T.constant(math.sqrt(0.5), x.dtype)))
