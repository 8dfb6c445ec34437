/* The BLAS of the process, by pointers; and gemv, ger and dot, by it or by our own loops.

   Arguments that a BLAS cannot take, such as sizes beyond its integers or negative strides, go to our own loops.
   With FALLBACK the BLAS has all three, and our own loops are compiled with little optimization.  An outer product is
   ours where OWN_LOOPS is: half of OpenBLAS's time where it is small, the same where it is large, and it wakes no
   thread of the BLAS. */
#pragma once
#include "vector.c"

#if FALLBACK
#define LOOP static
#else
#define LOOP INLINE /* each caller gets the loop for its own strides */
#endif

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 }; /* as CBLAS counts them */
enum { LINE = 16, QUIET_TILES = 16, QUIET_DEPTH = 1024 };      /* see blas_gemm, also for the next */
/* See blas_gemv: numbers of a matrix, its columns where they are summed and where they are kept, numbers in a task. */
enum { GEMV_ALONE = COMPLEX ? 4096 : 9216, GEMV_SUMMED = COMPLEX ? 512 : 2048, GEMV_KEPT = 512, GEMV_TASK = 1 << 17 };
enum { DOT_ALONE = 8192, DOT_TASK = 8 * DOT_ALONE, MOST_SUMS = 256 }; /* see dot: numbers of a call; of a task; tasks */
enum { GER_TASK = 1 << 16 };                                          /* numbers of a matrix */
enum { LONG_TILE = 1 << (COMPLEX ? 28 : 30), LONG_WIDTH = 1024, LONG_DEPTH = 2048 };

static i32 wide;  /* the BLAS takes 64-bit integers */
static i64 quiet; /* most multiplications of a product that wakes no thread of the BLAS; 0: unknown */

/* Return the length of all parts of `total` but the last, at most `most`. */
INLINE i64 even_part(i64 total, i64 most) { return parts(total, parts(total, most)); }

/* Whether the BLAS can take these sizes. */
INLINE i32 fits(i64 a, i64 b, i64 c, i64 d, i64 e, i64 f) { return wide || ((a | b | c | d | e | f) >> 31) == 0; }

#if COMPLEX
#define BY_VALUE(type) const type *
#define VALUE(pointer) (pointer)
#else
#define BY_VALUE(type) type
#define VALUE(pointer) (*(pointer))
#endif

static void *symbols[4];

/* ---- Own loops -------------------------------------------------------------------------------------------- */

/* y = beta * y, where beta == 0 does not read y */
static void scale(i64 n, T beta, T *y, i64 step)
{
    if (beta == 0)
        for (i64 i = 0; i < n; i++) y[i * step] = 0;
    else if (beta != 1)
        for (i64 i = 0; i < n; i++) y[i * step] = MULTIPLY(beta, y[i * step]);
}

static void scale_rows(i64 m, i64 n, T beta, T *c, i64 ldc)
{
    for (i64 i = 0; i < m; i++) scale(n, beta, c + i * ldc, 1);
}

static T own_dot(i64 n, const T *x, i64 incx, const T *y, i64 incy)
{
#if COMPLEX
    REAL real = 0, imaginary = 0;
#pragma omp simd reduction(+ : real, imaginary)
    for (i64 i = 0; i < n; i++) {
        T product = MULTIPLY(x[i * incx], y[i * incy]);
        real += __real__ product;
        imaginary += __imag__ product;
    }
    T sum;
    __real__ sum = real;
    __imag__ sum = imaginary;
    return sum;
#else
    T sum = 0;
    if (incx == 1 && incy == 1) {
#pragma omp simd reduction(+ : sum)
        for (i64 i = 0; i < n; i++) sum += x[i] * y[i];
    } else
        for (i64 i = 0; i < n; i++) sum += x[i * incx] * y[i * incy];
    return sum;
#endif
}

/* y += factor * x */
LOOP void add_scaled(i64 n, T factor, const T *x, i64 incx, T *y, i64 incy)
{
    i64 i = 0;
#if !COMPLEX
    for (; incx == 1 && incy == 1 && i + LANES <= n; i += LANES)
        *(unaligned *)(y + i) += factor * *(const unaligned *)(x + i);
#endif
    for (; i < n; i++) y[i * incy] += MULTIPLY(factor, x[i * incx]);
}

static void own_gemv(i32 trans, i64 m, i64 n, T alpha, const T *a, i64 lda, const T *x, i64 incx, T beta, T *y,
                     i64 incy)
{
    scale(trans ? n : m, beta, y, incy);
    for (i64 i = 0; i < m; i++)
        if (trans) add_scaled(n, MULTIPLY(alpha, x[i * incx]), a + i * lda, 1, y, incy);
        else y[i * incy] += MULTIPLY(alpha, own_dot(n, a + i * lda, 1, x, incx));
}

/* ---- Entries -------------------------------------------------------------------------------------------- */

#define SCALAR BY_VALUE(T)
typedef void gemm_wide(i32, i32, i32, i64, i64, i64, SCALAR, const T *, i64, const T *, i64, SCALAR, T *, i64);
typedef void gemm_narrow(i32, i32, i32, i32, i32, i32, SCALAR, const T *, i32, const T *, i32, SCALAR, T *, i32);
typedef void gemv_wide(i32, i32, i64, i64, SCALAR, const T *, i64, const T *, i64, SCALAR, T *, i64);
typedef void gemv_narrow(i32, i32, i32, i32, SCALAR, const T *, i32, const T *, i32, SCALAR, T *, i32);
typedef void ger_wide(i32, i64, i64, SCALAR, const T *, i64, const T *, i64, T *, i64);
typedef void ger_narrow(i32, i32, i32, SCALAR, const T *, i32, const T *, i32, T *, i32);
#if COMPLEX
typedef void dot_wide(i64, const T *, i64, const T *, i64, T *);
typedef void dot_narrow(i32, const T *, i32, const T *, i32, T *);
#else
typedef T dot_wide(i64, const T *, i64, const T *, i64);
typedef T dot_narrow(i32, const T *, i32, const T *, i32);
#endif
#undef SCALAR

/* Call symbol `index` of the BLAS with its integer type. */
#define BLAS(index, kind, ...) \
    (wide ? ((kind##_wide *)symbols[index])(__VA_ARGS__) : ((kind##_narrow *)symbols[index])(__VA_ARGS__))
/* Every call of the BLAS stands between these; see blas_gate.c. */
#define THROUGH_GATE(call) \
    do { \
        rt->enter_blas(rt); \
        call; \
        rt->leave_blas(rt); \
    } while (0)
#define LETTER(trans) ((trans) ? TRANSPOSE : NO_TRANSPOSE)

/* c = alpha * op(a) @ op(b) + beta * c by the BLAS, in tiles.

   Threads speed up a small product little, and on a busy machine it waits for them much longer than it
   computes: 100x256 @ 64 deep, float32, on two processors 0.02 ms when all is quiet, 4 ms on
   average at a load of 5.  Therefore its tiles are too small for threads: 0.03 ms, whatever the load.

   A long product is split into tiles of at most some 50 ms, with a check for Ctrl-C after each. */
static void blas_gemm(const ag_runtime *rt, i32 trans_a, i32 trans_b, i64 m, i64 n, i64 k, const T *alpha, const T *a,
                      i64 lda, const T *b, i64 ldb, const T *beta, T *c, i64 ldc)
{
    i64 height = m, width = n, depth = k;
    if (k <= QUIET_DEPTH && m * n > quiet / k && m * n <= QUIET_TILES * quiet / k) {
        i64 side = LINE;
        while ((side + LINE) * (side + LINE) * k <= quiet) side += LINE;
        width = at_most(n, quiet / (k * at_most(m, side)) / LINE * LINE);
        height = even_part(m, quiet / (k * width));
    } else if (m * n > LONG_TILE / k) {
        depth = at_most(k, LONG_DEPTH);
        width = even_part(n, at_least(LONG_WIDTH, LONG_TILE / (depth * at_most(m, LONG_WIDTH))));
        height = even_part(m, at_least(LONG_TILE / (depth * width), 1));
        rt->listen();
    }
    const T one = 1;
    for (i64 i = 0; i < m; i += height)
        for (i64 j = 0; j < n; j += width)
            for (i64 p = 0; p < k; p += depth) {
                const T *left = a + (trans_a ? p * lda + i : i * lda + p);
                const T *right = b + (trans_b ? j * ldb + p : p * ldb + j);
                i64 rows = at_most(height, m - i), columns = at_most(width, n - j), inner = at_most(depth, k - p);
                THROUGH_GATE(BLAS(0, gemm, ROW_MAJOR, LETTER(trans_a), LETTER(trans_b), rows, columns, inner,
                                  VALUE(alpha), left, lda, right, ldb, VALUE(p ? &one : beta), c + i * ldc + j, ldc));
                if (height < m && rt->stopped()) return;
            }
}

/* Return the BLAS arguments for an m by n matrix with these strides; 0 if there are none. */
static i32 as_stored(i64 m, i64 n, i64 s0, i64 s1, i32 *trans, i64 *ld)
{
    /* A matrix of one row has no step between rows: the given one is arbitrary. */
    *trans = !((s1 == 1 || n == 1) && (s0 >= n || m == 1));
    *ld = *trans ? (n == 1 ? m : s1) : m == 1 ? n : s0;
    return !*trans || ((s0 == 1 || m == 1) && *ld >= m);
}

/* Run the product by the BLAS; return 0 if there is none, or it cannot take the arguments.  A BLAS skips the product if
   alpha is 0, but 0 times the product is NaN where that is not finite: our own loops compute it. */
static i32 blas_gemm_of(const ag_runtime *rt, const product *x)
{
    i32 trans_a, trans_b;
    i64 lda, ldb, ldc = x->m == 1 ? x->n : x->c0;
    if (!symbols[0] || x->alpha == 0 || ldc < x->n) return 0;
    if (!as_stored(x->m, x->k, x->a0, x->a1, &trans_a, &lda) || !as_stored(x->k, x->n, x->b0, x->b1, &trans_b, &ldb))
        return 0;
    if (!fits(x->m, x->n, x->k, lda, ldb, ldc)) return 0;
    blas_gemm(rt, trans_a, trans_b, x->m, x->n, x->k, &x->alpha, x->a, lda, x->b, ldb, &x->beta, x->c, ldc);
    return 1;
}

/* A matrix-vector product, divided by rows of the result. */
typedef struct gemv_work {
    const ag_runtime *rt;
    i32 trans;
    i64 m, n, lda, incx, incy;
    const T *alpha, *a, *x, *beta;
    T *y;
    i64 height, width; /* of one call of the BLAS */
    i64 share;         /* rows of the result in a task */
} gemv_work;

static void gemv_task(void *work_, i64 index)
{
    const gemv_work *w = work_;
    const T one = 1;
    const i64 from = index * w->share, to = at_most(w->trans ? w->n : w->m, from + w->share);
    const i64 first = w->trans ? 0 : from, last = w->trans ? w->m : to;
    const i64 left = w->trans ? from : 0, right = w->trans ? to : w->n;
    w->rt->enter_blas(w->rt);
    for (i64 i = first; i < last; i += w->height)
        for (i64 j = left; j < right; j += w->width) {
            const i64 rows = at_most(w->height, last - i), columns = at_most(w->width, right - j);
            const i64 summed = w->trans ? i : j, kept = w->trans ? j : i;
            BLAS(1, gemv, ROW_MAJOR, LETTER(w->trans), rows, columns, VALUE(w->alpha), w->a + i * w->lda + j, w->lda,
                 w->x + summed * w->incx, w->incx, VALUE(summed ? &one : w->beta), w->y + kept * w->incy, w->incy);
        }
    w->rt->leave_blas(w->rt);
}

/* y = alpha * op(a) @ x + beta * y by the BLAS.

   How OpenBLAS shares a matrix of GEMV_ALONE numbers or more among its threads depends on how many it has, and so do
   the bits of the sums (interface/gemv.c).  If it has several, our team calls it for chunks that it does not share:
   the order of sums depends only on sizes. */
static void blas_gemv(const ag_runtime *rt, gemv_work work)
{
    const i64 kept = work.trans ? work.n : work.m, summed = work.trans ? work.m : work.n;
    work.rt = rt, work.height = work.m, work.width = work.n, work.share = kept;
    if (quiet && work.m >= GEMV_ALONE / work.n) {
        work.width = at_most(work.n, work.trans ? GEMV_KEPT : GEMV_SUMMED);
        work.height = (GEMV_ALONE - 1) / work.width / 4 * 4; /* its loops take 4 rows at a time */
        const i64 unit = work.trans ? work.width : work.height;
        work.share = at_least(GEMV_TASK / summed / unit, 1) * unit;
    }
    run(rt, parts(kept, work.share), gemv_task, &work);
}

static void gemv(const ag_runtime *rt, i32 trans, i64 m, i64 n, const void *alpha_, const void *a_, i64 lda,
                 const void *x_, i64 incx, const void *beta_, void *y_, i64 incy)
{
    const T *alpha = alpha_, *a = a_, *x = x_, *beta = beta_;
    T *y = y_;
    if (*beta == 0) scale(trans ? n : m, *beta, y, incy); /* some BLAS multiply NaN by this zero */
    if (m <= 0 || n <= 0) {
        scale(trans ? n : m, *beta, y, incy);
        return;
    }
    if (m == 1) lda = n;
#if !COMPLEX
    const vector_work own = {trans, m, n, lda, incx, incy, 0, *alpha, a, x, y, 1, 0, 0};
    if (OWN_LOOPS && fills_vectors(&own)) {
        scale(trans ? n : m, *beta, y, incy);
        add_product(rt, own);
        return;
    }
#endif
    if (symbols[1] && *alpha != 0 && lda >= n && incx > 0 && incy > 0 && fits(m, n, lda, incx, incy, 0))
        blas_gemv(rt, (gemv_work){.trans = trans,
                                  .m = m,
                                  .n = n,
                                  .lda = lda,
                                  .incx = incx,
                                  .incy = incy,
                                  .alpha = alpha,
                                  .a = a,
                                  .x = x,
                                  .beta = beta,
                                  .y = y});
    else own_gemv(trans, m, n, *alpha, a, lda, x, incx, *beta, y, incy);
}

/* Rows of a += alpha * x * y. */
typedef struct ger_work {
    i64 m, n, incx, incy, lda, share;
    T alpha, *a;
    const T *x, *y;
} ger_work;

static void ger_task(void *work_, i64 index)
{
    const ger_work *w = work_;
    const i64 end = at_most((index + 1) * w->share, w->m);
    for (i64 i = index * w->share; i < end; i++)
        add_scaled(w->n, MULTIPLY(w->alpha, w->x[i * w->incx]), w->y, w->incy, w->a + i * w->lda, 1);
}

static void ger(const ag_runtime *rt, i64 m, i64 n, const void *alpha_, const void *x_, i64 incx, const void *y_,
                i64 incy, void *a_, i64 lda)
{
    const T *alpha = alpha_, *x = x_, *y = y_;
    T *a = a_;
    if (m <= 0 || n <= 0) return;
    if (m == 1) lda = n;
    const i32 by_blas = symbols[2] && *alpha != 0 && lda >= n && incx > 0 && incy > 0 && fits(m, n, lda, incx, incy, 0);
    if (by_blas && !(OWN_LOOPS && incy == 1)) {
        THROUGH_GATE(BLAS(2, ger, ROW_MAJOR, m, n, VALUE(alpha), x, incx, y, incy, a, lda));
        return;
    }
    const i64 share = at_least(GER_TASK / n, 1);
    run(rt, parts(m, share), ger_task, &(ger_work){m, n, incx, incy, lda, share, *alpha, a, x, y});
}

/* Return the product of two vectors, summed in chunks. */
typedef struct dot_work {
    const ag_runtime *rt;
    i64 n, incx, incy, share;
    const T *x, *y;
    i32 by_blas; /* the BLAS computes */
    T sums[MOST_SUMS];
} dot_work;

static T dot_part(i32 by_blas, i64 n, const T *x, i64 incx, const T *y, i64 incy)
{
    if (!by_blas) return own_dot(n, x, incx, y, incy);
#if COMPLEX
    T sum;
    BLAS(3, dot, n, x, incx, y, incy, &sum);
    return sum;
#else
    return BLAS(3, dot, n, x, incx, y, incy);
#endif
}

static void dot_task(void *work_, i64 index)
{
    dot_work *w = work_;
    const i64 from = index * w->share, end = at_most(from + w->share, w->n);
    T total = 0;
    if (w->by_blas) w->rt->enter_blas(w->rt);
    for (i64 i = from; i < end; i += DOT_ALONE)
        total +=
            dot_part(w->by_blas, at_most(DOT_ALONE, end - i), w->x + i * w->incx, w->incx, w->y + i * w->incy, w->incy);
    if (w->by_blas) w->rt->leave_blas(w->rt);
    w->sums[index] = total;
}

/* OpenBLAS splits vectors of more than 10,000 numbers into one chunk per thread, and the bits of the sum depend on that
   (kernel/x86_64/ddot.c).  It gets chunks that it does not split; tasks depend only on the length, and their sums are
   added in pairs. */
static void dot(const ag_runtime *rt, i64 n, const void *x_, i64 incx, const void *y_, i64 incy, void *result_)
{
    dot_work work; /* zeroing all partial sums takes as long as a short dot */
    work.rt = rt, work.n = n, work.incx = incx, work.incy = incy, work.x = x_, work.y = y_, work.sums[0] = 0;
    work.by_blas = symbols[3] && incx > 0 && incy > 0 && fits(n, incx, incy, 0, 0, 0);
    work.share = round_up(at_least(DOT_TASK, parts(n, MOST_SUMS)), DOT_ALONE);
    const i64 tasks = parts(n, work.share);
    if (n > 0) run(rt, tasks, dot_task, &work);
    for (i64 step = 1; step < tasks; step *= 2)
        for (i64 k = 0; k + step < tasks; k += 2 * step) work.sums[k] += work.sums[k + step];
    *(T *)result_ = work.sums[0];
}
