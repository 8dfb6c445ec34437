/* Sparse weights of which some blocks along the sum are stored: a block is LANES numbers of one output.

   The sum is divided into chunks of COLUMN_DEPTH numbers, whose x stays in the level 1 cache for all outputs.  Nonzero blocks
   are stored in the order of the sum:

       w          blocks, lanes
       starts     for each chunk, for each output, and after the last one: the index of its first block
       places     the index of each block along the sum

   Four accumulators alternate over the blocks of an output.  The lanes of their total are added in pairs, and chunks in
   order. */
#include "../../quantized/lanes.c"

#if defined(__AVX512F__) || defined(__aarch64__)
enum { COLUMN_ROWS = 8 }; /* rows whose sums are in registers, two vectors each */
#else
enum { COLUMN_ROWS = 2 };
#endif
enum {
    COLUMN_DEPTH = 1024,
    COLUMN_STEP = COLUMN_DEPTH + LANES
}; /* ops/lowered/formats/sparse_columns.py: the former */
#define LOADED (COLUMN_ROWS * COLUMN_STEP)
#include "../packed.c"

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

static void sum_columns(const packed_tile *at)
{
    const ag_packed_product *of = at->work->of;
    const i64 first = at->panel * LANES, count = at_most(LANES, of->outputs - first), rows = at->rows;
    const i32 *const start = (const i32 *)of->second + at->part * of->outputs + first, *const all = of->third;
    const float *const w = of->w, *const x = at->loaded;
    const i64 first_block = at->part * (COLUMN_DEPTH / LANES);
    column_function *const kernel = column_kernels[rows == 8 ? 3 : rows / 2];
    float sums[COLUMN_ROWS * LANES * LANES] __attribute__((aligned(VECTOR_BYTES)));
    for (i64 c = 0; c < LANES; c++) {
        if (c >= count) {
            for (i64 r = 0; r < rows; r++) __builtin_memset(sums + (r * LANES + c) * LANES, 0, LANES * sizeof *sums);
            continue;
        }
        const i64 begin = start[c];
        kernel(&(const column_tile){x, w + begin * LANES, all + begin, start[c + 1] - begin, first_block,
                                    sums + c * LANES});
    }
    for (i64 r = 0; r < rows; r++) {
        unaligned_floats *const to = (unaligned_floats *)(at->to + r * at->step);
        const floats found = lane_sums(sums + r * LANES * LANES);
        *to = at->part ? found + *to : found;
    }
}

static void add_lost(const packed_tile *at, i64 row, float *to)
{
    const ag_packed_product *of = at->work->of;
    const i64 output = at->panel * LANES, count = at_most(LANES, of->outputs - output), first = at->part * COLUMN_DEPTH;
    const float *x = row_of(of, row);
    for (i64 c = 0; c < count; c++) {
        const i32 *start = (const i32 *)of->second + at->part * of->outputs + output + c;
        const i32 *places = (const i32 *)of->third + start[0], *end = (const i32 *)of->third + start[1];
        float found = 0;
        for (i64 k = first; k < at_most(first + COLUMN_DEPTH, of->depth); k++) {
            while (places < end && (*places + 1) * LANES <= k) places++;
            if (places == end || *places * LANES > k) found += x[k] * 0;
        }
        to[c] += found;
    }
}

/* Copy the chunk of some rows, with zeros to whole blocks. */
static void load_chunk(packed_tile *at, float *loaded)
{
    const ag_packed_product *of = at->work->of;
    const i64 first = at->part * COLUMN_DEPTH, depth = at_most(COLUMN_DEPTH, of->depth - first);
    for (i64 r = 0; r < at->rows; r++) {
        __builtin_memcpy(loaded + r * COLUMN_STEP, row_of(of, at->row + r) + first,
                         (unsigned long)depth * sizeof *loaded);
        for (i64 k = depth; k < parts(depth, LANES) * LANES; k++) loaded[r * COLUMN_STEP + k] = 0;
    }
}

static i32 prepare_chunks(packed_work *work)
{
    work->depth = COLUMN_DEPTH;
    return 0;
}

PACKED_FORMAT(.width = LANES, .most_rows = COLUMN_ROWS, .alone = 1 << 19,
              .rows = COLUMN_ROWS > 2 ? rows_of_eight : rows_of_two, .prepare = prepare_chunks, .load = load_chunk,
              .tile = sum_columns, .add_lost = add_lost)
