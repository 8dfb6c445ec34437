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
typedef i64 places __attribute__((vector_size(TILE_COLUMNS * sizeof(i64))));
typedef __UINTPTR_TYPE__ address;
typedef struct window_places {
    places from[MOST_PLACES], next[MOST_PLACES];
} window_places;

/* Whether `sum_blocks` can add the blocks of a tile: whole ones, and kernels of few positions. */
INLINE i32 has_whole_blocks(const ag_convolution *of, const tile_place *at, const int vectors)
{
    return of->block == BLOCK && at->last * BLOCK <= of->channels && at->width == vectors * LANES
           && of->kernel[0] * of->kernel[1] <= MOST_PLACES;
}

/* Fill the table; beyond the borders of x are zeros.  Returns the number of positions. */
INLINE i64 find_window_places(const int columns, const ag_convolution *of, const tile_place *at, window_places *found)
{
    const places number = {0, 1, 2, 3, 4, 5, 6, 7}, next = of->x_strides[1] * (i64)sizeof(REAL) - (places){0};
    const places zeros = (i64)(address)at->zeros - (places){0}, first = number * of->stride[1] + at->column;
    places begin = number * at->step;
    i64 n = 0;
    if (at->places)
        for (int p = 0; p < columns; p++) begin[p] = at->places[p];
    begin = begin * (i64)sizeof(REAL) + (i64)(address)(at->x + at->first * of->x_strides[1]);
    for (i64 i = at->top; i < at->bottom; i++) {
        const i32 outside = i < at->above || i >= at->below;
        const i64 row = i * of->dilation[0] * of->x_strides[2] * (i64)sizeof(REAL);
        for (i64 j = 0; j < of->kernel[1]; j++, n++) {
            const i64 shift = j * of->dilation[1];
            places within = (places){0} == 0;
            if (!at->inside) within = (first + shift >= 0) & (first + shift < of->lengths[1]);
            if (outside) within = (places){0};
            const places there = begin + (row + shift * of->x_strides[3] * (i64)sizeof(REAL));
            found->from[n] = (within & there) | (~within & zeros);
            found->next[n] = within & next;
        }
    }
    return n;
}

/* sums += whole blocks of channels of each column times the rows of weights.  Its loops have little but loads and
   multiplications: where two of these start in each cycle, an addition beside them takes the place of one. */
INLINE void sum_blocks(const int columns, const int vectors, const ag_convolution *of, const tile_place *at,
                       vector sums[][TILE_VECTORS])
{
    window_places table;
    const i64 count = find_window_places(columns, of, at, &table), deep = BLOCK * vectors * LANES;
    const REAL *w = at->w + (at->first * of->kernel[0] + at->top) * of->kernel[1] * deep;
    const i64 skipped = (of->kernel[0] * of->kernel[1] - count) * deep;
    const char *ahead = at->ahead;
    for (i64 b = at->first; b < at->last; b++, w += skipped)
        for (i64 n = 0; n < count; n++) {
            const REAL *from[TILE_COLUMNS];
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) from[p] = (const REAL *)(address)table.from[n][p];
            table.from[n] += table.next[n];
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

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
#endif
