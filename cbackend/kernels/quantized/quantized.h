/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

/* y = start + the sums of windows of x times weights, and what `kind` makes of it; see bytes.c.  x: images,
   `in_blocks`, rows, columns, `block` channels side by side, a multiple of 4; y: `outputs` in blocks of `out_block`,
   a multiple of a vector.  Beyond the borders of x lies `around`. */
typedef struct ag_byte_sums {
    i64 images;
    i64 in_blocks;
    i64 block;
    i64 blocks;
    i64 out_block;
    i64 outputs;
    i64 panel;          /* the most blocks of outputs whose weights lie side by side */
    i64 chunk;          /* channels whose weights lie side by side for tiles of AMX; 0: those of a block */
    i64 own;            /* each channel has a kernel of its own */
    i64 is_signed;      /* x has a sign */
    i64 around;         /* the number, as x has it */
    i64 kind;           /* AG_SUMS, AG_FLOATS, AG_BYTES or AG_FIXED */
    i64 zero;           /* of bytes: the zero point */
    i64 low;            /* where y is cut off */
    i64 high;
    i64 lengths[2];     /* rows and columns of x */
    i64 kernel[2];
    i64 stride[2];
    i64 dilation[2];
    i64 before[2];
    i64 counts[2];      /* of windows */
    const void *x;
    const void *w;
    const i32 *start;
    const i32 *totals;  /* sums of weights */
    const float *scale; /* of each output; AG_FIXED: multipliers, i32 */
    const float *bias;  /* of each output; AG_FIXED: shifts, i32 */
    const void *more;   /* NULL, or numbers like y that are added to it */
    i64 more_kind;      /* of `more`: AG_UNSIGNED, AG_SIGNED or AG_REAL */
    float more_scale;   /* the factor of `more` */
    float sum_scale;    /* 0, or sums become integers before, times this */
    i64 more_zero;      /* of bytes that are added */
    i64 lower;          /* where those are cut off */
    i64 upper;
    i64 x_strides[4];   /* from an image, a block, a row, a column to the next */
    i64 y_strides[3];   /* from an image, a block, a position to the next */
    void *y;
} ag_byte_sums;

/* c[m, n] = a[m, k] @ b[k, n] in 32 bits for every matrix of a batch, of bytes with a sign or without. */
typedef struct ag_byte_product {
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the axes of the batch */
    i64 m;
    i64 n;
    i64 k;
    i32 a_signed;
    i32 b_signed;
    const void *a;
    const i64 *a_strides;
    const void *b;
    const i64 *b_strides;
    i32 *c;               /* contiguous */
} ag_byte_product;

/* y = table[x], for bytes. */
typedef struct ag_look_up {
    i64 count;
    const void *x;
    const void *table; /* 256 bytes */
    void *y;
} ag_look_up;

/* Softmax of rows of bytes, in bytes; see ops/lowered/byte_tables.py. */
typedef struct ag_byte_softmax {
    i64 rows;
    i64 length;
    i64 is_signed;          /* x; the numbers below are those of y */
    i64 zero;
    i64 low;
    i64 high;
    double scale;
    const void *x;          /* contiguous */
    const float *exponents; /* of 256 distances from the largest number */
    void *y;                /* contiguous */
} ag_byte_softmax;

/* y[images, blocks, positions, 4] from contiguous x[images, channels, positions]; scale, zero: those of y. */
typedef struct ag_quantize_words {
    i64 images;
    i64 channels;
    i64 positions;
    i64 is_signed;
    const float *x;
    const float *scale;
    const void *zero;
    void *y;
} ag_quantize_words;
