/* The entry: a batch of products, run one after the other, or divided among threads if each is small.

   The choice of an algorithm depends only on sizes, strides and processor, never on load.  Our own loops are used
   where they are as fast as the BLAS, unless the result is narrower than a vector, and for operands that a BLAS could
   only take as a copy.  float32 and float64 with AVX2 or AVX-512: 0.95 to 1.8 times the speed of OpenBLAS 0.3.31 at 32
   to 2048, one thread of a Zen 4.  Complex numbers with AVX-512: 1.7 times at 256 to 1000, one thread of a Zen 5.  Only
   our loops support operands that tables describe. */
#pragma once
#include "little.c"
#include "blas.c"

enum { EPILOGUE = 1 << 9 }; /* numbers of little products that an epilogue follows */

typedef struct batch {
    const ag_runtime *rt;
    const batched_product *of;
    i64 count, a_task;
    little_kernel *little; /* NULL: chosen per product */
    i64 together;          /* little products between two calls of the epilogue, which finds them in the cache */
} batch;

/* Run a product of one row or one column as y = alpha * op(matrix) @ x + beta * y; return whether that applies. */
static i32 by_vector(const ag_runtime *rt, const product *x)
{
    const i32 row = x->m == 1; /* c^T = b^T @ a^T */
    const i64 lines = row ? x->n : x->m, along = row ? x->b1 : x->a0, across = row ? x->b0 : x->a1;
    const T *matrix = row ? x->b : x->a, *vector = row ? x->a : x->b;
    const i64 step = row ? x->a1 : x->b0, to = row ? 1 : x->c0;
    if (!(across == 1 && along >= x->k) && !(along == 1 && across >= lines)) return 0;
    if (across == 1) gemv(rt, 0, lines, x->k, &x->alpha, matrix, along, vector, step, &x->beta, x->c, to);
    else gemv(rt, 1, x->k, lines, &x->alpha, matrix, across, vector, step, &x->beta, x->c, to);
    return 1;
}

/* Run a product of a few rows and a large matrix, read once and in place; return whether that applies. */
static i32 by_few_vectors(const ag_runtime *rt, const product *x)
{
#if !COMPLEX
    const i32 trans = x->b1 == 1 && x->b0 >= x->n;
    if (!OWN_LOOPS || x->m > (trans ? FEW_ADDED : FEW_SUMMED) || x->n < MANY_NUMBERS / x->k || x->of->b_rows) return 0;
    if (!trans && !(x->b0 == 1 && x->b1 >= x->k)) return 0;
    const vector_work work = {trans,
                              trans ? x->k : x->n,
                              trans ? x->n : x->k,
                              trans ? x->b0 : x->b1,
                              x->a1,
                              1,
                              0,
                              x->alpha,
                              x->b,
                              x->a,
                              x->c,
                              x->m,
                              x->a0,
                              x->c0};
    if (!fills_vectors(&work)) return 0;
    scale_rows(x->m, x->n, x->beta, x->c, x->c0);
    add_product(rt, work);
    return 1;
#else
    (void)rt, (void)x;
    return 0;
#endif
}

/* Whether our tiles of whole vectors would be partly empty and the BLAS uses one thread, so that the bits do not depend
   on the number of threads: 512x128 @ 10 columns of float32 in 18 us, not 75. */
static i32 is_narrow(const product *x)
{
    const i32 fills_little = x->n < LANES || (x->n > LANES && 8 * x->n <= 11 * LANES);
    return fills_little && x->k > 0 && x->k <= QUIET_DEPTH && x->m * x->n <= QUIET_TILES * quiet / x->k;
}

static void multiply_matrices(const ag_runtime *rt, const product *x)
{
    if (x->k <= 0) scale_rows(x->m, x->n, x->beta, x->c, x->c0);
    else if (x->of->b_rows || (x->m != 1 && x->n != 1) || !by_vector(rt, x)) {
        if (by_few_vectors(rt, x)) {
            follow(x, 0, 0, x->m, x->n);
            return;
        }
        if (x->of->b_rows || (OWN_PRODUCTS && !is_narrow(x)) || !blas_gemm_of(rt, x)) {
            multiply(rt, x);
            return;
        }
    }
    follow(x, 0, 0, x->m, x->n);
}

/* Return the kernel for all products of a batch, or NULL if there is none. */
static little_kernel *little_of(const batched_product *of)
{
    const T alpha = *(const T *)of->alpha, beta = *(const T *)of->beta;
    return OWN_PRODUCTS && !of->b_rows && alpha == 1 && beta == 0 ? little_kernel_of(of) : 0;
}

/* Run product `index` of the batch and note its position. */
static product product_number(const batched_product *of, i64 index, i64 *place)
{
    const i32 rank = of->rank;
    i64 a = 0, b = 0, left = index;
    for (i32 l = rank - 1; l >= 0; l--) {
        place[l] = left % of->batch[l], left /= of->batch[l];
        a += place[l] * of->a_strides[l], b += place[l] * of->b_strides[l];
    }
    return (product){of->m,
                     of->n,
                     of->k,
                     *(const T *)of->alpha,
                     *(const T *)of->beta,
                     (T *)of->c + index * of->m * of->n,
                     (const T *)of->a + a,
                     (const T *)of->b + b,
                     of->a_strides[rank],
                     of->a_strides[rank + 1],
                     of->b_strides[rank],
                     of->b_strides[rank + 1],
                     of->n,
                     of,
                     place,
                     0};
}

static void multiply_some(void *context, i64 index)
{
    const batch *work = context;
    const batched_product *of = work->of;
    const i32 last = of->rank - 1;
    const i64 a_next = last < 0 ? 0 : of->a_strides[last], b_next = last < 0 ? 0 : of->b_strides[last];
    const i64 c_next = of->m * of->n;
    const i64 end = at_most((index + 1) * work->a_task, work->count);
    i64 place[AG_MOST_AXES], along;
    for (i64 k = index * work->a_task; k < end; k += along) { /* along the last axis the distance is constant */
        product x = product_number(of, k, place);
        along = last < 0 ? 1 : at_most(end - k, of->batch[last] - place[last]);
        for (i64 l = 0, several = 1; l < along; l += several) {
            if (work->little) {
                several = at_most(along - l, work->together);
                work->little(&(const little_products){several, a_next, b_next, c_next, x.m, x.n, x.k, x.a, x.b, x.c,
                                                      x.a0, x.a1, x.b0, x.b1, x.c0});
                follow_each(&x, several, 0, 0, x.m, x.n);
            } else multiply_matrices(work->rt, &x);
            if (last < 0) break;
            x.a += several * a_next, x.b += several * b_next, x.c += several * c_next, place[last] += several;
        }
    }
}

static void multiply_all(const ag_runtime *rt, const batched_product *of)
{
    batch work = {.rt = rt, .of = of, .count = 1, .a_task = 1};
    for (i32 l = 0; l < of->rank; l++) {
        if (of->batch[l] <= 0) return;
        work.count *= of->batch[l];
    }
    if (of->m <= 0 || of->n <= 0) return;
    const double each = (double)of->m * (double)of->n * (double)(of->k + 1), all = each * (double)work.count;
    if (all > LONG) rt->listen();
    work.little = little_of(of);
    work.together = !of->after ? work.count : of->grouped ? 1 : parts(EPILOGUE, of->m * of->n);
    work.a_task = each < ALONE ? (i64)(TASK / each) : 1;
    const i64 tasks = parts(work.count, work.a_task);
    if (each < ALONE && all > ALONE) rt->parallel(rt, tasks, multiply_some, &work);
    else
        for (i64 k = 0; k < tasks && !(all > LONG && rt->stopped()); k++) multiply_some(&work, k);
}

/* The epilogue follows block by block where it runs along rows and columns, else when all is done. */
static void multiply_batch(const ag_runtime *rt, const ag_product *of)
{
    const ag_after *after = &of->after;
    i64 detail[4];
    i32 together = after->nest && after->lengths[of->rank] == of->m && after->lengths[of->rank + 1] == of->n;
    for (i32 l = 0; together && l < of->rank; l++) together = after->lengths[l] == of->batch[l];
    multiply_all(rt, &(const batched_product){.rank = of->rank,
                                              .batch = of->batch,
                                              .m = of->m,
                                              .n = of->n,
                                              .k = of->k,
                                              .alpha = of->alpha,
                                              .a = of->a,
                                              .a_strides = of->a_strides,
                                              .b = of->b,
                                              .b_strides = of->b_strides,
                                              .beta = of->beta,
                                              .c = of->y,
                                              .after = together ? after->nest : 0,
                                              .data = after->data,
                                              .strides = after->strides});
    if (after->nest && !together) rt->launch(rt, after->nest, after->lengths, after->data, after->strides, detail);
}
