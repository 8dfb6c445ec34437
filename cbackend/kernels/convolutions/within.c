/* Groups of two, four or eight channels and as many outputs, in blocks that hold several.

   The number that a lane multiplies is one of its group's.  So one permutation of the numbers of a position gives the
   operand of all groups of a block, and no lane is multiplied by zeros.  Weights are stored in reading order:

       for each block, channel of a group, row and column of the kernel:  lanes

   Each number of y is the sum over channels, rows, columns, in this order.  OF_PAIRS: words of bfloat16 pairs take the
   place of channels. */
#pragma once
#include "direct.c"

#if !COMPLEX
/* Columns of x beyond the right border for the windows up to number `last`. */
static __attribute__((unused)) i64 beyond_right(const ag_convolution *of, i64 last)
{
    return at_least(0, last * of->stride[1] - of->before[1] + of->kernel[1] - of->lengths[1]);
}

#if defined(__AVX512F__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-schedule-insns2")
#endif

/* The numbers of a block of channels, or its words in the lower half and zeros above. */
INLINE vector block_at(const REAL *x)
{
#ifdef OF_PAIRS
    typedef struct block_of_words {
        i32 words[LANES / 2];
    } __attribute__((may_alias)) block_of_words;
    vector found;
    __asm__("vmovdqu32 %1, %t0" : "=v"(found) : "m"(*(const block_of_words *)x));
    return found;
#else
    return *(const unaligned *)x;
#endif
}

INLINE vector permuted(vector numbers, mask places)
{
    vector found;
    BY_WIDTH("vperm", "v"(places), "v"(numbers));
    return found;
}

/* sums + numbers * weights, lane by lane, or the products of pairs. */
INLINE vector plus_products(vector sums, vector numbers, vector weights)
{
#ifdef OF_PAIRS
    return add_pairs(sums, (pairs)numbers, (pairs)weights);
#else
    return sums + numbers * weights;
#endif
}

/* Places of number `channel`, or of that word, of groups of `channels`, by lane. */
INLINE mask places_of(i64 channels, i64 channel)
{
    const mask lane = __builtin_convertvector(*(const unaligned *)lane_numbers, mask);
    typedef __typeof__(lane[0]) number;
    return (lane & (number)(-IN_WORD * channels)) / IN_WORD + (number)channel;
}

/* A tile of columns of y. */
INLINE void sum_within(const int columns, const ag_convolution *of, const tile_place *at, const REAL *bias, REAL *y)
{
    const i64 next_row = of->dilation[0] * of->x_strides[2], next = of->dilation[1] * of->x_strides[3], step = at->step;
    vector sums[TILE_COLUMNS][TILE_VECTORS];
    i64 left, right;
    find_kernel_within(of, at, &left, &right);
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) sums[p][0] = *(const unaligned *)bias;
    for (i64 c = 0; c < of->channels; c++) {
        const mask places = places_of(of->channels, c);
        for (i64 i = at->top; i < at->bottom; i++)
            for (i64 j = left; j < right; j++) {
                const REAL *from = at->x + i * next_row + j * next;
                const REAL *w = at->w + ((c * of->kernel[0] + i) * of->kernel[1] + j) * LANES;
                const vector weights = *(const unaligned *)w;
#pragma GCC unroll 8
                for (int p = 0; p < columns; p++)
                    sums[p][0] = plus_products(sums[p][0], permuted(block_at(from + p * step), places), weights);
            }
    }
    finish_tile(columns, 1, AG_WITHIN, of, at, sums, y, LANES, LANES);
}

/* Whether column number `k`, of the `last` columns of x that windows of a tile read, is one of those beyond a border. */
INLINE i32 is_beyond(const int k, const int last, i64 left, i64 right)
{
    return (k < 2 && k < left) || (k > last - 3 && k >= last - right);
}

/* The same for kernels of three adjacent columns: the words of a column are permuted once for all windows that contain it.
   left, right: columns of x beyond the borders. */
INLINE void sum_three_within(const int columns, const int stride, const ag_convolution *of, const tile_place *at,
                             i64 left, i64 right, const REAL *bias, REAL *y)
{
    const i64 next_row = of->dilation[0] * of->x_strides[2], next = of->x_strides[3];
    const int last = (columns - 1) * stride + 3;
    vector sums[TILE_COLUMNS][TILE_VECTORS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) sums[p][0] = *(const unaligned *)bias;
    for (i64 c = 0; c < of->channels; c++) {
        const mask places = places_of(of->channels, c);
        for (i64 i = at->top; i < at->bottom; i++) {
            const REAL *from = at->x + i * next_row, *w = at->w + (c * of->kernel[0] + i) * 3 * LANES;
            vector spread[2 * TILE_COLUMNS + 1];
#pragma GCC unroll 17
            for (int k = 0; k < last; k++)
                spread[k] = is_beyond(k, last, left, right) ? (vector){0} : permuted(block_at(from + k * next), places);
#pragma GCC unroll 3
            for (int j = 0; j < 3; j++) {
                const vector weights = *(const unaligned *)(w + j * LANES);
#pragma GCC unroll 8
                for (int p = 0; p < columns; p++)
                    if (!is_beyond(p * stride + j, last, left, right))
                        sums[p][0] = plus_products(sums[p][0], spread[p * stride + j], weights);
            }
        }
    }
    finish_tile(columns, 1, AG_WITHIN, of, at, sums, y, LANES, LANES);
}

typedef void within_function(const ag_convolution *, const tile_place *, const REAL *, REAL *);
typedef void three_function(const ag_convolution *, const tile_place *, i64, i64, const REAL *, REAL *);
#define WITHIN_TILE(columns) \
    KERNEL within_tile_##columns(const ag_convolution *of, const tile_place *at, const REAL *bias, REAL *y) \
    { \
        sum_within(columns, of, at, bias, y); \
    } \
    KERNEL three_tile_1_##columns(const ag_convolution *of, const tile_place *at, i64 left, i64 right, \
                                  const REAL *bias, REAL *y) \
    { \
        sum_three_within(columns, 1, of, at, left, right, bias, y); \
    } \
    KERNEL three_tile_2_##columns(const ag_convolution *of, const tile_place *at, i64 left, i64 right, \
                                  const REAL *bias, REAL *y) \
    { \
        sum_three_within(columns, 2, of, at, left, right, bias, y); \
    }
#define WITHIN_NAMED(name) {name##_1, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7, name##_8}
WITHIN_TILE(1)
WITHIN_TILE(2)
WITHIN_TILE(3)
WITHIN_TILE(4)
WITHIN_TILE(5)
WITHIN_TILE(6)
WITHIN_TILE(7)
WITHIN_TILE(8)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

/* By columns; by stride and columns. */
static within_function *const within_tiles[TILE_COLUMNS] = WITHIN_NAMED(within_tile);
static three_function *const three_tiles[][TILE_COLUMNS] = {WITHIN_NAMED(three_tile_1), WITHIN_NAMED(three_tile_2)};

/* Whether `three_tiles` compute a convolution. */
static i32 has_three_tiles(const ag_convolution *of)
{
    return of->out_block == LANES && of->kernel[1] == 3 && of->dilation[1] == 1 && of->stride[1] <= 2
           && of->before[1] < 3 && beyond_right(of, of->counts[1] - 1) < 3;
}
#endif

/* The same tile, number by number: for vectors that are no block of 16 numbers. */
static void within_by_numbers(const ag_convolution *of, const tile_place *at, i64 columns, const REAL *bias, REAL *y)
{
    const i64 words = of->channels, width = of->out_block;
    i64 left, right;
    find_kernel_within(of, at, &left, &right);
    for (i64 p = 0; p < columns; p++)
        for (i64 o = 0; o < width; o++) {
            REAL sum = bias[o];
            for (i64 k = 0; k < words; k++)
                for (i64 i = at->top; i < at->bottom; i++)
                    for (i64 j = left; j < right; j++) {
                        const REAL *from = at->x + i * of->dilation[0] * of->x_strides[2]
                                           + j * of->dilation[1] * of->x_strides[3] + p * at->step
                                           + o / (IN_WORD * words) * words + k;
                        const REAL *w = at->w + ((k * of->kernel[0] + i) * of->kernel[1] + j) * width + o;
                        sum = plus_number(sum, from, w);
                    }
            finish_number(of, at, p * width + o, sum, y + p * width + o);
        }
}

/* The first `count` columns of one row of y, in tiles; borders are met column by column. */
static void sum_row_within(const direct *work, strip *part, i64 row, i64 count)
{
    const ag_convolution *of = part->of;
    const i64 start = work->flat ? 0 : row * of->stride[0] - of->before[0],
              before = work->flat ? row * work->columns : 0;
    tile_place at = place_row(work, part, start);
    i64 inside, outside;
    find_inside(work, count, &inside, &outside);
    at.w = part->w;
#if defined(__AVX512F__)
    const i64 tiles = has_three_tiles(of) ? parts(count, TILE_COLUMNS) : 0, stride = of->stride[1];
    for (i64 t = 0; t < tiles; t++) {
        const i64 first = begin_of(count, tiles, t), end = begin_of(count, tiles, t + 1);
        const i64 place = (row * work->columns + first) * part->width, left = of->before[1] - first * stride;
        at.x = part->x + start * of->x_strides[2] - left * work->spacing;
        at.added = part->added ? part->added + place : 0;
        at.rounded = part->rounded ? part->rounded + place : 0;
        three_tiles[stride - 1][end - first - 1](of, &at, at_least(0, left), beyond_right(of, end - 1), part->bias,
                                                 part->y + place);
    }
    if (tiles) return;
#endif
    for (i64 column = 0, columns; column < count; column += columns) {
        at.inside = column >= inside && column < outside;
        const i64 rest = outside - column, place = (row * work->columns + column) * part->width;
        columns = at.inside ? parts(rest, parts(rest, TILE_COLUMNS)) : 1;
        at.column = (before + column) * of->stride[1] - of->before[1];
        at.x = part->x + start * of->x_strides[2] + at.column * work->spacing;
        at.added = part->added ? part->added + place : 0;
        at.rounded = part->rounded ? part->rounded + place : 0;
#if defined(__AVX512F__)
        if (part->width == LANES) {
            within_tiles[columns - 1](of, &at, part->bias, part->y + place);
            continue;
        }
#endif
        within_by_numbers(of, &at, columns, part->bias, part->y + place);
    }
}
#endif
