#pragma once
#include "forward.h"

/* y[rows, outputs] = the sum over k of x[rows, k] * (w[outputs, k] - zero[outputs, k / block]) * scale[...].  w has
   4 bits; w, scale and zero (bytes, or NULL) are laid as gemm/nibbles.c says. */
typedef struct ag_nibble_product {
    i64 rows, outputs, depth, block, blocks;            /* block: a multiple of 8; blocks: of depth */
    const float *x;                                     /* contiguous */
    const void *w;
    const float *scale;
    const void *zero;
    float *y;                                           /* contiguous */
} ag_nibble_product;

/* y[rows, outputs] = x[rows, depth] @ w for numbers of `item` bytes, 4 or 8.  w, starts and places are laid as
   gemm/sparse.c says, or for `columns` as gemm/sparse_columns.c says. */
typedef struct ag_sparse_product {
    i64 rows, outputs, depth, item;
    const void *x, *w;                                  /* x: contiguous */
    const i32 *starts, *places;
    void *y;                                            /* contiguous */
} ag_sparse_product;

/* y[rows, outputs] = x[rows, depth] @ w for a w of which at most two of each four numbers along the sum are not zero.
   w and places are laid as gemm/two_of_four.c says. */
typedef struct ag_two_product {
    i64 rows, outputs, depth;
    const float *x, *w;                                 /* x: contiguous */
    const i32 *places;
    float *y;                                           /* contiguous */
} ag_two_product;

/* y[rows, outputs] = a[rows, depth] @ b[depth, outputs] of numbers of 16 bits, the upper halves of floats.  a_bits,
   b_bits: they are given so; else floats, which are rounded.  in_panels: b is laid as gemm/bfloats.c says, and its
   least exponent follows. */
typedef struct ag_bfloat_product {
    i64 rows, outputs, depth;
    i32 a_bits, b_bits, in_panels;
    const void *a;
    const i64 *a_strides;
    const void *b;
    const i64 *b_strides;                               /* NULL in panels */
    float *y;                                           /* contiguous */
} ag_bfloat_product;
