/* Matrix products of bfloat16 numbers (the upper halves of floats), summed in float32.

   Two numbers along the sum form one word, the first one in its lower half.  Each lane is an output; a panel is at most
   TILE_VECTORS vectors of outputs.

       a          rows, words; from floats, which are rounded to nearest, ties to even, or from bfloat16 numbers
       b          for each panel, for each word of the sum: vectors, lanes

   The product of two such numbers is exact in float32.  An output adds the second product of a word, then the first one,
   word after word, and each addition is rounded to the nearest: the order of vdpbf16ps.  That instruction flushes
   numbers and sums below 2^-126 to zero.  It is used only if none occur: the least exponents of a and b show that every
   product, and so every sum, is a multiple of 2^-126.  Otherwise float multiplications compute the same in twice the time.
   So the processor changes no bit, unless it rounds products below 2^-126 separately from sums. */
#pragma once
#include "nibbles.c"

typedef unsigned int unsigned_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef unsigned short half;
typedef half halves __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef half unaligned_halves __attribute__((vector_size(VECTOR_BYTES / 2), aligned(1), may_alias));
typedef unsigned int number_bits __attribute__((may_alias));

enum { BF_ROWS = 6, BF_AHEAD = 4096 };    /* BF_ROWS: of a tile; BF_AHEAD: prefetch distance in b, bytes */
enum { BF_WORDS = 512 };                  /* words along the sum whose panel stays in the cache for all rows */
enum { BF_PACKED = 1 << 15 };             /* least numbers of a per task */
enum { LEAST_SUM = 142, ALL_ZERO = 255 }; /* of exponents of a and b; the exponent of zeros alone */

typedef struct bf_work {
    const ag_bfloat_product *of;
    const ag_runtime *rt;
    i64 words, panels;  /* of the sum; of b */
    i64 chunk, chunks;  /* rows of a that a task packs; tasks */
    i64 height, strips; /* rows of a that a task multiplies by a panel */
    half *a;            /* rows, words */
    i32 *b;
    i32 *least; /* of each chunk and panel, the least exponent */
    i32 plain;  /* no vdpbf16ps */
} bf_work;

/* Round the bits of floats to the upper half; a NaN stays a NaN. */
INLINE vector rounded_bits(vector bits)
{
    const vector up = (bits + 0x7fff + ((bits >> 16) & 1)) & (i32)0xffff0000;
    const vector is_nan = (bits & 0x7fffffff) > 0x7f800000;
    return (is_nan & 0x7fc00000) | (~is_nan & up);
}

INLINE half rounded_number(unsigned int bits)
{
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : (half)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The least nonzero magnitude so far, minus one. */
INLINE unsigned_vector least_of(unsigned_vector least, vector upper)
{
    const unsigned_vector next = (unsigned_vector)((upper & 0x7fffffff) - 1);
    const unsigned_vector is_less = (unsigned_vector)(next < least);
    return (is_less & next) | (~is_less & least);
}

/* The exponent of the least magnitude in all lanes. */
static i32 exponent_of(unsigned_vector least)
{
    unsigned int found = ~0u;
    for (i64 l = 0; l < LANES; l++) found = least[l] < found ? least[l] : found;
    return found == ~0u ? ALL_ZERO : (i32)((found + 1) >> 23);
}

/* Load LANES numbers `step` apart, as the upper halves of words. */
INLINE vector upper_halves(const void *from, i64 at, i64 step, i32 is_bits, i64 count)
{
    if (step == 1 && count >= LANES)
        return is_bits ? __builtin_convertvector(*(const unaligned_halves *)((const half *)from + at), vector) << 16
                       : rounded_bits(*(const unaligned *)((const float *)from + at));
    vector found = {0};
    for (i64 l = 0; l < at_most(LANES, count); l++) {
        const i64 k = at + l * step;
        found[l] =
            (i32)((unsigned int)(is_bits ? ((const half *)from)[k] : rounded_number(((const number_bits *)from)[k]))
                  << 16);
    }
    return found;
}

/* Pack rows [first, last) of a. */
static i32 pack_bf_rows(const bf_work *work, i64 first, i64 last)
{
    const ag_bfloat_product *of = work->of;
    unsigned_vector least = ~(unsigned_vector){0};
    for (i64 i = first; i < last; i++) {
        half *to = work->a + i * 2 * work->words;
        for (i64 k = 0; k < of->depth; k += LANES, to += LANES) {
            const i64 count = at_most(LANES, of->depth - k);
            const vector upper =
                upper_halves(of->a, i * of->a_strides[0] + k * of->a_strides[1], of->a_strides[1], of->a_bits, count);
            const halves narrow = __builtin_convertvector((unsigned_vector)upper >> 16, halves);
            least = least_of(least, upper);
            if (count >= LANES) *(unaligned_halves *)to = narrow;
            else __builtin_memcpy(to, &narrow, (unsigned long)(count + count % 2) * sizeof *to);
        }
    }
    return exponent_of(least);
}

/* Pack panel p of b. */
static i32 pack_bf_panel(const bf_work *work, i64 p)
{
    const ag_bfloat_product *of = work->of;
    const i64 b0 = of->b_strides[0], b1 = of->b_strides[1], first = p * TILE_VECTORS * LANES;
    const i64 vectors = at_most(TILE_VECTORS, parts(of->outputs - first, LANES));
    unsigned_vector least = ~(unsigned_vector){0};
    i32 *to = work->b + first * work->words;
    for (i64 w = 0; w < work->words; w++)
        for (i64 v = 0; v < vectors; v++, to += LANES) {
            const i64 column = first + v * LANES, count = of->outputs - column;
            vector even = upper_halves(of->b, 2 * w * b0 + column * b1, b1, of->b_bits, count), odd = {0};
            if (2 * w + 1 < of->depth) odd = upper_halves(of->b, (2 * w + 1) * b0 + column * b1, b1, of->b_bits, count);
            least = least_of(least_of(least, even), odd);
            *(unaligned *)to = (vector)((unsigned_vector)even >> 16) | odd;
        }
    return exponent_of(least);
}

static void pack_bf(void *context, i64 index)
{
    const bf_work *work = context;
    const i64 first = index * work->chunk;
    work->least[index] = index < work->chunks ? pack_bf_rows(work, first, at_most(first + work->chunk, work->of->rows))
                                              : pack_bf_panel(work, index - work->chunks);
}

/* Rows of a and vectors of a panel, both from the same word along the sum on. */
typedef struct bf_tile {
    const half *a;
    const i32 *b;
    i64 row, width, words; /* row: halves from a row to the next; width: numbers of b from a word to the next */
    float *sums;           /* rows, `width`: the sums so far */
} bf_tile;

#if defined(__AVX512BF16__)
/* The odd products, then the even ones. */
INLINE floats add_words(floats sum, vector a, vector b)
{
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}
#endif
INLINE floats add_widened(floats sum, vector a, vector b)
{
    const i32 upper = (i32)0xffff0000;
    sum = add_multiple(sum, (floats)(a & upper), (floats)(b & upper));
    return add_multiple(sum, (floats)(a << 16), (floats)(b << 16));
}
#if !defined(__AVX512BF16__)
#define add_words add_widened
#endif

INLINE void sum_bf_words(const int rows, const int vectors, const i32 plain, const bf_tile *at)
{
    const half *a = at->a;
    const i32 *b = at->b;
    floats sums[BF_ROWS][TILE_VECTORS];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            sums[r][v] = *(const unaligned_floats *)(at->sums + r * at->width + v * LANES);
#pragma GCC unroll 1
    for (i64 w = 0; w < at->words; w++, a += 2, b += at->width) {
        vector right[TILE_VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            right[v] = *(const unaligned *)(b + v * LANES);
            KEEP(right[v]);
            __builtin_prefetch((const char *)(b + v * LANES) + BF_AHEAD, 0, 3);
        }
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            const vector left = *(const word *)(a + r * at->row) - (vector){0};
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++)
                sums[r][v] = plain ? add_widened(sums[r][v], left, right[v]) : add_words(sums[r][v], left, right[v]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) *(unaligned_floats *)(at->sums + r * at->width + v * LANES) = sums[r][v];
}

typedef void bf_function(const bf_tile *);
#define BF_KERNEL(name, rows, vectors, plain) \
    static __attribute__((noinline)) void name(const bf_tile *at) { sum_bf_words(rows, vectors, plain, at); }
#define BF_KERNELS(name, vectors, plain) \
    BF_KERNEL(name##_1, 1, vectors, plain) \
    BF_KERNEL(name##_2, 2, vectors, plain) \
    BF_KERNEL(name##_4, 4, vectors, plain) \
    BF_KERNEL(name##_6, 6, vectors, plain)
#define BF_NAMES(name) {name##_1, name##_2, name##_4, name##_6}
BF_KERNELS(bf_plain_one, 1, 1)
BF_KERNELS(bf_plain_two, 2, 1)
BF_KERNELS(bf_one, 1, 0)
BF_KERNELS(bf_two, 2, 0)
#if defined(__AVX512F__)
BF_KERNELS(bf_four, 4, 0)
#else
#define bf_four_1 bf_two_1
#define bf_four_2 bf_two_2
#define bf_four_4 bf_two_4
#define bf_four_6 bf_two_6
#endif

/* Indexed by: float multiplications or not; 1, 2 or 4 vectors; 1, 2, 4 or 6 rows. */
static bf_function *const bf_kernels[2][3][4] = {{BF_NAMES(bf_one), BF_NAMES(bf_two), BF_NAMES(bf_four)},
                                                 {BF_NAMES(bf_plain_one), BF_NAMES(bf_plain_two)}};

/* Run all vectors of a panel. */
static void sum_bf_panel(const bf_work *work, bf_tile at, i64 rows)
{
    const i64 vectors = at.width / LANES;
    for (i64 v = 0, some; v < vectors; v += some) {
        const i32 which = !work->plain && TILE_VECTORS == 4 && vectors - v >= 4 ? 2 : vectors - v >= 2;
        some = 1 << which;
        bf_kernels[work->plain][which][rows == 6 ? 3 : rows / 2](&at);
        at.b += some * LANES, at.sums += some * LANES;
    }
}

/* Multiply a strip of rows by a panel, in chunks of words along the sum. */
static void bf_task(void *context, i64 index)
{
    const bf_work *work = context;
    const ag_bfloat_product *of = work->of;
    const i64 p = index / work->strips, first = index % work->strips * work->height;
    const i64 last = at_most(first + work->height, of->rows), output = p * TILE_VECTORS * LANES;
    const i64 count = at_most(TILE_VECTORS * LANES, of->outputs - output);
    const i64 width = parts(count, LANES) * LANES;
    const i32 *panel = work->b + output * work->words;
    float sums[BF_ROWS * TILE_VECTORS * LANES];
    for (i64 w = 0; w == 0 || w < work->words; w += BF_WORDS)
        for (i64 row = first, rows; row < last; row += rows) {
            const i64 left = last - row;
            rows = left >= 6 ? 6 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
            float *y = of->y + row * of->outputs + output;
            if (!w) __builtin_memset(sums, 0, sizeof sums);
            else
                for (i64 r = 0; r < rows; r++)
                    __builtin_memcpy(sums + r * width, y + r * of->outputs, (unsigned long)count * sizeof *y);
            const bf_tile at = {work->a + (row * work->words + w) * 2,
                                panel + w * width,
                                2 * work->words,
                                width,
                                at_most(BF_WORDS, work->words - w),
                                sums};
            sum_bf_panel(work, at, rows);
            for (i64 r = 0; r < rows; r++)
                __builtin_memcpy(y + r * of->outputs, sums + r * width, (unsigned long)count * sizeof *y);
        }
}

static void run_bf(const bf_work *work, i64 tasks, double each, void (*task)(void *, i64))
{
    const double all = each * (double)tasks;
    const i32 is_long = all > 1e8;
    if (is_long) work->rt->listen();
    if (work->rt->threads > 1 && tasks > 1 && all > TASK / 4) work->rt->parallel(work->rt, tasks, task, (void *)work);
    else
        for (i64 k = 0; k < tasks && !(is_long && work->rt->stopped()); k++) task((void *)work, k);
}

/* y[rows, outputs] = a[rows, depth] @ b[depth, outputs].  Return 0, or MEMORY (2). */
static i32 multiply_bfloats(const ag_runtime *rt, const ag_bfloat_product *of)
{
    if (of->rows <= 0 || of->outputs <= 0) return 0;
    bf_work work = {.of = of, .rt = rt, .words = parts(of->depth, 2)};
    const i64 lanes = parts(of->outputs, LANES) * LANES, size = lanes * work.words * 4;
    work.panels = parts(of->outputs, TILE_VECTORS * LANES);
    work.chunk = at_least(1, BF_PACKED / at_least(1, of->depth)), work.chunks = parts(of->rows, work.chunk);
    const i64 packed = work.chunks + (of->in_panels ? 0 : work.panels);
    work.a = rt->alloc(of->rows * work.words * 4 + 64), work.least = rt->alloc(packed * 4 + 64);
    work.b = of->in_panels ? (i32 *)of->b : rt->alloc(size + 64);
    const i32 failed = !work.a || !work.least || !work.b ? 2 : 0;
    if (!failed) {
        run_bf(&work, packed, (double)of->depth * (double)work.chunk, pack_bf);
        i32 left = ALL_ZERO, right = of->in_panels ? ((const half *)of->b)[size / 2] : ALL_ZERO;
        for (i64 k = 0; k < packed; k++) {
            i32 *const side = k < work.chunks ? &left : &right;
            *side = *side < work.least[k] ? *side : work.least[k];
        }
        work.plain = left < 1 || right < 1 || left + right < LEAST_SUM;
        const i64 tiles = parts(of->rows, BF_ROWS), wanted = rt->threads < 2 ? 1 : parts(4 * rt->threads, work.panels);
        work.height = parts(tiles, at_most(wanted, tiles)) * BF_ROWS, work.strips = parts(of->rows, work.height);
        const double each = (double)work.height * (double)(TILE_VECTORS * LANES) * (double)work.words;
        run_bf(&work, work.panels * work.strips, each, bf_task);
    }
    if (!of->in_panels) rt->release(work.b);
    rt->release(work.least), rt->release(work.a);
    return failed;
}
