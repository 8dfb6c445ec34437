/* Pairs of float numbers: a convolution and the kernel for each channel, or the pool, that reads its result; see bands.c. */
#pragma once
#include "bands.c"
#include "winograd.c"
#include "../pools/pools.c"
#include "../pools/neighbours.c"

#if !COMPLEX
/* Rows of the first one: a convolution of its own. */
static void convolve_band(const pair *work, const band *at)
{
    const ag_convolution *of = work->first;
    ag_convolution part = *of;
    i64 top, end;
    find_met(WINDOW_ROWS(of), at->top, at->end, &top, &end);
    part.images = 1, part.blocks = at->blocks, part.lengths[0] = end - top, part.counts[0] = at->end - at->top;
    part.before[0] = top - (at->top * of->stride[0] - of->before[0]);
    part.x = (const REAL *)of->x + at->image * of->x_strides[0] + top * of->x_strides[2];
    part.w = (const REAL *)of->w + at->block * of->out_block * of->channels * of->kernel[0] * of->kernel[1];
    part.bias = (const REAL *)of->bias + at->block * of->out_block, part.y = at->room, part.after = (ag_after){0};
    direct whole = lay_out(work->rt, &part, 0, 0, 0);
    whole.height = whole.rows, whole.strips = 1;
    convolve_strip(&whole, 0, 0, 0);
}

/* A pair that begins with a convolution. */
static pair pair_of(const ag_runtime *rt, const ag_convolution *first, by_blocks second, window_rows windows)
{
    return (pair){.rt = rt,
                  .first = first,
                  .function = convolve_band,
                  .room = first->y,
                  .second = second,
                  .windows = windows,
                  .most = windows.length};
}

/* Run a convolution and a kernel for each channel of its result. */
static void convolve_pair(const ag_runtime *rt, const ag_convolution_pair *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    const ag_convolution *second = of->second;
    const direct rows = lay_out(rt, second, joined, 0, 0);
    pair work = pair_of(rt, of->first, depthwise_tasks(&rows), WINDOW_ROWS(second));
    if (rows.total > 0 && !rows.flat && can_run_pair(&work)) {
        run_pair(&work);
        follow_all(rt, &second->after, &rows.after);
        return;
    }
    convolve(rt, of->first);
    convolve(rt, second);
}

/* Run a convolution and a pool of its result. */
static void convolve_pool(const ag_runtime *rt, const ag_convolution_pool *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    const ag_pooling *second = of->second;
    pair work = pair_of(rt, of->first, pool_tasks(second, joined), WINDOW_ROWS(second));
    if (work.second.total > 0 && can_run_pair(&work)) {
        run_pair(&work);
        follow_all(rt, &second->after, &work.second.after);
        return;
    }
    convolve(rt, of->first);
    pool(rt, second);
}
#endif
