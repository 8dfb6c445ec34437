"""C functions of the driver for convolutions: products of matrices of which the second one lies in windows of an array.

Nothing is copied out of the windows but the panels that a product packs anyway: two tables say how far from the array's
first element each number lies, one by rows and one by columns.
"""

from __future__ import annotations

from ..ctext.helper import Helper

WINDOWS = (
    Helper("ag_offsets", """\
/* The distances of all places along some axes from the first, the last axis fastest; NULL if there is no memory. */
static i64 *ag_offsets(const ag_runtime *rt, i32 rank, const i64 *n, const i64 *step, i64 *count)
{
    i64 *const all = ag_take(rt, 8, rank, n), known = 1;
    *count = 1;
    for (i32 axis = 0; axis < rank; axis++) *count *= n[axis];
    if (!all || *count == 0) return all;
    all[0] = 0;
    for (i32 axis = rank - 1; axis >= 0; axis--) {
        for (i64 i = 1; i < n[axis]; i++)
            for (i64 k = 0; k < known; k++) all[i * known + k] = all[k] + i * step[axis];
        known *= n[axis];
    }
    return all;
}
"""),
    Helper("ag_multiply_windows", """\
/* c[..., m, columns] = a[..., m, rows] @ windows of b, over `rank` leading axes: the rows of what b is seen as are the
   places along some axes, its columns those along others.  0, or MEMORY (2). */
static i32 ag_multiply_windows(const ag_runtime *rt, const ag_blas *t, i32 rank, const i64 *batch, i64 m,
                               const void *one, const void *a, const i64 *as, const void *b, const i64 *bs,
                               i32 row_rank, const i64 *row_lengths, const i64 *row_steps, i32 column_rank,
                               const i64 *column_lengths, const i64 *column_steps, const void *zero, void *c)
{
    i64 k, n;
    i64 *const rows = ag_offsets(rt, row_rank, row_lengths, row_steps, &k);
    i64 *const columns = ag_offsets(rt, column_rank, column_lengths, column_steps, &n);
    const i32 failed = rows && columns ? 0 : 2;
    if (!failed)
        t->product(rt, &(const ag_product){
            rank, batch, m, n, k, one, a, as, b, bs, zero, c, n, 0, 0, 0, rows, columns
        });
    rt->release(rows);
    rt->release(columns);
    return failed;
}
"""),
)  # fmt: skip
