/* Products of a matrix in compressed rows with a dense vector or matrix: each row is summed in the order of its elements,
   so threads do not change a bit.  Positions are checked while they are read. */
#pragma once
#include "../../driver/outcomes.h"
#include "../products/choices.c"

enum { SPARSE_TASK = 1 << 15 }; /* multiplications of a task */

typedef struct sparse_work {
    const ag_sparse_rows *of;
    i64 rows;            /* of a task */
    i64 volatile failed; /* a position is out of bounds */
} sparse_work;

/* Return the sum of a row times a vector; *wrong: whether a position is out of bounds. */
INLINE T sparse_sum(const T *data, const i32 *indices, i64 count, const T *x, i64 k, i64 *wrong)
{
    T sum = 0;
    for (i64 e = 0; e < count; e++) {
        const i64 at = indices[e], fits = (unsigned long long)at < (unsigned long long)k;
        if (!fits) {
            *wrong = 1;
            return sum;
        }
        sum += data[e] * x[at];
    }
    return sum;
}

/* Set a row of y to the sum of rows of x. */
INLINE i64 sparse_row(const T *data, const i32 *indices, i64 count, const T *x, i64 k, i64 n, T *restrict y)
{
    for (i64 j = 0; j < n; j++) y[j] = 0;
    for (i64 e = 0; e < count; e++) {
        const i64 at = indices[e];
        if (at < 0 || at >= k) return 1;
        const T factor = data[e], *row = x + at * n;
        for (i64 j = 0; j < n; j++) y[j] += factor * row[j];
    }
    return 0;
}

static void multiply_some_rows(void *context, i64 index)
{
    sparse_work *work = context;
    const ag_sparse_rows *of = work->of;
    const T *data = of->data, *x = of->x;
    const i32 *indices = of->indices, *indptr = of->indptr;
    T *y = (T *)of->y;
    const i64 end = at_most((index + 1) * work->rows, of->m), n = of->n;
    i64 wrong = 0;
    for (i64 i = index * work->rows; i < end && !wrong; i++) {
        const i64 from = indptr[i], count = indptr[i + 1] - from;
        if (from < 0 || count < 0 || from + count > of->elements) wrong = 1;
        else if (n == 1) y[i] = sparse_sum(data + from, indices + from, count, x, of->k, &wrong);
        else wrong = sparse_row(data + from, indices + from, count, x, of->k, n, y + i * n);
    }
    if (wrong) work->failed = 1;
}

/* Return 0, or PROMISED. */
static i32 multiply_sparse_rows(const ag_runtime *rt, const ag_sparse_rows *of)
{
    if (of->m <= 0 || of->n <= 0) return 0;
    const double all = (double)(of->elements + of->m) * (double)of->n;
    const i64 tasks = rt->threads > 1 && all > 2 * SPARSE_TASK
                          ? at_most(at_most(of->m, 16 * rt->threads), (i64)(all / SPARSE_TASK) + 1)
                          : 1;
    sparse_work work = {.of = of, .rows = parts(of->m, tasks)};
    if (tasks > 1) rt->parallel(rt, parts(of->m, work.rows), multiply_some_rows, &work);
    else multiply_some_rows(&work, 0);
    return work.failed ? OUTCOME_PROMISED : 0;
}

/* A range of columns of the product of the transposed matrix. */
typedef struct across_work {
    const ag_sparse_across *of;
    i64 columns;         /* of a task */
    i64 volatile failed; /* a position is out of bounds */
} across_work;

/* Add a row to y[indices[e]]; return whether a position is out of bounds. */
INLINE i64 add_across(const T *data, const i32 *indices, i64 elements, T x, i64 k, T *restrict y)
{
    for (i64 e = 0; e < elements; e++) {
        const i64 at = indices[e];
        if ((unsigned long long)at >= (unsigned long long)k) return 1;
        y[at] += data[e] * x;
    }
    return 0;
}

static void multiply_some_columns(void *context, i64 index)
{
    across_work *work = context;
    const ag_sparse_across *of = work->of;
    const i64 n = of->n, first = index * work->columns, count = at_most(work->columns, n - first);
    const i64 m = of->m, k = of->k, elements = of->elements;
    const T *data = of->data, *x = (const T *)of->x + first;
    const i32 *indices = of->indices, *indptr = of->indptr;
    T *restrict y = (T *)of->y + first;
    i64 wrong = 0;
    for (i64 i = 0; i < k; i++)
        for (i64 j = 0; j < count; j++) y[i * n + j] = 0;
    for (i64 i = 0; i < m && !wrong; i++, x += n) {
        const i64 from = indptr[i], end = indptr[i + 1];
        wrong = from < 0 || end < from || end > elements;
        if (wrong) break;
        if (n == 1) {
            wrong = add_across(data + from, indices + from, end - from, *x, k, y);
            continue;
        }
        for (i64 e = from; e < end && !wrong; e++) {
            const i64 at = indices[e];
            wrong = at < 0 || at >= k;
            if (wrong) break;
            const T factor = data[e];
            for (i64 j = 0; j < count; j++) y[at * n + j] += factor * x[j];
        }
    }
    if (wrong) work->failed = 1;
}

/* Return 0, or PROMISED.  Tasks are ranges of columns, so threads do not change a bit. */
static i32 multiply_sparse_across(const ag_runtime *rt, const ag_sparse_across *of)
{
    if (of->k <= 0 || of->n <= 0) return 0;
    const double all = (double)(of->elements + of->k) * (double)of->n;
    const i64 most = of->n / 4 > 1 ? of->n / 4 : 1; /* a task reads 4 columns at least */
    const i64 tasks = rt->threads > 1 && all > 2 * SPARSE_TASK ? at_most(most, rt->threads) : 1;
    across_work work = {.of = of, .columns = parts(of->n, tasks)};
    if (tasks > 1) rt->parallel(rt, parts(of->n, work.columns), multiply_some_columns, &work);
    else multiply_some_columns(&work, 0);
    return work.failed ? OUTCOME_PROMISED : 0;
}
