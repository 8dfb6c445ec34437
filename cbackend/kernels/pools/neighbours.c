/* Sums over windows of adjacent channels, in blocks of channels: the denominators of local response normalization.

   Several positions are computed at a time.  The channels of each, with those of the previous and the next block, are
   copied to a line; the window of a channel is a segment of it.  Channels outside the first and the last are zeros.
   A window is summed from its first channel to its last one. */
#pragma once
#include "../convolutions/strips.c"

#if !COMPLEX
enum { LINES = 16 };

/* Positions are rows of `columns` positions. */
typedef struct channel_rows {
    const ag_channel_sums *of;
    i64 columns;
} channel_rows;

typedef struct beside {
    const REAL *ends[3]; /* of the first position: the previous block, this one, the next one; NULL if there is none */
    i64 held[3];         /* number of channels of each; the others are zeros */
} beside;

/* The channels of `count` positions, each in a line of three blocks. */
INLINE void lay_lines(const beside *of, i64 position, i64 count, REAL lines[][3 * LANES])
{
    for (int k = 0; k < 3; k++) {
        const REAL *from = of->ends[k] + position * LANES;
        if (of->ends[k])
            for (i64 p = 0; p < count; p++)
                *(unaligned *)(lines[p] + k * LANES) = *(const unaligned *)(from + p * LANES);
        if (of->held[k] < LANES)
            for (i64 p = 0; p < count; p++)
                for (i64 l = of->held[k]; l < LANES; l++) lines[p][k * LANES + l] = 0;
    }
}

/* The sums of `width` numbers from each lane on, of `count` positions. */
INLINE void sum_lines(const i64 width, i64 first, i64 count, REAL lines[][3 * LANES], REAL *y)
{
    for (i64 p = 0; p < count; p++) {
        vector sum = *(const unaligned *)(lines[p] + first);
        for (i64 k = 1; k < width; k++) sum += *(const unaligned *)(lines[p] + first + k);
        *(unaligned *)(y + p * LANES) = sum;
    }
}

/* Rows of y for blocks of one vector, where x lies as y does; see rows_function. */
static void sum_neighbours(const void *context, const REAL *x, REAL *y, i64 block, i64 row, i64 end)
{
    const channel_rows *rows = context;
    const ag_channel_sums *of = rows->of;
    const i64 width = of->before + of->behind + 1, first = LANES - of->before;
    const i64 last = at_most(end * rows->columns, of->lengths[0] * of->lengths[1]);
    beside work;
    for (int k = 0; k < 3; k++) {
        const i64 number = block + k - 1;
        const i32 is_there = number >= 0 && number < of->blocks;
        work.ends[k] = is_there ? x + (k - 1) * of->x_strides[1] : 0;
        work.held[k] = is_there ? at_most(LANES, of->channels - number * LANES) : 0;
    }
    REAL lines[LINES][3 * LANES];
    for (i64 position = row * rows->columns, count; position < last; position += count) {
        REAL *to = y + position * LANES;
        count = at_most(LINES, last - position);
        lay_lines(&work, position, count, lines);
        if (width == 5) sum_lines(5, first, count, lines, to);
        else sum_lines(width, first, count, lines, to);
    }
}

/* The same for blocks that are not one vector, number by number. */
static void sum_neighbours_singly(const void *context, const REAL *x, REAL *y, i64 block, i64 row, i64 end)
{
    const channel_rows *rows = context;
    const ag_channel_sums *of = rows->of;
    const i64 size = of->block, last = at_most(end * rows->columns, of->lengths[0] * of->lengths[1]);
    for (i64 position = row * rows->columns; position < last; position++)
        for (i64 l = 0; l < size; l++) {
            const i64 channel = block * size + l;
            REAL sum = 0;
            for (i64 c = channel - of->before; c <= channel + of->behind; c++)
                if (c >= 0 && c < of->channels)
                    sum += x[(c / size - block) * of->x_strides[1] + position * size + c % size];
            y[position * size + l] = sum;
        }
}

static __attribute__((unused)) void sum_channels(const ag_runtime *rt, const ag_channel_sums *of)
{
    i64 joined[AG_MOST_ARRAYS * 5];
    const i64 total = of->lengths[0] * of->lengths[1];
    const channel_rows rows = {of, parts(total, at_least(1, parts(total, SEGMENT)))};
    by_blocks work = {
        .function = of->block == LANES ? sum_neighbours : sum_neighbours_singly,
        .of = &rows,
        .x = of->x,
        .x_strides = of->x_strides,
        .y = of->y,
        .images = of->images,
        .blocks = of->blocks,
        .rows = parts(total, at_least(1, rows.columns)),
        .columns = rows.columns,
        .total = total,
        .after = epilogue_of(&of->after, of->y, of->images, of->blocks, of->lengths, of->block, joined),
    };
    run_blocks(rt, &work, of->before + of->behind + 1);
    follow_all(rt, &of->after, &work.after);
}
#endif
