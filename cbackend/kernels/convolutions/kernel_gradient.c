/* The gradient of the kernels of a convolution in blocks of channels: for each position of the kernel, the sum over images,
   rows and columns of outer products of channels of x and a vector of outputs of g.

   A tile is TILE_DEPTH channels by the outputs of a panel, held in registers for a strip of positions.  Strips of an
   image are at most STRIP_POSITIONS long, unless a row is longer, and are added in their order.  Where channels and panels
   are few, images are divided into portions, of which each has sums of its own; portions are added in their order.  Strips
   and portions depend only on shapes, so threads do not change bits.

   Positions beyond the borders of x are zeros.  They are skipped unless g has an infinity or a NaN there. */
#pragma once
#include "direct.c"

#if !COMPLEX
#if defined(__AVX512F__)
enum { TILE_DEPTH = 8 };
#else
enum { TILE_DEPTH = 4 };
#endif
enum { PANEL_VECTORS = 3, STRIP_POSITIONS = 256 };

typedef struct gradient {
    const ag_kernel_gradient *of;
    i64 depth, depths, panels;     /* channels of a task; tasks along channels, and along outputs */
    i64 positions, height, strips; /* of a kernel; rows of a strip; strips of an image */
    i64 numbers;                   /* of the sums of a portion */
    i32 whole;                     /* zeros beyond the borders count */
} gradient;

/* The channels and outputs that a task sums, and the strip of g and x that it reads now. */
typedef struct gradient_part {
    const REAL *x, *g;
    i64 channel, block_step; /* from one channel of x, and one block of g, to the next */
    i64 row, end;            /* rows of g */
    i64 i, j;                /* the position of the kernel */
    i64 columns, width;      /* outputs of a row of sums: those of a tile, and all */
    i32 first;               /* nothing has been summed */
} gradient_part;

/* Return the number of channels of task `k` along channels. */
INLINE i64 channels_of(const gradient *work, i64 k)
{
    return at_most(work->depth, work->of->channels - k * work->depth);
}

/* Columns [*left, *right) of g whose windows have column j of the kernel within x. */
INLINE void find_columns_within(const ag_kernel_gradient *of, i64 j, i64 *left, i64 *right)
{
    const i64 shift = j * of->dilation[1] - of->before[1], room = of->lengths[1] - shift;
    *left = shift < 0 ? at_most(parts(-shift, of->stride[1]), of->counts[1]) : 0;
    *right = at_least(*left, room <= 0 ? 0 : at_most(of->counts[1], parts(room, of->stride[1])));
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2", "fp-contract=fast", "no-tree-vectorize", "no-tree-slp-vectorize", "no-gcse", "no-tree-pre", \
                     "no-tree-vrp", "no-schedule-insns2")
#endif

/* sums += outer products of `count` positions, `step` numbers of x apart. */
INLINE void add_products(const int depth, const int vectors, const i32 near, const REAL *x, i64 step, i64 channel,
                         const REAL *g, i64 block_step, i64 count, vector sums[][PANEL_VECTORS])
{
#pragma GCC unroll 1
    for (; count > 0; count--, x += step, g += LANES) {
        vector right[PANEL_VECTORS];
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++) {
            right[v] = *(const unaligned *)(g + v * block_step);
            KEEP(right[v]);
        }
#pragma GCC unroll 8
        for (int c = 0; c < depth; c++)
#pragma GCC unroll 3
            for (int v = 0; v < vectors; v++) sums[c][v] += x[near ? c : c * channel] * right[v];
    }
}

/* Add a strip to a tile of sums at one position of the kernel; near: channels are side by side. */
INLINE void sum_strip(const int depth, const int vectors, const i32 near, const gradient *work, const gradient_part *at,
                      const REAL *x, const REAL *g, REAL *to)
{
    const ag_kernel_gradient *of = work->of;
    vector sums[TILE_DEPTH][PANEL_VECTORS];
    i64 left, right;
    find_columns_within(of, at->j, &left, &right);
#pragma GCC unroll 8
    for (int c = 0; c < depth; c++)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++) sums[c][v] = (vector){0};
    for (i64 r = at->row; r < at->end; r++) {
        const i64 row = r * of->stride[0] + at->i * of->dilation[0] - of->before[0],
                  step = of->stride[1] * of->x_strides[3];
        const i32 outside = row < 0 || row >= of->lengths[0];
        const i64 from = outside ? of->counts[1] : left, until = outside ? of->counts[1] : right;
        const REAL *line = g + r * of->counts[1] * LANES;
        if (work->whole) add_products(depth, vectors, near, no_numbers, 0, 0, line, at->block_step, from, sums);
        if (until > from) {
            const i64 column = from * of->stride[1] + at->j * of->dilation[1] - of->before[1];
            const REAL *numbers = x + row * of->x_strides[2] + column * of->x_strides[3];
            add_products(depth, vectors, near, numbers, step, at->channel, line + from * LANES, at->block_step,
                         until - from, sums);
        }
        if (work->whole)
            add_products(depth, vectors, near, no_numbers, 0, 0, line + until * LANES, at->block_step,
                         of->counts[1] - until, sums);
    }
#pragma GCC unroll 8
    for (int c = 0; c < depth; c++)
#pragma GCC unroll 3
        for (int v = 0; v < vectors; v++) {
            unaligned *sum = (unaligned *)(to + c * at->width + v * LANES);
            *sum = at->first ? sums[c][v] : *sum + sums[c][v];
        }
}

typedef void strip_function(const gradient *, const gradient_part *, const REAL *, const REAL *, REAL *);
#define STRIP_OF(depth, vectors, near) \
    KERNEL strip_##near##_##vectors##_##depth(const gradient *work, const gradient_part *at, const REAL *x, \
                                              const REAL *g, REAL *to) \
    { \
        sum_strip(depth, vectors, near, work, at, x, g, to); \
    }
#define STRIPS_OF(depth, near) \
    STRIP_OF(depth, 1, near) \
    STRIP_OF(depth, 2, near) \
    STRIP_OF(depth, 3, near)
#define STRIPS_NAMED(depth, near) {strip_##near##_1_##depth, strip_##near##_2_##depth, strip_##near##_3_##depth}
STRIPS_OF(1, 0)
STRIPS_OF(2, 0)
STRIPS_OF(3, 0)
STRIPS_OF(4, 0)
STRIPS_OF(1, 1)
STRIPS_OF(2, 1)
STRIPS_OF(4, 1)
#if defined(__AVX512F__)
STRIPS_OF(8, 1)
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

/* Return the function for channels that are apart or near, and how many of `left` channels it takes. */
static strip_function *strip_of(i32 near, i64 left, i64 vectors, i64 *depth)
{
    static strip_function *const far[][PANEL_VECTORS] = {
        STRIPS_NAMED(1, 0),
        STRIPS_NAMED(2, 0),
        STRIPS_NAMED(3, 0),
        STRIPS_NAMED(4, 0),
    };
    static strip_function *const beside[][PANEL_VECTORS] = {
        STRIPS_NAMED(1, 1),
        STRIPS_NAMED(2, 1),
        STRIPS_NAMED(4, 1),
#if defined(__AVX512F__)
        STRIPS_NAMED(8, 1),
#endif
    };
    if (!near) return *depth = at_most(left, 4), far[*depth - 1][vectors - 1];
    const i64 power = TILE_DEPTH == 8 && left >= 8 ? 3 : left >= 4 ? 2 : left >= 2;
    *depth = 1 << power;
    return beside[power][vectors - 1];
}

/* The same number by number, for blocks of g that are no vector. */
static void strip_by_numbers(const gradient *work, const gradient_part *at, i64 depth, const REAL *x, const REAL *g,
                             REAL *to)
{
    const ag_kernel_gradient *of = work->of;
    const i64 block = of->out_block;
    i64 left, right;
    find_columns_within(of, at->j, &left, &right);
    for (i64 c = 0; c < depth; c++)
        for (i64 o = 0; o < at->width; o++) {
            REAL sum = 0, *all = to + c * at->width + o;
            for (i64 r = at->row; r < at->end; r++) {
                const i64 row = r * of->stride[0] + at->i * of->dilation[0] - of->before[0];
                const i32 outside = row < 0 || row >= of->lengths[0];
                const REAL *line = g + o / block * at->block_step + r * of->counts[1] * block + o % block;
                for (i64 p = 0; p < of->counts[1]; p++) {
                    const i32 within = !outside && p >= left && p < right;
                    const i64 column = p * of->stride[1] + at->j * of->dilation[1] - of->before[1];
                    if (!within && !work->whole) continue;
                    sum += (within ? x[c * at->channel + row * of->x_strides[2] + column * of->x_strides[3]] : 0)
                           * line[p * block];
                }
            }
            *all = at->first ? sum : *all + sum;
        }
}

/* One strip: all positions of the kernel, channels and outputs of a task. */
static void sum_tiles(const gradient *work, gradient_part *at, i64 depth, REAL *to)
{
    const ag_kernel_gradient *of = work->of;
    for (at->i = 0; at->i < of->kernel[0]; at->i++)
        for (at->j = 0; at->j < of->kernel[1]; at->j++, to += depth * at->width) {
            if (of->out_block != LANES) {
                strip_by_numbers(work, at, depth, at->x, at->g, to);
                continue;
            }
            for (i64 c = 0, taken; c < depth; c += taken) {
                strip_function *function = strip_of(of->block > 1, depth - c, at->width / LANES, &taken);
                function(work, at, at->x + c * at->channel, at->g, to + c * at->width);
            }
        }
}

/* Where the sums of a portion of images, some channels and a panel of outputs begin. */
static REAL *sums_of(const gradient *work, i64 portion, i64 k, i64 output, i64 depth)
{
    const ag_kernel_gradient *of = work->of;
    const i64 outputs = of->blocks * of->out_block, before = k * work->depth * outputs + output * depth;
    return (REAL *)of->room + portion * work->numbers + before * work->positions;
}

static void gradient_task(void *context, i64 index)
{
    const gradient *work = context;
    const ag_kernel_gradient *of = work->of;
    const i64 panel = index % work->panels, k = index / work->panels % work->depths,
              portion = index / work->panels / work->depths;
    const i64 first = begin_of(of->blocks, work->panels, panel), depth = channels_of(work, k),
              size = of->counts[0] * of->counts[1];
    const i64 strips = of->images * work->strips, until = begin_of(strips, of->portions, portion + 1);
    gradient_part at = {
        .block_step = size * of->out_block, .channel = of->block > 1 ? 1 : of->x_strides[1], .first = 1};
    at.width = (begin_of(of->blocks, work->panels, panel + 1) - first) * of->out_block;
    REAL *to = sums_of(work, portion, k, first * of->out_block, depth);
    i64 s = begin_of(strips, of->portions, portion);
    if (s == until) __builtin_memset(to, 0, (unsigned long)(work->positions * depth * at.width) * sizeof(REAL));
    for (; s < until; s++, at.first = 0) {
        const i64 image = s / work->strips;
        at.row = s % work->strips * work->height, at.end = at_most(at.row + work->height, of->counts[0]);
        at.x =
            (const REAL *)of->x + image * of->x_strides[0] + k * (of->block > 1 ? 1 : work->depth) * of->x_strides[1];
        at.g = (const REAL *)of->g + (image * of->blocks + first) * at.block_step;
        sum_tiles(work, &at, depth, to);
    }
}

/* The sums of all portions in the order of kernels: outputs, channels, rows, columns. */
static void gather_task(void *context, i64 index)
{
    const gradient *work = context;
    const ag_kernel_gradient *of = work->of;
    const i64 panel = index % work->panels, k = index / work->panels, depth = channels_of(work, k);
    const i64 first = begin_of(of->blocks, work->panels, panel) * of->out_block;
    const i64 width = begin_of(of->blocks, work->panels, panel + 1) * of->out_block - first;
    const i64 outputs = at_most(width, of->outputs - first), next = of->channels * work->positions;
    const REAL *from = sums_of(work, 0, k, first, depth);
    for (i64 c = 0; c < depth; c++)
        for (i64 p = 0; p < work->positions; p++) {
            const REAL *row = from + (p * depth + c) * width;
            REAL *y = (REAL *)of->y + first * next + (k * work->depth + c) * work->positions + p;
            for (i64 o = 0; o < outputs; o++) {
                REAL sum = row[o];
                for (i64 m = 1; m < of->portions; m++) sum += row[m * work->numbers + o];
                y[o * next] = sum;
            }
        }
}

/* Zero, or NaN if one of `count` numbers is not finite. */
static REAL zero_times(const REAL *numbers, i64 count)
{
    vector sums = {0};
    REAL sum = 0;
    i64 p = 0;
    for (; p + LANES <= count; p += LANES) sums += *(const unaligned *)(numbers + p) * 0;
    for (; p < count; p++) sum += numbers[p] * 0;
    for (i64 l = 0; l < LANES; l++) sum += sums[l];
    return sum;
}

/* Whether numbers of g that meet zeros beyond the borders of x are all finite. */
static i32 is_finite_outside(const ag_kernel_gradient *of)
{
    i64 from[2], to[2];
    for (i32 l = 0; l < 2; l++) {
        const i64 room = of->lengths[l] - (of->kernel[l] - 1) * of->dilation[l] + of->before[l];
        from[l] = at_most(of->counts[l], parts(of->before[l], of->stride[l]));
        to[l] = at_least(from[l], room <= 0 ? 0 : at_most(of->counts[l], parts(room, of->stride[l])));
    }
    REAL sum = 0;
    const REAL *line = of->g;
    for (i64 b = 0; b < of->images * of->blocks; b++)
        for (i64 r = 0; r < of->counts[0]; r++, line += of->counts[1] * of->out_block) {
            const i32 inside = r >= from[0] && r < to[0];
            const i64 left = inside ? from[1] : of->counts[1], right = inside ? to[1] : of->counts[1];
            sum += zero_times(line, left * of->out_block);
            sum += zero_times(line + right * of->out_block, (of->counts[1] - right) * of->out_block);
        }
    return sum == 0;
}

static void find_kernel_gradient(const ag_runtime *rt, const ag_kernel_gradient *of)
{
    gradient work = {.of = of, .positions = of->kernel[0] * of->kernel[1]};
    work.depth = of->block > 1 ? of->block : AG_PLAIN_DEPTH, work.depths = parts(of->channels, work.depth);
    work.panels = even_panels(of->blocks, PANEL_VECTORS);
    work.height = at_least(1, at_most(of->counts[0], STRIP_POSITIONS / at_least(1, of->counts[1])));
    work.strips = parts(of->counts[0], work.height);
    work.numbers = of->channels * of->blocks * of->out_block * work.positions;
    work.whole = !is_finite_outside(of);
    const double all = (double)work.numbers * (double)of->images * (double)(of->counts[0] * of->counts[1]);
    const i64 tasks = work.panels * work.depths;
    if (all > LONG) rt->listen();
    if (rt->threads > 1 && all >= ALONE) {
        rt->parallel(rt, tasks * of->portions, gradient_task, &work);
        rt->parallel(rt, tasks, gather_task, &work);
        return;
    }
    for (i64 k = 0; k < tasks * of->portions && !(all > LONG && rt->stopped()); k++) gradient_task(&work, k);
    for (i64 k = 0; k < tasks; k++) gather_task(&work, k);
}
#endif
