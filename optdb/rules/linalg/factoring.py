"""Determinants and factorizations that use known structure of the matrix, or need only a part of the result.

Determinants are kept as the sign and the logarithm of the modulus wherever that is what is wanted, and computed that
way where they are products of a diagonal: a product of 1,000 numbers overflows long before its logarithm does.
"""

from __future__ import annotations

from ....graph import Variable, dims_of
from ....ops.core.tensor import constant
from ....ops.elementwise.records import (
    abs,
    add,
    cast,
    conj,
    exp,
    log,
    minimum,
    mul,
    neg,
    reciprocal,
    sign,
    sqrt,
)
from ....ops.linalg.blas import Dot, MatMul
from ....ops.linalg.determinants import Det, SlogDet
from ....ops.linalg.factorizations import QR, SVD, Cholesky, Eigh, Eigvalsh, SingularValues
from ....ops.linalg.matrix_ops import on_columns, transposed
from ....ops.linalg.solving import Inverse
from ....ops.reductions.reduce import Reduce
from ....ops.reductions.sorting import Sort
from ....ops.shapes.creation import Eye, ones_like
from ....ops.shapes.diagonals import Diagonal, DiagonalMatrix, Triangle
from ....ops.shapes.getitem import getitem
from ....ops.shapes.lengths import ShapeI
from ....ops.shapes.shape import DimShuffle
from ...contract import relaxes, stabilizes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, Value, is_float, made_by
from .solving import refactored
from .structure import Structure, has, is_transposing, structure


def _summed(v: Variable) -> Value:
    return Reduce(add, (v.ndim - 1,))(v)


def _multiplied(v: Variable) -> Value:
    return Reduce(mul, (v.ndim - 1,))(v)


# --- determinants


def slogdet_by_structure(node: Node) -> tuple[Value, Value] | None:
    """Return sign and logarithm of a determinant from the diagonal."""
    (a,) = node.inputs
    if not structure(a) & Structure.DIAGONAL:
        return None
    middle = Diagonal()(a)
    return _multiplied(sign(middle)), _summed(log(abs(middle)))


def slogdet_of_positive_definite(node: Node) -> tuple[Value, Value] | None:
    """Return them from the Cholesky factor, at half the cost of LU; systems with the matrix share it."""
    (a,) = node.inputs
    if not has(a, Structure.POSITIVE_DEFINITE) or structure(a) & Structure.DIAGONAL:
        return None
    middle = Diagonal()(Cholesky()(a))
    logarithm = _summed(log(abs(middle)))
    return ones_like(_in_dtype(logarithm, a.dtype)), add(logarithm, logarithm)


def _in_dtype(v: Variable, dtype: str) -> Value:
    return v if v.dtype == dtype else cast(v, dtype)


def det_by_structure(node: Node) -> Value | None:
    """Return the determinant as sign * exp(logarithm), as NumPy computes it: no intermediate overflow."""
    (a,) = node.inputs
    is_positive = has(a, Structure.POSITIVE_DEFINITE)
    if not (structure(a) & Structure.DIAGONAL or is_positive):
        return None
    signs, logarithm = SlogDet()(a)
    size = _in_dtype(exp(logarithm), a.dtype)
    return size if is_positive else mul(signs, size)


def det_of_inverse(node: Node) -> Value | None:
    inner = node.inputs[0]
    return reciprocal(Det()(inner.owner.inputs[0])) if made_by(inner, Inverse) else None


def log_of_det(node: Node) -> Value | None:
    """Return the logarithm of the modulus; of the determinant that and the logarithm of its sign, 0 or NaN."""
    inner = node.inputs[0]
    modulus = inner.owner.op is abs
    det = inner.owner.inputs[0] if modulus else inner
    if not made_by(det, Det) or not (modulus or is_float(det)):
        return None
    signs, logarithm = SlogDet()(det.owner.inputs[0])
    return logarithm if modulus else add(logarithm, log(signs))


def sign_of_det(node: Node) -> Value:
    """Return the sign, even if the determinant underflows."""
    return SlogDet()(node.inputs[0].owner.inputs[0])[0]


def log_of_product(node: Node) -> Value | None:
    """Return the sum of the logarithms of a diagonal that is known to be positive."""
    whole = node.inputs[0].owner
    if whole.op.scalar is not mul or whole.op.axis != (whole.inputs[0].ndim - 1,):
        return None
    middle = whole.inputs[0]
    if not is_float(middle) or not made_by(middle, Diagonal):
        return None
    return _summed(log(middle)) if has(middle.owner.inputs[0], Structure.POSITIVE_DIAGONAL) else None


# --- factorizations


def cholesky_of_diagonal(node: Node) -> Value | None:
    (a,) = node.inputs
    if not is_float(a) or not has(a, Structure.DIAGONAL):
        return None
    return DiagonalMatrix()(sqrt(Diagonal()(a)))


def cholesky_of_product(node: Node) -> Value | None:
    """Rewrite cholesky(l @ l^H) for lower triangular l: l with columns scaled so that the diagonal is positive."""
    product = node.inputs[0]
    if not made_by(product, Dot, MatMul):
        return None
    left, right = product.owner.inputs
    if min(left.ndim, right.ndim) < 2 or not has(left, Structure.LOWER) or not _is_adjoint(right, left):
        return None
    if has(left, Structure.POSITIVE_DIAGONAL):
        return left
    signs = sign(Diagonal()(left))
    return mul(left, on_columns(conj(signs) if signs.type.kind == "c" else signs))


def _is_adjoint(a: Variable, b: Variable) -> bool:
    """Whether `a` is the conjugate transpose of `b`, or the reverse."""
    return _adjoint_source(a) is b or _adjoint_source(b) is a


def _adjoint_source(a: Variable) -> Variable | None:
    """Return x if `a` is conj(x).T or conj(x.T); for real dtypes x.T."""
    inner: Variable | None = a
    for wanted in ("transpose", "conj") if a.type.kind == "c" else ("transpose",):
        node = inner.owner if inner is not None else None
        if node is None or not (is_transposing(node.op) if wanted == "transpose" else node.op is conj):
            return None
        inner = node.inputs[0]
    return inner


def values_alone(node: Node, users: Users) -> dict[Variable, Value] | None:
    """Compute only the values, if no vectors are read: singular values, eigenvalues, or r of q and r."""
    (a,) = node.inputs
    if isinstance(node.op, SVD) and not any(users(node.outputs[k]) for k in (0, 2)):
        return {node.outputs[1]: SingularValues()(a)}
    if isinstance(node.op, Eigh) and not users(node.outputs[1]):
        return {node.outputs[0]: Eigvalsh()(a)}
    if isinstance(node.op, QR) and node.op.mode == "reduced" and not users(node.outputs[0]):
        return {node.outputs[1]: QR("r")(a)}
    return None


def values_of_diagonal(node: Node) -> Value | None:
    (a,) = node.inputs
    if not is_float(a) or not has(a, Structure.DIAGONAL):
        return None
    middle = Diagonal()(a)
    ascending = Sort(middle.ndim - 1)
    return ascending(middle) if isinstance(node.op, Eigvalsh) else neg(ascending(neg(abs(middle))))


# --- diagonals


def diagonal_of_diagonal_matrix(node: Node) -> Value | None:
    inner = node.inputs[0]
    return inner.owner.inputs[0] if made_by(inner, DiagonalMatrix) else None


def diagonal_of_product(node: Node, users: Users) -> Value | None:
    """Compute the diagonal of a product as sums of products of rows and columns: n**2 operations instead of n**3."""
    product = node.inputs[0]
    a, b = product.owner.inputs
    if a.ndim != b.ndim or a.ndim < 2 or len(users(product)) != 1 or a.type.kind not in "fc":
        return None
    if dims_of(a)[-2] != dims_of(b)[-1]:
        n = minimum(ShapeI(a.ndim - 2)(a), ShapeI(b.ndim - 1)(b))
        a, b = getitem(a, (..., slice(n), slice(None))), getitem(b, (..., slice(n)))
    return _summed(mul(a, transposed(b)))


def diagonal_of_triangle(node: Node) -> Value | None:
    inner = node.inputs[0]
    if not made_by(inner, Triangle) or not _keeps_diagonal(inner.owner):
        return None
    return Diagonal()(inner.owner.inputs[0])


def _keeps_diagonal(triangle: Node) -> bool:
    k = getattr(triangle.inputs[1], "data", None)
    return k is not None and bool(k >= 0 if triangle.op.lower else k <= 0)


def diagonal_products(node: Node) -> Value | None:
    """Multiply by a diagonal matrix as a scaling of rows or columns."""
    a, b = node.inputs
    if min(a.ndim, b.ndim) >= 2 and made_by(a, DiagonalMatrix):
        v = a.owner.inputs[0]
        return mul(_rows(v), b)
    if min(a.ndim, b.ndim) >= 2 and made_by(b, DiagonalMatrix):
        return mul(a, on_columns(b.owner.inputs[0]))
    return None


def _rows(v: Variable) -> Value:
    return transposed(on_columns(v))


def orthogonal_product(node: Node) -> Value | None:
    """Rewrite q^H @ q to the identity."""
    left, right = node.inputs
    if min(left.ndim, right.ndim) < 2 or not has(right, Structure.ORTHOGONAL) or not _is_adjoint(left, right):
        return None
    n = ShapeI(1)(right)
    return Eye(right.dtype)(n, n, constant(0, "int64")) if right.ndim == 2 else None


log_det = stabilizes | refactored
FACTORING: list[Rule] = [
    node_rule("det_of_inv", Det, det_of_inverse, having=Inverse, contract=refactored,
              formula="det(inv(x)) -> 1 / det(x)"),
    node_rule("det_of_triangular", Det, det_by_structure, contract=refactored,
              formula="det(x) -> sign * exp(logarithm) of slogdet(x)  for triangular or positive definite x"),
    node_rule("slogdet_of_triangular", SlogDet, slogdet_by_structure, contract=refactored,
              formula="slogdet(x) -> prod(sign(diagonal(x))), sum(log(abs(diagonal(x))))  for triangular x"),
    node_rule("slogdet_of_positive_definite", SlogDet, slogdet_of_positive_definite, contract=refactored,
              formula="slogdet(x) -> 1, 2 * sum(log(diagonal(cholesky(x))))  for positive definite x"),
    node_rule("slogdet_specialization_log", log, log_of_det, having=(Det, abs), contract=log_det,
              formula="log(det(x)) -> slogdet(x)[1] + log(slogdet(x)[0]); "
                      "log(abs(det(x))) -> slogdet(x)[1]"),
    node_rule("slogdet_specialization_sign", sign, sign_of_det, having=Det, contract=log_det,
              formula="sign(det(x)) -> slogdet(x)[0]"),
    node_rule("local_log_prod_to_sum_log", log, log_of_product, having=Reduce,
              contract=stabilizes | relaxes("rounding"),
              formula="log(prod(diagonal(x))) -> sum(log(diagonal(x)))  where it is positive"),
    node_rule("cholesky_of_diag", Cholesky, cholesky_of_diagonal, contract=refactored,
              formula="cholesky(x) -> diagonal_matrix(sqrt(diagonal(x)))  for diagonal x"),
    node_rule("cholesky_ldotlt", Cholesky, cholesky_of_product, having=(Dot, MatMul), contract=refactored,
              formula="cholesky(x @ conj(x.T)) -> x * sign(diagonal(x))  for lower triangular x"),
    node_rule("svd_uv_merge", (SVD, Eigh, QR), values_alone, uses=True, contract=relaxes("rounding"),
              formula="svd(x)[1] -> svdvals(x)  if nobody asks for vectors; so eigh, qr"),
    node_rule("eigvalsh_of_diag", (Eigvalsh, SingularValues), values_of_diagonal, contract=refactored,
              formula="eigvalsh(x) -> sort(diagonal(x))  for diagonal x; svdvals(x) the moduli, descending"),
    node_rule("diag_of_diag", Diagonal, diagonal_of_diagonal_matrix, having=DiagonalMatrix,
              formula="diagonal(diagonal_matrix(x)) -> x"),
    node_rule("diag_of_triangle", Diagonal, diagonal_of_triangle, having=Triangle,
              formula="diagonal(tril(x)) -> diagonal(x)"),
    node_rule("extract_diag_of_dot", Diagonal, diagonal_of_product, having=(Dot, MatMul), uses=True,
              contract=relaxes("rounding", "errors"),
              formula="diagonal(x @ y) -> sum(x * y.T, -1)"),
]  # fmt: skip

UNSAFE: list[Rule] = [
    node_rule("dot_diag_to_elemwise", (Dot, MatMul), diagonal_products, having=DiagonalMatrix,
              contract=relaxes("nan", "inf", "signed zero", "errors"),
              formula="diagonal_matrix(x) @ y -> x[:, None] * y"),
    node_rule("orthogonal_dot_transpose_to_eye", (Dot, MatMul), orthogonal_product, having=DimShuffle,
              contract=relaxes("nan", "inf", "rounding"),
              formula="conj(x.T) @ x -> eye  for orthogonal x"),
]  # fmt: skip
