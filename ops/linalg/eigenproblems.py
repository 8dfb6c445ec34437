"""Hermitian eigenvalue problems with SciPy's options: a second matrix, and parts of the spectrum.

The problem of two matrices becomes one of a single matrix by the Cholesky factor of the second: Golub and Van Loan,
Matrix Computations, algorithm 8.7.1.
"""

from __future__ import annotations

from typing import Any

from ...graph import Variable
from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.tensor import TensorVariable
from ..core.typing import TensorLike
from .equations import together
from .factorizations import Cholesky, Eigh, Eigvalsh
from .matrix_ops import adjoint, as_matrices, product
from .solving import SolveTriangular


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
