/* Kernels for each channel.  Those of 3 x 3 that move by one or two, on blocks of one vector of channels, have tiles of their
   own; the others are those of direct.c.

   A tile is some columns of a row of y.  Its sums, and the weights of a row of the kernel, are held in registers.  Windows
   reach at most one column over the left and the right border, where they add nothing. */
#pragma once
#include "direct.c"

#if !COMPLEX
enum { OWN_COLUMNS = 8, OWN_KERNEL = 3 };

/* Where a row of y finds its windows. */
typedef struct own_row {
    const REAL *x, *w; /* x: the first column of the first window, perhaps beyond the border */
    vector bias;
    i64 down;        /* from a row of x to the next */
    i64 top, bottom; /* rows of the kernel that lie within x */
    const REAL *low, *high;
} own_row;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-schedule-insns2")
#endif

/* Columns from number `column` on, into y; left, right: the first or last window reaches over the border. */
INLINE void sum_own_columns(const int columns, const int stride, const own_row *of, i64 column, i32 left, i32 right,
                            REAL *y)
{
    const REAL *x = of->x + column * stride * LANES + of->top * of->down, *w = of->w + of->top * OWN_KERNEL * LANES;
    vector sums[OWN_COLUMNS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) sums[p] = of->bias;
    for (i64 i = of->top; i < of->bottom; i++, x += of->down, w += OWN_KERNEL * LANES) {
        const vector before = *(const unaligned *)w, amid = *(const unaligned *)(w + LANES);
        const vector behind = *(const unaligned *)(w + 2 * LANES);
        if (!left) sums[0] += *(const unaligned *)x * before;
#pragma GCC unroll 8
        for (int p = 1; p < columns; p++) sums[p] += *(const unaligned *)(x + p * stride * LANES) * before;
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) sums[p] += *(const unaligned *)(x + (p * stride + 1) * LANES) * amid;
#pragma GCC unroll 8
        for (int p = 0; p < columns - 1; p++) sums[p] += *(const unaligned *)(x + (p * stride + 2) * LANES) * behind;
        if (!right) sums[columns - 1] += *(const unaligned *)(x + ((columns - 1) * stride + 2) * LANES) * behind;
    }
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
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) *(unaligned *)(y + (column + p) * LANES) = sums[p];
}

typedef void own_function(const own_row *, i64, i32, i32, REAL *);
#define OWN_TILE(columns, stride) \
    KERNEL own_tile_##stride##_##columns(const own_row *of, i64 column, i32 left, i32 right, REAL *y) \
    { \
        sum_own_columns(columns, stride, of, column, left, right, y); \
    }
#define OWN_TILES(stride) \
    OWN_TILE(1, stride) \
    OWN_TILE(2, stride) \
    OWN_TILE(3, stride) \
    OWN_TILE(4, stride) \
    OWN_TILE(5, stride) \
    OWN_TILE(6, stride) \
    OWN_TILE(7, stride) \
    OWN_TILE(8, stride)
#define OWN_NAMED(stride) \
    {own_tile_##stride##_1, own_tile_##stride##_2, own_tile_##stride##_3, own_tile_##stride##_4, \
     own_tile_##stride##_5, own_tile_##stride##_6, own_tile_##stride##_7, own_tile_##stride##_8}
OWN_TILES(1)
OWN_TILES(2)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

static own_function *const own_by_stride[2][OWN_COLUMNS] = {OWN_NAMED(1), OWN_NAMED(2)};

/* Whether `sum_own_rows` computes a convolution. */
static i32 has_own_rows(const ag_convolution *of)
{
    const i64 beyond = (of->counts[1] - 1) * of->stride[1] - of->before[1] + OWN_KERNEL - of->lengths[1];
    return of->out_block == LANES && of->kernel[0] == OWN_KERNEL && of->kernel[1] == OWN_KERNEL && of->dilation[0] == 1
           && of->dilation[1] == 1 && of->stride[1] <= 2 && of->x_strides[3] == LANES && of->before[1] <= 1
           && beyond <= 1 && of->lengths[1] > 1;
}

/* The rows of a strip of one block of channels. */
static void sum_own_rows(const strip *part)
{
    const ag_convolution *of = part->of;
    const i64 count = of->counts[1], stride = of->stride[1], tiles = parts(count, OWN_COLUMNS);
    const i32 over_right = (count - 1) * stride - of->before[1] + OWN_KERNEL > of->lengths[1];
    own_row row = {.w = part->w,
                   .bias = *(const unaligned *)part->bias,
                   .down = of->x_strides[2],
                   .low = of->low,
                   .high = of->high};
    for (i64 r = part->row; r < part->end; r++) {
        const i64 start = r * of->stride[0] - of->before[0];
        REAL *y = part->y + r * count * LANES;
        row.top = at_most(OWN_KERNEL, at_least(0, -start));
        row.bottom = at_least(row.top, at_most(OWN_KERNEL, of->lengths[0] - start));
        row.x = part->x + start * of->x_strides[2] - of->before[1] * LANES;
        for (i64 t = 0; t < tiles; t++) {
            const i64 from = begin_of(count, tiles, t), to = begin_of(count, tiles, t + 1);
            own_by_stride[stride - 1][to - from - 1](&row, from, t == 0 && of->before[1], t + 1 == tiles && over_right,
                                                     y);
        }
    }
}

/* Rows of y for a kernel of each channel; see rows_function. */
static void depthwise_rows(const void *context, const REAL *x, REAL *y, i64 block, i64 row, i64 end)
{
    const direct *work = context;
    const ag_convolution *of = work->of;
    const i64 width = of->out_block;
    strip part = {
        .of = of, .row = row, .end = end, .width = width, .last = 1, .x = x, .y = y, .step = work->total * width};
    part.w = (const REAL *)of->w + block * width * of->kernel[0] * of->kernel[1];
    part.bias = (const REAL *)of->bias + block * width;
    if (has_own_rows(of)) sum_own_rows(&part);
    else
        for (; row < end; row++) sum_row(work, &part, row, at_most(work->columns, work->total - row * work->columns));
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
    run_blocks(rt, &work, of->kernel[0] * of->kernel[1]);
    follow_all(rt, &of->after, &work.after);
}
#endif
