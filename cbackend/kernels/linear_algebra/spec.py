"""The calls of linear algebra."""

from __future__ import annotations

from typing import Any

from .. import PRODUCTS, READ, SOLVERS, WRITE, Field, KernelSpec, Work, array, batch, flag, length, strided


def _of_matrices(*fields: Field) -> tuple[Field, ...]:
    """Return the fields of a call for a batch of square matrices, with further ones."""
    return (batch(), length("n", "rows and columns of a"), *strided("a", READ), *fields)


_SIDES = (length("k", "right sides"), *strided("b", READ), array("x", WRITE, "contiguous"))


def _solve(c: Any) -> tuple[Work, ...]:
    if c.b is None:
        return (Work(6, (*c.batch, c.n, c.n, c.n), 3),)
    return Work(2, (*c.a.lengths, c.n), 3), Work(2, (*c.batch, c.n, c.n, c.k))


SPECS = (
    SOLVE := KernelSpec(
        "solve",
        "x[n, k] = inv(a[n, n]) @ b[n, k] for each place of a batch; without b, the inverse of a, and k is n.",
        _of_matrices(length("k", "right sides"), *strided("b", READ, "the right sides", optional=True),
                     array("x", WRITE, "contiguous")),
        SOLVERS, "solve_batch", fails=("MEMORY", "SINGULAR"), work=_solve,
    ),
    SOLVE_TRIANGULAR := KernelSpec(
        "solve_triangular",
        "x[n, k] = inv(a[n, n]) @ b[n, k] for each place of a batch, where a triangle of a is read.",
        _of_matrices(flag("upper"), flag("unit", "the diagonal is 1, and not read"), *_SIDES),
        SOLVERS, "solve_triangular_batch", fails=("MEMORY", "SINGULAR"),
        work=lambda c: (Work(1, (*c.batch, c.n, c.n, c.k)),),
    ),
    CHOLESKY := KernelSpec(
        "cholesky",
        "l[n, n], lower triangular, of a = l @ l^H for each place of a batch; the upper triangle of a is not read.",
        _of_matrices(array("l", WRITE, "contiguous")),
        SOLVERS, "cholesky_batch", fails=("NOT_POSITIVE_DEFINITE",), work=lambda c: (Work(1, (*c.a.lengths, c.n), 3),),
    ),
    CHOLESKY_GRADIENT := KernelSpec(
        "cholesky_gradient",
        "The cotangent of the lower triangle of a = l @ l^H, given that of l, for each place of a batch.",
        (batch(), length("n", "rows and columns"), *strided("l", READ), *strided("g", READ, "the cotangent of l"),
         array("x", WRITE, "contiguous")),
        PRODUCTS, "pull_back_cholesky", fails=("MEMORY", "SINGULAR"), work=lambda c: (Work(2, (*c.x.lengths, c.n), 3),),
    ),
    SLOGDET := KernelSpec(
        "slogdet",
        "The signs of the determinants of a[n, n], and the logarithms of their moduli.",
        _of_matrices(array("sign", WRITE), array("logarithm", WRITE, "real")),
        SOLVERS, "slogdet_batch", fails=("MEMORY",), work=lambda c: (Work(2, (*c.a.lengths, c.n), 3),),
    ),
)  # fmt: skip
