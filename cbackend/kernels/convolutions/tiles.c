/* Convolutions of bfloat16 numbers in the order of tiles of 16 rows of at most 16 words; see products/pair_tiles.c.

   A task copies what its strip of y reads of x, laid as in phases.h: chunks of 16 words of channels, zeros behind the last
   channel and beyond the borders.  Where a block holds several groups, of 8 words, it is a group of its own, and weights of
   other groups are zeros.  Vectors leave them out if x has infinities or NaNs.

   Of images of up to four channels, two words a position, a row holds all columns: those that a row of the kernel meets
   are neighbours.

   Positions of y are counted along those columns, so that a tile runs over the ends of rows; sums between two rows are not
   stored.  Weights are stored in reading order, as in direct.c, with so many words of channels in place of a block's. */
#pragma once
#if !defined(OF_PAIRS)
#define OF_PAIRS
#endif
#include "../phases.h"
#include "../products/pair_tiles.c"
#include "direct.c"

enum { STAGE_BYTES = 1 << 18 }; /* of the copy of x for a strip */
enum { COPY_AHEAD = 1 << 12 };  /* prefetch distance of a copy, bytes */

/* The copy of x for a strip, and rooms for the sums of tiles. */
typedef struct stage {
    char *numbers;
    REAL *sums;               /* two rooms */
    i64 image, group, number; /* of the strip that it holds; image -1: none */
    i32 is_finite;            /* where blocks hold several groups: all numbers are */
} stage;

typedef struct tiled {
    const direct *work;
    const ag_convolution *given; /* whose lengths and strides of x count numbers of 16 bits */
    i32 is_image;                /* x is images of few channels, not in blocks */
    phases planes;               /* of a strip of full height */
    i64 wide, step;              /* positions of a row of a copy; bytes from one to the next */
    i64 chunk;                   /* words that a tile sums */
    i64 mixed;                   /* 0, or outputs of a group, of which a block holds several */
    i64 *places;                 /* where each chunk of a window lies behind its first one */
    stage stages[SLOTS];
    unsigned long long free; /* bit k: stage k is free */
} tiled;

/* Copy the words of the channels at one position. */
INLINE void copy_words(const ag_convolution *of, const REAL *x, i64 words, i64 chunk, char *to)
{
    for (i64 w = 0; w < chunk; w += of->block, x += of->x_strides[1]) {
        const i64 count = at_most(of->block, at_least(words - w, 0));
        __builtin_memcpy(to + 4 * w, x, (unsigned long)count * 4);
        __builtin_memset(to + 4 * (w + count), 0, (unsigned long)(of->block - count) * 4);
    }
}

/* The words of half a chunk, of which there may be fewer. */
typedef i32 half_row __attribute__((vector_size(CHUNK_BYTES / 2), aligned(4), may_alias));

/* Copy `count` positions of blocks of half a chunk. */
static void copy_half_rows(const ag_convolution *of, const REAL *x, i64 step, i64 count, i64 words, i64 chunk, char *to)
{
    const half_row places = {0, 1, 2, 3, 4, 5, 6, 7}, kept = places < (i32)words,
                   others = places < (i32)words - CHUNK / 2;
    const REAL *y = words > CHUNK / 2 ? x + of->x_strides[1] : x;
    if (chunk < CHUNK)
        for (i64 c = 0; c < count; c++, x += step) ((half_row *)to)[c] = *(const half_row *)x & kept;
    else
        for (i64 c = 0; c < count; c++, x += step, y += step, to += CHUNK_BYTES) {
            __builtin_prefetch((const char *)x + COPY_AHEAD, 0, 3);
            __builtin_prefetch((const char *)y + COPY_AHEAD, 0, 3);
            *(half_row *)to = *(const half_row *)x & kept;
            *(half_row *)(to + CHUNK_BYTES / 2) = *(const half_row *)y & others;
        }
}

/* The strip that is copied. */
typedef struct stage_source {
    const tiled *tiles;
    const REAL *x;      /* of the image and group */
    const half *halves; /* of the image, as numbers of 16 bits */
    stage *to;
} stage_source;

/* Copy a row of one plane: a chunk of words at each position. */
static void copy_row(const stage_source *from, i64 chunk, i64 row, i64 start, char *to)
{
    const tiled *tiles = from->tiles;
    const ag_convolution *of = tiles->work->of;
    const phase_axis *columns = &tiles->planes.columns;
    const i64 count = tiles->wide, step = columns->stride * of->x_strides[3], depth = chunk * tiles->chunk;
    const REAL *x = from->x + depth / of->block * of->x_strides[1] + row * of->x_strides[2] + start * of->x_strides[3];
    i64 first, end;
    cells_within(start, columns->stride, columns->length, count, &first, &end);
    __builtin_memset(to, 0, (unsigned long)(first * tiles->step));
    x += first * step;
    const i64 words = at_most(tiles->chunk, of->channels - depth);
    if (of->block == CHUNK / 2) copy_half_rows(of, x, step, end - first, words, tiles->chunk, to + first * tiles->step);
    else
        for (i64 c = first; c < end; c++, x += step) copy_words(of, x, words, tiles->chunk, to + c * tiles->step);
    __builtin_memset(to + end * tiles->step, 0, (unsigned long)((count - end) * tiles->step));
}

/* Copy a row of images of up to four channels: two words at each position. */
static void copy_image_row(const tiled *tiles, const half *x, half *to)
{
    typedef unsigned long long two_words __attribute__((may_alias));
    const ag_convolution *of = tiles->given;
    const phase_axis *columns = &tiles->planes.columns;
    const i64 before = columns->before, step = of->x_strides[3], count = tiles->wide * columns->stride;
    i64 first, end;
    cells_within(-before, 1, columns->length, count, &first, &end);
    __builtin_memset(to, 0, (unsigned long)(8 * count));
    for (i64 c = 0; c < of->channels; c++) {
        const half *from = x + c * of->x_strides[1] - before * step;
        for (i64 k = first; k < end; k++) ((two_words *)to)[k] |= (two_words)from[k * step] << 16 * c;
    }
}

static i32 are_finite(const char *numbers, i64 count)
{
    const half *x = (const half *)numbers;
    half found = 0;
    for (i64 k = 0; k < count; k++) found |= (x[k] & 0x7f80) == 0x7f80;
    return !found;
}

/* Copy a row: see fill_row. */
static void fill_stage_row(void *context, i64 chunk, i64 row, i64 start, char *to)
{
    const stage_source *from = context;
    const tiled *tiles = from->tiles;
    if (tiles->is_image) copy_image_row(tiles, from->halves + row * tiles->given->x_strides[2], (half *)to);
    else copy_row(from, chunk, row, start, to);
    if (tiles->mixed) from->to->is_finite &= are_finite(to, tiles->planes.row / 2);
}

/* Copy what the windows of a strip read. */
static void fill_stage(const tiled *tiles, const strip *part, i64 image, stage *to)
{
    const ag_convolution *given = tiles->given;
    stage_source from = {tiles, part->x, (const half *)given->x + image * given->x_strides[0], to};
    to->is_finite = 1;
    fill_planes(&tiles->planes, part->row, part->end - part->row, to->numbers, fill_stage_row, &from);
}

/* Where each chunk of a window lies: chunks of channels, rows and columns of the kernel; or rows, parts of them. */
static void find_chunks(const tiled *tiles)
{
    const phases *planes = &tiles->planes;
    const i64 kernel = planes->columns.kernel, across = tiles->is_image ? 2 * kernel / tiles->chunk : kernel;
    i64 *places = tiles->places;
    for (i64 d = 0; d < planes->chunks; d++)
        for (i64 i = 0; i < planes->rows.kernel; i++)
            for (i64 j = 0; j < across; j++)
                *places++ = d * planes->each
                            + (tiles->is_image ? place_in_planes(planes, i, 0, 0) + 4 * j * tiles->chunk
                                               : place_in_planes(planes, i, j, tiles->step));
}

#ifdef STORES_TWO
/* Round `columns` adjacent columns of one vector of outputs; see round_columns. */
INLINE void round_some(const int columns, const ag_convolution *of, const REAL *from, i64 width, const half *added,
                       half *to, i32 is_flushed)
{
    vector sums[TILE_COLUMNS];
    i32 by_bits = 0;
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) sums[p] = *(const unaligned *)(from + p * width);
    if (added)
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) sums[p] += widened_halves(added + p * LANES);
    if (of->low) {
        const vector low = *(const REAL *)of->low - (vector){0};
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) sums[p] = greater(low, sums[p]);
    }
    if (of->high) {
        const vector high = *(const REAL *)of->high - (vector){0};
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) sums[p] = lesser(high, sums[p]);
    }
    if (is_flushed)
#pragma GCC unroll 4
        for (int p = 0; p < columns; p += 2) by_bits |= has_nan(sums[p], sums[p + 1]);
    else
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) by_bits |= awkward(sums[p]);
    if (__builtin_expect(by_bits, 0))
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) store_halves(to + p * LANES, nearest_halves(sums[p]));
    else
#pragma GCC unroll 4
        for (int p = 0; p < columns; p += 2) store_nearest_two(to + p * LANES, sums[p], sums[p + 1]);
}

/* Finish and round an even number of columns, of blocks of one vector; return how many.  is_flushed: no number is
   subnormal. */
static __attribute__((noinline)) i64 round_columns(const ag_convolution *of, const REAL *from, i64 width, i64 count,
                                                   const half *added, half *to, i32 is_flushed)
{
    i64 c = 0;
    for (; c + TILE_COLUMNS <= count; c += TILE_COLUMNS)
        round_some(TILE_COLUMNS, of, from + c * width, width, added ? added + c * LANES : 0, to + c * LANES,
                   is_flushed);
    for (; c + 2 <= count; c += 2)
        round_some(2, of, from + c * width, width, added ? added + c * LANES : 0, to + c * LANES, is_flushed);
    return c;
}
#endif

/* Finish `count` columns of a row of y, whose sums are rows of `width` numbers.  at: see finish_tile; y, block_step: of the
   first column; is_flushed: see round_columns. */
KERNEL finish_columns(const ag_convolution *of, tile_place *at, const REAL *from, i64 width, i64 count, REAL *y,
                      i64 block_step, i32 is_flushed)
{
    const half *added = at->added;
    half *rounded = at->rounded;
    const i64 block = of->out_block;
    vector sums[TILE_COLUMNS][TILE_VECTORS];
    for (i64 v = 0, lane = 0; v < width; v += LANES, lane += LANES, from += LANES) {
        if (lane == block) {
            lane = 0, y += block_step;
            if (added) added += at->halves_step;
            if (rounded) rounded += at->halves_step;
        }
        i64 c = 0;
#ifdef STORES_TWO
        if (rounded && block == LANES) c = round_columns(of, from, width, count, added, rounded, is_flushed);
#endif
        for (; c + TILE_COLUMNS <= count; c += TILE_COLUMNS) {
#pragma GCC unroll 8
            for (int p = 0; p < TILE_COLUMNS; p++) sums[p][0] = *(const unaligned *)(from + (c + p) * width);
            at->added = added ? added + c * block + lane : 0, at->rounded = rounded ? rounded + c * block + lane : 0;
            finish_tile(TILE_COLUMNS, 1, AG_DENSE, of, at, sums, y + c * block + lane, block_step, block);
        }
        for (; c < count; c++) {
            sums[0][0] = *(const unaligned *)(from + c * width);
            at->added = added ? added + c * block + lane : 0, at->rounded = rounded ? rounded + c * block + lane : 0;
            finish_tile(1, 1, AG_DENSE, of, at, sums, y + c * block + lane, block_step, block);
        }
    }
    (void)is_flushed;
}

/* Whether a bound is missing, or no number below 2^-126 but zero. */
static i32 is_normal(const void *bound)
{
    const i32 bits = bound ? *(const number_bits *)bound & 0x7fffffff : 0;
    return !bits || bits >= 0x800000;
}

/* Store the sums of positions [from, to) of a strip, counted along the columns of the copy. */
static void store_positions(const tiled *tiles, const strip *part, i64 from, i64 to, const REAL *sums, i32 is_flushed)
{
    const ag_convolution *of = part->of;
    const i64 wide = tiles->wide, columns = tiles->planes.columns.count;
    const i64 past = wide - columns; /* positions between two rows */
    i64 row = part->row, column = from;
    if (past) row += from / wide, column = from % wide;
    for (i64 k = from, count; k < to; k += count, column += count, sums += count * part->width) {
        if (past && column == wide) column = 0, row++;
        const i64 place = (row * columns + column) * of->out_block;
        count = past ? at_most(to - k, (column < columns ? columns : wide) - column) : to - k;
        if (past && column >= columns) continue;
        tile_place at = {.halves_step = part->halves_step, .is_last = 1};
        at.added = part->added ? part->added + place : 0;
        at.rounded = part->rounded ? part->rounded + place : 0;
        finish_columns(of, &at, sums, part->width, count, part->y + place, part->step, is_flushed);
    }
}

/* Prefetch `count` blocks of `bytes` bytes, `step` bytes apart, of which numbers are written or read. */
INLINE void look_at_blocks(const int is_written, const char *from, i64 count, i64 step, i64 bytes)
{
    for (i64 b = 0; b < count; b++)
        for (i64 at = 0; at < bytes; at += CHUNK_BYTES)
            if (is_written) __builtin_prefetch(from + b * step + at, 1, 3);
            else __builtin_prefetch(from + b * step + at, 0, 3);
}

/* Prefetch the lines where the sums of positions [from, to) of a strip are stored, and what is added to them. */
static void look_at_results(const tiled *tiles, const strip *part, i64 from, i64 to)
{
    const i64 wide = tiles->wide, columns = tiles->planes.columns.count, block = part->of->out_block;
    const i64 first = part->row * columns + from / wide * columns + at_most(from % wide, columns);
    const i64 count = part->row * columns + to / wide * columns + at_most(to % wide, columns) - first;
    const i64 blocks = part->width / block, place = first * block, numbers = count * block;
    if (part->rounded)
        look_at_blocks(1, (const char *)(part->rounded + place), blocks, 2 * part->halves_step, 2 * numbers);
    else look_at_blocks(1, (const char *)(part->y + place), blocks, 4 * part->step, 4 * numbers);
    if (part->added) look_at_blocks(0, (const char *)(part->added + place), blocks, 2 * part->halves_step, 2 * numbers);
}

/* The weights of the panel behind one of `bytes` bytes, if they are not near: those of a layer, for its first strip. */
static const char *next_weights(const tiled *tiles, const strip *part, const stage *at, i64 bytes)
{
    const ag_convolution *of = part->of;
    const i32 is_last = part->bias + part->width == (const REAL *)of->bias + of->blocks * of->out_block;
    const i32 is_first = at->image == 0 && at->number == 0;
    return is_last || !(is_first || bytes * tiles->work->panels > NEAR) ? 0 : (const char *)part->w + bytes;
}

/* All outputs of a panel at the positions of a strip, 32 positions at a time.  Two rooms for their sums take turns: some
   are stored while tiles compute the next ones. */
static void multiply_stage(const tiled *tiles, const strip *part, const stage *from)
{
    const i64 all = (part->end - part->row - 1) * tiles->wide + tiles->planes.columns.count;
    const ag_convolution *whole = part->of;
    pair_product of = {
        .row = tiles->step,
        .places = tiles->places,
        .chunk = tiles->chunk,
        .group = tiles->mixed,
        .w = (const char *)part->w,
        .words = stored_channels(whole) * whole->kernel[0] * whole->kernel[1],
        .word = 4 * part->width,
        .vectors = part->width / CHUNK,
        .from = (const char *)part->bias,
        .to_row = 4 * part->width,
    };
    const i32 plain = !may_use_unit() || (tiles->mixed && !from->is_finite);
    const i32 is_flushed = !plain && !part->added && is_normal(whole->low) && is_normal(whole->high); /* as tiles do */
    const i64 bytes = of.words * of.word, blocks = parts(all, MOST_TILED_ROWS);
    const char *const next = next_weights(tiles, part, from, bytes);
    const i64 each = MOST_TILED_ROWS * part->width; /* numbers of a room */
    const REAL *last = from->sums;
    for (i64 k = 0; k < all; k += MOST_TILED_ROWS) {
        const i64 rows = at_most(MOST_TILED_ROWS, all - k);
        of.x[0] = from->numbers + k * of.row, of.x[1] = of.x[0] + CHUNK * of.row;
        if (rows != of.rows && !plain) configure_pairs(rows, of.chunk);
        of.rows = rows;
        look_at_results(tiles, part, k, k + rows);
        if (next) look_ahead_of_pairs(&of, next, bytes, k / MOST_TILED_ROWS, blocks);
        of.to[0] = (char *)(from->sums + k / MOST_TILED_ROWS % 2 * each), of.to[1] = of.to[0] + CHUNK * of.to_row;
        if (plain) multiply_pairs_by_vectors(&of);
        else multiply_pairs_by_tiles(&of);
        if (k) store_positions(tiles, part, k - MOST_TILED_ROWS, k, last, is_flushed);
        last = (const REAL *)of.to[0];
    }
    store_positions(tiles, part, (blocks - 1) * MOST_TILED_ROWS, all, last, is_flushed);
    if (!plain) RELEASE_TILES();
}

static void sum_strip_by_tiles(const direct *work, const strip *part, i64 image, i64 number)
{
    tiled *tiles = work->tiles;
    const i64 slot = claim_slot(&tiles->free), group = part->group;
    stage *own = tiles->stages + slot;
    if (own->image != image || own->group != group || own->number != number) {
        fill_stage(tiles, part, image, own);
        own->image = image, own->group = group, own->number = number;
    }
    multiply_stage(tiles, part, own);
    __atomic_fetch_or(&tiles->free, 1ull << slot, __ATOMIC_RELEASE);
}

static phase_axis axis_of(const ag_convolution *of, i32 axis, i64 count)
{
    return (phase_axis){of->kernel[axis], of->stride[axis],  of->dilation[axis],
                        of->before[axis], of->lengths[axis], count};
}

/* Choose what a tile sums. */
static void shape_tiles(const direct *work, const ag_convolution *given, tiled *tiles)
{
    const ag_convolution *of = work->of;
    *tiles = (tiled){.work = work, .given = given, .is_image = of->tile_words == AG_IMAGE_WORDS};
    phases *planes = &tiles->planes;
    planes->rows = axis_of(of, 0, work->rows), planes->columns = axis_of(of, 1, work->columns);
    planes->chunks = planes->separate = 1;
    if (tiles->is_image) {
        const i64 words = 2 * of->kernel[1];
        tiles->chunk = words <= CHUNK ? words : CHUNK, tiles->step = 8 * of->stride[1];
        tiles->wide = work->columns - 1 + parts(of->kernel[1], of->stride[1]);
    } else {
        tiles->chunk = of->tile_words, planes->chunks = parts(of->channels, tiles->chunk),
        tiles->step = 4 * tiles->chunk;
        tiles->mixed = of->tile_words < CHUNK ? of->outputs : 0;
        tiles->wide = planes->columns.count + overhang(&planes->columns), planes->separate = of->stride[1];
    }
    planes->row = tiles->wide * tiles->step;
    find_planes(planes, planes->rows.count + overhang(&planes->rows));
}

/* Strips of rows whose copies stay in the cache, and keep all threads busy. */
static i64 count_strips(const direct *work, const tiled *tiles)
{
    const ag_convolution *of = work->of;
    const i64 threads = at_most(work->rt->threads, SLOTS);
    const i64 least = threads > 1 ? parts(4 * threads, of->images * work->panels) : 1;
    return at_least(least, parts(tiles->planes.chunks * tiles->planes.each, STAGE_BYTES));
}

/* Allocate copies of strips of `height` rows for all threads.  Return whether there was memory. */
static i32 prepare_tiles(direct *work, tiled *tiles, i64 height)
{
    const ag_convolution *of = work->of;
    const i64 threads = at_most(work->rt->threads, SLOTS);
    phases *planes = &tiles->planes;
    work->height = planes->rows.count = height;
    find_planes(planes, work->height + overhang(&planes->rows));
    const i64 chunks = stored_channels(of) * of->kernel[0] * of->kernel[1] / tiles->chunk;
    const i64 sums = 2 * MOST_TILED_ROWS * width_of(work) * 4, places = parts(chunks * 8, 64) * 64;
    const i64 bytes = parts(planes->chunks * planes->each, 64) * 64;
    char *room = work->rt->alloc(places + threads * (bytes + sums));
    if (!room) return 0;
    tiles->places = (i64 *)room, room += places;
    find_chunks(tiles);
    for (i64 k = 0; k < threads; k++, room += bytes + sums)
        tiles->stages[k] = (stage){.numbers = room, .sums = (REAL *)(room + bytes), .image = -1};
    tiles->free = threads >= 64 ? ~0ull : (1ull << threads) - 1;
    return 1;
}

/* The tiling of a convolution, except its strips; see convolve_by_tiles. */
static void lay_out_tiles(direct *work, const ag_runtime *rt, const ag_convolution *of, const ag_convolution *given,
                          i64 *joined, tiled *tiles)
{
    *work = lay_out(rt, of, joined, 0, 0);
    work->flat = work->jumps = 0, work->rows = of->counts[0], work->columns = of->counts[1], work->by_strips = 1;
    work->tiles = tiles;
    shape_tiles(work, given, tiles);
}

/* of: lengths and strides of x count words; given: numbers of 16 bits.  Return 0, or MEMORY (2). */
static i32 convolve_by_tiles(const ag_runtime *rt, const ag_convolution *of, const ag_convolution *given)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    tiled tiles;
    direct work;
    lay_out_tiles(&work, rt, of, given, joined, &tiles);
    if (is_empty(of)) {
        follow_all(rt, &of->after, &work.after);
        return 0;
    }
    if (!prepare_tiles(&work, &tiles, parts(work.rows, at_most(work.rows, count_strips(&work, &tiles))))) return 2;
    run_strips(&work, products_of(&work));
    rt->release(tiles.places);
    return 0;
}
