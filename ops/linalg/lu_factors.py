"""LU factors with row exchanges, pivots of QR, and systems solved by factors that are there.

    LU()(a)                  l and u in one matrix, and the row that each row was swapped with: a[order] = l @ u
    PivotOrder()(pivots, a)  the order of the rows that these exchanges give
    ColumnOrder()(a)         the order of the columns in a QR factorization with pivoting

Derivative of LU: de Hoog, Anderssen and Lukas, Differentiation of matrix functionals using triangular factorization
(2011), for square matrices; the rows or columns beyond the square are products with inverses of its factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...graph import Apply, Dim, TensorType, Variable, dims
from ...record import record
from ..core.checks import describe, require_count, shown
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.promotion import result_type
from ..core.tensor import HostOp, TensorVariable, as_tensor, outputs_of
from ..core.typing import TensorLike
from ..shapes.shape import expand_dims, squeeze
from .lapack import lu_of, pivoted_columns, stacked
from .matrix_ops import MatrixOp, adjoint, as_matrices, product, with_joint_batch
from .scipys import finite
from .solving import SolveTriangular

__all__ = ["cho_factor", "cho_solve", "lu", "lu_factor", "lu_solve"]


@record(repr=False)
class LU(MatrixOp, HostOp):
    """The factors l, lower triangular with a unit diagonal that is left out, and u in one matrix, and the exchanges of
    rows: row k was swapped with row pivots[k].
    """

    name = "lu"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a = self.matrices(inputs)
        *batch, m, n = a.type.shape
        least = min(m, n) if m is not None and n is not None else None
        return a.type, TensorType("int32", (*batch, least))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        found: tuple[np.ndarray, ...] = stacked(lu_of, values[0])
        return found

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        *batch, m, n = inputs[0]
        return inputs[0], (*batch, dims.minimum(m, n))

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        g, (a,), (factors, pivots) = cotangents[0], node.inputs, node.outputs
        if g is None:
            return [None]
        k = T.lengths_of(pivots)[-1]
        inside, beyond = slice(k), slice(k, None)
        square, below, right = (..., inside, inside), (..., beyond, inside), (..., inside, beyond)
        lower, upper = factors[square], factors[square]  # type: ignore[index]
        by_l, by_u = SolveTriangular(False, unit=True), SolveTriangular(False)
        g_below = adjoint(by_u(upper, adjoint(g[below])))  # type: ignore[index]  # g u^-H
        g_right = by_l(adjoint(lower), g[right])  # type: ignore[index]  # l^-H g
        g_upper = T.sub(T.triu(g[square]), product(adjoint(factors[below]), g_below))  # type: ignore[index]
        g_lower = T.sub(T.tril(g[square], -1), product(g_right, adjoint(factors[right])))  # type: ignore[index]
        unit = T.add(T.tril(lower, -1), T.eye(k, dtype=a.dtype))
        inner = T.add(T.tril(product(adjoint(unit), g_lower), -1), T.triu(product(g_upper, adjoint(T.triu(upper)))))
        g_square = adjoint(by_u(upper, adjoint(by_l(adjoint(lower), inner))))  # l^-H inner u^-H
        permuted = T.concatenate([T.concatenate([g_square, g_right], -1), _beside(g_below, factors, k)], -2)
        order = PivotOrder()(pivots, a)
        return [T.take_along_axis(permuted, T.argsort(order, axis=-1)[..., None], -2)]


def _beside(below: Variable, factors: Variable, k: Variable) -> TensorVariable:
    """The rows below the square, with the columns beyond it, of which there are none if there are such rows."""
    rest: Any = factors
    return T.concatenate([below, T.zeros_like(rest[..., k:, k:])], -1)


@record(repr=False)
class PivotOrder(MatrixOp, HostOp):
    """The order of the m rows of `a` after the exchanges `pivots`: row k of the permuted matrix is row order[k]."""

    name = "pivot_order"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        pivots, a = inputs
        if pivots.dtype != "int32" or pivots.ndim != a.ndim - 1:
            raise TypeError(f"{self.name}: the pivots must be int32 vectors, got {describe(pivots)}")
        return (TensorType("int64", a.type.shape[:-1]),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        pivots, a = values
        m = a.shape[-2]
        if pivots.size and not (pivots.min() >= 0 and pivots.max() < m):
            raise ValueError(f"lu_solve: pivots must be from 0 to {m - 1}, got {pivots.min()} to {pivots.max()}")
        order = np.broadcast_to(np.arange(m), a.shape[:-1]).copy()
        for k in range(pivots.shape[-1]):
            other = pivots[..., k : k + 1]
            theirs = np.take_along_axis(order, other, -1)
            np.put_along_axis(order, other, order[..., k : k + 1], -1)
            order[..., k : k + 1] = theirs
        return (order,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[1][:-1],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None, None]

    def batching(self, node: Apply, inputs: list[Variable], flags: Any, examples: Any) -> Any:
        return self(*(i if f else examples.broadcast(i) for i, f in zip(inputs, flags, strict=True)))


@record(repr=False)
class ColumnOrder(MatrixOp, HostOp):
    """The order of columns by which the moduli on the diagonal of r do not increase; int32, as SciPy's."""

    name = "column_order"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a = self.matrices(inputs)
        return (TensorType("int32", (*a.type.shape[:-2], a.type.shape[-1])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        found: tuple[np.ndarray, ...] = stacked(lambda a: (pivoted_columns(a),), values[0])
        return found

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        *batch, _, n = inputs[0]
        return ((*batch, n),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None]


def lu_factor(
    a: TensorLike, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[TensorVariable, TensorVariable]:
    """(lu, pivots): l, unit lower triangular, and u in one matrix, and the row that each row was swapped with (int32).

    `a`: m by n matrices.  A run raises ValueError for NaN and infinities with `check_finite`.
    """
    factors, pivots = outputs_of(LU(), finite(a, "lu_factor", check_finite))
    return factors, pivots


def lu_solve(
    lu_and_piv: tuple[TensorLike, TensorLike], b: TensorLike, trans: int = 0, overwrite_b: bool = False,
    check_finite: bool = True,
) -> TensorVariable:  # fmt: skip
    """x with a @ x = b for the factors of `a` that `lu_factor` returns; b is a vector or columns.

    `trans`: 0 for a, 1 for its transpose, 2 for its adjoint.  A run raises LinAlgError for a singular matrix.
    """
    factors, pivots = as_matrices(lu_and_piv[0], "lu_solve"), with_dtype(as_tensor(lu_and_piv[1]), "int32")
    if trans not in (0, 1, 2):
        raise ValueError(f"lu_solve: trans must be 0, 1 or 2, got {shown(trans)}")
    factors, b, restore = sides(factors, finite(b, "lu_solve", check_finite, vectors=True), "lu_solve")
    order = PivotOrder()(pivots, factors)
    if trans == 0:
        permuted = _rows(b, order)
        return restore(SolveTriangular(False)(factors, SolveTriangular(True, unit=True)(factors, permuted)))
    opposite = adjoint(factors) if trans == 2 else T.swapaxes(factors, -1, -2)
    x = SolveTriangular(False, unit=True)(opposite, SolveTriangular(True)(opposite, b))
    return restore(_rows(x, T.argsort(order, axis=-1)))


def _rows(x: Any, order: Any) -> TensorVariable:
    """The rows of matrices in another order; the batches broadcast."""
    if order.ndim == 1:
        return T.take(x, order, axis=-2)
    x, order = with_joint_batch((x, 2), (order, 1))
    return T.take_along_axis(x, order[..., None], -2)


def sides(
    a: TensorVariable, b: TensorVariable, what: str
) -> tuple[TensorVariable, TensorVariable, Callable[[Any], TensorVariable]]:
    """The matrices and right sides in their joint dtype, and what makes a vector of a solution for a vector b."""
    if b.ndim == 0:
        raise ValueError(f"{what}: the right side must be a vector or matrices, got {describe(b)}")
    vector = b.ndim == 1
    columns = as_matrices(expand_dims(b, 1) if vector else b, what)
    dtype = result_type([a.dtype, columns.dtype])
    return with_dtype(a, dtype), with_dtype(columns, dtype), (lambda x: squeeze(x, -1)) if vector else (lambda x: x)


def lu(
    a: TensorLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True,
    p_indices: bool = False,
) -> tuple[TensorVariable, ...]:  # fmt: skip
    """(p, l, u) with a = p @ l @ u: p a permutation matrix, l unit lower triangular, u upper triangular.

    `permute_l`: (p @ l, u).  `p_indices`: p as a vector with a = l[p] @ u.  `a`: m by n matrices.
    """
    a = finite(a, "lu", check_finite)
    back, lower, upper = unpacked(*outputs_of(LU(), a))
    if permute_l:
        return _rows(lower, back), upper
    if p_indices:
        return back, lower, upper
    real = {"complex64": "float32", "complex128": "float64"}.get(a.dtype, a.dtype)
    return T.cast(permutation(back), real), lower, upper


def unpacked(factors: Any, pivots: Any) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
    """(p, l, u) of the factors of `lu_factor`: l[p] @ u is the matrix, where p are positions of rows."""
    k = T.lengths_of(pivots)[-1]
    lower = T.add(T.tril(factors[..., :, :k], -1), T.eye(T.lengths_of(factors)[-2], k, dtype=factors.dtype))
    return T.argsort(PivotOrder()(pivots, factors), axis=-1), lower, T.triu(factors[..., :k, :])


def permutation(p: TensorVariable) -> TensorVariable:
    """The bool matrices whose rows hold True at the positions `p`."""
    return T.eq(expand_dims(p, -1), T.arange(T.lengths_of(p)[-1]))


def cho_factor(
    a: TensorLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[TensorVariable, bool]:
    """(c, lower): the Cholesky factor of a, upper triangular, or lower if so told, for `cho_solve`.

    The other triangle of c is zeros, where SciPy leaves what was there.  A run raises LinAlgError for a matrix that is
    not positive definite.
    """
    return T.linalg.cholesky(finite(a, "cho_factor", check_finite), upper=not lower), bool(lower)


def cho_solve(
    c_and_lower: tuple[TensorLike, bool], b: TensorLike, overwrite_b: bool = False, check_finite: bool = True
) -> TensorVariable:
    """x with a @ x = b for the factor of `a` that `cho_factor` returns; b is a vector or columns."""
    c, lower = c_and_lower
    factor, columns, restore = sides(
        as_matrices(c, "cho_solve"), finite(b, "cho_solve", check_finite, vectors=True), "cho_solve"
    )
    below, above = (factor, adjoint(factor)) if lower else (adjoint(factor), factor)
    return restore(SolveTriangular(False)(above, SolveTriangular(True)(below, columns)))
