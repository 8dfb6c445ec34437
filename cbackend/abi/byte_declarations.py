"""The structs of products of few bits, of sparse weights and of bfloat16, as C text: a part of declarations.py."""

from __future__ import annotations

BYTE_DECLARATIONS = """\
enum { AG_SUMS, AG_FLOATS, AG_BYTES, AG_FIXED };
enum { AG_UNSIGNED, AG_SIGNED, AG_REAL };

/* Sums of products of bytes; see gemm/bytes.c.  x: images, `in_blocks`, rows, columns, `block` channels side by side, a
   multiple of 4; y: `outputs` in blocks of `out_block`, a multiple of a vector.  Beyond the borders of x lies `around`.
   y = start + the sums of windows of x times weights, and what `kind` makes of it. */
typedef struct ag_byte_sums {
    i64 images, in_blocks, block, blocks, out_block, outputs;
    i64 panel;                                          /* the most blocks of outputs whose weights lie side by side */
    i64 own;                                            /* each channel has a kernel of its own */
    i64 is_signed, around;                              /* x has a sign; the number, as x has it */
    i64 kind, zero, low, high;                          /* of bytes: the zero point; where y is cut off */
    i64 lengths[2], kernel[2], stride[2], dilation[2], before[2], counts[2]; /* rows, columns; counts: of windows */
    const void *x, *w;
    const i32 *start, *totals, *shifts;                 /* totals: sums of weights; shifts: NULL, or one a position */
    const float *scale, *bias;                          /* of each output; AG_FIXED: multipliers and shifts, i32 */
    const void *more;                                   /* NULL, or numbers like y that are added to it ... */
    i64 more_kind;                                      /* ... bytes without a sign or with one, or floats ... */
    float more_scale;                                   /* ... times this */
    float sum_scale;                                    /* 0, or sums become integers before, times this ... */
    i64 more_zero, lower, upper;                        /* ... of bytes that are added; where those are cut off */
    i64 x_strides[4];                                   /* from an image, a block, a row, a column to the next */
    i64 y_strides[3];                                   /* from an image, a block, a position to the next */
    void *y;
} ag_byte_sums;

/* c[m, n] = a[m, k] @ b[k, n] in 32 bits for every matrix of a batch, of bytes with a sign or without. */
typedef struct ag_byte_product {
    i32 rank;
    const i64 *batch;
    i64 m, n, k;
    i32 a_signed, b_signed;
    const void *a;
    const i64 *a_strides;
    const void *b;
    const i64 *b_strides;
    i32 *c;                                             /* contiguous */
} ag_byte_product;

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

/* Softmax of rows of bytes, in bytes; see ops/lowered/byte_tables.py. */
typedef struct ag_byte_softmax {
    i64 rows, length, is_signed, zero, low, high;       /* is_signed: x; the others are those of y */
    double scale;                                       /* of y */
    const void *x;                                      /* contiguous */
    const float *exponents;                             /* of 256 distances from the largest number */
    void *y;                                            /* contiguous */
} ag_byte_softmax;

"""
"""The structs of one unit of the runtime: gemm/bytes.c and the files that are read with it."""
