/* Kernels for each channel.  Those of 3, 5 or 7 columns that move by one or two, on blocks of one vector of channels, have
   tiles of their own; the others are those of direct.c.

   A tile is some columns of a row of y.  Its sums, and the weights of a row of the kernel, are held in registers, and each
   column of x is loaded once for all windows that contain it.  Columns beyond the left and the right border add nothing. */
#pragma once
#include "within.c"

#if !COMPLEX
enum { OWN_COLUMNS = 8, OWN_TAPS = 7 };

/* Where a row of y finds its windows. */
typedef struct own_row {
    const REAL *x, *w; /* x: the first column of the first window, perhaps beyond the border */
    vector bias;
    i64 down, across; /* from a row of x to the next, from a column to the next */
    i64 top, bottom;  /* rows of the kernel that lie within x */
    const REAL *low, *high;
    const half *added; /* NULL, or a row of the numbers that are added; see strip */
    half *rounded;
} own_row;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-schedule-insns2")
#endif

/* Columns from number `column` on, into y, for kernels of `taps` columns; left, right: columns of x beyond the borders. */
INLINE void sum_own_columns(const int columns, const int taps, const int stride, const own_row *of, i64 column,
                            i64 left, i64 right, REAL *y)
{
    const REAL *x = of->x + column * stride * of->across + of->top * of->down, *w = of->w + of->top * taps * LANES;
    const int last = (columns - 1) * stride + taps; /* columns of x */
    vector sums[OWN_COLUMNS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) sums[p] = of->bias;
    for (i64 i = of->top; i < of->bottom; i++, x += of->down, w += taps * LANES) {
        vector weights[OWN_TAPS];
#pragma GCC unroll 8
        for (int j = 0; j < taps; j++) weights[j] = *(const unaligned *)(w + j * LANES);
        const REAL *from = x;
#pragma GCC unroll 32
        for (int k = 0; k < last; k++, from += of->across) {
            if ((k < taps - 1 && k < left) || (k > last - taps && k >= last - right)) continue;
            const vector numbers = channels_at(from);
#pragma GCC unroll 8
            for (int j = 0; j < taps; j++)
                if (k >= j && (k - j) % stride == 0 && (k - j) / stride < columns)
                    sums[(k - j) / stride] += numbers * weights[j];
        }
    }
#ifdef OF_PAIRS
    if (of->added) {
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) sums[p] += widened_halves(of->added + (column + p) * LANES);
    }
#endif
    if (of->low) {
        const vector low = *of->low - (vector){0};
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) sums[p] = greater(low, sums[p]);
    }
    if (of->high) {
        const vector high = *of->high - (vector){0};
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) sums[p] = lesser(high, sums[p]);
    }
#ifdef OF_PAIRS
    if (of->rounded) {
        i32 by_bits = 0;
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) by_bits |= awkward(sums[p]);
        half *to = of->rounded + column * LANES;
        if (__builtin_expect(by_bits, 0))
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) store_halves(to + p * LANES, nearest_halves(sums[p]));
        else
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) store_nearest(to + p * LANES, sums[p]);
        return;
    }
#endif
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) *(unaligned *)(y + (column + p) * LANES) = sums[p];
}

typedef void own_function(const own_row *, i64, i64, i64, REAL *);
#define OWN_TILE(columns, taps, stride) \
    KERNEL own_tile_##taps##_##stride##_##columns(const own_row *of, i64 column, i64 left, i64 right, REAL *y) \
    { \
        sum_own_columns(columns, taps, stride, of, column, left, right, y); \
    }
#define OWN_TILES(taps, stride) \
    OWN_TILE(1, taps, stride) \
    OWN_TILE(2, taps, stride) \
    OWN_TILE(3, taps, stride) \
    OWN_TILE(4, taps, stride) \
    OWN_TILE(5, taps, stride) \
    OWN_TILE(6, taps, stride) \
    OWN_TILE(7, taps, stride) \
    OWN_TILE(8, taps, stride)
#define OWN_NAMED(taps, stride) \
    {own_tile_##taps##_##stride##_1, own_tile_##taps##_##stride##_2, own_tile_##taps##_##stride##_3, \
     own_tile_##taps##_##stride##_4, own_tile_##taps##_##stride##_5, own_tile_##taps##_##stride##_6, \
     own_tile_##taps##_##stride##_7, own_tile_##taps##_##stride##_8}
OWN_TILES(3, 1)
OWN_TILES(3, 2)
OWN_TILES(5, 1)
OWN_TILES(5, 2)
OWN_TILES(7, 1)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

/* By half the taps, less one; stride; columns. */
static own_function *const own_tiles[][2][OWN_COLUMNS] = {
    {OWN_NAMED(3, 1), OWN_NAMED(3, 2)}, {OWN_NAMED(5, 1), OWN_NAMED(5, 2)}, {OWN_NAMED(7, 1)}};

/* Whether `sum_own_rows` computes a convolution. */
static i32 has_own_rows(const ag_convolution *of)
{
    const i64 taps = of->kernel[1], stride = of->stride[1];
    const i32 is_tile = (taps == 3 || taps == 5 || taps == 7) && (stride == 1 || (stride == 2 && taps < OWN_TAPS));
    return is_tile && of->out_block == LANES && of->dilation[0] == 1 && of->dilation[1] == 1 && of->before[1] < taps
           && beyond_right(of, of->counts[1] - 1) < taps;
}

/* The rows of a strip of one block of channels. */
static void sum_own_rows(const strip *part)
{
    const ag_convolution *of = part->of;
    const i64 count = of->counts[1], stride = of->stride[1], tiles = parts(count, OWN_COLUMNS), before = of->before[1];
    own_function *const *const by_columns = own_tiles[of->kernel[1] / 2 - 1][stride - 1];
    own_row row = {.w = part->w,
                   .bias = *(const unaligned *)part->bias,
                   .down = of->x_strides[2],
                   .across = of->x_strides[3],
                   .low = of->low,
                   .high = of->high};
    for (i64 r = part->row; r < part->end; r++) {
        const i64 start = r * of->stride[0] - of->before[0];
        REAL *y = part->y + r * count * LANES;
        row.added = part->added ? part->added + r * count * LANES : 0;
        row.rounded = part->rounded ? part->rounded + r * count * LANES : 0;
        row.top = at_most(of->kernel[0], at_least(0, -start));
        row.bottom = at_least(row.top, at_most(of->kernel[0], of->lengths[0] - start));
        row.x = part->x + start * of->x_strides[2] - before * of->x_strides[3];
        for (i64 t = 0; t < tiles; t++) {
            const i64 from = begin_of(count, tiles, t), to = begin_of(count, tiles, t + 1);
            by_columns[to - from - 1](&row, from, at_least(0, before - from * stride), beyond_right(of, to - 1), y);
        }
    }
}

/* Numbers, or words, of the weights of an output. */
INLINE i64 each_of(const ag_convolution *of)
{
    return of->kernel[0] * of->kernel[1] * (of->kind == AG_WITHIN ? of->channels : 1);
}

/* Rows of y for a kernel of each channel, or for groups within a block; see rows_function. */
static void depthwise_rows(const void *context, const REAL *x, REAL *y, i64 block, i64 row, i64 end)
{
    const direct *work = context;
    const ag_convolution *of = work->of;
    const i64 width = of->out_block;
    strip part = {
        .of = of, .row = row, .end = end, .width = width, .last = 1, .x = x, .y = y, .step = work->total * width};
    part.w = (const REAL *)of->w + block * width * each_of(of);
    part.bias = (const REAL *)of->bias + block * width;
    if (of->added || of->rounded) find_halves(work, &part, y - (REAL *)of->y);
    if (of->kind == AG_DEPTHWISE && has_own_rows(of)) {
        sum_own_rows(&part);
        return;
    }
    for (; row < end; row++) {
        const i64 count = at_most(work->columns, work->total - row * work->columns);
        (of->kind == AG_WITHIN ? sum_row_within : sum_row)(work, &part, row, count);
    }
}

/* The tasks of a convolution with a kernel for each channel. */
static by_blocks depthwise_tasks(const direct *work)
{
    const ag_convolution *of = work->of;
    return (by_blocks){
        .function = depthwise_rows,
        .of = work,
        .x = of->x,
        .x_strides = of->x_strides,
        .y = of->y,
        .images = of->images,
        .blocks = of->blocks,
        .rows = work->rows,
        .columns = work->columns,
        .total = work->total,
        .after = work->after,
    };
}

static void convolve_depthwise(const ag_runtime *rt, const ag_convolution *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    const direct rows = lay_out(rt, of, joined, 0, 0);
    by_blocks work = depthwise_tasks(&rows);
    run_blocks(rt, &work, each_of(of));
    follow_all(rt, &of->after, &work.after);
}
#endif
