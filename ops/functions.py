"""NumPy's other spellings of the elementwise ops, and the functions that are compositions of a few of them."""

from __future__ import annotations

from typing import Any

from . import elementwise as e
from .tensor import as_tensor

# NumPy's names, then Theano's, for ops that have a shorter one here
subtract, multiply, negative, power = e.sub, e.mul, e.neg, e.pow
divide = true_divide = div = e.true_div
floor_divide, remainder = e.floor_div, e.mod
absolute = fabs = e.abs
equal, not_equal, less, less_equal, greater, greater_equal = e.eq, e.ne, e.lt, e.le, e.gt, e.ge
invert = bitwise_invert = e.bitwise_not
bitwise_left_shift, bitwise_right_shift = e.left_shift, e.right_shift
asin, acos, atan, atan2, asinh, acosh, atanh = e.arcsin, e.arccos, e.arctan, e.arctan2, e.arcsinh, e.arccosh, e.arctanh
radians, degrees = e.deg2rad, e.rad2deg
conjugate = e.conj
where = e.switch
and_, or_, xor = e.bitwise_and, e.bitwise_or, e.bitwise_xor
sqr, inv, sgn = e.square, e.reciprocal, e.sign
lgamma, psi, expit = e.gammaln, e.digamma, e.sigmoid


def astype(x: Any, dtype: Any) -> Any:
    """`x` as `dtype`; see `cast`."""
    return e.cast(x, dtype)


def positive(x: Any) -> Any:
    """`x` itself."""
    return as_tensor(x)


def divmod(a: Any, b: Any) -> tuple[Any, Any]:
    """(a // b, a % b)."""
    return e.floor_div(a, b), e.mod(a, b)


def relu(x: Any) -> Any:
    """max(x, 0), NaN where x is; the derivative at 0 is a half."""
    return e.maximum(x, 0)


def round(x: Any, decimals: int = 0) -> Any:
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
