/* Copies of x for tiles: a strip of rows, laid so that the windows of neighbouring positions begin equally far from each other.

       chunks of channels; remainders of a row of x by the stride, of a column by the stride; rows, columns, a cell

   A plane is one chunk, row remainder and column remainder; remainders that no window reads have none.  A cell holds the
   channels of a chunk at one position.  Cells beyond the borders of x are filled with one byte. */
#pragma once
#include "products/arithmetic.c"

/* How windows move along an axis of `length` positions; count: positions of y. */
typedef struct phase_axis {
    i64 kernel, stride, dilation, before, length, count;
} phase_axis;

typedef struct phases {
    phase_axis rows, columns;
    i64 separate;       /* remainders of columns that have planes of their own; 1: a row holds all columns */
    i64 chunks, row; /* row: bytes of a row of a plane */
    i64 plane, each; /* bytes of a plane, of a chunk */
    i64 tail;        /* bytes behind the last row of a plane */
    i32 filler;
} phases;

/* Whether a window reads positions with this remainder. */
static i32 reads_remainder(const phase_axis *of, i64 remainder)
{
    for (i64 k = 0; k < at_most(of->kernel, of->stride); k++)
        if (k * of->dilation % of->stride == remainder) return 1;
    return 0;
}

/* The number of remainders below this one that windows read. */
static i64 planes_below(const phase_axis *of, i64 remainder)
{
    i64 planes = 0;
    for (i64 r = 0; r < remainder; r++) planes += reads_remainder(of, r);
    return planes;
}

/* Positions of a plane beside those of y, as far as the last window reaches. */
INLINE i64 overhang(const phase_axis *of) { return (of->kernel - 1) * of->dilation / of->stride; }

INLINE i64 column_planes(const phases *of) { return of->separate > 1 ? planes_below(&of->columns, of->separate) : 1; }

/* Set the bytes of a plane of `count` rows, and of a chunk. */
INLINE void find_planes(phases *of, i64 count)
{
    of->plane = count * of->row + of->tail;
    of->each = of->plane * planes_below(&of->rows, of->rows.stride) * column_planes(of);
}

/* Where the number at row i and column j of a kernel lies behind a window's first one; cell: bytes of a cell. */
INLINE i64 place_in_planes(const phases *of, i64 i, i64 j, i64 cell)
{
    const i64 down = i * of->rows.dilation, right = j * of->columns.dilation;
    const i64 above = planes_below(&of->rows, down % of->rows.stride) * column_planes(of);
    const i64 left = of->separate > 1 ? planes_below(&of->columns, right % of->separate) : 0;
    return (above + left) * of->plane + down / of->rows.stride * of->row + right / of->separate * cell;
}

/* Cells [first, end) of `count` cells that lie within x: cell k is column `start` + k * step. */
INLINE void cells_within(i64 start, i64 step, i64 length, i64 count, i64 *first, i64 *end)
{
    *first = at_most(count, start < 0 ? parts(-start, step) : 0);
    *end = at_least(*first, at_most(count, parts(at_least(0, length - start), step)));
}

/* Fill a row of a plane from row `row` of x; its first cell is column `start`. */
typedef void fill_row(void *context, i64 chunk, i64 row, i64 start, char *to);

/* Fill all planes for `count` rows of windows from row `top` of y on. */
static void fill_planes(const phases *of, i64 top, i64 count, char *to, fill_row *fill, void *context)
{
    const i64 rows = count + overhang(&of->rows), stride = of->rows.stride;
    for (i64 chunk = 0; chunk < of->chunks; chunk++) {
        char *plane = to + chunk * of->each;
        for (i64 a = 0; a < stride; a++)
            for (i64 b = 0; b < of->separate && reads_remainder(&of->rows, a); b++) {
                if (of->separate > 1 && !reads_remainder(&of->columns, b)) continue;
                for (i64 r = 0; r < rows; r++) {
                    const i64 from = (top + r) * stride + a - of->rows.before;
                    char *const own = plane + r * of->row;
                    if (from < 0 || from >= of->rows.length)
                        __builtin_memset(own, of->filler, (unsigned long)of->row);
                    else fill(context, chunk, from, b - of->columns.before, own);
                }
                __builtin_memset(plane + rows * of->row, of->filler, (unsigned long)of->tail);
                plane += of->plane;
            }
    }
}
