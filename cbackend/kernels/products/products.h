/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

/* y[rows, outputs] = the sum over k of x[rows, k] * (w[outputs, k] - zero[outputs, k / block]) * scale[...].  w has 4
   bits; w, scale and zero (bytes) are laid as nibbles.c says. */
typedef struct ag_nibble_product {
    i64 rows;
    i64 outputs;
    i64 depth;
    i64 block;          /* a multiple of 8 */
    i64 blocks;         /* of depth */
    const float *x;     /* contiguous */
    const void *w;
    const float *scale;
    const void *zero;   /* NULL, or zero points */
    float *y;           /* contiguous */
} ag_nibble_product;

/* y[rows, outputs] = x[rows, depth] @ w.  w, starts and places are laid as sparse.c says, or for `sparse_columns` as
   sparse_columns.c says. */
typedef struct ag_sparse_product {
    i64 rows;
    i64 outputs;
    i64 depth;
    i64 item;          /* bytes of a number, 4 or 8 */
    const void *x;     /* contiguous */
    const void *w;
    const i32 *starts;
    const i32 *places;
    void *y;           /* contiguous */
} ag_sparse_product;

/* y[rows, outputs] = x[rows, depth] @ w for a w of which at most two of each four numbers along the sum are not zero.
   w and places are laid as two_of_four.c says. */
typedef struct ag_two_of_four {
    i64 rows;
    i64 outputs;
    i64 depth;
    const float *x;    /* contiguous */
    const float *w;
    const i32 *places;
    float *y;          /* contiguous */
} ag_two_of_four;

/* y[rows, outputs] = a[rows, depth] @ b[depth, outputs] of numbers of 16 bits, the upper halves of floats. */
typedef struct ag_bfloat_product {
    i64 rows;
    i64 outputs;
    i64 depth;
    i32 a_bits;           /* a has 16 bits; else floats, which are rounded */
    i32 b_bits;
    i32 in_panels;        /* b is laid as bfloats.c says, and its least exponent follows */
    const void *a;
    const i64 *a_strides;
    const void *b;
    const i64 *b_strides; /* NULL in panels */
    float *y;             /* contiguous */
} ag_bfloat_product;
