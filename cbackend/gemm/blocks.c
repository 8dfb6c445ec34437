/* c = alpha * a @ b + beta * c for any sizes and strides: the blocks, and who works on them.

   The blocked algorithm of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008), with
   the loop over rows outside of that over panels of b:

       for each WIDTH columns of b and c
           for each DEPTH rows of b:  pack them into panels of COLUMNS columns                     (tasks over panels)
               for each ROWS rows of a and c:  pack those of a, into the level 1 cache             (tasks over rows)
                   for each panel:  multiply
                   after the last rows of b:  what follows the product, on these rows of c, which are still in the cache

   Little of b is read where it lies, and so is a where few columns use it.

   How the work is shared out follows from sizes alone, and every number of c is summed in one order, in blocks of
   DEPTH: the bits are the same on any number of threads.  Measured on an AVX-512 Zen 4, float32, one thread, DEPTH 384
   and WIDTH 2048: 92 to 94 % of the peak of its multipliers at 1024 and 2048. */

enum { DEPTH = 384, WIDTH = 2048 };
enum { ALONE = 1 << 20, TASK = 1 << 21, LONG = 1 << 28 }; /* multiplications: not worth sharing; a task; Ctrl-C */
enum { REUSED = 4, LITTLE = 64 * 64 }; /* panels that use a before it is packed; numbers of b that need no packing */

typedef struct product {
    i64 m, n, k;
    T alpha, beta, *c;
    const T *a, *b;
    i64 a0, a1, b0, b1, c0;
    const ag_product *of;
    const i64 *place; /* of the matrices in the batch, one position an axis */
} product;

/* Rows [row, row + depth) of b and columns [column, column + width) of b and c, and how they are shared out. */
typedef struct block {
    const product *of;
    i64 column, width, row, depth;
    REAL *panels; /* of b; NULL: it is read where it lies */
    i64 rows_a_task, columns_a_task, tasks_across;
} block;

INLINE i64 round_up(i64 n, i64 unit) { return parts(n, unit) * unit; }

/* What follows the product, on rows [i, i + m) and columns [j, j + n) of c. */
static void follow(const product *x, i64 i, i64 j, i64 m, i64 n)
{
    const ag_product *of = x->of;
    const ag_nest *nest = of->after;
    if (!nest) return;
    const i32 rank = of->rank;
    i64 lengths[AG_MOST_AXES], said[4];
    void *data[AG_MOST_ARRAYS];
    for (i32 l = 0; l < rank; l++) lengths[l] = 1;
    lengths[rank] = m, lengths[rank + 1] = n;
    for (i32 k = 0; k < nest->arrays; k++) {
        const i64 *strides = of->strides + k * nest->rank;
        i64 offset = i * strides[rank] + j * strides[rank + 1];
        for (i32 l = 0; l < rank; l++) offset += x->place[l] * strides[l];
        data[k] = (char *)of->data[k] + offset * nest->items[k];
    }
    nest->part(nest, lengths, data, of->strides, said);
}

/* Columns [first, end) of the block for m <= ROWS rows from row i on. */
static void multiply_rows(const block *work, i64 i, i64 m, i64 first, i64 end)
{
    const product *x = work->of;
    const i64 k = work->depth;
    const T *a = x->a + i * x->a0 + work->row * x->a1;
    REAL left[(1 + COMPLEX) * ROWS * DEPTH];
    REAL right[(1 + COMPLEX) * COLUMNS * DEPTH] __attribute__((aligned(VECTOR_BYTES)));
    left_panel panel;
    if (COMPLEX || end - first > REUSED * COLUMNS) {
        pack_rows(m, k, a, x->a0, x->a1, left);
        panel = packed_rows(left);
    } else panel = unpacked_rows(m, a, x->a0, x->a1);
    target to = {x->alpha, work->row ? 1 : x->beta, 0, x->c0, m, 0, 0};
    i64 n;
    for (i64 j = first; j < end; j += n) {
        n = at_most(COLUMNS, end - j);
        if (!work->panels && n < COLUMNS) n = at_most(n, LANES);
        const i64 width = panel_width(n), column = work->column + j;
        const T *b = x->b + work->row * x->b0 + column * x->b1;
        const REAL *from = right;
        i64 step = (1 + COMPLEX) * width;
        to.c = x->c + i * x->c0 + column, to.n = n, to.skip = 0;
        if (work->panels) from = work->panels + (1 + COMPLEX) * j * k;
        else if (!COMPLEX && x->b1 == 1 && column + n >= width) { /* a last panel begins further left */
            to.skip = width - n;
            from = (const REAL *)(b - to.skip), step = x->b0;
        } else pack_columns(k, n, width, b, x->b0, x->b1, right);
        (width == LANES ? multiply_one : multiply_two)(k, &panel, from, step, &to);
    }
    if (work->row + k == x->k) follow(x, i, work->column + first, m, end - first);
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

static void pack_task(void *context, i64 index)
{
    const block *work = context;
    const product *x = work->of;
    const i64 first = index * work->columns_a_task, end = at_most(first + work->columns_a_task, work->width);
    for (i64 j = first; j < end; j += COLUMNS) {
        const i64 n = at_most(COLUMNS, end - j);
        const T *b = x->b + work->row * x->b0 + (work->column + j) * x->b1;
        pack_columns(work->depth, n, panel_width(n), b, x->b0, x->b1, work->panels + (1 + COMPLEX) * j * work->depth);
    }
}

static void multiply_task(void *context, i64 index)
{
    const block *work = context;
    const i64 down = index / work->tasks_across * work->rows_a_task;
    const i64 end = at_most(down + work->rows_a_task, work->of->m);
    const i64 first = index % work->tasks_across * work->columns_a_task;
    const i64 last = at_most(first + work->columns_a_task, work->width);
    for (i64 i = down; i < end; i += ROWS) multiply_rows(work, i, at_most(ROWS, end - i), first, last);
}

static i32 run(const ag_runtime *rt, i64 tasks, void (*task)(void *context, i64 index), void *context)
{
    if (tasks > 1) return rt->parallel(rt, tasks, task, context);
    task(context, 0);
    return 0;
}

/* All rows of c for one block of b.  Few rows are shared out by columns as well. */
static i32 multiply_block(const ag_runtime *rt, block *work)
{
    const i64 m = work->of->m, share = at_least(1, TASK / work->depth); /* numbers of c in a task */
    const i32 alone = m * work->width < ALONE / work->depth;
    if (work->panels) {
        work->columns_a_task = alone ? work->width : round_up(share / 16, COLUMNS);
        if (run(rt, parts(work->width, work->columns_a_task), pack_task, work)) return AG_STOPPED;
    }
    work->rows_a_task = alone ? m : round_up(at_least(share / work->width, 1), ROWS);
    work->columns_a_task = alone || m > 4 * ROWS ? work->width : round_up(share / at_most(m, ROWS), COLUMNS);
    work->tasks_across = parts(work->width, work->columns_a_task);
    return run(rt, parts(m, work->rows_a_task) * work->tasks_across, multiply_task, work) ? AG_STOPPED : 0;
}

/* ---- One product ------------------------------------------------------------------------------------------------- */

static i32 multiply(const ag_runtime *rt, const product *x)
{
    const i64 depth = at_most(x->k, DEPTH), width = at_most(x->n, WIDTH);
    const i32 lies_well = !COMPLEX && x->b1 == 1 && (x->m <= REUSED * ROWS || x->n * depth <= LITTLE);
    REAL *panels = lies_well ? 0 : rt->alloc((i64)sizeof(T) * round_up(width, COLUMNS) * depth);
    i32 stopped = 0;
    if ((double)x->m * (double)x->n * (double)x->k > LONG) rt->listen();
    for (i64 j = 0; j < x->n && !stopped; j += WIDTH)
        for (i64 p = 0; p < x->k && !stopped; p += DEPTH) {
            block work = {x, j, at_most(WIDTH, x->n - j), p, at_most(DEPTH, x->k - p), panels, 0, 0, 0};
            stopped = multiply_block(rt, &work);
        }
    rt->release(panels);
    return stopped;
}
