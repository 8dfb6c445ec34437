"""Polynomials given by vectors of coefficients, that of the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import in_joint_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.conditions import checked
from ..shapes.lengths import lengths_of

__all__ = ["poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "roots"]


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


def polymul(a1: TensorLike, a2: TensorLike) -> TensorVariable:
    """The coefficients of the product of two polynomials, without the zeros in front of either."""
    a, b = (_without_zeros_in_front(_coefficients("polymul", p)) for p in (a1, a2))
    return T.convolve(a, b)


def _without_zeros_in_front(p: Any) -> TensorVariable:
    """The coefficients from the first that is not 0; one 0 where there is none."""
    some = T.ne(p, 0)
    count = lengths_of(p)[0]
    first = T.switch(T.any(some), T.argmax(T.append(some, True)), T.maximum(count - 1, 0))
    return p[first:]  # type: ignore[no-any-return]


def polydiv(u: TensorLike, v: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """(quotient, remainder) of two polynomials, in floats; the remainder without zeros in front, up to 1e-8.

    The quotient solves the triangular system of equal diagonals v, of which a run raises LinAlgError for v[0] = 0.
    """
    given = in_joint_dtype([_coefficients("polydiv", u), _coefficients("polydiv", v)])
    u, v = (T.cast(x, "float64") if x.type.kind in "biu" else x for x in given)
    m, n = (lengths_of(x)[0] for x in (u, v))
    gap: Any = m - n + 1
    count = T.maximum(gap, 1)
    column = T.concatenate([v, T.zeros((T.maximum(count - n, 0),), v.dtype)])[:count]
    front = T.concatenate([u, T.zeros((T.maximum(count - m, 0),), u.dtype)])[:count]
    found = T.linalg.solve_triangular(T.linalg.toeplitz(column, T.zeros_like(column)), front, lower=True)
    quotient = T.switch(T.ge(gap, 1), found, T.zeros_like(found))
    rest = T.sub(u, T.convolve(quotient, v)[T.maximum(n - m, 0) :])
    behind = T.ge(T.arange(m), T.maximum(gap, 0))
    rest = T.switch(behind, rest, T.zeros_like(rest))
    large = T.gt(T.abs(rest), 1e-8)
    first = T.switch(T.any(large), T.argmax(T.append(large, True)), T.maximum(m - 1, 0))
    return quotient, rest[first:]


def poly(seq_of_zeros: TensorLike) -> TensorVariable:
    """The coefficients of the polynomial with these roots, or of the characteristic polynomial of a square matrix.

    The number of roots must be known.  Complex for complex roots and for matrices; NumPy drops imaginary parts where
    roots come in conjugate pairs, and `T.real` does.  Raises ValueError for anything else.
    """
    x = as_tensor(seq_of_zeros)
    if x.ndim == 2:
        x = T.linalg.eigvals(x)
    if x.ndim > 1:
        raise ValueError(f"poly: input must be 1d or non-empty square 2d array, got {describe(x)}")
    x = T.atleast_1d(x)
    count = x.type.shape[0]
    if count is None:
        raise ValueError(f"poly: the number of roots must be known, got {describe(x)}; use T.specify_shape(x, (n,))")
    x = T.cast(x, "float64") if x.type.kind in "biu" else x
    found = T.ones((1,), x.dtype)
    for k in range(count):
        found = T.convolve(found, T.stack([T.ones((), x.dtype), T.neg(x[k])]))
    return found


def roots(p: TensorLike) -> TensorVariable:
    """The roots of the polynomial, as many as its degree, complex: the eigenvalues of its companion matrix.

    Zeros in front do not count, and those at the end are roots 0, which stand last.  Source: Horn and Johnson, Matrix
    Analysis (1985), section 3.3.
    """
    p = _coefficients("roots", p)
    p = T.cast(p, "float64") if p.type.kind in "biu" else p
    inside = T.nonzero(p)[0]
    some = T.gt(lengths_of(inside)[0], 0)
    zeros = T.switch(some, lengths_of(p)[0] - 1 - T.max(inside, initial=0), 0)
    kept = p[T.min(inside, initial=np.iinfo("int64").max) : T.max(inside, initial=-1) + 1]
    kept = T.append(kept, T.ones((T.switch(some, 0, 1),), p.dtype))  # a constant, which has no root
    size = lengths_of(kept)[0] - 1
    first = T.cast(T.eq(T.arange(size), 0), p.dtype)
    companion = T.eye(size, k=-1, dtype=p.dtype) - T.outer(first, kept[1:] / kept[0])
    values = T.linalg.eigvals(companion)
    return T.concatenate([values, T.zeros((zeros,), values.dtype)])


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
    x: TensorLike, y: TensorLike, deg: int, rcond: float | None = None, full: bool = False,
    w: TensorLike | None = None, cov: bool | str = False,
) -> TensorVariable | tuple[TensorVariable, ...]:  # fmt: skip
    """The deg + 1 coefficients of the polynomial that fits samples `y` at `x` best, by least squares.

    `y`: a vector, or a matrix with a column for each polynomial.  `rcond`: singular values below this share of the
    largest one count as 0; by default the number of samples times the precision of x's dtype.  `w`: weights of the
    distances, not squared.  `full`: (coefficients, residuals, rank, singular values, rcond), as `linalg.lstsq` gives
    them for the matrix of powers with columns of length 1.  `cov`: (coefficients, their covariances), a matrix for each
    polynomial along a last axis, in units of the mean squared distance, or as they are for "unscaled"; raises
    ValueError for no more samples than coefficients, at run time where their number is known only then.
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
    fitted, *more = T.linalg.lstsq(matrix / scale, y, least)
    found = fitted / (scale[:, None] if y.ndim == 2 else scale)
    if full:
        return (found, *more, as_tensor(least))
    if not cov:
        return found
    scaled = matrix / scale
    spread = T.linalg.inv(T.dot(scaled.T, scaled)) / T.outer(scale, scale)
    if cov == "unscaled":
        return found, spread if y.ndim == 1 else spread[:, :, None]
    beyond = T.sub(lengths_of(x)[0], degree + 1)
    beyond = checked(beyond, T.gt(beyond, 0), "polyfit: cov=True needs more samples than coefficients")
    factor = more[0] / T.cast(beyond, found.dtype)
    return found, spread * factor if y.ndim == 1 else spread[:, :, None] * factor


def _coefficients(what: str, p: TensorLike) -> TensorVariable:
    vector = as_tensor(p)
    if vector.ndim != 1:
        raise ValueError(f"{what}: the coefficients are a vector, got {describe(vector)}")
    return vector


def _order(what: str, n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0:
        raise ValueError(f"{what}: expected an integer that is 0 or more, got {shown(n)}")
    return int(n)
