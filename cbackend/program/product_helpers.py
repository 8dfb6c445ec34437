"""C functions of the driver for products of matrices: strided operands brought to the form that BLAS takes.

A transposed operand is passed as it is; a copy is made only where no stride is 1, or where elements are used twice (a
stride of 0). Results are C-contiguous.  `t` is the table of a dtype in the runtime, `item` its size in bytes.  Each
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
    if ((s0 == 1 || rows == 1) && (s1 >= rows || cols == 1)) {
        a->trans = 1, a->ld = cols > 1 ? s1 : rows;
        return 0;
    }
    const i64 n[] = {rows, cols}, packed[] = {cols, 1}, strides[] = {s0, s1};
    a->data = a->block = ag_alloc(rt, item, 2, n);
    if (!a->block) return 2;
    ag_copy(item, 2, n, a->block, packed, x, strides);
    return 0;
}
"""),
    Helper("ag_gemm", """\
/* c[m, n] = alpha * a[m, k] @ b[k, n] + beta * c */
static i32 ag_gemm(const ag_runtime *rt, const ag_blas *t, i64 item, i64 m, i64 n, i64 k, const void *alpha,
                   const void *a, i64 a0, i64 a1, const void *b, i64 b0, i64 b1, const void *beta, void *c)
{
    ag_matrix left, right = {0};
    i32 failed = ag_as_matrix(rt, &left, item, m, k, a, a0, a1);
    if (!failed) failed = ag_as_matrix(rt, &right, item, k, n, b, b0, b1);
    if (!failed)
        t->gemm(left.trans, right.trans, m, n, k, alpha, left.data, left.ld, right.data, right.ld, beta, c,
                n > 1 ? n : 1);
    rt->release(left.block);
    rt->release(right.block);
    return failed;
}
"""),
    Helper("ag_matmul", """\
/* c[..., m, n] = a[..., m, k] @ b[..., k, n] over `rank` leading axes, `batch` long; strides as, bs of all axes. */
static i32 ag_matmul(const ag_runtime *rt, const ag_blas *t, i64 item, i32 rank, const i64 *batch,
                     i64 m, i64 n, i64 k, const void *one, const char *a, const i64 *as,
                     const char *b, const i64 *bs, const void *zero, char *c)
{
    i64 at[64] = {0};
    for (i32 axis = 0; axis < rank; axis++)
        if (batch[axis] == 0) return 0;
    for (;;) {
        const i32 failed = ag_gemm(rt, t, item, m, n, k, one, a, as[rank], as[rank + 1],
                                   b, bs[rank], bs[rank + 1], zero, c);
        if (failed) return failed;
        c += item * m * n;
        i32 axis = rank - 1;
        for (; axis >= 0; axis--) {
            a += item * as[axis], b += item * bs[axis];
            if (++at[axis] < batch[axis]) break;
            a -= item * as[axis] * batch[axis], b -= item * bs[axis] * batch[axis], at[axis] = 0;
        }
        if (axis < 0) return 0;
    }
}
"""),
    Helper("ag_as_vector", """\
/* A vector whose stride is not 0, copied (then *block holds the copy) where it is; NULL if there is no memory. */
static const void *ag_as_vector(const ag_runtime *rt, void **block, i64 item, i64 n, const void *x, i64 *s)
{
    *block = 0;
    if (*s != 0 || n <= 1) {
        if (n <= 1) *s = 1;
        return x;
    }
    *block = ag_alloc(rt, item, 1, &n);
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
        t->gemv(matrix.trans, rows, cols, alpha, matrix.data, matrix.ld, x, xs, beta, y, 1);
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
    if (x && y) t->ger(m, n, alpha, x, xs, y, ys, a, n > 1 ? n : 1);
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
    if (x && y) t->dot(n, x, xs, y, ys, result);
    rt->release(x_block);
    rt->release(y_block);
    return x && y ? 0 : 2;
}
"""),
)  # fmt: skip
