/* Grouped convolutions whose groups do not consist of whole blocks.  Such a group is listed: a table has the offset of
   each of its channels from an image and a position.

   Channels may be shuffled before: channel m of the groups is channel m % shuffle * (all / shuffle) + m / shuffle of x.
   The outputs of a group are lanes of the vectors that they touch.  Weights are stored in reading order,
   with zeros in the lanes of other groups:

       for each group, panel of vectors that it touches, row and column of the kernel, channel:  lanes

   Each number of y is the sum over rows, columns, channels, in this order. */
#pragma once
#include "depthwise.c"
#include "../pools/neighbours.c"

#if !COMPLEX
/* The same as a tile of vectors, number by number. */
static void listed_by_numbers(const ag_convolution *of, const tile_place *at, i64 columns, i64 width, i64 block_step,
                              const REAL *bias, REAL *y, i64 block)
{
    i64 from, to;
    find_kernel_within(of, at, &from, &to);
    for (i64 p = 0; p < columns; p++)
        for (i64 o = at_least(at->left, 0); o < at_most(at->right, width); o++) {
            REAL sum = bias[o];
            for (i64 i = at->top; i < at->bottom; i++)
                for (i64 j = from; j < to; j++) {
                    const REAL *x =
                        at->x + i * of->dilation[0] * of->x_strides[2] + j * of->dilation[1] * of->x_strides[3];
                    const REAL *w = at->w + (i * of->kernel[1] + j) * of->channels * at->width + o;
                    for (i64 c = 0; c < of->channels; c++)
                        sum = plus_number(sum, x + p * at->step + at->offsets[c], w + c * at->width);
                }
            if (of->low && *(const REAL *)of->low > sum) sum = *(const REAL *)of->low;
            if (of->high && *(const REAL *)of->high < sum) sum = *(const REAL *)of->high;
            y[o / block * block_step + p * block + o % block] = sum;
        }
}

/* The outputs of a bundle of groups, which are whole blocks, on a strip. */
static void convolve_bundle(const direct *work, i64 image, i64 bundle, i64 number)
{
    const ag_convolution *of = work->of;
    const i64 block = of->out_block, deep = of->kernel[0] * of->kernel[1] * of->channels * block;
    const i64 first = bundle * work->bundle, last = at_most(first + work->bundle, of->groups);
    strip part = {.of = of, .row = number * work->height, .last = 1, .bias = of->bias};
    part.end = at_most(part.row + work->height, work->rows);
    part.x = (const REAL *)of->x + image * of->x_strides[0];
    part.y = (REAL *)of->y + image * of->blocks * work->total * block;
    part.w = of->w, part.step = work->total * block;
    for (i64 g = 0; g < last; g++) {
        i64 from = g * of->outputs / block;
        const i64 to = parts((g + 1) * of->outputs, block), panels = parts(to - from, of->panel), all = to - from;
        part.offsets = work->offsets + g * of->channels, part.left = g * of->outputs;
        part.right = g + 1 < of->groups ? part.left + of->outputs : to * block;
        for (i64 k = 0, wide; k < panels; k++, from += wide, part.w += wide * deep) {
            wide = all / panels + (k < all % panels);
            part.begin = from * block, part.width = wide * block;
            for (i64 row = part.row; g >= first && row < part.end; row++)
                sum_row(work, &part, row, at_most(work->columns, work->total - row * work->columns));
        }
    }
    const i64 begin = first * of->outputs / block;
    follow_strip(&work->after, image, begin, parts(last * of->outputs, block) - begin, part.row * work->columns,
                 at_most(part.end * work->columns, work->total), 0);
}

/* Run a convolution of listed groups: fill the table, and bundle as many groups as fill whole blocks.  The table is small:
   ops/lowered/blocked.py limits the channels that are listed. */
static void convolve_listed(const ag_runtime *rt, const ag_convolution *of)
{
    const i64 all = of->groups * of->channels, every = all / of->shuffle;
    i64 offsets[at_least(1, all)], bundle = 1;
    for (i64 m = 0; m < all; m++) {
        const i64 c = m % of->shuffle * every + m / of->shuffle;
        offsets[m] = c / of->block * of->x_strides[1] + c % of->block;
    }
    while (bundle < of->groups && bundle * of->outputs % of->out_block) bundle++;
    convolve_with(rt, of, offsets, bundle, 0);
}

static void convolve(const ag_runtime *rt, const ag_convolution *of)
{
    if (of->kind == AG_LISTED) convolve_listed(rt, of);
    else if (of->kind == AG_DEPTHWISE || of->kind == AG_WITHIN) convolve_depthwise(rt, of);
    else if (!of->w_strides) convolve_with(rt, of, 0, 0, 0);
    else {
        ag_convolution packed = *of;
        packed.w = of->room;
        convolve_with(rt, &packed, 0, 0, pack_kernels(rt, of));
    }
}
#endif
