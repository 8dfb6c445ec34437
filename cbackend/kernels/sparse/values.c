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

static void sum_some_rows(void *context, i64 task)
{
    values_work *work = context;
    const ag_sparse_values *of = work->of;
    const T *x = of->x, *y = of->y;
    T *const values = (T *)of->values, *restrict const sums = work->rt->alloc((of->n + 1) * (i64)sizeof(T));
    const i64 end = at_most((task + 1) * work->rows, of->m);
    if (!sums) {
        work->failed = OUTCOME_MEMORY;
        return;
    }
    for (i64 i = task * work->rows; i < end; i++) {
        const i64 from = of->indptr[i], until = of->indptr[i + 1];
        if (from == until) continue;
        for (i64 p = from; p < until; p++) sums[of->indices[p]] = 0; /* others are summed, and never read */
        for (i64 e = of->x_indptr[i]; e < of->x_indptr[i + 1]; e++) {
            const i64 k = of->x_indices[e];
            const T factor = x[e];
            for (i64 f = of->y_indptr[k]; f < of->y_indptr[k + 1]; f++) sums[of->y_indices[f]] += factor * y[f];
        }
        for (i64 p = from; p < until; p++) values[p] = sums[of->indices[p]];
    }
    work->rt->release(sums);
}

/* Return 0, PROMISED or MEMORY. */
static i32 sum_at_places(const ag_runtime *rt, const ag_sparse_values *of)
{
    const i64 fits = matrix_fits(of->y_indices, of->y_indptr, of->k, of->y_elements, of->n) &&
                     matrix_fits(of->x_indices, of->x_indptr, of->m, of->x_elements, of->k) &&
                     matrix_fits(of->indices, of->indptr, of->m, of->elements, of->n);
    if (!fits) return OUTCOME_PROMISED;
    T *const values = (T *)of->values;
    const i64 from = of->m > 0 ? of->indptr[0] : of->elements, until = of->m > 0 ? of->indptr[of->m] : of->elements;
    for (i64 p = 0; p < from; p++) values[p] = 0;
    for (i64 p = until; p < of->elements; p++) values[p] = 0;
    const double all = (double)of->x_elements * (double)of->y_elements / (double)(of->k > 0 ? of->k : 1);
    const i64 most = rt->threads > 1 && all > 2 * VALUES_TASK ? (i64)(all / VALUES_TASK) + 1 : 1;
    const i64 tasks = at_most(most, 8 * rt->threads);
    values_work work = {.rt = rt, .of = of, .rows = parts(of->m, tasks) > 0 ? parts(of->m, tasks) : 1};
    if (tasks > 1) rt->parallel(rt, parts(of->m, work.rows), sum_some_rows, &work);
    else sum_some_rows(&work, 0);
    return work.failed;
}
