/* Convolutions by Winograd's algorithm: kernels of 3 x 3 that move by one, on channels in blocks.

   tile x tile numbers of y are computed from edge x edge numbers of x, edge = tile + 2, by edge x edge products for each
   channel and output, where a direct convolution takes 9 x tile x tile:

       y = A' (U . (B' x B)) A          U = G w G', which the op computes when a function is compiled

   Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016).  B' x B of a strip of tiles is stored in
   `room`: for each of the edge x edge positions, block of channels, tile, channel of the block.  A position then is a
   convolution of 1 x 1, for which direct.c has tiles of registers.  Weights are stored in reading order:

       for each panel of outputs, position, channel:  its outputs

   The rounding of a number of y depends on its position within its tile. */
#pragma once
#include "direct.c"

#if !COMPLEX
enum { MOST_EDGE = 6, MOST_POSITIONS = MOST_EDGE * MOST_EDGE, CHUNK = 16 * MOST_POSITIONS }; /* tiles times positions */

typedef struct tiled {
    const ag_tiled_convolution *of;
    epilogue after;                /* it takes rows of y */
    i64 panels, total;             /* of outputs; positions of an image of y */
    i64 edge, down, across;        /* of x along a side of a tile; tiles */
    i64 chunk;                     /* the most tiles of a product */
    i64 strips, unit, deep;        /* of an image, each so many times `unit` tiles; blocks of channels */
    i64 most;                      /* the most tiles of a strip */
    i64 numbers;                   /* of a tile in `room` */
    unsigned long long free_slots; /* bit k: no strip has slot number k, a part of `room` for a strip */
    i32 whole;                     /* blocks are made of vectors */
} tiled;

/* The tiles of a strip, and their slot. */
typedef struct tile_strip {
    i64 image, first, tiles;
    REAL *room;
} tile_strip;

/* Strip number `number`, in a slot, or in a place of its own if `slot` is negative. */
static tile_strip find_strip(const tiled *work, i64 number, i64 slot)
{
    const i64 image = number / work->strips, within = number % work->strips, all = work->down * work->across;
    const i64 first = begin_of(all / work->unit, work->strips, within) * work->unit;
    const i64 end = begin_of(all / work->unit, work->strips, within + 1) * work->unit;
    const i64 before = slot < 0 ? image * all + first : slot * work->most;
    return (tile_strip){image, first, end - first, (REAL *)work->of->room + before * work->numbers};
}

/* A vector of numbers, or the first one alone. */
INLINE vector numbers_at(const REAL *from, i32 whole) { return whole ? *(const unaligned *)from : (vector){*from}; }

INLINE void put_numbers(REAL *to, vector numbers, i32 whole)
{
    if (whole) *(unaligned *)to = numbers;
    else *to = numbers[0];
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize")
#endif

/* B' of numbers that are s apart. */
INLINE void way_in(const int edge, const vector *d, i64 s, vector *t)
{
    if (edge == 4) {
        t[0] = d[0] - d[2 * s], t[1] = d[s] + d[2 * s], t[2] = d[2 * s] - d[s], t[3] = d[s] - d[3 * s];
        return;
    }
    const vector even = d[4 * s] - 4 * d[2 * s], odd = d[3 * s] - 4 * d[s];
    const vector near = d[4 * s] - d[2 * s], far = 2 * (d[3 * s] - d[s]);
    t[0] = 4 * d[0] - 5 * d[2 * s] + d[4 * s];
    t[1] = even + odd, t[2] = even - odd, t[3] = near + far, t[4] = near - far;
    t[5] = 4 * d[s] - 5 * d[3 * s] + d[5 * s];
}

/* A' of numbers that are s apart. */
INLINE void way_out(const int edge, const vector *m, i64 s, vector *y)
{
    if (edge == 4) {
        y[0] = m[0] + m[s] + m[2 * s], y[1] = m[s] - m[2 * s] - m[3 * s];
        return;
    }
    const vector sum = m[s] + m[2 * s], difference = m[s] - m[2 * s];
    const vector far_sum = m[3 * s] + m[4 * s], far_difference = m[3 * s] - m[4 * s];
    y[0] = m[0] + sum + far_sum, y[1] = difference + 2 * far_difference;
    y[2] = sum + 4 * far_sum, y[3] = difference + 8 * far_difference + m[5 * s];
}

/* B' x B of one tile: x's rows and columns are `row` and `column` numbers apart, the positions of the result `spacing`. */
INLINE void tile_in(const int edge, const REAL *x, i64 row, i64 column, REAL *to, i64 spacing, i32 whole)
{
    vector given[MOST_EDGE], transformed[MOST_POSITIONS];
#pragma GCC unroll 6
    for (int j = 0; j < edge; j++) {
#pragma GCC unroll 6
        for (int i = 0; i < edge; i++) given[i] = numbers_at(x + i * row + j * column, whole);
        way_in(edge, given, 1, transformed + j * edge);
    }
#pragma GCC unroll 6
    for (int i = 0; i < edge; i++) {
        way_in(edge, transformed + i, edge, given);
#pragma GCC unroll 6
        for (int j = 0; j < edge; j++) put_numbers(to + (i * edge + j) * spacing, given[j], whole);
    }
}

/* A' m A of one tile, whose positions are `spacing` numbers apart, and `bias`: tile x tile vectors, row by row. */
INLINE void tile_out(const int edge, const REAL *m, i64 spacing, vector bias, vector *y, i32 whole)
{
    const int tile = edge - 2;
    vector given[MOST_EDGE], transformed[MOST_POSITIONS];
#pragma GCC unroll 6
    for (int j = 0; j < edge; j++) {
#pragma GCC unroll 6
        for (int i = 0; i < edge; i++) given[i] = numbers_at(m + (i * edge + j) * spacing, whole);
        way_out(edge, given, 1, transformed + j * tile);
    }
#pragma GCC unroll 4
    for (int i = 0; i < tile; i++) {
        way_out(edge, transformed + i, tile, y + i * tile);
#pragma GCC unroll 4
        for (int j = 0; j < tile; j++) y[i * tile + j] += bias;
    }
}

#define TILE_WAYS(edge, whole) \
    static __attribute__((noinline)) void tile_in_##edge##_##whole(const REAL *x, i64 row, i64 column, REAL *to, \
                                                                   i64 spacing) \
    { \
        tile_in(edge, x, row, column, to, spacing, whole); \
    } \
    static __attribute__((noinline)) void tile_out_##edge##_##whole(const REAL *m, i64 spacing, vector bias, \
                                                                    vector *y) \
    { \
        tile_out(edge, m, spacing, bias, y, whole); \
    }
TILE_WAYS(4, 0)
TILE_WAYS(4, 1)
TILE_WAYS(6, 0)
TILE_WAYS(6, 1)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

/* The rows and columns [*from, *to) of a tile from `start` on that lie within `length`. */
static void find_within(i64 start, i64 edge, i64 length, i64 *from, i64 *to)
{
    *from = at_most(edge, at_least(0, -start));
    *to = at_least(*from, at_most(edge, length - start));
}

/* B' x B of a tile of a block, `lanes` channels from x on; zeros beyond the border. */
static void take_tile(const tiled *work, const REAL *x, i64 top, i64 left, REAL *to, i64 spacing)
{
    const ag_tiled_convolution *of = work->of;
    const i64 edge = work->edge, lanes = work->whole ? LANES : 1;
    i64 row = of->x_strides[2], column = of->x_strides[3], from[2], end[2];
    REAL amid[MOST_POSITIONS * LANES] __attribute__((aligned(64)));
    find_within(top, edge, of->lengths[0], &from[0], &end[0]);
    find_within(left, edge, of->lengths[1], &from[1], &end[1]);
    if (end[0] - from[0] == edge && end[1] - from[1] == edge) x += top * row + left * column;
    else {
        __builtin_memset(amid, 0, sizeof amid);
        for (i64 i = from[0]; i < end[0]; i++)
            for (i64 j = from[1]; j < end[1]; j++)
                __builtin_memcpy(amid + (i * edge + j) * lanes, x + (top + i) * row + (left + j) * column,
                                 lanes * (i64)sizeof(REAL));
        x = amid, row = edge * lanes, column = lanes;
    }
    if (edge == 6) (work->whole ? tile_in_6_1 : tile_in_6_0)(x, row, column, to, spacing);
    else (work->whole ? tile_in_4_1 : tile_in_4_0)(x, row, column, to, spacing);
}

/* The tiles of block number b of channels. */
static void take_block(const tiled *work, const tile_strip *strip, i64 b)
{
    const ag_tiled_convolution *of = work->of;
    const i64 spacing = work->deep * strip->tiles * of->block, lanes = work->whole ? LANES : 1;
    const REAL *x = (const REAL *)of->x + strip->image * of->x_strides[0] + b * of->x_strides[1];
    REAL *to = strip->room + b * strip->tiles * of->block;
    for (i64 t = 0; t < strip->tiles; t++, to += of->block) {
        const i64 top = (strip->first + t) / work->across * of->tile - of->before[0];
        const i64 left = (strip->first + t) % work->across * of->tile - of->before[1];
        for (i64 v = 0; v < of->block; v += lanes) take_tile(work, x + v, top, left, to + v, spacing);
    }
}

/* Tiles [from, from + count) of a strip times the weights of `width` outputs of a panel, position by position. */
static void multiply_tiles(const tiled *work, const tile_strip *strip, i64 from, i64 count, const REAL *w,
                           i64 panel_width, i64 width, REAL *sums)
{
    const ag_tiled_convolution *of = work->of;
    const ag_convolution flat = {.channels = of->channels,
                                 .block = of->block,
                                 .kernel = {1, 1},
                                 .stride = {1, 1},
                                 .dilation = {1, 1},
                                 .lengths = {1, strip->tiles},
                                 .x_strides = {0, strip->tiles * of->block, 0, of->block}};
    const i64 vectors = width / LANES, most = at_most(TILE_COLUMNS, TILE_SUMS / at_least(vectors, 1));
    tile_place at = {.zeros = no_numbers,
                     .width = panel_width,
                     .last = work->deep,
                     .bottom = 1,
                     .below = 1,
                     .step = of->block,
                     .inside = 1};
    const i64 weights = of->channels * panel_width; /* of a position; those of the next one are prefetched */
    at.lines = parts(weights * (i64)sizeof(REAL), LINE_BYTES * work->deep * parts(count, most));
    for (i64 position = 0; position < work->edge * work->edge; position++, sums += count * width) {
        at.w = w + position * weights, at.ahead = (const char *)(at.w + weights);
        for (i64 t = 0, columns; t < count; t += columns) {
            columns = parts(count - t, parts(count - t, most));
            at.x = strip->room + (position * work->deep * strip->tiles + from + t) * of->block;
            if (work->whole)
                tiles[vectors - 1][columns - 1](&flat, &at, no_numbers, sums + t * of->out_block, count * of->out_block,
                                                of->out_block);
            else tile_by_numbers(&flat, &at, columns, 1, no_numbers, sums + t, count, 1);
            at.ahead += at.lines * LINE_BYTES * work->deep;
        }
    }
}

/* One tile of y for a vector of outputs, whose first number in the image's block is `y`. */
static void give_tile(const tiled *work, const REAL *sums, i64 spacing, vector bias, REAL *y, i64 top, i64 left)
{
    const ag_tiled_convolution *of = work->of;
    vector found[MOST_POSITIONS];
    if (work->edge == 6) (work->whole ? tile_out_6_1 : tile_out_6_0)(sums, spacing, bias, found);
    else (work->whole ? tile_out_4_1 : tile_out_4_0)(sums, spacing, bias, found);
    for (i64 i = 0; i < at_most(of->tile, of->counts[0] - top); i++)
        for (i64 j = 0; j < at_most(of->tile, of->counts[1] - left); j++) {
            vector number = found[i * of->tile + j];
            if (of->low) number = greater(*(const REAL *)of->low - (vector){0}, number);
            if (of->high) number = lesser(*(const REAL *)of->high - (vector){0}, number);
            put_numbers(y + ((top + i) * of->counts[1] + left + j) * of->out_block, number, work->whole);
        }
}

/* Outputs [v, v + width) of a panel from `block` on, of tiles [from, from + count) of a strip. */
static void give_tiles(const tiled *work, const tile_strip *strip, i64 from, i64 count, i64 block, i64 v, i64 width,
                       const REAL *sums)
{
    const ag_tiled_convolution *of = work->of;
    const i64 lanes = work->whole ? LANES : 1, total = work->total, size = work->whole ? of->out_block : 1;
    for (i64 t = 0; t < count; t++) {
        const i64 number = strip->first + from + t;
        const i64 top = number / work->across * of->tile, left = number % work->across * of->tile;
        for (i64 o = 0; o < width; o += lanes) {
            const i64 output = block * of->out_block + v + o;
            REAL *y = (REAL *)of->y + (strip->image * of->blocks + output / of->out_block) * total * of->out_block;
            give_tile(work, sums + (o / size * count + t) * size + o % size, count * width,
                      numbers_at((const REAL *)of->bias + output, work->whole), y + output % of->out_block, top, left);
        }
    }
}

/* One panel of outputs of a strip, and its epilogue. */
static void give_panel(const tiled *work, const tile_strip *strip, i64 panel)
{
    const ag_tiled_convolution *of = work->of;
    const i64 panels = work->panels, block = begin_of(of->blocks, panels, panel);
    const i64 blocks = begin_of(of->blocks, panels, panel + 1) - block, panel_width = blocks * of->out_block;
    const REAL *w = (const REAL *)of->w + block * of->out_block * work->edge * work->edge * of->channels;
    REAL sums[CHUNK * TILE_VECTORS * LANES] __attribute__((aligned(64)));
    for (i64 from = 0, count; from < strip->tiles; from += count) {
        count = parts(strip->tiles - from, parts(strip->tiles - from, work->chunk));
        for (i64 v = 0, width; v < panel_width; v += width) {
            width = work->whole ? at_most(TILE_VECTORS * LANES, panel_width - v) : 1;
            multiply_tiles(work, strip, from, count, w + v, panel_width, width, sums);
            give_tiles(work, strip, from, count, block, v, width, sums);
        }
    }
    const i64 row = strip->first / work->across * of->tile;
    const i64 end = at_most((strip->first + strip->tiles) / work->across * of->tile, of->counts[0]);
    follow_strip(&work->after, strip->image, block, blocks, row * of->counts[1], end * of->counts[1], 0);
}

/* A task: a strip from x to y, so that its tiles stay in the cache of one processor. */
static void strip_task(void *context, i64 index)
{
    tiled *work = context;
    const i64 slot = claim_slot(&work->free_slots);
    const tile_strip strip = find_strip(work, index, slot);
    for (i64 b = 0; b < work->deep; b++) take_block(work, &strip, b);
    for (i64 panel = 0; panel < work->panels; panel++) give_panel(work, &strip, panel);
    __atomic_fetch_or(&work->free_slots, 1ull << slot, __ATOMIC_RELEASE);
}

/* For few strips: tasks per block of channels, then per panel of outputs. */
static void block_task(void *context, i64 index)
{
    const tiled *work = context;
    const i64 number = index / work->deep;
    const tile_strip strip = find_strip(work, number, -1);
    take_block(work, &strip, index % work->deep);
}

static void panel_task(void *context, i64 index)
{
    const tiled *work = context;
    const i64 strips = work->strips * work->of->images, number = index % strips;
    const tile_strip strip = find_strip(work, number, -1);
    give_panel(work, &strip, index / strips);
}

static void run_tiles(const ag_runtime *rt, tiled *work)
{
    const ag_tiled_convolution *of = work->of;
    const double each = (double)(work->edge * work->edge) * (double)(work->down * work->across);
    const double all = each * (double)of->images * (double)(of->blocks * of->out_block) * (double)of->channels;
    const i64 strips = of->images * work->strips;
    const i64 slots = at_most(SLOTS, of->images * work->down * work->across / work->most);
    if (all > LONG) rt->listen();
    if (rt->threads == 1 || all < ALONE)
        for (i64 k = 0; k < strips && !(all > LONG && rt->stopped()); k++) strip_task(work, k);
    else if (slots >= rt->threads) rt->parallel(rt, strips, strip_task, work);
    else if (!rt->parallel(rt, strips * work->deep, block_task, work))
        rt->parallel(rt, strips * work->panels, panel_task, work);
}

/* Strips of nearly as many tiles as a product has, as many for each thread; of whole rows if something follows. */
static void cut_tiles(const ag_runtime *rt, tiled *work)
{
    work->unit = work->after.nest ? work->across : 1;
    const i64 units = work->down * work->across / work->unit, each = at_least(1, work->chunk / work->unit);
    work->strips = parts(units, each);
    if (work->strips > rt->threads) work->strips = at_most(units, parts(work->strips, rt->threads) * rt->threads);
    work->most = parts(units, work->strips) * work->unit;
}

/* Run a convolution by tiles, with its epilogue on strips if that can be. */
static void convolve_tiles(const ag_runtime *rt, const ag_tiled_convolution *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    tiled work = {.of = of, .edge = of->tile + 2, .total = of->counts[0] * of->counts[1]};
    work.after = epilogue_of(&of->after, of->y, of->images, of->blocks, of->counts, of->out_block, joined);
    if (of->images <= 0 || work.total <= 0 || of->blocks <= 0) {
        follow_all(rt, &of->after, &work.after);
        return;
    }
    work.panels = even_panels(of->blocks, of->panel);
    work.whole = of->block % LANES == 0 && of->out_block % LANES == 0;
    work.deep = parts(of->channels, of->block), work.chunk = CHUNK / (work.edge * work.edge);
    work.down = parts(of->counts[0], of->tile), work.across = parts(of->counts[1], of->tile);
    cut_tiles(rt, &work);
    work.numbers = work.edge * work.edge * work.deep * of->block;
    work.free_slots = ~0ull;
    run_tiles(rt, &work);
    follow_all(rt, &of->after, &work.after);
}
#endif
