"""C functions of the driver for convolutions: matrix products whose second operand lies in windows of an array.

Nothing is copied out of the windows but the panels that a product packs anyway: two tables say how far from the array's
first element each number lies, one by rows and one by columns.
"""

from __future__ import annotations

from ..ctext.helper import Helper


def _members(of: str) -> str:
    """Return the assignments of the first members of an ag_convolution, from a vector of numbers."""
    single = [f"{of}[{k}]" for k in range(12)]
    return ", ".join([*single, *(f"{{{of}[{k}], {of}[{k + 1}]}}" for k in range(12, 26, 2))])


_CONVOLVE = """\
/* {about}  after: NULL, or a
   kernel that reads y; where its arrays do not lie evenly it runs when all is done. */
static void {name}(const ag_runtime *rt, const ag_blas *t, const i64 *of, const void *x, const i64 *xs, const void *w,
                   {steps}const void *bias, const void *low, const void *high, {room}void *y, const ag_nest *after,
                   const i64 *lengths, void *const *data, const i64 *strides)
{{
    const i64 shape[] = {{of[0], of[3], of[24], of[25], of[4]}};
    i64 said[4];
    i32 together = after != 0;
    for (i32 l = 0; together && l < 5; l++) together = lengths[l] == shape[l];
    const i32 followed = t->convolve(rt, &(const ag_convolution){{
        of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8], of[9], of[10], of[11], {{of[12], of[13]}},
        {{of[14], of[15]}}, {{of[16], of[17]}}, {{of[18], of[19]}}, {{of[20], of[21]}}, {{of[22], of[23]}},
        {{of[24], of[25]}}, x, w, bias, low, high, {{xs[0], xs[1], xs[2], xs[3]}}, {given}, y, together ? after : 0,
        data, strides, 0, {stepped}
    }});
    if (after && !followed) rt->launch(rt, after, lengths, data, strides, said);
}}
"""

_CONVOLVE_PAIR = """\
/* Two convolutions on channels in blocks: `of` and `then` list the first members of ag_convolution.  room: for the
   result of the first one, which the second one reads. */
static void ag_convolve_pair(const ag_runtime *rt, const ag_blas *t, const i64 *of, const void *x, const i64 *xs,
                             const void *w, const void *bias, const void *low, const void *high, const i64 *then,
                             const void *v, const void *more, const void *least, const void *most, void *room, void *y,
                             const ag_nest *after, const i64 *lengths, void *const *data, const i64 *strides)
{
    const i64 row = of[25] * of[4], block = of[24] * row, shape[] = {then[0], then[3], then[24], then[25], then[4]};
    i64 said[4];
    i32 together = after != 0;
    for (i32 l = 0; together && l < 5; l++) together = lengths[l] == shape[l];
    const ag_convolution first = {
        MEMBERS(of), x, w, bias, low, high, {xs[0], xs[1], xs[2], xs[3]}, 0, room, 0, 0, 0, 0, 0
    };
    const i32 followed = t->convolve(rt, &(const ag_convolution){
        MEMBERS(then), room, v, more, least, most, {of[3] * block, block, row, of[4]}, 0, y, together ? after : 0, data,
        strides, &first, 0
    });
    if (after && !followed) rt->launch(rt, after, lengths, data, strides, said);
}
""".replace("MEMBERS(of)", _members("of")).replace("MEMBERS(then)", _members("then"))

WINDOWS = (
    Helper("ag_offsets", """\
/* The distances of all places along some axes from the first, the last axis fastest; NULL if there is no memory. */
static i64 *ag_offsets(const ag_runtime *rt, i32 rank, const i64 *n, const i64 *step, i64 count)
{
    i64 *const all = ag_take(rt, 8, rank, n), known = 1;
    if (!all || count == 0) return all;
    all[0] = 0;
    for (i32 axis = rank - 1; axis >= 0; axis--) {
        for (i64 i = 1; i < n[axis]; i++)
            for (i64 k = 0; k < known; k++) all[i * known + k] = all[k] + i * step[axis];
        known *= n[axis];
    }
    return all;
}
"""),
    Helper("ag_even", """\
/* Whether all places along some axes, the last one fastest, are equally far from one to the next, and how far. */
static i32 ag_even(i32 rank, const i64 *n, const i64 *step, i64 *apart)
{
    i64 known = 1;
    *apart = 1;
    for (i32 axis = rank - 1; axis >= 0; axis--) {
        if (n[axis] == 1) continue;
        if (known == 1) *apart = step[axis];
        else if (step[axis] != known * *apart) return 0;
        known *= n[axis];
    }
    return 1;
}
"""),
    Helper("ag_follows", """\
/* Whether a kernel runs along the images, outputs and positions of a convolution, these in one stride for each array:
   which then is that of its last loop. */
static i32 ag_follows(const ag_nest *after, const i64 *batch, i64 m, i32 axes, const i64 *positions,
                      const i64 *lengths, const i64 *strides, i64 *joined)
{
    i32 together = after && lengths[0] == batch[0] && lengths[1] == batch[1] * m;
    for (i32 l = 0; together && l < axes; l++) together = lengths[2 + l] == positions[l];
    for (i32 k = 0; together && k < after->arrays; k++, strides += 2 + axes, joined += 2 + axes) {
        for (i32 l = 0; l < 2 + axes; l++) joined[l] = strides[l];
        together = ag_even(axes, positions, strides + 2, joined + 1 + axes);
    }
    return together;
}
"""),
    Helper("ag_multiply_windows", """\
/* c[..., m, columns] = a[..., m, rows] @ windows of b, over `rank` leading axes: the rows of what b is seen as are the
   places along some axes, its columns those along others.  Where both are evenly apart no tables are needed.  after:
   NULL, or a kernel that reads c, along images, outputs and positions.  0, or MEMORY (2). */
static i32 ag_multiply_windows(const ag_runtime *rt, const ag_blas *t, i32 rank, const i64 *batch, i64 m,
                               const void *one, const void *a, const i64 *as, const void *b, const i64 *bs,
                               i32 row_rank, const i64 *row_lengths, const i64 *row_steps, i32 column_rank,
                               const i64 *column_lengths, const i64 *column_steps, const void *zero, void *c,
                               const ag_nest *after, const i64 *lengths, void *const *data, const i64 *strides)
{
    i64 k = 1, n = 1, *rows = 0, *columns = 0, right[] = {bs[0], bs[1], 0, 0}, said[4];
    i64 joined[AG_MOST_ARRAYS * 5];
    const i32 is_even = ag_even(row_rank, row_lengths, row_steps, right + rank)
                     && ag_even(column_rank, column_lengths, column_steps, right + rank + 1);
    i32 together = ag_follows(after, batch, m, column_rank, column_lengths, lengths, strides, joined);
    for (i32 axis = 0; axis < row_rank; axis++) k *= row_lengths[axis];
    for (i32 axis = 0; axis < column_rank; axis++) n *= column_lengths[axis];
    together = together && n >= 32; /* else the calls take longer than their work */
    if (!is_even) {
        rows = ag_offsets(rt, row_rank, row_lengths, row_steps, k);
        columns = ag_offsets(rt, column_rank, column_lengths, column_steps, n);
    }
    const i32 failed = is_even || (rows && columns) ? 0 : 2;
    if (!failed) {
        t->product(rt, &(const ag_product){
            rank, batch, m, n, k, one, a, as, b, right, zero, c, n, together ? after : 0, data, joined, rank == 2,
            rows, columns, 0
        });
        if (after && !together) rt->launch(rt, after, lengths, data, strides, said);
    }
    rt->release(rows);
    rt->release(columns);
    return failed;
}
"""),
    Helper("ag_convolve_blocks", _CONVOLVE.format(
        name="ag_convolve_blocks", room="", given="0", steps="", stepped="0",
        about="A convolution on channels in blocks (see ag_convolution, whose first members `of` lists)."
    )),
    Helper("ag_convolve_pair", _CONVOLVE_PAIR),
    Helper("ag_convolve_packing", _CONVOLVE.format(
        name="ag_convolve_packing", room="void *room, ", given="room", steps="const i64 *ws, ", stepped="ws",
        about="A convolution on channels in blocks by kernels with strides ws.  room: for these as they are read."
    )),
    Helper("ag_convolve_gradient", """\
/* The gradient of the kernels of a convolution in blocks: `of` lists the first members of ag_kernel_gradient. */
static void ag_convolve_gradient(const ag_runtime *rt, const ag_blas *t, const i64 *of, const void *x, const i64 *xs,
                                 const void *g, void *room, void *y)
{
    t->kernel_gradient(rt, &(const ag_kernel_gradient){
        of[0], of[1], of[2], of[3], of[4], of[5], of[6], {of[7], of[8]}, {of[9], of[10]}, {of[11], of[12]},
        {of[13], of[14]}, {of[15], of[16]}, {of[17], of[18]}, x, g, {xs[0], xs[1], xs[2], xs[3]}, room, y
    });
}
"""),
    Helper("ag_convolve_tiles", _CONVOLVE.format(
        name="ag_convolve_tiles", room="void *room, ", given="room", steps="", stepped="0",
        about="A convolution on channels in blocks by Winograd's algorithm.  room: for the tiles of x."
    )),
)  # fmt: skip
