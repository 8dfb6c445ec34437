/* Pairs of bfloat16 numbers: a convolution by tiles, rounded, and the kernel for each channel, or the pool, that reads it;
   see bands.c. */
#pragma once
#include "words.c"
#include "bands.c"
#include "../pools/pools.c"

/* Rows of the first one, by tiles. */
static void convolve_band_by_tiles(const pair *work, const band *at)
{
    const direct *first = work->of;
    const ag_convolution *of = first->of;
    i64 taps[MOST_TAPS];
    strip part = strip_of_panel(first, at->image, at->panel, at->top, at->end, taps);
    const i64 row = first->columns * of->out_block;
    part.rounded = (half *)at->room - at->top * row, part.halves_step = (at->end - at->top) * row;
    sum_strip_by_tiles(first, &part, at->image, at->strip);
}

/* Run a pair in one pass, if there is memory for it: return whether it did.  first: lengths and strides of x count words;
   second: its tasks, whose epilogue is `after`. */
static i32 run_word_pair(const ag_runtime *rt, const ag_convolution *first, const ag_convolution *given,
                         by_blocks second, window_rows windows, const ag_after *after, const epilogue *ended)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    tiled tiles;
    direct work;
    lay_out_tiles(&work, rt, first, given, joined, &tiles);
    pair both = {.rt = rt,
                 .first = first,
                 .function = convolve_band_by_tiles,
                 .of = &work,
                 .room = first->rounded,
                 .second = second,
                 .windows = windows};
    both.most = at_least(1, STAGE_BYTES / at_least(1, parts(tiles.planes.chunks * tiles.planes.each, work.rows)));
    if (is_empty(first) || !can_run_pair(&both) || !prepare_tiles(&work, &tiles, both.most)) return 0;
    run_pair(&both);
    rt->release(tiles.places);
    follow_all(rt, after, ended);
    return 1;
}

/* Run a convolution by tiles and a kernel for each channel of its rounded result; lengths and strides of x count numbers of
   16 bits.  Return 0, or MEMORY (2). */
static i32 convolve_word_pair(const ag_runtime *rt, const ag_convolution_pair *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    const ag_convolution first = in_words(of->first), second = in_words(of->second);
    const direct rows = lay_out(rt, &second, joined, 0, 0);
    if (rows.total > 0 && !rows.flat
        && run_word_pair(rt, &first, of->first, depthwise_tasks(&rows), WINDOW_ROWS(&second), &second.after,
                         &rows.after))
        return 0;
    const i32 outcome = convolve_words(rt, of->first);
    return outcome ? outcome : convolve_words(rt, of->second);
}

/* Run a convolution by tiles and a pool of its rounded result; see convolve_word_pair. */
static i32 convolve_word_pool(const ag_runtime *rt, const ag_convolution_pool *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    const ag_convolution first = in_words(of->first);
    const ag_pooling second = pooling_of_words(of->second);
    const by_blocks rows = pool_tasks(&second, joined);
    if (rows.total > 0 && run_word_pair(rt, &first, of->first, rows, WINDOW_ROWS(&second), &second.after, &rows.after))
        return 0;
    const i32 outcome = convolve_words(rt, of->first);
    if (!outcome) pool(rt, &second);
    return outcome;
}
