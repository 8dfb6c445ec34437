"""Schur factors, polar factors and bases of subspaces.

    Schur(output, sort)(a)    t, z and the number of sorted eigenvalues: a = z @ t @ z^H
    QZ(output)(a, b)          aa, bb, q, z: a = q @ aa @ z^H, b = q @ bb @ z^H
    Polar()(a)                u, p: a = u @ p, u with orthonormal columns, p positive semidefinite

The derivative of the polar factors: p solves p^2 = a^H a, whose derivative is a Sylvester equation.
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
from ..core.tensor import HostOp, TensorVariable, outputs_of
from ..core.typing import TensorLike
from ..shapes.conditions import checked
from .equations import Sylvester, together
from .factorizations import SVD
from .lapack import ORDERS, qz_of, schur_of, stacked
from .matrix_ops import MatrixOp, adjoint, as_matrices, of_numbers, product
from .scipys import finite, square

__all__ = ["null_space", "orth", "polar", "qz", "rsf2csf", "schur"]

_OUTPUTS = ("real", "complex", "r", "c")
_NOT_DETERMINED = "a determines the factors but for signs, phases and an order, so they have no derivative"


def _complex(dtype: str) -> str:
    return {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)


@record(repr=False)
class Schur(MatrixOp, HostOp):
    """t, upper triangular (with blocks of two for real matrices), z, unitary, and how many eigenvalues `sort` selects.

    `sort`: None, or "lhp", "rhp", "iuc", "ouc", or a function: the eigenvalues that go first.
    """

    sort: Any = None
    name = "schur"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a = self.square(inputs)
        return a, a, TensorType("int64", a.shape[:-2])

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        def places(a: np.ndarray) -> tuple[np.ndarray, ...]:
            t, z, count = schur_of(a, self.sort)
            return t, z, np.asarray(count, "int64")

        found: tuple[np.ndarray, ...] = stacked(places, values[0])
        return found

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return inputs[0], inputs[0], inputs[0][:-2]

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        if all(g is None for g in cotangents[:2]):
            return [None]
        raise NoGradient(f"schur: {_NOT_DETERMINED}; T.linalg.eigvals, expm, logm, sqrtm and solve_sylvester have one")


@record(repr=False)
class QZ(MatrixOp, HostOp):
    """The factors of a pencil: aa, upper triangular (with blocks of two if real), bb, upper triangular, q and z."""

    name = "qz"
    batching: ClassVar[Callable[..., Any]] = repeat_operands

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a = self.square(inputs, 2)
        b = self.square(inputs[1:])
        pairs = zip(a.shape, b.shape, strict=False)
        if len(a.shape) != len(b.shape) or any(None not in pair and pair[0] != pair[1] for pair in pairs):
            raise ValueError(f"qz: expected two matrices of one shape, got {' and '.join(map(describe, inputs))}")
        return a, a, a, a

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        if values[0].shape != values[1].shape:
            raise ValueError(f"qz: expected matrices of one shape, got {values[0].shape} and {values[1].shape}")
        found: tuple[np.ndarray, ...] = stacked(lambda a, b: qz_of(a, b)[:4], *values)
        return found

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],) * 4

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        if all(g is None for g in cotangents):
            return [None, None]
        raise NoGradient(f"qz: {_NOT_DETERMINED}")


@record(repr=False)
class Polar(MatrixOp, HostOp):
    """u, with orthonormal columns (rows if there are more columns), and p, Hermitian positive semidefinite: a = u @ p.

    The derivative needs matrices of full column rank.
    """

    name = "polar"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a = self.matrices(inputs).type
        return a, a.with_shape((*a.shape[:-2], a.shape[-1], a.shape[-1]))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            w, s, vh = np.linalg.svd(of_numbers(values[0]), full_matrices=False)
        v = np.conj(np.swapaxes(vh, -1, -2))
        return w @ vh, (v * s[..., None, :].astype(v.dtype)) @ vh

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        n = inputs[0][-1]
        return inputs[0], (*inputs[0][:-1][:-1], n, n)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (a,), (u, p), (gu, gp) = node.inputs, node.outputs, cotangents
        if gu is None and gp is None:
            return [None]
        m, n = a.type.shape[-2:]
        if m is not None and n is not None and m < n:
            raise NoGradient(f"polar of {describe(a)}: p is singular, so it has no derivative")
        rows, columns = T.lengths_of(a)[-2:]
        p = checked(p, T.ge(rows, columns), "polar: the derivative for more columns than rows needs lengths that are "
                    "known when the graph is built")  # fmt: skip
        by_p = None if gu is None else adjoint(T.linalg.solve(p, adjoint(gu)))  # gu p^-1
        whole = T.zeros_like(p) if gp is None else gp
        whole = whole if by_p is None else T.sub(whole, product(adjoint(u), by_p))
        y = Sylvester()(p, p, T.add(whole, adjoint(whole)))
        through = product(a, y)
        return [through if by_p is None else T.add(through, by_p)]


def schur(
    a: TensorLike, output: str = "real", lwork: Any = None, overwrite_a: bool = False, sort: Any = None,
    check_finite: bool = True,
) -> tuple[TensorVariable, ...]:  # fmt: skip
    """(t, z) with a = z @ t @ z^H: t upper triangular, with blocks of two for a real matrix, z unitary.

    `output`: "real", or "complex" for a triangular t in any case.  `sort`: "lhp", "rhp" (left, right half plane), "iuc"
    or "ouc" (inside, outside the unit circle) for eigenvalues that go first; their number is a third result then.  Or a
    function that says whether one does: of a complex number, for real factors of its real and its imaginary part.
    Without a derivative.  A run raises LinAlgError where the iteration does not converge or values cannot be ordered.
    """
    if output not in _OUTPUTS:
        raise ValueError(f'schur: output must be "real" or "complex", got {shown(output)}')
    if not (sort is None or callable(sort) or sort in ORDERS):
        raise ValueError(f"schur: sort must be None, a function or one of {', '.join(ORDERS)}, got {shown(sort)}")
    a = square(a, "schur", check_finite)
    a = T.cast(a, _complex(a.dtype)) if output[0] == "c" else a
    found = outputs_of(Schur(sort), a)
    return found if sort else found[:2]


def rsf2csf(
    T_: TensorLike, Z: TensorLike, check_finite: bool = True
) -> tuple[TensorVariable, TensorVariable]:
    """(t, z), complex and triangular, of real Schur factors: z @ t @ z^H stays the same."""
    t, z = (finite(x, "rsf2csf", check_finite) for x in (T_, Z))
    found = outputs_of(Schur(), T.cast(t, _complex(t.dtype)))
    return found[0], product(T.cast(z, found[1].dtype), found[1])


def qz(
    A: TensorLike, B: TensorLike, output: str = "real", lwork: Any = None, sort: Any = None,
    overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True,
) -> tuple[TensorVariable, ...]:  # fmt: skip
    """(aa, bb, q, z) with A = q @ aa @ z^H and B = q @ bb @ z^H: bb upper triangular, aa with blocks of two if real.

    `output`: "real", or "complex" for triangular factors in any case.  `sort` must be None, as in SciPy.  Without a
    derivative.  A run raises LinAlgError where the iteration does not converge.
    """
    if sort is not None:
        raise ValueError("qz: the 'sort' input of qz() has to be None, as in SciPy; T.linalg.schur sorts")
    if output not in _OUTPUTS:
        raise ValueError(f'qz: output must be "real" or "complex", got {shown(output)}')
    a, b = together("qz", square(A, "qz", check_finite), square(B, "qz", check_finite))
    if output[0] == "c":
        a, b = T.cast(a, _complex(a.dtype)), T.cast(b, _complex(b.dtype))
    return outputs_of(QZ(), a, b)


def polar(a: TensorLike, side: str = "right") -> tuple[TensorVariable, TensorVariable]:
    """(u, p): a = u @ p for the side "right", a = p @ u for "left"; u has orthonormal columns or rows, p is Hermitian.

    Derivatives need a matrix of full rank.
    """
    if side not in ("right", "left"):
        raise ValueError(f'polar: side must be "right" or "left", got {shown(side)}')
    a = as_matrices(a, "polar")
    m, n = a.type.shape[-2:]
    wide = m is not None and n is not None and m < n
    u, p = outputs_of(Polar(), adjoint(a) if wide else a)
    u = adjoint(u) if wide else u
    if wide == (side == "left"):
        return u, p
    return u, product(u, p, adjoint(u)) if side == "left" else product(adjoint(u), p, u)


def null_space(
    A: TensorLike, rcond: float | None = None, *, overwrite_a: bool = False, check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> TensorVariable:  # fmt: skip
    """An orthonormal basis of the vectors that the matrix maps to 0, as columns; how many there are the run decides.

    Singular values up to `rcond` (by default as many units in the last place as A has rows or columns) times the
    largest count as 0.  Without a derivative: A determines the space, and no basis of it.
    """
    rank, _, vh = _ranked("null_space", A, rcond, check_finite)
    return adjoint(vh[rank:, :])


def orth(A: TensorLike, rcond: float | None = None) -> TensorVariable:
    """An orthonormal basis of the span of the columns; how many there are the run decides.

    `rcond`: see `null_space`.
    """
    rank, u, _ = _ranked("orth", A, rcond, False)
    return u[:, :rank]


def _ranked(what: str, x: TensorLike, rcond: Any, check: Any) -> tuple[Any, TensorVariable, TensorVariable]:
    a = finite(x, what, check)
    if a.ndim != 2:
        raise ValueError(f"{what}: the number of vectors would differ from place to place of {describe(a)}")
    u, s, vh = outputs_of(SVD(what == "null_space"), a)
    m, n = T.lengths_of(a)
    if rcond is None:
        rcond = T.mul(T.cast(T.maximum(m, n), s.dtype), T.constant(float(np.finfo(s.dtype).eps), s.dtype))
    bound = T.mul(T.max(s, initial=0), T.cast(rcond, s.dtype))
    return T.sum(T.gt(s, bound), dtype="int64"), u, vh
