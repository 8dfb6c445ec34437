/* Products of matrices of bytes, in 32 bits and without error: c[m, n] = a[m, k] @ b[k, n].

   b is packed for the dot products of bytes.c.  A panel is a few vectors of columns:

       start      what is added to each column of c because a or b are flipped
       weights    for each four rows of b: columns, 4

   A tile is a few rows of a by all columns of a panel.  Its sums stay in registers until they are stored in c.  A task
   computes the rows of a strip in a panel.  If each panel has one task, the task also packs the panel: its weights are then in
   the cache of the processor that multiplies them.

   Numbers of a and b may have a sign or none.  The instructions take a without a sign and b with one (TAKES_SIGNED: both
   with one).  For others the sign bit is flipped: with a = a' + s and b = b' + t, where a' and b' are what is stored,

       sum a b = sum a' b' + s sum b' + t sum a */
#pragma once
#include "bytes.c"
#include "tiles.c"

enum { WHOLE_WORDS = 16 }; /* of a product of tiles */

/* A product of two matrices, cut into tasks. */
typedef struct product_work {
    const ag_byte_product *of;
    const byte *rows, *b;       /* the matrices */
    const byte *a;              /* rows as words, `row` bytes apart: those of the matrix, or `words` */
    byte *words, *packed;       /* packed: panels of b */
    i32 *c, *shifts;            /* shifts: what is added to each row of c; NULL: nothing */
    i64 row, groups, blocks;    /* groups: words of a row; blocks: vectors of columns */
    i64 panels, strips, height; /* height: rows of a strip */
    i32 packs, is_long;         /* packs: a task packs its panel */
    i32 by_tiles;               /* groups fill tiles, which take a as it is */
    i32 start;                  /* s of above */
    vector flipped;             /* the bits of a that are flipped */
    double all;                 /* multiplications */
} product_work;

/* Return where panel k begins. */
INLINE byte *panel_at(const product_work *work, i64 k)
{
    return work->packed + begin_of(work->blocks, work->panels, k) * (work->groups + 1) * VECTOR_BYTES;
}

/* Four numbers of each of LANES columns of b, from row q and column j on: zeros beyond the last row and column. */
INLINE vector words_of(const ag_byte_product *of, const byte *b, i64 q, i64 j)
{
    const i64 b0 = of->b_strides[of->rank], b1 = of->b_strides[of->rank + 1];
    const byte *from = b + q * b0 + j * b1;
    const byte flip = of->b_signed ? 0 : -128;
    const vector turns = (of->b_signed ? 0 : (i32)0x80808080) - (vector){0};
    const i32 whole = q + 4 <= of->k && j + LANES <= of->n;
    if (whole && b1 == 1) {
#if defined(__AVX512BW__) && defined(__AVX512VNNI__)
        return as_words(with_row_3(with_row_2(with_row_1(with_row_0(from), from + b0), from + 2 * b0), from + 3 * b0))
               ^ turns;
#else
        vector all = {0};
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) all |= without_sign(from + i * b0) << 8 * i;
        return all ^ turns;
#endif
    }
    if (whole && b0 == 1) {
        word all[LANES];
        for (i64 lane = 0; lane < LANES; lane++) all[lane] = *(const word *)(from + lane * b1);
        return *(const unaligned *)all ^ turns;
    }
    byte all[4 * LANES] = {0};
    for (i64 lane = 0; lane < at_most(LANES, of->n - j); lane++)
        for (i64 i = 0; i < at_most(4, of->k - q); i++) all[4 * lane + i] = (byte)(from[i * b0 + lane * b1] ^ flip);
    return *(const unaligned *)all;
}

/* Pack panel k. */
static void pack_panel(const product_work *work, i64 k)
{
    const vector ones = 0x01010101 - (vector){0};
    const i64 first = begin_of(work->blocks, work->panels, k),
              width = begin_of(work->blocks, work->panels, k + 1) - first;
    byte *const start = panel_at(work, k), *to = start + width * VECTOR_BYTES;
    vector totals[TILE_VECTORS] = {0};
    for (i64 group = 0; group < work->groups; group++)
        for (i64 v = 0; v < width; v++, to += VECTOR_BYTES) {
            const vector words = words_of(work->of, work->b, 4 * group, (first + v) * LANES);
            *(unaligned *)to = words;
            if (work->start) totals[v] = add_products(totals[v], ones, AS_WEIGHTS(words));
        }
    for (i64 v = 0; v < width; v++) *(unaligned *)(start + v * VECTOR_BYTES) = totals[v] * work->start;
}

static void pack_task(void *context, i64 index) { pack_panel(context, index); }

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", "no-schedule-insns2")
#endif

/* `rows` rows of a from x on, by a panel w of `vectors` vectors: to rows of c, `step` numbers apart. */
INLINE void multiply_tile(const int rows, const int vectors, const product_work *work, const byte *x, const byte *w,
                          const i32 *shifts, i32 *c, i64 step)
{
    const i64 row = work->row, groups = work->groups;
    const vector flip = work->flipped;
    vector sums[FEW_COLUMNS][TILE_VECTORS];
    const byte *from[FEW_COLUMNS];
#pragma GCC unroll 8
    for (int p = 0; p < rows; p++) {
        from[p] = x + p * row;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[p][v] = *(const unaligned *)(w + v * VECTOR_BYTES);
    }
    w += vectors * VECTOR_BYTES;
#pragma GCC unroll 1
    for (i64 group = 0; group < groups; group++, w += vectors * VECTOR_BYTES) {
        weights right[TILE_VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            right[v] = AS_WEIGHTS(*(const unaligned *)(w + v * VECTOR_BYTES));
            KEEP(right[v]);
            __builtin_prefetch(w + (AHEAD * vectors + v) * VECTOR_BYTES, 0, 3);
        }
#pragma GCC unroll 8
        for (int p = 0; p < rows; p++) {
            const vector left = (*(const word *)(from[p] + 4 * group) - (vector){0}) ^ flip;
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sums[p][v] = add_products(sums[p][v], left, right[v]);
        }
    }
#pragma GCC unroll 8
    for (int p = 0; p < rows; p++, c += step)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) *(unaligned *)(c + v * LANES) = sums[p][v] + (shifts ? shifts[p] : 0);
}

typedef void product_function(const product_work *, const byte *x, const byte *w, const i32 *shifts, i32 *c, i64 step);
#define PRODUCT_TILE(rows, vectors) \
    static __attribute__((noinline)) void product_##vectors##_##rows( \
        const product_work *work, const byte *x, const byte *w, const i32 *shifts, i32 *c, i64 step) \
    { \
        multiply_tile(rows, vectors, work, x, w, shifts, c, step); \
    }
#define PRODUCT_TILES(vectors) \
    PRODUCT_TILE(1, vectors) \
    PRODUCT_TILE(2, vectors) \
    PRODUCT_TILE(3, vectors) \
    PRODUCT_TILE(4, vectors)
#define MORE_PRODUCT_TILES(vectors) \
    PRODUCT_TILES(vectors) \
    PRODUCT_TILE(5, vectors) \
    PRODUCT_TILE(6, vectors)
#define PRODUCT_NAMES(vectors) \
    product_##vectors##_1, product_##vectors##_2, product_##vectors##_3, product_##vectors##_4
#define MORE_PRODUCT_NAMES(vectors) PRODUCT_NAMES(vectors), product_##vectors##_5, product_##vectors##_6
#if defined(__AVX512F__)
MORE_PRODUCT_TILES(1)
MORE_PRODUCT_TILES(2)
MORE_PRODUCT_TILES(3)
MORE_PRODUCT_TILES(4)
static product_function *const product_tiles[TILE_VECTORS][FEW_COLUMNS] = {
    {MORE_PRODUCT_NAMES(1)}, {MORE_PRODUCT_NAMES(2)}, {MORE_PRODUCT_NAMES(3)}, {MORE_PRODUCT_NAMES(4)}};
#else
PRODUCT_TILES(1)
PRODUCT_TILES(2)
static product_function *const product_tiles[TILE_VECTORS][FEW_COLUMNS] = {{PRODUCT_NAMES(1)}, {PRODUCT_NAMES(2)}};
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#if HAS_BYTE_TILES && defined(__AVX512F__)
enum { FEWEST_ROWS = 4 }; /* that are worth the shapes of tiles */

/* Whether tiles serve. */
static i32 fill_tiles(const ag_byte_product *of) { return of->k > 0 && of->m >= FEWEST_ROWS && may_use_tiles(); }

/* Rows [top, top + rows) of a by a panel, to `count` columns of c: to c itself where the sums are final. */
static void multiply_strip_by_tiles(const product_work *work, i64 top, i64 rows, const byte *panel, i64 vectors, i32 *c,
                                    i64 count)
{
    static const i32 origin;
    const i64 n = work->of->n, words = at_most(work->groups, TILE_WORDS);
    i32 whole[BLOCK_ROWS * 2 * LANES];
    i64 shaped = 0;
    for (i64 i = 0, some; i < rows; i += some) {
        some = at_most(BLOCK_ROWS, rows - i);
        if (some != shaped) shape_tiles(shaped = some, words);
        for (i64 v = 0; v < vectors; v += 2) {
            const i64 two = at_most(2, vectors - v), columns = at_most(count - v * LANES, two * LANES);
            i32 *const to = c + i * n + v * LANES;
            const i32 is_final = !work->shifts && columns == two * LANES;
            sum_block(&(tile_block){.x = work->a + (top + i) * work->row,
                                    .w = panel + (vectors + v) * VECTOR_BYTES,
                                    .step = work->row,
                                    .width = vectors * VECTOR_BYTES,
                                    .chunks = work->groups / words,
                                    .distance = TILE_BYTES,
                                    .places = 1,
                                    .place = &origin,
                                    .words = words,
                                    .c = is_final ? to : whole,
                                    .row = is_final ? 4 * n : two * VECTOR_BYTES,
                                    .is_signed = work->of->a_signed},
                      some, two);
            for (i64 p = 0; p < some && !is_final; p++) {
                const i32 more = work->shifts ? work->shifts[top + i + p] : 0;
                for (i64 j = 0; j < columns; j++) to[p * n + j] = whole[p * two * LANES + j] + more;
            }
        }
    }
    RELEASE_TILES();
}
#else
#define fill_tiles(of) 0
#endif

/* Compute the rows of a strip in a panel, in tiles of nearly equal height.  A tile that reaches beyond the last column is
   copied. */
static void product_task(void *context, i64 index)
{
    const product_work *work = context;
    const i64 panel = index / work->strips, top = index % work->strips * work->height, n = work->of->n;
    const i64 rows = at_most(work->height, work->of->m - top), tiles = parts(rows, FEW_COLUMNS);
    const i64 first = begin_of(work->blocks, work->panels, panel),
              end = begin_of(work->blocks, work->panels, panel + 1);
    const i64 column = first * LANES, count = at_most(n - column, (end - first) * LANES);
    const i32 fits = count == (end - first) * LANES;
    if (work->packs) pack_panel(work, panel);
#if HAS_BYTE_TILES && defined(__AVX512F__)
    if (work->by_tiles && rows >= FEWEST_ROWS) {
        i32 *const to = work->c + top * n + column;
        multiply_strip_by_tiles(work, top, rows, panel_at(work, panel), end - first, to, count);
        return;
    }
#endif
    for (i64 t = 0; t < tiles; t++) {
        const i64 i = top + begin_of(rows, tiles, t), height = top + begin_of(rows, tiles, t + 1) - i;
        i32 whole[FEW_COLUMNS * TILE_VECTORS * LANES], *const c = work->c + i * n + column;
        product_tiles[end - first - 1][height - 1](work, work->a + i * work->row, panel_at(work, panel),
                                                   work->shifts ? work->shifts + i : 0, fits ? c : whole,
                                                   fits ? n : (end - first) * LANES);
        for (i64 p = 0; p < height && !fits; p++)
            __builtin_memcpy(c + p * n, whole + p * (end - first) * LANES, (unsigned long)count * sizeof *c);
    }
}

/* Rows that are prepared in a task. */
enum { ROWS_AT_ONCE = 64 };

/* Copy some rows of a as words, with zeros up to a multiple of 4, and store 128 times their sums.  Each is left out where
   the work has no room for it. */
static void rows_task(void *context, i64 index)
{
    const product_work *work = context;
    const ag_byte_product *of = work->of;
    const i64 a0 = of->a_strides[of->rank], a1 = of->a_strides[of->rank + 1], first = index * ROWS_AT_ONCE;
    for (i64 i = first; i < at_most(of->m, first + ROWS_AT_ONCE); i++) {
        const byte *const from = work->rows + i * a0;
        if (work->words) {
            byte *const to = work->words + i * work->row;
            if (a1 == 1) __builtin_memcpy(to, from, (unsigned long)of->k);
            else
                for (i64 q = 0; q < of->k; q++) to[q] = from[q * a1];
            for (i64 q = of->k; q < work->row; q++) to[q] = 0;
        }
        i32 sum = 0;
        for (i64 q = 0; q < of->k && work->shifts; q++)
            sum += of->a_signed ? from[q * a1] : (unsigned char)from[q * a1];
        if (work->shifts) work->shifts[i] = 128 * sum;
    }
}

/* Cut columns into panels, and rows into strips unless panels alone occupy all threads. */
static void cut_product(const ag_runtime *rt, product_work *work)
{
    const i64 m = work->of->m, panels = work->panels = even_panels(work->blocks, TILE_VECTORS);
    const i64 tasks = at_least(1, (i64)at_most((i64)(work->all / TASK), 8 * rt->threads));
    const i32 is_even = panels % rt->threads == 0 || panels >= 4 * rt->threads;
    work->height = even_parts(m, parts(m, is_even ? 1 : parts(tasks, panels)), FEW_COLUMNS, panels, rt->threads);
    work->strips = parts(m, work->height);
}

static void run_product(const ag_runtime *rt, product_work *work, i64 tasks, void (*task)(void *, i64))
{
    if (rt->threads > 1 && tasks > 1 && work->all > TASK) rt->parallel(rt, tasks, task, work);
    else
        for (i64 k = 0; k < tasks && !(work->is_long && rt->stopped()); k++) task(work, k);
}

/* Compute every product of a batch.  Return 0, or MEMORY (2). */
static i32 multiply_bytes(const ag_runtime *rt, const ag_byte_product *of)
{
    const i64 rank = of->rank;
    i64 count = 1, place[AG_MOST_AXES] = {0};
    for (i64 l = 0; l < rank; l++) count *= of->batch[l];
    if (count <= 0 || of->m <= 0 || of->n <= 0) return 0;
    product_work work = {.of = of, .groups = parts(of->k, 4), .blocks = parts(of->n, LANES)};
    work.by_tiles = fill_tiles(of);
    if (work.by_tiles && work.groups > WHOLE_WORDS) work.groups = parts(work.groups, WHOLE_WORDS) * WHOLE_WORDS;
    const i32 is_flipped = (of->a_signed != 0) != TAKES_SIGNED,
              as_it_is = of->a_strides[rank + 1] == 1 && of->k == 4 * work.groups;
    work.flipped = (is_flipped ? (i32)0x80808080 : 0) - (vector){0}, work.start = !is_flipped    ? 0
                                                                                  : of->a_signed ? -128
                                                                                                 : 128;
    work.row = as_it_is ? of->a_strides[rank] : 4 * work.groups;
    work.all = (double)of->m * (double)(work.blocks * LANES) * (double)(4 * work.groups + 16);
    cut_product(rt, &work);
    work.packed = rt->alloc((work.groups + 1) * work.blocks * VECTOR_BYTES + 64);
    work.words = as_it_is ? 0 : rt->alloc(of->m * work.row + 64);
    work.shifts = of->b_signed ? 0 : rt->alloc(of->m * 4 + 64);
    const i32 failed = !work.packed || (!as_it_is && !work.words) || (!of->b_signed && !work.shifts) ? 2 : 0;
    work.is_long = work.all > 1e8;
    if (work.is_long && !failed) rt->listen();
    for (i64 index = 0; index < count && !failed; index++) {
        i64 from_a = 0, from_b = 0, left = index;
        i32 same = index > 0;
        for (i64 l = rank - 1; l >= 0; l--) {
            const i64 at = left % of->batch[l];
            same &= at == place[l] || of->b_strides[l] == 0;
            place[l] = at, left /= of->batch[l];
            from_a += at * of->a_strides[l], from_b += at * of->b_strides[l];
        }
        work.rows = (const byte *)of->a + from_a, work.b = (const byte *)of->b + from_b;
        work.a = as_it_is ? work.rows : work.words, work.c = of->c + index * of->m * of->n;
        if (work.words || work.shifts) run_product(rt, &work, parts(of->m, ROWS_AT_ONCE), rows_task);
        if (!same && work.strips > 1) run_product(rt, &work, work.panels, pack_task);
        work.packs = !same && work.strips == 1;
        run_product(rt, &work, work.panels * work.strips, product_task);
    }
    rt->release(work.shifts), rt->release(work.words), rt->release(work.packed);
    return failed;
}
