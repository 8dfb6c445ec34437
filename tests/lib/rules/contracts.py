"""Whether two results agree as far as a contract demands; where one may be better the truth decides (truths.py)."""

import math

import numpy as np
from truths import true_value

from arignote.graph import Constant
from arignote.ops.elementwise.records import fill

SPARE_TERMS = 16
"""Products of a sum whose operands are rounded, as large as the largest operands."""
LARGEST_SUM = 4096
"""How many terms the sums of the tests have at most."""
SPARE_ULPS = 4
"""Tolerance of two evaluations where a contract asks for the nearer one: both may be a few ulp off."""


def ordinals(x):
    """Integers such that neighbouring floats are neighbouring integers; +0 and -0 are the same."""
    bits = x.view(f"i{x.dtype.itemsize}").astype(object)
    lowest = -(1 << (8 * x.dtype.itemsize - 1))
    return np.where(bits < 0, lowest - bits, bits)


def ulps_apart(a, b):
    """The distance of two arrays of floats in units in the last place."""
    return np.abs(ordinals(np.ascontiguousarray(a)) - ordinals(np.ascontiguousarray(b)))


def parts(x):
    """The real numbers that an array is made of."""
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


def disagreements(contract, before, after, scale=0.0, finite=False):
    """Where `after` is not what the contract allows for `before`, as a mask; truths are not asked for here.

    `scale`: the size of the operands, which the rounding of a sum goes by; `finite`: whether they all are.
    """
    wrong = np.zeros(before.shape, dtype=bool)
    if before.dtype.kind == "c" and "rounding" in contract.relaxed:
        # A complex number is infinite if a part is; the order of a sum decides what the other part becomes.
        before, after = (np.where(np.isfinite(before) | np.isfinite(after), v, 0) for v in (before, after))
    for a, b in zip(parts(before), parts(after), strict=True):
        wrong |= _real_disagreements(contract, np.atleast_1d(a), np.atleast_1d(b), scale, finite).reshape(before.shape)
    if before.dtype.kind == "c":
        # NumPy multiplies with fused operations or without, as the layout of its operands has it.
        with np.errstate(all="ignore"):
            wrong &= ~(np.abs(before - after) <= SPARE_ULPS / 2 * np.finfo(before.dtype).eps * np.abs(before))
    return wrong


def _real_disagreements(contract, a, b, scale, finite):
    if a.dtype.kind != "f":
        return a != b
    relaxed = contract.relaxed
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if "signed zero" not in relaxed and not contract.nearer:
        same &= np.isnan(a) | (a != 0) | (np.signbit(a) == np.signbit(b))
    both = np.isfinite(a) & np.isfinite(b)
    if contract.ulps:
        close = ulps_apart(a, b) <= contract.ulps
        zeros = (a == 0) & (b == 0)  # a zero of the other sign is another special value
        same |= ~np.isnan(a) & ~np.isnan(b) & close & ~zeros
    if "rounding" in relaxed:
        eps = float(np.finfo(a.dtype).eps)
        scale = max([scale, *(float(v) for v in np.abs(a[both]))])
        if scale > float(np.finfo(a.dtype).max) / LARGEST_SUM:  # partial sums may overflow in one order
            same |= ~both
        with np.errstate(all="ignore"):
            same |= both & (np.abs(a.astype("f8") - b.astype("f8")) <= 64 * eps * max(scale, 1.0))
    if contract.within:
        with np.errstate(all="ignore"):
            same |= both & (np.abs(a - b) <= contract.within)
    if contract.bits:  # each of two operands is off by half a unit, in each product of a sum
        with np.errstate(all="ignore"):
            same |= both & (np.abs(a - b) <= SPARE_TERMS * 2.0**-contract.bits * max(scale, 1.0) ** 2)
    if "nan" in relaxed:
        same |= np.isnan(a) | np.isnan(b)
    if "inf" in relaxed:
        same |= np.isinf(a) | np.isinf(b)
    if "overflow" in relaxed:
        same |= ~np.isfinite(a) | ~np.isfinite(b)
    if "domain" in relaxed and not finite:
        same |= np.isnan(b)
    if "underflow" in relaxed:
        tiny = np.finfo(a.dtype).smallest_normal
        same |= (np.abs(a) < tiny) | (np.abs(b) < tiny)
    return ~same


def farther_from_truth(output, at, before, after):
    """Whether `after` is farther than `before` from the true value of `output` for the values `at` of the leaves.

    A NaN that comes from a NaN remains.  The truth at infinities is that of the extended reals, in which nothing
    overflows; a number becomes NaN there only if no limit exists.
    """
    values = [float(at[i]) for i in leaves_of_value(output, at)]
    infinite = any(math.isinf(v) for v in values)
    if any(math.isnan(v) for v in values):
        return math.isnan(after) != math.isnan(before) or not (math.isnan(after) or _close(output, after, before))
    truth = true_value(output, at)
    if infinite and (truth is None or math.isnan(after)):  # a number stays one, unless the limit is no real number
        return not math.isnan(before) and true_value(output, _near_infinity(at, values)) is not None
    if truth is None:  # not a real number
        return not math.isnan(after)
    if math.isnan(after):
        return True
    kind = np.dtype(output.dtype).type
    with np.errstate(all="ignore"):
        nearest = kind(as_float(truth))
    if _close(output, after, nearest) or math.isnan(before):
        return False
    if math.isinf(before):
        return infinite and before == nearest
    return abs(truth - float(after)) > abs(truth - float(before)) * (1 + 1e-9) + spacing(nearest)


def _near_infinity(at, values):
    """The values of the leaves with large numbers in the place of infinities."""
    far = 10 * max([1e3, *(abs(v) for v in values if math.isfinite(v))])
    return {i: math.copysign(min(abs(float(v)), far), float(v)) for i, v in at.items()}


def _close(output, a, b):
    """Whether two numbers of the dtype of `output` differ by no more than rounding."""
    kind = np.dtype(output.dtype).type
    with np.errstate(all="ignore"):
        return abs(int(ulps_apart(np.atleast_1d(kind(a)), np.atleast_1d(kind(b)))[0])) <= SPARE_ULPS


def leaves_of_value(output, at):
    """The variables of `at` that the value depends on; of what `fill` takes a shape from it does not."""
    met, stack = [], [output]
    while stack:
        v = stack.pop()
        if v.owner is not None and v not in at:
            stack.extend(v.owner.inputs[1:] if v.owner.op is fill else v.owner.inputs)
        elif not isinstance(v, Constant) and v not in met:
            met.append(v)
    return met


def as_float(truth):
    try:
        return float(truth)
    except OverflowError:
        return math.inf if truth > 0 else -math.inf


def spacing(x):
    """The distance to the next float; that at the largest one for infinities."""
    with np.errstate(over="ignore"):
        return float(np.spacing(min(np.abs(x), np.finfo(x.dtype).max)))
