/* Products of rows and a sparse constant matrix, of which some vectors are stored.  sparse_numbers.h reads the file
   for each NUMBER, float and double; NAMED(name) differs between both readings.

   Each lane is an output; a panel has SPARSE_LANES outputs.  Nonzero vectors of each panel are stored in the order of the
   sum, and `places` has the index of each along the sum:

       starts     for each panel, and after the last one: the index of its first vector
       w          vectors, lanes

   Four accumulators alternate over the vectors of a panel.  One task computes a whole output, so neither threads nor
   other rows change its bits.  A row with an infinity or a NaN gets the products by zeros that are not stored as well. */
#include "sparse_work.c"
#ifndef NUMBER /* as tools read the file */
#define NUMBER float
#define NAMED(name) name##_float
#endif

#define SPARSE_LANES (VECTOR_BYTES / (i64)sizeof(NUMBER))
typedef NUMBER NAMED(lanes) __attribute__((vector_size(VECTOR_BYTES)));
typedef NUMBER NAMED(loose) __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));

/* sum + x * w, fused if the target has the instruction. */
INLINE NAMED(lanes) NAMED(add)(NAMED(lanes) sum, NAMED(lanes) x, NAMED(lanes) w)
{
#if defined(__AVX512F__)
    if (sizeof(NUMBER) == 4) __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
    else __asm__("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
    return sum;
#elif defined(__FMA__)
    if (sizeof(NUMBER) == 4) __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(x), "x"(w));
    else __asm__("vfmadd231pd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(w));
    return sum;
#else
    return sum + x * w;
#endif
}

/* sum + x * w for one number x of memory; the instruction broadcasts it. */
INLINE NAMED(lanes) NAMED(add_one)(NAMED(lanes) sum, const NUMBER *x, NAMED(lanes) w)
{
#if defined(__AVX512F__)
    if (sizeof(NUMBER) == 4) __asm__("vfmadd231ps %1%{1to16%}, %2, %0" : "+v"(sum) : "m"(*x), "v"(w));
    else __asm__("vfmadd231pd %1%{1to8%}, %2, %0" : "+v"(sum) : "m"(*x), "v"(w));
    return sum;
#else
    return NAMED(add)(sum, *x - (NAMED(lanes)){0}, w);
#endif
}

INLINE void NAMED(sum_panel)(const int rows, i64 count, const i32 *places, const NUMBER *w, const NUMBER *x, i64 step,
                             NUMBER *to)
{
    NAMED(lanes) sums[SPARSE_ROWS][4];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int u = 0; u < 4; u++) sums[r][u] = (NAMED(lanes)){0};
    i64 i = 0;
    for (; i + 4 <= count; i += 4)
#pragma GCC unroll 4
        for (int u = 0; u < 4; u++) {
            const NAMED(lanes) weights = *(const NAMED(loose) *)(w + (i + u) * SPARSE_LANES);
            const NUMBER *from = x + places[i + u];
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++) sums[r][u] = NAMED(add_one)(sums[r][u], from + r * step, weights);
        }
#pragma GCC unroll 3
    for (int u = 0; u < 3; u++)
        if (i + u < count) {
            const NAMED(lanes) weights = *(const NAMED(loose) *)(w + (i + u) * SPARSE_LANES);
            const NUMBER *from = x + places[i + u];
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++) sums[r][u] = NAMED(add_one)(sums[r][u], from + r * step, weights);
        }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
        *(NAMED(loose) *)(to + r * SPARSE_LANES) = (sums[r][0] + sums[r][1]) + (sums[r][2] + sums[r][3]);
}

#define PANEL_KERNEL(name, rows) \
    static __attribute__((noinline)) void name(i64 count, const i32 *places, const NUMBER *w, const NUMBER *x, \
                                               i64 step, NUMBER *to) \
    { \
        NAMED(sum_panel)(rows, count, places, w, x, step, to); \
    }
PANEL_KERNEL(NAMED(panel_1), 1)
PANEL_KERNEL(NAMED(panel_2), 2)
#if SPARSE_ROWS > 2
PANEL_KERNEL(NAMED(panel_4), 4)
PANEL_KERNEL(NAMED(panel_6), 6)
#endif

/* Whether one of n numbers is an infinity or a NaN, whose product with zero is NaN. */
static i32 NAMED(any_special)(i64 n, const NUMBER *x)
{
    NAMED(lanes) sums = {0};
    NUMBER sum = 0;
    i64 i = 0;
    for (; i + SPARSE_LANES <= n; i += SPARSE_LANES) sums += *(const NAMED(loose) *)(x + i) * 0;
    for (; i < n; i++) sum += x[i] * 0;
    for (i64 l = 0; l < SPARSE_LANES; l++) sum += sums[l];
    return sum != 0;
}

/* Add the products of infinities and NaNs with the zeros that a panel does not store. */
static void NAMED(add_special)(i64 depth, const NUMBER *x, const i32 *places, const i32 *end, NUMBER *to)
{
    for (i64 k = 0; k < depth; k++) {
        while (places < end && *places < k) places++;
        if (places < end && *places == k) continue;
        const NUMBER product = x[k] * 0;
        if (product != 0)
            for (i64 l = 0; l < SPARSE_LANES; l++) to[l] += product;
    }
}

/* Compute the outputs of a share of the panels, for all rows: a few rows stay in the cache for all panels. */
static void NAMED(sparse_task)(void *context, i64 index)
{
    const sparse_work *work = context;
    const ag_sparse_product *of = &work->of;
    const NUMBER *x = of->x, *w = of->w;
    NUMBER *y = of->y, sums[SPARSE_ROWS * SPARSE_LANES];
    const i64 panels = parts(of->outputs, SPARSE_LANES), first = index * work->share;
    const i64 last = at_most(first + work->share, panels);
    for (i64 row = 0, rows; row < of->rows; row += rows) {
        const i64 left = of->rows - row;
        rows = left >= 6 && SPARSE_ROWS >= 6 ? 6 : left >= 4 && SPARSE_ROWS >= 4 ? 4 : left >= 2 ? 2 : 1;
        for (i64 p = first; p < last; p++) {
            const i32 *places = of->places + of->starts[p], *end = of->places + of->starts[p + 1];
            const NUMBER *from = w + of->starts[p] * SPARSE_LANES, *of_row = x + row * of->depth;
            if (rows == 1) NAMED(panel_1)(end - places, places, from, of_row, of->depth, sums);
            else if (rows == 2) NAMED(panel_2)(end - places, places, from, of_row, of->depth, sums);
#if SPARSE_ROWS > 2
            else if (rows == 4) NAMED(panel_4)(end - places, places, from, of_row, of->depth, sums);
            else NAMED(panel_6)(end - places, places, from, of_row, of->depth, sums);
#endif
            const i64 output = p * SPARSE_LANES, count = at_most(SPARSE_LANES, of->outputs - output);
            for (i64 r = 0; r < rows; r++) {
                NUMBER *to = sums + r * SPARSE_LANES;
                if (work->special[row + r]) NAMED(add_special)(of->depth, of_row + r * of->depth, places, end, to);
                if (count == SPARSE_LANES)
                    *(NAMED(loose) *)(y + (row + r) * of->outputs + output) = *(const NAMED(loose) *)to;
                else __builtin_memcpy(y + (row + r) * of->outputs + output, to, (unsigned long)count * sizeof *to);
            }
        }
    }
}

static void NAMED(find_special)(const ag_sparse_product *of, char *special)
{
    for (i64 r = 0; r < of->rows; r++)
        special[r] = (char)NAMED(any_special)(of->depth, (const NUMBER *)of->x + r * of->depth);
}

#undef SPARSE_LANES
#undef PANEL_KERNEL
#undef NUMBER
#undef NAMED
