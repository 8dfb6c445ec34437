"""Matrices of a structure: blocks, equal diagonals, bands.

    SolveBanded(lower, upper)(ab, b)    x with a @ x = b, where the rows of ab are the diagonals of a
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, TensorType, Variable
from ...record import record
from ..control.batching import repeat_operands
from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.operands import conjugated, in_joint_dtype
from ..core.tensor import HostOp, TensorVariable, as_tensor
from ..core.typing import TensorLike
from .equations import together
from .lapack import banded_solution, stacked
from .lu_factors import sides
from .matrix_ops import MatrixOp, with_joint_batch
from .scipys import finite

__all__ = ["block_diag", "circulant", "hankel", "solve_banded", "toeplitz"]


@record(repr=False)
class SolveBanded(MatrixOp, HostOp):
    """x with a @ x = b: row `upper` of ab is the diagonal of a, those before it stand above, `lower` rows below.

    Element ab[upper + i - j, j] is a[i, j]; the others are not read.  Raises LinAlgError for a singular matrix.
    """

    lower: int
    upper: int
    name = "solve_banded"
    batching: ClassVar[Callable[..., Any]] = repeat_operands

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.matrices(inputs, 2)
        ab, b = inputs
        (rows, n), m = ab.type.shape[-2:], b.type.shape[-2]
        if rows not in (None, self.lower + self.upper + 1):
            raise ValueError(
                f"solve_banded: invalid values for the number of lower and upper diagonals: l+u+1 "
                f"({self.lower + self.upper + 1}) does not equal ab.shape[0], of {describe(ab)}"
            )
        if None not in (n, m) and n != m:
            raise ValueError(f"solve_banded: shapes of ab and b are not compatible: {describe(ab)} and {describe(b)}")
        return (b.type.with_shape((*b.type.shape[:-2], n if m is None else m, b.type.shape[-1])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        ab, b = values
        if ab.shape[-2] != self.lower + self.upper + 1 or ab.shape[-1] != b.shape[-2]:
            raise ValueError(f"solve_banded: shapes {ab.shape} and {b.shape} are no system with bands "
                             f"({self.lower}, {self.upper})")  # fmt: skip
        found: tuple[np.ndarray, ...] = stacked(
            lambda a, y: (banded_solution(self.lower, self.upper, a, y),), ab, b
        )
        return found

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[1],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (ab, _), x = cotangents, node.inputs, node.out
        if g is None:
            return [None, None]
        diagonals = range(self.upper, -self.lower - 1, -1)  # j - i of each row of ab
        opposite = T.stack([_shifted(T.conj(ab[..., self.upper - d, :]), d) for d in reversed(diagonals)], -2)  # type: ignore[index]
        back = SolveBanded(self.upper, self.lower)(opposite, g)
        conjugate: Any = T.conj(x)
        rows = [T.neg(T.sum(T.mul(_shifted(back, -d, -2), conjugate), axis=-1)) for d in diagonals]
        return [T.stack(rows, -2), back]


def _shifted(x: Any, by: int, axis: int = -1) -> TensorVariable:
    """`x` with element k + by at place k along an axis, and zeros where there is none."""
    if by == 0:
        return as_tensor(x)
    front = (..., slice(by, None)) if by > 0 else (..., slice(None, by))
    kept = x[front if axis == -1 else (*front, slice(None))]
    ends = [(0, 0)] * x.ndim
    ends[axis] = (0, by) if by > 0 else (-by, 0)
    length = T.lengths_of(x)[axis]
    padded = T.pad(kept, ends)
    return padded[(..., slice(length)) if axis == -1 else (..., slice(length), slice(None))]


def solve_banded(
    l_and_u: tuple[int, int], ab: TensorLike, b: TensorLike, overwrite_ab: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> TensorVariable:  # fmt: skip
    """x with a @ x = b for a matrix of `l_and_u` diagonals below and above the main one; b is a vector or columns.

    `ab`: the diagonals as rows of length n, the highest first: ab[u + i - j, j] is a[i, j].  A run raises LinAlgError
    for a singular matrix.
    """
    try:
        lower, upper = (int(n) for n in l_and_u)
    except (TypeError, ValueError):
        raise TypeError(f"solve_banded: expected the integers (l, u), got {shown(l_and_u)}") from None
    if min(lower, upper) < 0:
        raise ValueError(f"solve_banded: l and u must not be negative, got {lower} and {upper}")
    rows = finite(ab, "solve_banded", check_finite)
    rows, columns, restore = sides(rows, finite(b, "solve_banded", check_finite, vectors=True), "solve_banded")
    return restore(SolveBanded(lower, upper)(*together("solve_banded", rows, columns)))


def block_diag(*arrs: TensorLike) -> TensorVariable:
    """The matrix of blocks along the diagonal and zeros elsewhere; vectors are rows, and batches broadcast.

    Without blocks a matrix of one row and no column, as in SciPy.
    """
    if not arrs:
        return T.zeros((1, 0))
    blocks = [T.atleast_2d(x) for x in in_joint_dtype(arrs)]
    if any(b.ndim > 2 for b in blocks):
        blocks = together("block_diag", *blocks)
    widths = [T.lengths_of(b)[-1] for b in blocks]
    rows = []
    for k, b in enumerate(blocks):
        *front, height, _ = T.lengths_of(b)
        beside = [T.zeros((*front, height, sum(part[1:], part[0])), b.dtype) if part else None
                  for part in (widths[:k], widths[k + 1 :])]  # fmt: skip
        pieces = [p for p in (beside[0], b, beside[1]) if p is not None]
        rows.append(pieces[0] if len(pieces) == 1 else T.concatenate(pieces, -1))
    return rows[0] if len(rows) == 1 else T.concatenate(rows, -2)


def toeplitz(c: TensorLike, r: TensorLike | None = None) -> TensorVariable:
    """The matrices of equal diagonals whose first column is `c`, and first row r[0] = c[0] and `r`, or conj(c)."""
    column = T.atleast_1d(c)
    column, row = in_joint_dtype([column, conjugated(column) if r is None else T.atleast_1d(r)])
    m, n = T.lengths_of(column)[-1], T.lengths_of(row)[-1]
    values = _joined(T.flip(column, -1), row)
    return _gathered(values, T.expand_dims(m - 1 - T.arange(m), 1) + T.arange(n))


def hankel(c: TensorLike, r: TensorLike | None = None) -> TensorVariable:
    """The matrices of equal antidiagonals whose first column is `c`, and last row c[-1] and `r`, by default zeros."""
    column = T.atleast_1d(c)
    column, row = in_joint_dtype([column, T.zeros_like(column) if r is None else T.atleast_1d(r)])
    m, n = T.lengths_of(column)[-1], T.lengths_of(row)[-1]
    return _gathered(_joined(column, row), T.expand_dims(T.arange(m), 1) + T.arange(n))


def circulant(c: TensorLike) -> TensorVariable:
    """The square matrices whose first column is `c` and whose each next column is the one before, moved down by one."""
    column = T.atleast_1d(c)
    place = T.arange(T.lengths_of(column)[-1])
    return _gathered(column, T.mod(T.expand_dims(place, 1) - place, T.lengths_of(column)[-1]))


def _joined(first: Any, second: Any) -> TensorVariable:
    """The first vectors, and behind them the second ones without their first element; batches broadcast."""
    if max(first.ndim, second.ndim) > 1:
        first, second = with_joint_batch((first, 1), (second, 1))
    return T.concatenate([first, second[..., 1:]], -1)


def _gathered(values: Any, places: Any) -> TensorVariable:
    return T.take(values, places, axis=-1)
