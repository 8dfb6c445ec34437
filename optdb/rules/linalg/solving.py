"""Systems of equations and inverses that use the known structure of the matrix.

A factorization costs n**3 operations and a triangular system n**2, so these rules look for what makes the first
unnecessary: a diagonal, triangular, orthogonal or positive definite matrix (structure.py), or a factorization that the
graph has already.  Numbers are those of another method (`relaxes("rounding")`); an exactly singular matrix may give
infinities where LAPACK raised ("errors"); a matrix with NaNs or infinities is outside of what LAPACK defines
("domain").
"""

from __future__ import annotations

from ....graph import Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import reciprocal, true_div
from ....ops.linalg.assumptions import Assume
from ....ops.linalg.blas import Dot, MatMul
from ....ops.linalg.factorizations import Cholesky
from ....ops.linalg.matrix_ops import adjoint, transposed
from ....ops.linalg.products import matmul
from ....ops.linalg.solving import Inverse, Solve, SolveTriangular
from ....ops.shapes.creation import Eye
from ....ops.shapes.diagonals import Diagonal, DiagonalMatrix
from ....ops.shapes.lengths import ShapeI
from ....ops.shapes.shape import DimShuffle, expand_dims, squeeze
from ...contract import exact, relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, Value, made_by
from .structure import Structure, has, is_transposing, structure

refactored = relaxes("rounding", "errors", "domain")

# --- inverses


def inverse_of_inverse(node: Node) -> Value | None:
    inner = node.inputs[0]
    return inner.owner.inputs[0] if made_by(inner, Inverse) else None


def _goes_into_product(inverse: Variable, users: Users) -> bool:
    """Whether the only reader is a product, which becomes a system (`inv_to_solve`) and needs no inverse."""
    readers = [node for node, _ in users(inverse)]
    return len(readers) == 1 and readers[0] is not None and isinstance(readers[0].op, (Dot, MatMul))


def inverse_of_diagonal(node: Node, users: Users) -> Value | None:
    (a,) = node.inputs
    if not has(a, Structure.DIAGONAL) or _goes_into_product(node.out, users):
        return None
    return a if made_by(a, Eye) else DiagonalMatrix()(reciprocal(Diagonal()(a)))


def inverse_of_orthogonal(node: Node) -> Value | None:
    (a,) = node.inputs
    return adjoint(a) if has(a, Structure.ORTHOGONAL) else None


def inverse_of_triangular(node: Node, users: Users) -> Value | None:
    """Invert a triangular matrix without a factorization; half of the elements are zeros."""
    (a,) = node.inputs
    known = structure(a) & Structure.DIAGONAL
    if known not in (Structure.LOWER, Structure.UPPER) or _goes_into_product(node.out, users):
        return None
    n = ShapeI(a.ndim - 1)(a)
    identity = Eye(a.dtype)(n, n, constant(0, "int64"))
    return SolveTriangular(lower=known == Structure.LOWER)(a, identity)


def transpose_of_inverse(node: Node) -> Value | None:
    """Move an inverse in front of a transpose, where rules see a product with it."""
    inner = node.inputs[0]
    if not is_transposing(node.op) or not made_by(inner, Inverse):
        return None
    return Inverse()(node.op(inner.owner.inputs[0]))


def inverse_to_solve(node: Node, users: Users) -> Value | None:
    """Rewrite a product with an inverse without other readers to a system of equations."""
    a, b = node.inputs
    if made_by(a, Inverse) and len(users(a)) == 1:
        return _solved(a.owner.inputs[0], b)
    if made_by(b, Inverse) and len(users(b)) == 1:
        of_b = transposed(b.owner.inputs[0])
        return _solved(of_b, a) if a.ndim == 1 else transposed(Solve()(of_b, transposed(a)))
    return None


def _solved(a: Variable, b: Variable) -> Value:
    return squeeze(Solve()(a, expand_dims(b, 1)), -1) if b.ndim == 1 else Solve()(a, b)


# --- systems


def scalar_solve(node: Node) -> Value | None:
    a, b = node.inputs
    return true_div(b, a) if a.type.shape[-2:] == (1, 1) and not getattr(node.op, "unit", False) else None


def diagonal_solve(node: Node) -> Value | None:
    a, b = node.inputs
    if not has(a, Structure.DIAGONAL) or getattr(node.op, "unit", False):
        return None
    return b if made_by(a, Eye) else true_div(b, expand_dims(Diagonal()(a), -1))


def solve_to_triangular(node: Node) -> Value | None:
    a, b = node.inputs
    known = structure(a) & Structure.DIAGONAL
    if known not in (Structure.LOWER, Structure.UPPER):
        return None
    return SolveTriangular(lower=known == Structure.LOWER)(a, b)


def orthogonal_solve(node: Node) -> Value | None:
    a, b = node.inputs
    return matmul(adjoint(a), b) if has(a, Structure.ORTHOGONAL) else None


def positive_definite_solve(node: Node) -> Value | None:
    """Solve a positive definite system by Cholesky; equal matrices, and their determinants, then share the factor."""
    a, b = node.inputs
    if not (has(a, Structure.POSITIVE_DEFINITE) or node.op.assume == "positive_definite"):
        return None
    if has(a, Structure.DIAGONAL):
        return None
    factor = Cholesky()(a)
    return SolveTriangular(lower=False)(adjoint(factor), SolveTriangular(lower=True)(factor, b))


def solve_of_inverse(node: Node) -> Value | None:
    a, b = node.inputs
    return matmul(a.owner.inputs[0], b) if made_by(a, Inverse) else None


def symmetric_transpose(node: Node) -> Value | None:
    (a,) = node.inputs
    if not is_transposing(node.op) or node.out.ndim != a.ndim or not has(a, Structure.SYMMETRIC):
        return None
    return a


def promise(node: Node) -> Value:
    """Return the value itself: all readers of the promise have run."""
    value: Value = node.inputs[0]
    return value


drain_specify_assumptions = node_rule(
    "drain_specify_assumptions", Assume, promise, formula="assume(x) -> x", contract=exact
)

SOLVING: list[Rule] = [
    node_rule("useless_symmetric_transpose", DimShuffle, symmetric_transpose, having=(Assume, Inverse),
              contract=relaxes("rounding"),
              formula="x.T -> x  for symmetric x"),
    node_rule("inv_of_inv", Inverse, inverse_of_inverse, having=Inverse, contract=refactored,
              formula="inv(inv(x)) -> x"),
    node_rule("transpose_of_inv", DimShuffle, transpose_of_inverse, having=Inverse, contract=relaxes("rounding"),
              formula="inv(x).T -> inv(x.T)"),
    node_rule("inv_of_diag_to_diag_reciprocal", Inverse, inverse_of_diagonal, uses=True, contract=refactored,
              formula="inv(x) -> diagonal_matrix(1 / diagonal(x))  for diagonal x"),
    node_rule("inv_of_orthogonal_to_transpose", Inverse, inverse_of_orthogonal, contract=refactored,
              formula="inv(x) -> conj(x.T)  for orthogonal x"),
    node_rule("inv_of_triangular_to_solve", Inverse, inverse_of_triangular, uses=True, contract=refactored,
              formula="inv(x) -> solve_triangular(x, eye(n))  for triangular x"),
    node_rule("inv_to_solve", (Dot, MatMul), inverse_to_solve, having=Inverse, uses=True, contract=refactored,
              formula="inv(x) @ y -> solve(x, y), y @ inv(x) -> solve(x.T, y.T).T"),
    node_rule("solve_of_inv_to_matmul", Solve, solve_of_inverse, having=Inverse, contract=refactored,
              formula="solve(inv(x), y) -> x @ y"),
    node_rule("scalar_solve_to_division", (Solve, SolveTriangular), scalar_solve, contract=refactored,
              formula="solve(x, y) -> y / x  for matrices of one element"),
    node_rule("diagonal_solve_to_division", (Solve, SolveTriangular), diagonal_solve, contract=refactored,
              formula="solve(x, y) -> y / diagonal(x)[..., None]  for diagonal x"),
    node_rule("orthogonal_solve_to_transpose_matmul", Solve, orthogonal_solve, contract=refactored,
              formula="solve(x, y) -> conj(x.T) @ y  for orthogonal x"),
    node_rule("generic_solve_to_solve_triangular", Solve, solve_to_triangular, contract=refactored,
              formula="solve(x, y) -> solve_triangular(x, y)  for triangular x"),
    node_rule("psd_solve_to_chol_solve", Solve, positive_definite_solve, contract=refactored,
              formula="solve(x, y) -> solve_triangular(l.T, solve_triangular(l, y)), l = cholesky(x)  "
                      "for positive definite x"),
]  # fmt: skip
