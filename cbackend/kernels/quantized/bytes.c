/* Sums of products of bytes, in 32 bits and without error: convolutions in blocks of channels.  products.c has those of
   matrices.

   Four channels of x, side by side, are one word; it is multiplied by four weights of each output and their sum is added
   to that of the output, which is one instruction where the processor has it (VNNI, or the dot products of Armv8.6).
   x may have a sign or none; weights have one.  Such instructions take x without a sign: for others the sign bit is
   flipped, which adds 128 to each number and 128 times the sum of its weights to an output, and this is taken back.
   The dot product of Armv8.2 takes x with a sign (TAKES_SIGNED), so there numbers without one are flipped.

       x          images, blocks, rows, columns, `block` channels (a multiple of 4)
       weights    for each panel of outputs, for each block, row and column of the kernel, four channels: outputs, 4
                  (`chunk` channels at a time instead of a block, zeros after the last, where tiles of AMX multiply)
       y          images, blocks of LANES outputs or a multiple, positions, outputs; or as y_strides say

   Sums are exact, so tiles, tasks and threads do not change them.  What becomes of a sum is of->kind: see finish_of. */
#pragma once
#include "lanes.c"

enum { AG_SUMS, AG_FLOATS, AG_BYTES, AG_FIXED }; /* kinds of results of ag_byte_sums */
enum { AG_UNSIGNED, AG_SIGNED, AG_REAL };        /* kinds of what is added to them */

#if defined(__AVX512F__)
enum { TILE_COLUMNS = 6, FEW_COLUMNS = 6 };
#else
enum { TILE_COLUMNS = 6, FEW_COLUMNS = 4 };
#endif
enum { SEGMENT = 96, MOST_BLOCK = 64 }; /* columns of a row of 1 x 1; bytes of `around` */
enum { MOST_WIDTH = 5 };                /* of kernels that slide */
enum { MOST_COLUMNS = 8 };              /* of any tile */
enum { AHEAD = 16 };                    /* rows of weights that are asked for */
enum { TASK = 1 << 22 };                /* multiplications that are worth a task */

/* The products of a word of x, in all lanes, and the words of a vector of weights are added to sums. */
#if defined(__AVX512VNNI__)
typedef vector weights;
#define AS_WEIGHTS(w) (w)
INLINE vector add_products(vector sum, vector x, weights w)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
    return sum;
}
#elif defined(__AVXVNNI__)
typedef vector weights;
#define AS_WEIGHTS(w) (w)
INLINE vector add_products(vector sum, vector x, weights w)
{
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(w));
    return sum;
}
#elif defined(__ARM_FEATURE_MATMUL_INT8)
typedef vector weights;
#define AS_WEIGHTS(w) (w)
INLINE vector add_products(vector sum, vector x, weights w)
{
    __asm__("usdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(w));
    return sum;
}
#elif defined(__ARM_FEATURE_DOTPROD)
#define TAKES_SIGNED 1
typedef vector weights;
#define AS_WEIGHTS(w) (w)
INLINE vector add_products(vector sum, vector x, weights w)
{
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(w));
    return sum;
}
#elif defined(__AVX512BW__) || (defined(__AVX2__) && !defined(__AVX512F__)) || (defined(__SSE2__) && !defined(__AVX__))
/* Even and odd bytes in 16 bits each: their products, added in pairs, are exact. */
typedef struct weights {
    vector even, odd;
} weights;
typedef short shorts __attribute__((vector_size(VECTOR_BYTES)));
INLINE weights as_weights(vector w) { return (weights){(vector)((shorts)(w << 8) >> 8), (vector)((shorts)w >> 8)}; }
#define AS_WEIGHTS(w) as_weights(w)
INLINE vector multiply_pairs(vector a, vector b)
{
#if defined(__AVX__)
    __asm__("vpmaddwd %1, %0, %0" : "+v"(a) : "v"(b));
#else
    __asm__("pmaddwd %1, %0" : "+x"(a) : "x"(b));
#endif
    return a;
}
INLINE vector add_products(vector sum, vector x, weights w)
{
    typedef unsigned short wide __attribute__((vector_size(VECTOR_BYTES)));
    const vector even = x & 0x00ff00ff, odd = (vector)((wide)x >> 8);
    return sum + multiply_pairs(even, w.even) + multiply_pairs(odd, w.odd);
}
#else
typedef vector weights;
#define AS_WEIGHTS(w) (w)
INLINE vector add_products(vector sum, vector x, weights w)
{
    sum += (x & 255) * (w << 24 >> 24) + (x >> 8 & 255) * (w << 16 >> 24);
    return sum + (x >> 16 & 255) * (w << 8 >> 24) + (x >> 24 & 255) * (w >> 24);
}
#endif

#ifndef TAKES_SIGNED
#define TAKES_SIGNED 0
#endif

/* A number of x below 256 and a weight of each channel. */
INLINE vector add_product(vector sum, vector x, vector w)
{
#if defined(__AVX512VNNI__)
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
    return sum;
#else
    return sum + x * w;
#endif
}

/* Sizes and tiling of a call, computed once. */
typedef struct byte_work {
    const ag_byte_sums *of;
    i64 panels, strips;
    i64 rows, columns, total, height; /* rows of `columns` of `total` positions; height: rows of a strip */
    i64 left, right;                  /* windows from `left` on and before `right` reach over no border of a row */
    i32 flat;                         /* kernels of one position: rows are segments of all positions */
    i32 by_strips;                    /* the tasks of a strip are neighbours, else those of a panel */
    i32 is_narrow;                    /* sums become bytes in registers */
    i32 by_tiles;                     /* tiles multiply, which take x with a sign or without: nothing is flipped */
    i32 adds_nothing;                 /* the number beyond the borders is a 0 */
    vector flipped;                   /* the bits of x that are flipped */
    vector zero, more_flipped;        /* of y; the bits of what is added to it that are flipped */
    floats low, high;                 /* where y is cut off, less the zero point */
    byte around[MOST_BLOCK];          /* what lies beyond the borders of x */
} byte_work;

/* A tile: positions of y next to each other, and outputs from number `output` on, of a panel of `width`. */
typedef struct byte_tile {
    const byte *x, *w;
    i64 column, step; /* of x: the first one's window begins there; bytes from one window to the next */
    i64 top, bottom;  /* rows of the kernel that add something */
    i64 first, last;  /* those that lie within x */
    i64 image, output, width;
    i32 inside; /* no window reaches over the left or right border */
} byte_tile;

/* Whether the sign bits of x are flipped.  Kernels of own channels take numbers without a sign everywhere. */
INLINE i32 is_flipped(const ag_byte_sums *of) { return (of->is_signed != 0) != (TAKES_SIGNED && !of->own); }

/* Channels that a panel of weights has at a position of the kernel. */
INLINE i64 weights_deep(const ag_byte_sums *of)
{
    const i64 deep = of->in_blocks * of->block;
    return of->chunk ? parts(deep, of->chunk) * of->chunk : deep;
}

/* The weights of a block of channels at a row of the kernel, from those of the panel on, whose words are `row` bytes; and
   bytes from a position to the next. */
INLINE const byte *weights_at(const ag_byte_sums *of, const byte *w, i64 b, i64 i, i64 row, i64 *next)
{
    const i64 chunk = of->chunk > of->block ? of->chunk : of->block, first = b * of->block;
    *next = chunk / 4 * row;
    return w + (first / chunk * of->kernel[0] + i) * of->kernel[1] * *next + first % chunk / 4 * row;
}

/* The outputs of panel number `panel`: the first block and how many. */
INLINE i64 first_block(const byte_work *work, i64 panel) { return begin_of(work->of->blocks, work->panels, panel); }

/* The channels that the windows of a tile meet in a block, at one row and column of the kernel. */
INLINE void find_words(const int columns, const byte_work *work, const byte_tile *at, i64 b, i64 i, i64 j,
                       const byte **from)
{
    const ag_byte_sums *of = work->of;
    const i64 shift = j * of->dilation[1];
    const byte *x = at->x + b * of->x_strides[1] + i * of->dilation[0] * of->x_strides[2] + shift * of->x_strides[3];
    const i32 within = i >= at->first && i < at->last;
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) {
        const i64 column = at->column + shift + p * of->stride[1];
        from[p] = within && (at->inside || (column >= 0 && column < of->lengths[1])) ? x + p * at->step : work->around;
    }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", "no-schedule-insns2")
#endif

/* All sums of a tile, row by row, are added to those in registers. */
INLINE void accumulate(const int columns, const int vectors, const byte_work *work, const byte_tile *at,
                       vector sums[][TILE_VECTORS])
{
    const ag_byte_sums *of = work->of;
    /* The positions of a row of the kernel lie side by side, as do their weights, if no border is between them. */
    const i32 by_rows = at->inside && of->dilation[1] == 1 && of->x_strides[3] == of->block && of->chunk <= of->block;
    const i64 row = at->width * 4, depth = of->block / 4 * of->kernel[1];
    const vector flip = work->flipped;
    for (i64 b = 0; b < of->in_blocks; b++)
        for (i64 i = at->top; i < at->bottom; i++) {
            const i32 at_once = by_rows && i >= at->first && i < at->last;
            i64 next;
            const i64 positions = at_once ? 1 : of->kernel[1], groups = at_once ? depth : of->block / 4;
            const byte *begin = weights_at(of, at->w, b, i, row, &next);
            for (i64 j = 0; j < positions; j++, begin += next) {
                const byte *w = begin;
                const byte *from[MOST_COLUMNS];
                find_words(columns, work, at, b, i, j, from);
#pragma GCC unroll 1
                for (i64 c = 0; c < groups; c++, w += row) {
                    weights right[TILE_VECTORS];
#pragma GCC unroll 4
                    for (int v = 0; v < vectors; v++) {
                        right[v] = AS_WEIGHTS(*(const unaligned *)(w + v * VECTOR_BYTES));
                        KEEP(right[v]);
                        __builtin_prefetch(w + AHEAD * row + v * VECTOR_BYTES, 0, 3);
                    }
#pragma GCC unroll 8
                    for (int p = 0; p < columns; p++) {
                        const vector left = (*(const word *)(from[p] + 4 * c) - (vector){0}) ^ flip;
#pragma GCC unroll 4
                        for (int v = 0; v < vectors; v++) sums[p][v] = add_products(sums[p][v], left, right[v]);
                    }
                }
            }
        }
}

/* The sums of a tile in memory. */
INLINE void sum_words(const int columns, const int vectors, const byte_work *work, const byte_tile *at, vector *to)
{
    vector sums[TILE_COLUMNS][TILE_VECTORS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[p][v] = (vector){0};
    accumulate(columns, vectors, work, at, sums);
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) *to++ = sums[p][v];
}

/* Each channel by its own kernel: the sums of LANES channels at the positions of a tile. */
INLINE void sum_channels(const int columns, const byte_work *work, const byte_tile *at, vector *to)
{
    const ag_byte_sums *of = work->of;
    const vector flip = work->flipped & 0x80;
    vector sums[TILE_COLUMNS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) sums[p] = (vector){0};
    for (i64 i = at->top; i < at->bottom; i++)
        for (i64 j = 0; j < of->kernel[1]; j++) {
            const vector right = with_sign(at->w + (i * of->kernel[1] + j) * of->out_block);
            const byte *from[TILE_COLUMNS];
            find_words(columns, work, at, 0, i, j, from);
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) sums[p] = add_product(sums[p], without_sign(from[p]) ^ flip, right);
        }
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) to[p] = sums[p];
}

/* The same for kernels whose rows have `width` positions side by side, `stride` apart from one window to the next: a row
   of x is read once for all windows of a tile. */
INLINE void slide_channels(const int columns, const int width, const int stride, const byte_work *work,
                           const byte_tile *at, vector *to)
{
    const ag_byte_sums *of = work->of;
    const i64 distance = of->x_strides[3];
    const vector flip = work->flipped & 0x80;
    vector sums[TILE_COLUMNS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) sums[p] = (vector){0};
    for (i64 i = at->top; i < at->bottom; i++) {
        const i32 within = i >= at->first && i < at->last;
        const unsigned long length = within ? (unsigned long)of->lengths[1] : 0;
        const byte *x = at->x + i * of->dilation[0] * of->x_strides[2];
        vector right[MOST_WIDTH];
#pragma GCC unroll 8
        for (int j = 0; j < width; j++) right[j] = with_sign(at->w + (i * width + j) * of->out_block);
#define SLIDE(number) \
    _Pragma("GCC unroll 20") for (int k = 0; k < (columns - 1) * stride + width; k++) \
    { \
        const vector left = without_sign(number) ^ flip; \
        _Pragma("GCC unroll 8") for (int p = 0; p < columns; p++) if (k >= p * stride && k < p * stride + width) \
            sums[p] = add_product(sums[p], left, right[k - p * stride]); \
    }
        if (at->inside && within) SLIDE(x + k * distance)
        else SLIDE((unsigned long)(at->column + k) < length ? x + k * distance : work->around)
    }
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) to[p] = sums[p];
}

typedef void byte_function(const byte_work *, const byte_tile *, vector *);
#define BYTE_KERNEL(name, call) \
    static __attribute__((noinline)) void name(const byte_work *work, const byte_tile *at, vector *to) { call; }
#define BYTE_TILE(columns, vectors) BYTE_KERNEL(bytes_##vectors##_##columns, sum_words(columns, vectors, work, at, to))
#define OWN_TILE(columns) BYTE_KERNEL(bytes_own_##columns, sum_channels(columns, work, at, to))
#define SLIDING_TILE(columns, width, stride) \
    BYTE_KERNEL(slide_##width##_##stride##_##columns, slide_channels(columns, width, stride, work, at, to))
#define SLIDING_TILES(width, stride) \
    SLIDING_TILE(1, width, stride) \
    SLIDING_TILE(2, width, stride) \
    SLIDING_TILE(3, width, stride) \
    SLIDING_TILE(4, width, stride) \
    SLIDING_TILE(5, width, stride) \
    SLIDING_TILE(6, width, stride)
#define NAMES_OF_SIX(name) name##_1, name##_2, name##_3, name##_4, name##_5, name##_6
OWN_TILE(1)
OWN_TILE(2)
OWN_TILE(3)
OWN_TILE(4)
OWN_TILE(5)
OWN_TILE(6)
SLIDING_TILES(3, 1)
SLIDING_TILES(3, 2)
SLIDING_TILES(5, 1)
SLIDING_TILES(5, 2)
static byte_function *const own_bytes[TILE_COLUMNS] = {NAMES_OF_SIX(bytes_own)};
static byte_function *const sliding_bytes[2][2][TILE_COLUMNS] = {
    {{NAMES_OF_SIX(slide_3_1)}, {NAMES_OF_SIX(slide_3_2)}}, {{NAMES_OF_SIX(slide_5_1)}, {NAMES_OF_SIX(slide_5_2)}}};
#define BYTE_TILES(vectors) \
    BYTE_TILE(1, vectors) \
    BYTE_TILE(2, vectors) \
    BYTE_TILE(3, vectors) \
    BYTE_TILE(4, vectors)
#define MORE_BYTE_TILES(vectors) \
    BYTE_TILES(vectors) \
    BYTE_TILE(5, vectors) \
    BYTE_TILE(6, vectors)
#define BYTE_NAMES(vectors) bytes_##vectors##_1, bytes_##vectors##_2, bytes_##vectors##_3, bytes_##vectors##_4
#define MORE_BYTE_NAMES(vectors) BYTE_NAMES(vectors), bytes_##vectors##_5, bytes_##vectors##_6
#if defined(__AVX512F__)
MORE_BYTE_TILES(1)
MORE_BYTE_TILES(2)
MORE_BYTE_TILES(3)
MORE_BYTE_TILES(4)
static byte_function *const byte_tiles[TILE_VECTORS][TILE_COLUMNS] = {
    {MORE_BYTE_NAMES(1)}, {MORE_BYTE_NAMES(2)}, {MORE_BYTE_NAMES(3)}, {MORE_BYTE_NAMES(4)}};
#else
BYTE_TILES(1)
BYTE_TILES(2)
static byte_function *const byte_tiles[TILE_VECTORS][TILE_COLUMNS] = {{BYTE_NAMES(1)}, {BYTE_NAMES(2)}};
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

/* Numbers held between low and high, which are below 2^22, and the nearest integers of these, halves to even.  No number
   is NaN. */
#if defined(__AVX__) && (!defined(__AVX512F__) || defined(__AVX512VNNI__))
INLINE floats held(floats f, floats low, floats high)
{
    __asm__("vmaxps %1, %0, %0\n\tvminps %2, %0, %0" : "+v"(f) : "v"(low), "v"(high));
    return f;
}
INLINE vector rounded(floats f)
{
    vector whole;
    __asm__("vcvtps2dq %1, %0" : "=v"(whole) : "v"(f));
    return whole;
}
#else
INLINE floats choose(vector set, floats a, floats b) { return (floats)((set & (vector)a) | (~set & (vector)b)); }
INLINE floats held(floats f, floats low, floats high)
{
    f = choose(low > f, low, f);
    return choose(high < f, high, f);
}
INLINE vector rounded(floats f)
{
    const float far = 0x1.8p23f;
    return (vector)(f + far) - (vector)(far - (floats){0});
}
#endif

/* Numbers of a vector or, of its last `count`, the first ones. */
#define LOAD(kind, to, from, count) \
    if ((count) >= LANES) (to) = *(const kind *)(from); \
    else { \
        __typeof__(to) some = {0}; \
        __builtin_memcpy(&some, from, (unsigned long)(count) * sizeof(to) / LANES); \
        (to) = some; \
    }
#define STORE(kind, to, value, count) \
    if ((count) >= LANES) *(kind *)(to) = (value); \
    else { \
        const __typeof__(value) all = (value); \
        __builtin_memcpy(to, &all, (unsigned long)(count) * sizeof all / LANES); \
    }

/* A vector of outputs: its part of the epilogue, and number `place` of y, where its first position in the image lies. */
typedef struct byte_column {
    vector start;
    floats scale, bias;
    i64 place, count; /* count: of outputs, LANES or fewer */
} byte_column;

/* The vectors of outputs of a tile. */
static void find_columns(const byte_work *work, const byte_tile *at, i64 vectors, byte_column *columns)
{
    const ag_byte_sums *of = work->of;
    for (i64 v = 0; v < vectors; v++) {
        const i64 output = at->output + v * LANES, block = output / of->out_block;
        byte_column *to = columns + v;
        to->count = at_least(0, at_most(LANES, of->outputs - output));
        to->place = at->image * of->y_strides[0] + block * of->y_strides[1] + (output - block * of->out_block);
        to->start = *(const unaligned *)(of->start + output);
        if (is_flipped(of) && !work->by_tiles)
            to->start += (of->is_signed ? -128 : 128) * *(const unaligned *)(of->totals + output);
        if (of->kind == AG_SUMS) continue;
        to->scale = *(const unaligned_floats *)(of->scale + output);
        to->bias = *(const unaligned_floats *)(of->bias + output);
    }
}

/* AG_SUMS: sums in 32 bits. */
static void store_sums(const byte_work *work, const byte_column *of, i64 at, i64 columns, i64 distance,
                       const vector *sums)
{
    const i64 step = work->of->y_strides[2];
    i32 *y = (i32 *)work->of->y + of->place + at * step;
    for (i64 p = 0; p < columns; p++, y += step, sums += distance) {
        const vector sum = *sums + of->start;
        STORE(unaligned, y, sum, of->count)
    }
}

/* AG_FLOATS: sum * scale + bias. */
static void store_floats(const byte_work *work, const byte_column *of, i64 at, i64 columns, i64 distance,
                         const vector *sums)
{
    const i64 step = work->of->y_strides[2];
    float *y = (float *)work->of->y + of->place + at * step;
    for (i64 p = 0; p < columns; p++, y += step, sums += distance) {
        const floats f = __builtin_convertvector(*sums + of->start, floats) * of->scale + of->bias;
        STORE(unaligned_floats, y, f, of->count)
    }
}

/* Kinds of residuals: none, bytes or floats that are added to scaled sums, bytes that are added to rounded sums. */
enum { ADDS_NOTHING, ADDS_BYTES, ADDS_FLOATS, ADDS_TO_ROUNDED };

/* AG_BYTES: sum * scale + bias, and what is added, rounded, + zero, held between low and high.  All vectors of a tile. */
INLINE void store_bytes(const byte_work *work, const byte_column *of, i64 at, i64 columns, i64 vectors,
                        const vector *sums, const int adds)
{
    const ag_byte_sums *all = work->of;
    const i64 step = all->y_strides[2];
    const vector zero = work->zero, flip = work->more_flipped;
    const floats none = {0}, low = work->low, high = work->high, factor = all->more_scale - none;
    const floats lower = (float)all->lower - none, upper = (float)all->upper - none, own_factor = all->sum_scale - none;
    const vector less = flip + (i32)all->more_zero;
    const i64 item = adds == ADDS_FLOATS ? 4 : 1;
    for (i64 v = 0; v < vectors; v++, of++) {
        const i64 count = of->count, place = of->place + at * step;
        const vector start = of->start, *sum = sums + v;
        const floats scale = of->scale, bias = of->bias;
        const byte *more = adds ? (const byte *)all->more + place * item : 0;
        byte *y = (byte *)all->y + place;
        for (i64 p = 0; p < columns; p++, y += step, sum += vectors) {
            floats f = __builtin_convertvector(*sum + start, floats) * scale + bias;
            if (adds == ADDS_BYTES || adds == ADDS_TO_ROUNDED) {
                vector number;
                if (count >= LANES) number = without_sign(more);
                else {
                    byte some[LANES] = {0};
                    __builtin_memcpy(some, more, (unsigned long)count);
                    number = without_sign(some);
                }
                if (adds == ADDS_TO_ROUNDED)
                    f = __builtin_convertvector(rounded(held(f, lower, upper)), floats) * own_factor;
                f += __builtin_convertvector((number ^ flip) - less, floats) * factor, more += step;
            } else if (adds) {
                floats number;
                LOAD(unaligned_floats, number, more, count)
                f += number * factor, more += step * item;
            }
            const bytes narrow = __builtin_convertvector(rounded(held(f, low, high)) + zero, bytes);
            STORE(unaligned_bytes, y, narrow, count)
        }
    }
}

/* The products, in 64 bits, of the numbers in the lower halves of words. */
typedef long long longs __attribute__((vector_size(VECTOR_BYTES)));
typedef unsigned long long unsigned_longs __attribute__((vector_size(VECTOR_BYTES)));
#if defined(__AVX2__) && (!defined(__AVX512F__) || defined(__AVX512VNNI__))
INLINE unsigned_longs lower_products(unsigned_longs a, unsigned_longs b)
{
    unsigned_longs products;
    __asm__("vpmuldq %2, %1, %0" : "=v"(products) : "v"(a), "v"(b));
    return products;
}
#else
INLINE unsigned_longs lower_products(unsigned_longs a, unsigned_longs b)
{
    return (unsigned_longs)(((longs)(a << 32) >> 32) * ((longs)(b << 32) >> 32));
}
#endif

/* SaturatingRoundingDoublingHighMul of gemmlowp for multipliers that are not negative: x * multiplier / 2^31, rounded.
   Even and odd numbers are multiplied separately. */
INLINE vector high_products(vector x, vector multiplier)
{
    const unsigned_longs a = (unsigned_longs)x, b = (unsigned_longs)multiplier;
    const unsigned_longs half = (1ull << 30) - (unsigned_longs){0}, lower = 0xffffffffull - (unsigned_longs){0};
    const unsigned_longs even = lower_products(a, b) + half, odd = lower_products(a >> 32, b >> 32) + half;
    return (vector)((even >> 31 & lower) | (odd << 1 & ~lower));
}

/* RoundingDivideByPOT of gemmlowp: x / 2^right, halves away from 0. */
INLINE vector divided(vector x, vector right, vector mask)
{
    return (x >> right) - ((x & mask) > (mask >> 1) - (x < 0));
}

INLINE vector held_between(vector x, vector low, vector high)
{
    const vector below = x<low, above = x> high;
    return (below & low) | (above & high) | (~(below | above) & x);
}

/* AG_FIXED: sum * multiplier * 2^(shift - 31), rounded twice, + zero, held between low and high. */
static void store_fixed(const byte_work *work, const byte_column *of, i64 at, i64 columns, i64 distance,
                        const vector *sums)
{
    const ag_byte_sums *all = work->of;
    const i64 step = all->y_strides[2];
    const vector none = {0}, shift = (vector)of->bias, multiplier = (vector)of->scale;
    const vector left = held_between(shift, none, 31 - none), right = held_between(-shift, none, 31 - none);
    const vector mask = ((1 - none) << right) - 1;
    const vector low = (i32)(all->low - all->zero) - none, high = (i32)(all->high - all->zero) - none;
    byte *y = (byte *)all->y + of->place + at * step;
    for (i64 p = 0; p < columns; p++, y += step, sums += distance) {
        const vector scaled = divided(high_products((*sums + of->start) << left, multiplier), right, mask);
        const bytes narrow = __builtin_convertvector(held_between(scaled, low, high) + work->zero, bytes);
        STORE(unaligned_bytes, y, narrow, of->count)
    }
}

/* Epilogue of the `columns` positions from number `at` on: from sums to results in memory. */
typedef void byte_finish(const byte_work *, const byte_column *, i64 at, i64 columns, i64 vectors, const vector *);
#define FINISH(name, call) \
    static __attribute__((noinline)) void name(const byte_work *work, const byte_column *of, i64 at, i64 columns, \
                                               i64 vectors, const vector *sums) \
    { \
        call; \
    }
#define EACH for (i64 v = 0; v < vectors; v++)
FINISH(finish_sums, EACH store_sums(work, of + v, at, columns, vectors, sums + v))
FINISH(finish_floats, EACH store_floats(work, of + v, at, columns, vectors, sums + v))
FINISH(finish_fixed, EACH store_fixed(work, of + v, at, columns, vectors, sums + v))
FINISH(finish_bytes, store_bytes(work, of, at, columns, vectors, sums, ADDS_NOTHING))
FINISH(finish_more_bytes, store_bytes(work, of, at, columns, vectors, sums, ADDS_BYTES))
FINISH(finish_more_floats, store_bytes(work, of, at, columns, vectors, sums, ADDS_FLOATS))
FINISH(finish_rounded, store_bytes(work, of, at, columns, vectors, sums, ADDS_TO_ROUNDED))

static byte_finish *finish_of(const ag_byte_sums *of)
{
    if (of->kind == AG_SUMS) return finish_sums;
    if (of->kind == AG_FLOATS) return finish_floats;
    if (of->kind == AG_FIXED) return finish_fixed;
    if (!of->more) return finish_bytes;
    return of->sum_scale != 0 ? finish_rounded : of->more_kind == AG_REAL ? finish_more_floats : finish_more_bytes;
}
