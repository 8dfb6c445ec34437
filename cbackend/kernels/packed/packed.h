/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

/* y[rows, outputs] = x[rows, depth] @ w for a w that is laid as the C file of the format says, and an epilogue. */
typedef struct ag_packed_product {
    i64 rows;
    i64 outputs;
    i64 depth;
    i64 each;             /* multiplications of a row */
    i64 block;            /* numbers along the sum that share a scale, or 0 */
    i32 x_item;           /* bytes of a number of x */
    const void *x;
    const i64 *x_strides;
    const void *w;        /* the first array of the format */
    const void *second;   /* NULL, or the second one */
    const void *third;    /* NULL, or the third one */
    i32 w_item;           /* bytes of a number of w */
    i32 w_half;           /* whether numbers of w are float16 */
    const i64 *w_strides; /* of a matrix that is not packed, or NULL */
    void *y;              /* contiguous */
    i32 spare;            /* whether only the epilogue reads y, so that it need not be written */
    ag_after after;       /* the epilogue */
} ag_packed_product;
