/* The products with sparse matrices of float and of double. */
#pragma once
#include "sparse_work.c"

#define NUMBER float
#define NAMED(name) name##_float
#include "sparse.c"

#define NUMBER double
#define NAMED(name) name##_double
#include "sparse.c"

/* y[rows, outputs] = x[rows, depth] @ w for a sparse w of stored vectors.  Return 0, or MEMORY (2). */
static i32 multiply_sparse(const ag_runtime *rt, const ag_sparse_product *given)
{
    if (given->rows <= 0 || given->outputs <= 0) return 0;
    const i64 panels = parts(given->outputs, VECTOR_BYTES / given->item);
    sparse_work work = {*given, parts(panels, SHARES), rt->alloc(given->rows + 64)};
    if (!work.special) return 2;
    (given->item == 4 ? find_special_float : find_special_double)(given, work.special);
    const i64 tasks = parts(panels, work.share);
    void (*task)(void *, i64) = given->item == 4 ? sparse_task_float : sparse_task_double;
    const double all = (double)given->rows * (double)given->starts[panels] * LANES;
    const i32 is_long = all > 1e8;
    if (is_long) rt->listen();
    if (rt->threads > 1 && tasks > 1 && all > TASK / 8) rt->parallel(rt, tasks, task, &work);
    else
        for (i64 k = 0; k < tasks && !(is_long && rt->stopped()); k++) task(&work, k);
    rt->release(work.special);
    return 0;
}
