/* Windows along lines, for few kernels: y[i] = sums of a[t] * x[i + t] without a copy of x.

   A product of so few rows takes less time than its windows take to be packed.  A tile of y stays in registers while all
   numbers of a kernel pass.  Numbers of a kernel that are a vector apart read the same vectors of x, so four of them share
   each load: an unaligned vector spans two lines of the cache and takes as long as two multiplications.

   Each sum has one order, in blocks of at most DEPTH, so bits depend neither on tiles nor on threads. */
#pragma once
#include "../products/batch.c"

#if !COMPLEX
enum { LINE_VECTORS = 8, SHARING = 4, FEW_KERNELS = 3 }; /* sums of a tile; numbers of a kernel that share a load */
enum { WIDE_LINE = 4 * LANES };                 /* columns from which on tiles of several kernels have enough sums */
enum { LINE_STRIP = (1 << 16) / sizeof(REAL) }; /* numbers of y that stay in the cache for the epilogue */

/* A call, as windows.c lays it out: `starts` are the offsets of the rows of a window, NULL for one row. */
typedef struct line_work {
    const ag_window_product *of;
    const batched_product *product;
    const i64 *starts;
    i64 starts_count, lines, length, taps, step,
        a1;                    /* lines of a kernel's y, their length; taps of a row of a window */
    i64 strips, units, a_task; /* strips of a line; all strips; those of a task */
} line_work;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", \
                     "no-tree-vrp", "no-schedule-insns2")
#endif

/* sums += x times numbers [from, to) of a kernel, each with the `sharing` - 1 numbers that are whole vectors behind it. */
INLINE void add_line_taps(const int vectors, const int sharing, i64 from, i64 to, const REAL *a, i64 a1, const REAL *x,
                          i64 step, vector *sums)
{
    a += from * a1, x += from * step;
#pragma GCC unroll 1
    for (i64 left = to - from; left > 0; left--, a += a1, x += step) {
        vector factors[SHARING];
#pragma GCC unroll 4
        for (int t = 0; t < sharing; t++) {
            factors[t] = (vector){0} + a[t * LANES * a1];
            KEEP(factors[t]);
        }
#pragma GCC unroll 16
        for (int q = 0; q < vectors + sharing - 1; q++) {
            const vector numbers = *(const unaligned *)(x + q * LANES);
#pragma GCC unroll 4
            for (int t = 0; t < sharing; t++)
                if (q >= t && q - t < vectors) sums[q - t] += factors[t] * numbers;
        }
    }
}

/* One tile: the sums over all rows of a window. */
INLINE void sum_line_tile(const int vectors, const line_work *work, const REAL *a, const REAL *x, REAL *y)
{
    const i64 taps = work->taps, step = work->step, a1 = work->a1, most = step == 1 ? SHARING * LANES : DEPTH;
    vector sums[LINE_VECTORS];
    i64 depth = 0, stored = 0;
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++) sums[v] = (vector){0};
    for (i64 row = 0; row < work->starts_count; row++) {
        const REAL *from = x + (work->starts ? work->starts[row] : 0);
        for (i64 t = 0, n; t < taps; t += n, a += n * a1, from += n * step, depth += n) {
            n = at_most(most, taps - t);
            if (depth + n > DEPTH) {
#pragma GCC unroll 8
                for (int v = 0; v < vectors; v++) {
                    unaligned *to = (unaligned *)(y + v * LANES);
                    *to = stored ? *to + sums[v] : sums[v];
                    sums[v] = (vector){0};
                }
                depth = 0, stored = 1;
            }
            const i64 whole = step == 1 ? (n - 1) / LANES : 0, rest = n - whole * LANES;
            if (whole == 0) add_line_taps(vectors, 1, 0, n, a, a1, from, step, sums);
            else if (whole == 1) {
                add_line_taps(vectors, 2, 0, rest, a, a1, from, 1, sums);
                add_line_taps(vectors, 1, rest, LANES, a, a1, from, 1, sums);
            } else if (whole == 2) {
                add_line_taps(vectors, 3, 0, rest, a, a1, from, 1, sums);
                add_line_taps(vectors, 2, rest, LANES, a, a1, from, 1, sums);
            } else {
                add_line_taps(vectors, 4, 0, rest, a, a1, from, 1, sums);
                add_line_taps(vectors, 3, rest, LANES, a, a1, from, 1, sums);
            }
        }
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++) {
        unaligned *to = (unaligned *)(y + v * LANES);
        *to = stored ? *to + sums[v] : sums[v];
    }
}

typedef void tile_of_line(const line_work *work, const REAL *a, const REAL *x, REAL *y);
static void sum_eight(const line_work *work, const REAL *a, const REAL *x, REAL *y) { sum_line_tile(8, work, a, x, y); }
static void sum_four(const line_work *work, const REAL *a, const REAL *x, REAL *y) { sum_line_tile(4, work, a, x, y); }
static void sum_two(const line_work *work, const REAL *a, const REAL *x, REAL *y) { sum_line_tile(2, work, a, x, y); }
static void sum_one(const line_work *work, const REAL *a, const REAL *x, REAL *y) { sum_line_tile(1, work, a, x, y); }

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

/* A strip of `n` >= LANES numbers.  The last tile ends with the strip, and finds some numbers once more. */
static void sum_line_strip(const line_work *work, const REAL *a, const REAL *x, REAL *y, i64 n)
{
    for (i64 i = 0, width; i < n; i += width) {
        tile_of_line *tile = sum_eight;
        width = 8 * LANES;
        if (width > n || n - i <= width / 2) tile = sum_four, width = 4 * LANES;
        if (width > n || n - i <= width / 2) tile = sum_two, width = 2 * LANES;
        if (width > n || n - i <= width / 2) tile = sum_one, width = LANES;
        i = at_most(i, n - width);
        tile(work, a, x + i, y + i);
    }
}

/* Offset of a line of a window's starts in x. */
static i64 start_of_line(const ag_window_product *of, i64 line)
{
    i64 offset = 0;
    for (i32 axis = of->column_rank - 2; axis >= 0; axis--) {
        offset += line % of->columns[axis] * of->column_steps[axis];
        line /= of->columns[axis];
    }
    return offset;
}

static void sum_line_task(void *context, i64 index)
{
    const line_work *work = context;
    const ag_window_product *of = work->of;
    const i64 end = at_most((index + 1) * work->a_task, work->units);
    for (i64 unit = index * work->a_task; unit < end; unit++) {
        const i64 strip = unit % work->strips, first = begin_of(work->length, work->strips, strip);
        const i64 n = begin_of(work->length, work->strips, strip + 1) - first;
        const i64 line = unit / work->strips % work->lines, number = unit / work->strips / work->lines;
        const i64 kernel = number % of->m, column = line * work->length + first;
        i64 place[AG_MOST_AXES];
        const product x = product_number(work->product, number / of->m, place);
        sum_line_strip(work, x.a + kernel * x.a0, x.b + start_of_line(of, line) + first, x.c + kernel * x.n + column,
                       n);
        follow(&x, kernel, column, 1, n);
    }
}
#endif

/* Whether windows of few kernels lie along lines, and are no matrix in memory (is_even: all places have one distance).
   Shapes alone decide. */
static i32 lies_along_lines(const ag_window_product *of, i32 is_even, i64 next_row, i64 n)
{
#if COMPLEX
    (void)of, (void)is_even, (void)next_row, (void)n;
    return 0;
#else
    const i32 last = of->column_rank - 1;
    const i32 is_matrix = is_even && next_row >= n;
    return of->m > 0 && of->m <= FEW_KERNELS && last >= 0 && of->row_rank > 0 && of->column_steps[last] == 1
           && of->columns[last] >= (of->m == 1 ? LANES : WIDE_LINE) && !is_matrix;
#endif
}

/* Sum windows along lines; `starts` are the offsets of the rows of a window, but for the last axis. */
static i32 sum_windows_along_lines(const ag_runtime *rt, const ag_window_product *of, const batched_product *product,
                                   const i64 *starts, i64 count)
{
#if !COMPLEX
    line_work work = {.of = of, .product = product, .starts = starts, .starts_count = count};
    work.length = of->columns[of->column_rank - 1], work.lines = product->n / work.length;
    work.taps = of->rows[of->row_rank - 1], work.step = of->row_steps[of->row_rank - 1];
    work.a1 = of->a_strides[of->rank + 1];
    const double whole = (double)work.length * (double)(product->k + 1);
    work.strips = at_most((i64)(whole / ALONE), work.length / (LINE_VECTORS * LANES));
    work.strips = at_least(at_least(1, work.strips), parts(work.length, LINE_STRIP));
    work.units = of->m * work.lines * work.strips;
    for (i32 l = 0; l < of->rank; l++) work.units *= of->batch[l];
    if (work.units <= 0) return 0;
    const double each = whole / (double)work.strips, all = each * (double)work.units;
    if (all > LONG) rt->listen();
    work.a_task = all < ALONE ? work.units : at_least(1, (i64)(ALONE / each));
    return run(rt, parts(work.units, work.a_task), sum_line_task, &work);
#else
    (void)rt, (void)of, (void)product, (void)starts, (void)count;
    return 0;
#endif
}
