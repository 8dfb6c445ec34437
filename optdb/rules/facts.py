"""Facts about a variable that rules check: its kind of dtype, the value of a constant, the kind of its op."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...graph import Apply, Constant, Op, Variable
from ...graph.types import numpy_dtype
from ..rule import is_of

# --- kinds of dtype


def is_float(v: Variable) -> bool:
    """Whether values are real floating-point numbers."""
    return v.type.kind == "f"


def is_real(v: Variable) -> bool:
    """Whether values are ordered numbers: integers or floats."""
    return v.type.kind in "iuf"


def is_integer(v: Variable) -> bool:
    """Whether arithmetic is exact modulo a power of two."""
    return v.type.kind in "iu"


def is_signed(v: Variable) -> bool:
    """Whether the dtype has negative values, so that each but the least integer has its opposite."""
    return v.type.kind in "if"


def is_unsigned(v: Variable) -> bool:
    return v.type.kind in "ub"


def is_bool(v: Variable) -> bool:
    return v.type.kind == "b"


def is_discrete(v: Variable) -> bool:
    """Whether there is no NaN: booleans and integers."""
    return v.type.kind in "biu"


def not_complex(v: Variable) -> bool:
    return v.type.kind != "c"


def same_dtype(*variables: Variable) -> bool:
    """Whether all have one dtype, so that no operand is converted."""
    return len({v.dtype for v in variables}) <= 1


@cache
def preserves(source: str, target: str) -> bool:
    """Whether a cast from dtype `source` to `target` keeps every value (NumPy's "safe" calls int64 -> float64 safe)."""
    a, b = numpy_dtype(source), numpy_dtype(target)
    if a.kind in "iu" and b.kind in "fc":
        return np.iinfo(a).bits - (a.kind == "i") <= _mantissa_bits(b)
    return np.can_cast(a, b, "safe")


def _mantissa_bits(dtype: np.dtype[Any]) -> int:
    return int(np.finfo(dtype).nmant) + 1


# --- constants


def number_of(v: Variable) -> Any:
    """The number that each element of a constant is, as a NumPy scalar; None if there is no such number."""
    if not isinstance(v, Constant) or v.data.size == 0:
        return None
    first = v.data.flat[0]
    if v.data.size > 1 and v.data.tobytes() != first.tobytes() * v.data.size:
        return None
    return first


def is_number(v: Variable, value: complex) -> bool:
    """Whether `v` is a constant all of whose elements equal `value`; a zero may have either sign."""
    number = number_of(v)
    return number is not None and bool(number == value)


def is_constant(v: Variable) -> bool:
    return isinstance(v, Constant)


def is_scalar_constant(v: Variable) -> bool:
    """Whether `v` is a constant of rank 0 or with lengths of 1 only."""
    return isinstance(v, Constant) and v.data.size == 1


def constant_int(v: Variable) -> int | None:
    """The value of an integer constant of one element, else None."""
    return int(v.data.flat[0]) if isinstance(v, Constant) and v.data.size == 1 and v.type.kind in "iu" else None


# --- nodes

Node = Any
"""An apply node whose op is known to have the fields that are read."""
Value = Any
"""A variable made by calls of ops, whose declared type is wider."""


def producer(v: Variable, *ops: Op | type[Op]) -> Node | None:
    """The node that computes `v`, if its op is one of `ops` or of a class among them."""
    return v.owner if v.owner is not None and any(is_of(v.owner.op, op) for op in ops) else None


def made_by(v: Variable, *ops: Op | type[Op]) -> bool:
    """Whether `v` is computed by one of `ops`, or by an op of a class among them."""
    return producer(v, *ops) is not None


# --- conditions of rules: wild cards have the dtype of the result, so nothing is converted on the way


def uniform_x(node: Apply, x: Variable) -> bool:
    """Whether x has the dtype of the result."""
    return x.dtype == node.out.dtype


def uniform_xy(node: Apply, x: Variable, y: Variable) -> bool:
    """Whether x and y have the dtype of the result."""
    return x.dtype == y.dtype == node.out.dtype


def uniform_xyz(node: Apply, x: Variable, y: Variable, z: Variable) -> bool:
    """Whether x, y and z have the dtype of the result."""
    return x.dtype == y.dtype == z.dtype == node.out.dtype
