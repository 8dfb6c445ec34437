/* Sums of products of bytes, in 32 bits and without error: convolutions in blocks of channels.  byte_products.c has products
   of matrices.

   Four channels of x, side by side, are one word; it is multiplied by four weights of each output and their sum is added
   to that of the output, which is one instruction where the processor has it (VNNI, or the dot products of Armv8.6).
   x may have a sign or none; weights have one.  Such instructions take x without a sign: for others the sign bit is
   turned over, which adds 128 to each number and 128 times the sum of its weights to an output, and this is taken back.
   The dot product of Armv8.2 takes x with a sign (TAKES_SIGNED), so there numbers without one are turned.

       x          images, blocks, rows, columns, `block` channels (a multiple of 4)
       weights    for each panel of outputs, for each block, row and column of the kernel, four channels: outputs, 4
       y          images, blocks of LANES outputs or a multiple, positions, outputs; or as y_strides say

   Sums are exact, so tiles, tasks and threads do not change them.  What becomes of a sum is of->kind: see finish_of. */

typedef signed char byte;
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, TILE_VECTORS = 4, TILE_COLUMNS = 6, FEW_COLUMNS = 6 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32, TILE_VECTORS = 2, TILE_COLUMNS = 6, FEW_COLUMNS = 4 };
#else
enum { VECTOR_BYTES = 16, TILE_VECTORS = 2, TILE_COLUMNS = 6, FEW_COLUMNS = 4 };
#endif
enum { LANES = VECTOR_BYTES / 4, SEGMENT = 96, MOST_BLOCK = 64 }; /* columns of a row of 1 x 1; bytes of `around` */
enum { MOST_WIDTH = 5 }; /* of kernels that slide */
enum { MOST_COLUMNS = 8 }; /* of any tile */
enum { AHEAD = 16 }; /* rows of weights that are asked for */
enum { TASK = 1 << 22 }; /* multiplications that are worth a task */

typedef i32 vector __attribute__((vector_size(VECTOR_BYTES)));
typedef i32 unaligned __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
typedef float floats __attribute__((vector_size(VECTOR_BYTES)));
typedef float unaligned_floats __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
typedef byte bytes __attribute__((vector_size(LANES)));
typedef byte unaligned_bytes __attribute__((vector_size(LANES), aligned(1), may_alias));
typedef unsigned char unsigned_bytes __attribute__((vector_size(LANES), aligned(1), may_alias));
typedef i32 word __attribute__((aligned(1), may_alias));

/* LANES bytes as numbers of 32 bits; compilers convert such vectors number by number. */
#if defined(__AVX2__)
#define WIDENED(name, instruction, kind) \
    INLINE vector name(const byte *from) \
    { \
        vector wide; \
        __asm__(instruction " %1, %0" : "=v"(wide) : "m"(*(const kind *)from)); \
        return wide; \
    }
#else
#define WIDENED(name, instruction, kind) \
    INLINE vector name(const byte *from) { return __builtin_convertvector(*(const kind *)from, vector); }
#endif
WIDENED(without_sign, "vpmovzxbd", unsigned_bytes)
WIDENED(with_sign, "vpmovsxbd", unaligned_bytes)

/* The products of a word of x, in all lanes, and the words of a vector of weights are added to sums. */
#if defined(__AVX512VNNI__)
typedef vector weights;
#define AS_WEIGHTS(w) (w)
INLINE vector add_products(vector sum, vector x, weights w)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
    return sum;
}
#elif defined(__AVXVNNI__)
typedef vector weights;
#define AS_WEIGHTS(w) (w)
INLINE vector add_products(vector sum, vector x, weights w)
{
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(w));
    return sum;
}
#elif defined(__ARM_FEATURE_MATMUL_INT8)
typedef vector weights;
#define AS_WEIGHTS(w) (w)
INLINE vector add_products(vector sum, vector x, weights w)
{
    __asm__("usdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(w));
    return sum;
}
#elif defined(__ARM_FEATURE_DOTPROD)
#define TAKES_SIGNED 1
typedef vector weights;
#define AS_WEIGHTS(w) (w)
INLINE vector add_products(vector sum, vector x, weights w)
{
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(x), "w"(w));
    return sum;
}
#elif defined(__AVX512BW__) || (defined(__AVX2__) && !defined(__AVX512F__)) || (defined(__SSE2__) && !defined(__AVX__))
/* Even and odd bytes in 16 bits each: their products, added in pairs, are exact. */
typedef struct weights {
    vector even, odd;
} weights;
typedef short shorts __attribute__((vector_size(VECTOR_BYTES)));
INLINE weights as_weights(vector w) { return (weights){(vector)((shorts)(w << 8) >> 8), (vector)((shorts)w >> 8)}; }
#define AS_WEIGHTS(w) as_weights(w)
INLINE vector multiply_pairs(vector a, vector b)
{
#if defined(__AVX__)
    __asm__("vpmaddwd %1, %0, %0" : "+v"(a) : "v"(b));
#else
    __asm__("pmaddwd %1, %0" : "+x"(a) : "x"(b));
#endif
    return a;
}
INLINE vector add_products(vector sum, vector x, weights w)
{
    typedef unsigned short wide __attribute__((vector_size(VECTOR_BYTES)));
    const vector even = x & 0x00ff00ff, odd = (vector)((wide)x >> 8);
    return sum + multiply_pairs(even, w.even) + multiply_pairs(odd, w.odd);
}
#else
typedef vector weights;
#define AS_WEIGHTS(w) (w)
INLINE vector add_products(vector sum, vector x, weights w)
{
    sum += (x & 255) * (w << 24 >> 24) + (x >> 8 & 255) * (w << 16 >> 24);
    return sum + (x >> 16 & 255) * (w << 8 >> 24) + (x >> 24 & 255) * (w >> 24);
}
#endif

#ifndef TAKES_SIGNED
#define TAKES_SIGNED 0
#endif

/* A number of x below 256 and a weight of each channel. */
INLINE vector add_product(vector sum, vector x, vector w)
{
#if defined(__AVX512VNNI__)
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
    return sum;
#else
    return sum + x * w;
#endif
}

/* Keeps weights in registers: gcc else reads them anew for each position. */
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define KEEP(vector) __asm__("" : "+v"(vector))
#else
#define KEEP(vector) (void)0
#endif

/* Sizes and tiling of a call, computed once. */
typedef struct byte_work {
    const ag_byte_sums *of;
    i64 panels, strips;
    i64 rows, columns, total, height; /* rows of `columns` of `total` positions; height: rows of a strip */
    i64 left, right;                  /* windows from `left` on and before `right` reach over no border of a row */
    i32 flat;                         /* kernels of one position: rows are segments of all positions */
    i32 by_strips;                    /* the tasks of a strip are neighbours, else those of a panel */
    i32 is_narrow;                    /* sums become bytes in registers */
    i32 adds_nothing;                 /* the number beyond the borders is a 0 */
    vector turned;                    /* the bits of x that are turned over */
    vector zero, more_turned;         /* of y; the bits of what is added to it that are turned over */
    floats low, high;                 /* where y is cut off, less the zero point */
    byte around[MOST_BLOCK];          /* what lies beyond the borders of x */
} byte_work;

/* A tile: positions of y next to each other, and outputs from number `output` on, of a panel of `width`. */
typedef struct byte_tile {
    const byte *x, *w;
    i64 column, step;  /* of x: the first one's window begins there; bytes from one window to the next */
    i64 top, bottom;   /* rows of the kernel that add something */
    i64 first, last;   /* those that lie within x */
    i64 image, output, width;
    i32 inside;        /* no window reaches over the left or right border */
} byte_tile;

/* Whether the sign bits of x are turned over.  Kernels of own channels take numbers without a sign everywhere. */
INLINE i32 is_turned(const ag_byte_sums *of) { return (of->is_signed != 0) != (TAKES_SIGNED && !of->own); }

/* The outputs of panel number `panel`: the first block and how many. */
INLINE i64 first_block(const byte_work *work, i64 panel)
{
    return begin_of(work->of->blocks, work->panels, panel);
}

/* The channels that the windows of a tile meet in a block, at one row and column of the kernel. */
INLINE void find_words(const int columns, const byte_work *work, const byte_tile *at, i64 b, i64 i, i64 j,
                       const byte **from)
{
    const ag_byte_sums *of = work->of;
    const i64 shift = j * of->dilation[1];
    const byte *x = at->x + b * of->x_strides[1] + i * of->dilation[0] * of->x_strides[2] + shift * of->x_strides[3];
    const i32 within = i >= at->first && i < at->last;
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) {
        const i64 column = at->column + shift + p * of->stride[1];
        from[p] = within && (at->inside || (column >= 0 && column < of->lengths[1])) ? x + p * at->step : work->around;
    }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", "no-schedule-insns2")
#endif

/* All sums of a tile, row by row, are added to those in registers. */
INLINE void accumulate(const int columns, const int vectors, const byte_work *work, const byte_tile *at,
                       vector sums[][TILE_VECTORS])
{
    const ag_byte_sums *of = work->of;
    /* The positions of a row of the kernel lie side by side, as do their weights, if no border is between them. */
    const i32 by_rows = at->inside && of->dilation[1] == 1 && of->x_strides[3] == of->block;
    const i64 row = at->width * 4, depth = of->block / 4 * of->kernel[1];
    const vector turn = work->turned;
    for (i64 b = 0; b < of->in_blocks; b++)
        for (i64 i = at->top; i < at->bottom; i++) {
            const i32 at_once = by_rows && i >= at->first && i < at->last;
            const i64 positions = at_once ? 1 : of->kernel[1], groups = at_once ? depth : of->block / 4;
            const byte *w = at->w + (b * of->kernel[0] + i) * depth * row;
            for (i64 j = 0; j < positions; j++) {
                const byte *from[MOST_COLUMNS];
                find_words(columns, work, at, b, i, j, from);
#pragma GCC unroll 1
                for (i64 c = 0; c < groups; c++, w += row) {
                    weights right[TILE_VECTORS];
#pragma GCC unroll 4
                    for (int v = 0; v < vectors; v++) {
                        right[v] = AS_WEIGHTS(*(const unaligned *)(w + v * VECTOR_BYTES));
                        KEEP(right[v]);
                        __builtin_prefetch(w + AHEAD * row + v * VECTOR_BYTES, 0, 3);
                    }
#pragma GCC unroll 8
                    for (int p = 0; p < columns; p++) {
                        const vector left = (*(const word *)(from[p] + 4 * c) - (vector){0}) ^ turn;
#pragma GCC unroll 4
                        for (int v = 0; v < vectors; v++) sums[p][v] = add_products(sums[p][v], left, right[v]);
                    }
                }
            }
        }
}

/* The sums of a tile in memory. */
INLINE void sum_words(const int columns, const int vectors, const byte_work *work, const byte_tile *at, vector *to)
{
    vector sums[TILE_COLUMNS][TILE_VECTORS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[p][v] = (vector){0};
    accumulate(columns, vectors, work, at, sums);
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) *to++ = sums[p][v];
}

/* Each channel by its own kernel: the sums of LANES channels at the positions of a tile. */
INLINE void sum_channels(const int columns, const byte_work *work, const byte_tile *at, vector *to)
{
    const ag_byte_sums *of = work->of;
    const vector turn = work->turned & 0x80;
    vector sums[TILE_COLUMNS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) sums[p] = (vector){0};
    for (i64 i = at->top; i < at->bottom; i++)
        for (i64 j = 0; j < of->kernel[1]; j++) {
            const vector right = with_sign(at->w + (i * of->kernel[1] + j) * of->out_block);
            const byte *from[TILE_COLUMNS];
            find_words(columns, work, at, 0, i, j, from);
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) sums[p] = add_product(sums[p], without_sign(from[p]) ^ turn, right);
        }
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) to[p] = sums[p];
}

/* The same for kernels whose rows have `width` positions side by side, `stride` apart from one window to the next: a row
   of x is read once for all windows of a tile. */
INLINE void slide_channels(const int columns, const int width, const int stride, const byte_work *work,
                           const byte_tile *at, vector *to)
{
    const ag_byte_sums *of = work->of;
    const i64 apart = of->x_strides[3];
    const vector turn = work->turned & 0x80;
    vector sums[TILE_COLUMNS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) sums[p] = (vector){0};
    for (i64 i = at->top; i < at->bottom; i++) {
        const i32 within = i >= at->first && i < at->last;
        const unsigned long length = within ? (unsigned long)of->lengths[1] : 0;
        const byte *x = at->x + i * of->dilation[0] * of->x_strides[2];
        vector right[MOST_WIDTH];
#pragma GCC unroll 8
        for (int j = 0; j < width; j++) right[j] = with_sign(at->w + (i * width + j) * of->out_block);
#define SLIDE(number) \
    _Pragma("GCC unroll 20") for (int k = 0; k < (columns - 1) * stride + width; k++) \
    { \
        const vector left = without_sign(number) ^ turn; \
        _Pragma("GCC unroll 8") for (int p = 0; p < columns; p++) \
            if (k >= p * stride && k < p * stride + width) sums[p] = add_product(sums[p], left, right[k - p * stride]); \
    }
        if (at->inside && within) SLIDE(x + k * apart)
        else SLIDE((unsigned long)(at->column + k) < length ? x + k * apart : work->around)
    }
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) to[p] = sums[p];
}

typedef void byte_function(const byte_work *, const byte_tile *, vector *);
#define BYTE_KERNEL(name, call) \
    static __attribute__((noinline)) void name(const byte_work *work, const byte_tile *at, vector *to) { call; }
#define BYTE_TILE(columns, vectors) BYTE_KERNEL(bytes_##vectors##_##columns, sum_words(columns, vectors, work, at, to))
#define OWN_TILE(columns) BYTE_KERNEL(bytes_own_##columns, sum_channels(columns, work, at, to))
#define SLIDING_TILE(columns, width, stride) \
    BYTE_KERNEL(slide_##width##_##stride##_##columns, slide_channels(columns, width, stride, work, at, to))
#define SLIDING_TILES(width, stride) \
    SLIDING_TILE(1, width, stride) SLIDING_TILE(2, width, stride) SLIDING_TILE(3, width, stride) \
    SLIDING_TILE(4, width, stride) SLIDING_TILE(5, width, stride) SLIDING_TILE(6, width, stride)
#define NAMES_OF_SIX(name) name##_1, name##_2, name##_3, name##_4, name##_5, name##_6
OWN_TILE(1) OWN_TILE(2) OWN_TILE(3) OWN_TILE(4) OWN_TILE(5) OWN_TILE(6)
SLIDING_TILES(3, 1) SLIDING_TILES(3, 2) SLIDING_TILES(5, 1) SLIDING_TILES(5, 2)
static byte_function *const own_bytes[TILE_COLUMNS] = {NAMES_OF_SIX(bytes_own)};
static byte_function *const sliding_bytes[2][2][TILE_COLUMNS] = {
    {{NAMES_OF_SIX(slide_3_1)}, {NAMES_OF_SIX(slide_3_2)}}, {{NAMES_OF_SIX(slide_5_1)}, {NAMES_OF_SIX(slide_5_2)}}
};
#define BYTE_TILES(vectors) BYTE_TILE(1, vectors) BYTE_TILE(2, vectors) BYTE_TILE(3, vectors) BYTE_TILE(4, vectors)
#define MORE_BYTE_TILES(vectors) BYTE_TILES(vectors) BYTE_TILE(5, vectors) BYTE_TILE(6, vectors)
#define BYTE_NAMES(vectors) bytes_##vectors##_1, bytes_##vectors##_2, bytes_##vectors##_3, bytes_##vectors##_4
#define MORE_BYTE_NAMES(vectors) BYTE_NAMES(vectors), bytes_##vectors##_5, bytes_##vectors##_6
#if defined(__AVX512F__)
MORE_BYTE_TILES(1) MORE_BYTE_TILES(2) MORE_BYTE_TILES(3) MORE_BYTE_TILES(4)
static byte_function *const byte_tiles[TILE_VECTORS][TILE_COLUMNS] = {
    {MORE_BYTE_NAMES(1)}, {MORE_BYTE_NAMES(2)}, {MORE_BYTE_NAMES(3)}, {MORE_BYTE_NAMES(4)}
};
#else
BYTE_TILES(1) BYTE_TILES(2)
static byte_function *const byte_tiles[TILE_VECTORS][TILE_COLUMNS] = {{BYTE_NAMES(1)}, {BYTE_NAMES(2)}};
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

/* Numbers held between low and high, which are below 2^22, and the nearest integers of these, halves to even.  No number
   is NaN. */
#if defined(__AVX__) && (!defined(__AVX512F__) || defined(__AVX512VNNI__))
INLINE floats held(floats f, floats low, floats high)
{
    __asm__("vmaxps %1, %0, %0\n\tvminps %2, %0, %0" : "+v"(f) : "v"(low), "v"(high));
    return f;
}
INLINE vector rounded(floats f)
{
    vector whole;
    __asm__("vcvtps2dq %1, %0" : "=v"(whole) : "v"(f));
    return whole;
}
#else
INLINE floats choose(vector set, floats a, floats b) { return (floats)((set & (vector)a) | (~set & (vector)b)); }
INLINE floats held(floats f, floats low, floats high)
{
    f = choose(low > f, low, f);
    return choose(high < f, high, f);
}
INLINE vector rounded(floats f)
{
    const float far = 0x1.8p23f;
    return (vector)(f + far) - (vector)(far - (floats){0});
}
#endif

/* Numbers of a vector or, of its last `count`, the first ones. */
#define LOAD(kind, to, from, count) \
    if ((count) >= LANES) to = *(const kind *)(from); \
    else { \
        __typeof__(to) some = {0}; \
        __builtin_memcpy(&some, from, (unsigned long)(count) * sizeof to / LANES); \
        to = some; \
    }
#define STORE(kind, to, value, count) \
    if ((count) >= LANES) *(kind *)(to) = (value); \
    else { \
        const __typeof__(value) all = (value); \
        __builtin_memcpy(to, &all, (unsigned long)(count) * sizeof all / LANES); \
    }

/* A vector of outputs: its part of the epilogue, and number `place` of y, where its first position in the image lies. */
typedef struct byte_column {
    vector start;
    floats scale, bias;
    i64 place, count; /* count: of outputs, LANES or fewer */
} byte_column;

/* The vectors of outputs of a tile. */
static void find_columns(const byte_work *work, const byte_tile *at, i64 vectors, byte_column *columns)
{
    const ag_byte_sums *of = work->of;
    for (i64 v = 0; v < vectors; v++) {
        const i64 output = at->output + v * LANES, block = output / of->out_block;
        byte_column *to = columns + v;
        to->count = at_least(0, at_most(LANES, of->outputs - output));
        to->place = at->image * of->y_strides[0] + block * of->y_strides[1] + (output - block * of->out_block);
        to->start = *(const unaligned *)(of->start + output);
        if (is_turned(of)) to->start += (of->is_signed ? -128 : 128) * *(const unaligned *)(of->totals + output);
        if (of->kind == AG_SUMS) continue;
        to->scale = *(const unaligned_floats *)(of->scale + output);
        to->bias = *(const unaligned_floats *)(of->bias + output);
    }
}

/* AG_SUMS: sums in 32 bits. */
static void store_sums(const byte_work *work, const byte_column *of, i64 at, i64 columns, i64 apart, const vector *sums,
                       const i32 *shifts)
{
    const i64 step = work->of->y_strides[2];
    i32 *y = (i32 *)work->of->y + of->place + at * step;
    for (i64 p = 0; p < columns; p++, y += step, sums += apart) {
        const vector sum = *sums + of->start + (shifts ? shifts[p] : 0);
        STORE(unaligned, y, sum, of->count)
    }
}

/* AG_FLOATS: sum * scale + bias. */
static void store_floats(const byte_work *work, const byte_column *of, i64 at, i64 columns, i64 apart, const vector *sums)
{
    const i64 step = work->of->y_strides[2];
    float *y = (float *)work->of->y + of->place + at * step;
    for (i64 p = 0; p < columns; p++, y += step, sums += apart) {
        const floats f = __builtin_convertvector(*sums + of->start, floats) * of->scale + of->bias;
        STORE(unaligned_floats, y, f, of->count)
    }
}

/* Kinds of residuals: none, bytes or floats that are added to scaled sums, bytes that are added to rounded sums. */
enum { ADDS_NOTHING, ADDS_BYTES, ADDS_FLOATS, ADDS_TO_ROUNDED };

/* AG_BYTES: sum * scale + bias, and what is added, rounded, + zero, held between low and high.  All vectors of a tile. */
INLINE void store_bytes(const byte_work *work, const byte_column *of, i64 at, i64 columns, i64 vectors, const vector *sums,
                        const int adds)
{
    const ag_byte_sums *all = work->of;
    const i64 step = all->y_strides[2];
    const vector zero = work->zero, turn = work->more_turned;
    const floats none = {0}, low = work->low, high = work->high, factor = all->more_scale - none;
    const floats lower = (float)all->lower - none, upper = (float)all->upper - none, own_factor = all->sum_scale - none;
    const vector less = turn + (i32)all->more_zero;
    const i64 item = adds == ADDS_FLOATS ? 4 : 1;
    for (i64 v = 0; v < vectors; v++, of++) {
        const i64 count = of->count, place = of->place + at * step;
        const vector start = of->start, *sum = sums + v;
        const floats scale = of->scale, bias = of->bias;
        const byte *more = adds ? (const byte *)all->more + place * item : 0;
        byte *y = (byte *)all->y + place;
        for (i64 p = 0; p < columns; p++, y += step, sum += vectors) {
            floats f = __builtin_convertvector(*sum + start, floats) * scale + bias;
            if (adds == ADDS_BYTES || adds == ADDS_TO_ROUNDED) {
                vector number;
                if (count >= LANES) number = without_sign(more);
                else {
                    byte some[LANES] = {0};
                    __builtin_memcpy(some, more, (unsigned long)count);
                    number = without_sign(some);
                }
                if (adds == ADDS_TO_ROUNDED) f = __builtin_convertvector(rounded(held(f, lower, upper)), floats) * own_factor;
                f += __builtin_convertvector((number ^ turn) - less, floats) * factor, more += step;
            } else if (adds) {
                floats number;
                LOAD(unaligned_floats, number, more, count)
                f += number * factor, more += step * item;
            }
            const bytes narrow = __builtin_convertvector(rounded(held(f, low, high)) + zero, bytes);
            STORE(unaligned_bytes, y, narrow, count)
        }
    }
}

/* The products, in 64 bits, of the numbers in the lower halves of words. */
typedef long long longs __attribute__((vector_size(VECTOR_BYTES)));
typedef unsigned long long unsigned_longs __attribute__((vector_size(VECTOR_BYTES)));
#if defined(__AVX2__) && (!defined(__AVX512F__) || defined(__AVX512VNNI__))
INLINE unsigned_longs lower_products(unsigned_longs a, unsigned_longs b)
{
    unsigned_longs products;
    __asm__("vpmuldq %2, %1, %0" : "=v"(products) : "v"(a), "v"(b));
    return products;
}
#else
INLINE unsigned_longs lower_products(unsigned_longs a, unsigned_longs b)
{
    return (unsigned_longs)(((longs)(a << 32) >> 32) * ((longs)(b << 32) >> 32));
}
#endif

/* SaturatingRoundingDoublingHighMul of gemmlowp for multipliers that are not negative: x * multiplier / 2^31, rounded.
   Even and odd numbers are multiplied apart. */
INLINE vector high_products(vector x, vector multiplier)
{
    const unsigned_longs a = (unsigned_longs)x, b = (unsigned_longs)multiplier;
    const unsigned_longs half = (1ull << 30) - (unsigned_longs){0}, lower = 0xffffffffull - (unsigned_longs){0};
    const unsigned_longs even = lower_products(a, b) + half, odd = lower_products(a >> 32, b >> 32) + half;
    return (vector)((even >> 31 & lower) | (odd << 1 & ~lower));
}

/* RoundingDivideByPOT of gemmlowp: x / 2^right, halves away from 0. */
INLINE vector divided(vector x, vector right, vector mask)
{
    return (x >> right) - ((x & mask) > (mask >> 1) - (x < 0));
}

INLINE vector held_between(vector x, vector low, vector high)
{
    const vector below = x < low, above = x > high;
    return (below & low) | (above & high) | (~(below | above) & x);
}

/* AG_FIXED: sum * multiplier * 2^(shift - 31), rounded twice, + zero, held between low and high. */
static void store_fixed(const byte_work *work, const byte_column *of, i64 at, i64 columns, i64 apart, const vector *sums)
{
    const ag_byte_sums *all = work->of;
    const i64 step = all->y_strides[2];
    const vector none = {0}, shift = (vector)of->bias, multiplier = (vector)of->scale;
    const vector left = held_between(shift, none, 31 - none), right = held_between(-shift, none, 31 - none);
    const vector mask = ((1 - none) << right) - 1;
    const vector low = (i32)(all->low - all->zero) - none, high = (i32)(all->high - all->zero) - none;
    byte *y = (byte *)all->y + of->place + at * step;
    for (i64 p = 0; p < columns; p++, y += step, sums += apart) {
        const vector scaled = divided(high_products((*sums + of->start) << left, multiplier), right, mask);
        const bytes narrow = __builtin_convertvector(held_between(scaled, low, high) + work->zero, bytes);
        STORE(unaligned_bytes, y, narrow, of->count)
    }
}

#if defined(__AVX512BW__) && defined(__AVX512VNNI__)
typedef short shorts __attribute__((vector_size(VECTOR_BYTES)));
#define TWO(name, instruction, kind) \
    INLINE kind name(kind a, kind b) \
    { \
        kind both; \
        __asm__(instruction " %2, %1, %0" : "=v"(both) : "v"(a), "v"(b)); \
        return both; \
    }
TWO(in_shorts, "vpackssdw", vector)
TWO(in_unsigned_bytes, "vpackuswb", vector)
TWO(in_signed_bytes, "vpacksswb", vector)
TWO(add_shorts, "vpaddsw", vector)
TWO(largest_shorts, "vpmaxsw", vector)
TWO(least_shorts, "vpminsw", vector)

/* The integers of four vectors of numbers, plus zero, between low and high: bytes of which each quarter has four of each
   vector.  Numbers are below 2^31 (work->is_narrow).  Conversions and additions saturate. */
typedef struct byte_ends {
    vector zero, low, high; /* in 16 bits */
} byte_ends;
INLINE byte_ends ends_of(const ag_byte_sums *of)
{
    const shorts none = {0};
    return (byte_ends){(vector)((short)of->zero - none), (vector)((short)of->low - none), (vector)((short)of->high - none)};
}
INLINE vector narrowed(const byte_work *work, const floats *f, const byte_ends *ends)
{
    vector whole[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) whole[k] = rounded(f[k]);
    const vector a = add_shorts(in_shorts(whole[0], whole[1]), ends->zero);
    const vector b = add_shorts(in_shorts(whole[2], whole[3]), ends->zero);
    const vector c = least_shorts(largest_shorts(a, ends->low), ends->high);
    const vector d = least_shorts(largest_shorts(b, ends->low), ends->high);
    return work->of->high > 127 ? in_unsigned_bytes(c, d) : in_signed_bytes(c, d);
}

/* Tiles whose sums become bytes in registers.  The channels of four positions fill a vector of y. */
enum { NARROW_GROUP = 4, SHALLOW = 128 }; /* SHALLOW: products of a sum for which tiles of four by four serve */
INLINE vector in_order(vector quarters)
{
    const vector places = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    __asm__("vpermd %0, %1, %0" : "+v"(quarters) : "v"(places));
    return quarters;
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", "no-schedule-insns2")
#endif
/* Integers of the numbers between lower and upper, scaled, and those of more beside them: see ADDS_TO_ROUNDED. */
INLINE floats with_more(const byte_work *work, floats f, const byte *more)
{
    const ag_byte_sums *all = work->of;
    const floats none = {0}, lower = (float)all->lower - none, upper = (float)all->upper - none;
    const vector number = (without_sign(more) ^ work->more_turned) - (work->more_turned + (i32)all->more_zero);
    return __builtin_convertvector(rounded(held(f, lower, upper)), floats) * (all->sum_scale - none)
         + __builtin_convertvector(number, floats) * (all->more_scale - none);
}

/* y: where the first position has its outputs of the first block; more: NULL, or what is added there. */
INLINE void narrow_tile(const int columns, const int vectors, const byte_work *work, const byte_tile *at,
                        const byte_column *of, byte *y, const byte *more)
{
    vector sums[MOST_COLUMNS][TILE_VECTORS];
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[p][v] = of[v].start;
    accumulate(columns, vectors, work, at, sums);
    const byte_ends ends = ends_of(work->of);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++, y += work->of->y_strides[1], more += more ? work->of->y_strides[1] : 0)
#pragma GCC unroll 2
        for (int p = 0; p < columns; p += NARROW_GROUP) {
            floats f[NARROW_GROUP];
#pragma GCC unroll 4
            for (int k = 0; k < NARROW_GROUP; k++)
                f[k] = __builtin_convertvector(sums[p + k][v], floats) * of[v].scale + of[v].bias;
            if (more)
#pragma GCC unroll 4
                for (int k = 0; k < NARROW_GROUP; k++) f[k] = with_more(work, f[k], more + (p + k) * LANES);
            *(unaligned *)(y + p * LANES) = in_order(narrowed(work, f, &ends));
        }
}
typedef void narrow_function(const byte_work *, const byte_tile *, const byte_column *, byte *, const byte *);
#define NARROW_TILE(columns, vectors) \
    static __attribute__((noinline)) void narrow_##vectors##_##columns(const byte_work *work, const byte_tile *at, \
                                                                       const byte_column *of, byte *y, const byte *more) \
    { \
        narrow_tile(columns, vectors, work, at, of, y, more); \
    }
NARROW_TILE(4, 1) NARROW_TILE(8, 1) NARROW_TILE(4, 2) NARROW_TILE(8, 2) NARROW_TILE(4, 3) NARROW_TILE(8, 3)
NARROW_TILE(4, 4)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
/* By vectors, of a group of positions or two. */
static narrow_function *const narrow_tiles[TILE_VECTORS][2] = {
    {narrow_1_4, narrow_1_8}, {narrow_2_4, narrow_2_8}, {narrow_3_4, narrow_3_8}, {narrow_4_4, narrow_4_4}
};

/* The first `count` positions of a row, as bytes; 0 where these tiles do not serve.  x: the row of the first windows.  The
   last tile laps over others where the count is not a multiple.  Four vectors leave registers for four positions only;
   long sums are faster in tiles of six, which read fewer weights for each product. */
static i32 narrow_row(const byte_work *work, byte_tile *at, const byte_column *outputs, i64 vectors, const byte *x,
                      i64 row, i64 count)
{
    const ag_byte_sums *of = work->of;
    if (!work->is_narrow || (of->more && of->sum_scale == 0) || of->out_block != LANES || of->y_strides[2] != LANES || count < NARROW_GROUP)
        return 0;
    const i64 depth = of->kernel[0] * of->kernel[1] * of->in_blocks * of->block;
    if (vectors == TILE_VECTORS && depth > SHALLOW) return 0;
    const i64 left = work->flat ? row * work->columns : 0, right = at_most(work->right, count);
    const i64 place = outputs->place + row * work->columns * LANES;
    byte *const y = (byte *)of->y + place;
    const byte *const more = of->more ? (const byte *)of->more + place : 0;
    for (i64 column = 0, columns; column < count; column += columns) {
        columns = vectors < TILE_VECTORS && count - column > NARROW_GROUP && count >= 2 * NARROW_GROUP ? 8 : NARROW_GROUP;
        const i64 first = at_most(column, count - columns);
        at->inside = first >= work->left && first + columns <= right;
        at->column = (left + first) * of->stride[1] - of->before[1];
        at->x = x + at->column * of->x_strides[3];
        narrow_tiles[vectors - 1][columns > NARROW_GROUP](work, at, outputs, y + first * LANES,
                                                            more ? more + first * LANES : 0);
    }
    return 1;
}

/* Channels with their own kernels of 3 x 3.  At each position a channel has a word: its numbers in rows below each other,
   which are multiplied at once.  Of four rows the first three are those of a row of y, the last three those of the next. */
enum { OWN_SIDE = 3, OWN_WINDOWS = 4, OWN_ROWS = 4, OWN_REACH = 9 }; /* OWN_REACH: columns of four windows, stride 2 */
#define ROW_OF(number) \
    INLINE vector with_row_##number(vector rows, const byte *from) \
    { \
        __asm__("vinserti32x4 $" #number ", %1, %0, %0" : "+v"(rows) : "m"(*(const unaligned_bytes *)from)); \
        return rows; \
    }
ROW_OF(1) ROW_OF(2) ROW_OF(3)
INLINE vector with_row_0(const byte *from)
{
    vector rows;
    __asm__("vmovdqu32 %1, %x0" : "=v"(rows) : "m"(*(const unaligned_bytes *)from));
    return rows;
}

/* Quarters as the bytes of words. */
INLINE vector as_words(vector quarters)
{
#if defined(__AVX512VBMI__)
    const vector places = {0x30201000, 0x31211101, 0x32221202, 0x33231303, 0x34241404, 0x35251505, 0x36261606, 0x37271707,
                           0x38281808, 0x39291909, 0x3a2a1a0a, 0x3b2b1b0b, 0x3c2c1c0c, 0x3d2d1d0d, 0x3e2e1e0e, 0x3f2f1f0f};
    __asm__("vpermb %0, %1, %0" : "+v"(quarters) : "v"(places));
    return quarters;
#else
    const vector places = {0x0c080400, 0x0d090501, 0x0e0a0602, 0x0f0b0703, 0x0c080400, 0x0d090501, 0x0e0a0602, 0x0f0b0703,
                           0x0c080400, 0x0d090501, 0x0e0a0602, 0x0f0b0703, 0x0c080400, 0x0d090501, 0x0e0a0602, 0x0f0b0703};
    vector words = in_order(quarters);
    __asm__("vpshufb %1, %0, %0" : "+v"(words) : "v"(places));
    return words;
#endif
}

/* A block of channels in a task: weights for the first three rows of words and for the last three, and rows of x. */
typedef struct own_block {
    vector weights[2][OWN_SIDE], beyond;
    byte_column outputs;
    byte_ends ends;
    const byte *rows[OWN_ROWS];
    i64 moves[OWN_ROWS]; /* all bits of rows of x, none of what lies beyond it: there columns are the same */
} own_block;

/* The words of `rows` rows at a column. */
INLINE vector words_at(const int rows, const i32 inside, const byte_work *work, const own_block *of, i64 column)
{
    const i64 at = column * LANES;
    if (!inside && (unsigned long)column >= (unsigned long)work->of->lengths[1]) return of->beyond;
#define ROW(r) (of->rows[r] + (inside ? at : at & of->moves[r]))
    vector found = with_row_2(with_row_1(with_row_0(ROW(0)), ROW(1)), ROW(2));
    if (rows == OWN_ROWS) found = with_row_3(found, ROW(3));
#undef ROW
    return as_words(found) ^ work->turned;
}

/* Four windows from column `column` on, of `rows` rows of y: the bytes of their results at y. */
INLINE void own_windows(const int stride, const int rows, const i32 inside, const byte_work *work, const own_block *of,
                        i64 column, vector *results)
{
    vector sums[2][OWN_WINDOWS];
#pragma GCC unroll 2
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int p = 0; p < OWN_WINDOWS; p++) sums[r][p] = of->outputs.start;
#pragma GCC unroll 9
    for (int k = 0; k < (OWN_WINDOWS - 1) * stride + OWN_SIDE; k++) {
        const vector words = words_at(rows + OWN_SIDE - 1, inside, work, of, column + k);
#pragma GCC unroll 2
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int p = 0; p < OWN_WINDOWS; p++)
                if (k >= p * stride && k < p * stride + OWN_SIDE)
                    sums[r][p] = add_products(sums[r][p], words, of->weights[r][k - p * stride]);
    }
#pragma GCC unroll 2
    for (int r = 0; r < rows; r++) {
        floats f[OWN_WINDOWS];
#pragma GCC unroll 4
        for (int p = 0; p < OWN_WINDOWS; p++)
            f[p] = __builtin_convertvector(sums[r][p], floats) * of->outputs.scale + of->outputs.bias;
        results[r] = in_order(narrowed(work, f, &of->ends));
    }
}

/* `rows` rows of y; the last four windows lap over others where the count is not a multiple. */
INLINE void own_rows(const int stride, const int rows, const byte_work *work, const own_block *of, byte *y)
{
    const i64 reach = (OWN_WINDOWS - 1) * stride + OWN_SIDE, length = work->of->lengths[1], count = work->columns;
    i64 within = -1;
    for (int r = 0; r < rows + OWN_SIDE - 1; r++) within &= of->moves[r];
    for (i64 p = 0; p < count; p += OWN_WINDOWS) {
        const i64 first = count >= OWN_WINDOWS ? at_most(p, count - OWN_WINDOWS) : 0;
        const i64 column = first * stride - work->of->before[1];
        vector found[2];
        if (within && column >= 0 && column + reach <= length) own_windows(stride, rows, 1, work, of, column, found);
        else own_windows(stride, rows, 0, work, of, column, found);
#pragma GCC unroll 2
        for (int r = 0; r < rows; r++) {
            byte *const to = y + (r * count + first) * LANES;
            if (count >= OWN_WINDOWS) *(unaligned *)to = found[r];
            else __builtin_memcpy(to, &found[r], (unsigned long)(count * LANES));
        }
    }
}
typedef void own_function(const byte_work *, const own_block *, byte *);
#define OWN_ROW(stride, rows) \
    static __attribute__((noinline)) void own_row_##stride##_##rows(const byte_work *work, const own_block *of, byte *y) \
    { \
        own_rows(stride, rows, work, of, y); \
    }
OWN_ROW(1, 1) OWN_ROW(1, 2) OWN_ROW(2, 1)

/* Rows [row, end) of a block of channels that have their own kernels; 0 where they are not those of above. */
static i32 own_task(const byte_work *work, i64 image, i64 block, i64 row, i64 end)
{
    const ag_byte_sums *of = work->of;
    const i32 fits = of->own && work->is_narrow && !of->more && of->kernel[0] == OWN_SIDE && of->kernel[1] == OWN_SIDE
        && of->dilation[1] == 1 && of->stride[1] <= 2 && of->x_strides[3] == LANES && of->y_strides[2] == LANES
        && of->out_block == LANES;
    if (!fits) return 0;
    own_block own = {.beyond = as_words(*(const unaligned *)work->around) ^ work->turned, .ends = ends_of(of)};
    const byte_tile at = {.image = image, .output = block * LANES};
    find_columns(work, &at, 1, &own.outputs);
    const byte *w = (const byte *)of->w + block * OWN_SIDE * OWN_SIDE * LANES;
    for (int j = 0; j < OWN_SIDE; j++, w += LANES) {
        own.weights[0][j] = as_words(with_row_2(with_row_1(with_row_0(w), w + OWN_SIDE * LANES), w + 2 * OWN_SIDE * LANES));
        own.weights[1][j] = own.weights[0][j] << 8;
    }
    const byte *const x = (const byte *)of->x + image * of->x_strides[0] + block * of->x_strides[1];
    const i32 two = of->stride[0] == 1 && of->stride[1] == 1 && of->dilation[0] == 1;
    for (i64 rows; row < end; row += rows) {
        rows = two && row + 1 < end ? 2 : 1;
        for (i64 r = 0; r < rows + OWN_SIDE - 1; r++) {
            const i64 from = row * of->stride[0] - of->before[0] + r * of->dilation[0];
            own.moves[r] = -(i64)(from >= 0 && from < of->lengths[0]);
            own.rows[r] = own.moves[r] ? x + from * of->x_strides[2] : work->around;
        }
        own_function *const function = of->stride[1] == 2 ? own_row_2_1 : rows == 2 ? own_row_1_2 : own_row_1_1;
        function(work, &own, (byte *)of->y + own.outputs.place + row * work->columns * LANES);
    }
    return 1;
}

/* Whether sums become bytes in registers: numbers that lie so far below 2^31 that their conversion is exact. */
static i32 find_narrow(const ag_byte_sums *of)
{
    if (of->kind != AG_BYTES || (of->more && !(of->sum_scale <= 0x1p20f && of->more_scale <= 0x1p20f))) return 0;
    const floats none = {0}, most_scale = 0.25f - none, most_bias = 0x1p30f - none;
    vector fits = (vector)(none == none);
    for (i64 k = 0; k < of->blocks * of->out_block; k += LANES) {
        const floats scale = *(const unaligned_floats *)(of->scale + k), bias = *(const unaligned_floats *)(of->bias + k);
        fits &= (scale <= most_scale) & (scale >= -most_scale) & (bias <= most_bias) & (bias >= -most_bias);
    }
    i32 all = -1;
    for (int lane = 0; lane < LANES; lane++) all &= fits[lane];
    return all;
}
#else
#define own_task(work, image, block, row, end) 0
#define find_narrow(of) 0
#define narrow_row(work, at, outputs, vectors, x, row, count) 0
#endif

/* Epilogue of the `columns` positions from number `at` on: from sums to results in memory. */
typedef void byte_finish(const byte_work *, const byte_column *, i64 image, i64 at, i64 columns, i64 vectors, const vector *);
#define FINISH(name, call) \
    static __attribute__((noinline)) void name(const byte_work *work, const byte_column *of, i64 image, i64 at, i64 columns, \
                                               i64 vectors, const vector *sums) \
    { \
        (void)image; \
        call; \
    }
#define EACH for (i64 v = 0; v < vectors; v++)
#define SHIFTS work->of->shifts ? work->of->shifts + image * work->total + at : 0
FINISH(finish_sums, EACH store_sums(work, of + v, at, columns, vectors, sums + v, SHIFTS))
FINISH(finish_floats, EACH store_floats(work, of + v, at, columns, vectors, sums + v))
FINISH(finish_fixed, EACH store_fixed(work, of + v, at, columns, vectors, sums + v))
FINISH(finish_bytes, store_bytes(work, of, at, columns, vectors, sums, ADDS_NOTHING))
FINISH(finish_more_bytes, store_bytes(work, of, at, columns, vectors, sums, ADDS_BYTES))
FINISH(finish_more_floats, store_bytes(work, of, at, columns, vectors, sums, ADDS_FLOATS))
FINISH(finish_rounded, store_bytes(work, of, at, columns, vectors, sums, ADDS_TO_ROUNDED))

static byte_finish *finish_of(const ag_byte_sums *of)
{
    if (of->kind == AG_SUMS) return finish_sums;
    if (of->kind == AG_FLOATS) return finish_floats;
    if (of->kind == AG_FIXED) return finish_fixed;
    if (!of->more) return finish_bytes;
    return of->sum_scale != 0 ? finish_rounded : of->more_kind == AG_REAL ? finish_more_floats : finish_more_bytes;
}

/* Kernels of tiles of one vector, of channels with their own kernels. */
static byte_function *const *own_tiles(const ag_byte_sums *of)
{
    const i64 width = of->kernel[1], stride = of->stride[1];
    const i32 slides = of->dilation[1] == 1 && (width == 3 || width == 5) && (stride == 1 || stride == 2);
    return slides ? sliding_bytes[width == 5][stride == 2] : own_bytes;
}

/* Rows of the kernel that row number `row` of y meets. */
INLINE void find_rows(const byte_work *work, i64 start, byte_tile *at)
{
    const ag_byte_sums *of = work->of;
    const i64 room = of->lengths[0] - start, dilation = of->dilation[0], height = of->kernel[0];
    at->first = start < 0 ? at_most(height, dilation == 1 ? -start : parts(-start, dilation)) : 0;
    at->last = room <= 0 ? 0 : at_most(height, dilation == 1 ? room : parts(room, dilation));
    at->last = at_least(at->first, at->last);
    at->top = work->adds_nothing ? at->first : 0, at->bottom = work->adds_nothing ? at->last : height;
}

/* The first `count` positions of a row, for all outputs of a panel, in tiles of nearly equal length.  The sums of several
   tiles of one vector are finished at once. */
static void sum_byte_row(const byte_work *work, i64 image, i64 block, i64 blocks, i64 row, i64 count)
{
    const ag_byte_sums *of = work->of;
    const i64 left = work->flat ? row * work->columns : 0, right = at_most(work->right, count);
    const i64 start = work->flat ? 0 : row * of->stride[0] - of->before[0];
    const i64 positions = of->kernel[0] * of->kernel[1], depth = of->own ? 1 : of->in_blocks * of->block;
    const byte *x = (const byte *)of->x + image * of->x_strides[0] + (of->own ? block * of->x_strides[1] : 0);
    const byte *w = (const byte *)of->w + block * of->out_block * positions * depth;
    byte_tile at = {.image = image, .step = of->stride[1] * of->x_strides[3], .width = blocks * of->out_block};
    byte_finish *const finish = finish_of(of);
    const i64 most = of->own ? TILE_COLUMNS : FEW_COLUMNS, tiles = parts(count, most);
    const i64 usual = count / tiles, longer = count % tiles;
    byte_column outputs[TILE_VECTORS];
    vector sums[TILE_COLUMNS * TILE_VECTORS];
    find_rows(work, start, &at);
    for (i64 v = 0, vectors; v * LANES < at.width; v += vectors) {
        vectors = of->own ? 1 : at_most(TILE_VECTORS, at.width / LANES - v);
        byte_function *const *kernels = of->own ? own_tiles(of) : byte_tiles[vectors - 1];
        at.w = w + v * LANES * (of->own ? 1 : 4), at.output = block * of->out_block + v * LANES;
        find_columns(work, &at, vectors, outputs);
        at.x = x + start * of->x_strides[2] + (of->own ? v * LANES : 0);
        if (!of->own && narrow_row(work, &at, outputs, vectors, at.x, row, count)) continue;
        for (i64 tile = 0, column = 0, waiting = 0; tile < tiles; tile++) {
            const i64 columns = usual + (tile < longer);
            at.inside = column >= work->left && column + columns <= right;
            at.column = (left + column) * of->stride[1] - of->before[1];
            at.x = x + start * of->x_strides[2] + at.column * of->x_strides[3] + (of->own ? v * LANES : 0);
            kernels[columns - 1](work, &at, sums + waiting * vectors);
            column += columns, waiting += columns;
            if (tile + 1 < tiles && (waiting + most) * vectors <= TILE_COLUMNS * TILE_VECTORS) continue;
            finish(work, outputs, image, row * work->columns + column - waiting, waiting, vectors, sums);
            waiting = 0;
        }
    }
}

static void byte_task(void *context, i64 index)
{
    const byte_work *work = context;
    const i64 inner = work->by_strips ? work->panels : work->strips, outer = work->by_strips ? work->strips : work->panels;
    const i64 image = index / inner / outer, within = index % inner, beside = index / inner % outer;
    const i64 strip = work->by_strips ? beside : within, panel = work->by_strips ? within : beside;
    const i64 block = first_block(work, panel);
    const i64 end = at_most((strip + 1) * work->height, work->rows);
    if (own_task(work, image, block, strip * work->height, end)) return;
    for (i64 row = strip * work->height; row < end; row++)
        sum_byte_row(work, image, block, first_block(work, panel + 1) - block, row,
                     at_most(work->columns, work->total - row * work->columns));
}

/* How the work is cut: outputs into panels, positions into rows, and rows into strips for tasks. */
static byte_work cut_work(const ag_runtime *rt, const ag_byte_sums *of)
{
    byte_work work = {.of = of, .rows = of->counts[0], .columns = of->counts[1]};
    work.total = work.rows * work.columns, work.turned = (is_turned(of) ? (i32)0x80808080 : 0) - (vector){0};
    work.zero = (i32)of->zero - (vector){0}, work.more_turned = (of->more_kind == AG_SIGNED ? 0x80 : 0) - (vector){0};
    work.low = (float)(of->low - of->zero) - (floats){0}, work.high = (float)(of->high - of->zero) - (floats){0};
    work.is_narrow = find_narrow(of);
    __builtin_memset(work.around, (int)of->around, sizeof work.around);
    work.adds_nothing = ((of->around ^ (is_turned(of) ? 0x80 : 0)) & 255) == 0;
    if (of->kernel[0] * of->kernel[1] == 1 && of->stride[0] * of->stride[1] == 1 && !of->before[0] && !of->before[1]
        && of->x_strides[2] == of->lengths[1] * of->x_strides[3] && of->counts[0] == of->lengths[0]
        && of->counts[1] == of->lengths[1])
        work.flat = 1, work.rows = parts(work.total, SEGMENT), work.columns = parts(work.total, work.rows),
        work.rows = parts(work.total, work.columns);
    const i64 reach = (of->kernel[1] - 1) * of->dilation[1], beyond = of->lengths[1] - reach + of->before[1];
    work.left = work.flat ? 0 : parts(of->before[1], of->stride[1]);
    work.right = work.flat ? work.total : beyond <= 0 ? 0 : parts(beyond, of->stride[1]);
    work.panels = of->own ? of->blocks : even_panels(of->blocks, of->panel);
    const double depth = (double)(of->kernel[0] * of->kernel[1] * (of->own ? 4 : of->in_blocks * of->block));
    const double all = (double)of->images * (double)(of->blocks * of->out_block) * (double)work.total * (depth + 16);
    const i64 tasks = rt->threads < 2 ? 1 : at_least(1, (i64)at_most((i64)(all / TASK), 8 * rt->threads));
    const i64 strips = at_most(work.rows, parts(tasks, of->images * work.panels));
    work.height = even_parts(work.rows, parts(work.rows, strips), 1, of->images * work.panels, rt->threads);
    work.strips = parts(work.rows, work.height);
    const i64 depth_of = of->own ? 1 : of->in_blocks * of->block;
    work.by_strips = of->kernel[0] * of->kernel[1] * of->blocks * of->out_block * depth_of
                  <= FORESEEN * of->lengths[0] * of->lengths[1] * of->in_blocks * of->block;
    return work;
}

/* Images of one position, seen as the positions of one image: the rows of a matrix. */
static ag_byte_sums as_rows(const ag_byte_sums *of)
{
    ag_byte_sums rows = *of;
    if (of->images > 1 && of->lengths[0] * of->lengths[1] * of->kernel[0] * of->kernel[1] == 1 && !of->before[0]
        && !of->before[1] && of->counts[0] * of->counts[1] == 1) {
        rows.lengths[0] = rows.counts[0] = of->images, rows.images = rows.stride[0] = rows.stride[1] = 1;
        rows.x_strides[2] = rows.x_strides[3] = of->x_strides[0], rows.y_strides[2] = of->y_strides[0];
    }
    return rows;
}

static void sum_bytes(const ag_runtime *rt, const ag_byte_sums *given)
{
    const ag_byte_sums rows = as_rows(given), *const of = &rows;
    if (of->images <= 0 || of->counts[0] <= 0 || of->counts[1] <= 0 || of->blocks <= 0) return;
    byte_work work = cut_work(rt, of);
    const i64 count = of->images * work.panels * work.strips;
    const double depth = (double)(of->own ? 1 : of->in_blocks * of->block);
    const i32 is_long = (double)(of->images * of->outputs * work.total) * depth > 1e8;
    if (is_long) rt->listen();
    if (rt->threads > 1 && count > 1) rt->parallel(rt, count, byte_task, &work);
    else
        for (i64 k = 0; k < count && !(is_long && rt->stopped()); k++) byte_task(&work, k);
}
