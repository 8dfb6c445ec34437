/* Weights of which some vectors are stored: a vector is one number along the sum of SPARSE_LANES outputs, a panel.

   Nonzero vectors of each panel are stored in the order of the sum:

       w          vectors, lanes
       starts     for each panel, and after the last one: the index of its first vector
       places     the index of each vector along the sum

   Four accumulators alternate over the vectors of a panel. */
#include "../../quantized/lanes.c"
#include "../packed.c"

#if defined(__AVX512F__) || defined(__aarch64__)
#define SPARSE_ROWS 6 /* rows whose sums are in registers, four vectors each */
#else
#define SPARSE_ROWS 2
#endif
enum { SPARSE_LANES = VECTOR_BYTES / sizeof(REAL) };
typedef REAL lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef REAL loose __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));

/* sum + x * w, fused if the target has the instruction. */
INLINE lanes add(lanes sum, lanes x, lanes w)
{
#if defined(__AVX512F__)
    if (sizeof(REAL) == 4) __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
    else __asm__("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
    return sum;
#elif defined(__FMA__)
    if (sizeof(REAL) == 4) __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(x), "x"(w));
    else __asm__("vfmadd231pd %2, %1, %0" : "+x"(sum) : "x"(x), "x"(w));
    return sum;
#else
    return sum + x * w;
#endif
}

/* sum + x * w for one number x of memory; the instruction broadcasts it. */
INLINE lanes add_one(lanes sum, const REAL *x, lanes w)
{
#if defined(__AVX512F__)
    if (sizeof(REAL) == 4) __asm__("vfmadd231ps %1%{1to16%}, %2, %0" : "+v"(sum) : "m"(*x), "v"(w));
    else __asm__("vfmadd231pd %1%{1to8%}, %2, %0" : "+v"(sum) : "m"(*x), "v"(w));
    return sum;
#else
    return add(sum, *x - (lanes){0}, w);
#endif
}

/* A panel, and some rows of x, `step` apart. */
typedef struct sparse_tile {
    const REAL *x, *w;
    const i32 *places;
    i64 count, step;
    REAL *to;
    i64 to_step;
} sparse_tile;

INLINE void sum_panel(const int rows, const sparse_tile *at)
{
    const REAL *const x = at->x, *const w = at->w;
    const i32 *const places = at->places;
    const i64 count = at->count, step = at->step;
    lanes sums[SPARSE_ROWS][4];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int u = 0; u < 4; u++) sums[r][u] = (lanes){0};
    i64 i = 0;
    for (; i + 4 <= count; i += 4)
#pragma GCC unroll 4
        for (int u = 0; u < 4; u++) {
            const lanes weights = *(const loose *)(w + (i + u) * SPARSE_LANES);
            const REAL *from = x + places[i + u];
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++) sums[r][u] = add_one(sums[r][u], from + r * step, weights);
        }
#pragma GCC unroll 3
    for (int u = 0; u < 3; u++)
        if (i + u < count) {
            const lanes weights = *(const loose *)(w + (i + u) * SPARSE_LANES);
            const REAL *from = x + places[i + u];
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++) sums[r][u] = add_one(sums[r][u], from + r * step, weights);
        }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
        *(loose *)(at->to + r * at->to_step) = (sums[r][0] + sums[r][1]) + (sums[r][2] + sums[r][3]);
}

typedef void sparse_function(const sparse_tile *);
#define PANEL_KERNEL(rows) \
    static __attribute__((noinline)) void panel_##rows(const sparse_tile *at) { sum_panel(rows, at); }
PANEL_KERNEL(1)
PANEL_KERNEL(2)
#if SPARSE_ROWS > 2
PANEL_KERNEL(4)
PANEL_KERNEL(6)
static sparse_function *const panel_kernels[4] = {panel_1, panel_2, panel_4, panel_6};
#else
static sparse_function *const panel_kernels[4] = {panel_1, panel_2};
#endif

static void sum_vectors(const packed_tile *at)
{
    const ag_packed_product *of = at->work->of;
    const i32 *start = (const i32 *)of->second + at->panel;
    const sparse_tile tile = {
        .x = row_of(of, at->row),
        .w = (const REAL *)of->w + start[0] * SPARSE_LANES,
        .places = (const i32 *)of->third + start[0],
        .count = start[1] - start[0],
        .step = of->depth,
        .to = at->to,
        .to_step = at->step,
    };
    panel_kernels[at->rows / 2](&tile);
}

static void add_lost(const packed_tile *at, i64 row, REAL *to)
{
    const ag_packed_product *of = at->work->of;
    const i32 *start = (const i32 *)of->second + at->panel;
    const i32 *places = (const i32 *)of->third + start[0], *end = (const i32 *)of->third + start[1];
    const REAL *x = row_of(of, row);
    for (i64 k = 0; k < of->depth; k++) {
        while (places < end && *places < k) places++;
        if (places < end && *places == k) continue;
        const REAL product = x[k] * 0;
        if (product != 0)
            for (i64 l = 0; l < SPARSE_LANES; l++) to[l] += product;
    }
}

PACKED_FORMAT(.width = SPARSE_LANES, .most_rows = SPARSE_ROWS, .alone = 1 << 19,
              .rows = SPARSE_ROWS > 2 ? rows_of_six : rows_of_two, .tile = sum_vectors, .add_lost = add_lost)
