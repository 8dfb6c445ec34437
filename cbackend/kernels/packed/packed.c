/* Products of rows and weights in a packed format: the driver of all formats.

   It divides rows and panels of outputs among threads, walks them, and runs the epilogue on finished rows.  A format is a
   C file in real/ (float32 and float64) or single/ (float32); it is a unit, which begins with this file and ends with
   PACKED_FORMAT.  It supplies the tile: some rows by one panel of weights, or two.

       for each task, of some rows and panels
           for each part of the sum
               for each strip of rows:  load them, if the format copies x
                   for each panel:  for some rows of the strip:  a tile
                   after the last part:  the epilogue, on these rows of y, which are still in the cache

   An output is summed in one order whatever the tasks are, so neither threads nor other rows change its bits.  A format
   that does not store zeros adds the products of infinities and NaNs with them to the rows that have any. */
#pragma once
#include "../products/arithmetic.c"
#include "packed.h"

enum { PACKED_FAILED = 2 }; /* the outcome MEMORY */
enum { SHARES = 16 }; /* tasks that panels are divided into, if the format does not say how many panels it takes */
enum { SQUARE = 512 * 512 }; /* numbers of y that are worth a task, of formats whose tasks are as high as wide */
enum { SHORT_SUM = 128, LONGER = 16 }; /* for short sums, writing y dominates: such tasks may be so many times wider */
enum { MOST_OF_TASK = 1 << 29 };       /* multiplications without a check for Ctrl-C */
#define LONG_CALL 1e8                  /* multiplications of a call that listens to Ctrl-C */

#ifndef LOADED
#define LOADED 1 /* numbers that `load` copies */
#endif
#ifndef MOST_SUMS
#define MOST_SUMS 512 /* of a tile */
#endif
#ifndef SPARE
#define SPARE 1 /* sums of a strip that a task keeps for the epilogue alone */
#endif

typedef struct packed_work {
    const ag_packed_product *of;
    const ag_runtime *rt;
    const ag_nest *after;      /* the epilogue of finished rows, or NULL */
    i64 panels, depth, parts;  /* panels of w; numbers of a part of the sum; parts */
    i64 wide;                  /* most panels of a task; 0: a share of them */
    i64 strip;                 /* rows that stay in the cache for all panels of a task; 0: those of a tile */
    i64 share, height, across; /* panels and rows of a task; tasks beside each other */
    i32 spare;                 /* sums of a strip stay in the task's memory: only the epilogue reads them */
    char *special;             /* for each row, whether it has an infinity or a NaN; NULL: it does not matter */
    void *own;                 /* of the format */
} packed_work;

/* Rows of x by panels of w, in one part of the sum.  The numbers at `to` are overwritten in the first part; later ones are
   added to them. */
typedef struct packed_tile {
    const packed_work *work;
    i64 part, row, rows, panel, panels;
    i64 first, strip, strips; /* the first panel of the task; the strip's number, of so many */
    /* Plan of `load`: a panel's tiles prefetch [ahead, ahead + ahead_bytes), those of the next panel what follows,
       `ahead_lines` cache lines in some steps of their loop. */
    const char *ahead;
    i64 ahead_bytes, ahead_lines;
    const REAL *loaded; /* what `load` copied of the rows of the strip */
    REAL *y;            /* the first sum of the tile in y, or in the task's memory; rows are `across` numbers apart */
    i64 across;
    REAL *to; /* rows, `step` numbers apart */
    i64 step;
} packed_tile;

/* The kernel of a format.  Functions may be NULL, but for `rows` and `tile`. */
typedef struct packed_format {
    i64 width;                                   /* outputs of a panel */
    i64 most_rows;                               /* of a tile */
    i64 wide;                                    /* most panels of a task, unless `prepare` chooses them; 0: a share */
    i32 is_square;                               /* tasks are as high as wide; else rows are divided last */
    double alone;                                /* multiplications that take too short to be divided */
    i64 few;                                     /* rows of a strip up to which tiles have two panels; 0: none */
    i64 (*rows)(i64 left);                       /* the rows of a tile, of those that are left */
    i32 (*prepare)(packed_work *work);           /* 0, or that memory ran out */
    void (*finish)(packed_work *work);           /* release what `prepare` took */
    void (*load)(packed_tile *at, REAL *loaded); /* copy the rows of a strip, for a part; plan what is prefetched */
    void (*tile)(const packed_tile *at);
    /* Add the products of a row of a tile with zeros of w that are not stored.  Rows without NULL need it if special. */
    void (*add_lost)(const packed_tile *at, i64 row, REAL *to);
} packed_format;

static const packed_format format; /* that of the unit: PACKED_FORMAT defines it */

INLINE const REAL *row_of(const ag_packed_product *of, i64 row) { return (const REAL *)of->x + row * of->x_strides[0]; }

/* Rows of a tile whose kernels are of 6, 4, 2 and 1 rows, of 4, 2 and 1, or of 2 and 1. */
static __attribute__((unused)) i64 rows_of_six(i64 left) { return left >= 6 ? 6 : left >= 4 ? 4 : left >= 2 ? 2 : 1; }
static __attribute__((unused)) i64 rows_of_eight(i64 left) { return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1; }
static __attribute__((unused)) i64 rows_of_two(i64 left) { return left >= 2 ? 2 : 1; }

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

/* Run tasks of `all` multiplications together, on several threads if they take long. */
static void run_tasks(const packed_work *work, i64 tasks, double all, void (*task)(void *context, i64 index))
{
    const ag_runtime *rt = work->rt;
    const i32 is_long = all > LONG_CALL;
    if (is_long) rt->listen();
    if (rt->threads > 1 && tasks > 1 && all > format.alone) rt->parallel(rt, tasks, task, (void *)work);
    else
        for (i64 k = 0; k < tasks && !(is_long && rt->stopped()); k++) task((void *)work, k);
}

/* Choose the panels and rows of a task and return the number of tasks: up to four a thread if there is enough work. */
static i64 share_out(packed_work *work, double all)
{
    const ag_packed_product *of = work->of;
    const i64 threads = work->rt->threads, rows = of->rows, longer = of->depth <= SHORT_SUM ? LONGER : 1;
    i64 most = 4 * threads, down = 1,
        across = parts(work->panels, work->wide ? work->wide : parts(work->panels, SHARES));
    if (format.is_square) most = at_least(2 * threads, at_most(most, rows * of->outputs / SQUARE));
    const i64 worth = threads < 2 || all <= format.alone ? 1 : at_most((i64)(2 * all / format.alone), most);
    const i64 wanted = at_least(worth, (i64)(all / MOST_OF_TASK));
    while (down * across < wanted && (across < work->panels || rows > down * format.most_rows)) {
        const i32 is_high = format.is_square && longer * rows * across > of->outputs * down;
        const i32 by_rows = across >= work->panels || (is_high && rows > down * format.most_rows);
        *(by_rows ? &down : &across) *= 2;
    }
    work->share = parts(work->panels, across), work->across = parts(work->panels, work->share);
    work->height = parts(parts(rows, format.most_rows), down) * format.most_rows;
    return work->across * parts(rows, work->height);
}

/* Run the epilogue on rows [row, row + rows) and outputs [output, output + outputs) of y, whose sums lie at `spare` if it
   is not NULL. */
static void follow(const packed_work *work, i64 row, i64 rows, i64 output, i64 outputs, const REAL *spare)
{
    const ag_nest *nest = work->after;
    const ag_after *after = &work->of->after;
    i64 lengths[AG_MOST_AXES], detail[4], strides[AG_MOST_ARRAYS * 2];
    void *data[AG_MOST_ARRAYS];
    const i32 last = nest->rank - 1; /* further axes are 1 long */
    for (i32 l = 1; l < last; l++) lengths[l] = 1;
    lengths[0] = rows, lengths[last] = outputs;
    for (i32 k = 0; k < nest->arrays; k++) {
        const i64 *own = after->strides + k * nest->rank;
        const i32 is_spare = spare && after->data[k] == work->of->y;
        data[k] =
            is_spare ? (void *)spare : (char *)after->data[k] + (row * own[0] + output * own[last]) * nest->items[k];
        if (spare) strides[2 * k] = is_spare ? outputs : own[0], strides[2 * k + 1] = own[last];
    }
    nest->part(nest, lengths, data, spare ? strides : after->strides, detail);
}

INLINE void copy_tile(i64 rows, i64 count, REAL *to, i64 to_step, const REAL *from, i64 from_step)
{
    for (i64 r = 0; r < rows; r++)
        __builtin_memcpy(to + r * to_step, from + r * from_step, (unsigned long)count * sizeof *to);
}

/* Run a tile in y itself, or beside it if y ends within the last panel. */
INLINE void run_tile(packed_tile *at)
{
    const packed_work *work = at->work;
    const ag_packed_product *of = work->of;
    const i64 width = at->panels * format.width, output = at->panel * format.width;
    const i64 count = at_most(width, of->outputs - output);
    REAL *const y = at->y, sums[MOST_SUMS];
    const i32 is_whole = count == width;
    at->to = is_whole ? y : sums, at->step = is_whole ? at->across : width;
    if (!is_whole && at->part) {
        __builtin_memset(sums, 0, sizeof sums);
        copy_tile(at->rows, count, sums, width, y, at->across);
    }
    format.tile(at);
    for (i64 r = 0; r < at->rows && work->special; r++)
        if (work->special[at->row + r]) format.add_lost(at, at->row + r, at->to + r * at->step);
    if (!is_whole) copy_tile(at->rows, count, y, at->across, sums, width);
}

static void packed_task(void *context, i64 index)
{
    const packed_work *work = context;
    const i64 first = index % work->across * work->share, end = at_most(first + work->share, work->panels);
    const i64 top = index / work->across * work->height, bottom = at_most(top + work->height, work->of->rows);
    const i64 output = first * format.width, outputs = at_most(end * format.width, work->of->outputs) - output;
    REAL loaded[LOADED] __attribute__((aligned(64))), sums[SPARE] __attribute__((aligned(64)));
    const i32 is_spare = work->spare && work->strip * outputs <= SPARE;
    REAL *const y = is_spare ? sums : (REAL *)work->of->y + output;
    const i64 across = is_spare ? outputs : work->of->outputs;
    const i64 strips = parts(bottom - top, work->strip ? work->strip : format.most_rows);
    for (i64 part = 0; part < work->parts; part++)
        for (i64 start = top, stop, number = 0; start < bottom; start = stop, number++) {
            stop = at_most(bottom, start + (work->strip ? work->strip : format.rows(bottom - start)));
            packed_tile at = {.work = work,
                              .part = part,
                              .row = start,
                              .rows = stop - start,
                              .across = across,
                              .loaded = loaded,
                              .first = first,
                              .strip = number,
                              .strips = strips};
            if (format.load) format.load(&at, loaded);
            for (at.panel = first; at.panel < end; at.panel += at.panels) {
                at.panels = stop - start <= format.few && at.panel + 1 < end ? 2 : 1;
                for (at.row = start; at.row < stop; at.row += at.rows) {
                    at.rows = format.rows(stop - at.row);
                    at.y = y + (is_spare ? at.row - start : at.row) * across + (at.panel - first) * format.width;
                    run_tile(&at);
                }
            }
            if (work->after && part + 1 == work->parts)
                follow(work, start, stop - start, output, outputs, is_spare ? sums : 0);
        }
}

/* ---- The product ------------------------------------------------------------------------------------------------- */

/* Whether one of n numbers is an infinity or a NaN, whose product with zero is NaN. */
static i32 any_special(i64 n, const REAL *x)
{
    typedef REAL lanes __attribute__((vector_size(32), aligned(sizeof(REAL)), may_alias));
    enum { EACH = 32 / sizeof(REAL) };
    lanes sums = {0};
    REAL sum = 0;
    i64 i = 0;
    for (; i + EACH <= n; i += EACH) sums += *(const lanes *)(x + i) * 0;
    for (; i < n; i++) sum += x[i] * 0;
    for (i64 l = 0; l < EACH; l++) sum += sums[l];
    return sum != 0;
}

/* Compute all of y, and the epilogue if the format runs it.  Return 0, or that memory ran out. */
static i32 multiply_all(packed_work *work)
{
    const ag_packed_product *of = work->of;
    if (format.add_lost) {
        work->special = work->rt->alloc(of->rows + 64);
        if (!work->special) return PACKED_FAILED;
        for (i64 r = 0; r < of->rows; r++) work->special[r] = (char)any_special(of->depth, row_of(of, r));
    }
    if (format.prepare && format.prepare(work)) return PACKED_FAILED;
    work->parts = work->depth < of->depth ? parts(of->depth, work->depth) : 1;
    work->spare = of->spare && work->after && work->after->rank == 2 && work->strip && work->parts == 1;
    const double all = (double)of->rows * (double)of->each;
    run_tasks(work, share_out(work, all), all, packed_task);
    return 0;
}

/* The product of a format.  The epilogue follows row by row where it runs along rows and outputs, else when all is done. */
static i32 multiply_packed(const ag_runtime *rt, const ag_packed_product *of)
{
    const ag_after *after = &of->after;
    const i32 together = after->nest && after->lengths[0] == of->rows && after->lengths[1] == of->outputs;
    packed_work work = {
        .of = of,
        .rt = rt,
        .after = together ? after->nest : 0,
        .panels = parts(of->outputs, format.width),
        .depth = of->depth,
        .wide = format.wide,
    };
    const i32 failed = of->rows > 0 && of->outputs > 0 ? multiply_all(&work) : 0;
    if (format.finish) format.finish(&work);
    rt->release(work.special);
    i64 detail[4];
    if (!failed && after->nest && !together)
        rt->launch(rt, after->nest, after->lengths, after->data, after->strides, detail);
    return failed;
}

typedef i32 packed_function(const ag_runtime *rt, const ag_packed_product *of);

/* The end of the file of a format: the entry that fills its slot, by the members of its packed_format. */
#define PACKED_FORMAT(...) \
    static const packed_format format = {__VA_ARGS__}; \
    EXPORT void ag_blas_install(packed_function **slot, void *const *found, i32 takes_wide, i64 alone) \
    { \
        (void)found, (void)takes_wide, (void)alone; \
        *slot = multiply_packed; \
    }
