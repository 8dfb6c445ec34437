/* Images of floats as bytes in blocks of four channels: rint(x / scale) + zero, between the least and the largest byte.  NaN
   becomes zero. */
#pragma once
#include "sums.c"
#include "tables.c"

enum { WORDS_SHARE = 1 << 13 }; /* positions of a task */

typedef struct word_work {
    const float *x;
    byte *y;
    i64 channels, blocks, positions, shares; /* shares: tasks of a block of an image */
    floats scale, low, high;                 /* low, high: of what zero is added to */
    vector zero;
} word_work;

/* Four channels (`count` of them are there) of LANES positions as words. */
INLINE vector quantized_words(const word_work *work, const float *x, i64 count)
{
    vector words = {0};
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        if (c >= count) break;
        const floats f = *(const unaligned_floats *)(x + c * work->positions) / work->scale;
        const floats number = held((floats)((vector)f & (vector)(f == f)), work->low, work->high);
        words |= ((rounded(number) + work->zero) & 255) << 8 * c;
    }
    return words;
}

/* The last, partial vector is read and written by way of the stack. */
static void words_task(void *context, i64 index)
{
    const word_work *work = context;
    const i64 place = index / work->shares, block = place % work->blocks, first = index % work->shares * WORDS_SHARE;
    const i64 end = at_most(work->positions, first + WORDS_SHARE), count = at_most(4, work->channels - 4 * block);
    const float *const x = work->x + (place / work->blocks * work->channels + 4 * block) * work->positions;
    byte *const y = work->y + place * work->positions * 4;
    i64 p = first;
    for (; p + LANES <= end; p += LANES) *(unaligned *)(y + 4 * p) = quantized_words(work, x + p, count);
    if (p == end) return;
    word_work one = *work;
    float some[4 * LANES] = {0};
    one.positions = LANES;
    for (i64 c = 0; c < count; c++)
        __builtin_memcpy(some + c * LANES, x + c * work->positions + p, (unsigned long)(end - p) * sizeof *some);
    const vector words = quantized_words(&one, some, count);
    __builtin_memcpy(y + 4 * p, &words, (unsigned long)(end - p) * 4);
}

static void quantize_words(const ag_runtime *rt, const ag_quantize_words *of)
{
    if (of->images <= 0 || of->channels <= 0 || of->positions <= 0) return;
    const i32 from = of->is_signed ? *(const byte *)of->zero : *(const unsigned char *)of->zero;
    const i32 least = of->is_signed ? -128 : 0;
    const i64 blocks = parts(of->channels, 4), shares = parts(of->positions, WORDS_SHARE);
    word_work work = {.x = of->x, .y = of->y, .channels = of->channels, .blocks = blocks, .positions = of->positions};
    work.shares = shares, work.scale = *of->scale - (floats){0}, work.zero = from - (vector){0};
    work.low = (float)(least - from) - (floats){0}, work.high = (float)(least + 255 - from) - (floats){0};
    const double all = (double)of->images * (double)of->channels * (double)of->positions;
    run_tasks(rt, of->images * blocks * shares, all > 1e8, words_task, &work);
}
