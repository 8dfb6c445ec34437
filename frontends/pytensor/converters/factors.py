"""Factors and functions of matrices, and systems of tensors, by the names that `T.linalg` shares with SciPy."""

from __future__ import annotations

from typing import Any

from .... import ops as T
from ....ops.linalg.lu_factors import PivotOrder
from ..table import Call, converter
from ..versions import classes, linalg
from .linalg import BATCHED
from .scalars import as_dtype

BATCHED |= {
    linalg.LU, linalg.LUFactor, linalg.Schur, linalg.QZ, linalg.Expm, linalg.PivotToPermutations,
    *classes(linalg, "EighGrad", "EigvalshGrad"),
}  # fmt: skip


def _typed(call: Call, found: Any) -> Any:
    """Return results in the dtypes that the op declares."""
    several = found if isinstance(found, tuple) else (found,)
    return tuple(as_dtype(v, dtype) for v, dtype in zip(several, call.dtypes, strict=True))


@converter(linalg.LU)
def lu(call: Call, x: Any) -> Any:
    return _typed(call, tuple(T.linalg.lu(x, permute_l=call.op.permute_l, p_indices=call.op.p_indices)))


@converter(linalg.LUFactor)
def lu_factor(call: Call, x: Any) -> Any:
    """Return the factors, which are NaN as a whole for a singular matrix, as in PyTensor."""
    factors, pivots = T.linalg.lu_factor(x)
    singular = T.any(T.eq(T.diagonal(factors, 0, -2, -1), 0), -1)
    nan = T.constant(float("nan"), factors.dtype)
    return _typed(call, (T.switch(singular[..., None, None], nan, factors), pivots))


@converter(linalg.PivotToPermutations)
def permutation_of_pivots(call: Call, pivots: Any) -> Any:
    order = PivotOrder()(as_dtype(pivots, "int32"), T.expand_dims(pivots, -1))
    return _typed(call, order if call.op.inverse else T.argsort(order, -1))


@converter(linalg.Schur)
def schur(call: Call, x: Any) -> Any:
    return NotImplemented if call.op.sort is not None else _typed(call, tuple(T.linalg.schur(x, call.op.output)))


@converter(linalg.QZ)
def qz(call: Call, a: Any, b: Any) -> Any:
    op = call.op
    if op.sort is not None or op.return_eigenvalues:
        return NotImplemented
    return _typed(call, tuple(T.linalg.qz(a, b, output="complex" if op.complex_output else "real")))


def _of_triangle(gradient: Any, lower: bool) -> Any:
    """Return the gradient by the elements of the triangle that was read, which stand for both."""
    other = T.swapaxes(gradient, -1, -2)
    return T.tril(gradient) + T.tril(other, -1) if lower else T.triu(gradient) + T.triu(other, 1)


@converter(*classes(linalg, "EighGrad"))
def eigh_gradient(call: Call, x: Any, w: Any, v: Any, gw: Any, gv: Any) -> Any:
    """Return v (diag(gw) + (v^T gv) / (w_j - w_i)) v^T, of the triangle that was read."""
    transposed = T.swapaxes(v, -1, -2)
    gaps = T.expand_dims(w, -2) - T.expand_dims(w, -1)
    same = T.eye(T.lengths_of(w)[-1], dtype="bool")
    zero, one = (T.constant(n, gaps.dtype) for n in (0, 1))
    rotation = T.switch(same, zero, T.matmul(transposed, gv) / T.switch(same, one, gaps))
    inner = rotation + T.switch(same, T.expand_dims(gw, -2), zero)
    return _typed(call, _of_triangle(T.matmul(T.matmul(v, inner), transposed), call.op.UPLO == "L"))


@converter(*classes(linalg, "EigvalshGrad"))
def eigvalsh_gradient(call: Call, a: Any, b: Any, gw: Any) -> Any:
    if b is not None and (b.ndim != 2 or a.ndim != 2):
        return NotImplemented
    w, v = T.linalg.eigh(a, b=b, lower=call.op.lower)
    transposed = T.swapaxes(v, -1, -2)
    by_a = T.matmul(v * T.expand_dims(gw, -2), transposed)
    by_b = -T.matmul(v * T.expand_dims(gw * w, -2), transposed)
    return _typed(call, (_of_triangle(by_a, call.op.lower), _of_triangle(by_b, call.op.lower)))


converter(linalg.Expm)(lambda call, x: _typed(call, T.linalg.expm(x)))
converter(linalg.Lstsq)(lambda call, a, b, rcond: _typed(call, tuple(T.linalg.lstsq(a, b, rcond))))
converter(linalg.TensorInv)(lambda call, a: _typed(call, T.linalg.tensorinv(a, call.op.ind)))
converter(linalg.TensorSolve)(lambda call, a, b: _typed(call, T.linalg.tensorsolve(a, b, call.op.axes)))
