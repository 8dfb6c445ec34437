"""The parameters of draws: their lengths and dtypes, and the conditions on them that NumPy's generator has.

A condition on constants is checked when a draw is built, any other when the function runs (conditions.py).  The check
stands on a parameter, so it does not keep the draw from fusing with what reads it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Constant, Variable, dtype_name
from ...record.spelling import counted
from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import TensorLike
from ..shapes.conditions import between, checked
from ..shapes.lengths import as_lengths, known_length, lengths_of

_FLOATS = ("float32", "float64")
Size = Any
"""None, an integer, an integer scalar, a sequence of them, or `x.shape`."""


def draw_lengths(size: Size, parameters: Sequence[Variable]) -> tuple[Variable, ...]:
    """The lengths of a draw: `size`, or the broadcast lengths of the parameters."""
    if size is not None:
        return as_lengths(size, "the size of a draw", role="")
    joint: Any = parameters[0] if parameters else constant(0.0)
    for p in parameters[1:]:
        joint = T.fill(p, joint) if p.ndim else joint
    return lengths_of(joint)


def product(lengths: Sequence[Variable]) -> Any:
    total: Any = constant(1, "int64")
    for n in lengths:
        total = n if getattr(total, "data", None) == 1 else T.mul(total, n)
    return total


def sized(size: Size, parameters: Sequence[TensorVariable]) -> tuple[tuple[Variable, ...], Sequence[TensorVariable]]:
    """The lengths of a draw, and the parameters, which broadcast to `size` if it is given."""
    lengths = draw_lengths(size, parameters)
    if size is None:
        return lengths, parameters
    for p in parameters:
        if p.ndim > len(lengths):
            raise ValueError(f"a draw of size {shown(size)}: a parameter has more axes, got {describe(p)}")
    return lengths, [T.broadcast_to(p, lengths) if p.ndim else p for p in parameters]


def real_parameters(values: Sequence[Any], dtype: Any) -> list[TensorVariable]:
    """The parameters of a distribution in the dtype of its draws."""
    name = dtype_name(dtype)
    if name not in _FLOATS:
        raise TypeError(f"random numbers are float32 or float64, got {name}; cast them")
    found = [as_tensor(v) for v in values]
    for v in found:
        if v.type.kind == "c":
            raise TypeError(f"the parameters of a distribution must be real, got {describe(v)}")
    return [constant(v.data, name) if isinstance(v, Constant) else with_dtype(v, name) for v in found]


def located(what: str, loc: Any, scale: Any, size: Size, dtype: Any) -> tuple[Any, Any, Any]:
    """The lengths of a draw, its location and its scale, which must not be negative."""
    loc, scale = real_parameters((loc, scale), dtype)
    lengths, (loc, scale) = sized(size, (loc, not_negative(f"{what}: scale", scale)))
    return lengths, loc, scale


def not_negative(what: str, x: TensorVariable) -> TensorVariable:
    """`x` with the check that no element is below 0 or -0; NaN passes, as in NumPy."""
    ok = T.ge(x, 0) if x.type.kind != "f" else T.or_(T.isnan(x), T.logical_not(T.signbit(x)))
    return checked(x, ok, f"{what} must not be negative", of=x)


def probability(what: str, p: TensorLike) -> TensorVariable:
    """`p` as a variable, which must be from 0 to 1.  Raises TypeError unless it is real."""
    found = as_tensor(p)
    if found.type.kind == "c":
        raise TypeError(f"{what}: p must be a real number, got {describe(found)}")
    return between(found, 0, 1, f"{what}: p")


def ordered(low: TensorVariable, high: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    """The bounds of `uniform`, of which the second must not be below the first."""
    span: Any = high - low
    fixed = isinstance(low, Constant)
    x = checked(high if fixed else low, T.isfinite(span), "uniform: high - low must be finite", error=OverflowError)
    x = checked(x, T.logical_not(T.signbit(span)), "uniform: high - low must not be negative", of=span)
    return (low, x) if fixed else (x, high)


def integer_bounds(low: TensorLike, high: TensorLike, dtype: str) -> tuple[TensorVariable, TensorVariable]:
    """The bounds of `integers` as uint64, where arithmetic wraps: numbers of the dtype, the second above the first."""
    least, most = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    first, last = _within("low", low, least, most, dtype), _within("high", high, least + 1, most + 1, dtype)
    wide = "int64" if least < 0 else "uint64"
    ok = T.cast(first, wide) <= T.cast(last - np.uint64(1), wide)
    text = "integers: high must be above low"
    if isinstance(first, Constant):
        return first, checked(last, ok, text)
    return checked(first, ok, text), last


def _within(name: str, value: TensorLike, least: int, most: int, dtype: str) -> TensorVariable:
    """A bound of `integers`, which must be from `least` to `most`, as uint64."""
    text = f"integers: {name} must be from {least} to {most} for {dtype}"
    if not isinstance(value, Variable):
        given = np.asarray(value)
        given = given if given.size and given.dtype.kind in "iuO" else integer(value, "integers").data  # type: ignore[attr-defined]
        for number in given.astype(object).flat:
            if not isinstance(number, int):
                raise TypeError(f"integers: expected integers, got {shown(value)}")
            if not least <= number <= most:
                raise ValueError(f"{text}, got {number}")
        return constant(np.asarray(given.astype(object) % 2**64, np.uint64))
    x = as_tensor(value)
    integer(x, "integers")
    own = np.iinfo(x.dtype)
    for compare, bound, beyond in ((T.ge, least, own.min < least), (T.le, most, own.max > most)):
        if beyond:
            x = checked(x, compare(x, constant(bound, x.dtype)), text, of=x)
    return T.cast(x, "uint64")


def shares(p: TensorVariable, count: Any, taken: Any) -> TensorVariable:
    """The weights of `choice` as float64, checked; `taken`: how many must be above 0, or None.

    The sum may differ from 1 by as much as in NumPy.
    """
    if p.ndim != 1 or p.type.kind not in "iufb":
        raise TypeError(f"choice: p must be a vector of real numbers, as long as a, got {describe(p)}")
    n, expected = p.type.shape[0], known_length(count)
    if n is not None and expected is not None and n != expected:
        raise ValueError(f"choice: p has {counted(n, 'element')}, expected {expected}, one for each of a")
    near = math.sqrt(np.finfo(p.dtype if p.type.kind == "f" else "float64").eps)
    length: Any = lengths_of(p)[0]
    p = checked(p, T.eq(length, count), "choice: p has {0} elements, expected {1}, one for each of a", length, count)
    p = checked(T.cast(p, "float64"), T.ge(p, 0), "choice: p must have no element that is negative or NaN")
    total = T.sum(p)
    p = checked(p, T.le(T.abs(total - 1), near), "choice: the elements of p must add up to 1, got {0}", total)
    if taken is None:
        return p
    some = T.sum(T.gt(p, 0))
    return checked(p, some >= taken, "choice: p has {0} elements above 0, fewer than the {1} to take", some, taken)


def integer(value: Any, what: str) -> TensorVariable:
    x = as_tensor(value)
    if x.type.kind not in "iu":
        raise TypeError(f"{what}: expected integers, got {describe(x)}")
    return T.cast(x, "int64")
