"""The calls of products."""

from __future__ import annotations

from .. import BYTES, READ, WRITE, KernelSpec, Work, array, flag, length, strided, vector

_SIZES = (length("rows"), length("outputs"), length("depth"))
_SPARSE = (
    *_SIZES,
    length("item", "bytes of a number, 4 or 8"),
    array("x", READ, "contiguous"),
    array("w", READ),
    array("starts", READ, c="i32"),
    array("places", READ, c="i32"),
    array("y", WRITE, "contiguous"),
)

SPECS = (
    NIBBLE_PRODUCT := KernelSpec(
        "nibble_product",
        "y[rows, outputs] = the sum over k of x[rows, k] * (w[outputs, k] - zero[outputs, k / block]) * scale[...].  w "
        "has 4 bits; w, scale and zero (bytes) are laid as nibbles.c says.",
        (
            *_SIZES,
            length("block", "a multiple of 8"),
            length("blocks", "of depth"),
            array("x", READ, "contiguous", c="float"),
            array("w", READ),
            array("scale", READ, c="float"),
            array("zero", READ, "zero points", optional=True),
            array("y", WRITE, "contiguous", c="float"),
        ),
        BYTES, "multiply_nibbles", fails=("MEMORY",), work=lambda c: (Work(2, (c.rows, c.outputs, c.depth)),),
    ),
    SPARSE_PRODUCT := KernelSpec(
        "sparse_product",
        "y[rows, outputs] = x[rows, depth] @ w.  w, starts and places are laid as sparse.c says, or for `sparse_columns` "
        "as sparse_columns.c says.",
        _SPARSE, BYTES, "multiply_sparse", fails=("MEMORY",), work=lambda c: (Work(2, (c.rows, *c.w.lengths)),),
    ),
    SPARSE_COLUMNS := KernelSpec(
        "sparse_columns", SPARSE_PRODUCT.about,
        _SPARSE, BYTES, "multiply_columns", fails=("MEMORY",), work=lambda c: (Work(2, (c.rows, *c.w.lengths)),),
        struct="ag_sparse_product",
    ),
    TWO_OF_FOUR := KernelSpec(
        "two_of_four",
        "y[rows, outputs] = x[rows, depth] @ w for a w of which at most two of each four numbers along the sum are not "
        "zero.  w and places are laid as two_of_four.c says.",
        (
            *_SIZES,
            array("x", READ, "contiguous", c="float"),
            array("w", READ, c="float"),
            array("places", READ, c="i32"),
            array("y", WRITE, "contiguous", c="float"),
        ),
        BYTES, "multiply_two", fails=("MEMORY",), work=lambda c: (Work(2, (c.rows, *c.w.lengths)),),
    ),
    BFLOAT_PRODUCT := KernelSpec(
        "bfloat_product",
        "y[rows, outputs] = a[rows, depth] @ b[depth, outputs] of numbers of 16 bits, the upper halves of floats.",
        (
            *_SIZES,
            flag("a_bits", "a has 16 bits; else floats, which are rounded"),
            flag("b_bits"),
            flag("in_panels", "b is laid as bfloats.c says, and its least exponent follows"),
            *strided("a", READ),
            array("b", READ),
            vector("b_strides", "NULL in panels", optional=True),
            array("y", WRITE, "contiguous", c="float"),
        ),
        BYTES, "multiply_bfloats", fails=("MEMORY",), work=lambda c: (Work(2, (c.rows, c.outputs, c.depth)),),
    ),
)  # fmt: skip
