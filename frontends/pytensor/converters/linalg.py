"""Linear algebra.  The ops of `T.linalg` take batches, so a Blockwise of one of these is the op itself."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ..table import Call, converter
from ..versions import linalg
from .scalars import as_dtype

BATCHED: set[type] = {
    linalg.Cholesky, linalg.Solve, linalg.SolveTriangular, linalg.CholeskySolve, linalg.Eigvalsh, linalg.QR,
    linalg.MatrixInverse, linalg.MatrixPinv, linalg.Det, linalg.SLogDet, linalg.Eig, linalg.Eigh, linalg.SVD,
}  # fmt: skip
"""Core ops whose converters take batches."""


def _transposed(x: Any) -> Any:
    return T.swapaxes(x, -1, -2)


def _adjoint(x: Any) -> Any:
    return T.conj(_transposed(x)) if x.type.kind == "c" else _transposed(x)


def _half(x: Any, lower: bool, mirrored: Any = _adjoint) -> Any:
    """Return the Hermitian matrix whose lower or upper half is that of `x`; `mirrored` gives its other half."""
    return T.tril(x) + mirrored(T.tril(x, -1)) if lower else T.triu(x) + mirrored(T.triu(x, 1))


@converter(linalg.Cholesky)
def cholesky(call: Call, x: Any) -> Any:
    factor = T.linalg.cholesky(x if call.op.lower else _transposed(x))
    return as_dtype(factor if call.op.lower else _transposed(factor), call.dtypes[0])


def _solved(call: Call, function: Any, a: Any, b: Any) -> Any:
    """Return the solution of a system whose right side is a vector or a matrix, as the op says."""
    dtype = call.dtypes[0]
    a, b = as_dtype(a, dtype), as_dtype(b, dtype)
    if call.op.b_ndim == 1:
        return function(a, T.expand_dims(b, -1))[..., 0]
    return function(a, b)


@converter(linalg.SolveTriangular)
def solve_triangular(call: Call, a: Any, b: Any) -> Any:
    op = call.op

    def solve(a: Any, b: Any) -> Any:
        return T.linalg.solve_triangular(a, b, lower=op.lower, unit_diagonal=op.unit_diagonal)

    return _solved(call, solve, a, b)


@converter(linalg.CholeskySolve)
def cholesky_solve(call: Call, c: Any, b: Any) -> Any:
    lower = call.op.lower

    def solve(c: Any, b: Any) -> Any:
        first, second = (c, _adjoint(c)) if lower else (_adjoint(c), c)
        return T.linalg.solve_triangular(second, T.linalg.solve_triangular(first, b, lower=True), lower=False)

    return _solved(call, solve, c, b)


@converter(linalg.Solve)
def solve(call: Call, a: Any, b: Any) -> Any:
    op = call.op
    if op.assume_a in ("sym", "pos", "her"):
        a = _half(a, op.lower, _transposed if op.assume_a == "sym" else _adjoint)
    return _solved(call, T.linalg.solve, a, b)


@converter(linalg.Det)
def det(call: Call, x: Any) -> Any:
    return T.linalg.det(as_dtype(x, call.dtypes[0]))


@converter(linalg.SLogDet)
def slogdet(call: Call, x: Any) -> Any:
    return tuple(T.linalg.slogdet(as_dtype(x, call.dtypes[0])))


@converter(linalg.Eig)
def eig(call: Call, x: Any) -> Any:
    found = T.linalg.eig(x)
    return tuple(as_dtype(v, dtype) for v, dtype in zip(found, call.dtypes, strict=True))


@converter(linalg.Eigh)
def eigh(call: Call, a: Any, b: Any = None) -> Any:
    lower = call.op.lower if hasattr(call.op, "lower") else call.op.UPLO == "L"
    return tuple(T.linalg.eigh(a, b=b, lower=lower))


@converter(linalg.Eigvalsh)
def eigvalsh(call: Call, a: Any, b: Any = None) -> Any:
    if b is not None:
        return T.linalg.eigh(a, b=b, lower=call.op.lower, eigvals_only=True)
    return T.linalg.eigvalsh(a, UPLO="L" if call.op.lower else "U")


@converter(linalg.SVD)
def svd(call: Call, x: Any) -> Any:
    op = call.op
    if not op.compute_uv:
        return T.linalg.svdvals(x)
    return tuple(T.linalg.svd(x, full_matrices=op.full_matrices))


@converter(linalg.QR)
def qr(call: Call, x: Any) -> Any:
    op = call.op
    if op.mode == "raw":  # PyTensor declares real factors of complex matrices, too
        return call.conversion.performed(call.node, (x,), x.dtype if x.type.kind == "c" else "")
    found = T.linalg.qr(x, mode={"economic": "reduced", "full": "complete", "r": "r"}[op.mode], pivoting=op.pivoting)
    several = tuple(found) if isinstance(found, tuple) else (found,)
    return (*several[:-1], as_dtype(several[-1], "int32")) if op.pivoting else several


@converter(linalg.BlockDiagonal)
def block_diagonal(call: Call, *blocks: Any) -> Any:
    blocks = tuple(as_dtype(b, call.dtypes[0]) for b in blocks)
    if len(blocks) == 1:
        return blocks[0]
    rows, columns = ([T.lengths_of(b)[axis] for b in blocks] for axis in (0, 1))
    found = T.zeros((T.sum(T.stack(rows)), T.sum(T.stack(columns))), call.dtypes[0])
    top: Any = T.constant(0, "int64")
    left = top
    for b, m, n in zip(blocks, rows, columns, strict=True):
        found = T.set_subtensor(found[top : top + m, left : left + n], b)
        top, left = top + m, left + n
    return found


converter(linalg.MatrixInverse)(lambda call, x: T.linalg.inv(as_dtype(x, call.dtypes[0])))
converter(linalg.MatrixPinv)(lambda call, x: T.linalg.pinv(as_dtype(x, call.dtypes[0]), hermitian=call.op.hermitian))
