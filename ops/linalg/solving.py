"""Systems of linear equations and inverses, batched over leading axes.

    Solve()(a, b)                            x with a @ x = b, by LU
    Solve("positive_definite")(a, b)         the same by Cholesky, which reads the lower triangle of a
    SolveTriangular(lower, unit)(a, b)       the same where a is triangular: the other half is never read
    Inverse()(a), PseudoInverse()(a)

The right sides of a system are the columns of b.  Derivatives: Giles, Collected Matrix Derivative Results for Forward
and Reverse Mode Algorithmic Differentiation (2008), section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, TensorType, Variable
from ...graph.dims import broadcast_dims
from ...record import record
from ..control.batching import Examples, Flags, align_operands, aligned, all_broadcast
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import HostOp, TensorVariable
from ..writing import latex
from .blas import joint_batch, require_inner
from .matrix_ops import MatrixOp, adjoint, lower_half, of_numbers, product

if TYPE_CHECKING:
    from ..writing import code

SINGULAR = "Singular matrix"
"""NumPy's message."""


class System(MatrixOp):
    """The base of the ops that give x with a @ x = b."""

    fallible = True
    batching: ClassVar[Callable[..., Any]] = align_operands

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.square(inputs, 2)
        a, b = inputs
        require_inner(self.name, a, b, -2, -2)
        require_inner(self.name, a, b, -1, -2)
        n = next((n for n in (*a.type.shape[-2:], b.type.shape[-2]) if n is not None), None)
        return (b.type.with_shape((*joint_batch(self.name, a, b), n, b.type.shape[-1])),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        a, b = inputs
        return ((*broadcast_dims([a[:-2], b[:-2]]), b[-2], b[-1]),)

    def adjoint_system(self, a: Variable, g: Variable) -> TensorVariable:
        """Return x with a^H @ x = g."""
        raise NotImplementedError

    def read(self, g: Variable) -> Variable:
        """Return the part of a cotangent of `a` that belongs to elements which are read."""
        return g

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (a, b) = cotangents, node.inputs
        if g is None:
            return [None, None]
        back = self.adjoint_system(a, g)
        return [T.unbroadcast(self.read(T.neg(product(back, adjoint(node.out)))), a), T.unbroadcast(back, b)]


@record(repr=False)
class Solve(System):
    """`solve(a, b)`: x with a @ x = b; the columns of b are right sides.

    With `assume="positive_definite"` a is Hermitian and positive definite, and only its lower triangle is read.
    Raises LinAlgError for a matrix that is singular, or not positive definite where it should be.
    """

    assume: str = "general"
    name = "solve"

    def __post_init__(self) -> None:
        if self.assume not in ("general", "positive_definite"):
            raise ValueError(f'solve assumes "general" or "positive_definite", got {self.assume!r}')

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        a, b = values
        with np.errstate(all="ignore"):
            if self.assume == "general":
                return (np.linalg.solve(a, b),)
            factor = np.linalg.cholesky(a)
            upper = np.conj(np.swapaxes(factor, -1, -2))
            return (substituted(upper, substituted(factor, b, lower=True), lower=False),)

    def adjoint_system(self, a: Variable, g: Variable) -> TensorVariable:
        return self(a if self.assume == "positive_definite" else adjoint(a), g)

    def read(self, g: Variable) -> Variable:
        if self.assume == "general":
            return g
        folded: Variable = lower_half(T.add(g, adjoint(g)))
        return folded

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`linalg.solve(a, b)`."""
        assert output.owner is not None
        options = {} if self.assume == "general" else {"assume": self.assume}
        return speaker.call("linalg.solve", *speaker.texts(output.owner.inputs), **options)


@record(repr=False)
class SolveTriangular(System):
    """`solve_triangular(a, b)`: x with a @ x = b for the lower (else upper) triangle of a; the other is not read.

    `unit`: the diagonal is not read either, and counts as ones.  Raises LinAlgError for a zero on the diagonal.
    """

    lower: bool
    unit: bool = False
    name = "solve_triangular"

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        a, b = values
        with np.errstate(all="ignore"):
            return (substituted(a, b, self.lower, self.unit),)

    def adjoint_system(self, a: Variable, g: Variable) -> TensorVariable:
        return self.of_transposed()(adjoint(a), g)

    def of_transposed(self) -> SolveTriangular:
        """The op for the transposed matrix."""
        return SolveTriangular(not self.lower, self.unit)

    def read(self, g: Variable) -> Variable:
        part: Variable = T.tril(g, -int(self.unit)) if self.lower else T.triu(g, int(self.unit))
        return part

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`linalg.solve_triangular(a, b, lower=True)`."""
        assert output.owner is not None
        options = {"lower": self.lower, **({"unit_diagonal": True} if self.unit else {})}
        return speaker.call("linalg.solve_triangular", *speaker.texts(output.owner.inputs), **options)


def substituted(a: np.ndarray, b: np.ndarray, lower: bool, unit: bool = False) -> np.ndarray:
    """x with a @ x = b for a triangle of `a`, row after row (Golub and Van Loan, Matrix Computations, section 3.1).

    Raises LinAlgError for a zero on the diagonal.
    """
    n = a.shape[-1]
    if a.shape[-2] != n or b.shape[-2] != n:
        raise ValueError(f"solve_triangular: shapes {a.shape} and {b.shape} are no system of equations")
    middle = np.diagonal(a, axis1=-2, axis2=-1)
    if not unit and (middle == 0).any():
        raise np.linalg.LinAlgError(SINGULAR)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, (*batch, *b.shape[-2:])))
    for i in range(n) if lower else reversed(range(n)):
        known = slice(0, i) if lower else slice(i + 1, n)
        x[..., i, :] -= (a[..., i : i + 1, known] @ x[..., known, :])[..., 0, :]
        if not unit:
            x[..., i, :] /= middle[..., i, None]
    return x


@record(repr=False)
class Inverse(MatrixOp):
    """The inverses of square matrices.  Raises LinAlgError for a singular one."""

    name = "inv"
    spelling = "linalg.inv"
    formula = latex.form("{0}^{{-1}}", latex.POWER, latex.ATOM)
    fallible = True

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (self.square(inputs),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (np.linalg.inv(values[0]),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        if g is None:
            return [None]
        back = adjoint(node.out)
        return [T.neg(product(back, g, back))]


def require_thresholds(a: Variable, rcond: Variable) -> None:
    """Raise TypeError unless `rcond` is real, ValueError unless it broadcasts to the batch of the matrices `a`."""
    if rcond.type.kind != "f":
        raise TypeError(f"pinv: rcond must be real, got {describe(rcond)}")
    batch = a.type.shape[:-2]
    pairs = zip(reversed(rcond.type.shape), reversed(batch), strict=False)
    if rcond.ndim > len(batch) or any(r not in (None, 1) and b not in (None, r) for r, b in pairs):
        raise ValueError(f"pinv: rcond must broadcast to the batch of a, got {describe(rcond)} for {describe(a)}")


def batch_pseudo_inverse(op: Any, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Apply `pinv` to the matrices of all examples; thresholds that move stand before the batch of the matrices."""
    if not flags[1]:
        return op(*inputs)
    (a,) = all_broadcast(inputs[:1], flags[:1], examples)
    return op(a, aligned(inputs[1], True, node.inputs[1].ndim, node.inputs[0].ndim - 2))


@record(repr=False)
class PseudoInverse(MatrixOp, HostOp):
    """The Moore-Penrose inverses: `pinv(a, rcond)` drops singular values up to `rcond` times the largest.

    `rcond` is real and broadcasts to the batch: a number for all matrices, or one per matrix.
    The derivative is that at constant rank: Golub and Pereyra, The Differentiation of Pseudo-Inverses (1973).
    """

    name = "pinv"
    spelling = "linalg.pinv"
    fallible = True
    batching: ClassVar[Callable[..., Any]] = batch_pseudo_inverse

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        a, rcond = inputs
        self.matrices((a,))
        require_thresholds(a, rcond)
        *batch, m, n = a.type.shape
        return (a.type.with_shape((*batch, n, m)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        a, rcond = of_numbers(values[0]), values[1]
        with np.errstate(all="ignore"):
            return (np.linalg.pinv(a, np.broadcast_to(rcond, a.shape[:-2]) if rcond.ndim else rcond),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        a = inputs[0]
        return ((*a[:-2], a[-1], a[-2]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (a, _), p = cotangents, node.inputs, node.out
        if g is None:
            return [None, None]
        ph, gh = adjoint(p), adjoint(g)
        outside = T.sub(gh, product(a, product(p, gh)))  # (1 - a p) g^H
        inside = T.sub(gh, product(product(gh, p), a))  # g^H (1 - p a)
        parts = [T.neg(product(ph, g, ph)), product(outside, p, ph), product(ph, p, inside)]
        return [T.add(*parts), None]
