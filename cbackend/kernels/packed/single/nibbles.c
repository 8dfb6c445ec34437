/* Weights of 4 bits, which are unpacked in registers.

   Each lane is an output.  Eight weights of an output, along the sum, are the nibbles of one word of 32 bits, the first
   in its lowest bits, each with 8 added: a vector of words holds eight weights of each of LANES outputs.  A panel is at most
   NIBBLE_TILE vectors of outputs.

       w          for each panel, for each eight of the sum: vectors, lanes
       scale      for each panel, for each block of the sum: vectors, lanes; so is `zero`, bytes that are subtracted

   The products of a block are added in the order of the sum; their sum times the scale of the block is added to the
   previous blocks. */
#include "../../quantized/lanes.c"
#include "../packed.c"

enum { NIBBLE_TILE = 8, NIBBLE_ROWS = 4, NIBBLES_AHEAD = 4096 }; /* NIBBLES_AHEAD: prefetch distance in bytes */
#if defined(__AVX512F__)
enum { SINGLE_ROW = 8, OF_ROWS = 4 }; /* vectors of outputs that are summed at once: of one row, of NIBBLE_ROWS */
#else
enum { SINGLE_ROW = 4, OF_ROWS = 2 };
#endif

/* Nibble j of each lane, minus 8: looked up, or as the mantissa of a power of two, whose difference is exact. */
INLINE floats nibble(vector w, const int j)
{
#if defined(__AVX512F__)
    const floats numbers = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
    const vector place = j ? w >> 4 * j : w;
    floats found;
    __asm__("vpermps %1, %2, %0" : "=v"(found) : "v"(numbers), "v"(place));
    return found;
#else
    const int place = j < 5 ? j : j - 3;
    const float power = (float)(1 << (23 - 4 * place));
    return (floats)(((j < 5 ? w : w >> 12) & 15 << 4 * place) | (127 + 23 - 4 * place) << 23) - (power + 8);
#endif
}

/* Where some outputs of a tile of `width` vectors have their weights, scales and zero points, and some rows of x. */
typedef struct nibble_tile {
    const float *x;
    i64 step, width, block, blocks; /* step: from a row of x to the next; block: along the sum, that shares a scale */
    const byte *w, *zero;
    const float *scale;
    float *to; /* rows, to_step apart; vectors, lanes */
    i64 to_step;
} nibble_tile;

INLINE void sum_nibbles(const int rows, const int vectors, const i32 has_zero, const nibble_tile *at)
{
    const byte *w = at->w;
    floats sums[NIBBLE_ROWS][NIBBLE_TILE];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) sums[r][v] = (floats){0};
    for (i64 b = 0; b < at->blocks; b++) {
        const i64 place = b * at->width * LANES;
        floats found[NIBBLE_ROWS][NIBBLE_TILE], zero[NIBBLE_TILE];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            if (has_zero) zero[v] = __builtin_convertvector(with_sign(at->zero + place + v * LANES), floats);
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) found[r][v] = (floats){0};
        }
        const float *x = at->x + b * at->block;
#pragma GCC unroll 1
        for (i64 q = 0; q < at->block; q += 8, x += 8, w += at->width * VECTOR_BYTES) {
            vector words[NIBBLE_TILE];
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++) {
                words[v] = *(const unaligned *)(w + v * VECTOR_BYTES);
                __builtin_prefetch(w + NIBBLES_AHEAD + v * VECTOR_BYTES, 0, 3);
            }
#pragma GCC unroll 8
            for (int j = 0; j < 8; j++)
#pragma GCC unroll 8
                for (int v = 0; v < vectors; v++) {
                    floats number = nibble(words[v], j);
                    if (has_zero) number -= zero[v];
#pragma GCC unroll 4
                    for (int r = 0; r < rows; r++)
                        found[r][v] = add_multiple(found[r][v], x[r * at->step + j] - (floats){0}, number);
                }
        }
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            const floats scale = *(const unaligned_floats *)(at->scale + place + v * LANES);
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) sums[r][v] += found[r][v] * scale;
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) *(unaligned_floats *)(at->to + r * at->to_step + v * LANES) = sums[r][v];
}

typedef void nibble_function(const nibble_tile *);
#define NIBBLE_KERNEL(name, rows, vectors, has_zero) \
    static __attribute__((noinline)) void name(const nibble_tile *at) { sum_nibbles(rows, vectors, has_zero, at); }
NIBBLE_KERNEL(nibbles_row, 1, SINGLE_ROW, 0)
NIBBLE_KERNEL(nibbles_row_1, 1, 1, 0)
NIBBLE_KERNEL(nibbles_rows, NIBBLE_ROWS, OF_ROWS, 0)
NIBBLE_KERNEL(nibbles_rows_1, NIBBLE_ROWS, 1, 0)
NIBBLE_KERNEL(nibbles_row_zero, 1, SINGLE_ROW, 1)
NIBBLE_KERNEL(nibbles_row_1_zero, 1, 1, 1)
NIBBLE_KERNEL(nibbles_rows_zero, NIBBLE_ROWS, OF_ROWS, 1)
NIBBLE_KERNEL(nibbles_rows_1_zero, NIBBLE_ROWS, 1, 1)

/* Indexed by: zero points or not; one row or several; one vector or several. */
static nibble_function *const nibble_kernels[2][2][2] = {
    {{nibbles_row_1, nibbles_row}, {nibbles_rows_1, nibbles_rows}},
    {{nibbles_row_1_zero, nibbles_row_zero}, {nibbles_rows_1_zero, nibbles_rows_zero}},
};

static i64 blocks_of(const ag_packed_product *of) { return parts(of->depth, of->block); }

static void multiply_nibbles(const packed_tile *at)
{
    const ag_packed_product *of = at->work->of;
    const i64 blocks = blocks_of(of), depth = blocks * of->block, first = at->panel * NIBBLE_TILE;
    const i64 width = at_most(NIBBLE_TILE, parts(of->outputs, LANES) - first),
              most = at->rows > 1 ? OF_ROWS : SINGLE_ROW;
    const float *const filled = at->work->own;
    nibble_tile tile = {
        .x = filled ? filled + at->row * depth : row_of(of, at->row),
        .step = depth,
        .width = width,
        .block = of->block,
        .blocks = blocks,
        .to_step = at->step,
    };
    for (i64 v = 0, vectors; v < width; v += vectors) {
        const i64 of_blocks = first * LANES * blocks + v * LANES;
        vectors = width - v < most ? 1 : most;
        tile.w = (const byte *)of->w + (first * LANES * depth) / 2 + v * VECTOR_BYTES;
        tile.scale = (const float *)of->second + of_blocks;
        if (of->third) tile.zero = (const byte *)of->third + of_blocks;
        tile.to = at->to + v * LANES;
        nibble_kernels[of->third != 0][at->rows > 1][vectors > 1](&tile);
    }
}

static i64 rows_of_nibbles(i64 left) { return left < NIBBLE_ROWS ? 1 : NIBBLE_ROWS; }

/* A panel stays in the cache for all rows, which zeros fill up to whole blocks. */
static i32 fill_rows(packed_work *work)
{
    const ag_packed_product *of = work->of;
    const i64 depth = blocks_of(of) * of->block;
    work->strip = of->rows;
    if (depth == of->depth) return 0;
    float *const filled = work->own = work->rt->alloc(of->rows * depth * 4 + 64);
    if (!filled) return PACKED_FAILED;
    for (i64 r = 0; r < of->rows; r++) {
        __builtin_memcpy(filled + r * depth, row_of(of, r), (unsigned long)of->depth * 4);
        __builtin_memset(filled + r * depth + of->depth, 0, (unsigned long)(depth - of->depth) * 4);
    }
    return 0;
}

static void release_rows(packed_work *work) { work->rt->release(work->own); }

PACKED_FORMAT(.width = NIBBLE_TILE * LANES, .most_rows = NIBBLE_ROWS, .wide = 1, .alone = 1 << 20,
              .rows = rows_of_nibbles, .prepare = fill_rows, .finish = release_rows, .tile = multiply_nibbles)
