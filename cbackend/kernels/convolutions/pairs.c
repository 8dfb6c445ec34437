/* A convolution in blocks and the kernel that reads its result, a kernel for each channel or a pool, without an array for
   that result.

       for each panel of channels and strip of rows of y:
           the rows of the first one that its windows read, into a slot of its `y`
           the rows of y

   A slot stays in the cache of one processor.  Rows that two strips read are computed twice.  Sums have the order
   of the separate kernels. */
#pragma once
#include "depthwise.c"
#include "grouped.c"
#include "winograd.c"
#include "../pools/pools.c"
#include "../pools/neighbours.c"

#if !COMPLEX
enum { BAND_BYTES = 1 << 19 }; /* of a slot, beside which there are weights and rows of x in a cache */

/* How windows move along rows of x. */
typedef struct window_rows {
    i64 length, kernel, stride, dilation, before;
} window_rows;
#define WINDOW_ROWS(of) \
    ((window_rows){(of)->lengths[0], (of)->kernel[0], (of)->stride[0], (of)->dilation[0], (of)->before[0]})

typedef struct pair {
    const ag_runtime *rt;
    const ag_convolution *first;
    by_blocks second;
    window_rows windows;           /* of the second one */
    i64 panels, height, strips;    /* height: rows of y of a strip */
    i64 numbers;                   /* of a slot */
    unsigned long long free_slots; /* bit k: slot k is free */
} pair;

/* Rows [*top, *end) of x are those that the windows of rows [from, to) of y meet. */
static void find_met(window_rows of, i64 from, i64 to, i64 *top, i64 *end)
{
    const i64 reach = (of.kernel - 1) * of.dilation;
    *top = at_most(of.length, at_least(0, from * of.stride - of.before));
    *end = at_most(of.length, at_least(*top, (to - 1) * of.stride - of.before + reach + 1));
}

/* Rows [from, to) of the outputs of `blocks` blocks, from number `block` on, of one image: a convolution of its own. */
static ag_convolution part_of(const ag_convolution *of, i64 image, i64 block, i64 blocks, i64 from, i64 to, REAL *y)
{
    ag_convolution part = *of;
    i64 top, end;
    find_met(WINDOW_ROWS(of), from, to, &top, &end);
    part.images = 1, part.blocks = blocks, part.lengths[0] = end - top, part.counts[0] = to - from;
    part.before[0] = top - (from * of->stride[0] - of->before[0]);
    part.x = (const REAL *)of->x + image * of->x_strides[0] + top * of->x_strides[2];
    part.w = (const REAL *)of->w + block * of->out_block * of->channels * of->kernel[0] * of->kernel[1];
    part.bias = (const REAL *)of->bias + block * of->out_block, part.y = y, part.after = (ag_after){0};
    return part;
}

static void pair_task(void *context, i64 index)
{
    pair *work = context;
    const ag_convolution *first = work->first;
    const i64 panel = index % work->panels, strip_number = index / work->panels % work->strips;
    const i64 image = index / work->panels / work->strips, from = strip_number * work->height;
    const i64 to = at_most(from + work->height, work->second.rows),
              block = begin_of(first->blocks, work->panels, panel);
    const i64 blocks = begin_of(first->blocks, work->panels, panel + 1) - block, slot = claim_slot(&work->free_slots);
    const i64 row = work->second.x_strides[2]; /* numbers */
    REAL *room = (REAL *)first->y + slot * work->numbers;
    i64 top, end;
    find_met(work->windows, from, to, &top, &end);
    if (end > top) {
        const ag_convolution part = part_of(first, image, block, blocks, top, end, room);
        direct whole = lay_out(work->rt, &part, 0, 0, 0);
        whole.height = whole.rows, whole.strips = 1;
        convolve_strip(&whole, 0, 0, 0);
    }
    for (i64 b = 0; b < blocks; b++)
        run_rows(&work->second, room + (b * (end - top) - top) * row, image, block + b, from, to);
    __atomic_fetch_or(&work->free_slots, 1ull << slot, __ATOMIC_RELEASE);
}

/* Rows of strips, and slots; whether there are as many slots as threads. */
static i32 cut_pair(pair *work)
{
    const by_blocks *second = &work->second;
    const window_rows windows = work->windows;
    const i64 threads = work->rt->threads, tall = second->rows, reach = (windows.kernel - 1) * windows.dilation;
    work->panels = count_panels(work->first, 0);
    const i64 across = second->x_strides[2] * parts(second->blocks, work->panels); /* numbers of a row of a slot */
    const i64 most = BAND_BYTES / (i64)sizeof(REAL) / across - reach;
    i64 strips =
        at_least(parts(threads, second->images * work->panels), parts(tall, at_least(1, most / windows.stride)));
    work->height = parts(tall, at_most(strips, tall)), work->strips = parts(tall, work->height);
    const i64 rows = at_most(windows.length, (work->height - 1) * windows.stride + reach + 1);
    work->numbers = rows * across;
    const i64 all = second->images * second->blocks * windows.length * second->x_strides[2];
    const i64 slots = at_most(SLOTS, all / at_least(work->numbers, 1));
    work->free_slots = slots >= 64 ? ~0ull : (1ull << slots) - 1;
    return slots >= threads;
}

/* Run a pair in one pass; return whether there is memory for it. */
static i32 run_pair(pair *work)
{
    const ag_convolution *first = work->first;
    if (work->second.images <= 0 || first->blocks <= 0 || first->blocks != work->second.blocks || !cut_pair(work))
        return 0;
    const double numbers = (double)first->images * (double)(first->blocks * first->out_block)
                           * (double)(first->counts[0] * first->counts[1]);
    const double all = numbers * (double)(first->channels * first->kernel[0] * first->kernel[1]);
    const i64 count = work->second.images * work->panels * work->strips;
    by_blocks *second = &work->second;
    const i64 numbers_of_y = second->images * second->blocks * second->total * second->after.width;
    strip_slots slots = slots_of(work->rt, &second->after, second->y,
                                 work->height * second->columns * second->after.width, numbers_of_y);
    second->slots = slots.numbers ? &slots : 0;
    if (all > LONG) work->rt->listen();
    if (work->rt->threads > 1 && all >= ALONE) work->rt->parallel(work->rt, count, pair_task, work);
    else
        for (i64 k = 0; k < count && !(all > LONG && work->rt->stopped()); k++) pair_task(work, k);
    return 1;
}

/* Run a convolution and a kernel for each channel of its result. */
static void convolve_pair(const ag_runtime *rt, const ag_convolution_pair *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    const ag_convolution *second = of->second;
    const direct rows = lay_out(rt, second, joined, 0, 0);
    pair work = {.rt = rt, .first = of->first, .second = depthwise_tasks(&rows), .windows = WINDOW_ROWS(second)};
    if (rows.total > 0 && !rows.flat && run_pair(&work)) {
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
    pair work = {.rt = rt, .first = of->first, .second = pool_tasks(second, joined), .windows = WINDOW_ROWS(second)};
    if (work.second.total > 0 && run_pair(&work)) {
        follow_all(rt, &second->after, &work.second.after);
        return;
    }
    convolve(rt, of->first);
    pool(rt, second);
}
#endif
