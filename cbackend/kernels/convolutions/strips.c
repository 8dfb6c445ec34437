/* Common parts of all kernels on channels in blocks: strips of rows, the tasks that compute them, and the kernel that reads y.

   x and y are images, blocks, rows, columns, and the adjacent channels of a block; y is contiguous.  A strip is some rows
   of one block of y, or of several. */
#pragma once
#include "../products/blocks.c"
#include "../products/choices.c"

#if !COMPLEX
/* Least columns of a task; columns of a row where rows are segments of all columns; bytes of y that stay in the cache for
   the epilogue. */
enum { STRIP = 48, SEGMENT = 96, STRIP_BYTES = 1 << 16 };
enum { SLOTS = 64 }; /* the most strips in work at once of which each has a slot */

/* The kernel that reads y. */
typedef struct epilogue {
    const ag_nest *nest; /* NULL: none that can run on strips */
    void *const *data;
    const i64 *joined; /* strides; one loop runs over rows, columns and numbers of a block */
    i64 width;         /* numbers of a block */
    i32 passing;       /* -1, or the array of the nest that is y, if the nest does not write over y */
} epilogue;

/* Slots for strips of a y that the epilogue alone reads: parts of y, each of which stays in the cache of one processor. */
typedef struct strip_slots {
    REAL *y;
    i64 numbers;             /* of a slot */
    unsigned long long free; /* bit k: slot k is free */
} strip_slots;

/* Return the epilogue of y, `blocks` blocks of `width` channels at counts[0] rows and counts[1] columns of each image.  It
   runs on strips if its loops are the axes of y, and each array has constant strides along rows, columns and numbers. */
static epilogue epilogue_of(const ag_after *after, const void *y, i64 images, i64 blocks, const i64 *counts, i64 width,
                            i64 *joined)
{
    const i64 shape[] = {images, blocks, counts[0], counts[1], width}, *strides = after->strides;
    const epilogue none = {.width = width, .passing = -1};
    epilogue found = {after->nest, after->data, joined, width, -1};
    if (!after->nest) return none;
    for (i32 k = after->nest->arrays - 1; k >= 0; k--)
        if (after->data[k] == y) found.passing = k < after->nest->outputs ? -1 : k;
    for (i32 l = 0; l < 5; l++)
        if (after->lengths[l] != shape[l]) return none;
    for (i32 k = 0; k < after->nest->arrays; k++, strides += 5, joined += 5) {
        const i64 step = strides[4];
        if (strides[3] != step * width || strides[2] != step * width * counts[1]) return none;
        joined[0] = strides[0], joined[1] = strides[1], joined[2] = joined[3] = 0, joined[4] = step;
    }
    return found;
}

/* Run what follows a whole result, unless it has run on strips. */
static void follow_all(const ag_runtime *rt, const ag_after *after, const epilogue *on_strips)
{
    i64 detail[4];
    if (after->nest && !on_strips->nest)
        rt->launch(rt, after->nest, after->lengths, after->data, after->strides, detail);
}

/* Claim a slot; wait until one is free. */
static __attribute__((unused)) i64 claim_slot(unsigned long long *free_slots)
{
    unsigned long long seen;
    do seen = __atomic_load_n(free_slots, __ATOMIC_RELAXED);
    while (
        !seen
        || !__atomic_compare_exchange_n(free_slots, &seen, seen & (seen - 1), 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    return __builtin_ctzll(seen);
}

/* Return slots for strips of `numbers` of the `all` numbers of y; none (numbers: 0) if there are too few for all threads. */
static __attribute__((unused)) strip_slots cut_slots(const ag_runtime *rt, void *y, i64 numbers, i64 all)
{
    const i64 count = at_most(SLOTS, all / at_least(1, numbers));
    if (numbers <= 0 || count < rt->threads) return (strip_slots){0};
    return (strip_slots){y, numbers, count >= 64 ? ~0ull : (1ull << count) - 1};
}

/* The same; none if y is read by others than the epilogue. */
static __attribute__((unused)) strip_slots slots_of(const ag_runtime *rt, const epilogue *after, void *y, i64 numbers,
                                                    i64 all)
{
    return after->nest && after->passing >= 0 ? cut_slots(rt, y, numbers, all) : (strip_slots){0};
}

/* Run the epilogue on positions [from, to) of `blocks` blocks of an image.  slot: NULL, or these positions of the blocks of
   y, in place of y. */
static void follow_strip(const epilogue *after, i64 image, i64 block, i64 blocks, i64 from, i64 to, REAL *slot)
{
    const ag_nest *nest = after->nest;
    if (!nest) return;
    i64 lengths[] = {1, 1, 1, 1, (to - from) * after->width}, detail[4];
    void *data[AG_MOST_ARRAYS];
    for (i64 b = block; b < block + blocks; b++) {
        for (i32 k = 0; k < nest->arrays; k++) {
            const i64 *strides = after->joined + 5 * k;
            data[k] = (char *)after->data[k]
                      + (image * strides[0] + b * strides[1] + from * after->width * strides[4]) * nest->items[k];
            if (slot && k == after->passing) data[k] = slot + (b - block) * lengths[4];
        }
        nest->part(nest, lengths, data, after->joined, detail);
    }
}

/* Return the rows of a strip of y, which takes `all` multiplications; beside: strips that cover the same rows; width:
   numbers of a position of a strip. */
static i64 height_of(const ag_runtime *rt, double all, i64 beside, i64 rows, i64 columns, i64 total, i64 width)
{
    const i64 tasks = all < ALONE ? 1 : at_most((i64)(all / ALONE), 8 * rt->threads);
    const i64 least = at_least(parts(tasks, beside), total * width * (i64)sizeof(REAL) / STRIP_BYTES);
    const i64 strips = at_least(1, at_most(at_most(least, rows), total / STRIP));
    return even_parts(rows, parts(rows, strips), parts(STRIP, columns), beside, rt->threads);
}

/* Rows [row, end) of block number `block` of y, from the same block of x. */
typedef void rows_function(const void *of, const REAL *x, REAL *y, i64 block, i64 row, i64 end);

/* A kernel whose blocks of y each need one block of x, or some near it. */
typedef struct by_blocks {
    rows_function *function;
    const void *of;
    const REAL *x;
    const i64 *x_strides;
    REAL *y;
    i64 images, blocks;
    i64 rows, columns, total;   /* rows of `columns` of `total` columns */
    i64 height, strips, groups; /* rows of a strip; groups: of blocks, each a task */
    epilogue after;
    strip_slots *slots; /* NULL, or those of strips of y */
} by_blocks;

/* Rows [row, end) of a block, and their epilogue. */
static void run_rows(const by_blocks *work, const REAL *x, i64 image, i64 block, i64 row, i64 end)
{
    const i64 width = work->after.width, from = row * work->columns, to = at_most(end * work->columns, work->total);
    REAL *y = work->y + (image * work->blocks + block) * work->total * width, *room = 0;
    strip_slots *slots = work->slots;
    i64 slot = 0;
    if (slots) slot = claim_slot(&slots->free), room = slots->y + slot * slots->numbers, y = room - from * width;
    work->function(work->of, x, y, block, row, end);
    follow_strip(&work->after, image, block, 1, from, to, room);
    if (slots) __atomic_fetch_or(&slots->free, 1ull << slot, __ATOMIC_RELEASE);
}

static void run_group(void *context, i64 index)
{
    const by_blocks *work = context;
    const i64 group = index % work->groups, number = index / work->groups % work->strips;
    const i64 image = index / work->groups / work->strips, each = parts(work->blocks, work->groups);
    const i64 row = number * work->height, end = at_most(row + work->height, work->rows);
    for (i64 block = group * each; block < at_most((group + 1) * each, work->blocks); block++)
        run_rows(work, work->x + image * work->x_strides[0] + block * work->x_strides[1], image, block, row, end);
}

/* Run a kernel of `each` multiplications a number, with its epilogue on strips. */
static __attribute__((unused)) void run_blocks(const ag_runtime *rt, by_blocks *work, i64 each)
{
    if (work->images <= 0 || work->total <= 0 || work->blocks <= 0) return;
    const double numbers = (double)work->images * (double)(work->blocks * work->after.width) * (double)work->total;
    const double all = numbers * (double)(each + STORED / 2);
    work->height =
        height_of(rt, all, work->images * work->blocks, work->rows, work->columns, work->total, work->after.width);
    work->strips = parts(work->rows, work->height);
    work->groups =
        work->strips == 1 ? at_most(work->blocks, at_least(1, parts(4 * rt->threads, work->images))) : work->blocks;
    const i64 count = work->images * work->groups * work->strips, each_strip = work->height * work->columns;
    strip_slots slots = slots_of(rt, &work->after, work->y, each_strip * work->after.width, (i64)numbers);
    work->slots = slots.numbers ? &slots : 0;
    if (all > LONG) rt->listen();
    if (rt->threads > 1 && all >= ALONE) rt->parallel(rt, count, run_group, work);
    else
        for (i64 k = 0; k < count && !(all > LONG && k % 64 == 0 && rt->stopped()); k++) run_group(work, k);
}
#endif
