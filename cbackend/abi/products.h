#pragma once
#include "types.h"

struct ag_runtime;

struct ag_call;

struct ag_nest;

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

/* y = softmax(scale * q[m, d] @ k[d, n] where the mask keeps it, else fill; + added) @ v[n, e] for each place of a
   batch; see gemm/attention.c.  Strides are those of all axes, 0 along those that are broadcast. */
typedef struct ag_attention {
    i32 rank;                                           /* axes of the batch */
    const i64 *batch;
    i64 m, n, d, e;
    const void *scale, *q;
    const i64 *q_strides;
    const void *k;
    const i64 *k_strides;
    const void *v;
    const i64 *v_strides;
    const void *mask;                                   /* NULL, or bools that are `drops` where a score is left out */
    const i64 *mask_strides;
    i64 drops;
    const void *fill, *added;                           /* added: NULL, or numbers added to the scores */
    const i64 *added_strides;
    void *y;                                            /* contiguous */
} ag_attention;

/* Products of one dtype.  gemv: y = alpha * op(a[m, n]) @ x + beta * y; ger: a[m, n] += alpha * x * y; dot: sum(x * y),
   nothing conjugated.  trans: 0 as stored (row-major), 1 transposed.  Leading dimensions and increments count elements;
   element i of x is x[i * incx], whatever the sign.  With *alpha == 0 the operands are not read. */
typedef struct ag_blas {
    void (*product)(const struct ag_runtime *rt, const ag_product *product);
    void (*gemv)(const struct ag_runtime *rt, i32 trans, i64 m, i64 n, const void *alpha, const void *a, i64 lda,
                 const void *x, i64 incx, const void *beta, void *y, i64 incy);
    void (*ger)(const struct ag_runtime *rt, i64 m, i64 n, const void *alpha, const void *x, i64 incx,
                const void *y, i64 incy, void *a, i64 lda);
    void (*dot)(const struct ag_runtime *rt, i64 n, const void *x, i64 incx, const void *y, i64 incy, void *result);
    i32 (*convolve)(const struct ag_runtime *rt, const ag_convolution *convolution); /* whether what follows has run */
    i32 (*attend)(const struct ag_runtime *rt, const ag_attention *attention); /* 0, or MEMORY (2) */
    void (*kernel_gradient)(const struct ag_runtime *rt, const ag_kernel_gradient *gradient);
} ag_blas;
