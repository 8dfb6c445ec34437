/* Kernels that a call packs into the reading order of direct.c. */
#pragma once
#include "strips.c"

#if !COMPLEX
typedef struct packing {
    const ag_convolution *of;
    i64 panels, depths; /* of outputs; blocks of channels */
    i32 whole;          /* some weight is not finite */
} packing;

#if TRANSPOSES
/* Kernels of eight outputs and one channel, whose positions are neighbours; whether some weight is not finite. */
static i32 pack_eight(const REAL *w, i64 between, i64 positions, REAL *to, i64 step)
{
    const REAL *row[8];
    i32 whole = 0;
    for (i64 i = 0; i < 8; i++) row[i] = w + i * between;
    for (i64 p = 0; p < positions; p += 8) {
        const i64 at = at_most(p, positions - 8); /* the last eight may overlap those before */
        transpose_eight(row, at, at + 4, to + at * step, step);
    }
    for (i64 i = 0; i < 8; i++)
        for (i64 p = 0; p < positions; p++) whole |= row[i][p] * 0 != 0;
    return whole;
}
#endif

/* The kernels of a panel for a block of channels; the larger stride is that of the outer loop. */
static void pack_task(void *context, i64 index)
{
    packing *work = context;
    const ag_convolution *of = work->of;
    const i64 panel = index / work->depths, b = index % work->depths, *strides = of->w_strides;
    const i64 first = begin_of(of->blocks, work->panels, panel), positions = of->kernel[0] * of->kernel[1];
    const i64 width = (begin_of(of->blocks, work->panels, panel + 1) - first) * of->out_block;
    const i64 deep = at_most(of->block, of->channels - b * of->block), by_outputs = strides[0] > strides[1];
    const i64 outer = by_outputs ? width : deep, inner = by_outputs ? deep : width;
    const i64 steps[] = {strides[!by_outputs], strides[by_outputs]},
              to_steps[] = {by_outputs ? 1 : width, by_outputs ? width : 1};
    const REAL *w = (const REAL *)of->w + first * of->out_block * strides[0] + b * of->block * strides[1];
    REAL *to = (REAL *)of->room + (first * of->out_block * of->channels + b * of->block * width) * positions;
    i32 whole = 0;
#if TRANSPOSES
    if (width % 8 == 0 && positions >= 8 && strides[3] == 1 && strides[2] == of->kernel[1]) {
        for (i64 c = 0; c < deep; c++)
            for (i64 m = 0; m < width; m += 8)
                whole |= pack_eight(w + m * strides[0] + c * strides[1], strides[0], positions, to + c * width + m,
                                    deep * width);
        if (whole) __atomic_store_n(&work->whole, 1, __ATOMIC_RELAXED);
        return;
    }
#endif
    for (i64 m = 0; m < outer; m++)
        for (i64 n = 0; n < inner; n++)
            for (i64 i = 0; i < of->kernel[0]; i++)
                for (i64 j = 0; j < of->kernel[1]; j++) {
                    const REAL number = w[m * steps[0] + n * steps[1] + i * strides[2] + j * strides[3]];
                    to[m * to_steps[0] + n * to_steps[1] + (i * of->kernel[1] + j) * deep * width] = number;
                    whole |= number * 0 != 0;
                }
    if (whole) __atomic_store_n(&work->whole, 1, __ATOMIC_RELAXED);
}

/* Pack the kernels of a call; return whether some weight is not finite. */
static __attribute__((unused)) i32 pack_kernels(const ag_runtime *rt, const ag_convolution *of)
{
    packing work = {.of = of, .panels = even_panels(of->blocks, of->panel), .depths = parts(of->channels, of->block)};
    const i64 count = work.panels * work.depths;
    if (rt->threads > 1 && of->blocks * of->out_block * of->channels * of->kernel[0] * of->kernel[1] >= ALONE / 64)
        rt->parallel(rt, count, pack_task, &work);
    else
        for (i64 k = 0; k < count; k++) pack_task(&work, k);
    return work.whole;
}
#endif
