/* Products whose second operand lies in windows of an array: convolutions in the layout NCHW, and gradients of kernels.

   The rows of what b is seen as are places along some axes of it, its columns those along others.  Nothing is copied out of
   the windows but the panels that a product packs anyway: two tables have the distance of each row and of each column from
   the first element.  Places that are equally far from each other need no table.  Few kernels sum lines (lines.c). */
#pragma once
#include "lines.c"

enum { FEW_PLACES = 32 }; /* columns for which calls of the epilogue take longer than its work */

/* The distances of all places along some axes from the first, the last axis fastest; NULL if there is no memory. */
static i64 *find_offsets(const ag_runtime *rt, i32 rank, const i64 *lengths, const i64 *steps, i64 count)
{
    i64 *const all = rt->take(rt, sizeof(i64), rank, lengths), known = 1;
    if (!all || count == 0) return all;
    all[0] = 0;
    for (i32 axis = rank - 1; axis >= 0; axis--) {
        for (i64 i = 1; i < lengths[axis]; i++)
            for (i64 k = 0; k < known; k++) all[i * known + k] = all[k] + i * steps[axis];
        known *= lengths[axis];
    }
    return all;
}

/* Whether all places along some axes, the last one fastest, are equally far from one to the next, and how far. */
static i32 lie_evenly(i32 rank, const i64 *lengths, const i64 *steps, i64 *step)
{
    i64 known = 1;
    *step = 1;
    for (i32 axis = rank - 1; axis >= 0; axis--) {
        if (lengths[axis] == 1) continue;
        if (known == 1) *step = steps[axis];
        else if (steps[axis] != known * *step) return 0;
        known *= lengths[axis];
    }
    return 1;
}

/* Whether the epilogue runs along images, outputs and positions, and its arrays have one stride along all positions, that
   of the last of `joined`. */
static i32 follows_positions(const ag_window_product *of, i64 *joined)
{
    const ag_after *after = &of->after;
    const i64 *strides = after->strides;
    const i32 axes = of->column_rank;
    i32 together = after->nest && after->lengths[0] == of->batch[0] && after->lengths[1] == of->batch[1] * of->m;
    for (i32 l = 0; together && l < axes; l++) together = after->lengths[2 + l] == of->columns[l];
    for (i32 k = 0; together && k < after->nest->arrays; k++, strides += 2 + axes, joined += 2 + axes) {
        for (i32 l = 0; l < 2 + axes; l++) joined[l] = strides[l];
        together = lie_evenly(axes, of->columns, strides + 2, joined + 1 + axes);
    }
    return together;
}

/* 0, or MEMORY (2). */
static i32 multiply_windows(const ag_runtime *rt, const ag_window_product *of)
{
    const T one = 1, zero = 0;
    const ag_after *after = &of->after;
    i64 k = 1, n = 1, right[] = {of->b_strides[0], of->b_strides[1], 0, 0}, detail[4];
    i64 joined[AG_MOST_ARRAYS * 5];
    const i32 is_even = lie_evenly(of->row_rank, of->rows, of->row_steps, right + of->rank)
                        && lie_evenly(of->column_rank, of->columns, of->column_steps, right + of->rank + 1);
    i32 together = follows_positions(of, joined);
    for (i32 axis = 0; axis < of->row_rank; axis++) k *= of->rows[axis];
    for (i32 axis = 0; axis < of->column_rank; axis++) n *= of->columns[axis];
    together = together && n >= FEW_PLACES;
    batched_product product = {.rank = of->rank,
                               .batch = of->batch,
                               .m = of->m,
                               .n = n,
                               .k = k,
                               .alpha = &one,
                               .a = of->a,
                               .a_strides = of->a_strides,
                               .b = of->b,
                               .b_strides = right,
                               .beta = &zero,
                               .c = of->y,
                               .after = together ? after->nest : 0,
                               .data = after->data,
                               .strides = joined,
                               .grouped = of->rank == 2};
    const i32 by_lines = k > 0 && lies_along_lines(of, is_even, right[of->rank], n);
    const i32 outer = by_lines ? of->row_rank - 1 : of->row_rank;
    const i64 starts = by_lines ? k / of->rows[outer] : k;
    i64 *rows = 0, *columns = 0;
    if (by_lines ? starts > 1 : !is_even) rows = find_offsets(rt, outer, of->rows, of->row_steps, starts);
    if (!by_lines && !is_even) columns = find_offsets(rt, of->column_rank, of->columns, of->column_steps, n);
    const i32 failed = (by_lines ? starts == 1 || rows : is_even || (rows && columns)) ? 0 : 2;
    if (!failed) {
        product.b_rows = rows, product.b_columns = columns;
        if (by_lines) sum_windows_along_lines(rt, of, &product, rows, starts);
        else multiply_all(rt, &product);
        if (after->nest && !together) rt->launch(rt, after->nest, after->lengths, after->data, after->strides, detail);
    }
    rt->release(rows);
    rt->release(columns);
    return failed;
}
