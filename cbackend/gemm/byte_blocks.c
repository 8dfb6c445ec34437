/* Images of floats as bytes in blocks of four channels: rint(x / scale) + zero, between the least and the largest byte.  NaN
   becomes zero. */
#pragma once
#include "byte_sums.c"
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

/* y[images, blocks, positions, 4] from contiguous x[images, channels, positions]; zero is that of y. */
static void quantize_words(const ag_runtime *rt, i64 images, i64 channels, i64 positions, i64 is_signed, const float *x,
                           const float *scale, const void *zero, void *y)
{
    if (images <= 0 || channels <= 0 || positions <= 0) return;
    const i32 from = is_signed ? *(const byte *)zero : *(const unsigned char *)zero, least = is_signed ? -128 : 0;
    word_work work = {.x = x, .y = y, .channels = channels, .blocks = parts(channels, 4), .positions = positions};
    work.shares = parts(positions, WORDS_SHARE), work.scale = *scale - (floats){0}, work.zero = from - (vector){0};
    work.low = (float)(least - from) - (floats){0}, work.high = (float)(least + 255 - from) - (floats){0};
    run_tasks(rt, images * work.blocks * work.shares, (double)images * (double)channels * (double)positions > 1e8,
              words_task, &work);
}
