/* 2:4 sparse weights: at most two of each four numbers along the sum are not zero.

   Each lane is an output; a panel has LANES outputs.  A block is sixteen numbers of x.  Each lane selects eight
   of them, two of each four, by four bits each, with permutations of vectors in registers.

       w          for each panel, for each block: eight vectors, lanes
       places     for each panel, for each block: lanes, words whose lowest bits are those of the first weight

   Two accumulators alternate over the weights. */
#include "../../quantized/lanes.c"
#include "../packed.c"

enum { BLOCK = 16, STORED = 8, TWO_AHEAD = 2048 }; /* STORED: of a block; TWO_AHEAD: prefetch distance in bytes */
#if defined(__AVX512F__)
enum { TWO_ROWS = 8 }; /* rows whose sums are in registers, two vectors each */
#else
enum { TWO_ROWS = 4 };
#endif
enum { TWO_NEAR = 1 << 18 }; /* bytes of x that stay in the cache for all panels */

/* A panel, and some rows of x, `step` apart; `last`: the last block of each row, if it is incomplete. */
typedef struct two_tile {
    const float *x, *w, *last;
    const i32 *places;
    i64 step, depth;
    float *to; /* rows, to_step apart; panels, lanes */
    i64 to_step;
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
                      i64 panel_step, floats sums[][2][2])
{
    block of_row[TWO_ROWS];
    vector all[2];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) of_row[r] = block_of(x[r]);
#pragma GCC unroll 2
    for (int p = 0; p < panels; p++) all[p] = *(const unaligned *)(places + p * panel_step);
#pragma GCC unroll 8
    for (int j = 0; j < STORED; j++)
#pragma GCC unroll 2
        for (int p = 0; p < panels; p++) {
            const float *from = w + p * STORED * panel_step + j * LANES;
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
    const i64 whole = at->depth / BLOCK, panel_step = parts(at->depth, BLOCK) * LANES;
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
        add_block(rows, panels, x, w, places, panel_step, sums);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) x[r] += BLOCK;
    }
    if (at->last) {
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) x[r] = at->last + r * BLOCK;
        add_block(rows, panels, x, w, places, panel_step, sums);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int p = 0; p < panels; p++)
            *(unaligned_floats *)(at->to + r * at->to_step + p * LANES) = sums[r][p][0] + sums[r][p][1];
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

static void multiply_blocks(const packed_tile *at)
{
    const ag_packed_product *of = at->work->of;
    const i64 blocks = parts(of->depth, BLOCK), rest = of->depth % BLOCK;
    float last[TWO_ROWS * BLOCK] = {0};
    const two_tile tile = {
        .x = row_of(of, at->row),
        .w = (const float *)of->w + at->panel * blocks * STORED * LANES,
        .last = rest ? last : 0,
        .places = (const i32 *)of->second + at->panel * blocks * LANES,
        .step = of->depth,
        .depth = of->depth,
        .to = at->to,
        .to_step = at->step,
    };
    for (i64 r = 0; r < at->rows && rest; r++)
        __builtin_memcpy(last + r * BLOCK, tile.x + (r + 1) * of->depth - rest, (unsigned long)rest * sizeof *last);
    two_kernels[at->panels - 1][at->rows - 1](&tile);
}

static void add_lost(const packed_tile *at, i64 row, float *to)
{
    const ag_packed_product *of = at->work->of;
    const i64 blocks = parts(of->depth, BLOCK);
    const float *x = row_of(of, row);
    for (i64 p = 0; p < at->panels; p++) {
        const i32 *places = (const i32 *)of->second + (at->panel + p) * blocks * LANES;
        for (i64 k = 0; k < of->depth; k++) {
            const float product = x[k] * 0;
            if (product == 0) continue;
            const int shift = (int)(k % BLOCK / 4 * 8), place = (int)(k % BLOCK);
            for (i64 l = 0; l < LANES; l++) {
                const i32 two = places[k / BLOCK * LANES + l] >> shift;
                if ((two & 15) != place && (two >> 4 & 15) != place) to[p * LANES + l] += product;
            }
        }
    }
}

/* Nearly equal tiles. */
static i64 rows_of_two_of_four(i64 left) { return parts(left, parts(left, TWO_ROWS)); }

/* A panel stays in the cache for a few rows, and these rows for all panels. */
static i32 prepare_strips(packed_work *work)
{
    work->strip = at_least(1, TWO_NEAR / 4 / TWO_ROWS / at_least(1, work->of->depth)) * TWO_ROWS;
    return 0;
}

PACKED_FORMAT(.width = LANES, .most_rows = TWO_ROWS, .alone = 1 << 19, .few = 4, .rows = rows_of_two_of_four,
              .prepare = prepare_strips, .tile = multiply_blocks, .add_lost = add_lost)
