"""The calls of products with sparse matrices in compressed rows, and of the patterns of their results."""

from __future__ import annotations

from .. import PRODUCTS, READ, SORTS, WRITE, Field, KernelSpec, Work, array, flag, length


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

SPARSE_ENTRIES = KernelSpec(
    "sparse_entries",
    "y, with n columns: row rows[e] gets data[e] * x[columns[e]] added.  All arrays are contiguous.",
    (
        length("m", "rows of y"), length("k", "rows of x"), length("n", "columns of x"), length("elements"),
        array("data", READ), array("rows", READ, c="i32"), array("columns", READ, c="i32"), array("x", READ),
        array("y", WRITE),
    ),
    PRODUCTS, "multiply_sparse_entries", fails=("PROMISED",), work=lambda c: (Work(2, (c.elements, c.n)),),
)  # fmt: skip


def _places(name: str) -> tuple[Field, ...]:
    """Return the fields of a matrix without its elements."""
    return (
        length(f"{name}_elements", f"numbers of {name}_indices"),
        array(f"{name}_indices", READ, c="i32"),
        array(f"{name}_indptr", READ, c="i32"),
    )


_LENGTHS = (length("m", "rows of x"), length("k", "columns of x, rows of y"), length("n", "columns of y"))

SPARSE_PATTERN = KernelSpec(
    "sparse_pattern",
    "The places of x @ y, in order: without `indices` indptr and their count, else indices, where indptr says.",
    (
        *_LENGTHS, *_places("x"), *_places("y"), array("indptr", WRITE, "m + 1 numbers", c="i32"),
        array("count", WRITE, optional=True, c="i64"), array("indices", WRITE, optional=True, c="i32"),
    ),
    SORTS, "sparse_pattern", fails=("PROMISED", "MEMORY"),
)  # fmt: skip
SPARSE_UNION = KernelSpec(
    "sparse_union",
    "The places of x and y, in order: without `indices` indptr, their count, and where each of x and y is among those "
    "of a task, in `merged`; else indices, and where each is among them.",
    (
        length("m", "rows"), length("n", "columns"), *_places("x"), *_places("y"),
        array("indptr", WRITE, "m + 1 numbers", c="i32"), array("count", WRITE, optional=True, c="i64"),
        array("merged", WRITE, "as many as x and y have together", c="i32"),
        array("indices", WRITE, optional=True, c="i32"), array("x_places", WRITE, c="i64"),
        array("y_places", WRITE, c="i64"),
    ),
    SORTS, "sparse_union", fails=("PROMISED", "MEMORY"),
)  # fmt: skip
SPARSE_PLACES = KernelSpec(
    "sparse_places",
    "places = where y, of as many rows, has each element of x; -1 if nowhere.",
    (
        length("m", "rows"), length("n", "columns"), *_places("x"), *_places("y"),
        array("places", WRITE, "as many as x_indices", c="i64"),
    ),
    SORTS, "sparse_places", fails=("PROMISED", "MEMORY"),
)  # fmt: skip
SPARSE_ORDER = KernelSpec(
    "sparse_order",
    "order = the positions of elements by their rows, in their order; indptr = where each row begins.",
    (
        length("elements"), length("n", "rows"), array("rows", READ, c="i32"), array("order", WRITE, c="i32"),
        array("indptr", WRITE, "n + 1 numbers", c="i32"),
    ),
    SORTS, "sparse_order", fails=("PROMISED",),
)  # fmt: skip
SPARSE_EXTREMES = KernelSpec(
    "sparse_extremes",
    "y = the greatest or least number of each row, or of all, zeros that are not stored too; elements of one place are "
    "summed.",
    (
        flag("kind", "the dtype of data: AG_U8 and so on"), flag("greatest"),
        flag("whole", "y is one number"), length("m", "rows"), length("n", "columns"),
        length("elements", "numbers of data"), array("data", READ), array("indices", READ, c="i32"),
        array("indptr", READ, c="i32"), array("y", WRITE),
    ),
    SORTS, "sparse_extremes", fails=("PROMISED", "MEMORY"),
)  # fmt: skip
SPARSE_EXTREME = KernelSpec(
    "sparse_extreme",
    "y = the greatest or least number of a matrix, zeros that are not stored too; elements of one place are summed.",
    (
        flag("kind", "the dtype of data: AG_U8 and so on"), flag("greatest"), length("m", "rows"),
        length("n", "columns"), length("elements", "numbers of data"), array("data", READ),
        array("rows", READ, c="i32"), array("columns", READ, c="i32"), array("y", WRITE),
    ),
    SORTS, "sparse_extreme", fails=("PROMISED", "MEMORY"),
)  # fmt: skip
SPARSE_VALUES = KernelSpec(
    "sparse_values",
    "values = the elements of x @ y at the places of a pattern.",
    (
        *_LENGTHS, array("x", READ), *_places("x"), array("y", READ), *_places("y"),
        length("elements", "numbers of indices"), array("indices", READ, c="i32"), array("indptr", READ, c="i32"),
        array("values", WRITE),
    ),
    PRODUCTS, "sum_at_places", fails=("PROMISED", "MEMORY"),
    work=lambda c: (Work(2, (c.x_elements, c.y_elements), over=max(c.k, 1)),),
)  # fmt: skip

SPECS = (
    SPARSE_ROWS, SPARSE_ACROSS, SPARSE_ENTRIES, SPARSE_PATTERN, SPARSE_UNION, SPARSE_PLACES, SPARSE_ORDER,
    SPARSE_EXTREMES, SPARSE_EXTREME, SPARSE_VALUES,
)  # fmt: skip
