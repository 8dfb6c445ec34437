/* Tiles of bytes.c whose sums become bytes in registers, for VNNI with vectors of 512 bits. */
#pragma once
#include "bytes.c"

#if defined(__AVX512BW__) && defined(__AVX512VNNI__)
typedef short shorts __attribute__((vector_size(VECTOR_BYTES)));
#define TWO(name, instruction, kind) \
    INLINE kind name(kind a, kind b) \
    { \
        kind both; \
        __asm__(instruction " %2, %1, %0" : "=v"(both) : "v"(a), "v"(b)); \
        return both; \
    }
TWO(in_shorts, "vpackssdw", vector)
TWO(in_unsigned_bytes, "vpackuswb", vector)
TWO(in_signed_bytes, "vpacksswb", vector)
TWO(add_shorts, "vpaddsw", vector)
TWO(largest_shorts, "vpmaxsw", vector)
TWO(least_shorts, "vpminsw", vector)

/* The integers of four vectors of numbers, plus zero, between low and high: bytes of which each quarter has four of each
   vector.  Numbers are below 2^31 (work->is_narrow).  Conversions and additions saturate. */
typedef struct byte_ends {
    vector zero, low, high; /* in 16 bits */
    i32 is_whole;           /* low and high are those of the bytes: conversion alone keeps numbers between them */
} byte_ends;
INLINE byte_ends ends_of(const ag_byte_sums *of)
{
    const shorts none = {0};
    return (byte_ends){(vector)((short)of->zero - none), (vector)((short)of->low - none),
                       (vector)((short)of->high - none),
                       (of->low == 0 && of->high == 255) || (of->low == -128 && of->high == 127)};
}
INLINE vector narrowed(const byte_work *work, const floats *f, const byte_ends *ends)
{
    vector whole[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) whole[k] = rounded(f[k]);
    vector a = in_shorts(whole[0], whole[1]), b = in_shorts(whole[2], whole[3]);
    if (work->of->zero) a = add_shorts(a, ends->zero), b = add_shorts(b, ends->zero);
    if (!ends->is_whole)
        a = least_shorts(largest_shorts(a, ends->low), ends->high),
        b = least_shorts(largest_shorts(b, ends->low), ends->high);
    return work->of->high > 127 ? in_unsigned_bytes(a, b) : in_signed_bytes(a, b);
}

/* Tiles whose sums become bytes in registers.  The channels of four positions fill a vector of y. */
enum { FLAT_DEPTH = 128 };
enum { NARROW_GROUP = 4, SHALLOW = 128 }; /* SHALLOW: products of a sum for which tiles of four by four serve */
INLINE vector in_order(vector quarters)
{
    const vector places = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    __asm__("vpermd %0, %1, %0" : "+v"(quarters) : "v"(places));
    return quarters;
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", "no-schedule-insns2")
#endif
/* Integers of the numbers between lower and upper, scaled, and those of more beside them: see ADDS_TO_ROUNDED. */
INLINE floats with_more(const byte_work *work, floats f, const byte *more)
{
    const ag_byte_sums *all = work->of;
    const floats none = {0}, lower = (float)all->lower - none, upper = (float)all->upper - none;
    const vector number = (without_sign(more) ^ work->more_flipped) - (work->more_flipped + (i32)all->more_zero);
    return __builtin_convertvector(rounded(held(f, lower, upper)), floats) * (all->sum_scale - none)
           + __builtin_convertvector(number, floats) * (all->more_scale - none);
}

/* y: where the first position has its outputs of the first block; more: NULL, or what is added there. */
INLINE void narrow_tile(const int columns, const int vectors, const byte_work *work, const byte_tile *at,
                        const byte_column *of, byte *y, const byte *more)
{
    vector sums[MOST_COLUMNS][TILE_VECTORS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[p][v] = of[v].start;
    accumulate(columns, vectors, work, at, sums);
    const byte_ends ends = ends_of(work->of);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++, y += work->of->y_strides[1], more += more ? work->of->y_strides[1] : 0)
#pragma GCC unroll 2
        for (int p = 0; p < columns; p += NARROW_GROUP) {
            floats f[NARROW_GROUP];
#pragma GCC unroll 4
            for (int k = 0; k < NARROW_GROUP; k++)
                f[k] = __builtin_convertvector(sums[p + k][v], floats) * of[v].scale + of[v].bias;
            if (more)
#pragma GCC unroll 4
                for (int k = 0; k < NARROW_GROUP; k++) f[k] = with_more(work, f[k], more + (p + k) * LANES);
            *(unaligned *)(y + p * LANES) = in_order(narrowed(work, f, &ends));
        }
}
typedef void narrow_function(const byte_work *, const byte_tile *, const byte_column *, byte *, const byte *);
#define NARROW_TILE(columns, vectors) \
    static __attribute__((noinline)) void narrow_##vectors##_##columns( \
        const byte_work *work, const byte_tile *at, const byte_column *of, byte *y, const byte *more) \
    { \
        narrow_tile(columns, vectors, work, at, of, y, more); \
    }
NARROW_TILE(4, 1)
NARROW_TILE(8, 1)
NARROW_TILE(4, 2)
NARROW_TILE(8, 2)
NARROW_TILE(4, 3)
NARROW_TILE(8, 3)
NARROW_TILE(4, 4)

/* Kernels of one position: `count` positions from x on, for all channels, in tiles that overlap in the processor. */
INLINE void flat_tiles(const int columns, const int vectors, const byte_work *work, const byte_column *of,
                       const byte *x, const byte *w, i64 row, i64 count, byte *y)
{
    const i64 blocks = work->of->in_blocks, distance = work->of->x_strides[1], next = work->of->y_strides[1];
    const vector flip = work->flipped;
    const byte_ends ends = ends_of(work->of);
    for (i64 p = 0; p < count; p += columns) {
        const i64 first = at_most(p, count - columns);
        const byte *from = x + first * LANES, *right = w;
        vector sums[2 * NARROW_GROUP][TILE_VECTORS];
#pragma GCC unroll 8
        for (int k = 0; k < columns; k++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sums[k][v] = of[v].start;
        for (i64 b = 0; b < blocks; b++, from += distance)
#pragma GCC unroll 4
            for (int c = 0; c < LANES / 4; c++, right += row) {
                vector weight[TILE_VECTORS];
#pragma GCC unroll 4
                for (int v = 0; v < vectors; v++) {
                    weight[v] = *(const unaligned *)(right + v * VECTOR_BYTES);
                    KEEP(weight[v]);
                }
#pragma GCC unroll 8
                for (int k = 0; k < columns; k++) {
                    const vector left = (*(const word *)(from + k * LANES + 4 * c) - (vector){0}) ^ flip;
#pragma GCC unroll 4
                    for (int v = 0; v < vectors; v++) sums[k][v] = add_products(sums[k][v], left, weight[v]);
                }
            }
        byte *to = y + first * LANES;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++, to += next)
#pragma GCC unroll 2
            for (int k = 0; k < columns; k += NARROW_GROUP) {
                floats f[NARROW_GROUP];
#pragma GCC unroll 4
                for (int i = 0; i < NARROW_GROUP; i++)
                    f[i] = __builtin_convertvector(sums[k + i][v], floats) * of[v].scale + of[v].bias;
                *(unaligned *)(to + k * LANES) = in_order(narrowed(work, f, &ends));
            }
    }
}
typedef void flat_function(const byte_work *, const byte_column *, const byte *, const byte *, i64, i64, byte *);
#define FLAT_TILES(columns, vectors) \
    static __attribute__((noinline)) void flat_##vectors(const byte_work *work, const byte_column *of, const byte *x, \
                                                         const byte *w, i64 row, i64 count, byte *y) \
    { \
        flat_tiles(columns, vectors, work, of, x, w, row, count, y); \
    }
FLAT_TILES(8, 1)
FLAT_TILES(4, 2)
FLAT_TILES(4, 3)
FLAT_TILES(4, 4)
static flat_function *const flat_functions[TILE_VECTORS] = {flat_1, flat_2, flat_3, flat_4};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
/* By vectors, of a group of positions or two. */
static narrow_function *const narrow_tiles[TILE_VECTORS][2] = {
    {narrow_1_4, narrow_1_8}, {narrow_2_4, narrow_2_8}, {narrow_3_4, narrow_3_8}, {narrow_4_4, narrow_4_4}};

/* The first `count` positions of a row, as bytes; 0 where these tiles do not serve.  x: the row of the first windows.  The
   last tile laps over others where the count is not a multiple.  Four vectors leave registers for four positions only;
   long sums are faster in tiles of six, which read fewer weights for each product. */
static i32 narrow_row(const byte_work *work, byte_tile *at, const byte_column *outputs, i64 vectors, const byte *x,
                      i64 row, i64 count)
{
    const ag_byte_sums *of = work->of;
    if (!work->is_narrow || (of->more && of->sum_scale == 0) || of->out_block != LANES || of->y_strides[2] != LANES
        || count < NARROW_GROUP)
        return 0;
    const i64 depth = of->kernel[0] * of->kernel[1] * of->in_blocks * of->block;
    if (vectors == TILE_VECTORS && depth > SHALLOW) return 0;
    const i64 left = work->flat ? row * work->columns : 0, right = at_most(work->right, count);
    const i64 place = outputs->place + row * work->columns * LANES;
    byte *const y = (byte *)of->y + place;
    const byte *const more = of->more ? (const byte *)of->more + place : 0;
    if (work->flat && !more && of->block == LANES && of->x_strides[3] == LANES && depth <= FLAT_DEPTH
        && count >= 2 * NARROW_GROUP) {
        flat_functions[vectors - 1](work, outputs, x + left * LANES, at->w, at->width * 4, count, y);
        return 1;
    }
    for (i64 column = 0, columns; column < count; column += columns) {
        columns =
            vectors < TILE_VECTORS && count - column > NARROW_GROUP && count >= 2 * NARROW_GROUP ? 8 : NARROW_GROUP;
        const i64 first = at_most(column, count - columns);
        at->inside = first >= work->left && first + columns <= right;
        at->column = (left + first) * of->stride[1] - of->before[1];
        at->x = x + at->column * of->x_strides[3];
        narrow_tiles[vectors - 1][columns > NARROW_GROUP](work, at, outputs, y + first * LANES,
                                                          more ? more + first * LANES : 0);
    }
    return 1;
}

/* Channels with their own kernels of 3 x 3.  At each position a channel has a word: its numbers in rows below each other,
   which are multiplied at once.  Of four rows the first three are those of a row of y, the last three those of the next. */
enum { OWN_SIDE = 3, OWN_WINDOWS = 4, OWN_ROWS = 4, OWN_REACH = 9 }; /* OWN_REACH: columns of four windows, stride 2 */
#define ROW_OF(number) \
    INLINE vector with_row_##number(vector rows, const byte *from) \
    { \
        __asm__("vinserti32x4 $" #number ", %1, %0, %0" : "+v"(rows) : "m"(*(const unaligned_bytes *)from)); \
        return rows; \
    }
ROW_OF(1)
ROW_OF(2)
ROW_OF(3)
INLINE vector with_row_0(const byte *from)
{
    vector rows;
    __asm__("vmovdqu32 %1, %x0" : "=v"(rows) : "m"(*(const unaligned_bytes *)from));
    return rows;
}

/* Quarters as the bytes of words. */
INLINE vector as_words(vector quarters)
{
#if defined(__AVX512VBMI__)
    const vector places = {0x30201000, 0x31211101, 0x32221202, 0x33231303, 0x34241404, 0x35251505,
                           0x36261606, 0x37271707, 0x38281808, 0x39291909, 0x3a2a1a0a, 0x3b2b1b0b,
                           0x3c2c1c0c, 0x3d2d1d0d, 0x3e2e1e0e, 0x3f2f1f0f};
    __asm__("vpermb %0, %1, %0" : "+v"(quarters) : "v"(places));
    return quarters;
#else
    const vector places = {0x0c080400, 0x0d090501, 0x0e0a0602, 0x0f0b0703, 0x0c080400, 0x0d090501,
                           0x0e0a0602, 0x0f0b0703, 0x0c080400, 0x0d090501, 0x0e0a0602, 0x0f0b0703,
                           0x0c080400, 0x0d090501, 0x0e0a0602, 0x0f0b0703};
    vector words = in_order(quarters);
    __asm__("vpshufb %1, %0, %0" : "+v"(words) : "v"(places));
    return words;
#endif
}

/* A block of channels in a task: weights for the first three rows of words and for the last three, and rows of x. */
typedef struct own_block {
    vector weights[2][OWN_SIDE], beyond;
    byte_column outputs;
    byte_ends ends;
    const byte *rows[OWN_ROWS];
    i64 moves[OWN_ROWS]; /* all bits of rows of x, none of what lies beyond it: there columns are the same */
} own_block;

/* The words of `rows` rows at a column. */
INLINE vector words_at(const int rows, const i32 inside, const byte_work *work, const own_block *of, i64 column)
{
    const i64 at = column * LANES;
    if (!inside && (unsigned long)column >= (unsigned long)work->of->lengths[1]) return of->beyond;
#define ROW(r) (of->rows[r] + (inside ? at : at & of->moves[r]))
    vector found = with_row_2(with_row_1(with_row_0(ROW(0)), ROW(1)), ROW(2));
    if (rows == OWN_ROWS) found = with_row_3(found, ROW(3));
#undef ROW
    return as_words(found) ^ work->flipped;
}

/* Four windows from column `column` on, of `rows` rows of y: the bytes of their results at y. */
INLINE void own_windows(const int stride, const int rows, const i32 inside, const byte_work *work, const own_block *of,
                        i64 column, vector *results)
{
    vector sums[2][OWN_WINDOWS];
#pragma GCC unroll 2
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int p = 0; p < OWN_WINDOWS; p++) sums[r][p] = of->outputs.start;
#pragma GCC unroll 9
    for (int k = 0; k < (OWN_WINDOWS - 1) * stride + OWN_SIDE; k++) {
        const vector words = words_at(rows + OWN_SIDE - 1, inside, work, of, column + k);
#pragma GCC unroll 2
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int p = 0; p < OWN_WINDOWS; p++)
                if (k >= p * stride && k < p * stride + OWN_SIDE)
                    sums[r][p] = add_products(sums[r][p], words, of->weights[r][k - p * stride]);
    }
#pragma GCC unroll 2
    for (int r = 0; r < rows; r++) {
        floats f[OWN_WINDOWS];
#pragma GCC unroll 4
        for (int p = 0; p < OWN_WINDOWS; p++)
            f[p] = __builtin_convertvector(sums[r][p], floats) * of->outputs.scale + of->outputs.bias;
        results[r] = in_order(narrowed(work, f, &of->ends));
    }
}

/* `rows` rows of y; the last four windows lap over others where the count is not a multiple. */
INLINE void own_rows(const int stride, const int rows, const byte_work *work, const own_block *of, byte *y)
{
    const i64 reach = (OWN_WINDOWS - 1) * stride + OWN_SIDE, length = work->of->lengths[1], count = work->columns;
    i64 within = -1;
    for (int r = 0; r < rows + OWN_SIDE - 1; r++) within &= of->moves[r];
    for (i64 p = 0; p < count; p += OWN_WINDOWS) {
        const i64 first = count >= OWN_WINDOWS ? at_most(p, count - OWN_WINDOWS) : 0;
        const i64 column = first * stride - work->of->before[1];
        vector found[2];
        if (within && column >= 0 && column + reach <= length) own_windows(stride, rows, 1, work, of, column, found);
        else own_windows(stride, rows, 0, work, of, column, found);
#pragma GCC unroll 2
        for (int r = 0; r < rows; r++) {
            byte *const to = y + (r * count + first) * LANES;
            if (count >= OWN_WINDOWS) *(unaligned *)to = found[r];
            else __builtin_memcpy(to, &found[r], (unsigned long)(count * LANES));
        }
    }
}
typedef void own_function(const byte_work *, const own_block *, byte *);
#define OWN_ROW(stride, rows) \
    static __attribute__((noinline)) void own_row_##stride##_##rows(const byte_work *work, const own_block *of, \
                                                                    byte *y) \
    { \
        own_rows(stride, rows, work, of, y); \
    }
OWN_ROW(1, 1)
OWN_ROW(1, 2)
OWN_ROW(2, 1)

/* Rows [row, end) of a block of channels that have their own kernels; 0 where they are not those of above. */
static i32 own_task(const byte_work *work, i64 image, i64 block, i64 row, i64 end)
{
    const ag_byte_sums *of = work->of;
    const i32 fits = of->own && work->is_narrow && !of->more && of->kernel[0] == OWN_SIDE && of->kernel[1] == OWN_SIDE
                     && of->dilation[1] == 1 && of->stride[1] <= 2 && of->x_strides[3] == LANES
                     && of->y_strides[2] == LANES && of->out_block == LANES;
    if (!fits) return 0;
    own_block own = {.beyond = as_words(*(const unaligned *)work->around) ^ work->flipped, .ends = ends_of(of)};
    const byte_tile at = {.image = image, .output = block * LANES};
    find_columns(work, &at, 1, &own.outputs);
    const byte *w = (const byte *)of->w + block * OWN_SIDE * OWN_SIDE * LANES;
    for (int j = 0; j < OWN_SIDE; j++, w += LANES) {
        own.weights[0][j] =
            as_words(with_row_2(with_row_1(with_row_0(w), w + OWN_SIDE * LANES), w + 2 * OWN_SIDE * LANES));
        own.weights[1][j] = own.weights[0][j] << 8;
    }
    const byte *const x = (const byte *)of->x + image * of->x_strides[0] + block * of->x_strides[1];
    const i32 two = of->stride[0] == 1 && of->stride[1] == 1 && of->dilation[0] == 1;
    for (i64 rows; row < end; row += rows) {
        rows = two && row + 1 < end ? 2 : 1;
        for (i64 r = 0; r < rows + OWN_SIDE - 1; r++) {
            const i64 from = row * of->stride[0] - of->before[0] + r * of->dilation[0];
            own.moves[r] = -(i64)(from >= 0 && from < of->lengths[0]);
            own.rows[r] = own.moves[r] ? x + from * of->x_strides[2] : work->around;
        }
        own_function *const function = of->stride[1] == 2 ? own_row_2_1 : rows == 2 ? own_row_1_2 : own_row_1_1;
        function(work, &own, (byte *)of->y + own.outputs.place + row * work->columns * LANES);
    }
    return 1;
}

/* Whether sums become bytes in registers: numbers that lie so far below 2^31 that their conversion is exact. */
static i32 find_narrow(const ag_byte_sums *of)
{
    if (of->kind != AG_BYTES || (of->more && !(of->sum_scale <= 0x1p20f && of->more_scale <= 0x1p20f))) return 0;
    const floats none = {0}, most_scale = 0.25f - none, most_bias = 0x1p30f - none;
    vector fits = (vector)(none == none);
    for (i64 k = 0; k < of->blocks * of->out_block; k += LANES) {
        const floats scale = *(const unaligned_floats *)(of->scale + k),
                     bias = *(const unaligned_floats *)(of->bias + k);
        fits &= (scale <= most_scale) & (scale >= -most_scale) & (bias <= most_bias) & (bias >= -most_bias);
    }
    i32 all = -1;
    for (int lane = 0; lane < LANES; lane++) all &= fits[lane];
    return all;
}
#else
#define own_task(work, image, block, row, end) 0
#define find_narrow(of) 0
#define narrow_row(work, at, outputs, vectors, x, row, count) 0
#endif
