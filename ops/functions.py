"""NumPy's other spellings of the elementwise ops, and the functions that are compositions of a few of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from .. import ops as T  # the namespace; read when a function is called
from . import elementwise as e
from .checks import describe
from .operands import several
from .tensor import TensorVariable, as_tensor
from .typing import DTypeLike, TensorLike

if TYPE_CHECKING:
    from .signatures import Binary, Fold, Unary

# NumPy's names, then Theano's, for ops that have a shorter one here
subtract: Binary = e.sub
multiply: Fold = e.mul
negative: Unary = e.neg
power: Binary = e.pow
divide: Binary = e.true_div
true_divide: Binary = e.true_div
div: Binary = e.true_div
floor_divide: Binary = e.floor_div
remainder: Binary = e.mod
absolute: Unary = e.abs
equal: Binary = e.eq
not_equal: Binary = e.ne
less: Binary = e.lt
less_equal: Binary = e.le
greater: Binary = e.gt
greater_equal: Binary = e.ge
invert: Unary = e.bitwise_not
bitwise_invert: Unary = e.bitwise_not
bitwise_left_shift: Binary = e.left_shift
bitwise_right_shift: Binary = e.right_shift
asin: Unary = e.arcsin
acos: Unary = e.arccos
atan: Unary = e.arctan
atan2: Binary = e.arctan2
asinh: Unary = e.arcsinh
acosh: Unary = e.arccosh
atanh: Unary = e.arctanh
radians: Unary = e.deg2rad
degrees: Unary = e.rad2deg
conjugate: Unary = e.conj
and_: Fold = e.bitwise_and
or_: Fold = e.bitwise_or
xor: Fold = e.bitwise_xor
sqr: Unary = e.square
inv: Unary = e.reciprocal
sgn: Unary = e.sign
lgamma: Unary = e.gammaln
psi: Unary = e.digamma
expit: Unary = e.sigmoid


def astype(x: TensorLike, dtype: DTypeLike) -> TensorVariable:
    """`x` as `dtype`; see `cast`."""
    return e.cast(x, dtype)


@overload
def where(condition: TensorLike) -> tuple[TensorVariable, ...]: ...
@overload
def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> TensorVariable: ...
def where(condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None) -> Any:
    """`x` where `condition` is not zero, else `y`; without both of them, the positions `nonzero(condition)`."""
    if x is None and y is None:
        return T.nonzero(condition)
    if x is None or y is None:
        missing, given = ("x", "y") if x is None else ("y", "x")
        raise TypeError(f"where: {given} is given without {missing}; give both, as in T.where(c, x, y), or neither")
    return e.switch(condition, x, y)


def positive(x: TensorLike) -> TensorVariable:
    """`x` itself.  Raises TypeError for bools, as NumPy does."""
    x = as_tensor(x)
    if x.dtype == "bool":
        raise TypeError(f"positive does not take {describe(x)}: expected a number")
    return x


def divmod(a: TensorLike, b: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """(a // b, a % b)."""
    return e.floor_div(a, b), e.mod(a, b)


def fabs(x: TensorLike) -> TensorVariable:
    """|x| as a float, for integers and bools too.  Raises TypeError for complex numbers."""
    return e.abs(_as_float_loop("fabs", e.copysign, x, x)[0])


def relu(x: TensorLike) -> TensorVariable:
    """max(x, 0), NaN where x is; the derivative at 0 is a half."""
    return e.maximum(x, 0)


def round(x: TensorLike, decimals: int = 0) -> TensorVariable:
    """`x` rounded to `decimals` places, halves to the even neighbour; integers stay integers.

    As in NumPy, x is scaled by 10**decimals, rounded and scaled back, so the last digit may be off by rounding.
    """
    x = as_tensor(x)
    if x.type.kind in "iu":
        return x if decimals >= 0 else e.cast(e.mul(e.rint(e.true_div(x, 10**-decimals)), 10**-decimals), x.dtype)
    if decimals == 0:
        return e.rint(x)
    scale = float(10 ** abs(decimals))
    return e.true_div(e.rint(e.mul(x, scale)), scale) if decimals > 0 else e.mul(e.rint(e.true_div(x, scale)), scale)


around = round
fix = e.trunc


# --- numbers that are close, infinite, among others


def isclose(
    a: TensorLike, b: TensorLike, rtol: TensorLike = 1e-5, atol: TensorLike = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    """Whether |a - b| <= atol + rtol * |b|, or both are the same infinity, or NaN with `equal_nan`."""
    a, b = as_tensor(a), as_tensor(b)
    wide = b if b.type.kind in "fc" else e.cast(b, "float64")
    near = e.logical_and(e.le(e.abs(e.sub(a, wide)), e.add(atol, e.mul(rtol, e.abs(wide)))), e.isfinite(wide))
    close = e.logical_or(near, e.eq(a, b))
    return e.logical_or(close, e.logical_and(e.isnan(a), e.isnan(b))) if equal_nan else close


def allclose(
    a: TensorLike, b: TensorLike, rtol: TensorLike = 1e-5, atol: TensorLike = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    """Whether all elements are close, a bool scalar; see `isclose`."""
    return T.all(isclose(a, b, rtol, atol, equal_nan))


def isposinf(x: TensorLike) -> TensorVariable:
    """True where `x` is inf."""
    return e.logical_and(e.isinf(x), e.gt(_as_real("isposinf", x), 0))


def isneginf(x: TensorLike) -> TensorVariable:
    """True where `x` is -inf."""
    return e.logical_and(e.isinf(x), e.lt(_as_real("isneginf", x), 0))


def _as_real(what: str, x: TensorLike) -> TensorVariable:
    """Return `x` as a variable.  Raises TypeError for complex numbers, whose infinities have no sign."""
    x = as_tensor(x)
    if x.type.kind == "c":
        raise TypeError(f"{what} takes real numbers, got {describe(x)}")
    return x


def isin(element: TensorLike, test_elements: TensorLike, *, invert: bool = False) -> TensorVariable:
    """True where `element` equals one of `test_elements` (none, with `invert`): all pairs are compared."""
    found = T.any(e.eq(T.expand_dims(as_tensor(element), -1), T.ravel(as_tensor(test_elements))), -1)
    return e.logical_not(found) if invert else found


def select(condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0) -> TensorVariable:
    """The elements of the first of `choicelist` whose condition holds, `default` where none does."""
    condlist, choicelist = several("select", condlist), several("select", choicelist)
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(f"select: {len(condlist)} conditions for {len(choicelist)} choices")
    result: Any = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = e.switch(condition, choice, result)
    return result  # type: ignore[no-any-return]


# --- further elementwise functions


def fmax(a: TensorLike, b: TensorLike) -> TensorVariable:
    """The larger of two; the other one where one is NaN."""
    return _without_nan(e.maximum, a, b)


def fmin(a: TensorLike, b: TensorLike) -> TensorVariable:
    """The smaller of two; the other one where one is NaN."""
    return _without_nan(e.minimum, a, b)


def _without_nan(better: e.Elementwise, a: Any, b: Any) -> TensorVariable:
    found = better(a, b)
    if found.type.kind not in "fc":
        return found
    return e.switch(e.isnan(a), b, e.switch(e.isnan(b), a, found))


def float_power(x: TensorLike, y: TensorLike) -> TensorVariable:
    """x ** y, computed in float64, or complex128 for complex numbers."""
    x, y = as_tensor(x), as_tensor(y)
    dtype = "complex128" if "c" in (x.type.kind, y.type.kind) else "float64"
    return e.pow(e.cast(x, dtype), e.cast(y, dtype))


def heaviside(x: TensorLike, middle: TensorLike) -> TensorVariable:
    """0 where `x` is negative, 1 where it is positive, `middle` where it is 0; NaN stays."""
    dtype = e.copysign(x, middle).dtype
    x, middle = e.cast(x, dtype), e.cast(middle, dtype)
    return e.switch(e.isnan(x), x, e.switch(e.eq(x, 0), middle, e.cast(e.gt(x, 0), dtype)))


def _as_float(x: Any) -> TensorVariable:
    x = as_tensor(x)
    return x if x.type.kind in "fc" else e.cast(x, "float64")


def logaddexp2(a: TensorLike, b: TensorLike) -> TensorVariable:
    """log2(2**a + 2**b), without overflow."""
    a, b = _as_float_loop("logaddexp2", e.logaddexp, a, b)
    wide = "float32" if a.dtype == "float16" else a.dtype  # rounded once, at the end
    scaled = [e.mul(e.cast(x, wide), math.log(2)) for x in (a, b)]
    return e.cast(e.true_div(e.logaddexp(*scaled), math.log(2)), a.dtype)


def _as_float_loop(what: str, op: e.Elementwise, *values: Any) -> list[TensorVariable]:
    """Return the operands in the dtypes to which `op`, which computes in floats, converts them."""
    operands = e.operands(op, values)
    if any(x.type.kind == "c" for x in operands):
        raise TypeError(f"{what} takes real numbers, got {', '.join(dict.fromkeys(map(describe, operands)))}")
    dtypes, _ = op.loop(tuple(x.dtype for x in operands))
    return [e.cast(x, dtype) for x, dtype in zip(operands, dtypes, strict=True)]


def sinc(x: TensorLike) -> TensorVariable:
    """sin(pi x) / (pi x), 1 at 0."""
    x = _as_float(x)
    turned = e.mul(e.switch(e.eq(x, 0), e.cast(1e-20 if x.dtype != "float16" else 1e-7, x.dtype), x), math.pi)
    return e.true_div(e.sin(turned), turned)
