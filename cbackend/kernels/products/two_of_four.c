/* Products of float rows and 2:4 sparse weights: at most two of each four along the sum are not zero.

   Each lane is an output; a panel has LANES outputs.  A block is sixteen numbers of x.  Each lane selects eight
   of them, two of each four, by four bits each, with permutations of vectors in registers.

       w          for each panel, for each block: eight vectors, lanes
       places     for each panel, for each block: lanes, words whose lowest bits are those of the first weight

   Two accumulators alternate over the weights.  One task computes a whole output, so threads and other rows do not matter.  A
   row with an infinity or a NaN gets the products by zeros that are not stored as well. */
#pragma once
#include "nibbles.c"
#include "sparse_products.c"

enum { BLOCK = 16, STORED = 8, TWO_AHEAD = 2048 }; /* STORED: of a block; TWO_AHEAD: prefetch distance in bytes */
#if defined(__AVX512F__)
enum { TWO_ROWS = 8 }; /* rows whose sums are in registers, two vectors each */
#else
enum { TWO_ROWS = 4 };
#endif
enum { TWO_NEAR = 1 << 18 }; /* bytes of x that stay in the cache for all panels */

typedef struct two_work {
    const ag_two_of_four *of;
    i64 share;     /* panels of a task */
    char *special; /* for each row, whether it has an infinity or a NaN */
} two_work;

/* A panel, and some rows of x, `step` apart; `last`: the last block of each row, if it is incomplete. */
typedef struct two_tile {
    const float *x, *w, *last;
    const i32 *places;
    i64 step, depth;
    float *to; /* rows, lanes */
} two_tile;

/* Return number j of the eight that each lane selects from a block; only the low four bits of its place count. */
#if defined(__AVX512F__) || defined(__AVX2__)
typedef struct block {
    floats part[BLOCK / LANES];
} block;
INLINE block block_of(const float *x)
{
    block all;
#pragma GCC unroll 2
    for (int k = 0; k < BLOCK / LANES; k++) all.part[k] = *(const unaligned_floats *)(x + k * LANES);
    return all;
}
INLINE floats picked(block all, vector place, const int j)
{
    floats found;
    __asm__("vpermps %1, %2, %0" : "=v"(found) : "v"(all.part[j * BLOCK / STORED / LANES]), "v"(place));
    return found;
}
#else
typedef const float *block;
INLINE block block_of(const float *x) { return x; }
INLINE floats one_of(vector second, floats a, floats b)
{
    return (floats)((second & (vector)b) | (~second & (vector)a));
}
INLINE floats picked(block all, vector place, const int j)
{
    const float *four = all + j / 2 * 4;
    const floats none = {0};
    const vector odd = place << 31 >> 31;
    return one_of(place << 30 >> 31, one_of(odd, four[0] - none, four[1] - none),
                  one_of(odd, four[2] - none, four[3] - none));
}
#endif

/* Add the products of one block; x: its numbers in each row. */
INLINE void add_block(const int rows, const int panels, const float *const *x, const float *w, const i32 *places,
                      i64 apart, floats sums[][2][2])
{
    block of_row[TWO_ROWS];
    vector all[2];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) of_row[r] = block_of(x[r]);
#pragma GCC unroll 2
    for (int p = 0; p < panels; p++) all[p] = *(const unaligned *)(places + p * apart);
#pragma GCC unroll 8
    for (int j = 0; j < STORED; j++)
#pragma GCC unroll 2
        for (int p = 0; p < panels; p++) {
            const float *from = w + p * STORED * apart + j * LANES;
            const floats weights = *(const unaligned_floats *)from;
            const vector place = j ? all[p] >> 4 * j : all[p];
            __builtin_prefetch((const char *)from + TWO_AHEAD, 0, 3);
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++)
                sums[r][p][j & 1] = add_multiple(sums[r][p][j & 1], picked(of_row[r], place, j), weights);
        }
}

INLINE void sum_blocks(const int rows, const int panels, const two_tile *at)
{
    const i64 whole = at->depth / BLOCK, apart = parts(at->depth, BLOCK) * LANES;
    const float *x[TWO_ROWS], *w = at->w;
    const i32 *places = at->places;
    floats sums[TWO_ROWS][2][2];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
        x[r] = at->x + r * at->step;
#pragma GCC unroll 2
        for (int p = 0; p < panels; p++) sums[r][p][0] = sums[r][p][1] = (floats){0};
    }
#pragma GCC unroll 1
    for (i64 b = 0; b < whole; b++, places += LANES, w += STORED * LANES) {
        add_block(rows, panels, x, w, places, apart, sums);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) x[r] += BLOCK;
    }
    if (at->last) {
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) x[r] = at->last + r * BLOCK;
        add_block(rows, panels, x, w, places, apart, sums);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int p = 0; p < panels; p++)
            *(unaligned_floats *)(at->to + (r * panels + p) * LANES) = sums[r][p][0] + sums[r][p][1];
}

typedef void two_function(const two_tile *);
#define TWO_KERNEL(rows, panels) \
    static __attribute__((noinline)) void two_##rows##_##panels(const two_tile *at) { sum_blocks(rows, panels, at); }
#define TWO_KERNELS(panels) \
    TWO_KERNEL(1, panels) \
    TWO_KERNEL(2, panels) \
    TWO_KERNEL(3, panels) \
    TWO_KERNEL(4, panels)
TWO_KERNELS(1)
TWO_KERNELS(2)
/* Indexed by: panels at once, which hide the latency of few rows; rows. */
#if defined(__AVX512F__)
TWO_KERNEL(5, 1)
TWO_KERNEL(6, 1)
TWO_KERNEL(7, 1)
TWO_KERNEL(8, 1)
static two_function *const two_kernels[2][TWO_ROWS] = {
    {two_1_1, two_2_1, two_3_1, two_4_1, two_5_1, two_6_1, two_7_1, two_8_1}, {two_1_2, two_2_2, two_3_2, two_4_2}};
#else
static two_function *const two_kernels[2][TWO_ROWS] = {{two_1_1, two_2_1, two_3_1, two_4_1},
                                                       {two_1_2, two_2_2, two_3_2, two_4_2}};
#endif

/* Add the products of infinities and NaNs with the zeros that a panel does not store. */
static void add_lost(const two_tile *at, const float *x, float *to)
{
    for (i64 k = 0; k < at->depth; k++) {
        const float product = x[k] * 0;
        if (product == 0) continue;
        const int shift = (int)(k % BLOCK / 4 * 8), place = (int)(k % BLOCK);
        for (i64 l = 0; l < LANES; l++) {
            const i32 two = at->places[k / BLOCK * LANES + l] >> shift;
            if ((two & 15) != place && (two >> 4 & 15) != place) to[l] += product;
        }
    }
}

/* Some rows, from number `row` on, of one or two panels from number p on. */
static void multiply_panels(const two_work *work, i64 p, i64 panels, i64 row, i64 rows)
{
    const ag_two_of_four *of = work->of;
    const i64 blocks = parts(of->depth, BLOCK), rest = of->depth % BLOCK;
    float sums[2 * TWO_ROWS * LANES], last[TWO_ROWS * BLOCK] = {0};
    two_tile at = {
        .x = of->x + row * of->depth,
        .w = of->w + p * blocks * STORED * LANES,
        .last = rest ? last : 0,
        .places = of->places + p * blocks * LANES,
        .step = of->depth,
        .depth = of->depth,
        .to = sums,
    };
    for (i64 r = 0; r < rows && rest; r++)
        __builtin_memcpy(last + r * BLOCK, at.x + (r + 1) * of->depth - rest, (unsigned long)rest * sizeof *last);
    two_kernels[panels - 1][rows - 1](&at);
    for (i64 k = 0; k < panels; k++, at.places += blocks * LANES) {
        const i64 output = (p + k) * LANES, count = at_most(LANES, of->outputs - output);
        for (i64 r = 0; r < rows; r++) {
            float *const to = sums + (r * panels + k) * LANES;
            if (work->special[row + r]) add_lost(&at, at.x + r * of->depth, to);
            __builtin_memcpy(of->y + (row + r) * of->outputs + output, to, (unsigned long)count * sizeof *to);
        }
    }
}

/* Compute a share of the panels: a panel stays in the cache for a few rows, and these rows for all panels. */
static void two_task(void *context, i64 index)
{
    const two_work *work = context;
    const ag_two_of_four *of = work->of;
    const i64 first = index * work->share, end = at_most(first + work->share, parts(of->outputs, LANES));
    const i64 near = at_least(1, TWO_NEAR / 4 / TWO_ROWS / at_least(1, of->depth)) * TWO_ROWS;
    for (i64 start = 0; start < of->rows; start += near) {
        const i64 stop = at_most(start + near, of->rows), few = stop - start <= 4;
        for (i64 p = first, panels; p < end; p += panels) {
            panels = few && p + 1 < end ? 2 : 1;
            for (i64 row = start, rows; row < stop; row += rows) {
                rows = parts(stop - row, parts(stop - row, TWO_ROWS));
                multiply_panels(work, p, panels, row, rows);
            }
        }
    }
}

/* y[rows, outputs] = x[rows, depth] @ w.  Return 0, or MEMORY (2). */
static i32 multiply_two(const ag_runtime *rt, const ag_two_of_four *of)
{
    if (of->rows <= 0 || of->outputs <= 0) return 0;
    const i64 panels = parts(of->outputs, LANES);
    two_work work = {of, parts(panels, SHARES), rt->alloc(of->rows + 64)};
    if (!work.special) return 2;
    for (i64 r = 0; r < of->rows; r++) work.special[r] = (char)any_special_float(of->depth, of->x + r * of->depth);
    const i64 tasks = parts(panels, work.share);
    const double all = (double)of->rows * (double)of->outputs * (double)of->depth / 2;
    const i32 is_long = all > 1e8;
    if (is_long) rt->listen();
    if (rt->threads > 1 && tasks > 1 && all > TASK / 8) rt->parallel(rt, tasks, two_task, &work);
    else
        for (i64 k = 0; k < tasks && !(is_long && rt->stopped()); k++) two_task(&work, k);
    rt->release(work.special);
    return 0;
}
