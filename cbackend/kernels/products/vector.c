/* Products of a matrix and one or a few vectors by our own loops: y += alpha * op(a) @ x, of real numbers.

   A large matrix is read once, so the loops are nearly as fast as memory: a decoder's token takes 82 to 87 % of the
   bandwidth of a plain read on one thread of a Zen 4, by OpenBLAS 0.3.31 in tiles that its threads leave alone (see
   blas_gemv) 53 %.  The division among threads changes no bit: the order of each sum depends only
   on sizes.

   Several vectors share blocks of the matrix that stay in the cache: two rows by 768x3072 read it at 22 GB/s,
   by its transpose at 26, where packing it for the tiles of blocks.c leaves 11 and 7. */
#pragma once
#include "blocks.c"

#if !COMPLEX
enum { READ_TASK = 1 << 15 }; /* least numbers of a matrix per task */
/* Vectors that share blocks if rows are added, and if they are summed; least numbers of such a matrix. */
enum { FEW_ADDED = 4, FEW_SUMMED = 8, MANY_NUMBERS = 1 << 18 };
enum {
    BLOCK_SUMMED = 32,
    BLOCK_KEPT = 256,
    BLOCK_ROWS = 8
}; /* rows and columns of a block; its rows where they are kept */
enum { AHEAD = 8 * LANES };

typedef struct vector_work {
    i32 trans;
    i64 m, n, lda, incx, incy, share; /* share: numbers of y in a task */
    T alpha;
    const T *a, *x;
    T *y;
    i64 vectors, next_x, next_y; /* how many there are, and from one to the next */
} vector_work;

#define AT(p) (*(const unaligned *)(p))
#define FOUR(of) ((of(0) + of(2)) + (of(1) + of(3)))
#define VECTORS(r) (f##r * AT(a + (r) * lda + j))
#define NUMBERS(r) (f##r * a[(r) * lda + j])
#define EIGHT(of) (((of(0) + of(2)) + (of(4) + of(6))) + ((of(1) + of(3)) + (of(5) + of(7))))

/* y[0:n] += alpha * x @ a[m, n]: eight rows at a time, so that y, which stays in the cache, is read and written less. */
static void add_rows(i64 m, i64 n, T alpha, const T *a, i64 lda, const T *x, i64 incx, T *y)
{
    i64 i = 0;
    for (; i + 8 <= m; i += 8, a += 8 * lda, x += 8 * incx) {
        const T f0 = alpha * x[0], f1 = alpha * x[incx], f2 = alpha * x[2 * incx], f3 = alpha * x[3 * incx];
        const T f4 = alpha * x[4 * incx], f5 = alpha * x[5 * incx], f6 = alpha * x[6 * incx], f7 = alpha * x[7 * incx];
        i64 j = 0;
        for (; j + LANES <= n; j += LANES) *(unaligned *)(y + j) += EIGHT(VECTORS);
        for (; j < n; j++) y[j] += EIGHT(NUMBERS);
    }
    for (; i + 4 <= m; i += 4, a += 4 * lda, x += 4 * incx) {
        const T f0 = alpha * x[0], f1 = alpha * x[incx], f2 = alpha * x[2 * incx], f3 = alpha * x[3 * incx];
        i64 j = 0;
        for (; j + LANES <= n; j += LANES) *(unaligned *)(y + j) += FOUR(VECTORS);
        for (; j < n; j++) y[j] += FOUR(NUMBERS);
    }
    for (; i < m; i++, a += lda, x += incx) {
        const T factor = alpha * *x;
        i64 j = 0;
        for (; j + LANES <= n; j += LANES) *(unaligned *)(y + j) += factor * AT(a + j);
        for (; j < n; j++) y[j] += factor * a[j];
    }
}

/* Fetch what a row holds AHEAD elements later, or its successor among the next four rows.  A matrix in the second level
   of the cache is then read in 0.84 to 0.88 of the time; a larger one, which the processor fetches by itself, in the same. */
#define FETCH(row) __builtin_prefetch((row) + next), __builtin_prefetch((row) + next + LANES)

/* y[0:m] += alpha * a[m, n] @ x: four rows at a time; the last row replaces missing ones. */
static void add_sums(i64 m, i64 n, T alpha, const T *a, i64 lda, const T *x, T *y, i64 incy)
{
    for (i64 i = 0; i < m; i += 4) {
        const T *a0 = a + i * lda, *a1 = a + at_most(i + 1, m - 1) * lda, *a2 = a + at_most(i + 2, m - 1) * lda,
                *a3 = a + at_most(i + 3, m - 1) * lda;
        unaligned s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
        i64 j = 0;
        for (; j + 2 * LANES <= n; j += 2 * LANES) {
            const i64 next = j + AHEAD < n ? j + AHEAD : j + AHEAD - n + 4 * lda;
            FETCH(a0), FETCH(a1), FETCH(a2), FETCH(a3);
            const unaligned v = AT(x + j), w = AT(x + j + LANES);
            s0 += v * AT(a0 + j), s1 += v * AT(a1 + j), s2 += v * AT(a2 + j), s3 += v * AT(a3 + j);
            t0 += w * AT(a0 + j + LANES), t1 += w * AT(a1 + j + LANES);
            t2 += w * AT(a2 + j + LANES), t3 += w * AT(a3 + j + LANES);
        }
        if (j + LANES <= n) {
            const unaligned v = AT(x + j);
            s0 += v * AT(a0 + j), s1 += v * AT(a1 + j), s2 += v * AT(a2 + j), s3 += v * AT(a3 + j);
            j += LANES;
        }
        s0 += t0, s1 += t1, s2 += t2, s3 += t3;
        T sums[4] = {0};
        for (i32 l = 0; l < LANES; l++) sums[0] += s0[l], sums[1] += s1[l], sums[2] += s2[l], sums[3] += s3[l];
        for (; j < n; j++)
            sums[0] += x[j] * a0[j], sums[1] += x[j] * a1[j], sums[2] += x[j] * a2[j], sums[3] += x[j] * a3[j];
        for (i64 r = 0; r < 4 && i + r < m; r++) y[(i + r) * incy] += alpha * sums[r];
    }
}

static void vector_task(void *work_, i64 index)
{
    const vector_work *w = work_;
    const i64 from = index * w->share, end = at_most(from + w->share, w->trans ? w->n : w->m);
    const i64 height = w->vectors == 1 ? w->m : w->trans ? BLOCK_SUMMED : BLOCK_ROWS;
    const i64 width = w->vectors == 1 ? end - from : BLOCK_KEPT;
    if (w->trans)
        for (i64 j = from; j < end; j += width)
            for (i64 i = 0; i < w->m; i += height)
                for (i64 v = 0; v < w->vectors; v++)
                    add_rows(at_most(height, w->m - i), at_most(width, end - j), w->alpha, w->a + i * w->lda + j,
                             w->lda, w->x + v * w->next_x + i * w->incx, w->incx, w->y + v * w->next_y + j);
    else
        for (i64 i = from; i < end; i += height)
            for (i64 v = 0; v < w->vectors; v++)
                add_sums(at_most(height, end - i), w->n, w->alpha, w->a + i * w->lda, w->lda, w->x + v * w->next_x,
                         w->y + v * w->next_y + i * w->incy, w->incy);
}

/* Whether the loops read whole vectors, and enough of them if each row ends in a sum over a vector. */
static i32 fills_vectors(const vector_work *w)
{
    return w->trans ? w->incy == 1 && w->n >= 4 * LANES : w->incx == 1 && w->n >= 16 * LANES;
}

static void add_product(const ag_runtime *rt, vector_work work)
{
    const i64 kept = work.trans ? work.n : work.m, size = work.m * work.n;
    const i64 tasks = rt->threads > 1 ? at_least(at_most(size / READ_TASK, 4 * rt->threads), 1) : 1;
    work.share = round_up(parts(kept, tasks), work.trans ? 4 * LANES : 4);
    run(rt, parts(kept, work.share), vector_task, &work);
}
#undef AT
#undef FETCH
#undef FOUR
#undef EIGHT
#undef VECTORS
#undef NUMBERS
#endif
