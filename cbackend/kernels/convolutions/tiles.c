/* Convolutions of bfloat16 numbers in the order of tiles of 16 rows of at most 16 words; see products/pair_tiles.c.

   A task copies what its strip of y reads of x, so that the windows of neighbouring positions begin equally far from each
   other, with zeros beyond the borders.  Of x in blocks of channels:

       for each 16 words of channels, remainder of a row of x by the stride, remainder of a column:
           rows, columns, words; zeros behind the last channel

   Where a block holds several groups, of 8 words, it is a group of its own, and weights of other groups are zeros.  Vectors
   leave them out if x has infinities or NaNs.

   Of images of up to four channels, two words a position, those that a row of the kernel meets are neighbours:

       for each remainder of a row of x by the stride:  rows, columns, two words

   Positions of y are counted along those columns, so that a tile runs over the ends of rows; sums between two rows are not
   stored.  Weights are stored in reading order, as in direct.c, with so many words of channels in place of a block's. */
#pragma once
#if !defined(OF_PAIRS)
#define OF_PAIRS
#endif
#include "../products/pair_tiles.c"
#include "direct.c"

enum { STAGE_BYTES = 1 << 18 }; /* of the copy of x for a strip */

/* How windows move along an axis, and the lengths of the copy: positions of y of a strip, and more for the kernel. */
typedef struct stage_axis {
    i64 kernel, stride, dilation, before, length, count;
    i64 planes; /* remainders by the stride that windows read */
} stage_axis;

/* Whether a window reads places with this remainder. */
static i32 reads_remainder(const stage_axis *of, i64 remainder)
{
    for (i64 k = 0; k < at_most(of->kernel, of->stride); k++)
        if (k * of->dilation % of->stride == remainder) return 1;
    return 0;
}

/* The number of remainders below this one that windows read. */
static i64 plane_of(const stage_axis *of, i64 remainder)
{
    i64 planes = 0;
    for (i64 r = 0; r < remainder; r++) planes += reads_remainder(of, r);
    return planes;
}

static stage_axis axis_of(const ag_convolution *of, i32 axis, i64 count)
{
    stage_axis found = {
        of->kernel[axis], of->stride[axis], of->dilation[axis], of->before[axis], of->lengths[axis], count, 0};
    found.planes = plane_of(&found, found.stride);
    return found;
}

/* Positions of a plane: those of y, and as far as the last window reaches. */
INLINE i64 across(const stage_axis *of) { return of->count + (of->kernel - 1) * of->dilation / of->stride; }

/* The copy of x for a strip, and room for the sums of a tile. */
typedef struct stage {
    char *numbers;
    REAL *sums;
    i64 image, group, number; /* of the strip that it holds; image -1: none */
    i32 is_finite;            /* where blocks hold several groups: all numbers are */
} stage;

typedef struct tiled {
    const direct *work;
    const ag_convolution *given; /* whose lengths and strides of x count numbers of 16 bits */
    i32 is_image;                /* x is images of few channels, not in blocks */
    stage_axis rows, columns;    /* of a strip of full height */
    i64 deep, each;              /* chunks of channels; bytes of each in a copy */
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
    typedef struct half_row {
        i32 words[CHUNK / 2];
    } __attribute__((may_alias)) half_row;
    if (of->block == CHUNK / 2 && words >= chunk) {
        *(half_row *)to = *(const half_row *)x;
        if (chunk == CHUNK) *(half_row *)(to + CHUNK_BYTES / 2) = *(const half_row *)(x + of->x_strides[1]);
        return;
    }
    for (i64 w = 0; w < chunk; w += of->block, x += of->x_strides[1]) {
        const i64 count = at_most(of->block, at_least(words - w, 0));
        __builtin_memcpy(to + 4 * w, x, (unsigned long)count * 4);
        __builtin_memset(to + 4 * (w + count), 0, (unsigned long)(of->block - count) * 4);
    }
}

/* Copy a row of one plane: a chunk of words at each position. */
static void copy_row(const tiled *tiles, const REAL *x, i64 words, i64 remainder, char *to)
{
    const ag_convolution *of = tiles->work->of;
    const stage_axis *columns = &tiles->columns;
    const i64 count = across(columns), start = remainder - columns->before, step = columns->stride * of->x_strides[3];
    const i64 first = at_most(count, start < 0 ? parts(-start, columns->stride) : 0);
    const i64 end = at_least(first, at_most(count, parts(at_least(0, columns->length - start), columns->stride)));
    __builtin_memset(to, 0, (unsigned long)(first * tiles->step));
    x += start * of->x_strides[3] + first * step;
    for (i64 c = first; c < end; c++, x += step) copy_words(of, x, words, tiles->chunk, to + c * tiles->step);
    __builtin_memset(to + end * tiles->step, 0, (unsigned long)((count - end) * tiles->step));
}

/* Copy a row of images of up to four channels: two words at each position. */
static void copy_image_row(const tiled *tiles, const half *x, half *to)
{
    typedef unsigned long long two_words __attribute__((may_alias));
    const ag_convolution *of = tiles->given;
    const i64 before = tiles->columns.before, length = tiles->columns.length, step = of->x_strides[3];
    const i64 count = tiles->wide * tiles->columns.stride, first = at_most(count, before);
    const i64 end = at_least(first, at_most(count, before + length));
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

/* Copy what the windows of a strip read. */
static void fill_stage(const tiled *tiles, const strip *part, i64 image, stage *to)
{
    const ag_convolution *of = tiles->work->of, *given = tiles->given;
    const half *const x_of_image = (const half *)given->x + image * given->x_strides[0];
    stage_axis rows = tiles->rows;
    const stage_axis *columns = &tiles->columns;
    const i64 row_bytes = tiles->wide * tiles->step, start = part->row * rows.stride - rows.before;
    const i64 remainders = tiles->is_image ? 1 : columns->stride;
    rows.count = part->end - part->row, to->is_finite = 1;
    for (i64 d = 0; d < tiles->deep; d++) {
        const i64 words = at_most(tiles->chunk, of->channels - d * tiles->chunk);
        const REAL *x = part->x + d * (tiles->chunk / of->block) * of->x_strides[1];
        char *base = to->numbers + d * tiles->each;
        for (i64 r = 0; r < rows.stride; r++)
            for (i64 c = 0; c < remainders && reads_remainder(&rows, r); c++) {
                if (!tiles->is_image && !reads_remainder(columns, c)) continue;
                for (i64 q = 0; q < across(&rows); q++) {
                    const i64 row = start + q * rows.stride + r;
                    char *const own = base + q * row_bytes;
                    if (row < 0 || row >= rows.length) __builtin_memset(own, 0, (unsigned long)row_bytes);
                    else if (tiles->is_image)
                        copy_image_row(tiles, x_of_image + row * given->x_strides[2], (half *)own);
                    else copy_row(tiles, x + row * of->x_strides[2], words, c, own);
                    if (tiles->mixed) to->is_finite &= are_finite(own, row_bytes / 2);
                }
                base += across(&tiles->rows) * row_bytes;
            }
    }
}

/* Where each chunk of a window lies: chunks of channels, rows and columns of the kernel; or rows, parts of them. */
static void find_chunks(const tiled *tiles)
{
    const stage_axis *rows = &tiles->rows, *columns = &tiles->columns;
    const i64 row_bytes = tiles->wide * tiles->step, plane = across(rows) * row_bytes;
    const i64 beside = tiles->is_image ? 2 * columns->kernel / tiles->chunk : columns->kernel;
    i64 *places = tiles->places;
    for (i64 d = 0; d < tiles->deep; d++)
        for (i64 i = 0; i < rows->kernel; i++)
            for (i64 j = 0; j < beside; j++) {
                const i64 down = i * rows->dilation, right = j * columns->dilation;
                const i64 row_plane = plane_of(rows, down % rows->stride);
                const i64 place = d * tiles->each + down / rows->stride * row_bytes;
                if (tiles->is_image) *places++ = place + row_plane * plane + 4 * j * tiles->chunk;
                else
                    *places++ = place + right / columns->stride * tiles->step
                                + (row_plane * columns->planes + plane_of(columns, right % columns->stride)) * plane;
            }
}

/* Finish `count` columns of a row of y, whose sums are rows of `width` numbers.  at: see finish_tile; y, block_step: of the
   first column. */
KERNEL finish_columns(const ag_convolution *of, tile_place *at, const REAL *from, i64 width, i64 count, REAL *y,
                      i64 block_step)
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
}

/* Store the sums of positions [from, to) of a strip, counted along the columns of the copy. */
static void store_positions(const tiled *tiles, const strip *part, i64 from, i64 to, const REAL *sums)
{
    const ag_convolution *of = part->of;
    const i64 wide = tiles->wide, columns = tiles->columns.count;
    for (i64 k = from, count; k < to; k += count, sums += count * part->width) {
        const i64 row = part->row + k / wide, column = k % wide, place = (row * columns + column) * of->out_block;
        count = at_most(to - k, (column < columns ? columns : wide) - column);
        if (column >= columns) continue;
        tile_place at = {.halves_step = part->halves_step, .is_last = 1};
        at.added = part->added ? part->added + place : 0;
        at.rounded = part->rounded ? part->rounded + place : 0;
        finish_columns(of, &at, sums, part->width, count, part->y + place, part->step);
    }
}

/* All outputs of a panel at the positions of a strip. */
static void multiply_stage(const tiled *tiles, const strip *part, const stage *from)
{
    const i64 all = (part->end - part->row - 1) * tiles->wide + tiles->columns.count;
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
        .to = {(char *)from->sums, (char *)(from->sums + CHUNK * part->width)},
        .to_row = 4 * part->width,
    };
    const i32 plain = !may_use_unit() || (tiles->mixed && !from->is_finite);
    for (i64 k = 0; k < all; k += MOST_TILED_ROWS) {
        const i64 rows = at_most(MOST_TILED_ROWS, all - k);
        of.x[0] = from->numbers + k * of.row, of.x[1] = of.x[0] + CHUNK * of.row;
        if (rows != of.rows && !plain) configure_pairs(rows, of.chunk);
        of.rows = rows;
        if (plain) multiply_pairs_by_vectors(&of);
        else multiply_pairs_by_tiles(&of);
        store_positions(tiles, part, k, k + rows, from->sums);
    }
    if (!plain) RELEASE_TILES();
}

static void sum_strip_by_tiles(const direct *work, const strip *part, i64 image, i64 group, i64 number)
{
    tiled *tiles = work->tiles;
    const i64 slot = claim_slot(&tiles->free);
    stage *own = tiles->stages + slot;
    if (own->image != image || own->group != group || own->number != number) {
        fill_stage(tiles, part, image, own);
        own->image = image, own->group = group, own->number = number;
    }
    multiply_stage(tiles, part, own);
    __atomic_fetch_or(&tiles->free, 1ull << slot, __ATOMIC_RELEASE);
}

/* Bytes of a chunk of channels in the copy of x for a strip. */
static i64 chunk_bytes(const tiled *tiles)
{
    const i64 planes = tiles->rows.planes * (tiles->is_image ? 1 : tiles->columns.planes);
    return planes * across(&tiles->rows) * tiles->wide * tiles->step;
}

/* Choose what a tile sums. */
static void shape_tiles(direct *work, const ag_convolution *given, tiled *tiles)
{
    const ag_convolution *of = work->of;
    *tiles = (tiled){.work = work, .given = given, .is_image = of->tile_words == AG_IMAGE_WORDS};
    tiles->rows = axis_of(of, 0, work->rows), tiles->columns = axis_of(of, 1, work->columns);
    if (tiles->is_image) {
        const i64 words = 2 * of->kernel[1];
        tiles->deep = 1, tiles->chunk = words <= CHUNK ? words : CHUNK, tiles->step = 8 * of->stride[1];
        tiles->wide = work->columns - 1 + parts(of->kernel[1], of->stride[1]);
    } else {
        tiles->chunk = of->tile_words, tiles->deep = parts(of->channels, tiles->chunk), tiles->step = 4 * tiles->chunk;
        tiles->mixed = of->tile_words < CHUNK ? of->outputs : 0;
        tiles->wide = across(&tiles->columns);
    }
}

/* Choose rows of strips; allocate copies for all threads.  Return whether there was memory. */
static i32 prepare_tiles(direct *work, tiled *tiles)
{
    const ag_convolution *of = work->of;
    const i64 threads = at_most(work->rt->threads, SLOTS);
    const i64 least = threads > 1 ? parts(4 * threads, of->images * work->panels) : 1;
    const i64 strips = at_least(least, parts(tiles->deep * chunk_bytes(tiles), STAGE_BYTES));
    work->height = tiles->rows.count = parts(work->rows, at_most(work->rows, strips));
    tiles->each = chunk_bytes(tiles);
    const i64 chunks = stored_channels(of) * of->kernel[0] * of->kernel[1] / tiles->chunk;
    const i64 sums = MOST_TILED_ROWS * width_of(work) * 4, places = parts(chunks * 8, 64) * 64;
    const i64 bytes = parts(tiles->deep * tiles->each, 64) * 64;
    char *room = work->rt->alloc(places + threads * (bytes + sums));
    if (!room) return 0;
    tiles->places = (i64 *)room, room += places;
    find_chunks(tiles);
    for (i64 k = 0; k < threads; k++, room += bytes + sums)
        tiles->stages[k] = (stage){.numbers = room, .sums = (REAL *)(room + bytes), .image = -1};
    tiles->free = threads >= 64 ? ~0ull : (1ull << threads) - 1;
    return 1;
}

/* of: lengths and strides of x count words; given: numbers of 16 bits.  Return 0, or MEMORY (2). */
static i32 convolve_by_tiles(const ag_runtime *rt, const ag_convolution *of, const ag_convolution *given)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    direct work = lay_out(rt, of, joined, 0, 0);
    if (is_empty(of)) {
        follow_all(rt, &of->after, &work.after);
        return 0;
    }
    tiled tiles;
    work.flat = work.jumps = 0, work.rows = of->counts[0], work.columns = of->counts[1], work.by_strips = 1;
    work.tiles = &tiles;
    shape_tiles(&work, given, &tiles);
    if (!prepare_tiles(&work, &tiles)) return 2;
    run_strips(&work, products_of(&work));
    rt->release(tiles.places);
    return 0;
}
