/* Pairs of convolutions in blocks, the second one depthwise or a pool, without an array for the first one's result.

       for each panel of channels and strip of rows of y:
           the rows of the first one that its windows read, into a slot of `room`
           the rows of y

   A slot stays in the cache of one processor.  Rows that two strips read are computed twice.  Sums have the order
   of the separate convolutions. */
#pragma once
#include "depthwise.c"
#include "pools.c"
#include "neighbours.c"
#include "grouped.c"
#include "winograd.c"

#if !COMPLEX
enum { BAND_BYTES = 1 << 19 }; /* of a slot, beside which there are weights and rows of x in a cache */

typedef struct pair {
    const ag_runtime *rt;
    const ag_convolution *first, *second;
    direct rows;                   /* of the second one */
    i64 panels, height, strips;    /* height: rows of y of a strip */
    i64 numbers;                   /* of a slot */
    unsigned long long free_slots; /* bit k: slot k is free */
} pair;

/* Rows [*top, *end) of x are those that the windows of rows [from, to) of y meet. */
static void find_met(const ag_convolution *of, i64 from, i64 to, i64 *top, i64 *end)
{
    const i64 reach = (of->kernel[0] - 1) * of->dilation[0], length = of->lengths[0];
    *top = at_most(length, at_least(0, from * of->stride[0] - of->before[0]));
    *end = at_most(length, at_least(*top, (to - 1) * of->stride[0] - of->before[0] + reach + 1));
}

/* Rows [from, to) of the outputs of `blocks` blocks, from number `block` on, of one image: a convolution of its own. */
static ag_convolution part_of(const ag_convolution *of, i64 image, i64 block, i64 blocks, i64 from, i64 to, REAL *y)
{
    ag_convolution part = *of;
    i64 top, end;
    find_met(of, from, to, &top, &end);
    part.images = 1, part.blocks = blocks, part.lengths[0] = end - top, part.counts[0] = to - from;
    part.before[0] = top - (from * of->stride[0] - of->before[0]);
    part.x = (const REAL *)of->x + image * of->x_strides[0] + top * of->x_strides[2];
    part.w = (const REAL *)of->w + block * of->out_block * of->channels * of->kernel[0] * of->kernel[1];
    part.bias = (const REAL *)of->bias + block * of->out_block, part.y = y, part.after = 0;
    return part;
}

/* Rows [from, to) of y for a block of channels; x: its first row is row `top` of the block. */
static void convolve_own(const pair *work, i64 image, i64 block, i64 from, i64 to, const REAL *x, i64 top)
{
    const ag_convolution *of = work->second;
    const i64 width = of->out_block;
    strip part = {.of = of, .row = from, .end = to, .width = width, .last = 1, .x = x - top * of->x_strides[2]};
    part.w = (const REAL *)of->w + block * width * of->kernel[0] * of->kernel[1];
    part.bias = (const REAL *)of->bias + block * width;
    part.y = (REAL *)of->y + (image * of->blocks + block) * work->rows.total * width;
    if (work->rows.own_rows) work->rows.own_rows(&part);
    else
        for (i64 row = from; row < to; row++) sum_row(&work->rows, &part, row, work->rows.columns);
    follow_strip(&work->rows, &part, image, block, 1);
}

static void pair_task(void *context, i64 index)
{
    pair *work = context;
    const ag_convolution *first = work->first;
    const i64 panel = index % work->panels, strip_number = index / work->panels % work->strips;
    const i64 image = index / work->panels / work->strips, from = strip_number * work->height;
    const i64 to = at_most(from + work->height, work->rows.rows), block = begin_of(first->blocks, work->panels, panel);
    const i64 blocks = begin_of(first->blocks, work->panels, panel + 1) - block, slot = claim_slot(&work->free_slots);
    REAL *room = (REAL *)first->y + slot * work->numbers;
    i64 top, end, joined[AG_MOST_ARRAYS * 5];
    find_met(work->second, from, to, &top, &end);
    if (end > top) {
        const ag_convolution part = part_of(first, image, block, blocks, top, end, room);
        direct whole = lay_out(work->rt, &part, joined, 0, 0);
        whole.height = whole.rows, whole.strips = 1;
        convolve_strip(&whole, 0, 0, 0);
    }
    for (i64 b = 0; b < blocks; b++)
        convolve_own(work, image, block + b, from, to, room + b * (end - top) * work->second->x_strides[2], top);
    __atomic_fetch_or(&work->free_slots, 1ull << slot, __ATOMIC_RELEASE);
}

/* Rows of strips, and slots; whether there are as many slots as threads. */
static i32 cut_pair(pair *work)
{
    const ag_convolution *first = work->first, *second = work->second;
    const i64 threads = work->rt->threads, tall = second->counts[0], reach = (second->kernel[0] - 1) * second->dilation[0];
    work->panels = count_panels(first, 0);
    const i64 across = second->x_strides[2] * parts(first->blocks, work->panels); /* numbers of a row of a slot */
    const i64 most = BAND_BYTES / (i64)sizeof(REAL) / across - reach;
    i64 strips = at_least(parts(threads, second->images * work->panels), parts(tall, at_least(1, most / second->stride[0])));
    work->height = parts(tall, at_most(strips, tall)), work->strips = parts(tall, work->height);
    const i64 rows = at_most(second->lengths[0], (work->height - 1) * second->stride[0] + reach + 1);
    work->numbers = rows * across;
    const i64 all = second->images * first->blocks * second->lengths[0] * second->x_strides[2];
    const i64 slots = at_most(SLOTS, all / at_least(work->numbers, 1));
    work->free_slots = slots >= 64 ? ~0ull : (1ull << slots) - 1;
    return slots >= threads;
}

/* Run a convolution whose x another one computes, and its epilogue if the arrays have constant strides; return whether
   that ran. */
static i32 convolve_pair(const ag_runtime *rt, const ag_convolution *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    if (of->images <= 0 || of->counts[0] <= 0 || of->counts[1] <= 0 || of->blocks <= 0) return 0;
    pair work = {.rt = rt, .first = of->first, .second = of, .rows = lay_out(rt, of, joined, 0, 0)};
    if (of->first->blocks != of->blocks || work.rows.flat || !cut_pair(&work)) {
        convolve(rt, of->first);
        return convolve(rt, of);
    }
    const double each = (double)of->images * (double)(of->blocks * of->out_block) * (double)(of->lengths[0] * of->lengths[1]);
    const double all = each * (double)(of->first->channels * of->first->kernel[0] * of->first->kernel[1]);
    const i64 count = of->images * work.panels * work.strips;
    if (all > LONG) rt->listen();
    if (rt->threads > 1 && all >= ALONE) rt->parallel(rt, count, pair_task, &work);
    else
        for (i64 k = 0; k < count && !(all > LONG && rt->stopped()); k++) pair_task(&work, k);
    return work.rows.together;
}

static i32 convolve_either(const ag_runtime *rt, const ag_convolution *of)
{
    return of->first ? convolve_pair(rt, of) : of->tile ? convolve_tiles(rt, of) : convolve(rt, of);
}
#define CONVOLVE convolve_either
#endif
