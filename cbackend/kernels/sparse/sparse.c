/* Products of a matrix in compressed rows with a dense vector or matrix: each row is summed in the order of its elements,
   so threads do not change a bit.  Positions are checked before they are read. */
#pragma once
#include "../../driver/outcomes.h"
#include "../products/choices.c"
#include "positions.c"

enum {
    SPARSE_TASK = 1 << 15,  /* multiplications of a task */
    SPARSE_CHECK = 1 << 11, /* elements whose positions are checked before they are read */
    SPARSE_COLUMNS = 32     /* columns of a sum in registers */
};

typedef struct sparse_work {
    const ag_sparse_rows *of;
    i64 rows;            /* of a task */
    i64 checked;         /* rows whose positions are checked at once */
    i64 volatile failed; /* a position is out of bounds */
} sparse_work;

#define KEEP_SCALAR() __asm__ volatile("") /* gathers are slower than reads of single numbers */

/* Set a number of y to the sum of each row from `first` to `end` times a vector; two rows are summed at once. */
INLINE void sparse_sums(const T *data, const i32 *indices, const i32 *indptr, i64 first, i64 end, const T *x, T *y)
{
    for (i64 i = first; i < end; i += 2) {
        const i64 middle = indptr[i + 1], last = i + 1 < end ? indptr[i + 2] : middle;
        i64 e = indptr[i], f = middle;
        T sum = 0, other = 0;
        for (; e < middle && f < last; e++, f++) {
            sum += data[e] * x[indices[e]];
            other += data[f] * x[indices[f]];
            KEEP_SCALAR();
        }
        for (; e < middle; e++) {
            sum += data[e] * x[indices[e]];
            KEEP_SCALAR();
        }
        for (; f < last; f++) {
            other += data[f] * x[indices[f]];
            KEEP_SCALAR();
        }
        y[i] = sum;
        if (i + 1 < end) y[i + 1] = other;
    }
}

/* Set `width` numbers of a row of y, held in registers, to the sum of rows of x. */
INLINE void sparse_block(const T *data, const i32 *indices, i64 count, const T *x, i64 n, i64 width, T *restrict y)
{
    T sums[SPARSE_COLUMNS];
    for (i64 j = 0; j < width; j++) sums[j] = 0;
    for (i64 e = 0; e < count; e++) {
        const T factor = data[e], *row = x + indices[e] * n;
        for (i64 j = 0; j < width; j++) sums[j] += factor * row[j];
    }
    for (i64 j = 0; j < width; j++) y[j] = sums[j];
}

/* Set a row of y to the sum of rows of x. */
INLINE void sparse_row(const T *data, const i32 *indices, i64 count, const T *x, i64 n, T *restrict y)
{
    i64 j = 0;
    for (; j + SPARSE_COLUMNS <= n; j += SPARSE_COLUMNS)
        sparse_block(data, indices, count, x + j, n, SPARSE_COLUMNS, y + j);
    for (; j + 8 <= n; j += 8) sparse_block(data, indices, count, x + j, n, 8, y + j);
    for (; j + 2 <= n; j += 2) sparse_block(data, indices, count, x + j, n, 2, y + j);
    if (j < n) sparse_block(data, indices, count, x + j, n, 1, y + j);
}

static void multiply_some_rows(void *context, i64 index)
{
    sparse_work *work = context;
    const ag_sparse_rows *of = work->of;
    const T *data = of->data, *x = of->x;
    const i32 *indices = of->indices, *indptr = of->indptr;
    T *y = (T *)of->y;
    const i64 first = index * work->rows, end = at_most(first + work->rows, of->m), n = of->n;
    i64 fits = rows_fit(indptr + first, end - first, of->elements);
    for (i64 i = first, until; i < end && fits; i = until) {
        until = at_most(i + work->checked, end);
        fits = positions_fit(indices + indptr[i], indptr[until] - indptr[i], of->k);
        if (fits && n == 1) sparse_sums(data, indices, indptr, i, until, x, y);
        else if (fits)
            for (i64 r = i; r < until; r++)
                sparse_row(data + indptr[r], indices + indptr[r], indptr[r + 1] - indptr[r], x, n, y + r * n);
    }
    if (!fits) work->failed = 1;
}

/* Return 0, or PROMISED. */
static i32 multiply_sparse_rows(const ag_runtime *rt, const ag_sparse_rows *of)
{
    if (of->m <= 0 || of->n <= 0) return 0;
    const double all = (double)(of->elements + of->m) * (double)of->n;
    const i64 tasks = rt->threads > 1 && all > 2 * SPARSE_TASK
                          ? at_most(at_most(of->m, 16 * rt->threads), (i64)(all / SPARSE_TASK) + 1)
                          : 1;
    const i64 checked = (i64)(SPARSE_CHECK * (double)of->m / (double)(of->elements + 1)) + 1;
    sparse_work work = {.of = of, .rows = parts(of->m, tasks), .checked = checked};
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
