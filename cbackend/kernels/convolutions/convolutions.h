/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

enum { AG_DENSE = 0, AG_DEPTHWISE = 1, AG_LISTED = 2, AG_WITHIN = 3 };

enum { AG_PLAIN_DEPTH = 8, AG_IMAGE_WORDS = 2 };

/* y[batch, m, columns] = a[batch, m, rows] @ windows of b: the rows of what b is seen as are the places along some
   axes, its columns those along others. */
typedef struct ag_window_product {
    i32 rank;                /* elements of batch */
    const i64 *batch;        /* lengths of the axes of the batch */
    i64 m;                   /* rows of a */
    const void *a;
    const i64 *a_strides;
    const void *b;
    const i64 *b_strides;    /* of the axes of the batch */
    i32 row_rank;            /* elements of rows */
    const i64 *rows;         /* lengths of the axes along rows */
    const i64 *row_steps;    /* their strides */
    i32 column_rank;         /* elements of columns */
    const i64 *columns;      /* lengths of the axes along columns */
    const i64 *column_steps; /* their strides */
    void *y;                 /* contiguous */
    ag_after after;          /* the kernel that reads y, along images, outputs and positions */
} ag_window_product;

/* A convolution in blocks of channels: y = bias + the sums of windows of x times weights, without rounding between
   them.  x: images, blocks, rows, columns, `block` adjacent channels; y, contiguous: images, `blocks`, rows, columns,
   `out_block` adjacent outputs.  Beyond the borders of x are zeros. */
typedef struct ag_convolution {
    i64 images;
    i64 channels;         /* of x; of a group, where there are several */
    i64 block;            /* adjacent channels of x */
    i64 blocks;           /* of y */
    i64 out_block;        /* adjacent outputs of y */
    i64 panel;            /* the most blocks of outputs whose weights are adjacent */
    i64 kind;             /* AG_DENSE, AG_DEPTHWISE, AG_LISTED or AG_WITHIN */
    i64 tile_words;       /* 0, or words of channels that weights are filled up to with zeros: see tiles.c */
    i64 groups;
    i64 outputs;          /* of a group */
    i64 shuffle;          /* 1, or the number of groups before a channel shuffle */
    i64 lengths[2];       /* rows, columns of x */
    i64 kernel[2];
    i64 stride[2];
    i64 dilation[2];
    i64 before[2];        /* positions beyond the first border */
    i64 counts[2];        /* of windows: those of y */
    const void *x;
    i64 x_strides[4];     /* from an image, a block, a row, a column to the next */
    const void *w;
    const i64 *w_strides; /* NULL, or w are kernels, which each call packs in `room` */
    const void *bias;
    const void *added;    /* NULL, or NULL, or bfloat16 numbers, in the places of y, added before the clip */
    const void *low;      /* NULL, or the number that y is clipped to from below; NaN stays */
    const void *high;     /* NULL, or the number that y is clipped to from above */
    void *room;           /* NULL, or room for the packed kernels */
    void *rounded;        /* NULL, or NULL, or the result: y rounded to bfloat16; y is then room for sums */
    void *y;
    ag_after after;       /* the kernel that reads y, whose loops are the axes of y */
} ag_convolution;

/* The same by Winograd's algorithm, for kernels of 3 x 3 that move by one. */
typedef struct ag_tiled_convolution {
    i64 images;
    i64 channels;     /* of x; of a group, where there are several */
    i64 block;        /* adjacent channels of x */
    i64 blocks;       /* of y */
    i64 out_block;    /* adjacent outputs of y */
    i64 panel;        /* the most blocks of outputs whose weights are adjacent */
    i64 tile;         /* numbers of y along a tile */
    i64 lengths[2];   /* rows, columns of x */
    i64 before[2];    /* positions beyond the first border */
    i64 counts[2];    /* of windows: those of y */
    const void *x;
    i64 x_strides[4]; /* from an image, a block, a row, a column to the next */
    const void *w;
    const void *bias;
    const void *low;  /* NULL, or the number that y is clipped to from below; NaN stays */
    const void *high; /* NULL, or the number that y is clipped to from above */
    void *room;       /* room for the tiles of x */
    void *y;
    ag_after after;   /* as for a convolution */
} ag_tiled_convolution;

/* The same of bfloat16 numbers, the first one by tiles and rounded. */
typedef struct ag_convolution_pair {
    const struct ag_convolution *first;
    const struct ag_convolution *second;
} ag_convolution_pair;

/* The same of bfloat16 numbers, the first one by tiles and rounded. */
typedef struct ag_convolution_pool {
    const struct ag_convolution *first;
    const struct ag_pooling *second;
} ag_convolution_pool;

/* The gradient of the kernels of a convolution in blocks: y = sums of windows of x, as there, times g.  y,
   contiguous: outputs, channels, rows, columns.  g, contiguous: images, `blocks`, `counts`, `out_block` adjacent
   outputs. */
typedef struct ag_kernel_gradient {
    i64 images;
    i64 channels;
    i64 block;        /* adjacent channels of x */
    i64 blocks;       /* of g */
    i64 out_block;    /* adjacent outputs of g */
    i64 outputs;      /* of y; lanes of g behind these are not read */
    i64 portions;     /* of the images; each has sums of its own in `room` */
    i64 lengths[2];   /* rows, columns of x */
    i64 kernel[2];
    i64 stride[2];
    i64 dilation[2];
    i64 before[2];    /* positions beyond the first border */
    i64 counts[2];    /* of windows: those of y */
    const void *x;
    i64 x_strides[4]; /* from an image, a block, a row, a column to the next */
    const void *g;
    void *room;       /* `portions` times the numbers of all blocks of y */
    void *y;
} ag_kernel_gradient;
