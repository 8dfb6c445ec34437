"""The calls of products with a matrix in compressed rows, and with the transposed one."""

from __future__ import annotations

from .. import PRODUCTS, READ, WRITE, KernelSpec, Work, array, length


def _spec(name: str, function: str, about: str, rows: str) -> KernelSpec:
    return KernelSpec(
        name,
        f"y, with n columns: {about}; e goes from indptr[i] to indptr[i + 1].  All arrays are contiguous.",
        (
            length("m", "rows of the matrix: one less than the numbers of indptr"),
            length("k", f"columns of the matrix: rows of {rows}"),
            length("n", "columns of x"),
            length("elements", "numbers of data"),
            array("data", READ),
            array("indices", READ, c="i32"),
            array("indptr", READ, c="i32"),
            array("x", READ),
            array("y", WRITE),
        ),
        table=PRODUCTS,
        function=function,
        fails=("PROMISED",),
        work=lambda c: (Work(2, (c.elements, c.n)),),
    )


SPARSE_ROWS = _spec("sparse_rows", "multiply_sparse_rows", "row i is the sum of data[e] * x[indices[e]]", "x")
SPARSE_ACROSS = _spec("sparse_across", "multiply_sparse_across", "row indices[e] gets data[e] * x[i] added", "y")

SPECS = (SPARSE_ROWS, SPARSE_ACROSS)
