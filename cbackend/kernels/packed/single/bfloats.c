/* Weights of bfloat16 numbers (the upper halves of floats), by rows of such numbers, summed in float32.

   Two numbers along the sum form one word, the first one in its lower half.  Each lane is an output; a panel is at most
   TILE_VECTORS vectors of outputs.

       x          packed in each call: rows, words; from floats, which are rounded to nearest, ties to even, or from
                  bfloat16 numbers
       w          for each panel, for each word of the sum: vectors, lanes; then the least exponent.  A matrix that has
                  w_strides is packed in each call as well

   The product of two such numbers is exact in float32.  An output adds the second product of a word, then the first one,
   word after word, and each addition is rounded to the nearest: the order of vdpbf16ps.  That instruction flushes
   numbers and sums below 2^-126 to zero.  It is used only if none occur: the least exponents of x and w show that every
   product, and so every sum, is a multiple of 2^-126.  Otherwise float multiplications compute the same in twice the time.
   So the processor changes no bit, unless it rounds products below 2^-126 separately from sums.

   Where the processor has tiles, outputs have their order; see pair_tiles.c. */
#define SPARE (128 * 64)
#define MOST_SUMS (32 * 64)
#include "../../quantized/lanes.c"
#include "../packed.c"
#include "../../products/pair_tiles.c"

typedef unsigned int unsigned_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef unsigned short half;
typedef half halves __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef half unaligned_halves __attribute__((vector_size(VECTOR_BYTES / 2), aligned(1), may_alias));
typedef unsigned int number_bits __attribute__((may_alias));

#if PAIR_TILES
enum { BF_ROWS = MOST_TILED_ROWS, BF_STRIP = 128 };
#else
enum { BF_ROWS = 6, BF_STRIP = 20 * BF_ROWS };
#endif
/* BF_ROWS: of a tile; BF_STRIP: rows whose sums are still in the cache when the epilogue reads them */
enum { BF_AHEAD = 4096 };                 /* prefetch distance in b, bytes */
enum { BF_WORDS = 512 };                  /* words along the sum whose panel stays in the cache for all rows */
enum { BF_PACKED = 1 << 15 };             /* least numbers of a per task */
enum { LEAST_SUM = 142, ALL_ZERO = 255 }; /* of exponents of a and b; the exponent of zeros alone */

/* Both operands as words, and how they were packed. */
typedef struct bf_operands {
    half *x; /* rows, words: a copy, or the operand itself if it lies so */
    i64 row; /* halves from a row of x to the next */
    i32 is_copy;
    i32 *w;
    i64 words;
    i64 chunk, chunks; /* rows of x that a task packs; tasks */
    i32 *least;        /* of each chunk and panel, the least exponent */
    i32 plain;         /* no vdpbf16ps or tdpbf16ps */
} bf_operands;

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

/* Load LANES numbers that are neighbours, as the upper halves of words. */
INLINE vector upper_neighbours(const void *from, i64 at, i32 is_bits)
{
    return is_bits ? __builtin_convertvector(*(const unaligned_halves *)((const half *)from + at), vector) << 16
                   : rounded_bits(*(const unaligned *)((const float *)from + at));
}

/* Load LANES numbers `step` apart, of which `count` are there. */
INLINE vector upper_halves(const void *from, i64 at, i64 step, i32 is_bits, i64 count)
{
    if (step == 1 && count >= LANES) return upper_neighbours(from, at, is_bits);
    vector found = {0};
    for (i64 l = 0; l < at_most(LANES, count); l++) {
        const i64 k = at + l * step;
        found[l] =
            (i32)((unsigned int)(is_bits ? ((const half *)from)[k] : rounded_number(((const number_bits *)from)[k]))
                  << 16);
    }
    return found;
}

/* The least exponent of bfloat16 numbers that are neighbours. */
static i32 exponent_of_halves(const half *x, i64 count)
{
    enum { AT_ONCE = VECTOR_BYTES / sizeof(half) };
    typedef half many __attribute__((vector_size(VECTOR_BYTES)));
    typedef half unaligned_many __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
    many least = ~(many){0};
    half found = ~(half)0;
    i64 k = 0;
    for (; k + AT_ONCE <= count; k += AT_ONCE) {
        const many next = (*(const unaligned_many *)(x + k) & 0x7fff) - 1, is_less = (many)(next < least);
        least = (is_less & next) | (~is_less & least);
    }
    for (; k < count; k++) {
        const half next = (half)((x[k] & 0x7fff) - 1);
        found = next < found ? next : found;
    }
    for (i64 l = 0; l < AT_ONCE; l++) found = least[l] < found ? least[l] : found;
    return found == (half)~0 ? ALL_ZERO : (found + 1) >> 7;
}

/* Pack rows [first, last) of x. */
static i32 pack_bf_rows(const packed_work *work, i64 first, i64 last)
{
    const ag_packed_product *of = work->of;
    const bf_operands *own = work->own;
    const i64 depth = of->depth, row = of->x_strides[0], step = of->x_strides[1];
    const i32 is_bits = of->x_item == 2;
    const void *const x = of->x;
    unsigned_vector least = ~(unsigned_vector){0};
    i32 found = ALL_ZERO;
    for (i64 i = first; i < last && !own->is_copy; i++) {
        const i32 next = exponent_of_halves(own->x + i * own->row, depth);
        found = next < found ? next : found;
    }
    if (!own->is_copy) return found;
    for (i64 i = first; i < last; i++) {
        half *to = own->x + i * own->row;
        for (i64 k = 0; k < depth; k += LANES, to += LANES) {
            const i64 count = at_most(LANES, depth - k);
            const vector upper = upper_halves(x, i * row + k * step, step, is_bits, count);
            const halves narrow = __builtin_convertvector((unsigned_vector)upper >> 16, halves);
            least = least_of(least, upper);
            if (count >= LANES) *(unaligned_halves *)to = narrow;
            else __builtin_memcpy(to, &narrow, (unsigned long)(count + count % 2) * sizeof *to);
        }
    }
    return exponent_of(least);
}

/* Pack panel p of w; is_near: it is full, and its outputs are neighbours. */
INLINE i32 pack_bf_words(const i32 is_near, const i32 is_bits, const packed_work *work, i64 p)
{
    const ag_packed_product *of = work->of;
    const i64 down = of->w_strides[0], across = of->w_strides[1], first = p * TILE_VECTORS * LANES;
    const i64 vectors = is_near ? TILE_VECTORS : at_most(TILE_VECTORS, parts(of->outputs - first, LANES));
    const i64 depth = of->depth;
    const void *const w = of->w;
    unsigned_vector least = ~(unsigned_vector){0};
    i32 *to = ((const bf_operands *)work->own)->w + first * parts(depth, 2);
    for (i64 k = 0; k < depth; k += 2)
        for (i64 v = 0; v < vectors; v++, to += LANES) {
            const i64 column = first + v * LANES, count = of->outputs - column, at = k * down + column * across;
            vector even = is_near ? upper_neighbours(w, at, is_bits) : upper_halves(w, at, across, is_bits, count);
            vector odd = {0};
            if (k + 1 < depth && is_near) odd = upper_neighbours(w, at + down, is_bits);
            else if (k + 1 < depth) odd = upper_halves(w, at + down, across, is_bits, count);
            least = least_of(least_of(least, even), odd);
            *(unaligned *)to = (vector)((unsigned_vector)even >> 16) | odd;
        }
    return exponent_of(least);
}

static i32 pack_bf_panel(const packed_work *work, i64 p)
{
    const ag_packed_product *of = work->of;
    const i32 is_bits = of->w_item == 2;
    if (of->w_strides[1] != 1 || (p + 1) * TILE_VECTORS * LANES > of->outputs)
        return pack_bf_words(0, is_bits, work, p);
    return is_bits ? pack_bf_words(1, 1, work, p) : pack_bf_words(1, 0, work, p);
}

static void pack_bf(void *context, i64 index)
{
    const packed_work *work = context;
    const bf_operands *own = work->own;
    const i64 first = index * own->chunk;
    own->least[index] = index < own->chunks ? pack_bf_rows(work, first, at_most(first + own->chunk, work->of->rows))
                                            : pack_bf_panel(work, index - own->chunks);
}

#if PAIR_TILES
/* Some rows by a panel.  The weights of the next panel are prefetched meanwhile. */
static void multiply_part(const packed_tile *at, const half *a, const i32 *b, i64 width, i64 words)
{
    static const REAL zeros[TILE_VECTORS * LANES];
    const packed_work *work = at->work;
    const bf_operands *own = work->own;
    const i64 next = (at->panel + 1) * TILE_VECTORS * LANES, step = 4 * at->step;
    pair_product of = {
        .x = {(const char *)a, (const char *)(a + CHUNK * own->row)},
        .rows = at->rows,
        .row = 2 * own->row,
        .w = (const char *)b,
        .words = words,
        .chunk = CHUNK,
        .word = 4 * width,
        .vectors = width / LANES,
        .from = at->part ? (const char *)at->to : (const char *)zeros,
        .from_row = at->part ? step : 0,
        .to = {(char *)at->to, (char *)(at->to + CHUNK * at->step)},
        .to_row = step,
    };
    if (own->plain) {
        multiply_pairs_by_vectors(&of);
        return;
    }
    const i64 blocks = parts(at_most(work->strip, work->height), BF_ROWS), block = at->row / BF_ROWS % blocks;
    of.is_stream = blocks == 1 && at->rows <= CHUNK;
    if (next < work->of->outputs && !of.is_stream) {
        const i32 *const ahead = own->w + next * own->words + at->part * BF_WORDS * width;
        look_ahead_of_pairs(&of, (const char *)ahead, 4 * words * width, block, blocks);
    }
    configure_pairs(at->rows, CHUNK);
    multiply_pairs_by_tiles(&of);
    RELEASE_TILES();
}
static i64 rows_of_bfloats(i64 left) { return at_most(left, BF_ROWS); }
#else
/* Rows of a and vectors of a panel, both from the same word along the sum on. */
typedef struct bf_tile {
    const half *a;
    const i32 *b;
    i64 row, width, words; /* row: halves from a row to the next; width: numbers of b from a word to the next */
    float *sums;           /* rows, `step` apart: the sums so far */
    i64 step;
} bf_tile;

INLINE floats add_widened(floats sum, vector a, vector b)
{
    const i32 upper = (i32)0xffff0000;
    sum = add_multiple(sum, (floats)(a & upper), (floats)(b & upper));
    return add_multiple(sum, (floats)(a << 16), (floats)(b << 16));
}
#if PAIR_UNIT
#define add_words add_pairs
#else
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
        for (int v = 0; v < vectors; v++) sums[r][v] = *(const unaligned_floats *)(at->sums + r * at->step + v * LANES);
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
        for (int v = 0; v < vectors; v++) *(unaligned_floats *)(at->sums + r * at->step + v * LANES) = sums[r][v];
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
static void sum_bf_panel(const i32 plain, bf_tile at, i64 rows)
{
    const i64 vectors = at.width / LANES;
    for (i64 v = 0, some; v < vectors; v += some) {
        const i32 which = !plain && TILE_VECTORS == 4 && vectors - v >= 4 ? 2 : vectors - v >= 2;
        some = 1 << which;
        bf_kernels[plain][which][rows == 6 ? 3 : rows / 2](&at);
        at.b += some * LANES, at.sums += some * LANES;
    }
}

/* The same without tiles. */
static void multiply_part(const packed_tile *at, const half *a, const i32 *b, i64 width, i64 words)
{
    const bf_operands *own = at->work->own;
    const bf_tile tile = {
        .a = a, .b = b, .row = own->row, .width = width, .words = words, .sums = at->to, .step = at->step};
    for (i64 r = 0; r < at->rows && !at->part; r++)
        __builtin_memset(at->to + r * at->step, 0, (unsigned long)width * sizeof *at->to);
    sum_bf_panel(own->plain, tile, at->rows);
}
static i64 rows_of_bfloats(i64 left) { return rows_of_six(left); }
#endif

static void multiply_bfloats(const packed_tile *at)
{
    const bf_operands *own = at->work->own;
    const i64 output = at->panel * TILE_VECTORS * LANES, word = at->part * BF_WORDS;
    const i64 width = parts(at_most(TILE_VECTORS * LANES, at->work->of->outputs - output), LANES) * LANES;
    multiply_part(at, own->x + at->row * own->row + 2 * word, own->w + output * own->words + word * width, width,
                  at_most(BF_WORDS, own->words - word));
}

/* Pack both operands.  A panel stays in the cache for all rows of a task. */
static i32 pack_operands(packed_work *work)
{
    const ag_packed_product *of = work->of;
    const ag_runtime *rt = work->rt;
    bf_operands *own = work->own = rt->alloc(sizeof *own);
    if (!own) return PACKED_FAILED;
    const i64 words = parts(of->depth, 2), size = parts(of->outputs, LANES) * LANES * words * 4;
    const i64 chunk = at_least(1, BF_PACKED / at_least(1, of->depth)), chunks = parts(of->rows, chunk);
    const i64 packed = chunks + (of->w_strides ? work->panels : 0);
    *own = (bf_operands){.words = words, .chunk = chunk, .chunks = chunks};
    own->is_copy =
        of->x_item != 2 || of->x_strides[1] != 1 || (of->depth | of->x_strides[0]) % 2 || (__UINTPTR_TYPE__)of->x % 4;
    own->row = own->is_copy ? 2 * words : of->x_strides[0];
    own->x = own->is_copy ? rt->alloc(of->rows * words * 4 + 64) : (half *)of->x,
    own->least = rt->alloc(packed * 4 + 64);
    own->w = of->w_strides ? rt->alloc(size + 64) : (i32 *)of->w;
    if (!own->x || !own->least || !own->w) return PACKED_FAILED;
    run_tasks(work, packed, (double)packed * (double)of->depth * (double)chunk, pack_bf);
    i32 left = ALL_ZERO, right = of->w_strides ? ALL_ZERO : ((const half *)of->w)[size / 2];
    for (i64 k = 0; k < packed; k++) {
        i32 *const side = k < chunks ? &left : &right;
        *side = *side < own->least[k] ? *side : own->least[k];
    }
    own->plain = left < 1 || right < 1 || left + right < LEAST_SUM || !may_use_unit();
    work->depth = 2 * BF_WORDS, work->strip = of->after.nest ? BF_STRIP : of->rows;
    return 0;
}

static void release_operands(packed_work *work)
{
    const bf_operands *own = work->own;
    if (!own) return;
    if (work->of->w_strides) work->rt->release(own->w);
    if (own->is_copy) work->rt->release(own->x);
    work->rt->release(own->least), work->rt->release(work->own);
}

PACKED_FORMAT(.width = TILE_VECTORS * LANES, .most_rows = BF_ROWS, .wide = 1, .alone = 1 << 19, .rows = rows_of_bfloats,
              .prepare = pack_operands, .finish = release_operands, .tile = multiply_bfloats)
