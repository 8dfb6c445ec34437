"""C functions of the driver for sums of products of bytes."""

from __future__ import annotations

from ..ctext.helper import Helper

BYTES = (
    Helper("ag_multiply_nibbles", """\
/* Rows of floats by weights of 4 bits (see ag_nibble_product).  0, or MEMORY (2). */
static i32 ag_multiply_nibbles(const ag_runtime *rt, const ag_byte_table *t, i64 rows, i64 outputs, i64 depth,
                               i64 block, i64 blocks, const void *x, const void *w, const void *scale, const void *zero,
                               void *y)
{
    return t->nibbles(rt, &(const ag_nibble_product){rows, outputs, depth, block, blocks, x, w, scale, zero, y});
}
"""),
    Helper("ag_multiply_sparse", """\
/* Rows by a matrix of which some vectors are stored (see ag_sparse_product).  0, or MEMORY (2). */
static i32 ag_multiply_sparse(const ag_runtime *rt, const ag_byte_table *t, i64 rows, i64 outputs, i64 depth, i64 item,
                              const void *x, const void *w, const i32 *starts, const i32 *places, void *y)
{
    return t->sparse(rt, &(const ag_sparse_product){rows, outputs, depth, item, x, w, starts, places, y});
}
"""),
    Helper("ag_multiply_columns", """\
/* Rows by a matrix of which some blocks along the sum are stored (see ag_sparse_product).  0, or MEMORY (2). */
static i32 ag_multiply_columns(const ag_runtime *rt, const ag_byte_table *t, i64 rows, i64 outputs, i64 depth,
                               const void *x, const void *w, const i32 *starts, const i32 *places, void *y)
{
    return t->columns(rt, &(const ag_sparse_product){rows, outputs, depth, 4, x, w, starts, places, y});
}
"""),
    Helper("ag_multiply_two", """\
/* Rows by a matrix with two of each four numbers (see ag_two_product).  0, or MEMORY (2). */
static i32 ag_multiply_two(const ag_runtime *rt, const ag_byte_table *t, i64 rows, i64 outputs, i64 depth,
                           const void *x, const void *w, const i32 *places, void *y)
{
    return t->two(rt, &(const ag_two_product){rows, outputs, depth, x, w, places, y});
}
"""),
    Helper("ag_multiply_bfloats", """\
/* A product of numbers of 16 bits (see ag_bfloat_product).  0, or MEMORY (2). */
static i32 ag_multiply_bfloats(const ag_runtime *rt, const ag_byte_table *t, i64 rows, i64 outputs, i64 depth,
                               i32 a_bits, i32 b_bits, i32 in_panels, const void *a, const i64 *as, const void *b,
                               const i64 *bs, void *y)
{
    return t->bfloats(rt, &(const ag_bfloat_product){rows, outputs, depth, a_bits, b_bits, in_panels, a, as, b, bs, y});
}
"""),
)  # fmt: skip
