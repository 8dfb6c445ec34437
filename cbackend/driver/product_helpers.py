"""C functions of the driver for products of matrices: strided operands brought to the form that BLAS takes.

A transposed matrix is passed as it is; a copy is made only where no stride is 1, or where elements are used twice (a
stride of 0).  A vector is copied unless its stride is 1: a BLAS adds up strided numbers in another order.  Results are
C-contiguous.  `t` is the table of a dtype in the runtime, `item` its size in bytes.  Each
returns 0, or MEMORY (2).
"""

from __future__ import annotations

from ..ctext.helper import Helper

PRODUCTS = (
    Helper("ag_as_matrix", """\
/* A matrix as BLAS takes it: rows (or, transposed, columns) of which each is contiguous, `ld` elements apart. */
typedef struct ag_matrix {
    const void *data;
    void *block; /* the copy, if there had to be one */
    i64 ld;
    i32 trans;
} ag_matrix;
static i32 ag_as_matrix(const ag_runtime *rt, ag_matrix *a, i64 item, i64 rows, i64 cols, const void *x, i64 s0, i64 s1)
{
    a->data = x, a->block = 0, a->trans = 0, a->ld = cols > 1 ? cols : 1;
    if (rows == 0 || cols == 0) return 0;
    if ((s1 == 1 || cols == 1) && (s0 >= a->ld || rows == 1)) {
        if (rows > 1) a->ld = s0;
        return 0;
    }
    if (s0 == 1 && rows > 1 && (s1 >= rows || cols == 1)) {
        a->trans = 1, a->ld = cols > 1 ? s1 : rows;
        return 0;
    }
    a->trans = rows > 1 && cols > 1 && (s0 < 0 ? -s0 : s0) < (s1 < 0 ? -s1 : s1); /* the copy is laid out alike */
    a->ld = a->trans ? rows : a->ld;
    const i64 n[] = {rows, cols}, packed[] = {a->trans ? 1 : cols, a->trans ? rows : 1}, strides[] = {s0, s1};
    a->data = a->block = ag_take(rt, item, 2, n);
    if (!a->block) return 2;
    ag_copy(item, 2, n, a->block, packed, x, strides);
    return 0;
}
"""),
    Helper("ag_gemm", """\
/* c[m, n] = alpha * a[m, k] @ b[k, n] + beta * c */
static void ag_gemm(const ag_runtime *rt, const ag_blas *t, i64 m, i64 n, i64 k, const void *alpha, const void *a,
                    i64 a0, i64 a1, const void *b, i64 b0, i64 b1, const void *beta, void *c)
{
    const i64 as[] = {a0, a1}, bs[] = {b0, b1};
    t->product(rt, &(const ag_product){0, 0, m, n, k, alpha, a, as, b, bs, beta, c, n, 0, 0, 0, 0, 0, 0, 0});
}
"""),
    Helper("ag_matmul", """\
/* c[..., m, n] = a[..., m, k] @ b[..., k, n] over `rank` leading axes, `batch` long; strides as, bs of all axes. */
static void ag_matmul(const ag_runtime *rt, const ag_blas *t, i32 rank, const i64 *batch, i64 m, i64 n, i64 k,
                      const void *one, const void *a, const i64 *as, const void *b, const i64 *bs, const void *zero,
                      void *c)
{
    t->product(rt, &(const ag_product){rank, batch, m, n, k, one, a, as, b, bs, zero, c, n, 0, 0, 0, 0, 0, 0, 0});
}
"""),
    Helper("ag_product_then", """\
/* A product as of ag_matmul, times alpha, and a kernel that reads it.  Where the kernel runs along the rows and columns
   of the product it follows block by block, else when all is done. */
static void ag_product_then(const ag_runtime *rt, const ag_blas *t, i32 rank, const i64 *batch, i64 m, i64 n, i64 k,
                            const void *alpha, const void *a, const i64 *as, const void *b, const i64 *bs,
                            const void *zero, void *c, const ag_nest *after, const i64 *lengths, void *const *data,
                            const i64 *strides)
{
    i64 said[4];
    i32 together = lengths[rank] == m && lengths[rank + 1] == n;
    for (i32 l = 0; l < rank; l++) together &= lengths[l] == batch[l];
    t->product(rt, &(const ag_product){rank, batch, m, n, k, alpha, a, as, b, bs, zero, c, n, together ? after : 0,
                                       data, strides, 0, 0, 0, 0});
    if (!together) rt->launch(rt, after, lengths, data, strides, said);
}
"""),
    Helper("ag_panels_then", """\
/* c[m, n] = a[m, k] @ b, which lies in panels, and a kernel that reads it, or NULL: as of ag_product_then. */
static void ag_panels_then(const ag_runtime *rt, const ag_blas *t, i64 m, i64 n, i64 k, const void *one, const void *a,
                           const i64 *as, const void *panels, const void *zero, void *c, const ag_nest *after,
                           const i64 *lengths, void *const *data, const i64 *strides)
{
    const i64 none[2] = {0, 0};
    i64 said[4];
    const i32 together = after && lengths[0] == m && lengths[1] == n;
    t->product(rt, &(const ag_product){0, 0, m, n, k, one, a, as, panels, none, zero, c, n, together ? after : 0, data,
                                       strides, 0, 0, 0, 1});
    if (after && !together) rt->launch(rt, after, lengths, data, strides, said);
}
"""),
    Helper("ag_as_vector", """\
/* A vector whose stride is 1, copied (then *block holds the copy) where it is not; NULL if there is no memory. */
static const void *ag_as_vector(const ag_runtime *rt, void **block, i64 item, i64 n, const void *x, i64 *s)
{
    *block = 0;
    if (*s == 1 || n <= 1) {
        *s = 1;
        return x;
    }
    *block = ag_take(rt, item, 1, &n);
    if (*block) ag_copy(item, 1, &n, *block, (const i64[]){1}, x, s);
    *s = 1;
    return *block;
}
"""),
    Helper("ag_gemv", """\
/* y[m] = alpha * a[m, n] @ x[n] + beta * y */
static i32 ag_gemv(const ag_runtime *rt, const ag_blas *t, i64 item, i64 m, i64 n, const void *alpha,
                   const void *a, i64 a0, i64 a1, const void *x, i64 xs, const void *beta, void *y)
{
    ag_matrix matrix;
    void *block;
    x = ag_as_vector(rt, &block, item, n, x, &xs);
    if (!x) return 2;
    const i32 failed = ag_as_matrix(rt, &matrix, item, m, n, a, a0, a1);
    if (!failed) {
        const i64 rows = matrix.trans ? n : m, cols = matrix.trans ? m : n;
        t->gemv(rt, matrix.trans, rows, cols, alpha, matrix.data, matrix.ld, x, xs, beta, y, 1);
    }
    rt->release(matrix.block);
    rt->release(block);
    return failed;
}
"""),
    Helper("ag_ger", """\
/* a[m, n] += alpha * x[m] * y[n] */
static i32 ag_ger(const ag_runtime *rt, const ag_blas *t, i64 item, i64 m, i64 n, const void *alpha,
                  const void *x, i64 xs, const void *y, i64 ys, void *a)
{
    void *x_block, *y_block;
    x = ag_as_vector(rt, &x_block, item, m, x, &xs);
    y = ag_as_vector(rt, &y_block, item, n, y, &ys);
    if (x && y) t->ger(rt, m, n, alpha, x, xs, y, ys, a, n > 1 ? n : 1);
    rt->release(x_block);
    rt->release(y_block);
    return x && y ? 0 : 2;
}
"""),
    Helper("ag_dot", """\
/* The sum of the products of the elements of two vectors. */
static i32 ag_dot(const ag_runtime *rt, const ag_blas *t, i64 item, i64 n, const void *x, i64 xs, const void *y, i64 ys,
                  void *result)
{
    void *x_block, *y_block;
    x = ag_as_vector(rt, &x_block, item, n, x, &xs);
    y = ag_as_vector(rt, &y_block, item, n, y, &ys);
    if (x && y) t->dot(rt, n, x, xs, y, ys, result);
    rt->release(x_block);
    rt->release(y_block);
    return x && y ? 0 : 2;
}
"""),
)  # fmt: skip
