/* Dense weights in panels of two vectors of outputs, as tiles read them.

   ops/networks/weights.py lays them: equal blocks of at most DEPTH along the sum, in each of them panels, and in a panel for
   each number along the sum its outputs; the last panel is one vector wide if that suffices. */
#define LOADED (ROWS * DEPTH)
#include "../../products/panels.c"
#include "../packed.c"

enum { NEAR_PANELS = 2048 / sizeof(REAL) / COLUMNS }; /* panels of a block that stay in the level 2 cache */
enum { REUSED_PANELS = 4 };                           /* panels for which rows are packed, if they are not contiguous */

/* Whether the rows of x are packed for the panels of a task. */
static i32 packs_rows(const packed_work *work)
{
    return work->share > REUSED_PANELS && (COLUMN_VECTORS || work->of->x_strides[1] != 1);
}

INLINE i64 depth_of(const packed_work *work, i64 part)
{
    return at_most(work->depth, work->of->depth - part * work->depth);
}

/* The rows of x in a part of the sum. */
INLINE const REAL *part_of(const packed_tile *at)
{
    return row_of(at->work->of, at->row) + at->part * at->work->depth * at->work->of->x_strides[1];
}

static void load_rows(const packed_tile *at, REAL *loaded)
{
    const i64 *strides = at->work->of->x_strides;
    if (packs_rows(at->work))
        pack_rows(at->rows, depth_of(at->work, at->part), part_of(at), strides[0], strides[1], loaded);
}

static void multiply_panel(const packed_tile *at)
{
    const packed_work *work = at->work;
    const ag_packed_product *of = work->of;
    const i64 k = depth_of(work, at->part), output = at->panel * COLUMNS;
    const i64 count = at_most(COLUMNS, of->outputs - output), width = panel_width(count);
    const REAL *panel = (const REAL *)of->w + at->part * work->depth * (parts(of->outputs, LANES) * LANES) + output * k;
    const left_panel left = packs_rows(work) ? packed_rows(at->loaded)
                                             : unpacked_rows(at->rows, part_of(at), of->x_strides[0], of->x_strides[1]);
    const target to = {1, at->part ? 1 : 0, at->to, at->step, at->rows, width, 0};
    for (i64 r = 0; at->part && r < at->rows; r++)
        for (i64 v = 0; v < width; v += LANES) __builtin_prefetch(at->to + r * at->step + v, 1);
    (width == LANES        ? multiply_one
     : at->rows > ROWS / 2 ? multiply_two
     : at->rows == 1       ? multiply_row
                           : multiply_half)(k, &left, panel, width, &to);
}

static i64 rows_of_panel(i64 left) { return at_most(left, ROWS); }

/* Equal blocks along the sum. */
static i32 prepare_panels(packed_work *work)
{
    work->depth = parts(work->of->depth, at_least(1, parts(work->of->depth, DEPTH)));
    return 0;
}

PACKED_FORMAT(.width = COLUMNS, .most_rows = ROWS, .wide = NEAR_PANELS, .is_square = 1, .alone = 1 << 22,
              .rows = rows_of_panel, .prepare = prepare_panels, .load = load_rows, .tile = multiply_panel)
