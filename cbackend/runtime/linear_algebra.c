/* Matrix products for generated code: gemm, gemv, ger and dot for one dtype, row-major, any sizes and strides.

   Each call goes to the BLAS that was found in the process, if there is one and it takes these sizes; else to our own
   loops.  runtime.py puts in front: the declarations, T (the dtype), REAL (the dtype of its parts), COMPLEX (0 or 1),
   FALLBACK (0 or 1).

   With FALLBACK the BLAS does the work and our own loops only what it cannot be told, as sizes beyond its integers: the
   blocked gemm is left out and the rest compiled with little effort (gcc 12, float32: 85 ms, not 250), for every first
   start of a program with a product waits for this file.

   The own gemm is the blocked algorithm of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
   (2008): packed panels of A and B, and a kernel that holds a tile of C in vector registers. */

#define EXPORT __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
#if FALLBACK
#define LOOP static
#else
#define LOOP INLINE /* each caller gets the loop for its own strides */
#endif

/* Sums of products may fuse: no order of rounding is promised for a matrix product, and it takes twice as long without. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT ON
#elif FALLBACK
#pragma GCC optimize("O1", "fp-contract=fast")
#else
#pragma GCC optimize("O2", "fp-contract=fast") /* -O3: the same speed, 2.6 times the compile time */
#endif

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, ROWS = 12 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, ROWS = 6 };
#else
enum { VECTOR_BYTES = 16, ROWS = 6 };
#endif

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };                    /* as CBLAS counts them */
enum { DEPTH_BLOCK = 256, ROW_BLOCK = 8 * ROWS, COLUMN_BLOCK = 1024 }; /* A: level 2 cache; a panel of B: level 1 */
enum { SMALL = 16, CHUNK = 64 };
enum { LINE = 16, QUIET_TILES = 16, QUIET_DEPTH = 1024 }; /* see blas_gemm */

static ag_runtime *runtime;
static i32 wide; /* the BLAS takes 64-bit integers */
static i64 quiet; /* products of up to so many multiplications wake no thread of the BLAS; 0: not known */

INLINE i64 at_most(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 at_least(i64 a, i64 b) { return a > b ? a : b; }
/* How many parts of at most `most` make `total`. */
INLINE i64 parts(i64 total, i64 most) { return (total + most - 1) / most; }
/* The length of each of the parts, but the last, of `total`, of which none is longer than `most`. */
INLINE i64 even_part(i64 total, i64 most) { return parts(total, parts(total, most)); }

/* Whether the BLAS found can be told these sizes. */
INLINE i32 fits(i64 a, i64 b, i64 c, i64 d, i64 e, i64 f)
{
    return wide || ((a | b | c | d | e | f) >> 31) == 0;
}

#if COMPLEX
#define BY_VALUE(type) const type *
#define VALUE(pointer) (pointer)
#define MULTIPLY(a, b) multiply(a, b)
/* C's own product looks for infinities behind NaNs, which BLAS does not and which costs a call. */
INLINE T multiply(T a, T b)
{
    T product;
    __real__ product = __real__ a * __real__ b - __imag__ a * __imag__ b;
    __imag__ product = __real__ a * __imag__ b + __imag__ a * __real__ b;
    return product;
}
#else
#define BY_VALUE(type) type
#define VALUE(pointer) (*(pointer))
#define MULTIPLY(a, b) ((a) * (b))
#endif

typedef REAL vector __attribute__((vector_size(VECTOR_BYTES)));
enum { LANES = VECTOR_BYTES / sizeof(REAL), COLUMNS = (COMPLEX ? 1 : 2) * LANES };

static void *symbols[4];

/* ---- Own loops -------------------------------------------------------------------------------------------- */

/* y = beta * y, where beta == 0 does not read y */
static void scale(i64 n, T beta, T *y, i64 step)
{
    if (beta == 0) for (i64 i = 0; i < n; i++) y[i * step] = 0;
    else if (beta != 1) for (i64 i = 0; i < n; i++) y[i * step] = MULTIPLY(beta, y[i * step]);
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
    if (incx == 1 && incy == 1) {
#pragma omp simd
        for (i64 i = 0; i < n; i++) y[i] += MULTIPLY(factor, x[i]);
    } else
        for (i64 i = 0; i < n; i++) y[i * incy] += MULTIPLY(factor, x[i * incx]);
}

static void own_gemv(i32 trans, i64 m, i64 n, T alpha, const T *a, i64 lda, const T *x, i64 incx, T beta, T *y,
                     i64 incy)
{
    scale(trans ? n : m, beta, y, incy);
    for (i64 i = 0; i < m; i++)
        if (trans) add_scaled(n, MULTIPLY(alpha, x[i * incx]), a + i * lda, 1, y, incy);
        else y[i * incy] += MULTIPLY(alpha, own_dot(n, a + i * lda, 1, x, incx));
}

/* c = alpha * a @ b + beta * c by rows, without packing: for small sizes, and where no memory is left to pack into.
   ar, ac, br, bc: the steps from row to row and from column to column. */
static void plain_gemm(i64 m, i64 n, i64 k, T alpha, const T *a, i64 ar, i64 ac, const T *b, i64 br, i64 bc,
                             T beta, T *c, i64 ldc)
{
    for (i64 i = 0; i < m; i++)
        for (i64 first = 0; first < n; first += CHUNK) {
            i64 count = at_most(CHUNK, n - first);
            T row[CHUNK] = {0}, *out = c + i * ldc + first;
            for (i64 p = 0; p < k; p++)
                add_scaled(count, a[i * ar + p * ac], b + p * br + first * bc, bc, row, 1);
            scale(count, beta, out, 1);
            add_scaled(count, alpha, row, 1, out, 1);
        }
}

#if FALLBACK
#define own_gemm plain_gemm
#else

/* Panels of ROWS rows of a: for each column its ROWS numbers (complex: the real parts, then the imaginary parts). */
static void pack_rows(i64 m, i64 k, const T *a, i64 ar, i64 ac, REAL *restrict to)
{
    for (i64 first = 0; first < m; first += ROWS)
        for (i64 p = 0; p < k; p++, to += (1 + COMPLEX) * ROWS)
            for (i64 i = 0; i < ROWS; i++) {
                T value = first + i < m ? a[(first + i) * ar + p * ac] : 0;
                to[i] = __real__ value;
                if (COMPLEX) to[ROWS + i] = __imag__ value;
            }
}

/* Panels of COLUMNS columns of b, two vectors for each row (complex: real parts, then imaginary parts). */
static void pack_columns(i64 k, i64 n, const T *b, i64 br, i64 bc, REAL *restrict to)
{
    for (i64 first = 0; first < n; first += COLUMNS)
        for (i64 p = 0; p < k; p++, to += 2 * LANES)
            for (i64 j = 0; j < COLUMNS; j++) {
                T value = first + j < n ? b[p * br + (first + j) * bc] : 0;
                to[j] = __real__ value;
                if (COMPLEX) to[LANES + j] = __imag__ value;
            }
}

/* tile = a panel of rows @ a panel of columns, as ROWS pairs of vectors */
static void multiply_panels(i64 k, const REAL *restrict a, const REAL *restrict b, vector *restrict tile)
{
    vector sums[ROWS][2];
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) sums[i][0] = sums[i][1] = (vector){0};
    for (i64 p = 0; p < k; p++, a += (1 + COMPLEX) * ROWS, b += 2 * LANES) {
        vector b0 = *(const vector *)b, b1 = *(const vector *)(b + LANES);
#pragma GCC unroll 16
        for (int i = 0; i < ROWS; i++) {
            sums[i][0] += a[i] * b0;
            sums[i][1] += a[i] * b1;
            if (COMPLEX) {
                sums[i][0] -= a[ROWS + i] * b1;
                sums[i][1] += a[ROWS + i] * b0;
            }
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) tile[2 * i] = sums[i][0], tile[2 * i + 1] = sums[i][1];
}

/* c = alpha * tile + beta * c for the part of the tile that lies within c */
static void store_tile(i64 m, i64 n, T alpha, const REAL *tile, T beta, T *c, i64 ldc)
{
    for (i64 i = 0; i < m; i++, tile += 2 * LANES) {
        T row[COLUMNS];
        for (i64 j = 0; j < COLUMNS; j++) {
            row[j] = tile[j];
#if COMPLEX
            __imag__ row[j] = tile[LANES + j];
#endif
        }
        scale(n, beta, c + i * ldc, 1);
        add_scaled(n, alpha, row, 1, c + i * ldc, 1);
    }
}

/* c = alpha * packed rows @ packed columns + beta * c */
static void multiply_block(i64 m, i64 n, i64 k, T alpha, const REAL *rows, const REAL *columns, T beta, T *c, i64 ldc)
{
    vector tile[2 * ROWS];
    for (i64 j = 0; j < n; j += COLUMNS)
        for (i64 i = 0; i < m; i += ROWS) {
            multiply_panels(k, rows + i * k * (1 + COMPLEX), columns + j * k * (1 + COMPLEX), tile);
            store_tile(at_most(ROWS, m - i), at_most(COLUMNS, n - j), alpha, (const REAL *)tile, beta,
                             c + i * ldc + j, ldc);
        }
}

static void own_gemm(i64 m, i64 n, i64 k, T alpha, const T *a, i64 ar, i64 ac, const T *b, i64 br, i64 bc,
                           T beta, T *c, i64 ldc)
{
    if (m <= SMALL && n <= SMALL && k <= SMALL) { /* not worth the packing */
        plain_gemm(m, n, k, alpha, a, ar, ac, b, br, bc, beta, c, ldc);
        return;
    }
    REAL *rows = runtime->alloc((i64)sizeof(T) * ROW_BLOCK * DEPTH_BLOCK);
    REAL *columns = runtime->alloc((i64)sizeof(T) * (COLUMN_BLOCK + COLUMNS) * DEPTH_BLOCK);
    if (!rows || !columns) {
        plain_gemm(m, n, k, alpha, a, ar, ac, b, br, bc, beta, c, ldc);
    } else
        for (i64 j = 0; j < n; j += COLUMN_BLOCK)
            for (i64 p = 0; p < k; p += DEPTH_BLOCK) {
                i64 width = at_most(COLUMN_BLOCK, n - j), depth = at_most(DEPTH_BLOCK, k - p);
                pack_columns(depth, width, b + p * br + j * bc, br, bc, columns);
                for (i64 i = 0; i < m; i += ROW_BLOCK) {
                    i64 height = at_most(ROW_BLOCK, m - i);
                    pack_rows(height, depth, a + i * ar + p * ac, ar, ac, rows);
                    multiply_block(height, width, depth, alpha, rows, columns, p ? 1 : beta, c + i * ldc + j, ldc);
                }
            }
    runtime->release(columns);
    runtime->release(rows);
}

#endif

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

/* Call symbol `index` of the BLAS as it was compiled. */
#define BLAS(index, kind, ...) \
    (wide ? ((kind##_wide *)symbols[index])(__VA_ARGS__) : ((kind##_narrow *)symbols[index])(__VA_ARGS__))
#define LETTER(trans) ((trans) ? TRANSPOSE : NO_TRANSPOSE)

/* c = alpha * op(a) @ op(b) + beta * c by the BLAS.

   Threads help a product of few multiplications little, and where the processors have other work it waits for them much
   longer than it takes: 100x256 @ 64 deep, float32, on two processors 0.02 ms when all is quiet, 4 ms on average at a load
   of 5.  It is therefore made of tiles that are too small for threads: 0.03 ms, whatever the load. */
static void blas_gemm(i32 trans_a, i32 trans_b, i64 m, i64 n, i64 k, const T *alpha, const T *a, i64 lda, const T *b,
                      i64 ldb, const T *beta, T *c, i64 ldc)
{
    i64 height = m, width = n;
    if (k <= QUIET_DEPTH && m * n > quiet / k && m * n <= QUIET_TILES * quiet / k) {
        i64 side = LINE;
        while ((side + LINE) * (side + LINE) * k <= quiet) side += LINE;
        width = at_most(n, quiet / (k * at_most(m, side)) / LINE * LINE);
        height = even_part(m, quiet / (k * width));
    }
    for (i64 i = 0; i < m; i += height)
        for (i64 j = 0; j < n; j += width)
            BLAS(0, gemm, ROW_MAJOR, LETTER(trans_a), LETTER(trans_b), at_most(height, m - i), at_most(width, n - j), k,
                 VALUE(alpha), a + i * (trans_a ? 1 : lda), lda, b + j * (trans_b ? ldb : 1), ldb, VALUE(beta),
                 c + i * ldc + j, ldc);
}

/* A BLAS leaves the product out where alpha is 0.  What is meant is 0 times the product, which is NaN where that is not finite:
   our own loops compute it. */
static void gemm(i32 trans_a, i32 trans_b, i64 m, i64 n, i64 k, const void *alpha_, const void *a_, i64 lda,
                       const void *b_, i64 ldb, const void *beta_, void *c_, i64 ldc)
{
    const T *alpha = alpha_, *a = a_, *b = b_, *beta = beta_;
    T *c = c_;
    if (m <= 0 || n <= 0) return;
    if (k <= 0) {
        scale_rows(m, n, *beta, c, ldc);
        return;
    }
    /* A matrix of one row has no step between rows: what was passed may be anything. */
    if ((trans_a ? k : m) == 1) lda = trans_a ? m : k;
    if ((trans_b ? n : k) == 1) ldb = trans_b ? k : n;
    if (m == 1) ldc = n;
    i64 ar = trans_a ? 1 : lda, ac = trans_a ? lda : 1, br = trans_b ? 1 : ldb, bc = trans_b ? ldb : 1;
    i32 legal = lda >= (trans_a ? m : k) && ldb >= (trans_b ? k : n) && ldc >= n && fits(m, n, k, lda, ldb, ldc);
    if (symbols[0] && legal)
        blas_gemm(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    else
        own_gemm(m, n, k, *alpha, a, ar, ac, b, br, bc, *beta, c, ldc);
}

static void gemv(i32 trans, i64 m, i64 n, const void *alpha_, const void *a_, i64 lda, const void *x_, i64 incx,
                       const void *beta_, void *y_, i64 incy)
{
    const T *alpha = alpha_, *a = a_, *x = x_, *beta = beta_;
    T *y = y_;
    if (*beta == 0) scale(trans ? n : m, *beta, y, incy); /* some BLAS multiply NaN by this zero */
    if (m <= 0 || n <= 0) {
        scale(trans ? n : m, *beta, y, incy);
        return;
    }
    if (m == 1) lda = n;
    if (symbols[1] && *alpha != 0 && lda >= n && incx > 0 && incy > 0 && fits(m, n, lda, incx, incy, 0))
        BLAS(1, gemv, ROW_MAJOR, LETTER(trans), m, n, VALUE(alpha), a, lda, x, incx, VALUE(beta), y, incy);
    else
        own_gemv(trans, m, n, *alpha, a, lda, x, incx, *beta, y, incy);
}

static void ger(i64 m, i64 n, const void *alpha_, const void *x_, i64 incx, const void *y_, i64 incy, void *a_, i64 lda)
{
    const T *alpha = alpha_, *x = x_, *y = y_;
    T *a = a_;
    if (m <= 0 || n <= 0) return;
    if (m == 1) lda = n;
    if (symbols[2] && *alpha != 0 && lda >= n && incx > 0 && incy > 0 && fits(m, n, lda, incx, incy, 0))
        BLAS(2, ger, ROW_MAJOR, m, n, VALUE(alpha), x, incx, y, incy, a, lda);
    else
        for (i64 i = 0; i < m; i++) add_scaled(n, MULTIPLY(*alpha, x[i * incx]), y, incy, a + i * lda, 1);
}

static void dot(i64 n, const void *x_, i64 incx, const void *y_, i64 incy, void *result_)
{
    const T *x = x_, *y = y_;
    T *result = result_;
    if (symbols[3] && n > 0 && incx > 0 && incy > 0 && fits(n, incx, incy, 0, 0, 0))
#if COMPLEX
        BLAS(3, dot, n, x, incx, y, incy, result);
#else
        *result = BLAS(3, dot, n, x, incx, y, incy);
#endif
    else
        *result = own_dot(at_least(n, 0), x, incx, y, incy);
}

/* Fill the entries.  found: the CBLAS functions gemm, gemv, ger and dot of this dtype, each of which may be NULL. */
EXPORT void ag_blas_install(ag_runtime *table, ag_blas *entries, void *const *found, i32 takes_wide, i64 alone)
{
    runtime = table;
    wide = takes_wide;
    quiet = alone;
    for (int i = 0; i < 4; i++) symbols[i] = found[i];
    *entries = (ag_blas){gemm, gemv, ger, dot};
}
