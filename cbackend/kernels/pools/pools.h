/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

enum { AG_LARGEST = 0, AG_SUM = 1 };

/* The same of the largest bfloat16 numbers, an even number of which is a block. */
typedef struct ag_pooling {
    i64 images;
    i64 blocks;
    i64 block;
    i64 kind;         /* AG_LARGEST or AG_SUM */
    i64 lengths[2];   /* rows, columns of x */
    i64 kernel[2];
    i64 stride[2];
    i64 dilation[2];
    i64 before[2];    /* positions beyond the first border */
    i64 counts[2];    /* of windows: those of y */
    const void *x;
    i64 x_strides[4]; /* from an image, a block, a row, a column to the next */
    const void *low;  /* NULL, or the number that y is clipped to from below; NaN stays */
    const void *high; /* NULL, or the number that y is clipped to from above */
    void *y;
    ag_after after;   /* the kernel that reads y, whose loops are the axes of y */
} ag_pooling;

/* Sums of each channel, `before` channels before it and `behind` behind it.  x and y, contiguous: images, blocks,
   rows, columns, `block` adjacent channels.  Lanes behind the last channel are not read. */
typedef struct ag_channel_sums {
    i64 images;
    i64 channels;
    i64 block;
    i64 blocks;
    i64 before;
    i64 behind;
    i64 lengths[2];   /* rows, columns of x */
    const void *x;
    i64 x_strides[4]; /* from an image, a block, a row, a column to the next */
    void *y;
    ag_after after;   /* the kernel that reads y, whose loops are the axes of y */
} ag_channel_sums;
