/* Small products: both operands are read in place, without packing, threads or the BLAS.

   Of 1000 products of 4x4, float64, OpenBLAS's calls took 94 us, NumPy takes 45. */
#pragma once
#include "blocks.c"

#if !COMPLEX

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
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
KERNEL multiply_whole_tiles(i64 m, i64 n, i64 k, const REAL *a, i64 a0, i64 a1, const REAL *b, i64 b0, REAL *c, i64 c0)
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
    KERNEL name(i64 m, i64 n, i64 k, const REAL *a, i64 a0, i64 a1, const REAL *b, i64 b0, REAL *c, i64 c0) \
    { \
        const i64 last = n - (i64)(sizeof(piece) / sizeof(REAL)); \
        i64 i = 0; \
        for (; i + BESIDE <= m; i += BESIDE) name##_rows(BESIDE, k, a + i * a0, a0, a1, b, b0, c + i * c0, c0, last); \
        for (; i < m; i++) name##_rows(1, k, a + i * a0, a0, a1, b, b0, c + i * c0, c0, last); \
    }

FEW_COLUMNS(multiply_from_two, two_numbers)
FEW_COLUMNS(multiply_from_four, four_numbers)
FEW_COLUMNS(multiply_from_eight, eight_numbers)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

enum { FEW_ALL = 1 << 13 }; /* multiplications: larger products of few columns take the general path */
#endif

typedef void little_product(i64 m, i64 n, i64 k, const T *a, i64 a0, i64 a1, const T *b, i64 b0, T *c, i64 c0);

/* Kernel for c = a @ b of these sizes with contiguous rows of b; NULL if none fits. */
static little_product *little_kernel(i64 m, i64 n, i64 k)
{
    if (COMPLEX || m <= 0 || k <= 0 || n * at_most(k, LITTLE) > LITTLE) return 0;
#if !COMPLEX
    if (m % ROWS == 0 && n % LANES == 0) return multiply_whole_tiles;
    if (n >= 2 && n < 16 && m <= FEW_ALL && m * n * k <= FEW_ALL)
        return n < 4 ? multiply_from_two : n < 8 ? multiply_from_four : multiply_from_eight;
#endif
    return 0;
}
