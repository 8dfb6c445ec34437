/* Kernels in parallel chunks: large nests are split into tasks for the team, with checks for Ctrl-C between them.

       k(n0, n1, y, x)   -->   k(t0, n1, y + 0 * t0 * s0, x + ...), k(t0, n1, y + 1 * t0 * s0, x + ...), ...

   A kernel runs any chunk of its loops if it gets other extents and pointers, so its text does not depend on the
   split.  Loops are split from the outermost on until there are enough tasks.  If a reduced loop is split, each
   chunk has a place for its own results, and these are combined in pairs, neighbours first.  A reduced loop is split
   by lengths alone, even where one thread runs all chunks.  So the bits of a result depend neither on the number of
   threads nor on what else the kernel computes.

   A kernel that may visit an element repeatedly (AG_SEQUENTIAL: a scatter) is divided only along loops that never do
   so; the share of each thread runs in chunks one after the other, in the order of the whole. */
#pragma once
#include "costs.h"
#include "threads.h"

enum { MOST_LOOPS = 32, MOST_ARRAYS = 256, MOST_PARTS = 1024, DETAILS = 4 };
enum {
    /* TASK_NS, the work of a task, and ALONE_NS, that of one thread alone, are those of the cost model: costs.h. */
    LONG_NS = 2000000,      /* calls that last longer listen to Ctrl-C at once; longer tasks get narrower */
    LINE_OF_ELEMENTS = 256, /* the innermost loop is split at multiples: whole blocks of a sum, whole vectors */
    MOST_BETWEEN = 4,       /* the distance of elements from which on not all bytes between them are read */
    FEWEST_COLUMNS = 8,     /* multiple for a free innermost loop whose tasks are long */
    FOLD_AT_LEAST = 64      /* least elements per result that has to be combined */
};

typedef struct grid {
    const ag_nest *nest;
    const i64 *lengths, *strides;
    void *const *data;
    i64 tile[MOST_LOOPS], tiles[MOST_LOOPS];
    i64 tasks;
    i32 reduced;                 /* the reduced loop that is split, or -1 */
    i64 size[MOST_ARRAYS];       /* elements of each output */
    char *partial[MOST_ARRAYS];  /* results of all chunks, one after the other; NULL: one chunk */
    i64 failed, detail[DETAILS]; /* the first task that failed, and why */
    i32 status;                  /* 0: none failed */
    i32 stoppable;               /* it belongs to a call that listens to Ctrl-C */
    i32 sequential;              /* its tasks run one after the other */
} grid;

/* Return the estimated nanoseconds of a kernel for these extents.  The estimate of a step is that of contiguous arrays:
   where elements lie apart, the bytes between them are read as well. */
static double estimate(const ag_nest *nest, const i64 *lengths, const i64 *strides)
{
    i64 between = 0;
    for (i32 k = 0; nest->rank && k < nest->arrays; k++) {
        const i64 stride = strides[k * nest->rank + nest->rank - 1], step = stride < 0 ? -stride : stride;
        between += step > 1 ? ((step < MOST_BETWEEN ? step : MOST_BETWEEN) - 1) * nest->items[k] : 0;
    }
    double work = 1e-3 * (double)(nest->picoseconds + between * MOVED_PS);
    for (i32 l = 0; l < nest->rank; l++) work *= (double)lengths[l];
    return work;
}

static i32 has(i64 loops, i32 loop) { return (i32)(loops >> loop) & 1; }
static i64 ceiling(i64 a, i64 b) { return a / b + (a % b != 0); }

/* Return the elements that a result is reduced from. */
static double reduced_elements(const ag_nest *nest, const i64 *lengths)
{
    double count = 1;
    for (i32 l = 0; l < nest->rank; l++)
        if (!has(nest->free, l)) count *= (double)lengths[l];
    return count;
}

/* Return the reduced loop to split: the outermost if it is long enough, else the longest; -1 if there is none. */
static i32 loop_to_fold(const ag_nest *nest, const i64 *lengths)
{
    i32 best = -1;
    for (i32 l = 0; l < nest->rank; l++)
        if (has(nest->reduced, l) && (best < 0 || (lengths[best] < FOLD_AT_LEAST && lengths[l] > lengths[best])))
            best = l;
    return best;
}

/* Return the number of which tiles of the innermost loop are multiples.  Ctrl-C is checked between tasks, so a task is
   narrower if it would last long: a column costs thousands of rows, which are not split further. */
static i64 line_of(const grid *g)
{
    const i32 inner = g->nest->rank - 1;
    double column = 1e-3 * g->nest->picoseconds;
    for (i32 l = 0; l < inner; l++) column *= (double)g->tile[l];
    if (inner == g->reduced || column * LINE_OF_ELEMENTS <= LONG_NS) return LINE_OF_ELEMENTS;
    const i64 columns = (i64)(LONG_NS / column) / FEWEST_COLUMNS * FEWEST_COLUMNS;
    return columns < FEWEST_COLUMNS ? FEWEST_COLUMNS : columns;
}

/* Return the least steps of a loop per task: many if each result has to be combined later. */
static i64 least_tile(const grid *g, i32 loop)
{
    i64 least = loop == g->nest->rank - 1 ? line_of(g) : 1, others = 1;
    if (loop != g->reduced) return least;
    for (i32 l = 0; l < g->nest->rank; l++)
        if (l != loop && !has(g->nest->free, l) && others < FOLD_AT_LEAST) others *= g->lengths[l];
    i64 enough = ceiling(FOLD_AT_LEAST, others);
    return enough > least ? enough : least;
}

/* Whether the kernel revisits elements of an output along a loop, which chunks would then write concurrently. */
static i32 is_broadcast(const grid *g, i32 loop)
{
    for (i32 k = 0; k < g->nest->outputs; k++)
        if (has(g->nest->moves[k], loop) && g->lengths[loop] > 1 && g->strides[k * g->nest->rank + loop] == 0) return 1;
    return 0;
}

/* Return the steps of the reduced loop in each part that an output asks for, by the lengths that it reduces alone. */
static i64 steps_for(const grid *g, i32 k)
{
    i64 others = 1, inside = 0;
    for (i32 l = 0; l < g->nest->rank; l++) {
        i32 is_kept = has(g->nest->moves[k], l);
        inside |= is_kept && l > g->reduced;
        if (!is_kept && l != g->reduced && others < ELEMENTS_OF_PART) others *= g->lengths[l] ? g->lengths[l] : 1;
    }
    return ceiling(inside ? ROWS_OF_PART : ELEMENTS_OF_PART, others);
}

/* Return the steps of the reduced loop in each part: the most that an output asks for; bits depend on them. */
static i64 steps_of_part(const grid *g)
{
    i64 fewest = ceiling(g->lengths[g->reduced], MOST_PARTS), steps = 1;
    for (i32 k = 0; k < g->nest->outputs; k++) {
        i64 own = has(g->nest->moves[k], g->reduced) ? steps : steps_for(g, k);
        if (own > steps) steps = own;
    }
    return steps < fewest ? fewest : steps;
}

/* Split the reduced loop into parts, and loops from the outermost on until there are as many tasks as wanted. */
static void cut(grid *g, double wanted)
{
    const ag_nest *nest = g->nest;
    g->tasks = 1;
    g->reduced = loop_to_fold(nest, g->lengths);
    for (i32 l = 0; l < nest->rank; l++) {
        i64 length = g->lengths[l], pieces = (i64)(wanted / (double)g->tasks + 1);
        g->tile[l] = length, g->tiles[l] = 1;
        i32 is_split = l == g->reduced || (has(nest->free, l) && (double)g->tasks < wanted);
        if (!is_split || is_broadcast(g, l)) continue;
        i64 tile = l == g->reduced ? steps_of_part(g) : ceiling(length, pieces), least = least_tile(g, l);
        if (l == nest->rank - 1) tile = ceiling(tile, line_of(g)) * line_of(g);
        g->tile[l] = tile < least ? least : tile;
        if (g->tile[l] > length) g->tile[l] = length;
        g->tiles[l] = ceiling(length, g->tile[l]);
        g->tasks *= g->tiles[l];
    }
    if (g->reduced >= 0 && g->tiles[g->reduced] == 1) g->reduced = -1;
}

/* Split the loops from the outermost on, down to the first that is split into more than single steps: the chunks, one
   after the other, then keep the order of the whole. */
static void cut_sequentially(grid *g, double wanted)
{
    i32 uncut = 0;
    g->tasks = 1;
    g->reduced = -1;
    for (i32 l = 0; l < g->nest->rank; l++) {
        i64 length = g->lengths[l], pieces = (i64)(wanted / (double)g->tasks + 1);
        g->tile[l] = uncut ? length : ceiling(length, pieces);
        g->tiles[l] = ceiling(length, g->tile[l]);
        g->tasks *= g->tiles[l];
        uncut |= g->tile[l] > 1;
    }
}

/* Allocate places for the results of chunks; 0 if there is no memory.  Nobody sees them before they are combined, so
   threads that share the memory of an output, as those of one binding do, never see half of a sum. */
static i32 make_partials(grid *g)
{
    const ag_nest *nest = g->nest;
    for (i32 k = 0; k < nest->outputs; k++) g->partial[k] = NULL;
    for (i32 k = 0; g->reduced >= 0 && k < nest->outputs; k++) {
        if (has(nest->moves[k], g->reduced)) continue;
        g->size[k] = 1;
        for (i32 l = 0; l < nest->rank; l++)
            if (has(nest->moves[k], l)) g->size[k] *= g->lengths[l];
        g->partial[k] = pool_alloc(g->tiles[g->reduced] * g->size[k] * nest->items[k]);
        if (!g->partial[k]) return 0;
    }
    return 1;
}

/* Return the place for the results of a chunk. */
static void *results_of(const grid *g, i32 k, i64 part)
{
    return g->partial[k] + part * g->size[k] * g->nest->items[k];
}

/* The failed task with the lowest number counts, so all tasks run. */
static void note_failure(grid *g, i64 index, i32 status, const i64 *detail)
{
    pthread_mutex_lock(&team_lock);
    if (!g->status || index < g->failed) {
        g->failed = index, g->status = status;
        for (i32 k = 0; k < DETAILS; k++) g->detail[k] = detail[k];
    }
    pthread_mutex_unlock(&team_lock);
}

static i32 run_sequentially(const grid *whole, const i64 *lengths, void *const *data, i64 *detail);

/* Return the position, among all elements, of this one in the chunk of these lengths that begins at `first`. */
static void place_in_whole(const grid *g, const i64 *lengths, const i64 *first, i64 *position)
{
    i64 at[MOST_LOOPS], left = *position;
    for (i32 l = g->nest->rank - 1; l >= 0; left /= lengths[l--]) at[l] = first[l] + left % lengths[l];
    *position = 0;
    for (i32 l = 0; l < g->nest->rank; l++) *position = *position * g->lengths[l] + at[l];
}

static void run_part(void *context, i64 index)
{
    grid *g = context;
    const ag_nest *nest = g->nest;
    i64 lengths[MOST_LOOPS], first[MOST_LOOPS], part = 0, left = index;
    void *data[MOST_ARRAYS];
    for (i32 l = nest->rank - 1; l >= 0; l--) {
        i64 at = left % g->tiles[l];
        left /= g->tiles[l];
        first[l] = at * g->tile[l];
        lengths[l] = g->lengths[l] - first[l] < g->tile[l] ? g->lengths[l] - first[l] : g->tile[l];
        if (l == g->reduced) part = at;
    }
    for (i32 k = 0; k < nest->arrays; k++) {
        i64 offset = 0;
        for (i32 l = 0; l < nest->rank; l++) offset += first[l] * g->strides[k * nest->rank + l];
        char *start = g->data[k];
        if (k < nest->outputs && g->partial[k]) start = results_of(g, k, part);
        data[k] = start + offset * nest->items[k];
    }
    i64 detail[DETAILS] = {0};
    i32 sequential = nest->order == AG_SEQUENTIAL && !g->sequential;
    i32 status =
        sequential ? run_sequentially(g, lengths, data, detail) : nest->part(nest, lengths, data, g->strides, detail);
    if (status) note_failure(g, index, status, detail);
    for (i32 k = 0; !status && nest->extrema && k < nest->outputs; k++)
        if (nest->extrema[k] >= 0) place_in_whole(g, lengths, first, data[k]);
}

/* Run the chunks of one part of `whole` in order; return 0, the kernel's status if one failed, or AG_STOPPED. */
static i32 run_sequentially(const grid *whole, const i64 *lengths, void *const *data, i64 *detail)
{
    grid g = *whole;
    g.lengths = lengths, g.data = data, g.status = 0, g.sequential = 1;
    cut_sequentially(&g, estimate(g.nest, lengths, g.strides) / TASK_NS);
    for (i64 k = 0; k < g.tasks && !g.status; k++) {
        if (g.stoppable && is_raised()) return AG_STOPPED;
        run_part(&g, k);
    }
    for (i32 k = 0; g.status && k < DETAILS; k++) detail[k] = g.detail[k];
    return g.status;
}

/* Combine the results of a chunk with those of an earlier one: positions first, since they need both extrema. */
static void combine_parts(const grid *g, i64 into, i64 from)
{
    const ag_nest *nest = g->nest;
    for (i32 k = 0; nest->extrema && k < nest->outputs; k++) {
        i32 e = nest->extrema[k];
        if (e < 0) continue;
        nest->picks[k](results_of(g, k, into), results_of(g, k, from), results_of(g, e, into), results_of(g, e, from));
    }
    for (i32 k = 0; k < nest->outputs; k++)
        if (g->partial[k] && nest->folds[k]) nest->folds[k](g->size[k], results_of(g, k, into), results_of(g, k, from));
}

/* Combine the results of all chunks into the outputs: neighbours, then pairs of neighbours, ... */
static void combine(const grid *g)
{
    i64 parts = g->reduced < 0 ? 1 : g->tiles[g->reduced];
    for (i64 step = 1; step < parts; step *= 2)
        for (i64 part = 0; part + step < parts; part += 2 * step) combine_parts(g, part, part + step);
    for (i32 k = 0; k < g->nest->outputs; k++)
        if (g->partial[k]) __builtin_memcpy(g->data[k], g->partial[k], (size_t)(g->size[k] * g->nest->items[k]));
}

static i32 run_in_parts(const ag_runtime *rt, grid *g, double work, i64 *detail)
{
    g->status = g->sequential = 0;
    g->stoppable = on_main_thread() && attention == LISTENING;
    cut(g, work < ALONE_NS ? 0 : work / TASK_NS);
    if (!make_partials(g)) g->tasks = 0;
    i32 stopped = 0;
    if (work < ALONE_NS)
        for (i64 k = 0; k < g->tasks; k++) run_part(g, k);
    else stopped = g->tasks && parallel(rt, g->tasks, run_part, g);
    if (g->tasks && !stopped && !g->status) combine(g);
    for (i32 k = 0; k < g->nest->outputs; k++) pool_release(g->partial[k]);
    if (!g->tasks) return g->nest->part(g->nest, g->lengths, g->data, g->strides, detail); /* no memory for chunks */
    for (i32 k = 0; g->status && detail && k < DETAILS; k++) detail[k] = g->detail[k];
    return stopped ? AG_STOPPED : g->status;
}

enum { ROOM = 512 }; /* most strides that are reordered */

/* Order loops as the first output lies in memory, the innermost last; 0: they already are. */
static i32 in_order_of_memory(const ag_nest *nest, const i64 *lengths, const i64 *strides, i64 *n, i64 *s)
{
    i32 loops[MOST_LOOPS], rank = nest->rank, moved = 0;
    if (nest->order != AG_ANY_ORDER || rank > MOST_LOOPS || nest->arrays * rank > ROOM) return 0;
    for (i32 k = 0; k < rank; k++) {
        i32 j = k;
        for (; j > 0 && llabs(strides[loops[j - 1]]) < llabs(strides[k]) && lengths[k] > 1; j--)
            loops[j] = loops[j - 1];
        loops[j] = k, moved |= j < k;
    }
    for (i32 k = 0; k < rank && moved; k++) {
        n[k] = lengths[loops[k]];
        for (i32 a = 0; a < nest->arrays; a++) s[a * rank + k] = strides[a * rank + loops[k]];
    }
    return moved;
}

static i32 launch(const ag_runtime *rt, const ag_nest *nest, const i64 *lengths, void *const *data, const i64 *strides,
                  i64 *detail)
{
    i64 n[MOST_LOOPS], s[ROOM];
    if (in_order_of_memory(nest, lengths, strides, n, s)) lengths = n, strides = s;
    double work = estimate(nest, lengths, strides);
    if (work > LONG_NS) listen_to_interrupt();
    if (poll_interrupt()) return AG_STOPPED;
    i32 is_whole = work < ALONE_NS && !(nest->reduced && reduced_elements(nest, lengths) > ROWS_OF_PART);
    if (is_whole || nest->rank > MOST_LOOPS || nest->arrays > MOST_ARRAYS)
        return nest->part(nest, lengths, data, strides, detail);
    grid g;
    g.nest = nest, g.lengths = lengths, g.data = data, g.strides = strides;
    return run_in_parts(rt, &g, work, detail);
}
