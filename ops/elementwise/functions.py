"""NumPy's other spellings of the elementwise ops, and the functions that are compositions of a few of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ...record.spelling import counted
from ..core.checks import describe, normalize_axis, unpacked
from ..core.namespace import T
from ..core.operands import several
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.typing import DTypeLike, TensorLike
from ..shapes.conditions import between
from ..shapes.specify import with_length
from . import records as e

if TYPE_CHECKING:
    from ..core.signatures import Binary, Fold, Unary

__all__ = [
    "absolute", "acos", "acosh", "allclose", "and_", "around", "asin", "asinh", "astype", "atan", "atan2", "atanh",
    "bitwise_invert", "bitwise_left_shift", "bitwise_right_shift", "choose", "conjugate", "copy", "degrees", "div",
    "divide", "divmod", "equal", "expit", "fabs", "fix", "float_power", "floor_divide", "fmax", "fmin", "greater",
    "greater_equal", "heaviside", "i0", "inv", "invert", "isclose", "iscomplex", "isin", "isneginf", "isposinf",
    "isreal", "less", "less_equal", "lgamma", "logaddexp2", "modf", "multiply", "ndim", "negative", "not_equal", "or_",
    "packbits", "piecewise", "positive", "power", "psi", "radians", "relu", "remainder", "round", "select", "sgn",
    "sinc", "sqr", "subtract", "true_divide", "unpackbits", "where", "xor",
]  # fmt: skip

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

    As in NumPy, x is scaled by 10**decimals, rounded and scaled back, so the last digit may be off by rounding.  Raises
    TypeError for decimals that are no integer.
    """
    x, decimals = as_tensor(x), operator.index(unpacked(decimals))
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
        if as_tensor(condition).dtype != "bool":
            raise TypeError(f"select: a condition must be of bools, got {describe(as_tensor(condition))}")
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
    angle = e.mul(e.switch(e.eq(x, 0), e.cast(1e-20 if x.dtype != "float16" else 1e-7, x.dtype), x), math.pi)
    return e.true_div(e.sin(angle), angle)


def i0(x: TensorLike) -> TensorVariable:
    """The modified Bessel function of the first kind and order 0: `T.special.i0` of real numbers."""
    x = _as_float(x)
    if x.type.kind == "c":
        raise TypeError(f"i0 takes real numbers, got {describe(x)}")
    made: TensorVariable = T.special.i0(x)
    return made


# --- parts of numbers, choices


def modf(x: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """(fraction, whole): the two parts of `x`, both with its sign; the fraction of an infinity is 0."""
    (x, _) = _as_float_loop("modf", e.copysign, x, x)
    whole = e.trunc(x)
    return e.copysign(e.switch(e.isinf(x), e.cast(0, x.dtype), e.sub(x, whole)), x), whole


def isreal(x: TensorLike) -> TensorVariable:
    """True where the imaginary part of `x` is 0."""
    return e.eq(e.imag(as_tensor(x)), 0)


def iscomplex(x: TensorLike) -> TensorVariable:
    """True where the imaginary part of `x` is not 0."""
    return e.ne(e.imag(as_tensor(x)), 0)


def choose(a: TensorLike, choices: Sequence[TensorLike], *, mode: str | None = "raise") -> TensorVariable:
    """The elements of `choices[i]` where `a`, broadcast against all choices, is i.

    `mode`, for integers that name no choice: "raise" lets a run raise ValueError, "wrap" takes the remainder, "clip"
    the first or last choice.
    """
    a = as_tensor(a)
    if a.type.kind not in "iub":
        raise TypeError(f"choose: a has integers, got {describe(a)}")
    mode = mode or "raise"
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f'choose: mode is "raise", "wrap" or "clip", got {mode!r}')
    several_choices = [as_tensor(c) for c in several("choose", choices)]
    if not several_choices:
        raise ValueError("choose: at least one choice is needed")
    a, *laid_out = T.broadcast_arrays(e.cast(a, "int64"), *several_choices)
    count = len(laid_out)
    known = {
        "raise": lambda: between(a, 0, count - 1, "choose: an integer of a"), "wrap": lambda: e.mod(a, count),
        "clip": lambda: e.clip(a, 0, count - 1),
    }[mode]()  # fmt: skip
    return T.take_along_axis(T.stack(laid_out), T.expand_dims(known, 0), 0)[0]  # type: ignore[no-any-return]


def piecewise(
    x: TensorLike, condlist: Any, funclist: Sequence[Any], *arguments: Any, **keywords: Any
) -> TensorVariable:
    """The last of `funclist` whose condition holds, applied to `x`; 0 where none does, in x's dtype.

    `condlist`: a condition or a list of them, of the shape of x or its first axes.  `funclist`: for each a number, or
    a function, called with x and the further arguments; one more than there are conditions is for elements of which
    none holds.  All are computed.
    """
    x = as_tensor(x)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    functions = list(several("piecewise", funclist))
    if len(functions) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"piecewise: {counted(len(functions), 'function')} for {len(conditions)} conditions")
    values = [
        e.cast(f(x, *arguments, **keywords), x.dtype) if callable(f)
        else constant(f, x.dtype) if isinstance(f, int) else e.cast(f, x.dtype)
        for f in functions
    ]  # fmt: skip
    result: Any = values.pop() if len(values) > len(conditions) else T.zeros_like(x)
    for condition, value in zip(conditions, values, strict=True):
        result = e.switch(_condition(condition, x), value, result)
    return T.fill(x, result)


def _condition(condition: TensorLike, x: TensorVariable) -> TensorVariable:
    """A condition of `piecewise`, whose axes are the first ones of `x`, as NumPy's masks; a scalar is for all."""
    mask = as_tensor(condition)
    if mask.ndim > x.ndim:
        raise ValueError(f"piecewise: a condition has at most the axes of {describe(x)}, got {describe(mask)}")
    for axis, length in zip(range(mask.ndim), T.lengths_of(x), strict=False):
        mask = with_length(mask, axis, length, "piecewise: a condition")
    return T.expand_dims(mask, tuple(range(mask.ndim, x.ndim))) if 0 < mask.ndim < x.ndim else mask


def copy(a: TensorLike) -> TensorVariable:
    """`a` as another variable of the same value."""
    return e.identity(a)


def ndim(a: TensorLike) -> int:
    """The number of axes of `a`, known when the graph is built."""
    return as_tensor(a).ndim


# --- bits


def unpackbits(
    a: TensorLike, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> TensorVariable:
    """The bits of the uint8 numbers `a` along `axis` (of the flattened a for None), as uint8.

    `count`: how many bits to keep; a negative one drops bits from the end.  `bitorder`: "big" puts the highest bit of a
    number first, "little" the lowest.
    """
    x, place = _bits("unpackbits", as_tensor(a), axis, bitorder, "uint8")
    bits = e.bitwise_and(e.right_shift(T.expand_dims(x, place + 1), _shifts(bitorder, x.ndim - place - 1)), _byte(1))
    lengths = T.lengths_of(x)
    found: Any = T.reshape(bits, (*lengths[:place], lengths[place] * 8, *lengths[place + 1 :]))
    length = found.type.shape[place]
    if count is not None and count > (length or 0):  # zeros behind the last bit
        further = [max(count, 0) if k == place else n for k, n in enumerate(T.lengths_of(found))]
        found = T.concatenate([found, T.zeros(further, "uint8")], place)
    return found[(*(slice(None),) * place, slice(count))]  # type: ignore[no-any-return]


def packbits(a: TensorLike, axis: int | None = None, bitorder: str = "big") -> TensorVariable:
    """Eight bools, or integers that are 0 or not, along `axis` (of the flattened a for None) as one uint8 each.

    The last ones are filled up with zeros; see `unpackbits`.
    """
    x, place = _bits("packbits", as_tensor(a), axis, bitorder, "")
    lengths: Any = T.lengths_of(x)
    count = (lengths[place] + 7) // 8
    missing = [count * 8 - n if k == place else n for k, n in enumerate(lengths)]
    whole = T.concatenate([e.cast(e.ne(x, 0), "uint8"), T.zeros(missing, "uint8")], axis=place)
    bits = T.reshape(whole, (*lengths[:place], count, 8, *lengths[place + 1 :]))
    return T.sum(e.left_shift(bits, _shifts(bitorder, x.ndim - place - 1)), axis=place + 1, dtype="uint8")


def _bits(what: str, x: Any, axis: int | None, bitorder: str, dtype: str) -> tuple[Any, int]:
    """The tensor whose bits are packed or unpacked, and its axis."""
    if bitorder not in ("big", "little"):
        raise ValueError(f'{what}: bitorder is "big" or "little", got {bitorder!r}')
    if x.dtype != dtype if dtype else x.type.kind not in "biu":
        raise TypeError(f"{what} takes {dtype or 'bools or integers'}, got {describe(x)}")
    return (T.ravel(x), 0) if axis is None else (x, normalize_axis(axis, x.ndim, f"{what} of {describe(x)}"))


def _shifts(bitorder: str, behind: int) -> TensorVariable:
    """How far each of eight bits is shifted, with `behind` axes of length 1 behind them."""
    shifts = np.arange(8, dtype="uint8")
    return as_tensor((shifts[::-1] if bitorder == "big" else shifts).reshape(8, *(1,) * behind))


def _byte(number: int) -> TensorVariable:
    return as_tensor(np.uint8(number))
