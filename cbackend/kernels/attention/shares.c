/* Common parts of attention in all number formats: tasks of rows, masks of scores, exponentials.

   Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); Rabe and Staats, "Self-attention does not
   need O(n^2) memory" (2021); Dao and others, "FlashAttention" (2022).  A task computes some rows of q:

       for each block of KEYS columns of k and rows of v:  pack them
           for each TILE rows of q:  the scores of the block
                                     their exponentials relative to the greatest score so far
                                     y, rescaled to the new greatest score, plus the exponentials @ v
       y by the sum of all exponentials of its row

   Exponentials are multiplied by 2^LIFT, so they are no subnormal numbers: a multiplication by one takes Intel's processors
   100 cycles.  Scores far below the greatest one, as of a mask of -100, would give them.

   Blocks begin at multiples of KEYS and rows are independent, so tiles, tasks and threads do not change a bit.  A block
   that the mask excludes is skipped, unless v has infinities or NaNs, whose products with 0 are NaN. */
#pragma once
#include "../batch.h"
#include "../products/blocks.c"
#include "../products/choices.c"

#ifndef FLUSHES /* words.c does */
#define FLUSHES 0
#endif

#if !COMPLEX
enum { KEYS = 256, QUERIES = 64, MOST_QUERIES = 512 }; /* QUERIES: rows of a tile; MOST_QUERIES: of a task */
enum { EXP_TERMS = sizeof(REAL) == 4 ? 7 : 13 };
enum { LIFT = FLUSHES ? 0 : sizeof(REAL) == 4 ? 64 : 512 };
#define LIFTED_TOP (sizeof(REAL) == 4 ? 0x1p32 : 0x1p256) /* lifted sums of smaller numbers of v do not overflow */

typedef struct queries queries;

typedef struct attention {
    const ag_runtime *rt;
    const ag_attention *of;
    i64 rows, tasks; /* of a task; of each pair */
    i64 item;        /* bytes of a number of q, k and v */
    i64 room;        /* numbers that a task needs ... */
    i64 row_room;    /* ... and for each of its rows */
    void (*function)(queries *at);
    i64 volatile failed; /* a task had no memory */
} attention;

/* The rows of q of a task, and its scratch memory. */
struct queries {
    const attention *work;
    const void *q, *k, *v;
    const REAL *added;
    const unsigned char *mask;
    REAL *y;
    i64 rows;
    REAL *room, *scores, *top, *total; /* scores: of a tile; top, total: one a row */
    i64 key, keys;                     /* of the block */
    i32 can_skip;                      /* all numbers of v in the block are finite */
    REAL lift;                         /* of the exponentials so far: LIFT, or 0 since a block with large values */
};

/* x * 2^n for a whole number n, whose bits are `power`; or by two factors, since one is out of range. */
INLINE vector scaled(vector x, vector n, mask power)
{
#if defined(__AVX512F__)
    vector found;
    (void)power;
    BY_WIDTH("vscalef", "v"(x), "v"(n));
    return found;
#else
    const i32 fraction = sizeof(REAL) == 4 ? 23 : 52;
    const mask half = power >> 1, one = (mask)(vector){0} + (sizeof(REAL) == 4 ? 127 : 1023);
    (void)n;
    return x * (vector)((half + one) << fraction) * (vector)((power - half + one) << fraction);
#endif
}

/* exp(x) * 2^lift for x <= 0; NaN for NaN and inf; 0 where exp(x) underflows, which takes Intel's processors 100 cycles.
   FLUSHES: 0 where it is subnormal, too. */
INLINE vector exponential(vector x, REAL lift)
{
    static const REAL terms[] = {
        1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
        1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1,           1};
    const i32 narrow = sizeof(REAL) == 4;
    const REAL least = narrow ? -105 : -746, low = FLUSHES ? -87.336 : least;
    const REAL whole = narrow ? 12582912.0 : 6755399441055744.0; /* 1.5 * 2^23 or 2^52 */
    const REAL ln2 = narrow ? 0.693359375 : 0.693145751953125;   /* with few digits; the rest of it */
    const REAL rest = narrow ? -2.12194440e-4 : 1.42860682030941723212e-6;
    const vector bias = whole - (vector){0};
    const mask is_zero = x <= low - (vector){0};
    x = choose(is_zero, (vector){0}, x);
    const vector shifted = x * (REAL)1.44269504088896340736 + bias, n = shifted - bias;
    const vector r = (x - n * ln2) - n * rest;
    vector sum = terms[13 - EXP_TERMS] - (vector){0};
#pragma GCC unroll 13
    for (int k = 14 - EXP_TERMS; k < 14; k++) sum = sum * r + terms[k];
    return choose(is_zero, (vector){0}, scaled(sum, n + lift, (mask)(shifted + lift) - (mask)bias));
}

/* The maximum of a vector, or the sum: of its halves, lane by lane, and so on. */
INLINE REAL folded(const i32 greatest, vector x)
{
    typedef REAL part __attribute__((vector_size(16)));
    typedef __typeof__((part){0} < (part){0}) part_mask;
    enum { PARTS = VECTOR_BYTES / 16, NUMBERS = 16 / sizeof(REAL) };
    part found[PARTS];
    __builtin_memcpy(found, &x, sizeof found);
#pragma GCC unroll 4
    for (int width = PARTS / 2; width > 0; width /= 2)
#pragma GCC unroll 4
        for (int i = 0; i < width; i++) {
            const part other = found[i + width];
            const part_mask set = other > found[i];
            found[i] = greatest ? (part)((set & (part_mask)other) | (~set & (part_mask)found[i])) : found[i] + other;
        }
    REAL each[NUMBERS];
    __builtin_memcpy(each, found, sizeof each);
#pragma GCC unroll 4
    for (int width = NUMBERS / 2; width > 0; width /= 2)
#pragma GCC unroll 4
        for (int i = 0; i < width; i++) {
            const REAL other = each[i + width];
            each[i] = !greatest ? each[i] + other : other > each[i] ? other : each[i];
        }
    return each[0];
}

/* y = x * factor */
INLINE void scale_numbers(i64 count, REAL *y, const REAL *x, REAL factor)
{
    i64 j = 0;
    for (; j + LANES <= count; j += LANES) *(unaligned *)(y + j) = *(const unaligned *)(x + j) * factor;
    for (; j < count; j++) y[j] = x[j] * factor;
}

/* Whether the mask admits any score of the tile that begins at `row`. */
static i32 lets_through(const queries *at, i64 row, i64 rows)
{
    const ag_attention *of = at->work->of;
    const i64 down = of->mask_strides[of->rank], across = of->mask_strides[of->rank + 1];
    const unsigned char *masks = at->mask + row * down + at->key * across, drop = (unsigned char)of->drops;
    unsigned char some = 0;
    for (i64 i = 0; i < rows && !some; i++, masks += down)
        if (across == 1)
            for (i64 j = 0; j < at->keys; j++) some |= masks[j] ^ drop;
        else
            for (i64 j = 0; j < at->keys; j++) some |= masks[j * across] ^ drop;
    return some;
}

typedef unsigned char some_bools __attribute__((vector_size(LANES), aligned(1)));

/* Set the scores of the tile that the mask excludes to `fill`. */
static void apply_mask(const queries *at, i64 row, i64 rows, i64 width)
{
    const ag_attention *of = at->work->of;
    const i64 down = of->mask_strides[of->rank], across = of->mask_strides[of->rank + 1];
    const i64 whole = across == 1 ? at->keys / LANES * LANES : 0;
    const unsigned char *masks = at->mask + row * down + at->key * across, drop = (unsigned char)of->drops;
    const REAL fill = *(const REAL *)of->fill;
    const vector filled = fill - (vector){0};
    const mask dropped = (mask)(vector){0} + drop;
    REAL *scores = at->scores;
    for (i64 i = 0; i < rows; i++, masks += down, scores += width) {
        for (i64 j = 0; j < whole; j += LANES) {
            vector *to = (vector *)(scores + j);
            *to = choose(__builtin_convertvector(*(const some_bools *)(masks + j), mask) != dropped, *to, filled);
        }
        for (i64 j = whole; j < at->keys; j++)
            if (masks[j * across] == drop) scores[j] = fill;
    }
}

static void add_mask(const queries *at, i64 row, i64 rows, i64 width)
{
    const ag_attention *of = at->work->of;
    const i64 down = of->added_strides[of->rank], across = of->added_strides[of->rank + 1];
    const i64 whole = across == 1 ? at->keys / LANES * LANES : 0;
    const REAL *added = at->added + row * down + at->key * across;
    REAL *scores = at->scores;
    for (i64 i = 0; i < rows; i++, added += down, scores += width) {
        for (i64 j = 0; j < whole; j += LANES) *(vector *)(scores + j) += *(const unaligned *)(added + j);
        for (i64 j = whole; j < at->keys; j++) scores[j] += added[j * across];
    }
}

/* Set the scores of a tile behind the last key, which are less than a vector, to -inf. */
INLINE void hide_rest(const queries *at, i64 rows, i64 width)
{
    const i64 last = width - LANES;
    vector is_behind = {0};
    if (at->keys == width) return;
    for (i64 j = at->keys; j < width; j++) is_behind[j - last] = 1;
    const mask hidden = is_behind > (vector){0};
    for (i64 i = 0; i < rows; i++) {
        vector *to = (vector *)(at->scores + i * width + last);
        *to = choose(hidden, -(REAL)__builtin_inff() - (vector){0}, *to);
    }
}

#ifndef STORE_WEIGHTS /* words.c rounds them */
#define STORE_WEIGHTS(scores, j, x) (*(vector *)((scores) + (j)) = (x))
#endif

/* Replace rows of `width` scores, whole vectors, by exponentials; update top, total and sums y of each row. */
static void weigh(i64 rows, i64 width, REAL lift, REAL *scores, REAL *top, REAL *total, REAL *y, i64 e)
{
    for (i64 i = 0; i < rows; i++, scores += width, y += e) {
        vector found = *(const vector *)scores, sums = {0};
        for (i64 j = LANES; j < width; j += LANES) found = greater(*(const vector *)(scores + j), found);
        REAL above = folded(1, found);
        above = above > top[i] ? above : top[i]; /* inf makes the row NaN, by inf - inf */
        const vector from = above - (vector){0};
        for (i64 j = 0; j < width; j += LANES) {
            vector x = exponential(*(const vector *)(scores + j) - from, lift);
            STORE_WEIGHTS(scores, j, x);
            sums += x;
        }
        if (above > top[i]) {
            const REAL factor = exponential(top[i] - from, 0)[0];
            if (total[i] != 0) scale_numbers(e, y, y, factor);
            total[i] *= factor, top[i] = above;
        }
        total[i] += folded(0, sums);
    }
}

/* Begin the rows of a task; return whether a mask hides scores with -inf. */
static i32 begin_rows(queries *at)
{
    const ag_attention *of = at->work->of;
    at->lift = LIFT;
    for (i64 i = 0; i < at->rows; i++)
        at->top[i] = -(sizeof(REAL) == 4 ? (REAL)__FLT_MAX__ : (REAL)__DBL_MAX__), at->total[i] = 0;
    return at->mask && *(const REAL *)of->fill == -(REAL)__builtin_inff();
}

/* Run task `index`: some rows of a pair of the batch. */
static void attend_task(void *context, i64 index)
{
    attention *work = context;
    const ag_attention *of = work->of;
    const i64 row = index % work->tasks * work->rows, rows = at_most(work->rows, of->m - row);
    const i64 size = work->room + round_up(rows * work->row_room, LANES);
    REAL *room = work->rt->alloc((i64)sizeof(REAL) * (size + 2 * rows));
    if (!room) {
        work->failed = 1;
        return;
    }
    const i64 call = index / work->tasks;
    queries at = {.work = work, .y = (REAL *)of->y + (call * of->m + row) * of->e, .rows = rows, .room = room};
#define PLACE(strides) place_of(call, of->rank, of->batch, strides)
    at.q = (const char *)of->q + (PLACE(of->q_strides) + row * of->q_strides[of->rank]) * work->item;
    at.k = (const char *)of->k + PLACE(of->k_strides) * work->item;
    at.v = (const char *)of->v + PLACE(of->v_strides) * work->item;
    if (of->mask)
        at.mask = (const unsigned char *)of->mask + PLACE(of->mask_strides) + row * of->mask_strides[of->rank];
    if (of->added) at.added = (const REAL *)of->added + PLACE(of->added_strides) + row * of->added_strides[of->rank];
#undef PLACE
    at.top = room + size, at.total = at.top + rows;
    work->function(&at);
    work->rt->release(room);
}

/* Run all tasks.  Return 0, or MEMORY (2). */
static i32 attend_with(attention work)
{
    const ag_runtime *rt = work.rt;
    const ag_attention *of = work.of;
    i64 pairs = 1;
    for (i32 l = 0; l < of->rank; l++) pairs *= of->batch[l];
    if (pairs <= 0 || of->m <= 0 || of->e <= 0) return 0;
    work.rows = at_most(MOST_QUERIES, of->m);
    const double all = (double)pairs * (double)of->m * (double)of->n * (double)(of->d + of->e + STORED);
    while (all > ALONE && work.rows > QUERIES && pairs * parts(of->m, work.rows) < 2 * rt->threads)
        work.rows = round_up(parts(work.rows, 2), ROWS);
    work.tasks = parts(of->m, work.rows);
    if (all > LONG) rt->listen();
    const i64 count = pairs * work.tasks;
    if (rt->threads > 1 && count > 1 && all > ALONE) rt->parallel(rt, count, attend_task, &work);
    else
        for (i64 k = 0; k < count && !(all > LONG && rt->stopped()); k++) attend_task(&work, k);
    return work.failed ? 2 : 0;
}
#endif
