/* Direct convolutions in blocks of channels: each number of x is multiplied by a row of weights as wide as a panel of
   outputs, without packing or copies in a call.

   x is images, blocks, rows, columns, and `block` adjacent channels; y is images, blocks of LANES outputs (or a
   multiple), rows, columns, adjacent outputs.  Weights are stored in reading order:

       for each panel of outputs, for each block of channels, row and column of the kernel, channel:  its outputs

   Georganas et al., "Anatomy of High-Performance Deep Learning Convolutions on SIMD Architectures" (2018).  A tile is
   some columns of y by the outputs of a panel, held in registers.  Each number of y is the sum over blocks, rows, columns,
   channels, always in this order, so tiles, tasks and threads do not change its bits.

   Kernels in another order are packed first, in `room`.  They may hold infinities and NaNs, whose products with the padding
   count, so then no row beyond a border is skipped.

   Groups of channels that begin and end with blocks are convolutions of their own.  Others are read through a table of
   offsets, and a vector of outputs that two groups share is written by both, each its own lanes: see grouped.c. */
#pragma once
#include "sums.c"

#if !COMPLEX
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", \
                     "no-tree-vrp", "no-schedule-insns2")
#endif

static const REAL lane_numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* Where a vector of the tile has lanes of other groups, these stay as they are in y. */
INLINE void keep_lanes(const int columns, const int vectors, const tile_place *at, vector sums[][TILE_VECTORS],
                       const REAL *y, i64 block_step, i64 block)
{
    const vector lanes = *(const unaligned *)lane_numbers;
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        if (at->left <= v * LANES && at->right >= (v + 1) * LANES) continue;
        const vector low = (REAL)(at->left - v * LANES) - (vector){0},
                     high = (REAL)(at->right - v * LANES) - (vector){0};
        const mask set = (lanes >= low) & (lanes < high);
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++)
            sums[p][v] = choose(set, sums[p][v], *(const unaligned *)(y + v * block_step + p * block));
    }
}

/* Complete sums, plus the numbers that are added. */
INLINE void add_halves(const int columns, const int vectors, const tile_place *at, vector sums[][TILE_VECTORS],
                       i64 block)
{
#ifdef OF_PAIRS
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        const half *row = at->added + v * LANES / block * at->halves_step + v * LANES % block;
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) sums[p][v] += widened_halves(row + p * block);
    }
#else
    (void)columns, (void)vectors, (void)at, (void)sums, (void)block;
#endif
}

/* Store complete sums as bfloat16. */
INLINE void round_tile(const int columns, const int vectors, const tile_place *at, vector sums[][TILE_VECTORS],
                       i64 block)
{
#ifdef OF_PAIRS
    i32 by_bits = 0;
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) by_bits |= awkward(sums[p][v]);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        half *row = at->rounded + v * LANES / block * at->halves_step + v * LANES % block;
        if (__builtin_expect(by_bits, 0))
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) store_halves(row + p * block, nearest_halves(sums[p][v]));
        else
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++) store_nearest(row + p * block, sums[p][v]);
    }
#else
    (void)columns, (void)vectors, (void)at, (void)sums, (void)block;
#endif
}

/* Store the sums of a tile; complete ones are clipped first. */
INLINE void finish_tile(const int columns, const int vectors, const int way, const ag_convolution *of,
                        const tile_place *at, vector sums[][TILE_VECTORS], REAL *y, i64 block_step, i64 block)
{
    if (way != AG_LISTED && at->is_last && at->added) add_halves(columns, vectors, at, sums, block);
    if (at->is_last && of->low) {
        const vector low = *(const REAL *)of->low - (vector){0};
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sums[p][v] = greater(low, sums[p][v]);
    }
    if (at->is_last && of->high) {
        const vector high = *(const REAL *)of->high - (vector){0};
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sums[p][v] = lesser(high, sums[p][v]);
    }
    if (way == AG_LISTED) keep_lanes(columns, vectors, at, sums, y, block_step, block);
    else if (at->is_last && at->rounded) {
        round_tile(columns, vectors, at, sums, block);
        return;
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        REAL *row = y + v * LANES / block * block_step + v * LANES % block;
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) *(unaligned *)(row + p * block) = sums[p][v];
    }
}

/* One tile of y, whose blocks are `block_step` numbers from each other and `block` wide. */
INLINE void sum_tile_of(const int columns, const int vectors, const int way, const ag_convolution *of,
                        const tile_place *at, const REAL *bias, REAL *y, i64 block_step, i64 block)
{
    vector sums[TILE_COLUMNS][TILE_VECTORS];
    window_places table; /* filled before the sums begin, which otherwise would be stored for the call */
    const i32 whole = way == AG_DENSE && has_whole_blocks(of, at, vectors);
    const i64 count = whole ? find_window_places(columns, of, at, &table) : 0;
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        const REAL *row = y + v * LANES / block * block_step + v * LANES % block;
        const vector start = at->first == 0 ? *(const unaligned *)(bias + v * LANES) : (vector){0};
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) sums[p][v] = at->first == 0 ? start : *(const unaligned *)(row + p * block);
    }
    if (way == AG_DEPTHWISE) sum_depthwise(columns, of, at, sums);
    else if (way == AG_LISTED) sum_listed(columns, vectors, of, at, sums);
    else if (whole) sum_blocks(columns, vectors, of, at, &table, count, sums);
    else if (TABLES && at->taps) sum_taps(columns, vectors, of, at, sums);
    else sum_columns(columns, vectors, of, at, sums);
    finish_tile(columns, vectors, way, of, at, sums, y, block_step, block);
}

typedef void tile_function(const ag_convolution *, const tile_place *, const REAL *, REAL *, i64, i64);
#define TILE(columns, vectors, way) \
    KERNEL tile_##way##_##vectors##_##columns(const ag_convolution *of, const tile_place *at, const REAL *bias, \
                                              REAL *y, i64 block_step, i64 block) \
    { \
        sum_tile_of(columns, vectors, way, of, at, bias, y, block_step, block); \
    }
#define TILES(vectors, way) \
    TILE(1, vectors, way) \
    TILE(2, vectors, way) \
    TILE(3, vectors, way) \
    TILE(4, vectors, way) \
    TILE(5, vectors, way) \
    TILE(6, vectors, way)
#define MORE_TILES(vectors, way) \
    TILES(vectors, way) \
    TILE(7, vectors, way) \
    TILE(8, vectors, way)
#define NAMED(vectors, way) \
    tile_##way##_##vectors##_1, tile_##way##_##vectors##_2, tile_##way##_##vectors##_3, tile_##way##_##vectors##_4, \
        tile_##way##_##vectors##_5, tile_##way##_##vectors##_6
#define MORE_NAMED(vectors, way) NAMED(vectors, way), tile_##way##_##vectors##_7, tile_##way##_##vectors##_8
#if defined(__AVX512F__)
#define ALL_TILES(way) \
    MORE_TILES(1, way) \
    MORE_TILES(2, way) \
    MORE_TILES(3, way) \
    TILES(4, way)
#else
#define ALL_TILES(way) \
    MORE_TILES(1, way) \
    TILES(2, way)
#endif
ALL_TILES(AG_DENSE)
MORE_TILES(1, AG_DEPTHWISE)
ALL_TILES(AG_LISTED)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#if defined(__AVX512F__)
#define ALL_NAMED(way) \
    { \
        {MORE_NAMED(1, way)}, {MORE_NAMED(2, way)}, {MORE_NAMED(3, way)}, { NAMED(4, way) } \
    }
#else
#define ALL_NAMED(way) \
    { \
        {MORE_NAMED(1, way)}, { NAMED(2, way) } \
    }
#endif
static tile_function *const tiles[TILE_VECTORS][TILE_COLUMNS] = ALL_NAMED(AG_DENSE);
static tile_function *const depthwise_tiles[] = {MORE_NAMED(1, AG_DEPTHWISE)};
static tile_function *const listed_tiles[TILE_VECTORS][TILE_COLUMNS] = ALL_NAMED(AG_LISTED);
static void listed_by_numbers(const ag_convolution *, const tile_place *, i64, i64, i64, const REAL *, REAL *, i64);

/* Store a complete sum, the number of y at `to`, whose place among the halves of a tile is `place`. */
static void finish_number(const ag_convolution *of, const tile_place *at, i64 place, REAL sum, REAL *to)
{
    if (at->added) sum += half_at(at->added + place);
    if (of->low && *(const REAL *)of->low > sum) sum = *(const REAL *)of->low;
    if (of->high && *(const REAL *)of->high < sum) sum = *(const REAL *)of->high;
    if (at->rounded) at->rounded[place] = nearest_half(sum);
    else *to = sum;
}

/* The same tile, number by number: for blocks that are not whole vectors. */
static void tile_by_numbers(const ag_convolution *of, const tile_place *at, i64 columns, i64 width, const REAL *bias,
                            REAL *y, i64 block_step, i64 block)
{
    const i32 depthwise = is_depthwise(of);
    for (i64 p = 0; p < columns; p++)
        for (i64 o = 0; o < width; o++) {
            REAL *to = y + o / block * block_step + p * block + o % block, sum = at->first == 0 ? bias[o] : *to;
            for (i64 b = at->first; b < at->last; b++) {
                const i64 channels = depthwise ? 1 : at_most(of->block, of->channels - b * of->block);
                const REAL *w = at->w + (depthwise ? 0 : b * of->block * of->kernel[0] * of->kernel[1] * at->width) + o;
                for (i64 i = at->top; i < at->bottom; i++)
                    for (i64 j = 0; j < of->kernel[1]; j++) {
                        const i64 shift = j * of->dilation[1], column = at->column + shift + p * of->stride[1];
                        const i32 beside = !at->inside && (column < 0 || column >= of->lengths[1]);
                        const i32 outside = beside || i < at->above || i >= at->below;
                        const REAL *from = at->x + (depthwise ? 0 : b * of->x_strides[1])
                                           + i * of->dilation[0] * of->x_strides[2] + shift * of->x_strides[3]
                                           + (at->places ? at->places[p] : p * at->step);
                        const REAL *factors = w + (i * of->kernel[1] + j) * channels * at->width;
                        if (depthwise) sum += (outside ? 0 : channel_at(from, o)) * *factors;
                        else
                            for (i64 c = 0; c < channels; c++)
                                sum = plus_number(sum, outside ? no_numbers : from + c, factors + c * at->width);
                    }
            }
            if (at->is_last) finish_number(of, at, o / block * at->halves_step + p * block + o % block, sum, to);
            else *to = sum;
        }
}

/* Prefetch the rows of x that the windows of the next row of y read first: rows are too short for the hardware
   prefetcher. */
static void look_below(const ag_convolution *of, const tile_place *at, i64 columns)
{
    const i64 line = LINE_BYTES / (i64)sizeof(REAL), down = (of->kernel[0] - 1) * of->dilation[0] + 1;
    for (i64 r = down; r < down + of->stride[0]; r++)
        for (i64 k = 0; k < columns * at->step; k += line) __builtin_prefetch(at->x + r * of->x_strides[2] + k, 0, 2);
}

/* Columns [*from, *to) are those, of the first `count` of a row, whose windows do not reach over the left or right border. */
static void find_inside(const direct *work, i64 count, i64 *from, i64 *to)
{
    const ag_convolution *of = work->of;
    const i64 room = of->lengths[1] - (of->kernel[1] - 1) * of->dilation[1] + of->before[1];
    *from = work->flat ? 0 : at_most(parts(of->before[1], of->stride[1]), count);
    *to = work->flat ? count : at_least(*from, room <= 0 ? 0 : at_most(count, parts(room, of->stride[1])));
}

/* Where the windows of the columns of a row begin. */
static tile_place place_row(const direct *work, const strip *part, i64 start)
{
    const ag_convolution *of = part->of;
    const i64 up = start < 0 ? parts(-start, of->dilation[0]) : 0, room = of->lengths[0] - start;
    tile_place at = {.zeros = no_numbers, .width = part->width, .first = part->first, .last = part->last};
    at.is_last = is_depthwise(of) || work->offsets || part->last * of->block >= of->channels;
    at.bottom = at_most(of->kernel[0], room <= 0 ? 0 : parts(room, of->dilation[0]));
    at.top = at_most(up, at.bottom), at.step = of->stride[1] * work->spacing;
    at.above = at.top, at.below = at.bottom, at.halves_step = part->halves_step;
    if (work->whole) at.top = 0, at.bottom = of->kernel[0];
    return at;
}

/* Where the windows of columns [from, from + count) of all columns begin. */
static void find_places(const direct *work, i64 from, i64 count, i64 *places)
{
    const ag_convolution *of = work->of;
    i64 row = from / of->counts[1], column = from % of->counts[1];
    for (i64 p = 0; p < count; p++) {
        places[p] = row * of->stride[0] * of->x_strides[2] + column * of->stride[1] * work->spacing;
        if (++column == of->counts[1]) column = 0, row++;
    }
}

/* The first `count` columns of one row of y, for all outputs of a panel, in tiles of nearly equal length.  A channel's own
   kernel, a listed group, and windows with a table, which have to lie within x, meet borders column by column. */
static void sum_row(const direct *work, strip *part, i64 row, i64 count)
{
    const ag_convolution *of = part->of;
    const i64 block = of->out_block, block_step = part->step, left = work->flat ? row * work->columns : 0;
    const i64 start = work->flat ? 0 : row * of->stride[0] - of->before[0];
    const i32 listed = work->offsets != 0, depthwise = is_depthwise(of);
    const i32 by_numbers = listed ? block != LANES : block % LANES != 0;
    tile_place at = place_row(work, part, start);
    const i32 all_rows = at.above == 0 && at.below == of->kernel[0];
    const i32 is_whole = all_rows && part->first == 0 && part->last == of->channels && !work->jumps;
    const i32 lone = depthwise || listed || (is_whole && part->taps);
    i64 inside, outside, places[TILE_COLUMNS];
    find_inside(work, count, &inside, &outside);
    if (work->jumps) at.places = places;
    for (i64 v = 0, wide; v < part->width; v += wide) {
        const i64 vectors = depthwise ? 1 : at_most(TILE_VECTORS, (part->width - v) / LANES);
        const i64 most = at_most(TILE_COLUMNS, TILE_SUMS / at_least(vectors, 1));
        wide = by_numbers ? part->width : vectors * LANES;
        for (i64 column = 0, columns; column < count; column += columns) {
            at.inside = column >= inside && column < outside;
            const i64 rest = (lone && at.inside ? outside : count) - column, output = part->begin + v;
            columns = lone && !at.inside ? 1 : parts(rest, parts(rest, most));
            at.inside &= column + columns <= outside;
            at.column = (left + column) * of->stride[1] - of->before[1];
            at.x = part->x + start * of->x_strides[2] + at.column * work->spacing + (depthwise ? v / IN_WORD : 0);
            if (at.places) at.x = part->x, find_places(work, left + column, columns, places);
            at.w = part->w + v, at.ahead = part->ahead, at.lines = part->lines;
            at.taps = at.inside && is_whole ? part->taps : 0;
            part->ahead += at.lines * LINE_BYTES * (at.last - at.first) * (at.bottom - at.top) * of->kernel[1];
            at.left = part->left - output, at.right = part->right - output, at.offsets = part->offsets;
            REAL *y = part->y + (row * work->columns + column) * block + output / block * block_step + output % block;
            const REAL *bias = part->bias + output;
            const i64 place =
                (row * work->columns + column) * block + output / block * part->halves_step + output % block;
            at.added = part->added ? part->added + place : 0;
            at.rounded = part->rounded ? part->rounded + place : 0;
            if (depthwise) look_below(of, &at, columns);
            if (by_numbers && listed) listed_by_numbers(of, &at, columns, wide, block_step, bias, y, block);
            else if (by_numbers) tile_by_numbers(of, &at, columns, wide, bias, y, block_step, block);
            else
                (depthwise ? depthwise_tiles
                 : listed  ? listed_tiles[vectors - 1]
                           : tiles[vectors - 1])[columns - 1](of, &at, bias, y, block_step, block);
        }
    }
}

/* Prefetch the weights of the next blocks, or of the next panel, while the present ones are read: `blocks` blocks of
   `bytes`, spread evenly over the positions of the strip. */
static void look_ahead(const direct *work, strip *part, i64 bytes, i64 blocks)
{
    const i64 tiles = (part->end - part->row) * parts(work->columns, TILE_COLUMNS);
    const i64 times = tiles * (part->last - part->first) * part->of->kernel[0] * part->of->kernel[1];
    part->ahead = (const char *)part->w + bytes * part->last;
    part->lines = parts(bytes * blocks, LINE_BYTES * times);
}

/* Find what the blocks of y that begin with number `place` of it add, and where they are rounded. */
static void find_halves(const direct *work, strip *part, i64 place)
{
    const ag_convolution *of = work->of;
    part->added = of->added ? (const half *)of->added + place : 0;
    part->rounded = of->rounded ? (half *)of->rounded + place : 0;
    part->halves_step = work->total * of->out_block;
}

/* Channels of the weights of an output. */
INLINE i64 stored_channels(const ag_convolution *of)
{
    return of->tile_words ? parts(of->channels, of->tile_words) * of->tile_words : of->channels;
}

/* Sum a strip, as many blocks of channels at a time as have weights that stay in the cache. */
static void sum_panel(const direct *work, strip *part, i64 panel)
{
    const ag_convolution *of = part->of;
    const i64 positions = of->kernel[0] * of->kernel[1], all = parts(of->channels, of->block);
    const i64 near = WEIGHTS_NEAR / (i64)sizeof(REAL) / (positions * at_most(of->block, of->channels) * part->width);
    const i64 at_once = at_most(all, at_least(near, 1));
    for (part->first = 0; part->first < all; part->first = part->last) {
        part->last = at_most(part->first + at_once, all), part->lines = 0;
        if (part->last < all || (work->strips == 1 && panel + 1 < work->panels))
            look_ahead(work, part, of->block * positions * part->width * (i64)sizeof(REAL), at_once);
        for (i64 row = part->row; row < part->end; row++)
            sum_row(work, part, row, at_most(work->columns, work->total - row * work->columns));
    }
}

#ifdef OF_PAIRS
static void sum_strip_by_tiles(const direct *, const strip *, i64, i64);
#else
INLINE void sum_strip_by_tiles(const direct *work, const strip *part, i64 image, i64 number)
{
    (void)work, (void)part, (void)image, (void)number;
}
#endif

/* Rows [row, end) of a panel of an image; taps: room. */
static strip strip_of_panel(const direct *work, i64 image, i64 panel, i64 row, i64 end, i64 *taps)
{
    const ag_convolution *of = work->of;
    const i64 each = work->panels / of->groups, group = panel / each, own_blocks = of->blocks / of->groups;
    const i64 within = panel % each, first = begin_of(own_blocks, each, within);
    const i64 block = group * own_blocks + first, blocks = begin_of(own_blocks, each, within + 1) - first;
    strip part = {.of = of, .row = row, .end = end, .width = blocks * of->out_block, .taps = find_taps(of, taps)};
    part.group = group, part.block = block, part.step = work->total * of->out_block;
    part.x = (const REAL *)of->x + image * of->x_strides[0] + group * parts(of->channels, of->block) * of->x_strides[1];
    part.w = (const REAL *)of->w + block * of->out_block * stored_channels(of) * of->kernel[0] * of->kernel[1];
    part.bias = (const REAL *)of->bias + block * of->out_block;
    part.y = (REAL *)of->y + (image * of->blocks + block) * part.step;
    find_halves(work, &part, (image * of->blocks + block) * part.step);
    return part;
}

/* One strip of a panel. */
static void convolve_strip(const direct *work, i64 image, i64 panel, i64 number)
{
    const ag_convolution *of = work->of;
    const i64 row = number * work->height;
    i64 taps[MOST_TAPS], slot = 0;
    strip part = strip_of_panel(work, image, panel, row, at_most(row + work->height, work->rows), taps);
    const i64 from = row * work->columns, to = at_most(part.end * work->columns, work->total);
    REAL *room = 0;
    if (work->slots) {
        slot = claim_slot(&work->slots->free), room = work->slots->y + slot * work->slots->numbers;
        part.step = (to - from) * of->out_block, part.y = room - from * of->out_block;
    }
    if (work->tiles) sum_strip_by_tiles(work, &part, image, number);
    else sum_panel(work, &part, panel);
    follow_strip(&work->after, image, part.block, part.width / of->out_block, from, to, room);
    if (work->slots) __atomic_fetch_or(&work->slots->free, 1ull << slot, __ATOMIC_RELEASE);
}

static void convolve_bundle(const direct *work, i64 image, i64 bundle, i64 number);

/* Adjacent tasks go to one thread, which reuses x or the weights from its cache, whichever are larger. */
static void convolve_task(void *context, i64 index)
{
    const direct *work = context;
    const i64 inner = work->by_strips ? work->panels : work->strips,
              outer = work->by_strips ? work->strips : work->panels;
    const i64 image = index / inner / outer, within = index % inner, beside = index / inner % outer;
    const i64 number = work->by_strips ? beside : within, panel = work->by_strips ? within : beside;
    (work->offsets ? convolve_bundle : convolve_strip)(work, image, panel, number);
}

/* Whether the kernel has one position and no padding. */
static i32 is_flat(const ag_convolution *of)
{
    i32 flat = of->kernel[0] * of->kernel[1] == 1;
    for (i32 l = 0; l < 2; l++) flat &= !of->before[l] && (of->counts[l] - 1) * of->stride[l] < of->lengths[l];
    return flat;
}

/* Return the number of panels of outputs, or of bundles of listed groups. */
static i64 count_panels(const ag_convolution *of, i64 bundle)
{
    if (bundle) return parts(of->groups, bundle);
    return of->groups * even_panels(of->blocks / of->groups, of->panel);
}

/* Choose the tiling of a convolution, except its strips.  joined: room for strides; offsets, bundle: see direct. */
static direct lay_out(const ag_runtime *rt, const ag_convolution *of, i64 *joined, const i64 *offsets, i64 bundle)
{
    direct work = {
        .rt = rt, .of = of, .rows = of->counts[0], .columns = of->counts[1], .offsets = offsets, .bundle = bundle};
    work.total = work.rows * work.columns, work.spacing = of->x_strides[3];
    work.after = epilogue_of(&of->after, of->y, of->images, of->blocks, of->counts, of->out_block, joined);
    work.jumps = of->stride[0] * of->x_strides[2] != of->counts[1] * of->stride[1] * of->x_strides[3];
    work.flat = is_flat(of) && !(work.jumps && of->kind != AG_DENSE), work.jumps &= work.flat;
    if (work.flat)
        work.rows = parts(work.total, SEGMENT), work.rows += work.rows > 1 && work.rows % 2,
        work.columns = parts(work.total, work.rows), work.rows = parts(work.total, work.columns);
    work.panels = count_panels(of, bundle);
    return work;
}

/* Whether y has no numbers. */
INLINE i32 is_empty(const ag_convolution *of)
{
    return of->images <= 0 || of->counts[0] <= 0 || of->counts[1] <= 0 || of->blocks <= 0;
}

/* Numbers of a position of a strip. */
static i64 width_of(const direct *work) { return parts(work->of->blocks, work->panels) * work->of->out_block; }

static double products_of(const direct *work)
{
    const ag_convolution *of = work->of;
    const double numbers = (double)of->images * (double)(of->blocks * of->out_block) * (double)work->total;
    return numbers * (double)(of->kernel[0] * of->kernel[1] * of->channels + STORED / 2);
}

/* Run all strips, whose height is known, and their epilogue. */
static void run_strips(direct *work, double all)
{
    const ag_runtime *rt = work->rt;
    const ag_convolution *of = work->of;
    const i64 numbers = of->images * of->blocks * of->out_block * work->total;
    const i64 of_strip = at_most(work->height * work->columns, work->total) * width_of(work);
    strip_slots slots = {0};
    work->strips = parts(work->rows, work->height);
    if (of->rounded) slots = cut_slots(rt, of->y, of_strip, numbers);
    else if (!work->offsets) slots = slots_of(rt, &work->after, of->y, of_strip, numbers);
    work->slots = slots.numbers ? &slots : 0;
    if (all > LONG) rt->listen();
    const i64 count = of->images * work->panels * work->strips;
    if (rt->threads > 1 && all >= ALONE) rt->parallel(rt, count, convolve_task, work);
    else
        for (i64 k = 0; k < count && !(all > LONG && k % 64 == 0 && rt->stopped()); k++) convolve_task(work, k);
    follow_all(rt, &of->after, &work->after);
}

/* Run a convolution, with its epilogue on strips if that can be.  whole: see direct. */
static void convolve_with(const ag_runtime *rt, const ag_convolution *of, const i64 *offsets, i64 bundle, i32 whole)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    direct work = lay_out(rt, of, joined, offsets, bundle);
    if (is_empty(of)) {
        follow_all(rt, &of->after, &work.after);
        return;
    }
    work.whole = whole;
    const double all = products_of(&work);
    work.height = height_of(rt, all, of->images * work.panels, work.rows, work.columns, work.total, width_of(&work));
    const i64 outputs = of->blocks * of->out_block, positions = of->kernel[0] * of->kernel[1];
    work.by_strips = positions * outputs <= FORESEEN * of->lengths[0] * of->lengths[1] * of->groups;
    run_strips(&work, all);
}
#endif
