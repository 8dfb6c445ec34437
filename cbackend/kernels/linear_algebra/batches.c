/* Systems of equations and factorizations of a batch of matrices, each brought to columns, which LAPACK takes.  Results
   are C-contiguous. */
#pragma once
#include "../../driver/outcomes.h"
#include "lapack.c"
#include "../batch.h"
#include "../slots.h"

/* Step to the next place of a batch, in which two operands move by their strides; 0 after the last one. */
static i32 next_place(i32 rank, const i64 *batch, i64 *at, const T **x, const i64 *xs, const T **y, const i64 *ys)
{
    for (i32 axis = rank - 1; axis >= 0; axis--) {
        *x += xs[axis], *y += ys[axis];
        if (++at[axis] < batch[axis]) return 1;
        *x -= xs[axis] * batch[axis], *y -= ys[axis] * batch[axis], at[axis] = 0;
    }
    return 0;
}

/* Copy an m by n matrix to columns, or one that is stored by columns to rows.  The runtime's copy pays from some hundred
   elements on. */
static void copy_to_columns(const ag_runtime *rt, i64 m, i64 n, T *y, const T *x, i64 s0, i64 s1)
{
    if (m <= OWN_ROWS && n <= OWN_ROWS)
        for (i64 j = 0; j < n; j++)
            for (i64 i = 0; i < m; i++) y[i + j * m] = x[i * s0 + j * s1];
    else rt->copy(sizeof(T), 2, (const i64[]){m, n}, y, (const i64[]){1, m}, x, (const i64[]){s0, s1});
}
static void copy_to_rows(const ag_runtime *rt, i64 m, i64 n, T *y, const T *x)
{
    copy_to_columns(rt, n, m, y, x, m, 1);
}

/* Return memory for so many numbers and behind them, aligned, for the pivots of n rows; NULL if there is none. */
static T *numbers_and_pivots(const ag_runtime *rt, i64 numbers, i64 n, void **pivots)
{
    T *block = rt->take(rt, 1, 1, (const i64[]){numbers * (i64)sizeof(T) + 16 * n + 16});
    *pivots = block ? (char *)block + ((numbers * (i64)sizeof(T) + 15) & ~(i64)15) : 0;
    return block;
}

static i32 solve_batch(const ag_runtime *rt, const ag_solve *of)
{
    const i64 n = of->n, k = of->k;
    if (!count_of(of->rank, of->batch)) return 0;
    void *pivots;
    T *const lu = numbers_and_pivots(rt, n * n + n * k, n, &pivots), *x = of->x;
    if (!lu) return OUTCOME_MEMORY;
    T *const side = lu + n * n;
    const T *a = of->a, *b = of->b ? of->b : of->a;
    const i64 *as = of->a_strides, *bs = of->b ? of->b_strides : of->a_strides;
    i64 at[64] = {0};
    i32 failed = 0;
    do {
        copy_to_columns(rt, n, n, lu, a, as[of->rank], as[of->rank + 1]);
        if (factor(rt, n, lu, pivots)) failed = OUTCOME_SINGULAR;
        else {
            if (of->b) copy_to_columns(rt, n, k, side, b, bs[of->rank], bs[of->rank + 1]);
            else {
                __builtin_memset(side, 0, sizeof(T) * (u64)(n * n));
                for (i64 i = 0; i < n; i++) side[i * (n + 1)] = 1;
            }
            solve(rt, n, k, lu, pivots, side);
            copy_to_rows(rt, n, k, x, side);
            x += n * k;
        }
    } while (!failed && next_place(of->rank, of->batch, at, &a, as, &b, bs));
    rt->release(lu);
    return failed;
}

/* A triangle is copied only if neither of its strides is 1. */
static i32 solve_triangular_batch(const ag_runtime *rt, const ag_solve_triangular *of)
{
    const i64 n = of->n, k = of->k, *as = of->a_strides, *bs = of->b_strides, s0 = as[of->rank], s1 = as[of->rank + 1];
    if (!count_of(of->rank, of->batch)) return 0;
    const i32 by_columns = s0 == 1 && s1 >= n, by_rows = s1 == 1 && s0 >= n, packed = !by_columns && !by_rows;
    T *const side = rt->take(rt, sizeof(T), 1, (const i64[]){n * k + packed * n * n + 1}), *x = of->x;
    if (!side) return OUTCOME_MEMORY;
    T *const own = side + n * k;
    const T *a = of->a, *b = of->b;
    i64 at[64] = {0};
    i32 failed = 0;
    do {
        const T *matrix = packed ? own : a;
        if (packed) copy_to_columns(rt, n, n, own, a, s0, s1);
        copy_to_columns(rt, n, k, side, b, bs[of->rank], bs[of->rank + 1]);
        const i64 ld = packed ? n : by_columns ? s1 : s0;
        const i32 trans = !packed && !by_columns; /* rows are the columns of the transposed matrix */
        if (triangular(rt, trans ? !of->upper : of->upper, trans, of->unit, n, k, matrix, ld > 0 ? ld : 1, side))
            failed = OUTCOME_SINGULAR;
        copy_to_rows(rt, n, k, x, side);
        x += n * k;
    } while (!failed && next_place(of->rank, of->batch, at, &a, as, &b, bs));
    rt->release(side);
    return failed;
}

/* Seen as columns, the lower factor is the upper triangular factor of the transposed matrix, so it is computed in its
   place. */
static i32 cholesky_batch(const ag_runtime *rt, const ag_cholesky *of)
{
    const i64 n = of->n;
    if (!count_of(of->rank, of->batch)) return 0;
    const T *a = of->a, *same = of->a;
    T *l = of->l;
    i64 at[64] = {0};
    do {
        copy_to_columns(rt, n, n, l, a, of->a_strides[of->rank + 1], of->a_strides[of->rank]);
        if (cholesky(rt, n, l)) return OUTCOME_NOT_POSITIVE_DEFINITE;
        for (i64 i = 0; i < n; i++) __builtin_memset(l + i * n + i + 1, 0, sizeof(T) * (u64)(n - 1 - i));
        l += n * n;
    } while (next_place(of->rank, of->batch, at, &a, of->a_strides, &same, of->a_strides));
    return 0;
}

static i32 slogdet_batch(const ag_runtime *rt, const ag_slogdet *of)
{
    const i64 n = of->n;
    if (!count_of(of->rank, of->batch)) return 0;
    void *pivots;
    T *const lu = numbers_and_pivots(rt, n * n, n, &pivots), *sign = of->sign;
    if (!lu) return OUTCOME_MEMORY;
    const T *a = of->a, *same = of->a;
    REAL *logarithm = of->logarithm;
    i64 at[64] = {0};
    do {
        copy_to_columns(rt, n, n, lu, a, of->a_strides[of->rank], of->a_strides[of->rank + 1]);
        factor(rt, n, lu, pivots);
        determinant(n, lu, pivots, sign++, logarithm++);
    } while (next_place(of->rank, of->batch, at, &a, of->a_strides, &same, of->a_strides));
    rt->release(lu);
    return 0;
}

/* found: getrf, getrs, potrf and trtrs of this dtype, each of which may be NULL. */
EXPORT void ag_lapack_install(ag_solvers *entries, void *const *found, i32 takes_wide)
{
    wide = takes_wide;
    for (i32 i = 0; i < 4; i++) symbols[i] = found[0] && found[1] && found[2] && found[3] ? found[i] : 0;
    *entries = (ag_solvers){SOLVERS_SLOTS};
}
