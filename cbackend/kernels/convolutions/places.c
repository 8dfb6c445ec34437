/* Strips, tiles and windows of direct convolutions, and the product of a number of x and weights; see direct.c. */
#pragma once
#include "packing.c"

#if !COMPLEX
/* A number of x times weights, added to sums.  OF_PAIRS: both are pairs of bfloat16 numbers; see words.c.  The weights of
   depthwise convolutions are floats in any case: `channels_at` is LANES adjacent channels of x. */
#ifdef OF_PAIRS
#include "../products/halves.c"
enum { IN_WORD = 2 }; /* channels of x in a REAL */
INLINE vector plus_product(vector sums, const REAL *x, vector weights)
{
    return add_pairs(sums, (*(const number_bits *)x - (pairs){0}), (pairs)weights);
}
INLINE REAL plus_number(REAL sum, const REAL *x, const REAL *weight)
{
    const pairs word = {*(const number_bits *)weight};
    return plus_product((vector){sum}, x, (vector)word)[0];
}
INLINE vector channels_at(const REAL *x) { return widened_halves((const half *)x); }
INLINE REAL half_at(const half *x)
{
    const union {
        unsigned bits;
        REAL number;
    } found = {(unsigned)*x << 16};
    return found.number;
}
INLINE REAL channel_at(const REAL *x, i64 channel) { return half_at((const half *)x + channel); }
#else
enum { IN_WORD = 1 };
typedef unsigned short half;
INLINE vector plus_product(vector sums, const REAL *x, vector weights)
{
    const vector number = *x - (vector){0};
#if defined(__AVX512F__) /* the form that overwrites its sum: gcc also takes others, and moves sums between registers */
    if (sizeof(REAL) == 4) __asm__("vfmadd231ps %2, %1, %0" : "+v"(sums) : "v"(weights), "v"(number));
    else __asm__("vfmadd231pd %2, %1, %0" : "+v"(sums) : "v"(weights), "v"(number));
    return sums;
#else
    return sums + number * weights;
#endif
}
INLINE REAL plus_number(REAL sum, const REAL *x, const REAL *weight) { return sum + *x * *weight; }
INLINE vector channels_at(const REAL *x) { return *(const unaligned *)x; }
INLINE REAL channel_at(const REAL *x, i64 channel) { return x[channel]; }
INLINE REAL half_at(const half *x) { return (REAL)*x; } /* not called */
INLINE half nearest_half(REAL x) { return (half)x; }
#endif

#if defined(__AVX512F__)
enum { TILE_VECTORS = 4 };
#else
enum { TILE_VECTORS = 2 };
#endif
enum {
    BLOCK = LANES / IN_WORD,
    UNROLLED = BLOCK < 8 ? BLOCK : 8
}; /* numbers of x in a whole block; in a step of its loop */
enum { MOST_PLACES = 49, MOST_TAPS = 4 * MOST_PLACES };             /* positions of a kernel in a table; numbers */
enum { TILE_COLUMNS = 8, TILE_SUMS = TILE_VECTORS == 4 ? 24 : 12 }; /* the most columns; vectors of sums */
enum { WEIGHTS_NEAR = 1 << 17 };                                    /* bytes of weights per read of a strip */

/* The sums that a task computes: rows [row, end) of panel number `panel` of one image. */
typedef struct strip {
    const ag_convolution *of;
    const REAL *x, *w, *bias;
    REAL *y;
    const half *added;     /* NULL, or numbers in the places of y that are added to complete sums ... */
    half *rounded;         /* ... and where these are stored as bfloat16 */
    i64 step, halves_step; /* from a block of y to the next; of added and rounded */
    i64 row, end, width;   /* width: of the panel */
    i64 group, block;      /* block: of y, the panel's first one */
    i64 begin;             /* the panel's first output behind y, bias; w begins with it */
    i64 left, right;       /* of a listed group: its outputs, from the first block on */
    const i64 *offsets;    /* of a listed group: where its channels lie */
    i64 first, last;       /* blocks of channels added in this pass */
    const i64 *taps;       /* NULL, or where each number of a window lies, if channels are not adjacent */
    const char *ahead;     /* weights of the next blocks: their cache lines are prefetched ... */
    i64 lines;             /* ... so many at each position of a kernel */
} strip;

/* A tile: `columns` columns of a row, and the vectors of a panel from one on. */
typedef struct tile_place {
    const REAL *x, *w, *zeros;
    i64 column, step;  /* of x: the first one's window begins there; from one window to the next */
    const i64 *places; /* NULL, or where each window begins behind x: steps differ */
    i64 top, bottom;   /* rows of the kernel that are read ... */
    i64 above, below;  /* ... and those of them that lie within x; the others meet zeros */
    i64 first, last, width;
    const half *added; /* NULL, or what the first column adds; see strip */
    half *rounded;
    i64 halves_step;
    const char *ahead; /* see strip */
    i64 lines;
    i32 is_last;        /* the sums are complete */
    i32 inside;         /* no window reaches over the left or right border */
    i64 left, right;    /* of a listed group: outputs [left, right) are written */
    const i64 *offsets; /* of a listed group: where its channels lie */
    const i64 *taps;    /* NULL, or where each number of a window lies, which is all within x */
} tile_place;

/* Sizes and tiling of a convolution, computed once. */
typedef struct direct {
    const ag_runtime *rt;
    const ag_convolution *of;
    i64 panels, strips;               /* of outputs; of rows */
    i64 rows, columns, total, height; /* rows of `columns` of `total` columns; height: rows of a strip */
    i64 spacing, position; /* numbers from one column of x to the next; numbers of x for a position of the kernel */
    i32 flat;              /* kernels of one position: rows of y are segments of all its columns ... */
    i32 jumps;             /* ... whose windows are not all as far from each other */
    i32 by_strips;         /* the tasks of a strip are neighbours, else those of a panel */
    epilogue after;
    strip_slots *slots;  /* NULL, or those of strips of y */
    const i64 *offsets;  /* NULL, or where the channels of all groups lie, from an image and a position on */
    i64 bundle;          /* then: groups of a task, which share no block of outputs with others */
    i32 whole;           /* rows beyond the borders are read: weights are not all finite */
    struct tiled *tiles; /* NULL, or strips are computed in the order of tiles: see tiles.c */
} direct;

/* Whether each output has a channel of its own. */
INLINE i32 is_depthwise(const ag_convolution *of) { return of->kind == AG_DEPTHWISE; }

static const REAL no_numbers[4 * 64] __attribute__((aligned(64)));

/* The numbers of x for the columns of a tile at one position of the kernel; zeros beyond the border. */
INLINE void find_columns(const int columns, const ag_convolution *of, const tile_place *at, i64 offset, i64 shift,
                         const REAL **from)
{
    if (at->places) {
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) from[p] = at->x + offset + at->places[p];
        return;
    }
    if (at->inside) {
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) from[p] = at->x + offset + p * at->step;
        return;
    }
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) {
        const i64 column = at->column + shift + p * of->stride[1];
        from[p] = column >= 0 && column < of->lengths[1] ? at->x + offset + p * at->step : at->zeros;
    }
}
#endif
