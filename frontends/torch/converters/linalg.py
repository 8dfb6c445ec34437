"""Linear algebra: factors, solutions, determinants and functions of matrices.

Ops whose name ends in `_ex` report what LAPACK finds by an `info`; ours raise LinAlgError.  So they are converted where
all that reads the info is the check that raises for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....ops.linalg.lu_factors import permutation, unpacked
from ..dtypes import as_dtype
from ..symbols import lengths
from ..table import Call, converter


@converter("aten._linalg_det")
def det(call: Call, a: Any) -> Any:
    return (T.linalg.det(a), *_factored(a))


@converter("aten._linalg_slogdet")
def slogdet(call: Call, a: Any) -> Any:
    return (*T.linalg.slogdet(a), *_factored(a))


@converter("aten._linalg_eigh")
def eigh(call: Call, a: Any, uplo: str = "L", compute_v: bool = True) -> Any:
    """Eigenvectors have any sign or phase; so that they have PyTorch's, PyTorch computes those that are read."""
    if compute_v and _readers(call, 1):
        return NotImplemented
    return T.linalg.eigvalsh(a, uplo.upper()), _nothing(a)


@converter("aten._linalg_svd")
def svd(call: Call, a: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None) -> Any:
    if compute_uv:
        return tuple(T.linalg.svd(a, full_matrices))
    return _nothing(a), T.linalg.svdvals(a), _nothing(a)


@converter("aten.linalg_pinv.atol_rtol_tensor")
def pinv(call: Call, a: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    if hermitian:
        s, v = T.linalg.eigh(a)
        u, size = v, T.abs(s)
    else:
        u, s, vh = T.linalg.svd(a, full_matrices=False)
        v, size = _adjoint(vh), s
    zero = as_dtype(0, s.dtype)
    if rtol is None:
        rtol = as_dtype(T.maximum(*lengths(a)[-2:]) * float(np.finfo(s.dtype).eps), s.dtype)
        rtol = rtol if atol is None else T.where(T.gt(atol, zero), zero, rtol)
    atol, rtol = (as_dtype(zero if t is None else t, s.dtype) for t in (atol, rtol))
    least = T.maximum(atol[..., None], rtol[..., None] * T.max(size, axis=-1, keepdims=True, initial=0))
    inverse = T.where(T.gt(size, least), T.reciprocal(s), zero)
    return as_dtype(T.matmul(v * as_dtype(inverse, a.dtype)[..., None, :], _adjoint(u)), call.dtype)


@converter("aten.linalg_qr")
def qr(call: Call, a: Any, mode: str = "reduced") -> Any:
    return (_nothing(a), T.linalg.qr(a, "r")) if mode == "r" else tuple(T.linalg.qr(a, mode))


@converter("aten.linalg_cholesky_ex")
def cholesky(call: Call, a: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    if not _is_checked(call, 1):
        return NotImplemented
    return T.linalg.cholesky(a, upper=upper), _no_error(a)


@converter("aten.linalg_inv_ex")
def inv(call: Call, a: Any, *, check_errors: bool = False) -> Any:
    return (T.linalg.inv(a), _no_error(a)) if _is_checked(call, 1) else NotImplemented


@converter("aten._linalg_solve_ex")
def solve(call: Call, a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    if not _is_checked(call, 3):
        return NotImplemented
    of_a, of_b = call.metas[:2]
    vectors = of_b.ndim == 1 or (of_b.ndim == of_a.ndim - 1 and of_b.shape == of_a.shape[:-1])
    columns = b[..., None] if vectors else b
    x = T.linalg.solve(a, columns) if left else _transposed(T.linalg.solve(_transposed(a), _transposed(columns)))
    return (x[..., 0] if vectors else x, *_factored(a), _no_error(a))


@converter("aten.linalg_solve_triangular")
def solve_triangular(call: Call, a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    if left:
        return T.linalg.solve_triangular(a, b, lower=not upper, unit_diagonal=unitriangular)
    found = T.linalg.solve_triangular(_transposed(a), _transposed(b), lower=upper, unit_diagonal=unitriangular)
    return _transposed(found)


@converter("aten.cholesky_solve", "aten._cholesky_solve_helper")
def cholesky_solve(call: Call, b: Any, factor: Any, upper: bool = False) -> Any:
    return T.linalg.cho_solve((factor, not upper), b, check_finite=False)


@converter("aten.cholesky_inverse")
def cholesky_inverse(call: Call, factor: Any, upper: bool = False) -> Any:
    unit = T.eye(lengths(factor)[-1], dtype=factor.dtype)
    return T.linalg.cho_solve((factor, not upper), T.broadcast_to(unit, lengths(factor)), check_finite=False)


@converter("aten.linalg_lu_factor_ex")
def lu_factor(call: Call, a: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    if not pivot:
        return NotImplemented
    factors, pivots = _factored(a)
    zero = T.eq(T.diagonal(factors, 0, -2, -1), as_dtype(0, factors.dtype))
    first = T.where(T.any(zero, axis=-1), T.argmax(zero, axis=-1) + 1, 0)
    return factors, pivots, as_dtype(first, "int32")


@converter("aten.linalg_lu")
def lu(call: Call, a: Any, *, pivot: bool = True) -> Any:
    if not pivot:
        return NotImplemented
    p, lower, upper = T.linalg.lu(a, check_finite=False)
    return as_dtype(p, call.dtype), lower, upper


@converter("aten.lu_unpack")
def lu_unpack(call: Call, factors: Any, pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    if not (unpack_data and unpack_pivots):
        return NotImplemented
    p, lower, upper = unpacked(factors, pivots - as_dtype(1, pivots.dtype))
    return as_dtype(permutation(p), call.dtype), lower, upper


@converter("aten.linalg_lu_solve")
def lu_solve(call: Call, factors: Any, pivots: Any, b: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """x with a @ x = b, or the adjoint of a there; without `left` x @ a = b, which is a.T @ x.T = b.T."""
    factors_of = (factors, pivots - as_dtype(1, pivots.dtype))
    if left:
        return T.linalg.lu_solve(factors_of, b, 2 if adjoint else 0, check_finite=False)
    rows = _transposed(b)
    if not adjoint:
        return _transposed(T.linalg.lu_solve(factors_of, rows, 1, check_finite=False))
    return _transposed(T.conj(T.linalg.lu_solve(factors_of, T.conj(rows), check_finite=False)))


@converter("aten.linalg_matrix_exp")
def matrix_exp(call: Call, a: Any) -> Any:
    return NotImplemented if a.dtype == "float16" else T.linalg.expm(a)


def _factored(a: Any) -> tuple[Any, Any]:
    """Return the LU factors in one matrix, and LAPACK's pivots, which count from 1."""
    factors, pivots = T.linalg.lu_factor(a, check_finite=False)
    return factors, pivots + as_dtype(1, pivots.dtype)


def _is_checked(call: Call, place: int) -> bool:
    """Whether all that reads the info, the result at `place`, is the check of errors, and that is there."""
    readers = _readers(call, place)
    return bool(readers) and all("_linalg_check_errors" in str((r.target, *r.args[:2])) for r in readers)


def _readers(call: Call, place: int) -> list[Any]:
    """Return the nodes that read the result at `place`."""
    return [reader for user in call.node.users if user.args[1:] == (place,) for reader in user.users]


def _no_error(a: Any) -> Any:
    return T.zeros(lengths(a)[:-2], "int32")


def _nothing(a: Any) -> Any:
    return T.zeros((0,), a.dtype)


def _adjoint(a: Any) -> Any:
    return T.conj(_transposed(a)) if a.type.kind == "c" else _transposed(a)


def _transposed(a: Any) -> Any:
    return T.swapaxes(a, -1, -2)
