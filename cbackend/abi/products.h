#pragma once
#include "forward.h"

enum { AG_MOST_AXES = 66, AG_MOST_ARRAYS = 64 }; /* of a product's result; of the nest that follows a product */

/* c = alpha * a @ b + beta * c for every matrix of a batch.  Strides count elements, first those of the batch's axes,
   and may be anything.  The rows of c are c_step apart, its matrices m * c_step.  Scalars are passed by address, in the
   dtype.  With *beta == 0 the result is not read.  Any size may be 0. */
typedef struct ag_product {
    i32 rank;                     /* axes of the batch */
    const i64 *batch;             /* their lengths */
    i64 m, n, k;
    const void *alpha, *a;
    const i64 *a_strides;
    const void *b;
    const i64 *b_strides;
    const void *beta;
    void *c;
    i64 c_step;
    /* Epilogue of each finished block of c, or NULL.  Its loops are the axes of c, and may
       be further ones, 1 long, in front of the last; data and strides are those of a launch.  grouped: the last axis of
       the batch is none of c, which has the rows of its matrices one after the other. */
    const struct ag_nest *after;
    void *const *data;
    const i64 *strides;
    i32 grouped;
    /* NULL, or where the numbers of b lie, in elements: that of row p and column j at b[b_rows[p] + b_columns[j]].  The
       last two of b_strides then say nothing. */
    const i64 *b_rows, *b_columns;
    i32 in_panels; /* b lies in the panels that tiles read; strides of b then say nothing */
} ag_product;

/* A convolution in blocks of channels; see gemm/direct.c.  y = bias + the sums of windows of x times weights, without
   rounding between them.  x: images, blocks, rows, columns, `block` channels side by side; y, contiguous: images,
   `blocks`, rows, columns, `out_block` outputs side by side.  Beyond the borders of x lie zeros. */
typedef struct ag_convolution {
    i64 images, channels, block, blocks, out_block;
    i64 panel;                                          /* the most blocks of outputs whose weights lie side by side */
    i64 own;                                            /* each channel has a kernel of its own; 2, 3: gemm/pools.c */
    i64 tile;                                           /* by Winograd's algorithm: numbers of y along a tile; or 0 */
    i64 groups, outputs, shuffle;                       /* outputs: of a group; shuffle: 1, or groups before */
    i64 listed;                                         /* groups do not fill blocks, or are shuffled: gemm/grouped.c */
    i64 beside[2];                                      /* {0, 0}, or channels before and behind: gemm/neighbours.c */
    i64 lengths[2], kernel[2], stride[2], dilation[2], before[2], counts[2]; /* rows, columns; counts: of windows */
    const void *x, *w, *bias;
    const void *low, *high;                             /* numbers that y is cut off at, NaN left as it is; or NULL */
    i64 x_strides[4];                                   /* from an image, a block, a row, a column to the next */
    void *room, *y;                                     /* room: for the tiles of x, if there are any */
    const struct ag_nest *after;                        /* as for a product, with the five axes of y as loops */
    void *const *data;
    const i64 *strides; const struct ag_convolution *first; /* first: NULL, or what computes x: see gemm/pairs.c */
    const i64 *w_strides;                               /* NULL, or w are kernels, which each call packs in `room` */
} ag_convolution;

/* The gradient of the kernels of a convolution in blocks; see gemm/kernel_gradient.c.  y = sums of windows of x, which
   lies as above, times g.  y, contiguous: outputs, channels, rows, columns.  g, contiguous: images, `blocks`, `counts`,
   `out_block` outputs side by side. */
typedef struct ag_kernel_gradient {
    i64 images, channels, block, blocks, out_block;
    i64 outputs;                                        /* of y; lanes of g behind these are not read */
    i64 portions;                                       /* of images, which have sums of their own in `room` */
    i64 lengths[2], kernel[2], stride[2], dilation[2], before[2], counts[2]; /* as above */
    const void *x, *g;
    i64 x_strides[4];
    void *room, *y;                                     /* room: `portions` times the numbers of all blocks of y */
} ag_kernel_gradient;
