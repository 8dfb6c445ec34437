/* Groups of two, four or eight channels and as many outputs, in blocks that hold several: words of bfloat16 pairs.

   The word that a lane multiplies is one of its group's.  So one permutation of the words of a position gives the operand of
   all groups of a block, and no lane is multiplied by zeros.  Weights are stored in reading order:

       for each block, row and column of the kernel, word of a group:  lanes

   Each number of y is the sum over rows, columns, words, in this order. */
#pragma once
#include "direct.c"

#ifdef OF_PAIRS
#if defined(__AVX512F__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-schedule-insns2")
#endif

/* The words of a block of channels in the lower half, zeros above. */
INLINE pairs words_at(const REAL *x)
{
    typedef struct block_of_words {
        i32 words[LANES / 2];
    } __attribute__((may_alias)) block_of_words;
    pairs found;
    __asm__("vmovdqu32 %1, %t0" : "=v"(found) : "m"(*(const block_of_words *)x));
    return found;
}

INLINE pairs permuted(pairs words, pairs places)
{
    pairs found;
    __asm__("vpermd %1, %2, %0" : "=v"(found) : "v"(words), "v"(places));
    return found;
}

/* A tile of columns of y, for groups of `words` words. */
INLINE void sum_within(const int columns, const int words, const ag_convolution *of, const tile_place *at,
                       const REAL *bias, REAL *y)
{
    const i64 next_row = of->dilation[0] * of->x_strides[2], next = of->dilation[1] * of->x_strides[3], step = at->step;
    const pairs lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, first = lane / (2 * words) * words;
    vector sums[TILE_COLUMNS][TILE_VECTORS];
    i64 left, right;
    find_kernel_within(of, at, &left, &right);
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) sums[p][0] = *(const unaligned *)bias;
    for (i64 i = at->top; i < at->bottom; i++) {
        const REAL *from = at->x + i * next_row + left * next;
        const REAL *w = at->w + (i * of->kernel[1] + left) * words * LANES;
        for (i64 j = left; j < right; j++, from += next) {
            pairs numbers[TILE_COLUMNS];
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) numbers[p] = words_at(from + p * step);
#pragma GCC unroll 4
            for (int k = 0; k < words; k++, w += LANES) {
                const pairs weights = (pairs) * (const unaligned *)w;
#pragma GCC unroll 8
                for (int p = 0; p < columns; p++)
                    sums[p][0] = add_pairs(sums[p][0], permuted(numbers[p], first + k), weights);
            }
        }
    }
    finish_tile(columns, 1, AG_WITHIN, of, at, sums, y, LANES, LANES);
}

typedef void within_function(const ag_convolution *, const tile_place *, const REAL *, REAL *);
#define WITHIN_TILE(columns, words) \
    KERNEL within_tile_##words##_##columns(const ag_convolution *of, const tile_place *at, const REAL *bias, REAL *y) \
    { \
        sum_within(columns, words, of, at, bias, y); \
    }
#define WITHIN_TILES(words) \
    WITHIN_TILE(1, words) \
    WITHIN_TILE(2, words) \
    WITHIN_TILE(3, words) \
    WITHIN_TILE(4, words) \
    WITHIN_TILE(5, words) \
    WITHIN_TILE(6, words) \
    WITHIN_TILE(7, words) \
    WITHIN_TILE(8, words)
#define WITHIN_NAMED(words) \
    {within_tile_##words##_1, within_tile_##words##_2, within_tile_##words##_3, within_tile_##words##_4, \
     within_tile_##words##_5, within_tile_##words##_6, within_tile_##words##_7, within_tile_##words##_8}
WITHIN_TILES(1)
WITHIN_TILES(2)
WITHIN_TILES(4)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

/* By half the words; columns. */
static within_function *const within_tiles[][TILE_COLUMNS] = {WITHIN_NAMED(1), WITHIN_NAMED(2), WITHIN_NAMED(4)};
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
            for (i64 i = at->top; i < at->bottom; i++)
                for (i64 j = left; j < right; j++) {
                    const REAL *from = at->x + i * of->dilation[0] * of->x_strides[2]
                                       + j * of->dilation[1] * of->x_strides[3] + p * at->step
                                       + o / (IN_WORD * words) * words;
                    const REAL *w = at->w + (i * of->kernel[1] + j) * words * width + o;
                    for (i64 k = 0; k < words; k++) sum = plus_number(sum, from + k, w + k * width);
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
            within_tiles[of->channels / 2][columns - 1](of, &at, part->bias, part->y + place);
            continue;
        }
#endif
        within_by_numbers(of, &at, columns, part->bias, part->y + place);
    }
}
#endif
