/* A convolution in blocks and the kernel that reads its result, a kernel for each channel or a pool, without an array for
   that result.

       for each panel of channels and strip of rows of y:
           the rows of the first one that its windows read, into a slot of the buffer for its result
           the rows of y

   A slot stays in the cache of one processor.  Rows that two strips read are computed twice.  Sums have the order
   of the separate kernels. */
#pragma once
#include "depthwise.c"
#include "grouped.c"

#if !COMPLEX
enum { BAND_BYTES = 1 << 19 }; /* of a slot, beside which there are weights and rows of x in a cache */

/* How windows move along rows of x. */
typedef struct window_rows {
    i64 length, kernel, stride, dilation, before;
} window_rows;
#define WINDOW_ROWS(of) \
    ((window_rows){(of)->lengths[0], (of)->kernel[0], (of)->stride[0], (of)->dilation[0], (of)->before[0]})

/* Rows [top, end) of a panel of the first one, which the windows of strip number `strip` of an image read. */
typedef struct band {
    i64 image, panel, block, blocks, strip, top, end;
    REAL *room; /* for these rows of `blocks` blocks, from number `block` on */
} band;
struct pair;
typedef void band_function(const struct pair *work, const band *at);

/* Numbers are those of x of the second one: floats, or words of two channels. */
typedef struct pair {
    const ag_runtime *rt;
    const ag_convolution *first;
    band_function *function; /* computes rows of the first one ... */
    const void *of;          /* ... which may need this */
    REAL *room;              /* of slots */
    by_blocks second;
    window_rows windows;           /* of the second one */
    i64 most;                      /* rows of the first one in a slot */
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

static void pair_task(void *context, i64 index)
{
    pair *work = context;
    const ag_convolution *first = work->first;
    band at = {.panel = index % work->panels, .strip = index / work->panels % work->strips};
    at.image = index / work->panels / work->strips, at.block = begin_of(first->blocks, work->panels, at.panel);
    at.blocks = begin_of(first->blocks, work->panels, at.panel + 1) - at.block;
    const i64 from = at.strip * work->height, to = at_most(from + work->height, work->second.rows);
    const i64 slot = claim_slot(&work->free_slots), row = work->second.x_strides[2];
    at.room = work->room + slot * work->numbers;
    find_met(work->windows, from, to, &at.top, &at.end);
    if (at.end > at.top) work->function(work, &at);
    for (i64 b = 0; b < at.blocks; b++)
        run_rows(&work->second, at.room + (b * (at.end - at.top) - at.top) * row, at.image, at.block + b, from, to);
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
    const i64 most = at_most(work->most, BAND_BYTES / (i64)sizeof(REAL) / across) - reach;
    i64 strips =
        at_least(parts(threads, second->images * work->panels), parts(tall, at_least(1, most / windows.stride)));
    work->height = parts(tall, at_most(strips, tall)), work->strips = parts(tall, work->height);
    work->most = at_most(windows.length, (work->height - 1) * windows.stride + reach + 1);
    work->numbers = work->most * across;
    const i64 all = second->images * second->blocks * windows.length * second->x_strides[2];
    const i64 slots = at_most(SLOTS, all / at_least(work->numbers, 1));
    work->free_slots = slots >= 64 ? ~0ull : (1ull << slots) - 1;
    return slots >= threads;
}

/* Choose strips and slots; return whether a pair can run in one pass. */
static i32 can_run_pair(pair *work)
{
    const ag_convolution *first = work->first;
    return work->second.images > 0 && first->blocks > 0 && first->blocks == work->second.blocks && cut_pair(work);
}

/* Run a pair for which `can_run_pair` holds, in one pass. */
static void run_pair(pair *work)
{
    const ag_convolution *first = work->first;
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
}
#endif
