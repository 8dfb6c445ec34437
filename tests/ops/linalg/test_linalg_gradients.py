"""Derivatives of linear algebra against differences of values."""

import pytest
from gradients import assert_gradient
from matrices import hermitian, matrices

from arignote import ops as T
from arignote.graph import NoGradient
from arignote.ops.core.backward import pull_back

A, B, H = matrices((3, 3), "f8"), matrices((3, 2), "f8", 1), hermitian((3, 3), "f8")
C, D, HC = matrices((3, 3), "c16"), matrices((3, 2), "c16", 1), hermitian((3, 3), "c16")
TALL, WIDE, BATCH = matrices((4, 3), "f8", 2), matrices((3, 4), "f8", 2), matrices((2, 2, 2), "f8")


def part(function, k, *options):
    return lambda a: function(a, *options)[k]


def positive(a, b):
    return T.linalg.solve(a, b, "positive_definite")


def unit_lower_transposed(a, b):
    return T.linalg.solve_triangular(a, b, lower=True, unit_diagonal=True, trans=1)


def all_of_svd(a):
    u, s, vh = T.linalg.svd(a, False)
    return (u * s) @ T.exp(vh)


def both_of_eigh(a):
    w, v = T.linalg.eigh(a)
    return v * w


def both_of_qr(a):
    q, r = T.linalg.qr(a)
    return T.exp(q) @ r


CASES = {
    "inv": (T.linalg.inv, A),
    "inv of complex": (T.linalg.inv, C),
    "inv of a batch": (T.linalg.inv, BATCH),
    "pinv": (T.linalg.pinv, TALL),
    "pinv of a wide one": (T.linalg.pinv, WIDE),
    "pinv of complex": (T.linalg.pinv, D),
    "det": (T.linalg.det, A),
    "det of complex": (T.linalg.det, C),
    "logarithm": (part(T.linalg.slogdet, 1), A),
    "logarithm of complex": (part(T.linalg.slogdet, 1), C),
    "sign of complex": (part(T.linalg.slogdet, 0), C),
    "solve": (T.linalg.solve, A, B),
    "solve of complex": (T.linalg.solve, C, D),
    "solve of a vector": (T.linalg.solve, A, B[:, 0]),
    "solve of a batch": (T.linalg.solve, A[None], matrices((2, 3, 1), "f8")),
    "positive definite": (positive, H, B),
    "complex positive definite": (positive, HC, D),
    "triangular": (T.linalg.solve_triangular, A, B),
    "unit triangular": (unit_lower_transposed, A, B),
    "cholesky": (T.linalg.cholesky, H),
    "upper cholesky": (lambda a: T.linalg.cholesky(a, upper=True), H),
    "cholesky of complex": (T.linalg.cholesky, HC),
    "cholesky of a batch": (T.linalg.cholesky, hermitian((2, 2, 2), "f8")),
    "eigenvalues": (T.linalg.eigvalsh, H),
    "eigenvalues of complex": (T.linalg.eigvalsh, HC),
    "upper eigenvalues": (part(T.linalg.eigh, 0, "U"), H),
    "eigenvectors": (part(T.linalg.eigh, 1), H),
    "both of eigh": (both_of_eigh, H),
    "singular values": (T.linalg.svdvals, TALL),
    "singular values of complex": (T.linalg.svdvals, C),
    "values of full svd": (part(T.linalg.svd, 1), TALL),
    "left vectors": (part(T.linalg.svd, 0, False), TALL),
    "right vectors": (part(T.linalg.svd, 2, False), WIDE),
    "all of svd": (all_of_svd, TALL),
    "q": (part(T.linalg.qr, 0), TALL),
    "r": (part(T.linalg.qr, 1), TALL),
    "r alone": (lambda a: T.linalg.qr(a, "r"), TALL),
    "both of qr": (both_of_qr, A),
    "q of complex": (part(T.linalg.qr, 0), C),
    "r of complex": (part(T.linalg.qr, 1), C),
    "nuclear norm": (lambda a: T.linalg.norm(a, "nuc"), TALL),
    "spectral norm": (lambda a: T.linalg.norm(a, 2), TALL),
    "cubic norm": (lambda a: T.linalg.norm(a, 3, axis=0), TALL),
    "power": (lambda a: T.linalg.matrix_power(a, -2), A),
    "diagonal of a tall one": (T.diag, TALL),
    "diagonal of a wide one": (T.diag, WIDE),
    "diagonal matrix": (T.diag, A[0]),
    "lower diagonal": (lambda a: T.diagonal(a, -1), TALL),
    "trace": (T.trace, A),
    "tril": (T.tril, TALL),
    "triu": (lambda a: T.triu(a, 1), TALL),
    "kron": (T.kron, A[:2], B),
    "assume": (lambda a: T.exp(T.assume(a, "symmetric")), H),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("static", [True, False])
def test_gradient(name, static):
    function, *values = CASES[name]
    assert_gradient(function, *values, static=static)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda a: T.linalg.qr(a, "complete")[0], "does not determine"),
        (lambda a: T.linalg.qr(a[:2])[1], "does not determine"),
        (lambda a: T.linalg.svd(a[:2])[2], "more vectors"),
        (lambda a: T.real(T.linalg.svd(T.cast(a, "complex128"), False)[2]), "any phase"),
    ],
)
def test_what_has_no_derivative_says_why(build, message):
    a = T.tensor("a", shape=(3, 3))
    with pytest.raises(NoGradient, match=message):
        pull_back([T.sum(build(a))], [T.constant(1.0)], [a])
