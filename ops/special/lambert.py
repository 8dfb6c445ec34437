"""Lambert's W of complex numbers, every branch: a first guess, then a fixed number of Halley's steps.

Source: Corless, Gonnet, Hare, Jeffrey and Knuth, "On the Lambert W function" (1996); SciPy's `lambertw` takes the same
guesses.
"""

from __future__ import annotations

import math
from typing import Any

from ..core.namespace import T

STEPS, DERIVED = 7, 2
"""Halley's steps, each of which triples the digits, and how many of them a derivative follows."""
BRANCH = math.exp(-1)
BRANCH_LOW = -1.2428753672788363e-17
"""1 / e in two parts: W has its branch point at -1 / e."""


def lambertw_of_complex(z: Any, k: int) -> Any:
    """Return W_k(z) for complex z: the branch k of the inverse of w exp(w)."""
    w = T.stop_gradient(_guess(z, k))
    for step in range(STEPS):
        w = _halley(z, w)
        w = T.stop_gradient(w) if step < STEPS - DERIVED else w
    branch = 2j * math.pi * k
    w = T.where(T.isinf(T.real(z)) | T.isinf(T.imag(z)), z + branch, w)
    w = T.where(T.eq(T.real(z), -math.inf), -z + (branch + 1j * math.pi), w)
    w = T.where(T.eq(z, 0), z if k == 0 else -math.inf, w)
    return T.where(T.isnan(z), math.nan, w)


def _guess(z: Any, k: int) -> Any:
    """Return a number near W_k(z)."""
    far = T.log(z) + 2j * math.pi * k
    far = far - T.log(far)
    if k not in (0, 1, -1):
        return far
    real, imaginary = T.real(z), T.imag(z)
    offset = (z - -BRANCH) - -BRANCH_LOW  # keeps the sign of an imaginary zero
    root = math.sqrt(2 * math.e) * T.sqrt(offset)
    near = T.abs(offset) < 0.3
    if k == 0:
        ratio = z * (60 + z * (114 + 17 * z)) / (60 + z * (174 + 101 * z))
        inside = (real > -1) & (real < 1.5) & (T.abs(imaginary) < 1) & (-2.5 * T.abs(imaginary) - 0.2 < real)
        return T.where(near, _series(root), T.where(inside, ratio, far))
    below = T.signbit(imaginary)
    if k == -1:
        real_valued = (real < 0) & T.eq(imaginary, 0) & (real >= -BRANCH)
        size = T.log(T.where(real_valued, -real, 0.5 * BRANCH))
        far = T.where(real_valued, T.cast(size - T.log(-size), z.dtype), far)
    return T.where(near & (below if k == 1 else ~below), _series(-root), far)


def _series(p: Any) -> Any:
    """Return the first terms of the series about the branch point, where p = sqrt(2 (e z + 1))."""
    return -1 + p * (1 + p * (-1 / 3 + p * (11 / 72)))


def _halley(z: Any, w: Any) -> Any:
    """Return w after a step of Halley's for w exp(w) = z; the exponential does not overflow."""
    right = T.real(w) >= 0
    e = T.exp(T.where(right, -w, w))
    rest = T.where(right, w - z * e, w * e - z)
    slope = T.where(right, w + 1, (w + 1) * e)
    step = slope - (w + 2) * rest / (2 * w + 2)
    done = T.eq(step, 0) | T.eq(w, -1)
    return T.where(done, w, w - rest / T.where(done, 1, step))
