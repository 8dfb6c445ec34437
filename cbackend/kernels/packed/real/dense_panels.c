/* Dense weights in panels of VECTORS_OF_PANEL vectors of outputs, as tiles read them.

   ops/networks/weights.py lays them: equal blocks of at most DEPTH along the sum, in each of them panels, and in a panel for
   each number along the sum its outputs; the last panel has the least vectors that suffice. */
#define LOADED (PACKED_ROWS * DEPTH)
#if defined(__AVX512F__)
#define VECTORS_OF_PANEL 4
#endif
#include "../../products/panels.c"
#include "../packed.c"

enum { NEAR_BYTES = 448 << 10 }; /* panels of a task: two tasks' stay in the level 2 cache */
enum { FEW_LINES = 8 };          /* cache lines that a tile prefetches before it begins */
enum { REUSED_PANELS = 4 };      /* panels for which rows are packed, if they are not contiguous */

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

/* Panel number `panel` in a part of the sum. */
INLINE const REAL *panel_of(const packed_work *work, i64 part, i64 panel)
{
    return (const REAL *)work->of->w + part * work->depth * (parts(work->of->outputs, LANES) * LANES)
           + panel * COLUMNS * depth_of(work, part);
}

/* Plan the weights that the tiles of a strip prefetch: the next panel while the first rows meet the first weights of a
   product, later a share of the weights that follow those of the task.  Tiles that read weights from memory wait longer
   than they compute. */
static void look_ahead(packed_tile *at)
{
    const packed_work *work = at->work;
    const i64 end = at_most(at->first + work->share, work->panels), k = depth_of(work, at->part);
    const i32 is_first = at->first == 0 && at->part == 0 && at->strip == 0, is_last = at->part + 1 == work->parts;
    i64 lines = k * COLUMNS * (i64)sizeof(REAL) / LINE_BYTES;
    const REAL *from;
    if (is_first) from = panel_of(work, 0, 1);
    else if (!is_last) from = panel_of(work, at->part + 1, at->first);
    else if (end < work->panels) from = panel_of(work, 0, end);
    else return;
    if (!is_first) lines = parts(lines, at->strips);
    at->ahead_bytes = lines * LINE_BYTES, at->ahead_lines = parts(lines * STEPS, at_least(1, k));
    at->ahead = (const char *)from + at->strip * (end - at->first) * at->ahead_bytes;
}

static void load_rows(packed_tile *at, REAL *loaded)
{
    const i64 *strides = at->work->of->x_strides;
    if (STEPS > 1) look_ahead(at);
    if (packs_rows(at->work))
        pack_rows(at->rows, depth_of(at->work, at->part), part_of(at), strides[0], strides[1], loaded);
}

#if VECTORS_OF_PANEL > 2
KERNEL multiply_two(i64 k, const left_panel *a, const REAL *b, i64 b_step, const target *to)
{
    multiply_tile(ROWS, 2, k, a, b, b_step, to);
}

KERNEL multiply_three(i64 k, const left_panel *a, const REAL *b, i64 b_step, const target *to)
{
    multiply_tile(ROWS, 3, k, a, b, b_step, to);
}
#endif

/* Tiles by the vectors of a panel that has not all of them. */
static void (*const last_tiles[])(i64, const left_panel *, const REAL *, i64, const target *) = {
    multiply_one,
#if VECTORS_OF_PANEL > 2
    multiply_two,
    multiply_three,
#endif
};

static void multiply_panel(const packed_tile *at)
{
    const packed_work *work = at->work;
    const ag_packed_product *of = work->of;
    const i64 k = depth_of(work, at->part), output = at->panel * COLUMNS;
    const i64 count = at_most(COLUMNS, of->outputs - output), width = panel_width(count);
    const REAL *panel = panel_of(work, at->part, at->panel);
    const left_panel left = packs_rows(work) ? packed_rows(at->loaded)
                                             : unpacked_rows(at->rows, part_of(at), of->x_strides[0], of->x_strides[1]);
    const target to = {1, at->part ? 1 : 0, at->to, at->step, at->rows, width, 0};
    for (i64 r = 0; at->part && r < at->rows; r++)
        for (i64 v = 0; v < width; v += LANES) __builtin_prefetch(at->to + r * at->step + v, 1);
    const char *from = at->ahead + (at->panel - at->first) * at->ahead_bytes;
    if (at->ahead_bytes <= FEW_LINES * LINE_BYTES)
        for (i64 byte = 0; byte < at->ahead_bytes; byte += LINE_BYTES) __builtin_prefetch(from + byte, 0, 2);
    else if (at->rows > ROWS / 2 && width == COLUMNS) {
        const lookahead ahead = {from, from + at->ahead_bytes, at->ahead_lines};
        multiply_ahead(k, &left, panel, width, &to, &ahead);
        return;
    }
    (width < COLUMNS       ? last_tiles[width / LANES - 1]
     : at->rows > ROWS / 2 ? multiply_full
     : at->rows == 1       ? multiply_row
                           : multiply_half)(k, &left, panel, width, &to);
}

static i64 rows_of_panel(i64 left) { return at_most(left, ROWS); }

/* Equal blocks along the sum; panels of a task. */
static i32 prepare_panels(packed_work *work)
{
    work->depth = parts(work->of->depth, at_least(1, parts(work->of->depth, DEPTH)));
    work->wide = at_least(1, NEAR_BYTES / (COLUMNS * (i64)sizeof(REAL)) / at_least(1, work->depth));
    return 0;
}

PACKED_FORMAT(.width = COLUMNS, .most_rows = ROWS, .is_square = 1, .alone = 1 << 22, .rows = rows_of_panel,
              .prepare = prepare_panels, .load = load_rows, .tile = multiply_panel)
