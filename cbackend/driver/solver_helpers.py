"""C functions of the driver for systems of equations and factorizations: a batch of matrices, brought to columns.

LAPACK takes matrices stored by columns; results are C-contiguous.  `t` is the table of a dtype in the runtime, `item`
its size in bytes; `batch` are the lengths of `rank` leading axes.  Each returns 0, MEMORY (2), SINGULAR (13) or
NOT_POSITIVE_DEFINITE (14).
"""

from __future__ import annotations

from ..ctext.helper import Helper

SOLVERS = (
    Helper("ag_next", """\
/* Step to the next place of a batch: adds to the byte offsets of two operands; 0 after the last one. */
static i32 ag_next(i32 rank, const i64 *batch, i64 *at, i64 item, i64 *x, const i64 *xs, i64 *y, const i64 *ys)
{
    for (i32 axis = rank - 1; axis >= 0; axis--) {
        *x += item * xs[axis], *y += item * ys[axis];
        if (++at[axis] < batch[axis]) return 1;
        *x -= item * xs[axis] * batch[axis], *y -= item * ys[axis] * batch[axis], at[axis] = 0;
    }
    return 0;
}
static i32 ag_is_empty(i32 rank, const i64 *batch)
{
    for (i32 axis = 0; axis < rank; axis++)
        if (batch[axis] == 0) return 1;
    return 0;
}
"""),
    Helper("ag_by_columns", """\
/* An m by n matrix copied to columns. */
static void ag_by_columns(const ag_runtime *rt, i64 item, i64 m, i64 n, void *y, const void *x, i64 s0, i64 s1)
{
    (void)rt;
    ag_copy(item, 2, (const i64[]){m, n}, y, (const i64[]){1, m}, x, (const i64[]){s0, s1});
}
"""),
    Helper("ag_by_rows", """\
/* The matrix, stored by columns, copied to rows. */
static void ag_by_rows(const ag_runtime *rt, i64 item, i64 m, i64 n, void *y, const void *x)
{
    (void)rt;
    ag_copy(item, 2, (const i64[]){m, n}, y, (const i64[]){n, 1}, x, (const i64[]){1, m});
}
"""),
    Helper("ag_solve", """\
/* x[..., n, k] = inv(a[..., n, n]) @ b[..., n, k]; without b, the inverse. */
static i32 ag_solve(const ag_runtime *rt, const ag_lapack *t, i64 item, i32 rank, const i64 *batch, i64 n, i64 k,
                    const char *a, const i64 *as, const char *b, const i64 *bs, const void *one, char *x)
{
    if (ag_is_empty(rank, batch)) return 0;
    char *block = ag_take(rt, item, 1, (const i64[]){n * n + n * k + 16 * n / item + 16});
    if (!block) return 2;
    char *lu = block, *side = lu + item * n * n;
    void *pivots = block + ((item * (n * n + n * k) + 15) & ~(i64)15);
    i64 at[64] = {0}, from_a = 0, from_b = 0;
    i32 failed = 0;
    do {
        ag_by_columns(rt, item, n, n, lu, a + from_a, as[rank], as[rank + 1]);
        if (t->factor(rt, n, lu, pivots)) failed = 13;
        else {
            if (b) ag_by_columns(rt, item, n, k, side, b + from_b, bs[rank], bs[rank + 1]);
            else {
                __builtin_memset(side, 0, (u64)(item * n * n));
                ag_copy(item, 1, &n, side, (const i64[]){n + 1}, one, (const i64[]){0});
            }
            t->solve(rt, n, k, lu, pivots, side);
            ag_by_rows(rt, item, n, k, x, side);
            x += item * n * k;
        }
    } while (!failed && ag_next(rank, batch, at, item, &from_a, as, &from_b, bs));
    rt->release(block);
    return failed;
}
"""),
    Helper("ag_solve_triangular", """\
/* x[..., n, k] = inv(a[..., n, n]) @ b[..., n, k] for a triangle of a, which is copied only if neither stride is 1. */
static i32 ag_solve_triangular(const ag_runtime *rt, const ag_lapack *t, i64 item, i32 upper, i32 unit, i32 rank,
                               const i64 *batch, i64 n, i64 k, const char *a, const i64 *as, const char *b,
                               const i64 *bs, char *x)
{
    if (ag_is_empty(rank, batch)) return 0;
    const i64 s0 = as[rank], s1 = as[rank + 1];
    const i32 by_columns = s0 == 1 && s1 >= n, by_rows = s1 == 1 && s0 >= n, packed = !by_columns && !by_rows;
    char *block = ag_take(rt, item, 1, (const i64[]){n * k + packed * n * n + 1});
    if (!block) return 2;
    char *side = block, *own = block + item * n * k;
    i64 at[64] = {0}, from_a = 0, from_b = 0;
    i32 failed = 0;
    do {
        const char *matrix = a + from_a;
        if (packed) ag_by_columns(rt, item, n, n, own, matrix, s0, s1), matrix = own;
        ag_by_columns(rt, item, n, k, side, b + from_b, bs[rank], bs[rank + 1]);
        const i64 ld = packed ? n : by_columns ? s1 : s0;
        const i32 trans = !packed && !by_columns; /* rows are the columns of the transposed matrix */
        if (t->triangular(rt, trans ? !upper : upper, trans, unit, n, k, matrix, ld > 0 ? ld : 1, side)) failed = 13;
        ag_by_rows(rt, item, n, k, x, side);
        x += item * n * k;
    } while (!failed && ag_next(rank, batch, at, item, &from_a, as, &from_b, bs));
    rt->release(block);
    return failed;
}
"""),
    Helper("ag_cholesky", """\
/* l[..., n, n], lower triangular, of a = l @ l^H; the upper triangle of a is not read.  Seen as columns, l is the upper
   triangular factor of the transposed matrix, so it is computed in its place. */
static i32 ag_cholesky(const ag_runtime *rt, const ag_lapack *t, i64 item, i32 rank, const i64 *batch, i64 n,
                       const char *a, const i64 *as, char *l)
{
    if (ag_is_empty(rank, batch)) return 0;
    i64 at[64] = {0}, from = 0, unused = 0;
    do {
        ag_copy(item, 2, (const i64[]){n, n}, l, (const i64[]){n, 1}, a + from, as + rank);
        if (t->cholesky(rt, n, l)) return 14;
        for (i64 i = 0; i < n; i++) __builtin_memset(l + item * (i * n + i + 1), 0, (u64)(item * (n - 1 - i)));
        l += item * n * n;
    } while (ag_next(rank, batch, at, item, &from, as, &unused, as));
    return 0;
}
"""),
    Helper("ag_slogdet", """\
/* The signs of determinants and the logarithms of their moduli, which take `part` bytes each. */
static i32 ag_slogdet(const ag_runtime *rt, const ag_lapack *t, i64 item, i64 part, i32 rank, const i64 *batch, i64 n,
                      const char *a, const i64 *as, void *signs, void *logarithms)
{
    if (ag_is_empty(rank, batch)) return 0;
    char *block = ag_take(rt, item, 1, (const i64[]){n * n + 16 * n / item + 16});
    if (!block) return 2;
    void *pivots = block + ((item * n * n + 15) & ~(i64)15);
    char *sign = signs, *logarithm = logarithms;
    i64 at[64] = {0}, from = 0, unused = 0;
    do {
        ag_by_columns(rt, item, n, n, block, a + from, as[rank], as[rank + 1]);
        t->factor(rt, n, block, pivots);
        t->determinant(n, block, pivots, sign, logarithm);
        sign += item, logarithm += part;
    } while (ag_next(rank, batch, at, item, &from, as, &unused, as));
    rt->release(block);
    return 0;
}
"""),
)  # fmt: skip
