/* Pooling of blocks of channels: the largest number, or the sum, of every window of each channel.

   OF_PAIRS: of the largest bfloat16 numbers, two of which are a REAL in strides and addresses.

   A window takes its numbers row by row.  Positions beyond a border are not read.  A tile is some columns of a row of y,
   held in registers; columns whose windows reach over the left or right border are computed one by one.  The largest
   bfloat16 numbers of a tile without signs are found by their bits. */
#pragma once
#include "../convolutions/places.c"

#if !COMPLEX
enum { MANY_COLUMNS = 8, FEW_COLUMNS = 4 }; /* of a tile */

/* The positions of windows that lie within x: rows [top, bottom) and columns [left, right). */
typedef struct window {
    i64 top, bottom, left, right;
    i64 down, across, step; /* from a row, a column of a window to the next; from one window to the next */
} window;

/* NumPy's maximum: NaN if either is, the first of equal numbers. */
INLINE vector larger(vector a, vector b) { return choose((a >= b) | (a != a), a, b); }

/* Store numbers that came from `channels_at`. */
INLINE void store_channels(REAL *y, vector numbers)
{
#ifdef OF_PAIRS
    store_halves((half *)y, numbers);
#else
    *(unaligned *)y = numbers;
#endif
}

INLINE void store_channel(REAL *y, i64 channel, REAL number)
{
#ifdef OF_PAIRS
    const union {
        REAL number;
        unsigned bits;
    } of = {number};
    ((half *)y)[channel] = (half)(of.bits >> 16);
#else
    y[channel] = number;
#endif
}

INLINE vector taken(const int sums, vector all, vector number) { return sums ? all + number : larger(all, number); }

/* Reduce `columns` adjacent windows, the first of which begins at x. */
INLINE void pool_columns(const int columns, const int sums, const ag_pooling *of, const window *at, const REAL *x,
                         REAL *y)
{
    vector all[MANY_COLUMNS];
    const i32 empty = at->top >= at->bottom || at->left >= at->right;
    const REAL *first = x + at->top * at->down + at->left * at->across;
    const vector none = (sums ? 0 : -(REAL)__builtin_inf()) - (vector){0};
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) all[p] = empty ? none : channels_at(first + p * at->step);
    for (i64 i = at->top; i < at->bottom; i++)
        for (i64 j = i == at->top ? at->left + 1 : at->left; j < at->right; j++) {
            const REAL *from = x + i * at->down + j * at->across;
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) all[p] = taken(sums, all[p], channels_at(from + p * at->step));
        }
    const vector low = of->low ? *(const REAL *)of->low - (vector){0} : (vector){0};
    const vector high = of->high ? *(const REAL *)of->high - (vector){0} : (vector){0};
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) {
        if (of->low) all[p] = greater(low, all[p]);
        if (of->high) all[p] = lesser(high, all[p]);
        store_channels(y + p * BLOCK, all[p]);
    }
}

#define POOLED(columns) \
    static __attribute__((noinline)) void pool_##columns(i32 sums, const ag_pooling *of, const window *at, \
                                                         const REAL *x, REAL *y) \
    { \
        if (sums) pool_columns(columns, 1, of, at, x, y); \
        else pool_columns(columns, 0, of, at, x, y); \
    }
POOLED(1)
POOLED(4)
POOLED(8)

/* The columns of a tile, where so many windows lie between the borders. */
static i64 tile_columns(i64 inside)
{
    if (inside >= MANY_COLUMNS) return MANY_COLUMNS;
    return inside >= FEW_COLUMNS
    ? FEW_COLUMNS : 1;
}

/* The positions of a window from `start` on that lie within `length`. */
static void find_positions(const ag_pooling *of, i32 axis, i64 start, i64 *from, i64 *to)
{
    const i64 dilation = of->dilation[axis], count = of->kernel[axis], room = of->lengths[axis] - start;
    *from = start < 0 ? at_most(count, parts(-start, dilation)) : 0;
    *to = at_least(*from, room <= 0 ? 0 : at_most(count, parts(room, dilation)));
}

#ifdef OF_PAIRS
enum { LINE = 256 }; /* positions of x */

/* Store the largest bits of `taps` numbers, `step` apart, for each of `count` positions, `next` apart; return all bits. */
INLINE halves largest_each(const i64 taps, const REAL *x, i64 step, i64 count, i64 next, REAL *to)
{
    halves any = {0};
    for (i64 k = 0; k < count; k++, x += next) {
        halves all = *(const halves *)x;
        for (i64 t = 1; t < taps; t++) all = larger_bits(all, *(const halves *)(x + t * step));
        *(halves *)(to + k * BLOCK) = all;
        any |= all;
    }
    return any;
}

static __attribute__((noinline)) halves find_largest(i64 taps, const REAL *x, i64 step, i64 count, i64 next, REAL *to)
{
    if (taps == 2) return largest_each(2, x, step, count, next, to);
    if (taps == 3) return largest_each(3, x, step, count, next, to);
    return largest_each(taps, x, step, count, next, to);
}

/* Whether each window has a position between the left and right border, and fits in a line. */
static i32 has_columns(const ag_pooling *of)
{
    const i64 reach = (of->kernel[1] - 1) * of->dilation[1], last = (of->counts[1] - 1) * of->stride[1];
    return reach < LINE && of->before[1] <= reach && last - of->before[1] < of->lengths[1]
           && of->dilation[1] <= of->lengths[1];
}

/* Pool `columns` windows of a row, the first of which begins at column `left` of x; return whether no number has a sign,
   else y is to be computed anew. */
static i32 pool_by_bits(const ag_pooling *of, const window *at, const REAL *x, i64 left, i64 columns, REAL *y)
{
    REAL line[LINE * BLOCK];
    const i64 wide = (columns - 1) * of->stride[1] + (of->kernel[1] - 1) * of->dilation[1] + 1;
    const i64 first = at_most(wide, at_least(-left, 0)), end = at_least(first, at_most(wide, of->lengths[1] - left));
    __builtin_memset(line, 0, (unsigned long)(first * BLOCK) * sizeof *line);
    __builtin_memset(line + end * BLOCK, 0, (unsigned long)((wide - end) * BLOCK) * sizeof *line);
    find_largest(at->bottom - at->top, x + at->top * at->down + first * of->x_strides[3], at->down, end - first,
                 of->x_strides[3], line + first * BLOCK);
    return !has_sign(find_largest(of->kernel[1], line, of->dilation[1] * BLOCK, columns, of->stride[1] * BLOCK, y));
}

/* Pool a row of y by bits, where no number has a sign; return the columns before the first one that is not pooled. */
static i64 pool_row_by_bits(const ag_pooling *of, const window *at, const REAL *x, REAL *y)
{
    const i64 reach = (of->kernel[1] - 1) * of->dilation[1], most = (LINE - 1 - reach) / of->stride[1] + 1;
    i64 column = 0;
    for (i64 columns; column < of->counts[1]; column += columns) {
        const i64 left = column * of->stride[1] - of->before[1];
        columns = at_most(most, of->counts[1] - column);
        if (!pool_by_bits(of, at, x + left * of->x_strides[3], left, columns, y + column * BLOCK)) break;
    }
    return column;
}
#endif

/* Rows of y for blocks of one vector; see rows_function. */
static void pool_rows(const void *context, const REAL *x, REAL *y, i64 block, i64 row, i64 end)
{
    const ag_pooling *of = context;
    const i64 count = of->counts[1], stride = of->stride[1];
    const i32 sums = of->kind == AG_SUM;
#ifdef OF_PAIRS
    const i32 by_bits = !sums && !of->low && !of->high && has_columns(of);
#endif
    window at = {.down = of->dilation[0] * of->x_strides[2], .across = of->dilation[1] * of->x_strides[3]};
    at.step = stride * of->x_strides[3];
    (void)block;
    for (; row < end; row++) {
        const i64 top = row * of->stride[0] - of->before[0];
        REAL *to = y + row * count * BLOCK;
        i64 column = 0;
        find_positions(of, 0, top, &at.top, &at.bottom);
#ifdef OF_PAIRS
        if (by_bits && at.top < at.bottom) column = pool_row_by_bits(of, &at, x + top * of->x_strides[2], to);
#endif
        for (i64 columns; column < count; column += columns) {
            const i64 left = column * stride - of->before[1];
            const i64 room = of->lengths[1] - left - (of->kernel[1] - 1) * of->dilation[1];
            const i64 inside = left < 0 || room <= 0 ? 0 : at_most(count - column, parts(room, stride));
            const REAL *from = x + top * of->x_strides[2] + left * of->x_strides[3];
            find_positions(of, 1, left, &at.left, &at.right);
            columns = tile_columns(inside);
            (columns == 1             ? pool_1
             : columns == FEW_COLUMNS ? pool_4
                                      : pool_8)(sums, of, &at, from, to + column * BLOCK);
        }
    }
}

/* The same for blocks that are not one vector, number by number. */
static void pool_singly(const void *context, const REAL *x, REAL *y, i64 block, i64 row, i64 end)
{
    const ag_pooling *of = context;
    const i64 size = of->block * IN_WORD; /* channels */
    i64 up, down, left, right;
    (void)block;
    for (; row < end; row++)
        for (i64 k = 0; k < of->counts[1] * size; k++) {
            const i64 top = row * of->stride[0] - of->before[0], start = k / size * of->stride[1] - of->before[1];
            REAL all = of->kind == AG_SUM ? 0 : -(REAL)__builtin_inf();
            i32 begun = 0;
            find_positions(of, 0, top, &up, &down);
            find_positions(of, 1, start, &left, &right);
            for (i64 i = up; i < down; i++)
                for (i64 j = left; j < right; j++, begun = 1) {
                    const REAL *from = x + (top + i * of->dilation[0]) * of->x_strides[2];
                    const REAL number = channel_at(from + (start + j * of->dilation[1]) * of->x_strides[3], k % size);
                    if (!begun) all = number;
                    else if (of->kind == AG_SUM) all += number;
                    else all = all >= number || all != all ? all : number;
                }
            if (of->low && *(const REAL *)of->low > all) all = *(const REAL *)of->low;
            if (of->high && *(const REAL *)of->high < all) all = *(const REAL *)of->high;
            store_channel(y + row * of->counts[1] * of->block, k, all);
        }
}

/* The tasks of a pool.  joined: room for strides. */
static by_blocks pool_tasks(const ag_pooling *of, i64 *joined)
{
    return (by_blocks){
        .function = of->block == BLOCK ? pool_rows : pool_singly,
        .of = of,
        .x = of->x,
        .x_strides = of->x_strides,
        .y = of->y,
        .images = of->images,
        .blocks = of->blocks,
        .rows = of->counts[0],
        .columns = of->counts[1],
        .total = of->counts[0] * of->counts[1],
        .after = epilogue_of(&of->after, of->y, of->images, of->blocks, of->counts, of->block, joined),
    };
}

static void pool(const ag_runtime *rt, const ag_pooling *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    by_blocks work = pool_tasks(of, joined);
    run_blocks(rt, &work, of->kernel[0] * of->kernel[1]);
    follow_all(rt, &of->after, &work.after);
}

#ifdef OF_PAIRS
/* A pool of words of two channels, in place of numbers of 16 bits, which lengths and strides of x count. */
static ag_pooling pooling_of_words(const ag_pooling *of)
{
    ag_pooling words = *of;
    words.block /= IN_WORD;
    for (int k = 0; k < 4; k++) words.x_strides[k] /= IN_WORD;
    return words;
}

/* The largest bfloat16 numbers. */
static void pool_words(const ag_runtime *rt, const ag_pooling *of)
{
    const ag_pooling words = pooling_of_words(of);
    pool(rt, &words);
}
#endif
#endif
