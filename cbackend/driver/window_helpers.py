"""C functions of the driver for convolutions: matrix products whose second operand lies in windows of an array.

Nothing is copied out of the windows but the panels that a product packs anyway: two tables say how far from the array's
first element each number lies, one by rows and one by columns.
"""

from __future__ import annotations

from ..ctext.helper import Helper

_PAIRS = ("lengths", "kernel", "stride", "dilation", "before", "counts")
_CONVOLUTION = ("images", "channels", "block", "blocks", "out_block", "panel", "kind", "groups", "outputs", "shuffle")
_TILED = ("images", "channels", "block", "blocks", "out_block", "panel", "tile")
_POOL = ("images", "blocks", "block", "kind")
_GRADIENT = ("images", "channels", "block", "blocks", "out_block", "outputs", "portions")
_SUMS = ("images", "channels", "block", "blocks", "before", "behind")


def _members(numbers: str, single: tuple[str, ...], pairs: tuple[str, ...] = _PAIRS) -> str:
    """Return the assignments of the first members of a struct, from a vector of numbers."""
    first = [f".{name} = {numbers}[{k}]" for k, name in enumerate(single)]
    at = len(single)
    return ", ".join(
        [*first, *(f".{n} = {{{numbers}[{at + 2 * k}], {numbers}[{at + 2 * k + 1}]}}" for k, n in enumerate(pairs))]
    )


def _shape(numbers: str, single: tuple[str, ...], pairs: tuple[str, ...], positions: str) -> str:
    """Return the lengths of the result."""
    width = single.index("out_block" if "out_block" in single else "block")
    at = len(single) + 2 * pairs.index(positions)
    names = (single.index("images"), single.index("blocks"), at, at + 1, width)
    return ", ".join(f"{numbers}[{k}]" for k in names)


def _call(
    name: str, about: str, kind: str, single: tuple[str, ...], pairs: tuple[str, ...] = _PAIRS,
    weights: bool = True, bounds: bool = True, steps: bool = False, room: bool = False,
) -> Helper:  # fmt: skip
    """Return the function that calls a kernel on channels in blocks, and then what reads its result."""
    struct, entry = kind.split()
    given = ["const void *x, const i64 *xs"]
    given += ["const void *w"] * weights + ["const i64 *ws"] * steps + ["const void *bias"] * weights
    given += ["const void *low, const void *high"] * bounds + ["void *room"] * room
    fields = [".x = x, .x_strides = {xs[0], xs[1], xs[2], xs[3]}"]
    fields += [".w = w, .bias = bias"] * weights + [".w_strides = ws"] * steps
    fields += [".low = low, .high = high"] * bounds + [".room = room"] * room
    shape = _shape("of", single, pairs, "counts" if "counts" in pairs else "lengths")
    return Helper(
        name,
        f"""\
/* {about}  `of` lists the first members of {struct}.  after: NULL, or a
   kernel that reads y; where its arrays do not lie evenly it runs when all is done. */
static void {name}(const ag_runtime *rt, const ag_blas *t, const i64 *of, {", ".join(given)},
                   void *y, const ag_nest *after, const i64 *lengths, void *const *data, const i64 *strides)
{{
    const i64 shape[] = {{{shape}}};
    i64 said[4];
    i32 together = after != 0;
    for (i32 l = 0; together && l < 5; l++) together = lengths[l] == shape[l];
    const i32 followed = t->{entry}(rt, &(const {struct}){{
        {_members("of", single, pairs)},
        {", ".join(fields)}, .y = y, .after = together ? after : 0, .data = data, .strides = strides
    }});
    if (after && !followed) rt->launch(rt, after, lengths, data, strides, said);
}}
""",
    )


def _pair(name: str, about: str, kind: str, single: tuple[str, ...], weights: bool) -> Helper:
    """Return the function that calls a convolution and the kernel `kind` that reads its result."""
    struct, entry = kind.split()
    given, fields = ("const void *v, const void *more, ", ".w = v, .bias = more, ") if weights else ("", "")
    return Helper(
        name,
        f"""\
/* {about}  `of` and `then` list the first members of ag_convolution and {struct}.  room: for the
   result of the convolution. */
static void {name}(const ag_runtime *rt, const ag_blas *t, const i64 *of, const void *x, const i64 *xs,
                   const void *w, const void *bias, const void *low, const void *high, const i64 *then,
                   {given}const void *least, const void *most, void *room, void *y,
                   const ag_nest *after, const i64 *lengths, void *const *data, const i64 *strides)
{{
    const i64 shape[] = {{{_shape("then", single, _PAIRS, "counts")}}};
    i64 said[4];
    i32 together = after != 0;
    for (i32 l = 0; together && l < 5; l++) together = lengths[l] == shape[l];
    const ag_convolution first = {{
        {_members("of", _CONVOLUTION)},
        .x = x, .w = w, .bias = bias, .low = low, .high = high, .x_strides = {{xs[0], xs[1], xs[2], xs[3]}}, .y = room
    }};
    const i64 row = first.counts[1] * first.out_block, block = first.counts[0] * row;
    const i32 followed = t->{entry}(rt, &first, &(const {struct}){{
        {_members("then", single)},
        .x = room, .x_strides = {{first.blocks * block, block, row, first.out_block}},
        {fields}.low = least, .high = most, .y = y, .after = together ? after : 0, .data = data, .strides = strides
    }});
    if (after && !followed) rt->launch(rt, after, lengths, data, strides, said);
}}
""",
    )


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
    _call("ag_convolve_blocks", "A convolution on channels in blocks.", "ag_convolution convolve", _CONVOLUTION),
    _call("ag_convolve_packing", "The same by kernels with strides ws.  room: for these as they are read.",
          "ag_convolution convolve", _CONVOLUTION, steps=True, room=True),
    _call("ag_convolve_tiles", "The same by Winograd's algorithm.  room: for the tiles of x.",
          "ag_tiled_convolution convolve_tiles", _TILED, ("lengths", "before", "counts"), room=True),
    _call("ag_pool_blocks", "A pool of channels in blocks.", "ag_pooling pool", _POOL, weights=False),
    _call("ag_sum_channels", "Sums of neighbouring channels in blocks.", "ag_channel_sums sum_channels", _SUMS,
          ("lengths",), weights=False, bounds=False),
    _pair("ag_convolve_pair", "Two convolutions on channels in blocks.", "ag_convolution convolve_pair", _CONVOLUTION,
          True),
    _pair("ag_convolve_pool", "A convolution and a pool on channels in blocks.", "ag_pooling convolve_pool", _POOL,
          False),
    Helper("ag_convolve_gradient", """\
/* The gradient of the kernels of a convolution in blocks: `of` lists the first members of ag_kernel_gradient. */
static void ag_convolve_gradient(const ag_runtime *rt, const ag_blas *t, const i64 *of, const void *x, const i64 *xs,
                                 const void *g, void *room, void *y)
{
    t->kernel_gradient(rt, &(const ag_kernel_gradient){
        MEMBERS, .x = x, .g = g, .x_strides = {xs[0], xs[1], xs[2], xs[3]}, .room = room, .y = y
    });
}
""".replace("MEMBERS", _members("of", _GRADIENT))),
)  # fmt: skip
