"""The calls of products."""

from __future__ import annotations

from .. import PRODUCTS, READ, WRITE, KernelSpec, Work, after, array, batch, length, scalar, strided

SPECS = (
    PRODUCT := KernelSpec(
        "product",
        "y = alpha * a @ b + beta * y for every matrix of a batch, and an epilogue.  Strides count elements, those of "
        "the batch's axes first, and may be anything.  Scalars are passed by address, in the dtype.  With *beta == 0 "
        "the result is not read.  Any size may be 0.",
        (
            batch(),
            length("m"),
            length("n"),
            length("k"),
            scalar("alpha"),
            *strided("a", READ),
            *strided("b", READ),
            scalar("beta"),
            array("y", WRITE, "contiguous"),
            after(),
        ),
        PRODUCTS, "multiply_batch", work=lambda c: (Work(2, (*c.batch, c.m, c.n, c.k)),),
    ),
    GEMV := KernelSpec(
        "gemv",
        "y[m] = alpha * a[m, n] @ x[n] + beta * y.",
        (
            length("m"),
            length("n"),
            scalar("alpha"),
            *strided("a", READ),
            array("x", READ),
            length("x_step", "from a number to the next"),
            scalar("beta"),
            array("y", WRITE, "contiguous"),
        ),
        PRODUCTS, "multiply_by_vector", fails=("MEMORY",), work=lambda c: (Work(2, (c.m, c.n)),),
    ),
    GER := KernelSpec(
        "ger",
        "a[m, n] += alpha * x[m] * y[n].",
        (
            length("m"),
            length("n"),
            scalar("alpha"),
            array("x", READ),
            length("x_step"),
            array("y", READ),
            length("y_step"),
            array("a", WRITE, "contiguous"),
        ),
        PRODUCTS, "add_outer_product", fails=("MEMORY",), work=lambda c: (Work(2, (c.m, c.n)),),
    ),
    DOT := KernelSpec(
        "dot",
        "The sum of the products of the elements of two vectors, nothing conjugated.",
        (
            length("n"),
            array("x", READ),
            length("x_step"),
            array("y", READ),
            length("y_step"),
            array("result", WRITE),
        ),
        PRODUCTS, "multiply_vectors", fails=("MEMORY",), work=lambda c: (Work(2, (c.n,)),),
    ),
)  # fmt: skip
