/* Attention of bfloat16 numbers: shares.c, with products of words, pairs along the sum, whose sums are float.

       q          rows of words along d, copied for each tile
       k          for each panel of keys, for each word along d:  lanes
       exponentials, rounded to bfloat16, in the memory of their scores: rows of words along the keys
       v          for each panel of columns, for each word along the keys:  lanes

   Scores, masks, exponentials and sums are float; a row is divided by the sum of its rounded exponentials. */
#pragma once
#define FLUSHES 1
#include "../products/halves.c"
#include "../products/pair_tiles.c"
#if defined(__AVX512BF16__)
#define STORE_WEIGHTS(scores, j, x) \
    (store_nearest((half *)(scores) + (j), x), (x) = widened_halves((const half *)(scores) + (j)))
#else
#define STORE_WEIGHTS(scores, j, x) ((x) = nearest_halves(x), store_halves((half *)(scores) + (j), x))
#endif
#include "shares.c"

#if defined(__AVX512F__)
enum { WORD_VECTORS = 4 };
#else
enum { WORD_VECTORS = 2 };
#endif
enum { WORD_ROWS = 6 }; /* of a tile */

/* Rows of words by a panel. */
typedef struct word_tile {
    const REAL *a, *b;
    i64 a_step, width, words; /* from a row of a, from a word of b to the next; along the sum */
    REAL *c;
    i64 c_step;
    i32 adds; /* to what is in c; else the sums are multiplied by `scale` */
    REAL scale;
} word_tile;

#if PAIR_TILES
/* c = scale * a @ b, or c += a @ b, for b in panels, `width` lanes in all; see pair_tiles.c. */
static void multiply_words(word_tile at, i64 rows, i64 width)
{
    static const REAL zeros[WORD_VECTORS * LANES];
    const i64 vectors = width / LANES, panels = parts(vectors, WORD_VECTORS);
    for (i64 p = 0; p < panels; p++) {
        const i64 first = begin_of(vectors, panels, p), count = begin_of(vectors, panels, p + 1) - first;
        REAL *const c = at.c + first * LANES;
        const pair_product of = {
            .x = {(const char *)at.a},
            .row = 4 * at.a_step,
            .w = (const char *)(at.b + first * LANES * at.words),
            .words = at.words,
            .chunk = CHUNK,
            .word = count * TILE_BYTES,
            .vectors = count,
            .from = (const char *)(at.adds ? c : zeros),
            .from_row = at.adds ? 4 * at.c_step : 0,
            .to = {(char *)c},
            .to_row = 4 * at.c_step,
        };
        multiply_rows_of_pairs(of, rows, !may_use_tiles());
    }
    for (i64 r = 0; r < rows && !at.adds; r++)
        for (i64 v = 0; v < width; v += LANES) *(unaligned *)(at.c + r * at.c_step + v) *= at.scale;
}
#else
INLINE void sum_words(const int rows, const int vectors, const word_tile *at)
{
    const REAL *a = at->a, *b = at->b;
    vector sums[WORD_ROWS][WORD_VECTORS];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            sums[r][v] = at->adds ? *(const unaligned *)(at->c + r * at->c_step + v * LANES) : (vector){0};
#pragma GCC unroll 1
    for (i64 w = 0; w < at->words; w++, a++, b += at->width) {
        vector right[WORD_VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            right[v] = *(const unaligned *)(b + v * LANES);
            KEEP(right[v]);
        }
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            const pairs left = *(const number_bits *)(a + r * at->a_step) - (pairs){0};
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sums[r][v] = add_pairs(sums[r][v], left, (pairs)right[v]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            *(unaligned *)(at->c + r * at->c_step + v * LANES) = at->adds ? sums[r][v] : sums[r][v] * at->scale;
}

typedef void word_function(const word_tile *);
#define WORD_KERNEL(vectors, rows) \
    static __attribute__((noinline)) void sum_words_##vectors##_##rows(const word_tile *at) \
    { \
        sum_words(rows, vectors, at); \
    }
#define WORD_KERNELS(vectors) \
    WORD_KERNEL(vectors, 1) \
    WORD_KERNEL(vectors, 2) \
    WORD_KERNEL(vectors, 3) \
    WORD_KERNEL(vectors, 4) \
    WORD_KERNEL(vectors, 5) \
    WORD_KERNEL(vectors, 6)
#define WORD_NAMES(vectors) \
    {sum_words_##vectors##_1, sum_words_##vectors##_2, sum_words_##vectors##_3, \
     sum_words_##vectors##_4, sum_words_##vectors##_5, sum_words_##vectors##_6}
WORD_KERNELS(1)
WORD_KERNELS(2)
#if defined(__AVX512F__)
WORD_KERNELS(3)
WORD_KERNELS(4)
#endif

/* By vectors of a panel and rows. */
static word_function *const word_kernels[][WORD_ROWS] = {
    WORD_NAMES(1),
    WORD_NAMES(2),
#if defined(__AVX512F__)
    WORD_NAMES(3),
    WORD_NAMES(4),
#endif
};

/* c = scale * a @ b, or c += a @ b, for b in panels, `width` lanes in all. */
static void multiply_words(word_tile at, i64 rows, i64 width)
{
    const i64 vectors = width / LANES, panels = parts(vectors, WORD_VECTORS);
    for (i64 p = 0; p < panels; p++) {
        const i64 column = begin_of(vectors, panels, p) * LANES;
        word_tile part = at;
        part.width = begin_of(vectors, panels, p + 1) * LANES - column;
        part.b = at.b + column * at.words, part.c = at.c + column;
        for (i64 row = 0, some; row < rows; row += some) {
            some = parts(rows - row, parts(rows - row, WORD_ROWS));
            word_kernels[part.width / LANES - 1][some - 1](&part);
            part.a += some * at.a_step, part.c += some * at.c_step;
        }
    }
}
#endif

/* Two numbers, `step` apart, as a word; the second one is 0 if it is not there. */
INLINE i32 word_of(const half *x, i64 step, i32 has_second)
{
    return (i32)(x[0] | (has_second ? (unsigned)x[step] << 16 : 0));
}

/* Rows of q as words along d. */
static void pack_queries(const queries *at, i64 row, i64 rows, REAL *to)
{
    const ag_attention *of = at->work->of;
    const i64 down = of->q_strides[of->rank], across = of->q_strides[of->rank + 1], words = parts(of->d, 2);
    const half *q = (const half *)at->q + row * down;
    for (i64 i = 0; i < rows; i++, q += down, to += words) {
        i64 w = 0;
        if (across == 1) __builtin_memcpy(to, q, (unsigned long)of->d / 2 * 4), w = of->d / 2;
        for (; w < words; w++) ((number_bits *)to)[w] = word_of(q + 2 * w * across, across, 2 * w + 1 < of->d);
    }
}

/* Pack whole words of eight columns whose numbers are neighbours along the sum; return how many. */
static i64 pack_eight_columns(const half *x, i64 across, i64 words, number_bits *to, i64 width)
{
    i64 w = 0;
#if TRANSPOSES
    const REAL *column[8];
    if ((__UINTPTR_TYPE__)x % sizeof(REAL) || across % 2) return 0;
    for (i64 i = 0; i < 8; i++) column[i] = (const REAL *)(x + i * across);
    for (; w + 8 <= words; w += 8) transpose_eight(column, w, w + 4, (REAL *)to + w * width, width);
#else
    (void)x, (void)across, (void)words, (void)to, (void)width;
#endif
    return w;
}

/* Pack rows [0, deep) of columns [0, count) of x into panels of words along the rows; lanes behind the last column are 0.
   Return whether all numbers are finite. */
static i32 pack_words(const half *x, i64 down, i64 across, i64 deep, i64 count, REAL *to)
{
    const i64 words = parts(deep, 2), vectors = parts(count, LANES), panels = parts(vectors, WORD_VECTORS);
    i32 infinite = 0;
    for (i64 p = 0; p < panels; p++) {
        const i64 column = begin_of(vectors, panels, p) * LANES, end = begin_of(vectors, panels, p + 1) * LANES;
        const i64 width = end - column, own = at_most(width, count - column);
        number_bits *panel = (number_bits *)(to + column * words);
        i64 eights = 0, done = 0; /* columns, of which so many words are done */
        for (; down == 1 && eights + 8 <= own; eights += 8) {
            const half *from = x + (column + eights) * across;
            done = pack_eight_columns(from, across, deep / 2, panel + eights, width);
        }
        for (i64 w = 0; w < words; w++) {
            const half *from = x + 2 * w * down + column * across;
            const i32 has_second = 2 * w + 1 < deep;
            number_bits *row = panel + w * width;
            i64 j = w < done ? eights : 0;
            for (; across == 1 && j + LANES <= own; j += LANES) {
                pairs bits = (pairs)widened_halves(from + j), second = {0};
                if (has_second) second = (pairs)widened_halves(from + down + j);
                const pairs word = ((bits >> 16) & 0xffff) | second;
                __builtin_memcpy(row + j, &word, sizeof word);
            }
            for (; j < own; j++) row[j] = word_of(from + j * across, down, has_second);
            for (; j < width; j++) row[j] = 0;
            for (j = 0; j < width; j++)
                infinite |= ((row[j] & 0x7f80) == 0x7f80) | ((row[j] & 0x7f800000) == 0x7f800000);
        }
    }
    return !infinite;
}

static void attend_word_rows(queries *at)
{
    const ag_attention *of = at->work->of;
    const i64 *ks = of->k_strides + of->rank, *vs = of->v_strides + of->rank;
    const i64 keys = round_up(at_most(KEYS, of->n), LANES), words = parts(of->d, 2), wide = round_up(of->e, LANES);
    const i32 hides = begin_rows(at);
    REAL *k = at->room, *v = k + keys * words, *q = v + wide * round_up(parts(keys, 2), LANES);
    at->scores = q + round_up(QUERIES * words, LANES);
    REAL *sums = at->scores + QUERIES * keys;
    __builtin_memset(sums, 0, (unsigned long)(at->rows * wide) * sizeof(REAL));
    for (at->key = 0; at->key < of->n; at->key += at->keys) {
        at->keys = at_most(KEYS, of->n - at->key);
        const i64 width = round_up(at->keys, LANES);
        pack_words((const half *)at->k + at->key * ks[1], ks[0], ks[1], of->d, at->keys, k);
        at->can_skip = pack_words((const half *)at->v + at->key * vs[0], vs[0], vs[1], at->keys, of->e, v) && hides;
        for (i64 row = 0, rows; row < at->rows; row += rows) {
            rows = at_most(QUERIES, at->rows - row);
            if (at->mask && at->can_skip && !lets_through(at, row, rows)) continue;
            pack_queries(at, row, rows, q);
            word_tile part = {.a = q, .b = k, .a_step = words, .words = words, .c = at->scores, .c_step = width};
            part.scale = *(const REAL *)of->scale;
            multiply_words(part, rows, width);
            hide_rest(at, rows, width);
            if (at->mask) apply_mask(at, row, rows, width);
            if (at->added) add_mask(at, row, rows, width);
            weigh(rows, width, LIFT, at->scores, at->top + row, at->total + row, sums + row * wide, wide);
            part = (word_tile){.a = at->scores, .b = v, .a_step = width, .words = parts(at->keys, 2), .adds = 1};
            part.c = sums + row * wide, part.c_step = wide;
            multiply_words(part, rows, wide);
        }
    }
    for (i64 i = 0; i < at->rows; i++) {
        const REAL factor = of->n > 0 ? 1 / at->total[i] : 0;
        scale_numbers(of->e, at->y + i * of->e, sums + i * wide, factor);
    }
}

/* of: q, k and v are bfloat16 numbers.  Return 0, or MEMORY (2). */
static i32 attend_words(const ag_runtime *rt, const ag_attention *of)
{
    const i64 keys = round_up(at_most(KEYS, of->n), LANES), words = parts(of->d, 2), wide = round_up(of->e, LANES);
    const i64 room = keys * words + wide * round_up(parts(keys, 2), LANES) + round_up(QUERIES * words, LANES);
    return attend_with((attention){
        .rt = rt, .of = of, .item = 2, .room = room + QUERIES * keys, .row_room = wide, .function = attend_word_rows});
}
