/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

/* y = alpha * a @ b + beta * y for every matrix of a batch, and an epilogue.  Strides count elements, those of the
   batch's axes first, and may be anything.  Scalars are passed by address, in the dtype.  With *beta == 0 the result
   is not read.  Any size may be 0. */
typedef struct ag_product {
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the axes of the batch */
    i64 m;
    i64 n;
    i64 k;
    const void *alpha;
    const void *a;
    const i64 *a_strides;
    const void *b;
    const i64 *b_strides;
    const void *beta;
    void *y;              /* contiguous */
    ag_after after;       /* the epilogue */
} ag_product;

/* y[m] = alpha * a[m, n] @ x[n] + beta * y. */
typedef struct ag_gemv {
    i64 m;
    i64 n;
    const void *alpha;
    const void *a;
    const i64 *a_strides;
    const void *x;
    i64 x_step;           /* from a number to the next */
    const void *beta;
    void *y;              /* contiguous */
} ag_gemv;

/* a[m, n] += alpha * x[m] * y[n]. */
typedef struct ag_ger {
    i64 m;
    i64 n;
    const void *alpha;
    const void *x;
    i64 x_step;
    const void *y;
    i64 y_step;
    void *a;           /* contiguous */
} ag_ger;

/* The sum of the products of the elements of two vectors, nothing conjugated. */
typedef struct ag_dot {
    i64 n;
    const void *x;
    i64 x_step;
    const void *y;
    i64 y_step;
    void *result;
} ag_dot;
