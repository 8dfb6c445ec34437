/* Convolutions in blocks of channels: each number of x is multiplied by a row of weights that is as wide as the outputs
   of a panel, and nothing is packed or copied in a call.

   x is images, blocks, rows, columns, and `block` channels side by side; y is images, blocks of LANES outputs (or a
   multiple), rows, columns, outputs side by side.  Weights lie in the order in which they are read:

       for each panel of outputs, for each block of channels, row and column of the kernel, channel:  its outputs

   Georganas et al., "Anatomy of High-Performance Deep Learning Convolutions on SIMD Architectures" (2018).  A tile is
   some columns of y by the outputs of a panel, held in registers.  Each number of y is the sum over blocks, rows, columns,
   channels, in this order, wherever it stands: so tiles, tasks and threads do not change its bits. */

#if !COMPLEX
#if defined(__AVX512F__)
enum { TILE_VECTORS = 4 };
#else
enum { TILE_VECTORS = 2 };
#endif
enum { TILE_COLUMNS = 8, TILE_SUMS = TILE_VECTORS == 4 ? 24 : 12 }; /* the most columns; vectors of sums */
enum { WEIGHTS_NEAR = 1 << 17, SEGMENT = 96 }; /* bytes of weights for which a strip is read; columns of a row of 1 x 1 */
/* Columns that are worth a task, since weights are read for each; bytes of y that what follows finds in the cache. */
enum { STRIP = 48, STRIP_BYTES = 1 << 16 };
enum { EVEN = 16 }; /* so few panels are an even number, for two threads; ops/blocked.py lays weights in the same way */

/* The sums that a task computes: rows [row, end) of panel number `panel` of one image. */
typedef struct strip {
    const ag_convolution *of;
    const REAL *x, *w, *bias;
    REAL *y;
    i64 row, end, width; /* width: of the panel */
    i64 first, last;     /* blocks of channels that are added now */
    const char *ahead;   /* weights of the blocks that are added next: lines of memory are asked for ... */
    i64 lines;           /* ... so many at each position of a kernel */
} strip;

/* A tile: `columns` columns of a row, and the vectors of a panel from one on. */
typedef struct tile_place {
    const REAL *x, *w, *zeros;
    i64 column, step;      /* of x: the first one's window begins there; from one window to the next */
    i64 top, bottom;       /* rows of the kernel that lie within x */
    i64 first, last, width;
    const char *ahead;     /* see strip */
    i64 lines;
    i32 is_last;           /* nothing more is added */
    i32 inside;            /* no window reaches over the left or right border */
} tile_place;

/* What a convolution is beside its arrays, found once. */
typedef struct direct {
    const ag_runtime *rt;
    const ag_convolution *of;
    i64 panels, groups, strips; /* groups: of panels, each a task */
    i64 rows, columns, total, height; /* rows of `columns` of `total` columns; height: rows of a strip */
    i64 spacing, position; /* numbers from one column of x to the next; numbers of x for a position of the kernel */
    i32 flat;              /* kernels of one position: rows of y are segments of all its columns */
    i32 together;          /* what follows runs on strips */
    const i64 *joined;
} direct;

static const REAL no_numbers[4 * 64] __attribute__((aligned(64)));

INLINE i64 panel_blocks(const ag_convolution *of, i64 panels, i64 panel)
{
    return of->blocks / panels + (panel < of->blocks % panels);
}

/* The numbers of x that the columns of a tile meet at one position of the kernel: zeros beyond the border. */
INLINE void find_columns(const int columns, const ag_convolution *of, const tile_place *at, i64 offset, i64 shift,
                         const REAL **from)
{
    if (at->inside) {
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) from[p] = at->x + offset + p * at->step;
        return;
    }
#pragma GCC unroll 8
    for (int p = 0; p < columns; p++) {
        const i64 column = at->column + shift + p * of->stride[1];
        from[p] = column >= 0 && column < of->lengths[1] ? at->x + offset + p * at->step : at->zeros;
    }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", \
                     "no-tree-vrp", "no-schedule-insns2")
#endif

/* sums += each column's numbers of x times the rows of weights. */
INLINE void sum_columns(const int columns, const int vectors, const ag_convolution *of, const tile_place *at,
                        vector sums[][TILE_VECTORS])
{
    /* Where channels are apart the numbers beside each other are those of a row of the kernel. */
    const i32 by_rows = of->block == 1 && at->inside && of->dilation[1] == 1 && of->x_strides[3] == 1;
    const i64 rows = of->kernel[0], positions = by_rows ? 1 : of->kernel[1];
    const char *ahead = at->ahead;
    for (i64 b = at->first; b < at->last; b++) {
        const i64 deep = at_most(of->block, of->channels - b * of->block), channels = by_rows ? of->kernel[1] : deep;
        const REAL *w = at->w + (b * of->block * rows + at->top * deep) * of->kernel[1] * at->width;
        for (i64 i = at->top; i < at->bottom; i++)
            for (i64 j = 0; j < positions; j++) {
                const REAL *from[TILE_COLUMNS];
                const i64 shift = j * of->dilation[1];
                find_columns(columns, of, at, b * of->x_strides[1] + i * of->dilation[0] * of->x_strides[2]
                             + shift * of->x_strides[3], shift, from);
                if (at->lines)
                    for (i64 line = 0; line < at->lines; line++, ahead += LINE_BYTES) __builtin_prefetch(ahead, 0, 2);
#pragma GCC unroll 1
                for (i64 c = 0; c < channels; c++, w += at->width) {
                    vector right[TILE_VECTORS];
#pragma GCC unroll 4
                    for (int v = 0; v < vectors; v++) {
                        right[v] = *(const unaligned *)(w + v * LANES);
                        KEEP(right[v]);
                    }
#pragma GCC unroll 8
                    for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
                        for (int v = 0; v < vectors; v++) sums[p][v] += from[p][c] * right[v];
                }
            }
    }
}

/* sums += x times weights, channel by channel, for columns whose windows lie within x but for columns [left, right) of the
   kernel.  Without pointers that are kept: there are too few registers. */
INLINE void sum_own(const int columns, const ag_convolution *of, const tile_place *at, vector sums[][TILE_VECTORS])
{
    const i64 dilation = of->dilation[1], positions = of->kernel[1];
    i64 left = 0, right = positions;
    if (!at->inside) {
        left = at->column < 0 ? at_most(parts(-at->column, dilation), positions) : 0;
        right = at_most(positions, at_least(left, parts(of->lengths[1] - at->column, dilation)));
    }
    const i64 next_row = of->dilation[0] * of->x_strides[2], next = dilation * of->x_strides[3], step = at->step;
    for (i64 i = at->top; i < at->bottom; i++) {
        const REAL *from = at->x + i * next_row + left * next, *w = at->w + (i * positions + left) * at->width;
        for (i64 j = left; j < right; j++, from += next, w += at->width) {
            const vector factor = *(const unaligned *)w;
            const REAL *number = from;
#pragma GCC unroll 8
            for (int p = 0; p < columns; p++, number += step) sums[p][0] += *(const unaligned *)number * factor;
        }
    }
}

typedef __typeof__((vector){0} < (vector){0}) mask;
/* The numbers of a where the mask is set, else those of b. */
INLINE vector choose(mask set, vector a, vector b) { return (vector)((set & (mask)a) | (~set & (mask)b)); }

/* One tile of y, whose blocks are `apart` numbers apart and `block` wide. */
INLINE void sum_tile_of(const int columns, const int vectors, const int own, const ag_convolution *of,
                        const tile_place *at, const REAL *bias, REAL *y, i64 apart, i64 block)
{
    vector sums[TILE_COLUMNS][TILE_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        const REAL *row = y + v * LANES / block * apart + v * LANES % block;
        const vector start = at->first == 0 ? *(const unaligned *)(bias + v * LANES) : (vector){0};
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) sums[p][v] = at->first == 0 ? start : *(const unaligned *)(row + p * block);
    }
    if (own) sum_own(columns, of, at, sums);
    else sum_columns(columns, vectors, of, at, sums);
    if (at->is_last && of->low) {
        const vector low = *(const REAL *)of->low - (vector){0};
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sums[p][v] = choose(low > sums[p][v], low, sums[p][v]);
    }
    if (at->is_last && of->high) {
        const vector high = *(const REAL *)of->high - (vector){0};
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sums[p][v] = choose(high < sums[p][v], high, sums[p][v]);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        REAL *row = y + v * LANES / block * apart + v * LANES % block;
#pragma GCC unroll 8
        for (int p = 0; p < columns; p++) *(unaligned *)(row + p * block) = sums[p][v];
    }
}

typedef void tile_function(const ag_convolution *, const tile_place *, const REAL *, REAL *, i64, i64);
#define TILE(columns, vectors, own) \
    KERNEL tile_##own##_##vectors##_##columns(const ag_convolution *of, const tile_place *at, const REAL *bias, REAL *y, \
                                              i64 apart, i64 block) \
    { \
        sum_tile_of(columns, vectors, own, of, at, bias, y, apart, block); \
    }
#define TILES(vectors, own) TILE(1, vectors, own) TILE(2, vectors, own) TILE(3, vectors, own) TILE(4, vectors, own) \
    TILE(5, vectors, own) TILE(6, vectors, own)
#define MORE_TILES(vectors, own) TILES(vectors, own) TILE(7, vectors, own) TILE(8, vectors, own)
#define NAMED(vectors, own) tile_##own##_##vectors##_1, tile_##own##_##vectors##_2, tile_##own##_##vectors##_3, \
    tile_##own##_##vectors##_4, tile_##own##_##vectors##_5, tile_##own##_##vectors##_6
#define MORE_NAMED(vectors, own) NAMED(vectors, own), tile_##own##_##vectors##_7, tile_##own##_##vectors##_8
MORE_TILES(1, 1)
MORE_TILES(1, 0)
#if defined(__AVX512F__)
MORE_TILES(2, 0)
MORE_TILES(3, 0)
TILES(4, 0)
#else
TILES(2, 0)
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

static tile_function *const own_tiles[] = {MORE_NAMED(1, 1)};
static tile_function *const tiles[TILE_VECTORS][TILE_COLUMNS] = {
    {MORE_NAMED(1, 0)},
#if defined(__AVX512F__)
    {MORE_NAMED(2, 0)},
    {MORE_NAMED(3, 0)},
    {NAMED(4, 0)},
#else
    {NAMED(2, 0)},
#endif
};

/* The same tile, number by number: for blocks that are no multiple of a vector. */
static void tile_by_numbers(const ag_convolution *of, const tile_place *at, i64 columns, i64 width, const REAL *bias,
                            REAL *y, i64 apart, i64 block)
{
    for (i64 p = 0; p < columns; p++)
        for (i64 o = 0; o < width; o++) {
            REAL *to = y + o / block * apart + p * block + o % block, sum = at->first == 0 ? bias[o] : *to;
            for (i64 b = at->first; b < at->last; b++) {
                const i64 channels = of->own ? 1 : at_most(of->block, of->channels - b * of->block);
                const REAL *w = at->w + (of->own ? 0 : b * of->block * of->kernel[0] * of->kernel[1] * at->width) + o;
                for (i64 i = at->top; i < at->bottom; i++)
                    for (i64 j = 0; j < of->kernel[1]; j++) {
                        const i64 shift = j * of->dilation[1], column = at->column + shift + p * of->stride[1];
                        if (!at->inside && (column < 0 || column >= of->lengths[1])) continue;
                        const REAL *from = at->x + (of->own ? o : b * of->x_strides[1])
                                         + i * of->dilation[0] * of->x_strides[2] + shift * of->x_strides[3]
                                         + p * at->step;
                        for (i64 c = 0; c < channels; c++)
                            sum += from[c] * w[((i * of->kernel[1] + j) * channels + c) * at->width];
                    }
            }
            if (at->is_last && of->low && *(const REAL *)of->low > sum) sum = *(const REAL *)of->low;
            if (at->is_last && of->high && *(const REAL *)of->high < sum) sum = *(const REAL *)of->high;
            *to = sum;
        }
}

/* Ask for the rows of x that the windows of the next row of y meet first: rows are too short for the processor to find
   out. */
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
    at.is_last = of->own || part->last * of->block >= of->channels;
    at.bottom = at_most(of->kernel[0], room <= 0 ? 0 : parts(room, of->dilation[0]));
    at.top = at_most(up, at.bottom), at.step = of->stride[1] * work->spacing;
    return at;
}

/* The first `count` columns of one row of y, for all outputs of a panel, in tiles of nearly equal length.  A channel's own
   kernel meets borders column by column. */
static void sum_row(const direct *work, strip *part, i64 row, i64 count)
{
    const ag_convolution *of = part->of;
    const i64 block = of->out_block, apart = work->total * block, left = work->flat ? row * work->columns : 0;
    const i64 start = work->flat ? 0 : row * of->stride[0] - of->before[0];
    const i32 by_numbers = block % LANES != 0;
    tile_place at = place_row(work, part, start);
    i64 inside, outside;
    find_inside(work, count, &inside, &outside);
    for (i64 v = 0, wide; v < part->width; v += wide) {
        const i64 vectors = of->own ? 1 : at_most(TILE_VECTORS, (part->width - v) / LANES);
        const i64 most = at_most(TILE_COLUMNS, TILE_SUMS / at_least(vectors, 1));
        wide = by_numbers ? part->width : vectors * LANES;
        for (i64 column = 0, columns; column < count; column += columns) {
            at.inside = column >= inside && column < outside;
            const i64 rest = (of->own && at.inside ? outside : count) - column;
            columns = of->own && !at.inside ? 1 : parts(rest, parts(rest, most));
            at.inside &= column + columns <= outside;
            at.column = (left + column) * of->stride[1] - of->before[1];
            at.x = part->x + start * of->x_strides[2] + at.column * work->spacing + (of->own ? v : 0);
            at.w = part->w + v, at.ahead = part->ahead, at.lines = part->lines;
            part->ahead += at.lines * LINE_BYTES * (at.last - at.first) * (at.bottom - at.top) * of->kernel[1];
            REAL *y = part->y + (row * work->columns + column) * block + v / block * apart + v % block;
            if (of->own) look_below(of, &at, columns);
            if (by_numbers) tile_by_numbers(of, &at, columns, wide, part->bias, y, apart, block);
            else (of->own ? own_tiles[columns - 1] : tiles[vectors - 1][columns - 1])(of, &at, part->bias + v, y, apart, block);
        }
    }
}

/* What follows, on the strip of each block. */
static void follow_strip(const direct *work, const strip *part, i64 image, i64 block, i64 blocks)
{
    const ag_convolution *of = part->of;
    const ag_nest *nest = of->after;
    if (!nest || !work->together) return;
    const i64 from = part->row * work->columns, to = at_most(part->end * work->columns, work->total);
    i64 lengths[] = {1, 1, 1, 1, (to - from) * of->out_block}, said[4];
    void *data[AG_MOST_ARRAYS];
    for (i64 b = block; b < block + blocks; b++) {
        for (i32 k = 0; k < nest->arrays; k++) {
            const i64 *strides = work->joined + 5 * k;
            data[k] = (char *)of->data[k]
                    + (image * strides[0] + b * strides[1] + from * of->out_block * strides[4]) * nest->items[k];
        }
        nest->part(nest, lengths, data, work->joined, said);
    }
}

/* Ask for the weights of the next blocks, or of the next panel behind the last ones, while those of these are read: for
   `blocks` blocks of `bytes`, as many lines at each position as spread them over the strip. */
static void look_ahead(const direct *work, strip *part, i64 bytes, i64 blocks)
{
    const i64 tiles = (part->end - part->row) * parts(work->columns, TILE_COLUMNS);
    const i64 times = tiles * (part->last - part->first) * part->of->kernel[0] * part->of->kernel[1];
    part->ahead = (const char *)part->w + bytes * part->last;
    part->lines = parts(bytes * blocks, LINE_BYTES * times);
}

/* One strip of a panel. */
static void convolve_strip(const direct *work, i64 image, i64 panel, i64 number)
{
    const ag_convolution *of = work->of;
    const i64 wide = of->blocks % work->panels, usual = of->blocks / work->panels;
    const i64 block = panel * usual + at_most(panel, wide), blocks = panel_blocks(of, work->panels, panel);
    const i64 positions = of->kernel[0] * of->kernel[1], weights = of->own ? positions : of->channels * positions;
    strip part = {.of = of, .row = number * work->height, .width = blocks * of->out_block};
    part.end = at_most(part.row + work->height, work->rows);
    part.x = (const REAL *)of->x + image * of->x_strides[0] + (of->own ? block * of->x_strides[1] : 0);
    part.w = (const REAL *)of->w + block * of->out_block * weights;
    part.bias = (const REAL *)of->bias + block * of->out_block;
    part.y = (REAL *)of->y + (image * of->blocks + block) * work->total * of->out_block;
    const i64 all = of->own ? 1 : parts(of->channels, of->block);
    const i64 near = WEIGHTS_NEAR / (i64)sizeof(REAL) / (positions * at_most(of->block, of->channels) * part.width);
    const i64 at_once = at_most(all, at_least(near, 1));
    for (part.first = 0; part.first < all; part.first = part.last) {
        part.last = at_most(part.first + at_once, all), part.lines = 0;
        const i32 more = part.last < all || (work->strips == 1 && panel + 1 < work->panels);
        if (more && !of->own) look_ahead(work, &part, of->block * positions * part.width * (i64)sizeof(REAL), at_once);
        for (i64 row = part.row; row < part.end; row++)
            sum_row(work, &part, row, at_most(work->columns, work->total - row * work->columns));
    }
    follow_strip(work, &part, image, block, blocks);
}

static void convolve_task(void *context, i64 index)
{
    const direct *work = context;
    const i64 number = index % work->strips, group = index / work->strips % work->groups;
    const i64 image = index / work->strips / work->groups, each = parts(work->panels, work->groups);
    for (i64 panel = group * each; panel < at_most((group + 1) * each, work->panels); panel++)
        convolve_strip(work, image, panel, number);
}

/* Whether each array of what follows lies evenly along rows, columns and outputs side by side: then one loop runs over
   a strip. */
static i32 follows_evenly(const ag_convolution *of, i64 columns, i64 *joined)
{
    const i64 *strides = of->strides;
    for (i32 k = 0; k < of->after->arrays; k++, strides += 5, joined += 5) {
        const i64 step = strides[4];
        if (strides[3] != step * of->out_block || strides[2] != step * of->out_block * columns) return 0;
        joined[0] = strides[0], joined[1] = strides[1], joined[2] = joined[3] = 0, joined[4] = step;
    }
    return 1;
}

/* A convolution, and what follows it if its arrays lie evenly; whether it has run. */
static i32 convolve(const ag_runtime *rt, const ag_convolution *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    direct work = {.rt = rt, .of = of, .rows = of->counts[0], .columns = of->counts[1], .joined = joined};
    work.total = work.rows * work.columns, work.spacing = of->x_strides[3];
    if (of->images <= 0 || work.total <= 0 || of->blocks <= 0) return 0;
    work.together = of->after && follows_evenly(of, work.columns, joined);
    if (of->kernel[0] * of->kernel[1] == 1 && of->stride[0] * of->stride[1] == 1
        && of->x_strides[2] == of->lengths[1] * of->x_strides[3] && !of->before[0] && !of->before[1]
        && of->counts[0] == of->lengths[0] && of->counts[1] == of->lengths[1])
        work.flat = 1, work.rows = parts(work.total, SEGMENT), work.rows += work.rows > 1 && work.rows % 2,
        work.columns = parts(work.total, work.rows), work.rows = parts(work.total, work.columns);
    const i64 most = of->own ? 1 : of->panel;
    work.panels = parts(of->blocks, most);
    if (!of->own && work.panels > 1 && work.panels < EVEN) work.panels += work.panels % 2;
    const double each = (double)of->images * (double)(of->blocks * of->out_block) * (double)work.total;
    const double all = each * (double)(of->kernel[0] * of->kernel[1] * (of->own ? 1 : of->channels) + STORED / 2);
    const i64 tasks = all < ALONE ? 1 : at_most((i64)(all / ALONE), 8 * rt->threads);
    const i64 bytes = work.total * parts(of->blocks, work.panels) * of->out_block * (i64)sizeof(REAL);
    i64 strips = at_least(parts(tasks, of->images * work.panels), bytes / STRIP_BYTES);
    strips = at_least(1, at_most(at_most(strips, work.rows), work.total / STRIP));
    work.height = parts(work.rows, strips), work.strips = parts(work.rows, work.height);
    const i64 enough = at_least(1, parts(4 * rt->threads, of->images)); /* a channel's own kernel takes little time */
    work.groups = of->own && work.strips == 1 ? at_most(work.panels, enough) : work.panels;
    if (all > LONG) rt->listen();
    const i64 count = of->images * work.groups * work.strips;
    if (rt->threads > 1 && all >= ALONE) rt->parallel(rt, count, convolve_task, &work);
    else
        for (i64 k = 0; k < count && !(all > LONG && k % 64 == 0 && rt->stopped()); k++) convolve_task(&work, k);
    return work.together;
}
#endif
