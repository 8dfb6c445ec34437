/* Copies of the part of a strided array that a tile or a strip covers, with stride 1 along the inner loop.

   They are not inlined: a kernel of five operands would hold five of each.  They move bits alone, so the runtime has one
   of each for all types of a size (../../runtime/copies.c); a file has their text for compilers without it.

   Copies are written row by row.  Of a transposed part of 16 rows by 64 columns all but the first row is read from the
   first-level cache, unless the columns are a power of two apart and share their place in it: the runtime transposes
   squares in registers.

   Every other column, and each of three or four channels of an image, is copied in vectors: three times as fast as
   element by element, bytes ten times. */
#include "types.h"

#ifndef S /* as tools read it */
#define S f32
#define N u32
#endif

/* `rows` rows of `columns` elements of x from `at` on: where they lie if each row has stride 1, else copied. */
__attribute__((noinline, unused)) static const S *ag_tile_in_E(const S *x, i64 at, i64 down, i64 along,
                                                                   i64 rows, i64 columns, S *copy)
{
    x += at;
    if (along == 1) return x;
#ifdef AG_TRANSPOSES
    if (down == 1 && rows >= 8 && columns >= 8) {
        ag_transpose(sizeof(S), rows, columns, (char *)copy, columns, (const char *)x, along);
        return copy;
    }
#endif
    for (i64 i = 0; i < rows; i++) {
        S *const row = copy + i * columns;
        if (along == 0)
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down];
        else if (along == -1)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down - j];
        else if (along == 2)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 2 * j];
        else if (along == 3)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 3 * j];
        else if (along == 4)
            #pragma omp simd
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + 4 * j];
        else
            for (i64 j = 0; j < columns; j++) row[j] = x[i * down + j * along];
    }
    return copy;
}

/* A copy of narrow rows, one behind the other. */
static inline __attribute__((always_inline)) void ag_packed_E(const S *x, i64 down, i64 along, i64 rows, i64 columns, S *copy)
{
    for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) copy[i * columns + j] = x[i * down + j * along];
}

/* Narrow rows of x from `at` on, one behind the other: where they lie if there are no gaps, else copied. */
__attribute__((noinline, unused)) static const S *ag_packed_in_E(const S *x, i64 at, i64 down, i64 along,
                                                                     i64 rows, i64 columns, S *copy)
{
    x += at;
    if (along == 1 && down == columns) return x;
    if (down == 0 && rows > 1) { /* equal rows: copy twice as many each time */
        const i64 count = rows * columns;
        ag_packed_E(x, 0, along, 1, columns, copy);
        for (i64 done = columns; done < count; done *= 2)
            __builtin_memcpy(copy + done, copy, (done < count - done ? done : count - done) * sizeof(S));
        return copy;
    }
    S *to = copy;
#ifdef AG_TRANSPOSES
    const i64 done = ag_shuffled(sizeof(S), (const char *)x, down, along, rows, columns, (char *)copy);
    x += done * down, to += done * columns, rows -= done;
#endif
    if (columns == 2)
        ag_packed_E(x, down, along, rows, 2, to);
    else if (columns == 3)
        ag_packed_E(x, down, along, rows, 3, to);
    else if (columns == 4)
        ag_packed_E(x, down, along, rows, 4, to);
    else
        ag_packed_E(x, down, along, rows, columns, to);
    return copy;
}

/* Where elements of y from `at` on are computed: in their place if each row has stride 1, else in `copy`. */
static inline S *ag_tile_out_E(S *y, i64 at, i64 along, S *copy)
{
    return along == 1 ? y + at : copy;
}

/* The same for narrow rows. */
static inline S *ag_packed_out_E(S *y, i64 at, i64 down, i64 along, i64 columns, S *copy)
{
    return along == 1 && down == columns ? y + at : copy;
}

/* Write the results in `copy` to their place. */
__attribute__((noinline, unused)) static void ag_tile_back_E(S *y, i64 at, i64 down, i64 along, i64 rows,
                                                               i64 columns, const S *copy)
{
    y += at;
    for (i64 i = 0; i < rows; i++)
        for (i64 j = 0; j < columns; j++) y[i * down + j * along] = copy[i * columns + j];
}

/* A copy of n elements. */
__attribute__((noinline, unused)) static const S *ag_run_of_E(const S *x, i64 stride, i64 n, S *copy)
{
    for (i64 i = 0; i < n; i++) copy[i] = x[i * stride];
    return copy;
}

/* n elements of x from `at` on: where they lie if the stride is 1, else copied. */
static inline const S *ag_run_in_E(const S *x, i64 at, i64 stride, i64 n, S *copy)
{
    return stride == 1 ? x + at : ag_run_of_E(x + at, stride, n, copy);
}

/* Copies of n bools of x from `at` on, each as wide as the numbers beside it. */
__attribute__((noinline, unused)) static const N *ag_widened_in_N(const u8 *x, i64 at, i64 stride, i64 n,
                                                                      N *copy)
{
    i64 i = 0;
    x += at;
    if (stride == 1) {
        for (; i + 64 <= n; i += 64)
            #pragma omp simd
            for (i64 k = 0; k < 64; k++) copy[i + k] = x[i + k];
        for (; i + 16 <= n; i += 16) {
#ifdef AG_WIDENED
            AG_WIDENED(x + i, copy + i);
#else
            #pragma omp simd
            for (i64 k = 0; k < 16; k++) copy[i + k] = x[i + k];
#endif
        }
    }
    for (; i < n; i++) copy[i] = x[i * stride];
    return copy;
}

/* Write the results in `copy` to their place. */
__attribute__((noinline, unused)) static void ag_run_back_E(S *y, i64 at, i64 stride, i64 n, const S *copy)
{
    y += at;
    for (i64 i = 0; i < n; i++) y[i * stride] = copy[i];
}
