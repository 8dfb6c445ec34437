"""C functions of the driver for sums of products of bytes."""

from __future__ import annotations

from ..ctext.helper import Helper

BYTES = (
    Helper("ag_multiply_bytes", """\
/* c[..., m, n] = a[..., m, k] @ b[..., k, n] in 32 bits, over `rank` leading axes; strides as, bs of all axes.  0, or
   MEMORY (2). */
static i32 ag_multiply_bytes(const ag_runtime *rt, const ag_byte_table *t, i32 rank, const i64 *batch, i64 m, i64 n,
                             i64 k, i32 a_signed, i32 b_signed, const void *a, const i64 *as, const void *b,
                             const i64 *bs, void *c)
{
    return t->product(rt, &(const ag_byte_product){rank, batch, m, n, k, a_signed, b_signed, a, as, b, bs, c});
}
"""),
    Helper("ag_sum_bytes", """\
/* A convolution of bytes in blocks of channels (see ag_byte_sums, whose first members `of` lists, those from more_kind
   to upper behind them, floats as their bits). */
static void ag_sum_bytes(const ag_runtime *rt, const ag_byte_table *t, const i64 *of, const void *x, const i64 *xs,
                         const void *w, const void *start, const void *totals, const void *scale, const void *bias,
                         const void *more, const i64 *ys, void *y)
{
    const union { i32 bits; float number; } factor = {(i32)of[27]}, again = {(i32)of[28]};
    t->sums(rt, &(const ag_byte_sums){
        of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8], of[9], of[10], of[11], of[12], of[13],
        {of[14], of[15]}, {of[16], of[17]}, {of[18], of[19]}, {of[20], of[21]}, {of[22], of[23]}, {of[24], of[25]},
        x, w, start, totals, 0, scale, bias, more, of[26], factor.number, again.number, of[29], of[30],
        of[31], {xs[0], xs[1], xs[2], xs[3]},
        {ys[0], ys[1], ys[2]}, y
    });
}
"""),
    Helper("ag_look_up", """\
/* y = table[x], for `count` bytes. */
static void ag_look_up(const ag_runtime *rt, const ag_byte_table *t, i64 count, const void *x, const void *table,
                       void *y)
{
    t->look_up(rt, count, x, table, y);
}
"""),
    Helper("ag_quantize_words", """\
/* Images of floats as bytes in blocks of four channels: y[images, blocks, positions, 4]. */
static void ag_quantize_words(const ag_runtime *rt, const ag_byte_table *t, i64 images, i64 channels, i64 positions,
                              i64 is_signed, const void *x, const void *scale, const void *zero, void *y)
{
    t->words(rt, images, channels, positions, is_signed, x, scale, zero, y);
}
"""),
    Helper("ag_byte_softmax_rows", """\
/* Rows of bytes: softmax (see ag_byte_softmax, whose first members `of` lists, the bits of scale behind them). */
static void ag_byte_softmax_rows(const ag_runtime *rt, const ag_byte_table *t, const i64 *of, const void *x,
                                 const void *exponents, void *y)
{
    const union { i64 bits; double number; } scale = {of[6]};
    t->softmax(rt, &(const ag_byte_softmax){of[0], of[1], of[2], of[3], of[4], of[5], scale.number, x, exponents, y});
}
"""),
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
