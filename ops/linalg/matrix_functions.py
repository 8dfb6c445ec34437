"""Functions of square matrices: the exponential, the logarithm and the square root.

    Exponential()(a), Logarithm()(a), SquareRoot()(a)

The derivative of a function f in the direction e is the upper right block of f([[a, e], [0, a]]): Mathias, A chain rule
for matrix functions and applications (1996).  Its adjoint is the derivative at a^H.  That of the square root solves a
Sylvester equation: Higham, Functions of Matrices (2008), section 6.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Apply, Dim, TensorType, Variable
from ...record import record
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.promotion import result_type
from ..core.tensor import HostOp, TensorVariable
from ..core.typing import TensorLike
from .equations import Sylvester
from .lapack import order_of, schur_of, stacked
from .matrix_ops import MatrixOp, adjoint
from .scipys import square

__all__ = ["expm", "expm_frechet", "logm", "sqrtm"]

_THETA_13 = 4.25
"""Largest norm for which the approximation of degree 13 has full precision: Al-Mohy and Higham (2009), table 3.1."""
_PADE_13 = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_ERROR_13 = 113250775606021113483283660800000000.0
"""The inverse of the first coefficient that the approximation of degree 13 neglects, the same paper, table 3.1."""
_NEAR_1 = 0.25
"""Norm of t - 1 below which the logarithm of t is summed by quadrature."""
_NODES = 16
"""Nodes of the quadrature, exact to 1e-17 for norms below `_NEAR_1`."""


def _precise(a: np.ndarray) -> np.ndarray:
    return a.astype(np.result_type(a.dtype, np.float64), copy=False)


def exponential_of(a: np.ndarray) -> np.ndarray:
    """e^a of a batch: Al-Mohy and Higham, A new scaling and squaring algorithm for the matrix exponential (2009).

    Always of degree 13, in double precision.
    """
    x = _precise(a)
    unit = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x2 @ x4
    d6, d8, d10 = (_norm(p) ** (1 / k) for p, k in ((x6, 6), (x4 @ x4, 8), (x4 @ x6, 10)))
    eta = np.minimum(np.maximum(d6, d8), np.maximum(d8, d10))
    with np.errstate(all="ignore"):
        halvings = np.ceil(np.log2(eta / _THETA_13))
    halvings = np.where(np.isfinite(halvings), np.maximum(halvings, 0), 0)
    halvings = halvings + _further_halvings(x, halvings)
    s = np.exp2(-halvings)[..., None, None]
    x, x2, x4, x6 = x * s, x2 * s**2, x4 * s**4, x6 * s**6
    b = _PADE_13
    odd = x @ (x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * unit)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * unit
    finite = np.isfinite(even - odd).all((-2, -1), keepdims=True)
    found = np.where(finite, np.linalg.solve(np.where(finite, even - odd, unit), even + odd), np.nan)
    for step in range(int(halvings.max(initial=0))):
        found = np.where((halvings > step)[..., None, None], found @ found, found)
    return found.astype(a.dtype, copy=False)


def _norm(x: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.abs(x).sum(-2).max(-1, initial=0)
    return found


def _further_halvings(x: np.ndarray, halvings: np.ndarray) -> np.ndarray:
    """How many more the first neglected term asks for, of which the powers of x say too little (the paper's ell)."""
    size = np.abs(x) * np.exp2(-halvings)[..., None, None]
    row = np.ones((*x.shape[:-2], 1, x.shape[-1]))
    for _ in range(27):
        row = row @ size
    total, norm = row.max((-2, -1), initial=0), _norm(size)
    with np.errstate(all="ignore"):
        ratio = np.log2(total / (norm * _ERROR_13) * 2.0**53)
    return np.where(np.isfinite(ratio), np.maximum(np.ceil(ratio / 26), 0), 0)


def _root_of_triangle(t: np.ndarray) -> np.ndarray:
    """The principal square root of an upper triangular matrix: Björck and Hammarling (1983), column by column."""
    n = t.shape[-1]
    r = np.zeros_like(t)
    for j in range(n):
        r[j, j] = np.sqrt(t[j, j])
        for i in range(j - 1, -1, -1):
            rest = t[i, j] - r[i, i + 1 : j] @ r[i + 1 : j, j]
            r[i, j] = 0 if rest == 0 else rest / (r[i, i] + r[j, j])
    return r


def _triangle_of(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return complex Schur factors.  The real eigenvalues of a real matrix stay real, on the right side of the cut."""
    real = np.eye(a.shape[-1])
    x = _precise(a)
    if x.dtype.kind == "f":
        x, real, _ = schur_of(x)
    t, z, _ = schur_of(x.astype("complex128"))
    return t, real @ z


def root_of(a: np.ndarray) -> tuple[np.ndarray]:
    """The principal square root of a matrix, complex."""
    order_of("sqrtm", a)
    if not np.isfinite(a).all():
        return (np.full(a.shape, np.nan, np.result_type(a.dtype, np.complex64)),)
    t, z = _triangle_of(a)
    with np.errstate(all="ignore"):
        found = z @ _root_of_triangle(t) @ np.conj(z.T)
    return (found.astype(np.result_type(a.dtype, np.complex64)),)


def logarithm_of(a: np.ndarray) -> tuple[np.ndarray]:
    """The principal logarithm of a matrix, complex: square roots until it is near 1, then quadrature.

    Source: Higham, Functions of Matrices (2008), algorithm 11.9, and for the quadrature equation 11.18.  The diagonal
    is that of logarithms, and the elements beside it have a closed form (the same book, equation 11.28).
    """
    order_of("logm", a)
    if not np.isfinite(a).all():
        return (np.full(a.shape, np.nan, np.result_type(a.dtype, np.complex64)),)
    t, z = _triangle_of(a)
    n, roots = t.shape[-1], 0
    with np.errstate(all="ignore"):
        r, unit = t, np.eye(n)
        while np.isfinite(r).all() and _norm(r - unit) > _NEAR_1 and roots < 200:
            r, roots = _root_of_triangle(r), roots + 1
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        found = np.zeros_like(t)
        if np.isfinite(r).all():
            away = r - unit
            for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
                found += weight * np.linalg.solve(unit + node * away, away)
            found *= 2.0**roots
        else:
            found[:] = np.nan
        _exact_bands(found, t)
        found = z @ found @ np.conj(z.T)
    return (found.astype(np.result_type(a.dtype, np.complex64)),)


def _exact_bands(logarithm: np.ndarray, t: np.ndarray) -> None:
    """Replace the diagonal and the one above it by their closed forms."""
    middle = np.diagonal(t)
    logs = np.log(middle)
    np.fill_diagonal(logarithm, logs)
    for k in range(len(middle) - 1):
        a, b = middle[k], middle[k + 1]
        if a == b:
            slope = 1 / a
        else:
            half = (b - a) / (b + a)
            turns = np.ceil((logs[k + 1] - logs[k]).imag / (2 * np.pi) - 0.5)
            slope = (2 * np.arctanh(half) + 2j * np.pi * turns) / (b - a) if abs(half) < 0.5 else (
                (logs[k + 1] - logs[k]) / (b - a))  # fmt: skip
        logarithm[k, k + 1] = t[k, k + 1] * slope


class MatrixFunction(MatrixOp, HostOp):
    """The base of functions of square matrices; all but the exponential have complex values."""

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a = self.square(inputs)
        return (a.with_dtype(result_type([a.dtype, "complex64"])),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (a,) = cotangents, node.inputs
        if g is None:
            return [None]
        found = derivative(self, adjoint(with_dtype(a, g.dtype)), g)
        return [found if a.type.kind == "c" else T.real(found)]


def derivative(op: MatrixFunction, a: Variable, e: Variable) -> TensorVariable:
    """The derivative of `op` at `a` in the direction `e`, which is brought to the size of a: the result is linear."""
    size, step = (T.sum(T.abs(x), axis=(-2, -1), keepdims=True) for x in (a, e))
    usable = T.logical_and(T.gt(size, 0), T.gt(step, 0))
    scale = T.cast(T.switch(usable, T.true_div(size, step), T.constant(1, size.dtype)), a.dtype)
    scaled, zero = T.mul(T.stop_gradient(scale), e), T.zeros_like(a)
    whole = T.concatenate([T.concatenate([a, scaled], -1), T.concatenate([zero, a], -1)], -2)
    n = T.lengths_of(a)[-1]
    return T.true_div(op(whole)[..., :n, n:], T.stop_gradient(scale))  # type: ignore[index,no-any-return]


@record(repr=False)
class Exponential(MatrixFunction):
    """The exponentials of square matrices."""

    name = "expm"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (self.square(inputs),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (exponential_of(values[0]),)


@record(repr=False)
class Logarithm(MatrixFunction):
    """The principal logarithms of square matrices, complex."""

    name = "logm"

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        found: tuple[np.ndarray, ...] = stacked(logarithm_of, values[0])
        return found


@record(repr=False)
class SquareRoot(MatrixFunction):
    """The principal square roots of square matrices, complex."""

    name = "sqrtm"

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        found: tuple[np.ndarray, ...] = stacked(root_of, values[0])
        return found

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (a,) = cotangents, node.inputs
        if g is None:
            return [None]
        root = adjoint(node.out)
        found = Sylvester()(root, root, g)
        return [found if a.type.kind == "c" else T.real(found)]


def expm(A: TensorLike) -> TensorVariable:
    """The exponentials of square matrices, batched over leading axes.  NaN or infinities give NaN, as in SciPy."""
    return Exponential()(square(A, "expm"))


def expm_frechet(
    A: TensorLike, E: TensorLike, method: Any = None, compute_expm: bool = True, check_finite: bool = True
) -> TensorVariable | tuple[TensorVariable, TensorVariable]:
    """(expm(A), its Fréchet derivative at A in the direction E); the derivative alone without `compute_expm`.

    `method`: None, "SPS" or "blockEnlarge"; all give the same here.  Raises ValueError for shapes that differ.
    """
    if method not in (None, "SPS", "blockEnlarge"):
        raise ValueError(f'expm_frechet: method must be None, "SPS" or "blockEnlarge", got {method!r}')
    a, e = square(A, "expm_frechet", check_finite), square(E, "expm_frechet", check_finite)
    if a.ndim != e.ndim or any(None not in n and n[0] != n[1] for n in zip(a.type.shape, e.type.shape, strict=True)):
        raise ValueError(f"expm_frechet: expected A and E of one shape, got {a.type} and {e.type}")
    dtype = result_type([a.dtype, e.dtype])
    a, e = with_dtype(a, dtype), with_dtype(e, dtype)
    found = derivative(Exponential(), a, e)
    return (Exponential()(a), found) if compute_expm else found


def logm(A: TensorLike, disp: bool = True) -> TensorVariable:
    """The principal logarithms of square matrices: complex, where SciPy drops imaginary parts that are all 0.

    `T.real` of it is the logarithm of a real matrix without eigenvalues below 0.  NaN or infinities give NaN.
    """
    if not disp:
        raise TypeError("logm: disp=False is not there; the error is T.linalg.norm(T.linalg.expm(x) - a, 1)")
    return Logarithm()(square(A, "logm"))


def sqrtm(A: TensorLike, disp: bool = True, blocksize: int = 64) -> TensorVariable:
    """The principal square roots of square matrices: complex, where SciPy drops imaginary parts that are all 0.

    `T.real` of it is the root of a real matrix without eigenvalues below 0.  NaN or infinities give NaN.
    """
    if not disp:
        raise TypeError("sqrtm: disp=False is not there; the error is T.linalg.norm(x @ x - a)")
    return SquareRoot()(square(A, "sqrtm"))
