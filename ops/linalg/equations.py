"""Matrix equations: Sylvester's, Lyapunov's and Riccati's.

    Sylvester()(a, b, q)               x with a @ x + x @ b = q
    ContinuousRiccati()(a, b, q, r)    x with a^H x + x a - x b r^-1 b^H x + q = 0, which stabilizes
    DiscreteRiccati()(a, b, q, r, s)   the same for steps: see `solve_discrete_are`

Values: Laub, A Schur method for solving algebraic Riccati equations (1979); van Dooren, A generalized eigenvalue
approach for solving Riccati equations (1981).  Derivatives by the implicit function theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, TensorType, Variable
from ...record import record
from ..control.batching import repeat_operands
from ..core.backward import pull_back
from ..core.checks import describe
from ..core.namespace import T
from ..core.operands import with_dtype
from ..core.promotion import result_type
from ..core.tensor import HostOp, TensorVariable
from ..core.typing import TensorLike
from .lapack import qz_of, schur_of, stacked, sylvester_of
from .matrix_ops import MatrixOp, adjoint, product, with_joint_batch
from .scipys import finite, square

__all__ = [
    "solve_continuous_are", "solve_continuous_lyapunov", "solve_discrete_are", "solve_discrete_lyapunov",
    "solve_lyapunov", "solve_sylvester",
]  # fmt: skip
_NOT_FOUND = "Failed to find a finite solution."
"""SciPy's message."""


class Equation(MatrixOp, HostOp):
    """The base of the ops that solve for a matrix as the equation's operands `sides` say."""

    sides: ClassVar[tuple[tuple[int, int], ...]]
    """For each operand which of two lengths its rows and columns have."""
    result: ClassVar[tuple[int, int]] = (0, 0)
    batching: ClassVar[Callable[..., Any]] = repeat_operands

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.matrices(inputs, len(self.sides))
        lengths: dict[int, int | None] = {0: None, 1: None}
        for x, own in zip(inputs, self.sides, strict=True):
            for side, n in zip(own, x.type.shape[-2:], strict=True):
                if n is not None and lengths[side] not in (None, n):
                    described = ", ".join(map(describe, inputs))
                    raise ValueError(f"{self.name}: the lengths {lengths[side]} and {n} do not agree, of {described}")
                lengths[side] = lengths[side] if n is None else n
            if x.ndim != inputs[0].ndim:
                raise ValueError(f"{self.name}: expected operands of one rank, got {describe(x)}")
        batch = inputs[0].type.shape[:-2]
        return (inputs[0].type.with_shape((*batch, lengths[self.result[0]], lengths[self.result[1]])),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        pairs = zip(inputs, self.sides, strict=True)
        found = {side: n for x, own in pairs for side, n in zip(own, x[-2:], strict=True)}
        return ((*inputs[0][:-2], found[self.result[0]], found[self.result[1]]),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        for side in (0, 1):
            lengths = {n for x, own in zip(values, self.sides, strict=True)
                       for s, n in zip(own, x.shape[-2:], strict=True) if s == side}  # fmt: skip
            if len(lengths) > 1:
                raise ValueError(f"{self.name}: lengths do not agree, of shapes {[x.shape for x in values]}")
        with np.errstate(all="ignore"):
            found: tuple[np.ndarray, ...] = stacked(lambda *v: (self.solved(*v),), *values)
        return found

    def solved(self, *values: np.ndarray) -> np.ndarray:
        """The solution for one place of the batch."""
        raise NotImplementedError


@record(repr=False)
class Sylvester(Equation):
    """x with a @ x + x @ b = q; huge (LAPACK moves zeros by an epsilon) where a and -b share an eigenvalue."""

    name = "solve_sylvester"
    sides = ((0, 0), (1, 1), (0, 1))
    result = (0, 1)

    def solved(self, *values: np.ndarray) -> np.ndarray:
        return sylvester_of(*values)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (a, b, _) = cotangents, node.inputs
        if g is None:
            return [None, None, None]
        y, x = Sylvester()(adjoint(a), adjoint(b), g), adjoint(node.out)
        return [T.neg(product(y, x)), T.neg(product(x, y)), y]


class Riccati(Equation):
    """The base of the Riccati equations; derivatives hold the residual at 0."""

    def residual(self, x: Variable, *operands: Variable) -> Variable:
        """The expression that is 0 for the solution."""
        raise NotImplementedError

    def multiplier(self, x: Variable, g: Variable, *operands: Variable) -> Variable:
        """y with (derivative of the residual by x)^H y = -g."""
        raise NotImplementedError

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), x = cotangents, node.out
        if g is None:
            return [None] * len(node.inputs)
        half = T.constant(0.5, g.dtype)
        y = self.multiplier(x, T.mul(half, T.add(g, adjoint(g))), *node.inputs)
        return pull_back([self.residual(x, *node.inputs)], [y], list(node.inputs), stop_at=[x, *node.inputs])


def _symmetric(x: np.ndarray) -> np.ndarray:
    found: np.ndarray = (x + np.conj(x.T)) / 2
    return found


def _stable(basis: np.ndarray, count: int) -> np.ndarray:
    """x of a basis [u; x u] of the stable subspace.  Raises LinAlgError where there is none of full dimension."""
    n = basis.shape[0] // 2
    upper, lower = basis[:n, :n], basis[n:, :n]
    if count != n or (n and np.linalg.cond(upper) > 1 / np.finfo(basis.dtype).eps):
        raise np.linalg.LinAlgError(_NOT_FOUND)
    return _symmetric(np.linalg.solve(upper.T, lower.T).T)


@record(repr=False)
class ContinuousRiccati(Riccati):
    """x with a^H x + x a - x b r^-1 b^H x + q = 0, for which a - b r^-1 b^H x is stable."""

    name = "solve_continuous_are"
    sides = ((0, 0), (0, 1), (0, 0), (1, 1))

    def solved(self, *values: np.ndarray) -> np.ndarray:
        a, b, q, r = values
        if r.size and np.linalg.cond(r) > 1 / np.finfo(r.dtype).eps:
            raise np.linalg.LinAlgError("Matrix r is numerically singular.")
        gain = b @ np.linalg.solve(r, np.conj(b.T))
        _, z, count = schur_of(np.block([[a, -gain], [-q, -np.conj(a.T)]]), "lhp")
        return _stable(z, count).astype(a.dtype, copy=False)

    def residual(self, x: Variable, *operands: Variable) -> Variable:
        a, b, q, r = operands
        outer = product(x, b, T.linalg.solve(r, product(adjoint(b), x)))
        return T.add(product(adjoint(a), x), product(x, a), T.neg(outer), q)

    def multiplier(self, x: Variable, g: Variable, *operands: Variable) -> Variable:
        a, b, _, r = operands
        closed = T.sub(a, product(b, T.linalg.solve(r, product(adjoint(b), x))))
        found: Variable = Sylvester()(closed, adjoint(closed), T.neg(g))
        return found


@record(repr=False)
class DiscreteRiccati(Riccati):
    """x with a^H x a - x - (a^H x b + s) (r + b^H x b)^-1 (b^H x a + s^H) + q = 0, which stabilizes."""

    name = "solve_discrete_are"
    sides = ((0, 0), (0, 1), (0, 0), (1, 1), (0, 1))

    def solved(self, *values: np.ndarray) -> np.ndarray:
        a, b, q, r, s = values
        n, m = b.shape

        def zero(i: int, j: int) -> np.ndarray:
            return np.zeros((i, j), a.dtype)

        unit = np.eye(n, dtype=a.dtype)
        left = np.block([[a, zero(n, n), b], [-q, unit, -s], [np.conj(s.T), zero(m, n), r]])
        right = np.block([[unit, zero(n, n), zero(n, m)], [zero(n, n), np.conj(a.T), zero(n, m)],
                          [zero(m, n), -np.conj(b.T), zero(m, m)]])  # fmt: skip
        outside = np.conj(np.linalg.qr(left[:, 2 * n :], mode="complete")[0][:, m:].T)
        left, right = outside @ left[:, : 2 * n], outside @ right[:, : 2 * n]
        *_, z, count = qz_of(left, right, "iuc")
        return _stable(z, count).astype(a.dtype, copy=False)

    def residual(self, x: Variable, *operands: Variable) -> Variable:
        a, _, q, _, _ = operands
        cross, inner = _step(x, *operands)
        outer = product(cross, T.linalg.solve(inner, adjoint(cross)))
        return T.add(product(adjoint(a), x, a), T.neg(x), T.neg(outer), q)

    def multiplier(self, x: Variable, g: Variable, *operands: Variable) -> Variable:
        a, b = operands[:2]
        cross, inner = _step(x, *operands)
        closed = T.sub(a, product(b, T.linalg.solve(inner, adjoint(cross))))
        return _lyapunov_of_steps(closed, g)


def _step(x: Variable, *operands: Variable) -> tuple[Variable, Variable]:
    a, b, _, r, s = operands
    return T.add(product(adjoint(a), x, b), s), T.add(r, product(adjoint(b), x, b))


def _lyapunov_of_steps(a: Variable, q: Variable) -> TensorVariable:
    """x with a x a^H - x + q = 0, by the bilinear map to a continuous equation: Popov (1964)."""
    unit = T.eye(T.lengths_of(a)[-1], dtype=a.dtype)
    inverse = T.linalg.inv(T.add(a, unit))
    b = product(T.sub(a, unit), inverse)
    c = T.mul(T.constant(2, a.dtype), product(inverse, q, adjoint(inverse)))
    return Sylvester()(b, adjoint(b), T.neg(c))


def together(what: str, *operands: TensorVariable) -> list[TensorVariable]:
    """The operands in their joint dtype and with their joint batch."""
    dtype = result_type([x.dtype for x in operands])
    found = [with_dtype(x, dtype) for x in operands]
    if all(x.ndim == 2 for x in found):
        return found
    return with_joint_batch(*((x, 2) for x in found))


def solve_sylvester(a: TensorLike, b: TensorLike, q: TensorLike) -> TensorVariable:
    """x with a @ x + x @ b = q, for a (m, m), b (n, n) and q (m, n), batched over leading axes.

    Infinite or inexact where a and -b share an eigenvalue, as SciPy's.
    """
    what = "solve_sylvester"
    return Sylvester()(*together(what, square(a, what), square(b, what), finite(q, what, False)))


def solve_continuous_lyapunov(a: TensorLike, q: TensorLike) -> TensorVariable:
    """x with a @ x + x @ a^H = q, for square matrices of one size."""
    what = "solve_continuous_lyapunov"
    a, q = together(what, square(a, what), square(q, what))
    return Sylvester()(a, adjoint(a), q)


solve_lyapunov = solve_continuous_lyapunov


def solve_discrete_lyapunov(a: TensorLike, q: TensorLike, method: str | None = None) -> TensorVariable:
    """x with a @ x @ a^H - x + q = 0, for square matrices of one size.

    `method`: None, "direct" or "bilinear", which is taken for all.
    """
    if method not in (None, "direct", "bilinear"):
        raise ValueError(f'solve_discrete_lyapunov: method must be None, "direct" or "bilinear", got {method!r}')
    what = "solve_discrete_lyapunov"
    return _lyapunov_of_steps(*together(what, square(a, what), square(q, what)))


def solve_continuous_are(
    a: TensorLike, b: TensorLike, q: TensorLike, r: TensorLike, e: TensorLike | None = None,
    s: TensorLike | None = None, balanced: bool = True,
) -> TensorVariable:  # fmt: skip
    """x with a^H x e + e^H x a - (e^H x b + s) r^-1 (b^H x e + s^H) + q = 0, the stabilizing one.

    a, q, e: (n, n); b, s: (n, m); r: (m, m); q and r Hermitian.  A run raises LinAlgError for a singular r and where no
    finite solution is found.
    """
    (a, b, q, r), e_, s_ = _explicit("solve_continuous_are", (a, b, q, r), e, s)
    if s_ is not None:
        # with x' = e^H x e the terms in s are those of other matrices a and q
        a, q = (T.sub(a, product(b, T.linalg.solve(r, adjoint(s_)))),
                T.sub(q, product(s_, T.linalg.solve(r, adjoint(s_)))))  # fmt: skip
    return _between_inverses(ContinuousRiccati()(a, b, q, r), e_)


def solve_discrete_are(
    a: TensorLike, b: TensorLike, q: TensorLike, r: TensorLike, e: TensorLike | None = None,
    s: TensorLike | None = None, balanced: bool = True,
) -> TensorVariable:  # fmt: skip
    """x with a^H x a - e^H x e - (a^H x b + s) (r + b^H x b)^-1 (b^H x a + s^H) + q = 0, the stabilizing one.

    a, q, e: (n, n); b, s: (n, m); r: (m, m), perhaps singular; q and r Hermitian.  A run raises LinAlgError where no
    finite solution is found.
    """
    (a, b, q, r), e_, s_ = _explicit("solve_discrete_are", (a, b, q, r), e, s)
    return _between_inverses(DiscreteRiccati()(a, b, q, r, T.zeros_like(b) if s_ is None else s_), e_)


def _explicit(
    what: str, given: tuple[TensorLike, ...], e: TensorLike | None, s: TensorLike | None
) -> tuple[list[TensorVariable], TensorVariable | None, TensorVariable | None]:
    """Return a, b, q, r, and e and s if given, in one dtype; a and b are those of the equation without e.

    Numbers and vectors are matrices of one row, as SciPy's `atleast_2d` makes them.
    """
    a, b, q, r = (T.atleast_2d(x) for x in given)
    e, s = (None if x is None else T.atleast_2d(x) for x in (e, s))
    operands = [square(a, what, True), finite(b, what, True), square(q, what, True), square(r, what, True)]
    further = [None if e is None else square(e, what, True), None if s is None else finite(s, what, True)]
    joint = together(what, *operands, *(x for x in further if x is not None))
    operands, rest = joint[:4], joint[4:]
    e_, s_ = (rest.pop(0) if x is not None else None for x in further)
    if e_ is not None:
        operands[:2] = (T.linalg.solve(e_, x) for x in operands[:2])
    return operands, e_, s_


def _between_inverses(x: TensorVariable, e: TensorVariable | None) -> TensorVariable:
    """e^-H x e^-1: the solution of an equation in e^H x e."""
    if e is None:
        return x
    return adjoint(T.linalg.solve(adjoint(e), adjoint(T.linalg.solve(adjoint(e), x))))
