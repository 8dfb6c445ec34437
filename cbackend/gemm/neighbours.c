/* Sums over windows of adjacent channels, in blocks of channels: the denominators of local response normalization.

   Several positions are computed at a time.  The channels of each, with those of the previous and the next block, are
   copied to a line; the window of a channel is a segment of it.  Channels outside the first and the last are zeros.
   A window is summed from its first channel to its last one. */
#pragma once
#include "depthwise.c"
#include "pools.c"

#if !COMPLEX
enum { LINES = 16 };

typedef struct beside {
    const REAL *ends[3];   /* of the first position: the previous block, this one, the next one; NULL if there is none */
    i64 held[3];           /* number of channels of each; the others are zeros */
} beside;

/* The channels of `count` positions, each in a line of three blocks. */
INLINE void lay_lines(const beside *of, i64 position, i64 count, REAL lines[][3 * LANES])
{
    for (int k = 0; k < 3; k++) {
        const REAL *from = of->ends[k] + position * LANES;
        if (of->ends[k])
            for (i64 p = 0; p < count; p++) *(unaligned *)(lines[p] + k * LANES) = *(const unaligned *)(from + p * LANES);
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

/* The positions of rows [part->row, part->end) for a block of channels, one vector; x lies as y does. */
static void sum_neighbours(const strip *part)
{
    const ag_convolution *of = part->of;
    const i64 width = of->beside[0] + of->beside[1] + 1, first = LANES - of->beside[0];
    const i64 end = at_most(part->end * part->columns, of->counts[0] * of->counts[1]);
    beside work;
    for (int k = 0; k < 3; k++) {
        const i64 number = part->block + k - 1;
        const i32 is_there = number >= 0 && number < of->blocks;
        work.ends[k] = is_there ? part->x + (k - 1) * of->x_strides[1] : 0;
        work.held[k] = is_there ? at_most(LANES, of->channels - number * LANES) : 0;
    }
    REAL lines[LINES][3 * LANES];
    for (i64 position = part->row * part->columns, count; position < end; position += count) {
        REAL *y = part->y + position * LANES;
        count = at_most(LINES, end - position);
        lay_lines(&work, position, count, lines);
        if (width == 5) sum_lines(5, first, count, lines, y);
        else sum_lines(width, first, count, lines, y);
    }
}

/* The same for blocks that are not one vector, number by number. */
static void sum_neighbours_singly(const strip *part)
{
    const ag_convolution *of = part->of;
    const i64 size = of->block, end = at_most(part->end * part->columns, of->counts[0] * of->counts[1]);
    for (i64 position = part->row * part->columns; position < end; position++)
        for (i64 l = 0; l < size; l++) {
            const i64 channel = part->block * size + l;
            REAL sum = 0;
            for (i64 c = channel - of->beside[0]; c <= channel + of->beside[1]; c++)
                if (c >= 0 && c < of->channels)
                    sum += part->x[(c / size - part->block) * of->x_strides[1] + position * size + c % size];
            part->y[position * size + l] = sum;
        }
}

static void (*own_rows_of(const ag_convolution *of))(const strip *)
{
    if (of->beside[0] || of->beside[1]) return of->block == LANES ? sum_neighbours : sum_neighbours_singly;
    if (of->own > 1) return of->block == LANES ? pool_rows : pool_singly;
    return has_own_rows(of) ? sum_own_rows : 0;
}
#endif
