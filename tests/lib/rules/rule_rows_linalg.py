"""Rows of the rules of linear algebra: (name, before, after), and matrices of the kinds that the names promise.

A, B general; P positive definite; D diagonal; L, U triangular; Q orthogonal; S symmetric; b a vector, C two columns.
"""

import numpy as np
from matrices import hermitian, matrices

from arignote import ops as T
from arignote.ops.elementwise.records import reciprocal
from arignote.ops.linalg.matrix_ops import adjoint, on_columns, transposed

KINDS = {
    "P": "positive_definite", "D": "diagonal", "L": "lower_triangular", "U": "upper_triangular", "Q": "orthogonal",
    "S": "symmetric",
}  # fmt: skip


def arrays(n, dtype="float64"):
    """A matrix, n by n, for each letter."""
    a = matrices((n, n), dtype)
    return {
        "A": a, "B": matrices((n, n), dtype, 1), "P": hermitian((n, n), dtype),
        "D": np.diag(np.abs(np.diag(a))).astype(dtype),
        "L": np.tril(a), "U": np.triu(a), "Q": np.linalg.qr(a)[0], "S": a + a.T, "b": matrices((n, 1), dtype, 2)[:, 0],
        "C": matrices((n, 2), dtype, 3),
    }  # fmt: skip


def rows(dtype="float64"):
    """The rows for matrices of a dtype."""
    A, B, C = (T.matrix(name, dtype=dtype) for name in "ABC")
    b = T.vector("b", dtype=dtype)
    P, D, L, U, Q, S = (T.assume(T.matrix(name, dtype=dtype), KINDS[name]) for name in "PDLUQS")
    inv, solve, diagonal, diag = T.Inverse(), T.Solve(), T.Diagonal(), T.DiagonalMatrix()
    below, above = T.SolveTriangular(lower=True), T.SolveTriangular(lower=False)
    factor = T.linalg.cholesky(P)
    by_factor = above(adjoint(factor), below(factor, C))
    n = T.ShapeI(1)
    one = T.constant(np.ones((1, 1), dtype))
    logarithm = T.log(abs(diagonal(factor))).sum()
    nan = T.constant(np.array(np.nan, dtype)) if dtype.startswith("float") else None
    every = [
        ("inv_of_inv", inv(inv(A)), A),
        ("transpose_of_inv", inv(A).T, inv(A.T)),
        ("useless_symmetric_transpose", S.T, S),
        ("inv_of_diag_to_diag_reciprocal", inv(D), diag(reciprocal(diagonal(D)))),
        ("inv_of_diag_to_diag_reciprocal", inv(T.eye(3, dtype=dtype)), T.eye(3, dtype=dtype)),
        ("inv_of_orthogonal_to_transpose", inv(Q), adjoint(Q)),
        ("inv_of_triangular_to_solve", inv(L), below(L, T.eye(n(L), dtype=dtype))),
        ("inv_of_triangular_to_solve", inv(U), above(U, T.eye(n(U), dtype=dtype))),
        ("inv_to_solve", inv(A) @ C, solve(A, C)),
        ("inv_to_solve", inv(A) @ b, T.squeeze(solve(A, T.expand_dims(b, 1)), -1)),
        ("inv_to_solve", C.T @ inv(A), solve(A.T, C.T.T).T),
        ("inv_to_solve", b @ inv(A), T.squeeze(solve(A.T, T.expand_dims(b, 1)), -1)),
        ("inv_to_solve", T.matmul(inv(A), T.stack([B, A])), solve(A, T.stack([B, A]))),
        ("solve_of_inv_to_matmul", solve(inv(A), C), A @ C),
        ("scalar_solve_to_division", solve(2 * one, T.expand_dims(b, 0)), T.expand_dims(b, 0) / (2 * one)),
        ("diagonal_solve_to_division", solve(D, C), C / T.expand_dims(diagonal(D), -1)),
        ("diagonal_solve_to_division", below(D, C), C / T.expand_dims(diagonal(D), -1)),
        ("diagonal_solve_to_division", solve(T.eye(n(A), dtype=dtype), A.T), A.T),
        ("orthogonal_solve_to_transpose_matmul", solve(Q, C), adjoint(Q) @ C),
        ("generic_solve_to_solve_triangular", solve(L, C), below(L, C)),
        ("generic_solve_to_solve_triangular", solve(U.T, C), below(U.T, C)),
        ("psd_solve_to_chol_solve", solve(P, C), by_factor),
        ("psd_solve_to_chol_solve", T.linalg.solve(P, C, "positive_definite"), by_factor),
        ("det_of_inv", T.linalg.det(inv(A)), reciprocal(T.linalg.det(A))),
        ("det_of_triangular", T.linalg.det(L), T.SlogDet()(L)[0] * T.cast(T.exp(T.SlogDet()(L)[1]), dtype)),
        ("det_of_triangular", T.linalg.det(P), T.cast(T.exp(T.SlogDet()(P)[1]), dtype)),
        ("slogdet_of_triangular", T.SlogDet()(U)[1], T.log(abs(diagonal(U))).sum()),
        ("slogdet_of_triangular", T.SlogDet()(U)[0], T.prod(T.sign(diagonal(U)))),
        ("slogdet_of_positive_definite", T.SlogDet()(P)[1], logarithm + logarithm),
        ("slogdet_specialization_log", T.log(abs(T.linalg.det(A))), T.SlogDet()(A)[1]),
        ("slogdet_specialization_sign", T.sign(T.linalg.det(A)), T.SlogDet()(A)[0]),
        ("cholesky_ldotlt", T.linalg.cholesky(factor @ adjoint(factor)), factor),
        ("cholesky_ldotlt", T.linalg.cholesky(L @ adjoint(L)), L * on_columns(_turn(L))),
        ("svd_uv_merge", T.linalg.svd(A)[1], T.linalg.svdvals(A)),
        ("svd_uv_merge", T.linalg.eigh(P)[0], T.linalg.eigvalsh(P)),
        ("svd_uv_merge", T.linalg.qr(A)[1], T.linalg.qr(A, "r")),
        ("diag_of_diag", diagonal(diag(b)), b),
        ("diag_of_triangle", diagonal(T.tril(A)), diagonal(A)),
        ("extract_diag_of_dot", T.trace(P @ T.assume(P, "symmetric")), None),
        ("extract_diag_of_dot", diagonal(A.T @ A), T.sum(A.T * transposed(A), -1)),
        ("dot_diag_to_elemwise", diag(b) @ C, transposed(on_columns(b)) * C),
        ("dot_diag_to_elemwise", C.T @ diag(b), C.T * on_columns(b)),
        ("orthogonal_dot_transpose_to_eye", adjoint(Q) @ Q, T.eye(n(Q), dtype=dtype)),
        ("drain_specify_assumptions", P, P.owner.inputs[0]),
    ]
    if nan is not None:
        signs, value = T.SlogDet()(A)
        every += [
            ("slogdet_specialization_log", T.log(T.linalg.det(A)), value + T.log(signs)),
            ("local_log_prod_to_sum_log", T.log(T.prod(diagonal(factor))), T.log(diagonal(factor)).sum()),
            ("cholesky_of_diag", T.linalg.cholesky(D), diag(T.sqrt(diagonal(D)))),
            ("eigvalsh_of_diag", T.linalg.eigvalsh(D), T.sort(diagonal(D))),
            ("eigvalsh_of_diag", T.linalg.svdvals(D), -T.sort(-abs(diagonal(D)))),
        ]
    return [row for row in every if row[2] is not None]


def _turn(L):
    signs = T.sign(T.Diagonal()(L))
    return T.conj(signs) if L.type.kind == "c" else signs


ROWS = rows()
