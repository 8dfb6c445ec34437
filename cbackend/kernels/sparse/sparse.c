/* Products of a matrix in compressed rows with a dense vector or matrix: each row is summed in the order of its elements,
   so threads do not change a bit.  Positions are checked before they are read. */
#pragma once
#include "../../driver/outcomes.h"
#include "../products/choices.c"
#include "positions.c"

enum {
    SPARSE_TASK = 1 << 15, /* multiplications of a task */
    SPARSE_CHECK = 1 << 9, /* elements whose positions are checked before they are read */
    SPARSE_RANGES = 4,     /* of elements in order, whose sums do not wait for each other */
    SPARSE_COLUMNS = 32,   /* columns of a sum in registers */
    ACROSS_COLUMNS = 64    /* columns that a task adds to at least: threads share no cache line */
};

typedef struct sparse_work {
    const ag_sparse_rows *of;
    i64 rows;            /* of a task */
    i64 checked;         /* rows whose positions are checked at once */
    i64 volatile failed; /* a position is out of bounds */
} sparse_work;

/* Return the rows whose positions are checked at once. */
INLINE i64 rows_at_once(i64 rows, i64 elements)
{
    return (i64)(SPARSE_CHECK * (double)rows / (double)(elements + 1)) + 1;
}

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
    sparse_work work = {.of = of, .rows = parts(of->m, tasks), .checked = rows_at_once(of->m, of->elements)};
    if (tasks > 1) rt->parallel(rt, parts(of->m, work.rows), multiply_some_rows, &work);
    else multiply_some_rows(&work, 0);
    return work.failed ? OUTCOME_PROMISED : 0;
}

/* A range of columns of the product of the transposed matrix, or of coordinates. */
typedef struct across_work {
    const void *of;
    i64 n, columns;      /* all, and those of a task */
    i64 volatile failed; /* a position is out of bounds */
} across_work;

/* Set a range of columns to 0. */
INLINE void clear_columns(T *restrict y, i64 rows, i64 n, i64 count)
{
    const i64 whole = count == n;
    for (i64 i = 0; i < (whole ? 1 : rows); i++)
        for (i64 j = 0; j < (whole ? rows * n : count); j++) y[i * n + j] = 0;
}

/* Add factor * x to y. */
INLINE void add_columns(T factor, const T *restrict x, i64 count, T *restrict y)
{
    for (i64 j = 0; j < count; j++) y[j] += factor * x[j];
}

/* Do the columns in tasks of ranges, so threads do not change a bit.  Return 0, or PROMISED. */
static i32 in_columns(const ag_runtime *rt, void (*some)(void *, i64), const void *of, i64 elements, i64 n)
{
    const i64 most = rt->threads > 1 && (double)elements * (double)n > 2 * SPARSE_TASK ? n / ACROSS_COLUMNS : 1;
    const i64 tasks = at_most(most > 1 ? most : 1, rt->threads);
    across_work work = {of, n, tasks > 1 ? parts(parts(n, tasks), ACROSS_COLUMNS) * ACROSS_COLUMNS : n, 0};
    if (tasks > 1) rt->parallel(rt, parts(n, work.columns), some, &work);
    else some(&work, 0);
    return work.failed ? OUTCOME_PROMISED : 0;
}

static void multiply_some_columns(void *context, i64 index)
{
    across_work *work = context;
    const ag_sparse_across *of = work->of;
    const i64 n = work->n, first = index * work->columns, count = at_most(work->columns, n - first), m = of->m;
    const T *restrict data = of->data, *restrict x = (const T *)of->x + first;
    const i32 *restrict indices = of->indices, *restrict indptr = of->indptr;
    T *restrict y = (T *)of->y + first;
    clear_columns(y, of->k, n, count);
    const i64 checked = rows_at_once(m, of->elements);
    i64 fits = rows_fit(indptr, m, of->elements);
    for (i64 start = 0, until; start < m && fits; start = until) {
        until = at_most(start + checked, m);
        fits = positions_fit(indices + indptr[start], indptr[until] - indptr[start], of->k);
        for (i64 i = start; i < until && fits; i++) {
            const i64 end = indptr[i + 1];
            const T factor = x[i * n];
            if (n == 1)
                for (i64 e = indptr[i]; e < end; e++) {
                    y[indices[e]] += data[e] * factor;
                    KEEP_SCALAR();
                }
            else
                for (i64 e = indptr[i]; e < end; e++) add_columns(data[e], x + i * n, count, y + indices[e] * n);
        }
    }
    if (!fits) work->failed = 1;
}

/* Return 0, or PROMISED. */
static i32 multiply_sparse_across(const ag_runtime *rt, const ag_sparse_across *of)
{
    if (of->n <= 0 || of->k <= 0) return 0;
    return in_columns(rt, multiply_some_columns, of, of->elements + of->k, of->n);
}

/* Add each element times its number of x to its row, elements in their order. */
INLINE void add_entries(const T *data, const i32 *rows, const i32 *columns, i64 count, const T *x, T *y)
{
    i64 k = 0;
    for (; k + 4 <= count; k += 4) {
        const T first = data[k] * x[columns[k]], second = data[k + 1] * x[columns[k + 1]];
        KEEP_SCALAR();
        const T third = data[k + 2] * x[columns[k + 2]], last = data[k + 3] * x[columns[k + 3]];
        KEEP_SCALAR();
        y[rows[k]] += first;
        y[rows[k + 1]] += second;
        y[rows[k + 2]] += third;
        y[rows[k + 3]] += last;
        KEEP_SCALAR();
    }
    for (; k < count; k++) y[rows[k]] += data[k] * x[columns[k]];
}

/* Whether rows stand in order, in runs of about four elements or more, by the first ones. */
INLINE i64 in_runs(const i32 *rows, i64 count)
{
    const i64 looked_at = at_most(count, 128);
    i32 wrong = 0, same = 0;
    for (i64 k = 1; k < looked_at; k++) same += rows[k - 1] == rows[k];
    if (4 * (i64)same <= 3 * looked_at) return 0;
    for (i64 k = 1; k < count; k++) wrong |= rows[k - 1] > rows[k];
    return !wrong;
}

/* The same for rows in order, in runs: four ranges that share no row take turns, so one does not wait for another's sums. */
INLINE void add_ranges(const T *data, const i32 *rows, const i32 *columns, i64 count, const T *x, T *y)
{
    i64 begins[SPARSE_RANGES + 1] = {0}, all = count;
    for (i64 r = 1; r <= SPARSE_RANGES; r++) {
        i64 k = at_least(begins[r - 1], r * count / SPARSE_RANGES);
        while (k > 0 && k < count && rows[k - 1] == rows[k]) k++;
        begins[r] = k;
        all = at_most(all, k - begins[r - 1]);
    }
    const i64 a = begins[1], b = begins[2], c = begins[3];
    for (i64 k = 0; k < all; k++) {
        const T first = data[k] * x[columns[k]], second = data[a + k] * x[columns[a + k]];
        KEEP_SCALAR();
        const T third = data[b + k] * x[columns[b + k]], last = data[c + k] * x[columns[c + k]];
        KEEP_SCALAR();
        y[rows[k]] += first;
        y[rows[a + k]] += second;
        y[rows[b + k]] += third;
        y[rows[c + k]] += last;
        KEEP_SCALAR();
    }
    for (i64 r = 0; r < SPARSE_RANGES; r++) {
        const i64 first = begins[r] + all;
        add_entries(data + first, rows + first, columns + first, begins[r + 1] - first, x, y);
    }
}

static void multiply_some_entries(void *context, i64 index)
{
    across_work *work = context;
    const ag_sparse_entries *of = work->of;
    const i64 n = work->n, first = index * work->columns, count = at_most(work->columns, n - first);
    const i64 elements = of->elements;
    const T *restrict data = of->data, *restrict x = (const T *)of->x + first;
    const i32 *restrict rows = of->rows, *restrict columns = of->columns;
    T *restrict y = (T *)of->y + first;
    clear_columns(y, of->m, n, count);
    i64 fits = 1;
    for (i64 e = 0, until; e < elements && fits; e = until) {
        until = at_most(e + SPARSE_CHECK, elements);
        fits = positions_fit(rows + e, until - e, of->m) && positions_fit(columns + e, until - e, of->k);
        if (fits && n == 1 && in_runs(rows + e, until - e))
            add_ranges(data + e, rows + e, columns + e, until - e, x, y);
        else if (fits && n == 1) add_entries(data + e, rows + e, columns + e, until - e, x, y);
        else if (fits)
            for (i64 k = e; k < until; k++) add_columns(data[k], x + columns[k] * n, count, y + rows[k] * n);
    }
    if (!fits) work->failed = 1;
}

/* Return 0, or PROMISED. */
static i32 multiply_sparse_entries(const ag_runtime *rt, const ag_sparse_entries *of)
{
    if (of->n <= 0) return 0;
    return in_columns(rt, multiply_some_entries, of, of->elements + of->m, of->n);
}
