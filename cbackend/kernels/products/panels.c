/* Packing: panels are slices of the operands, copied in the order in which the micro-kernel reads them. */
#pragma once
#include "tile.c"

enum { DEPTH = 448 }; /* the most rows of a block of panels */

#if !COMPLEX && defined(__AVX512F__) && defined(__GNUC__) && (defined(__clang__) || __GNUC__ >= 12)
#define TRANSPOSES 1
typedef REAL eight __attribute__((vector_size(8 * sizeof(REAL)), aligned(sizeof(REAL))));
typedef REAL four __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL))));
/* Swap blocks of 1, 2 or 4 numbers between two rows: the odd ones of x with the even ones of y. */
#define EXCHANGE(x, y, even, odd) \
    do { \
        const eight kept = __builtin_shufflevector(x, y, even); \
        y = __builtin_shufflevector(x, y, odd); \
        x = kept; \
    } while (0)
#define EVEN_1 0, 8, 2, 10, 4, 12, 6, 14
#define ODD_1 1, 9, 3, 11, 5, 13, 7, 15
#define EVEN_2 0, 1, 8, 9, 4, 5, 12, 13
#define ODD_2 2, 3, 10, 11, 6, 7, 14, 15
#define EVEN_4 0, 1, 2, 3, 8, 9, 10, 11
#define ODD_4 4, 5, 6, 7, 12, 13, 14, 15

/* Four columns of eight rows from `at` on, and four from `next` on, each column `step` numbers after the other. */
INLINE void transpose_eight(const T *const *row, i64 at, i64 next, REAL *to, i64 step)
{
    eight r[8];
    if (next == at + 4)
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) r[i] = *(const eight *)(row[i] + at);
    else
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            const four low = *(const four *)(row[i] + at), high = *(const four *)(row[i] + next);
            r[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
        }
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) EXCHANGE(r[i], r[i + 1], EVEN_1, ODD_1);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) EXCHANGE(r[i + (i & 2)], r[i + (i & 2) + 2], EVEN_2, ODD_2);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) EXCHANGE(r[i], r[i + 4], EVEN_4, ODD_4);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) *(eight *)(to + step * i) = r[i];
}
#else
#define TRANSPOSES 0
#endif

/* PACKED_ROWS rows of a, of which m are there, k columns long: for each column its numbers (complex: the real parts, then the
   imaginary parts). */
static void pack_rows(i64 m, i64 k, const T *a, i64 a0, i64 a1, REAL *restrict to)
{
    const T *row[PACKED_ROWS];
    i64 p = 0;
    for (i64 i = 0; i < PACKED_ROWS; i++) row[i] = a + (i < m ? i : 0) * a0;
    if (!COMPLEX && a0 == 1 && m == PACKED_ROWS) /* of a transposed matrix: the numbers are contiguous */
        for (; p < k; p++, to += PACKED_ROWS) __builtin_memcpy(to, a + p * a1, PACKED_ROWS * sizeof(REAL));
#if TRANSPOSES
    if (a1 == 1)
        for (; p + 8 <= k; p += 8, to += 8 * PACKED_ROWS) transpose_eight(row, p, p + 4, to, 8);
#endif
    for (; p < k; p++, to += (1 + COMPLEX) * PACKED_ROWS)
        for (i64 i = 0; i < PACKED_ROWS; i++) {
            const T value = row[i][p * a1];
            to[i] = __real__ value;
            if (COMPLEX) to[PACKED_ROWS + i] = __imag__ value;
        }
}

/* n columns of b, k rows long, to an aligned place, each row filled up with zeros to `width` numbers (complex: the
   real parts, then the imaginary parts). */
static __attribute__((unused)) void pack_columns(i64 k, i64 n, i64 width, const T *b, i64 b0, i64 b1, REAL *restrict to)
{
    for (i64 p = 0; p < k; p++, b += b0, to += (1 + COMPLEX) * width) {
        if (!COMPLEX && b1 == 1 && n == width) {
            for (i64 j = 0; j < width; j += LANES) *(vector *)(to + j) = *(const unaligned *)((const REAL *)b + j);
            continue;
        }
        for (i64 j = 0; n < width && j < (1 + COMPLEX) * width; j += LANES) *(vector *)(to + j) = (vector){0};
        for (i64 j = 0; j < n; j++) {
            to[j] = __real__ b[j * b1];
            if (COMPLEX) to[width + j] = __imag__ b[j * b1];
        }
    }
}

#if !COMPLEX
/* Whether the columns of a vector are contiguous in memory in groups of this size. */
static i32 in_groups(const i64 *column, i64 group)
{
    for (i64 j = 0; j < LANES; j++)
        if (column[j] != column[j - j % group] + j % group) return 0;
    return 1;
}

/* Columns of a vector that are neighbours in memory in groups of `group`, in k rows. */
INLINE void copy_groups(i64 k, i64 group, i64 width, const T *b, const i64 *rows, const i64 *column, REAL *out)
{
    for (i64 p = 0; p < k; p++, out += width)
        for (i64 j = 0; j < LANES; j += group)
            __builtin_memcpy(out + j, b + rows[p] + column[j], (unsigned long)group * sizeof(REAL));
}

/* Numbers of a vector's columns that are no neighbours, in k rows: eight rows at once where they are, four by four. */
static void gather_columns(i64 k, i64 count, i64 width, const T *b, const i64 *rows, const i64 *column, REAL *out)
{
    i64 p = 0;
    while (p < k) {
#if TRANSPOSES
        i32 beside = count == LANES && p + 8 <= k;
        for (i64 i = 0; beside && i < 8; i++) beside = rows[p + i] == rows[p + i / 4 * 4] + i % 4;
        if (beside) {
            for (i64 j = 0; j < LANES; j += 8) {
                const T *from[8];
                for (i64 i = 0; i < 8; i++) from[i] = b + column[j + i];
                transpose_eight(from, rows[p], rows[p + 4], out + j, width);
            }
            p += 8, out += 8 * width;
            continue;
        }
#endif
        const T *from = b + rows[p];
        if (count < LANES) *(vector *)out = (vector){0};
        if (count == LANES)
            for (i64 j = 0; j < LANES; j++) out[j] = from[column[j]];
        else
            for (i64 j = 0; j < count; j++) out[j] = from[column[j]];
        p++, out += width;
    }
}
#endif

/* The same where tables say how far from b the numbers lie: rows[p] + columns[j].  Columns that are neighbours in memory
   are read as vectors. */
static __attribute__((unused)) void pack_by_tables(i64 k, i64 n, i64 width, const T *b, const i64 *rows,
                                                   const i64 *columns, REAL *restrict to)
{
#if COMPLEX
    for (i64 p = 0; p < k; p++, to += 2 * width)
        for (i64 j = 0; j < width; j++) {
            const T value = j < n ? b[rows[p] + columns[j]] : 0;
            to[j] = __real__ value, to[width + j] = __imag__ value;
        }
#else
    for (i64 v = 0; v < width; v += LANES) {
        const i64 count = at_most(LANES, n - v), *column = columns + v;
        i64 beside = 1;
        while (beside < count && column[beside] == column[0] + beside) beside++;
        REAL *out = to + v;
        const T *from = b + column[0];
        if (beside == LANES)
            for (i64 p = 0; p < k; p++, out += width) *(vector *)out = *(const unaligned *)(from + rows[p]);
        else if (count == LANES && LANES % 4 == 0 && in_groups(column, 4))
            copy_groups(k, 4, width, b, rows, column, out);
        else if (count == LANES && LANES % 2 == 0 && in_groups(column, 2))
            copy_groups(k, 2, width, b, rows, column, out);
        else gather_columns(k, count, width, b, rows, column, out);
    }
#endif
}

/* Return a panel of m rows of a in place. */
static left_panel unpacked_rows(i64 m, const T *a, i64 a0, i64 a1)
{
    left_panel panel = {.step = a1};
    for (i64 i = 0; i < ROWS; i++) panel.rows[i] = (const REAL *)(a + (i < m ? i : 0) * a0);
    return panel;
}

/* Return the panel that pack_rows made. */
static left_panel packed_rows(const REAL *packed)
{
    left_panel panel = {.step = (1 + COMPLEX) * PACKED_ROWS};
    for (i64 i = 0; i < ROWS; i++) panel.rows[i] = packed + i;
    return panel;
}

/* Return the width of a panel of n columns: the least vectors that suffice. */
INLINE i64 panel_width(i64 n) { return parts(n, LANES) * LANES; }
