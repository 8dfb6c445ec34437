/* Elements of the product of two sparse matrices at the places of a pattern, by rows as of Gustavson (1978): a dense row
   of sums, which is read at the places.  Each row is one thread's, so threads do not change a bit. */
#pragma once
#include "../../driver/outcomes.h"
#include "../products/choices.c"
#include "positions.c"

enum { VALUES_TASK = 1 << 15 }; /* multiplications of a task */

typedef struct values_work {
    const ag_runtime *rt;
    const ag_sparse_values *of;
    i64 rows; /* of a task */
    i32 volatile failed;
} values_work;

/* Add factor * y to the sums of these columns. */
INLINE void add_row(T factor, const T *restrict y, const i32 *restrict columns, i64 count, T *restrict sums)
{
    for (i64 f = 0; f < count; f++) {
        sums[columns[f]] += factor * y[f];
        KEEP_SCALAR();
    }
}

static void sum_some_rows(void *context, i64 task)
{
    values_work *work = context;
    const ag_sparse_values *of = work->of;
    const T *x = of->x, *y = of->y;
    const i32 *first = of->x_indices, *starts = of->x_indptr, *second = of->y_indices, *ends = of->y_indptr;
    const i32 *columns = of->indices, *indptr = of->indptr;
    T *values = (T *)of->values, *const sums = work->rt->alloc((of->n + 1) * (i64)sizeof(T));
    const i64 end = at_most((task + 1) * work->rows, of->m);
    if (!sums) {
        work->failed = OUTCOME_MEMORY;
        return;
    }
    for (i64 i = task * work->rows; i < end; i++) {
        const i64 from = indptr[i], until = indptr[i + 1], last = starts[i + 1];
        if (from == until) continue;
        for (i64 p = from; p < until; p++) sums[columns[p]] = 0; /* others are summed, and never read */
        for (i64 e = starts[i]; e < last; e++) {
            const i64 k = first[e], begin = ends[k];
            add_row(x[e], y + begin, second + begin, ends[k + 1] - begin, sums);
        }
        for (i64 p = from; p < until; p++) values[p] = sums[columns[p]];
    }
    work->rt->release(sums);
}

/* Return 0, PROMISED or MEMORY. */
static i32 sum_at_places(const ag_runtime *rt, const ag_sparse_values *of)
{
    const i64 fits = matrix_fits(of->y_indices, of->y_indptr, of->k, of->y_elements, of->n)
                     && matrix_fits(of->x_indices, of->x_indptr, of->m, of->x_elements, of->k)
                     && matrix_fits(of->indices, of->indptr, of->m, of->elements, of->n);
    if (!fits) return OUTCOME_PROMISED;
    T *const values = (T *)of->values;
    for (i64 p = 0; p < of->indptr[0]; p++) values[p] = 0;
    for (i64 p = of->indptr[of->m]; p < of->elements; p++) values[p] = 0;
    const double all = (double)of->x_elements * (double)of->y_elements / (double)(of->k > 0 ? of->k : 1);
    const i64 most = rt->threads > 1 && all > 2 * VALUES_TASK ? (i64)(all / VALUES_TASK) + 1 : 1;
    const i64 tasks = at_most(most, 8 * rt->threads);
    values_work work = {.rt = rt, .of = of, .rows = parts(of->m, tasks) > 0 ? parts(of->m, tasks) : 1};
    if (tasks > 1) rt->parallel(rt, parts(of->m, work.rows), sum_some_rows, &work);
    else sum_some_rows(&work, 0);
    return work.failed;
}
