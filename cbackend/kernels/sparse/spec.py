"""The call of products with a matrix in compressed rows."""

from __future__ import annotations

from .. import PRODUCTS, READ, WRITE, KernelSpec, Work, array, length

SPARSE_ROWS = KernelSpec(
    "sparse_rows",
    "y[m, n]: row i is the sum of data[e] * x[indices[e]] for indptr[i] <= e < indptr[i + 1].  All are contiguous.",
    (
        length("m", "rows of y: one less than the numbers of indptr"),
        length("k", "rows of x"),
        length("n", "columns of x"),
        length("elements", "numbers of data"),
        array("data", READ),
        array("indices", READ, c="i32"),
        array("indptr", READ, c="i32"),
        array("x", READ),
        array("y", WRITE),
    ),
    table=PRODUCTS,
    function="multiply_sparse_rows",
    fails=("PROMISED",),
    work=lambda c: (Work(2, (c.elements, c.n)),),
)

SPECS = (SPARSE_ROWS,)
