/* Sums of tiles over whole blocks of channels, of which a table has the addresses: most of the work of direct.c. */
#pragma once
#include "places.c"

#if !COMPLEX
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", \
                     "no-tree-vrp", "no-schedule-insns2")
#endif

/* Addresses of the numbers of x for the columns of a tile, for each position of the kernel that is read, and how far they
   move from a block of channels to the next. */
typedef __INTPTR_TYPE__ address;
typedef address places __attribute__((vector_size(TILE_COLUMNS * sizeof(address))));
typedef struct window_places {
    places from[MOST_PLACES], next[MOST_PLACES];
} window_places;

/* Whether `sum_blocks` can add the blocks of a tile: whole ones, and kernels of few positions.  Modules of WebAssembly are
   loaded over a network, and are smaller without it. */
#ifdef __wasm__
enum { TABLES = 0 };
#else
enum { TABLES = 1 };
#endif
INLINE i32 has_whole_blocks(const ag_convolution *of, const tile_place *at, const int vectors)
{
    return TABLES && of->block == BLOCK && at->last * BLOCK <= of->channels && at->width == vectors * LANES
           && of->kernel[0] * of->kernel[1] <= MOST_PLACES;
}

/* Fill the table; beyond the borders of x are zeros.  Returns the number of positions. */
static __attribute__((noinline)) i64 find_window_places(int columns, const ag_convolution *of, const tile_place *at,
                                                        window_places *found)
{
    const places none = {0}, number = {0, 1, 2, 3, 4, 5, 6, 7}, zeros = none + (address)at->zeros;
    const address column = (address)at->column, stride = (address)of->stride[1], length = (address)of->lengths[1];
    const address size = (address)sizeof(REAL), down = (address)of->x_strides[2] * size;
    const address across = (address)of->x_strides[3] * size, next = (address)of->x_strides[1] * size;
    places begin = number * (address)at->step;
    i64 n = 0;
    if (at->places)
        for (int p = 0; p < columns; p++) begin[p] = (address)at->places[p];
    begin = begin * size + (address)(at->x + at->first * of->x_strides[1]);
    for (i64 i = at->top; i < at->bottom; i++) {
        const i32 outside = i < at->above || i >= at->below;
        const address row = (address)(i * of->dilation[0]) * down;
        for (i64 j = 0; j < of->kernel[1]; j++, n++) {
            const address shift = (address)(j * of->dilation[1]);
            const places from = number * stride + (column + shift), there = begin + (row + shift * across);
            places within = none == 0;
            if (!at->inside) within = (from >= 0) & (from < length);
            if (outside) within = none;
            found->from[n] = (within & there) | (~within & zeros);
            found->next[n] = within & next;
        }
    }
    return n;
}

/* sums += whole blocks of channels of each column times the rows of weights, at `count` positions.  Its loops have little but loads and
   multiplications: where two of these start in each cycle, an addition beside them takes the place of one. */
INLINE void sum_blocks(const int columns, const int vectors, const ag_convolution *of, const tile_place *at,
                       window_places *table, i64 count, vector sums[][TILE_VECTORS])
{
    const i64 deep = BLOCK * vectors * LANES;
    const REAL *w = at->w + (at->first * of->kernel[0] + at->top) * of->kernel[1] * deep;
    const i64 skipped = (of->kernel[0] * of->kernel[1] - count) * deep;
    const char *ahead = at->ahead;
    for (i64 b = at->first; b < at->last; b++, w += skipped)
        for (i64 n = 0; n < count; n++) {
            const REAL *from[TILE_COLUMNS];
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) from[p] = (const REAL *)(address)table->from[n][p];
            table->from[n] += table->next[n];
            for (i64 line = 0; line < at->lines; line++, ahead += LINE_BYTES) __builtin_prefetch(ahead, 0, 2);
#pragma GCC unroll 1
            for (int c = 0; c < BLOCK; c += UNROLLED, w += UNROLLED * vectors * LANES)
#pragma GCC unroll 16
                for (int u = 0; u < UNROLLED; u++) {
                    vector right[TILE_VECTORS];
#pragma GCC unroll 4
                    for (int v = 0; v < vectors; v++) {
                        right[v] = *(const unaligned *)(w + (u * vectors + v) * LANES);
                        KEEP(right[v]);
                    }
#pragma GCC unroll 8
                    for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
                        for (int v = 0; v < vectors; v++) {
                            sums[p][v] = plus_product(sums[p][v], from[p] + c + u, right[v]);
                            KEEP(sums[p][v]);
                        }
#pragma GCC unroll 4
                    for (int v = 0; v < vectors; v++) KEEP(right[v]);
                }
        }
}

/* Where each number of a window lies whose channels are not adjacent, as in an image; NULL if there are too many. */
static const i64 *find_taps(const ag_convolution *of, i64 *taps)
{
    const i64 rows = of->kernel[0], columns = of->kernel[1], *strides = of->x_strides;
    i64 n = 0;
    if (!TABLES || of->kind != AG_DENSE || of->block != 1 || of->channels * rows * columns > MOST_TAPS) return 0;
    for (i64 c = 0; c < of->channels; c++)
        for (i64 i = 0; i < rows; i++)
            for (i64 j = 0; j < columns; j++)
                taps[n++] = c * strides[1] + i * of->dilation[0] * strides[2] + j * of->dilation[1] * strides[3];
    return taps;
}

/* sums += the number of each column at an offset times a row of weights. */
INLINE void add_channel(const int columns, const int vectors, const REAL *const *from, i64 offset, const REAL *w,
                        vector sums[][TILE_VECTORS])
{
    vector right[TILE_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        right[v] = *(const unaligned *)(w + v * LANES);
        KEEP(right[v]);
    }
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[p][v] = plus_product(sums[p][v], from[p] + offset, right[v]);
}

/* sums += the numbers of whole windows times the rows of weights, in one loop. */
INLINE void sum_taps(const int columns, const int vectors, const ag_convolution *of, const tile_place *at,
                     vector sums[][TILE_VECTORS])
{
    const REAL *from[TILE_COLUMNS], *w = at->w;
    const i64 *tap = at->taps;
    find_columns(columns, of, at, 0, 0, from);
#pragma GCC unroll 1
    for (i64 left = of->channels * of->kernel[0] * of->kernel[1]; left > 0; left--, tap++, w += at->width)
        add_channel(columns, vectors, from, *tap, w, sums);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#endif
