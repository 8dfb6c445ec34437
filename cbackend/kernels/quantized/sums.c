/* Calls of sums of bytes: the work is cut into tasks, a task computes rows of tiles. */
#pragma once
#include "registers.c"
#include "grids.c"

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
    const i64 positions = of->kernel[0] * of->kernel[1];
    const byte *x = (const byte *)of->x + image * of->x_strides[0] + (of->own ? block * of->x_strides[1] : 0);
    const byte *w = (const byte *)of->w + block * of->out_block * positions * (of->own ? 1 : weights_deep(of));
    byte_tile at = {.image = image, .step = of->stride[1] * of->x_strides[3], .width = blocks * of->out_block};
    byte_finish *const finish = finish_of(of);
    const i64 most = of->own ? TILE_COLUMNS : FEW_COLUMNS
    , tiles = parts(count, most);
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
            finish(work, outputs, row * work->columns + column - waiting, waiting, vectors, sums);
            waiting = 0;
        }
    }
}

static void byte_task(void *context, i64 index)
{
    const byte_work *work = context;
    const i64 inner = work->by_strips ? work->panels : work->strips,
              outer = work->by_strips ? work->strips : work->panels;
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
    work.total = work.rows * work.columns, work.flipped = (is_flipped(of) ? (i32)0x80808080 : 0) - (vector){0};
    work.zero = (i32)of->zero - (vector){0}, work.more_flipped = (of->more_kind == AG_SIGNED ? 0x80 : 0) - (vector){0};
    work.low = (float)(of->low - of->zero) - (floats){0}, work.high = (float)(of->high - of->zero) - (floats){0};
    work.is_narrow = find_narrow(of);
    __builtin_memset(work.around, (int)of->around, sizeof work.around);
    work.adds_nothing = ((of->around ^ (is_flipped(of) ? 0x80 : 0)) & 255) == 0;
    if (of->kernel[0] * of->kernel[1] == 1 && of->stride[0] * of->stride[1] == 1 && !of->before[0] && !of->before[1]
        && of->x_strides[2] == of->lengths[1] * of->x_strides[3] && of->counts[0] == of->lengths[0]
        && of->counts[1] == of->lengths[1])
        work.flat = 1;
    const i64 reach = (of->kernel[1] - 1) * of->dilation[1], beyond = of->lengths[1] - reach + of->before[1];
    work.left = work.flat ? 0 : parts(of->before[1], of->stride[1]);
    work.right = work.flat ? work.total : beyond <= 0 ? 0 : parts(beyond, of->stride[1]);
    work.panels = of->own ? of->blocks : even_panels(of->blocks, of->panel);
    const double depth = (double)(of->kernel[0] * of->kernel[1] * (of->own ? 4 : of->in_blocks * of->block));
    const double all = (double)of->images * (double)(of->blocks * of->out_block) * (double)work.total * (depth + 16);
    if (work.flat) {
        const i64 beside = of->images * work.panels, rows = parts(work.total, SEGMENT);
        const i64 even = parts(rows, rt->threads) * rt->threads;
        work.columns = parts(work.total, beside < rt->threads && all > TASK / 8 ? even : rows);
        work.rows = parts(work.total, work.columns);
    }
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
    if (sum_by_grids(rt, &work, is_long)) return;
    if (rt->threads > 1 && count > 1) rt->parallel(rt, count, byte_task, &work);
    else
        for (i64 k = 0; k < count && !(is_long && rt->stopped()); k++) byte_task(&work, k);
}
