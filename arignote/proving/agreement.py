"""Agreement of two results as far as a contract demands."""

from __future__ import annotations

import numpy as np

from ..optdb import Contract

SPARE_TERMS = 16
"""Products of a sum whose operands are rounded, as large as the largest operands."""
LARGEST_SUM = 4096
"""How many terms the sums of the tests have at most."""
SPARE_ULPS = 4
"""Tolerance of two evaluations where a contract asks for the nearer one: both may be a few ulp off."""


def ordinals(x: np.ndarray) -> np.ndarray:
    """Integers such that neighbouring floats are neighbouring integers; +0 and -0 are the same."""
    bits = x.view(f"i{x.dtype.itemsize}").astype(object)
    lowest = -(1 << (8 * x.dtype.itemsize - 1))
    return np.asarray(np.where(bits < 0, lowest - bits, bits))


def ulps_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The distance of two arrays of floats in units in the last place."""
    return np.asarray(np.abs(ordinals(np.ascontiguousarray(a)) - ordinals(np.ascontiguousarray(b))))


def parts(x: np.ndarray) -> list[np.ndarray]:
    """The real numbers that an array is made of."""
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


def disagreements(
    contract: Contract, before: np.ndarray, after: np.ndarray, scale: float = 0.0, finite: bool = False
) -> np.ndarray:
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


def _real_disagreements(contract: Contract, a: np.ndarray, b: np.ndarray, scale: float, finite: bool) -> np.ndarray:
    if a.dtype.kind != "f":
        return np.asarray(a != b)
    relaxed = contract.relaxed
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if "signed zero" not in relaxed and not contract.nearer:
        same &= np.isnan(a) | (a != 0) | (np.signbit(a) == np.signbit(b))
    both = np.isfinite(a) & np.isfinite(b)
    if contract.ulps:
        close = ulps_between(a, b) <= contract.ulps
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
    return np.asarray(~same)
