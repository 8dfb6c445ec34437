/* Weights of 16 bits by rows of floats: bfloat16 or float16 numbers, which are widened in registers.

   Each lane is an output; a panel is at most WIDE_TILE vectors of outputs.  Weights lie in pairs along the sum; a zero
   fills the last pair.

       w          for each panel, for each pair: of bfloat16, vectors, lanes, the two numbers; of float16, the two numbers,
                  vectors, lanes

   An output adds its products in the order of the sum, each fused if the target has the instruction.  So neither other
   rows nor threads nor the parts of the sum, which continue from y, change a bit. */
#define MOST_SUMS (6 * 8 * 16)
#include "../../quantized/lanes.c"
#include "../packed.c"

enum { WIDE_TILE = 8, WIDE_AHEAD = 4096 }; /* WIDE_AHEAD: prefetch distance in bytes */
enum { WIDE_DEPTH = 1024 };                /* numbers along the sum whose panel stays in the cache for many rows */
enum { WIDE_ROWS = 6 };
#if defined(__AVX512F__)
enum { SINGLE_ROW = 8, OF_ROWS = 4 }; /* vectors of outputs that are summed at once: of one row, of several */
#else
enum { SINGLE_ROW = 4, OF_ROWS = 2 };
#endif

typedef unsigned short half;
typedef half unaligned_halves __attribute__((vector_size(VECTOR_BYTES / 2), aligned(1), may_alias));

/* LANES float16 numbers as floats. */
INLINE floats widened_halves(const void *from)
{
#if defined(__F16C__) || defined(__AVX512F__)
    floats wide;
    __asm__("vcvtph2ps %1, %0" : "=v"(wide) : "m"(*(const unaligned_halves *)from));
    return wide;
#elif defined(__aarch64__)
    floats wide;
    __asm__("fcvtl %0.4s, %1.4h" : "=w"(wide) : "w"(*(const unaligned_halves *)from));
    return wide;
#else
    /* The exponent is 112 too small, but for infinities and NaN, which have the largest one. */
    const vector bits = __builtin_convertvector(*(const unaligned_halves *)from, vector);
    const vector magnitude = (bits & 0x7fff) << 13, is_special = (bits & 0x7c00) == 0x7c00;
    const vector scaled = (vector)((floats)magnitude * 0x1p112f);
    return (floats)((bits & 0x8000) << 16 | (is_special & (magnitude | 0x7f800000)) | (~is_special & scaled));
#endif
}

/* Number `second` of the pairs of LANES outputs; `stride`: bytes from a pair's first float16 numbers to the second ones. */
INLINE floats widened(const i32 is_half, const int second, const byte *pairs, i64 stride)
{
    if (is_half) return widened_halves(pairs + second * stride);
    const vector words = *(const unaligned *)pairs;
    return (floats)(second ? words & (i32)0xffff0000 : words << 16);
}

/* Some outputs of a tile: rows of x, `count` numbers along the sum, and weights in a panel of `width` vectors. */
typedef struct wide_tile {
    const float *x;
    i64 step, count, width; /* step: from a row of x to the next */
    const byte *w;
    float *to; /* rows, to_step apart; vectors, lanes */
    i64 to_step;
    i32 continues; /* whether sums begin with the numbers at `to` */
} wide_tile;

/* Add the products with one number of each pair. */
INLINE void add_products(const int rows, const int vectors, const i32 is_half, const int second, const wide_tile *at,
                         const float *x, const byte *w, floats sums[][WIDE_TILE])
{
    const i64 stride = at->width * VECTOR_BYTES / 2, each = is_half ? VECTOR_BYTES / 2 : VECTOR_BYTES;
    floats numbers[WIDE_TILE];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++) numbers[v] = widened(is_half, second, w + v * each, stride);
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            sums[r][v] = add_multiple(sums[r][v], x[r * at->step + second] - (floats){0}, numbers[v]);
}

INLINE void sum_widened(const int rows, const int vectors, const i32 is_half, const wide_tile *at)
{
    const float *x = at->x, *const last = x + (at->count & ~1);
    const byte *w = at->w;
    floats sums[WIDE_ROWS][WIDE_TILE];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            sums[r][v] = (floats){0};
            if (at->continues) sums[r][v] = *(const unaligned_floats *)(at->to + r * at->to_step + v * LANES);
        }
#pragma GCC unroll 1
    for (; x < last; x += 2, w += at->width * VECTOR_BYTES) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) __builtin_prefetch(w + WIDE_AHEAD + v * VECTOR_BYTES, 0, 3);
        add_products(rows, vectors, is_half, 0, at, x, w, sums);
        add_products(rows, vectors, is_half, 1, at, x, w, sums);
    }
    if (at->count & 1) add_products(rows, vectors, is_half, 0, at, x, w, sums);
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) *(unaligned_floats *)(at->to + r * at->to_step + v * LANES) = sums[r][v];
}

typedef void wide_function(const wide_tile *);
#define WIDE_KERNEL(name, rows, vectors, is_half) \
    static __attribute__((noinline)) void name(const wide_tile *at) { sum_widened(rows, vectors, is_half, at); }
#define WIDE_KERNELS(name, rows, vectors) \
    WIDE_KERNEL(bfloats_##name, rows, vectors, 0) \
    WIDE_KERNEL(bfloats_##name##_1, rows, 1, 0) \
    WIDE_KERNEL(halves_##name, rows, vectors, 1) \
    WIDE_KERNEL(halves_##name##_1, rows, 1, 1)
WIDE_KERNELS(row, 1, SINGLE_ROW)
WIDE_KERNELS(two, 2, OF_ROWS)
WIDE_KERNELS(four, 4, OF_ROWS)
WIDE_KERNELS(six, 6, OF_ROWS)

/* Indexed by: float16 or not; half the rows; one vector or several. */
static wide_function *const wide_kernels[2][4][2] = {
    {{bfloats_row_1, bfloats_row},
     {bfloats_two_1, bfloats_two},
     {bfloats_four_1, bfloats_four},
     {bfloats_six_1, bfloats_six}},
    {{halves_row_1, halves_row}, {halves_two_1, halves_two}, {halves_four_1, halves_four}, {halves_six_1, halves_six}},
};

static void multiply_widened(const packed_tile *at)
{
    const ag_packed_product *of = at->work->of;
    const i64 first = at->panel * WIDE_TILE, pairs = parts(of->depth, 2), start = at->part * at->work->depth;
    const i64 width = at_most(WIDE_TILE, parts(of->outputs, LANES) - first), most = at->rows > 1 ? OF_ROWS : SINGLE_ROW;
    const byte *const panel = (const byte *)of->w + first * VECTOR_BYTES * pairs + start / 2 * width * VECTOR_BYTES;
    wide_tile tile = {
        .x = row_of(of, at->row) + start,
        .step = of->x_strides[0],
        .count = at_most(at->work->depth, of->depth - start),
        .width = width,
        .to_step = at->step,
        .continues = at->part > 0,
    };
    for (i64 v = 0, vectors; v < width; v += vectors) {
        vectors = width - v < most ? 1 : most;
        tile.w = panel + v * VECTOR_BYTES / (of->w_half ? 2 : 1);
        tile.to = at->to + v * LANES;
        wide_kernels[of->w_half][at->rows / 2][vectors > 1](&tile);
    }
}

/* A panel stays in the cache for all rows; a single row takes it as it lies. */
static i32 divide_sum(packed_work *work)
{
    work->strip = work->of->rows;
    if (work->of->rows > WIDE_ROWS) work->depth = WIDE_DEPTH;
    return 0;
}

PACKED_FORMAT(.width = WIDE_TILE * LANES, .most_rows = WIDE_ROWS, .wide = 1, .alone = 1 << 20, .rows = rows_of_six,
              .prepare = divide_sum, .tile = multiply_widened)
