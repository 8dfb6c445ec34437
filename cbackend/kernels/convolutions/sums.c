/* Sums of tiles number by number of a window: of any blocks of channels, of channels with kernels of their own, of listed
   groups; see direct.c. */
#pragma once
#include "whole_blocks.c"

#if !COMPLEX
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", \
                     "no-tree-vrp", "no-schedule-insns2")
#endif

/* sums += each column's numbers of x times the rows of weights. */
INLINE void sum_columns(const int columns, const int vectors, const ag_convolution *of, const tile_place *at,
                        vector sums[][TILE_VECTORS])
{
    /* If channels are not adjacent, one loop reads a row of the kernel, or all channels of a kernel of one position. */
    const i32 is_alone = of->block == 1 && at->inside && at->above <= at->top && at->below >= at->bottom;
    const i32 by_channels = is_alone && of->kernel[0] * of->kernel[1] == 1 && at->top < at->bottom;
    const i32 by_rows = is_alone && !by_channels && of->dilation[1] == 1 && of->x_strides[3] == 1;
    const i64 rows = of->kernel[0], positions = by_rows ? 1 : of->kernel[1];
    const i64 between = by_channels ? of->x_strides[1] : 1, last = by_channels ? at->first + 1 : at->last;
    const i64 lines = by_channels ? at->lines * (at->last - at->first) : at->lines;
    const char *ahead = at->ahead;
    for (i64 b = at->first; b < last; b++) {
        const i64 deep = at_most(of->block, of->channels - b * of->block);
        const i64 channels = by_channels ? at->last - at->first : by_rows ? of->kernel[1] : deep;
        const REAL *w = at->w + (b * of->block * rows + at->top * deep) * of->kernel[1] * at->width;
        for (i64 i = at->top; i < at->bottom; i++)
            for (i64 j = 0; j < positions; j++) {
                const REAL *from[TILE_COLUMNS];
                const i64 shift = j * of->dilation[1];
                find_columns(columns, of, at,
                             b * of->x_strides[1] + i * of->dilation[0] * of->x_strides[2] + shift * of->x_strides[3],
                             shift, from);
                if (i < at->above || i >= at->below)
                    for (int p = 0; p < columns; p++) from[p] = at->zeros;
                if (lines)
                    for (i64 line = 0; line < lines; line++, ahead += LINE_BYTES) __builtin_prefetch(ahead, 0, 2);
                i64 c = 0;
#pragma GCC unroll 1
                for (i64 left = channels; left > 0; left--, c += between, w += at->width)
                    add_channel(columns, vectors, from, c, w, sums);
            }
    }
}

/* Columns [left, right) of the kernel lie within x for the windows of a tile. */
INLINE void find_kernel_within(const ag_convolution *of, const tile_place *at, i64 *left, i64 *right)
{
    const i64 dilation = of->dilation[1], positions = of->kernel[1];
    *left = 0, *right = positions;
    if (at->inside) return;
    *left = at->column < 0 ? at_most(parts(-at->column, dilation), positions) : 0;
    *right = at_most(positions, at_least(*left, parts(of->lengths[1] - at->column, dilation)));
}

/* sums += x times weights, channel by channel, for columns whose windows lie within x but for columns [left, right) of the
   kernel.  Pointers are recomputed: there are too few registers. */
INLINE void sum_depthwise(const int columns, const ag_convolution *of, const tile_place *at,
                          vector sums[][TILE_VECTORS])
{
    const i64 positions = of->kernel[1];
    i64 left, right;
    find_kernel_within(of, at, &left, &right);
    const i64 next_row = of->dilation[0] * of->x_strides[2], next = of->dilation[1] * of->x_strides[3], step = at->step;
    for (i64 i = at->top; i < at->bottom; i++) {
        const REAL *from = at->x + i * next_row + left * next, *w = at->w + (i * positions + left) * at->width;
        for (i64 j = left; j < right; j++, from += next, w += at->width) {
            const vector factor = *(const unaligned *)w;
            const REAL *number = from;
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++, number += step) sums[p][0] += channels_at(number) * factor;
        }
    }
}

/* sums += the channels of a listed group times rows of weights, for columns as in `sum_depthwise`. */
INLINE void sum_listed(const int columns, const int vectors, const ag_convolution *of, const tile_place *at,
                       vector sums[][TILE_VECTORS])
{
    const i64 channels = of->channels;
    i64 left, right;
    find_kernel_within(of, at, &left, &right);
    for (i64 i = at->top; i < at->bottom; i++)
        for (i64 j = left; j < right; j++) {
            const REAL *from[TILE_COLUMNS], *w = at->w + (i * of->kernel[1] + j) * channels * at->width;
            const i64 place = i * of->dilation[0] * of->x_strides[2] + j * of->dilation[1] * of->x_strides[3];
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) from[p] = at->x + place + p * at->step;
#pragma GCC unroll 1
            for (i64 c = 0; c < channels; c++, w += at->width)
                add_channel(columns, vectors, from, at->offsets[c], w, sums);
        }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#endif
