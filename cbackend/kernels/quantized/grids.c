/* Convolutions of bytes by tiles of AMX.

   A product of tiles takes 64 channels of 16 positions that lie at equal distances.  So a task first copies its strip of x
   into a grid, laid as in phases.h: each place of the kernel is one offset in it for all windows.  Windows of neighbouring
   rows follow one another too: a block of 32 windows may begin in one row and end in the next, and the sums of positions
   beyond the end of a row are dropped.  With a stride of 1 the borders between two rows of the grid are shared.

   Images of few channels, a chunk in all, have kernels whose rows are one product each (`by_rows`), so a row of the grid
   holds all columns.  The rows of a matrix need no grid. */
#pragma once
#include "registers.c"
#include "tiles.c"

#if HAS_BYTE_TILES && defined(__AVX512BW__) && defined(__AVX512VNNI__)
#include "../phases.h"
enum { MOST_PLACES = 128 };                                 /* of a kernel */
enum { FEWEST_POSITIONS = 4 };                              /* that are worth the shapes of tiles */
enum { STRIP_BYTES = 1 << 16, MOST_STRIP_BYTES = 1 << 19 }; /* of the grid of a task */

typedef struct byte_grid {
    const byte_work *work;
    phases planes;
    i64 words, cell;    /* words: of a product of tiles; bytes of a cell */
    i64 step, distance; /* bytes from a window to the next, from a chunk to the next */
    i64 columns, pitch; /* cells of a row; windows from a row to the next */
    i64 places;
    i64 height, strips, groups; /* groups: of panels */
    i64 size;                   /* bytes of the grid of a task, 0: x needs none */
    i64 slots;
    i32 by_rows;
    byte *cells; /* NULL: x needs none */
    i32 place[MOST_PLACES];
} byte_grid;

/* The strip that a task copies. */
typedef struct grid_source {
    const byte_grid *grid;
    const byte *x; /* of the image */
} grid_source;

/* Fill a row of cells: see fill_row. */
static void fill_cells(void *context, i64 chunk, i64 row, i64 start, char *cells)
{
    const grid_source *source = context;
    const byte_grid *grid = source->grid;
    const ag_byte_sums *of = grid->work->of;
    const i64 many = grid->planes.separate, cell = grid->cell, step = of->x_strides[3] * many, block = of->block;
    const i64 blocks = block >= cell ? 1 : cell / block, channel = chunk * cell;
    i64 begin, end;
    cells_within(start, many, of->lengths[1], grid->columns, &begin, &end);
    __builtin_memset(cells, (int)of->around, (unsigned long)(begin * cell));
    __builtin_memset(cells + end * cell, (int)of->around, (unsigned long)((grid->columns - end) * cell));
    const byte *const x = source->x + row * of->x_strides[2] + (start + begin * many) * of->x_strides[3];
    byte *const to = (byte *)cells + begin * cell;
    const i64 count = end - begin;
    for (i64 k = 0; k < blocks; k++) {
        const i64 at = channel + k * block, number = at / block;
        const i64 size = at_most(at_most(cell, block), number < of->in_blocks ? block - at % block : 0);
        const byte *const from = x + number * of->x_strides[1] + at % block;
        byte *const own = to + k * block;
        if (size == LANES && block == LANES)
            for (i64 q = 0; q < count; q++)
                *(unaligned_bytes *)(own + q * cell) = *(const unaligned_bytes *)(from + q * step);
        else if (size == cell && step == cell) __builtin_memcpy(own, from, (unsigned long)(count * cell));
        else
            for (i64 q = 0; q < count; q++) {
                __builtin_memcpy(own + q * cell, from + q * step, (unsigned long)size);
                __builtin_memset(own + q * cell + size, 0, (unsigned long)(at_most(cell, block) - size));
            }
    }
}

/* Bytes of `columns` positions from number `at` on, from their sums: like narrow_tile. */
static void narrow_sums(const byte_work *work, const byte_column *of, i64 at, i64 columns, i64 vectors,
                        const vector *sums)
{
    const byte_ends ends = ends_of(work->of);
    for (i64 v = 0; v < vectors; v++, of++, sums++) {
        byte *const y = (byte *)work->of->y + of->place + at * LANES;
        const byte *const more = work->of->more ? (const byte *)work->of->more + of->place + at * LANES : 0;
        for (i64 p = 0; p < columns; p += NARROW_GROUP) {
            const i64 first = columns >= NARROW_GROUP ? at_most(p, columns - NARROW_GROUP) : 0;
            floats f[NARROW_GROUP];
#pragma GCC unroll 4
            for (int k = 0; k < NARROW_GROUP; k++) {
                const i64 place = at_most(first + k, columns - 1);
                f[k] = __builtin_convertvector(sums[place * vectors] + of->start, floats) * of->scale + of->bias;
                if (more) f[k] = with_more(work, f[k], more + place * LANES);
            }
            const vector found = in_order(narrowed(work, f, &ends));
            if (columns >= NARROW_GROUP) *(unaligned *)(y + first * LANES) = found;
            else __builtin_memcpy(y, &found, (unsigned long)(columns * LANES));
        }
    }
}

/* Finish a block of sums, windows [first, first + count) of a strip: those of each row apart. */
static void finish_block(const byte_grid *grid, const byte_column *outputs, i64 top, i64 first, i64 count, i64 vectors,
                         const vector *sums)
{
    const byte_work *work = grid->work;
    const ag_byte_sums *of = work->of;
    const i32 is_narrow = work->is_narrow && !(of->more && of->sum_scale == 0) && of->y_strides[2] == LANES;
    byte_finish *const finish = is_narrow ? narrow_sums : finish_of(of);
    const i64 columns = of->counts[1], pitch = grid->pitch;
    if (pitch == columns) {
        finish(work, outputs, top * columns + first, count, vectors, sums);
        return;
    }
    i64 row = first / pitch, column = first % pitch;
    for (i64 p = 0; p < count; p += pitch - column, column = 0, row++) {
        const i64 some = at_most(columns - column, count - p);
        if (some > 0) finish(work, outputs, (top + row) * columns + column, some, vectors, sums + p * vectors);
    }
}

/* The outputs of a panel for `rows` rows of windows, whose first one begins at x. */
static void sum_panel(const byte_grid *grid, const byte *x, i64 image, i64 top, i64 rows, i64 panel)
{
    const byte_work *work = grid->work;
    const ag_byte_sums *of = work->of;
    const i64 block = first_block(work, panel), width = first_block(work, panel + 1) - block;
    const i64 total = (rows - 1) * grid->pitch + of->counts[1],
              deep = grid->planes.chunks * grid->places * grid->words * 4;
    vector sums[BLOCK_ROWS * 2];
    i64 shaped = 0;
    for (i64 v = 0; v < width; v += 2) {
        const i64 vectors = at_most(2, width - v);
        const byte_tile at = {.image = image, .output = (block + v) * LANES};
        byte_column outputs[2];
        find_columns(work, &at, vectors, outputs);
        tile_block of_tiles = {.w = (const byte *)of->w + block * LANES * deep + v * VECTOR_BYTES,
                               .step = grid->step,
                               .width = width * VECTOR_BYTES,
                               .chunks = grid->planes.chunks,
                               .distance = grid->distance,
                               .places = grid->places,
                               .place = grid->place,
                               .words = grid->words,
                               .c = (i32 *)sums,
                               .row = vectors * VECTOR_BYTES,
                               .is_signed = of->is_signed != 0};
        for (i64 first = 0; first < total; first += BLOCK_ROWS) {
            const i64 count = at_most(BLOCK_ROWS, total - first);
            if (count != shaped) shape_tiles(shaped = count, grid->words);
            of_tiles.x = x + first * grid->step, of_tiles.is_new = first == 0;
            sum_block(&of_tiles, count, vectors);
            finish_block(grid, outputs, top, first, count, vectors, sums);
        }
    }
}

static void grid_task(void *context, i64 index)
{
    const byte_grid *grid = context;
    const byte_work *work = grid->work;
    const ag_byte_sums *of = work->of;
    const i64 group = index % grid->groups, strip = index / grid->groups % grid->strips;
    const i64 image = index / grid->groups / grid->strips, top = strip * grid->height;
    const i64 rows = at_most(grid->height, of->counts[0] - top);
    const byte *x = (const byte *)of->x + image * of->x_strides[0] + top * of->x_strides[2];
    if (grid->cells) {
        byte *const own = grid->cells + index % grid->slots * grid->size;
        grid_source from = {grid, (const byte *)of->x + image * of->x_strides[0]};
        fill_planes(&grid->planes, top, rows, (char *)own, fill_cells, &from);
        x = own;
    }
    const i64 end = begin_of(work->panels, grid->groups, group + 1);
    for (i64 panel = begin_of(work->panels, grid->groups, group); panel < end; panel++)
        sum_panel(grid, x, image, top, rows, panel);
    RELEASE_TILES();
}

/* Cut the rows of windows into strips, and panels into groups if strips alone do not occupy all threads. */
static void cut_grid(const ag_runtime *rt, byte_grid *grid)
{
    const ag_byte_sums *of = grid->work->of;
    const phases *const planes = &grid->planes;
    const i64 weights = of->outputs * planes->chunks * grid->places * grid->words * 4;
    const i64 row = planes->chunks * planes->rows.stride * planes->separate * planes->row;
    const i64 most = at_least(at_most(weights / 2, MOST_STRIP_BYTES), STRIP_BYTES);
    const double all = (double)weights * (double)(of->images * of->counts[0] * of->counts[1]);
    i64 height = at_least(at_least(1, 4 * overhang(&planes->rows)), most / at_least(1, row));
    height = at_most(height, of->counts[0]);
    grid->groups = 1;
    if (rt->threads > 1 && all > TASK) {
        const i64 beside = of->images * parts(of->counts[0], height);
        if (beside < rt->threads) grid->groups = at_most(grid->work->panels, parts(rt->threads, beside));
        else height = even_parts(of->counts[0], height, 1, of->images, rt->threads);
    }
    grid->height = height, grid->strips = parts(of->counts[0], height);
    grid->slots = rt->threads > 1 ? of->images * grid->strips * grid->groups : 1;
}

/* The layout of the grid; 0 if tiles do not serve. */
static i32 find_grid(const ag_runtime *rt, const byte_work *work, byte_grid *grid)
{
    const ag_byte_sums *of = work->of;
    const i64 deep = of->in_blocks * of->block, *const s = of->stride, *const d = of->dilation, left = of->before[1];
    if (!of->chunk || of->own || of->out_block != LANES || work->total < FEWEST_POSITIONS || !may_use_tiles()) return 0;
    *grid = (byte_grid){.work = work, .cell = of->chunk};
    phases *const planes = &grid->planes;
    planes->chunks = parts(deep, of->chunk), planes->filler = (i32)of->around;
    grid->by_rows = planes->chunks == 1 && of->in_blocks == 1 && d[1] == 1 && of->kernel[1] * grid->cell <= TILE_BYTES;
    const i64 positions = grid->by_rows ? 1 : of->kernel[1];
    grid->places = of->kernel[0] * positions;
    grid->words = (grid->by_rows ? of->kernel[1] : 1) * grid->cell / 4;
    if (grid->places > MOST_PLACES) return 0;
    if (work->flat && of->in_blocks == 1 && deep % of->chunk == 0) {
        grid->pitch = of->counts[1], grid->step = of->x_strides[3], grid->distance = of->chunk;
        planes->rows.kernel = planes->rows.stride = planes->separate = 1, planes->row = of->counts[1] * grid->cell;
        cut_grid(rt, grid);
        return 1;
    }
    planes->rows = (phase_axis){of->kernel[0], s[0], d[0], of->before[0], of->lengths[0], of->counts[0]};
    planes->columns = (phase_axis){of->kernel[1], s[1], d[1], left, of->lengths[1], of->counts[1]};
    planes->separate = grid->by_rows ? 1 : s[1];
    if (grid->by_rows) {
        grid->columns = parts((of->counts[1] - 1) * s[1] + of->kernel[1], s[1]) * s[1];
        grid->pitch = grid->columns / s[1], grid->step = s[1] * grid->cell;
    } else {
        const i64 more = overhang(&planes->columns), needed = of->counts[1] + more;
        const i64 right = at_least(0, needed - left - of->lengths[1]);
        const i64 shared = s[1] == 1 ? at_most(at_most(left, right), more) : 0;
        grid->columns = grid->pitch = needed - shared, grid->step = grid->cell, planes->tail = shared * grid->cell;
    }
    planes->row = grid->columns * grid->cell;
    cut_grid(rt, grid);
    find_planes(planes, grid->height + overhang(&planes->rows));
    grid->distance = planes->each, grid->size = planes->chunks * planes->each;
    for (i64 i = 0, k = 0; i < of->kernel[0]; i++)
        for (i64 j = 0; j < positions; j++) grid->place[k++] = (i32)place_in_planes(planes, i, j, grid->cell);
    grid->cells = rt->alloc(grid->slots * grid->size + TILE_BYTES);
    return grid->cells != 0;
}

/* Sum by tiles; 0 if they do not serve, and vectors do. */
static i32 sum_by_grids(const ag_runtime *rt, byte_work *work, i32 is_long)
{
    byte_grid grid;
    if (!find_grid(rt, work, &grid)) return 0;
    work->by_tiles = 1;
    const i64 count = work->of->images * grid.strips * grid.groups;
    if (rt->threads > 1 && count > 1) rt->parallel(rt, count, grid_task, &grid);
    else
        for (i64 k = 0; k < count && !(is_long && rt->stopped()); k++) grid_task(&grid, k);
    if (grid.cells) rt->release(grid.cells);
    return 1;
}
#else
#define sum_by_grids(rt, work, is_long) 0
#endif
