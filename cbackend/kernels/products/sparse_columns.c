/* Products of float rows and a sparse constant matrix, of which some blocks along the sum are stored.

   A block is LANES numbers of one output along the sum.  The sum is divided into chunks of COLUMN_DEPTH numbers, whose x
   stays in the level 1 cache for all outputs.  Nonzero blocks are stored in the order of the sum:

       starts     for each chunk, for each output, and after the last one: the index of its first block
       w          blocks, lanes
       places     the index of each block along the sum

   Four accumulators alternate over the blocks of an output.  The lanes of their total are added in pairs, and chunks in
   order.  One task computes a whole output, so neither threads nor other rows change its bits.  A row with an
   infinity or a NaN gets the products by zeros that are not stored as well. */
#pragma once
#include "nibbles.c"
#include "sparse_products.c"

enum { COLUMN_DEPTH = 1024, COLUMN_STEP = COLUMN_DEPTH + LANES }; /* ops/lowered/sparse_columns.py has the former too */
#if defined(__AVX512F__) || defined(__aarch64__)
enum { COLUMN_ROWS = 8 }; /* rows whose sums are in registers, two vectors each */
#else
enum { COLUMN_ROWS = 2 };
#endif

typedef struct column_work {
    const ag_sparse_product *of;
    i64 share;     /* vectors of outputs of a task */
    char *special; /* for each row, whether it has an infinity or a NaN */
} column_work;

/* Blocks of an output; some rows of x, copied to where vectors do not reach over two lines of the cache. */
typedef struct column_tile {
    const float *x, *w;
    const i32 *places;
    i64 count, first; /* blocks; number along the sum of the block at x */
    float *to;        /* rows, lanes of outputs, lanes */
} column_tile;

INLINE void sum_column(const int rows, const column_tile *at)
{
    floats sums[COLUMN_ROWS][2];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int u = 0; u < 2; u++) sums[r][u] = (floats){0};
#define ADD_BLOCK(u) \
    { \
        const floats weights = *(const unaligned_floats *)(at->w + (i + (u)) * LANES); \
        const floats *const from = (const floats *)(at->x + (at->places[i + (u)] - at->first) * LANES); \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++) sums[r][u] = \
            add_multiple(sums[r][u], from[r * (COLUMN_STEP / LANES)], weights); \
    }
    i64 i = 0;
    for (; i + 2 <= at->count; i += 2) {
        ADD_BLOCK(0)
        ADD_BLOCK(1)
    }
    if (i < at->count) ADD_BLOCK(0)
#undef ADD_BLOCK
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) *(unaligned_floats *)(at->to + r * LANES * LANES) = sums[r][0] + sums[r][1];
}

typedef void column_function(const column_tile *);
#define COLUMN_KERNEL(rows) \
    static __attribute__((noinline)) void column_##rows(const column_tile *at) { sum_column(rows, at); }
COLUMN_KERNEL(1)
COLUMN_KERNEL(2)
#if defined(__AVX512F__) || defined(__aarch64__)
COLUMN_KERNEL(4)
COLUMN_KERNEL(8)
static column_function *const column_kernels[4] = {column_1, column_2, column_4, column_8};
#else
static column_function *const column_kernels[4] = {column_1, column_2};
#endif

/* The sum of the lanes of each of LANES vectors: neighbours are added until one number of each is left. */
static floats lane_sums(const float *from)
{
#if defined(__GNUC__) && !defined(__clang__)
    floats v[LANES];
    vector even;
    for (int l = 0; l < LANES; l++) even[l] = 2 * l;
#pragma GCC unroll 16
    for (int k = 0; k < LANES; k++) v[k] = *(const unaligned_floats *)(from + k * LANES);
#pragma GCC unroll 4
    for (int n = LANES / 2; n; n /= 2)
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            v[k] =
                __builtin_shuffle(v[2 * k], v[2 * k + 1], even) + __builtin_shuffle(v[2 * k], v[2 * k + 1], even + 1);
    return v[0];
#else
    float sums[LANES * LANES];
    __builtin_memcpy(sums, from, sizeof sums);
    for (int n = LANES * LANES / 2; n >= LANES; n /= 2)
        for (int k = 0; k < n; k++) sums[k] = sums[2 * k] + sums[2 * k + 1];
    return *(const unaligned_floats *)sums;
#endif
}

/* The products of infinities and NaNs in a chunk of a row with the zeros that an output does not store. */
static float lost_products(const ag_sparse_product *of, const float *x, i64 part, const i32 *places, const i32 *end)
{
    const i64 first = part * COLUMN_DEPTH, last = at_most(first + COLUMN_DEPTH, of->depth);
    float found = 0;
    for (i64 k = first; k < last; k++) {
        while (places < end && (*places + 1) * LANES <= k) places++;
        if (places == end || *places * LANES > k) found += x[k] * 0;
    }
    return found;
}

/* Some rows, from number `row` on, of vector number p of the outputs: the sums of a part, whose x is given. */
static void add_columns(const column_work *work, const float *x, i64 part, i64 p, i64 row, i64 rows)
{
    const ag_sparse_product *of = work->of;
    const i64 first = p * LANES, count = at_most(LANES, of->outputs - first);
    float sums[COLUMN_ROWS * LANES * LANES] __attribute__((aligned(VECTOR_BYTES))), more[COLUMN_ROWS * LANES] = {0};
    i32 special = 0;
    for (i64 r = 0; r < rows; r++) special |= work->special[row + r];
    for (i64 c = 0; c < LANES; c++) {
        if (c >= count) {
            for (i64 r = 0; r < rows; r++) __builtin_memset(sums + (r * LANES + c) * LANES, 0, LANES * sizeof *sums);
            continue;
        }
        const i32 *start = of->starts + part * of->outputs + first + c, *places = of->places + start[0];
        const i64 blocks = start[1] - start[0];
        const column_tile at = {x,      (const float *)of->w + start[0] * LANES, places,
                                blocks, part * (COLUMN_DEPTH / LANES),           sums + c * LANES};
        column_kernels[rows == 8 ? 3 : rows / 2](&at);
        for (i64 r = 0; r < rows && special; r++)
            if (work->special[row + r])
                more[r * LANES + c] =
                    lost_products(of, (const float *)of->x + (row + r) * of->depth, part, places, places + blocks);
    }
    for (i64 r = 0; r < rows; r++) {
        float *y = (float *)of->y + (row + r) * of->outputs + first, room[LANES] = {0};
        floats found = lane_sums(sums + r * LANES * LANES);
        if (work->special[row + r]) found += *(const unaligned_floats *)(more + r * LANES);
        if (part) {
            __builtin_memcpy(room, y, (unsigned long)count * sizeof *y);
            found += *(const unaligned_floats *)room;
        }
        if (count == LANES) *(unaligned_floats *)y = found;
        else __builtin_memcpy(y, &found, (unsigned long)count * sizeof *y);
    }
}

/* Compute a share of the outputs: their weights stay in the cache for all rows. */
static void column_task(void *context, i64 index)
{
    const column_work *work = context;
    const ag_sparse_product *of = work->of;
    const i64 first = index * work->share, end = at_most(first + work->share, parts(of->outputs, LANES));
    float x[COLUMN_ROWS * COLUMN_STEP] __attribute__((aligned(VECTOR_BYTES)));
    for (i64 part = 0; part == 0 || part * COLUMN_DEPTH < of->depth; part++) {
        const i64 depth = at_most(COLUMN_DEPTH, of->depth - part * COLUMN_DEPTH), filled = parts(depth, LANES) * LANES;
        for (i64 row = 0, rows; row < of->rows; row += rows) {
            const i64 left = of->rows - row;
            rows = left >= 8 && COLUMN_ROWS >= 8 ? 8 : left >= 4 && COLUMN_ROWS >= 4 ? 4 : left >= 2 ? 2 : 1;
            for (i64 r = 0; r < rows; r++) {
                const float *from = (const float *)of->x + (row + r) * of->depth + part * COLUMN_DEPTH;
                __builtin_memcpy(x + r * COLUMN_STEP, from, (unsigned long)depth * sizeof *x);
                for (i64 k = depth; k < filled; k++) x[r * COLUMN_STEP + k] = 0;
            }
            for (i64 p = first; p < end; p++) add_columns(work, x, part, p, row, rows);
        }
    }
}

/* y[rows, outputs] = x[rows, depth] @ w of floats, of which some blocks along the sum are stored.  Return 0, or MEMORY (2). */
static i32 multiply_columns(const ag_runtime *rt, const ag_sparse_product *of)
{
    if (of->rows <= 0 || of->outputs <= 0) return 0;
    const i64 panels = parts(of->outputs, LANES);
    column_work work = {of, parts(panels, SHARES), rt->alloc(of->rows + 64)};
    if (!work.special) return 2;
    find_special_float(of, work.special);
    const i64 tasks = parts(panels, work.share), ends = at_least(1, parts(of->depth, COLUMN_DEPTH)) * of->outputs;
    const double all = (double)of->rows * (double)of->starts[ends] * LANES;
    const i32 is_long = all > 1e8;
    if (is_long) rt->listen();
    if (rt->threads > 1 && tasks > 1 && all > TASK / 8) rt->parallel(rt, tasks, column_task, &work);
    else
        for (i64 k = 0; k < tasks && !(is_long && rt->stopped()); k++) column_task(&work, k);
    rt->release(work.special);
    return 0;
}
