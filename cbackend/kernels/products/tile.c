/* The micro-kernel: a tile of ROWS rows by up to VECTORS_OF_PANEL vectors of columns, held in vector registers while outer
   products of columns of a and rows of b are added to it.

   One source serves all processors: GNU vectors of the target's width, and as many rows as fit its registers.  AVX-512
   has 32 registers: 16 sums, 2 vectors of b, and a number of a that is read by the multiplication itself or kept for
   both vectors. 8 rows, not 14: 16 sums hide the latency of two multipliers (4 cycles each), 10 reads for 16
   multiplications are few enough, and sizes that are multiples of 8 leave no rest.  AVX2 has 16 registers: 12 sums, 2
   of b, 1 of a.

   With four vectors a tile has 6 rows: 24 sums and 10 reads for 24 multiplications.  It takes 0.87 to 1 of the time where b
   comes from the level 2 cache (Intel's Xeon).

   wasmtime has 16 registers on x86-64: 8 sums, 2 vectors of b, and a column of a in one vector (two of
   float64).  A number of a is broadcast by one shuffle from there; from memory it takes wasmtime three instructions.

   The loop counts down to need one general register less: with 15 there is none to spare, and a pointer that is kept
   in a vector register instead costs 6 %.  With AVX-512 it is unrolled: where two multiplications start in each cycle, the
   additions of a step take the place of one, and four steps at once take 0.9 of the time (Intel's Xeon). */
#pragma once
#include "arithmetic.c"

#ifndef VECTORS_OF_PANEL
#define VECTORS_OF_PANEL 2
#endif
/* PACKED_ROWS: of a panel of packed rows of a */
#if VECTORS_OF_PANEL == 4
enum { ROWS = 6, PACKED_ROWS = 8, STEPS = 4 };
#elif defined(__AVX512F__)
enum { ROWS = 8, PACKED_ROWS = ROWS, STEPS = 4 };
#elif defined(__aarch64__)
enum { ROWS = 8, PACKED_ROWS = ROWS, STEPS = 1 };
#elif defined(__wasm__)
enum { ROWS = 4, PACKED_ROWS = ROWS, STEPS = 1 };
#else
enum { ROWS = 6, PACKED_ROWS = ROWS, STEPS = 1 };
#endif

/* Whether rows of a are packed wherever many panels use them, neighbours or not: tiles read columns of a as vectors. */
#if defined(__wasm__) && !COMPLEX
#define COLUMN_VECTORS 1
#else
#define COLUMN_VECTORS 0
#endif

enum {
    FETCHED_ROWS = 64 / VECTORS_OF_PANEL,
    LINE_BYTES = 64
}; /* prefetch distance in b for a single row of a; of memory */
typedef REAL vector __attribute__((vector_size(VECTOR_BYTES)));
typedef REAL unaligned __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL))));
enum { LANES = VECTOR_BYTES / sizeof(REAL), COLUMNS = (COMPLEX ? 1 : VECTORS_OF_PANEL) * LANES };

/* Where the elements of ROWS rows of a lie: that of row i and column p is rows[i][p * step].  Missing rows
   read another one; their results are not stored. */
typedef struct left_panel {
    const REAL *rows[ROWS];
    i64 step;
} left_panel;

/* Where a tile goes, c = alpha * tile + beta * c, which is not read where beta is 0: m <= ROWS rows, and n columns,
   which are those of the tile from number `skip` on. */
typedef struct target {
    T alpha, beta, *c;
    i64 c0, m, n, skip;
} target;

/* tile: rows of `width` numbers (complex: the real parts, then the imaginary parts). */
static void store_tile(const target *to, const REAL *tile, i64 width)
{
    tile += to->skip;
    for (i64 i = 0; i < to->m; i++, tile += (1 + COMPLEX) * width) {
        T *c = to->c + i * to->c0;
        i64 j = 0;
#if !COMPLEX
        for (; j + LANES <= to->n; j += LANES) {
            unaligned *out = (unaligned *)(c + j);
            const vector value = *(const unaligned *)(tile + j) * to->alpha;
            *out = to->beta == 0 ? value : *out * to->beta + value;
        }
#endif
        for (; j < to->n; j++) {
            T value = tile[j];
#if COMPLEX
            __imag__ value = tile[width + j];
#endif
            value = MULTIPLY(to->alpha, value);
            c[j] = to->beta == 0 ? value : MULTIPLY(to->beta, c[j]) + value;
        }
    }
}

/* The tiles below are compiled at O2 without the passes that find nothing in them (gcc 12: 20 of 60 ms). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", \
                     "no-tree-vrp", "no-schedule-insns2")
#endif

/* Keep a vector in its register; gcc otherwise reloads it for each multiplication if these are few. */
#if defined(__x86_64__)
#define KEEP(vector) __asm__("" : "+v"(vector))
#else
#define KEEP(vector) (void)0
#endif

#if COLUMN_VECTORS
/* sums += the product of the first `rows` rows of packed a and `vectors` vectors of columns of b. */
INLINE void add_packed(const int rows, const int vectors, i64 k, const REAL *a, const REAL *b, i64 b_step,
                       vector sums[][VECTORS_OF_PANEL])
{
#pragma GCC unroll 1
    for (; k > 0; k--, a += ROWS, b += b_step) {
        vector right[VECTORS_OF_PANEL], left[ROWS / LANES];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) right[v] = *(const unaligned *)(b + v * LANES);
#pragma GCC unroll 4
        for (int i = 0; i < ROWS / LANES; i++) left[i] = *(const unaligned *)(a + i * LANES);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sums[i][v] += left[i / LANES][i % LANES] * right[v];
    }
}
#endif

/* sums += the product of a column of a, at `at`, and a row of b. */
INLINE void add_outer(const int rows, const int vectors, const REAL *const *row, i64 at, const REAL *b,
                      vector sums[][VECTORS_OF_PANEL])
{
    vector right[VECTORS_OF_PANEL];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        right[v] = *(const unaligned *)(b + v * LANES);
        KEEP(right[v]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[i][v] += row[i][at] * right[v];
#if COMPLEX
        sums[i][0] -= row[i][at + ROWS] * right[1];
        sums[i][1] += row[i][at + ROWS] * right[0];
#endif
    }
}

/* sums = the product of the first `rows` of ROWS rows of a, whose k columns are `step` apart, and `vectors` vectors of
   columns of b, whose rows are b_step apart. */
INLINE void sum_tile(const int rows, const int vectors, i64 k, const REAL *const *row, i64 step, const REAL *b,
                     i64 b_step, vector sums[][VECTORS_OF_PANEL])
{
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[i][v] = (vector){0};
#if COLUMN_VECTORS
    if (step == ROWS && row[ROWS - 1] == row[0] + (ROWS - 1)) {
        add_packed(rows, vectors, k, row[0], b, b_step, sums);
        return;
    }
#endif
    i64 at = 0;
    if (rows == ROWS && vectors == VECTORS_OF_PANEL) {
#pragma GCC unroll STEPS
        for (; k > 0; k--, at += step, b += b_step) add_outer(rows, vectors, row, at, b, sums);
    } else {
#pragma GCC unroll 1
        for (; k > 0; k--, at += step, b += b_step) add_outer(rows, vectors, row, at, b, sums);
    }
}

/* Store the sums of the first `rows` rows of a tile. */
INLINE void store_sums(const int rows, const int vectors, vector sums[][VECTORS_OF_PANEL], const target *to)
{
    if (!COMPLEX && to->m == rows && to->n == vectors * LANES && to->alpha == 1 && (to->beta == 0 || to->beta == 1)) {
        REAL *c = (REAL *)to->c;
        const i32 adds = to->beta == 1;
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++, c += to->c0)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) {
                unaligned *out = (unaligned *)(c + v * LANES);
                *out = adds ? *out + sums[i][v] : sums[i][v];
            }
        return;
    }
    vector tile[ROWS * VECTORS_OF_PANEL];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) tile[i * vectors + v] = sums[i][v];
    store_tile(to, (const REAL *)tile, COMPLEX ? LANES : vectors * LANES);
}

/* The product of the first `rows` rows of a panel of a and `vectors` vectors of columns of b. */
INLINE void multiply_tile(const int rows, const int vectors, i64 k, const left_panel *a, const REAL *b, i64 b_step,
                          const target *to)
{
    vector sums[ROWS][VECTORS_OF_PANEL];
    const REAL *row[ROWS];
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++) row[i] = a->rows[i];
    sum_tile(rows, vectors, k, row, a->step, b, b_step, sums);
    store_sums(rows, vectors, sums, to);
}

#define KERNEL static __attribute__((noinline)) void
KERNEL multiply_one(i64 k, const left_panel *a, const REAL *b, i64 b_step, const target *to)
{
    multiply_tile(ROWS, 1 + COMPLEX, k, a, b, b_step, to);
}

KERNEL multiply_full(i64 k, const left_panel *a, const REAL *b, i64 b_step, const target *to)
{
    multiply_tile(ROWS, VECTORS_OF_PANEL, k, a, b, b_step, to);
}

/* Memory that later tiles read: a tile prefetches `lines` cache lines in each STEPS steps, up to the end. */
typedef struct lookahead {
    const char *from, *end;
    i64 lines;
} lookahead;

/* The same as `multiply_full`, with prefetches. */
__attribute__((unused)) KERNEL multiply_ahead(i64 k, const left_panel *a, const REAL *b, i64 b_step, const target *to,
                                              const lookahead *ahead)
{
    vector sums[ROWS][VECTORS_OF_PANEL];
    const REAL *row[ROWS];
    const char *from = ahead->from;
    const i64 step = a->step;
    i64 at = 0;
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++) {
        row[i] = a->rows[i];
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS_OF_PANEL; v++) sums[i][v] = (vector){0};
    }
#pragma GCC unroll 1
    for (; k >= STEPS; k -= STEPS) {
        for (i64 line = ahead->lines; line > 0 && from < ahead->end; line--, from += LINE_BYTES)
            __builtin_prefetch(from, 0, 2);
#pragma GCC unroll 4
        for (int s = 0; s < STEPS; s++, at += step, b += b_step) add_outer(ROWS, VECTORS_OF_PANEL, row, at, b, sums);
    }
#pragma GCC unroll 1
    for (; k > 0; k--, at += step, b += b_step) add_outer(ROWS, VECTORS_OF_PANEL, row, at, b, sums);
    store_sums(ROWS, VECTORS_OF_PANEL, sums, to);
}

/* One row, which takes no longer than b takes to be read from memory. */
KERNEL multiply_row(i64 k, const left_panel *a, const REAL *b, i64 b_step, const target *to)
{
    vector sums[1][VECTORS_OF_PANEL] = {{{0}}};
    for (i64 p = 0; p < k; p++, b += b_step)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS_OF_PANEL; v++) {
            __builtin_prefetch(b + FETCHED_ROWS * b_step + v * LANES);
            sums[0][v] += a->rows[0][p * a->step] * *(const unaligned *)(b + v * LANES);
        }
    store_tile(to, (const REAL *)sums, VECTORS_OF_PANEL * LANES);
}

/* For the few last rows: enough sums to hide the latency of the multipliers. */
KERNEL multiply_half(i64 k, const left_panel *a, const REAL *b, i64 b_step, const target *to)
{
    multiply_tile(ROWS / 2, VECTORS_OF_PANEL, k, a, b, b_step, to);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
