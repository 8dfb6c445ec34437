/* Products of float rows and 4-bit weights, which are unpacked in registers.

   Each lane is an output.  Eight weights of an output, along the sum, are the nibbles of one word of 32 bits, the first
   in its lowest bits, each with 8 added: a vector of words holds eight weights of each of LANES outputs.

       weights    for each tile of at most NIBBLE_TILE vectors of outputs, for each eight of the sum: vectors, lanes
       scale      for each tile, for each block of the sum: vectors, lanes; so is `zero`, bytes that are subtracted

   The products of a block are added in the order of the sum; their sum times the scale of the block is added to the
   previous blocks.  One task computes a whole output, so neither threads nor other rows change its bits. */
#pragma once
#include "../quantized/bytes.c"

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

/* sum + x * number, fused if the target has the instruction. */
INLINE floats add_multiple(floats sum, floats x, floats number)
{
#if defined(__AVX512F__)
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(number));
    return sum;
#elif defined(__FMA__)
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(x), "x"(number));
    return sum;
#elif defined(__aarch64__)
    __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(sum) : "w"(x), "w"(number));
    return sum;
#else
    return sum + x * number;
#endif
}

/* Where some outputs of a tile of `width` vectors have their weights, scales and zero points, and some rows of x. */
typedef struct nibble_tile {
    const ag_nibble_product *of;
    const float *x;
    i64 step, width; /* step: from a row of x to the next */
    const byte *w, *zero;
    const float *scale;
    float *to; /* room for the sums: rows, vectors, lanes */
} nibble_tile;

INLINE void sum_nibbles(const int rows, const int vectors, const i32 has_zero, const nibble_tile *at)
{
    const ag_nibble_product *of = at->of;
    const byte *w = at->w;
    floats sums[NIBBLE_ROWS][NIBBLE_TILE];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) sums[r][v] = (floats){0};
    for (i64 b = 0; b < of->blocks; b++) {
        const i64 place = b * at->width * LANES;
        floats found[NIBBLE_ROWS][NIBBLE_TILE], zero[NIBBLE_TILE];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            if (has_zero) zero[v] = __builtin_convertvector(with_sign(at->zero + place + v * LANES), floats);
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) found[r][v] = (floats){0};
        }
        const float *x = at->x + b * of->block;
#pragma GCC unroll 1
        for (i64 q = 0; q < of->block; q += 8, x += 8, w += at->width * VECTOR_BYTES) {
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
    float *to = at->to;
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++, to += LANES) *(unaligned_floats *)to = sums[r][v];
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

/* Compute the outputs of tile `index`, for all rows. */
static void nibble_task(void *context, i64 index)
{
    const ag_nibble_product *of = context;
    const i64 depth = of->blocks * of->block, first = index * NIBBLE_TILE;
    const i64 width = at_most(NIBBLE_TILE, parts(of->outputs, LANES) - first);
    float sums[NIBBLE_ROWS * NIBBLE_TILE * LANES];
    nibble_tile at = {.of = of, .step = depth, .width = width, .to = sums};
    for (i64 row = 0, rows; row < of->rows; row += rows) {
        rows = of->rows - row < NIBBLE_ROWS ? 1 : NIBBLE_ROWS;
        const i64 most = rows > 1 ? OF_ROWS : SINGLE_ROW;
        at.x = of->x + row * depth;
        for (i64 v = 0, vectors; v < width; v += vectors) {
            vectors = width - v < most ? 1 : most;
            at.w = (const byte *)of->w + (first * LANES * depth) / 2 + v * VECTOR_BYTES;
            at.scale = of->scale + first * LANES * of->blocks + v * LANES;
            if (of->zero) at.zero = (const byte *)of->zero + first * LANES * of->blocks + v * LANES;
            nibble_kernels[of->zero != 0][rows > 1][vectors > 1](&at);
            const i64 output = (first + v) * LANES, count = at_most(vectors * LANES, of->outputs - output);
            for (i64 r = 0; r < rows; r++)
                __builtin_memcpy(of->y + (row + r) * of->outputs + output, sums + r * vectors * LANES,
                                 (unsigned long)count * sizeof *sums);
        }
    }
}

/* y[m, n] = the sum over k of x[m, k] * (w[n, k] - zero[n, k / block]) * scale[n, k / block].  0 or MEMORY (2). */
static i32 multiply_nibbles(const ag_runtime *rt, const ag_nibble_product *given)
{
    ag_nibble_product of = *given;
    if (of.rows <= 0 || of.outputs <= 0) return 0;
    const i64 depth = of.blocks * of.block, tiles = parts(of.outputs, NIBBLE_TILE * LANES);
    float *filled = 0;
    if (depth != of.depth) { /* the last block is not full: zeros follow the rows */
        filled = rt->alloc(of.rows * depth * 4 + 64);
        if (!filled) return 2;
        for (i64 r = 0; r < of.rows; r++) {
            __builtin_memcpy(filled + r * depth, of.x + r * of.depth, (unsigned long)of.depth * 4);
            __builtin_memset(filled + r * depth + of.depth, 0, (unsigned long)(depth - of.depth) * 4);
        }
        of.x = filled;
    }
    const double all = (double)of.rows * (double)of.outputs * (double)depth;
    const i32 is_long = all > 1e8;
    if (is_long) rt->listen();
    if (rt->threads > 1 && tiles > 1 && all > TASK / 4) rt->parallel(rt, tiles, nibble_task, &of);
    else
        for (i64 k = 0; k < tiles && !(is_long && rt->stopped()); k++) nibble_task(&of, k);
    rt->release(filled);
    return 0;
}
