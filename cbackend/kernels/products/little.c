/* Small products: both operands are read in place, without packing, threads or the BLAS.

   Of 1000 products of 4x4, float64, OpenBLAS's calls took 94 us, NumPy takes 45. */
#pragma once
#include "blocks.c"

/* Products c = a @ b of the same sizes, with contiguous rows of b and c or one column. */
typedef struct little_products {
    i64 count, a_next, b_next, c_next; /* from one to the next */
    i64 m, n, k;
    const T *a, *b;
    T *c;
    i64 a0, a1, b0, b1, c0;
} little_products;

#if !COMPLEX

/* The rest of the unit is compiled like tiles, too: with the passes that these leave out attention takes 1.1 times as
   long (gcc 12, float32 and float64, AVX-512). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", \
                     "no-tree-vrp", "no-schedule-insns2")
#endif

/* ---- Whole tiles ------------------------------------------------------------------------------------------------- */

/* Compute one tile of c = a @ b in place. */
INLINE void multiply_as_it_lies(const int vectors, i64 k, const REAL *const *row, i64 step, const REAL *b, i64 b_step,
                                REAL *c, i64 c0)
{
    vector sums[ROWS][2];
    sum_tile(ROWS, vectors, k, row, step, b, b_step, sums);
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++, c += c0)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) *(unaligned *)(c + v * LANES) = sums[i][v];
}

/* c = a @ b for whole tiles (and perhaps one vector of columns), with operands read in place. */
INLINE void multiply_by_tiles(i64 m, i64 n, i64 k, const REAL *a, i64 a0, i64 a1, const REAL *b, i64 b0, REAL *c,
                              i64 c0)
{
    for (i64 i = 0; i < m; i += ROWS, a += ROWS * a0, c += ROWS * c0) {
        const REAL *row[ROWS];
        row[0] = a;
#pragma GCC unroll 8
        for (int r = 1; r < ROWS; r++) row[r] = row[r - 1] + a0;
        i64 j = 0;
        for (; j + COLUMNS <= n; j += COLUMNS) multiply_as_it_lies(2, k, row, a1, b + j, b0, c + j, c0);
        if (j < n) multiply_as_it_lies(1, k, row, a1, b + j, b0, c + j, c0);
    }
}

/* A kernel that computes one product after the other by a function. */
#define LITTLE_KERNEL(name, multiply_one) \
    KERNEL name(const little_products *of) \
    { \
        const REAL *a = of->a, *b = of->b; \
        REAL *c = of->c; \
        for (i64 l = 0; l < of->count; l++, a += of->a_next, b += of->b_next, c += of->c_next) \
            multiply_one(of->m, of->n, of->k, a, of->a0, of->a1, b, of->b0, c, of->c0); \
    }

LITTLE_KERNEL(multiply_whole_tiles, multiply_by_tiles)

/* ---- Few columns ------------------------------------------------------------------------------------------------- */

typedef REAL two_numbers __attribute__((vector_size(2 * sizeof(REAL)), aligned(sizeof(REAL))));
typedef REAL four_numbers __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL))));
typedef REAL eight_numbers __attribute__((vector_size(8 * sizeof(REAL)), aligned(sizeof(REAL))));
enum { BESIDE = 4 }; /* rows that share each read of b */

/* c = a @ b for at least the columns of one `piece`, but less than two: the first piece, and the last one, which may
   overlap it. */
#define FEW_COLUMNS(name, piece) \
    INLINE void name##_rows(const int rows, i64 k, const REAL *a, i64 a0, i64 a1, const REAL *b, i64 b0, REAL *c, \
                            i64 c0, i64 last) \
    { \
        piece sums[BESIDE][2]; \
        _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++) sums[r][0] = sums[r][1] = (piece){0}; \
        for (; k > 0; k--, a += a1, b += b0) { \
            const piece first_right = *(const piece *)b, last_right = *(const piece *)(b + last); \
            _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++) sums[r][0] += a[r * a0] * first_right, \
                sums[r][1] += a[r * a0] * last_right; \
        } \
        _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++, c += c0) * (piece *)c = sums[r][0], \
                                                                                 *(piece *)(c + last) = sums[r][1]; \
    } \
    INLINE void name##_one(i64 m, i64 n, i64 k, const REAL *a, i64 a0, i64 a1, const REAL *b, i64 b0, REAL *c, i64 c0) \
    { \
        const i64 last = n - (i64)(sizeof(piece) / sizeof(REAL)); \
        i64 i = 0; \
        for (; i + BESIDE <= m; i += BESIDE) name##_rows(BESIDE, k, a + i * a0, a0, a1, b, b0, c + i * c0, c0, last); \
        for (; i < m; i++) name##_rows(1, k, a + i * a0, a0, a1, b, b0, c + i * c0, c0, last); \
    } \
    LITTLE_KERNEL(name, name##_one)

FEW_COLUMNS(multiply_from_two, two_numbers)
FEW_COLUMNS(multiply_from_four, four_numbers)
FEW_COLUMNS(multiply_from_eight, eight_numbers)

/* ---- One column -------------------------------------------------------------------------------------------------- */

/* c = a @ b for one column of b.  Sums begin with 0, so that each compiler fuses the same products into additions. */
INLINE void multiply_column_one(i64 m, i64 n, i64 k, const REAL *a, i64 a0, i64 a1, const REAL *b, i64 b0, REAL *c,
                                i64 c0)
{
    (void)n;
    for (i64 i = 0; i < m; i++, a += a0) {
        REAL sum = 0;
        for (i64 p = 0; p < k; p++) sum += a[p * a1] * b[p * b0];
        c[i * c0] = sum;
    }
}

LITTLE_KERNEL(multiply_column, multiply_column_one)

/* The same for square matrices of contiguous rows. */
#define SQUARE_BY_COLUMN(name, length) \
    INLINE void name##_one(i64 m, i64 n, i64 k, const REAL *a, i64 a0, i64 a1, const REAL *b, i64 b0, REAL *c, i64 c0) \
    { \
        (void)m, (void)n, (void)k, (void)a1, (void)b0; \
        _Pragma("GCC unroll 4") for (int i = 0; i < (length); i++) \
        { \
            REAL sum = 0; \
            _Pragma("GCC unroll 4") for (int p = 0; p < (length); p++) sum += a[i * a0 + p] * b[p]; \
            c[i * c0] = sum; \
        } \
    } \
    LITTLE_KERNEL(name, name##_one)

SQUARE_BY_COLUMN(multiply_square_of_two, 2)
SQUARE_BY_COLUMN(multiply_square_of_three, 3)
SQUARE_BY_COLUMN(multiply_square_of_four, 4)

/* ---- Square matrices by square matrices -------------------------------------------------------------------------- */

/* c = a @ b for matrices as long and wide as `length`.  A piece covers a row, or all but its first number: then the first
   and the last piece overlap.  Each element is summed in the order of the general path. */
#define SQUARE_BY_SQUARE(name, piece, length) \
    INLINE void name##_one(i64 m, i64 n, i64 k, const REAL *a, i64 a0, i64 a1, const REAL *b, i64 b0, REAL *c, i64 c0) \
    { \
        (void)m, (void)n, (void)k; \
        enum { LAST = (length) - sizeof(piece) / sizeof(REAL) }; \
        _Pragma("GCC unroll 4") for (int i = 0; i < (length); i++) \
        { \
            piece first = {0}, last = {0}; \
            _Pragma("GCC unroll 4") for (int p = 0; p < (length); p++) \
            { \
                first += a[i * a0 + p * a1] * *(const piece *)(b + p * b0); \
                if (LAST) last += a[i * a0 + p * a1] * *(const piece *)(b + p * b0 + LAST); \
            } \
            *(piece *)(c + i * c0) = first; \
            if (LAST) *(piece *)(c + i * c0 + LAST) = last; \
        } \
    } \
    LITTLE_KERNEL(name, name##_one)

SQUARE_BY_SQUARE(multiply_squares_of_two, two_numbers, 2)
SQUARE_BY_SQUARE(multiply_squares_of_three, two_numbers, 3)
SQUARE_BY_SQUARE(multiply_squares_of_four, four_numbers, 4)

/* Multiplications: larger products of few columns, and of one, take the general path. */
enum { FEW_ALL = 1 << 13, COLUMN_ALL = 1 << 7 };

#else

/* ---- Complex numbers --------------------------------------------------------------------------------------------- */

/* Real and imaginary parts of a row of b are multiplied by the real part of an element of a, and by its imaginary part.
   The sums of both are joined at the end, so the bits depend on no stride. */
typedef REAL two_complex __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL))));
typedef REAL four_complex __attribute__((vector_size(8 * sizeof(REAL)), aligned(sizeof(REAL))));
enum { BESIDE = 4 }; /* rows that share each read of b */

/* c = a @ b for `rows` rows and the columns of one piece. */
#define COMPLEX_COLUMNS(name, piece) \
    INLINE void name##_rows(const int rows, i64 k, const T *a, i64 a0, i64 a1, const T *b, i64 b0, i64 b1, T *c, \
                            i64 c0) \
    { \
        enum { WIDTH = sizeof(piece) / sizeof(T) }; \
        piece by_real[BESIDE], by_imaginary[BESIDE]; \
        _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++) by_real[r] = by_imaginary[r] = (piece){0}; \
        for (; k > 0; k--, a += a1, b += b0) { \
            piece right; \
            if (b1 == 1) right = *(const piece *)b; \
            else \
                for (int j = 0; j < WIDTH; j++) \
                    right[2 * j] = __real__ b[j * b1], right[2 * j + 1] = __imag__ b[j * b1]; \
            _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++) by_real[r] += __real__ a[r * a0] * right, \
                by_imaginary[r] += __imag__ a[r * a0] * right; \
        } \
        _Pragma("GCC unroll 4") for (int r = 0; r < rows; r++) \
        { \
            piece sums = by_real[r]; \
            _Pragma("GCC unroll 4") for (int j = 0; j < WIDTH; j++) sums[2 * j] -= by_imaginary[r][2 * j + 1], \
                sums[2 * j + 1] += by_imaginary[r][2 * j]; \
            *(piece *)(c + r * c0) = sums; \
        } \
    } \
    KERNEL name(const little_products *of) \
    { \
        const i64 m = of->m, n = of->n, k = of->k, a0 = of->a0, a1 = of->a1, b0 = of->b0, b1 = of->b1, c0 = of->c0; \
        const i64 last = n - (i64)(sizeof(piece) / sizeof(T)); \
        for (i64 l = 0; l < of->count; l++) { \
            const T *a = of->a + l * of->a_next, *b = of->b + l * of->b_next; \
            T *c = of->c + l * of->c_next; \
            for (i64 begin = 0; begin < n; begin += sizeof(piece) / sizeof(T)) { \
                const i64 j = at_most(begin, last); \
                i64 i = 0; \
                for (; i + BESIDE <= m; i += BESIDE) \
                    name##_rows(BESIDE, k, a + i * a0, a0, a1, b + j * b1, b0, b1, c + i * c0 + j, c0); \
                for (; i < m; i++) name##_rows(1, k, a + i * a0, a0, a1, b + j * b1, b0, b1, c + i * c0 + j, c0); \
            } \
        } \
    }

COMPLEX_COLUMNS(multiply_from_two, two_complex)
COMPLEX_COLUMNS(multiply_from_four, four_complex)

/* Multiplications and columns: larger products take the general path. */
enum { COMPLEX_ALL = 1 << 11, COMPLEX_WIDTH = 16 };
#endif

typedef void little_kernel(const little_products *of);

/* Kernel for all products of a batch of little ones, whose sizes are checked once; NULL if none fits. */
static little_kernel *little_kernel_of(const batched_product *of)
{
    const i64 m = of->m, n = of->n, k = of->k, *a = of->a_strides + of->rank, *b = of->b_strides + of->rank;
#if COMPLEX
    (void)a, (void)b;
    if (m < 2 || n < 2 || n > COMPLEX_WIDTH || k <= 0 || k > COMPLEX_ALL || m > COMPLEX_ALL / (n * k)) return 0;
    return n < 4 ? multiply_from_two : multiply_from_four;
#else
    if (m <= 0 || k <= 0 || n * at_most(k, LITTLE) > LITTLE || (n > 1 && b[1] != 1)) return 0;
    if (n == 1) {
        if (m > COLUMN_ALL || m * k > COLUMN_ALL) return 0;
        if (m != k || a[1] != 1 || b[0] != 1) return multiply_column;
        return m == 2   ? multiply_square_of_two
               : m == 3 ? multiply_square_of_three
               : m == 4 ? multiply_square_of_four
                        : multiply_column;
    }
    if (m == n && n == k && n <= 4)
        return n == 2 ? multiply_squares_of_two : n == 3 ? multiply_squares_of_three : multiply_squares_of_four;
    if (m % ROWS == 0 && n % LANES == 0) return multiply_whole_tiles;
    if (n >= 2 && n < 16 && m <= FEW_ALL && m * n * k <= FEW_ALL)
        return n < 4 ? multiply_from_two : n < 8 ? multiply_from_four : multiply_from_eight;
    return 0;
#endif
}
