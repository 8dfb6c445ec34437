/* c = alpha * a @ b + beta * c for any sizes and strides: the blocks, and their division among threads.

   Each task runs the blocked algorithm of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication"
   (2008), independently: no thread waits for another to pack, or reads panels from the cache of another core.

       for each task, of at most SIDE rows and columns of c
           for each WIDTH columns and DEPTH rows of b:  pack them into panels of COLUMNS columns, for the level 2 cache
               for each ROWS rows of a and c:  pack those of a, if they are not contiguous or COLUMN_VECTORS
                   for each panel:  multiply
                   after the last rows of b:  the epilogue, on these rows of c, which are still in the cache

   A small b, or a b for few rows, is read in place, as is an a for few columns.  Constant weights are packed at compile
   time and have a driver of their own: kernels/packed.

   Every number of c is summed in one order, in equal blocks of at most DEPTH, and tasks begin at whole tiles: the
   division of the work does not change a bit. */
#pragma once
#include "panels.c"

enum { WIDTH = 2048 / sizeof(REAL), SIDE = 2048, FAIR = 512 };
enum { ROWS_AHEAD = 4 };    /* rows of b that are prefetched before they are packed */
enum { ROUND = 4 * DEPTH }; /* work between checks for Ctrl-C: some 10 ms per task */
enum {
    ALONE = 1 << 20,
    TASK = 1 << 21,
    LONG = 1 << 28
}; /* multiplications: on one thread; of a task; between checks */
enum { MOST = 1 << 30 }; /* multiplications of a task: 40 ms without a check for Ctrl-C */
enum { STORED = 32 };    /* multiplications that take as long as writing one number of c */
/* Panels of b that use a before that is packed; rows of a, and numbers of b, for which b need not be packed, unless a
   panel would be narrower than a vector and have to be copied for each tile. */
enum { REUSED = 4, FEW = 4 * ROWS, LITTLE = 64 * 64 };
/* Bytes of b that a core has near; a larger b that is not packed, for still fewer rows, is read along its rows, so many
   at a time, as memory is read fastest: down a column of 2048 float64 took three times as long.  What a number of it
   takes to be fetched then, in multiplications. */
enum { NEAR = 1 << 20, FEWER = 2 * ROWS, STREAMED = 32, FETCHED = 32 };

/* A call of ag_product, or of window_product: there `grouped` says that the last axis of the batch is none of c, which has
   the rows of its matrices one after the other; and b_rows and b_columns, if they are not NULL, where the numbers of b lie,
   in elements: that of row p and column j at b[b_rows[p] + b_columns[j]], whatever the last two of b_strides.  after: the
   epilogue of each finished block of c, or NULL.  Its loops are the axes of c, and may be further ones, 1 long, in front of
   the last. */
typedef struct batched_product {
    i32 rank;
    const i64 *batch;
    i64 m, n, k;
    const void *alpha, *a;
    const i64 *a_strides;
    const void *b;
    const i64 *b_strides;
    const void *beta;
    void *c;
    const ag_nest *after;
    void *const *data;
    const i64 *strides; /* of a launch of it */
    i32 grouped;
    const i64 *b_rows, *b_columns;
    i32 in_panels;
} batched_product;

typedef struct product {
    i64 m, n, k;
    T alpha, beta, *c;
    const T *a, *b;
    i64 a0, a1, b0, b1, c0;
    const batched_product *of;
    const i64 *place; /* of the matrices in the batch, one position an axis */
    i32 is_mirrored;  /* numbers behind the diagonal are not computed, but copied from before it */
} product;

/* The sums over [start, end) of a product, and how they are shared out. */
typedef struct sharing {
    const ag_runtime *rt;
    const product *of;
    i64 start, end, depth;     /* depth: of a block, the last may be shorter */
    i64 rows, columns, across; /* of a task; tasks beside each other */
    i32 packs;                 /* panels of b; otherwise b is read in place */
} sharing;

/* Rows [row, row + depth) of b and columns [column, column + width) of b and c. */
typedef struct block {
    const product *of;
    i64 column, width, row, depth;
    const REAL *panels; /* of b; NULL: b is read in place */
} block;

INLINE i64 round_up(i64 n, i64 unit) { return parts(n, unit) * unit; }

/* Epilogue of `several` products along the last axis of the batch, on rows [i, i + m) and columns [j, j + n) of c. */
static void follow_each(const product *x, i64 several, i64 i, i64 j, i64 m, i64 n)
{
    const batched_product *of = x->of;
    const ag_nest *nest = of->after;
    if (!nest) return;
    const i32 down = of->rank - of->grouped, across = nest->rank - 1;
    i64 lengths[AG_MOST_AXES], detail[4];
    void *data[AG_MOST_ARRAYS];
    for (i32 l = 0; l < across; l++) lengths[l] = 1;
    if (down > 0) lengths[down - 1] = several;
    lengths[down] = m, lengths[across] = n;
    if (of->grouped) i += x->place[down] * of->m;
    for (i32 k = 0; k < nest->arrays; k++) {
        const i64 *strides = of->strides + k * nest->rank;
        i64 offset = i * strides[down] + j * strides[across];
        for (i32 l = 0; l < down; l++) offset += x->place[l] * strides[l];
        data[k] = (char *)of->data[k] + offset * nest->items[k];
    }
    nest->part(nest, lengths, data, of->strides, detail);
}

static void follow(const product *x, i64 i, i64 j, i64 m, i64 n) { follow_each(x, 1, i, j, m, n); }

/* ---- Prefetch of the next operands during computation ------------------------------------------------------------ */

/* Lines of memory: `inner` of them, `step` bytes apart, `outer` times, `along` bytes apart. */
typedef struct lines {
    const char *from;
    i64 inner, step, outer, along;
    i64 at_once, i, o; /* at_once: lines prefetched at a time; next: line i of round o */
} lines;

/* Plan the prefetch of m rows of a from row i on, in as many portions as the block has panels. */
static lines rows_to_pack(const block *work, i64 i, i64 m)
{
    const product *x = work->of;
    const i64 size = sizeof(T), k = work->depth;
    lines all = {(const char *)(x->a + i * x->a0 + work->row * x->a1), k, x->a1 * size, m, x->a0 * size, 0, 0, 0};
    if (x->a1 == 1) all.inner = parts(k * size, LINE_BYTES), all.step = LINE_BYTES;
    else if (x->a0 == 1) all.outer = 1;
    all.at_once = parts(all.inner * all.outer, parts(work->width, COLUMNS));
    return all;
}

static void fetch_portion(lines *all)
{
    for (i64 k = all->at_once; k > 0 && all->o < all->outer; k--) {
        __builtin_prefetch(all->from + all->o * all->along + all->i * all->step, 0, 2);
        if (++all->i == all->inner) all->i = 0, all->o++;
    }
}

/* Prefetch the numbers of c to which a tile is added. */
static void fetch_target(const target *to)
{
    for (i64 i = 0; i < to->m; i++)
        for (i64 j = 0; j < to->n; j += LANES) __builtin_prefetch(to->c + i * to->c0 + j, 1);
}

/* Compute all columns of the block for m <= ROWS rows from row i on; `next` rows follow. */
static void multiply_rows(const block *work, i64 i, i64 m, i64 next)
{
    const product *x = work->of;
    const i64 k = work->depth;
    const T *a = x->a + i * x->a0 + work->row * x->a1;
    REAL left[(1 + COMPLEX) * ROWS * DEPTH];
    REAL right[(1 + COMPLEX) * COLUMNS * DEPTH] __attribute__((aligned(VECTOR_BYTES)));
    left_panel panel;
    lines ahead = {.at_once = 0};
    if (COMPLEX || (work->width > REUSED * COLUMNS && (COLUMN_VECTORS || x->a1 != 1))) {
        pack_rows(m, k, a, x->a0, x->a1, left);
        panel = packed_rows(left);
        if (next > 0) ahead = rows_to_pack(work, i + m, next);
    } else panel = unpacked_rows(m, a, x->a0, x->a1);
    target to = {x->alpha, work->row ? 1 : x->beta, 0, x->c0, m, 0, 0};
    i64 n;
    for (i64 j = 0; j < work->width; j += n) {
        n = at_most(COLUMNS, work->width - j);
        if (!work->panels && n < COLUMNS) n = at_most(n, LANES);
        const i64 width = panel_width(n), column = work->column + j;
        const T *b = x->b + work->row * x->b0 + column * x->b1;
        const REAL *from = right;
        i64 step = (1 + COMPLEX) * width;
        to.c = x->c + i * x->c0 + column, to.n = n, to.skip = 0;
        if (work->panels) from = work->panels + (1 + COMPLEX) * j * k;
        else if (!COMPLEX && !x->of->b_rows && x->b1 == 1
                 && column + n >= width) { /* a last panel begins further left */
            const i64 skip = width - n;
            from = (const REAL *)(b - skip), step = x->b0;
            if (j >= skip && to.alpha == 1 && to.beta == 0) to.c -= skip, to.n = width; /* the same numbers once more */
            else to.skip = skip;
        } else if (x->of->b_rows)
            pack_by_tables(k, n, width, x->b, x->of->b_rows + work->row, x->of->b_columns + column, right);
        else pack_columns(k, n, width, b, x->b0, x->b1, right);
        if (ahead.at_once) fetch_portion(&ahead);
        if (work->row) fetch_target(&to);
        (width == LANES       ? multiply_one
         : m > ROWS / 2       ? multiply_full
         : !COMPLEX && m == 1 ? multiply_row
                              : multiply_half)(k, &panel, from, step, &to);
    }
    if (work->row + k == x->k) follow(x, i, work->column, m, work->width);
}

/* Compute columns [j, j + n) of the block, outside whole panels. */
static void pack_panel(const block *work, i64 j, i64 n, REAL *to)
{
    const product *x = work->of;
    const i64 k = work->depth, column = work->column + j;
    const i64 *rows = x->of->b_rows;
    if (rows) pack_by_tables(k, n, panel_width(n), x->b, rows + work->row, x->of->b_columns + column, to);
    else pack_columns(k, n, panel_width(n), x->b + work->row * x->b0 + column * x->b1, x->b0, x->b1, to);
}

/* Return the panels of a packed b: blocks of at most DEPTH rows, each with its columns in panels. */
INLINE const REAL *panels_of(const block *work)
{
    const product *x = work->of;
    return (const REAL *)x->b + work->row * round_up(x->n, LANES) + work->column * work->depth;
}

/* Pack whole panels row by row, the fastest order in b; rows are far apart, so later ones are prefetched. */
static void pack_block(const block *work, REAL *panels)
{
    const product *x = work->of;
    const i32 lies_well = !COMPLEX && !x->of->b_rows && x->b1 == 1;
    const i64 k = work->depth, whole = lies_well ? work->width / COLUMNS * COLUMNS : 0;
    const T *b = x->b + work->row * x->b0 + work->column * x->b1;
    for (i64 p = 0; p < k; p++) {
        const REAL *row = (const REAL *)(b + p * x->b0);
        REAL *to = panels + p * COLUMNS;
        for (i64 j = 0; j < whole; j += COLUMNS, to += COLUMNS * k)
#pragma GCC unroll 2
            for (i64 v = j; v < j + COLUMNS; v += LANES) {
                __builtin_prefetch(row + ROWS_AHEAD * x->b0 + v);
                *(vector *)(to + v - j) = *(const unaligned *)(row + v);
            }
    }
    for (i64 j = whole; j < work->width; j += COLUMNS)
        pack_panel(work, j, at_most(COLUMNS, work->width - j), panels + (1 + COMPLEX) * j * k);
}

static void multiply_block(block *work, REAL *panels, i64 first, i64 last)
{
    work->panels = work->of->of->in_panels ? panels_of(work) : panels;
    if (panels) pack_block(work, panels);
    const i64 width = work->width;
    for (i64 i = first; i < last; i += ROWS) {
        if (work->of->is_mirrored) work->width = at_most(width, round_up(i + ROWS - work->column, COLUMNS));
        if (work->width > 0) multiply_rows(work, i, at_most(ROWS, last - i), at_most(ROWS, last - i - ROWS));
    }
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

static void multiply_task(void *context, i64 index)
{
    const sharing *work = context;
    const product *x = work->of;
    const i64 first = index / work->across * work->rows, last = at_most(first + work->rows, x->m);
    const i64 column = index % work->across * work->columns;
    const i64 end = at_most(column + work->columns, x->is_mirrored ? last : x->n);
    if (column >= end) return;
    const i64 width = round_up(at_most(WIDTH, end - column), COLUMNS);
    REAL *panels = work->packs ? work->rt->alloc((i64)sizeof(T) * width * work->depth) : 0;
    for (i64 j = column; j < end; j += WIDTH)
        for (i64 p = work->start; p < work->end; p += work->depth) {
            block part = {x, j, at_most(WIDTH, end - j), p, at_most(work->depth, work->end - p), 0};
            multiply_block(&part, panels, first, last);
        }
    work->rt->release(panels);
}

static i32 run(const ag_runtime *rt, i64 tasks, void (*task)(void *context, i64 index), void *context)
{
    if (tasks > 1) return rt->parallel(rt, tasks, task, context);
    task(context, 0);
    return 0;
}

/* Choose the sides of tasks and return their number: two to four per thread if there is enough work.  Tasks have at least
   FAIR rows and columns if that leaves two, and are nearly square, which minimizes packing.  For short sums, writing c
   dominates, so tasks have whole rows: two cores that write parts of one row wait for each other. */
static i64 share_out(sharing *work)
{
    const i64 m = work->of->m, n = work->of->n, k = work->end - work->start, threads = work->rt->threads;
    const i64 longer = k <= 4 * STORED ? 16 : 1; /* rows than columns may be */
    const double rows = (double)(work->depth == STREAMED ? m + FETCHED : m);
    const double all = rows * (double)n * (double)(k + STORED);
    const i64 most = at_least(2 * threads, at_most(4 * threads, m * n / (FAIR * FAIR)));
    const i64 wanted = at_least(threads < 2 ? 1 : at_most((i64)(all / TASK), most), (i64)(all / MOST));
    i64 down = parts(m, SIDE), across = parts(n, SIDE);
    while (down * across < wanted && (m > down * ROWS || n > across * COLUMNS))
        *(longer * m * across > n * down ? &down : &across) *= 2;
    work->rows = round_up(parts(m, down), ROWS);
    work->columns = round_up(parts(n, across), COLUMNS);
    work->across = parts(n, work->columns);
    return parts(m, work->rows) * work->across;
}

/* ---- A matrix times itself, transposed ---------------------------------------------------------------------------- */

enum { MIRRORED = 64, SQUARE = 32 }; /* rows and sums from which on it pays; rows and columns that are copied at once */

/* Whether numbers on both sides of the diagonal are sums of the same products, in one order: equal bits. */
static i32 is_symmetric(const product *x)
{
    const i32 is_itself = x->a == x->b && x->m == x->n && x->a0 == x->b1 && x->a1 == x->b0;
    return is_itself && !COMPLEX && !x->of->b_rows && !x->of->after && x->beta == 0 && x->n >= MIRRORED
           && x->k >= MIRRORED;
}

/* Copy the numbers of SQUARE rows before the diagonal to its other side. */
static void mirror_task(void *context, i64 index)
{
    const product *x = context;
    const i64 first = index * SQUARE, last = at_most(first + SQUARE, x->m);
    for (i64 column = 0; column < last; column += SQUARE)
        for (i64 j = column; j < at_most(column + SQUARE, last); j++)
            for (i64 i = at_least(first, j + 1); i < last; i++) x->c[j * x->c0 + i] = x->c[i * x->c0 + j];
}

/* ---- One product ------------------------------------------------------------------------------------------------- */

static __attribute__((unused)) i32 multiply(const ag_runtime *rt, const product *given)
{
    product of = *given;
    const product *const x = &of;
    of.is_mirrored = is_symmetric(x);
    const double all = (double)x->m * (double)x->n * (double)x->k;
    const i32 is_near = (double)x->n * (double)x->k <= (double)NEAR / sizeof(T);
    const i32 little = x->m <= (is_near ? FEW : FEWER) || (x->n >= LANES && x->n * at_most(x->k, DEPTH) <= LITTLE);
    const i32 lies_well = !COMPLEX && !x->of->b_rows && x->b1 == 1 && little;
    if (all < ALONE && x->n <= WIDTH && x->k <= DEPTH) { /* too small to share, or to decide about it */
        REAL *panels = lies_well ? 0 : rt->alloc((i64)sizeof(T) * round_up(x->n, COLUMNS) * x->k);
        block whole = {x, 0, x->n, 0, x->k, 0};
        multiply_block(&whole, panels, 0, x->m);
        if (panels) rt->release(panels);
        if (x->is_mirrored) run(rt, parts(x->m, SQUARE), mirror_task, &of);
        return 0;
    }
    const i64 depth = lies_well && !is_near ? STREAMED : parts(x->k, parts(x->k, DEPTH));
    if (all > LONG) rt->listen();
    for (i64 p = 0; p < x->k; p += ROUND / depth * depth) {
        sharing work = {rt, x, p, at_most(p + ROUND / depth * depth, x->k), depth, 0, 0, 0, !lies_well};
        if (run(rt, share_out(&work), multiply_task, &work) || rt->stopped()) return AG_STOPPED;
    }
    return x->is_mirrored ? run(rt, parts(x->m, SQUARE), mirror_task, &of) : 0;
}
