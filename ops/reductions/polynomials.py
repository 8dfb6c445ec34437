"""Polynomials given by vectors of coefficients, that of the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ops as T  # the namespace; read when a function is called
from ..core.checks import describe, shown
from ..core.operands import in_joint_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import lengths_of


def polyadd(a1: TensorLike, a2: TensorLike) -> TensorVariable:
    """The coefficients of the sum of two polynomials."""
    return T.add(*_of_one_length("polyadd", a1, a2))


def polysub(a1: TensorLike, a2: TensorLike) -> TensorVariable:
    """The coefficients of the difference of two polynomials."""
    return T.sub(*_of_one_length("polysub", a1, a2))


def _of_one_length(what: str, *polynomials: TensorLike) -> list[TensorVariable]:
    """The coefficients with zeros in front of the shorter vector."""
    vectors = [_coefficients(what, p) for p in polynomials]
    counts: list[Any] = [lengths_of(p)[0] for p in vectors]
    most = T.maximum(*counts)
    return [T.concatenate([T.zeros((most - n,), p.dtype), p]) for n, p in zip(counts, vectors, strict=True)]


def polyder(p: TensorLike, m: int = 1) -> TensorVariable:
    """The coefficients of the derivative of order `m`."""
    found = _coefficients("polyder", p)
    for _ in range(_order("polyder", m)):
        found = found[:-1] * T.arange(T.sub(lengths_of(found)[0], 1), 0, -1)
    return found


def polyint(p: TensorLike, m: int = 1, k: TensorLike | None = None) -> TensorVariable:
    """The coefficients of the integral of order `m`; `k`: the constants of integration, a number or a vector of m."""
    found, m = _coefficients("polyint", p), _order("polyint", m)
    constants = T.zeros((m,), "int64") if k is None else T.broadcast_to(as_tensor(k), (m,))
    for order in range(m):
        risen = T.true_div(found, T.arange(lengths_of(found)[0], 0, -1))
        found = T.concatenate(in_joint_dtype((risen, constants[order : order + 1])))
    return found


def polyfit(
    x: TensorLike, y: TensorLike, deg: int, rcond: float | None = None, *, w: TensorLike | None = None
) -> TensorVariable:
    """The deg + 1 coefficients of the polynomial that fits samples `y` at `x` best, by least squares.

    `y`: a vector, or a matrix with a column for each polynomial.  `rcond`: singular values below this share of the
    largest one count as 0; by default the number of samples times the precision of x's dtype.  `w`: weights of the
    distances, not squared.
    """
    degree = _order("polyfit", deg)
    x, y = (T.cast(v, "float64") if v.type.kind in "biu" else v for v in map(as_tensor, (x, y)))
    if x.ndim != 1 or y.ndim not in (1, 2):
        raise TypeError(f"polyfit takes a vector x and a vector or matrix y, got {describe(x)} and {describe(y)}")
    if "float16" in (x.dtype, y.dtype):
        raise TypeError(f"polyfit has no float16: got {describe(x)} and {describe(y)}; use T.cast(x, 'float32')")
    matrix = T.vander(x, degree + 1)
    if w is not None:
        weights = as_tensor(w)
        matrix, y = matrix * weights[:, None], y * (weights[:, None] if y.ndim == 2 else weights)
    scale = T.sqrt(T.sum(matrix * matrix, axis=0))
    least = T.cast(lengths_of(x)[0], "float64") * float(np.finfo(x.dtype).eps) if rcond is None else rcond
    found = T.linalg.lstsq(matrix / scale, y, least)[0]
    return found / (scale[:, None] if y.ndim == 2 else scale)


def _coefficients(what: str, p: TensorLike) -> TensorVariable:
    vector = as_tensor(p)
    if vector.ndim != 1:
        raise ValueError(f"{what}: the coefficients are a vector, got {describe(vector)}")
    return vector


def _order(what: str, n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
        raise ValueError(f"{what}: expected an integer that is 0 or more, got {shown(n)}")
    return int(n)
