"""Factorizations of matrices, batched over leading axes, with NumPy's results.

    Cholesky()(a)           l, lower triangular with a positive diagonal: a = l @ l^H; reads the lower triangle
    CholeskyGradient()(l, g)   the cotangent of a, given that of l
    QR(mode)(a)             q, r: a = q @ r; r alone for mode "r"
    Eigh()(a)               w, v: a = v @ diag(w) @ v^H, w ascending; reads the lower triangle
    SVD(full_matrices)(a)   u, s, vh: a = u @ diag(s) @ vh, s descending
    Eigvalsh, SingularValues   w alone, s alone, which cost a fraction
    Eig()(a), Eigvals()(a)     w, v and w alone of any square matrix, complex: a @ v = v @ diag(w)

Derivatives: Giles (2008) and Murray, Differentiation of the Cholesky Decomposition (2016); for QR Walter and Lehmann,
Algorithmic Differentiation of Linear Algebra Functions (2010); for the SVD Townsend, Differentiating the Singular Value
Decomposition (2016).  Where only a triangle of a Hermitian matrix is read, so is the derivative by that triangle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, NoGradient, TensorType, Variable, dims
from ...record import record
from ..control.batching import repeat_operands
from ..core.backward import pull_back_to
from ..core.checks import describe
from ..core.namespace import T, classes
from ..core.tensor import HostOp, TensorVariable
from .limits import quotient, rates, size_of
from .matrix_ops import MatrixOp, adjoint, lower_half, of_numbers, on_columns, product, real_dtype
from .solving import SolveTriangular, substituted


@record(repr=False)
class Cholesky(MatrixOp):
    """The lower triangular factors l of a = l @ l^H; the elements above the diagonal of a are not read.

    Raises LinAlgError for a matrix that is not positive definite.
    """

    name = "cholesky"
    spelling = "linalg.cholesky"
    fallible = True

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (self.square(inputs),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (np.linalg.cholesky(values[0]),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), factor = cotangents, node.out
        if g is None:
            return [None]
        return [CholeskyGradient()(factor, g)]


@record(repr=False)
class CholeskyGradient(MatrixOp):
    """`cholesky_gradient(l, g)`: the cotangent of the lower triangle of a = l @ l^H, given the cotangent g of l.

    Only lower triangles are read.  It costs about twice as much as the factorization.  Raises LinAlgError for a zero
    on the diagonal of l.  Source: Murray (2016), section 4.
    """

    name = "cholesky_gradient"
    fallible = True
    batching: ClassVar[Callable[..., Any]] = repeat_operands

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        factor, (l, g) = self.square(inputs, 2), inputs
        pairs = zip(factor.shape, g.type.shape, strict=False)
        if l.ndim != g.ndim or any(None not in pair and pair[0] != pair[1] for pair in pairs):
            raise TypeError(f"{self.name} takes matrices of one shape, got {describe(l)} and {describe(g)}")
        return (factor,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        l, g = (np.tril(v) for v in values)
        upper, half = np.conj(np.swapaxes(l, -1, -2)), np.eye(l.shape[-1], dtype=bool)
        with np.errstate(all="ignore"):
            inner = np.tril(upper @ g)
            left = substituted(upper, np.where(half, inner.real / 2, inner), lower=False)
            whole = substituted(upper, np.conj(np.swapaxes(left, -1, -2)), lower=False)
            folded = np.tril(whole + np.conj(np.swapaxes(whole, -1, -2)))
            return (np.where(half, folded.real / 2, folded).astype(l.dtype, copy=False),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return pull_back_to(node.inputs, [_by_products(*node.inputs)], cotangents)


def _by_products(factor: Variable, g: Variable) -> TensorVariable:
    """Return the meaning of `CholeskyGradient`: l^-H lower_half(l^H g) l^-1, folded onto the lower triangle."""
    factor, g = T.tril(factor), T.tril(g)
    inner = lower_half(product(adjoint(factor), g))
    upper = SolveTriangular(lower=False)
    left = upper(adjoint(factor), inner)
    whole = adjoint(upper(adjoint(factor), adjoint(left)))
    return lower_half(T.add(whole, adjoint(whole)))


@record(repr=False)
class QR(MatrixOp, HostOp):
    """The factors q, with orthonormal columns, and r, upper triangular; `mode` is NumPy's.

    "reduced": q has as many columns as a has rows or columns, whichever are fewer; "complete": as many as rows.
    "r": the r of "reduced" alone.
    """

    mode: str = "reduced"
    name = "qr"
    spelling = "linalg.qr"
    fallible = True

    def __post_init__(self) -> None:
        if self.mode not in ("reduced", "complete", "r"):
            raise ValueError(f'qr: the mode must be "reduced", "complete" or "r", got {self.mode!r}')

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a = self.matrices(inputs)
        *batch, m, n = a.type.shape
        inner = m if self.mode == "complete" else _least(m, n)
        q, r = a.type.with_shape((*batch, m, inner)), a.type.with_shape((*batch, inner, n))
        return (r,) if self.mode == "r" else (q, r)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            result = np.linalg.qr(values[0], mode=self.mode)  # type: ignore[call-overload]
        return (result,) if self.mode == "r" else tuple(result)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        *batch, m, n = inputs[0]
        inner = m if self.mode == "complete" else dims.minimum(m, n)
        q, r = (*batch, m, inner), (*batch, inner, n)
        return (r,) if self.mode == "r" else (q, r)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (a,) = node.inputs
        if all(g is None for g in cotangents):
            return [None]
        m, n = a.type.shape[-2:]
        if self.mode == "complete" or (m is not None and n is not None and m < n):
            raise NoGradient(f"qr of {describe(a)}: q has columns that a does not determine")
        q, r = QR()(a) if self.mode == "r" else node.outputs
        gq, gr = (None, *cotangents) if self.mode == "r" else cotangents
        inner = [] if gr is None else [product(gr, adjoint(r))]
        inner += [] if gq is None else [T.neg(product(adjoint(q), gq))]
        upper = T.triu(inner[0] if len(inner) == 1 else T.add(*inner))
        half = lower_half(adjoint(upper))
        left = product(q, T.add(half, adjoint(half)))
        left = left if gq is None else T.add(gq, left)
        return [adjoint(SolveTriangular(lower=False)(r, adjoint(left)))]  # left r^-H


@record(repr=False)
class Eigh(MatrixOp, HostOp):
    """The eigenvalues, real and ascending, and eigenvectors, as columns, of Hermitian matrices.

    Only the lower triangle is read.  Where eigenvalues are equal, there is a derivative by way of the vectors if the
    result does not depend on their choice; else it is infinite or NaN.
    """

    name = "eigh"
    spelling = "linalg.eigh"
    fallible = True

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        vectors = self.square(inputs)
        return TensorType(real_dtype(vectors.dtype), vectors.shape[:-1]), vectors

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return tuple(np.linalg.eigh(values[0]))

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return inputs[0][:-1], inputs[0]

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        w, v = node.outputs
        gw, gv = cotangents
        parts = [] if gw is None else [classes.DiagonalMatrix()(T.cast(gw, v.dtype))]
        if gv is not None:
            turn = product(adjoint(v), gv)
            (skew,) = _skew(turn)
            step, direction = _direction(w)
            (rate,) = rates([skew], w, direction, node.outputs)
            parts.append(quotient(skew, _gaps(w), rate, _gaps(step, 1), size_of(turn), size_of(on_columns(w))))
        if not parts:
            return [None]
        whole = product(v, parts[0] if len(parts) == 1 else T.add(*parts), adjoint(v))
        return [lower_half(T.add(whole, adjoint(whole)))]


@record(repr=False)
class Eigvalsh(MatrixOp, HostOp):
    """The eigenvalues of Hermitian matrices, ascending; only the lower triangle is read."""

    name = "eigvalsh"
    spelling = "linalg.eigvalsh"
    fallible = True

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return Eigh().infer(inputs)[:1]

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (np.linalg.eigvalsh(values[0]),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0][:-1],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        both = Apply(Eigh(), node.inputs)
        return Eigh().vjp(both, [*cotangents, None])


@record(repr=False)
class Eig(MatrixOp, HostOp):
    """The eigenvalues and the eigenvectors, as columns of length 1, of square matrices; both complex, in no order.

    The derivative by way of the values needs distinct ones; that by way of the vectors is not defined here.
    """

    name = "eig"
    spelling = "linalg.eig"
    fallible = True

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        vectors = self.square(inputs)
        dtype = "complex64" if vectors.dtype in ("float32", "complex64") else "complex128"
        return TensorType(dtype, vectors.shape[:-1]), TensorType(dtype, vectors.shape)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        dtype = np.result_type(values[0].dtype, np.complex64)
        with np.errstate(all="ignore"):
            return tuple(v.astype(dtype) for v in np.linalg.eig(values[0]))

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return inputs[0][:-1], inputs[0]

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (a,), (_, v), (gw, gv) = node.inputs, node.outputs, cotangents
        if gv is not None:
            raise NoGradient("eig: eigenvectors are determined but for a factor, so they have no derivative")
        if gw is None:
            return [None]
        inner = product(classes.DiagonalMatrix()(gw), adjoint(v))
        g = T.linalg.solve(adjoint(v), inner)  # v^-H diag(gw) v^H
        return [g if a.type.kind == "c" else T.real(g)]


@record(repr=False)
class Eigvals(MatrixOp, HostOp):
    """The eigenvalues of square matrices, complex, in no order; see `Eig`."""

    name = "eigvals"
    spelling = "linalg.eigvals"
    fallible = True

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return Eig().infer(inputs)[:1]

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (np.linalg.eigvals(values[0]).astype(np.result_type(values[0].dtype, np.complex64)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0][:-1],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        both = Apply(Eig(), node.inputs)
        return Eig().vjp(both, [*cotangents, None])


@record(repr=False)
class SVD(MatrixOp, HostOp):
    """Singular vectors and values: u, s (real, descending) and vh; `full_matrices` makes u and vh square.

    The derivative by way of the vectors needs real dtypes, and no more vectors than values.  Where singular values are
    equal or 0, there is one if the result does not depend on the choice of vectors; else it is infinite or NaN.
    """

    full_matrices: bool = True
    name = "svd"
    spelling = "linalg.svd"
    fallible = True

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a = self.matrices(inputs)
        *batch, m, n = a.type.shape
        least = _least(m, n)
        left, right = (m, n) if self.full_matrices else (least, least)
        values = TensorType(real_dtype(a.dtype), (*batch, least))
        return a.type.with_shape((*batch, m, left)), values, a.type.with_shape((*batch, right, n))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return tuple(np.linalg.svd(of_numbers(values[0]), full_matrices=self.full_matrices))

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        *batch, m, n = inputs[0]
        least = dims.minimum(m, n)
        left, right = (m, n) if self.full_matrices else (least, least)
        return (*batch, m, left), (*batch, least), (*batch, right, n)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (a,), (gu, gs, gvh) = node.inputs, cotangents
        if gu is None and gvh is None:
            return [None] if gs is None else [_of_singular_values(a, gs)]
        rows, columns = a.type.shape[-2:]
        more = self.full_matrices and (rows is None or rows != columns)
        if more or a.type.kind == "c":
            why = "more vectors than a determines" if more else "vectors with any phase"
            raise NoGradient(f"svd of {describe(a)} has {why}; full_matrices=False and real numbers have a derivative")
        return [_of_singular_vectors(node, gu, gs, gvh)]


@record(repr=False)
class SingularValues(MatrixOp, HostOp):
    """The singular values of matrices, real and descending; NaN for a matrix with infinite elements."""

    name = "svdvals"
    spelling = "linalg.svdvals"
    fallible = True

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return SVD().infer(inputs)[1:2]

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (a,) = values
        infinite = np.isinf(a).any((-2, -1))
        if not infinite.any():
            return (np.linalg.svd(of_numbers(a), compute_uv=False),)
        finite = of_numbers(np.where(np.isinf(a) & ~np.isnan(a), 0, a))  # LAPACK prints complaints about infinities
        s = np.linalg.svd(finite, compute_uv=False)
        return (np.where(infinite[..., None], s.dtype.type(np.nan), s),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        *batch, m, n = inputs[0]
        return ((*batch, dims.minimum(m, n)),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (a,) = cotangents, node.inputs
        return [None if g is None else _of_singular_values(a, g)]


def _of_singular_values(a: Variable, g: Variable) -> TensorVariable:
    u, _, vh = SVD(full_matrices=False)(a)
    return product(T.mul(u, on_columns(T.cast(g, u.dtype))), vh)


def _of_singular_vectors(
    node: Apply, gu: Variable | None, gs: Variable | None, gvh: Variable | None
) -> TensorVariable:
    """The cotangent of u @ diag(s) @ vh for real matrices.

    With p and q the skew parts for u and vh, element i, j between the vectors is (p s[j] + q s[i]) / (s[j]^2 - s[i]^2),
    which is a sum of two quotients: (p + q) / 2 by s[j] - s[i], and (p - q) / 2 by s[j] + s[i].
    """
    u, s, vh = node.outputs
    gu, gvh = (T.zeros_like(v) if g is None else g for g, v in ((gu, u), (gvh, vh)))
    turns = product(adjoint(u), gu), product(vh, adjoint(gvh))
    p, q = _skew(*turns)
    left, right = T.sub(gu, product(u, turns[0])), T.sub(gvh, product(adjoint(turns[1]), vh))
    numerators = [T.add(p, q), T.sub(p, q), left, right]
    step, direction = _direction(s)
    found = rates(numerators, s, direction, node.outputs)
    rows, columns = T.expand_dims(s, -1), on_columns(s)
    denominators = [(_gaps(s), _gaps(step, 1))]
    denominators += [
        (a(columns), a(on_columns(step))) for a in (lambda c: T.add(c, T.swapaxes(c, -1, -2)), lambda c: c)
    ]
    denominators.append((rows, T.expand_dims(step, -1)))
    scales = [size_of(*turns)] * 2 + [size_of(gu), size_of(gvh)]
    parts = [
        quotient(x, y, dx, dy, scale, size_of(columns))
        for x, (y, dy), dx, scale in zip(numerators, denominators, found, scales, strict=True)
    ]
    inner = T.add(parts[0], parts[1]) if gs is None else T.add(parts[0], parts[1], classes.DiagonalMatrix()(gs))
    return T.add(product(u, inner, vh), product(parts[2], vh), product(u, parts[3]))


def _skew(*turns: Variable) -> list[TensorVariable]:
    """(t - t^H) / 2 for each of the matrices."""
    return [T.mul(T.sub(t, adjoint(t)), T.constant(0.5, t.dtype)) for t in turns]


def _direction(values: Variable) -> tuple[TensorVariable, TensorVariable]:
    """The numbers 1, 2, 3, ... as long as each vector of `values`, and as a change of all of them."""
    step = T.add(T.arange(T.lengths_of(values)[-1], dtype=values.dtype), T.constant(1, values.dtype))
    return step, T.add(T.zeros_like(values), step)


def _gaps(values: Variable, on_diagonal: int = 0) -> TensorVariable:
    """values[j] - values[i] for row i and column j, and a number on the diagonal."""
    differences = T.sub(on_columns(values), T.expand_dims(values, -1))
    return T.add(differences, T.eye(T.lengths_of(values)[-1], dtype=values.dtype)) if on_diagonal else differences


def _least(m: int | None, n: int | None) -> int | None:
    return min(m, n) if m is not None and n is not None else None
