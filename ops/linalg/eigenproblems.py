"""Eigenvalue problems with SciPy's options: a second matrix, eigenvectors of both sides, parts of the spectrum.

The Hermitian problem of two matrices becomes one of a single matrix by the Cholesky factor of the second: Golub and
Van Loan, Matrix Computations, algorithm 8.7.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, NoGradient, TensorType, Variable
from ...record import record
from ..control.batching import repeat_operands
from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.tensor import HostOp, TensorVariable
from ..core.typing import TensorLike
from .equations import together
from .factorizations import Cholesky, Eigh, Eigvalsh
from .lapack import eigenpairs_of, stacked
from .matrix_ops import MatrixOp, adjoint, as_matrices, product
from .solving import SolveTriangular


@record(repr=False)
class EigPencil(MatrixOp, HostOp):
    """w, vl and vr of square matrices a, or of pencils (a, b): a @ vr = b @ vr @ diag(w), and the same for vl^H.

    All are complex, columns have the length 1.  The derivative by way of w needs distinct eigenvalues.
    """

    name = "eig_pencil"
    batching: ClassVar[Callable[..., Any]] = repeat_operands
    fallible = True

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a, *_ = (self.square(inputs[k:], len(inputs) - k) for k in range(len(inputs)))
        dtype = "complex64" if a.dtype in ("float32", "complex64") else "complex128"
        vectors = TensorType(dtype, a.shape)
        return TensorType(dtype, a.shape[:-1]), vectors, vectors

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        found: tuple[np.ndarray, ...] = stacked(eigenpairs_of, *values)
        return found

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return inputs[0][:-1], inputs[0], inputs[0]

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        w, vl, vr = node.outputs
        gw: Any = cotangents[0]
        if any(g is not None for g in cotangents[1:]):
            raise NoGradient("eig: eigenvectors are determined but for a factor, so they have no derivative")
        if gw is None:
            return [None] * len(node.inputs)
        right = vr if len(node.inputs) == 1 else product(node.inputs[1], vr)
        scale = T.conj(T.sum(T.conj(vl) * right, axis=-2))  # dw = vl^H (da - w db) vr / (vl^H b vr)
        by_a = product(vl * T.expand_dims(gw / scale, -2), adjoint(vr))
        by_b = product(vl * T.expand_dims(-T.conj(w) * gw / scale, -2), adjoint(vr))
        pairs = zip(node.inputs, (by_a, by_b), strict=False)
        return [g if i.type.kind == "c" else T.real(g) for i, g in pairs]


def eigenpairs(a: TensorVariable, b: TensorLike | None, kind: int, lower: bool, values_only: bool) -> Any:
    """The eigenvalues and vectors of a, or of the problem `kind` of a and b (1: a v = w b v, 2: a b v = w v, 3: b a v =
    w v); the values alone if so told.  One triangle of a and of b is read.
    """
    if b is None:
        return Eigvalsh()(a) if values_only else Eigh()(a)
    if kind not in (1, 2, 3):
        raise ValueError(f"eigh: type must be 1, 2 or 3, got {shown(kind)}")
    second = as_matrices(b, "eigh")
    a, second = together("eigh", a, second if lower else adjoint(second))
    factor = Cholesky()(second)
    half = SolveTriangular(True)
    whole = T.add(T.tril(a), adjoint(T.tril(a, -1)))
    if kind == 1:
        reduced = half(factor, adjoint(half(factor, whole)))  # l^-1 a l^-H
    else:
        reduced = product(adjoint(factor), whole, factor)
    if values_only:
        return Eigvalsh()(reduced)
    w, v = Eigh()(reduced)
    return w, product(factor, v) if kind == 3 else SolveTriangular(False)(adjoint(factor), v)


def part_of_spectrum(w: Any, v: Any, by_index: Any, by_value: Any) -> tuple[Any, Any]:
    """The pairs from one index to another, both included, or of values above the first and up to the second bound."""
    if by_index is not None and by_value is not None:
        raise ValueError("eigh: either index or value subset can be requested, got both")
    if by_index is not None:
        first, last = (int(n) for n in by_index)
        n = w.type.shape[-1]
        if not 0 <= first <= last or (n is not None and last >= n):
            raise ValueError(f"eigh: requested eigenvalue indices are not valid: not 0 <= i <= j < n: {by_index!r}")
        return w[..., first : last + 1], None if v is None else v[..., first : last + 1]
    low, high = by_value
    if not isinstance(low, Variable) and not isinstance(high, Variable) and not low < high:
        raise ValueError(f"eigh: requested eigenvalue bounds are not valid: low < high, got {by_value!r}")
    if w.ndim != 1:
        raise ValueError(f"eigh: subset_by_value takes one matrix, got {describe(w)}; how many there are differs")
    kept = T.logical_and(T.gt(w, low), T.le(w, high))
    return T.compress(kept, w), None if v is None else T.compress(kept, v, axis=-1)
